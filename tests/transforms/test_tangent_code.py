"""The emitted code of tangents: as short as by hand, and right where it saves an operation."""

from __future__ import annotations

import ast
import copy
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from benchmarks.kernels import all_kernels
from tests.transforms.test_jvp import difference, source

KERNELS = {kernel.name: kernel for kernel in all_kernels()}


def emitted(name: str) -> str:
    kernel = KERNELS[name]
    text = source(kernel.function, *copy.deepcopy(kernel.inputs(kernel.small)))
    return text[text.index("def ") :]


# What the tangents by hand in `benchmarks.tangents_by_hand` need, or less.
@pytest.mark.parametrize(
    "name, counts",
    [
        ("trisolv", {" / ": 2, ".dot(": 4, "\n": 12}),
        ("lu", {" / ": 2, ".dot(": 6, "] = ": 4, "\n": 17}),
        ("cholesky", {" / A_j_j": 2, "] = ": 6, "\n": 29}),
        ("gramschmidt", {"R[k, k]": 1, "Q[:, k]": 2, "A[:, j]": 1}),
        ("conjugate_gradient", {"M_dot": 2, " / ": 6}),
        ("heat_3d", {" * k_dot": 2, ".copy()": 4}),
        ("fdtd_2d", {" -= ": 6}),
    ],
)
def test_operations_are_counted(name: str, counts: dict[str, int]) -> None:
    text = emitted(name)
    assert {part: text.count(part) for part in counts} == counts, text


@pytest.mark.parametrize("y", [2.0, np.array([1.5, -2.0, 3.0]), np.array([2.0 + 1.0j, -1.0j, 1.0]), np.float64(0.5)])
@pytest.mark.parametrize("x", [3.0, 3, np.arange(6.0).reshape(2, 3), np.array([1, 2, 3])])
def test_quotients(x: Any, y: Any) -> None:
    dots = tuple([None if np.asarray(a).dtype.kind == "i" else np.ones_like(a) * 0.3 for a in (x, y)])
    value, slope = ad.jvp(lambda x, y: x / y, (x, y), dots)
    moved = difference(lambda x, y: x / y, (x, y), tuple([0 if d is None else d for d in dots]))
    np.testing.assert_array_equal(value, x / y)
    np.testing.assert_allclose(slope, moved, rtol=1e-8, atol=1e-8)


def test_a_quotient_by_zero_is_as_in_two_quotients() -> None:
    with np.errstate(all="ignore"):
        x, y = np.array([1.0, 0.0, 1.0, np.inf]), np.array([0.0, 0.0, np.inf, 2.0])
        for dy in (np.zeros(4), np.ones(4)):
            _, slope = ad.jvp(lambda x, y: x / y, (x, y), (np.ones(4), dy))
            apart = 1.0 / y - dy / y * (x / y)  # infinite less infinite, where the tangent is infinite
            np.testing.assert_array_equal(slope, np.where((x == 1.0) & (y == 0.0) & (dy != 0.0), -np.inf, apart))


def gram(x: Any) -> Any:
    return x.T @ x


def rows(x: Any) -> Any:
    return np.dot(x, x.T)


def not_its_own(x: Any) -> Any:
    return x.T @ (2.0 * x)


@pytest.mark.parametrize("f, products", [(gram, 2), (rows, 2), (not_its_own, 3)])
@pytest.mark.parametrize("factor", [1.0, 1.0 - 2.0j])
def test_a_matrix_times_its_transpose(f: Any, products: int, factor: Any) -> None:
    x, d = np.arange(6.0).reshape(3, 2) * factor, np.sin(np.arange(6.0)).reshape(3, 2) * factor
    value, slope = ad.jvp(f, (x,), (d,))
    assert np.array_equal(value, f(x))
    np.testing.assert_allclose(slope, difference(f, (x,), (d,)), rtol=1e-7, atol=1e-7)
    text = source(f, x)
    assert text.count("@") + text.count(".dot(") == products, text


def read_back(a: Any, i: int) -> Any:
    a[i] -= a[0] * a[1]
    b = a[i]
    a[i] /= a[1]
    a[i] *= b
    return a


def rounded(a: Any, i: int) -> Any:
    a[i] = np.float64(a[0]) / 3.0  # less of it is stored in an array of float32
    return a * a[i]


def neighbours(a: Any, i: int) -> Any:
    for j in range(i):
        a[i] *= 0.5
        a[i] += a[j]
        a[i] /= 1.0 + a[i - 1]
    return a


