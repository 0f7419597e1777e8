"""Layers that rearrange or rescale their inputs."""

from __future__ import annotations

import math
from typing import Any

from .... import tensorflow as tf
from ..layer import Layer
from .convolution import channels_last


class Flatten(Layer):
    """All axes but the first become one; numbers become rows of one."""

    def __init__(self, data_format: Any = None, **kwargs: Any):
        super().__init__(**kwargs)
        channels_last(data_format)

    def call(self, inputs: Any) -> Any:
        shape = tuple(inputs.shape)
        return tf.reshape(inputs, [shape[0], math.prod(shape[1:])])


class Reshape(Layer):
    """Each row of the batch gets the shape `target_shape`, in which one length may be -1.

    Raises ValueError where the elements are not as many.
    """

    def __init__(self, target_shape: Any, **kwargs: Any):
        super().__init__(**kwargs)
        self.target_shape = tuple(target_shape)

    def call(self, inputs: Any) -> Any:
        shape = tuple(inputs.shape)
        known = math.prod(n for n in self.target_shape if n != -1)
        size = math.prod(shape[1:])
        fits = size % known == 0 if -1 in self.target_shape and known else size == known
        if not fits:
            raise ValueError(
                f"The total size of the tensor must be unchanged. Received: input_shape={shape[1:]}, "
                f"target_shape={self.target_shape}"
            )
        target = [size // known if n == -1 else n for n in self.target_shape]
        return tf.reshape(inputs, [shape[0], *target])


class Permute(Layer):
    """The axes after the first in another order, counted from 1."""

    def __init__(self, dims: Any, **kwargs: Any):
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(dims) != list(range(1, len(dims) + 1)):
            raise ValueError(
                f"Invalid permutation argument `dims` for Permute Layer. The set of indices in `dims` must be "
                f"consecutive and start from 1. Received dims={dims}"
            )

    def call(self, inputs: Any) -> Any:
        return tf.transpose(inputs, [0, *self.dims])


class RepeatVector(Layer):
    """Each row of the batch `n` times: ``(batch, m)`` to ``(batch, n, m)``."""

    ndim = 2

    def __init__(self, n: int, **kwargs: Any):
        super().__init__(**kwargs)
        self.n = n

    def call(self, inputs: Any) -> Any:
        return tf.tile(tf.expand_dims(inputs, 1), [1, self.n, 1])


class Rescaling(Layer):
    """``inputs * scale + offset``."""

    supports_masking = True

    def __init__(self, scale: Any, offset: Any = 0.0, **kwargs: Any):
        super().__init__(**kwargs)
        self.scale, self.offset = scale, offset

    def call(self, inputs: Any) -> Any:
        dtype = tf.as_dtype(self.dtype)
        return tf.cast(inputs, dtype) * tf.cast(self.scale, dtype) + tf.cast(self.offset, dtype)


class ZeroPadding2D(Layer):
    """Zeros around images: one number, one for each axis, or a pair for each axis."""

    ndim = 4

    def __init__(self, padding: Any = (1, 1), data_format: Any = None, **kwargs: Any):
        super().__init__(**kwargs)
        channels_last(data_format)
        pairs = (padding, padding) if isinstance(padding, int) else tuple(padding)
        self.padding = tuple([(p, p) if isinstance(p, int) else tuple(p) for p in pairs])

    def call(self, inputs: Any) -> Any:
        return tf.pad(inputs, [[0, 0], *[list(p) for p in self.padding], [0, 0]])


class Identity(Layer):
    """The inputs as they are."""

    supports_masking = True

    def call(self, inputs: Any) -> Any:
        return inputs


class ZeroPadding1D(Layer):
    """Zeros before and after a sequence: one number, or a pair."""

    ndim = 3

    def __init__(self, padding: Any = 1, data_format: Any = None, **kwargs: Any):
        super().__init__(**kwargs)
        channels_last(data_format)
        self.padding = (padding, padding) if isinstance(padding, int) else tuple(padding)

    def call(self, inputs: Any) -> Any:
        return tf.pad(inputs, [[0, 0], list(self.padding), [0, 0]])


class Cropping2D(Layer):
    """Images without what is at their edges: one number, one for each axis, or a pair for each axis."""

    ndim = 4

    def __init__(self, cropping: Any = ((0, 0), (0, 0)), data_format: Any = None, **kwargs: Any):
        super().__init__(**kwargs)
        channels_last(data_format)
        pairs = (cropping, cropping) if isinstance(cropping, int) else tuple(cropping)
        self.cropping = tuple([(p, p) if isinstance(p, int) else tuple(p) for p in pairs])

    def call(self, inputs: Any) -> Any:
        (top, bottom), (left, right) = self.cropping
        return inputs[:, top : int(inputs.shape[1]) - bottom, left : int(inputs.shape[2]) - right, :]


class UpSampling1D(Layer):
    """Each step of a sequence `size` times."""

    ndim = 3

    def __init__(self, size: int = 2, **kwargs: Any):
        super().__init__(**kwargs)
        self.size = int(size)

    def call(self, inputs: Any) -> Any:
        return tf.repeat(inputs, self.size, axis=1)


class UpSampling2D(Layer):
    """Each pixel of images `size` times, down and across. Raises ValueError for another interpolation than
    "nearest"."""

    ndim = 4

    def __init__(
        self, size: Any = (2, 2), data_format: Any = None, interpolation: str = "nearest", **kwargs: Any
    ):  # fmt: skip
        super().__init__(**kwargs)
        channels_last(data_format)
        if interpolation != "nearest":
            raise ValueError(f"interpolation={interpolation!r} is not there: 'nearest' is")
        self.size = (size, size) if isinstance(size, int) else tuple(size)

    def call(self, inputs: Any) -> Any:
        return tf.repeat(tf.repeat(inputs, self.size[0], axis=1), self.size[1], axis=2)
