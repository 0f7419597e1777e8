"""Functions of stacks: against a loop over the examples, for every primitive, and through control flow.

Pullbacks of stacks of cotangents: against the pullback of each of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.frontend.lower import lower
from autodiff_compiler.ir.core import Prim
from autodiff_compiler.ir.interp import interpret
from autodiff_compiler.operations import batching
from autodiff_compiler.operations.check import as_function
from autodiff_compiler.tape import jacobians as jacobians_module
from autodiff_compiler.tape import pullback
from autodiff_compiler.tape.apply import apply
from autodiff_compiler.transforms import pipeline
from autodiff_compiler.transforms.batch import NotBatchedError, batch
from tests.operations.test_rules import BY_PRIM, CONSTANT, prim_of
from tests.transforms.batched import compare


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


# What no program records in this form: a path is that of a subscript.
PATHS = {"get", "get_stored"}


@pytest.mark.parametrize("name", sorted(BY_PRIM.keys() - PATHS))
def test_stacks_of_cotangents(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
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
        assert not refused


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
    assert refused == 0


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


# --- every primitive, of stacks of its operands -----------------------------------------------------------------------

# Primitives that run once for each example, at least for some operands: there is no form of them for stacks.
EACH = {
    "applied", "base_log", "bessel_i", "complex", "conv", "conv_filters", "conv_input", "finish", "gaussian",
    "if_square", "implicit_adjoint", "max", "min", "np.arange", "np.bincount", "np.choose", "np.complex128",
    "np.compress", "np.convolve", "np.correlate", "np.diag", "np.extract", "np.float64", "np.insert", "np.interp",
    "np.linalg.lstsq", "np.resize", "np.lib.stride_tricks.sliding_window_view", "overlap", "polygamma", "sinc_slope",
    "sum", "sum_floats", "sum_numbers", "sum_to", "mean_of_numbers", "np.roots", "trimmed",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(BY_PRIM))
def test_primitive_of_stacks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One operand alone as a stack, and all of them. A stack without examples, too."""
    each = batching.each_example
    looped: set[str] = set()
    monkeypatch.setattr(batching, "each_example", lambda b, op: (looped.add(op.prim.name), each(b, op))[1])
    for fn, args, kwargs in BY_PRIM[name]:
        function, xs = as_function(fn, *args, kwargs=kwargs, constant=CONSTANT.get(name, ()))
        stacks = [{k} for k in range(len(xs))]
        stacks += [set(range(len(xs)))] if len(xs) > 1 else []
        for stacked in stacks:
            for count in (3, 0):
                if name in ("np.arange", "np.roots", "trimmed"):  # arrays of different lengths
                    with pytest.raises(NotBatchedError, match="another shape for another example"):
                        compare(function, xs, stacked, count)
                    continue
                compare(function, xs, stacked, count, 1e-8, name == "np.linalg.cholesky")
    assert {n for n in looped if not n.startswith(("math.", "cmath."))} <= EACH


# --- control flow -----------------------------------------------------------------------------------------------------


def power(x, n):
    y = 1.0
    for k in range(n):
        y = y * x + k
    return y


def late(x, n):
    y, z = 0.0, 1.0
    for k in range(n):  # y becomes a stack in the second trip
        y, z = z, x * z
    return y + z


def branches(x, n):
    if n > 3:
        y = x[0] * 2.0
    elif n > 2:
        y = 3.0
    else:
        y = np.float32(2.0)
    return y * x


def ended(x, n):
    total = 0.0
    for k in range(10):
        if k == n:
            break
        total += x[k % 3] ** 2
    else:
        total = 0.0
    return total


def endless(x, n):
    k, y = 0, x
    while True:
        if k >= n:
            return y
        y = np.sin(y) * x
        k += 1


def stores(x, n):
    out = np.zeros((n, 3))
    out[0] = 1.0
    for k in range(1, n):
        out[k] = out[k - 1] * x
        out[k, ::2] += x[0]
        out[[0, 0, 1], 1] += x
    return out


def lists(x, n):
    items = [1.0]
    for k in range(n):
        items.append(x[k % 3] * items[-1])
    del items[0]
    items[0] = 2.0
    items.insert(1, 5.0)
    return items, np.array(items), sum(items)


def arrays_in_lists(x, n):
    rows = []
    for k in range(n):
        rows.append(x * k)
    return np.stack(rows), np.concatenate(rows), rows[-1][::2]


def caught(x, n):
    try:
        y = x * (1.0 / n)
        if n > 2:
            raise ValueError
    except ZeroDivisionError:
        y = -x
    except ValueError:
        y = x + 1.0
    return y


