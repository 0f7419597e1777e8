"""Abstract values: what a name may be bound to while a function is lowered.

A plain Python number, bool, string or None stands for itself (a constant); an `ir.core.Value` for a number that is
known at run time only. Arrays, lists and dictionaries live in the heap of the flow state and are referred to by cell,
so that aliases are the same cell.

All kinds answer the same questions. Constants and SSA values answer them through the functions of this module:

- ``leaves_of(av)``: the SSA values and the references to cells that it is made of, at any depth;
- ``rebuilt(av, change)``: the same value with each of these replaced;
- ``parts_of(av)``, ``av.with_parts(parts)``: the same one level deep;
- ``same(a, b)``: both are proven to be one value;
- ``alike(a, b)``: both are put together in the same way, so that their parts correspond;
- ``joins.join(a, b, joiner, at)``: what stands for both where paths meet. A `Joiner` says what becomes of the leaves.
"""

from __future__ import annotations

import ast
import collections
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from ..ir.core import Loc, Value, map_leaves, structural_key
from ..ir.core import leaves as values_of
from ..lowered import Path
from ..records import fields_of, record, replaced

T = TypeVar("T")

if TYPE_CHECKING:
    from .joins import Joiner


class Aval:
    """An abstract value that is no constant and no SSA value."""

    __slots__ = ()

    def parts(self) -> list[Any]:
        """The abstract values inside, one level deep."""
        return []

    def with_parts(self, parts: list[Any]) -> Any:
        """The same with other parts."""
        return self

    def add_leaves(self, out: list[Any]) -> None:
        """Append the SSA values and references to `out`."""
        for part in self.parts():
            add_leaves(part, out)

    def rebuilt(self, change: Callable[[Any], Any]) -> Any:
        """The same with ``change(leaf)`` for each leaf; `self` if no leaf changes."""
        parts = self.parts()
        made = [rebuilt(part, change) for part in parts]
        return self if all(map(_is, parts, made)) else self.with_parts(made)

    def alike(self, other: Any) -> bool:
        """Put together in the same way; the parts may differ."""
        return False

    def same(self, other: Any) -> bool:
        """Proven to be the same value; `other` is of the same class, and another object."""
        return self.alike(other) and all(map(same, self.parts(), other.parts()))

    def join(self, a: Any, b: Any, joiner: Joiner, at: Any) -> Any:
        """What stands for `a` and `b`, of which `self` is the first that is there: here, one and the same thing."""
        return joiner.clash(a, b, at) if MISSING not in (a, b) and not same(a, b) else self


class Composite(Aval):
    """A value that is put together of parts.

    many: the fields that hold tuples of abstract values; single: those that hold one; ignored: those that do not
    matter where two values are compared.
    """

    __slots__ = ()
    many: ClassVar[tuple[str, ...]] = ()
    single: ClassVar[tuple[str, ...]] = ()
    ignored: ClassVar[tuple[str, ...]] = ()

    def parts(self) -> list[Any]:
        out: list[Any] = []
        for name in self.many:
            out += getattr(self, name)
        for name in self.single:
            out.append(getattr(self, name))
        return out

    def with_parts(self, parts: list[Any]) -> Any:
        changes: dict[str, Any] = {}
        k = 0
        for name in self.many:
            n = len(getattr(self, name))
            changes[name] = tuple(parts[k : k + n])
            k += n
        for name in self.single:
            changes[name] = parts[k]
            k += 1
        return replaced(self, **changes)

    def alike(self, other: Any) -> bool:
        if type(self) is not type(other):
            return False
        for name in self.many:
            if len(getattr(self, name)) != len(getattr(other, name)):
                return False
        free = (*self.many, *self.single, *self.ignored)
        for name in fields_of(self):
            if name not in free:
                x, y = getattr(self, name), getattr(other, name)
                if x is not y and not (isinstance(x, (int, str, tuple)) and same_keys(x, y)):
                    return False
        return True

    def join(self, a: Any, b: Any, joiner: Joiner, at: Any) -> Any:
        if MISSING not in (a, b) and not a.alike(b):
            return joiner.clash(a, b, at)
        missing = [MISSING] * len(self.parts())
        xs, ys = [missing if av is MISSING else av.parts() for av in (a, b)]
        parts = [joiner.part(x, y, at, k) for k, (x, y) in enumerate(zip(xs, ys))]
        bad = next((part for part in parts if type(part) is Conflict), None)
        return self.with_parts(parts) if bad is None else bad


