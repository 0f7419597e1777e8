"""New arrays of one number, in a shape or in the shape of another array."""

from __future__ import annotations

from typing import Any

import numpy as np

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
row("creation", _uniform, "Rand", "Uniform numbers in [0, 1).", "", "torch.rand",
    "np.random.rand (*size, dtype=None)")  # fmt: skip
row("creation", _normal, "Randn", "Numbers of the standard normal distribution.", "", "torch.randn",
    "np.random.randn (*size, dtype=None)")  # fmt: skip
row("likeness", lambda v, dtype, order: _uniform(v.shape, dtype), "RandLike",
    "Uniform numbers in [0, 1), in the shape and dtype of another tensor.", "", "torch.rand_like")  # fmt: skip
row("likeness", lambda v, dtype, order: _normal(v.shape, dtype), "RandnLike",
    "Numbers of the standard normal distribution, in the shape and dtype of another tensor.", "",
    "torch.randn_like")  # fmt: skip
