"""Products of matrices in loops are ``a.dot(b)`` where both operands lie in one piece: bit by bit the same."""

import itertools

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.analysis.layout import tag_products
from autodiff_compiler.frontend.lower import lower
from autodiff_compiler.ir.core import COMPACT

RNG = np.random.default_rng(5)
W, X = RNG.normal(size=(4, 4)), RNG.normal(size=(3, 4))


def matrices(m, n, dtype):
    a = RNG.normal(size=(m, n)).astype(dtype)
    shifted = np.empty(m * n + 1, dtype)[1:].reshape(m, n)
    shifted[...] = a
    stack = np.stack([a, a + 1, a])
    return a, np.asfortranarray(a), shifted, stack[1], np.concatenate([a, a, a])[m : 2 * m]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numpy_computes_both_forms_alike(dtype):
    """What the pass relies on, also beyond the sizes at which libraries change over to other kernels."""
    for m, n, p in itertools.product((2, 3, 5, 8, 17, 33, 70), repeat=3):
        x, y = RNG.normal(size=n).astype(dtype), RNG.normal(size=(2 * n, 3)).astype(dtype)[::2, 1]
        for a, b in itertools.product(matrices(m, n, dtype)[:4], matrices(n, p, dtype)[1:]):
            np.testing.assert_array_equal(a.dot(b), a @ b)
            np.testing.assert_array_equal(x.dot(b), x @ b)
        for a in matrices(m, n, dtype):
            np.testing.assert_array_equal(a.dot(x), a @ x)
            np.testing.assert_array_equal(a.dot(y), a @ y)
            np.testing.assert_array_equal(a.dot(a.T), a @ a.T)


def recurrence(w, x):
    h = np.zeros(len(w))
    for row in x:
        h = np.tanh(w @ h + row)
    return np.sum(h)


def test_the_value_has_the_same_bits_and_code_is_for_one_layout():
    g = ad.value_and_grad(recurrence, (0, 1))
    assert "w.dot(h)" in g.source(W, X) and "w @ h" in g.source(np.asfortranarray(W), X)
    for w in (W, np.asfortranarray(W), W[::-1], np.repeat(W, 2, axis=1)[:, ::2], np.repeat(W, 2, axis=0)[::2]):
        for x in (X, X[::-1], np.asfortranarray(X)):
            assert g(w, x)[0] == recurrence(w, x)
    ad.check_grads(recurrence, (W, X))


def tagged(f, *args, ordered=None):
    """How many products are tagged, and the parameters that have to be in C order."""
    fn = lower(f, args, {}).function
    needed = tag_products(fn, range(len(args)) if ordered is None else ordered)
    return sum(op.tag == COMPACT for op in fn.body.walk()), sorted(needed)


def test_only_products_in_loops():
    assert tagged(lambda w, x: np.sum(w @ x), W, X[0]) == (0, [])
    assert tagged(recurrence, W, X) == (1, [0])


def test_what_is_not_known_to_be_in_order():
    assert tagged(recurrence, W, X, ordered=[1]) == (0, [])


def test_a_first_value_counts():
    def f(w, h, n):
        for _ in range(n):
            h = np.sin(w @ h)
        return np.sum(h)

    assert tagged(f, W, X[0], 3) == (1, [0, 1])
    assert tagged(f, W, X[0], 3, ordered=[0]) == (0, [])


def test_what_an_iteration_hands_on_counts():
    def f(w, h, n):
        for _ in range(n):
            h = (w @ h).T
        return np.sum(h)

    assert tagged(f, W, W, 3) == (0, [])

    def swapped(w, a, b, n):
        for _ in range(n):
            a, b = w @ b, a.T
        return np.sum(a) + np.sum(b)

    assert tagged(swapped, W, W, W, 3) == (0, [])


def test_one_of_two_branches_counts():
    def f(w, x, n):
        total = 0.0
        for k in range(n):
            v = w.T if k > 1 else w
            u = w * 2.0 if k > 1 else np.exp(w)
            total += np.sum(v @ x) + np.sum(u @ x)
        return total

    assert tagged(f, W, X[0], 3) == (1, [0, 1])


