"""Places of arrays: which parts that paths name have nothing in common, and which make up the whole.

Takes paths, as the operands of reads and stores. Gives answers that hold for all lengths and all iterations.

>>> from autodiff_compiler.ir.types import Dims
>>> def part(*items):
...     return (("index", items),)
>>> k = slice(None), 2
>>> are_apart(part(*k), part(slice(None), slice(3, None)), Dims()), are_apart(part(*k), part(0), Dims())
(True, False)
>>> shared = common(part(slice(1, -1)), part(slice(None, -1)), Dims(), (4,))
>>> shared.in_first, shared.in_second, shared.is_all
((slice(None, None, None),), (slice(1, None, None),), True)
>>> make_up_all([part(slice(1, -1)), part(0), part(-1)])
True
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any

from ..ir.core import Op, Value, structural_key
from ..ir.forms import Form, form_of_length, linear, plus, range_of
from ..ir.opset import ADD, PRIMS
from ..ir.rewrite import enclosing, region_of
from ..ir.types import DimLike, Dims
from ..records import record
from .filling import affine, is_subscript

Path = Any  # steps from an array to a part of it


def item_along(path: Path, axis: int) -> Any:
    """What the first step of a path picks along an axis; None if that is not plain to see."""
    items = path[0][1]
    if not all(isinstance(x, slice) or (type(x) is not bool and is_subscript(x)) for x in items):
        return None
    return items[axis] if axis < len(items) else slice(None)


def are_apart(a: Path, b: Path, dims: Dims, shape: Sequence[DimLike] | None = None) -> bool:
    """Two paths into one array, with these lengths, name no place that is the same."""
    if not a or not b or a[0][0] != "index" or b[0][0] != "index":
        return False
    for axis in range(min(len(a[0][1]), len(b[0][1]))):
        x, y = item_along(a, axis), item_along(b, axis)
        length = shape[axis] if shape is not None and axis < len(shape) else None
        if x is not None and y is not None and (_is_before(x, y, dims, length) or _is_before(y, x, dims, length)):
            return True
    return False


def _is_before(x: Any, y: Any, dims: Dims, length: DimLike | None) -> bool:
    """The last place that `x` picks is in front of the first one of `y`."""
    if any(type(item) is slice and item.step not in (None, 1) for item in (x, y)):
        return False
    end, start = x.stop if type(x) is slice else x, y.start if type(y) is slice else y
    if end is None or start is None or not all(type(v) is int or is_subscript(v) for v in (end, start)):
        return False  # with a ``None`` that only the run knows, ``a[:k]`` and ``a[k:]`` are all of the array
    if type(x) is slice and type(y) is slice and _same_bound(start, end):
        return True  # ``a[:k]`` and ``a[k:]`` have nothing in common, whatever k is
    last, first = _form(end, dims, length), _form(start, dims, length)
    if last is None or first is None or _lowest(last, dims) < 0 or _lowest(first, dims) < 0:
        return False
    return _lowest(plus(first, last, -1), dims) >= (type(x) is not slice)


@record
class Common:
    """What two parts of an array have in common.

    in_first, in_second: where it is in these parts, by their own axes
    is_all:              it is all of the first part
    """

    in_first: tuple[Any, ...]
    in_second: tuple[Any, ...]
    is_all: bool


def common(a: Path, b: Path, dims: Dims, shape: Sequence[DimLike]) -> Common | bool:
    """What two paths into an array of this shape have in common. False: nothing; True: that is not known."""
    if len(a) != 1 or len(b) != 1 or a[0][0] != "index" or b[0][0] != "index":
        return True
    if max(len(a[0][1]), len(b[0][1])) > len(shape):
        return True
    in_first: list[Any] = []
    in_second: list[Any] = []
    is_known = is_all = True
    for axis, length in enumerate(shape):
        found = _common_along(item_along(a, axis), item_along(b, axis), dims, length)
        if found is False:
            return False
        if found is True:
            is_known = False
            continue
        first, second, all_along = found
        in_first += first
        in_second += second
        is_all = is_all and all_along
    return Common(tuple(in_first), tuple(in_second), is_all) if is_known else True


def _common_along(x: Any, y: Any, dims: Dims, length: DimLike) -> Any:
    """What two subscripts of one axis have in common: in the first, in the second, and whether it is all of the first.
    False: nothing; True: that is not known."""
    ends = [_bounds(item, dims, length) for item in (x, y)]
    if None in ends:
        return True
    (start, stop), (other_start, other_stop) = ends  # type: ignore[misc]

    def reaches(form: Form, other: Form) -> bool:
        return _lowest(plus(form, other, -1), dims) >= 0

    if reaches(start, other_stop) or reaches(other_start, stop):
        return False
    if not (reaches(start, other_start) or reaches(other_start, start)):
        return True
    if not (reaches(stop, other_stop) or reaches(other_stop, stop)):
        return True
    low = start if reaches(start, other_start) else other_start
    high = other_stop if reaches(stop, other_stop) else stop
    first, second = _inside(low, high, start, stop), _inside(low, high, other_start, other_stop)
    if first is None or second is None or not reaches(high, low):
        return True
    if type(x) is not slice and type(y) is slice:
        return [], [second.start or 0], True
    if type(x) is slice and type(y) is not slice:
        return [first.start or 0], [], False
    return ([first], [second], low == start and high == stop) if type(x) is slice else ([], [], True)


def _bounds(item: Any, dims: Dims, length: DimLike) -> tuple[Form, Form] | None:
    """The first place of a subscript, and the one behind the last, if they are known to be on the axis."""
    end = _form(-1, dims, length)
    if item is None or end is None:
        return None
    end = plus(end, {None: 1})
    if type(item) is slice:
        if item.step not in (None, 1):
            return None
        start, stop = ({} if item.start is None else _form(item.start, dims, length)), end
        if item.stop is not None:
            stop = _form(item.stop, dims, length)  # type: ignore[assignment]
    else:
        start = _form(item, dims, length)
        stop = None if start is None else plus(start, {None: 1})  # type: ignore[assignment]
    if start is None or stop is None:
        return None
    inside = (start, plus(stop, start, -1), plus(end, stop, -1))
    return (start, stop) if all(_lowest(form, dims) >= 0 for form in inside) else None


def _inside(low: Form, high: Form, start: Form, stop: Form) -> slice | None:
    """The places from `low` to `high` among those from `start` to `stop`, counted from either end."""
    bounds: list[int | None] = []
    for form in (low, high):
        front, back = plus(form, start, -1), plus(form, stop, -1)
        if front.keys() <= {None}:
            bounds.append(front.get(None, 0))
        elif back.keys() == {None}:
            bounds.append(back[None])
        elif not back and form is high:
            bounds.append(None)
        else:
            return None
    return slice(bounds[0] or None, None if high == stop else bounds[1])


def is_at_least(x: Any, least: int, dims: Dims) -> bool:
    """An int is never less than a number."""
    form = _form(x, dims)
    return form is not None and _lowest(form, dims) >= least


def _form(x: Any, dims: Dims, length: DimLike | None = None) -> Form | None:
    """An int in terms of lengths and of variables of loops, if nothing has to be taken for granted for that. A number
    that counts from the end of an axis with a `length` is one that counts from its front."""
    top = dims.top()
    known = len(top.at_least), len(top.derived)
    form = linear(dims, x)
    if type(x) is int and x < 0 and length is not None and (whole := form_of_length(dims, length)) is not None:
        form = plus(whole, {None: x})
    if (len(top.at_least), len(top.derived)) == known:
        return form
    del top.at_least[known[0] :]
    return None


def _lowest(form: Form, dims: Dims) -> float:
    """A number that a form is never less than. The length of an argument has a name if it is two or more."""
    low = 0
    for root, factor in form.items():
        if root is None:
            low += factor
            continue
        start, _, step = (range_of(root) or (None, 0, 0))[:3] if type(root) is Value else (2, 0, 1)
        counts = type(start) is int and type(step) is int and step > 0
        if factor < 0 or not counts or not (type(root) is Value or root in dims.top().arg_roots):
            return -math.inf
        low += factor * start
    return low


def block_of(item: slice, loop: Op) -> Any:
    """The length, as a key, of the slice ``[j * size : (j + 1) * size]`` of the loop's variable j. With a negative
    size, all but the first are empty."""
    start, stop = item.start, item.stop
    if type(start) is not Value or type(stop) is not Value or start.op is None or stop.op is None:
        return None
    for size in start.op.args:
        if start.op.prim in _PRODUCT and _is_multiple(start, size, 0, loop):
            if _is_multiple(stop, size, 1, loop) or (stop.op.prim is ADD and _same(stop.op.args, (start, size))):
                return structural_key(size)
    return None


def _is_multiple(x: Value, size: Any, place: int, loop: Op) -> bool:
    """It is the loop's variable, plus a number, times a size that is the same in each iteration."""
    if x.op is None or x.op.prim not in _PRODUCT or not (type(size) is int or _is_outside(size, loop)):
        return False
    a, b = x.op.args[:2]
    return any(affine(v, loop) == place and _same((w,), (size,)) for v, w in ((a, b), (b, a)))


