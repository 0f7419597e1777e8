"""Objects of classes with ``__next__`` where an iterable is expected: each item is computed when it is asked for."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.frontend.test_demand import V, check


class Multiples:
    def __init__(self, x, n=3):
        self.x, self.n, self.k = x, n, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.k >= self.n:
            raise StopIteration
        self.k += 1
        return self.x * self.k


class Newton:
    """The approximations of a square root."""

    def __init__(self, a):
        self.a, self.x, self.step = a, a, 1.0

    def __iter__(self):
        return self

    def __next__(self):
        if abs(self.step) < 1e-10:
            raise StopIteration
        new = 0.5 * (self.x + self.a / self.x)
        self.step, self.x = new - self.x, new
        return new


class Bag:
    def __init__(self, x):
        self.x = x

    def __iter__(self):
        return Multiples(self.x)


class Breaks:
    def __init__(self, x):
        self.x, self.k = x, 0

    def __iter__(self):
        return self

    def __next__(self):
        self.k += 1
        if self.k > 2:
            raise ValueError("no more")
        return self.x


def summed(x, n):
    return sum(Multiples(x[0])) + max(Bag(x[1])) * min(Multiples(x[2]))


def listed(x, n):
    return np.sum(np.array(list(Multiples(x[0], n + 1))) ** 2) * len(list(Bag(x[1]))) + sorted(Multiples(-x[2]))[0]


def comprehended(x, n):
    rows = [v * v for v in Multiples(x[0]) if v > 0.8]
    return sum(rows) + sum(v**3 for v in Bag(x[1])) + {v: v for v in range(3)}[n]


def unpacked(x, n):
    a, b, c = Multiples(x[0])
    return a * b + c * x[1]


def extended(x, n):
    out = []
    out.extend(Multiples(x[0], n))
    out += Bag(x[1])
    return sum(v * k for k, v in enumerate(out))


def rest_after_the_first(x, n):
    it = Multiples(x[0], 5)
    first = next(it)
    return first * sum(it) + it.k * x[1]


def zip_asks_the_first_once_more(x, n):
    it, s = Multiples(x[0], 5), 0.0
    for v, w in zip(it, x):
        s += v * w
    return s * it.k + sum(it)


def zip_ends_before_it_asks(x, n):
    it, s = Multiples(x[0], 5), 0.0
    for v, w in zip(x, it):
        s += v * w
    return s * it.k + sum(it)


def used_up(x, n):
    it = Multiples(x[0], n)
    return sum(it) + 100.0 * sum(it) + it.k * x[1]


def as_long_as_needed(x, n):
    it = Multiples(x[0], 9)
    found = any(v > 2.0 for v in it)
    return it.k * x[1] * found + sum(itertools.islice(it, 2))


def converged(x, n):
    return list(Newton(x[1]))[-1] * x[0] + sum(1.0 for _ in Newton(x[2])) * x[0]


def other_lengths(x, n):
    s = 0.0
    for k in range(n + 1):
        s += sum(Multiples(x[k], k + 1))
    return s


def raises_in_between(x, n):
    it = Breaks(x[0])
    try:
        s = sum(it)
    except ValueError:
        s = x[0] * 7.0
    return s * x[1]


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize(
    "f",
    [
        summed, listed, comprehended, unpacked, extended, rest_after_the_first, zip_asks_the_first_once_more,
        zip_ends_before_it_asks, used_up, as_long_as_needed, converged, other_lengths, raises_in_between,
    ],
)  # fmt: skip
def test_the_items_of_an_object(f: Any, n: int) -> None:
    check(f, V, n)


OUTSIDE = Multiples(2.0)


@pytest.mark.parametrize("by_loop", [True, False])
def test_an_object_outside_is_used_up(by_loop: bool) -> None:
    def f(x):
        s = 0.0
        if by_loop:
            for v in OUTSIDE:
                s += v * x[0]
        else:
            s = sum(OUTSIDE) * x[0]
        return s + OUTSIDE.k * x[1]

    OUTSIDE.k = 0
    np.testing.assert_array_equal(ad.grad(f)(V), [12.0, 3.0, 0.0])
    assert OUTSIDE.k == 3
    np.testing.assert_array_equal(ad.grad(f)(V), [0.0, 3.0, 0.0])


def two_at_once(x):
    return sum(map(lambda v, w: v * w, Multiples(x[0]), Multiples(x[1])))


def keys_by_their_number(x):
    return {k: v for k, v in enumerate(Multiples(x[0]))}[1]


def as_many_as_there_are_elements(x):
    return sum(itertools.islice(Multiples(x[0], 9), len(x)))


@pytest.mark.parametrize("f", [two_at_once, keys_by_their_number, as_many_as_there_are_elements])
def test_what_depends_on_the_number_of_items_is_refused(f: Any) -> None:
    with pytest.raises(ad.UnsupportedError, match="at run time only"):
        ad.grad(f)(V)
