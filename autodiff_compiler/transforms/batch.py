"""Batching: a function for a stack of values at once, instead of once for each of them.

Takes a function and the numbers of the parameters that become stacks. Gives a function in which these parameters, and
all results, have one more axis in front. A value that depends on a stack is a stack too. Each primitive has a rule that
says how it is applied to stacks. An operation without a rule runs once for each example.

>>> import numpy as np
>>> from autodiff_compiler.frontend.lower import lower
>>> from autodiff_compiler.ir.printer import print_function
>>> def f(x, w):
...     return np.sum(w * x)
>>> fn = lower(f, (np.ones(3), np.ones(3))).function
>>> print(print_function(batch(fn, {0})), end="")
func f(%x: float64[d3, d1], %w: float64[d2]) {
  %v1: float64[d3, d1] = * %w, %x   # line 2
  %v2: float64[d3] = np.sum %v1, axis=1   # line 2
  return %v2
}

What a branch yields is a stack if it is one on either way. What a loop carries is a stack if it becomes one. No branch
and no loop may depend on a stack.

>>> def power(x, n):
...     y = 1.0
...     for _ in range(n):
...         y = y * x
...     return y
>>> print(print_function(batch(lower(power, (2.0, 3)).function, {0})), end="")
func power(%x: float64[d1], %n: int) {
  %v1: int = dim %x, 0   # line 3
  %v2: float64[d1] = np.full %v1, 1.0   # line 3
  %y2: float64[d1], %trips: int, %code: int = loop %_: int in range(0, %n, 1) with (%y: float64[d1] = %v2) {   # line 3
    %y3: float64[d1] = * %y, %x   # line 4
    yield normal, %y3
  }
  return %y2
}

Reference: Bradbury et al., JAX (2018), whose vmap has rules of this kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..analysis.stacks import stacked_values
from ..ir.core import CALL, COMPACT, FUNC, IF, LOOP, TRY, UNDEF, Function, Op, Region, Value, leaves, new_func, type_of
from ..ir.opset import POP, PRIMS, PUSH, STACK_NEW, TUPLE
from ..ir.rewrite import called
from ..ir.types import SHAPE, DimLike, Dims, same_dtype
from ..operations import stacked as _rules  # noqa: F401
from ..operations.batch_rules import NotBatchedError
from ..operations.batching import Batcher, is_weak
from ..records import record
from .cotangents import named_arguments
from .safe import is_safe


def batch(fn: Function, stacked: Iterable[int] | dict[int, Axis], *, spread: bool | Sequence[bool] = True) -> Function:
    """`fn` for a stack of values of the parameters with these numbers.

    stacked: the numbers of the parameters, or for each its `Axis`. The axis is the first one otherwise.
    spread:  all results that are numbers are stacks. Otherwise, those that depend on a stack are. Also for each result.

    ``meta["stacks"]`` of the function says which results are stacks. Raises NotBatchedError where control flow depends
    on a stack, and where values are not numbers.
    """
    return _Walk(fn, stacked, spread).function


@record
class Axis:
    """Which axis of a parameter is that of the stack, and the length of the axis; None: not known."""

    number: int = 0
    length: DimLike | None = None


class Batching(Batcher):
    """Builds a function of stacks, beginning with its parameters."""

    def __init__(self, fn: Function, stacked: Iterable[int] | dict[int, Axis], dims: Dims):
        body = Region(dims)
        super().__init__(body)
        axes = stacked if isinstance(stacked, dict) else dict.fromkeys(stacked, Axis())
        given = [a.length for a in axes.values() if a.length is not None]
        if given:
            self.axis = given[0]
        self.fn = fn
        self.old_params = fn.params
        for k, p in enumerate(fn.params):
            if k in axes:
                self.stacked_param(p, axes[k])
            else:
                self.env[p] = body.param(p.type, p.hint)
        if self.some is None:
            raise NotBatchedError("no stack")

    def stacked_param(self, p: Value, axis: Axis) -> None:
        """A parameter that is a stack. Inside, the axis of the stack is the first one."""
        t = self.stack_type(p.type)
        if axis.length is not None and t.dims is not None:
            dims = list(t.dims[1:])
            dims.insert(axis.number, axis.length)
            t = replace(t, dims=tuple(dims))
        made = self.b.region.param(t, p.hint)
        if axis.number:
            made = self.emit(PRIMS[np.moveaxis], made, axis.number, 0)
            made.type, made.hint = self.stack_type(p.type), p.hint
        self.env[p] = made
        self.stacks.add(made)
        if self.some is None and made.type.kind in ("array", "any"):
            self.some = made

    def finish(self, exits: list[Any]) -> None:
        self.b.region.exit = tuple(exits)
        self.function = Function(self.fn.name, self.b.region, dict(self.fn.meta))
        self.function.meta["stacks"] = tuple([self.has_stack(x) for x in exits])


class _Walk(Batching):
    """Builds the regions of a function on stacks.

    joined: the values of the old function that are stacks where ways meet
    tried:  parameters of a loop of which a trial is to tell the dtype
    """

    def __init__(self, fn: Function, stacked: Iterable[int] | dict[int, Axis], spread: bool | Sequence[bool]):
        stacked = stacked if isinstance(stacked, dict) else set(stacked)
        super().__init__(fn, stacked, _copied(fn.body.dims, fn.body.dims.parent))
        self.joined = stacked_values(fn.body, [fn.params[k] for k in stacked])
        self.tried: set[Any] = set()
        self.region(fn.body)
        self.b.loc = self.b.tag = None
        wanted = [spread] * len(fn.body.exit) if isinstance(spread, bool) else spread
        self.finish([self.handed(x, w and self.is_number(x)) for x, w in zip(fn.body.exit, wanted)])

    def region(self, old: Region) -> None:
        for op in old.ops:
            self.b.loc, self.b.tag = op.loc, op.tag if op.tag != COMPACT else None  # a stack is laid out otherwise
            WALKED.get(op.prim, _Walk.add)(self, op)

    def inner(self, old: Region) -> Region:
        """A new region for an old one, without operations."""
        made = Region(_copied(old.dims, self.b.region.dims))
        for p in old.params:
            self.env[p] = new = made.param(self.joined_type(p), p.hint)
            if p in self.joined:
                self.stacks.add(new)
        return made

    def joined_type(self, v: Value) -> Any:
        return self.stack_type(v.type) if v in self.joined else v.type

    def handed(self, x: Any, as_stack: bool, dtype: Any = None) -> Any:
        """A value that one region hands to another; `dtype`: that of a stack of a Python number."""
        if x is UNDEF:
            return x
        new = self.new(x)
        if type(x) is Value and type(new) is tuple:
            new = self.emit(TUPLE, *new)
            new.type = SHAPE
        if dtype is not None and x in self.tried and not same_dtype(type_of(new).dtype, dtype):
            new = self.astype(new, dtype)
        return self.spread(new, dtype) if as_stack else new

    def is_number(self, x: Any) -> bool:
        """It is a number, an array, or a list."""
        return x is not UNDEF and type_of(x).kind not in ("object", "shape", "stack", "undef")

    def results(self, new: Op, op: Op, dtypes: Sequence[Any] = ()) -> None:
        """Give an operation with regions its results, and append it. `dtypes`: of stacks, where they are known."""
        for k, old in enumerate(op.results):
            # The last value of the cotangent of a name that was None at first has the type of None.
            of_none = op.prim is LOOP and old.type.kind == "object" and old in self.joined
            t = self.joined_type(op.regions[0].params[1 + k] if of_none else old)
            known = dtypes[k] if k < len(dtypes) and old in self.joined and t.kind == "array" else None
            if known is not None and t.dtype is None:
                t = replace(t, dtype=known, real=False)
            self.env[old] = made = Value(t, old.hint, new)
            new.results.append(made)
            if old in self.joined:
                self.stacks.add(made)
        self.copy_marks(new, op)
        self.b.append(new)

    def copy_marks(self, new: Op, op: Op) -> None:
        new.checks, new.droppable, new.tag = op.checks, op.droppable, op.tag

    def steady(self, arg: Any, op: Op, what: str) -> Any:
        """An operand on which control flow depends."""
        if any(v in self.joined for v in leaves(arg)):
            raise NotBatchedError(f"{what} that differs between examples", op)
        return self.new(arg)

    def branch(self, op: Op) -> None:
        if op.condition in self.joined:
            self.both_branches(op)
            return
        cond = self.steady(op.condition, op, "a condition")
        made = []
        for old in op.regions:
            inner = self.inner(old)
            with self.b.inside(inner):
                self.region(old)
            made.append(inner)
        dtypes = [self.common_dtype(exits) for exits in zip(*[old.exit for old in op.regions])]
        for old, inner in zip(op.regions, made):
            with self.b.inside(inner):
                exits = zip(old.exit, op.results, dtypes)
                inner.exit = tuple([self.handed(x, r in self.joined, dtype) for x, r, dtype in exits])
        self.results(Op(IF, (cond,), {}, tuple(made), op.loc), op, dtypes)

    def both_branches(self, op: Op) -> None:
        """A branch on a condition that differs between examples: both ways run, and each example takes its result."""
        for old in op.regions:
            for inner in old.walk():
                if inner.prim is not IF and not is_safe(self.b, inner):
                    what = "is for some of them only" if inner.regions or inner.prim.effects else "may raise"
                    raise NotBatchedError(
                        f"a condition that differs between examples, and in the branch {inner.prim.name} {what}", op
                    )
        cond = self.new(op.condition)
        for old in op.regions:
            self.region(old)
        self.b.loc = op.loc
        for k, r in enumerate(op.results):
            self.env[r] = self.chosen(op, cond, r, [old.exit[k] for old in op.regions])

    def chosen(self, op: Op, cond: Any, r: Value, exits: list[Any]) -> Any:
        """For each example, the value of the branch that it takes."""
        defined = [x for x in exits if x is not UNDEF]
        if len(defined) < 2:
            return self.fitted(self.handed(defined[0], True), r.type) if defined else UNDEF
        types = [type_of(x) for x in exits]
        same = r.type.dims is not None and all(t.dims is not None and len(t.dims) == len(r.type.dims) for t in types)
        lengths = [d for t in types for d in zip(t.dims or (), r.type.dims or ())]
        if not same or any(t.elem is not None for t in types) or not all(self.b.dims.same(*d) for d in lengths):
            raise NotBatchedError("a condition that differs between examples, with results of different kinds", op)
        x, y = self.strong(tuple(exits), [self.new(x) for x in exits], r.type)
        rank = len(r.type.dims or ())
        out = self.stack(PRIMS[np.where], self.aligned(cond, rank), x, y)
        out.hint = r.hint
        return self.fitted(out, r.type)

    def is_weak(self, x: Any) -> bool:
        """A number of Python's that is the same for all examples, or stands for one in a trial."""
        return is_weak(type_of(x)) and (x in self.tried or not self.is_stack(self.new(x)))

    def common_dtype(self, exits: Any) -> Any:
        """The one dtype of values that meet, beside which Python's numbers are weak; None if there is none."""
        found = set()
        for x in exits:
            if x is not UNDEF and not self.is_weak(x):
                found.add(type_of(self.new(x)).dtype)
        return found.pop() if len(found) == 1 else None

    def loop(self, op: Op) -> None:
        range_ = self.steady(op.range, op, "a number of iterations")
        (old,) = op.regions
        slots = [p in self.joined for p in old.params[1:]]
        dtypes = self.loop_dtypes(op)
        inits = tuple([self.handed(x, s, dtype) for x, s, dtype in zip(op.inits, slots, dtypes)])
        inner = self.inner(old)
        for p, dtype in zip(inner.params[1:], dtypes):
            if dtype is not None:
                p.type = replace(p.type, dtype=dtype, real=False)
        with self.b.inside(inner):
            self.region(old)
            code = self.steady(old.exit[0], op, "an end of a loop")
            inner.exit = (code, *[self.handed(x, s, dtype) for x, s, dtype in zip(old.exit[1:], slots, dtypes)])
        self.results(Op(LOOP, (range_, inits), {}, (inner,), op.loc), op, dtypes)

    def loop_dtypes(self, op: Op) -> list[Any]:
        """The dtypes of what a loop carries, where it starts with a number of Python's that meets others in the loop.

        A trial of the body tells what such a number becomes.
        """
        (old,) = op.regions
        weak = [
            k
            for k, (p, x) in enumerate(zip(old.params[1:], op.inits))
            if p in self.joined and p.type.dtype is None and p.type.is_scalar and x is not UNDEF
            if self.is_weak(x)
        ]
        out: list[Any] = [None] * len(op.inits)
        if not weak:
            return out
        kept = [old.params[1 + k].type for k in weak]
        for k in weak:
            old.params[1 + k].type = type_of(op.inits[k])
            self.tried.add(old.params[1 + k])
        try:
            trial = self.inner(old)
            with self.b.inside(trial):
                self.region(old)
                for k in weak:
                    out[k] = type_of(self.new(old.exit[1 + k])).dtype if old.exit[1 + k] is not UNDEF else None
        finally:
            for k, t in zip(weak, kept):
                old.params[1 + k].type = t
                self.tried.discard(old.params[1 + k])
        return out

    def attempt(self, op: Op) -> None:
        (old,) = op.regions
        if op.catch:
            self.check_caught(old, op)
        context = self.new(op.context)
        inner = self.inner(old)
        with self.b.inside(inner):
            self.region(old)
            inner.exit = tuple([self.handed(x, r in self.joined) for x, r in zip(old.exit, op.results[2:])])
        self.results(Op(TRY, (op.catch, context), {}, (inner,), op.loc), op)

    def check_caught(self, region: Region, op: Op) -> None:
        """One example must not end the region for all others."""
        for inner in region.walk():
            if inner.regions or inner.prim in (PUSH, POP, STACK_NEW):
                continue
            if any(v in self.joined for v in inner.operands()) and not self.is_uniform(inner):
                raise NotBatchedError(f"{inner.prim.name}, which may raise an exception that is caught,", inner)

    def is_uniform(self, op: Op) -> bool:
        """It raises for all examples or for none: it cannot raise, or is linear in what differs between them."""
        if op.prim.total is not None and op.prim.total(self.b, op.args, op.kwargs):
            return True
        moving = {name for name, arg in named_arguments(op) if any(v in self.joined for v in leaves(arg))}
        if "product" in op.prim.traits or moving == {op.prim.params[0]} and "quotient" in op.prim.traits:
            return True
        return any(moving <= set(group) for group in op.prim.linear)

    def func(self, op: Op) -> None:
        (old,) = op.regions
        inner = self.inner(old)
        new = new_func(inner, op.result.hint, op.loc)
        self.env[op.result] = new.result
        self.copy_marks(new, op)
        self.b.append(new)
        with self.b.inside(inner, alone=True):
            self.region(old)
            inner.exit = tuple([self.handed(x, self.exits_stack(op, k)) for k, x in enumerate(old.exit)])

    def exits_stack(self, func: Op, k: int) -> bool:
        return any(v in self.joined for v in leaves(func.regions[0].exit[k]))

    def call(self, op: Op) -> None:
        func = called(op)
        params = func.regions[0].params
        args = [self.handed(x, p in self.joined) for x, p in zip(op.args[1:], params)]
        self.results(Op(CALL, (self.new(op.func), *args), {}, (), op.loc), op)

    # --- residual stacks ------------------------------------------------------------------------------------------

    def new_stack(self, op: Op) -> None:
        self.again(op)
        if op.result in self.joined:
            self.stacks.add(self.env[op.result])

    def push(self, op: Op) -> None:
        stack, value = op.args
        value = self.handed(value, stack in self.joined)
        new = Op(PUSH, (self.new(stack), value), {}, (), op.loc)
        self.copy_marks(new, op)
        self.b.append(new)

    def pop(self, op: Op) -> None:
        new = Op(POP, (self.new(op.args[0]),), {}, (), op.loc)
        self.results(new, op)


WALKED: dict[Any, Any] = {
    IF: _Walk.branch,
    LOOP: _Walk.loop,
    TRY: _Walk.attempt,
    FUNC: _Walk.func,
    CALL: _Walk.call,
    STACK_NEW: _Walk.new_stack,
    PUSH: _Walk.push,
    POP: _Walk.pop,
}


def _copied(dims: Dims, parent: Dims | None) -> Dims:
    """A copy of what is known of lengths, so that what is found out from now on is not known to the old function. No
    root stands for one length in the copy and for another one in the old function."""
    return Dims(
        parent, dict(dims.equal), set(dims.not_one_facts), dims.counter if parent is None else parent.counter,
        dict(dims.memo), set(dims.arg_roots), list(dims.constraints), dict(dims.lengths), list(dims.assumed),
        list(dims.smaller), dict(dims.derived), list(dims.at_least),
        {root: list(forms) for root, forms in dims.varying.items()}, dims.turned,
    )  # fmt: skip


__all__ = ["Axis", "Batching", "NotBatchedError", "batch"]
