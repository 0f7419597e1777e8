"""Simplification: no dead code, no trivial control flow, no two branches on the same condition in a row.

Takes a function. Gives a function that computes the same with fewer operations. Exceptions that the user's function
raises stay. In the example, the cotangent of `y` does not depend on the branch, so the reversed branch is gone.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show
>>> def f(x, flag):
...     y = x * 3.0
...     if flag > 0.0:
...         y = y + 1.0
...     return y
>>> show(f, 1.0, 2.0, after="differentiate", backward=True)
  (forward sweep)
  %y_bar: float = if %v1 {
    yield 1.0
  } else {
    yield 1.0
  }
  %x_bar: float = * %y_bar, 3.0
  return %x_bar
}
>>> show(f, 1.0, 2.0, after="simplify")
func f(%x: float, %flag: float) {
  return 3.0
}
"""

from __future__ import annotations

from typing import Any

from ..ir import opset
from ..ir.core import (
    CALL,
    DERIVED,
    FUNC,
    IF,
    LOOP,
    TRY,
    UNDEF,
    Builder,
    Function,
    Op,
    Region,
    Value,
    leaves,
    map_leaves,
    structural_key,
)
from ..ir.definedness import ends
from ..ir.opset import ACCUM, ADD, DIV, MUL, NEG, POP, PUSH, RAISE, STACK_NEW, SUB
from ..ir.rewrite import called, drop_uncalled, enclosing, region_of, replace_values
from ..ir.types import Dim, Dims, Ty, length_of
from .algebra import install


def simplify(fn: Function) -> None:
    """Fold and drop until nothing changes."""
    for _ in range(8):
        mapping = fold_control(fn.body)
        if mapping:
            replace_values(fn.body, mapping)
            if any(type(x) is not Value for x in mapping.values()):
                refold(fn.body)
        changed = drop_dead(fn)
        if not mapping and not changed:
            return


def may_drop(op: Op) -> bool:
    """Removing the operation, its results unused, changes nothing that a user can see."""
    if op.prim in (PUSH, POP, STACK_NEW, FUNC, CALL):
        return True
    if op.prim.effects:
        return False
    if (op.droppable or op.tag == DERIVED) and not decides_again(op):
        return True
    if op.checks:
        return False
    if op.prim in (IF, LOOP):
        return True
    if op.prim is TRY:
        return op.args[1] is None or not op.regions[0].ops
    if op.prim is opset.GET and in_bounds(op):
        return True
    if op.prim.total is None or op.parent is None:
        return False
    return op.prim.total(Builder(op.parent), op.args, op.kwargs)


def decides_again(op: Op) -> bool:
    """The operation runs again for a backward sweep, inside of a ``try``: whether it raises decides what follows."""
    return op.again and any(r.op is not None and r.op.prim is TRY and r.op.catch for r in enclosing(op.parent))


def in_bounds(op: Op, region: Region | None = None) -> bool:
    """A single subscript of slices, variables of loops over (a part of) the axes that they index, and numbers; by what
    is known of lengths in its region, or in another one."""
    base, path = op.args[:2]
    dims = base.type.dims if type(base) is Value else None
    region = region or op.parent
    if dims is None or len(path) != 1 or path[0][0] != "index" or region is None:
        return False
    items = path[0][1]
    if len(items) > len(dims) or any(i is None or i is Ellipsis for i in items):
        return False
    return all(isinstance(i, slice) or _below(i, d, region) for i, d in zip(items, dims))


def is_total_in(region: Region, op: Op) -> bool:
    """The operation cannot raise in a region around its own, either, and its result is of the same type there.

    What is known of lengths in a loop or branch holds where it runs. Around it, less may be known.
    """
    assert op.parent is not None
    here, there = op.parent.dims, region.dims
    lengths = [d for v in (*op.operands(), *op.results) for d in v.type.dims or ()]
    if op.checks or (here is not there and any(here.find(d) != there.find(d) for d in lengths)):
        return False
    if op.prim is opset.GET:
        return in_bounds(op, region)
    if op.prim.total is None or not op.prim.total(Builder(region), op.args, op.kwargs):
        return False
    return not op.prim.elementwise or all(_is_broadcast(v.type, op.result.type, there) for v in op.operands())


def _is_broadcast(t: Ty, to: Ty, dims: Dims) -> bool:
    """An operand of this type has the axes of the result, or axes of length one."""
    if t.is_scalar or t.dims == ():
        return True
    if t.dims is None or to.dims is None or len(t.dims) > len(to.dims):
        return False
    return all(dims.find(d) == 1 or dims.same(d, e) for d, e in zip(t.dims[::-1], to.dims[::-1]))


