"""`scipy.stats`: distribution functions that SciPy integrates or inverts numerically.

The derivative by the point is the density. That of a quantile follows from the distribution function at it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from ...kernels.scipy import stats_quantiles as kernels
from ..lib import call
from ..record import Refused, elementwise

SQRT_2_OVER_PI = float(np.sqrt(2 / np.pi))
TWO_PI = float(2 * np.pi)


def _skewnorm_pdf(z: Any, a: Any) -> Any:
    return SQRT_2_OVER_PI * np.exp(-0.5 * z * z) * call(special.ndtr, a * z)


def _skewnorm_by_a(z: Any, a: Any) -> Any:
    return -np.exp(-0.5 * z * z * (1 + a * a)) / (float(np.pi) * (1 + a * a))


def _vonmises_pdf(z: Any, kappa: Any) -> Any:
    # i0e has a kink at zero, and the density has none.
    none = np.equal(kappa, 0)
    at, beside = np.where(none, kappa, 0.0), np.where(none, 1.0, kappa)
    smooth = np.exp(at * np.cos(z)) / call(special.i0, at)
    return np.where(none, smooth, np.exp(beside * call(special.cosm1, z)) / call(special.i0e, beside)) / TWO_PI


elementwise(
    kernels.skewnorm_cdf,
    lambda out, z, a: _skewnorm_pdf(z, a),
    lambda out, z, a: _skewnorm_by_a(z, a),
)
elementwise(
    kernels.skewnorm_ppf,
    lambda out, q, a: 1 / _skewnorm_pdf(out, a),
    lambda out, q, a: -_skewnorm_by_a(out, a) / _skewnorm_pdf(out, a),
)
elementwise(
    kernels.vonmises_cdf,
    lambda out, z, kappa: _vonmises_pdf(z, kappa),
    lambda out, z, kappa: call(kernels.vonmises_by_kappa, z, kappa),
)
elementwise(
    kernels.vonmises_ppf,
    lambda out, q, kappa: 1 / _vonmises_pdf(out, kappa),
    lambda out, q, kappa: -call(kernels.vonmises_by_kappa, out, kappa) / _vonmises_pdf(out, kappa),
)
elementwise(
    kernels.vonmises_by_kappa,
    lambda out, z, kappa: (np.cos(z) - call(special.i1e, kappa) / call(special.i0e, kappa)) * _vonmises_pdf(z, kappa),
    Refused(
        "the second derivative of the distribution function of scipy.stats.vonmises by kappa is not known",
        "pass a kappa there that does not depend on what is differentiated",
    ),
)
