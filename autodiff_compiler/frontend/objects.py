"""Python's data model: how an attribute of an object or a class is found, and which method an operator means.

Objects that the lowered code makes (`Instance`), objects from outside (`Obj`) and named tuples (`Seq` with a class) are
looked up by the same rules: a property or another descriptor that stores comes first, then what the object itself
holds, then its class, then ``__getattr__``.
"""

from __future__ import annotations

import enum
import functools
import operator
import sys
import types
from typing import Any, NoReturn

import numpy as np

from ..errors import MissingAttributeError
from ..ir.foreign import immutable_classes, root_module
from ..lowered import ObjectStep
from ..pristine import as_it_was
from ..tree import class_lookup, is_library_class, own_steps
from . import definitions
from .avals import (
    COLLECTIONS,
    MISSING,
    UNSET,
    Bound,
    DictRef,
    Instance,
    Obj,
    Partial,
    Seq,
    Super,
    describe,
    is_constant,
    noun_of,
)
from .derived import Derived
from .handlers import Node, Val
from .inputs import is_baked_module, is_lasting


class _Native:
    def __repr__(self) -> str:
        return "native"


NATIVE = _Native()  # a method that is not written in Python
# What `functools.total_ordering` makes is the user's, and containers written in Python are as a user writes them.
_LOOKED_INTO = frozenset({"__main__", "functools", "dataclasses", "collections", "_collections_abc"})
_CACHED = functools.lru_cache(len)
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, np.ufunc)
GETTERS = (operator.itemgetter, operator.attrgetter, operator.methodcaller)


def is_method(raw: Any) -> bool:
    """What a class has under a name is a function that a look-up binds: written in Python, or one with a definition."""
    if isinstance(raw, types.FunctionType):
        return True
    return hasattr(type(raw), "__get__") and callable(raw) and definitions.definition_of(raw) is not None


def is_object(av: Val) -> bool:
    """An object with attributes of its own: not a function, class, module or dtype."""
    if type(av) is Obj:
        return not isinstance(av.obj, (type, types.ModuleType, np.dtype, *_FUNCTIONS))
    return (type(av) is Instance and av.cls not in COLLECTIONS) or (type(av) is Seq and av.cls is not None)


