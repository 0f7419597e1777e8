"""The records of SciPy's functions: a module for each part of SciPy, loaded when a program calls a function of it."""

from __future__ import annotations

from ...families import Families
from ...ir import opset

FAMILIES = Families(
    __name__,
    "fft",
    "integrate",
    "interpolate",
    "linalg",
    "ndimage",
    "optimize",
    "signal",
    "sparse",
    "spatial",
    "special",
    "stats",
)
opset.LATE.append(FAMILIES.load_for)

__all__ = ["FAMILIES"]
