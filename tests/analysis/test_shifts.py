"""What is subtracted and put back: where nothing is differentiated through a maximum, and where it has to be."""

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.analysis.shifts import shifts
from autodiff_compiler.frontend.lower import lower
from tests.differences import differences

X = np.random.default_rng(5).normal(size=(4, 3))
W = np.random.default_rng(6).normal(size=(3, 3))


# --- shifts ---------------------------------------------------------------------------------------------------------


def log_sum(x, w):
    m = np.max(x, axis=1)
    return np.sum((m + np.log(np.sum(np.exp(x - m[:, None]), axis=1))) ** 2)


def log_sum_with_axes_kept(x, w):
    m = x.max(axis=0, keepdims=True)
    return np.sum(np.exp(0.3 * (np.log(np.exp(x - m).sum(axis=0, keepdims=True)) + m)))


def log_sum_of_all(x, w):
    m = np.max(x)
    return m + np.log(np.mean(np.exp(x - m))) * 1.0


def shares(x, w):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return np.sum((e / np.sum(e, axis=-1, keepdims=True)) ** 2)


def shares_in_place(x, w):
    z = x @ w
    z -= np.max(z, axis=1, keepdims=True)
    e = np.exp(z)
    e /= np.sum(e, axis=1, keepdims=True)
    return np.sum(e * e)


def attention(x, w):
    scores = x @ w @ x.T / 0.7
    e = np.exp(scores - np.max(scores, axis=1)[:, None])
    return np.sum(((e @ x) / np.sum(e, axis=1)[:, None]) ** 2)


def soft_minimum(x, w):
    low = np.minimum(np.minimum(x[0], x[1]), x[2])
    total = np.exp((low - x[0]) / 0.3) + np.exp((low - x[1]) / 0.3) + np.exp((low - x[2]) / 0.3)
    return np.sum((low - 0.3 * np.log(total)) ** 2)


def soft_minimum_at_a_temperature(x, w):
    t = w[0, 0] ** 2 + 0.5
    low = np.min(x, axis=1)
    total = np.sum(np.exp((low[:, None] - x) / t), axis=1)
    return np.sum((low - t * np.log(total)) ** 2)


def in_a_loop(x, w):
    alpha = x[0]
    for i in range(1, len(x)):
        scores = alpha[:, None] + w
        m = np.max(scores, axis=0)
        alpha = m + np.log(np.sum(np.exp(scores - m), axis=0)) + x[i]
    m = np.max(alpha)
    return m + np.log(np.sum(np.exp(alpha - m)))


def root_of_shares(x, w):
    e = np.exp(x - np.max(x))
    return np.sum(np.sqrt(e) / np.sqrt(np.sum(e))) + np.sum(np.where(x > 0.0, e, 0.0)) / np.sum(e)


K = np.array([2, 0, 1, 2])


def cross_entropy(x, w):
    z = x @ w
    z = z - np.max(z, axis=1, keepdims=True)
    return np.mean(np.log(np.sum(np.exp(z), axis=1)) - z[np.arange(len(x)), K])


def cross_entropy_of_columns(x, w):
    z = x.T - np.max(x, axis=1)
    return np.sum((np.log(np.sum(np.exp(z), axis=0)) - z[K, np.arange(len(K))]) ** 2)


def cross_entropy_in_batches(x, w):
    total = 0.0
    for start in range(0, len(x), 3):
        stop = min(start + 3, len(x))
        z = x[start:stop] @ w
        z = z - np.max(z, axis=1, keepdims=True)
        total += np.sum(np.log(np.sum(np.exp(z), axis=1)) - z[np.arange(stop - start), K[start:stop]])
    return total


SHIFTS = [
    cross_entropy, cross_entropy_of_columns, cross_entropy_in_batches,
    log_sum, log_sum_with_axes_kept, log_sum_of_all, shares, shares_in_place, attention, soft_minimum,
    soft_minimum_at_a_temperature, in_a_loop, root_of_shares,
]  # fmt: skip


# --- no shifts ------------------------------------------------------------------------------------------------------


def not_put_back(x, w):
    m = np.max(x, axis=1)
    return np.sum(np.log(np.sum(np.exp(x - m[:, None]), axis=1)))


def put_back_twice(x, w):
    m = np.max(x, axis=1)
    return np.sum(2.0 * m + np.log(np.sum(np.exp(x - m[:, None]), axis=1)))


def not_divided(x, w):
    return np.sum(np.exp(x - np.max(x, axis=1, keepdims=True)) ** 2)


def one_is_added(x, w):
    e = np.exp(x - np.max(x))
    return np.sum(e / (1.0 + np.sum(e)))


def along_the_other_axis(x, w):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum((e / np.sum(e, axis=0)) ** 2)


def other_axes(x, w):
    m = np.max(w, axis=0)
    return np.sum(np.exp(w - m) / np.exp(w - m[:, None]))


def another_temperature(x, w):
    low = np.min(x, axis=1)
    total = np.sum(np.exp((low[:, None] - x) / 0.3), axis=1)
    return np.sum((low - 0.4 * np.log(total)) ** 2)


def used_beside(x, w):
    m = np.max(x)
    e = np.exp(x - m)
    return np.sum((e / np.sum(e)) ** 2) * m


def another_shift(x, w):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    e2 = np.exp(x - np.min(x, axis=1, keepdims=True))
    return np.sum(e / np.sum(e2, axis=1, keepdims=True))


def something_else_in_its_place(x, w):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    e = np.where(x > 0.0, e, 0.5)
    return np.sum((e / np.sum(e, axis=1, keepdims=True)) ** 2)


