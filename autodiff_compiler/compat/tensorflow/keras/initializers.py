"""Initial values of weights. Random ones come from NumPy's generator: `tf.random.set_seed` makes them repeatable."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import tensorflow as tf
from . import backend
from .names import both_spellings, find, public

Shape = Sequence[int]


def generator(seed: int | None) -> np.random.Generator:
    """NumPy's generator for a seed; without one, the seed is drawn from TensorFlow's global generator."""
    if seed is None:
        seed = int(tf.random.uniform((), maxval=2**31 - 1, dtype=tf.int32))
    return np.random.default_rng(seed)


class Initializer:
    """Base class: calling an initializer with a shape and a dtype gives a tensor."""

    def __call__(self, shape: Shape, dtype: Any = None) -> Any:
        return tf.constant(self.values(tuple(int(n) for n in shape)), tf.as_dtype(dtype or backend.floatx()))

    def values(self, shape: tuple[int, ...]) -> Any:
        """The values as an array."""
        raise NotImplementedError(f"{type(self).__name__} does not say what its values are")


class Constant(Initializer):
    """The same value everywhere."""

    def __init__(self, value: Any = 0.0):
        self.value = value

    def values(self, shape: tuple[int, ...]) -> Any:
        return np.broadcast_to(np.asarray(self.value), shape).copy()


class Zeros(Initializer):
    def values(self, shape: tuple[int, ...]) -> Any:
        return np.zeros(shape)


class Ones(Initializer):
    def values(self, shape: tuple[int, ...]) -> Any:
        return np.ones(shape)


class Identity(Initializer):
    """The identity matrix times `gain`. Raises ValueError for a shape that is not two-dimensional."""

    def __init__(self, gain: float = 1.0):
        self.gain = gain

    def values(self, shape: tuple[int, ...]) -> Any:
        if len(shape) != 2:
            raise ValueError(
                f"Identity matrix initializer can only be used for 2D matrices. Received: shape={shape} of rank "
                f"{len(shape)}."
            )
        return self.gain * np.eye(*shape)


class _Random(Initializer):
    """An initializer with a seed, which gives the same values at every call, as Keras' do."""

    seed: int | None = None

    def drawn(self) -> np.random.Generator:
        if self.seed is None:
            self.seed = int(generator(None).integers(2**31))
        return np.random.default_rng(self.seed)


class RandomNormal(_Random):
    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: int | None = None):
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def values(self, shape: tuple[int, ...]) -> Any:
        return self.drawn().normal(self.mean, self.stddev, shape)


class TruncatedNormal(_Random):
    """A normal distribution without what is more than two standard deviations from its mean."""

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: int | None = None):
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def values(self, shape: tuple[int, ...]) -> Any:
        return self.mean + self.stddev * truncated(self.drawn(), shape)


class RandomUniform(_Random):
    def __init__(self, minval: float = -0.05, maxval: float = 0.05, seed: int | None = None):
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def values(self, shape: tuple[int, ...]) -> Any:
        return self.drawn().uniform(self.minval, self.maxval, shape)


class Orthogonal(_Random):
    """A matrix with orthonormal rows or columns, times `gain`; axes but the last are taken together."""

    def __init__(self, gain: float = 1.0, seed: int | None = None):
        self.gain, self.seed = gain, seed

    def values(self, shape: tuple[int, ...]) -> Any:
        if len(shape) < 2:
            raise ValueError(
                "The tensor to initialize must be at least two-dimensional. Received: "
                f"shape={shape} of rank {len(shape)}."
            )
        rows, columns = math.prod(shape[:-1]), shape[-1]
        q, r = np.linalg.qr(self.drawn().normal(size=(max(rows, columns), min(rows, columns))))
        q = q * np.sign(np.diag(r))
        return self.gain * (q if rows >= columns else q.T).reshape(shape)


