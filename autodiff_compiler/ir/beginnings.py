"""Numbers that begin as ints: ``s = 0`` in front of a loop that adds floats to it.

Python's ``s`` is the int 0 until the first iteration has added to it, so all that is known of its type is that it is a
number. But an int that meets a float is a float from there on: ``0 + x`` is ``0.0 + x``, bit by bit. Takes a function
that was just lowered. Gives the same function, in which such a number begins as a float, and the types that follow.

An int stays where somebody could tell: where it is returned, printed, or used as an index. If only a loop that has no
iterations would return it, it is returned by a branch.

>>> from autodiff_compiler.api.stages import show
>>> def f(x, n):
...     s = 0
...     for i in range(n):
...         s = 0.5 * s + x
...     return s
>>> show(f, 0.5, 3)
func f(%x: float, %n: int) {
  %s2: float, %trips: int, %code: int = loop %i: int in range(0, %n, 1) with (%s: float = 0.0) {
    %v1: float = * 0.5, %s
    %s3: float = + %v1, %x
    yield normal, %s3
  }
  %v2: bool = > %n, 0
  %s4: scalar ? = if %v2 {
    yield %s2
  } else {
    yield 0
  }
  return %s4
}
"""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy as np

from ..records import record
from .core import FUNC, IF, LOOP, Builder, Function, Op, Prim, Region, Value, map_leaves, type_of
from .definedness import ends
from .opset import ADDAT, EQ, NOT, PRIMS, SET, TRUTH
from .rewrite import collect_uses
from .types import PY_BOOL, Ty, join

DOUBLE = np.float64  # no dtype, which an unknown one, None, would be equal to
EXACT = 2**53
ROUNDS = 6  # of guesses of the types that a loop carries
_BINARY = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, np.add, np.subtract,
    np.multiply, np.true_divide, np.maximum, np.minimum, np.fmax, np.fmin, np.arctan2, np.hypot, np.copysign,
)  # fmt: skip
_UNARY = (
    np.sqrt, np.cbrt, np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p, np.sin, np.cos, np.tan, np.arcsin,
    np.arccos, np.arctan, np.sinh, np.cosh, np.tanh, np.arcsinh, np.arccosh, np.arctanh, float, np.float64,
)  # fmt: skip
_EXACT = (operator.add, operator.sub, operator.mul, operator.pow)
_COMPARING = (operator.lt, operator.le, operator.gt, operator.ge, operator.ne)


@functools.cache
def _prims(fns: tuple[Any, ...]) -> frozenset[Prim]:
    return frozenset([PRIMS[f] for f in fns if f in PRIMS])


def begin_with_floats(fn: Function) -> None:
    """Have the numbers of a function begin as floats where nobody can tell."""
    found = [start for op in fn.body.walk() for start in _starts(op)]
    if not found or any(op.prim is FUNC for op in fn.body.walk()):
        return
    types = {v: v.type for v in _values(fn.body)}
    while found:
        for start in found:
            start.put(float(start.number))
        _retype(fn.body)
        flow = _Flow(fn, found)
        wrong = flow.wrong()
        if not wrong:
            flow.return_ints()
            return
        for start in found:
            start.put(start.number)
        for v, t in types.items():
            v.type = t
        found = [start for k, start in enumerate(found) if k not in wrong]


@record
class Start:
    """A literal that a loop begins with, or a branch gives.

    place: the loop, or the region of the branch
    at:    which of the values it is
    value: what it flows into
    """

    place: Op | Region
    at: int
    number: int
    value: Value

    def put(self, number: float) -> None:
        """Write the number in its place."""
        if isinstance(self.place, Region):
            exit = self.place.exit
            self.place.exit = (*exit[: self.at], number, *exit[self.at + 1 :])
        else:
            inits = self.place.inits
            self.place.args = (self.place.range, (*inits[: self.at], number, *inits[self.at + 1 :]))


def _starts(op: Op) -> list[Start]:
    """The ints of an operation that may be floats somewhere else."""
    if op.prim is LOOP:
        pairs = zip(op.inits, op.regions[0].params[1:])
        return [Start(op, k, x, v) for k, (x, v) in enumerate(pairs) if _is_int(x) and _is_open(v.type)]
    if op.prim is IF:
        return [
            Start(r, k, x, v) for r in op.regions for k, (x, v) in enumerate(zip(r.exit, op.results))
            if _is_int(x) and _is_open(v.type)
        ]  # fmt: skip
    return []


def _is_int(x: Any) -> bool:
    return type(x) is int and abs(x) < EXACT


def _is_open(t: Ty) -> bool:
    """A number whose type is not known."""
    return t.kind == "scalar" and t.dtype is None


def _is_double(x: Any) -> bool:
    t = type_of(x)
    return t.dtype == DOUBLE and t.kind in ("py", "generic", "scalar", "array", "any")


