"""Activations as layers."""

from __future__ import annotations

from typing import Any

from .... import tensorflow as tf
from .. import activations, initializers, regularizers
from ..layer import Layer


class Activation(Layer):
    """An activation, by its name or as a function."""

    supports_masking = True

    def __init__(self, activation: Any, **kwargs: Any):
        super().__init__(**kwargs)
        self.activation = activations.get(activation)

    def call(self, inputs: Any) -> Any:
        return self.activation(inputs)


class ReLU(Layer):
    supports_masking = True

    def __init__(
        self, max_value: float | None = None, negative_slope: float = 0.0, threshold: float = 0.0, **kwargs: Any
    ):  # fmt: skip
        super().__init__(**kwargs)
        for name, value in (("max_value", max_value), ("negative_slope", negative_slope), ("threshold", threshold)):
            if value is not None and value < 0.0:
                raise ValueError(f"{name} of a ReLU layer cannot be a negative value. Received: {value}")
        self.max_value, self.negative_slope, self.threshold = max_value, negative_slope, threshold

    def call(self, inputs: Any) -> Any:
        return activations.relu(inputs, self.negative_slope, self.max_value, self.threshold)


class LeakyReLU(Layer):
    supports_masking = True

    def __init__(self, negative_slope: float = 0.3, **kwargs: Any):
        super().__init__(**kwargs)
        self.negative_slope = negative_slope

    def call(self, inputs: Any) -> Any:
        return activations.leaky_relu(inputs, self.negative_slope)


class ELU(Layer):
    supports_masking = True

    def __init__(self, alpha: float = 1.0, **kwargs: Any):
        super().__init__(**kwargs)
        self.alpha = alpha

    def call(self, inputs: Any) -> Any:
        return activations.elu(inputs, self.alpha)


class Softmax(Layer):
    supports_masking = True

    def __init__(self, axis: Any = -1, **kwargs: Any):
        super().__init__(**kwargs)
        self.axis = axis

    def call(self, inputs: Any) -> Any:
        if isinstance(self.axis, (list, tuple)):
            return tf.exp(inputs - tf.reduce_logsumexp(inputs, axis=list(self.axis), keepdims=True))
        return activations.softmax(inputs, self.axis)


class PReLU(Layer):
    """``x`` where it is positive, else ``alpha * x``: a weight of the inputs' shape without the batch, and of length 1
    along `shared_axes`."""

    supports_masking = True

    def __init__(
        self, alpha_initializer: Any = "zeros", alpha_regularizer: Any = None, alpha_constraint: Any = None,
        shared_axes: Any = None, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self.alpha_initializer = initializers.get(alpha_initializer)
        self.alpha_regularizer, self.alpha_constraint = regularizers.get(alpha_regularizer), alpha_constraint
        self.shared_axes = [] if shared_axes is None else shared_axes
        if isinstance(self.shared_axes, int):
            self.shared_axes = [self.shared_axes]

    def build(self, input_shape: Any) -> None:
        shape = [1 if k + 1 in self.shared_axes else n for k, n in enumerate(input_shape[1:])]
        self.alpha = self.add_weight(
            shape, self.alpha_initializer, regularizer=self.alpha_regularizer, constraint=self.alpha_constraint,
            name="alpha",
        )  # fmt: skip

    def call(self, inputs: Any) -> Any:
        return activations.relu(inputs) - self.alpha * activations.relu(-inputs)
