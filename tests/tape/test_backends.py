"""Tapes with ``backend="native"`` and ``backend="auto"``. Here programs run as Python, see conftest."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.api import auto
from autodiff_compiler.errors import ArgumentError

RNG = np.random.default_rng(0)
W = [ad.Variable(RNG.normal(size=(4, 4)), name=f"w{k}") for k in range(2)]
B = ad.Variable(RNG.normal(size=4), name="b")
X = RNG.normal(size=(3, 4))


def loss_of(x: Any) -> Any:
    h = ad.constant(x)
    for w in W:
        h = np.tanh(h @ w + B)
    return np.mean((h - 1.0) ** 2) + 0.1 * np.sum(B * B)


def gradient(backend: Any, loss: Any, sources: Any, **options: Any) -> Any:
    with ad.GradientTape(backend=backend, **options) as tape:
        y = loss()
    grads = tape.gradient(y, sources)
    return grads, tape


def same(a: Any, b: Any) -> None:
    assert len(a) == len(b)
    for x, y in zip(a, b):
        assert (x is None) == (y is None)
        if x is not None:
            assert type(x.numpy()) is type(y.numpy()) and x.dtype == y.dtype and x.shape == y.shape
            np.testing.assert_allclose(x.numpy(), y.numpy(), rtol=1e-12)


def test_gradients_agree() -> None:
    for x in (X, X[:2], X[::-1], np.asfortranarray(X), X[:1], X[:0]):
        with np.errstate(all="ignore"):
            got, tape = gradient("native", lambda x=x: loss_of(x), [*W, B])
            same(got, gradient("numpy", lambda x=x: loss_of(x), [*W, B])[0])
            assert "@Native" in tape.source()


def test_the_default_stays_numpy_code() -> None:
    gradient("native", lambda: loss_of(X), [*W, B])
    assert "@Native" not in gradient("numpy", lambda: loss_of(X), [*W, B])[1].source()
    with pytest.raises(ArgumentError, match="there is no backend"):
        ad.GradientTape(backend="fast")  # type: ignore[arg-type]


def test_scalars() -> None:
    a, b = ad.Variable(0.7), ad.Variable(np.float32(1.5))

    def loss() -> Any:
        s = a * a
        for _ in range(40):
            s = np.sin(s) * a + s / (2.0 + a)
        return s

    same(gradient("native", loss, [a])[0], gradient("numpy", loss, [a])[0])
    same(gradient("native", lambda: b * b * 0.1, [b])[0], gradient("numpy", lambda: b * b * 0.1, [b])[0])


def test_a_long_recording() -> None:
    a = ad.Variable(0.7)

    def loss() -> Any:
        s = a
        for _ in range(1500):
            s = np.sin(s) + 0.1
        return s

    same(gradient("native", loss, [a])[0], gradient("numpy", loss, [a])[0])


def test_higher_orders_and_jacobians() -> None:
    x = ad.Variable([0.5, 1.5])
    found = []
    for backend in ("native", "numpy"):
        with ad.GradientTape(persistent=True, backend=backend) as outer:  # type: ignore[arg-type]
            with ad.GradientTape(backend=backend) as inner:  # type: ignore[arg-type]
                y = np.sum(x**3) * x[0]
            g = inner.gradient(y, x)
        found.append(
            [outer.gradient(g, x), outer.jacobian(g, x), outer.gradient(g, x, output_gradients=ad.constant([1.0, 2.0]))]
        )
    same(*found)


def test_barriers() -> None:
    x = ad.Variable([0.5, 1.5])

    @ad.custom_gradient
    def twice(x: Any) -> Any:
        return x * 2.0, lambda g: g * 3.0

    def loss() -> Any:
        return np.sum(np.sin(twice(np.exp(x) * x)) ** 2)

    same(gradient("native", loss, [x])[0], gradient("numpy", loss, [x])[0])


def test_what_has_no_machine_code(caplog: pytest.LogCaptureFixture) -> None:
    x = ad.Variable([0.5, 1.5])

    def loss() -> Any:
        return np.sum(np.sort(np.linalg.svd(np.outer(x, x) + np.eye(2))[1].astype(np.float16)) ** 2)

    got, tape = gradient("native", loss, [x])
    same(got, gradient("numpy", loss, [x])[0])
    assert "@Native" not in tape.source() and "is NumPy code: " in caplog.text


def test_floating_point_errors_that_raise() -> None:
    x = ad.Variable([1e200, 1.0])
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        gradient("native", lambda: np.sum(x * x), [x], persistent=True)
    with ad.GradientTape(persistent=True, backend="native") as tape, np.errstate(all="ignore"):
        y = np.sum(x**3)
    with np.errstate(all="ignore"):
        assert not np.isfinite(tape.gradient(y, x).numpy()).all()
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        tape.gradient(y, x)


def clock_of(tape: Any) -> Any:
    (pull,) = tape._ran
    return pull.clock


def test_machine_code_takes_over(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(auto, "SPENT", 0.0)
    monkeypatch.setattr(auto, "FASTER", float("inf"))
    v = ad.Variable([0.3, 0.4])

    def loss(k: float) -> Any:
        return np.sum(np.cos(v) * k + v**5)

    want = gradient("numpy", lambda: loss(2.0), v)[0].numpy()
    with caplog.at_level(logging.INFO, "autodiff_compiler"):
        for _ in range(auto.CALLS):
            got, tape = gradient("auto", lambda: loss(2.0), v)
            np.testing.assert_allclose(got.numpy(), want)
            assert "@Native" not in tape.source() or clock_of(tape).done.is_set()
        assert clock_of(tape).done.wait(60.0)
    assert "is machine code from now on" in caplog.text
    got, tape = gradient("auto", lambda: loss(2.0), v)
    np.testing.assert_allclose(got.numpy(), want)
    assert "@Native" in tape.source()


def test_little_work_is_left_alone() -> None:
    v = ad.Variable([0.3, 0.4])
    for _ in range(10):
        _, tape = gradient("auto", lambda: np.sum(np.arctan(v)), v)
    assert not clock_of(tape).started and clock_of(tape).calls == 10
