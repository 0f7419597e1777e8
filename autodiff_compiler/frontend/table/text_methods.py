"""The methods of strings and bytes."""

from __future__ import annotations

import types

from ..avals import Seq, is_constant
from ..handlers import Ctx, Val, lowers
from ..texts import text_by

_METHODS = (types.MethodDescriptorType, types.WrapperDescriptorType, staticmethod)


@lowers(*[raw for cls in (str, bytes) for raw in vars(cls).values() if isinstance(raw, _METHODS)])
def _method(ctx: Ctx, self: str | bytes, /, *args: Val, **kwargs: Val) -> Val:
    name, node = ctx.callee.__name__, ctx.node
    if name == "join" and len(args) == 1:
        items = ctx.static_items(args[0], node)
        if all(isinstance(i, str) for i in items):
            return self.join(items)
    if all(is_constant(a) for a in [*args, *kwargs.values()]):
        result = ctx.folded(getattr(self, name), list(args), kwargs, node)
        if isinstance(result, list):
            return ctx.new_list(result)
        return Seq(result) if isinstance(result, tuple) else result
    if name == "format":
        shown = [ctx.plain(a, node) for a in args]
        named = {k: ctx.plain(v, node) for k, v in kwargs.items()}
        return text_by(ctx, str.format, "str.format", [self, *shown], named, node)
    ctx.fail(
        f"str.{name} of values known at run time only",
        node,
        "do it before the gradient, with values that are known then",
    )
