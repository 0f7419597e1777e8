"""Derivative rules. Importing the package enters all of them into the registry."""

from ..pristine import hold
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

hold("rules", "kernels", "runtime")

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
