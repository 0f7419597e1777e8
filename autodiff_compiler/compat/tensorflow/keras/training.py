"""Training loops for models: `compile`, `fit`, `evaluate`, `predict`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import tensorflow as tf
from . import losses as keras_losses
from . import metrics as keras_metrics
from . import optimizers
from .initializers import generator
from .layer import Layer

if TYPE_CHECKING:
    from .metrics import Metric

NOT_COMPILED = "You must call `compile()` before using the model."


class History:
    """What `fit` returns: `history` has, for each number by its name, a list of its values, one for each epoch."""

    def __init__(self) -> None:
        self.epoch: list[int] = []
        self.history: dict[str, list[float]] = {}

    def add(self, epoch: int, logs: dict[str, float]) -> None:
        self.epoch.append(epoch)
        for name, value in logs.items():
            self.history.setdefault(name, []).append(value)


class Trainer(Layer):
    """What models have beyond layers: a loss, metrics and an optimizer, and loops over batches with them."""

    optimizer: Any = None
    _loss: Any = None
    _compiled: tuple[Metric, ...] = ()
    _tracker: Any = None

    def compile(
        self, optimizer: Any = "rmsprop", loss: Any = None, metrics: Any = None, **kwargs: Any
    ) -> None:  # fmt: skip
        """Say what `fit` does: optimizer, loss and metrics are names or objects; "accuracy" is the kind of accuracy
        that goes with the shapes.

        Raises ValueError for other arguments than these (but `run_eagerly`, `jit_compile` and `steps_per_execution`,
        which have no effect).
        """
        if unknown := set(kwargs) - {"run_eagerly", "jit_compile", "steps_per_execution"}:
            raise ValueError(f"compile takes optimizer, loss and metrics, not {', '.join(sorted(unknown))}")
        self.optimizer = optimizers.get(optimizer)
        self._loss = keras_losses.get(loss)
        self._compiled = tuple(_metric(m) for m in metrics or ())
        self._tracker = keras_metrics.Mean(name="loss")

    @property
    def metrics(self) -> list[Metric]:
        """The loss' mean and the metrics, as objects."""
        return [*([] if self._tracker is None else [self._tracker]), *self._compiled]

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
        parts = list(self.losses)
        if self._loss is not None:
            if isinstance(self._loss, keras_losses.Loss):
                parts.append(self._loss(y, y_pred, sample_weight))
            else:
                rows = self._loss(y, y_pred)
                parts.append(
                    tf.reduce_mean(rows if sample_weight is None else rows * tf.cast(sample_weight, rows.dtype))
                )
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total

    def train_step(self, data: Any) -> dict[str, Any]:
        """One step of training on one batch ``(x, y)`` or ``(x, y, sample_weight)``; the numbers to show."""
        x, y, weight = unpack(data)
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(x, y, y_pred, weight)
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return self._collect(loss, x, y, y_pred, weight)

    def test_step(self, data: Any) -> dict[str, Any]:
        """The numbers to show for one batch, without training."""
        x, y, weight = unpack(data)
        y_pred = self(x, training=False)
        return self._collect(self.compute_loss(x, y, y_pred, weight, training=False), x, y, y_pred, weight)

    def _collect(self, loss: Any, x: Any, y: Any, y_pred: Any, weight: Any) -> dict[str, Any]:
        self._tracker.update_state(loss, sample_weight=float(length_of(x)))
        return self.compute_metrics(x, y, y_pred, weight)

    def compute_metrics(self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None) -> dict[str, Any]:
        """Collect a batch in the metrics; all results by name."""
        for metric in self._compiled:
            metric.update_state(y, y_pred)
        return self.get_metrics_result()

    def get_metrics_result(self) -> dict[str, Any]:
        """The metrics' results by name."""
        return {m.name: m.result() for m in self.metrics}

    # --- many batches ---------------------------------------------------------------------------------------------

    def fit(
        self, x: Any = None, y: Any = None, batch_size: int | None = None, epochs: int = 1, verbose: Any = "auto",
        callbacks: Any = None, validation_split: float = 0.0, validation_data: Any = None, shuffle: bool = True,
        sample_weight: Any = None, initial_epoch: int = 0,
    ) -> History:  # fmt: skip
        """Train: `epochs` times over the data, in batches of `batch_size` (32 by default), shuffled each time.

        x, y: arrays or tensors, or x alone something that can be iterated over again and again and gives batches.
        validation_data: ``(x, y)``, evaluated after each epoch; validation_split: that part of the data, from its end.
        verbose: 0 prints nothing, anything else a line for each epoch.

        Raises ValueError for a model that is not compiled, and for callbacks.
        """
        if self.optimizer is None:
            raise ValueError(NOT_COMPILED)
        if callbacks:
            raise ValueError("fit calls no callbacks here: write the loop over epochs, with fit(epochs=1) in it")
        if validation_split:
            count = int(length_of(x) * (1.0 - validation_split))
            validation_data = (x[count:], y[count:])
            x, y = x[:count], y[:count]
        out = History()
        for epoch in range(initial_epoch, epochs):
            self.reset_metrics()
            logs: dict[str, Any] = {}
            for data in batches(x, y, sample_weight, batch_size, shuffle):
                logs = self.train_step(data)
            if validation_data is not None:
                held_x, held_y, held_weight = unpack(validation_data)
                found = self.evaluate(held_x, held_y, batch_size, 0, held_weight, return_dict=True)
                logs = {**logs, **{f"val_{name}": value for name, value in found.items()}}
            shown = {name: float(value) for name, value in logs.items()}
            out.add(epoch, shown)
            if verbose:
                print(f"Epoch {epoch + 1}/{epochs}: " + " - ".join(f"{k}: {v:.4f}" for k, v in shown.items()))
        return out

    def evaluate(
        self, x: Any = None, y: Any = None, batch_size: int | None = None, verbose: Any = "auto",
        sample_weight: Any = None, return_dict: bool = False,
    ) -> Any:  # fmt: skip
        """The loss, and the metrics if there are any, over the data: a number, a list, or a dict by name."""
        if self._tracker is None:
            raise ValueError(NOT_COMPILED)
        self.reset_metrics()
        logs: dict[str, Any] = {}
        for data in batches(x, y, sample_weight, batch_size, shuffle=False):
            logs = self.test_step(data)
        shown = {name: float(value) for name, value in logs.items()}
        if verbose:
            print(" - ".join(f"{k}: {v:.4f}" for k, v in shown.items()))
        if return_dict:
            return shown
        return next(iter(shown.values())) if len(shown) == 1 else list(shown.values())

    def predict(self, x: Any, batch_size: int | None = None, verbose: Any = "auto") -> Any:
        """The results for all rows of `x`, as an array, computed in batches."""
        parts = [
            self(unpack(data)[0], training=False).numpy() for data in batches(x, None, None, batch_size, shuffle=False)
        ]
        return np.concatenate(parts)

    def train_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False) -> Any:
        """One step of training; the loss, and the metrics if there are any."""
        if self.optimizer is None:
            raise ValueError(NOT_COMPILED)
        self.reset_metrics()
        logs = {name: float(value) for name, value in self.train_step((x, y, sample_weight)).items()}
        return logs if return_dict else next(iter(logs.values())) if len(logs) == 1 else list(logs.values())

    def predict_on_batch(self, x: Any) -> Any:
        """The result for one batch, as an array."""
        return self(x, training=False).numpy()


