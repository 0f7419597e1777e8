"""`ad.batch` called in functions that are compiled: against loops over the examples, written out."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import ArgumentError, UnsupportedError

R = np.random.default_rng(4)
X, Y, W = R.normal(size=(5, 3)), R.normal(size=5), R.normal(size=3)
P = {"hidden": (R.normal(size=(4, 3)), R.normal(size=4)), "out": R.normal(size=4)}


def predict(p, x):
    w, b = p["hidden"]
    return p["out"] @ np.tanh(w @ x + b)


many = ad.vmap(predict, in_axes=(None, 0))


def cost(p, x, y):
    return np.mean((many(p, x) - y) ** 2)


def cost_made_inside(p, x, y):
    return np.mean((ad.vmap(predict, in_axes=(None, 0))(p, x) - y) ** 2)


def cost_of_partial(p, x, y):
    return np.mean((ad.batch(functools.partial(predict, p))(x) - y) ** 2)


def cost_of_lambda(p, x, y):
    return np.mean(ad.batch(lambda a, b: (predict(p, a) - b) ** 2)(x, y))


def cost_decorated(p, x, y):
    @ad.batch(in_axes=(0, 0))
    def errors(a, b):
        return (predict(p, a) - b) ** 2

    return np.mean(errors(x, y))


def cost_by_keyword(p, x, y):
    def error(a, b):
        return (predict(p, a) - b) ** 2

    return np.mean(ad.batch(error)(x, b=y))


def cost_by_list(p, x, y):
    return np.mean((ad.batch(predict, [{"hidden": (None, None), "out": None}, 0])(p, x) - y) ** 2)


def cost_looped(p, x, y):
    total = 0.0
    for a, b in zip(x, y):
        total += (predict(p, a) - b) ** 2
    return total / len(y)


FORMS = [
    cost, cost_made_inside, cost_of_partial, cost_of_lambda, cost_decorated, cost_by_keyword, cost_by_list,
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_the_forms_of_a_call(form: Any) -> None:
    got, want = ad.grad(form)(P, X, Y), ad.grad(cost_looped)(P, X, Y)
    np.testing.assert_allclose(got["out"], want["out"], rtol=1e-12)
    for a, b in zip(got["hidden"], want["hidden"]):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    assert "for " not in ad.grad(form).source(P, X, Y)


# Each function is followed by what it computes, written with a loop.


def clipped(w, x, y):
    each = ad.batch(ad.grad(lambda w, a, b: (np.tanh(a @ w) - b) ** 2), in_axes=(None, 0, 0))(w, x, y)
    sizes = np.sqrt(np.sum(each * each, axis=1))
    return np.sum(each / np.maximum(sizes, 0.5)[:, None] * w)


def clipped_looped(w, x, y):
    total = 0.0
    for k in range(len(y)):
        g = ad.grad(lambda w, a, b: (np.tanh(a @ w) - b) ** 2)(w, x[k], y[k])
        total += np.sum(g / np.maximum(np.sqrt(np.sum(g * g)), 0.5) * w)
    return total


def table(w, x, y):
    outer = ad.batch(ad.batch(lambda a, b: np.sin(a * b), in_axes=(None, 0)), in_axes=(0, None))(w, y)
    return np.sum(outer * outer[::-1]) + x[0, 0]


def table_looped(w, x, y):
    outer = np.array([[np.sin(a * b) for b in y] for a in w])
    return np.sum(outer * outer[::-1]) + x[0, 0]


def other_axes(w, x, y):
    made = ad.batch(lambda a, b: {"a": a * b, "b": np.sum(a)}, in_axes=(1, 0), out_axes={"a": 1, "b": 0})(x, w)
    return np.sum(made["a"] * x * y[:, None]) + made["b"] @ w


def other_axes_looped(w, x, y):
    total = 0.0
    for k in range(len(w)):
        total += np.sum(x[:, k] * w[k] * x[:, k] * y) + np.sum(x[:, k]) * w[k]
    return total


def cells_over_time(w, x, y):
    h = np.zeros((5, 3))
    cell = ad.batch(lambda h, a, b: np.tanh(h * a + w * b))
    for k in range(4):
        h = cell(h, x * (k + 1), y)
    return np.sum(h * h)


def cells_over_time_looped(w, x, y):
    total = 0.0
    for i in range(5):
        h = np.zeros(3)
        for k in range(4):
            h = np.tanh(h * x[i] * (k + 1) + w * y[i])
        total += np.sum(h * h)
    return total


def branches(w, x, y):
    def one(a, b):
        return b * np.sum(a * w) if b > 0.0 else a[0] * b * b

    return np.sum(ad.batch(one)(x, y))


def branches_looped(w, x, y):
    total = 0.0
    for a, b in zip(x, y):
        total += b * np.sum(a * w) if b > 0.0 else a[0] * b * b
    return total


def one_by_one(w, x, y):
    def one(a):
        n = 0
        while np.sum(a * a) > 0.5:
            a = a * 0.5
            n += 1
        return np.sum(a * w) * (n + 1)

    return np.sum(ad.batch(one)(x) * y)


def one_by_one_looped(w, x, y):
    total = 0.0
    for a, b in zip(x, y):
        n = 0
        while np.sum(a * a) > 0.5:
            a = a * 0.5
            n += 1
        total += np.sum(a * w) * (n + 1) * b
    return total


def stores(w, x, y):
    def one(a, b):
        a[1] = b * w[0]
        a *= w
        return a

    made = ad.batch(one)(x, y)
    return np.sum(made * x)


def stores_looped(w, x, y):
    total = 0.0
    for a, b in zip(x, y):
        c = a.copy()
        c[1] = b * w[0]
        c *= w
        total += np.sum(c * a)
    return total


PAIRS = [
    (clipped, clipped_looped), (table, table_looped), (other_axes, other_axes_looped),
    (cells_over_time, cells_over_time_looped), (branches, branches_looped), (one_by_one, one_by_one_looped),
    (stores, stores_looped),
]  # fmt: skip


@pytest.mark.parametrize("made, looped", PAIRS)
def test_all_modes_and_orders(made: Any, looped: Any) -> None:
    args = (W, X, Y)
    np.testing.assert_allclose(ad.value_and_grad(made)(*args)[0], looped(*args), rtol=1e-12)
    every = (0, 1, 2)
    for a, b in zip(ad.grad(made, every)(*args), ad.grad(looped, every)(*args)):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
    tangents = tuple([0.3 * np.cos(a) for a in args])
    np.testing.assert_allclose(ad.jvp(made, args, tangents)[1], ad.jvp(looped, args, tangents)[1], rtol=1e-10)
    np.testing.assert_allclose(ad.hessian(made)(*args), ad.hessian(looped)(*args), rtol=1e-8, atol=1e-10)


def test_a_loop_over_the_examples_is_told() -> None:
    assert "an end of a loop that differs between examples" in str(ad.explain(one_by_one, W, X, Y))


def test_the_numbers_of_examples_are_compared_when_the_code_runs() -> None:
    def f(a, b):
        return np.sum(ad.batch(lambda a, b: a * b)(a, b))

    g = ad.grad(f)
    np.testing.assert_array_equal(g(np.ones(3), np.ones(3)), np.ones(3))
    with pytest.raises(ArgumentError, match=r"different numbers of examples|different lengths"):
        g(np.ones(3), np.ones(4))
    # A variable may have the name of the error.
    h = ad.grad(lambda ArgumentError, b: f(ArgumentError, b))
    np.testing.assert_array_equal(h(np.ones(3), np.ones(3)), np.ones(3))
    with pytest.raises(ArgumentError):
        h(np.ones(3), np.ones(4))
    names: dict[str, Any] = {}
    exec(h.source(np.ones(3), np.ones(3)).replace("<lambda>", "h"), names)
    made = next(value for name, value in names.items() if name.endswith("_grad"))
    with pytest.raises(ArgumentError, match="different lengths along axes 0 and 0"):
        made(np.ones(3), np.ones(4))
    exec(g.source(np.ones(3), np.ones(3)), names)
    with pytest.raises(ArgumentError, match="different lengths along axes 0 and 0"):
        names["f_grad"](np.ones(3), np.ones(4))


def test_what_is_no_stack_is_an_error() -> None:
    with pytest.raises(ArgumentError, match="argument 1 is a number"):
        ad.grad(lambda a, b: np.sum(ad.batch(lambda a, b: a * b)(a, b)))(X, 2.0)
    with pytest.raises(ArgumentError, match="over axis 2, and has 2 axes"):
        ad.grad(lambda a: np.sum(ad.batch(lambda a: a, in_axes=2)(a)))(X)
    with pytest.raises(ArgumentError, match="in_axes has 2 entries, and the call 1"):
        ad.grad(lambda a: np.sum(ad.batch(lambda a: a, in_axes=(0, 0))(a)))(X)
    with pytest.raises(ArgumentError, match="no argument is a stack"):
        ad.grad(lambda a: np.sum(ad.batch(lambda a: a, in_axes=None)(a)))(X)
    with pytest.raises(ArgumentError, match="out_axes is None for result number 0"):
        ad.grad(lambda a: np.sum(ad.batch(lambda a: a, out_axes=None)(a)))(X)


def test_a_function_that_changes_what_is_outside_is_refused() -> None:
    def f(x):
        seen = []

        def one(a):
            seen.append(a)
            return a * a

        return np.sum(ad.batch(one)(x)) + seen[0]

    with pytest.raises(UnsupportedError, match="changes what is outside"):
        ad.grad(f)(Y)
