"""Activations, normalisation of rows, and dropout: functions of ``torch.nn.functional``."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .... import nn
from ...graph.array import value_of
from ...graph.direct import unary
from ..arithmetic import elementwise
from ..core import assign, make, run
from ..creation import rng
from ..elementwise import FUNCTIONS as _ELEMENTWISE
from ..reductions import log_softmax, norm, softmax
from ..shaping import chunk


def _activation(name: str, f: Callable[..., Any], doc: str) -> Callable[..., Any]:
    """An activation ``f(a)``; `inplace` writes it into the tensor."""

    def activation(input: Any, inplace: bool = False) -> Any:
        if inplace:
            return assign(input, lambda before: activation(before))
        return unary((name, f), name, f, input)

    activation.__name__ = activation.__qualname__ = name.lower()
    activation.__doc__ = doc
    return activation


def _applied(f: Callable[[Any], Any], input: Any, inplace: bool) -> Any:
    return assign(input, f) if inplace else f(input)


def relu(input: Any, inplace: bool = False) -> Any:
    """``max(input, 0)``, with derivative 0 at 0."""
    return assign(input, _ELEMENTWISE["relu"]) if inplace else _ELEMENTWISE["relu"](input)


def _exponential(a: Any, alpha: float, scale: float) -> Any:
    v = value_of(a)
    below = np.where(v < 0, a, np.zeros_like(v))  # so that the exponential of large numbers is not taken
    curved = alpha * np.expm1(below * scale)
    # At zero: the slope from below, and no curvature.
    return np.where(v > 0, a, np.where(v == 0, alpha * scale * a, curved))


def _hard_sigmoid(a: Any) -> Any:
    v = value_of(a)
    return np.where(v <= -3, 0 * a, np.where(v >= 3, 0 * a + 1, a / 6 + 0.5))


def _hard_swish(a: Any) -> Any:
    v = value_of(a)
    return np.where(v <= -3, 0 * a, np.where(v >= 3, a, a * (a + 3) / 6))


def _log_sigmoid(a: Any) -> Any:
    return -nn.softplus(-a)


relu6 = _activation("Relu6", nn.relu6, "``min(max(input, 0), 6)``.")
selu = _activation(
    "Selu",
    lambda a: 1.0507009873554805 * _exponential(a, 1.6732632423543772, 1.0),
    "The self-normalising exponential linear unit.",
)
silu = _activation("Silu", nn.silu, "``input * sigmoid(input)``.")
mish = _activation("Mish", lambda a: a * np.tanh(nn.softplus(a)), "``input * tanh(softplus(input))``.")
hardsigmoid = _activation("Hardsigmoid", _hard_sigmoid, "``clip(input / 6 + 1 / 2, 0, 1)``.")
hardswish = _activation("Hardswish", _hard_swish, "``input * hardsigmoid(input)``.")
logsigmoid = _activation("LogSigmoid", _log_sigmoid, "``log(sigmoid(input))``, without overflow.")
softsign = _activation("Softsign", nn.softsign, "``input / (1 + abs(input))``.")
tanhshrink = _activation("Tanhshrink", lambda a: a - np.tanh(a), "``input - tanh(input)``.")


def tanh(input: Any) -> Any:
    """The hyperbolic tangent."""
    return _ELEMENTWISE["tanh"](input)


def sigmoid(input: Any) -> Any:
    """``1 / (1 + exp(-input))``."""
    return _ELEMENTWISE["sigmoid"](input)


def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    """`input` where it is positive, else ``negative_slope * input``."""

    def computed(a: Any) -> Any:
        return np.where(value_of(a) > 0, a, a * negative_slope)

    return _applied(lambda t: run("LeakyRelu", computed, t), input, inplace)


def prelu(input: Any, weight: Any) -> Any:
    """`leaky_relu` with a slope that is learned: one, or one for each channel."""
    shape = [1] * input._value.ndim
    if weight._value.size > 1:
        shape[1] = weight._value.size

    def computed(a: Any, w: Any) -> Any:
        return np.where(value_of(a) > 0, a, a * np.reshape(w, shape))

    return run("Prelu", computed, input, weight)


def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """`input` where it is positive, else ``alpha * (exp(input) - 1)``."""
    return _applied(lambda t: run("Elu", lambda a: _exponential(a, alpha, 1.0), t), input, inplace)


def celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """`input` where it is positive, else ``alpha * (exp(input / alpha) - 1)``."""
    return _applied(lambda t: run("Celu", lambda a: _exponential(a, alpha, 1.0 / alpha), t), input, inplace)


def gelu(input: Any, approximate: str = "none") -> Any:
    """``input * Phi(input)`` with the normal distribution function, or its approximation by ``"tanh"``."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return run("Gelu", lambda a: nn.gelu(a, approximate == "tanh"), input)


