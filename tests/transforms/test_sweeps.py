"""Loops that are reversed as they run: which are, and that their derivatives are right."""

import contextlib
import io

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

RNG = np.random.default_rng(5)
X = RNG.normal(size=(6, 3))
W = RNG.normal(size=3)


def only_adds(w, x):
    loss = 0.0
    for row in x:
        loss += np.exp(0.3 * (row @ w)) + np.sum(np.tanh(row * w))
    return loss


def mean_of_sums(w, x):
    loss = 0.0
    for i in range(len(x)):
        t = np.tanh(x[i] * w)
        loss = loss + t @ t
    return loss / len(x)


def pairs(w, x):
    energy = 0.0
    for i in range(len(x)):
        for j in range(i):
            d = (x[i] - x[j]) * w
            energy += np.exp(-(d @ d))
    return 0.5 * energy


def with_branches(w, x):
    loss = 0.0
    for i in range(len(x)):
        p = np.sin(x[i] * w)
        if p[0] > 0.0:
            loss += p @ p
        else:
            loss -= np.exp(p[1] * p[2])
    return loss


def with_a_chain_inside(w, x):
    loss = 0.0
    for row in x:
        h = row
        for _ in range(4):
            h = np.tanh(h * w)
        loss += np.sum(h)
    return loss


def one_after_the_other(w, x):
    first = 0.0
    for row in x:
        first += np.exp(np.sum(row * w) * 0.1)
    second = 0.0
    for row in x:
        second += np.sin(row * w) @ w
    return first + 2.0 * second


def constant_inside(w, x):
    loss, kept = 0.0, np.sin(w)
    for i in range(len(x)):
        loss += np.exp(kept @ x[i] * 0.2)
    return loss


def minibatches(w, x):
    loss = 0.0
    for at in range(0, len(x), 4):
        part = x[at : at + 4]
        loss += np.sum(np.tanh(part @ w) ** 2)
    return loss


MERGED = [
    only_adds, mean_of_sums, pairs, with_branches, with_a_chain_inside, one_after_the_other, constant_inside,
    minibatches,
]  # fmt: skip


def chain(w, x):
    for row in x:
        w = np.tanh(w * row)
    return np.sum(w)


def saves_for_another(w, x):
    """What the reversed loop saves for the second derivative depends on the order of its iterations."""
    loss = 0.0
    for k in range(len(x)):
        y = x[k] * w * (1.0 + 0.1 * k)
        if y[0] > 0.0:
            loss += y[1] * y[1] * (k + 1)
        loss += y[2] * y[0] * (k + 2)
    return loss


def curved(w, x):
    loss = 0.0
    for row in x:
        loss += np.exp(0.3 * (row @ w))
    return loss**2


def running(w, x):
    total = 0.0
    for row in x:
        total = total + np.sin(row @ w) * (1.0 + 0.1 * total)
    return total


def normalised_by_the_last(w, x):
    loss, last = 0.0, 1.0
    for row in x:
        last = np.exp(row @ w)
        loss += np.sin(last)
    return loss / last


def left_early(w, x):
    loss = 0.0
    for row in x:
        p = np.exp(row @ w)
        loss += p * p
        if loss > 3.0:
            break
    return loss


def printing(w, x):
    loss = 0.0
    for row in x:
        p = np.exp(row @ w)
        print(loss)
        loss += p * p
    return loss


def stores(w, x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = np.exp(0.1 * (x[i] @ w)) * out[i - 1] + w[0]
    return np.sum(out)


APART = [chain, curved, running, normalised_by_the_last, left_early, printing, stores]


@pytest.mark.parametrize("f", MERGED + APART)
def test_derivatives(f):
    with contextlib.redirect_stdout(io.StringIO()):
        value, (w_bar, x_bar) = ad.value_and_grad(f, argnums=(0, 1))(W, X)
        assert value == f(W, X)
        np.testing.assert_allclose(w_bar, differences(lambda w: f(w, X), W), rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(x_bar, differences(lambda x: f(W, x), X), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", [*MERGED, *APART, saves_for_another])
def test_second_derivatives(f):
    with contextlib.redirect_stdout(io.StringIO()):
        found = ad.hessian(f)(W, X)
        expected = [differences(lambda w, k=k: ad.grad(f)(w, X)[k], W) for k in range(3)]
    np.testing.assert_allclose(found, np.array(expected), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("f", MERGED)
def test_one_loop(f):
    text = ad.value_and_grad(f, argnums=(0, 1)).source(W, X)
    if f is with_a_chain_inside:
        assert text.count("    for i in range(") == 1 and text.count("reversed") == 1  # only the chain is taken back
    else:
        assert "reversed" not in text


@pytest.mark.parametrize("f", APART)
def test_two_loops(f):
    assert "reversed" in ad.value_and_grad(f).source(W, X)


@pytest.mark.parametrize("f", MERGED)
def test_a_pullback_stays_apart(f):
    """What a later cotangent is, nobody knows when the loop runs."""
    _, pullback = ad.vjp(lambda w: f(w, X), W)
    np.testing.assert_allclose(pullback(2.0)[0], 2.0 * ad.grad(f)(W, X), rtol=1e-12)


def test_sums_go_on():
    """The second loop adds to the sums of the first."""
    text = ad.grad(one_after_the_other).source(W, X)
    assert text.count("w_bar = ") == 1 and "np.zeros(w.shape)" in text


def test_nothing_is_saved():
    assert "append" not in ad.value_and_grad(only_adds).source(W, X)


def test_errors_stay():
    def f(w, x):
        loss = 0.0
        for row in x:
            if row[0] > 100.0:
                raise ValueError("too large")
            loss += np.exp(row @ w) ** 2
        return loss

    with pytest.raises(ValueError, match="too large"):
        ad.grad(f)(W, np.full((2, 3), 200.0))
    np.testing.assert_allclose(ad.grad(f)(W, X), differences(lambda w: f(w, X), W), rtol=1e-6)


def test_two_sums_of_one_loop_do_not_go_on_with_each_other():
    """Both are the cotangent of one argument."""

    def f(x, z, x0, k):
        b = x0
        s = 0.0
        for i in range(len(x)):
            w = z[i]
            b = b
            s += w * x0 * (k + b)
        return s + 0.0

    z = np.array([0.5, 0.25, 2.0])
    _, (_, _, x0_bar, k_bar) = ad.value_and_grad(f, argnums=(0, 1, 2, 3))(np.ones(3), z, 0.5, 0.7)
    np.testing.assert_allclose((x0_bar, k_bar), (np.sum(z) * (0.7 + 2.0 * 0.5), np.sum(z) * 0.5))
