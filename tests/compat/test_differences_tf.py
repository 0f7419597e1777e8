"""Where our TensorFlow module differs from TensorFlow on purpose: not run with --real."""

from __future__ import annotations

import numpy as np
import pytest

from autodiff_compiler.compat.tensorflow.keras import names


def gradient(tf, function, value):
    x = tf.Variable(value)
    with tf.GradientTape() as tape:
        y = function(x)
    return tape.gradient(y, x)


def test_a_power_of_exponent_zero_is_constant(tf):
    """TensorFlow gives NaN at 0: it multiplies the exponent by the base to the power of -1."""
    assert gradient(tf, lambda x: x**0.0, [0.0, 3.0]).numpy().tolist() == [0.0, 0.0]
    assert gradient(tf, lambda x: tf.pow(x, [0.0, 1.0]), [0.0, 0.0]).numpy().tolist() == [0.0, 1.0]


def test_cumprod_of_zeros(tf):
    """TensorFlow divides the products by the factors, and gives 0 for a factor that is 0."""
    assert gradient(tf, lambda x: tf.math.cumprod(x), [0.0, 2.0, 3.0]).numpy().tolist() == [9.0, 0.0, 0.0]
    assert gradient(tf, lambda x: tf.math.cumprod(x), [2.0, 0.0, 3.0]).numpy().tolist() == [1.0, 8.0, 0.0]


def test_a_source_among_several_targets_always_counts(tf):
    """TensorFlow gives None for an unwatched source as soon as an operation of another target reads it."""
    u, v = tf.constant([5.0, 7.0]), tf.Variable([2.0, 3.0])
    with tf.GradientTape() as tape:
        y = u * v
    by_u, by_v = tape.gradient([y, u], [u, v])
    assert by_u.numpy().tolist() == [1.0, 1.0]
    assert by_v.numpy().tolist() == [5.0, 7.0]


def test_the_jacobian_of_an_unwatched_value_by_itself(tf):
    """The identity, as its gradient is ones; TensorFlow gives None."""
    x = tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        pass
    assert tape.jacobian(x, x).numpy().tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_second_derivatives_of_moments(tf):
    """TensorFlow stops the gradient of the mean in the variance, which only first derivatives allow."""
    x = tf.Variable([1.0, 2.0, 6.0], dtype=tf.float64)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            variance = tf.nn.moments(x, axes=[0])[1]
        first = inner.gradient(variance, x)
    hessian = outer.jacobian(first, x).numpy()
    np.testing.assert_allclose(hessian, 2 / 3 * (np.eye(3) - 1 / 3), atol=1e-12)


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


def test_an_absent_name_says_what_is_close(tf):
    for module, name, there in (
        (tf, "gradienttape", "GradientTape"), (tf.math, "sine", "sin"), (tf.nn, "reluu", "relu"),
        (tf.keras.layers, "Dens", "Dense"),
    ):  # fmt: skip
        try:
            getattr(module, name)
        except AttributeError as error:
            assert f"no attribute {name!r}. Did you mean: '{there}'" in str(error) and len(str(error)) < 200
            assert module.__name__.split(".")[-1] in str(error) and there in dir(module)
        else:
            raise AssertionError(module)


def test_what_is_gone_says_what_there_is_instead(tf):
    for name, words in (
        ("bfloat16", "NumPy has no such type"), ("TensorArray", "Append to a Python list"), ("train", "np.savez"),
        ("nest", "Write a comprehension"), ("config", "always run eagerly"), ("device", "There are no devices"),
        ("print", "Python's print shows tensors"),
    ):  # fmt: skip
        with pytest.raises(AttributeError, match=f"module .*tensorflow' has no attribute '{name}'. .*{words}"):
            getattr(tf, name)
    with pytest.raises(ImportError, match="cannot import name 'bfloat16' from .*compute in tf.float32"):
        exec("from autodiff_compiler.compat.tensorflow import bfloat16")


def test_a_dataset_says_what_it_has(tf):
    with pytest.raises(AttributeError, match="'Dataset' object has no attribute 'shufle'. Did you mean: 'shuffle'"):
        tf.data.Dataset.from_tensor_slices([1, 2]).shufle


def test_our_arrays_are_those_of_numpy(tf):
    assert isinstance(tf.constant([1.0]).numpy(), np.ndarray)


