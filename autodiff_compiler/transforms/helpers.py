"""Functions for what several calls of a helper have in common, in the forward sweep or in the backward sweep.

The frontend puts what a helper does in the place of each call, so the code of a helper that is called four times stands
there four times, and its adjoint too. Takes a function whose stores are safe in place. Gives the same function, in
which operations that were made from the same lines of a helper, for several calls, are one function that each calls.
It takes all that they read from around them, and stores only into arrays of its own, so it does what they did. In the
place of parts of an array it takes the array (`parts`). A call
takes as long as two or three operations on numbers: what computes with numbers, or does little, stays where it is.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def rate(y, k):
...     grown = np.exp(-y * y)
...     return np.tanh(k * grown + np.sin(y) * grown) - k * y
>>> def f(y, k):
...     k1 = rate(y, k)
...     k2 = rate(y + 0.5 * k1, k)
...     k3 = rate(y + 0.5 * k2, k)
...     k4 = rate(y + k3, k)
...     return np.sum(k1 + k2 + k3 + k4)
>>> show_source(f, np.ones(3), 0.5)
def rate_pullback(k3_bar, k, t, grown, y_plus_half_k2, t2):
    # adjoint of line 3: return np.tanh(k * grown + np.sin(y) * grown) - k * y
    t = k3_bar * (1.0 - t * t)
    # adjoint of line 2: grown = np.exp(-y * y)
    t2 = -2.0 * ((t2 + k) * t * grown * y_plus_half_k2)
    return k3_bar * k, t * grown * np.cos(y_plus_half_k2), t2
<BLANKLINE>
<BLANKLINE>
def f_grad(y, k):
    grown = np.exp(-y * y)
    sin_y = np.sin(y)
    t = np.tanh(k * grown + sin_y * grown)
    k1 = t - k * y
    y_plus_half_k1 = y + 0.5 * k1
    grown2 = np.exp(-y_plus_half_k1 * y_plus_half_k1)
    t2 = np.sin(y_plus_half_k1)
    t3 = np.tanh(k * grown2 + t2 * grown2)
    k2 = t3 - k * y_plus_half_k1
    y_plus_half_k2 = y + 0.5 * k2
    grown3 = np.exp(-y_plus_half_k2 * y_plus_half_k2)
    t4 = np.sin(y_plus_half_k2)
    t5 = np.tanh(k * grown3 + t4 * grown3)
    k3 = t5 - k * y_plus_half_k2
    t6 = y + k3
    grown4 = np.exp(-t6 * t6)
    t7 = np.sin(t6)
    t8 = np.tanh(k * grown4 + t7 * grown4)
    # adjoint of line 3: return np.tanh(k * grown + np.sin(y) * grown) - k * y
    t8 = 1.0 - t8 * t8
    y_bar = t8 * grown4 * np.cos(t6) - k
    # adjoint of line 2: grown = np.exp(-y * y)
    y_bar -= 2.0 * ((t7 + k) * t8 * grown4 * t6)
    # adjoint of line 4: k3 = rate(y + 0.5 * k2, k)
    t4, t5, t6 = rate_pullback(1.0 + y_bar, k, t5, grown3, y_plus_half_k2, t4)
    # adjoint of line 2: grown = np.exp(-y * y)
    half_k2_bar = t5 - t4 + t6
    # adjoint of line 4: k3 = rate(y + 0.5 * k2, k)
    y_bar += half_k2_bar
    # adjoint of line 3: k2 = rate(y + 0.5 * k1, k)
    t2, t3, t4 = rate_pullback(1.0 + 0.5 * half_k2_bar, k, t3, grown2, y_plus_half_k1, t2)
    # adjoint of line 2: grown = np.exp(-y * y)
    half_k1_bar = t3 - t2 + t4
    # adjoint of line 3: k2 = rate(y + 0.5 * k1, k)
    y_bar += half_k1_bar
    # adjoint of line 2: k1 = rate(y, k)
    t, t2, t3 = rate_pullback(1.0 + 0.5 * half_k1_bar, k, t, grown, y, sin_y)
    # adjoint of line 3: return np.tanh(k * grown + np.sin(y) * grown) - k * y
    y_bar -= t
    y_bar += t2
    # adjoint of line 2: grown = np.exp(-y * y)
    y_bar += t3
    return y_bar
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from ..analysis.sharing import Sharing
from ..ir.core import (
    CALL,
    DERIVED,
    FUNC,
    UNDEF,
    Function,
    Loc,
    Op,
    Region,
    Value,
    map_leaves,
    new_func,
    structural_key,
)
from ..ir.opset import POP, PUSH, STACK_NEW, STORES
from ..ir.rewrite import called, collect_uses, region_of
from ..ir.telling import name_of
from ..ir.types import Ty
from ..records import record
from .parts import drop_unread, may_raise, parts_of_arrays, read_parts

ARRAYS = 4  # operations on arrays: with fewer, a call would cost too much
PRINTED = 0.6  # statements for each operation
NAMES = 14  # arguments and results of a call: more do not fit on a line
EACH = 3  # operations for each result: what gives more would not be written as a function
MOST = 12  # other calls that are looked at for each
KINDS = frozenset({"py", "generic", "scalar", "array"})


@dataclass(frozen=True)
class Stand:
    """What stands for a value in a key: the number of the operation that makes it, or the facts of its type."""

    what: Any


@record
class Part:
    """Operations of one region that were made from the lines of a helper for one call of it."""

    region: Region
    ops: list[Op]


def share_helpers(fn: Function, sharing: Sharing) -> bool:
    """Make functions of what calls of a helper have in common. Returns whether there is any."""
    families: dict[Any, dict[Any, Part]] = {}
    for region in [fn.body, *[r for op in fn.body.walk() if op.prim is not FUNC for r in op.regions]]:
        for op in region.ops:
            if _may_move(op):
                assert op.loc is not None
                family = families.setdefault((op.loc.file, op.loc.function, op.tag == DERIVED), {})
                family.setdefault((region, id(_call_of(op))), Part(region, [])).ops.append(op)
    made: set[Op] = set()
    for (_, name, derived), parts in families.items():
        if len(parts) > 1:
            hint = f"{name}_pullback" if derived else name
            _Family(fn, sharing, list(parts.values()), hint, made).run()
    return bool(made)


def _call_of(op: Op) -> Loc | None:
    """The place of the call of a helper from which an operation comes."""
    return op.loc.caller if op.loc is not None else None


def _may_move(op: Op) -> bool:
    """The operation may be in a function of its own."""
    if op.regions or op.prim.effects or op.prim.foreign or op.prim in (PUSH, POP, STACK_NEW, CALL):
        return False
    if _call_of(op) is None or len(op.results) != 1 or any(arg is UNDEF for arg in op.args):
        return False
    return all(v.type.kind in KINDS for v in (op.result, *op.operands()))


class _Family:
    """The calls of one helper in one of the sweeps; `made`: the functions that others have in common."""

    def __init__(self, fn: Function, sharing: Sharing, parts: list[Part], hint: str, made: set[Op]):
        self.fn = fn
        self.made = made
        self.sharing = sharing
        self.hint = hint
        self.uses = collect_uses(fn.body)
        stores = [op for op in fn.body.walk() if op.prim in STORES]
        self.changed = frozenset().union(*[sharing.of(op.args[0]) for op in stores])
        self.numbers: dict[Any, int] = {}
        own = [Part(part.region, self.without_stores(part.ops)) for part in parts]
        owner = {op: k for k, part in enumerate(own) for op in part.ops}
        self.parts = [Part(part.region, [op for op in part.ops if not self.is_given(op, owner)]) for part in own]

    def without_stores(self, ops: list[Op]) -> list[Op]:
        """The operations without those that store into what was there before."""
        made = {op.result for op in ops}
        return [op for op in ops if self.stores_into_own(op, made)]

    def is_given(self, op: Op, owner: dict[Op, int]) -> bool:
        """The operation makes what a call is given: a number from around it, or what others were given as well."""
        if any(x.op in owner and owner[x.op] == owner[op] for x in op.operands()):
            return False
        users = [user for user in self.uses.get(op.result, ()) if isinstance(user, Op)]
        return op.result.type.is_scalar or any(owner.get(user, owner[op]) != owner[op] for user in users)

    def run(self) -> None:
        """Have calls share a function: those whose sharing saves most lines."""
        keys = [self.keys(part) for part in self.parts]
        counts = [Counter(key) for key in keys]
        found: dict[tuple[int, ...], tuple[float, list[Part]]] = {}
        for first, count in enumerate(counts):
            others = [k for k in range(len(keys)) if k != first]
            others.sort(key=lambda k: -(count & counts[k]).total())
            together, common = [first], count
            for k in others[:MOST]:
                together, common = sorted([*together, k]), common & counts[k]
                saved = (len(together) - 1) * PRINTED * common.total() - 3 - len(together)
                if saved > 0.0 and tuple(together) not in found:
                    order = _in_order(keys[together[0]], common)
                    groups = [_picked(self.parts[k], keys[k], order) for k in together]
                    saved -= PRINTED * len(groups) * (len(self.outputs(groups)) - 1)
                    found[tuple(together)] = saved, groups
        for saved, groups in sorted(found.values(), key=lambda choice: -choice[0]):
            if saved > 0.0 and self.shared(groups):
                return

    def outputs(self, groups: list[Part]) -> list[int]:
        """The numbers of the operations whose results are read outside of a group."""
        return [k for k in range(len(groups[0].ops)) if any(self.leaves_group(group, k) for group in groups)]

    def shared(self, groups: list[Part]) -> bool:
        """Put calls of one function in the place of groups, if that may be done and pays."""
        if any(_links(group) != _links(groups[0]) for group in groups):
            return False
        if sum(_is_large(op.result.type) for op in groups[0].ops) < ARRAYS:
            return False
        return self.replace(groups)

    # --- what is the same -----------------------------------------------------------------------------------------

    def keys(self, part: Part) -> list[int]:
        """A number for each operation: equal ones compute the same of what they read from around the group."""
        own: dict[Value, int] = {}
        found = []
        for op in part.ops:
            args = map_leaves(lambda v: Stand(own[v] if v in own else self.facts(v)), (op.args, op.kwargs))
            key = op.prim, structural_key(args), op.loc, op.checks, op.droppable, self.facts(op.result)
            own[op.result] = self.numbers.setdefault(key, len(self.numbers))
            found.append(own[op.result])
        return found

    def is_constant(self, v: Value) -> bool:
        """Nothing stores into the array."""
        return self.changed.isdisjoint(self.sharing.of(v))

    def facts(self, v: Value) -> Any:
        t, dims = v.type, region_of(v).dims
        shape = None if t.dims is None else tuple([dims.find(d) for d in t.dims])
        return t.kind, None if t.dtype is None else t.dtype.str, shape, t.length, t.real

    # --- where it stands ------------------------------------------------------------------------------------------

    def apart(self, part: Part) -> tuple[list[Op], list[Op]] | None:
        """The other operations between the first and the last of a group, those that stay in front of its call and
        those that come behind it; None if it cannot be called at one place."""
        group = set(part.ops)
        made = {op.result for op in group}
        if not all(self.stores_into_own(op, made) for op in group):
            return None
        places = [k for k, op in enumerate(part.region.ops) if op in group]
        between = part.region.ops[places[0] : places[-1] + 1]
        before: list[Op] = []
        after: list[Op] = []
        later = set(made)
        passed: list[Op] = []  # operations of the group so far
        for op in between:
            if op in group:
                if any(v in later and v not in made for v in op.operands()):
                    return None
                if any(self.disturb(op, other) for other in after):
                    return None
                passed.append(op)
                continue
            if op.regions or op.prim.foreign or (op.prim.effects and op.prim not in (PUSH, POP)):
                return None
            if op.prim is CALL and called(op) not in self.made:
                return None
            if any(v in later for v in op.operands()):
                after.append(op)
                later.update(op.results)
            elif any(self.disturb(op, other) for other in (*after, *passed)):
                return None
            else:
                before.append(op)
        return before, after

    def stores_into_own(self, op: Op, made: set[Value]) -> bool:
        """If the operation stores, it does so into an array that the group has made."""
        if op.prim not in STORES:
            return True
        roots = self.sharing.of(op.args[0])
        return op.args[0] in made and all(root[0] == "new" and root[1] in made for root in roots)

    def disturb(self, one: Op, other: Op) -> bool:
        """The two operations have to stay in this order."""
        if may_raise(one) and may_raise(other):
            return True
        if one.prim in (PUSH, POP) and other.prim in (PUSH, POP) and one.args[0] is other.args[0]:
            return True
        for store, reader in ((one, other), (other, one)):
            roots = self.sharing.of(store.args[0]) if store.prim in STORES else frozenset()
            if not roots.isdisjoint(self.sharing.of(reader.operands())):
                return True
        return False

    # --- the function ---------------------------------------------------------------------------------------------

    def replace(self, groups: list[Part]) -> bool:
        """Make the function and call it in the place of each group, if every group can be called at one place."""
        made = [{op.result for op in group.ops} for group in groups]
        read = [[v for op in group.ops for v in op.operands() if v not in own] for group, own in zip(groups, made)]
        given: dict[tuple[Value, ...], None] = dict.fromkeys(zip(*read))
        parts = parts_of_arrays(self, groups, given)
        wholes = dict.fromkeys(parts.values())
        given = {**wholes, **{values: None for values in given if values not in parts and values not in wholes}}
        outputs = self.outputs(groups)
        if len(given) + len(outputs) > NAMES or not outputs or EACH * len(outputs) > len(groups[0].ops):
            return False
        region = Region(self.fn.body.dims.child())
        params = {values: region.param(values[0].type, _hint(values, values in wholes)) for values in given}
        taken = read_parts(region, parts, params)
        mapping: dict[Value, Value] = {}
        arguments = iter([params[values] for values in zip(*read)])
        for op in groups[0].ops:
            args, kwargs = map_leaves(lambda v: mapping[v] if v in made[0] else next(arguments), (op.args, op.kwargs))
            copy = Op(op.prim, args, kwargs, (), op.loc)
            copy.checks, copy.droppable, copy.tag, copy.parent = op.checks, op.droppable, op.tag, region
            copy.again = op.again
            copy.results = [Value(op.result.type, op.result.hint, copy)]
            mapping[op.result] = copy.result
            region.ops.append(copy)
        region.exit = tuple([mapping[groups[0].ops[k].result] for k in outputs])
        func = new_func(region, self.hint)
        func.parent = self.fn.body
        self.made.add(func)
        before = {group.region: list(group.region.ops) for group in groups}
        for j, group in enumerate(groups):
            if not self.call(func, group, [values[j] for values in given], outputs):
                self.undo(func, groups, before)
                return False
        self.fn.body.ops.insert(0, func)
        drop_unread(taken)
        return True

    def call(self, func: Op, group: Part, args: list[Value], outputs: list[int]) -> bool:
        """Put a call in the place of a group; whether that may be done."""
        around = self.apart(group)
        if around is None:
            return False
        call = Op(CALL, (func.result, *args), {}, (), _call_of(group.ops[0]))
        call.tag, call.parent = group.ops[0].tag, group.region
        call.results = [group.ops[k].result for k in outputs]
        for v in call.results:
            v.op = call
        ops = group.region.ops
        places = [ops.index(op) for op in group.ops]
        ops[min(places) : max(places) + 1] = [*around[0], call, *around[1]]
        return True

    def undo(self, func: Op, groups: list[Part], before: dict[Region, list[Op]]) -> None:
        """Put everything back."""
        self.made.remove(func)
        for region, ops in before.items():
            region.ops[:] = ops
        for group in groups:
            for op in group.ops:
                for v in op.results:
                    v.op = op

    def leaves_group(self, part: Part, k: int) -> bool:
        """The result of an operation is read outside of its group."""
        group = set(part.ops)
        return any(user not in group for user in self.uses.get(part.ops[k].result, ()))


def _hint(values: tuple[Value, ...], whole: bool) -> str:
    """What a parameter is called: as the first of the arguments, or as the first that has a name."""
    return next(filter(None, map(name_of, values)), "values") if whole else name_of(values[0])


def _in_order(keys: list[int], common: Counter[int]) -> list[int]:
    """The keys in common, in the order of one of the calls."""
    left, order = Counter(common), []
    for key in keys:
        if left[key] > 0:
            left[key] -= 1
            order.append(key)
    return order


def _picked(part: Part, keys: list[int], order: list[int]) -> Part:
    """The operations with these keys, in this order."""
    by_key: dict[int, list[Op]] = {}
    for key, op in zip(keys, part.ops):
        by_key.setdefault(key, []).append(op)
    return Part(part.region, [by_key[key].pop(0) for key in order])


def _links(part: Part) -> list[list[int]]:
    """For each operation of a group the numbers of those that make its operands; -1: what comes from around it."""
    number = {op.result: k for k, op in enumerate(part.ops)}
    return [[number.get(v, -1) for v in op.operands()] for op in part.ops]


def _is_large(t: Ty) -> bool:
    return t.kind == "array" and t.dims is not None and len(t.dims) > 0


__all__ = ["share_helpers"]
