"""Of which class a value is, and what it has."""

from __future__ import annotations

import collections
import collections.abc
import functools
import types

import numpy as np

from ..ir.core import Value, type_of
from ..ir.foreign import is_common
from ..ir.opset import NOT, PRIMS, asked
from ..kernels.callbacks import as_given
from ..tree import class_lookup
from .avals import (
    BUILTIN,
    MISSING,
    PYTHON,
    Bound,
    Closure,
    DictRef,
    Entries,
    FlagsOf,
    Instance,
    Obj,
    OneShot,
    Partial,
    Ref,
    Seq,
    ViewOf,
    describe,
    is_constant,
)
from .definitions import stands_in
from .folds import proved
from .handlers import Node, Val
from .memory import FLAGS_CLASS
from .objects import is_object
from .questions import Questions

_CLASSES = {**BUILTIN, Closure: types.FunctionType, Partial: functools.partial, FlagsOf: FLAGS_CLASS}
_OF_FUNCTIONS = ("__name__", "__qualname__", "__module__", "__doc__", "__dict__", "__call__")
_VIEWS = {"keys": type({}.keys()), "values": type({}.values()), "items": type({}.items())}


class Classes(Questions):
    """Classes of values, and what they have."""

    def class_of(self, av: Val, node: Node) -> Val:
        """The exact class of what the value is at run time, or None."""
        kind = type(av)
        if is_constant(av):
            return type(av)
        if kind is Ref or kind is Value:
            t = type_of(self.operand(av, node))
            if t.duck is not None:
                # What an operation of another library gives may be of another class.
                return t.duck if self.operand(av, node) in self.top.params else None
            if t.kind == "array":
                return None if t.dims == () and t.dtype is not None and t.dtype.names is not None else np.ndarray
            if t.kind == "generic" and t.dtype is not None:
                return t.dtype.type
            if t.kind == "py" and t.dtype is not None:
                return PYTHON[t.dtype.kind]
            if t.kind == "object":
                known = self.known_objects.get(av)
                return known if isinstance(known, type) else None
            return tuple if t.kind == "shape" else list if t.kind == "list" else None
        if kind is Obj:
            return type(av.obj)
        if kind is DictRef:
            ordered = self.cells.dict_classes(av.cell)
            return None if len(ordered) > 1 else collections.OrderedDict if ordered.pop() else dict
        if kind is Instance:
            if stands_in(av.cls) and self.frame is not None and self.frame.site is None:
                remedy = "ask what it was made from, or keep a flag"
                self.fail(f"the class of {describe(av)}, which stands for one of a library", node, remedy)
            return None if av.cls is OneShot else av.cls
        if kind is Seq:
            return av.cls or tuple
        if kind is Bound:
            return None if isinstance(av.fn, str) else types.MethodType
        if kind is ViewOf:
            return _VIEWS[av.kind]
        return _CLASSES.get(kind)

    def outcome_in(self, av: Val) -> Entries | None:
        """The attributes of what stands for something that SciPy gave, with that as `_outcome`."""
        content = self.content(av.cell) if type(av) is Instance and stands_in(av.cls) else None
        return content if type(content) is Entries and "_outcome" in content.keys else None

    def given_or(self, av: Val, name: str, default: Val, node: Node) -> Val:
        """An attribute of what stands for something that SciPy gave; NotImplemented for all else. Where ours lacks it,
        it is asked when the program runs whether SciPy's does."""
        content = self.outcome_in(av)
        if content is None:
            return NotImplemented
        if name in content.keys or hasattr(av.cls, name):
            return self.attribute(av, name, node)
        has = self.emit(node, asked("hasattr", hasattr), content.get("_outcome"), name)
        message = f"{name!r} of {describe(av)}: the compiler knows only a part of what SciPy's has"
        self.raise_unless(self.emit(node, NOT, has), NotImplementedError, message, node)
        return default

    def reported(self, av: Val, node: Node) -> Val:
        """What is told to a log, or to an exception: where `av` stands for what SciPy gave, that itself."""
        content = self.outcome_in(av)
        if content is None:
            return av
        held = [x for x in content.items if type(x) is Value or type(x) is Ref]
        return self.emit(node, PRIMS[as_given], content.get("_outcome"), *[self.operand(x, node) for x in held])

    def known_class(self, av: Val, node: Node) -> Obj:
        """The class of a value, which has to be known."""
        found = self.class_of(av, node)
        if found is None:
            remedy = "make it one type on all paths, with float(...) or np.asarray(...)"
            self.not_known("the type of this value", node, remedy)
        if is_common(found):
            which = f"the class of this {found.__name__}, one of several that are made anew in each call,"
            self.not_known(which, node, "ask for its fields")
        return Obj(found, self.class_path(av) if type(av) is Obj or is_object(av) and type(av) is not Seq else None)

    def looked_up(self, av: Val, name: str, read: bool, node: Node) -> Val:
        """``av.name``, or `MISSING`. What is only asked for need not be read."""
        if type(av) in (Obj, Instance) and not (type(av) is Instance and self.class_of(av, node) is not av.cls):
            if is_object(av) and class_lookup(self.cls_of(av), "__getattr__") is not None:
                return self.attribute(av, name, node) if read else proved("class", True)
            if is_object(av) and not read and _is_in_class(self, av, name, node):
                return proved("class", True)
            if is_object(av) or type(av) is Obj:
                return self.find_attribute(av, name, node)
        if type(av) is Seq and av.cls is not None:
            return self.find_attribute(av, name, node)
        if type(av) is Bound and not isinstance(av.fn, str) and class_lookup(types.MethodType, name) is None:
            return self.looked_up(av.fn, name, read, node)
        if type(av) is Closure and not name.startswith("__"):
            held = MISSING if av.attributes is None else self.checked(av.attributes.cell, node, "function").get(name)
            return held if held is MISSING else self.use(held, name, node) if read else proved("class", True)
        cls = self.class_of(av, node)
        duck = self.read(av, node).type.duck if cls is None and type(av) is Ref else None
        if duck is not None and all(class_lookup(c, name) is None for c in (duck, np.ndarray)):
            return MISSING  # it is one of these
        if type(av) is Closure and not read and name in _OF_FUNCTIONS:
            return proved("class", True)
        if cls is None or type(av) is Closure or (type(av) is Instance and not is_object(av) and cls is OneShot):
            self.not_known(f"whether {describe(av)} has {name!r}", node, "ask the class, or keep a flag")
        if class_lookup(cls, name) is None:
            return MISSING
        return self.attribute(av, name, node) if read else proved("class", True)


def _is_in_class(ctx: Classes, av: Val, name: str, node: Node) -> bool:
    """The class has it, and nothing is computed when it is read."""
    raw = class_lookup(ctx.cls_of(av), name)
    if isinstance(raw, types.FunctionType):
        ctx.outside(raw, (*ctx.class_path(av), ("member", name)), node)
    return isinstance(raw, (types.FunctionType, types.WrapperDescriptorType, types.MethodDescriptorType))