class Objects(Derived):
    """Attributes of objects, classes and modules."""

    def lacks(self, cls: type, error: type[Exception], arg: str, node: Node, *more: str) -> NoReturn:
        """What Python raises of an object without what is asked of it. It is refused if SciPy's has more than ours."""
        if hasattr(cls, "__autodiff_noun__"):
            self.fail(f"this is not done for {noun_of(cls)}", node, getattr(cls, "__autodiff_remedy__", ""))
        if str(cls.__module__).startswith("autodiff_compiler.frontend.library."):
            message = f"{arg} here: the compiler knows only a part of what SciPy's has"
            self.fail(message, node, "see docs/scipy.md for what it has, or compute it outside of the function")
        self.raises(error, arg, node, *more)

    def cls_of(self, av: Val) -> type:
        """The class of an object."""
        return av.cls if type(av) is not Obj else type(av.obj)

    def class_path(self, av: Val) -> Any:
        """Where the class of an object is found."""
        origin = self.origin(av)
        if origin is not None and origin.path is not None:
            return (*origin.path, ("attr", "__class__"))
        return (ObjectStep(("object", self.cls_of(av))),)

    def origin(self, av: Val) -> Obj | None:
        """The object from outside that it is, if it is one."""
        if type(av) is Obj:
            return av
        found = self.inputs.outside.get(av.cell) if type(av) is Instance else None
        return None if found is None else Obj(found[1], found[2])

    def no_attribute(self, av: Val, name: str, node: Node) -> Val:
        kinds = {type: "type object", types.ModuleType: "module"}
        kind = next((kinds[c] for c in kinds if type(av) is Obj and isinstance(av.obj, c)), None)
        what = f"{self.cls_of(av).__name__!r} object" if kind is None else f"{kind} {av.obj.__name__!r}"
        if kind is None:
            self.lacks(self.cls_of(av), AttributeError, f"{what} has no attribute {name!r}", node)
        self.raises(AttributeError, f"{what} has no attribute {name!r}", node)

    def find_attribute(self, av: Val, name: str, node: Node) -> Val:
        """``av.name``, or `MISSING`: what is missing is guarded as well."""
        if type(av) is Obj:
            obj = av.obj
            if isinstance(obj, types.ModuleType):
                return _module_attribute(self, av, name, node)
            if isinstance(obj, type):
                return _class_attribute(self, av, name, node)
            if isinstance(obj, np.ufunc) and name in ("at", "reduce", "accumulate", "outer", "reduceat"):
                return Bound(name, av)
            if isinstance(obj, (*_FUNCTIONS, np.dtype)):
                return _function_attribute(self, av, name, node)
        return _instance_attribute(self, av, name, node)

    def as_it_is(self, value: Val, path: Any) -> Any:
        """What a module, or the built-in names, have at the path: built in, as long as it is that."""
        if is_constant(value):
            self.inputs.guard(path, "eq", value)
            return value
        self.inputs.guard(path, "is", value)
        return Obj(value, None)

    # --- objects --------------------------------------------------------------------------------------------------

    def own_attribute(self, av: Val, name: str, node: Node) -> Val:
        """What the object itself holds under the name, or `MISSING`."""
        cls = self.cls_of(av)
        if type(av) is Seq:
            return MISSING
        if type(av) is Instance:
            origin = self.origin(av)
            if name == "__dict__" and cls.__dictoffset__:
                if self.derived_from(av) is not None:
                    self.fail(f"__dict__ of {describe(av)}, which is a container too", node, "use its attributes")
                if origin is not None:
                    what = "__dict__ of an object from outside that the function writes to"
                    self.fail(what, node, "use its attributes")
                return DictRef(av.cell)
            content = self.checked(av.cell, node, "object")
            held = self.own_dict(av, node)
            if held is not None:
                content = self.checked(held.cell, node, "dictionary")
            item = content.get(name)
            if item is UNSET:
                return MISSING
            if item is not MISSING:
                return self.use(item, f"{cls.__name__}.{name}", node)
            if origin is not None:
                return self.own_attribute(origin, name, node)
            if any(c in self.inputs.outside for c in self.cells.family(av.cell)):
                what = f"{cls.__name__}.{name} of one of several objects, depending on a condition"
                self.fail(what, node, "call it on each path")
            return MISSING
        obj = av.obj
        if (self.disturbed or self.plan.disturbed) and self.is_plain(obj):
            self.check_undisturbed(obj, node)
        if name == "__dict__" or name in getattr(obj, "__dict__", ()):
            if not hasattr(obj, "__dict__"):
                return MISSING
            path = self.object_path(av)
            if name == "__dict__":
                self.inputs.namespaces[(*path, ("attr", name))] = obj
                return self.outside(obj.__dict__, (*path, ("attr", name)), node)
            return self.outside(obj.__dict__[name], (*path, *own_steps(obj, name)), node)
        if isinstance(class_lookup(cls, name), types.MemberDescriptorType) and hasattr(obj, name):
            return self.outside(getattr(obj, name), (*self.object_path(av), ("attr", name)), node)
        return MISSING

    def member(self, av: Val, raw: Any, path: Any, name: str, node: Any, owner: Any = None) -> Any:
        """What a class has under a name, as it is read through an instance `av` (or, for None, through the class
        `owner`)."""
        if is_method(raw):
            fn = self.outside(raw, path, node)
            return fn if av is None else Bound(fn, av)
        if isinstance(raw, staticmethod):
            return self.outside(raw.__func__, (*path, ("attr", "__func__")), node)
        if isinstance(raw, classmethod):
            cls = owner if owner is not None else Obj(self.cls_of(av), self.class_path(av))
            return Bound(self.outside(raw.__func__, (*path, ("attr", "__func__")), node), cls)
        if av is not None:
            if isinstance(raw, property) and not isinstance(class_lookup(type(raw), "__get__"), types.FunctionType):
                if raw.fget is None:
                    self.fail(f"property {name!r} has no getter", node, "", MissingAttributeError)
                return self.call(self.outside(raw.fget, (*path, ("attr", "fget")), node), [av], {}, node)
            if isinstance(raw, functools.cached_property):
                return _cached_attribute(self, av, raw, path, name, node)
            if isinstance(raw, functools.partialmethod):
                given = [self.outside(x, (*path, ("attr", "args"), ("item", k)), node) for k, x in enumerate(raw.args)]
                named = {k: self.outside(x, (*path, ("attr", "keywords"), ("item", k)), node)
                         for k, x in raw.keywords.items()}  # fmt: skip
                fn = self.member(av, raw.func, (*path, ("attr", "func")), name, node)
                return self.partial(fn, given, named)
        if av is not None and self.is_builtin_method(av, raw):
            return Bound(raw.__name__, av)
        if type(raw) is type(_CACHED):
            fn = self.outside(raw, path, node)
            return fn if av is None else Bound(fn, av)
        getter = class_lookup(type(raw), "__get__")
        if isinstance(getter, types.FunctionType):
            descriptor = self.outside(raw, path, node)
            cls = owner if owner is not None else Obj(self.cls_of(av), self.class_path(av))
            return self.call(self.type_attribute(descriptor, "__get__"), [descriptor, av, cls], {}, node)
        if isinstance(raw, (property, functools.cached_property, functools.partialmethod)):
            return self.outside(raw, path, node)
        if getter is not None and not isinstance(raw, type):
            if isinstance(raw, (types.BuiltinFunctionType, *_FUNCTIONS)) or av is None:
                return Obj(raw, path)
            if isinstance(raw, types.GetSetDescriptorType) and type(av) is Obj:
                place = self.object_path(av)
                if self.cls_of(av) in immutable_classes():
                    return self.outside(getattr(av.obj, name), (*place, ("attr", name)), node)
                return self.attribute(
                    self.live_input(av.obj, place), name, node
                )  # it may change while the program runs
            if is_library_class(type(raw)) and is_library_class(self.cls_of(av)):
                return Obj(raw, path)
            if type(av) is Obj and av.path is not None and isinstance(raw, types.MethodDescriptorType):
                return self.outside(getattr(av.obj, name), (*av.path, ("attr", name)), node)
            self.fail(f"attribute {name!r} is a descriptor of type {type(raw).__name__}", node, "use a property")
        return self.outside(raw, path, node)

    def partial(self, fn: Any, args: list[Val], kwargs: dict[str, Val]) -> Any:
        return Partial(fn, tuple(args), tuple(kwargs), tuple(kwargs.values()))

    # --- classes --------------------------------------------------------------------------------------------------

    def class_item(self, av: Obj, index: Val, node: Any) -> Any:
        """``cls[index]``: a member of an enum by its name, what a metaclass gives, or ``list[float]``."""
        cls, path = av.obj, self.object_path(av)
        getter = class_lookup(type(cls), "__getitem__")
        if issubclass(cls, enum.Enum) and getter is enum.EnumMeta.__getitem__ and isinstance(index, str):
            if index not in cls.__members__:
                self.raises(KeyError, index, node)
            return self.outside(cls[index], (*path, ("item", index)), node)
        if getter is not None and issubclass(cls, enum.Enum):
            self.fail("a member of an enum has to be known when the program is compiled", node, "write its name")
        if isinstance(getter, types.FunctionType):
            method = self.outside(getter, (*path, ("attr", "__class__"), ("member", "__getitem__")), node)
            return self.call(method, [av, index], {}, node)
        if getter is None and hasattr(cls, "__class_getitem__") and is_library_class(cls):
            return av  # in annotations
        self.fail(f"an item of the class {cls.__name__}", node, "use a function or a dictionary")

    def super_attribute(self, av: Super, name: str, node: Node) -> Any:
        of_class = type(av.self) is Obj and isinstance(av.self.obj, type)
        cls = av.self.obj if of_class else self.cls_of(av.self)
        mro = cls.__mro__
        if self.writes_in_class(cls, name):
            self.fail(f"super().{name}, which the function writes as an attribute of a class", node, "name the class")
        for base in mro[mro.index(av.cls) + 1 :]:
            path: Any = (ObjectStep(("object", base)),)
            if name in base.__dict__:
                if base is object and name in ("__init__", "__new__", "__setattr__", "__init_subclass__"):
                    return Bound("object." + name, av.self)
                raw = base.__dict__[name]
                if name == "__new__" and isinstance(raw, staticmethod):
                    raw = raw.__func__
                member = (*path, ("member", name))
                if of_class:
                    return self.member(None, raw, member, name, node, av.self)
                return self.member(av.self, raw, member, name, node)
            if base is not object:
                self.inputs.guard(path, "lacks", name)
        self.raises(AttributeError, f"'super' object has no attribute {name!r}", node)

    # --- methods that syntax asks for -----------------------------------------------------------------------------

    def type_attribute(self, av: Val, name: str) -> Any:
        """The method that Python's syntax finds in the class of an object, or None."""
        if not is_object(av):
            return None
        self.only_looked_at(av, name, self.frame.node)
        raw = class_lookup(self.cls_of(av), name)
        if not is_method(raw):
            return None
        return self.outside(raw, (*self.class_path(av), ("member", name)), self.frame.node)

    def call_special(self, av: Val, name: str, args: list[Val], node: Any) -> Any:
        """``type(av).name(av, *args)``, or NotImplemented if the class has no such method."""
        method = self.type_attribute(av, name)
        if method is None:
            if type(av) in (Instance, Obj) and self.derived_from(av) is not None:
                raw = class_lookup(self.cls_of(av), name)
                if self.is_builtin_method(av, raw):
                    result = self.derived_method(av, raw.__name__, args, {}, node)
                    return NotImplemented if type(result) is Obj and result.obj is NotImplemented else result
            return NotImplemented
        result = self.call(method, [av, *args], {}, node)
        return NotImplemented if type(result) is Obj and result.obj is NotImplemented else result

    def object_key(self, av: Obj, node: Node) -> Any:
        """An object as a key: pinned, and compared in a way that does not change."""
        cls = type(av.obj)
        made, equal = class_lookup(cls, "__hash__"), class_lookup(cls, "__eq__")
        if made is None:
            self.raises(TypeError, f"unhashable type: {cls.__name__!r}", node)
        by_identity = made is object.__hash__ and equal is object.__eq__
        params = getattr(cls, "__dataclass_params__", None)
        plain = any(made is base.__hash__ and equal is base.__eq__ for base in (str, bytes))
        frozen = params is not None and params.frozen and is_generated(made)
        library = root_module(cls) in sys.stdlib_module_names and cls.__module__ != "__main__"
        if not (by_identity or plain or frozen or library or is_lasting(av.obj) or av.path is None):
            what = f"{cls.__name__} says how its objects are compared, so that a key"
            self.not_known(what, node, "use a number, a string, a tuple, or a member of an enum")
        return self.pinned(av)

    def special_method(self, av: Val, name: str, node: Node) -> Val:
        """What Python's syntax finds under the name in the class of an object: a method to call, `MISSING`, or `NATIVE`
        if only the live object knows what it does."""
        self.only_looked_at(av, name, node)
        cls = self.cls_of(av)
        raw = class_lookup(cls, name)
        path = (*self.class_path(av), ("member", name))
        if raw is None:
            if any(name in base.__dict__ for base in cls.__mro__):
                self.raises(TypeError, "'NoneType' object is not callable", node)
            if not is_library_class(cls):
                self.inputs.guard(path, "eq", None)
            return MISSING
        if not is_method(raw):
            if not is_library_class(cls) and raw is getattr(object, name, None):
                self.inputs.guard((*path, ("attr", "__qualname__")), "eq", f"object.{name}")
            return NATIVE
        if type(av) is Obj and isinstance(raw, types.FunctionType) and is_foreign(raw):
            return NATIVE
        return self.outside(raw, path, node)


