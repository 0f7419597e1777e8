"""``tf.autodiff.ForwardAccumulator``: values, nesting with accumulators and tapes, what is watched, errors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.compat.tf_operations import GROUPS, used, weights

RECORDED = json.loads(Path(__file__).with_name("tf_operations.json").read_text())


def plain(x: Any) -> Any:
    return [plain(item) for item in x] if isinstance(x, (list, tuple)) else None if x is None else x.numpy().tolist()


def close(found: Any, expected: Any) -> None:
    if isinstance(expected, (list, tuple)) and None in expected:
        assert [g is None for g in found] == [g is None for g in expected]
        found, expected = ([g for g in values if g is not None] for values in (found, expected))
    np.testing.assert_allclose(np.asarray(found, float), np.asarray(expected, float), rtol=2e-6)


def one(tf: Any) -> Any:
    return tf.constant(1.0)


def primal(tf, FA):
    x = tf.constant(2.0)
    with FA(x, one(tf)) as acc:
        y = x**3
        inside = acc.jvp(y)
        z = y * 2.0
    after = x * x
    return [inside, acc.jvp(z), acc.jvp(x), acc.jvp(after), FA(x, one(tf)).jvp(x)]


def nested_structures(tf, FA):
    x, y = tf.constant(1.0), tf.constant(2.0)
    with FA({"a": x, "b": (y,)}, {"a": tf.constant(1.0), "b": (tf.constant(3.0),)}) as acc:
        z = x * y
    found = acc.jvp({"u": z, "v": [x, (y,)]})
    return [found["u"], found["v"][0], found["v"][1][0]]


def variables(tf, FA):
    v, w = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    with FA([v, w], [tf.constant([1.0, 0.0]), tf.constant(2.0)]) as acc:
        y = tf.reduce_sum(v * v * w)
        v.assign_add([1.0, 1.0])
        z = tf.reduce_sum(v * v)
    return [acc.jvp(y), acc.jvp(z), acc.jvp(w), acc.jvp(v * v)]


def forward_over_forward(tf, FA):
    x = tf.constant(2.0)
    with FA(x, one(tf)) as outer:
        with FA(x, one(tf)) as inner:
            y = x**4
    d = inner.jvp(y)
    return [d, outer.jvp(y), outer.jvp(d), inner.jvp(outer.jvp(y))]


def three_deep(tf, FA):
    x = tf.constant(2.0)
    with FA(x, one(tf)) as a, FA(x, one(tf)) as b, FA(x, one(tf)) as c:
        y = x**4
    return [a.jvp(b.jvp(c.jvp(y)))]


def hessian_products(tf, FA):
    v = tf.Variable([1.0, 2.0])
    with FA(v, tf.constant([1.0, 3.0])) as acc:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(v**3) * v[0]
        g = tape.gradient(y, v)
    return list(tf.unstack(acc.jvp(g)))


def a_gradient_after_the_block(tf, FA):
    v = tf.Variable(2.0)
    with FA(v, one(tf)) as acc:
        with tf.GradientTape() as tape:
            y = v**3
    return [acc.jvp(tape.gradient(y, v)), acc.jvp(y)]


def reverse_over_forward(tf, FA):
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        with FA(v, one(tf)) as acc:
            y = v**3
    d = acc.jvp(y)  # it was computed inside
    return [tape.gradient(d, v)]


def a_tape_inside_does_not_see_tangents(tf, FA):
    v = tf.Variable(2.0)
    with FA(v, one(tf)) as acc:
        with tf.GradientTape() as tape:
            y = v**3
            d = acc.jvp(y)
    return [d, tape.gradient(d, v)]


def three_modes(tf, FA):
    v = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with FA(v, one(tf)) as acc:
            with tf.GradientTape() as inner:
                y = v**4
            g = inner.gradient(y, v)
        d = acc.jvp(g)
    return [d, outer.gradient(d, v)]


def a_jacobian_inside(tf, FA):
    x = tf.constant([1.0, 2.0])
    with FA(x, tf.constant([1.0, 1.0])) as acc:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x**3
        j = tape.jacobian(y, x)
    return list(tf.unstack(tf.reshape(acc.jvp(j), [-1])))


def entered_again(tf, FA):
    x = tf.constant(2.0)
    acc = FA(x, one(tf))
    with acc:
        y = x * x
    z = y * 1.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        w = x * 5.0
        with acc:
            u = y * x * w
            t = z * x
    d = acc.jvp(u)
    return [acc.jvp(t), d, tape.gradient(d, x)]


def closed_out_of_order(tf, FA):
    x = tf.constant(2.0)
    a, b = FA(x, one(tf)), FA(x, one(tf))
    a.__enter__()
    b.__enter__()
    y = x**3
    a.__exit__(None, None, None)
    z = y * x
    b.__exit__(None, None, None)
    return [a.jvp(y), a.jvp(z), b.jvp(z), a.jvp(b.jvp(y)), a.jvp(b.jvp(z))]


def primals_in_between(tf, FA):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        u = x * x
        with FA(u, one(tf)) as acc:
            y = u**3 + x
        d = acc.jvp(y)
    return [d, tape.gradient(d, x)]


def tangents_that_depend(tf, FA):
    x = tf.constant(1.5)
    with FA(x, one(tf)) as outer:
        with FA(x, x * 3.0) as inner:
            y = x * x
    return [inner.jvp(y), outer.jvp(inner.jvp(y))]


def a_paused_tape(tf, FA):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        with FA(x, one(tf)) as acc:
            y = x**3
            with tape.stop_recording():
                z = y * x
            w = z * x
    d = acc.jvp(w)
    return [d, tape.gradient(d, x)]


def operations_of_a_custom_gradient(tf, FA):
    @tf.custom_gradient
    def f(x):
        return x * x, lambda g: g * 10.0

    x = tf.constant(3.0)
    with FA(x, one(tf)) as acc:
        y = f(x)
    return [acc.jvp(y)]


def step_functions(tf, FA):
    x = tf.constant(1.5)
    with FA(x, one(tf)) as acc:
        found = [tf.floor(x), tf.zeros_like(x), tf.cast(x, tf.int32), tf.stop_gradient(x), x > 0.0, tf.round(x)]
    return [acc.jvp(y) for y in found]


def kinks_and_ties(tf, FA):
    x = tf.constant([1.0, 1.0, 0.0])
    with FA(x, tf.constant([1.0, 3.0, 5.0])) as acc:
        y = [tf.reduce_max(x), tf.nn.relu(x)[2], tf.abs(x)[2], tf.sort(x)[0], tf.sqrt(x)[2]]
    return [acc.jvp(part) for part in y]


def a_loop(tf, FA):
    x = tf.constant(0.5)
    with FA(x, one(tf)) as acc:
        y = x
        for _ in range(50):
            y = y * 0.5 + x
    return [acc.jvp(y)]


def complex_numbers(tf, FA):
    z = tf.constant(1.0 + 2.0j)
    with FA(z, tf.constant(1j)) as acc:
        y = [tf.math.real(z * z), tf.math.imag(z * z), tf.math.imag(tf.math.conj(z)), tf.abs(z)]
    return [acc.jvp(part) for part in y]


PROGRAMS = [
    (primal, [12.0, 24.0, 1.0, None, 1.0]),
    (nested_structures, [5.0, 1.0, 3.0]),
    (variables, [16.0, 4.0, 2.0, None]),
    (forward_over_forward, [32.0, 32.0, 48.0, None]),
    (three_deep, [48.0]),
    (hessian_products, [48.0, 48.0]),
    (a_gradient_after_the_block, [None, 12.0]),
    (reverse_over_forward, [12.0]),
    (a_tape_inside_does_not_see_tangents, [12.0, None]),
    (three_modes, [48.0, 48.0]),
    (a_jacobian_inside, [6.0, 0.0, 0.0, 12.0]),
    (entered_again, [4.0, 120.0, 100.0]),  # the tape has not seen how the tangent of y was computed
    (closed_out_of_order, [12.0, None, 32.0, 12.0, None]),
    (primals_in_between, [48.0, 96.0]),
    (tangents_that_depend, [13.5, 18.0]),
    (a_paused_tape, [80.0, None]),  # it is opened again inside of the accumulator
    (operations_of_a_custom_gradient, [6.0]),
    (step_functions, [None] * 6),
    (kinks_and_ties, [2.0, 0.0, 0.0, 5.0, np.inf]),
    (a_loop, [2.0]),
    (complex_numbers, [-4.0, 2.0, -1.0, 2.0 / np.sqrt(5.0)]),
]


@pytest.mark.parametrize(("program", "expected"), PROGRAMS, ids=lambda x: getattr(x, "__name__", ""))
def test_tangents(tf, program, expected):
    close(plain(program(tf, tf.autodiff.ForwardAccumulator)), expected)


@pytest.mark.parametrize("group", GROUPS)
def test_tangents_of_operations(tf, group):
    """The product with a cotangent is that of the tangents with TensorFlow's recorded gradients."""
    for case in GROUPS[group]:
        if not case.second or re.search(r"sign|scatter_nd\(|gather_nd", case.expression):
            continue  # TensorFlow: None for sign, another shape for scatter_nd, an error for gather_nd
        inputs = {name: tf.constant(np.array(value, np.float64)) for name, value in used(case).items()}
        dots = {name: weights(tuple(x.shape), np.float64, 3 + k) for k, (name, x) in enumerate(inputs.items())}
        with tf.autodiff.ForwardAccumulator(list(inputs.values()), [tf.constant(d) for d in dots.values()]) as acc:
            y = tf.convert_to_tensor(eval(case.expression, {"tf": tf, "np": np, **inputs}))
        found, recorded = acc.jvp(y), RECORDED[f"{group}: {case.name} in float64"]
        known = {name: g for name, g in recorded["gradients"].items() if g is not None}
        if found is None:
            assert not any(np.any(g[2]) for g in known.values()), case.name
            continue
        assert found.shape == y.shape and found.dtype == y.dtype
        total = np.sum(found.numpy() * weights(tuple(y.shape), found.numpy().dtype, 1))
        want = sum(np.sum(np.reshape(g[2], g[1]) * dots[name]) for name, g in known.items())
        loose = "float32" in (recorded["value"][0], *[g[0] for g in known.values()])
        np.testing.assert_allclose(total, want, rtol=1e-4 if loose else 1e-7, atol=1e-6, err_msg=case.name)


