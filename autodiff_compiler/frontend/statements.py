"""Lowering of statements: blocks with their exit codes, branches, simple statements.

A block ends with an exit code, one of `exits`. Where two paths end differently the code is a value, and what follows is
guarded by it. Code behind an ``if`` that exits is lowered inside the branch that does not.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
import types
from collections.abc import Callable
from typing import Any, NoReturn

from ..errors import AutodiffError
from ..ir.core import CALL, Value
from ..ir.opset import ASSERT, EQ, RAISE, exception
from ..lowered import Path, is_missing
from .assignments import Assignments
from .avals import Obj
from .core import Unreachable
from .exits import BREAK, CONTINUE, DEAD, NORMAL, RETURN
from .handlers import Ctx, Node, expansion_of, handler_of_node, lowers
from .inputs import is_baked_module
from .left_out import left_out
from .pseudo import Run, surely_exits
from .state import emit_if
from .yields import yielded


class Statements(Assignments):
    def lower_block(self, stmts: list[Any], tail: bool) -> Any:
        """Lower statements in sequence; `tail`: the end of the block is the end of a loop's body."""
        k = 0
        while k < len(stmts):
            stmt = stmts[k]
            k += 1
            try:
                instead = _instead_of(self, stmt)
                if instead is not None:
                    stmts, k = [*instead, *stmts[k:]], 0
                    continue
            except Unreachable:
                return _dead_end(self, stmt)
            except AutodiffError as error:
                return left_out(self, error, stmt)
            if self.plan.actions and _takes_along(self, stmt):
                if isinstance(stmt, ast.Return):
                    return self.resumed(stmt)
                return self.call_and_continue(stmt, stmts[k:], tail)
            try:
                if isinstance(stmt, ast.If):
                    code = self.condition(stmt.test)
                else:
                    lower = handler_of_node(stmt)
                    self.at(stmt)
                    code = lower(self, stmt) if lower is not None else _unsupported(self, stmt)
            except Unreachable:
                return _dead_end(self, stmt)
            except AutodiffError as error:
                if self.is_observing():
                    return self.end_of_run(stmt)
                return left_out(self, error, stmt)
            rest = stmts[k:]
            if isinstance(stmt, ast.If):
                code, done = _lower_if(self, stmt, code, rest, tail)
                if done:
                    return code
            elif code is CONTINUE and tail and not rest:
                code = NORMAL
            if code == NORMAL and isinstance(code, int):
                continue
            if isinstance(code, int) or not rest or 0 not in self.possible(code):
                return code
            return _guard_rest(self, code, rest, tail)
        return NORMAL

    def join_paths(
        self,
        cond: Any,
        regions: Any,
        states: list[Any],
        codes: list[Any],
        second: frozenset[int] | None = None,
        start: Any = None,
        node: Node = None,
    ) -> Any:
        """Join two lowered paths and emit their ``if``; the exit code of the whole."""
        joiner = self.joiner(states[0], states[1], regions, node)
        joiner.dead = (codes[0] is DEAD, codes[1] is DEAD)
        frame = self.frame
        while frame.resume is not None and frame.caller is not None:
            frame = frame.caller  # what has returned there is the function that goes on
        if not (frame.cleanups or self.exact):
            both = [self.possible(codes[0]), second or self.possible(codes[1])]
            maybe = [c if type(c) is Value and RETURN in p else None for c, p in zip(codes, both)]
            joiner.codes = (maybe[0], maybe[1])
            joiner.returned = (both[0] == {RETURN}, both[1] == {RETURN})
        joiner.frame_env = -1 if frame.captured else frame.env
        joiner.start = start
        joiner.apart = getattr(node, "_apart", frozenset())
        self.state = joiner.run()
        possible = self.possible(codes[0]) | (second or self.possible(codes[1]))
        if joiner.dead[0] or joiner.dead[1]:
            code = codes[1] if joiner.dead[0] else codes[0]
            if type(code) is Value:
                possible = self.possible(code)
                code = joiner.leaf(code, code)
        else:
            code = joiner.leaf(codes[0], codes[1])
        if type(code) is Value:
            self.codes[code] = possible - {DEAD} or possible
        emit_if(self.builder, cond, regions[0], regions[1], joiner)
        return code

    def either(
        self,
        cond: Any,
        first: Callable[[], Any],
        second: Callable[[], Any],
        node: Node,
        possible: frozenset[int] | None = None,
        start: Any = None,
    ) -> Any:
        """Lower two paths, each of which gives its exit code; the exit code of both. See `join_paths`."""
        regions, before = (self.builder.new_region(), self.builder.new_region()), self.state
        states, codes = [], []
        for region, lower in zip(regions, (first, second)):
            with self.path(before.fork(), region):
                try:
                    codes.append(lower())
                except AutodiffError:
                    if not self.is_observing():
                        raise
                    codes.append(self.end_of_run(node))
                states.append(before.fork() if codes[-1] is DEAD else self.state)
        self.at(node)
        return self.join_paths(cond, regions, states, codes, possible, start)


