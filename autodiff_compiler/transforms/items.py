"""Items of lists: a loop that reads them by its index runs over the items.

Takes a function whose stores are safe in place. Gives the function in which a loop that uses its variable for nothing
but reads of lists that do not change names these reads at its top (`LIST_ITEM`). Each says which part of its list the
loop reads. `codegen.control` prints ``for x_i in x_list`` then, or ``zip`` of several lists, and of what was saved. If
the loop needs its variable, too, it is ``for i, x_i in enumerate(x_list)``.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(k, x):
...     s = 0.0
...     for i in range(len(x) - 1):
...         s = k * s + x[i] * x[i + 1]
...     return s * s
>>> show_source(f, 0.5, np.ones(3))
def f_grad(k, x):
    x_list = x.tolist()
    s_saved = []
    s = 0.0
    for x_i, x_next in zip(x_list, x_list[1:]):
        s_saved.append(s)
        s = k * s + x_i * x_next
    # adjoint of line 5: return s * s
    s_bar = 2.0 * s
    k_bar = 0.0
    # adjoint of line 3: for i in range(len(x) - 1):
    for s in reversed(s_saved):
        # adjoint of line 4: s = k * s + x[i] * x[i + 1]
        k_bar += s_bar * s
        s_bar *= k
    return k_bar
"""

from __future__ import annotations

from typing import Any

from ..ir.core import LOOP, Function, Op, Region, Value, type_of
from ..ir.opset import ADD, LIST_GET, LIST_ITEM, POP, SUB, TOLIST, UNPACK
from ..ir.rewrite import collect_uses, enclosing, region_of, replace_values
from ..ir.types import Dim
from .simplify import is_in_range

MOST = 4  # lists that one loop runs over
FEW = 2  # and beside an index

Uses = dict[Value, list[Op | Region]]


def name_items(fn: Function) -> None:
    """Let loops run over items."""
    uses: Uses | None = None
    for op in list(fn.body.walk()):
        if op.prim is LOOP and op.range is not None:
            uses = collect_uses(fn.body) if uses is None else uses
            if _runs_over_items(op, uses):
                uses = None


def _runs_over_items(loop: Op, uses: Uses) -> bool:
    """Make the reads of lists by the variable of a loop items of these, if it has no other use."""
    assert loop.range is not None
    body = loop.regions[0]
    index = body.params[0]
    start, _, step = loop.range[:3]
    if type(start) is not int or start < 0 or type(step) is not int or step != 1 or not uses.get(index):
        return False
    sums: list[Op] = []
    reads: dict[tuple[Value, int], list[Op]] = {}
    counted = False  # the variable is used for something else, too

    for user in uses[index]:
        users, there, more = [user], index, 0
        if isinstance(user, Op) and user.parent is body and _is_next(user, index):
            users, there = uses.get(user.result, []), user.result
            more = user.args[1] if user.prim is ADD else -user.args[1]
        found = [x for x in users if isinstance(x, Op) and x.parent is body and _reads(x, there, uses)]
        if len(found) < len(users):
            counted = True
            continue
        if there is not index and isinstance(user, Op):
            sums.append(user)
        for x in found:
            reads.setdefault((x.args[0], more), []).append(x)
    if counted:
        if start or loop.range[3:] == (True,):
            return False
        reads, sums = {key: ops for key, ops in reads.items() if key[1] == 0}, []
    parts = {key: _part(loop, index, *key) for key in reads}
    if counted:
        parts = {key: part for key, part in parts.items() if part is not None}
        reads = {key: reads[key] for key in parts}
    if not 0 < len(reads) <= (FEW if counted else MOST) or None in parts.values():
        return False
    at = next((k for k, op in enumerate(body.ops) if op.prim is not POP), 0)
    mapping: dict[Value, Value] = {}
    gone: set[Op] = set(sums)
    made: list[Op] = []
    for (items, more), ops in reads.items():
        first = ops[0]
        op = Op(LIST_ITEM, (items, index, more, *parts[items, more]), {}, (), first.loc)  # type: ignore[misc]
        op.tag, op.again, op.parent = first.tag, first.again, body
        op.results = [Value(first.result.type, first.result.hint, op)]
        made.append(op)
        gone.update(ops)
        mapping.update({read.result: op.result for read in ops})
    body.ops[at:at] = made
    body.ops = [op for op in body.ops if op not in gone]
    replace_values(body, mapping)
    return True


def _reads(op: Op, at: Value, uses: Uses) -> bool:
    """The operation reads the item at this index of a list that does not change, and is there in front of the loop."""
    if op.prim is not LIST_GET or op.args[1] is not at or not is_constant(op.args[0], uses):
        return False
    return not any(region is op.parent for region in enclosing(region_of(op.args[0])))


def _is_next(op: Op, index: Value) -> bool:
    """The sum of a loop's variable and a number, or their difference."""
    return op.prim in (ADD, SUB) and op.args[0] is index and type(op.args[1]) is int


def _part(loop: Op, index: Value, items: Value, more: int) -> tuple[int, Any] | None:
    """From where to where a loop reads a list, if each iteration reads an item."""
    assert loop.range is not None and loop.parent is not None
    length, region = list_length(items), loop.parent
    if length is None or not is_in_range(index, more, length, region, True):
        return None
    start, stop = loop.range[:2]
    end = stop if type(stop) is int else type_of(stop).length
    assert end is not None  # or it would not be in range
    end, length = region.dims.find(end), region.dims.find(length)
    if isinstance(end, int) and isinstance(length, int):
        left = length - end - more
    elif isinstance(end, Dim) and isinstance(length, Dim) and end.root == length.root:
        left = end.off - more - length.off
    elif more or not isinstance(end, Dim) or end.off:
        return None  # less than a length may be negative, and would count from the end
    elif region.dims.top().assume(end, length, True):
        left = 0
    else:
        return start, stop
    return start + more, -left if left else None


def is_constant(items: Any, uses: Uses) -> bool:
    """A list of numbers that nothing stores into, or a row of it."""
    while type(items) is Value and items.op is not None and items.op.prim in (LIST_GET, LIST_ITEM):
        items = items.op.args[0]
    return type(items) is Value and items.op is not None and items.op.prim is TOLIST and is_only_read(items, uses)


def is_only_read(items: Value, uses: Uses) -> bool:
    """Nothing is done with a list but reading its items, and theirs."""
    for user in uses.get(items, ()):
        if not isinstance(user, Op) or user.prim not in (LIST_GET, LIST_ITEM, UNPACK) or user.args[0] is not items:
            return False
        if any(r.type.kind == "list" and not is_only_read(r, uses) for r in user.results):
            return False
    return True


def list_length(items: Value) -> Any:
    """How many items a list has that `TOLIST` made, or a row of it, as far as that is known."""
    depth, op = 0, items.op
    while op is not None and op.prim in (LIST_GET, LIST_ITEM):
        depth, op = depth + 1, op.args[0].op
    dims = type_of(op.args[0]).dims if op is not None and op.prim is TOLIST else None
    return dims[depth] if dims is not None and depth < len(dims) else None


__all__ = ["is_constant", "is_only_read", "list_length", "name_items"]
