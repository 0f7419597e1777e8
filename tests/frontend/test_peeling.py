"""Loops of which the first trip differs from the others: it finds None, or an array that has fewer axes."""

from __future__ import annotations

import linecache
import re
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences
from tests.frontend.test_demand import V, check

# --- arrays that grow by an axis --------------------------------------------------------------------------------------


def stacked(x, n):
    traj = state = x
    for k in range(n):
        state = state + 0.1 * np.sin(state) * k
        traj = np.vstack((traj, state))
    return np.sum(traj[..., 0] ** 2) + np.sum(traj)


def stacked_while(x, n):
    traj = state = x * 1.0
    t = 0.0
    while t < 0.1 * n:
        state = state + 0.1 * np.sin(state)
        traj = np.vstack((traj, state))
        t += 0.1
    return np.sum(traj**2)


def stacked_backwards(x, n):
    out = x
    for k in range(n, 0, -1):
        out = np.column_stack((out, x**k))
    return np.sum(np.sin(out))


def in_depth(x, n):
    out = np.outer(x, x)
    for k in range(n):
        out = np.dstack((out, np.outer(x, np.cos(x)) * k))
    return np.sum(out**2)


def number_that_becomes_an_array(x, n):
    t = x[0]
    for k in range(n):
        t = np.hstack((t, np.sin(x[1] * k)))
    return np.sum(t**2)


def stops_when_it_has_settled(x, n):
    path = x
    for k in range(20):
        x = x - 0.2 * x**3
        path = np.vstack((path, x))
        if k >= n:
            break
    return np.sum(path**2)


def stops_in_the_first_trip(x, n):
    path = x
    for k in range(5):
        if k == n:
            break
        path = np.vstack((path, np.sin(x) * k))
        if n > 2:
            return np.sum(path)
    else:
        path = path * 2.0
    return np.sum(path**2)


def goes_on_with_the_next(x, n):
    path = x
    for k in range(4):
        path = np.vstack((path, x * k))
        if k < n:
            continue
        path = np.sin(path)
    return np.sum(path)


def a_loop_in_a_loop(x, n):
    total = 0.0
    for j in range(n):
        path = x * j
        for k in range(j + 1):
            path = np.vstack((path, np.sin(x) * k))
        total += np.sum(path**2)
    return total


def over_pairs(x, n):
    rows = x
    for k, (a, b) in enumerate(zip(x, np.cos(x))):
        rows = np.vstack((rows, a * x + b * k))
    return np.sum(rows * rows)


def over_rows(x, n):
    rows = x
    for row in np.outer(x, x):
        rows = np.vstack((rows, row))
    return np.sum(rows**3)


def helper(x, n):
    path = x
    for k in range(n):
        path = np.vstack((path, np.tanh(x * k)))
    return path


def in_a_helper(x, n):
    return np.sum(helper(x, n) ** 2) + np.sum(helper(x * 2, n + 1))


# --- None before the first trip ---------------------------------------------------------------------------------------


def differences_in_a_row(x, n):
    last, s = None, 0.0
    for v in x:
        if last is not None:
            s += (v - last) ** 2
        last = v
    return s


def best_so_far(x, n):
    best, where = None, None
    for k in range(n):
        d = np.sum((x - k) ** 2)
        if best is None or d < best:
            best, where = d, x * k
    return 0.0 * np.sum(x) if where is None else best * np.sum(where)


def history(x, n):
    hist = None
    for k in range(n):
        x = x * np.cos(x)
        hist = x if hist is None else np.vstack((hist, x))
    return np.sum(x) if hist is None else np.sum(hist**2)


def history_of_rows(x, n):
    hist, s, k = None, x, 0
    while k < n + 1:
        s = s * np.cos(s)
        if hist is None:
            hist = s[None, :]
        else:
            hist = np.vstack((hist, s[None, :]))
        k += 1
    return np.sum(hist**2)


def pair_with_none(x, n):
    before, s = (None, 1.0), 0.0
    for v in x:
        old, scale = before
        if old is not None:
            s = s + old * v * scale
        before = (v, np.sin(v))
    return s


def always_none_again(x, n):
    held, s = None, 0.0
    for k in range(n + 3):
        if held is None:
            held = x * k
        else:
            s = s + np.sum(held**2)
            held = None
    return s


def bracketed(x, n):
    """Newton's method, which halves the bracket where it leaves it. Neither end is known at first."""
    low, high, at = None, None, x[0]
    for k in range(n + 1):
        error, slope = residual(at, x)
        if error < 0.0:
            low = at
        else:
            high = at
        new = at - error / slope
        if low is not None and high is not None:
            if not (low < new < high) and not (high < new < low):
                new = 0.5 * (low + high)
        at = new
    return at


def residual(t, x):
    error, slope = 0.0, 0.0
    for v in x:
        error += v * t**3 - 1.0
        slope += 3 * v * t * t
    return error, slope


SHRINKING = [1 - 0.01 * 2**k for k in range(6)] + [-1.0, -2.0, -0.5, 0.25]


def line_search(x, n):
    """Where the slope is zero, it looks for another point between the last two. At first, there is no last one."""
    at, before, k = x[0], None, 0
    while k < n + 4:
        error, slope = residual(at, x)
        if error == 0.0:
            return at
        elif slope == 0.0:
            found = False
            for factor in SHRINKING:
                k += 1
                guess = before + (at - before) * factor
                error, slope = residual(guess, x)
                if slope == 0.0:
                    continue
                at, found = guess, True
                break
            if not found:
                raise ValueError("no point found")
        new = at - 0.5 * error / slope
        if abs(new - at) < 1e-14:
            return new
        k += 1
        at, before = new, at
    return at


