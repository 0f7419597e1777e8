"""The largest and the smallest element: of all, along an axis, or of two tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph.array import value_of
from ..operations.reductions import evenly
from ..operations.sorting import one
from .core import Base, axes_of, named, run
from .made import FUNCTIONS as MADE
from .made import pair
from .tensor import method


def _extreme(name: str, find: Callable[..., Any], whole: Callable[..., Any], two: str) -> Callable[..., Any]:
    label = name.capitalize()

    def extreme(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None, **kwargs: Any) -> Any:
        dim, keepdim = kwargs.pop("axis", dim), kwargs.pop("keepdims", keepdim)
        if kwargs:
            raise TypeError(f"{name}() got an unexpected keyword argument {next(iter(kwargs))!r}")
        other = dim if isinstance(dim, Base) else other
        if other is not None:
            return MADE[two](input, other)
        if dim is not None:
            axis = axes_of(input, dim)
            found = run(f"{label}Backward0", lambda a: one(a, find(value_of(a), axis=axis), axis, keepdim), input)
            return pair(name, *found)
        if input._value.size == 0:
            raise RuntimeError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
                "with the 'dim' argument."
            )
        return run(f"{label}Backward1", whole, input)

    doc = (
        f"The {name} of all elements; along `dim`, (values, indices); of two tensors, element by element. Ties over "
        "all elements share the gradient; along an axis it goes to the element that is named."
    )
    return named(name, extreme, doc)


FUNCTIONS = {
    "max": _extreme("max", np.argmax, evenly(np.max), "maximum"),
    "min": _extreme("min", np.argmin, evenly(np.min), "minimum"),
}
for _name, _f in FUNCTIONS.items():
    method(_name, _f)