def _instead_of(ctx: Statements, stmt: Any) -> list[Any] | None:
    """The statements that do the same, where this one is lowered by way of others."""
    instead = ctx.planned(stmt) if ctx.plan.actions else None
    if instead is None and ctx.exact and not _takes_along(ctx, stmt):
        instead = ctx.exactly(stmt)
    expand = expansion_of(stmt)
    if instead is None and expand is not None:
        ctx.at(stmt)
        instead = expand(ctx, stmt)
    return instead


def _takes_along(ctx: Statements, stmt: Any) -> bool:
    """A call that is lowered with what follows it, or a return from such a call: see `splitting`."""
    if isinstance(stmt, ast.Return) and ctx.frame.resume is not None:
        return True
    return bool(getattr(getattr(stmt, "value", None), "_continued", False))


def _dead_end(ctx: Statements, stmt: Any) -> int:
    """Nothing after this runs, because of what has just been lowered."""
    ops = ctx.builder.region.ops
    if ctx.recursions:
        return DEAD  # what a recursive call returns may not be known yet, and all of it is lowered again
    if ctx.exact and ops and ops[-1].prim is RAISE:
        last = ops.pop()
        for journal in ctx.journals:
            journal.forget(last)
        return ctx.throw(last.args[0], stmt, *last.args[1:])
    if not ops or not (ops[-1].regions or ops[-1].prim in (RAISE, ASSERT, CALL)):
        ctx.fail("this raises an exception where it cannot be followed", stmt, "write it in simpler steps")
    return DEAD


def _unsupported(ctx: Statements, stmt: ast.stmt) -> NoReturn:
    what = {
        "TryStar": ("try/except*", "write an `except` for each exception"),
        "ClassDef": ("a class definition inside a differentiated function", "define the class outside"),
        "AsyncFunctionDef": ("an async function", "use an ordinary function"),
        "AsyncFor": ("async for", "use an ordinary loop"),
        "AsyncWith": ("async with", ""),
    }
    name, remedy = what.get(type(stmt).__name__, (type(stmt).__name__, ""))
    ctx.fail(f"{name} is not supported", stmt, remedy)


def _guard_rest(ctx: Statements, code: Any, rest: list[Any], tail: bool) -> Any:
    """Lower what follows under ``if code == NORMAL``."""
    ctx.moved.update({id(s): s for s in rest})
    ctx.at(rest[0])
    others = ctx.codes[code] - {0}
    other = next(iter(others)) if len(others) == 1 else code
    cond = ctx.builder.emit(EQ, code, NORMAL)
    left = others if other is code else None
    return ctx.either(cond, lambda: ctx.lower_block(rest, tail), lambda: other, rest[0], left, ctx.state)


