"""`special.logsumexp` as two functions, one for each number of results, and the derivatives of a sum of cosines."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from ..dispatch import dispatched
from .special_quadrature import in_blocks


@dispatched
def logsumexp(a: Any, b: Any, axis: Any, keepdims: Any) -> Any:
    """``log(sum(b * exp(a)))`` over axes; `b` may be None."""
    return special.logsumexp(a, axis=axis, b=b, keepdims=keepdims)


@dispatched
def signed_logsumexp(a: Any, b: Any, axis: Any, keepdims: Any) -> Any:
    """The logarithm of the absolute value of ``sum(b * exp(a))``, and the sign of the sum."""
    return special.logsumexp(a, axis=axis, b=b, keepdims=keepdims, return_sign=True)


@dispatched
def diric_derivative(order: int, x: Any, n: Any) -> Any:
    """The derivative of an order of ``special.diric(x, n)`` by `x`, elementwise.

    For whole `n` the function is the mean of the cosines of ``m * x``, `m` from ``-(n - 1) / 2`` to ``(n - 1) / 2``.
    """

    def mean(x: Any, n: Any) -> Any:
        whole = (n > 0) & (n == np.floor(n))
        total = np.zeros_like(x)
        for k in range(int(np.max(np.where(whole, n, 0), initial=0))):
            m = k - 0.5 * (n - 1)
            total = total + np.where(k < n, m**order * np.cos(m * x + 0.5 * np.pi * order), 0)
        return np.where(whole, total / np.where(whole, n, 1), np.nan)

    return in_blocks(mean, 1, x, n)