def _values(body: Region) -> list[Value]:
    ops = list(body.walk())
    return [v for op in ops for v in (*op.results, *[p for r in op.regions for p in r.params])]


# --- types ------------------------------------------------------------------------------------------------------------


def _retype(region: Region) -> None:
    """Infer the types of numbers of which nothing is known."""
    for op in region.ops:
        if op.prim is LOOP:
            _retype_loop(op)
            continue
        for inner in op.regions:
            _retype(inner)
        for k, result in enumerate(op.results):
            if not _is_open(result.type):
                continue
            if op.prim is IF:
                yes, no = (type_of(r.exit[k]) for r in op.regions)
                result.type = join(yes, no, region.dims)
            elif len(op.results) == 1 and op.prim.infer is not None and not op.regions:
                t = op.prim.infer(Builder(region), op.args, op.kwargs)
                if t.is_scalar and t.dtype is not None:
                    result.type = t


def _retype_loop(op: Op) -> None:
    """The same for what a loop carries: its first values are a guess, which is widened."""
    body = op.regions[0]
    before = {v: v.type for v in (*body.params, *_values(body))}
    carried = [(k, p) for k, p in enumerate(body.params[1:]) if _is_open(p.type)]
    for k, p in carried:
        t = type_of(op.inits[k])
        if t.is_scalar:
            p.type = t
    for _ in range(ROUNDS):
        _retype(body)
        wider = {p: join(p.type, type_of(body.exit[k + 1]), body.dims) for k, p in carried}
        if all(p.type == t for p, t in wider.items()):
            break
        for v, t in before.items():
            v.type = t
        for p, t in wider.items():
            p.type = t
    else:
        for v, t in before.items():
            v.type = t
        _retype(body)
    for k, p in carried:
        if _is_open(op.results[k].type) and p.type.is_scalar:
            op.results[k].type = p.type


# --- where an int could be told from a float --------------------------------------------------------------------------


