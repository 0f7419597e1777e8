"""Piecewise polynomials and splines that are given by plain arrays, and the transposes of these linear functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import BSpline, PPoly, make_interp_spline

# --- piecewise polynomials --------------------------------------------------------------------------------------------


def intervals(x: Any, points: Any) -> Any:
    """For each point the number of the interval between breakpoints whose polynomial is used."""
    points = np.ravel(points)
    sign = -1 if x[-1] < x[0] else 1
    return np.clip(np.searchsorted(sign * x, sign * points, side="right") - 1, 0, len(x) - 2)


def _outside(low: Any, high: Any, points: Any) -> Any:
    return ~((points >= min(low, high)) & (points <= max(low, high)))


def piecewise(c: Any, x: Any, points: Any, nu: Any, extrapolate: Any) -> Any:
    """The derivative of order `nu` of a piecewise polynomial. extrapolate: False gives nan outside, "zero" zeros."""
    c, points = np.asarray(c), np.asarray(points, dtype=np.float64)
    c = np.ascontiguousarray(c, dtype=np.complex128 if c.dtype.kind == "c" else np.float64)
    out = PPoly(c, np.ascontiguousarray(x, dtype=np.float64))(points, nu, extrapolate is True)
    if extrapolate == "zero":
        out[_outside(x[0], x[-1], points)] = 0
    return out


def piecewise_transposed(g: Any, x: Any, points: Any, order: Any, nu: Any, extrapolate: Any) -> Any:
    """The transpose of `piecewise`, a linear function of its `order` coefficients in each interval."""
    g, points = np.asarray(g), np.asarray(points, dtype=np.float64)
    trail = g.shape[points.ndim :]
    g = g.reshape(-1, *trail)
    flat = points.ravel()
    if extrapolate is not True:
        inside = ~_outside(x[0], x[-1], flat)
        g, flat = g[inside], flat[inside]
    which = intervals(x, flat)
    s = flat - x[which]
    out = np.zeros((order, len(x) - 1, *trail), dtype=g.dtype)
    for row in range(order):
        power = order - 1 - row
        if power >= nu:
            weight = float(np.prod(np.arange(power - nu + 1, power + 1))) * s ** (power - nu)
            np.add.at(out[row], which, weight.reshape(-1, *(1,) * len(trail)) * g)
    return out


# --- B-splines --------------------------------------------------------------------------------------------------------


def bspline(t: Any, c: Any, k: Any, points: Any, extrapolate: Any) -> Any:
    """A B-spline at points. extrapolate: False gives nan outside, "zero" zeros."""
    points = np.asarray(points, dtype=np.float64)
    c = np.asarray(c)
    c = np.ascontiguousarray(c, dtype=np.complex128 if c.dtype.kind == "c" else np.float64)
    out = np.asarray(BSpline(np.asarray(t, dtype=np.float64), c, k)(points, 0, extrapolate is True))
    if extrapolate == "zero":
        out[_outside(t[k], t[-k - 1], points)] = 0
    return out


def bspline_transposed(t: Any, g: Any, k: Any, points: Any, extrapolate: Any) -> Any:
    """The transpose of `bspline`, a linear function of its coefficients."""
    g, points = np.asarray(g), np.asarray(points, dtype=np.float64)
    trail = g.shape[points.ndim :]
    flat = points.ravel()
    rows = g.reshape(len(flat), int(np.prod(trail)))
    if extrapolate is not True:
        inside = ~_outside(t[k], t[-k - 1], flat)
        rows, flat = rows[inside], flat[inside]
    if not len(flat):
        return np.zeros((len(t) - k - 1, *trail), dtype=g.dtype)
    basis = BSpline.design_matrix(flat, np.asarray(t, dtype=np.float64), k, extrapolate=True)
    return np.asarray(basis.T @ rows).reshape(-1, *trail)


def steps(t: Any, k: Any) -> Any:
    """What the differences of the coefficients are multiplied by in those of the derivative."""
    lengths = np.asarray(t[k + 1 : -1] - t[1 : -k - 1], dtype=np.float64)
    return np.where(lengths > 0, k / np.where(lengths > 0, lengths, 1.0), 0.0)


def knots(x: Any, k: Any) -> Any:
    """The knots of the spline of degree `k` through points, without a knot where it would be free."""
    x = np.asarray(x, dtype=np.float64)
    if len(x) < k + 1:
        raise ValueError(f"a spline of degree {k} needs {k + 1} points, and there are {len(x)}")
    if k == 0:
        return np.append(x, x[-1])
    inner = x if k % 2 else (x[1:] + x[:-1]) / 2
    cut = (k + 1) // 2 if k % 2 else k // 2
    return np.concatenate((np.full(k + 1, x[0]), inner[cut : len(inner) - cut], np.full(k + 1, x[-1])))


def coefficients(x: Any, y: Any, t: Any, k: Any) -> Any:
    """The coefficients of the spline through the points `x`, `y`."""
    y = np.asarray(y)
    return make_interp_spline(x, y, k, t=t).c


def coefficients_transposed(x: Any, g: Any, t: Any, k: Any) -> Any:
    """The transpose of `coefficients`, a linear function of `y`."""
    import scipy.sparse.linalg as sla

    g = np.asarray(g)
    basis = BSpline.design_matrix(np.asarray(x, dtype=np.float64), t, k)
    rows = g.reshape(g.shape[0], int(np.prod(g.shape[1:])))
    return sla.splu(basis.T.tocsc()).solve(np.ascontiguousarray(rows)).reshape(g.shape)


# --- scattered points -------------------------------------------------------------------------------------------------


def simplices(points: Any, targets: Any) -> Any:
    """For each target the points at the corners of the simplex that it is in, and -1 where there is none."""
    from scipy.spatial import Delaunay

    grid = Delaunay(np.asarray(points, dtype=np.float64))
    found = grid.find_simplex(np.asarray(targets, dtype=np.float64))
    return np.where(found[..., None] >= 0, grid.simplices[found], -1).astype(np.int64)


def nearest(points: Any, targets: Any) -> Any:
    """For each target the nearest point."""
    from scipy.spatial import cKDTree

    return np.asarray(cKDTree(points).query(targets)[1], dtype=np.int64)
