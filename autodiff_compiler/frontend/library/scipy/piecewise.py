"""Piecewise polynomials: `PPoly`, `CubicSpline`, `PchipInterpolator`, `Akima1DInterpolator`, `CubicHermiteSpline`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from ....kernels.scipy import interpolate as kernels
from ....kernels.scipy import sparse as systems
from ...definitions import defines, refuse

_SPLINE = interpolate.BSpline(np.arange(4.0), np.ones(2), 1)
DELEGATES = hasattr(_SPLINE, "_delegate_to")
UNDERSCORE = hasattr(_SPLINE, "_c")


def method_of(cls: type, name: str) -> Any:
    """The function behind a method, of the class or of one of its bases."""
    return next(vars(base)[name] for base in cls.__mro__ if name in vars(base))


def held(x: Any) -> Any:
    """What holds the arrays of a spline: from SciPy 1.18 on, an object inside of it."""
    return x._delegate_to if DELEGATES else x


def static(k: Any) -> Any:
    """An axis or a degree that an object holds. The program is compiled for this number."""
    return len((None,) * k)


def floats(x: Any) -> Any:
    """As an array of float64; `x` itself if it is one, so that a store into it is seen, as in SciPy."""
    x = np.asarray(x)
    return x if x.dtype == np.float64 or np.issubdtype(x.dtype, np.complexfloating) else x.astype(np.float64)


def packed(x: Any) -> Any:
    """As `floats`, in C order: an array that lies otherwise is copied, as in SciPy."""
    return np.ascontiguousarray(floats(x))


def turned_back(values: Any, axis: Any, ndim: Any) -> Any:
    """The axis of the points, which come first, at the place of the interpolated axis."""
    if axis == 0:
        return values
    order = list(range(np.ndim(values)))
    return np.transpose(values, order[ndim : ndim + axis] + order[:ndim] + order[ndim + axis :])


class Piecewise:
    """A piecewise polynomial: `coefs[k, i]` belongs to the interval i, highest power first."""

    def __init__(self, coefs: Any, breaks: Any, extrapolate: Any, axis: Any) -> None:
        self.coefs = coefs
        self.breaks = breaks
        self.extrapolate = extrapolate
        self.axis = axis

    @property
    def c(self) -> Any:
        return self.coefs

    @property
    def x(self) -> Any:
        return self.breaks

    def __call__(self, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
        if not isinstance(nu, int):
            refuse("an order of derivative that is not known when the program is compiled", "write it as a constant")
        if nu < 0:
            return self.antiderivative(-nu)(x, 0, extrapolate)
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        x = np.asarray(x)
        if extrapolate == "periodic":
            x = self.breaks[0] + (x - self.breaks[0]) % (self.breaks[-1] - self.breaks[0])
            extrapolate = False
        values = kernels.piecewise(self.coefs, self.breaks, x, nu, bool(extrapolate))
        return turned_back(values, self.axis, np.ndim(x))

    def derivative(self, nu: Any = 1) -> Any:
        if nu < 0:
            return self.antiderivative(-nu)
        coefs = self.coefs.copy()
        for _ in list(range(nu)):
            order = coefs.shape[0]
            if order == 1:
                coefs = coefs * 0.0
            else:
                powers = np.arange(order - 1, 0, -1.0)
                coefs = coefs[:-1] * np.reshape(powers, (-1, *(1,) * (np.ndim(coefs) - 1)))
        return Piecewise(coefs, self.breaks, self.extrapolate, self.axis)

    def antiderivative(self, nu: Any = 1) -> Any:
        if nu <= 0:
            return self.derivative(-nu)
        coefs = self.coefs
        for _ in list(range(nu)):
            order = coefs.shape[0]
            ones = (1,) * (np.ndim(coefs) - 1)
            raised = coefs / np.reshape(np.arange(order, 0, -1.0), (-1, *ones))
            lengths = np.reshape(np.diff(self.breaks), (-1, *ones[1:]))
            powers = np.reshape(np.arange(order, 0, -1.0), (-1, *ones))
            totals = np.cumsum(np.sum(raised * lengths**powers, axis=0), axis=0)
            constants = np.concatenate((np.zeros_like(totals[:1]), totals[:-1]))
            coefs = np.concatenate((raised, constants[None]))
        extrapolate = False if self.extrapolate == "periodic" else self.extrapolate
        return Piecewise(coefs, self.breaks, extrapolate, self.axis)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        if extrapolate == "periodic":
            refuse("an integral of a periodic spline", "use the antiderivative, inside of one period")
        if np.ndim(a) != 0 or np.ndim(b) != 0:
            refuse("an integral between arrays", "integrate between numbers, or use the antiderivative")
        values = self.antiderivative()
        made = kernels.piecewise(values.coefs, self.breaks, np.stack((a, b)), 0, bool(extrapolate))
        return np.asarray(made[1] - made[0])

    def __getattr__(self, name: Any) -> Any:
        refuse("this attribute of a spline", "use its values, or its c and x")


def piecewise(x: Any) -> Any:
    """A piecewise polynomial that was made outside."""
    if isinstance(x, Piecewise):
        return x
    if not (
        type(x) is interpolate.PPoly
        or type(x) is interpolate.CubicSpline
        or type(x) is interpolate.PchipInterpolator
        or type(x) is interpolate.Akima1DInterpolator
        or type(x) is interpolate.CubicHermiteSpline
    ):
        refuse("a piecewise polynomial of this class", "use a PPoly")
    x = held(x)
    return Piecewise(x._c if UNDERSCORE else x.c, x._x if UNDERSCORE else x.x, x.extrapolate, static(x.axis))


@defines(method_of(interpolate.PPoly, "__call__"))
def call_outside(self: Any, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
    return piecewise(self)(x, nu, extrapolate)


@defines(method_of(interpolate.PPoly, "derivative"))
def derivative_outside(self: Any, nu: Any = 1) -> Any:
    return piecewise(self).derivative(nu)


@defines(method_of(interpolate.PPoly, "antiderivative"))
def antiderivative_outside(self: Any, nu: Any = 1) -> Any:
    return piecewise(self).antiderivative(nu)


@defines(method_of(interpolate.PPoly, "integrate"))
def integrate_outside(self: Any, a: Any, b: Any, extrapolate: Any = None) -> Any:
    return piecewise(self).integrate(a, b, extrapolate)


@defines(interpolate.PPoly)
def ppoly(c: Any, x: Any, extrapolate: Any = None, axis: Any = 0) -> Any:
    c, x = floats(c), packed(x)
    if axis != 0:
        refuse("a PPoly with an axis", "move the axis first, with np.moveaxis")
    if np.ndim(c) < 2:
        raise ValueError("Coefficients array must be at least 2-dimensional.")
    c = packed(c)
    if c.shape[1] != len(x) - 1:
        raise ValueError("number of coefficients != len(x)-1")
    if not (np.all(np.diff(x) > 0) or np.all(np.diff(x) < 0)):
        raise ValueError("`x` must be strictly increasing or decreasing.")
    return Piecewise(c, x, True if extrapolate is None else extrapolate, 0)


# --- through points ---------------------------------------------------------------------------------------------------


def prepared(x: Any, y: Any, axis: Any) -> Any:
    """The points, the values with the interpolated axis first, and that axis."""
    x, y = np.asarray(x), np.asarray(y)
    if np.issubdtype(y.dtype, np.complexfloating):
        refuse("a spline through complex values", "interpolate the real and the imaginary part")
    if np.ndim(x) != 1:
        raise ValueError("`x` must be 1-dimensional.")
    if len(x) < 2:
        raise ValueError("`x` must contain at least 2 elements.")
    axis = axis % np.ndim(y)
    y = np.moveaxis(y.astype(np.float64), axis, 0)
    x = x.astype(np.float64)
    if not np.all(np.isfinite(x)):
        raise ValueError("`x` must contain only finite values.")
    if not np.all(np.isfinite(y)):
        raise ValueError("`y` must contain only finite values.")
    if len(x) != y.shape[0]:
        raise ValueError("The length of `y` along the axis doesn't match the length of `x`")
    if np.any(np.diff(x) <= 0):
        raise ValueError("`x` must be strictly increasing sequence.")
    return x, y, axis


def column(values: Any, like: Any) -> Any:
    """A vector, with the axes of `like` behind its own."""
    return values if np.ndim(like) == 1 else np.reshape(values, (-1, *(1,) * (np.ndim(like) - 1)))


def hermite(x: Any, y: Any, slopes: Any, extrapolate: Any, axis: Any) -> Any:
    """The piecewise cubic polynomial with these values and slopes."""
    lengths = column(np.diff(x), y)
    secants = np.diff(y, axis=0) / lengths
    t = (slopes[:-1] + slopes[1:] - 2 * secants) / lengths
    coefs = np.stack((t / lengths, (secants - slopes[:-1]) / lengths - t, slopes[:-1], y[:-1]))
    return Piecewise(coefs, x, extrapolate, axis)


def solve_tridiagonal(lower: Any, middle: Any, upper: Any, corners: Any, b: Any) -> Any:
    """The solution with these diagonals, of which `lower` and `upper` lack one item. corners: more entries, with
    their rows and columns, or None."""
    n = len(middle)
    k = np.arange(n)
    parts: Any = ((lower, middle, upper), (k[1:], k, k[:-1]), (k[:-1], k, k[1:]))
    if corners is not None:
        parts = [(*part, corner) for part, corner in zip(parts, corners)]
    entries, row, col = [np.concatenate(part) for part in parts]
    lu = systems.factors("coo", entries, row, col, (n, n), False)
    if np.ndim(b) == 1:
        return systems.solved("coo", entries, row, col, (n, n), b, lu, "N")
    made = systems.solved("coo", entries, row, col, (n, n), np.reshape(b, (n, -1)), lu, "N")
    return np.reshape(made, b.shape)


def condition(bc: Any, y: Any) -> Any:
    """The order and the value of a boundary condition."""
    if isinstance(bc, str):
        if bc == "clamped":
            return 1, np.zeros_like(y[0])
        if bc == "natural":
            return 2, np.zeros_like(y[0])
        if bc != "not-a-knot":
            raise ValueError("bc_type is not allowed")
        return 0, None
    if len(bc) != 2 or bc[0] not in (1, 2):
        raise ValueError("The specified derivative order must be 1 or 2.")
    value = np.asarray(bc[1]) * 1.0
    if np.ndim(value) != np.ndim(y) - 1:
        raise ValueError("`deriv_value` shape is not the expected one")
    return bc


@defines(interpolate.CubicSpline)
def cubic_spline(x: Any, y: Any, axis: Any = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None) -> Any:
    x, y, axis = prepared(x, y, axis)
    if extrapolate is None:
        extrapolate = "periodic" if bc_type == "periodic" else True
    h = np.diff(x)
    d = column(h, y)
    secants = np.diff(y, axis=0) / d
    if bc_type == "periodic":
        if not np.allclose(y[0], y[-1], rtol=1e-15, atol=1e-15):
            raise ValueError("The first and last `y` point must be identical when `bc_type='periodic'`.")
        before, back = np.roll(h, 1), np.roll(d, 1, axis=0)
        b = 3 * (d * np.roll(secants, 1, axis=0) + back * secants)
        n = len(h)
        ends = (np.stack((h[0], before[-1])), np.array([0, -1]) % n, np.array([-1, 0]) % n)
        inner = solve_tridiagonal(h[1:], 2 * (before + h), before[:-1], ends, b)
        slopes = np.concatenate((inner, inner[:1]))
        return hermite(x, y, slopes, extrapolate, axis)
    first, last = (bc_type, bc_type) if isinstance(bc_type, str) else bc_type
    left, left_value = condition(first, y)
    right, right_value = condition(last, y)
    if left == 0 or right == 0:
        if len(x) < 4:
            raise NotImplementedError("the derivative of a not-a-knot spline through fewer than four points")
    middle = 2 * (h[:-1] + h[1:])
    inner = 3 * (d[1:] * secants[:-1] + d[:-1] * secants[1:])
    if left == 0:
        w, p, q = x[2] - x[0], h[0], h[1]
        start, over = q, w
        b_first = ((p + 2 * w) * q * secants[0] + p**2 * secants[1]) / w
    elif left == 1:
        start, over, b_first = 1.0, 0.0, left_value
    else:
        start, over = 2 * h[0], h[0]
        b_first = -0.5 * left_value * h[0] ** 2 + 3 * (y[1] - y[0])
    if right == 0:
        w, p, q = x[-1] - x[-3], h[-1], h[-2]
        end, under = q, w
        b_last = (p**2 * secants[-2] + (2 * w + p) * q * secants[-1]) / w
    elif right == 1:
        end, under, b_last = 1.0, 0.0, right_value
    else:
        end, under = 2 * h[-1], h[-1]
        b_last = 0.5 * right_value * h[-1] ** 2 + 3 * (y[-1] - y[-2])
    b = np.concatenate((np.asarray(b_first)[None], inner, np.asarray(b_last)[None]))
    whole = np.concatenate((np.reshape(start, (1,)), middle, np.reshape(end, (1,))))
    lower = np.concatenate((h[1:], np.reshape(under, (1,))))
    upper = np.concatenate((np.reshape(over, (1,)), h[:-1]))
    slopes = solve_tridiagonal(lower, whole, upper, None, b)
    return hermite(x, y, slopes, extrapolate, axis)


@defines(interpolate.CubicHermiteSpline)
def cubic_hermite_spline(x: Any, y: Any, dydx: Any, axis: Any = 0, extrapolate: Any = None) -> Any:
    x, y, axis = prepared(x, y, axis)
    slopes = np.moveaxis(np.asarray(dydx) * 1.0, axis, 0)
    if slopes.shape != y.shape:
        raise ValueError("The shapes of `y` and `dydx` must be identical.")
    return hermite(x, y, slopes, True if extrapolate is None else extrapolate, axis)


def edge(h0: Any, h1: Any, m0: Any, m1: Any) -> Any:
    """The slope at an end, by three points, so that the shape is kept."""
    d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    wrong = np.sign(d) != np.sign(m0)
    steep = (np.sign(m0) != np.sign(m1)) & (np.abs(d) > 3.0 * np.abs(m0))
    return np.where(wrong, 0.0, np.where(steep, 3.0 * m0, d))


@defines(interpolate.PchipInterpolator)
def pchip(x: Any, y: Any, axis: Any = 0, extrapolate: Any = None) -> Any:
    x, y, axis = prepared(x, y, axis)
    if len(x) < 3:
        raise NotImplementedError("the derivative of a PchipInterpolator through two points")
    h = column(np.diff(x), y)
    m = np.diff(y, axis=0) / h
    flat = (np.sign(m[1:]) != np.sign(m[:-1])) | (m[1:] == 0) | (m[:-1] == 0)
    w1, w2 = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    mean = (w1 / np.where(flat, 1.0, m[:-1]) + w2 / np.where(flat, 1.0, m[1:])) / (w1 + w2)
    inner = np.where(flat, 0.0, 1.0 / np.where(flat, 1.0, mean))
    first, last = edge(h[0], h[1], m[0], m[1]), edge(h[-1], h[-2], m[-1], m[-2])
    slopes = np.concatenate((np.asarray(first)[None], inner, np.asarray(last)[None]))
    return hermite(x, y, slopes, True if extrapolate is None else extrapolate, axis)


@defines(interpolate.Akima1DInterpolator)
def akima(x: Any, y: Any, axis: Any = 0, *, method: Any = "akima", extrapolate: Any = None) -> Any:
    x, y, axis = prepared(x, y, axis)
    if method not in ("akima", "makima"):
        raise NotImplementedError("`method` is unsupported.")
    if len(x) < 3:
        raise NotImplementedError("the derivative of an Akima1DInterpolator through two points")
    inner = np.diff(y, axis=0) / column(np.diff(x), y)
    second = 2.0 * inner[0] - inner[1]
    beyond = 2.0 * inner[-1] - inner[-2]
    first, last = 2.0 * second - inner[0], 2.0 * beyond - inner[-1]
    m = np.concatenate((first[None], second[None], inner, beyond[None], last[None]))
    steps = np.abs(np.diff(m, axis=0))
    if method == "makima":
        means = np.abs(m[1:] + m[:-1]) / 2.0
        f1, f2 = steps[2:] + means[2:], steps[:-2] + means[:-2]
    else:
        f1, f2 = steps[2:], steps[:-2]
    f12 = f1 + f2
    used = f12 > 1e-9 * np.max(f12)
    weighted = m[1:-2] + (f2 / np.where(used, f12, 1.0)) * (m[2:-1] - m[1:-2])
    slopes = np.where(used, weighted, 0.5 * (m[3:] + m[:-3]))
    return hermite(x, y, slopes, False if extrapolate is None else extrapolate, axis)
