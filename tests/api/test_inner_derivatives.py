"""Derivatives of all kinds inside of functions that are compiled, and the confusion of perturbations."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import ArgumentError, UnsupportedError

X = np.array([0.3, 0.7, -0.2])


def energy(v: Any) -> Any:
    return np.sum(np.sin(v) * v)


def of_hessian(x: Any) -> Any:
    return np.sum(ad.hessian(energy)(x) @ x)


def of_jacobian(x: Any) -> Any:
    j = ad.jacobian(lambda v: np.tanh(v * v))(x)
    return np.sum(j * j)


def of_both_modes(x: Any) -> Any:
    return np.sum(ad.jacfwd(np.sin)(x) * ad.jacrev(np.cos)(x))


def of_hvp(x: Any) -> Any:
    return np.sum(ad.hvp(energy)(x, x * x))


def of_gauss_newton_vp(x: Any) -> Any:
    return np.sum(ad.gauss_newton_vp(lambda v: {"a": np.sin(v), "b": v[0] * v})(x, x * x))


def of_laplacian(x: Any) -> Any:
    return ad.laplacian(energy)(x) * x[0]


def of_elementwise_grad(x: Any) -> Any:
    return np.sum(ad.elementwise_grad(np.tanh)(x) * x)


def of_derivative(x: Any) -> Any:
    return ad.derivative(lambda t: t**3 * x[1])(x[0])


def of_value_and_jacobian(x: Any) -> Any:
    v, j = ad.value_and_jacobian(lambda v: (v * v, np.sum(v)))(x)
    return np.sum(v[0] * j[1]) + np.sum(j[0])


def of_jvp(x: Any) -> Any:
    return np.sum(ad.jvp(lambda v: np.sin(v) * v * x, (x,), (x * x,))[1])


def of_vjp(x: Any) -> Any:
    y, pull = ad.vjp(lambda v: (np.sin(v) * v, np.sum(v)), x)
    (b,) = pull((x, 2.0 * y[1]))
    (c,) = pull((b, 0.5))
    return np.sum(b * c)


def of_linearize(x: Any) -> Any:
    y, push = ad.linearize(lambda v: np.sin(v) * v * x, x)
    return np.sum(push(x) * push(y))


def in_a_loop(x: Any) -> Any:
    t = 0.0
    for _ in range(2):
        _, d = ad.jvp(lambda v, n: {"a": v**n, "b": (v, 3)}, (x, 2), (x * t + 1.0, None))
        t = t + np.sum(d["a"]) + np.sum(d["b"][0]) * 0.1
        if t > 0.0:
            t = t * np.sum(ad.vjp(lambda v: v * t, x)[1](x)[0])
    return t


def with_containers(x: Any) -> Any:
    h = ad.hessian(lambda p: p["a"] ** 2 * np.sum(p["b"][0] ** 3))({"a": x[0], "b": [x]})
    return np.sum(h["a"]["b"][0]) + np.sum(h["b"][0]["b"][0])


def what_a_pullback_reads(x: Any) -> Any:
    """The pullback is that of the function as it was when vjp was called."""
    s = x * 2.0
    y, pull = ad.vjp(lambda v: v * s, x)
    s[0] = 100.0
    return np.sum(pull(y)[0] * s)


def newton(x: Any) -> Any:
    """Two steps of Newton's method for the root of a system."""

    def residual(v: Any) -> Any:
        return v**3 + v - x

    v = x * 0.5
    for _ in range(2):
        v = v - np.linalg.solve(ad.jacfwd(residual)(v), residual(v))
    return np.sum(v * v)


def with_what_is_beside(x: Any) -> Any:
    def two(v: Any) -> Any:
        return np.sum(v**3), {"s": np.sum(v), "n": 3, "t": "x", "v": v * 2}

    g, aux = ad.grad(two, has_aux=True)(x)
    return np.sum(g * aux["s"]) + np.sum(aux["v"] ** 2) * aux["n"]


def value_with_what_is_beside(x: Any) -> Any:
    (value, aux), g = ad.value_and_grad(lambda v: (np.sum(v * v * x), (v, [x[0], 2])), has_aux=True)(x)
    (whole, again), j = ad.value_and_jacobian(lambda v: (v * 2 * x, x), has_aux=True)(x)
    return value * np.sum(g) + aux[1][0] * aux[1][1] + np.sum(whole * again) + np.sum(j)


def tangent_with_what_is_beside(x: Any) -> Any:
    y, d, aux = ad.jvp(lambda v: (v * v, v[0]), (x,), (x,), has_aux=True)
    return np.sum(y * d) * aux


def jacobian_with_what_is_beside(x: Any) -> Any:
    j, aux = ad.jacobian(lambda v: (v * v * x[0], np.sum(v)), has_aux=True)(x)
    return np.sum(j @ x) * aux


