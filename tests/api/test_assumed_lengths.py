"""What the code takes for granted of its arguments' lengths is checked at each call; for others it is compiled anew."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences


def parts_multiplied(x, y):
    return np.sum(x[1:] * y[1:] * x[1:])


def parts_stored(x, y):
    out = np.zeros(x.shape[0])
    out[1:] = x[1:] * y[:-1]
    return np.sum(out * out)


def in_a_loop(x, y, steps=2):
    total = 0.0
    for _ in range(steps):
        total += np.sum(x[1:] * y[1:])
        x[1:] -= 0.5 * y[1:]
    return total + np.sum(x * x) + np.sum(np.sin(y))


def in_a_branch(x, y):
    if x[0] > 0:
        return np.sum(x * x) + np.sum(y)
    return np.sum(x * x * y)


def in_a_helper(x, y):
    def smooth(v, w):
        v[1:-1] = 0.5 * (v[:-2] + w[2:])
        return v

    for _ in range(2):
        x = smooth(x, y)
    return np.sum(x * x)


def up_to_a_number(x, y):
    n = x.shape[0]
    m = len(y)
    z = np.zeros(n - 1)
    for k in range(2):
        z[0 : n - 2] = x[1 : n - 1] * x[2:n] + y[: m - 2] if n == m else x[1 : n - 1] * k
        x[1 : n - 1] += 0.1 * z[: n - 2] * x[0 : n - 2]
        x[0 : n - 1] += 0.01 * z * x[1 : n + 1]
    return np.sum(x * x) + np.sum(y * y)


def carried_by_a_loop(x, y):
    z, total = x, 0.0
    for _ in range(3):
        total += np.sum(z * z)
        z = np.sin(y) * z[1]
    return total + np.sum((z - 0.5) ** 2)


PROGRAMS = [carried_by_a_loop, parts_multiplied, parts_stored, in_a_loop, in_a_branch, in_a_helper, up_to_a_number]
# The pairs of lengths that NumPy accepts: parts of length one broadcast.
LENGTHS = [(5, 5), (2, 2), (5, 2), (2, 5), (6, 6), (3, 3), (4, 2), (3, 5)]


def accepted(f, args):
    try:
        f(*[a.copy() for a in args])
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("first", range(len(LENGTHS)))
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_lengths_in_any_order(f, first):
    gradient = ad.grad(f, argnums=(0, 1))
    rng = np.random.default_rng(first)
    tried = 0
    for n, m in LENGTHS[first:] + LENGTHS[:first]:
        args = [rng.uniform(0.5, 1.5, size=n), rng.uniform(0.5, 1.5, size=m)]
        if f is in_a_branch and n != m:
            args[0][0] = 1.0
        elif f is in_a_branch:
            args[0][0] = -1.0
        if not accepted(f, args):
            with pytest.raises(ValueError):
                gradient(*args)
            continue
        tried += 1
        wanted = [differences(f, *args, argnum=k) for k in range(len(args))]
        for got, want in zip(gradient(*args), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-8)
    assert tried >= 4


def test_second_order_at_other_lengths():
    def curvature(x, y):
        return np.sum(ad.grad(in_a_loop)(x, y) ** 2)

    gradient = ad.grad(curvature, argnums=(0, 1))
    for n in (5, 2, 3):
        args = [np.linspace(0.5, 1.0, n), np.linspace(1.0, 2.0, n)]
        for got, want in zip(
            gradient(*args), [differences(curvature, *args, argnum=k) for k in range(len(args))], strict=True
        ):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-7)


def test_nothing_is_saved_only_to_know_its_shape():
    def waves(e, h, steps):
        for _ in range(steps):
            e[1:] -= 0.5 * (h[1:] - h[:-1])
            h[:-1] -= 0.5 * (e[1:] - e[:-1])
        return np.sum(h * h)

    source = ad.grad(waves, argnums=(0, 1)).source(np.ones(5), np.ones(5), 3)
    assert "append" not in source and "sum_to" not in source


def test_many_sizes_are_one_compilation(monkeypatch):
    gradient = ad.grad(in_a_loop, argnums=(0, 1))
    gradient(np.ones(3), np.ones(3))
    dispatch = next(v for v in vars(gradient).values() if hasattr(v, "entries"))
    for n in (4, 7, 100):
        gradient(np.ones(n), np.ones(n))
    assert [len(entries) for entries in dispatch.entries.values()] == [1]


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: np.mean(x[-len(y) :] ** 2),
        lambda x, y: np.var(x[-len(y) :]),
        lambda x, y: np.sum(
            np.concatenate([x[-len(y) :], y[+len(y) - 1 :], x]) * np.arange(2.0 * len(x) + 1.0)[-len(y) - len(x) - 1 :]
        ),
        lambda x, y: np.mean(np.concatenate([np.zeros(-len(y) + len(x)), x**3])),
        lambda x, y: np.mean(x[: -len(y) + 5] * y[0]),
        lambda x, y: np.mean(x[+len(y) - 1 :] ** 2),
    ],
)
def test_a_length_with_its_sign_changed(f):
    """Where slices begin with ``-n``, they have `n` elements."""
    g = ad.grad(f, argnums=(0, 1))
    for n, m in ((5, 2), (6, 3), (4, 3), (5, 4), (3, 2)):
        x, y = np.linspace(0.3, 2.0, n), np.linspace(0.5, 0.9, m)
        for k, found in enumerate(g(x, y)):
            np.testing.assert_allclose(found, differences(f, x, y, argnum=k), rtol=1e-5, atol=1e-7)


def _up_to_a_length(x, w):
    return w @ x[: len(x[1:])]


def _up_to_a_length_in_a_loop(x, w):
    s = 0.0
    for i in range(2):
        s = s + np.sum(w * x[: len(x[1:])]) * (i + 1)
    return s


def _like_a_part(x, w):
    z = np.zeros_like(x[: len(x[1:])])
    z += w * x[: len(x[1:])]
    return np.sum(z)


def _like_a_part_of_a_part(x, w):
    n = len(x[1:][1:])
    return np.sum(np.concatenate([w[:n] * x[:n], x]) * np.concatenate([w * 2.0, x]))


@pytest.mark.parametrize(
    "f", [_up_to_a_length, _up_to_a_length_in_a_loop, _like_a_part, _like_a_part_of_a_part]
)  # fmt: skip
def test_a_length_that_has_to_be_another_one(f):
    """The operation that asks for equal lengths still sees both, and raises if they differ."""
    g = ad.value_and_grad(f, argnums=(0, 1))
    for n, m in ((5, 4), (4, 2), (6, 5), (5, 2), (8, 3), (5, 3), (3, 2)):
        x, w = np.linspace(0.3, 1.0, n), np.linspace(1.0, 2.0, m)
        try:
            expected = f(x, w)
        except ValueError:
            for gradient in (g, ad.value_and_grad(f, argnums=(0, 1))):
                with pytest.raises(ValueError):
                    gradient(x, w)
            continue
        value, found = g(x, w)
        assert value == expected
        for k in (0, 1):
            np.testing.assert_allclose(found[k], differences(f, x, w, argnum=k), rtol=1e-5, atol=1e-6)


def test_what_a_loop_keeps_for_the_arguments_at_hand_keeps_its_length() -> None:
    def f(w, h, goal):
        for _ in range(3):
            h = np.tanh(w @ h)
        return np.sum((h - goal) ** 2)

    g = ad.grad(f, argnums=(0, 1, 2))
    w, h = np.linspace(-0.5, 0.5, 9).reshape(3, 3), np.linspace(0.2, 0.8, 3)
    assert "sum_to" not in g.source(w, h, h[::-1])
    ad.check_grads(f, (w, h, h[::-1].copy()))
    for other in ((w, h, np.ones(1)), (w[:2, :2], h[:2], h[:2])):
        ad.check_grads(f, other)
    with pytest.raises(ValueError, match="mismatch"):
        g(w[:2], h, h[:2])
    with pytest.raises(ValueError, match="operands could not be broadcast"):
        g(w, h, h[:2])
