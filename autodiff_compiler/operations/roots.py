"""The pullback of functions that have an infinite derivative where they are finite: roots, powers, ``arccos``.

Where the cotangent is zero as well the product is zero, if nothing speaks against it. ``exp(-r**2)`` with
``r = sqrt(s)`` has a cotangent of zero at ``r == 0``, and `s` does not move there: it is at its smallest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import runtime
from ..ir.core import Value, current, type_of
from ..ir.opset import ACCUM, ADD, DIV, MUL, NEG, SUB, apply
from ..ir.types import same_dtype
from . import lib
from .lib import SUBSCRIPTS, WEIGHTS, guarded
from .signs import POWERS, least_at_zero, not_negative, positive

Product = Callable[..., Any]
_SUMS = (ADD, SUB, ACCUM)
_FACTORS = (MUL.fn, np.multiply)


def quotient(
    g: Any, x: Any, args: tuple[Any, ...], plain: Product, numerator: Any, divisor: Product, safe: float = 0.5,
    root: Any = None,
) -> Any:  # fmt: skip
    """``plain(*args)``, which is ``g * numerator / divisor(*args)``, zero where `g` and the divisor are zero.

    `x`: what the function is applied to. `root`: the divisor, if it is the result of the function, a square root.
    """
    if type(g) is not Value and not lib.symbolic(*args):
        return plain(*args)  # of arrays it is not known what they were made of
    if _multiplies():
        return _finite(g, args, plain, numerator, divisor)
    if root is not None and positive(x):
        return plain(*args)
    if root is not None and not_negative(x):
        rest = without(g, root)
        if rest is not None:
            return lib.spread(rest * numerator, root)
        if least_at_zero(x):
            # As for a norm: a kink, at which the derivative is taken to be zero.
            return apply(runtime.over, g * numerator, root)
    if not _vanishes(g, x):
        return guarded(g, lambda *a: _finite(g, a, plain, numerator, divisor), args, WEIGHTS, safe)
    return guarded(g, lambda *a: apply(runtime.ratio, g * numerator, divisor(*a)), args, SUBSCRIPTS, safe)


def _finite(g: Any, args: tuple[Any, ...], plain: Product, numerator: Any, divisor: Product) -> Any:
    """The plain product, which does not raise for a number of Python's that the program has chosen."""
    d = divisor(*args) if lib.is_scalar(g, *args) and lib.chosen(*args) else None
    return plain(*args) if d is None or not lib.may_be_python(d) else apply(runtime.quotient, g * numerator, d)


def product(g: Any, x: Any, args: tuple[Any, ...], partial: Product, safe: float = 0.5) -> Any:
    """``g * partial(*args)``, zero where `g` is zero and the partial is not finite."""
    if type(g) is not Value and not lib.symbolic(*args):
        return lib.times(g, partial(*args))
    if _multiplies():
        return lib.times(g, partial(*args))
    if not _vanishes(g, x):
        return guarded(g, lambda *a: lib.times(g, partial(*a)), args, WEIGHTS, safe)
    return guarded(g, lambda *a: apply(runtime.product, g, partial(*a)), args, SUBSCRIPTS, safe)


def over(g: Any, d: Any) -> Any:
    """``g / d``, zero where `d` is."""
    return lib.call(runtime.over, g, d)


def decays(g: Any, out: Any) -> bool:
    """The cotangent `g` of a quotient goes to zero faster than its derivative to infinity: see `transforms.zeros`."""
    cotangents = current().cotangents if type(g) is Value and type(out) is Value else None
    return cotangents is not None and bool(cotangents.decays(g, out))


def _multiplies() -> bool:
    """A cotangent of zero times an infinite partial is nan."""
    cotangents = current().cotangents
    return cotangents is not None and cotangents.masks is None


def _vanishes(g: Any, x: Any) -> bool:
    cotangents = current().cotangents
    return cotangents is not None and bool(cotangents.vanishes(g, x))


def without(g: Any, y: Value, depth: int = 8) -> Any:
    """What the cotangent `g` is a multiple of `y` by, or None: ``2 * c`` for ``c * (2 * y)``."""
    op = g.op if type(g) is Value else None
    if g is y:
        return 1.0
    if op is None or not depth or not _alike(g, y):
        return None
    prim, args, less = op.prim, op.args, depth - 1
    if prim is NEG:
        rest = without(args[0], y, less)
        return None if rest is None else -rest
    if prim is DIV:
        rest = without(args[0], y, less)
        return None if rest is None else rest / args[1]
    if prim in _SUMS:
        rests = [without(a, y, less) for a in args]
        # (What is added to an array of the adjoint may be added to a number here.)
        return None if None in rests else current().emit(ADD if prim is ACCUM else prim, *rests)
    if prim.fn in _FACTORS:
        for a, b in (args, args[::-1]):
            rest = without(a, y, less)
            if rest is not None:
                return rest * b
    if prim.fn is np.square and args[0] is y:
        return y
    if prim.fn in POWERS and args[0] is y and type(args[1]) in (int, float) and args[1] >= 1:
        n = args[1]
        return 1.0 if n == 1 else y if n == 2 else current().emit(prim, y, n - 1)
    return None


def unsigned(g: Any, x: Value, size: Value, depth: int = 8) -> Any:
    """``g * sign(x)`` for a multiple `g` of the real `x`, with `size` for ``x * sign(x)``, or None: ``c * (size / d)``
    for ``c * (x / d)``."""
    op = g.op if type(g) is Value else None
    if g is x:
        return size
    if op is None or not depth or not _alike(g, x):
        return None
    args = op.args
    if op.prim in (NEG, DIV):
        new = unsigned(args[0], x, size, depth - 1)
        return None if new is None else current().emit(op.prim, new, *args[1:])
    if op.prim.fn in _FACTORS:
        for a, b in (args, args[::-1]):
            new = unsigned(a, x, size, depth - 1)
            if new is not None:
                return b * new
    return None


def _alike(g: Value, y: Value) -> bool:
    """They have one dtype and, if that of `y` is known, one shape."""
    have, want = type_of(g).dims, type_of(y).dims
    if have is None or want is None or len(have) != len(want) or not same_dtype(g.type.dtype, y.type.dtype):
        return False
    return all(map(current().dims.same, have, want))