def _class_member(ctx: Objects, cls: type, name: str, node: Node) -> Any:
    """What a class or its bases have under a name that this call writes in one of them: a value, or `MISSING`."""
    if hasattr(type(class_lookup(cls, name)), "__get__"):
        what = f"{name!r}, which is computed for objects of {cls.__name__} and written in a class of theirs"
        ctx.fail(what, node, "use another name")
    for base in cls.__mro__[:-1]:
        path = (ObjectStep(("object", base)),)
        found = ctx.written_attribute(base, path, name, node)
        if found is NotImplemented and name in base.__dict__:
            return ctx.outside(base.__dict__[name], (*path, ("member", name)), node)
        if found is NotImplemented:
            ctx.inputs.guard(path, "lacks", name)
        elif found is not MISSING:
            return found
    return MISSING


def _module_attribute(ctx: Objects, av: Obj, name: str, node: Node) -> Any:
    obj = av.obj
    value = getattr(obj, name, MISSING)
    path = ctx.object_path(av)
    written = ctx.written_attribute(obj, path, name, node) if ctx.plan.written else NotImplemented
    if written is not NotImplemented:
        return written
    if value is MISSING:
        ctx.inputs.guard(path, "without", name)
        return MISSING
    if ctx.frame.site is not None:  # a definition of ours
        return definitions.constant(getattr(as_it_was(obj), name))
    if is_baked_module(obj) or av.path is None:
        there = (*path, ("attr", name))
        if isinstance(value, (np.ndarray, np.generic)):
            return ctx.outside(value, there, node)
        if ctx.caching and getattr(as_it_was(obj), name, value) is not value:
            ctx.impure(ctx.caching[-1])  # its values may be older than that
        return ctx.as_it_is(value, there)
    return ctx.outside(value, (*path, ("attr", name)), node)


