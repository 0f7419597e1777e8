"""compile, fit, evaluate and predict: the numbers that the real Keras shows, from the same weights and batches."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(50, 4)).astype(np.float32)
Y = (X[:, :1] * 2 - X[:, 1:2] + 0.3).astype(np.float32)
CLASSES = (X[:, 0] > 0).astype(np.int64) + (X[:, 1] > 0)


def network(tf: ModuleType, outputs: int, activation: str | None = None, **options: Any) -> Any:
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [tf.keras.Input((4,)), layers.Dense(3, activation="tanh", **options), layers.Dense(outputs, activation)]
    )
    random = np.random.default_rng(1)
    model.set_weights([(0.5 * random.normal(size=w.shape)).astype(np.float32) for w in model.get_weights()])
    return model


def assert_history(history: Any, expected: dict[str, list[float]]) -> None:
    assert set(history.history) == set(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(history.history[name], values, rtol=3e-6, err_msg=name)


def test_regression(tf: ModuleType) -> None:
    model = network(tf, 1)
    model.compile(optimizer=tf.keras.optimizers.SGD(0.1), loss="mse", metrics=["mae"])
    history = model.fit(
        X, Y, batch_size=16, epochs=3, verbose=0, shuffle=False, validation_data=(X[:20], Y[:20])
    )  # fmt: skip
    assert history.epoch == [0, 1, 2]
    assert_history(history, {
        "loss": [3.9918036, 2.4529319, 0.8668922],
        "mae": [1.6303793, 1.2388468, 0.6025376],
        "val_loss": [2.8453178, 1.2153378, 0.4491567],
        "val_mae": [1.3069112, 0.7656937, 0.3863520],
    })  # fmt: skip
    np.testing.assert_allclose(model.evaluate(X, Y, verbose=0), [0.4068829, 0.3694628], rtol=3e-6)
    found = model.evaluate(X, Y, batch_size=7, verbose=0, return_dict=True)
    assert found == {"loss": pytest.approx(0.4068829, rel=3e-6), "mae": pytest.approx(0.3694628, rel=3e-6)}
    assert model.predict(X, verbose=0).sum() == pytest.approx(16.70787, rel=3e-6)


def test_classes_with_a_penalty_and_a_part_for_validation(tf: ModuleType) -> None:
    model = network(tf, 3, kernel_regularizer="l2")
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer="adam", loss=loss, metrics=["accuracy"])
    history = model.fit(X, CLASSES, epochs=2, verbose=0, shuffle=False, validation_split=0.2)
    assert_history(history, {
        "loss": [1.2354624, 1.2320139], "accuracy": [0.225, 0.225],
        "val_loss": [1.2449118, 1.2413710], "val_accuracy": [0.2, 0.2],
    })  # fmt: skip


def test_two_classes(tf: ModuleType) -> None:
    model = network(tf, 1, "sigmoid")
    model.compile(optimizer="rmsprop", loss="binary_crossentropy", metrics=["accuracy"])
    history = model.fit(X, (CLASSES > 0).astype(np.float32), epochs=2, verbose=0, shuffle=False)
    assert_history(history, {"loss": [0.8736202, 0.8686602], "accuracy": [0.22, 0.22]})


def test_classes_as_rows_and_single_batches(tf: ModuleType) -> None:
    model, rows = network(tf, 3, "softmax"), tf.keras.utils.to_categorical(CLASSES)
    metrics = ["accuracy", tf.keras.metrics.CategoricalCrossentropy(name="cc")]
    model.compile(optimizer="sgd", loss="categorical_crossentropy", metrics=metrics)
    history = model.fit(X, rows, epochs=2, verbose=0, shuffle=False)
    entropy = [1.2254351, 1.2192740]
    assert_history(history, {"loss": entropy, "cc": entropy, "accuracy": [0.22, 0.22]})
    np.testing.assert_allclose(model.train_on_batch(X[:8], rows[:8]), [1.2918861, 0.125, 1.2918861], rtol=3e-6)
    found = model.train_on_batch(X[:8], rows[:8], return_dict=True)
    assert found["loss"] == pytest.approx(1.2868431, rel=3e-6) and set(found) == {"loss", "accuracy", "cc"}


def test_weights_of_rows(tf: ModuleType) -> None:
    model = network(tf, 1)
    model.compile(optimizer=tf.keras.optimizers.SGD(0.1), loss="mse")
    weights = np.linspace(0, 1, 50)
    history = model.fit(X, Y, batch_size=16, epochs=2, verbose=0, shuffle=False, sample_weight=weights)
    assert_history(history, {"loss": [2.2272220, 1.6820296]})
    assert model.evaluate(X, Y, verbose=0) == pytest.approx(2.3365035, rel=3e-6)


def test_a_step_of_ones_own(tf: ModuleType) -> None:
    class Model(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.last = tf.keras.layers.Dense(1, kernel_initializer="zeros")

        def call(self, x: Any) -> Any:
            return self.last(x)

        def train_step(self, data: Any) -> dict[str, Any]:
            x, y = data
            with tf.GradientTape() as tape:
                loss = self.compute_loss(x=x, y=y, y_pred=self(x, training=True))
            self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
            return {"mine": loss}

    model = Model()
    model.compile(optimizer="sgd", loss="mse")
    assert_history(model.fit(X, Y, epochs=2, verbose=0, shuffle=False), {"mine": [3.7128139, 3.4594464]})


def test_batches_of_a_dataset(tf: ModuleType) -> None:
    model, other = network(tf, 1), network(tf, 1)
    for m in (model, other):
        m.compile(optimizer="sgd", loss="mse")
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(16)
    by_arrays = model.fit(X, Y, batch_size=16, epochs=2, verbose=0, shuffle=False)
    assert_history(other.fit(data, epochs=2, verbose=0), by_arrays.history)
    assert other.predict(X[:3], verbose=0).shape == (3, 1)


def test_a_line_for_each_epoch(tf: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    model = network(tf, 1)
    model.compile(optimizer="sgd", loss="mse")
    model.fit(X, Y, epochs=2, verbose=2)
    printed = capsys.readouterr().out
    assert "Epoch 1/2" in printed and "Epoch 2/2" in printed and "loss: " in printed


def test_a_model_that_is_not_compiled(tf: ModuleType) -> None:
    with pytest.raises(ValueError, match=r"You must call `compile\(\)` before using the model"):
        network(tf, 1).fit(X, Y)


def test_a_step_of_ones_own_that_collects_the_metrics_itself(tf: ModuleType) -> None:
    # The metrics are there before the first batch: a loop over them must not find the loss alone.
    class Model(tf.keras.Model):  # type: ignore[misc, name-defined]
        def train_step(self, data: Any) -> dict[str, Any]:
            x, y = data
            y_pred = self(x, training=True)
            for metric in self.metrics:
                if metric.name == "loss":
                    metric.update_state(self.compute_loss(y=y, y_pred=y_pred))
                else:
                    metric.update_state(y, y_pred)
            return {metric.name: metric.result() for metric in self.metrics}

    inputs = tf.keras.layers.InputLayer(input_shape=(4,))
    assert inputs.batch_shape == (None, 4)
    x = tf.keras.Input((4,))
    model = Model(x, tf.keras.layers.Dense(3, kernel_initializer="zeros")(x))
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("sgd", loss, metrics=["accuracy"])
    history = model.fit(X, CLASSES, epochs=1, verbose=0).history
    # All logits are 0, and the first of equal ones counts.
    assert history["accuracy"] == [pytest.approx(np.mean(CLASSES == 0))]
    assert history["loss"] == [pytest.approx(np.log(3), rel=1e-6)]
