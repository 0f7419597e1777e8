"""Of which class a value is, and what it has: ``type``, ``isinstance``, ``hasattr``, ``getattr``, ``callable``."""

from __future__ import annotations

import abc
import collections
import collections.abc
import functools
import types
from typing import Any

import numpy as np

from ..ir.core import Value, type_of
from ..ir.opset import asked, opaque
from .avals import (
    MISSING,
    Bound,
    Closure,
    DeferredOf,
    DictRef,
    FlagsOf,
    IndexedOf,
    Instance,
    ListRef,
    Obj,
    OneShot,
    Partial,
    RangeOf,
    Ref,
    Seq,
    SliceOf,
    ViewOf,
    describe,
    is_constant,
)
from .folds import proved
from .inputs import class_lookup
from .library.attributes import attribute_or, has_attribute
from .memory import FLAGS_CLASS
from .objects import NATIVE, is_generated, is_object
from .questions import ASKED_HASH, Questions

_PYTHON = {"b": bool, "i": int, "f": float, "c": complex}
_NUMBERS = (*_PYTHON.values(), np.bool_, *np.sctypeDict.values())
_ASKED_INSTANCE, _ASKED_CALLABLE = asked("isinstance", isinstance), asked("callable", callable)
_ABSTRACT: dict[type, type] = {
    ListRef: list, DictRef: dict, RangeOf: range, Closure: types.FunctionType, SliceOf: slice,
    Partial: functools.partial, FlagsOf: FLAGS_CLASS,
}  # fmt: skip
_VIEWS = {"keys": type({}.keys()), "values": type({}.values()), "items": type({}.items())}


