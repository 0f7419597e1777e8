"""Array functions that NumPy lacks and that derivative rules and neural networks need. Each is a primitive."""

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
    softsign,
)
from .callbacks import applied, as_given, attained, closed, implicit, implicit_adjoint, number_of, vector_of
from .choices import distinct
from .convolution import conv, conv_filters, conv_input
from .differences import difference_pullback, difference_pushforward
from .disk import snapshot_file
from .drawing import draw_mask
from .halves import as_complexes, as_reals
from .matrices import cofactors, inverse, inverse_or_nan
from .normal import erf, erfc, erfinv, gaussian, ndtr
from .pooling import pool_count, pool_places, pool_spread, pool_sum
from .ratios import base_log, over, power, product, quotient, ratio
from .reversals import reversal, snapshot_steps, within
from .rules import hooked, matching
from .scans import embed, flip_scan, linear_scan, overlap, shift, split_like
from .solvers import iterated, newton, solved
from .sorting import place_of_max, place_of_min, sorted_places
from .special import bessel_i, lgamma, polygamma, rsqrt, sinc_slope

__all__ = [
    "reversal",
    "snapshot_file",
    "snapshot_steps",
    "within",
    "difference_pullback",
    "difference_pushforward",
    "vector_of",
    "number_of",
    "hooked",
    "as_complexes",
    "as_given",
    "as_reals",
    "implicit_adjoint",
    "implicit",
    "closed",
    "applied",
    "attained",
    "base_log",
    "bessel_i",
    "cofactors",
    "conv",
    "conv_filters",
    "conv_input",
    "distinct",
    "draw_mask",
    "elu",
    "embed",
    "erf",
    "erfc",
    "erfinv",
    "flip_scan",
    "gaussian",
    "inverse",
    "inverse_or_nan",
    "iterated",
    "lgamma",
    "linear_scan",
    "log_softmax",
    "logsumexp",
    "matching",
    "ndtr",
    "newton",
    "over",
    "overlap",
    "place_of_max",
    "place_of_min",
    "polygamma",
    "pool_count",
    "pool_places",
    "pool_spread",
    "pool_sum",
    "power",
    "product",
    "quotient",
    "ratio",
    "relu",
    "rsqrt",
    "shift",
    "sigmoid",
    "sigmoid_cross_entropy",
    "sigmoid_error",
    "sinc_slope",
    "softmax",
    "softplus",
    "softsign",
    "solved",
    "sorted_places",
    "split_like",
]
