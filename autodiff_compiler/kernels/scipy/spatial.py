"""What the derivatives of `scipy.spatial` need and SciPy has no function for."""

from __future__ import annotations

from typing import Any

import numpy as np


def quaternions(rotation: Any) -> Any:
    """The quaternions of a `Rotation`."""
    return rotation.as_quat()


def nearest_rotation(a: Any) -> Any:
    """The rotation matrix at the smallest distance from each matrix of a stack."""
    u, _, vh = np.linalg.svd(a)
    mirrored = np.linalg.det(u @ vh) < 0
    u[..., :, -1] *= np.where(mirrored, -1.0, 1.0)[..., None]
    return u @ vh


def without_derivative(x: Any) -> Any:
    """A copy of the array. The derivative is nan, since what it stands for has none."""
    return np.array(x)


def tree(points: Any) -> Any:
    """The tree of the points."""
    from scipy.spatial import cKDTree

    return cKDTree(points, copy_data=True)  # stores into the array may follow


def tree_points(tree: Any) -> Any:
    """The points of a tree that was made outside."""
    if tree.boxsize is not None:
        raise NotImplementedError("the derivative of a distance in a periodic box")
    return np.array(tree.data)


def _require_same(tree: Any, points: Any) -> None:
    """SciPy's tree may share the memory of its points, and then sees what is stored there. This tree has a copy."""
    if not np.array_equal(tree.data, points, equal_nan=True):
        raise NotImplementedError("the points of a tree have changed since it was made: make the tree anew")


def neighbours(tree: Any, points: Any, x: Any, k: Any, eps: float, p: float, bound: float, workers: int) -> Any:
    """The numbers of the nearest points; where there are too few, the number of all points."""
    _require_same(tree, points)
    found = tree.query(np.asarray(x, dtype=np.float64), k, eps, p, bound, workers)[1]
    return np.asarray(found, dtype=np.int64)


def balls(
    tree: Any, points: Any, x: Any, r: Any, p: float, eps: float, workers: int, return_sorted: Any, return_length: Any
) -> Any:  # fmt: skip
    """The numbers of the points in balls, as SciPy returns them."""
    _require_same(tree, points)
    return tree.query_ball_point(np.asarray(x), r, p, eps, workers, return_sorted, return_length)


def close_pairs(tree: Any, points: Any, r: float, p: float, eps: float) -> Any:
    """The pairs of points that are this near, as rows."""
    _require_same(tree, points)
    return tree.query_pairs(r, p, eps, output_type="ndarray")


def hull(points: Any, options: Any) -> Any:
    """The convex hull, as SciPy's object."""
    from scipy.spatial import ConvexHull

    return ConvexHull(np.array(points), qhull_options=options)


def triangulation(points: Any, furthest_site: bool, options: Any) -> Any:
    """The triangulation, as SciPy's object."""
    from scipy.spatial import Delaunay

    return Delaunay(np.array(points), furthest_site=furthest_site, qhull_options=options)


def qhull_attribute(found: Any, name: str) -> Any:
    """What it says of the points without their places: numbers of points and of simplices."""
    return np.array(getattr(found, name))


def simplex_of(found: Any, x: Any, bruteforce: bool, tol: Any) -> Any:
    """The simplex that each point is in."""
    return found.find_simplex(np.asarray(x), bruteforce, tol)
