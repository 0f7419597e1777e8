"""Peepholes for cotangents of quotients whose divisor is computed from the numerator.

Takes the operands of an operation of an adjoint. Gives the value to use in its place, or NotImplemented. The cotangent
of such a numerator has two parts, of which one cancels a part of the other.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def softmax(z, w):
...     e = np.exp(z)
...     return np.sum(w * (e / np.sum(e, axis=1, keepdims=True)))
>>> show_source(softmax, np.ones((2, 3)), np.ones((2, 3)))
def softmax_grad(z, w):
    e = np.exp(z)
    e_over_sum_e = e / row_sums(e)[:, None]
    return (w - row_dots(w, e_over_sum_e)[:, None]) * e_over_sum_e
>>> def saturated(x, w):
...     return np.sum(w * (x / (1.0 + x)))
>>> show_source(saturated, np.ones(3), np.ones(3))
def saturated_grad(x, w):
    one_plus_x = 1.0 + x
    return w / one_plus_x / one_plus_x
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ..ir.core import Builder, Op, Value, type_of
from ..ir.opset import ACCUM, ADD, DIV, GET, MUL, NEG, PRIMS, SUB
from ..ir.types import same_dtype
from ..operations.linalg import DOT
from ..operations.reductions import SUM


def normalised(b: Builder, x: Any, y: Any) -> Any:
    """``(g / s - sum(g / s * p)) * a`` as ``(g - sum(g * p)) * p``, where `p` is ``a / s``, and `s` is one number for
    all that is summed: the cotangent of what is divided by its sum, times a derivative that is the numerator itself."""
    for bar, numerator in ((x, y), (y, x)):
        first = _derived(bar, ACCUM)
        quotient, minus = (
            (None, None) if first is None else (_derived(first.args[0], DIV), _derived(first.args[1], NEG))
        )
        if first is None or quotient is None or minus is None:
            continue
        (g, s), widened = quotient.args, _derived(minus.args[0], GET)
        total = _derived(minus.args[0] if widened is None else widened.args[0], SUM, DOT)
        share = None if total is None else _share(total, first.args[0])
        if total is None or share is None or share.op is None or share.op.prim is not DIV:
            continue
        if share.op.args[0] is not _cut_off(numerator) or share.op.args[1] is not s:
            continue
        if not all(_is_like(b, v, bar) for v in (g, share, numerator)) or not _is_one_number_of(b, s, total, widened):
            continue
        again = b.emit(DOT, g, share) if total.prim is DOT else b.emit(SUM, b.emit(MUL, g, share), **total.kwargs)
        if widened is not None:
            again = b.emit(GET, again, widened.args[1])
        return b.emit(MUL, b.emit(ACCUM, g, b.emit(NEG, again)), share)
    return NotImplemented


def saturated(b: Builder, a: Any, v: Any) -> Any:
    """``q - q * (m / d)`` as ``q / d``, where `q` is divided by `d`, which is ``1 + m``: the cotangent of what is
    divided by one more than itself. Of a square, it would be done for one of two equal terms."""
    quotient = _derived(a, DIV)
    d = None if quotient is None else quotient.args[1]
    op = d.op if type(d) is Value else None
    if op is None or op.prim not in (ADD, SUB) or not _is_like(b, v, a):
        return NotImplemented
    one, more = op.args if op.prim is SUB or type(op.args[0]) is not Value else op.args[::-1]
    if type(one) not in (int, float) or one != 1 or type(more) is not Value:
        return NotImplemented
    (number, factors), (expected, wanted) = _factors(v), _factors(more)
    if number != (expected if op.prim is SUB else -expected) or a not in factors or len({*wanted}) < len(wanted):
        return NotImplemented
    factors.remove(a)
    for k, factor in enumerate(factors):
        over = factor.op if type(factor) is Value else None
        if over is not None and over.prim is DIV and over.args[1] is d:
            more_number, numerators = _factors(over.args[0])
            if more_number == 1.0 and Counter([*factors[:k], *factors[k + 1 :], *numerators]) == Counter(wanted):
                return b.emit(DIV, a, d)
    return NotImplemented


def _derived(x: Any, *prims: Any) -> Op | None:
    """The operation of the adjoint of one of these kinds that computes a value."""
    op = x.op if type(x) is Value else None
    return op if op is not None and op.tag is not None and op.prim in prims else None


def _cut_off(x: Any) -> Any:
    """The exponential of which `x` is the partial, with the largest number for infinity (`operations.lib.cut`): where
    it is infinite, its share is nan, and so is all that is computed from it."""
    op = _derived(x, PRIMS[np.minimum])
    if op is not None and type(op.args[1]) is float and op.args[1] == np.finfo(op.result.type.dtype).max:
        return op.args[0]
    return x


def _share(total: Op, q: Any) -> Value | None:
    """`p` where the sum is that of the products of `q` and `p`."""
    factors = total.args
    if total.prim is SUM:
        product = _derived(total.args[0], MUL) if len(total.args) == 1 else None
        factors = () if product is None else product.args
    if len(factors) != 2 or total.kwargs.keys() - {"axis", "keepdims"}:
        return None
    share = factors[1] if factors[0] is q else factors[0] if factors[1] is q else None
    return share if type(share) is Value else None


def _is_one_number_of(b: Builder, s: Any, total: Op, widened: Op | None) -> bool:
    """All that is added up for an element, which is in the sum itself, is divided by one number."""
    dims, rank = type_of(s).dims, type_of(total.args[0]).ndim
    axis = total.kwargs.get("axis")
    if rank is None or dims is None or len(dims) > rank or not all(type(k) is int for k in _as_tuple(axis)):
        return False
    axes = {k % rank for k in _as_tuple(axis)} if axis is not None else set(range(rank))
    if any(b.dims.find(d) != 1 for k, d in enumerate(dims, rank - len(dims)) if k in axes):
        return False
    if widened is not None:
        items = tuple([None if k in axes else slice(None) for k in range(rank)])
        return total.kwargs.get("keepdims") is not True and widened.args[1] == (("index", items),)
    return total.kwargs.get("keepdims") is True or axes == set(range(len(axes)))


def _as_tuple(axis: Any) -> tuple[Any, ...]:
    return axis if isinstance(axis, tuple) else () if axis is None else (axis,)


def _is_like(b: Builder, x: Any, y: Any) -> bool:
    """Both are arrays of one shape, and of one kind of real numbers."""
    t, like = type_of(x), type_of(y)
    if t.kind != "array" or like.kind != "array" or not t.is_float or t.dtype is None or t.dtype.kind != "f":
        return False
    if not same_dtype(t.dtype, like.dtype) or t.dims is None or like.dims is None or len(t.dims) != len(like.dims):
        return False
    return all(map(b.dims.same, t.dims, like.dims))


def _factors(x: Any) -> tuple[float, list[Any]]:
    """The numbers that stand in a product, as one, and the other factors."""
    if type(x) in (int, float):
        return float(x), []
    op = x.op if type(x) is Value else None
    if op is None or op.prim not in (MUL, NEG):
        return 1.0, [x]
    if op.prim is NEG:
        number, factors = _factors(op.args[0])
        return -number, factors
    (one, some), (two, others) = map(_factors, op.args)
    return one * two, some + others


__all__ = ["normalised", "saturated"]
