"""`scipy.special`: Bessel functions and their relatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from ...ir.core import Builder, type_of
from ...ir.types import ANY, Ty
from ...kernels.scipy.special_bessel import iv_order, ive_derivative, jv_order, kv_order, kve_derivative, yv_order
from .. import lib
from ..lib import call
from ..record import elementwise, op, prims_of, refuses, vjp
from .special_lib import Rule, plain, several, whole, without
from .special_lib import kernel as enter

# --- of any order -----------------------------------------------------------------------------------------------------


def _half(ufunc: Any, sign: int) -> Rule:
    """Half of the function of the order before, plus or minus that of the order behind."""

    def slope(out: Any, v: Any, x: Any) -> Any:
        before, after = ufunc(v - 1, x), ufunc(v + 1, x)
        return 0.5 * (before + after if sign > 0 else before - after)

    return slope


def _by_order(kernel: Any, name: str) -> Rule:
    def slope(out: Any, v: Any, x: Any) -> Any:
        lib.need_real(f"scipy.special.{name} by its order", x)
        return call(kernel, 1, v, x)

    return slope


def _kernel(fn: Any, sign: int, scale: float = 0.5) -> None:
    """The record of a kernel ``fn(n, v, x)``, the derivative of order `n` by the order `v`."""
    enter(fn, "v x", "n")

    @vjp(fn, "v", symmetric=True)
    def by_order(g: Any, out: Any, n: Any, v: Any, x: Any) -> Any:
        return g * call(fn, n + 1, v, x)

    @vjp(fn, "x", symmetric=True)
    def by_argument(g: Any, out: Any, n: Any, v: Any, x: Any) -> Any:
        before, after = call(fn, n, v - 1, x), call(fn, n, v + 1, x)
        return g * (scale * (before + after if sign > 0 else before - after))


_kernel(jv_order, -1)
_kernel(yv_order, -1)
_kernel(iv_order, 1)
_kernel(kv_order, 1, -0.5)

elementwise(special.jv, _by_order(jv_order, "jv"), _half(special.jv, -1))
elementwise(special.yv, _by_order(yv_order, "yv"), _half(special.yv, -1))
elementwise(special.iv, _by_order(iv_order, "iv"), _half(special.iv, 1))
elementwise(
    special.kv, _by_order(kv_order, "kv"), lambda out, v, x: -0.5 * (special.kv(v - 1, x) + special.kv(v + 1, x))
)
elementwise(special.yn, whole("yn", "order"), _half(special.yn, -1))
elementwise(
    special.kn,
    whole("kn", "order"),
    lambda out, n, x: -0.5 * (special.kn(np.absolute(n - 1), x) + special.kn(n + 1, x)),
)
elementwise(special.hankel1, without("hankel1", "order"), _half(special.hankel1, -1))
elementwise(special.hankel2, without("hankel2", "order"), _half(special.hankel2, -1))
elementwise(
    special.hankel1e, without("hankel1e", "order"), lambda out, v, z: _half(special.hankel1e, -1)(out, v, z) - 1j * out
)
elementwise(
    special.hankel2e, without("hankel2e", "order"), lambda out, v, z: _half(special.hankel2e, -1)(out, v, z) + 1j * out
)

# --- scaled -----------------------------------------------------------------------------------------------------------
# jve and yve are scaled by exp(-abs(imag(z))), ive by exp(-abs(real(z))): not holomorphic.


def _real_only(name: str, slope: Rule) -> Rule:
    def partial(out: Any, v: Any, x: Any) -> Any:
        lib.need_real(f"scipy.special.{name}", x)
        return slope(out, v, x)

    return partial


elementwise(special.jve, without("jve", "order"), _real_only("jve", _half(special.jve, -1)))
elementwise(special.yve, without("yve", "order"), _real_only("yve", _half(special.yve, -1)))


def _scaled(fn: Any, by_order: Callable[[Any, Any], Any], sign: float) -> None:
    """The record of ``fn(n, v, x)``, the derivative of order `n` by `x`, a central difference in `v`."""
    enter(fn, "v x", "n")

    @vjp(fn, "v", symmetric=True)
    def rule(g: Any, out: Any, n: Any, v: Any, x: Any) -> Any:
        total: Any = 0.0
        for k in range(2 * n + 1):
            total = total + (0.5 * sign) ** n * (-1) ** k * math.comb(2 * n, k) * by_order(v + (n - k), x)
        return g * total

    @vjp(fn, "x", symmetric=True)
    def next_order(g: Any, out: Any, n: Any, v: Any, x: Any) -> Any:
        return g * call(fn, n + 1, v, x)


def _ive_by_order(v: Any, x: Any) -> Any:
    lib.need_real("scipy.special.ive", x)
    return np.exp(-np.absolute(x)) * call(iv_order, 1, v, x)


def _kve_by_order(v: Any, x: Any) -> Any:
    lib.need_real("scipy.special.kve by its order", x)
    return np.exp(x) * call(kv_order, 1, v, x)


def _ive(out: Any, v: Any, x: Any) -> Any:
    lib.need_real("scipy.special.ive", x)
    return call(ive_derivative, 1, v, x)


def _kve(out: Any, v: Any, x: Any) -> Any:
    if lib.may_be_complex(x):
        return out - 0.5 * (special.kve(v - 1, x) + special.kve(v + 1, x))
    return call(kve_derivative, 1, v, x)


_scaled(ive_derivative, _ive_by_order, 1.0)
_scaled(kve_derivative, _kve_by_order, -1.0)
elementwise(special.ive, lambda out, v, x: _ive_by_order(v, x), _ive)
elementwise(special.kve, lambda out, v, x: _kve_by_order(v, x), _kve)

# --- of orders 0 and 1 ------------------------------------------------------------------------------------------------

elementwise(special.j0, lambda out, x: -special.j1(x))
elementwise(special.j1, lambda out, x: 0.5 * (special.j0(x) - special.jv(2.0, x)))
elementwise(special.y0, lambda out, x: -special.y1(x))
elementwise(special.y1, lambda out, x: 0.5 * (special.y0(x) - special.yv(2.0, x)))
elementwise(special.i0, lambda out, x: special.i1(x))
elementwise(special.i1, lambda out, x: 0.5 * (special.i0(x) + special.iv(2.0, x)))
elementwise(special.k0, lambda out, x: -special.k1(x))
elementwise(special.k1, lambda out, x: -0.5 * (special.k0(x) + special.kv(2.0, x)))
elementwise(special.i0e, lambda out, x: call(ive_derivative, 1, 0.0, x))
elementwise(special.i1e, lambda out, x: call(ive_derivative, 1, 1.0, x))
elementwise(special.k0e, lambda out, x: call(kve_derivative, 1, 0.0, x))
elementwise(special.k1e, lambda out, x: call(kve_derivative, 1, 1.0, x))

# --- spherical --------------------------------------------------------------------------------------------------------


def _spherical_type(b: Builder, n: Any, z: Any, derivative: Any = False) -> Ty:
    t = type_of(z)
    known = t.kind == "array" and t.dims and t.dtype == np.float64 and type(n) is int
    return Ty("array", t.dtype, t.dims) if known else ANY


def _spherical(name: str, before: int, after: int) -> None:
    """``(2n + 1) f'[n] = before * n * f[n - 1] + after * (n + 1) * f[n + 1]``, and the same for the derivatives."""
    fn = getattr(special, name)
    op(f"scipy.special.{name}", "n, z: array, derivative", type=_spherical_type, elementwise=True)

    @vjp(fn, "z", symmetric=True)
    def pullback(g: Any, out: Any, n: Any, z: Any, derivative: Any = False) -> Any:
        if type(n) is not int or not isinstance(derivative, bool):
            raise lib.unsupported(
                f"the derivative of scipy.special.{name} needs constants for its order and for `derivative`",
                "write the order as a number",
            )
        flag = (True,) if derivative else ()
        behind = after * (n + 1) / (2 * n + 1) * call(fn, n + 1, z, *flag)
        return g * (behind if n == 0 else before * n / (2 * n + 1) * call(fn, n - 1, z, *flag) + behind)


