"""One loop for the forward and the backward sweep, where iterations only add to sums.

Takes an adjoint. Where the backward sweep of a loop only adds to what it carries, and its cotangents are known before
the loop, an iteration can be reversed as soon as it has run: the loop has both bodies, and nothing is saved for longer
than one iteration. Gives the adjoint with such loops merged. The sums are those of the same terms, in the order of the
forward sweep.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(x, y):
...     loss = 0.0
...     for row, target in zip(x, y):
...         loss += np.exp(row @ row - target)
...     return loss
>>> show_source(f, np.ones((3, 2)), np.ones(3))
def f_grad(x, y):
    x_bar = np.zeros(x.shape)
    for i in range(min(x.shape[0], y.shape[0])):
        row = x[i]
        t = np.exp(row.dot(row) - y[i])
        # adjoint of line 3: for row, target in zip(x, y):
        x_bar[i] = 2.0 * ((1.7976931348623157e308 if t > 1.7976931348623157e308 else t) * row)
    return x_bar
"""

from __future__ import annotations

from typing import Any

from ..ir.core import DERIVED, IF, LOOP, Builder, Function, Op, Region, Value, leaves
from ..ir.opset import ACCUM, ADD, ADDAT, ASSERT, POP, PUSH, RAISE, STACK_NEW, SUB, ZEROS
from ..ir.rewrite import collect_uses, content_operands, joined_from, replace_values
from ..ir.types import Ty, same_dtype
from .shapes import own_params

Uses = dict[Value, list[Op | Region]]


def share_loops(fn: Function, before_change: Any = None) -> bool:
    """Merge loops with their reversals where that may be done; `before_change` is called before the first is merged."""
    merged = Merging(fn, before_change)
    while merged.step(fn.body):
        pass
    merged.go_on()
    return merged.any


