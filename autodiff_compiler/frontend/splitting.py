"""Lowering what follows a branch once for each of its paths, where the plan says so."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .avals import Instance
from .core import Unreachable
from .exits import DEAD, NORMAL
from .handlers import Ctx, Node, Val, lowers
from .plan import PEEL, SPLIT, UNROLL, NoPlaceBefore

if TYPE_CHECKING:
    from .try_statements import TryStatements as Before
else:  # the parts between are imported when they are first needed, see `parts`
    from .expressions import Expressions as Before


class Bind(ast.stmt):
    """Binds a loop's target to an item that is known already."""

    def __init__(self, loop: ast.For, item: Val, check: Callable[[], None]):
        super().__init__()
        ast.copy_location(self, loop.target)
        self.loop = loop
        self.target = loop.target
        self.item = item
        self.check = check


class Continued(Exception):
    """A call was lowered with all that follows it; `code` is the exit code of that."""

    def __init__(self, code: Any):
        self.code = code


class Splitting(Before):
    # The call that is to take along what follows it, and what lowers that for the value returned.
    pending: tuple[Any, Callable[[Any], Any]] | None = None

    def planned(self, stmt: Any) -> list[Any] | None:
        """The statements to lower in place of this one, if the plan changes it."""
        if isinstance(stmt, ast.For) and self.plan.has(SPLIT, stmt):
            return _flattened(self, stmt)
        if self.plan.has(PEEL, stmt) and not self.plan.has(UNROLL, stmt) and not self.exact:
            return self.peeled(stmt)
        if not self.wanted:
            return None
        try:
            simpler: list[Any] | None = self.normalizer.statement(stmt)
            return simpler
        except NoPlaceBefore as error:
            self.plan.refuse(error.node)

    def is_split(self, stmt: ast.If, rest: list[Any]) -> bool:
        """Whether what follows is lowered in both branches."""
        if not rest or not self.plan.actions:
            return False
        if self.frame.resume is not None and any(isinstance(n, ast.Return) for n in inside([stmt], ())):
            return True
        return self.plan.has(SPLIT, stmt)

    def call_and_continue(self, stmt: ast.Assign, rest: list[Any], tail: bool) -> Any:
        """``t = f(...)`` and what follows it: that is lowered once for each path on which the function returns."""
        caller, stack, activations = self.frame, self.stack, self.activations

        def resume(av: Val) -> Any:
            saved = (self.frame, self.stack, self.activations)
            self.frame, self.stack, self.activations = caller, [*stack[:depth]], [*activations[:active]]
            try:
                with self.copy("split", stmt.value, "the call"):
                    self.assign(stmt.targets[0], av, stmt)
                    return self.lower_block(rest, tail)
            finally:
                self.frame, self.stack, self.activations = saved

        depth, active = len(stack), len(activations)
        outer, self.pending = self.pending, (stmt.value, resume)
        try:
            self.ev(stmt.value)
        except Continued as done:
            return done.code
        except Unreachable:
            return DEAD
        finally:
            self.pending = outer  # of a call in whose arguments this one stands
        return self.plan.refuse(stmt.value)

    def take_pending(self, tree: Any, node: Node) -> Callable[[Any], Any] | None:
        """What follows the call that is about to be inlined, if the function is to take it along."""
        if self.pending is None or self.pending[0] is not node:
            return None
        resume = self.pending[1]
        self.pending = None
        compound = [
            n for n in inside(getattr(tree, "body", []), ()) if hasattr(n, "body") and not isinstance(n, ast.If)
        ]
        compound += [n for n in inside(getattr(tree, "body", []), ()) if isinstance(n, ast.Match)]
        if any(isinstance(r, ast.Return) for n in compound for r in inside([n], ())):
            self.plan.refuse(node)
        return resume

    def keep_together(self, node: Node) -> None:
        """The value of this node is more than what a function returns: what follows cannot be taken along."""
        if self.pending is not None and self.pending[0] is node:
            self.plan.refuse(node)

    def continue_with(self, made: Val, node: Node) -> None:
        """What follows the construction of an object goes on with the object, not with what ``__init__`` returns."""
        if self.pending is not None and self.pending[0] is node:
            resume = self.pending[1]
            self.pending = (node, lambda _: resume(made))

    def resumed(self, stmt: ast.Return) -> Any:
        """A return from a function that takes along what follows its call."""
        frame = self.frame
        try:
            av = None if stmt.value is None else self.ev(stmt.value)
        except Unreachable:
            return DEAD
        if not frame.captured:
            self.state.envs.pop(frame.env, None)
        assert frame.resume is not None
        return frame.resume(av)


def _flattened(ctx: Splitting, stmt: ast.For) -> list[Any]:
    """The trips of a loop as one sequence of statements, so that a branch in one can be split to the end."""
    if any(isinstance(n, (ast.Break, ast.Continue)) for n in inside(stmt.body, (ast.For, ast.While))):
        ctx.plan.refuse(stmt)
    av = ctx.source_of_loop(stmt)
    if type(av) is Instance:
        return ctx.flattened_iterator(stmt, av)
    items, held = ctx.trips(stmt, av), ctx.contents(av)

    def unchanged() -> None:
        if not all(x is y for x, y in zip(held, ctx.contents(av))):
            ctx.plan.refuse(stmt)

    if items is None:
        ctx.plan.refuse(stmt)
    ctx.budget.copying += 1  # all that follows, to the end
    return [s for item in items for s in (Bind(stmt, item, unchanged), *stmt.body)] + stmt.orelse


@lowers(Bind)
def _bind(ctx: Ctx, stmt: Bind) -> int:
    stmt.check()
    with ctx.copy("unroll", stmt.loop, "the loop"):
        ctx.assign(stmt.target, stmt.item.now() if type(stmt.item) is Later else stmt.item, stmt.target)
    return NORMAL


class Later:
    """An item that is read when its trip begins."""

    def __init__(self, item: Callable[[Any], Any], index: int):
        self.item = item
        self.index = index

    def now(self) -> Any:
        return self.item(self.index)


def inside(stmts: Any, closed: tuple[type, ...]) -> Iterator[Any]:
    """The statements in these, nested ones too, but not those of functions or of the `closed` kinds. What is behind the
    ``else`` of a loop is not in the loop: a ``break`` there is one of the loop around."""
    if not isinstance(stmts, list):
        return
    for stmt in stmts:
        yield stmt
        if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, *closed)):
            yield from inside(getattr(stmt, "orelse", None), closed)
            continue
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from inside(getattr(stmt, field, None), closed)