def unpack(data: Any) -> tuple[Any, Any, Any]:
    """A batch as x, y and weights, of which the last two may be None."""
    parts = tuple(data) if isinstance(data, (tuple, list)) else (data,)
    return (*parts, None, None)[:3]


def length_of(x: Any) -> int:
    return len(x[0]) if isinstance(x, (list, tuple)) and len(x) and hasattr(x[0], "shape") else len(x)


def batches(x: Any, y: Any, weight: Any, size: int | None, shuffle: bool) -> Iterator[Any]:
    """Batches of arrays, in a random order of the rows if `shuffle`; or what `x` gives, if it is no array."""
    if not (hasattr(x, "shape") or isinstance(x, (list, tuple))):
        yield from x
        return
    parts = [np.asarray(p) for p in (x, y, weight) if p is not None]
    if any(len(p) != len(parts[0]) for p in parts):
        raise ValueError(f"x, y and weights have different numbers of rows: {[len(p) for p in parts]}")
    order = np.arange(len(parts[0]))
    if shuffle:
        generator(None).shuffle(order)
    for start in range(0, len(order), size or 32):
        rows = order[start : start + (size or 32)]
        yield tuple([tf.convert_to_tensor(p[rows]) for p in parts])


def _accuracy(y: Any, y_pred: Any) -> Any:
    """What the name "accuracy" stands for: the kind that goes with the shapes."""
    if y_pred.shape[-1] == 1:
        return keras_metrics.binary_accuracy(y, y_pred)
    if len(y.shape) < len(y_pred.shape) or y.shape[-1] == 1:
        return keras_metrics.sparse_categorical_accuracy(y, y_pred)
    return keras_metrics.categorical_accuracy(y, y_pred)


def _metric(given: Any) -> Metric:
    """The metric of a name, a function or an object."""
    found = _accuracy if given in ("accuracy", "acc") else keras_metrics.get(given)
    if not isinstance(found, keras_metrics.Metric):
        found = keras_metrics.MeanMetricWrapper(found)
    made: Metric = found
    if isinstance(given, str):
        made.name = given
    return made
