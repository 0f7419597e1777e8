"""The linear function of `linearize`: against `jvp`, which computes the tangent in another way."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import ArgumentError

X = np.array([0.3, 0.8, 1.4])
W = np.arange(6.0).reshape(2, 3) / 5


def layer(x: Any, w: Any) -> Any:
    return {"y": np.tanh(w @ x), "n": 3, "s": np.sum(x)}


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
    return y, np.max(x)


def left(x: Any) -> Any:
    h = x
    while np.sum(h * h) > 0.5:
        h = h * 0.6
        if h[0] > 0.2:
            break
    return h


def recursive(x: Any, n: int = 3) -> Any:
    return x if n == 0 else x * recursive(np.sin(x), n - 1)


def power(t: Any, n: int) -> Any:
    return t**n


CASES = [(layer, (X, W)), (loop, (X,)), (stores, (X,)), (left, (X,)), (recursive, (X,)), (np.sin, (X,))]


def same(a: Any, b: Any) -> None:
    if isinstance(a, dict):
        a, b = list(a.values()), list(b.values())
    if isinstance(a, (tuple, list)):
        for x, y in zip(a, b):
            same(x, y)
    elif b is None:
        assert a is None
    else:
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
        assert np.shape(a) == np.shape(b)


@pytest.mark.parametrize("f, args", CASES)
def test_against_jvp(f: Any, args: Any) -> None:
    value, push = ad.linearize(f, *args)
    same(value, f(*args))
    for scale in (1.0, -0.7, 0.0):
        tangents = tuple([np.cos(a) * scale for a in args])
        same(push(*tangents), ad.jvp(f, args, tangents)[1])


def test_kinds_and_structures() -> None:
    value, push = ad.linearize(power, 2.0, 3)
    assert (value, push(1.0, None), push(2.0, None)) == (8.0, 12.0, 24.0)
    value, push, aux = ad.linearize(lambda x: (x * x, "note"), X, has_aux=True)
    assert aux == "note"
    np.testing.assert_allclose(push(X), 2 * X * X)
    x = X.astype(np.float32)
    assert ad.linearize(lambda x: x * np.sin(x), x)[1](x).dtype == np.float32
    value, push = ad.linearize(lambda p: p["a"] * p["b"], {"a": 2.0, "b": X})
    np.testing.assert_allclose(push({"a": 1.0, "b": X}), X + 2 * X)


def test_the_primal_is_computed_once_and_writes_do_not_reach_it() -> None:
    calls = []

    def f(x: Any) -> Any:
        calls.append(1)
        return x * x

    x = X.copy()
    value, push = ad.linearize(f, x)
    x[:] = 0.0
    value[:] = 0.0
    np.testing.assert_allclose(push(np.ones(3)), 2 * X)
    np.testing.assert_allclose(push(np.ones(3)), 2 * X)
    assert calls == [1]


def test_errors() -> None:
    _, push = ad.linearize(loop, X)
    with pytest.raises(ArgumentError, match="shape"):
        push(np.ones(2))
    with pytest.raises(ArgumentError, match="structure"):
        push(X, X)


def test_source_and_pickle() -> None:
    from autodiff_compiler.api.linearized import Linearized

    made = Linearized(loop, (0,))
    assert "def pushforward(x_dot" in made.source(X)
    again = pickle.loads(pickle.dumps(made))
    np.testing.assert_array_equal(again(X)[1](X), made(X)[1](X))


def largest(x: Any) -> Any:
    return np.array([np.max(x), np.min(x)])


def added_at(x: Any) -> Any:
    y = np.zeros(4)
    np.add.at(y, [0, 1, 1], x * x)
    return y


def masked(x: Any) -> Any:
    y = x.copy()
    y[y > 0.5] = y[y > 0.5] ** 2
    return y


def listed(x: Any) -> Any:
    found = []
    for v in x:
        if v > 0.5:
            found.append(v * v)
    return np.array(found)


def values_of(x: Any) -> Any:
    return np.linalg.eigvalsh(np.diag([1.0, 2.0, 4.0]) + np.outer(x, x))


@pytest.mark.parametrize("f", [largest, added_at, masked, listed, values_of])
def test_where_a_pullback_asks_for_shapes_of_cotangents(f: Any) -> None:
    """Of cotangents that are not known when the linear function is made."""
    value, push = ad.linearize(f, X)
    same(value, f(X))
    same(push(np.cos(X)), ad.jvp(f, (X,), (np.cos(X),))[1])


def test_a_rule_that_is_not_linear() -> None:
    @ad.custom_vjp
    def clipped(x: Any) -> Any:
        return x * 1.0

    clipped.defvjp(lambda x: (x * 1.0, None), lambda _, g: (np.clip(g, -1.0, 1.0),))
    with pytest.raises(ad.UnsupportedError, match="not linear"):
        ad.linearize(lambda x: clipped(x) * 3.0, X)


# --- where the pullback is not linear in the cotangent, or reads its shape too early ---


def falls(x):
    return x**3 if x < 0.3 else falls(x * 0.5) * x


def forks(x):
    if x < 0.3:
        return x**3
    return forks(x * 0.5) + forks(x * 0.7)


def nested_branches(p):
    y = p
    if p[0] > 0:
        if p[1] > 0:
            y = np.zeros(3)
        else:
            y = p * p
    return y


P = np.array([0.4, -1.2, 0.7])


@pytest.mark.parametrize(
    "f, x",
    [
        (falls, 1.5), (forks, 0.9), (nested_branches, P), (nested_branches, -P), (nested_branches, abs(P)),
        (np.linalg.norm, P), (lambda p: math.exp(p[0] / p[1]), P), (lambda p: math.erf(p[0] / p[1]) * p, P),
    ],
)  # fmt: skip
def test_any_function_has_a_linear_one(f: Any, x: Any) -> None:
    value, push = ad.linearize(f, x)
    d = np.cos(x)
    want, tangent = ad.jvp(f, (x,), (d,))
    np.testing.assert_allclose(value, want, rtol=1e-14)
    np.testing.assert_allclose(push(d), tangent, rtol=1e-12)
    np.testing.assert_allclose(push(-2.0 * d), -2.0 * tangent, rtol=1e-12)


def test_calls_of_one_adjoint_are_not_merged() -> None:
    # Each pops what its own call has pushed.
    h = 1e-6
    want = (ad.grad(forks)(0.9 + h) - ad.grad(forks)(0.9 - h)) / (2.0 * h)
    for found in (ad.hessian(forks)(0.9), ad.hvp(forks)(0.9, 1.0), ad.derivative(ad.grad(forks))(0.9)):
        np.testing.assert_allclose(found, want, rtol=1e-6)


# Choices that keep out what is nan or infinite at 0 and below. A product with the mask would keep its tangent.
HOLE = np.array([0.0, 1.5, -1.0, 0.3, 2.0])


def overwritten(x: Any) -> Any:
    y = np.log(x)
    y[x <= 0] = 0.0
    return y * x


def one_by_one(x: Any) -> Any:
    out = np.zeros_like(x)
    for k in range(len(x)):
        t = np.log(x[k])
        out[k] = t * x[k] if np.isfinite(t) else 0.0
    return out


CHOICES = {
    "quotient": lambda x: np.where(x != 0, np.sin(x) / x, 1.0),
    "two quotients": lambda x: np.sum(np.where(x != 0, np.sin(x) / x, 1.0) * np.where(x != 0, np.cos(x) / x, 1.0)),
    "logarithm": lambda x: np.sum(np.where(x > 0, np.log(x), 0.0)),
    "running mean": lambda x: np.where(x > 0, np.cumsum(x) / x, 0.0),
    "power": lambda x: np.where(x > 0, x**0.5, 0.0),
    "select": lambda x: np.select([x > 1, x > 0], [x**2, np.log(x)], default=0.0),
    "choose": lambda x: np.choose(np.where(x > 0, 0, 1), [np.log(x), x]),
    "nan_to_num": lambda x: np.nan_to_num(np.log(x)),
    "nansum": lambda x: np.nansum(x / x * x),
    "nanmean": lambda x: np.nanmean(1 / x * x),
    "overwritten": overwritten,
    "one by one": one_by_one,
}


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("direction", [np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([0.0, 1.0, 0.0, 0.0, 1.0])])
def test_what_a_choice_leaves_out_does_not_count(name: str, direction: Any) -> None:
    f = CHOICES[name]
    with np.errstate(all="ignore"):
        expected = ad.jacrev(f)(HOLE) @ direction
        assert np.all(np.isfinite(expected))
        np.testing.assert_allclose(ad.jvp(f, (HOLE,), (direction,))[1], expected, rtol=1e-12)
        np.testing.assert_allclose(ad.linearize(f, HOLE)[1](direction), expected, rtol=1e-12)


def held(v: Any, k: Any) -> Any:
    return k * v + k * math.sqrt(max(v, 0.0) * 0.3) + k * max(v - 1.0, 0.0) ** 0.5


def test_the_root_of_a_chosen_zero_does_not_raise() -> None:
    # Of Python's numbers 0.5 / 0.0 would be an exception, before any tangent is asked for.
    value, push = ad.linearize(held, -1.0, 2.0)
    assert value == held(-1.0, 2.0)
    assert math.isnan(push(1.0, 0.0))  # zero times infinity: see docs/semantics.md
    np.testing.assert_allclose(ad.linearize(held, 3.0, 2.0)[1](1.0, 0.5), ad.jvp(held, (3.0, 2.0), (1.0, 0.5))[1])


def held_times_an_element(v: Any, x: Any) -> Any:
    v = max(v, 0.0)
    return math.sqrt(v) * x[0] + v**0.5 * x[0] + v**0.3 * x[1]


def test_nor_beside_a_number_of_numpys() -> None:
    x = np.array([1.0, 2.0])
    value, push = ad.linearize(held_times_an_element, -1.0, x)
    assert value == 0.0 and math.isnan(push(1.0, x))
    assert ad.grad(held_times_an_element, strong_zeros=False)(-1.0, x) == 0.0
