"""The module ``torch.special``: names of functions that are elsewhere, and a few of its own."""

from __future__ import annotations

from typing import Any

from .arithmetic import FUNCTIONS as _ARITHMETIC
from .elementwise import FUNCTIONS as _ELEMENTWISE
from .reductions import log_softmax, logsumexp, softmax

MEMBERS: dict[str, Any] = {
    **{
        name: _ELEMENTWISE[name]
        for name in (
            "expit", "logit", "erf", "erfc", "erfinv", "exp2", "expm1", "log1p", "sinc", "entr", "digamma",
            "polygamma", "round",
        )
    },
    "psi": _ELEMENTWISE["digamma"],
    "gammaln": _ELEMENTWISE["lgamma"],
    "xlogy": _ARITHMETIC["xlogy"],
    "softmax": softmax,
    "log_softmax": log_softmax,
    "logsumexp": logsumexp,
}  # fmt: skip
