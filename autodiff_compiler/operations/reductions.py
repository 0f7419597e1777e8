"""Sums, products, extremes and norms. Equal largest (smallest) elements share the cotangent equally."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import runtime
from ..ir.core import Builder, Op, Prim, Value, current, type_of
from ..ir.ops_common import Dtype, as_array, axes_of, dtype_of, is_number, reduced, scalar_or_array
from ..ir.opset import PRIMS, mark
from ..ir.types import ANY, PYTHON_DTYPES, Ty, generic
from . import lib, roots
from .batch_rules import no_rule, stack_axes
from .lib import call, choose, conj, count, equal, expand, per, spread
from .record import Rule, jvp, op, passes_on, vjp

if TYPE_CHECKING:
    from .batching import Batcher

# --- sums -------------------------------------------------------------------------------------------------------------


def sum_dtype(dtype: Dtype) -> Dtype:
    """Sums and products of small integers are computed in the platform's integer."""
    if dtype is None or not is_number(dtype):
        return None
    if dtype.kind in "bi" and dtype.itemsize < 8:
        return np.dtype(np.int64)
    if dtype.kind == "u" and dtype.itemsize < 8:
        return np.dtype(np.uint64)
    return dtype


def _real_dtype(dtype: Dtype) -> Dtype:
    return np.empty(0, dtype).real.dtype if dtype is not None and dtype.kind == "c" else dtype


def _reduced_type(b: Builder, a: Any, axis: Any, keepdims: Any, dtype: Any) -> Ty:
    t = as_array(b, a)
    # What has a dtype is an array or a number, whichever it is.
    if t.kind != "array" and not is_number(t.dtype):
        return ANY
    found = dtype(t.dtype if t.dtype in PYTHON_DTYPES or t.kind == "array" else None)
    if t.dims is None and axis is None and keepdims is False:
        made = generic(found)
    else:
        made = scalar_or_array(True, found, reduced(t.dims, axis, keepdims))
    return replace(made, real=True) if found is None and type_of(a).is_real else made


