"""Learning rates that depend on the number of the step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .... import tensorflow as tf
from .. import backend
from ..names import public


class LearningRateSchedule:
    """Base class: calling a schedule with the number of a step gives its learning rate, a tensor."""

    def __call__(self, step: Any) -> Any:
        return tf.constant(self.rate(float(step)), backend.floatx())

    def rate(self, step: float) -> float:
        """The learning rate as a number."""
        raise NotImplementedError(f"{type(self).__name__} does not say what its rate is")


class ExponentialDecay(LearningRateSchedule):
    """``initial_learning_rate * decay_rate ** (step / decay_steps)``; with `staircase` the quotient is rounded down.

    >>> ExponentialDecay(0.5, decay_steps=10, decay_rate=0.5)(20).numpy()
    np.float32(0.125)
    """

    def __init__(
        self, initial_learning_rate: float, decay_steps: float, decay_rate: float, staircase: bool = False,
        name: str = "ExponentialDecay",
    ):  # fmt: skip
        if decay_steps <= 0:
            raise ValueError(f"Argument `decay_steps` must be > 0. Received: decay_steps={decay_steps}")
        self.initial_learning_rate, self.decay_steps, self.decay_rate = initial_learning_rate, decay_steps, decay_rate
        self.staircase, self.name = staircase, name

    def rate(self, step: float) -> float:
        part = step / self.decay_steps
        return float(self.initial_learning_rate * self.decay_rate ** (math.floor(part) if self.staircase else part))


class InverseTimeDecay(LearningRateSchedule):
    """``initial_learning_rate / (1 + decay_rate * step / decay_steps)``."""

    def __init__(
        self, initial_learning_rate: float, decay_steps: float, decay_rate: float, staircase: bool = False,
        name: str = "InverseTimeDecay",
    ):  # fmt: skip
        if decay_steps <= 0:
            raise ValueError(f"Argument `decay_steps` must be > 0. Received: decay_steps={decay_steps}")
        self.initial_learning_rate, self.decay_steps, self.decay_rate = initial_learning_rate, decay_steps, decay_rate
        self.staircase, self.name = staircase, name

    def rate(self, step: float) -> float:
        part = step / self.decay_steps
        return self.initial_learning_rate / (1.0 + self.decay_rate * (math.floor(part) if self.staircase else part))


class PiecewiseConstantDecay(LearningRateSchedule):
    """``values[k]`` up to and including the step ``boundaries[k]``, then the next one."""

    def __init__(self, boundaries: Sequence[float], values: Sequence[float], name: str = "PiecewiseConstant"):
        if len(boundaries) != len(values) - 1:
            raise ValueError(
                "The length of boundaries should be 1 less than the length of values. Received: "
                f"boundaries={boundaries} of length {len(boundaries)}, and values={values} of length {len(values)}."
            )
        self.boundaries, self.values, self.name = list(boundaries), list(values), name

    def rate(self, step: float) -> float:
        return float(self.values[sum(step > b for b in self.boundaries)])


class PolynomialDecay(LearningRateSchedule):
    """From `initial_learning_rate` to `end_learning_rate` in `decay_steps`, along a power of the steps that are left.

    cycle: then again, in twice as many steps, and so on.
    """

    def __init__(
        self, initial_learning_rate: float, decay_steps: float, end_learning_rate: float = 0.0001, power: float = 1.0,
        cycle: bool = False, name: str = "PolynomialDecay",
    ):  # fmt: skip
        self.initial_learning_rate, self.decay_steps = initial_learning_rate, decay_steps
        self.end_learning_rate, self.power, self.cycle, self.name = end_learning_rate, power, cycle, name

    def rate(self, step: float) -> float:
        steps = self.decay_steps
        if self.cycle:
            steps *= 1.0 if step == 0 else math.ceil(step / steps)
        else:
            step = min(step, steps)
        left = math.pow(1.0 - step / steps, self.power)
        return (self.initial_learning_rate - self.end_learning_rate) * left + self.end_learning_rate


class CosineDecay(LearningRateSchedule):
    """Half a period of a cosine from `initial_learning_rate` down to `alpha` times that, in `decay_steps`.

    warmup_target, warmup_steps: before it, a straight line from `initial_learning_rate` to the target, which is then
    where the cosine starts.
    """

    def __init__(
        self, initial_learning_rate: float, decay_steps: float, alpha: float = 0.0, name: str = "CosineDecay",
        warmup_target: float | None = None, warmup_steps: float = 0,
    ):  # fmt: skip
        if decay_steps <= 0:
            raise ValueError(f"Argument `decay_steps` must be > 0. Received: decay_steps={decay_steps}")
        self.initial_learning_rate, self.decay_steps, self.alpha = initial_learning_rate, decay_steps, alpha
        self.name, self.warmup_target, self.warmup_steps = name, warmup_target, warmup_steps

    def rate(self, step: float) -> float:
        top = self.initial_learning_rate
        if self.warmup_target is not None:
            if step < self.warmup_steps:
                return top + (self.warmup_target - top) * step / self.warmup_steps
            top, step = self.warmup_target, step - self.warmup_steps
        part = 0.5 * (1.0 + math.cos(math.pi * min(step, self.decay_steps) / self.decay_steps))
        return top * ((1.0 - self.alpha) * part + self.alpha)


class CosineDecayRestarts(LearningRateSchedule):
    """Half periods of a cosine from `initial_learning_rate` down to `alpha` times that, one after the other.

    The first takes `first_decay_steps`, each other one `t_mul` times as many as that before it, and starts `m_mul`
    times as high.
    """

    def __init__(
        self, initial_learning_rate: float, first_decay_steps: float, t_mul: float = 2.0, m_mul: float = 1.0,
        alpha: float = 0.0, name: str = "SGDRDecay",
    ):  # fmt: skip
        if first_decay_steps <= 0:
            raise ValueError(
                f"Argument `first_decay_steps` must be > 0. Received: first_decay_steps={first_decay_steps}"
            )
        self.initial_learning_rate, self.first_decay_steps = initial_learning_rate, first_decay_steps
        self.t_mul, self.m_mul, self.alpha, self.name = t_mul, m_mul, alpha, name

    def rate(self, step: float) -> float:
        part = step / self.first_decay_steps
        if self.t_mul == 1.0:
            restarts = math.floor(part)
            part -= restarts
        else:
            restarts = math.floor(math.log(1.0 - part * (1.0 - self.t_mul)) / math.log(self.t_mul))
            part = (part - (1.0 - self.t_mul**restarts) / (1.0 - self.t_mul)) / self.t_mul**restarts
        height = 0.5 * self.m_mul**restarts * (1.0 + math.cos(math.pi * part))
        return self.initial_learning_rate * ((1.0 - self.alpha) * height + self.alpha)


__getattr__, __dir__ = public(
    "tf.keras.optimizers.schedules",
    ["LearningRateSchedule", "ExponentialDecay", "InverseTimeDecay", "PiecewiseConstantDecay", "PolynomialDecay",
     "CosineDecay", "CosineDecayRestarts"],
)  # fmt: skip
