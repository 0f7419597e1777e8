"""How a name is written in emitted code."""

from __future__ import annotations

import keyword
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
