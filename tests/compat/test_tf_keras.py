"""Keras as Python objects: names, shapes, weights, training and inference, errors."""

from __future__ import annotations

import numpy as np
import pytest


def names(weights):
    """Without the names of the layers: Keras 3 has those in `path` alone, ours in `name` too."""
    return [w.path.rsplit("/", 1)[-1] for w in weights]


# ------------------------------------------------------------------------------------------------------------ layers


def test_a_layer_is_built_when_it_is_called(tf):
    layer = tf.keras.layers.Dense(3)
    assert not layer.built
    assert layer.weights == [] and layer.trainable_variables == []
    assert layer(tf.ones((2, 4))).shape == (2, 3)
    assert layer.built
    assert [tuple(w.shape) for w in layer.weights] == [(4, 3), (3,)]


def test_the_weights_of_a_dense_layer(tf):
    layer = tf.keras.layers.Dense(3, name="mine")
    layer(tf.ones((2, 4)))
    assert [w.path for w in layer.weights] == ["mine/kernel", "mine/bias"]
    assert layer.kernel is layer.weights[0] and layer.bias is layer.weights[1]
    assert layer.trainable_variables == layer.trainable_weights
    assert isinstance(layer.trainable_variables, list)
    assert layer.non_trainable_variables == []
    assert layer.name == "mine" and layer.units == 3 and layer.use_bias


def test_what_the_weights_start_as(tf):
    layer = tf.keras.layers.Dense(50)
    layer(tf.ones((2, 100)))
    kernel = layer.kernel.numpy()
    limit = np.sqrt(6 / 150)
    assert kernel.dtype == np.float32
    assert 0.9 * limit < np.abs(kernel).max() <= limit
    assert abs(kernel.mean()) < 0.02
    assert not layer.bias.numpy().any()


INITIALIZERS = [
    ("zeros", 0.0),
    ("ones", 1.0),
]


@pytest.mark.parametrize("name, value", INITIALIZERS)
def test_initializers_by_name(tf, name, value):
    layer = tf.keras.layers.Dense(2, kernel_initializer=name, bias_initializer=name)
    layer(tf.ones((1, 3)))
    assert set(layer.kernel.numpy().ravel().tolist()) == {value}
    assert set(layer.bias.numpy().ravel().tolist()) == {value}


def test_initializers_as_objects(tf):
    initializers = tf.keras.initializers
    layer = tf.keras.layers.Dense(2, kernel_initializer=initializers.Constant(2.0))
    assert layer(tf.ones((1, 3))).numpy().tolist() == [[6.0, 6.0]]
    value = initializers.GlorotUniform(seed=1)(shape=(4, 3))
    assert value.shape == (4, 3) and value.dtype == tf.float32
    assert initializers.RandomNormal(stddev=0.01, seed=2)((100,)).numpy().std() < 0.05
    assert abs(initializers.RandomUniform(-0.5, 0.5, seed=3)((100,)).numpy()).max() <= 0.5
    assert initializers.Zeros()((2,)).numpy().tolist() == [0.0, 0.0]


def test_get_and_set_weights(tf):
    layer = tf.keras.layers.Dense(2)
    layer(tf.ones((1, 3)))
    kernel, bias = layer.get_weights()
    assert isinstance(kernel, np.ndarray) and kernel.shape == (3, 2) and bias.tolist() == [0.0, 0.0]
    layer.set_weights([np.ones((3, 2)), np.array([1.0, 2.0])])
    assert layer(tf.ones((1, 3))).numpy().tolist() == [[4.0, 5.0]]
    with pytest.raises(ValueError):
        layer.set_weights([np.ones((3, 2))])
    with pytest.raises(ValueError):
        layer.set_weights([np.ones((4, 2)), np.zeros(2)])


