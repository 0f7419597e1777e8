"""Taylor coefficients: against mpmath, nested derivatives and `jvp`, which find them in other ways."""

from __future__ import annotations

import math
import pickle
from typing import Any

import mpmath
import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.api.series import Taylor
from autodiff_compiler.errors import ArgumentError, IntegerArgumentError, RuleLookupError, UnsupportedError
from autodiff_compiler.families import known_versions

A = np.array([[3.0, 1.0, 0.5], [1.0, 4.0, 0.2], [0.5, 0.2, 5.0]])
B = np.array([[1.0, 0.3, 0.2], [0.5, 2.0, 0.1], [0.3, 0.7, 1.0]])
V = np.array([0.3, 0.5, 0.7])
W = np.array([1.2, 0.4, 2.0])


def nested(f: Any, t: Any, k: int) -> list[Any]:
    """The same by repeated `derivative`."""
    found, derived = [f(t)], f
    for j in range(1, k + 1):
        derived = ad.derivative(derived)
        found.append(np.asarray(derived(t)) / math.factorial(j))
    return found


def same(a: Any, b: Any, rtol: float = 1e-9) -> None:
    assert len(a) == len(b)
    for x, y in zip(a, b):
        np.testing.assert_allclose(x, y, rtol=rtol, atol=1e-12)


# --- composites of scalars, to order 8 --------------------------------------------------------------------------------


def smooth(x: Any, m: Any) -> Any:
    y = m.sin(x) * m.exp(-x * x) + m.tanh(x) / (1 + x**2)
    return m.sqrt(1 + y * y) * m.log(2 + x) + x**2.5


def inverse(x: Any, m: Any) -> Any:
    return m.atan(x) * m.asin(x) / m.cosh(x) + m.acos(x) ** 3 + m.asinh(x) * m.tan(x) * m.atanh(x) + m.sinh(x)


def exponents(x: Any, m: Any) -> Any:
    return (1 + x) ** m.cos(x) + 2**x + x**-3 + m.erf(x) * m.log10(x) + m.acosh(2 + x) + m.expm1(x) * m.log1p(x)


@pytest.mark.parametrize("f", [smooth, inverse, exponents])
def test_order_eight_is_that_of_mpmath(f: Any) -> None:
    want = mpmath.taylor(lambda x: f(x, mpmath), mpmath.mpf(0.6), 8)
    same(ad.taylor(lambda x: f(x, math), 0.6, 1.0, 8), [float(c) for c in want], 1e-8)


# --- rules ------------------------------------------------------------------------------------------------------------

