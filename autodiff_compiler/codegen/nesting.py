"""Nesting: which expressions are printed inside of the expressions that use them.

Takes the operations of a function. Gives those that are nested, each with its user. An expression is nested if it is
used once, and nothing that runs between changes what it reads.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(x, y):
...     y[0] = np.sin(x[0]) * np.cos(x[1])
...     return y[0] * x[2]
>>> show_source(f, np.ones(3), np.ones(3))
def f_grad(x, y):
    x_0 = x[0]
    sin_x_0 = np.sin(x_0)
    x_1 = x[1]
    cos_x_1 = np.cos(x_1)
    y = y.copy()
    y[0] = sin_x_0 * cos_x_1
    y_bar_0 = x[2]
    x_bar = np.zeros(x.shape)
    # adjoint of line 3: return y[0] * x[2]
    x_bar[2] = y[0]
    # adjoint of line 2: y[0] = np.sin(x[0]) * np.cos(x[1])
    x_bar[1] = -y_bar_0 * sin_x_0 * np.sin(x_1)
    x_bar[0] = y_bar_0 * cos_x_1 * np.cos(x_0)
    return x_bar
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container
from typing import Any

import numpy as np

from ..ir import opset
from ..ir.core import (
    CALL,
    DERIVED,
    FUNC,
    IF,
    LOOP,
    TRY,
    Builder,
    Op,
    Region,
    Value,
    leaves,
    map_leaves,
    structural_key,
    type_of,
)
from ..ir.opset import ACCUM, ADDAT, COPY, GET, POP, PUSH, SET, STACK_NEW, STORES
from ..ir.rewrite import collect_uses, content_operands, enclosing
from ..ir.telling import Telling
from ..ir.types import same_dtype
from ..operations.choices import PRODUCT, QUOTIENT, RATIO

MAX_DEPTH, DEEP = 5, 10  # operations in an expression, and in one that is short enough for a line
WIDE = 96  # columns, about: what is longer is printed in parts
READS = frozenset([GET, opset.LIST_GET, opset.TABLE_GET])
SIGNS = frozenset(["+", "-", "*", "/", "@", "**", "//", "%"])
MAX_LATE = 3
CHOOSING = frozenset([opset.RAISED])  # printed with ``if``
_STEPS = ("index", "transpose", "reshape")
# Functions that make arrays in C order.
C_ORDER = frozenset(["np.zeros", "np.ones", "np.empty", "np.full", "np.arange", "np.linspace", "np.eye", "np.identity"])
_NOT_SUMMED = frozenset([POP, COPY, opset.ZEROS, opset.SNAPSHOT])


class Late:
    """What computes the next values of variables of a loop while the present ones are still to be read.

    It is computed last: ``x, y = y + 1.0, x * y`` is shorter than statements with names for the next values.

    reads: by operation that computes a next value, what reads the present one
    ops:   those of them that come too early
    """

    def __init__(self) -> None:
        self.reads: dict[Op, list[Op | Region]] = {}
        self.ops: set[Op] = set()


class Nesting:
    """Decides for each operation whether its expression stands where its value is used."""

    def __init__(self, body: Region, analysis: Any, split: int | None):
        self.body = body
        self.analysis = analysis
        self.split = split
        self.inlined: dict[Op, Op | Region] = {}
        self.weight: dict[Op, int] = {}
        self.chars: dict[Op | Region, int] = {}
        self.reads: dict[Op, frozenset[Any]] = {}
        self.users = collect_uses(body)
        self.hazards: dict[Op, Any] = {}
        self.choosing = {op for op in body.walk() if op.prim in CHOOSING}  # or what has such a one nested in it
        self.raising = {op for op in body.walk() if _may_raise(op)}
        self.use_count = {v: len(users) for v, users in self.users.items()}
        # A function that calls itself stores only into what it has made, but it may print.
        self.effects = any(
            op.prim.effects and op.prim not in (PUSH, POP)
            for func in body.ops if func.prim is FUNC for op in func.regions[0].walk()
        )  # fmt: skip
        # What the backward sweep takes from lists, by name. A result that is computed of such a variable stands in
        # front of that sweep, so that the name is free there.
        self.restored = {r.hint for op in body.walk() if op.prim is POP for r in op.results if r.hint}
        self._choose_inlined(body)

    def _choose_inlined(self, region: Region) -> None:
        room = WIDE - 4 * sum(1 for _ in enclosing(region))
        place = {op: k for k, op in enumerate(region.ops)}
        hazards: dict[Any, list[int]] = {}  # by root, or True: where it must not be read any more, in order
        for k, op in enumerate(region.ops):
            found = self._hazard(op)
            for root in (True,) if found is True else found or ():
                hazards.setdefault(root, []).append(k)
        places = sorted({k for at in hazards.values() for k in at})
        derived = [k for k, op in enumerate(region.ops) if _is_derived(op)]
        late = self._late(region, place)
        for k, op in enumerate(region.ops):
            for inner in op.regions:
                self._choose_inlined(inner)
            if op in late.reads and op not in late.ops and self._is_late(op, late, region, place):
                late.ops.add(op)
            if not self._may_nest(op, op in late.ops):
                continue
            v = op.results[0]
            (user,) = self.users[v]
            if self.split is not None and op.tag != DERIVED and self._in_pullback(v, user):
                continue  # computed once, in the forward sweep
            if isinstance(user, Region):
                if user is not self.body and op not in late.ops and (user.op is None or user.op.prim is not FUNC):
                    continue
                last = len(region.ops)
                own = user is self.body and self.split is None and not _is_derived(op)
                if own and not self.restored.isdisjoint(self._names(op)):
                    continue
            else:
                if user.parent is not region or not self._accepts(user, v):
                    continue
                last = place[user]
            within = [x.op for x in op.operands() if x.op in self.inlined]
            if not self.raising.isdisjoint((op, *within)):
                self.raising.add(op)
                if (isinstance(user, Region) or not _is_derived(user)) and _is_between(derived, k, last):
                    continue  # the function's own exception comes first
            weight = (op.prim is not opset.NEG and not is_index(op)) + sum([self.weight[x] for x in within])
            if op.prim.fn is np.array and type(op.args[0]) is list:
                weight += len(op.args[0]) - 2
            if isinstance(user, Op) and user.args and v is user.args[-1] and is_augmented(user, self.inlined):
                weight -= 1 + self.weight.get(op.args[0].op, 0)  # printed as ``a[i] -= ...``
            if op in late.ops and weight > MAX_LATE:
                continue
            chars = self._chars(op)
            if isinstance(user, Op) and user.args and v is user.args[-1] and is_augmented(user, self.inlined):
                chars -= self._chars(op.args[0].op) + 2 if op.args[0].op in self.inlined else 2
            if not self._fits(weight, chars, user, v, room):
                base = self._apart(user, v)
                if base is None or not self._fits(weight - self.weight[base], chars, user, v, room):
                    continue
                del self.inlined[base]  # better in two statements than with a variable for what is added
                self.weight[user] -= self.weight[base]  # type: ignore[index]
            if _is_between(places, k, last):
                roots = hazards.keys() & {True, *self._reads(op)}
                if any(_is_between(hazards[root], k, last) for root in roots):
                    continue
            self.inlined[op] = user
            self.weight[op] = weight
            if op in self.choosing and isinstance(user, Op):
                self.choosing.add(user)
            if isinstance(user, Op):
                self.weight[user] = self.weight.get(user, 0) + weight
                self.chars[user] = self._chars(user) + chars - _named(v)
            else:
                self.chars[user] = self.chars.get(user, 0) + chars
        self._keep_order(region, place)

    def _fits(self, weight: int, chars: int, user: Op | Region, v: Value, room: int) -> bool:
        """The expression may stand in its user: that is not too deep, or short enough for the line."""
        if isinstance(user, Region):
            others = self.chars.get(user, 0) if user is not self.body else 0  # the printer sees to those of the body
            return weight <= DEEP and others + chars <= room
        total = self.weight.get(user, 0) + weight
        if not weight:
            return True
        width = self._chars(user) + chars - _named(v)
        room -= 6 * bool(v.hint)  # a name tells more
        if user.prim in STORES:
            width -= 8  # without it, there is a statement as long
        if width > room and v.op in self.choosing:
            return False  # over several lines, nobody sees what is chosen
        return total <= (MAX_DEPTH if width > room else DEEP)

    def _apart(self, user: Op | Region, v: Value) -> Op | None:
        """What a sum in the place of `v` is added to, which may have a statement of its own."""
        base = user.args[0].op if isinstance(user, Op) and user.prim is ACCUM and v is not user.args[0] else None
        return base if base in self.inlined else None

    def _chars(self, op: Op) -> int:
        """About how many characters the expression or statement has, with what is nested in it so far."""
        found = self.chars.get(op)
        if found is None:
            name = op.prim.name
            found = 4 if op.prim in STORES else 0 if op.prim in READS else 2 if name in SIGNS else len(name)
            if op.prim is opset.DIVIDED:
                found += 14 + (_named(op.args[1]) if type(op.args[1]) is Value else 0)
            if op.prim in CHOOSING:
                found += 18 + 2 * sum([2 + _named(x) for x in op.operands()])  # each operand is printed again
            todo: list[Any] = [*op.args, *op.kwargs.items()]
            while todo:
                x = todo.pop()
                if isinstance(x, (tuple, list)):
                    todo += x
                elif isinstance(x, slice):
                    todo += [y for y in (x.start, x.stop, x.step) if y is not None]
                elif type(x) is Value:
                    found += 2 + _named(x)
                elif type(x) in (int, float, bool):
                    found += 2 + len(str(x))
                elif x is not None and not (type(x) is str and x in _STEPS):
                    found += 8  # a text, a dtype, or an object with a name
            self.chars[op] = found
        return found

    def _late(self, region: Region, place: dict[Op, int]) -> Late:
        loop = region.op
        late = Late()
        if loop is not None and loop.prim is LOOP and type(region.exit[0]) is not Value:
            for p, v in zip(region.params[1:], region.exit[1:]):
                if type(v) is Value and v.op in place and self.users[v] == [region] and not v.op.regions:
                    late.reads[v.op] = self._users_of_versions(p)
        settled = False
        while not settled:
            found = [op for op in late.reads.keys() - late.ops if self._is_late(op, late, region, place)]
            late.ops.update(found)
            settled = not found
        return late

    def _is_late(self, op: Op, late: Late, region: Region, place: dict[Op, int]) -> bool:
        """The present value of the variable is read after this operation, as far as is known yet."""
        for user in late.reads[op]:
            at: Any = user
            while at is not region and at not in place:
                at = at.op if isinstance(at, Region) else at.parent
            while at in self.inlined:
                at = self.inlined[at]
            if at is region or (at is not op and (at in late.ops or place[at] > place[op])):
                return True
        return False

    def _users_of_versions(self, v: Value) -> list[Op | Region]:
        """What reads an array, or what stores make of it in its place."""
        found: list[Op | Region] = []
        todo = [v]
        while todo:
            version = todo.pop()
            for user in self.users.get(version, ()):
                found.append(user)
                if isinstance(user, Op) and user.prim in STORES and user.args[0] is version:
                    todo.append(user.results[0])
        return found

    def _keep_order(self, region: Region, place: dict[Op, int]) -> None:
        """What may raise an exception stays in front of a statement that may raise another one.

        Which of two comes first does not matter where both are about lengths and places, and nobody catches them.
        """
        caught = any(r.op is not None and r.op.prim is TRY for r in enclosing(region))
        raising = [
            op for op in region.ops
            if op in self.raising and not _is_derived(op) and (caught or _is_numerical(op))
        ]  # fmt: skip
        settled = False
        while not settled:
            settled = True
            statements = [place[op] for op in raising if op not in self.inlined]
            for op in raising:
                at: Op | Region = op
                while isinstance(at, Op) and at in self.inlined:
                    at = self.inlined[at]
                if at is not op and _is_between(statements, place[op], place.get(at, len(region.ops))):  # type: ignore[arg-type]
                    del self.inlined[op]
                    settled = False

    def _reads(self, op: Op) -> frozenset[Any]:
        """The buffers that the expression reads."""
        found = self.reads.get(op)
        if found is None:
            found = frozenset().union(
                *[self.analysis.of(x) | self.analysis.inside_of(x) for x in content_operands(op)],
                *[self._reads(x.op) for x in op.operands() if x.op in self.inlined],
            )
            self.reads[op] = found
        return found

    def _names(self, op: Op) -> set[str]:
        """What the variables are called that the expression reads."""
        found = set()
        for x in op.operands():
            found |= self._names(x.op) if x.op in self.inlined else {x.hint}
        return found

    def _in_pullback(self, v: Value, user: Op | Region) -> bool:
        """A use by the backward sweep that becomes a function of its own."""
        if isinstance(user, Op):
            while user.parent is not self.body:
                user = user.parent.op  # type: ignore[union-attr, assignment]
            return bool(user.tag == DERIVED)
        return user is self.body and any(v is x for x in leaves(self.body.exit[self.split :]))

    def _may_nest(self, op: Op, late: bool = False) -> bool:
        if len(op.results) != 1 or self.use_count.get(op.results[0], 0) != 1:
            return False
        if op.regions or op.prim.effects or op.prim.nout != 1:
            return False
        if op.prim in (CALL, STACK_NEW, opset.LIST_NEW, opset.LIST_ITEM):
            return False
        if op.prim in STORES and not is_sum(op, self.inlined):
            return False
        v = op.results[0]
        derived = _is_derived(op)
        # What the user named stays a statement, unless it is small: then nesting it lets go of its memory.
        (user,) = self.users[v]
        if late or (isinstance(user, Op) and user.prim is opset.TOLIST):
            return True
        if isinstance(user, Region) and user.op is not None and user.op.prim is FUNC and len(user.exit) == 1:
            return True  # a function that returns it names it
        return derived or not v.hint or type(v.hint) is Telling or not any(x.op in self.inlined for x in op.operands())

    def _accepts(self, user: Op, v: Value) -> bool:
        """The operation can be printed with an expression in the place of this operand."""
        if user.prim is LOOP:
            return user.range is not None and any(v is x for x in leaves(user.range))
        if user.prim in (opset.RAISED, opset.NUMPYS) or (user.prim is opset.DIVIDED and v is not user.args[0]):
            return False  # they print operands twice
        if user.prim in (opset.LIST_SPLICE, opset.LIST_ADDSLICE):
            return v is user.args[-1]  # the bounds are printed twice
        if user.prim in STORES:
            return v is not user.args[0] or _makes_sum(user)
        if user.prim is GET and v is user.args[0]:
            return v.op is not None and v.op.prim is not ADDAT
        if user.results and user.results[0].type.is_scalar:  # these print operands twice
            return user.prim not in (QUOTIENT, RATIO) and (user.prim is not PRODUCT or v is not user.args[0])
        return True

    def _hazard(self, op: Op) -> Any:
        """What an operation forbids to be read after it that was to be read before: roots, or True for everything."""
        if op.prim in STORES:
            return self.analysis.of(op.args[0]) or None
        if op.prim in (PUSH, POP):
            return None
        if op.prim.effects:
            return True
        if op.prim is FUNC:
            return None
        if op.prim is CALL:
            return self.effects or None
        if op.regions and op not in self.hazards:
            self.hazards[op] = self._hazard_within(op)
        return self.hazards.get(op)

    def _hazard_within(self, op: Op) -> Any:
        found: frozenset[Any] = frozenset()
        for region in op.regions:
            for inner in region.ops:
                h = self._hazard(inner)
                if h is True:
                    return True
                found |= h or frozenset()
        if op.prim is LOOP:
            for k, init in enumerate(op.inits):
                if op.regions[0].params[k + 1] in self.analysis.mutated:
                    found |= self.analysis.of(init)
        return found or None


def _named(v: Value) -> int:
    """How many characters the name of a value has, or about."""
    return len(v.hint) or 3


def is_index(op: Op) -> bool:
    """A whole number of Python's next to another one."""
    if op.prim not in (opset.ADD, opset.SUB):
        return False
    t = op.results[0].type
    return t.kind == "py" and t.dtype is not None and t.dtype.kind == "i"


