"""Uses of the tape that once gave a wrong number, kept something stale, or failed with an error that says nothing."""

from __future__ import annotations

import copy
import gc
import pickle
import re
import sys

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

X = np.arange(6.0).reshape(2, 3) * 0.31 - 0.4


def gradient(f, x):
    v = ad.Variable(x)
    with ad.GradientTape() as tape:
        y = f(v)
    return tape.gradient(y, v).numpy()


ARGUMENTS = {
    "axis of NumPy's": lambda x: np.sum(x * x, axis=np.int64(1)) ** 2,
    "negative axis of NumPy's": lambda x: np.mean(x * x, axis=np.int8(-2)) ** 2,
    "axes of NumPy's": lambda x: np.sum(x * x, axis=(np.int64(0), np.int64(1))) ** 2,
    "keepdims as a number": lambda x: np.sum(x * x, axis=1, keepdims=1) ** 2 * np.sum(x, axis=1, keepdims=True),
    "axis by position": lambda x: np.take(x * x, [0, 2, 2], np.int64(1)) ** 2,
    "shape of NumPy's": lambda x: np.reshape(x * x, (np.int64(3), -1)) * np.arange(6.0).reshape(3, 2),
    "axes of a transpose": lambda x: np.transpose(x * x, (np.int64(1), 0)) * np.arange(6.0).reshape(3, 2),
    "norm": lambda x: np.linalg.norm(x, axis=np.int64(1)) ** 3,
    "sort of all elements": lambda x: np.sort(x * x, axis=None)[:2] ** 2,
    "argsort of all elements": lambda x: np.ravel(x)[np.argsort(x, axis=None)[::-1]] * np.arange(6.0),
    "concatenation of all elements": lambda x: np.concatenate((x, x * x), axis=None)[5:7],
    "reduction over all axes": lambda x: np.add.reduce(x * x, axis=None) ** 2,
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_that_numpy_takes(name):
    f = ARGUMENTS[name]
    v = ad.Variable(X)
    with ad.GradientTape() as tape:
        y = f(v)
    np.testing.assert_array_equal(y.numpy(), f(X))
    np.testing.assert_allclose(
        tape.gradient(y, v).numpy(), differences(lambda x: np.sum(f(x)), X), rtol=1e-6, atol=1e-7
    )


def test_an_index_that_is_written_to_after_it_was_used():
    v = ad.Variable([1.0, 2.0, 3.0])
    index, mask, parts = np.array([0, 1]), np.array([True, True, False]), [np.array([2.0, 3.0, 4.0])]
    with ad.GradientTape(persistent=True) as tape:
        y = v[index] * v[index]
        z = v[mask] * v[mask]
        w = np.linalg.multi_dot([v, np.diag(parts[0]), v])
        c = np.multiply(np.concatenate([v, parts[0]]), 2.0)[2:4] * np.where(mask, v, 0.0)[:2]
        index[:], mask[:], parts[0][:] = 2, False, 0.0
    np.testing.assert_array_equal(tape.gradient(y, v).numpy(), [2.0, 4.0, 0.0])
    np.testing.assert_array_equal(tape.gradient(z, v).numpy(), [2.0, 4.0, 0.0])
    np.testing.assert_array_equal(tape.gradient(w, v).numpy(), [4.0, 12.0, 24.0])
    np.testing.assert_array_equal(tape.gradient(c, v).numpy(), [6.0, 4.0, 2.0])


SECOND = False


def test_what_a_function_depends_on_follows_what_it_reads_outside(monkeypatch):
    @ad.function
    def f(x, y, *, k=1.0):
        if SECOND:
            return x * y
        return x * k

    a, b = ad.Variable(2.0), ad.Variable(3.0)

    def both(**named):
        with ad.GradientTape() as tape:
            z = f(a, b, **named)
        return [None if g is None else g.item() for g in tape.gradient(z, [a, b])]

    assert both() == [1.0, None]
    monkeypatch.setitem(globals(), "SECOND", True)
    assert both() == both(k=2.0) == [3.0, 2.0]
    monkeypatch.setitem(globals(), "SECOND", False)
    assert both() == [1.0, None]


def test_results_of_a_custom_gradient_may_change_their_dtype():
    @ad.custom_gradient
    def as_it_is(x, y):
        return ad.stop_gradient(y), lambda g: (g, g)

    def by_x(y):
        x = ad.Variable(2.0)
        with ad.GradientTape() as tape:
            z = as_it_is(x, ad.constant(y)) * 3.0
        return tape.gradient(z, x)

    assert by_x(1) is None
    assert by_x(1.0).item() == 3.0
    assert by_x(1) is None


@pytest.mark.parametrize(
    "names", [("ﬁ", "fi"), ("µ", "μ"), ("def", "def"), ("v0", "v1"), ("np", "x²"), ("a b", "a-b"), ("None", "1a")]
)
def test_names_of_variables_may_be_anything(names):
    a, b = (ad.Variable([x, 1.0], name=name) for x, name in zip((2.0, 3.0), names))
    with ad.GradientTape() as tape:
        y = np.sum(np.exp(a) * np.sin(b))
    by_a, by_b = tape.gradient(y, [a, b])
    np.testing.assert_allclose(by_a.numpy(), np.exp([2.0, 1.0]) * np.sin([3.0, 1.0]))
    np.testing.assert_allclose(by_b.numpy(), np.exp([2.0, 1.0]) * np.cos([3.0, 1.0]))


def test_copies_of_tensors():
    x = ad.constant([1.0, 2.0])
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        kept = copy.deepcopy([y])[0] * copy.copy(x)
        stored = pickle.loads(pickle.dumps(y)) * 2.0
    np.testing.assert_array_equal(tape.gradient(kept, x).numpy(), [3.0, 12.0])
    assert tape.gradient(stored, x) is None
    np.testing.assert_array_equal(stored.numpy(), [2.0, 8.0])


def test_vjp_takes_tensors_and_is_recorded():
    w, k = ad.Variable([1.0, 2.0]), ad.Variable([3.0, 4.0])
    with ad.GradientTape() as tape:
        (product, power), pullback = ad.vjp(lambda x, y, n: (x * y, np.sum(x**n)), w, k.numpy(), 2)
        by_x, by_y, by_n = pullback((k, w[0] * 3))
    np.testing.assert_array_equal(product.numpy(), [3.0, 8.0])
    assert power.item() == 5.0 and by_n is None
    np.testing.assert_array_equal(by_x.numpy(), [15.0, 28.0])  # k * k + w[0] * 3 * 2 * w, where the first k is fixed
    np.testing.assert_array_equal(by_y.numpy(), [3.0, 8.0])
    by_w, by_k = tape.gradient(by_x, [w, k])
    np.testing.assert_array_equal(by_w.numpy(), [24.0, 6.0])
    np.testing.assert_array_equal(by_k.numpy(), [3.0, 4.0])
    with pytest.raises(ad.AutodiffError, match="has 1 parts, the result 2"):
        pullback((k,))
    with pytest.raises(ad.AutodiffError, match=r"shape \(3,\), the result \(2,\)"):
        pullback((np.ones(3), 1.0))


OUTSIDE = ad.Variable([1.0, 2.0])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x * OUTSIDE),
        lambda x: np.sum(-OUTSIDE * x),
        lambda x: np.sum(np.exp(OUTSIDE) * x),
        lambda x: OUTSIDE @ x,
        lambda x: np.dot(x, OUTSIDE),
        lambda x: OUTSIDE.sum() * x[0],
        lambda x: OUTSIDE[0] * x[0],
        lambda x: np.sum(np.stack([x, OUTSIDE])),
        lambda x: x[0] if OUTSIDE[0] > 0 else x[1],
        lambda x: np.sum(ad.constant(2.0) * x),
    ],
)
def test_tensors_that_compiled_code_finds_outside_are_refused(f):
    with pytest.raises(ad.UnsupportedError, match="not among its arguments: its gradient would be lost"):
        ad.grad(f)(np.array([3.0, 4.0]))