def _function_attribute(ctx: Objects, av: Obj, name: str, node: Node) -> Any:
    obj = av.obj
    path = ctx.object_path(av)
    value = getattr(obj, name, MISSING)
    if isinstance(obj, types.FunctionType):
        written = ctx.written_attribute(obj, path, name, node) if ctx.plan.written else NotImplemented
        if written is not NotImplemented:
            return written
        if value is MISSING:
            ctx.inputs.guard(path, "without", name)
            return MISSING
        return ctx.outside(value, (*path, ("attr", name)), node)
    return value if value is MISSING or is_constant(value) else Obj(value, None)


def _instance_attribute(ctx: Objects, av: Val, name: str, node: Node) -> Val:
    cls = ctx.cls_of(av)
    ctx.only_looked_at(av, name, node)
    if name == "__class__":
        return ctx.known_class(av, node) if type(av) is Seq else Obj(cls, ctx.class_path(av))
    if cls is types.TracebackType:
        ctx.fail("what a traceback holds is not known to compiled code", node, "name what is asked for before")
    getter = class_lookup(cls, "__getattribute__")
    if isinstance(getter, types.FunctionType):
        ctx.fail(f"{cls.__name__} defines __getattribute__", node, "use a property, or __getattr__")
    if type(av) is Seq:
        if name in av.cls._fields:
            return av.items[av.cls._fields.index(name)]
        if name in ("index", "count"):
            return Bound(name, av)
    raw = class_lookup(cls, name, MISSING)  # None is an attribute as any other
    found = ctx.container_attribute(av, raw, node)
    if found is not NotImplemented:
        return found
    in_class = ctx.writes_in_class(cls, name)
    if in_class and hasattr(type(raw), "__get__"):
        _class_member(ctx, cls, name, node)
    stores = hasattr(type(raw), "__set__") or hasattr(type(raw), "__delete__")
    if raw is not MISSING and stores and not isinstance(raw, types.MemberDescriptorType) and name != "__dict__":
        return ctx.member(av, raw, (*ctx.class_path(av), ("member", name)), name, node)
    own = ctx.own_attribute(av, name, node)
    if own is not MISSING:
        return own
    if in_class:
        origin = ctx.origin(av)
        if origin is not None:
            ctx.inputs.guard(ctx.object_path(origin), "lacks", name)
        found = _class_member(ctx, cls, name, node)
        return _computed_attribute(ctx, av, name, node) if found is MISSING else found
    if raw is MISSING or isinstance(raw, (types.MemberDescriptorType, types.GetSetDescriptorType)):
        return _computed_attribute(ctx, av, name, node)
    origin = ctx.origin(av)
    if origin is not None:
        ctx.inputs.guard(ctx.object_path(origin), "lacks", name)
        if is_library_class(cls) and definitions.definition_of(raw) is None:
            value = getattr(ctx.pinned(origin), name)
            return value if is_constant(value) else Obj(value, None)
    return ctx.member(av, raw, (*ctx.class_path(av), ("member", name)), name, node)


