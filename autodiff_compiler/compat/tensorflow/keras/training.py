"""Training loops for models: `compile`, `fit`, `evaluate`, `predict`."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ....tape.nest import flatten, map_nested, pack_like
from ... import tensorflow as tf
from . import metrics as keras_metrics
from . import optimizers
from .batches import Batches, length_of, packed, split, unpack
from .callbacks import CallbackList, History, numbers
from .compiled import CompiledLoss, CompiledMetrics
from .layer import Layer
from .metrics_base import Metric

NOT_COMPILED = "You must call `compile()` before using the model."
_WITHOUT_EFFECT = {"run_eagerly", "jit_compile", "steps_per_execution", "auto_scale_loss"}


class Trainer(Layer):
    """What models have beyond layers: a loss, metrics and an optimizer, and loops over batches with them."""

    optimizer: Any = None
    loss: Any = None
    compiled = False
    stop_training = False
    _loss: CompiledLoss | None = None
    _compiled_metrics: CompiledMetrics | None = None
    _tracker: Any = None

    @property
    def _output_names(self) -> list[str] | None:
        """What the outputs are called, where that is known before they are there."""
        return None

    def compile(
        self, optimizer: Any = "rmsprop", loss: Any = None, loss_weights: Any = None, metrics: Any = None,
        weighted_metrics: Any = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        """Say what `fit` does: optimizer, loss and metrics are names or objects; "accuracy" is the kind of accuracy
        that goes with the shapes.

        A model of several outputs takes one loss for all, a list of them, or a mapping from the outputs' names; the
        same holds for `loss_weights`, factors of the losses, and for lists of metrics. `weighted_metrics` get the
        sample weights.

        Raises ValueError for other arguments than these (but `run_eagerly`, `jit_compile` and `steps_per_execution`,
        which have no effect).
        """
        if unknown := set(kwargs) - _WITHOUT_EFFECT:
            raise ValueError(f"compile takes optimizer, loss, metrics and weights, not {', '.join(sorted(unknown))}")
        self.optimizer = optimizers.get(optimizer)
        self.loss, self.compiled = loss, True
        self._loss = None if loss is None else CompiledLoss(loss, loss_weights, self._output_names)
        some = metrics or weighted_metrics
        self._compiled_metrics = CompiledMetrics(metrics, weighted_metrics, self._output_names) if some else None
        self._tracker = keras_metrics.Mean(name="loss")

    @property
    def metrics(self) -> list[Metric]:
        """The loss' mean, the metrics of `compile` as one object, the losses of several outputs, and metrics among the
        attributes of the model and its layers."""
        out: list[Any] = [self._tracker, self._compiled_metrics]
        out += [] if self._loss is None else self._loss.trackers
        for layer in self._flatten_layers():
            if layer is self or not isinstance(layer, Trainer):
                out += [m for name, m in vars(layer).items() if isinstance(m, Metric) and not name.startswith("_")]
        return [m for m in out if m is not None]

    @property
    def metrics_names(self) -> list[str]:
        return [m.name for m in self.metrics]

    def reset_metrics(self) -> None:
        """Forget what the metrics collected."""
        for metric in self.metrics:
            metric.reset_state()

    # --- one batch ------------------------------------------------------------------------------------------------

    def compute_loss(
        self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None, training: bool = True
    ) -> Any:  # fmt: skip
        """The compiled loss, plus the penalties in `losses`."""
        if self._loss is None and not self.losses:
            raise ValueError("No loss to compute. Provide a `loss` argument in `compile()`.")
        parts = [] if self._loss is None else [self._loss(y, y_pred, sample_weight)]
        parts += self.losses
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total

    def _own_loss(self, x: Any, y: Any, y_pred: Any, weight: Any, training: bool) -> Any:
        takes = "training" in inspect.signature(self.compute_loss).parameters
        given = {"training": training} if takes else {}
        return self.compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=weight, **given)

    def train_step(self, data: Any) -> dict[str, Any]:
        """One step of training on one batch ``(x, y)`` or ``(x, y, sample_weight)``; the numbers to show."""
        x, y, weight = unpack(data)
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self._own_loss(x, y, y_pred, weight, training=True)
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return self._collect(loss, x, y, y_pred, weight)

    def test_step(self, data: Any) -> dict[str, Any]:
        """The numbers to show for one batch, without training."""
        x, y, weight = unpack(data)
        y_pred = self(x, training=False)
        return self._collect(self._own_loss(x, y, y_pred, weight, training=False), x, y, y_pred, weight)

    def predict_step(self, data: Any) -> Any:
        """The result for one batch."""
        return self(unpack(data)[0], training=False)

    def _collect(self, loss: Any, x: Any, y: Any, y_pred: Any, weight: Any) -> dict[str, Any]:
        self._tracker.update_state(loss, sample_weight=float(length_of(x)))
        return self.compute_metrics(x, y, y_pred, weight)

    def compute_metrics(self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None) -> dict[str, Any]:
        """Collect a batch in the metrics; all results by name."""
        if self._compiled_metrics is not None:
            self._compiled_metrics.update_state(y, y_pred, sample_weight)
        return self.get_metrics_result()

    def get_metrics_result(self) -> dict[str, Any]:
        """The metrics' results by name."""
        out: dict[str, Any] = {}
        for metric in self.metrics:
            result = metric.result()
            out.update(result if isinstance(result, dict) else {metric.name: result})
        return out

    # --- many batches ---------------------------------------------------------------------------------------------

    def fit(
        self, x: Any = None, y: Any = None, batch_size: int | None = None, epochs: int = 1, verbose: Any = "auto",
        callbacks: Any = None, validation_split: float = 0.0, validation_data: Any = None, shuffle: bool = True,
        class_weight: Any = None, sample_weight: Any = None, initial_epoch: int = 0,
        steps_per_epoch: int | None = None, validation_steps: int | None = None,
        validation_batch_size: int | None = None, validation_freq: Any = 1,
    ) -> History:  # fmt: skip
        """Train: `epochs` times over the data, in batches of `batch_size` (32 by default), shuffled each time.

        x, y: arrays or tensors, lists of them or mappings from names, or x alone something that can be iterated over
        again and again and gives batches. class_weight: for the number of a class the weight of its rows.
        validation_data: ``(x, y)`` or batches, evaluated after each epoch, or after each `validation_freq` of them;
        validation_split: that part of the data, from its end. callbacks: objects of `keras.callbacks`.
        steps_per_epoch: how many batches an epoch has. verbose: 0 prints nothing, anything else a line for each epoch.

        Raises ValueError for a model that is not compiled.
        """
        if self.optimizer is None:
            raise ValueError(NOT_COMPILED)
        if validation_split and validation_data is None:
            (x, y, sample_weight), validation_data = split(x, y, sample_weight, validation_split)
        data = Batches(x, y, sample_weight, batch_size, shuffle, steps_per_epoch, class_weight)
        self.history = History()
        around = CallbackList(callbacks, self, epochs=epochs, steps=data.count, verbose=verbose)
        around.append(self.history)
        self.stop_training = False
        around.at("train_begin")
        shown: dict[str, Any] = {}
        for epoch in range(initial_epoch, epochs):
            self.reset_metrics()
            around.at("epoch_begin", epoch)
            logs: dict[str, Any] = {}
            for step, batch in enumerate(data):
                around.at("train_batch_begin", step)
                logs = self.train_step(batch)
                around.at("train_batch_end", step, logs=numbers(logs))
                if self.stop_training:
                    break
            if validation_data is not None and _due(epoch, validation_freq):
                held_x, held_y, held_weight = unpack(validation_data)
                size = validation_batch_size or batch_size
                found = self._evaluated(Batches(held_x, held_y, held_weight, size, steps=validation_steps), around)
                logs = {**logs, **{f"val_{name}": value for name, value in found.items()}}
            shown = numbers(logs)
            around.at("epoch_end", epoch, logs=shown)
            if verbose:
                print(f"Epoch {epoch + 1}/{epochs}: " + _line(shown))
            if self.stop_training:
                break
        if epochs > initial_epoch:
            self.optimizer.finalize_variable_values(self.trainable_variables)
        around.at("train_end", logs=shown)
        return self.history

    def evaluate(
        self, x: Any = None, y: Any = None, batch_size: int | None = None, verbose: Any = "auto",
        sample_weight: Any = None, steps: int | None = None, callbacks: Any = None, return_dict: bool = False,
    ) -> Any:  # fmt: skip
        """The loss, and the metrics if there are any, over the data: a number, a list, or a dict by name."""
        if self._tracker is None:
            raise ValueError(NOT_COMPILED)
        data = Batches(x, y, sample_weight, batch_size, steps=steps)
        around = CallbackList(callbacks, self, steps=data.count, verbose=verbose)
        shown = self._evaluated(data, around)
        if verbose:
            print(_line(shown))
        return shown if return_dict else self._in_order(shown)

    def _evaluated(self, data: Batches, around: CallbackList) -> dict[str, Any]:
        self.reset_metrics()
        logs: dict[str, Any] = {}
        around.at("test_begin")
        for step, batch in enumerate(data):
            around.at("test_batch_begin", step)
            logs = self.test_step(batch)
            around.at("test_batch_end", step, logs=numbers(logs))
        around.at("test_end", logs=numbers(logs))
        return numbers(logs)

    def _in_order(self, logs: dict[str, Any]) -> Any:
        """The numbers in the order of the metrics, then others by name; one alone is not in a list."""
        order = [part.name for m in self.metrics for part in getattr(m, "metrics", [m])]
        values = [logs[name] for name in order if name in logs]
        values += [logs[name] for name in sorted(logs) if name not in order]
        return values[0] if len(values) == 1 else values

    def predict(
        self, x: Any, batch_size: int | None = None, verbose: Any = "auto", steps: int | None = None,
        callbacks: Any = None,
    ) -> Any:  # fmt: skip
        """The results for all rows of `x`, as arrays, computed in batches."""
        data = Batches(x, size=batch_size, steps=steps)
        around = CallbackList(callbacks, self, steps=data.count, verbose=verbose)
        around.at("predict_begin")
        parts: list[Any] = []
        for step, batch in enumerate(data):
            around.at("predict_batch_begin", step)
            parts.append(map_nested(lambda t: t.numpy(), self.predict_step(batch)))
            around.at("predict_batch_end", step, logs={"outputs": parts[-1]})
        around.at("predict_end")
        return pack_like(parts[0], [np.concatenate(column) for column in zip(*[flatten(p) for p in parts])])

    def train_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, class_weight: Any = None, return_dict: bool = False
    ) -> Any:
        """One step of training; the loss, and the metrics if there are any."""
        if self.optimizer is None:
            raise ValueError(NOT_COMPILED)
        return self._batch(self.train_step, x, y, sample_weight, class_weight, return_dict)

    def test_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False) -> Any:
        """The loss, and the metrics if there are any, for one batch."""
        if self._tracker is None:
            raise ValueError(NOT_COMPILED)
        return self._batch(self.test_step, x, y, sample_weight, None, return_dict)

    def _batch(self, step: Any, x: Any, y: Any, weight: Any, class_weight: Any, return_dict: bool) -> Any:
        whole = Batches(x, y, weight, length_of(packed(x)), class_weight=class_weight)
        self.reset_metrics()
        logs = numbers(step(next(iter(whole))))
        return logs if return_dict else self._in_order(logs)

    def predict_on_batch(self, x: Any) -> Any:
        """The result for one batch, as arrays."""
        return map_nested(lambda t: t.numpy(), self(x, training=False))


def _due(epoch: int, frequency: Any) -> bool:
    """Whether there is an evaluation after this epoch."""
    return epoch + 1 in frequency if isinstance(frequency, (list, tuple, set)) else (epoch + 1) % frequency == 0


def _line(logs: dict[str, Any]) -> str:
    return " - ".join(f"{name}: {value:.4f}" for name, value in logs.items() if isinstance(value, float))
