"""Definitions of functions of smaller libraries in terms of NumPy's: a module for each library, loaded when a program
calls a function of it."""

from __future__ import annotations

from ....families import Families
from ...definitions import LATE

FAMILIES = Families(__name__, "bottleneck", "numpy_polynomial")
LATE.append(FAMILIES.load_for)

__all__ = ["FAMILIES"]
