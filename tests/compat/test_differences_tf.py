"""Where our TensorFlow module differs from TensorFlow on purpose: not run with --real."""

from __future__ import annotations

import numpy as np


def gradient(tf, function, value):
    x = tf.Variable(value)
    with tf.GradientTape() as tape:
        y = function(x)
    return tape.gradient(y, x)


def test_a_value_that_is_masked_out_has_no_part_in_the_gradient(tf):
    """TensorFlow gives NaN: it multiplies the infinite gradient of the logarithm at 0 by the zero of the mask."""
    assert gradient(tf, lambda x: tf.where(x > 0.0, tf.math.log(x), 0.0), [0.0, 2.0]).numpy().tolist() == [0.0, 0.5]
    assert gradient(tf, lambda x: tf.where(x > 0.0, 1.0 / x, 0.0), [0.0, 2.0]).numpy().tolist() == [0.0, -0.25]


def test_a_power_of_exponent_zero_is_constant(tf):
    """TensorFlow gives NaN at 0: it multiplies the exponent by the base to the power of -1."""
    assert gradient(tf, lambda x: x**0.0, [0.0, 3.0]).numpy().tolist() == [0.0, 0.0]
    assert gradient(tf, lambda x: tf.pow(x, [0.0, 1.0]), [0.0, 0.0]).numpy().tolist() == [0.0, 1.0]


def test_cumprod_of_zeros(tf):
    """TensorFlow divides the products by the factors, and gives 0 for a factor that is 0."""
    assert gradient(tf, lambda x: tf.math.cumprod(x), [0.0, 2.0, 3.0]).numpy().tolist() == [9.0, 0.0, 0.0]
    assert gradient(tf, lambda x: tf.math.cumprod(x), [2.0, 0.0, 3.0]).numpy().tolist() == [1.0, 8.0, 0.0]


def test_the_weight_of_a_layer_may_be_watched(tf):
    """TensorFlow's own tape refuses the variables of Keras 3, though it takes them as sources."""
    layer = tf.keras.layers.Dense(2)
    x = tf.ones((1, 3))
    layer(x)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(layer.kernel)
        y = layer(x)
    kernel, bias = tape.gradient(y, [layer.kernel, layer.bias])
    assert kernel.numpy().tolist() == [[1.0, 1.0]] * 3
    assert bias is None


def test_an_absent_name_says_what_is_there(tf):
    for module, there in ((tf, "GradientTape"), (tf.math, "sin"), (tf.nn, "relu"), (tf.keras.layers, "Dense")):
        try:
            module.nonsense
        except AttributeError as error:
            assert "nonsense" in str(error) and there in str(error)
            assert module.__name__.split(".")[-1] in str(error)
        else:
            raise AssertionError(module)


def test_our_arrays_are_those_of_numpy(tf):
    assert isinstance(tf.constant([1.0]).numpy(), np.ndarray)
