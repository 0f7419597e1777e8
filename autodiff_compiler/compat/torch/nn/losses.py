"""Losses: functions of ``torch.nn.functional``."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ...graph.direct import several
from ...operations import losses
from ..core import elementwise, make, renamed, run
from ..made import FUNCTIONS as MADE
from ..shaping import broadcast_tensors


def reduced(loss: Any, reduction: str) -> Any:
    """The loss of each element, their mean, or their sum."""
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    if reduction == "none":
        return loss
    raise ValueError(f"{reduction} is not a valid value for reduction")


def _sized(input: Any, target: Any, level: int = 4) -> tuple[Any, Any]:
    """Both in one shape, with a warning where they had two."""
    if input._value.shape == target._value.shape:
        return input, target
    warnings.warn(
        f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). This will "
        "likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
        UserWarning,
        stacklevel=level,
    )
    first, second = broadcast_tensors(input, target)
    return first, second


def _elementwise(name: str, f: Callable[..., Any], input: Any, target: Any, reduction: str, *settings: Any) -> Any:
    """A loss of each element of two tensors, which have or get one shape; reduced."""
    input, target = _sized(input, target)
    total = reduced(elementwise(name, lambda a, t: f(a, t, *settings), input, target), reduction)
    return total if f is losses.absolute else renamed(total, name)


def mse_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """The squared differences."""
    input, target = _sized(input, target, 3)
    d = input - target  # two operations that are looked up: this is the loss that is used most
    return renamed(reduced(d * d, reduction), "MseLoss")


def l1_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """The absolute differences."""
    return _elementwise("L1Loss", losses.absolute, input, target, reduction)


def smooth_l1_loss(input: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    """Quadratic for differences below `beta`, linear above."""
    if beta == 0:
        return l1_loss(input, target, reduction)
    return _elementwise("SmoothL1Loss", losses.huber, input, target, reduction, beta, 1.0 / beta, False)


def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    """Quadratic for differences up to `delta`, linear above."""
    return _elementwise("HuberLoss", losses.huber, input, target, reduction, delta)


def _chosen(input: Any, target: Any, weight: Any, ignore_index: int) -> tuple[int, Any, Any]:
    """The axis of the classes; the class of each row, 0 where it is ignored; the weight of each row.

    Raises IndexError for a class that is not there, ValueError where the batches differ.
    """
    axis = min(input._value.ndim - 1, 1)
    classes = input._value.shape[axis]
    t = target._value
    if input._value.ndim > 1 and t.shape[:1] != input._value.shape[:1]:
        raise ValueError(
            f"Expected input batch_size ({input._value.shape[0]}) to match target batch_size ({t.shape[0]})."
        )
    if t.dtype.kind not in "iu":
        raise RuntimeError(f"expected scalar type Long but found {target.dtype}")
    used = t != ignore_index
    bad = used & ((t < 0) | (t >= classes))
    if bad.any():
        raise IndexError(f"Target {int(t[bad].flat[0])} is out of bounds.")
    safe = np.where(used, t, 0)
    dtype = input._value.dtype
    return axis, safe, used.astype(dtype) if weight is None else weight._value.astype(dtype)[safe] * used


def nll_loss(input: Any, target: Any, weight: Any = None, *, ignore_index: int = -100, reduction: str = "mean") -> Any:
    """Minus the element at the class of each row, weighted; `input` has log probabilities along axis 1."""
    axis, safe, w = _chosen(input, target, weight, ignore_index)

    def picked(a: Any) -> Any:
        return losses.picked(a, safe, axis) * w

    def steps(a: Any) -> list[Any]:
        index = np.expand_dims(safe, axis)
        taken = np.take_along_axis(a, index, axis)
        squeezed = np.squeeze(taken, axis=axis)
        return [index, taken, squeezed, -squeezed, w, -squeezed * w]

    many = input._value.ndim > 1
    loss = several(("nll", axis), "NllLoss", picked, steps, input) if many else run("NllLoss", picked, input)
    if reduction == "mean":
        total = w.sum()
        return renamed(loss.sum() / (float(total) if total else math.nan), "NllLoss")
    return renamed(reduced(loss, reduction), "NllLoss")


def cross_entropy(
    input: Any, target: Any, weight: Any = None, *, ignore_index: int = -100, reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """The cross entropy of the softmax of `input` along axis 1; `target` has classes, or probabilities in the shape of
    `input`."""
    axis = min(input._value.ndim - 1, 1)
    log = MADE["log_softmax"](input, axis)
    if target._value.dtype.kind != "f" and not label_smoothing:
        return nll_loss(log, target, weight, ignore_index=ignore_index, reduction=reduction)
    classes = input._value.shape[axis]
    along = (-1, *(1,) * (input._value.ndim - 1 - axis))  # the shape of what there is for each class
    if target._value.dtype.kind == "f":
        total: Any = max(input._value.size // classes, 1)
        shares = target * (1 - label_smoothing) + label_smoothing / classes if label_smoothing else target
    else:
        _, safe, w = _chosen(input, target, weight, ignore_index)
        total = float(w.sum())
        hit = np.expand_dims(safe, axis) == np.arange(classes).reshape(along)
        used = np.expand_dims(target._value != ignore_index, axis)
        shares = make((used * (hit * (1 - label_smoothing) + label_smoothing / classes)).astype(input._value.dtype))
    loss = -((log if weight is None else log * weight.reshape(along)) * shares).sum(axis)
    return loss.sum() / total if reduction == "mean" else reduced(loss, reduction)


def binary_cross_entropy(input: Any, target: Any, weight: Any = None, reduction: str = "mean") -> Any:
    """The cross entropy of probabilities. Logarithms are clamped at -100."""
    v = input._value
    if input._value.shape != target._value.shape:
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
            "deprecated. Please ensure they have the same size."
        )
    if v.size and not (v.min() >= 0 and v.max() <= 1):
        raise RuntimeError("all elements of input should be between 0 and 1")
    loss = elementwise("BinaryCrossEntropy", losses.binary_cross_entropy, input, target)
    return _weighed("BinaryCrossEntropy", loss, weight, reduction)


def _weighed(name: str, loss: Any, weight: Any, reduction: str) -> Any:
    return renamed(reduced(loss if weight is None else loss * weight, reduction), name)


def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, *, reduction: str = "mean", pos_weight: Any = None
) -> Any:
    """The cross entropy of the sigmoid of `input`, without overflow."""
    if input._value.shape != target._value.shape:
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    given = (input, target) if pos_weight is None else (input, target, pos_weight)
    name = "BinaryCrossEntropyWithLogits"
    return _weighed(name, run(name, losses.sigmoid_cross_entropy, *given), weight, reduction)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        mse_loss, l1_loss, smooth_l1_loss, huber_loss, nll_loss, cross_entropy, binary_cross_entropy,
        binary_cross_entropy_with_logits,
    )
}  # fmt: skip