def softplus(input: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """``log(1 + exp(beta * input)) / beta``, without overflow."""

    def computed(a: Any) -> Any:
        v = value_of(a)
        high = v * beta > threshold
        return np.where(high, a, nn.softplus(np.where(high, np.zeros_like(v), a) * beta) / beta)

    return run("Softplus", computed, input)


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """`input` within bounds; the gradient is zero at the bounds."""

    def computed(a: Any) -> Any:
        v = value_of(a)
        return np.where(v <= min_val, 0 * a + min_val, np.where(v >= max_val, 0 * a + max_val, a))

    return _applied(lambda t: run("Hardtanh", computed, t), input, inplace)


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    """`input` where it is larger than the threshold, else `value`."""

    def computed(a: Any) -> Any:
        return np.where(value_of(a) > threshold, a, 0 * a + value)

    return _applied(lambda t: run("Threshold", computed, t), input, inplace)


def glu(input: Any, dim: int = -1) -> Any:
    """One half along an axis times the sigmoid of the other."""
    a, b = chunk(input, 2, dim)
    return a * sigmoid(b)


def softmin(input: Any, dim: int | None = None) -> Any:
    """``softmax(-input)``."""
    return softmax(-input, dim)


def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Any:
    """Rows divided by their p-norm, or by `eps` where that is larger."""
    return input / norm(input, p, dim, keepdim=True).clamp(min=eps)


def gumbel_softmax(logits: Any, tau: float = 1, hard: bool = False, dim: int = -1) -> Any:
    """A sample from the relaxed distribution of categories; `hard`: one-hot, with the gradient of the soft one."""
    noise = make(rng().gumbel(size=logits._value.shape).astype(logits._value.dtype))
    soft = softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    best = soft._value == soft._value.max(dim, keepdims=True)
    return make(best.astype(soft._value.dtype)) - soft.detach() + soft


# --- dropout ----------------------------------------------------------------------------------------------------------


def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """The element, nearer to zero by `lambd`; zero between ``-lambd`` and `lambd`."""
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")

    def computed(a: Any) -> Any:
        v = value_of(a)
        return np.where(v > lambd, a - lambd, np.where(v < -lambd, a + lambd, 0 * v))

    return run("Softshrink", computed, input, layout=True)


def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """The element; zero between ``-lambd`` and `lambd`."""

    def computed(a: Any) -> Any:
        v = value_of(a)
        return np.where((v >= -lambd) & (v <= lambd), 0 * v, a)

    return run("Hardshrink", computed, input, layout=True)


def _check_probability(p: float) -> None:
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _drop(input: Any, p: float, shape: tuple[int, ...], inplace: bool) -> Any:
    kept = rng().random(shape) >= p
    factor = input._value.dtype.type(1 / (1 - p) if p < 1 else 0)
    mask = make(kept.astype(input._value.dtype) * factor)
    if inplace:
        return input.mul_(mask)
    return elementwise("Mul", lambda a, m: a * m, input, mask)


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Elements are zero with probability `p`, the others divided by ``1 - p``; nothing changes unless `training`."""
    _check_probability(p)
    if not training or p == 0:
        return input
    return _drop(input, p, input._value.shape, inplace)


def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """`dropout` of whole channels."""
    _check_probability(p)
    if not training or p == 0:
        return input
    shape = input._value.shape
    return _drop(input, p, (*shape[:2], *(1,) * (len(shape) - 2)), inplace)


def alpha_dropout(input: Any, p: float = 0.5, training: bool = False) -> Any:
    """Dropout that keeps mean and deviation of what `selu` gives."""
    _check_probability(p)
    if not training or p == 0:
        return input
    low = -1.7580993408473766
    kept = make((rng().random(input._value.shape) >= p).astype(input._value.dtype))
    a = 1 / math.sqrt((1 - p) * (1 + p * low**2))
    return (input * kept + low * (1 - kept)) * a - a * p * low


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "relu": relu, "relu6": relu6, "selu": selu, "silu": silu, "mish": mish, "hardsigmoid": hardsigmoid,
    "hardswish": hardswish, "logsigmoid": logsigmoid, "softsign": softsign,
    "softshrink": softshrink, "hardshrink": hardshrink, "tanhshrink": tanhshrink, "tanh": tanh,
    "sigmoid": sigmoid, "leaky_relu": leaky_relu, "prelu": prelu, "elu": elu, "celu": celu, "gelu": gelu,
    "softplus": softplus, "hardtanh": hardtanh, "threshold": threshold, "glu": glu, "softmin": softmin,
    "softmax": softmax, "log_softmax": log_softmax, "normalize": normalize, "gumbel_softmax": gumbel_softmax,
    "dropout": dropout, "dropout1d": dropout2d, "dropout2d": dropout2d, "alpha_dropout": alpha_dropout,
}  # fmt: skip
for _name in ("relu", "leaky_relu", "elu", "selu", "celu", "hardtanh", "threshold"):
    FUNCTIONS[f"{_name}_"] = functools.partial(FUNCTIONS[_name], inplace=True)
