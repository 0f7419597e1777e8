"""A part put into zeros by functions that make new arrays, in the place of an addition into a part of zeros.

Takes a value and the path by which a part was read. Gives the operations that put the value there: `np.pad` around a
slice or an element, a reshape or a transposition back.

>>> import numpy as np
>>> from autodiff_compiler.ir.core import Function, Region
>>> from autodiff_compiler.ir.printer import print_function
>>> from autodiff_compiler.ir.types import Dim, array
>>> b = Builder(Region())
>>> n = b.dims.fresh()
>>> x, g = b.region.param(array(float, (n,)), "x"), b.region.param(array(float, (Dim(n.root, 2),)), "g")
>>> def fail(what, remedy):
...     raise AssertionError(what)
>>> b.region.exit = (placed(b, Lengths(b.region), fail, x, (("index", (slice(1, -1),)),), g),)
>>> print(print_function(Function("behind", b.region)).strip())
func behind(%x: float64[d1], %g: float64[d1-2]) {
  %v1: float64[d1-2] = get %x, (('index', (1:-1,)),)
  %v2: int = dim %x, 0
  %v3: int = slice_bound 0, %v2, 1, -1, None
  %v4: int = dim %g, 0
  %v5: int = - %v2, %v3
  %v6: int = - %v5, %v4
  %v7: float64[d2] = np.pad %g, ((%v3, %v6),)
  return %v7
}
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..ir import opset
from ..ir.core import Builder, Region, Value, type_of
from ..ir.opset import DIM, GET, MUL, PRIMS, SUB
from ..ir.types import DimLike, same_dtype

Fail = Callable[[str, str], NoReturn]  # raises the error for what is not supported, with the remedy


class Lengths:
    """The lengths of axes, asked for at a parameter where one has such an axis."""

    def __init__(self, body: Region):
        self.known: dict[DimLike, tuple[Value, int]] = {}
        for p in body.params:
            for axis, d in enumerate(p.type.dims or ()):
                self.known.setdefault(body.dims.find(d), (p, axis))

    def one(self, b: Builder, x: Any, axis: int) -> Any:
        """The length of one axis of `x`: an int, or a value of one."""
        d = b.dims.find((type_of(x).dims or ())[axis])
        return d if isinstance(d, int) else b.emit(DIM, *self.known.get(d, (x, axis)))

    def all(self, b: Builder, x: Any) -> tuple[Any, ...]:
        return tuple([self.one(b, x, k) for k in range(len(type_of(x).dims or ()))])


def at_step(b: Builder, a: Any, step: tuple[Any, ...]) -> Any:
    """The part of `a` behind one step of a path, by a function of NumPy's or a subscript."""
    if step[0] == "transpose":
        return b.emit(PRIMS[np.transpose], a, *(() if step[1] is None else (step[1],)))
    if step[0] == "reshape":
        return b.emit(PRIMS[np.reshape], a, step[1] if isinstance(step[1], tuple) else (step[1],))
    return a if opset.is_whole((step,)) else b.emit(GET, a, (step,))


def part(b: Builder, a: Any, path: tuple[Any, ...]) -> Any:
    """The part of `a` at a path, of which only the lengths are asked for."""
    first = len(b.region.ops)
    for step in path:
        a = at_step(b, a, step)
    for op in b.region.ops[first:]:
        op.droppable = True
    return a


def broadcast(b: Builder, lengths: Lengths, g: Any, x: Any) -> Any:
    """`g` in the shape of `x`."""
    tg, tx = type_of(g), type_of(x)
    if tg.dims is not None and tx.dims is not None and len(tg.dims) == len(tx.dims) and not tg.is_scalar:
        if all(map(b.dims.same, tg.dims, tx.dims)):
            return g
    if tx.duck is None:
        shape = lengths.all(b, x) if tx.dims is not None else b.emit(opset.SHAPE_OF, x)
        return b.emit(PRIMS[np.broadcast_to], g, shape)
    dtype = tx.dtype if tg.kind in ("py", "scalar") and tx.is_float else tg.dtype
    kwargs = {} if dtype is None or same_dtype(dtype, tx.dtype) else {"dtype": dtype}
    if tg.dims == () and tg.duck is None:
        return b.emit(PRIMS[np.full_like], x, g, **kwargs)
    # In the pieces of `x`, as a lazy array that is broadcast would be one piece.
    return b.emit(MUL, b.emit(PRIMS[np.ones_like], x, **kwargs), g)


def placed(b: Builder, lengths: Lengths, fail: Fail, a: Any, path: tuple[Any, ...], v: Any) -> Any:
    """Zeros in the shape of `a`, but for `v` at the path."""
    bases = [a]
    for step in path:
        bases.append(part(b, bases[-1], (step,)))
    there, t = type_of(bases[-1]), type_of(v)
    if there.dims is None or type_of(a).dims is None:
        fail("a read of a part, where the number of axes is not known, of", "reshape it to a known one")
    if t.is_scalar or t.dims is None or len(t.dims) != len(there.dims) or not all(map(b.dims.same, t.dims, there.dims)):
        v = broadcast(b, lengths, v, bases[-1])
    for step, base in zip(path[::-1], bases[-2::-1]):
        if step[0] == "transpose":
            axes = step[1]
            v = b.emit(PRIMS[np.transpose], v, *(() if axes is None else (tuple(np.argsort(axes).tolist()),)))
        elif step[0] == "reshape":
            v = b.emit(PRIMS[np.reshape], v, lengths.all(b, base))
        else:
            v = _behind_subscripts(b, lengths, fail, base, step[1], v)
    return v