def reduction(
    name: str, params: str, dtype: Callable[[Dtype], Dtype], *, axis: Any = None, total: bool = False,
    several: bool = True, real: bool = False, nondiff: bool = False,
) -> Prim:  # fmt: skip
    """The record of a function that combines elements along axes.

    dtype:   that of the result, from that of the elements
    axis:    what no axis means
    total:   it has a result for no elements too
    several: `axis` may be a tuple
    real:    the result is real for complex elements
    """
    record = op(name, params, nondiff=nondiff)
    subject = record.params[0]
    known = {subject, "axis", "dtype", "out", "ddof", "keepdims"}

    def given(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
        """The arguments by name; None for those that change what is computed in ways not looked at here."""
        found = {"axis": axis, **dict(zip(record.params, args)), **kwargs}
        unknown = len(args) > len(record.params) or found.keys() - known or found.get("out") is not None
        return None if unknown or subject not in found else found

    def infer(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
        call = given(args, kwargs)
        if call is None or (not several and isinstance(call["axis"], tuple)):
            return ANY

        def result(elements: Dtype) -> Dtype:
            found = dtype_of(call.get("dtype"), dtype(elements))
            return _real_dtype(found) if real else found

        made = _reduced_type(b, call[subject], call["axis"], call.get("keepdims", False), result)
        return made if call.get("dtype") is None else replace(made, real=False)

    def never_raises(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        call = given(args, kwargs)
        if call is None or call.get("dtype") is not None:
            return False
        t = as_array(b, call[subject])
        return (
            t.kind == "array" and is_number(t.dtype) and t.dims is not None
            and axes_of(call["axis"], len(t.dims)) is not None
            and isinstance(call.get("keepdims", False), bool) and isinstance(call.get("ddof", 0), int)
        )  # fmt: skip

    def batched(self: Batcher, op: Op) -> Any:
        call = self.bound(op)
        x, along = call.pop(subject), call.pop("axis", axis)
        if call.keys() - {"keepdims", "ddof"} or self.has_stack(list(call.values())):
            raise no_rule(op)
        return self.stack(op.prim, x, axis=stack_axes(along, self.rank(x), op), **call)

    record.infer = infer
    record.batch = batched if several else None
    record.total = never_raises if total else None
    return record


_SUMMED = "axis, dtype, out, keepdims, initial: array, where: array"
SUM = reduction("np.sum", f"a: array, {_SUMMED}", sum_dtype, total=True)


@vjp(np.sum, "a", linear=True)
def _sum(g: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Any:
    return spread(expand(g, axis, keepdims, a), a)


reduction("np.add.reduce", f"array: array, {_SUMMED}", sum_dtype, axis=0, total=True)


def _reduces_as(methods: Any, fn: Any) -> None:
    """The methods of ufuncs have the rules of a function of NumPy's, with an axis of 0 where that has none."""
    record = PRIMS[fn]

    def along_first(rule: Rule) -> Rule:
        @functools.wraps(rule)
        def run(g: Any, out: Any, array: Any, axis: Any = 0, *rest: Any, **keywords: Any) -> Any:
            return rule(g, out, array, axis, *rest, **keywords)

        return run

    vjp(methods, "array", linear=bool(record.linear))(along_first(record.pullbacks["a"]))
    if "a" in record.tangents:
        jvp(methods, "array")(along_first(record.tangents["a"]))


_reduces_as(np.add.reduce, np.sum)


def _mean_dtype(dtype: Dtype) -> Dtype:
    if dtype is None or not is_number(dtype):
        return None
    return np.dtype(np.float64) if dtype.kind in "biu" else dtype


MEAN = reduction("np.mean", "a: array, axis, dtype, out, keepdims, where: array", _mean_dtype, total=True)


@vjp(np.mean, "a", linear=True)
def _mean(g: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Any:
    n = count(a, axis)
    if type(n) is Value and not lib.has_more_than(0, a, axis):
        n = call(max, n, 1)  # Python would raise; of no elements there is no cotangent
    return spread(expand(per(g, n), axis, keepdims, a), a)


reduction("np.nansum", f"a: array, {_SUMMED}", sum_dtype)


@vjp(np.nansum, "a")
def _nansum(g: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Any:
    return lib.masked(spread(expand(g, axis, keepdims, a), a), lib.invert(np.isnan(a)))


@jvp(np.nansum, "a")
def _nansum_jvp(d: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Any:
    # The tangent of a value that is nan is nan, too, so a product with zero would keep it.
    return np.sum(choose(np.isnan(a), 0.0, d), axis=axis, keepdims=keepdims)


reduction("np.nanmean", "a: array, axis, dtype, out, keepdims, where: array", _mean_dtype)


_VARIANCE = "a: array, axis, dtype, out, ddof, keepdims, where: array, mean: array, correction"
VAR = reduction("np.var", _VARIANCE, _mean_dtype, real=True, total=True)


@vjp(np.var, "a")
def _var(g: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None, *, ddof: Any = 0, keepdims: Any = False) -> Any:
    if lib.has_more_than(ddof, a, axis):
        return expand(g * per(2, count(a, axis) - ddof), axis, keepdims, a) * conj(centered(a, axis))
    scale = call(runtime.ratio, 2.0 * g, freedom(a, axis, ddof))
    return _unless_zero(g, expand(scale, axis, keepdims, a) * conj(centered(a, axis)), axis, keepdims, a)


@jvp(np.var, "a")
def _var_jvp(
    d: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None, *, ddof: Any = 0, keepdims: Any = False
) -> Any:
    moved = np.sum(conj(centered(a, axis)) * d, axis=axis, keepdims=keepdims)
    if lib.has_more_than(ddof, a, axis):
        return lib.per(2, lib.count(a, axis) - ddof) * moved
    return 2.0 * moved / freedom(a, axis, ddof)  # a NumPy division


def freedom(a: Any, axis: Any, ddof: Any) -> Any:
    """The number by which a variance divides, which is zero for too few elements."""
    n = count(a, axis) - ddof
    return n if lib.has_more_than(ddof, a, axis) else call(max, n, 0)


def _unless_zero(g: Any, product: Any, axis: Any, keepdims: Any, a: Any) -> Any:
    """The cotangent of `a`, a multiple of `g` by what may be nan: zero where `g` is zero for sure."""
    cotangents = current().cotangents if type(g) is Value else None
    mask = True if cotangents is None else cotangents.mask(g, (a,), lib.SUBSCRIPTS)
    if mask is True:
        return product
    return None if mask is False else call(np.where, expand(mask, axis, keepdims, a), product, 0.0)


def centered(a: Any, axis: Any) -> Any:
    return a - per(np.sum(a, axis=axis, keepdims=True), count(a, axis))


STD = reduction("np.std", _VARIANCE, _mean_dtype, real=True, total=True)


@vjp(np.std, "a")
def _std(g: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None, *, ddof: Any = 0, keepdims: Any = False) -> Any:
    # Where all elements are equal the numerator is zero as well, and the derivative is taken to be zero.
    rest = roots.without(g, out)
    n = freedom(a, axis, ddof)
    if rest is None or not lib.has_more_than(ddof, a, axis):
        scale = roots.over(g, out * n)
    else:
        scale = spread(rest / n, g)
    product = expand(scale, axis, keepdims, a) * conj(centered(a, axis))
    return product if lib.has_more_than(ddof, a, axis) else _unless_zero(g, product, axis, keepdims, a)


@jvp(np.std, "a")
def _std_jvp(
    d: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None, *, ddof: Any = 0, keepdims: Any = False
) -> Any:
    moved = np.sum(conj(centered(a, axis)) * d, axis=axis, keepdims=keepdims)
    return roots.over(moved, out * freedom(a, axis, ddof))


op(builtins.sum, "iterable, start")


@vjp(sum, "iterable", linear="iterable, start")
def _python_sum(g: Any, out: Any, iterable: Any, start: Any = 0) -> Any:
    lib.ndim(iterable)  # an array, not a list
    return spread(g, iterable)


passes_on(sum, "start")
# --- products ---------------------------------------------------------------------------------------------------------


PROD = reduction("np.prod", f"a: array, {_SUMMED}", sum_dtype, total=True)


@vjp(np.prod, "a")
def _prod(g: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Any:
    if lib.ndim(a) == 0:
        return g
    if axis is None:
        return lib.reshape_as(g * product_of_others(call(np.ravel, a), 0), a)
    if isinstance(axis, tuple):
        # One axis after the other.
        stages = [a]
        for k in axis[:-1]:
            stages.append(np.prod(stages[-1], axis=k, keepdims=True))
        g = expand(g, axis, keepdims, a)
        for k, stage in zip(reversed(axis), reversed(stages)):
            g = g * product_of_others(stage, k)
        return g
    return expand(g, axis, keepdims, a) * product_of_others(a, axis)


@jvp(np.prod, "a")
def _prod_jvp(d: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Any:
    if lib.ndim(a) == 0:
        return d
    if isinstance(axis, tuple) or (axis is None and keepdims is not False):
        return NotImplemented
    if axis is None:
        a, d, axis = call(np.ravel, a), call(np.ravel, d), 0
    return np.sum(d * product_of_others(a, axis), axis=axis, keepdims=keepdims)


def product_of_others(a: Any, axis: int) -> Any:
    """For every element the product of the others along the axis; no division, so right where some are 0."""
    before = np.cumprod(call(runtime.shift, a, axis, 1), axis)
    after = np.flip(np.cumprod(np.flip(call(runtime.shift, a, axis, 1, -1), axis), axis), axis)
    return before * after


reduction("np.multiply.reduce", f"array: array, {_SUMMED}", sum_dtype, axis=0, total=True)


_reduces_as(np.multiply.reduce, np.prod)

# --- extremes ---------------------------------------------------------------------------------------------------------


for _name in ("max", "min", *(("amax", "amin") if np.amax is not np.max else ())):
    reduction(f"np.{_name}", "a: array, axis, out, keepdims, initial: array, where: array", lambda dtype: dtype)


@vjp((np.max, np.amax, np.min, np.amin), "a")
def _max(g: Any, out: Any, a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return _shared(g, out, a, axis, keepdims)


def _shared(g: Any, out: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    chosen = equal(a, expand(out, axis, keepdims, a))
    if axis is None and keepdims is False:
        # A NumPy division: a nan among the elements leaves none that equals the result, and the derivative is nan.
        share = np.divide(g, np.count_nonzero(chosen))
    else:
        share = g / np.sum(chosen, axis=axis, keepdims=keepdims)
    return lib.masked(expand(share, axis, keepdims, a), chosen)


def _of_chosen(d: Any, out: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    """The mean of the tangents of the elements that equal the result."""
    chosen = lib.equal(a, expand(out, axis, keepdims, a))
    both = [np.sum(x, axis=axis, keepdims=keepdims) for x in (lib.masked(d, chosen), chosen)]
    return np.divide(*both)


@jvp((np.max, np.amax, np.min, np.amin), "a")
def _max_jvp(d: Any, out: Any, a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return _of_chosen(d, out, a, axis, keepdims)


for _name in ("maximum", "minimum"):
    reduction(f"np.{_name}.reduce", f"array: array, {_SUMMED}", lambda dtype: dtype, axis=0)


_reduces_as((np.maximum.reduce, np.minimum.reduce), np.max)
reduction("np.ptp", "a: array, axis, out, keepdims", lambda dtype: dtype)


@vjp(np.ptp, "a")
def _ptp(g: Any, out: Any, a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    largest, smallest = (f(a, axis=axis, keepdims=keepdims) for f in (np.max, np.min))
    return _shared(g, largest, a, axis, keepdims) - _shared(g, smallest, a, axis, keepdims)


@jvp(np.ptp, "a")
def _ptp_jvp(d: Any, out: Any, a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    largest, smallest = (f(a, axis=axis, keepdims=keepdims) for f in (np.max, np.min))
    return _of_chosen(d, largest, a, axis, keepdims) - _of_chosen(d, smallest, a, axis, keepdims)


# --- norms ------------------------------------------------------------------------------------------------------------


def _norm_type(b: Builder, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Ty:
    return _reduced_type(b, x, axis, keepdims, lambda d: _real_dtype(_mean_dtype(d)) if d != np.float16 else None)


NORM = op("np.linalg.norm", "x: array, ord: known, axis, keepdims", type=_norm_type)


@vjp(np.linalg.norm, "x")
def _norm(g: Any, out: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    rank = lib.ndim(x)
    one_axis = isinstance(axis, int) or (axis is None and rank == 1) or (isinstance(axis, tuple) and len(axis) == 1)
    if lib.symbolic(ord, axis, keepdims):
        raise lib.unsupported("the derivative of np.linalg.norm needs constants for `ord`, `axis` and `keepdims`")
    if ord is None or (ord == "fro" and not one_axis) or (ord == 2 and one_axis):
        # Where the norm is zero so is x, and the derivative is taken to be zero.
        rest = roots.without(g, out)
        return expand(roots.over(g, out) if rest is None else spread(rest, g), axis, keepdims, x) * conj(x)
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
    ratio = roots.over(size, expand(out, axis, keepdims, x))
    # A zero element has derivative 0; its power would be infinite for ord < 1.
    power = ratio ** (ord - 1) if ord > 1 else choose(equal(size, 0), 1.0, ratio) ** (ord - 1)
    return wide * power * conj(np.sign(x))


@jvp(np.linalg.norm, "x")
def _norm_jvp(d: Any, out: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    if lib.symbolic(ord, axis, keepdims):
        return NotImplemented
    one_axis = (
        isinstance(axis, int) or (axis is None and lib.ndim(x) == 1) or (isinstance(axis, tuple) and len(axis) == 1)
    )
    if not (ord is None or (ord == "fro" and not one_axis) or (ord == 2 and one_axis)):
        return NotImplemented
    # Where the norm is zero so is x, and the derivative is taken to be zero.
    return roots.over(np.sum(lib.real(conj(x) * d), axis=axis, keepdims=keepdims), out)


# --- questions --------------------------------------------------------------------------------------------------------


def _truth_dtype(dtype: Dtype) -> Dtype:
    return np.dtype(bool) if is_number(dtype) else None


for _name in ("any", "all"):
    reduction(f"np.{_name}", "a: array, axis, out, keepdims, where: array", _truth_dtype, total=True, nondiff=True)


def _index_dtype(dtype: Dtype) -> Dtype:
    return np.dtype(np.intp)


for _name in ("argmax", "argmin"):
    reduction(f"np.{_name}", "a: array, axis, out, keepdims", _index_dtype, several=False, nondiff=True)


def _count_nonzero_type(b: Builder, a: Any, axis: Any = None, *, keepdims: Any = False) -> Ty:
    if axis is None and keepdims is False:
        # A Python int or an np.intp, by the version of NumPy.
        return Ty("scalar", np.dtype(np.int64), ()) if as_array(b, a).kind == "array" else ANY
    return _reduced_type(b, a, axis, keepdims, _index_dtype)


op(
    "np.count_nonzero", "a: array, axis, keepdims", type=_count_nonzero_type,
    total=lambda b, a: as_array(b, a).kind == "array", nondiff=True,
)  # fmt: skip

# --- traits ---------------------------------------------------------------------------------------------------------

mark("steady", np.sum, np.add.reduce, np.mean)
