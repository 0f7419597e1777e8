"""Functions without a source, whose derivatives are difference quotients because the user says so."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, overload

from .. import runtime
from ..errors import ArgumentError
from ..ir.core import RULES_OF_USERS, Builder, Prim, type_of
from ..ir.opset import PRIMS, apply
from ..ir.types import ANY, Ty, array
from ..kernels.differences import Black
from . import lib
from .lib import call, symbolic
from .record import jvp, op, vjp

F = TypeVar("F", bound=Callable[..., Any])


@overload
def numerical(fun: F) -> F: ...
@overload
def numerical(*, method: str = "central", step: float | None = None) -> Callable[[F], F]: ...
def numerical(fun: Any = None, *, method: str = "central", step: float | None = None) -> Any:
    """Have derivatives of `fun` computed from its values. For a function that has no source and no rule.

    fun:    takes numbers and arrays of real floating numbers, and gives a number or an array; it has no effects. All
        its positional arguments can be differentiated by, those by keyword cannot.
    method: "central" (differences of fourth order) or "complex" (`fun` has to take complex numbers and be analytic)
    step:   the length of a step, relative to elements larger than 1. By default 7.4e-4 and 1e-30.

    A gradient calls `fun` four times for each element of an argument (once, by "complex"); a tangent calls it four
    times. For a function that is smooth on the scale of the step, "central" is right to about ten digits, and to what
    the values of `fun` allow: noise of 1e-8 in them leaves about five digits. "complex" is right to rounding. Near
    kinks, jumps and poles both are wrong. There is no second derivative. Prefer a rule of your own (`vjp_rule`), where
    there is a formula.

    Works as a function and as a decorator. Raises ArgumentError for an unknown method.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> measured = ad.numerical(lambda x: float(x) ** 3)
    >>> round(float(ad.grad(lambda x: measured(x) * 2.0)(1.5)), 8)
    13.5
    """
    if fun is None:
        return functools.partial(numerical, method=method, step=step)
    if method not in ("central", "complex"):
        raise ArgumentError(f"numerical: the method is 'central' or 'complex', not {method!r}")
    black = Black(fun, method, step)
    prim = Prim(getattr(fun, "__name__", "numerical"), fun, params=("*args",), alias="maybe")
    RULES_OF_USERS.append(str(getattr(fun, "__module__", "")))  # see there: such code is not kept on disk

    @functools.wraps(fun, updated=())
    def operation(*args: Any, **kwargs: Any) -> Any:
        return apply(operation, *args, **kwargs) if symbolic(args, kwargs) else fun(*args, **kwargs)

    PRIMS[operation] = prim

    @vjp(prim, "*args")
    def _by_values(g: Any, out: Any, *args: Any, **kwargs: Any) -> Any:
        named = tuple(kwargs.items())
        return tuple(
            [
                call(runtime.difference_pullback, black, k, named, g, *args) if type_of(x).may_be_float else None
                for k, x in enumerate(args)
            ]
        )

    @jvp(prim, "*args")
    def _along(d: Any, out: Any, *args: Any, **kwargs: Any) -> Any:
        named = tuple(kwargs.items())
        parts = [
            call(runtime.difference_pushforward, black, k, named, x, *args) for k, x in enumerate(d) if x is not None
        ]
        return functools.reduce(lambda a, b: a + b, parts) if parts else None

    return operation


def nondifferentiable(fun: F) -> F:
    """Declare that the derivative of `fun` is zero, and have it called as it is: its source is not followed.

    fun: takes and gives whatever it does, and may have effects; it must not write to its arguments. In emitted code it
        is called once for each evaluation, in order. What it returns is a constant, in all modes and on a tape.

    Works as a function and as a decorator. Use it for helpers that count, look up, round or print. For one that the
    compiler can follow, `stop_gradient` of its result does the same, and emitted code is faster.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> @ad.nondifferentiable
    ... def nearest(x):
    ...     return float(str(round(x)))
    >>> ad.grad(lambda x: x * nearest(x))(2.4)
    2.0
    """
    prim = Prim(
        getattr(fun, "__name__", "nondifferentiable"), fun, params=("*args",), alias="maybe", nondiff=True, effects=True
    )  # fmt: skip
    RULES_OF_USERS.append(str(getattr(fun, "__module__", "")))

    @functools.wraps(fun, updated=())
    def operation(*args: Any, **kwargs: Any) -> Any:
        if symbolic(args, kwargs):
            return apply(operation, *args, **kwargs)
        for on_tape in CONSTANT_ON_TAPE:
            found = on_tape(fun, args, kwargs)
            if found is not NotImplemented:
                return found
        return fun(*args, **kwargs)

    PRIMS[operation] = prim
    return operation  # type: ignore[return-value]


# What is asked of a call of such a function first: the tape, once it is imported.
CONSTANT_ON_TAPE: list[Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]] = []


def _like(b: Builder, black: Any, k: int, kwargs: Any, g: Any, *args: Any) -> Ty:
    t = type_of(args[k])
    return ANY if t.dims is None else array(t.dtype, t.dims) if t.dims else Ty("any", t.dtype, ())


op(runtime.difference_pullback, "black, k, kwargs, g, *args", type=_like)
op(runtime.difference_pushforward, "black, k, kwargs, d, *args")


def _no_second(g: Any, out: Any, *args: Any, **kwargs: Any) -> Any:
    raise lib.unsupported("a second derivative through ad.numerical", "write a rule for the function: docs/rules.md")


for _fn, _first in ((runtime.difference_pullback, "g"), (runtime.difference_pushforward, "d")):
    vjp(_fn, _first)(_no_second)
    vjp(_fn, "*args")(_no_second)
