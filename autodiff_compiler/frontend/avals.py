"""Abstract values: what a name may be bound to while a function is lowered.

A plain Python number, bool, string or None stands for itself (a constant); an `ir.core.Value` for a number that is
known at run time only. Arrays, lists and dictionaries live in the heap of the flow state and are referred to by cell,
so that aliases are the same cell.
"""

from __future__ import annotations

import ast
import collections
import types
from dataclasses import dataclass, fields, replace
from typing import Any

from ..ir.core import Loc, Value, structural_key

# Where an object comes from: ("arg", k), ("global", fn, name), ("cell", fn, name), ("default", fn, k or name), then
# any number of ("item", key), ("attr", name), ("call", arguments, their key) and ("member", name): what a class or its
# bases have under the name.
Path = tuple[tuple[Any, ...], ...]


class ObjectStep(tuple[Any, ...]):
    """``("object", obj)``, compared by identity: an object may be unhashable, or equal to another and yet different."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectStep) and self[1] is other[1]

    def __hash__(self) -> int:
        return id(self[1])


@dataclass(frozen=True, slots=True, eq=False)
class Obj:
    """A Python object known at compile time: a function, class, module, or an instance whose attributes are read by
    path."""

    obj: Any
    path: Path | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Ref:
    """An array: the part at `path` (steps as in ``get``) of the buffer `cell`."""

    cell: int
    path: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Seq:
    """A tuple; of a named tuple class if `cls` is given."""

    items: tuple[Any, ...]
    cls: Any = None


@dataclass(frozen=True, slots=True, eq=False)
class ListRef:
    """A list; the heap holds its `Items`, or `Columns`."""

    cell: int


@dataclass(frozen=True, slots=True, eq=False)
class DictRef:
    """A dictionary with known keys; the heap holds its `Entries`."""

    cell: int


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """An object made by the lowered code; the heap holds its attributes as `Entries`.

    So are sets ("members", a tuple), deques ("items", a list, and "maxlen"), the dictionaries with a default ("entries"
    and "default") and iterators (`OneShot`).
    """

    cls: type
    cell: int


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A function that the lowered code defines."""

    node: ast.FunctionDef | ast.Lambda
    env: int  # the frame in which it was defined
    owner: types.FunctionType  # whose globals it sees
    defaults: tuple[Any, ...]
    kwdefaults: tuple[tuple[str, Any], ...]
    file: str


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """A method of an object, not called yet. `fn` is an abstract function or the name of a built-in method."""

    fn: Any
    self: Any


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    fn: Any
    args: tuple[Any, ...]
    names: tuple[str, ...]
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class RangeOf:
    start: Any
    stop: Any
    step: Any


@dataclass(frozen=True, slots=True, eq=False)
class EnumerateOf:
    it: Any
    start: Any


@dataclass(frozen=True, slots=True, eq=False)
class ZipOf:
    its: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ReversedOf:
    """``reversed(it)``, which starts from the length that a list has then.

    length: that of a list or dictionary, if it is known; since: how many resizes of lists there had been.
    """

    it: Any
    length: int | None = None
    since: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class ViewOf:
    """``d.keys()``, ``d.values()`` or ``d.items()``: what the dictionary holds when it is looked at."""

    of: Any
    kind: str


@dataclass(frozen=True, slots=True, eq=False)
class IndexedOf:
    """An iterable whose item number `i` is computed when it is asked for, such as ``map(f, xs)``."""

    kind: str
    its: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class DeferredOf:
    """An iterable whose items are all computed when a loop begins, such as ``filter(f, xs)``."""

    kind: str
    its: tuple[Any, ...]
    node: Any = None  # of a generator expression
    env: int = -1


class OneShot:
    """The class of iterators: what was taken from one is not in there any more. The heap holds the iterable that it
    came from ("source") and the number of the next item ("place")."""


@dataclass(frozen=True, slots=True, eq=False)
class FlagsOf:
    """``a.flags`` of an array."""

    of: Any


