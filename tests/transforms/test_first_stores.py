"""What is added first to a place of zeros is stored there, and only there."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

X = np.linspace(0.3, 1.7, 6)
W = np.linspace(-1.0, 1.0, 24).reshape(4, 6)


def same_without(f: Callable[..., Any], *args: Any) -> str:
    """The gradient is that of the code without the pass, to the last bit; gives the code."""
    found, want = ad.grad(f)(*args), ad.grad(f, optimize="-first stores")(*args)
    np.testing.assert_array_equal(found, want)
    ad.check_grads(f, args)
    return ad.grad(f).source(*args)


def test_parts_that_make_up_the_whole() -> None:
    def f(x: Any, w: Any) -> Any:
        n = w.shape[0]
        a, b, c = x[:n], x[n : 2 * n], x[2 * n :]
        return np.sum(np.sin(a) * w) + np.sum(b**3 * w) * np.sum(np.cos(c))

    code = same_without(f, X, np.array([0.3, 0.7]))
    assert "x_bar = np.empty_like(x)" in code and "+=" not in code


def test_parts_that_overlap_are_added() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.sin(x[:4])) * np.sum(x[3:] ** 2)

    assert "+=" in same_without(f, X) and "np.zeros(x.shape)" in ad.grad(f).source(X)


def test_a_part_of_unknown_length_is_added() -> None:
    def f(x: Any, n: Any, m: Any) -> Any:
        return np.sum(np.sin(x[:n])) * np.sum(x[m:] ** 2)

    for n, m in ((2, 4), (4, 2), (-2, 2), (2, -3), (6, 0)):
        assert "+=" in same_without(f, X, n, m)


def test_one_bound() -> None:
    def f(x: Any, n: Any) -> Any:
        return np.sum(np.sin(x[:n])) * np.sum(x[n:] ** 2)

    for n in (2, -2, 0, 6, 9, -9):
        assert "+=" not in same_without(f, X, n)


def test_first_and_inner_and_last() -> None:
    def f(x: Any) -> Any:
        return np.sin(x[0]) * np.sum(x[1:-1] ** 2) * np.cos(x[-1])

    assert "np.empty_like(x)" in same_without(f, X)


def test_rows_of_a_loop() -> None:
    def f(w: Any, x: Any) -> Any:
        total = np.sum(np.cos(w[0]) * x)
        for i in range(1, len(w)):
            total = total + np.sum(np.sin(w[i]) * x) * total
        return total

    code = same_without(f, W, X)
    assert "np.empty_like(w)" in code and "w_bar[i] =" in code and "w_bar[0] =" in code


def test_rows_that_the_loop_does_not_reach_are_zero() -> None:
    def f(w: Any, x: Any, n: Any) -> Any:
        total = 0.0
        for i in range(n):
            total = total + np.sum(np.sin(w[i]) * x) * (1.0 + total)
        return total

    for n in (0, 2, 4, -1):
        assert "np.zeros(w.shape)" in same_without(f, W, X, n)


def test_two_parts_of_a_row() -> None:
    def f(w: Any, x: Any) -> Any:
        total = 0.0
        for i in range(len(w)):
            total = total + np.sum(np.sin(w[i, :3]) * x[:3]) * np.sum(w[i, 3:] ** 2) * (1.0 + total)
        return total

    same_without(f, W, X)


def test_a_neighbour_is_added() -> None:
    def f(w: Any, x: Any) -> Any:
        total = 0.0
        for i in range(len(w) - 1):
            total = total + np.sum(np.sin(w[i]) * w[i + 1] * x) * (1.0 + total)
        return total

    assert "+=" in same_without(f, W, X)


def test_negative_places_may_be_the_same() -> None:
    def f(w: Any, x: Any) -> Any:
        total = 0.0
        for i in range(-2, 4):
            total = total + np.sum(np.sin(w[i]) * x) * (1.0 + total)
        return total

    assert "+=" in same_without(f, W, X)


def test_a_loop_that_ends_early() -> None:
    def f(w: Any, x: Any) -> Any:
        total = 0.0
        for i in range(len(w)):
            total = total + np.sum(np.sin(w[i]) * x) * (1.0 + total)
            if total > 0.1:
                break
        return total

    for sign in (1.0, -1.0):
        same_without(f, sign * W, X)


def test_blocks_of_columns() -> None:
    def f(w: Any, x: Any, n: Any) -> Any:
        size = w.shape[1] // n
        total = 0.0
        for h in range(n):
            part = w[:, h * size : (h + 1) * size]
            total = total + np.sum((part @ part.T) ** 2) * (1.0 + 1e-3 * total)
        return total

    for n in (1, 2, 3, 4, 7):
        same_without(f, W, X, n)


def test_a_product_is_negated_once() -> None:
    def f(x: Any, y: Any) -> Any:
        return -np.sum(np.exp(-x[:2]) * y) - np.sum(x[2:] * -y[0])

    same_without(f, X, np.array([0.3, 0.7]))


def test_what_reads_the_zeros_before_all_is_stored() -> None:
    def f(w: Any) -> Any:
        y = np.zeros_like(w)
        for i in range(len(w)):
            y[i] = np.sin(w[i]) + (y[i - 1] * w[i - 1] if i > 1 else 0.0)
        return np.sum(y**2)

    same_without(f, W)


BOUNDS = [None, 0, 1, 2, -1, -2, 5]


@pytest.mark.parametrize("first", [slice(a, b) for a, b in itertools.product(BOUNDS, BOUNDS)])
def test_pairs_of_parts(first: slice) -> None:
    """Each pair of slices and indices: only those apart are stored, and garbage never shows."""
    for second in [*[slice(a, b) for a, b in itertools.product(BOUNDS, BOUNDS)], 0, 1, -1]:

        def f(x: Any) -> Any:
            return np.sum(np.sin(x[first]) * 2.0) + np.sum(x[second] ** 3)

        same = ad.grad(f)(X)
        want = np.zeros_like(X)
        want[first] += 2.0 * np.cos(X[first])
        want[second] += 3.0 * X[second] ** 2
        np.testing.assert_allclose(same, want, rtol=1e-14)


def test_float32_and_complex() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.abs(x[:2]) ** 2) + np.sum(np.real(x[2:] * x[2:]))

    for dtype in (np.float32, np.complex64, np.complex128):
        g = ad.grad(f)(X.astype(dtype))
        assert g.dtype == dtype
        np.testing.assert_array_equal(g, ad.grad(f, optimize="-first stores")(X.astype(dtype)))


def test_indices_that_count_the_rows() -> None:
    def f(w: Any, k: Any) -> Any:
        total, each = 0.0, np.arange(len(k))
        for i in range(2):
            total = total + np.sum(w[i][each, k] ** 2) * (1.0 + total)
        return total

    w = np.linspace(0.0, 1.0, 18).reshape(2, 3, 3)
    assert "np.add.at" not in same_without(f, w, np.array([0, 2, 2]))


def test_a_part_is_added_to_what_is_there() -> None:
    def f(x: Any, k: Any) -> Any:
        y = x * x
        return np.sum(np.exp(y)) - np.sum(y[np.arange(len(k)), k]) + y[0, 0]

    code = same_without(f, W, np.array([1, 1, 5, 0]))
    assert "zeros" not in code


def test_what_is_read_twice_is_not_changed() -> None:
    def f(x: Any, k: Any) -> Any:
        z = x - np.log(np.sum(np.exp(x), axis=1, keepdims=True))
        y = np.sin(x)
        return np.sum(z[np.arange(len(k)), k]) + np.sum(y * y) * y[0, 0]

    same_without(f, W, np.array([1, 1, 5, 0]))


def test_both_operands_of_a_sum_are_zeros_with_parts_stored() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.gradient(x) ** 2) + np.median(x * x) + np.percentile(x, 30) + np.quantile(x, 0.5)

    x = np.array([0.7, -1.3, 2.1])
    found = ad.grad(f)(x)
    h = 1e-6 * np.eye(3)
    np.testing.assert_allclose(found, [(f(x + d) - f(x - d)) / 2e-6 for d in h], rtol=1e-7)


def blocks_eliminated(a: Any, block: Any) -> Any:
    n = len(a)
    work = a.copy()
    total = 0.0
    for start in range(0, n, block):
        stop = min(start + block, n)
        corner = work[start:stop, start:stop]
        total += np.linalg.slogdet(corner)[1]
        work[stop:, stop:] -= work[stop:, start:stop] @ np.linalg.solve(corner, work[start:stop, stop:])
    return total


def blocks_below(a: Any, block: Any) -> Any:
    """What each block reads lies in front of it, too."""
    n = len(a)
    total = 0.0
    for start in range(0, n, block):
        stop = min(start + block, n)
        total = total + np.sum(a[start:stop, :stop] ** 3) * np.sum(a[:start, start:stop]) * (1.0 + total)
    return total


def blocks_that_overlap(a: Any, block: Any) -> Any:
    n = len(a)
    total = 0.0
    for start in range(0, n, block):
        stop = min(start + block, n)
        total = total + np.sum(a[start:stop, start:] ** 3) * np.sum(a[:stop, start:stop]) * (1.0 + 0.1 * total)
    return total


def rows_below(a: Any, block: Any) -> Any:
    n = len(a)
    total = 0.0
    for start in range(0, n, block):
        stop = min(start + block, n)
        total = total + np.sum(a[stop:, :] ** 3) * (1.0 + 0.1 * total)
    return total


@pytest.mark.parametrize("f", [blocks_eliminated, blocks_below, blocks_that_overlap, rows_below])
def test_blocks(f: Callable[..., Any]) -> None:
    a = np.linspace(0.1, 0.9, 49).reshape(7, 7) ** 2 + 3.0 * np.eye(7)
    for block in (1, 2, 3, 5, 7, 9):
        code = same_without(f, a, block)
    assert ("] += " in code.split("reversed")[1]) == (f in (blocks_that_overlap, rows_below, blocks_below))


def sums_from_here(x: Any, w: Any) -> Any:
    n = len(x)
    b = np.zeros(n)
    total = 0.0
    for i in range(n):
        b[i] = x[i] * x[i]
        total += np.sum(b[i:]) * w[i]
    return total


def products_with_all_rows(x: Any, w: Any) -> Any:
    n = len(x)
    b = np.zeros((n, n))
    total = 0.0
    for i in range(n):
        b[i] = x[i] * w
        total += np.sum(b @ x) * w[i]
    return total


@pytest.mark.parametrize("f", [sums_from_here, products_with_all_rows])
def test_zeros_that_an_iteration_reads(f: Callable[..., Any]) -> None:
    """The pass sees the tangents of `linearize`: what an iteration has not stored yet is zero when it is read."""
    x, w = np.linspace(0.3, 1.7, 30), np.linspace(-1.0, 1.0, 30)
    want = np.sum(ad.grad(f)(x, w))
    _, push = ad.linearize(lambda x: f(x, w), x)
    for _ in range(3):
        np.testing.assert_allclose(push(np.ones(30)), want, rtol=1e-9)


def stored_and_added(x, k):
    """What an array operation reads of an array that a loop has made, and what the loop reads of it."""
    n = len(x)
    y = np.zeros(n)
    y[0] = x[0]
    for i in range(1, n):
        y[i] = k * x[i] + (1.0 - k) * y[i - 1]
    return np.mean((x[1:] - y[:-1]) ** 2)


def stored_and_added_elsewhere(x, k):
    n = len(x)
    y = np.zeros(n)
    y[0] = x[0]
    for i in range(1, n):
        y[i] = k * x[i] + (1.0 - k) * y[i - 1]
    return np.mean((x[:-1] - y[:-1]) ** 2) + np.sum(x[1:] * k)


def added_twice(x, k):
    n = len(x)
    y, z = np.zeros(n), np.zeros(n)
    for i in range(1, n):
        y[i] = k * x[i] + 0.5 * y[i - 1]
    for i in range(1, n):
        z[i] = y[i] * x[i] + 0.3 * z[i - 1]
    return np.sum((x[1:] - y[1:]) ** 2 * z[1:])


@pytest.mark.parametrize("f", [stored_and_added, stored_and_added_elsewhere, added_twice])
def test_a_sum_is_stored_once(f):
    x = np.random.default_rng(8).normal(size=9)
    for given in (x, x[:2], x[:3].astype(np.float32)):
        grads = ad.grad(f, argnums=(0, 1))(given, 0.4)
        plain = ad.grad(f, argnums=(0, 1), optimize="-first stores")(given, 0.4)
        for grad, other, k in zip(grads, plain, range(2)):
            rtol = 1e-12 if given.dtype == np.float64 else 1e-4
            np.testing.assert_allclose(grad, other, rtol=rtol, atol=rtol)
            if given.dtype == np.float64:
                np.testing.assert_allclose(grad, differences(f, given, 0.4, argnum=k), rtol=1e-5, atol=1e-7)


def test_where_a_sum_is_stored():
    source = ad.grad(stored_and_added, argnums=(0, 1)).source(np.ones(9), 0.4)
    assert source.count("x_bar[1:]") == 1 and "x_bar[1:] +=" not in source
