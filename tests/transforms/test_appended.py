"""Lists that loops append to: which are, and that values and gradients stay as they are without."""

import math

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences
from tests.transforms.recurrences import into_the_next, recurrence

X, Y = np.random.default_rng(31).normal(size=(2, 7))
A = np.random.default_rng(32).normal(size=(6, 2))


def filled_up(x, y):
    z = np.zeros(len(x))
    for i in range(len(x)):
        z[i] = math.sin(x[i]) * y[i]
    return np.sum(z * z)


def without_a_start(x, y):
    z = np.zeros(len(x))
    for i in range(1, len(x)):
        z[i] = 0.5 * z[i - 1] * y[i] + x[i]
    return np.sum(z * z)


def start_twice(x, y):
    z = np.zeros(len(x))
    z[0] = x[0]
    z[0] = x[1]
    for i in range(1, len(x)):
        z[i] = math.sin(z[i - 1]) * y[i] + x[i]
    return np.sum(z * z)


def start_in_the_middle(x, y):
    z = np.zeros(len(x))
    z[2] = x[0]
    for i in range(1, len(x)):
        z[i] = z[i] + math.sin(z[i - 1]) * y[i] + x[i]
    return np.sum(z * z)


def two_starts(x, y):
    z = np.ones(len(x))
    z[1], z[0] = x[0], y[1]
    for i in range(2, len(x)):
        z[i] = z[i - 1] * 0.3 + math.sin(z[i - 2]) * x[i]
    return np.sum(z**2)


def filled_down(x, y):
    z = np.zeros(len(x))
    z[-1] = y[-1]
    for i in range(len(x) - 2, -1, -1):
        z[i] = math.sin(z[i + 1]) * y[i] + x[i]
    return np.sum(z**3)


def filled_down_and_finished(x, y):
    z = np.zeros(len(x))
    for i in range(len(x) - 1, 0, -1):
        z[i] = math.sin(x[i - 1]) * y[i] + x[i]
    z[0] = x[0] * z[1]
    return np.sum(z**3)


def one_is_left_at_the_end(x, y):
    z = np.zeros(len(x))
    for i in range(len(x) - 1):
        z[i] = math.sin(x[i]) * y[i + 1]
    return np.sum((z + 1.0) ** 2 * x)


def one_is_stored_at_the_end(x, y):
    z = np.zeros(len(x))
    for i in range(len(x) - 1):
        z[i] = math.sin(x[i]) * y[i + 1]
    z[-1] = x[0] * x[0]
    return np.sum((z + 1.0) ** 2 * x)


def beyond(x, y):
    """The list has more places than the loop fills."""
    z = np.zeros(len(x) + 3)
    for i in range(len(x)):
        z[i] = math.sin(x[i]) * y[i]
    return np.sum((z + 1.0) ** 3)


def read_ahead(x, y):
    """An iteration reads a place at which a later one stores."""
    z = x.copy()
    for i in range(len(x) - 1):
        z[i] = math.sin(z[i + 1]) * y[i] * z[i]
    return np.sum(z**2)


def read_behind(x, y):
    z = x.copy()
    for i in range(1, len(x)):
        z[i] = z[i] * math.sin(z[i - 1]) + y[i]
    return np.sum(z**2)


def two_back(x, y):
    z = x.copy()
    for i in range(2, len(x)):
        z[i] = z[i] * math.sin(z[i - 2]) + y[i]
    return np.sum(z**2)


def left_early(x, y):
    z = np.zeros(len(x))
    for i in range(len(x)):
        if i > 3 and x[i] > -9.0:
            break
        z[i] = math.sin(x[i]) * y[i]
    return np.sum((z + 1.0) ** 2)


def at_times(x, y):
    z = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 0.0:
            z[i] = math.sin(x[i]) * y[i]
    return np.sum((z + 1.0) ** 2)


def series(x, y):
    """The cotangents of both arguments are filled from their ends."""
    s = loss = 0.0
    for i in range(len(x)):
        s = math.sin(s + x[i]) * y[i]
        loss += (s - x[i]) ** 2
    return loss


def both_read(x, y):
    """Two cotangents begin with the same numbers."""
    n = len(x)
    a, b = np.zeros(n), np.zeros(n)
    a[0], b[0] = x[0], y[0]
    for i in range(1, n):
        a[i] = 0.5 * x[i] + 0.3 * (a[i - 1] + b[i - 1])
        b[i] = 0.2 * (a[i] - a[i - 1]) + 0.9 * b[i - 1] * y[i]
    error = x[1:] - a[:-1] - b[:-1]
    return np.mean(error**2)


def all_are_read(x, y):
    n = len(x)
    a, b = np.zeros(n), np.zeros(n)
    a[0], b[0] = x[0], y[0]
    for i in range(1, n):
        a[i] = 0.5 * x[i] + 0.3 * (a[i - 1] + b[i - 1])
        b[i] = 0.2 * (a[i] - a[i - 1]) + 0.9 * b[i - 1] * y[i]
    return np.sum((x - a - b) ** 2) + a[-1] * b[-1]


