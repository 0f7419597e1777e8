"""`scipy.stats`: kernels of distributions. All else of them is defined in Python."""

from __future__ import annotations

import numpy as np
from scipy import special

from ... import runtime
from ...kernels.scipy import stats as kernels
from ..lib import call
from ..record import elementwise
from . import stats_quantiles as stats_quantiles

INV_SQRT_2PI = float(1 / np.sqrt(2 * np.pi))


elementwise(
    kernels.beta_pdf,
    lambda out, x, a, b: out * (call(runtime.ratio, a - 1, x) - call(runtime.ratio, b - 1, 1 - x)),
    lambda out, x, a, b: special.xlogy(out, x) + out * (special.psi(a + b) - special.psi(a)),
    lambda out, x, a, b: special.xlog1py(out, -x) + out * (special.psi(a + b) - special.psi(b)),
)
elementwise(
    kernels.beta_entropy,
    lambda out, a, b: (a + b - 2) * call(runtime.polygamma, 1, a + b) - (a - 1) * call(runtime.polygamma, 1, a),
    lambda out, a, b: (a + b - 2) * call(runtime.polygamma, 1, a + b) - (b - 1) * call(runtime.polygamma, 1, b),
)
elementwise(kernels.gamma_entropy, lambda out, a: 1 + (1 - a) * call(runtime.polygamma, 1, a))
elementwise(kernels.invgamma_entropy, lambda out, a: 1 - (a + 1) * call(runtime.polygamma, 1, a))
elementwise(
    kernels.t_entropy,
    lambda out, df: (
        (df + 1) / 4 * (call(runtime.polygamma, 1, (df + 1) / 2) - call(runtime.polygamma, 1, df / 2)) + 0.5 / df
    ),
)
elementwise(
    kernels.log_gauss_mass,
    lambda out, a, b: -INV_SQRT_2PI * np.exp(-0.5 * a * a - out),
    lambda out, a, b: INV_SQRT_2PI * np.exp(-0.5 * b * b - out),
)
# Numbers of trials and of successes are integers: nothing moves with them.
elementwise(
    kernels.binom_pmf,
    None,
    None,
    lambda out, k, n, p: n * (call(kernels.binom_pmf, k - 1, n - 1, p) - call(kernels.binom_pmf, k, n - 1, p)),
)
elementwise(
    kernels.binom_cdf,
    None,
    None,
    lambda out, k, n, p: -n * call(kernels.binom_pmf, k, n - 1, p),
)
elementwise(
    kernels.binom_sf,
    None,
    None,
    lambda out, k, n, p: n * call(kernels.binom_pmf, k, n - 1, p),
)
elementwise(
    kernels.nbinom_pmf,
    None,
    lambda out, k, n, p: out * (special.psi(n + k) - special.psi(n) + np.log(p)),
    lambda out, k, n, p: n / p * (out - call(kernels.nbinom_pmf, k - 1, n + 1, p)),
)
