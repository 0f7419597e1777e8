"""`numpy.polynomial`, and the functions of `np.poly1d`: NumPy's own Python is what is differentiated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.polynomial import Chebyshev, Hermite, HermiteE, Laguerre, Legendre, Polynomial
from numpy.polynomial import chebyshev as C
from numpy.polynomial import hermite as H
from numpy.polynomial import hermite_e as E
from numpy.polynomial import laguerre as A
from numpy.polynomial import legendre as L
from numpy.polynomial import polynomial as P

import autodiff_compiler as ad
from tests.differences import differences

X = np.array([0.7, 1.3, 0.4])
T = np.linspace(-1.0, 1.0, 9)
QUADRATIC = Polynomial([1.0, 2.0, 3.0])
ON_AN_INTERVAL = Chebyshev([1.0, -1.0, 0.5], domain=[0, 2])
OLD = np.poly1d([1.0, 2.0, 3.0])

FUNCTIONS: dict[str, Any] = {
    "polyadd": lambda x: np.polyadd(x, x[:2]),
    "polysub": lambda x: np.polysub(x, x[:2] ** 2),
    "polymul": lambda x: np.polymul(x, x[:2]),
    "polydiv": lambda x: np.concatenate(np.polydiv(x, x[:2])),
    "polyder": lambda x: np.concatenate([np.polyder(x), np.polyder(x, 2), np.polyder(x, 0), np.polyder(x, 3)]),
    "polyint": lambda x: np.concatenate([np.polyint(x), np.polyint(x, 2, k=[1.0, 2.0]), np.polyint(x, 2, k=x[0])]),
    "of an old polynomial": lambda x: np.polyadd(OLD, x)(x) + np.polymul(OLD, x)(0.5) + np.polyder(OLD)(x),
    "P.polyval": lambda x: P.polyval(x, x) + P.polyval(0.3, x),
    "P.polyval of matrices": lambda x: (
        P.polyval(np.outer(x, x), np.stack([x, x**2])) + P.polyval2d(x, x, np.outer(x, x))
    ),
    "P.polyder": lambda x: np.concatenate([P.polyder(x), P.polyder(np.outer(x, x), axis=1)[0]]),
    "P.polyint": lambda x: np.concatenate([P.polyint(x, 2, k=[1.0, 2.0], lbnd=0.5), P.polyint(x)]),
    "P.polymul": lambda x: np.concatenate([P.polymul(x, x[:2]), P.polyadd(x, x[:2]), P.polysub(x, x**2)]),
    "P.polydiv": lambda x: np.concatenate(P.polydiv(x, x[:2])),
    "P.polypow": lambda x: P.polypow(x, 3),
    "P.polyroots": lambda x: np.abs(P.polyroots(x)),
    "P.polyfromroots": lambda x: np.concatenate([P.polyfromroots(x), P.polyvalfromroots(x**2, x)]),
    "P.polyvander": lambda x: P.polyvander(x, 3),
    "P.polyfit": lambda x: np.concatenate(
        [P.polyfit(x, x**3, 2), P.polyfit(T, np.cos(x[0] * T) + x[1], [0, 2], w=T + 2)]
    ),
    "C.chebval": lambda x: C.chebval(x, x) + C.chebval(0.3, x) + C.chebval2d(x, x, np.outer(x, x)),
    "C.chebder": lambda x: np.concatenate([C.chebder(x), C.chebint(x), C.chebmul(x, x), C.chebvander(x, 2)[0]]),
    "C.cheb2poly": lambda x: np.concatenate([C.cheb2poly(x), C.poly2cheb(x), np.abs(C.chebroots(x))]),
    "C.chebfit": lambda x: C.chebval(T, C.chebfit(T, np.exp(x[0] * T) + x[1], 4)),
    "L.legval": lambda x: np.concatenate([L.legval(x, x), L.legder(x), L.legint(x), L.legmul(x, x)]),
    "L.legfit": lambda x: np.concatenate([L.legfit(T, T**2 * x[0] + x[1] * x[2], 2), L.legvander(x, 3)[1]]),
    "L.leggauss": lambda x: np.sum(L.leggauss(5)[1] * np.exp(x[0] * L.leggauss(5)[0])) * x,
    "H.hermval": lambda x: np.concatenate([H.hermval(x, x), H.hermder(x), E.hermeval(x, x), E.hermeint(x)]),
    "A.lagval": lambda x: np.concatenate([A.lagval(x, x), A.lagder(x), A.lagint(x), A.lagmul(x, x[:2])]),
    "a constant Polynomial": lambda x: QUADRATIC(x) * x + ON_AN_INTERVAL(x) ** 2,
    "derivatives of constants": lambda x: QUADRATIC.deriv()(x) + ON_AN_INTERVAL.integ()(x[0]),
    "Polynomial": lambda x: Polynomial(x)(x) + Polynomial(x).deriv()(0.3) + (-Polynomial(x)).integ(lbnd=0.1)(0.7),
    "operators": lambda x: (Polynomial(x) * Polynomial([1.0, 2.0]) + 3.0 - 2.0 * Polynomial(x))(x),
    "more operators": lambda x: (2.0 - Polynomial(x))(0.5) * (Polynomial(x) ** 2 / 2.0)(x),
    "quotients": lambda x: (Polynomial(x) // Polynomial([1.0, 2.0]))(0.2) + (Polynomial(x) % Polynomial(x[:2]))(x),
    "the parts": lambda x: (
        Chebyshev(x).coef * Chebyshev(x).degree() + len(Legendre(x)) + sum(c**2 for c in Polynomial(x))
    ),
    "roots": lambda x: np.abs(Polynomial(x).roots()) ** 2,
    "fromroots": lambda x: Polynomial.fromroots(x)(x**2),
    "Polynomial.fit": lambda x: (
        Polynomial.fit(x, x**3, 2)(x) + Polynomial.fit(T, T * x[0] + x[1], 1, domain=[0, 2]).coef[0]
    ),
    "Chebyshev.fit": lambda x: Chebyshev.fit(T, np.exp(x[0] * T) + x[1], 4).deriv()(T),
    "basis": lambda x: Chebyshev.basis(3)(x) * x[1] + Chebyshev.interpolate(np.sin, 4)(x),
    "other kinds": lambda x: Hermite(x)(x) + HermiteE(x)(x) + Laguerre(x)(x) + Legendre(x, domain=[0.0, 2.0])(x),
    "linspace": lambda x: Polynomial(x).linspace(5)[1],
    "cut": lambda x: Polynomial(x).cutdeg(1)(x) + Polynomial(x).truncate(2)(0.3),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients(name: str) -> None:
    function = FUNCTIONS[name]

    def loss(x):
        return np.sum(np.sin(function(x)))

    value, gradient = ad.value_and_grad(loss)(X)
    assert value == loss(X)
    np.testing.assert_allclose(gradient, differences(loss, X), rtol=1e-6, atol=1e-7)
    direction = np.array([1.0, -0.5, 0.25])
    np.testing.assert_allclose(ad.jvp(loss, (X,), (direction,))[1], gradient @ direction, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["polydiv", "P.polyval", "C.chebval", "operators", "Polynomial.fit", "roots"])
def test_second_derivatives(name: str) -> None:
    def loss(x):
        return np.sum(np.sin(FUNCTIONS[name](x)))

    found = ad.hessian(loss)(X)
    wanted = np.array([differences(lambda x, k=k: ad.grad(loss)(x)[k], X) for k in range(3)])
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_a_coefficient_that_is_dropped() -> None:
    """NumPy drops highest coefficients that are zero. What is computed of the others would have no derivative by it."""
    x = np.array([0.7, 1.3, 0.0])

    def product(x):
        return np.sum(P.polymul(x, np.array([1.0, 2.0])) ** 2)

    with pytest.raises(ad.RuleLookupError, match="highest coefficient that is zero"):
        ad.grad(product)(x)
    with pytest.raises(ad.RuleLookupError, match="highest coefficient that is zero"):
        ad.jvp(product, (x,), (x,))
    gradient = ad.grad(lambda x: P.polyval(2.0, x) ** 2)(x)  # drops none
    np.testing.assert_allclose(gradient, 2.0 * P.polyval(2.0, x) * np.array([1.0, 2.0, 4.0]))
    gradient = ad.grad(lambda x: np.sum(P.polymul(x, np.array([1.0, 2.0, 0.0]))))(X)  # one that does not depend on x
    np.testing.assert_allclose(gradient, [3.0, 3.0, 3.0])


def test_a_polynomial_is_returned() -> None:
    value, tangent = ad.jvp(lambda x: Polynomial(x), (X,), (X,))
    assert isinstance(value, Polynomial)
    np.testing.assert_array_equal(value.coef, X)
    np.testing.assert_array_equal(tangent.coef, X)


def test_kinds_are_not_converted() -> None:
    with pytest.raises(ad.UnsupportedError, match="one kind of polynomial made of another"):
        ad.grad(lambda x: np.sum(Legendre(x).convert(kind=Polynomial).coef))(X)
