"""``with``: managers that are inlined, and managers that stay."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
import warnings
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences
from tests.in_context import check_program

CASES: list[Any] = []


def case(*rest: Any) -> Any:
    """A function of an array of three, and of these other arguments."""

    def add(f: Any) -> Any:
        CASES.append(pytest.param(f, rest, id=f.__name__))
        return f

    return add


@case()
def floating(x):
    with np.errstate(all="raise"):
        try:
            y = np.log(x - 1.0)
        except FloatingPointError:
            y = x * x
    return np.sum(y)


@case()
def floating_dead(x):
    y = x * x
    try:
        with np.errstate(all="raise"):
            np.log(x - 1.0)
    except FloatingPointError:
        y = x**3
    return np.sum(y)


@case()
def log_nested_errstate(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.log(x - 0.7)
    return np.sum(np.where(x > 0.7, y, 0.0)[1:])


@case()
def errstate_in_loop(x):
    s = x
    for i in range(4):
        with np.errstate(over="raise"):
            if i == 2:
                s = s * x
                continue
            s = np.sin(s) * x
    return np.sum(s)


@case(7)
def suppresses(x, d):
    v = x[0]
    with contextlib.suppress(IndexError, KeyError):
        v = x[d] ** 2
    return v * x[1]


@case()
def null_context(x):
    with contextlib.nullcontext(2.0) as k:
        y = x * k
    return np.sum(y * y)


class Manager_user_cm:
    def __init__(self, k):
        self.k = k

    def __enter__(self):
        return self.k * 3.0

    def __exit__(self, *a):
        self.k = None


@case()
def user_cm(x):
    with Manager_user_cm(x[1]) as k, Manager_user_cm(2) as (q):
        y = x * k * q
    return np.sum(y * y)


class Manager_swallowing_cm:
    def __enter__(self):
        return self

    def __exit__(self, t, v, tb):
        return t is not None and issubclass(t, ValueError)


@case()
def swallowing_cm(x):
    y = x * 1.0
    with Manager_swallowing_cm():
        if x[0] > 0.5:
            raise ValueError("a")
        y = x * 2
    y = x**3
    return np.sum(y)


class Manager_swallowing_cm_isinstance:
    def __enter__(self):
        return self

    def __exit__(self, t, v, tb):
        return isinstance(v, ValueError)


@case()
def swallowing_cm_isinstance(x):
    s = 0.0
    for i in range(3):
        v = x[i]
        with Manager_swallowing_cm_isinstance():
            if x[i] > 2:
                raise ValueError("a")
            v = v * 2
        s = s + x[i] ** 2
    return s


@contextlib.contextmanager
def scaled_contextmanager(v, k=2.0):
    w = v * k
    try:
        yield w, k
    finally:
        w = None


@case()
def generator(x):
    with scaled_contextmanager(x, 3.0) as (w, k):
        y = w * w + k
    return np.sum(y * x)


@contextlib.contextmanager
def scaled_contextmanager_loop_exits(v, k=2.0):
    yield v * k


@case()
def contextmanager_loop_exits(x):
    s = 0.0
    for i in range(5):
        with scaled_contextmanager_loop_exits(x, 3.0) as w:
            if i == 1:
                continue
            if i == 3:
                break
            s = s + np.sum(w**i)
    return s * x[0]


@contextlib.contextmanager
def safe_contextmanager_swallow():
    try:
        yield 3.0
    except IndexError:
        pass


@case(5)
def contextmanager_swallow(x, n):
    s = x[0]
    for i in range(n):
        with safe_contextmanager_swallow() as k:
            t = x[i] ** 2 * k
            s = s * t
    return s


lock_printoptions = threading.Lock()


@case()
def printoptions(x):
    with np.printoptions(precision=2), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = x * x
    t0 = time.perf_counter()
    logging.info("hm %s", y)
    with lock_printoptions:
        z = y * x
    return np.sum(z)


W = np.array([[0.5, 1.5, 2.5], [1.2, 0.8, 0.3]])


@case(W)
def loop_inside(x, w):
    """What the inner loop reads does not change in it: it is read again in front of that."""
    total = 0.0
    with np.errstate(all="ignore"):
        for _ in range(2):
            total = total + np.sum(x / w[0])
    return total


@case(W)
def loop_inside_of_a_loop(x, w):
    total = 0.0
    for t in range(len(w)):
        with np.errstate(all="ignore"):
            for j in range(2):
                total = total + np.sum(x * x / w[t]) * (j + t)
    return total


@case(W)
def loops_inside_of_contexts(x, w):
    z = np.zeros_like(w)
    for t in range(len(w)):
        with np.errstate(all="ignore"):
            scale = np.exp(x[t])
            for j in range(2):
                with np.errstate(over="ignore"):
                    for _ in range(2):
                        z[t] += np.sin(scale * x) * w[t] * w[j]
                        x = x + 0.1 * w[t] * scale
    return np.sum(z * z) + np.sum(x)


@pytest.mark.parametrize(("f", "rest"), CASES)
def test_gradient(f: Any, rest: tuple[Any, ...]) -> None:
    check_program(f, rest)


@pytest.mark.parametrize("optimize", [True, False])
def test_what_a_with_hands_on_may_be_undefined(optimize: bool) -> None:
    """An exception inside of it left a name unbound."""

    def f(x: Any, w: Any) -> Any:
        for t in range(len(w)):
            with np.errstate(all="raise"):
                try:
                    x = x / w[t]
                except FloatingPointError:
                    x = x * 0.5
        return np.sum(x * x)

    x, w = np.array([0.7, 1.3]), np.array([[2.0, 1.0], [1.0, 0.0]])
    value, grad = ad.value_and_grad(f, optimize=optimize)(x, w)
    assert value == f(x, w)
    np.testing.assert_allclose(grad, differences(f, x, w), rtol=1e-6)