_PRODUCT = {PRIMS[operator.mul]}


def _is_outside(v: Any, loop: Op) -> bool:
    return type(v) is Value and is_subscript(v) and all(r is not loop.regions[0] for r in enclosing(region_of(v)))


def _same(first: Any, second: Any) -> bool:
    """The same operands in any order."""
    return sorted(map(hash, map(structural_key, first))) == sorted(map(hash, map(structural_key, second)))


def make_up_all(paths: Iterable[Path]) -> bool:
    """The paths name all of an array: one names the whole, or they are slices along an axis of which each begins where
    another one ends."""
    parts: dict[int, list[tuple[Any, Any]]] = {}
    for path in paths:
        if not path:
            return True
        items = path[0][1]
        if len(path) > 1 or path[0][0] != "index" or any(item is None for item in items):
            continue
        cut = [k for k, item in enumerate(items) if not _is_whole(item)]
        if not cut:
            return True
        item = items[cut[0]]
        if len(cut) > 1 or any(item is Ellipsis for item in items[: cut[0]]):
            continue
        if type(item) is int:
            parts.setdefault(cut[0], []).append((item, item + 1 or None))
        elif type(item) is slice and item.step in (None, 1):
            parts.setdefault(cut[0], []).append((item.start, item.stop))
    return any(map(_leads_to_the_end, parts.values()))


def _is_whole(item: Any) -> bool:
    return item is Ellipsis or (
        type(item) is slice and item.start is None and item.stop is None and item.step in (None, 1)
    )


def _leads_to_the_end(parts: list[tuple[Any, Any]]) -> bool:
    """The slices lead from the beginning to the end."""
    at: Any = None
    for _ in parts:
        following = [stop for start, stop in parts if _same_bound(start, at)]
        if not following:
            return False
        at = following[0]
        if at is None:
            return True
    return False


def _same_bound(a: Any, b: Any) -> bool:
    return a is b or (type(a) is int and type(b) is int and a == b) or (type(a) is int and a == 0 and b is None)


__all__ = ["Common", "Path", "are_apart", "block_of", "common", "is_at_least", "item_along", "make_up_all"]
