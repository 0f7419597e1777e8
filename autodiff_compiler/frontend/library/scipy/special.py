"""Functions of `scipy.special` that SciPy, too, writes in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from ...definitions import defines


@defines(special.log_softmax)
def log_softmax(x: Any, axis: Any = None) -> Any:
    x = np.asarray(x)
    shifted = x - np.max(x, axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))
