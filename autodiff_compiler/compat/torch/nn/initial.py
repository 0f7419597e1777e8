"""The module ``torch.nn.init``: first values of parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import make, named
from ..creation import rng
from ..modes import no_grad


def _fill(tensor: Any, value: Any) -> Any:
    with no_grad():
        return tensor.copy_(make(np.asarray(value)))


def constant_(tensor: Any, val: float) -> Any:
    """One number everywhere."""
    return _fill(tensor, val)


zeros_ = named("zeros_", lambda tensor: _fill(tensor, 0.0), "Zeros.")
ones_ = named("ones_", lambda tensor: _fill(tensor, 1.0), "Ones.")


def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Any:
    """Uniform numbers in [a, b)."""
    return _fill(tensor, rng(generator).uniform(a, b, tensor._value.shape))


def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Any:
    """Numbers of a normal distribution."""
    return _fill(tensor, rng(generator).normal(mean, std, tensor._value.shape))


def _fans(tensor: Any) -> tuple[int, int]:
    shape = tensor._value.shape
    if len(shape) < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    window = int(np.prod(shape[2:])) if len(shape) > 2 else 1
    return shape[1] * window, shape[0] * window


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor that an activation recommends for deviations."""
    slope = 0.01 if param is None else param
    gains = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "leaky_relu": math.sqrt(2.0 / (1 + slope**2)), "selu": 0.75}
    gains.update({"linear": 1.0, "sigmoid": 1.0, "conv2d": 1.0})
    if nonlinearity in gains:
        return gains[nonlinearity]
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def _xavier(tensor: Any, gain: float) -> float:
    return gain * math.sqrt(2.0 / sum(_fans(tensor)))


def _kaiming(tensor: Any, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return calculate_gain(nonlinearity, a) / math.sqrt(_fans(tensor)[mode == "fan_out"])


def _uniform_of(tensor: Any, deviation: float, generator: Any) -> Any:
    bound = math.sqrt(3.0) * deviation
    return uniform_(tensor, -bound, bound, generator)


def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Uniform numbers whose variance is 2 / (fan in + fan out)."""
    return _uniform_of(tensor, _xavier(tensor, gain), generator)


def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Normal numbers whose variance is 2 / (fan in + fan out)."""
    return normal_(tensor, 0.0, _xavier(tensor, gain), generator)


def kaiming_uniform_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Any:
    """Uniform numbers that keep the variance through an activation."""
    return _uniform_of(tensor, _kaiming(tensor, a, mode, nonlinearity), generator)


def kaiming_normal_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Any:
    """Normal numbers that keep the variance through an activation."""
    return normal_(tensor, 0.0, _kaiming(tensor, a, mode, nonlinearity), generator)


MEMBERS = {
    f.__name__: f
    for f in (
        constant_, zeros_, ones_, uniform_, normal_, calculate_gain, xavier_uniform_, xavier_normal_, kaiming_uniform_,
        kaiming_normal_,
    )
}  # fmt: skip
