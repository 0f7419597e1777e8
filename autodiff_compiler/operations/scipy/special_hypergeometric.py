"""`scipy.special`: hypergeometric functions, in the last argument and in their parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from ...kernels.scipy.special_hypergeometric import hyp0f1_slope, hyp1f1_slope, hyp2f1_slope, hyperu_slope
from .. import lib
from ..lib import call
from ..record import Refused, elementwise, refuses, vjp
from .special_lib import Rule, kernel


def _by_parameter(fn: Any, name: str, *k: int) -> Rule:
    def slope(out: Any, *args: Any) -> Any:
        lib.need_real(f"scipy.special.{name} by a parameter", *args)
        return call(fn, *k, *args)

    return slope


def _second(name: str) -> Refused:
    return Refused(
        f"the second derivative of scipy.special.{name} by its parameters is not known to the compiler",
        "differentiate once by the parameters",
    )


def _kernel(fn: Any, name: str, operands: str, slope: Rule) -> None:
    """The record of a kernel ``kernel(k, *args)``: by the last argument ``slope(g, out, k, *args)``, by the others
    refused."""
    names = operands.split()
    kernel(fn, operands, "" if fn is hyp0f1_slope else "k")
    refuses(fn, _second(name), *names[:-1])
    vjp(fn, names[-1], symmetric=True)(slope)


# --- hyp0f1 -----------------------------------------------------------------------------------------------------------


def _0f1_by_z(g: Any, out: Any, v: Any, z: Any) -> Any:
    return g * (call(hyp0f1_slope, v + 1, z) / v - special.hyp0f1(v + 1, z) / np.square(v))


_kernel(hyp0f1_slope, "hyp0f1", "v z", _0f1_by_z)
elementwise(special.hyp0f1, _by_parameter(hyp0f1_slope, "hyp0f1"), lambda out, v, z: special.hyp0f1(v + 1, z) / v)

# --- hyp1f1 -----------------------------------------------------------------------------------------------------------


def _1f1_by_z(g: Any, out: Any, k: Any, a: Any, b: Any, z: Any) -> Any:
    # of a / b times the function of a + 1, b + 1
    rest = 1 / b if k == 0 else -a / np.square(b)
    return g * (rest * special.hyp1f1(a + 1, b + 1, z) + a / b * call(hyp1f1_slope, k, a + 1, b + 1, z))


_kernel(hyp1f1_slope, "hyp1f1", "a b z", _1f1_by_z)
elementwise(
    special.hyp1f1,
    _by_parameter(hyp1f1_slope, "hyp1f1", 0),
    _by_parameter(hyp1f1_slope, "hyp1f1", 1),
    lambda out, a, b, z: a / b * special.hyp1f1(a + 1, b + 1, z),
)

# --- hyp2f1 -----------------------------------------------------------------------------------------------------------


def _2f1_by_z(g: Any, out: Any, k: Any, a: Any, b: Any, c: Any, z: Any) -> Any:
    rest = b / c if k == 0 else a / c if k == 1 else -a * b / np.square(c)
    shifted = special.hyp2f1(a + 1, b + 1, c + 1, z)
    return g * (rest * shifted + a * b / c * call(hyp2f1_slope, k, a + 1, b + 1, c + 1, z))


_kernel(hyp2f1_slope, "hyp2f1", "a b c z", _2f1_by_z)
elementwise(
    special.hyp2f1,
    _by_parameter(hyp2f1_slope, "hyp2f1", 0),
    _by_parameter(hyp2f1_slope, "hyp2f1", 1),
    _by_parameter(hyp2f1_slope, "hyp2f1", 2),
    lambda out, a, b, c, z: a * b / c * special.hyp2f1(a + 1, b + 1, c + 1, z),
)

# --- hyperu -----------------------------------------------------------------------------------------------------------


def _u_by_x(g: Any, out: Any, k: Any, a: Any, b: Any, x: Any) -> Any:
    # of -a times the function of a + 1, b + 1
    found = -a * call(hyperu_slope, k, a + 1, b + 1, x)
    return g * (found - special.hyperu(a + 1, b + 1, x) if k == 0 else found)


_kernel(hyperu_slope, "hyperu", "a b x", _u_by_x)
elementwise(
    special.hyperu,
    _by_parameter(hyperu_slope, "hyperu", 0),
    _by_parameter(hyperu_slope, "hyperu", 1),
    lambda out, a, b, x: -a * special.hyperu(a + 1, b + 1, x),
)
