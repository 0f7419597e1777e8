"""Operands of elementwise operations: PyTorch's promotion of dtypes, shapes, results written in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph.array import to
from . import dtypes
from .core import Base, assign, make, named, run


def as_operand(x: Any) -> Any:
    """A tensor or Python number; NotImplemented for anything else."""
    if isinstance(x, np.generic):
        return x.item()
    if isinstance(x, np.ndarray):
        return make(np.array(x))
    return x if isinstance(x, (Base, int, float, complex)) else NotImplemented


def result_type(*operands: Any) -> dtypes.dtype:
    """The dtype that arithmetic on these operands gives.

    >>> from autodiff_compiler.compat import torch
    >>> torch.result_type(torch.tensor([1]), 1.5)
    torch.float32
    """
    kinds = [(min(x._value.ndim, 1) + 1, x.dtype) for x in operands if isinstance(x, Base)]
    return dtypes.join([*kinds, *[(0, dtypes.of_number(x)) for x in operands if isinstance(x, (int, float, complex))]])


def elementwise(name: str, f: Callable[..., Any], *operands: Any, floats: bool = False) -> Any:
    """An operation element by element, in the dtype that the operands promote to; `floats`: a floating one."""
    dtype = result_type(*operands)
    if floats and not (dtype.is_floating_point or dtype.is_complex):
        dtype = dtypes.get_default_dtype()
    wanted = dtype.numpy
    if wanted.kind in "fc":
        operands = tuple([float(x) if isinstance(x, int) else x for x in operands])
    return run(name, lambda *given: f(*[to(a, wanted) for a in given]), *operands, layout=True)


def in_place_of(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """The method that writes the result of an operation into its first operand."""

    def write(self: Any, *args: Any, **kwargs: Any) -> Any:
        return assign(self, lambda before: f(before, *[before if a is self else a for a in args], **kwargs))

    return named(name, write, f"`{name[:-1]}`, written into the memory of the tensor.")
