"""First stores: what is added first to a place of an array of zeros is stored there.

Takes a function that nobody differentiates again. Where an adjoint adds to a place of an array that it has made of
zeros, and has stored nothing there before, gives a store. An array of which all is stored before it is read does not
begin with zeros. Loops that store at their index, each iteration at another place, count as one store. Where an array
of zeros with one part stored is added to another array, the part is added to that array.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(x, w):
...     k = len(w)
...     return np.sum(np.sin(x[:k]) * w) + np.sum(x[k:] ** 3)
>>> show_source(f, np.ones(5), np.ones(2))
def f_grad(x, w):
    k = w.shape[0]
    x_bar = np.empty_like(x)
    # adjoint of line 3: return np.sum(np.sin(x[:k]) * w) + np.sum(x[k:] ** 3)
    x_bar[k:] = 3.0 * x[k:] ** 2
    x_bar[:k] = w * np.cos(x[:k])
    return x_bar
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.core import DERIVED, LOOP, Function, Op, Region, Value, structural_key
from ..ir.forms import block_length
from ..ir.opset import ACCUM, ADD, ADDAT, DIV, MUL, NEG, PRIMS, SET, ZEROS, picks_each_once
from ..ir.rewrite import collect_uses, derived
from ..ir.types import same_dtype
from ..operations.linalg import MATMUL
from ..records import record
from .filling import affine, counted
from .places import Path, are_apart, block_of, is_at_least, item_along, make_up_all

ALL: Path = (("index", (slice(None),)),)


def store_first(fn: Function, before_change: Callable[[], None] | None = None) -> bool:
    """Let first additions be stores; `before_change` is called if there are some."""
    made = [op for op in fn.body.walk() if op.tag == DERIVED and makes_zeros(op)]
    uses = collect_uses(fn.body) if made else {}
    found = [(op, chain) for op in made if (chain := _Chain(op, uses)).first or chain.is_full]
    if found and before_change is not None:
        before_change()
    for op, chain in found:
        for addition in chain.first:
            addition.prim = SET
            _cancel_signs(addition, uses)
        if chain.is_full:
            op.prim = PRIMS[np.empty] if op.prim is PRIMS[np.zeros] else PRIMS[np.empty_like]
    return bool(found)


def add_parts(fn: Function, before_change: Callable[[], None] | None = None) -> bool:
    """Add parts that are stored into zeros to the array that these are added to. The zeros are dead code then."""
    made = [op for op in fn.body.walk() if op.tag == DERIVED and makes_zeros(op)]
    uses = collect_uses(fn.body) if made else {}
    sums = [one for op in made if (one := _sum_with(op, uses)) is not None]
    if sums and before_change is not None:
        before_change()
    done: set[Op] = set()
    for stores, added, other in sums:
        if added not in done:  # both of its operands may be zeros with parts stored
            _add_parts(stores, added, other)
            done.add(added)
    return bool(sums)


def store_sums(fn: Function, before_change: Callable[[], None] | None = None) -> bool:
    """Store the sum of what is stored at a place and what is added there before anything reads it."""
    stores = [op for op in fn.body.walk() if op.prim is SET and op.tag == DERIVED]
    uses = collect_uses(fn.body) if stores else {}
    pairs = [(op, added) for op in stores if (added := _added_to(op, uses)) is not None]
    if pairs and before_change is not None:
        before_change()
    for store, added in pairs:
        region, part = added.parent, store.args[2]
        assert region is not None
        total = derived(region, ADD, part, added.args[2], loc=added.loc)
        region.ops.insert(region.ops.index(added), total)
        added.prim, added.args = SET, (store.args[0], added.args[1], total.result)
        region.ops.remove(store)
    return bool(pairs)


def _added_to(store: Op, uses: dict[Value, list[Op | Region]]) -> Op | None:
    """The addition at the place of a store that alone reads what was stored: both are arrays of the same shape."""
    users, part = uses.get(store.result, ()), store.args[2]
    added = users[0] if len(users) == 1 else None
    if not isinstance(added, Op) or added.prim is not ADDAT or added.tag != DERIVED or added.parent is not store.parent:
        return None
    if added.args[0] is not store.result or structural_key(added.args[1]) != structural_key(store.args[1]):
        return None
    more = added.args[2]
    if any(type(v) is not Value or v.type.kind != "array" or v.type.dims is None for v in (part, more)):
        return None
    if (
        added.parent is None
        or len(part.type.dims) != len(more.type.dims)
        or not picks_each_once(added.args[1], added.parent.dims)
    ):
        return None
    fits = all(map(added.parent.dims.same, part.type.dims, more.type.dims))
    whole = store.result.type.dtype
    return (
        added if fits and same_dtype(part.type.dtype, more.type.dtype) and same_dtype(part.type.dtype, whole) else None
    )


def makes_zeros(op: Op) -> bool:
    if op.prim not in (ZEROS, PRIMS[np.zeros], PRIMS[np.zeros_like]):
        return False
    t = op.result.type
    return t.kind == "array" and t.dims is not None and len(t.dims) > 0 and t.dtype is not None and t.dtype.kind in "fc"


def _sum_with(made: Op, uses: dict[Value, list[Op | Region]]) -> tuple[list[Op], Op, Value] | None:
    """The stores into an array of zeros, the sum with another array that alone reads it, and that array, which is
    computed for this sum."""
    region, at = made.parent, made.result
    stores: list[Op] = []
    added: Any = None
    while added is None:
        users = uses.get(at, ())
        step = users[0] if len(users) == 1 else None
        if not isinstance(step, Op) or step.parent is not region or region is None or step.tag != DERIVED:
            return None
        if step.prim in (ADD, ACCUM) and stores:
            added = step
        elif step.prim is ADDAT if stores else step.prim in (SET, ADDAT):
            if step.args[0] is not at or not picks_each_once(step.args[1], region.dims):
                return None
            stores.append(step)
            at = step.result
        else:
            return None
    other = added.args[1] if added.args[0] is at else added.args[0]
    if type(other) is not Value or other.op is None or other.op.parent is not region or len(uses.get(other, ())) != 1:
        return None
    if other.op.prim.alias != "fresh" or other.type.kind != "array":
        return None
    dims, shape = other.type.dims, made.result.type.dims
    if dims is None or shape is None or region is None or len(dims) != len(shape):
        return None
    fits = all(map(region.dims.same, dims, shape)) and same_dtype(other.type.dtype, made.result.type.dtype)
    return (stores, added, other) if fits else None


def _add_parts(stores: list[Op], added: Op, other: Value) -> None:
    """Add what was stored into zeros to the other array, in the place of the sum."""
    region, last = added.parent, stores[-1]
    assert region is not None
    for op in stores:
        region.ops.remove(op)
    stores[0].args = (other, *stores[0].args[1:])
    for op in stores[:-1]:
        op.prim = ADDAT
        region.ops.insert(region.ops.index(added), op)
    added.prim, added.args, added.loc = ADDAT, (last.args[0], *last.args[1:]), last.loc


def _cancel_signs(store: Op, uses: dict[Value, list[Op | Region]]) -> None:
    """What is stored need not be negated if the first factor of a product can: ``a -= -x * y`` was an addition. A
    number is negated in the place of an array."""
    sign = _negation(store.args[2], uses)
    at = product = None if sign is None else sign.args[0]
    while type(at) is Value and at.op is not None and len(uses.get(at, ())) == 1 and at.op.tag == DERIVED:
        if at.op.prim not in (MUL, DIV, MATMUL):
            return
        first, *others = at.op.args
        inner = _negation(first, uses)
        if sign is not None and inner is None and type(first) is Value and first.type.is_scalar and first.type.is_float:
            assert at.op.parent is not None
            negated = derived(at.op.parent, NEG, first, loc=sign.loc)
            at.op.parent.ops.insert(at.op.parent.ops.index(at.op), negated)
            at.op.args = (negated.result, *others)
        elif type(first) is float or inner is not None:
            at.op.args = (-first if inner is None else inner.args[0], *others)
        else:
            at = first
            continue
        store.args = (*store.args[:2], product)
        for op in (sign, inner):
            if op is not None and op.parent is not None:
                op.parent.ops.remove(op)
        return


def _negation(v: Any, uses: dict[Value, list[Op | Region]]) -> Op | None:
    """The negation of an adjoint that a value is, if it is read once."""
    op = v.op if type(v) is Value and v.type.is_float and len(uses.get(v, ())) == 1 else None
    return op if op is not None and op.prim is NEG and op.tag == DERIVED else None


@record
class Stored:
    """Where a step of the chain stores.

    within: the parts in which it stores, perhaps only at some places
    all_of: the parts that it fills
    """

    within: list[Path]
    all_of: list[Path]


class _Chain:
    """The stores into an array of zeros, one after the other.

    first:   additions to places at which nothing was stored before
    is_full: all is stored before anything is read
    """

    def __init__(self, made: Op, uses: dict[Value, list[Op | Region]]):
        self.uses = uses
        self.first: list[Op] = []
        self.is_full = False
        self.made = made
        self.shape: Any = made.result.type.dims
        self.unread = True
        v, stored = made.result, Stored([], [])
        while True:
            step = self.step_of(v, v.op.parent)  # type: ignore[union-attr]
            new = None if step is None else self.stored_by(step, v, stored.within)
            if step is None or new is None:
                break
            stored.within.extend(new.within)
            stored.all_of.extend(new.all_of)
            v = step.results[_slot(step, v)] if step.prim is LOOP else step.result
            if self.unread and not self.is_full and make_up_all(stored.all_of):
                self.is_full = self.has_one_dtype(made)

    def has_one_dtype(self, made: Op) -> bool:
        """An empty array that is like another one has its dtype."""
        like = made.args[0]
        return made.prim is PRIMS[np.zeros] or (
            type(like) is Value
            and like.type.kind == "array"
            and same_dtype(like.type.dtype, made.result.type.dtype)
            and not made.kwargs
            and len(made.args) == 1
        )

    def step_of(self, v: Value, region: Region | None) -> Op | None:
        """The one store into a version of the array, or the one loop that begins with it, in the same region."""
        steps: list[Op] = []
        users = self.uses.get(v, ())
        self.unread = self.unread and len(users) == 1
        for user in users:
            if not isinstance(user, Op):
                continue
            if user.prim is LOOP and any(x is v for x in user.inits):
                steps.append(user)
            if user.prim in (SET, ADDAT) and user.args[0] is v:
                steps.append(user)
        if len(steps) != 1 or steps[0].parent is not region:
            return None
        (step,) = steps
        times = sum(x is v for x in (step.inits if step.prim is LOOP else step.operands()))
        return step if times == 1 else None

    def stored_by(self, step: Op, v: Value, before: list[Path]) -> Stored | None:
        """Where a step stores, if `before` is where something may be stored already; None if that is not known."""
        if step.prim is LOOP:
            return self.stored_by_loop(step, _slot(step, v), before)
        path = step.args[1]
        if not path or path[0][0] != "index" or step.parent is None:
            return None
        dims = step.parent.dims
        if step.prim is ADDAT and step.tag == DERIVED and self.fits(step):
            if picks_each_once(path, dims) and all(are_apart(path, other, dims, self.shape) for other in before):
                self.first.append(step)
        filled = step.prim is SET or step in self.first
        return Stored([path if item_along(path, 0) is not None else ALL], [path] if filled else [])

    def fits(self, addition: Op) -> bool:
        """What is added has the dtype of the array, or is a number of Python's."""
        v = addition.args[2]
        t = v.type if type(v) is Value else None
        return type(v) is float if t is None else t.kind == "py" or same_dtype(t.dtype, self.made.result.type.dtype)

    def stored_by_loop(self, loop: Op, k: int, before: list[Path]) -> Stored | None:
        """Each iteration stores only at its own index along one axis, so the others have stored elsewhere."""
        body = loop.regions[0]
        if type(body.exit[0]) is not int or body.exit[0] != 0:
            return None
        steps: list[tuple[Op, Value]] = []
        v: Any = body.params[k + 1]
        while v is not body.exit[k + 1]:
            step = self.step_of(v, body)
            if step is None or step.prim is LOOP:
                return None
            steps.append((step, v))
            v = step.result
        self.unread = self.unread and len(self.uses.get(v, ())) == 1  # but for what the iteration hands on
        paths = [step.args[1] for step, _ in steps]
        order, place, axis = counted(loop), None, 0
        if order is not None:
            for axis in range(len(self.shape)):
                places = {_place(path, axis, loop, order[0]) for path in paths}
                if len(places) == 1 and None not in places:
                    (place,) = places
                    break
        if place is None and not _are_blocks(paths, loop, len(self.shape)):
            return None
        here, filled = list(before), []
        for step, v in steps:
            new = self.stored_by(step, v, here)
            if new is None:
                return None
            here += new.within
            filled += new.all_of
        if order is None or type(place) is not int:
            return Stored([ALL], [])
        whole = (slice(None),) * axis
        within: Path = (("index", (*whole, slice(order[0] + place, None))),)
        all_of: list[Path] = []
        if place == 0 and any(len(path) == 1 and _is_row(path[0][1], axis) for path in filled):
            all_of += [(("index", (*whole, rows)),) for rows in self.rows_of(loop, axis)]
        return Stored([within], all_of)

    def rows_of(self, loop: Op, axis: int) -> list[slice]:
        """The places along an axis of which the iterations have one each, if that is known."""
        start, stop, step = loop.range[:3]  # type: ignore[index]
        dims = loop.regions[0].dims
        if step < 0:
            return []
        length = stop.type.length if type(stop) is Value else stop
        if length is not None and dims.same(length, self.shape[axis]):
            return [slice(start, None)]
        return [slice(start, stop)] if is_at_least(stop, 0, dims) else []


