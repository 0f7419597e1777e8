"""Specialisation on demand: which actions of a plan make something static that is not.

A value may be unknown because two paths were joined, because it depends on a loop's variable, or because it is an int
or a shape of an argument. The action is to compile what follows the `if` once for each path, to unroll the loop, or to
make the number a part of the signature. If what is unknown is not a number but what kind of thing a value is, only the
first trip of a loop may differ: it is lowered apart before the loop is unrolled.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import AutodiffError
from ..ir import opset
from ..ir.core import IF, LOOP, Op, Value
from ..ir.opset import DIM, DTYPE, FORMAT, GET, LEN, SHAPE_OF, SIZE
from .avals import Conflict, Interrupted, ListRef, Maybe, Origin, Poison, Ref, is_composite, parts_of
from .journal import Unwound
from .layout import Layout
from .plan import EXACT, LAYOUT, NOTHING_ASSUMED, PEEL, SPLIT, STATIC, UNROLL, Action, original

if TYPE_CHECKING:
    from .core import Core

MAX_DOUBLINGS = 3  # of what follows branches that ints from outside decide


def demand(interp: Core, cause: Any, error: AutodiffError) -> None:
    """Start again with a larger plan, if that removes the cause of the error."""
    interp.plan.require([Action(NOTHING_ASSUMED, original(stmt)) for stmt in interp.assuming], error)
    interp.plan.require(actions_for(interp, cause), error)
    origin = getattr(cause, "origin", None)
    if type(origin) is Origin:
        for action in _around(origin):
            first = None if action is None else interp.plan.actions.get(action)
            if first is not None:
                raise first  # nothing helped: the error that came first says it best


def prefer_known(interp: Core, av: Any, unroll: bool = False) -> None:
    """Start again with a larger plan if that tells which of two kinds of things this is."""
    actions = actions_for(interp, av)
    if actions and (unroll or all(kind is SPLIT for kind, _ in actions)):
        interp.plan.require(actions, None)


def actions_for(interp: Core, cause: Any) -> list[Action] | None:
    kind = type(cause)
    if kind is Maybe:
        return actions_for(interp, cause.av)
    if kind in (Conflict, Poison, Interrupted):
        return _next(interp, cause.origin, kind=kind is Conflict)
    if kind is Origin or kind is Layout or kind is Unwound:
        return _next(interp, cause)
    if kind is Ref or kind is ListRef:
        origin = interp.cells.joined.get(cause.cell)
        found = _next(interp, origin) if origin is not None else None
        content = interp.state.heap.get(cause.cell)
        if found is None and content is not None:
            found = actions_for(interp, content)
        return found
    if kind is Value:
        out: list[Action] = []
        whole = cause.type.kind in ("any", "array", "list") and (cause.op is None or cause.op.prim is not FORMAT)
        ok = _of_kind(interp, cause, out, set()) if whole else _of_value(interp, cause, out, set())
        return out if ok else None
    if kind in (list, tuple) or is_composite(cause):
        out = []
        for x in cause if kind in (list, tuple) else parts_of(cause):
            out += actions_for(interp, x) or []
        return out
    return None


def _next(interp: Core, origin: Any, kind: bool = False) -> list[Action] | None:
    """The innermost construct around a join that is not specialised yet. kind: of what is joined, not even the kind is
    known."""
    if origin is None:
        return None
    if type(origin) is Unwound:
        return [Action(EXACT, original(origin.node))]
    if type(origin) is Layout:
        return [Action(LAYOUT, path) for path in (*origin.inputs, ())]
    for action in _around(origin, kind and interp.plan.peels):
        if action is None or action[1] in interp.plan.refused:
            return None
        if action not in interp.plan.actions:
            return _by_ints(interp, origin, action) or [action]
    return None


def _by_ints(interp: Core, origin: Origin, action: Action) -> list[Action] | None:
    """What makes the ints known that alone decide a branch, where code for each of its paths would double once more.

    A few branches are compiled for both of their paths: that code serves all values of the ints. Beyond these, the ints
    are known that decide any of them.
    """
    if action != (SPLIT, original(origin.node)):
        return None
    if sum(kind is SPLIT for kind, _ in interp.plan.actions) < MAX_DOUBLINGS:
        return None
    decided = [op.args[0] for op, made in interp.cells.made.items() if made is origin and op.prim is IF]
    mine = [_ints_of(interp, condition) for condition in decided]
    if not mine or None in mine:
        return None
    # The conditions of the branches in which this stands: those that are split are among them.
    around = [_ints_of(interp, condition) for condition in interp.facts]
    return list(dict.fromkeys([action for actions in (*mine, *around) for action in actions or ()]))


def _ints_of(interp: Core, condition: Any) -> list[Action] | None:
    """What makes the ints from outside known that alone decide a condition."""
    out: list[Action] = []
    known = type(condition) is Value and _of_value(interp, condition, out, set())
    return out if known and all(kind is STATIC for kind, _ in out) else None


def _around(origin: Origin, peel: bool = False) -> Iterator[Action | None]:
    """The constructs around a join, from inside out; None where there is no way out of one."""
    node, frame = original(origin.node), origin.frame
    if isinstance(node, (ast.For, ast.While)) and peel:
        yield Action(PEEL, node)
    yield from _own(node)
    while True:
        parents = parents_of(frame.node)
        while node is not frame.node:
            up = parents.get(node)
            if up is None:
                yield None
                return
            yield from _enclosing(up, node)
            node = up
        call = original(frame.call[0]) if frame.call is not None else None
        if not isinstance(call, (ast.Call, ast.Attribute)) or frame.caller is None or not hasattr(frame.caller, "node"):
            yield None
            return
        yield Action(SPLIT, call)
        node, frame = call, frame.caller


def _own(node: Any) -> Iterator[Action | None]:
    if isinstance(node, (ast.If, ast.IfExp, ast.BoolOp, ast.pattern, ast.Try, ast.ExceptHandler)):
        yield Action(SPLIT, node)
    elif isinstance(node, (ast.For, ast.While)) or hasattr(node, "generators"):
        yield Action(UNROLL, node)
        if isinstance(node, ast.For):
            yield Action(SPLIT, node)
    else:
        yield None


def _enclosing(up: Any, node: Any) -> Iterator[Action | None]:
    if isinstance(up, (ast.If, ast.IfExp)):
        if node is not up.test:
            yield Action(SPLIT, up)
    elif isinstance(up, ast.match_case):
        if node is not up.pattern:
            yield Action(SPLIT, up.pattern)
    elif isinstance(up, ast.Match):
        if isinstance(node, ast.match_case):  # it stands where those before it have not matched
            for case in reversed(up.cases[: up.cases.index(node)]):
                yield Action(SPLIT, case.pattern)
    elif isinstance(up, ast.Try):
        # What follows is split behind the body, not in it.
        yield None if node in up.body or up.finalbody else Action(SPLIT, up)
    elif isinstance(up, (ast.For, ast.While)):
        if node is not getattr(up, "iter", None):
            yield from _own(up)
    elif isinstance(up, ast.BoolOp):
        if node is not up.values[0]:
            yield Action(SPLIT, up)
    elif (hasattr(up, "body") and isinstance(up, ast.stmt)) or isinstance(up, ast.comprehension):
        if not isinstance(up, ast.FunctionDef):
            yield None


def parents_of(tree: Any) -> dict[Any, Any]:
    """The node above each node of a function, found once."""
    found: dict[Any, Any] | None = getattr(tree, "_parents", None)
    if found is None:
        found = tree._parents = {}
        todo = [tree]
        while todo:
            node = todo.pop()
            for child in ast.iter_child_nodes(node):
                found[child] = node
                todo.append(child)
    return found


def _of_value(interp: Core, value: Value, out: list[Action], seen: set[Value]) -> bool:
    """What makes a number or string static; False if nothing does."""
    if value in seen:
        return True
    seen.add(value)
    if value.op is None:
        return _of_parameter(interp, value, out)
    op = value.op
    origin = interp.cells.made.get(op)
    if op.prim is IF or op.prim is LOOP:
        found = _next(interp, origin)
        if found is None and op.prim is IF:
            found = _ints_of(interp, op.args[0])  # there is no way to compile each path apart
        out += found or []
        if found is not None and op.prim is IF and found == [Action(SPLIT, original(origin.node))]:  # type: ignore[union-attr]
            _of_inner_branches(interp, value, out, seen)
        return found is not None
    if op.prim in (DIM, SHAPE_OF, SIZE, LEN):
        operand = op.args[0]
        if type(operand) is Value and operand.type.dims is not None:
            return _of_lengths(interp, operand, out, seen)
        return type(operand) is Value and _of_kind(interp, operand, out, set())
    operands = op.operands()
    if op.prim is DTYPE:
        return _of_kind(interp, op.args[0], out, set())
    if op.regions or not operands or any(v.type.kind == "array" for v in operands):
        return False
    return all(
        _of_kind(interp, v, out, set()) if v.type.kind == "list" else _of_value(interp, v, out, seen) for v in operands
    )


def _of_inner_branches(interp: Core, value: Value, out: list[Action], seen: set[Value]) -> None:
    """What makes static what the branches inside of a branch yield for its result: it would be asked for next, by one
    attempt after another for a long chain of ``elif``."""
    assert value.op is not None
    for region in value.op.regions:
        x = region.exit[value.op.results.index(value)]
        if type(x) is Value and x.op is not None and x.op.prim is IF and x.op.parent is region and x not in seen:
            splits = sum(kind is SPLIT for kind, _ in {*interp.plan.actions, *out})
            if splits < MAX_DOUBLINGS or all(_ints_of(interp, c) is None for c in (value.op.args[0], x.op.args[0])):
                _of_value(interp, x, out, seen)


def _of_parameter(interp: Core, value: Value, out: list[Action]) -> bool:
    region = value.region
    origin = interp.cells.loops.get(region)
    if origin is not None:
        found = _next(interp, origin)
        out += found or []
        return found is not None
    if region is interp.top:
        item = interp.inputs.inputs[interp.top.params.index(value)]
        if item.key == ("number", int):
            out.append(Action(STATIC, item.path))
            return True
    return False


def _of_lengths(interp: Core, array: Value, out: list[Action], seen: set[Value]) -> bool:
    """The arguments whose shapes give that of an array, or what gives those of the arrays, and the ints, that it is
    computed from."""
    if array in seen or _of_shape(interp, array, out):
        return True
    seen.add(array)
    if array.op is None or array.op.regions:
        known = interp.cells.loops.get(array.region) if array.op is None else interp.cells.made.get(array.op)
        found = _next(interp, known)
        out += found or []
        return found is not None
    sources = array.op.operands()
    arrays = [v for v in sources if v.type.kind in ("any", "array") and v.type.dims != ()]
    numbers = [v for v in sources if v.type.is_scalar and v.type.dtype == np.dtype(np.int64)]
    return bool(arrays or numbers) and all(
        [_of_kind(interp, v, out, set()) if v.type.dims is None else _of_lengths(interp, v, out, seen) for v in arrays]
        + [_of_value(interp, v, out, set()) for v in numbers]
    )


def _of_shape(interp: Core, array: Value, out: list[Action]) -> bool:
    """The arguments whose shapes give that of an array."""
    dims = interp.builder.dims
    roots = {getattr(dims.find(d), "root", None) for d in array.type.dims or ()} - {None}
    for item in interp.inputs.inputs:
        mine = {getattr(dims.find(d), "root", None) for d in item.type.dims or ()}
        if mine & roots:
            out.append(Action(STATIC, item.path))
            roots -= mine
    if roots and array.op is not None and array.op.prim is GET:
        # The length of a slice depends on that of the whole, and on its bounds.
        for v in array.op.operands():
            known = v.type.dims is not None and not v.type.is_scalar
            if not (_of_shape(interp, v, out) if known else _of_value(interp, v, out, set())):
                return False
        return True
    return not roots


def _of_kind(interp: Core, value: Value, out: list[Action], seen: set[Value]) -> bool:
    """What makes it known what kind of thing this is."""
    if value in seen:
        return False
    seen.add(value)
    if value.op is None:
        origin = interp.cells.loops.get(value.region)
    else:
        origin = interp.cells.made.get(value.op)
        if origin is None:
            if value.op.prim in _PLACES:
                return _of_places(interp, value.op, out, seen)
            operands = value.op.operands()
            vague = [v for v in operands if v.type.kind in ("any", "list") or v.type.dims is None]
            if value.type.kind == "array" and value.type.dims is not None:  # only the dtype is not known
                vague += [v for v in operands if v.type.kind == "array" and v.type.dtype is None]
            vague += [v for v in operands if v.type.is_scalar and v.type.dtype is None]
            if not vague:  # it may depend on an axis
                numbers = [v for v in operands if v.type.is_scalar and v.type.dtype == np.dtype(np.int64)]
                return bool(numbers) and all(_of_value(interp, v, out, set()) for v in numbers)
            return max([_of_kind(interp, v, out, seen) for v in vague], default=False)
    found = _next(interp, origin, kind=True)
    if found is None and value.op is not None and value.op.prim is IF:
        found = _ints_of(interp, value.op.args[0])  # as above
    out += found or []
    return found is not None


# Operations on lists, and which operands say where something is put in, changed or taken out.
_PLACES = {
    opset.LIST_SET: (1,), opset.LIST_INSERT: (1,), opset.LIST_DROP: (1,), opset.LIST_SLICE: (1, 2, 3),
    opset.LIST_CUT: (1, 2), opset.LIST_SPLICE: (1,),
}  # fmt: skip


def _of_places(interp: Core, op: Op, out: list[Action], seen: set[Value]) -> bool:
    """What makes it known which items a list has: the places that its items have been moved by."""
    places = [op.args[k] for k in _PLACES[op.prim] if type(op.args[k]) is Value]
    lists = [op.args[0], op.args[2]] if op.prim is opset.LIST_SPLICE else [op.args[0]]
    vague = [v for v in lists if type(v) is Value and (v.op is None or v.op.prim is not opset.LIST_NEW)]
    return all([_of_value(interp, v, out, set()) for v in places] + [_of_kind(interp, v, out, seen) for v in vague])
