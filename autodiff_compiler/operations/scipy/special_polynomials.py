"""`scipy.special`: orthogonal polynomials and Legendre functions, in their last argument."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from ...ir.types import ANY
from .. import lib
from ..lib import call, equal
from ..record import elementwise, op, vjp
from .special_lib import Rule, has, plain, whole, without


def _polynomial(name: str, slope: Rule, *parameters: str) -> None:
    """A polynomial of degree `n`, which is 0 for degrees below zero in the slope."""
    others = [without(name, parameter) for parameter in parameters]
    elementwise(getattr(special, name), whole(name, "degree"), *others, lambda out, *args: slope(*args))


def _lower(n: Any) -> tuple[Any, Any]:
    """The degree less one, and 1, or 0 and 0 for a constant polynomial."""
    if lib.is_constant(n):
        return (n - 1, 1) if n else (0, 0)
    return np.maximum(n - 1, 0), lib.choose(equal(n, 0), 0.0, 1.0)


def _jacobi(n: Any, alpha: Any, beta: Any, x: Any) -> Any:
    lower, there = _lower(n)
    return 0.5 * there * (n + alpha + beta + 1) * special.eval_jacobi(lower, alpha + 1, beta + 1, x)


def _legendre(n: Any, x: Any) -> Any:
    lower, there = _lower(n)
    return 0.5 * there * (n + 1) * special.eval_jacobi(lower, 1.0, 1.0, x)


def _gegenbauer(n: Any, alpha: Any, x: Any) -> Any:
    lower, there = _lower(n)
    return 2 * there * alpha * special.eval_gegenbauer(lower, alpha + 1, x)


def _shifted_jacobi(n: Any, p: Any, q: Any, x: Any) -> Any:
    return n * special.eval_sh_jacobi(_lower(n)[0], p + 2, q + 1, x)


_polynomial("eval_jacobi", _jacobi, "alpha", "beta")
_polynomial("eval_sh_jacobi", _shifted_jacobi, "p", "q")
_polynomial("eval_gegenbauer", _gegenbauer, "alpha")
_polynomial("eval_legendre", _legendre)
_polynomial("eval_sh_legendre", lambda n, x: 2 * _legendre(n, 2 * x - 1))
_polynomial("eval_chebyt", lambda n, x: n * special.eval_chebyu(_lower(n)[0], x))
_polynomial("eval_chebyu", lambda n, x: _gegenbauer(n, 1.0, x))
_polynomial("eval_chebyc", lambda n, x: n * special.eval_chebys(_lower(n)[0], x))
_polynomial("eval_chebys", lambda n, x: 0.5 * _gegenbauer(n, 1.0, 0.5 * x))
_polynomial("eval_sh_chebyt", lambda n, x: 2 * n * special.eval_sh_chebyu(_lower(n)[0], x))
_polynomial("eval_sh_chebyu", lambda n, x: 2 * _gegenbauer(n, 1.0, 2 * x - 1))
_polynomial("eval_hermite", lambda n, x: 2 * n * special.eval_hermite(_lower(n)[0], x))
_polynomial("eval_hermitenorm", lambda n, x: n * special.eval_hermitenorm(_lower(n)[0], x))


def _laguerre(n: Any, alpha: Any, x: Any) -> Any:
    lower, there = _lower(n)
    return -there * special.eval_genlaguerre(lower, alpha + 1, x)


_polynomial("eval_genlaguerre", _laguerre, "alpha")
_polynomial("eval_laguerre", lambda n, x: _laguerre(n, 0.0, x))


def _associated(out: Any, m: Any, v: Any, x: Any) -> Any:
    return (v * x * out - (v + m) * special.lpmv(m, v - 1, x)) / ((x - 1) * (x + 1))


elementwise(special.lpmv, whole("lpmv", "order"), without("lpmv", "degree"), _associated)

if has("sph_harm_y"):

    def _harmonic_type(b: Any, *args: Any, **kwargs: Any) -> Any:
        return ANY

    op("scipy.special.sph_harm_y", "n, m, theta: array, phi: array, diff_n", type=_harmonic_type)

    @vjp(special.sph_harm_y, "theta", symmetric=True)
    def _harmonic_theta(g: Any, out: Any, n: Any, m: Any, theta: Any, phi: Any) -> Any:
        next_order = np.exp(-1j * phi) * call(special.sph_harm_y, n, m + 1, theta, phi)
        return g * (m / np.tan(theta) * out + plain(np.sqrt((n - m) * (n + m + 1.0))) * next_order)

    @vjp(special.sph_harm_y, "phi", symmetric=True)
    def _harmonic_phi(g: Any, out: Any, n: Any, m: Any, theta: Any, phi: Any) -> Any:
        return g * (1j * m * out)