_spherical("spherical_jn", 1, -1)
_spherical("spherical_yn", 1, -1)
_spherical("spherical_in", 1, 1)
_spherical("spherical_kn", -1, -1)

# --- derivatives that SciPy has ---------------------------------------------------------------------------------------


def _differentiated(name: str, sign: int) -> None:
    """``jvp(v, z, n)`` is the derivative of order `n` of ``jv(v, z)``."""
    fn = getattr(special, name)
    op(f"scipy.special.{name}", "v: array, z: array, n", elementwise=True)
    refuses(fn, without(name, "order"), "v")

    @vjp(fn, "z", symmetric=True)
    def pullback(g: Any, out: Any, v: Any, z: Any, n: Any = 1) -> Any:
        return g * call(fn, v, z, n + 1)


for _name in ("jvp", "yvp", "ivp", "kvp", "h1vp", "h2vp"):
    _differentiated(_name, 1)

# --- Airy functions ---------------------------------------------------------------------------------------------------

several(
    special.airy,
    0,
    lambda out, z: out[1],
    lambda out, z: z * out[0],
    lambda out, z: out[3],
    lambda out, z: z * out[2],
)


def _root(z: Any) -> Any:
    """The derivative of the exponent by which the functions are scaled, for real `z`. Left of 0, only Ai is scaled,
    and is not real."""
    lib.need_real("scipy.special.airye", z)
    return np.sqrt(np.maximum(z, 0.0))


several(
    special.airye,
    0,
    lambda out, z: out[1] + _root(z) * out[0],
    lambda out, z: z * out[0] + _root(z) * out[1],
    lambda out, z: out[3] - _root(z) * out[2],
    lambda out, z: z * out[2] - _root(z) * out[3],
)

# --- Kelvin functions, from the differential equation ``f'' + f' / x = i * f`` ----------------------------------------

