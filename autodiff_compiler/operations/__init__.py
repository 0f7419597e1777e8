"""One record per operation, one module per family. Importing the package fills the table of operations.

What many programs do without is imported when a program first uses one of its functions, see `ir.table`.
"""

import cmath
import math

import numpy as np

from .. import runtime
from ..ir.opset import PRIMS
from ..pristine import hold

# fmt: off
_linalg, _fft = np.linalg, np.fft
PRIMS.package = __name__
PRIMS.later(
    "decompositions", _linalg.eig, _linalg.eigh, _linalg.eigvals, _linalg.lstsq, _linalg.matrix_rank, _linalg.pinv,
    _linalg.qr, _linalg.svd, _linalg.svdvals, np.roots, runtime.if_square,
)
PRIMS.later(
    "fourier", _fft.fft, _fft.ifft, _fft.irfft, _fft.rfft, np.convolve, np.correlate, runtime.embed, runtime.overlap,
)
PRIMS.later(
    "joining", np.append, np.column_stack, np.concatenate, np.hstack, np.meshgrid, np.pad, np.repeat, np.split,
    np.stack, np.tile, np.vstack, runtime.joined_examples, runtime.split_like, runtime.unstack,
)
PRIMS.later(
    "making", np.arange, np.array, np.asanyarray, np.asarray, np.ascontiguousarray, np.asfortranarray, np.bartlett,
    np.blackman, np.copy, np.empty, np.empty_like, np.eye, np.full, np.full_like, np.hamming, np.hanning, np.identity,
    np.iscomplexobj, np.isscalar, np.kaiser, np.linspace, np.ndarray.astype, np.ndim, np.ones, np.ones_like, np.shape,
    np.size, np.tri, np.zeros, np.zeros_like,
)
PRIMS.later(
    "nn", runtime.conv, runtime.conv_filters, runtime.conv_input, runtime.draw_mask, runtime.elu, runtime.lgamma,
    runtime.log_softmax, runtime.logsumexp, runtime.pool_count, runtime.pool_places, runtime.pool_spread,
    runtime.pool_sum, runtime.relu, runtime.rsqrt, runtime.sigmoid, runtime.sigmoid_cross_entropy,
    runtime.sigmoid_error, runtime.softmax, runtime.softplus, runtime.softsign,
)
PRIMS.later(
    "numbers", complex, float, int, max, min, round, cmath.acos, cmath.acosh, cmath.asin, cmath.asinh, cmath.atan,
    cmath.atanh, cmath.cos, cmath.cosh, cmath.exp, cmath.isclose, cmath.isfinite, cmath.isinf, cmath.isnan, cmath.log,
    cmath.log10, cmath.phase, cmath.sin, cmath.sinh, cmath.sqrt, cmath.tan, cmath.tanh, math.ceil, math.comb,
    math.factorial, math.floor, math.fsum, math.gcd, math.hypot, math.isclose, math.isfinite, math.isinf, math.isnan,
    math.isqrt, math.lcm, math.log, math.perm, math.trunc, np.bool_, np.complex128, np.complex64, np.float16,
    np.float32, np.float64, np.int16, np.int32, np.int64, np.int8, np.uint16, np.uint32, np.uint64, np.uint8,
    runtime.mean_of_numbers, runtime.sum_floats, runtime.sum_numbers,
    *([runtime.product_of_numbers] if hasattr(math, "sumprod") else []),
)
PRIMS.later(
    "picking", np.argpartition, np.bincount, np.choose, np.compress, np.delete, np.digitize, np.extract, np.histogram,
    np.insert, np.lexsort, np.lib.stride_tricks.sliding_window_view, np.resize, np.add.reduceat, np.fmax.accumulate,
    np.fmin.accumulate, np.maximum.accumulate, np.minimum.accumulate, np.logaddexp.reduce, np.logaddexp2.reduce,
    np.hypot.reduce, runtime.trimmed,
)
PRIMS.later(
    "scans", np.cumprod, np.cumsum, np.diff, np.unwrap, runtime.flip_scan, runtime.linear_scan, runtime.shift,
)
PRIMS.later(
    "special", math.erf, math.erfc, math.gamma, math.lgamma, np.i0, np.sinc, runtime.bessel_i, runtime.erf,
    runtime.erfc, runtime.erfinv, runtime.gaussian, runtime.ndtr, runtime.polygamma, runtime.sinc_slope,
)
# fmt: on
from . import (  # noqa: E402  (they look up records of the modules above)
    callbacks,
    choices,
    custom,
    draws,
    elementwise,
    indexing,
    internal,
    linalg,
    lists,
    numerical,
    reductions,
    scipy,
    shaping,
)

hold("operations")

__all__ = [
    "callbacks",
    "choices",
    "custom",
    "draws",
    "elementwise",
    "indexing",
    "internal",
    "linalg",
    "lists",
    "numerical",
    "reductions",
    "scipy",
    "shaping",
]
