"""What a function reads from outside: its arguments, and the globals, closure cells, defaults and attributes that it
looks up.

Numbers and arrays become inputs of the lowered function, fetched anew at each call. Everything else is known at
compile time and guarded: functions, modules and classes by identity, bools, strings and None by value, containers by
their structure.
"""

from __future__ import annotations

import collections
import enum
import functools
import sys
import types
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ..duck import is_duck, is_other_array, name_of
from ..errors import AliasError, ArgumentError, UnsupportedError
from ..ir.core import Loc, Region, Value, structural_key
from ..ir.foreign import CALLED, root_module
from ..ir.types import OBJECT, Ty, array, generic, type_of_constant
from ..lowered import BAKED_MODULES, OBJECT_KEY, Guard, Input, Path, held, key_of, lowering_of
from ..records import record
from ..tree import class_lookup, is_library_class, own_steps, slot_names
from .avals import (
    MISSING,
    UNSET,
    Bound,
    DictRef,
    Entries,
    Instance,
    Items,
    ListRef,
    Obj,
    Partial,
    RangeOf,
    Ref,
    Seq,
    SliceOf,
    is_plain_key,
)
from .handlers import Val
from .plan import LAYOUT, Plan
from .sets import History, set_parts
from .state import PROTECTED, Cells

# The containers from which a class may be derived, those that are derived themselves first.
BASES: tuple[type, ...] = (
    collections.OrderedDict, collections.defaultdict, collections.Counter, dict, list, tuple, collections.deque, set,
)  # fmt: skip
DATA = "(data)"  # the hidden name of the container that an object is; no attribute has it
SELF = "(self)"  # that of an object that is its own ``__dict__``
# Methods of these that were looked up before are methods of what they are here.
_BOUND = (types.BuiltinFunctionType, types.MethodWrapperType)
_WITH_METHODS = frozenset(
    {list, dict, set, collections.deque, collections.OrderedDict, collections.defaultdict, np.ndarray}
)  # fmt: skip


@record
class OrderOf:
    """Of a guard: a set made in this way from sets that are found outside is gone through in this order."""

    history: History
    order: tuple[Any, ...]

    def holds(self, *outside: Val) -> bool:
        made = self.history.made(dict(zip(self.history.leaves, outside)))
        return bool(structural_key(tuple(made)) == structural_key(self.order))


def base_of(cls: Any) -> type | None:
    """The built-in container that a class of the user's is derived from."""
    return _base_of(cls)


@functools.cache
def _base_of(cls: type) -> type | None:
    if cls in BASES or not issubclass(cls, BASES) or issubclass(cls, enum.Enum) or hasattr(cls, "_fields"):
        return None
    for base in cls.__mro__:
        if base in BASES:
            return base
        if is_library_class(base) or base.__module__ == "collections":
            return None
    return None


def place_of(obj: Any, path: Path) -> Path:
    """Where the container is that an object at the path is: there too, if its class leaves it to it how it is read."""
    base: Any = base_of(type(obj))
    names = ("__getitem__", "__iter__" if base is dict else "__len__")
    reads = all(class_lookup(type(obj), name) is class_lookup(base, name) for name in names)
    return path if reads else (*path, ("held", None))


def is_lasting(obj: Any) -> bool:
    """What does not change, and is guarded by itself: a function, class, module, member of an enum or dtype."""
    return isinstance(
        obj, (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, enum.Enum, np.dtype, np.ufunc)
    )


def path_name(path: Path) -> str:
    """A short name for what the path leads to."""
    name = ""
    for step in path:
        last = step[-1]
        if step[0] == "default" and isinstance(last, int):
            code = step[1].__code__  # defaults belong to the last positional parameters
            last = code.co_varnames[code.co_argcount - len(step[1].__defaults__ or ()) + last]
        if isinstance(last, str) and last.isidentifier():
            name = f"{name}_{last}" if name and step[0] == "attr" and name != "self" else last
        elif isinstance(last, int) and step[0] == "item":
            name = f"{name}_{last}"
    return name


