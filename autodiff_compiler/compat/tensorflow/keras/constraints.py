"""Constraints on weights: an optimizer projects them after each step."""

from __future__ import annotations

from typing import Any

from ... import tensorflow as tf
from . import backend
from .names import both_spellings, find, public


class Constraint:
    """Base class: calling a constraint with a weight gives the nearest one that fulfils it."""

    def __call__(self, w: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say what it projects to")


class NonNeg(Constraint):
    """No element is negative."""

    def __call__(self, w: Any) -> Any:
        w = tf.convert_to_tensor(w)
        return w * tf.cast(w >= 0.0, w.dtype)


class MaxNorm(Constraint):
    """The norms along an axis are at most `max_value`."""

    def __init__(self, max_value: float = 2, axis: Any = 0):
        self.max_value, self.axis = max_value, axis

    def __call__(self, w: Any) -> Any:
        w = tf.convert_to_tensor(w)
        norms = _norms(w, self.axis)
        return w * (tf.clip_by_value(norms, 0.0, float(self.max_value)) / (norms + backend.epsilon()))


class UnitNorm(Constraint):
    """The norms along an axis are 1."""

    def __init__(self, axis: Any = 0):
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        w = tf.convert_to_tensor(w)
        return w / (_norms(w, self.axis) + backend.epsilon())


class MinMaxNorm(Constraint):
    """The norms along an axis are moved by the part `rate` of the way into ``[min_value, max_value]``."""

    def __init__(self, min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0, axis: Any = 0):
        self.min_value, self.max_value, self.rate, self.axis = min_value, max_value, rate, axis

    def __call__(self, w: Any) -> Any:
        w = tf.convert_to_tensor(w)
        norms = _norms(w, self.axis)
        wanted = self.rate * tf.clip_by_value(norms, float(self.min_value), float(self.max_value))
        return w * ((wanted + (1.0 - self.rate) * norms) / (norms + backend.epsilon()))


def _norms(w: Any, axis: Any) -> Any:
    return tf.sqrt(tf.reduce_sum(tf.square(w), axis=axis, keepdims=True))


non_neg, max_norm, unit_norm, min_max_norm = NonNeg, MaxNorm, UnitNorm, MinMaxNorm

_TABLE = both_spellings(NonNeg, MaxNorm, UnitNorm, MinMaxNorm)


def get(identifier: Any) -> Any:
    """The constraint of this name, the object itself, or None for None.

    Raises ValueError for a name that there is not.
    """
    return None if identifier is None else find(_TABLE, identifier, "constraint")


__getattr__, __dir__ = public("tf.keras.constraints", [*_TABLE, "Constraint", "get"])
