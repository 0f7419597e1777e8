"""New arrays of one number, in a shape or in the shape of another array."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.array import to, value_of
from .row import row

_generator = np.random.default_rng()


def rng() -> np.random.Generator:
    """The generator of the random numbers of PyTorch's and MXNet's functions. They are NumPy's numbers."""
    return _generator


def seed(number: int) -> None:
    """Start over from a seed."""
    global _generator
    _generator = np.random.default_rng(int(number) % 2**64)


def _uniform(shape: Any, dtype: Any) -> Any:
    value = rng().random(shape).astype(dtype)
    return np.minimum(value, np.nextafter(value.dtype.type(1), value.dtype.type(0)))  # rounding may give 1


def _normal(shape: Any, dtype: Any) -> Any:
    return rng().standard_normal(shape).astype(dtype)


row("creation", np.zeros, "Zeros", "Zeros, float32 unless told otherwise.", "zeros", "torch.zeros torch.empty",
    "np.zeros np.empty")  # fmt: skip
row("creation", np.ones, "Ones", "Ones, float32 unless told otherwise.", "ones", "torch.ones", "np.ones")
row("likeness", np.zeros_like, "ZerosLike", "Zeros in the shape and dtype of another.", "zeros_like",
    "torch.zeros_like torch.empty_like", "np.zeros_like np.empty_like")  # fmt: skip
row("likeness", np.ones_like, "OnesLike", "Ones in the shape and dtype of another.", "ones_like", "torch.ones_like",
    "np.ones_like")  # fmt: skip
row("likeness", np.full_like, "FullLike", "One number in the shape and dtype of another.", "",
    "torch.full_like (input, fill_value, *, dtype=None, **options)",
    "np.full_like (a, fill_value, dtype=None)")  # fmt: skip
row("arrays", lambda n, m, batch, dtype: np.broadcast_to(np.eye(n, m, dtype=dtype), (*(batch or ()), n, m or n)), "Eye",
    "The identity matrix, or a batch of it.",
    "eye linalg.eye (num_rows, num_columns=None, batch_shape=None, dtype='float32', name=None)",
    operands=0)  # fmt: skip


def _one_number(shape: Any, value: Any) -> Any:
    if value_of(value).ndim:
        raise ValueError(f"value must be a scalar, got shape {list(value_of(value).shape)}")
    return np.broadcast_to(value, shape)


def _spaced(start: Any, stop: Any, count: int) -> Any:
    if count < 1:
        raise ValueError(f"Requires num > 0: {count}")
    kind = value_of(start).dtype
    return to(np.linspace(start, stop, count), np.dtype(np.float64) if kind.kind in "iu" else kind)


row("arrays", lambda places, n, dtype: (places[..., None] == np.arange(n)).astype(dtype), "OneHot",
    "1 at the index, 0 elsewhere, along a new last axis.", "one_hot (indices, depth, *, dtype='float32', name=None)",
    operands=0)  # fmt: skip
row("arrays", _one_number, "Fill", "A tensor filled with one number, which may be a tensor.",
    "fill (dims, value, name=None, layout=None)", operands=2)  # fmt: skip
row("arrays", _spaced, "LinSpace", "`num` numbers from `start` to `stop`, along a new first axis. Integers give "
    "float64.", "linspace (start, stop, num, name=None)", operands=2)  # fmt: skip
row("creation", _uniform, "Rand", "Uniform numbers in [0, 1).", "", "torch.rand",
    "np.random.rand (*size, dtype=None)")  # fmt: skip
row("creation", _normal, "Randn", "Numbers of the standard normal distribution.", "", "torch.randn",
    "np.random.randn (*size, dtype=None)")  # fmt: skip
row("likeness", lambda v, dtype, order: _uniform(v.shape, dtype), "RandLike",
    "Uniform numbers in [0, 1), in the shape and dtype of another tensor.", "", "torch.rand_like")  # fmt: skip
row("likeness", lambda v, dtype, order: _normal(v.shape, dtype), "RandnLike",
    "Numbers of the standard normal distribution, in the shape and dtype of another tensor.", "",
    "torch.randn_like")  # fmt: skip
