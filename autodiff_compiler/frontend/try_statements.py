"""Lowering of ``try``.

The body becomes the region of a `TRY`, whose results are what it leaves behind if it comes to its end; an ``if`` on
that runs the else clause or the handlers. What the handlers find is what was the same wherever the body may raise. If
they read more, the plan makes the body *exact*: each of its statements is a `TRY` of its own, and the block ends there
with an exit code for an exception, so that the state is known. What runs on each way out, as a ``finally`` does, is
lowered once for each. A body that cannot raise is lowered as it stands.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from ..errors import AutodiffError, UnsupportedError
from ..ir.core import TRY, Op, Region, Value
from ..ir.opset import CAUGHT, EQ, RAISE, is_plain_exception, opaque
from ..ir.types import OBJECT, PY_BOOL, UNDEF_TY, join
from ..records import record
from .avals import Conflict, ListRef, Obj, Seq
from .exits import DEAD, NORMAL, RAISED
from .folds import proved
from .handlers import Ctx, Node, Val, expands, handler_of_node
from .journal import AFTER_TRY, MESSAGE, Journal, Unwound, computes_floats, may_raise
from .left_out import catches_all, ended
from .matching import Matching
from .plan import EXACT, UNWOUND, Action, original
from .pseudo import Computed, Expanded, Run, choice, computed, expanded, iterated_name, plain, run, surely_exits
from .state import State
from .yields import yielded


class TryStatements(Matching):
    def known_classes(self, av: Val) -> tuple[type, ...] | None:
        if type(av) is Seq:
            parts = [self.known_classes(item) for item in av.items]
            return None if None in parts else tuple([c for part in parts for c in part or ()])
        if type(av) is Obj and isinstance(av.obj, type) and issubclass(av.obj, BaseException):
            self.pinned(av)
            return (av.obj,)
        return None

    def attempt(
        self, body: list[Any], handlers: list[Any], caught: list[tuple[type, ...]], orelse: list[Any], node: Node
    ) -> list[Any]:
        """Lower the body; the statements that follow it, the handlers among them."""
        catch = tuple(dict.fromkeys(c for classes in caught for c in classes))
        if BaseException in catch:
            self.plan.catch_all.update(self.stack)

        def on_error(error: Raised, every: bool) -> list[Any]:
            return self.handlers(handlers, caught, error, every, node)

        ways = Ways(catch, lambda code: [code, *orelse], on_error)
        return _protected(self, body, ways, node, [h.type for h in handlers if h.type is not None])

    def leaves(self, code: Any) -> bool:
        return bool(NORMAL not in self.possible(code) and code is not DEAD)

    # --- handlers -----------------------------------------------------------------------------------------------

    def handlers(
        self, handlers: list[Any], caught: list[tuple[type, ...]], error: Raised, every: bool, node: Node
    ) -> list[Any]:
        """The first handler that catches this; `every`: one surely does."""
        handling: list[Any] = [] if every else [self.thrown_on(error, node)]
        for k in reversed(range(len(handlers))):
            handler = handlers[k]
            handled = [run(partial(self.handle, handler, error), handler, surely_exits(handler.body))]
            if k == len(handlers) - 1 and (every or BaseException in caught[k]):
                handling = handled
            else:
                test = computed(lambda k=k: _is_one_of(self, error(), caught[k], node), handler)  # type: ignore[misc]
                handling = [choice(test, handled, handling, handler)]
        return handling

    def handle(self, handler: ast.ExceptHandler, raised: Raised) -> Any:
        error = raised()
        self.errors.add(error)
        self.handling.append(error)
        try:
            if handler.name is not None:
                error.hint = error.hint or handler.name
                self.bind(handler.name, error, handler)
            code = self.lower_block(handler.body, False)
        finally:
            self.handling.pop()
        if handler.name is not None and code is not DEAD:
            self.state.envs[self.frame.env].pop(handler.name, None)
        return code

    def throw(self, error: Any, node: Node, *cause: Val) -> int:
        """``raise error``: an exit of the block where handlers are to know the state."""
        if not self.exact:
            self.emit(node, RAISE, error, *cause)
            return DEAD
        self.state.envs[0][PLACE] = _exception_value(self, (error, *cause), node)
        return RAISED

    def thrown_on(self, error: Raised, node: Node) -> Run:
        """The statement that raises an exception again."""
        return run(lambda: self.throw(error(), node), node, True)

    def raised(self) -> Value:
        """The exception with which the block just lowered has ended."""
        error: Value = self.state.envs[0][PLACE]
        self.errors.add(error)
        return error

    # --- exactly ------------------------------------------------------------------------------------------------

    def exactly(self, stmt: Any) -> list[Any] | None:
        """The statements that do the same, and end with the code for an exception where one may raise; None if this is
        no statement that may."""
        kind = type(stmt)
        if kind is ast.If and not plain(stmt.test) and not hasattr(stmt, "_asked"):
            return self.asked(stmt)
        if kind is ast.For and not plain(stmt.iter) and not _has_source(self, stmt):
            found = run(lambda: _find_source(self, stmt), stmt, simple=True)
            return [found, stmt]
        if kind not in _SIMPLE and not (kind is Run and stmt.simple):
            return None
        if isinstance(getattr(stmt, "value", None), (ast.Yield, ast.YieldFrom)) and self.frame.on_yield is not None:
            return [run(lambda: yielded(self, stmt), stmt)]
        if kind is ast.Assign and len(stmt.targets) > 1:
            return self.one_by_one(stmt)
        if kind is ast.Expr and isinstance(stmt.value, ast.Constant) or kind is ast.Return and stmt.value is None:
            return None
        lower = handler_of_node(stmt)
        assert lower is not None
        step = run(lambda: lower(self, stmt), stmt, kind is ast.Return)
        ways = Ways((BaseException,), lambda code: [code], lambda error, _: [self.thrown_on(error, stmt)], False)
        return _protected(self, [step], ways, None, at=stmt)

    def step_of(self, compute: Callable[[], Any], what: str, at: Any) -> tuple[Run, Computed]:
        """A value that is computed by a step of its own: the step, and the expression that takes the value."""
        name = f"${what}{at.lineno}.{at.col_offset}"

        def keep() -> int:
            self.state.envs[self.frame.env][name] = compute()
            return NORMAL

        return run(keep, at, simple=True), computed(lambda: self.state.envs[self.frame.env].pop(name), at)

    def asked(self, stmt: ast.If) -> list[Any]:
        """An ``if`` whose test is a step of its own."""
        step, test = self.step_of(lambda: self.condition(stmt.test), "if", stmt)
        made: Any = choice(test, stmt.body, stmt.orelse, stmt)
        made._original = getattr(stmt, "_original", (stmt,))
        made._asked = True
        return [step, made]

    def one_by_one(self, stmt: ast.Assign) -> list[Any]:
        """The steps of ``a[i] = b[j] = v``: an exception of the second store leaves what the first one has done."""
        name = f"$value{stmt.lineno}.{stmt.col_offset}"

        def keep() -> int:
            self.state.envs[self.frame.env][name] = self.ev(stmt.value)
            return NORMAL

        def store(target: ast.expr) -> int:
            names = self.state.envs[self.frame.env]
            self.assign(target, names.pop(name) if target is stmt.targets[-1] else names[name], stmt)
            return NORMAL

        stores = [run(partial(store, target), stmt, simple=True) for target in stmt.targets]
        return [run(keep, stmt, simple=True), *stores]

    def code_where(self, cond: Any, code: int, other: Val, node: Node) -> Val:
        """An exit code: one where a condition holds, another where it does not."""
        made = self.branch(cond, lambda: code, lambda: other, node)
        if type(made) is Value:
            self.codes[made] = frozenset({code}) | self.possible(other)
        return made

    # --- the states of the two ways out -----------------------------------------------------------------------

    @property
    def floating(self) -> bool:
        """Floating point errors may be caught further out."""
        return any(journal.floating for journal in self.journals)

    @contextmanager
    def watched(self, start: State, node: Node, floating: bool, ways: Ways | None = None) -> Iterator[Journal]:
        """Keep a journal of what is lowered, for these ways out of it; None: an exception passes by."""
        journal = Journal(start, node, floating)
        outer = [(j, len(j.points), frozenset(j.half)) for j in self.journals]
        exact = self.exact
        frame, catches, cleans = self.frame, ways is not None, ways is None or ways.cleans
        self.exact = catches and (exact or (node is not None and self.plan.has(EXACT, node)))
        self.catching += catches
        frame.cleanups += cleans
        self.journals.append(journal)
        try:
            yield journal
        finally:
            self.journals.pop()
            frame.cleanups -= cleans
            self.catching -= catches
            self.exact = exact
        if ways is not None and BaseException in ways.catch:  # nothing reaches those further out
            for j, count, half_done in outer:
                del j.points[count:]
                j.half = set(half_done)

    def handed_out(self, state: State, code: Any, op: Op) -> tuple[State, Any]:
        """The state with the results of the `TRY` in the place of what its region defines."""
        (region,) = op.regions
        found: dict[Value, Value] = {}
        dims = self.builder.dims

        def leaf(v: Value) -> Value:
            if v.op is None or v.op.parent is not region:
                return v
            if v not in found:
                found[v] = Value(join(UNDEF_TY, v.type, dims), v.hint, op)
            return found[v]

        new = state.rebuilt(lambda x: leaf(x) if type(x) is Value else x)
        if type(code) is Value:
            possible = self.codes[code]
            code = leaf(code)
            self.codes[code] = possible
        region.exit = tuple(found)
        op.results += found.values()
        return new, code

    # --- finally ----------------------------------------------------------------------------------------------

    def ending(self, body: list[Any], normal: list[Any], error: Callable[[Raised], list[Any]], node: Node) -> list[Any]:
        """The body, and what runs on each way out of it: `normal`, or what `error` gives, which ends it."""
        if self.catching or self.plan.has(UNWOUND, node):
            ways = Ways((BaseException,), lambda code: [*normal, code], lambda e, every: error(e), False, True)
            return _protected(self, body, ways, node)
        leaves = surely_exits(normal) or surely_exits(body)
        return [run(lambda: _unwatched(self, body, normal, error, node), node, leaves)]


def _exception_classes(ctx: TryStatements, handler: ast.ExceptHandler) -> tuple[type, ...]:
    if handler.type is None:
        return (BaseException,)
    found = ctx.known_classes(ctx.ev(handler.type))
    if found is None:
        ctx.fail(
            "this is not an exception class known when the program is compiled",
            handler.type,
            "name the exception class itself",
        )
    return found


def _protected(
    ctx: TryStatements, body: list[Any], ways: Ways, stmt: Any, classes: list[ast.expr] | None = None, at: Any = None
) -> list[Any]:
    """Lower the body; the statements that follow it on each way out. `stmt`: the user's statement that it is of."""
    node = at if stmt is None else stmt
    start, builder = ctx.state, ctx.builder
    region = builder.new_region()
    floating = any(issubclass(FloatingPointError, c) for c in ways.catch) if ways.floating else ctx.floating
    with ctx.watched(start, stmt, floating, ways) as journal, ctx.path(start.fork(), region):
        code = ctx.lower_block(body, False)
        done = ctx.state
    early = [cell for cell, content in journal.listed.items() if start.heap.get(cell) is content]
    if early:
        # What puts a list otherwise changes nothing. It is done before the body, so that a handler knows the list.
        ctx.state = start
        for cell in early:
            ctx.made_columns(ListRef(cell), node)
        return _protected(ctx, body, ways, stmt, classes, at)
    if floating:
        keep_arithmetic(region)
    before, last = region.ops[:-1], region.ops[-1] if region.ops else None
    if code is DEAD and last is not None and last.prim is RAISE and not any(may_raise(op, floating) for op in before):
        # It surely raises here, and nowhere else.
        done = next((state for op, state in journal.points if op is last), done)
        _move_out(ctx, region, len(before))
        ctx.state = done.fork()
        ctx.state.envs[0][PLACE] = _exception_value(ctx, last.args, node)
        return _behind(ctx, RAISED, ways, node)
    if not any(map(may_raise, region.ops)):
        _move_out(ctx, region, len(region.ops))
        ctx.state = done
        return _behind(ctx, code, ways, node)
    raised, needed = journal.interrupted(region, ctx.inputs.initial)
    raised.envs[0].pop(PLACE, None)
    _move_out(ctx, region, needed)
    for cell, others in done.links.items():
        for other in others:
            raised.link(cell, other)
    for name in [n for part in classes or () for n in ast.walk(part) if isinstance(n, ast.Name)]:
        found = raised.envs.get(ctx.frame.env, {}).get(name.id)
        if type(found) is Conflict and type(found.origin) is Unwound:
            ctx.fail(f"{name.id!r} {MESSAGE}", name, AFTER_TRY, cause=found)
    ctx.at(node)
    op = Op(TRY, (ways.catch, None), {}, (region,), builder.loc)
    op.results = [Value(PY_BOOL, "", op), Value(OBJECT, "", op)]
    completed, error = op.results
    ctx.errors.add(error)
    ctx.state, code = ctx.handed_out(done, code, op)
    builder.append(op)

    def enter() -> int:
        ctx.state = raised.fork()
        return NORMAL

    leaves = ctx.leaves(code) and RAISED not in ctx.possible(code)
    after = expanded(lambda: _behind(ctx, code, ways, node), node, leaves)
    handling = [run(enter, node), *ways.error(lambda: error, True)]
    why = ctx.plan.unhandled.get(original(stmt)) if stmt is not None else None
    if why is not None:
        if catches_all(ctx):
            raise why
        handling = [run(lambda: ended(ctx, why, node), node, True)]
    cond = completed if code is not DEAD else False
    return [choice(computed(lambda: cond, node), [after], handling, node)]