class Places:
    """Where things stand in a list that grows, by a key: the first of each."""

    def __init__(self, key: Callable[[Any], Any]):
        self.key = key
        self.known: dict[Any, int] = {}
        self.count = 0

    def find(self, items: list[Any], key: Any) -> int | None:
        for k in range(self.count, len(items)):
            self.known.setdefault(self.key(items[k]), k)
        self.count = len(items)
        return self.known.get(key)


def _subject(guard: Guard) -> Any:
    """What there is one guard about: of some kinds there may be several for one object."""
    several = guard.kind in ("lacks", "without", "same", "distinct", "apart", "order", "missing")
    return (guard.kind, guard.path, guard.expected if several else None)


def _leads_back(path: Path, first: Path) -> bool:
    """A path that begins where another one does, or in a transformed function, may lead to the same object, as that of
    a method which an object holds. What the object holds counts on both. Variables are constants beside arguments."""
    return path[0] == first[0] or path[0][0] == "object"


class Inputs:
    """The table of inputs and guards, filled as the lowering meets them."""

    def __init__(self, region: Region, cells: Cells, plan: Plan):
        self.region = region
        self.plan = plan
        self.cells = cells
        self.inputs: list[Input] = []
        self.guarded, self.numbered = Places(_subject), Places(lambda item: (item.path, item.key == OBJECT_KEY))
        self.guards: list[Guard] = []
        self.initial: dict[int, Any] = {}  # what the heap holds before the program runs
        self.by_path: dict[Path, Any] = {}
        # By the identity of a module's names, or of a cell: the function that reads it first. All paths begin there.
        self.readers: dict[int, tuple[types.FunctionType, str]] = {}
        self.met: dict[Path, Any] = {}  # the objects at the paths
        self.namespaces: dict[Path, Any] = {}  # by the path of a `__dict__`: the object that has it
        self.containers: dict[int, list[Path]] = {}  # by id: the lists and dictionaries among the inputs
        self.hidden_cells: dict[int, str] = {}  # of containers that were not passed as arguments
        # See `outside`. By cell: what a container is outside (kind, object, path), the path to an argument or what it
        # holds; by its identity the cell of a variable or object; the input arrays; what changes; all objects met.
        self.loc: Loc | None = None  # where the program asks for what is being wrapped
        self.outside: dict[int, tuple[str, Any, Path]] = {}
        self.found_at: dict[int, Path] = {}
        self.variables: dict[Any, int] = {}
        self.arrays: dict[int, int] = {}
        self.changed: set[int] = set()
        self.kept_arrays: set[int] = set()
        self.objects: list[tuple[Path, Any]] = []
        self.keep: list[Any] = []  # so that these ids stay taken
        self.ducks = False  # there are duck arrays among the inputs
        self.alone: dict[str, None] = {}  # why batches inside run example by example
        self.effects: dict[Any, Any] = {}  # of what libraries run of some objects, see `may_write`

    def guard(self, path: Path, kind: str, expected: Any) -> None:
        guard = Guard(path, kind, expected)
        if self.guarded.find(self.guards, _subject(guard)) is None:
            self.guards.append(guard)

    def wrap(self, obj: Any, path: Path, name: str = "", hidden: bool = True, loc: Loc | None = None) -> Any:
        """The abstract value of the object at the path."""
        found = self.by_path.get(path)
        if found is None and hidden and type(obj) in (list, dict):
            # Found before on another way: it is the same one, also for what is written to it.
            for other in self.containers.get(id(obj), ()):
                known = self.by_path.get(other)
                if getattr(known, "cell", None) in self.hidden_cells:
                    self.guard(path, "same", other)
                    self.by_path[path], self.met[path] = known, obj
                    return known
        if found is None:
            self.loc = loc
            found = self._wrap(obj, path, name or path_name(path), hidden, loc)
            if found is not None:
                self.by_path[path] = found
                self.met[path] = obj
        return found

    def _wrap(self, obj: Any, path: Path, name: str, hidden: bool, loc: Loc | None) -> Any:
        kind = type(obj)

        def place(k: Any) -> Path:
            if path in self.namespaces and isinstance(k, str):
                return (*path[:-1], *own_steps(self.namespaces[path], k))
            return (*path, ("item", k))

        def items(pairs: Iterable[tuple[Any, Any]]) -> tuple[Any, ...]:
            return tuple([self.wrap(x, place(k), _item_name(obj, name, k), hidden, loc) for k, x in pairs])

        def attribute(which: str, known_as: str = "") -> Any:
            return self.wrap(getattr(obj, which), (*path, ("attr", which)), known_as, hidden, loc)

        if isinstance(obj, enum.Enum):
            self.guard(path, "is", obj)
            return Obj(obj, path)
        if self.plan.watch is not None and root_module(kind) in CALLED:
            self.guard(path, "type", kind)
            return self.region.params[self.object_at(obj, path, name)]
        if obj is None or kind in (bool, str, bytes, np.str_, np.bytes_) or obj is Ellipsis:
            self.guard(path, "eq", obj)
            return obj
        if kind is int and self.plan.is_static(path, obj):
            self.guard(path, "eq", obj)
            return obj
        if kind in (int, float, complex) or isinstance(obj, np.generic):
            if isinstance(obj, np.generic):
                t = generic(obj.dtype)
            elif kind is int:
                t = Ty("py", np.dtype(np.int64), ())
            else:
                t = type_of_constant(obj)
            return self._input(obj, path, name, t, hidden)
        if kind is np.ndarray:
            return self._array(obj, path, name, hidden)
        if is_duck(obj):
            return self._duck(obj, path, name, hidden, loc)
        if is_other_array(obj):
            raise UnsupportedError(
                f"{name or 'an argument'!r} is a {name_of(kind)}, an array that has not both of NumPy's "
                "protocols, __array_ufunc__ and __array_function__: NumPy's functions convert it, or call its methods",
                loc,
                "pass an array of NumPy's, such as np.asarray of it",
            )
        if isinstance(obj, np.ndarray):
            raise UnsupportedError(
                f"{name or 'an argument'!r} is a {kind.__name__}: subclasses of np.ndarray change what operations mean",
                loc,
                "pass np.asarray of it",
            )
        if isinstance(obj, (int, float, complex)) and not isinstance(obj, bool):
            raise UnsupportedError(
                f"{name!r} is a {kind.__name__}, a subclass of a Python number", loc, "pass a plain number"
            )
        if isinstance(obj, tuple) and (kind is tuple or hasattr(kind, "_fields")):
            self.guard(path, "type", kind)
            self.guard(path, "len", len(obj))
            return Seq(items(enumerate(obj)), None if kind is tuple else kind)
        if kind is list:
            self.guard(path, "type", list)
            self.guard(path, "len", len(obj))
            return ListRef(self._container(obj, path, Items(items(enumerate(obj))), name, hidden))
        if obj is sys.modules:
            return Obj(obj, path)  # see `Names.module_entry`
        if kind is dict:
            self.guard(path, "type", dict)
            self.guard(path, "keys", tuple(obj))
            return DictRef(self._container(obj, path, Entries(tuple(obj), items(obj.items())), name, hidden))
        if kind in (set, frozenset) and all(map(is_plain_key, obj)):
            self.guard(path, "eq", kind(obj))
            history = History(kind, (obj,), path=path)
            return self._collection(obj, path, name, hidden, **set_parts(history))
        if kind is collections.deque:
            self.guard(path, "type", kind)
            self.guard(path, "len", len(obj))
            self.guard((*path, ("attr", "maxlen")), "eq", obj.maxlen)
            row = ListRef(self._inner(obj, path, Items(items(enumerate(obj))), name, hidden))
            return self._collection(obj, path, name, hidden, items=row, maxlen=obj.maxlen)
        if kind in (collections.OrderedDict, collections.defaultdict, collections.Counter):
            self.guard(path, "type", kind)
            self.guard(path, "keys", tuple(obj))
            content = Entries(tuple(obj), items(obj.items()))
            if kind is collections.OrderedDict:
                cell = self._container(obj, path, content, name, hidden)
                self.cells.ordered.add(cell)
                return DictRef(cell)
            made = getattr(obj, "default_factory", None)
            default = None if made is None else attribute("default_factory")
            inner = DictRef(self._inner(obj, path, content, name, hidden))
            return self._collection(obj, path, name, hidden, entries=inner, default=default)
        if kind is slice:
            self.guard(path, "type", slice)
            return SliceOf(*[attribute(a, a) for a in ("start", "stop", "step")])
        if kind is range:
            self.guard(path, "type", range)
            self.guard((*path, ("attr", "step")), "eq", obj.step)
            return RangeOf(attribute("start", "start"), attribute("stop", "stop"), obj.step)
        if kind is functools.partial:
            self.guard(path, "type", kind)
            fn, args = attribute("func"), attribute("args")
            names = tuple(obj.keywords)
            self.guard((*path, ("attr", "keywords")), "keys", names)
            there = (*path, ("attr", "keywords"))
            values = [self.wrap(obj.keywords[k], (*there, ("item", k)), k, hidden, loc) for k in names]
            return Partial(fn, args.items, names, tuple(values))
        if kind is types.MethodType:
            self.guard(path, "type", kind)
            return Bound(attribute("__func__"), attribute("__self__", "self"))
        if isinstance(obj, _BOUND) and type(obj.__self__) in _WITH_METHODS:
            self.guard(path, "eq", obj)
            return Bound(obj.__name__, attribute("__self__"))
        guarded = _guarded_as_a_whole(obj)
        if guarded is not None:
            self.guard(path, guarded, obj)
            return Obj(obj, path)
        first = next((p for p, known in self.objects if known is obj and _leads_back(path, p)), None)
        if first in self.by_path:
            self.guard(path, "same", first)
            return self.by_path[first]
        self.guard(path, "type", kind)
        self.objects.append((path, obj))
        if ("object", id(obj)) in self.plan.written:
            return self._written(obj, path, loc)
        return Obj(obj, path)

    def derived(self, obj: Any, path: Path, writes: bool, loc: Loc | None) -> Any:
        """The container that an object is whose class is derived from a list, tuple or dictionary; `writes`: the class
        leaves it to the container how it is written to."""
        inner = (*path, ("inner", None))
        if inner not in self.by_path:
            base, hidden, name = base_of(type(obj)), path[0][0] != "arg", path_name(path)
            there = place_of(obj, path)
            plain = held(obj)
            items: list[Any] = list(plain.items() if base is dict else enumerate(plain))
            self.guard(there, *(("keys", tuple(plain)) if base is dict else ("len", len(plain))))
            wrapped = tuple([self.wrap(x, (*there, ("item", k)), f"{name}_{k}", hidden, loc) for k, x in items])
            if base is tuple:
                self.by_path[inner] = Seq(wrapped)
            elif base is dict:
                self.by_path[inner] = DictRef(self._inner(obj, path, Entries(tuple(plain), wrapped), name, hidden))
            else:
                self.by_path[inner] = ListRef(self._inner(obj, path, Items(wrapped), name, hidden))
            if hidden and writes and base in (list, dict):
                self.outside[self.by_path[inner].cell] = ("dict" if base is dict else "list", obj, path)
        return self.by_path[inner]

    def _written(self, obj: Any, path: Path, loc: Loc | None) -> Instance:
        """An object that is written to: a container of the attributes that are, with what they are at the start."""
        cell = self.variables.get(("object", id(obj)))
        if cell is None:
            names = sorted(self.plan.written["object", id(obj)][1])
            cell = self.variables["object", id(obj)] = self.cells.new()
            items: list[Any] = []
            own = getattr(obj, "__dict__", {})
            slots = slot_names(type(obj))
            for name in names:
                if name in own or (name in slots and hasattr(obj, name)):
                    items.append(self.wrap(getattr(obj, name), (*path, ("attr", name)), name, True, loc))
                else:
                    self.guard(path, "lacks", name)
                    raw = class_lookup(type(obj), name, MISSING)
                    in_class = any(("attribute", id(base), name) in self.plan.written for base in type(obj).__mro__)
                    if in_class or raw is MISSING or hasattr(type(raw), "__get__"):
                        items.append(UNSET)
                    else:
                        there = (*path, ("attr", "__class__"), ("member", name))
                        items.append(self.wrap(raw, there, name, True, loc))
            self.initial[cell] = Entries(tuple(names), tuple(items))
            self.outside[cell] = ("object", obj, path)
        return Instance(type(obj), cell)

    def identities(self) -> None:
        """Guards on which of the things that change are one and which are not."""
        changed = {id(self.outside[c][1]): self.outside[c][2] for c in self.changed if c in self.outside}
        changed.update({id(obj): path for path, obj in self.objects if self._cell_at(path) in self.changed})
        for key, path in changed.items():
            obj = next((o for p, o in self.objects if id(o) == key), None)
            for other, candidate in self.objects:
                if other != path and obj is not None and type(candidate) is type(obj):
                    self.guard(other, "same" if candidate is obj else "distinct", path)

    def _cell_at(self, path: Path) -> Any:
        return getattr(self.by_path.get(path), "cell", None)

    def object_at(self, obj: Any, path: Path, name: str) -> int:
        """The number of the parameter for the object itself at the path."""
        found = self.numbered.find(self.inputs, (path, True))
        if found is not None:
            return found
        self.region.param(OBJECT, name)
        self.inputs.append(Input(path, name, OBJECT, OBJECT_KEY, True))
        return len(self.inputs) - 1

    def _container(self, obj: Any, path: Path, content: Any, name: str, hidden: bool) -> int:
        cell = self.cells.new()
        self.initial[cell] = content
        self.found_at[cell] = path
        self.objects.append((path, obj))
        if hidden:
            self.hidden_cells[cell] = name
            if type(obj) in (list, dict):
                self.outside[cell] = (type(obj).__name__, obj, path)
        if any(self._cell_at(p) in self.changed for p in self.containers.get(id(obj), ())):
            raise AliasError(
                f"unprovable alias: the list or dictionary {name!r} reaches the function in two ways, and is changed",
                self.loc,
                "pass it once, or pass a copy",
            )
        self.containers.setdefault(id(obj), []).append(path)
        self.keep.append(obj)
        return cell

    def _inner(self, obj: Any, path: Path, content: Any, name: str, hidden: bool) -> int:
        """The list or dictionary that a deque or a dictionary with a default is."""
        path = (*path, ("inner", None))
        cell = self._container(obj, path, content, name, hidden)
        self.by_path[path] = ListRef(cell)
        return cell

    def _collection(self, obj: Any, path: Path, name: str, hidden: bool, **parts: Val) -> Instance:
        content = Entries(tuple(parts), tuple(parts.values()))
        if "members" in parts:
            return Instance(type(obj), self._container(obj, path, content, name, hidden))
        cell = self.cells.new()  # what changes is inside
        self.initial[cell] = content
        return Instance(type(obj), cell)

    def _input(self, obj: Any, path: Path, name: str, t: Ty, hidden: bool) -> Value:
        value = self.region.param(t, name)
        hidden = hidden and path[0][0] != "arg"
        self.inputs.append(Input(path, name, t, key_of(obj), hidden))
        return value

    def _axes(self, obj: Any, known: bool) -> tuple[Any, ...]:
        """The lengths of the axes of an array; `known`: as numbers, since the code is for this shape."""
        dims = self.region.dims
        axes: list[Any] = []
        for n in obj.shape:
            if n < 2 or known:
                axes.append(n)
            else:
                axis = dims.fresh()
                dims.mark_not_one(axis)
                dims.arg_roots.add(axis.root)
                dims.lengths[axis.root] = n
                axes.append(axis)
        return tuple(axes)

    def _duck(self, obj: Any, path: Path, name: str, hidden: bool, loc: Loc | None) -> Ref:
        """An array of another library. Nothing is said of its memory, and nobody writes to it."""
        kind = type(obj)
        if any(n != n for n in obj.shape):
            raise ArgumentError(
                f"{name or 'an argument'!r} is a {name_of(kind)} of shape {obj.shape}, of which lengths are not known",
                loc,
                f"make them known first, for Dask with {name or 'x'}.compute_chunk_sizes()",
            )
        known = self.plan.is_static(path, obj)
        number = len(self.inputs)
        t = replace(array(obj.dtype, self._axes(obj, known)), duck=kind)
        value = self._input(obj, path, name, t, hidden)
        self.ducks = True
        if known:
            self.inputs[number].shape = tuple(obj.shape)
        cell = self.cells.new()
        self.initial[cell] = value
        self.found_at[cell] = path
        return Ref(cell)

    def _array(self, obj: Any, path: Path, name: str, hidden: bool) -> Ref:
        known = self.plan.is_static(path, obj)
        number = len(self.inputs)
        value = self._input(obj, path, name, array(obj.dtype, self._axes(obj, known)), hidden)
        if known:
            self.inputs[number].shape = obj.shape
        if obj.ndim > 1 and not obj.flags.c_contiguous:
            self.region.dims.turned = True
        cell = self.cells.new()
        self.initial[cell] = value
        self.cells.numpy.add(cell)
        self._layout(obj, path, cell)
        if not obj.flags.writeable:
            self.guard((*path, ("attr", "flags"), ("attr", "writeable")), "eq", False)
            self.cells.read_only.add(cell)
        self.cells.origins[cell] = frozenset({number} if obj.flags.writeable else {number, PROTECTED})
        self.found_at[cell] = path
        self.arrays[number] = cell
        return Ref(cell)

    def guard_writeable(self, number: int) -> None:
        """The function stores into this array, which it may."""
        self.guard((*self.inputs[number].path, ("attr", "flags"), ("attr", "writeable")), "eq", True)

    def _layout(self, obj: Any, path: Path, cell: int) -> None:
        """How the memory of an array is laid out, where the code is for that only."""
        if (LAYOUT, path) not in self.plan.actions:
            self.cells.layouts[cell] = frozenset({path})
            return
        flags = (*path, ("attr", "flags"))
        self.guard((*flags, ("attr", "c_contiguous")), "eq", obj.flags.c_contiguous)
        if obj.flags.c_contiguous:
            self.cells.contiguous.add(cell)
            return
        self.guard((*flags, ("attr", "f_contiguous")), "eq", obj.flags.f_contiguous)
        (self.cells.fortran if obj.flags.f_contiguous else self.cells.scattered).add(cell)


def _guarded_as_a_whole(obj: Any) -> str | None:
    """The kind of the guard on something of which nothing is looked at: by value or by identity."""
    if isinstance(obj, np.dtype):
        return "eq"
    if isinstance(obj, types.BuiltinFunctionType) and not isinstance(obj.__self__, (types.ModuleType, type(None))):
        return "eq"  # a method of an object is made anew each time it is asked for
    plain = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, np.ufunc)
    if isinstance(obj, plain) or lowering_of(obj) is not None:
        return "is"
    library = root_module(type(obj)) in ("numpy", "functools")
    return "is" if callable(obj) and (library or not hasattr(obj, "__dict__")) else None


def _item_name(obj: Any, name: str, k: Any) -> str:
    fields = getattr(type(obj), "_fields", None)
    return f"{name}_{fields[k]}" if fields else f"{name}_{k}"


def is_baked_module(module: types.ModuleType) -> bool:
    """A module whose attributes nobody rebinds."""
    return module.__name__.split(".")[0] in BAKED_MODULES
