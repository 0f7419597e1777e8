"""Lowering of ``with``.

A context manager written in Python is inlined: what it does on entry, the body, what it does on exit. What a
generator's ``yield`` stands for is the body of the ``with``. Managers of which only effects are known stay, around a
region of their own.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import sys
import types
import warnings
from typing import Any

import numpy as np

from ...errors import is_interruption
from ...ir.core import TRY, Op, Prim, Value
from ...ir.opset import EQ, ERRSTATE, TYPE_OF, gives
from ...ir.types import OBJECT, PY_BOOL
from ...live import enter_manager, leave_manager
from ..avals import Bound, Instance, Obj, Seq, is_constant
from ..exits import DEAD, NORMAL, RAISED
from ..handlers import Ctx, Node, Val, expands, lowers
from ..pseudo import choice, expanded, run, surely_exits
from ..source import source_of
from ..try_statements import Raised, class_raised, keep_arithmetic

# Their effects are over with the body, and they catch nothing. To make one has no effect, so each of the two stages of
# `transforms.stages` makes its own: none may be entered twice.
_KEPT = {
    fn: Prim(f"{fn.__module__}.{fn.__name__}", fn, infer=gives(OBJECT), params=("*args",), unique=True)
    for fn in (np.printoptions, warnings.catch_warnings)
}
_QUIET = frozenset({"ignore", "warn", "print"})
_GENERATED = contextlib.contextmanager(lambda: iter(())).__code__


def _managed(ctx: Ctx, manager: Any, item: ast.withitem, body: list[Any], stmt: ast.With) -> list[Any]:
    if type(manager) is Value and manager.op is not None and manager.op.prim is ERRSTATE:
        return _enclosed(ctx, manager, item, body, stmt)
    if type(manager) is Obj and type(manager.obj).__module__ in ("_thread", "threading"):
        return _enclosed(ctx, ctx.pinned(manager), item, body, stmt)
    if type(manager) is Instance and manager.cls is contextlib.suppress:
        classes = ctx.known_classes(ctx.attribute(manager, "_exceptions", stmt))
        if classes is None:
            ctx.fail(
                "these are not exception classes known when the program is compiled",
                stmt,
                "name the exception classes themselves",
            )
        handler = ast.copy_location(ast.ExceptHandler(None, None, []), stmt)
        return ctx.attempt(body, [handler], [classes], [], stmt)
    if getattr(manager, "cls", None) is contextlib.ExitStack:
        _unmanaged(ctx, item)
    live = ctx.is_observed(manager)
    enter: Any = None
    leave: Any = None
    if live:
        enter, leave = Obj(enter_manager, None), Obj(leave_manager, None)
    elif type(manager) in (Instance, Obj):
        enter, leave = (ctx.type_attribute(manager, name) for name in ("__enter__", "__exit__"))
    if enter is None or leave is None:
        _unmanaged(ctx, item)
    node = item.context_expr

    def begin() -> int:
        entered = ctx.call(enter, [manager], {}, node)
        if item.optional_vars is not None:
            ctx.assign(item.optional_vars, entered, item.optional_vars)
        return NORMAL

    def end(*info: Val) -> Any:
        return ctx.call(leave, [manager, *(info or (None, None, None))], {}, node)

    def ended() -> int:
        end()
        return NORMAL

    def told(error: Raised) -> list[Any]:
        def tell() -> Any:
            raised = error()
            told = _info(ctx, raised, node)
            ctx.handling.append(raised)
            try:
                return ctx.truth(end(*told[:2], None if live else TRACEBACK), node)
            finally:
                ctx.handling.pop()

        if live:  # it raises if it would end the exception
            return [run(lambda: (tell(), NORMAL)[1], node, simple=True), ctx.thrown_on(error, node)]
        step, test = ctx.step_of(tell, "told", node)
        return [step, choice(test, [], [ctx.thrown_on(error, node)], node)]

    steps = [run(ended, node, simple=True)]
    return [
        run(begin, node, simple=True),
        expanded(
            lambda: ctx.ending(body, steps, told, stmt), stmt, surely_exits(body) and (live or not may_swallow(leave))
        ),
    ]


def _unmanaged(ctx: Ctx, item: ast.withitem) -> Any:
    ctx.fail(
        "this context manager is not supported",
        item.context_expr,
        "use one that is written in Python, or do what it does outside of the differentiated function",
    )


def _enclosed(ctx: Ctx, manager: Any, item: ast.withitem, body: list[Any], stmt: ast.With) -> list[Any]:
    """The body as a region that runs inside of a manager."""
    if item.optional_vars is not None:
        ctx.fail(
            "what this context manager gives is not known when the program is compiled",
            item.optional_vars,
            "write the manager in Python, or bind the value before the `with`",
        )
    raising = False
    if type(manager) is Value and manager.op is not None and manager.op.prim is ERRSTATE:
        modes = list(manager.op.kwargs.values())
        raising = not all(mode is None or is_constant(mode) and mode in _QUIET for mode in modes)
        if any(mode in ("call", "log") for mode in modes if isinstance(mode, str)):
            ctx.fail("np.errstate that calls a function", item.context_expr, 'use "raise", and catch the error')
    region = ctx.builder.new_region()
    # What was computed under other settings is computed again.
    with ctx.builder.inside(region, alone=True):
        code = ctx.lower_block(body, False)
    if raising:
        keep_arithmetic(region)
    ctx.at(stmt)
    op = Op(TRY, ((), manager), {}, (region,), ctx.builder.loc)
    op.results = [Value(PY_BOOL, "", op), Value(OBJECT, "", op)]
    ctx.state, code = ctx.handed_out(ctx.state, code, op)
    ctx.builder.append(op)
    return [run(lambda: code, stmt, ctx.leaves(code))]


def _generator_of(ctx: Ctx, fn: Any) -> Any:
    """The function under ``@contextlib.contextmanager``, abstract; None for anything else."""
    if type(fn) is Bound:
        inner = _generator_of(ctx, fn.fn)
        return None if inner is None else Bound(inner, fn.self)
    if type(fn) is not Obj or not isinstance(fn.obj, types.FunctionType) or fn.obj.__code__ is not _GENERATED:
        return None
    wrapped = fn.obj.__wrapped__  # type: ignore[attr-defined]
    if not inspect.isgeneratorfunction(wrapped):
        return None
    return ctx.outside(wrapped, (*(fn.path or (("object", fn.obj),)), ("attr", "__wrapped__")), ctx.frame.node)


def _generated(ctx: Ctx, fn: Any, node: ast.Call, target: Any, body: list[Any], stmt: ast.With) -> Any:
    """Run the generator with the body of the ``with`` in the place of its ``yield``."""
    made = fn.fn if type(fn) is Bound else fn
    tree = source_of(made.obj, ctx.loc_of(node)).node
    if not yields_once(tree):
        ctx.fail(
            "a context manager whose generator does not surely yield once",
            node,
            "put the one `yield` outside of branches and loops, or write a class with __enter__ and __exit__",
        )
    frame = ctx.frame
    possible: frozenset[int] = frozenset({NORMAL})
    key = f"$code{id(stmt)}"
    ctx.state.envs[frame.env][key] = NORMAL

    def on_yield(value: Val) -> Any:
        nonlocal possible
        inner = ctx.frame
        ctx.frame = frame
        try:
            if target is not None:
                ctx.assign(target, value, target)
            code = ctx.lower_block(body, False)
        finally:
            ctx.frame = inner
        if code is DEAD:
            return DEAD
        # What the generator does about an exception is seen when it ends.
        kept = code
        if RAISED in ctx.possible(code):
            kept = NORMAL if isinstance(code, int) else _without_raised(ctx, code, node)
        possible |= ctx.possible(kept)
        ctx.state.envs[frame.env][key] = kept
        if RAISED not in ctx.possible(code):
            return NORMAL
        return code if isinstance(code, int) else ctx.code_where(ctx.emit(node, EQ, code, RAISED), RAISED, NORMAL, node)

    args = ctx.ev_many(node.args)
    keywords = {k.arg: ctx.ev(k.value) for k in node.keywords if k.arg is not None}
    if len(keywords) != len(node.keywords):
        ctx.fail("** in a call of a context manager", node, "write the arguments out")
    if type(fn) is Bound:
        args = [fn.self, *args]
    ctx.on_yield = on_yield
    ctx.inline_function(made, args, keywords, node)
    left, code = ctx.left, ctx.state.envs[frame.env].pop(key)
    if type(code) is Value:
        ctx.codes[code] = possible
    if RAISED not in ctx.possible(left):
        return code
    if isinstance(left, int):
        return RAISED
    return ctx.code_where(ctx.emit(node, EQ, left, RAISED), RAISED, code, node)


def _without_raised(ctx: Ctx, code: Value, node: Node) -> Val:
    """The code of a block, 0 where it has ended with an exception."""
    rest = ctx.possible(code) - {RAISED}
    left = ctx.narrowed(code, rest, {}, node)
    if type(left) is Value:
        ctx.codes[left] = rest
    return ctx.code_where(ctx.emit(node, EQ, code, RAISED), NORMAL, left, node)


@expands(ast.With)
def _with(ctx: Ctx, stmt: ast.With) -> list[Any]:
    first, *others = stmt.items
    body: list[Any] = stmt.body
    if others:
        inner: Any = ast.copy_location(ast.With(others, stmt.body), stmt)
        inner._original = (stmt,)
        body = [inner]
    node = first.context_expr
    if isinstance(node, ast.Call):
        fn = ctx.ev(node.func)
        generator = _generator_of(ctx, fn)
        if type(fn) is Obj and fn.obj in tuple(_KEPT):
            args = [ctx.operand(ctx.ev(a), a) for a in node.args]
            keywords = {k.arg: ctx.operand(ctx.ev(k.value), node) for k in node.keywords if k.arg is not None}
            manager = ctx.emit(node, _KEPT[fn.obj], *args, **keywords)
            return _enclosed(ctx, manager, first, body, stmt)
        known = type(fn) is Obj and getattr(fn.obj, "__module__", None) in ("builtins", "io", "_io")
        if known and ctx.plan.watch is None:
            _unmanaged(ctx, first)
        if generator is not None:
            leaves = surely_exits(stmt.body)
            return [run(lambda: _generated(ctx, generator, node, first.optional_vars, body, stmt), stmt, leaves)]
    return _managed(ctx, ctx.ev(node), first, body, stmt)


def _traceback() -> Any:
    try:
        raise ValueError
    except ValueError as error:
        if is_interruption(error):
            raise
        return error.__traceback__


# What stands for the traceback that an __exit__ is told: it is one, and nothing more is known of it.
TRACEBACK = Obj(_traceback(), None)


def _info(ctx: Ctx, error: Any, node: Node) -> tuple[Any, Any, Any]:
    """The class of an exception, the exception, and what stands for its traceback."""
    kind = class_raised(error)
    return ctx.emit(node, TYPE_OF, error) if kind is None else Obj(kind, None), error, TRACEBACK


@lowers(sys.exc_info, *[sys.exception] if hasattr(sys, "exception") else [])
def _exc_info(ctx: Ctx) -> Val:
    """The exception that is being handled. Outside of the handlers of the function, that is one of its callers'."""
    if not ctx.handling or _is_passed_by(ctx):
        what = f"{ctx.callee.__name__}() where no handler of the function runs"
        ctx.fail(what, ctx.node, "name the exception in its handler, except ... as error")
    info = _info(ctx, ctx.handling[-1], ctx.node)
    return Seq(info) if ctx.callee is sys.exc_info else info[1]


