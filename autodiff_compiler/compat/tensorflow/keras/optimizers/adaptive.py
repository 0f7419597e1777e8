"""Optimizers that scale each element's steps by its past gradients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .base import Optimizer, Rate, number


def parts(gradient: Any, variable: Any, learning_rate: Any) -> tuple[Any, Any, Any]:
    """All as arrays and numbers of the gradient's dtype."""
    g = gradient._value
    return g, variable._value, learning_rate._value.astype(g.dtype)


class Adam(Optimizer):
    """Steps along the mean of past gradients, over the root of the mean of their squares.

    beta_1, beta_2: how much of the past these means keep. amsgrad: the largest mean of squares so far counts.

    Reference: Kingma and Ba, Adam: a method for stochastic optimization (2014); Reddi et al., On the convergence of
    Adam and beyond (2018) for amsgrad.
    """

    def __init__(
        self, learning_rate: Rate = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-7,
        amsgrad: bool = False, name: str | None = None, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(learning_rate, name=name, **kwargs)
        self.beta_1, self.beta_2, self.epsilon, self.amsgrad = beta_1, beta_2, epsilon, amsgrad

    def build(self, var_list: Iterable[Any]) -> None:
        super().build(var_list)
        # Variable by variable, so that `variables` has Keras' order.
        made = [self._for_one(v) for v in self._trained]
        self._momentums, self._velocities = [m for m, _ in made], [v for _, v in made]
        self._highest = self._for_each("velocity_hat") if self.amsgrad else []

    def _for_one(self, v: Any) -> tuple[Any, Any]:
        return self.add_variable_from_reference(v, "momentum"), self.add_variable_from_reference(v, "velocity")

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        g, value, rate = parts(gradient, variable, learning_rate)
        kind, step = g.dtype.type, int(self.iterations._value) + 1
        k = self._get_variable_index(variable)
        m, v = self._momentums[k]._value, self._velocities[k]._value
        m = m + (g - m) * kind(1 - self.beta_1)
        v = v + (g * g - v) * kind(1 - self.beta_2)
        self._momentums[k].assign(m)
        self._velocities[k].assign(v)
        if self.amsgrad:
            v = np.maximum(self._highest[k]._value, v)
            self._highest[k].assign(v)
        alpha = rate * np.sqrt(1 - number(self.beta_2, g.dtype) ** kind(step))
        alpha = alpha / (1 - number(self.beta_1, g.dtype) ** kind(step))
        variable.assign(value - m * alpha / (np.sqrt(v) + kind(self.epsilon)))


class AdamW(Adam):
    """`Adam`, with weight decay.

    Reference: Loshchilov and Hutter, Decoupled weight decay regularization (2019).
    """

    def __init__(
        self, learning_rate: Rate = 0.001, weight_decay: float = 0.004, beta_1: float = 0.9, beta_2: float = 0.999,
        epsilon: float = 1e-7, amsgrad: bool = False, name: str | None = None, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(
            learning_rate, beta_1, beta_2, epsilon, amsgrad, name, weight_decay=weight_decay, **kwargs
        )  # fmt: skip


class Adamax(Optimizer):
    """Steps along the mean of past gradients, over the largest of them, which decays by `beta_2`.

    Reference: Kingma and Ba, Adam: a method for stochastic optimization (2014), section 7.
    """

    def __init__(
        self, learning_rate: Rate = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-7,
        name: str | None = None, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(learning_rate, name=name, **kwargs)
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon

    def build(self, var_list: Iterable[Any]) -> None:
        super().build(var_list)
        self._means, self._largest = self._for_each("momentum"), self._for_each("norm")

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        g, value, rate = parts(gradient, variable, learning_rate)
        kind, step = g.dtype.type, int(self.iterations._value) + 1
        k = self._get_variable_index(variable)
        m = self._means[k]._value
        m = m + (g - m) * kind(1 - self.beta_1)
        u = np.maximum(kind(self.beta_2) * self._largest[k]._value, np.abs(g))
        self._means[k].assign(m)
        self._largest[k].assign(u)
        variable.assign(
            value - rate * m / ((1 - number(self.beta_1, g.dtype) ** kind(step)) * (u + kind(self.epsilon)))
        )


class RMSprop(Optimizer):
    """Steps along the gradient, over the root of the mean of past squares, of which `rho` is kept.

    momentum: a part of the last step is added to this one. centered: past gradients' mean is taken off first.

    Reference: Tieleman and Hinton, Lecture 6.5, Neural networks for machine learning (2012).
    """

    def __init__(
        self, learning_rate: Rate = 0.001, rho: float = 0.9, momentum: float = 0.0, epsilon: float = 1e-7,
        centered: bool = False, name: str | None = None, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(learning_rate, name=name, **kwargs)
        self.rho, self.momentum, self.epsilon, self.centered = rho, momentum, epsilon, centered

    def build(self, var_list: Iterable[Any]) -> None:
        super().build(var_list)
        self._velocities = self._for_each("velocity")
        self._momentums = self._for_each("momentum") if self.momentum > 0 else []
        self._average = self._for_each("average_gradient") if self.centered else []

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        g, value, rate = parts(gradient, variable, learning_rate)
        kind = g.dtype.type
        rho, rest = kind(self.rho), kind(1 - self.rho)
        k = self._get_variable_index(variable)
        v = rho * self._velocities[k]._value + rest * g * g
        self._velocities[k].assign(v)
        under = v + kind(self.epsilon)
        if self.centered:
            mean = rho * self._average[k]._value + rest * g
            self._average[k].assign(mean)
            under = v - mean * mean + kind(self.epsilon)
        step = rate * g / np.sqrt(under)
        if self.momentum > 0:
            step = kind(self.momentum) * self._momentums[k]._value + step
            self._momentums[k].assign(step)
        variable.assign(value - step)


class Adagrad(Optimizer):
    """Steps along the gradient, over the root of the sum of past squares.

    Reference: Duchi et al., Adaptive subgradient methods for online learning and stochastic optimization (2011).
    """

    def __init__(
        self, learning_rate: Rate = 0.001, initial_accumulator_value: float = 0.1, epsilon: float = 1e-7,
        name: str | None = None, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(learning_rate, name=name, **kwargs)
        self.initial_accumulator_value, self.epsilon = initial_accumulator_value, epsilon

    def build(self, var_list: Iterable[Any]) -> None:
        from ..initializers import Constant

        super().build(var_list)
        self._sums = self._for_each("accumulator", Constant(self.initial_accumulator_value))

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        g, value, rate = parts(gradient, variable, learning_rate)
        k = self._get_variable_index(variable)
        total = self._sums[k]._value + g * g
        self._sums[k].assign(total)
        variable.assign(value - rate * g / np.sqrt(total + g.dtype.type(self.epsilon)))
