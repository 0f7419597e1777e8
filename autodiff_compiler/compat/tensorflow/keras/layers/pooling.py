"""Pooling of images, channels last."""

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
