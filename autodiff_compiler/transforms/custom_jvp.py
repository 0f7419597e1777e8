"""Forward mode of calls of functions that bring rules of their own.

Takes a call of `ir.custom` with the tangents of its operands. Gives the results and their tangents: what the rule for
tangents says, or the transpose of the backward function. It is linear in the cotangents, so its derivative by them,
which reverse mode gives, is the same at all cotangents, and maps the tangents of the operands to those of the results.

>>> import autodiff_compiler as ad
>>> square = ad.custom_vjp(lambda x: x * x)
>>> square.defvjp(lambda x: (x * x, x), lambda x, g: (2.0 * x * g,))
>>> ad.jvp(square, (3.0,), (1.0,))
(9.0, 6.0)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import UnsupportedError
from ..ir.core import Op, Value, leaves, type_of
from ..ir.rewrite import clone_function
from .custom import around, check_operands, is_linear, no_rule, not_linear, spliced, zero_like

if TYPE_CHECKING:
    from .jvp import Pushforward


def push_custom(p: Pushforward, op: Op) -> None:
    """Put the rule for tangents in the place of a call, or the transposed backward function."""
    rules, operands = op.args[:2]
    if not any(v in p.dots for v in leaves(op.args[1:3])) or p.active.isdisjoint(op.results):
        return
    check_operands(op, p.dots)
    del p.b.region.ops[-1]
    p.b.loc = op.loc
    dots = [p.dots.get(x) if type(x) is Value else None for x in operands]
    if rules.pushes:
        outs, tangents = _pushed(p, op, dots)
    elif rules.backward is not None:
        outs, tangents = _transposed(p, op, dots)
    else:
        raise no_rule(rules, op)
    for old, new, d in zip(op.results, outs, tangents):
        p.replaced[old] = new
        if type(new) is Value and not new.hint:
            new.hint = old.hint
        if d is not None and p.has_tangent(old):
            p.name(old, d)


def _pushed(p: Pushforward, op: Op, dots: list[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    rules, operands, captured = op.args[0], op.args[1], around(op)
    count = len(op.results)
    outs: Any = None if rules.joint else spliced(p.b, rules.primal, (*operands, *captured))
    total: list[Any] = [None] * count
    for push, places in rules.pushes:
        if all(dots[k] is None for k in places):
            continue
        ds = [dots[k] if dots[k] is not None else zero_like(p.b, operands[k]) for k in places]
        found = spliced(p.b, push, (*operands, *ds, *(() if rules.joint else outs), *captured))
        if rules.joint:
            outs, found = found[:count], found[count:]
        total = [b if a is None else a if b is None else a + b for a, b in zip(total, found)]
    return outs, total


def _transposed(p: Pushforward, op: Op, dots: list[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    rules, operands, captured = op.args[0], op.args[1], around(op)
    if rules.effects:
        raise UnsupportedError(
            f"the backward function of {rules.name!r} has effects, and forward mode does not run it",
            op.loc,
            "use reverse mode, or custom_jvp",
        )
    count = len(op.results)
    found = spliced(p.b, rules.forward, (*operands, *captured))
    outs, residuals = found[:count], found[count:]
    backward, _ = clone_function(rules.backward)
    at = len(operands) + len(residuals)
    bars = list(range(at, len(backward.params) - len(captured)))
    # A cotangent that is None, or a constant, is zero.
    wanted = [k for k, g in enumerate(backward.body.exit) if type(g) is Value and dots[k] is not None]
    backward.body.exit = tuple([backward.body.exit[k] for k in wanted])
    if not bars or not wanted:
        return outs, [None] * count
    assert p.adjoint is not None
    alone = is_linear(backward.body, [backward.params[k] for k in bars])
    pulled = p.adjoint(backward, bars)
    roots = [pulled.params[k] for k in bars]
    if not (alone and is_linear(pulled.body, roots)):
        raise not_linear(rules, "forward mode", "the cotangents")
    moving = [k for k, v in enumerate(op.results) if type_of(v).may_be_float]
    zeros = [zero_like(p.b, outs[k]) for k in moving]
    seeds = [dots[k] for k in wanted if type_of(rules.backward.body.exit[k]).may_be_float]
    given = (*operands, *residuals, *zeros, *captured, *seeds)
    tangents: list[Any] = [None] * count
    for k, d in zip(moving, spliced(p.b, pulled, given)):
        tangents[k] = d
    return outs, tangents


__all__ = ["push_custom"]