def is_sum(op: Op, inlined: Container[Op]) -> bool:
    """The operation adds to what the same expression computes: it is printed as ``a + b``, not as ``a += b``."""
    return op.prim is ACCUM and type(op.args[0]) is Value and op.args[0].op in inlined


def _makes_sum(op: Op) -> bool:
    """What is added in place to something new would be the same as a sum of its own."""
    if op.prim is not ACCUM:
        return False
    base, more = op.args[0], type_of(op.args[1])
    t, first = base.type, base.op
    if (
        first is None
        or t.kind != "array"
        or t.duck is not None
        or more.duck is not None
        or not t.is_float
        or not t.dims
    ):
        return False
    if first.prim is ACCUM:
        return type(first.args[1]) is Value and same_dtype(type_of(first.args[1]).dtype, more.dtype)
    if first.regions or first.prim.alias != "fresh" or first.prim in STORES | _NOT_SUMMED:
        return False
    if first.prim.name in C_ORDER:  # a store through a reshape counts on its layout
        return False
    same = same_dtype(t.dtype, more.dtype) if more.kind == "array" else more.kind == "py" and more.is_real
    return same and more.ndim is not None and more.ndim <= len(t.dims)


def is_augmented(store: Op, inlined: Container[Op]) -> bool:
    """The store puts a sum, difference, product or quotient of what is in the place, and of another value, there."""
    if store.prim is not SET:
        return False
    base, path, v = store.args
    inner = v.op if type(v) is Value else None
    if inner is None or inner.prim.name not in ("+", "-", "*", "/") or len(inner.args) != 2:
        return False
    if base.type.kind != "array" or not same_dtype(inner.result.type.dtype, base.type.dtype):
        return False
    read = inner.args[0]
    axes, more = type_of(read).ndim, inner.result.type.ndim
    if axes is not None and more is not None and axes < more:
        return False  # a store drops axes of length one in front, an addition in place does not
    if read is base:
        return opset.is_whole(path) and opset.is_plain_path(path)
    return (
        opset.is_plain_path(path) and type(read) is Value and read.op is not None and read.op in inlined
        and read.op.prim is GET and read.op.args[0] is base and key_of_path(read.op.args[1]) == key_of_path(path)
    )  # fmt: skip


