"""Checkpoints: the same derivatives, with less memory."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tracemalloc
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import ArgumentError, UnsupportedError
from autodiff_compiler.kernels import reversal, snapshot_file, snapshot_steps
from autodiff_compiler.runtime import snapshot

X = np.array([0.3, 0.7, -0.2])


@ad.checkpoint
def layer(x, w):
    for k in range(4):
        x = np.sin(x * w) + 0.1 * k * x
    return x


def layers(x):
    for _ in range(3):
        x = layer(x, x[0])
    return np.sum(x)


def once(x):
    return np.sum(layer(x, 2.0) ** 2)


def of_lambda(x):
    return np.sum(ad.checkpoint(lambda v: np.tanh(v * v) * x)(x))


def of_nested_function(x):
    total = 0.0

    @ad.checkpoint
    def more(v):
        nonlocal total
        total = total + np.sum(v * v)
        return v * total

    y = more(x)
    return np.sum(more(y) * x) + total


def stores_into_its_argument(x):
    def fill(y, k):
        for i in range(1, 3):
            y[i] = y[i - 1] * x[i] * k
        return y

    y = x * 1.0
    z = ad.checkpoint(fill)(y, 2.0)
    z[0] = z[2] * y[1]
    return np.sum(y * z)


def gives_what_it_is_given(x):
    y = x * 1.0
    z, part = ad.checkpoint(lambda v: (v, v[1:]))(y)
    z[1] = 3.0 * x[0]
    part[1] *= x[1]
    return np.sum(y * x)


def containers(x):
    def both(d):
        d["b"] = d["a"] * x[1]
        return {"c": d["b"] + 1.0, "n": [d["a"], 2.0]}

    d = {"a": x[0]}
    e = ad.checkpoint(both)(d)
    return e["c"] * d["b"] + e["n"][0] * e["n"][1]


class Model:
    def __init__(self, w):
        self.w = w
        self.calls = 0.0

    @ad.checkpoint
    def step(self, x):
        self.calls = self.calls + np.sum(x)
        return np.tanh(self.w * x)


def methods(x):
    m = Model(x * 2.0)
    y = m.step(x)
    return np.sum(m.step(y)) * m.calls


def branches(x):
    def one(v):
        if v[0] > 0.0:
            return v * v[0]
        return v * v

    return np.sum(ad.checkpoint(one)(x)) + np.sum(ad.checkpoint(one)(-x))


def within_each_other(x):
    inner = ad.checkpoint(lambda v: np.sin(v) * v)
    outer = ad.checkpoint(lambda v: inner(inner(v)) * x)
    return np.sum(outer(outer(x)))


def grad_inside(x):
    return np.sum(ad.checkpoint(ad.grad(lambda v: np.sum(np.sin(v) * v)))(x) * x)


def raises_and_catches(x):
    def risky(v):
        if v[0] > 0.2:
            raise ValueError("no")
        return v

    try:
        y = ad.checkpoint(risky)(x)
    except ValueError:
        y = x * x
    return np.sum(y)


FUNCTIONS = [
    layers, once, of_lambda, of_nested_function, stores_into_its_argument, gives_what_it_is_given, containers, methods,
    branches, within_each_other, grad_inside,
]  # fmt: skip

# --- loops: each is given the range ---


def carried(x, r):
    y = x
    for i in r:
        y = np.sin(y) + y * x[0] / (i + 1)
    return np.sum(y)


def stored(x, r):
    y = x * 1.0
    for i in r:
        y[i % 3] = np.sin(y[(i + 1) % 3]) * x[1] + y[i % 3]
    return np.sum(y * y)


def filled(x, r):
    y = np.zeros(60)
    y[0] = x[0]
    for i in r:
        y[abs(i) + 1] = y[abs(i)] * x[1] + x[2]
    return np.sum(y * y)


def left(x, r):
    y = x
    for i in r:
        y = y * 1.1 + x[0]
        if np.sum(y) > 6.0:
            break
        y = y - 0.01 * i
    else:
        y = y * 2.0
    return np.sum(y * x)


def returns(x, r):
    y = x
    for i in r:
        if np.sum(y) > 6.0:
            return y[0] * i
        y = y * 1.1 + x[0]
    return np.sum(y)


def skips(x, r):
    y = x[0]
    for i in r:
        if i % 3 == 1:
            continue
        y = np.sin(y * i) + x[1]
    return y * i


def appended(x, r):
    out = []
    y = x[0]
    for _ in r:
        y = np.sin(y) * x[1] + x[2]
        out.append(y * y)
    return sum(out) * len(out)


def in_a_loop(x, r):
    y = x
    for _ in range(3):
        for i in r:
            y = np.sin(y) + x * 0.1 * i
    return np.sum(y)


def with_a_loop(x, r):
    y = x
    for i in r:
        k = 0
        while k < i % 4:
            y = np.sin(y) + 0.1 * x
            k += 1
    return np.sum(y * x)


LOOPS = [carried, stored, filled, left, returns, skips, appended, in_a_loop, with_a_loop]
RANGES = [(0,), (1,), (2,), (7,), (3, 20), (1, 50, 7), (10, -3, -2), (5, 5)]


def along(f: Any, given: tuple[int, ...], cut: bool, segments: Any = None, snapshots: Any = None) -> Any:
    """`f` of a vector, with a loop over a range."""
    start, stop, step = (0, *given, 1) if len(given) == 1 else (*given, 1)[:3]

    if snapshots is not None and step == 1:
        return lambda x, a=start, b=stop: f(x, ad.checkpointed(range(a, b), snapshots=snapshots))
    if snapshots is not None:
        return lambda x, a=start, b=stop: f(x, ad.checkpointed(range(a, b, 7), snapshots=snapshots))
    if cut and step == 1:
        return lambda x, a=start, b=stop: f(x, ad.checkpointed(range(a, b), segments))
    if cut and step == 7:
        return lambda x, a=start, b=stop: f(x, ad.checkpointed(range(a, b, 7), segments))
    if cut:
        return lambda x, a=start, b=stop: f(x, ad.checkpointed(range(a, b, -2), segments))
    return lambda x: f(x, range(start, stop, step))


@pytest.mark.parametrize("f", FUNCTIONS)
def test_functions(f: Any) -> None:
    ad.check_grads(f, (X,), order=2, modes=("rev",))
    np.testing.assert_allclose(ad.jvp(f, (X,), (X,))[1], ad.grad(f)(X) @ X, rtol=1e-10)
    np.testing.assert_allclose(ad.hessian(f)(X), ad.jacrev(ad.grad(f))(X), rtol=1e-9, atol=1e-12)
    value, pull = ad.vjp(f, X)
    np.testing.assert_allclose(value, f(X), rtol=1e-12)
    np.testing.assert_allclose(pull(1.0)[0], ad.grad(f)(X), rtol=1e-12)


@pytest.mark.parametrize("given", RANGES)
@pytest.mark.parametrize("f", LOOPS)
def test_loops(f: Any, given: tuple[int, ...]) -> None:
    if f in (skips,) and len(range(*given)) == 0:
        return
    plain = along(f, given, False)
    want = ad.value_and_grad(plain)(X)
    curved = ad.hessian(plain)(X)
    cuts = [along(f, given, True, segments) for segments in (None, 1, 3, 100)]
    if len(given) < 3 or given[2] == 7:
        cuts += [along(f, given, True, None, snapshots) for snapshots in (1, 2, 5)]
    for cut in cuts:
        value, slope = ad.value_and_grad(cut)(X)
        assert value == want[0]
        np.testing.assert_allclose(slope, want[1], rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(ad.hessian(cut)(X), curved, rtol=1e-9, atol=1e-11)


def test_a_stack_of_examples() -> None:
    def f(x):
        for i in ad.checkpointed(range(9)):
            x = layer(x, 0.5) + i
        return np.sum(x)

    xs = np.stack([X, 2.0 * X])
    got = ad.batch(ad.grad(f))(xs)
    np.testing.assert_allclose(got, [ad.grad(f)(x) for x in xs], rtol=1e-12)
    np.testing.assert_allclose(ad.grad(lambda xs: np.sum(ad.batch(f)(xs)))(xs), got, rtol=1e-12)


def heat(u, r):
    for _ in r:
        u[1:-1] += 0.1 * (1.0 + u[1:-1] ** 2) * (u[2:] + u[:-2] - 2.0 * u[1:-1])
    return np.sum(u * u)


def peak(f: Any, *args: Any) -> int:
    f(*args)
    tracemalloc.start()
    f(*args)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def test_memory_is_that_of_a_segment() -> None:
    u = np.linspace(0.0, 1.0, 2000)
    whole = peak(ad.grad(lambda u, n: heat(u, range(n))), u, 400)
    cut = peak(ad.grad(lambda u, n: heat(u, ad.checkpointed(range(n), 20))), u, 400)
    assert cut < 0.15 * whole
    # Of the second derivative, too.
    whole = peak(ad.hvp(lambda u, n: heat(u, range(n))), u, 400, u)
    cut = peak(ad.hvp(lambda u, n: heat(u, ad.checkpointed(range(n), 20))), u, 400, u)
    assert cut < 0.15 * whole


def test_gradients_of_gradients_keep_little() -> None:
    def twice(f: Any) -> Any:
        return ad.grad(lambda u, n: np.sum(ad.grad(f)(u, n) ** 2))

    u = np.linspace(0.0, 1.0, 2000)
    whole = twice(lambda u, n: heat(u, range(n)))
    cut = twice(lambda u, n: heat(u, ad.checkpointed(range(n), 20)))
    np.testing.assert_allclose(cut(u, 400), whole(u, 400), rtol=1e-10)
    assert peak(cut, u, 400) < 0.2 * peak(whole, u, 400)


def test_gradients_of_gradients_keep_a_part_of_the_schedule() -> None:
    def twice(f: Any) -> Any:
        return ad.grad(lambda u, n: np.sum(ad.grad(f)(u, n) ** 2))

    u = np.linspace(0.0, 1.0, 2000)
    whole = twice(lambda u, n: heat(u, range(n)))
    for cut in (
        twice(lambda u, n: heat(u, ad.checkpointed(range(n), snapshots=8))),
        twice(lambda u, n: heat(u, ad.checkpointed(range(n), snapshots=8, disk=20))),
    ):
        np.testing.assert_allclose(cut(u, 400), whole(u, 400), rtol=1e-10)
        assert peak(cut, u, 400) < 0.5 * peak(whole, u, 400)


def test_the_tangent_of_a_list_that_a_loop_reads() -> None:
    def f(x, r):
        items, c = [x[0]], 0.1
        for _ in range(3):
            items.append(x[1] * x[2])
        z = x * 0.5
        for i in r:
            c = items[i] - 0.2 * x[1]
        return c + np.sum(z) * items[-1]

    cut = ad.jvp(lambda x: ad.grad(lambda x: f(x, ad.checkpointed(range(3), snapshots=2)))(x), (X,), (X,))
    np.testing.assert_allclose(cut, ad.jvp(lambda x: ad.grad(lambda x: f(x, range(3)))(x), (X,), (X,)))


def test_memory_is_that_of_the_snapshots() -> None:
    u = np.linspace(0.0, 1.0, 4000)
    whole = peak(ad.grad(lambda u, n: heat(u, range(n))), u, 400)
    few = peak(ad.grad(lambda u, n: heat(u, ad.checkpointed(range(n), snapshots=4))), u, 400)
    assert few < 0.05 * whole


@pytest.mark.parametrize(
    "trips, snapshots, least", [(2000, 8, 9998), (2000, 100, 3898), (10, 3, 15), (1, 1, 0), (0, 4, 0)]
)
def test_the_number_of_trips_is_the_least(trips: int, snapshots: int, least: int) -> None:
    # With those of the forward sweep but for the last one. That sweep does not keep the state in front of the last
    # trip, so the trips behind the last snapshot run once more.
    steps = snapshot_steps(trips, snapshots)
    state, held, most, order, run = None, steps[:-1], 0, [], max(0, trips - 1)
    for action, first, last in zip(*reversal(steps[:-1] if trips else [0], trips, snapshots)):
        most = max(most, len(held))
        if action == 0:
            assert state == first
            run, state = run + last - first, last
        elif action == 1:
            held.append(state)
        elif action == 2:
            state = held[-1]
            assert state == first
        elif action == 3:
            held.pop()
        else:
            assert state == first
            order.append(first)
    assert order == list(reversed(range(trips))) and most <= snapshots
    assert run == least + (max(0, steps[-1] - steps[-2] - 1) if trips else 0)


def test_it_is_the_function_itself() -> None:
    assert layer(X, 2.0).shape == (3,) and layer.__name__ == "layer"
    assert ad.remat is ad.checkpoint
    assert list(ad.checkpointed(range(3), 2)) == [0, 1, 2]
    assert pickle.loads(pickle.dumps(layer))(X, 2.0).shape == (3,)
    np.testing.assert_allclose(ad.grad(ad.checkpoint(np.sum))(X), np.ones(3))


def test_errors() -> None:
    def prints(x):
        print(x)
        return x * x

    def draws(x):
        return x * np.random.normal()

    for f in (prints, draws):
        with pytest.raises(UnsupportedError, match="has effects"):
            ad.grad(lambda x: ad.checkpoint(f)(x))(2.0)
    for bad in (
        lambda x: [x * i for i in ad.checkpointed(3)], lambda x: [x for _ in ad.checkpointed(range(3), 0)],
        lambda x: [x for _ in ad.checkpointed(range(3), 2, disk=2)],
        lambda x: [x for _ in ad.checkpointed(range(3), snapshots=-1, disk=2)],
        lambda x: [x for _ in ad.checkpointed(range(3), disk=0)],
        lambda x: [x for _ in ad.checkpointed(range(3), snapshots=2, directory="/tmp")],
    ):  # fmt: skip
        with pytest.raises(ArgumentError):
            bad(2.0)
        with pytest.raises((ArgumentError, UnsupportedError)):
            ad.grad(lambda x, bad=bad: sum(bad(x)))(2.0)
    with pytest.raises(TypeError, match="needs a function"):
        ad.checkpoint(3)  # type: ignore[type-var]


@pytest.mark.parametrize("number", [0, -1])
def test_numbers_of_the_run_are_checked(number: int) -> None:
    def f(x, n, k):
        for _ in ad.checkpointed(range(n), snapshots=k):
            x = np.sin(x)
        return x

    def g(x, n, k):
        for _ in ad.checkpointed(range(n), k):
            x = np.sin(x)
        return x

    for cut in (ad.grad(f), ad.grad(g)):
        assert cut(0.5, 9, 2) == cut(0.5, 9, 3)
        with pytest.raises((ArgumentError, ValueError), match="at least one"):
            cut(0.5, 9, number)


def test_more_snapshots_than_python_can_recurse() -> None:
    kinds, _, _ = reversal(list(range(4000)), 5000, 4000)
    assert kinds.count(4) == 5000


def test_a_schedule_takes_few_bytes() -> None:
    tracemalloc.start()
    kinds, _, _ = reversal(snapshot_steps(100_000, 20)[:-1], 100_000, 20)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 30 * len(kinds)


def left_in_two_ways(x, loop):
    a, b, c = x[0], x[1] * 0.5, x[0] + x[1]
    y = x.copy()
    for _ in loop(5):
        if c > -0.2:
            c = c + np.sum(y) * 0.1
            break
        if b > 0.6:
            a = a * 1.1
            return a * a
        c = np.sin(x[1]) + 0.3 * c
    return a * b + c + np.sum(y * y)


@pytest.mark.parametrize("x", [(0.5, 0.3), (-0.9, 0.2), (-2.0, 1.5)])
def test_snapshots_of_a_loop_that_is_left_in_two_ways(x):
    x = np.array(x)
    found = ad.grad(lambda x: left_in_two_ways(x, lambda n: ad.checkpointed(range(n), snapshots=2)))(x)
    np.testing.assert_allclose(found, ad.grad(lambda x: left_in_two_ways(x, range))(x))


# --- what is no range -------------------------------------------------------------------------------------------------


def over_rows(x, m):
    for row in m(np.outer(x, x)):
        x = np.sin(x * row) + row[0]
    return np.sum(x)


def over_pairs(x, m):
    w = np.outer(x, x)
    for k, (row, other) in m(enumerate(zip(w, w[::-1]), 1)):
        x = np.sin(x * row) * k + other
    return np.sum(x)


def backwards(x, m):
    for row in m(reversed(np.outer(x, x))):
        x = np.sin(x * row) + row[0]
    return np.sum(x)


def over_a_list(x, m):
    for v in m([x[0], x[1] * 2.0, x[0], x[2]]):
        x = np.sin(x * v) + v
    return np.sum(x)


def over_a_tuple_of_arrays(x, m):
    for v in m((x, x * 2.0, x[::-1])):
        x = np.sin(x * v) + v
    return np.sum(x)


def over_lists(x, m):
    held, other = [x[0], x[1], x[2]], [x[2], 1.0, 2.0]
    for a, (k, b) in m(zip(held, enumerate(other))):
        x = np.sin(x * a) * b + k
        held[k] = np.sum(x)
    return np.sum(x) * held[0] * held[1]


def stores_into_rows(x, m):
    a = np.outer(x, np.ones(3))
    for row in m(a):
        row[1:] = row[:-1] * x[0]
        x = x * row[2]
    return np.sum(x) + a[0][1] * a[2, 1]


def stores_into_items(x, m):
    items = [x * 1.0, x * 2.0]
    for v in m(reversed(items)):
        x = np.sin(x) * v[0]
        v[1] = x[2]
    return np.sum(x) + items[0][1]


def over_what_grows(x, m):
    grown = [x[0]]
    for i in range(5):
        grown.append(grown[-1] * x[1] + i)
    for v in m(grown):
        x = x * np.sin(v)
    return np.sum(x)


def over_values(x, m):
    for v in m({"a": x[0], "b": x[1]}.values()):
        x = np.sin(x) * v
    return np.sum(x)


def left_early(x, m):
    for k, v in m(enumerate(np.concatenate([x, x, x]))):
        if np.sum(x) > 3.0 - k:
            break
        x = np.sin(x) * v + 0.5
    else:
        for i in range(3):
            x = x * i + np.sin(x)
    return np.sum(x)


ITERABLES = [
    over_rows, over_pairs, backwards, over_a_list, over_a_tuple_of_arrays, over_lists, stores_into_rows,
    stores_into_items, over_what_grows, over_values, left_early,
]  # fmt: skip


@pytest.mark.parametrize("f", ITERABLES)
def test_iterables(f: Any) -> None:
    value, slope = ad.value_and_grad(lambda x: f(x, lambda it: it))(X)
    curved = ad.hessian(lambda x: f(x, lambda it: it))(X)
    for g in (
        lambda x: f(x, ad.checkpointed),
        lambda x: f(x, lambda it: ad.checkpointed(it, 2)),
        lambda x: f(x, lambda it: ad.checkpointed(it, snapshots=2)),
        lambda x: f(x, lambda it: ad.checkpointed(it, snapshots=1, disk=1)),
    ):
        cut = ad.value_and_grad(g)
        assert "segment(" in cut.source(X) or "reversal(" in cut.source(X)
        found = cut(X)
        np.testing.assert_allclose([found[0], *found[1]], [value, *slope], rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(ad.hessian(g)(X), curved, rtol=1e-9, atol=1e-12)
        assert g(X) == value or np.isclose(g(X), value)


def test_iterables_of_other_kinds_are_refused() -> None:
    def numbers(x):
        for i in range(3):
            if x > 0.0:
                yield i * x

    def mixed(x):
        for v in ad.checkpointed((x, [x])):
            x = np.sin(x)
        return x

    def inside(x):
        for k, i in enumerate(ad.checkpointed(range(4))):
            x = np.sin(x) * i * k
        return x

    def generated(x):
        for v in ad.checkpointed(numbers(x)):
            x = np.sin(x) * v
        return x

    def letters(x):
        for s in ad.checkpointed("abc"):
            x = np.sin(x) * len(s)
        return x

    for f in (mixed, inside, generated, letters):
        with pytest.raises(UnsupportedError, match="checkpointed"):
            ad.grad(f)(0.5)


def test_an_else_keeps_its_own_loops() -> None:
    def f(x):
        for _ in ad.checkpointed(range(4), 2):
            x = np.sin(x)
        else:
            for i in range(50):
                x = x * np.cos(x) + i
        return x

    source = ad.grad(f).source(0.5)
    assert "segment(4, 2)" in source.replace("len(range(4))", "4") and "range(0, 50" not in source


# --- snapshots on disk ------------------------------------------------------------------------------------------------


def carries_several(x, n):
    u, v, s, seen = x, np.outer(x, x), 0.0, [x[0]]
    for i in ad.checkpointed(range(n), snapshots=2, disk=3):
        u = np.sin(u) + v[0] * 0.1
        v[1:] *= np.cos(u)
        s = s * 0.9 + np.sum(u)
        if i % 4 == 1:
            seen.append(s)
        if s > 1e6:
            break
    return np.sum(u) + np.sum(v) + s * sum(seen)


def carries_several_plainly(x, n):
    u, v, s, seen = x, np.outer(x, x), 0.0, [x[0]]
    for i in range(n):
        u = np.sin(u) + v[0] * 0.1
        v[1:] *= np.cos(u)
        s = s * 0.9 + np.sum(u)
        if i % 4 == 1:
            seen.append(s)
        if s > 1e6:
            break
    return np.sum(u) + np.sum(v) + s * sum(seen)


@pytest.mark.parametrize("f", LOOPS)
@pytest.mark.parametrize("large", [False, True])
def test_snapshots_on_disk(f: Any, large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if large:
        monkeypatch.setattr("autodiff_compiler.runtime.SMALL", 0)  # all arrays are
    for n in (0, 1, 2, 7, 30):
        if f is skips and n == 0:
            continue
        value, slope = ad.value_and_grad(lambda x, n: f(x, range(n)))(X, n)
        curved = ad.hessian(lambda x, n: f(x, range(n)))(X, n) if large else None
        for cut in (
            lambda x, n: f(x, ad.checkpointed(range(n), disk=4)),
            lambda x, n: f(x, ad.checkpointed(range(n), snapshots=2, disk=1)),
            lambda x, n: f(x, ad.checkpointed(range(n), snapshots=1, disk=6)),
        ):
            found = ad.value_and_grad(cut)(X, n)
            assert found[0] == value
            np.testing.assert_allclose(found[1], slope, rtol=1e-12, atol=1e-14)
            if n in (7, 30) and large:
                np.testing.assert_allclose(ad.hessian(cut)(X, n), curved, rtol=1e-9, atol=1e-11)


def test_snapshots_on_disk_of_several_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autodiff_compiler.runtime.SMALL", 0)
    for n in (0, 1, 9, 40):
        np.testing.assert_allclose(
            ad.grad(carries_several)(X, n), ad.grad(carries_several_plainly)(X, n), rtol=1e-12, atol=1e-14
        )
        _, pull = ad.vjp(carries_several, X, n)
        for factor in (1.0, 3.0):  # the pullback may be called again
            np.testing.assert_allclose(
                pull(factor)[0], factor * ad.grad(carries_several_plainly)(X, n), rtol=1e-12, atol=1e-14
            )
        direct = ad.jvp(lambda x: ad.grad(carries_several_plainly)(x, n), (X,), (X,))[1]
        along = ad.jvp(lambda x: ad.grad(carries_several)(x, n), (X,), (X,))[1]
        back = ad.grad(lambda x: ad.grad(carries_several)(x, n) @ X)(X)
        for found in (along, back):
            np.testing.assert_allclose(found, direct, rtol=1e-9, atol=1e-11)


def test_memory_of_snapshots_on_disk() -> None:
    u = np.linspace(0.0, 1.0, 20_000)
    few = ad.grad(lambda u, n: heat(u, ad.checkpointed(range(n), snapshots=2)))
    more = ad.grad(lambda u, n: heat(u, ad.checkpointed(range(n), snapshots=2, disk=60)))
    np.testing.assert_array_equal(more(u, 150), few(u, 150))
    assert peak(more, u, 150) < peak(few, u, 150) + 0.5 * u.nbytes


def heat_until(u, n):
    for i in ad.checkpointed(range(1000), snapshots=3, disk=20):
        if i == n:
            break
        u[1:-1] += 0.1 * (1.0 + u[1:-1] ** 2) * (u[2:] + u[:-2] - 2.0 * u[1:-1])
    return np.sum(u * u)


def test_memory_of_a_loop_that_is_left_and_of_a_pullback() -> None:
    u = np.linspace(0.0, 1.0, 20_000)
    few = peak(ad.grad(lambda u, n: heat(u, ad.checkpointed(range(n), snapshots=3))), u, 150)
    assert peak(ad.grad(heat_until), u, 150) < few + 1.5 * u.nbytes

    def twice(u, n):
        _, pull = ad.vjp(lambda u: heat_until(u, n), u)
        return pull(1.0)[0], pull(1.0)[0]

    assert peak(twice, u, 150) < few + 6 * u.nbytes


def test_files_are_gone(tmp_path: Any) -> None:
    def f(x, n, bad):
        for i in ad.checkpointed(range(n), disk=5, directory=WHERE):
            x = np.sin(x) * x
            if i == bad:
                raise ValueError("no")
        return np.sum(x)

    global WHERE
    WHERE = str(tmp_path)
    x = np.ones(1000)
    ad.grad(f)(x, 20, -1)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="no") as caught:
        ad.grad(f)(x, 20, 15)
    assert caught.tb is not None and not list(tmp_path.iterdir())
    WHERE = str(tmp_path / "nowhere")
    with pytest.raises(OSError, match=r"a snapshot of 8000 bytes cannot be written to .*nowhere"):
        ad.grad(f)(x, 20, -1)


WHERE = ""

FULL = """
import resource, signal, sys, os
import numpy as np
import autodiff_compiler as ad