RULES = [
    lambda t: np.exp2(t) * np.log2(1 + t) - np.cbrt(t) + np.square(np.reciprocal(t)) + np.log10(t),
    lambda t: np.arccosh(1 + t) * np.arctanh(0.3 * t) * np.arcsinh(t) + np.arccos(0.2 * t) + np.expm1(t),
    lambda t: np.power(V * t + W, 2.5) + (V + t) ** (W * t) + np.power(V * t, 3) + (V * t) ** -2,
    lambda t: np.maximum(np.sin(t) * V, 0.2 * t) - np.minimum(np.exp(t) * V, t) + np.fmax(V * t * t, 0.3),
    lambda t: np.where(V > 0.4, np.exp(t * V), V * np.sin(t)) + np.clip(t * t * V, 0.15, 0.25) + np.abs(V * t**3 - 0.2),
    lambda t: np.hypot(np.exp(t), V) + np.arctan2(np.sin(t), t + V) + np.logaddexp(t * V, t * t) - np.copysign(t, V),
    lambda t: max(t, 2 * t, t * t) * min(t, t**3) + math.hypot(t, 1.0, t * t) + t % 0.3 + math.fabs(-t * t),
    lambda t: (A * t + B) @ (V * np.sin(t)) + np.dot(V * t, W * np.exp(t)) * (A.T @ (V * t * t)),
    lambda t: np.outer(V * np.exp(t), W * np.sin(t)) + np.tensordot(A * t, B * np.exp(t), 1) + np.inner(A, B * t * t),
    lambda t: np.einsum("ij,jk,k->i", A * np.sin(t), B * np.exp(t), V * t) + np.einsum("ij,ij->", A * t, A * np.exp(t)),
    lambda t: np.convolve(V * np.exp(t), W * np.sin(t))[1:4] + np.cumsum(np.exp(V * t)) + np.diff(np.exp(A * t))[0, 1],
    lambda t: np.prod(np.exp(V * t) - V) + np.cumprod(np.sin(V * t)) + np.mean(np.exp(A * t), axis=0),
    lambda t: np.std(np.exp(V * t)) + np.var(np.sin(W * t)) + np.max(np.exp(V * t)) + np.sort(np.sin(-W * t)),
    lambda t: np.linalg.solve(A + B * np.sin(t), V * np.exp(t)) + np.linalg.solve(A + B * t, B * t)[0],
    lambda t: np.linalg.inv(A + B * t)[1] + np.linalg.det(A + B * np.sin(t)) + np.linalg.slogdet(A + B * t)[1],
    lambda t: np.linalg.cholesky(A + np.eye(3) * t)[2] + np.linalg.eigvalsh(A + B * t) + np.linalg.norm(V * np.exp(t)),
    lambda t: np.concatenate([V[:1] * np.sin(t), np.stack([t, t * t])]) + np.array([t, 1.0, t * t]) * np.flip(V),
    lambda t: np.real(np.exp(1j * t * V) * np.conj(np.exp(2j * t))) + np.abs(np.exp(1j * t) * V + 1),
    lambda t: ad.nn.sigmoid(np.exp(t) * V) + ad.nn.softmax(np.sin(t) * V) + ad.nn.softplus(t * V) + ad.nn.gelu(t * V),
    lambda t: np.sinc(t * V) + np.interp(t * t, V, W) * t + np.round(t) * t + np.nan_to_num(t * t) + np.heaviside(t, 1),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(RULES)))
def test_rules_are_those_of_nested_derivatives(number: int) -> None:
    same(ad.taylor(RULES[number], 0.8, 1.0, 3), nested(RULES[number], 0.8, 3))


def test_functions_of_scipy() -> None:
    special, linalg = pytest.importorskip("scipy.special"), pytest.importorskip("scipy.linalg")
    if known_versions():
        pytest.skip("the derivatives of this version of SciPy are not known")

    def of_numbers(t: Any) -> Any:
        return (
            special.erf(t) * special.gammaln(t + V) + special.expit(t * V) * special.jv(2, t) + special.xlogy(t, t + V)
        )

    def of_matrices(t: Any) -> Any:
        lower = linalg.solve_triangular(np.tril(A + B * t), V * np.exp(t), lower=True)
        return lower + linalg.solve(A + B * np.sin(t), V * t) + linalg.solve_triangular(A + B * t, V, trans=1)

    for f in (of_numbers, of_matrices):
        same(ad.taylor(f, 0.8, 1.0, 3), nested(f, 0.8, 3))


# --- programs ---------------------------------------------------------------------------------------------------------


def loop(x: Any) -> Any:
    for k in range(3):
        x = np.sin(x) * x + k
    return x


def stores(x: Any) -> Any:
    y = x.copy()
    for k in range(1, 3):
        y[k] = y[k - 1] * x[k]
        if y[k] > 0.3:
            y[k] = np.sqrt(y[k])
        y[:2] += y[1:] * x[0]
    return y, np.max(x)


def left(x: Any) -> Any:
    h = x
    while np.sum(h * h) > 0.5:
        h = h * np.exp(-h * 0.3)
        if h[0] > 0.9:
            break
    return h


def recursive(x: Any, n: int = 3) -> Any:
    return x if n == 0 else x * recursive(np.sin(x), n - 1)


