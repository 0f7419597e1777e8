"""Normalisation of a batch, and of each element of one."""

from __future__ import annotations

from typing import Any

from .... import tensorflow as tf
from .. import initializers, regularizers
from ..layer import Layer


class BatchNormalization(Layer):
    """Inputs less their mean and divided by their standard deviation, then scaled by `gamma` and moved by `beta`.

    In training these are the mean and the variance over the batch and all axes but `axis`, and the moving ones follow
    them: ``moving = momentum * moving + (1 - momentum) * batch``. Otherwise, and where `trainable` is False, they are
    the moving ones. `epsilon` is added to the variance.

    Weights: `gamma`, `beta`; not trainable: `moving_mean`, `moving_variance`; all of the length of the axis.
    """

    supports_masking = True

    def __init__(
        self, axis: int = -1, momentum: float = 0.99, epsilon: float = 1e-3, center: bool = True, scale: bool = True,
        beta_initializer: Any = "zeros", gamma_initializer: Any = "ones", moving_mean_initializer: Any = "zeros",
        moving_variance_initializer: Any = "ones", beta_regularizer: Any = None, gamma_regularizer: Any = None,
        beta_constraint: Any = None, gamma_constraint: Any = None, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self.axis, self.momentum, self.epsilon = int(axis), float(momentum), float(epsilon)
        self.center, self.scale = center, scale
        self.beta_initializer = initializers.get(beta_initializer)
        self.gamma_initializer = initializers.get(gamma_initializer)
        self.moving_mean_initializer = initializers.get(moving_mean_initializer)
        self.moving_variance_initializer = initializers.get(moving_variance_initializer)
        self.beta_regularizer = regularizers.get(beta_regularizer)
        self.gamma_regularizer = regularizers.get(gamma_regularizer)
        self.beta_constraint, self.gamma_constraint = beta_constraint, gamma_constraint

    def build(self, input_shape: Any) -> None:
        shape = (input_shape[self.axis],)
        self.gamma = self.beta = None
        if self.scale:
            self.gamma = self.add_weight(
                shape, self.gamma_initializer, regularizer=self.gamma_regularizer, constraint=self.gamma_constraint,
                name="gamma",
            )  # fmt: skip
        if self.center:
            self.beta = self.add_weight(
                shape, self.beta_initializer, regularizer=self.beta_regularizer, constraint=self.beta_constraint,
                name="beta",
            )  # fmt: skip
        self.moving_mean = self.add_weight(shape, self.moving_mean_initializer, trainable=False, name="moving_mean")
        self.moving_variance = self.add_weight(
            shape, self.moving_variance_initializer, trainable=False, name="moving_variance"
        )
        self._axes = {self.axis: input_shape[self.axis]}

    def call(self, inputs: Any, training: bool | None = None, mask: Any = None) -> Any:
        if mask is not None and training and self.trainable:
            raise ValueError(
                "BatchNormalization takes no mask in training here: leave the masked rows out of the batch"
            )
        rank = len(inputs.shape)
        axis = self.axis % rank
        if training and self.trainable:
            mean, variance = tf.nn.moments(inputs, axes=[k for k in range(rank) if k != axis])
            for moving, batch in ((self.moving_mean, mean), (self.moving_variance, variance)):
                old, new = moving.numpy(), batch.numpy()
                moving.assign(old * old.dtype.type(self.momentum) + new * old.dtype.type(1.0 - self.momentum))
        else:
            mean, variance = self.moving_mean, self.moving_variance
        length = int(inputs.shape[axis])
        lengths = [length if k == axis else 1 for k in range(rank)]

        def along_axis(x: Any) -> Any:
            return x if x is None or axis == rank - 1 else tf.reshape(x, lengths)

        return tf.nn.batch_normalization(
            inputs, along_axis(mean), along_axis(variance), along_axis(self.beta), along_axis(self.gamma), self.epsilon
        )


class LayerNormalization(Layer):
    """Each element of the batch less its mean and divided by its standard deviation, over `axis`.

    Then it is scaled by `gamma` and moved by `beta`, which have the shape of these axes. `epsilon` is added to the
    variance.
    """

    supports_masking = True

    def __init__(
        self, axis: Any = -1, epsilon: float = 1e-3, center: bool = True, scale: bool = True,
        beta_initializer: Any = "zeros", gamma_initializer: Any = "ones", beta_regularizer: Any = None,
        gamma_regularizer: Any = None, beta_constraint: Any = None, gamma_constraint: Any = None, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self.axis = list(axis) if isinstance(axis, (list, tuple)) else int(axis)
        self.epsilon, self.center, self.scale = float(epsilon), center, scale
        self.beta_initializer = initializers.get(beta_initializer)
        self.gamma_initializer = initializers.get(gamma_initializer)
        self.beta_regularizer = regularizers.get(beta_regularizer)
        self.gamma_regularizer = regularizers.get(gamma_regularizer)
        self.beta_constraint, self.gamma_constraint = beta_constraint, gamma_constraint

    def build(self, input_shape: Any) -> None:
        shape = tuple([input_shape[k] for k in (self.axis if isinstance(self.axis, list) else [self.axis])])
        self.gamma = self.beta = None
        if self.scale:
            self.gamma = self.add_weight(
                shape, self.gamma_initializer, regularizer=self.gamma_regularizer, constraint=self.gamma_constraint,
                name="gamma",
            )  # fmt: skip
        if self.center:
            self.beta = self.add_weight(
                shape, self.beta_initializer, regularizer=self.beta_regularizer, constraint=self.beta_constraint,
                name="beta",
            )  # fmt: skip

    def call(self, inputs: Any) -> Any:
        rank = len(inputs.shape)
        axes = [k % rank for k in (self.axis if isinstance(self.axis, list) else [self.axis])]
        lengths = [int(inputs.shape[k]) if k in axes else 1 for k in range(rank)]
        mean, variance = tf.nn.moments(inputs, axes=axes, keepdims=True)

        def along_axes(x: Any) -> Any:
            return x if x is None or axes == [rank - 1] else tf.reshape(x, lengths)

        return tf.nn.batch_normalization(
            inputs, mean, variance, along_axes(self.beta), along_axes(self.gamma), self.epsilon
        )
