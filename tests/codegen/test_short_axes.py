"""Programs on arrays with a short last axis: the value is the function's to the last bit, in each transformation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

RNG = np.random.default_rng(11)
POINTS = RNG.normal(size=(300, 3))
CENTRES = RNG.normal(size=(40, 3))
LABELS = RNG.integers(0, 40, 300)


def lengths(x: Any) -> Any:
    return np.sum(np.sqrt(np.sum(x**2, axis=1)) ** 3)


def norms(x: Any) -> Any:
    return np.sum(np.linalg.norm(x, axis=1, keepdims=True) * x) + np.sum(np.linalg.norm(x, axis=-1) ** 3)


def softmax(x: Any) -> Any:
    z = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum((z / np.sum(z, axis=-1, keepdims=True)) ** 2 * np.min(x, axis=1)[:, None])


def centred(x: Any) -> Any:
    y = x - np.mean(x, axis=0)
    return np.sum(y**2 * np.mean(y, axis=1, keepdims=True)) + np.sum(x.sum(axis=0) ** 2)


def potential(x: Any) -> Any:
    d = x[:40, None, :] - x[None, 40:150]
    r = np.sqrt(np.sum(d**2, axis=2) + 0.1)
    force = np.sum(d / r[:, :, None] ** 3, axis=1)
    return np.sum(1.0 / r) + np.sum(force**2)


def clusters(x: Any) -> Any:
    d = np.sum((x[:, None] - CENTRES[None]) ** 2, axis=2)
    return np.sum(np.min(d, axis=1)) + np.sum((x - CENTRES[LABELS]) ** 2) + np.sum(np.sum(d > 2.0, axis=1) * d[:, 0])


def springs(x: Any) -> Any:
    force = np.zeros_like(x)
    for _ in range(3):
        d = x[LABELS] - x[LABELS + 7]
        pull = (np.sqrt(np.sum(d**2, axis=1)) + 0.1)[:, None] * d
        np.add.at(force, LABELS, -pull)
        np.add.at(force, LABELS + 7, pull)
        x = x + 0.01 * force
    return np.sum(x**2)


PROGRAMS = {
    lengths: ["row_sums("], norms: ["row_sums("], softmax: ["row_sums(", "row_maxima(", "row_minima("],
    centred: ["column_sums(x, exact=True)", "column_sums("],
    potential: ["by_columns(np.subtract", "exact=True", "row_sums(", "column_sums("],
    clusters: ["row_sums("],
    springs: ["take_rows(x", "    add_at(force, ", "row_dots("],
}  # fmt: skip
LAYOUTS = {
    "C": POINTS, "F": np.asfortranarray(POINTS), "reversed": POINTS[::-1, ::-1], "part": np.tile(POINTS, 2)[:, ::2],
}  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_value_has_the_same_bits(f: Any, layout: str) -> None:
    x = LAYOUTS[layout]
    both = ad.value_and_grad(f)
    value, gradient = both(x)
    assert value == f(x)
    assert not [part for part in PROGRAMS[f] if part not in both.source(x)], both.source(x)
    unoptimised = ad.value_and_grad(f, optimize=False)(x)
    assert unoptimised[0] == value
    np.testing.assert_allclose(gradient, unoptimised[1], rtol=1e-9, atol=1e-12)
    v = np.random.default_rng(0).normal(size=x.shape)
    value, tangent = ad.jvp(f, (x,), (v,))
    assert value == f(x) and tangent == pytest.approx(np.sum(gradient * v), rel=1e-9)
    value, pullback = ad.vjp(f, x)  # which works on a copy of the argument, in C order
    assert value == f(x.copy())
    np.testing.assert_allclose(pullback(1.0)[0], gradient, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(f: Any) -> None:
    x, v = POINTS, RNG.normal(size=POINTS.shape)
    gradient = ad.grad(f)
    at = RNG.integers(0, 300, 4), RNG.integers(0, 3, 4)

    def moved(t: Any) -> Any:
        y = x.copy()
        y[at] += t
        return f(y)

    np.testing.assert_allclose(gradient(x)[at], differences(moved, np.zeros(4)), rtol=2e-5, atol=1e-5)
    second = ad.hvp(f)(x, v)
    step = 1e-5
    np.testing.assert_allclose(
        second, (gradient(x + step * v) - gradient(x - step * v)) / (2 * step), rtol=1e-3, atol=1e-3
    )


@pytest.mark.parametrize("f", [lengths, norms, softmax, centred, springs], ids=lambda f: f.__name__)
def test_stacks(f: Any) -> None:
    stack = np.stack([POINTS, POINTS[::-1]])
    np.testing.assert_allclose(ad.vmap(f)(stack), [f(x) for x in stack], rtol=1e-12)
    np.testing.assert_allclose(ad.vmap(ad.grad(f))(stack), [ad.grad(f)(x) for x in stack], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("f", [lengths, softmax, centred, potential], ids=lambda f: f.__name__)
def test_float32(f: Any) -> None:
    x = POINTS.astype(np.float32)
    value, gradient = ad.value_and_grad(f)(x)
    assert value == f(x) and value.dtype == gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, ad.grad(f)(POINTS), rtol=1e-2, atol=1e-3)


def test_a_result_has_the_layout_of_the_functions() -> None:
    """What follows may depend on it: a sum of all elements is taken in the order of memory."""

    def taken(x: Any, index: Any) -> Any:
        y = x[index]
        d = y[:, None] - y[None]
        return np.sum(d) + np.sum(y), (y, d, d.sum(axis=1), d.max(axis=2))

    for x in LAYOUTS.values():
        for index in (LABELS, LABELS[::-1], LABELS.reshape(20, 15)[:, 0]):
            (value, found), _ = ad.value_and_grad(taken, has_aux=True)(x, index)
            want = taken(x, index)
            assert value == want[0]
            for a, b in zip(found, want[1]):
                assert np.array_equal(a, b) and a.strides == b.strides


def test_the_length_that_is_one_and_no_length() -> None:
    for shape in [(300, 1), (0, 3), (300, 0), (1, 3)]:
        x = np.ones(shape)
        for f in (lengths, norms, lambda x: np.sum(np.sum(x, axis=0) ** 2)):
            value, gradient = ad.value_and_grad(f)(x)
            assert value == f(x) and gradient.shape == shape


def test_no_array_is_broadcast_that_the_next_operation_broadcasts() -> None:
    source = ad.grad(potential).source(POINTS)
    assert "broadcast_to" not in source and "(2.0 * column_sums(t3, exact=True))[:, None] / t2" in source


def test_ties_are_counted_along_both_axes() -> None:
    x = np.tile(np.round(POINTS[:100], 1), (3, 1))
    for axis in (0, 1):
        f = lambda x, axis=axis: np.sum(np.max(x, axis=axis) ** 2)
        ties = x == x.max(axis=axis, keepdims=True)
        want = 2.0 * x.max(axis=axis, keepdims=True) * ties / ties.sum(axis=axis, keepdims=True)
        np.testing.assert_allclose(ad.grad(f)(x), want, rtol=1e-12)


def test_an_index_out_of_bounds() -> None:
    def f(x: Any, index: Any) -> Any:
        try:
            return np.sum(x[index] ** 2)
        except IndexError:
            return np.sum(x)

    for index in (np.array([0, 300]), np.array([0, -301]), LABELS):
        assert ad.value_and_grad(f)(POINTS, index)[0] == f(POINTS, index)


def test_rows_by_masks() -> None:
    def near(x: Any, limit: Any) -> Any:
        inside = np.all((x > -limit) & (x < limit), axis=1)
        far = np.any(np.abs(x) > 2.0, axis=-1, keepdims=True)
        return np.sum(x[inside] ** 2) + np.sum(np.where(far, x, 0.0) ** 3)

    both = ad.value_and_grad(near)
    text = both.source(POINTS, 1.0)
    assert "row_all(" in text and "row_any(" in text and "take_rows(x, " in text
    for x in LAYOUTS.values():
        value, gradient = both(x, 1.0)
        assert value == near(x, 1.0)
        np.testing.assert_allclose(gradient, ad.grad(near, optimize=False)(x, 1.0), rtol=1e-12)
        inside, far = np.all(np.abs(x) < 1.0, axis=1), np.any(np.abs(x) > 2.0, axis=1)
        np.testing.assert_allclose(gradient, 2.0 * x * inside[:, None] + 3.0 * x**2 * far[:, None], rtol=1e-12)
