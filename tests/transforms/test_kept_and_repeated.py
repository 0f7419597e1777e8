"""What a loop saves for the backward sweep: as little as is worth it, and the right values."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

V = np.array([0.3, 0.6, 0.2, 0.8])
M = np.arange(16.0).reshape(4, 4) / 20.0 + 0.5 * np.eye(4)


def kept(source: str) -> int:
    """How many values an iteration puts on lists, over all loops."""
    pushed = re.findall(r"saved\d*\.append\((.*)\)$", source, flags=re.MULTILINE)
    return sum(text.count(",") + 1 if text.startswith("(") else 1 for text in pushed)


def checked(f: Any, *args: Any) -> str:
    """The emitted source, if the gradient by the first argument is that by differences."""
    gradient = ad.grad(f)
    want = differences(f, *args, argnum=0)
    np.testing.assert_allclose(gradient(*args), want, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(gradient(*args), want, rtol=1e-5, atol=1e-7)
    return str(gradient.source(*args))


def logistic(x, r):
    for _ in range(3):
        x = r * x * (1.0 - x)
    return np.sum(x)


def midpoint(x, h):
    for _ in range(3):
        half = x + 0.5 * h * (x - x * x)
        x = x + h * (half - half * half)
    return np.sum(x * x)


def recurrent(w, x):
    h = np.zeros(4)
    for t in range(len(x)):
        h = np.tanh(w @ h + x[t])
    return np.sum(h * h)


def upwind(c, wind):
    for _ in range(3):
        c = c + np.maximum(wind, 0.0) * np.sin(c) - np.minimum(wind, 0.0) * c
    return np.sum(c * c)


def blurred(kernel, image):
    n, m = image.shape[0] - kernel.shape[0] + 1, image.shape[1] - kernel.shape[1] + 1
    out = np.zeros((n, m))
    for i in range(kernel.shape[0]):
        for j in range(kernel.shape[1]):
            out += kernel[i, j] * image[i : i + n, j : j + m]
    return np.sum(out**2)


def substitution(y, a):
    z = y.copy()
    for j in range(len(y) - 1):
        z[j + 1 :] -= z[j] * a[j + 1 :, j]
    return np.sum(z * z)


def orthogonal(a):
    q = np.zeros_like(a)
    for j in range(a.shape[1]):
        v = a[:, j] - q[:, :j] @ (q[:, :j].T @ a[:, j])
        q[:, j] = v / np.sqrt(v @ v)
    return np.sum(q[0] * q[1]) + q[2, 3]


@pytest.mark.parametrize(
    "f, args, most",
    [
        (logistic, (V, 3.2), 1),
        (midpoint, (V, 0.1), 2),
        (recurrent, (M, np.ones((5, 4))), 1),
        (upwind, (V, np.array([1.0, -1.0, 0.5, -0.5])), 1),
        (blurred, (M[:2, :2], np.arange(30.0).reshape(5, 6)), 0),
        (substitution, (V, M), 2),
        (orthogonal, (M,), 3),
    ],
)
def test_values_that_are_kept(f: Any, args: Any, most: int) -> None:
    source = checked(f, *args)
    assert kept(source) <= most, source
    assert "sum_to" not in source, source


def test_what_no_loop_changes_is_computed_once() -> None:
    source = checked(upwind, V, np.array([1.0, -1.0, 0.5, -0.5]))
    *_, backward = re.sub(" *#.*", "", source).split("reversed(")
    assert "np.maximum" not in backward and "np.sign" not in backward, source


def test_an_outer_product_is_collected() -> None:
    source = checked(recurrent, M, np.ones((5, 4)))
    assert "[:, None]" not in source and ".T.dot(" in source, source


def accumulated(w, x):
    """The sum of outer products is read in the loop: it stays there."""
    total = np.zeros((4, 4))
    s = 0.0
    for t in range(len(x)):
        total = total + x[t][:, None] * (w @ x[t])
        s = s + np.sum(total * total)
    return s


def test_a_sum_that_is_read_in_the_loop() -> None:
    checked(accumulated, M, np.arange(12.0).reshape(3, 4) / 7.0)


def maybe(x, n):
    """`t` has a value only where the loop runs."""
    if n > 2:
        t = 2.0 * x[0]
    s = 0.0
    for i in range(n - 2 if n > 2 else 0):
        s = s + np.sin(t * 3.0) * x[i]
    return s + x[1]


@pytest.mark.parametrize("n", [1, 5])
def test_what_may_have_no_value_is_not_computed_ahead(n: int) -> None:
    checked(maybe, V, n)
    np.testing.assert_allclose(
        ad.hessian(maybe)(V, n), differences(lambda x: ad.grad(maybe)(x, n), V), rtol=1e-5, atol=1e-7
    )


def columns_behind(a):
    """An iteration reads a column that the next one stores: it is not read from the finished array."""
    a = a.copy()
    for j in range(a.shape[1] - 1):
        a[:, j] = np.sin(a[:, j + 1]) * a[:, j]
    return np.sum(a * a)


def columns_before(a):
    a = a.copy()
    for j in range(1, a.shape[1]):
        a[:, j] = np.sin(a[:, j - 1]) * a[:, j]
    return np.sum(a * a)


def rows_and_columns(a):
    a = a.copy()
    for j in range(1, a.shape[1]):
        a[j, j] = np.sin(a[j - 1, j]) * a[j, j - 1]
        a[j - 1, j] = a[j, j] * a[j - 1, j]
    return np.sum(a * a)


def backwards(a):
    a = a.copy()
    for j in range(a.shape[1] - 2, -1, -1):
        a[:, j] = np.cos(a[:, j + 1]) * a[:, j] + np.sum(a[:, j + 1 :] ** 2)
    return np.sum(a * a)


@pytest.mark.parametrize("f", [columns_behind, columns_before, rows_and_columns, backwards])
def test_columns_that_are_filled_in_order(f: Any) -> None:
    checked(f, M)


def window(x, k, n):
    s = 0.0
    for i in range(k):
        part = x[i : i + n]
        s = s + np.sum(part * np.sin(x[:n])) if len(part) == n else s + np.sum(part)
    return s


def weighted(x, y):
    out = np.zeros(len(x) - len(y) + 1)
    for i in range(len(y)):
        out = out + x[i : i + len(out)] * y[i]
    return np.sum(out * out)


@pytest.mark.parametrize("shapes", [(6, 3), (9, 2), (5, 5), (4, 4), (3, 1), (7, 3)])
def test_other_lengths(shapes: tuple[int, int]) -> None:
    """One function for all of them: where a slice leaves its axis, the code is another one."""
    n, k = shapes
    x, y = np.linspace(0.1, 0.9, n), np.linspace(-1.0, 1.0, k)
    got = GRADIENT(x, y)
    for a, argnum in zip(got, (0, 1)):
        np.testing.assert_allclose(a, differences(weighted, x, y, argnum=argnum), rtol=1e-5, atol=1e-7)


GRADIENT = ad.grad(weighted, argnums=(0, 1))


def clipped(x, n):
    """The slices of the last iterations are shorter than the others."""
    s = np.zeros(3)
    for i in range(n):
        part = x[i : i + 3]
        s = s + np.pad(part * part, (0, 3 - len(part)))
    return np.sum(s * s)


@pytest.mark.parametrize("n", [2, 4])
def test_slices_that_are_cut_off(n: int) -> None:
    checked(clipped, V, n)


def broadcast(x, y):
    """One operand has one element in the last iteration, and is repeated."""
    s = np.zeros(4)
    for i in range(len(x)):
        s = s + x[i : i + 1] * y + np.sum(x[i:] * x[i])
    return np.sum(s * s)


def test_a_slice_of_one_element() -> None:
    checked(broadcast, V, np.ones(4))


def swapped(x, n):
    a, b = x, 2.0 * x
    for _ in range(n):
        a, b = b, a * np.sin(b)
    return np.sum(a * b)


def test_values_that_are_handed_on_are_saved_once() -> None:
    source = checked(swapped, V, 4)
    assert kept(source) <= 3, source


def shortened(w, x, n):
    h = np.zeros(4)
    for _ in range(n - 3):
        h = np.tanh(w @ h + x)
    return np.sum(h * x) + np.sum(w)


@pytest.mark.parametrize("n", [6, 3, 2])
def test_a_range_that_ends_before_it_starts(n: int) -> None:
    checked(shortened, M, V, n)


def crossed(a, b, n):
    s = 0.0
    for _ in range(n):
        s = s + a * b
        a, b = np.sin(b), np.cos(a)
    return s


def chained(a, b, n):
    s = 0.0
    for _ in range(n):
        a = a * b
        b = np.tanh(a)
        s = s + a * b
    return s


def nested(a, b, n):
    for _ in range(n):
        for _ in range(2):
            a = np.sin(a) * b
        b = a * b
    return a + b


def older(a, b, n):
    c = a
    for _ in range(n):
        c, a = np.exp(a) * 0.1, c * a * b
    return a + c


@pytest.mark.parametrize("f", [crossed, chained, nested, older])
@pytest.mark.parametrize("n", [0, 1, 4])
def test_what_an_iteration_hands_on(f: Any, n: int) -> None:
    for k in (0, 1):
        gradient = ad.grad(f, k)
        assert gradient(0.7, 0.9, n) == pytest.approx(float(differences(f, 0.7, 0.9, n, argnum=k)), rel=1e-5)
        second = ad.grad(gradient, k)(0.7, 0.9, n)
        assert second == pytest.approx(float(differences(gradient, 0.7, 0.9, n, argnum=k)), rel=1e-4, abs=1e-7)


def sweeps(m, b, n):
    x = b / np.diag(m)
    for _ in range(n):
        x = x + (b - m @ x) / np.diag(m)
    return np.sum(x * x)


def test_an_outer_product_that_is_taken_away_is_collected() -> None:
    m = np.array([[4.0, 1.0, 0.5], [0.3, 5.0, 1.0], [0.2, 0.7, 3.0]])
    b = np.array([1.0, -2.0, 0.5])
    assert "columns.T.dot(rows)" in str(ad.grad(sweeps).source(m, b, 4))
    ad.check_grads(lambda m, b: sweeps(m, b, 4), (m, b), order=2)


def damped(u, v, n):
    u = u.copy()
    for _ in range(n):
        u -= 0.1 * v
        u /= 1.0 + v * np.abs(u)
        v = v + 0.5 * u * v
    return np.sum(u * v)


def spread_out(u, v, n):
    u = u.copy()
    for _ in range(n):
        u[...] = 0.1 * v[0]
        u[:] = u * v[1] + u
        v = v + u * v
    return np.sum(u * v)


def narrow(u, v, n):
    u = u.astype(np.float32)
    for _ in range(n):
        u *= 1.0 + v
        v = v + 0.5 * u * v
    return np.sum(u * v)


def test_outer_products_in_a_sum_that_is_handed_on_twice():
    """The cotangents of `a` and `c` are one matrix, and the next iteration reads it as that of `c`."""

    def f(m, x):
        a, c = m, 0.5 * m
        for _ in range(5):
            a = a + c
            c = m
            x = np.tanh(a @ x)
        return np.sum(a * a) + np.sum(x)

    checked(f, 0.3 * M, V)


def test_what_is_stored_over_all_of_an_array_is_computed_again():
    u, v = np.array([0.3, -0.2, 0.5]), np.array([0.2, 0.4, -0.1])
    for fn in (damped, spread_out):
        value, gradient = ad.value_and_grad(fn, argnums=(0, 1))(u, v, 3)
        assert value == fn(u, v, 3)
        assert gradient[0] == pytest.approx(differences(lambda u, fn=fn: fn(u, v, 3), u), rel=1e-6, abs=1e-8)
        assert gradient[1] == pytest.approx(differences(lambda v, fn=fn: fn(u, v, 3), v), rel=1e-6, abs=1e-8)
    (line,) = [line for line in ad.grad(damped, argnums=(0, 1)).source(u, v, 3).splitlines() if ".append(" in line]
    assert line.count(",") == 1  # the two arrays that the stores start from
    found = ad.grad(narrow, argnums=1)(u, v, 3)
    plain = ad.grad(narrow, argnums=1, optimize="-recompute")(u, v, 3)
    assert found == pytest.approx(plain, rel=1e-6)


def errors_of_a_network(h, W, V, y):
    loss = 0.0
    for t in range(3):
        h = np.tanh(h @ W)
        loss += np.mean((h @ V - y[t]) ** 2)
    return loss


def test_nothing_is_kept_for_its_size():
    args = M[:2], M, M[:, :3], np.ones((3, 2, 3))
    source = checked(errors_of_a_network, *args)
    assert kept(source) == 2  # the error, and what the hidden layer has become
    assert "h.shape[0] * V.shape[1]" in source
    for k in (1, 2, 3):
        moved = differences(errors_of_a_network, *args, argnum=k)
        np.testing.assert_allclose(ad.grad(errors_of_a_network, argnums=k)(*args), moved, rtol=1e-5, atol=1e-7)


def roots(x, c):
    total = 0.0
    for _ in range(3):
        root = np.sqrt(np.maximum(x, 0.0) * c)
        x = x + 0.1 * np.sin(x) * root
        total += np.sum(root)
    return total


def test_a_root_is_kept():
    lines = checked(roots, V, 0.5).splitlines()
    assert sum("np.sqrt" in line and "#" not in line for line in lines) == 1


def gated(h, U, V):
    total = 0.0
    for _ in range(4):
        h2 = np.tanh(h @ U) * h
        total += np.sum((h2 @ V) ** 2)
        h = h2
    return total


def test_what_is_handed_on_is_neither_kept_twice_nor_computed_again():
    args = M, 0.5 * M, M.T + 0.0
    gradient = ad.grad(gated, argnums=(0, 1, 2))
    source = gradient.source(*args)
    assert kept(source) == 3  # h, the hyperbolic tangent and the product
    assert "h.T.dot(" in source
    assert source.count("tanh_h_U * h") == 1
    for k, found in enumerate(gradient(*args)):
        np.testing.assert_allclose(found, differences(gated, *args, argnum=k), rtol=1e-5, atol=1e-7)


def exchanged(a, b):
    total = 0.0
    for _ in range(3):
        a, b = b * np.sin(a), np.cos(b) * a
        total += np.sum(a * b)
    return total + np.sum(a)


def left(a, b):
    for k in range(5):
        c = a * np.sin(b)
        a = c * c + b
        if a[0] > 1.0:
            break
        b = c
    return np.sum(a * b)


def stored_into(a, b):
    total = 0.0
    for k in range(3):
        c = a * np.sin(b)
        total += np.sum(c * c)
        a = c
        a[k] = 2.0
    return total + np.sum(a)


@pytest.mark.parametrize("f", [exchanged, left, stored_into])
def test_what_is_handed_on(f):
    for k in (0, 1):
        moved = differences(f, V, V + 1.0, argnum=k)
        np.testing.assert_allclose(ad.grad(f, argnums=k)(V, V + 1.0), moved, rtol=1e-5, atol=1e-7)
        plain = ad.grad(f, argnums=k, optimize=False)(V, V + 1.0)
        np.testing.assert_allclose(ad.grad(f, argnums=k)(V, V + 1.0), plain, rtol=1e-12, atol=1e-14)


def uncommented(source: str) -> str:
    return "\n".join([line.split("#")[0] for line in source.splitlines()])


def mixed(x, w):
    for _ in range(4):
        gate = 1.0 / (1.0 + np.exp(-x @ w))
        x = np.tanh(x @ w) * gate + x * (1.0 - gate)
    return np.sum(x * x)


def test_a_gate_is_kept_beside_its_exponential() -> None:
    """The derivative of ``1 / d`` reads the reciprocal alone, which costs more to compute again than to keep."""
    source = checked(mixed, M, 0.5 * M)
    assert uncommented(source).count("1.0 / (1.0 + ") == 1 and "finite(" in source


def rows_of(paths, normals, rho):
    v = np.full(normals.shape[2], 0.1)
    for t in range(normals.shape[1]):
        w = rho * normals[0, t] + np.sqrt(1.0 - rho**2) * normals[1, t]
        v = v + np.sqrt(v * v + 0.1) * w
    return np.sum(v) * np.sum(paths)


def test_three_operations_on_rows_are_not_repeated() -> None:
    """Rows of a matrix are shorter than vectors that are arguments."""
    source = checked(lambda n, rho: rows_of(1.0, n, rho), np.random.default_rng(1).normal(size=(2, 3, 4)), 0.3)
    assert uncommented(source).count("rho * ") == 1


def stencil(u, steps):
    for _ in range(steps):
        bend = u[2:] - 2.0 * u[1:-1] + u[:-2]
        slope = 0.5 * (u[2:] - u[:-2])
        u[1:-1] = u[1:-1] + 0.2 * (0.1 * bend - u[1:-1] * slope)
    return np.sum(u * u)


def test_little_more_is_kept_and_not_several_times_as_much() -> None:
    source = ad.grad(stencil).source(V, 3)
    assert kept(source) == 1, source


def drifting(y, k, steps):
    for _ in range(steps):
        bend = (-k * y - y) * y
        y = y - 0.1 * bend * bend
    return np.sum(y * y)


def test_a_vector_as_long_as_an_argument_is_no_row() -> None:
    """A second array would be as much memory again."""
    source = checked(lambda y, k: drifting(y, k, 3), V, V[::-1].copy())
    assert kept(source) == 1, source
