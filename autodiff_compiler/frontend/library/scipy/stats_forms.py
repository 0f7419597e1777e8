"""What is known of a distribution: its functions in standard form, and how the table is asked for them.

The standard form has location 0 and scale 1. `stats_methods` makes the methods of a distribution from it, so that an
entry says only what is particular to the distribution. Formulas are SciPy's in accuracy: where it has one for a tail,
so has the entry.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from ....ir.core import Prim
from ....ir.opset import gives
from ....ir.types import ANY
from ...avals import Obj
from ...definitions import are_definitions, constant
from ...handlers import Ctx, Val, lowers

Formula = Callable[..., Any]
INF = float("inf")


@dataclasses.dataclass(frozen=True)
class Form:
    """The standard form of a distribution. Formulas take a point and the shapes, or the shapes alone."""

    name: str
    shapes: tuple[str, ...] = ()
    # Where the distribution is defined: a condition on the shapes. Without one, all shapes are positive.
    valid: Formula | None = None
    # The ends of the support: numbers, or functions of the shapes. `inside` is a point between them.
    low: Any = -INF
    high: Any = INF
    inside: Any = 1.0
    # The density is that of SciPy at the ends of the support, too.
    closed: bool = True
    # The formulas that give what SciPy gives everywhere: beyond the support, or for probabilities beyond [0, 1].
    natural: tuple[str, ...] = ()
    pdf: Formula | None = None
    logpdf: Formula | None = None
    pmf: Formula | None = None
    logpmf: Formula | None = None
    cdf: Formula | None = None
    logcdf: Formula | None = None
    sf: Formula | None = None
    logsf: Formula | None = None
    ppf: Formula | None = None
    isf: Formula | None = None
    entropy: Formula | None = None
    mean: Formula | None = None
    var: Formula | None = None


# A frozen distribution holds a copy of it, so that a distribution is known by its class and its support.
FORMS: dict[tuple[type, Any, Any], Form] = {}


def distribution(dist: Any, **parts: Any) -> None:
    """Enter the standard form of a distribution."""
    are_definitions(parts.values())
    FORMS[type(dist), dist.a, dist.b] = Form(dist.name, **parts)


def form(dist: Any, part: str) -> Any:
    """In a definition: a part of a distribution's standard form. None if there is none, or the distribution is not
    known."""
    found = FORMS.get((type(dist), getattr(dist, "a", None), getattr(dist, "b", None)))
    return None if found is None else getattr(found, part)


@lowers(form)
def _form(ctx: Ctx, dist: Val, part: Val) -> Val:
    if type(dist) is not Obj:
        return None
    if dist.path is not None:
        for name in ("a", "b"):
            if type(getattr(dist.obj, name, None)) in (int, float, np.float64):
                ctx.inputs.guard((*dist.path, ("attr", name)), "eq", getattr(dist.obj, name))
    return constant(form(dist.obj, part))


# From which formulas SciPy makes what it has no formula for.
_MADE_FROM = {
    "pdf": ("logpdf",),
    "logpdf": ("pdf",),
    "pmf": ("logpmf",),
    "cdf": ("logcdf",),
    "sf": ("logsf", "cdf"),
    "logcdf": ("cdf",),
    "logsf": ("cdf",),
    "isf": ("ppf",),
}


def says(dist: Any, method: str) -> bool:
    """In a definition: the table says what the method computes."""
    return any(form(dist, name) is not None for name in (method, *_MADE_FROM.get(method, ())))


@lowers(says)
def _says(ctx: Ctx, dist: Val, method: Val) -> bool:
    return type(dist) is Obj and says(dist.obj, method)


def unknown(dist: Any, method: str, *args: Any, **kwargs: Any) -> Any:
    """In a definition: the call of a method of which the table says nothing. It has a value, and no derivative."""
    return getattr(dist, method)(*args, **kwargs)


@lowers(unknown)
def _unknown(ctx: Ctx, dist: Val, method: Val, /, *args: Val, **kwargs: Val) -> Val:
    name = f"scipy.stats.{dist.obj.name}.{method}"
    bound = getattr(ctx.pinned(dist), method)
    if not type(dist.obj).__module__.startswith("scipy."):
        return ctx.call_unknown(bound, list(args), kwargs, ctx.node, name)
    # SciPy's distributions keep nothing of what they are called with.
    prim = Prim(name, bound, infer=gives(ANY), params=("*args",), alias="maybe", effects=True)
    operands = [ctx.plain(a, ctx.node) for a in args]
    keywords = {k: ctx.plain(a, ctx.node) for k, a in kwargs.items()}
    return ctx.linked(ctx.emit(ctx.node, prim, *operands, **keywords), [*args, *kwargs.values()], numpy=False)


def computed(formula: Formula, value: Any) -> Any:
    """In a definition: the function of a number. If the number is known, so is the result."""
    return formula(value)


@lowers(computed)
def _computed(ctx: Ctx, formula: Val, value: Val) -> Val:
    if type(value) in (int, float, np.float64):
        with np.errstate(all="ignore"):
            return float(formula.obj(value))
    return ctx.call(formula, [value], {}, ctx.node)


__all__ = ["FORMS", "Form", "computed", "distribution", "form", "says", "unknown"]
