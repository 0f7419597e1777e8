"""Distributions of `scipy.stats`, and statistics of samples."""

from __future__ import annotations

from . import (
    stats_continuous,
    stats_density,
    stats_discrete,
    stats_families,
    stats_matrices,
    stats_multivariate,
    stats_samples,
    stats_shapes,
    stats_spread,
    stats_tests,
)

__all__ = [
    "stats_continuous",
    "stats_density",
    "stats_discrete",
    "stats_families",
    "stats_matrices",
    "stats_multivariate",
    "stats_samples",
    "stats_shapes",
    "stats_spread",
    "stats_tests",
]
