"""Definitions of functions in terms of simpler ones; see `definitions`."""

from ... import nn
from ..definitions import are_definitions, later
from . import iterables, others, scipy, ufunc_methods

# They are imported when a program first calls a function of NumPy's, or of `math`, that may have a definition.
later(
    "arrays", "call_forms", "draws", "fourier", "grids", "linear_algebra", "numbers", "ordered_lists", "polynomials",
    "real_or_complex", "statistics",
)  # fmt: skip

# The functions of `nn` are definitions of themselves.
are_definitions(vars(nn).values())

__all__ = ["iterables", "others", "scipy", "ufunc_methods"]
