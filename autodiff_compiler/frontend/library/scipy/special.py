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


if hasattr(special, "softplus"):

    @defines(special.softplus)
    def softplus(x: Any) -> Any:
        return np.logaddexp(0, x)
