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
from .scans import embed, flip_scan, if_square, linear_scan, overlap, shift, split_like
from .special import bessel_i, erf, polygamma

__all__ = [
    "bessel_i",
    "elu",
    "embed",
    "erf",
    "flip_scan",
    "if_square",
    "linear_scan",
    "log_softmax",
    "logsumexp",
    "overlap",
    "polygamma",
    "relu",
    "shift",
    "sigmoid",
    "sigmoid_cross_entropy",
    "sigmoid_error",
    "softmax",
    "softplus",
    "split_like",
]
