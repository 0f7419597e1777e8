"""What is known of each operation. Importing the package fills the table of operations."""

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
    record,
    reductions,
    shaping,
    special,
)

hold("operations", "kernels", "runtime")

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
    "record",
    "shaping",
    "special",
]