class Reference(Aval):
    """What leads to a cell of the heap, so that two references to one cell are one thing."""

    __slots__ = ()
    cell: int

    def to(self, cell: int) -> Any:
        """A reference of this kind to the whole of another cell."""
        return type(self)(cell)  # type: ignore[call-arg]

    def add_leaves(self, out: list[Any]) -> None:
        out.append(self)

    def rebuilt(self, change: Callable[[Any], Any]) -> Any:
        return change(self)

    def same(self, other: Any) -> bool:
        return bool(self.cell == other.cell)


class Container(Reference):
    """A list, dictionary or object."""

    __slots__ = ()

    def kin(self, other: Any) -> bool:
        """Of one kind, so that a name may be bound to the one or the other."""
        return type(self) is type(other)

    def join(self, a: Any, b: Any, joiner: Joiner, at: Any) -> Any:
        if MISSING not in (a, b) and not a.kin(b):
            return joiner.clash(a, b, at)
        return joiner.container(a, b, at)


@record
class Obj(Aval):
    """A Python object known at compile time: a function, class, module, or an instance whose attributes are read by
    path."""

    obj: Any
    path: Path | None = None

    def same(self, other: Any) -> bool:
        return self.obj is other.obj and bool(self.path == other.path)


@record
class Ref(Reference):
    """An array: the part at `path` (steps as in ``get``) of the buffer `cell`. The hint is for its name."""

    cell: int
    path: tuple[Any, ...] = ()
    hint: str = ""

    def add_leaves(self, out: list[Any]) -> None:
        out.append(self)
        out += values_of(self.path)

    def rebuilt(self, change: Callable[[Any], Any]) -> Any:
        if self.path:
            path = map_leaves(change, self.path)
            if not all(map(_is, values_of(path), values_of(self.path))):
                return change(Ref(self.cell, path, self.hint))
        return change(self)

    def same(self, other: Any) -> bool:
        return bool(self.cell == other.cell and structural_key(self.path) == structural_key(other.path))

    def join(self, a: Any, b: Any, joiner: Joiner, at: Any) -> Any:
        other = b if a is self else a
        if other is MISSING or type(other) is Ref or is_plain(other):
            return joiner.array(a, b, at)
        return joiner.clash(a, b, at)


@record
class Seq(Composite):
    """A tuple; of a named tuple class if `cls` is given."""

    many = ("items",)
    items: tuple[Any, ...]
    cls: Any = None


@record
class ListRef(Container):
    """A list; the heap holds its `Items`, or `Columns`."""

    cell: int


@record
class DictRef(Container):
    """A dictionary with known keys; the heap holds its `Entries`."""

    cell: int


@record
class Instance(Container):
    """An object made by the lowered code; the heap holds its attributes as `Entries`.

    So are sets ("members", a tuple), deques ("items", a list, and "maxlen"), the dictionaries with a default ("entries"
    and "default") and iterators (`OneShot`).
    """

    cls: type
    cell: int

    def to(self, cell: int) -> Any:
        return Instance(self.cls, cell)

    def kin(self, other: Any) -> bool:
        return type(other) is Instance and self.cls is other.cls


@record
class Closure(Composite):
    """A function that the lowered code defines; `names` and `values`: the defaults of keyword-only parameters.

    attributes: a dictionary of what the code assigns to its attributes, or None if it does not.
    """

    many, single = ("defaults", "values"), ("attributes",)
    node: ast.FunctionDef | ast.Lambda
    env: int  # the frame in which it was defined
    owner: Any  # the function whose globals it sees
    defaults: tuple[Any, ...]
    names: tuple[str, ...]
    values: tuple[Any, ...]
    file: str
    attributes: Any = None


@record
class Bound(Composite):
    """A method of an object, not called yet. `fn` is an abstract function or the name of a built-in method."""

    single = ("fn", "self")
    fn: Any
    self: Any


