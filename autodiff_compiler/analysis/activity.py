"""Activity analysis: which values carry a derivative from the inputs to the outputs.

Takes the body of a function and the inputs of interest. Gives the *active* values. A value is *varied* if it depends
differentiably on such an input, *useful* if an output depends differentiably on it, *active* if it is both (Hascoet
and Pascual 2013, section 4). Control flow is solved to a fixpoint.

>>> import numpy as np
>>> from autodiff_compiler.frontend.lower import lower
>>> def f(x, w):
...     h = x * w
...     size = len(x) * 2.0
...     unused = np.exp(h)
...     return np.sum(h) / size
>>> body = lower(f, (np.ones(3), np.ones(3))).function.body
>>> active = active_values(body, [body.params[0]])
>>> sorted(v.hint for v in active if v.hint)
['h', 'x']
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..ir import opset
from ..ir.core import CALL, FUNC, IF, LOOP, TRY, Op, Region, Value, leaves
from ..ir.rewrite import called, content_operands
from .shifts import shifts
from .taint import Outside, keeps


def differentiable_operands(op: Op) -> list[Value]:
    """The operands that the results may depend on differentiably."""
    places = op.prim.differentiable
    if places is not None:
        return leaves([op.args[k] for k in places])
    return content_operands(op)


def active_values(body: Region, inputs: Iterable[Value]) -> set[Value]:
    """The active values of a function's body, with respect to these inputs."""
    return activity(body, inputs)[0]


def activity(
    body: Region, inputs: Iterable[Value], outputs: Iterable[Any] | None = None
) -> tuple[set[Value], dict[Op, Op]]:
    """The active values of a function's body, and the operations that read from what was tainted (see `taint`), each
    with one that tainted it.

    outputs: those of the body's results that are differentiated; by default all.
    """
    varied = _varied(body, inputs)
    useful: set[Value] = set(leaves(body.exit if outputs is None else tuple(outputs)))
    while True:
        before = len(useful)
        _spread_useful(body, useful)
        if _is_straight(body) or before == len(useful):
            return varied.bits.keys() & useful, varied.tainted


def varied_values(body: Region, inputs: Iterable[Value]) -> dict[Value, int]:
    """The values of a function's body that depend differentiably on these inputs; on which of them: a bit for each, in
    order."""
    return _varied(body, inputs).bits


def _varied(body: Region, inputs: Iterable[Value]) -> _Varied:
    varied = _Varied(body)
    for k, v in enumerate(inputs):
        if v.type.may_be_float:
            varied.add(v, 1 << k)
    while True:
        varied.changed = False
        if not varied.in_any_order:
            varied.kept = 0
        varied.spread(body)
        if _is_straight(body) or not varied.changed:
            return varied


def _is_straight(body: Region) -> bool:
    """Gone through in order, once is enough."""
    return not any(op.regions for op in body.ops)


class _Varied:
    def __init__(self, body: Region):
        self.bits: dict[Value, int] = {}
        self.changed = False
        # What was kept outside of the program so far, by which operation first, and what reads from there.
        self.kept = 0
        self.keeper: Op | None = None
        self.tainted: dict[Op, Op] = {}
        self.outside = Outside(body)
        self.shifts = shifts(body)  # no result depends on what they are
        self.in_any_order = any(op.prim is FUNC for op in body.ops)  # a function may be called from anywhere

    def add(self, v: Value, bits: int) -> None:
        known = self.bits.get(v, 0)
        if bits | known != known:
            self.bits[v] = bits | known
            self.changed = True

    def of(self, *args: Any) -> int:
        bits = 0
        for v in args:
            if type(v) is Value:
                bits |= self.bits.get(v, 0)
        return bits

    def spread(self, region: Region) -> None:
        for op in region.ops:
            if op in self.shifts:
                continue
            if not op.regions and op.prim not in (CALL, opset.PUSH):
                operands = differentiable_operands(op)
                bits = 0
                if not self.bits.keys().isdisjoint(operands) and not op.prim.nondiff:
                    bits = self.of(*operands)
                if self.kept and not op.prim.nondiff and self.outside.is_read_by(op, self.bits):
                    assert self.keeper is not None
                    self.tainted.setdefault(op, self.keeper)
                    bits |= self.kept
                if not bits:
                    continue
                for r in op.results:
                    # A tuple or a text is no number, but what takes it may make one of it, and has to know the
                    # derivative.
                    if r.type.may_carry:
                        self.add(r, bits)
                if op.prim.effects and keeps(op):
                    self.keep(op, bits)
            elif op.prim is IF:
                before = after = self.kept
                for inner in op.regions:
                    if not self.in_any_order:
                        self.kept = before
                    self.spread(inner)
                    after |= self.kept
                    for result, arg in zip(op.results, inner.exit):
                        self.add(result, self.of(arg))
                self.kept = after
            elif op.prim is LOOP:
                self.spread_loop(op)
            elif op.prim is TRY:
                (body,) = op.regions
                self.spread(body)
                for result, out in zip(op.results[2:], body.exit):
                    self.add(result, self.of(out))
                # An exception may carry its arguments.
                for inner_op in body.walk():
                    if inner_op.prim.effects:
                        self.add(op.results[1], self.of(*inner_op.operands()))
            elif op.prim is FUNC:
                self.spread(op.regions[0])
            elif op.prim is CALL:
                body = called(op).regions[0]
                for param, arg in zip(body.params, op.args[1:]):
                    if param.type.may_be_float:
                        self.add(param, self.of(arg))
                for result, out in zip(op.results, body.exit):
                    if result.type.may_be_float:
                        self.add(result, self.of(out))
            elif op.prim is opset.PUSH:
                stack, v = op.args
                self.add(stack, self.of(v))

    def keep(self, op: Op, bits: int) -> None:
        """What depends on these inputs is outside of the program from here on."""
        if self.keeper is None:
            self.keeper = op
        if self.in_any_order and bits | self.kept != self.kept:
            self.changed = True
        self.kept |= bits

    def spread_loop(self, op: Op) -> None:
        (body,) = op.regions
        outer, changed = self.changed, True
        while changed:
            self.changed = False
            kept = self.kept
            for param, init, out, result in zip(body.params[1:], op.inits, body.exit[1:], op.results):
                bits = self.of(init, out)
                self.add(param, bits)
                self.add(result, bits)
            self.spread(body)
            changed = self.changed
            outer |= changed
            changed |= self.kept != kept  # and the next iteration finds it
        self.changed = outer


def _spread_useful(region: Region, useful: set[Value]) -> None:
    for op in reversed(region.ops):
        if not op.regions and op.prim not in (CALL, opset.PUSH):
            if not useful.isdisjoint(op.results) and not op.prim.nondiff:
                useful.update(differentiable_operands(op))
        elif op.prim is IF:
            for inner in op.regions:
                for result, arg in zip(op.results, inner.exit):
                    if result in useful and type(arg) is Value:
                        useful.add(arg)
                _spread_useful(inner, useful)
        elif op.prim is LOOP:
            (body,) = op.regions
            before = -1
            while before != len(useful):
                before = len(useful)
                for param, init, out, result in zip(body.params[1:], op.inits, body.exit[1:], op.results):
                    if result in useful or param in useful:
                        useful.add(param)
                        useful.update(v for v in (init, out) if type(v) is Value)
                _spread_useful(body, useful)
        elif op.prim is TRY:
            (body,) = op.regions
            useful.update(out for r, out in zip(op.results[2:], body.exit) if r in useful and type(out) is Value)
            _spread_useful(body, useful)
        elif op.prim is FUNC:
            _spread_useful(op.regions[0], useful)
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
