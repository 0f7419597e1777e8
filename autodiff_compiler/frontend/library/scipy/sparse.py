"""`scipy.sparse`: matrices, what makes them, and linear systems."""

from __future__ import annotations

from . import sparse_building, sparse_linalg, sparse_making, sparse_matrices

__all__ = ["sparse_building", "sparse_linalg", "sparse_making", "sparse_matrices"]
