"""The kernels of neural networks as primitives."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import runtime
from .core import Builder, Prim
from .infer import infer_ufunc
from .ops_common import as_array, bound, reduced, scalar_or_array
from .opset import PRIMS
from .types import ANY, Ty


def _enter(fn: Any, params: str, infer: Any, elementwise: bool = False) -> Prim:
    prim = PRIMS[fn] = Prim(fn.__name__, fn, infer, tuple(params.split()), elementwise=elementwise)
    return prim


def _floating(t: Ty) -> bool:
    return t.kind == "array" and t.is_float and t.is_real


def _softmax(b: Builder, x: Any, axis: Any) -> Ty:
    t = as_array(b, x)
    return t if _floating(t) and t.dims != () else ANY


def _logsumexp(b: Builder, x: Any, axis: Any, keepdims: Any) -> Ty:
    t = as_array(b, x)
    return scalar_or_array(True, t.dtype, reduced(t.dims, axis, keepdims)) if _floating(t) else ANY


# --- elementwise: the types of a ufunc that makes floating numbers of integers as well --------------------------------

_UNARY, _BINARY = infer_ufunc(np.exp), infer_ufunc(np.arctan2)
_enter(runtime.relu, "x", infer_ufunc(np.positive), True)
_enter(runtime.sigmoid, "x", _UNARY, True)
_enter(runtime.softplus, "x", _UNARY, True)
_enter(runtime.erf, "x", _UNARY, True)
_enter(runtime.elu, "x alpha", _BINARY, True)
_enter(runtime.sigmoid_cross_entropy, "labels logits", _BINARY, True)
_enter(runtime.sigmoid_error, "labels logits", _BINARY, True)

# --- along axes -------------------------------------------------------------------------------------------------------

_enter(runtime.softmax, "x axis", bound(_softmax))
_enter(runtime.log_softmax, "x axis", bound(_softmax))
_enter(runtime.logsumexp, "x axis keepdims", bound(_logsumexp))
