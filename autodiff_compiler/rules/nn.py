"""Derivative rules of what neural networks need beyond NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import runtime
from . import lib
from .lib import STEP
from .registry import elementwise, vjp

# --- activations ------------------------------------------------------------------------------------------------------

elementwise(runtime.relu, lambda out, x: np.greater(out, 0), singular=STEP)
elementwise(runtime.sigmoid, lambda out, x: out * (1 - out))
elementwise(runtime.softplus, lambda out, x: runtime.sigmoid(x))
elementwise(runtime.erf, lambda out, x: 2 / math.sqrt(math.pi) * np.exp(-x * x))
elementwise(
    runtime.elu,
    lambda out, x, alpha: lib.choose(np.less(x, 0), out + alpha, 1.0),
    lambda out, x, alpha: np.expm1(-runtime.relu(-x)),
)


def _sum(x: Any, axis: Any) -> Any:
    return np.sum(x, axis=axis, keepdims=True)


@vjp(runtime.softmax, "x")
def _softmax(g: Any, out: Any, x: Any, axis: Any) -> Any:
    weighted = g * out
    return weighted - out * _sum(weighted, axis)


@vjp(runtime.log_softmax, "x")
def _log_softmax(g: Any, out: Any, x: Any, axis: Any) -> Any:
    return g - np.exp(out) * _sum(g, axis)


@vjp(runtime.logsumexp, "x")
def _logsumexp(g: Any, out: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    wide = [lib.expand(v, axis, keepdims, x) for v in (g, out)]
    return wide[0] * np.exp(x - wide[1])


# --- losses -----------------------------------------------------------------------------------------------------------

elementwise(
    runtime.sigmoid_cross_entropy,
    lambda out, labels, logits: -logits,
    lambda out, labels, logits: runtime.sigmoid_error(labels, logits),
)
elementwise(
    runtime.sigmoid_error,
    -1,
    lambda out, labels, logits: runtime.sigmoid(logits) * runtime.sigmoid(-logits),
)
