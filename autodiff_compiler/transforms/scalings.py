"""Scalings: a number multiplies an array, or a number, of an adjoint once, and not each product computed from it.

Takes an adjoint. Where a value is multiplied by a number, and each way on from it, through products, sums and stores
into zeros, leads to a product with one other number, the value is multiplied by both. Where several of the ways lead to
such a product, and others do not, they start from an array that is multiplied once. What is multiplied by one number
and divided by another is multiplied by their quotient. Gives an adjoint that multiplies and divides less by numbers.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> from autodiff_compiler.transforms.passes import leaving_out
>>> def f(u, w):
...     flow = 0.1 * u
...     return np.sum(0.5 * flow * np.sin(w) + 0.5 * flow**2 * w)
>>> with leaving_out(["scalings"]):
...     show_source(f, np.ones(3), np.ones(3))
def f_grad(u, w):
    return 0.1 * (w * (0.1 * u) + 0.5 * np.sin(w))
>>> show_source(f, np.ones(3), np.ones(3))
def f_grad(u, w):
    return w * (0.01 * u) + 0.05 * np.sin(w)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ir.core import DERIVED, Builder, Function, Op, Region, Value, type_of
from ..ir.definedness import maybe_undefined
from ..ir.opset import ACCUM, ADD, ADDAT, DIV, GET, MUL, NEG, PRIMS, SET, SPREAD, STORES, SUB, ZEROS, adds_axes_only
from ..ir.rewrite import Uses, derived, enclosing, stands_before
from ..operations.choices import OVER, QUOTIENT, RATIO
from ..operations.linalg import DOT
from ..operations.reductions import SUM
from ..records import record
from .algebra import install, is_moderate

MOST = 24  # operations on the ways from one value
DEEP = 6  # operations behind a number in a factor
FAR = 200  # operations
SUMS = (ADD, SUB, ACCUM)
QUOTIENTS = (DIV, OVER, RATIO)
ANY = 0.0  # what a way leads to that ends where a number is computed: that can be multiplied instead

# What a way leads to: a product with a literal, which is given without its sign, or a quotient by a number of the run.
Key = float | Value


def scale_once(fn: Function, before_change: Callable[[], None] | None = None) -> bool:
    """Multiply values by numbers, and not what is computed of them; `before_change` is called if there are some."""
    ops = list(fn.body.walk())
    keys = _keys_of(ops)
    return bool(keys) and _Numbers(ops, keys, Uses(fn.body), before_change, True).run()


def merge_numbers(ops: list[Op], uses: Uses) -> None:
    """The same, but that several of the ways on from an array do not start from another one."""
    keys = _keys_of(ops)
    if keys:
        _Numbers(ops, keys, uses, None, False).run()


def _keys_of(ops: list[Op]) -> dict[Op, Key]:
    """What has a number where a way may end; none if there is nothing to do with it."""
    keys = {op: key for op in ops if (key := _key_of(op)) is not None}
    return keys if len(keys) > 1 or any(type(key) is Value for key in keys.values()) else {}


@record
class Way:
    """The ways on from a value, to products with one literal or its negative, or to quotients by one number.

    number:  the literal, as a numerator and a denominator, or what the ends divide by
    sources: the value, and products with numbers that what is computed of the value is added to
    sinks:   what has the number at the ends
    sums:    what is added up, to a number that is multiplied instead
    seen:    the multiples of the value
    """

    number: tuple[float, float] | Value
    sources: list[Op]
    sinks: list[Op]
    sums: list[Op]
    seen: list[Value]


class _Numbers:
    """The numbers in the products of a function.

    keys:     what has a number where a way may end
    numbered: its results, and what has them as factors and nothing else has
    at:       where operations stand
    ops:      those that make a value of which some product with a number may be a multiple
    leads:    what all ways on from a value lead to, as far as that is seen without a search
    """

    def __init__(
        self, ops: list[Op], keys: dict[Op, Key], uses: Uses, before_change: Callable[[], None] | None, parts: bool
    ):
        self.keys, self.uses, self.before_change, self.parts = keys, uses, before_change, parts
        self.at = {op: k for k, op in enumerate(ops)}
        self.numbered: set[Value] = set()
        self.leads: dict[Value, Key] = {}
        self.maybe: set[Value] | None = None
        self.changed = False
        self.ops = self.leading(ops)

    def leading(self, ops: list[Op]) -> list[Op]:
        waiting = list(self.keys)
        for op in list(self.keys):
            while op.result not in self.numbered:
                self.numbered.add(op.result)
                users = self.uses[op.result]
                user = users[0] if len(users) == 1 else None
                if not isinstance(user, Op) or user.tag != DERIVED:
                    break
                if user.prim is MUL:
                    waiting.append(user)
                if not any(x is op.result for x in _factors_of(user)) or not _is_own(user):
                    break
                op = user
        found: set[Op] = set()
        while waiting:
            for v in waiting.pop().operands():
                if v.op is not None and v.op not in found and _is_own(v.op):
                    found.add(v.op)
                    waiting.append(v.op)
        return [op for op in ops if op in found]

    def run(self) -> bool:
        self.scale_wholes()
        if self.scale_parts():
            self.scale_wholes()
        return self.changed

    def scale_wholes(self) -> None:
        """Multiply products by what all ways on from them lead to, the last one first: what has taken a number is what
        the ways from another one lead to."""
        for op in reversed(self.ops):
            self.look_from(op.result)
            key = self.leads.get(op.result)
            if key is not None and key is not ANY and _takes(op, key) and self.is_defined(key, op):
                way = _Search(op, self).follow(self.uses[op.result], [op.result])
                if way is not None:
                    self.scale(op, way, None)
                    self.look_from(op.result)

    def scale_parts(self) -> bool:
        """Let two or more ways on from an array, or all from a number, start from a product; whether there are some."""
        some = False
        for op in self.ops:
            users = self.uses[op.result]
            if 2 <= len(users) == len(set(users)):
                found = self.part(op, users)
                if found is not None:
                    some = True
                    self.scale(op, *found)
        return some

    # --- the ways -----------------------------------------------------------------------------------------------------

    def lead(self, v: Value, user: Op | Region) -> Key | None:
        """What the ways lead to that begin with an operation, if it is one for all."""
        if not isinstance(user, Op) or user.tag != DERIVED:
            return None
        end = self.end(v, user)
        if end:
            return self.keys[end[0]]
        key = self.leads.get(user.results[0]) if user.results else None
        return key if key is not None and _goes_on(v, user) else ANY if _adds_up(user) else None

    def look_from(self, v: Value) -> None:
        """Find out what all ways on from a value lead to."""
        out: Key = ANY
        for user in self.uses[v]:
            key = self.lead(v, user)
            if key is None or (out is not ANY and key is not ANY and not _is_same(key, out)):
                self.leads.pop(v, None)
                return
            out = out if key is ANY else key
        self.leads[v] = out

    def end(self, v: Value, user: Op) -> list[Op]:
        """What has a number where a way ends, and what is computed of it for the product with the value."""
        if user in self.keys:
            return [user] if user.args[0] is v or user.prim is MUL else []
        if user.prim is MUL:
            x, y = user.args
            return [] if x is y else self.in_factor(y if x is v else x, user)
        return []

    def in_factor(self, v: Any, user: Op, deep: int = DEEP) -> list[Op]:
        """A product with a number in a factor that nothing else needs, and what is computed of it."""
        if type(v) is not Value or v not in self.numbered or self.uses[v] != [user] or not deep:
            return []
        op = v.op
        assert op is not None
        if op in self.keys:
            return [op]
        for x in _factors_of(op):
            found = self.in_factor(x, op, deep - 1)
            if found:
                return [*found, op]
        return []

    def part(self, op: Op, users: list[Op | Region]) -> tuple[Way, list[Op]] | None:
        """Ways on from a value that lead to products with one literal."""
        groups: dict[float, list[Op]] = {}
        for user in users:
            key = self.lead(op.result, user)
            if type(key) is float and key is not ANY and isinstance(user, Op):
                groups.setdefault(key, []).append(user)
        for key, same in groups.items():
            if len(same) > 1 and is_moderate(key * (_literal_in(op) or 1.0)):
                if self.parts if op.result.type.kind == "array" else len(same) == len(users):
                    way = _Search(op, self).follow(same, [])
                    if way is not None and way.sources == [op] and len(way.sinks) > 1:
                        if self.is_defined(op.result, op, *same):
                            return way, same
        return None

    def is_defined(self, v: Any, op: Op, *users: Op) -> bool:
        """The value may be read at the operation: it is not one that is undefined unless a branch is taken, where the
        users are."""
        if type(v) is not Value or (users and all(user.parent is op.parent for user in users)):
            return True
        if self.maybe is None:
            assert op.parent is not None
            self.maybe = maybe_undefined(list(enclosing(op.parent))[-1])
        return v not in self.maybe

    # --- the changes --------------------------------------------------------------------------------------------------

    def scale(self, op: Op, way: Way, users: list[Op] | None) -> None:
        """Multiply what the ways start from by the number, and nothing at their ends.

        users: the first operations on these ways, if there are others
        """
        if not self.changed and self.before_change is not None:
            self.before_change()
        self.changed = True
        if type(way.number) is Value:
            for source in way.sources:
                self.divide(source, way.number)
            for sink in way.sinks:
                self.leave_out(sink, sink.args[0], 1.0)
        else:
            top, by = way.number  # type: ignore[misc]
            if users is not None:
                self.multiply_first(op, users, top / by)
            for sink in way.sinks:
                c, d = _fraction(sink)
                self.put(sink, math.copysign(1.0, c * d * top * by), 1.0)
            for source in way.sources if users is None else ():
                c, d = _fraction(source)
                self.put(source, c * top, d * by)
            for total in way.sums:
                self.multiply(total, by / top)
        for v in sorted(way.seen, key=lambda v: self.at.get(v.op, 0), reverse=True):  # type: ignore[arg-type]
            self.look_from(v)

    def multiply_first(self, op: Op, users: list[Op], number: float) -> None:
        """Let some operations read the product of a value with a number."""
        x: Any = op.result
        if op.prim is MUL and (literal := _literal_in(op)) is not None:
            number, (x,) = literal * number, op.operands()
        made = self.emit(op, MUL, x, _short(number), behind=True)
        if made is not x and made.op is not None:
            self.note(made.op)
            if len(users) == len(self.uses[op.result]):
                made.hint = op.result.hint
        for user in users:
            self.uses.change(user, user.prim, *[made if y is op.result else y for y in user.args])

    def divide(self, source: Op, d: Value) -> None:
        """Divide the number in a product."""
        x, y = source.args
        number = _number_in(source)
        array = y if x is number else x
        if source.prim is DIV:
            self.uses.change(source, DIV, 1.0, y)
        elif number is d:
            self.leave_out(source, array, 1.0)
        else:
            self.uses.change(source, MUL, array, self.emit(source, QUOTIENT, number, d))
        self.keys.pop(source, None)

    def put(self, op: Op, top: float, by: float) -> None:
        """Put another literal, a quotient, into a product."""
        number, key = _short(top / by), self.keys.pop(op, None)
        x, y = op.args
        if not op.result.hint.endswith("_bar"):
            op.result.hint = ""  # it is no longer what the function calls so
        if op.prim is SPREAD or (op.prim is DIV and type(x) is not Value):
            op.args = (number, y)
        elif abs(number) == 1.0 and key is not None:
            self.leave_out(op, x if type(x) is Value else y, number)
        elif len(repr(_short(by / top))) < len(repr(number)) and (op.prim is DIV or op.result.type.is_scalar):
            op.prim, op.args = DIV, (x if type(x) is Value else y, _short(by / top))
        else:
            op.prim, op.args = MUL, tuple([a if type(a) is Value else number for a in op.args])
        self.note(op)

    def note(self, op: Op) -> None:
        """The operation has another number."""
        key = _key_of(op)
        if key is not None:
            self.keys[op] = key

    def leave_out(self, product: Op, x: Value, number: float) -> None:
        """Let what reads a product read its other factor, or the negative of that."""
        if len(self.uses[x]) == 1:
            if x.op is not None and x.op.tag == DERIVED:
                x.hint = product.result.hint or x.hint
            if product.prim is MUL and x.type.kind == "array" and _may_wait(x, product):
                product.parent.ops.remove(x.op)  # type: ignore[union-attr, arg-type]
                product.parent.ops.insert(product.parent.ops.index(product), x.op)  # type: ignore[union-attr, arg-type]
                x.op.loc = product.loc  # type: ignore[union-attr]
        if number == 1.0:
            self.uses.replace(product.result, x)
            return
        self.uses.change(product, NEG, x)
        users = self.uses[product.result][:]
        if all(isinstance(user, Op) and user.prim in (NEG, *SUMS) for user in users):
            for user in users:  # each takes the sign for itself
                assert isinstance(user, Op)
                if user.prim is NEG:
                    self.uses.replace(user.result, x)
                else:
                    minus = self.emit(user, NEG, x)
                    self.uses.change(user, user.prim, *[minus if y is product.result else y for y in user.args])

    def multiply(self, total: Op, number: float) -> None:
        """Multiply what is added up."""
        assert total.parent is not None
        made = derived(total.parent, MUL, total.result, number, loc=total.loc)
        total.parent.ops.insert(total.parent.ops.index(total) + 1, made)
        self.uses.add([made])
        self.uses.replace(total.result, made.result, but=made)

    def emit(self, at: Op, prim: Any, *args: Any, behind: bool = False) -> Value:
        """The result of a new operation in front of another one, or behind it."""
        assert at.parent is not None
        builder = install(Builder(at.parent))
        builder.tag, builder.loc = DERIVED, at.loc
        made: Value = self.uses.insert(builder, at, lambda: builder.emit(prim, *args), behind)[0]
        return made


class _Search:
    """Where the ways on from one value lead.

    seen:   what is a multiple of the value, or a sum of such values
    others: what is added to these
    beside: what they are multiplied by, and divided by
    """

    def __init__(self, op: Op, numbers: _Numbers):
        self.op, self.numbers, self.uses = op, numbers, numbers.uses
        self.key: Key | None = None
        self.seen: dict[Value, None] = {}
        self.others: list[Any] = []
        self.beside: list[Any] = []
        self.sources, self.sinks, self.sums = [op], list[Op](), list[Op]()
        self.signs = 0.0  # of the numbers; those in other factors, which no sum takes, count more
        self.dtype = op.result.type.dtype if op.result.type.kind == "array" else None

    def follow(self, users: Sequence[Op | Region], seen: Sequence[Value]) -> Way | None:
        self.seen.update(dict.fromkeys(seen))
        waiting = [(self.op.result, user) for user in users]
        for _ in range(MOST):
            v, user = waiting.pop()
            if not isinstance(user, Op) or user.tag != DERIVED:
                return None
            end = self.numbers.end(v, user)
            if end:
                if not self.ends(v, user, *end):
                    return None
            elif _adds_up(user):
                self.sums.append(user)
                self.beside += [x for x in user.args if x is not v]
            elif not self.goes_on(v, user):
                return None
            elif user.result not in self.seen:
                waiting += self.ways_from(user.result)
            if not waiting:
                waiting += self.ways_from_others()
            if not waiting:
                return self.found()
        return None

    def ways_from(self, v: Value) -> list[tuple[Value, Op | Region]]:
        self.seen[v] = None
        return [(v, user) for user in self.uses[v]]

    def ways_from_others(self) -> list[tuple[Value, Op | Region]]:
        """The ways on from other products with numbers, to which what is computed of the value is added."""
        found: list[tuple[Value, Op | Region]] = []
        key = self.key
        for x in self.others:
            op = x.op if type(x) is Value and x not in self.seen else None
            if op is not None and key is not None and _takes(op, key):
                self.sources.append(op)
                found += self.ways_from(x)
        return found

    def ends(self, v: Value, user: Op, product: Op, *behind: Op) -> bool:
        """A product has the number, and no fewer elements than the value."""
        key = self.numbers.keys[product]
        if self.key is not None and not _is_same(key, self.key):
            return False
        self.key = key
        if (product.result.type.ndim or 0) < (self.op.result.type.ndim or 0):
            return False
        c, d = _fraction(product)
        self.signs += math.copysign(1.0 if product is user else 8.0, c * d)
        self.sinks.append(product)
        if product is not user:
            self.beside += [x for op in (product, *behind) for x in (op.result, *op.operands())]
        return self.fits(product.result)

    def fits(self, v: Value) -> bool:
        """All arrays have one dtype."""
        if v.type.kind == "array":
            self.dtype = self.dtype or v.type.dtype
            return v.type.dtype == self.dtype
        return True

    def goes_on(self, v: Value, user: Op) -> bool:
        """The result of the operation is a multiple of the value."""
        if not user.results or user.result not in self.numbers.leads or not _goes_on(v, user):
            return False
        if not self.fits(user.result):
            return False
        others = [x for k, x in enumerate(user.args) if x is not v and not (k == 1 and user.prim in (GET, SET, ADDAT))]
        if user.prim in (*SUMS, SET, ADDAT):
            return self.adds(*others)
        self.beside += others
        return True

    def adds(self, x: Any) -> bool:
        """What is added to a multiple of the value may be one too, or become one."""
        self.others.append(x)
        if type(x) is not Value or x in self.seen or _is_zero(x):
            return True
        at = self.numbers.at
        return (
            x.op is not None
            and x.op.tag == DERIVED
            and (x.op.prim in (MUL, DIV, SPREAD) or at.get(x.op, len(at)) > at[self.op])
        )

    def found(self) -> Way | None:
        if self.key is None or len({*self.sinks, *self.sources}) < len(self.sinks) + len(self.sources):
            return None
        if any(x in self.seen for x in self.beside if type(x) is Value):
            return None  # no multiple of the value, but of its square
        if any(x in self.seen for source in self.sources for x in source.operands()):
            return None  # it would have the number twice
        if not all(_is_zero(x) or x in self.seen for x in self.others):
            return None
        if type(self.key) is Value:
            # Where a number is divided, what it is divided by is surely there.
            homes = {op.parent for op in (*self.sinks, *self.sources)}
            is_fine = not self.sums and (len(homes) == 1 or all(_cancels(op, self.key) for op in self.sources))
            return Way(self.key, self.sources, self.sinks, [], [*self.seen]) if is_fine else None
        top, by = _fraction(self.sinks[0])
        top, by = math.copysign(top, self.signs), abs(by)
        for source in self.sources:
            c, d = _fraction(source)
            number = c * top / (d * by)
            is_dropped = abs(number) == 1.0 and not _has_numerator(source)
            if not is_moderate(number) or (is_dropped and source not in self.numbers.keys):
                return None
        return Way((top, by), self.sources, self.sinks, self.sums, [*self.seen])


def _is_same(a: Key, b: Key) -> bool:
    return a is b or (type(a) is type(b) is float and a == b)


def _is_own(op: Op) -> bool:
    """The operation makes real numbers of the adjoint: an array, or one at a time."""
    if op.tag != DERIVED or len(op.results) != 1:
        return False
    t = op.results[0].type
    if t.kind == "array":
        return t.dtype in (np.float64, np.float32) and not t.duck
    return t.is_scalar and t.is_real and t.dtype == np.float64 and not op.again


def _literal_in(op: Op) -> float | None:
    """The literal by which an operation of the adjoint multiplies, or divides."""
    if (op.prim is not MUL and op.prim is not DIV) or not _is_own(op):
        return None
    x, number = op.args
    if type(number) is Value and op.prim is MUL:
        number, x = op.args
    return float(number) if type(x) is Value and type(number) in (int, float) and is_moderate(number) else None


def _key_of(op: Op) -> Key | None:
    """What a way leads to that ends with an operation."""
    literal = _literal_in(op)
    if literal is not None:
        x = op.args[0] if type(op.args[0]) is Value else op.args[1]
        return abs(literal if op.prim is MUL else 1.0 / literal) if _is_like(x, op) else None
    if op.prim is DIV and op.tag == DERIVED and _is_number(op.args[1]) and op.result.type.kind == "array":
        return op.args[1] if not op.result.type.duck and _is_like(op.args[0], op) else None
    return None


def _fraction(op: Op) -> tuple[float, float]:
    """The literal in a product as a numerator and a denominator."""
    literal = _literal_in(op)
    if literal is not None:
        return (literal, 1.0) if op.prim is MUL else (1.0, literal)
    return (op.args[0], 1.0) if _has_numerator(op) else (1.0, 1.0)


def _has_numerator(op: Op) -> bool:
    """A literal is divided, or made an array."""
    number = op.args[0] if op.prim in (SPREAD, DIV) and _is_own(op) else None
    return type(number) is float and is_moderate(number)


def _is_number(x: Any) -> bool:
    """A float that only the run tells."""
    return type(x) is Value and x.type.is_scalar and x.type.is_real and x.type.is_float


def _takes(op: Op, key: Key) -> bool:
    """A product whose number may be multiplied, or divided, by another one."""
    if type(key) is not Value:
        return _literal_in(op) is not None or _has_numerator(op)
    return _cancels(op, key) or (_number_in(op) is not None and _is_there(key, op))


def _number_in(op: Op) -> Any:
    """The number by which an operation multiplies."""
    for x, y in (op.args, op.args[::-1]) if op.prim is MUL and _is_own(op) else ():
        if (type(x) is float or _is_number(x)) and _is_like(y, op):
            return x
    return None


def _cancels(op: Op, d: Value) -> bool:
    """The operation multiplies by a number that is divided by, or divides that number."""
    return _number_in(op) is d or (op.prim is DIV and op.args[0] is d and _is_own(op))


def _is_like(x: Any, op: Op) -> bool:
    """The operand may take the place of the result."""
    t, own = type_of(x), op.result.type
    if t == own or t.kind != "array" or own.kind != "array" or t.duck or own.duck or t.dtype != own.dtype:
        return type(x) is Value and t == own
    if t.dims is None or own.dims is None or len(t.dims) != len(own.dims) or op.parent is None:
        return False
    return all(map(op.parent.dims.same, t.dims, own.dims))


def _is_there(d: Value, op: Op) -> bool:
    """The value can be read in front of an operation."""
    return stands_before(d.op, op) if d.op is not None else any(region is d.region for region in enclosing(op.parent))


def _goes_on(v: Value, user: Op) -> bool:
    """The result is a multiple of the value, or a sum with it."""
    if len([x for x in user.operands() if x is v]) != 1:
        return False
    if user.prim in (SET, ADDAT):
        return user.args[0] is v or user.args[2] is v
    return user.prim in (MUL, NEG, *SUMS) or (user.prim in (*QUOTIENTS, GET, SPREAD) and user.args[0] is v)


def _factors_of(op: Op) -> tuple[Any, ...]:
    """The operands of which the result is a multiple."""
    if op.prim is MUL:
        return op.args
    return op.args[:1] if op.prim in (NEG, *QUOTIENTS) or (op.prim is GET and adds_axes_only(op.args[1])) else ()


def _adds_up(op: Op) -> bool:
    """The operation makes one number of all elements of an array."""
    if op.prim not in (SUM, DOT, PRIMS[np.vdot]) or op.result.type.dims != () or op.result.type.dtype != np.float64:
        return False
    return len(set(op.operands())) == len(op.operands())


def _short(number: float) -> float:
    """The number, or what is the same but for its last digits and much shorter: ``0.1 * 0.1`` is 0.01."""
    short = float(f"{number:.15g}")
    return short if len(repr(short)) + 4 < len(repr(number)) else number


def _is_zero(x: Any) -> bool:
    if type(x) is not Value:
        return bool(x == 0.0)
    return x.op is not None and (x.op.prim is ZEROS or x.op.prim.fn in (np.zeros, np.zeros_like))


def _may_wait(x: Value, user: Op) -> bool:
    """What computes a value may do so in front of its user: what it reads is not stored into before."""
    op, region = x.op, user.parent
    if op is None or op.parent is not region or region is None or op.tag != DERIVED or not op.prim.elementwise:
        return False
    between = region.ops[region.ops.index(op) + 1 : region.ops.index(user)]
    if len(between) > FAR or any(at.regions or x in at.operands() for at in between):
        return False  # what nothing needs may read it, too
    stored = {_memory(at.args[0]) for at in between if at.prim in STORES and type(at.args[0]) is Value}
    return stored.isdisjoint(map(_memory, op.operands()))


def _memory(v: Value) -> Value:
    """What a part, or a version, of an array was made of."""
    while v.op is not None and (v.op.prim in STORES or v.op.prim.alias != "fresh") and type(v.op.args[0]) is Value:
        v = v.op.args[0]
    return v


__all__ = ["merge_numbers", "scale_once"]
