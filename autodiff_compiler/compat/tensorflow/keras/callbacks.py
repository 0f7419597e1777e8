"""Callbacks: what happens around the epochs and batches of `fit`, `evaluate` and `predict`."""

from __future__ import annotations

import csv
import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ....tape.nest import flatten
from .names import public

_PLACES = [
    *(f"on_{kind}_{end}" for kind in ("train", "test", "predict") for end in ("begin", "end")),
    *(f"on_{kind}_batch_{end}" for kind in ("train", "test", "predict") for end in ("begin", "end")),
    "on_epoch_begin", "on_epoch_end",
]  # fmt: skip


class Callback:
    """Base class: a subclass says what happens in ``on_train_begin(logs)``, ``on_epoch_end(epoch, logs)``,
    ``on_train_batch_end(batch, logs)`` and so on, for train, test and predict. `model` is the model, `params` are
    `epochs`, `steps` and `verbose`. Setting ``model.stop_training = True`` ends `fit` after the batch.

    >>> from autodiff_compiler.compat import tensorflow as tf
    >>> class Show(tf.keras.callbacks.Callback):
    ...     def on_epoch_end(self, epoch, logs=None):
    ...         print(epoch, sorted(logs))
    >>> model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> history = model.fit(tf.ones((4, 1)), tf.ones((4, 1)), epochs=2, verbose=0, callbacks=[Show()])
    0 ['loss']
    1 ['loss']
    """

    def __init__(self) -> None:
        self.params: dict[str, Any] = {}
        self._model: Any = None

    @property
    def model(self) -> Any:
        return self._model

    def set_model(self, model: Any) -> None:
        self._model = model

    def set_params(self, params: dict[str, Any]) -> None:
        self.params = params

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None: ...
    def on_epoch_end(self, epoch: int, logs: Any = None) -> None: ...
    def on_train_begin(self, logs: Any = None) -> None: ...
    def on_train_end(self, logs: Any = None) -> None: ...
    def on_test_begin(self, logs: Any = None) -> None: ...
    def on_test_end(self, logs: Any = None) -> None: ...
    def on_predict_begin(self, logs: Any = None) -> None: ...
    def on_predict_end(self, logs: Any = None) -> None: ...
    def on_batch_begin(self, batch: int, logs: Any = None) -> None: ...
    def on_batch_end(self, batch: int, logs: Any = None) -> None: ...

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self.on_batch_begin(batch, logs)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.on_batch_end(batch, logs)

    def on_test_batch_begin(self, batch: int, logs: Any = None) -> None: ...
    def on_test_batch_end(self, batch: int, logs: Any = None) -> None: ...
    def on_predict_batch_begin(self, batch: int, logs: Any = None) -> None: ...
    def on_predict_batch_end(self, batch: int, logs: Any = None) -> None: ...


def numbers(logs: Any) -> dict[str, Any]:
    """Logs as Python's numbers, in the order of their names; those of a dict inside stand in its place."""
    out: dict[str, Any] = {}
    for name, value in sorted((logs or {}).items()):
        if isinstance(value, dict):
            out.update(numbers(value))
        else:
            try:
                out[name] = float(value)
            except (TypeError, ValueError):
                out[name] = value
    return out


class CallbackList(Callback):
    """Several callbacks as one."""

    def __init__(self, callbacks: Any = None, model: Any = None, **params: Any):
        super().__init__()
        self.callbacks: list[Callback] = flatten(list(callbacks)) if isinstance(callbacks, (list, tuple)) else (
            [callbacks] if callbacks else []
        )  # fmt: skip
        for callback in self.callbacks:
            callback.set_params(params)
            callback.set_model(model)

    def append(self, callback: Callback) -> None:
        self.callbacks.append(callback)

    def at(self, place: str, *number: int, logs: Any = None) -> None:
        """Call ``on_<place>`` of each. What one adds to the logs, those after it see."""
        shown = dict(logs or {})
        for callback in self.callbacks:
            getattr(callback, f"on_{place}")(*number, shown)


class History(Callback):
    """What `fit` returns: `history` has, for each number by its name, a list of its values, one for each epoch."""

    def __init__(self) -> None:
        super().__init__()
        self.epoch: list[int] = []
        self.history: dict[str, list[float]] = {}

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)


class LambdaCallback(Callback):
    """Functions as a callback: ``LambdaCallback(on_epoch_end=lambda epoch, logs: ...)``."""

    def __init__(self, **functions: Callable[..., Any]):
        super().__init__()
        for name, function in functions.items():
            if name not in _PLACES:
                raise ValueError(f"there is no {name}; there are {', '.join(_PLACES)}")
            if function is not None:
                setattr(self, name, function)


