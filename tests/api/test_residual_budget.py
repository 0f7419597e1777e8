"""A budget of bytes for what loops keep: the same derivatives, less memory, few iterations that run again."""

from __future__ import annotations

import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.api.transforms import Gradient
from autodiff_compiler.errors import ArgumentError, UnsupportedError
from autodiff_compiler.kernels import reversal, snapshot_steps, within
from autodiff_compiler.runtime import keep_within, kept_bytes

X = np.array([0.3, 0.7, -0.2])


def carried(x):
    y = x
    for i in range(40):
        y = np.sin(y) + y * x[0] / (i + 1)
    return np.sum(y)


def with_a_step(x):
    y = x
    for i in range(50, 3, -3):
        y = np.sin(y) + x * i * 0.01
    return np.sum(y * y)


def stored(x):
    y = x * 1.0
    for i in range(40):
        y[i % 3] = np.sin(y[(i + 1) % 3]) * x[1] + y[i % 3]
    return np.sum(y * y)


def filled(x):
    y = np.zeros((40, 3))
    y[0] = x
    for i in range(39):
        k = np.sin(y[i])
        y[i + 1] = y[i] + 0.1 * (k + np.cos(y[i] + 0.1 * k))
    return np.sum(y * y)


def swapped(x):
    a, b = x * 1.0, x * 2.0
    for _ in range(20):
        a[1] += b[0] * np.sin(a[2])
        a, b = b, a
    return np.sum(a * b)


def through_a_view(x):
    a = np.outer(x, x)
    r = a[0]
    for _ in range(15):
        r += np.sin(a[1]) * r * 0.1
        a[1] *= np.cos(r)
    return np.sum(a)


def skips(x):
    y = x[0]
    for i in range(30):
        if i % 3 == 1:
            continue
        y = np.sin(y * i) + x[1]
    return y


def breaks(x):
    y = x
    for _ in range(60):
        y = np.sin(y) + y * 1.05 + x[0] * 0.1
        if np.sum(y * y) > 40:
            break
        y = y * (1 + 0.01 * y)
    else:
        y = y * 2.0
    return np.sum(y * x)


def never_breaks(x):
    y, k = x, 0
    for i in range(3, 80, 3):
        y = np.sin(y) + x[0] * 0.1
        k = i
        if np.sum(y * y) > 1e9:
            break
    else:
        y = y * y
    return np.sum(y * x) * k


def returns(x):
    y = x
    for i in range(60):
        if np.sum(y) > 12:
            return np.sum(y * y) * i
        y = np.sin(y) * y + 1.1 * x
    return np.sum(y)


def whiles(x):
    y, n = x * 1.0, 0
    while np.sum(y * y) < 50:
        y[0] += np.sin(y[1]) ** 2 + 0.1
        y[1:] = y[:-1] * 1.1 + y[1:] * x[0]
        n += 1
    return np.sum(y) * n


def leaves_by_several_ways(x):
    y, n = x, 0
    while True:
        n += 1
        y = y * np.cos(y) + 0.3
        if y[0] < 0.3 and np.sum(y) > 0:
            break
        if np.sum(y * y) > 1e6:
            return np.sum(y)
        y = y * y + 0.4 * x
        if y[1] > 0.2:
            y = y + 0.1
        if n > 17:
            break
    return np.sum(y * y)


def over_an_array(x):
    t = 0.0
    for v in np.concatenate([x, x * 2, x * 3, x * x]):
        t = np.sin(t * v) + v
    return t


def over_rows(x):
    t = x * 1.0
    for a, b in zip(np.outer(x, x), np.outer(x, x)[::-1]):
        t = np.sin(t * a) + b * t
    return np.sum(t)


def newton(x):
    r = x[0] + 1.0
    for _ in range(50):
        d = (r * r - x[1] - 2) / (2 * r)
        r = r - d
        if abs(d) < 1e-12:
            break
    return r * np.sum(x)


def grows(x):
    y = x
    for _ in range(12):
        y = np.concatenate([y, np.sin(y[-2:]) * y[0]])
    return np.sum(y)


def shrinks(x):
    y = np.outer(x, x).ravel()
    while len(y) > 1:
        y = np.sin(y[1:] * y[:-1])
    return y[0]


def a_list(x):
    out = []
    y = x[0]
    for i in range(30):
        y = np.sin(y) * x[1] + x[2]
        if i % 3 == 0:
            out.append(y * y)
        elif i > 4:
            out[-1] = out[-1] * y
        if len(out) > 7:
            break
    return sum(out) * len(out)