def _move_out(ctx: TryStatements, region: Region, count: int) -> None:
    """The first operations of a region are done in the present one."""
    moved, region.ops[:count] = region.ops[:count], []
    for op in moved:
        op.parent = ctx.builder.region
    ctx.builder.region.ops += moved


def _behind(ctx: TryStatements, code: Any, ways: Ways, node: Node) -> list[Any]:
    """The statements that follow a body which ended with this code."""
    possible = ctx.possible(code)
    if RAISED not in possible:
        return ways.normal(run(lambda: code, node, ctx.leaves(code)))
    if possible == {RAISED}:
        return _after_raise(ctx, ways, node)
    rest = possible - {RAISED}

    def others() -> list[Any]:
        left = ctx.narrowed(code, rest, {}, node)
        if type(left) is Value:
            ctx.codes[left] = rest
        return ways.normal(run(lambda: left, node, ctx.leaves(left)))

    test = computed(lambda: ctx.emit(node, EQ, code, RAISED), node)
    return [choice(test, _after_raise(ctx, ways, node), [expanded(others, node)], node)]


def _after_raise(ctx: TryStatements, ways: Ways, node: Node) -> list[Any]:
    """What follows where a block has ended with an exception; what it does may raise, and catch, another."""
    errors: list[Any] = []

    def take() -> int:
        errors[:] = [ctx.raised()]
        return NORMAL

    return [run(take, node), *ways.error(lambda: errors[0], False)]