class TerminateOnNaN(Callback):
    """Stops when the loss of a batch is not finite."""

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        loss = (logs or {}).get("loss")
        if loss is not None and not np.isfinite(loss):
            print(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True


class LearningRateScheduler(Callback):
    """Before each epoch the learning rate becomes ``schedule(epoch, learning_rate)``, or ``schedule(epoch)``."""

    def __init__(self, schedule: Callable[..., Any], verbose: int = 0):
        super().__init__()
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        optimizer = self.model.optimizer
        try:
            rate = self.schedule(epoch, float(np.asarray(optimizer.learning_rate)))
        except TypeError:
            rate = self.schedule(epoch)
        if not isinstance(rate, (float, np.floating)) and not hasattr(rate, "numpy"):
            raise ValueError(f"The output of the `schedule` function should be a float. Got: {rate}")
        optimizer.learning_rate = float(rate)
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1}: LearningRateScheduler setting learning rate to {float(rate)}.")

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        logs["learning_rate"] = float(np.asarray(self.model.optimizer.learning_rate))


class CSVLogger(Callback):
    """Writes the numbers of each epoch as a line of a file."""

    def __init__(self, filename: Any, separator: str = ",", append: bool = False):
        super().__init__()
        self.filename, self.sep, self.append = os.fspath(filename), separator, append
        self._keys: list[str] | None = None

    def on_train_begin(self, logs: Any = None) -> None:
        self._keys = None
        if not self.append:
            open(self.filename, "w").close()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        with open(self.filename, "a", newline="") as file:
            writer = csv.writer(file, delimiter=self.sep)
            if self._keys is None:
                self._keys = sorted(logs or {})
                if not any(k.startswith("val_") for k in self._keys):  # these may come in later epochs
                    self._keys += [f"val_{k}" for k in self._keys]
                if not file.tell():
                    writer.writerow(["epoch", *self._keys])
            writer.writerow([epoch, *[(logs or {}).get(k, "NA") for k in self._keys]])


class _Monitor(Callback):
    """What looks whether a number became better."""

    def __init__(self, monitor: str, mode: str, best: float | None = None, min_delta: float = 0.0):
        super().__init__()
        self.monitor, self.mode, self.best = monitor, mode, best
        self.min_delta = abs(min_delta)
        self._up: bool | None = None

    def _rises(self) -> bool:
        """Whether larger is better."""
        if self._up is None:
            name = self.monitor.removeprefix("val_")
            directions = {m.name: getattr(m, "_direction", None) for m in _all_metrics(self.model)}
            direction = {"min": "down", "max": "up"}.get(self.mode) or (
                "down" if name == "loss" else directions.get(name)
            )
            if direction is None:
                raise ValueError(
                    f"{type(self).__name__} callback received monitor={self.monitor}, but Keras isn't able to "
                    "automatically determine whether that metric should be maximized or minimized. Pass `mode='max'` "
                    "in order to monitor based on the highest metric value, or pass `mode='min'` in order to use the "
                    "lowest value."
                )
            self._up = direction == "up"
        return self._up

    def _is_improvement(self, value: float, reference: float | None) -> bool:
        if reference is None:
            return True
        return value - self.min_delta > reference if self._rises() else value + self.min_delta < reference


def _all_metrics(model: Any) -> list[Any]:
    return [part for m in model.metrics for part in getattr(m, "metrics", [m])]


class EarlyStopping(_Monitor):
    """Stops when `monitor` has not become better by `min_delta` for `patience` epochs.

    mode: "min", "max", or "auto", which goes by the name. baseline: a value to reach. restore_best_weights: at the end
    the weights are those of the best epoch. start_from_epoch: epochs before it do not count.
    """

    def __init__(
        self, monitor: str = "val_loss", min_delta: float = 0, patience: int = 0, verbose: int = 0, mode: str = "auto",
        baseline: float | None = None, restore_best_weights: bool = False, start_from_epoch: int = 0,
    ):  # fmt: skip
        super().__init__(monitor, mode, min_delta=min_delta)
        self.patience, self.verbose, self.baseline = patience, verbose, baseline
        self.restore_best_weights, self.start_from_epoch = restore_best_weights, start_from_epoch
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best_weights: Any = None

    def on_train_begin(self, logs: Any = None) -> None:
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best = self.best_weights = None

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self._rises()
        current = (logs or {}).get(self.monitor)
        if current is None:
            warnings.warn(
                f"Early stopping conditioned on metric `{self.monitor}` which is not available. Available metrics are: "
                f"{','.join(logs or {})}",
                stacklevel=2,
            )
        if current is None or epoch < self.start_from_epoch:
            return
        if self.restore_best_weights and self.best_weights is None:
            self.best_weights, self.best_epoch = self.model.get_weights(), epoch
        self.wait += 1
        if self._is_improvement(current, self.best):
            self.best, self.best_epoch = current, epoch
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            if self.baseline is None or self._is_improvement(current, self.baseline):
                self.wait = 0
        elif self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True

    def on_train_end(self, logs: Any = None) -> None:
        if self.stopped_epoch > 0 and self.verbose > 0:
            print(f"Epoch {self.stopped_epoch + 1}: early stopping")
        if self.restore_best_weights and self.best_weights is not None:
            if self.verbose > 0:
                print(f"Restoring model weights from the end of the best epoch: {self.best_epoch + 1}.")
            self.model.set_weights(self.best_weights)


