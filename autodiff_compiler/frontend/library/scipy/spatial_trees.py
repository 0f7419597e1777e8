"""`scipy.spatial`: `KDTree`, `ConvexHull` and `Delaunay`.

Which points are neighbours is constant. Distances, volumes and equations are functions of the points.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import spatial

from ....kernels.scipy import spatial as kernels
from ...definitions import defines, refuse
from .changed import require_same
from .piecewise import packed
from .spatial_lengths import lengths


def matrix(points: Any) -> Any:
    points = np.asarray(points)
    if np.ndim(points) != 2:
        raise ValueError("the points must be 2 dimensions")
    return packed(points)


# --- neighbours -------------------------------------------------------------------------------------------------------


class Tree:
    """What `KDTree` is. tree: the one of SciPy's; places: the points, which may be differentiated."""

    def __init__(self, tree: Any, places: Any) -> None:
        self.tree = tree
        self.places = places

    @property
    def data(self) -> Any:
        return self.places

    @property
    def n(self) -> Any:
        return self.places.shape[0]

    @property
    def m(self) -> Any:
        return self.places.shape[1]

    def query(
        self, x: Any, k: Any = 1, eps: Any = 0.0, p: Any = 2.0, distance_upper_bound: Any = np.inf, workers: Any = 1
    ) -> Any:
        if k is None:
            raise ValueError("k must be an integer or a sequence of integers")
        if isinstance(k, int):
            k = len((None,) * k)  # the program is compiled for this number
        x = np.asarray(x)
        x = x if x.dtype == np.float64 else x.astype(np.float64)
        found = kernels.neighbours(self.tree, self.places, x, k, eps, p, distance_upper_bound, workers)
        there = found < self.places.shape[0]
        nearest = self.places[np.where(there, found, 0)]
        if not isinstance(k, int) or k != 1:
            x = x[..., None, :]
        # A place without a neighbour takes part in no distance.
        apart = np.where(there[..., None], x - nearest, 1.0)
        distances = np.where(there, lengths(apart, p), np.inf)
        return (float(distances), found[()]) if np.ndim(found) == 0 else (distances, found)

    def query_ball_point(
        self, x: Any, r: Any, p: Any = 2.0, eps: Any = 0, workers: Any = 1, return_sorted: Any = None,
        return_length: Any = False,
    ) -> Any:  # fmt: skip
        return kernels.balls(self.tree, self.places, x, r, p, eps, workers, return_sorted, return_length)

    def query_pairs(self, r: Any, p: Any = 2.0, eps: Any = 0, output_type: Any = "set") -> Any:
        if output_type != "ndarray":
            refuse("query_pairs of a tree, which is a set", 'use query_pairs(r, output_type="ndarray")')
        return kernels.close_pairs(self.tree, self.places, r, p, eps)

    def __getattr__(self, name: Any) -> Any:
        refuse("this attribute of a tree", "use query, query_ball_point or query_pairs")


@defines(spatial.KDTree, spatial.cKDTree)
def kd_tree(
    data: Any, leafsize: Any = 16, compact_nodes: Any = True, copy_data: Any = False, balanced_tree: Any = True,
    boxsize: Any = None,
) -> Any:  # fmt: skip
    if boxsize is not None:
        refuse("a tree in a periodic box", "make it outside, or compute the distances to all points")
    places = matrix(np.array(data) if copy_data else data)
    return Tree(kernels.tree(places), places)


@defines(vars(spatial.KDTree)["query"], vars(spatial.cKDTree)["query"])
def query_outside(
    self: Any, x: Any, k: Any = 1, eps: Any = 0.0, p: Any = 2.0, distance_upper_bound: Any = np.inf, workers: Any = 1
) -> Any:
    return Tree(self, kernels.tree_points(self)).query(x, k, eps, p, distance_upper_bound, workers)


# --- hulls and triangulations -----------------------------------------------------------------------------------------


class Simplices:
    """What Qhull found of the points, which are differentiated. It shares them with the program, and has a copy."""

    def __init__(self, found: Any, points: Any) -> None:
        self.found = found
        self.points = points
        self.places = points.copy()

    @property
    def simplices(self) -> Any:
        return kernels.qhull_attribute(self.found, "simplices")

    @property
    def neighbors(self) -> Any:
        return kernels.qhull_attribute(self.found, "neighbors")


class Hull(Simplices):
    """What `ConvexHull` is."""

    @property
    def vertices(self) -> Any:
        return kernels.qhull_attribute(self.found, "vertices")

    def from_middle(self) -> Any:
        """The corners of the facets, as seen from a point inside, and that point."""
        middle = np.mean(self.places[self.vertices], axis=0)
        return self.places[self.simplices] - middle, middle

    @property
    def volume(self) -> Any:
        corners, _ = self.from_middle()
        return np.sum(np.abs(np.linalg.det(corners))) / math.factorial(corners.shape[2])

    @property
    def area(self) -> Any:
        corners, _ = self.from_middle()
        edges = corners[:, 1:] - corners[:, :1]
        squares = np.linalg.det(edges @ np.swapaxes(edges, 1, 2))
        return np.sum(np.sqrt(squares)) / math.factorial(corners.shape[2] - 1)

    @property
    def equations(self) -> Any:
        """The plane of a facet is where the product with a vector is 1, as seen from the middle."""
        corners, middle = self.from_middle()
        across = np.linalg.solve(corners, np.ones((*corners.shape[:2], 1)))[..., 0]
        length = np.linalg.norm(across, axis=1, keepdims=True)
        return np.concatenate((across, -1 - (across @ middle)[:, None]), axis=1) / length

    def __getattr__(self, name: Any) -> Any:
        refuse("this attribute of a hull", "use vertices, simplices, neighbors, equations, volume or area")


def at_once(incremental: Any) -> None:
    if incremental:
        refuse("Qhull with incremental=True", "make it anew of all points")


@defines(spatial.ConvexHull)
def convex_hull(points: Any, incremental: Any = False, qhull_options: Any = None) -> Any:
    at_once(incremental)
    points = matrix(points)
    return Hull(kernels.hull(points, qhull_options), points)


class Triangulation(Simplices):
    """What `Delaunay` is."""

    @property
    def convex_hull(self) -> Any:
        return kernels.qhull_attribute(self.found, "convex_hull")

    @property
    def vertex_to_simplex(self) -> Any:
        return kernels.qhull_attribute(self.found, "vertex_to_simplex")

    @property
    def nsimplex(self) -> Any:
        return self.simplices.shape[0]

    def find_simplex(self, xi: Any, bruteforce: Any = False, tol: Any = None) -> Any:
        require_same(
            self.points, self.places, "the points of a triangulation have changed since it was made: make it anew"
        )
        return kernels.simplex_of(self.found, xi, bruteforce, tol)

    def __getattr__(self, name: Any) -> Any:
        refuse("this attribute of a triangulation", "use simplices, neighbors, convex_hull or find_simplex")


@defines(spatial.Delaunay)
def delaunay(
    points: Any, furthest_site: Any = False, incremental: Any = False, qhull_options: Any = None
) -> Any:  # fmt: skip
    at_once(incremental)
    points = matrix(points)
    return Triangulation(kernels.triangulation(points, furthest_site, qhull_options), points)


@defines(vars(spatial.Delaunay)["find_simplex"])
def find_simplex_outside(self: Any, xi: Any, bruteforce: Any = False, tol: Any = None) -> Any:
    return kernels.simplex_of(self, xi, bruteforce, tol)
