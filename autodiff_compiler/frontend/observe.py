"""Facts about values that only a run can tell: they are observed once, and then checked wherever the value is made.

Where lowering fails, the program is run to see what it makes. Each place that gives a value of an unknown type is a
*site*, with the calls that lead to it. A `Watch` is what is known of the sites. The lowering gives the value of a site
the type that its fact says, and puts an `observe` behind it, which `transforms.stages` makes a check.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.core import Prim, Value
from ..ir.opset import GET
from ..ir.sites import OBSERVE
from ..ir.types import OBJECT, Ty, array, generic
from ..live import items_in
from ..lowered import ANYTHING, Fact
from ..operations.record import has_rule
from ..records import mutable_record
from .avals import Ref, Seq
from .handlers import Node, Val

if TYPE_CHECKING:
    from .core import Core
    from .plan import Plan

# For the lowering under way: what is known of its sites.
WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)


@mutable_record
class Watch:
    """What one lowering knows of the sites.

    facts:     by the number of the site
    sites:     the numbers of the sites, for all lowerings of one function
    observing: the lowering is for a run that observes: code that cannot be lowered ends that run
    met:       the sites that the lowering has met, each with what made the value
    site_of:   the sites of values
    plan:      the plan that the lowering begins with, if it is not empty, and then its last one
    """

    facts: dict[int, Fact]
    sites: dict[Any, int]
    observing: bool = False
    met: dict[int, str] = field(default_factory=dict)
    site_of: dict[Value, int] = field(default_factory=dict)
    plan: Plan | None = None


def observed(ctx: Core, value: Value, prim: Prim, node: Node) -> Val:
    """What an operation has made, as the type of what is known of its site."""
    watch = ctx.plan.watch
    if (
        getattr(node, "_unused", False)
        or watch is None
        or not is_unknown(value.type)
        or value.op is None
        or value.op.prim is not prim
    ):
        return value
    of_object = any(v.type.kind == "object" for v in value.op.operands())
    if not prim.effects and has_rule(prim) and not of_object and may_vary(ctx, value):
        if value.type.dims is not None or value.type.kind != "array":
            return value  # the derivative comes from its rule
    # One place may read several things: ``for a, b in zip(table.a, table.b)``.
    sources = [_source(watch, v) for v in value.op.operands()]
    key = (ctx.frame.file, _place(node), _calls(ctx.frame), prim.name, tuple(sources))
    site = watch.site_of[value] = watch.sites.setdefault(key, len(watch.sites))
    watch.met[site] = f"{prim.name} in line {getattr(node, 'lineno', 0)}"
    fact = watch.facts.get(site)
    ctx.builder.emit(OBSERVE, value, site)
    if fact is None and not watch.observing:
        ctx.raises(RuntimeError, "a value that was not seen before", node)  # the check of its site fails before
    return value if fact is None else _typed(ctx, value, fact, prim.effects or (of_object and fact[0] == "object"))


def _source(watch: Watch, value: Value) -> int | None:
    """The site of a value, or of the object whose items it holds."""
    if value.op is not None and value.op.prim.fn is items_in:
        value = value.op.args[0]
    return watch.site_of.get(value)


def _typed(ctx: Core, value: Value, fact: Fact, given: bool) -> Val:
    """`given`: an unknown call gave it, so that it may be any object."""
    kind, *facts = fact
    if kind == "tuple" and given:
        cls, parts = facts
        items = []
        for k, part in enumerate(parts):
            item = ctx.builder.emit(GET, value, (("index", (k,)),))
            items.append(ctx.fresh(_typed(ctx, item, part, True)))
        cells = [item.cell for item in items if type(item) is Ref]
        for k, cell in enumerate(cells):
            ctx.share(cell, cells[:k])
        return Seq(tuple(items), cls)
    if facts[-1] is type(None) and given:
        return None
    t = _type_of(fact, ctx.builder.dims)
    if t is not None and (t.kind != "object" or given):
        value.type = t
        if t.kind == "object":
            ctx.known_objects[value] = facts[0]
    return value


def may_vary(ctx: Core, value: Value) -> bool:
    """It may depend on an argument."""
    todo, seen = [value], {value}
    for v in todo:  # which grows on the way
        if v.op is None and v.region is ctx.top:
            item = ctx.inputs.inputs[ctx.top.params.index(v)]
            if item.path[0][0] == "arg" and item.type.may_be_float:
                return True
        elif v.op is None or v.op.regions:
            return True
        else:
            new = [x for x in v.op.operands() if x not in seen]
            todo += new
            seen.update(new)
    return False


def is_unknown(t: Ty) -> bool:
    return t.kind in ("any", "array") and (t.dims is None or t.dtype is None)


def _place(node: Node) -> tuple[Any, ...]:
    """Nodes that are made by the lowering are made anew by each."""
    return tuple([getattr(node, name, None) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")])


def _calls(frame: Any) -> tuple[Any, ...]:
    """The calls that lead to a place."""
    out = []
    call = None if frame is None else frame.call
    while call is not None:
        out.append(_place(call[0]) if call[1] is not None else None)
        call = call[1]
    return tuple(out)


def _type_of(fact: Fact, dims: Any) -> Ty | None:
    kind, *facts = fact
    if kind == "array":
        dtype, ndim, short = facts
        axes: list[Any] = []
        for k in range(ndim):
            if short is not None and (k in short or ~k in short):
                axes.append(int(k in short))
                continue
            axes.append(dims.fresh())
            if short is not None:
                dims.mark_not_one(axes[-1])
        return array(dtype, tuple(axes))
    if kind == "generic":
        return generic(facts[0])
    if kind == "py":
        return Ty("py", np.dtype(np.int64 if facts[0] is int else facts[0]), ())
    return OBJECT if kind == "object" else None


__all__ = ["ANYTHING", "WATCH", "Watch", "may_vary", "observed"]
