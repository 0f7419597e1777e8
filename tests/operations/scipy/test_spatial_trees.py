"""`scipy.spatial`: trees, hulls and triangulations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial import ConvexHull, Delaunay, KDTree, cKDTree

import autodiff_compiler as ad
from autodiff_compiler.errors import AutodiffError
from tests.differences import differences
from tests.operations.scipy.harness import load

load("spatial")
RNG = np.random.default_rng(5)
P = RNG.normal(size=(9, 2))
P3 = RNG.normal(size=(12, 3))
X = RNG.normal(size=(4, 2))
OUTSIDE, FAST = KDTree(P), cKDTree(P)
MESH = Delaunay(P)


def check(f: Any, *args: Any) -> None:
    value, found = ad.value_and_grad(f, argnums=tuple(range(len(args))))(*args)
    np.testing.assert_allclose(value, f(*args), rtol=1e-13)
    for k, g in enumerate(found):
        np.testing.assert_allclose(g, differences(f, *args, argnum=k), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("cls", [KDTree, cKDTree])
@pytest.mark.parametrize("k", [1, 2, [1], [3, 1], 12])
def test_query(cls: Any, k: Any) -> None:
    def f(p, x):
        d, i = cls(p).query(x, k=k)
        d = np.where(np.isinf(d), 0.0, d)
        return np.sum(np.sin(d) * (i + 1.0))

    check(f, P, X)
    check(f, P, X[0])


@pytest.mark.parametrize("p", [1, 2, 3.5, np.inf])
def test_norms(p: float) -> None:
    def f(x):
        d, i = OUTSIDE.query(x, p=p)
        return np.sum(d**2 * i)

    check(f, X)
    check(f, X[1])


def test_trees_from_outside() -> None:
    def f(x):
        d, i = FAST.query(x, k=2, distance_upper_bound=0.9)
        return np.sum(np.exp(-d) * np.cos(i))

    check(f, X)

    def second(x):
        return np.sum(ad.grad(f)(x) ** 2)

    np.testing.assert_allclose(ad.grad(second)(X), differences(second, X), rtol=1e-5, atol=1e-6)


def test_parts_of_a_tree() -> None:
    def f(p):
        t = KDTree(p)
        pairs = t.query_pairs(1.0, output_type="ndarray")
        apart = t.data[pairs[:, 0]] - t.data[pairs[:, 1]]
        return np.sum(apart**2) * t.n / t.m + np.sum(p[t.query_ball_point(P[0], 1.0)] ** 3)

    check(f, P)


def test_at_a_point_of_the_tree() -> None:
    """The distance is zero, and its derivative is zero, as that of a norm."""

    def f(x):
        d, _ = OUTSIDE.query(x)
        return np.sum(d)

    assert np.all(ad.grad(f)(P) == 0)


@pytest.mark.parametrize("points", [P, P3, P3.astype(np.float32)], ids=["2", "3", "float32"])
def test_hull(points: Any) -> None:
    def f(p):
        hull = ConvexHull(p)
        corners = np.sum(p[hull.vertices] ** 3) + np.sum(np.sin(p[hull.simplices[hull.neighbors[:, 0]]]))
        return hull.volume * hull.area + corners + np.sum(hull.equations**3) + hull.points[0, 0]

    value, g = ad.value_and_grad(f)(points)
    if points.dtype == np.float32:
        assert g.dtype == np.float32
        np.testing.assert_allclose(g, ad.grad(f)(points.astype(float)), rtol=1e-4, atol=1e-5)
        return
    assert value == pytest.approx(f(points), rel=1e-12)
    np.testing.assert_allclose(g, differences(f, points), rtol=1e-5, atol=1e-6)


def test_triangulation() -> None:
    def f(p, x):
        mesh = Delaunay(p)
        corners = p[mesh.simplices]
        edges = corners[:, 1:] - corners[:, :1]
        found = mesh.find_simplex(x)
        other = np.sum(p[mesh.convex_hull] ** 3) + np.sum(corners[mesh.neighbors[mesh.vertex_to_simplex]])
        return np.sum(np.abs(np.linalg.det(edges)) ** 2) + np.sum(corners[found, 0] * x) + other * mesh.nsimplex

    def g(x):
        return np.sum(P[MESH.simplices[MESH.find_simplex(x)]][:, 0] * x)

    check(f, P, P[:4] * 0.5 + 0.01)
    check(g, P[:4] * 0.5 + 0.01)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: KDTree(x, boxsize=9.0).query(X)[0], "periodic box"),
        (lambda x: sum(x[i] for i, _ in KDTree(x).query_pairs(1.0)), "which is a set"),
        (lambda x: KDTree(x).sparse_distance_matrix(OUTSIDE, 1.0), "attribute of a tree"),
        (lambda x: ConvexHull(x, incremental=True).volume, "incremental"),
        (lambda x: Delaunay(x).transform, "attribute of a triangulation"),
        (lambda x: ConvexHull(x).good, "attribute of a hull"),
    ],
)
def test_refusals(call: Any, message: str) -> None:
    def f(x):
        return np.sum(call(x))

    with pytest.raises(AutodiffError, match=message):
        ad.grad(f)(P)


def test_a_periodic_box_from_outside() -> None:
    box = KDTree(np.abs(P), boxsize=9.0)

    def f(x):
        return np.sum(box.query(x)[0])

    with pytest.raises(NotImplementedError, match="periodic box"):
        ad.grad(f)(np.abs(X))


def test_what_scipy_raises() -> None:
    def f(x):
        return np.sum(ConvexHull(x).volume)

    with pytest.raises(Exception, match="QH6"):
        ad.grad(f)(np.ones((5, 2)))


def stored_after(make: Any, ask: Any, **options: Any) -> Any:
    def f(p):
        x = p * 1.0
        made = make(x, **options)
        x[0] = x[0] * 0.5 + 0.3
        return ask(made)

    return f


@pytest.mark.parametrize(
    "f",
    [
        stored_after(KDTree, lambda t: np.sum(t.query([[0.1, 0.2], [0.9, 0.4]])[0]), copy_data=True),
        stored_after(ConvexHull, lambda hull: hull.volume * hull.area),
    ],
)
def test_a_store_into_points_that_were_copied(f: Any) -> None:
    points = np.random.default_rng(3).normal(size=(6, 2))
    value, gradient = ad.value_and_grad(f)(points)
    assert value == pytest.approx(f(points))
    np.testing.assert_allclose(gradient, differences(f, points), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "ask",
    [lambda t: t.query([0.1, 0.2])[0], lambda t: len(t.query_ball_point([0.1, 0.2], 1.0)),
     lambda t: np.sum(t.query_pairs(1.0, output_type="ndarray"))],
)  # fmt: skip
def test_a_store_into_points_that_a_tree_shares_is_refused(ask: Any) -> None:
    points = np.random.default_rng(3).normal(size=(6, 2))
    with pytest.raises(NotImplementedError, match="have changed since it was made"):
        ad.grad(lambda p: stored_after(KDTree, ask)(p) * np.sum(p))(points)
