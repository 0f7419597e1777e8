"""Additions with a border of zeros, the order of axes, and rows of one buffer: programs, and what they cost."""

from __future__ import annotations

import linecache
import re
import warnings
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad

from . import both_halves, stencils
from .both import agree, bailed, leaves, outcome, why_not


def text(native: Any) -> str:
    """The program of a gradient."""
    found = re.search(r"@Native\n(def \w+_native.*?)\n\n\n", str(native.source()), re.DOTALL)
    assert found is not None
    return found[1]


def checked(f: Any, *args: Any, argnums: Any = 0, halves: bool = True, **options: Any) -> str:
    """The program of a gradient that is right, in order and in parts, and does not bail."""
    native = agree(f, *args, argnums=argnums, **options)
    assert why_not(native) is None and not bailed(native)
    agree(f, *args, argnums=argnums, parallel=True, **options)
    if halves:
        wrt = argnums if isinstance(argnums, tuple) else (argnums,)
        both_halves.agree(f, *args, argnums=wrt, rtol=1e-7, kind=both_halves.Pullback)
    return text(native)


def numbers(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).uniform(0.5, 1.5, shape)


# --- borders of zeros -------------------------------------------------------------------------------------------------


def smoothed(u, n):
    for _ in range(n):
        u = 0.25 * u[:-2] ** 2 + 0.5 * u[1:-1] + 0.25 * u[2:] * u[1:-1]
    return np.sum(u * u)


def jacobi(a, b, n):
    a, b = a.copy(), b.copy()
    for _ in range(n):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return np.sum(a * a)


def test_a_stencil_adds_to_each_element_once() -> None:
    program = checked(jacobi, numbers(6, 7), numbers(6, 7, seed=1), 3, argnums=(0, 1))
    backward = program[program.index("range(steps - 1" if "range(steps - 1" in program else "range(n - 1") :]
    assert backward.count("+=") == 0
    # two loops for what is added, two that read it at five places
    assert len(re.findall(r"for \w+ in range", backward)) == 8
    assert len(re.findall(r"= zeroed", program)) == 3  # two borders, and the cotangent of b


def test_of_zeros_that_one_loop_reads_there_is_no_buffer() -> None:
    def flux(u, k):
        c = k * (1.0 + u * u)
        f = (c[1:] + c[:-1]) * (u[1:] - u[:-1])
        return np.sum(f * f * f)

    program = checked(flux, numbers(9), numbers(9, seed=1), argnums=(0, 1))
    assert "+=" not in program  # nothing is added to a buffer: what is read twice has a border
    assert "zeroed(" in program


@pytest.mark.parametrize("n", [3, 4, 5, 9])
def test_stencils_of_short_arrays(n: int) -> None:
    checked(jacobi, numbers(n, n), numbers(n, n, seed=1), 3, argnums=(0, 1))
    agree(jacobi, numbers(2, n), numbers(2, n, seed=1), 2, argnums=(0, 1))
    agree(smoothed, numbers(n), min(1, n // 2))
    agree(smoothed, numbers(2 * n), n - 1)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 6])
def test_slices_that_may_be_empty(n: int) -> None:
    def f(x, k):
        y = np.zeros(len(x) + 3)
        y[:-3] += x * x
        y[1:-2] += x
        y[3:] -= x * x
        return np.sum(y * y) + np.sum(x[1:] * x[:-1]) + np.sum(x[2:] * x[:-2]) * k

    agree(f, numbers(n), 2.0)


def test_additions_of_several_lengths() -> None:
    def f(x):
        d = x[1:] - x[:-1]
        e = x[2:] - x[:-2]
        g = x[3:] * x[:-3]
        return np.sum(d**3) + np.sum(e**3) + np.sum(g**2) + np.sum(x)

    checked(f, numbers(8))


def test_columns_and_rows() -> None:
    def f(x, n):
        x = x.copy()
        for j in range(1, n):
            x[1:-1, j] = x[1:-1, j] * x[:-2, j - 1] + x[2:, j - 1] * x[1:-1, j - 1]
        for i in range(1, n):
            x[i, 1:-1] = x[i, 1:-1] * x[i - 1, :-2] + x[i - 1, 2:] * x[i - 1, 1:-1]
        return np.sum(x**2)

    checked(f, numbers(5, 6), 5)


