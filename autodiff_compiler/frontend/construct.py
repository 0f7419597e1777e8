"""Objects that the lowered code makes: construction, dataclasses, named tuples, and the functions of the standard
library that make, copy and change objects."""

from __future__ import annotations

import collections
import dataclasses
import enum
import inspect
import operator
import sys
import types
from typing import Any

import numpy as np

from ..errors import is_interruption
from ..ir.core import structural_key, type_of
from ..ir.opset import exception
from ..lowered import ObjectStep
from ..records import record
from ..tree import class_lookup, is_library_class, slot_names
from .avals import (
    MISSING,
    UNSET,
    Bound,
    Closure,
    Columns,
    DictRef,
    Entries,
    Instance,
    ListRef,
    Maybe,
    Memo,
    Obj,
    OneShot,
    Partial,
    Ref,
    Seq,
    describe,
    is_constant,
)
from .definitions import stands_in
from .folds import proved
from .handlers import Node, Val
from .inputs import DATA, base_of
from .objects import GETTERS, is_generated, is_object
from .recursion import Recursions


def is_numbers(columns: Columns) -> bool:
    """A list of numbers, which are never changed."""
    return all(x.type.elem is not None and x.type.elem.is_scalar for x in columns.leaves)


@record
class Copies:
    """The copies that one `copy.copy` or `copy.deepcopy` has made: of containers by cell, of arrays by cell and path,
    of objects from outside and of all else from there by identity, with the places where they were found. All are made
    in one region."""

    region: Any
    cells: dict[int, Any] = dataclasses.field(default_factory=dict)
    arrays: dict[Any, list[tuple[Ref, Any]]] = dataclasses.field(default_factory=dict)
    objects: dict[int, tuple[Any, Any]] = dataclasses.field(default_factory=dict)
    outside: dict[int, tuple[Any, Any]] = dataclasses.field(default_factory=dict)


