"""What is known of the sign of a value from the operations that made it."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from .. import runtime
from ..ir.core import LOOP, Op, Value
from ..ir.opset import CAST, DIM, GET, NEG, SIZE, SPREAD, ZEROS

# Operations are named by the callable that they are the record of.
_SIZES = (np.absolute, abs, np.fabs, math.fabs, np.std, np.linalg.norm, np.var)
_ROOTS = (np.hypot, math.hypot, np.exp, math.exp, np.exp2)
_AT_LEAST_ONE = (np.cosh, math.cosh)
POWERS = (operator.pow, np.power, np.float_power, math.pow)
_ADDED = (operator.add, np.add)
_DIFFERENCES = (operator.sub, np.subtract)
_SUMS = (GET.fn, CAST.fn, SPREAD.fn, np.sum, np.add.reduce, np.mean, np.max, np.min, np.reshape, float)
_PRODUCTS = (operator.mul, np.multiply)
_QUOTIENTS = (operator.truediv, np.true_divide)
_SCALED = _PRODUCTS + _QUOTIENTS
_INNER = (np.dot, np.inner, operator.matmul, np.matmul, np.vdot)
_TAME_ROOTS = (np.sqrt, math.sqrt, np.cbrt)
# They keep positive numbers positive; the fillers add zeros to them.
_KEEPERS = (
    GET.fn, CAST.fn, SPREAD.fn, np.sum, np.add.reduce, np.mean, sum, np.cumsum, np.max, np.min, np.reshape, np.ravel,
    np.transpose, np.swapaxes, np.moveaxis, np.squeeze, np.expand_dims, np.broadcast_to, np.diagonal, np.repeat,
    np.take, np.flip, float,
)  # fmt: skip
_FILLERS = (np.diag, np.triu, np.tril, np.prod)
_ZEROS = (ZEROS.fn, np.zeros, np.zeros_like)
_LARGER, _SMALLER = (np.maximum, np.fmax), (np.minimum, np.fmin)
_CHOICES = (np.where, runtime.select)
DEPTH = 12


def below_zero(x: Any, depth: int = DEPTH) -> bool:
    """The real number is not positive, or nan: ``-(a * a)``, ``-0.5 * d**2 / w**2``, ``a - max(a)``."""
    if type(x) is not Value:
        return type(x) in (int, float) and bool(x <= 0)
    op = x.op
    if op is None or not depth or (x.type.dtype is not None and x.type.dtype.kind == "c"):
        return False
    fn, args, less = op.prim.fn, op.args, depth - 1
    if op.prim is NEG:
        return not_negative(args[0])
    if fn in _PRODUCTS:
        return any(below_zero(p, less) and not_negative(q) for p, q in (args, args[::-1]))
    if fn in _INNER:
        return any(type(p) is Value and p.op is not None and p.op.prim is NEG and p.op.args[0] is q and _real(q)
                   and q.type.ndim == 1 for p, q in (args, args[::-1]))  # fmt: skip
    if fn in _QUOTIENTS:
        return (below_zero(args[0], less) and not_negative(args[1])) or (
            not_negative(args[0]) and below_zero(args[1], less)
        )
    if fn in _ADDED:
        return below_zero(args[0], less) and below_zero(args[1], less)
    if fn in _DIFFERENCES:
        return (below_zero(args[0], less) and not_negative(args[1])) or _is_maximum(args[1], args[0])
    return fn in _SUMS and not op.kwargs.get("initial") and below_zero(args[0], less)


def _is_maximum(top: Any, x: Any) -> bool:
    """The largest element of `x`, or the largest along an axis, beside the elements that it was taken of."""
    op = top.op if type(top) is Value else None
    if op is None or type(x) is not Value:
        return False
    added: Any = None
    if op.prim is GET and len(op.args[1]) == 1 and op.args[1][0][0] == "index" and type(op.args[0]) is Value:
        added, op = op.args[1][0][1], op.args[0].op
    if op is None or op.prim.fn is not np.max or op.args[0] is not x or op.kwargs.keys() - {"axis", "keepdims"}:
        return False
    axis, keep = op.kwargs.get("axis"), op.kwargs.get("keepdims", False)
    if added is None:
        return axis is None or keep is True
    items = [*added, *[slice(None)] * ((x.type.ndim or 0) - len(added))]
    whole = all(item is None or (type(item) is slice and item == slice(None)) for item in items)
    return (
        type(axis) is int and keep is False and x.type.ndim is not None and whole and len(items) == x.type.ndim
        and [k for k, item in enumerate(items) if item is None] == [axis % x.type.ndim]
    )  # fmt: skip


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
    if op is None:
        return _counts_from(x) >= 0
    if not depth or (x.type.dtype is not None and x.type.dtype.kind == "c"):
        return False

    def all_hold(*args: Any) -> bool:
        return all(_holds(a, least, depth - 1, given) for a in args)

    fn, args = op.prim.fn, op.args
    if fn in _SIZES or fn in _ROOTS:
        return not least or fn is np.var
    if fn in _AT_LEAST_ONE:
        return True
    if fn is np.square or (fn in (*_PRODUCTS, *_INNER) and args[0] is args[1]):
        return _real(args[0]) and (fn not in _INNER or args[0].type.ndim == 1)
    if fn in _PRODUCTS or fn in _ADDED or fn in _SMALLER:
        return all_hold(*args)
    if fn in _QUOTIENTS:
        return all_hold(args[0]) and _holds(args[1], False, depth - 1, given)
    if fn in POWERS:
        known = type(args[1]) in (int, float)
        even = known and args[1] % 2 == 0 and (args[1] >= 2 or not least)
        return (even and _real(args[0])) or (all_hold(args[0]) and (not least or (known and args[1] >= 1)))
    if fn is np.einsum:
        return _is_square(args) or (isinstance(args[0], str) and all_hold(*args[1:]))
    if fn in _LARGER:
        return all_hold(*args) or (not least and any(map(all_hold, args)))
    if fn in _ZEROS:
        return True
    if fn in _CHOICES and len(args) == 3:
        return all_hold(*args[1:])
    if op.prim is LOOP:
        return _stays(op, op.results.index(x), least, depth - 1, given)
    return (
        (fn in _KEEPERS or fn in _FILLERS or (fn in _TAME_ROOTS and not least))
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
        return op is None and _counts_from(x) > 0
    fn, args, less = op.prim.fn, op.args, depth - 1
    if fn in _AT_LEAST_ONE:
        return True
    if fn in _ADDED:
        return any(positive(p, less) and not_negative(q) for p, q in (args, args[::-1]))
    if fn in _PRODUCTS:
        return any(positive(p, less) and type(q) in (int, float) and q > 0 for p, q in (args, args[::-1]))
    if fn in _QUOTIENTS:
        return positive(args[0], less) and type(args[1]) in (int, float) and args[1] > 0
    if fn in _LARGER:
        return positive(args[0], less) or positive(args[1], less)
    return (fn in _KEEPERS or fn in _TAME_ROOTS) and not op.kwargs.get("initial") and positive(args[0], less)


def _counts_from(x: Value) -> int:
    """The least value of a variable that counts up from a number that the program has, or down to one, else -1."""
    region = x.region
    if region is None or region.params[0] is not x:
        return -1
    counted = region.op.range if region.op is not None else region.range
    if counted is None or type(counted[2]) is not int:
        return -1
    start, stop, step = counted[:3]
    least = start if step > 0 else stop + 1 if type(stop) is int else None
    return least if type(least) is int else -1


def never_zero(g: Any, depth: int = DEPTH) -> bool:
    """A cotangent that is not zero, but where a mask has made it so."""
    if type(g) is not Value:
        return type(g) in (int, float) and g != 0
    op = g.op
    if op is None or not depth:
        return False
    fn, args, less = op.prim.fn, op.args, depth - 1
    if fn in _SCALED:
        return all(never_zero(a, less) or (type(a) is Value and _is_count(a)) for a in args)
    if op.prim in (NEG, SPREAD, CAST):
        return never_zero(args[0], less)
    if fn is np.where and len(args) == 3:
        return all(never_zero(a, less) or (type(a) is float and a == 0) for a in args[1:])
    return positive(g, less)


def _real(x: Any) -> bool:
    return type(x) is Value and x.type.is_real


def _is_count(x: Value) -> bool:
    """A mask, or a number of elements."""
    return x.type.dtype == np.dtype(bool) or (x.op is not None and x.op.prim in (DIM, SIZE))


def _is_square(args: tuple[Any, ...]) -> bool:
    """The einsum is a sum of squares."""
    if len(args) != 3 or not isinstance(args[0], str) or args[1] is not args[2] or not _real(args[1]):
        return False
    first, _, second = args[0].replace(" ", "").partition("->")[0].partition(",")
    return first == second