class VarianceScaling(_Random):
    """Random values whose variance is `scale` divided by the number of inputs, outputs, or their mean (`mode`).

    Raises ValueError for a mode or a distribution that there is not.
    """

    def __init__(
        self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal", seed: int | None = None
    ):
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"Invalid `mode` argument: {mode}. Please use one of fan_in, fan_out, fan_avg")
        if distribution not in ("normal", "truncated_normal", "untruncated_normal", "uniform"):
            raise ValueError(
                f"Invalid `distribution` argument: {distribution}. Please use one of truncated_normal, "
                "untruncated_normal, uniform"
            )
        self.scale, self.mode, self.distribution, self.seed = scale, mode, distribution, seed

    def values(self, shape: tuple[int, ...]) -> Any:
        fan_in, fan_out = fans(shape)
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        variance = self.scale / max(1.0, fan)
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return self.drawn().uniform(-limit, limit, shape)
        if self.distribution == "untruncated_normal":
            return self.drawn().normal(0.0, math.sqrt(variance), shape)
        # Cutting a standard normal distribution at +-2 leaves this standard deviation.
        return math.sqrt(variance) / 0.87962566103423978 * truncated(self.drawn(), shape)


def fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """How many inputs and outputs a weight of this shape connects.

    >>> fans((3, 3, 8, 16))
    (72, 144)
    """
    if not shape:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    window = math.prod(shape[:-2])
    return shape[-2] * window, shape[-1] * window


def truncated(random: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Standard normal numbers, drawn again until they are at most 2 in size."""
    out = random.standard_normal(shape)
    while np.any(far := np.abs(out) > 2.0):
        out = np.where(far, random.standard_normal(shape), out)
    return out


def _scaled(name: str, scale: float, mode: str, distribution: str, doc: str) -> type[VarianceScaling]:
    def init(self: VarianceScaling, seed: int | None = None) -> None:
        VarianceScaling.__init__(self, scale, mode, distribution, seed)

    return type(name, (VarianceScaling,), {"__init__": init, "__doc__": doc, "__module__": __name__})


GlorotUniform = _scaled("GlorotUniform", 1.0, "fan_avg", "uniform", "Uniform, variance 2 / (inputs + outputs).")
GlorotNormal = _scaled("GlorotNormal", 1.0, "fan_avg", "truncated_normal", "Normal, variance 2 / (inputs + outputs).")
HeUniform = _scaled("HeUniform", 2.0, "fan_in", "uniform", "Uniform, variance 2 / inputs.")
HeNormal = _scaled("HeNormal", 2.0, "fan_in", "truncated_normal", "Normal, variance 2 / inputs.")
LecunUniform = _scaled("LecunUniform", 1.0, "fan_in", "uniform", "Uniform, variance 1 / inputs.")
LecunNormal = _scaled("LecunNormal", 1.0, "fan_in", "truncated_normal", "Normal, variance 1 / inputs.")

zeros, ones, constant, identity, orthogonal = Zeros, Ones, Constant, Identity, Orthogonal
random_normal, random_uniform, truncated_normal = RandomNormal, RandomUniform, TruncatedNormal
glorot_uniform, glorot_normal, he_uniform, he_normal = GlorotUniform, GlorotNormal, HeUniform, HeNormal
lecun_uniform, lecun_normal, variance_scaling = LecunUniform, LecunNormal, VarianceScaling

_TABLE = both_spellings(
    Constant, Zeros, Ones, Identity, RandomNormal, TruncatedNormal, RandomUniform, Orthogonal, VarianceScaling,
    GlorotUniform, GlorotNormal, HeUniform, HeNormal, LecunUniform, LecunNormal,
) | {"normal": RandomNormal, "uniform": RandomUniform, "one": Ones, "zero": Zeros}  # fmt: skip


def get(identifier: Any) -> Callable[..., Any]:
    """The initializer of this name, or the object itself; None gives None's default, zeros.

    Raises ValueError for a name that there is not.
    """
    found: Callable[..., Any] = find(_TABLE, identifier, "initializer")
    return found


__getattr__, __dir__ = public(
    "tf.keras.initializers", ({*_TABLE} - {"one", "zero", "normal", "uniform"}) | {"get", "Initializer"}
)
