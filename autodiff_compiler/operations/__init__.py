"""One record per operation, one module per family. Importing the package fills the table of operations."""

from ..pristine import hold
from . import (
    callbacks,
    choices,
    custom,
    decompositions,
    draws,
    elementwise,
    fourier,
    indexing,
    internal,
    joining,
    linalg,
    lists,
    making,
    nn,
    numbers,
    numerical,
    picking,
    reductions,
    scans,
    scipy,
    shaping,
    special,
)

hold("operations")

__all__ = [
    "callbacks",
    "choices",
    "custom",
    "decompositions",
    "draws",
    "elementwise",
    "fourier",
    "indexing",
    "internal",
    "joining",
    "linalg",
    "lists",
    "making",
    "nn",
    "numbers",
    "numerical",
    "picking",
    "reductions",
    "scans",
    "scipy",
    "shaping",
    "special",
]
