"""Generator functions.

A call of one binds the parameters and runs nothing. What goes through it to its end, or leaves it at a `yield` for
good, is put in the place of each `yield`: ``for x in g(a): BODY`` is the body of `g`, in which a `yield` binds `x` and
runs BODY. A `break` or `return` in BODY leaves `g`, as a `return` of its own would, and its `finally` clauses run. What
asks for items one by one runs the body up to the next `yield`, statement by statement, and keeps those that are left.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from ..ir.core import Value
from ..ir.opset import EQ
from ..records import replaced
from .avals import Closure, IndexedOf, Instance, RangeOf, Ref, Seq, StreamOf, is_iterator
from .calls import body_of
from .core import Unreachable
from .exits import BREAK, CONTINUE, DEAD, NORMAL, RAISED, RETURN
from .frames import Frame
from .handlers import Node, Val
from .pseudo import choice, computed, iterated_name, run
from .pulls import Pulls
from .remains import PARTLY, TOGETHER, in_step
from .scopes import nodes_of, scope_of
from .source import source_of
from .yields import Waiting, below, delegated, own_nodes, sent, waiting, yields


class Generators(Pulls):
    # --- all of it at once ----------------------------------------------------------------------------------------

    def run_body(
        self, it: Instance, body: Callable[[Any], Any], node: Any, at: Any = None, partly: bool = False
    ) -> Any:
        """The generator with ``body(item)`` at each `yield`; the exit code with which the last body has left it.

        at: the expression that the loop goes through; partly: the body may leave before the generator's end.
        """
        source = self.body_in(it)
        assert source is not None
        tree = self.tree_of(source)
        cleans = any(type(n) is ast.Try and n.finalbody and yields(n) for n in own_nodes(tree))
        if cleans and (partly or self.journals) and source.node is not at:
            self.fail(
                f"{tree.name!r} has a `finally` clause, and when this generator is closed is not known",
                at or node,
                f"loop over the call itself: for ... in {tree.name}(...)",
            )
        self.check_yields(tree, at or node)
        caller = self.frame
        key = f"$left{len(self.stack)}"
        possible: frozenset[int] = frozenset({NORMAL})
        self.state.envs[caller.env][key] = NORMAL

        def on_yield(value: Val) -> Any:
            nonlocal possible
            inner, self.frame = self.frame, caller
            caller.cleanups += 1  # what the body leaves with is read when the generator has ended
            try:
                code = body(value)
                if code is DEAD:
                    return DEAD
                code = self.map_code(code, {CONTINUE: NORMAL}, node)
            finally:
                caller.cleanups -= 1
                self.frame = inner
            self.state.envs[caller.env][key] = code
            self.state.envs[inner.env]["$ret"] = None
            possible |= self.possible(code)
            return self.map_code(code, {BREAK: RETURN}, node)

        self.advance(it, PARTLY, 0, node)
        left = self.lowered_body(source, on_yield, node)
        code = self.state.envs[caller.env].pop(key)
        if type(code) is Value:
            self.codes[code] = possible
        if possible <= {NORMAL, RAISED}:
            self.advance(it, Seq(()), 0, node)
        if RAISED not in self.possible(left):
            return code
        if isinstance(left, int):
            return RAISED
        return self.code_where(self.emit(node, EQ, left, RAISED), RAISED, code, node)

    def check_yields(self, tree: Any, node: Any) -> None:
        """Refuse where it matters that a loop's body does not run inside of the generator."""
        for n in own_nodes(tree):
            what = ""
            if isinstance(n, (ast.With, ast.AsyncWith)) and yields(n):
                what = "`with`"
            elif type(n) is ast.Try and n.handlers and yields(n):
                what = "`try` with `except`"
            elif type(n) is ast.Try and any(map(yields, n.finalbody)):
                what = "`finally`"
            if type(n) is ast.Raise and any(getattr(x, "id", "") == "StopIteration" for x in below(n)):
                self.fail("a generator that raises StopIteration", node, "return, which ends it")
            if type(n) is ast.Call and self.journals and getattr(n.func, "id", "") == "next" and len(n.args) == 1:
                self.fail("a generator that calls next() inside of a `try`", node, "give next() a default")
            if what:
                self.fail(
                    f"the generator {getattr(tree, 'name', '<lambda>')!r} yields inside of a {what} statement "
                    f"(line {n.lineno})",
                    node,
                    "yield after it, or return a list",
                )

    def lowered_body(self, source: StreamOf, on_yield: Callable[[Any], Any], node: Any) -> Any:
        """Lower what a generator has still to run; the exit code at its end."""
        if source.kind == "body":
            fn, names, *values = source.its
            self.on_yield = on_yield
            self.activate(fn, dict(zip(names.items, values)), node)
            return self.left
        frame = self.frames[source.env]
        steps = list(source.node)
        inside = next((k for k in reversed(range(len(steps))) if type(steps[k]) is Waiting), 0)
        if any(isinstance(n, (ast.Break, ast.Continue)) for step in steps[:inside] for n in below(step)):
            self.fail(
                f"a loop over the rest of {frame.name!r}, which waits in a loop that `break` or `continue` ends",
                node,
                "loop over all of it, and treat the first items in the loop",
            )
        stmts = [step.loop if type(step) is Waiting else step for step in steps]
        before, caller = (frame.on_yield, frame.consumer, frame.caller), self.frame
        frame.on_yield, frame.consumer, frame.caller = on_yield, caller, caller
        frame.cleanups += 1
        self.stack.append(frame.node)
        try:
            code = self.within(frame, lambda: self.lower_block(stmts, False))
        finally:
            self.stack.pop()
            frame.cleanups -= 1
            frame.on_yield, frame.consumer, frame.caller = before
        if code is DEAD:
            raise Unreachable
        return code

    def tree_of(self, source: StreamOf) -> Any:
        if source.kind == "rest":
            return self.frames[source.env].node
        fn = source.its[0]
        return fn.node if type(fn) is Closure else source_of(fn.obj, None).node

    def loop_over_body(self, stmt: ast.For, it: Instance, head: Callable[[Any], None], body: list[Any]) -> Any:
        """A ``for`` over a generator; its exit code, before its `else`."""
        leaving = any(isinstance(n, (ast.Break, ast.Return)) for s in body for n in nodes_of(s))

        def each(item: Val) -> Any:
            with self.copy("inline", stmt, "the loop's body"):
                head(item)
                return self.lower_block(body, True)

        return self.run_body(it, each, stmt, stmt.iter, leaving)

    def driven(self, it: Any, node: Any) -> tuple[Instance, StreamOf] | None:
        """A zip, map or enumerate of one generator and of what has its items by number: the generator, and the stream
        with the iterables in its place."""
        source = self.source_of(it) if is_iterator(it) else None
        if type(source) is not StreamOf or source.kind not in TOGETHER or self.is_inert(it, node):
            return None
        parts = in_step(source) or ()
        bodies = [x for x in parts if self.body_in(x) is not None]
        if len(bodies) != 1 or not all(x is bodies[0] or self.is_inert(x, node) for x in parts):
            return None
        if len({x.cell for x in parts if is_iterator(x)}) != sum(map(is_iterator, parts)):
            return None  # zip(it, it)
        return bodies[0], source

    def loop_in_step(
        self, stmt: ast.For, it: Instance, head: Callable[[Any], None], body: list[Any], driven: Any
    ) -> Any:
        """A ``for`` over such a stream: the generator runs, and the other items are found by the number of its own."""
        at, (generator, source) = stmt.iter, driven
        self.advance(it, PARTLY, 0, at)
        parts = [x if x is generator else self.opened(x, PARTLY, at) for x in in_step(source) or ()]
        place = parts.index(generator)
        env, key = self.frame.env, f"$k{at.lineno}.{at.col_offset}"
        self.state.envs[env][key] = 0
        began = len(self.resized)

        def more(some: list[Any]) -> ast.expr:
            """Whether each of these has an item with the present number."""

            def test() -> Any:
                k = self.state.envs[env][key]
                flag: Any = True
                for x in some:
                    if not self.endless(x):
                        here = self.truth(self.compare_with(operator.lt, k, self.iter_length(x, at), at), at)
                        flag = here if flag is True else self.binary(operator.and_, flag, here, at)
                return flag

            return computed(test, at)

        # What comes before the generator gives its item before the generator goes on, which may change it.
        early = {j: f"{key}.{j}" for j, x in enumerate(parts[:place]) if not self.stays(x, at)}

        def read_early() -> int:
            names = self.state.envs[env]
            for j, name in early.items():
                names[name] = self.item_of(parts[j], names[key], at)
            return NORMAL

        def trip(item: Any) -> list[Any]:
            def begin() -> int:
                names = self.state.envs[env]
                row = [
                    item if x is generator else names[early[j]] if j in early else self.item_of(x, names[key], at)
                    for j, x in enumerate(parts)
                ]
                head(self.combined(source, row, at))
                return NORMAL

            def step() -> Any:
                return self.map_code(self.lower_block([run(begin, at), *body], True), {CONTINUE: NORMAL}, stmt)

            def count() -> int:
                self.state.envs[env][key] = self.binary(operator.add, self.state.envs[env][key], 1, at)
                return NORMAL

            leave = ast.copy_location(ast.Break(), at)
            following = [
                run(step, stmt),
                run(count, at),
                choice(more(parts[:place]), [run(read_early, at)], [leave], at),
            ]
            return [choice(more(parts[place + 1 :]), following, [leave], at)]

        def loop() -> Any:
            read_early()
            each = lambda item: self.lower_block(trip(item), True)
            return self.map_code(self.run_body(generator, each, stmt, at, True), {BREAK: NORMAL}, stmt)

        code = self.lower_block([choice(more(parts[:place]), [run(loop, stmt)], [], at)], False)
        for x in parts:
            if x is not generator:
                self.require_length(x, began, stmt)
        return code

    def stays(self, av: Any, node: Any) -> bool:
        """The item with a number is the same one whenever it is read: a number of a range, or a view."""
        if type(av) is IndexedOf:
            return bool(av.kind == "count")
        return type(av) is RangeOf or (type(av) is Ref and (self.read(av, node).type.ndim or 0) > 1)

    def push_body(self, it: Instance, one: Callable[[Any], None], node: Node) -> None:
        """Run `one` for each item that a generator gives."""

        def each(item: Val) -> int:
            one(item)
            return NORMAL

        self.raise_on(self.run_body(it, each, node), node)

    # --- one item at a time ---------------------------------------------------------------------------------------

    def pull_body(self, it: Instance, source: StreamOf, then: Any, done: Any, node: Any) -> Any:
        """The generator begins: its parameters are bound in a scope that stays."""
        fn, names, *values = source.its
        tree = self.tree_of(source)
        self.check_yields(tree, node)
        closure = type(fn) is Closure
        found = None if closure else source_of(fn.obj, None)
        owner, file = (fn.owner, fn.file) if closure else (fn.obj, found.file)  # type: ignore[union-attr]
        parent = self.frames[fn.env] if closure else None
        self.env_count += 1
        caller = self.frame
        frame = Frame(self.env_count, tree, scope_of(tree), owner, file, tree.name, parent, (node, caller.call))
        frame.captured, frame.caller = True, caller
        self.frames[frame.env] = frame
        self.suspended.add(frame.env)
        self.state.envs[frame.env] = dict(zip(names.items, values))
        rest = StreamOf("rest", (), tuple(body_of(tree)), frame.env)
        return self.pull_rest(it, rest, then, done, node)

    def pull_rest(self, it: Instance, source: StreamOf, then: Any, done: Any, node: Any) -> Any:
        """`node` of the source: the statements that are left to run, innermost first."""
        frame, caller = self.frames[source.env], self.frame

        def keep(stmts: list[Any]) -> None:
            self.advance(it, replaced(source, node=tuple(stmts)), 0, node)

        def ended() -> Any:
            self.advance(it, Seq(()), 0, node)
            return done()

        def here(compute: Callable[[], Any]) -> Any:
            return self.within(frame, compute)

        def follow(stmts: list[Any]) -> Any:
            if not stmts:
                return ended()
            step, *rest = stmts
            if type(step) is Waiting:
                step = step.loop
            value = getattr(step, "value", None)
            if not yields(step):
                return ran(here(lambda: self.lower_block([step], False)), rest)
            if isinstance(value, ast.Yield) and isinstance(step, (ast.Expr, ast.Assign)):
                given = value.value
                item = None if given is None else here(lambda: self.ev(given))
                keep([*sent(self, step), *rest])
                return then(item)
            if isinstance(value, ast.YieldFrom) and isinstance(step, ast.Expr):
                return follow([delegated(step), *rest])
            if isinstance(step, ast.For):
                return here(lambda: trip(step, rest))
            if isinstance(step, (ast.If, ast.While)):
                again = [waiting(step)] if isinstance(step, ast.While) else []
                cond = here(lambda: self.condition(step.test))
                inside, outside = (lambda: follow([*step.body, *again, *rest])), lambda: follow([*step.orelse, *rest])
                return self.branch(cond, inside, outside, node)
            self.fail(
                f"an item of the generator {frame.name!r} that is asked for alone, and stands inside of "
                f"`{type(step).__name__.lower()}`",
                node,
                "loop over it with `for`",
            )

        def ran(code: Any, rest: list[Any]) -> Any:
            """Go on after a statement that has ended with this code."""
            if code is DEAD:
                raise Unreachable
            if type(code) is Value:
                self.fail("whether this generator goes on is known at run time only", node, "loop over it with `for`")
            if code in (RETURN, RAISED):
                self.advance(it, Seq(()), 0, node)
                self.raise_on(code, node)
                return done()
            if code in (BREAK, CONTINUE):
                while type(rest[0]) is not Waiting:
                    rest = rest[1:]
                rest = rest[1:] if code == BREAK else rest
            return follow(rest)

        def trip(loop: Any, stmts: list[Any]) -> Any:
            key = iterated_name(loop)
            names = self.state.envs[frame.env]
            inner = names.get(key)
            if inner is None:
                inner = names[key] = self.iterator(self.ev_iter(loop.iter), loop.iter)

            def got(item: Any) -> Any:
                self.assign(loop.target, item, loop.target)
                return self.within(caller, lambda: follow([*loop.body, waiting(loop), *stmts]))

            def over() -> Any:
                self.state.envs[frame.env].pop(key, None)
                return self.within(caller, lambda: follow([*loop.orelse, *stmts]))

            return self.pull(inner, got, over, loop.iter)

        return follow(list(source.node))
