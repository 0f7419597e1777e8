"""Of which class a value is, and what it has: `type`, `isinstance`, `hasattr`, `getattr`, `callable`, `hash`."""

from __future__ import annotations

import abc
import collections.abc
import types
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...ir.core import Value, type_of
from ...ir.opset import asked, opaque
from ...tree import class_lookup
from ..avals import (
    MISSING,
    PYTHON,
    Bound,
    Instance,
    Obj,
    Ref,
    Seq,
    describe,
)
from ..folds import proved
from ..handlers import Ctx, Val, lowers
from ..library.attributes import attribute_or, has_attribute
from ..objects import NATIVE, is_generated, is_object
from ..questions import ASKED_HASH

_SCALARS = (*PYTHON.values(), np.bool_, *np.sctypeDict.values())
_REAL = (bool, int, float, *[kind for kind in np.sctypeDict.values() if np.dtype(kind).kind in "biuf"])
_ASKED_INSTANCE = asked("isinstance", isinstance)


@lowers(type)
def _type(ctx: Ctx, obj: Val, /, *made_of: Val, **keywords: Val) -> Obj:
    if made_of or keywords:
        ctx.fail("type() that makes a class", ctx.node, "define the class outside", ArgumentError)
    return ctx.known_class(obj, ctx.node)


# --- isinstance ---------------------------------------------------------------------------------------------------


@lowers(isinstance)
def _isinstance(ctx: Ctx, obj: Val, class_or_tuple: Val, /) -> Val:
    classes = _classes(ctx, class_or_tuple)
    found = ctx.class_of(obj, ctx.node)
    if not all(map(_asks_class, classes)) or (found is not None and not _has_own_class(found)):
        return _ask_instance(ctx, obj, found, classes)
    if found is not None:
        if _may_be_registered(found, classes) and ctx.live_operand(obj, ctx.node) is not MISSING:
            return _ask_instance(ctx, obj, found, classes)
        return proved("class", issubclass(found, classes))
    if type(obj) in (Ref, Value):
        t = type_of(ctx.operand(obj, ctx.node))
        if t.duck is not None and t.duck is not object:
            # What is computed of a duck array is one, or NumPy's.
            answers = {issubclass(cls, classes) for cls in (t.duck, np.ndarray, np.float64)}
            if len(answers) == 1:
                return proved("class", answers.pop())
        elif t.kind in ("scalar", "generic") or (t.kind == "any" and t.dims == () and t.dtype is not None):
            kinds: Any = _REAL if t.real else _SCALARS
            if t.dtype is not None:
                kinds = [np.dtype(t.dtype).type, PYTHON.get(t.dtype.kind, int)]
            kinds = [*kinds, *[np.ndarray] * (t.kind == "any")]
            answers = {issubclass(cls, classes) for cls in kinds}
            if len(answers) == 1:
                return proved("class", answers.pop())
    elif type(obj) in (Bound, Instance):
        if all(c.__module__ in ("builtins", "numpy") and not issubclass(object, c) for c in classes) and not any(
            issubclass(c, collections.abc.Iterator) for c in classes
        ):
            return proved("class", False)  # of an iterator or a method, which are of no class with a name
    return _ask_instance(ctx, obj, found, classes)


def _ask_instance(ctx: Ctx, av: Val, found: type | None, classes: tuple[type, ...]) -> Val:
    operand = ctx.live_operand(av, ctx.node)
    if operand is MISSING:
        ctx.not_known(f"whether {describe(av)} is of this class", ctx.node, "keep a flag, or compare type(...)")
    one: Any = classes if len(classes) > 1 else classes[0]
    prim = _ASKED_INSTANCE if found is not None else opaque(isinstance, "isinstance")
    return ctx.emit(ctx.node, prim, operand, one)


@lowers(issubclass)
def _issubclass(ctx: Ctx, cls: Val, class_or_tuple: Val, /) -> Val:
    classes = _classes(ctx, class_or_tuple)
    if type(cls) is not Obj:
        return ctx.emit(ctx.node, opaque(issubclass, "issubclass"), ctx.operand(cls, ctx.node), classes)
    return proved("live", ctx.folded(issubclass, [ctx.pinned(cls), classes], {}, ctx.node))


def _classes(ctx: Ctx, av: Val) -> tuple[type, ...]:
    if type(av) is Seq:
        return tuple([c for item in av.items for c in _classes(ctx, item)])
    if type(av) is Obj and isinstance(av.obj, type):
        return (ctx.pinned(av),)
    if type(av) is Obj and isinstance(av.obj, types.UnionType):
        return tuple(ctx.pinned(av).__args__)
    ctx.fail("this is not a class known when the program is compiled", ctx.node, "name the class itself")


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


