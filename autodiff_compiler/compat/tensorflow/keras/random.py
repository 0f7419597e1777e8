"""``keras.random``: numbers from NumPy's generator, by seeds that are integers or a `SeedGenerator`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import tensorflow as tf
from . import backend
from .initializers import generator
from .names import public


class SeedGenerator:
    """A sequence of seeds, each for one call. Without a seed it starts anywhere."""

    def __init__(self, seed: int | None = None, name: str | None = None, **kwargs: Any):
        self._random = generator(seed)
        self._initial_seed, self.name = seed, name

    def next(self, ordered: bool = True) -> Any:
        """The next seed: two integers, as a tensor."""
        return tf.constant(self._random.integers(2**31, size=2), tf.int64)

    def get_config(self) -> dict[str, Any]:
        """The seed to start from."""
        return {"seed": self._initial_seed}


def _drawn(seed: Any) -> np.random.Generator:
    if isinstance(seed, SeedGenerator):
        return np.random.default_rng(seed.next().numpy().tolist())
    return generator(seed)


def _tensor(values: Any, dtype: Any) -> Any:
    return tf.constant(values, tf.as_dtype(dtype or backend.floatx()))


def normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None) -> Any:
    """Numbers of a normal distribution."""
    return _tensor(_drawn(seed).normal(mean, stddev, tuple(shape)), dtype)


def uniform(shape: Any, minval: float = 0.0, maxval: float = 1.0, dtype: Any = None, seed: Any = None) -> Any:
    """Numbers of a uniform distribution."""
    return _tensor(_drawn(seed).uniform(minval, maxval, tuple(shape)), dtype)


def randint(shape: Any, minval: int, maxval: int, dtype: Any = "int32", seed: Any = None) -> Any:
    """Integers from `minval` on and below `maxval`."""
    return _tensor(_drawn(seed).integers(minval, maxval, tuple(shape)), dtype)


def shuffle(x: Any, axis: int = 0, seed: Any = None) -> Any:
    """The parts along an axis in another order."""
    return tf.gather(x, _drawn(seed).permutation(int(x.shape[axis])), axis=axis)


def dropout(inputs: Any, rate: float, noise_shape: Any = None, seed: Any = None) -> Any:
    """Zero with probability `rate` for each element, the others divided by ``1 - rate``."""
    shape = tuple(inputs.shape) if noise_shape is None else tuple(noise_shape)
    kept = _drawn(seed).random(shape) >= rate
    return inputs * tf.constant(kept / (1.0 - rate), inputs.dtype)


__getattr__, __dir__ = public(
    "tf.keras.random", ["SeedGenerator", "dropout", "normal", "randint", "shuffle", "uniform"]
)  # fmt: skip