@pytest.mark.parametrize("f", [read_back, rounded, neighbours])
@pytest.mark.parametrize("i", [0, 1, 3, -1, -3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_was_stored_is_at_hand(f: Any, i: int, dtype: Any) -> None:
    a, d = np.array([0.7, 1.3, 2.1, -0.4], dtype), np.array([1.0, -0.5, 0.25, 2.0], dtype)
    value, slope = ad.jvp(f, (a, i), (d, None))
    assert value.dtype == slope.dtype == dtype
    np.testing.assert_array_equal(value, f(a.copy(), i))
    exact = difference(lambda a: f(a.copy(), i), (a.astype(float),), (d.astype(float),))
    np.testing.assert_allclose(slope, exact, rtol=1e-6 if dtype is np.float64 else 1e-3, atol=1e-6)


def test_a_place_that_does_not_exist() -> None:
    with pytest.raises(IndexError):
        ad.jvp(read_back, (np.ones(3), 5), (np.ones(3), None))


def through_a_view(x: Any, y: Any) -> Any:
    x = x * 2.0
    part = x[1:]
    s = np.sum(part * part)
    x[1:] = part + y
    return np.sum(x * x) * s


def through_a_subscript(x: Any, y: Any) -> Any:
    x = x * 2.0
    x[1:] = x[1:] + y
    return np.sum(x * x)


@pytest.mark.parametrize("f", [through_a_view, through_a_subscript])
def test_a_store_drops_axes_in_front(f: Any) -> None:
    """``x[1:] += y`` would raise where `y` has an axis of length one in front."""
    x, y = np.arange(4.0), np.array([[0.5, -1.0, 2.0]])
    _, slope = ad.jvp(f, (x, y), (x, y))
    np.testing.assert_allclose(slope, difference(f, (x, y), (x, y)), rtol=1e-6)
    for found, d in zip(ad.grad(f, (0, 1))(x, y), (x, y)):
        assert found.shape == d.shape


def test_views_in_code_that_is_cut_up() -> None:
    """Deep code becomes local functions, in which ``part *= 0.9`` binds a variable of the function around."""
    lines = ["def f(x):", " x, s = x * 1.0, 0.0"]
    for k in range(18):
        indent = " " * (k + 1)
        lines += [f"{indent}for i{k} in range(1):", f"{indent} part = x[1:]", f"{indent} s = s + np.sum(part * part)"]
        lines.append(f"{indent} x[1:] = part * 0.9")
    f = ad.from_tree(ast.parse("\n".join([*lines, " return s + np.sum(x * x * x)"])), {"np": np})
    x, d = np.arange(1.0, 4.0), np.ones(3)
    text = source(f, x)
    assert "nonlocal" in text and text.count(" *= 0.9") == 36  # of the values and of their tangents
    np.testing.assert_allclose(ad.jvp(f, (x,), (d,))[1], difference(f, (x,), (d,)), rtol=1e-7)


SEEN = np.ones(3)


def as_it_is(x: Any) -> Any:
    return x


def parts(x: Any) -> Any:
    return {"a": x[1:], "b": (x.T, x.reshape(-1, 1))}


def after_a_loop(x: Any) -> Any:
    for _ in range(len(x) - 3):
        x = x * 2.0
    return x


@pytest.mark.parametrize("f", [as_it_is, parts, after_a_loop])
def test_tangents_are_the_callers(f: Any) -> None:
    """The tangent of the result is no part of the tangent that was given."""
    x, d = np.arange(3.0), np.ones(3)
    _, slope = ad.jvp(f, (x,), (d,))
    found = [slope] if isinstance(slope, np.ndarray) else [slope["a"], *slope["b"]]
    assert not any(np.may_share_memory(t, d) for t in found)


def writes_outside(x: Any) -> Any:
    SEEN[:] = 2.0 * x
    return x * x


def test_a_tangent_that_the_function_writes_into() -> None:
    x = np.arange(3.0)
    SEEN[:] = 1.0
    np.testing.assert_array_equal(ad.jvp(writes_outside, (x,), (SEEN,))[1], 2.0 * x)
    np.testing.assert_array_equal(SEEN, 2.0 * x)


def stores(x: Any) -> Any:
    x[0] = x[1] * x[2]
    return np.sum(x * x)


def test_the_argument_itself_as_its_tangent() -> None:
    x = np.arange(1.0, 4.0)
    assert ad.jvp(stores, (x,), (x,))[1] == 2.0 * (6.0 * 12.0 + 4.0 + 9.0)
    np.testing.assert_array_equal(x, [1.0, 2.0, 3.0])
