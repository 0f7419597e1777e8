"""A cotangent that is zero for sure stays zero through an infinite partial; one that happens to be zero does not.

The gradients are compared with one-sided differences, as zero is at the edge of the domain.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import autodiff_compiler as ad

X = np.array([0.0, 0.25, 4.0])
W = np.array([0.0, 1.0, 2.0])
MASK = np.array([False, True, True])
NAN = np.array([np.nan, 1.0, 2.0])


def loop_of_weights(x):
    s = 0.0
    for i in range(3):
        s += W[i] * np.sqrt(x[i])
    return s


def loop_over_parts(x):
    y = np.sqrt(x)
    s = 0.0
    for i in range(1, 3):
        s += y[i]
    return s


def overwritten(x):
    y = np.sqrt(x)
    y[0] = 3.0
    return np.sum(y * y)


def overwritten_part(x):
    y = np.sqrt(np.concatenate((x, x)))
    y[:1] = x[1]
    y[3:4] *= 0.0
    return np.sum(y[1:] * y[1])


def condition_of_a_number(x):
    y = math.sqrt(x[0])
    if x[1] < 0:
        s = y
    else:
        s = x[1] * 3.0
    return s + x[2]


FUNCTIONS = {
    "mask": lambda x: np.sum(np.sqrt(x) * MASK),
    "weights": lambda x: np.sum(np.sqrt(x) * W),
    "matmul": lambda x: W @ np.sqrt(x),
    "dot": lambda x: np.dot(np.sqrt(x), W),
    "einsum": lambda x: np.einsum("i,i->", np.sqrt(x), W),
    "average": lambda x: np.average(np.sqrt(x), weights=W),
    "outer weights": lambda x: np.sum(np.sqrt(np.multiply.outer(x, np.ones(2))) * W[:, None]),
    "negative": lambda x: -np.sum(-np.sqrt(x) * W),
    "scaled": lambda x: np.sum(2 * np.sqrt(x) / 3 * (W / 3)),
    "slice": lambda x: np.sqrt(x)[1:].sum(),
    "slice, squared": lambda x: (np.sqrt(x)[1:] ** 2).sum(),
    "places": lambda x: (np.sqrt(x)[[1, 2, 1]] * W[[1, 1, 2]]).sum(),
    "largest": lambda x: np.sqrt(x)[np.argmax(x)],
    "max": lambda x: np.max(np.sqrt(x)),
    "clip": lambda x: np.sum(np.clip(np.sqrt(x), 0.1, 9)),
    "maximum": lambda x: np.sum(np.maximum(np.sqrt(x), 0.1)),
    "joined": lambda x: np.concatenate((np.sqrt(x)[1:], x)).sum(),
    "transposed": lambda x: np.sum(np.sqrt(np.stack((x, x)).T)[1:]),
    "reshaped": lambda x: np.sum(np.sqrt(x).reshape(3, 1)[1:, 0] * x[1:]),
    "power": lambda x: np.sum(x**0.5 * W),
    "powers": lambda x: np.sum(x ** np.array([0.3, 0.5, 1.5]) * W),
    "arcsin": lambda x: np.sum(np.arcsin(1 - x * 0.2) * W),
    "arccos": lambda x: np.sum(np.arccos(1 - x * 0.2) * W),
    "arccosh": lambda x: np.sum(np.arccosh(1 + x) * W),
    "cbrt": lambda x: np.sum(np.cbrt(x) * W),
    "norm": lambda x: W[0] * np.linalg.norm(x[:1]) + x[1] * 2 + x[2],
    "hypot": lambda x: np.sum(np.hypot(x, 0.0) * W),
    "number": lambda x: 0.0 * math.sqrt(x[0]) + W[0] * math.sqrt(x[0]) + x[1] ** 2,
    "zero times root": lambda x, k=0.0: k * np.sqrt(x[0]) + x[1],
    "nan in data": lambda x: np.nansum(x * NAN),
    "where and nan": lambda x: np.sum(np.where(np.isnan(NAN), 0.0, x * NAN)),
    "log, part": lambda x: np.sum(np.log(x)[1:]),
    "quotient, part": lambda x: np.sum((1 / x)[1:] + (x / x)[1:]),
    "loop of weights": loop_of_weights,
    "loop over parts": loop_over_parts,
    "overwritten": overwritten,
    "overwritten part": overwritten_part,
    "condition of a number": condition_of_a_number,
}


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def ahead(f, x, step=1e-7):
    return np.array([(f(x + step * e) - f(x)) / step for e in np.eye(3)])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_zero_stays_zero(name):
    f = FUNCTIONS[name]
    if "part" in name or name.startswith("overwritten"):
        assert np.isfinite(f(X)) or name in ("log, part", "quotient, part")
    np.testing.assert_allclose(ad.grad(f)(X), ahead(f, X), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "loop over parts"])
def test_in_a_loop(name):
    f = FUNCTIONS[name]

    def g(x):
        s = 0.0
        for k in range(2):
            s = s + (k + 1) * f(x)
        return s

    np.testing.assert_allclose(ad.grad(g)(X), 3 * ad.grad(f)(X), rtol=1e-12)


@pytest.mark.parametrize("name", ["mask", "weights", "matmul", "slice", "power", "overwritten"])
def test_second_order(name):
    f = FUNCTIONS[name]
    found = ad.grad(lambda x: np.sum(ad.grad(f)(x)))(X)
    away = X + np.array([0.5, 0.0, 0.0])
    want = [(ad.grad(f)(away + h)[k] - ad.grad(f)(away - h)[k]) / 2e-6 for k, h in enumerate(1e-6 * np.eye(3))]
    np.testing.assert_allclose(found, [0.0, *want[1:]], rtol=1e-4, atol=1e-6)


def test_where_takes_the_branch():
    for f, want in (
        (lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0)), [0, 1, 0.25]),
        (lambda x: np.sum(np.sqrt(x)[x > 0]), [0, 1, 0.25]),
        (lambda x: np.sum(np.where(x > 0, x * np.log(x), 0)), [0, *(np.log(X[1:]) + 1)]),
        (lambda x: np.sum(np.where(x > 0, np.log(x), 0)), [0, 4, 0.25]),
        (lambda x: np.sum(np.where(x > 0, 1 / x, 0)), [0, -16, -1 / 16]),
        (lambda x: np.sum(np.where(x > 0, np.sin(x) / x, 1)), [0, *((np.cos(X) * X - np.sin(X))[1:] / X[1:] ** 2)]),
        (lambda x: np.sum(np.select([x > 0], [np.sqrt(x)], 0.0)), [0, 1, 0.25]),
    ):
        np.testing.assert_allclose(ad.grad(f)(X), want, rtol=1e-12)


def test_weights_that_are_arguments_too():
    """The factor varies with another argument than the root does."""
    by_w, by_x = ad.grad(lambda w, x: np.sum(w * np.sqrt(x)), argnums=(0, 1))(W, X)
    np.testing.assert_allclose(by_x, [0, 1, 0.5])
    np.testing.assert_allclose(by_w, [0, 0.5, 2])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.sqrt(x) * np.sqrt(x)),
        lambda x: np.sum(np.sqrt(x)) ** 2,
        lambda x: np.sum(np.sqrt(x) ** 2),
        lambda x: np.prod(np.sqrt(np.stack((x, x))), axis=0).sum(),
        lambda x: loop_of_roots(x),
    ],
)
def test_a_zero_that_moves_with_the_argument_is_not_sure(f):
    """The derivative at 0 is 1: nan is an honest answer, 0 would be a wrong number."""
    found = ad.grad(f)(np.zeros(1))
    assert np.isnan(found[0]) or found[0] == 1.0


def loop_of_roots(x):
    s = 1.0
    for _ in range(2):
        s = s * np.sqrt(x[0])
    return s


def test_cotangent_given_by_the_caller():
    out, pullback = ad.vjp(np.sqrt, X)
    assert out[0] == 0
    np.testing.assert_allclose(pullback(W)[0] if isinstance(pullback(W), tuple) else pullback(W), [0, 1, 0.5])


def test_where_it_is_not_known_the_gradient_is_nan():
    """What a loop within a loop leaves of a cotangent is not followed."""

    def f(x):
        s = 0.0
        for _ in range(2):
            s = s + loop_over_parts(x)
        return s

    found = ad.grad(f)(X)
    assert np.isnan(found[0])
    np.testing.assert_allclose(found[1:], [2, 0.5])


def test_infinity_where_it_is_due():
    found = ad.grad(lambda x: np.sum(np.sqrt(x)))(X)
    assert np.isinf(found[0]) and found[1] == 1.0


# --- the other way round: an infinite cotangent meets a partial that is zero on a whole interval ----------------------

Y = np.array([-1.0, 4.0, 0.25])


def root_of_stored(v):
    y = v * 1.0
    y[y < 0] = 0.0
    return np.sum(np.sqrt(y))


def roots_in_a_loop(v):
    for _ in range(2):
        v = np.sqrt(np.maximum(v, 0.0))
    return np.sum(v)


def variance_process(v):
    s = np.ones(3)
    for _ in range(3):
        positive = np.maximum(v, 0.0)
        s = s * np.exp(-0.5 * positive + 0.1 * np.sqrt(positive))
        v = v + 0.1 * (0.04 - positive) + 0.02 * np.sqrt(positive)
    return np.sum(s)


FLAT = {
    "maximum": lambda v: np.sum(np.sqrt(np.maximum(v, 0.0))),
    "maximum, second": lambda v: np.sum(np.sqrt(np.maximum(0.0, v))),
    "maximum of arrays": lambda v: np.sum(np.sqrt(np.maximum(v, np.zeros(3)))),
    "minimum": lambda v: np.sum(np.sqrt(-np.minimum(-v, 0.0))),
    "fmax": lambda v: np.sum(np.sqrt(np.fmax(v, 0.0))),
    "clip": lambda v: np.sum(np.sqrt(np.clip(v, 0.0, 10))),
    "where": lambda v: np.sum(np.sqrt(np.where(v > 0, v, 0.0))),
    "mask": lambda v: np.sum(np.sqrt(v * (v > 0))),
    "select": lambda v: np.sum(np.sqrt(np.select([v > 1, v > 0], [v, v * v], 0.0))),
    "power": lambda v: np.sum(np.maximum(v, 0.0) ** 0.5),
    "power of arrays": lambda v: np.sum(np.maximum(v, 0.0) ** np.full(3, 0.3)),
    "cbrt": lambda v: np.sum(np.cbrt(np.maximum(v, 0.0))),
    "arcsin": lambda v: np.sum(np.arcsin(np.clip(2 * v, -1, 1))),
    "roots": lambda v: np.sum(np.sqrt(np.sqrt(np.maximum(v, 0)))),
    "weights": lambda v: np.sum(W * np.log1p(3 * np.sqrt(2 * np.maximum(v, 0.0)))),
    "max": lambda v: np.sum(np.sqrt(np.max(np.stack((v, 0 * v)), axis=0))),
    "norm": lambda v: np.linalg.norm(np.maximum(v, 0)[:1]) + v[1],
    "sum": lambda v: np.sqrt(np.sum(np.maximum(v[:1], 0))) + v[1],
    "number": lambda v: math.sqrt(max(v[1], 0.0)) + np.sqrt(np.maximum(v[0], 0.0)),
    "nan_to_num": lambda v: np.sum(np.sqrt(np.nan_to_num(v * NAN * np.array([1.0, 1.0, 1.0])))),
    "stored": root_of_stored,
    "loop": roots_in_a_loop,
    "variance process": variance_process,
}


@pytest.mark.parametrize("name", FLAT)
def test_flat_below_a_root(name):
    f = FLAT[name]
    want = (np.array([f(Y + h) for h in 1e-6 * np.eye(3)]) - np.array([f(Y - h) for h in 1e-6 * np.eye(3)])) / 2e-6
    np.testing.assert_allclose(ad.grad(f)(Y), want, rtol=1e-6, atol=1e-7)

    def in_branch(v):
        return f(v) * v[1] if v[1] > 0 else v[0]

    np.testing.assert_allclose(ad.grad(in_branch)(Y), want * Y[1] + f(Y) * np.eye(3)[1], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["maximum", "clip", "where", "power", "fmax", "stored", "variance process"])
def test_flat_below_a_root_at_second_order(name):
    f = FLAT[name]
    found = ad.grad(lambda v: np.sum(ad.grad(f)(v) * W))(Y)
    want = [np.sum((ad.grad(f)(Y + h) - ad.grad(f)(Y - h)) * W) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-6)


def test_a_root_below_a_long_chain():
    """What is known of the cotangents is found without recursion."""
    x, w = ad.Variable(X[1:]), ad.Variable(np.ones(2))
    with ad.GradientTape() as tape:
        y = ad.ops.sqrt(x)
        for _ in range(3000):
            y = y / w
    x_bar, w_bar = tape.gradient(y, [x, w])
    np.testing.assert_allclose(x_bar.numpy(), 0.5 / np.sqrt(X[1:]))
    np.testing.assert_allclose(w_bar.numpy(), -3000 * np.sqrt(X[1:]))


def test_a_quotient_by_zero_that_only_decides():
    def f(x):
        try:
            t = x[1] / 0
        except ZeroDivisionError:
            t = x[0]
        s = t if t < 0 else x[0]
        return s * x[1]

    x = np.array([0.7, 1.3])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(ad.grad(f)(x), [1.3, 0.7])
        np.testing.assert_allclose(ad.jvp(f, (x,), (np.array([0.5, 2.0]),))[1], 0.5 * 1.3 + 2.0 * 0.7)
        assert not np.all(np.isfinite(ad.grad(f)(-x)))  # there the infinite value counts