class Merging:
    def __init__(self, fn: Function, before_change: Any):
        self.fn, self.before_change, self.any = fn, before_change, False
        self.sums: set[Value] = set()  # what merged loops have added up
        self.refresh()

    def refresh(self) -> None:
        self.uses: Uses = collect_uses(self.fn.body)

    def step(self, region: Region) -> bool:
        """Merge one pair of loops of the region, or of those in it."""
        for back in region.ops:
            if back.prim is LOOP and back.range is not None and len(back.range) == 4 and back.range[3]:
                forward = self.reversed_by(back, region)
                if forward is None or not self.only_adds(back):
                    continue
                later = self.known_later(forward, back, region)
                moved = None if later is None else self.needed(forward, back, region, set(later))
                if later is not None and moved is not None:
                    if self.before_change is not None and not self.any:
                        self.before_change()
                    self.any = True
                    for k, first in later.items():
                        self.start_anew(back, k, first, region)
                    self.sums.update(r for k, r in enumerate(back.results[:-2]) if _moves(back, k))
                    merge(forward, back, moved, region, self.fn)
                    self.refresh()
                    hand_over(forward.regions[0], self.uses)
                    self.refresh()
                    return True
        return any(self.step(inner) for op in region.ops if op.prim is not IF or self.any for inner in op.regions)

    def go_on(self) -> None:
        """Let a loop that adds to the sums of an earlier one go on with these, where it starts with zero."""
        for op in [op for op in self.fn.body.walk() if op.prim in (ACCUM, ADD) and op.tag == DERIVED]:
            first, second = op.args
            if not (type(first) is type(second) is Value and {first, second} <= self.sums) or op.parent is None:
                continue
            before, after = first.op, second.op
            if before is None or after is None or before.parent is not op.parent or after.parent is not op.parent:
                continue
            ops, k = op.parent.ops, after.results.index(second)
            start = after.inits[k]
            zero = start == 0.0 if type(start) is float else type(start) is Value and _made_by(start, ZEROS)
            if not zero or ops.index(before) >= ops.index(after):
                continue
            if len(self.uses.get(first, ())) == len(self.uses.get(second, ())) == 1:
                after.args = (after.range, (*after.inits[:k], first, *after.inits[k + 1 :]), *after.args[2:])
                ops.remove(op)
                replace_values(self.fn.body, {op.result: second})
                self.sums.discard(first)
                self.refresh()

    def reversed_by(self, back: Op, region: Region) -> Op | None:
        """The loop whose iterations another one takes back: all that it saves is taken there, and nothing else is."""
        taking = set(back.regions[0].walk())
        own = {op.results[0] for op in taking if op.prim is STACK_NEW}
        stacks = {op.args[0] for op in taking if op.prim is POP} - own
        if any(op.prim.effects and op.prim is not POP and not (op.prim is PUSH and op.args[0] in own) for op in taking):
            return None  # what it saves for a loop behind it is taken in the order in which it runs
        pushing = [u for stack in stacks for u in self.uses[stack] if isinstance(u, Op) and u.prim is PUSH]
        forward = _holder(pushing[0], region) if pushing else None
        if forward is None or forward.prim is not LOOP or forward.range is None or len(forward.range) != 3:
            return None
        assert back.range is not None
        if not all(a is b or (type(a) is int and a == b) for a, b in zip(forward.range, back.range)):
            return None
        if any(type(op.regions[0].exit[0]) is not int or op.regions[0].exit[0] != 0 for op in (forward, back)):
            return None
        inside = set(forward.regions[0].walk())
        if any(op.prim.effects and op.prim not in (PUSH, POP) for op in inside):
            return None
        pushed = {op.args[0] for op in inside if op.prim is PUSH}
        pushed -= {op.results[0] for op in inside if op.prim is STACK_NEW}
        if pushed != stacks or any(u not in inside and u not in taking for stack in stacks for u in self.uses[stack]):
            return None
        return forward

    def needed(self, forward: Op, back: Op, region: Region, without: set[int]) -> list[Op] | None:
        """The operations between the two loops that the second one needs; None if they have to stay there. `without`:
        the numbers of what it carries whose first values do not count."""
        wanted = set(leaves([x for k, x in enumerate(back.inits) if k not in without]))
        for op in back.regions[0].walk():
            wanted.update(op.operands())
            for r in op.regions:
                wanted.update(leaves(r.exit))
        wanted.update(leaves(back.regions[0].exit))
        return _slice(wanted, forward, back, region)

    def known_later(self, forward: Op, back: Op, region: Region) -> dict[int, Any] | None:
        """Of what `back` adds to, what is there before: that which is known only behind `forward`, by its number, with
        what has its shape. None if there is nothing of that shape."""
        out: dict[int, Any] = {}
        for k, init in enumerate(back.inits):
            param = back.regions[0].params[k + 1]
            if type(init) is not Value or back.regions[0].exit[k + 1] is param:
                continue
            if _slice({init}, forward, back, region) is not None:
                continue
            t = param.type
            if t.is_scalar and t.is_float:
                out[k] = 0.0
                continue
            like = next((p for p in own_params(self.fn) if t.kind == "array" and _same_shape(p.type, t, self.fn)), None)
            if like is None:
                return None
            out[k] = like
        return out

    def start_anew(self, back: Op, k: int, like: Any, region: Region) -> None:
        """Let the loop start with zero, and add what was there before afterwards."""
        init, result = back.inits[k], back.results[k]
        zero: Any = like
        if type(like) is Value:
            made = Op(ZEROS, (like,))
            made.tag, made.parent, made.results = DERIVED, region, [Value(like.type, result.hint, made)]
            region.ops.insert(0, made)
            zero = made.result
        back.args = (back.range, (*back.inits[:k], zero, *back.inits[k + 1 :]), *back.args[2:])
        total = Op(ADD if type(like) is not Value else ACCUM, (result, init))
        total.tag, total.parent, total.results = DERIVED, region, [Value(result.type, result.hint, total)]
        replace_values(self.fn.body, {result: total.result})
        region.ops.insert(region.ops.index(back) + 1, total)

    def only_adds(self, back: Op) -> bool:
        (body,) = back.regions
        if any(op.prim in (ASSERT, RAISE) for op in body.walk()):
            return False
        return all(body.exit[k + 1] is param or self.is_sum(param, back, k) for k, param in enumerate(body.params[1:]))

    def is_sum(self, param: Value, back: Op, k: int) -> bool:
        """Each iteration adds to what it carries, and reads it for nothing else."""
        versions, todo, others = {param}, [param], []

        def add(*values: Value) -> None:
            for v in values:
                if v not in versions:
                    versions.add(v)
                    todo.append(v)

        while todo:
            v = todo.pop()
            for user in self.uses.get(v, ()):
                if isinstance(user, Region):
                    owner = user.op
                    if owner is None or owner.prim not in (IF, LOOP):
                        return False
                    first = int(owner.prim is LOOP)
                    for j, x in enumerate(user.exit[first:]):
                        if x is v and owner is back and j != k:
                            return False
                        if x is v and owner is not back:
                            add(owner.results[j], *user.params[j + 1 : j + 1 + first])
                elif user.prim is LOOP:
                    if user.range is not None and v in leaves(user.range):
                        return False
                    for j, x in enumerate(user.inits):
                        if x is v:
                            add(user.results[j], user.regions[0].params[j + 1])
                elif user.prim is ADD and user.args[0] is not user.args[1]:
                    others += [x for x in user.args if x is not v]
                    add(user.result)
                elif user.prim in (SUB, ACCUM, ADDAT) and user.args[0] is v and v not in leaves(user.args[1:]):
                    others += leaves(user.args[1:])
                    add(user.result)
                elif v in content_operands(user) or user.regions:
                    return False
        if any(type(x) is Value and x in versions for x in others):
            return False
        return all(type(x) is Value and x in versions for v in versions for x in joined_from(v, back))


