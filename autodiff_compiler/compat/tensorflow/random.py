"""``tf.random``: a generator of its own. Seeds repeat a sequence, but its numbers are NumPy's, not TensorFlow's."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dtypes
from .dtypes import as_dtype
from .namespace import lazy
from .operands import floating, integer, integers, operand, run
from .operators import Arithmetic
from .tensors import convert_to_tensor, tensor

_seed: int | None = None
_generator = np.random.default_rng()
_of_operations: dict[int, np.random.Generator] = {}  # by the seed that was given to the operation
_DEFAULT_SEED = 87654321


def set_seed(seed: Any) -> None:
    """Start the sequence of random numbers anew, from this seed."""
    global _seed, _generator
    _seed = integer(seed)
    _generator = np.random.default_rng(abs(_seed))
    _of_operations.clear()


def generator(seed: Any = None) -> np.random.Generator:
    """The generator in use; with a seed for the operation, one that repeats from the last `set_seed` on."""
    if seed is None:
        return _generator
    key = integer(seed)
    found = _of_operations.get(key)
    if found is None:
        start = _DEFAULT_SEED if _seed is None else abs(_seed)
        found = _of_operations[key] = np.random.default_rng([start, abs(key)])
    return found


def _real(draw: Any, shape: Any, dtype: Any) -> Any:
    """Random numbers in a floating dtype, as an array."""
    kind = as_dtype(dtype)
    if not kind.is_floating:
        raise ValueError(f"Invalid dtype {kind!r}: random numbers are floating")
    narrow = np.float64 if kind.name == "float64" else np.float32
    return np.asarray(draw(integers(shape), dtype=narrow)).astype(kind.np_dtype)


def _like(x: Any, noise: Any) -> Any:
    return x if isinstance(x, Arithmetic) else convert_to_tensor(x, dtypes.of(noise.dtype))


def _scaled(noise: Any, factor: Any, shift: Any) -> Any:
    return tensor(noise[()]) * _like(factor, noise) + _like(shift, noise)


def normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, seed: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Normally distributed numbers. `mean` and `stddev` may be tensors, and get gradients."""
    return _scaled(_real(generator(seed).standard_normal, shape, dtype), stddev, mean)


def uniform(
    shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, seed: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Numbers from `minval` (0) up to `maxval` (1), which is not among them; integers need both."""
    kind = as_dtype(dtype)
    if kind.is_integer:
        if maxval is None:
            raise ValueError(f"Must specify maxval for integer dtype {kind!r}")
        low, high = operand(minval)._value, operand(maxval)._value
        drawn = np.asarray(generator(seed).integers(low, high, integers(shape), dtype=np.int64))
        return tensor(drawn.astype(kind.np_dtype)[()])
    noise = _real(generator(seed).random, shape, kind)
    low = _like(0 if minval is None else minval, noise)
    return _scaled(noise, _like(1 if maxval is None else maxval, noise) - low, low)


def dropout(x: Any, rate: Any, noise_shape: Any = None, seed: Any = None, name: str | None = None) -> Any:
    """`x` with a random share `rate` of zeros, and the rest scaled so that its mean stays."""
    x = floating(x, "dropout", "f")
    share = float(operand(rate)._value)
    if not 0 <= share < 1:
        raise ValueError(f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}")
    if share == 0:
        return x
    keep = generator(seed).random(x._value.shape if noise_shape is None else integers(noise_shape)) >= share
    kept = np.broadcast_to(keep, x._value.shape).copy()
    return run(np.where, kept, x * (1.0 / (1.0 - share)), x._value.dtype.type(0))


__getattr__, __dir__ = lazy(__name__, {})
