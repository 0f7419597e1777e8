"""Rarer forms of calls, by way of the usual ones."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from ...ir.opset import PRIMS
from ...ir.roles import signature_of
from ..avals import ListRef, Obj, Ref, Seq, is_static_int
from ..handlers import Ctx, Val, lowers
from ..library.call_forms import interpolated, joined_array, mapped_elements, points_and_step, stacked_array

_ONE_ARRAY: dict[Any, Any] = {np.stack: stacked_array, np.concatenate: joined_array}


@lowers(np.stack, np.concatenate)
def _joined(ctx: Ctx, /, *args: Val, **kwargs: Val) -> Val:
    fn, node = ctx.callee, ctx.node
    given, keywords = ctx.accepted(fn, signature_of(fn), list(args), kwargs, node)
    first = given[0] if given else None
    if (
        type(first) is Ref
        and ctx.read(first, node).type.kind == "array"
        and len(given) < 3
        and set(keywords) <= {"axis"}
    ):
        return ctx.inline_function(Obj(_ONE_ARRAY[fn]), given, keywords, node)
    return ctx.call_prim(PRIMS[fn], list(args), kwargs, node)


@lowers(np.interp)
def _interp(ctx: Ctx, x: Val, xp: Val, fp: Val, left: Val = None, right: Val = None, period: Val = None) -> Val:
    """The primitive extends the outermost values."""
    if left is None and right is None and period is None:
        return ctx.call_prim(PRIMS[np.interp], [x, xp, fp], {}, ctx.node)
    return ctx.inline_function(Obj(interpolated), [x, xp, fp, left, right, period], {}, ctx.node)


@lowers(np.linspace)
def _linspace(ctx: Ctx, /, *args: Val, **kwargs: Val) -> Val:
    node = ctx.node
    given, keywords = ctx.accepted(np.linspace, signature_of(np.linspace), list(args), kwargs, node)
    names = ("start", "stop", "num", "endpoint", "retstep", "dtype", "axis")
    bound = {"num": 50, "endpoint": True, "dtype": None, "axis": 0, **dict(zip(names, given)), **keywords}
    retstep, _ = bound.pop("retstep", False), bound.pop("device", None)
    if type(retstep) not in (bool, int):
        ctx.fail("np.linspace with a retstep that only the run knows", node, "write it as a constant")
    if not retstep:
        return ctx.call_prim(PRIMS[np.linspace], *_without_retstep(list(args), kwargs), node)
    return ctx.inline_function(Obj(points_and_step), [], bound, node)


def _without_retstep(args: list[Val], kwargs: dict[str, Val]) -> tuple[list[Val], dict[str, Val]]:
    """The call without ``retstep=False``, which may stand by its position in front of the dtype."""
    more = dict(zip(("dtype", "axis"), args[5:]))
    return args[:4], {**{name: av for name, av in kwargs.items() if name != "retstep"}, **more}


@lowers(np.ndarray)
def _ndarray(
    ctx: Ctx,
    shape: Val,
    dtype: Val = float,
    buffer: Val = None,
    offset: Val = 0,
    strides: Val = None,
    order: Val = None,
) -> Val:
    """An array of which nothing is set yet."""
    if any(x is not None for x in (buffer, strides, order)) or not (is_static_int(offset) and offset == 0):
        ctx.fail("np.ndarray with buffer, offset, strides or order", ctx.node, "use np.empty, or np.frombuffer")
    kind = Obj(float) if dtype is float else dtype
    return ctx.call(Obj(np.empty), [shape], {"dtype": kind}, ctx.node)


_LABELS = string.ascii_uppercase + string.ascii_lowercase


@lowers(np.einsum)
def _einsum(ctx: Ctx, /, *args: Val, **kwargs: Val) -> Val:
    """Operands, each with a list of the numbers of its axes, are written with a string of letters."""
    node = ctx.node
    if args and type(args[0]) is not str and len(args) > 1:
        pairs = [ctx.known_items(x, node) if type(x) in (Seq, ListRef) else None for x in args[1::2]]
        last = None
        operands: list[Any] = list(args[0::2])
        if len(args) % 2:
            *operands, last = operands
            last = ctx.known_items(last, node) if type(last) in (Seq, ListRef) else None
        texts = [_labels(x) for x in [*pairs, *([last] if len(args) % 2 else [])]]
        if all(text is not None for text in texts):
            inputs = [text for text in texts[: len(pairs)] if text is not None]
            text = ",".join(inputs) + (f"->{texts[-1]}" if len(args) % 2 else "")
            return ctx.call_prim(PRIMS[np.einsum], [text, *operands], kwargs, node)
    return ctx.call_prim(PRIMS[np.einsum], list(args), kwargs, node)


def _labels(items: list[Val] | None) -> str | None:
    """The letters for the numbers of axes; None if they are not known."""
    if items is None or not all(x is ... or (is_static_int(x) and 0 <= x < len(_LABELS)) for x in items):
        return None
    return "".join(["..." if x is ... else _LABELS[x] for x in items])


@lowers(np.vectorize.__call__)
def _vectorized(ctx: Ctx, self: Val, /, *args: Val, **kwargs: Val) -> Val:
    """A call of what ``np.vectorize`` has made outside of the function."""
    node = ctx.node
    if type(self) is not Obj:
        ctx.fail("this call of np.vectorize", node, "loop over the elements")
    fn, otypes = ctx.attribute(self, "pyfunc", node), ctx.attribute(self, "otypes", node)
    others = [ctx.attribute(self, name, node) for name in ("signature", "cache")]
    kinds = ctx.known_items(otypes, node) if type(otypes) in (Seq, ListRef) else otypes
    if any(others) or getattr(self.obj, "excluded", None) or not (kinds is None or len(kinds) == 1):
        ctx.fail("np.vectorize with excluded, cache, signature or several results", node, "loop over the elements")
    otypes = None if kinds is None else kinds[0]
    given = [fn, otypes, Seq(args), ctx.new_dict(kwargs)]
    return ctx.inline_function(Obj(mapped_elements), given, {}, node)
