"""How names and constants are written in emitted code."""

from __future__ import annotations

import keyword
import re
from typing import Any


def identifier(name: Any, otherwise: str) -> str:
    """The name as Python's parser reads it, or another one if it could not stand in source.

    The parser normalises identifiers, so that two texts may be one name. A name that was set at run time is neither
    normalised nor an identifier for sure.

    >>> identifier("rate", "x"), identifier("ª", "x"), identifier("<lambda>", "x"), identifier("class", "x")
    ('rate', 'a', 'x', 'x')
    """
    if type(name) is not str:
        return otherwise
    if not name.isascii():
        import unicodedata

        name = unicodedata.normalize("NFKC", name)
    return name if name.isidentifier() and not keyword.iskeyword(name) else otherwise


def requoted(text: str) -> str:
    """The text of an expression with its strings in double quotes, if it has none and no quote is escaped."""
    return text if '"' in text or "\\" in text else text.replace("'", '"')


def literal(x: Any) -> str:
    """The text of a constant of Python's, in the layout of black: double quotes, no plus sign in an exponent.

    >>> print(literal("a"), literal('say "a"'), literal(1e300), literal(("a", b"b", 2)), literal(1e20 + 2j))
    "a" 'say "a"' 1e300 ("a", b"b", 2) 1e20 + 2j
    """
    if type(x) is tuple:
        return f"({', '.join(map(literal, x))}{',' if len(x) == 1 else ''})"
    text = repr(x)
    if type(x) is float:
        return text.replace("e+", "e")
    if type(x) is complex:
        return re.sub(r"(?<=[^e(])([+-])", r" \1 ", text).strip("()").replace("e+", "e")
    if type(x) in (str, bytes) and text[-1] == "'":
        start, inside = text.index("'") + 1, text[text.index("'") + 1 : -1]
        if inside.count('"') <= inside.count("\\'"):
            return text[: start - 1] + '"' + inside.replace("\\'", "'").replace('"', '\\"') + '"'
    return text