class Classes(Questions):
    """Classes of values, and what they have."""

    def class_of(self, av: Any, node: Any) -> Any:
        """The exact class of what the value is at run time, or None."""
        kind = type(av)
        if is_constant(av):
            return type(av)
        if kind is Ref or kind is Value:
            t = type_of(self.operand(av, node))
            if t.kind == "array":
                return None if t.dims == () and t.dtype is not None and t.dtype.names is not None else np.ndarray
            if t.kind == "generic" and t.dtype is not None:
                return t.dtype.type
            if t.kind == "py" and t.dtype is not None:
                return _PYTHON[t.dtype.kind]
            return tuple if t.kind == "shape" else list if t.kind == "list" else None
        if kind is Obj:
            return type(av.obj)
        if kind is DictRef:
            ordered = {cell in self.cells.ordered for cell in self.cells.family(av.cell)}
            return None if len(ordered) > 1 else collections.OrderedDict if ordered.pop() else dict
        if kind is Instance:
            return None if av.cls is OneShot else av.cls
        if kind is Seq:
            return av.cls or tuple
        if kind is Bound:
            return None if isinstance(av.fn, str) else types.MethodType
        if kind is ViewOf:
            return _VIEWS[av.kind]
        return _ABSTRACT.get(kind)

    def only(self, args: list[Any], low: int, high: int, kwargs: dict[str, Any], node: Any, name: str) -> None:
        raise NotImplementedError

    def b_type(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 1, 1, kwargs, node, "type")
        return self.known_class(args[0], node)

    def known_class(self, av: Any, node: Any) -> Obj:
        """The class of a value, which has to be known."""
        found = self.class_of(av, node)
        if found is None:
            self.not_known(
                "the type of this value", node, "make it one type on all paths, with float(...) or np.asarray(...)"
            )
        return Obj(found, self.class_path(av) if type(av) is Obj or is_object(av) and type(av) is not Seq else None)

    # --- isinstance -----------------------------------------------------------------------------------------------

    def b_isinstance(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 2, 2, kwargs, node, "isinstance")
        classes = self.classes(args[1], node)
        found = self.class_of(args[0], node)
        if not all(map(_asks_class, classes)) or (found is not None and not _has_own_class(found)):
            return self.ask_instance(args[0], found, classes, node)
        if found is not None:
            if _may_be_registered(found, classes) and self.live_operand(args[0], node) is not MISSING:
                return self.ask_instance(args[0], found, classes, node)
            return proved("class", issubclass(found, classes))
        if type(args[0]) is Ref or type(args[0]) is Value:
            t = type_of(self.operand(args[0], node))
            if t.kind in ("scalar", "generic"):
                kinds = [np.dtype(t.dtype).type, _PYTHON.get(t.dtype.kind, int)] if t.dtype is not None else _NUMBERS
                answers = {issubclass(cls, classes) for cls in kinds}
                if len(answers) == 1:
                    return proved("class", answers.pop())
        elif type(args[0]) in (Bound, DeferredOf, IndexedOf) or type(args[0]) is Instance:
            if all(c.__module__ in ("builtins", "numpy") and not issubclass(object, c) for c in classes) and not any(
                issubclass(c, collections.abc.Iterator) for c in classes
            ):
                return proved("class", False)  # of an iterator or a method, which are of no class with a name
        return self.ask_instance(args[0], found, classes, node)

    def ask_instance(self, av: Any, found: Any, classes: tuple[type, ...], node: Any) -> Any:
        operand = self.live_operand(av, node)
        if operand is MISSING:
            self.not_known(f"whether {describe(av)} is of this class", node, "keep a flag, or compare type(...)")
        one: Any = classes if len(classes) > 1 else classes[0]
        return self.emit(node, _ASKED_INSTANCE if found is not None else opaque(isinstance, "isinstance"), operand, one)

    def b_issubclass(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        classes = self.classes(args[1], node)
        if type(args[0]) is not Obj:
            return self.emit(node, opaque(issubclass, "issubclass"), self.operand(args[0], node), classes)
        try:
            return proved("live", issubclass(self.pinned(args[0]), classes))
        except TypeError as error:
            self.raises(TypeError, str(error), node)

    def classes(self, av: Any, node: Any) -> tuple[type, ...]:
        if type(av) is Seq:
            return tuple([c for item in av.items for c in self.classes(item, node)])
        if type(av) is Obj and isinstance(av.obj, type):
            return (self.pinned(av),)
        if type(av) is Obj and isinstance(av.obj, types.UnionType):
            return tuple(self.pinned(av).__args__)
        self.fail("this is not a class known when the program is compiled", node, "name the class itself")

    # --- what a value has -----------------------------------------------------------------------------------------

    def b_callable(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 1, 1, kwargs, node, "callable")
        if type(args[0]) is Bound:
            return proved("class", True)
        cls = self.class_of(args[0], node)
        if cls is None:
            self.not_known(f"whether {describe(args[0])} can be called", node, "keep a flag")
        if is_object(args[0]):
            self.inputs.guard((*self.class_path(args[0]), ("member", "__call__")), *_is_there(cls, "__call__"))
        return proved("class", class_lookup(cls, "__call__") is not None)

    def b_hasattr(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        av, name = args[0], args[1]
        if not isinstance(name, str):
            self.fail("hasattr() needs a literal name", node, "write the name as a literal")
        if self.computes(av, name, node):
            return self.inline_function(Obj(has_attribute, None), [av, name], {}, node)
        return proved("class", self.looked_up(av, str.__str__(name), False, node) is not MISSING)

    def computes(self, av: Any, name: str, node: Any) -> bool:
        """Only ``__getattr__`` knows of an attribute of an object."""
        if not is_object(av) or class_lookup(self.cls_of(av), "__getattr__") is None:
            return False
        return class_lookup(self.cls_of(av), name) is None and self.own_attribute(av, name, node) is MISSING

    def inline_function(self, fn: Obj, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        raise NotImplementedError

    def looked_up(self, av: Any, name: str, read: bool, node: Any) -> Any:
        """``av.name``, or `MISSING`. What is only asked for need not be read."""
        if type(av) in (Obj, Instance) and not (type(av) is Instance and self.class_of(av, node) is not av.cls):
            if is_object(av) and class_lookup(self.cls_of(av), "__getattr__") is not None:
                return self.attribute(av, name, node) if read else proved("class", True)
            if is_object(av) and not read and self.is_in_class(av, name, node):
                return proved("class", True)
            if is_object(av) or type(av) is Obj:
                return self.find_attribute(av, name, node)
        if type(av) is Seq and av.cls is not None:
            return self.find_attribute(av, name, node)
        if type(av) is Bound and not isinstance(av.fn, str) and class_lookup(types.MethodType, name) is None:
            return self.looked_up(av.fn, name, read, node)
        cls = self.class_of(av, node)
        if cls is None or type(av) is Closure or (type(av) is Instance and not is_object(av) and cls is OneShot):
            self.not_known(f"whether {describe(av)} has {name!r}", node, "ask the class, or keep a flag")
        if class_lookup(cls, name) is None:
            return MISSING
        return self.attribute(av, name, node) if read else proved("class", True)

    def is_in_class(self, av: Any, name: str, node: Any) -> bool:
        """The class has it, and nothing is computed when it is read."""
        raw = class_lookup(self.cls_of(av), name)
        if isinstance(raw, types.FunctionType):
            self.outside(raw, (*self.class_path(av), ("member", name)), node)
        return isinstance(raw, (types.FunctionType, types.WrapperDescriptorType, types.MethodDescriptorType))

    def b_hash(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 1, 1, kwargs, node, "hash")
        self.require_hash(args[0], node)
        if is_object(args[0]):
            method = self.special_method(args[0], "__hash__", node)
            if method is not NATIVE and not (type(method) is Obj and is_generated(method.obj)):
                return self.call(method, args, {}, node)
        made = self.ask(ASKED_HASH, args, node)
        if made is MISSING:
            self.not_known(f"the hash of {describe(args[0])}", node, "use a key of your own")
        return made

    def b_getattr(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if len(args) < 2 or not isinstance(args[1], str):
            self.fail(
                "getattr() needs a name that is known when the program is compiled",
                node,
                "write the name as a literal, or loop over a literal tuple of names",
                cause=args[1:2] or None,
            )
        args = [args[0], str.__str__(args[1]), *args[2:]]
        if len(args) < 3:
            return self.attribute(args[0], args[1], node)
        if self.computes(args[0], args[1], node):
            return self.inline_function(Obj(attribute_or, None), args, {}, node)
        found = self.looked_up(args[0], args[1], True, node)
        return args[2] if found is MISSING else found


def _may_be_registered(found: type, classes: tuple[type, ...]) -> bool:
    """An abstract class may come to count a class as its own at any time."""
    others = [c for c in classes if c not in found.__mro__]
    known = found.__module__ in ("builtins", "numpy") or len(others) < len(classes)
    return not known and any(isinstance(c, abc.ABCMeta) for c in others)


def _asks_class(cls: type) -> bool:
    """``isinstance(x, cls)`` depends on the class of `x` alone."""
    check: Any = type(cls).__instancecheck__
    return check is type.__instancecheck__ or check is abc.ABCMeta.__instancecheck__


def _has_own_class(cls: type) -> bool:
    """No property of the class says that its objects are of another."""
    return class_lookup(cls, "__class__") is object.__dict__["__class__"]


def _is_there(cls: type, name: str) -> tuple[str, Any]:
    raw = class_lookup(cls, name)
    return ("eq", None) if raw is None else ("is", raw)


__all__ = ["Classes"]
