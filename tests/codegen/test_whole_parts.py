"""The cotangent of an array by that of all its elements in another order or shape, as `a.T` has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad

W, X = np.arange(6.0).reshape(3, 2) + 1.0, np.linspace(-1.0, 1.0, 6).reshape(3, 2)


def by_transpose(w, x):
    return np.sum((x @ w.T) ** 2)


def by_two_transposes(w, x):
    a = w.T
    return np.sum((x @ a) ** 2) + np.sum(a * x.T)


def by_reshape(w, x):
    return np.sum((w.reshape(2, 3) @ x) ** 2)


def by_reshape_of_transpose(w, x):
    return np.sum((w.T.reshape(3, 2) * x) ** 2)


def stored_into(w, x):
    y = w.copy()
    a = y.reshape(2, 3)
    a[1] *= 2.0
    c = np.ravel(y)
    c[0] = 3.0
    return np.sum(a @ x) * np.sum(c * c) + np.sum(y.T @ x)


def kept_and_stored_into(w, x):
    y = (x * w).copy()
    z = np.reshape(y, (2, 3))
    z[0] = 1.0
    return np.sum(y * x) + np.sum(z * z)


def of_one_axis(w, x):
    v = w[0]
    return np.sum(v.T * x[1]) + np.sum(v.reshape(2, 1) * x.T)


def spread_over_it(w, x):
    t = w.T
    return np.sum(t[:, :1] + x.T) * t[0, 0]


PROGRAMS = [
    by_transpose, by_two_transposes, by_reshape, by_reshape_of_transpose, stored_into, kept_and_stored_into,
    of_one_axis, spread_over_it,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_the_gradient_is_right(f: Any) -> None:
    for layout in ("C", "F"):
        args = [a.copy(order=layout) for a in (W, X)]
        ad.check_grads(f, tuple(args), order=2)


@pytest.mark.parametrize("f", [by_transpose, by_two_transposes, by_reshape])
def test_nothing_is_put_into_an_array_of_zeros_or_copied(f: Any) -> None:
    source = str(ad.grad(f).source(W, X))
    assert "zeros" not in source and ".copy()" not in source
    g = ad.grad(f)(W, X)
    assert g.flags.writeable and not np.shares_memory(g, W)


def softmax(xs, y):
    def one(x):
        e = np.exp(x - np.max(x))
        return e / np.sum(e)

    return np.sum(ad.vmap(one)(xs) * y)


def normalised(xs, y):
    m, v = xs.mean(axis=1), xs.var(axis=1)
    return np.sum(((xs - m[:, None]) / np.sqrt(v[:, None] + 1e-5)) ** 3 * y)


def cross_entropy(xs, y):
    def one(x, row):
        m = np.max(x)
        return m + np.log(np.sum(np.exp(x - m))) - x @ row

    return np.mean(ad.vmap(one)(xs, y))


@pytest.mark.parametrize("f", [softmax, normalised, cross_entropy])
def test_axes_that_are_added_are_taken_away(f: Any) -> None:
    ad.check_grads(f, (W, X), order=2)
    source = str(ad.grad(f, (0, 1))(W, X) and ad.grad(f, (0, 1)).source(W, X))
    assert "zeros" not in source and "full_like" not in source
    assert source.count("keepdims") <= (2 if f is normalised else 0)


def test_a_shape_is_that_of_what_is_there() -> None:
    # The value of the loss is not computed for its shape.
    lines = str(ad.grad(cross_entropy).source(W, X)).splitlines()
    assert not any("np.log" in line for line in lines if not line.strip().startswith("#"))


def of_labels(xs, k):
    return np.sum(np.sin(xs[np.arange(xs.shape[0]), k]) * xs[:, 0])


def of_pairs(xs, i, j):
    return np.sum(xs[i, j] ** 2)


def test_elements_that_are_picked_once_are_stored() -> None:
    labels = np.array([1, 0, 1])
    assert "np.add.at" not in str(ad.grad(of_labels).source(W, labels))
    ad.check_grads(lambda xs: of_labels(xs, labels), (W,), order=2)
    assert "np.add.at" in str(ad.grad(of_pairs).source(W, labels, labels))
    ad.check_grads(lambda xs: of_pairs(xs, np.array([0, 0, 1]), np.array([1, 1, 0])), (W,), order=2)
    # One row, and several labels: the row counts for all of them.
    ad.check_grads(lambda xs: of_labels(xs, np.array([1, 1, 0])), (W[:1],), order=2)