def helper(x: Any, p: Any) -> Any:
    return {"y": np.tanh(p @ x), "n": 3, "s": [np.sum(x) ** 2]}


def helped(x: Any) -> Any:
    return helper(x * x, A)


def caught(x: Any) -> Any:
    try:
        y = np.exp(x) * x
        if x[0] > 5.0:
            raise ValueError("large")
    except ValueError:
        y = x
    return y


def listed(x: Any) -> Any:
    found = []
    for k in range(3):
        found.append(x[k] ** 2)
    total = 1.0
    while found:
        total = total * np.exp(found.pop())
    return total


def parts(x: Any) -> list[Any]:
    """The arrays in a result."""
    if isinstance(x, dict):
        x = list(x.values())
    if isinstance(x, (list, tuple)):
        return [leaf for item in x for leaf in parts(item)]
    return [x]


X, D = np.array([0.3, 0.8, 1.4]), np.array([1.0, -0.5, 0.25])
PROGRAMS = [loop, stores, left, recursive, helped, caught, listed]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: str(f.__name__))
def test_programs(f: Any) -> None:
    found = ad.taylor(f, X, D, 3)
    value, tangent = ad.jvp(f, (X,), (D,))
    for a, b in ((found[0], value), (found[1], tangent)):
        for x, y in zip(parts(a), parts(b), strict=True):
            assert (x is y is None) or np.asarray(x).dtype == np.asarray(y).dtype
            assert x is None or np.testing.assert_allclose(x, y, rtol=1e-12) is None

    def along(t: Any) -> Any:
        y = f(X + t * D)
        return y["y"] if f is helped else y[0] if f is stores else y

    same([c["y"] if f is helped else c[0] if f is stores else c for c in found], nested(along, 0.0, 3))


def test_dtypes_and_shapes_are_those_of_the_result() -> None:
    x, d = X.astype(np.float32), D.astype(np.float32)
    for c in ad.taylor(lambda x: np.exp(x) * x**3 / (1 + x * x) + 2.5**x, x, d, 4):
        assert c.dtype == np.float32 and c.shape == (3,)
    found = ad.taylor(lambda x: np.sum(np.sqrt(x)), x, d, 3)
    assert [type(c) for c in found] == [np.float32] * 4
    assert all(type(c) is float for c in ad.taylor(lambda t: 3 * t * t, 2.0, 1.0, 3))


def test_containers_and_integers() -> None:
    def f(p: Any) -> Any:
        return {"y": p["w"] @ p["b"][0] * p["n"], "n": p["n"]}

    p = {"w": A, "b": (V, 2.0), "n": 3}
    found = ad.taylor(f, p, {"w": B, "b": (W, 0.0), "n": None}, 3)
    same([c["y"] for c in found], [3 * A @ V, 3 * (A @ W + B @ V), 3 * B @ W, 0 * V])
    assert [c["n"] for c in found] == [3, None, None, None]


def test_complex_arguments() -> None:
    z, d = np.array([0.3 + 0.4j, 1.0 - 0.2j]), np.array([1.0 + 1.0j, 0.5j])

    def f(z: Any) -> Any:
        return np.exp(z) * np.conj(z) + np.abs(z) ** 2 / z

    same(ad.taylor(f, z, d, 3), nested(lambda t: f(z + t * d), 0.0, 3))


def test_order_zero_is_the_value() -> None:
    assert ad.taylor(lambda x: x * x, 3.0, 1.0, 0) == [9.0]


# --- kinks and singular points ----------------------------------------------------------------------------------------

AT_ZERO = [
    lambda x: x**3 + x**2 + x**1 + x**0,
    lambda x: np.power(x, 4) + np.float64(x) ** 1.5,
    lambda x: np.sqrt(np.float64(x)),
    lambda x: np.abs(x) ** 3 + abs(x),
    lambda x: np.maximum(x, 0.0) * x + max(x, 0.0) + np.clip(x, 0.0, 1.0),
    lambda x: np.where(x > 0, np.sqrt(x), 0.0),
    lambda x: np.sqrt(x * x),
    lambda x: np.sqrt(np.float64(x)) * np.sqrt(np.float64(x)),
    lambda x: np.prod(np.array([x, x, 2.0])),
    lambda x: np.sinc(x) + np.hypot(x, 0.0),
]


