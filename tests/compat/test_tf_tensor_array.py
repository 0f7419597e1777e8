"""`tf.TensorArray`: what is stored, read and stacked, its errors, and gradients through it."""

from __future__ import annotations

import numpy as np
import pytest


def test_a_gradient_through_what_was_written(tf):
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False)
        for k in range(3):
            array = array.write(k, x[k] ** 2)
        y = tf.reduce_sum(array.stack() * [1.0, 10.0, 100.0]) + array.read(1)
    assert y.numpy() == 945.0
    assert tape.gradient(y, x).numpy().tolist() == [2.0, 44.0, 600.0]


def test_a_recurrence_under_function(tf):
    @tf.function
    def running(xs):
        states = tf.TensorArray(tf.float32, size=tf.shape(xs)[0])
        state = tf.zeros_like(xs[0])
        for k in tf.range(tf.shape(xs)[0]):
            state = 0.5 * state + xs[k]
            states = states.write(k, state)
        return states.stack()

    x = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        y = running(x)
    assert y.numpy().tolist() == [[1.0, 2.0], [3.5, 5.0], [6.75, 8.5]]
    assert tape.gradient(y, x).numpy().tolist() == [[1.75, 1.75], [1.5, 1.5], [1.0, 1.0]]


def test_in_a_while_loop(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        _, _, array = tf.while_loop(
            lambda k, p, a: k < 3,
            lambda k, p, a: (k + 1, p * x, a.write(k, p * x)),
            (tf.constant(0), tf.constant(1.0), tf.TensorArray(tf.float32, size=3)),
        )
        powers = array.stack()
    assert powers.numpy().tolist() == [2.0, 4.0, 8.0]
    assert tape.gradient(powers, x).numpy() == 1 + 4 + 12


def test_what_is_not_written_is_zero(tf):
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True).write(2, [1.0, 2.0])
    assert array.stack().numpy().tolist() == [[0.0, 0.0], [0.0, 0.0], [1.0, 2.0]]
    assert array.size().numpy() == 3 and array.size().dtype == tf.int32 and array.element_shape == (2,)


def test_reading_takes_out(tf):
    array = tf.TensorArray(tf.float32, size=2).write(0, 1.0)
    assert array.read(0).numpy() == 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not read index 0 twice because it was cleared"):
        array.read(0)
    assert array.write(0, 5.0).read(0).numpy() == 5.0


def test_several_at_a_time(tf):
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True).unstack([1.0, 2.0, 3.0])
    assert array.gather([2, 0]).numpy().tolist() == [3.0, 1.0]
    assert array.scatter([4, 3], [7.0, 8.0]).stack().numpy().tolist() == [1.0, 2.0, 3.0, 8.0, 7.0]
    parts = tf.TensorArray(tf.float32, size=3).split(tf.constant([1.0, 2.0, 3.0, 4.0]), [1, 1, 2])
    assert parts.read(2).numpy().tolist() == [3.0, 4.0]
    rows = tf.TensorArray(tf.float32, size=2, infer_shape=False).write(0, [[1.0]]).write(1, [[2.0], [3.0]])
    assert rows.concat().numpy().tolist() == [[1.0], [2.0], [3.0]]


def test_errors(tf):
    array = tf.TensorArray(tf.float32, size=2).write(0, 1.0)
    with pytest.raises(tf.errors.OutOfRangeError, match="Tried to write to index 5 but array is not resizeable"):
        array.write(5, 1.0)
    with pytest.raises(tf.errors.OutOfRangeError, match="Writing to negative indices"):
        array.write(-1, 1.0)
    with pytest.raises(tf.errors.OutOfRangeError, match="Tried to read from index 7 but array size is: 2"):
        array.read(7)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="TensorArray dtype is float32 but Op is trying to write dtype int32"
    ):
        array.write(1, tf.constant(1))
    with pytest.raises(ValueError, match="Incompatible shape for value"):
        array.write(1, [1.0, 2.0])
    with pytest.raises(ValueError, match="partially known TensorShape"):
        tf.TensorArray(tf.float32, size=2).read(0)
    with pytest.raises(ValueError, match="Cannot unstack 3 tensors into a TensorArray of static size 2"):
        tf.TensorArray(tf.float32, size=2).unstack(np.ones(3, np.float32))
