"""TensorFlow's GradientTape.jacobian and batch_jacobian."""

from __future__ import annotations

import numpy as np
import pytest

MATRIX = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
USE_PFOR = pytest.mark.parametrize("pfor", [True, False], ids=["pfor", "loop"])


def recorded(tf, function, value, persistent=True):
    x = tf.constant(value)
    with tf.GradientTape(persistent=persistent) as tape:
        tape.watch(x)
        y = function(x)
    return tape, x, y


# ------------------------------------------------------------------------------------------------------------- jacobian


def test_scalar_by_scalar(tf):
    tape, x, y = recorded(tf, lambda x: x**3, 2.0)
    jacobian = tape.jacobian(y, x)
    assert jacobian.shape == ()
    assert float(jacobian) == 12.0


def test_vector_by_scalar(tf):
    tape, x, y = recorded(tf, lambda x: x * [1.0, 2.0, 3.0], 2.0)
    jacobian = tape.jacobian(y, x)
    assert jacobian.shape == (3,)
    assert jacobian.numpy().tolist() == [1.0, 2.0, 3.0]


def test_scalar_by_vector(tf):
    tape, x, y = recorded(tf, lambda x: tf.reduce_sum(x * x), [1.0, 2.0, 3.0])
    assert tape.jacobian(y, x).numpy().tolist() == [2.0, 4.0, 6.0]


@USE_PFOR
def test_vector_by_vector(tf, pfor):
    tape, x, y = recorded(tf, lambda x: tf.stack([x[0] * x[1], x[1] ** 2]), [2.0, 3.0])
    assert tape.jacobian(y, x, experimental_use_pfor=pfor).numpy().tolist() == [[3.0, 2.0], [0.0, 6.0]]


@USE_PFOR
def test_the_shape_is_that_of_the_target_followed_by_that_of_the_source(tf, pfor):
    w = tf.Variable(np.arange(12.0, dtype=np.float32).reshape(3, 4))
    x = tf.constant(MATRIX)
    with tf.GradientTape(persistent=True) as tape:
        y = x @ w
    jacobian = tape.jacobian(y, w, experimental_use_pfor=pfor)
    assert jacobian.shape == (2, 4, 3, 4)
    expected = np.einsum("ik,jl->ijkl", np.array(MATRIX), np.eye(4))
    np.testing.assert_allclose(jacobian.numpy(), expected)


def test_several_sources(tf):
    a, b = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = a * b
    jacobians = tape.jacobian(y, {"a": a, "b": [b]})
    assert jacobians["a"].numpy().tolist() == [[3.0, 0.0], [0.0, 3.0]]
    assert jacobians["b"][0].numpy().tolist() == [1.0, 2.0]


def test_an_unconnected_source_gives_none(tf):
    tape, _, y = recorded(tf, lambda x: x * x, [1.0, 2.0])
    assert tape.jacobian(y, tf.Variable(1.0)) is None


def test_an_unconnected_source_among_others_gives_none(tf):
    tape, x, y = recorded(tf, lambda x: x * x, [1.0, 2.0])
    jacobians = tape.jacobian(y, [x, tf.Variable(1.0)])
    assert jacobians[0].shape == (2, 2)
    assert jacobians[1] is None


def test_unconnected_zero(tf):
    tape, _, y = recorded(tf, lambda x: x * x, [1.0, 2.0])
    jacobian = tape.jacobian(y, tf.Variable([1.0, 2.0, 3.0]), unconnected_gradients=tf.UnconnectedGradients.ZERO)
    assert jacobian.shape == (2, 3)
    assert not jacobian.numpy().any()


def test_a_target_that_is_the_source(tf):
    tape, x, _ = recorded(tf, lambda x: x * x, [1.0, 2.0])
    assert tape.jacobian(x, x).numpy().tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_jacobian_of_a_non_persistent_tape(tf):
    tape, x, y = recorded(tf, lambda x: x * x, [1.0, 2.0], persistent=False)
    assert tape.jacobian(y, x).numpy().tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_jacobian_of_a_non_persistent_tape_without_pfor(tf):
    tape, x, y = recorded(tf, lambda x: x * x, [1.0, 2.0], persistent=False)
    with pytest.raises(RuntimeError) as caught:
        tape.jacobian(y, x, experimental_use_pfor=False)
    assert "GradientTape must be created with persistent=True" in str(caught.value)
    assert "experimental_use_pfor set to False" in str(caught.value)


