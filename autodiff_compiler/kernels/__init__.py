"""Array functions that derivative rules and neural networks need and NumPy lacks: each is a primitive."""

from .activations import (
    elu,
    log_softmax,
    logsumexp,
    relu,
    sigmoid,
    sigmoid_cross_entropy,
    sigmoid_error,
    softmax,
    softplus,
)
from .convolution import conv, conv_filters, conv_input
from .drawing import draw_mask
from .pooling import pool_count, pool_places, pool_spread, pool_sum
from .ratios import over, product, ratio
from .scans import embed, flip_scan, if_square, linear_scan, overlap, shift, split_like
from .special import bessel_i, erf, erfc, lgamma, polygamma, rsqrt

__all__ = [
    "bessel_i",
    "conv",
    "conv_filters",
    "conv_input",
    "draw_mask",
    "elu",
    "embed",
    "erf",
    "erfc",
    "flip_scan",
    "if_square",
    "lgamma",
    "linear_scan",
    "log_softmax",
    "logsumexp",
    "over",
    "overlap",
    "polygamma",
    "pool_count",
    "pool_places",
    "pool_spread",
    "pool_sum",
    "product",
    "ratio",
    "relu",
    "rsqrt",
    "shift",
    "sigmoid",
    "sigmoid_cross_entropy",
    "sigmoid_error",
    "softmax",
    "softplus",
    "split_like",
]
