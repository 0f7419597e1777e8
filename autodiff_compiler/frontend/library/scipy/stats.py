"""Distributions of `scipy.stats`, and statistics of samples."""

from __future__ import annotations

from . import stats_continuous, stats_discrete, stats_shapes

__all__ = ["stats_continuous", "stats_discrete", "stats_shapes"]
