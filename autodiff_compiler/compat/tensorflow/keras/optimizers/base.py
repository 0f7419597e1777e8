"""What optimizers share: the step counter, the learning rate, their variables, and what happens to gradients first."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .... import tensorflow as tf
from ...naming import name_scope
from .. import backend
from ..names import snake_case, unique
from ..variables import Variable
from .schedules import LearningRateSchedule

Rate = float | LearningRateSchedule | Callable[..., Any]


class Optimizer:
    """Base class: a subclass makes its variables in `build` and changes one variable in `update_step`.

    learning_rate: a number, a schedule, or a function of no arguments. weight_decay: each step first takes this part
    (times the learning rate) away from the variables. clipnorm, global_clipnorm, clipvalue: at most one of these
    bounds, of each gradient's norm, of the norm of all together, or of each element. gradient_accumulation_steps: only
    each so many-th call makes a step, by the mean of the gradients. use_ema: a moving average of the variables is kept,
    which they get after each `ema_overwrite_frequency` steps, and at the end of `fit`.

    Raises ValueError for several bounds, and for accumulation over less than two steps.
    """

    def __init__(
        self, learning_rate: Rate, weight_decay: float | None = None, clipnorm: float | None = None,
        clipvalue: float | None = None, global_clipnorm: float | None = None, name: str | None = None,
        use_ema: bool = False, ema_momentum: float = 0.99, ema_overwrite_frequency: int | None = None,
        loss_scale_factor: None = None, gradient_accumulation_steps: int | None = None, **kwargs: Any,
    ):  # fmt: skip
        if kwargs:
            raise ValueError(f"Argument(s) not recognized: {kwargs}")
        if sum(x is not None for x in (clipnorm, clipvalue, global_clipnorm)) > 1:
            raise ValueError(
                f"Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set. Received: clipnorm={clipnorm}, "
                f"clipvalue={clipvalue}, global_clipnorm={global_clipnorm}"
            )
        if gradient_accumulation_steps is not None and gradient_accumulation_steps < 2:
            raise ValueError(
                "`gradient_accumulation_steps` must be an integer >= 2. Received: gradient_accumulation_steps="
                f"{gradient_accumulation_steps}"
            )
        if loss_scale_factor is not None:
            raise ValueError("losses are not scaled here: multiply the loss, and divide the gradients")
        self.use_ema, self.ema_momentum, self.ema_overwrite_frequency = use_ema, ema_momentum, ema_overwrite_frequency
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self.name = unique(snake_case(type(self).__name__)) if name is None else name
        self.weight_decay, self.clipnorm, self.clipvalue, self.global_clipnorm = (
            weight_decay, clipnorm, clipvalue, global_clipnorm
        )  # fmt: skip
        self.built = False
        self._variables: list[Variable] = []
        self._trained: list[Any] = []
        self._index: dict[int, int] = {}
        self._not_decayed: set[int] = set()
        self._iterations = self.add_variable((), dtype=tf.int64, name="iteration")
        self._rate: Any = learning_rate
        if isinstance(learning_rate, (int, float, np.number)):
            self._rate = self._new(tf.constant(float(learning_rate), backend.floatx()), "learning_rate")
        elif not callable(learning_rate):
            raise ValueError(
                "Argument `learning_rate` should be float, or an instance of LearningRateSchedule, or a callable (that "
                "takes in the current iteration value and returns the corresponding learning rate value). Received "
                f"instead: learning_rate={learning_rate}"
            )

    # --- its own variables ----------------------------------------------------------------------------------------

    def _new(self, value: Any, name: str) -> Variable:
        with name_scope(f"{self.name}/"):
            made = Variable(value, trainable=False, name=name)
        self._variables.append(made)
        return made

    def add_variable(
        self, shape: Sequence[int], initializer: str = "zeros", dtype: Any = None, aggregation: str = "none",
        name: str = "variable",
    ) -> Variable:  # fmt: skip
        """A new variable of the optimizer."""
        from .. import initializers

        return self._new(initializers.get(initializer)(shape, dtype=dtype or backend.floatx()), name)

    def add_variable_from_reference(
        self, reference_variable: Any, name: str = "variable", initializer: Any = "zeros"
    ) -> Variable:  # fmt: skip
        """A new variable of the shape and dtype of another one, and with its name in front."""
        from .. import initializers

        path = getattr(reference_variable, "path", reference_variable.name)
        value = initializers.get(initializer)(tuple(reference_variable.shape), dtype=reference_variable.dtype)
        return self._new(value, f"{path.replace('/', '_').replace(':', '_')}_{name}")

    @property
    def variables(self) -> list[Variable]:
        """The step counter, the learning rate, and what was made for the trained variables."""
        return list(self._variables)

    @property
    def iterations(self) -> Any:
        """How many steps were made."""
        every = self.gradient_accumulation_steps
        return self._iterations if every is None else self._iterations // every

    @property
    def learning_rate(self) -> Any:
        """A variable, which may be assigned to; with a schedule its value for the next step, a tensor."""
        if isinstance(self._rate, LearningRateSchedule):
            return self._rate(self.iterations)
        return self._rate if isinstance(self._rate, Variable) else tf.convert_to_tensor(self._rate())

    @learning_rate.setter
    def learning_rate(self, value: Rate) -> None:
        if isinstance(self._rate, Variable) and not callable(value):
            self._rate.assign(float(value))
        elif isinstance(self._rate, LearningRateSchedule) and not isinstance(value, LearningRateSchedule):
            raise TypeError(
                "This optimizer was created with a `LearningRateSchedule` object as its `learning_rate` constructor "
                "argument, hence its learning rate is not settable. If you need the learning rate to be settable, you "
                "should instantiate the optimizer with a float `learning_rate` argument."
            )
        else:
            self._rate = value

    # --- a step ---------------------------------------------------------------------------------------------------

    def build(self, var_list: Iterable[Any]) -> None:
        """Make the variables that go with those to train."""
        self._trained = list(var_list)
        self._index = {id(v): k for k, v in enumerate(self._trained)}
        self._averages = self._for_each("average") if self.use_ema else []
        self._summed = self._for_each("gradient_accumulator") if self.gradient_accumulation_steps else []
        self.built = True

    def _for_each(self, name: str, initializer: Any = "zeros") -> list[Variable]:
        return [self.add_variable_from_reference(v, name, initializer) for v in self._trained]

    def _get_variable_index(self, variable: Any) -> int:
        return self._index[id(variable)]

    def exclude_from_weight_decay(self, var_list: Iterable[Any] = (), var_names: Iterable[str] = ()) -> None:
        """Take no weight decay from these variables, or from those that the optimizer was built for whose name
        contains one of the names."""
        self._not_decayed.update(id(v) for v in var_list)
        self._names_not_decayed = tuple(var_names)

    _names_not_decayed: tuple[str, ...] = ()

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Any]]) -> Variable:
        """One step, from pairs of gradients and variables; the step counter is returned.

        Pairs without a gradient (None) are left out, with a warning. Raises ValueError if there is no gradient at all,
        and for a variable that was not among those of the first step.
        """
        pairs = [(g, v) for g, v in grads_and_vars]
        if not pairs:
            raise ValueError("apply_gradients got no gradients: its argument has to be pairs (gradient, variable)")
        self.apply([g for g, _ in pairs], [v for _, v in pairs])
        return self._iterations

    def apply(self, grads: Sequence[Any], trainable_variables: Sequence[Any] | None = None) -> None:
        """One step, from gradients and the variables that they belong to: those of the first step by default."""
        if not len(grads):
            return
        if trainable_variables is None:
            if not self.built:
                raise ValueError(
                    "When passing `grads` without `variables`, the optimizer must already be built on a list of "
                    "variables. Call `optimizer.build(trainable_variables)` first. "
                )
            trainable_variables = self._trained
        variables = list(trainable_variables)
        if len(variables) != len(grads):
            raise ValueError(f"there are {len(grads)} gradients for {len(variables)} variables")
        if not self.built:
            self.build(variables)
            self.built = True
        for v in variables:
            if id(v) not in self._index:
                raise ValueError(
                    f"Unknown variable: {v}. This optimizer can only be called for the variables it was originally "
                    "built with. When working with a new set of variables, you should recreate a new optimizer "
                    "instance."
                )
        pairs = [(_dense(g, v.dtype), v) for g, v in zip(grads, variables) if g is not None]
        if not pairs:
            raise ValueError("No gradients provided for any variable.")
        if len(pairs) < len(variables):
            without = [getattr(v, "path", v.name) for g, v in zip(grads, variables) if g is None]
            warnings.warn(f"Gradients do not exist for variables {without} when minimizing the loss.", stacklevel=3)
        for g, v in pairs:
            if g.shape != v.shape:
                raise tf.errors.InvalidArgumentError(
                    None, None,
                    f"Cannot update variable with shape {list(v.shape)} using a Tensor with shape {list(g.shape)}, "
                    "shapes must be equal.",
                )  # fmt: skip
        if self.gradient_accumulation_steps is not None:
            pairs = self._accumulated(pairs, self.gradient_accumulation_steps)
        if pairs:
            self._step(pairs)
        self._iterations.assign_add(1)

    def _step(self, pairs: list[tuple[Any, Any]]) -> None:
        rate = tf.convert_to_tensor(self.learning_rate)
        for _, v in pairs:
            if self.weight_decay and not self._undecayed(v):
                w = v.numpy()
                v.assign(w - w * number(self.weight_decay, w.dtype) * rate.numpy().astype(w.dtype))
        for g, (_, v) in zip(self._clipped([g for g, _ in pairs]), pairs):
            self.update_step(g, v, rate)
        if self.use_ema:
            self._move_averages()
        for _, v in pairs:
            if v.constraint is not None:
                v.assign(v.constraint(v))

    def _accumulated(self, pairs: list[tuple[Any, Any]], every: int) -> list[tuple[Any, Any]]:
        """The means of the gradients of `every` calls, at the last of these; nothing at the others."""
        last = (int(self._iterations.numpy()) + 1) % every == 0
        made = []
        for g, v in pairs:
            kept = self._summed[self._index[id(v)]]
            total = g + kept
            kept.assign(tf.zeros_like(total) if last else total)
            made.append((total / float(every), v))
        return made if last else []

    def _move_averages(self) -> None:
        """Move the averages towards the variables."""
        step = int(self.iterations.numpy())
        for v, average in zip(self._trained, self._averages):
            kept = self.ema_momentum if step else 0.0
            average.assign(kept * average + (1.0 - kept) * v)
        if self.ema_overwrite_frequency and (step + 1) % self.ema_overwrite_frequency == 0:
            self.finalize_variable_values(self._trained)

    def finalize_variable_values(self, var_list: Iterable[Any]) -> None:
        """Give the variables their moving averages, if these are kept."""
        if self.use_ema:
            for v in var_list:
                v.assign(self._averages[self._index[id(v)]])

    def get_config(self) -> dict[str, Any]:
        """The arguments to make such an optimizer with."""
        found: dict[str, Any] = {}
        for cls in type(self).__mro__:
            if issubclass(cls, Optimizer):
                for name in inspect.signature(cls.__init__).parameters:
                    if name not in ("self", "args", "kwargs", "kw", "learning_rate") and name not in found:
                        found[name] = getattr(self, name, None)
        fixed = isinstance(self._rate, Variable)
        return {**found, "learning_rate": float(self._rate.numpy()) if fixed else self._rate}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """An optimizer of what `get_config` gave."""
        return cls(**config)

    def _undecayed(self, v: Any) -> bool:
        return id(v) in self._not_decayed or any(name in v.name for name in self._names_not_decayed)

    def _clipped(self, grads: list[Any]) -> list[Any]:
        if not (self.clipvalue or self.clipnorm or self.global_clipnorm):
            return grads
        arrays = [g.numpy() for g in grads]
        if self.clipvalue:
            arrays = [np.clip(g, -self.clipvalue, self.clipvalue) for g in arrays]
        elif self.clipnorm:
            arrays = [_bounded(g, _norm([g]), self.clipnorm) for g in arrays]
        elif self.global_clipnorm:
            norm = _norm(arrays)
            arrays = [_bounded(g, norm, self.global_clipnorm) for g in arrays]
        return [tf.constant(g) for g in arrays]

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Change one variable, by its gradient, a tensor of its dtype."""
        raise NotImplementedError(f"{type(self).__name__} does not say what a step is")

    def assign(self, variable: Any, value: Any) -> None:
        variable.assign(value)

    def assign_add(self, variable: Any, value: Any) -> None:
        variable.assign_add(value)

    def assign_sub(self, variable: Any, value: Any) -> None:
        variable.assign_sub(value)

    def minimize(self, loss: Callable[[], Any], var_list: Any, tape: Any = None) -> Variable:
        """One step of minimising a function of no arguments, or what was recorded on `tape`."""
        variables = list(var_list() if callable(var_list) else var_list)
        if tape is None:
            with tf.GradientTape() as tape:
                value = loss()
        else:
            value = loss
        return self.apply_gradients(zip(tape.gradient(value, variables), variables))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}>"


def number(x: float, dtype: Any) -> Any:
    """A setting as a number of this dtype, by way of Keras' default one, as Keras does: 0.9 has the digits of
    float32 also where the variable is float64."""
    return dtype.type(np.dtype(backend.floatx()).type(x))


def _dense(g: Any, dtype: Any) -> Any:
    """A gradient as a tensor of the variable's dtype; `IndexedSlices` become dense."""
    g = tf.convert_to_tensor(g)
    return g if g.dtype == dtype else tf.cast(g, dtype)


def _norm(grads: list[Any]) -> float:
    return math.sqrt(sum(float(np.sum(np.square(g, dtype=np.float64))) for g in grads))


def _bounded(g: Any, norm: float, bound: float) -> Any:
    return g * g.dtype.type(min(1.0, bound / norm)) if norm else g
