"""Derivative rules of what neural networks need beyond NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import runtime
from . import lib
from .lib import STEP
from .record import elementwise, nondiff, vjp

nondiff(runtime.draw_mask)

# --- activations ------------------------------------------------------------------------------------------------------

elementwise(runtime.relu, lambda out, x: np.greater(out, 0), singular=STEP)
elementwise(runtime.sigmoid, lambda out, x: out * (1 - out))
elementwise(runtime.softplus, lambda out, x: runtime.sigmoid(x))
elementwise(runtime.softsign, lambda out, x: np.square(1 / (1 + np.abs(x))))
elementwise(runtime.lgamma, lambda out, x: lib.call(runtime.polygamma, 0, x))
elementwise(runtime.rsqrt, lambda out, x: -0.5 * (out * out * out))
elementwise(
    runtime.elu,
    lambda out, x, alpha: lib.choose(np.less(x, 0), alpha * np.exp(-runtime.relu(-x)), 1.0),
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

# --- convolution: one form, linear in each of the array, the filters and the cotangent --------------------------------


def _sizes(x: Any) -> tuple[Any, ...]:
    return tuple([lib.length(x, k) for k in range(1, lib.ndim(x) - 1)])


def _kernel(filters: Any) -> tuple[Any, ...]:
    return tuple([lib.length(filters, k) for k in range(lib.ndim(filters) - 2)])


@vjp(runtime.conv, "x")
def _conv_x(g: Any, out: Any, x: Any, filters: Any, *at: Any) -> Any:
    return lib.at_shape(runtime.conv_input(g, filters, _sizes(x), *at), x)


@vjp(runtime.conv, "filters")
def _conv_filters(g: Any, out: Any, x: Any, filters: Any, *at: Any) -> Any:
    return lib.at_shape(runtime.conv_filters(x, g, _kernel(filters), *at), filters)


@vjp(runtime.conv_input, "g")
def _conv_input_g(h: Any, out: Any, g: Any, filters: Any, sizes: Any, *at: Any) -> Any:
    return lib.at_shape(runtime.conv(h, filters, *at), g)


@vjp(runtime.conv_input, "filters")
def _conv_input_filters(h: Any, out: Any, g: Any, filters: Any, sizes: Any, *at: Any) -> Any:
    return lib.at_shape(runtime.conv_filters(h, g, _kernel(filters), *at), filters)


@vjp(runtime.conv_filters, "x")
def _conv_filters_x(h: Any, out: Any, x: Any, g: Any, kernel: Any, *at: Any) -> Any:
    return lib.at_shape(runtime.conv_input(g, h, _sizes(x), *at), x)


@vjp(runtime.conv_filters, "g")
def _conv_filters_g(h: Any, out: Any, x: Any, g: Any, kernel: Any, *at: Any) -> Any:
    return lib.at_shape(runtime.conv(x, h, *at), g)


# --- pooling ----------------------------------------------------------------------------------------------------------

nondiff((runtime.pool_places, runtime.pool_count))


@vjp(runtime.pool_sum, "x")
def _pool_sum(g: Any, out: Any, x: Any, *at: Any) -> Any:
    return lib.at_shape(runtime.pool_spread(g, _sizes(x), *at), x)


@vjp(runtime.pool_spread, "g")
def _pool_spread(h: Any, out: Any, g: Any, sizes: Any, *at: Any) -> Any:
    return lib.at_shape(runtime.pool_sum(h, *at), g)