class Construct(Recursions):
    # --- construction ---------------------------------------------------------------------------------------------

    def construct(self, fn: Obj, args: list[Val], kwargs: dict[str, Val], node: Any) -> Any:
        """An instance of a user's class."""
        cls: type = fn.obj
        if cls in GETTERS and not kwargs:
            return Bound(f"@{cls.__name__}", Seq(tuple(args)))
        if cls is collections.OrderedDict:
            ordered = self.new_dict({**(self.entries_of(args[0], node) if args else {}), **kwargs})
            self.cells.ordered.add(ordered.cell)
            return ordered
        if issubclass(cls, BaseException):
            keywords = {k: self.plain(self.reported(v, node), node) for k, v in kwargs.items()}
            told = [self.plain(self.reported(a, node), node) for a in args]
            return self.emit(node, exception(cls), *told, **keywords)
        if issubclass(cls, enum.Enum):
            if len(args) == 1 and is_constant(args[0]) and not kwargs:
                member = self.folded(cls, args, {}, node)
                return Obj(member, (ObjectStep(("object", member)),))
            if len(args) == 1 and type(args[0]) is Obj and isinstance(args[0].obj, cls):
                return args[0]
            self.fail("a member of an enum has to be known when the program is compiled", node, "pass the member")
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            new = class_lookup(cls, "__new__")
            made_by = getattr(getattr(new, "__func__", new), "__code__", None)
            if not getattr(made_by, "co_filename", "").startswith("<"):
                self.fail(f"{cls.__name__} defines __new__", node, "use a function that makes the tuple")
            return _construct_named_tuple(self, cls, args, kwargs, node)
        base = base_of(cls)
        caller = class_lookup(type(cls), "__call__")
        if base is not None:
            if caller is not type.__call__ or is_generated(class_lookup(cls, "__init__")):
                self.fail(f"how {cls.__name__} is made, which is a container too", node, "write its __init__")
        elif any(is_library_class(c) for c in cls.__mro__[:-1]):
            return self.call_unknown(cls, args, kwargs, node)
        elif cls is types.SimpleNamespace:
            return self.new_object(cls, kwargs)
        elif isinstance(caller, types.FunctionType):
            self.fail(f"the metaclass of {cls.__name__} defines __call__", node, "make the object in a function")
        new = class_lookup(cls, "__new__")
        new = new.__func__ if isinstance(new, staticmethod) else new
        if isinstance(new, types.FunctionType):
            path: Any = (ObjectStep(("object", cls)), ("member", "__new__"), ("attr", "__func__"))
            pending, self.pending = self.pending, None  # what follows goes on after __init__
            made = self.call(self.outside(new, path, node), [fn, *args], kwargs, node)
            self.pending = pending
            if not (type(made) is Instance and issubclass(made.cls, cls)):
                return made
        elif base is not None:
            made = self.new_derived(cls, args, node)
        elif new is not object.__new__:
            return self.call_unknown(cls, args, kwargs, node)
        else:
            made = self.new_object(cls, {})
        self.continue_with(made, node)
        init = class_lookup(made.cls, "__init__")
        if dataclasses.is_dataclass(made.cls) and is_generated(init):
            owner = next(c for c in made.cls.__mro__ if "__init__" in c.__dict__)
            self.initialise_dataclass(made, owner, args, kwargs, node)
        elif isinstance(init, types.FunctionType):
            path = (ObjectStep(("object", made.cls)), ("member", "__init__"))
            self.call(self.outside(init, path, node), [made, *args], kwargs, node)
        elif base is not None:
            self.initialised(made, args, kwargs, node)
        elif (args or kwargs) and not isinstance(new, types.FunctionType):
            self.raises(TypeError, f"{cls.__name__}() takes no arguments", node)
        return made

    def new_object(self, cls: type, attributes: dict[str, Any]) -> Instance:
        return Instance(cls, self.new_cell(Entries.of(attributes)))

    # --- dataclasses ----------------------------------------------------------------------------------------------

    def initialise_dataclass(
        self, made: Instance, owner: type, args: list[Val], kwargs: dict[str, Val], node: Node
    ) -> None:
        """What the ``__init__`` that `dataclasses` writes for the class `owner` does; a subclass may call it."""
        attributes, initial = _fields_given(self, owner, args, kwargs, node)
        whole = self.state.heap.get(made.cell)
        if type(whole) is Entries and not whole.keys:
            self.state.heap[made.cell] = Entries.of(attributes)
        else:
            frozen = is_generated(class_lookup(made.cls, "__setattr__"))
            for name, value in attributes.items():
                (self.store_generic if frozen else self.store_attribute)(made, name, value, node)
        if isinstance(class_lookup(owner, "__post_init__"), types.FunctionType):
            self.call(self.type_attribute(made, "__post_init__"), [made, *initial], {}, node)

    def compare_fields(self, name: str, a: Val, b: Val, node: Node) -> Val:
        """The comparison that `dataclasses` writes: of the tuples of their fields."""
        cls: Any = self.cls_of(a)
        owner = next(c for c in cls.__mro__ if name in c.__dict__)
        params = owner.__dict__.get("__dataclass_params__")
        if params is None or not (params.eq if name == "__eq__" else params.order):
            self.fail(f"{name} of {owner.__name__}, which has no source", node, "define it in a file")
        if not is_object(b) or cls is not self.cls_of(b):
            return NotImplemented
        names = [f.name for f in dataclasses.fields(owner) if f.compare]
        if name == "__eq__" and sys.version_info >= (3, 13):  # field by field, where a tuple looks at identity first
            if self.identity(a, b, node) is True:
                return proved("one object", True)
            return _fields_equal(self, a, b, names, node)
        xs, ys = (Seq(tuple([self.attribute(v, n, node) for n in names])) for v in (a, b))
        return self.compare_with(getattr(operator, name), xs, ys, node)

    # --- copies ---------------------------------------------------------------------------------------------------

    def shallow_copy(self, av: Val, node: Node) -> Val:
        return _copied(self, av, Copies(self.builder.region), False, node)

    def deep_copy(self, av: Val, node: Node) -> Val:
        made = Copies(self.builder.region)
        new = _copied(self, av, made, True, node)
        places = [place for place, _ in (*made.outside.values(), *made.objects.values()) if place is not None]
        if len(places) > 1:
            self.inputs.guard(places[0], "apart", tuple(places[1:]))
        return new

    def copied_with(self, av: Val, memo: DictRef, node: Node) -> Val:
        """`copy.deepcopy` with the memo that a ``__deepcopy__`` was given: one copy goes on; else `MISSING`."""
        made = self.copying.get(memo.cell)
        if made is None:
            return MISSING
        if made.region is not self.builder.region:
            what = "copy.deepcopy() with the memo of a __deepcopy__, in a branch or loop"
            self.fail(what, node, "copy what is shared before the branch or loop")
        return _copied(self, av, made, True, node)

    def fresh_memo(self, memo: DictRef, node: Node) -> bool:
        """A memo that nothing was copied with; from now on it counts as used."""
        used = memo.cell in self.memos or bool(self.checked(memo.cell, node, "dictionary").keys)
        self.memos.add(memo.cell)
        return not used

    def own_names(self, av: Obj) -> tuple[str, ...]:
        """The names of the attributes that an object itself holds, under a guard."""
        obj = av.obj
        names = tuple(getattr(obj, "__dict__", ()))
        if hasattr(obj, "__dict__"):
            self.inputs.guard((*self.object_path(av), ("attr", "__dict__")), "keys", names)
        slots = [n for n in slot_names(type(obj)) if hasattr(obj, n)]
        return (*names, *slots)

    # --- attributes by name ---------------------------------------------------------------------------------------

    def object_method(self, av: Val, name: str, args: list[Val], kwargs: dict[str, Val], node: Any) -> Any:
        """What ``super().name`` is where no class but `object` has it."""
        if name == "object.__new__":
            return self.call(Obj(object.__new__), args, kwargs, node)
        if name == "object.__setattr__":
            return self.call(Obj(object.__setattr__), [av, *args], kwargs, node)
        return None

    def store_attribute(self, base: Val, name: str, av: Val, node: Any) -> None:
        """``base.name = av``."""
        if is_object(base):
            cls = self.cls_of(base)
            setter = class_lookup(cls, "__setattr__")
            if isinstance(setter, types.FunctionType):
                if is_generated(setter):
                    message = f"cannot assign to field {name!r}"
                    text = f"{message} of the frozen {cls.__name__}"
                    self.raises(dataclasses.FrozenInstanceError, message, node, text, "use dataclasses.replace")
                self.call(self.type_attribute(base, "__setattr__"), [base, name, av], {}, node)
                return
            if self.is_builtin_method(base, setter):
                self.derived_method(base, setter.__name__, [name, av], {}, node)
                return
            if type(base) is not Seq and cls is not types.SimpleNamespace and setter is not object.__setattr__:
                self.fail(f"{cls.__name__} says how its attributes are stored", node, "write __setattr__ in Python")
        self.store_generic(base, name, av, node)

    def is_own_attribute(self, base: Val, name: str) -> bool:
        """The object holds the attribute itself, and nothing else takes part when it is stored."""
        cls = self.cls_of(base)
        raw = class_lookup(cls, name)
        if class_lookup(cls, "__setattr__") not in (object.__setattr__, types.SimpleNamespace.__setattr__):
            return False
        if isinstance(raw, types.MemberDescriptorType):
            return True
        if hasattr(type(raw), "__set__"):
            return False
        if type(base) is Instance:
            content = self.content(base.cell)
            return type(content) is Entries and name in content.keys
        return name in getattr(base.obj, "__dict__", ())

    def store_generic(self, base: Val, name: str, av: Val, node: Any) -> None:
        """What ``object.__setattr__`` does."""
        if is_object(base):
            cls = self.cls_of(base)
            raw = class_lookup(cls, name)
            if type(raw) is property:
                if raw.fset is None:
                    self.raises(AttributeError, f"property {name!r} of {cls.__name__!r} object has no setter", node)
                path = (*self.class_path(base), ("member", name), ("attr", "fset"))
                self.call(self.outside(raw.fset, path, node), [base, av], {}, node)
                return
            if name == "__dict__" and type(base) is type(av) is Instance and base.cell == av.cell:
                if self.derived_from(base) is dict:
                    self.become_own_dict(base, node)
                    return
            store = class_lookup(type(raw), "__set__")
            if isinstance(store, types.FunctionType):
                descriptor = self.outside(raw, (*self.class_path(base), ("member", name)), node)
                self.call(self.type_attribute(descriptor, "__set__"), [descriptor, base, av], {}, node)
                return
            if store is not None and not isinstance(raw, types.MemberDescriptorType):
                self.fail(f"assignment to {name!r}, which the class computes", node, "use a property")
        if type(base) is Instance:
            self.set_own(base, name, av, node)
            return
        if type(base) is Ref and self.store_array_attribute(base, name, av, node):
            return
        if type(base) is Obj:
            if isinstance(base.obj, (type, types.ModuleType, types.FunctionType)):
                self.store_lasting(base, name, av, node)
                return
            self.write_attribute(base, name, node)
        if type(base) is Closure and base.attributes is not None and not name.startswith("__"):
            content = self.checked(base.attributes.cell, node, "function")
            self.mutate(base.attributes.cell, Entries.of({**content.table, name: av}), node)
            return
        is_array = type(base) is Ref and self.read(base, node).type.kind == "array"
        found: Any = np.ndarray if is_array else self.class_of(base, node) if type_of(base).is_scalar else None
        if isinstance(found, type) and not hasattr(found, name):
            module = "numpy." if found.__module__ == "numpy" else ""
            message = f"{module + found.__name__!r} object has no attribute {name!r}"
            self.raises(AttributeError, message, node, "", "keep it in a variable, or in an object of a class")
        self.fail(f"assignment to the attribute {name!r} of {describe(base)}", node, "use another name")

    def set_own(self, av: Instance, name: str, value: Val, node: Node) -> None:
        if not av.cls.__dictoffset__ and name not in slot_names(av.cls):
            self.lacks(av.cls, AttributeError, f"{av.cls.__name__!r} object has no attribute {name!r}", node)
        held = self.own_dict(av, node)
        if held is not None:
            self.store_item(held, name, value, node)
            return
        content = self.checked(av.cell, node, "object")
        entries = content.table
        origin = self.origin(av)
        if origin is not None and name not in entries:
            self.write_attribute(origin, name, node)
        ours = self.frame is not None and self.frame.site is not None
        if name not in entries and stands_in(av.cls) and not (ours or hasattr(av.cls, "__autodiff_open__")):
            self.lacks(av.cls, AttributeError, f"{av.cls.__name__!r} object has no attribute {name!r} to assign", node)
        entries[name] = value
        self.mutate(av.cell, Entries.of(entries), node)

    def delete_attribute(self, base: Val, name: str, node: Any) -> None:
        """``del base.name``."""
        if type(base) in (Instance, Obj) and is_object(base):
            remove = class_lookup(self.cls_of(base), "__delattr__")
            if isinstance(remove, types.FunctionType) and not is_generated(remove):
                self.call(self.type_attribute(base, "__delattr__"), [base, name], {}, node)
                return
            if self.is_builtin_method(base, remove):
                self.derived_method(base, remove.__name__, [name], {}, node)
                return
        if type(base) is not Instance:
            self.fail(f"del of an attribute of {describe(base)}", node, "set it to None")
        raw = class_lookup(base.cls, name)
        computed = hasattr(type(raw), "__delete__") and not isinstance(raw, types.MemberDescriptorType)
        if computed or is_generated(class_lookup(base.cls, "__delattr__")):
            self.fail("del of an attribute that the class computes", node, "call a method")
        held = self.own_dict(base, node)
        if held is not None and name in self.checked(held.cell, node, "dictionary").keys:
            self.delete_item(held, name, node)
            return
        content = self.checked(base.cell, node, "object")
        if name not in content.keys:
            self.no_attribute(base, name, node)
        self.mutate(base.cell, Entries.of({k: v for k, v in content.table.items() if k != name}), node)


