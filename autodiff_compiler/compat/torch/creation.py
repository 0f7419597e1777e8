"""New tensors: filled, ranges, and random ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..operations import creation
from ..operations.creation import rng
from ..operations.shaping import counts
from . import dtypes
from .conversion import finished, numpy_dtype, tensor
from .core import Base, make, named
from .made import FUNCTIONS as MADE
from .tensor import Tensor, method


def full(size: Any, fill_value: Any, *, dtype: Any = None, **options: Any) -> Any:
    """A tensor filled with one number, in the dtype that the number gives."""
    if isinstance(fill_value, Base):
        dtype, fill_value = dtype or fill_value.dtype, fill_value.item()
    wanted = (dtypes.of_number(fill_value) if dtype is None else dtype).numpy
    return finished(np.full(counts((size,)), fill_value, wanted), **options)


def arange(start: Any, end: Any = None, step: Any = 1, *, dtype: Any = None, **options: Any) -> Any:
    """The numbers from `start` up to but not including `end`: int64 if all are integers."""
    if end is None:
        start, end = 0, start
    given = [x.item() if isinstance(x, Base) else x for x in (start, end, step)]
    if dtype is None:
        dtype = dtypes.int64 if all(isinstance(x, int) for x in given) else dtypes.get_default_dtype()
    first, last, by = given
    count = max(0, math.ceil((last - first) / by))
    wide = np.float64 if dtype.is_floating_point else np.int64
    return finished((first + np.arange(count) * by).astype(wide).astype(dtype.numpy), **options)


def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None, **options: Any) -> Any:
    """Evenly spaced numbers, both ends included."""
    a, b = [float(x) for x in (start, end)]
    return finished(np.linspace(a, b, int(steps)).astype(numpy_dtype(dtype)), **options)


def eye(n: int, m: int | None = None, *, dtype: Any = None, **options: Any) -> Any:
    """The unit matrix."""
    return finished(np.eye(n, m, dtype=numpy_dtype(dtype)), **options)


# --- random numbers ---------------------------------------------------------------------------------------------------


def manual_seed(seed: int) -> None:
    """Start the random numbers over from a seed. They are NumPy's numbers, not PyTorch's.

    >>> from autodiff_compiler.compat import torch
    >>> torch.manual_seed(0)
    >>> a = torch.rand(3)
    >>> torch.manual_seed(0)
    >>> torch.equal(a, torch.rand(3))
    True
    """
    creation.seed(seed)


def randint(*args: Any, dtype: Any = None, **options: Any) -> Any:
    """Integers: ``randint(high, size)`` or ``randint(low, high, size)``, without `high`."""
    *bounds, size = [*args, *[options.pop(name) for name in ("low", "high", "size") if name in options]]
    low, high = bounds if len(bounds) == 2 else (0, *bounds)
    wanted = (dtypes.int64 if dtype is None else dtype).numpy
    return finished(rng().integers(low, high, counts((size,))).astype(wanted), **options)


def randperm(n: int, *, dtype: Any = None, **options: Any) -> Any:
    """The integers below `n` in random order."""
    return finished(rng().permutation(n).astype((dtypes.int64 if dtype is None else dtype).numpy), **options)


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, dtype: Any = None) -> Any:
    """Numbers of normal distributions: of one, in a shape, or of one for each element of `mean` and `std`."""
    m, s = [x._value if isinstance(x, Base) else x for x in (mean, std)]
    shape = counts((size,)) if size is not None else np.broadcast_shapes(np.shape(m), np.shape(s))
    return make((rng().standard_normal(shape) * s + m).astype(numpy_dtype(dtype)))


def _fill(name: str, draw: Callable[..., Any]) -> None:
    def write(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self.copy_(make(np.asarray(draw(rng(), self._value.shape, *args, **kwargs))))

    method(name, named(name, write, f"Fill the tensor with random numbers: `{name[:-1]}`."))


_fill("uniform_", lambda g, shape, a=0.0, b=1.0, **k: g.uniform(k.get("from_", a), k.get("to", b), shape))
_fill("normal_", lambda g, shape, mean=0.0, std=1.0: g.normal(mean, std, shape))
for _f in (MADE["zeros"], MADE["ones"], full, tensor):
    method(f"new_{_f.__name__}", lambda self, *n, dtype=None, _f=_f, **o: _f(*n, dtype=dtype or self.dtype, **o))
method("new_empty", getattr(Tensor, "new_zeros"))  # noqa: B009

FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (full, arange, linspace, eye, manual_seed, randint, randperm, normal)
}
