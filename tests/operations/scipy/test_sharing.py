"""SciPy's objects share arrays with the program, or copy them. A store after they were made shows which."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest
from scipy import fft, interpolate, linalg, ndimage, signal, spatial, stats
from scipy.sparse import linalg as sla
from scipy.spatial import transform

import autodiff_compiler as ad
from tests.differences import differences

P = np.array([0.7, -0.4, 1.3, 0.2, 0.9, -0.8])
CORNERS = np.array([[0.0, 0], [1.1, 0.1], [0, 1], [1, 1.2], [0.4, 0.6], [0.6, 0.7]])
KNOTS = np.array([0.0, 0, 0, 1, 1, 1])


def total(values: Any) -> Any:
    values = np.asarray(values)
    return np.sum(values * values * np.arange(1.0, values.size + 1).reshape(values.shape) + 0.3 * values)


# Each makes an array, an object of it, and the same object after a store.


def derivative_of_order_0(p: Any) -> Any:
    c = np.reshape(p * 1.0, (3, 2))
    o = interpolate.PPoly(c, [0.0, 1.0, 2.0])
    o.derivative(0).c[0] = 0
    o.antiderivative(0).c[1] = 0
    return total(c) + total(o(1.3)) + total(o.c)


def derivative_of_order_0_of_a_b_spline(p: Any) -> Any:
    c = p[:3] * 1.0
    o = interpolate.BSpline(KNOTS, c, 2)
    o.derivative(0).c[0] = 0
    o.antiderivative(0).c[1] = 0
    return total(c) + total(o(0.3)) + total(o.c)


def more_coefficients_than_needed(p: Any) -> Any:
    tck = interpolate.splrep(np.arange(6.0), p)
    o = interpolate.BSpline(*tck)
    lengths = 0.0
    for made in (o, o.derivative(0), o.derivative(), o.derivative(2), o.antiderivative(0), o.antiderivative(2)):
        lengths += len(made.c) * p[0] + total(made.c) + total(made(2.3)) + len(made.tck[0])
    tck[1][1] = 3.0 * p[1]
    o.c[2] = p[0] * p[4]
    o.c[-1] = 4.0
    return lengths + total(o.c) + total(o(1.2)) + total(tck[1]) + o.integrate(0.2, 3.1)


def more_coefficients_in_columns(p: Any) -> Any:
    c = np.outer(p, p[:2])
    o = interpolate.BSpline(KNOTS, c, 2)
    c[4] = 7.0 * p[1]
    d = o.derivative()
    c[1] = p[2]
    return total(o.c) + total(d.c) + total(o.antiderivative().c) + total(o(0.4)) + len(d.c) * p[0]


def coefficients_in_fortran_order(p: Any) -> Any:
    c = np.reshape(p * 1.0, (2, 3)).T
    o = interpolate.PPoly(c, [0.0, 1.0, 2.0])
    c[0, 1] = p[3] * 2
    o.c[1, 0] = 5 * p[1]
    return total(c) + total(o(1.3)) + total(o.c)


def coefficients_along_another_axis(p: Any) -> Any:
    c = np.reshape(p * 1.0, (2, 3))
    o = interpolate.BSpline(KNOTS, c, 2, axis=1)
    c[1, 1] = p[0] * 3
    o.c[2] = p[0]
    return total(c) + total(o(0.3)) + total(o.c)


def strided_values_of_a_grid(p: Any) -> Any:
    a, v = np.array([0.0, 1, 2]) + 0.01 * p[:3], p * 1.0
    o = interpolate.RegularGridInterpolator((a,), v[::2])
    a[1] += 0.2
    v[2] = 3.0 * p[1]
    return total(o([[0.4], [1.2]]))


def times_of_a_slerp(p: Any) -> Any:
    t = np.array([0.0, 1.0]) + 0.01 * p[:2]
    o = transform.Slerp(t, transform.Rotation.from_rotvec(np.reshape(p * 1.0, (2, 3))))
    t[1] = 1.3 * p[2]
    o.times[0] -= 0.1 * p[3]
    return total(o(0.4).as_rotvec()) + total(t)


def samples_of_a_density(p: Any) -> Any:
    d = p * 1.0
    o = stats.gaussian_kde(d)
    d[1] = p[0] * 3
    return total(o(0.3)) + total(o.dataset) + total(o.logpdf([0.1, 0.2]))


def samples_of_a_density_by_its_attribute(p: Any) -> Any:
    d = np.reshape(p * 1.0, (1, 6))
    o = stats.gaussian_kde(d)
    o.dataset[0, 1] = 0.5 * p[0]
    return total(o(0.3)) + total(d)


def mean_of_a_normal_distribution(p: Any) -> Any:
    o = stats.multivariate_normal(p[:2], np.diag(p[2:4] ** 2 + 0.5))
    o.mean = p[3:5] * 2
    return total(o.logpdf([0.3, 0.2])) + total(o.mean)


def points_of_a_hull(p: Any) -> Any:
    q = CORNERS + 0.01 * p[:, None]
    o = spatial.ConvexHull(q)
    q *= 2
    o.points[0, 0] = -0.3 * p[0]
    return total(o.volume) + total(o.area) + total(o.points) + total(q)


def points_of_a_triangulation(p: Any) -> Any:
    q = CORNERS + 0.01 * p[:, None]
    o = spatial.Delaunay(q)
    q[4, 0] = 0.45 * p[1]
    return total(o.points[o.simplices])


def points_of_an_interpolator(p: Any) -> Any:
    q = CORNERS + 0.01 * p[:, None]
    o = interpolate.LinearNDInterpolator(q, p)
    v = o([[0.3, 0.4]])
    q[4, 0] = 0.45 * p[1]
    return total(v) + total(o.points)


def values_in_fortran_order(p: Any) -> Any:
    v = np.reshape(p * 1.0, (2, 3)).T
    o = interpolate.LinearNDInterpolator(CORNERS[:3], v)
    v[1] = p[0] * 3
    return total(o([[0.3, 0.4]]))


@pytest.mark.parametrize(
    "f",
    [
        derivative_of_order_0, derivative_of_order_0_of_a_b_spline, more_coefficients_than_needed,
        more_coefficients_in_columns, coefficients_in_fortran_order,
        coefficients_along_another_axis, strided_values_of_a_grid, times_of_a_slerp, samples_of_a_density,
        samples_of_a_density_by_its_attribute, mean_of_a_normal_distribution, points_of_a_hull,
        points_of_a_triangulation, points_of_an_interpolator, values_in_fortran_order,
    ],
)  # fmt: skip
def test_a_store_is_seen_where_scipy_shares_the_array(f: Any) -> None:
    value, gradient = ad.value_and_grad(f)(P)
    assert value == pytest.approx(f(P), rel=1e-10)
    np.testing.assert_allclose(gradient, differences(f, P), rtol=1e-5, atol=1e-6)
    tangent = np.arange(6.0) - 2.5
    assert ad.jvp(f, (P,), (tangent,))[1] == pytest.approx(np.sum(gradient * tangent), rel=1e-8)


def operator(p: Any) -> Any:
    a = np.outer(p, p) + np.eye(6)
    o = sla.aslinearoperator(a)
    a[0, 0] = 4.0
    return total(o.rmatvec(np.ones(6)))


def interpolator(p: Any) -> Any:
    q = CORNERS + 0.01 * p[:, None]
    o = interpolate.LinearNDInterpolator(q, p)
    q[4, 0] += 0.05
    return total(o([[0.3, 0.4]]))


def triangulation(p: Any) -> Any:
    q = CORNERS + 0.01 * p[:, None]
    o = spatial.Delaunay(q)
    q[4, 0] += 0.05
    return p[0] * o.find_simplex([[0.3, 0.4]])[0]


@pytest.mark.parametrize("f", [operator, interpolator, triangulation])
def test_a_store_into_what_scipy_has_computed_of_is_refused(f: Any) -> None:
    with pytest.raises(NotImplementedError, match="changed since it was made: make"):
        ad.grad(f)(P)


def filled(p: Any) -> Any:
    o = interpolate.interp1d(np.arange(6.0), p, bounds_error=False)
    o.fill_value = (p[0], p[1])
    return total(o([-1.0, 7.0]))


def spread(p: Any) -> Any:
    o = stats.multivariate_normal(p[:2], np.eye(2))
    setattr(o, "cov_object", 3.0)
    return o.logpdf([0.1, 0.2])


@pytest.mark.parametrize("f", [filled, spread])
def test_an_attribute_that_is_assigned_and_not_known_is_refused(f: Any) -> None:
    with pytest.raises(ad.UnsupportedError, match="to assign here: the compiler knows only a part of what SciPy's has"):
        ad.grad(f)(P)


# --- arrays that a call may overwrite ---------------------------------------------------------------------------------


def solved_in_a_loop(p: Any) -> Any:
    s = 0.0
    for k in range(3):
        a, b = np.outer(p, p) + np.eye(6) * (k + 1), p * s + 1
        lu = linalg.lu_factor(a, True)
        s = s + np.sum(linalg.lu_solve(lu, b, overwrite_b=True)) + linalg.det(np.eye(6) * p[0], overwrite_a=True)
    return s


def not_overwritten(p: Any) -> Any:
    a = np.outer(p, p) + np.eye(6)
    return np.sum(linalg.inv(a, False)) + np.sum(linalg.solve(a, p, overwrite_a=False)) + np.trace(a)


@pytest.mark.parametrize("f", [solved_in_a_loop, not_overwritten])
def test_a_call_may_overwrite_what_nobody_reads_afterwards(f: Any) -> None:
    value, gradient = ad.value_and_grad(f)(P)
    assert value == pytest.approx(f(P), rel=1e-10)
    np.testing.assert_allclose(gradient, differences(f, P), rtol=1e-5, atol=1e-6)


OUTSIDE = np.eye(6)
OVERWRITTEN = {
    "linalg.solve(a, b, overwrite_a=True); r = a[0]": "solve() with overwrite_a",
    "linalg.solve(a, b, overwrite_b=True); r = b": "solve() with overwrite_b",
    "v = a[1:]; linalg.inv(a.T, True); r = v": "inv() with overwrite_a",
    "v = a[1:]; linalg.svd(v, overwrite_a=True); r = a[0]": "svd() with overwrite_a",
    "[linalg.eigh(a, overwrite_a=k > 0) for k in range(3)]; r = a[0]": "eigh() with overwrite_a",
    "linalg.cho_solve(linalg.cho_factor(a), b, overwrite_b=True); b[0] = 1.0; r = b": "cho_solve() with overwrite_b",
    "r = linalg.null_space(a, overwrite_a=True); r = a": "null_space() with overwrite_a",
    "fft.rfft(b, overwrite_x=True); r = b": "rfft() with overwrite_x",
    "signal.detrend(b, overwrite_data=True); r = b": "detrend() with overwrite_data",
    "linalg.inv(OUTSIDE, overwrite_a=True); r = b": "a store into 'OUTSIDE'",
    "linalg.solve(a, p, overwrite_b=True); r = p": "solve() with overwrite_b",
}


@pytest.mark.parametrize("program", OVERWRITTEN)
def test_what_a_call_may_have_overwritten_is_not_read(program: str) -> None:
    lines = ["a, b = np.outer(p, p) + np.eye(6), p * 2", program, "return np.sum(r)"]
    names = {"np": np, "linalg": linalg, "fft": fft, "signal": signal, "OUTSIDE": OUTSIDE}
    f = ad.from_tree(ast.parse("def f(p):\n    " + "\n    ".join(lines)), names)
    with pytest.raises(ad.UnsupportedError if "OUTSIDE" in program else ad.AliasError) as error:
        ad.grad(f)(P)
    assert OVERWRITTEN[program] in str(error.value)


WRITTEN = """
ndimage.white_tophat(a, 3, output=b); ndimage.generic_filter(a, np.mean, 3, None, b); ndimage.label(a > 0, output=b)
ndimage.fourier_gaussian(a, 1, output=b); ndimage.distance_transform_edt(a > 0, distances=b)
ndimage.gaussian_filter(a, 1, output=b); ndimage.uniform_filter1d(a, 3, -1, b); ndimage.binary_erosion(a > 0, output=b)
blas.dscal(2.0, b); blas.daxpy(a, b); blas.dcopy(a, b); blas.dswap(a, b)
blas.drot(a, b, 0.6, 0.8, overwrite_x=True, overwrite_y=True)
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("call", [s.strip() for s in WRITTEN if s.strip()])
def test_a_call_that_writes_its_result_into_an_array_is_refused_where_that_is_read(call: str) -> None:
    names = {"np": np, "ndimage": ndimage, "blas": linalg.blas}
    lines = ["a, b = p * 2, p * 3", call, "return np.sum(b)"]
    with pytest.raises(ad.AutodiffError):
        ad.grad(ad.from_tree(ast.parse("def f(p):\n    " + "\n    ".join(lines)), names))(P)


def test_a_filter_of_width_0_copies() -> None:
    def f(p: Any) -> Any:
        a = p * 2
        b = ndimage.gaussian_filter(a, 0)
        b[0] = 7.0 * p[1]
        return total(a) + total(b)

    value, gradient = ad.value_and_grad(f)(P)
    assert value == pytest.approx(f(P), rel=1e-10)
    np.testing.assert_allclose(gradient, differences(f, P), rtol=1e-5, atol=1e-6)