def _bound(ctx: Construct, cls: type, made_by: Any, args: list[Val], kwargs: dict[str, Val], node: Node) -> Any:
    """The arguments by the names of the parameters of ``__new__`` or ``__init__``, the class or object left out."""
    try:
        bound = inspect.signature(made_by).bind(None, *args, **kwargs).arguments
    except TypeError as error:
        if is_interruption(error):
            raise
        ctx.raises(TypeError, f"{cls.__name__}() {error}", node)
    return dict(list(bound.items())[1:])


def _construct_named_tuple(ctx: Construct, cls: Any, args: list[Val], kwargs: dict[str, Val], node: Node) -> Seq:
    values = _bound(ctx, cls, cls.__new__, args, kwargs, node)
    for name in cls._fields:
        if name not in values:
            path = (("object", cls), ("attr", "_field_defaults"), ("item", name))
            values[name] = ctx.outside(cls._field_defaults[name], path, node)
    return Seq(tuple([values[n] for n in cls._fields]), cls)


def _fields_given(
    ctx: Construct, owner: Any, args: list[Val], kwargs: dict[str, Val], node: Any
) -> tuple[dict[str, Any], list[Any]]:
    """The attributes that a generated ``__init__`` sets, and what it passes on to ``__post_init__``."""
    values = _bound(ctx, owner, owner.__init__, args, kwargs, node)
    entries: dict[str, Any] = {}
    initial: list[Any] = []
    for f in owner.__dataclass_fields__.values():
        if f._field_type.name == "_FIELD_CLASSVAR":
            continue
        path: Any = (("object", owner), ("attr", "__dataclass_fields__"), ("item", f.name))
        if f.name in values:
            value = values[f.name]
        elif f.default is not dataclasses.MISSING:
            value = ctx.outside(f.default, (*path, ("attr", "default")), node)
        elif f.default_factory is not dataclasses.MISSING:
            value = ctx.call(ctx.outside(f.default_factory, (*path, ("attr", "default_factory")), node), [], {}, node)
        else:
            continue
        if f._field_type.name == "_FIELD_INITVAR":
            initial.append(value)
        else:
            entries[f.name] = value
    return entries, initial


