"""Calls of functions that bring rules of their own: each is replaced by its function, or by what its rule says.

Takes a function with calls of `ir.custom`. Gives it with the operations that stand for them. For the reverse transform,
a call that is differentiated by becomes the operations of the rule's forward function, and a seam: no derivative passes
through these operations, and the cotangents at the seam enter the rule's backward function, of which the operations are
put into the backward sweep. A rule for tangents is put in with tangents that are zero. It is linear in them, so the
derivative by them is its transpose. All other calls become the function itself, at last. `custom_jvp` has forward mode.

>>> import numpy as np
>>> import autodiff_compiler as ad
>>> from autodiff_compiler.api.stages import show
>>> clipped = ad.custom_vjp(lambda x: 1.0 * x)
>>> clipped.defvjp(lambda x: (1.0 * x, None), lambda _, g: (np.clip(g, -1.0, 1.0),))
>>> show(lambda x: clipped(x * x), 3.0)
func <lambda>(%x: float) {
  %v1: float = * %x, %x
  %v2: float = custom <Rules>, (%v1,), (), ()
  return %v2
}
>>> show(lambda x: clipped(x * x), 3.0, after="differentiate")
func <lambda>(%x: float) {
  %v1: float = * %x, %x
  %v2: float = * 1.0, %v1
  %x_sq_bar: float64 = np.clip 1.0, -1.0, 1.0
  %x_bar: float64 = * %x_sq_bar, %x
  %x_bar2: float64 = * 2.0, %x_bar
  return %x_bar2
}
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.activity import activity
from ..errors import UnsupportedError
from ..ir.core import CALL, DERIVED, IF, LOOP, TRY, Builder, Function, Loc, Op, Region, Value, leaves, type_of
from ..ir.custom import CUSTOMS, HELD, LINEAR, PROBE, SEAM, Rules
from ..ir.opset import ACCUM, ADD, MUL, PUSH, SUB, ZEROS
from ..ir.rewrite import clone_op, content_operands, replace_values, substitute
from ..ir.types import ANY
from .cotangents import bar_of

if TYPE_CHECKING:
    from .vjp import Bars, Reverse


# --- putting a function in the place of a call ------------------------------------------------------------------------


def spliced(b: Builder, fn: Function, operands: Sequence[Any], at: Loc | None = None) -> tuple[Any, ...]:
    """Append the operations of a function, applied to these operands. Its results. `at`: their place, if not their
    own."""
    mapping: dict[Value, Any] = dict(zip(fn.params, operands, strict=True))
    loc = b.loc
    for op in fn.body.ops:
        b.loc = at or op.loc
        first = len(b.region.ops)
        if op.regions or op.prim in _KEPT or op.prim.effects:
            new = clone_op(op, mapping, b.region)
            for inner in (new, *[x for r in new.regions for x in r.walk()]):
                inner.tag, inner.loc = b.tag, at or inner.loc
            continue
        made = b.emit(op.prim, *substitute(op.args, mapping), **substitute(op.kwargs, mapping))
        for new in b.region.ops[first:]:
            new.again = op.again
        for old, value in zip(op.results, (made,) if op.prim.nout == 1 else made or ()):
            mapping[old] = value
            if type(value) is Value:
                value.hint = value.hint or old.hint
                if value.type == ANY:
                    value.type = old.type
    b.loc = loc
    return tuple([substitute(x, mapping) for x in fn.body.exit])


_KEPT = frozenset({CALL, SEAM, LINEAR, *CUSTOMS})


def _in_place_of(op: Op, build: Callable[[Builder], tuple[Any, ...]]) -> dict[Value, Any]:
    """Put what `build` appends in the place of an operation. What its results become."""
    region = op.parent
    assert region is not None
    at = region.ops.index(op)
    behind = region.ops[at + 1 :]
    del region.ops[at:]
    b = Builder(region)
    b.loc, b.tag = op.loc, op.tag
    with b.active():
        found = build(b)
    if op.droppable:
        for made in region.ops[at:]:
            for inner in (made, *[x for r in made.regions for x in r.walk()]):
                inner.droppable = True
    region.ops += behind
    for old, new in zip(op.results, found):
        if type(new) is Value and not new.hint:
            new.hint = old.hint
    return dict(zip(op.results, found))


def op_operands(op: Op) -> tuple[Any, ...]:
    """What the functions of a call take: its operands, and what they read from around them."""
    return (*op.args[1], *around(op))


def around(op: Op) -> tuple[Any, ...]:
    return (*op.args[2], *op.args[3])


def call_functions(fn: Function) -> None:
    """Put the function itself in the place of each call: nobody differentiates them any more."""
    while True:
        calls = [op for op in fn.body.walk() if op.prim in CUSTOMS]
        if not calls:
            return
        mapping: dict[Value, Any] = {}
        for op in calls:
            mapping.update(_in_place_of(op, lambda b, op=op: _called(b, op)))  # type: ignore[misc]
        replace_values(fn.body, mapping)


def _called(b: Builder, op: Op) -> tuple[Any, ...]:
    return spliced(b, op.args[0].primal, op_operands(op))


# --- what a rule must not depend on -----------------------------------------------------------------------------------


def check_operands(op: Op, moving: Any) -> None:
    """Refuse a call that is differentiated by something that its rule says nothing of."""
    rules, operands, captured, _ = op.args
    for v in captured:
        if v in moving:
            name = f"{v.hint!r}" if v.hint else "a value"
            raise UnsupportedError(
                f"the function {rules.name!r} with a rule of its own, or its rule, reads {name} from around it, which "
                "is differentiated by: the rule does not say how",
                op.loc,
                "pass it as an argument",
            )
    for k in sorted(rules.fixed):
        if operands[k] in moving if type(operands[k]) is Value else False:
            raise UnsupportedError(
                f"an argument of {rules.name!r} that is among its nondiff_argnums is differentiated by",
                op.loc,
                "leave it out of nondiff_argnums, or pass stop_gradient(...) of it",
            )


def no_rule(rules: Rules, op: Op) -> UnsupportedError:
    return UnsupportedError(f"{rules.name!r} has no rule", op.loc, "give it one, by defvjp or defjvp")


def not_linear(rules: Rules, what: str, of: str) -> UnsupportedError:
    return UnsupportedError(
        f"the rule of {rules.name!r} is not linear in {of}, so it cannot be transposed for {what}",
        rules.loc,
        "use custom_jvp for a function that both modes differentiate; a backward function that clips or rounds "
        "cotangents has no meaning in forward mode",
    )


# --- reverse mode -----------------------------------------------------------------------------------------------------


def with_seams(fn: Function, wrt: list[Value], outputs: list[Any] | None) -> list[Any] | None:
    """Put what their rules say in the place of the calls that are differentiated by. The outputs, as they are now."""
    while True:
        if not any(op.prim in CUSTOMS for op in fn.body.walk()):
            return outputs
        active, _ = activity(fn.body, wrt, outputs)
        calls = [op for op in fn.body.walk() if op.prim in CUSTOMS and not active.isdisjoint(op.results)]
        calls = [op for op in calls if not active.isdisjoint(leaves(op.args[1:3]))]
        if not calls:
            return outputs
        mapping: dict[Value, Any] = {}
        for op in calls:
            check_operands(op, active)
            mapping.update(_in_place_of(op, lambda b, op=op, active=active: _seam(b, op, active)))  # type: ignore[misc]
        replace_values(fn.body, mapping)
        if outputs is not None:
            outputs = [substitute(v, mapping) for v in outputs]


def _seam(b: Builder, op: Op, active: Any) -> tuple[Any, ...]:
    rules, operands, captured = op.args[0], op.args[1], around(op)
    if rules.pushes:
        return _linear(b, op, active)
    if rules.forward is None:
        raise no_rule(rules, op)
    found = spliced(b, rules.forward, (*operands, *captured))
    outs, residuals = found[: len(op.results)], found[len(op.results) :]
    return _appended(b, SEAM, (rules, operands, outs, residuals, captured), outs, op)


def _linear(b: Builder, op: Op, active: Any) -> tuple[Any, ...]:
    rules, operands, captured = op.args[0], op.args[1], around(op)
    moving = [x if type(x) is Value and x in active else None for x in operands]
    held = [b.emit(HELD, x) if type(x) is Value and x in active else x for x in operands]
    outs: Any = None if rules.joint else spliced(b, rules.primal, (*held, *captured))
    dots: list[tuple[Any, ...]] = []
    for push, places in rules.pushes:
        if all(moving[k] is None for k in places):
            continue
        ds = [b.emit(PROBE, operands[k]) if type(operands[k]) is Value else 0.0 for k in places]
        given = (*held, *ds, *(() if rules.joint else outs), *captured)
        found = spliced(b, push, given)
        if rules.joint:
            outs, found = found[: len(op.results)], found[len(op.results) :]
        dots.append(found)
    return _appended(b, LINEAR, (rules, tuple(dots), tuple(outs)), outs, op)


def zero_like(b: Builder, x: Any) -> Any:
    return 0.0 if type_of(x).is_scalar else b.emit(ZEROS, x)


def _appended(b: Builder, prim: Any, args: tuple[Any, ...], outs: Sequence[Any], op: Op) -> tuple[Any, ...]:
    made = Op(prim, args, {}, (), op.loc)
    made.results = [Value(type_of(out), old.hint, made) for out, old in zip(outs, op.results)]
    b.append(made)
    return tuple(made.results)


def backward_seam(r: Reverse, op: Op, env: Bars) -> None:
    """Put the rule's backward function into the backward sweep."""
    bars = [env.pop(v, None) for v in op.results]
    if all(g is None for g in bars):
        return
    rules, operands, _, residuals, captured = op.args
    given = []
    for g, v in zip(bars, op.results):
        if type_of(v).may_be_float:
            g = r.or_zeros(g, v)
            given.append(r.array_like(g, v) if v.type.kind == "array" else g)
            if type(g) is Value and not g.hint:
                g.hint = bar_of(v)
    found = spliced(r.b, rules.backward, (*operands, *residuals, *given, *captured), op.loc)
    r.b.loc = op.loc
    for x, g in zip(operands, found):
        r.add(env, x, g)