def recursive(x, n):
    return falling(x, n)


def falling(x, depth):
    return x if depth < 1.0 else x * falling(x, depth - 1.0) + depth


def shapes(x, n):
    y = np.zeros(x.shape) + len(x) + x.ndim + x.size
    return y.reshape(x.shape[0], 1) * x, np.ones_like(x), x.T.copy(), np.broadcast_to(x[0], x.shape)


def numbers(x, n):
    y = float(x[0]) * n
    return y, max(y, 0.5), abs(y) // 1.0, (y > 0) + 1, -y if n > 2 else y


def tables(x, n):
    t = np.arange(24.0).reshape(2, 3, 4)
    u = t * x[:, None]
    u[:, [0, 2], 1:3] = 7.0
    return u[0, :, [1, 2]], u[1][[0, 2]], u[:, 1], u.transpose(2, 0, 1)[1], np.sum(u, axis=(0, 2)) + n


def accumulators(x, n):
    total, product, last = 0.0, 1.0, 0.5
    for k in range(n):
        part = 0.0
        for v in x:
            part += v
        total += part if k > 0 else 0.0
        product *= x[0] + last
        last = 2.0 * last
    return total, product, last


PROGRAMS = [
    power, late, branches, ended, endless, stores, lists, arrays_in_lists, caught, recursive, shapes, numbers, tables,
    accumulators,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_control_flow(f: Any, dtype: Any) -> None:
    if f is lists and dtype is np.float32:
        pytest.skip("its first item is a float of Python's, whose stack has the dtype float64")
    x = np.array([0.7, -0.4, 1.3], dtype) if f not in (power, late) else 0.7
    for n in (2, 4):
        n = float(n) if f is recursive else n
        function = lower(f, (x, n)).function
        for count in (3, 0):
            compare(function, [x, n], {0}, count, 1e-5 if dtype is np.float32 else 1e-12)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_stacks_of_tangents_through_control_flow(f: Any) -> None:
    """Of the pushforward only the tangents are stacks, so no way depends on them."""
    x = np.array([0.7, -0.4, 1.3]) if f not in (power, late) else 0.7
    n = 4.0 if f is recursive else 4
    function = lower(f, (x, n)).function
    pushed = pipeline.pushforward(function, [0])
    compare(pushed, [x, n, x], {2})
    pulled = pipeline.adjoint(function, [0])
    found = interpret(function, [x, n])
    seeds = [np.ones(np.shape(v)) if np.ndim(v) else 1.0 for v in found if not isinstance(v, list)]
    if len(pulled.params) == 2 + len(seeds):
        compare(pulled, [x, n, *seeds], set(range(2, 2 + len(seeds))))


def differing_branch(x):
    return 1.0 / x if x > 0 else -x


def differing_trips(x):
    n = 0
    while x > 1.0:
        x = x / 2.0
        n += 1
    return x * n


def differing_handler(x):
    try:
        y = 1.0 / x
    except ZeroDivisionError:
        y = 0.0
    return y


@pytest.mark.parametrize("f", [differing_branch, differing_trips, differing_handler], ids=lambda f: f.__name__)
def test_ways_that_differ_between_examples_are_refused(f: Any) -> None:
    with pytest.raises(NotBatchedError) as caught:
        batch(lower(f, (2.0,)).function, {0})
    assert caught.value.op is not None and caught.value.op.loc is not None


def test_which_results_are_stacks() -> None:
    def f(x, y):
        return x * 2.0, y + 1.0, 3.0

    made = batch(lower(f, (1.0, 2.0)).function, {0}, spread=False)
    assert made.meta["stacks"] == (True, False, False)
    assert batch(lower(f, (1.0, 2.0)).function, {0}).meta["stacks"] == (True, True, True)


def test_a_batch_of_a_batch() -> None:
    function = lower(stores, (X[0], 3)).function
    compare(batch(function, {0}), [X, 3], {0})


def test_gradients_of_a_function_of_stacks() -> None:
    """Differentiation comes after batching."""
    x = np.array([0.7, -0.4, 1.3])
    for f in (branches, ended, stores, endless):
        many = batch(lower(f, (x, 4)).function, {0})
        (out,) = interpret(many, [X, 4])
        pulled = pipeline.adjoint(many, [0])
        (found,) = interpret(pulled, [X, 4, np.ones(out.shape)])
        one = pipeline.adjoint(lower(f, (x, 4)).function, [0])
        want = [interpret(one, [row, 4, np.ones(np.shape(o)) if np.ndim(o) else 1.0])[0] for row, o in zip(X, out)]
        np.testing.assert_allclose(found, np.stack(want), rtol=1e-12)
