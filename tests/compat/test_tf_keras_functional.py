"""Models made of calls on symbolic inputs."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest


def test_layers_called_on_an_input(tf: ModuleType) -> None:
    inputs = tf.keras.Input(shape=(4,))
    assert tuple(inputs.shape) == (None, 4)
    x = tf.keras.layers.Dense(3, activation="relu")(inputs)
    outputs = tf.keras.layers.Dense(2)(x)
    assert tuple(x.shape) == (None, 3) and tuple(outputs.shape) == (None, 2)
    model = tf.keras.Model(inputs, outputs)
    assert [type(layer).__name__ for layer in model.layers] == ["InputLayer", "Dense", "Dense"]
    assert [tuple(w.shape) for w in model.weights] == [(4, 3), (3,), (3, 2), (2,)]
    assert model.built and model.count_params() == 23 and model.name.startswith("functional")
    value = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    w1, b1, w2, b2 = model.get_weights()
    expected = np.maximum(value @ w1 + b1, 0) @ w2 + b2
    np.testing.assert_allclose(model(tf.constant(value)).numpy(), expected, rtol=1e-5, atol=1e-6)
    assert len(model.inputs) == 1 and model.inputs[0] is inputs and model.outputs[0] is outputs


def test_gradients_go_through(tf: ModuleType) -> None:
    inputs = tf.keras.Input((3,))
    dense = tf.keras.layers.Dense(1, kernel_initializer="ones")
    model = tf.keras.Model(inputs=inputs, outputs=dense(inputs), name="net")
    assert model.name == "net"
    x = tf.constant([[1.0, 2.0, 3.0]])
    with tf.GradientTape() as tape:
        y = model(x) ** 2
    kernel, bias = tape.gradient(y, model.trainable_variables)
    assert kernel.numpy().ravel().tolist() == [12.0, 24.0, 36.0] and bias.numpy().tolist() == [12.0]


def test_several_inputs_and_outputs_and_shared_layers(tf: ModuleType) -> None:
    first, second = tf.keras.Input((2,)), tf.keras.Input((2,))
    shared = tf.keras.layers.Dense(2, kernel_initializer="ones")
    x, y = shared(first), shared(second)
    total = tf.keras.layers.Add()([x, y])
    both = tf.keras.layers.Concatenate()([x, y])
    model = tf.keras.Model([first, second], [total, both])
    assert len(model.weights) == 2
    found = model([tf.ones((1, 2)), 2.0 * tf.ones((1, 2))])
    assert found[0].numpy().tolist() == [[6.0, 6.0]] and found[1].numpy().tolist() == [[2.0, 2.0, 4.0, 4.0]]


def test_arithmetic_and_subscripts(tf: ModuleType) -> None:
    inputs = tf.keras.Input((4,))
    y = (2.0 * inputs + 1.0)[:, :2] - inputs[:, 2:] / 2.0
    model = tf.keras.Model(inputs, y)
    assert tuple(y.shape) == (None, 2)
    assert model(tf.constant([[1.0, 2.0, 4.0, 6.0]])).numpy().tolist() == [[1.0, 2.0]]


def test_images(tf: ModuleType) -> None:
    layers = tf.keras.layers
    inputs = tf.keras.Input((8, 8, 1))
    x = layers.Conv2D(4, 3, activation="relu")(inputs)
    x = layers.MaxPooling2D()(x)
    x = layers.BatchNormalization()(x)
    x = layers.Dropout(0.5)(x)
    outputs = layers.Dense(3)(layers.Flatten()(x))
    assert tuple(x.shape) == (None, 3, 3, 4) and tuple(outputs.shape) == (None, 3)
    model = tf.keras.Model(inputs, outputs)
    assert model(tf.ones((2, 8, 8, 1))).shape == (2, 3)
    assert [v.path.rsplit("/", 1)[-1] for v in model.non_trainable_variables][:2] == ["moving_mean", "moving_variance"]
    assert model.layers[3].moving_variance.numpy().tolist() == [1.0] * 4


def test_a_length_that_is_not_known(tf: ModuleType) -> None:
    inputs = tf.keras.Input((None, 3))
    outputs = tf.keras.layers.Dense(2)(inputs)
    assert tuple(outputs.shape) == (None, None, 2)
    model = tf.keras.Model(inputs, outputs)
    assert model(tf.ones((2, 5, 3))).shape == (2, 5, 2) and model(tf.ones((2, 7, 3))).shape == (2, 7, 2)


def test_a_model_in_a_model_and_training(tf: ModuleType) -> None:
    inputs = tf.keras.Input((3,))
    inner = tf.keras.Model(inputs, tf.keras.layers.BatchNormalization()(inputs))
    outer_inputs = tf.keras.Input((3,))
    model = tf.keras.Model(outer_inputs, tf.keras.layers.Dense(1)(inner(outer_inputs)))
    x = tf.constant(np.arange(12, dtype=np.float32).reshape(4, 3))
    model(x)
    assert not inner.layers[1].moving_mean.numpy().any()
    model(x, training=True)
    assert inner.layers[1].moving_mean.numpy().all()
    assert len(model.trainable_variables) == 4


def test_a_part_of_a_model(tf: ModuleType) -> None:
    inputs = tf.keras.Input((3,))
    hidden = tf.keras.layers.Dense(2, activation="tanh")(inputs)
    outputs = tf.keras.layers.Dense(1)(hidden)
    whole, part = tf.keras.Model(inputs, outputs), tf.keras.Model(inputs, hidden)
    x = tf.ones((2, 3))
    kernel, bias = whole.get_weights()[2:]
    np.testing.assert_allclose(part(x).numpy() @ kernel + bias, whole(x).numpy(), rtol=1e-5)


def test_training_one(tf: ModuleType) -> None:
    x = np.linspace(-1, 1, 32, dtype=np.float32)[:, None]
    inputs = tf.keras.Input((1,))
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(inputs))
    model.compile(optimizer=tf.keras.optimizers.SGD(0.5), loss="mse")
    history = model.fit(x, 2 * x + 1, epochs=40, verbose=0)
    assert history.history["loss"][-1] < 1e-3


def test_outputs_that_need_another_input(tf: ModuleType) -> None:
    first, second = tf.keras.Input((2,)), tf.keras.Input((2,))
    with pytest.raises(ValueError, match="is not connected to `inputs`"):
        tf.keras.Model(first, tf.keras.layers.Add()([first, second]))


@pytest.mark.parametrize("make", [lambda tf, i: tf.keras.Model(i, tf.ones(2)), lambda tf, i: tf.keras.Model(3, i)])
def test_what_is_not_symbolic(tf: ModuleType, make: Any) -> None:
    with pytest.raises(ValueError, match="must be KerasTensors"):
        make(tf, tf.keras.Input((2,)))


def test_sequential_models_are_made_again(tf):
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [tf.keras.Input((3,)), layers.Dense(2, activation="relu", name="q"), layers.Dropout(0.3)]
    )
    for made in (tf.keras.Sequential.from_config(model.get_config()), tf.keras.models.clone_model(model)):
        assert [tuple(w.shape) for w in made.weights] == [(3, 2), (2,)]
        assert made.layers[0].name == "q" and made.layers[0] is not model.layers[0]
    model.pop()
    model.build()
    assert model.built and model.output_shape == (None, 2)


def test_what_optimizers_and_models_say(tf):
    made = tf.keras.optimizers.get({"class_name": "adam", "config": {"learning_rate": 0.25}})
    assert float(made.learning_rate) == 0.25

    class Bare(tf.keras.Model):
        def __init__(self):
            self.dense = tf.keras.layers.Dense(1)

    with pytest.raises(RuntimeError, match=r"you forgot to call `super\(\).__init__\(\)`"):
        Bare()(np.ones((2, 2), np.float32))
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="Data cardinality is ambiguous"):
        model.fit(np.ones((4, 3)), np.ones((3, 2)), verbose=0)


def test_orthogonal_regularizers(tf):
    x = tf.constant([[3.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    rows = tf.keras.regularizers.OrthogonalRegularizer(0.3)(x).numpy()
    np.testing.assert_allclose(rows, 0.3 * 2 * np.sqrt(0.5) / 3, rtol=1e-6)
    columns = tf.keras.regularizers.OrthogonalRegularizer(0.3, mode="columns")(x).numpy()
    np.testing.assert_allclose(columns, 0.3 / np.sqrt(10 * 5), rtol=1e-6)
