"""Means and variances, normalization, biases and dropout. The dtype of the arguments stays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import kernels


def moments(x: Any, axes: Any, keepdims: bool = False) -> Any:
    """The mean and the variance over some axes, as a pair.

    Shapes: those of ``np.mean(x, axes)``; `axes` is an int, a tuple or a list.

    >>> mean, variance = moments(np.array([[1.0, 2.0], [3.0, 6.0]]), [0])
    >>> mean, variance
    (array([2., 4.]), array([1., 4.]))
    """
    axis = axes if isinstance(axes, int) else tuple(axes)
    mean = np.mean(x, axis=axis, keepdims=True)
    centred = x - mean
    variance = np.mean(centred * centred, axis=axis, keepdims=keepdims)
    return mean if keepdims else np.squeeze(mean, axis), variance


def batch_normalization(x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any) -> Any:
    """``(x - mean) / sqrt(variance + variance_epsilon) * scale + offset``. Scale and offset may be None.

    Shapes: `x` any, the others such that they broadcast to it. In training, pass the `moments` of the batch, and
    afterwards their running means.

    >>> x = np.array([[1.0, 2.0], [3.0, 6.0]])
    >>> mean, variance = moments(x, 0)
    >>> batch_normalization(x, mean, variance, 1.0, 2.0, 0.0)
    array([[-1., -1.],
           [ 3.,  3.]])
    """
    factor = kernels.rsqrt(variance + variance_epsilon)
    if scale is not None:
        factor = factor * scale
    out = (x - mean) * factor
    return out if offset is None else out + offset


def layer_normalization(x: Any, offset: Any = None, scale: Any = None, axis: Any = -1, epsilon: float = 1e-3) -> Any:
    """Each row normalized by its own mean and variance, over one axis or several. See `batch_normalization`.

    Shapes: `x` any, `offset` and `scale` such that they broadcast to it.

    >>> layer_normalization(np.array([[1.0, 3.0], [0.0, 200.0]]), epsilon=0.0)
    array([[-1.,  1.],
           [-1.,  1.]])
    """
    mean, variance = moments(x, axis, keepdims=True)
    return batch_normalization(x, mean, variance, offset, scale, epsilon)


def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12) -> Any:
    """``x / sqrt(max(sum(x ** 2), epsilon))``, with the sum over all axes or over the given ones.

    Any shape; a floating dtype stays.

    >>> l2_normalize(np.array([[3.0, 4.0], [0.0, 0.0]]), axis=1)
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    return x * kernels.rsqrt(np.maximum(np.sum(x * x, axis=axis, keepdims=True), epsilon))


def bias_add(value: Any, bias: Any, data_format: Any = None) -> Any:
    """`value` plus one number for each channel.

    Shapes: `value` ``(batch, ..., channels)``, or ``(batch, channels, ...)`` for a `data_format` such as "NCHW"; `bias`
    ``(channels,)``. Raises ValueError where they do not fit.

    >>> bias_add(np.zeros((1, 2, 2)), np.array([1.0, 2.0]))
    array([[[1., 2.],
            [1., 2.]]])
    >>> bias_add(np.zeros((1, 2, 2)), np.array([1.0, 2.0]), "NCW")
    array([[[1., 1.],
            [2., 2.]]])
    """
    first = data_format is not None and data_format.startswith("NC")
    if np.ndim(bias) != 1 or np.ndim(value) < 2 or bias.shape[0] != value.shape[1 if first else -1]:
        raise ValueError("bias must be a vector with a number for each channel of value")
    return value + (np.reshape(bias, (-1,) + (1,) * (np.ndim(value) - 2)) if first else bias)


def dropout(x: Any, rate: Any, random: Any) -> Any:
    """`x` with some elements set to zero, and the others divided by ``1 - rate``.

    random: an ``np.random.Generator``, by which each element is set to zero with probability `rate`; or an array of
    booleans, true for the elements that stay. Any shape. Raises ValueError unless ``0 <= rate < 1``.

    >>> dropout(np.ones(4), 0.5, np.array([True, False, True, True]))
    array([2., 0., 2., 2.])
    >>> dropout(np.ones(4), 0.5, np.random.default_rng(0))
    array([2., 0., 0., 0.])
    """
    if not 0 <= rate < 1:
        raise ValueError("rate must be at least 0 and less than 1")
    stays = random if isinstance(random, np.ndarray) else kernels.draw_mask(random, np.shape(x), rate)
    return np.where(stays, x / (1 - rate), 0.0)