def _below(index: Any, length: Any, region: Region) -> bool:
    """``0 <= index < length``, because of the range that the index runs over; or a number that is in range."""
    if type(index) is int:
        length = region.dims.find(length)
        if isinstance(length, Dim):  # an axis of an argument has a name if it has at least two elements
            length = 2 - length.off if region.dims.is_argument(length) else 0
        return bool(-length <= index < length)
    return type(index) is Value and is_in_range(index, 0, length, region)


def is_in_range(index: Value | None, more: int, length: Any, region: Region, assume: bool = False) -> bool:
    """The sum of the variable of a loop, or nothing, and a number is an index of an axis of this length.

    assume: take it for granted that an axis is not shorter than another one, if that holds of the arguments at hand
    """
    if index is None:
        return _below(more, length, region)
    if index.op is not None or index.region is None or index.region.op is None:
        return False
    loop = index.region.op
    if loop.prim is not LOOP or index is not index.region.params[0] or loop.args[0] is None:
        return False
    start, stop, step = loop.args[0][:3]
    if type(start) is not int or start + more < 0 or type(step) is not int or step < 1:
        return False
    bound = stop if type(stop) is int else stop.type.length if type(stop) is Value else None
    if bound is None or length is None:
        return False
    bound, length = region.dims.find(bound), region.dims.find(length)
    if isinstance(bound, int) or isinstance(length, int):
        return isinstance(bound, int) and isinstance(length, int) and bound + more <= length
    if bound.root == length.root:
        return bool(bound.off - more >= length.off)
    dims, last = region.dims.top(), Dim(bound.root, bound.off - more)
    if not assume or any(d.root not in dims.lengths for d in (last, length)):
        return False
    return length_of(last, dims.lengths) <= length_of(length, dims.lengths) and dims.prefers([(last,)], [(length,)])


def drop_dead(fn: Function, last: bool = False) -> bool:
    """Remove operations and carried values that nothing needs. Exceptions that the primal raises are kept.

    A residual stack lives as long as a value that is popped from it. Returns whether anything was removed.

    last: what is needed stays as it is. So a read of which only the error is needed goes where the next operation that
        could raise has the same subscripts.
    """
    uncalled = any(op.prim is FUNC for op in fn.body.ops) and drop_uncalled(fn.body)
    calls: dict[Op, list[Op]] = {}
    pushes: dict[Value, list[Op]] = {}
    popped: dict[Value, list[Op]] = {}
    for op in fn.body.walk():
        if op.prim is PUSH:
            pushes.setdefault(op.args[0], []).append(op)
        elif op.prim is POP:
            popped.setdefault(op.args[0], []).append(op)
        elif op.prim is CALL:
            calls.setdefault(called(op), []).append(op)
    live: set[Value] = set()
    live_ops: set[Op] = set()
    work: list[Value] = []

    places: dict[Any, dict[Value, int]] = {}

    def place(owner: Any, values: list[Value], v: Value) -> int:
        """The position of a value in a list that may be long."""
        if len(values) < 16:
            return values.index(v)
        if owner not in places:
            places[owner] = {x: k for k, x in enumerate(values)}
        return places[owner][v]

    def need(arg: Any) -> None:
        need_all(leaves(arg))

    def need_all(values: list[Value]) -> None:
        for v in values:
            if v not in live:
                live.add(v)
                work.append(v)

    def keep(op: Op) -> None:
        """The operation runs: so do those around it."""
        if op in live_ops:
            return
        live_ops.add(op)
        if not op.regions:
            if op.prim is not PUSH or op.args[0] in live:
                need_all(op.operands())
        elif op.prim is LOOP:
            need(op.args[0])
            need(op.regions[0].exit[0])
        elif op.prim is IF:
            need(op.args[0])
        elif op.prim is FUNC:
            # All calls or none: an adjoint takes off the stacks what each of them has put there.
            need(op.regions[0].exit)
            for call in calls[op]:
                keep(call)
        else:
            need_all(op.operands())
        owner = op.parent.op if op.parent is not None else None
        if owner is not None:
            keep(owner)

    def follow() -> None:
        """Keep the operands of all that is kept."""
        while work:
            v = work.pop()
            op = v.op
            if op is None:
                owner = v.region.op if v.region is not None else None
                if owner is not None and owner.prim is LOOP:
                    keep(owner)
                    (body,) = owner.regions
                    k = place(body, body.params, v) - 1
                    if k >= 0:
                        need(owner.args[1][k])
                        need(body.exit[k + 1])
                continue
            if op not in live_ops:
                keep(op)
            if not op.regions and op.prim is not POP:
                continue
            if op.prim is IF:
                k = place(op, op.results, v)
                for region in op.regions:
                    need(region.exit[k])
            elif op.prim is LOOP:
                k = place(op, op.results, v)
                if k < len(op.args[1]):
                    need(op.args[1][k])
                    need(op.regions[0].exit[k + 1])
                    need(op.regions[0].params[k + 1])
            elif op.prim is TRY:
                k = place(op, op.results, v) - 2
                if k >= 0:
                    need(op.regions[0].exit[k])
            elif op.prim is POP:
                # Every pop of the stack and every push: else a pop would return the value of another push.
                for other in popped.get(op.args[0], []):
                    keep(other)
                for push in pushes.get(op.args[0], []):
                    live.add(op.args[0])
                    keep(push)
                    need(push.args)

    need(fn.body.exit)
    follow()
    checks = []
    for op in fn.body.walk():
        # Most operations are needed anyway: for these the question, which takes long, is not asked.
        if op not in live_ops and op.prim not in (IF, LOOP) and not may_drop(op):
            if last and op.prim is opset.GET:
                checks.append(op)
                continue
            keep(op)
            follow()
    for op in reversed(checks):
        if not _is_checked_again(op, live_ops):
            keep(op)
            follow()
    return _sweep(fn.body, live, live_ops) or uncalled


