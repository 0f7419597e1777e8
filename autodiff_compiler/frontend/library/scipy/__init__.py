"""Definitions of SciPy's functions in terms of simpler ones: a module for each part of SciPy, loaded when a program
calls a function of it."""

from __future__ import annotations

from ....families import Families
from ...definitions import LATE

FAMILIES = Families(
    __name__,
    "fft",
    "fftpack",
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
LATE.append(FAMILIES.load_for)

__all__ = ["FAMILIES"]
