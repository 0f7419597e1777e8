"""Loops that run over items: when they do, and that results and errors stay."""

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

RNG = np.random.default_rng(9)


def decayed(k, x):
    s = 0.0
    for i in range(len(x)):
        s = k * s + x[i] * x[i]
    return s * s


def from_the_second(k, x):
    s = 0.0
    for i in range(1, len(x)):
        s = k * s + x[i] * x[i - 1]
    return s * s


def pairs(k, x):
    s = 0.0
    for i in range(len(x) - 1):
        s = k * s * x[i + 1] + np.sin(s) * x[i]
    return s * s


def triples(k, x):
    s = 0.0
    for i in range(1, len(x) - 1):
        s = k * s * x[i + 1] + s * s * x[i] - x[i - 1]
    return s * s


def backwards(k, x):
    s = 0.0
    for i in range(len(x) - 1, -1, -1):
        s = k * s + x[i] * x[i]
    return s * s


def of_two(k, x, y):
    s = 0.0
    for i in range(len(x)):
        s = k * s * y[i] + x[i] * s * s + x[i]
    return s * s


def of_rows(k, x):
    s = 0.0
    for i in range(len(x)):
        for j in range(x.shape[1]):
            s = k * s * x[i, j] + x[i, j]
    return s * s


def left_early(k, x):
    s = 0.0
    for i in range(len(x)):
        if s > 2.0:
            break
        s = k * s * x[i] + x[i] * x[i]
    return s * s


def counted(k, x):
    s = 0.0
    for i in range(len(x)):
        s = k * s * i + x[i] * x[i]
    return s * s


def also_stored(k, x):
    s = 0.0
    x = x.copy()
    for i in range(len(x)):
        s = k * s + x[i] * x[i]
        x[i] = s
    return s * np.sum(x)


def unpacked(k, x):
    s = 0.0
    for i in range(len(x)):
        a, b, c = x[i]
        s = k * s * a + b * s * s + c
    return s * s


def in_a_branch(k, x):
    s = 1.0
    for i in range(len(x)):
        if s > 0.5:
            s = k * s * x[i] + 0.3
        else:
            s = s + x[i] * s
    return s * s


def part_of_another(k, x, n):
    s = 0.0
    for i in range(n - 2):
        s = k * s + x[i] * s + x[i]
    return s * s


X, ROWS = 0.5 * RNG.normal(size=7), RNG.normal(size=(4, 3))
PROGRAMS = {
    decayed: (X,), from_the_second: (X,), pairs: (X,), triples: (X,), backwards: (X,), of_two: (X, X[::-1].copy()),
    of_rows: (ROWS,), left_early: (3.0 * X,), counted: (X,), also_stored: (X,), unpacked: (ROWS,), in_a_branch: (X,),
    part_of_another: (X, 6),
}  # fmt: skip
# The heads of the loop and of its reverse, where it runs over items.
HEADS = {
    decayed: "for x_i in x_list:",
    triples: "for x_next, x_i, x_prev in zip(x_list[2:], x_list[1:], x_list):",
    of_two: "for y_i, x_i in zip(y_list, x_list):",
    in_a_branch: "for i in range(n):",
}


