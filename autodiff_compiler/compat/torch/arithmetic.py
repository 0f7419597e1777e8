"""Operands of elementwise operations: PyTorch's promotion of dtypes, shapes, results written in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph.array import to
from . import dtypes
from .core import Base, assign, make, named, run

NUMBERS = (int, float, complex, bool)


def as_operand(x: Any) -> Any:
    """A tensor or Python number; NotImplemented for anything else."""
    if isinstance(x, (Base, bool, int, float, complex)) and not isinstance(x, np.generic):
        return x
    if isinstance(x, np.generic):
        return x.item()
    if isinstance(x, np.ndarray):
        return make(np.array(x))
    return NotImplemented


def level(x: Any) -> tuple[int, dtypes.dtype]:
    if isinstance(x, Base):
        return (2 if x._value.ndim else 1), dtypes.of_numpy(x._value.dtype)
    return 0, dtypes.of_number(x)


def result_type(*operands: Any) -> dtypes.dtype:
    """The dtype that arithmetic on these operands gives.

    >>> from autodiff_compiler.compat import torch
    >>> torch.result_type(torch.tensor([1]), 1.5)
    torch.float32
    """
    return dtypes.join([level(x) for x in operands if x is not None])


def number_in(x: Any, dtype: np.dtype[Any]) -> Any:
    """A Python number as it stands in an operation of this dtype."""
    if isinstance(x, NUMBERS) and dtype.kind in "fc" and isinstance(x, int):
        return float(x)
    return x


def elementwise(name: str, f: Callable[..., Any], *operands: Any, floats: bool = False) -> Any:
    """An operation element by element, in the dtype that the operands promote to; `floats`: a floating one."""
    dtype = result_type(*operands)
    if floats and not (dtype.is_floating_point or dtype.is_complex):
        dtype = dtypes.get_default_dtype()
    wanted = dtype.numpy
    numbers = all(not isinstance(x, Base) for x in operands)

    def computed(*args: Any) -> Any:
        args = tuple([to(a, wanted) if hasattr(a, "dtype") else number_in(a, wanted) for a in args])
        if numbers:
            args = (wanted.type(args[0]), *args[1:])
        return f(*args)

    return run(name, computed, *operands, layout=True)


def in_place_of(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """The method that writes the result of an operation into its first operand."""

    def write(self: Any, *args: Any, **kwargs: Any) -> Any:
        return assign(self, lambda before: f(before, *[before if a is self else a for a in args], **kwargs))

    return named(name, write, f"`{name[:-1]}`, written into the memory of the tensor.")