def _holder(op: Op, region: Region) -> Op | None:
    """The operation of the region that an operation is in."""
    while op.parent is not region:
        if op.parent is None or op.parent.op is None:
            return None
        op = op.parent.op
    return op


def _made_by(v: Value, prim: Any) -> bool:
    return v.op is not None and v.op.prim is prim


def _moves(back: Op, k: int) -> bool:
    """A loop does not hand on what it has got."""
    return back.regions[0].exit[k + 1] is not back.regions[0].params[k + 1]


def _slice(wanted: set[Value], forward: Op, back: Op, region: Region) -> list[Op] | None:
    """The operations between the loops that make these values, in order; None if they have to stay there."""
    moved: list[Op] = []
    for op in reversed(region.ops[region.ops.index(forward) + 1 : region.ops.index(back)]):
        if any(r in wanted for r in op.results):
            if op.prim.effects or op.regions or (op.tag != DERIVED and not _is_total(op)):
                return None
            moved.append(op)
            wanted.update(op.operands())
    return None if any(r in wanted for r in forward.results) else moved[::-1]


def _same_shape(a: Ty, b: Ty, fn: Function) -> bool:
    if a.kind != "array" or a.dims is None or b.dims is None or len(a.dims) != len(b.dims):
        return False
    return same_dtype(a.dtype, b.dtype) and all(map(fn.body.dims.same, a.dims, b.dims))


def _is_total(op: Op) -> bool:
    assert op.parent is not None
    return op.prim.total is not None and bool(op.prim.total(Builder(op.parent), op.args, op.kwargs))


def merge(forward: Op, back: Op, moved: list[Op], region: Region, fn: Function) -> None:
    """Put the body of `back` behind that of `forward`, and what `back` needs in front of both."""
    first, second = forward.regions[0], back.regions[0]
    replaced: dict[Value, Any] = {second.params[0]: first.params[0]}
    replaced.update(zip(back.results[-2:], forward.results[-2:]))
    region.ops = [op for op in region.ops if op is not back and op not in set(moved)]
    at = region.ops.index(forward)
    region.ops[at:at] = moved
    for op in second.ops:
        op.parent = first
    first.ops += second.ops
    for p in second.params[1:]:
        p.region = first
        first.params.append(p)
    first.exit = (*first.exit, *second.exit[1:])
    forward.args = (forward.range, (*forward.inits, *back.inits), *forward.args[2:])
    for r in back.results[:-2]:
        r.op = forward
    forward.results[-2:-2] = back.results[:-2]
    replace_values(fn.body, replaced)


def hand_over(body: Region, uses: Uses) -> None:
    """What is pushed once, and taken once behind that in the same region, need not be saved."""
    replaced: dict[Value, Any] = {}
    gone: set[Op] = set()
    pushes = {op.args[0]: op for op in body.ops if op.prim is PUSH}
    for op in body.ops:
        if op.prim is POP and op.args[0] in pushes and len(uses[op.args[0]]) == 2 and len(op.results) == 1:
            push = pushes[op.args[0]]
            if type(push.args[1]) is not tuple:
                replaced[op.result] = push.args[1]
                gone |= {push, op}
    body.ops = [op for op in body.ops if op not in gone]
    replace_values(body, replaced)


__all__ = ["share_loops"]