def _lower_if(ctx: Statements, stmt: ast.If, cond: Any, rest: list[Any], tail: bool) -> tuple[Any, bool]:
    """The exit code, and whether what follows was lowered inside a branch."""
    cond = ctx.facts.get(cond, cond) if isinstance(cond, Value) else cond
    if not isinstance(cond, Value):
        return ctx.lower_block([*(stmt.body if cond else stmt.orelse), *rest], tail), True
    bodies = [list(stmt.body), list(stmt.orelse)]
    exits = [surely_exits(b) for b in bodies]
    moved, split = bool(rest) and exits[0] != exits[1], False
    if moved:
        bodies[1 if exits[0] else 0] += rest
    elif ctx.is_split(stmt, rest):
        split = moved = True
        for body in bodies:
            body += rest
    if moved:
        ctx.moved.update({id(s): s for s in rest})
    tails = tail and (not rest or moved)
    regions = (ctx.builder.new_region(), ctx.builder.new_region())
    start = ctx.state
    states = []
    codes = []
    for region, body, holds in zip(regions, bodies, (True, False)):
        with ctx.path(start.fork(), region, (cond, holds)):
            if split:
                with ctx.copy("split", stmt, "the branch"):
                    codes.append(ctx.lower_block(body, tails))
            else:
                codes.append(ctx.lower_block(body, tails))
            states.append(ctx.state)
    if rest and not moved:
        falls = [0 in ctx.possible(c) for c in codes]
        if falls[0] != falls[1] and DEAD not in codes:
            side = 0 if falls[0] else 1
            with ctx.path(states[side], regions[side]):
                if isinstance(codes[side], int):
                    codes[side] = ctx.lower_block(rest, tail)
                else:
                    codes[side] = _guard_rest(ctx, codes[side], rest, tail)
                states[side] = ctx.state
            moved = True
    ctx.at(stmt)
    if codes[0] is DEAD and codes[1] is DEAD:
        joiner = ctx.joiner(start, start, regions)
        ctx.state = start
        emit_if(ctx.builder, cond, regions[0], regions[1], joiner)
        return DEAD, True
    for k in (0, 1):
        if codes[k] is DEAD:
            states[k] = start.fork()
    return ctx.join_paths(cond, regions, states, codes, None, start, stmt), moved


def _exception_of(ctx: Statements, node: ast.expr) -> Any:
    av = ctx.ev(node)
    if type(av) is Obj and isinstance(av.obj, type) and issubclass(av.obj, BaseException):
        ctx.pinned(av)
        return ctx.emit(node, exception(av.obj))
    if av is None or type(av) is Value and av.type.kind in ("object", "any"):
        return av
    if type(av) is Obj and isinstance(av.obj, BaseException):
        return ctx.pinned(av)
    ctx.fail(
        "raise of something that is not an exception class or a call of one",
        node,
        "raise an exception class, or a call of one",
    )


@lowers(Run)
def _run(ctx: Ctx, stmt: Run) -> Any:
    return stmt.run()


_CODES: dict[type, int] = {
    ast.Pass: NORMAL, ast.Global: NORMAL, ast.Nonlocal: NORMAL, ast.Break: BREAK, ast.Continue: CONTINUE,
}  # fmt: skip


@lowers(*_CODES)
def _jump(ctx: Ctx, stmt: ast.stmt) -> int:
    return _CODES[type(stmt)]


@lowers(ast.Return)
def _return(ctx: Ctx, stmt: ast.Return) -> int:
    ctx.state.envs[ctx.frame.env]["$ret"] = None if stmt.value is None else ctx.ev(stmt.value)
    return RETURN


@lowers(ast.Expr)
def _expr(ctx: Ctx, stmt: ast.Expr) -> Any:
    if isinstance(stmt.value, (ast.Yield, ast.YieldFrom)) and ctx.frame.on_yield is not None:
        return yielded(ctx, stmt)
    if not isinstance(stmt.value, ast.Constant):
        stmt.value._unused = True  # type: ignore[attr-defined]
        ctx.ev(stmt.value)
    return NORMAL


