"""What the rules of `batch_rules` use: the batcher knows which values are stacks, and builds operations on them.

A stack has one more axis in front. A list is a stack if its items are. Where a rule cannot do its work, the operation
runs once for each example, see `each_example`.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from .. import runtime
from ..ir import opset
from ..ir.core import UNDEF, Builder, Op, Prim, Region, Value, leaves, map_leaves, type_of
from ..ir.opset import CAST, DIM, GET, LIST_APPEND, LIST_GET, LIST_NEW, PRIMS, SET, ZEROS
from ..ir.types import PYTHON_DTYPES, Dim, DimLike, Ty, py_int, same_dtype
from ..pristine import math, np
from .batch_rules import NotBatchedError, broadcast_stacks, no_rule


class _Env(dict[Value, Any]):
    """A value of a region around the function stands for itself."""

    def __missing__(self, v: Value) -> Value:
        return v


class Batcher:
    """Builds operations on stacks.

    axis:   the length of the stacks
    env:    from the values of the old function to those of the new one
    stacks: values of the new function that are stacks
    shapes: of the old function: from a shape to the value that it is the shape of
    """

    def __init__(self, body: Region):
        self.b = Builder(body)
        self.axis: DimLike = body.dims.fresh()
        self.env: dict[Value, Any] = _Env()
        self.stacks: set[Value] = set()
        self.shapes: dict[Value, Value] = {}
        self.old_params: list[Value] = []
        self.some: Value | None = None  # a stack at the top level, which tells how many examples there are

    # --- values ---------------------------------------------------------------------------------------------------

    def new(self, arg: Any) -> Any:
        return map_leaves(lambda v: self.env[v], arg)

    def is_stack(self, x: Any) -> bool:
        return type(x) is Value and x in self.stacks

    def has_stack(self, arg: Any) -> bool:
        return any(v in self.stacks for v in leaves(arg))

    def stack_type(self, t: Ty) -> Ty:
        """The type of a stack of values of a type."""
        if t.kind == "list":
            return t if t.elem is None else Ty("list", elem=self.stack_type(t.elem))
        if t.kind in ("stack", "undef"):
            return t
        if t.kind == "any" and t.elem is not None:
            return Ty("any", elem=self.stack_type(t.elem))
        if t.kind not in ("array", "generic", "scalar", "py", "any") or (t.dtype is not None and t.dtype.kind == "O"):
            raise NotBatchedError(f"a value of type {t}")
        dims = None if t.dims is None else (self.axis, *t.dims)
        return Ty("array" if t.dims is not None or t.kind == "array" else "any", t.dtype, dims, real=t.real)

    def rank(self, x: Any) -> int:
        """How many axes a value has, without the one in front of stacks."""
        t = type_of(x)
        if t.dims is None:
            raise NotBatchedError(f"a value of type {t}")
        return len(t.dims) - self.is_stack(x)

    def emit(self, prim: Prim, *args: Any, **kwargs: Any) -> Any:
        return self.b.emit(prim, *args, **kwargs)

    def stack(self, prim: Prim, *args: Any, **kwargs: Any) -> Any:
        """An operation whose result is a stack, or each of whose results is one."""
        out = self.emit(prim, *args, **kwargs)
        self.stacks.update((out,) if type(out) is Value else out)
        return out

    def index(self, x: Any, *items: Any) -> Any:
        return self.stack(GET, x, (("index", items),))

    def aligned(self, x: Any, rank: int) -> Any:
        """A stack with axes of length 1 after the first one, so that it broadcasts as its elements would to `rank`
        axes; anything else as it is."""
        if not self.is_stack(x):
            return x
        have = self.rank(x)
        if rank <= have:
            return x
        return self.index(x, slice(None), *[None] * (rank - have), *([Ellipsis] if have else []))

    def length(self, x: Any, axis: int) -> Any:
        """The length of an axis of a value, not counting the first axis of stacks."""
        axis += self.is_stack(x)
        known = type_of(x).dims[axis]  # type: ignore[index]
        return self.emit(DIM, x, axis) if isinstance(known, Dim) else known

    def lengths(self, x: Any) -> tuple[Any, ...]:
        return tuple([self.length(x, k) for k in range(self.rank(x))])

    def known_length(self, d: DimLike, op: Op | None) -> Any:
        """A length of the old function, read off an operand or a parameter; None if none has it."""
        if isinstance(d, int):
            return d
        for old in (*(op.operands() if op is not None else ()), *self.old_params):
            x = self.env.get(old)
            if type(x) is Value and x.type.dims is not None and old.type.dims is not None:
                for k, have in enumerate(old.type.dims):
                    if self.b.dims.same(d, have):
                        return self.length(x, k)
        return None

    def shape_behind(self, x: Any, shape: Any) -> tuple[Any, ...]:
        """The shape of a stack of what has this shape, which may have a -1. `x` is what it is the shape of, in another
        order of axes."""
        items = shape if isinstance(shape, (tuple, list)) else (shape,)
        if any(type(n) is int and n == -1 for n in items):  # NumPy cannot tell where there are no elements
            rest = self.product(self.lengths(x))
            others = self.product([n for n in items if not (type(n) is int and n == -1)])
            if type(rest) is int and type(others) is int:
                rest = rest // others if others else 0
            elif not (type(others) is int and others == 1):
                rest = self.emit(PRIMS[operator.floordiv], rest, others)
            items = [rest if type(n) is int and n == -1 else n for n in items]
        return (self.size(), *items)

    def shape_of_operand(self, old: Any, new: Any) -> tuple[Any, ...] | None:
        """An operand that is a shape, as a tuple; None if its items are not known."""
        if type(old) is Value and old in self.shapes:
            return self.lengths(self.env[self.shapes[old]])
        if type(new) is int or (type(new) is Value and new.type.kind == "py" and not self.is_stack(new)):
            return (new,)
        return tuple(new) if isinstance(new, (tuple, list)) and not self.has_stack(new) else None

    def flat(self, x: Any) -> Any:
        """A stack of vectors of the elements of what `x` is a stack of."""
        return self.stack(PRIMS[np.reshape], x, self.shape_behind(x, -1))

    def product(self, numbers: Sequence[Any]) -> Any:
        known = math.prod([n for n in numbers if type(n) is int])
        rest = [n for n in numbers if type(n) is not int]
        if not rest or known == 0:
            return known
        out = rest[0]
        for n in rest[1:]:
            out = self.emit(opset.MUL, out, n)
        return out if known == 1 else self.emit(opset.MUL, out, known)

    def size(self) -> Any:
        """The length of the stacks."""
        n = self.emit(DIM, self.some, 0)
        n.type = py_int(self.axis)
        return n

    def spread(self, x: Any, dtype: Any = None) -> Any:
        """A stack of one value over and over. What is not a number, such as None or an undefined value, stays.

        dtype: that of a stack of a Python number, if it is to take the dtype of others
        """
        if x is UNDEF or x is None or self.is_stack(x):
            return x
        t = type_of(x)
        if t.kind == "list":
            return self._spread_list(x)
        if t.kind == "undef" or (t.kind == "object" and t.elem is not None):
            return x
        if t.kind in ("object", "shape", "stack") or t.elem is not None:
            raise NotBatchedError(f"a stack of {'a value of type ' + str(t) if type(x) is Value else repr(x)}")
        if t.is_scalar:
            if _is_zero(x) and dtype in (None, np.float64):
                return self.stack(PRIMS[np.zeros], self.size())
            out = self.stack(PRIMS[np.full], self.size(), x, *([] if dtype is None else [dtype]))
            out.type = self.stack_type(t if dtype is None else Ty("generic", dtype, ()))
            return out
        zeros = self._wide_zeros(x)
        if zeros is not None:
            return zeros
        if t.dims is None:
            one = self.emit(PRIMS[np.expand_dims], x, 0)
            out = self.stack(PRIMS[np.repeat], one, self.size(), axis=0)
        else:
            out = self.stack(PRIMS[np.broadcast_to], x, (self.size(), *self.lengths(x)))
        out.type = self.stack_type(t)
        return out

    def _wide_zeros(self, x: Any) -> Any:
        """A stack of zeros, where `x` is an array of zeros that was made here. None for all else."""
        if type(x) is not Value or x.op is None:
            return None
        made, t = x.op, x.type
        if t.dims is None or t.dtype is None or t.dtype.kind not in "fc" or made.kwargs:
            return None
        if made.prim in (ZEROS, PRIMS[np.zeros_like]) and len(made.args) == 1 and type(made.args[0]) is Value:
            like = made.args[0]
            if self.is_stack(like) or like.type.ndim != len(t.dims):
                return None
            lengths = self.lengths(like)
        elif made.prim is PRIMS[np.zeros]:
            shape = made.args[0]
            lengths = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
            if len(lengths) != len(t.dims):
                return None
        else:
            return None
        out = self.stack(PRIMS[np.zeros], (self.size(), *lengths), *([] if t.dtype == np.float64 else [t.dtype]))
        out.type = self.stack_type(t)
        return out

    def _spread_list(self, x: Any) -> Any:
        made = x.op
        t = self.stack_type(x.type)
        if made is not None and made.prim is LIST_NEW:
            out = self.stack(LIST_NEW, tuple([self.spread(item) for item in made.args[0]]))
            out.type = t
            return out
        body = self.b.new_region()
        k, l = body.param(py_int(), "k"), body.param(t, "l")
        with self.b.inside(body):
            item = self.spread(self.emit(LIST_GET, x, k))
            if item.op is None or item.op.prim is not PRIMS[np.full]:
                item = self.stack(opset.COPY, item)
            grown = self.emit(LIST_APPEND, l, item)
            grown.type = t
        body.exit = (0, grown)
        start = self.emit(LIST_NEW, ())
        start.type = t
        out = self.b.loop((0, self.emit(opset.LEN, x), 1), (start,), body, [t], ["l"])[0]
        self.stacks.add(out)
        return out

    # --- operations -----------------------------------------------------------------------------------------------

    def add(self, op: Op) -> None:
        """Build an operation without regions."""
        if op.prim is opset.SHAPE_OF and type(op.args[0]) is Value:
            self.shapes[op.result] = op.args[0]
        self.b.loc, self.b.tag = op.loc, op.tag
        if not self.has_stack([self.new(v) for v in op.operands()]):
            self.again(op)
            return
        if op.prim.effects:
            raise NotBatchedError(f"{op.prim.name} of a stack", op)
        start = self._mark()
        try:
            made = self.apply(op)
            outs = (made,) if op.prim.nout == 1 else made
            for old, out in zip(op.results, outs):
                self.env[old] = made = self.fitted(out, old.type)
                if type(made) is Value and not made.hint:
                    made.hint = old.hint
        except NotBatchedError:
            self._undo(start)
            made = each_example(self, op)
            self.env.update(zip(op.results, made))
        for new in self.b.region.ops[start[0] :]:
            new.checks, new.droppable = new.checks or op.checks, op.droppable

    def is_steady(self, op: Op) -> bool:
        """The shapes of the results do not depend on the content of the stacks."""
        prim = op.prim
        if prim.elementwise or prim.fn in SAME_SHAPE:
            return True
        lengths = [d if r.type.dims is not None else None for r in op.results for d in r.type.dims or (None,)]
        if all(d is not None and self.known_length(d, op) is not None for d in lengths):
            return True
        names = [*prim.params[: len(op.args)], *op.kwargs]
        arguments = [*op.args[: len(prim.params)], *op.kwargs.values()]
        moving = {n for n, x in zip(names, arguments) if self.has_stack(self.new(x))}
        return any(moving <= set(group) for group in prim.linear)

    def again(self, op: Op) -> None:
        """Build an operation as it is."""
        new = Op(op.prim, self.new(op.args), self.new(op.kwargs), (), op.loc)
        new.checks, new.droppable, new.tag = op.checks, op.droppable, op.tag
        for old in op.results:
            self.env[old] = made = Value(old.type, old.hint, new)
            new.results.append(made)
        self.b.append(new)

    def apply(self, op: Op) -> Any:
        """The results of an operation on stacks, by its rule."""
        found = op.prim.batch
        if found is None and op.prim.elementwise:
            found = broadcast_stacks
        if found is None:
            raise no_rule(op)
        return found(self, op)

    def fitted(self, x: Any, t: Ty) -> Any:
        """What stands for a value of type `t`, with the facts of its type; of the dtype that the value has."""
        if not self.is_stack(x) or x.op is None:
            return x  # a parameter has its type, with a length of its own
        want = self.stack_type(t)
        have = x.type
        if want.kind == "list" and want.elem is None:
            want = have
        elif want.kind != "list" and want.elem is None:
            known = want.dtype is not None and want.dtype.kind in "fc" and have.dtype is not None
            if known and not same_dtype(want.dtype, have.dtype):
                x = self.stack(CAST, x, want.dtype)
            dtype = want.dtype if want.dtype is not None else have.dtype
            dims = want.dims if want.dims is not None else have.dims
            want = Ty(want.kind if dims is None else "array", dtype, dims, real=want.real and dtype is None)
        x.type = want
        return x

    def _mark(self) -> tuple[int, int]:
        return len(self.b.region.ops), len(self.b._scopes[-1][1])

    def _undo(self, mark: tuple[int, int]) -> None:
        """Take out what was built since the mark."""
        ops, known = mark
        del self.b.region.ops[ops:]
        built = self.b._scopes[-1][1]
        while len(built) > known:
            built.popitem()

    def bound(self, op: Op) -> dict[str, Any]:
        """The arguments by the names of the parameters."""
        names = op.prim.params
        if len(op.args) > len(names) or any(n.startswith("*") for n in names):
            raise no_rule(op)
        out = dict(zip(names, self.new(op.args)))
        out.update(self.new(op.kwargs))
        return out

    # --- numbers of Python and of NumPy ---------------------------------------------------------------------------

    def strong(self, olds: tuple[Any, ...], news: list[Any], result: Ty | None = None) -> list[Any]:
        """The operands, where a stack of Python's numbers has the dtype that such a number takes beside the others.

        Python's numbers are weak: they take the dtype of the arrays that they meet. A stack of them is an array.
        """
        weak = [is_weak(type_of(x)) for x in olds]
        if not any(w and self.is_stack(n) for w, n in zip(weak, news)):
            return news
        known = [
            type_of(n).dtype if type_of(x).dtype is None and self.is_stack(n) else type_of(x).dtype
            for x, w, n in zip(olds, weak, news)
            if not w
        ]
        if any(d is None for d in known):
            return news
        out = []
        for x, w, n in zip(olds, weak, news):
            if w and self.is_stack(n):
                dtype = type_of(x).dtype
                if known:
                    want = np.result_type(*known, _WEAK[dtype.kind]) if dtype.kind != "b" else dtype  # type: ignore[union-attr]
                elif result is not None and result.dtype is not None and dtype.kind in "bi":  # type: ignore[union-attr]
                    want = result.dtype if result.dtype.kind in "if" else dtype
                else:
                    want = dtype
                if want != n.type.dtype:
                    n = self.astype(n, want)
            out.append(n)
        return out

    def astype(self, x: Any, dtype: Any) -> Any:
        """A stack in a dtype."""
        if np.dtype(dtype).kind in "fc" and type_of(x).is_float:
            return self.stack(CAST, x, np.dtype(dtype))
        out = self.stack(PRIMS[np.array], x, np.dtype(dtype))
        out.type = Ty("array", np.dtype(dtype), x.type.dims)
        return out

    # --- one example ----------------------------------------------------------------------------------------------

    def example(self, x: Any, k: Any, t: Ty) -> Any:
        """Number `k` of a stack of values of type `t`; anything else as it is."""
        if not self.is_stack(x):
            return x
        if t.kind == "list" or t.elem is not None:
            raise NotBatchedError(f"a value of type {t}")
        part = self.emit(GET, x, (("index", (k, Ellipsis) if t.kind == "array" and t.dims == () else (k,)),))
        if t.kind == "py" or (t.kind == "scalar" and t.dtype is not None and t.dtype in PYTHON_DTYPES):
            if t.kind == "py":
                part = self.emit(PRIMS[{"b": bool, "i": int, "f": float, "c": complex}[t.dtype.kind]], part)  # type: ignore[union-attr]
                part.type = t
            return part
        part.type = Ty("generic", t.dtype, ()) if t.kind == "scalar" else t
        return part


# Functions whose result has the same shape for all arrays of the same shapes.
SAME_SHAPE = frozenset({
    np.convolve, np.correlate, np.resize, np.diag, np.interp, np.linalg.lstsq, np.choose,
    np.lib.stride_tricks.sliding_window_view, runtime.conv, runtime.conv_filters, runtime.conv_input, runtime.pool_sum,
    runtime.pool_spread, runtime.pool_places, runtime.pool_count, runtime.overlap, runtime.applied,
    runtime.implicit_adjoint, runtime.if_square, runtime.bessel_i, runtime.polygamma, runtime.sinc_slope,
    runtime.base_log,
})  # fmt: skip

_WEAK: dict[str, Any] = {"b": False, "i": 0, "f": 0.0, "c": 0j}


def is_weak(t: Ty) -> bool:
    """A number of Python's, or one that may be."""
    return t.kind in ("py", "scalar") and t.dtype is not None and t.dtype in PYTHON_DTYPES