def test_a_list_as_the_target(tf):
    tape, x, y = recorded(tf, lambda x: x * x, [1.0, 2.0])
    with pytest.raises(AttributeError):
        tape.jacobian([y], x)


def test_a_number_as_the_target(tf):
    tape, x, _ = recorded(tf, lambda x: x * x, [1.0, 2.0])
    with pytest.raises(AttributeError):
        tape.jacobian(3.0, x)


def test_an_integer_target(tf):
    tape, x, _ = recorded(tf, lambda x: x * x, [1.0, 2.0])
    assert tape.jacobian(tf.constant([3, 4]), x) is None


@USE_PFOR
def test_jacobian_through_many_operations(tf, pfor):
    def function(x):
        return tf.nn.softmax(tf.tanh(x @ tf.transpose(x)) + tf.reduce_max(x, axis=1))

    tape, x, y = recorded(tf, function, MATRIX)
    jacobian = tape.jacobian(y, x, experimental_use_pfor=pfor)
    assert jacobian.shape == (2, 2, 2, 3)
    rows = np.stack([tape.gradient(y, x, output_gradients=seed).numpy() for seed in unit(tf, 2, 2)])
    np.testing.assert_allclose(jacobian.numpy().reshape(4, 2, 3), rows, rtol=1e-5, atol=1e-7)


def unit(tf, *shape):
    for position in np.ndindex(*shape):
        one = np.zeros(shape, np.float32)
        one[position] = 1.0
        yield tf.constant(one)


def test_the_sum_of_a_jacobian_over_the_target_is_the_gradient(tf):
    tape, x, y = recorded(tf, lambda x: tf.nn.relu(x - 2.5) * tf.exp(0.1 * x), MATRIX)
    total = tf.reduce_sum(tape.jacobian(y, x), axis=[0, 1])
    np.testing.assert_allclose(total.numpy(), tape.gradient(y, x).numpy(), rtol=1e-6)