@record
class Partial(Composite):
    many, single = ("args", "values"), ("fn",)
    fn: Any
    args: tuple[Any, ...]
    names: tuple[str, ...]
    values: tuple[Any, ...]


@record
class RangeOf(Composite):
    """A range."""

    single = ("start", "stop", "step")
    start: Any
    stop: Any
    step: Any


@record
class CheckpointedOf(Composite):
    """An iterable, and how a loop over it is reversed: how many segments, snapshots and snapshots on disk there are,
    and where these are. See `transforms.checkpoint`."""

    many, single = ("numbers",), ("it",)
    it: Any
    numbers: tuple[Any, Any, Any]
    directory: str | None

    @property
    def said(self) -> dict[str, Any]:
        """What the loop says of itself."""
        segments, snapshots, disk = self.numbers
        if snapshots is None and disk is None:
            return {"segments": segments}
        more = {} if disk is None else {"disk": (disk, self.directory)}
        return {"snapshots": 0 if snapshots is None else snapshots, **more}


@record
class ReversedOf(Composite):
    """``reversed(it)``, which starts from the length that a list has then.

    length: that of a list or dictionary, if it is known; since: how many resizes of lists there had been.
    """

    single, ignored = ("it",), ("since",)
    it: Any
    length: int | None = None
    since: int = 0


@record
class ViewOf(Composite):
    """``d.keys()``, ``d.values()`` or ``d.items()``: what the dictionary holds when it is looked at."""

    single = ("of",)
    of: Any
    kind: str


@record
class IndexedOf(Composite):
    """An iterable whose item number `i` follows from `i`, such as ``itertools.count()``."""

    many = ("its",)
    kind: str
    its: tuple[Any, ...]


@record
class StreamOf(Composite):
    """What takes its items from iterators, such as a zip, a map, a filter or a generator expression."""

    many = ("its",)
    kind: str
    its: tuple[Any, ...]
    node: Any = None  # of a generator expression
    env: int = -1

    @property
    def is_plain(self) -> bool:
        """Its items are tuples of those of its iterators."""
        return self.kind in ("zip", "enumerate")


class OneShot:
    """The class of iterators: what was taken from one is not in there any more. The heap holds the iterable that it
    came from ("source") and the number of the next item ("place")."""


@record
class FlagsOf(Composite):
    """``a.flags`` of an array."""

    single = ("of",)
    of: Any


@record
class SliceOf(Composite):
    single = ("start", "stop", "step")
    start: Any
    stop: Any
    step: Any


@record
class Super(Composite):
    single = ("self",)
    cls: type
    self: Any


@record
class Maybe(Aval):
    """A name bound on some paths only; `flag` is True at run time where it is."""

    av: Any
    flag: Any

    def parts(self) -> list[Any]:
        return [self.av, self.flag]

    def with_parts(self, parts: list[Any]) -> Any:
        return Maybe(*parts)

    def same(self, other: Any) -> bool:
        return same(self.av, other.av) and same(self.flag, other.flag)


@record
class Origin:
    """Where paths were joined: the syntax node of the `if` or loop, in this activation of its function."""

    node: Any
    frame: Any


@record
class Conflict(Aval):
    """What two paths bound to things that have no common form; an error if it is read."""

    why: str
    origin: Any = None  # an Origin or a Layout
    remedy: str = "bind it to one kind of thing on all paths"


# An attribute of an object from outside, or a variable there, that is not set when the call begins.
UNSET = Conflict("is not set on every path")


# --- what the heap holds besides IR values ----------------------------------------------------------------------------


@record
class Items(Composite):
    """The items of a list of known length."""

    many = ("items",)
    keys: ClassVar[None] = None
    items: tuple[Any, ...]


@record
class Entries(Composite):
    """Keys known at compile time, and what they map to."""

    many = ("items",)
    keys: tuple[Any, ...]
    items: tuple[Any, ...]

    @staticmethod
    def of(table: dict[Any, Any]) -> Entries:
        return Entries(tuple(table), tuple(table.values()))

    @property
    def table(self) -> dict[Any, Any]:
        return dict(zip(self.keys, self.items))

    def get(self, key: Any) -> Any:
        """What a key maps to, or `MISSING`."""
        return self.items[self.keys.index(key)] if key in self.keys else MISSING