def _is_zero(x: Any) -> bool:
    return type(x) is float and x == 0.0 and str(x) == "0.0"


# --- example by example -----------------------------------------------------------------------------------------------


def known_shape(self: Batcher, op: Op, t: Ty) -> tuple[Any, ...] | None:
    """The shape of one result of an operation, if its lengths are those of operands, and its dtype is known."""
    if t.dims is None or t.dtype is None:
        return None
    out: list[Any] = []
    for d in t.dims:
        found = self.known_length(d, op)
        if found is None:
            return None
        out.append(found)
    return tuple(out)


def each_example(self: Batcher, op: Op) -> list[Any]:
    """The results of an operation on stacks: it runs once for each example, and stores what it gives into new arrays.

    A result of unknown shape goes on a list first.
    """
    types = [self.stack_type(r.type) for r in op.results]
    if any(t.kind == "list" or t.elem is not None for t in types):
        raise no_rule(op)
    shapes = [known_shape(self, op, r.type) for r in op.results]
    if None in shapes and not self.is_steady(op):
        raise NotBatchedError(f"{op.prim.name}, whose result may have another shape for another example,", op)
    size = self.size()
    inits = []
    for shape, r in zip(shapes, op.results):
        if shape is None:
            start = self.emit(LIST_NEW, ())
            start.type = Ty("list", elem=r.type)
        else:
            start = self.emit(PRIMS[np.empty], (size, *shape), r.type.dtype)
            start.type = self.stack_type(r.type)
        inits.append(start)
    body = self.b.new_region()
    k = body.param(py_int(), "k")
    places = [body.param(start.type, r.hint) for start, r in zip(inits, op.results)]
    with self.b.inside(body):
        old = {v: self.example(self.env[v], k, v.type) for v in op.operands()}
        args, kwargs = map_leaves(old.__getitem__, op.args), map_leaves(old.__getitem__, op.kwargs)
        outs = self.emit(op.prim, *args, **kwargs)
        grown = []
        for shape, place, out in zip(shapes, places, (outs,) if op.prim.nout == 1 else outs):
            if shape is None:
                grown.append(self.emit(LIST_APPEND, place, out))
            else:
                grown.append(self.emit(SET, place, (("index", (k,)),), out))
            grown[-1].type = place.type
    body.exit = (0, *grown)
    made = self.b.loop((0, size, 1), tuple(inits), body, [x.type for x in inits], [r.hint for r in op.results])
    found = []
    for shape, out, r in zip(shapes, made, op.results):
        if shape is None:
            known = [self.known_length(d, op) for d in r.type.dims or ()]
            lengths = tuple([0 if n is None else n for n in known])
            out = self.emit(PRIMS[runtime.joined_examples], out, lengths, r.type.array_dtype)
        self.stacks.add(out)
        found.append(self.fitted(out, r.type) if shape is None else out)
    return found
