"""Lists of run-time length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ir import opset
from ..ir.core import Op, Value, current, type_of
from ..ir.opset import mark
from ..ir.types import ANY_LENGTH
from . import lib
from .batch_rules import batch, no_rule
from .lib import emit
from .record import constant_in, passes_on, vjp

if TYPE_CHECKING:
    from .batching import Batcher


@vjp(opset.LIST_NEW, "items", linear=True)
def _list_new(g: Any, out: Any, items: Any) -> Any:
    return tuple([emit(opset.LIST_GET, g, k) for k in range(len(items))])


@vjp(opset.LIST_APPEND, "l", linear="l, v")
def _append_l(g: Any, out: Any, l: Any, v: Any) -> Any:
    return emit(opset.LIST_DROP, g, -1, emit(opset.LIST_GET, g, -1))


@vjp(opset.LIST_APPEND, "v")
def _append_v(g: Any, out: Any, l: Any, v: Any) -> Any:
    return emit(opset.LIST_GET, g, -1)


@vjp(opset.LIST_INSERT, "l", linear="l, v")
def _insert_l(g: Any, out: Any, l: Any, i: Any, v: Any) -> Any:
    place = _inserted_at(g, i)
    return emit(opset.LIST_DROP, g, place, emit(opset.LIST_GET, g, place))


def _inserted_at(g: Any, i: Any) -> Any:
    """The place of what was inserted; `g` is of the list with it."""
    if _is_front(i):
        return 0
    return emit(opset.SLICE_BOUND, 0, emit(opset.SUB, emit(opset.LEN, g), 1), i, None, None)


def _is_front(i: Any) -> bool:
    return type(i) is int and i == 0


@vjp(opset.LIST_INSERT, "v")
def _insert_v(g: Any, out: Any, l: Any, i: Any, v: Any) -> Any:
    return emit(opset.LIST_GET, g, _inserted_at(g, i))


@vjp(opset.LIST_GET, "l", linear=True)
def _list_get(g: Any, out: Any, l: Any, i: Any) -> Any:
    return emit(opset.LIST_ADDAT, lib.zeros(l), i, g)


@vjp(opset.LIST_SET, "l", linear="l, v")
def _list_set_l(g: Any, out: Any, l: Any, i: Any, v: Any) -> Any:
    old = type_of(l).elem
    new = type_of(v)
    if old is not None and old.is_scalar and new.is_scalar and old.is_real and new.is_real:
        return emit(opset.LIST_SET, g, i, 0.0)  # not that of what was there: the list would be saved for it
    if old is None or old.kind != new.kind or not (old.is_scalar or _same_dims(old.dims, new.dims)):
        v = emit(opset.LIST_GET, l, i)  # what was there may have had another shape
    return emit(opset.LIST_SET, g, i, emit(opset.ZEROS, v))


def _same_dims(a: Any, b: Any) -> bool:
    if a is None or b is None or len(a) != len(b) or ANY_LENGTH in a or ANY_LENGTH in b:
        return False
    return all(map(current().dims.same, a, b))


@vjp(opset.LIST_SET, "v")
def _list_set_v(g: Any, out: Any, l: Any, i: Any, v: Any) -> Any:
    return emit(opset.LIST_GET, g, i)


passes_on(opset.LIST_ADDAT, "l", linear="l, g")


@vjp(opset.LIST_ADDAT, "g")
def _list_addat_g(g: Any, out: Any, l: Any, i: Any, g_: Any) -> Any:
    return emit(opset.LIST_GET, g, i)


@vjp(opset.LIST_DROP, "l", linear=True)
def _list_drop(g: Any, out: Any, l: Any, i: Any, like: Any) -> Any:
    zero = 0.0 if type_of(like).is_scalar else emit(opset.ZEROS, like)
    if type(i) is int and i == -1:
        return emit(opset.LIST_APPEND, g, zero)
    if type(i) is not int or i < 0:
        i = emit(opset.SLICE_BOUND, 0, emit(opset.ADD, emit(opset.LEN, g), 1), i, None, None)
    return emit(opset.LIST_INSERT, g, i, zero)


@vjp(opset.LIST_SLICE, "l", linear=True)
def _slice(g: Any, out: Any, l: Any, start: Any, stop: Any, step: Any) -> Any:
    return emit(opset.LIST_ADDSLICE, lib.zeros(l), start, stop, step, g)


passes_on(opset.LIST_ADDSLICE, "l", linear="l, g")


@vjp(opset.LIST_ADDSLICE, "g")
def _addslice_g(g: Any, out: Any, l: Any, start: Any, stop: Any, step: Any, g_: Any) -> Any:
    return emit(opset.LIST_SLICE, g, start, stop, step)


@vjp(opset.LIST_SPLICE, "l", linear="l, new")
def _splice_l(g: Any, out: Any, l: Any, i: Any, new: Any) -> Any:
    return emit(opset.LIST_CUT, g, *_spliced(g, i, new))


def _spliced(g: Any, i: Any, new: Any) -> tuple[Any, Any, Any]:
    """From where to where what was put into a list lies, and what lies there; `g` is of the list with it."""
    made = new.op if isinstance(new, Value) else None
    n = len(made.args[0]) if made is not None and made.prim is opset.LIST_NEW else emit(opset.LEN, new)
    if i is None:
        start, stop = emit(opset.SUB, emit(opset.LEN, g), n), None
    elif _is_front(i):
        start, stop = None, n
    elif _is_place(i):
        start, stop = i, emit(opset.ADD, i, n)
    else:
        start = emit(opset.SLICE_BOUND, 0, emit(opset.SUB, emit(opset.LEN, g), n), i, None, None)
        stop = emit(opset.ADD, start, n)
    return start, stop, emit(opset.LIST_SLICE, g, start, stop, None)


def _is_place(i: Any) -> bool:
    """Counted from the front, and not beyond the end."""
    made = i.op if isinstance(i, Value) else None
    return made is not None and made.prim is opset.SLICE_BOUND and made.args[0] == 0


@vjp(opset.LIST_SPLICE, "new")
def _splice_new(g: Any, out: Any, l: Any, i: Any, new: Any) -> Any:
    return _spliced(g, i, new)[2]


constant_in((opset.LIST_DROP, opset.LIST_CUT), "like")


@vjp(opset.LIST_CUT, "l", linear=True)
def _cut(g: Any, out: Any, l: Any, start: Any, stop: Any, like: Any) -> Any:
    if start is None:
        start = 0
    elif not _is_place(start) and (type(start) is not int or start < 0):
        n = emit(opset.ADD, emit(opset.LEN, g), emit(opset.LEN, like))
        start = emit(opset.SLICE_BOUND, 0, n, start, None, None)
    return emit(opset.LIST_SPLICE, g, start, emit(opset.ZEROS, like))


# --- stacks ---------------------------------------------------------------------------------------------------------

# The operands that are items, or lists of them. A list of stacks is what stands for a stack of lists.
_ITEMS = {
    opset.LIST_APPEND: (0, 1),
    opset.LIST_GET: (0,),
    opset.LIST_SET: (0, 2),
    opset.LIST_ADDAT: (0, 2),
    opset.LIST_INSERT: (0, 2),
    opset.LIST_DROP: (0, 2),
    opset.LIST_SLICE: (0,),
    opset.LIST_ADDSLICE: (0, 4),
    opset.LIST_SPLICE: (0, 2),
    opset.LIST_CUT: (0, 3),
}


@batch(*_ITEMS)
def _list_batch(self: Batcher, op: Op) -> Any:
    args = list(self.new(op.args))
    for k in _ITEMS[op.prim]:
        if k == 0 or k not in op.prim.shape_only:
            args[k] = self.spread(args[k])
    if self.has_stack([x for k, x in enumerate(args) if k not in _ITEMS[op.prim]]):
        raise no_rule(op)  # places that differ between examples
    return self.stack(op.prim, *args)


@batch(opset.LIST_NEW)
def _list_new_batch(self: Batcher, op: Op) -> Any:
    return self.stack(op.prim, tuple([self.spread(x) for x in self.new(op.args[0])]))


@batch(opset.LEN)
def _len_batch(self: Batcher, op: Op) -> Any:
    x = self.new(op.args[0])
    return self.emit(opset.LEN, x) if x.type.kind == "list" else self.length(x, 0)


# --- traits ---------------------------------------------------------------------------------------------------------

mark("carries", opset.LIST_GET)