def test_unconnected_gradients(tf):
    x, other = tf.constant(1.0), tf.constant([2.0, 3.0])
    with tf.autodiff.ForwardAccumulator(x, one(tf)) as acc:
        y = other * 3.0
    assert acc.jvp(y) is None
    for zero in (tf.UnconnectedGradients.ZERO, "zero"):
        assert acc.jvp(y, unconnected_gradients=zero).numpy().tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="'foo' is not a valid UnconnectedGradients"):
        acc.jvp(y, unconnected_gradients="foo")


ERRORS = {
    "twice": (lambda FA, tf, x: FA([x, x], [x, x]), ValueError, "specified as a primal multiple times"),
    "structure": (lambda FA, tf, x: FA([x], x), ValueError, "two structures don't have the same nested structure"),
    "length": (lambda FA, tf, x: FA([x, x + 0.0], [x]), ValueError, "don't have the same nested structure"),
    "dtype": (lambda FA, tf, x: FA(x, tf.constant(1.0, tf.float64)), ValueError, "requested dtype"),
    "no tangent": (lambda FA, tf, x: FA(x, None), ValueError, "None"),
    "no tensor": (lambda FA, tf, x: FA(x, x).jvp(3.0), AttributeError, "_id|no tensor"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(tf, name):
    call, error, message = ERRORS[name]
    with pytest.raises(error, match=message):
        call(tf.autodiff.ForwardAccumulator, tf, tf.constant(1.0))


def test_an_accumulator_that_is_open_is_not_entered(tf):
    x = tf.constant(1.0)
    acc = tf.autodiff.ForwardAccumulator(x, x)
    with acc, pytest.raises(ValueError, match=r"Accumulator is already recording\."):
        acc.__enter__()
    acc.__exit__(None, None, None)


def test_tangents_of_smaller_shape_are_broadcast_and_integers_have_none(tf):
    x, n = tf.constant([1.0, 2.0]), tf.constant(3)
    with tf.autodiff.ForwardAccumulator([x, n], [tf.constant([1.0]), tf.constant(1)]) as acc:
        y = x * x
    assert acc.jvp(y).numpy().tolist() == [2.0, 4.0] and acc.jvp(n + 1) is None
