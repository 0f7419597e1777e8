"""Products of matrices that only the adjoint has are ``a.dot(b)``, which takes half as long to start.

For a matrix with strides, the last digits may differ from those of ``a @ b``: what the function itself computes stays,
unless both operands lie in one piece (`tests/analysis/test_layout.py`).
"""

import numpy as np
import pytest

import autodiff_compiler as ad


def chained(w, x):
    h = np.zeros(len(w))
    for row in x:
        h = np.tanh(w @ h + row)
    return np.sum(h)


ARGS = np.full((3, 3), 0.25), np.linspace(-1.0, 1.0, 12).reshape(4, 3)
TURNED = np.asfortranarray(ARGS[0]), ARGS[1]


def test_only_products_of_the_adjoint_are_printed_so():
    source = ad.value_and_grad(chained).source(*TURNED)
    assert "np.tanh(w @ h + x[i])" in source
    assert "_bar.dot(w)" in source and "w.dot(" not in source


def test_what_is_computed_again_is_printed_as_it_was():
    source = ad.value_and_grad(ad.checkpoint(chained)).source(*TURNED)
    assert source.count("np.tanh(x0 @ h") == 2 and "_bar.dot(x0)" in source
    ad.check_grads(ad.checkpoint(chained), ARGS)


def test_a_loop_over_stacks_keeps_the_operator():
    def stacks(w, x):
        for _ in range(3):
            x = np.sin(w @ x)
        return np.sum(x)

    args = np.full((2, 3, 3), 0.2), np.linspace(-1.0, 1.0, 12).reshape(2, 3, 2)
    assert ".dot(" not in ad.grad(stacks, argnums=1).source(*args)
    ad.check_grads(stacks, args)


@pytest.mark.parametrize("w", [ARGS[0].T, np.asfortranarray(ARGS[0]), np.ones((3, 6))[:, ::2], ARGS[0][::-1]])
def test_the_gradient_with_any_layout(w):
    ad.check_grads(chained, (w, ARGS[1]))
    assert ad.value_and_grad(chained)(w, ARGS[1])[0] == chained(w, ARGS[1])


def test_a_sign_stands_in_front_of_the_product():
    def f(w, x):
        h = x
        for _ in range(3):
            h = h - np.tanh(w @ h)
        return np.sum(h**2)

    source = ad.grad(f).source(ARGS[0], ARGS[1][0])
    assert "(-" not in source.split("# adjoint")[-1] and ").dot(" not in source
    ad.check_grads(f, (ARGS[0], ARGS[1][0]))


def test_a_part_of_the_columns_keeps_the_operator():
    """`dot` copies a matrix whose rows do not lie one after the other, which costs more than its shorter start."""

    def f(w, x):
        total = 0.0
        for k in range(1, 4):
            total = total + np.sum(np.tanh(w[:, :k] @ x[:k]) ** 2) + np.sum(np.tanh(w.T[:k] @ x) ** 2)
            total = total + np.sum(np.tanh(w[:k] @ x) ** 2)
        return total

    w, x = np.linspace(-1.0, 1.0, 16).reshape(4, 4), np.array([0.3, -0.2, 0.8, 0.5])
    lines = [line for line in ad.grad(f, argnums=1).source(w, x).splitlines() if "#" not in line]
    columns = [line for line in lines if "[:, :k]" in line or ".T[:k]" in line]
    assert columns and not any(".dot(w[:, :k]" in line or ".dot(w_T[:k]" in line for line in columns)
    ad.check_grads(f, (w, x))


def angle(x, y):
    return np.arctan2(-x @ y, -1.0)


def angles(x, y):
    total = 0.0
    for _ in range(2):
        total = total + np.sum(np.arctan2(-x @ y, -1.0))
    return total


@pytest.mark.parametrize("f", [angle, angles])
def test_the_function_s_products_keep_their_signs_in_front(f):
    """``-(x @ y)`` is -0.0 where ``(-x) @ y`` is 0.0: the angle is another one."""
    x, y = np.array([1.0, -1.0]), np.ones(2)
    for left in [x] if f is angle else [x, np.array([[1.0, -1.0], [2.0, -2.0]])]:
        assert ad.value_and_grad(f)(left, y)[0] == f(left, y)


def with_the_last_first(w, x):
    return w @ x[::-1]


def with_one_number(w, x):
    return w @ np.broadcast_to(x[0], x.shape)


def with_a_flipped_one(w, x):
    return np.flip(w) @ x


def of_either(w, x):
    v = x[::-1] if x[0] > 0.0 else x
    return v @ w


def of_what_a_loop_turns(w, x):
    y = x[::-1]
    for _ in range(2):
        w = w * (y @ w)
        y = w[::-1]
    return w @ y


@pytest.mark.parametrize(
    "f", [with_the_last_first, with_one_number, with_a_flipped_one, of_either, of_what_a_loop_turns]
)
def test_a_vector_that_is_read_backwards_is_not_copied(f):
    """``w.dot(x[::-1])`` copies the vector, and the last digits of the sum are others."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        w, x = rng.normal(size=(2, 37))
        assert ad.value_and_grad(f)(w, x)[0] == f(w, x)


def test_a_column_times_a_row_is_a_product_of_the_adjoint():
    def outputs(w, v, x):
        return np.sum(np.tanh(x @ w) @ v)

    args = np.full((3, 4), 0.25), np.linspace(-1.0, 1.0, 4).reshape(4, 1), np.linspace(-1.0, 1.0, 6).reshape(2, 3)
    source = ad.value_and_grad(outputs, (0, 1, 2)).source(*args)
    assert ".dot(v.T)" in source and "* v.T" not in source
    ad.check_grads(outputs, args)


CONSTANT_ROW = np.linspace(1.0, 2.0, 3)[None, :]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.longdouble])
def test_a_column_times_a_row_of_any_kind(dtype):
    def scaled(x, y):
        return np.sum(x[:, None] * CONSTANT_ROW * np.sin(x)[:, None] + x[:, None] * y[None, :] * np.cos(y)[None, :])

    x, y = np.linspace(0.1, 1.0, 4).astype(dtype), np.linspace(0.5, 1.5, 3).astype(dtype)
    found = ad.grad(scaled, (0, 1))(x, y)
    wide = [v.astype(np.float64) for v in (x, y)]
    for g, w in zip(found, ad.grad(scaled, (0, 1))(*wide), strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-5)
    ad.check_grads(scaled, wide)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 3), (3, 1), (1, 1), (5, 3), (2000, 2), (2, 2000)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sums_of_columns_in_the_adjoint(shape, dtype):
    def shifted(x, b):
        return np.sum(np.sin(x + b))

    x, b = np.ones(shape, dtype), np.linspace(0.0, 1.0, shape[1]).astype(dtype)
    found = ad.grad(shifted, 1)(x, b)
    assert found.dtype == dtype and found.shape == b.shape
    np.testing.assert_allclose(found, np.cos(1.0 + b) * shape[0], rtol=1e-5)
    for turned in (np.asfortranarray(x), np.ones((2 * shape[0], shape[1]), dtype)[::2]):
        np.testing.assert_allclose(ad.grad(shifted, 1)(turned, b), found, rtol=1e-5)
