"""`Normalization`: what is learnt from data before training."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import tensorflow as tf
from .. import backend
from ..layer import Layer


class Normalization(Layer):
    """``(inputs - mean) / sqrt(variance)``, where these are given, or are those of what `adapt` saw.

    axis: the axes that keep a mean and a variance for each place, all others are averaged over; None for one number.
    invert: ``inputs * sqrt(variance) + mean`` instead.

    >>> from autodiff_compiler.compat import tensorflow as tf
    >>> layer = tf.keras.layers.Normalization()
    >>> layer.adapt([[1.0, 10.0], [3.0, 30.0]])
    >>> layer([[1.0, 30.0]]).numpy()
    array([[-1.,  1.]], dtype=float32)
    """

    supports_masking = True

    def __init__(
        self, axis: Any = -1, mean: Any = None, variance: Any = None, invert: bool = False, **kwargs: Any
    ):  # fmt: skip
        super().__init__(**kwargs)
        if (mean is None) != (variance is None):
            raise ValueError(
                "When setting values directly, both `mean` and `variance` must be set. Received: "
                f"mean={mean} and variance={variance}"
            )
        self.axis = () if axis is None else tuple(axis) if isinstance(axis, (list, tuple)) else (axis,)
        self.input_mean, self.input_variance, self.invert = mean, variance, invert
        self._rank: int | None = None

    def _kept_axes(self, rank: int) -> list[int]:
        return sorted(a % rank for a in self.axis)

    def build(self, input_shape: Any) -> None:
        self._rank = len(input_shape)
        kept = self._kept_axes(self._rank)
        if any(input_shape[a] is None for a in kept):
            raise ValueError(
                "All `axis` values to be kept must have a known shape. Received axis="
                f"{self.axis}, inputs.shape={input_shape}"
            )
        self._broadcast = [int(n) if k in kept else 1 for k, n in enumerate(input_shape)] if kept else []
        shape = tuple([int(input_shape[a]) for a in kept])
        if self.input_mean is None:
            self.adapt_mean = self.add_weight(shape, "zeros", trainable=False, name="mean")
            self.adapt_variance = self.add_weight(shape, "ones", trainable=False, name="variance")
            self.count = self.add_weight((), "zeros", dtype=tf.int32, trainable=False, name="count")

    def adapt(self, data: Any) -> None:
        """Find the mean and the variance of arrays, or of all batches of a dataset, anew."""
        batches = [np.asarray(data)] if not isinstance(data, tf.data.Dataset) else [np.asarray(x) for x in data]
        if batches[0].ndim == 1 and not isinstance(data, tf.data.Dataset) and self.axis:
            batches = [batches[0][:, None]]
        rank = batches[0].ndim
        if not self.built:
            self.build((None, *batches[0].shape[1:]))
        kept = self._kept_axes(rank)
        axes = tuple([k for k in range(rank) if k not in kept])
        total, count = 0.0, 0
        square: Any = 0.0
        for x in batches:
            size = int(np.prod([x.shape[k] for k in axes], dtype=int))
            total = total + x.sum(axes, dtype=np.float64)
            count += size
        mean = total / count
        for x in batches:
            shaped = np.reshape(mean, [x.shape[k] if k in kept else 1 for k in range(rank)])
            square = square + np.square(x - shaped, dtype=np.float64).sum(axes)
        self.adapt_mean.assign(np.asarray(mean, self.dtype))
        self.adapt_variance.assign(np.asarray(square / count, self.dtype))

    @property
    def mean(self) -> Any:
        """The mean, in a shape to compute with inputs."""
        return self._stored(self.input_mean if self.input_mean is not None else self.adapt_mean)

    @property
    def variance(self) -> Any:
        """The variance, in a shape to compute with inputs."""
        return self._stored(self.input_variance if self.input_mean is not None else self.adapt_variance)

    def _stored(self, x: Any) -> Any:
        x = tf.cast(tf.convert_to_tensor(x), self._dtype)
        if int(np.prod(x.shape, dtype=int)) == int(np.prod(self._broadcast, dtype=int)):
            return tf.reshape(x, self._broadcast)
        return tf.broadcast_to(x, self._broadcast)

    def call(self, inputs: Any) -> Any:
        x = tf.cast(inputs, self._dtype)
        deviation = tf.maximum(tf.sqrt(self.variance), backend.epsilon())
        return x * deviation + self.mean if self.invert else (x - self.mean) / deviation
