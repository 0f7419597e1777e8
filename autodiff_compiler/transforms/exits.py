"""Exit codes: one code says how a loop was left, and every branch behind the loop asks for that.

Takes a function. Gives the same function, in which each way out of a loop has a code of its own, and in which a branch
on what was computed of a code is one on the code. What follows from a branch around it is not asked again. So the
backward sweep asks the same as the forward sweep, and which ``return`` it was does not have to be saved.

>>> from autodiff_compiler.api.stages import show
>>> def f(x):
...     while True:
...         x = x * 2.0
...         if x > 9.0:
...             return x
...         if x < 0.0:
...             break
...     return -x
>>> show(f, 1.0)  # the code of ``break`` becomes 0, and the rest runs if it is 0
func f(%x: float) {
  %x3: float, %v2: float, %trips: int, %code: int = loop %i: int in forever with (%x2: float = %x, %v1: float = undef) {
    %x4: float = * %x2, 2.0
    %v3: bool = > %x4, 9.0
    %v4: float, %v5: int = if %v3 {
      yield %x4, 3
    } else {
      %v6: bool = < %x4, 0.0
      %v7: int = if %v6 {
        yield 1
      } else {
        yield 0
      }
      yield undef, %v7
    }
    yield %v5, %x4, %v4
  }
  %v8: bool = == %code, 1
  %v9: int = if %v8 {
    yield 0
  } else {
    yield %code
  }
  %v10: bool = == %v9, 0
  %v11: float = if %v10 {
    %v12: float = - %x3
    yield %v12
  } else {
    yield %v2
  }
  return %v11
}
>>> show(f, 1.0, after="exits")
func f(%x: float) {
  %x3: float, %v2: float, %trips: int, %code: int = loop %i: int in forever with (%x2: float = %x, %v1: float = undef) {
    %x4: float = * %x2, 2.0
    %v3: bool = > %x4, 9.0
    %v4: float, %v5: int = if %v3 {
      yield %x4, 3
    } else {
      %v6: bool = < %x4, 0.0
      %v7: int = if %v6 {
        yield 1
      } else {
        yield 0
      }
      yield undef, %v7
    }
    yield %v5, %x4, %v4
  }
  %v8: bool = == %code, 3
  %v9: float = if %v8 {
    yield %v2
  } else {
    %v10: float = - %x3
    yield %v10
  }
  return %v9
}
"""

from __future__ import annotations

from typing import Any

from ..analysis.exits import TESTS, codes_of, one_of
from ..ir.core import IF, LOOP, Builder, Function, Op, Region, Value
from ..ir.rewrite import clone_function, collect_uses, replace_values
from ..records import record
from .simplify import fold_control


def one_code(fn: Function) -> Function:
    """A copy in which branches ask how a loop was left by its code, which is another one for each way out."""
    copy = clone_function(fn)[0]
    _Codes(copy).run()
    return copy


@record
class Test:
    """A branch that a code decides: the codes that lead to its first and to its second region."""

    branch: Op
    some: list[int]
    others: list[int]


