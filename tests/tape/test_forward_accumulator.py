"""`ForwardAccumulator` on the native tape: functions with rules, hooks, exceptions, threads, what is compiled."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.tape import recording

X, D = np.array([0.3, 0.5, 0.7]), np.array([1.0, -2.0, 0.5])


@ad.function
def compiled(a):
    s = a
    for _ in range(3):
        s = np.sin(s) * a
    return {"s": s, "n": 3}


@ad.custom_vjp
def with_rules(a):
    return a * a


with_rules.defvjp(lambda a: (a * a, a), lambda a, g: (2.0 * a * g,))

FUNCTIONS = {
    "arithmetic": lambda x: x * np.exp(-x) / (1.0 + x**2),
    "stores and parts": lambda x: np.concatenate([x[1:] * x[:-1], np.sort(x)[:1]]),
    "matrices": lambda x: np.linalg.solve(np.outer(x, x) + np.eye(3), x),
    "compiled": lambda x: compiled(x * x)["s"] * x,
    "rules": lambda x: with_rules(x) * x,
    "run again": lambda x: ad.recompute_grad(lambda a: np.sin(a) * a)(x),
    "hook": lambda x: ad.on_gradient(x * x, lambda g: g) * x,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_tangents_and_their_gradients(name: str) -> None:
    f = FUNCTIONS[name]
    x = ad.Variable(X)
    with ad.GradientTape() as tape:
        with ad.ForwardAccumulator(x, ad.constant(D)) as acc:
            y = f(x)
        d = acc.jvp(y)
    h = 1e-6
    quotient = (f(ad.constant(X + h * D)).numpy() - f(ad.constant(X - h * D)).numpy()) / (2 * h)
    np.testing.assert_allclose(d.numpy(), quotient, rtol=1e-6, atol=1e-8)
    # The gradient of the tangent is the tangent of the gradient.
    with ad.ForwardAccumulator(x, ad.constant(D)) as acc:
        with ad.GradientTape() as inner:
            y = f(x)
        g = inner.gradient(y, x)
    np.testing.assert_allclose(tape.gradient(d, x).numpy(), acc.jvp(g).numpy(), rtol=1e-9, atol=1e-12)


def test_a_structure_is_compiled_once() -> None:
    def tangent(v: Any) -> Any:
        x = ad.constant(v)
        with ad.ForwardAccumulator(x, ad.constant(np.ones_like(v))) as acc:
            y = np.tanh(x * x) * 3.0
        return acc.jvp(y).numpy()

    tangent(X)
    before = recording._pullbacks
    np.testing.assert_allclose(tangent(2.0 * X), 12.0 * X / np.cosh(4.0 * X * X) ** 2)
    tangent(np.arange(5.0))
    assert recording._pullbacks == before


def test_exceptions_leave_nothing_open() -> None:
    x = ad.Variable(X)
    acc = ad.ForwardAccumulator(x, ad.constant(D))
    with pytest.raises(ZeroDivisionError), acc:
        y = x * 2.0
        raise ZeroDivisionError
    np.testing.assert_allclose(acc.jvp(y).numpy(), 2.0 * D)
    assert recording.STATE.rec is None
    with acc:
        z = y * y
    np.testing.assert_allclose(acc.jvp(z).numpy(), 8.0 * X * D)


def test_an_error_at_the_end_of_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: Any) -> None:
        raise ad.UnsupportedError("no tangent", None, "none")

    x = ad.Variable(X)
    with ad.GradientTape() as tape:
        with monkeypatch.context() as patch:
            patch.setattr(ad.ForwardAccumulator, "_push_forward", fails)
            with pytest.raises(ad.UnsupportedError, match="no tangent"), ad.ForwardAccumulator(x, ad.constant(D)):
                y = x * x
        z = y * 3.0
    assert recording.STATE.rec is None
    np.testing.assert_allclose(tape.gradient(z, x).numpy(), 6.0 * X)


def test_accumulators_are_per_thread() -> None:
    x = ad.Variable(X)
    found: list[Any] = []
    with ad.ForwardAccumulator(x, ad.constant(D)) as acc:
        thread = threading.Thread(target=lambda: found.append(x * x))
        thread.start()
        thread.join()
        y = x * x
    assert acc.jvp(found[0]) is None
    np.testing.assert_allclose(acc.jvp(y).numpy(), 2.0 * X * D)
