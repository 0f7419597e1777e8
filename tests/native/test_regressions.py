"""Programs that once gave other numbers, or other exceptions, than NumPy does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad

from .both import agree, bailed, why_not

X = np.array([0.5, -1.5, 2.0, 0.25])


def read(x: Any, k: int) -> Any:
    x[k]
    return np.sum(x * x)


def divided(x: Any, k: int) -> Any:
    c = 1 / (k - 4)
    return np.sum(x * x)


def added(x: Any, k: int) -> Any:
    c = x[k:] + x[:-1]
    return np.sum(x * x)


def in_a_loop(x: Any, k: int) -> Any:
    for i in range(k):
        c = x[i]
    return np.sum(x * x)


def for_a_message(x: Any, k: int) -> Any:
    v = x[k]
    if x[0] > 1.0:
        raise ValueError(f"not {v}")
    return np.sum(x * x)


@pytest.mark.parametrize("f", [read, divided, added, in_a_loop, for_a_message])
@pytest.mark.parametrize("k", [1, 4, 5])
def test_what_is_not_used_raises_too(f: Any, k: int) -> None:
    assert why_not(agree(f, X, k)) is None


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_copy_for_a_store_is_no_other_value(n: int) -> None:
    def f(x: Any, n: int) -> Any:
        a = np.cumsum(x)
        s = 0.0
        for _ in range(1, n):
            s = 0.5 * np.sum(a)
            for _ in range(n):
                a[:] -= np.sin(s)
        return np.sum(a * a) + s

    def g(x: Any, n: int) -> Any:
        a = x * 1.0
        k = np.array([1, 2, 3])
        for _ in range(n):
            a[k] = a[:3]
            a[k - 1] = a[1:] * a[k]
        return np.sum(a * x)

    for h in (f, g):
        native = agree(h, X, n)
        assert why_not(native) is None and not bailed(native)


def grown(x: Any) -> Any:
    y = np.zeros((4, 4))
    y[:] = x
    y += y[:1]
    return np.sum(y * y)


def columns(x: Any) -> Any:
    y = np.zeros((4, 4))
    y[:] = np.outer(x, x)
    y -= y[:, :1]
    y *= y[0:1]
    return np.sum(y * y)


def of_one_axis(x: Any) -> Any:
    y = np.zeros(4)
    y[:] = x
    y += y[:1]
    return y[0] * y[1] * y[3]


@pytest.mark.parametrize("f", [grown, columns, of_one_axis])
def test_a_row_that_is_broadcast_is_not_read_where_it_is_stored(f: Any) -> None:
    native = agree(f, X)
    assert why_not(native) is None and not bailed(native)


@pytest.mark.parametrize("k", [0, 1, -1, -2, -3, -9, 9])
def test_a_range_that_starts_below_zero(k: int) -> None:
    def f(x: Any, k: int) -> Any:
        y = x[1:]
        s = 0.0
        for i in range(k, len(y)):
            s += y[i] * y[i]
        return s

    def g(x: Any, k: int) -> Any:
        s = 0.0
        for i in range(k, len(x)):
            s += x[i] * x[i]
        return s

    for h in (f, g):
        assert bailed(agree(h, X, k)) == (k < 0)


@pytest.mark.parametrize("n, m", [(4, 1), (4, 2), (4, 3), (2, 2), (4, 4)])
def test_an_array_that_gets_shorter_in_a_loop(n: int, m: int) -> None:
    def f(x: Any, n: int, m: int) -> Any:
        a = x[:n] * 1.0
        s = 0.0
        for i in range(m):
            s += a[i] * a[i]
            a = a[1:] * 2.0
        return s

    assert bailed(agree(f, X, n, m)) == (2 * m - 1 > n)


@pytest.mark.parametrize("n", [5, 2**60, 2**62, 2**63 - 1, -(2**63)])
def test_ints_of_numpy_that_become_pythons(n: int) -> None:
    agree(lambda x, n: x[0] * ((int(n) * 1024) % 7), X, np.int64(n))
    agree(lambda x, a: x[0] * ((int(a[0]) + int(a[1])) % 7), X, np.array([n, n]))
    agree(lambda x, a: x[0] * (-int(a[0]) // 3 % 7), X, np.array([n, n]))

    def f(x: Any, n: Any) -> Any:
        s = 0.0
        for i in range(n, n + 2):
            s += x[0] * (i * 64 % 7)
        return s

    if n < 2**62:
        agree(f, X, np.int64(n))


def test_a_list_of_numbers_of_two_dtypes_is_an_array_of_the_larger() -> None:
    def f(x: Any) -> Any:
        y = np.array([x[0], 0.1])
        return np.sum(y * np.array([1.0, 2.0]))

    agree(f, X.astype(np.float32))


def test_names_of_the_user_that_programs_call() -> None:
    def f(x: Any, k: int) -> Any:
        bound, choose, plus, maximum = x[0], x[1], x[2], 2.0 * x[3]
        return np.sum(x[k:] * bound) + choose * x[k] + plus * np.sum(np.maximum(x, 0.3)) + maximum

    def g(x: Any, found: int) -> Any:
        return x[found] * 2.0

    for k in (1, -1, 7):
        agree(f, X, k)
        agree(g, X, k)


def test_names_of_the_user_that_calls_need() -> None:
    def f(x: Any, n: int) -> Any:
        cofactors = x * 2.0
        return np.linalg.det(cofactors) * n

    def g(cofactors: Any, n: int) -> Any:
        return np.linalg.det(cofactors) * n

    for h in (f, g):
        native = agree(h, np.eye(2) + 0.25, 3)
        assert why_not(native) is None and not bailed(native)


def test_more_subscripts_than_axes() -> None:
    def f(x: Any) -> Any:
        y = np.squeeze(x * 1.0)
        y[0] = 5.0
        return np.sum(y * y)

    for n in (1, 2):
        agree(f, X[:n])


def test_floating_point_errors_that_raise() -> None:
    def f(x: Any) -> Any:
        return np.sum(1.0 / x)

    x = np.array([1.0, 0.0])
    native = ad.grad(f, backend="native")
    for setting in ({"divide": "raise"}, {"all": "raise"}):
        with np.errstate(**setting), pytest.raises(FloatingPointError):  # type: ignore[arg-type]
            native(x)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(native(x), [-1.0, -np.inf])


def test_a_loop_that_is_left_early_checks_each_position() -> None:
    def f(x: Any) -> Any:
        s = x[0]
        for i in range(10**5):
            if x[i] > 1.0:
                break
            s = s * x[i]
        return s

    assert not bailed(agree(f, np.array([0.5, 0.25, 2.0])))
    agree(f, np.array([0.5, 0.25]))


def test_the_reason_for_numpy_code_is_logged(caplog: Any) -> None:
    ad.grad(lambda x: np.sum(x.astype(np.float16)), backend="native")(np.ones(3))
    assert "is NumPy code: astype gives float16" in caplog.text


def test_constants_of_several_calls() -> None:
    def f(y: Any) -> Any:
        a = np.sum(np.linspace(y[0], y[1], 4)) * 1.1
        return a + np.sum(np.insert(y, 1, 0.5)) * 0.5

    native = agree(f, X)
    assert why_not(native) is None and str(native.source()).count("native_ndarray") >= 2


def test_sums_over_all_axes_that_keep_them() -> None:
    def f(x: Any, s: Any) -> Any:
        m = np.outer(x, x)
        total = m.sum(keepdims=True) + m.mean(keepdims=True) * 2.0 + m.max(keepdims=True)
        return np.sum(total * s) + np.sum(m * s)  # the cotangent of `s` has one element

    for s in (np.ones((1, 1)), np.array([2.0]), np.ones((1, 4))):
        native = agree(f, X, s, argnums=(0, 1))
        assert why_not(native) is None and not bailed(native)


def one_after_the_first(v: Any, u: Any, n: int) -> Any:
    z = u * 2.0
    for _ in range(n):
        z = v * z[0]
    return np.sum(z * z)


def zeros_after_the_first(v: Any, u: Any, n: int) -> Any:
    z = u[:3]
    for _ in range(n):
        z = np.zeros(len(v)) + v[0]
    return np.sum(z * z)


def rows_after_the_first(v: Any, u: Any, n: int) -> Any:
    a = np.outer(u, u)
    while n > 0:
        a = v[:, None] * a[:1]
        n -= 1
    return np.sum(a * a * np.arange(1.0, a.size + 1.0).reshape(a.shape))


@pytest.mark.parametrize("f", [one_after_the_first, zeros_after_the_first, rows_after_the_first])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_an_axis_of_one_element_only_where_a_loop_has_iterations(f: Any, n: int) -> None:
    for v, u in ((X[:1], X), (X[:1], X[:2]), (X, X[:1]), (X[:2], X)):
        for transform in (ad.value_and_grad, ad.jacrev):
            agree(f, v, u, n, argnums=(0, 1), transform=transform)


def added_to_its_reverse(y: Any, c: float) -> Any:
    y = y.copy()
    y[:-1] += y[::-1][:-1] * c
    return np.sum(y * np.arange(len(y)))


def changed_by_its_reverse(y: Any, c: float) -> Any:
    y = y.copy()
    z = y[::-1]
    for _ in range(2):
        y[:-1] += np.tanh(y[:-1] / (1.5 + (z[:-1] * c) ** 2))
    return np.sum(y * np.arange(len(y)))


def rows_in_reverse(y: Any, c: float) -> Any:
    a = np.outer(y, y)
    a[1:, ::-1] += a[:-1] * c
    a[::-1][:, 1:] *= np.cos(a[:, :-1])
    return np.sum(a * y)


@pytest.mark.parametrize("f", [added_to_its_reverse, changed_by_its_reverse, rows_in_reverse])
@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_a_part_that_goes_down_begins_at_its_end(f: Any, n: int) -> None:
    """Its first place was taken for that in front of which it has no elements, and the loop read what it had stored."""
    agree(f, np.linspace(0.3, 0.9, n), 0.7)


def test_calls_with_equal_arrays() -> None:
    """Two arrays of weights that hold the same have the same name."""
    ndimage = pytest.importorskip("scipy.ndimage")

    def edges(x: Any) -> Any:
        return np.sum(np.hypot(ndimage.sobel(x, axis=0), ndimage.sobel(x, axis=1)))

    agree(edges, np.sin(np.arange(20.0)).reshape(4, 5))