class _Flow:
    """Where the ints go that are to be floats.

    ints:    by value, the int that it may be in the place of a float
    sources: from which of the starts
    joined:  results of loops that are ints only if the loop has no iterations, and are returned
    """

    def __init__(self, fn: Function, starts: list[Start]):
        self.fn, self.starts = fn, starts
        self.uses = collect_uses(fn.body)
        self.ints: dict[Value, int] = {}
        self.sources: dict[Value, set[int]] = {}
        self.joined: dict[Value, int] = {}
        self.bad: set[int] = set()

    def wrong(self) -> set[int]:
        """The starts whose ints can be told from floats, or of which nothing follows."""
        todo: list[Value] = []
        for k, start in enumerate(self.starts):
            if not _is_double(start.value):
                self.bad.add(k)
            self._flows(start.number, {k}, start.value, todo)
            if isinstance(start.place, Op) and not _surely_runs(start.place):
                self._flows(start.number, {k}, start.place.results[start.at], todo)
        if self.bad:
            return self.bad
        while todo:
            v = todo.pop()
            for user in self.uses.get(v, ()):
                self._use(v, user, todo)
        for v in self.fn.body.exit:
            if type(v) is Value and v in self.ints:
                if self._is_int_without_trips(v):
                    self.joined[v] = self.ints[v]
                else:
                    self.bad |= self.sources[v]
        return self.bad

    def _flows(self, number: int, sources: set[int], v: Value, todo: list[Value]) -> None:
        """The number, or what is computed of it, is what `v` may be."""
        known = self.ints.setdefault(v, number)
        own = self.sources.setdefault(v, set())
        if known != number:
            self.bad |= sources | own
        if not sources <= own:
            own |= sources
            todo.append(v)

    def _use(self, v: Value, user: Op | Region, todo: list[Value]) -> None:
        number, sources = self.ints[v], self.sources[v]
        if isinstance(user, Region):
            owner = user.op
            if owner is None:
                return  # it is returned
            if not any(x is v for x in user.exit):
                self.bad |= sources
            for k, x in enumerate(user.exit):
                if x is not v:
                    continue
                if owner.prim is IF:
                    self._flows(number, sources, owner.results[k], todo)
                elif owner.prim is LOOP and k:
                    self._flows(number, sources, user.params[k], todo)
                    self._flows(number, sources, owner.results[k - 1], todo)
                else:
                    self.bad |= sources
        elif sum(x is v for x in user.operands()) != sum(x is v for x in _direct(user)):
            self.bad |= sources
        elif user.prim is LOOP:
            for k, x in enumerate(user.inits):
                if x is v:
                    self._flows(number, sources, user.regions[0].params[k + 1], todo)
                    self._flows(number, sources, user.results[k], todo)
        elif not self._absorbs(user, v):
            result = self._computed(user)
            if result is None:
                self.bad |= sources
            else:
                self._flows(result, sources, user.result, todo)

    def _absorbs(self, op: Op, v: Value) -> bool:
        """The operation gives the same for the float as for the int."""
        if op.kwargs or len(op.results) != 1:
            return False
        if op.prim in (TRUTH, NOT):
            return True
        others = [x for x in op.args if x is not v]
        if op.prim in _prims(_COMPARING) or op.prim is EQ:
            return all(type_of(x).is_real and type_of(x).kind != "any" for x in others)
        if op.prim in (SET, ADDAT):
            return op.args[2] is v and len(others) == len(op.args) - 1 and _is_double(op.args[0])
        if not _is_double(op.result):
            return False
        if op.prim in _prims(_UNARY) or (op.prim.name.startswith("math.") and op.prim.name != "math.ldexp"):
            return all(type_of(x).is_scalar for x in op.args)
        floats = [x for x in others if _is_double(x) and (type(x) is not Value or x not in self.ints)]
        if op.prim in _prims((operator.truediv,)):
            return all(type_of(x).is_scalar or _is_double(x) for x in others)
        if op.prim in _prims((operator.pow, np.power)):
            return op.args[0] is v and len(floats) == 1
        return op.prim in _prims(_BINARY) and len(floats) == 1

    def _computed(self, op: Op) -> int | None:
        """The int that an operation gives for ints, if it gives the float that it is for floats."""
        if op.kwargs:
            return None
        numbers = [self.ints.get(x) if type(x) is Value else x for x in op.args]
        if op.prim in _prims((max, min)):  # one of them, which may be the int
            known = {self.ints[x] for x in op.args if type(x) is Value and x in self.ints}
            if len(known) == 1 and all(x in self.ints or _is_double(x) for x in op.args):
                return known.pop()
            return None
        if op.prim not in _prims(_EXACT) or not all(type(x) is int for x in numbers):
            return None
        ints = [x for x in numbers if x is not None]
        if op.prim.fn is operator.pow and (type(op.args[1]) is not int or not 0 <= ints[1] <= 8):
            return None
        fn: Any = op.prim.fn
        exact, rounded = fn(*ints), fn(*map(float, ints))
        if not _is_int(exact) or math.copysign(1.0, rounded) != math.copysign(1.0, exact):
            return None
        return int(exact) if exact == rounded else None

    def _is_int_without_trips(self, v: Value) -> bool:
        """The result of a loop is an int only if no iteration was completed; the one that left it changed nothing."""
        loop = v.op
        if loop is None or loop.prim is not LOOP or loop.parent is not self.fn.body:
            return False
        body, k = loop.regions[0], loop.results.index(v)
        if not any(start.place is loop and start.at == k for start in self.starts):
            return False
        for code, x in ends(body, body.exit[k + 1]):
            if type(code) is not int or (x is not body.params[k + 1] if code else type(x) is Value and x in self.ints):
                return False
        return True

    def return_ints(self) -> None:
        """Branches for the ints that are returned."""
        body = self.fn.body
        b, made = Builder(body), {}
        for v, number in self.joined.items():
            loop = v.op
            assert loop is not None
            b.loc = loop.loc
            ran = loop.trips
            if loop.range is not None and _counts_from_zero(loop):
                ran = b.emit(PRIMS[operator.gt], loop.range[1], 0)
            if type_of(ran) != PY_BOOL:
                ran = b.emit(TRUTH, ran)
            sides = Region(body.dims.child()), Region(body.dims.child())
            for side, x in zip(sides, (v, number)):
                side.exit = (x,)
            branch = Op(IF, (ran,), regions=sides, loc=loop.loc)
            branch.results = [Value(join(v.type, type_of(number), body.dims), v.hint, branch)]
            branch.droppable = True
            b.append(branch)
            made[v] = branch.result
        body.exit = map_leaves(lambda v: made.get(v, v), body.exit)


def _direct(op: Op) -> tuple[Any, ...]:
    """The operands that stand for themselves, and in a loop those that it begins with."""
    return op.inits if op.prim is LOOP else op.args


def _surely_runs(loop: Op) -> bool:
    """The loop begins an iteration."""
    if loop.range is None:
        return True
    start, stop, step = loop.range[:3]
    if all(type(x) is int for x in (start, stop, step)):
        return bool(range(start, stop, step))
    length = type_of(stop).length
    return (
        length is not None and _counts_from_zero(loop) and loop.parent is not None and loop.parent.dims.not_zero(length)
    )


def _counts_from_zero(loop: Op) -> bool:
    if loop.range is None:
        return False
    start, _, step = loop.range[:3]
    return type(start) is type(step) is int and start == 0 and step == 1


__all__ = ["begin_with_floats"]
