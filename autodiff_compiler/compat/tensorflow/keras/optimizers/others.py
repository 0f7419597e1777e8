"""Optimizers that are met less often."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import backend
from .adaptive import parts
from .base import Optimizer, Rate, number


class Adadelta(Optimizer):
    """Steps along the gradient, scaled by the root of the mean of past steps' squares over that of past gradients'.

    rho: how much of the past these means keep.

    Reference: Zeiler, Adadelta: an adaptive learning rate method (2012).
    """

    def __init__(
        self, learning_rate: Rate = 0.001, rho: float = 0.95, epsilon: float = 1e-7, name: str | None = None,
        **kwargs: Any,
    ):  # fmt: skip
        super().__init__(learning_rate, name=name, **kwargs)
        self.rho, self.epsilon = rho, epsilon

    def build(self, var_list: Iterable[Any]) -> None:
        super().build(var_list)
        self._gradients, self._steps = self._for_each("accumulated_grad"), self._for_each("accumulated_delta_var")

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        g, value, rate = parts(gradient, variable, learning_rate)
        kind, k = g.dtype.type, self._get_variable_index(variable)
        rho, rest, epsilon = kind(self.rho), kind(1 - self.rho), kind(self.epsilon)
        past, steps = self._gradients[k], self._steps[k]
        squares = rho * past._value + rest * (g * g)
        step = -(np.sqrt(steps._value + epsilon) * g / np.sqrt(squares + epsilon))
        past.assign(squares)
        steps.assign(rho * steps._value + rest * (step * step))
        variable.assign(value + rate * step)


class Nadam(Optimizer):
    """`Adam` with Nesterov's momentum.

    Reference: Dozat, Incorporating Nesterov momentum into Adam (2015).
    """

    def __init__(
        self, learning_rate: Rate = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-7,
        name: str | None = None, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(learning_rate, name=name, **kwargs)
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon

    def build(self, var_list: Iterable[Any]) -> None:
        super().build(var_list)
        self._momentums, self._velocities = self._for_each("momentum"), self._for_each("velocity")
        self._product = 1.0  # of the momenta of all steps
        self._product_step = 0

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        g, value, rate = parts(gradient, variable, learning_rate)
        kind, step = g.dtype.type, int(self.iterations._value) + 1
        beta_1, beta_2, decay = (number(x, g.dtype) for x in (self.beta_1, self.beta_2, 0.96))
        if self._product_step != step:
            self._product *= self.beta_1 * (1.0 - 0.5 * 0.96**step)
            self._product_step = step
        now = beta_1 * (kind(1) - kind(0.5) * decay ** kind(step))
        following = beta_1 * (kind(1) - kind(0.5) * decay ** kind(step + 1))
        product = kind(np.dtype(backend.floatx()).type(self._product))
        k = self._get_variable_index(variable)
        m, v = self._momentums[k]._value, self._velocities[k]._value
        m = m + (g - m) * (kind(1) - beta_1)
        v = v + (g * g - v) * (kind(1) - beta_2)
        self._momentums[k].assign(m)
        self._velocities[k].assign(v)
        ahead = following * m / (kind(1) - product * following) + (kind(1) - now) * g / (kind(1) - product)
        spread = v / (kind(1) - beta_2 ** kind(step))
        variable.assign(value - ahead * rate / (np.sqrt(spread) + kind(self.epsilon)))


class Lion(Optimizer):
    """Steps of one length along the signs of a mix of the gradient and the mean of past ones.

    Raises ValueError for a beta_1 outside ``(0, 1]``.

    Reference: Chen et al., Symbolic discovery of optimization algorithms (2023).
    """

    def __init__(
        self, learning_rate: Rate = 0.001, beta_1: float = 0.9, beta_2: float = 0.99, name: str | None = None,
        **kwargs: Any,
    ):  # fmt: skip
        super().__init__(learning_rate, name=name, **kwargs)
        if beta_1 <= 0 or beta_1 > 1:
            raise ValueError(
                "Argument `beta_1` must be in the [0, 1] range. Otherwise, the optimizer degenerates to SignSGD. "
                f"Received: beta_1={beta_1}."
            )
        self.beta_1, self.beta_2 = beta_1, beta_2

    def build(self, var_list: Iterable[Any]) -> None:
        super().build(var_list)
        self._momentums = self._for_each("momentum")

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        g, value, rate = parts(gradient, variable, learning_rate)
        one = g.dtype.type(1)
        beta_1, beta_2 = number(self.beta_1, g.dtype), number(self.beta_2, g.dtype)
        kept = self._momentums[self._get_variable_index(variable)]
        m = kept._value
        variable.assign(value - rate * np.sign(m * beta_1 + g * (one - beta_1)))
        kept.assign(m * beta_2 + g * (one - beta_2))


class Ftrl(Optimizer):
    """Follow the regularized leader: the variable that minimises the sum of past gradients' terms and penalties.

    Raises ValueError for negative penalties, a negative first accumulator, and a positive power.

    Reference: McMahan et al., Ad click prediction: a view from the trenches (2013).
    """

    def __init__(
        self, learning_rate: Rate = 0.001, learning_rate_power: float = -0.5, initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
        l2_shrinkage_regularization_strength: float = 0.0, beta: float = 0.0, name: str | None = None, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(learning_rate, name=name, **kwargs)
        settings = {
            "initial_accumulator_value": initial_accumulator_value,
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength,
        }
        for setting, value in settings.items():
            if value < 0.0:
                raise ValueError(f"`{setting}` needs to be positive or zero. Received: {setting}={value}.")
        if learning_rate_power > 0.0:
            raise ValueError(
                "`learning_rate_power` needs to be negative or zero. Received: "
                f"learning_rate_power={learning_rate_power}."
            )
        self.learning_rate_power, self.beta = learning_rate_power, beta
        vars(self).update(settings)

    initial_accumulator_value: float
    l1_regularization_strength: float
    l2_regularization_strength: float
    l2_shrinkage_regularization_strength: float

    def build(self, var_list: Iterable[Any]) -> None:
        from ..initializers import Constant

        super().build(var_list)
        self._sums = self._for_each("accumulator", Constant(self.initial_accumulator_value))
        self._linears = self._for_each("linear")

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        g, value, rate = parts(gradient, variable, learning_rate)
        kind, k = g.dtype.type, self._get_variable_index(variable)
        power = kind(-self.learning_rate_power)
        l2 = kind(self.l2_regularization_strength) + kind(self.beta) / (kind(2) * rate)
        shrunk = g + kind(2 * self.l2_shrinkage_regularization_strength) * value
        before = self._sums[k]._value
        after = before + g * g
        linear = self._linears[k]._value + (shrunk - (after**power - before**power) / rate * value)
        bound = kind(self.l1_regularization_strength)
        variable.assign((np.clip(linear, -bound, bound) - linear) / (after**power / rate + kind(2) * l2))
        self._linears[k].assign(linear)
        self._sums[k].assign(after)
