"""Eager operations on tensors: NumPy's functions under their names, computed at once and recorded.

The module has each function of NumPy with a derivative rule or a definition. docs/functions.md lists them.

>>> import autodiff_compiler as ad
>>> ad.ops.sqrt(ad.constant(9.0)).numpy()
np.float64(3.0)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..frontend import definitions
from ..ir.opset import PRIMS
from .apply import operands_in
from .native import call_numpy, constant
from .tensor import Operand


@functools.cache
def _functions() -> dict[str, Any]:
    out = {}
    definitions.load_all()
    for fn in [*PRIMS, *definitions.DEFINED]:
        name = getattr(fn, "__name__", "")
        if name and getattr(np, name, None) is fn:
            out[name] = fn
    return out


def _eager(fn: Any) -> Callable[..., Any]:
    def operation(*args: Any, **kwargs: Any) -> Any:
        found: list[Any] = []
        operands_in((*args, *kwargs.values()), found)
        if not found and args:
            first = args[0]
            args = ([constant(x) for x in first] if isinstance(first, (list, tuple)) else constant(first), *args[1:])
            if isinstance(first, (list, tuple)) and not isinstance(first[0], (list, tuple, np.ndarray, Operand)):
                args = (constant(first), *args[1:])
        return call_numpy(fn, args, kwargs)

    operation.__name__ = operation.__qualname__ = fn.__name__
    operation.__doc__ = f"``np.{fn.__name__}`` of tensors, arrays or numbers. The result is a tensor."
    return operation


def __getattr__(name: str) -> Any:
    fn = _functions().get(name)
    if fn is None:
        raise AttributeError(
            f"module {__name__!r} has no operation {name!r}; docs/functions.md lists the functions that it has"
        )
    made = globals()[name] = _eager(fn)
    return made


def __dir__() -> list[str]:
    return sorted([*globals(), *_functions()])