def test_the_dtype_is_that_of_the_source(tf):
    x = tf.Variable([1.0, 2.0], dtype=tf.float64)
    with tf.GradientTape() as tape:
        y = x**2
    jacobian = tape.jacobian(y, x)
    assert jacobian.dtype == tf.float64
    assert jacobian.numpy().tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_jacobian_of_a_gradient_is_the_hessian(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x[0] ** 3 * x[1]
        gradient = inner.gradient(y, x)
    assert outer.jacobian(gradient, x).numpy().tolist() == [[12.0, 3.0], [3.0, 0.0]]


def test_jacobian_of_a_jacobian(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**3
        jacobian = inner.jacobian(y, x)
    second = outer.jacobian(jacobian, x).numpy()
    assert second.shape == (2, 2, 2)
    expected = np.zeros((2, 2, 2))
    expected[0, 0, 0], expected[1, 1, 1] = 6.0, 12.0
    np.testing.assert_allclose(second, expected)


def test_gradient_of_a_jacobian(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.sin(x)
        total = tf.reduce_sum(inner.jacobian(y, x))
    np.testing.assert_allclose(outer.gradient(total, x).numpy(), -np.sin([1.0, 2.0]), rtol=1e-6)


def test_jacobian_with_respect_to_an_intermediate(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
        z = y * y
    assert tape.jacobian(z, y).numpy().tolist() == [[2.0, 0.0], [0.0, 8.0]]


def test_parallel_iterations_changes_nothing(tf):
    tape, x, y = recorded(tf, lambda x: x * x, [1.0, 2.0])
    assert tape.jacobian(y, x, parallel_iterations=1, experimental_use_pfor=False).numpy().tolist() == [
        [2.0, 0.0],
        [0.0, 4.0],
    ]


# ------------------------------------------------------------------------------------------------------- batch_jacobian


@USE_PFOR
def test_batch_jacobian_of_independent_rows(tf, pfor):
    tape, x, y = recorded(tf, lambda x: x * x, MATRIX)
    jacobian = tape.batch_jacobian(y, x, experimental_use_pfor=pfor)
    assert jacobian.shape == (2, 3, 3)
    np.testing.assert_allclose(jacobian.numpy(), [np.diag([2.0, 4.0, 6.0]), np.diag([8.0, 10.0, 12.0])])


def test_the_shape_of_batch_jacobian(tf):
    w = tf.constant(np.ones((3, 5), np.float32))
    tape, x, y = recorded(tf, lambda x: tf.tanh(x @ w), MATRIX)
    assert tape.batch_jacobian(y, x).shape == (2, 5, 3)


def test_the_shape_of_batch_jacobian_with_more_axes(tf):
    value = np.ones((2, 3, 4), np.float32)
    tape, x, y = recorded(tf, lambda x: tf.reduce_sum(x, axis=1) ** 2, value)
    assert tape.batch_jacobian(y, x).shape == (2, 4, 3, 4)


def test_batch_jacobian_is_the_diagonal_of_jacobian(tf):
    w = tf.constant(np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4))
    tape, x, y = recorded(tf, lambda x: tf.nn.elu(tf.nn.elu(x @ w) @ tf.transpose(w)), MATRIX)
    diagonal = tf.einsum("bxby->bxy", tape.jacobian(y, x))
    np.testing.assert_allclose(tape.batch_jacobian(y, x).numpy(), diagonal.numpy(), rtol=1e-5, atol=1e-6)


def test_batch_jacobian_of_dependent_rows_sums_over_them(tf):
    tape, x, y = recorded(tf, lambda x: x * tf.reduce_sum(x, axis=0), MATRIX)
    full = tape.jacobian(y, x).numpy()
    np.testing.assert_allclose(tape.batch_jacobian(y, x).numpy(), np.einsum("bxcy->cxy", full))


def test_batch_jacobian_of_a_non_persistent_tape(tf):
    tape, x, y = recorded(tf, lambda x: x * x, MATRIX, persistent=False)
    assert tape.batch_jacobian(y, x).shape == (2, 3, 3)


def test_batch_jacobian_of_a_non_persistent_tape_without_pfor(tf):
    tape, x, y = recorded(tf, lambda x: x * x, MATRIX, persistent=False)
    with pytest.raises(RuntimeError, match="GradientTape must be created with persistent=True"):
        tape.batch_jacobian(y, x, experimental_use_pfor=False)


def test_batch_jacobian_that_is_not_connected_is_zeros(tf):
    tape, x, _ = recorded(tf, lambda x: x * x, MATRIX)
    jacobian = tape.batch_jacobian(tf.ones((2, 4)), x)
    assert jacobian.shape == (2, 4, 3)
    assert not jacobian.numpy().any()


def test_batch_jacobian_of_batches_of_different_size(tf):
    x = tf.ones((2, 3))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.ones((4, 3)) * tf.reduce_sum(x)
    message = r"Need first dimension of target shape \(?\(4, 3\)\)? and source shape \(?\(2, 3\)\)? to match"
    with pytest.raises(ValueError, match=message):
        tape.batch_jacobian(y, x)


def test_batch_jacobian_of_vectors(tf):
    tape, x, y = recorded(tf, lambda x: x * x, [1.0, 2.0])
    with pytest.raises(ValueError, match=r"Shape \(2,\) must have rank at least 2"):
        tape.batch_jacobian(y, x)


def test_batch_jacobian_of_a_list(tf):
    tape, x, y = recorded(tf, lambda x: x * x, MATRIX)
    with pytest.raises(AttributeError):
        tape.batch_jacobian([y], x)


def test_batch_jacobian_inside_an_outer_tape(tf):
    x = tf.constant(MATRIX)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        jacobian = inner.batch_jacobian(y, x)
    np.testing.assert_allclose(outer.gradient(jacobian, x).numpy(), 6 * np.array(MATRIX), rtol=1e-6)
