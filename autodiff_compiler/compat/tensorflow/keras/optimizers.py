"""Gradient descent with momentum, and Adam."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from ... import tensorflow as tf
from ...module_tables import public
from ...operations.optimizers import adam_step, momentum_step
from ..errors import invalid
from ..naming import name_scope
from .layer import Variable
from .names import unique


class Optimizer:
    """Base class: a subclass changes one variable in `update_step`, and may make variables of its own in `build`.

    learning_rate: a number; as an attribute, a variable that may be assigned to.
    """

    _slots: tuple[str, ...] = ()  # the names of what is kept for each variable

    def __init__(self, learning_rate: Any, name: str | None = None):
        if not isinstance(learning_rate, (int, float, np.number)):
            raise ValueError(f"Argument `learning_rate` should be float. Received instead: {learning_rate}")
        self.name = unique(self) if name is None else name
        self.variables: list[Variable] = []  # the step counter, the learning rate, and those that go with the trained
        self._trained: list[Any] = []
        self.iterations = self._new(tf.constant(0, tf.int64), "iteration")
        self._rate = self._new(tf.constant(float(learning_rate), tf.float32), "learning_rate")

    def _new(self, value: Any, name: str) -> Variable:
        with name_scope(f"{self.name}/"):
            self.variables.append(Variable(value, trainable=False, name=name))
        return self.variables[-1]

    def add_variable_from_reference(self, reference_variable: Any, name: str = "variable") -> Variable:
        """A new variable of zeros, of the shape and dtype of another one, and with its name in front."""
        path = getattr(reference_variable, "path", reference_variable.name)
        return self._new(tf.zeros_like(reference_variable), f"{path.replace('/', '_').replace(':', '_')}_{name}")

    @property
    def learning_rate(self) -> Any:
        """A variable, which may be assigned to."""
        return self._rate

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        self._rate.assign(float(value))

    def _get_variable_index(self, variable: Any) -> int:
        """The place of a variable among those of the first step. Raises ValueError for one that was not there."""
        for k, v in enumerate(self._trained):
            if v is variable:
                return k
        raise ValueError(
            f"Unknown variable: {variable}. This optimizer can only be called for the variables it was originally "
            "built with. When working with a new set of variables, you should recreate a new optimizer instance."
        )

    def build(self, var_list: Iterable[Any]) -> None:
        """Make the variables that go with those to train."""
        self._trained = list(var_list)
        self._kept = [[self.add_variable_from_reference(v, name) for name in self._slots] for v in self._trained]

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Any]]) -> Variable:
        """One step, from pairs of gradients and variables; the step counter is returned.

        Pairs without a gradient (None) are left out, with a warning. Raises ValueError if there is no gradient at all,
        and for a variable that was not among those of the first step.
        """
        given = list(grads_and_vars)
        pairs = [(_dense(g, v), v) for g, v in given if g is not None]
        if not pairs:
            raise ValueError("No gradients provided for any variable.")
        if not self._trained:
            self.build([v for _, v in given])
        for _, v in given:
            self._get_variable_index(v)
        if len(pairs) < len(given):
            without = [getattr(v, "path", v.name) for g, v in given if g is None]
            warnings.warn(f"Gradients do not exist for variables {without} when minimizing the loss.", stacklevel=2)
        rate = tf.convert_to_tensor(self.learning_rate)
        for g, v in pairs:
            self.update_step(g, v, rate)
        self.iterations.assign_add(1)
        return self.iterations

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Change one variable, by its gradient, a tensor of its dtype."""
        raise NotImplementedError(f"{type(self).__name__} does not say what a step is")


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
        self, learning_rate: Any = 0.01, momentum: float = 0.0, nesterov: bool = False, *, name: str | None = None
    ):  # fmt: skip
        super().__init__(learning_rate, name)
        if not 0 <= momentum <= 1:
            raise ValueError("`momentum` must be a float between [0, 1].")
        self.momentum, self.nesterov = float(momentum), nesterov
        self._slots = ("momentum",) if momentum else ()

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        g = gradient._value
        change = -g * learning_rate._value.astype(g.dtype)
        for kept in self._kept[self._get_variable_index(variable)]:
            change, moved = momentum_step(change, kept._value, _number(self.momentum, g.dtype), nesterov=self.nesterov)
            kept.assign(moved)
        variable.assign(variable._value + change)


class Adam(Optimizer):
    """Steps along the mean of past gradients, over the root of the mean of their squares.

    beta_1, beta_2: how much of the past these means keep.
    """

    _slots = ("momentum", "velocity")

    def __init__(
        self, learning_rate: Any = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-7,
        *, name: str | None = None,
    ):  # fmt: skip
        super().__init__(learning_rate, name)
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        g, kept = gradient._value, self._kept[self._get_variable_index(variable)]
        betas, bias = (self.beta_1, self.beta_2), (_number(self.beta_1, g.dtype), _number(self.beta_2, g.dtype))
        step = int(self.iterations._value) + 1
        mean, square = (v._value for v in kept)
        change, mean, square, _ = adam_step(g, mean, square, None, step, betas, self.epsilon, True, bias)
        for v, value in zip(kept, (mean, square)):
            v.assign(value)
        variable.assign(variable._value - change * learning_rate._value.astype(g.dtype))


def _number(x: float, dtype: Any) -> Any:
    """A setting as a number of this dtype, by way of float32, as Keras does: 0.9 has the digits of float32 also where
    the variable is float64."""
    return dtype.type(np.float32(x))


def _dense(g: Any, v: Any) -> Any:
    """A gradient as a tensor of the variable's dtype; `IndexedSlices` become dense."""
    g = tf.cast(tf.convert_to_tensor(g), v.dtype)
    if g.shape != v.shape:
        raise invalid(
            "ResourceApplyGradientDescent",
            f"Cannot update variable with shape {list(v.shape)} using a Tensor with shape {list(g.shape)}, shapes must "
            "be equal.",
        )
    return g


__getattr__, __dir__ = public("tf.keras.optimizers", ["Adam", "Optimizer", "SGD"])
