"""Lowering of comprehensions: their targets are bound in a scope of their own."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from .avals import MISSING
from .construct import Construct
from .frames import Frame
from .handlers import Ctx, Node, Val, lowers
from .scopes import Scope


class Comprehensions(Construct):
    def comprehension_frame(self, generators: list[ast.comprehension]) -> Frame:
        frame = self.frame
        targets = {n.id for g in generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        self.env_count += 1
        scope = Scope(frozenset(targets), frame.scope.globals - targets, frozenset())
        inner = Frame(self.env_count, frame.node, scope, frame.owner, frame.file, frame.name, frame, frame.call)
        inner.comprehension, inner.caller, inner.site = True, frame.caller, frame.site
        self.frames[inner.env] = inner
        self.state.envs[inner.env] = {}
        return inner

    def within(self, frame: Frame, compute: Callable[[], Any]) -> Any:
        """What `compute` gives in another frame."""
        outer, self.frame = self.frame, frame
        self.state.envs.setdefault(frame.env, {})
        try:
            return compute()
        finally:
            self.frame = outer

    def comprehend_from(
        self, generators: list[ast.comprehension], k: int, it: Val, add: Callable[[], None], node: Node
    ) -> None:
        if k == len(generators):
            add()
            return
        gen = generators[k]
        if gen.is_async:
            self.fail("an async comprehension", node, "use an ordinary comprehension")

        def one(item: Val) -> None:
            self.assign(gen.target, item, gen.target)
            self.conditions(gen.ifs, 0, lambda: self.comprehend_from(generators, k + 1, MISSING, add, node), node)
            if not self.frame.captured:
                for n in ast.walk(gen.target):
                    if isinstance(n, ast.Name):
                        self.state.envs[self.frame.env].pop(n.id, None)

        source = self.ev_iter(gen.iter) if it is MISSING else it
        self.push(source, one, gen.iter, FEW, node if k == 0 else gen.iter)

    def conditions(self, ifs: list[ast.expr], k: int, then: Callable[[], None], node: Node) -> None:
        if k == len(ifs):
            then()
            return
        cond = self.condition(ifs[k])
        self.branch(cond, lambda: self.conditions(ifs, k + 1, then, node), lambda: None, node)


FEW = 16  # trips of a comprehension over a range that are copied out


def _comprehend(ctx: Comprehensions, generators: list[ast.comprehension], add: Callable[[], None], node: Node) -> None:
    """Run `add` for each combination, with the targets bound in a scope of their own."""
    first = ctx.ev_iter(generators[0].iter)  # which is evaluated outside of that scope
    inner = ctx.comprehension_frame(generators)
    ctx.within(inner, lambda: ctx.comprehend_from(generators, 0, first, add, node))
    if not inner.captured:
        ctx.state.envs.pop(inner.env, None)


@lowers(ast.ListComp)
def _list_comp(ctx: Ctx, node: ast.ListComp) -> Val:
    out = ctx.new_list([])
    _comprehend(ctx, node.generators, lambda: ctx.list_append(out, ctx.ev(node.elt), node), node)
    return out


@lowers(ast.SetComp)
def _set_comp(ctx: Ctx, node: ast.SetComp) -> Val:
    out = ctx.built_set(set)
    _comprehend(ctx, node.generators, lambda: ctx.call_method(out, "add", [ctx.ev(node.elt)], {}, node), node)
    return out


@lowers(ast.DictComp)
def _dict_comp(ctx: Ctx, node: ast.DictComp) -> Val:
    out = ctx.new_dict({})

    def add() -> None:
        key = ctx.ev(node.key)
        ctx.store_item(out, key, ctx.ev(node.value), node)

    _comprehend(ctx, node.generators, add, node)
    return out
