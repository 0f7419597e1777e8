"""The gradients of whole kernels of scientific computing, against central differences."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import autodiff_compiler as ad
from benchmarks.kernels import all_kernels
from benchmarks.kernels.table import run_kernels

KERNELS = [kernel for kernel in all_kernels() if not kernel.refused]
REFUSED = [kernel for kernel in all_kernels() if kernel.refused]
SECOND_ORDER = [k for k in KERNELS if k.name not in ("lattice_boltzmann", "cavity_flow")]  # those compile for seconds
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
def test_right_or_refused(kernel):
    """What is not taken says so, at the place; what is taken by now must be right, and may lose its ``refused=``."""
    argnums = kernel.argnums()
    gradient = ad.value_and_grad(kernel.function, argnums=argnums)
    args = kernel.inputs(kernel.small)
    try:
        gradient(*args)
    except ad.AutodiffError as error:
        assert kernel.refused in str(error)
        assert f"{kernel.function.__module__.rpartition('.')[2]}.py:" in str(error)
        assert "^" in str(error)
    else:
        check(kernel.function, gradient, args, argnums)


def dot(x, y):
    if isinstance(x, dict):
        return sum(dot(x[key], y[key]) for key in x)
    if isinstance(x, (tuple, list)):
        return sum(dot(a, b) for a, b in zip(x, y))
    return np.sum(x * y)


def like(value, rng):
    """Numbers at random in the structure and shapes of an argument."""
    if isinstance(value, dict):
        return {key: like(item, rng) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(like(item, rng) for item in value)
    return rng.normal(size=value.shape) if isinstance(value, np.ndarray) else float(rng.normal())


@pytest.mark.parametrize("kernel", SECOND_ORDER, ids=lambda kernel: kernel.name)
def test_second_order(kernel):
    """The gradient of the gradient's product with a vector, along one direction."""
    argnums = kernel.argnums()
    rng = np.random.default_rng(3)
    args = list(kernel.inputs(kernel.small))
    weights = tuple(like(args[k], rng) for k in argnums)
    gradient = ad.grad(kernel.function, argnums=argnums)

    def product(*args):
        return dot(gradient(*args), weights)

    second = ad.grad(product, argnums=argnums)(*args)
    directions = [like(args[k], rng) for k in argnums]
    sides = []
    for step in (STEP, -STEP):
        there = [*args]
        for k, direction in zip(argnums, directions, strict=True):
            there[k] = moved(there[k], leaves(direction), step)
        sides.append(float(dot(gradient(*there), weights)))
    want = (sides[0] - sides[1]) / (2 * STEP)
    scale = max(float(np.max(np.abs(leaf))) for leaf in leaves(second))
    assert abs(dot(second, directions) - want) <= 1e-5 * max(abs(want), scale, 1e-3)


def test_table(capsys):
    results = run_kernels(["trisolv"])
    assert results["trisolv"]["ours"] > 0 and results["trisolv"]["lines"] > 10
    assert "| `trisolv` | 400 |" in capsys.readouterr().out


def growing_path(start, rate, steps):
    path = [start]
    for _ in range(steps):
        last = path[-1]
        path.append(last + np.array([last[1] * rate, 0.0]))
    total = 0.0
    for point in path:
        total += rate * point[0]
    return total


def test_item_of_a_list_of_cotangents_is_not_stored_into():
    """It once was, where the item stays in the list: only by this one argument, and at second order."""
    start = np.array([0.4, 0.3])
    # With n steps: rate * ((n + 1) * start[0] + n * (n + 1) / 2 * rate * start[1])
    assert np.isclose(ad.grad(growing_path, argnums=1)(start, 1.5, 3), 4 * 0.4 + 12 * 1.5 * 0.3)
    assert np.isclose(ad.grad(ad.grad(growing_path, argnums=1), argnums=1)(start, 1.5, 3), 12 * 0.3)


def test_names_are_unique():
    names = [kernel.name for kernel in [*KERNELS, *REFUSED]]
    assert len(set(names)) == len(names)
