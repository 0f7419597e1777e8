"""``tf.data``: datasets, which are iterated over eagerly."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ...tape.nest import flatten, map_nested, pack_like
from ..space import namespace
from . import dtypes
from .dtypes import as_dtype
from .errors import DataLossError, InvalidArgumentError, OutOfRangeError, dims
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


class DatasetSpec:
    """What the elements of a dataset inside a dataset are."""

    def __init__(self, element_spec: Any):
        self.element_spec = element_spec

    def __repr__(self) -> str:
        return f"DatasetSpec({self.element_spec!r}, TensorShape([]))"


def spec_of(x: Any) -> TensorSpec:
    return TensorSpec(known(x._value.shape), dtypes.of(x._value.dtype))


class Dataset:
    """A sequence of elements: tensors, or nests of them. Iterating starts anew each time.

    No gradient passes through a dataset: what it yields are fresh tensors.
    """

    def __init__(
        self, start: Callable[[], Iterator[Any]], count: int = UNKNOWN_CARDINALITY, name: str = "Dataset",
        loose: bool = False,
    ):  # fmt: skip
        self._start = start
        self._count = count
        self._kind = name
        self._loose = loose  # the first axis may have another length in other elements

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
        return Dataset(start, count, "_BatchDataset", not drop_remainder)

    def padded_batch(
        self, batch_size: Any, padded_shapes: Any = None, padding_values: Any = None, drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """So many elements at a time, stacked after filling them up to one shape.

        padded_shapes: for each tensor of an element the shape to reach, in which None and -1 are the longest of the
        batch, as all are by default. padding_values: what to fill with, zeros by default.
        Raises DataLossError where an element is longer than its shape.
        """
        n = integer(batch_size)

        def start() -> Iterator[Any]:
            elements = iter(self)
            while rows := list(itertools.islice(elements, n)):
                if len(rows) == n or not drop_remainder:
                    yield _padded(rows, padded_shapes, padding_values)

        count = self._count if self._count < 0 else self._count // n if drop_remainder else -(-self._count // n)
        return Dataset(start, count, "_PaddedBatchDataset", not drop_remainder)

    def window(
        self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: bool = False, name: str | None = None
    ) -> Dataset:
        """Datasets of `size` elements each, which start `shift` elements apart and leave `stride - 1` out in between.

        Elements that are tuples or mappings give tuples and mappings of datasets.
        """
        n, step, stride = integer(size), integer(size if shift is None else shift), integer(stride)

        def start() -> Iterator[Any]:
            elements, first = list(self), 0
            while first < len(elements):
                rows = elements[first : first + n * stride : stride]
                if len(rows) == n or not drop_remainder:
                    columns = [list(c) for c in zip(*[flatten(r) for r in rows])]
                    yield pack_like(rows[0], [Dataset(_again(c), len(c), "_VariantDataset") for c in columns])
                first += step

        return Dataset(start, UNKNOWN_CARDINALITY, "_WindowDataset")

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

        return Dataset(start, self._count, "_ShuffleDataset", self._loose)

    def repeat(self, count: Any = None, name: str | None = None) -> Dataset:
        """All elements several times, or without end."""
        times = -1 if count is None else integer(count)

        def start() -> Iterator[Any]:
            turns: Iterable[int] = itertools.count() if times < 0 else range(times)
            for _ in turns:
                yield from self

        total = INFINITE_CARDINALITY if times < 0 else self._count if self._count < 0 else self._count * times
        return Dataset(start, total, "_RepeatDataset", self._loose)

    def map(
        self, map_func: Callable[..., Any], num_parallel_calls: Any = None, deterministic: Any = None,
        synchronous: Any = None, use_unbounded_threadpool: bool = False, name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """`map_func` of each element; a tuple gives several arguments."""
        return Dataset(lambda: (_made(_called(map_func, x)) for x in self), self._count, "_MapDataset", self._loose)

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements for which `predicate` is true."""
        return Dataset(
            lambda: (x for x in self if bool(_called(predicate, x))), UNKNOWN_CARDINALITY, "_FilterDataset", self._loose
        )

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements of the datasets that `map_func` makes of each element."""
        return Dataset(lambda: (y for x in self for y in _called(map_func, x)), UNKNOWN_CARDINALITY, "_FlatMapDataset")

    def interleave(
        self, map_func: Callable[..., Any], cycle_length: Any = None, block_length: Any = None,
        num_parallel_calls: Any = None, deterministic: Any = None, name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """The elements of the datasets that `map_func` makes, `block_length` at a time of `cycle_length` datasets in
        turn."""
        width = 1 if cycle_length is None else integer(cycle_length)
        block = 1 if block_length is None else integer(block_length)

        def start() -> Iterator[Any]:
            sources = (iter(_called(map_func, x)) for x in self)
            slots: list[Iterator[Any] | None] = list(itertools.islice(sources, width))
            while any(s is not None for s in slots):
                for k, slot in enumerate(slots):
                    if slot is None:
                        continue
                    given = list(itertools.islice(slot, block))
                    yield from given
                    if len(given) < block:
                        slots[k] = next(sources, None)

        return Dataset(start, UNKNOWN_CARDINALITY, "_InterleaveDataset")

    def scan(self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """The outputs of ``state, output = scan_func(state, element)``."""

        def start() -> Iterator[Any]:
            state = _made(initial_state)
            for x in self:
                state, output = scan_func(state, x)
                state = _made(state)
                yield _made(output)

        return Dataset(start, self._count, "_ScanDataset")

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements before the first for which `predicate` is false."""
        return Dataset(
            lambda: itertools.takewhile(lambda x: bool(_called(predicate, x)), self), name="_TakeWhileDataset"
        )

    def unique(self, name: str | None = None) -> Dataset:
        """Each element where it is met first."""

        def start() -> Iterator[Any]:
            seen = set()
            for x in self:
                key = (x.dtype.name, x.numpy().tobytes())
                if key not in seen:
                    seen.add(key)
                    yield x

        return Dataset(start, name="_UniqueDataset")

    def take(self, count: Any, name: str | None = None) -> Dataset:
        """The first elements."""
        n = integer(count)
        total = self._count if n < 0 else n if self._count == INFINITE_CARDINALITY else min(n, self._count)
        return Dataset(lambda: itertools.islice(iter(self), None if n < 0 else n), total, "_TakeDataset", self._loose)

    def skip(self, count: Any, name: str | None = None) -> Dataset:
        """All but the first elements."""
        n = integer(count)
        total = self._count if self._count < 0 else max(self._count - n, 0)
        return Dataset(lambda: itertools.islice(iter(self), n, None), total, "_SkipDataset", self._loose)

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Dataset:
        """Each `num_shards`-th element, from `index` on."""
        n, k = integer(num_shards), integer(index)
        total = self._count if self._count < 0 else len(range(k, self._count, n))
        return Dataset(lambda: itertools.islice(iter(self), k, None, n), total, "_ShardDataset", self._loose)

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
        return Dataset(self._start, self._count, "_PrefetchDataset", self._loose)

    def cache(self, filename: str = "", name: str | None = None) -> Dataset:
        """The same elements, kept from the first time on."""
        kept: list[Any] = []

        def start() -> Iterator[Any]:
            if not kept:
                kept.append(list(self))
            return iter(kept[0])

        return Dataset(start, self._count, "CacheDataset", self._loose)

    def options(self) -> None:
        """None: there are no options."""

    def apply(self, transformation_func: Callable[[Dataset], Dataset], name: str | None = None) -> Dataset:
        """``transformation_func(self)``."""
        return transformation_func(self)

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
            if any(isinstance(part, Dataset) for part in flatten(x)):
                return map_nested(lambda d: DatasetSpec(d.element_spec), x)
            found = map_nested(spec_of, x)
            if self._loose:
                return map_nested(
                    lambda s: TensorSpec([None, *list(s.shape)[1:]] if s.shape.rank else [], s.dtype), found
                )
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


