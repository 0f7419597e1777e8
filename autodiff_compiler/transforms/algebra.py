"""Peepholes: rewrites that are applied while an operation is built.

Takes the operands of an operation. Gives the value to use in its place, or NotImplemented. A rewrite proves that value,
dtype and shape stay the same, or it does not fire. So the adjoint never contains ``1.0 * g``, a broadcast that the next
operation does anyway, or a sum over axes that were not broadcast.

>>> from autodiff_compiler.ir.core import Builder, Region
>>> from autodiff_compiler.ir.types import array
>>> b = install(Builder(Region()))
>>> x = b.region.param(array(float, (b.dims.fresh(),)), "x")
>>> b.emit(MUL, 1.0, x) is x
True
>>> b.emit(NEG, b.emit(NEG, x)) is x
True
>>> b.emit(SUM_TO, x, x) is x
True
>>> g = b.emit(MUL, b.emit(MUL, x, 2.0), 3.0)
>>> [op.prim.name for op in b.region.ops], g.op.args[1]
(['-', '*', '*'], 3.0)
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir import opset
from ..ir.core import Builder, Op, Prim, Value, structural_key, type_of
from ..ir.opset import ACCUM, ADD, ADDAT, CAST, DIM, DIV, GET, MUL, NEG, PRIMS, SET, SIZE, SPREAD, SUB, SUM_TO, ZEROS
from ..ir.types import Ty, same_dtype
from ..late import late
from ..operations.choices import OVER
from ..operations.linalg import DOT
from ..operations.reductions import SUM
from .conjugates import conjugate_twice, of_both_parts

if TYPE_CHECKING:
    from .quotients import normalised, saturated
else:
    normalised, saturated = late(__package__, "quotients", "normalised", "saturated")


def _is_number(x: Any, value: float) -> bool:
    return type(x) in (int, float) and x == value


def _float_like(x: Any) -> bool:
    return type(x) is Value and x.type.is_float


def _python_int(x: Any) -> bool:
    return type(x) is Value and x.type.kind == "py" and x.type.dtype is not None and x.type.dtype.kind == "i"


def _is_double(x: Any) -> bool:
    """A number to which a float may be added without a change of its dtype."""
    return type(x) is Value and x.type.is_scalar and x.type.dtype in (np.float64, np.complex128)


def _negated(x: Any) -> Any:
    """The operand of a negation of floats, or None."""
    return x.op.args[0] if type(x) is Value and x.op is not None and x.op.prim is NEG and _float_like(x) else None


def _is_made_by(x: Any, prim: Prim) -> bool:
    return type(x) is Value and x.op is not None and x.op.prim is prim


def _float_literal(b: Builder, x: Any, other: Any) -> Any:
    """In adjoints, an int next to a float array is written as a float: the same number, and NumPy is faster with it."""
    if type(x) is int and b.tag is not None and type(other) is Value and abs(x) < 1 << 53:
        if other.type.is_float and other.type.kind in ("array", "generic"):
            return float(x)
    return x


def _mul(b: Builder, x: Any, y: Any) -> Any:
    if type(x) is int and _float_literal(b, x, y) is not x:
        return b.emit(MUL, float(x), y)
    if type(y) is int and _float_literal(b, y, x) is not y:
        return b.emit(MUL, x, float(y))
    if type(x) is not Value and type(y) is not Value:
        return x * y
    minus_x, minus_y = _negated(x), _negated(y)
    if type(x) is not Value or type(y) is not Value:
        for one, other in ((x, y), (y, x)):
            if _is_number(one, 1) and (_float_like(other) or (type(one) is int and _python_int(other))):
                return other
            if _is_number(one, -1) and _float_like(other):
                return b.emit(NEG, other)
        if _literal(x) and minus_y is not None:
            return b.emit(MUL, -x, minus_y)
        if _literal(y) and minus_x is not None:
            return b.emit(MUL, minus_x, -y)
    # Signs go outwards, where they meet and cancel.
    elif minus_x is not None and minus_y is not None:
        return b.emit(MUL, minus_x, minus_y)
    elif minus_x is not None and b.tag is not None:
        return b.emit(NEG, b.emit(MUL, minus_x, y))
    elif minus_y is not None and b.tag is not None:
        return b.emit(NEG, b.emit(MUL, x, minus_y))
    if b.tag is not None:
        for a, other in ((x, y), (y, x)):
            quotient = _literal_quotient(other)
            if quotient is not None and _literal(a) and abs(a * quotient[0]) < 1e30:
                return b.emit(DIV, a * quotient[0], quotient[1])
        regrouped = _regroup(b, x, y)
        if regrouped is NotImplemented and (_is_made_by(x, ACCUM) or _is_made_by(y, ACCUM)):
            regrouped = normalised(b, x, y)
        if regrouped is not NotImplemented:
            return regrouped
    return _binary_spread(b, MUL, x, y)


def _regroup(b: Builder, x: Any, y: Any) -> Any:
    """``a * (b * X)`` as ``(a * b) * X`` for numbers a, b: one pass over the array instead of two. For adjoints
    only."""
    for a, other in ((x, y), (y, x)):
        if not type_of(a).is_scalar or type(other) is not Value or other.op is None:
            continue
        if other.op.prim is ADD and other.op.args[0] is other.op.args[1] and _literal(a):
            return b.emit(MUL, 2.0 * a, other.op.args[0])
        if other.op.prim is not MUL:
            continue
        for n, rest in (other.op.args, other.op.args[::-1]):
            quotient = n.op if _literal(a) and type(n) is Value and n.type.is_scalar and n.op is not None else None
            if quotient is not None and quotient.prim in (DIV, OVER) and quotient.tag is not None:
                top, by = quotient.args
                if type(top) is float and is_moderate(a * top) and type_of(rest).kind == "array":
                    return b.emit(MUL, b.emit(quotient.prim, a * top, by), rest)
            both_literal = _literal(a) and _literal(n)
            if not both_literal and (
                type_of(n).kind != "py" or type_of(a).kind != "py" or type_of(rest).kind != "array"
            ):
                continue
            double = type_of(rest).dtype == np.float64
            if not double and not (both_literal and is_moderate(a * n)):
                continue
            if type(rest) is Value and rest.type.is_float and (rest.type.kind == "array" or both_literal):
                return b.emit(MUL, b.emit(MUL, a, n), rest)
    return NotImplemented


def is_moderate(number: float) -> bool:
    """As a product of two numbers: large and small ones may be there so that nothing overflows, which their product
    would do in float32."""
    return 1e-4 <= abs(number) <= 1e4


def _literal_quotient(x: Any) -> Any:
    """(c, n) where `x` is ``c / n`` for a literal c and a number n, or None."""
    if type(x) is not Value or x.op is None or x.op.prim is not DIV or not x.type.is_scalar:
        return None
    return x.op.args if _literal(x.op.args[0]) else None


def _literal(x: Any) -> bool:
    return type(x) in (int, float)


def _div(b: Builder, x: Any, y: Any) -> Any:
    if type(x) is int and _float_literal(b, x, y) is not x:
        return b.emit(DIV, float(x), y)
    if type(y) is int and _float_literal(b, y, x) is not y:
        return b.emit(DIV, x, float(y))
    if type(x) is not Value and type(y) is not Value:
        return x / y if y != 0 else float("nan") if b.tag is not None else NotImplemented
    if _is_number(y, 1) and _float_like(x):
        return x
    if _negated(x) is not None and b.tag is not None:
        return b.emit(NEG, b.emit(DIV, _negated(x), y))
    if type(x) is Value and x.op is not None and x.op.prim is MUL and b.tag is not None and _float_like(y):
        one, count = x.op.args
        if _is_number(one, 1) and _python_int(count):
            return b.emit(DIV, count, y)
    return _binary_spread(b, DIV, x, y)


def _over(b: Builder, x: Any, y: Any) -> Any:
    if _negated(x) is None or b.tag is None:
        return NotImplemented
    return b.emit(NEG, b.emit(OVER, _negated(x), y))


def _dot(b: Builder, x: Any, y: Any, *, prim: Prim, **others: Any) -> Any:
    """The sign of a matrix becomes that of its product with a vector; that of a part of an array, which would be copied
    for it, also that of a product with a matrix."""
    if others:
        return NotImplemented
    for one, other in ((x, y), (y, x)):
        matrix = _negated(one) if b.tag is not None and type_of(one).ndim == 2 else None
        if matrix is not None and (type_of(other).ndim == 1 or (type_of(other).ndim == 2 and _is_part(matrix))):
            return b.emit(NEG, b.emit(prim, *((matrix, other) if one is x else (other, matrix))))
    return NotImplemented


def _is_part(x: Any) -> bool:
    return (
        type(x) is Value and x.op is not None and x.op.prim is GET and any(kind == "index" for kind, _ in x.op.args[1])
    )


def _solve(b: Builder, a: Any, y: Any) -> Any:
    if _negated(y) is None or b.tag is None:
        return NotImplemented
    return b.emit(NEG, b.emit(PRIMS[np.linalg.solve], a, _negated(y)))


def _neg(b: Builder, x: Any) -> Any:
    if type(x) is not Value:
        return -x
    if x.op is not None and x.op.prim is NEG and (_float_like(x) or _python_int(x.op.args[0])):
        return x.op.args[0]
    return _unary_spread(b, NEG, x)


def _add(b: Builder, x: Any, y: Any) -> Any:
    if type(x) is int and _float_literal(b, x, y) is not x:
        return b.emit(ADD, float(x), y)
    if type(y) is int and _float_literal(b, y, x) is not y:
        return b.emit(ADD, x, float(y))
    if type(x) is not Value and type(y) is not Value:
        return x + y
    for zero, other in ((x, y), (y, x)):
        if type(zero) is int and zero == 0 and _python_int(other):
            return other
        if b.tag is not None and type(zero) is float and zero == 0.0 and _is_double(other):
            return other  # the zero stands for a cotangent to which nothing was added
    # x + (-y) reads better as x - y.
    if _negated(y) is not None:
        return b.emit(SUB, x, _negated(y))
    if _negated(x) is not None and type(y) is Value and (y.type.is_scalar or b.tag is not None):
        return b.emit(SUB, y, _negated(x))
    both = of_both_parts(b, x, y)
    if both is not NotImplemented:
        return both
    if b.tag is not None and b.cotangents is not None and not b.cotangents.shared:
        collected = _collected(b, x, y)
        if collected is not NotImplemented:
            return collected
    return _binary_spread(b, ADD, x, y)


def _collected(b: Builder, x: Any, y: Any) -> Any:
    """``n * X + n * Y`` as ``n * (X + Y)`` for a number n: one pass over an array less. The terms may stand in sums."""
    op = y.op if type(y) is Value else None
    if op is None or op.tag is None or op.prim not in (ADD, MUL):
        return NotImplemented
    if op.prim is ADD:
        first = _with_term(b, x, op.args[0])
        return NotImplemented if first is None else b.emit(ADD, first, op.args[1])
    found = _with_term(b, x, y)
    return NotImplemented if found is None else found


def _with_term(b: Builder, x: Any, y: Any) -> Any:
    """The sum of `x` and of ``y = n * Y`` in one of the terms of `x`, or None."""
    op = x.op if type(x) is Value else None
    term, other = _scaled(y), _scaled(x)
    if term is None or op is None or op.tag is None:
        return None
    if other is not None and other[0] is term[0] and other[1].type == term[1].type:
        return b.emit(MUL, b.emit(ADD, other[1], term[1]), term[0])
    if op.prim is ADD:
        for one, rest in (op.args, op.args[::-1]):
            found = _with_term(b, one, y)
            if found is not None:
                return b.emit(ADD, found, rest)
    return None


def _scaled(x: Any) -> Any:
    """(n, X) where `x` is ``n * X`` for a number n and an array X, or None."""
    op = x.op if type(x) is Value else None
    if op is not None and op.tag is not None and op.prim is MUL:
        for n, rest in (op.args, op.args[::-1]):
            if type_of(n).is_scalar and type(rest) is Value and rest.type.kind == "array" and rest.type.is_float:
                return n, rest
    return None


def _sub(b: Builder, x: Any, y: Any) -> Any:
    if type(x) is int and _float_literal(b, x, y) is not x:
        return b.emit(SUB, float(x), y)
    if type(y) is int and _float_literal(b, y, x) is not y:
        return b.emit(SUB, x, float(y))
    if type(x) is not Value and type(y) is not Value:
        return x - y
    if type(y) is int and _python_int(x):
        if y == 0:
            return x
        base, more = x.op.args if x.op is not None and x.op.prim is ADD else (None, None)
        if type(more) is int and more == y and _python_int(base):
            return base  # what is counted from one place on, and read at the place before
    return _binary_spread(b, SUB, x, y)


def _as_spread(x: Any) -> tuple[Any, Any] | None:
    """The operands of a SPREAD."""
    if type(x) is Value and x.op is not None and x.op.prim is SPREAD:
        return x.op.args[0], x.op.args[1]
    return None


def _covers(b: Builder, x: Any, dims: Any) -> bool:
    """`x` alone has the full shape `dims`."""
    have = type_of(x).dims
    return have is not None and dims is not None and len(have) == len(dims) and all(map(b.dims.same, have, dims))


def _cover(b: Builder, operands: Any, dims: Any) -> bool:
    """These operands broadcast together to the full shape `dims`."""
    have = [type_of(x).dims or () for x in operands]
    if dims is None or not all(_fits_into(b, d, dims) for d in have):
        return False
    return all(any(len(d) >= k and b.dims.same(d[-k], dims[-k]) for d in have) for k in range(1, len(dims) + 1))


def _fits_into(b: Builder, dims: Any, full: Any) -> bool:
    """Arrays of these shapes broadcast together to the second, whatever the lengths are."""
    if dims is None or full is None or len(dims) > len(full):
        return False
    return all(d == 1 or b.dims.same(d, f) for d, f in zip(dims[::-1], full[::-1]))


def _binary_spread(b: Builder, prim: Any, x: Any, y: Any) -> Any:
    """Drop a broadcast where the operands have the full shape without it; put it off where one is a scalar."""
    sx, sy = _as_spread(x), _as_spread(y)
    if sx is None and sy is None:
        return NotImplemented
    if sx is not None and sy is not None:
        if _covers(b, x, y.type.dims) and same_dtype(x.type.dtype, y.type.dtype):
            return b.emit(SPREAD, b.emit(prim, sx[0], sy[0]), sx[1])
        return NotImplemented
    (g, like), other, spread = (sx, y, x) if sx is not None else (sy, x, y)  # type: ignore[misc]
    t = type_of(other)
    if type(other) is Value and t.is_float and t.kind == "array" and _cover(b, (g, other), spread.type.dims):
        if same_dtype(t.dtype, spread.type.dtype):
            return b.emit(prim, g, other) if sx is not None else b.emit(prim, other, g)
    if (
        _fits_into(b, t.dims, spread.type.dims)
        and t.kind == "array"
        and type_of(g).is_scalar
        and same_dtype(t.dtype, spread.type.dtype)
    ):
        # ``spread(c, X) * row``: multiply the row, broadcast the product.
        return b.emit(SPREAD, b.emit(prim, g, other) if sx is not None else b.emit(prim, other, g), like)
    if (
        t.is_scalar
        and type_of(g).is_scalar
        and (t.kind == "py" or type(other) is not Value or same_dtype(t.dtype, spread.type.dtype))
    ):
        inner = b.emit(prim, g, other) if sx is not None else b.emit(prim, other, g)
        assert SPREAD.infer is not None
        if same_dtype(SPREAD.infer(b, (inner, like), {}).dtype, spread.type.dtype):
            return b.emit(SPREAD, inner, like)
    return NotImplemented


def _unary_spread(b: Builder, prim: Any, x: Any) -> Any:
    spread = _as_spread(x)
    if spread is None:
        return NotImplemented
    return b.emit(SPREAD, b.emit(prim, spread[0]), spread[1])


def _spread(b: Builder, g: Any, x: Any) -> Any:
    tg, tx = type_of(g), type_of(x)
    if tx.is_scalar and tg.is_scalar:
        return g
    if type(g) is Value and tg.kind == "array" and tx.dims is not None and _covers(b, g, tx.dims):
        return g
    inner = _as_spread(g)
    if inner is not None and (type_of(inner[0]).kind == "array" or same_dtype(tg.dtype, tx.dtype)):
        return b.emit(SPREAD, inner[0], x)  # a weak scalar would take the dtype of `x`
    return NotImplemented


def _accum(b: Builder, a: Any, v: Any) -> Any:
    both = of_both_parts(b, a, v)
    if both is NotImplemented and _is_made_by(a, DIV):
        both = saturated(b, a, v)
    if both is not NotImplemented:
        return both
    if _negated(a) is not None and type(v) is Value and _covers(b, v, a.type.dims):
        if same_dtype(v.type.dtype, a.type.dtype) and v.type.kind == a.type.kind == "array":
            return b.emit(SUB, v, _negated(a))
    if type(a) is Value and a.op is not None and a.op.prim is ZEROS and a.type.kind == "array":
        if type(v) is Value and v.type.kind == "array" and same_dtype(v.type.dtype, a.type.dtype):
            if _covers(b, v, a.type.dims):
                return v  # nothing was added so far
    inner = _as_spread(v)
    if inner is not None and type_of(a).kind == "array":
        return b.emit(ACCUM, a, inner[0])
    inner = _as_spread(a)
    if inner is not None and type(v) is Value and v.type.kind == a.type.kind == "array":
        # One number for all elements, and an array that has all of them.
        if type_of(inner[0]).is_scalar and _covers(b, v, a.type.dims) and same_dtype(v.type.dtype, a.type.dtype):
            if _weak_in(inner[0], v.type.dtype):
                return b.emit(ADD, inner[0], v)
    if type_of(a).is_scalar and type_of(v).is_scalar:
        return b.emit(ADD, a, v)
    return NotImplemented


def _weak_in(x: Any, dtype: Any) -> bool:
    """Arithmetic of the number with an array of the dtype has the dtype."""
    t = type_of(x)
    return t.kind == "py" or same_dtype(t.dtype, dtype)


def _added_to(b: Builder, v: Any, base: Value, key: Any) -> Any:
    """What several additions add to the array that `base` holds at this place, or None."""
    terms: list[Any] = []
    while type(v) is Value and v.type.kind == "array" and v.op is not None and v.op.prim in (ADD, SUB, ACCUM):
        if v.op.parent is not b.region or v.op.tag is None or not same_dtype(v.type.dtype, base.type.dtype):
            return None
        v, term = v.op.args[0], b.emit(NEG, v.op.args[1]) if v.op.prim is SUB else v.op.args[1]
        terms.append(term)
    if len(terms) < 2 or not _read_from(v, base, key):
        return None  # one is added as it is
    return functools.reduce(lambda x, y: b.emit(ADD, x, y), terms[::-1])


def _read_from(v: Any, base: Any, key: Any) -> bool:
    """`v` is what `base` holds at that place."""
    return (
        type(v) is Value and v.op is not None and v.op.prim is GET and v.op.args[0] is base
        and structural_key(v.op.args[1]) == key
    )  # fmt: skip


def _addat(b: Builder, a: Any, path: Any, v: Any) -> Any:
    inner = _as_spread(v)
    if inner is not None:
        return b.emit(ADDAT, a, path, inner[0])
    if not opset.picks_each_once(path, b.dims):
        return NotImplemented
    if not path:
        return b.emit(ACCUM, a, v)
    # Below other additions, a store of zero at the same place: the addition becomes the store.
    key = structural_key(path)
    chain: list[Op] = []
    at = a
    while (
        type(at) is Value and at.op is not None and at.op.prim is ADDAT and at.op.parent is b.region and len(chain) < 8
    ):
        chain.append(at.op)
        at = at.op.args[0]
    if type(at) is Value and at.op is not None and at.op.parent is b.region:
        base = None
        if at.op.prim is SET and structural_key(at.op.args[1]) == key and _is_number(at.op.args[2], 0):
            base = at.op.args[0]
        elif at.op.prim is ZEROS and at.type.kind == "array" and not chain:
            base = at
        if base is not None:
            rest = _added_to(b, v, base, key)
            if _read_from(v, base, key):
                out = base
            else:
                out = b.emit(SET, base, path, v) if rest is None else b.emit(ADDAT, base, path, rest)
            for op in reversed(chain):
                out = b.emit(ADDAT, out, op.args[1], op.args[2])
            return out
    return NotImplemented


def _set(b: Builder, a: Any, path: Any, v: Any) -> Any:
    inner = _as_spread(v)
    if inner is not None:
        return b.emit(SET, a, path, inner[0])
    if type(a) is Value and a.op is not None and a.op.prim is ZEROS and _is_number(v, 0):
        return a
    return NotImplemented


_T = (("transpose", None),)


def _get(b: Builder, a: Any, path: Any) -> Any:
    if type(a) is not Value or a.op is None:
        return a if not path else NotImplemented
    if not path:
        return a
    spread = _as_spread(a)
    if spread is not None and type_of(spread[0]).is_scalar:
        return b.emit(SPREAD, spread[0], b.emit(GET, spread[1], path))
    if path == _T and a.op.prim is GET and a.op.args[1] == _T:
        return a.op.args[0]
    if b.tag is not None and opset.adds_axes_only(path) and _negated(a) is not None:
        return b.emit(NEG, b.emit(GET, _negated(a), path))
    if b.tag is not None and len(path) == 1 and path[0][0] == "index" and a.type.ndim is not None:
        dropped = _dropped_axes(path[0][1], a.type.ndim)
        if dropped and all(b.dims.find(a.type.dims[k]) == 1 for k in dropped):  # type: ignore[index]
            return _without_axes(b, a, path, dropped)
    if path == _T and a.type.dims is not None and len(a.type.dims) < 2 and a.type.kind == "array":
        return a
    return NotImplemented


def _dropped_axes(items: tuple[Any, ...], rank: int) -> tuple[int, ...]:
    """The axes along which a subscript takes the first item, if it takes all along the others; else ()."""
    at = next((k for k, item in enumerate(items) if item is Ellipsis), len(items))
    behind = items[at + 1 :]
    placed = [*enumerate(items[:at]), *enumerate(behind, rank - len(behind))]
    if not all(item == 0 if type(item) is int else _takes_all(item) for _, item in placed):
        return ()
    return tuple([k for k, item in placed if type(item) is int])


def _takes_all(item: Any) -> bool:
    return type(item) is slice and (item.start, item.stop, item.step) == (None, None, None)


def _without_axes(b: Builder, a: Value, path: Any, dropped: tuple[int, ...]) -> Any:
    """A sum that kept axes of length 1, without these."""
    inner = _negated(a)
    if inner is not None:
        return b.emit(NEG, b.emit(GET, inner, path))
    op = a.op
    if op is None or op.prim is not SUM or op.tag is None or len(op.args) != 1:
        return NotImplemented
    if op.kwargs.keys() != {"axis", "keepdims"} or op.kwargs["keepdims"] is not True:
        return NotImplemented
    axis = op.kwargs["axis"]
    axes = axis if isinstance(axis, tuple) else (axis,)
    rank = a.type.ndim or 0
    if not all(type(k) is int for k in axes) or sorted(k % rank for k in axes) != sorted(dropped):
        return NotImplemented
    return opset.apply(np.sum, op.args[0], axis=axis)


def _cast(b: Builder, g: Any, dtype: Any) -> Any:
    t = type_of(g)
    if isinstance(dtype, np.dtype) and (same_dtype(t.dtype, dtype) or dtype.kind not in "fc") and type(g) is Value:
        return g
    return NotImplemented


def _dim(b: Builder, x: Any, axis: Any) -> Any:
    dims = type_of(x).dims
    if isinstance(axis, int) and dims is not None and -len(dims) <= axis < len(dims):
        length = b.dims.find(dims[axis])
        if isinstance(length, int):
            return length
        if axis < 0:
            return b.emit(DIM, x, axis + len(dims))
    return NotImplemented


def _sum_to(b: Builder, g: Any, x: Any) -> Any:
    """Decide at compile time which axes of a cotangent to sum, where the types prove it."""
    tg, tx = type_of(g), type_of(x)
    if type(g) is not Value:
        return g if tx.is_scalar and not (isinstance(g, complex)) else NotImplemented
    if tx.kind == "list":
        return g
    if tx.is_scalar and tx.dtype is None and tg.is_scalar and tg.is_real:
        return g  # a real number is a cotangent of any number; the caller's dtype is restored at the end
    if tx.is_scalar or tx.dims == ():
        if tg.dims == () and (tg.is_scalar or tx.kind == "array"):
            return _match_dtype(b, g, tx)
        if tg.kind == "array" and tg.dims and tg.dtype is not None:
            return _match_dtype(b, _reduce(b, g, None, False), tx)
        return NotImplemented
    if tx.kind != "array" or tx.dims is None or tg.dims is None or len(tg.dims) < len(tx.dims) or tg.kind != "array":
        return NotImplemented
    if tg.dims == tx.dims:
        return _match_dtype(b, g, tx)
    extra = len(tg.dims) - len(tx.dims)
    lead = tuple(range(extra))
    ones = []
    for axis, want in enumerate(tx.dims):
        have = tg.dims[extra + axis]
        if b.dims.same(have, want) or b.dims.not_one(want):
            continue
        if b.dims.find(want) != 1:
            return NotImplemented
        if b.dims.find(have) != 1:
            ones.append(extra + axis)
    if tg.dtype is None and (lead or ones):
        return NotImplemented
    if ones:
        g = _reduce(b, g, tuple(ones), True)
    if lead:
        g = _reduce(b, g, lead, False)
    return _match_dtype(b, g, tx)


def _reduce(b: Builder, g: Any, axes: tuple[int, ...] | None, keepdims: bool) -> Any:
    spread = _as_spread(g)
    if spread is not None and axes is None and type_of(spread[0]).is_scalar:
        return b.emit(MUL, spread[0], b.emit(SIZE, spread[1]))
    kwargs: dict[str, Any] = {}
    if axes is not None:
        kwargs["axis"] = axes[0] if len(axes) == 1 else axes
    if keepdims:
        kwargs["keepdims"] = True
    return opset.apply(np.sum, g, **kwargs)


def _sum(b: Builder, x: Any, *args: Any, **kwargs: Any) -> Any:
    """A sign goes outwards, and so does a number that all elements are multiplied by, unless the product is there for
    something else, too. The sum of a product is that of two vectors. For derivatives only: the sum is rounded
    differently."""
    if b.tag is None or type(x) is not Value or not x.type.is_float or x.type.kind != "array":
        return NotImplemented
    if args or not kwargs.keys() <= {"axis", "keepdims"} or any(type(v) is Value for v in kwargs.values()):
        return NotImplemented
    if _negated(x) is not None:
        return b.emit(NEG, b.emit(SUM, _negated(x), **kwargs))
    if any(v is not None and v is not False for v in kwargs.values()):
        return NotImplemented
    factor, rest = (1, x) if b.cotangents is None or b.cotangents.shared else _literal_factor(b, x)
    if rest is not x:
        return b.emit(MUL, factor, b.emit(SUM, rest, **kwargs))
    if x.op is not None and x.op.prim is MUL and x.type.ndim == 1:
        u, v = x.op.args
        if (
            all(map(_is_vector, (u, v)))
            and same_dtype(u.type.dtype, v.type.dtype)
            and b.dims.same(u.type.dims[0], v.type.dims[0])
        ):
            return b.emit(DOT, u, v)
    return NotImplemented


def _is_vector(x: Any) -> bool:
    """Its product with another is computed as precisely as it is stored."""
    t = type_of(x)
    return type(x) is Value and t.kind == "array" and t.ndim == 1 and t.dtype in _OF_BLAS


_OF_BLAS = (np.float32, np.float64, np.complex64, np.complex128)


def _literal_factor(b: Builder, x: Any) -> tuple[Any, Any]:
    """(c, y) where `x` is ``c * y`` for a number c that stands in the code; (1, x) where none does."""
    op = x.op if type(x) is Value else None
    if op is not None and op.prim is ADD and op.args[0] is op.args[1]:
        return 2.0, op.args[0]
    if op is not None and op.prim is MUL and op.tag is not None:
        for one, other in (op.args, op.args[::-1]):
            if _literal(one) and math.isfinite(one) and _float_like(other):
                return one, other
            factor, rest = _literal_factor(b, one)
            if rest is not one and rest.type.kind == one.type.kind == "array":
                return factor, b.emit(MUL, rest, other) if one is op.args[0] else b.emit(MUL, other, rest)
    return 1, x


def _match_dtype(b: Builder, g: Any, tx: Ty) -> Any:
    """The cotangent in the dtype of its primal."""
    tg = type_of(g)
    if tg.dtype is None and tg.is_real and tg.is_scalar and tx.kind == "py" and tx.is_real:
        return g
    if tg.dtype is None and tg.is_scalar and tx.kind == "generic" and tx.dtype is not None and tx.dtype.kind in "fc":
        return b.emit(CAST, g, tx.dtype)  # an int on one path and a float on the other: nothing of `x` is read
    if tx.dtype is None or tg.dtype is None:
        return NotImplemented
    if tx.dtype.kind not in "fc" or tg.dtype == tx.dtype:
        return g
    if tg.kind == "py" and not (tg.dtype.kind == "c" and tx.dtype.kind == "f"):
        return g  # weak: it takes the dtype of the other operand
    if tx.kind == "py" and not (tg.dtype.kind == "c" and tx.dtype.kind == "f"):
        return g
    if tx.kind == "py":
        return b.emit(CAST, g, np.dtype(np.float64))
    return b.emit(CAST, g, tx.dtype)


def install(b: Builder) -> Builder:
    """Have the builder apply these rewrites."""
    rules: dict[Prim, Callable[..., Any]] = {
        MUL: _mul, DIV: _div, NEG: _neg, ADD: _add, SUB: _sub, SPREAD: _spread, ACCUM: _accum, ADDAT: _addat, SET: _set,
        GET: _get, CAST: _cast, DIM: _dim, SUM_TO: _sum_to, SUM: _sum, OVER: _over,
    }  # fmt: skip
    rules[PRIMS[np.conjugate]], rules[PRIMS[np.linalg.solve]] = conjugate_twice, _solve
    for fn in (operator.matmul, np.matmul, np.dot):
        rules[PRIMS[fn]] = functools.partial(_dot, prim=PRIMS[fn])
    for prim, rule in rules.items():
        b.peepholes.setdefault(prim, []).append(rule)
    return b