class ReduceLROnPlateau(_Monitor):
    """Multiplies the learning rate by `factor` when `monitor` has not become better for `patience` epochs, down to
    `min_lr`; then waits `cooldown` epochs. Raises ValueError for a factor of 1 or more."""

    def __init__(
        self, monitor: str = "val_loss", factor: float = 0.1, patience: int = 10, verbose: int = 0, mode: str = "auto",
        min_delta: float = 1e-4, cooldown: int = 0, min_lr: float = 0.0,
    ):  # fmt: skip
        super().__init__(monitor, mode, min_delta=min_delta)
        if factor >= 1.0:
            raise ValueError(f"ReduceLROnPlateau does not support a factor >= 1.0. Received factor={factor}")
        self.factor, self.min_lr, self.patience = factor, min_lr, patience
        self.verbose, self.cooldown = verbose, cooldown
        self.cooldown_counter = self.wait = 0

    def on_train_begin(self, logs: Any = None) -> None:
        self.best = None
        self.cooldown_counter = self.wait = 0

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self._rises()
        optimizer = self.model.optimizer
        logs["learning_rate"] = rate = float(np.asarray(optimizer.learning_rate))
        current = logs.get(self.monitor)
        if current is None:
            warnings.warn(
                f"Learning rate reduction is conditioned on metric `{self.monitor}` which is not available. Available "
                f"metrics are: {','.join(logs)}.",
                stacklevel=2,
            )
            return
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        if self._is_improvement(current, self.best):
            self.best, self.wait = current, 0
        elif self.cooldown_counter <= 0:
            self.wait += 1
            if self.wait >= self.patience and rate > np.float32(self.min_lr):
                new = max(rate * self.factor, self.min_lr)
                optimizer.learning_rate = new
                if self.verbose > 0:
                    print(f"\nEpoch {epoch + 1}: ReduceLROnPlateau reducing learning rate to {new}.")
                self.cooldown_counter, self.wait = self.cooldown, 0


class ModelCheckpoint(_Monitor):
    """Saves the weights after each epoch, or after `save_freq` batches, to `filepath`, in which ``{epoch:02d}`` and
    ``{val_loss:.2f}`` and the like stand for numbers; with `save_best_only` if `monitor` became better.

    Raises ValueError unless `save_weights_only`, with a path that ends in ``.weights.h5``: whole models are not saved.
    """

    def __init__(
        self, filepath: Any, monitor: str = "val_loss", verbose: int = 0, save_best_only: bool = False,
        save_weights_only: bool = False, mode: str = "auto", save_freq: Any = "epoch",
        initial_value_threshold: float | None = None,
    ):  # fmt: skip
        super().__init__(monitor, mode, initial_value_threshold)
        self.filepath = os.fspath(filepath)
        if not save_weights_only:
            raise ValueError("whole models are not saved here: ModelCheckpoint(..., save_weights_only=True)")
        if not self.filepath.endswith(".weights.h5"):
            raise ValueError(
                "When using `save_weights_only=True` in `ModelCheckpoint`, the filepath provided must end in "
                f"`.weights.h5` (Keras weights format). Received: filepath={self.filepath}"
            )
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(
                f"Unrecognized save_freq: {save_freq}. Expected save_freq are 'epoch' or integer values"
            )  # fmt: skip
        self.verbose, self.save_best_only, self.save_freq = verbose, save_best_only, save_freq
        self._epoch = self._batches = 0

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._epoch = epoch

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        self._batches += 1
        if self.save_freq != "epoch" and self._batches >= self.save_freq:
            self._batches = 0
            self._save(self._epoch, {"batch": batch + 1, **(logs or {})})

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if self.save_freq == "epoch":
            self._save(epoch, logs or {})

    def _save(self, epoch: int, logs: Any) -> None:
        try:
            path = self.filepath.format(epoch=epoch + 1, **logs)
        except KeyError as error:
            raise KeyError(
                f'Failed to format this callback filepath: "{self.filepath}". Reason: {error}'
            ) from None  # fmt: skip
        if self.save_best_only:
            current = logs.get(self.monitor)
            if current is None:
                warnings.warn(f"Can save best model only with {self.monitor} available.", stacklevel=2)
            elif not self._is_improvement(current, self.best):
                if self.verbose > 0:
                    print(f"\nEpoch {epoch + 1}: {self.monitor} did not improve from {self.best:.5f}")
                return
            else:
                self.best = current
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1}: saving model to {path}")
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        self.model.save_weights(path)


__getattr__, __dir__ = public(
    "tf.keras.callbacks",
    ["CSVLogger", "Callback", "CallbackList", "EarlyStopping", "History", "LambdaCallback", "LearningRateScheduler",
     "ModelCheckpoint", "ReduceLROnPlateau", "TerminateOnNaN"],
)  # fmt: skip
