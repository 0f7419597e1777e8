"""Gradients inside functions that are compiled: what the inner function reads and writes, and where it stands."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_compiler as ad


def through_a_list(x):
    box = [0.0]

    def g(v):
        box[0] = v * 2.0
        return v * v

    return ad.grad(g)(x) * box[0]


def through_an_array(x):
    a = np.zeros(2)

    def g(v):
        a[0] = v * 2.0
        return v * v

    return ad.grad(g)(x) * a[0]


def through_a_name(x):
    t = 0.0

    def g(v):
        nonlocal t
        t = v * 2.0
        return v * v

    return ad.grad(g)(x) * t


def by_appending(x):
    out = []

    def g(v):
        out.append(v)
        return v * v

    return ad.grad(g)(x) * sum(out)


def in_a_branch_of_a_loop(x):
    out = [x]
    total = 0.0
    for i in range(3):
        if x > i:

            def g(v):
                out[0] = out[0] * v
                return v * v

            total += ad.value_and_grad(g)(x)[1]
    return total + out[0]


WRITERS = [through_a_list, through_an_array, through_a_name, by_appending, in_a_branch_of_a_loop]


@pytest.mark.parametrize("f", WRITERS)
def test_what_the_inner_function_writes_is_seen(f) -> None:
    """It was lost with the inner function's region: a wrong gradient."""
    for x in (3.0, 0.5):
        slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        assert ad.grad(f)(x) == pytest.approx(slope, rel=1e-6)
        curve = (ad.grad(f)(x + 1e-5) - ad.grad(f)(x - 1e-5)) / 2e-5
        assert ad.grad(ad.grad(f))(x) == pytest.approx(curve, rel=1e-5)


def test_arguments_of_the_inner_function_are_copies() -> None:
    def f(x, y):
        def g(v, w):
            v[0] = v[1] * v[2]
            w[0] = 5.0
            return np.sum(v * v) + w[0]

        return np.sum(ad.grad(g)(x, y) * x) + np.sum(x) + y[0]

    x, y = np.array([0.5, 1.5, -0.7]), np.ones(2)
    slope = np.zeros(3)
    for k in range(3):
        d = np.zeros(3)
        d[k] = 1e-6
        slope[k] = (f(x + d, y) - f(x - d, y)) / 2e-6
    np.testing.assert_allclose(ad.grad(f)(x, y), slope, rtol=1e-6)
    np.testing.assert_array_equal(y, np.ones(2))
    value, (_, along_y) = ad.value_and_grad(f, argnums=(0, 1))(x, y)
    assert value == pytest.approx(f(x, y), rel=1e-12)
    np.testing.assert_allclose(along_y, [1.0, 0.0])


@pytest.mark.parametrize("n", [3, 5])
def test_an_operand_that_is_a_view_in_a_helper(n: int) -> None:
    """The part of the array was taken inside of the inner region, out of reach for what comes after."""

    def helper(a, v):
        a[::-1] += -v
        value, slope = ad.value_and_grad(lambda u: u[0] * u[1])(a)
        return value + slope[0] * a[1]

    def f(y):
        total, slope = ad.value_and_grad(lambda v: np.sum(v * y[-1]))(y)
        return np.sum(y * y) + helper(slope[1:], total)

    y = np.linspace(0.2, 1.0, n)
    slope = [(f(y + 1e-6 * d) - f(y - 1e-6 * d)) / 2e-6 for d in np.eye(n)]
    np.testing.assert_allclose(ad.grad(f)(y), slope, rtol=1e-6, atol=1e-8)


def energy(v, k):
    out = 0.0
    for e in v:
        if out > 0.9:
            continue
        out = np.sin(out + e * k)
    return out * v[0]


force = ad.grad(energy)


def in_a_branch(y, s):
    if s > 0:
        return np.sum(force(y, s)) * s
    return np.sum(y * s)


def in_a_loop(y, s):
    for i in range(3):
        y = y - 0.1 * force(y, s * i)
    return np.sum(y * y)


def in_a_branch_of_a_while_loop(y, s):
    k, total = 0, 0.0
    while k < 4:
        k += 1
        if total > 0.5:
            value, slope = ad.value_and_grad(energy, argnums=1)(y, s + k)
            total += value * slope
        else:
            total += np.sum(force(y, s)[:2]) + 0.3
        if total > 3.0:
            break
    return total


def under_a_choice(y, s):
    pick = np.sin if s < 0.0 else np.cos
    g = pick(s)
    return np.sum(force(y, g) * y)


def twice(y, s):
    def work(v):
        return np.sum(force(v, s) * v)

    if y[0] > 0:
        return np.sum(ad.grad(work)(y))
    return s * y[1]


@pytest.mark.parametrize("f", [in_a_branch, in_a_loop, in_a_branch_of_a_while_loop, under_a_choice, twice])
@pytest.mark.parametrize("s", [0.7, -0.4])
def test_gradients_of_loops_in_branches_and_loops(f, s: float) -> None:
    """What the inner gradient keeps on stacks has cotangents, wherever it stands."""

    def slopes(h, y, s, step=1e-5):
        rows = [(h(y + step * d, s) - h(y - step * d, s)) / (2 * step) for d in np.eye(len(y))]
        return np.array(rows), (h(y, s + step) - h(y, s - step)) / (2 * step)

    y = np.array([0.3, 0.7, 1.1, 0.2])
    gradient = ad.grad(f, argnums=(0, 1))
    by_y, by_s = slopes(f, y, s)
    np.testing.assert_allclose(gradient(y, s)[0], by_y, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(gradient(y, s)[1], by_s, rtol=1e-5, atol=1e-7)

    def along(y, s):
        a, b = gradient(y, s)
        return np.sum(a * np.array([0.5, -1.0, 0.3, 2.0])) + b

    by_y, by_s = slopes(along, y, s)
    got = ad.grad(along, argnums=(0, 1))(y, s)
    np.testing.assert_allclose(got[0], by_y, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(got[1], by_s, rtol=1e-5, atol=1e-6)
