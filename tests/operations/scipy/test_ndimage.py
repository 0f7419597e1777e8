"""`scipy.ndimage`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import ndimage

import autodiff_compiler as ad
from autodiff_compiler.errors import AutodiffError
from autodiff_compiler.kernels.scipy import ndimage as kernels
from autodiff_compiler.kernels.scipy import ndimage_splines as splines
from autodiff_compiler.operations.check import check_rule
from tests.differences import differences
from tests.operations.scipy.harness import check_case, load, without_case

load("ndimage")
RNG = np.random.default_rng(7)
X = RNG.normal(size=7)
M = RNG.normal(size=(5, 4))
K = RNG.normal(size=(3, 2))
W = RNG.normal(size=3)
MODES = ["reflect", "constant", "nearest", "mirror", "wrap", "grid-mirror", "grid-wrap", "grid-constant"]
P = RNG.uniform(0.1, 2.9, size=(2, 6))
Q = RNG.uniform(-4.0, 9.0, size=(2, 9))

RULES: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = []
for _mode in MODES:
    RULES += [
        (ndimage.correlate, (M, K), {"mode": _mode}),
        (ndimage.correlate, (M, RNG.normal(size=(4, 3))), {"mode": _mode, "origin": (1, -1), "cval": 0.7}),
        (ndimage.correlate1d, (M, RNG.normal(size=4)), {"mode": _mode, "axis": 0, "origin": 1}),
        (ndimage.correlate1d, (X, RNG.normal(size=9)), {"mode": _mode, "cval": 0.5}),
        (ndimage.uniform_filter1d, (M, 3), {"mode": _mode, "axis": 0, "origin": -1}),
        (kernels.correlate_back, (M, K, _mode, 0), {}),
        (kernels.correlate_weights, (M, M + 1.0, (3, 2), _mode, 0.0, 0), {}),
        (ndimage.spline_filter1d, (M,), {"mode": _mode, "axis": 0}),
        (splines.spline_filter1d_back, (M, 2, 0, _mode), {}),
        (ndimage.map_coordinates, (M, Q), {"mode": _mode, "order": 3, "prefilter": False, "cval": 0.4}),
        (ndimage.map_coordinates, (M, Q), {"mode": _mode, "order": 1, "prefilter": False}),
        (splines.spline_values, (M, P, 3, _mode, 0.5, (1, 0)), {}),
        (kernels.direction, (30.0,), {}),
        (splines.spline_back, (P[0], P, (5, 4), 3, _mode, (0, 1)), {}),
    ]


@pytest.mark.parametrize("fn, args, kwargs", RULES, ids=lambda x: getattr(x, "__name__", ""))
def test_rules(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    check_rule(fn, *args, kwargs=kwargs, constant=("cval",))


CASES: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (ndimage.correlate1d, (X, W), {}),
    (ndimage.correlate1d, (M, W), {"axis": 0, "mode": "constant", "cval": 1.5}),
    (ndimage.correlate1d, (X, [1, 2, 3]), {}),
    (ndimage.convolve1d, (X, W), {"mode": "wrap"}),
    (ndimage.convolve1d, (M, RNG.normal(size=4)), {"axis": 0, "origin": 1}),
    (ndimage.correlate, (M, K), {"mode": "mirror"}),
    (ndimage.convolve, (M, K), {}),
    (ndimage.convolve, (M, RNG.normal(size=(3, 3))), {"mode": "nearest", "origin": 1}),
    (ndimage.gaussian_filter1d, (X, 0.8), {}),
    (ndimage.gaussian_filter1d, (M, 0.7), {"axis": 0, "order": 1, "mode": "wrap"}),
    (ndimage.gaussian_filter1d, (X, 0.7), {"order": 3, "truncate": 3.0}),
    (ndimage.gaussian_filter, (M, 0.6), {}),
    (ndimage.gaussian_filter, (M,), {"sigma": (0.5, 1.2), "order": (0, 1), "mode": ("constant", "nearest")}),
    (ndimage.gaussian_filter, (M,), {"sigma": (0, 1.2)}),
    (ndimage.gaussian_filter, (M,), {"sigma": 1.0, "radius": 2, "axes": (1,)}),
    (ndimage.gaussian_laplace, (M, 0.7), {}),
    (ndimage.gaussian_gradient_magnitude, (M, 0.7), {"mode": "mirror"}),
    (ndimage.uniform_filter1d, (X,), {"size": 4}),
    (ndimage.uniform_filter, (M,), {"size": (3, 2), "mode": "constant", "cval": 0.3}),
    (ndimage.sobel, (M,), {}),
    (ndimage.sobel, (M,), {"axis": 0, "mode": "wrap"}),
    (ndimage.prewitt, (M,), {"axis": 1}),
    (ndimage.laplace, (M,), {"mode": "nearest"}),
    (ndimage.maximum_filter, (M,), {"size": 3}),
    (ndimage.maximum_filter, (M,), {"footprint": np.array([[1, 0, 1], [0, 1, 0]]), "mode": "constant", "cval": 0.1}),
    (ndimage.minimum_filter, (X,), {"size": 4, "mode": "mirror"}),
    (ndimage.median_filter, (M,), {"size": (3, 2), "mode": "wrap"}),
    (ndimage.rank_filter, (X, 1), {"size": 3, "origin": 1}),
    (ndimage.rank_filter, (X, -2), {"size": 5}),
    (ndimage.spline_filter1d, (X,), {"order": 4}),
    (ndimage.spline_filter, (M,), {"order": 3}),
    *[(ndimage.map_coordinates, (M, Q), {"mode": mode}) for mode in MODES],
    *[(ndimage.map_coordinates, (M, P), {"order": order}) for order in (0, 1, 2, 4, 5)],
    (ndimage.map_coordinates, (X, Q[:1]), {"order": 3, "mode": "grid-constant", "cval": 2.0}),
    (ndimage.shift, (M, 0.3), {}),
    (ndimage.shift, (M,), {"shift": (0.5, -1.2), "mode": "wrap", "order": 1}),
    (ndimage.shift, (M,), {"shift": (1, -1)}),
    (ndimage.zoom, (M,), {"zoom": 2.0}),
    (ndimage.zoom, (M,), {"zoom": (0.6, 1.5), "mode": "nearest", "order": 1}),
    (ndimage.affine_transform, (M, np.array([[0.9, 0.1], [-0.2, 1.1]])), {}),
    (ndimage.affine_transform, (M, np.array([[0.9, 0.1], [-0.2, 1.1]]), np.array([0.2, 0.3])), {"mode": "reflect"}),
    (
        ndimage.affine_transform,
        (M, np.array([[0.87, 0.13, 0.31], [-0.22, 1.13, 0.41]])),
        {"order": 1, "output_shape": (3, 6)},
    ),
    (ndimage.affine_transform, (M, np.array([0.8, 0.7]), np.array([0.2, 0.3])), {}),
    (ndimage.rotate, (M, 30.0), {"order": 1}),
    (ndimage.rotate, (M, -75.0), {"reshape": False, "mode": "mirror"}),
    (ndimage.rotate, (M,), {"angle": 90}),
    (ndimage.sum_labels, (M,), {}),
    (ndimage.sum, (M,), {"labels": (M > 0).astype(int)}),
    (ndimage.sum_labels, (M,), {"labels": ndimage.label(M > 0)[0], "index": np.array([1, 2, 7])}),
    (ndimage.mean, (M,), {"labels": ndimage.label(M > 0)[0], "index": np.array([1, 2])}),
    (ndimage.mean, (M,), {"labels": ndimage.label(M > 0)[0], "index": 1}),
    (ndimage.mean, (M,), {"labels": ndimage.label(M > 0)[0]}),
    (ndimage.mean, (M,), {}),
]


@pytest.mark.parametrize("fn, args, kwargs", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_derivatives(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    check_case(fn, args, kwargs)


@pytest.mark.parametrize("fn, args, kwargs", CASES, ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dtype: Any) -> None:
    """The value and its dtype are those of SciPy."""
    x = args[0].astype(dtype)
    weights = RNG.normal(size=np.shape(fn(x, *args[1:], **kwargs))).astype(dtype)

    def f(x):
        return np.sum(fn(x, *args[1:], **kwargs) * weights)

    value = ad.value_and_grad(f)(x)[0]
    wanted = f(x)
    rtol, atol = (1e-11, 1e-13) if dtype == np.float64 else (1e-4, 1e-5)
    np.testing.assert_allclose(value, wanted, rtol=rtol, atol=atol)
    assert np.asarray(value).dtype == wanted.dtype


IMAGE = np.random.default_rng(3).normal(size=(5, 6)) + 3
LABELS = np.arange(30).reshape(5, 6) % 4
MEASURED: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (ndimage.maximum_filter1d, (IMAGE, 3), {}),
    (ndimage.minimum_filter1d, (IMAGE, 4), {"axis": 0, "mode": "constant", "origin": 1}),
    (ndimage.percentile_filter, (IMAGE, 30), {"size": 3}),
    (ndimage.percentile_filter, (IMAGE, -20), {"size": (3, 2), "mode": "wrap"}),
    (ndimage.grey_dilation, (IMAGE,), {"size": 3}),
    (ndimage.grey_dilation, (IMAGE,), {"size": (3, 5), "origin": (1, 0)}),
    (ndimage.grey_erosion, (IMAGE,), {"size": 3, "mode": "nearest"}),
    (ndimage.grey_opening, (IMAGE,), {"size": 3}),
    (ndimage.grey_closing, (IMAGE,), {"size": 3}),
    (ndimage.morphological_gradient, (IMAGE,), {"size": 3}),
    (ndimage.center_of_mass, (IMAGE,), {}),
    (ndimage.center_of_mass, (IMAGE, LABELS, 2), {}),
    *[
        (fn, (IMAGE, *rest), {})
        for fn in (ndimage.variance, ndimage.standard_deviation, ndimage.maximum, ndimage.minimum)
        for rest in ((), (LABELS,), (LABELS, 2), (LABELS, np.array([1, 3])))
    ],
]


@pytest.mark.parametrize("fn, args, kwargs", MEASURED, ids=lambda x: getattr(x, "__name__", ""))
def test_measurements(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    check_case(fn, args, kwargs)


def test_every_function_has_a_case() -> None:
    assert without_case("ndimage", CASES + RULES + MEASURED) == []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("n", [1, 2, 3, 6, 40])
def test_transposes(mode: str, n: int) -> None:
    """The pullbacks of linear maps are the transposes of their matrices."""
    eye = np.eye(n)
    for size, origin in ((3, 0), (4, 1), (5, -2)):
        w = RNG.normal(size=size)
        matrix = ndimage.correlate1d(eye, w, 0, mode=mode, origin=origin)
        found = np.stack([kernels.correlate_back(row, w, mode, origin) for row in eye], axis=1)
        np.testing.assert_allclose(found, matrix.T, atol=1e-13)
    for order in (2, 3, 4, 5):
        matrix = ndimage.spline_filter1d(eye, order, 0, mode=mode)
        found = splines.spline_filter1d_back(eye, order, 0, mode)
        np.testing.assert_allclose(found, matrix.T, atol=1e-11)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", range(6))
@pytest.mark.parametrize("shape", [(7,), (2,), (1,), (5, 4)])
def test_interpolation_is_scipys(mode: str, order: int, shape: tuple[int, ...]) -> None:
    c = RNG.normal(size=shape)
    x = RNG.uniform(-9, 14, size=(len(shape), 300))
    x[:, :60] = np.round(x[:, :60])
    x[:, 60:90] = np.round(x[:, 60:90] * 2) / 2
    wanted = ndimage.map_coordinates(c, x, order=order, mode=mode, cval=1.5, prefilter=False)
    found = splines.spline_values(c, x, order, mode, 1.5, (0,) * len(shape))
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    g = RNG.normal(size=300)
    back = splines.spline_back(g, x, shape, order, mode, (0,) * len(shape))
    without = splines.spline_values(0 * c, x, order, mode, 1.5, (0,) * len(shape))
    np.testing.assert_allclose(np.sum(back * c), np.sum(g * (found - without)), rtol=1e-9, atol=1e-9)


def test_empty_arrays() -> None:
    def f(x, w):
        return np.sum(ndimage.correlate1d(x, w)) + np.sum(ndimage.gaussian_filter(x, 1.0) * ndimage.median_filter(x, 3))

    a, b = ad.grad(f, argnums=(0, 1))(np.zeros(0), W)
    assert a.shape == (0,) and b.tolist() == [0.0, 0.0, 0.0]


def test_labels() -> None:
    def f(x):
        labels, count = ndimage.label(x > 0)
        return np.sum(x[labels == 1] ** 2) + count * np.sum(x)

    np.testing.assert_allclose(ad.grad(f)(M), differences(f, M), rtol=1e-6, atol=1e-6)


def test_second_derivatives() -> None:
    def f(x, p):
        y = ndimage.gaussian_filter(x, 0.8)
        return np.sum(ndimage.map_coordinates(y, p, mode="mirror") ** 3) + np.sum(ndimage.maximum_filter(x, 3) ** 2)

    def g(x, p):
        a, b = ad.grad(f, argnums=(0, 1))(x, p)
        return np.sum(a * x) + np.sum(b * p)

    found = ad.grad(g, argnums=(0, 1))(M, P)
    for k in (0, 1):
        np.testing.assert_allclose(found[k], differences(g, M, P, argnum=k), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: ndimage.gaussian_filter(x, 1.0, output=np.zeros((5, 4))), "output="),
        (lambda x: x * ndimage.sobel(np.arange(20).reshape(5, 4)), "floating numbers"),
        (lambda x: ndimage.zoom(x, 2, grid_mode=True), "grid_mode"),
    ],
)
def test_refusals(call: Any, message: str) -> None:
    def f(x):
        return np.sum(call(x))

    with pytest.raises(AutodiffError, match=message):
        ad.grad(f)(M)
