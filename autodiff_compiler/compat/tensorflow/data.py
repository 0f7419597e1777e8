"""``tf.data``: datasets, which are iterated over eagerly."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ...tape.nest import flatten, map_nested, pack_like
from . import dtypes
from .dtypes import as_dtype
from .errors import OutOfRangeError
from .namespace import lazy
from .operands import integer, operand
from .shapes import TensorShape, known
from .tensors import EagerTensor, convert_to_tensor, tensor

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2


class TensorSpec:
    """The shape and the dtype of a tensor."""

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, name: str | None = None):
        self.shape = TensorShape(shape)
        self.dtype = as_dtype(dtype)
        self.name = name

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, TensorSpec) and (self.shape, self.dtype) == (other.shape, other.dtype)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"


def spec_of(x: Any) -> TensorSpec:
    return TensorSpec(known(x._value.shape), dtypes.of(x._value.dtype))


class Dataset:
    """A sequence of elements: tensors, or nests of them. Iterating starts anew each time.

    No gradient passes through a dataset: what it yields are fresh tensors.
    """

    def __init__(self, start: Callable[[], Iterator[Any]], count: int = UNKNOWN_CARDINALITY, name: str = "Dataset"):
        self._start = start
        self._count = count
        self._kind = name

    # --- sources --------------------------------------------------------------------------------------------------

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """The parts of tensors along their first axis."""
        made = _made(tensors)
        leaves = flatten(made)
        if any(x._value.ndim == 0 for x in leaves):
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        count = leaves[0]._value.shape[0]
        for x in leaves:
            if x._value.shape[0] != count:
                raise ValueError(f"Dimensions {count} and {x._value.shape[0]} are not compatible")

        def start() -> Iterator[Any]:
            for k in range(count):
                yield map_nested(lambda x: tensor(x._value[k]), made)  # noqa: B023

        return Dataset(start, count, "_TensorSliceDataset")

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """One element."""
        made = _made(tensors)
        return Dataset(lambda: iter([made]), 1, "_TensorDataset")

    @staticmethod
    def from_generator(
        generator: Callable[..., Any], output_types: Any = None, output_shapes: Any = None, args: Any = None,
        output_signature: Any = None, name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """What an iterable that `generator` returns yields, in the dtypes asked for."""
        wanted = output_types
        if output_signature is not None:
            wanted = map_nested(lambda s: s.dtype, output_signature)

        def start() -> Iterator[Any]:
            for x in generator(*(args or ())):
                if wanted is None or not isinstance(wanted, (list, tuple, dict)):
                    yield convert_to_tensor(x, wanted)
                else:
                    kinds = flatten(wanted)
                    yield pack_like(wanted, [convert_to_tensor(v, d) for v, d in zip(flatten(x), kinds)])

        return Dataset(start)

    @staticmethod
    def range(*args: Any, **kwargs: Any) -> Dataset:
        """Integers, as Python's range, int64 by default."""
        kind = as_dtype(kwargs.get("output_type", dtypes.int64)).np_dtype
        numbers = range(*[integer(a) for a in args])
        return Dataset(lambda: (tensor(kind.type(n)) for n in numbers), len(numbers), "_RangeDataset")

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """Elements side by side, until one dataset ends."""
        structure = datasets if datasets is not None else args if len(args) > 1 else args[0]
        parts = flatten(structure)
        counts = [d._count for d in parts if d._count != INFINITE_CARDINALITY]
        count = INFINITE_CARDINALITY if not counts else min(counts) if min(counts) >= 0 else UNKNOWN_CARDINALITY
        return Dataset(lambda: (pack_like(structure, list(row)) for row in zip(*parts)), count, "_ZipDataset")

    # --- transformations ------------------------------------------------------------------------------------------

    def batch(
        self, batch_size: Any, drop_remainder: bool = False, num_parallel_calls: Any = None, deterministic: Any = None,
        name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """So many elements at a time, stacked."""
        n = integer(batch_size)
        if n < 1:
            raise ValueError(f"batch_size must be positive, not {n}")

        def start() -> Iterator[Any]:
            elements = iter(self)
            while rows := list(itertools.islice(elements, n)):
                if len(rows) == n or not drop_remainder:
                    yield _stacked(rows)

        count = self._count if self._count < 0 else self._count // n if drop_remainder else -(-self._count // n)
        return Dataset(start, count, "_BatchDataset")

    def unbatch(self, name: str | None = None) -> Dataset:
        """The parts of each element along the first axis."""

        def start() -> Iterator[Any]:
            for x in self:
                leaves = flatten(x)
                if any(v._value.ndim == 0 for v in leaves):
                    raise ValueError("Cannot unbatch an input with scalar components.")
                for k in range(leaves[0]._value.shape[0]):
                    yield map_nested(lambda v: tensor(v._value[k]), x)  # noqa: B023

        return Dataset(start)

    def shuffle(
        self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: bool | None = None, name: str | None = None
    ) -> Dataset:
        """The elements in random order, chosen from a buffer of this size; in another order each time."""
        from .random import generator

        size = integer(buffer_size)
        first: list[int] = []

        def start() -> Iterator[Any]:
            rng = generator(seed)
            if reshuffle_each_iteration is False:
                if not first:
                    first.append(int(rng.integers(2**31)))
                rng = np.random.default_rng(first[0])
            buffer: list[Any] = []
            for x in self:
                buffer.append(x)
                if len(buffer) >= size:
                    yield buffer.pop(int(rng.integers(len(buffer))))
            while buffer:
                yield buffer.pop(int(rng.integers(len(buffer))))

        return Dataset(start, self._count, "_ShuffleDataset")

    def repeat(self, count: Any = None, name: str | None = None) -> Dataset:
        """All elements several times, or without end."""
        times = -1 if count is None else integer(count)

        def start() -> Iterator[Any]:
            turns: Iterable[int] = itertools.count() if times < 0 else range(times)
            for _ in turns:
                yield from self

        total = INFINITE_CARDINALITY if times < 0 else self._count if self._count < 0 else self._count * times
        return Dataset(start, total, "_RepeatDataset")

    def map(
        self, map_func: Callable[..., Any], num_parallel_calls: Any = None, deterministic: Any = None,
        synchronous: Any = None, use_unbounded_threadpool: bool = False, name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """`map_func` of each element; a tuple gives several arguments."""
        return Dataset(lambda: (_made(_called(map_func, x)) for x in self), self._count, "_MapDataset")

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements for which `predicate` is true."""
        return Dataset(lambda: (x for x in self if bool(_called(predicate, x))), UNKNOWN_CARDINALITY, "_FilterDataset")

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements of the datasets that `map_func` makes of each element."""
        return Dataset(lambda: (y for x in self for y in _called(map_func, x)), UNKNOWN_CARDINALITY, "_FlatMapDataset")

    def take(self, count: Any, name: str | None = None) -> Dataset:
        """The first elements."""
        n = integer(count)
        total = self._count if n < 0 else n if self._count == INFINITE_CARDINALITY else min(n, self._count)
        return Dataset(lambda: itertools.islice(iter(self), None if n < 0 else n), total, "_TakeDataset")

    def skip(self, count: Any, name: str | None = None) -> Dataset:
        """All but the first elements."""
        n = integer(count)
        total = self._count if self._count < 0 else max(self._count - n, 0)
        return Dataset(lambda: itertools.islice(iter(self), n, None), total, "_SkipDataset")

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Dataset:
        """Each `num_shards`-th element, from `index` on."""
        n, k = integer(num_shards), integer(index)
        total = self._count if self._count < 0 else len(range(k, self._count, n))
        return Dataset(lambda: itertools.islice(iter(self), k, None, n), total, "_ShardDataset")

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """The elements of this one, then of the other."""
        counts = (self._count, dataset._count)
        total = sum(counts) if min(counts) >= 0 else min(counts)
        return Dataset(lambda: itertools.chain(self, dataset), total, "_ConcatenateDataset")

    def enumerate(self, start: int = 0, name: str | None = None) -> Dataset:
        """Pairs of a number and an element."""
        return Dataset(
            lambda: ((tensor(np.int64(k)), x) for k, x in enumerate(self, start)), self._count, "_EnumerateDataset"
        )

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Dataset:
        """The same elements."""
        return Dataset(self._start, self._count, "_PrefetchDataset")

    def cache(self, filename: str = "", name: str | None = None) -> Dataset:
        """The same elements, kept from the first time on."""
        kept: list[Any] = []

        def start() -> Iterator[Any]:
            if not kept:
                kept.append(list(self))
            return iter(kept[0])

        return Dataset(start, self._count, "_CacheDataset")

    def with_options(self, options: Any, name: str | None = None) -> Dataset:
        """The same elements."""
        return self

    # --- results --------------------------------------------------------------------------------------------------

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
        """The last value of ``state = reduce_func(state, element)``."""
        state = _made(initial_state)
        for x in self:
            state = _made(reduce_func(state, x))
        return state

    def __iter__(self) -> Iterator[Any]:
        return _Iterator(self._start(), self)

    def as_numpy_iterator(self) -> Iterator[Any]:
        """The elements with arrays for tensors."""
        return (map_nested(lambda v: v.numpy(), x) for x in self)

    def get_single_element(self, name: str | None = None) -> Any:
        """The only element."""
        (found,) = list(itertools.islice(self, 2))
        return found

    def cardinality(self, name: str | None = None) -> EagerTensor:
        """How many elements there are, -1 without end, -2 if that is unknown; int64."""
        return tensor(np.int64(self._count))

    def __len__(self) -> int:
        if self._count == INFINITE_CARDINALITY:
            raise TypeError("The dataset is infinite.")
        if self._count == UNKNOWN_CARDINALITY:
            raise TypeError("The dataset length is unknown.")
        return self._count

    def __bool__(self) -> bool:
        return True

    @property
    def element_spec(self) -> Any:
        """The shapes and dtypes of an element, by its first one."""
        for x in self:
            found = map_nested(spec_of, x)
            if self._kind == "_BatchDataset":
                return map_nested(lambda s: TensorSpec([None, *list(s.shape)[1:]], s.dtype), found)
            return found
        return None

    def __repr__(self) -> str:
        return f"<{self._kind} element_spec={self.element_spec}>"


class _Iterator:
    def __init__(self, elements: Iterator[Any], dataset: Dataset):
        self._elements = elements
        self._dataset = dataset

    def __iter__(self) -> _Iterator:
        return self

    def __next__(self) -> Any:
        return next(self._elements)

    def get_next(self) -> Any:
        """The next element. Raises OutOfRangeError at the end."""
        for x in self._elements:
            return x
        raise OutOfRangeError(None, None, "End of sequence [Op:IteratorGetNext] name: ")

    @property
    def element_spec(self) -> Any:
        return self._dataset.element_spec


def _made(x: Any) -> Any:
    """Fresh tensors; lists are tensors, tuples and mappings are structure."""
    if isinstance(x, dict):
        return type(x)((k, _made(v)) for k, v in x.items())
    if isinstance(x, tuple):
        items = [_made(v) for v in x]
        return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
    if isinstance(x, Dataset):
        return x
    return tensor(operand(x)._value)


def _called(f: Callable[..., Any], x: Any) -> Any:
    return f(*x) if type(x) is tuple else f(x)


def _stacked(rows: list[Any]) -> Any:
    columns = zip(*[flatten(r) for r in rows])
    return pack_like(rows[0], [tensor(np.stack([x._value for x in column])) for column in columns])


__getattr__, __dir__ = lazy(__name__, {})