elementwise(special.ber, lambda out, x: special.berp(x))
elementwise(special.bei, lambda out, x: special.beip(x))
elementwise(special.ker, lambda out, x: special.kerp(x))
elementwise(special.kei, lambda out, x: special.keip(x))
elementwise(special.berp, lambda out, x: -special.bei(x) - out / x)
elementwise(special.beip, lambda out, x: special.ber(x) - out / x)
elementwise(special.kerp, lambda out, x: -special.kei(x) - out / x)
elementwise(special.keip, lambda out, x: special.ker(x) - out / x)
several(
    special.kelvin,
    0,
    lambda out, x: out[2],
    lambda out, x: out[3],
    lambda out, x: 1j * out[0] - out[2] / x,
    lambda out, x: 1j * out[1] - out[3] / x,
)

# --- Struve functions, parabolic cylinder functions, Mathieu functions ------------------------------------------------


def _struve_rest(v: Any, x: Any) -> Any:
    return np.power(0.5 * x, v) * plain(special.rgamma(v + 1.5)) * (1 / math.sqrt(math.pi))


elementwise(
    special.struve,
    without("struve", "order"),
    lambda out, v, x: 0.5 * (special.struve(v - 1, x) - special.struve(v + 1, x) + _struve_rest(v, x)),
)
elementwise(
    special.modstruve,
    without("modstruve", "order"),
    lambda out, v, x: 0.5 * (special.modstruve(v - 1, x) + special.modstruve(v + 1, x) + _struve_rest(v, x)),
)


def _solution(fn: Any, factor: Callable[[Any, Any], Any]) -> None:
    """A function of (parameter, x) that gives a solution of ``f'' = factor * f``, and its derivative."""
    prims_of(fn, make=True)
    refuses(fn, without(fn.__name__, "parameter"), "x1")
    several(fn, 1, lambda out, v, x: out[1], lambda out, v, x: factor(v, x) * out[0])


_solution(special.pbdv, lambda v, x: 0.25 * (x * x) - v - 0.5)
_solution(special.pbvv, lambda v, x: 0.25 * (x * x) - v - 0.5)
_solution(special.pbwa, lambda a, x: a - 0.25 * (x * x))

_DEGREE = math.pi / 180
for _fn in (special.mathieu_cem, special.mathieu_sem):
    _values = special.mathieu_a if _fn is special.mathieu_cem else special.mathieu_b
    elementwise(_values, whole(_values.__name__, "order"), without(_values.__name__, "parameter"))

    def _bent(out: Any, m: Any, q: Any, x: Any, values: Any = _values) -> Any:
        return _DEGREE * (2 * q * np.cos(2 * _DEGREE * x) - values(m, q)) * out[0]

    prims_of(_fn, make=True)
    refuses(_fn, without(_fn.__name__, "parameters"), "x1", "x2")
    several(_fn, 2, lambda out, m, q, x: _DEGREE * out[1], _bent)

for _fn in (special.mathieu_modcem1, special.mathieu_modcem2, special.mathieu_modsem1, special.mathieu_modsem2):
    _values = special.mathieu_a if "cem" in _fn.__name__ else special.mathieu_b

    def _modified(out: Any, m: Any, q: Any, x: Any, values: Any = _values) -> Any:
        return (values(m, q) - 2 * q * np.cosh(2 * x)) * out[0]

    prims_of(_fn, make=True)
    refuses(_fn, without(_fn.__name__, "parameters"), "x1", "x2")
    several(_fn, 2, lambda out, m, q, x: out[1], _modified)

# --- integrals --------------------------------------------------------------------------------------------------------

several(special.iti0k0, 0, lambda out, x: special.i0(x), lambda out, x: special.k0(x))
several(special.itj0y0, 0, lambda out, x: special.j0(x), lambda out, x: special.y0(x))
several(special.it2i0k0, 0, lambda out, x: (special.i0(x) - 1) / x, lambda out, x: -special.k0(x) / x)
several(special.it2j0y0, 0, lambda out, x: (1 - special.j0(x)) / x, lambda out, x: -special.y0(x) / x)
several(
    special.itairy,
    0,
    lambda out, x: special.airy(x)[0],
    lambda out, x: special.airy(x)[2],
    lambda out, x: special.airy(-x)[0],
    lambda out, x: special.airy(-x)[2],
)
elementwise(special.itstruve0, lambda out, x: special.struve(0.0, x))
elementwise(special.itmodstruve0, lambda out, x: special.modstruve(0.0, x))
elementwise(special.it2struve0, lambda out, x: -special.struve(0.0, x) / x)

# --- Wright's function ------------------------------------------------------------------------------------------------

elementwise(
    special.wright_bessel,
    without("wright_bessel", "first parameter"),
    without("wright_bessel", "second parameter"),
    lambda out, a, b, x: special.wright_bessel(a, a + b, x),
)
if hasattr(special, "log_wright_bessel"):
    elementwise(
        special.log_wright_bessel,
        without("log_wright_bessel", "first parameter"),
        without("log_wright_bessel", "second parameter"),
        lambda out, a, b, x: np.exp(special.log_wright_bessel(a, a + b, x) - out),
    )
