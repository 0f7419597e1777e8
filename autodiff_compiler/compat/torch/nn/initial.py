"""The module ``torch.nn.init``: first values of parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import make
from ..creation import rng
from ..modes import no_grad


def _fill(tensor: Any, value: Any) -> Any:
    with no_grad():
        return tensor.copy_(make(np.asarray(value)))


def constant_(tensor: Any, val: float) -> Any:
    """One number everywhere."""
    return _fill(tensor, val)


def zeros_(tensor: Any) -> Any:
    """Zeros."""
    return _fill(tensor, 0.0)


def ones_(tensor: Any) -> Any:
    """Ones."""
    return _fill(tensor, 1.0)


def eye_(tensor: Any) -> Any:
    """The unit matrix."""
    return _fill(tensor, np.eye(*tensor._value.shape))


def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Any:
    """Uniform numbers in [a, b)."""
    return _fill(tensor, rng(generator).uniform(a, b, tensor._value.shape))


def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Any:
    """Numbers of a normal distribution."""
    return _fill(tensor, rng(generator).normal(mean, std, tensor._value.shape))


def trunc_normal_(
    tensor: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Any:
    """Numbers of a normal distribution, drawn again where they are outside of [a, b]."""
    value = rng(generator).normal(mean, std, tensor._value.shape)
    for _ in range(1000):
        bad = (value < a) | (value > b)
        if not bad.any():
            break
        value[bad] = rng(generator).normal(mean, std, int(bad.sum()))
    return _fill(tensor, np.clip(value, a, b))


def _fans(tensor: Any) -> tuple[int, int]:
    shape = tensor._value.shape
    if len(shape) < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    window = int(np.prod(shape[2:])) if len(shape) > 2 else 1
    return shape[1] * window, shape[0] * window


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor that an activation recommends for deviations."""
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity == "selu":
        return 0.75
    if nonlinearity in ("linear", "sigmoid", "conv1d", "conv2d", "conv3d"):
        return 1.0
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Uniform numbers whose variance is 2 / (fan in + fan out)."""
    fan_in, fan_out = _fans(tensor)
    bound = gain * math.sqrt(6.0 / (fan_in + fan_out))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Normal numbers whose variance is 2 / (fan in + fan out)."""
    fan_in, fan_out = _fans(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / (fan_in + fan_out)), generator)


def _deviation(tensor: Any, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan = _fans(tensor)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Any:
    """Uniform numbers that keep the variance through an activation."""
    bound = math.sqrt(3.0) * _deviation(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Any:
    """Normal numbers that keep the variance through an activation."""
    return normal_(tensor, 0.0, _deviation(tensor, a, mode, nonlinearity), generator)


def orthogonal_(tensor: Any, gain: float = 1, generator: Any = None) -> Any:
    """A random matrix with orthonormal rows or columns."""
    shape = tensor._value.shape
    rows, columns = shape[0], int(np.prod(shape[1:]))
    q, r = np.linalg.qr(rng(generator).normal(size=(max(rows, columns), min(rows, columns))))
    q = q * np.sign(np.diagonal(r))
    return _fill(tensor, (gain * (q if rows >= columns else q.T)).reshape(shape))


MEMBERS = {
    f.__name__: f
    for f in (
        constant_, zeros_, ones_, eye_, uniform_, normal_, trunc_normal_, calculate_gain, xavier_uniform_,
        xavier_normal_,
        kaiming_uniform_, kaiming_normal_, orthogonal_,
    )
}  # fmt: skip
