"""What is fused, what is kept apart, and programs that were once wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import ArgumentError

from .both import agree, bailed, outcome, why_not

X = np.linspace(0.5, 2.0, 6)
A = np.arange(12.0).reshape(3, 4) / 7.0 + 0.1


def program_of(f: Any, *args: Any, transform: Any = ad.grad) -> str:
    """The text of the program."""
    text = str(transform(f, backend="native").source(*args))
    start = text.index("@Native")
    return text[start : text.index("\n\n\n", start)]


def test_operations_on_elements_are_one_loop() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.sin(x) * np.exp(-x) / (1.0 + x * x))

    text = program_of(f, X)
    assert text.count("for ") == 1 and text.count("= buffer") == 1
    agree(f, X)


def test_a_stencil_and_its_sum_are_one_loop() -> None:
    def f(x: Any) -> Any:
        d = x[1:] - x[:-1]
        return np.sum(d * d)

    assert program_of(f, X, transform=ad.value_and_grad).count("for ") <= 3
    agree(f, X)


@pytest.mark.parametrize("shift", [1, -1])
def test_an_overlapping_copy(shift: int) -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        if shift > 0:
            y[1:] = y[:-1]
        else:
            y[:-1] = y[1:]
        y[2:] += y[:-2]
        return np.sum(y * y)

    assert not bailed(agree(f, X))


def test_a_matrix_is_transposed_in_place() -> None:
    def f(x: Any) -> Any:
        y = x * x
        y[...] = y.T
        y += y.T
        return np.sum(y * np.arange(3.0))

    assert not bailed(agree(f, A[:, :3]))


def test_a_store_that_waits_is_done_before_a_copy_reads() -> None:
    def f(x: Any) -> Any:
        y = np.zeros(6)
        y += 2.0 * x
        part = np.reshape(y[::2], -1)
        return part[1] * np.sum(np.dot(y, y) * part)

    agree(f, X)


def test_products_of_parts() -> None:
    def f(x: Any) -> Any:
        basis = np.zeros((3, 4))
        for j in range(4):
            v = x[:, j] - basis[:, :j] @ (basis[:, :j].T @ x[:, j])
            basis[:, j] = v / np.sqrt(v @ v + 1.0)
        return np.sum(basis @ basis.T @ x[:, 1:2])

    assert not bailed(agree(f, A))


def swapped(x: Any) -> Any:
    a, b = x * 1.0, x * 2.0
    for i in range(3):
        a, b = b, a + 0.1 * i * b
    return np.sum(a * b)


def left_early(x: Any) -> Any:
    s, k = 0.0, 0
    while True:
        s += x[k] * x[k]
        k += 1
        if s > 3.0 or k == len(x):
            break
    return s * k


def found(x: Any) -> Any:
    for i in range(len(x)):
        if x[i] > 1.0:
            return x[i] * i
    return x[0]


def backwards(x: Any) -> Any:
    s = x[0]
    for i in range(len(x) - 1, -1, -2):
        s = s * x[i] + i
    for i in range(0, len(x), 4):
        s += x[i]
    return s + np.sum(x[::-1] * x) + np.sum(x[::-2]) + np.sum(x[3:0:-1] * x[:3])


def grows(x: Any) -> Any:
    y = x
    for k in range(1, 3):
        y = y[k:] * 2.0
    return np.sum(y)


def by_a_branch(x: Any) -> Any:
    y = x * 2.0
    if x[0] > 0.4:
        y = x[1:] * 3.0
    return np.sum(y)


def picks(x: Any) -> Any:
    k = np.array([0, 2, 2, -1])
    y = np.zeros(6)
    y[k] = x[k] * 2.0
    np.add.at(y, k, x[:4])
    y[x > 1.0] = 0.5
    return np.sum(y * x)


def of_matrices(x: Any) -> Any:
    k = np.array([0, 1])
    m = np.outer(x, x).reshape(4, 9)
    m[1, k] *= 2.0
    return np.sum(m[k, k] * m[2, k]) + np.sum(np.roll(m, 1, axis=1)[:, 0] * m.sum(axis=1)) + m.mean(axis=0)[1]


def extremes(x: Any) -> Any:
    m = np.outer(x, np.sin(3.0 * x))
    return np.sum(m.max(axis=0) * m.min(axis=1)) + m.max() + np.max(np.abs(m), axis=1, keepdims=True)[0, 0]


def calls_numpy(x: Any) -> Any:
    m = np.outer(x, x) + np.eye(6)
    return np.linalg.slogdet(m)[1] + np.sum(np.linalg.solve(m, x)) + np.cumsum(x)[2]


def raises(x: Any) -> Any:
    if len(x) > 3 and x[0] < 0.0:
        raise ValueError(f"{x[0]} is negative")
    assert x[1] != 0.25, "the second is a quarter"
    return np.sum(x)


PROGRAMS = [
    swapped, left_early, found, backwards, grows, by_a_branch, picks, of_matrices, extremes, calls_numpy, raises,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_programs(f: Any) -> None:
    native = agree(f, X)
    assert why_not(native) is None and not bailed(native)
    for x in (X[:4], -X, X[::-1].copy(), X[:1], X[:0], np.array([1.0, 0.25, 3.0])):
        agree(f, x)


@pytest.mark.parametrize("f", [swapped, left_early, found])
def test_other_derivatives(f: Any) -> None:
    agree(lambda x: np.sum(ad.grad(f)(x) ** 2), X)
    for transform in (ad.jacobian, ad.hessian):
        agree(f, X, transform=transform)


def test_effects_are_left_to_numpy() -> None:
    seen: list[float] = []

    def f(x: Any) -> Any:
        seen.append(1.0)
        return np.sum(x * x)

    native = ad.grad(f, backend="native")
    native(X)
    assert why_not(native) is not None and len(seen) == 1


def test_an_unknown_backend_is_an_error() -> None:
    with pytest.raises(ArgumentError, match="there is no backend 'gpu'"):
        ad.grad(swapped, backend="gpu")  # type: ignore[arg-type]


def test_the_backend_inside_of_a_compiled_function_is_refused() -> None:
    with pytest.raises(ad.UnsupportedError, match=r"backend=.* in a function that is compiled"):
        ad.grad(lambda x: np.sum(ad.grad(swapped, backend="native")(x)))(X)


def test_the_vjp_is_numpy_code() -> None:
    _, pullback = ad.vjp(swapped, X, backend="native")
    np.testing.assert_allclose(pullback(1.0)[0], ad.grad(swapped)(X))
    assert outcome(ad.grad(swapped, backend="native"), (X,)) is not None


def test_explain_says_what_is_machine_code() -> None:
    def told(f: Any) -> str:
        return str(ad.explain(ad.grad(f, backend="native"), X)).split("machine code\n")[1]

    assert told(swapped) == "  all of it"
    calls = told(calls_numpy).splitlines()
    assert calls[0] == "  all but these calls of NumPy:" and any("np.linalg.solve(" in call for call in calls)
    assert told(lambda x: np.sum(x.astype(np.float16))).startswith("  none, in line ")
    assert "machine code" not in ad.explain(ad.grad(swapped), X)
