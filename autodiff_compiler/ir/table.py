"""The table of primitives by the callables that users write. Families of records are imported when one is asked for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from threading import get_ident
from typing import Any

from ..locks import Lock
from ..pristine import as_they_were
from .core import Prim


class Table(dict[Any, Prim]):
    """A dictionary that imports the module of a record when it is first asked for it.

    A module enters its records while it is imported, one by one, and writes rules into them. Other threads find none of
    them before it is whole, since a record without its rules may give a wrong derivative.

    homes:   the modules that are not imported yet, or not whole, by the callables whose records they have
    entered: the records that such modules have entered, each with the thread
    """

    def __init__(self) -> None:
        super().__init__()
        self.package = ""
        self.homes: dict[Any, str] = {}
        self.entered: dict[Any, tuple[Prim, int]] = {}
        self.lock = Lock()  # of these two; nobody holds it while a module is imported

    def later(self, module: str, *fns: Any) -> None:
        """These callables have their records in a module of the package that is imported later."""
        self.homes.update(dict.fromkeys(fns, module))

    def load(self, module: str) -> None:
        """Import a module, if that has not been done, or wait for the thread that does it."""
        try:
            with as_they_were():
                importlib.import_module(f"{self.package}.{module}")
        finally:
            self._settle()

    def _settle(self) -> None:
        """Let all threads see the records of the modules that are whole. Forget those of modules that failed."""
        with self.lock:
            for name in dict.fromkeys([self.homes[fn] for fn in self.entered if fn in self.homes]):
                module = sys.modules.get(f"{self.package}.{name}")
                if module is not None and _is_imported_now(module):
                    continue
                for fn in [fn for fn in self.entered if self.homes.get(fn) == name]:
                    if module is not None:
                        super().__setitem__(fn, self.entered[fn][0])
                    del self.entered[fn]
                    if module is not None:
                        del self.homes[fn]

    def _imported(self, fn: Any) -> Prim | None:
        home = self.homes.get(fn)
        if home is not None and self._own(fn, home) is None:
            self.load(home)
        return super().get(fn) or self._own(fn, home)

    def _own(self, fn: Any, home: str | None) -> Prim | None:
        """What a module has entered that this thread is importing."""
        prim, thread = self.entered.get(fn, (None, 0))
        module = sys.modules.get(f"{self.package}.{home}")
        return prim if thread == get_ident() and module is not None and _is_imported_now(module) else None

    def get(self, fn: Any, default: Any = None) -> Any:
        found = super().get(fn)
        if found is None:  # another thread may have entered it by now
            found = self._imported(fn) if fn in self.homes else super().get(fn)
        return default if found is None else found

    def __missing__(self, fn: Any) -> Prim:
        found = self._imported(fn)
        if found is None:
            raise KeyError(fn)
        return found

    def __contains__(self, fn: object) -> bool:
        return self.get(fn) is not None

    def __setitem__(self, fn: Any, prim: Prim) -> None:
        if fn in self.homes:
            self.entered[fn] = prim, get_ident()
        else:
            super().__setitem__(fn, prim)

    # What goes through all records imports them all.

    def _whole(self) -> Table:
        for module in dict.fromkeys(self.homes.values()):
            self.load(module)
        return self

    def __iter__(self) -> Iterator[Any]:
        return super(Table, self._whole()).__iter__()

    def __len__(self) -> int:
        return super(Table, self._whole()).__len__()

    def keys(self) -> Any:
        return super(Table, self._whole()).keys()

    def values(self) -> Any:
        return super(Table, self._whole()).values()

    def items(self) -> Any:
        return super(Table, self._whole()).items()


def _is_imported_now(module: Any) -> bool:
    """Its body has not been run to the end. `importlib` has no public name for that. Python itself reads this attribute
    for the text of an error about circular imports."""
    return bool(getattr(module.__spec__, "_initializing", False))


__all__ = ["Table"]
