"""Derivative rules of reductions and scans. Equal largest (smallest) elements share the cotangent equally."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import runtime
from ..ir import opset
from . import lib, roots
from .lib import call, conj, count, equal, expand, part, per, spread
from .record import nondiff, vjp

# --- sums -------------------------------------------------------------------------------------------------------------


@vjp(np.sum, "a")
def _sum(g: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Any:
    return spread(expand(g, axis, keepdims, a), a)


@vjp(np.add.reduce, "array")
def _add_reduce(g: Any, out: Any, array: Any, axis: Any = 0, dtype: Any = None, *, keepdims: Any = False) -> Any:
    return spread(expand(g, axis, keepdims, array), array)


@vjp(np.mean, "a")
def _mean(g: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Any:
    return spread(expand(per(g, count(a, axis)), axis, keepdims, a), a)


def _centered(a: Any, axis: Any) -> Any:
    return a - per(np.sum(a, axis=axis, keepdims=True), count(a, axis))


@vjp(np.var, "a")
def _var(g: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None, *, ddof: Any = 0, keepdims: Any = False) -> Any:
    scale = g * per(2, count(a, axis) - ddof)
    return expand(scale, axis, keepdims, a) * conj(_centered(a, axis))


@vjp(np.std, "a")
def _std(g: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None, *, ddof: Any = 0, keepdims: Any = False) -> Any:
    # Where all elements are equal the numerator is zero as well, and the derivative is taken to be zero.
    rest = roots.without(g, out)
    n = count(a, axis) - ddof
    scale = g / (lib.nonzero(out) * n) if rest is None else spread(rest / n, g)
    return expand(scale, axis, keepdims, a) * conj(_centered(a, axis))


# --- products and scans -----------------------------------------------------------------------------------------------


@vjp(np.cumsum, "a")
def _cumsum(g: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None) -> Any:
    if axis is None:
        return lib.reshape_as(np.flip(np.cumsum(np.flip(g))), a)
    return np.flip(np.cumsum(np.flip(g, axis), axis), axis)


@vjp(np.cumprod, "a")
def _cumprod(g: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None) -> Any:
    # d out[k] / d a[i] is the product before i times the product of a[i + 1 .. k]; no division, so zeros are as good
    # as others.
    if axis is None or lib.ndim(a) == 0:
        return lib.reshape_as(_cumprod(g, out, call(np.ravel, a), 0), a)
    before = call(runtime.shift, out, axis, 1)
    return call(runtime.flip_scan, g, a, axis) * before


@vjp(np.prod, "a")
def _prod(g: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Any:
    if lib.ndim(a) == 0:
        return g
    if axis is None:
        return lib.reshape_as(g * _others(call(np.ravel, a), 0), a)
    if isinstance(axis, tuple):
        # One axis after the other.
        stages = [a]
        for k in axis[:-1]:
            stages.append(np.prod(stages[-1], axis=k, keepdims=True))
        g = expand(g, axis, keepdims, a)
        for k, stage in zip(reversed(axis), reversed(stages)):
            g = g * _others(stage, k)
        return g
    return expand(g, axis, keepdims, a) * _others(a, axis)


@vjp(np.multiply.reduce, "array")
def _multiply_reduce(g: Any, out: Any, array: Any, axis: Any = 0, dtype: Any = None, *, keepdims: Any = False) -> Any:
    return _prod(g, out, array, axis, keepdims=keepdims)


def _others(a: Any, axis: int) -> Any:
    """For every element the product of the others along the axis; no division, so right where some are 0."""
    before = np.cumprod(call(runtime.shift, a, axis, 1), axis)
    after = np.flip(np.cumprod(np.flip(call(runtime.shift, a, axis, 1, -1), axis), axis), axis)
    return before * after


@vjp(runtime.linear_scan, "g")
def _linear_scan_g(g: Any, out: Any, g_: Any, x: Any, axis: Any) -> Any:
    return call(runtime.flip_scan, g, x, axis)


@vjp(runtime.linear_scan, "x")
def _linear_scan_x(g: Any, out: Any, g_: Any, x: Any, axis: Any) -> Any:
    return call(runtime.flip_scan, g, x, axis) * call(runtime.shift, out, axis, 0)


@vjp(runtime.flip_scan, "g")
def _flip_scan_g(g: Any, out: Any, g_: Any, x: Any, axis: Any) -> Any:
    return call(runtime.linear_scan, g, x, axis)


@vjp(runtime.flip_scan, "x")
def _flip_scan_x(g: Any, out: Any, g_: Any, x: Any, axis: Any) -> Any:
    return call(runtime.shift, call(runtime.linear_scan, g, x, axis), axis, 0) * out


@vjp(runtime.shift, "x")
def _shift(g: Any, out: Any, x: Any, axis: Any, fill: Any, step: Any = 1) -> Any:
    return call(runtime.shift, g, axis, 0, -step)


# --- extremes ---------------------------------------------------------------------------------------------------------


def _shared(g: Any, out: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    chosen = equal(a, expand(out, axis, keepdims, a))
    if axis is None and keepdims is False:
        # A NumPy division: a nan among the elements leaves none that equals the result, and the derivative is nan.
        share = np.divide(g, np.count_nonzero(chosen))
    else:
        share = g / np.sum(chosen, axis=axis, keepdims=keepdims)
    return lib.masked(expand(share, axis, keepdims, a), chosen)


@vjp((np.max, np.amax, np.min, np.amin), "a")
def _max(g: Any, out: Any, a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return _shared(g, out, a, axis, keepdims)


@vjp((np.maximum.reduce, np.minimum.reduce), "array")
def _max_reduce(g: Any, out: Any, array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    return _shared(g, out, array, axis, keepdims)


@vjp(np.ptp, "a")
def _ptp(g: Any, out: Any, a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    largest, smallest = (f(a, axis=axis, keepdims=keepdims) for f in (np.max, np.min))
    return _shared(g, largest, a, axis, keepdims) - _shared(g, smallest, a, axis, keepdims)


# --- norms ------------------------------------------------------------------------------------------------------------


@vjp(np.linalg.norm, "x")
def _norm(g: Any, out: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    rank = lib.ndim(x)
    one_axis = isinstance(axis, int) or (axis is None and rank == 1) or (isinstance(axis, tuple) and len(axis) == 1)
    if lib.symbolic(ord, axis, keepdims):
        raise lib.unsupported("the derivative of np.linalg.norm needs constants for `ord`, `axis` and `keepdims`")
    if ord is None or (ord == "fro" and not one_axis) or (ord == 2 and one_axis):
        # Where the norm is zero so is x, and the derivative is taken to be zero.
        rest = roots.without(g, out)
        return expand(g / lib.nonzero(out) if rest is None else spread(rest, g), axis, keepdims, x) * conj(x)
    if not one_axis:
        raise lib.unsupported(
            f"np.linalg.norm of a matrix with ord={ord!r} has no derivative rule", "ord=None and 'fro' have one"
        )
    wide = expand(g, axis, keepdims, x)
    if ord == 0:
        return None
    if ord in (np.inf, -np.inf):
        return _shared(g, out, np.absolute(x), axis, keepdims) * conj(np.sign(x))
    if ord == 1:
        return wide * conj(np.sign(x))
    size = np.absolute(x)
    ratio = size / expand(lib.nonzero(out), axis, keepdims, x)
    # A zero element has derivative 0; its power would be infinite for ord < 1.
    power = ratio ** (ord - 1) if ord > 1 else lib.choose(equal(size, 0), 1.0, ratio) ** (ord - 1)
    return wide * power * conj(np.sign(x))


nondiff(
    (np.argmax, np.argmin, np.any, np.all, np.count_nonzero, np.argsort, np.searchsorted, np.nonzero, np.flatnonzero)
)
nondiff((runtime.sorted_places, runtime.place_of_max, runtime.place_of_min))


# --- sums without nan, Python's sum, interpolation -------------------------------------------------------------------


@vjp(np.nansum, "a")
def _nansum(g: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Any:
    return lib.masked(spread(expand(g, axis, keepdims, a), a), lib.invert(np.isnan(a)))


@vjp(sum, "iterable")
def _python_sum(g: Any, out: Any, iterable: Any, start: Any = 0) -> Any:
    lib.ndim(iterable)  # an array, not a list
    return spread(g, iterable)


@vjp(sum, "start")
def _python_sum_start(g: Any, out: Any, iterable: Any, start: Any = 0) -> Any:
    return g


@vjp(np.interp, "x")
def _interp_x(g: Any, out: Any, x: Any, xp: Any, fp: Any) -> Any:
    lib.need_real("np.interp", fp)
    left, inside = _interval(x, xp)
    lower, upper = _ends(xp, left)
    below, above = _ends(fp, left)
    return lib.masked(_sorted(g, xp) * ((above - below) / lib.nonzero(upper - lower)), inside)


@vjp(np.interp, "xp")
def _interp_xp(g: Any, out: Any, x: Any, xp: Any, fp: Any) -> Any:
    lib.need_real("np.interp", fp)
    left, inside = _interval(x, xp)
    lower, upper = _ends(xp, left)
    below, above = _ends(fp, left)
    width = lib.nonzero(upper - lower)
    t = (x - lower) / width
    share = -(_sorted(g, xp) * ((above - below) / width) * inside)
    bar = lib.scatter(share * (1 - t), xp, (left,))
    return lib.emit(opset.ADDAT, bar, (("index", (left + 1,)),), share * t)


@vjp(np.interp, "fp")
def _interp_fp(g: Any, out: Any, x: Any, xp: Any, fp: Any) -> Any:
    left, _ = _interval(x, xp)
    lower, upper = _ends(xp, left)
    t = call(np.clip, (x - lower) / lib.nonzero(upper - lower), 0.0, 1.0)
    t = lib.choose(np.greater_equal(x, upper), 1.0, t)  # the last interval may have no width
    g = _sorted(g, xp)
    bar = lib.scatter(g * (1 - t), fp, (left,))
    return lib.emit(opset.ADDAT, bar, (("index", (left + 1,)),), g * t)


def _sorted(g: Any, xp: Any) -> Any:
    """`g`, or nan where the points do not increase: there the value means nothing."""
    if not lib.symbolic(xp):  # a list, perhaps
        points = np.asarray(xp)
        return g if np.all(points[:-1] <= points[1:]) else g * np.nan
    last = lib.length(xp, 0) - 1
    rises = np.less_equal(part(xp, (slice(None, last),)), part(xp, (slice(1, None),)))
    return lib.choose(call(np.all, rises), g, np.nan)


def _ends(points: Any, left: Any) -> tuple[Any, Any]:
    """What stands at both ends of the intervals."""
    return lib.floats(call(np.take, points, left)), lib.floats(call(np.take, points, left + 1))


def _interval(x: Any, xp: Any) -> tuple[Any, Any]:
    """The number of the interval of `xp` in which each point lies, and whether it lies in one."""
    last = lib.length(xp, 0) - 1
    left = call(np.clip, call(np.searchsorted, xp, x, side="right") - 1, 0, last - 1)
    first, end = call(np.take, xp, 0), call(np.take, xp, -1)  # a list, perhaps
    inside = np.greater_equal(x, first) & np.less_equal(x, end)
    return left, inside
