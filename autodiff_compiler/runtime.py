"""The functions that compute primitives of the compiler, and the few helpers that emitted code calls.

Emitted code prints most of these as plain NumPy: ``set`` as a store, ``spread`` as ``np.broadcast_to``. It calls a
function of this module only where the shapes are not known at compile time.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from .duck import is_duck
from .errors import ArgumentError, Place, RuleLookupError
from .kernels import *  # noqa: F403  emitted code imports kernels from here, too
from .kernels.disk import SMALL
from .rows import *  # noqa: F403  and helpers from here
from .tree import new_object


def _step(a: Any, step: tuple[Any, ...]) -> Any:
    if step[0] == "index":
        items = step[1]
        return a[items[0] if len(items) == 1 else items]
    if step[0] == "transpose":
        return np.transpose(a, step[1])
    return np.reshape(a, step[1])


def get(a: Any, path: tuple[Any, ...]) -> Any:
    """The part of `a` at the end of the path."""
    for step in path:
        a = _step(a, step)
    return a


def _located(a: Any, path: tuple[Any, ...]) -> tuple[Any, Any]:
    for step in path[:-1]:
        a = _step(a, step)
    last = path[-1] if path else ("index", (Ellipsis,))
    if last[0] != "index":
        a = _step(a, last)
        last = ("index", (Ellipsis,))
    return a, (last[1][0] if len(last[1]) == 1 else tuple(last[1]))


def _located_for_store(a: Any, path: tuple[Any, ...]) -> Any:
    """The target of a store: the array to be changed, the array that is written to, and the index in it.

    A reshape on the path may have copied. Then the written array is stored back after the store, since this function
    is a generator that goes on there.
    """
    k = next((k for k, step in enumerate(path) if step[0] == "reshape"), None)
    if k is None:
        target, index = _located(a, path)
        yield target, target, index
        return
    whole = get(a, path[:k])
    part = _step(whole, path[k])
    yield from _located_for_store(part, path[k + 1 :])
    put_back(whole, part)


def set(a: Any, path: tuple[Any, ...], v: Any) -> Any:
    """A copy of `a` with the part at `path` replaced."""
    out = np.array(a, copy=True)
    for whole, target, index in _located_for_store(out, path):
        target[index] = v
        put_back(whole, target)
    return out


def get_stored(a: Any, path: tuple[Any, ...]) -> Any:
    """The part of `a` at the path, zero where a store to the path overwrites an element again. See `stored_part`."""
    return stored_part(*_located(a, path))


def stored_part(a: Any, index: Any) -> Any:
    """``a[index]``, with zero for each element of `v` in ``a[index] = v`` that a later element of `v` overwrites."""
    part = a[index]
    number = np.arange(np.size(part)).reshape(np.shape(part))
    owner = np.empty(a.shape, np.intp)
    owner[index] = number
    return np.where(owner[index] == number, part, part.dtype.type(0))


def addat(a: Any, path: tuple[Any, ...], v: Any) -> Any:
    """A copy of `a` with `v` added at `path`; repeated indices add up."""
    out = np.array(a, copy=True)
    for whole, target, index in _located_for_store(out, path):
        if target.dtype.names is not None:
            target[index] = target[index] + v  # the field of a record, which no subscript names twice
        else:
            np.add.at(target, index, v)
        put_back(whole, target)
    return out


def put_back(whole: Any, part: Any) -> None:
    """Store `part` into `whole`, if the two do not share memory. `part` is a reshape of `whole` that was written to."""
    if not np.may_share_memory(whole, part):
        whole[...] = part.reshape(whole.shape)


_LARGEST = {np.dtype(t): t(np.finfo(t).max) for t in (np.float32, np.float64)}


def finite(x: Any) -> Any:
    """An array with the largest number in the place of infinity. May return `x` itself: a maximum is found in less time
    than a large array is written.

    >>> finite(np.array([1.0, np.inf]))
    array([1.00000000e+000, 1.79769313e+308])
    """
    largest = _LARGEST[x.dtype]
    return x if x.size > 700 and np.maximum.reduce(x, None) <= largest else np.minimum(x, largest)


def accum(a: Any, v: Any) -> Any:
    """``a + v`` in the shape and dtype of `a`; a list adds item by item."""
    if isinstance(a, list):
        return [accum(x, y) for x, y in zip(a, v, strict=True)]
    if v is None:
        return a
    if a is None:
        return v
    out = a + v
    return np.asarray(out, a.dtype) if isinstance(a, np.ndarray) else out


def dim(a: Any, axis: int) -> int:
    return int(np.shape(a)[axis])


def shape(a: Any) -> tuple[int, ...]:
    return np.shape(a)


def ndim(a: Any) -> int:
    return np.ndim(a)


def size(a: Any) -> int:
    return int(np.size(a))


def dtype(a: Any) -> Any:
    return a.dtype if is_duck(a) else np.result_type(a)


def dense(x: Any) -> Any:
    """The array in contiguous memory that may be written to, as compiled programs take it: a copy if it is not."""
    return x if x.flags.carray else np.array(x, order="C")


def range_len(start: int, stop: int, step: int) -> int:
    return len(range(start, stop, step))


def checkpoint() -> bool:
    return True


def segment(trips: int, segments: int | None) -> int:
    """How many trips are in a segment of a loop: the least number for so many segments; by default, the square root.

    >>> segment(100, 7), segment(100, None), segment(0, 5)
    (15, 10, 1)
    """
    if segments is None:
        segments = math.isqrt(trips)
    elif segments < 1:
        raise ArgumentError(f"checkpointed needs at least one segment, not {segments}", None, "give a positive number")
    return max(1, -(-trips // max(1, segments)))


def kept_bytes(*values: Any) -> int:
    """The bytes that values take that are kept: those of arrays, and what Python adds; 32 for a number.

    >>> kept_bytes(np.zeros(100), 1.0), kept_bytes([np.zeros(100), np.zeros(100)])
    (960, 1856)
    """
    total = 0
    for v in values:
        if isinstance(v, np.ndarray):
            total += v.nbytes + 128
        else:
            total += kept_bytes(*v) if isinstance(v, list) else 32
    return total


LARGE = 1 << 26  # bytes up to which a loop keeps all, where there is no budget


def keep_within(
    left: int | None, loops: int, trips: int | None, state: int, trip: int | None, nested: bool = False
) -> tuple[bool, int, int, int]:
    """How a loop is reversed, of `loops` that share the `left` bytes of a budget: whether all of its trips are kept; if
    not, how many are reversed together, and with how many snapshots; and how many bytes are left for other loops.

    left:   None if there is no budget. Then all is kept if that is not large, or if snapshots take more than half.
    trips:  how many there are, or None if that is not known.
    state:  the bytes of what a trip starts with.
    trip:   the bytes that a trip keeps, or None.
    nested: there are loops in it that keep within what is left. Then the trips are reversed one by one.

    Raises `ArgumentError` if one state, and what one trip keeps, are more than is left.

    >>> keep_within(1000, 1, 100, 10, 10), keep_within(1000, 2, 100, 10, 10), keep_within(1000, 1, None, 10, 10)
    ((True, 1, 1, 0), (False, 10, 10, 900), (False, 50, 49, 510))
    """
    whole = None if trips is None or (trip is None and trips) else trips * (trip or 0)
    state = max(1, state)
    if left is None:
        if whole is None or trips is None or whole <= LARGE:
            return True, 1, 1, 0
        together, snapshots = within(whole, trips, state, trip or 0)  # noqa: F405
        if 2 * ((trip or 0) * together + state * snapshots) > whole:
            return True, 1, 1, 0
        return False, together, snapshots, 0
    least = state + (trip or 0) * (not nested)
    if whole is not None and whole < least:
        least = whole
    budget = max(left // loops, least)
    if budget > left:
        raise ArgumentError(
            f"max_residual_bytes leaves {max(0, left)} bytes for this loop, which needs at least {least}",
            None,
            "give a larger budget",
        )
    if whole is not None and whole <= budget:
        return True, 1, 1, left - whole
    together, most = 1, trips
    if nested or trip is None:
        budget = max(budget // 2, state)  # the rest is for what is in a trip
    elif trips is None:
        together = max(1, min(budget // 2, budget - 2 * state) // max(1, trip))
        budget -= together * trip
    else:
        together, most = within(budget, trips, state, trip)  # noqa: F405
        budget = most * state
    snapshots = budget // state - (trips is None)  # without their number, one more is taken before others are dropped
    snapshots = max(1, snapshots if most is None else min(snapshots, most))
    return False, together, snapshots, left - snapshots * state


def slice_bound(k: int, n: int, start: int | None, stop: int | None, step: int | None) -> int:
    """The start, stop or step of the range that a slice selects from `n` items, for `k` 0, 1 or 2."""
    return slice(start, stop, step).indices(n)[k]


def index_table(kind: str, r: int, *lengths: int) -> Any:
    """The indices of itertools' product, combinations or permutations, as an array with one row of `r` for each."""
    rows = getattr(itertools, kind)(*[range(n) for n in lengths], *(() if kind == "product" else (r,)))
    return np.array(list(rows), np.int64).reshape(-1, r)


