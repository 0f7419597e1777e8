"""What the records of `scipy.special` share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from ...ir.core import Builder
from ...ir.infer import infer_ufunc
from ...ir.types import ANY
from ..record import Refused, jvp, op, prims_of, vjp

Rule = Callable[..., Any]


def several(fn: Any, argument: int, *partials: Rule | None) -> None:
    """Declare the derivative of a ufunc with several results by one argument: ``partial(out, *args)`` for each result.
    None says that it is zero."""
    (prim,) = prims_of(fn, make=True)
    name = prim.params[argument]

    @vjp(fn, name)
    def pullback(g: Any, out: Any, *args: Any) -> Any:
        total: Any = None
        for part, partial in zip(g, partials):
            if part is not None and partial is not None:
                term = part * partial(out, *args)
                total = term if total is None else total + term
        return total

    @jvp(fn, name)
    def tangent(d: Any, out: Any, *args: Any) -> Any:
        return tuple([None if partial is None else d * partial(out, *args) for partial in partials])


def whole(name: str, what: str) -> Refused:
    """The refusal for a parameter that has to be a whole number."""
    return Refused(
        f"scipy.special.{name} has no derivative with respect to its {what}, which is a whole number",
        "pass a value there that does not depend on what is differentiated",
    )


def without(name: str, what: str) -> Refused:
    """The refusal for a parameter by which no derivative is known."""
    return Refused(
        f"the derivative of scipy.special.{name} with respect to its {what} is not known to the compiler",
        "pass a value there that does not depend on what is differentiated",
    )


def plain(x: Any) -> Any:
    """A number that a function of NumPy's or SciPy's has made of constants, as Python's: so float32 stays float32."""
    return float(x) if type(x) is np.float64 else x


def has(name: str) -> bool:
    """This version of SciPy has the function."""
    return hasattr(special, name)


def typed_like(ufunc: Any) -> Callable[..., Any]:
    """Inference for a function that calls this ufunc on its arguments, which may make 0-d arrays of numbers."""
    infer = infer_ufunc(ufunc)

    def of(b: Builder, *args: Any) -> Any:
        t = infer(b, args, {})
        return t if t.kind == "array" else ANY

    return of


# Ufuncs of one, two, three and four real numbers, for the types of kernels.
_LIKE = (special.erfinv, special.agm, special.betainc, special.elliprj)


def kernel(fn: Any, operands: str, constants: str = "", like: Any = None) -> None:
    """Enter an elementwise kernel: its operands, the constants before them, and a ufunc that has its types if they are
    not those of a function of real numbers."""
    fixed, names = constants.split(), operands.split()
    infer = infer_ufunc(like or _LIKE[len(names) - 1])
    params = ", ".join([*fixed, *[f"{name}: array" for name in names]])
    op(fn, params, type=lambda b, *args: infer(b, args[len(fixed) :], {}), elementwise=True, total="known")