def test_the_weights_of_layers_are_called_as_in_the_guides(tf):
    """Keras 3 calls them kernel and bias, and has the layer in `path` alone."""
    names.clear()
    layer = tf.keras.layers.Dense(2, activation="relu")
    layer(tf.constant([[1.0, 2.0, 3.0]]))
    assert [v.name for v in layer.trainable_variables] == ["dense/kernel:0", "dense/bias:0"]
    assert [v.path for v in layer.trainable_variables] == ["dense/kernel", "dense/bias"]
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)], name="net")
    assert model.weights[0].name == "net/dense_1/kernel:0"


def test_layers_are_modules_and_have_the_variables_among_their_attributes(tf):
    """As in the guides, and in Keras 2; Keras 3 leaves them out in both directions."""

    class Affine(tf.keras.layers.Layer):
        def build(self, input_shape):
            self.w = tf.Variable(tf.ones((input_shape[-1], 2)), name="w")
            self.b = self.add_weight(shape=(2,), initializer="zeros", name="b")

        def call(self, x):
            return x @ self.w + self.b

    class Net(tf.Module):
        def __init__(self):
            super().__init__()
            self.affine = Affine(name="affine")

    net = Net()
    assert net.affine(tf.ones((1, 3))).numpy().tolist() == [[3.0, 3.0]]
    assert [v.name for v in net.affine.trainable_variables] == ["affine/b:0", "affine/w:0"]
    assert {v.name for v in net.trainable_variables} == {"affine/b:0", "affine/w:0"}
    assert isinstance(net.affine, tf.Module) and isinstance(net.affine.w, tf.Variable)


def test_the_gradient_of_softmax_cross_entropy_depends_on_the_labels(tf):
    """TensorFlow gives 0: it takes the labels in the gradient by the logits, softmax - labels, for constants."""
    labels, logits = tf.Variable([[0.25, 0.75]]), tf.Variable([[0.5, -1.0]])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        first = inner.gradient(loss, logits)[0, 0]
    np.testing.assert_allclose(outer.gradient(first, labels).numpy(), [[-1 + 0.81757448, 0.81757448]], rtol=1e-6)


def test_what_layers_refuse(tf):
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Dense(1, name="one")])
    for wrong, words in (
        (3, "consists of layers"), (tf.keras.Input((2,)), "at most one Input"), (layers.Dense(2, name="one"), "'one'"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            model.add(wrong)
    layer = layers.Dense(2)
    with pytest.raises(ValueError, match="needs all the lengths"):
        layer.add_weight(shape=(None, 2))
    with pytest.raises(AttributeError, match="no attribute 'kernel': the layer is built at its first call"):
        _ = layer.kernel
    for make, absent in (
        (lambda: layers.Dense(2, units_of="x"), "units_of"),
        (lambda: layers.Conv2D(2, 3, dilation_rate=2), "dilation_rate"),
        (lambda: layers.Flatten(data_format="channels_first"), "data_format"),
        (lambda: layers.BatchNormalization(axis=1), "axis"),
        (lambda: tf.keras.losses.CategoricalCrossentropy(label_smoothing=0.1), "label_smoothing"),
    ):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{absent}'"):
            make()


def test_models_have_no_loop_and_no_files(tf):
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])
    with pytest.raises(AttributeError, match="has no attribute 'fit'. Write the loop: tape.gradient"):
        model.fit
    with pytest.raises(AttributeError, match="has no attribute 'save'. Store the arrays of get_weights"):
        model.save("model.keras")
    with pytest.raises(TypeError, match="models of symbolic tensors are not there: write a subclass"):
        tf.keras.Model(inputs=tf.keras.Input((3,)), outputs=None)


def test_a_gradient_function_that_forgets_to_sum_over_what_broadcast(tf):
    """TensorFlow gives a gradient of two numbers for a variable of one."""

    @tf.custom_gradient
    def scaled(x, y):
        return x * y, lambda g: (g * y, g * x)

    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        z = scaled(v, tf.constant([1.0, 2.0]))
    with pytest.raises(ValueError, match=r"shape \(2,\) for an operand of shape \(\)"):
        tape.gradient(z, v)


