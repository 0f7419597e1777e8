"""The comments that name the user's statements, in text that is otherwise complete.

Takes the lines of emitted code, and notes that say which line is the place of which comment. Gives the text. A comment
holds a line number. The disk cache keeps the text without its comments, and puts them in where it is read: until then,
the user may have moved the function.

>>> statement = Statement("model.py", 12, 4, "y = x * x")
>>> print(with_notes(["y_bar = 1.0", "", "x_bar = 2.0 * x"], [Note(statement, 1)]), end="")
y_bar = 1.0
# adjoint of line 12: y = x * x
x_bar = 2.0 * x
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..records import mutable_record
from .statements import shortened
from .wrapping import WIDTH

LEAST = 30  # characters of a statement that are shown, at whatever depth


class Statement(NamedTuple):
    """Where a statement of the user's begins, and its text on one line."""

    file: str
    line: int
    col: int
    text: str


@mutable_record
class Note:
    """A comment that names a statement.

    at: the index of its line in the text, which holds the indentation only
    """

    statement: Statement
    at: int = -1


def with_notes(lines: Sequence[str], notes: Sequence[Note]) -> str:
    """The text of these lines with the comments in their places. `notes` stand in the order in which they were made.

    Statements may share a line, and a comment shows the whole line. So a note is left out if the one before it shows
    the same line.
    """
    shown: list[str | None] = list(lines)
    before: tuple[str, int] | None = None
    for note in notes:
        file, line, _, text = note.statement
        if not text or (file, line) == before:
            shown[note.at] = None
        else:
            head = f"{lines[note.at]}# adjoint of line {line}: "
            shown[note.at] = head + shortened(text, max(WIDTH - len(head), LEAST))
        before = (file, line)
    return "\n".join([line for line in shown if line is not None]) + "\n"


__all__ = ["Note", "Statement", "with_notes"]