@record
class Columns(Composite):
    """The items of a list of run-time length: one IR list for each leaf of the structure of an item.

    distinct: no two items share anything that may change in place.
    """

    many = ("leaves",)
    structure: Any
    leaves: tuple[Any, ...]
    distinct: bool

    def changed(self, leaves: list[Any], distinct: bool = True) -> Columns:
        """A list of such items with other IR lists; `distinct`: no item that was put in is one that was there."""
        return Columns(self.structure, tuple(leaves), self.distinct and distinct)


@record
class ItemOf(Composite):
    """What the item number `index` of the list `cell` holds: its part of this structure, whose IR lists start at
    `place`.

    root: the structure of the list's items; sure: there is such an item, on all paths.
    """

    single = ("index",)
    cell: int
    index: Any
    root: Any
    place: int
    structure: Any
    sure: bool = True


@record
class Poison(Aval):
    """A buffer of which a store through a possible alias makes the contents unknown.

    remedy: what to do about contents that are unknown for another reason
    """

    remedy: ClassVar[str] = ""
    store: Loc | None
    why: str
    origin: Any = None


@record
class Memo(Poison):
    """The memo that a ``__deepcopy__`` is given: only `copy.deepcopy` knows what it holds."""

    remedy = "only pass it on to copy.deepcopy"


@record
class Overwritten(Poison):
    """A call was allowed to leave anything in it."""


@record
class Interrupted(Poison):
    """What the body of a ``try`` may or may not have changed before an exception ended it."""

    remedy = "change it in a statement of its own, or after the `try`, or in its `else`"


class _Missing:
    def __repr__(self) -> str:
        return "missing"


MISSING = _Missing()


# --- the questions, for abstract values of any kind -------------------------------------------------------------------


def _is(a: Any, b: Any) -> bool:
    return a is b


def parts_of(av: Any) -> list[Any]:
    """The abstract values inside an abstract value, one level deep."""
    return av.parts() if isinstance(av, Aval) else []


def add_leaves(av: Any, out: list[Any]) -> None:
    """Append the SSA values and references that `av` is made of."""
    if type(av) is Value:
        out.append(av)
    elif isinstance(av, Aval):
        av.add_leaves(out)


def leaves_of(av: Any) -> list[Any]:
    """The SSA values and the references to cells that `av` is made of, left to right, at any depth.

    The values in the path of a view come after the view. What the cells hold is not looked at.
    """
    out: list[Any] = []
    add_leaves(av, out)
    return out


def values_in(av: Any) -> list[Value]:
    """The SSA values that `av` is made of."""
    return [leaf for leaf in leaves_of(av) if type(leaf) is Value]


def rebuilt(av: Any, change: Callable[[Any], Any]) -> Any:
    """`av` with ``change(leaf)`` in the place of each leaf; `av` itself if no leaf changes."""
    if type(av) is Value:
        return change(av)
    return av.rebuilt(change) if isinstance(av, Aval) else av


def substituted(av: Any, values: dict[Value, Any]) -> Any:
    """`av` with other SSA values."""
    return rebuilt(av, lambda leaf: values.get(leaf, leaf) if type(leaf) is Value else leaf)


def alike(a: Any, b: Any) -> bool:
    """Composite values of one class whose parts match up and whose fixed fields are equal."""
    return isinstance(a, Composite) and a.alike(b)


def same(a: Any, b: Any) -> bool:
    """Proven to be the same abstract value."""
    if a is b:
        return True
    if type(a) is not type(b) or type(a) is Value:
        return False
    if isinstance(a, Aval):
        return a.same(b)
    return is_constant(a) and bool(structural_key(a) == structural_key(b))


def items_in(content: Any) -> tuple[Any, ...]:
    """The items or entries of a container, as far as they are known one by one."""
    return content.items if isinstance(content, (Items, Entries)) else ()


def is_composite(av: Any) -> bool:
    return isinstance(av, Composite)