def products_with_what_is_beside(x: Any) -> Any:
    def f(v: Any) -> Any:
        return np.sum(v**4), v[1]

    p, first = ad.hvp(f, has_aux=True)(x, x)
    h, second = ad.hessian(f, has_aux=True)(x)
    g, third = ad.gauss_newton_vp(lambda v: (v**2, v[2]), has_aux=True)(x, x)
    return np.sum(p) * first + np.sum(h @ x) * second * third + np.sum(g)


def decorated_with_what_is_beside(x: Any) -> Any:
    @ad.grad(has_aux=True)
    def g(v: Any) -> Any:
        return np.sum(np.sin(v) * x), v

    slope, same = g(x)
    return np.sum(slope * same)


NAMES = [name for name, f in list(globals().items()) if callable(f) and getattr(f, "__module__", "") == __name__]
FUNCTIONS = [globals()[name] for name in NAMES if name not in ("energy",)]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_gradients_through_them(f: Any) -> None:
    for x in (X, X * 1.7 + 0.05):
        want = [(f(x + 1e-6 * d) - f(x - 1e-6 * d)) / 2e-6 for d in np.eye(3)]
        value, found = ad.value_and_grad(f)(x)
        assert value == pytest.approx(f(x), rel=1e-12)
        np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(ad.jvp(f, (x,), (x,))[1], np.dot(found, x), rtol=1e-9)


def test_results_that_are_complex() -> None:
    """Of those that may be, the run tells. Before, the derivative of the real part was taken."""

    def power(x: Any) -> Any:
        return x**2.5

    for f in (lambda x: ad.grad(lambda y: power(y))(x), lambda x: ad.hvp(power)(x, 1.0) * x):
        assert np.isfinite(ad.grad(f)(0.5))
        with pytest.raises(ad.AutodiffError, match="complex"):
            ad.grad(f)(-0.5)
    with pytest.raises(ad.AutodiffError, match="real result"):
        ad.grad(lambda x: ad.grad(lambda y: y * 1j)(x))(0.5)


def test_what_is_beside_needs_a_pair() -> None:
    def f(x: Any) -> Any:
        return np.sum(ad.grad(lambda v: np.sum(v), has_aux=True)(x)[0])

    with pytest.raises(ad.AutodiffError, match="returns a pair"):
        ad.grad(f)(X)


def test_perturbations_are_not_confused() -> None:
    """Siskind and Pearlmutter, Nesting forward-mode AD in a functional framework (2008), section 2, and variations."""

    def forward(x: Any) -> Any:
        return x * ad.jvp(lambda y: x + y, (1.0,), (1.0,))[1]

    def reverse(x: Any) -> Any:
        return x * ad.grad(lambda y: x + y)(1.0)

    def mixed(x: Any) -> Any:
        return x * ad.grad(lambda y: ad.derivative(lambda z: x * y * z * z)(y))(x)

    for f in (forward, reverse):
        assert ad.derivative(f)(3.0) == 1.0 and ad.grad(f)(3.0) == 1.0
    # The inner derivative is 2 x y^2, its gradient at y = x is 4 x^2.
    assert mixed(2.0) == 32.0
    assert ad.grad(mixed)(2.0) == pytest.approx(48.0) == ad.derivative(mixed)(2.0)
    assert ad.grad(lambda y: y * ad.grad(lambda z: z * y)(2.0))(2.0) == 4.0


def test_what_is_refused() -> None:
    def with_effects(x: Any) -> Any:
        seen = [0.0]

        def g(v: Any) -> Any:
            seen[0] = v[0]
            return v * v

        return np.sum(ad.vjp(g, x)[1](x)[0]) + seen[0]

    with pytest.raises(UnsupportedError, match="changes what is outside"):
        ad.grad(with_effects)(X)
    with pytest.raises(ArgumentError, match="2 tangents"):
        ad.grad(lambda x: np.sum(ad.jvp(np.sin, (x,), (x, x))[1]))(X)
    with pytest.raises(ArgumentError, match="tangent"):
        ad.grad(lambda x: np.sum(ad.jvp(np.sin, (x,), (1.0,))[1]))(X)
    with pytest.raises(ArgumentError, match="structure of the result"):
        ad.grad(lambda x: np.sum(ad.vjp(lambda v: (v, v), x)[1]((x,))[0]))(X)


# --- objects that are called: what they hold is an argument ---


class Kernel:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, v):
        return np.exp(-v @ v / self.scale)


@dataclasses.dataclass
class Data:
    scale: float

    def __call__(self, v):
        return np.sum(np.sin(v * self.scale))


