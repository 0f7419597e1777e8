"""What PyTorch's tensors are made with: the graph of `compat.graph`, with PyTorch's modes, dtypes and words; operands
of elementwise operations."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..graph.array import to
from ..graph.core import Base, assign, listed, new_tensor, run, subscripts, view
from ..graph.record import System, Version
from ..operations.signatures import also_named, named
from . import dtypes
from .modes import MODE

F = TypeVar("F", bound=Callable[..., Any])

FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)


def _check_cast(made: np.dtype[Any], wanted: np.dtype[Any]) -> None:
    a, b = dtypes.of_numpy(made), dtypes.of_numpy(wanted)
    if not dtypes.can_cast(a, b):
        raise RuntimeError(f"result type {a.type_name} can't be cast to the desired output type {b.type_name}")


def _type_name(dtype: np.dtype[Any]) -> str:
    return f"torch.{dtypes.of_numpy(dtype).type_name}Tensor"


def _refused(error: Exception, name: str, shapes: list[tuple[int, ...]]) -> Exception:
    """IndexError for axes, the error that users know where shapes do not broadcast, and else RuntimeError."""
    if isinstance(error, IndexError):
        text = str(error).replace("for axis", "for dimension")
        return IndexError(re.sub(r"array: array is (\d+)-dimensional.*", r"tensor of dimension \1", text))
    if isinstance(error, np.linalg.LinAlgError):
        return error
    if "could not be broadcast together" in str(error):
        width = max(map(len, shapes))
        for k, lengths in enumerate(itertools.zip_longest(*map(reversed, shapes), fillvalue=1), 1):
            found = list(dict.fromkeys([n for n in lengths if n != 1]))
            if len(found) > 1:
                return RuntimeError(
                    f"The size of tensor a ({found[0]}) must match the size of tensor b ({found[1]}) at non-singleton "
                    f"dimension {width - k}"
                )
    return RuntimeError(f"{name}: {error}")


TORCH = System(MODE, Base, _check_cast, _type_name, FREED, _refused)


def make(value: Any, version: Version | None = None) -> Any:
    """A tensor of an array, which it does not copy."""
    return new_tensor(TORCH, value, version)


def renamed(t: Any, name: str) -> Any:
    """The tensor, which was just made: the last operation bears the name of the whole, as in
    ``grad_fn=<MseLossBackward0>``."""
    var = t._own
    if var is not None and var.record is not None:
        var.record.name = name
    return t


def check_dim(t: Any, dim: int) -> int:
    """The axis as a number from 0 on. Raises IndexError for one that is not there."""
    n: int = max(t._value.ndim, 1)
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim % n


def axes_of(t: Any, dim: Any) -> Any:
    """The axes as NumPy takes them. None: all, or none where the tensor has none."""
    if dim is None or isinstance(dim, bool):  # `var` takes a bool in its place
        return dim
    if not isinstance(dim, (tuple, list)):
        axis = check_dim(t, dim)
        return axis if t._value.ndim else None
    axes = tuple([check_dim(t, d) for d in dim])
    if len(set(axes)) != len(axes):
        raise RuntimeError(f"dim {dim[0]} appears multiple times in the list of dims")
    return axes if t._value.ndim and axes else None


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


def numpy_names(f: F) -> F:
    """The function, in calls of which `axis` stands for `dim` and `keepdims` for `keepdim`."""
    return also_named(f, {"axis": "dim", "keepdims": "keepdim"})


def in_place_of(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """The method that writes the result of an operation into its first operand."""

    def write(self: Any, *args: Any, **kwargs: Any) -> Any:
        return assign(self, lambda before: f(before, *[before if a is self else a for a in args], **kwargs))

    return named(name, write, f"`{name[:-1]}`, written into the memory of the tensor.")


__all__ = [
    "FREED", "TORCH", "Base", "as_operand", "assign", "axes_of", "check_dim", "elementwise", "in_place_of", "listed",
    "make", "named", "numpy_names", "renamed", "result_type", "run", "subscripts", "view",
]  # fmt: skip
