"""`scipy.spatial.distance`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial import distance

import autodiff_compiler as ad
from autodiff_compiler.errors import AutodiffError
from tests.differences import differences
from tests.operations.scipy import test_spatial, test_spatial_rotation, test_spatial_trees
from tests.operations.scipy.harness import check_case, load, untested
from tests.operations.scipy.test_spatial_rotation import RULES

load("spatial")
RNG = np.random.default_rng(7)
A = RNG.normal(size=(3, 4))
B = RNG.normal(size=(2, 4))
X = RNG.normal(size=(7, 4))
U, V = RNG.normal(size=(2, 4))
W = RNG.uniform(0.5, 2.0, size=4)
VI = np.linalg.inv(np.cov(X.T))
METRICS = [
    "euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine", "correlation", "minkowski", "canberra",
    "braycurtis", "hamming",
]  # fmt: skip

CASES: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    *[(distance.cdist, (A, B), {"metric": m}) for m in METRICS],
    *[(distance.pdist, (X,), {"metric": m}) for m in METRICS],
    *[(distance.cdist, (A, B), {"metric": m, "w": W}) for m in METRICS if m != "seuclidean"],
    (distance.cdist, (A, B), {"metric": "minkowski", "p": 3.0}),
    (distance.cdist, (A, B), {"metric": "minkowski", "p": 1}),
    (distance.pdist, (X,), {"metric": "minkowski", "p": np.inf}),
    (distance.pdist, (X,), {"metric": "minkowski", "p": 1.5, "w": W}),
    (distance.cdist, (A, B), {"metric": "mahalanobis", "VI": VI}),
    (distance.cdist, (X, X[:2] + 0.1), {"metric": "mahalanobis"}),
    (distance.pdist, (X,), {"metric": "mahalanobis"}),
    (distance.cdist, (A, B), {"metric": "seuclidean", "V": W}),
    (distance.cdist, (A, B), {"metric": "seuclidean"}),
    (distance.pdist, (X,), {"metric": "seuclidean"}),
    (distance.squareform, (np.arange(1.0, 7.0),), {}),
    (distance.squareform, (distance.squareform(np.arange(1.0, 7.0)),), {"checks": False}),
    (distance.euclidean, (U, V), {}),
    (distance.euclidean, (U, V, W), {}),
    (distance.sqeuclidean, (U, V), {}),
    (distance.sqeuclidean, (U, V, W), {}),
    (distance.cityblock, (U, V, W), {}),
    (distance.chebyshev, (U, V), {}),
    (distance.chebyshev, (U, V), {"w": W}),
    (distance.cosine, (U, V), {}),
    (distance.correlation, (U, V, W), {}),
    (distance.correlation, (U, V), {"centered": False}),
    (distance.minkowski, (U, V), {"p": 3}),
    (distance.minkowski, (U, V, 2.5), {}),
    (distance.minkowski, (U, V), {"p": 1.5, "w": W}),
    (distance.canberra, (U, V, W), {}),
    (distance.braycurtis, (U, V), {}),
    (distance.braycurtis, (U, V), {"w": W}),
    (distance.hamming, (U, V), {}),
    (distance.seuclidean, (U, V, W), {}),
    (distance.mahalanobis, (U, V, VI), {}),
    (distance.jensenshannon, (W, np.abs(U)), {}),
    (distance.jensenshannon, (np.abs(A), np.abs(X[:3])), {"axis": 1, "base": 2.0, "keepdims": True}),
]


@pytest.mark.parametrize("fn, args, kwargs", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_derivatives(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    check_case(fn, args, kwargs)


@pytest.mark.parametrize("fn, args, kwargs", CASES, ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dtype: Any) -> None:
    """The value and its type are those of SciPy."""
    given = tuple([a.astype(dtype) if isinstance(a, np.ndarray) else a for a in args])

    def f(x):
        return 0.0, fn(x, *given[1:], **kwargs)

    def g(x):
        return np.sum(fn(x, *given[1:], **kwargs))

    wanted = fn(*given, **kwargs)
    value = ad.value_and_grad(g)(given[0])[0]
    np.testing.assert_allclose(value, np.sum(wanted), rtol=1e-12 if dtype == np.float64 else 1e-5)
    assert np.asarray(value).dtype == np.asarray(np.sum(wanted)).dtype


def test_every_function_has_a_case() -> None:
    missing = untested("spatial", CASES + RULES, test_spatial, test_spatial_rotation, test_spatial_trees)
    assert [name for name in missing if name != "without_derivative by x"] == []  # test_gimbal_lock


@pytest.mark.parametrize("metric", ["euclidean", "minkowski", "mahalanobis", "seuclidean", "cityblock", "canberra"])
def test_distance_of_zero(metric: str) -> None:
    options = {"VI": VI} if metric == "mahalanobis" else {"V": W} if metric == "seuclidean" else {}

    def f(x):
        return np.sum(distance.cdist(x, x, metric, **options))

    found = ad.grad(f)(X)
    assert np.isfinite(found).all()

    def g(x):
        return 2 * np.sum(distance.pdist(x, metric, **options))

    np.testing.assert_allclose(found, ad.grad(g)(X), rtol=1e-10, atol=1e-12)


def test_order_that_is_differentiated() -> None:
    def f(p):
        return distance.minkowski(U, V, p) + np.sum(distance.cdist(A, B, "minkowski", p=p))

    np.testing.assert_allclose(ad.grad(f)(2.5), differences(f, 2.5), rtol=1e-6)


STACKED = [
    (distance.euclidean, ()), (distance.euclidean, (W,)), (distance.minkowski, (3,)), (distance.minkowski, (2.5, W)),
    (distance.sqeuclidean, ()), (distance.sqeuclidean, (W,)),
]  # fmt: skip


@pytest.mark.parametrize("fn, options", STACKED, ids=lambda x: getattr(x, "__name__", ""))
def test_stacks(fn: Any, options: tuple[Any, ...]) -> None:
    """Where SciPy takes them: from 1.18 on."""
    try:
        wanted = fn(A, B[0], *options)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)):
            ad.grad(lambda x: np.sum(fn(x, B[0], *options)))(A)
        return
    check_case(fn, (A, B[0], *options))
    value, _ = ad.jvp(lambda x: fn(x, B[0], *options), (A,), (A,))
    np.testing.assert_allclose(value, wanted, rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.int8])
def test_whole_numbers(dtype: Any) -> None:
    """They are float64 before they are subtracted."""
    u = np.array([3, 100, 7, 9]).astype(dtype)

    def f(v):
        return distance.sqeuclidean(u, u[::-1]) * v + distance.sqeuclidean(u, v * np.ones(4, np.float32))

    v = np.float32(0.3)
    value, slope = ad.value_and_grad(f)(v)
    assert value.dtype == f(v).dtype
    np.testing.assert_allclose(value, f(v), rtol=1e-6)
    np.testing.assert_allclose(slope, distance.sqeuclidean(u, u[::-1]) + 2 * np.sum(v - u.astype(float)), rtol=1e-6)


def test_out() -> None:
    def f(x):
        buffer = np.zeros(21)
        distance.pdist(x, out=buffer)
        return np.sum(buffer**2)

    np.testing.assert_allclose(ad.grad(f)(X), differences(f, X), rtol=1e-6, atol=1e-6)


def test_squareform_checks_symmetry() -> None:
    def f(x):
        return np.sum(distance.squareform(x))

    with pytest.raises(ValueError, match="symmetric"):
        ad.grad(f)(A[:, :3])
    with pytest.raises(ValueError, match="binomial"):
        ad.grad(f)(U)


def test_second_derivatives() -> None:
    def f(x):
        return np.sum(distance.pdist(x) ** 3) + np.sum(distance.cdist(x, B, "cosine"))

    def g(x):
        return np.sum(ad.grad(f)(x) * X)

    np.testing.assert_allclose(ad.grad(g)(X), differences(g, X), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: distance.cdist(x, x, "jaccard"), "the metric 'jaccard'"),
        (lambda x: distance.cdist(x, x, lambda u, v: u[0]), "a function"),
    ],
)
def test_refusals(call: Any, message: str) -> None:
    def f(x):
        return np.sum(call(x))

    with pytest.raises(AutodiffError, match=message):
        ad.grad(f)(X)