def _is_passed_by(ctx: Ctx) -> bool:
    """This is in a ``finally``, or called there: the exception may be one that passes by."""
    node: Any = ctx.node
    frame: Any = ctx.frame
    while frame is not None:
        line = getattr(node, "lineno", 0)
        for stmt in ast.walk(frame.node):
            if isinstance(stmt, ast.Try) and stmt.finalbody:
                if stmt.finalbody[0].lineno <= line <= (stmt.finalbody[-1].end_lineno or line):
                    return True
        node, frame = frame.call[0] if frame.call is not None else None, frame.caller
    return False


def may_swallow(leave: Any) -> bool:
    """An ``__exit__`` that may return something true."""
    if type(leave) is not Obj or not isinstance(leave.obj, types.FunctionType):
        return True
    tree = source_of(leave.obj, None).node

    def visit(node: ast.AST) -> bool:
        if isinstance(node, ast.Return):
            value = node.value
            return value is not None and not (isinstance(value, ast.Constant) and not value.value)
        if isinstance(node, (ast.FunctionDef, ast.Lambda)) and node is not tree:
            return False
        return any(map(visit, ast.iter_child_nodes(node)))

    return visit(tree)


def yields_once(tree: ast.AST) -> bool:
    """One ``yield``, reached on every way through the function that raises nothing."""
    count = sum(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in ast.walk(tree))

    def reached(stmts: list[Any]) -> bool:
        for stmt in stmts:
            value = getattr(stmt, "value", None) if isinstance(stmt, (ast.Expr, ast.Assign)) else None
            if isinstance(value, ast.Yield):
                return True
            if isinstance(stmt, (ast.Try, ast.With)) and reached(stmt.body):
                return True
            if any(isinstance(n, ast.Return) for n in ast.walk(stmt)):
                return False
        return False

    return count == 1 and reached(tree.body)  # type: ignore[attr-defined]