def sum_to(g: Any, x: Any) -> Any:
    """The cotangent `g` summed to the shape of `x`, in x's dtype.

    Shapes: `g` has a shape to which `x` broadcasts; the result has that of `x`. May return `g` itself. None for `x`: a
    name that this path does not bind, so nobody reads its cotangent.
    """
    if type(g) is type(x) is np.ndarray and g.shape == x.shape and g.dtype == x.dtype:
        return g
    if x is None or isinstance(x, list):
        return g
    want = np.shape(x)
    have = np.shape(g)
    if have != want:
        extra = len(have) - len(want)
        if extra < 0:  # a store broadcasts leading axes of length 1 away
            g = np.reshape(g, (1,) * -extra + have)
            return sum_to(g, x)
        else:
            axes = tuple(range(extra)) + tuple(
                extra + k for k, (n, m) in enumerate(zip(have[extra:], want)) if m == 1 and n != 1
            )
            if axes:
                g = np.sum(g, axis=axes, keepdims=True)
            if np.shape(g) != want:
                g = np.reshape(g, want) if np.size(g) == int(np.prod(want)) else np.broadcast_to(g, want)
    g = cast(g, x)
    if want == ():
        # The cotangent of an array is an array, that of a number a number.
        return np.asarray(g) if isinstance(x, np.ndarray) else g[()] if isinstance(g, np.ndarray) else g
    return g


