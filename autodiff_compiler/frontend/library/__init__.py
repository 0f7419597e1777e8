"""Definitions of functions in terms of simpler ones; see `definitions`."""

from ... import nn
from ..definitions import are_definitions
from . import (
    arrays,
    call_forms,
    draws,
    fourier,
    grids,
    iterables,
    linear_algebra,
    numbers,
    ordered_lists,
    others,
    polynomials,
    real_or_complex,
    scipy,
    statistics,
    ufunc_methods,
)

# The functions of `nn` are definitions of themselves.
are_definitions(vars(nn).values())

__all__ = [
    "arrays",
    "call_forms",
    "draws",
    "fourier",
    "grids",
    "iterables",
    "linear_algebra",
    "numbers",
    "ordered_lists",
    "others",
    "polynomials",
    "real_or_complex",
    "scipy",
    "statistics",
    "ufunc_methods",
]