def test_a_weight_works_like_a_variable(tf):
    layer = tf.keras.layers.Dense(2, kernel_initializer="ones")
    layer(tf.ones((1, 3)))
    kernel = layer.kernel
    assert (kernel + 1.0).numpy().tolist() == [[2.0, 2.0]] * 3
    assert kernel[0].numpy().tolist() == [1.0, 1.0]
    assert np.asarray(kernel).tolist() == [[1.0, 1.0]] * 3
    assert tf.convert_to_tensor(kernel).shape == (3, 2)
    assert tf.reduce_sum(kernel).numpy() == 6.0
    kernel.assign(np.full((3, 2), 5.0))
    kernel.assign_sub(tf.ones((3, 2)))
    kernel.assign_add(tf.ones((3, 2)) * 2.0)
    assert kernel.numpy().tolist() == [[6.0, 6.0]] * 3
    assert kernel.trainable


def test_names_of_layers_are_numbered(tf):
    class Something(tf.keras.layers.Layer):
        pass

    first, second = Something(), Something()
    assert first.name == "something"
    assert second.name == "something_1"
    assert tf.keras.layers.Conv2D(1, 1).name.startswith("conv2d")
    assert tf.keras.layers.BatchNormalization().name.startswith("batch_normalization")


def test_a_layer_takes_arrays(tf):
    layer = tf.keras.layers.Dense(2)
    result = layer(np.ones((3, 4)))
    assert isinstance(result, tf.Tensor)
    assert result.dtype == tf.float32 and result.shape == (3, 2)


def test_a_layer_casts_its_input(tf):
    layer = tf.keras.layers.Dense(2)
    assert layer(tf.ones((3, 4), tf.float64)).dtype == tf.float32
    assert tf.keras.layers.Dense(2, dtype="float64")(tf.ones((3, 4), tf.float64)).dtype == tf.float64


@pytest.mark.parametrize("activation", ["relu", "elu", "sigmoid", "tanh", "softmax", "linear", None])
def test_activations_by_name(tf, activation):
    layer = tf.keras.layers.Dense(2, activation=activation, kernel_initializer="ones")
    x = tf.constant([[-1.0, 0.5]])
    function = getattr(tf.keras.activations, activation or "linear")
    np.testing.assert_allclose(layer(x).numpy(), function(tf.constant([[-0.5, -0.5]])).numpy(), rtol=1e-6)


def test_activations_as_functions(tf):
    x = tf.constant([[1.0, 2.0]])
    for function in (tf.nn.relu, tf.nn.elu, tf.nn.sigmoid, tf.tanh, lambda value: value * 3.0):
        layer = tf.keras.layers.Dense(2, activation=function, kernel_initializer="ones")
        np.testing.assert_allclose(layer(x).numpy(), function(tf.constant([[3.0, 3.0]])).numpy(), rtol=1e-6)


REFUSED = [
    ("tf.keras.layers.Dense(2, activation='nonsense')", "nonsense"),
    ("tf.keras.layers.Dense(-1)", "expected a positive integer"),
    ("tf.keras.layers.Dropout(1.5)", "between 0 and 1"),
    ("layer(tf.ones((2, 5)))", "expected axis -1 of input shape to have value 4, but received input with shape (2, 5)"),
    ("layer(tf.ones(4))", "expected min_ndim=2, found ndim=1"),
    ("optimizer.apply_gradients([])", ""),
    ("optimizer.apply_gradients([(None, v)])", "No gradients provided for any variable"),
]


@pytest.mark.parametrize("expression, message", REFUSED)
def test_what_is_refused(tf, expression, message):
    layer = tf.keras.layers.Dense(3)
    layer(tf.ones((2, 4)))
    names = {"tf": tf, "layer": layer, "optimizer": tf.keras.optimizers.SGD(0.1), "v": tf.Variable([1.0, 2.0])}
    with pytest.raises(ValueError) as caught:
        eval(expression, names)
    assert message in str(caught.value)


@pytest.mark.parametrize("module", ["keras", "keras.layers", "keras.optimizers", "keras.losses", "keras.activations"])
def test_absent_names(tf, module):
    place = tf
    for part in module.split("."):
        place = getattr(place, part)
    with pytest.raises(AttributeError, match="nonsense"):
        place.nonsense


