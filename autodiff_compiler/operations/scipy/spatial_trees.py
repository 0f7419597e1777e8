"""`scipy.spatial`: which points are neighbours. It is constant where no two points change places."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.core import Builder
from ...ir.ops_common import as_array
from ...ir.types import ANY, Ty, array
from ...kernels.scipy import spatial as kernels
from ..record import op

INDEX = np.dtype(np.int64)


def _neighbours_type(b: Builder, tree: Any, points: Any, x: Any, k: Any, *rest: Any) -> Ty:
    t = as_array(b, x)
    if t.kind != "array" or t.dims is None or len(t.dims) == 0:
        return ANY
    if k == 1 and type(k) is int:
        return array(INDEX, t.dims[:-1])
    return array(INDEX, (*t.dims[:-1], b.dims.fresh()))


def _points_type(b: Builder, tree: Any) -> Ty:
    return array(np.dtype(np.float64), (b.dims.fresh(), b.dims.fresh()))


def _pairs_type(b: Builder, *args: Any) -> Ty:
    return array(INDEX, (b.dims.fresh(), 2))


# How many axes they have. The numbers of Qhull's are int32.
AXES = {"vertices": 1, "simplices": 2, "neighbors": 2, "vertex_to_simplex": 1, "convex_hull": 2, "coplanar": 2}


def _attribute_type(b: Builder, found: Any, name: Any) -> Ty:
    if name not in AXES:
        return ANY
    return array(np.dtype(np.int32), tuple([b.dims.fresh() for _ in range(AXES[name])]))


op(kernels.tree, "points: array", type=lambda b, points: ANY, nondiff=True)
op(kernels.tree_points, "tree", type=_points_type, nondiff=True)
op(kernels.neighbours, "tree, points: array, x: array, k, eps, p, bound, workers", type=_neighbours_type, nondiff=True)
op(kernels.balls, "tree, points: array, x: array, r, p, eps, workers, return_sorted, return_length",
   type=lambda b, *args: ANY, nondiff=True)  # fmt: skip
op(kernels.close_pairs, "tree, points: array, r, p, eps", type=_pairs_type, nondiff=True)
op(kernels.hull, "points: array, options", type=lambda b, *args: ANY, nondiff=True)
op(kernels.triangulation, "points: array, furthest_site, options", type=lambda b, *args: ANY, nondiff=True)
op(kernels.qhull_attribute, "found, name", type=_attribute_type, nondiff=True)
op(kernels.simplex_of, "found, x: array, bruteforce, tol", type=lambda b, *args: ANY, nondiff=True)
