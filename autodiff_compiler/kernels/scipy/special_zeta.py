"""The derivatives of the zeta functions by their first argument."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..dispatch import dispatched
from .special_quadrature import dtype_of

_TERMS = 20
# The Bernoulli numbers B[2k] / (2k)!, for the formula of Euler and Maclaurin.
_EULER = (
    1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000, 1 / 74724249600,
    -3617 / 10670622842880000, 43867 / 5109094217170944000, -174611 / 802857662698291200000,
)  # fmt: skip


@dispatched
def zeta_slope(n: int, x: Any, q: Any) -> Any:
    """The derivative of order `n` by `x` of ``special.zeta(x, q)``, elementwise, for real `x` and positive `q`.

    The formula of Euler and Maclaurin behind the first 20 terms, as a polynomial in a step of `x`, of which the
    coefficient of order `n` is taken. The relative error is some 1e-12 for ``x > -1``; else the result is nan.
    Reference: DLMF, 25.11.28.
    """
    dtype = dtype_of(x, q)
    x, q = np.broadcast_arrays(x, q)
    x, q = x.astype(np.float64), q.astype(np.float64)
    with np.errstate(all="ignore"):
        total = np.zeros_like(x)
        for k in range(_TERMS):
            total = total + _power(q + k, x, n)[n]
        end = q + _TERMS
        powers = _power(end, x, n)  # end ** -(x + t)
        tail = _product(powers, [end / (x - 1) * (-1 / (x - 1)) ** j for j in range(n + 1)], n)[n] + 0.5 * powers[n]
        rising = powers
        for k, b in enumerate(_EULER, 1):
            # times x + t + 2k - 2, and for k > 1 times x + t + 2k - 3; the power falls by one, then by two
            for shift in (2 * k - 2,) if k == 1 else (2 * k - 3, 2 * k - 2):
                rising = _product(rising, [(x + shift) / end, 1 / end], n)
            tail = tail + b * rising[n]
        out = np.where((q > 0) & (x > -1), total + tail, np.nan) * math.factorial(n)
    return out.astype(dtype)[()]


def _power(base: Any, x: Any, n: int) -> list[Any]:
    """The coefficients of ``base ** -(x + t)`` as a series in `t`."""
    log, value = -np.log(base), base**-x
    return [value * log**j / math.factorial(j) for j in range(n + 1)]


def _product(a: list[Any], b: list[Any], n: int) -> list[Any]:
    return [sum(a[i] * b[j - i] for i in range(j + 1) if i < len(a) and j - i < len(b)) for j in range(n + 1)]
