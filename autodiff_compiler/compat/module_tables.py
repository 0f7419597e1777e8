"""Modules made of tables of names: an absent name raises AttributeError, with the closest ones that are there."""

from __future__ import annotations

import difflib
import dis
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

# The layers import this module first, and it waits until the tape and the compiler are there: a thread that finds
# `compat` half imported by another one goes on to the modules in it at once.
from .. import tape  # noqa: F401

FEW = 8


def not_there(what: str, name: str, known: Iterable[str]) -> str:
    """The message for a name that is absent.

    >>> not_there("module 'm'", "sine", ["sin", "cos"])
    "module 'm' has no attribute 'sine'. Did you mean: 'sin'? It has: cos, sin"
    """
    names = sorted(n for n in known if not n.startswith("_"))
    by_lower = {n.lower(): n for n in names}
    near = [repr(by_lower[n]) for n in difflib.get_close_matches(name.lower(), by_lower, 3)]
    hint = f" Did you mean: {', '.join(near)}?" if near else ""
    many = f"dir() lists the {len(names)} that are there"
    rest = many if len(names) > FEW else f"It has: {', '.join(names)}"
    return f"{what} has no attribute {name!r}.{hint} {rest}"


def absent(message: str, name: str) -> Exception:
    """What to raise for an absent name: AttributeError, and ImportError inside of ``from module import name``, where
    Python would put a message of its own in place of an AttributeError's."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").endswith(_MACHINERY):
        frame = frame.f_back
    if frame.f_code.co_code[frame.f_lasti] == dis.opmap["IMPORT_FROM"] and not name.startswith("__"):
        module, _, rest = message.partition(f" has no attribute {name!r}")
        return ImportError(f"cannot import name {name!r} from {module.removeprefix('module ')}{rest}", name=name)
    return AttributeError(message, name=name, obj=None)


_MACHINERY = (".compat.module_tables", ".tensorflow.namespace")


def public(module: str, names: Iterable[str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and the ``__dir__`` of a module that has these names."""
    known = sorted(names)

    def missing(name: str) -> Any:
        what = f"module {module!r}"
        if name.startswith("__"):  # asked for by the import system, at each ``from module import name``
            raise AttributeError(f"{what} has no attribute {name!r}", name=name, obj=None)
        raise absent(not_there(what, name, known), name)

    return missing, lambda: list(known)


def namespace(name: str, doc: str, members: dict[str, Any]) -> ModuleType:
    """A module with these members."""
    made = ModuleType(name, doc)
    made.__dict__.update(members)
    made.__dict__["__getattr__"], made.__dict__["__dir__"] = public(name, members)
    made.__dict__["__all__"] = sorted(members)
    sys.modules[name] = made
    return made