V = np.arange(6.0).reshape(3, 2) / 5.0 + 0.1
OF_OBJECTS = [
    lambda k: np.sum(ad.vmap(k)(V)),
    lambda k: np.sum(ad.grad(k)(V[1])),
    lambda k: np.sum(ad.vmap(ad.grad(k))(V)),
    lambda k: ad.jvp(k, (V[1],), (V[0],))[1],
    lambda k: np.sum(ad.vjp(k, V[1])[1](1.0)[0]),
    lambda k: ad.value_and_grad(k)(V[1])[0],
    lambda k: np.sum(ad.hessian(k)(V[1])),
    lambda k: np.sum(ad.jacobian(k)(V[1])),
    lambda k: np.sum(ad.hvp(k)(V[1], V[0])),
    lambda k: np.sum(ad.elementwise_grad(k)(V[1])),
    lambda k: ad.checkpoint(k)(V[1]) * k.scale,
]


@pytest.mark.parametrize("cls", [Kernel, Data])
@pytest.mark.parametrize("f", OF_OBJECTS)
def test_a_callable_object_is_differentiated_by_what_it_holds(f: Any, cls: Any) -> None:
    g = ad.grad(f)
    for scale in (2.0, 5.0):
        want = (f(cls(scale + 1e-6)) - f(cls(scale - 1e-6))) / 2e-6
        np.testing.assert_allclose(g(cls(scale)).scale, want, rtol=1e-6)
    # Where it is not differentiated by, each call has an object of its own.
    h = ad.value_and_grad(lambda x, k: f(k) * x)
    for scale in (2.0, 5.0):
        np.testing.assert_allclose(h(1.0, cls(scale)), [f(cls(scale))] * 2, rtol=1e-12)


class Model:
    def __init__(self, kernel):
        self.kernel = kernel

    def loss(self, x):
        return np.sum(ad.vmap(self.kernel)(x) ** 2)


def test_an_attribute_that_is_called_may_be_replaced() -> None:
    model = Model(Kernel(2.0))
    g = ad.grad(model.loss)
    for kernel in (Kernel(2.0), Kernel(7.0)):
        model.kernel = kernel
        want = ad.grad(lambda x: np.sum(np.array([kernel(v) for v in x]) ** 2))(V)
        np.testing.assert_allclose(g(V), want, rtol=1e-12)
    assert ad.grad(Model.loss)(model, V).kernel.scale > 0.0


def test_transforms_of_transforms_that_are_made_inside() -> None:
    f = lambda x: np.sum(ad.jacobian(ad.vmap(lambda v: np.sin(v) * v))(x))
    g = lambda x: np.sum(ad.elementwise_grad(ad.vmap(lambda v: np.sin(v) * v))(x))
    for h in (f, g):
        np.testing.assert_allclose(ad.grad(h)(X), 2.0 * np.cos(X) - X * np.sin(X), rtol=1e-12)


class Batches:
    def __init__(self, w):
        self.w = w
        self.many = ad.vmap(self.one)
        self.slope = ad.grad(self.one)
        self.cheap = ad.checkpoint(self.one)

    def one(self, x):
        return np.sin(self.w @ x)

    def loss(self, xs):
        return np.sum(self.many(xs)) + np.sum(self.slope(xs[0]) ** 2) + self.cheap(xs[1])

    def by_hand(self, xs):
        return np.sum(np.sin(xs @ self.w)) + np.sum((np.cos(self.w @ xs[0]) * self.w) ** 2) + np.sin(self.w @ xs[1])


def test_transforms_of_methods_that_an_object_holds() -> None:
    model = Batches(np.array([0.3, -0.5]))
    g, h = ad.grad(model.loss), ad.grad(model.by_hand)
    for w in (model.w, np.array([1.0, 2.0])):
        model.w = w
        np.testing.assert_allclose(g(V), h(V), rtol=1e-12)
    np.testing.assert_allclose(ad.grad(Batches.loss)(model, V).w, ad.grad(Batches.by_hand)(model, V).w, rtol=1e-12)


AXES = (None, 0)
WHICH = 1


def test_axes_and_numbers_of_arguments_may_be_constants_of_the_module() -> None:
    def f(w, xs, axis=0):
        made = ad.vmap(lambda w, x: np.sum(x * w), in_axes=AXES)(w, xs) @ ad.vmap(np.sum, in_axes=axis)(xs)
        return made * ad.grad(lambda a, b: np.sum(a * b), argnums=WHICH)(w, w)[0]

    w = np.array([0.5, 2.0])
    np.testing.assert_allclose(f(w, V), np.sum(V * w, 1) @ np.sum(V, 1) * w[0])
    np.testing.assert_allclose(
        ad.grad(f)(w, V), ad.grad(lambda w: np.sum(V * w, 1) @ np.sum(V, 1) * w[0])(w), rtol=1e-12
    )
