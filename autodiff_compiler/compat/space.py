"""Modules made of tables of names: an absent name raises AttributeError, with what is there."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any


def absent(module: str, names: Iterable[str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module."""
    known = sorted(n for n in names if not n.startswith("_"))

    def missing(name: str) -> Any:
        if name.startswith("__"):  # asked for by the import system, at each ``from module import name``
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name, obj=None)
        near = difflib.get_close_matches(name, known, 3)
        hint = f"; did you mean {', '.join(near)}?" if near else "."
        raise AttributeError(
            f"module {module!r} has no attribute {name!r}{hint} It has: {', '.join(known)}", name=name, obj=None
        )

    return missing


def namespace(name: str, doc: str, members: dict[str, Any]) -> ModuleType:
    """A module with these members."""
    import sys

    made = ModuleType(name, doc)
    made.__dict__.update(members)
    made.__dict__["__getattr__"] = absent(name, members)
    made.__dict__["__all__"] = sorted(members)
    sys.modules[name] = made
    return made
