"""Derivative rules of special functions: gamma, Bessel, and their derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import runtime
from .lib import call
from .registry import elementwise, vjp

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
