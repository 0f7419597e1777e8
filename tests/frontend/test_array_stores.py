"""Everything that writes into an array: functions, methods, attributes, reshaped views, in arrays of any layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences
from tests.frontend.test_demand import check

M = np.cos(np.arange(12.0)).reshape(3, 4) * 1.7 + 0.31
S = M[:, :3].copy()
V = np.array([0.7, 1.3, 2.1, 0.4])
W = np.sin(np.arange(12.0) + 1).reshape(3, 4)


def rows(x):
    a = x * 1.0
    for i, (r, q) in enumerate(zip(a, x * 2.0)):
        r[i] = q[0] * r[1]
        q *= 2
    for row in a:
        row[0] = row[1] * 2
        row += 1
    return np.sum(a * a)


def rows_of_argument(x):
    for row in x:
        row[0] = row[1] * 2
    return np.sum(x * x)


def reshaped(x):
    a = x * 2
    y = a.reshape(2, 6)
    y[0] = 5.0 * x[0, 0]
    y[1] *= y[1, 2]
    return np.sum(a * a * W)


def raveled_argument(x):
    y = x.ravel()
    y[0] = 5.0
    y[1] *= y[2]
    return np.sum(x * x * np.sum(y * y))


def reshaped_argument(x):
    y = x[1:].reshape(-1)
    y[1] = y[0] * y[2]
    return np.sum(x * x)


def reshaped_transposed(x):
    a = np.exp(x)
    y = a.T.reshape(-1)
    y[0] = 5.0
    return np.sum(a * a * W) + np.sum(y * y)


def reshaped_mixture(x):
    a = np.where(x > 0.5, x, x[0] * x[:, :1]) + np.cumsum(x, axis=1)
    b = np.concatenate([a, a * 2]).sum(axis=0, keepdims=True) * a
    y = b.reshape(4, 3)
    y[1] *= x[0, :3]
    return np.sum(b * a * W)


def flat(x):
    a = x.copy()
    a.flat[0] = 3.0 * x[1, 1]
    a.flat[::5] = x[0, 0]
    a.reshape(-1)[::4] *= 2
    a.T.flat[1] *= x[2, 2]
    s = 0.0
    for v in a.flat:
        s += v * v
    b = x * 2
    b.flat = x[0]
    return s + a.flat[2] * np.sum(b * W)


def views(x):
    a = x.copy()
    e = np.expand_dims(a, 0)
    e[0, 0, 1] = 4.0 * x[0, 0]
    s = np.squeeze(e, 0)
    s[1, 1] *= 2
    t = np.swapaxes(a, 0, 1)
    t[0, 2] = t[1, 1]
    m = np.moveaxis(a, 0, 1)
    m[1] *= 2
    a[None][0, 0] += 1
    return np.sum(a * a * W)


def sorted_in_place(x):
    a, b, c = x * np.cos(x), x * np.sin(x), x[0] * x[1]
    a.sort()
    b.sort(axis=0)
    c.partition(1)
    return np.sum(a * W) + np.sum(b * W**2) + c[0] * 3 + c[1] ** 2


def copied_to(x):
    a = np.zeros((3, 4))
    np.copyto(a, x)
    np.copyto(a, x * 2, where=W > 0)
    np.copyto(a[0], x[1])
    c = np.zeros(4)
    c.fill(x[0, 0])
    return np.sum(a * a * W) + np.sum(c * c)


def put(x):
    a = x * 1.0
    np.put(a, [0, 5, 7], [x[0, 0] * 3, x[1, 1]])
    np.place(a, W > 0.4, [x[0, 1] * 2, x[0, 2]])
    np.putmask(a, W < -0.4, x * 3)
    np.putmask(a, W < -0.9, x[1, :3])
    a.put([1], x[2, 2])
    return np.sum(a * a * W)


def diagonals(x):
    a, b, c = x.copy(), x[:, :3].copy(), x[:, :2].copy()
    np.fill_diagonal(a, x[0, 1] * 2)
    np.fill_diagonal(b, x[0, :3] ** 2)
    np.fill_diagonal(c, x[2])
    return np.sum(a * a * W) + np.sum(b * b) + np.sum(c * c)


def along_axis(x):
    a, b = x * 1.0, x * 2.0
    np.put_along_axis(a, np.array([[0], [1], [2]]), x[:, :1] * 3, axis=1)
    np.put_along_axis(b, np.array([[0, 2, 1, 1]]), x[:1] ** 2, axis=0)
    return np.sum(a * a * W) + np.sum(b * b * W)


def ufunc_at(x):
    a = x[0] * 1.0
    np.add.at(a, [0, 0, 1], x[1, :3])
    np.subtract.at(a, [0, 2], x[1, 2:])
    np.multiply.at(a, [0, 0, 1], x[1, :3] + 2)
    np.divide.at(a, [3, 3], x[1, 1] + 3)
    np.maximum.at(a, [0, 0, 1], x[2, :3])
    np.minimum.at(a, slice(2, 4), x[2, :2])
    np.negative.at(a, [0, 0, 0])
    np.power.at(a, np.array([True, False, False, False]), 2)
    return np.sum(a * a * W[0])


def shape_set(x):
    a = x * 1.0
    b = a
    a.shape = (2, 6)
    b[0, 5] = 3.0 * x[0, 0]
    c = x.copy()
    c.shape = 12
    return np.sum(a * b) + c[7] ** 2 + a.shape[1]


def where_and_out(x):
    a = np.ones((3, 4))
    np.sqrt(x - 0.5, where=x > 0.5, out=a)
    np.divide(a, x, out=a, where=W > 0.2)
    np.add(a, x[0], out=a, where=np.array([True, False, True, False]))
    b = np.log(x, out=np.zeros_like(x), where=x > 0.1)
    return np.sum(a * a * W) + np.sum(b * x)


def real_and_imag(x):
    z = x + 1j * x * x
    z.imag = 3 * z.imag
    z.real = z.real * 2 + z.imag
    return np.sum(np.abs(z) ** 2 * W)


def swapped(x):
    u, v = x * 1.0, np.empty_like(x)
    for _ in range(4):
        v[:, 1:-1] = 0.5 * (u[:, :-2] + u[:, 2:]) * u[:, 1:-1]
        v[:, 0] = u[:, 0]
        v[:, -1] = u[:, -1]
        u, v = v, u
    return np.sum(u * u)


def overlapping(x):
    a = x.copy()
    a[1:] = a[:-1]
    a[1:] += a[:-1]
    a[:-1] *= a[1:]
    a[::-1] += a
    a[:, 1:-1] = a[:, 1:-1] * a[:, 1:-1] + 0.1 * a[:, :-2]
    return np.sum(a * a * W)


PROGRAMS = [rows, rows_of_argument, reshaped, raveled_argument, reshaped_argument, reshaped_transposed]
PROGRAMS += [reshaped_mixture, flat, views, sorted_in_place, copied_to, put, diagonals, along_axis, ufunc_at]
PROGRAMS += [shape_set, where_and_out, real_and_imag, swapped, overlapping]


@pytest.mark.parametrize("f", PROGRAMS)
def test_stores(f: Any) -> None:
    check(f, M)


@pytest.mark.parametrize("f", PROGRAMS)
def test_stores_in_context(f: Any) -> None:
    def program(x, c):
        s = 0.0
        for k in range(2):
            if c > k:
                s += f(x * (1 + 0.01 * k))
            else:
                y = x * x
                y[0, 0] = s
                s = s + np.sum(y)
        return s

    check(program, M, 0.5, second=False)


@pytest.mark.parametrize("layout", ["C", "F", "strided", "turned"])
@pytest.mark.parametrize("f", [*PROGRAMS[:9], overlapping])
def test_layouts(f: Any, layout: str) -> None:
    """Whether a reshape is a view depends on the layout in memory; so does what a store through it changes."""

    def laid_out(x: Any) -> Any:
        big = np.zeros((6, 8))
        out = {"C": np.empty((3, 4)), "F": np.empty((3, 4), order="F"), "strided": big[::2, 1::2]}.get(layout)
        out = np.empty((4, 3)).T[::-1] if out is None else out
        out[...] = x
        return out

    g = ad.grad(f)
    x = laid_out(M)
    try:
        got = g(x)
    except ad.AliasError:
        assert layout != "C"
        return
    want = np.zeros_like(M)
    for k in np.ndindex(M.shape):
        step = np.zeros_like(M)
        step[k] = 1e-6
        want[k] = (f(laid_out(M + step)) - f(laid_out(M - step))) / 2e-6
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(x, M)


def test_one_gradient_for_all_layouts() -> None:
    g = ad.grad(raveled_argument)
    for x in (M, np.asfortranarray(M), M.copy(), np.asfortranarray(M)):
        f_order = x.flags.f_contiguous

        def f(y: Any, f_order: bool = f_order) -> Any:
            return raveled_argument(np.asfortranarray(y) if f_order else y.copy())

        np.testing.assert_allclose(g(x), differences(f, M), rtol=1e-6, atol=1e-8)


def test_adjoint_of_a_reshaped_fortran_array() -> None:
    """The cotangent of an array in Fortran order is in Fortran order too, where a reshape is a copy."""

    def f(x):
        y = x.copy().reshape(-1)
        s = 0.0
        for i in range(11):
            s += y[i] * y[i + 1]
        return s

    check(f, np.asfortranarray(M))
    np.testing.assert_allclose(ad.grad(f)(np.asfortranarray(M)), ad.grad(f)(M))


def test_read_only_results_raise_as_in_numpy() -> None:
    def broadcast(x):
        b = np.broadcast_to(x, (2, 4))
        b[0, 0] = 1.0
        return np.sum(b)

    def diagonal(x):
        b = np.diagonal(np.outer(x, x))
        b[0] = 1.0
        return np.sum(b)

    for f in (broadcast, diagonal):
        with pytest.raises(ValueError, match="read-only"):
            f(V)
        with pytest.raises(ValueError, match="read-only"):
            ad.grad(f)(V)


def test_uninitialised_rest_is_refused() -> None:
    with pytest.raises(ad.UnsupportedError, match="uninitialised"):
        ad.grad(lambda x: np.sum(np.log(x, where=x > 1)))(V)


def test_flat_is_no_array() -> None:
    """``y *= 2`` makes a new array of ``y = a.flat``, and changes nothing in `a`."""

    def f(x):
        y = x.flat
        y *= np.float64(2.0)
        return np.sum(x) + np.sum(y)

    with pytest.raises(ad.UnsupportedError, match="flat is not supported as a value"):
        ad.grad(f)(M)


def test_numbers_of_numpy_read_through_masks():
    def masked(x):
        y = np.square(x)
        large = y > 1.0
        return np.sum(y[large] * x) + np.sum(y[~large])

    def stored(x):
        root = np.sqrt(np.asarray(x) ** 2 + 1.0)
        out = np.empty_like(root)
        zero = np.isclose(root, 0.0)
        out[~zero] = np.arctan(root[~zero])
        out[~zero] += 2.0 * root[~zero]
        out[zero] = 0.0
        return out * x

    for f in (masked, stored):
        for x in (2.0, 0.5, -1.5):
            ad.check_grads(f, (x,), order=2)
            assert ad.grad(f)(x) == pytest.approx(differences(f, x), rel=1e-6)


def test_stores_into_an_array_without_axes_that_branches_read():
    def steep(x, c):
        root = np.sqrt(x * 2.0)
        if c > -1.5:
            b = np.empty_like(root)
            b[root > 0.0] = np.sin(root)
            b[root > 5.0] = 0.0
        else:
            b = np.zeros(())
            b[...] = x
        s = np.tan(b)
        if c > 0:
            s = np.sin(b)
        if c < 2.0:
            return s * np.cos(b)
        return s + 1

    def repeated(x, c):
        b = np.zeros(())
        b[...] = x * c
        s = 0.0
        for k in range(3):
            if k > 0:
                s = s + np.sin(b) * c
            b[b > 0.0] = np.cos(b) * x
        return s

    for f in (steep, repeated):
        for c in (-2.0, -1.0, 1.0, 3.0):
            assert ad.grad(f)(0.7, c) == pytest.approx(differences(f, 0.7, c), rel=1e-6, abs=1e-9)