@lowers(ast.Assert)
def _assert(ctx: Ctx, stmt: ast.Assert) -> int:
    flag = ctx.truth(ctx.ev(stmt.test), stmt.test)
    if flag is True:
        return NORMAL
    if stmt.msg is None or flag is False:
        message = None if stmt.msg is None else ctx.plain(ctx.ev(stmt.msg), stmt.msg)
        ctx.emit(stmt, ASSERT, flag, message)
        return NORMAL if flag is not False else DEAD
    # The message is computed only if it is needed.
    regions = (ctx.builder.new_region(), ctx.builder.new_region())
    start = ctx.state
    with ctx.path(start.fork(), regions[1]):
        ctx.emit(stmt, ASSERT, False, ctx.plain(ctx.ev(stmt.msg), stmt.msg))
    ctx.state = start
    ctx.at(stmt)
    ctx.builder.if_(flag, regions[0], regions[1], [], [])
    return NORMAL


@lowers(ast.Raise)
def _raise(ctx: Ctx, stmt: ast.Raise) -> int:
    if stmt.exc is None:
        if not ctx.handling:
            ctx.raises(RuntimeError, "No active exception to reraise", stmt)
        return ctx.throw(ctx.handling[-1], stmt)
    error = _exception_of(ctx, stmt.exc)
    cause = [] if stmt.cause is None else [_exception_of(ctx, stmt.cause)]
    return ctx.throw(error, stmt, *cause)


@lowers(ast.FunctionDef)
def _function_def(ctx: Ctx, stmt: ast.FunctionDef) -> int:
    decorators = [ctx.ev(decorator) for decorator in stmt.decorator_list]
    fn: Any = ctx.make_closure(stmt)
    for made, decorator in zip(reversed(decorators), reversed(stmt.decorator_list)):
        fn = ctx.call(made, [fn], {}, decorator)
    ctx.bind(stmt.name, fn, stmt)
    return NORMAL


@lowers(ast.Import)
def _import(ctx: Ctx, stmt: ast.Import) -> int:
    for alias in stmt.names:
        module = _imported(ctx, alias.name, stmt)
        if alias.asname is None:
            module = _imported(ctx, alias.name.split(".")[0], stmt)
        ctx.bind(alias.asname or alias.name.split(".")[0], _module(ctx, module), stmt)
    return NORMAL


def _imported(ctx: Ctx, name: str, stmt: ast.stmt, package: str | None = None) -> types.ModuleType:
    try:
        return importlib.import_module(name, package)
    except ModuleNotFoundError as error:
        full = importlib.util.resolve_name(name, package)
        if is_missing(full):
            ctx.inputs.guard((), "missing", full)
            ctx.raises(ModuleNotFoundError, str(error), stmt)
        return _failing(ctx, error, stmt)
    except ImportError as error:
        return _failing(ctx, error, stmt)


def _failing(ctx: Ctx, error: ImportError, stmt: ast.stmt) -> NoReturn:
    """The module is there, and cannot be imported. No guard could say that this is so at a later call."""
    remedy = "try it at the top of the file, and let the function ask for what was found there"
    ctx.fail(f"this import fails here: {error}", stmt, remedy)


def _module(ctx: Ctx, module: types.ModuleType) -> Obj:
    """An imported module. Another one may be put into its place."""
    path: Path = (("object", sys), ("attr", "modules"), ("item", module.__name__))
    if is_baked_module(module) or sys.modules.get(module.__name__) is not module:
        path = (("object", module),)
    ctx.inputs.guard(path, "is", module)
    return Obj(module, path)


@lowers(ast.ImportFrom)
def _import_from(ctx: Ctx, stmt: ast.ImportFrom) -> int:
    package = ctx.frame.owner.__globals__.get("__package__") if stmt.level else None
    module = _imported(ctx, "." * stmt.level + (stmt.module or ""), stmt, package)
    for alias in stmt.names:
        found = _module(ctx, module)
        if not hasattr(module, alias.name):  # a module that is not imported yet, or nothing
            full = f"{module.__name__}.{alias.name}"
            if is_missing(full):
                ctx.inputs.guard(ctx.object_path(found), "without", alias.name)
                ctx.inputs.guard((), "missing", full)
                ctx.raises(ImportError, f"cannot import name {alias.name!r} from {module.__name__!r}", stmt)
            _imported(ctx, full, stmt)
        ctx.bind(alias.asname or alias.name, ctx.attribute(found, alias.name, stmt), stmt)
    return NORMAL