def rolled(a: Any, shift: int, axis: int) -> Any:
    """``np.roll(a, shift, axis)`` for an array and one axis: a third of the time for a small one.

    >>> rolled(np.arange(5), -1, 0), rolled(np.arange(6).reshape(2, 3), 4, 1)
    (array([1, 2, 3, 4, 0]), array([[2, 0, 1],
           [5, 3, 4]]))
    """
    length = a.shape[axis]
    at = shift % length if length else 0
    out = np.empty_like(a)
    whole = (slice(None),) * (axis % a.ndim)
    out[(*whole, slice(at, None))] = a[(*whole, slice(length - at))]
    out[(*whole, slice(at))] = a[(*whole, slice(length - at, None))]
    return out


def summed(g: Any, shape: tuple[int, ...]) -> Any:
    """A duck array summed to the shape from which it was broadcast, by functions of NumPy's that it knows."""
    extra = len(g.shape) - len(shape)
    axes = tuple([k for k, n in enumerate(g.shape) if k < extra or (shape[k - extra] == 1 and n != 1)])
    if axes:
        g = np.sum(g, axis=axes, keepdims=True)
    return np.reshape(g, shape) if len(g.shape) != len(shape) else g


def in_dtype(v: Any, dtype: np.dtype[Any]) -> Any:
    """A duck array in a dtype: real parts for a real one. A number of Python's is weak, and stays what it is."""
    dtype = np.dtype(dtype)
    if dtype.kind in "iuf" and np.result_type(getattr(v, "dtype", v)).kind == "c":
        v = np.real(v)
    return v if not hasattr(v, "dtype") or v.dtype == dtype else v.astype(dtype)


