"""Pooling of images and sequences, channels last."""

from __future__ import annotations

from typing import Any

from .... import tensorflow as tf
from ..layer import Layer
from .convolution import channels_last, same_or_valid, several


class _Pooling(Layer):
    ndim = 4

    def __init__(
        self, pool_size: Any = (2, 2), strides: Any = None, padding: str = "valid", data_format: Any = None,
        **kwargs: Any,
    ):  # fmt: skip
        super().__init__(**kwargs)
        channels_last(data_format)
        self.pool_size = several(pool_size, 2, "pool_size")
        self.strides = self.pool_size if strides is None else several(strides, 2, "strides")
        self.padding = same_or_valid(padding)


class MaxPooling2D(_Pooling):
    """The largest element of each window: ``(batch, height, width, channels)`` to the same with fewer rows and
    columns."""

    def call(self, inputs: Any) -> Any:
        return tf.nn.max_pool2d(inputs, list(self.pool_size), list(self.strides), self.padding.upper())


class AveragePooling2D(_Pooling):
    """The mean of each window; with padding "same", of its elements that lie inside the image."""

    def call(self, inputs: Any) -> Any:
        return tf.nn.avg_pool2d(inputs, list(self.pool_size), list(self.strides), self.padding.upper())


class _GlobalPooling(Layer):
    ndim = 4

    def __init__(self, data_format: Any = None, keepdims: bool = False, **kwargs: Any):
        super().__init__(**kwargs)
        channels_last(data_format)
        self.keepdims = keepdims


class GlobalAveragePooling2D(_GlobalPooling):
    """The mean over height and width."""

    def call(self, inputs: Any) -> Any:
        return tf.reduce_mean(inputs, axis=[1, 2], keepdims=self.keepdims)


class GlobalMaxPooling2D(_GlobalPooling):
    """The maximum over height and width."""

    def call(self, inputs: Any) -> Any:
        return tf.reduce_max(inputs, axis=[1, 2], keepdims=self.keepdims)


class _Pooling1D(Layer):
    ndim = 3

    def __init__(
        self, pool_size: Any = 2, strides: Any = None, padding: str = "valid", data_format: Any = None, **kwargs: Any
    ):
        super().__init__(**kwargs)
        channels_last(data_format)
        self.pool_size = several(pool_size, 1, "pool_size")
        self.strides = self.pool_size if strides is None else several(strides, 1, "strides")
        self.padding = same_or_valid(padding)


class MaxPooling1D(_Pooling1D):
    """The largest element of each window of a sequence: ``(batch, length, channels)`` to the same with a shorter
    axis."""

    def call(self, inputs: Any) -> Any:
        return tf.nn.max_pool1d(inputs, self.pool_size[0], self.strides[0], self.padding.upper())


class AveragePooling1D(_Pooling1D):
    """The mean of each window of a sequence; with padding "same", of its elements that lie inside."""

    def call(self, inputs: Any) -> Any:
        return tf.nn.avg_pool1d(inputs, self.pool_size[0], self.strides[0], self.padding.upper())


class GlobalAveragePooling1D(_GlobalPooling):
    """The mean over the steps of a sequence; where there is a mask ``(batch, length)``, over those that count."""

    ndim = 3
    supports_masking = True

    def call(self, inputs: Any, mask: Any = None) -> Any:
        if mask is None:
            return tf.reduce_mean(inputs, axis=1, keepdims=self.keepdims)
        counts = tf.expand_dims(tf.cast(mask, inputs.dtype), -1)
        total = tf.reduce_sum(inputs * counts, axis=1, keepdims=self.keepdims)
        return total / tf.reduce_sum(counts, axis=1, keepdims=self.keepdims)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        return None


class GlobalMaxPooling1D(_GlobalPooling):
    """The maximum over the steps of a sequence."""

    ndim = 3

    def call(self, inputs: Any) -> Any:
        return tf.reduce_max(inputs, axis=1, keepdims=self.keepdims)
