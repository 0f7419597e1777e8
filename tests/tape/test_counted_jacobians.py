"""How often a Jacobian of the tape runs a pullback, and whether loops over the rows are left in it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.tape import pullback as pullback_module
from autodiff_compiler.tape.barrier import Barrier

R = np.random.default_rng(5)
X, A = R.normal(size=6), R.normal(size=(4, 4))
IMAGE, KERNEL = R.normal(size=(1, 4, 4, 2)), R.normal(size=(2, 2, 2, 3))


class Counted:
    def __init__(self, run: Any, runs: list[Any]):
        self.run, self.runs = run, runs

    def __call__(self, *args: Any) -> Any:
        self.runs.append(args)
        return self.run(*args)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The runs of compiled pullbacks that are made from here on."""
    found: list[Any] = []
    load = pullback_module.load
    monkeypatch.setattr(
        pullback_module, "load", lambda text, name, *rest: Counted(load(text, name, *rest), found)
        if name == "pullback" else load(text, name, *rest),
    )  # fmt: skip
    return found


ONE_RUN = {
    "np.convolve": (lambda v: np.convolve(v, np.array([1.0, 2.0, 3.0]), "same"), X),
    "its filter": (lambda v: np.convolve(np.arange(9.0), v, "valid"), X),
    "np.correlate": (lambda v: np.correlate(v, np.array([1.0, 2.0, 3.0])), X),
    "both operands": (lambda v: np.convolve(v, v[:3]), X),
    "convolution": (lambda v: ad.nn.conv2d(v, KERNEL), IMAGE),
    "filters": (lambda v: ad.nn.conv2d(IMAGE, v), KERNEL),
    "sort": (lambda v: np.sort(v, axis=0), A),
    "repeated subscripts": (lambda v: v[np.array([0, 0, 2]), np.array([1, 1, 3])] * v[0, 1], A),
    "repeated letters": (lambda v: np.einsum("ii->i", v) * np.einsum("ii", v), A),
    "singular values": (lambda v: np.linalg.svd(v)[1], A),
    "cumprod": (lambda v: np.cumprod(v), X),
}


@pytest.mark.parametrize("name", ONE_RUN)
def test_one_run_without_a_loop(name: str, runs: list[Any]) -> None:
    f, value = ONE_RUN[name]
    x = ad.Variable(value)
    with ad.GradientTape(persistent=True) as tape:
        y = f(x)
    j = tape.jacobian(y, x).numpy()
    assert len(runs) == 1
    assert not [line for line in tape.source().splitlines() if line.strip().startswith(("for ", "while "))]
    for k, place in enumerate(np.ndindex(y.shape)):
        unit = np.zeros(y.shape)
        unit[place] = 1.0
        row = tape.gradient(y, x, output_gradients=ad.constant(unit)).numpy()
        np.testing.assert_allclose(j.reshape(y.size, *value.shape)[k], row, rtol=1e-10, atol=1e-12)


@ad.function
def compiled(a):
    s = a
    for _ in range(3):
        s = np.sin(s) * a
    return {"s": s, "sum": np.sum(a)}


@ad.custom_vjp
def with_rules(a):
    return a * a


with_rules.defvjp(lambda a: (a * a, a), lambda a, g: (2.0 * a * g,))


@ad.custom_gradient
def by_hand(a):
    return a**2, lambda g: 2.0 * a * g


# The function, and how often its own pullback runs for 6 rows.
OWN = {
    "compiled": (lambda v: np.exp(compiled(v * v)["s"]) * compiled(v)["sum"], 0),
    "rules": (lambda v: with_rules(v) * v, 0),
    "by hand": (lambda v: by_hand(v) * v[0], 6),
    "hook": (lambda v: ad.on_gradient(v * v, lambda g: 2.0 * g) * v, 6),
    "run again": (lambda v: ad.recompute_grad(lambda a: np.sin(a) * a)(v), 6),
    "one that is not used": (lambda v: compiled(v)["sum"] * v, 0),
}


@pytest.mark.parametrize("name", OWN)
def test_what_has_its_own_gradient(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    f, count = OWN[name]
    own: list[Any] = []
    pull = Barrier.pullback
    x = ad.Variable(X)
    with ad.GradientTape(persistent=True) as outer:
        with ad.GradientTape(persistent=True) as tape:
            y = f(x)
        with monkeypatch.context() as patch:
            patch.setattr(Barrier, "pullback", lambda self, *args: (own.append(self), pull(self, *args))[1])
            j = tape.jacobian(y, x)
        rows = [tape.gradient(y, x, output_gradients=ad.constant(unit)) for unit in np.eye(6)]
    assert len(own) == count
    np.testing.assert_allclose(j.numpy(), [row.numpy() for row in rows], rtol=1e-12, atol=1e-14)
    weights = np.cos(np.arange(36.0)).reshape(6, 6)
    second = [outer.gradient(rows[k], x, output_gradients=ad.constant(w)).numpy() for k, w in enumerate(weights)]
    found = outer.gradient(j, x, output_gradients=ad.constant(weights)).numpy()
    np.testing.assert_allclose(found, np.sum(second, axis=0), rtol=1e-10, atol=1e-12)


def test_the_pullback_of_a_function_on_rows() -> None:
    x = ad.Variable(R.normal(size=(3, 2)))
    with ad.GradientTape() as tape:
        y = ad.function(lambda a: np.sin(a) * a[:, ::-1])(x)
    v = x.numpy()
    expected = [np.diag(np.cos(r) * r[::-1]) + np.fliplr(np.diag(np.sin(r))) for r in v]
    np.testing.assert_allclose(tape.batch_jacobian(y, x).numpy(), expected, rtol=1e-12)
