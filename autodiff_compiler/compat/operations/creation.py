"""New arrays of one number, in a shape or in the shape of another array."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..graph.array import to, value_of
from .row import row

_generator = np.random.default_rng()


_refused = ""  # why no random numbers may be drawn now


def rng() -> np.random.Generator:
    """The generator of the random numbers of PyTorch's and MXNet's functions. They are NumPy's numbers."""
    if _refused:
        raise RuntimeError(_refused)
    return _generator


@contextmanager
def drawing(refused: str) -> Iterator[Callable[[], None]]:
    """A context in which drawing raises RuntimeError with this message, if it is not empty. It gives a function that
    has the same numbers come again."""
    global _refused
    before, _refused = _refused, refused or _refused
    state = _generator.bit_generator.state

    def restart() -> None:
        _generator.bit_generator.state = state

    try:
        yield restart
    finally:
        _refused = before


def seed(number: int) -> None:
    """Start over from a seed."""
    global _generator
    _generator = np.random.default_rng(int(number) % 2**64)


def _uniform(shape: Any, dtype: Any) -> Any:
    value = rng().random(shape).astype(dtype)
    return np.minimum(value, np.nextafter(value.dtype.type(1), value.dtype.type(0)))  # rounding may give 1


def _normal(shape: Any, dtype: Any) -> Any:
    return rng().standard_normal(shape).astype(dtype)


def _filled(shape: Any, number: Any) -> Any:
    return np.full(shape, number)


def _range(start: Any, stop: Any, step: Any) -> Any:
    first, last = (0, start) if stop is None else (start, stop)
    numbers = first + np.arange(max(0, math.ceil((last - first) / step))) * step
    return numbers.astype(np.result_type(first, last, step))


def _integers(low: Any, high: Any, size: Any) -> Any:
    if isinstance(high, (tuple, list)):
        low, high, size = 0, low, high  # PyTorch's randint(high, size)
    return rng().integers(low, high, size)


def _spread(mean: Any, deviation: Any, size: Any) -> Any:
    shape = np.broadcast_shapes(np.shape(mean), np.shape(deviation)) if size is None else size
    return rng().standard_normal(shape) * deviation + mean


def _between(low: Any, high: Any, size: Any) -> Any:
    return rng().uniform(low, high, np.broadcast_shapes(np.shape(low), np.shape(high)) if size is None else size)


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

_NEW, _FLOAT, _KEPT = "*, dtype=None, **options", "dtype='float32', ctx=None", "dtype=None, ctx=None"
row("new", _filled, "Full", "An array filled with one number.", "", f"torch.full (size, fill_value, {_NEW})",
    f"np.full (shape, fill_value, {_FLOAT})")  # fmt: skip
row("new", _range, "Range", "The numbers from `start` up to but not including the end; with one argument, from 0 on.",
    "", f"torch.arange (start, end=None, step=1, {_NEW})",
    f"np.arange (start, stop=None, step=1, {_FLOAT})")  # fmt: skip
row("new", np.linspace, "Linspace", "Evenly spaced numbers, both ends included.", "",
    f"torch.linspace (start, end, steps, {_NEW})",
    f"np.linspace (start, stop, num=50, endpoint=True, {_FLOAT})")  # fmt: skip
row("new", np.eye, "Eye", "Ones on a diagonal.", "", f"torch.eye (n, m=None, {_NEW})",
    f"np.eye np.identity (N, M=None, k=0, {_FLOAT})")  # fmt: skip
row("new", _integers, "Randint", "Integers from `low` up to but not including `high`.", "",
    f"torch.randint (low=0, high=None, size=None, {_NEW})",
    f"np.random.randint (low, high=None, size=None, {_KEPT})")  # fmt: skip
row("new", _spread, "Normal", "Numbers of normal distributions.", "",
    f"torch.normal (mean=0.0, std=1.0, size=None, {_NEW})",
    f"np.random.normal (loc=0.0, scale=1.0, size=None, {_FLOAT})")  # fmt: skip
row("new", _between, "Uniform", "Uniform numbers.", "", "",
    f"np.random.uniform (low=0.0, high=1.0, size=None, {_FLOAT})")  # fmt: skip
row("new", lambda x: rng().permutation(x), "Permutation", "The integers below a number, or the rows of an array, in "
    "random order.", "", f"torch.randperm (n, {_NEW})", f"np.random.permutation (x, {_KEPT})")  # fmt: skip
row("new", lambda a, size, replace, p: rng().choice(a, size, replace, p), "Choice", "Elements drawn from an array, or "
    "from the integers below a number.", "", "",
    f"np.random.choice (a, size=None, replace=True, p=None, {_KEPT})")  # fmt: skip