class _Codes:
    def __init__(self, fn: Function):
        self.fn = fn

    def run(self) -> None:
        self.ask_directly()
        tests = self.collected()
        uses = collect_uses(self.fn.body)
        for op in list(self.fn.body.walk()):
            if op.prim is LOOP and self.only_asked(op, tests, uses):
                ways = _numbered(op)
                if ways is not None:
                    self.ask(op, tests.get(op.exit_code, []), ways)

    def ask_directly(self) -> None:
        """Have branches ask for the code itself, not for what is computed of it."""
        for code, tests in self.collected().items():
            assert code.op is not None
            self.ask(code.op, tests, {})
        replace_values(self.fn.body, fold_control(self.fn.body))
        while self.drop_unread(collect_uses(self.fn.body)):
            pass

    def drop_unread(self, uses: dict[Value, list[Op | Region]]) -> bool:
        """Remove what was computed of codes, and is not read any more."""
        found = False
        for op in list(self.fn.body.walk()):
            if op.prim is LOOP or len(op.results) != 1 or uses.get(op.result) or self.origin(op.result) is None:
                continue
            if op.parent is not None and not any(region.ops for region in op.regions):
                op.parent.ops.remove(op)
                found = True
        return found

    # --- which codes lead to which side ---------------------------------------------------------------------------

    def collected(self) -> dict[Value, list[Test]]:
        """The branches that only the code of a loop decides, by that code."""
        found: dict[Value, list[Test]] = {}
        for op in list(self.fn.body.walk()):
            if op.prim is not IF or op.parent is None:
                continue
            code = self.origin(op.condition)
            codes = codes_of(code, op.parent) if code is not None else None
            if code is None or codes is None:
                continue
            sides: tuple[list[int], list[int]] = ([], [])
            for c in sorted(codes):
                sides[0 if self.at(op.condition, c) else 1].append(c)
            found.setdefault(code, []).append(Test(op, *sides))
        return found

    def origin(self, v: Any) -> Value | None:
        """The code of the one loop of which a value is computed, and of nothing else."""
        op = v.op if type(v) is Value else None
        if op is None:
            return None
        if op.prim is LOOP:
            return v if v is op.exit_code else None
        if op.prim in TESTS:
            return self.origin(op.args[0]) if type(op.args[1]) is int else None
        if op.prim is not IF:
            return None
        found = self.origin(op.condition)
        for region in op.regions:
            x = region.exit[op.results.index(v)]
            if not isinstance(x, int) and (type(x) is not Value or self.origin(x) is not found):
                return None
        return found

    def at(self, v: Any, code: int) -> Any:
        """What a value is where the loop was left by this code."""
        if type(v) is not Value:
            return v
        op = v.op
        assert op is not None
        if op.prim is LOOP:
            return code
        if op.prim is IF:
            side = op.regions[0 if self.at(op.condition, code) else 1]
            return self.at(side.exit[op.results.index(v)], code)
        return op.prim.fn(self.at(op.args[0], code), op.args[1])  # type: ignore[misc]

    # --- a code for each way out ----------------------------------------------------------------------------------

    def only_asked(self, loop: Op, tests: dict[Value, list[Test]], uses: dict[Value, list[Op | Region]]) -> bool:
        """All that reads the code of a loop are conditions of branches."""
        branches = {test.branch for test in tests.get(loop.exit_code, ())}
        for user in uses.get(loop.exit_code, ()):
            if isinstance(user, Region) or user.prim not in TESTS:
                return False
            if not all(isinstance(x, Op) and x in branches for x in uses.get(user.result, ())):
                return False
        return True

    def ask(self, loop: Op, tests: list[Test], ways: dict[int, list[int]]) -> None:
        """Put one condition for each question behind the loop, and have all branches that ask it read that.

        ways: the new codes for an old one
        """
        assert loop.parent is not None
        scratch = Region(loop.parent.dims)
        builder = Builder(scratch)
        builder.loc = loop.loc
        for test in tests:
            branch = test.branch
            if not test.some or not test.others:
                branch.args = (bool(test.some),)
                continue
            here, there = ([c for old in side for c in ways.get(old, [old])] for side in (test.some, test.others))
            cond, holds = one_of(builder, loop.exit_code, here, there)
            branch.args = (cond,)
            if not holds:
                branch.regions = branch.regions[::-1]
        place = loop.parent.ops.index(loop) + 1
        for made in scratch.ops:
            made.parent = loop.parent
        loop.parent.ops[place:place] = scratch.ops


def _numbered(loop: Op) -> dict[int, list[int]] | None:
    """Give each way out of a loop a code of its own, in the order of the codes. The new codes for each old one; None if
    every way has one."""
    ends: dict[int, list[tuple[Region, int]]] = {}
    if not _ends(loop.regions[0], 0, ends) or all(len(ways) == 1 for code, ways in ends.items() if code != 0):
        return None
    new: dict[int, list[int]] = {}
    last = 0
    for old in sorted(code for code in ends if code != 0):
        new[old] = []
        for region, at in ends[old]:
            last = max(old, last + 1)
            new[old].append(last)
            region.exit = (*region.exit[:at], last, *region.exit[at + 1 :])
    return new


def _ends(region: Region, at: int, found: dict[int, list[tuple[Region, int]]]) -> bool:
    """The regions that yield an exit code as a number, and at which place; False if some yield one that is computed."""
    code = region.exit[at]
    if isinstance(code, int):
        found.setdefault(int(code), []).append((region, at))
        return True
    op = code.op if type(code) is Value else None
    if op is None or op.prim is not IF or op.parent is not region:
        return False
    return all(_ends(side, op.results.index(code), found) for side in op.regions)


__all__ = ["one_code"]