@dataclass(frozen=True, slots=True, eq=False)
class SliceOf:
    start: Any
    stop: Any
    step: Any


@dataclass(frozen=True, slots=True, eq=False)
class Super:
    cls: type
    self: Any


@dataclass(frozen=True, slots=True, eq=False)
class Maybe:
    """A name bound on some paths only; `flag` is True at run time where it is."""

    av: Any
    flag: Any


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """Where paths were joined: the syntax node of the `if` or loop, in this activation of its function."""

    node: Any
    frame: Any


@dataclass(frozen=True, slots=True, eq=False)
class Conflict:
    """What two paths bound to things that have no common form; an error if it is read."""

    why: str
    origin: Any = None  # an Origin or a Layout
    remedy: str = "bind it to one kind of thing on all paths"


# An attribute of an object from outside, or a variable there, that is not set when the call begins.
UNSET = Conflict("is not set on every path")


# --- what the heap holds besides IR values ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """The items of a list of known length."""

    items: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """Keys known at compile time, and what they map to."""

    keys: tuple[Any, ...]
    items: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Hole:
    """The form of an item that is a number or an array: one IR list."""


HOLE = Hole()


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """The items of a list of run-time length: one IR list for each number or array that the form of an item has.

    distinct: no two items share anything that may change in place.
    """

    form: Any
    leaves: tuple[Any, ...]
    distinct: bool


@dataclass(frozen=True, slots=True, eq=False)
class ItemOf:
    """What the item number `index` of the list `cell` holds: its part of this form, whose IR lists start at `place`.

    root: the form of the list's items; sure: there is such an item, on all paths.
    """

    cell: int
    index: Any
    root: Any
    place: int
    form: Any
    sure: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Poison:
    """A buffer of which a store through a possible alias makes the contents unknown."""

    store: Loc | None
    why: str
    origin: Any = None


@dataclass(frozen=True, slots=True, eq=False)
class Interrupted(Poison):
    """What the body of a ``try`` may or may not have changed before an exception ended it."""


class _Missing:
    def __repr__(self) -> str:
        return "missing"


MISSING = _Missing()

# The fields of each class that hold abstract values: a tuple of them, or one.
_PARTS: dict[type, tuple[tuple[str, ...], tuple[str, ...]]] = {
    Seq: (("items",), ()),
    Items: (("items",), ()),
    Entries: (("items",), ()),
    Columns: (("leaves",), ()),
    ItemOf: ((), ("index",)),
    ZipOf: (("its",), ()),
    Closure: (("defaults",), ()),
    Partial: (("args", "values"), ("fn",)),
    Bound: ((), ("fn", "self")),
    RangeOf: ((), ("start", "stop", "step")),
    EnumerateOf: ((), ("it", "start")),
    ReversedOf: ((), ("it",)),
    ViewOf: ((), ("of",)),
    FlagsOf: ((), ("of",)),
    IndexedOf: (("its",), ()),
    DeferredOf: (("its",), ()),
    SliceOf: ((), ("start", "stop", "step")),
    Super: ((), ("self",)),
}


def parts_of(av: Any) -> list[Any]:
    """The abstract values inside an abstract value."""
    many, single = _PARTS.get(type(av), ((), ()))
    out: list[Any] = []
    for name in many:
        out += getattr(av, name)
    for name in single:
        out.append(getattr(av, name))
    return out


def with_parts(av: Any, parts: list[Any]) -> Any:
    """The same abstract value with other parts."""
    many, single = _PARTS[type(av)]
    changes: dict[str, Any] = {}
    k = 0
    for name in many:
        n = len(getattr(av, name))
        changes[name] = tuple(parts[k : k + n])
        k += n
    for name in single:
        changes[name] = parts[k]
        k += 1
    return replace(av, **changes)


def is_composite(av: Any) -> bool:
    return type(av) in _PARTS