# In many of these NumPy says what is wrong, in its words; the error is TensorFlow's.
REFUSED = [
    ("tf.split(v, 2)", "should evenly divide the split dimension"),
    ("tf.split(v, [1, 1])", "must match input shape along split_dim"),
    ("tf.slice(v, [2], [2])", "Expected size"),
    ("tf.unstack(tf.constant(1.0))", "not in range"),
    ("tf.pad(v, [[1, 1]], 'WRAP')", 'is one of "CONSTANT"'),
    ("tf.concat([v, tf.ones((1, 1))], 0)", "dimensions"),
    ("tf.stack([v, v[:2]])", "same shape"),
    ("tf.add_n([v, v[:2]])", "one shape"),
    ("tf.transpose(v, [0, 1])", "axes"),
    ("tf.reshape(v, [-1, 2])", "requires a multiple of 2"),
    ("tf.ensure_shape(v, [None, 2])", "not compatible"),
    ("tf.gather(v, [3])", "is not in"),
    ("tf.gather(v, [-1])", "is not in"),
    ("tf.gather_nd(v, [[3]])", "does not index into shape"),
    ("tf.gather_nd(v, [[0, 0]])", "innermost dimension length"),
    ("tf.tensor_scatter_nd_add(v, [[0]], [1.0, 2.0])", "updates for these indices have the shape"),
    ("tf.nn.top_k(v, 4)", "at least k columns"),
    ("tf.nn.bias_add(v[None], [1.0])", "Must provide 3 biases"),
    ("tf.nn.conv2d(image, tf.ones((2, 2, 2, 1)), 1, 'SAME')", "evenly divisible by filter depth"),
    ("tf.nn.conv2d(image, v, 1, 'SAME')", "equally many dimensions"),
    ("tf.nn.conv2d(image, tf.ones((2, 2, 3, 1)), 1, 'SAME', 'NCHW')", "the channels come last here"),
    ("tf.nn.depthwise_conv2d(image, tf.ones((2, 2, 2, 1)), 1, 'SAME')", "must have the same depth"),
    ("tf.nn.conv2d_transpose(image, tf.ones((2, 2, 5, 3)), [1, 4, 4, 3], 1)", "does not match batch 1 and outputs 5"),
    ("tf.squeeze(v, 0)", "Can not squeeze"),
    ("tf.nn.softmax_cross_entropy_with_logits(tf.ones((2, 2)), v)", "broadcast"),
    ("tf.nn.sparse_softmax_cross_entropy_with_logits(5, v)", "outside the valid range"),
    ("tf.linalg.cholesky(-tf.eye(2))", "Cholesky decomposition was not successful"),
    ("tf.fill([2], v)", "must be a scalar"),
    ("tf.range(0, 3, 0)", "Requires delta != 0"),
]


@pytest.mark.parametrize(("expression", "message"), REFUSED)
def test_what_operations_refuse(tf, expression, message):
    names = {"tf": tf, "v": tf.constant([1.0, 2.0, 3.0]), "image": tf.ones((1, 4, 4, 3))}
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        eval(expression, names)
    assert message in str(caught.value)


def test_tangents_where_tensorflow_gives_none_or_nan(tf):
    """TensorFlow: None for sign, nan for the norm at zero, the tangent of the updates for scatter_nd."""
    x, z = tf.constant([1.0, -2.0]), tf.zeros(2)
    with tf.autodiff.ForwardAccumulator([x, z], [tf.constant([1.0, 2.0]), tf.constant([1.0, 1.0])]) as acc:
        y = [tf.sign(x), tf.norm(z), tf.scatter_nd([[1], [1]], x, [3]), tf.reduce_logsumexp(tf.sign(x))]
    found = [acc.jvp(part).numpy().tolist() for part in y]
    assert found == [[0.0, 0.0], 0.0, [0.0, 3.0, 0.0], 0.0]


def test_tangents_through_functions_that_run_again(tf):
    """TensorFlow refuses recompute_grad in forward mode."""
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
            y = tf.recompute_grad(lambda x: x**3)(x)
        d = acc.jvp(y)
    assert d.numpy().tolist() == [3.0, 0.0] and tape.gradient(d, x).numpy().tolist() == [6.0, 0.0]


def test_the_gradient_of_the_tangent_of_a_choice(tf):
    x = tf.constant([[0.3], [0.5]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
            y = tf.reduce_logsumexp(tf.sign(x) * x, axis=-1)
        d = acc.jvp(y)
    assert d.numpy().tolist() == [1.0, 1.0] and tape.gradient(d, x).numpy().tolist() == [[0.0], [0.0]]


def test_tangents_by_the_weights_of_layers(tf):
    """Keras 3 has variables that a ForwardAccumulator does not take."""
    layer = tf.keras.layers.Dense(2, activation="tanh")
    x = tf.constant([[1.0, 2.0]])
    layer(x)
    kernel = layer.trainable_variables[0]
    with tf.autodiff.ForwardAccumulator(kernel, tf.ones((2, 2))) as acc:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(layer(x) ** 2)
        g = tape.gradient(y, kernel)
    np.testing.assert_allclose(acc.jvp(y).numpy(), np.sum(g.numpy()), rtol=1e-5)
