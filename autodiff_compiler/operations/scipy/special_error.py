"""`scipy.special`: error functions, the normal distribution, Dawson's, Fresnel's and exponential integrals."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np
from scipy import special

from ...kernels.scipy.special_error import dawsn_derivative, erfcx_derivative, faddeeva
from .. import lib
from ..lib import SUBSCRIPTS, call, choose, equal
from ..record import elementwise, vjp
from .special_lib import has, kernel, several, whole

ROOT_PI = math.sqrt(math.pi)
ROOT_TWO_PI = math.sqrt(2 * math.pi)
ROOT_HALF = math.sqrt(0.5)

# --- error functions --------------------------------------------------------------------------------------------------


def _derivatives(fn: Any, like: Any = None) -> None:
    """A kernel that gives the derivative of order `n` of a function."""
    kernel(fn, "x", "n", like)

    @vjp(fn, "x", symmetric=True)
    def next_order(g: Any, out: Any, n: Any, x: Any) -> Any:
        return g * call(fn, n + 1, x)


_derivatives(faddeeva, special.wofz)
_derivatives(dawsn_derivative)
_derivatives(erfcx_derivative)


def _gaussian(x: Any) -> Any:
    return np.exp(-(x * x))


def _erfcx(out: Any, x: Any) -> Any:
    return 2 * x * out - 2 / ROOT_PI if lib.may_be_complex(x) else call(erfcx_derivative, 1, x)


def _dawsn(out: Any, x: Any) -> Any:
    return 1 - 2 * x * out if lib.may_be_complex(x) else call(dawsn_derivative, 1, x)


elementwise(special.erf, lambda out, x: 2 / ROOT_PI * _gaussian(x))
elementwise(special.erfc, lambda out, x: -2 / ROOT_PI * _gaussian(x))
elementwise(special.erfi, lambda out, x: 2 / ROOT_PI * np.exp(x * x))
elementwise(special.erfcx, _erfcx)
elementwise(special.dawsn, _dawsn)
elementwise(special.wofz, lambda out, z: call(faddeeva, 1, z))
elementwise(special.erfinv, lambda out, x: 0.5 * ROOT_PI * np.exp(out * out), singular=SUBSCRIPTS)
elementwise(special.erfcinv, lambda out, x: -0.5 * ROOT_PI * np.exp(out * out), singular=SUBSCRIPTS)

# --- the normal distribution ------------------------------------------------------------------------------------------


def _hazard(x: Any) -> Any:
    """The density of the normal distribution divided by its distribution function."""
    return math.sqrt(2 / math.pi) / special.erfcx(-ROOT_HALF * x)


elementwise(special.ndtr, lambda out, x: 1 / ROOT_TWO_PI * np.exp(-0.5 * (x * x)))
elementwise(special.ndtri, lambda out, x: ROOT_TWO_PI * np.exp(0.5 * (out * out)), singular=SUBSCRIPTS)
elementwise(special.log_ndtr, lambda out, x: _hazard(x))
if has("ndtri_exp"):
    elementwise(special.ndtri_exp, lambda out, x: math.sqrt(math.pi / 2) * special.erfcx(-ROOT_HALF * out))


def _owens_h(out: Any, h: Any, a: Any) -> Any:
    return -0.5 / ROOT_TWO_PI * special.erf(ROOT_HALF * a * h) * np.exp(-0.5 * (h * h))


def _owens_a(out: Any, h: Any, a: Any) -> Any:
    spread = 1 + a * a
    return 0.5 / math.pi * np.exp(-0.5 * (h * h) * spread) / spread


elementwise(special.owens_t, _owens_h, _owens_a)


def _voigt_slope(x: Any, sigma: Any, gamma: Any) -> Any:
    """The derivative of the Faddeeva function in the profile, with the factor that all derivatives have."""
    width = ROOT_HALF / sigma
    return call(faddeeva, 1, (x + 1j * gamma) * width) / (2 * ROOT_PI * (sigma * sigma))


def _voigt_sigma(out: Any, x: Any, sigma: Any, gamma: Any) -> Any:
    slope = _voigt_slope(x, sigma, gamma)
    return -(out + x * np.real(slope) - gamma * np.imag(slope)) / sigma  # homogeneous of degree -1


elementwise(
    special.voigt_profile,
    lambda out, x, sigma, gamma: np.real(_voigt_slope(x, sigma, gamma)),
    _voigt_sigma,
    lambda out, x, sigma, gamma: -np.imag(_voigt_slope(x, sigma, gamma)),
)

# --- integrals --------------------------------------------------------------------------------------------------------

several(
    special.fresnel,
    0,
    lambda out, z: np.sin(math.pi / 2 * (z * z)),
    lambda out, z: np.cos(math.pi / 2 * (z * z)),
)


# Of the results, the second is the first times exp(-+ i (x ** 2 + pi / 4)) / sqrt(pi).
for _fn, _sign in ((special.modfresnelp, 1), (special.modfresnelm, -1)):
    if _fn is special.modfresnelp and _fn(1.0)[0] == special.modfresnelm(1.0)[0]:
        continue  # SciPy 1.13 gives the other function here
    several(
        _fn,
        0,
        lambda out, x, turn=1j * _sign: -np.exp(turn * (x * x)),
        lambda out, x, turn=1j * _sign: -2 * turn * x * out[1] - cmath.exp(-math.pi / 4 * turn) / ROOT_PI,
    )


def _sinhc(x: Any) -> Any:
    return special.hyp0f1(1.5, 0.25 * (x * x))  # sinh(x) / x, with all its derivatives at zero


def _sinc(x: Any) -> Any:
    return special.hyp0f1(1.5, -0.25 * (x * x)) if lib.may_be_complex(x) else np.sinc(1 / math.pi * x)


several(special.shichi, 0, lambda out, x: _sinhc(x), lambda out, x: np.cosh(x) / x)
several(special.sici, 0, lambda out, x: _sinc(x), lambda out, x: np.cos(x) / x)
elementwise(special.expi, lambda out, x: np.exp(x) / x)
elementwise(special.exp1, lambda out, x: -np.exp(-x) / x)


def _expn(out: Any, n: Any, x: Any) -> Any:
    if lib.is_constant(n):
        return -special.expn(n - 1, x) if n > 0 else -np.exp(-x) * (1 + x) / (x * x)
    lower = special.expn(np.maximum(n - 1, 0), x)
    return -choose(equal(n, 0), np.exp(-x) * (1 + x) / (x * x), lower)


elementwise(special.expn, whole("expn", "order"), _expn)


def _spence(out: Any, z: Any) -> Any:
    """``log(z) / (1 - z)``; by the hypergeometric function near 1, where that is 0 / 0."""
    if lib.may_be_complex(z):
        return -special.hyp2f1(1.0, 1.0, 2.0, 1 - z)
    near = z > 0.5
    safe = choose(near, 0.5, z)
    return choose(near, -special.hyp2f1(1.0, 1.0, 2.0, 1 - z), np.log(safe) / (1 - safe))


elementwise(special.spence, _spence, singular=SUBSCRIPTS)
