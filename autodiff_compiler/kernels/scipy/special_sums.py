"""`special.logsumexp` as two functions, one for each number of results."""

from __future__ import annotations

from typing import Any

from scipy import special

from ..dispatch import dispatched


@dispatched
def logsumexp(a: Any, b: Any, axis: Any, keepdims: Any) -> Any:
    """``log(sum(b * exp(a)))`` over axes; `b` may be None."""
    return special.logsumexp(a, axis=axis, b=b, keepdims=keepdims)


@dispatched
def signed_logsumexp(a: Any, b: Any, axis: Any, keepdims: Any) -> Any:
    """The logarithm of the absolute value of ``sum(b * exp(a))``, and the sign of the sum."""
    return special.logsumexp(a, axis=axis, b=b, keepdims=keepdims, return_sign=True)