def test_what_is_read_in_between() -> None:
    """The cotangent of x is read between additions to it, and stored to."""

    def f(x, n):
        x = x.copy()
        s = 0.0
        for _ in range(n):
            y = x[1:] * x[:-1]
            s += np.sum(y[1:] * y[:-1] * x[1:-1])
            x[1:-1] = np.sin(y[1:]) + y[:-1]
            s += x[2] * np.sum(x[:3] * x[1:4])
            x[0] = x[1] * x[2]
        return s

    checked(f, numbers(7), 3)


def test_slices_that_overlap_views_and_swaps() -> None:
    def f(x, y, n):
        a, b = x.copy(), y.copy()
        v, w = a[1:], a[:-1]
        s = 0.0
        for _ in range(n):
            s += np.sum(v * w * b[1:] * b[:-1])
            a, b = b * 0.5 + a, a[::-1] * b
            v, w = b[1:], a[:-1]
        return s + np.sum(v * w)

    checked(f, numbers(6), numbers(6, seed=1), 3, argnums=(0, 1))


def test_a_loop_that_ends_early() -> None:
    def f(x, n, most):
        x = x.copy()
        for _ in range(n):
            y = x[1:-1] * x[:-2] + x[2:] * x[1:-1]
            x[1:-1] = y * y * 0.3
            if np.sum(x) > most:
                break
        return np.sum(x * x[::-1])

    for most in (0.0, 4.0, 1e9):
        checked(f, numbers(6), 5, most)


def test_branches_add_to_the_same_parts() -> None:
    def f(x, n):
        s = 0.0
        for i in range(n):
            if i % 2:
                s += np.sum(x[1:] * x[:-1])
            else:
                s += np.sum(x[2:] * x[:-2] * x[1:-1]) * x[i]
        return s

    checked(f, numbers(7), 4)


def test_loops_of_the_program_that_end_early() -> None:
    """They do not go through all elements."""

    def f(x, n, most):
        y = np.zeros(len(x))
        z = np.zeros(len(x) + 1)
        for i in range(len(x)):
            y[i] = x[i] * x[i]
            if x[i] > most:
                break
        for i in range(n):
            z[i] += y[i] * x[i]
            z[i + 1] += y[i] * y[i]
        return np.sum(z * z)

    x = np.linspace(0.1, 0.9, 6)
    for most in (-1.0, 0.5, 2.0):
        checked(f, x, 6, most)
    checked(f, x, 0, 0.3)


