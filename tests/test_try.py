"""``try``: the gradient is that of the way taken, through the body or through a handler."""

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


@case()
def cholesky_ok(x):
    A = np.outer(x, x) + np.eye(3)
    try:
        L = np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        L = np.linalg.cholesky(A + 10 * np.eye(3))
    return np.sum(L * L * L)


@case()
def cholesky_fails(x):
    A = np.outer(x, x) - np.eye(3)
    try:
        L = np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        L = np.linalg.cholesky(A + 10 * np.eye(3))
    return np.sum(L * L * L)


@case()
def dict_key(x):
    d = {"a": x[0]}
    try:
        return d["b"]
    except KeyError:
        return x[1] ** 2


@case()
def converts(x):
    try:
        k = int("3")
    except ValueError:
        k = 1
    return np.sum(x * k)


@case("u")
def does_not_convert(x, s):
    try:
        k = int(s)
    except ValueError:
        k = 7
    return np.sum(x**k)


@case(2.0)
def zerodiv_float(x, y):
    s = 0.0
    for i in range(3):
        try:
            q = 1.0 / (i * y)
        except ZeroDivisionError as e:
            q = 5.0
        s = s + x[i] ** 2 * q
    return s


@case(0)
def indexerror_end(x, n):
    s = 0.0
    i = n
    while True:
        try:
            s = s + x[i] ** 2
        except IndexError:
            break
        i += 1
    return s * x[0]


@case(0)
def indexerror_aug(x, n):
    s = 0.0
    i = n
    while True:
        try:
            s += x[i] ** 2
            i += 1
        except IndexError:
            break
    return s * x[0]


def check_raise_caught(v):
    if v > 2:
        raise ValueError("big", 3)
    return v * v


@case()
def raise_caught(x):
    s = 1.0
    for i in range(3):
        try:
            w = check_raise_caught(x[i])
        except (TypeError, ValueError) as e:
            w = x[i] * len(e.args)
        s = s * w
    return s


def h_handlers_several(v, k):
    if k == 0:
        raise ValueError(k)
    if k == 1:
        raise TypeError
    if k == 2:
        raise RuntimeError("x")
    return v


@case(5)
def handlers_several(x, n):
    s = 0.0
    for k in range(n):
        try:
            t = h_handlers_several(x[k % 3], k)
        except ValueError:
            t = x[0] ** 2
        except TypeError:
            t = x[1] ** 3
        except Exception:
            t = np.sin(x[2])
        else:
            t = t * x[0]
        s = s + t * (k + 1)
    return s


@case()
def runs_finally(x):
    s = 0.0
    for i in range(3):
        try:
            if i == 1:
                continue
            s = s + x[i] ** 2
        finally:
            s = s * 1.5
    return s


@case()
def finally_after_return(x):
    y = x * 1.0
    try:
        return y.sum() * 2
    finally:
        y[0] = 100.0


@case(5)
def nested_tries(x, n):
    try:
        try:
            z = x[n]
        except TypeError:
            z = x[0]
    except IndexError:
        z = x[1] ** 2
    return z * z


@case(5)
def raises_again(x, n):
    try:
        try:
            z = x[n]
        except IndexError:
            raise
    except LookupError:
        z = x[1] ** 2
    return z * z


@case(1)
def return_in_loop(x, n):
    for i in range(5):
        try:
            if x[i + n] > 2:
                return x[i + n] ** 2
        except IndexError:
            return x[0] ** 3
    return 0.0


@case(5)
def loop_in_try(x, n):
    s = 0.0
    try:
        t = 1.0
        for i in range(n):
            t = t * x[i] ** 2
        s = t
    except IndexError:
        s = np.sum(x * x)
    return s


@case(3)
def loop_in_try_ok(x, n):
    s = 0.0
    try:
        t = 1.0
        for i in range(n):
            t = t * x[i] ** 2
        s = t
    except IndexError:
        s = np.sum(x * x)
    return s


@case(4)
def loop_in_try_in_loop(x, n):
    s = 1.0
    for k in range(n):
        try:
            t = s
            for i in range(k, k + 2):
                t = np.sin(t * x[i] ** 2)
            s = t * s
        except IndexError:
            s = s * np.sum(x * x)
    return s


@case(5)
def handler_stores(x, n):
    y = x * 1.0
    for k in range(n):
        try:
            v = x[k] ** 2
        except IndexError:
            y[0] = y[0] ** 2
        else:
            y[k] = y[k] * v
    return np.sum(y)


def get_key_in_helper(d, k):
    try:
        return d[k]
    except KeyError:
        return 2.0


@case()
def key_in_helper(x):
    d = {"a": x[0], "b": x[1]}
    return sum(get_key_in_helper(d, k) ** 2 for k in ("a", "b", "c")) * x[0]


@case(1)
def unreached_index(x, n):
    xs = [x, x * 2]
    if n > 5:
        return np.sum(xs[7])
    return np.sum(xs[0])


@case(5)
def try_else_finally_loop(x, n):
    s = 0.0
    c = 0
    for i in range(n):
        try:
            v = x[i] * x[0]
        except IndexError:
            s = s + x[1]
            continue
        else:
            s = s + v**2
        finally:
            c += 1
        s = s * 1.1
    return s * c


@case()
def assert_caught(x):
    try:
        assert x[0] > 3, "small"
        return x[1]
    except AssertionError:
        return x[2] ** 2


@pytest.mark.parametrize(("f", "rest"), CASES)
def test_gradient(f: Any, rest: tuple[Any, ...]) -> None:
    check_program(f, rest)
