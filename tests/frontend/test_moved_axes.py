"""Lists of axes and lengths that are put together item by item, by an axis that is an argument.

Which shape they give has to be known when the program is compiled. The axis then becomes a part of the signature.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])


def unfolded(x, axis):
    shape = list(x.shape)
    length = shape.pop(axis)
    shape.insert(0, length)
    return np.sum(np.reshape(x, shape)[0] ** 3)


def appended(x, axis):
    shape = [x.shape[0]]
    for _ in range(axis):
        shape.append(1)
    shape.append(-1)
    return np.sum(x.reshape(shape)[0] ** 2) + np.sum(x.reshape(shape, order="F")[1] ** 3)


def array_as_shape(x, axis):
    shape = np.array([3, 2])
    return np.sum(np.reshape(x, shape)[axis] ** 2) + np.sum(x.reshape(shape)[0] ** 3)


def inserted(x, axis):
    shape = list(x.shape)
    shape[axis] = 1
    sums = np.reshape(np.sum(x, axis=axis), shape)
    wide = list(x.shape)
    wide.insert(axis, 1)
    return np.sum((x - sums) ** 2) + np.sum(x.reshape(wide)[0] ** 3)


def cut(x, axis):
    shape = list(x.shape)
    del shape[axis]
    around = list(x.shape)
    around = around[:axis] + [1] + around[axis:]
    return np.sum(np.reshape(np.sum(x, axis=axis), shape) ** 2) + np.sum(x.reshape(around)[0] ** 3)


def moved_to_the_end(x, axis):
    axes = list(range(x.ndim))
    axes.append(axes.pop(axis))
    return np.sum(np.transpose(x, axes)[0] ** 2) + np.sum(x.transpose(axes)[-1] ** 3)


def swapped(x, axis):
    axes = list(range(x.ndim))
    axes[0], axes[axis] = axes[axis], axes[0]
    return np.sum(x.transpose(axes)[0] ** 3)


def all_but_one(x, axis):
    others = tuple(k for k in range(x.ndim) if k != axis)
    return np.sum(np.sum(x**2, axis=others) ** 2) + np.sum(x.transpose((axis,) + others)[0] ** 3)


def all_but_one_in_a_list(x, axis):
    others = [k for k in range(x.ndim) if k != axis]
    return np.sum(x.transpose([axis, *others])[0] ** 3) + np.sum(np.transpose(x, others + [axis])[0] ** 2)


def lengths_of_the_others(x, axis):
    shape = tuple(n for k, n in enumerate(x.shape) if k != axis)
    return np.sum(np.zeros(shape) + np.sum(x, axis=axis) ** 2)


def padded_by_a_list_of_pairs(x, axis):
    width = [(0, 0)] * x.ndim
    width[axis] = (1, 2)
    return np.sum(np.cumsum(np.pad(x, width), axis=axis) ** 2)


def padded_by_an_array(x, axis):
    width = np.zeros((x.ndim, 2), dtype=int)
    width[axis, 1] = 1
    one_row = np.array([1, axis])
    return np.sum(np.cumsum(np.pad(x, width, mode="constant"), axis=axis) ** 2) + np.sum(np.pad(x, one_row)[-2] ** 3)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(
    "function",
    [
        padded_by_a_list_of_pairs, padded_by_an_array,
        unfolded, appended, array_as_shape, inserted, cut, moved_to_the_end, swapped, all_but_one,
        all_but_one_in_a_list, lengths_of_the_others,
    ],
)  # fmt: skip
def test_axes_by_an_argument(function: Callable[..., Any], axis: int) -> None:
    value, gradient = ad.value_and_grad(function)(X, axis)
    assert value == function(X, axis)
    np.testing.assert_allclose(gradient, differences(lambda x: function(x, axis), X), rtol=1e-6, atol=1e-7)


def test_one_gradient_for_both_axes() -> None:
    gradient = ad.grad(moved_to_the_end)
    for axis in (0, 1, 0):
        np.testing.assert_allclose(gradient(X, axis), differences(lambda x: moved_to_the_end(x, axis), X), rtol=1e-6)


def test_a_shape_that_only_the_run_knows_is_refused() -> None:
    def f(x):
        shape = []
        while np.prod(shape) < np.sum(x):
            shape.append(2)
        return np.sum(np.reshape(np.tile(x.ravel(), 2), shape + [-1]))

    with pytest.raises(ad.UnsupportedError, match="a number of axes that is known at run time only"):
        ad.grad(f)(X)
