"""Lowering of ``try``.

The body becomes the region of a `TRY`, whose results are what it leaves behind if it comes to its end; an ``if`` on
that runs the else clause or the handlers. What an exception leaves half done is not known to the handlers: names and
arrays that the body may have changed where it may raise must not be read there. A body that cannot raise is lowered as
it stands.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from ..ir.core import TRY, Op, Region, Value, map_leaves
from ..ir.opset import opaque
from ..ir.types import OBJECT, PY_BOOL, UNDEF_TY, join
from .avals import (
    MISSING,
    Closure,
    Conflict,
    Interrupted,
    Maybe,
    Obj,
    Ref,
    Seq,
    is_composite,
    is_constant,
    parts_of,
    same,
    with_parts,
)
from .core import AFTER_TRY, DEAD, NORMAL, Journal, may_raise
from .matching import Matching
from .pseudo import choice, computed, run, surely_exits
from .state import State

_MESSAGE = "may or may not have been changed by the body of the `try` before the exception was raised"


class Tries(Matching):
    def as_Try(self, stmt: ast.Try) -> list[Any]:
        if stmt.finalbody:
            return [run(lambda: self.finally_(stmt), stmt, surely_exits(stmt.finalbody) or surely_exits([bare(stmt)]))]
        caught = []
        for handler in stmt.handlers:
            caught.append(self.exception_classes(handler))
        return self.attempt(stmt.body, stmt.handlers, caught, stmt.orelse, stmt)

    def exception_classes(self, handler: ast.ExceptHandler) -> tuple[type, ...]:
        if handler.type is None:
            return (BaseException,)
        found = self.known_classes(self.ev(handler.type))
        if found is None:
            self.fail(
                "this is not an exception class known when the program is compiled",
                handler.type,
                "name the exception class itself",
            )
        return found

    def known_classes(self, av: Any) -> tuple[type, ...] | None:
        if type(av) is Seq:
            parts = [self.known_classes(item) for item in av.items]
            return None if None in parts else tuple([c for part in parts for c in part or ()])
        if type(av) is Obj and isinstance(av.obj, type) and issubclass(av.obj, BaseException):
            self.pinned(av)
            return (av.obj,)
        return None

    def attempt(
        self,
        body: list[Any],
        handlers: list[Any],
        caught: list[tuple[type, ...]],
        orelse: list[Any],
        node: Any,
    ) -> list[Any]:
        """Lower the body; the statements that follow it, the handlers among them."""
        start = self.state
        region = self.builder.new_region()
        catch = tuple(dict.fromkeys(c for classes in caught for c in classes))
        floating = any(issubclass(FloatingPointError, c) for c in catch)
        with self.journal(start, floating) as journal, self.path(start.fork(), region):
            code = self.lower_block(body, False)
            done = self.state
        if floating:
            keep_arithmetic(region)
        if not any(map(may_raise, region.ops)):
            for op in region.ops:
                op.parent = self.builder.region
            self.builder.region.ops += region.ops
            self.state = done
            return [run(lambda: code, node, is_exit(code)), *orelse]
        for handler in handlers:
            if handler.type is not None:
                for name in [n for n in ast.walk(handler.type) if isinstance(n, ast.Name)]:
                    if any((self.frame.env, name.id) in changed for changed in journal.names):
                        self.fail(f"{name.id!r} {_MESSAGE}", name, AFTER_TRY)
        self.at(node)
        op = Op(TRY, (catch, None), {}, (region,), self.builder.loc)
        op.results = [Value(PY_BOOL, "", op), Value(OBJECT, "", op)]
        completed, error = op.results
        raised = self.interrupted(start, done, journal)
        self.state, code = self.handed_out(done, code, op)
        self.builder.append(op)
        after = [run(lambda: code, node, is_exit(code)), *orelse]

        def enter() -> int:
            self.state = raised.fork()
            return NORMAL

        handling: list[Any] = []
        for k in reversed(range(len(handlers))):
            handler = handlers[k]
            handled = [run(partial(self.handle, handler, error), handler, surely_exits(handler.body))]
            if k == len(handlers) - 1:
                handling = handled
            else:
                test = computed(partial(self.is_one_of, error, caught[k], node), handler)
                handling = [choice(test, handled, handling, handler)]
        cond = completed if code is not DEAD else False
        return [choice(computed(lambda: cond, node), after, [run(enter, node), *handling], node)]

    def is_one_of(self, error: Value, classes: tuple[type, ...], node: Any) -> Any:
        return self.emit(node, opaque(isinstance, "isinstance"), error, classes if len(classes) > 1 else classes[0])

    def handle(self, handler: ast.ExceptHandler, error: Value) -> Any:
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

    # --- the states of the two ways out -----------------------------------------------------------------------

    @contextmanager
    def journal(self, start: State, floating: bool) -> Iterator[Journal]:
        journal = Journal(start, floating)
        self.journals.append(journal)
        try:
            yield journal
        finally:
            self.journals.pop()

    def interrupted(self, start: State, done: State, journal: Journal) -> State:
        """What is known when an operation of the body has raised."""
        out = start.fork()
        for key in {key for changed in journal.names for key in changed}:
            env, name = key
            before = start.envs[env].get(name, MISSING)
            found = [changed.get(key, before) for changed in journal.names]
            if is_constant(found[0]) and all(x is not MISSING and same(x, found[0]) for x in found):
                out.envs[env][name] = found[0]
            else:
                out.envs[env][name] = Conflict(_MESSAGE, remedy=AFTER_TRY)
        for cell in journal.cells:
            out.heap[cell] = Interrupted(None, _MESSAGE)
        for cell, others in done.links.items():
            for other in others:
                out.link(cell, other)
        return out

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

        def out(av: Any) -> Any:
            if type(av) is Value:
                return leaf(av)
            if type(av) is Ref:
                return Ref(av.cell, map_leaves(leaf, av.path)) if av.path else av
            if type(av) is Maybe:
                return Maybe(out(av.av), out(av.flag))
            if is_composite(av):
                parts = parts_of(av)
                new = [out(p) for p in parts]
                if any(x is not y for x, y in zip(parts, new)):
                    av = with_parts(av, new)
            if type(av) is Closure and av.kwdefaults:
                keywords = tuple([(k, out(v)) for k, v in av.kwdefaults])
                return Closure(av.node, av.env, av.owner, av.defaults, keywords, av.file)
            return av

        new = State(links=dict(state.links), causes=dict(state.causes))
        for env, names in state.envs.items():
            new.envs[env] = {name: out(av) for name, av in names.items()}
        for cell, content in state.heap.items():
            new.heap[cell] = out(content)
        if type(code) is Value:
            possible = self.codes[code]
            code = leaf(code)
            self.codes[code] = possible
        region.exit = tuple(found)
        op.results += found.values()
        return new, code

    # --- finally ----------------------------------------------------------------------------------------------

    def finally_(self, stmt: ast.Try) -> Any:
        """The clause runs on each way out. An exception passes by: what it would change here is seen by nobody."""
        code = self.lower_block([bare(stmt)] if stmt.handlers else stmt.body, False)
        if code is DEAD:
            if may_exit(stmt.finalbody):
                self.fail("a `finally` that swallows an exception", stmt, "catch it with `except`")
            return DEAD
        if may_exit(stmt.finalbody):
            self.fail("a `finally` that returns, breaks or continues", stmt, "leave after the `try`")
        end = self.lower_block(stmt.finalbody, False)
        return DEAD if end is DEAD else code


def bare(stmt: ast.Try) -> ast.Try:
    """The statement without its finally clause."""
    return ast.copy_location(ast.Try(stmt.body, stmt.handlers, stmt.orelse, []), stmt)


def may_exit(stmts: list[Any]) -> bool:
    """A return, break or continue that leaves these statements."""

    def visit(node: Any, in_loop: bool) -> bool:
        if isinstance(node, ast.Return) or (isinstance(node, (ast.Break, ast.Continue)) and not in_loop):
            return True
        if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            return False
        inner = in_loop or isinstance(node, (ast.For, ast.While))
        return any(visit(child, inner) for child in ast.iter_child_nodes(node))

    return any(visit(stmt, False) for stmt in stmts)


def is_exit(code: Any) -> bool:
    return isinstance(code, int) and code not in (NORMAL, DEAD)


def keep_arithmetic(region: Region) -> None:
    """Where a floating point error may be caught, what computes floats is kept even if nothing reads it."""
    for op in region.walk():
        if op.tag != "derived" and op.prim.alias == "fresh" and any(r.type.may_be_float for r in op.results):
            op.checks = op.checks or op.prim.elementwise or not op.prim.unique
