"""From the SSA form to loops over numbers.

Takes a function in which every store may be done in place, as the code generator does. Gives its `nest.Program`, or
raises `NotNative` with the first operation that has no native form. What the program cannot compute as Python does, it
leaves to the emitted NumPy code by a `nest.Bail`: indices out of range, divisions by zero, long integers, shapes that
are not those of the first call.

Values are numbers (`numbers.Number`) or parts of buffers (`views.View`). Operations on elements wait in a
`fusion.Group` until something reads their results.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..analysis.sharing import Sharing
from ..ir import opset
from ..ir.core import IF, LOOP, Function, Op, Prim, Region, Value, leaves, type_of
from ..ir.rewrite import collect_uses
from ..ir.types import same_dtype
from ..transforms.simplify import may_drop
from .emitting import Emitting
from .fusion import Element, Group, Make, Nest, Read, Reduction, Write, first_of, held_in, nested
from .nest import (
    BOOL,
    INDEX,
    Alloc,
    Array,
    Call,
    Const,
    Expr,
    Increase,
    Length,
    Name,
    Piece,
    Program,
    Reshape,
    Return,
    Row,
    Store,
)
from .numbers import LOADED, MIXED, RULES, NotNative, Number, constant, stored, to
from .rewriting import contains, replaced
from .views import ONE, ZERO, Along, Subscripts, View, plus, product, whole

HANDLERS: dict[Prim, Callable[[Lowering, Op], None]] = {}
LATER = frozenset({opset.ACCUM, opset.SUM_TO, opset.FINISH, opset.AS_SCALAR})


def handles(*prims: Any) -> Callable[[Any], Any]:
    """Enter the lowering of these operations: ``handler(lowering, op)``."""

    def enter(handler: Any) -> Any:
        for p in prims:
            prim = p if isinstance(p, Prim) else opset.lookup(p)
            assert prim is not None, p
            HANDLERS[prim] = handler
        return handler

    return enter


@dataclass(frozen=True, slots=True)
class Absent:
    """An array whose elements nothing reads: only its shape is known."""

    dtype: np.dtype[Any]
    shape: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """What the program returns at a place.

    kind: "py" for a number of Python's, "np" for one of NumPy's, "?" if the program says which, "array"
    axes: of an array
    """

    kind: str
    dtype: np.dtype[Any]
    axes: int = 0


@dataclass(frozen=True, slots=True)
class Lowered:
    """A program, which of the function's parameters it takes, and what its results are."""

    program: Program
    taken: tuple[int, ...]
    results: tuple[Result, ...]
    foreign: list[Any]


