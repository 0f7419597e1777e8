"""Activations: a row each, of which the function, its form in place and the module are made."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from .... import nn
from ...graph.array import value_of
from ...graph.direct import unary
from ..core import assign, named
from ..elementwise import FUNCTIONS as _ELEMENTWISE
from ..reductions import log_softmax, softmax


def _exponential(a: Any, alpha: float = 1.0, scale: float = 1.0) -> Any:
    v = value_of(a)
    below = np.where(v < 0, a, np.zeros_like(v))  # so that the exponential of large numbers is not taken
    curved = alpha * np.expm1(below * scale)
    # At zero: the slope from below, and no curvature.
    return np.where(v > 0, a, np.where(v == 0, alpha * scale * a, curved))


def _gelu(a: Any, approximate: str) -> Any:
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return nn.gelu(a, approximate == "tanh")


def _softplus(a: Any, beta: float, threshold: float) -> Any:
    v = value_of(a)
    high = v * beta > threshold
    return np.where(high, a, nn.softplus(np.where(high, np.zeros_like(v), a) * beta) / beta)


def _hard_tanh(a: Any, min_val: float, max_val: float) -> Any:
    v = value_of(a)
    return np.where(v <= min_val, 0 * a + min_val, np.where(v >= max_val, 0 * a + max_val, a))


def _hard_sigmoid(a: Any) -> Any:
    v = value_of(a)
    return np.where(v <= -3, 0 * a, np.where(v >= 3, 0 * a + 1, a / 6 + 0.5))


def _hard_swish(a: Any) -> Any:
    v = value_of(a)
    return np.where(v <= -3, 0 * a, np.where(v >= 3, a, a * (a + 3) / 6))


_INPLACE = {"inplace": False}
# Of each: the function's name, the module's, the name in the graph, how an array is computed, parameters and defaults,
# and what it is.
TABLE: tuple[tuple[str, str, str, Callable[..., Any], dict[str, Any], str], ...] = (
    ("relu", "ReLU", "Relu", nn.relu, _INPLACE, "``max(input, 0)``, with derivative 0 at 0."),
    ("relu6", "ReLU6", "Relu6", nn.relu6, _INPLACE, "``min(max(input, 0), 6)``."),
    ("leaky_relu", "LeakyReLU", "LeakyRelu",
     lambda a, negative_slope: np.where(value_of(a) > 0, a, a * negative_slope), {"negative_slope": 0.01, **_INPLACE},
     "`input` where it is positive, else ``negative_slope * input``."),
    ("elu", "ELU", "Elu", _exponential, {"alpha": 1.0, **_INPLACE},
     "`input` where it is positive, else ``alpha * (exp(input) - 1)``."),
    ("celu", "CELU", "Celu", lambda a, alpha: _exponential(a, alpha, 1.0 / alpha), {"alpha": 1.0, **_INPLACE},
     "`input` where it is positive, else ``alpha * (exp(input / alpha) - 1)``."),
    ("selu", "SELU", "Selu", lambda a: 1.0507009873554805 * _exponential(a, 1.6732632423543772), _INPLACE,
     "The self-normalising exponential linear unit."),
    ("gelu", "GELU", "Gelu", _gelu, {"approximate": "none"},
     '``input * Phi(input)`` with the normal distribution function, or its approximation by ``"tanh"``.'),
    ("silu", "SiLU", "Silu", nn.silu, _INPLACE, "``input * sigmoid(input)``."),
    ("mish", "Mish", "Mish", lambda a: a * np.tanh(nn.softplus(a)), _INPLACE, "``input * tanh(softplus(input))``."),
    ("softplus", "Softplus", "Softplus", _softplus, {"beta": 1.0, "threshold": 20.0},
     "``log(1 + exp(beta * input)) / beta``, without overflow."),
    ("softsign", "Softsign", "Softsign", nn.softsign, {}, "``input / (1 + abs(input))``."),
    ("logsigmoid", "LogSigmoid", "LogSigmoid", lambda a: -nn.softplus(-a), {},
     "``log(sigmoid(input))``, without overflow."),
    ("tanhshrink", "Tanhshrink", "Tanhshrink", lambda a: a - np.tanh(a), {}, "``input - tanh(input)``."),
    ("hardtanh", "Hardtanh", "Hardtanh", _hard_tanh, {"min_val": -1.0, "max_val": 1.0, **_INPLACE},
     "`input` within bounds; the gradient is zero at the bounds."),
    ("hardsigmoid", "Hardsigmoid", "Hardsigmoid", _hard_sigmoid, _INPLACE, "``clip(input / 6 + 1 / 2, 0, 1)``."),
    ("hardswish", "Hardswish", "Hardswish", _hard_swish, _INPLACE, "``input * hardsigmoid(input)``."),
    ("threshold", "Threshold", "Threshold",
     lambda a, threshold, value: np.where(value_of(a) > threshold, a, 0 * a + value),
     {"threshold": 0.0, "value": 0.0, **_INPLACE}, "`input` where it is larger than the threshold, else `value`."),
)  # fmt: skip


def _function(name: str, label: str, f: Callable[..., Any], defaults: dict[str, Any], doc: str) -> Callable[..., Any]:
    signature = inspect.Signature(
        [
            inspect.Parameter("input", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            *[inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=v) for n, v in defaults.items()],
        ]
    )
    usual = {n: v for n, v in defaults.items() if n != "inplace"}
    whole = functools.partial(f, **usual) if usual else f

    def activation(input: Any, *args: Any, **options: Any) -> Any:
        if not args and (not options or options == defaults):
            return unary((label, whole), label, whole, input)
        given = signature.bind(input, *args, **options).arguments
        del given["input"]
        inplace = given.pop("inplace", False)
        key = (label, *given.items())

        def computed(a: Any) -> Any:
            return f(a, **{**usual, **given})

        if inplace:
            return assign(input, lambda before: unary(key, label, computed, before))
        return unary(key, label, computed, input)

    activation.__signature__ = signature  # type: ignore[attr-defined]
    return named(name, activation, doc)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: _function(name, label, f, defaults, doc) for name, _, label, f, defaults, doc in TABLE
}
# The modules: the function, and the names of its parameters.
MODULES: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    cls: (FUNCTIONS[name], tuple(defaults)) for name, cls, _, _, defaults, _ in TABLE
}
MODULES.update(
    Tanh=(_ELEMENTWISE["tanh"], ()), Sigmoid=(_ELEMENTWISE["sigmoid"], ()), Softmax=(softmax, ("dim",)),
    LogSoftmax=(log_softmax, ("dim",)),
)  # fmt: skip
for _name in ("relu", "leaky_relu", "elu", "selu", "celu", "hardtanh", "threshold"):
    FUNCTIONS[f"{_name}_"] = functools.partial(FUNCTIONS[_name], inplace=True)
FUNCTIONS.update(tanh=_ELEMENTWISE["tanh"], sigmoid=_ELEMENTWISE["sigmoid"], softmax=softmax, log_softmax=log_softmax)
