"""Recurrent layers: a cell, step by step along the second axis of ``(batch, time, features)``."""

from __future__ import annotations

from typing import Any

from .....tape.nest import flatten, map_nested, pack_like
from .... import tensorflow as tf
from ..layer import Layer
from .cells import GRUCell, LSTMCell, SimpleRNNCell, StackedRNNCells, initial_state


class RNN(Layer):
    """A cell, or a list of cells on top of each other, along sequences ``(batch, time, features)``.

    The result is the last output ``(batch, units)``, or with `return_sequences` all of them ``(batch, time, units)``;
    with `return_state` the last states follow it. go_backwards: from the end to the start. stateful: the states
    are those that the call before ended with, until `reset_state`. Where a mask ``(batch, time)`` is false, the step
    leaves output and states as they were; with `zero_output_for_mask` the output is zero there.

    A cell is a layer with a `state_size`, whose call on inputs and a list of states gives an output and the new states.

    >>> from autodiff_compiler.compat import tensorflow as tf
    >>> layer = tf.keras.layers.RNN(tf.keras.layers.LSTMCell(4), return_sequences=True)
    >>> layer(tf.ones((2, 5, 3))).shape
    TensorShape([2, 5, 4])
    """

    supports_masking = True
    ndim = 3

    def __init__(
        self, cell: Any, return_sequences: bool = False, return_state: bool = False, go_backwards: bool = False,
        stateful: bool = False, unroll: bool = False, zero_output_for_mask: bool = False, **kwargs: Any,
    ):  # fmt: skip
        if isinstance(cell, (list, tuple)):
            cell = StackedRNNCells(cell)
        if not hasattr(cell, "state_size"):
            raise ValueError(
                "The RNN cell should have a `state_size` attribute (single integer or list of integers, one integer "
                f"per RNN state). Received: cell={cell}"
            )
        super().__init__(**kwargs)
        self.cell = cell
        self.return_sequences, self.return_state = return_sequences, return_state
        self.go_backwards, self.stateful = go_backwards, stateful
        self.unroll, self.zero_output_for_mask = unroll, zero_output_for_mask
        self._kept_state: Any = None

    def get_initial_state(self, batch_size: Any) -> list[Any]:
        """Zeros for each state of the cell."""
        found = initial_state(self.cell, int(batch_size), self._dtype)
        return list(found) if isinstance(found, (list, tuple)) else [found]

    def reset_state(self) -> None:
        """Start from zeros at the next call."""
        self._kept_state = None

    reset_states = reset_state

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        mask = previous_mask[0] if isinstance(previous_mask, list) else previous_mask
        mask = mask if self.return_sequences else None
        return [mask] if self.return_state else mask

    def call(self, sequences: Any, initial_state: Any = None, mask: Any = None, training: bool = False) -> Any:
        if initial_state is None:
            kept = self._kept_state if self.stateful else None
            initial_state = self.get_initial_state(sequences.shape[0]) if kept is None else kept
        states = list(initial_state) if isinstance(initial_state, (list, tuple)) else [initial_state]
        states = map_nested(lambda s: tf.convert_to_tensor(s), states)
        if isinstance(mask, (list, tuple)):
            mask = mask[0]
        for cell in getattr(self.cell, "cells", [self.cell]):
            if hasattr(cell, "reset_dropout_mask"):
                cell.reset_dropout_mask()
        steps = tf.unstack(sequences, axis=1)
        counts = None if mask is None else tf.unstack(tf.cast(mask, tf.bool), axis=1)
        order = list(range(len(steps)))[:: -1 if self.go_backwards else 1]
        outputs: list[Any] = []
        last: Any = None
        for t in order:
            out, after = self.cell(steps[t], states)
            after = list(after) if isinstance(after, (list, tuple)) else [after]
            if counts is not None:
                counted = tf.expand_dims(counts[t], -1)
                held = tf.zeros_like(out) if last is None or self.zero_output_for_mask else last
                after = pack_like(
                    states, [tf.where(counted, new, old) for new, old in zip(flatten(after), flatten(states))]
                )
                last = tf.where(counted, out, tf.zeros_like(out) if last is None else last)
                outputs.append(tf.where(counted, out, held))
            else:
                last = out
                outputs.append(out)
            states = after
        if self.stateful:
            self._kept_state = map_nested(lambda s: tf.constant(s.numpy()), states)
        result = tf.stack(outputs, axis=1) if self.return_sequences else last
        return [result, *states] if self.return_state else result


class _Of(RNN):
    """A recurrent layer of one kind of cell."""

    _cell: type[Any]

    def __init__(
        self, units: int, activation: Any = "tanh", *, return_sequences: bool = False, return_state: bool = False,
        go_backwards: bool = False, stateful: bool = False, unroll: bool = False, zero_output_for_mask: bool = False,
        activity_regularizer: Any = None, trainable: bool = True, dtype: Any = None, name: str | None = None,
        use_cudnn: Any = "auto", implementation: int = 2, input_shape: Any = None, **kwargs: Any,
    ):  # fmt: skip
        given = {} if input_shape is None else {"input_shape": input_shape}
        super().__init__(
            self._cell(units, activation, dtype=dtype, **kwargs), return_sequences, return_state, go_backwards,
            stateful, unroll, zero_output_for_mask, activity_regularizer=activity_regularizer, trainable=trainable,
            dtype=dtype, name=name, **given,
        )  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        """The cell's settings are those of the layer: `units`, `activation` and so on."""
        if name.startswith("_") or "cell" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.cell, name)


class SimpleRNN(_Of):
    """A fully connected recurrence along sequences ``(batch, time, features)``: see `SimpleRNNCell` and `RNN`."""

    _cell = SimpleRNNCell


class LSTM(_Of):
    """A long short-term memory along sequences ``(batch, time, features)``: see `LSTMCell` and `RNN`.

    >>> from autodiff_compiler.compat import tensorflow as tf
    >>> output, state, carry = tf.keras.layers.LSTM(4, return_state=True)(tf.ones((2, 5, 3)))
    >>> output.shape, carry.shape
    (TensorShape([2, 4]), TensorShape([2, 4]))
    """

    _cell = LSTMCell


class GRU(_Of):
    """Gated recurrent units along sequences ``(batch, time, features)``: see `GRUCell` and `RNN`."""

    _cell = GRUCell
