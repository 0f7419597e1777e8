"""The module ``torch.utils.data``: datasets and batches."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .conversion import tensor
from .core import Base, make
from .creation import rng
from .shaping import stack


class Dataset:
    """What has ``__getitem__`` and, mostly, ``__len__``."""

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")


class IterableDataset(Dataset):
    """What has ``__iter__``."""


class TensorDataset(Dataset):
    """The rows of tensors."""

    def __init__(self, *tensors: Any):
        if any(len(t) != len(tensors[0]) for t in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple([t[index] for t in self.tensors])

    def __len__(self) -> int:
        return len(self.tensors[0])


class Subset(Dataset):
    """The items of a dataset at indices."""

    def __init__(self, dataset: Any, indices: Any):
        self.dataset, self.indices = dataset, list(indices)

    def __getitem__(self, index: int) -> Any:
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Any, generator: Any = None) -> list[Subset]:
    """Random parts of a dataset, of these lengths or fractions."""
    n = len(dataset)
    sizes = list(lengths)
    if abs(sum(sizes) - 1) < 1e-9 and all(isinstance(x, float) for x in sizes):
        sizes = [int(x * n) for x in sizes]
        for k in range(n - sum(sizes)):
            sizes[k % len(sizes)] += 1
    if sum(sizes) != n:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = rng(generator).permutation(n).tolist()
    ends = np.cumsum([0, *sizes]).tolist()
    return [Subset(dataset, order[a:b]) for a, b in itertools.pairwise(ends)]


def default_collate(batch: Any) -> Any:
    """One batch of a list of items: tensors, numbers, and tuples, lists or dicts of them."""
    first = batch[0]
    if isinstance(first, Base):
        return stack(batch)
    if isinstance(first, np.ndarray):
        return make(np.stack(batch))
    if isinstance(first, np.generic):
        return make(np.array(batch))
    if isinstance(first, float):
        return make(np.array(batch, np.float64))
    if isinstance(first, (int, bool)):
        return tensor(list(batch))
    if isinstance(first, Mapping):
        return {k: default_collate([item[k] for item in batch]) for k in first}
    if isinstance(first, (tuple, list)):
        return [default_collate(list(column)) for column in zip(*batch)]
    return batch


class DataLoader:
    """Batches of a dataset, in order or shuffled.

    >>> from autodiff_compiler.compat import torch
    >>> data = torch.utils.data.TensorDataset(torch.arange(5))
    >>> [batch[0].tolist() for batch in torch.utils.data.DataLoader(data, batch_size=2)]
    [[0, 1], [2, 3], [4]]
    """

    def __init__(
        self, dataset: Any, batch_size: int | None = 1, shuffle: bool = False, num_workers: int = 0,
        collate_fn: Any = None,
        drop_last: bool = False, generator: Any = None, **ignored: Any,
    ):  # fmt: skip
        self.dataset, self.batch_size, self.shuffle = dataset, batch_size, shuffle
        self.collate_fn, self.drop_last, self.generator = collate_fn or default_collate, drop_last, generator
        for name in ignored:
            if name not in ("pin_memory", "persistent_workers", "prefetch_factor", "timeout"):
                raise TypeError(f"unexpected keyword argument {name!r}")

    def __len__(self) -> int:
        n = len(self.dataset)
        if self.batch_size is None:
            return n
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)

    def __iter__(self) -> Iterator[Any]:
        n = len(self.dataset)
        order = rng(self.generator).permutation(n).tolist() if self.shuffle else range(n)
        if self.batch_size is None:
            for k in order:
                yield self.dataset[k]
            return
        for start in range(0, n, self.batch_size):
            places = order[start : start + self.batch_size]
            if self.drop_last and len(places) < self.batch_size:
                return
            yield self.collate_fn([self.dataset[k] for k in places])


MEMBERS: dict[str, Any] = {c.__name__: c for c in (Dataset, IterableDataset, TensorDataset, Subset, DataLoader)} | {
    "random_split": random_split,
    "default_collate": default_collate,
}
