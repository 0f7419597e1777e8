"""B-splines, and the splines of FITPACK: `BSpline`, `UnivariateSpline`, `splrep`, `RectBivariateSpline`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from ....kernels.scipy import interpolate as kernels
from ...definitions import defines, refuse
from .piecewise import UNDERSCORE, column, floats, held, method_of, packed, static, turned_back

UNIVARIATE = (
    interpolate.UnivariateSpline,
    interpolate.InterpolatedUnivariateSpline,
    interpolate.LSQUnivariateSpline,
)
GRID = (interpolate.RectBivariateSpline, interpolate.SmoothBivariateSpline, interpolate.LSQBivariateSpline)


def differentiated(t: Any, c: Any, k: Any, nu: Any) -> Any:
    """Knots, coefficients and degree of the derivative of order `nu`."""
    if not isinstance(nu, int) or nu < 0:
        refuse("this order of derivative of a spline", "write it as a constant that is not negative")
    for _ in list(range(nu)):
        if k == 0:
            c = c * 0.0
        else:
            c = column(kernels.steps(t, k), c) * np.diff(c, axis=0)
            t, k = t[1:-1], k - 1
    return t, c, k


def integrated(t: Any, c: Any, k: Any) -> Any:
    """Knots, coefficients and degree of the antiderivative that is zero at the first knot."""
    weights = (t[k + 1 :] - t[: -k - 1]) / (k + 1)
    sums = np.cumsum(column(weights, c) * c, axis=0)
    c = np.concatenate((np.zeros_like(sums[:1]), sums))
    return np.concatenate((t[:1], t, t[-1:])), c, k + 1


class Spline:
    """What `scipy.interpolate.BSpline` is. longer: there may be more coefficients than the spline needs."""

    def __init__(self, t: Any, c: Any, k: Any, extrapolate: Any, axis: Any, longer: Any = True) -> None:
        self.t = t
        self.c = c
        self.k = k
        self.extrapolate = extrapolate
        self.axis = axis
        self.longer = longer

    @property
    def tck(self) -> Any:
        return self.t, self.c, self.k

    @property
    def needed(self) -> Any:
        return self.c[: len(self.t) - self.k - 1] if self.longer else self.c

    def as_long_as_the_knots(self) -> Any:
        """A copy of the coefficients, with zeros at the end."""
        zeros = np.zeros((max(len(self.t) - len(self.c), 0), *self.c.shape[1:]), dtype=self.c.dtype)
        return np.concatenate((self.c, zeros))

    def __call__(self, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        x = np.asarray(x)
        k = self.k
        if extrapolate == "periodic":
            a, b = self.t[k], self.t[-k - 1]
            x = a + (x - a) % (b - a)
            extrapolate = False
        t, c, k = differentiated(self.t, self.needed, k, nu)
        return turned_back(kernels.bspline(t, c, k, x, bool(extrapolate)), self.axis, np.ndim(x))

    def derivative(self, nu: Any = 1) -> Any:
        if nu == 0:
            return Spline(self.t, self.as_long_as_the_knots(), self.k, self.extrapolate, self.axis)
        t, c, k = differentiated(self.t, self.needed, self.k, nu)
        c = np.concatenate((c, np.zeros((k + 1, *c.shape[1:]), dtype=c.dtype)))
        return Spline(t, c, k, self.extrapolate, self.axis)

    def antiderivative(self, nu: Any = 1) -> Any:
        t, c, k = self.t, self.needed, self.k
        for _ in list(range(nu)):
            t, c, k = integrated(t, c, k)
        c = self.as_long_as_the_knots() if nu == 0 else np.concatenate((c, np.repeat(c[-1:], k + 1, axis=0)))
        return Spline(t, c, k, False if self.extrapolate == "periodic" else self.extrapolate, self.axis)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        if extrapolate == "periodic":
            refuse("an integral of a periodic spline", "use the antiderivative, inside of one period")
        k = self.k
        if np.ndim(a) != 0 or np.ndim(b) != 0:
            refuse("an integral between arrays", "integrate between numbers, or use the antiderivative")
        ends = np.stack((a, b))
        if not extrapolate:
            ends = np.clip(ends, self.t[k], self.t[-k - 1])
        t, c, k = integrated(self.t, self.needed, k)
        made = kernels.bspline(t, c, k, ends, True)
        return np.asarray(made[1] - made[0])

    def __getattr__(self, name: Any) -> Any:
        refuse("this attribute of a spline", "use its values, or its t, c and k")


def bspline(x: Any) -> Any:
    if isinstance(x, Spline):
        return x
    x = held(x)
    t, c = (x._t, x._c) if UNDERSCORE else (x.t, x.c)
    return Spline(t, c, static(x.k), x.extrapolate, static(x.axis))


@defines(method_of(interpolate.BSpline, "__call__"))
def call_bspline(self: Any, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
    return bspline(self)(x, nu, extrapolate)


@defines(method_of(interpolate.BSpline, "derivative"))
def derivative_of_bspline(self: Any, nu: Any = 1) -> Any:
    return bspline(self).derivative(nu)


@defines(method_of(interpolate.BSpline, "antiderivative"))
def antiderivative_of_bspline(self: Any, nu: Any = 1) -> Any:
    return bspline(self).antiderivative(nu)


@defines(method_of(interpolate.BSpline, "integrate"))
def integrate_bspline(self: Any, a: Any, b: Any, extrapolate: Any = None) -> Any:
    return bspline(self).integrate(a, b, extrapolate)


@defines(interpolate.BSpline)
def make_bspline(t: Any, c: Any, k: Any, extrapolate: Any = True, axis: Any = 0) -> Any:
    t, c = packed(t), floats(c)
    c = packed(c if axis == 0 else np.moveaxis(c, axis, 0))
    n = len(t) - k - 1
    if n < k + 1:
        raise ValueError("Need at least 2k + 2 knots.")
    if np.any(np.diff(t) < 0):
        raise ValueError("Knots must be in a non-decreasing order.")
    if c.shape[0] < n:
        raise ValueError("Knots, coefficients and degree are inconsistent.")
    return Spline(t, c, k, extrapolate, axis % np.ndim(c))


# --- through points ---------------------------------------------------------------------------------------------------


def through(x: Any, y: Any, k: Any, t: Any = None) -> Any:
    """Knots and coefficients of the spline of degree `k` through points."""
    if np.issubdtype(y.dtype, np.complexfloating):
        refuse("a spline through complex values", "interpolate the real and the imaginary part")
    y = y.astype(np.float64)
    t = kernels.knots(x, k) if t is None else np.asarray(t) * 1.0
    return t, y if k in (0, 1) else kernels.coefficients(x, y, t, k)


@defines(interpolate.make_interp_spline)
def make_interp_spline(
    x: Any, y: Any, k: Any = 3, t: Any = None, bc_type: Any = None, axis: Any = 0, check_finite: Any = True
) -> Any:
    if bc_type not in (None, "not-a-knot"):
        refuse("make_interp_spline with bc_type", "use CubicSpline")
    x, y = np.asarray(x), np.asarray(y)
    if t is not None and k < 2:
        refuse("make_interp_spline of this degree with knots", "use BSpline")
    axis = axis % np.ndim(y)
    y = np.moveaxis(y, axis, 0)
    t, c = (kernels.knots(x, k), floats(y)) if k < 2 else through(x, y, k, t)
    return Spline(t, c, k, True, axis, False)


def at_points(t: Any, c: Any, k: Any, x: Any, nu: Any, ext: Any) -> Any:
    """A spline of FITPACK at points. ext: what happens outside of the interval."""
    x = np.asarray(x)
    a, b = t[k], t[-k - 1]
    if ext in (2, "raise"):
        if np.any((x < a) | (x > b)):
            raise ValueError("Error code returned by splev: 1")
    if ext in (3, "const"):
        x = np.clip(x, a, b)
    t, c, k = differentiated(t, c, k, nu)
    return kernels.bspline(t, c, k, x, "zero" if ext in (1, "zeros") else True)


class Univariate:
    """What `UnivariateSpline` is, for fixed knots."""

    def __init__(self, t: Any, c: Any, k: Any, ext: Any) -> None:
        self.t = t
        self.coefs = c
        self.k = k
        self.ext = ext

    def __call__(self, x: Any, nu: Any = 0, ext: Any = None) -> Any:
        return at_points(self.t, self.coefs, self.k, x, nu, self.ext if ext is None else ext)

    def derivative(self, n: Any = 1) -> Any:
        t, c, k = differentiated(self.t, self.coefs, self.k, n)
        return Univariate(t, c, k, 1 if self.ext in (3, "const") else self.ext)

    def antiderivative(self, n: Any = 1) -> Any:
        t, c, k = self.t, self.coefs, self.k
        for _ in list(range(n)):
            t, c, k = integrated(t, c, k)
        return Univariate(t, c, k, self.ext)

    def integral(self, a: Any, b: Any) -> Any:
        return integral(self.t, self.coefs, self.k, a, b)

    def get_coeffs(self) -> Any:
        return self.coefs

    def get_knots(self) -> Any:
        return self.t[self.k : -self.k]

    def __getattr__(self, name: Any) -> Any:
        refuse("this attribute of a spline", "use its values, derivatives and integrals")


def integral(t: Any, c: Any, k: Any, a: Any, b: Any) -> Any:
    """From `a` to `b`, of a spline that is zero outside of its interval."""
    if np.ndim(a) != 0 or np.ndim(b) != 0:
        refuse("an integral between arrays", "integrate between numbers, or use the antiderivative")
    ends = np.clip(np.stack((a, b)), t[k], t[-k - 1])
    t, c, k = integrated(t, c, k)
    made = kernels.bspline(t, c, k, ends, True)
    return float(made[1] - made[0])


def univariate(x: Any) -> Any:
    if isinstance(x, Univariate):
        return x
    if type(x) not in UNIVARIATE:
        refuse("a spline of this class", "use a UnivariateSpline")
    t, c, k = x._eval_args
    k = static(k)
    return Univariate(t, c[: len(t) - k - 1], k, x.ext)


@defines(method_of(interpolate.UnivariateSpline, "__call__"))
def call_univariate(self: Any, x: Any, nu: Any = 0, ext: Any = None) -> Any:
    return univariate(self)(x, nu, ext)


@defines(method_of(interpolate.UnivariateSpline, "derivative"))
def derivative_of_univariate(self: Any, n: Any = 1) -> Any:
    return univariate(self).derivative(n)


@defines(method_of(interpolate.UnivariateSpline, "antiderivative"))
def antiderivative_of_univariate(self: Any, n: Any = 1) -> Any:
    return univariate(self).antiderivative(n)


@defines(method_of(interpolate.UnivariateSpline, "integral"))
def integral_of_univariate(self: Any, a: Any, b: Any) -> Any:
    return univariate(self).integral(a, b)


def interpolating(x: Any, y: Any, w: Any, bbox: Any, k: Any, ext: Any) -> Any:
    x, y = np.asarray(x), np.asarray(y)
    if bbox is not None and (bbox[0] is not None or bbox[1] is not None):
        refuse("a spline with bbox", "leave it out")
    if np.any(np.diff(x) <= 0.0):
        raise ValueError("x must be strictly increasing if s = 0")
    if x.shape != y.shape:
        raise ValueError("x and y should have a same length")
    t, c = through(x, y, k)
    return Univariate(t, c, k, ext)


@defines(interpolate.InterpolatedUnivariateSpline)
def interpolated_univariate_spline(
    x: Any, y: Any, w: Any = None, bbox: Any = None, k: Any = 3, ext: Any = 0, check_finite: Any = False
) -> Any:
    return interpolating(x, y, w, bbox, k, ext)


@defines(interpolate.UnivariateSpline)
def univariate_spline(
    x: Any, y: Any, w: Any = None, bbox: Any = None, k: Any = 3, s: Any = None, ext: Any = 0, check_finite: Any = False
) -> Any:
    if s is None or s != 0:
        refuse("a smoothing spline, whose knots depend on y", "pass s=0, or make the spline outside of the function")
    return interpolating(x, y, w, bbox, k, ext)


# --- functions of FITPACK ---------------------------------------------------------------------------------------------


@defines(interpolate.splrep)
def splrep(
    x: Any, y: Any, w: Any = None, xb: Any = None, xe: Any = None, k: Any = 3, task: Any = 0, s: Any = None,
    t: Any = None, full_output: Any = 0, per: Any = 0, quiet: Any = 1,
) -> Any:  # fmt: skip
    if not (s is None or s == 0) or (s is None and w is not None):
        refuse("a smoothing spline, whose knots depend on y", "pass s=0")
    if xb is not None or xe is not None or task != 0 or t is not None or full_output or per:
        refuse("splrep with these arguments", "pass x, y, k and s alone")
    x, y = np.asarray(x), np.asarray(y)
    knots, c = through(x, y, k)
    return knots, np.concatenate((c, np.zeros(k + 1))), k


def of_tck(tck: Any) -> Any:
    if not isinstance(tck, tuple) or len(tck) != 3:
        refuse("a spline that is not (t, c, k)", "pass the tuple that splrep returns")
    t, c, k = tck
    t, c = np.asarray(t), np.asarray(c)
    if np.ndim(c) != 1:
        refuse("a parametric spline", "evaluate each of its coordinates")
    k = static(k)
    return t, c[: len(t) - k - 1], k


@defines(interpolate.splev)
def splev(x: Any, tck: Any, der: Any = 0, ext: Any = 0) -> Any:
    if isinstance(tck, (Spline, interpolate.BSpline)):
        spline = bspline(tck)
        if ext not in (0, 1):
            refuse("splev of a BSpline with this ext", "pass its tck")
        return spline(x, der, ext == 0)
    t, c, k = of_tck(tck)
    return at_points(t, c, k, x, der, ext)


@defines(interpolate.splint)
def splint(a: Any, b: Any, tck: Any, full_output: Any = 0) -> Any:
    if full_output:
        refuse("splint with full_output", "leave it out")
    t, c, k = of_tck(tck)
    return integral(t, c, k, a, b)


# --- on a grid --------------------------------------------------------------------------------------------------------


class Bivariate:
    """A product of splines in two directions; `c[i, j]` are its coefficients."""

    def __init__(self, tx: Any, ty: Any, c: Any, kx: Any, ky: Any) -> None:
        self.tx = tx
        self.ty = ty
        self.coefs = c
        self.kx = kx
        self.ky = ky

    def along_x(self, x: Any, c: Any, dx: Any) -> Any:
        x = np.clip(x, self.tx[self.kx], self.tx[-self.kx - 1])
        t, c, k = differentiated(self.tx, c, self.kx, dx)
        return kernels.bspline(t, c, k, x, True)

    def along_y(self, y: Any, c: Any, dy: Any) -> Any:
        y = np.clip(y, self.ty[self.ky], self.ty[-self.ky - 1])
        t, c, k = differentiated(self.ty, c, self.ky, dy)
        return kernels.bspline(t, c, k, y, True)

    def __call__(self, x: Any, y: Any, dx: Any = 0, dy: Any = 0, grid: Any = True) -> Any:
        x, y = np.asarray(x), np.asarray(y)
        if not grid:
            lines = self.along_y(y, np.transpose(self.coefs), dy)
            weights = self.along_x(x, np.eye(self.coefs.shape[0]), dx)
            return np.asarray(np.sum(weights * lines, axis=-1))
        if np.ndim(x) > 1 or np.ndim(y) > 1:
            raise ValueError("x and y must be vectors for a grid")
        x, y = np.atleast_1d(x), np.atleast_1d(y)
        if np.any(np.diff(x) < 0.0) or np.any(np.diff(y) < 0.0):
            raise ValueError("x and y must be sorted to be increasing")
        return np.transpose(self.along_y(y, np.transpose(self.along_x(x, self.coefs, dx)), dy))

    def ev(self, xi: Any, yi: Any, dx: Any = 0, dy: Any = 0) -> Any:
        return self(xi, yi, dx, dy, False)

    def __getattr__(self, name: Any) -> Any:
        refuse("this attribute of a spline", "use its values")


def bivariate(x: Any) -> Any:
    if isinstance(x, Bivariate):
        return x
    if type(x) not in GRID:
        refuse("a spline of this class", "use a RectBivariateSpline")
    tx, ty, c = x.tck
    kx, ky = x.degrees
    kx, ky = static(kx), static(ky)
    return Bivariate(tx, ty, np.reshape(c, (len(tx) - kx - 1, len(ty) - ky - 1)), kx, ky)


@defines(method_of(interpolate.RectBivariateSpline, "__call__"))
def call_bivariate(self: Any, x: Any, y: Any, dx: Any = 0, dy: Any = 0, grid: Any = True) -> Any:
    return bivariate(self)(x, y, dx, dy, grid)


@defines(method_of(interpolate.RectBivariateSpline, "ev"))
def ev_bivariate(self: Any, xi: Any, yi: Any, dx: Any = 0, dy: Any = 0) -> Any:
    return bivariate(self)(xi, yi, dx, dy, False)


@defines(interpolate.bisplev)
def bisplev(x: Any, y: Any, tck: Any, dx: Any = 0, dy: Any = 0) -> Any:
    tx, ty, c, kx, ky = tck
    tx, ty, c, kx, ky = np.asarray(tx), np.asarray(ty), np.asarray(c), static(kx), static(ky)
    coefs = np.reshape(c, (len(tx) - kx - 1, len(ty) - ky - 1))
    z = Bivariate(tx, ty, coefs, kx, ky)(x, y, dx, dy)
    z = z if len(z) > 1 else z[0]
    return z if np.ndim(z) > 1 or len(z) > 1 else z[0]


@defines(interpolate.RectBivariateSpline)
def rect_bivariate_spline(
    x: Any, y: Any, z: Any, bbox: Any = None, kx: Any = 3, ky: Any = 3, s: Any = 0, maxit: Any = 20
) -> Any:
    if bbox is not None or s != 0:
        refuse("a RectBivariateSpline with bbox or s", "leave them out, or make the spline outside of the function")
    x, y, z = np.asarray(x), np.asarray(y), np.asarray(z)
    if np.any(np.diff(x) <= 0.0):
        raise ValueError("x must be strictly increasing")
    if np.any(np.diff(y) <= 0.0):
        raise ValueError("y must be strictly increasing")
    if z.shape != (len(x), len(y)):
        raise ValueError("the shape of z must be that of the grid of x and y")
    tx, c = through(x, z, kx)
    ty, c = through(y, np.transpose(c), ky)
    return Bivariate(tx, ty, np.transpose(c), kx, ky)
