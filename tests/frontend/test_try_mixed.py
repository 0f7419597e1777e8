"""Exceptions, managers and patterns together with aliases, stores, splits and loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.in_context import check_program

CASES: list[Any] = []


def case(*rest: Any) -> Any:
    """A function of an array of three, and of these other arguments."""

    def add(f: Any) -> Any:
        CASES.append(pytest.param(f, rest, id=f.__name__))
        return f

    return add


@case(2)
def split_alias_in_try(x, n):
    a = x * 1.0
    try:
        b = a if n > 1 else a * 2
        b[0] = 5.0 * x[1]
        v = x[n]
    except IndexError:
        return x[0] ** 2
    return np.sum(a * b) * v


@case(5)
def split_alias_in_try_fails(x, n):
    a = x * 1.0
    try:
        b = a if n > 1 else a * 2
        b[0] = 5.0 * x[1]
        v = x[n]
    except IndexError:
        return x[0] ** 2
    return np.sum(a * b) * v


@case(5)
def split_before_try(x, n):
    a = x * 1.0
    b = a if n > 1 else a * 2
    b[0] = 5.0 * x[1]
    try:
        v = x[n]
    except IndexError:
        v = np.sum(a)
    return np.sum(a * b) * v


@case(5)
def split_kinds_in_handler(x, n):
    try:
        y = x[n]
    except IndexError:
        y = x * 2
    return np.sum(y) * x[0]


@case(1)
def split_kinds_in_handler_ok(x, n):
    try:
        y = x[n]
    except IndexError:
        y = (x[0], x[1])
        return y[0] * y[1]
    return y * x[0]


@case(2)
def match_split(x, n):
    match n:
        case 0:
            y = x
        case 1:
            y = [x[0], x[1]]
        case _:
            y = {"a": x[2]}
    match y:
        case [a, b]:
            return a * b
        case {"a": a}:
            return a**2
        case _:
            return np.sum(y**3)


@case(5)
def in_place_in_try_views(x, n):
    y = np.outer(x, x)
    for i in range(n):
        row = y[i % 3]
        try:
            c = x[i] * 2
        except IndexError:
            row *= x[0]
            continue
        row += c
        y[:, 0] *= row
    return np.sum(y * y)


@case(5)
def swap_buffers_in_try(x, n):
    a = x * 1.0
    b = np.zeros(3)
    for i in range(n):
        try:
            k = [0, 1, 2][i]
        except IndexError:
            a, b = b + a, a * x
        else:
            b[k] = a[k] ** 2 + b[0]
            a, b = b, a
    return np.sum(a * b) + np.sum(a)


@case(4)
def errstate_stores(x, n):
    y = x * 1.0
    for i in range(n):
        with np.errstate(divide="ignore"):
            y[i % 3] = y[(i + 1) % 3] * x[i % 3]
            if i == 2:
                z = y.copy()
                continue
            y *= x
        y[0] += 1.0
    return np.sum(y * z)


@case(9)
def errstate_return_in_loop_with_break_code(x, n):
    s = x[0]
    for i in range(n):
        with np.errstate(all="ignore"):
            s = s * x[i % 3]
            if s > 2:
                break
            if i == 6:
                return s * 3
        s = s + x[1]
    return s**2


@case(5)
def global_store_in_try_else(x, n):
    out = []
    for i in range(n):
        try:
            out.append(x[i] ** 2)
        except IndexError:
            out.append(x[0])
    return sum(out[k] * k for k in range(n))


@case(5)
def dict_accumulate_in_try(x, n):
    d = {}
    for k in ("a", "b", "a", "c"):
        try:
            d[k] = d[k] * x[0]
        except KeyError:
            d[k] = x[1]
    return d["a"] * d["b"] + d["c"]


class Accumulated:
    def __init__(self):
        self.v = 0.0
        self.n = 0

    def add(self, t):
        if t > 2:
            raise ValueError("big")
        self.v = self.v + t * t
        self.n += 1


@case(5)
def objects_in_try(x, n):
    a = Accumulated()
    for i in range(3):
        try:
            a.add(x[i])
        except ValueError:
            pass
    return a.v * a.n


def stored_in(y, x, i):
    y[i] = x[i] ** 2
    if x[i] > 2:
        raise ValueError
    y[i] *= 2


@case(5)
def inner_function_raising_mid_way_after_store(x, n):
    y = np.zeros(3)
    for i in range(3):
        try:
            stored_in(y, x, i)
        except ValueError:
            y = x * 2
    return np.sum(y * x)


@case(5)
def item_of_a_list_that_keeps_its_value(x, n):
    """The store is the first by an index known at run time only, so the list is put otherwise in the body."""
    m = len(x)
    xs, ys = [0.5] * m, [0.0] * m
    for i in range(m):
        try:
            xs[i] = float(x[i]) / (n - i)
        except ZeroDivisionError:
            pass
        ys[i] = xs[i] * x[i]
    return xs[0] * ys[1] + sum(xs) + ys[-1] ** 2


@case(5)
def items_of_two_lists_with_a_default(x, n):
    xs = [float(v) * 2 for v in x]
    for i in range(len(x)):
        try:
            xs[i] = xs[i + 1] / (i - 1)
        except (ZeroDivisionError, IndexError):
            xs[0] = xs[0] * x[i]
    return sum(xs) * xs[0]


@case(3)
def rows_stored_into_twice(x, n):
    table = [[0.0] * n for _ in range(n)]
    for i in range(n):
        row = table[i]
        for j in range(i, n):
            try:
                row[j] = table[j][i] = 1.0 / (float(x[i]) * (j - 1))
            except ZeroDivisionError:
                row[j] = float(x[j])
    return table[0][1] + table[1][2] * table[2][1] + table[1][1] ** 2 + table[2][0]


@case(2)
def first_store_of_two(x, n):
    a, b = [1.0] * 3, [2.0] * n
    for i in range(3):
        try:
            a[i] = b[i] = float(x[i]) ** 2
        except IndexError:
            b[0] = a[i] * b[1]
    return sum(a) * sum(b)


@case(5)
def handler_reading_name_bound_in_else_later_loops(x, n):
    best = x[0]
    for i in range(n):
        try:
            cand = x[i] * best
        except IndexError:
            best = best * 1.1
        else:
            best = cand if cand > best else best
    return best


@case(7)
def multi_handlers_kinds(x, n):
    try:
        if n == 1:
            raise KeyError
        y = (x[n], x[0])
    except KeyError:
        y = None
    except IndexError:
        y = x * 2
    if y is None:
        return x[0]
    if isinstance(y, tuple):
        return y[0] * y[1]
    return np.sum(y**2)


@case(1)
def multi_handlers_kinds_2(x, n):
    try:
        if n == 1:
            raise KeyError
        y = (x[n], x[0])
    except KeyError:
        y = None
    except IndexError:
        y = x * 2
    if y is None:
        return x[0] ** 2
    if isinstance(y, tuple):
        return y[0] * y[1]
    return np.sum(y**2)


@case(5)
def kinds_in_loop(x, n):
    s = 0.0
    for i in range(n):
        try:
            y = (x[i], x[0])
        except IndexError:
            y = None
        if y is not None:
            s = s + y[0] * y[1]
        else:
            s = s * 1.5
    return s


@case(5)
def alias_after_handler(x, n):
    a = x * 1.0
    try:
        x[n]
        b = a
    except IndexError:
        b = x * 3
    b[0] = x[1] ** 2
    return np.sum(a * b)


@case(1)
def alias_after_handler_ok(x, n):
    a = x * 1.0
    try:
        x[n]
        b = a
    except IndexError:
        b = x * 3
    b[0] = x[1] ** 2
    return np.sum(a * b)


@case(1)
def alias_with_finally(x, n):
    a = x * 1.0
    try:
        x[n]
        b = a
    except IndexError:
        b = x * 3
    finally:
        a = a + 0
    b[0] = x[1] ** 2
    return np.sum(a * b)


@pytest.mark.parametrize(("f", "rest"), CASES)
def test_gradient(f: Any, rest: tuple[Any, ...]) -> None:
    check_program(f, rest)
