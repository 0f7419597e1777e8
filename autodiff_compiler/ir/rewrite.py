"""Ways to copy and look around in the IR that several passes share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import opset
from .core import Function, Op, Prim, Region, Value, leaves, map_leaves

# Argument positions of which an operation reads only the shape and dtype.
SHAPE_ONLY: dict[Prim, tuple[int, ...]] = {
    opset.SUM_TO: (1,),
    opset.SPREAD: (1,),
    opset.ZEROS: (0,),
    opset.DIM: (0,),
    opset.SHAPE_OF: (0,),
    opset.NDIM: (0,),
    opset.SIZE: (0,),
    opset.DTYPE: (0,),
    opset.FULL_LIKE: (0,),
    opset.FINISH: (1,),
}


def content_operands(op: Op) -> list[Value]:
    """The values whose content, not only whose shape, the operation reads."""
    skip = SHAPE_ONLY.get(op.prim)
    if skip is None:
        return op.operands()
    kept = [arg for position, arg in enumerate(op.args) if position not in skip]
    return leaves([*kept, op.kwargs])


def region_of(value: Value) -> Region:
    """The region in which a value is defined."""
    region = value.op.parent if value.op is not None else value.region
    assert region is not None
    return region


def enclosing(region: Region | None) -> Iterator[Region]:
    """The region and those around it, innermost first."""
    while region is not None:
        yield region
        region = region.op.parent if region.op is not None else None


def clone_function(fn: Function) -> tuple[Function, dict[Value, Value]]:
    """A copy with values of its own, and the map from old to new values."""
    mapping: dict[Value, Value] = {}
    return Function(fn.name, clone_region(fn.body, mapping), dict(fn.meta)), mapping


def clone_region(region: Region, mapping: dict[Value, Value]) -> Region:
    new = Region(region.dims)
    for param in region.params:
        mapping[param] = new.param(param.type, param.hint)
    for op in region.ops:
        clone_op(op, mapping, new)
    new.exit = substitute(region.exit, mapping)
    return new


def clone_op(op: Op, mapping: dict[Value, Value], into: Region) -> Op:
    regions = tuple(clone_region(r, mapping) for r in op.regions)
    new = Op(op.prim, substitute(op.args, mapping), substitute(op.kwargs, mapping), regions, op.loc)
    new.checks, new.droppable, new.tag = op.checks, op.droppable, op.tag
    for result in op.results:
        mapping[result] = copy = Value(result.type, result.hint, new)
        new.results.append(copy)
    new.parent = into
    into.ops.append(new)
    return new


def substitute(arg: Any, mapping: dict[Value, Value]) -> Any:
    return map_leaves(lambda v: mapping.get(v, v), arg)


def replace_values(region: Region, mapping: dict[Value, Any]) -> None:
    """Replace uses of values throughout a region, in place. Chains in the mapping are followed."""
    if not mapping:
        return

    def resolve(v: Value) -> Any:
        while type(v) is Value and v in mapping:
            v = mapping[v]
        return v

    def visit(r: Region) -> None:
        for op in r.ops:
            op.args = map_leaves(resolve, op.args)
            if op.kwargs:
                op.kwargs = map_leaves(resolve, op.kwargs)
            for inner in op.regions:
                visit(inner)
        r.exit = map_leaves(resolve, r.exit)

    visit(region)


def collect_uses(region: Region) -> dict[Value, list[Op | Region]]:
    """Every user of each value: operations, and regions whose exit names it."""
    uses: dict[Value, list[Op | Region]] = {}

    def visit(r: Region) -> None:
        for op in r.ops:
            for v in op.operands():
                uses.setdefault(v, []).append(op)
            for inner in op.regions:
                visit(inner)
        for v in leaves(r.exit):
            uses.setdefault(v, []).append(r)

    visit(region)
    return uses
