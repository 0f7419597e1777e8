"""`scipy.special`: the incomplete gamma and beta functions, the distribution functions made of them, their inverses.

The inverse `x` of ``F(p, x) = y`` has the derivatives ``1 / F_x`` by `y` and ``-F_p / F_x`` by `p`. In the comments
``P(a, x)`` is gammainc and ``I(a, b, x)`` is betainc.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from ...kernels.scipy.special_error import digamma_step
from ...kernels.scipy.special_incomplete import beta_density, betainc_slope, gamma_density, gammainc_slope
from ...kernels.scipy.special_kolmogorov import kolmogorov_slope, smirnov_slope
from ...kernels.scipy.special_student import stdtr_slope, student_density
from .. import lib
from ..lib import SUBSCRIPTS, call
from ..record import Refused, elementwise, refuses, vjp
from .special_error import ROOT_TWO_PI
from .special_lib import Rule, has, kernel, plain, whole, without

# --- the gamma function -----------------------------------------------------------------------------------------------


def _pdf(a: Any, x: Any) -> Any:
    return call(gamma_density, a, x)


def _by_shape(a: Any, x: Any) -> Any:
    return call(gammainc_slope, 1, a, x)


kernel(gamma_density, "a x")
elementwise(
    gamma_density,
    lambda out, a, x: out * (np.log(x) - special.psi(a)),
    lambda out, a, x: out * ((a - 1) / x - 1),
)
kernel(gammainc_slope, "a x", "n")


@vjp(gammainc_slope, "a", symmetric=True)
def _slope_by_shape(g: Any, out: Any, n: Any, a: Any, x: Any) -> Any:
    _at_most_two(n, "gammainc")
    return g * call(gammainc_slope, 2, a, x)


@vjp(gammainc_slope, "x", symmetric=True)
def _slope_by_point(g: Any, out: Any, n: Any, a: Any, x: Any) -> Any:
    score = np.log(x) - special.psi(a)
    if n == 1:
        return g * (_pdf(a, x) * score)
    return g * (_pdf(a, x) * (score * score - call(special.polygamma, 1, a)))


def _at_most_two(n: int, name: str) -> None:
    if n > 1:
        raise lib.unsupported(
            f"the third derivative of scipy.special.{name} by its parameters is not known to the compiler",
            "differentiate at most twice by the parameters",
        )


elementwise(special.gammainc, lambda out, a, x: _by_shape(a, x), lambda out, a, x: _pdf(a, x))
elementwise(special.gammaincc, lambda out, a, x: -_by_shape(a, x), lambda out, a, x: -_pdf(a, x))
for _inverse, _sign in ((special.gammaincinv, 1), (special.gammainccinv, -1)):
    elementwise(
        _inverse,
        lambda out, a, y: -_by_shape(a, out) / _pdf(a, out),
        lambda out, a, y, sign=_sign: sign / _pdf(a, out),
        singular=SUBSCRIPTS,
    )

# chdtr(v, x) = P(v / 2, x / 2)
elementwise(
    special.chdtr,
    lambda out, v, x: 0.5 * _by_shape(0.5 * v, 0.5 * x),
    lambda out, v, x: 0.5 * _pdf(0.5 * v, 0.5 * x),
)
elementwise(
    special.chdtrc,
    lambda out, v, x: -0.5 * _by_shape(0.5 * v, 0.5 * x),
    lambda out, v, x: -0.5 * _pdf(0.5 * v, 0.5 * x),
)
elementwise(
    special.chdtri,
    lambda out, v, p: -_by_shape(0.5 * v, 0.5 * out) / _pdf(0.5 * v, 0.5 * out),
    lambda out, v, p: -2 / _pdf(0.5 * v, 0.5 * out),
)
elementwise(
    special.chdtriv,
    lambda out, p, x: 2 / _by_shape(0.5 * out, 0.5 * x),
    lambda out, p, x: -_pdf(0.5 * out, 0.5 * x) / _by_shape(0.5 * out, 0.5 * x),
)
# gdtr(a, b, x) = P(b, a x)
for _fn, _sign in ((special.gdtr, 1), (special.gdtrc, -1)):
    elementwise(
        _fn,
        lambda out, a, b, x, sign=_sign: sign * x * _pdf(b, a * x),
        lambda out, a, b, x, sign=_sign: sign * _by_shape(b, a * x),
        lambda out, a, b, x, sign=_sign: sign * a * _pdf(b, a * x),
    )
elementwise(
    special.gdtrix,
    lambda out, a, b, p: -out / a,
    lambda out, a, b, p: -_by_shape(b, a * out) / (a * _pdf(b, a * out)),
    lambda out, a, b, p: 1 / (a * _pdf(b, a * out)),
)
elementwise(
    special.gdtria,
    lambda out, p, b, x: 1 / (x * _pdf(b, out * x)),
    lambda out, p, b, x: -_by_shape(b, out * x) / (x * _pdf(b, out * x)),
    lambda out, p, b, x: -out / x,
)
elementwise(
    special.gdtrib,
    lambda out, a, p, x: -x * _pdf(out, a * x) / _by_shape(out, a * x),
    lambda out, a, p, x: 1 / _by_shape(out, a * x),
    lambda out, a, p, x: -a * _pdf(out, a * x) / _by_shape(out, a * x),
)
# pdtr(k, m) = 1 - P(floor(k) + 1, m)
elementwise(special.pdtr, None, lambda out, k, m: -_pdf(np.floor(k) + 1.0, m))
elementwise(special.pdtrc, None, lambda out, k, m: _pdf(np.floor(k) + 1.0, m))
elementwise(special.pdtri, whole("pdtri", "count"), lambda out, k, y: -1 / _pdf(k + 1.0, out))

# --- the beta function ------------------------------------------------------------------------------------------------


def _pdf2(a: Any, b: Any, x: Any) -> Any:
    return call(beta_density, a, b, x)


def _by_a(a: Any, b: Any, x: Any, y: Any) -> Any:
    return call(betainc_slope, 1, 0, a, b, x, y)


def _by_b(a: Any, b: Any, x: Any, y: Any) -> Any:
    return call(betainc_slope, 0, 1, a, b, x, y)


def _score_a(a: Any, b: Any, x: Any) -> Any:
    return np.log(x) - special.psi(a) + special.psi(a + b)


def _score_b(a: Any, b: Any, x: Any) -> Any:
    return np.log1p(-x) - special.psi(b) + special.psi(a + b)


kernel(beta_density, "a b x")
elementwise(
    beta_density,
    lambda out, a, b, x: out * _score_a(a, b, x),
    lambda out, a, b, x: out * _score_b(a, b, x),
    lambda out, a, b, x: out * ((a - 1) / x - (b - 1) / (1 - x)),
)
kernel(betainc_slope, "a b x y", "n m")


@vjp(betainc_slope, "a", symmetric=True)
def _slope_by_a(g: Any, out: Any, n: Any, m: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
    _at_most_two(n + m, "betainc")
    return g * call(betainc_slope, n + 1, m, a, b, x, y)


@vjp(betainc_slope, "b", symmetric=True)
def _slope_by_b(g: Any, out: Any, n: Any, m: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
    _at_most_two(n + m, "betainc")
    return g * call(betainc_slope, n, m + 1, a, b, x, y)


@vjp(betainc_slope, "x", symmetric=True)
def _slope_by_x(g: Any, out: Any, n: Any, m: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
    # The density, differentiated by the parameters. `y` is 1 - x, and has no derivative of its own.
    if n + m > 1:
        _at_most_two(n + m, "betainc")
    return g * (_pdf2(a, b, x) * (_score_a(a, b, x) if n else _score_b(a, b, x)))


@vjp(betainc_slope, "y", symmetric=True)
def _slope_by_y(g: Any, out: Any, n: Any, m: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
    return None


elementwise(
    special.betainc,
    lambda out, a, b, x: _by_a(a, b, x, 1 - x),
    lambda out, a, b, x: _by_b(a, b, x, 1 - x),
    lambda out, a, b, x: _pdf2(a, b, x),
)


def _inverse_slopes(sign: int) -> tuple[Rule, Rule, Rule]:
    """The partials of the inverse of ``I(a, b, x)``, or (`sign` is -1) of one less that."""
    return (
        lambda out, a, b, y: -_by_a(a, b, out, 1 - out) / _pdf2(a, b, out),
        lambda out, a, b, y: -_by_b(a, b, out, 1 - out) / _pdf2(a, b, out),
        lambda out, a, b, y: sign / _pdf2(a, b, out),
    )


elementwise(special.betaincinv, *_inverse_slopes(1), singular=SUBSCRIPTS)
if has("betaincc"):
    elementwise(
        special.betaincc,
        lambda out, a, b, x: -_by_a(a, b, x, 1 - x),
        lambda out, a, b, x: -_by_b(a, b, x, 1 - x),
        lambda out, a, b, x: -_pdf2(a, b, x),
    )
    elementwise(special.betainccinv, *_inverse_slopes(-1), singular=SUBSCRIPTS)
elementwise(
    special.btdtria,
    lambda out, p, b, x: 1 / _by_a(out, b, x, 1 - x),
    lambda out, p, b, x: -_by_b(out, b, x, 1 - x) / _by_a(out, b, x, 1 - x),
    lambda out, p, b, x: -_pdf2(out, b, x) / _by_a(out, b, x, 1 - x),
)
elementwise(
    special.btdtrib,
    lambda out, a, p, x: -_by_a(a, out, x, 1 - x) / _by_b(a, out, x, 1 - x),
    lambda out, a, p, x: 1 / _by_b(a, out, x, 1 - x),
    lambda out, a, p, x: -_pdf2(a, out, x) / _by_b(a, out, x, 1 - x),
)
# bdtr(k, n, p) = 1 - I(floor(k) + 1, n - floor(k), p), nbdtr(k, n, p) = I(n, k + 1, p)


def _binomial(k: Any, n: Any, p: Any) -> Any:
    low = np.floor(k)
    return _pdf2(low + 1.0, n - low, p)


elementwise(special.bdtr, None, whole("bdtr", "count"), lambda out, k, n, p: -_binomial(k, n, p))
elementwise(special.bdtrc, None, whole("bdtrc", "count"), lambda out, k, n, p: _binomial(k, n, p))
elementwise(special.bdtri, None, whole("bdtri", "count"), lambda out, k, n, y: -1 / _binomial(k, n, out))
_COUNTS = ("number of failures", "number of successes")
elementwise(special.nbdtr, *[whole("nbdtr", c) for c in _COUNTS], lambda out, k, n, p: _pdf2(n * 1.0, k + 1.0, p))
elementwise(special.nbdtrc, *[whole("nbdtrc", c) for c in _COUNTS], lambda out, k, n, p: -_pdf2(n * 1.0, k + 1.0, p))
elementwise(
    special.nbdtri, *[whole("nbdtri", c) for c in _COUNTS], lambda out, k, n, y: 1 / _pdf2(n * 1.0, k + 1.0, out)
)

# --- solved for the counts, which are real numbers then ---------------------------------------------------------------

# pdtrik(p, m): 1 - P(k + 1, m) = p
elementwise(
    special.pdtrik,
    lambda out, p, m: -1 / _by_shape(out + 1, m),
    lambda out, p, m: -_pdf(out + 1, m) / _by_shape(out + 1, m),
)


def _by_failures(k: Any, n: Any, p: Any) -> Any:
    return _by_a(k + 1, n - k, p, 1 - p) - _by_b(k + 1, n - k, p, 1 - p)


# bdtrik(y, n, p) and bdtrin(k, y, p): 1 - I(k + 1, n - k, p) = y
elementwise(
    special.bdtrik,
    lambda out, y, n, p: -1 / _by_failures(out, n, p),
    lambda out, y, n, p: -_by_b(out + 1, n - out, p, 1 - p) / _by_failures(out, n, p),
    lambda out, y, n, p: -_pdf2(out + 1, n - out, p) / _by_failures(out, n, p),
)
elementwise(
    special.bdtrin,
    lambda out, k, y, p: -_by_failures(k, out, p) / _by_b(k + 1, out - k, p, 1 - p),
    lambda out, k, y, p: -1 / _by_b(k + 1, out - k, p, 1 - p),
    lambda out, k, y, p: -_pdf2(k + 1, out - k, p) / _by_b(k + 1, out - k, p, 1 - p),
)
# nbdtrik(y, n, p) and nbdtrin(k, y, p): I(n, k + 1, p) = y
elementwise(
    special.nbdtrik,
    lambda out, y, n, p: 1 / _by_b(n, out + 1, p, 1 - p),
    lambda out, y, n, p: -_by_a(n, out + 1, p, 1 - p) / _by_b(n, out + 1, p, 1 - p),
    lambda out, y, n, p: -_pdf2(n, out + 1, p) / _by_b(n, out + 1, p, 1 - p),
)
elementwise(
    special.nbdtrin,
    lambda out, k, y, p: -_by_b(out, k + 1, p, 1 - p) / _by_a(out, k + 1, p, 1 - p),
    lambda out, k, y, p: 1 / _by_a(out, k + 1, p, 1 - p),
    lambda out, k, y, p: -_pdf2(out, k + 1, p) / _by_a(out, k + 1, p, 1 - p),
)

# --- the distribution of F --------------------------------------------------------------------------------------------
# fdtr(n, d, x) = I(n / 2, d / 2, w) with w = n x / (n x + d)


def _f_by_x(n: Any, d: Any, x: Any) -> Any:
    total = n * x + d
    return _pdf2(0.5 * n, 0.5 * d, n * x / total) * n * d / np.square(total)


def _f_by_n(n: Any, d: Any, x: Any) -> Any:
    total = n * x + d
    w, rest = n * x / total, d / total
    return 0.5 * _by_a(0.5 * n, 0.5 * d, w, rest) + _pdf2(0.5 * n, 0.5 * d, w) * x * d / np.square(total)


def _f_by_d(n: Any, d: Any, x: Any) -> Any:
    total = n * x + d
    w, rest = n * x / total, d / total
    return 0.5 * _by_b(0.5 * n, 0.5 * d, w, rest) - _pdf2(0.5 * n, 0.5 * d, w) * x * n / np.square(total)


for _fn, _sign in ((special.fdtr, 1), (special.fdtrc, -1)):
    elementwise(
        _fn,
        lambda out, n, d, x, sign=_sign: sign * _f_by_n(n, d, x),
        lambda out, n, d, x, sign=_sign: sign * _f_by_d(n, d, x),
        lambda out, n, d, x, sign=_sign: sign * _f_by_x(n, d, x),
    )
elementwise(
    special.fdtri,
    lambda out, n, d, p: -_f_by_n(n, d, out) / _f_by_x(n, d, out),
    lambda out, n, d, p: -_f_by_d(n, d, out) / _f_by_x(n, d, out),
    lambda out, n, d, p: 1 / _f_by_x(n, d, out),
)
elementwise(
    special.fdtridfd,
    lambda out, n, p, x: -_f_by_n(n, out, x) / _f_by_d(n, out, x),
    lambda out, n, p, x: 1 / _f_by_d(n, out, x),
    lambda out, n, p, x: -_f_by_x(n, out, x) / _f_by_d(n, out, x),
)

# --- Student's distribution -------------------------------------------------------------------------------------------


def _t_score(v: Any, t: Any) -> Any:
    """The derivative of the logarithm of the density by the degrees of freedom."""
    ratio = t * t / v
    constant = call(digamma_step, 0.5 * v, 0.5) - 1 / v
    return 0.5 * (constant - np.log1p(ratio) + (1 + 1 / v) * ratio / (1 + ratio))


kernel(student_density, "v t")
elementwise(
    student_density,
    lambda out, v, t: out * _t_score(v, t),
    lambda out, v, t: -out * (v + 1) * t / (v + t * t),
)
kernel(stdtr_slope, "v t", "n")


@vjp(stdtr_slope, "v", symmetric=True)
def _stdtr_slope(g: Any, out: Any, n: Any, v: Any, t: Any) -> Any:
    _at_most_two(n, "stdtr")
    return g * call(stdtr_slope, 2, v, t)


@vjp(stdtr_slope, "t", symmetric=True)
def _stdtr_slope_by_t(g: Any, out: Any, n: Any, v: Any, t: Any) -> Any:
    _at_most_two(n, "stdtr")
    return g * (call(student_density, v, t) * _t_score(v, t))


def _t_pdf(v: Any, t: Any) -> Any:
    return call(student_density, v, t)


def _t_by_v(v: Any, t: Any) -> Any:
    return call(stdtr_slope, 1, v, t)


elementwise(special.stdtr, lambda out, v, t: _t_by_v(v, t), lambda out, v, t: _t_pdf(v, t))
elementwise(
    special.stdtrit,
    lambda out, v, p: -_t_by_v(v, out) / _t_pdf(v, out),
    lambda out, v, p: 1 / _t_pdf(v, out),
    singular=SUBSCRIPTS,
)
elementwise(
    special.stdtridf,
    lambda out, p, t: 1 / _t_by_v(out, t),
    lambda out, p, t: -_t_pdf(out, t) / _t_by_v(out, t),
)

# --- noncentral chi-square --------------------------------------------------------------------------------------------


def _noncentral(x: Any, v: Any, c: Any) -> Any:
    """The density, with the Bessel function of order ``v / 2 - 1``."""
    order, root = 0.5 * v - 1, np.sqrt(c * x)
    return (
        0.5
        * np.exp(-0.5 * np.square(np.sqrt(x) - plain(np.sqrt(c))))
        * np.power(x / c, 0.5 * order)
        * special.ive(order, root)
    )


elementwise(
    special.chndtr,
    lambda out, x, v, c: _noncentral(x, v, c),
    without("chndtr", "degrees of freedom"),
    lambda out, x, v, c: -_noncentral(x, v + 2, c),
)
elementwise(
    special.chndtrix,
    lambda out, p, v, c: 1 / _noncentral(out, v, c),
    without("chndtrix", "degrees of freedom"),
    lambda out, p, v, c: _noncentral(out, v + 2, c) / _noncentral(out, v, c),
)
elementwise(
    special.chndtrinc,
    lambda out, x, v, p: _noncentral(x, v, out) / _noncentral(x, v + 2, out),
    without("chndtrinc", "degrees of freedom"),
    lambda out, x, v, p: -1 / _noncentral(x, v + 2, out),
)

# --- the normal distribution, solved for its mean and its deviation ---------------------------------------------------

# x = mean + deviation * ndtri(p)
elementwise(
    special.nrdtrimn,
    lambda out, p, std, x: -std * (ROOT_TWO_PI * np.exp(0.5 * np.square((x - out) / std))),
    lambda out, p, std, x: (out - x) / std,
    1,
)
elementwise(
    special.nrdtrisd,
    lambda out, mn, p, x: -1 / special.ndtri(p),
    lambda out, mn, p, x: -np.square(out) / (x - mn) * (ROOT_TWO_PI * np.exp(0.5 * np.square((x - mn) / out))),
    lambda out, mn, p, x: 1 / special.ndtri(p),
)

# --- Kolmogorov and Smirnov -------------------------------------------------------------------------------------------

kernel(kolmogorov_slope, "x", "n")


@vjp(kolmogorov_slope, "x", symmetric=True)
def _kolmogorov_slope(g: Any, out: Any, n: Any, x: Any) -> Any:
    return g * call(kolmogorov_slope, n + 1, x)


elementwise(special.kolmogorov, lambda out, x: call(kolmogorov_slope, 1, x))
elementwise(special.kolmogi, lambda out, p: 1 / call(kolmogorov_slope, 1, out))
kernel(smirnov_slope, "n x")
refuses(
    smirnov_slope,
    Refused("the second derivative of scipy.special.smirnov is not known to the compiler", "differentiate it once"),
    "n",
    "x",
)
elementwise(special.smirnov, whole("smirnov", "size of the sample"), lambda out, n, x: call(smirnov_slope, n, x))
elementwise(
    special.smirnovi, whole("smirnovi", "size of the sample"), lambda out, n, p: 1 / call(smirnov_slope, n, out)
)
