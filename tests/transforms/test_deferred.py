"""Outer products are added to a column when it is read, where the loop does nothing else with the matrix."""

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences
from tests.transforms.recurrences import gram_schmidt

RNG = np.random.default_rng(6)
A, B = RNG.normal(size=(5, 4)), 0.4 * RNG.normal(size=(4, 4))


def rows(a):
    """The same of rows."""
    q = np.zeros_like(a)
    for i in range(len(a)):
        v = a[i] - (q[:i] @ a[i]) @ q[:i]
        q[i] = np.sin(v)
    return np.sum(q**3)


def two_terms(a):
    q = np.zeros_like(a)
    for j in range(a.shape[1]):
        q[:, j] = np.sin(a[:, j] + q[:, :j] @ (a[:, j] @ q[:, :j]))
    return np.sum(q**3)


def one_element_for_all(a):
    """The first factor has one element, which is broadcast."""
    q = np.ones_like(a)
    for j in range(a.shape[1]):
        q[:, j] = a[:, j] * np.sum(q[:, :j] @ np.cos(a[0, :j]))
    return np.sum(q**2)


PROGRAMS = [gram_schmidt, rows, two_terms]


def check(f, a):
    usual, plain = ad.grad(f)(a), ad.grad(f, optimize="-deferred")(a)
    np.testing.assert_allclose(usual, plain, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(usual, differences(f, a), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("f", PROGRAMS)
def test_each_element_is_written_once(f):
    source = ad.grad(f).source(A)
    assert "heads[" in source and "heads" not in ad.grad(f, optimize="-deferred").source(A)
    assert "q_bar[:, :j] +=" not in source and "q_bar[:i] +=" not in source


@pytest.mark.parametrize("f", [*PROGRAMS, one_element_for_all])
@pytest.mark.parametrize("size", [(5, 4), (3, 1), (1, 1), (3, 3), (4, 2)])
def test_derivatives(f, size):
    check(f, A[: size[0], : size[1]])


@pytest.mark.parametrize("f", PROGRAMS)
def test_without_columns(f):
    a = np.zeros((0, 0))
    assert ad.grad(f)(a).shape == (0, 0)


@pytest.mark.parametrize("f", PROGRAMS)
def test_second_derivatives_and_float32(f):
    v = np.ones_like(A)
    plain = ad.hvp(f, optimize="-deferred")(A, v)
    np.testing.assert_allclose(ad.hvp(f)(A, v), plain, rtol=1e-8, atol=1e-9)
    single = A.astype(np.float32)
    assert "heads" not in ad.grad(f).source(single)
    np.testing.assert_allclose(ad.grad(f)(single), ad.grad(f)(A), rtol=1e-3, atol=1e-3)


# --- where the loop does something else with the matrix ---------------------------------------------------------------


def another_column_is_read(a):
    q = a * 1.0
    for j in range(1, a.shape[1]):
        q[:, j] = np.sin(q[:, j - 1] + q[:, :j] @ a[0, :j])
    return np.sum(q**2)


def read_afterwards(a):
    """The cotangent of the first columns is that of the argument."""
    q = a * 1.0
    for j in range(a.shape[1]):
        q[:, j] = q[:, j] - q[:, :j] @ np.cos(a[0, :j])
    return np.sum(q**3)


def columns_behind(a):
    q = a * 1.0
    for j in range(a.shape[1] - 1, -1, -1):
        q[:, j] = a[:, j] - q[:, j + 1 :] @ np.cos(a[0, j + 1 :])
    return np.sum(q**3)


def only_some_columns(a):
    q = np.zeros_like(a)
    for j in range(a.shape[1]):
        if a[0, j] > 0.0:
            q[:, j] = a[:, j] - q[:, :j] @ np.cos(a[0, :j])
    return np.sum(q**3)


def no_outer_product(a):
    q = np.zeros_like(a)
    for j in range(a.shape[1]):
        q[:, j] = a[:, j] - np.sum(np.sin(q[:, :j]), axis=1)
    return np.sum(q**3)


@pytest.mark.parametrize(
    "f", [another_column_is_read, read_afterwards, columns_behind, only_some_columns, no_outer_product]
)
@pytest.mark.parametrize("columns", [1, 2, 4])
def test_other_loops(f, columns):
    check(f, A[:, :columns])