def _is_one_of(ctx: TryStatements, error: Any, classes: tuple[type, ...], node: Node) -> Any:
    cls = class_raised(error)
    if cls is not None:
        return proved("class", issubclass(cls, classes))
    return ctx.emit(node, opaque(isinstance, "isinstance"), error, classes if len(classes) > 1 else classes[0])


def _exception_value(ctx: TryStatements, args: tuple[Any, ...], node: Node) -> Value:
    """The exception that ``raise`` raises with these operands."""
    (error, *cause) = args
    if type(error) is not Value or cause or (error not in ctx.errors and class_raised(error) is None):
        error = ctx.emit(node, CAUGHT, error, *cause)
    ctx.errors.add(error)
    return error  # type: ignore[no-any-return]


def _find_source(ctx: TryStatements, stmt: ast.For) -> int:
    """What a ``for`` runs over, as a step of its own."""
    ctx.state.envs[ctx.frame.env][iterated_name(stmt)] = ctx.told(stmt, ctx.ev_iter(stmt.iter))
    return NORMAL


def _has_source(ctx: TryStatements, stmt: ast.For) -> bool:
    return iterated_name(stmt) in ctx.state.envs[ctx.frame.env]


def _unwatched(
    ctx: TryStatements, body: list[Any], normal: list[Any], error: Callable[[Raised], list[Any]], node: Node
) -> Any:
    """Where nobody catches what is raised: what runs when an exception passes by matters if it is seen outside, or
    ends the exception."""
    with ctx.watched(ctx.state.fork(), node, ctx.floating) as journal:
        code = ctx.lower_block(body, False)
    if journal.points:
        state, made = ctx.state, _matters(ctx, journal, error, node)
        if made is not None:
            ctx.plan.require([Action(UNWOUND, original(node))], made)
            raise made
        ctx.state = state
    if code is DEAD:
        return DEAD
    return ctx.lower_block([*normal, run(lambda: code, node, ctx.leaves(code))], False)