class Lowering(Emitting):
    """Lowers one function.

    call:   lowers what has no loops of its own
    room:   where a stack holds an array that is about to be computed, if one does
    split:  how many results are those of a forward sweep, if a function of its own follows (`native.handover`)
    lent:   copies of parameters that are not made, since nothing is written to these parameters' buffers
    promoted: what loops carry as complex numbers, which are real at first
    values: what each value is: a number, a view, the lengths of a shape, a stack, or `Absent`
    added:  products that have been added to where they belong
    needed: how many times the elements of a value are read
    """

    def __init__(
        self, fn: Function, sharing: Sharing, call: Callable[[Lowering, Op], None],
        room: Callable[[Lowering, Value, np.dtype[Any], tuple[Expr, ...]], View | None],
        split: int | None = None, lent: frozenset[Op] = frozenset(),
        promoted: frozenset[Value] = frozenset(),
    ):  # fmt: skip
        super().__init__()
        self.call = call
        self.room = room
        self.split = split
        self.lent = lent
        self.promoted = promoted
        self.fn = fn
        self.sharing = sharing
        self.values: dict[Value, Any] = {}
        self.group = Group()
        self.uses = collect_uses(fn.body)
        self.needed: dict[Value, int] = {}
        self.flags: list[Expr] = []  # for results of which the program says whether they are NumPy's
        self.bound: dict[str, Any] = {}  # what calls of NumPy bind in the module
        self.added: set[Value] = set()
        self.foreign: list[Any] = []  # the printers of calls of NumPy, which know what these import
        self.ran: dict[Op, str] = {}  # what says whether a loop has had a trip, if somebody asks
        self.subscripts = Subscripts(
            lambda x: self.whole_number(x).expr, self.named, self.within, self.reshaped, self.clipped
        )
        self._count_needs()
        self.for_raise = self._for_raise()
        self.told = self._told()

    @property
    def first_cotangent(self) -> int:
        """How many results stand in front of cotangents."""
        return len(self.fn.body.exit) - len(self.fn.meta.get("wrt", ())) if self.split is None else self.split

    def _told(self) -> set[Value]:
        """The numbers of which somebody may see whether they are Python's or NumPy's: results, and what they are of."""
        todo: list[Any] = list(self.fn.body.exit[: self.first_cotangent])
        told: set[Value] = set()
        while todo:
            v = todo.pop()
            if type(v) is not Value or v in told or v.type.kind in ("py", "generic"):
                continue
            if not (v.type.is_scalar or v.type.kind == "any"):
                continue
            told.add(v)
            if v.op is None:
                loop = None if v.region is None else v.region.op
                if loop is not None and loop.prim is LOOP and v in loop.regions[0].params[1:]:
                    k = loop.regions[0].params.index(v) - 1
                    todo += [loop.inits[k], loop.regions[0].exit[k + 1]]
            elif v.op.prim is LOOP:
                k = v.op.results.index(v)
                todo += [v.op.inits[k], v.op.regions[0].params[k + 1]] if k < len(v.op.inits) else []
            elif v.op.prim is IF:
                k = v.op.results.index(v)
                todo += [region.exit[k] for region in v.op.regions]
            else:
                todo += v.op.operands()
        return told

    def is_numpys(self, n: Number) -> Expr:
        """Whether a number is NumPy's."""
        if n.kind == "?":
            if n.numpy is None or n.numpy == MIXED:
                raise NotNative("a result that may be a number of Python's or of NumPy's, or an int or a float")
            return n.numpy
        return Const(n.kind == "np", BOOL)

    def with_kind(self, v: Value, n: Number, of: Sequence[Number]) -> Number:
        """The number with what says whether it is NumPy's, if somebody may see it: it is, if one of `of` is."""
        if n.kind != "?" or v not in self.told:
            return n
        if n.numpy is not None:
            return replace(n, numpy=self.is_numpys(n))
        kinds = [self.is_numpys(x) for x in of]
        found: Expr = Const(any(isinstance(e, Const) and e.value for e in kinds), BOOL)
        for e in dict.fromkeys(kinds):
            if found == Const(True, BOOL):
                break
            if not isinstance(e, Const):
                found = e if isinstance(found, Const) else Call("or", (found, e), BOOL)
        return replace(n, numpy=self.named(found, "is_numpys"))

    def _count_needs(self) -> None:
        def count(arg: Any) -> None:
            for v in leaves(arg):
                self.needed[v] = self.needed.get(v, 0) + 1

        for op in self.fn.body.walk():
            count([arg for k, arg in enumerate(op.args) if k not in op.prim.shape_only])
            count(op.kwargs)
            for region in op.regions:
                count(region.exit)
        count(self.fn.body.exit)

    # --- values -------------------------------------------------------------------------------------------------------

    def is_waiting(self, arg: Any) -> bool:
        return type(arg) is Value and (
            arg in self.group.values or arg in self.group.results or arg in self.group.behind
        )

    def settle(self, arg: Any) -> None:
        """What is computed in a loop that is not there yet is computed now."""
        if self.is_waiting(arg):
            self.flush()

    def settle_all(self, args: Sequence[Any]) -> None:
        for arg in args:
            self.settle(arg)

    def is_array(self, arg: Any) -> bool:
        if type(arg) is Value:
            return arg in self.group.values or isinstance(self.values.get(arg), (View, Absent))
        return isinstance(arg, np.ndarray)

    def number(self, arg: Any) -> Number:
        """A number."""
        if type(arg) is not Value:
            return constant(arg)
        self.settle(arg)
        found = self.values.get(arg)
        if not isinstance(found, Number):
            raise NotNative(f"a value of type {arg.type} where a number is wanted", arg.op)
        return found

    def whole_number(self, arg: Any) -> Number:
        """An int."""
        found = self.number(arg)
        if found.dtype.kind not in "iu":
            raise NotNative("an index that is no int")
        return replace(found, expr=to(found, INDEX), dtype=INDEX)

    def view(self, arg: Any) -> View:
        """An array in memory."""
        self.settle(arg)
        found = self.values.get(arg) if type(arg) is Value else None
        if not isinstance(found, View):
            raise NotNative(f"a value of type {type_of(arg)} where an array is wanted", getattr(arg, "op", None))
        return found

    def shape(self, arg: Any) -> tuple[Expr, ...]:
        """The lengths of the axes, none for a number."""
        if type(arg) is Value:
            if arg in self.group.values:
                return self.group.shape
            self.settle(arg)
            found = self.values.get(arg)
            if isinstance(found, (View, Absent)):
                return found.shape
        self.number(arg)
        return ()

    def dtype(self, arg: Any) -> np.dtype[Any]:
        if type(arg) is Value and arg in self.group.values:
            return self.group.values[arg].dtype
        self.settle(arg)
        found = self.values.get(arg) if type(arg) is Value else constant(arg)
        if not isinstance(found, (Number, View, Absent)):
            raise NotNative(f"a value of type {type_of(arg)} where a number or an array is wanted")
        return found.dtype

    def dense(self, arg: Any) -> str:
        """The name of a buffer that holds exactly this array."""
        view = self.view(arg)
        self.finish_stores(arg)
        return self.buffer_of(view if view.is_dense else self.copied(view, arg))

    def buffer_of(self, view: View) -> str:
        """The name of a buffer that holds exactly this array, whose elements lie one after the other."""
        if view.is_whole:
            return view.buffer
        name = self.fresh(view.buffer)
        (first, *_), (n, *_) = view.axes, view.shape
        if isinstance(first, Along):
            self.emit(Piece(name, view.buffer, first.offset, n))
        else:
            self.emit(Row(name, view.buffer, view.axes[: view.stands]))  # type: ignore[arg-type]
        return name

    def finish_stores(self, arg: Any) -> None:
        """Do the stores into the memory of an array that still wait."""
        if type(arg) is Value and any(self.may_share(arg, write.base) for write in self.group.writes):
            self.flush()

    def copied(self, view: View, arg: Any) -> View:
        """A copy of an array."""
        self.finish_stores(arg)
        name = self.fresh(arg.hint if type(arg) is Value else "t")
        shape = tuple([self.named(n, "n") for n in view.shape])
        return self.filled(whole(name, view.dtype, shape), view.element)

    def filled(self, out: View, make: Callable[[list[Expr]], Expr]) -> View:
        """A new buffer, whose elements are made one by one from their indices."""
        self.emit(Alloc(out.buffer, out.dtype, out.shape))
        index: list[Expr] = [Name(self.fresh("ijklmn"[min(k, 5)]), INDEX) for k in range(len(out.shape))]
        self.frame.block += nested(index, out.shape, [Store(out.buffer, tuple(index), make(index))])
        return out

    def give(self, op: Op, number: Number, checks: Sequence[Expr] = ()) -> None:
        """The result of an operation is this number. The program bails where one of `checks` is true."""
        e = number.expr
        for check in checks:
            if not contains(check, e):
                self.check_once(check)
        if not isinstance(e, (Name, Const)):
            e = self.set_where_known(self.fresh(op.result.hint), e)
        for check in checks:
            if contains(check, number.expr):
                self.check_once(replaced(check, number.expr, e))
        t = op.result.type
        if t.kind in ("py", "generic") and not same_dtype(t.dtype, number.dtype):
            raise NotNative(f"{op.prim.name} gives {number.dtype}, and {t} is expected", op)
        if number.kind == "?" and t.kind in ("py", "generic"):
            number = replace(number, kind="py" if t.kind == "py" else "np")
        self.values[op.result] = replace(number, expr=e)

    # --- shapes -------------------------------------------------------------------------------------------------------

    def broadcast(self, shapes: Sequence[tuple[Expr, ...]]) -> tuple[Expr, ...]:
        """The shape of what is computed element by element."""
        rank = max(map(len, shapes))
        out: list[Expr] = []
        for k in range(rank):
            lengths = [s[k - rank] for s in shapes if len(s) >= rank - k]
            long = [n for n in lengths if n != ONE]
            for n in long[1:]:
                self.want_equal(long[0], n)
            out.append(long[0] if long else ONE)
        return tuple(out)

    def may_share(self, a: Value, b: Value) -> bool:
        if a is b:
            return True
        first = {r for root in self.sharing.of(a) for r in self.sharing.relatives(root)}
        return any(r in first for root in self.sharing.of(b) for r in self.sharing.relatives(root))

    def lengths(self, shape: Any) -> tuple[Expr, ...]:
        """The shape that an operand gives. The program bails if a length is negative."""
        if type(shape) is Value and isinstance(self.values.get(shape), tuple):
            found: tuple[Expr, ...] = self.values[shape]
            return found
        out: list[Expr] = []
        for item in shape if isinstance(shape, (tuple, list)) else (shape,):
            e = self.named(self.whole_number(item).expr, "n")
            if not isinstance(e, Const):
                self.check_once(Call("lt", (e, ZERO), BOOL))
            elif e.value < 0:
                raise NotNative("an array with a negative length")
            out.append(e)
        return tuple(out)

    def reshaped(self, view: View, shape: Any) -> View:
        """All of a buffer with another shape."""
        if not view.is_dense:
            raise NotNative("a part of an array with another shape")
        source = self.buffer_of(view)
        items = shape if isinstance(shape, (tuple, list)) else (shape,)
        size = self.named(product(view.shape), "size")
        free = [k for k, item in enumerate(items) if type(item) is int and item == -1]
        if free:
            others = self.lengths([item for k, item in enumerate(items) if k not in free])
            rest = self.named(product(others), "size")
            self.check_once(Call("eq", (rest, ZERO), BOOL))
            n = self.named(Call("floordiv", (size, rest), INDEX), "n") if others else size
            lengths: tuple[Expr, ...] = (*others[: free[0]], n, *others[free[0] :])
        else:
            lengths = self.lengths(shape)
        self.want_equal(size, self.named(product(lengths), "size"))
        if not lengths:
            raise NotNative("an array without axes")
        name = self.fresh(view.buffer)
        self.emit(Reshape(name, source, lengths))
        return whole(name, view.dtype, lengths)

    # --- operations on elements ---------------------------------------------------------------------------------------

    def element(self, arg: Any, index: list[Expr]) -> Number:
        """The element of an operand that is not computed in the loop itself."""
        if type(arg) is Value:
            found = self.values.get(arg)
            if isinstance(found, View):
                return Number(found.element(index), found.dtype)
            if isinstance(found, Absent):
                raise NotNative("an array of which only the shape is kept", arg.op)
        return self.number(arg)

    def placeholder(self, arg: Any) -> Number:
        """Stands for an element where only its dtype counts."""
        if self.is_array(arg):
            return Number(Name("?", self.dtype(arg)), self.dtype(arg))
        return self.number(arg)

    def reads(self, args: Sequence[Any], loose: bool = False) -> list[Read]:
        out = []
        for arg in args:
            if type(arg) is Value and arg not in self.group.values:
                found = self.values.get(arg)
                if isinstance(found, View):
                    out.append(Read(arg, found, loose))
        return out

    def join(
        self, op: Op, shape: tuple[Expr, ...], args: Sequence[Any], write: Write | None = None, loose: bool = False,
        dims: Any = None,
    ) -> None:  # fmt: skip
        """Make the group one that an operation with this shape, which reads these operands, may be added to."""
        for arg in args:
            if type(arg) is Value and (arg in self.group.results or arg in self.group.behind):
                self.flush()
        if self.group.entries:
            fits = self.fits(op, shape, dims)
            if not fits or self.group.conflicts(self.reads(args, loose), write, self):
                self.flush()
        if not self.group.entries:
            self.group.shape = tuple([self.first_name(n) for n in shape])
            self.group.dims = dims
        self.group.reads += self.reads(args, loose)
        for arg in args:
            for v in leaves(arg):
                if v in self.group.values:
                    self.group.consumed[v] = self.group.consumed.get(v, 0) + 1

    def fits(self, op: Op, shape: tuple[Expr, ...], dims: Any) -> bool:
        """The operation has the indices of the group; if the types say so, the program checks it."""
        have = self.group.shape
        if len(have) != len(shape):
            return False
        if all(map(self.equal, have, shape)):
            return True
        known = self.group.dims
        scope = op.parent.dims if op.parent is not None else self.fn.body.dims
        if known is None or dims is None or len(known) != len(dims) or not all(map(scope.same, known, dims)):
            return False
        if any(isinstance(a, Const) and isinstance(b, Const) and a != b for a, b in zip(have, shape)):
            return False
        for a, b in zip(have, shape):
            self.want_equal(a, b)
        return True

    def elementwise(self, op: Op, args: Sequence[Any], rule: Any) -> None:
        """The result of `op` is computed element by element by a rule of `numbers`."""
        for arg in args:
            if not self.is_array(arg):
                self.number(arg)
        shape = self.broadcast([self.shape(arg) for arg in args])
        if not shape:
            checks: list[Expr] = []
            numbers = [self.number(arg) for arg in args]
            found = rule(checks.append, *numbers)
            self.give(op, self.with_kind(op.result, found, numbers), checks)
            return
        typed = rule(lambda e: None, *[self.placeholder(arg) for arg in args])
        self.add_element(op, shape, args, lambda nest: rule(nest.guard, *[nest.get(a) for a in args]), typed.dtype)

    def add_element(
        self, op: Op, shape: tuple[Expr, ...], args: Sequence[Any], make: Make, dtype: Any, loose: bool = False
    ) -> None:
        t = op.result.type
        if t.dtype is not None and t.dtype != dtype:
            raise NotNative(f"{op.prim.name} gives {dtype}, and {t} is expected", op)
        self.join(op, shape, args, loose=loose, dims=t.dims)
        entry = Element(op.result, make, dtype)
        self.group.entries.append(entry)
        self.group.values[op.result] = entry

    def reduce(
        self, op: Op, args: Sequence[Any], make: Make, dtype: Any, how: str, axes: Sequence[int] | None,
        keepdims: bool = False, final: Callable[[Number], Number] | None = None,
    ) -> None:  # fmt: skip
        """The result of `op` is a sum or an extreme of elements over axes, all by default."""
        shape = self.broadcast([self.shape(arg) for arg in args])
        first = first_of(how, dtype)
        rank = len(shape)
        over = set(range(rank)) if axes is None else {k % rank for k in axes}
        kept = tuple([k for k in range(rank) if k not in over])
        self.join(op, shape, args, dims=type_of(args[0]).dims)
        name = self.fresh(op.result.hint or "s")
        held = held_in(how, dtype)
        entry = Reduction(op.result, make, how, dtype, name, kept)
        if how != "sum":
            for k in sorted(over):
                self.bail(Call("eq", (self.group.shape[k], ZERO), BOOL))
        if kept:
            entry.into = self.fresh(op.result.hint or "s")
            lengths = [self.group.shape[k] for k in kept]
            trailing = kept == tuple(range(len(kept)))
            self.emit(Alloc(entry.into, dtype, tuple(lengths), None if trailing else first))
            view = whole(entry.into, dtype, lengths)
            if keepdims:
                view = self.subscripts.subscripted(view, [slice(None) if k in kept else None for k in range(rank)])
            self.values[op.result] = view
        else:
            number = Number(Name(name, held), held)
            number = replace(number, expr=to(number, dtype), dtype=dtype)
            self.values[op.result] = number if final is None else final(number)
        self.group.entries.append(entry)
        self.group.results.add(op.result)
        if keepdims and not kept:
            self.flush()
            number = self.values[op.result]
            view = whole(self.fresh(op.result.hint or "s"), dtype, (ONE,) * rank)
            self.emit(Alloc(view.buffer, dtype, view.shape))
            self.emit(Store(view.buffer, (ZERO,) * rank, to(number, dtype)))
            self.values[op.result] = view

    def store(self, op: Op, base: Value, part: View, source: Any, adds: bool) -> None:
        """Store into a part of an array, or add to it."""
        self.values[op.result] = self.values[base]
        if not part.shape:
            self.flush()
            e = stored(self.check_once, self.number(source), part.dtype)
            at = part.index([])
            self.emit((Increase if adds else Store)(part.buffer, at, e))
            return
        have = self.shape(source)
        if len(have) > len(part.shape):
            if any(n != ONE for n in have[: len(have) - len(part.shape)]):
                raise NotNative("a store of an array with more axes than there is room for", op)
            raise NotNative("a store of an array with leading axes of length 1", op)
        for n, room in zip(reversed(have), reversed(part.shape)):
            if n != ONE:
                self.want_equal(room, n)
        found = self.values.get(source) if type(source) is Value else None
        if isinstance(found, View) and self.may_share(base, source) and not found.same_place(part, len(part.shape)):
            self.flush()
            self.write(op, base, part, [], self.made_of(self.copied(found, source)), adds)  # as NumPy does
            return
        if not self.is_array(source):
            number = self.number(source)
            e = self.named(stored(self.check_once, number, part.dtype), "t")
            self.write(op, base, part, [], lambda nest: Number(e, part.dtype), adds)
            return
        if self.dtype(source).kind == "c" and part.dtype.kind != "c":
            raise NotNative("complex numbers that are stored as real ones", op)
        if part.dtype.kind in "iu" and self.dtype(source).kind == "f" and part.dtype != INDEX:
            raise NotNative(f"floats that are stored as {part.dtype}", op)
        self.write(op, base, part, [source], lambda nest: nest.get(source), adds)

    def write(
        self, op: Op, base: Value, part: View, reads: Sequence[Any], make: Make, adds: bool = False,
        shape: tuple[Expr, ...] | None = None, **where: Any,
    ) -> None:  # fmt: skip
        """Add a store of elements to the group. They fit, and are made of those of `reads`.

        shape: of the indices, if it is not that of the part; `where`: see `Write`
        """
        write = Write(base, part, make, adds, **where)
        self.join(op, part.shape if shape is None else shape, reads, write)
        self.group.entries.append(write)
        self.group.writes.append(write)

    def made_of(self, view: View) -> Make:
        """Reads the elements of an array that is no operand."""
        return lambda nest: Number(view.element(nest.index), view.dtype)

    def flush(self) -> None:
        """Emit the loops of the group."""
        if not self.group.entries:
            return
        group, self.group = self.group, Group()
        buffers: dict[Value, View] = {}
        for v, entry in group.values.items():
            if self.needed.get(v, 0) > group.consumed.get(v, 0):
                view = self.room(self, v, entry.dtype, group.shape)
                if view is None:
                    view = whole(self.fresh(v.hint), entry.dtype, group.shape)
                    self.emit(Alloc(view.buffer, entry.dtype, group.shape))
                buffers[v] = self.values[v] = view
            else:
                self.values[v] = Absent(entry.dtype, group.shape)
        self.frame.block += Nest(group, self.fresh, self.element).make(buffers)
        for op in group.behind.values():
            self.op(op)

    def new(self, op: Op, shape: tuple[Expr, ...], dtype: np.dtype[Any], fill: Any) -> None:
        """The result of `op` is a new buffer."""
        name = self.fresh(op.result.hint)
        lengths = tuple([self.named(n, "n") for n in shape])
        self.emit(Alloc(name, dtype, lengths, fill))
        self.values[op.result] = whole(name, dtype, lengths)

    # --- positions ----------------------------------------------------------------------------------------------------

    def within(self, item: Any, n: Expr) -> Expr:
        """A position along an axis of length `n`, counted from the front. The program bails if there is none."""
        if isinstance(item, (bool, np.bool_)) or not (type(item) is Value or isinstance(item, (int, np.integer))):
            raise NotNative(f"a subscript of type {type(item).__name__}")
        if self.is_array(item):
            raise NotNative("an array as a subscript")
        number = self.whole_number(item)
        e = number.expr
        if isinstance(e, Const):
            if isinstance(n, Const):
                if not -n.value <= e.value < n.value:
                    self.bail(Const(True, BOOL))
                    return ZERO
                return Const(e.value % n.value, INDEX)
            short = Call("le", (n, e), BOOL) if e.value >= 0 else Call("lt", (n, Const(-e.value, INDEX)), BOOL)
            self.check_once(short)
            return e if e.value >= 0 else plus(n, e)
        if number.form is not None and self.checked_before(number.form, n):
            return plus(Name(number.form[0], INDEX), Const(number.form[1], INDEX))
        e = self.named(e, "k")
        at = self.named(Call("choose", (Call("lt", (e, ZERO), BOOL), plus(e, n), e), INDEX), "k")
        outside = Call("or", (Call("lt", (at, ZERO), BOOL), Call("ge", (at, n), BOOL)), BOOL)
        self.check_once(outside)
        return at

    def clipped(self, bound: Any, n: Expr) -> Expr:
        """A bound of a slice of an axis of length `n`, as a position from 0 to `n`."""
        number = self.whole_number(bound)
        for frame in reversed(self.frames):
            if not frame.is_loop or number.form is None:
                break
            if frame.index == number.form[0]:
                offset = Const(number.form[1], INDEX)
                low, last = plus(frame.low, offset), plus(plus(frame.high, Const(-1, INDEX)), offset)
                least = self.least(low)
                # The loop may have checked that it is less than `n`.
                beyond = Call("and", (Call("lt", (frame.low, frame.high), BOOL), Call("ge", (last, n), BOOL)), BOOL)
                if least is not None and least >= 0 and (self.at_most(last, n) or beyond in frame.checks):
                    return number.expr
        return self.named(Call("bound", (number.expr, n), INDEX), "at")

    # --- control flow -------------------------------------------------------------------------------------------------

    def ops(self, region: Region) -> None:
        for op in region.ops:
            self.op(op)

    def op(self, op: Op) -> None:
        if op in self.for_raise:
            return
        if self.is_for_later(op):
            self.group.behind[op.result] = op
            return
        try:
            with_loops = self.with_loops(op)
            if with_loops is not None:
                try:
                    self.call(self, op)
                except NotNative as error:
                    raise (with_loops if with_loops.why else error) from None
        except NotNative as error:
            error.op = error.op or op
            raise

    def is_for_later(self, op: Op) -> bool:
        """Arithmetic of a sum that waits is done behind its loop, when somebody asks for it: more may join the loop."""
        if len(op.results) != 1 or op.kwargs or (op.prim not in RULES and op.prim not in LATER):
            return False
        waits = False
        for arg in op.args:
            if type(arg) is Value:
                if arg in self.group.behind or (arg in self.group.results and isinstance(self.values[arg], Number)):
                    waits = True
                elif not isinstance(self.values.get(arg), Number):
                    return False
        return waits

    def with_loops(self, op: Op) -> NotNative | None:
        """Lower the operation to loops. If there are none for it, the reason."""
        handler = HANDLERS.get(op.prim)
        if handler is None and (op.prim not in RULES or op.prim.nout > 1 or op.kwargs):
            return NotNative("")
        try:
            if handler is not None:
                handler(self, op)
            else:
                self.elementwise(op, op.args, RULES[op.prim])
        except NotNative as error:
            if op.regions or error.op not in (None, op) or self.is_begun(op):
                raise
            return error
        return None

    def is_begun(self, op: Op) -> bool:
        """A part of the operation has been lowered."""
        return any(r in self.values or r in self.group.values for r in op.results)

    def _for_raise(self) -> set[Op]:
        """The operations that make an exception, or its text. The program bails instead of raising.

        What runs before it is known whether there is an exception, and may raise itself, is computed.
        """
        found: set[Op] = set()
        for op in reversed(list(self.fn.body.walk())):  # users first
            users = [user for r in op.results for user in self.uses.get(r, ())]
            if users and all(
                isinstance(user, Op)
                and (user.prim is opset.RAISE or user in found)
                and (user.parent is op.parent or may_drop(op))
                for user in users
            ):
                found.add(op)
        return found

    # --- the function -------------------------------------------------------------------------------------------------

    params: list[Name | Array]

    def run(self, name: str) -> Lowered:
        """The whole program."""
        body = self.fn.body
        taken = self.take(body.params)
        self.ops(body)
        self.flush()
        first = self.first_cotangent
        results = self.give_back([(x, k >= first) for k, x in enumerate(body.exit)])
        program = Program(name, tuple(self.params), self.frame.block)
        return Lowered(program, taken, results, self.foreign)

    def take(self, params: Sequence[Value]) -> tuple[int, ...]:
        """Give names to parameters. The numbers of those that are read."""
        self.params, taken = [], []
        lengths: list[tuple[Any, Expr]] = []
        for k, p in enumerate(params):
            if not self.uses.get(p):
                continue
            taken.append(k)
            self.params.append(self.parameter(p, lengths))
        return tuple(taken)

    def give_back(self, exits: Sequence[tuple[Any, bool]]) -> tuple[Result, ...]:
        """Return values, each with whether it is a cotangent, and what says whether numbers are NumPy's."""
        self.flags, values, results = [], [], []
        for x, is_cotangent in exits:
            e, result = self.result(x, is_cotangent)
            values.append(e)
            results.append(result)
        self.emit(Return((*values, *self.flags)))
        return tuple(results)

    def parameter(self, p: Value, lengths: list[tuple[Any, Expr]]) -> Name | Array:
        t, name = p.type, self.fresh(p.hint or "x")
        if t.dtype is None or t.dims is None or t.dtype not in LOADED or not t.dtype.isnative:
            raise NotNative(f"an argument of type {t}")
        if t.kind == "array" and t.dims:
            shape: list[Expr] = []
            for k, d in enumerate(t.dims):
                known = next((e for other, e in lengths if self.fn.body.dims.same(other, d)), None)
                e = Const(d, INDEX) if isinstance(d, int) else known
                if e is None:
                    stem = f"{name}_len{k}" if len(t.dims) > 1 else f"{name}_len"
                    e = self.set_where_known(self.fresh(stem), Length(name, k))
                    lengths.append((d, e))
                    self.leasts[e] = 2  # shorter axes have code of their own
                shape.append(e)
            self.values[p] = whole(name, t.dtype, shape)
            return Array(name, t.dtype, len(shape))
        if t.kind not in ("py", "generic"):
            raise NotNative(f"an argument of type {t}")
        # `entry` has seen to it that an int of Python's has at most 40 bits.
        kind, bits = ("py", 40) if t.kind == "py" else ("np", 64)
        self.values[p] = Number(Name(name, t.dtype), t.dtype, kind, bits)
        return Name(name, t.dtype)

    def result(self, x: Any, is_cotangent: bool) -> tuple[Expr | str, Result]:
        """What the program returns for a result. The cotangent of a number of Python's may be Python's or NumPy's."""
        t = type_of(x)
        if self.is_array(x):
            return self.dense(x), Result("array", self.dtype(x), len(self.shape(x)))
        number = self.number(x)
        kind = number.kind
        if kind == "?":
            kind = {"py": "py", "generic": "np"}.get(t.kind, "py" if is_cotangent else "?")
        if t.kind in ("array", "any") and not _is_computed(x):
            raise NotNative("a result that may be an array without axes", getattr(x, "op", None))
        if kind == "?":
            self.flags.append(self.is_numpys(number))
        return number.expr, Result(kind, number.dtype)


def _is_computed(x: Any) -> bool:
    """A number is the result of arithmetic, which never gives an array without axes."""
    op = x.op if type(x) is Value else None
    if op is not None and op.prim is opset.AS_SCALAR:
        return _is_computed(op.args[0])
    return op is not None and op.prim in _ARITHMETIC


_ARITHMETIC = {
    prim for fn in (operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pow)
    if (prim := opset.lookup(fn)) is not None
}  # fmt: skip
