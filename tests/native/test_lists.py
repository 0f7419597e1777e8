"""Lists of numbers, with both backends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from . import both_halves
from .both import agree, bailed, why_not

X = np.array([0.5, -1.5, 2.0, 0.25])


def history(x: Any) -> Any:
    h = []
    for k in range(len(x)):
        h.append(x[k] * x[0])
    return np.sum(np.array(h) ** 2)


def looked_up(x: Any) -> Any:
    places = [0]
    for k in range(3):
        places += [(k * 2 + 1) % 4]
    s = 0.0
    for k in range(len(places)):
        s = s + x[places[k]] * x[k] * places[-1]
    return s


def table(x: Any, n: int) -> Any:
    weights = (0.5, 1.5, -2.0, 0.1)
    shifts = (0, 1, -1, 2)
    for k in range(n):
        x = np.roll(x, shifts[k]) * weights[k] + x
    return np.sum(x**2)


def changed(x: Any) -> Any:
    h = [x[0], x[1]]
    for k in range(1, 4):
        h[k % 2] = h[k % 2] * x[k]
        h[-1] += x[0]
    return h[0] * h[1]


def kept_back(x: Any) -> Any:
    h, n = [], 0
    for k in range(len(x)):
        if x[k] > 0:
            h.append(x[k] ** 2)
            n = len(h)
    return np.sum(np.array(h)) * n


def read_behind(x: Any) -> Any:
    h = [x[0]]
    for k in range(3):
        first = h[-1]
        n = len(h)
        h.append(first * x[k] + n)
    return h[3] * len(h)


def floats(a: float, n: int) -> Any:
    h = [a]
    for _ in range(n):
        h.append(h[-1] / (1.0 + h[0]))
    return h[n] * 2.0


@pytest.mark.parametrize("f", [history, looked_up, changed, kept_back, read_behind])
def test_lists(f: Any) -> None:
    native = agree(f, X)
    assert why_not(native) is None and not bailed(native)
    agree(f, X.astype(np.float32), rtol=1e-5)
    agree(f, -np.abs(X))
    for kind in both_halves.KINDS:
        both_halves.agree(f, X.copy(), kind=kind)


@pytest.mark.parametrize("n", [0, 1, 4, 5])
def test_items_out_of_range_raise(n: int) -> None:
    native = agree(table, X, n)
    assert why_not(native) is None and bailed(native) == (n > 4)
    native = agree(floats, 0.5, n)
    assert why_not(native) is None and not bailed(native)
    agree(floats, -1.0, n)


def test_lists_that_grow_long() -> None:
    def f(x: Any, n: int) -> Any:
        h = []
        for k in range(n):
            h.append(x[k % 4] * k)
        s = 0.0
        for k in range(n):
            s = s + h[k] * h[n - 1 - k]
        return s

    for n in (1, 16, 17, 200):
        native = agree(f, X, n)
        assert why_not(native) is None and not bailed(native)


def test_ints_that_get_long() -> None:
    def f(x: Any, n: int) -> Any:
        h = [n]
        for _ in range(4):
            h.append(h[-1] * h[-1])
        return x[0] * (h[-1] % 7)

    for n in (3, 10**6, 2**39):
        agree(f, X, n)


def test_what_lists_of_several_types_do() -> None:
    def f(x: Any, n: int) -> Any:
        h = [1]
        for k in range(n):
            h.append(x[k])
        return np.sum(np.array(h) ** 2)

    def g(x: Any, n: int) -> Any:
        return np.sum(np.array([x[k] for k in range(n)])) * x[0]

    for n in (0, 1, 4):
        agree(f, X, n)
        agree(g, X, n)
