"""One record per operation, one module per family. Importing the package fills the table of operations."""

from ..pristine import hold
from . import (
    choices,
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
    picking,
    reductions,
    scans,
    shaping,
    special,
    tangents,
)

hold("operations")

__all__ = [
    "choices",
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
    "picking",
    "reductions",
    "scans",
    "shaping",
    "special",
    "tangents",
]
