"""Maxima and means of windows. Arrays have the axes ``(batch, *spatial, channels)``.

Windows and strides are an int, one int for each spatial axis, or one for each axis, as in TensorFlow. Padding is as in
`conv2d`. The dtype stays. The functions raise ValueError for shapes, windows or padding that do not fit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import kernels


def max_pool(input: Any, ksize: Any, strides: Any, padding: Any) -> Any:
    """The maximum of each window of each channel. Padding does not count.

    Shapes: `input` ``(batch, *spatial, channels)``, the result ``(batch, *windows, channels)``. The first of equal
    elements gets the derivative. nan counts as the largest element.

    >>> max_pool(np.array([1.0, 3.0, 2.0, 5.0, 4.0]).reshape(1, 5, 1), 2, 2, "SAME").ravel()
    array([3., 5., 4.])
    """
    return np.take(np.reshape(input, -1), kernels.pool_places(input, ksize, strides, padding))


def avg_pool(input: Any, ksize: Any, strides: Any, padding: Any) -> Any:
    """The mean of each window of each channel. Padding does not count.

    Shapes: `input` ``(batch, *spatial, channels)``, the result ``(batch, *windows, channels)``.

    >>> avg_pool(np.array([1.0, 3.0, 2.0, 5.0, 4.0]).reshape(1, 5, 1), 2, 2, "SAME").ravel()
    array([2. , 3.5, 4. ])
    """
    sums = kernels.pool_sum(input, ksize, strides, padding)
    return sums / kernels.pool_count(input, ksize, strides, padding)
