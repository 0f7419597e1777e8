"""Copies of NumPy, `math` and the built-in functions, made when this package is imported.

A program may replace a function of a module, as in ``np.sin = np.cos``. The derivative of the old function stays the
same. So rules and emitted code look functions up in these copies, and not in the modules that the program changes.

The compiler itself is imported when a function is first compiled. Its tables name functions of these modules, so it is
imported under `as_they_were`.
"""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from operator import is_
from typing import TYPE_CHECKING, Any

from .locks import Lock


def snapshot(module: types.ModuleType, *inner: str) -> types.ModuleType:
    """A copy of a module with its present contents. `inner`: modules in it that are copied, too."""
    copy = types.ModuleType(module.__name__, module.__doc__)
    copy.__dict__.update(vars(module))
    for name in inner:
        setattr(copy, name, snapshot(getattr(module, name)))
    return copy


if TYPE_CHECKING:
    import math

    import numpy as np
else:
    import math as _math

    import numpy as _numpy

    math = snapshot(_math)
    np = snapshot(_numpy, "linalg", "fft")

BUILTINS: dict[str, Any] = dict(vars(builtins))
# The modules that tables of the compiler name, as far as they are imported, each with what it held.
_MODULES = (
    "builtins", "cmath", "collections", "copy", "dataclasses", "functools", "itertools", "math", "numpy", "numpy.fft",
    "numpy.linalg", "numpy.random", "operator", "statistics",
)  # fmt: skip
_HELD = [(sys.modules[name], dict(vars(sys.modules[name]))) for name in _MODULES if name in sys.modules]


@contextmanager
def as_they_were() -> Iterator[None]:
    """A context in which NumPy, the built-in functions and the modules named above hold what they held at first.

    Only names that the program replaced or deleted change, and they change back when the last of the contexts ends that
    are open in all threads.
    """
    token = object()
    try:
        with _lock:
            if not _open:
                _replaced.extend(_found_replaced())
                for module, name, _, was in _replaced:
                    setattr(module, name, was)
            _open.add(token)
        yield
    finally:
        with _lock:
            _open.discard(token)
            if not _open:
                for module, name, now, _ in _replaced:
                    if now is _ABSENT:
                        delattr(module, name)
                    else:
                        setattr(module, name, now)
                _replaced.clear()


_lock = Lock()
_open: set[object] = set()  # the contexts
_replaced: list[tuple[types.ModuleType, str, Any, Any]] = []  # with what the program put there, and what was there


def _found_replaced() -> list[tuple[types.ModuleType, str, Any, Any]]:
    return [
        (module, name, vars(module).get(name, _ABSENT), was)
        for module, held in _HELD
        if not _begins_with(vars(module), held)
        for name, was in held.items()
        if vars(module).get(name, _ABSENT) is not was and not name.startswith("__")
    ]


def _begins_with(space: dict[str, Any], held: dict[str, Any]) -> bool:
    """The names and values of a namespace are those of another one, in this order: what a program adds comes last."""
    same = len(space) >= len(held) and all(map(is_, space.values(), held.values()))
    return same and all(map(is_, space, held))


_ABSENT = object()


def as_it_was(module: types.ModuleType) -> types.ModuleType:
    """The copy of a module, if there is one, else the module itself. That of a part of SciPy is made when it is first
    asked for."""
    name = module.__name__
    if name.startswith("scipy."):
        return _COPIES.get(name) or _COPIES.setdefault(name, _of_scipy(module))
    return _COPIES.get(name, module)


def _of_scipy(module: types.ModuleType) -> types.ModuleType:
    """A copy of a part of SciPy, without the functions that the program put there."""
    copy = snapshot(module)
    for name, value in vars(module).items():
        if isinstance(value, types.FunctionType):
            if str(value.__globals__.get("__name__")).split(".")[0] not in ("scipy", "numpy"):
                delattr(copy, name)
    return copy


_COPIES = {"numpy": np, "numpy.linalg": np.linalg, "numpy.fft": np.fft, "math": math}


def hold(*packages: str) -> None:
    """Let the imported modules of these packages of this package look up ``np`` and ``math`` here."""
    for name, module in list(sys.modules.items()):
        if name.startswith(tuple([f"{__package__}.{part}" for part in packages])):
            vars(module).update({k: v for k, v in (("np", np), ("math", math)) if k in vars(module)})


def hold_modules(namespace: dict[str, Any]) -> None:
    """Let a namespace look up NumPy, `math` and the parts of SciPy here."""
    for name, value in list(namespace.items()):
        if isinstance(value, types.ModuleType):
            namespace[name] = as_it_was(value)


__all__ = ["BUILTINS", "as_it_was", "as_they_were", "hold", "hold_modules", "math", "np"]
