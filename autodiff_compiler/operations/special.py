"""Special functions: error, gamma, Bessel, and their derivatives."""

from __future__ import annotations

from typing import Any

from .. import runtime
from ..ir.core import Builder, type_of
from ..ir.infer import infer_ufunc
from ..ir.opset import mark
from ..ir.types import ANY, PY_FLOAT, Ty, generic
from ..pristine import math, np
from . import lib
from .batch_rules import batch, of_one_operand
from .lib import WEIGHTS, call
from .record import elementwise, op, vjp

_ROOT_PI = math.sqrt(math.pi)
_floating_type = infer_ufunc(np.exp)
for _erf, _erfc in ((runtime.erf, runtime.erfc), (math.erf, math.erfc)):
    elementwise(_erf, lambda out, x: 2 / _ROOT_PI * call(runtime.gaussian, x, 1.0))
    elementwise(_erfc, lambda out, x: -2 / _ROOT_PI * call(runtime.gaussian, x, 1.0))
elementwise(runtime.ndtr, lambda out, x: math.sqrt(0.5) / _ROOT_PI * call(runtime.gaussian, x, 0.5))


def _gaussian_type(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A number of Python's stays one."""
    t = type_of(args[0])
    if t.kind == "py" and t.dtype == np.float64:
        return PY_FLOAT
    return Ty("scalar", t.dtype, ()) if t.kind == "scalar" and t.is_float else _floating_type(b, args[:1], kwargs)


op(runtime.gaussian, "x: array, rate", infer=_gaussian_type, elementwise=True)
batch(runtime.gaussian)(of_one_operand)
elementwise(runtime.gaussian, lambda out, x, rate: -2 * rate * x * out, lambda out, x, rate: -(x * x) * out)
elementwise(runtime.erfinv, lambda out, x: 0.5 * _ROOT_PI * np.exp(out * out), singular=WEIGHTS)
elementwise(math.lgamma, lambda out, x: call(runtime.polygamma, 0, x))
elementwise(math.gamma, lambda out, x: out * call(runtime.polygamma, 0, x))


def _bessel_type(b: Builder, n: Any, x: Any) -> Ty:
    t = type_of(x)
    if t.kind not in ("array", "generic") or not t.is_float or t.dims is None:
        return ANY
    return t if t.dims else generic(t.dtype)


def _polygamma_type(b: Builder, n: Any, x: Any) -> Ty:
    return PY_FLOAT if type_of(x).kind == "py" else _bessel_type(b, n, x)


op(runtime.polygamma, "n, x: array", type=_polygamma_type)


@vjp(runtime.polygamma, "x", symmetric=True)
def _polygamma(g: Any, out: Any, n: Any, x: Any) -> Any:
    return g * call(runtime.polygamma, n + 1, x)


def _same_float_type(b: Builder, x: Any) -> Ty:
    t = type_of(x)
    if not t.is_float or t.kind != "array" or t.dtype not in (np.float32, np.float64):
        return ANY
    return Ty("any" if not t.dims else "array", t.dtype, t.dims)


op("np.i0", "x: array", type=_same_float_type, total="known")
elementwise(np.i0, lambda out, x: call(runtime.bessel_i, 1, x))
op(runtime.bessel_i, "n, x: array", type=_bessel_type)


@vjp(runtime.bessel_i, "x", symmetric=True)
def _bessel(g: Any, out: Any, n: Any, x: Any) -> Any:
    before, after = (call(runtime.bessel_i, k, x) for k in (abs(n - 1), n + 1))
    return g * (0.5 * (before + after))


def _sinc_type(b: Builder, x: Any) -> Ty:
    t = type_of(x)
    if t.dtype not in (np.float32, np.float64) or t.kind != "array":
        return ANY
    return Ty("any" if not t.dims else "array", t.dtype, t.dims)


op("np.sinc", "x: array", type=_sinc_type, total="known", elementwise=True)


def _of_sinc(out: Any, x: Any) -> Any:
    lib.need_real("np.sinc", x)
    return call(runtime.sinc_slope, 1, x)


elementwise(np.sinc, _of_sinc)


op(runtime.sinc_slope, "n, x: array", type=_bessel_type)


@vjp(runtime.sinc_slope, "x", symmetric=True)
def _sinc_slope(g: Any, out: Any, n: Any, x: Any) -> Any:
    return g * call(runtime.sinc_slope, n + 1, x)


# --- traits ---------------------------------------------------------------------------------------------------------

mark("exponential", runtime.erf, runtime.erfc, runtime.ndtr, runtime.gaussian)
