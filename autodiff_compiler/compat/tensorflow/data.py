"""``tf.data``: small datasets, which are iterated over eagerly."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from ...tape.nest import flatten, map_nested
from ..module_tables import not_there
from .control import stacked
from .namespace import lazy
from .operands import integer, operand
from .random import generator
from .tensors import tensor


class Dataset:
    """A sequence of elements: tensors, or nests of them. Iterating starts anew each time.

    No gradient passes through a dataset: what it yields are fresh tensors.
    """

    def __init__(self, start: Callable[[], Iterator[Any]], count: int):
        self._start, self._count = start, count

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """The parts of tensors along their first axis. Lists are tensors, tuples and mappings are structure."""
        made = _made(tensors)
        counts = {x._value.shape[:1] for x in flatten(made)}
        if len(counts) != 1 or () in counts:
            raise ValueError(f"the tensors need first axes of one length, not {sorted(counts)}")
        ((count,),) = counts
        return Dataset(lambda: (map_nested(functools.partial(_part, k), made) for k in range(count)), count)

    def batch(self, batch_size: Any, drop_remainder: bool = False) -> Dataset:
        """So many elements at a time, stacked."""
        n = integer(batch_size)
        if n < 1:
            raise ValueError(f"batch_size must be positive, not {n}")

        def start() -> Iterator[Any]:
            elements = iter(self)
            while rows := list(itertools.islice(elements, n)):
                if len(rows) == n or not drop_remainder:
                    yield stacked(rows)

        return Dataset(start, self._count // n if drop_remainder else -(-self._count // n))

    def shuffle(self, buffer_size: Any, seed: Any = None) -> Dataset:
        """The elements in random order, chosen from a buffer of this size; in another order each time."""
        size = integer(buffer_size)

        def start() -> Iterator[Any]:
            rng, elements = generator(seed), iter(self)
            buffer = list(itertools.islice(elements, size - 1))
            for x in elements:
                buffer.append(x)
                yield buffer.pop(int(rng.integers(len(buffer))))
            yield from (buffer[k] for k in rng.permutation(len(buffer)))

        return Dataset(start, self._count)

    def __iter__(self) -> Iterator[Any]:
        return self._start()

    def __len__(self) -> int:
        return self._count

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(not_there("'Dataset' object", name, dir(type(self))))


def _made(x: Any) -> Any:
    if isinstance(x, dict):
        return type(x)((k, _made(v)) for k, v in x.items())
    if isinstance(x, tuple):
        items = [_made(v) for v in x]
        return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
    return tensor(operand(x)._value[()])


def _part(k: int, x: Any) -> Any:
    return tensor(x._value[k])


__getattr__, __dir__ = lazy(__name__, {})