@pytest.mark.parametrize("number", range(len(AT_ZERO)))
def test_at_zero(number: int) -> None:
    with np.errstate(all="ignore"):
        same(ad.taylor(AT_ZERO[number], 0.0, 1.0, 3), nested(AT_ZERO[number], 0.0, 3))


def test_a_zero_that_was_chosen_is_not_taken_further() -> None:
    """``sqrt(x * x)**2`` is ``x * x``, but at 0 no recurrence knows."""
    with np.errstate(all="ignore"):
        assert math.isnan(ad.taylor(lambda x: np.sqrt(x * x) ** 2, 0.0, 1.0, 3)[3])


# --- size -------------------------------------------------------------------------------------------------------------


def lines(f: Any, k: int) -> int:
    return len(Taylor(f, 0, k).source(0.6).splitlines())


@pytest.mark.parametrize("f", [lambda x: np.exp(np.sin(x) * np.log(1 + x * x)), lambda x: (1 + x) ** np.tanh(x)])
def test_code_grows_as_a_polynomial(f: Any) -> None:
    """Twice the order: not much more than four times the lines."""
    few, some, many = (lines(f, k) for k in (3, 6, 12))
    assert some < 4.5 * few and many < 4.5 * some


def wrapped(derivative: Any, f: Any) -> Any:
    """One that is not the Taylor coefficient, since what it differentiates is a function of the user's."""
    return derivative(lambda x: f(x))


def polynomial(x: Any) -> Any:
    total = np.zeros(3)
    for k in range(3):
        total[k] = x ** (k + 1) * max(x, 0.3)
    return np.sum(total * total)


SMOOTH = [
    lambda x: np.exp(np.sin(x)) / (1 + x * x),
    lambda x: math.sqrt(x * x + 1.0) * math.tanh(x),
    lambda x: abs(x) ** 3 + np.maximum(x, 0.1) ** 4,
    lambda x: 3.0 * x,
    polynomial,
]


@pytest.mark.parametrize("f", SMOOTH)
@pytest.mark.parametrize("x", [0.7, -1.2, np.float64(0.4), np.float32(0.6)])
def test_repeated_derivatives(f: Any, x: Any) -> None:
    """Those of order 3 and more are Taylor coefficients, and agree with those taken one after the other."""
    for derivative in (ad.grad, ad.derivative):
        whole, single = f, f
        for _ in range(4):
            whole, single = derivative(whole), wrapped(derivative, single)
        found, want = whole(x), single(x)
        np.testing.assert_allclose(found, want, rtol=2e-4 if isinstance(x, np.float32) else 1e-9, atol=1e-9)
        assert isinstance(found, np.float32) == isinstance(x, np.float32)


def test_repeated_derivatives_are_short() -> None:
    """Lines for the derivatives of orders 3 to 6."""
    f, found = SMOOTH[0], []
    for order in range(1, 7):
        f = ad.grad(f)
        found.append(len(f.source(0.7).splitlines()))
    assert found[2:] == sorted(found[2:]) and found[-1] <= 36
    assert "24.0" in ad.grad(ad.grad(ad.grad(ad.grad(np.exp)))).ir(0.5).split("func")[-1]


