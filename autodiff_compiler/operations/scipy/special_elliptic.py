"""`scipy.special`: elliptic integrals and functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from ...kernels.scipy.special_elliptic import carlson, first_by_parameter, second_by_parameter
from .. import lib
from ..lib import call
from ..record import elementwise, vjp
from .special_lib import kernel, several

# --- Carlson's symmetric forms ----------------------------------------------------------------------------------------
# All are integrals of products of powers of t + x, t + y ..., and so are their derivatives: see the kernel.

kernel(carlson, "x y z p", "powers")


def _carlson_rule(k: int) -> Any:
    def rule(g: Any, out: Any, powers: Any, *points: Any) -> Any:
        more = tuple([a + (j == k) for j, a in enumerate(powers)])
        return g * (-powers[k] * call(carlson, more, *points))

    return rule


for _k, _point in enumerate(("x", "y", "z", "p")):
    vjp(carlson, _point, symmetric=True)(_carlson_rule(_k))


def _form(what: str, factor: float, powers: tuple[float, ...], k: int) -> Any:
    """The derivative of ``factor * carlson(powers)`` by point number `k`."""
    more = tuple([a + (j == k) for j, a in enumerate(powers)])

    def partial(out: Any, *points: Any) -> Any:
        lib.need_real(what, *points)
        return -factor * powers[k] * call(carlson, more, *points, *[1.0] * (4 - len(points)))

    return partial


def _first(x: Any, y: Any, z: Any) -> Any:
    return -1 / 6 * special.elliprd(y, z, x)


elementwise(
    special.elliprf,
    lambda out, x, y, z: _first(x, y, z),
    lambda out, x, y, z: _first(y, z, x),
    lambda out, x, y, z: _first(z, x, y),
)
elementwise(
    special.elliprc,
    lambda out, x, y: _first(x, y, y),
    lambda out, x, y: 2 * _first(y, y, x),
)
elementwise(special.elliprd, *[_form("scipy.special.elliprd", 1.5, (0.5, 0.5, 1.5, 0.0), k) for k in range(3)])
elementwise(special.elliprj, *[_form("scipy.special.elliprj", 1.5, (0.5, 0.5, 0.5, 1.0), k) for k in range(4)])


def _third(x: Any, y: Any, z: Any) -> Any:
    return 0.25 * special.elliprf(x, y, z) - 1 / 12 * x * special.elliprd(y, z, x)


elementwise(
    special.elliprg,
    lambda out, x, y, z: _third(x, y, z),
    lambda out, x, y, z: _third(y, z, x),
    lambda out, x, y, z: _third(z, x, y),
)

# --- Legendre's forms -------------------------------------------------------------------------------------------------

elementwise(special.ellipk, lambda out, m: 1 / 6 * special.elliprd(0.0, 1.0, 1 - m))
elementwise(special.ellipkm1, lambda out, p: -1 / 6 * special.elliprd(0.0, 1.0, p))
elementwise(special.ellipe, lambda out, m: -1 / 6 * special.elliprd(0.0, 1 - m, 1.0))


def _root(phi: Any, m: Any) -> Any:
    return np.sqrt(1 - m * np.square(np.sin(phi)))


for _slope in (first_by_parameter, second_by_parameter):
    kernel(_slope, "phi m", "n")

    def _next(g: Any, out: Any, n: Any, phi: Any, m: Any, fn: Any = _slope) -> Any:
        return g * call(fn, n + 1, phi, m)

    vjp(_slope, "m", symmetric=True)(_next)


def _rising(n: int) -> float:
    """The product of 1/2, 3/2 ... with `n` factors."""
    return float(np.prod(np.arange(n) + 0.5))


@vjp(first_by_parameter, "phi", symmetric=True)
def _first_by_angle(g: Any, out: Any, n: Any, phi: Any, m: Any) -> Any:
    # the integrand (1 - m sin**2) ** (-1 / 2), differentiated n times by m
    sine = np.sin(phi)
    return g * (_rising(n) * sine ** (2 * n) / _root(phi, m) ** (2 * n + 1))


@vjp(second_by_parameter, "phi", symmetric=True)
def _second_by_angle(g: Any, out: Any, n: Any, phi: Any, m: Any) -> Any:
    # the integrand (1 - m sin**2) ** (1 / 2), differentiated n times by m
    sine = np.sin(phi)
    return g * (-0.5 * _rising(n - 1) * sine ** (2 * n) / _root(phi, m) ** (2 * n - 1))


elementwise(
    special.ellipkinc, lambda out, phi, m: 1 / _root(phi, m), lambda out, phi, m: call(first_by_parameter, 1, phi, m)
)
elementwise(
    special.ellipeinc, lambda out, phi, m: _root(phi, m), lambda out, phi, m: call(second_by_parameter, 1, phi, m)
)

# --- Jacobi's functions -----------------------------------------------------------------------------------------------

several(
    special.ellipj,
    0,
    lambda out, u, m: out[1] * out[2],
    lambda out, u, m: -out[0] * out[2],
    lambda out, u, m: -m * out[0] * out[1],
    lambda out, u, m: out[2],
)


def _amplitude(out: Any, m: Any) -> Any:
    """The derivative of the amplitude by the parameter; u = ellipkinc(amplitude, m) stays."""
    return -out[2] * call(first_by_parameter, 1, out[3], m)


several(
    special.ellipj,
    1,
    lambda out, u, m: out[1] * _amplitude(out, m),
    lambda out, u, m: -out[0] * _amplitude(out, m),
    lambda out, u, m: -out[0] * (0.5 * out[0] + m * out[1] * _amplitude(out, m)) / out[2],
    lambda out, u, m: _amplitude(out, m),
)
