"""`scipy.special`. A module for each family of functions has their records."""

from __future__ import annotations

from . import (
    special_bessel,
    special_distributions,
    special_elementary,
    special_elliptic,
    special_error,
    special_gamma,
    special_hypergeometric,
    special_polynomials,
    special_sums,
)

__all__ = [
    "special_bessel",
    "special_distributions",
    "special_elementary",
    "special_elliptic",
    "special_error",
    "special_gamma",
    "special_hypergeometric",
    "special_polynomials",
    "special_sums",
]