def test_high_derivatives_of_sinc() -> None:
    """At zero, where each order has a limit of its own: pi**n * (-1)**(n / 2) / (n + 1) for even n."""
    f = np.sinc
    for order in range(1, 7):
        f = ad.derivative(f) if order < 3 else wrapped(ad.derivative, f)
        want = 0.0 if order % 2 else math.pi**order * (-1) ** (order // 2) / (order + 1)
        for x in (0.0, 1e-9):
            assert f(np.float64(x)) == pytest.approx(want, rel=1e-9, abs=1e-5)
        assert math.factorial(order) * ad.taylor(np.sinc, np.float64(0.0), 1.0, order)[order] == pytest.approx(want)


def test_repeated_derivatives_of_others() -> None:
    """By an array, of results that are arrays, with rules of their own, and with options: one after the other."""
    third = ad.derivative(ad.derivative(ad.derivative(lambda t: np.array([t**3, t**4]))))
    np.testing.assert_allclose(third(2.0), [6.0, 48.0])

    @ad.custom_jvp
    def cube(x: Any) -> Any:
        return x**3

    cube.defjvp(lambda primals, tangents: (primals[0] ** 3, 3.0 * primals[0] ** 2 * tangents[0]))
    assert ad.grad(ad.grad(ad.grad(lambda x: cube(x) * x)))(2.0) == pytest.approx(48.0)
    with pytest.raises(ad.AutodiffError, match="scalar"):
        ad.grad(ad.grad(ad.grad(lambda x: np.sum(x**3))))(np.ones(2))
    value, slope = ad.value_and_grad(ad.grad(ad.grad(ad.grad(lambda x: x**5))))(2.0)
    assert (value, slope) == (pytest.approx(240.0), pytest.approx(240.0))
    assert ad.grad(ad.grad(ad.grad(lambda a, x: a * x**4, "x"), "x"), "x")(2.0, 1.0) == pytest.approx(48.0)
    assert ad.hessian(ad.grad(ad.grad(ad.grad(lambda x: x**5))))(2.0) == pytest.approx(120.0)
    again = pickle.loads(pickle.dumps(ad.grad(ad.grad(ad.grad(polynomial)))))
    assert again(0.7) == ad.grad(ad.grad(ad.grad(polynomial)))(0.7)


# --- errors and the object underneath ---------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [-1, 1.0, True, None, "2"])
def test_an_order_that_is_none(k: Any) -> None:
    with pytest.raises(ArgumentError, match="the order k is"):
        ad.taylor(np.sin, 1.0, 1.0, k)


def test_directions_that_do_not_fit() -> None:
    with pytest.raises(ArgumentError, match="has shape"):
        ad.taylor(np.sin, X, np.ones(2), 2)
    with pytest.raises(ArgumentError, match="structure"):
        ad.taylor(lambda p: p[0] * p[1], (1.0, 2.0), 1.0, 2)
    with pytest.raises(ArgumentError, match="complex"):
        ad.taylor(np.sin, X, 1j * X, 2)
    with pytest.raises(IntegerArgumentError):
        ad.taylor(lambda p: p[0] * p[1], (1.0, 2), (1.0, 1.0), 2)


@ad.primitive
def opaque(x: Any) -> Any:
    return x * 2.0


@ad.custom_jvp
def own(x: Any) -> Any:
    return x * x


@own.defjvp
def _own_jvp(primals: Any, tangents: Any) -> Any:
    return primals[0] ** 2, 2 * primals[0] * tangents[0]


def test_what_has_no_coefficients_is_refused_where_it_stands() -> None:
    with pytest.raises(RuleLookupError, match="no derivative rule for opaque") as missing:
        ad.taylor(lambda x: opaque(x) + 1.0, 1.0, 1.0, 2)
    with pytest.raises(UnsupportedError, match="taylor does not go through 'own'") as refused:
        ad.taylor(lambda x: own(x) + 1.0, 1.0, 1.0, 2)
    for error in (missing, refused):
        assert error.value.loc is not None and "test_taylor.py" in str(error.value)


def test_the_object_underneath() -> None:
    made = Taylor(loop, 0, 2)
    assert "def loop_taylor(x, x_1):" in made.source(X)
    again = pickle.loads(pickle.dumps(made))
    assert again.order == 2
    same(again(X)(D), ad.taylor(loop, X, D, 2))
