"""Functions of `scipy.ndimage` in terms of filters along axes and of interpolation at points."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage

from ....kernels.scipy.ndimage import direction, rank_places, rotated_lengths
from ...definitions import defines, refuse
from . import ndimage_measured as ndimage_measured
from .ndimage_lib import each, floating, no_axes, settings

# --- filters of given weights -----------------------------------------------------------------------------------------


@defines(ndimage.correlate1d)
def correlate1d(
    input: Any, weights: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0,
) -> Any:  # fmt: skip
    x = floating("correlate1d", input, output)
    return ndimage.correlate1d(x, weights, axis, **settings(mode, cval, origin))


@defines(ndimage.convolve1d)
def convolve1d(
    input: Any, weights: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0,
) -> Any:  # fmt: skip
    x = floating("convolve1d", input, output)
    weights = np.asarray(weights)
    turned = -origin - (1 - weights.shape[0] % 2)
    return ndimage.correlate1d(x, weights[::-1], axis, **settings(mode, cval, turned))


@defines(ndimage.correlate)
def correlate(
    input: Any, weights: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0,
    *, axes: Any = None,
) -> Any:  # fmt: skip
    no_axes("correlate", axes)
    x = floating("correlate", input, output)
    return ndimage.correlate(x, weights, **settings(mode, cval, origin))


@defines(ndimage.convolve)
def convolve(
    input: Any, weights: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0,
    *, axes: Any = None,
) -> Any:  # fmt: skip
    no_axes("convolve", axes)
    x = floating("convolve", input, output)
    weights = np.asarray(weights)
    pairs = list(zip(each(origin, np.ndim(x)), weights.shape))
    turned = tuple([-start - (1 - size % 2) for start, size in pairs])
    return ndimage.correlate(x, np.flip(weights), **settings(mode, cval, turned))


# --- filters of known weights -----------------------------------------------------------------------------------------


def gaussian_weights(sigma: Any, order: Any, radius: Any) -> Any:
    """The derivative of this order of a Gaussian function, to be correlated with."""
    if order < 0:
        raise ValueError("order must be non-negative")
    x = np.arange(-radius, radius + 1)
    variance = sigma * sigma
    phi = np.exp(-0.5 / variance * x**2)
    phi = phi / phi.sum()
    if order == 0:
        return phi
    # The derivative of q(x) phi(x) is (q'(x) - q(x) x / variance) phi(x).
    q = [1.0]
    for _ in list(range(order)):
        slopes = [k * q[k] for k in list(range(1, len(q)))] + [0.0, 0.0]
        turned = [0.0] + [c / -variance for c in q]
        q = [slopes[k] + turned[k] for k in list(range(len(turned)))]
    total = q[0] + 0.0 * x
    for k in list(range(1, len(q))):
        total = total + q[k] * x**k
    return (total * phi)[::-1]


def radius_of(sigma: Any, truncate: Any, radius: Any) -> Any:
    return int(truncate * float(sigma) + 0.5) if radius is None else radius


@defines(ndimage.gaussian_filter1d)
def gaussian_filter1d(
    input: Any, sigma: Any, axis: Any = -1, order: Any = 0, output: Any = None, mode: Any = "reflect",
    cval: Any = 0.0, truncate: Any = 4.0, *, radius: Any = None,
) -> Any:  # fmt: skip
    x = floating("gaussian_filter1d", input, output)
    weights = gaussian_weights(sigma, order, radius_of(sigma, truncate, radius))
    return ndimage.correlate1d(x, weights, axis, **settings(mode, cval))


@defines(ndimage.gaussian_filter)
def gaussian_filter(
    input: Any, sigma: Any, order: Any = 0, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    truncate: Any = 4.0, *, radius: Any = None, axes: Any = None,
) -> Any:  # fmt: skip
    x = floating("gaussian_filter", input, output)
    rank = np.ndim(x)
    places = list(range(rank)) if axes is None else [k % rank for k in (axes if isinstance(axes, tuple) else (axes,))]
    n = len(places)
    given = list(zip(places, each(sigma, n), each(order, n), each(mode, n), each(radius, n)))
    for axis, width, slope, border, reach in given:
        if width > 1e-15:
            weights = gaussian_weights(width, slope, radius_of(width, truncate, reach))
            x = ndimage.correlate1d(x, weights, axis, **settings(border, cval))
    return x.copy()


@defines(ndimage.gaussian_laplace)
def gaussian_laplace(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *,
    axes: Any = None, truncate: Any = 4.0, radius: Any = None,
) -> Any:  # fmt: skip
    no_axes("gaussian_laplace", axes)
    x = floating("gaussian_laplace", input, output)
    rank = np.ndim(x)
    total = gaussian_filter(x, sigma, (2,) + (0,) * (rank - 1), None, mode, cval, truncate, radius=radius)
    for axis in list(range(1, rank)):
        order = (0,) * axis + (2,) + (0,) * (rank - axis - 1)
        total = total + gaussian_filter(x, sigma, order, None, mode, cval, truncate, radius=radius)
    return total


@defines(ndimage.gaussian_gradient_magnitude)
def gaussian_gradient_magnitude(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *,
    axes: Any = None, truncate: Any = 4.0, radius: Any = None,
) -> Any:  # fmt: skip
    no_axes("gaussian_gradient_magnitude", axes)
    x = floating("gaussian_gradient_magnitude", input, output)
    rank = np.ndim(x)
    total = gaussian_filter(x, sigma, (1,) + (0,) * (rank - 1), None, mode, cval, truncate, radius=radius) ** 2
    for axis in list(range(1, rank)):
        order = (0,) * axis + (1,) + (0,) * (rank - axis - 1)
        total = total + gaussian_filter(x, sigma, order, None, mode, cval, truncate, radius=radius) ** 2
    return np.sqrt(total)


@defines(ndimage.uniform_filter1d)
def uniform_filter1d(
    input: Any, size: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0,
) -> Any:  # fmt: skip
    x = floating("uniform_filter1d", input, output)
    return ndimage.uniform_filter1d(x, size, axis, **settings(mode, cval, origin))


@defines(ndimage.uniform_filter)
def uniform_filter(
    input: Any, size: Any = 3, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0,
    *, axes: Any = None,
) -> Any:  # fmt: skip
    no_axes("uniform_filter", axes)
    x = floating("uniform_filter", input, output)
    n = np.ndim(x)
    given = list(zip(list(range(n)), each(size, n), each(mode, n), each(origin, n)))
    for axis, width, border, start in given:
        x = ndimage.uniform_filter1d(x, width, axis, **settings(border, cval, start))
    return x


DIFFERENCE, SOBEL, PREWITT, SECOND = (
    np.array([-1, 0, 1]),
    np.array([1, 2, 1]),
    np.array([1, 1, 1]),
    np.array([1, -2, 1]),
)


def edges(name: Any, x: Any, smooth: Any, axis: Any, mode: Any, cval: Any) -> Any:
    n = np.ndim(x)
    modes = each(mode, n)
    axis = axis % n
    x = ndimage.correlate1d(x, DIFFERENCE, axis, **settings(modes[axis], cval))
    for k in list(range(n)):
        if k != axis:
            x = ndimage.correlate1d(x, smooth, k, **settings(modes[k], cval))
    return x


@defines(ndimage.sobel)
def sobel(
    input: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0
) -> Any:  # fmt: skip
    return edges("sobel", floating("sobel", input, output), SOBEL, axis, mode, cval)


@defines(ndimage.prewitt)
def prewitt(
    input: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0
) -> Any:  # fmt: skip
    return edges("prewitt", floating("prewitt", input, output), PREWITT, axis, mode, cval)


@defines(ndimage.laplace)
def laplace(
    input: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None
) -> Any:  # fmt: skip
    no_axes("laplace", axes)
    x = floating("laplace", input, output)
    n = np.ndim(x)
    modes = each(mode, n)
    total = ndimage.correlate1d(x, SECOND, 0, **settings(modes[0], cval))
    for axis in list(range(1, n)):
        total = total + ndimage.correlate1d(x, SECOND, axis, **settings(modes[axis], cval))
    return total


# --- filters that choose ----------------------------------------------------------------------------------------------


def chosen(name: Any, x: Any, rank: Any, size: Any, footprint: Any, mode: Any, cval: Any, origin: Any) -> Any:
    """The element of a rank among the neighbours. `rank` counts from the end if it is negative; None: the middle."""
    if footprint is None:
        if size is None:
            raise RuntimeError("no footprint or filter size provided")
        footprint = np.ones(tuple(each(size, np.ndim(x))), bool)
    count = np.sum(np.asarray(footprint) != 0)
    places = rank_places(x, footprint, count // 2 if rank is None else rank, mode, cval, origin)
    found = x.reshape(-1)[places]
    return np.where(places < 0, np.asarray(cval, x.dtype), found) if mode in ("constant", "grid-constant") else found


def _choosing(name: Any, rank: Any) -> Any:
    def filtered(
        input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect",
        cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
    ) -> Any:  # fmt: skip
        no_axes(name, axes)
        return chosen(name, floating(name, input, output), rank, size, footprint, mode, cval, origin)

    return filtered


for _name, _rank in (("maximum_filter", -1), ("minimum_filter", 0), ("median_filter", None)):
    defines(getattr(ndimage, _name))(_choosing(_name, _rank))


@defines(ndimage.rank_filter)
def rank_filter(
    input: Any, rank: Any, size: Any = None, footprint: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:  # fmt: skip
    no_axes("rank_filter", axes)
    return chosen("rank_filter", floating("rank_filter", input, output), rank, size, footprint, mode, cval, origin)


# --- interpolation ----------------------------------------------------------------------------------------------------


@defines(ndimage.spline_filter1d)
def spline_filter1d(
    input: Any, order: Any = 3, axis: Any = -1, output: Any = np.float64, mode: Any = "mirror"
) -> Any:  # fmt: skip
    if output is not np.float64:
        refuse("scipy.ndimage.spline_filter1d with output=", "convert the result")
    return ndimage.spline_filter1d(input, order, axis, mode=mode)


@defines(ndimage.spline_filter)
def spline_filter(
    input: Any, order: Any = 3, output: Any = np.float64, mode: Any = "mirror"
) -> Any:  # fmt: skip
    if output is not np.float64:
        refuse("scipy.ndimage.spline_filter with output=", "convert the result")
    if order < 2 or order > 5:
        raise RuntimeError("spline order not supported")
    x = np.asarray(input)
    for axis in list(range(np.ndim(x))):
        x = ndimage.spline_filter1d(x, order, axis, mode=mode)
    return x


def check_order(order: Any) -> None:
    if order < 0 or order > 5:
        raise RuntimeError("spline order not supported")


@defines(ndimage.map_coordinates)
def map_coordinates(
    input: Any, coordinates: Any, output: Any = None, order: Any = 3, mode: Any = "constant",
    cval: Any = 0.0, prefilter: Any = True,
) -> Any:  # fmt: skip
    check_order(order)
    x = floating("map_coordinates", input, output)
    kind = x.dtype
    coordinates = np.asarray(coordinates)
    options = {"cval": cval} if mode in ("constant", "grid-constant") else {}
    if prefilter and order > 1:
        if mode in ("nearest", "grid-constant"):  # SciPy has no exact border for these
            if mode == "nearest":
                x = np.pad(x, 12, mode="edge")
            else:
                padded = np.full(tuple([n + 24 for n in x.shape]), cval, x.dtype)
                padded[(slice(12, -12),) * np.ndim(x)] = x
                x = padded
            coordinates = coordinates + 12
        x = ndimage.spline_filter(x, order, mode=mode)
    found = ndimage.map_coordinates(x, coordinates, order=order, mode=mode, prefilter=False, **options)
    return found if found.dtype == kind else found.astype(kind)


def counted(n: Any) -> Any:
    """A length, made known when the program is compiled."""
    return len(list(range(n)))


def grid(shape: Any) -> Any:
    """The numbers of the elements along each axis, so that they broadcast to the shape."""
    n = len(shape)
    axes = list(range(n))
    return [np.arange(shape[k]).reshape((1,) * k + (-1,) + (1,) * (n - k - 1)) for k in axes]


def everywhere(lines: Any, shape: Any) -> Any:
    """One coordinate for each axis, at every place."""
    return np.stack([np.broadcast_to(line, tuple(shape)) for line in lines])


@defines(ndimage.shift)
def shift(
    input: Any, shift: Any, output: Any = None, order: Any = 3, mode: Any = "constant", cval: Any = 0.0,
    prefilter: Any = True,
) -> Any:  # fmt: skip
    check_order(order)
    x = floating("shift", input, output)
    pairs = list(zip(grid(x.shape), each(shift, np.ndim(x))))
    coordinates = everywhere([line - step for line, step in pairs], x.shape)
    return ndimage.map_coordinates(x, coordinates, None, order, mode, cval, prefilter)


@defines(ndimage.zoom)
def zoom(
    input: Any, zoom: Any, output: Any = None, order: Any = 3, mode: Any = "constant", cval: Any = 0.0,
    prefilter: Any = True, *, grid_mode: Any = False,
) -> Any:  # fmt: skip
    check_order(order)
    x = floating("zoom", input, output)
    if grid_mode:
        refuse("scipy.ndimage.zoom with grid_mode=True", "leave it out")
    lengths = [round(n * factor) for n, factor in list(zip(x.shape, each(zoom, np.ndim(x))))]
    ratios = [(n - 1) / (m - 1) if m != 1 else 1.0 for n, m in list(zip(x.shape, lengths))]
    lines = [line * ratio for line, ratio in list(zip(grid(lengths), ratios))]
    return ndimage.map_coordinates(x, everywhere(lines, lengths), None, order, mode, cval, prefilter)


@defines(ndimage.affine_transform)
def affine_transform(
    input: Any, matrix: Any, offset: Any = 0.0, output_shape: Any = None, output: Any = None,
    order: Any = 3, mode: Any = "constant", cval: Any = 0.0, prefilter: Any = True,
) -> Any:  # fmt: skip
    check_order(order)
    x = floating("affine_transform", input, output)
    matrix = np.asarray(matrix)
    rank = np.ndim(x)
    shape = x.shape if output_shape is None else tuple(output_shape)
    lines = grid(shape)
    axes = list(range(rank))
    if np.ndim(matrix) == 1:
        starts = each(offset, rank)
        coordinates = everywhere([(lines[k] + starts[k] / matrix[k]) * matrix[k] for k in axes], shape)
    else:
        if counted(matrix.shape[1]) == rank + 1:
            starts = [matrix[k, rank] for k in axes]
        else:
            starts = each(offset, rank)
        found = []
        for k in axes:
            line = starts[k] + matrix[k, 0] * lines[0]
            for j in list(range(1, rank)):
                line = line + matrix[k, j] * lines[j]
            found.append(line)
        coordinates = everywhere(found, shape)
    return ndimage.map_coordinates(x, coordinates, None, order, mode, cval, prefilter)


@defines(ndimage.rotate)
def rotate(
    input: Any, angle: Any, axes: Any = (1, 0), reshape: Any = True, output: Any = None, order: Any = 3,
    mode: Any = "constant", cval: Any = 0.0, prefilter: Any = True,
) -> Any:  # fmt: skip
    x = floating("rotate", input, output)
    if np.ndim(x) != 2:
        refuse("scipy.ndimage.rotate of an array that is no matrix", "rotate one plane after the other")
    first, second = axes
    if first < -2 or first > 1 or second < -2 or second > 1 or first % 2 == second % 2:
        raise ValueError("invalid rotation plane specified")
    turn = direction(angle)
    c, s = turn[0], turn[1]
    rows, columns = x.shape
    height, width = rotated_lengths(turn, rows, columns) if reshape else (rows, columns)
    up, across = (height - 1) / 2, (width - 1) / 2
    matrix = np.array([[c, s], [-s, c]])
    offset = ((rows - 1) / 2 - (c * up + s * across), (columns - 1) / 2 - (-s * up + c * across))
    return affine_transform(x, matrix, offset, (height, width), None, order, mode, cval, prefilter)
