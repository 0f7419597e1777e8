"""Checkpoints: the same derivatives, with less memory."""

from __future__ import annotations

import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import ArgumentError, UnsupportedError
from autodiff_compiler.kernels import reversal, snapshot_steps

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
    for action, first, last in zip(*reversal(trips, snapshots)):
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
    for bad in (lambda x: sum(x * i for i in ad.checkpointed([1, 2])), lambda x: ad.checkpointed(range(3), 0)):
        with pytest.raises(ArgumentError):
            bad(2.0)
    with pytest.raises(ArgumentError, match="needs a range"):
        ad.grad(lambda x: sum([x * i for i in ad.checkpointed([1, 2])]))(2.0)
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
    kinds, _, _ = reversal(5000, 4000)
    assert kinds.count(4) == 5000
