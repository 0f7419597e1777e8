"""The lowering of loops and branches.

Each name that a loop carries is a variable of the program, which the end of an iteration sets. So is what a branch
gives, which both of its blocks set.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.core import IF, LOOP, UNDEF, Op, Value, type_of
from ..ir.opset import ADD, MUL, SUB
from ..ir.types import Ty
from . import lists
from .lowering import Lowering, handles
from .nest import (
    BOOL,
    C16,
    F8,
    INDEX,
    Alloc,
    Bail,
    Bind,
    Branch,
    Call,
    Const,
    Expr,
    For,
    Forever,
    Leave,
    Length,
    Name,
    Set,
    Stmt,
)
from .numbers import LOADED, WHOLE, NotNative, Number, beyond, index_of, to, truth
from .promotion import Promoted, may_be_complex
from .rewriting import names_in
from .views import ONE, ZERO, View, at_least_zero, minus, parameter, plus, whole


def _assign(self: Lowering, pairs: list[tuple[str, Expr | str]]) -> None:
    """Names take the values of others, all at once."""
    pairs = [(a, b) for a, b in pairs if a != (b.name if isinstance(b, Name) else b)]
    targets = [a for a, _ in pairs]

    def reads(b: Expr | str) -> set[str]:
        return {b} if isinstance(b, str) else set(names_in(b))

    late = [k for k, (_, b) in enumerate(pairs) if reads(b) & set(targets[:k])]
    for k in late:
        name, b = pairs[k]
        new = self.fresh(f"next_{name}")
        if isinstance(b, str):
            self.emit(Bind(new, b))
            pairs[k] = (name, new)
        else:
            self.emit(Set(new, b))
            pairs[k] = (name, Name(new, b.dtype))
    for name, b in pairs:
        self.emit(Bind(name, b) if isinstance(b, str) else Set(name, b))


@handles(LOOP)
def _loop(self: Lowering, op: Op) -> None:
    self.flush()
    (body,) = op.regions
    index, *params = body.params
    names = [name for p, init in zip(params, op.inits) for name in _carry(self, op, p, init)]
    trips = self.fresh("trips") if self.uses.get(op.trips) else None
    code = self.fresh("code") if self.uses.get(op.exit_code) else None
    for counter in (trips, code):
        if counter is not None:
            self.emit(Set(counter, ZERO))
    facts, prelude, head = _range(self, op, index)
    own = facts.pop("own", set())
    if type(body.exit[0]) is Value or body.exit[0] != 0:
        # It may be left before its range ends, so each position is checked where it is used.
        facts.pop("index", None)
        facts.pop("trips", None)
    with self.block(is_loop=True, carried=frozenset(names) | own, **facts) as frame:
        self.frame.block += prelude
        self.ops(body)
        self.flush()
        pairs = [pair for p, x in zip(params, body.exit[1:]) for pair in _next_values(self, p, x)]
        pairs += [(self.ran[op], Const(True, BOOL))] if op in self.ran else []
        leaves = body.exit[0]
        if type(leaves) is Value or leaves != 0:
            n = self.number(leaves)
            # The code may be one of the names that are about to change.
            kept = self.fresh("ends")
            self.emit(Set(kept, to(n, INDEX)))
            _assign(self, pairs)
            if code is not None:
                self.emit(Set(code, Name(kept, INDEX)))
            self.emit(Leave(Call("ne", (Name(kept, INDEX), ZERO), BOOL)))
        else:
            _assign(self, pairs)
        if trips is not None:
            self.emit(Set(trips, Call("add", (Name(trips, INDEX), ONE), INDEX)))
    for check in frame.checks:
        key = frozenset((check,))
        if not any(key in frame.equal for frame in self.frames):
            self.bail_early(check).equal.add(key)
    self.emit(Forever(frame.block) if head is None else For(head[0], head[1], head[2], head[3], frame.block))
    if op in self.ran:
        self.bail(Call("not", (Name(self.ran[op], BOOL),), BOOL))
    for r, p in zip(op.carried, params):
        self.values[r] = _behind(self.values[p], r)
    for counter, r in ((trips, op.trips), (code, op.exit_code)):
        if counter is not None:
            self.values[r] = index_of(Name(counter, INDEX))


def _behind(found: Any, r: Value) -> Any:
    """What a loop has carried, behind it: what has one element in each iteration may have more if there was none."""
    if not isinstance(found, View) or ONE not in found.shape or not found.is_whole:
        return found
    dims = r.type.dims or (None,) * len(found.shape)
    shape = [Length(found.buffer, k) if n == ONE and d != 1 else n for k, (n, d) in enumerate(zip(found.shape, dims))]
    return whole(found.buffer, found.dtype, shape)


def _carry(self: Lowering, op: Op, p: Value, init: Any) -> list[str]:
    """The names of a carried value, which takes its first value."""
    t = p.type
    if init is UNDEF:
        return [_undefined(self, p, t)]
    if lists.is_list(self, init):
        return lists.carried(self, p, init)
    if self.is_array(init):
        view = self.view(init)
        name = self.fresh(p.hint)
        self.emit(Bind(name, self.dense(init)))
        start, scope = type_of(init), self.fn.body.dims if op.parent is None else op.parent.dims
        if t.dims is None or len(t.dims) != len(view.shape):
            raise NotNative(f"an array that a loop carries as {t}", op)
        same = start.dims is not None and all(map(scope.same, t.dims, start.dims)) and not _may_be_unbound(init)
        shape = [n if same else ONE if d == 1 else Length(name, k) for k, (n, d) in enumerate(zip(view.shape, t.dims))]
        self.values[p] = whole(name, view.dtype, shape)
        return [name]
    first = self.number(init)
    dtype = t.dtype if t.dtype is not None else np.dtype(F8) if first.dtype == INDEX and t.real else first.dtype
    if p in self.promoted:
        dtype = np.result_type(dtype, np.complex64)
    if dtype.kind not in "fc" and dtype != first.dtype:
        raise NotNative("a number whose type changes in a loop", op)
    name = self.fresh(p.hint)
    self.emit(Set(name, to(first, dtype)))
    kind = {"py": "py", "generic": "np"}.get(t.kind, "?")
    numpy = None
    if kind == "?" and p in self.told:
        if first.dtype != dtype:
            if not _becomes_float(p, self.uses):
                raise NotNative("an int that becomes a float in a loop, and may be a result", op)
            self.emit(Set(self.ran.setdefault(op, self.fresh("ran")), Const(False, BOOL)))
        numpy = Name(self.fresh(f"{name}_is_numpys"), BOOL)
        self.emit(Set(numpy.name, self.is_numpys(first)))
    self.values[p] = Number(Name(name, dtype), dtype, kind, WHOLE if kind == "py" else 64, None, numpy)
    return [name]


def _becomes_float(p: Value, uses: Any) -> bool:
    """An int that a loop carries is a float after one iteration, and nobody sees the int: it is added to floats."""

    def is_float(x: Any) -> bool:
        t = type_of(x)
        return x is not p and t.dtype is not None and t.dtype.kind == "f"

    region = p.region
    assert region is not None
    return p is not region.exit[region.params.index(p)] and all(
        isinstance(user, Op) and user.prim in (ADD, SUB, MUL) and any(map(is_float, user.args))
        for user in uses.get(p, ())
    )


def _may_be_unbound(v: Any) -> bool:
    """The value may be that of a variable which has none yet, on some path. Then its shape is not that of its type."""
    todo, seen = [v], set()
    while todo:
        v = todo.pop()
        if v is UNDEF:
            return True
        if type(v) is not Value or v in seen:
            continue
        seen.add(v)
        loop = v.op if v.op is not None else None if v.region is None else v.region.op
        if loop is None:
            continue
        if loop.prim is LOOP:
            (body,) = loop.regions
            own = loop.results if v.op is not None else body.params[1:]
            k = own.index(v) if v in own else len(loop.inits)
            todo += [loop.inits[k], body.exit[1 + k]] if k < len(loop.inits) else []
        elif v.op is not None and loop.prim is IF:
            todo += [region.exit[loop.results.index(v)] for region in loop.regions]
    return False


def _undefined(self: Lowering, v: Value, t: Ty) -> str:
    """A name for what has no value on this path, and which nothing reads."""
    name = self.fresh(v.hint)
    if t.dtype is None or t.dims is None or t.dtype not in LOADED:
        raise NotNative(f"a variable of type {t} that is not bound on every path", v.op)
    if t.kind == "array" and t.dims:
        self.emit(Alloc(name, t.dtype, (ZERO,) * len(t.dims)))
        self.values[v] = whole(name, t.dtype, [ONE if d == 1 else Length(name, k) for k, d in enumerate(t.dims)])
        return name
    self.emit(Set(name, Const(t.dtype.type(0).item(), t.dtype)))
    kind = {"py": "py", "generic": "np"}.get(t.kind, "?")
    numpy = None
    if kind == "?" and v in self.told:
        numpy = Name(self.fresh(f"{name}_is_numpys"), BOOL)
        self.emit(Set(numpy.name, Const(False, BOOL)))
    self.values[v] = Number(Name(name, t.dtype), t.dtype, kind, WHOLE, None, numpy)
    return name


def _next_values(self: Lowering, p: Value, x: Any) -> list[tuple[str, Expr | str]]:
    """The names of a carried value, and what they are in the next iteration."""
    found = self.values[p]
    if x is UNDEF:
        return []
    if isinstance(found, (lists.Items, lists.Arrays)):
        return lists.next_values(self, p, x)
    held = found.expr if isinstance(found, Number) else found.buffer
    name = held.name if isinstance(held, Name) else str(held)
    if isinstance(found, Number):
        end = self.number(x)
        if end.dtype.kind == "c" and found.dtype == F8 and p not in self.told and may_be_complex(p, self.uses):
            raise Promoted(p)
        if end.dtype != found.dtype and (found.dtype.kind not in "fc" or end.dtype.kind == "c"):
            raise NotNative("a number whose type changes in a loop")
        pairs: list[tuple[str, Expr | str]] = [(name, to(end, found.dtype))]
        if isinstance(found.numpy, Name):
            if end.dtype != found.dtype:
                raise NotNative("an int that stays one in a loop, and may be a result")
            pairs.append((found.numpy.name, self.is_numpys(end)))
        return pairs
    view = self.view(x)
    if len(view.shape) != len(found.shape) or view.dtype != found.dtype:
        raise NotNative("an array whose type changes in a loop")
    for a, b in zip(found.shape, view.shape):
        if isinstance(a, Length) and a.array == name:
            continue
        self.want_equal(a, b)
    return [(name, self.dense(x))]


def _range(self: Lowering, op: Op, index: Value) -> tuple[dict[str, Any], list[Stmt], Any]:
    """Of a loop: bounds of its index, what each iteration does first, and the head."""
    if op.range is None:
        return {}, [], None
    start, stop, step, *rest = op.range
    if type(step) is not int:
        return _range_by(self, op, index)
    if step == 0:
        raise NotNative("a range with the step 0", op)
    low, high = (self.named(self.whole_number(x).expr, "at") for x in (start, stop))
    backwards = bool(rest and rest[0])
    bits = _bits(self, start, stop)
    name = self.fresh(index.hint or "i")
    if abs(step) == 1:
        if step == -1:
            low, high = plus(high, ONE), plus(low, ONE)
        if backwards == (step == -1):
            head: Any = (name, low, high, 1)
        else:
            head = (name, plus(high, Const(-1, INDEX)), plus(low, Const(-1, INDEX)), -1)
        trips = self.shorter(at_least_zero(minus(high, low)))
        facts = {"index": name, "low": low, "high": high, "trips": trips, "own": {name}}
        self.know_least(Name(name, INDEX), low)
        self.values[index] = index_of(Name(name, INDEX), min(bits, WHOLE), (name, 0))
        return facts, [], head
    gap = minus(high, low) if step > 0 else minus(low, high)
    count: Expr = Call("floordiv", (plus(gap, Const(abs(step) - 1, INDEX)), Const(abs(step), INDEX)), INDEX)
    count = self.named(Call("maximum", (ZERO, count), INDEX), "n")
    k = self.fresh("k")
    trip: Expr = Name(k, INDEX)
    if backwards:
        trip = Call("sub", (plus(count, Const(-1, INDEX)), trip), INDEX)
    first = plus(Call("mul", (trip, Const(step, INDEX)), INDEX), low)
    self.values[index] = index_of(Name(name, INDEX), min(bits, WHOLE))
    facts = {"index": k, "low": ZERO, "high": count, "trips": count, "own": {name, k}}
    return facts, [Set(name, first)], (k, ZERO, count, 1)


def _bits(self: Lowering, *bounds: Any) -> int:
    """How many bits the index of a range has. The program bails where the bounds have too many."""
    numbers = [self.whole_number(x) for x in bounds]
    for n in numbers:
        if n.bits > WHOLE:
            self.check_once(beyond(n.expr, WHOLE))
    return max(n.bits for n in numbers) + 1


def _range_by(self: Lowering, op: Op, index: Value) -> tuple[dict[str, Any], list[Stmt], Any]:
    """A range whose step only the run tells. Only one that is positive is native."""
    assert op.range is not None
    start, stop, step, *rest = op.range
    low, high, by = (self.named(self.whole_number(x).expr, "at") for x in (start, stop, step))
    self.check_once(Call("le", (by, ZERO), BOOL))
    gap = Call("add", (minus(high, low), Call("sub", (by, ONE), INDEX)), INDEX)
    count = self.named(Call("maximum", (ZERO, Call("floordiv", (gap, by), INDEX)), INDEX), "n")
    name, k = self.fresh(index.hint or "i"), self.fresh("k")
    trip: Expr = Name(k, INDEX)
    if rest and rest[0]:
        trip = Call("sub", (plus(count, Const(-1, INDEX)), trip), INDEX)
    first = Call("add", (Call("mul", (trip, by), INDEX), low), INDEX)
    bits = _bits(self, start, stop)
    self.values[index] = index_of(Name(name, INDEX), min(bits, WHOLE))
    facts = {"index": k, "low": ZERO, "high": count, "trips": count, "own": {name, k}}
    return facts, [Set(name, first)], (k, ZERO, count, 1)


@handles(IF)
def _branch(self: Lowering, op: Op) -> None:
    self.flush()
    condition = truth(self.number(op.condition))
    before = set(self.taken_names)
    blocks, ends = [], []
    for region in op.regions:
        with self.block() as frame:
            self.ops(region)
            self.flush()
            found: list[Any] = []
            for r, x in zip(op.results, region.exit):
                if not self.uses.get(r):
                    found.append(None)
                elif x is UNDEF:
                    found.append(UNDEF)
                elif self.is_array(x):
                    found.append((self.dense(x), self.view(x)))
                elif lists.is_list(self, x):
                    found.append(self.values[x])
                elif type(x) is Value and not isinstance(self.values.get(x), (Number, View)):
                    raise NotNative(f"a value of type {x.type} that a branch gives", op)
                else:
                    found.append(self.number(x))
        blocks.append(frame.block)
        ends.append(found)
    self.emit(Branch(condition, *blocks))
    for r, *both in zip(op.results, *ends):
        self.values[r] = _joined(self, op, r, both, blocks, before)


def _joined(self: Lowering, op: Op, r: Value, both: list[Any], blocks: list[list[Stmt]], before: set[str]) -> Any:
    """The result of a branch, which both of its blocks bind. `before`: the names in front of it."""
    there = [x for x in both if x is not None and x is not UNDEF]
    if not there:
        return None
    if any(isinstance(x, (lists.Items, lists.Arrays)) for x in there):
        return lists.joined(self, r, both, blocks)
    name = self.fresh(r.hint)
    if len({isinstance(x, tuple) for x in there}) > 1:
        raise NotNative("a branch that gives a number on one path and an array on the other", op)
    if isinstance(there[0], tuple):
        views = [x[1] for x in there]
        rank, dtype = len(views[0].shape), views[0].dtype
        if any(len(v.shape) != rank or v.dtype != dtype for v in views):
            raise NotNative("arrays of two types that a branch gives", op)
        home = _home(op, r)
        usual = None if home is None else self.values.get(home)
        lengths = usual.shape if isinstance(usual, View) and len(usual.shape) == rank else (ZERO,) * rank
        ones = [all(v.shape[k] == ONE for v in views) for k in range(rank)]
        unbound = tuple([ONE if one else n for one, n in zip(ones, lengths)])
        for block, x in zip(blocks, both):
            block.append(Alloc(name, dtype, unbound) if x is UNDEF else Bind(name, x[0]))
        shapes = [unbound if x is UNDEF else x[1].shape for x in both if x is not None]
        known = {n for s in shapes for e in s for n in names_in(e)} <= before
        if len(set(shapes)) == 1 and known:
            return whole(name, dtype, views[0].shape)
        return parameter(name, dtype, rank, ones)
    dtypes = {x.dtype for x in there}
    dtype = there[0].dtype if len(dtypes) == 1 else np.dtype(F8) if dtypes == {F8, INDEX} else None
    if dtypes == {F8, C16} and r not in self.told and may_be_complex(r, self.uses):
        dtype = C16
    if dtype is None:
        raise NotNative("numbers of two types that a branch gives", op)
    for block, x in zip(blocks, both):
        block.append(Set(name, Const(dtype.type(0).item(), dtype) if x is UNDEF else to(x, dtype)))
    kinds = {x.kind for x in there}
    kind = kinds.pop() if len(kinds) == 1 and len(dtypes) == 1 else "?"
    numpy = None
    if len(dtypes) > 1 and r in self.told:
        # The int of a loop without iterations is what the NumPy code returns.
        for block, x in zip(blocks, both):
            if x is not UNDEF and x.dtype == INDEX:
                block.append(Bail(Const(True, BOOL)))
        kinds = {x.kind for x in there if x.dtype != INDEX}
        kind = kinds.pop() if len(kinds) == 1 else "?"
    if kind == "?" and r in self.told:
        numpy = Name(self.fresh(f"{name}_is_numpys"), BOOL)
        for block, x in zip(blocks, both):
            block.append(Set(numpy.name, Const(False, BOOL) if x is UNDEF else self.is_numpys(x)))
    return Number(Name(name, dtype), dtype, kind, max(x.bits for x in there), None, numpy)


def _home(op: Op, r: Value) -> Value | None:
    """The parameter of a loop that takes the result of a branch in the next iteration, if one does.

    Where the branch gives nothing, an array of the shape of that parameter will do.
    """
    region = op.parent
    while region is not None and region.op is not None and r in region.exit:
        k, op = region.exit.index(r), region.op
        if op.prim is LOOP:
            return region.params[k] if k else None
        if op.prim is not IF:
            return None
        r, region = op.results[k], op.parent
    return None
