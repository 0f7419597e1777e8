"""Activations: what a layer does to each element, and softmax, which it does to a row of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import kernels, nn
from ..graph.array import value_of
from .row import row


def _exponential(a: Any, alpha: float = 1.0, scale: float = 1.0) -> Any:
    v = value_of(a)
    below = np.where(v < 0, a, np.zeros_like(v))  # so that the exponential of large numbers is not taken
    curved = alpha * np.expm1(below * scale)
    # At zero: the slope from below, and no curvature.
    return np.where(v > 0, a, np.where(v == 0, alpha * scale * a, curved))


def _leaky_relu(a: Any, slope: Any) -> Any:
    return np.where(value_of(a) > 0, a, a * slope)


def _gelu(a: Any, approximate: str) -> Any:
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return nn.gelu(a, approximate == "tanh")


def _softplus(a: Any, beta: float, threshold: float) -> Any:
    v = value_of(a)
    high = v * beta > threshold
    return np.where(high, a, kernels.softplus(np.where(high, np.zeros_like(v), a) * beta) / beta)


def _hard_tanh(a: Any, low: float, high: float) -> Any:
    v = value_of(a)
    return np.where(v <= low, 0 * a + low, np.where(v >= high, 0 * a + high, a))


def _hard_swish(a: Any) -> Any:
    v = value_of(a)
    return np.where(v <= -3, 0 * a, np.where(v >= 3, a, a * (a + 3) / 6))


def _threshold(a: Any, threshold: float, value: float) -> Any:
    return np.where(value_of(a) > threshold, a, 0 * a + value)


def log_sigmoid(a: Any) -> Any:
    """``log(sigmoid(a))``, without overflow."""
    return -kernels.softplus(-a)


_IN_PLACE = "(input, inplace=False)"
_F = "nn.functional"

row("activation", kernels.relu, "Relu", "``max(features, 0)``, with derivative 0 at 0.", "nn.relu",
    f"relu relu_ {_F}.relu {_F}.relu_ {_IN_PLACE}", "npx.relu activation.relu", module="ReLU")  # fmt: skip
row("activation", nn.relu6, "Relu6", "``min(max(features, 0), 6)``.", "nn.relu6", f"{_F}.relu6 {_IN_PLACE}",
    module="ReLU6")  # fmt: skip
row("activation", _leaky_relu, "LeakyRelu", "`features` where they are positive, else `features` times a slope.",
    "nn.leaky_relu (features, alpha=0.2, name=None)",
    f"{_F}.leaky_relu {_F}.leaky_relu_ (input, negative_slope=0.01, inplace=False)", module="LeakyReLU")  # fmt: skip
row("activation", kernels.elu, "Elu", "`features` where they are positive, else ``alpha * (exp(features) - 1)``.",
    "nn.elu (features, name=None, alpha=1.0)", f"{_F}.elu {_F}.elu_ (input, alpha=1.0, inplace=False)",
    own={"torch": _exponential}, module="ELU")  # fmt: skip
row("activation", lambda a, alpha: _exponential(a, alpha, 1.0 / alpha), "Celu",
    "`input` where it is positive, else ``alpha * (exp(input / alpha) - 1)``.", "",
    f"{_F}.celu {_F}.celu_ (input, alpha=1.0, inplace=False)", module="CELU")  # fmt: skip
row("activation", nn.selu, "Selu", "The self-normalising exponential linear unit.", "nn.selu",
    f"{_F}.selu {_F}.selu_ {_IN_PLACE}", own={"torch": lambda a: 1.0507009873554805 *
    _exponential(a, 1.6732632423543772)}, module="SELU")  # fmt: skip
row("activation", nn.gelu, "Gelu", "``features * P(X <= features)`` for a standard normal X; or nearly so, by a tanh.",
    "nn.gelu (features, approximate=False, name=None)", f"{_F}.gelu (input, approximate='none')",
    own={"torch": _gelu}, module="GELU")  # fmt: skip
row("activation", nn.silu, "Silu", "``features * sigmoid(features)``.", "nn.silu nn.swish (features, beta=1.0)",
    f"{_F}.silu {_IN_PLACE}", module="SiLU")  # fmt: skip
row("activation", lambda a: a * np.tanh(kernels.softplus(a)), "Mish", "``input * tanh(softplus(input))``.", "",
    f"{_F}.mish {_IN_PLACE}", module="Mish")  # fmt: skip
row("activation", kernels.softplus, "Softplus", "``log(1 + exp(features))``, without overflow.",
    "nn.softplus math.softplus", f"{_F}.softplus (input, beta=1.0, threshold=20.0)", "activation.softrelu",
    own={"torch": _softplus}, module="Softplus")  # fmt: skip
row("activation", kernels.softsign, "Softsign", "``features / (1 + abs(features))``.", "nn.softsign math.softsign",
    f"{_F}.softsign", "activation.softsign", module="Softsign")  # fmt: skip
row("activation", log_sigmoid, "LogSigmoid", "``log(sigmoid(x))``, without overflow.",
    "math.log_sigmoid (x, name=None)", f"{_F}.logsigmoid", "activation.log_sigmoid", module="LogSigmoid")  # fmt: skip
row("activation", lambda a: a - np.tanh(a), "Tanhshrink", "``input - tanh(input)``.", "", f"{_F}.tanhshrink",
    module="Tanhshrink")  # fmt: skip
row("activation", _hard_tanh, "Hardtanh", "`input` within bounds; the gradient is zero at the bounds.", "",
    f"{_F}.hardtanh {_F}.hardtanh_ (input, min_val=-1.0, max_val=1.0, inplace=False)", module="Hardtanh")  # fmt: skip
row("activation", lambda a: _hard_tanh(a / 6 + 0.5, 0.0, 1.0), "Hardsigmoid", "``clip(input / 6 + 1 / 2, 0, 1)``.", "",
    f"{_F}.hardsigmoid {_IN_PLACE}", module="Hardsigmoid")  # fmt: skip
row("activation", _hard_swish, "Hardswish", "``input * hardsigmoid(input)``.", "", f"{_F}.hardswish {_IN_PLACE}",
    module="Hardswish")  # fmt: skip
row("activation", _threshold, "Threshold", "`input` where it is larger than the threshold, else `value`.", "",
    f"{_F}.threshold {_F}.threshold_ (input, threshold, value, inplace=False)", module="Threshold")  # fmt: skip

row("along", kernels.softmax, "Softmax", "``exp(logits)``, scaled to sum to one along an axis.",
    "nn.softmax math.softmax", f"softmax special.softmax {_F}.softmax", "npx.softmax (data, axis=-1, temperature=None)",
    module="Softmax")  # fmt: skip
row("along", kernels.log_softmax, "LogSoftmax", "The logarithm of `softmax`.", "nn.log_softmax math.log_softmax",
    f"log_softmax special.log_softmax {_F}.log_softmax", "npx.log_softmax", module="LogSoftmax")  # fmt: skip
