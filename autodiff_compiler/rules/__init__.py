"""Derivative rules. Importing the package enters all of them into the registry."""

from . import (
    decompositions,
    elementwise,
    fourier,
    indexing,
    linalg,
    nn,
    picking,
    ratios,
    reductions,
    registry,
    shaping,
    special,
)

__all__ = [
    "decompositions",
    "elementwise",
    "fourier",
    "indexing",
    "linalg",
    "nn",
    "picking",
    "ratios",
    "reductions",
    "registry",
    "shaping",
    "special",
]
