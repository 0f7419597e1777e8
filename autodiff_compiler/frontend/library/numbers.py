"""A product with a sum, and what is done about nan and infinity."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np

from ..definitions import defines, refuse


def _fma(x: Any, y: Any, z: Any) -> Any:
    return x * y + z


@defines(math.modf)
def modf(x: Any) -> Any:
    part = math.fmod(x, 1.0)
    return part, x - part


@defines(math.ldexp)
def ldexp(x: Any, i: Any) -> Any:
    return x * 2.0**i


if hasattr(math, "fma"):  # Python 3.13
    defines(math.fma)(_fma)


@defines(cmath.polar)
def polar(z: Any) -> Any:
    return abs(z), cmath.phase(z)


@defines(cmath.rect)
def rect(r: Any, phi: Any) -> Any:
    return complex(r * math.cos(phi), r * math.sin(phi))


@defines(np.nan_to_num)
def nan_to_num(x: Any, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    if posinf is None and neginf is None and copy and type(nan) is float and nan == 0.0:
        return np.nan_to_num(x)
    if not copy:
        refuse("np.nan_to_num with copy=False", "assign the result")
    limits = np.finfo(np.asarray(x).dtype)
    out = np.where(np.isnan(x), nan, x)
    out = np.where(x == np.inf, limits.max if posinf is None else posinf, out)
    return np.where(x == -np.inf, limits.min if neginf is None else neginf, out)[()]