def _fields_equal(ctx: Construct, a: Val, b: Val, names: list[str], node: Node) -> Val:
    if not names:
        return proved("length", True)
    x, y = (ctx.attribute(v, names[0], node) for v in (a, b))
    equal = ctx.compare_with(operator.eq, x, y, node)
    if len(names) == 1:
        return equal
    return ctx.branch(ctx.truth(equal, node), lambda: _fields_equal(ctx, a, b, names[1:], node), lambda: equal, node)


def _copied_array(ctx: Construct, av: Ref, made: Copies, node: Node) -> Any:
    """The copy of an array: one for each object. Where two may or may not be one, so may their copies."""
    met = made.arrays.setdefault((av.cell, structural_key(av.path)), [])
    for before, copy_of in met:
        if before is av or not av.path:
            return copy_of
    new = ctx.copy_of(av, node, "K")
    if type(new) is Ref:
        others = [pair for pairs in made.arrays.values() for pair in pairs]
        near = ctx.state.links.get(av.cell, frozenset())
        for before, copy_of in others:
            if type(copy_of) is Ref and (before.cell in near or any(before is b for b, _ in met)):
                ctx.state.link_view(new.cell, copy_of.cell)
        met.append((av, new))
    return new


def _copied(ctx: Construct, av: Val, made: Copies, deep: bool, node: Node) -> Val:
    """`copy.copy` or `copy.deepcopy` of a value; `made`: the copies of what was met before."""
    kind = type(av)
    if not deep or not (kind in (ListRef, DictRef, Instance) or (kind is Ref and not av.path)):
        return _copied_once(ctx, av, made, deep, node)
    place = ctx.place_outside(av)
    if place is None or place not in ctx.inputs.met:
        return _copied_once(ctx, av, made, deep, node)
    # One thing may be found on several ways from outside.
    at = id(ctx.inputs.met[place])
    if at in made.outside:
        first, copy_of = made.outside[at]
        if first != place:
            ctx.inputs.guard(place, "same", first)
        if copy_of is None:
            ctx.fail("a deep copy of what holds itself", node, "make it outside of the function")
        return copy_of
    made.outside[at] = (place, None)
    new = _copied_once(ctx, av, made, deep, node)
    made.outside[at] = (place, new)
    return new


