"""The tape with its own tensors: what it records, compiles and finds again; against `grad` of the same code."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.tape import pullback
from autodiff_compiler.tape.recording import STATE

X = np.array([[0.3, -1.2, 0.7], [1.5, 0.4, -0.6]])
W = np.array([[0.2, -0.5], [0.8, 0.1], [-0.3, 0.9]])
V = np.array([0.5, -1.5, 2.0])


def tape_gradient(f, *args):
    """The gradients that a tape gives for eager code."""
    leaves = [ad.Variable(a) for a in args]
    with ad.GradientTape() as tape:
        out = f(*leaves)
    return [None if g is None else g.numpy() for g in tape.gradient(out, leaves)]


PROGRAMS = {
    "matmul": (lambda x, w: np.sum(np.tanh(x @ w) ** 2), (X, W)),
    "broadcast": (lambda x, v: np.mean(np.exp(x * v) / (1.0 + v * v)), (X, V)),
    "softmax": (lambda x: np.sum((np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True))[:, 0]), (X,)),
    "slices": (lambda v: np.sum(v[1:] * v[:-1]) + v[0] * v[-1], (V,)),
    "repeated index": (lambda v: np.sum(v[[0, 0, 2]] ** 2), (V,)),
    "where": (lambda v: np.sum(np.where(v > 0, np.sqrt(np.abs(v)), v * v)), (V,)),
    "masked root": (lambda v: np.sum(np.where(v > 0, np.sqrt(np.maximum(v, 0.0)), 0.0)), (np.array([0.0, 1.0, 4.0]),)),
    "concatenate": (lambda v, x: np.sum(np.concatenate([v, x[0], v]) * np.arange(9.0)), (V, X)),
    "stack": (lambda v: np.sum(np.stack([v, v * 2.0], axis=1) @ np.array([1.0, -1.0])), (V,)),
    "einsum": (lambda x, w: np.sum(np.einsum("ij,jk->ki", x, w) ** 3), (X, W)),
    "reshape": (lambda x: np.sum(x.reshape(3, 2) @ x.reshape((2, 3))), (X,)),
    "transpose": (lambda x: np.sum(x.T @ x), (X,)),
    "power": (lambda v: np.sum(np.abs(v) ** 1.5 + v**3 + 2.0**v), (V,)),
    "variable exponent": (lambda v, w: np.sum(np.abs(v) ** w[:, 0]), (V, W)),
    "reflected": (lambda v: np.sum(1.0 / (2.0 - v / 5.0) - 3.0 + (1.0 - v)), (V,)),
    "mean std": (lambda v: np.mean(v) / np.std(v), (V,)),
    "extremes": (lambda x: np.max(x) + np.sum(np.min(x, axis=0)), (X,)),
    "linear algebra": (lambda x: np.linalg.det(x @ x.T) + np.sum(np.linalg.inv(x @ x.T)), (X,)),
    "norm": (lambda v: np.linalg.norm(v), (V,)),
    "cumulative": (lambda v: np.sum(np.cumsum(v) * v), (V,)),
    "clip": (lambda x: np.sum(np.clip(x, -0.5, 0.5) * x), (X,)),
    "sort": (lambda v: np.sum(np.sort(v) * np.arange(3.0)), (V,)),
    "definition": (lambda v: np.sum(np.diff(v) ** 2) + np.var(v), (V,)),
    "python loop": (lambda v: sum((v[k] * v[k - 1] for k in range(3)), 0.0), (V,)),
    "same operand twice": (lambda v: np.sum((v + v) * v), (V,)),
    "unused": (lambda v, w: np.sum(v), (V, W)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_tape_agrees_with_grad(name):
    f, args = PROGRAMS[name]
    want = ad.grad(f, tuple(range(len(args))))(*args)
    for g, w in zip(tape_gradient(f, *args), want):
        if g is None:
            assert not np.any(w)
        else:
            np.testing.assert_allclose(g, w, rtol=1e-12, atol=1e-14)
            assert g.dtype == w.dtype


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n not in ("unused", "masked root")])
def test_second_order_agrees_with_grad_of_grad(name):
    f, args = PROGRAMS[name]
    leaves = [ad.Variable(a) for a in args]
    with ad.GradientTape() as outer:
        with ad.GradientTape() as inner:
            y = f(*leaves)
        grads = inner.gradient(y, leaves)
        total = sum(np.sum(np.sin(g) * 0.5) for g in grads)
    got = outer.gradient(total, leaves)
    first = ad.grad(f, tuple(range(len(args))))

    def projected(*xs):
        return sum([np.sum(np.sin(g) * 0.5) for g in first(*xs)])

    want = ad.grad(projected, tuple(range(len(args))))(*args)
    for g, w in zip(got, want):
        np.testing.assert_allclose(np.zeros_like(w) if g is None else g.numpy(), w, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_gradients_keep_the_dtype(dtype):
    x = ad.Variable(X.astype(dtype))
    with ad.GradientTape() as tape:
        y = np.mean(np.tanh(x * 2.0) ** 2) / 3
    assert y.dtype == dtype
    assert tape.gradient(y, x).dtype == dtype


def test_third_order_through_one_persistent_tape():
    x = ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as tape:
        y = x**5
        first = tape.gradient(y, x)
        second = tape.gradient(first, x)
    third = tape.gradient(second, x)
    assert [float(v) for v in (first, second, third)] == [80.0, 160.0, 240.0]


def test_a_training_loop_compiles_on_its_first_step(monkeypatch):
    made = []
    original = pullback.Pullback.__init__
    monkeypatch.setattr(pullback.Pullback, "__init__", lambda self, *a: (made.append(1), original(self, *a))[1])
    w = ad.Variable(W, name="w")
    for step in range(20):
        x = ad.constant(X + step)
        with ad.GradientTape() as tape:
            loss = np.mean((x @ w) ** 2) * (0.1 * (step + 1))
        w.assign_sub(0.01 * tape.gradient(loss, w))
    assert len(made) == 1
    # Another batch size is the same code, one row is not.
    for rows in (5, 7, 1):
        with ad.GradientTape() as tape:
            loss = np.mean((ad.constant(np.ones((rows, 3))) @ w) ** 2) * 0.1
        tape.gradient(loss, w)
    assert len(made) == 2


def test_batch_sizes_share_code_and_are_right():
    w = ad.Variable(W)
    for rows in (2, 5, 1, 3):
        x = np.linspace(-1, 1, rows * 3).reshape(rows, 3)
        with ad.GradientTape() as tape:
            loss = np.sum((x @ w - np.mean(x @ w, axis=0)) ** 2)
        want = ad.grad(lambda w, x: np.sum((x @ w - np.mean(x @ w, axis=0)) ** 2))(W, x)
        np.testing.assert_allclose(tape.gradient(loss, w).numpy(), want, atol=1e-12)


def test_axes_and_exponents_are_part_of_the_structure():
    x = ad.Variable(X)
    for axis in (0, 1, None):
        for n in (2, 3, 2.0, 0.5):
            with ad.GradientTape() as tape:
                y = np.sum(np.sum(np.abs(x) ** n, axis=axis) ** 2)
            sums = np.sum(np.abs(X) ** n, axis=axis, keepdims=True)
            want = 2 * sums * n * np.abs(X) ** (n - 1) * np.sign(X)
            np.testing.assert_allclose(tape.gradient(y, x).numpy(), want, rtol=1e-12)


def test_values_read_count_even_if_assigned_to_later():
    v = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        y = v * v
        v.assign(10.0)
        z = y + v * v
    assert float(tape.gradient(z, v)) == 6.0 + 20.0


def test_arrays_that_are_written_to_later_do_not_matter():
    a = np.array([1.0, 2.0])
    v = ad.Variable([3.0, 4.0])
    with ad.GradientTape() as tape:
        y = np.sum(v * a)
    a[:] = 100.0
    assert tape.gradient(y, v).numpy().tolist() == [1.0, 2.0]


def test_what_numpy_gives_back_is_a_copy():
    v = ad.Variable([1.0, 2.0])
    with ad.GradientTape() as tape:
        y = v * v
        v.numpy()[:] = 7.0
        y.numpy()[:] = 7.0
    np.asarray(v)[:] = 7.0
    assert tape.gradient(y, v).numpy().tolist() == [2.0, 4.0]
    assert v.numpy().tolist() == [1.0, 2.0]


def test_source_and_ir_show_what_was_recorded():
    w, x = ad.Variable(W, name="w"), ad.constant(X)
    with ad.GradientTape() as tape:
        y = np.sum(np.tanh(x @ w))
    assert "np.tanh" in tape.ir()
    source = tape.source(y, w)
    assert source.startswith("# v2 = v1 @ w\n# v3 = np.tanh(v2)\ndef pullback(v1, v3):")  # it needs no import
    with pytest.raises(RuntimeError, match="no gradient was taken"):
        tape.source()
    assert tape.gradient(y, w).shape == W.shape
    assert tape.source() == source
    with pytest.raises(RuntimeError, match="used up: call it before the gradient"):
        tape.ir()


def test_ops_are_numpys_functions():
    x = ad.Variable(V)
    with ad.GradientTape() as tape:
        y = ad.ops.sum(ad.ops.exp(x) * ad.ops.maximum(x, 0.0))
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), np.where(V > 0, np.exp(V) * (1 + V), 0.0))
    with pytest.raises(AttributeError, match="has no operation 'nonsense'"):
        ad.ops.nonsense


def test_a_variable_is_not_rebound_by_mistake():
    v = ad.Variable(1.0)
    with pytest.raises(RuntimeError, match="assign_add"):
        v += 1.0
    assert isinstance(v, ad.Variable)


@pytest.mark.parametrize(
    "leave",
    [
        lambda x: np.array([x[0], x[1]]),
        np.asarray,
        lambda x: np.zeros(3).__setitem__(0, x[0]),
        lambda x: list(map(np.array, x)),
    ],
)
def test_what_would_leave_an_open_tape_silently_is_refused(leave):
    x = ad.Variable(V)
    with ad.GradientTape() as tape:
        y = np.sum(x * x)
        with pytest.raises((ad.RuleLookupError, ValueError)) as caught:  # NumPy's stores wrap it
            leave(x)
        assert "and its gradient would be lost" in f"{caught.value} {caught.value.__cause__}"
        with tape.stop_recording():
            leave(x)
    leave(x)
    assert f"{x[0]:.1f}" == "0.5"
    assert tape.gradient(y, x).numpy().tolist() == (2 * V).tolist()


def test_shapes_are_plain():
    x = ad.constant(X)
    assert np.shape(x) == (2, 3) and np.ndim(x) == 2 and np.size(x) == 6 and len(x) == 2


def test_what_was_compiled_is_bounded(monkeypatch):
    from autodiff_compiler.tape import recording

    monkeypatch.setattr(recording, "MAX_PULLBACKS", 5)
    x = ad.Variable(1.5)
    roots = set()
    for n in range(20):
        with ad.GradientTape() as tape:
            roots.add(id(tape._rec.node))
            y = x
            for _ in range(n + 1):
                y = y * 1.1
        assert float(tape.gradient(y, x)) == pytest.approx(1.1 ** (n + 1))
    assert len(roots) > 2


def test_a_function_without_a_rule_says_so():
    x = ad.Variable(V)
    with ad.GradientTape() as tape:
        with pytest.raises(ad.RuleLookupError, match="sort_complex"):
            np.sort_complex(x)
    assert tape.gradient(x * 1.0, x) is None


# --- transformed functions --------------------------------------------------------------------------------------------


@ad.function
def newton(a, n):
    x = 1.0
    for _ in range(n):
        x = x - (x * x - a) / (2.0 * x)
        if np.abs(x * x - a) < 1e-12:
            break
    return x


def test_a_function_is_one_record_of_any_order():
    a = ad.Variable(2.0)
    with ad.GradientTape() as t2:
        with ad.GradientTape() as t1:
            y = newton(a * a, 30)
        first = t1.gradient(y, a)
    assert float(y) == pytest.approx(2.0)
    assert float(first) == pytest.approx(1.0)
    assert float(t2.gradient(first, a)) == pytest.approx(0.0, abs=1e-6)


def test_a_function_of_containers():
    @ad.function
    def parts(p, k=2.0):
        total = 0.0
        for row in p["x"]:
            if row[0] > 0:
                total = total + np.sum(row * row) * k
        return {"total": total, "pair": (p["y"] * 2.0, p["x"] * p["y"])}

    x, y = ad.Variable(X), ad.Variable(3.0)
    with ad.GradientTape(persistent=True) as tape:
        out = parts({"x": x, "y": y})
    want = np.where(X[:, :1] > 0, 4.0 * X, 0.0)
    np.testing.assert_allclose(tape.gradient(out["total"], x).numpy(), want)
    assert tape.gradient(out["total"], y) is None
    assert float(tape.gradient(out["pair"][0], y)) == 2.0
    np.testing.assert_allclose(tape.gradient(out, x).numpy(), want + 3.0)


def test_grad_of_a_function_takes_tensors():
    def f(x, y):
        return np.sum(np.sin(x) * y * x)

    x, y = ad.Variable(V), ad.Variable(0.7)
    with ad.GradientTape() as tape:
        g = ad.grad(f)(x, y)
        s = np.sum(g * g)
    got = tape.gradient(s, [x, y])
    want = ad.grad(lambda x, y: np.sum(ad.grad(f)(x, y) ** 2), (0, 1))(V, 0.7)
    np.testing.assert_allclose(got[0].numpy(), want[0])
    np.testing.assert_allclose(got[1].numpy(), want[1])


def test_a_function_that_stores_into_its_argument_leaves_tensors_alone():
    @ad.function
    def squares(a):
        for i in range(len(a)):
            a[i] = a[i] ** 2
        return a

    x = ad.Variable(V)
    assert squares(x).numpy().tolist() == (V * V).tolist()
    with ad.GradientTape() as tape:
        y = squares(x)
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), 2 * V)
    assert x.numpy().tolist() == V.tolist()


# --- life -------------------------------------------------------------------------------------------------------------


def test_a_chain_of_3000_operations():
    x = ad.Variable(1.0)
    with ad.GradientTape() as tape:
        y = x
        for _ in range(3000):
            y = y * 1.0005
    assert float(tape.gradient(y, x)) == pytest.approx(1.0005**3000)


def test_memory_is_flat_over_steps_and_intermediates_die():
    w = ad.Variable(np.ones((50, 50)))

    def step():
        with ad.GradientTape() as tape:
            h = np.tanh(w @ w)
            loss = np.sum(h)
        ref = weakref.ref(h)
        del h
        assert ref() is None  # the recording holds values, not tensors
        w.assign_sub(1e-3 * tape.gradient(loss, w))

    gc.disable()
    try:
        for _ in range(20):
            step()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(1000):
            step()
        after = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
    finally:
        gc.enable()
    assert after - before < 50_000


def test_values_are_freed_after_the_gradient_and_with_the_tape():
    w = ad.Variable(np.ones(3))
    with ad.GradientTape() as tape:
        y = np.sum(np.exp(w))
    recording = tape._rec
    assert recording is not None and STATE.rec is None
    tape.gradient(y, w)
    assert tape._rec is None
    assert gc.get_referrers(recording) == [] or all(r is not tape for r in gc.get_referrers(recording))


def test_threads_have_tapes_of_their_own():
    shared = ad.Variable(V, name="shared")
    wrong = []

    def work(k):
        for n in range(30):
            with ad.GradientTape() as tape:
                y = np.sum(shared * shared * float(k + n))
            if not np.allclose(tape.gradient(y, shared).numpy(), 2 * V * (k + n)):
                wrong.append((k, n))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_a_tape_entered_again_inside_another_one():
    x = ad.Variable(2.0)
    first = ad.GradientTape(persistent=True)
    with first:
        y = x * x
    with ad.GradientTape(persistent=True) as second:
        z = x * 3.0
        with first:
            u = y * z
    assert float(first.gradient(u, x)) == pytest.approx(4.0 * 6.0)
    assert float(second.gradient(z, x)) == 3.0
    assert float(second.gradient(u, x)) == pytest.approx(4.0 * 3.0)


def test_a_gradient_of_a_closed_tape_inside_another():
    x = ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as inner:
        y = x**3
    with ad.GradientTape() as outer:
        g = inner.gradient(y, x)
        z = g * x
    assert float(g) == 12.0
    assert float(outer.gradient(z, x)) == 12.0  # the values that `inner` kept are constants for `outer`


# --- functions that are lowered from a definition in Python -----------------------------------------------------------

P = np.array([0.3, 1.2, 0.7, 2.0])
M = np.array([[2.0, 0.3, 0.1], [0.4, 1.5, 0.2], [0.1, 0.6, 1.8]])
DEFINITIONS = {
    "kron": lambda v, m: np.kron(v, m),
    "average": lambda v, m: np.average(v, weights=v * v),
    "median": lambda v, m: np.median(v) + np.median(m, axis=0),
    "percentile": lambda v, m: np.percentile(v, 30.0),
    "cov": lambda v, m: np.cov(m),
    "corrcoef": lambda v, m: np.corrcoef(m),
    "trapezoid": lambda v, m: getattr(np, "trapezoid", None)(v, dx=0.5),
    "matrix_power": lambda v, m: np.linalg.matrix_power(m, 3),
    "ediff1d": lambda v, m: np.ediff1d(v),
    "gradient": lambda v, m: np.gradient(v),
    "interp": lambda v, m: np.interp(np.array([0.5, 1.5]), np.arange(4.0), v),
    "outer": lambda v, m: np.outer(v, v),
    "cross": lambda v, m: np.cross(m[0], m[1]),
    "convolve": lambda v, m: np.convolve(v, v),
    "polyval": lambda v, m: np.polyval(v, m[0]),
    "flip roll rot90": lambda v, m: np.flip(v)[:3] * np.roll(v, 1)[:3] + np.rot90(m)[0],
    "tile repeat": lambda v, m: np.tile(v, 2) * np.repeat(v, 2),
    "block": lambda v, m: np.block([[m, m], [m, m]]),
    "vstack hstack": lambda v, m: np.vstack([m, m])[:3] + np.column_stack([m[0], m[1], m[2]]),
    "Fourier": lambda v, m: np.abs(np.fft.fft2(m)) + np.abs(np.fft.ifft2(m)) + np.abs(np.fft.rfft2(m, (2, 2)))[0, 0],
    "nan functions": lambda v, m: np.nansum(v) + np.nanmean(m) + np.nanmax(v) + np.nanstd(v),
    "ptp": lambda v, m: np.ptp(v),
    "select piecewise": lambda v, m: np.select([v > 1.0, v > 0.5], [v, v * v], 0.0),
    "tril triu": lambda v, m: np.tril(m) @ np.triu(m),
    "diag diagflat": lambda v, m: np.diag(v) + np.diagflat(v * v),
    "vander": lambda v, m: np.vander(v, 3),
    "multi_dot": lambda v, m: np.linalg.multi_dot([m, m, m]),
    "slogdet": lambda v, m: np.linalg.slogdet(m)[1],
    "cond": lambda v, m: np.linalg.norm(m, axis=0),
    "take_along_axis": lambda v, m: np.take_along_axis(m, np.argsort(M, axis=0), axis=0),
    "insert delete append": lambda v, m: np.append(np.delete(v, 1), v[:1]) * np.insert(v, 1, 2.0)[:4],
}


@pytest.mark.parametrize("name", DEFINITIONS)
def test_definitions_stay_on_the_tape(name):
    def f(v, m):
        out = DEFINITIONS[name](v, m)
        parts = out if isinstance(out, (list, tuple)) else [out]
        total = 0.0
        for part in parts:
            total = total + np.sum(np.sin(part))
        return total

    got = tape_gradient(f, P, M)

    def difference(k):
        out = np.zeros_like((P, M)[k])
        for at in np.ndindex(out.shape):
            args = [P.copy(), M.copy()]
            args[k][at] += 1e-6
            up = f(*args)
            args[k][at] -= 2e-6
            out[at] = (up - f(*args)) / 2e-6
        return out

    assert any(g is not None for g in got), "the path was cut"
    for k, g in enumerate(got):
        np.testing.assert_allclose(0.0 if g is None else g, difference(k), rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("outermost", [True, False])
def test_a_tape_opened_after_the_forward_pass_has_not_seen_it(outermost):
    v = ad.Variable([0.3, 0.4])
    around = ad.GradientTape(persistent=True)
    if outermost:
        around.__enter__()
    with ad.GradientTape(persistent=True) as first:
        p = np.sin(v)
    with ad.GradientTape() as later:
        q = first.gradient(p, v) * v
    np.testing.assert_allclose(later.gradient(q, v).numpy(), np.cos([0.3, 0.4]))  # as TensorFlow
    if outermost:
        around.__exit__(None, None, None)
        want = np.cos([0.3, 0.4]) - np.array([0.3, 0.4]) * np.sin([0.3, 0.4])
        np.testing.assert_allclose(around.gradient(q, v).numpy(), want)


def test_a_constant_of_a_closed_tape_that_a_later_one_watches():
    x, c = ad.constant([1.0, 2.0]), ad.constant([0.5, 0.6])
    with ad.GradientTape() as first:
        first.watch(x)
        y = x * c
    with ad.GradientTape() as later:
        later.watch(c)
        z = np.sin(first.gradient(y, x))
    np.testing.assert_allclose(later.gradient(z, c).numpy(), np.cos([0.5, 0.6]))


def test_a_function_keeps_the_arguments_of_its_call():
    @ad.function
    def weighted(x, a):
        return np.sum(x * a * x)

    v, a = ad.Variable(V), np.array([1.0, 2.0, 3.0])
    with ad.GradientTape() as outer:
        with ad.GradientTape() as inner:
            y = weighted(v, a)
        a[:] = 100.0
        v.assign(V * 10.0)
        first = inner.gradient(y, v)
    np.testing.assert_allclose(first.numpy(), 2.0 * V * [1.0, 2.0, 3.0])
    np.testing.assert_allclose(outer.gradient(first, v).numpy(), [2.0, 4.0, 6.0])


def test_a_copy_made_before_is_not_what_is_watched_later():
    from autodiff_compiler.compat import tensorflow as tf

    for copied in (tf.identity, tf.stop_gradient, lambda x: tf.reshape(x, [3])):
        x, v = tf.constant([1.0, 2.0, 3.0]), tf.Variable([4.0, 5.0, 6.0])
        z = copied(x)
        with tf.GradientTape() as tape:
            y = z * v
            tape.watch(x)
        assert tape.gradient(y, x) is None


def test_subclasses_of_arrays_are_refused():
    x = ad.Variable([1.0, 2.0, 3.0])
    masked = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
    uses = [
        lambda: x * masked,
        lambda: np.multiply(x, masked),
        lambda: np.where(x > 1.0, x, masked),
        lambda: x.assign(masked),
        lambda: ad.constant(masked),
        lambda: ad.Variable(np.matrix([[1.0]])),
    ]
    with ad.GradientTape():
        for use in uses:
            with pytest.raises(ad.UnsupportedError, match="change what operations mean"):
                use()
        with pytest.raises(ad.RuleLookupError, match="would become an array"):
            masked + x


@pytest.mark.parametrize("kinds", [(np.ones(2), 1.0), (1.0, np.ones(2)), (np.float64(1), np.array(1.0), np.ones(3))])
def test_a_structure_meets_numbers_and_arrays(kinds):
    # One structure, with constants of several kinds in the same place, in every order.
    x = ad.Variable([1.0, 2.0])
    y = ad.Variable(3.0)
    for kind in (*kinds, *kinds[::-1], *kinds):
        with ad.GradientTape() as tape:
            z = np.sum(y * ad.constant(kind) * 2.0)
        assert tape.gradient(z, y).numpy() == 2.0 * np.sum(kind)
        if np.shape(kind) in ((), (2,)):
            with ad.GradientTape() as tape:
                z = np.sum(x * ad.constant(kind))
            np.testing.assert_allclose(tape.gradient(z, [x])[0].numpy(), kind * np.ones(2))


def test_the_key_of_a_variable_follows_its_values():
    v = ad.Variable([1.0, 2.0], name="v")
    for copied in (copy.deepcopy(v), pickle.loads(pickle.dumps(v))):
        with ad.GradientTape(persistent=True) as tape:
            y = np.sum(v * v) + np.sum(copied * copied)
        np.testing.assert_allclose(tape.gradient(y, v), [2.0, 4.0])
        np.testing.assert_allclose(tape.gradient(y, copied), [2.0, 4.0])
    assert copied._leaf is v._leaf  # a pickle carries no structure of its own
    w = np.float32(2.0)
    s = ad.Variable(w)
    for value in (3.0, np.array(4.0), [[5.0]][0][0]):
        s.assign(value)
        with ad.GradientTape() as tape:
            y = s * s
        assert tape.gradient(y, s).numpy() == 2 * np.float32(value)


def test_a_tape_of_another_thread_is_not_entered_again_here():
    x = ad.Variable(2.0)
    outer, inner = ad.GradientTape(), ad.GradientTape(persistent=True)
    with outer:
        with inner:
            y = x * x
        failed = []

        def enter():
            try:
                with inner:
                    pass
            except RuntimeError as error:
                failed.append(str(error))

        worker = threading.Thread(target=enter)
        worker.start()
        worker.join()
        z = y * x
    assert failed == ["this tape shares its recording with a tape that is open in another thread"]
    assert outer.gradient(z, x).numpy() == 12.0
    assert inner.gradient(y, x).numpy() == 4.0


@pytest.mark.parametrize("f", [lambda x, c: np.where(x > 0, x, c), lambda x, c: np.clip(x, c, 1.0), lambda x, c: x * c])
def test_numbers_that_change_compile_nothing_anew(f, monkeypatch):
    made = []
    build = pullback._Build.__init__
    monkeypatch.setattr(pullback._Build, "__init__", lambda self, *a: (made.append(1), build(self, *a))[1])
    x = ad.Variable([-0.5, 0.25, 2.0])
    for k in range(5):
        c = 0.1 * k - 0.2
        with ad.GradientTape() as tape:
            y = np.sum(f(x, c) ** 2)
        g = tape.gradient(y, x).numpy()
        h = 1e-6
        for i in range(3):
            e = h * np.eye(3)[i]
            want = (np.sum(f(x.numpy() + e, c) ** 2) - np.sum(f(x.numpy() - e, c) ** 2)) / (2 * h)
            np.testing.assert_allclose(g[i], want, atol=1e-6)
    assert len(made) == 1


def test_source_shows_the_operations_that_its_values_come_from():
    w = ad.Variable(W, name="w")
    double = ad.custom_gradient(lambda x: (2.0 * x, lambda g: 2.0 * g))
    with ad.GradientTape() as outer:
        with ad.GradientTape() as inner:
            h = np.where(w > 0, w[:2, ::-1].reshape(-1)[None, [0, 1]] ** 2, -double(w))
            y = np.sum(np.concatenate([h, h], axis=0)[..., 0] * np.sin(np.transpose(h, (1, 0))[0, 0]))
        g = inner.gradient(y, w)
        z = np.sum(g * g)
    source = outer.source(z, w)
    for line in (
        "> ", "[:2, ::-1]", "np.reshape(", "[None, [0, 1]]", " ** 2", "np.where(", "= -v", "np.concatenate([",
        "axis=0)", "np.transpose(v", ", (1, 0))", "[0, 0]", "= a function with its own gradient of w",
    ):  # fmt: skip
        assert line in source, (line, source)
    assert "= a gradient of" in source
    compile(source, "shown", "exec")
    constant = ad.constant(1.0)
    with ad.GradientTape(persistent=True) as tape:
        y = w * 2.0
    assert tape.source(constant, w) == "# no operation of the tape leads from the sources to the target"


def test_integers_first_and_floats_then_in_one_structure():
    def step(values):
        v = ad.Variable(values, name="of two kinds")
        with ad.GradientTape() as tape:
            y = v * 3.0
        return tape.gradient(y, v)

    assert step(np.array([1, 2])) is None
    assert step(np.array([1.0, 2.0])).numpy().tolist() == [3.0, 3.0]
    assert step(np.array([1, 2])) is None