def same_form(a: Any, b: Any) -> bool:
    """Composite values of one class whose parts match up and whose fixed fields are equal."""
    if type(a) is not type(b):
        return False
    if type(a) not in _PARTS:
        return False
    many, single = _PARTS[type(a)]
    if any(len(getattr(a, n)) != len(getattr(b, n)) for n in many):
        return False
    for f in fields(a):
        if f.name in many or f.name in single or f.name == "since":
            continue
        x, y = getattr(a, f.name), getattr(b, f.name)
        if f.name == "kwdefaults":
            if len(x) != len(y) or any(p[0] != q[0] or not same(p[1], q[1]) for p, q in zip(x, y)):
                return False
        elif x is not y and not (isinstance(x, (int, str, tuple)) and type(x) is type(y) and x == y):
            return False
    return True


def is_plain_key(key: Any) -> bool:
    """A key of a dictionary, or a member of a set, that is a constant or a tuple of such."""
    return all(map(is_plain_key, key)) if type(key) is tuple else is_constant(key)


def key_av(key: Any) -> Any:
    """The abstract value of a dictionary key."""
    if is_constant(key):
        return key
    return Seq(tuple(map(key_av, key))) if type(key) is tuple else Obj(key)


def is_reference(av: Any) -> bool:
    """A list, dictionary or object."""
    return type(av) in (ListRef, DictRef, Instance)


def is_constant(av: Any) -> bool:
    """A Python number, bool, string or None."""
    return av is None or isinstance(av, (bool, int, float, complex, str, bytes)) or av is Ellipsis


def is_number(av: Any) -> bool:
    """A constant number (a bool counts)."""
    return isinstance(av, (bool, int, float, complex))


def is_static_int(av: Any) -> bool:
    return isinstance(av, int)


def same(a: Any, b: Any) -> bool:
    """Proven to be the same abstract value."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if type(a) is Value:
        return False
    if is_constant(a):
        return bool(structural_key(a) == structural_key(b))
    if type(a) is Ref:
        return bool(a.cell == b.cell and structural_key(a.path) == structural_key(b.path))
    if type(a) in (ListRef, DictRef, Instance):
        return bool(a.cell == b.cell)
    if type(a) is Obj:
        return a.obj is b.obj and a.path == b.path
    if type(a) is Maybe:
        return same(a.av, b.av) and same(a.flag, b.flag)
    if same_form(a, b):
        return all(same(x, y) for x, y in zip(parts_of(a), parts_of(b)))
    return False


COLLECTIONS: tuple[type, ...] = (
    set,
    frozenset,
    collections.deque,
    collections.defaultdict,
    collections.Counter,
    OneShot,
)


def is_collection(av: Any) -> bool:
    """A set, deque, dictionary with a default, or iterator."""
    return type(av) is Instance and av.cls in COLLECTIONS


def is_set_like(av: Any) -> bool:
    """A set, or the keys or items of a dictionary."""
    return (type(av) is Instance and av.cls in (set, frozenset)) or (type(av) is ViewOf and av.kind != "values")


def describe(av: Any) -> str:
    """What a value is, in the words of an error message."""
    if type(av) is Value:
        return "an int" if av.type.kind == "py" and str(av.type) == "int" else f"a value of type {av.type}"
    names: dict[type, str] = {
        Ref: "an array",
        Seq: "a tuple",
        ListRef: "a list",
        DictRef: "a dictionary",
        Closure: "a function",
        Bound: "a method",
        RangeOf: "a range",
        ViewOf: "a view of a dictionary",
        FlagsOf: "the flags of an array",
        ZipOf: "a zip",
        EnumerateOf: "an enumeration",
        ReversedOf: "a reversed sequence",
        IndexedOf: "what is computed item by item",
        DeferredOf: "what is computed item by item",
    }
    if type(av) in names:
        return names[type(av)]
    if type(av) is Instance:
        if av.cls is OneShot:
            return "an iterator"
        return f"an instance of {av.cls.__name__}"
    if type(av) is Obj:
        named = isinstance(av.obj, (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType))
        return f"{av.obj.__name__ if named else type(av.obj).__name__!r}"
    return repr(av)