@pytest.mark.parametrize(
    "part, found",
    [
        (lambda w: w[1:], True), (lambda w: w[:, 1:], False), (lambda w: w[::2], False), (lambda w: w.T, True),
        (lambda w: w[:, 1:] * 2.0, True), (lambda w: w[::-1] * 2.0, False), (lambda w: w.T * 2.0, False),
        (lambda w: w + w.T, False), (lambda w: np.where(w > 0.0, w, 0.5), True), (lambda w: np.linalg.inv(w), True),
        (lambda w: w[1:].T, True), (lambda w: w.reshape(2, -1), False), (lambda w: w[:, [1, 0, 2]], False),
        (lambda w: np.ones_like(w) + w[0], True), (lambda w: np.zeros((4, 4)), True), (lambda w: w[:1], False),
        (lambda w: np.zeros((4, 4), order="F"), False), (lambda w: np.ones_like(w, order="F"), False),
        (lambda w: w.copy(), True), (lambda w: np.triu(w), False),
    ],
)  # fmt: skip
def test_parts_and_what_is_computed(part, found):
    def f(w, n):
        total = 0.0
        for _ in range(n):
            v = part(w)
            total += np.sum(np.ones(v.shape[0]) @ v)
        return total

    assert tagged(f, W, 3)[0] == found
    value = ad.value_and_grad(f)(W, 3)[0]
    assert value == f(W, 3)


def test_stores_keep_the_order():
    def f(w, n):
        a = np.zeros((4, 4))
        total = 0.0
        for k in range(n):
            a[k] = w[k]
            total += np.sum(a @ w[k])
        return total

    assert tagged(f, W, 3) == (1, [0])
    ad.check_grads(f, (W, 3))


def test_short_axes_and_stacks_keep_the_operator():
    def f(w, x):
        total = 0.0
        for _ in range(2):
            total += np.sum(w @ x)
        return total

    assert tagged(f, W[:1], X[0]) == (0, [])
    assert tagged(f, W[:, :1], X[:1]) == (0, [])
    assert tagged(f, np.stack([W, W]), W) == (0, [])
    assert tagged(f, W.astype(int), X[0]) == (0, [])
    assert tagged(f, W.astype(np.float32), X[0]) == (0, [])


def test_a_function_of_stacks():
    stacks = ad.batch(recurrence, in_axes=(None, 1))
    x = RNG.normal(size=(3, 5, 4))
    np.testing.assert_allclose(stacks(W, x), [recurrence(W, x[:, k]) for k in range(5)], rtol=1e-14)
    np.testing.assert_allclose(
        ad.batch(ad.grad(recurrence), in_axes=(None, 1))(W, x),
        [ad.grad(recurrence)(W, x[:, k]) for k in range(5)], rtol=1e-12,
    )  # fmt: skip


def test_other_derivatives():
    direction = np.ones_like(W)
    value, _ = ad.jvp(lambda w: recurrence(w, X), (W,), (direction,))
    assert value == recurrence(W, X)
    value, pull = ad.vjp(lambda w: recurrence(w, X), W)
    assert value == recurrence(W, X)
    np.testing.assert_allclose(pull(1.0)[0], ad.grad(recurrence)(W, X), rtol=1e-14)
    ad.check_grads(recurrence, (W, X), order=2)


def weights_of_a_closure():
    w = np.asfortranarray(W)

    def f(x, n):
        for _ in range(n):
            x = np.tanh(w @ x)
        return np.sum(x)

    def put(new):
        nonlocal w
        w = new

    return f, put


def test_an_array_from_outside():
    f, put = weights_of_a_closure()
    g = ad.value_and_grad(f)
    for w in (np.asfortranarray(W), W, W[::-1], W.T):
        put(w)
        assert g(X[0], 3)[0] == f(X[0], 3)
