"""Shapes from arguments: nothing is computed, kept or saved for its shape alone.

Takes a function. Gives the function in which an operation that needs only a shape asks an argument of that shape. Two
lengths may be known to be the same because an operation raises otherwise. Behind it, in the backward sweep, either may
be asked for. What the program itself asks for in front of it stays: the operation would not raise any more.

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
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.core import DERIVED, FUNC, Function, Op, Region, Value, leaves, map_leaves, type_of
from ..ir.opset import ADD, CAST, DIM, MUL, PRIMS, SIZE, SPREAD, SUB, ZEROS
from ..ir.rewrite import content_operands, derived, enclosing, region_of, replace_values
from ..ir.types import Dim, DimLike, Dims, Ty, same_dtype


def own_params(fn: Function) -> list[Value]:
    """The parameters but for the cotangents that a pullback takes, which are not there yet in the forward sweep."""
    return fn.body.params[: len(fn.body.params) - fn.meta.get("seed_params", 0)]


def reads_lengths_only(op: Op) -> bool:
    """The operation reads lengths only. The dtype of its operand does not matter."""
    return op.prim in (DIM, SIZE) or (op.prim is SPREAD and type_of(op.args[0]).kind == "array")


def shapes_from_arguments(fn: Function) -> None:
    """Let every operation that needs only a shape ask an argument of the same shape for it, or else a value that is
    computed before and for its content."""
    params = [p for p in own_params(fn) if p.type.kind == "array" and p.type.dims is not None]

    known = set(params)
    by_shape: dict[int, dict[Any, list[Value]]] = {}  # in a scope of lengths, the parameters of each shape
    needed = _needed(fn.body)
    before: list[Value] = []  # what the top level has computed

    def source(v: Value, op: Op, dims: Any) -> Any:
        t = type_of(v)
        if type(v) is not Value or v in known or t.kind != "array" or t.dims is None:
            return v
        if not _is_behind(op):
            return next((p for p in params if _is_of_shape(p, v, op, fn.body.dims)), v)
        if id(dims) not in by_shape:
            by_shape[id(dims)] = {}
            for p in params:
                by_shape[id(dims)].setdefault(tuple(map(dims.find, p.type.dims)), []).append(p)  # type: ignore[arg-type]
        for p in by_shape[id(dims)].get(tuple(map(dims.find, t.dims)), ()):
            if reads_lengths_only(op) or same_dtype(p.type.dtype, t.dtype):
                return p
        # What the top level has computed may be of one iteration, and `v` of another.
        lasts = region_of(v) is fn.body or all(not isinstance(d, Dim) or dims.is_argument(d) for d in t.dims)
        if v not in needed and v.op is not None and not v.op.regions and lasts:
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
                    same = region.dims.same if _is_behind(op) else functools.partial(_is_certain, fn.body.dims)
                    op.args = _length(op.args[0], op.args[1], params, same)
                op.args = tuple(
                    map_leaves(functools.partial(source, op=op, dims=region.dims), a) if k in positions else a
                    for k, a in enumerate(op.args)
                )
            if op.prim is ZEROS and type(op.args[0]) is Value and _is_away(op.args[0], op):
                zeros.append((op, op.args[0].type))
            if op.prim is SIZE and type(op.args[0]) is Value and _is_behind(op) and _is_away(op.args[0], op):
                sizes.append((op, op.args[0].type))
            for inner in op.regions:
                visit(inner)
            if region is fn.body and not op.regions:  # the result of a branch may be undefined on another path
                before.extend(r for r in op.results if r in needed and r.type.kind == "array" and r.type.dims)

    zeros: list[tuple[Op, Ty]] = []
    sizes: list[tuple[Op, Ty]] = []
    visit(fn.body)
    lengths: dict[Any, Any] = {}
    for op, t in zeros:
        if same_dtype(t.dtype, np.dtype(float)) and (made := _lengths(op, t, params, fn, lengths)):
            op.prim, op.args, op.kwargs = PRIMS[np.zeros], (tuple(made) if len(made) > 1 else made[0],), {}
    same: dict[Value, Any] = {}
    for op, t in sizes:
        if (made := _lengths(op, t, params, fn, lengths)) and not all(type(n) is int for n in made):
            same[op.result] = functools.reduce(functools.partial(_product, fn.body), made)
    replace_values(fn.body, same)


def _is_behind(op: Op) -> bool:
    """The operation runs behind all those of the program from which it is known that lengths are the same."""
    return bool(op.tag == DERIVED)


def _is_certain(top: Dims, a: DimLike, b: DimLike) -> bool:
    """The lengths are the same wherever they are asked for: one, or of arguments, which each call checks."""
    if a == b:
        return True
    return all(isinstance(d, int) or top.is_argument(d) for d in (a, b)) and top.find(a) == top.find(b)


def _is_of_shape(p: Value, v: Value, op: Op, top: Dims) -> bool:
    """The program may ask an argument for its shape in the place of another value."""
    have, want = p.type.dims, v.type.dims
    if have is None or want is None or len(have) != len(want):
        return False
    if not (reads_lengths_only(op) or same_dtype(p.type.dtype, v.type.dtype)):
        return False
    return all(_is_certain(top, *pair) for pair in zip(have, want))


def _is_away(v: Value, op: Op) -> bool:
    """The value was computed in a loop or branch of the forward sweep, so that it would be saved."""
    home = region_of(v)
    return v.op is not None and all(region is not home for region in enclosing(op.parent))


def _lengths(op: Op, t: Ty, params: list[Value], fn: Function, lengths: dict[Any, Any]) -> list[Any]:
    """The lengths of an array's axes as numbers that the arguments' shapes give, behind the forward sweep; none if they
    do not tell."""
    if t.kind != "array" or not t.dims or op.parent is None:
        return []
    top, dims = op, op.parent.dims
    while top.parent is not fn.body:
        if top.parent is None or top.parent.op is None or top.parent.op.prim is FUNC:
            return []
        top = top.parent.op
    axes: list[Any] = [d if isinstance(d, int) else _axis(d, params, dims) for d in map(dims.find, t.dims)]
    if None in axes:
        return []
    made: list[Any] = []
    for d in axes:
        if isinstance(d, int):
            made.append(d)
            continue
        param, axis, off = d
        if d not in lengths:
            at = _begin(fn.body)
            length = _new(fn.body, at, DIM, (param, axis))
            if off:
                length = _new(fn.body, at + 1, SUB if off > 0 else ADD, (length, abs(off)))
            lengths[d] = length
        made.append(lengths[d])
    return made


def _product(body: Region, x: Any, y: Any) -> Any:
    """The product of two lengths."""
    behind = [k + 1 for k, op in enumerate(body.ops) for v in (x, y) if type(v) is Value and v.op is op]
    return _new(body, max(behind), MUL, (x, y)) if behind else x * y


def _begin(body: Region) -> int:
    """Where the backward sweep begins."""
    return next((k for k, op in enumerate(body.ops) if op.tag == DERIVED), 0)


def _axis(d: Dim, params: list[Value], dims: Dims) -> tuple[Value, int, int] | None:
    """An axis of an argument, and by how much it is longer."""
    if d.off > 2 and not dims.not_zero(d):
        return None  # the axis may be shorter
    for p in params:
        for k, e in enumerate(map(dims.find, p.type.dims or ())):
            if isinstance(e, Dim) and e.root == d.root and e.off == 0:
                return p, k, d.off
    return None


def _new(region: Region, at: int, prim: Any, args: tuple[Any, ...]) -> Value:
    op = derived(region, prim, *args)
    region.ops.insert(at, op)
    return op.result


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


def _length(v: Any, axis: int, params: list[Value], same: Callable[[Any, Any], bool]) -> tuple[Any, int]:
    t = type_of(v)
    if type(v) is not Value or v in params or t.kind != "array" or t.dims is None:
        return v, axis
    for p in params:
        for k, d in enumerate(p.type.dims or ()):
            if same(d, t.dims[axis]):
                return p, k
    return v, axis
