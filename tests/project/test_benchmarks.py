"""The hand-written adjoints that we measure against must be right themselves."""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest

from benchmarks.by_hand import all_programs
from benchmarks.derivatives import check_tangent, sides_of_tangent
from benchmarks.in_numba import all_cases
from benchmarks.kernels import all_kernels
from benchmarks.run import WORKLOADS, as_tuple, linear_source
from benchmarks.tangents_by_hand import TANGENTS
from tests.differences import differences

MODULES = [importlib.import_module(f"benchmarks.{name}") for name in WORKLOADS]


@pytest.mark.parametrize("module", MODULES, ids=WORKLOADS)
def test_by_hand_is_the_gradient(module):
    if hasattr(module, "derived"):
        pytest.skip("not a gradient of one number")
    args = module.inputs(module.SMALL)
    before = [np.copy(a) for a in args]
    for k, got in zip(as_tuple(module.ARGNUMS), as_tuple(module.by_hand(*args)), strict=True):
        np.testing.assert_allclose(got, differences(module.primal, *args, argnum=k), rtol=1e-6, atol=1e-8)
    for a, b in zip(args, before):
        np.testing.assert_array_equal(a, b)


def test_gradients_by_hand_of_each_row():
    module = importlib.import_module("benchmarks.per_example")
    *weights, x, y = module.inputs(module.SMALL)
    for k, got in enumerate(module.by_hand(*weights, x, y)):
        want = [differences(module.loss, *weights, a, b, argnum=k) for a, b in zip(x, y)]
        np.testing.assert_allclose(got, np.stack(want), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("module", [m for m in MODULES if hasattr(m, "by_algebra")], ids=lambda m: m.NAME)
def test_by_algebra_is_the_gradient(module):
    args = module.inputs(module.SMALL)
    np.testing.assert_allclose(module.by_algebra(*args), module.by_hand(*args), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("module", MODULES, ids=WORKLOADS)
def test_autograd_version_agrees(module):
    pytest.importorskip("autograd")
    if not hasattr(module, "autograd_version"):
        pytest.skip("no version for autograd")
    args = module.inputs(module.SMALL)
    got = as_tuple(module.autograd_version()(*args))
    for a, b in zip(got, as_tuple(module.by_hand(*args)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("module", MODULES, ids=WORKLOADS)
def test_compiled_gradient_agrees(module):
    import autodiff_compiler as ad

    args = module.inputs(module.SMALL)
    derived = module.derived() if hasattr(module, "derived") else ad.grad(module.primal, argnums=module.ARGNUMS)
    got = as_tuple(derived(*args))
    for a, b in zip(got, as_tuple(module.by_hand(*args)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("by_hand", TANGENTS, ids=lambda f: f.__name__)
def test_tangents_by_hand_and_compiled_are_derivatives(by_hand):
    (kernel,) = [kernel for kernel in all_kernels() if kernel.name == by_hand.__name__]
    fresh, sides = sides_of_tangent(kernel, by_hand, kernel.small)
    check_tangent(fresh, sides)
    both = fresh()
    count = len(both) // 2
    ends = []
    for step in (1e-6, -1e-6):
        moved = [x if d is None else x + step * d for x, d in zip(both[:count], fresh()[count:])]
        ends.append(kernel.function(*moved))
    slope = (ends[0] - ends[1]) / 2e-6
    np.testing.assert_allclose(sides["hand"](*fresh())[1], slope, rtol=1e-6, atol=1e-8)


def test_generated_function_has_the_length_it_claims():
    source = linear_source(60)
    assert source.count("\n") == 60
    namespace = {"np": np}
    exec(source, namespace)
    assert math.isfinite(float(namespace["generated"](np.ones(5), 0.5)))


@pytest.mark.parametrize("program", list(all_programs()), ids=lambda program: program.name)
def test_programs_with_adjoints_by_hand(program):
    import autodiff_compiler as ad

    args = program.inputs(program.small)
    before = [np.copy(a) for a in args]
    value, cotangents = program.by_hand(*args)
    assert value == pytest.approx(program.function(*args), rel=1e-12)
    ours = ad.value_and_grad(program.function, argnums=program.argnums)(*args)[1]
    for k, got, other in zip(program.argnums, cotangents, ours, strict=True):
        assert np.shape(got) == np.shape(args[k])
        want = differences(program.function, *args, argnum=k)
        scale = max(1.0, float(np.max(np.abs(want), initial=0.0)))
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-7 * scale)
        np.testing.assert_allclose(other, got, rtol=1e-9, atol=1e-11 * scale)
    for a, b in zip(args, before):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("case", list(all_cases()), ids=lambda case: case.name)
def test_adjoints_in_loops(case):
    """As Python: Numba takes seconds for each."""
    import autodiff_compiler as ad

    args = case.inputs(case.small)
    before = [np.copy(a) for a in args]
    got = case.in_numba(*args)
    value, cotangents = ad.value_and_grad(case.function, argnums=case.argnums)(*args)
    for a, b in zip(got, (value, *cotangents), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)
    for a, b in zip(args, before):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("case", list(all_cases()), ids=lambda case: case.name)
def test_the_same_programs_in_jax(case):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    args = case.inputs(case.small)
    value, cotangents = jax.value_and_grad(case.in_jax(), argnums=case.argnums)(*args)
    for a, b in zip((value, *cotangents), case.in_numba(*args), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)
