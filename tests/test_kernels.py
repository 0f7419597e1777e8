"""The gradients of whole kernels of scientific computing, against central differences."""

from __future__ import annotations

import copy
import re

import numpy as np
import pytest

import autodiff_compiler as ad
from benchmarks.kernels import all_kernels

KERNELS = [kernel for kernel in all_kernels() if not kernel.refused]
REFUSED = [kernel for kernel in all_kernels() if kernel.refused]
STEP = 1e-6


def leaves(value):
    """The numbers and arrays of a nested argument, in order."""
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def moved(value, directions, step):
    """The argument with each leaf moved by ``step`` times its direction, which are taken off the list."""
    if isinstance(value, dict):
        return {key: moved(item, directions, step) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(moved(item, directions, step) for item in value)
    return value + step * directions.pop(0)


def slope(function, args, k, directions):
    """The central difference of the function along a direction in its argument k."""
    sides = []
    for step in (STEP, -STEP):
        there = copy.deepcopy(args)
        there[k] = moved(there[k], [*directions], step)
        sides.append(float(function(*there)))
    return (sides[0] - sides[1]) / (2 * STEP)


def directions_through(value, rng):
    """Three directions at random, and two single entries for each leaf."""
    shapes = [np.shape(leaf) for leaf in leaves(value)]
    for _ in range(3):
        yield [rng.normal(size=shape) for shape in shapes]
    for k, shape in enumerate(shapes):
        for _ in range(2):
            single = [np.zeros(s) for s in shapes]
            single[k][tuple(rng.integers(0, shape))] = 1.0
            yield single


def check(function, gradient, args, argnums):
    args = list(args)
    before = copy.deepcopy(args)
    value, grads = gradient(*args)
    for got, want in zip(leaves(args), leaves(before), strict=True):
        np.testing.assert_array_equal(got, want)
    assert np.isclose(value, function(*copy.deepcopy(args)), rtol=1e-12, atol=1e-12)
    rng = np.random.default_rng(1)
    for k, grad in zip(argnums, grads, strict=True):
        scale = max(float(np.max(np.abs(leaf))) for leaf in leaves(grad))
        for directions in directions_through(args[k], rng):
            got = sum(np.sum(leaf * d) for leaf, d in zip(leaves(grad), directions, strict=True))
            want = slope(function, args, k, directions)
            assert abs(got - want) <= 2e-6 * max(abs(want), scale, abs(value), 1e-3), (k, got, want)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_gradient(kernel):
    argnums = kernel.argnums()
    gradient = ad.value_and_grad(kernel.function, argnums=argnums)
    check(kernel.function, gradient, kernel.inputs(kernel.small), argnums)
    # Sizes are no part of what the code is compiled for.
    check(kernel.function, gradient, kernel.inputs(kernel.other), argnums)


@pytest.mark.parametrize("kernel", REFUSED, ids=lambda kernel: kernel.name)
def test_refused(kernel):
    """Not wrong, but not taken either; a kernel that works now loses its ``refused=`` and is tested above."""
    gradient = ad.value_and_grad(kernel.function, argnums=kernel.argnums())
    with pytest.raises(ad.AutodiffError, match=re.escape(kernel.refused)) as info:
        gradient(*kernel.inputs(kernel.small))
    assert f"{kernel.function.__module__.rpartition('.')[2]}.py:" in str(info.value)
    assert "^" in str(info.value)
    assert np.isfinite(kernel.function(*kernel.inputs(kernel.small)))


def test_names_are_unique():
    names = [kernel.name for kernel in [*KERNELS, *REFUSED]]
    assert len(set(names)) == len(names)
