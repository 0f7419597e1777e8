"""Layers around a layer: along sequences in both directions, and step by step."""

from __future__ import annotations

from typing import Any

from .... import tensorflow as tf
from ..layer import Layer
from .recurrent import RNN

_MERGES = ("concat", "sum", "mul", "ave", None)


class Bidirectional(Layer):
    """A recurrent layer and a copy of it that goes backwards.

    merge_mode: "concat", "sum", "mul", "ave", or None for both results. backward_layer: instead of a copy.
    With `return_state` of the layer its states follow, then those of the copy.

    >>> from autodiff_compiler.compat import tensorflow as tf
    >>> tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(4))(tf.ones((2, 5, 3))).shape
    TensorShape([2, 8])
    """

    supports_masking = True

    def __init__(
        self, layer: Any, merge_mode: str | None = "concat", weights: Any = None, backward_layer: Any = None,
        **kwargs: Any,
    ):  # fmt: skip
        if not isinstance(layer, RNN):
            raise ValueError(f"Please initialize `Bidirectional` layer with a recurrent layer. Received: {layer}")
        if merge_mode not in _MERGES:
            raise ValueError(
                f"Invalid merge mode. Received: {merge_mode}. Merge mode should be one of {set(_MERGES)}"
            )  # fmt: skip
        super().__init__(**kwargs)
        if backward_layer is None:
            config = {**layer.get_config(), "name": f"backward_{layer.name}", "go_backwards": not layer.go_backwards}
            if type(layer) is RNN:
                config["cell"] = _again(layer.cell)
            backward_layer = type(layer).from_config(config)
        if backward_layer.go_backwards == layer.go_backwards:
            raise ValueError(
                "Forward layer and backward layer should have different `go_backwards` value. Received: "
                f"forward_layer.go_backwards {layer.go_backwards}, "
                f"backward_layer.go_backwards={backward_layer.go_backwards}"
            )
        layer._name = f"forward_{layer.name}"
        layer._scope_name = layer._name + "/"
        self.forward_layer, self.backward_layer, self.merge_mode = layer, backward_layer, merge_mode
        self.return_sequences, self.return_state = layer.return_sequences, layer.return_state
        self._first = weights

    def call(self, sequences: Any, initial_state: Any = None, mask: Any = None, training: bool | None = None) -> Any:
        half = 0 if initial_state is None else len(initial_state) // 2
        there, back = (None, None) if initial_state is None else (initial_state[:half], initial_state[half:])
        y = self.forward_layer(sequences, initial_state=there, mask=mask)
        reverse = self.backward_layer(sequences, initial_state=back, mask=mask)
        if self._first is not None:
            weights, self._first = self._first, None
            self.set_weights(weights)
            return self.call(sequences, initial_state, mask, training)
        states: list[Any] = []
        if self.return_state:
            states = [*y[1:], *reverse[1:]]
            y, reverse = y[0], reverse[0]
        if self.return_sequences:
            reverse = tf.reverse(reverse, [1])
        merged: list[Any]
        if self.merge_mode == "concat":
            merged = [tf.concat([y, reverse], -1)]
        elif self.merge_mode == "sum":
            merged = [y + reverse]
        elif self.merge_mode == "mul":
            merged = [y * reverse]
        elif self.merge_mode == "ave":
            merged = [(y + reverse) / 2.0]
        else:
            merged = [y, reverse]
        out = [*merged, *states]
        return out[0] if len(out) == 1 else tuple(out)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        mask = previous_mask[0] if isinstance(previous_mask, list) else previous_mask
        mask = mask if self.return_sequences else None
        if self.merge_mode is None:
            return [mask, mask]
        return [mask] if self.return_state else mask

    def reset_state(self) -> None:
        """Start from zeros at the next call."""
        self.forward_layer.reset_state()
        self.backward_layer.reset_state()


def _again(cell: Any) -> Any:
    """A cell of the same configuration with weights of its own."""
    if hasattr(cell, "cells"):
        return [_again(one) for one in cell.cells]
    return type(cell).from_config(cell.get_config())


class TimeDistributed(Layer):
    """A layer for each step: the first two axes count as one batch."""

    supports_masking = True

    def __init__(self, layer: Any, **kwargs: Any):
        if not isinstance(layer, Layer):
            raise ValueError(
                f"Please initialize `TimeDistributed` layer with a `keras.layers.Layer` instance. Received: {layer}"
            )
        super().__init__(**kwargs)
        self.layer = layer

    def call(self, inputs: Any, training: bool | None = None, mask: Any = None) -> Any:
        if len(inputs.shape) < 3:
            raise ValueError(f"`TimeDistributed` should be passed an `input_shape` with at least 3 dimensions, "
                             f"received: {tuple(inputs.shape)}")  # fmt: skip
        batch, time, *rest = [int(n) for n in inputs.shape]
        out = self.layer(tf.reshape(inputs, [batch * time, *rest]))
        return tf.reshape(out, [batch, time, *[int(n) for n in out.shape][1:]])
