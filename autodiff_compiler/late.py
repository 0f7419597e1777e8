"""Modules that are imported when something in them is first used, and patterns that are compiled then.

Most programs need a part of the compiler only, and the import of all of it takes longer than the compilation of a short
function. What stands in a module of its own and is seldom needed is named by `late` where it is used.
"""

from __future__ import annotations

import importlib
import re
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .locks import Lock
from .pristine import as_they_were

_lock = Lock()
_loaded: dict[str, types.ModuleType] = {}


def load(name: str) -> types.ModuleType:
    """A module of this package, imported as if the program had replaced nothing (`pristine`).

    Of several threads, one imports. The others wait at this one door: threads that enter by different modules would
    find each other's half made. So no module may call this while it is imported itself: a thread that imports it
    otherwise would hold what the one in here waits for.
    """
    found = _loaded.get(name)
    if found is None:
        with _lock, as_they_were():
            found = _loaded[name] = importlib.import_module(name)
    return found


def late(package: str | None, module: str, *names: str) -> Any:
    """Stand-ins for functions of a module, which import it when they are first called. One name gives one function.

    >>> nothing = late(__package__, "records", "record")
    >>> nothing.__name__
    'record'
    """
    found = tuple([_stand_in(f"{package}.{module}", name) for name in names])
    return found[0] if len(found) == 1 else found


def _stand_in(module: str, name: str) -> Callable[..., Any]:
    def stand_in(*args: Any, **kwargs: Any) -> Any:
        return getattr(_loaded.get(module) or load(module), name)(*args, **kwargs)

    stand_in.__name__ = stand_in.__qualname__ = name
    return stand_in


def late_names(package: str, places: dict[str, str]) -> Callable[[str], Any]:
    """A ``__getattr__`` for a module, whose names are looked up in other modules of a package: `places` says where."""

    def look_up(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module has no attribute {name!r}")
        return getattr(load(f"{package}.{places[name]}"), name)

    return look_up


if TYPE_CHECKING:
    Pattern = re.compile
else:

    class Pattern:
        """A regular expression that is compiled when it is first used. Compiling it takes longer than most of its uses.

        >>> Pattern("a+").sub("b", "aaac")
        'bc'
        """

        def __init__(self, text: str, flags: re.RegexFlag | int = 0):
            self.text = text
            self.flags = flags

        def __getattr__(self, name: str) -> Any:
            found = getattr(re.compile(self.text, self.flags), name)
            setattr(self, name, found)  # from now on it is found before this is asked
            return found


__all__ = ["Pattern", "late", "late_names", "load"]