# --- what a value has ---------------------------------------------------------------------------------------------


@lowers(callable)
def _callable(ctx: Ctx, obj: Val, /) -> bool:
    if type(obj) is Bound:
        return proved("class", True)
    cls = ctx.class_of(obj, ctx.node)
    if cls is None:
        ctx.not_known(f"whether {describe(obj)} can be called", ctx.node, "keep a flag")
    found = class_lookup(cls, "__call__")
    if is_object(obj):
        known = ("eq", None) if found is None else ("is", found)
        ctx.inputs.guard((*ctx.class_path(obj), ("member", "__call__")), *known)
    return proved("class", found is not None)


@lowers(hash)
def _hash(ctx: Ctx, obj: Val, /) -> Val:
    ctx.require_hash(obj, ctx.node)
    if is_object(obj):
        method = ctx.special_method(obj, "__hash__", ctx.node)
        if method is not NATIVE and not (type(method) is Obj and is_generated(method.obj)):
            return ctx.call(method, [obj], {}, ctx.node)
    made = ctx.ask(ASKED_HASH, [obj], ctx.node)
    if made is MISSING:
        ctx.not_known(f"the hash of {describe(obj)}", ctx.node, "use a key of your own")
    return made


# --- attributes by name -------------------------------------------------------------------------------------------


def _name_of(ctx: Ctx, name: Val) -> str:
    """The name that a function like getattr() is given."""
    if not isinstance(name, str):
        fn = getattr(ctx.callee, "__qualname__", ctx.callee.__name__)
        ctx.fail(
            f"{fn}() needs a name that is known when the program is compiled",
            ctx.node,
            "write the name as a literal, or loop over a literal tuple of names",
            cause=[name],
        )
    return str.__str__(name)


@lowers(hasattr)
def _hasattr(ctx: Ctx, obj: Val, name: Val, /) -> Val:
    name = _name_of(ctx, name)
    if ctx.is_observed(obj):
        return ctx.ask(asked("hasattr", hasattr), [obj, name], ctx.node)
    if _computes(ctx, obj, name):
        return ctx.inline_function(Obj(has_attribute, None), [obj, name], {}, ctx.node)
    return proved("class", ctx.looked_up(obj, name, False, ctx.node) is not MISSING)


@lowers(getattr)
def _getattr(ctx: Ctx, obj: Val, name: Val, default: Val = MISSING, /) -> Val:
    name = _name_of(ctx, name)
    if default is MISSING:
        return ctx.attribute(obj, name, ctx.node)
    if ctx.is_observed(obj):
        return ctx.call_unknown(getattr, [obj, name, default], {}, ctx.node)
    given = ctx.given_or(obj, name, default, ctx.node)
    if given is not NotImplemented:
        return given
    if _computes(ctx, obj, name):
        return ctx.inline_function(Obj(attribute_or, None), [obj, name, default], {}, ctx.node)
    found = ctx.looked_up(obj, name, True, ctx.node)
    return default if found is MISSING else found


@lowers(setattr)
def _setattr(ctx: Ctx, obj: Val, name: Val, value: Val, /) -> None:
    ctx.store_attribute(obj, _name_of(ctx, name), value, ctx.node)


lowers(delattr)(lambda ctx, obj, name, /: ctx.delete_attribute(obj, _name_of(ctx, name), ctx.node))


@lowers(object.__setattr__)
def _object_setattr(ctx: Ctx, obj: Val, name: Val, value: Val, /) -> None:
    if type(obj) not in (Instance, Obj):
        ctx.fail(f"object.__setattr__ of {describe(obj)}", ctx.node, "assign to the attribute")
    ctx.store_generic(obj, _name_of(ctx, name), value, ctx.node)


@lowers(vars)
def _vars(ctx: Ctx, obj: Val = MISSING, /) -> Val:
    if obj is MISSING:
        ctx.fail("vars() without an argument", ctx.node, "name the variables")
    return ctx.attribute(obj, "__dict__", ctx.node)


def _computes(ctx: Ctx, av: Val, name: str) -> bool:
    """Only ``__getattr__`` knows of an attribute of an object."""
    if not is_object(av) or class_lookup(ctx.cls_of(av), "__getattr__") is None:
        return False
    return class_lookup(ctx.cls_of(av), name) is None and ctx.own_attribute(av, name, ctx.node) is MISSING