def key_of_path(path: Any) -> Any:
    """Equal for paths to the same part, also where each computes its indices (`transforms.indices`)."""
    return structural_key(map_leaves(_key_of_index, path))


def _key_of_index(v: Value) -> Any:
    if v.op is None or v.op.prim not in (opset.ADD, opset.SUB) or v.type.kind != "py":
        return v
    return Same((v.op.prim.name, *v.op.args))


class Same:
    """Stands for a number that operations compute of the same."""

    __slots__ = ("what",)

    def __init__(self, what: tuple[Any, ...]):
        self.what = what

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.what == other.what

    def __hash__(self) -> int:
        return hash(self.what)


def _is_derived(op: Op) -> bool:
    """No user wrote the operation."""
    return op.tag == DERIVED or op.droppable


def _may_raise(op: Op) -> bool:
    """The user's operation may raise an exception."""
    if _is_derived(op) or op.parent is None:
        return False
    return op.prim.total is None or not op.prim.total(Builder(op.parent), op.args, op.kwargs)


def _is_numerical(op: Op) -> bool:
    """What raises for the values of Python's numbers."""
    return op.prim.name.startswith("math.") or op.prim.name in ("/", "//", "%", "**")


def _is_between(places: list[int], first: int, last: int) -> bool:
    """One of these places, which are in order, lies between the two."""
    k = bisect_right(places, first)
    return k < len(places) and places[k] < last


def where_completed(user: Op | Region, v: Value) -> bool:
    """The user runs only if the ``try`` that makes `v` was completed."""
    if v.op is None or v.op.prim is not TRY:
        return False
    owners = [(r, r.op) for r in enclosing(user if isinstance(user, Region) else user.parent) if r.op is not None]
    return any(op.prim is IF and op.condition is v.op.completed and op.regions[0] is r for r, op in owners)
