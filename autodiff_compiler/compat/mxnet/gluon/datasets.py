"""Datasets and batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...graph.core import Base
from ..arrays import make
from ..creation import array, rng


class Dataset:
    """What has ``__getitem__`` and ``__len__``."""

    def __getitem__(self, k: int) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError


class ArrayDataset(Dataset):
    """The rows of arrays."""

    def __init__(self, *arrays: Any):
        if any(len(a) != len(arrays[0]) for a in arrays):
            raise ValueError("all arrays must have the same length")
        self._arrays = arrays

    def __getitem__(self, k: int) -> Any:
        out = tuple([a[k] for a in self._arrays])
        return out[0] if len(out) == 1 else out

    def __len__(self) -> int:
        return len(self._arrays[0])


def _batch(items: list[Any]) -> Any:
    first = items[0]
    if isinstance(first, Base):
        return make(np.stack([t._value for t in items]))
    if isinstance(first, (tuple, list)):
        return tuple([_batch(list(column)) for column in zip(*items)])
    return array(items)


class DataLoader:
    """Batches of a dataset, in order or shuffled; the last one is kept unless ``last_batch="discard"``."""

    def __init__(
        self, dataset: Any, batch_size: int, shuffle: bool = False, last_batch: str = "keep", num_workers: int = 0
    ):
        self._dataset, self._size, self._shuffle, self._last = dataset, batch_size, shuffle, last_batch

    def __len__(self) -> int:
        n = len(self._dataset)
        return n // self._size if self._last == "discard" else -(-n // self._size)

    def __iter__(self) -> Iterator[Any]:
        n = len(self._dataset)
        order = rng().permutation(n).tolist() if self._shuffle else list(range(n))
        for k in range(len(self)):
            yield _batch([self._dataset[i] for i in order[k * self._size : (k + 1) * self._size]])


MEMBERS: dict[str, Any] = {c.__name__: c for c in (Dataset, ArrayDataset, DataLoader)}
