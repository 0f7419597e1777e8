"""The copies of the in-place pass: where they stand, and what they change.

Takes a store, a view or a yielded value that conflicts. Gives the function with a copy in the right place, and notes
which values have other uses than before.

>>> from autodiff_compiler.ir.core import Builder, Function
>>> from autodiff_compiler.ir.opset import MUL, SET
>>> from autodiff_compiler.ir.printer import print_function
>>> from autodiff_compiler.ir.types import array
>>> b = Builder(Region())
>>> x = b.region.param(array(float, (b.dims.fresh(),)), "x")
>>> new = b.emit(SET, x, (("index", (0,)),), 5.0)
>>> b.region.exit = (new, x)
>>> changes = Changes(Order(b.region))
>>> changes.copy_dest((new.op, None), x)
>>> renumbered = changes.place()
>>> print(print_function(Function("f", b.region)), end="")
func f(%x: float64[d1]) {
  %x2: float64[d1] = copy %x
  %v1: float64[d1] = set %x2, (('index', (0,)),), 5.0
  return %v1, %x
}
"""

from __future__ import annotations

from typing import Any

from ..analysis.order import Order, reads
from ..analysis.sharing import passes_on
from ..ir.core import DERIVED, LOOP, Op, Region, Value, leaves
from ..ir.opset import ACCUM, ADD, COPY, FULL_LIKE, OWN, PUSH, SPREAD, STORES
from ..ir.rewrite import substitute
from .simplify import may_drop

Site = tuple[Op, int | None]  # a store (None), or a loop with the number of a slot that it stores into


class Changes:
    """The copies of one round: where they stand, and what they change.

    values: those with other uses than before
    steps:  the equations of `analysis.sharing` that have other operands than before
    dropped: operations that nothing reads any more
    """

    def __init__(self, order: Order):
        self.order = order
        self.values: dict[Value, None] = {}
        self.steps: dict[tuple[Op, bool], None] = {}
        self.before: dict[Op, list[Op]] = {}
        self.after: dict[Op, list[Op]] = {}
        self.at_end: dict[Region, list[Op]] = {}
        self.dropped: set[Op] = set()

    def drop_unread(self) -> None:
        """Drop values that nothing reads any more: a broadcast that was copied, or a view copied twice."""
        for v in list(self.values):
            op = v.op
            if op is not None and op.prim in (SPREAD, COPY, FULL_LIKE) and not self.order.uses.get(v) and may_drop(op):
                self.dropped.add(op)
                self.steps.pop((op, False), None)
                self.values.update(dict.fromkeys(self.order.remove(op)))

    def place(self) -> bool:
        """Put the new operations where they belong; whether all positions are different."""
        touched = [*self.before, *self.after, *self.dropped]
        regions = dict.fromkeys([*[op.parent for op in touched], *self.at_end])
        for region in regions:
            assert region is not None
            ops: list[Op] = []
            for op in region.ops:
                ops += [*self.before.get(op, ()), op, *self.after.get(op, ())]
            ops += self.at_end.get(region, ())
            region.ops[:] = [op for op in ops if op not in self.dropped] if self.dropped else ops
        renumbered = self.order.insert(regions)  # type: ignore[arg-type]
        self.order.sort_uses(self.values)
        return renumbered

    def _copy_of(self, v: Value, region: Region | None, tag: Any) -> Op:
        if v.op is not None and v.op.prim is SPREAD:
            op = Op(FULL_LIKE, (v.op.args[1], v.op.args[0]), {}, (), v.op.loc)
        else:
            op = Op(COPY, (v,), {}, (), v.op.loc if v.op is not None else None)
        op.droppable = True
        op.results = [Value(v.type, v.hint, op)]
        op.parent, op.tag = region, tag
        self._note(op, {})
        self.values[op.result] = None
        return op

    def _note(self, user: Op | Region, before: dict[Value, bool]) -> None:
        """A user reads other values than before."""
        self.values.update(dict.fromkeys(self.order.reads_again(user, before)))
        op = user.op if isinstance(user, Region) else user
        if op is not None and (not before or passes_on(op)):
            self.steps.update(dict.fromkeys([(op, True), (op, False)] if op.prim is LOOP else [(op, False)]))

    def _replace(self, user: Op | Region, v: Value, new: Value) -> None:
        before = reads(user)
        if isinstance(user, Region):
            user.exit = substitute(user.exit, {v: new})
        else:
            user.args = substitute(user.args, {v: new})
            user.kwargs = substitute(user.kwargs, {v: new})
        self._note(user, before)

    def copy_dest(self, site: Site, dest: Value) -> None:
        """Let a store write into a copy."""
        op, k = site
        if op.prim is ACCUM and dest.type.kind != "list" and dest.type.dims != ():
            # Adding into a new buffer is an addition. NumPy gives a number for one of arrays without axes.
            op.prim = ADD
            self.values.update(dict.fromkeys([*op.operands(), *op.results]))
            self.steps[op, False] = None
            return
        new = self._copy_of(dest, op.parent, op.tag)
        new.loc = op.loc
        changed = op.results[0] if k is None else op.regions[0].params[k + 1]
        new.result.hint = changed.hint or dest.hint
        self.before.setdefault(op, []).append(new)
        before = reads(op)
        if k is not None:
            op.args = (op.args[0], tuple([new.result if j == k else x for j, x in enumerate(op.args[1])]))
        else:
            op.args = (new.result, *op.args[1:])
        self._note(op, before)

    def copy_view(self, view: Op) -> None:
        """Let all that read a view read a copy of it."""
        v = view.result
        new = self._copy_of(v, view.parent, view.tag)
        self.after.setdefault(view, []).append(new)
        for user, _ in list(self.order.uses[v]):
            if user is not new:
                self._replace(user, v, new.result)

    def copy_captured(self, user: Op, v: Value) -> None:
        """Put a copy on the stack or into the list."""
        if not any(x is v for x in leaves(user.args[1:] if user.prim in STORES or user.prim is PUSH else user.args)):
            return  # it is a copy of a view that is put there by now
        new = self._copy_of(v, user.parent, user.tag)
        self.before.setdefault(user, []).append(new)
        before = reads(user)
        dest = user.args[0]
        user.args = substitute(user.args, {v: new.result})
        if user.prim in STORES or user.prim is PUSH:
            user.args = (dest, *user.args[1:])
        self._note(user, before)

    def copy_yielded(self, loop: Op, k: int) -> None:
        """Let an iteration yield a copy."""
        self._copy_exit(loop.regions[0], k + 1, loop.tag)

    def copy_result(self, k: int) -> None:
        """Let the function return a copy, of a list with its items."""
        self._copy_exit(self.order.body, k, DERIVED)
        new = self.at_end[self.order.body][-1]
        if new.prim is COPY and new.result.type.kind == "list":
            new.prim = OWN

    def _copy_exit(self, region: Region, k: int, tag: Any) -> None:
        new = self._copy_of(region.exit[k], region, tag)
        self.at_end.setdefault(region, []).append(new)
        before = reads(region)
        region.exit = (*region.exit[:k], new.result, *region.exit[k + 1 :])
        self._note(region, before)


__all__ = ["Changes", "Site"]