def _computed_attribute(ctx: Objects, av: Val, name: str, node: Any) -> Any:
    """What ``__getattr__`` says of an attribute that is not there."""
    cls = ctx.cls_of(av)
    origin = ctx.origin(av)
    if origin is not None:
        ctx.inputs.guard(ctx.object_path(origin), "lacks", name)
    raw = class_lookup(cls, "__getattr__")
    if isinstance(raw, types.FunctionType):
        method = ctx.outside(raw, (*ctx.class_path(av), ("member", "__getattr__")), node)
        return ctx.call(method, [av, name], {}, node)
    if ctx.is_builtin_method(av, raw):
        return ctx.derived_method(av, raw.__name__, [name], {}, node)
    if raw is not None and not is_library_class(cls):
        what = f"{cls.__name__}.__getattr__, which computes {name!r}, has no source"
        ctx.fail(what, node, "define it as a function: def __getattr__(self, name): ...")
    if origin is not None:
        ctx.inputs.guard(ctx.object_path(origin), "without", name)
        if is_library_class(cls) and hasattr(origin.obj, name):
            return Obj(getattr(origin.obj, name), None)
    elif not hasattr(cls, name):
        ctx.inputs.guard(ctx.class_path(av), "without", name)
    else:
        held = class_lookup(cls, name, MISSING)  # a slot that is not set; where it has nothing, its metaclass has it
        kind, expected = ("eq", None) if held is MISSING else ("type", type(held))
        ctx.inputs.guard((*ctx.class_path(av), ("member", name)), kind, expected)
    return MISSING


