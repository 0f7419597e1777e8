"""Functions of `scipy.special` that SciPy, too, writes in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from ....kernels.scipy import special_sums
from ...definitions import defines


@defines(special.logsumexp)
def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: Any = False, return_sign: Any = False) -> Any:
    if return_sign:
        return special_sums.signed_logsumexp(a, b, axis, keepdims)
    return special_sums.logsumexp(a, b, axis, keepdims)


@defines(special.assoc_laguerre)
def assoc_laguerre(x: Any, n: Any, k: Any = 0.0) -> Any:
    return special.eval_genlaguerre(n, k, x)


if hasattr(special, "btdtr"):  # until SciPy 1.13

    @defines(special.btdtr)
    def btdtr(a: Any, b: Any, x: Any) -> Any:
        return special.betainc(a, b, x)

    @defines(special.btdtri)
    def btdtri(a: Any, b: Any, p: Any) -> Any:
        return special.betaincinv(a, b, p)


if hasattr(special, "softplus"):

    @defines(special.softplus)
    def softplus(x: Any) -> Any:
        return np.logaddexp(0, x)
