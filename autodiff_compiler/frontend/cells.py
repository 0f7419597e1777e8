"""The text that IPython compiles under a magic, such as ``%%time`` or ``%timeit``, and keeps under no file name.

It is in the history of the session. Which of the texts there is the one of a function is decided by its code, as for a
file that was edited.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

_RECENT = 100  # inputs that are looked through
_OPTIONS = 8  # words between the name of a magic and the statement


def texts_under_magics(file: str) -> Iterator[list[str]]:
    """The lines of what recently stood under a magic, latest first. Empty for a file that is no magic's."""
    shell = _shell()
    if shell is None or not file.startswith(("<timed", "<magic", "<string>")):
        return
    for cell in reversed(shell.history_manager.input_hist_raw[-_RECENT:]):
        lines = cell.splitlines(keepends=True)
        for k, line in enumerate(lines):
            text = line.lstrip()
            if text.startswith("%%") and k == 0:
                yield from _compiled(shell, "".join(lines[1:]))
            if text.startswith("%"):
                words = text.lstrip("%")
                for _ in range(_OPTIONS):
                    _, _, words = words.partition(" ")
                    if not words.strip():
                        break
                    yield from _compiled(shell, words)


def _compiled(shell: Any, text: str) -> Iterator[list[str]]:
    """The lines as IPython compiles them: its own syntax is translated."""
    if "def" in text or "lambda" in text:
        yield shell.transform_cell(text).splitlines(keepends=True)


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


def is_of_a_cell(file: str) -> bool:
    """The name is one that IPython gives to a cell of a notebook."""
    return "ipython-input" in file or "ipykernel_" in file


__all__ = ["is_of_a_cell", "texts_under_magics"]