def test_compiled_code_may_look_at_a_tensor():
    w = ad.Variable([1.0, 2.0])
    df = ad.grad(lambda x: np.sum(x * w.numpy()) * w.shape[0] * len(w))
    np.testing.assert_array_equal(df(np.array([3.0, 4.0])), [4.0, 8.0])
    w.assign([5.0, 6.0])
    np.testing.assert_array_equal(df(np.array([3.0, 4.0])), [20.0, 24.0])


def test_results_that_are_no_arrays():
    v = ad.Variable([1.0, 0.0, 2.0])
    with ad.GradientTape() as tape:
        y = np.sum(v[np.nonzero(v)] ** 3) + np.sum(v[np.where(v > 0)] ** 2)
        assert isinstance(np.nonzero(v), tuple)
        assert np.allclose(v, v).numpy() is np.True_
        assert np.iscomplexobj(v).numpy() is np.False_
    np.testing.assert_array_equal(tape.gradient(y, v).numpy(), [5.0, 0.0, 16.0])


def test_integers_have_no_gradient():
    x, n, k = ad.Variable([1.0, 2.0]), ad.Variable(3), ad.Variable(1)
    with ad.GradientTape(persistent=True) as tape:
        y = x[k] * n
    assert tape.gradient(y, [n, k]) == [None, None]
    assert tape.jacobian(y, n) is None