def a_part_is_stored(x, w):
    e = np.exp(x - np.max(x))
    y = np.ones_like(e)
    y[1:] = e[1:]
    return np.sum(y / np.sum(e))


def decides(x, w):
    m = np.max(x)
    e = np.exp(x - m)
    scale = np.where(np.sum(e) > 2.5, m, 1.0)
    return scale * np.sum((e / np.sum(e)) ** 2)


def carried(x, w):
    m = np.max(x)
    total = 0.0
    for i in range(len(x)):
        total = total * 0.5 + np.sum(np.exp(x[i] - m))
    return m + np.log(total + 1.0)


def hinge(x, w):
    return np.sum(np.exp(-np.maximum(x, 0.1)) * x)


def product_over_the_axis(x, w):
    e = np.exp(w - np.max(w, axis=1, keepdims=True))
    return np.sum((w @ e) / np.sum(e, axis=1))


def picked_elsewhere(x, w):
    z = x - np.max(x, axis=1, keepdims=True)
    return np.sum(np.log(np.sum(np.exp(z), axis=1)) - z[K, np.arange(4) % 3])


def picked_from_the_first_rows(x, w):
    z = x - np.max(x, axis=1, keepdims=True)
    return np.sum(np.log(np.sum(np.exp(z), axis=1)) - np.sum(z[np.arange(3), K[:3]]))


def one_is_picked(x, w):
    """The number of the first row is subtracted in each row."""
    z = x - np.max(x, axis=1, keepdims=True)
    return np.sum((np.log(np.sum(np.exp(z), axis=1)) - z[np.arange(1), K[:1]]) ** 2)


NO_SHIFTS = [
    picked_elsewhere, picked_from_the_first_rows, one_is_picked,
    not_put_back, put_back_twice, not_divided, one_is_added, along_the_other_axis, other_axes, another_temperature,
    used_beside, another_shift, something_else_in_its_place, a_part_is_stored, decides, carried, hinge,
    product_over_the_axis,
]  # fmt: skip


@pytest.mark.parametrize("f", SHIFTS + NO_SHIFTS)
def test_derivatives(f):
    for k, x in enumerate((X, W)):
        expected = differences(f, X, W, argnum=k)
        tolerance = {"rtol": 1e-5, "atol": 1e-7 * max(np.abs(expected).max(), 1.0)}
        np.testing.assert_allclose(ad.grad(f, argnums=k)(X, W), expected, **tolerance)
        np.testing.assert_allclose(ad.jacfwd(f, argnums=k)(X, W), expected, **tolerance)
        v = np.cos(np.arange(x.size)).reshape(x.shape)
        second = np.tensordot(v, differences(ad.grad(f, argnums=k), X, W, argnum=k), 2)
        tolerance["atol"] = 1e-6 * max(np.abs(second).max(), 1.0)
        found = ad.hvp(lambda x: f(x, W))(X, v) if k == 0 else ad.hvp(lambda w: f(X, w))(W, v)
        np.testing.assert_allclose(found, second, **tolerance)


@pytest.mark.parametrize("f", SHIFTS)
def test_shifts(f):
    body = lower(f, (X, W)).function.body
    extremes = [op for op in body.walk() if op.prim.name in ("np.max", "np.min", "np.minimum", "max")]
    inner = [op for op in extremes if any(op.result in other.operands() for other in extremes)]
    assert set(shifts(body)) == set(extremes) - set(inner)
    text = ad.grad(f, argnums=(0, 1)).source(X, W)
    assert "==" not in text and "sign" not in text, text


@pytest.mark.parametrize("f", NO_SHIFTS)
def test_no_shifts(f):
    assert f is another_shift or not shifts(lower(f, (X, W)).function.body)


def test_lengths_of_one():
    """An axis that happens to be one long is no axis along which the shift is known not to vary."""
    for n, k in ((1, 3), (3, 1), (1, 1), (2, 2)):
        x, w = X[:n, :k].copy(), W[:k, :k].copy()
        for f in (log_sum, log_sum_with_axes_kept, shares, shares_in_place, along_the_other_axis, not_divided):
            expected = differences(f, x, w)
            np.testing.assert_allclose(ad.grad(f)(x, w), expected, rtol=1e-5, atol=1e-7)


def test_nothing_overflows():
    x = 1000.0 * X
    found = ad.grad(log_sum_of_all, argnums=0)(x, W)
    expected = np.exp(x - x.max())
    np.testing.assert_allclose(found, expected / expected.sum())


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.exp(x - np.max(x), dtype=np.float64)),
        lambda x: np.sum(np.exp(x - np.max(x)), axis=0, initial=0.5).sum(),
        lambda x: np.sum(np.exp(x - np.max(x)), 0, None, None, True).sum(),
        lambda x: np.log(np.sum(np.exp(x - np.max(x)), where=x > 0.0)) + np.max(x),
        lambda x: np.max(np.exp(x - np.max(x, initial=0.0))),
        lambda x: np.sum(np.power(np.exp(x - np.max(x)), 2.0, where=True)),
        lambda x: np.log2(np.sum(np.exp(x - np.max(x)))) + np.max(x),
        lambda x: np.sum(np.where(np.exp(x - np.max(x)) > 0.5, x, 0.0)),
    ],
)
def test_calls_with_other_arguments(f):
    """They are no shifts. Some have no derivative rule, either."""
    assert not shifts(lower(f, (X,)).function.body)
    try:
        found = ad.grad(f)(X)
    except ad.errors.RuleLookupError:
        return
    np.testing.assert_allclose(found, differences(f, X), rtol=1e-5, atol=1e-6)