def _matters(
    ctx: TryStatements, journal: Journal, error: Callable[[Raised], list[Any]], node: Node
) -> AutodiffError | None:
    """None if what runs when an exception passes by may be left out, as nobody would see it."""
    raised, _ = journal.interrupted(None, ctx.inputs.initial)
    attempt = Op(TRY, ((BaseException,), None), {}, (), ctx.builder.loc)
    value = Value(OBJECT, "", attempt)
    region = ctx.builder.new_region()
    error_of = UnsupportedError(
        "what is done here when an exception passes by cannot be compiled", ctx.loc_of(node), "catch it here"
    )
    journals, ctx.journals = ctx.journals, []
    demanding, ctx.plan.demanding = ctx.plan.demanding, False
    try:
        with ctx.path(raised, region):
            code = ctx.lower_block(error(lambda: value), False)
    except AutodiffError as found:
        # It reads what is not known there: exactly lowered it may be.
        outside = ctx.frame.scope.globals | ctx.frame.scope.nonlocals
        *steps, last = error(lambda: value)
        unseen = type(last) is Run and last.exits and all(is_arithmetic(s, outside) for s in steps)
        return None if unseen else found
    finally:
        ctx.journals, ctx.plan.demanding = journals, demanding
    passes = [op for op in region.ops if op.prim is RAISE and op.args == (value,)]
    if code is not DEAD or len(passes) != 1 or any(may_raise(op) for op in region.ops if op not in passes):
        return error_of
    return None