def _copied_once(ctx: Construct, av: Val, made: Copies, deep: bool, node: Any) -> Any:
    kind = type(av)

    def inner(x: Any) -> Any:
        return _copied(ctx, x, made, True, node) if deep else x

    of_class = is_object(av) and not (kind is Obj and isinstance(av.obj, enum.Enum))
    if kind in (ListRef, DictRef, Instance) and av.cell in made.cells:
        return made.cells[av.cell]
    if of_class and class_lookup(ctx.cls_of(av), "__deepcopy__" if deep else "__copy__") not in (None, *_NATIVE_COPIES):
        return _copied_by_class(ctx, av, made, deep, node)
    if kind in (ListRef, DictRef, Instance):
        if kind is Instance:
            _require_plain_copy(ctx, av, node)
        if kind is Instance and av.cell in ctx.inputs.outside:
            return _snapshot(ctx, av, made, deep, node)
        content = ctx.checked(av.cell, node, "container")
        new: Any
        if type(content) is Columns:
            if deep and not (content.distinct or is_numbers(content)):
                what = "a deep copy of a list of run-time length in which one object may be twice"
                ctx.fail(what, node, "copy the items in a loop")
            new = made.cells[av.cell] = ctx.as_list(av, node)
            return new
        new = made.cells[av.cell] = av.to(ctx.new_cell(content))
        if av.cell in ctx.cells.ordered:
            ctx.cells.ordered.add(new.cell)
        keys = content.keys or (None,) * len(content.items)
        held = [_copied(ctx, x, made, deep, node) if deep or key is DATA else x for key, x in zip(keys, content.items)]
        ctx.state.heap[new.cell] = content.with_parts(held)
        return new
    if kind in (Seq, Maybe, Partial) or (kind is Bound and not isinstance(av.fn, str)):
        return av.with_parts([inner(x) for x in av.parts()])  # a built-in method stays the one of the original
    if kind is Obj and of_class:
        return _snapshot(ctx, av, made, deep, node)
    return _copied_array(ctx, av, made, node) if kind is Ref else av


