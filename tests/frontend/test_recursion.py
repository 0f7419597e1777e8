"""Functions that call themselves, and end on values that are known at run time only."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import UnsupportedError
from autodiff_compiler.frontend.lower import lower
from autodiff_compiler.ir.core import CALL, FUNC, Function
from autodiff_compiler.ir.interp import interpret
from autodiff_compiler.ir.printer import print_function
from autodiff_compiler.ir.verify import verify
from autodiff_compiler.transforms import pipeline
from tests.differences import differences

X = np.array([0.3, 0.9, 1.2])
A = np.array([[0.5, 0.2], [0.1, 0.7]])
G = np.array([1.0, 0.5, 0.25])


def halves(x):
    return x if x < 0.1 else halves(x * 0.5) * x


def depth(x, n):
    return x if n == 0 else np.sin(depth(x, n - 1)) + 0.001 * x


def fib(x, n):
    if n < 2:
        return x ** (n + 1)
    return fib(x, n - 1) * 0.5 + fib(x * 1.01, n - 2)


def even(x, n):
    return x if n == 0 else odd(x * 1.1, n - 1)


def odd(x, n):
    return x * x if n == 0 else np.sin(even(x + 0.1, n - 1))


def array_level(x, t):
    if t < 0.1:
        return x * 2.0
    y = array_level(x * 0.9, t * 0.5)
    return np.sin(y) * x + y


def array(x, t):
    return array_level(x, t).sum()


def reads_global(x, t):
    def go(y, t):
        if t > 10.0:
            return y
        return go(y * 0.5, t * 2.0) * G[1] + (G * y * x).sum() + G

    return (go(x, t) * x).sum()


def matrix_level(A, v, t):
    if t < 0.1:
        return v
    w = matrix_level(A, np.tanh(A @ v), t * 0.6)
    return w * v + A[0]


def matrix(A, t):
    return (matrix_level(A, A[:, 1] * 2.0, t) ** 2).sum()


def in_place(x, t):
    c = np.sin(x)

    def go(y, t):
        if t <= 0.1:
            return y * c[0]
        z = y.copy()
        z[0] = z[0] * c[1]
        z[1:] += go(y * 0.9, t * 0.5)[1:] * c[1:]
        z *= 1.0 + go(z, t * 0.3)[0]
        return z

    return go(x, t).sum()


def in_loop(x, t):
    s = 0.0
    y = x.copy()
    for i in range(x.shape[0]):
        y[i] = y[i] * 1.1

        def go(z, t):
            if t < 0.2:
                return z * y[i]
            return go(z * 0.5, t - 0.15) + z * y.sum()

        s = s + go(x[i], t) * s + x[0]
        y = y * 0.9
        if s > 2.0:
            s = s * go(s, t)
    return s


def stores_after(x, t):
    y = x * 1.0
    a = array_level(y, t).copy()
    y[0] = 5.0
    b = array_level(y, t * 0.7).copy()
    a[1] = 2.0
    y[2] *= 3.0
    return (a * b * y).sum()


def same_or_less(x, t):
    if t < 0.1:
        return x
    return same_or_less(x, t * 0.5)


def returns_argument(x, t):
    y = x * 2.0
    z = same_or_less(y, t)
    w = z * z
    y = y.copy()
    y[0] = 1.0
    z = z.copy()
    z[1:] *= y[1:]
    return (w * y * z).sum()


def unused_and_constant(x, t):
    i = 0
    s = 0.0
    while True:
        q = halves(x[i] * 2.0)
        if q > 5.0:
            break
        halves(t)
        u = halves(t * 3.0)
        if halves(x[i]) > 0.01:
            s = s + q * u
        s = s + halves(x[i] + s * 0.01)
        i += 1
        if i == x.shape[0]:
            break
    return s


def structured(a, b, d):
    if d["t"] < 0.1:
        return (a, b * 2.0), [a * b]
    (p, q), [w] = structured(b * 0.9, a, {"t": d["t"] * 0.5})
    return (p * a, q + b), [w * 1.1 + p]


def structure(x, t):
    (p, q), [w] = structured(x[0], x[1], {"t": t})
    return p * q + w


def tree_level(x, d):
    if x.sum() * d < 0.05:
        return x
    s = x * 0.0
    for k in range(3):
        s = s + np.sin(tree_level(x * (0.2 + 0.1 * k), d * 0.5)) * x
        if s.sum() > 3.0:
            break
        for j in range(k):
            s = s * 1.1 + tree_level(x * 0.1, d * 0.4)[j]
    return s


def tree(x, t):
    return tree_level(x, t * 10).sum()


def shrinking(x, t):
    def go(y):
        if y.shape[0] < 2 or y[0] > 1000.0 * t:
            return y.sum()
        return go(y[1:] * y[:-1]) * y[0] + y.sum()

    y = np.concatenate([x, x + 0.1, x * 0.5, x + 0.2, x, x, x * 1.1])
    return go(np.concatenate([y, y * 0.9, y + 0.2, y]))


def bisect(x, t):
    def root(lo, hi, k):
        if hi - lo < 1e-3:
            return (lo + hi) / 2.0 + (x * x).sum() * 0.01
        mid = (lo + hi) / 2.0
        if mid * mid > x[0]:
            return root(lo, mid, k + 1)
        return root(mid, hi, k + 1) * x[k % 3]

    return root(t * 0.0, 2.0 * t, 0)


def two_recursions(x, t):
    def inner(y, t):
        if t < 0.2:
            return y * x[0]
        return inner(np.sin(y), t * 0.6) + y

    def outer(y, t):
        if t < 0.1:
            return inner(y, t * 5)
        return outer(y * 0.9, t * 0.5) * inner(y, t)

    return outer(x, t).sum() + inner(x, t)[1]


def power_and_more(x, t):
    def go(y, t, n):
        if n == 0 and t < 0.5:
            return y
        if t < 0.01:
            return y * 3.0
        u = go(y * 1.1, t * 0.5, n - 1)
        v = u
        for k in range(3):
            v = np.sin(v) * 0.8 + y * 0.1
        return u * 0.3 + go(v, t * 0.2, n) * y

    return go(x, t, 3).sum()


CASES: list[Any] = [
    (halves, 1.3),
    (depth, 0.7, 30),
    (fib, 1.1, 13),
    (even, 0.3, 25),
    (array, X, 3.0),
    (reads_global, X, 1.0),
    (matrix, A, 1.0),
    (in_place, X, 1.0),
    (in_loop, X, 1.0),
    (stores_after, X, 2.0),
    (returns_argument, X, 2.0),
    (unused_and_constant, X, 0.7),
    (structure, X[:2], 1.0),
    (tree, X, 0.1),
    (shrinking, X, 1.0),
    (bisect, X, 1.0),
    (two_recursions, X, 1.0),
    (power_and_more, X, 1.0),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].__name__)
def test_first_and_second_order(case: Any) -> None:
    f, x, *rest = case
    before = x.copy() if isinstance(x, np.ndarray) else x
    g = ad.grad(f)
    np.testing.assert_allclose(g(x, *rest), differences(f, x, *rest), rtol=1e-6, atol=1e-7)
    assert any(op.prim is FUNC for op in lower(f, (x, *rest)).function.body.ops)
    weights = np.cos(np.arange(np.size(x))).reshape(np.shape(x)) if isinstance(x, np.ndarray) else 1.0

    def weighted(x: Any, *rest: Any) -> Any:
        return np.sum(g(x, *rest) * weights)

    np.testing.assert_allclose(ad.grad(weighted)(x, *rest), differences(weighted, x, *rest), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].__name__)
def test_vjp(case: Any) -> None:
    f, x, *rest = case
    value, pullback = ad.vjp(lambda x: f(x, *rest), x)
    np.testing.assert_allclose(value, f(x, *rest))
    expected = ad.grad(f)(x, *rest)
    for _ in range(2):  # it may be called again
        np.testing.assert_allclose(np.asarray(pullback(1.0)).reshape(np.shape(x)), expected, rtol=1e-12)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].__name__)
def test_interpreted_is_emitted(case: Any) -> None:
    f, x, *rest = case
    low = lower(f, (x, *rest))
    values = [x, *rest]
    if len(low.inputs) > len(values):
        values += [G] * (len(low.inputs) - len(values))
    verify(low.function)
    np.testing.assert_allclose(interpret(low.function, values)[0], f(x, *rest), rtol=1e-12)
    first = pipeline.adjoint(low.function, [0], keep_results=False, seeds=[1.0])
    verify(first)
    assert "call" in print_function(first)
    (g,) = interpret(first, values)
    np.testing.assert_allclose(g, ad.grad(f)(x, *rest), rtol=1e-12)
    second = pipeline.adjoint(Function("g", first.body, dict(first.meta)), [0], seeds=[1.0 if np.ndim(x) == 0 else x])
    verify(second)
    h = 1e-5
    (hv,) = interpret(second, values)
    along = np.ones_like(x)
    forward, back = (interpret(first, [x + s * along, *values[1:]])[0] for s in (h, -h))
    by_differences = np.sum((forward - back) / (2 * h) * (1.0 if np.ndim(x) == 0 else x))
    np.testing.assert_allclose(np.sum(hv * along), by_differences, rtol=1e-5, atol=1e-6)


def test_deep() -> None:
    """One frame per level, forward and backward."""
    limit = sys.getrecursionlimit()
    levels = 900
    sys.setrecursionlimit(levels + len(inspect.stack()) + 40)
    try:
        found = ad.grad(depth)(0.7, levels)
    finally:
        sys.setrecursionlimit(limit)
    sys.setrecursionlimit(3000)
    try:
        np.testing.assert_allclose(found, differences(depth, 0.7, levels), rtol=1e-6)
    finally:
        sys.setrecursionlimit(limit)


def test_compiled_once_for_all_depths() -> None:
    low = lower(depth, (0.7, 300))
    assert not [g for g in low.guards if g.kind == "eq"]
    g = ad.grad(depth)
    for n in (300, 40, 0):
        np.testing.assert_allclose(g(0.7, n), differences(depth, 0.7, n), rtol=1e-6)


def test_emitted() -> None:
    source = ad.grad(halves).source(1.3)
    assert "    def halves(x):\n" in source
    assert "    def halves_bar(x_bar):\n" in source


def test_calls_in_the_ir() -> None:
    fn = lower(halves, (1.3,)).function
    assert sum(op.prim is CALL for op in fn.body.walk()) == 2
    text = print_function(fn)
    assert "%halves: object = func(%x2: float) {" in text
    assert "call %halves, %x" in text


def stores_into_argument(x, t):
    if t < 0.1:
        return x.sum()
    x[0] = x[0] * 2.0
    return stores_into_argument(x, t * 0.5)


def stores_outside(x, t):
    y = x.copy()

    def go(t):
        if t < 0.1:
            return y.sum()
        y[0] = y[0] * 2.0
        return go(t * 0.5)

    return go(t)


def counts_outside(x, t):
    n = 0

    def go(t):
        nonlocal n
        n = n + 1
        if t < 0.1:
            return x.sum() * n
        return go(t * 0.5)

    return go(t)


def different_results(x, t):
    if t < 0.1:
        return x
    return (different_results(x, t * 0.5), x)


def never_ends(x, t):
    return never_ends(x, t * 0.5)


def returns_its_list(x, t):
    def go(xs, t):
        if t < 0.1:
            return xs
        return go(xs, t * 0.5)

    xs = [x[0], x[1]]
    ys = go(xs, t)
    ys[0] = x[2]
    return xs[0] * ys[1]


@pytest.mark.parametrize(
    "f",
    [returns_its_list, stores_into_argument, stores_outside, counts_outside, different_results, never_ends],
    ids=lambda f: f.__name__,
)
def test_refused(f: Any) -> None:
    with pytest.raises(UnsupportedError, match=r"test_recursion\.py:"):
        ad.grad(lambda x, t: np.sum(f(x, t)))(X, 1.0)
