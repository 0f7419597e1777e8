"""`scipy.special`: functions of several elements, and Lambert's W."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from ...ir.core import Builder, type_of
from ...ir.infer import broadcast_dims
from ...ir.ops_common import as_array, reduced, scalar_or_array
from ...ir.opset import mark
from ...ir.types import ANY, Ty
from ...kernels.scipy.special_sums import diric_derivative, logsumexp, signed_logsumexp
from .. import lib
from ..lib import CHOICES, call, guarded
from ..record import jvp, op, refuses, vjp
from .special_lib import kernel, whole

_FLOATS = (np.float64, np.float32)


def _sum_type(b: Builder, a: Any, weights: Any, axis: Any, keepdims: Any) -> Ty:
    types = [as_array(b, x) for x in (a, weights) if x is not None]
    dims = broadcast_dims(b, [t.dims for t in types])
    dtypes = {t.dtype for t in types}
    if not dims or not all(map(_may_be_float, dtypes)) or len(dtypes - {None}) > 1 or lib.symbolic(axis, keepdims):
        return ANY
    return scalar_or_array(True, dtypes.pop() if len(dtypes) == 1 else None, reduced(dims, axis, keepdims))


def _may_be_float(dtype: Any) -> bool:
    return dtype is None or dtype in _FLOATS


op(logsumexp, "a: array, b: array, axis, keepdims", type=_sum_type)
op(signed_logsumexp, "a: array, b: array, axis, keepdims", nout=2, type=lambda b, *args: (_sum_type(b, *args),) * 2)


def _share(out: Any, a: Any, b: Any, axis: Any, keepdims: Any) -> Any:
    """``exp(a)`` divided by the sum."""
    largest = a if b is None or lib.ndim(a) >= lib.ndim(b) else b
    return np.exp(a - lib.expand(out, axis, keepdims, largest))


def _widened(g: Any, a: Any, b: Any, axis: Any, keepdims: Any) -> Any:
    largest = a if b is None or lib.ndim(a) >= lib.ndim(b) else b
    return lib.expand(g, axis, keepdims, largest)


@vjp(logsumexp, "a")
def _logsumexp(g: Any, out: Any, a: Any, b: Any, axis: Any, keepdims: Any) -> Any:
    wide = _widened(g, a, b, axis, keepdims)

    def product(out: Any, a: Any) -> Any:
        share = wide * _share(out, a, b, axis, keepdims)
        return share if b is None else share * b

    return guarded(wide, product, (out, a), CHOICES)


@vjp(logsumexp, "b")
def _logsumexp_weights(g: Any, out: Any, a: Any, b: Any, axis: Any, keepdims: Any) -> Any:
    return _widened(g, a, b, axis, keepdims) * _share(out, a, b, axis, keepdims)


@jvp(logsumexp, "a")
def _logsumexp_tangent(d: Any, out: Any, a: Any, b: Any, axis: Any, keepdims: Any) -> Any:
    share = _share(out, a, b, axis, keepdims)
    return np.sum(d * (share if b is None else share * b), axis=axis, keepdims=keepdims)


@jvp(logsumexp, "b")
def _logsumexp_weights_tangent(d: Any, out: Any, a: Any, b: Any, axis: Any, keepdims: Any) -> Any:
    return np.sum(d * _share(out, a, b, axis, keepdims), axis=axis, keepdims=keepdims)


@vjp(signed_logsumexp, "a")
def _signed(g: Any, out: Any, a: Any, b: Any, axis: Any, keepdims: Any) -> Any:
    if g[0] is None:
        return None
    found = _logsumexp_weights(g[0] * out[1], out[0], a, b, axis, keepdims)
    return found if b is None else found * b


@vjp(signed_logsumexp, "b")
def _signed_weights(g: Any, out: Any, a: Any, b: Any, axis: Any, keepdims: Any) -> Any:
    return None if g[0] is None else _logsumexp_weights(g[0] * out[1], out[0], a, b, axis, keepdims)


def _same_type(b: Builder, x: Any, axis: Any = None) -> Ty:
    t = as_array(b, x)
    return t if t.kind == "array" and _may_be_float(t.dtype) and t.dims else ANY


op("scipy.special.softmax", "x: array, axis", type=_same_type)
op("scipy.special.log_softmax", "x: array, axis", type=_same_type)


@vjp(special.softmax, "x", symmetric=True)
def _softmax(g: Any, out: Any, x: Any, axis: Any = None) -> Any:
    weighted = g * out
    return weighted - out * np.sum(weighted, axis=axis, keepdims=True)


@vjp(special.log_softmax, "x")
def _log_softmax(g: Any, out: Any, x: Any, axis: Any = None) -> Any:
    return g - np.exp(out) * np.sum(g, axis=axis, keepdims=True)


@jvp(special.log_softmax, "x")
def _log_softmax_tangent(d: Any, out: Any, x: Any, axis: Any = None) -> Any:
    return d - np.sum(d * np.exp(out), axis=axis, keepdims=True)


def _lambert_type(b: Builder, z: Any, k: Any = 0, tol: Any = 1e-8) -> Ty:
    t = type_of(z)
    known = t.kind in ("array", "py", "generic") and t.dtype in (np.float64, np.complex128) and type(k) is int
    return scalar_or_array(True, np.dtype(np.complex128), t.dims) if known else ANY


op("scipy.special.lambertw", "z: array, k, tol", type=_lambert_type, elementwise=True, total="known")


@vjp(special.lambertw, "z", symmetric=True)
def _lambertw(g: Any, out: Any, z: Any, k: Any = 0, tol: Any = 1e-8) -> Any:
    return g * (np.exp(-out) / (1 + out))


op("scipy.special.diric", "x: array, n: array", elementwise=True)
kernel(diric_derivative, "x n", "order")
refuses((special.diric, diric_derivative), whole("diric", "number of terms"), "n")


@vjp(special.diric, "x", symmetric=True)
def _diric(g: Any, out: Any, x: Any, n: Any) -> Any:
    return g * call(diric_derivative, 1, x, n)


@vjp(diric_derivative, "x", symmetric=True)
def _diric_derivative(g: Any, out: Any, order: Any, x: Any, n: Any) -> Any:
    return g * call(diric_derivative, order + 1, x, n)


mark("logarithm", logsumexp, special.log_softmax)