def _copied_by_class(ctx: Construct, av: Any, made: Copies, deep: bool, node: Any) -> Any:
    """The copy of an object whose class says how it is copied: one for each object, as its memo says."""
    cls, name = ctx.cls_of(av), "__deepcopy__" if deep else "__copy__"
    if type(av) is Seq or is_library_class(cls) or not isinstance(class_lookup(cls, name), types.FunctionType):
        ctx.fail(f"a copy of {describe(av)}, whose class says how", node, "make it outside of the function")
    known = made.objects.get(id(av.obj)) if type(av) is Obj else None
    if known is not None:
        if known[0] is not None and av.path is not None and known[0] != av.path:
            ctx.inputs.guard(av.path, "same", known[0])
        return known[1]
    given: list[Any] = [av]
    if deep:
        memo = ctx.new_dict({})
        ctx.copying[memo.cell] = made
        ctx.state.heap[memo.cell] = Memo(ctx.loc_of(node), "is the memo of a deep copy, which is looked into")
        given.append(memo)
    new = ctx.call(ctx.type_attribute(av, name), given, {}, node)
    if type(av) is Instance:
        made.cells[av.cell] = new
    elif type(av) is Obj:
        made.objects[id(av.obj)] = (av.path, new)
    return new


_NATIVE_COPIES = (collections.defaultdict.__copy__, collections.deque.__copy__)
# What takes part in a copy that is made of the attributes of an object.
_OF_COPIES = (
    "__reduce__",
    "__reduce_ex__",
    "__getstate__",
    "__setstate__",
    "__getnewargs__",
    "__getnewargs_ex__",
    "__new__",
)


def _require_plain_copy(ctx: Construct, av: Val, node: Node) -> None:
    cls = ctx.cls_of(av)
    if base_of(cls) is not None:  # it is put together by append, or by storing each item
        there = type(av) is Obj or av.cell in ctx.inputs.outside or base_of(cls) not in (list, dict)
        native = ctx.is_native(av, "append", "extend", "__setitem__", "__iter__")
        if there or not native or ctx.own_dict(av, node) is not None:
            ctx.fail(f"a copy of {describe(av)}", node, "make a new one of its items")
    if cls is OneShot:
        ctx.fail("a copy of an iterator", node, "use itertools.tee, or make a list of it first: list(...)")
    for name in _OF_COPIES:
        raw = class_lookup(cls, name)
        raw = raw.__func__ if isinstance(raw, staticmethod) else raw
        if is_library_class(cls) or (isinstance(raw, types.FunctionType) and raw.__module__ != "dataclasses"):
            ctx.fail(f"a copy of {describe(av)}, whose class says how", node, "make it outside of the function")


def _snapshot(ctx: Construct, av: Val, made: Copies, deep: bool, node: Node) -> Val:
    """A new object with the attributes of one from outside."""
    origin = ctx.origin(av)
    assert origin is not None
    obj = origin.obj
    if id(obj) in made.objects:
        first, new = made.objects[id(obj)]
        if first is not None and origin.path is not None and first != origin.path:
            ctx.inputs.guard(origin.path, "same", first)
        return new
    cls = type(obj)
    _require_plain_copy(ctx, av, node)
    new = ctx.new_object(cls, {})
    made.objects[id(obj)] = (origin.path, new)

    def inner(x: Any) -> Any:
        return _copied(ctx, x, made, True, node) if deep else x

    names = dict.fromkeys(ctx.own_names(origin))
    if type(av) is Instance:
        made.cells[av.cell] = new
        content = ctx.checked(av.cell, node, "object")
        names.update(dict.fromkeys([k for k, x in zip(content.keys, content.items) if x is not UNSET]))
    items = [inner(ctx.own_attribute(av, n, node)) for n in names]
    ctx.state.heap[new.cell] = Entries(tuple(names), tuple(items))
    return new
