"""``tf.random``: a generator of its own. Seeds repeat a sequence, but its numbers are NumPy's, not TensorFlow's."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dtypes
from .dtypes import as_dtype
from .operands import integer, integers, operand
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


def _normal(rng: np.random.Generator, shape: Any, mean: Any, stddev: Any, dtype: Any) -> Any:
    noise = tensor(_real(rng.standard_normal, shape, dtype)[()])
    return noise * _like(stddev, noise) + _like(mean, noise)


def _like(x: Any, noise: Any) -> Any:
    return x if isinstance(x, Arithmetic) else convert_to_tensor(x, noise.dtype)


def _uniform(rng: np.random.Generator, shape: Any, minval: Any, maxval: Any, dtype: Any) -> Any:
    kind = as_dtype(dtype)
    if kind.is_integer:
        if maxval is None:
            raise ValueError(f"Must specify maxval for integer dtype {kind!r}")
        low, high = operand(minval)._value, operand(maxval)._value
        return tensor(np.asarray(rng.integers(low, high, integers(shape), dtype=np.int64)).astype(kind.np_dtype)[()])
    noise = tensor(_real(rng.random, shape, kind)[()])
    low = _like(0 if minval is None else minval, noise)
    return noise * (_like(1 if maxval is None else maxval, noise) - low) + low


def _truncated(rng: np.random.Generator, shape: Any, mean: Any, stddev: Any, dtype: Any) -> Any:
    v = np.array(_real(rng.standard_normal, shape, dtype))
    bad = np.abs(v) > 2
    while np.any(bad):
        v[bad] = _real(rng.standard_normal, (int(bad.sum()),), dtype)
        bad = np.abs(v) > 2
    noise = tensor(v[()])
    return noise * _like(stddev, noise) + _like(mean, noise)


def normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, seed: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Normally distributed numbers. `mean` and `stddev` may be tensors, and get gradients."""
    return _normal(generator(seed), shape, mean, stddev, dtype)


def uniform(
    shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, seed: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Numbers from `minval` (0) up to `maxval` (1), which is not among them; integers need both."""
    return _uniform(generator(seed), shape, minval, maxval, dtype)


def truncated_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, seed: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Normally distributed numbers no further than two standard deviations from the mean."""
    return _truncated(generator(seed), shape, mean, stddev, dtype)


def shuffle(value: Any, seed: Any = None, name: str | None = None) -> Any:
    """The parts along the first axis in random order; no gradient passes."""
    v = operand(value)._value
    return tensor(v[generator(seed).permutation(v.shape[0])])


# --- without state ----------------------------------------------------------------------------------------------------


def _of(seed: Any) -> np.random.Generator:
    return np.random.default_rng([abs(n) for n in integers(seed)])


def stateless_normal(
    shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: str | None = None,
    alg: str = "auto_select",
) -> Any:  # fmt: skip
    """`normal`: the same numbers for the same seed, a pair of integers."""
    return _normal(_of(seed), shape, mean, stddev, dtype)


def stateless_uniform(
    shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, name: str | None = None,
    alg: str = "auto_select",
) -> Any:  # fmt: skip
    """`uniform`: the same numbers for the same seed, a pair of integers."""
    return _uniform(_of(seed), shape, minval, maxval, dtype)


class Generator:
    """A generator with a state of its own. ``Generator.from_seed(1)`` makes one."""

    def __init__(self, seed: Any = None):
        self._rng = np.random.default_rng(seed)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        return cls([abs(n) for n in integers(seed)])

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        return cls()

    def reset_from_seed(self, seed: Any) -> None:
        self._rng = np.random.default_rng([abs(n) for n in integers(seed)])

    def split(self, count: int = 1) -> list[Generator]:
        """Generators that do not depend on each other."""
        out = []
        for rng in self._rng.spawn(count):
            made = Generator()
            made._rng = rng
            out.append(made)
        return out

    def normal(
        self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: str | None = None
    ) -> Any:
        return _normal(self._rng, shape, mean, stddev, dtype)

    def uniform(
        self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, name: str | None = None
    ) -> Any:
        return _uniform(self._rng, shape, minval, maxval, dtype)

    def truncated_normal(
        self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: str | None = None
    ) -> Any:
        return _truncated(self._rng, shape, mean, stddev, dtype)


from .namespace import lazy  # noqa: E402

__getattr__, __dir__ = lazy(__name__, {})
