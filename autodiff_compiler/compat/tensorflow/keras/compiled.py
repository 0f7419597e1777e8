"""What `compile` was told: the losses and the metrics of a model's outputs, one or several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ....tape.nest import flatten
from ... import tensorflow as tf
from . import losses as keras_losses
from . import metrics as keras_metrics
from .metrics_base import Metric

Names = list[str] | None


def outputs_of(y_pred: Any, names: Names) -> tuple[list[Any], Names]:
    """The outputs of a model in order, and their names if there are several."""
    if isinstance(y_pred, Mapping):
        order = names if names and set(names) == set(y_pred) else sorted(y_pred)
        return [y_pred[k] for k in order], list(order)
    if isinstance(y_pred, (list, tuple)):
        parts = list(y_pred)
        return parts, names if names and len(names) == len(parts) and len(parts) > 1 else None
    return [y_pred], None


def for_outputs(given: Any, count: int, names: Names, what: str) -> list[Any]:
    """One entry for each output: of a mapping by their names, of a list in their order, or the same for all."""
    if isinstance(given, Mapping):
        if names is None or set(given) - set(names):
            raise ValueError(f"{what} has the names {sorted(given)}, but the outputs are called {names}")
        return [given.get(k) for k in names]
    if isinstance(given, (list, tuple)):
        if len(given) != count:
            raise ValueError(f"{what} has {len(given)} entries, but there are {count} outputs")
        return list(given)
    return [given] * count


class FunctionLoss(keras_losses.Loss):
    """The loss of a function of rows."""

    def __init__(self, function: Any):
        super().__init__(name=getattr(function, "__name__", "loss"))
        self._function = function

    def call(self, y_true: Any, y_pred: Any) -> Any:
        return self._function(*keras_losses.same_rank(tf.convert_to_tensor(y_true), y_pred))


class CompiledLoss:
    """The sum of the losses of all outputs, each times its weight; `trackers` collect them where there are several."""

    def __init__(self, loss: Any, weights: Any, names: Names):
        self._loss, self._weights, self._names = loss, weights, names
        self._parts: list[Any] | None = None
        self.trackers: list[Metric] = []

    def _build(self, count: int, names: Names) -> list[Any]:
        made: list[Any] = []
        for given in for_outputs(self._loss, count, names, "loss"):
            found = keras_losses.get(given)
            made.append(found if found is None or isinstance(found, keras_losses.Loss) else FunctionLoss(found))
        known = [k for k, part in enumerate(made) if part is not None]
        if len(known) > 1:
            self.trackers = [
                keras_metrics.Mean(name=f"{made[k].name if names is None else names[k]}_loss") for k in known
            ]
        return made

    def __call__(self, y: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        predicted, names = outputs_of(y_pred, self._names)
        count = len(predicted)
        if self._parts is None:
            self._parts = self._build(count, names)
        nested = isinstance(sample_weight, (list, tuple, Mapping))
        wanted = for_outputs(y, count, names, "y") if count > 1 or isinstance(y, Mapping) else [flatten(y)[0]]
        rows = for_outputs(sample_weight, count, names, "sample_weight") if nested else [sample_weight] * count
        weights = for_outputs(self._weights, count, names, "loss_weights")
        trackers = iter(self.trackers)
        total = None
        for part, target, out, row, weight in zip(self._parts, wanted, predicted, rows, weights):
            if part is None:
                continue
            value = part(target, out, row)
            if self.trackers:
                next(trackers).update_state(value, sample_weight=float(out.shape[0] if len(out.shape) else 1))
            value = value if weight is None else value * float(weight)
            total = value if total is None else total + value
        return total


class CompiledMetrics(Metric):
    """The metrics of all outputs; its result is a dict of theirs. Weights go to the weighted ones only."""

    def __init__(self, metrics: Any, weighted: Any, names: Names):
        super().__init__(name="compile_metrics")
        self._given = (metrics, weighted)
        self._names = names
        self._resolved: Names = None
        self._plain: list[list[Metric]] | None = None
        self._weighted: list[list[Metric]] = []
        if all(not isinstance(m, Mapping) and not _nested(m) for m in self._given):
            self._build(1, None)

    def _build(self, count: int, names: Names) -> None:
        made: list[list[list[Metric]]] = []
        for given, what in zip(self._given, ("metrics", "weighted_metrics")):
            if count == 1:
                parts = [flatten(dict(given) if isinstance(given, Mapping) else list(given or []))]
            else:
                parts = [
                    [] if m is None else flatten(m) for m in for_outputs(given or [None] * count, count, names, what)
                ]
            made.append([[metric_of(m) for m in part] for part in parts])
        self._plain, self._weighted = made
        self._resolved = names

    @property
    def metrics(self) -> list[Metric]:
        """The metrics themselves."""
        return [m for part in (self._plain or []) + self._weighted for m in part]

    @property
    def variables(self) -> list[Any]:
        return [v for m in self.metrics for v in m.variables]

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        predicted, names = outputs_of(y_pred, self._names)
        count = len(predicted)
        if self._plain is None or len(self._plain) != count:
            self._build(count, names)
        several = count > 1 or isinstance(y_true, Mapping)
        wanted = for_outputs(y_true, count, names, "y") if several else [flatten(y_true)[0]]
        nested = isinstance(sample_weight, (list, tuple, Mapping))
        rows = for_outputs(sample_weight, count, names, "sample_weight") if nested else [sample_weight] * count
        for plain, weighted, target, out, row in zip(self._plain or [], self._weighted, wanted, predicted, rows):
            for metric in plain:
                metric.update_state(target, out)
            for metric in weighted:
                metric.update_state(target, out, sample_weight=row)

    def reset_state(self) -> None:
        for metric in self.metrics:
            metric.reset_state()

    def result(self) -> dict[str, Any]:
        """The results by name: the output's name is in front where there are several."""
        out: dict[str, Any] = {}
        seen: Counter[str] = Counter()
        for kind, parts in (("", self._plain or []), ("weighted_", self._weighted)):
            for k, part in enumerate(parts):
                front = "" if self._resolved is None else f"{self._resolved[k]}_"
                for metric in part:
                    name = front + metric.name
                    if kind and seen[name]:
                        name = f"{front}{kind}{metric.name}"
                    count = seen[name]
                    seen[name] += 1
                    out[f"{name}_{count}" if count else name] = metric.result()
        return out


def _nested(given: Any) -> bool:
    return any(isinstance(m, (list, tuple, Mapping)) for m in given or ())


def _accuracy(y: Any, y_pred: Any) -> Any:
    """What the name "accuracy" stands for: the kind that goes with the shapes."""
    if y_pred.shape[-1] == 1:
        return keras_metrics.binary_accuracy(y, y_pred)
    if len(y.shape) < len(y_pred.shape) or y.shape[-1] == 1:
        return keras_metrics.sparse_categorical_accuracy(y, y_pred)
    return keras_metrics.categorical_accuracy(y, y_pred)


def metric_of(given: Any) -> Metric:
    """The metric of a name, a function or an object."""
    found = _accuracy if given in ("accuracy", "acc") else keras_metrics.get(given)
    if not isinstance(found, Metric):
        wrapped = keras_metrics.MeanMetricWrapper(found)
        wrapped._direction = "up" if found is _accuracy else None
        found = wrapped
    made: Metric = found
    if isinstance(given, str):
        made.name = given
    return made