def backward_linear(r: Reverse, op: Op, env: Bars) -> None:
    """The cotangents of the results are those of their tangents."""
    bars = [env.pop(v, None) for v in op.results]
    for dots in op.args[1]:
        for d, g in zip(dots, bars):
            r.add(env, d, g)


def settle(body: Region) -> None:
    """Take out what only the transform needed: derivatives of higher order differentiate what the rules compute."""
    mapping: dict[Value, Any] = {}
    probes: list[Op] = []
    linear: list[Rules] = []

    def visit(region: Region) -> None:
        kept = []
        for op in region.ops:
            if op.prim is SEAM or op.prim is LINEAR:
                mapping.update(zip(op.results, op.args[2]))
                linear.extend([op.args[0]] if op.prim is LINEAR else [])
                continue
            if op.prim is HELD:
                mapping[op.result] = op.args[0]
                continue
            if op.prim is PROBE:
                probes.append(op)
            kept.append(op)
            for inner in op.regions:
                visit(inner)
        region.ops[:] = kept

    visit(body)
    if probes:
        check_linear(body, [op.result for op in probes], linear)
    for op in probes:
        if type_of(op.args[0]).is_scalar:
            mapping[op.result] = 0.0
            assert op.parent is not None
            op.parent.ops.remove(op)
        else:
            op.prim = ZEROS
    replace_values(body, mapping)


