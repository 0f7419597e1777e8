"""Losses: one number for each row of a batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import kernels, nn
from ...graph.array import to, value_of
from ...graph.core import run
from .block import HybridBlock


class Loss(HybridBlock):
    """A loss: the mean over all axes but that of the batch, times a weight."""

    def __init__(self, weight: float | None = None, batch_axis: int = 0):
        super().__init__()
        self._weight, self._batch_axis = weight, batch_axis

    def rows(self, a: Any) -> Any:
        """The means of the rows."""
        axes = tuple([k for k in range(value_of(a).ndim) if k != self._batch_axis])
        out = np.mean(a, axis=axes) if axes else a
        return out if self._weight is None else out * self._weight

    def _run(self, name: str, f: Any, pred: Any, label: Any) -> Any:
        def computed(a: Any, b: Any) -> Any:
            b = to(b, value_of(a).dtype)
            return self.rows(f(a, np.reshape(b, value_of(a).shape)))

        return run(name, computed, pred, label)


class L2Loss(Loss):
    """Half the squared differences."""

    def __init__(self, weight: float = 1.0, batch_axis: int = 0):
        super().__init__(weight, batch_axis)

    def forward(self, pred: Any, label: Any) -> Any:
        return self._run("l2_loss", lambda a, b: 0.5 * (a - b) * (a - b), pred, label)


class L1Loss(Loss):
    """The absolute differences."""

    def forward(self, pred: Any, label: Any) -> Any:
        return self._run("l1_loss", lambda a, b: np.abs(a - b), pred, label)


class HuberLoss(Loss):
    """Quadratic for differences up to `rho`, linear above."""

    def __init__(self, rho: float = 1.0, weight: float | None = None, batch_axis: int = 0):
        super().__init__(weight, batch_axis)
        self._rho = rho

    def forward(self, pred: Any, label: Any) -> Any:
        def computed(a: Any, b: Any) -> Any:
            d = a - b
            return np.where(np.abs(value_of(d)) > self._rho, np.abs(d) - 0.5 * self._rho, 0.5 / self._rho * d * d)

        return self._run("huber_loss", computed, pred, label)


class SigmoidBinaryCrossEntropyLoss(Loss):
    """The cross entropy of the sigmoid of the prediction."""

    def __init__(self, from_sigmoid: bool = False, weight: float | None = None, batch_axis: int = 0):
        super().__init__(weight, batch_axis)
        self._from_sigmoid = from_sigmoid

    def forward(self, pred: Any, label: Any) -> Any:
        if self._from_sigmoid:
            eps = 1e-12
            return self._run(
                "binary_cross_entropy", lambda p, y: -(y * np.log(p + eps) + (1 - y) * np.log(1 - p + eps)), pred, label
            )
        return self._run("binary_cross_entropy", lambda a, y: kernels.sigmoid_cross_entropy(y, a), pred, label)


SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss


class SoftmaxCrossEntropyLoss(Loss):
    """The cross entropy of the softmax of the prediction; labels are classes, or probabilities."""

    def __init__(
        self, axis: int = -1, sparse_label: bool = True, from_logits: bool = False, weight: float | None = None,
        batch_axis: int = 0,
    ):  # fmt: skip
        super().__init__(weight, batch_axis)
        self._axis, self._sparse, self._from_logits = axis, sparse_label, from_logits

    def forward(self, pred: Any, label: Any) -> Any:
        axis = self._axis
        where = label._value.astype(np.int64) if self._sparse else None

        def computed(a: Any, y: Any) -> Any:
            log = a if self._from_logits else nn.log_softmax(a, axis)
            if where is None:
                return self.rows(-np.sum(log * y, axis=axis))
            return self.rows(-np.squeeze(np.take_along_axis(log, np.expand_dims(where, axis), axis), axis=axis))

        return run("softmax_cross_entropy", computed, pred, label.detach() if self._sparse else label)


SoftmaxCELoss = SoftmaxCrossEntropyLoss
MEMBERS: dict[str, Any] = {
    c.__name__: c for c in (Loss, L2Loss, L1Loss, HuberLoss, SigmoidBinaryCrossEntropyLoss, SoftmaxCrossEntropyLoss)
} | {"SigmoidBCELoss": SigmoidBCELoss, "SoftmaxCELoss": SoftmaxCELoss}
