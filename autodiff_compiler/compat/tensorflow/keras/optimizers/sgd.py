"""Gradient descent, with momentum."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .base import Optimizer, Rate, number


class SGD(Optimizer):
    """Gradient descent: ``variable -= learning_rate * gradient``.

    With a momentum m, ``v = m * v - learning_rate * gradient`` and ``variable += v``; with `nesterov`,
    ``variable += m * v - learning_rate * gradient``. Raises ValueError for a momentum outside ``[0, 1]``.

    >>> from autodiff_compiler.compat import tensorflow as tf
    >>> w = tf.Variable([1.0, 2.0])
    >>> _ = tf.keras.optimizers.SGD(0.5).apply_gradients([(tf.constant([1.0, -1.0]), w)])
    >>> w.numpy()
    array([0.5, 2.5], dtype=float32)
    """

    def __init__(
        self, learning_rate: Rate = 0.01, momentum: float = 0.0, nesterov: bool = False, name: str | None = None,
        **kwargs: Any,
    ):  # fmt: skip
        super().__init__(learning_rate, name=name, **kwargs)
        if not isinstance(momentum, (int, float)) or not 0 <= momentum <= 1:
            raise ValueError("`momentum` must be a float between [0, 1].")
        self.momentum, self.nesterov = float(momentum), nesterov

    def build(self, var_list: Iterable[Any]) -> None:
        super().build(var_list)
        self.momentums = self._for_each("momentum") if self.momentum else []

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        g = gradient._value
        step = g * learning_rate._value.astype(g.dtype)
        if not self.momentum:
            variable.assign(variable._value - step)
            return
        kept = self.momentums[self._get_variable_index(variable)]
        momentum = number(self.momentum, g.dtype)
        moved = kept._value * momentum - step
        kept.assign(moved)
        variable.assign(variable._value + (moved * momentum - step if self.nesterov else moved))