def test_a_constant_of_a_custom_gradient_that_is_watched_later():
    @ad.custom_gradient
    def product(x, y):
        return x * y, lambda g: (g * y, g * x)

    x, y = ad.Variable([1.0, 2.0]), ad.constant([3.0, 4.0])
    with ad.GradientTape() as tape:
        z = product(x, y)
        tape.watch(y)
        z = z * y
    by_x, by_y = tape.gradient(z, [x, y])
    np.testing.assert_array_equal(by_x.numpy(), [9.0, 16.0])
    np.testing.assert_array_equal(by_y.numpy(), [6.0, 16.0])


def test_a_tape_entered_again_inside_another_that_watches_its_result():
    x, w = ad.constant([1.0, 2.0]), ad.Variable([3.0, 4.0])
    inner, outer = (ad.GradientTape(persistent=True) for _ in range(2))
    with inner:
        inner.watch(x)
        u = x * x
    with outer:
        outer.watch(u)
        before = w * u
        with inner:
            z = u * u * before
            by_x = inner.gradient(z, x)
        after = before * u * z
    w_, u_, x_ = w.numpy(), u.numpy(), x.numpy()
    np.testing.assert_allclose(outer.gradient(after, u).numpy(), 5 * w_**2 * u_**4)
    np.testing.assert_allclose(outer.gradient(z, u).numpy(), 3 * w_ * u_**2)
    np.testing.assert_allclose(by_x.numpy(), 2 * u_ * before.numpy() * 2 * x_)  # `before` is a constant to it
    np.testing.assert_allclose(outer.gradient(by_x, u).numpy(), 2 * u_ * w_ * 2 * 2 * x_)
    with outer:
        z = u * after
    np.testing.assert_allclose(outer.gradient(z, u).numpy(), 6 * w_**2 * u_**5)


def test_a_result_of_a_closed_tape_that_is_watched_after_that_was_entered_again():
    x, w = ad.constant([1.0, 2.0]), ad.Variable([3.0, 4.0])
    inner, outer = (ad.GradientTape(persistent=True) for _ in range(2))
    with inner:
        inner.watch(x)
        u = x * x
    with outer:
        before = w * u
        with inner:
            z = u * u
        outer.watch(u)
        after = before * u
    np.testing.assert_allclose(outer.gradient(after, u).numpy(), 2 * w.numpy() * u.numpy())
    np.testing.assert_allclose(inner.gradient(z, x).numpy(), [4.0, 32.0])
    assert outer.gradient(z, u) is None  # it saw this before it watched u


def test_astype_of_numbers():
    x = ad.Variable(2.5)
    with ad.GradientTape() as tape:
        y = x.astype(np.float32) * x.astype(int)
    assert y.dtype == np.float64 and tape.gradient(y, x).item() == 2.0


def test_an_operation_that_was_interrupted_is_noticed():
    def interrupt(frame, event, arg):
        if frame.f_code.co_name == "go":
            sys.settrace(None)
            raise KeyboardInterrupt

    v, c = ad.Variable([1.0, 2.0]), ad.constant([3.0, 4.0])
    with ad.GradientTape() as tape:
        y = v * 3.0
        traced = sys.gettrace()
        sys.settrace(interrupt)
        try:
            c - y
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(traced)
        y = y * v
    with pytest.raises(RuntimeError, match="an operation was interrupted while this tape recorded it"):
        tape.gradient(y, v)


def test_matmul_with_a_number_says_what_numpy_says():
    with pytest.raises(ValueError, match="matmul"):
        ad.constant(np.eye(2)) @ 2.0


@pytest.mark.parametrize("value", [[1.0, 2.0], 2.0])
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_of_a_variable_is_another_one(copied, value):
    v, w = ad.Variable(value, trainable=False, name="v"), ad.Variable(3.0)
    u = copied(v)
    with ad.GradientTape() as tape:
        y = w * u
        tape.watch(v)
        z = y * v
    np.testing.assert_array_equal(tape.gradient(z, v).numpy(), 3.0 * u.numpy())
    u.assign(u * 2.0)
    np.testing.assert_array_equal(v.numpy(), value)
    assert u.name == "v"


