"""``mxnet.init``: first values of parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .creation import rng


class Initializer:
    """Gives an array of a shape its first values."""

    def values(self, shape: tuple[int, ...]) -> Any:
        raise NotImplementedError


class Constant(Initializer):
    """One number."""

    def __init__(self, value: float = 0.0):
        self.value = value

    def values(self, shape: tuple[int, ...]) -> Any:
        return np.full(shape, self.value)


class Zero(Constant):
    """Zeros."""

    def __init__(self) -> None:
        super().__init__(0.0)


class One(Constant):
    """Ones."""

    def __init__(self) -> None:
        super().__init__(1.0)


class Uniform(Initializer):
    """Uniform numbers in [-scale, scale]."""

    def __init__(self, scale: float = 0.07):
        self.scale = scale

    def values(self, shape: tuple[int, ...]) -> Any:
        return rng().uniform(-self.scale, self.scale, shape)


class Normal(Initializer):
    """Numbers of a normal distribution."""

    def __init__(self, sigma: float = 0.01):
        self.sigma = sigma

    def values(self, shape: tuple[int, ...]) -> Any:
        return rng().normal(0.0, self.sigma, shape)


class Xavier(Initializer):
    """Numbers that keep the variance from layer to layer."""

    def __init__(self, rnd_type: str = "uniform", factor_type: str = "avg", magnitude: float = 3):
        self.rnd_type, self.factor_type, self.magnitude = rnd_type, factor_type, magnitude

    def values(self, shape: tuple[int, ...]) -> Any:
        window = int(np.prod(shape[2:])) if len(shape) > 2 else 1
        fan_in, fan_out = shape[1] * window if len(shape) > 1 else shape[0], shape[0] * window
        factor = {"avg": (fan_in + fan_out) / 2, "in": fan_in, "out": fan_out}[self.factor_type]
        scale = math.sqrt(self.magnitude / factor)
        draw = rng().uniform(-scale, scale, shape) if self.rnd_type == "uniform" else rng().normal(0, scale, shape)
        return draw


def of(init: Any) -> Initializer:
    """An initializer, given as one or by its name."""
    if isinstance(init, Initializer):
        return init
    names: dict[str, Any] = {"zeros": Zero, "ones": One, "uniform": Uniform, "normal": Normal, "xavier": Xavier}
    if init not in names:
        raise ValueError(f"initializer {init!r} is not there. Instead: {', '.join(names)}")
    made: Initializer = names[init]()
    return made
