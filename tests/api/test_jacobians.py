"""Jacobians, Hessians and their products: against central differences, and each against the others."""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import ArgumentError, IntegerArgumentError, NonScalarOutputError, UnsupportedError

X = np.array([0.3, -1.2, 2.0])
A = np.arange(6.0).reshape(2, 3) / 7 - 0.3


class Pair(NamedTuple):
    first: Any
    second: Any


def layer(x: Any) -> Any:
    return np.tanh(A @ x)


def outer(x: Any) -> Any:
    return np.outer(x, x[:2]) * np.sin(x)[:, None]


def number(x: Any) -> Any:
    return np.sum(x * x) * x[0]


def rows(x: Any) -> Any:
    return np.concatenate((x[1:] * x[:-1], [np.sum(x)]))


def solve(x: Any) -> Any:
    return np.linalg.solve(np.eye(3) * 4 + np.outer(x, x), x)


def softmax(x: Any) -> Any:
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def curve(t: Any) -> Any:
    return np.array([np.cos(t), t * t, 1.0])


def scalar(t: Any) -> Any:
    return t * t * t


def matrix(m: Any) -> Any:
    return m @ m.T


def shifted(x: Any) -> Any:
    y = x.copy()
    y[1:] = y[1:] * x[:-1]
    y[0] = 2.0
    return y


def looped(x: Any) -> Any:
    h = x * 0.5
    for k in range(3):
        h = np.tanh(h * x) + k
        h[k] = h[k] * x[0]
    return h


def left(x: Any) -> Any:
    h = x
    while np.sum(h * h) > 0.5:
        h = h * 0.6
        if h[0] > 0.1:
            h = h + 0.01 * x
    return h


def recursive(x: Any, n: int = 3) -> Any:
    return x if n == 0 else x * recursive(np.sin(x), n - 1)


def listed(x: Any) -> Any:
    found = []
    for k in range(4):
        found.append(x[k % 3] * k * x)
    return np.array(found)


CASES: list[tuple[Any, Any]] = [
    (layer, X), (outer, X), (number, X), (rows, X), (solve, X), (softmax, X), (curve, 0.7), (scalar, 1.3), (matrix, A),
    (shifted, X), (looped, X), (left, X), (recursive, X), (listed, X), (matrix, A.reshape(3, 2)), (layer, X * 1e-3),
]  # fmt: skip


def differences(f: Any, x: Any, step: float = 1e-6) -> Any:
    """The Jacobian by central differences."""
    x = np.asarray(x, float)
    shape = np.shape(f(x if x.ndim else float(x)))
    out = np.empty((*shape, *x.shape))
    for at in np.ndindex(*x.shape):
        ends = []
        for sign in (1, -1):
            moved = x.copy()
            moved[at] += sign * step
            ends.append(np.asarray(f(moved if x.ndim else float(moved))))
        out[(..., *at)] = (ends[0] - ends[1]) / (2 * step)
    return out