@expands(ast.Try)
def _try(ctx: Ctx, stmt: ast.Try) -> list[Any]:
    if stmt.finalbody:
        passing = lambda error: [*stmt.finalbody, ctx.thrown_on(error, stmt)]
        return ctx.ending([bare(stmt)] if stmt.handlers else stmt.body, stmt.finalbody, passing, stmt)
    caught = [_exception_classes(ctx, handler) for handler in stmt.handlers]
    return ctx.attempt(stmt.body, stmt.handlers, caught, stmt.orelse, stmt)


@expands(Expanded)
def _expanded(ctx: Ctx, stmt: Expanded) -> list[Any]:
    return stmt.expand()


def is_arithmetic(stmt: Any, outside: Any) -> bool:
    """A statement that only computes with names and binds local ones: when the function is left nobody sees it."""
    if not isinstance(stmt, (ast.Assign, ast.AugAssign)):
        return False
    targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
    local = all(isinstance(t, ast.Name) and t.id not in outside for t in targets)
    return local and all(isinstance(n, _ARITHMETIC) for n in ast.walk(stmt.value))


_ARITHMETIC = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context)
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.Assert, ast.Raise, ast.Delete)
# Where the exception is with which a block has ended.
PLACE = "$raised"
Raised = Callable[[], Any]


@record
class Ways:
    """The ways out of a body: what follows its own exit, and what follows an exception of one of these classes.

    floating: floating point errors are caught here, and not only on their way to a handler further out; cleans: what
    follows an exit runs also when the function has returned.
    """

    catch: tuple[type, ...]
    normal: Callable[[Run], list[Any]]
    error: Callable[[Raised, bool], list[Any]]
    floating: bool = True
    cleans: bool = False


def class_raised(error: Any) -> type | None:
    """The class of an exception, if it is known."""
    if type(error) is Value:
        made: Any = error.op.prim.fn if error.op is not None else None
        if isinstance(made, type) and issubclass(made, BaseException) and is_plain_exception(made):
            return made
        return None
    return type(error) if isinstance(error, BaseException) else None


def bare(stmt: ast.Try) -> ast.Try:
    """The statement without its finally clause."""
    made: Any = ast.copy_location(ast.Try(stmt.body, stmt.handlers, stmt.orelse, []), stmt)
    made._original = (stmt,)
    return made  # type: ignore[no-any-return]


def keep_arithmetic(region: Region) -> None:
    """Where a floating point error may be caught, what computes floats is kept even if nothing reads it."""
    for op in region.walk():
        op.checks = op.checks or computes_floats(op)
