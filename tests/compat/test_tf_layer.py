"""The drop-in module for TensorFlow where its parts meet the compiler: dtypes, parts of variables, slices."""

from __future__ import annotations

import numpy as np
import pytest


def test_the_gradient_of_a_chosen_power_keeps_float32(tf):
    x, y = tf.Variable([-2.0, 3.0]), tf.Variable([2.0, 2.0])
    with tf.GradientTape() as tape:
        z = x**y
    gradients = tape.gradient(z, [x, y])
    assert [g.dtype for g in gradients] == [tf.float32, tf.float32]
    np.testing.assert_allclose(gradients[0], [-4.0, 6.0])
    np.testing.assert_allclose(gradients[1], [0.0, 9.0 * np.log(3.0)], rtol=1e-6)


def test_a_list_in_a_list_of_sources_stays_a_list(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    found = tape.gradient(y, [[x]])
    assert type(found) is list and type(found[0]) is list and float(found[0][0]) == 6.0


def test_a_part_of_a_variable_keeps_the_path(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v[0] * v[:, 1])
    assert tape.gradient(y, v).numpy().tolist() == [[2.0, 5.0], [0.0, 2.0]]
    v[0].assign([9.0, 8.0])
    assert v.numpy().tolist() == [[9.0, 8.0], [3.0, 4.0]]


def test_two_gathers_give_the_rows_of_both(tf):
    v = tf.Variable([[1.0], [2.0], [3.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(v, [0, 2]) * 2.0) + tf.reduce_sum(tf.nn.embedding_lookup(v, [[2], [1]]) * 3.0)
    found = tape.gradient(y, [v])[0]
    assert isinstance(found, tf.IndexedSlices)
    assert tf.convert_to_tensor(found).numpy().tolist() == [[2.0], [3.0], [5.0]]


def test_zeros_for_what_a_table_is_not_connected_to(tf):
    v, w = tf.Variable([[1.0], [2.0]]), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        rows = tf.gather(v, [1])
        y = tf.reduce_sum(rows * 2.0)
        z = w * w
    sparse, zero = tape.gradient(y, [v, w], unconnected_gradients="zero")
    assert isinstance(sparse, tf.IndexedSlices) and float(zero) == 0.0
    assert tape.gradient(z, v, unconnected_gradients="zero").numpy().tolist() == [[0.0], [0.0]]
    assert tape.gradient(z, v) is None
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'nonsense'"):
        tape.gradient(y, v, unconnected_gradients="nonsense")


def test_a_variable_that_is_read_otherwise_too_has_a_dense_gradient(tf):
    v = tf.Variable([[1.0], [2.0], [3.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(v, [0, 2])) + tf.reduce_sum(v * v)
    assert tf.convert_to_tensor(tape.gradient(y, v)).numpy().tolist() == [[3.0], [4.0], [7.0]]


def test_a_list_that_holds_tensors_keeps_the_path(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.constant([1.0, 10.0]) * [x, 3.0]
        z = tf.convert_to_tensor([[x, x * x]]) @ [[1.0], [2.0]]
    assert float(tape.gradient(y, x)) == 1.0
    assert float(tape.gradient(z, x)) == 9.0


@pytest.mark.parametrize("name", ["sqrt", "exp", "math.log", "sin", "nn.softplus", "nn.gelu"])
def test_an_integer_is_refused_where_a_float_is_needed(tf, name):
    function = tf
    for part in name.split("."):
        function = getattr(function, part)
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        function(tf.constant([1, 2]))


def test_integers_have_no_gradient(tf):
    n = tf.Variable(3)
    with tf.GradientTape(persistent=True) as tape:
        quotient = n / 2
        product = tf.cast(n, tf.float32) * 2.0
    assert tape.gradient(quotient, n) is None
    assert tape.gradient(product, n) is None


def test_what_is_not_finite_is_computed_in_silence(fresh):
    printed = fresh("""
        x = tf.Variable([0.0, -1.0, 1e38, float("inf"), float("nan")])
        for f in (tf.math.log, tf.sqrt, tf.math.reciprocal, tf.math.lgamma, tf.exp, tf.reduce_prod, tf.cumsum):
            with tf.GradientTape() as tape:
                y = f(x)
            assert tape.gradient(y, x).shape == (5,)
    """)
    assert "RuntimeWarning" not in printed


def test_lists_of_mixed_numbers(tf):
    assert tf.constant([np.int64(1), 2.5]).numpy().tolist() == [1.0, 2.5]
    assert tf.constant([1, True]).dtype == tf.int32
    assert tf.constant([1.0, True]).dtype == tf.float32
    assert tf.constant([1j, 2.0]).dtype == tf.complex128
    with pytest.raises(ValueError, match="mixed types"):
        tf.constant([True, 1])


def test_lists_of_arrays(tf):
    rows = tf.constant([np.array([1.5, 2.5]), np.array([3.5, 4.5])])
    assert rows.dtype == tf.float64 and rows.numpy().tolist() == [[1.5, 2.5], [3.5, 4.5]]
    assert tf.constant([np.ones(2), [1.0, 2.0]]).numpy().tolist() == [[1.0, 1.0], [1.0, 2.0]]
    assert tf.constant([np.ones(2, np.float32)], tf.float64).dtype == tf.float64
    assert tf.constant(np.array(["a", "b"])).numpy().tolist() == [b"a", b"b"]
    for wrong in ([[1, 2], 3], [[1, 2], [3]]):
        with pytest.raises(ValueError, match="non-rectangular"):
            tf.constant(wrong)


def test_an_input_signature_is_refused(tf):
    with pytest.raises(NotImplementedError, match="convert the arguments by tf.convert_to_tensor"):
        tf.function(input_signature=[])


def test_arrays_are_tensors_inside_a_function(tf):
    kinds = []

    @tf.function
    def twice(x):
        kinds.append(tf.is_tensor(x))
        return 2.0 * x

    assert twice(np.ones(2)).dtype == tf.float64 and kinds == [True]


def test_gradients_of_graphs_are_not_there(tf):
    x = tf.constant([1.0])
    for function in (tf.gradients, tf.hessians):
        with pytest.raises(RuntimeError, match="tf.gradients is not supported when eager execution is enabled. Use tf"):
            function(x, x)


def test_there_is_no_unary_plus(tf):
    for x in (tf.constant([1.0]), tf.Variable(1.0)):
        with pytest.raises(TypeError, match=r"bad operand type for unary \+"):
            +x