def test_positions_that_an_array_gives() -> None:
    def f(x, k, n):
        p = x.copy()
        for j in range(n):
            p[k[j], 1:] = p[k[j], 1:] * p[j, :-1] + p[(j * j) % n, 1:]
            for i in range(p.shape[1]):
                p[k[j], i] += p[j // 2, i] * 0.5
                p[j, i] = np.sin(p[k[j], i])
        return np.sum(p * p)

    k = np.array([2, 0, 1, 3])
    checked(f, numbers(4, 5), k, 4, halves=False)
    agree(f, numbers(4, 5), k, 0)
    agree(f, numbers(0, 5), k[:0], 0)


def test_what_two_loops_add_and_a_third_one_begins_with() -> None:
    def f(a, b, n):
        a, b = a.copy(), b.copy()
        for _ in range(n):
            b[1:-1] = a[1:-1] * 0.5 + a[:-2] * 0.25 + a[2:] * 0.25
            a[1:-1] = b[:-2] * 0.25 + b[2:] * 0.5 + b[1:-1] * b[1:-1]
        return np.sum(a * b)

    for n in (3, 4, 8):
        checked(f, numbers(n), numbers(n, seed=1), 3, argnums=(0, 1))


def test_negative_steps() -> None:
    def f(x):
        y = x[::-1]
        return np.sum(y[1:] * x[1:] * y[:-1]) + np.sum(x[::2][1:] * x[::2][:-1]) + np.sum(x[-2::-1] * x[1:])

    checked(f, numbers(9))


def test_float32_and_broadcast_axes() -> None:
    def f(x, c):
        y = c[:, None] * (x[:, 1:] - x[:, :-1]) * c[0]
        return np.sum(y[1:] * y[:-1])

    checked(f, numbers(4, 5), numbers(4, seed=1), argnums=(0, 1))
    agree(f, numbers(4, 5).astype(np.float32), numbers(4, seed=1).astype(np.float32), argnums=(0, 1), rtol=1e-4)


def test_the_order_of_additions_is_kept() -> None:
    """So the cotangents of a stencil are those of the NumPy code, to the last bit."""
    args = numbers(9, 8), numbers(9, 8, seed=3), 6
    native = ad.value_and_grad(jacobi, argnums=(0, 1), backend="native")
    emitted = ad.value_and_grad(jacobi, argnums=(0, 1))
    for got, want in zip(native(*args)[1], emitted(*args)[1]):
        assert np.array_equal(got, want)


def test_infinite_elements_stay_where_they_are() -> None:
    def f(x):
        return np.sum((x[1:] - x[:-1]) / x[:-1])

    x = numbers(6)
    x[2] = 0.0
    native = ad.grad(f, backend="native")
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(native(x), ad.grad(f)(x))


def heated(u, k0, beta, n):
    for _ in range(n):
        k = k0 * (1.0 + beta * u**2)
        u = u + 0.1 * k * np.sin(u)
    return np.sum(u)


def test_arithmetic_of_a_sum_does_not_end_its_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    args = numbers(6), numbers(6, seed=1), 0.3, 3
    program = checked(heated, *args, argnums=(0, 1, 2))
    monkeypatch.setattr("autodiff_compiler.native.lowering.Lowering.is_for_later", lambda self, op: False)
    longer = checked(heated, *args, argnums=(0, 1, 2))
    assert program.count(" in range(") < longer.count(" in range(")


def test_lengths_that_were_compared_have_one_name() -> None:
    program = checked(jacobi, numbers(6, 7), numbers(6, 7, seed=1), 3, argnums=(0, 1))
    assert program.count("!=") == 6  # two lengths of slices along each axis, and those of the other array
    assert len(set(re.findall(r"in range\((\w+)\)", program))) < 8


# --- the order of axes ------------------------------------------------------------------------------------------------


def orthogonal(a):
    a = a.copy()
    q = np.zeros_like(a)
    for k in range(a.shape[1]):
        q[:, k] = a[:, k] / np.sqrt(a[:, k] @ a[:, k])
        for j in range(k + 1, a.shape[1]):
            a[:, j] -= q[:, k] * (q[:, k] @ a[:, j])
    return np.sum(q**3)


def test_columns_lie_one_after_the_other() -> None:
    program = checked(orthogonal, numbers(5, 4))
    loops = re.findall(r"for (\w+) in range\(\w+\):\n((?: {16,}\w.*\n)+)", program)
    inside = [(index, body) for index, body in loops if "[k" in body or "[j" in body]
    assert inside
    for index, body in inside:
        for place in re.findall(r"\w+\[(\w+), (\w+)\]", body):
            assert place[0] != index, body


def test_results_have_their_own_order() -> None:
    def f(a, b):
        a = a.copy()
        for k in range(1, a.shape[1]):
            for j in range(k):
                a[:, k] = a[:, k] - a[:, j] * b[:, j] * np.sum(a[:, k] * a[:, j])
        return a

    def g(a, b):
        return np.sum(f(a, b) ** 2)

    for shape in ((4, 3), (1, 3), (3, 1), (0, 2), (2, 5)):
        checked(g, numbers(*shape), numbers(*shape, seed=1), argnums=(0, 1))
    both_halves.agree(f, numbers(4, 3), numbers(4, 3, seed=1), argnums=(0, 1), rtol=1e-9, kind=both_halves.Pullback)
    both_halves.agree(f, numbers(4, 3), numbers(4, 3, seed=1), argnums=(0, 1), rtol=1e-9, kind=both_halves.Linearized)


# --- rows -------------------------------------------------------------------------------------------------------------


def recursion(x, n):
    p = x.copy()
    for j in range(1, n):
        p[j, 1:] = -0.5 / (0.3 * p[j - 1, 1:] + 2.0) + p[j, :-1] * p[j - 2, 1:]
    return np.sum(p * p)


def test_rows_are_looked_at_in_each_run() -> None:
    program = checked(recursion, numbers(5, 4), 5)
    assert "opaque(" in program
    assert not re.search(r"\[position", program)
    checked(recursion, numbers(5, 4), 1)
    agree(recursion, numbers(1, 4), 1)


# --- random programs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("parallel", [False, True], ids=["in order", "in parts"])
def test_random_stencils(seed: int, parallel: bool) -> None:
    source, args = stencils.program(seed)
    name = f"<stencil {seed}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    names: dict[str, Any] = {"np": np}
    exec(compile(source, name, "exec"), names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = outcome(ad.value_and_grad(names["f"], argnums=(0, 1)), args)
        got = outcome(ad.value_and_grad(names["f"], argnums=(0, 1), backend="native", parallel=parallel), args)
    if isinstance(want, Exception):
        assert type(got) is type(want), source
        return
    for a, b in zip(leaves(got), leaves(want), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10, equal_nan=True, err_msg=source)
