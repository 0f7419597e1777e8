"""From integers to rows and back: embeddings, one-hot rows, the largest elements."""

from __future__ import annotations

from typing import Any

import numpy as np


def embedding_lookup(params: Any, ids: Any) -> Any:
    """The rows of `params` that the integers `ids` number.

    Shapes: `params` ``(rows, ...)``, `ids` any, the result ``(*ids.shape, ...)`` in the dtype of `params`. Raises
    IndexError for a number that is not one of ``0 ... rows - 1``.

    >>> embedding_lookup(np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([1, 1, 0]))
    array([[2., 3.],
           [2., 3.],
           [0., 1.]])
    """
    if np.any(np.less(ids, 0)) or np.any(np.greater_equal(ids, np.shape(params)[0])):
        raise IndexError("an id is not one of the rows of params, which are numbered from 0")
    return np.take(params, ids, axis=0)


def one_hot(
    indices: Any, depth: int, on_value: Any = 1.0, off_value: Any = 0.0, axis: int = -1, dtype: Any = np.float32
) -> Any:
    """`on_value` at the places that the integers number along a new axis of length `depth`, else `off_value`.

    Shapes: `indices` any; the result has one axis more, at `axis`. An integer that is not one of ``0 ... depth - 1``
    gives `off_value` only.

    >>> one_hot(np.array([2, 0, 5]), 3)
    array([[0., 0., 1.],
           [1., 0., 0.],
           [0., 0., 0.]], dtype=float32)
    """
    hits = np.expand_dims(indices, -1) == np.arange(depth)
    found = np.where(hits, on_value, off_value).astype(dtype)
    return found if axis == -1 else np.moveaxis(found, -1, axis)


def top_k(input: Any, k: int = 1) -> Any:
    """The `k` largest elements of each row, largest first, and their places; of equal ones, the first comes first.

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
