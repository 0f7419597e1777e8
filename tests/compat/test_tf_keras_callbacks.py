"""When callbacks are called, with what, and what those that come with Keras do; weights in files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(6, 2)
Y = X.sum(1, keepdims=True)


def network(tf: Any, rate: float = 0.1) -> Any:
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile(tf.keras.optimizers.SGD(rate), "mse", metrics=["mae"])
    return model


def test_the_order_of_the_calls(tf):
    calls = []

    class Show(tf.keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            calls.append("train")

        def on_epoch_begin(self, epoch, logs=None):
            calls.append(f"epoch {epoch}")

        def on_train_batch_end(self, batch, logs=None):
            calls.append(f"batch {batch} {sorted(logs)}")

        def on_test_begin(self, logs=None):
            calls.append("test")

        def on_test_batch_end(self, batch, logs=None):
            calls.append(f"test batch {batch}")

        def on_test_end(self, logs=None):
            calls.append(f"tested {sorted(logs)}")

        def on_epoch_end(self, epoch, logs=None):
            calls.append(f"end {epoch} {list(logs)}")

        def on_train_end(self, logs=None):
            calls.append(f"end {list(logs)}")

        def on_predict_batch_end(self, batch, logs=None):
            calls.append(f"predicted {logs['outputs'].shape}")

    model = network(tf)
    model.fit(X, Y, batch_size=3, epochs=1, verbose=0, validation_data=(X, Y), callbacks=[Show()])
    logs = ["loss", "mae", "val_loss", "val_mae"]
    assert calls == [
        "train", "epoch 0", "batch 0 ['loss', 'mae']", "batch 1 ['loss', 'mae']", "test", "test batch 0",
        "test batch 1", "tested ['loss', 'mae']", f"end 0 {logs}", f"end {logs}",
    ]  # fmt: skip
    calls.clear()
    model.predict(X, batch_size=4, verbose=0, callbacks=[Show()])
    model.evaluate(X, Y, verbose=0, callbacks=[Show()])
    assert calls == ["predicted (4, 1)", "predicted (2, 1)", "test", "test batch 0", "tested ['loss', 'mae']"]


def test_stopping_in_an_epoch(tf):
    class Stop(tf.keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            self.model.stop_training = batch == 1

    model = network(tf)
    history = model.fit(X, Y, batch_size=1, epochs=5, verbose=0, callbacks=[Stop()])
    assert history.epoch == [0] and model.optimizer.iterations.numpy() == 2
    assert history is model.history


def test_functions_as_a_callback(tf):
    seen = []
    network(tf).fit(
        X, Y, epochs=2, verbose=0,
        callbacks=[tf.keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append(epoch))],
    )  # fmt: skip
    assert seen == [0, 1]


def test_a_loss_that_is_not_a_number_ends_training(tf):
    model = network(tf)
    bad = np.where(X > 0.9, np.nan, X)
    stop = tf.keras.callbacks.TerminateOnNaN()
    assert len(model.fit(bad, Y, epochs=4, verbose=0, shuffle=False, callbacks=[stop]).epoch) == 1


def test_what_early_stopping_cannot_know(tf):
    early = tf.keras.callbacks.EarlyStopping(monitor="val_nothing")
    with pytest.raises(ValueError, match="isn't able to automatically determine whether that metric should be max"):
        network(tf).fit(X, Y, verbose=0, callbacks=[early])
    with pytest.raises(ValueError, match="ReduceLROnPlateau does not support a factor >= 1.0"):
        tf.keras.callbacks.ReduceLROnPlateau(factor=2.0)


def test_accuracy_is_better_when_higher(tf):
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(2, "softmax", kernel_initializer="zeros")])
    model.compile(tf.keras.optimizers.SGD(0.0), "sparse_categorical_crossentropy", metrics=["accuracy"])
    early = tf.keras.callbacks.EarlyStopping(monitor="accuracy", patience=2)
    assert len(model.fit(X, np.zeros(6), epochs=9, verbose=0, callbacks=[early]).epoch) == 3


def test_weights_in_files(tf, tmp_path):
    model = network(tf)
    model.fit(X, Y, epochs=2, verbose=0)
    path = tmp_path / "some.weights.h5"
    model.save_weights(path)
    other = network(tf)
    other.load_weights(str(path))
    np.testing.assert_array_equal(other.get_weights()[0], model.get_weights()[0])
    with pytest.raises(ValueError, match=r"The filename must end in `.weights.h5`"):
        model.save_weights(tmp_path / "some")
    wider = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
    with pytest.raises(ValueError, match="shape"):
        wider.load_weights(path)


def test_the_best_weights_in_a_file(tf, tmp_path):
    path = str(tmp_path / "inner" / "{epoch:02d}.weights.h5")
    keep = tf.keras.callbacks.ModelCheckpoint(path, monitor="loss", save_best_only=True, save_weights_only=True)
    network(tf, 0.0).fit(X, Y, epochs=3, verbose=0, shuffle=False, callbacks=[keep])
    assert [p.name for p in (tmp_path / "inner").iterdir()] == ["01.weights.h5"]
    every = tf.keras.callbacks.ModelCheckpoint(path, save_weights_only=True, save_freq=2)
    network(tf).fit(X, Y, batch_size=2, epochs=2, verbose=0, callbacks=[every])
    assert {p.name for p in (tmp_path / "inner").iterdir()} == {"01.weights.h5", "02.weights.h5"}
    with pytest.raises(ValueError, match=r"must end in `.weights.h5`"):
        tf.keras.callbacks.ModelCheckpoint("x", save_weights_only=True)


def test_a_line_for_each_epoch_in_a_file(tf, tmp_path):
    path = str(tmp_path / "log.csv")
    model = network(tf)
    history = model.fit(X, Y, epochs=2, verbose=0, callbacks=[tf.keras.callbacks.CSVLogger(path)]).history
    lines = [row.split(",") for row in (tmp_path / "log.csv").read_text().split()]
    assert lines[0] == ["epoch", "loss", "mae", "val_loss", "val_mae"] and lines[1][3:] == ["NA", "NA"]
    assert [row[0] for row in lines[1:]] == ["0", "1"]
    np.testing.assert_allclose([float(row[1]) for row in lines[1:]], history["loss"], rtol=1e-6)


def test_inputs_go_to_their_names(tf):
    a, b = tf.keras.Input((1,), name="zebra"), tf.keras.Input((1,), name="ant")
    model = tf.keras.Model([a, b], a * 10.0 + b)
    assert model.predict({"ant": np.ones((2, 1)), "zebra": np.full((2, 1), 2.0)}, verbose=0).tolist() == [[21.0]] * 2


def test_optimizers_are_made_again_from_their_configuration(tf):
    optimizer = tf.keras.optimizers.Adam(0.25, beta_1=0.5, clipnorm=1.0)
    config = optimizer.get_config()
    assert config["beta_1"] == 0.5 and config["learning_rate"] == 0.25 and config["clipnorm"] == 1.0
    again = tf.keras.optimizers.Adam.from_config(config)
    assert again.beta_1 == 0.5 and float(again.learning_rate) == 0.25


def test_what_a_layer_gave_is_not_known_before_it_was_called(tf):
    with pytest.raises(AttributeError, match="has never been called and thus has no defined output"):
        tf.keras.layers.Dense(2, name="alone").output


def test_class_weights_and_sample_weights_exclude_each_other(tf):
    with pytest.raises(ValueError, match="at the same time"):
        network(tf).fit(X, Y, sample_weight=np.ones(6), class_weight={0: 1.0}, verbose=0)