def check_linear(body: Region, roots: list[Value], linear: list[Rules], what: str = "reverse mode") -> None:
    """The backward sweep must not read a tangent that was taken to be zero. What computes it need not be kept."""
    if not is_linear(body, roots):
        raise not_linear(linear[0], what, "the tangents")
    follow = depending(body, roots)
    for op in body.walk():
        if op.tag != DERIVED and any(v in follow for v in op.operands()):
            op.droppable = True


def is_linear(body: Region, roots: list[Value]) -> bool:
    """What the function computes of these values, it computes in such a way that its derivative by them does not depend
    on them. Nor is anything added to them: a function that is affine has another tangent than its transpose says."""
    follow = depending(body, roots)
    for op in body.walk():
        if op.tag == DERIVED:
            if any(v in follow for v in content_operands(op)):
                return False
        elif op.prim.fn in _ADDING:
            parts = op.args[1:] if op.prim.fn is np.where else op.args
            if any(type(x) is Value and x in follow for x in parts) and not all(_vanishes(x, follow) for x in parts):
                return False
    return True


_ADDING = (ADD.fn, SUB.fn, ACCUM.fn, np.add, np.subtract, np.where)


def _vanishes(x: Any, follow: set[Value]) -> bool:
    """Zero where the roots are."""
    if type(x) is not Value:
        return isinstance(x, (int, float, complex)) and x == 0
    if x in follow or x.op is None:
        return x in follow
    if x.op.prim.fn in (MUL.fn, np.multiply):
        return any(_vanishes(y, follow) for y in x.op.args)
    return x.op.prim is ZEROS or x.op.prim.fn in (np.zeros, np.zeros_like)


def depending(body: Region, roots: list[Value]) -> set[Value]:
    """All values that depend on the content of these: also what is chosen by them."""
    found = set(roots)
    before = -1
    while before != len(found):
        before = len(found)
        _depend(body, found)
    return found


def _depend(region: Region, found: set[Value]) -> None:
    def some(*args: Any) -> bool:
        return any(v in found for v in leaves(args))

    for op in region.ops:
        if op.prim is IF:
            for inner in op.regions:
                _depend(inner, found)
                found.update(r for r, x in zip(op.results, inner.exit) if some(op.condition, x))
        elif op.prim is LOOP:
            (body,) = op.regions
            trips = some(op.range, body.exit[0])
            for p, init, x, r in zip(body.params[1:], op.inits, body.exit[1:], op.results):
                if trips or some(init, x, p):
                    found.update((p, r))
            _depend(body, found)
            if trips:
                found.update((op.trips, op.exit_code))
        elif op.prim is PUSH:
            if some(op.args[1]):
                found.add(op.args[0])
        elif op.prim is TRY:
            (body,) = op.regions
            _depend(body, found)
            found.update(r for r, x in zip(op.results[2:], body.exit) if some(x))
            if any(some(inner.condition) for inner in body.walk() if inner.prim is IF):  # it may raise, or not
                found.update(op.results)
        elif op.regions or op.prim is CALL:
            for inner in op.regions:
                _depend(inner, found)
            reads = [op, *[x for inner in op.regions for x in inner.walk()]]
            if any(v in found for x in reads for v in x.operands()):
                found.update(op.results)
        elif any(v in found for v in content_operands(op)):
            found.update(op.results)


__all__ = [
    "around",
    "backward_linear",
    "backward_seam",
    "call_functions",
    "check_operands",
    "is_linear",
    "no_rule",
    "not_linear",
    "settle",
    "spliced",
    "with_seams",
    "zero_like",
]
