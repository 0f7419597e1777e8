"""Modules whose names live elsewhere and are imported when they are first used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from .. import operations
from ..module_tables import absent, not_there

PACKAGE = __name__.rpartition(".")[0]


def lazy(
    module: str, homes: dict[str, str], instead: Mapping[str, str] = MappingProxyType({})
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:  # fmt: skip
    """``__getattr__`` and ``__dir__`` for a module.

    homes: for each implementing module of this package, the names that it has; ``name=other`` where it is called
    otherwise there. A name that is a module of its own stands under ``""``. instead: what to write for names that are
    absent. What the table of operations has for the module is there too.
    """
    where: dict[str, tuple[str, str]] = {}
    place = module.partition(PACKAGE)[2].lstrip(".")
    for name in operations.entries("tensorflow").get(place, ()):
        where[name] = "made", name
    for home, names in homes.items():
        for entry in names.split():
            name, _, other = entry.partition("=")
            where[name] = home, other or name

    def get(name: str) -> Any:
        if name not in where:
            what = f"module {module!r}"
            advice = f"{what} has no attribute {name!r}. {instead[name]}" if name in instead else ""
            raise absent(advice or not_there(what, name, directory()), name)
        home, other = where[name]
        if home:
            found = getattr(importlib.import_module(f"{PACKAGE}.{home}"), other)
        else:
            found = importlib.import_module(f"{PACKAGE}.{other}")
        setattr(sys.modules[module], name, found)
        return found

    def directory() -> list[str]:
        own = [n for n, x in vars(sys.modules[module]).items() if getattr(x, "__module__", None) == module]
        return sorted({*own, *where})

    return get, directory
