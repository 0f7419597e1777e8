"""Pullbacks of stacks of cotangents: against the pullback of each of them, for every primitive with a rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.ir.core import Prim
from autodiff_compiler.tape import jacobians as jacobians_module
from autodiff_compiler.tape import pullback
from autodiff_compiler.tape.apply import apply
from autodiff_compiler.transforms.batch import NotBatchedError
from tests.operations.test_rules import BY_PRIM, prim_of


def leaves_of(arg: Any, found: list[Any]) -> Any:
    """The argument with variables for arrays and numbers that may carry a derivative."""
    if isinstance(arg, np.ndarray) and arg.dtype.kind in "fc" or isinstance(arg, np.floating):
        v = ad.Variable(arg)
        found.append(v)
        return v
    if type(arg) in (tuple, list):
        return type(arg)([leaves_of(a, found) for a in arg])
    return arg


def jacobians(prim: Prim, args: Any, kwargs: Any) -> list[Any]:
    """Of each result by each argument, where the result has several elements."""
    found: list[Any] = []
    with ad.GradientTape(persistent=True) as tape:
        leaves = leaves_of(args, found)
        out = apply(prim, prim.fn, tuple(leaves), kwargs)
    out = out if isinstance(out, tuple) else (out,)
    return [tape.jacobian(y, found) for y in out if y._value.dtype.kind in "fc" and 1 < np.size(y._value) <= 100]


def both(f: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any, int]:
    """What `f` gives with stacks of cotangents, and with a loop over them; how many pullbacks had no rule for them."""
    refused: list[str] = []
    stack = pullback.batch

    def watched(*args: Any) -> Any:
        try:
            return stack(*args)
        except NotBatchedError as error:
            refused.append(str(error))
            raise

    with monkeypatch.context() as patch:
        patch.setattr(pullback, "batch", watched)
        found = f()
    with monkeypatch.context() as patch:
        patch.setattr(pullback.Pullback, "stacked", lambda self: None)
        return found, f(), len(refused)


def same(found: Any, want: Any) -> None:
    if isinstance(want, (list, tuple)):
        assert len(found) == len(want)
        for a, b in zip(found, want):
            same(a, b)
        return
    assert (found is None) == (want is None)
    if want is not None:
        assert found.dtype == want.dtype and found.shape == want.shape
        np.testing.assert_allclose(found.numpy(), want.numpy(), rtol=1e-11, atol=1e-12)


# Primitives whose pullbacks are run once for each element; see docs/tape.md.
LOOPS = {
    "np.convolve", "np.correlate", "overlap", "conv", "conv_filters", "conv_input", "np.sort", "np.rot90",
    "np.linalg.svd", "np.linalg.eigvals", "np.roll", "np.flipud", "np.fliplr", "set", "applied", "implicit_adjoint",
}  # fmt: skip
# What no program records in this form: a path is that of a subscript.
PATHS = {"get", "get_stored"}


@pytest.mark.parametrize("name", sorted(BY_PRIM.keys() - PATHS))
def test_stacks_of_cotangents(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    loops = 0
    for fn, args, kwargs in BY_PRIM[name]:
        prim = prim_of(fn)

        def run(prim: Prim = prim, args: Any = args, kwargs: Any = kwargs) -> list[Any]:
            with np.errstate(all="ignore"):
                return jacobians(prim, args, kwargs)

        try:
            found, want, refused = both(run, monkeypatch)
        except (ad.AutodiffError, IndexError, TypeError):
            continue  # a form that no tape can record
        same(found, want)
        loops += refused
    assert not loops or name in LOOPS


R = np.random.default_rng(5)
X, W, V, B = R.normal(size=(4, 3)), R.normal(size=(3, 5)), R.normal(size=(5, 2)), R.normal(size=5)
K, IMAGES = R.normal(size=(2, 2, 3, 2)), R.normal(size=(2, 4, 4, 3))


def network(x, w, b, v):
    return np.tanh(x @ w + b) @ v


def normalised(x, w, b, v):
    h = x @ w + b
    h = (h - np.mean(h, axis=-1, keepdims=True)) / np.sqrt(np.var(h, axis=-1, keepdims=True) + 1e-3)
    return ad.nn.softmax(np.where(h > 0, h, 0.1 * h) @ v)


def parts(x, w, b, v):
    h = np.concatenate([x[:, :2], np.transpose(w[:2, :4])], axis=1)
    return h[[0, 2, 2], 1:] * h[:3, ::-1][:, :3] + np.stack([b[:3], b[1:4], b[[0, 0, 4]]])[..., 0:1]


def vectors(x, w, b, v):
    return np.stack([x[0] @ w @ b, b @ v @ v.T @ b, np.sum(np.outer(b, b) ** 2), np.linalg.norm(w[1])]) * x[:, 0]


def matrices(x, w, b, v):
    s = w @ w.T + 3.0 * np.eye(3)
    return np.linalg.solve(s, x[1]) + np.linalg.inv(s)[0] @ s + np.einsum("ij,kj->ik", x, s)[0] + np.trace(s)


def batches(x, w, b, v):
    a = np.reshape(np.outer(x[:, 0], x[:2, 1:]), (4, 2, 2))
    return (a @ v[:2]) + a @ b[:2, None] + np.cumsum(a, axis=1) * np.swapaxes(a, 1, 2)


def recurrent(x, w, b, v):
    h = b
    out = []
    for row in range(4):
        h = np.tanh(x[row] @ w + h * b)
        out.append(h[::2])
    return np.stack(out)


def extremes(x, w, b, v):
    return np.maximum(x, x[:, ::-1]) + np.max(w, axis=0)[:3] + np.prod(w, axis=1) + np.clip(x, -0.5, 0.5) ** 3


@pytest.mark.parametrize(
    "f", [network, normalised, parts, vectors, matrices, batches, recurrent, extremes], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_jacobians_of_programs(f: Any, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    leaves = [ad.Variable(a.astype(dtype)) for a in (X, W, B, V)]

    def run() -> Any:
        with ad.GradientTape() as tape:
            y = f(*leaves)
        return tape.jacobian(y, leaves)

    found, want, refused = both(run, monkeypatch)
    assert refused == 0
    if dtype is np.float64:
        same(found, want)
    else:
        for a, b in zip(found, want):
            assert (a is None) == (b is None)
            if b is not None:
                assert a.dtype == b.dtype == dtype
                np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("f", [network, normalised, matrices, recurrent], ids=lambda f: f.__name__)
def test_hessians_and_gradients_of_jacobians(f: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    leaves = [ad.Variable(a) for a in (X, W, B, V)]

    def run() -> Any:
        with ad.GradientTape(persistent=True) as outer:
            with ad.GradientTape(persistent=True) as inner:
                y = f(*leaves)
                s = np.sum(y * y)
            g = inner.gradient(s, leaves[1])
            j = inner.jacobian(y, leaves[0])
            z = np.sum(np.sin(j))
        return [outer.jacobian(g, leaves[1]), outer.gradient(z, leaves[:3]), outer.jacobian(j, leaves[0])]

    found, want, _ = both(run, monkeypatch)
    same(found, want)


def test_jacobians_of_convolutions(monkeypatch: pytest.MonkeyPatch) -> None:
    x, k = ad.Variable(IMAGES), ad.Variable(K)

    def run() -> Any:
        with ad.GradientTape(persistent=True) as tape:
            y = ad.nn.avg_pool(np.tanh(ad.nn.conv2d(x, k)), 2, 1, "VALID")
        return [tape.jacobian(y, x), tape.jacobian(y, k), tape.batch_jacobian(y, x)]

    found, want, refused = both(run, monkeypatch)
    same(found, want)
    assert refused == 1  # by the filters


def test_a_target_that_is_a_source_and_one_that_is_not_connected(monkeypatch: pytest.MonkeyPatch) -> None:
    x, w = ad.Variable(X), ad.Variable(W)

    def run() -> Any:
        with ad.GradientTape(persistent=True) as tape:
            y = x * 2.0
            z = y * x
        return [tape.jacobian(y, [y, x, w]), tape.jacobian(z, [y, x]), tape.jacobian(x, x)]

    found, want, refused = both(run, monkeypatch)
    same(found, want)
    assert refused == 0 and found[0][2] is None


def test_large_targets_are_taken_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jacobians_module, "MAX_ELEMENTS", 40)
    x = ad.Variable(X)

    def run() -> Any:
        with ad.GradientTape(persistent=True) as outer:
            with ad.GradientTape() as tape:
                y = np.exp(x) * x[0]
            j = tape.jacobian(y, x)
        return [j, outer.gradient(np.sum(j), x), outer.jacobian(j[0, 0], x)]

    found, want, refused = both(run, monkeypatch)
    same(found, want)
    assert refused == 0


def test_one_run_of_the_pullback_for_all_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    x = ad.Variable(np.linspace(0.0, 1.0, 50))
    with ad.GradientTape(persistent=True) as tape:
        y = np.sin(x) * x[::-1]
    j = tape.jacobian(y, x).numpy()
    want = np.diag(np.cos(x.numpy()) * x.numpy()[::-1]) + np.fliplr(np.diag(np.sin(x.numpy())))
    np.testing.assert_allclose(j, want, atol=1e-15)
    runs: list[Any] = []
    for node in tape._rec.node.path():
        for ask in node.pulls.values():
            for made in ask.found:
                many = made.stacked()
                run = many.run
                many.run = lambda *args, run=run: (runs.append(args[-1].shape), run(*args))[1]
    np.testing.assert_allclose(tape.jacobian(y, x).numpy(), want, atol=1e-15)
    assert runs == [(50, 50)]