def f(x, n):
    for _ in ad.checkpointed(range(n), disk=50):
        x = np.sin(x) * x
    return np.sum(x)

x = np.ones(100_000)
ad.grad(f)(x, 3)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (5_000_000, 5_000_000))
try:
    ad.grad(f)(x, 60)
except OSError as error:
    print(error.errno, error)
print(os.listdir(sys.argv[1]))
"""


@pytest.mark.skipif(os.name == "nt", reason="there are no such limits")
def test_a_full_disk_is_an_error(tmp_path: Any) -> None:
    program, files = tmp_path / "full.py", tmp_path / "files"
    program.write_text(FULL)
    files.mkdir()
    env = {**os.environ, "TMPDIR": str(files), "AUTODIFF_COMPILER_CACHE": "off"}
    out = subprocess.run(
        [sys.executable, str(program), str(files)], env=env, capture_output=True, text=True, check=True
    ).stdout  # fmt: skip
    assert "a snapshot of 800000 bytes cannot be written to" in out and "give checkpointed another directory=" in out
    assert out.endswith("[]\n")


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="nothing says which files are open")
def test_no_file_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autodiff_compiler.runtime.SMALL", 0)
    g = ad.grad(lambda x, n: carried(x, ad.checkpointed(range(n), snapshots=1, disk=6)))
    want, before = g(X, 30), len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        np.testing.assert_array_equal(g(X, 30), want)
    assert len(os.listdir("/proc/self/fd")) == before
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(g(X, 30), want) else 1)
    assert os.waitpid(child, 0)[1] == 0
    np.testing.assert_array_equal(g(X, 30), want)


def test_places_of_a_file() -> None:
    file = snapshot_file(3, 2, None)
    x = np.arange(6000.0).reshape(2, 3000)
    held = [snapshot(x.T + k, file, k) for k in range(5)]
    assert [h.base is None for h in held] == [False, False, False, True, True]
    held.append(snapshot(x.T + 5, file, 5))  # memory is full
    assert held[5].base is not None
    part = held[1][7:]
    del held[1]
    other = snapshot(x - 1.0, file, 1)  # and that place is not free yet
    np.testing.assert_array_equal(part, (x.T + 1)[7:])
    np.testing.assert_array_equal(other, x - 1.0)
    for k, h in zip((0, 2, 3, 4, 5), held):
        np.testing.assert_array_equal(h, x.T + k)
    places = file.made[x.nbytes]
    for k in range(40):
        held[-1] = snapshot(x * k, file, 2)
    assert file.made[x.nbytes] <= places + 2
    small = snapshot(np.ones(3), file, 0)
    assert small.base is None
    for dtype in (np.complex128, np.float32, np.int16, "datetime64[s]", [("a", float), ("b", np.int8)]):
        y = np.zeros(9000, dtype)
        assert snapshot(y, file, 0).dtype == y.dtype and (snapshot(y, file, 0) == y).all()


def test_explain_says_what_is_on_disk() -> None:
    def f(x, n):
        for _ in ad.checkpointed(range(n), snapshots=3, disk=20):
            x = np.sin(x)
        return np.sum(x)

    text = str(ad.explain(f, X, 100))
    assert "23 snapshots, and all of one iteration; at most 20 of the snapshots on disk" in text