def _cached_attribute(ctx: Objects, av: Val, raw: Any, path: Any, name: str, node: Any) -> Any:
    """A `functools.cached_property` that was not asked for yet."""
    ctx.keep_together(node)  # what the call returns is stored before the rest goes on
    value = ctx.call(ctx.outside(raw.func, (*path, ("attr", "func")), node), [av], {}, node)
    if type(av) is Obj:
        ctx.write_attribute(av, name, node)
    ctx.set_own(av, name, value, node)
    return value


def _class_attribute(ctx: Objects, av: Obj, name: str, node: Node) -> Any:
    cls = av.obj
    if name in ("__name__", "__qualname__", "__module__", "__doc__"):
        return getattr(cls, name)
    path = ctx.object_path(av)
    if name == "__class__":
        return Obj(type(cls), (*path, ("attr", "__class__")))
    if name in ("__mro__", "__bases__"):
        places = [(*path, ("attr", name), ("item", k)) for k in range(len(getattr(cls, name)))]
        return Seq(tuple([Obj(base, place) for base, place in zip(getattr(cls, name), places)]))
    if ctx.disturbed or ctx.plan.disturbed:
        ctx.check_undisturbed(cls, node)
    if ctx.writes_in_class(cls, name):
        return _class_member(ctx, cls, name, node)
    raw = class_lookup(cls, name, MISSING)
    if name == "__dict__":
        ctx.fail("the namespace of a class", node, "use getattr(...) and hasattr(...)")
    if raw is MISSING:
        if hasattr(cls, name):
            return Obj(getattr(cls, name), None)
        ctx.inputs.guard(path, "without", name)
        return MISSING
    written_in_c = isinstance(raw, types.ClassMethodDescriptorType)  # chain.from_iterable
    if (is_library_class(cls) or written_in_c) and not isinstance(cls, type(None)):
        value = getattr(cls, name)
        return value if is_constant(value) else Obj(value, None)
    if hasattr(type(cls), "__members__"):
        return ctx.outside(getattr(cls, name), (*path, ("attr", name)), node)  # of an enum
    return ctx.member(None, raw, (*path, ("member", name)), name, node, av)


def is_generated(method: Any) -> bool:
    """Written by `dataclasses`, so that there is no source of it."""
    return isinstance(method, types.FunctionType) and method.__code__.co_filename.startswith("<string>")


def is_foreign(fn: types.FunctionType) -> bool:
    """A method of a class of the standard library that is not looked into."""
    module = root_module(fn)
    return module in sys.stdlib_module_names and module not in _LOOKED_INTO
