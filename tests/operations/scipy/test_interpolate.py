"""`scipy.interpolate`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import interpolate as si

import autodiff_compiler as ad
from autodiff_compiler.errors import AutodiffError, RuleLookupError, UnsupportedError
from autodiff_compiler.kernels.scipy import interpolate as kernels
from tests.differences import differences
from tests.operations.scipy.harness import check_case, load, without_case

load("interpolate")
RNG = np.random.default_rng(5)
K = np.array([0.0, 0.7, 1.5, 2.1, 3.3, 4.2, 5.0])
Y = RNG.normal(size=7)
Y2 = RNG.normal(size=(7, 2))
YT = Y2.T.copy()
CLOSED = np.append(Y[:-1], Y[0])
W = RNG.normal(size=7)
Q = np.array([0.1, 0.9, 2.0, 3.5, 4.7])
KX = np.array([0.0, 1.0, 1.5, 2.5, 4.0])
KY = np.array([0.0, 0.5, 1.5, 2.2, 3.0, 5.0])
Z = RNG.normal(size=(5, 6))
Z3 = RNG.normal(size=(5, 6, 2))
POINT = np.array([0.35, 1.3, 2.9, 3.9, 4.6])
DIRECTION = np.array([1.0, -2.0, 3.0, 0.5, 5.0])

CUBIC = si.CubicSpline(K, Y)
CUBICS = si.CubicSpline(K, Y2)
ALONG = si.CubicSpline(K, YT, axis=1)
PERIODIC = si.CubicSpline(K, CLOSED, bc_type="periodic")
BOUNDED = si.PPoly(CUBIC.c, CUBIC.x, extrapolate=False)
PCHIP = si.PchipInterpolator(K, Y)
AKIMA = si.Akima1DInterpolator(K, Y)
LINE = si.interp1d(K, Y)
BEYOND = si.interp1d(K, Y, fill_value="extrapolate")
FILLED = si.interp1d(K, YT, bounds_error=False, fill_value=(0.0, 1.0))
LINE3 = si.interp1d(K, Y, kind="cubic")
LINE2 = si.interp1d(K, Y2, kind="quadratic", axis=0)
SPLINE = si.make_interp_spline(K, Y)
SPLINE2 = si.make_interp_spline(K, Y2, k=2)
SMOOTH = si.UnivariateSpline(K, Y, s=0.5)
EXACT = si.InterpolatedUnivariateSpline(K, Y)
ZERO = si.UnivariateSpline(K, Y, s=0, ext=1, k=4)
TCK = si.splrep(K, Y)
SURFACE = si.RectBivariateSpline(KX, KY, Z)
TCK2 = [*SURFACE.tck, *SURFACE.degrees]
GRID = si.RegularGridInterpolator((KX, KY), Z)
GRID3 = si.RegularGridInterpolator((KX, KY), Z3, bounds_error=False, fill_value=0.0)

Vector = np.ndarray[Any, Any]


def seven(x: Vector) -> Any:
    return np.concatenate((x, x[:2]))


def closed(x: Vector) -> Any:
    return np.concatenate((x, x[1:2], x[:1]))


SITES = np.vstack(([[0, 0], [0, 6.5], [6.6, 0], [7, 7]], RNG.uniform(0, 5, size=(8, 2))))
AT = RNG.normal(size=(12, 2))
TARGETS = RNG.uniform(1.5, 3.5, size=(5, 2))


def twelve(x: Vector) -> Any:
    return np.concatenate((x, x * 0.5, x[:2]))


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    # made outside
    "CubicSpline": lambda x: CUBIC(x),
    "CubicSpline nu=1": lambda x: CUBIC(x, 1),
    "CubicSpline nu=2": lambda x: CUBIC(x, nu=2),
    "CubicSpline of two": lambda x: CUBICS(x),
    "CubicSpline of two at a matrix": lambda x: CUBICS(np.stack([x, x * 0.5])),
    "CubicSpline axis=1": lambda x: ALONG(x),
    "CubicSpline beyond": lambda x: CUBIC(x * 3 - 4),
    "CubicSpline periodic": lambda x: PERIODIC(x * 3 - 4),
    "CubicSpline at a number": lambda x: CUBIC(x[0]) * x,
    "derivative": lambda x: CUBIC.derivative()(x),
    "antiderivative": lambda x: CUBIC.antiderivative()(x),
    "integrate": lambda x: CUBIC.integrate(x[0], x[1]) * x,
    "PPoly bounded": lambda x: np.nan_to_num(BOUNDED(x * 1.1)),
    "Pchip": lambda x: PCHIP(x),
    "Akima": lambda x: AKIMA(x),
    "interp1d": lambda x: LINE(x),
    "interp1d at a number": lambda x: LINE(x[0]) * x,
    "interp1d beyond": lambda x: BEYOND(x * 3 - 4),
    "interp1d filled": lambda x: FILLED(x * 3 - 4),
    "interp1d cubic": lambda x: LINE3(x),
    "interp1d quadratic": lambda x: LINE2(x),
    "BSpline": lambda x: SPLINE(x),
    "BSpline of two": lambda x: SPLINE2(x),
    "BSpline nu=1": lambda x: SPLINE(x, 1),
    "BSpline derivative": lambda x: SPLINE.derivative(2)(x),
    "BSpline antiderivative": lambda x: SPLINE.antiderivative()(x),
    "BSpline integrate": lambda x: SPLINE.integrate(x[0], x[1]) * x,
    "BSpline beyond": lambda x: SPLINE(x * 3 - 4),
    "BSpline bounded": lambda x: np.nan_to_num(SPLINE(x * 3 - 4, extrapolate=False)),
    "UnivariateSpline": lambda x: SMOOTH(x),
    "UnivariateSpline at a number": lambda x: SMOOTH(x[0]) * x,
    "UnivariateSpline nu=1": lambda x: SMOOTH(x, 1),
    "UnivariateSpline derivative": lambda x: SMOOTH.derivative()(x),
    "UnivariateSpline integral": lambda x: SMOOTH.integral(x[0], x[1]) * x,
    "UnivariateSpline ext=3": lambda x: SMOOTH(x * 3 - 4, ext=3),
    "UnivariateSpline ext=1": lambda x: ZERO(x * 3 - 4),
    "InterpolatedUnivariateSpline": lambda x: EXACT(x),
    "splev": lambda x: si.splev(x, TCK),
    "splev der=1": lambda x: si.splev(x, TCK, der=1),
    "RectBivariateSpline": lambda x: SURFACE(np.sort(x), x[:1] * 0 + 2.1),
    "RectBivariateSpline at numbers": lambda x: SURFACE(x[0], x[1])[0, 0] * x,
    "bisplev": lambda x: si.bisplev(np.sort(x), [0.4, 2.1], TCK2),
    "bisplev at a number": lambda x: si.bisplev(x[0], x[1], TCK2, dx=1) * x,
    "bisplev along y": lambda x: si.bisplev(x[0], np.sort(x), TCK2),
    "RectBivariateSpline.ev": lambda x: SURFACE.ev(x, x[::-1]),
    "RectBivariateSpline.ev dx": lambda x: SURFACE.ev(x, x[::-1], dx=1),
    "RectBivariateSpline no grid": lambda x: SURFACE(x, x[::-1], grid=False),
    "RectBivariateSpline outside": lambda x: SURFACE.ev(x * 2 - 1.5, x),
    "RegularGridInterpolator": lambda x: GRID((x * 0.8, x[::-1])),
    "RegularGridInterpolator of rows": lambda x: GRID(np.stack([x * 0.8, x], axis=-1)),
    "RegularGridInterpolator of one": lambda x: GRID(x[:2]) * x,
    "RegularGridInterpolator filled": lambda x: GRID3((x * 1.1, x[::-1])),
    # made inside
    "new CubicSpline": lambda x: si.CubicSpline(K, seven(x))(Q),
    "new CubicSpline by knots": lambda x: si.CubicSpline(np.cumsum(seven(x) + 0.1), Y)(Q),
    "new CubicSpline natural": lambda x: si.CubicSpline(K, seven(x), bc_type="natural")(Q * 1.2),
    "new CubicSpline clamped": lambda x: si.CubicSpline(K, seven(x) * W, bc_type="clamped")(x),
    "new CubicSpline with slopes": lambda x: si.CubicSpline(K, seven(x), bc_type=((1, x[0]), (2, x[1])))(Q),
    "new CubicSpline of two": lambda x: si.CubicSpline(K, Y2 * seven(x)[:, None], bc_type=("natural", "not-a-knot"))(
        Q, 1
    ),
    "new CubicSpline axis=1": lambda x: si.CubicSpline(K, YT * seven(x), axis=1)(Q),
    "new CubicSpline periodic": lambda x: si.CubicSpline(K, closed(x), bc_type="periodic")(Q * 3),
    "new CubicSpline integrate": lambda x: si.CubicSpline(K, seven(x)).integrate(0.3, x[1]) * x,
    "new CubicHermiteSpline": lambda x: si.CubicHermiteSpline(K, seven(x), W * seven(x))(Q),
    "new Pchip": lambda x: si.PchipInterpolator(K, np.cumsum(seven(x)))(x),
    "new Pchip, not monotone": lambda x: si.PchipInterpolator(K, W * seven(x))(Q),
    "new Akima": lambda x: si.Akima1DInterpolator(K, W * seven(x))(Q),
    "new PPoly": lambda x: si.PPoly(np.stack([x[:4], x[1:]]), np.array([0.0, 1, 2, 3, 5]))(x),
    "new interp1d": lambda x: si.interp1d(K, seven(x))(Q),
    "new interp1d by points": lambda x: si.interp1d(np.cumsum(seven(x)), Y, fill_value="extrapolate")(Q),
    "new interp1d nearest": lambda x: si.interp1d(K, seven(x), kind="nearest")(Q),
    "new interp1d previous": lambda x: si.interp1d(K, seven(x), kind="previous")(Q),
    "new interp1d next": lambda x: si.interp1d(K, seven(x), kind="next", bounds_error=False, fill_value=0.0)(Q * 3 - 4),
    "new interp1d cubic": lambda x: si.interp1d(K, seven(x), kind="cubic")(x),
    "new interp1d quadratic": lambda x: si.interp1d(K, Y2 * seven(x)[:, None], kind="quadratic", axis=0)(x),
    "new interp1d along rows": lambda x: si.interp1d(K, YT * seven(x))(Q),
    "new interp1d unsorted": lambda x: si.interp1d(K[::-1], seven(x))(Q),
    "new BSpline": lambda x: si.BSpline(SPLINE.t, seven(x), 3)(x),
    "new BSpline of two": lambda x: si.BSpline(SPLINE2.t, Y2 * seven(x)[:, None], 2)(x, 1),
    "make_interp_spline": lambda x: si.make_interp_spline(K, seven(x), k=3)(x),
    "make_interp_spline k=5": lambda x: si.make_interp_spline(K, seven(x), k=5)(Q),
    "make_interp_spline k=1": lambda x: si.make_interp_spline(K, seven(x), k=1)(x),
    "new InterpolatedUnivariateSpline": lambda x: si.InterpolatedUnivariateSpline(K, seven(x))(x),
    "new InterpolatedUnivariateSpline k=2": lambda x: si.InterpolatedUnivariateSpline(K, seven(x), k=2)(x),
    "new UnivariateSpline k=5": lambda x: si.UnivariateSpline(K, seven(x), s=0, k=5, ext="zeros")(Q * 2),
    "new UnivariateSpline k=4": lambda x: si.UnivariateSpline(K, seven(x), s=0, k=4).integral(0.5, x[2]) * x,
    "splrep": lambda x: si.splev(x, si.splrep(K, seven(x))),
    "splint": lambda x: si.splint(x[0], 9.0, si.splrep(K, seven(x), k=2)) * x,
    "new RectBivariateSpline": lambda x: si.RectBivariateSpline(KX, KY, Z * x[:, None])(Q, np.array([0.1, 2.0, 3.0])),
    "new RectBivariateSpline kx=2": lambda x: si.RectBivariateSpline(KX, KY, Z * x[:, None], kx=2, ky=1).ev(x, Q),
    "new RegularGridInterpolator": lambda x: si.RegularGridInterpolator((KX, KY), Z * x[:, None])((x * 0.8, x)),
    "new RegularGridInterpolator nearest": lambda x: si.RegularGridInterpolator(
        (KX, KY), Z * x[:, None], method="nearest"
    )((x * 0.8, x)),
    "new RegularGridInterpolator by grid": lambda x: si.RegularGridInterpolator((np.cumsum(x) - x[0], KY), Z)(
        (x * 0.8, x)
    ),
    "griddata": lambda x: si.griddata(SITES, AT[:, 0], np.stack([x, x[::-1]], axis=-1) * 0.4 + 1.5),
    "griddata by values": lambda x: si.griddata(SITES, twelve(x), TARGETS),
    "griddata by sites": lambda x: si.griddata(SITES + twelve(x)[:, None] * 0.01, AT, TARGETS, fill_value=0.0),
    "griddata of coordinates": lambda x: si.griddata(
        (SITES[:, 0], SITES[:, 1]), twelve(x), (x[:, None] * 0.1 + 2, x[:2] * 0.1 + 1.5), fill_value=0.0
    ),
    "griddata outside": lambda x: si.griddata(SITES, twelve(x), TARGETS * 2, fill_value=0.0),
    "griddata nearest": lambda x: si.griddata(SITES, twelve(x), TARGETS, method="nearest"),
    "new LinearNDInterpolator": lambda x: si.LinearNDInterpolator(SITES, twelve(x))(TARGETS[:, 0], TARGETS[:, 1]),
    "interpn": lambda x: si.interpn((KX, KY), Z, np.stack([x * 0.8, x], axis=-1)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    program = PROGRAMS[name]
    weights = np.random.default_rng(3).normal(size=np.shape(program(POINT)))

    def total(x: Any) -> Any:
        return np.sum(weights * program(x))

    def along(x: Any) -> Any:
        return np.sum(DIRECTION * ad.grad(total)(x))

    value, g = ad.value_and_grad(total)(POINT)
    np.testing.assert_allclose(value, total(POINT), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(g, differences(total, POINT), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(ad.jvp(total, (POINT,), (DIRECTION,))[1], np.sum(DIRECTION * g), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ad.grad(along)(POINT), differences(along, POINT), rtol=1e-5, atol=1e-5)


TWO = (CUBIC.c, K, np.array([0.3, 2.4]), 0, True)
CASES: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (kernels.piecewise, TWO, {}),
    (kernels.piecewise, (CUBICS.c, K, np.array([[0.3, 2.4], [4.6, 5.6]]), 1, True), {}),
    (kernels.piecewise_transposed, (np.array([1.0, 2.0]), K, np.array([0.3, 2.4]), 3, 0, True), {}),
    (kernels.bspline, (SPLINE.t, SPLINE.c, 3, np.array([0.3, 2.4]), True), {}),
    (kernels.bspline_transposed, (SPLINE.t, np.array([1.0, 2.0]), 3, np.array([0.3, 2.4]), True), {}),
    (kernels.coefficients, (K, Y, SPLINE.t, 3), {}),
    (kernels.coefficients_transposed, (K, Y, SPLINE.t, 3), {}),
]


def test_every_rule_has_a_case() -> None:
    missing = [name for name in without_case("interpolate", CASES) if " by " in name]
    assert missing == []  # the definitions are in the programs


@pytest.mark.parametrize("fn, args, kwargs", CASES[:3], ids=lambda x: getattr(x, "__name__", ""))
def test_rules(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    check_case(fn, args, kwargs)


POINTS = {
    "number": 1.5, "generic": np.float64(2.2), "0-d": np.array(2.5), "vector": np.array([1.0, 2.5]),
    "matrix": np.array([[1.0, 2.5], [3.0, 4.0]]), "empty": np.zeros(0), "float32": np.array([1.0, 2.0], np.float32),
    "nan": np.array([1.0, np.nan]), "end": np.array(5.0),
}  # fmt: skip
UNBOUNDED = si.interp1d(K, Y, bounds_error=False)
SQUARE = si.RegularGridInterpolator((K, K), np.outer(Y, Y), bounds_error=False)
SQUARES = si.RectBivariateSpline(K, K, np.outer(Y, Y))
KINDS: dict[str, Callable[[Any], Any]] = {
    "interp1d": lambda x: UNBOUNDED(x),
    "CubicSpline": lambda x: CUBIC(x),
    "CubicSpline nu=1": lambda x: CUBIC(x, 1),
    "bounded": lambda x: CUBIC(x, extrapolate=False),
    "BSpline": lambda x: SPLINE(x),
    "UnivariateSpline": lambda x: EXACT(x),
    "RegularGridInterpolator": lambda x: SQUARE((x, x)),
    "RectBivariateSpline": lambda x: SQUARES.ev(x, x),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("points", POINTS)
def test_kinds_of_points(kind: str, points: str) -> None:
    x = POINTS[points]
    expected = KINDS[kind](x)
    value, _ = ad.jvp(KINDS[kind], (x,), (x,))
    assert type(value) is type(expected) and value.shape == expected.shape and value.dtype == expected.dtype
    np.testing.assert_allclose(value, expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["linear", "nearest", "previous", "quadratic"])
def test_dtypes_of_values(dtype: type, kind: str) -> None:
    def f(y: Any) -> Any:
        return si.interp1d(K, y, kind=kind)(Q)

    y = Y.astype(dtype)
    value, _ = ad.jvp(f, (y,), (y,))
    assert value.dtype == f(y).dtype
    np.testing.assert_allclose(value, f(y), rtol=1e-6)
    assert ad.grad(lambda y: np.sum(f(y)))(y).dtype == dtype


@pytest.mark.parametrize("beyond", [{}, {"fill_value": "extrapolate"}])
@pytest.mark.parametrize("last", [2.0, np.inf])
def test_lines_are_those_of_the_installed_version(beyond: dict[str, Any], last: float) -> None:
    """SciPy 1.18 computes a line by another formula, which another infinite value comes out of."""
    y = np.array([0.3, 1.7, last])

    def f(x: Any, y: Any) -> Any:
        return si.interp1d(np.arange(3.0), y, **beyond)(x)

    x = np.array([0.25, 1.0, 1.4, 2.0])
    with np.errstate(invalid="ignore"):
        value, _ = ad.jvp(f, (x, y), (x, y))
        np.testing.assert_array_equal(value, f(x, y))


def test_the_interval_at_a_knot() -> None:
    """NumPy's interpolation uses the interval to the right of a knot, and SciPy's own that to the left."""
    x = np.arange(4.0)
    right, left = si.interp1d(x, x**2), si.interp1d(x, x**2, fill_value="extrapolate")
    assert ad.grad(lambda x: right(x))(2.0) == 5.0
    assert ad.grad(lambda x: left(x))(2.0) == 3.0


def test_numbers() -> None:
    value, _ = ad.jvp(lambda x: EXACT.integral(0.0, x), (2.0,), (1.0,))
    assert type(value) is float
    np.testing.assert_allclose(value, EXACT.integral(0.0, 2.0), rtol=1e-14)
    value, slope = ad.jvp(lambda x: si.splint(0.0, x, TCK), (2.0,), (1.0,))
    np.testing.assert_allclose(slope, si.splev(2.0, TCK), rtol=1e-13)


def test_another_spline_in_the_next_call() -> None:
    class Model:
        curve = CUBIC

    model = Model()
    g = ad.grad(lambda x: model.curve(x) * 1.0)
    np.testing.assert_allclose(g(1.2), CUBIC(1.2, 1), rtol=1e-13)
    model.curve = si.CubicSpline(K[:-1], Y[:-1] * 2)
    np.testing.assert_allclose(g(1.2), model.curve(1.2, 1), rtol=1e-13)


@pytest.mark.parametrize("program", [lambda x: LINE(x), lambda x: GRID((x, x)), lambda x: EXACT(x, ext=2)])
def test_out_of_bounds(program: Any) -> None:
    with pytest.raises(ValueError):
        ad.grad(lambda x: np.sum(program(x)))(np.array([1.0, 7.0]))


@pytest.mark.parametrize(
    "make", [lambda x, y: si.CubicSpline(x, y), lambda x, y: si.PchipInterpolator(x, y), lambda x, y: si.interp1d(x, y)]
)
def test_what_scipy_raises(make: Any) -> None:
    with pytest.raises(ValueError):
        ad.grad(lambda y: np.sum(make(K, y)(Q)))(Y[:-1])


REFUSED: dict[str, tuple[Callable[[Any], Any], type[AutodiffError], str]] = {
    "smoothing": (lambda y: si.UnivariateSpline(K, y)(1.0), UnsupportedError, "smoothing"),
    "splrep": (lambda y: si.splev(1.0, si.splrep(K, y, s=1.0)), UnsupportedError, "smoothing"),
    "points": (lambda x: si.InterpolatedUnivariateSpline(np.cumsum(x * x), Y)(1.0), RuleLookupError, "no derivative"),
    "points of interp1d": (
        lambda x: si.interp1d(np.cumsum(x * x), Y, kind="cubic")(0.5), RuleLookupError, "no derivative",
    ),
    "knots": (lambda x: si.BSpline(np.cumsum(x * x), W[:3], 3)(1.0), RuleLookupError, "no derivative"),
    "bbox": (lambda y: si.UnivariateSpline(K, y, s=0, bbox=[0, 6])(1.0), UnsupportedError, "bbox"),
    "class": (lambda y: y[0] if isinstance(si.CubicSpline(K, y), si.PPoly) else y[1], UnsupportedError, "the class of"),
    "roots": (lambda y: si.CubicSpline(K, y).roots()[0], UnsupportedError, "this attribute"),
    "boundary": (
        lambda y: si.make_interp_spline(K, y, bc_type="natural")(1.0), UnsupportedError, "bc_type",
    ),
    "method": (
        lambda y: si.RegularGridInterpolator((K,), y, method="cubic")([0.5])[0], UnsupportedError, "this method",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    program, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        ad.grad(lambda y: program(y) * 1.0)(Y)


SEVEN = np.arange(7.0)
KEPT: dict[str, Callable[[Any], Callable[[Any], Any]]] = {
    "BSpline": lambda c: si.BSpline(np.arange(11.0), c, 3),
    "PPoly": lambda c: si.PPoly(c[None, :], np.arange(8.0)),
    "interp1d": lambda c: si.interp1d(SEVEN, c),
    "interp1d sorted": lambda c: si.interp1d(SEVEN, c, assume_sorted=True),
    "interp1d shared": lambda c: si.interp1d(SEVEN, c, assume_sorted=True, copy=False),
    "CubicSpline": lambda c: si.CubicSpline(SEVEN, c),
    "make_interp_spline": lambda c: si.make_interp_spline(SEVEN, c, k=1),
    "UnivariateSpline": lambda c: si.UnivariateSpline(SEVEN, c, k=1, s=0),
    "RegularGridInterpolator": lambda c: si.RegularGridInterpolator((SEVEN,), c),
}


@pytest.mark.parametrize("name", KEPT)
def test_a_later_change_of_the_values(name: str) -> None:
    """What SciPy copies does not change, and what it keeps does."""
    make = KEPT[name]

    def f(x: Any) -> Any:
        values = seven(x)
        curve = make(values)
        values[3] = 0.0
        return np.sum(curve(np.array([3.2, 4.1])))

    value, g = ad.value_and_grad(f)(POINT)
    np.testing.assert_allclose(value, f(POINT), rtol=1e-13)
    np.testing.assert_allclose(g, differences(f, POINT), rtol=1e-6, atol=1e-6)
