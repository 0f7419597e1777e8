"""`scipy.special` at the edges of domains, on complex numbers, on the tape, and what is refused."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import special

import autodiff_compiler as ad
from autodiff_compiler.errors import RuleLookupError
from autodiff_compiler.operations.check import numeric_gradient
from tests.differences import differences

INF = np.inf


def of(*x: float) -> Any:
    return np.array(x, float)


def xlogy(x: Any, y: Any) -> Any:
    return np.sum(special.xlogy(x, y))


def xlog1py(x: Any, y: Any) -> Any:
    return np.sum(special.xlog1py(x, y))


def entr(x: Any) -> Any:
    return np.sum(special.entr(x))


def rel_entr(x: Any, y: Any) -> Any:
    return np.sum(special.rel_entr(x, y))


def kl_div(x: Any, y: Any) -> Any:
    return np.sum(special.kl_div(x, y))


def logsumexp(x: Any) -> Any:
    return special.logsumexp(x)


def weighted(x: Any, b: Any) -> Any:
    return special.logsumexp(x, b=b)


def softmax(x: Any) -> Any:
    return special.softmax(x)[1]


def log_softmax(x: Any) -> Any:
    return special.log_softmax(x)[1]


def betainc(a: Any, b: Any, x: Any) -> Any:
    return np.sum(special.betainc(a, b, x))


def gammainc(a: Any, x: Any) -> Any:
    return np.sum(special.gammainc(a, x))


def bessel(x: Any) -> Any:
    return np.sum(special.jv(0, x) + special.jv(1, x) + special.iv(0, x) + special.iv(1.0, x))


def i0e(x: Any) -> Any:
    return np.sum(special.i0e(x))


def logit(x: Any) -> Any:
    return np.sum(special.logit(x))


def inverses(x: Any) -> Any:
    return np.sum(special.ndtri(0.5 + 0.5 * x) + special.erfinv(x))


def lambertw(x: Any) -> Any:
    return np.sum(special.lambertw(x).real)


def huber(delta: Any, x: Any) -> Any:
    return np.sum(special.huber(delta, x))


def chosen(x: Any) -> Any:
    return np.sum(np.where(x > 0, special.entr(x) + special.logit(x), 0.0))


def stdtr(v: Any, x: Any) -> Any:
    return np.sum(special.stdtr(v, x))


def integrals(x: Any) -> Any:
    return np.sum(special.sinc(x) + special.sici(x)[0] + special.shichi(x)[0])


def tklmbda(x: Any) -> Any:
    return np.sum(special.tklmbda(x, 0.5))


def spence(x: Any) -> Any:
    return np.sum(special.spence(x))


EDGES: list[tuple[Any, tuple[Any, ...], tuple[Any, ...]]] = [
    (xlogy, (of(0, 0, 2), of(0, 3, 0)), (of(-INF, np.log(3), -INF), of(0, 0, INF))),
    (xlog1py, (of(0, 0, 2), of(-1, 3, -1)), (of(-INF, np.log(4), -INF), of(0, 0, INF))),
    (entr, (of(0, 1),), (of(INF, -1),)),
    (rel_entr, (of(0, 1), of(1, 0)), (of(-INF, INF), of(0, -INF))),
    (kl_div, (of(0, 1), of(1, 0)), (of(-INF, INF), of(1, -INF))),
    (logsumexp, (of(1, 1, 1),), (of(1 / 3, 1 / 3, 1 / 3),)),
    (logsumexp, (of(-INF, 1, 1),), (of(0, 0.5, 0.5),)),
    (logsumexp, (of(1000, 1000, -1000),), (of(0.5, 0.5, 0),)),
    (weighted, (of(1, 1, 1), of(1, 0, 1)), (of(0.5, 0, 0.5), of(0.5, 0.5, 0.5))),
    (softmax, (of(-INF, 0, 0),), (of(0, 0.25, -0.25),)),
    (log_softmax, (of(-INF, 0, 0),), (of(0, 0.5, -0.5),)),
    (betainc, (of(1, 2, 2, 1), of(1, 2, 2, 1), of(0, 0, 1, 1)), (of(0, 0, 0, 0), of(0, 0, 0, 0), of(1, 0, 0, 1))),
    (betainc, (of(0.5, 0.5), of(0.5, 0.5), of(0, 1)), (of(0, 0), of(0, 0), of(INF, INF))),
    (gammainc, (of(1, 2, 0.5), of(0, 0, 0)), (of(0, 0, 0), of(1, 0, INF))),
    (bessel, (of(0),), (of(1),)),
    (i0e, (of(0, 1e10),), (of(0, -0.5 * special.i0e(1e10) * 1e-10),)),
    (logit, (of(0, 1, 0.5),), (of(INF, INF, 4),)),
    (inverses, (of(1, 0),), (of(INF, 0.5 * np.sqrt(2 * np.pi) + 0.5 * np.sqrt(np.pi)),)),
    (lambertw, (of(0),), (of(1),)),
    (huber, (of(1, 1, -1), of(1, -2, 1)), (of(0, 1, np.nan), of(1, -1, np.nan))),
    (chosen, (of(0, 0.5),), (of(0, 4 - 1 + np.log(2)),)),
    (stdtr, (of(3, 3, 3), of(0, INF, -1e200)), (of(0, 0, 0), of(special.beta(0.5, 1.5) ** -1 / np.sqrt(3), 0, 0))),
    (integrals, (of(0),), (of(2),)),
    (tklmbda, (of(-3, 3),), (of(0, 0),)),
    (spence, (of(1, 0),), (of(-1, -INF),)),
]


@pytest.mark.parametrize("f, args, want", EDGES, ids=lambda x: getattr(x, "__name__", ""))
def test_edges(f: Any, args: tuple[Any, ...], want: tuple[Any, ...]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ad.grad(f, argnums=tuple(range(len(args))))(*args)
    for have, expected in zip(found, want, strict=True):
        np.testing.assert_allclose(have, expected, rtol=1e-9, atol=1e-12)


def test_second_derivatives_at_removable_singularities() -> None:
    def f(x):
        return np.sum(special.spence(1 + x) + special.exprel(x) + special.shichi(x)[0] + special.boxcox(2.0, x))

    second = ad.grad(lambda x: np.sum(ad.grad(f)(x)))(np.zeros(1))
    # log(z) / (1 - z) = -1 + (z - 1) / 2 ..., exprel'' = 1/3, sinh(x) / x is even
    np.testing.assert_allclose(second, [0.5 + 1 / 3 + np.log(2.0) ** 3 / 3])


# --- complex numbers --------------------------------------------------------------------------------------------------


def all_complex(z: Any) -> Any:
    a = special.gamma(z) * special.erf(z) + special.loggamma(z) * special.rgamma(z) + special.wofz(z)
    b = special.jv(1, z) + special.iv(0, z) * special.kv(2, z) + special.hankel1(1, z) + special.lambertw(z)
    c = (
        special.hyp2f1(0.7, 1.2, 1.9, 0.3 * z)
        + special.spence(z)
        + special.expi(z)
        + special.exp1(z)
        + special.log_ndtr(z)
    )
    d = special.erfcx(z) + special.dawsn(z) + special.xlogy(z, z) + special.eval_legendre(3, z)
    return np.sum(np.abs(a + b + c + d + special.airy(z)[2]))


def test_complex() -> None:
    z = np.array([0.4 + 0.3j, 1.2 - 0.7j])
    np.testing.assert_allclose(ad.grad(all_complex)(z), numeric_gradient(all_complex, z), rtol=1e-6)


def test_real_argument_of_complex_function() -> None:
    def f(x):
        return np.sum(np.abs(special.wofz(x)) + special.lambertw(x).real)

    x = np.array([0.4, 1.3])
    found = ad.grad(f)(x)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, differences(f, x), rtol=1e-6)


def test_not_holomorphic() -> None:
    def f(z):
        return np.sum(np.abs(special.jve(0, z)))

    with pytest.raises(RuleLookupError, match=r"scipy\.special\.jve is known for real operands only"):
        ad.grad(f)(np.array([1 + 1j]))


# --- in programs ------------------------------------------------------------------------------------------------------


def test_numbers() -> None:
    def f(x):
        sn, _, dn, _ = special.ellipj(x, 0.3)
        value, sign = special.logsumexp(np.array([x, 2 * x]), b=np.array([1.0, -3.0]), return_sign=True)
        return sn * dn + value * sign + special.polygamma(1, x) + special.spherical_jn(2, x) + special.zeta(x, 2.0)

    np.testing.assert_allclose(ad.grad(f)(1.7), differences(f, 1.7), rtol=1e-6)
    _, tangent = ad.jvp(f, (1.7,), (1.0,))
    np.testing.assert_allclose(tangent, differences(f, 1.7), rtol=1e-6)


def test_float32() -> None:
    def f(x):
        return np.sum(special.gammaln(x) + special.erfcx(x) + special.stdtr(3.0, x) + special.ndtr(x))

    x = np.array([0.5, 2.0], np.float32)
    found = ad.grad(f)(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, ad.grad(f)(x.astype(float)), rtol=1e-5)


def test_tape() -> None:
    x = ad.Variable(np.array([0.5, 1.5]))
    with ad.GradientTape() as outer:
        with ad.GradientTape() as tape:
            y = np.sum(special.gammainc(x, 1.0) * special.jv(x, 2.0) + special.fresnel(x)[1])
        first = tape.gradient(y, x)
        total = np.sum(first)
    assert np.shape(outer.gradient(total, x)) == (2,)

    def f(v):
        return np.sum(special.gammainc(v, 1.0) * special.jv(v, 2.0) + special.fresnel(v)[1])

    np.testing.assert_allclose(first, differences(f, np.array([0.5, 1.5])), rtol=1e-6)


def test_unused_results_are_dropped() -> None:
    def f(x):
        return np.sum(special.gammaln(x))

    assert "gammaln(x)\n" not in ad.grad(f).source(np.ones(2))


def test_nothing_depends_on_what_is_rounded() -> None:
    def f(x):
        return np.sum(special.round(x) * x + special.gammasgn(x) * x + special.bdtr(x, 5, 0.3))

    np.testing.assert_array_equal(ad.grad(f)(np.array([0.4, 2.6])), [1.0, 4.0])


# --- refusals ---------------------------------------------------------------------------------------------------------


def degree(x: Any) -> Any:
    return np.sum(special.eval_legendre(x, 0.3))


def order(x: Any) -> Any:
    return np.sum(special.polygamma(x, 0.3))


def harder(x: Any) -> Any:
    return np.sum(special.struve(x, 0.3))


def mixed(a: Any) -> Any:
    return np.sum(special.hyp1f1(a, 2.0, 0.3))


@pytest.mark.parametrize(
    "f, message",
    [
        (degree, "scipy.special.eval_legendre has no derivative with respect to its degree, which is a whole number"),
        (order, "scipy.special.polygamma has no derivative with respect to its order, which is a whole number"),
        (harder, "the derivative of scipy.special.struve with respect to its order is not known to the compiler"),
        (lambda a: np.sum(ad.grad(mixed)(a)), "the second derivative of scipy.special.hyp1f1 by its parameters"),
    ],
    ids=["degree", "order", "struve", "second"],
)
def test_refusals(f: Any, message: str) -> None:
    with pytest.raises(RuleLookupError, match=re.escape(message)) as caught:
        ad.grad(f)(np.array([1.5, 2.5]))
    assert "special." in str(caught.value).splitlines()[1]