def _is_checked_again(op: Op, live: set[Op]) -> bool:
    """The next operation that may raise has the same subscripts, of an array of the same shape.

    Of a single one: `np.bincount`, which may be called for an addition, takes what is out of range.
    """
    base, path = op.args
    region = op.parent
    if type(base) is not Value or base.type.dims is None or region is None:
        return False
    if path[-1][0] != "index" or len(path[-1][1]) < 2:
        return False
    key, dims = structural_key(path), base.type.dims
    for other in region.ops[region.ops.index(op) + 1 :]:
        if other not in live:
            continue
        a = other.args[0] if other.prim in (opset.GET, opset.SET, opset.ADDAT) else None
        if type(a) is Value and a.type.dims is not None and structural_key(other.args[1]) == key:
            return len(a.type.dims) == len(dims) and all(map(region.dims.same, a.type.dims, dims))
        if other.regions or not may_drop(other):
            return False
    return False


def _sweep(region: Region, live: set[Value], live_ops: set[Op]) -> bool:
    changed = False
    kept = []
    for op in region.ops:
        if op not in live_ops:
            changed = True
            continue
        kept.append(op)
        if op.prim is IF:
            unused = {k for k, r in enumerate(op.results) if r not in live}
            if unused:
                changed = True
                for inner in op.regions:
                    inner.exit = tuple(x for k, x in enumerate(inner.exit) if k not in unused)
                op.results = [r for r in op.results if r in live]
        elif op.prim is TRY:
            (body,) = op.regions
            alive = [r in live for r in op.results[2:]]
            if not all(alive):
                changed = True
                body.exit = tuple(x for x, kept_ in zip(body.exit, alive) if kept_)
                op.results = [*op.results[:2], *(r for r, kept_ in zip(op.results[2:], alive) if kept_)]
        elif op.prim is LOOP:
            (body,) = op.regions
            count = len(op.args[1])
            dead = [k for k in range(count) if op.results[k] not in live and body.params[k + 1] not in live]
            if dead:
                changed = True
                gone = set(dead)
                op.args = (op.args[0], tuple(x for k, x in enumerate(op.args[1]) if k not in gone))
                body.exit = (body.exit[0], *(x for k, x in enumerate(body.exit[1:]) if k not in gone))
                body.params = [body.params[0], *(p for k, p in enumerate(body.params[1:]) if k not in gone)]
                op.results = [r for k, r in enumerate(op.results) if k not in gone]
        for inner in op.regions:
            changed |= _sweep(inner, live, live_ops)
    region.ops[:] = kept
    return changed


def fold_control(body: Region) -> dict[Value, Any]:
    """What values turn out to be: results of branches that agree, carried values that no iteration changes.

    An ``if`` on a constant is spliced into the region around it.
    """
    mapping: dict[Value, Any] = {}

    def visit(region: Region) -> None:
        at = 0
        while at < len(region.ops):
            op = region.ops[at]
            for inner in op.regions:
                visit(inner)
            if op.prim is IF:
                cond = op.args[0]
                if isinstance(cond, int):
                    chosen = op.regions[0 if cond else 1]
                    for moved in chosen.ops:
                        moved.parent = region
                    mapping.update(zip(op.results, chosen.exit))
                    region.ops[at : at + 1] = chosen.ops
                    continue
                for k, result in enumerate(op.results):
                    a, b = op.regions[0].exit[k], op.regions[1].exit[k]
                    if _same(a, b) and not _defined_in(a, op):
                        mapping[result] = a
            elif op.prim is LOOP:
                inner = op.regions[0]
                for k, init in enumerate(op.args[1]):
                    out = inner.exit[k + 1]
                    if out is inner.params[k + 1] and init is not UNDEF:
                        mapping[inner.params[k + 1]] = init
                        mapping[op.results[k]] = init
                    elif _surely_runs(op) and type(out) is not Value and out is not UNDEF:
                        mapping[op.results[k]] = out
                    elif (same := _left_with(op, k)) is not None:
                        mapping[op.results[k]] = same
            at += 1

    visit(body)
    return mapping