def load_function(source: str) -> Any:
    filename = f"<peeled {hash(source)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    scope: dict[str, Any] = {"np": np}
    exec(compile(source, filename, "exec"), scope)
    return scope["f"]


GROW = [
    stacked, stacked_while, stacked_backwards, in_depth, number_that_becomes_an_array, stops_when_it_has_settled,
    stops_in_the_first_trip, goes_on_with_the_next, a_loop_in_a_loop, over_pairs, over_rows, in_a_helper,
]  # fmt: skip
NONES = [
    differences_in_a_row, best_so_far, history, history_of_rows, pair_with_none, always_none_again, bracketed,
    line_search,
]  # fmt: skip


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("f", [*GROW, *NONES], ids=lambda f: f.__name__)
def test_the_first_trip_differs(f: Any, n: int) -> None:
    check(f, V, n)


@pytest.mark.parametrize("text", ["p * x", "x - p", "p ** 2", "-x // p", "p + (x if x > 0 else 1.0)", "1 % p", "p < x"])
def test_an_operator_of_none_raises_what_it_raises_in_python(text: str) -> None:
    """A path on which it surely raises ends there: `v` has no other type than that of the path that goes on."""
    lines = ["def f(x, n):", "    p = None", "    if n > 2:", f"        v = {text}", "        v += 1.0", "    else:"]
    lines += ["        v = 3.0 * x", "        v += x", "    return v"]
    f = load_function("\n".join(lines))
    assert ad.grad(f)(0.3, 1) == 4.0
    with pytest.raises(TypeError) as expected:
        f(0.3, 3)
    with pytest.raises(TypeError) as found:
        ad.grad(f)(0.3, 3)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize(
    "text", ["s + p", "p * s", "s / p + p", "p ** 2.0", "-p", "s if p > s else p", "p == None", "p is None"]
)
def test_an_operator_of_what_may_be_none(text: str) -> None:
    """It raises what Python raises if it is None, and is a number if not."""
    lines = ["def f(x, n):", "    p, s = None, x", "    for k in range(n):", "        if k > 1: s = s * " + f"({text})"]
    lines += ["        if k != 1: p = s * 0.5", "        if k == 4: p = None", "    return s"]
    f = load_function("\n".join(lines))
    for n in range(7):
        try:
            f(0.3, n)
        except TypeError as error:
            with pytest.raises(TypeError, match=re.escape(str(error))):
                ad.grad(f)(0.3, n)
        else:
            ad.check_grads(f, (0.3, n))


def test_one_code_for_any_number_of_trips() -> None:
    g = ad.grad(stacked)
    for n in (3, 1, 0, 7):
        g(V, n)
    assert g.source(V, 3) == g.source(V, 7)
    assert "the first trip apart in the For" in g.attempts(V, 3)


def test_none_is_peeled_off_a_loop_over_an_array_of_any_length() -> None:
    g = ad.grad(differences_in_a_row)
    x = np.linspace(0.0, 1.0, 30_000)
    want = np.zeros_like(x)
    want[1:] += 2.0 * np.diff(x)
    want[:-1] -= 2.0 * np.diff(x)
    np.testing.assert_allclose(g(x, 0), want, rtol=1e-9, atol=1e-15)
    assert g.source(x, 0) == g.source(V, 0)


def test_arithmetic_of_a_number_that_becomes_an_array_needs_no_other_code() -> None:
    def f(x):
        y = 1.0
        for _ in range(5):
            y = y * x
        return np.sum(y)

    assert ad.grad(f).attempts(V) == ""


def test_where_the_number_of_axes_changes_in_each_trip_it_is_observed() -> None:
    def f(x):
        for _ in range(3):
            x = np.stack((x, x))
        return np.sum(x)

    np.testing.assert_array_equal(ad.grad(f)(V), np.full(V.shape, 8.0))


# --- a loop in a loop, whose `else` leaves the loop around ------------------------------------------------------------


def breaks_behind(x, n):
    v, t = x[0], ()
    for _ in range(n):
        v = v + (t[-1] if t else 1.0)
        for _ in range(2):
            t = (v, x[1])
        else:
            if x[0] > 0:
                break
        v = v + 1
    return v


def continues_behind(x, n):
    v, t = x[0], ()
    for _ in range(n):
        v = v + (t[-1] if t else 1.0)
        for _ in range(2):
            t = (v, x[1])
        else:
            if x[0] > 0:
                continue
        v = v + 1
    return v


def breaks_behind_a_loop_in_it(x, n):
    last, v = None, x[0]
    for j in range(n):
        if last is not None:
            v = v + last * 0.5
        for _ in range(j):
            v = v * x[1]
            if v > 3.0:
                break
        else:
            if v > 1.5:
                break
        last = v
        v = v + x[2]
    else:
        v = v * 2.0
    return v


def continues_behind_a_while(x, n):
    last, v, j = None, x[0], 0
    while j < n:
        j += 1
        if last is not None:
            v = v + last * 0.5
        k = 0
        while k < j:
            k += 1
            v = v * x[1]
            if v > 3.0:
                break
        else:
            if v < 1.5:
                continue
        last = v
        v = v + x[2]
    else:
        v = v * 2.0
    return v


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("f", [breaks_behind, continues_behind, breaks_behind_a_loop_in_it, continues_behind_a_while])
def test_an_else_may_leave_the_loop_around(f, sign):
    x = np.array([0.7123 * sign, 1.3171, -0.4219])
    for n in (1, 2, 3, 5):
        value, gradient = ad.value_and_grad(f)(x, n)
        assert value == pytest.approx(f(x, n))
        np.testing.assert_allclose(gradient, differences(lambda z, n=n: f(z, n), x), rtol=1e-5, atol=1e-7)