def _again(elements: list[Any]) -> Callable[[], Iterator[Any]]:
    return lambda: iter(elements)


def _padded(rows: list[Any], shapes: Any, fills: Any) -> Any:
    """Elements stacked, filled up at the end of each axis."""
    columns = [[x._value for x in c] for c in zip(*[flatten(r) for r in rows])]
    wanted: list[Any] = [None] * len(columns)
    if shapes is not None:
        single = len(columns) == 1 and not (isinstance(shapes, (tuple, list)) and isinstance(shapes[0], (tuple, list)))
        parts = [shapes] if single else list(shapes.values() if isinstance(shapes, dict) else shapes)
        wanted = [list(TensorShape([None if n == -1 else n for n in p])) for p in parts]
    filled = [None] * len(columns) if fills is None else flatten(fills)
    if len(filled) == 1:
        filled = filled * len(columns)
    made = []
    for arrays, shape, fill in zip(columns, wanted, filled):
        longest = [max(lengths) for lengths in zip(*[np.shape(a) for a in arrays])]
        full = longest if shape is None else [n if m is None else m for n, m in zip(longest, shape)]
        if any(n > m for n, m in zip(longest, full)):
            raise DataLossError(
                None, None,
                f"Attempted to pad to a smaller size than the input element: {longest} does not fit into {full}",
            )  # fmt: skip
        value = (b"" if arrays[0].dtype.kind == "S" else 0) if fill is None else np.asarray(fill)
        out = np.full((len(arrays), *full), value, np.result_type(*arrays))
        for k, a in enumerate(arrays):
            place: tuple[Any, ...] = (k, *[slice(n) for n in np.shape(a)])
            out[place] = a
        made.append(tensor(out))
    return pack_like(rows[0], made)


def _stacked(rows: list[Any]) -> Any:
    made = []
    for column in zip(*[flatten(r) for r in rows]):
        shapes = [np.shape(x._value) for x in column]
        for shape in shapes:
            if shape != shapes[0]:
                raise InvalidArgumentError(
                    None, None,
                    "Cannot add tensor to the batch: number of elements does not match. Shapes are: [tensor]: "
                    f"{dims(shape)}, [batch]: {dims(shapes[0])}: padded_batch fills them up",
                )  # fmt: skip
        made.append(tensor(np.stack([x._value for x in column])))
    return pack_like(rows[0], made)


def _cardinality(dataset: Dataset) -> EagerTensor:
    return dataset.cardinality()


experimental = namespace(
    f"{__name__}.experimental",
    "What used to be experimental.",
    {
        "AUTOTUNE": AUTOTUNE,
        "INFINITE_CARDINALITY": INFINITE_CARDINALITY,
        "UNKNOWN_CARDINALITY": UNKNOWN_CARDINALITY,
        "cardinality": _cardinality,
    },
)
__getattr__, __dir__ = lazy(__name__, {})