def is_reference(av: Any) -> bool:
    """A list, dictionary or object."""
    return isinstance(av, Container)


def same_keys(a: Any, b: Any) -> bool:
    """The same keys of a dictionary, by type and value: ``1``, ``1.0`` and ``True`` are equal, and not the same."""
    return a is b or bool(structural_key(a) == structural_key(b))


def is_plain_key(key: Any) -> bool:
    """A key of a dictionary, or a member of a set, that is a constant or a tuple of such."""
    return all(map(is_plain_key, key)) if type(key) is tuple else is_constant(key)


def key_av(key: Any) -> Any:
    """The abstract value of a dictionary key."""
    if is_constant(key):
        return key
    return Seq(tuple(map(key_av, key))) if type(key) is tuple else Obj(key)


def is_constant(av: Any) -> bool:
    """A Python number, bool, string or None."""
    return av is None or isinstance(av, (bool, int, float, complex, str, bytes)) or av is Ellipsis


def is_plain(av: Any) -> bool:
    """An SSA value or a constant: what one operand is."""
    return type(av) is Value or is_constant(av)


def is_number(av: Any) -> bool:
    """A constant number (a bool counts)."""
    return isinstance(av, (bool, int, float, complex))


def is_static_int(av: Any) -> bool:
    return isinstance(av, int)


COLLECTIONS = (set, frozenset, collections.deque, collections.defaultdict, collections.Counter, OneShot)


# The classes that values of these kinds have in Python.
BUILTIN: dict[type, type] = {Seq: tuple, ListRef: list, DictRef: dict, RangeOf: range, SliceOf: slice}
# And numbers of these kinds of dtypes.
PYTHON = {"b": bool, "i": int, "f": float, "c": complex}


def is_collection(av: Any) -> bool:
    """A set, deque, dictionary with a default, or iterator."""
    return type(av) is Instance and av.cls in COLLECTIONS


def is_iterator(av: Any) -> bool:
    return type(av) is Instance and av.cls is OneShot


def is_set_like(av: Any) -> bool:
    """A set, or the keys or items of a dictionary."""
    return (type(av) is Instance and av.cls in (set, frozenset)) or (type(av) is ViewOf and av.kind != "values")


_NOUNS: dict[type, str] = {
    Ref: "an array", Seq: "a tuple", ListRef: "a list", DictRef: "a dictionary", Closure: "a function",
    Bound: "a method", RangeOf: "a range", ViewOf: "a view of a dictionary", FlagsOf: "the flags of an array",
    CheckpointedOf: "a checkpointed iterable", ReversedOf: "a reversed sequence",
    IndexedOf: "what is computed item by item",
}  # fmt: skip


def noun_of(cls: type) -> str:
    """What an instance of a class is. A class that stands for something else says it."""
    return getattr(cls, "__autodiff_noun__", None) or f"an instance of {cls.__name__}"


def remedy_of(av: Any, usual: str) -> str:
    """What to do with a value where its kind does not fit."""
    return str(getattr(getattr(av, "cls", None), "__autodiff_remedy__", usual))


def describe(av: Any) -> str:
    """What a value is, in the words of an error message."""
    if type(av) is Value:
        return "an int" if av.type.kind == "py" and str(av.type) == "int" else f"a value of type {av.type}"
    if type(av) in _NOUNS:
        return _NOUNS[type(av)]
    if type(av) is StreamOf:
        return {"zip": "a zip", "enumerate": "an enumeration"}.get(av.kind, _NOUNS[IndexedOf])
    if type(av) is Instance:
        return "an iterator" if av.cls is OneShot else noun_of(av.cls)
    if type(av) is Obj:
        named = isinstance(av.obj, (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType))
        return f"{av.obj.__name__ if named else type(av.obj).__name__!r}"
    return repr(av)


def is_never_nan(av: Any) -> bool:
    """A constant that is equal to itself: what is the same object is equal, too."""
    return is_constant(av) and isinstance(av, (str, bytes, int))


def is_whole(av: Any) -> bool:
    """A Python int or bool, which is never NaN."""
    return type(av) is Value and av.type.kind == "py" and av.type.dtype is not None and av.type.dtype.kind in "bi"
