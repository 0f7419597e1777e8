"""Arrays of subscripts: ``x[k]``, and stores and additions at ``x[k]``, element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ir.core import Op, Value
from .fusion import Make, Nest, nested
from .lowering import Lowering
from .nest import BOOL, INDEX, Alloc, Branch, Call, Expr, Increase, Load, Name, Set, Stmt, Store
from .numbers import NotNative, Number, stored, to
from .views import ONE, ZERO, View, plus, whole


class Picked:
    """The part of an array that subscripts with arrays of ints name.

    shape:   of the part
    arrays:  the arrays of subscripts
    """

    def __init__(self, lowering: Lowering, op: Op, base: Any, path: Sequence[tuple[Any, ...]]):
        *before, last = path
        if last[0] != "index":
            raise NotNative("a part by a list of subscripts", op)
        self.lowering = lowering
        view = lowering.subscripts.part(lowering.view(base), before)
        items = list(last[1])
        if any(item is Ellipsis for item in items):
            at = [item is Ellipsis for item in items].index(True)
            used = sum(item is not None and item is not Ellipsis for item in items)
            items[at : at + 1] = [slice(None)] * (len(view.shape) - used)
        places = [k for k, item in enumerate(items) if type(item) is Value and lowering.is_array(item)]
        if None in items or any(isinstance(item, (list, tuple)) for item in items):
            raise NotNative("a subscript that is a list, or a new axis beside arrays of subscripts", op)
        if any(lowering.dtype(items[k]).kind not in "iu" for k in places):
            raise NotNative("a mask", op)
        items += [slice(None)] * (len(view.shape) - len(items))
        numbers = [k for k, item in enumerate(items) if k not in places and not isinstance(item, slice)]
        if numbers:  # they are of the same group as the arrays, which stands where its first one does
            run = sorted([*numbers, *places])
            if run != list(range(run[0], run[-1] + 1)):
                raise NotNative("a number and arrays of subscripts that do not stand side by side", op)
            view = lowering.subscripts.subscripted(
                view, [item if k in numbers else slice(None) for k, item in enumerate(items)]
            )
            items = [item for k, item in enumerate(items) if k not in numbers]
            places = [k for k, item in enumerate(items) if type(item) is Value and lowering.is_array(item)]
        if places != list(range(places[0], places[-1] + 1)):
            raise NotNative("arrays of subscripts that do not stand side by side", op)
        self.arrays = [items[k] for k in places]
        self.first, self.count = places[0], len(places)
        # The slices make a view; the arrays pick from its axes.
        self.view: View = lowering.subscripts.subscripted(
            view, [slice(None) if k in places else item for k, item in enumerate(items)]
        )
        self.picks = lowering.broadcast([lowering.shape(a) for a in self.arrays])
        lengths = self.view.shape
        self.shape = (*lengths[: self.first], *self.picks, *lengths[self.first + self.count :])

    def element(self, nest: Nest) -> tuple[Expr, ...]:
        """Where the element of the part at the indices of the loop is. The program bails if there is none."""
        index = nest.index[len(nest.index) - len(self.shape) :]
        rank = len(self.picks)
        own = index[self.first : self.first + rank]
        where: list[Expr] = list(index[: self.first])
        for k, array in enumerate(self.arrays):
            n = self.view.shape[self.first + k]
            found = nest.local.get(array) or self.lowering.element(array, own)
            where.append(_within(nest, to(found, INDEX), n))
        where += index[self.first + rank :]
        return self.view.index(where)


def _within(nest: Nest, e: Expr, n: Expr) -> Expr:
    name = Name(nest.fresh("k"), INDEX)
    nest.body.append(Set(name.name, Call("choose", (Call("lt", (e, ZERO), BOOL), plus(e, n), e), INDEX)))
    nest.guard(Call("or", (Call("lt", (name, ZERO), BOOL), Call("ge", (name, n), BOOL)), BOOL))
    return name


def has_arrays(lowering: Lowering, path: Sequence[tuple[Any, ...]]) -> bool:
    """A path has arrays of subscripts."""
    return any(
        step[0] == "index" and any(type(item) is Value and lowering.is_array(item) for item in step[1]) for step in path
    )


def get(self: Lowering, op: Op, base: Value, path: Sequence[tuple[Any, ...]]) -> None:
    """The elements at arrays of subscripts."""
    mask = _mask_of(self, path)
    if mask is not None:
        _get_where(self, op, base, path, mask)
        return
    self.settle_all([base, *[a for step in path if step[0] == "index" for a in step[1] if type(a) is Value]])
    picked = Picked(self, op, base, path)
    dtype = picked.view.dtype
    self.add_element(
        op, picked.shape, [base, *picked.arrays],
        lambda nest: Number(Load(picked.view.buffer, picked.element(nest), dtype), dtype), dtype, loose=True,
    )  # fmt: skip


def store(self: Lowering, op: Op, base: Value, path: Sequence[tuple[Any, ...]], source: Any, adds: bool) -> None:
    """Store at arrays of subscripts, or add there, one element after the other."""
    mask = _mask_of(self, path)
    if mask is not None:
        if self.is_array(source):
            _store_array_where(self, op, base, path, mask, source, adds)
        else:
            _store_where(self, op, base, path, mask, source, adds)
        return
    self.settle_all([base, source, *[a for step in path if step[0] == "index" for a in step[1] if type(a) is Value]])
    self.flush()
    picked = Picked(self, op, base, path)
    have = self.shape(source)
    if len(have) > len(picked.shape):
        raise NotNative("a store of an array with more axes than there is room for", op)
    for n, room in zip(reversed(have), reversed(picked.shape)):
        if n != room:
            if n != ONE:
                self.want_equal(room, n)
    make: Make = lambda nest: nest.get(source)
    reads = [source, *picked.arrays]
    found = self.values.get(source) if type(source) is Value else None
    if not self.is_array(source):
        e = self.named(stored(self.check_once, self.number(source), picked.view.dtype), "t")
        make, reads = (lambda nest: Number(e, picked.view.dtype)), picked.arrays
    elif self.dtype(source).kind == "c" and picked.view.dtype.kind != "c":
        raise NotNative("complex numbers that are stored as real ones", op)
    elif picked.view.dtype.kind in "iu" and self.dtype(source).kind == "f":
        raise NotNative(f"floats that are stored as {picked.view.dtype}", op)
    elif isinstance(found, View) and self.may_share(base, source):
        make, reads = self.made_of(self.copied(found, source)), picked.arrays
    self.values[op.result] = self.values[base]
    self.write(op, base, picked.view, reads, make, adds, picked.shape, at=picked.element)
    self.flush()


def _store_where(
    self: Lowering, op: Op, base: Value, path: Sequence[tuple[Any, ...]], mask: Value, source: Any, adds: bool
) -> None:
    """Store a number where a mask is true, or add it there."""
    view = self.subscripts.part(self.view(base), path[:-1])
    number = Number(self.named(stored(self.check_once, self.number(source), view.dtype), "t"), view.dtype)
    have = self.shape(mask)
    if len(have) != len(view.shape):
        raise NotNative("a mask with fewer axes than the array", op)
    for a, b in zip(view.shape, have):
        self.want_equal(a, b)
    if self.may_share(base, mask):
        raise NotNative("a mask that is stored into", op)
    self.values[op.result] = self.values[base]
    self.write(op, base, view, [mask], lambda nest: number, adds, only=lambda nest: nest.get(mask).expr)


def _mask_of(self: Lowering, path: Sequence[tuple[Any, ...]]) -> Value | None:
    """The mask that is the only subscript, if there is one."""
    items: Sequence[Any] = path[-1][1] if path[-1][0] == "index" else ()
    if len(items) == 1 and type(items[0]) is Value and self.is_array(items[0]) and self.dtype(items[0]) == BOOL:
        return items[0]
    return None


class _Chosen:
    """The elements of an array where a mask is true, one after the other.

    index: of the loops over them; place: which of them it is
    """

    def __init__(self, lowering: Lowering, op: Op, base: Value, path: Sequence[tuple[Any, ...]], mask: Value):
        self.lowering = lowering
        lowering.settle_all([base, mask])
        lowering.flush()
        self.part = lowering.subscripts.part(lowering.view(base), path[:-1])
        self.mask = lowering.view(mask)
        if len(self.mask.shape) != len(self.part.shape):
            raise NotNative("a mask with fewer axes than the array", op)
        for a, b in zip(self.part.shape, self.mask.shape):
            lowering.want_equal(a, b)
        self.index: list[Expr] = [Name(lowering.fresh(letter), INDEX) for letter in "ijklmn"[: len(self.mask.shape)]]

    def count(self) -> Expr:
        """How many there are."""
        name = self.lowering.fresh("count")
        self.lowering.emit(Set(name, ZERO))
        self.each([Set(name, plus(Name(name, INDEX), ONE))])
        return Name(name, INDEX)

    def each(self, body: list[Stmt]) -> None:
        """Statements for each of them."""
        chosen: list[Stmt] = [Branch(self.mask.element(self.index), body, [])]
        self.lowering.frame.block += nested(self.index, self.mask.shape, chosen)

    def numbered(self, make: Callable[[Expr], Stmt]) -> None:
        """A statement for each of them, made of its number."""
        name = self.lowering.fresh("place")
        self.lowering.emit(Set(name, ZERO))
        self.each([make(Name(name, INDEX)), Set(name, plus(Name(name, INDEX), ONE))])


def _get_where(self: Lowering, op: Op, base: Value, path: Sequence[tuple[Any, ...]], mask: Value) -> None:
    """The elements where a mask is true."""
    chosen = _Chosen(self, op, base, path, mask)
    out = whole(self.fresh(op.result.hint), chosen.part.dtype, [chosen.count()])
    self.emit(Alloc(out.buffer, out.dtype, out.shape))
    chosen.numbered(lambda place: Store(out.buffer, (place,), chosen.part.element(chosen.index)))
    self.values[op.result] = out


def _store_array_where(
    self: Lowering, op: Op, base: Value, path: Sequence[tuple[Any, ...]], mask: Value, source: Any, adds: bool
) -> None:
    """Store the elements of an array where a mask is true, or add them there."""
    self.settle(source)
    if self.may_share(base, mask):
        raise NotNative("a mask that is stored into", op)
    chosen = _Chosen(self, op, base, path, mask)
    given, part = self.view(source), chosen.part
    if len(given.shape) != 1 or (part.dtype.kind in "iu" and given.dtype.kind == "f"):
        raise NotNative(f"a store of {given.dtype} with {len(given.shape)} axes where a mask is true", op)
    if type(source) is Value and self.may_share(base, source):
        given = self.copied(given, source)
    if given.shape[0] != ONE:
        self.want_equal(given.shape[0], chosen.count())

    def store(place: Expr) -> Stmt:
        e = to(Number(given.element([place]), given.dtype), part.dtype)
        return (Increase if adds else Store)(part.buffer, part.index(chosen.index), e)

    chosen.numbered(store)
    self.values[op.result] = self.values[base]