def _left_with(loop: Op, k: int) -> Value | None:
    """Another result of a loop without a range that is the same, since each way out yields one value for both."""
    body, out = loop.regions[0], loop.regions[0].exit[k + 1]
    if loop.range is not None or type(out) is not Value or out.op is None or out.op.prim is not IF:
        return None
    left = {x for code, x in ends(body, out) if type(code) is Value or code != 0}
    found = left.pop() if len(left) == 1 else None
    if type(found) is not Value or found is out or found not in body.exit[1:]:
        return None
    other, known = loop.results[body.exit.index(found, 1) - 1], loop.results[k].type
    if other.type.kind == "scalar" and known.kind in ("py", "generic") and other.type.dtype == known.dtype:
        other.type = known  # as it is where the loop is left
    return other if other.type == known else None


def refold(body: Region) -> None:
    """Simplify the arithmetic of the adjoint anew where an operand has turned out to be a constant."""
    mapping: dict[Value, Any] = {}

    def visit(region: Region) -> None:
        at = 0
        while at < len(region.ops):
            op = region.ops[at]
            for inner in op.regions:
                visit(inner)
            at += 1
            if op.tag != DERIVED or op.prim not in (ACCUM, ADD, SUB, MUL, DIV, NEG):
                continue
            op.args = map_leaves(lambda v: mapping.get(v, v), op.args)
            if all(type(x) is Value and not _is_spread(x) for x in op.args) and not _is_zeros(op.args[0]):
                continue
            scratch = Region(region.dims)
            builder = install(Builder(scratch))
            builder.tag, builder.loc = op.tag, op.loc
            new = builder.emit(op.prim, *op.args)
            if type(new) is Value and new.op in scratch.ops and new.op.prim is op.prim and new.op.args == op.args:
                continue
            for made in scratch.ops:
                made.parent = region
            region.ops[at - 1 : at] = scratch.ops
            at += len(scratch.ops) - 1
            mapping[op.result] = new

    visit(body)
    if mapping:
        replace_values(body, mapping)


def _is_spread(x: Value) -> bool:
    """One number everywhere."""
    return x.op is not None and x.op.prim is opset.SPREAD


def _is_zeros(x: Any) -> bool:
    return type(x) is Value and x.op is not None and x.op.prim is opset.ZEROS


def _surely_runs(loop: Op) -> bool:
    """At least one iteration is completed, and none is left early."""
    code = loop.regions[0].exit[0]
    if loop.args[0] is None or type(code) is Value or code != 0:
        return False
    bounds = loop.args[0][:3]
    return all(type(x) is int for x in bounds) and len(range(*bounds)) > 0


def _same(a: Any, b: Any) -> bool:
    if type(a) is Value or type(b) is Value:
        return a is b
    return type(a) is type(b) and isinstance(a, (int, float, bool, complex, str)) and repr(a) == repr(b)


def _defined_in(a: Any, op: Op) -> bool:
    if type(a) is not Value:
        return False
    return any(r in op.regions for r in enclosing(region_of(a)))


def fuse_branches(fn: Function) -> None:
    """Put an ``if`` that stands right behind another on the same condition into that."""
    mapping = fold_control(fn.body)  # what is no branch lies between none
    replace_values(fn.body, mapping)

    def visit(region: Region) -> bool:
        fused = False
        at = 1
        while at < len(region.ops):
            first, second = region.ops[at - 1], region.ops[at]
            if first.prim is IF and second.prim is IF and first.args[0] is second.args[0] and _fuse(first, second):
                del region.ops[at]
                fused = True
            else:
                at += 1
        for op in region.ops:
            for inner in op.regions:
                fused |= visit(inner)
        return fused

    if visit(fn.body) or any(type(x) is not Value for x in mapping.values()):
        refold(fn.body)


def _fuse(first: Op, second: Op) -> bool:
    if first.tag != second.tag:
        return False
    used = [{v for op in region.walk() for v in op.operands()} for region in second.regions]
    for k, region in enumerate(first.regions):
        if any(out is UNDEF and r in used[k] for r, out in zip(first.results, region.exit)):
            return False
    for region, other in zip(first.regions, second.regions):
        if region.ops and region.ops[-1].prim is RAISE:  # nothing runs behind it
            region.exit = (*region.exit, *[UNDEF] * len(other.exit))
            continue
        replace_values(other, dict(zip(first.results, region.exit)))
        for op in other.ops:
            op.parent = region
        region.ops += other.ops
        region.exit = (*region.exit, *other.exit)
    for r in second.results:
        r.op = first
    first.results += second.results
    return True
