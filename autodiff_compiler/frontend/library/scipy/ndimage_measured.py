"""`scipy.ndimage`: grey morphology, further filters that choose, and measurements of labelled regions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage

from ...definitions import defines, refuse
from .ndimage_lib import each, floating, no_axes

# --- filters that choose ----------------------------------------------------------------------------------------------


def along(fn: Any, input: Any, size: Any, axis: Any, mode: Any, cval: Any, origin: Any) -> Any:
    n = np.ndim(input)
    axis = axis % n
    sizes = tuple([size if k == axis else 1 for k in range(n)])
    return fn(input, size=sizes, mode=mode, cval=cval, origin=tuple([origin if k == axis else 0 for k in range(n)]))


@defines(ndimage.maximum_filter1d)
def maximum_filter1d(
    input: Any, size: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0
) -> Any:
    x = floating("maximum_filter1d", input, output)
    return along(ndimage.maximum_filter, x, size, axis, mode, cval, origin)


@defines(ndimage.minimum_filter1d)
def minimum_filter1d(
    input: Any, size: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0
) -> Any:
    x = floating("minimum_filter1d", input, output)
    return along(ndimage.minimum_filter, x, size, axis, mode, cval, origin)


@defines(ndimage.percentile_filter)
def percentile_filter(
    input: Any, percentile: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect",
    cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:  # fmt: skip
    no_axes("percentile_filter", axes)
    if footprint is not None:
        refuse("scipy.ndimage.percentile_filter with footprint", "use rank_filter")
    x = floating("percentile_filter", input, output)
    count = 1
    for length in each(size, np.ndim(x)):
        count = count * length
    share = percentile + 100.0 if percentile < 0 else percentile
    if share < 0 or share > 100:
        raise RuntimeError("invalid percentile")
    rank = count - 1 if share == 100.0 else int(float(count) * share / 100.0)
    return ndimage.rank_filter(x, rank, size=size, mode=mode, cval=cval, origin=origin)


def grey(name: Any, input: Any, size: Any, footprint: Any, structure: Any, output: Any, axes: Any) -> Any:
    """The image. A window of odd size is its own mirror image."""
    no_axes(name, axes)
    if footprint is not None or structure is not None or size is None:
        refuse(f"scipy.ndimage.{name} with footprint or structure", "use size=")
    x = floating(name, input, output)
    for length in each(size, np.ndim(x)):
        if length % 2 == 0:
            refuse(f"scipy.ndimage.{name} with an even size", "use an odd one, or maximum_filter and minimum_filter")
    return x


@defines(ndimage.grey_dilation)
def grey_dilation(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:  # fmt: skip
    x = grey("grey_dilation", input, size, footprint, structure, output, axes)
    turned = tuple([-o for o in each(origin, np.ndim(x))])
    return ndimage.maximum_filter(x, size=size, mode=mode, cval=cval, origin=turned)


@defines(ndimage.grey_erosion)
def grey_erosion(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:  # fmt: skip
    x = grey("grey_erosion", input, size, footprint, structure, output, axes)
    return ndimage.minimum_filter(x, size=size, mode=mode, cval=cval, origin=origin)


@defines(ndimage.grey_opening)
def grey_opening(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:  # fmt: skip
    x = grey("grey_opening", input, size, footprint, structure, output, axes)
    return grey_dilation(grey_erosion(x, size, None, None, None, mode, cval, origin), size, None, None, None, mode,
                         cval, origin)  # fmt: skip


@defines(ndimage.grey_closing)
def grey_closing(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:  # fmt: skip
    x = grey("grey_closing", input, size, footprint, structure, output, axes)
    return grey_erosion(grey_dilation(x, size, None, None, None, mode, cval, origin), size, None, None, None, mode,
                        cval, origin)  # fmt: skip


@defines(ndimage.morphological_gradient)
def morphological_gradient(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:  # fmt: skip
    x = grey("morphological_gradient", input, size, footprint, structure, output, axes)
    dilated = grey_dilation(x, size, None, None, None, mode, cval, origin)
    return dilated - grey_erosion(x, size, None, None, None, mode, cval, origin)


# --- measurements -----------------------------------------------------------------------------------------------------


def labelled(input: Any, labels: Any, index: Any) -> Any:
    """For each label in `index`, where it is; the axes of the array come last."""
    index = np.asarray(index)
    return np.asarray(labels) == index.reshape(index.shape + (1,) * np.ndim(input))


@defines(ndimage.sum_labels, ndimage.sum)
def sum_labels(input: Any, labels: Any = None, index: Any = None) -> Any:
    x = np.asarray(input)
    if labels is None:
        return np.sum(x)
    if index is None:
        return np.sum(np.where(np.asarray(labels) > 0, x, 0.0))
    here = labelled(x, labels, index)
    return np.sum(np.where(here, x.astype(np.float64), 0.0), axis=tuple(range(-np.ndim(x), 0)))


@defines(ndimage.mean)
def mean(input: Any, labels: Any = None, index: Any = None) -> Any:
    x = np.asarray(input)
    if labels is None:
        return np.sum(x) / np.float64(x.size)
    here = np.asarray(labels) > 0 if index is None else labelled(x, labels, index)
    return sum_labels(x, labels, index) / np.sum(here, axis=tuple(range(-np.ndim(x), 0)))


@defines(ndimage.center_of_mass)
def center_of_mass(input: Any, labels: Any = None, index: Any = None) -> Any:
    x = np.asarray(input)
    if index is not None and np.ndim(index) != 0:
        refuse("scipy.ndimage.center_of_mass of several regions", "call it for one label after the other")
    total = ndimage.sum_labels(x, labels, index)
    found = []
    for axis in range(np.ndim(x)):
        places = np.reshape(np.arange(x.shape[axis]) * 1.0, (-1, *(1,) * (np.ndim(x) - 1 - axis)))
        found.append(ndimage.sum_labels(x * places, labels, index) / total)
    return tuple(found)


@defines(ndimage.variance)
def variance(input: Any, labels: Any = None, index: Any = None) -> Any:
    x = np.asarray(input)
    everywhere = tuple(range(-np.ndim(x), 0))
    if labels is None:
        return np.sum(np.square(x - ndimage.mean(x))) / np.float64(x.size)
    here = np.asarray(labels) > 0 if index is None else labelled(x, labels, index)
    count = np.sum(here, axis=everywhere, keepdims=True)
    middle = np.sum(np.where(here, x, 0.0), axis=everywhere, keepdims=True) / count
    return np.sum(np.where(here, np.square(x - middle), 0.0) / count, axis=everywhere)


@defines(ndimage.standard_deviation)
def standard_deviation(input: Any, labels: Any = None, index: Any = None) -> Any:
    return np.sqrt(variance(input, labels, index))


def extreme(x: Any, labels: Any, index: Any, sign: Any) -> Any:
    x = np.asarray(x)
    if labels is None:
        return sign * np.max(sign * x)
    here = np.asarray(labels) > 0 if index is None else labelled(x, labels, index)
    everywhere = tuple(range(-np.ndim(x), 0))
    found = sign * np.max(np.where(here, sign * x, -np.inf), axis=everywhere)
    return np.where(np.any(here, axis=everywhere), found, 0.0)[()]


@defines(ndimage.maximum)
def maximum(input: Any, labels: Any = None, index: Any = None) -> Any:
    return extreme(input, labels, index, 1.0)


@defines(ndimage.minimum)
def minimum(input: Any, labels: Any = None, index: Any = None) -> Any:
    return extreme(input, labels, index, -1.0)
