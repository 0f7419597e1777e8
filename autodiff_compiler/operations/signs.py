"""What is known of the sign of a value from the operations that made it."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..ir.core import LOOP, Op, Value
from ..ir.numpy_ops import SELECT
from ..ir.ops_linalg import EINSUM
from ..ir.opset import ADD, CAST, DIM, DIV, GET, MUL, NEG, PRIMS, SIZE, SPREAD, SUB, ZEROS

_MAX, _SQUARE, _VARIANCE = PRIMS[np.max], PRIMS[np.square], PRIMS[np.var]
_SIZES = tuple(PRIMS[f] for f in (np.absolute, abs, np.fabs, math.fabs, np.std, np.linalg.norm, np.var))
_ROOTS = tuple(PRIMS[f] for f in (np.hypot, math.hypot, np.exp, math.exp, np.exp2))
_AT_LEAST_ONE = tuple(PRIMS[f] for f in (np.cosh, math.cosh))
POWERS = tuple(PRIMS[f] for f in (operator.pow, np.power, np.float_power, math.pow))
_ADDED = (ADD, PRIMS[np.add])
_PRODUCTS = (MUL, PRIMS[np.multiply])
_QUOTIENTS = (DIV, PRIMS[np.true_divide])
_SCALED = _PRODUCTS + _QUOTIENTS
_INNER = tuple(PRIMS[f] for f in (np.dot, np.inner, operator.matmul, np.matmul, np.vdot))
_TAME_ROOTS = tuple(PRIMS[f] for f in (np.sqrt, math.sqrt, np.cbrt))
# Of what is positive they make what is positive; and the same, with zeros among it.
_KEEPERS = (
    GET, CAST, SPREAD,
    *(PRIMS[f] for f in (
        np.sum, np.add.reduce, np.mean, sum, np.cumsum, np.max, np.min, np.reshape, np.ravel, np.transpose, np.swapaxes,
        np.moveaxis, np.squeeze, np.expand_dims, np.broadcast_to, np.diagonal, np.repeat, np.take, np.flip, float,
    )),
)  # fmt: skip
_FILLERS = tuple(PRIMS[f] for f in (np.diag, np.triu, np.tril, np.prod))
_ZEROS = (ZEROS, PRIMS[np.zeros], PRIMS[np.zeros_like])
_LARGER, _SMALLER = (PRIMS[np.maximum], PRIMS[np.fmax]), (PRIMS[np.minimum], PRIMS[np.fmin])
_CHOICES = (PRIMS[np.where], SELECT)
DEPTH = 12


def below_zero(x: Any) -> bool:
    """The number is not positive: ``-(a * a)``, ``-abs(a)``, ``a - max(a)``."""
    op = x.op if type(x) is Value else None
    if op is None:
        return False
    args = op.args
    if op.prim is NEG:
        return not_negative(args[0])
    if op.prim is MUL and below_zero(args[1]):
        return not_negative(args[0])
    if op.prim in (MUL, DIV):
        return below_zero(args[0]) and not_negative(args[1])
    if op.prim is SUB and type(args[1]) is Value and args[1].op is not None:
        return args[1].op.prim is _MAX and args[1].op.args[0] is args[0]
    return False


def not_negative(x: Any) -> bool:
    """The real number is zero or more, or nan, whatever the arguments are."""
    return _holds(x, False)


def least_at_zero(x: Any) -> bool:
    """The same, and where it is zero its derivative is zero, too: a sum of squares."""
    return _holds(x, True)


def _holds(x: Any, least: bool, depth: int = DEPTH, given: frozenset[Value] = frozenset()) -> bool:
    """One of these; `given`: what is known to be so."""
    if type(x) is not Value:
        return type(x) in (int, float) and bool(x >= 0)
    op = x.op
    if x in given:
        return True
    if op is None or not depth or (x.type.dtype is not None and x.type.dtype.kind == "c"):
        return False

    def all_hold(*args: Any) -> bool:
        return all(_holds(a, least, depth - 1, given) for a in args)

    prim, args = op.prim, op.args
    if prim in _SIZES or prim in _ROOTS:
        return not least or prim is _VARIANCE
    if prim in _AT_LEAST_ONE:
        return True
    if prim is _SQUARE or (prim in (*_PRODUCTS, *_INNER) and args[0] is args[1]):
        return _real(args[0]) and (prim not in _INNER or args[0].type.ndim == 1)
    if prim in _PRODUCTS or prim in _ADDED or prim in _SMALLER:
        return all_hold(*args)
    if prim in _QUOTIENTS:
        return all_hold(args[0]) and _holds(args[1], False, depth - 1, given)
    if prim in POWERS:
        known = type(args[1]) in (int, float)
        even = known and args[1] % 2 == 0 and (args[1] >= 2 or not least)
        return (even and _real(args[0])) or (all_hold(args[0]) and (not least or (known and args[1] >= 1)))
    if prim is EINSUM:
        return _is_square(args) or (isinstance(args[0], str) and all_hold(*args[1:]))
    if prim in _LARGER:
        return all_hold(*args) or (not least and any(map(all_hold, args)))
    if prim in _ZEROS:
        return True
    if prim in _CHOICES and len(args) == 3:
        return all_hold(*args[1:])
    if prim is LOOP:
        return _stays(op, op.results.index(x), least, depth - 1, given)
    return (
        (prim in _KEEPERS or prim in _FILLERS or (prim in _TAME_ROOTS and not least))
        and not op.kwargs.get("initial")
        and all_hold(args[0])
    )


def _stays(op: Op, k: int, least: bool, depth: int, given: frozenset[Value]) -> bool:
    """It holds of what a loop carries: at first, and after a trip if before."""
    (body,) = op.regions
    if k >= len(op.args[1]) or not _holds(op.args[1][k], least, depth, given):
        return False
    return _holds(body.exit[1 + k], least, depth, given | {body.params[1 + k]})


def positive(x: Any, depth: int = DEPTH) -> bool:
    """The real number is more than zero, by an amount that rounding does not lose, or nan."""
    if type(x) is not Value:
        return type(x) in (int, float) and bool(x > 0)
    op = x.op
    if op is None or not depth:
        return False
    prim, args, less = op.prim, op.args, depth - 1
    if prim in _AT_LEAST_ONE:
        return True
    if prim in _ADDED:
        return any(positive(p, less) and not_negative(q) for p, q in (args, args[::-1]))
    if prim in _PRODUCTS:
        return any(positive(p, less) and type(q) in (int, float) and q > 0 for p, q in (args, args[::-1]))
    if prim in _QUOTIENTS:
        return positive(args[0], less) and type(args[1]) in (int, float) and args[1] > 0
    if prim in _LARGER:
        return positive(args[0], less) or positive(args[1], less)
    return (prim in _KEEPERS or prim in _TAME_ROOTS) and not op.kwargs.get("initial") and positive(args[0], less)


def never_zero(g: Any, depth: int = DEPTH) -> bool:
    """A cotangent that is not zero, but where a mask has made it so."""
    if type(g) is not Value:
        return type(g) in (int, float) and g != 0
    op = g.op
    if op is None or not depth:
        return False
    prim, args, less = op.prim, op.args, depth - 1
    if prim in _SCALED:
        return all(never_zero(a, less) or (type(a) is Value and _is_count(a)) for a in args)
    if prim is NEG or prim is SPREAD or prim is CAST:
        return never_zero(args[0], less)
    if prim is PRIMS[np.where] and len(args) == 3:
        return all(never_zero(a, less) or (type(a) is float and a == 0) for a in args[1:])
    return positive(g, less)


def _real(x: Any) -> bool:
    dtype = x.type.dtype if type(x) is Value else None
    return dtype is not None and dtype.kind in "biuf"


def _is_count(x: Value) -> bool:
    """A mask, or a number of elements."""
    return x.type.dtype == np.dtype(bool) or (x.op is not None and x.op.prim in (DIM, SIZE))


def _is_square(args: tuple[Any, ...]) -> bool:
    """The einsum is a sum of squares."""
    if len(args) != 3 or not isinstance(args[0], str) or args[1] is not args[2] or not _real(args[1]):
        return False
    first, _, second = args[0].replace(" ", "").partition("->")[0].partition(",")
    return first == second
