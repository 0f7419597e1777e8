"""The functions of `dataclasses` and `copy`, and ``__new__`` of `object` and of containers."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable

from ...errors import ArgumentError
from ...ir.core import structural_key
from ...ir.sites import OF_STATEMENTS
from ...lowered import ObjectStep
from ..avals import MISSING, Bound, DictRef, Instance, Items, ListRef, Obj, Seq, describe
from ..handlers import Ctx, Val, lowers
from ..inputs import BASES, base_of
from ..objects import is_object

# --- dataclasses --------------------------------------------------------------------------------------------------


@lowers(dataclasses.replace, *[copy.replace] if hasattr(copy, "replace") else [])
def _replace(ctx: Ctx, obj: Val, /, **changes: Val) -> Val:
    node = ctx.node
    if type(obj) is Seq and obj.cls is not None:
        return ctx.call(Bound("_replace", obj), [], changes, node)
    values = _values(ctx, obj, "replace")
    table = ctx.cls_of(obj).__dataclass_fields__  # type: ignore[attr-defined]
    given: dict[str, Val] = {}
    for f in table.values():
        if f._field_type.name == "_FIELD_CLASSVAR":
            continue
        if not f.init:
            if f.name in changes:
                ctx.fail(f"field {f.name!r} is declared with init=False", node, "", ArgumentError)
        elif f.name in changes:
            given[f.name] = changes[f.name]
        elif f._field_type.name == "_FIELD_INITVAR":
            if f.default is dataclasses.MISSING:
                ctx.fail(f"InitVar {f.name!r} must be specified with replace()", node, "", ArgumentError)
        else:
            given[f.name] = values[f.name]
    given.update({k: v for k, v in changes.items() if k not in given})
    return ctx.call(Obj(ctx.cls_of(obj), ctx.class_path(obj)), [], given, node)


def _values(ctx: Ctx, av: Val, what: str) -> dict[str, Val]:
    """The fields of a dataclass instance."""
    if not is_object(av) or not dataclasses.is_dataclass(ctx.cls_of(av)):
        ctx.fail(f"{what}() needs an instance of a dataclass, not {describe(av)}", ctx.node, "", ArgumentError)
    return {f.name: ctx.attribute(av, f.name, ctx.node) for f in dataclasses.fields(ctx.cls_of(av))}


@lowers(dataclasses.asdict)
def _asdict(ctx: Ctx, obj: Val) -> DictRef:
    values = _values(ctx, obj, "asdict")
    return ctx.new_dict({k: _plain_copy(ctx, v, _asdict) for k, v in values.items()})


@lowers(dataclasses.astuple)
def _astuple(ctx: Ctx, obj: Val) -> Seq:
    return Seq(tuple([_plain_copy(ctx, v, _astuple) for v in _values(ctx, obj, "astuple").values()]))


def _plain_copy(ctx: Ctx, av: Val, convert: Callable[[Ctx, Val], Val]) -> Val:
    """A field as asdict() gives it: containers and dataclasses anew, all else a deep copy."""
    if is_object(av) and dataclasses.is_dataclass(ctx.cls_of(av)):
        return convert(ctx, av)
    if type(av) is Seq:
        return Seq(tuple([_plain_copy(ctx, x, convert) for x in av.items]), av.cls)
    if type(av) is ListRef and type(content := ctx.checked(av.cell, ctx.node, "list")) is Items:
        return ctx.new_list([_plain_copy(ctx, x, convert) for x in content.items])
    if type(av) is DictRef:
        content = ctx.checked(av.cell, ctx.node, "dictionary")
        return ctx.new_dict({k: _plain_copy(ctx, x, convert) for k, x in zip(content.keys, content.items)})
    return ctx.deep_copy(av, ctx.node)


@lowers(dataclasses.fields)
def _fields(ctx: Ctx, class_or_instance: Val) -> Seq:
    av = class_or_instance
    cls = av.obj if type(av) is Obj and isinstance(av.obj, type) else ctx.cls_of(av) if is_object(av) else None
    if cls is None or not dataclasses.is_dataclass(cls):
        ctx.fail("fields() needs a dataclass", ctx.node, "", ArgumentError)
    return Seq(tuple([Obj(f, (ObjectStep(("object", f)),)) for f in dataclasses.fields(cls)]))


@lowers(dataclasses.is_dataclass)
def _is_dataclass(ctx: Ctx, obj: Val) -> bool:
    if type(obj) is Obj:
        return dataclasses.is_dataclass(ctx.pinned(obj))
    return type(obj) is Instance and dataclasses.is_dataclass(obj.cls)


# --- copies -------------------------------------------------------------------------------------------------------


@lowers(copy.copy)
def _copy(ctx: Ctx, x: Val) -> Val:
    return ctx.shallow_copy(x, ctx.node)


@lowers(copy.deepcopy)
def _deepcopy(ctx: Ctx, x: Val, memo: Val = None) -> Val:
    if type(memo) is DictRef and (made := ctx.copied_with(x, memo, ctx.node)) is not MISSING:
        return made
    if memo is not None and not (type(memo) is DictRef and ctx.fresh_memo(memo, ctx.node)):
        ctx.fail("copy.deepcopy() with a memo that is used more than once", ctx.node, "copy both in one list")
    return ctx.deep_copy(x, ctx.node)


# --- __new__ ------------------------------------------------------------------------------------------------------


@lowers(object.__new__)
def _object_new(ctx: Ctx, cls: Val = None, /, *args: Val, **kwargs: Val) -> Val:
    if not (type(cls) is Obj and isinstance(cls.obj, type)):
        ctx.fail("object.__new__ of something that is not a class", ctx.node, "call the class")
    return ctx.new_object(cls.obj, {})


@lowers(*{id(base.__new__): base.__new__ for base in BASES}.values())
def _container_new(ctx: Ctx, cls: Val = None, /, *args: Val, **kwargs: Val) -> Val:
    """``list.__new__(cls, ...)`` and the like."""
    found = cls.obj if type(cls) is Obj else None
    if isinstance(found, type) and issubclass(found, tuple) and hasattr(found, "_fields"):
        return Seq(tuple(ctx.static_items(args[0], ctx.node)), found)
    if not isinstance(found, type) or (found not in BASES and base_of(found) is None):
        ctx.fail("__new__ of something that is not a container", ctx.node, "call the class")
    if found in BASES:
        return ctx.call(cls, list(args), kwargs, ctx.node)
    return ctx.new_derived(found, list(args), ctx.node)


# --- loggers ------------------------------------------------------------------------------------------------------


@lowers("logging.getLogger")
def _get_logger(ctx: Ctx, name: Val = None) -> Val:
    """There is one logger of a name, which each call looks up."""
    if not (name is None or isinstance(name, str)):
        ctx.fail("a logger of which the name is known at run time only", ctx.node, "make it outside of the function")
    args = (name,) if isinstance(name, str) else ()
    path = (ObjectStep(("object", ctx.callee)), ("call", args, structural_key(args)))
    return ctx.outside(ctx.callee(*args), path, ctx.node)


# --- objects of which nothing is known ----------------------------------------------------------------------------


@lowers(*OF_STATEMENTS)
def _of_statement(ctx: Ctx, /, *args: Val) -> Val:
    prim = OF_STATEMENTS[ctx.callee]
    return ctx.call_foreign(prim, [], list(args), {}, None, prim.name, ctx.node)