def _behind_subscripts(b: Builder, lengths: Lengths, fail: Fail, base: Any, items: tuple[Any, ...], v: Any) -> Any:
    """Zeros in the shape of `base`, but for `v` at the subscripts."""
    rank = len(type_of(base).dims or ())
    taken = sum(i is not None and i is not Ellipsis for i in items)
    at = next((k for k, i in enumerate(items) if i is Ellipsis), len(items))
    items = (*items[:at], *[slice(None)] * (rank - taken), *items[at + 1 :])
    new = tuple([k for k, i in enumerate([i for i in items if type(i) is slice or i is None]) if i is None])
    if new:
        v = b.emit(PRIMS[np.squeeze], v, new if len(new) > 1 else new[0])
    widths: list[tuple[Any, Any]] = []
    for axis, item in enumerate([i for i in items if i is not None]):
        n = lengths.one(b, base, axis)
        if type(item) is slice:
            step = 1 if item.step is None else item.step
            if not isinstance(step, int):
                fail("a read with a step that is computed, of", "write the step as a number")
            v, width = _behind_slice(b, lengths, v, axis, n, item, step)
        elif _is_int(item):
            v = b.emit(PRIMS[np.expand_dims], v, axis)
            width = _around(b, item, n)
        else:
            fail(
                "the derivative of a subscript by an array adds to repeated places, and no public function does so for",
                "take slices, or multiply by a mask",
            )
        widths.append(width)
    return v if all(w == (0, 0) for w in widths) else b.emit(PRIMS[np.pad], v, tuple(widths))


def _is_int(item: Any) -> bool:
    t = type_of(item) if not isinstance(item, (list, tuple)) else None
    return t is not None and t.is_scalar and t.dtype is not None and t.dtype.kind in "iu"


def _around(b: Builder, i: Any, n: Any) -> tuple[Any, Any]:
    """How many elements are in front of the element number `i` of `n`, and how many behind it."""
    if isinstance(i, (int, np.integer)):
        return (int(i), _less(b, n, int(i) + 1)) if i >= 0 else (_less(b, n, -int(i)), -int(i) - 1)
    before = b.emit(PRIMS[operator.mod], i, n)
    return before, _less(b, n, before, 1)


def _less(b: Builder, n: Any, *others: Any) -> Any:
    for k in others:
        if isinstance(n, int) and isinstance(k, int):
            n -= k
        elif not (isinstance(k, int) and k == 0):
            n = b.emit(SUB, n, k)
    return n


def _behind_slice(
    b: Builder, lengths: Lengths, v: Any, axis: int, n: Any, s: slice, step: int
) -> tuple[Any, tuple[Any, Any]]:
    """What was read by a slice, with zeros between its elements; how many go in front of it, and how many behind it."""
    if s.start is None and s.stop is None and step in (1, -1):
        return (v if step == 1 else b.emit(PRIMS[np.flip], v, axis)), (0, 0)
    before = b.emit(opset.SLICE_BOUND, 0, n, s.start, s.stop, s.step)
    if step < 0:
        v = b.emit(PRIMS[np.flip], v, axis)
        before = b.emit(SUB, before, b.emit(MUL, _less(b, lengths.one(b, v, axis), 1), -step))
    if abs(step) > 1:
        v = _with_gaps(b, lengths, v, axis, abs(step))
    m = lengths.one(b, v, axis)
    if step == 1 and s.start is None:
        return v, (0, _less(b, n, m))
    if step == 1 and s.stop is None and isinstance(s.start, int):
        return v, (_less(b, n, m), 0)
    return v, (before, _less(b, n, before, m))


def _with_gaps(b: Builder, lengths: Lengths, v: Any, axis: int, step: int) -> Any:
    """The elements along an axis with ``step - 1`` zeros between two of them."""
    rank, shape = len(type_of(v).dims or ()), list(lengths.all(b, v))
    shape[axis] = b.emit(MUL, shape[axis], step)
    last = b.emit(SUB, shape[axis], step - 1)
    gaps = ((0, 0),) * (axis + 1) + ((0, step - 1),) + ((0, 0),) * (rank - axis - 1)
    wide = b.emit(PRIMS[np.pad], b.emit(PRIMS[np.expand_dims], v, axis + 1), gaps)
    wide = b.emit(PRIMS[np.reshape], wide, tuple(shape))
    return b.emit(GET, wide, (("index", (*[slice(None)] * axis, slice(None, last))),))


__all__ = ["Lengths", "at_step", "broadcast", "part", "placed"]
