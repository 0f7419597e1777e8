"""Initial values of weights. Random ones come from NumPy's generator: `tf.random.set_seed` makes them repeatable."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import tensorflow as tf
from ...module_tables import public
from ..random import generator
from .names import find, snake_case


class Initializer:
    """Base class: calling an initializer with a shape and a dtype gives a tensor, the same one at every call.

    values: a function of a generator of random numbers and a shape, which gives an array.
    """

    def __init__(self, values: Callable[[np.random.Generator, tuple[int, ...]], Any], seed: int | None = None):
        self._values, self._seed = values, seed

    def __call__(self, shape: Sequence[int], dtype: Any = None) -> Any:
        if self._seed is None:
            self._seed = int(generator().integers(2**31))
        values = self._values(np.random.default_rng(self._seed), tuple(int(n) for n in shape))
        return tf.constant(values, tf.as_dtype(dtype or "float32"))


class Constant(Initializer):
    """The same value everywhere."""

    def __init__(self, value: Any = 0.0):
        super().__init__(lambda random, shape: np.broadcast_to(np.asarray(value), shape), seed=0)


class Zeros(Constant):
    """Zeros."""

    def __init__(self) -> None:
        super().__init__(0.0)


class Ones(Constant):
    """Ones."""

    def __init__(self) -> None:
        super().__init__(1.0)


class RandomNormal(Initializer):
    """Normally distributed numbers."""

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: int | None = None):
        super().__init__(lambda random, shape: random.normal(mean, stddev, shape), seed)


class RandomUniform(Initializer):
    """Uniform numbers."""

    def __init__(self, minval: float = -0.05, maxval: float = 0.05, seed: int | None = None):
        super().__init__(lambda random, shape: random.uniform(minval, maxval, shape), seed)


class GlorotUniform(Initializer):
    """Uniform, with variance 2 / (inputs + outputs). Reference: Glorot and Bengio (2010), equation 16."""

    def __init__(self, seed: int | None = None):
        super().__init__(_glorot, seed)


def _glorot(random: np.random.Generator, shape: tuple[int, ...]) -> Any:
    window = math.prod(shape[:-2])
    fans = (shape[-2] + shape[-1]) * window if len(shape) > 1 else 2 * (shape or (1,))[0]
    limit = math.sqrt(6.0 / max(2.0, fans))
    return random.uniform(-limit, limit, shape)


_CLASSES = (Constant, Zeros, Ones, RandomNormal, RandomUniform, GlorotUniform)
_TABLE = {name: c for c in _CLASSES for name in (c.__name__, snake_case(c.__name__))}
globals().update(_TABLE)


def get(identifier: Any) -> Callable[..., Any]:
    """The initializer of this name, or the object itself. Raises ValueError for a name that there is not."""
    return find(_TABLE, identifier, "initializer")


__getattr__, __dir__ = public("tf.keras.initializers", [*_TABLE, "get"])
