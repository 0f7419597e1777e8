"""Calls of the kernels of neural networks. `test_rules` checks the rules of the kernels at these."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autodiff_compiler import kernels

RNG = np.random.default_rng(3)
Case = tuple[Any, tuple[Any, ...], dict[str, Any]]


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape)


def activation_cases() -> Iterator[Case]:
    for x in (0.3 + normal(3, 2) ** 2, normal(0), np.array(0.7), 0.7, np.float64(1.4)):
        yield kernels.lgamma, (x,), {}
    yield kernels.polygamma, (0, np.array([[0.7, 1.6], [2.5, 0.4]])), {}
    for n in (1, 2, 5):
        for x in (normal(3, 2), normal(0), np.array(0.7), np.float64(-0.4)):
            yield kernels.sinc_slope, (n, x), {}
    for fn in (kernels.sigmoid, kernels.softplus, kernels.softsign, kernels.erf, kernels.erfc, kernels.ndtr):
        for x in (normal(3, 2), normal(0), normal(1, 4), np.array(0.7), 0.7, np.float64(-0.4)):
            yield fn, (x,), {}
    for x in (normal(3, 2), normal(0), np.array(0.7), 0.7, np.float64(-0.4)):
        yield kernels.gaussian, (x, 1.0), {}
        yield kernels.gaussian, (x, 0.5), {}
        yield kernels.erfinv, (0.9 * np.tanh(x),), {}
    for x in (0.3 + normal(3, 2) ** 2, np.array(0.7), 0.7, np.zeros((0, 2))):
        yield kernels.rsqrt, (x,), {}
    for x in (0.1 + normal(3, 2) ** 2, -0.1 - normal(3, 2) ** 2, normal(0, 3), 0.7, -0.7):
        yield kernels.relu, (x,), {}
    for alpha in (1.2, np.array([[0.7], [1.6]]), normal(1, 3)):
        yield kernels.elu, (np.array([[-1.3, -0.2, 0.6]]), alpha), {}
    yield kernels.elu, (-0.3, 0.9), {}
    for axis in (-1, 0, (0, 1), 1):
        for x in (normal(3, 4), normal(0, 4), normal(1, 4)):
            if x.size or axis in (-1, 1):
                yield kernels.softmax, (x, axis), {}
                yield kernels.log_softmax, (x, axis), {}
                yield kernels.logsumexp, (x, axis, False), {}
                yield kernels.logsumexp, (x, axis, True), {}
    yield kernels.softmax, (normal(4), 0), {}
    yield kernels.logsumexp, (normal(3, 2), None, False), {}


def loss_cases() -> Iterator[Case]:
    for fn in (kernels.sigmoid_cross_entropy, kernels.sigmoid_error):
        yield fn, (RNG.uniform(-0.5, 1.5, (3, 4)), normal(3, 4)), {}
        yield fn, (normal(0, 4), normal(0, 4)), {}
        yield fn, (np.array([0, 1, 1]), normal(3)), {}
        yield fn, (0.3, -0.7), {}


GEOMETRIES: list[tuple[Any, Any, Any]] = [  # strides, padding, dilations
    (1, "VALID", 1),
    (1, "SAME", 1),
    ([1, 2, 3, 1], "SAME", 1),
    ((2, 1), "VALID", (1, 2)),
    (2, [(0, 0), (1, 0), (2, 1), (0, 0)], 1),
    (1, [(1, 1), (0, 2)], [1, 2, 1, 1]),
]


def convolution_cases() -> Iterator[Case]:
    for strides, padding, dilations in GEOMETRIES:
        for groups in (1, 2):
            at = (strides, padding, dilations, groups)
            x, filters = normal(1, 4, 5, 2), normal(2, 2, 2 // groups, 2)
            g = normal(*kernels.conv(x, filters, *at).shape)
            yield kernels.conv, (x, filters, *at), {}
            yield kernels.conv_input, (g, filters, (4, 5), *at), {}
            yield kernels.conv_filters, (x, g, (2, 2), *at), {}
    for shape in ((0, 4, 1), (1, 4, 1)):
        x, filters = normal(*shape), normal(2, 1, 3)
        g = normal(shape[0], 4, 3)
        yield kernels.conv, (x, filters, 1, "SAME", 1, 1), {}
        yield kernels.conv_input, (g, filters, (4,), 1, "SAME", 1, 1), {}
        yield kernels.conv_filters, (x, g, (2,), 1, "SAME", 1, 1), {}


def pooling_cases() -> Iterator[Case]:
    for strides, padding, kernel in (
        (1, "VALID", 2),
        ([1, 2, 3, 1], "SAME", (3, 2)),
        (2, [(1, 0), (0, 1)], [1, 2, 2, 1]),
    ):
        for batch in (2, 1, 0):
            x = normal(batch, 4, 5, 1)
            g = normal(*kernels.pool_sum(x, kernel, strides, padding).shape)
            yield kernels.pool_sum, (x, kernel, strides, padding), {}
            yield kernels.pool_spread, (g, (4, 5), kernel, strides, padding), {}


def cases() -> Iterator[Case]:
    yield from activation_cases()
    yield from loss_cases()
    yield from convolution_cases()
    yield from pooling_cases()