def test_functions_and_tapes_entered_again_leave_no_cycles():
    @ad.function
    def f(x):
        return np.sum(x * x)

    v = ad.Variable([1.0, 2.0])

    def use():
        inner, outer = (ad.GradientTape(persistent=True) for _ in range(2))
        with inner:
            u = v * v
        with outer:
            outer.watch(u)
            with inner:
                z = f(u)
        inner.gradient(z, v)
        outer.gradient(z, u)

    use()
    gc.collect()
    gc.disable()
    try:
        use()
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_second_order_of_a_function_with_keywords_and_integers_in_containers():
    @ad.function
    def f(x, d, k=1.0):
        return d["q"][0] * np.sum(x**3) * k, d["q"][1] + 1

    x, q, k = ad.Variable([1.0, 2.0]), ad.Variable(3.0), ad.Variable(2.0)
    with ad.GradientTape() as outer:
        with ad.GradientTape() as inner:
            y, n = f(x, {"q": [q, 2]}, k=k)
        by_x = inner.gradient(y, x)
    assert n.item() == 3
    np.testing.assert_array_equal(by_x.numpy(), [18.0, 72.0])
    second = outer.gradient(by_x, [x, q, k])
    np.testing.assert_array_equal(second[0].numpy(), [36.0, 72.0])
    assert second[1].item() == 30.0 and second[2].item() == 45.0


def test_arrays_of_another_system_do_not_lose_the_gradient_in_silence():
    from autodiff_compiler.compat.mxnet import np as mnp

    v, foreign = ad.Variable([1.0, 2.0]), mnp.array([7.0, 8.0])
    with ad.GradientTape() as tape:
        for compute in (lambda: np.dot(v, foreign), lambda: np.stack([v, foreign])):
            with pytest.raises(TypeError, match="would lose the gradient: convert"):
                compute()
        assert not (v == foreign).numpy().any()
        y = np.dot(v, ad.constant(foreign))
    np.testing.assert_array_equal(tape.gradient(y, v).numpy(), [7.0, 8.0])


def test_an_array_of_another_system_is_a_value_of_the_recording():
    from autodiff_compiler.compat.mxnet import np as mnp

    class Foreign:
        def __init__(self, values):
            self.values = np.array(values)

        def __array__(self, dtype=None, copy=None):
            return np.array(self.values, dtype)

    v = ad.Variable([1.0, 2.0])
    for values in ([7.0, 8.0], [3.0, 4.0], [1.0, 2.0]):
        foreign, other = mnp.array(values), Foreign(values)
        with ad.GradientTape() as tape:
            same = v == foreign  # the key of the record is compared with that of the last round
            y = np.sum(np.multiply(v, other)) + np.dot(v, other)
        other.values[:] = 0.0
        assert same.numpy().all() == (values == [1.0, 2.0])
        np.testing.assert_array_equal(tape.gradient(y, v).numpy(), 2.0 * np.array(values))


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (lambda u: u[:1], "shape (1,) for an operand of shape (2,)"),
        (lambda u: 3.0, "shape () for an operand of shape (2,)"),
        (lambda u: np.ones((2, 2)), "shape (2, 2) for an operand of shape (2,)"),
        (lambda u: u * 1j, "complex numbers for a real operand"),
        (lambda u: np.array([1j, 2j]), "complex numbers for a real operand"),
        (lambda u: "g", "which is no tensor"),
    ],
)
def test_what_cannot_be_a_cotangent_is_refused(given, error):
    f = ad.custom_gradient(lambda x: (x * 1.0, given))
    v = ad.Variable([1.0, 2.0])
    with ad.GradientTape() as tape:
        y = f(v)
    with pytest.raises((ValueError, TypeError), match=re.escape(error)):
        tape.gradient(y, v)


@pytest.mark.parametrize("value", [np.float32(2.0), np.array([2.0, 3.0], np.float32)])
@pytest.mark.parametrize(
    "given", [lambda u: u.astype(np.float64) * 3.0, lambda u: u.numpy() * 3, lambda u: u.astype(int) * 3]
)
def test_cotangents_take_the_dtype_of_the_operand(value, given):
    f = ad.custom_gradient(lambda x: (x * np.float32(1.0), given))
    v = ad.Variable(value)
    with ad.GradientTape() as tape:
        y = f(v)
    found = tape.gradient(y, v)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found.numpy(), 3.0 * np.ones_like(value))


def test_a_number_as_the_cotangent_of_a_number():
    f = ad.custom_gradient(lambda x: (x * 1.0, lambda u: 3))
    v = ad.Variable(2.0)
    with ad.GradientTape() as tape:
        y = f(v)
    assert tape.gradient(y, v).numpy() == 3.0
