"""MXNet's eager programs on NumPy.

``from autodiff_compiler.compat.mxnet import autograd, np, npx`` takes the place of the import from mxnet.
Derivatives come from the compiler's rules, as everywhere.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as _numpy

from ..module_tables import namespace, public
from . import arrays, autograd, creation, npx
from .base import MXNetError

_NP: dict[str, Any] = {
    **arrays.functions(_numpy),
    **creation.CREATION,
    **{n: getattr(_numpy, n) for n in ("float16", "float32", "float64", "int8", "int32", "int64", "uint8", "bool_")},
    "ndarray": arrays.ndarray,
    "pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan, "newaxis": None,
    "random": namespace(f"{__name__}.np.random", "Random arrays.", creation.RANDOM),
    "linalg": namespace(f"{__name__}.np.linalg", "Matrices.", arrays.functions(_numpy.linalg)),
}  # fmt: skip
np = namespace(f"{__name__}.np", "NumPy's functions on MXNet's arrays.", _NP)
random = _NP["random"]
cpu, num_gpus = getattr(npx, "cpu"), getattr(npx, "num_gpus")  # noqa: B009
__all__ = ["MXNetError", "autograd", "cpu", "np", "npx", "num_gpus", "random"]
__getattr__, __dir__ = public(__name__, __all__)
