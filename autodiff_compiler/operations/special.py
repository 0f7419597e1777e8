"""Derivative rules of special functions: error, gamma, Bessel, and their derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import runtime
from . import lib
from .lib import WEIGHTS, call, choose, equal
from .record import elementwise, vjp

_ROOT_PI = math.sqrt(math.pi)
for _erf, _erfc in ((runtime.erf, runtime.erfc), (math.erf, math.erfc)):
    elementwise(_erf, lambda out, x: 2 / _ROOT_PI * call(runtime.gaussian, x, 1.0))
    elementwise(_erfc, lambda out, x: -2 / _ROOT_PI * call(runtime.gaussian, x, 1.0))
elementwise(runtime.ndtr, lambda out, x: math.sqrt(0.5) / _ROOT_PI * call(runtime.gaussian, x, 0.5))
elementwise(runtime.gaussian, lambda out, x, rate: -2 * rate * x * out, lambda out, x, rate: -(x * x) * out)
elementwise(runtime.erfinv, lambda out, x: 0.5 * _ROOT_PI * np.exp(out * out), singular=WEIGHTS)

elementwise(math.lgamma, lambda out, x: call(runtime.polygamma, 0, x))
elementwise(math.gamma, lambda out, x: out * call(runtime.polygamma, 0, x))


@vjp(runtime.polygamma, "x")
def _polygamma(g: Any, out: Any, n: Any, x: Any) -> Any:
    return g * call(runtime.polygamma, n + 1, x)


elementwise(np.i0, lambda out, x: call(runtime.bessel_i, 1, x))


@vjp(runtime.bessel_i, "x")
def _bessel(g: Any, out: Any, n: Any, x: Any) -> Any:
    before, after = (call(runtime.bessel_i, k, x) for k in (abs(n - 1), n + 1))
    return g * (0.5 * (before + after))


def _of_sinc(out: Any, x: Any) -> Any:
    lib.need_real("np.sinc", x)
    return call(runtime.sinc_slope, x)


elementwise(np.sinc, _of_sinc)


def _sinc_slope(out: Any, x: Any) -> Any:
    safe = choose(equal(x, 0), 1.0, x)
    return choose(equal(x, 0), -(math.pi**2) / 3, -(math.pi**2) * np.sinc(x) - 2 * out / safe)


elementwise(runtime.sinc_slope, _sinc_slope)
