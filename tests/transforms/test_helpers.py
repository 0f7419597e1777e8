"""Functions for what several calls of a helper have in common: the same numbers, fewer lines."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad


def rate(t: Any, y: Any, w: Any) -> Any:
    h = np.tanh(w @ y + 0.1 * t)
    return h * np.cos(y) - 0.3 * y * h + np.exp(-y * y)


def rk4(y: Any, w: Any, dt: Any) -> Any:
    t = 0.0
    for _ in range(5):
        k1 = rate(t, y, w)
        k2 = rate(t + dt / 2, y + dt / 2 * k1, w)
        k3 = rate(t + dt / 2, y + dt / 2 * k2, w)
        k4 = rate(t + dt, y + dt * k3, w)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += dt
    return np.sum(y**2)


def stored(v: Any, w: Any) -> Any:
    out = np.zeros_like(v)
    out[1:] = np.sin(v[1:]) * w[:-1] + v[:-1]
    out[0] = v[0] * w[0]
    return out * np.cos(out) + np.tanh(v * w)


def stores(v: Any, w: Any) -> Any:
    a = stored(v, w)
    b = stored(a, w)
    w[0] *= 2.0
    c = stored(b, w)
    return np.sum(a * b * c)


def changed(v: Any, w: Any) -> Any:
    """The helper stores into its argument, and what it reads is stored into between the calls."""
    v[0] = np.sum(np.sin(v) * w)
    v[1:] *= np.exp(-w[1:] * w[1:]) + np.cos(v[1:])
    return np.tanh(v * w) + np.sin(v) * np.cos(w) * 0.5


def changes(v: Any, w: Any) -> Any:
    a = changed(v, w)
    w[1] = a[0] * 0.1
    b = changed(v, w)
    a[2] += b[1]
    c = changed(a, w)
    return np.sum(a * b * c * v)


def twice(v: Any, w: Any) -> Any:
    """One argument twice, and two arguments that are one array."""
    return np.sum(rate(0.1, v, w) * rate(0.2, w @ v, w) * rate(0.3, v * v, w) * rate(np.sum(v), v, w))


def square(rng: Any) -> tuple[Any, ...]:
    return 0.5 * rng.normal(size=3), 0.5 * rng.normal(size=(3, 3))


def vectors(rng: Any) -> tuple[Any, ...]:
    return 0.5 * rng.normal(size=4), 0.5 * rng.normal(size=4)


CASES = [(rk4, lambda rng: (*square(rng), 0.1)), (stores, vectors), (changes, vectors), (twice, square)]
IDS = [f.__name__ for f, _ in CASES]


def fresh(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple([a.copy() if isinstance(a, np.ndarray) else a for a in args])


def flat(x: Any) -> list[Any]:
    return [part for item in x for part in flat(item)] if isinstance(x, tuple) else [x]


@pytest.mark.parametrize("make", [ad.grad, ad.value_and_grad, ad.jvp, ad.vjp], ids=lambda make: make.__name__)
@pytest.mark.parametrize("f, inputs", CASES, ids=IDS)
def test_every_bit_is_the_same(f: Any, inputs: Any, make: Any) -> None:
    rng = np.random.default_rng(3)
    args = inputs(rng)

    def result(optimize: Any) -> Any:
        everything = tuple(range(len(args)))
        if make is ad.jvp:
            return ad.jvp(f, fresh(args), tuple([np.ones_like(a) for a in args]), optimize=optimize)
        if make is ad.vjp:
            value, pull = ad.vjp(f, *fresh(args), optimize=optimize)
            return value, pull(1.0), pull(2.0)
        return make(f, argnums=everything, optimize=optimize)(*fresh(args))

    for a, b in zip(flat(result(True)), flat(result("-helpers")), strict=True):
        assert type(a) is type(b)
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("f, inputs", CASES, ids=IDS)
def test_the_gradient_is_that_of_the_forward_mode(f: Any, inputs: Any) -> None:
    rng = np.random.default_rng(4)
    args = inputs(rng)
    along = tuple([rng.normal(size=np.shape(a))[()] for a in args])
    everything = tuple(range(len(args)))
    found = ad.grad(f, argnums=everything)(*fresh(args))
    _, tangent = ad.jvp(f, fresh(args), along, optimize=False)
    assert sum(np.sum(g * t) for g, t in zip(found, along)) == pytest.approx(tangent, rel=1e-9)

    def total(*args: Any) -> Any:
        return sum(np.sum(g * g) for g in ad.grad(f, argnums=everything)(*args))

    second = ad.grad(total, argnums=everything)(*fresh(args))
    _, tangent = ad.jvp(total, fresh(args), along, optimize=False)
    assert sum(np.sum(g * t) for g, t in zip(second, along)) == pytest.approx(tangent, rel=1e-8)


def functions(source: str) -> list[str]:
    return [line.split("(")[0][4:] for line in source.splitlines() if line.startswith("def ")]


def test_a_helper_and_its_pullback_are_functions() -> None:
    args = (*square(np.random.default_rng(3)), 0.1)
    everything = (0, 1, 2)
    source = ad.grad(rk4, argnums=everything).source(*args)
    assert functions(source) == ["rate", "rate_pullback", "rk4_grad"] or functions(source) == [
        "rate_pullback", "rate", "rk4_grad"
    ]  # fmt: skip
    plain = ad.grad(rk4, argnums=everything, optimize="-helpers").source(*args)
    assert functions(plain) == ["rk4_grad"]
    assert len(source.splitlines()) < len(plain.splitlines()) - 12


def test_numbers_are_computed_where_they_are() -> None:
    def step(x: Any) -> Any:
        return np.sin(x) * np.cos(x) + np.exp(-x * x) * np.tanh(x) + x * 0.5

    def f(x: Any) -> Any:
        return step(step(step(step(x))))

    assert functions(ad.grad(f).source(0.5)) == ["f_grad"]


def test_what_stands_above_is_pickled_and_kept_on_disk(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from autodiff_compiler.api import persist

    args = (*square(np.random.default_rng(3)), 0.1)
    gradient = ad.grad(rk4)
    want = gradient(*args)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(gradient))(*args), want)
    monkeypatch.setenv("AUTODIFF_COMPILER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(persist, "RULES_OF_USERS", [])
    for _ in range(2):
        again = ad.grad(rk4)
        np.testing.assert_array_equal(again(*args), want)
        assert len(functions(again.source(*args))) == 3


def test_an_error_in_a_helper_is_shown_with_its_line() -> None:
    def part(y: Any, w: Any) -> Any:
        h = np.sin(y) * np.cos(w) + np.exp(-y * y) * np.tanh(w)
        return h * np.sqrt(1.0 + h * h) + np.cos(h) * w

    def f(y: Any, w: Any) -> Any:
        return np.sum(part(part(part(y, w), w), w))

    gradient = ad.grad(f)
    assert len(functions(gradient.source(np.ones(3), np.ones(3)))) > 1
    with pytest.raises(ValueError, match="broadcast"):
        gradient(np.ones(3), np.ones(4))


def flows(y: Any, rates: Any) -> Any:
    prey, predators = y
    meetings = prey * predators
    grown = rates[0] * prey - rates[1] * meetings
    return np.stack([grown * np.cos(prey), np.sin(rates[2] * meetings - rates[3] * predators)])


def flown(y: Any, rates: Any) -> Any:
    for _ in range(3):
        k1 = flows(y, rates)
        k2 = flows(y + 0.5 * k1, rates)
        k3 = flows(y + 0.5 * k2, rates)
        y = y + 0.1 * (k1 + 2.0 * k2 + k3)
    return np.sum(y * y)


def test_a_helper_takes_the_arrays_of_which_it_reads_parts() -> None:
    y, rates = np.array([[1.0, 1.2, 0.7], [0.5, 0.8, 0.4]]), np.array([0.5, 0.2, 0.3, 0.4])
    source = ad.grad(flown, argnums=(0, 1)).source(y, rates)
    assert "def flows_pullback(rates, " in source
    value, grads = ad.value_and_grad(flown, argnums=(0, 1))(y, rates)
    assert value == flown(y, rates)
    want = ad.grad(flown, argnums=(0, 1), optimize=False)(y, rates)
    for g, w in zip(grads, want):
        np.testing.assert_allclose(g, w, rtol=1e-12)


def test_what_does_not_unpack_raises_what_the_helper_raises() -> None:
    gradient = ad.grad(flown, argnums=(0, 1))
    gradient(np.ones((2, 3)), np.ones(4))
    for y, rates in ((np.ones((3, 3)), np.ones(4)), (np.ones((2, 3)), np.ones(3)), (np.ones((3, 3)), np.ones(3))):
        with pytest.raises((ValueError, IndexError)) as found:
            flown(y, rates)
        with pytest.raises(type(found.value)):
            gradient(y, rates)


def varied(y: Any, rates: Any) -> Any:
    k1 = flows(y, rates)
    rates[1] = rates[0] * k1[0, 0]
    k2 = flows(y + 0.5 * k1, rates)
    k1[1] = rates[2] * k2[0]
    return np.sum(flows(k1, rates) * flows(k2, rates))


def test_a_helper_does_not_take_an_array_that_is_stored_into() -> None:
    y, rates = np.array([[1.0, 1.2, 0.7], [0.5, 0.8, 0.4]]), np.array([0.5, 0.2, 0.3, 0.4])
    found = ad.grad(varied, argnums=(0, 1))(y, rates.copy())
    want = ad.grad(varied, argnums=(0, 1), optimize=False)(y, rates.copy())
    for g, w in zip(found, want):
        np.testing.assert_allclose(g, w, rtol=1e-12)
