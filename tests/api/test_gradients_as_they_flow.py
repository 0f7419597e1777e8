"""What is done to derivatives where they flow: `on_gradient`, `nondifferentiable`, `stop_gradient`; and on a tape."""

from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.api.test_custom_rules import exponential, sine

X = np.array([0.4, 0.8, 1.3])
V = np.array([1.0, -2.0, 0.5])
SEEN: list[Any] = []


def normed(g):
    n = np.sqrt(np.sum(g * g))
    if n > 1.0:
        return g / n
    return None


class Recorder:
    def __init__(self) -> None:
        self.seen: list[Any] = []

    def __call__(self, g: Any) -> None:
        self.seen.append(g)


def test_on_gradient_is_inlined() -> None:
    g = ad.grad(lambda x: np.sum(ad.on_gradient(x, normed) ** 2))
    np.testing.assert_allclose(g(X), X / np.linalg.norm(X))
    assert "hooked" not in g.source(X)
    both = ad.grad(lambda x: (lambda d: np.sum(d["a"] * d["b"]))(ad.on_gradient({"a": x, "b": x}, lambda g: g)))
    np.testing.assert_allclose(both(X), 2.0 * X)


def test_on_gradient_calls_in_the_order_of_the_backward_sweep() -> None:
    def f(x):
        for _ in range(3):
            x = ad.on_gradient(x, lambda g: SEEN.append(g))
            x = 2.0 * x
        return np.sum(x)

    SEEN.clear()
    np.testing.assert_allclose(ad.grad(f)(X), [8.0, 8.0, 8.0])
    assert [g[0] for g in SEEN] == [2.0, 4.0, 8.0]
    recorder = Recorder()
    ad.grad(lambda x: np.sum(ad.on_gradient(x, recorder) ** 2))(X)
    np.testing.assert_allclose(recorder.seen, [2.0 * X])


def test_on_gradient_in_forward_mode() -> None:
    half = lambda x: np.sum(ad.on_gradient(x, lambda g: 0.5 * g) ** 2)
    np.testing.assert_allclose(ad.jvp(half, (X,), (V,))[1], ad.grad(half)(X) @ V)
    for fn, said in ((lambda g: np.clip(g, -1, 1), "not linear"), (lambda g: SEEN.append(g), "has effects")):
        with pytest.raises(ad.UnsupportedError, match=said):
            ad.jvp(lambda x, fn=fn: np.sum(ad.on_gradient(x, fn)), (X,), (V,))


def test_on_gradient_refuses() -> None:
    def short(g):
        print("called")
        return g[1:]

    with pytest.raises(ValueError, match=r"shape \(2,\)"):
        ad.grad(lambda x: np.sum(ad.on_gradient(x, short) ** 2))(X)
    twice = lambda z: np.sum(ad.grad(lambda x: np.sum(ad.on_gradient(x, lambda g: SEEN.append(g)) ** 3))(z))
    with pytest.raises(ad.AutodiffError, match="a second derivative through on_gradient"):
        ad.grad(twice)(X)
    with pytest.raises(ad.UnsupportedError, match="on_gradient gets a function that changes a list"):
        ad.grad(keeps)(X)


def keeps(x):
    kept = []
    y = ad.on_gradient(x, lambda g: kept.append(g))
    return np.sum(y)


def test_nondifferentiable() -> None:
    calls = []

    @ad.nondifferentiable
    def level(x, scale=1.0):
        calls.append(1)
        return np.floor(np.asarray(x) * scale)

    def f(x):
        total = 0.0
        for _ in range(3):
            if level(x[2]) > 0.0:
                total = total + np.sum(x * level(x, scale=3.0))
        return total

    np.testing.assert_allclose(ad.grad(f)(X), 3.0 * np.floor(3.0 * X))
    assert len(calls) == 6
    assert ad.jvp(f, (X,), (V,))[1] == pytest.approx(3.0 * np.floor(3.0 * X) @ V)


def test_on_a_tape() -> None:
    x = ad.Variable(2.0)
    with ad.GradientTape() as outer:
        with ad.GradientTape() as tape:
            y = sine(x) * exponential(x)
        g = tape.gradient(y, x)
    assert float(g.numpy()) == pytest.approx(np.exp(2.0) * (np.sin(2.0) + np.cos(2.0)))
    assert float(outer.gradient(g, x).numpy()) == pytest.approx(2.0 * np.exp(2.0) * np.cos(2.0))
    seen: list[Any] = []
    with ad.GradientTape() as tape:
        y = ad.on_gradient(x * x, lambda g: seen.append(g)) + ad.on_gradient(x, lambda g: 0.5 * g)
    assert float(tape.gradient(y, x).numpy()) == 4.5 and len(seen) == 1
    rounding = ad.nondifferentiable(lambda v: np.round(v) * v)
    with ad.GradientTape() as tape:
        y = rounding(x) * x
    assert float(tape.gradient(y, x).numpy()) == 4.0


@pytest.mark.parametrize("value", [{"a": X, "b": [X]}, (X, 2.0), X])
def test_stop_gradient(value: Any) -> None:
    first = lambda v: v["a"] if isinstance(v, dict) else v[0] if isinstance(v, tuple) else v

    def f(x):
        for _ in range(2):
            x = x * first(ad.stop_gradient(value)) * ad.stop_gradient(x)
        return np.sum(x)

    g = ad.grad(f)(X)
    np.testing.assert_allclose(g, X**6, rtol=1e-12)
    np.testing.assert_allclose(ad.jvp(f, (X,), (V,))[1], g @ V)
    assert not np.any(ad.grad(lambda z: np.sum(ad.grad(f)(z)))(X))
