"""``tf.data``: small datasets, which are iterated over eagerly."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...tape.nest import flatten, map_nested, pack_like
from ..module_tables import not_there
from .errors import dims, invalid
from .namespace import lazy
from .operands import integer, operand
from .random import generator
from .tensors import EagerTensor, tensor


class Dataset:
    """A sequence of elements: tensors, or nests of them. Iterating starts anew each time.

    No gradient passes through a dataset: what it yields are fresh tensors.
    """

    def __init__(self, start: Callable[[], Iterator[Any]], count: int):
        self._start = start
        self._count = count

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """The parts of tensors along their first axis."""
        made = _made(tensors)
        if any(x._value.ndim == 0 for x in flatten(made)):
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        count, *others = [x._value.shape[0] for x in flatten(made)]
        for n in others:
            if n != count:
                raise ValueError(f"Dimensions {count} and {n} are not compatible")
        return Dataset(lambda: (_part(made, k) for k in range(count)), count)

    def batch(self, batch_size: Any, drop_remainder: bool = False, **options: Any) -> Dataset:
        """So many elements at a time, stacked."""
        n = integer(batch_size)
        if n < 1:
            raise ValueError(f"batch_size must be positive, not {n}")

        def start() -> Iterator[Any]:
            elements = iter(self)
            while rows := list(itertools.islice(elements, n)):
                if len(rows) == n or not drop_remainder:
                    yield pack_like(rows[0], [_stacked(column) for column in zip(*[flatten(r) for r in rows])])

        return Dataset(start, self._count // n if drop_remainder else -(-self._count // n))

    def shuffle(self, buffer_size: Any, seed: Any = None, **options: Any) -> Dataset:
        """The elements in random order, chosen from a buffer of this size; in another order each time."""
        size = integer(buffer_size)

        def start() -> Iterator[Any]:
            rng = generator(seed)
            buffer: list[Any] = []
            for x in self:
                buffer.append(x)
                if len(buffer) >= size:
                    yield buffer.pop(int(rng.integers(len(buffer))))
            while buffer:
                yield buffer.pop(int(rng.integers(len(buffer))))

        return Dataset(start, self._count)

    def __iter__(self) -> Iterator[Any]:
        return self._start()

    def __len__(self) -> int:
        return self._count

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(not_there("'Dataset' object", name, dir(type(self))))


def _made(x: Any) -> Any:
    """Fresh tensors; lists are tensors, tuples and mappings are structure."""
    if isinstance(x, dict):
        return type(x)((k, _made(v)) for k, v in x.items())
    if isinstance(x, tuple):
        items = [_made(v) for v in x]
        return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
    return tensor(operand(x)._value)


def _part(x: Any, k: int) -> Any:
    return map_nested(lambda leaf: tensor(leaf._value[k]), x)


def _stacked(column: tuple[Any, ...]) -> EagerTensor:
    shapes = [np.shape(x._value) for x in column]
    for shape in shapes:
        if shape != shapes[0]:
            raise invalid(
                "IteratorGetNext", "Cannot add tensor to the batch: number of elements does not match. Shapes are: "
                f"[tensor]: {dims(shape)}, [batch]: {dims(shapes[0])}"
            )  # fmt: skip
    return tensor(np.stack([x._value for x in column]))


__getattr__, __dir__ = lazy(__name__, {})