@pytest.mark.parametrize("f, x", CASES, ids=[f"{f.__name__}-{k}" for k, (f, _) in enumerate(CASES)])
def test_both_modes(f: Any, x: Any) -> None:
    want = differences(f, x)
    before = np.copy(x)
    for make in (ad.jacobian, ad.jacfwd, ad.jacrev):
        found = make(f)(x)
        np.testing.assert_allclose(found, want, rtol=1e-6, atol=1e-8)
        assert np.shape(found) == want.shape
    value, found = ad.value_and_jacobian(f)(x)
    np.testing.assert_allclose(value, f(x))
    np.testing.assert_allclose(found, want, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("f, x", CASES, ids=[f"{f.__name__}-{k}" for k, (f, _) in enumerate(CASES)])
def test_second_order(f: Any, x: Any) -> None:
    """The Hessian, by columns from grad of grad, by hvp, and its trace."""

    def loss(x: Any) -> Any:
        return np.sum(f(x) ** 2)

    want = differences(ad.grad(loss), x)
    found = ad.hessian(loss)(x)
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ad.jacrev(ad.grad(loss))(x), found, rtol=1e-9, atol=1e-10)
    v = np.asarray(x) * 0.3 + 0.1
    v = v if v.ndim else float(v)
    size = np.size(x)
    flat = np.reshape(found, (size, size))
    np.testing.assert_allclose(np.ravel(ad.hvp(loss)(x, v)), flat @ np.ravel(v), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(ad.laplacian(loss)(x), np.trace(flat), rtol=1e-9)


@pytest.mark.parametrize("f, x", CASES, ids=[f"{f.__name__}-{k}" for k, (f, _) in enumerate(CASES)])
def test_gauss_newton(f: Any, x: Any) -> None:
    """The product with the matrix of the Jacobian."""
    v = np.asarray(x) * 0.3 + 0.1
    v = v if v.ndim else float(v)
    j = np.reshape(ad.jacobian(f)(x), (-1, np.size(x)))
    found = ad.gauss_newton_vp(f)(x, v)
    assert np.shape(found) == np.shape(x)
    np.testing.assert_allclose(np.ravel(found), j.T @ (j @ np.ravel(v)), rtol=1e-9, atol=1e-10)


def test_gauss_newton_of_structures() -> None:
    def f(p: Any, q: Any) -> Any:
        return p * q["a"], {"b": p * p, "n": 3, "s": "text"}

    p, v = np.array([1.0, 2.0]), np.array([0.5, -1.0])
    found_p, found_q = ad.gauss_newton_vp(f, argnums=(0, 1))(p, {"a": 2.0}, (v, {"a": 3.0}))
    j = np.array([[2.0, 0.0, 1.0], [0.0, 2.0, 2.0], [2.0, 0.0, 0.0], [0.0, 4.0, 0.0]])
    want = j.T @ j @ np.append(v, 3.0)
    np.testing.assert_allclose(found_p, want[:2])
    np.testing.assert_allclose(found_q["a"], want[2])
    product, aux = ad.gauss_newton_vp(lambda p: (p * p, {"k": p.sum()}), has_aux=True)(p, v)
    np.testing.assert_allclose(product, 4 * p * p * v)
    assert aux == {"k": 3.0}
    again = pickle.loads(pickle.dumps(ad.gauss_newton_vp(layer)))
    np.testing.assert_array_equal(again(X, X), ad.gauss_newton_vp(layer)(X, X))
    assert ad.gauss_newton_vp(layer).source(X, X).count("1.0 - ") == 1
    for bad, error in ((lambda p: 3, "holds floats"), (lambda p: p * 1j, "complex")):
        with pytest.raises(ad.AutodiffError, match=error):
            ad.gauss_newton_vp(bad)(p, v)
    with pytest.raises(ad.AutodiffError, match="shape"):
        ad.gauss_newton_vp(lambda p: p)(p, np.ones(3))
    with pytest.raises(ad.AutodiffError, match="vector"):
        ad.gauss_newton_vp(lambda p: p)(p)


def test_structures() -> None:
    def f(p: Any, s: Any) -> Any:
        return {"y": p["a"] * p["b"] * s, "n": 3, "pair": Pair(p["b"][0], s)}

    p = {"a": 2.0, "b": X}
    for make in (ad.jacobian, ad.jacfwd, ad.jacrev):
        found = make(f)(p, 0.5)
        np.testing.assert_allclose(found["y"]["a"], X * 0.5)
        np.testing.assert_allclose(found["y"]["b"], np.eye(3))
        assert found["n"] is None
        assert found["pair"].first["a"] == 0.0 and found["pair"].second["a"] == 0.0
        np.testing.assert_allclose(found["pair"].first["b"], [1.0, 0.0, 0.0])
        both = make(f, argnums=(0, "s"))(p, 0.5)
        np.testing.assert_allclose(both["y"][1], 2.0 * X)
        assert both["pair"].second[1] == 1.0
    h = ad.hessian(lambda p: p["a"] ** 2 * np.sum(p["b"] ** 3))(p)
    np.testing.assert_allclose(h["a"]["b"], 4.0 * 3 * X**2)
    np.testing.assert_allclose(h["b"]["a"], 4.0 * 3 * X**2)
    np.testing.assert_allclose(h["b"]["b"], np.diag(24.0 * X))
    assert h["a"]["a"] == pytest.approx(2 * np.sum(X**3))


def test_aux() -> None:
    def f(x: Any) -> Any:
        return np.sum(x**3), {"x": x * 1.0, "n": 3}

    found, aux = ad.jacobian(f, has_aux=True)(X)
    np.testing.assert_allclose(found, 3 * X**2)
    np.testing.assert_allclose(aux["x"], X)
    found, aux = ad.hessian(f, has_aux=True)(X)
    np.testing.assert_allclose(found, np.diag(6 * X))
    assert aux["n"] == 3
    product, aux = ad.hvp(f, has_aux=True)(X, X)
    np.testing.assert_allclose(product, 6 * X * X)
    np.testing.assert_allclose(aux["x"], X)
    (value, aux), found = ad.value_and_jacobian(f, has_aux=True)(X)
    assert value == pytest.approx(np.sum(X**3)) and aux["n"] == 3
    trace, aux = ad.laplacian(f, has_aux=True)(X)
    assert trace == pytest.approx(6 * np.sum(X)) and aux["n"] == 3


def test_decorators_and_names() -> None:
    @ad.jacobian
    def f(x: Any) -> Any:
        """Squares."""
        return x * x

    @ad.hessian(argnums="x")
    def g(y: Any, x: Any) -> Any:
        return np.sum(x**2) * y

    assert f.__name__ == "f_jacobian" and f.__doc__ == "Squares."
    np.testing.assert_allclose(f(X), np.diag(2 * X))
    np.testing.assert_allclose(g(2.0, X), 4 * np.eye(3))
    again = pickle.loads(pickle.dumps(ad.jacobian(layer)))
    np.testing.assert_array_equal(again(X), ad.jacobian(layer)(X))
    assert "def layer_loss_hvp(x, A, x_dot):" in ad.hvp(layer_loss).source(X, X)


def layer_loss(x: Any) -> Any:
    return np.sum(layer(x))


def test_mode_by_shape() -> None:
    """Forwards where the arguments have fewer elements, and compiled anew where that changes."""

    def f(x: Any, m: Any) -> Any:
        return m @ x

    j = ad.jacobian(f)
    tall, wide = np.ones((5, 2)), np.ones((2, 5))
    assert j.source(np.ones(2), tall) == ad.jacfwd(f).source(np.ones(2), tall).replace("jacfwd", "jacobian")
    assert j.source(np.ones(5), wide) == ad.jacrev(f).source(np.ones(5), wide).replace("jacrev", "jacobian")
    for m in (tall, wide, np.ones((3, 4)), np.ones((4, 3))):
        np.testing.assert_array_equal(j(np.ones(m.shape[1]), m), m)
    assert sum(map(len, j._dispatch.entries.values())) == 2


def test_dtypes() -> None:
    x = X.astype(np.float32)
    for make in (ad.jacobian, ad.jacfwd, ad.jacrev):
        assert make(lambda x: np.sin(x) * 2)(x).dtype == np.float32
    assert ad.hessian(lambda x: np.sum(np.sin(x) * 2))(x).dtype == np.float32
    assert type(ad.derivative(scalar)(2.0)) is float and type(ad.jacobian(scalar)(2.0)) is float
    assert ad.hvp(lambda x: np.sum(x**3))(x, x).dtype == np.float32
    z = ad.jacobian(lambda t: np.exp(1j * t) * np.ones(2))(0.5)
    np.testing.assert_allclose(z, 1j * np.exp(0.5j) * np.ones(2))


def test_results_are_own_arrays() -> None:
    m = A.copy()
    j = ad.jacobian(lambda x: m @ x)(X)
    j[0, 0] = 99.0
    np.testing.assert_array_equal(m, A)
    j = ad.jacobian(lambda x: x)(X)
    j += 1.0


def test_products_with_the_identity() -> None:
    """Those of the directions are multiplied out. Those of the program stay, and what is multiplied keeps its dtype."""
    w = np.array([[1.0, np.inf], [0.0, 2.0]], np.float32)

    def f(x: Any) -> Any:
        with np.errstate(invalid="ignore"):
            return np.where(np.isnan(np.eye(2) @ w), 3.0, 1.0) @ x

    for make in (ad.jacfwd, ad.jacrev):
        np.testing.assert_array_equal(make(f)(X[:2]), np.where(np.isnan(np.eye(2) @ w), 3.0, 1.0))
        found = make(lambda x: x @ w)(X[:2])
        np.testing.assert_array_equal(found, w.T)
        assert found.dtype == np.float64
        assert make(lambda x: np.sin(x) @ np.float32([[1, 2], [3, 4]]))(X[:2]).dtype == np.float64
        scaled = make(lambda x: (x * np.arange(2.0)) @ np.array([[1.0, 2.0], [3.0, 4.0]]))(X[:2])
        np.testing.assert_array_equal(scaled, [[0.0, 3.0], [0.0, 4.0]])


def test_empty() -> None:
    for make in (ad.jacobian, ad.jacfwd, ad.jacrev):
        assert make(lambda x: x * 2)(np.ones(0)).shape == (0, 0)
        assert make(lambda x: np.sum(x))(np.ones(0)).shape == (0,)


def test_elementwise_and_derivative() -> None:
    np.testing.assert_allclose(ad.elementwise_grad(np.sin)(X), np.cos(X))
    np.testing.assert_allclose(ad.elementwise_grad(lambda x, y: x * y, 1)(X, A), np.broadcast_to(X, (2, 3)))
    np.testing.assert_allclose(ad.elementwise_grad(ad.elementwise_grad(np.sin))(X), -np.sin(X))
    assert ad.derivative(ad.derivative(scalar))(2.0) == 12.0
    np.testing.assert_allclose(ad.derivative(curve)(0.7), [-np.sin(0.7), 1.4, 0.0])
    with pytest.raises(ArgumentError, match=r"(?s)one float.*use jacobian"):
        ad.derivative(layer)(X)


def test_errors() -> None:
    with pytest.raises(IntegerArgumentError):
        ad.jacobian(layer)(np.arange(3))
    with pytest.raises(UnsupportedError, match="complex argument"):
        ad.jacobian(lambda x: x * x)(X * 1j)
    with pytest.raises(UnsupportedError, match=r"(?s)result that is complex.*use jacfwd"):
        ad.jacrev(lambda x: x * 1j)(X)
    with pytest.raises(UnsupportedError, match="result that is complex"):
        ad.grad(lambda x: np.sum(np.abs(ad.jacrev(lambda v: v * 1j)(x))))(X)
    np.testing.assert_allclose(ad.jacobian(lambda x: x[:1] * 1j)(X), [[1j, 0.0, 0.0]])
    with pytest.raises(NonScalarOutputError, match="floats"):
        ad.jacobian(lambda x: 3)(X)
    with pytest.raises(NonScalarOutputError):
        ad.hessian(layer)(X)
    with pytest.raises(ArgumentError, match="shape"):
        ad.hvp(number)(X, np.ones(2))
    with pytest.raises(ArgumentError, match="vector"):
        ad.hvp(number)(X)
    with pytest.raises(UnsupportedError, match=r"(?s)run-time length.*np.array"):
        ad.jacobian(lambda x: [v * 2 for v in x])(X)


def test_effects_happen_once() -> None:
    seen = []

    def f(x: Any) -> Any:
        seen.append(1)
        return x * x

    ad.jacobian(f)(X)
    assert seen == [1]


def test_products_are_functions_of_the_vector_too() -> None:
    def f(x):
        return np.sum(x**3) * x[0]

    def by_hand(x, v):
        return 3.0 * x**2 * v[0] + np.array([np.sum(3.0 * x**2 * v), *0.0 * x[1:]]) + 6.0 * x * v * x[0]

    x, v = np.array([1.0, 2.0, -0.5]), np.array([0.5, 0.3, 1.0])
    product = ad.hvp(f)
    np.testing.assert_allclose(product(x, v), by_hand(x, v), rtol=1e-12)
    for k in (0, 1):
        np.testing.assert_allclose(ad.jacobian(product, k)(x, v), ad.jacobian(by_hand, k)(x, v), rtol=1e-12)
    xs, vs = np.stack([x, v]), np.stack([v, x])
    np.testing.assert_allclose(ad.vmap(product)(xs, vs), [by_hand(x, v), by_hand(v, x)], rtol=1e-12)
    np.testing.assert_allclose(ad.jvp(product, (x, v), (v, x))[1], ad.jvp(by_hand, (x, v), (v, x))[1], rtol=1e-12)
    np.testing.assert_allclose(ad.linearize(product, x, v)[1](x, v), ad.jvp(by_hand, (x, v), (x, v))[1], rtol=1e-12)
    many = ad.vmap(ad.gauss_newton_vp(np.sin))(xs, vs)
    np.testing.assert_allclose(many, np.cos(xs) ** 2 * vs, rtol=1e-12)