def _slot(loop: Op, v: Value) -> int:
    """The number under which a loop carries a value."""
    return next(k for k, x in enumerate(loop.inits) if x is v)


def _are_blocks(paths: list[Path], loop: Op, rank: int) -> bool:
    """Along an axis, each path takes the block ``start:min(start + k, n)`` of the iteration. What the iterations before
    it have stored begins behind that block, or ends in front of it."""
    variable, range_ = loop.regions[0].params[0], loop.range
    down = range_ is not None and len(range_) == 4 and bool(range_[3])
    own: set[int] = set()
    for axis in range(rank):
        items: list[Any] = [item_along(path, axis) if path and path[0][0] == "index" else None for path in paths]
        if any(type(item) is not slice or item.step not in (None, 1) for item in items):
            continue
        blocks = {k for k, item in enumerate(items) if item.start is variable and _ends_block(item, loop)}
        ends = {items[k].stop for k in blocks}
        bounds = [item.start if down else item.stop for item in items]
        if len(ends) == 1 and all(x is variable or any(x is end for end in ends) for x in bounds):
            own |= blocks
    return len(own) == len(paths)


def _ends_block(item: slice, loop: Op) -> bool:
    return block_length(loop.regions[0].dims, item.start, item.stop) is not None


def _place(path: Path, axis: int, loop: Op, lowest: int) -> Any:
    """What an iteration has for itself along an axis: the place at the loop's variable plus a number, or a block of
    some length, as a key; None if it has no place for itself."""
    item = item_along(path, axis) if path and path[0][0] == "index" else None
    if type(item) is slice:
        size = block_of(item, loop) if item.step in (None, 1) else None
        return None if size is None else ("block", size)
    place = None if item is None else affine(item, loop)
    return None if place is None or lowest + place < 0 else place


def _is_row(items: tuple[Any, ...], axis: int) -> bool:
    """All along each axis but one."""
    return not any(item is None or item is Ellipsis for item in items) and all(
        k == axis or (type(item) is slice and item == slice(None)) for k, item in enumerate(items)
    )


__all__ = ["add_parts", "makes_zeros", "store_first", "store_sums"]