def a_list_of_arrays(x):
    states = [x]
    for i in range(25):
        states.append(np.sin(states[-1]) + states[i // 2] * x)
    return np.sum(states[-1] * states[3])


def nested(x):
    y = x
    for i in range(7):
        z = y * 1.0
        for _ in range(5):
            z[1:] = np.sin(z[:-1]) + z[1:] * x[0]
            y = y + z * 0.1
        for _ in range(i % 3):
            y = np.sin(y)
    return np.sum(y * x)


def nested_and_left(x):
    y = x
    for i in range(7):
        for j in range(9):
            y = np.sin(y) * 1.3 + x * 0.1
            if y[0] * j > 2.5:
                break
        y = y * y
        k = 0
        while k < i:
            y = y * np.exp(-y * y)
            k += 1
    return np.sum(y)


def several(x):
    y = x
    for _ in range(20):
        y = np.sin(y) + x * 0.1
    if np.sum(y) > 0:
        for _ in range(20):
            y = y * np.cos(y) + x
    else:
        y = y * 2
    for _ in range(20):
        y = y * np.cos(y) + x
    return np.sum(y)


def helper(y, x):
    for i in range(12):
        y = np.tanh(y) + x * 0.3
        if i % 4 == 3:
            continue
        y = y * y
    return y


def helpers(x):
    y = x
    for _ in range(4):
        y = helper(y, x)
    return np.sum(helper(y, y))


def handled(x):
    y = x
    for _ in range(20):
        try:
            if y[0] > 0.2:
                raise ValueError
            y = y * y + 0.1
        except ValueError:
            y = y * 0.5 * np.cos(y)
    return np.sum(y)


def matrices(x):
    w, h = np.outer(x, x) + np.eye(3), x
    for _ in range(20):
        h = np.tanh(w @ h + x)
        w = w + 0.01 * np.outer(h, h)
    return np.sum(h) + np.sum(w)


def in_checkpoints(x):
    @ad.checkpoint
    def block(v):
        for _ in range(9):
            v = np.sin(v) * v + x
        return v

    y = x
    for _ in range(6):
        y = block(y)
    return np.sum(block(y))


def beside_checkpoints(x):
    y = x
    for _ in ad.checkpointed(range(9), 3):
        for _ in range(5):
            y = np.sin(y) + x * y
    for _ in ad.checkpointed(range(9), snapshots=2):
        y = np.sin(y) + x * y
    for _ in range(9):
        y = np.sin(y) + x * y
    return np.sum(y)


def bound_inside(x):
    for _ in range(20):
        y = np.sin(x) * x
        y[1:] = y[:-1] * x[1:]
        x = y + 0.3
    return np.sum(y * x)


def bound_again(x):
    y = x
    for _ in range(20):
        y = np.sin(x) * x
        y[1:] = y[:-1] * x[1:]
        x = y + 0.3
    return np.sum(y * x)


def bound_again_in_a_helper(x):
    def all_of(v):
        for _ in range(20):
            y = np.concatenate([v, np.sin(v)])
            y[1:] = y[:-1] * v[0]
            v = y[: len(v)] + 0.3
            if v[0] > 50:
                return y
        return y

    return np.sum(all_of(x) ** 2)


def containers(x):
    s = {"a": x[0] * x, "l": [x, x * 2]}
    for _ in range(20):
        s["a"] = np.sin(s["a"]) + s["l"][0]
        s["l"][1] = s["l"][1] * s["a"] * 0.9
    return np.sum(s["a"]) + np.sum(s["l"][1])


def comprehension(x):
    return sum([np.sin(v) * np.sum(np.array([np.cos(v * w) for w in x])) for v in x])


FUNCTIONS = [
    carried, with_a_step, stored, filled, swapped, through_a_view, skips, breaks, never_breaks, returns, whiles,
    leaves_by_several_ways, over_an_array, over_rows, newton, grows, shrinks, a_list, a_list_of_arrays, nested,
    nested_and_left, several, helpers, handled, matrices, in_checkpoints, beside_checkpoints, comprehension,
    bound_inside, bound_again, bound_again_in_a_helper, containers,
]  # fmt: skip
BUDGETS = (500, 1000, 2500, 8000, 10**6)


@pytest.mark.parametrize("f", FUNCTIONS)
def test_derivatives_are_the_same(f: Any) -> None:
    value, slope = ad.value_and_grad(f)(X)
    hessian = None if f is bound_again_in_a_helper else ad.hessian(f)(X)  # that is an IndexError, also without a budget
    fitted = 0
    for budget in BUDGETS:
        kept = ad.value_and_grad(f, max_residual_bytes=budget)
        try:
            got = kept(X)
        except ArgumentError as error:
            assert "max_residual_bytes leaves" in str(error)
            continue
        fitted += 1
        assert got[0] == value
        np.testing.assert_allclose(got[1], slope, rtol=1e-12, atol=1e-13)
        out, pull = ad.vjp(f, X, max_residual_bytes=budget)
        assert out == value
        for factor in (1.0, 2.0):  # the pullback may be called again
            np.testing.assert_allclose(pull(factor)[0], factor * slope, rtol=1e-12, atol=1e-13)
        if budget == 2500 and hessian is not None:
            curved = ad.jacfwd(ad.grad(f, max_residual_bytes=budget))(X)
            np.testing.assert_allclose(curved, hessian, rtol=1e-9, atol=1e-10)
    assert fitted >= 2


@pytest.mark.parametrize("f", [carried, stored, filled, swapped, over_an_array, matrices, whiles])
def test_bits_are_the_same(f: Any) -> None:
    want = ad.grad(f)(X)
    for budget in (1500, 2500, 5000):
        np.testing.assert_array_equal(ad.grad(f, max_residual_bytes=budget)(X), want)


# --- memory and work --------------------------------------------------------------------------------------------------


def heat(u, n):
    for _ in range(n):
        u[1:-1] += 0.1 * (1.0 + u[1:-1] ** 2) * (u[2:] + u[:-2] - 2.0 * u[1:-1])
    return np.sum(u * u)


def heat_until(u, least):
    while np.sum(u * u) > least:
        u[1:-1] += 0.1 * (1.0 + u[1:-1] ** 2) * (u[2:] + u[:-2] - 2.0 * u[1:-1])
    return np.sum(u * u)


def heat_left(u, n):
    for i in range(10 * n):
        u[1:-1] += 0.1 * (1.0 + u[1:-1] ** 2) * (u[2:] + u[:-2] - 2.0 * u[1:-1])
        if i == n:
            break
    return np.sum(u * u)


def heat_nested(u, n):
    for _ in range(n // 10):
        for _ in range(10):
            u[1:-1] += 0.1 * (1.0 + u[1:-1] ** 2) * (u[2:] + u[:-2] - 2.0 * u[1:-1])
        u *= 0.999
    return np.sum(u * u)


def heat_twice(u, n):
    for _ in range(n):
        u[1:-1] += 0.1 * (u[2:] + u[:-2] - 2.0 * u[1:-1]) * u[1:-1]
    for _ in range(n):
        u[1:-1] += 0.1 * (1.0 + u[1:-1] ** 2) * (u[2:] + u[:-2] - 2.0 * u[1:-1])
    return np.sum(u * u)


def peak(f: Any, *args: Any) -> int:
    f(*args)
    tracemalloc.start()
    f(*args)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


U = np.linspace(0.0, 1.0, 4000)
STEP = U.nbytes


@pytest.mark.parametrize("f", [heat, heat_left, heat_nested, heat_twice])
@pytest.mark.parametrize("states", [100, 50, 25, 12])
def test_memory_stays_within_the_budget(f: Any, states: int) -> None:
    n = 200
    other = peak(ad.grad(f), U, 10) - 12 * STEP  # what the gradient needs beside residuals
    budget = states * (STEP + 128)
    assert peak(ad.grad(f), U, n) > 1.8 * (100 * STEP + 128)
    cut = ad.grad(f, max_residual_bytes=budget)
    np.testing.assert_allclose(cut(U, n), ad.grad(f)(U, n), rtol=1e-12)
    assert peak(cut, U, n) < budget + max(0, other) + 8 * STEP


@pytest.mark.parametrize("states", [30, 15, 8])
def test_loops_of_unknown_length_stay_within_the_budget(states: int) -> None:
    u = np.sin(np.linspace(0.0, 400.0, 4000)) ** 2
    least = 0.58 * float(np.sum(u * u))
    whole, cut = ad.grad(heat_until), ad.grad(heat_until, max_residual_bytes=states * (STEP + 128))
    np.testing.assert_array_equal(cut(u, least), whole(u, least))
    assert peak(whole, u, least) > 100 * STEP
    assert peak(cut, u, least) < (states + 10) * STEP


def test_all_is_kept_where_it_fits() -> None:
    def f(u, n):
        for _ in range(n):
            u = np.sin(u)
        return np.sum(u)

    text = ad.grad(f, max_residual_bytes=10**6).source(np.ones(10), 5)
    decision = "keep_within( 1000000, 1, len(range(n)), kept_bytes(u), kept_bytes(u), False )"
    assert decision in " ".join(text.split())
    assert keep_within(10**6, 1, 5, 208, 208) == (True, 1, 1, 10**6 - 5 * 208)


def test_a_loop_that_keeps_nothing_has_one_form() -> None:
    def f(x, n):
        for i in range(n):
            x = x * 2.0 + i
        return np.sum(x)

    assert ad.grad(f, max_residual_bytes=0).source(X, 5) == ad.grad(f).source(X, 5)
    assert "keep_within" not in ad.grad(lambda x: np.sum(np.sin(x)), max_residual_bytes=0).source(X)


@pytest.mark.parametrize("trips, state, trip, budget", [(1000, 10, 10, 700), (1000, 100, 7, 2000), (37, 5, 50, 200)])
def test_few_iterations_run_again(trips: int, state: int, trip: int, budget: int) -> None:
    together, snapshots = within(budget, trips, state, trip)
    assert together * trip + snapshots * state <= budget
    steps = snapshot_steps(trips, snapshots, together)
    state_at, held, run, order = None, steps[:-1], 0, []
    for action, first, last in zip(*reversal(steps[:-1], trips, snapshots, together)):
        assert len(held) <= snapshots
        if action == 0:
            assert state_at == first
            run, state_at = run + last - first, last
        elif action == 1:
            held.append(state_at)
        elif action == 2:
            state_at = held[-1]
            assert state_at == first
        elif action == 3:
            held.pop()
        else:
            assert state_at == first and last - first <= together
            order += reversed(range(first, last))
    assert order == list(reversed(range(trips)))
    # With the trips that run again as they are reversed, no more than one for each level of Revolve.
    assert run + trips <= 4 * trips


def test_one_run_again_where_segments_fit() -> None:
    # 100 trips of 10 bytes that start with 10 bytes: ten segments of ten take 200 bytes.
    assert within(200, 100, 10, 10) == (10, 10)
    kinds, firsts, lasts = reversal(snapshot_steps(100, 10, 10)[:-1], 100, 10, 10)
    assert sum(last - first for kind, first, last in zip(kinds, firsts, lasts) if kind == 0) == 0


@pytest.mark.parametrize("taken, trips", [([0], 1), ([0, 4, 8], 9), ([0, 4, 8], 12), ([0, 8, 16], 17), ([0], 0)])
@pytest.mark.parametrize("snapshots", [3, 4, 7])
@pytest.mark.parametrize("together", [1, 2, 5])
def test_schedules_from_any_snapshots(taken: list[int], trips: int, snapshots: int, together: int) -> None:
    state, held, order = None, list(taken), []
    for action, first, last in zip(*reversal(taken, trips, snapshots, together)):
        assert len(held) <= snapshots
        if action == 0:
            assert state == first
            state = last
        elif action == 1:
            held.append(state)
        elif action == 2:
            state = held[-1]
        elif action == 3:
            held.pop()
        else:
            assert state == first and last - first <= together
            order += reversed(range(first, last))
    assert order == list(reversed(range(trips)))


def test_what_is_left_is_shared() -> None:
    whole, _, _, left = keep_within(1000, 2, 10, 20, 20)
    assert whole and left == 800
    whole, together, snapshots, left = keep_within(1000, 2, 1000, 20, 20)
    assert not whole and left == 1000 - 20 * snapshots and together * 20 + snapshots * 20 <= 500
    # A loop that needs more than its share gets it.
    assert keep_within(1000, 10, 1000, 400, 200)[:3] == (False, 1, 1)
    with pytest.raises(ArgumentError, match="leaves 500 bytes for this loop, which needs at least 600"):
        keep_within(500, 10, 1000, 400, 200)
    assert keep_within(0, 1, 0, 400, None)[0]
    assert kept_bytes(np.zeros(4), 1.0, [2.0]) == 4 * 8 + 128 + 64


# --- the option -------------------------------------------------------------------------------------------------------


def test_a_budget_that_is_too_small_is_an_error_of_the_run() -> None:
    g = ad.grad(heat, max_residual_bytes=1000)
    assert g(np.ones(10), 100).shape == (10,)
    with pytest.raises(ArgumentError, match="max_residual_bytes leaves 1000 bytes for this loop, which needs at least"):
        g(np.ones(100), 100)
    assert g(np.ones(100), 0).shape == (100,)


@pytest.mark.parametrize("bad", [-1, 2.5, "1 MB", True])
def test_budgets_are_numbers_of_bytes(bad: Any) -> None:
    for make in (ad.grad, ad.value_and_grad):
        with pytest.raises(ArgumentError, match="max_residual_bytes is a number of bytes"):
            make(heat, max_residual_bytes=bad)
    with pytest.raises(ArgumentError, match="max_residual_bytes is a number of bytes"):
        ad.vjp(heat, U, 3, max_residual_bytes=bad)


def test_the_option_goes_where_the_others_go() -> None:
    made = ad.grad(max_residual_bytes=1000)(carried)
    assert made.options.max_residual_bytes == 1000 and not made.is_plain()
    again = pickle.loads(pickle.dumps(made))
    assert again.options.max_residual_bytes == 1000
    np.testing.assert_array_equal(again(X), made(X))
    assert ad.value_and_grad(max_residual_bytes=np.int64(5))(carried).options.max_residual_bytes == 5
    keys = {tuple(ad.grad(carried, max_residual_bytes=b).__autodiff_portable__()) for b in (None, 0, 1000)}
    assert len(keys) == 3
    assert isinstance(made, Gradient)


def test_a_loop_with_an_effect_is_refused() -> None:
    def prints(x):
        for _ in range(5):
            x = np.sin(x)
            print(end="")
        return x

    def draws(x):
        for _ in range(5):
            x = np.sin(x) * np.random.normal()
        return x

    for f in (prints, draws):
        with pytest.raises(UnsupportedError, match="has an effect"):
            ad.grad(f, max_residual_bytes=10**6)(0.5)
    assert ad.grad(prints)(0.5) != 0.0


def test_a_name_without_a_value_before_is_refused() -> None:
    def f(x):
        for i in range(20):
            if i == 0:
                y = x * 2
            y = np.sin(y) * y + 0.2
        return np.sum(y)

    with pytest.raises(UnsupportedError, match="y may have no value before it"):
        ad.grad(f, max_residual_bytes=10**6)(X)


def test_second_derivatives_in_reverse_mode_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="the gradient of a gradient with max_residual_bytes"):
        ad.jacrev(ad.grad(carried, max_residual_bytes=10**4))(X)
    with pytest.raises(UnsupportedError, match="part of a derivative"):
        ad.grad(lambda x: np.sum(ad.grad(carried)(x) ** 2), max_residual_bytes=10**4)(X)
    with pytest.raises(UnsupportedError, match="the gradient of a gradient with max_residual_bytes"):
        ad.grad(lambda x: np.sum(ad.vjp(carried, x, max_residual_bytes=10**4)[1](1.0)[0]))(X)
    with pytest.raises(UnsupportedError, match="the gradient of a gradient with max_residual_bytes"):
        ad.grad(lambda x: np.sum(ad.grad(carried, max_residual_bytes=10**4)(x) ** 2))(X)


# --- the other derivatives --------------------------------------------------------------------------------------------


def heat_of(u, n):
    for _ in range(n):
        u[1:-1] += 0.1 * (1.0 + u[1:-1] ** 2) * (u[2:] + u[:-2] - 2.0 * u[1:-1])
    return u[:3] * u[3:6]


V = np.linspace(0.0, 1.0, 20)
OTHERS = [
    (ad.jacrev, heat_of, (V, 200), 4000), (ad.jacobian, heat_of, (V, 200), 4000),
    (ad.value_and_jacobian, heat_of, (V, 200), 4000), (ad.gauss_newton_vp, heat_of, (V, 200, V), 8000),
    (ad.hvp, heat, (V, 200, V), 8000), (ad.hessian, heat, (V, 200), 84_000), (ad.laplacian, heat, (V, 200), 84_000),
    (ad.elementwise_grad, heat_of, (V, 200), 4000),
]  # fmt: skip


@pytest.mark.parametrize("make, f, args, budget", OTHERS)
def test_other_derivatives_have_budgets(make: Any, f: Any, args: Any, budget: int) -> None:
    cut = make(f, max_residual_bytes=budget)
    assert "reversal(" in cut.source(*args)
    got, want = [x if isinstance(x, tuple) else (x,) for x in (cut(*args), make(f)(*args))]
    for found, wanted in zip(got, want, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
    again = pickle.loads(pickle.dumps(cut))
    assert again.source(*args) == cut.source(*args)


def test_tangents_take_their_part_of_the_budget() -> None:
    n, states = 200, 40
    budget = states * (STEP + 128)
    direct, cut = ad.hvp(heat), ad.hvp(heat, max_residual_bytes=budget)
    np.testing.assert_allclose(cut(U, n, U), direct(U, n, U), rtol=1e-11)
    other = peak(direct, U, 5, U)
    assert peak(direct, U, n, U) > 300 * STEP
    assert peak(cut, U, n, U) < budget + other + 12 * STEP
    small = np.linspace(0.0, 1.0, 50)
    hessian, rows = ad.hessian(heat, max_residual_bytes=51 * 20 * (400 + 128)), 51 * 400
    assert peak(hessian, small, n) < 51 * 20 * 528 + peak(ad.hessian(heat), small, 5) + 12 * rows
    assert peak(ad.hessian(heat), small, n) > 200 * rows


def test_budgets_inside_of_functions_that_are_compiled() -> None:
    outside = ad.grad(heat, max_residual_bytes=4000)

    def inside(u, n, limit):
        f = lambda z: heat(z * u, n)
        return (
            outside(u, n), ad.value_and_grad(f, max_residual_bytes=4000)(u)[1], ad.grad(max_residual_bytes=4000)(f)(u),
            ad.hvp(f, max_residual_bytes=8000)(u, u), ad.vjp(f, u, max_residual_bytes=4000)[1](2.0)[0],
            ad.jacrev(lambda z: heat_of(z * u, n), max_residual_bytes=4000)(u),
            ad.hessian(f, max_residual_bytes=84_000)(u), ad.grad(f, max_residual_bytes="auto")(u),
        )  # fmt: skip

    def plainly(u, n, limit):
        f = lambda z: heat(z * u, n)
        return (
            ad.grad(heat)(u, n), ad.value_and_grad(f)(u)[1], ad.grad(f)(u), ad.hvp(f)(u, u), ad.vjp(f, u)[1](2.0)[0],
            ad.jacrev(lambda z: heat_of(z * u, n))(u), ad.hessian(f)(u), ad.grad(f)(u),
        )  # fmt: skip

    got, want = [ad.jvp(lambda u: f(u, 200, 1), (V,), (V,)) for f in (inside, plainly)]
    for found, wanted in zip((*got[0], *got[1]), (*want[0], *want[1]), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-11)
    stack = ad.batch(lambda u: outside(u, 200))(np.stack([V, 0.5 * V]))
    np.testing.assert_allclose(stack, [outside(V, 200), outside(0.5 * V, 200)], rtol=1e-12)
    with pytest.raises(ArgumentError, match="max_residual_bytes is to be known"):
        ad.jvp(lambda u: ad.grad(heat, max_residual_bytes=int(u[0]))(u, 3), (V,), (V,))
    with pytest.raises(ArgumentError, match="max_residual_bytes leaves 10 bytes"):
        ad.jvp(lambda u: ad.grad(heat, max_residual_bytes=10)(u, 3), (V,), (V,))


def test_derivatives_without_a_backward_sweep_have_none() -> None:
    for make in (ad.jacfwd, ad.derivative):
        with pytest.raises(ArgumentError, match=f"{make.__name__} has no max_residual_bytes: it has no backward sweep"):
            make(heat, max_residual_bytes=5)
        with pytest.raises(ArgumentError, match=f"{make.__name__} has no max_residual_bytes: it has no backward sweep"):
            ad.grad(lambda x: make(np.sin, max_residual_bytes=5)(x))(0.5)
    with pytest.raises(ArgumentError, match="jvp has no max_residual_bytes"):
        ad.jvp(heat, (V, 3), (V, 0), max_residual_bytes=5)


# --- "auto" -----------------------------------------------------------------------------------------------------------


def slow(x):
    for _ in range(4):
        x = np.sin(x)
        print(end="")
    while np.sum(x) > 0.3:
        x = np.sin(x) * 0.9
    return np.sum(x)


@pytest.mark.parametrize("f", FUNCTIONS)
def test_loops_that_keep_much_are_cut(f: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autodiff_compiler.runtime.LARGE", 0)
    value, slope = ad.value_and_grad(f)(X)
    found = ad.value_and_grad(f, max_residual_bytes="auto")(X)
    assert found[0] == value
    np.testing.assert_allclose(found[1], slope, rtol=1e-12, atol=1e-13)


def test_auto_in_machine_code_and_pullbacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autodiff_compiler.runtime.LARGE", 0)
    want = ad.grad(heat)(V, 100)
    _, pull = ad.vjp(heat, V, 100, max_residual_bytes="auto")
    for factor in (1.0, 2.0):
        np.testing.assert_allclose(pull(factor)[0], factor * want, rtol=1e-12)
    stack = ad.batch(lambda u: ad.grad(heat, max_residual_bytes="auto")(u, 100))(np.stack([V, V]))
    np.testing.assert_allclose(stack, [want, want], rtol=1e-12)
    pytest.importorskip("numba")
    native = ad.grad(heat, max_residual_bytes="auto", backend="native")
    assert "no machine code" not in native.source(V, 100)
    np.testing.assert_allclose(native(V, 100), want, rtol=1e-12)


def test_what_auto_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    large = 1 << 26
    assert keep_within(None, 1, 1000, 8000, large // 1000) == (True, 1, 1, 0)
    whole, together, snapshots, _ = keep_within(None, 1, 1000, 8000, 1 + large // 1000)
    assert not whole and together * snapshots >= 1000
    assert keep_within(None, 1, 3, large, large)[0]  # there would be no less
    assert keep_within(None, 1, 1000, 8000, None)[0] and keep_within(None, 1, None, 8000, large)[0]
    monkeypatch.setattr("autodiff_compiler.runtime.LARGE", 1 << 20)
    u, n = np.linspace(0.0, 1.0, 1000), 300
    cut, few = ad.grad(heat, max_residual_bytes="auto"), ad.grad(heat)
    np.testing.assert_array_equal(cut(u, n), few(u, n))
    assert peak(cut, u, n) < 0.3 * peak(few, u, n)
    assert "the start of each segment of 17 iterations, and all of one segment" in str(ad.explain(cut, u, n))
    assert "\nloops\n  line" in str(ad.explain(cut, V, 20))
    # At any order.
    twice = ad.grad(lambda u: np.sum(ad.grad(heat, max_residual_bytes="auto")(u, n) ** 2))
    plainly = ad.grad(lambda u: np.sum(ad.grad(heat)(u, n) ** 2))
    np.testing.assert_allclose(twice(u), plainly(u), rtol=1e-9, atol=1e-12)
    assert peak(twice, u) < 0.3 * peak(plainly, u)
    # What cannot run again, or nobody can count, is kept, and the code is as before.
    assert ad.grad(slow, max_residual_bytes="auto").source(X) == ad.grad(slow).source(X)
    np.testing.assert_array_equal(ad.grad(slow, max_residual_bytes="auto")(X), ad.grad(slow)(X))


def test_explain_says_what_is_kept() -> None:
    def f(u, n):
        for _ in range(n):
            u = np.sin(u) * u
        for _ in ad.checkpointed(range(n), 4):
            u = np.sin(u) * u
        for _ in ad.checkpointed(range(n), snapshots=3):
            u = np.sin(u) * u
        return np.sum(u)

    def rows(g: Any) -> list[str]:
        text = ad.explain(g, np.ones(40), 50)
        return [line.partition(": ")[2] for line in text.partition("\nloops\n")[2].partition("\n\n")[0].splitlines()]

    others = [
        "the start of each segment of 13 iterations, and all of one segment",
        "3 snapshots, and all of one iteration",
    ]
    assert rows(ad.grad(f)) == ["all; grad with max_residual_bytes=... keeps less", *others]
    assert rows(ad.grad(f, max_residual_bytes=20_000)) == ["at most 10 snapshots, and all of 5 iterations", *others]


# --- checkpointed -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("snapshots", [1, 2, 5])
def test_snapshots_of_loops_that_are_left(snapshots: int) -> None:
    def left(x, r):
        y = x
        for i in r:
            y = np.sin(y) + y * 1.05 + x[0] * 0.1
            if np.sum(y * y) > 40:
                break
            if np.sum(y) < -40:
                return y[0] * i
        return np.sum(y * x)

    whole = lambda x: left(x, range(60))
    few = lambda x: left(x, ad.checkpointed(range(60), snapshots=snapshots))
    np.testing.assert_allclose(ad.grad(few)(X), ad.grad(whole)(X), rtol=1e-12)
    np.testing.assert_allclose(ad.jacrev(ad.grad(few))(X), ad.hessian(whole)(X), rtol=1e-9)
    u = np.full(2000, 1e-9)
    assert peak(ad.grad(few), u) < 0.7 * peak(ad.grad(whole), u)


@pytest.mark.parametrize("snapshots", [1, 2, 3, 8])
def test_the_second_derivative_goes_through_the_snapshots(snapshots: int) -> None:
    def few(x):
        for _ in ad.checkpointed(range(9), snapshots=snapshots):
            x = np.sin(x) * x + 1.0
        return np.sum(x)

    def whole(x):
        for _ in range(9):
            x = np.sin(x) * x + 1.0
        return np.sum(x)

    np.testing.assert_allclose(ad.jacrev(ad.grad(few))(X), ad.jacrev(ad.grad(whole))(X), rtol=1e-10)
    twice = [ad.grad(lambda x, f=f: np.sum(ad.grad(f)(x) ** 2))(X) for f in (few, whole)]
    np.testing.assert_allclose(twice[0], twice[1], rtol=1e-10)


def test_checkpointed_loops_with_effects_are_refused() -> None:
    def draws(x):
        for _ in ad.checkpointed(range(4)):
            x = np.sin(x) * np.random.normal()
        return x

    def prints(x):
        for _ in ad.checkpointed(range(4), snapshots=2):
            print(end="")
            x = np.sin(x)
        return x

    for f in (draws, prints):
        with pytest.raises(UnsupportedError, match="has effects"):
            ad.grad(f)(0.5)


@pytest.mark.parametrize("segments, snapshots", [(3, None), (None, 2)])
def test_what_runs_again_raises_again(segments: Any, snapshots: Any) -> None:
    def whole(x, r):
        t = x[0]
        for i in r:
            try:
                t += np.sin(x[i]) * 0.5
            except IndexError:
                pass
        return t

    def leaves(x, r):
        t = x[0]
        for i in r:
            try:
                t = t * np.sin(x[i])
            except IndexError:
                break
        return t

    for f in (whole, leaves):
        again = ad.grad(lambda x, f=f: f(x, ad.checkpointed(range(6), segments, snapshots=snapshots)))
        np.testing.assert_allclose(again(X), ad.grad(lambda x, f=f: f(x, range(6)))(X), rtol=1e-12)
        budget = ad.grad(lambda x, f=f: f(x, range(6)), max_residual_bytes=500)
        np.testing.assert_allclose(budget(X), again(X), rtol=1e-12)


class Pair:
    def __init__(self, p, q):
        self.p, self.q, self.steps = p, q, 0

    @property
    def energy(self):
        return self.p * self.p - self.q


def left_at_once(x, y, s):
    mean = np.mean(y / (1.5 + y**2))
    k = 0
    while k < 3:
        k += 1
    first = Pair(s * 0.5, x[-2, 0])
    for _ in range(3):
        first.q = np.tanh(first.q)
    other = Pair(y[-2], mean)
    for _ in range(len(y)):
        if other.p > 0:
            break
        other.q = np.tanh(other.q)
    return 2.0 * first.p * first.q + 1.5 * (other.p * other.q + 0.1 * other.steps)


def test_a_loop_that_is_left_in_front_of_all_that_it_does():
    """Branches behind a loop ask for the code of its exit; with a budget, snapshots stand for its iterations."""
    x = np.array([[0.3, 0.5], [0.9, 0.1], [0.2, 0.4]])
    for y in (np.array([0.2, 0.7, -0.4]), np.array([0.2, -0.7, -0.4])):
        plain = ad.grad(left_at_once, argnums=(0, 1, 2))(x, y, 0.6)
        within = ad.grad(left_at_once, argnums=(0, 1, 2), max_residual_bytes=20_000)(x, y, 0.6)
        for a, b in zip(plain, within, strict=True):
            np.testing.assert_allclose(a, b)


def left_from_loops_inside(x, n):
    a, b, c = x[0], x[1] * 0.5, 0.1
    y = x.copy()
    a = x[0] * x[1] * 0.9
    b = np.sin(x[0]) + 0.3 * c
    c = np.sin(c) + 0.3 * b
    y[2] = x[0] * 0.7
    for _ in range(5):
        for _ in range(3):
            if a > -0.2:
                b = b * c * 0.9
                y[0] = x[1] * 0.7
                break
            if b > -0.2:
                a = a * 1.1
                continue
            c = x[1] * c * 0.9
            b = np.tanh(c + x[1])
        for _ in range(n):
            b = 0.5 * x[1] + a
            if b > 0.6:
                y[0] = b * 0.7
                a = b * b * 0.9
                return b * a
        y[2] = c * 0.7
    return a * b + c + np.sum(y * y)


@pytest.mark.parametrize("x", [(0.3, 0.3, 0.3), (-0.7, 0.4, 0.1), (0.9, 0.8, 0.2)])
def test_loops_inside_are_left_as_well(x):
    x = np.array(x)
    wanted = ad.grad(left_from_loops_inside)(x, 2)
    np.testing.assert_allclose(ad.grad(left_from_loops_inside, max_residual_bytes=100_000)(x, 2), wanted)


def returns_a_total(x, n, k):
    s = x[0]
    if k > 0:
        while True:
            n -= 1
            if n < 0:
                break
            if n > k:
                t = 0
                for i in range(len(x)):
                    t += x[i]
                return t
            s = np.sin(s)
    return s


@pytest.mark.parametrize("n, k", [(3, 9), (5, 2), (2, 0)])
def test_a_value_that_only_another_exit_binds(n, k):
    x = np.array([0.3, 0.8, 0.2])
    wanted = ad.grad(returns_a_total)(x, n, k)
    for optimize in (True, False):
        kept = ad.grad(returns_a_total, max_residual_bytes=700, optimize=optimize)
        np.testing.assert_allclose(kept(x, n, k), wanted)


def ranks(a, n):
    r = np.ones(len(a)) / len(a)
    for _ in range(n):
        r = 0.9 * a @ r
    return r


@pytest.mark.parametrize("budget", [600, 2000, 1_000_000])
def test_the_forward_sweep_counts_no_bytes_of_a_cotangent(budget):
    a, w = np.array([[0.2, 0.7], [0.8, 0.3]]), np.array([1.0, -2.0])
    wanted = ad.vjp(ranks, a, 30)[1](w)[0]
    _, pullback = ad.vjp(ranks, a, 30, max_residual_bytes=budget)
    np.testing.assert_allclose(pullback(w)[0], wanted)