SHAPES = [
    ("L.Conv2D(2, 3)", (1, 5, 5, 3), (1, 3, 3, 2)),
    ("L.Conv2D(2, (3, 2), strides=2, padding='same')", (1, 5, 5, 3), (1, 3, 3, 2)),
    ("L.Conv2D(filters=4, kernel_size=3, strides=(1, 2), padding='valid')", (2, 5, 7, 1), (2, 3, 3, 4)),
    ("L.Flatten()", (2, 3, 4), (2, 12)),
    ("L.Flatten()", (2,), (2, 1)),
    ("L.Dense(5)", (2, 3, 4), (2, 3, 5)),
]


@pytest.mark.parametrize("expression, given, expected", SHAPES)
def test_shapes(tf, expression, given, expected):
    layer = eval(expression, {"L": tf.keras.layers})
    assert layer(tf.ones(given)).shape == expected


def test_dropout_in_training(tf):
    x = tf.ones((100, 100))
    layer = tf.keras.layers.Dropout(0.25)
    assert layer(x).numpy().tolist() == x.numpy().tolist()
    assert layer(x, training=False).numpy().tolist() == x.numpy().tolist()
    dropped = layer(x, training=True).numpy()
    assert set(dropped.ravel().tolist()) == {0.0, float(np.float32(1 / 0.75))}
    assert 0.2 < (dropped == 0).mean() < 0.3
    assert (dropped != layer(x, training=True).numpy()).any()


def test_the_gradient_through_dropout_has_its_mask(tf):
    x = tf.Variable(tf.ones(1000))
    with tf.GradientTape() as tape:
        y = tf.keras.layers.Dropout(0.5)(x, training=True)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), y.numpy())
    with tf.GradientTape() as tape:
        y = tf.nn.dropout(x, rate=0.5)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), y.numpy())


def test_the_weights_of_batch_normalization(tf):
    layer = tf.keras.layers.BatchNormalization()
    layer(tf.ones((2, 3)))
    assert names(layer.weights) == ["gamma", "beta", "moving_mean", "moving_variance"]
    assert names(layer.trainable_weights) == ["gamma", "beta"]
    assert names(layer.non_trainable_weights) == ["moving_mean", "moving_variance"]
    assert layer.moving_mean.numpy().tolist() == [0.0] * 3
    assert layer.moving_variance.numpy().tolist() == [1.0] * 3


def test_batch_normalization_does_not_learn_at_inference(tf):
    layer = tf.keras.layers.BatchNormalization()
    layer(tf.constant([[1.0, 2.0], [3.0, 5.0]]))
    assert layer.moving_mean.numpy().tolist() == [0.0, 0.0]
    layer(tf.constant([[1.0, 2.0], [3.0, 5.0]]), training=True)
    np.testing.assert_allclose(layer.moving_mean.numpy(), [0.02, 0.035], rtol=1e-5)


def test_a_tape_watches_the_weights_of_a_layer(tf):
    layer = tf.keras.layers.Dense(2)
    with tf.GradientTape() as tape:
        y = layer(tf.ones((1, 3)))
    assert len(tape.watched_variables()) == 2
    assert [g.shape for g in tape.gradient(y, layer.trainable_variables)] == [(3, 2), (2,)]


def test_a_tape_that_watches_nothing_by_itself(tf):
    layer = tf.keras.layers.Dense(2)
    x = tf.ones((1, 3))
    with tf.GradientTape(watch_accessed_variables=False, persistent=True) as tape:
        tape.watch(x)
        y = layer(x)
    assert tape.gradient(y, layer.kernel) is None
    assert tape.gradient(y, x).shape == (1, 3)


# ------------------------------------------------------------------------------------------------------------ models


def network(tf):
    layers = tf.keras.layers
    return tf.keras.Sequential([layers.Dense(3, activation="tanh"), layers.Dense(1)])


def test_a_sequential_model(tf):
    model = network(tf)
    assert [type(layer).__name__ for layer in model.layers] == ["Dense", "Dense"]
    assert model.weights == []
    assert model(tf.ones((2, 4))).shape == (2, 1)
    assert names(model.trainable_variables) == ["kernel", "bias", "kernel", "bias"]
    assert [w.shape for w in model.get_weights()] == [(4, 3), (3,), (3, 1), (1,)]


