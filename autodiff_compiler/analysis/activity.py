"""Activity analysis: which values carry a derivative from the inputs to the outputs.

A value is *varied* if it depends differentiably on an input of interest, *useful* if an output depends differentiably
on it, *active* if both (Hascoet and Pascual 2013, section 4). Control flow is solved to a fixpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..ir import opset
from ..ir.core import CALL, FUNC, IF, LOOP, TRY, Op, Region, Value, leaves
from ..ir.rewrite import called, content_operands

NonDiff = Callable[[Op], bool]


def differentiable_operands(op: Op) -> list[Value]:
    """The operands that the results may depend on differentiably."""
    if op.prim in _FIRST_ONLY:
        return leaves(op.args[0])
    if op.prim in _STORES_AT:
        return leaves((op.args[0], op.args[2]))
    return content_operands(op)


_STORES_AT = {opset.SET, opset.ADDAT, opset.LIST_SET, opset.LIST_ADDAT}
_FIRST_ONLY = {opset.GET, opset.LIST_GET, opset.CAST, opset.LIST_DROP}


def active_values(body: Region, inputs: Iterable[Value], nondiff: NonDiff) -> set[Value]:
    """The active values of a function's body, with respect to these inputs."""
    varied = varied_values(body, inputs, nondiff)
    useful: set[Value] = set(leaves(body.exit))
    _fix(body, useful, lambda: _spread_useful(body, useful, nondiff))
    return varied & useful


def varied_values(body: Region, inputs: Iterable[Value], nondiff: NonDiff) -> set[Value]:
    """The values of a function's body that depend differentiably on these inputs."""
    varied = {v for v in inputs if v.type.may_be_float}
    _fix(body, varied, lambda: _spread_varied(body, varied, nondiff))
    return varied


def _fix(body: Region, known: set[Value], step: Callable[[], None]) -> None:
    if not any(op.regions for op in body.ops):
        step()  # in order, once is enough
        return
    before = -1
    while before != len(known):
        before = len(known)
        step()


def _spread_varied(region: Region, varied: set[Value], nondiff: NonDiff) -> None:
    for op in region.ops:
        if not op.regions and op.prim not in (CALL, opset.PUSH):
            if not varied.isdisjoint(differentiable_operands(op)) and not nondiff(op):
                # A tuple or a text is no number, but what takes it may make one of it, and has to know the derivative.
                varied.update([r for r in op.results if r.type.may_be_float or r.type.kind == "object"])
        elif op.prim is IF:
            for inner in op.regions:
                _spread_varied(inner, varied, nondiff)
                for result, arg in zip(op.results, inner.exit):
                    if type(arg) is Value and arg in varied:
                        varied.add(result)
        elif op.prim is LOOP:
            (body,) = op.regions
            before = -1
            while before != len(varied):
                before = len(varied)
                for param, init, out, result in zip(body.params[1:], op.args[1], body.exit[1:], op.results):
                    if (type(init) is Value and init in varied) or (type(out) is Value and out in varied):
                        varied.add(param)
                        varied.add(result)
                _spread_varied(body, varied, nondiff)
        elif op.prim is TRY:
            (body,) = op.regions
            _spread_varied(body, varied, nondiff)
            varied.update(r for r, out in zip(op.results[2:], body.exit) if type(out) is Value and out in varied)
            # An exception may carry what it was made of.
            if any(v in varied for inner in body.walk() if inner.prim.effects for v in inner.operands()):
                varied.add(op.results[1])
        elif op.prim is FUNC:
            _spread_varied(op.regions[0], varied, nondiff)
        elif op.prim is CALL:
            body = called(op).regions[0]
            for param, arg in zip(body.params, op.args[1:]):
                if type(arg) is Value and arg in varied and param.type.may_be_float:
                    varied.add(param)
            for result, out in zip(op.results, body.exit):
                if type(out) is Value and out in varied and result.type.may_be_float:
                    varied.add(result)
        elif op.prim is opset.PUSH:
            stack, v = op.args
            if v in varied:
                varied.add(stack)


def _spread_useful(region: Region, useful: set[Value], nondiff: NonDiff) -> None:
    for op in reversed(region.ops):
        if not op.regions and op.prim not in (CALL, opset.PUSH):
            if not useful.isdisjoint(op.results) and not nondiff(op):
                useful.update(differentiable_operands(op))
        elif op.prim is IF:
            for inner in op.regions:
                for result, arg in zip(op.results, inner.exit):
                    if result in useful and type(arg) is Value:
                        useful.add(arg)
                _spread_useful(inner, useful, nondiff)
        elif op.prim is LOOP:
            (body,) = op.regions
            before = -1
            while before != len(useful):
                before = len(useful)
                for param, init, out, result in zip(body.params[1:], op.args[1], body.exit[1:], op.results):
                    if result in useful or param in useful:
                        useful.add(param)
                        useful.update(v for v in (init, out) if type(v) is Value)
                _spread_useful(body, useful, nondiff)
        elif op.prim is TRY:
            (body,) = op.regions
            useful.update(out for r, out in zip(op.results[2:], body.exit) if r in useful and type(out) is Value)
            _spread_useful(body, useful, nondiff)
        elif op.prim is FUNC:
            _spread_useful(op.regions[0], useful, nondiff)
        elif op.prim is CALL:
            body = called(op).regions[0]
            for result, out in zip(op.results, body.exit):
                if result in useful and type(out) is Value:
                    useful.add(out)
            for param, arg in zip(body.params, op.args[1:]):
                if param in useful and type(arg) is Value:
                    useful.add(arg)
        elif op.prim is opset.PUSH:
            stack, v = op.args
            if stack in useful and type(v) is Value:
                useful.add(v)
