"""How notebooks show gradients and emitted code.

Code is coloured by pygments, if it is installed. Colours are in the elements themselves, so nothing is loaded.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from itertools import zip_longest
from typing import Any

_BOX = "border:1px solid #ccc;border-radius:4px;padding:0.5em 0.8em;margin:0.3em 0;background:#fff;color:#222"
_PRE = "margin:0;background:#fff;color:#222;line-height:1.35;white-space:pre;overflow-x:auto;font-size:90%"


def escaped(text: str) -> str:
    """The text as HTML shows it."""
    import html  # a millisecond, which only notebooks need

    return html.escape(text)


class Source(str):
    """The text of a module that a notebook shows as coloured code."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return f'<div style="{_BOX}">{coloured(self)}</div>'


class Pair(str):
    """A function and its derivative beside each other: two columns of text, and in a notebook a table."""

    left: str
    right: str
    heads: tuple[str, str]

    def __new__(cls, left: str, right: str, heads: tuple[str, str]) -> Pair:
        made = super().__new__(cls, _columns(left, right))
        made.left, made.right, made.heads = left, right, heads
        return made

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        cell = "vertical-align:top;text-align:left;padding:0.3em 0.8em;background:#fff;color:#222;border:1px solid #ddd"
        head = "".join([f'<th style="{cell}">{escaped(text)}</th>' for text in self.heads])
        body = "".join([f'<td style="{cell}">{coloured(text)}</td>' for text in (self.left, self.right)])
        return f'<table style="border-collapse:collapse"><tr>{head}</tr><tr>{body}</tr></table>'


def coloured(text: str) -> str:
    """Python code as HTML."""
    text = text.strip("\n")
    try:
        from pygments import highlight
        from pygments.formatters import HtmlFormatter
        from pygments.lexers import PythonLexer
    except ImportError:
        return f'<pre style="{_PRE}">{escaped(text)}</pre>'
    return str(highlight(text, PythonLexer(), HtmlFormatter(noclasses=True, nobackground=True, prestyles=_PRE)))


def _columns(left: str, right: str) -> str:
    lefts, rights = left.strip("\n").splitlines(), right.strip("\n").splitlines()
    width = max(map(len, lefts), default=0)
    return "\n".join([f"{a.ljust(width)}  |  {b}".rstrip() for a, b in zip_longest(lefts, rights, fillvalue="")])


def text_of(fn: Any) -> str:
    """The text of the user's function, as far as it can be read."""
    from ..frontend.source import source_of

    fn = inspect.unwrap(fn)
    try:
        return inspect.cleandoc("\n" + source_of(getattr(fn, "__func__", fn)).text)
    except Exception:
        return f"# the source of {getattr(fn, '__name__', fn)!r} cannot be read"


def card(title: str, fn: Any, wanted: str, entries: Iterable[tuple[str, str]]) -> str:
    """What a notebook shows of a gradient: whose it is, by what, and the code for each kind of arguments so far.

    entries: the arguments, as a text, and the source for them.
    """
    code = getattr(inspect.unwrap(fn), "__code__", None)
    where = f"{code.co_filename}:{code.co_firstlineno}" if code is not None else ""
    doc = (inspect.getdoc(fn) or "").split("\n\n")[0]
    rows = [
        f'<details style="margin:0.2em 0"><summary><code>{escaped(arguments)}</code></summary>'
        f"{coloured(text)}</details>"
        for arguments, text in entries
    ]
    parts = [
        f"<b>{escaped(title)}</b> {escaped(wanted)}",
        f'<span style="color:#666">{escaped(where)}</span>' if where else "",
        escaped(doc),
        f"compiled for {len(rows)} kind{'s' if len(rows) != 1 else ''} of arguments" if rows else "not compiled yet",
        "".join(rows),
    ]
    return f'<div style="{_BOX}">' + "".join([f"<div>{part}</div>" for part in parts if part]) + "</div>"


__all__ = ["Pair", "Source", "card", "coloured", "text_of"]
