"""Program order: when each operation runs, and who reads each value.

Takes the body of a function. Gives a position for each operation and region, and the uses of each value. Operations
that are inserted later get positions between those of their neighbours, so that nothing has to be numbered anew.

>>> import numpy as np
>>> from autodiff_compiler.frontend.lower import lower
>>> from autodiff_compiler.ir.opset import SET
>>> def f(x, y):
...     for i in range(3):
...         y[i] = x[i] * x[0]
...     return np.sum(y)
>>> order = Order(lower(f, (np.ones(3), np.ones(3))).function.body)
>>> loop, store, *_ = order.writers  # what may write into an array, in program order
>>> order.position[loop] < order.position[store] < order.end[loop]
True
>>> x = order.body.params[0]  # read by three operations
>>> [user.prim.name for user, reads_content in order.uses[x]]
['get', 'get']
"""

from __future__ import annotations

from collections.abc import Iterable

from ..ir.core import CALL, FUNC, IF, LOOP, Op, Region, Value, leaves
from ..ir.opset import STORES
from ..ir.rewrite import called, content_operands, enclosing, free_values, region_of

ROOM = 1 << 16  # between the positions of neighbours

Use = tuple[Op | Region, bool]  # an operation, or a region that yields the value; whether it reads the content


class Order:
    """Positions and uses of a function's body.

    position: of an operation, and of the start of a region
    end:      of a region, and of an operation with regions; of others, their position
    loops:    for each region, the loops and functions around it, outermost first
    uses:     for each value, its uses in program order
    writers:  the stores and the loops, in program order
    outer:    for each function that is called, the values that it reads from outside
    """

    def __init__(self, body: Region):
        self.body = body
        self.position: dict[Op | Region, int] = {}
        self.end: dict[Op | Region, int] = {}
        self.loops: dict[Region, tuple[Op, ...]] = {}
        self.uses: dict[Value, list[Use]] = {}
        self.writers: list[Op] = []
        self.outer: dict[Op, list[Value]] = {}
        self.ops: list[Op] = []
        self.regions: list[Region] = []
        self._clock = 0
        self._number(body, ())
        for op in self.ops:
            if op.prim in STORES or op.prim is LOOP:
                self.writers.append(op)
        self._collect(body)
        for op in self.ops:
            if op.prim is CALL:
                func = called(op)
                if func not in self.outer:
                    self.outer[func] = [v for v in free_values(func.regions[0]) if may_share(v)]
                for v in self.outer[func]:
                    self.uses.setdefault(v, []).append((op, True))

    def _number(self, region: Region, loops: tuple[Op, ...]) -> None:
        self._clock += ROOM
        self.position[region] = self._clock
        self.loops[region] = loops
        for op in region.ops:
            self._clock += ROOM
            self.position[op] = self._clock
            self.ops.append(op)
            if op.regions:
                inside = (*loops, op) if op.prim in (LOOP, FUNC) else loops
                for inner in op.regions:
                    self._number(inner, inside)
                self._clock += ROOM
            self.end[op] = self._clock
        self._clock += ROOM
        self.end[region] = self._clock

    def _collect(self, region: Region) -> None:
        uses = self.uses
        for op in region.ops:
            for v, content in reads(op).items():
                uses.setdefault(v, []).append((op, content))
            for inner in op.regions:
                self._collect(inner)
        for v in reads(region):
            uses.setdefault(v, []).append((region, True))

    # --- changes --------------------------------------------------------------------------------------------------

    def insert(self, regions: Iterable[Region]) -> bool:
        """Give positions to the operations without regions that were inserted into these regions; whether all others
        have new positions too."""
        for region in regions:
            low = self.position[region]
            new: list[Op] = []
            for op in region.ops:
                if op not in self.position:
                    new.append(op)
                    continue
                if new and not self._spread(new, low, self.position[op]):
                    return True
                new = []
                low = self.end[op]
            if new and not self._spread(new, low, self.end[region]):
                return True
        return False

    def _spread(self, new: list[Op], low: int, high: int) -> bool:
        """Put operations between two positions; where there is no room, number everything anew."""
        step = (high - low) // (len(new) + 1)
        if step == 0:
            self.ops, self._clock = [], 0
            self._number(self.body, ())
            return False
        for k, op in enumerate(new, 1):
            self.position[op] = self.end[op] = low + k * step
        return True

    def remove(self, op: Op) -> list[Value]:
        """Forget an operation without regions; the values that it read."""
        before = list(reads(op))
        for v in before:
            self.uses[v] = [use for use in self.uses[v] if use[0] is not op]
        self.position.pop(op, None)
        self.end.pop(op, None)
        return before

    def reads_again(self, user: Op | Region, before: dict[Value, bool]) -> list[Value]:
        """Note the operands of a user after a change. `before` are those it had; returns the values that differ."""
        now = reads(user)
        differ = [v for v in {**before, **now} if before.get(v) is not now.get(v)]
        for v in differ:
            uses = self.uses.setdefault(v, [])
            if v in before:
                uses[:] = [use for use in uses if use[0] is not user]
            if v in now:
                uses.append((user, now[v]))
        return differ

    def sort_uses(self, values: Iterable[Value]) -> None:
        """Put the uses of these values into program order again."""
        for v in values:
            self.uses[v].sort(key=lambda use: self.when(use[0]))

    # --- questions ------------------------------------------------------------------------------------------------

    def when(self, user: Op | Region) -> int:
        """When a user reads: a region reads what it yields at its end."""
        return self.end[user] if isinstance(user, Region) else self.position[user]

    def defined_at(self, v: Value) -> int:
        if v.op is not None:
            return self.end[v.op]
        return -1 if v.region is self.body else self.position[v.region]  # type: ignore[index]

    def contains(self, outer: Op | Region, inner: Op | Region) -> bool:
        return self.position[outer] <= self.position[inner] and self.end[inner] <= self.end[outer]

    def parted_by(self, a: Op | Region, b: Op) -> Op | None:
        """The ``if`` on whose different sides `a` and `b` stand."""
        for region in enclosing(b.parent):
            if self.contains(region, a):
                return None
            owner = region.op
            if owner is not None and self.contains(owner, a) and owner is not a:
                return owner if owner.prim is IF else None
        return None

    def runs_again(self, v: Value, user: Op | Region, op: Op) -> bool:
        """A loop in which `v` stays the same runs both `user` and `op`."""
        where = user if isinstance(user, Region) else user.parent
        assert where is not None and op.parent is not None
        shared = self.loops[op.parent]
        if not shared:
            return False
        mine, theirs = self.loops[region_of(v)], self.loops[where]
        return any(loop in theirs and loop not in mine for loop in shared)


def reads(user: Op | Region) -> dict[Value, bool]:
    """The values that a user reads; whether it reads their content, or only their shape."""
    if isinstance(user, Region):
        return dict.fromkeys(leaves(user.exit), True)
    if not user.prim.shape_only:
        return dict.fromkeys(user.operands(), True)
    content = set(content_operands(user))
    # A store in place changes the length of a list.
    return {v: v in content or v.type.kind == "list" for v in user.operands()}


_NO_MEMORY = frozenset(["py", "generic", "scalar", "shape", "stack", "undef", "object"])


def may_share(v: Value) -> bool:
    """The value has memory that another value may share."""
    return v.type.kind not in _NO_MEMORY


__all__ = ["Order", "Use", "may_share", "reads"]