def check(fn, *args):
    value, gradient = ad.value_and_grad(fn, argnums=(0, 1))(*args)
    assert value == fn(*args)
    plain = ad.grad(fn, argnums=(0, 1), optimize="-items")(*args)
    for k in (0, 1):
        assert np.array_equal(gradient[k], plain[k])
        moved = differences(lambda v: fn(*args[:k], v, *args[k + 1 :]), args[k])
        assert gradient[k] == pytest.approx(moved, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives_are_right(fn):
    args = 0.5, *PROGRAMS[fn]
    check(fn, *args)
    for length in (2, 3):
        check(
            fn, 0.5, *[x if type(x) is int else x[:length] for x in args[1:]] if fn is not part_of_another else (X, 4)
        )


@pytest.mark.parametrize("fn", HEADS, ids=lambda f: f.__name__)
def test_a_loop_runs_over_items(fn):
    text = ad.value_and_grad(fn, argnums=(0, 1)).source(0.5, *PROGRAMS[fn])
    assert HEADS[fn] in text


def test_the_reversed_loop_runs_over_items():
    text = ad.grad(triples).source(0.5, X)
    assert "for x_i, x_next, s in zip(reversed(x_list[1:-1]), reversed(x_list[2:]), reversed(s_saved)):" in text


@pytest.mark.parametrize("fn", [decayed, from_the_second, pairs, triples], ids=lambda f: f.__name__)
@pytest.mark.parametrize("length", [0, 1, 2, 3])
def test_short_lists(fn, length):
    gradient = ad.value_and_grad(fn, argnums=(0, 1))
    gradient(0.5, X)
    x = X[:length]
    value, (k_bar, x_bar) = gradient(0.5, x)
    assert value == fn(0.5, x)
    assert x_bar.shape == x.shape
    if length:
        assert x_bar == pytest.approx(differences(lambda x: fn(0.5, x), x), rel=1e-5, abs=1e-7)
    assert k_bar == pytest.approx(differences(lambda k: fn(k, x), 0.5), rel=1e-5, abs=1e-7)


def test_lists_of_other_lengths():
    gradient = ad.grad(of_two, argnums=(0, 1, 2))
    for y in (X, np.append(X, 2.0), X[:-1], np.append(X, [1.0, 1.0])):
        if len(y) < len(X):
            with pytest.raises(IndexError):
                gradient(0.5, X, y)
        else:
            found = gradient(0.5, X, y)
            assert found[1] == pytest.approx(differences(lambda x: of_two(0.5, x, y), X), rel=1e-5, abs=1e-7)
            assert found[2] == pytest.approx(differences(lambda y: of_two(0.5, X, y), y), rel=1e-5, abs=1e-7)


def bounded(k, x, y):
    s = 0.0
    for i in range(len(y) - 3):
        s = k * s + x[i] * s + x[i]
    return s * s


def test_a_bound_below_zero():
    gradient = ad.grad(bounded, argnums=(0, 1))
    for n in (7, 9, 3, 2, 1, 0, 10):
        y = np.ones(n)
        value = ad.value_and_grad(bounded, argnums=(0, 1))(0.5, X, y)
        assert value[0] == bounded(0.5, X, y)
        found = gradient(0.5, X, y)
        assert found[1] == pytest.approx(differences(lambda x: bounded(0.5, x, y), X), rel=1e-5, abs=1e-7)


def test_pullbacks_may_be_called_again():
    _, pullback = ad.vjp(triples, 0.5, X)
    want = ad.grad(triples, argnums=(0, 1))(0.5, X)
    for _ in range(2):
        for a, b in zip(pullback(1.0), want):
            assert np.array_equal(a, b)


def test_second_derivatives():
    for fn in (pairs, triples, in_a_branch):
        hessian = ad.hessian(lambda x, fn=fn: fn(0.5, x))(X)
        gradient = ad.grad(fn, argnums=1)
        step = RNG.normal(size=X.shape)
        moved = (gradient(0.5, X + 1e-6 * step) - gradient(0.5, X - 1e-6 * step)) / 2e-6
        assert hessian @ step == pytest.approx(moved, rel=1e-4, abs=1e-6)


def walk(x, w, following):
    total, k = 0.0, 0
    for i in range(len(following)):
        total += w[k, i] * x[i] * total + w[k, i]
        k = following[k]
    return total


def rows_in_turn(x, w, following):
    total = 0.0
    for i in range(len(following)):
        row = w[following[i]]
        total += row[i] * x[i] * total + row[i]
    return total


@pytest.mark.parametrize("f", [walk, rows_in_turn])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_a_row_that_the_loop_chooses(f, n):
    """Each iteration reads another row, so there is none to run over."""
    args = RNG.normal(size=n), RNG.normal(size=(n, n)), np.arange(n)[::-1].copy()
    value, (by_x, by_w) = ad.value_and_grad(f, argnums=(0, 1))(*args)
    assert value == f(*args)
    np.testing.assert_allclose(by_x, differences(f, *args, argnum=0), rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(by_w, differences(f, *args, argnum=1), rtol=1e-5, atol=1e-8)
