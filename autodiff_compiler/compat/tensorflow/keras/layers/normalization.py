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


class UnitNormalization(Layer):
    """Each element of the batch divided by its length, over `axis`."""

    supports_masking = True

    def __init__(self, axis: Any = -1, **kwargs: Any):
        super().__init__(**kwargs)
        self.axis = list(axis) if isinstance(axis, (list, tuple)) else int(axis)

    def call(self, inputs: Any) -> Any:
        return tf.nn.l2_normalize(inputs, axis=self.axis)


class RMSNormalization(Layer):
    """Each element of the batch divided by the root of the mean of its squares over `axis`, then scaled by `scale`."""

    supports_masking = True

    def __init__(self, axis: int = -1, epsilon: float = 1e-6, **kwargs: Any):
        super().__init__(**kwargs)
        self.axis, self.epsilon = axis, epsilon

    def build(self, input_shape: Any) -> None:
        self.scale = self.add_weight((input_shape[self.axis],), "ones", name="scale")

    def call(self, inputs: Any) -> Any:
        root = tf.math.rsqrt(tf.reduce_mean(tf.square(inputs), axis=self.axis, keepdims=True) + self.epsilon)
        lengths = [1] * len(inputs.shape)
        lengths[self.axis] = int(inputs.shape[self.axis])
        return inputs * root * tf.reshape(self.scale, lengths)


class GroupNormalization(Layer):
    """Each element of the batch less its mean and divided by its standard deviation, over all axes but the first, in
    each of `groups` parts of `axis`; then scaled by `gamma` and moved by `beta`. groups=-1: one for each place."""

    supports_masking = True

    def __init__(
        self, groups: int = 32, axis: int = -1, epsilon: float = 1e-3, center: bool = True, scale: bool = True,
        beta_initializer: Any = "zeros", gamma_initializer: Any = "ones", beta_regularizer: Any = None,
        gamma_regularizer: Any = None, beta_constraint: Any = None, gamma_constraint: Any = None, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self.groups, self.axis, self.epsilon, self.center, self.scale = groups, axis, epsilon, center, scale
        self.beta_initializer = initializers.get(beta_initializer)
        self.gamma_initializer = initializers.get(gamma_initializer)
        self.beta_regularizer = regularizers.get(beta_regularizer)
        self.gamma_regularizer = regularizers.get(gamma_regularizer)
        self.beta_constraint, self.gamma_constraint = beta_constraint, gamma_constraint

    def build(self, input_shape: Any) -> None:
        length = input_shape[self.axis]
        self.groups = length if self.groups == -1 else self.groups
        if length % self.groups:
            raise ValueError(
                f"Number of groups ({self.groups}) must be a multiple of the number of channels ({length})."
            )
        self.gamma = self.beta = None
        if self.scale:
            self.gamma = self.add_weight(
                (length,), self.gamma_initializer, regularizer=self.gamma_regularizer,
                constraint=self.gamma_constraint, name="gamma",
            )  # fmt: skip
        if self.center:
            self.beta = self.add_weight(
                (length,), self.beta_initializer, regularizer=self.beta_regularizer, constraint=self.beta_constraint,
                name="beta",
            )  # fmt: skip

    def call(self, inputs: Any) -> Any:
        shape = [int(n) for n in inputs.shape]
        at = self.axis % len(shape)
        parts = [*shape[:at], self.groups, shape[at] // self.groups, *shape[at + 1 :]]
        x = tf.reshape(inputs, parts)
        mean, variance = tf.nn.moments(x, axes=[k for k in range(1, len(parts)) if k != at], keepdims=True)
        own = [1] * len(parts)
        own[at], own[at + 1] = parts[at], parts[at + 1]
        gamma, beta = (None if v is None else tf.reshape(v, own) for v in (self.gamma, self.beta))
        return tf.reshape(tf.nn.batch_normalization(x, mean, variance, beta, gamma, self.epsilon), shape)
