"""Data of `fit` and the like: arrays in batches, or what gives batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ....tape.nest import flatten, map_nested
from ... import tensorflow as tf
from .initializers import generator


def unpack(data: Any) -> tuple[Any, Any, Any]:
    """A batch as x, y and weights, of which the last two may be None."""
    parts = tuple(data) if isinstance(data, (tuple, list)) else (data,)
    return (*parts, None, None)[:3]


def packed(x: Any, y: Any = None, weight: Any = None) -> Any:
    """A batch of what there is: x alone, unless it is a structure, or a tuple."""
    if weight is not None:
        return x, y, weight
    if y is not None:
        return x, y
    return (x,) if isinstance(x, (list, tuple, Mapping)) else x


def arrays(x: Any) -> Any:
    """A structure of arrays. Lists of numbers are arrays; lists of arrays and mappings are structures."""
    if isinstance(x, Mapping):
        return {k: arrays(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)) and any(hasattr(item, "shape") or isinstance(item, Mapping) for item in x):
        return type(x)([arrays(item) for item in x])
    return np.asarray(x)


def length_of(x: Any) -> int:
    """How many rows the first array of a structure has."""
    first = flatten(x)[0]
    return int(first.shape[0]) if len(first.shape) else 1


def is_data(x: Any) -> bool:
    """Arrays, and not something that gives batches."""
    return hasattr(x, "shape") or isinstance(x, (list, tuple, Mapping))


def split(x: Any, y: Any, weight: Any, part: float) -> tuple[Any, Any]:
    """``(x, y, weight)`` of the rows before, and those of the last `part` of them."""
    if not is_data(x):
        raise ValueError(f"validation_split is only supported for arrays, not for {type(x)}")
    data = [None if p is None else arrays(p) for p in (x, y, weight)]
    count = int(length_of(data[0]) * (1.0 - part))
    rows = length_of(data[0])
    if not 0 < count < rows:
        raise ValueError(
            f"Training data contains {rows} samples, which is not sufficient to split it into a validation and "
            f"training set as specified by `validation_split={part}`."
        )
    before = tuple([None if p is None else map_nested(lambda a: a[:count], p) for p in data])
    after = tuple([None if p is None else map_nested(lambda a: a[count:], p) for p in data])
    return before, after


def class_weights(y: Any, weights: Mapping[int, float]) -> Any:
    """The weight of each row's class; the classes are numbers, or the places of the largest entries of rows."""
    labels = np.asarray(y)
    if labels.ndim > 1:
        labels = labels.argmax(-1) if labels.shape[-1] != 1 else labels[..., 0]
    return np.array([weights.get(int(k), 1.0) for k in np.round(labels)], "float32")


class Batches:
    """Batches of arrays, in a random order of the rows if `shuffle`; or what `x` gives, if it is no array.

    With `steps` an epoch has so many batches, and the next one goes on where this one ended.
    """

    def __init__(
        self, x: Any, y: Any = None, weight: Any = None, size: int | None = None, shuffle: bool = False,
        steps: int | None = None, class_weight: Any = None,
    ):  # fmt: skip
        if class_weight and weight is not None:
            raise ValueError("You cannot `class_weight` and `sample_weight` at the same time.")
        self._steps, self._class_weight = steps, class_weight
        self._rest: Iterator[Any] | None = None
        self._shuffle, self._size = shuffle, size or 32
        self._source: Iterable[Any] | None = None
        if not is_data(x):
            if y is not None:
                raise ValueError("`y` should not be passed where `x` gives batches: they hold the targets, too")
            self._source = x
            return
        self._data = [None if p is None else arrays(p) for p in (x, y, weight)]
        lengths = [len(a) if a.ndim else 1 for p in self._data if p is not None for a in flatten(p)]
        if len(set(lengths)) > 1:
            raise ValueError(
                f"Data cardinality is ambiguous. Make sure all arrays contain the same number of samples. Received: "
                f"{lengths}"
            )
        self._rows = lengths[0]

    @property
    def count(self) -> int | None:
        """How many batches an epoch has, None if that is not known."""
        if self._steps is not None:
            return self._steps
        if self._source is None:
            return -(-self._rows // self._size)
        try:
            return len(self._source)  # type: ignore[arg-type]
        except TypeError:
            return None

    def __iter__(self) -> Iterator[Any]:
        for data in self._epoch():
            if self._class_weight:
                x, y, weight = unpack(data)
                if weight is not None:
                    raise ValueError("You cannot `class_weight` and `sample_weight` at the same time.")
                data = (x, y, tf.constant(class_weights(y, self._class_weight)))
            yield data

    def _epoch(self) -> Iterator[Any]:
        if self._steps is None:
            yield from self._all()
            return
        for _ in range(self._steps):
            if self._rest is None:
                self._rest = self._all()
            found = next(self._rest, None)
            if found is None:
                self._rest = self._all()
                found = next(self._rest, None)
                if found is None:
                    return
            yield found

    def _all(self) -> Iterator[Any]:
        if self._source is not None:
            yield from self._source
            return
        order = np.arange(self._rows)
        if self._shuffle:
            generator(None).shuffle(order)
        for start in range(0, len(order), self._size):
            rows = order[start : start + self._size]
            x, y, weight = (
                None if p is None else map_nested(lambda a: tf.convert_to_tensor(a[rows]), p)  # noqa: B023
                for p in self._data
            )
            yield packed(x, y, weight)
