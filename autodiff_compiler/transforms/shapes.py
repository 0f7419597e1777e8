"""Shapes from arguments: nothing is computed, kept or saved for its shape alone.

Takes a function. Gives the function in which an operation that needs only a shape asks an argument of that shape.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show
>>> def f(y):
...     h = y * 3.0
...     return np.sum(h)
>>> show(f, np.ones(3), after="differentiate", backward=True)
  (forward sweep)
  %h_bar: float64[d1] = spread 1.0, %h
  %y_bar: float64[d1] = spread 3.0, %h
  return %y_bar
}
>>> show(f, np.ones(3), after="shapes", backward=True)
  (forward sweep)
  %h_bar: float64[d1] = spread 1.0, %y
  %y_bar: float64[d1] = spread 3.0, %y
  return %y_bar
}
"""

from __future__ import annotations

import functools
from typing import Any

from ..ir.core import Function, Op, Region, Value, leaves, map_leaves, type_of
from ..ir.opset import CAST, DIM, SIZE, SPREAD
from ..ir.rewrite import content_operands
from ..ir.types import same_dtype


def reads_lengths_only(op: Op) -> bool:
    """The operation reads lengths only. The dtype of its operand does not matter."""
    return op.prim in (DIM, SIZE) or (op.prim is SPREAD and type_of(op.args[0]).kind == "array")


def shapes_from_arguments(fn: Function) -> None:
    """Let every operation that needs only a shape ask an argument of the same shape for it, or else a value that is
    computed before and for its content."""
    # The cotangents that a pullback takes are not there yet in the forward sweep.
    own = fn.body.params[: len(fn.body.params) - fn.meta.get("seed_params", 0)]
    params = [p for p in own if p.type.kind == "array" and p.type.dims is not None]

    known = set(params)
    by_shape: dict[int, dict[Any, list[Value]]] = {}  # in a scope of lengths, the parameters of each shape
    needed = _needed(fn.body)
    before: list[Value] = []  # what the top level has computed

    def source(v: Value, op: Op, dims: Any) -> Any:
        t = type_of(v)
        if type(v) is not Value or v in known or t.kind != "array" or t.dims is None:
            return v
        if id(dims) not in by_shape:
            by_shape[id(dims)] = {}
            for p in params:
                by_shape[id(dims)].setdefault(tuple(map(dims.find, p.type.dims)), []).append(p)  # type: ignore[arg-type]
        for p in by_shape[id(dims)].get(tuple(map(dims.find, t.dims)), ()):
            if reads_lengths_only(op) or same_dtype(p.type.dtype, t.dtype):
                return p
        if v not in needed and v.op is not None and not v.op.regions:
            for p in before:
                same = len(p.type.dims or ()) == len(t.dims) and all(map(dims.same, p.type.dims or (), t.dims))
                if same and (reads_lengths_only(op) or same_dtype(p.type.dtype, t.dtype)):
                    return p
        return v

    def visit(region: Region) -> None:
        for op in region.ops:
            positions = op.prim.shape_only
            if positions and op.prim is not CAST:
                if op.prim is DIM and isinstance(op.args[1], int):
                    op.args = _length(op.args[0], op.args[1], params, region.dims)
                op.args = tuple(
                    map_leaves(functools.partial(source, op=op, dims=region.dims), a) if k in positions else a
                    for k, a in enumerate(op.args)
                )
            for inner in op.regions:
                visit(inner)
            if region is fn.body and not op.regions:  # the result of a branch may be undefined on another path
                before.extend(r for r in op.results if r in needed and r.type.kind == "array" and r.type.dims)

    visit(fn.body)


def _needed(body: Region) -> set[Value]:
    """The values whose content is read for a result, or by an operation with regions or an effect."""
    found = set(leaves(body.exit))
    for op in reversed(body.ops):
        if op.regions or op.prim.effects or any(r in found for r in op.results):
            for inner in (op, *[x for region in op.regions for x in region.walk()]):
                found.update(inner.operands() if inner.regions else content_operands(inner))
                for region in inner.regions:
                    found.update(leaves(region.exit))
    return found


def _length(v: Any, axis: int, params: list[Value], dims: Any) -> tuple[Any, int]:
    t = type_of(v)
    if type(v) is not Value or v in params or t.kind != "array" or t.dims is None:
        return v, axis
    for p in params:
        for k, d in enumerate(p.type.dims or ()):
            if dims.same(d, t.dims[axis]):
                return p, k
    return v, axis
