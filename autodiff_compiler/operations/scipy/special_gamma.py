"""`scipy.special`: the gamma function, its logarithm and derivatives, beta functions, binomials, zeta functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from ...ir.core import Builder, type_of
from ...ir.infer import broadcast_dims
from ...ir.opset import PRIMS
from ...ir.types import ANY, Ty
from ...kernels.scipy.special_error import digamma_step
from ...kernels.scipy.special_zeta import zeta_slope
from .. import lib
from ..lib import call, choose
from ..record import elementwise, nondiff, op, refuses, vjp
from .special_lib import kernel, typed_like, whole

# --- polygamma and zeta -----------------------------------------------------------------------------------------------


def _polygamma_type(b: Builder, n: Any, x: Any) -> Ty:
    types = [type_of(n), type_of(x)]
    dims = broadcast_dims(b, [t.dims for t in types])
    if dims is None or any(t.dtype is None or t.dtype.kind not in "biuf" for t in types):
        return ANY
    return Ty("array", np.dtype(np.float64), dims)  # of numbers, too, it makes an array


op("scipy.special.polygamma", "n: array, x: array", type=_polygamma_type, elementwise=True)


refuses(special.polygamma, whole("polygamma", "order"), "n")


@vjp(special.polygamma, "x", symmetric=True)
def _polygamma(g: Any, out: Any, n: Any, x: Any) -> Any:
    lib.need_real("scipy.special.polygamma", x)
    return g * call(special.polygamma, n + 1, x)


_zeta_type = typed_like(special.agm)
_riemann_type = typed_like(special.zetac)


def _of_zeta(b: Builder, x: Any, q: Any = None, out: Any = None) -> Any:
    if out is not None:
        return ANY
    return _riemann_type(b, x) if q is None else _zeta_type(b, x, q)


op("scipy.special.zeta", "x: array, q: array, out", type=_of_zeta)


@vjp(special.zeta, "x", symmetric=True)
def _zeta(g: Any, out: Any, x: Any, q: Any = None) -> Any:
    lib.need_real("scipy.special.zeta", x)
    return g * call(zeta_slope, 1, x, 1.0 if q is None else q)


@vjp(special.zeta, "q", symmetric=True)
def _zeta_shift(g: Any, out: Any, x: Any, q: Any) -> Any:
    return g * (-x * call(special.zeta, x + 1, q))


elementwise(special.zetac, lambda out, x: call(zeta_slope, 1, x, 1.0))
kernel(zeta_slope, "x q", "n")


@vjp(zeta_slope, "x", symmetric=True)
def _zeta_slope(g: Any, out: Any, n: Any, x: Any, q: Any) -> Any:
    return g * call(zeta_slope, n + 1, x, q)


@vjp(zeta_slope, "q", symmetric=True)
def _zeta_slope_shift(g: Any, out: Any, n: Any, x: Any, q: Any) -> Any:
    before = call(special.zeta, x + 1, q) if n == 1 else call(zeta_slope, n - 1, x + 1, q)
    return g * -(x * call(zeta_slope, n, x + 1, q) + n * before)


# --- gamma ------------------------------------------------------------------------------------------------------------


def _psi(out: Any, x: Any) -> Any:
    lib.need_real("scipy.special.psi", x)
    return call(special.polygamma, 1, x)


def _rgamma(out: Any, x: Any) -> Any:
    """The derivative of the reciprocal of gamma, which has no poles. Left of 1/2 by reflection."""
    if lib.may_be_complex(x):
        return -special.psi(x) * out
    left = x < 0.5
    right, mirrored = choose(left, 1.0, x), choose(left, 1 - x, 1.0)
    sine = np.sin(math.pi * x) * special.psi(mirrored)
    reflected = special.gamma(mirrored) * (np.cos(math.pi * x) - 1 / math.pi * sine)
    return choose(left, reflected, -special.psi(right) * special.rgamma(right))


elementwise(special.psi, _psi)
elementwise(special.gammaln, lambda out, x: special.psi(x))
elementwise(special.loggamma, lambda out, x: special.psi(x))
elementwise(special.gamma, lambda out, x: out * special.psi(x))
elementwise(special.rgamma, _rgamma)
nondiff(special.gammasgn)

# --- beta functions and binomials -------------------------------------------------------------------------------------

kernel(digamma_step, "x h")
elementwise(
    digamma_step,
    lambda out, x, h: call(special.polygamma, 1, x + h) - call(special.polygamma, 1, x),
    lambda out, x, h: call(special.polygamma, 1, x + h),
)
elementwise(
    special.beta,
    lambda out, a, b: -out * call(digamma_step, a, b),
    lambda out, a, b: -out * call(digamma_step, b, a),
)
elementwise(
    special.betaln,
    lambda out, a, b: -call(digamma_step, a, b),
    lambda out, a, b: -call(digamma_step, b, a),
)
elementwise(
    special.poch,
    lambda out, a, m: out * call(digamma_step, a, m),
    lambda out, a, m: out * special.psi(a + m),
)
elementwise(
    special.binom,
    lambda out, n, k: out * call(digamma_step, n - k + 1, k),
    lambda out, n, k: out * (special.psi(n - k + 1) - special.psi(k + 1)),
)

# --- functions that SciPy writes in Python ----------------------------------------------------------------------------

op("scipy.special.multigammaln", "a: array, d")


@vjp(special.multigammaln, "a", symmetric=True)
def _multigammaln(g: Any, out: Any, a: Any, d: Any) -> Any:
    if type(d) is not int:
        raise lib.unsupported("the derivative of scipy.special.multigammaln needs a constant for `d`")
    total = special.psi(a)
    for j in range(1, d):
        total = total + special.psi(a - 0.5 * j)
    return g * total


op("scipy.special.factorial", "n: array, exact, extend")


@vjp(special.factorial, "n", symmetric=True)
def _factorial(g: Any, out: Any, n: Any, exact: Any = False, extend: Any = "zero") -> Any:
    lib.need_real("scipy.special.factorial", n)
    inside = n > -1 if extend == "complex" else n >= 0  # zero left of there
    slope = call(special.gamma, n + 1) * call(special.psi, choose(inside, n, 0.0) + 1)
    return g * slope if extend == "complex" else lib.masked(g * choose(inside, slope, 0.0), inside)


def _binom_type(b: Builder, N: Any, k: Any, exact: Any = False, repetition: Any = False) -> Ty:
    if exact is not False or repetition is not False:
        return ANY
    t: Ty = PRIMS[special.binom].infer(b, (N, k), {})  # type: ignore[misc]
    # Of numbers of float32 with k > N, it is a zero of float64.
    return t if t.kind == "array" or t.dtype is not None and t.dtype == np.float64 else ANY


op("scipy.special.comb", "N: array, k: array, exact, repetition", type=_binom_type)
op("scipy.special.perm", "N: array, k: array, exact", type=_binom_type)


def _chosen(N: Any, k: Any) -> Any:
    return (k <= N) & (N >= 0) & (k >= 0)


def _of_comb(g: Any, N: Any, k: Any, exact: Any, repetition: Any, slope: Any) -> Any:
    if exact is not False or repetition is not False:
        raise lib.unsupported("the derivative of scipy.special.comb needs exact=False and repetition=False")
    return g * choose(_chosen(N, k), slope, 0.0)


@vjp(special.comb, "N", symmetric=True)
def _comb(g: Any, out: Any, N: Any, k: Any, *, exact: Any = False, repetition: Any = False) -> Any:
    return _of_comb(g, N, k, exact, repetition, special.binom(N, k) * call(digamma_step, N - k + 1, k))


@vjp(special.comb, "k", symmetric=True)
def _comb_k(g: Any, out: Any, N: Any, k: Any, *, exact: Any = False, repetition: Any = False) -> Any:
    slope = special.binom(N, k) * (special.psi(N - k + 1) - special.psi(k + 1))
    return _of_comb(g, N, k, exact, repetition, slope)


@vjp(special.perm, "N", symmetric=True)
def _perm(g: Any, out: Any, N: Any, k: Any, exact: Any = False) -> Any:
    return g * choose(_chosen(N, k), special.poch(N - k + 1, k) * call(digamma_step, N - k + 1, k), 0.0)


@vjp(special.perm, "k", symmetric=True)
def _perm_k(g: Any, out: Any, N: Any, k: Any, exact: Any = False) -> Any:
    return g * choose(_chosen(N, k), special.poch(N - k + 1, k) * special.psi(N - k + 1), 0.0)
