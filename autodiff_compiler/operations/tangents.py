"""The tangent column: how the tangent of an operation's result follows from those of its operands.

Most operations need no rule of their own:

- An elementwise operation multiplies by its partial derivative, as its pullback does. So the pullback, applied to the
  tangent, gives the tangent of the result.
- An operation that is linear in an argument is applied to the argument's tangent.
- For the others here are explicit rules, where the transposed pullback would be slow. What is left is transposed by
  `transforms.jvp`.

>>> import numpy as np
>>> contributions(PRIMS[np.sin], 0.0, (0.0,), {}, {"x": 3.0})
([np.float64(3.0)], [])
>>> contributions(PRIMS[np.dot], 11.0, (np.array([1.0, 2.0]), np.array([3.0, 4.0])), {}, {"a": np.array([1.0, 0.0])})
([np.float64(3.0)], [])
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .. import runtime
from ..ir import opset
from ..ir.core import Prim, Value, current, type_of
from ..ir.opset import PRIMS
from ..ir.types import Ty, same_dtype
from . import lib, record
from .choices import SELECT
from .decompositions import inverse_gaps
from .joining import UNSTACK
from .lib import call, conj, expand, ndim, part, swap
from .making import ASTYPE
from .numbers import FLOATING_CASTS
from .record import SYMMETRIC, jvp, linear, symmetric
from .reductions import centered, freedom, product_of_others


def column(prim: Prim, name: str) -> str:
    """How the tangent by an argument is found: "zero", "explicit", "linear", "partial", "transposed", or nothing.

    >>> column(PRIMS[np.exp], "x"), column(PRIMS[np.sum], "a"), column(PRIMS[np.sum], "axis")
    ('partial', 'linear', '')
    """
    if record.is_constant_in(prim, name):
        return "zero"
    if name in prim.tangents:
        return "partial" if prim.tangents[name] is SYMMETRIC else "explicit"
    if any(name in group for group in prim.linear):
        return "linear"
    if record.pullback(prim, name) is None:
        return ""
    return "partial" if acts_elementwise(prim) else "transposed"


def acts_elementwise(prim: Prim) -> bool:
    """The pullback multiplies the cotangent element by element."""
    return prim.nout == 1 and (prim.elementwise or prim.partials is not None)


def contributions(
    prim: Prim, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dots: Mapping[str, Any]
) -> tuple[list[Any], list[str]]:
    """The contributions to the tangent of the result, and the arguments for which only transposition is left.

    `dots` holds the tangents of arguments by name, in the structure of the argument, with None for what has none.
    Called with arrays it computes, called with IR values it builds IR.
    """
    found: list[Any] = []
    rest: list[str] = []
    done: set[str] = set()
    for name, d in dots.items():
        how = column(prim, name)
        if name in done or how == "zero":
            continue
        t: Any = NotImplemented
        if how == "explicit":
            t = prim.tangents[name](d, out, *args, **kwargs)
        elif how == "linear":
            group = next(g for g in prim.linear if name in g)
            done.update(group)
            t = _applied(prim, args, kwargs, {n: dots.get(n) for n in group})
            if prim not in _BROADCAST or all(dots.get(n) is not None for n in group):
                t = lib.at_shape(t, out)  # tangents have the shapes of their values
        elif how == "partial":
            rule = record.pullback(prim, name)
            assert rule is not None
            t = rule(d, out, *args, **kwargs)
        if t is NotImplemented:
            rest.append(name)
        elif t is not None:
            found.append(t)
    return found, rest


def _applied(prim: Prim, args: tuple[Any, ...], kwargs: dict[str, Any], dots: Mapping[str, Any]) -> Any:
    """The operation with tangents in place of the arguments of a group."""
    for name in dots:
        rule = prim.pullbacks.get(name)
        if rule is not None:
            # An argument that the rule does not know, as `initial`, may make it affine.
            try:
                inspect.signature(rule).bind(None, None, *args, **kwargs)
            except TypeError as reason:
                raise lib.unsupported(
                    f"the derivative rule of {prim.name} does not cover this call: {reason}",
                    f"call {prim.name} without that argument",
                ) from None
    new: list[Any] = []
    for k, arg in enumerate(args):
        name = prim.params[min(k, len(prim.params) - 1)]
        if name in dots and name[0] == "*":
            new += _filled(prim, name, args[k:], dots[name])
            break
        new.append(_filled(prim, name, arg, dots[name]) if name in dots else arg)
    keywords = {name: _filled(prim, name, arg, dots[name]) if name in dots else arg for name, arg in kwargs.items()}
    if lib.symbolic(new, keywords):
        return current().emit(prim, *new, **keywords)
    assert prim.fn is not None
    return prim.fn(*new, **keywords)


def _filled(prim: Prim, name: str, arg: Any, d: Any) -> Any:
    """The tangent of an argument, with zeros where there is none."""
    if isinstance(arg, (list, tuple)):
        return type(arg)([_filled(prim, name, x, None if d is None else d[k]) for k, x in enumerate(arg)])
    if d is not None:
        return d
    if lib.is_scalar(arg) or (prim in _BROADCAST and name in _BROADCAST[prim]):
        return 0.0
    return lib.zeros(arg)


# Where a zero in place of zeros will do, as the result has the shape of something else.
_BROADCAST: dict[Prim, tuple[str, ...]] = {opset.SET: ("v",), opset.ADDAT: ("v",), opset.ACCUM: ("v",)}


def fitted(t: Any, out: Any, follows: bool = False) -> Any:
    """The tangent `t` in the shape and dtype of the value `out` that it belongs to.

    `follows`: its dtype is that of `out` if neither is known, as for an operation that is linear.
    """
    if type(out) is not Value:
        return _fitted_array(t, out)
    want = out.type
    if want.kind == "list" or want.dtype is not None and want.dtype.kind == "V":
        return t
    have = type_of(t)
    if want.kind == "array" and want.dims == () and have.kind != "array":
        # NumPy makes numbers of arrays without axes.
        return current().emit(opset.SET, lib.zeros(out), (("index", (Ellipsis,)),), t)
    if not _same_shape(have, want):
        t = current().emit(opset.SPREAD, t, out)
        have = type_of(t)
    if same_dtype(have.dtype, want.dtype) or (want.kind == "py" and have.is_scalar and have.is_real and want.is_real):
        return t
    if want.dtype is None and (have.is_real or follows):
        return t
    return current().emit(opset.CAST, t, want.dtype if want.dtype is not None else current().emit(opset.DTYPE, out))


def _same_shape(have: Ty, want: Ty) -> bool:
    if have.dims is None or want.dims is None or len(have.dims) != len(want.dims):
        return False
    return all(map(current().dims.same, have.dims, want.dims))


def _fitted_array(t: Any, out: Any) -> Any:
    if isinstance(out, list):
        return t
    return runtime.cast(runtime.spread(t, out), out)


def total(prim: Prim, found: list[Any], out: Any, names: Iterable[str]) -> Any:
    """The sum of the contributions of these arguments, in the shape and dtype of the result; None if there is none.

    For several results a tuple.
    """
    follows = all(column(prim, name) == "linear" for name in names)
    if prim.nout == 1:
        return _sum(found, out, follows)
    return tuple([_sum([t[k] for t in found if t[k] is not None], out[k], follows) for k in range(prim.nout)])


def _sum(found: list[Any], out: Any, follows: bool) -> Any:
    if not found:
        return None
    t = found[0]
    for other in found[1:]:
        t = t + other
    return fitted(t, out, follows)


# --- elementwise functions that are more than a product ---------------------------------------------------------------


@jvp(np.sign, "x")
def _sign(d: Any, out: Any, x: Any) -> Any:
    if not lib.may_be_complex(x):
        return None
    along = np.real(conj(out) * d)
    return lib.choose(lib.equal(x, 0), 0.0, (d - out * along) / lib.nonzero(np.absolute(x)))


@jvp(np.nan_to_num, "x")
def _nan_to_num(d: Any, out: Any, x: Any) -> Any:
    return lib.choose(np.isfinite(x), d, 0.0)  # no product: the tangent may be nan where `x` is


symmetric(np.clip, "a", "a_min", "a_max", "min", "max")
symmetric(np.unwrap, "p")
symmetric((runtime.bessel_i, runtime.polygamma), "x")
symmetric(math.log, "x", "base")
symmetric((runtime.softmax,), "x")

linear((np.conjugate, np.real, np.imag), "x")
linear((np.real, np.imag), "val")
linear((float, *FLOATING_CASTS), "x")
linear(complex, "real, imag")
linear((np.where, SELECT), "x, y")
linear(np.nextafter, "x1")
_BROADCAST[PRIMS[np.where]] = _BROADCAST[SELECT] = ("x", "y")

# --- parts, lists, and what only the compiler makes -------------------------------------------------------------------

linear(opset.GET, "a")
linear((opset.SET, opset.ADDAT, opset.ACCUM), "a, v")
linear((opset.SUM_TO, opset.SPREAD, opset.CAST, opset.FULL_LIKE, opset.FINISH), "g")
linear((opset.COPY, opset.AS_SCALAR, UNSTACK), "a")
linear(opset.LIST_NEW, "items")
linear((opset.LIST_APPEND, opset.LIST_SET, opset.LIST_INSERT), "l, v")
linear((opset.LIST_GET, opset.LIST_DROP, opset.LIST_SLICE, opset.LIST_CUT), "l")
linear((opset.LIST_ADDAT, opset.LIST_ADDSLICE), "l, g")
linear(opset.LIST_SPLICE, "l, new")
linear((runtime.split_like, runtime.if_square), "g")

# --- sums and other reductions ----------------------------------------------------------------------------------------

linear((np.sum, np.mean, np.cumsum), "a")
linear((np.add.reduce, np.add.reduceat), "array")
linear(sum, "iterable, start")
linear(math.fsum, "seq")


@jvp(np.nansum, "a")
def _nansum(d: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Any:
    return np.sum(lib.masked(d, lib.invert(np.isnan(a))), axis=axis, keepdims=keepdims)


@jvp(np.var, "a")
def _var(d: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None, *, ddof: Any = 0, keepdims: Any = False) -> Any:
    moved = np.sum(conj(centered(a, axis)) * d, axis=axis, keepdims=keepdims)
    if lib.has_more_than(ddof, a, axis):
        return lib.per(2, lib.count(a, axis) - ddof) * moved
    return 2.0 * moved / freedom(a, axis, ddof)  # a NumPy division


@jvp(np.std, "a")
def _std(d: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None, *, ddof: Any = 0, keepdims: Any = False) -> Any:
    moved = np.sum(conj(centered(a, axis)) * d, axis=axis, keepdims=keepdims)
    return moved / (lib.nonzero(out) * freedom(a, axis, ddof))


def _of_chosen(d: Any, out: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    """The mean of the tangents of the elements that equal the result."""
    chosen = lib.equal(a, expand(out, axis, keepdims, a))
    both = [np.sum(x, axis=axis, keepdims=keepdims) for x in (lib.masked(d, chosen), chosen)]
    return np.divide(*both)


@jvp((np.max, np.amax, np.min, np.amin), "a")
def _max(d: Any, out: Any, a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return _of_chosen(d, out, a, axis, keepdims)


@jvp((np.maximum.reduce, np.minimum.reduce), "array")
def _max_reduce(d: Any, out: Any, array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    return _of_chosen(d, out, array, axis, keepdims)


@jvp(np.ptp, "a")
def _ptp(d: Any, out: Any, a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    largest, smallest = (f(a, axis=axis, keepdims=keepdims) for f in (np.max, np.min))
    return _of_chosen(d, largest, a, axis, keepdims) - _of_chosen(d, smallest, a, axis, keepdims)


@jvp(np.prod, "a")
def _prod(d: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Any:
    if ndim(a) == 0:
        return d
    if isinstance(axis, tuple) or (axis is None and keepdims is not False):
        return NotImplemented
    if axis is None:
        a, d, axis = call(np.ravel, a), call(np.ravel, d), 0
    return np.sum(d * product_of_others(a, axis), axis=axis, keepdims=keepdims)


@jvp(np.multiply.reduce, "array")
def _multiply_reduce(d: Any, out: Any, array: Any, axis: Any = 0, dtype: Any = None, *, keepdims: Any = False) -> Any:
    return _prod(d, out, array, axis, keepdims=keepdims)


@jvp(np.cumprod, "a")
def _cumprod(d: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None) -> Any:
    # Each product is the one before, times an element.
    if axis is None or ndim(a) == 0:
        a, d, axis = call(np.ravel, a), call(np.ravel, d), 0
    return call(runtime.linear_scan, d * call(runtime.shift, out, axis, 1), a, axis)


@jvp(np.linalg.norm, "x")
def _norm(d: Any, out: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    if lib.symbolic(ord, axis, keepdims):
        return NotImplemented
    one_axis = isinstance(axis, int) or (axis is None and ndim(x) == 1) or (isinstance(axis, tuple) and len(axis) == 1)
    if not (ord is None or (ord == "fro" and not one_axis) or (ord == 2 and one_axis)):
        return NotImplemented
    # Where the norm is zero so is x, and the derivative is taken to be zero.
    return np.sum(_real(conj(x) * d), axis=axis, keepdims=keepdims) / lib.nonzero(out)


def _real(x: Any) -> Any:
    return np.real(x) if lib.may_be_complex(x) else x


@jvp(runtime.log_softmax, "x")
def _log_softmax(d: Any, out: Any, x: Any, axis: Any) -> Any:
    return d - np.sum(np.exp(out) * d, axis=axis, keepdims=True)


@jvp(runtime.logsumexp, "x")
def _logsumexp(d: Any, out: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    return np.sum(np.exp(x - expand(out, axis, keepdims, x)) * d, axis=axis, keepdims=keepdims)


@jvp(np.logaddexp.reduce, "array")
def _logaddexp(d: Any, out: Any, array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    return np.sum(np.exp(array - expand(out, axis, keepdims, array)) * d, axis=axis, keepdims=keepdims)


linear((runtime.linear_scan, runtime.flip_scan), "g")


@jvp(runtime.shift, "x")
def _shift(d: Any, out: Any, x: Any, axis: Any, fill: Any, step: Any = 1) -> Any:
    return call(runtime.shift, d, axis, 0, step)


# --- making, shaping and joining arrays -------------------------------------------------------------------------------

linear((np.full, np.full_like), "fill_value")
linear(np.array, "object")
linear((np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.copy), "a")
linear(np.linspace, "start, stop")
linear((np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.squeeze, np.expand_dims), "a")
linear((np.roll, np.repeat, np.diff, np.diagonal, np.trace, np.take, np.resize, np.compress), "a")
linear((np.flip, np.flipud, np.fliplr, np.rot90, np.tril, np.triu), "m")
linear(np.broadcast_to, "array")
linear(np.tile, "A")
linear(np.diag, "v")
linear((np.concatenate, np.stack), "arrays")
linear((np.vstack, np.hstack, np.column_stack), "tup")
linear((np.append), "arr, values")
linear(np.insert, "arr, values")
linear((np.delete, np.extract, np.take_along_axis), "arr")
linear(np.choose, "choices")
linear(np.bincount, "weights")
linear(np.lib.stride_tricks.sliding_window_view, "x")


@jvp(ASTYPE, "x")
def _astype(d: Any, out: Any, x: Any, dtype: Any) -> Any:
    return lib.emit(opset.CAST, d, dtype if isinstance(dtype, Value) else np.dtype(dtype))


@jvp((np.atleast_1d, np.atleast_2d), "*arys")
def _at_least(d: Any, out: Any, *arys: Any) -> Any:
    return lib.reshape_as(d[0], out) if len(arys) == 1 else NotImplemented


@jvp(np.pad, "array")
def _pad(d: Any, out: Any, array: Any, pad_width: Any, mode: Any = "constant", **keywords: Any) -> Any:
    if mode == "constant":
        return call(np.pad, d, pad_width)
    if mode in ("edge", "wrap") or (mode in ("reflect", "symmetric") and keywords.get("reflect_type") != "odd"):
        return call(np.pad, d, pad_width, mode, **keywords)
    return NotImplemented


@jvp(np.sort, "a")
def _sort(d: Any, out: Any, a: Any, axis: Any = -1, kind: Any = None) -> Any:
    if axis is None:
        a, d, axis = call(np.ravel, a), call(np.ravel, d), 0
    place = lib.axes(axis, a)[0]
    order = np.argsort(a, axis=place, kind=kind)
    return part(d, (order,)) if ndim(a) == 1 else np.take_along_axis(d, order, axis=place)


@jvp(np.interp, "fp")
def _interp(d: Any, out: Any, x: Any, xp: Any, fp: Any) -> Any:
    if not all(lib.dtype(v) == np.float64 for v in (x, xp, fp, d)):
        return NotImplemented
    return call(np.interp, x, xp, d)


symmetric(np.interp, "x")

# --- products and linear algebra --------------------------------------------------------------------------------------

linear((np.matmul, operator.matmul), "x1", "x2")
linear((np.dot, np.inner, np.outer, np.vdot, np.tensordot), "a", "b")
linear((np.convolve, np.correlate), "a", "v")
linear((np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft), "a")
linear(runtime.embed, "x")
linear(runtime.overlap, "g", "other")
linear(runtime.conv, "x", "filters")
linear(runtime.conv_input, "g", "filters")
linear(runtime.conv_filters, "x", "g")
linear(runtime.pool_sum, "x")
linear(runtime.pool_spread, "g")


@jvp(np.einsum, "*operands")
def _einsum(d: Any, out: Any, subscripts: Any, *operands: Any, optimize: Any = False) -> Any:
    if not isinstance(subscripts, str):
        return NotImplemented
    kwargs = {"optimize": optimize} if optimize is not False else {}
    t = None
    for k, one in enumerate(d):
        if one is not None:
            term = call(np.einsum, subscripts, *operands[:k], one, *operands[k + 1 :], **kwargs)
            t = term if t is None else t + term
    return t


@jvp((np.linalg.inv, runtime.inverse), "a")
def _inv(d: Any, out: Any, a: Any) -> Any:
    return -(out @ d @ out)


linear(np.linalg.solve, "b")


@jvp(np.linalg.solve, "a")
def _solve(d: Any, out: Any, a: Any, b: Any) -> Any:
    if ndim(b) == 1 and ndim(a) > 2:
        return NotImplemented
    return -np.linalg.solve(a, d @ out)


@jvp(np.linalg.det, "a")
def _det(d: Any, out: Any, a: Any) -> Any:
    return np.sum(call(runtime.cofactors, a) * d, axis=(-2, -1))


@jvp(np.linalg.slogdet, "a")
def _slogdet(d: Any, out: Any, a: Any) -> Any:
    if lib.may_be_complex(a):
        return NotImplemented
    return None, np.sum(swap(call(runtime.inverse, a)) * d, axis=(-2, -1))


def _mirrored(d: Any, lower: bool) -> Any:
    """The symmetric (Hermitian) matrix of which one triangle is read."""
    half = np.tril(d, -1) if lower else np.triu(d, 1)
    diagonal = d * call(np.eye, lib.length(d, ndim(d) - 1))
    return half + conj(swap(half)) + _real(diagonal)


@jvp(np.linalg.cholesky, "a")
def _cholesky(d: Any, out: Any, a: Any) -> Any:
    """``L Phi(inv(L) dA inv(L)^T)``, Phi: the lower triangle with half the diagonal."""
    lib.need_real("np.linalg.cholesky", a)
    inverse = np.linalg.inv(out)
    inner = inverse @ _mirrored(d, True) @ swap(inverse)
    return out @ (np.tril(inner) - 0.5 * (inner * call(np.eye, lib.length(a, ndim(a) - 1))))


@jvp(np.linalg.eigh, "a")
def _eigh(d: Any, out: Any, a: Any, UPLO: Any = "L") -> Any:
    if isinstance(UPLO, Value) or UPLO not in ("L", "U") or lib.may_be_complex(a):
        return NotImplemented
    w, v = out
    turned = swap(v) @ _mirrored(d, UPLO == "L") @ v
    return call(np.diagonal, turned, 0, -2, -1), v @ (inverse_gaps(w, v) * turned)


__all__ = ["column", "contributions", "fitted", "total"]
