"""Cells of recurrent layers: one step, ``cell(inputs, states)`` gives the output and the new states."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import tensorflow as tf
from .. import activations, initializers, regularizers
from ..layer import Layer
from .core import floating, positive_integer, unbuilt


class _Cell(Layer):
    """What cells share: `kernel` ``(n, parts * units)``, `recurrent_kernel` ``(units, parts * units)`` and `bias`.

    dropout, recurrent_dropout: parts of the inputs and of the state that training drops, the same ones in all steps.
    """

    _parts = 1
    _states = 1

    def __init__(
        self, units: int, activation: Any = "tanh", use_bias: bool = True, kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal", bias_initializer: Any = "zeros", kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None, bias_regularizer: Any = None, kernel_constraint: Any = None,
        recurrent_constraint: Any = None, bias_constraint: Any = None, dropout: float = 0.0,
        recurrent_dropout: float = 0.0, seed: int | None = None, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self.units = positive_integer("units", units)
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.recurrent_initializer = initializers.get(recurrent_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.recurrent_regularizer = regularizers.get(recurrent_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint, self.recurrent_constraint = kernel_constraint, recurrent_constraint
        self.bias_constraint = bias_constraint
        self.dropout, self.recurrent_dropout = min(1.0, max(0.0, dropout)), min(1.0, max(0.0, recurrent_dropout))
        self._random = None if seed is None else np.random.default_rng(seed)
        self._dropped: dict[str, Any] = {}
        self.state_size: Any = units if self._states == 1 else [units] * self._states
        self.output_size = units

    def build(self, input_shape: Any) -> None:
        width = self._parts * self.units
        self.kernel = self.add_weight(
            (input_shape[-1], width), self.kernel_initializer, regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint, name="kernel",
        )  # fmt: skip
        self.recurrent_kernel = self.add_weight(
            (self.units, width), self.recurrent_initializer, regularizer=self.recurrent_regularizer,
            constraint=self.recurrent_constraint, name="recurrent_kernel",
        )  # fmt: skip
        self.bias = None
        if self.use_bias:
            shape, first = self._biases()
            self.bias = self.add_weight(
                shape, first, regularizer=self.bias_regularizer, constraint=self.bias_constraint, name="bias"
            )

    def _biases(self) -> tuple[tuple[int, ...], Any]:
        """The shape of the bias, and its initializer."""
        return (self._parts * self.units,), self.bias_initializer

    def get_initial_state(self, batch_size: Any = None) -> list[Any]:
        """Zeros, one array ``(batch_size, units)`` for each state."""
        return [tf.zeros([int(batch_size), self.units], self._dtype) for _ in range(self._states)]

    def reset_dropout_mask(self) -> None:
        """Choose anew what is dropped, at the next step."""
        self._dropped.clear()

    def _kept(self, x: Any, rate: float, name: str, training: Any) -> Any:
        if not training or not rate:
            return x
        if name not in self._dropped:
            random = self._random if self._random is not None else initializers.generator(None)
            kept = random.random(tuple(x.shape)) >= rate
            self._dropped[name] = tf.constant(kept * (1.0 / (1.0 - rate) if rate < 1 else 0.0), x.dtype)
        return x * self._dropped[name]

    def _inputs(self, inputs: Any, states: Any, training: Any) -> tuple[Any, Any]:
        """The inputs and the first state, with what training drops."""
        x = self._kept(floating(inputs, self.kernel), self.dropout, "inputs", training)
        h = states[0] if isinstance(states, (list, tuple)) else states
        return x, self._kept(h, self.recurrent_dropout, "state", training)

    def __getattr__(self, name: str) -> Any:
        raise unbuilt(self, name, ("kernel", "recurrent_kernel", "bias"))


class SimpleRNNCell(_Cell):
    """One step of a fully connected recurrence: ``tanh(inputs @ kernel + state @ recurrent_kernel + bias)``."""

    def call(self, inputs: Any, states: Any, training: bool = False) -> Any:
        x, h = self._inputs(inputs, states, training)
        z = tf.matmul(x, self.kernel)
        if self.bias is not None:
            z = z + self.bias
        out = self.activation(z + tf.matmul(h, self.recurrent_kernel))
        return out, [out] if isinstance(states, (list, tuple)) else out


class LSTMCell(_Cell):
    """One step of a long short-term memory; its states are the output and the carry.

    The kernels hold the parts for the input gate, the forget gate, the carry and the output gate, in this order.
    """

    _parts = 4
    _states = 2

    def __init__(
        self, units: int, activation: Any = "tanh", recurrent_activation: Any = "sigmoid", use_bias: bool = True,
        unit_forget_bias: bool = True, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(units, activation, use_bias, **kwargs)
        self.recurrent_activation = activations.get(recurrent_activation)
        self.unit_forget_bias = unit_forget_bias

    def _biases(self) -> tuple[tuple[int, ...], Any]:
        shape, first = super()._biases()
        if not self.unit_forget_bias:
            return shape, first
        ones = np.repeat([0.0, 1.0, 0.0, 0.0], self.units)
        values = np.where(ones == 1, 1.0, first(shape, dtype=self._dtype).numpy())
        return shape, lambda shape, dtype=None: tf.constant(values, dtype)

    def call(self, inputs: Any, states: Any, training: bool = False) -> Any:
        x, h = self._inputs(inputs, states, training)
        z = tf.matmul(x, self.kernel) + tf.matmul(h, self.recurrent_kernel)
        if self.bias is not None:
            z = z + self.bias
        i, f, c, o = tf.split(z, 4, axis=1)
        gate = self.recurrent_activation
        carry = gate(f) * states[1] + gate(i) * self.activation(c)
        out = gate(o) * self.activation(carry)
        return out, [out, carry]


class GRUCell(_Cell):
    """One step of a gated recurrent unit.

    The kernels hold the parts for the update gate, the reset gate and the new state, in this order. reset_after: the
    reset gate acts on the product of state and kernel, and `bias` has a row for the inputs and one for the state.
    """

    _parts = 3

    def __init__(
        self, units: int, activation: Any = "tanh", recurrent_activation: Any = "sigmoid", use_bias: bool = True,
        reset_after: bool = True, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(units, activation, use_bias, **kwargs)
        self.recurrent_activation = activations.get(recurrent_activation)
        self.reset_after = reset_after

    def _biases(self) -> tuple[tuple[int, ...], Any]:
        shape, first = super()._biases()
        return ((2, *shape) if self.reset_after else shape), first

    def call(self, inputs: Any, states: Any, training: bool = False) -> Any:
        before = states[0] if isinstance(states, (list, tuple)) else states
        x, h = self._inputs(inputs, states, training)
        gate, kernel, units = self.recurrent_activation, self.recurrent_kernel, self.units
        by_input = tf.matmul(x, self.kernel)
        if self.bias is not None:
            by_input = by_input + (self.bias[0] if self.reset_after else self.bias)
        input_z, input_r, input_h = tf.split(by_input, 3, axis=-1)
        if self.reset_after:
            by_state = tf.matmul(h, kernel)
            if self.bias is not None:
                by_state = by_state + self.bias[1]
            state_z, state_r, state_h = tf.split(by_state, 3, axis=-1)
            z, r = gate(input_z + state_z), gate(input_r + state_r)
            new = self.activation(input_h + r * state_h)
        else:
            state_z, state_r = tf.split(tf.matmul(h, kernel[:, : 2 * units]), 2, axis=-1)
            z, r = gate(input_z + state_z), gate(input_r + state_r)
            new = self.activation(input_h + tf.matmul(r * h, kernel[:, 2 * units :]))
        out = z * before + (1.0 - z) * new
        return out, [out] if isinstance(states, (list, tuple)) else out


class StackedRNNCells(Layer):
    """Cells on top of each other, as one cell: its states are lists, one for each cell."""

    def __init__(self, cells: Any, **kwargs: Any):
        super().__init__(**kwargs)
        for cell in cells:
            if not hasattr(cell, "state_size"):
                raise ValueError(f"All cells must have a `state_size` attribute. Received cells without it: {cell}")
        self.cells = list(cells)

    @property
    def state_size(self) -> list[Any]:
        return [cell.state_size for cell in self.cells]

    @property
    def output_size(self) -> Any:
        return getattr(self.cells[-1], "output_size", self.cells[-1].state_size)

    def get_initial_state(self, batch_size: Any = None) -> list[Any]:
        """The first states of all cells."""
        return [initial_state(cell, batch_size, self._dtype) for cell in self.cells]

    def call(self, inputs: Any, states: Any, training: bool = False) -> Any:
        new, x = [], inputs
        for cell, state in zip(self.cells, states):
            nested = isinstance(state, (list, tuple))
            x, after = cell(x, state if nested else [state])
            new.append(after if nested or not isinstance(after, (list, tuple)) else after[0])
        return x, new


def initial_state(cell: Any, batch_size: Any, dtype: Any) -> Any:
    """The first states of a cell: zeros, unless it says so itself. One alone is not in a list."""
    if hasattr(cell, "get_initial_state"):
        found = cell.get_initial_state(batch_size=batch_size)
    else:
        sizes = cell.state_size if isinstance(cell.state_size, (list, tuple)) else [cell.state_size]
        found = [tf.zeros([int(batch_size), int(n)], dtype) for n in sizes]
    return found[0] if isinstance(found, list) and len(found) == 1 and not isinstance(found[0], list) else found