def test_adding_layers(tf):
    model = tf.keras.models.Sequential()
    model.add(tf.keras.layers.Dense(3))
    model.add(tf.keras.layers.ReLU())
    assert len(model.layers) == 2
    assert (model(tf.ones((2, 4))).numpy() >= 0).all()


def test_a_sequential_model_with_an_input(tf):
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3)])
    assert [w.shape for w in model.get_weights()] == [(4, 3), (3,)]
    assert len(model.layers) == 1


def subclass(tf):
    class Network(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.first = tf.keras.layers.Dense(4)
            self.blocks = [tf.keras.layers.Dense(3), tf.keras.layers.BatchNormalization()]
            self.calls = []

        def call(self, x, training=False):
            self.calls.append(training)
            x = self.first(x)
            for block in self.blocks:
                x = block(x)
            return x

    return Network()


def test_a_model_is_built_for_a_shape(tf):
    model = network(tf)
    v = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        model.build((None, 4))
        y = v * v
    assert model.built and [w.shape for w in model.get_weights()] == [(4, 3), (3,), (3, 1), (1,)]
    assert [x.name for x in tape.watched_variables()] == [v.name] and float(tape.gradient(y, v)) == 2.0


def test_random_weights_follow_the_seed(tf):
    def kernel():
        tf.random.set_seed(3)
        layer = tf.keras.layers.Dense(2)
        layer(tf.ones((1, 3)))
        return layer.kernel.numpy().tolist()

    assert kernel() == kernel()
    same = tf.keras.initializers.GlorotUniform()
    assert same((2, 2)).numpy().tolist() == same((2, 2)).numpy().tolist()


def test_the_weights_of_a_subclass(tf):
    model = subclass(tf)
    model(tf.ones((2, 5)))
    assert names(model.trainable_variables) == ["kernel", "bias", "kernel", "bias", "gamma", "beta"]
    assert names(model.non_trainable_variables) == ["moving_mean", "moving_variance"]
    assert len(model.weights) == 8
    assert [type(layer).__name__ for layer in model.layers] == ["Dense", "Dense", "BatchNormalization"]


def test_training_is_handed_to_call_and_to_the_layers_in_it(tf):
    model = subclass(tf)
    x = tf.constant(np.arange(10.0, dtype=np.float32).reshape(2, 5))
    model(x)
    assert model.calls[-1] is False
    before = model.blocks[1].moving_mean.numpy().tolist()
    model(x, training=True)
    assert model.calls[-1] is True
    assert model.blocks[1].moving_mean.numpy().tolist() != before


def test_a_frozen_layer(tf):
    model = network(tf)
    model(tf.ones((2, 4)))
    model.layers[0].trainable = False
    assert len(model.trainable_variables) == 2
    assert len(model.non_trainable_variables) == 2
    with tf.GradientTape() as tape:
        y = model(tf.ones((2, 4)))
    assert [g.shape for g in tape.gradient(y, model.trainable_variables)] == [(3, 1), (1,)]


def test_models_are_differentiated_by_their_input(tf):
    model = network(tf)
    x = tf.Variable(tf.ones((2, 4)))
    with tf.GradientTape() as tape:
        y = model(x)
    gradient = tape.gradient(y, x)
    step = np.zeros((2, 4), np.float32)
    step[1, 2] = 1e-2
    difference = float(tf.reduce_sum(model(x + step) - model(x - step))) / 2e-2
    assert float(gradient[1, 2]) == pytest.approx(difference, abs=2e-3)


# -------------------------------------------------------------------------------------------------------- optimizers


def test_apply_gradients_takes_a_zip(tf):
    optimizer, v = tf.keras.optimizers.SGD(0.1), tf.Variable([1.0, 2.0])
    optimizer.apply_gradients(zip([tf.ones(2)], [v]))
    np.testing.assert_allclose(v.numpy(), [0.9, 1.9], rtol=1e-6)
    assert int(optimizer.iterations) == 1


def test_gradients_of_none_are_left_out(tf):
    optimizer, v, w = tf.keras.optimizers.SGD(0.1), tf.Variable(1.0), tf.Variable(2.0)
    optimizer.apply_gradients([(tf.constant(1.0), v), (None, w)])
    assert float(v) == pytest.approx(0.9) and float(w) == 2.0


def test_the_attributes_of_optimizers(tf):
    optimizers = tf.keras.optimizers
    assert float(optimizers.SGD().learning_rate) == pytest.approx(0.01)
    assert float(optimizers.Adam().learning_rate) == pytest.approx(0.001)
    assert optimizers.SGD(0.1, momentum=0.9, nesterov=True).momentum == 0.9
    adam = optimizers.Adam(learning_rate=0.5)
    assert (adam.beta_1, adam.beta_2, adam.epsilon) == (0.9, 0.999, 1e-7)


def test_the_learning_rate_may_be_assigned(tf):
    optimizer, v = tf.keras.optimizers.SGD(0.1), tf.Variable(1.0)
    optimizer.learning_rate.assign(0.5)
    optimizer.apply_gradients([(tf.constant(1.0), v)])
    assert float(v) == 0.5
    optimizer.learning_rate = 0.25
    assert float(optimizer.learning_rate) == 0.25
    optimizer.apply_gradients([(tf.constant(1.0), v)])
    assert float(v) == 0.25


def test_training_reaches_a_minimum(tf):
    x = np.linspace(-1, 1, 64, dtype=np.float32)[:, None]
    targets = 3.0 * x + 0.5
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam(0.1)
    loss_function = tf.keras.losses.MeanSquaredError()
    for _ in range(150):
        with tf.GradientTape() as tape:
            loss = loss_function(targets, model(x))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    assert float(loss) < 1e-3
    assert float(model.layers[0].kernel.numpy()[0, 0]) == pytest.approx(3.0, abs=0.05)


def test_a_table_is_trained_by_its_slices(tf):
    table, optimizer = tf.Variable(tf.ones((4, 2))), tf.keras.optimizers.SGD(1.0)
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(tf.gather(table, [1, 1, 3]))
    optimizer.apply_gradients([(tape.gradient(total, table), table)])
    assert table.numpy().tolist() == [[1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [0.0, 0.0]]


# ---------------------------------------------------------------------------------------------------- IndexedSlices


def gathered(tf):
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        y = tf.gather(table, [0, 0, 2]) * 2.0
    return table, tape.gradient(y, table)


def test_gather_on_a_variable_gives_indexed_slices(tf):
    _, gradient = gathered(tf)
    assert isinstance(gradient, tf.IndexedSlices)
    assert type(gradient).__name__ == "IndexedSlices"
    assert gradient.indices.numpy().tolist() == [0, 0, 2]
    assert gradient.values.numpy().tolist() == [[2.0, 2.0]] * 3
    assert gradient.dense_shape.numpy().tolist() == [3, 2]
    assert gradient.shape == (3, 2)
    assert gradient.dtype == tf.float32


def test_indexed_slices_become_a_tensor(tf):
    _, gradient = gathered(tf)
    expected = [[4.0, 4.0], [0.0, 0.0], [2.0, 2.0]]
    assert tf.convert_to_tensor(gradient).numpy().tolist() == expected
    assert float(tf.reduce_sum(gradient)) == 12.0


def test_indexed_slices_are_subtracted(tf):
    table, gradient = gathered(tf)
    table.assign_sub(gradient)
    assert table.numpy().tolist() == [[-3.0, -2.0], [3.0, 4.0], [3.0, 4.0]]


def test_a_slice_of_a_variable_gives_a_dense_tensor(tf):
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = table[0]
    gradient = tape.gradient(y, table)
    assert isinstance(gradient, tf.Tensor)
    assert gradient.numpy().tolist() == [[1.0, 1.0], [0.0, 0.0]]


def test_gather_of_a_computed_tensor_behind_a_variable_gives_a_dense_tensor(tf):
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.gather(table * 1.0, [0, 0])
    gradient = tape.gradient(y, table)
    assert isinstance(gradient, tf.Tensor)
    assert gradient.numpy().tolist() == [[2.0, 2.0], [0.0, 0.0]]


def test_gather_beside_another_path_is_dense(tf):
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(table, [1])) + tf.reduce_sum(table)
    assert tf.convert_to_tensor(tape.gradient(y, table)).numpy().tolist() == [[1.0, 1.0], [2.0, 2.0]]
