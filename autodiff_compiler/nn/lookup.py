"""Embeddings, one-hot rows, and the largest elements of rows."""

from __future__ import annotations

from typing import Any

import numpy as np


def embedding_lookup(params: Any, ids: Any) -> Any:
    """The rows of `params` with the numbers `ids`.

    Shapes: `params` ``(rows, ...)``, `ids` any, the result ``(*ids.shape, ...)`` in the dtype of `params`. Raises
    IndexError for a number that is not one of ``0 ... rows - 1``.

    >>> embedding_lookup(np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([1, 1, 0]))
    array([[2., 3.],
           [2., 3.],
           [0., 1.]])
    """
    if np.any(np.less(ids, 0)) or np.any(np.greater_equal(ids, np.shape(params)[0])):
        raise IndexError("an id is not one of the rows of params: they are 0 ... np.shape(params)[0] - 1")
    return np.take(params, ids, axis=0)


def one_hot(
    indices: Any, depth: int, on_value: Any = 1.0, off_value: Any = 0.0, axis: int = -1, dtype: Any = np.float32
) -> Any:
    """`on_value` at the places `indices` of a new axis of length `depth`, and `off_value` elsewhere.

    Shapes: `indices` any; the result has the new axis at `axis`. For an integer that is not one of ``0 ... depth - 1``,
    all elements are `off_value`.

    >>> one_hot(np.array([2, 0, 5]), 3)
    array([[0., 0., 1.],
           [1., 0., 0.],
           [0., 0., 0.]], dtype=float32)
    """
    hits = np.expand_dims(indices, -1) == np.arange(depth)
    found = np.where(hits, on_value, off_value).astype(dtype)
    return found if axis == -1 else np.moveaxis(found, -1, axis)


def top_k(input: Any, k: int = 1) -> Any:
    """The `k` largest elements of each row, the largest first, and their indices. Equal elements stay in order.

    Shapes: `input` ``(..., n)``, both results ``(..., k)``. Raises ValueError for a `k` that exceeds `n`.

    >>> top_k(np.array([[1.0, 3.0, 2.0, 3.0]]), 2)
    (array([[3., 3.]]), array([[1, 3]]))
    """
    n = np.shape(input)[-1]
    if k > n:
        raise ValueError("k exceeds the length of the last axis")
    # Sorted from the end, so that reversing it puts the first of equal elements first.
    places = n - 1 - np.argsort(input[..., ::-1], axis=-1, kind="stable")[..., ::-1][..., :k]
    return np.take_along_axis(input, places, axis=-1), places
