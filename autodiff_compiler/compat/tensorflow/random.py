"""``tf.random``: a generator of its own. Seeds repeat a sequence, but its numbers are NumPy's, not TensorFlow's."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dtypes import as_dtype
from .namespace import lazy
from .operands import array, floating, integer, integers, operand, run
from .tensors import tensor

_seed = 87654321
_generator = np.random.default_rng()
_of_operations: dict[int, np.random.Generator] = {}  # by the seed that was given to the operation


def set_seed(seed: Any) -> None:
    """Start the sequence of random numbers anew, from this seed."""
    global _seed, _generator
    _seed = abs(integer(seed))
    _generator = np.random.default_rng(_seed)
    _of_operations.clear()


def generator(seed: Any = None) -> np.random.Generator:
    """The generator in use; with a seed for the operation, one that repeats from the last `set_seed` on."""
    if seed is None:
        return _generator
    key = abs(integer(seed))
    if key not in _of_operations:
        _of_operations[key] = np.random.default_rng([_seed, key])
    return _of_operations[key]


def _real(draw: Any, shape: Any, dtype: Any) -> Any:
    """Random numbers in a floating dtype, as a tensor."""
    kind = as_dtype(dtype)
    if not kind.is_floating:
        raise ValueError(f"Invalid dtype {kind!r}: random numbers are floating")
    narrow = np.float64 if kind.name == "float64" else np.float32
    return tensor(np.asarray(draw(integers(shape), dtype=narrow)).astype(kind.np_dtype)[()])


def normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", seed: Any = None, name: str | None = None
) -> Any:  # fmt: skip
    """Normally distributed numbers. `mean` and `stddev` may be tensors, and get gradients."""
    return _real(generator(seed).standard_normal, shape, dtype) * stddev + mean


def uniform(
    shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = "float32", seed: Any = None, name: str | None = None
) -> Any:  # fmt: skip
    """Numbers from `minval` (0) up to `maxval` (1), which is not among them; integers need both."""
    kind, low = as_dtype(dtype), 0 if minval is None else minval
    if not kind.is_integer:
        return _real(generator(seed).random, shape, kind) * ((1 if maxval is None else maxval) - low) + low
    if maxval is None:
        raise ValueError(f"Must specify maxval for integer dtype {kind!r}")
    drawn = np.asarray(generator(seed).integers(array(low), array(maxval), integers(shape), dtype=np.int64))
    return tensor(drawn.astype(kind.np_dtype)[()])


def dropout(x: Any, rate: Any, *, seed: Any = None, name: str | None = None) -> Any:
    """`x` with a random share `rate` of zeros, and the rest scaled so that its mean stays."""
    x = floating(x, "dropout", "f")
    share = float(operand(rate)._value)
    if not 0 <= share < 1:
        raise ValueError(f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}")
    if share == 0:
        return x
    kept = np.asarray(generator(seed).random(x._value.shape) >= share)
    return run(np.where, kept, x * (1.0 / (1.0 - share)), x._value.dtype.type(0))


__getattr__, __dir__ = lazy(__name__, {})