def spread(g: Any, x: Any) -> Any:
    """`g` broadcast to the shape of `x`. The result is read only, as it may be a view."""
    if type(x) is np.ndarray and x.dtype == np.float64 and x.ndim and type(g) in (float, np.float64):
        out = np.ndarray(x.shape, x.dtype, np.float64(g), 0, (0,) * x.ndim)  # three times as fast as np.broadcast_to
        out.flags.writeable = False
        return out
    want = np.shape(x)
    if isinstance(g, (float, int, complex)) and want and np.result_type(x).kind in "fc":
        g = weak_dtype(isinstance(g, complex), np.result_type(x)).type(g)
    if want == ():
        return g[()] if isinstance(g, np.ndarray) else g
    return g if np.shape(g) == want else np.broadcast_to(g, want)


def weak_dtype(is_complex: bool, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of a Python number in arithmetic with floating numbers of this dtype."""
    return np.result_type(dtype, np.complex64) if is_complex and dtype.kind == "f" else dtype


def zeros(x: Any) -> Any:
    """A zero cotangent for `x`."""
    if isinstance(x, list):
        return [zeros(item) for item in x]
    if not isinstance(x, (np.ndarray, np.generic, float, int, complex)):
        return np.float64(0.0)  # `x` is undefined on this path, so nothing reads its cotangent
    if isinstance(x, (np.ndarray, np.void)) and x.dtype.names is not None:
        return np.zeros(x.shape, x.dtype)
    if isinstance(x, np.ndarray):
        return np.zeros(x.shape, x.dtype if x.dtype.kind in "fc" else np.float64)
    if isinstance(x, np.inexact):
        return x.dtype.type(0)
    return 0.0


def through(g: Any, x: Any) -> Any:
    """The cotangent or tangent `g` of what was converted to the dtype of `x`: zero if that is one of integers."""
    kind = x.dtype.kind if isinstance(x, (np.ndarray, np.generic)) else "i" if isinstance(x, int) else "f"
    if kind in "biu":
        return np.zeros_like(g) if isinstance(g, np.ndarray) else type(g)(0.0)
    return g


def cast(g: Any, like: Any) -> Any:
    """`g` in a dtype, or in the dtype of `like`. For a real dtype, it takes the real part of complex numbers.

    A Python scalar or an integer dtype as `like` changes nothing else.
    """
    if isinstance(like, np.dtype):
        want: Any = like
    elif isinstance(like, (np.ndarray, np.generic)):
        want = like.dtype
    else:
        want = None if isinstance(like, complex) else np.dtype(np.float64) if isinstance(like, float) else None
        if want is not None and np.iscomplexobj(g):
            return np.real(g)
        return g
    if want.kind not in "fc":
        return g
    if want.kind == "f" and np.iscomplexobj(g):
        g = np.real(g)
    if isinstance(g, np.ndarray):
        return g.astype(want, copy=False)
    return want.type(g)


def copy(a: Any) -> Any:
    if isinstance(a, (np.ndarray, np.generic)):
        return a.copy()
    return list(a) if isinstance(a, list) else np.positive(a) if is_duck(a) else a


def snapshot(a: Any, file: Any, depth: int) -> Any:
    """A copy of `a`: of an array, in a file or in memory; `depth` is how many there are. Small ones stay in memory.

    >>> file = snapshot_file(1, 5, None)
    >>> x = np.arange(1000.0)
    >>> y, z = snapshot(x, file, 0), snapshot(x, file, 1)
    >>> y.flags.owndata, z.flags.owndata, float(np.sum(y - z))
    (False, True, 0.0)
    """
    if type(a) is not np.ndarray or a.nbytes < SMALL or a.dtype.hasobject:
        return copy(a)
    return file.copy(a, depth)


def own(a: Any) -> Any:
    """A copy that shares no array with `a`, also where `a` is a list."""
    return [own(x) for x in a] if isinstance(a, list) else copy(a)


def constant(a: Any) -> Any:
    """A copy of an array, or a number, through which no derivative flows."""
    return a.copy() if isinstance(a, np.ndarray) else a


def full_like(x: Any, g: Any) -> Any:
    """`g` broadcast to the shape of `x`, in a buffer of its own."""
    g = spread(g, x)
    return g.copy() if isinstance(g, np.ndarray) else g


def sum_numbers(start: Any, *numbers: Any) -> Any:
    """What Python's `sum` makes of numbers. From Python 3.12 on, it compensates what it rounds off sums of floats."""
    return sum(numbers, start)


def sum_floats(start: Any, floats: Any) -> Any:
    """What Python's `sum` makes of these numbers, which are Python's floats."""
    return sum(floats.tolist(), start)


def mean_of_numbers(*numbers: Any) -> Any:
    """What `statistics.mean` makes of numbers: their exact sum by their count, rounded once."""
    import statistics

    return statistics.mean(numbers)


def product_of_numbers(*numbers: Any) -> Any:
    """What `math.sumprod` makes of numbers, those of the first sequence before those of the second. It rounds once."""
    count = len(numbers) // 2
    return getattr(math, "sumprod")(numbers[:count], numbers[count:])  # noqa: B009  (from Python 3.12 on)


def as_scalar(a: Any) -> Any:
    """`a` itself if it is a real floating scalar. Otherwise raises NonScalarOutputError."""
    if is_duck(a) and not a.shape and a.dtype.kind == "f":
        return a
    if a is None or np.ndim(a) or np.result_type(a).kind != "f":
        from .errors import NonScalarOutputError

        what = (
            "None"
            if a is None
            else f"{np.result_type(a)} of shape {np.shape(a)}"
            if np.ndim(a)
            else str(np.result_type(a))
        )
        raise NonScalarOutputError(
            f"grad needs a real scalar result, and this one is {what}", None, "sum the result, or use vjp"
        )
    return a


def finish(g: Any, x: Any) -> Any:
    """The cotangent `g` of `x` with x's kind, shape and dtype."""
    if isinstance(x, list):
        return g
    g = sum_to(g, x)
    if isinstance(x, np.ndarray) and not isinstance(g, np.ndarray):
        return np.full(x.shape, g, x.dtype)
    if isinstance(x, np.generic) and not isinstance(g, np.generic):
        return x.dtype.type(g)
    return g


def stack() -> list[Any]:
    return []


def push(stack: list[Any], v: Any) -> None:
    stack.append(v)


def pop(stack: list[Any]) -> Any:
    return stack.pop()


def list_new(items: Any) -> list[Any]:
    return list(items)


def list_append(items: list[Any], v: Any) -> list[Any]:
    return [*items, v]


def list_get(items: list[Any], i: int) -> Any:
    return items[i]


def list_set(items: list[Any], i: int, v: Any) -> list[Any]:
    out = list(items)
    out[i] = v
    return out


def list_addat(items: list[Any], i: int, g: Any) -> list[Any]:
    out = list(items)
    out[i] = accum(out[i], g)
    return out


def list_insert(items: list[Any], i: int, v: Any) -> list[Any]:
    out = list(items)
    out.insert(i, v)
    return out


def list_slice(items: list[Any], start: Any, stop: Any, step: Any) -> list[Any]:
    return items[start:stop:step]


def list_addslice(items: list[Any], start: Any, stop: Any, step: Any, g: list[Any]) -> list[Any]:
    out = list(items)
    out[start:stop:step] = map(accum, out[start:stop:step], g)
    return out


def list_splice(items: list[Any], i: Any, new: list[Any]) -> list[Any]:
    out = list(items)
    out[len(out) if i is None else i : i] = new
    return out


def list_cut(items: list[Any], start: Any, stop: Any, like: Any) -> list[Any]:
    out = list(items)
    del out[start:stop]
    return out


def list_drop(items: list[Any], i: int, like: Any) -> list[Any]:
    out = list(items)
    del out[i]
    return out


def unpacked(items: Any) -> tuple[Any, ...]:
    return tuple(items)


def to_list(a: Any) -> list[Any]:
    return a.tolist()  # type: ignore[no-any-return]


def item(a: Any, *indices: int) -> Any:
    return a.item(*indices)


def from_list(items: list[float]) -> Any:
    return np.array(items)


def repeated(v: float, n: int) -> list[float]:
    return [v] * n


def table_get(table: list[list[float]], i: int, j: int) -> float:
    return table[i][j]


def table_row(table: list[list[float]], i: int) -> int:
    table[i]
    return i


def list_item(items: list[Any], i: int, more: int, first: int, last: Any) -> Any:
    return items[i + more]


def table_set(table: list[list[float]], i: int, j: int, v: float) -> list[list[float]]:
    out = [list(row) for row in table]
    out[i][j] = v
    return out


def table_addat(table: list[list[float]], i: int, j: int, g: float) -> list[list[float]]:
    return table_set(table, i, j, table[i][j] + g)


def divided(g: float, d: float) -> Any:
    """``g / d`` of Python's numbers, as NumPy divides."""
    return g / (d or np.float64(d))


def raised(x: float, n: int) -> Any:
    """``x ** n`` of a number of Python's, as NumPy raises to a power."""
    return x**n if -1e30 < x < 1e30 else np.float64(x) ** n


def numpys(v: Any, trips: int) -> Any:
    """A number as NumPy's, if a loop has run."""
    return np.float64(v) if trips else v


def check(cond: Any, message: Any = None) -> None:
    if not cond:
        raise AssertionError(*(() if message is None else (message,)))


def raise_(error: Any, *cause: Any) -> None:
    if cause:
        raise error from cause[0]
    raise error


def caught(error: Any, *cause: Any) -> Any:
    """The exception that `raise_` raises."""
    try:
        raise_(error, *cause)
    except BaseException as raised:
        return raised.with_traceback(None)


def format_(*parts: Any) -> str:
    return "".join(map(str, parts))


def tuple_(*items: Any) -> tuple[Any, ...]:
    return items


def joined_examples(items: list[Any], lengths: tuple[int, ...], dtype: Any) -> Any:
    """The items as one array. Without items, it has these lengths behind the first axis, and this dtype."""
    return np.stack(items) if items else np.empty((0, *lengths), dtype)


def trimmed(seq: Any) -> Any:
    """Coefficients without the zeros at their end, as `numpy.polynomial` takes them: at least one stays."""
    if len(seq) == 0 or seq[-1] != 0:
        return seq
    used = np.flatnonzero(seq)
    return seq[: used[-1] + 1 if len(used) else 1]


# --- errors of derivatives --------------------------------------------------------------------------------------------


def if_square(
    g: Any, rows: int, columns: int, place: Place | None,
    what: str = "np.linalg.svd with full_matrices=True has no derivative for a matrix that is not square: some of its "
    "vectors are not unique",
    remedy: str = "call it with full_matrices=False",
) -> Any:  # fmt: skip
    """`g` itself if the matrix is square. Otherwise raises RuleLookupError."""
    if rows != columns:
        raise RuleLookupError(what, place, remedy)
    return g


# --- stores into objects outside of the function ----------------------------------------------------------------------


def set_attribute(obj: Any, name: str, v: Any) -> None:
    (type if isinstance(obj, type) else object).__setattr__(obj, name, v)


def delete_attribute(obj: Any, name: str) -> None:
    object.__delattr__(obj, name)


def set_entry(obj: Any, key: Any, v: Any) -> None:
    obj[key] = v


def delete_entry(obj: Any, key: Any) -> None:
    del obj[key]


def append_to(obj: list[Any], v: Any) -> None:
    obj.append(v)


def fill_list(obj: list[Any], *items: Any) -> None:
    obj[:] = items


def store_into(obj: Any, path: tuple[Any, ...], v: Any) -> None:
    target, index = _located(obj, path)
    target[index] = v


def keep(a: Any) -> Any:
    """A copy of an array, or of a list of arrays."""
    if isinstance(a, list):
        return [keep(x) for x in a]
    return np.array(a, copy=True) if isinstance(a, np.ndarray) else a


def build(cls: Any, names: tuple[Any, ...], *items: Any) -> Any:
    """A container, or an object with these attributes."""
    if cls is tuple or cls is list:
        return cls(items)
    if cls is dict:
        return dict(zip(names, items))
    return cls(*items) if cls in (range, slice) or issubclass(cls, tuple) else new_object(cls, names, items)


def select(cond: Any, x: Any, y: Any) -> Any:
    """``x if cond else y``, both computed; for scalars, where np.where would make a 0-d array."""
    return x if cond else y


def unstack(a: Any) -> list[Any]:
    """The items along the first axis as a list."""
    return list(a)