def relaxed(x, y):
    """Of a cotangent, only the first number is read."""
    z = np.zeros(len(x))
    z[0] = x[0]
    for i in range(1, len(x)):
        step = x[i] - z[i - 1]
        if step < 0.0:
            step = 0.5 * step
        z[i] = z[i - 1] + y[i] * step
    return np.sum(z**2)


def read_in_vain(x, y):
    """What an iteration has read and stored first, nothing needs."""
    w, s = np.zeros(len(x)), 0.3
    for i in range(len(x) - 2, -1, -1):
        w[i] += math.tanh(x[i] * y[i - 1] + 0.3 * s)
        s += 0.1 * (x[i] + s) ** 2
        w[i] = math.tanh(1.0 - s / 3.0)
    return s + np.sum(w**2)


PROGRAMS = [
    filled_up, recurrence, without_a_start, start_twice, start_in_the_middle, two_starts, filled_down,
    filled_down_and_finished, one_is_left_at_the_end, one_is_stored_at_the_end, into_the_next, beyond, read_ahead,
    read_behind, two_back, left_early, at_times, series, both_read, all_are_read, relaxed,
    read_in_vain,
]  # fmt: skip


def check(f, *args, argnums=(0, 1)):
    compiled = ad.value_and_grad(f, argnums=argnums)
    plain = ad.value_and_grad(f, argnums=argnums, optimize="-appended")
    for lengths in (None, 5, 2, 3):
        given = [a.copy() if lengths is None or f in NEED_MORE else a[:lengths].copy() for a in args]
        value, grads = compiled(*given)
        assert value == f(*given)
        for i, (grad, other) in enumerate(zip(grads, plain(*given)[1])):
            np.testing.assert_allclose(grad, other, rtol=1e-12, atol=1e-15)
            assert grad.flags.c_contiguous and grad.flags.writeable and grad.dtype == given[i].dtype
            assert grad.shape == given[i].shape
            expected = differences(lambda v, i=i: f(*[v if j == i else a for j, a in enumerate(given)]), given[i])
            np.testing.assert_allclose(grad, expected, rtol=1e-5, atol=1e-7)
    return compiled.source(*args)


NEED_MORE = {start_in_the_middle}


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f):
    check(f, X, Y)


@pytest.mark.parametrize("f", [filled_up, recurrence, without_a_start, into_the_next, series, both_read])
def test_appends(f):
    assert ".append(" in ad.value_and_grad(f, argnums=(0, 1), optimize="-distribute").source(X, Y)


def rows(points, k):
    """Each iteration reads all of a row."""
    a, b, loss = 1.0, 0.0, 0.0
    for i in range(len(points)):
        a, b = a - k * b, b + k * a
        loss += (a - points[i, 0]) ** 2 + math.sin(b - points[i, 1])
    return loss


def rows_in_part(points, k):
    """Where there are more columns, the others have no cotangent."""
    a, loss = 1.0, 0.0
    for i in range(len(points)):
        a = math.sin(k * a)
        loss += (a - points[i, 1]) ** 2
    return loss


def rows_at_times(points, k):
    a, loss = 1.0, 0.0
    for i in range(len(points)):
        a = math.sin(k * a)
        if a < 0.9 * k:
            loss += (a - points[i, 0]) ** 2 + math.sin(a - points[i, 1])
    return loss


def the_same_twice(points, k):
    a, loss = 1.0, 0.0
    for i in range(len(points)):
        a = math.sin(k * a) * points[i, 0]
        loss += (a - points[i, 0]) ** 2 + math.sin(a - points[i, 1])
    return loss


@pytest.mark.parametrize("f", [rows, rows_in_part, rows_at_times, the_same_twice])
def test_rows(f):
    compiled = ad.value_and_grad(f, argnums=(0, 1))
    for points in (A, A[:2], A[:1], A[:0], np.hstack([A, A])):
        value, (grad, slope) = compiled(points, 0.7)
        assert value == f(points, 0.7)
        assert grad.shape == points.shape and grad.flags.c_contiguous
        if points.size:
            np.testing.assert_allclose(grad, differences(lambda v: f(v, 0.7), points), rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(slope, differences(lambda k: f(points, k), 0.7), rtol=1e-5, atol=1e-7)


def test_rows_are_appended():
    assert "points_bar.append((" in ad.grad(rows).source(A, 0.7)


def test_a_pullback_may_be_called_again():
    _, pullback = ad.vjp(both_read, X, Y)
    first, second, third = pullback(1.0), pullback(2.0), pullback(1.0)
    for a, b, c in zip(first, second, third):
        np.testing.assert_allclose(2.0 * a, b, rtol=1e-13)
        np.testing.assert_array_equal(a, c)


def test_second_derivatives():
    hessian = ad.hessian(series)(X, Y)
    gradient = ad.grad(series)
    expected = np.array([(gradient(X + h, Y) - gradient(X - h, Y)) / 2e-6 for h in 1e-6 * np.eye(len(X))])
    np.testing.assert_allclose(hessian, expected, rtol=1e-4, atol=1e-6)
