"""``match``: every kind of pattern, on what is known when the program is compiled and on what is not."""

from __future__ import annotations

import dataclasses
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.in_context import check_program

CASES: list[Any] = []


def case(*rest: Any) -> Any:
    """A function of an array of three, and of these other arguments."""

    def add(f: Any) -> Any:
        CASES.append(pytest.param(f, rest, id=f.__name__))
        return f

    return add


P = namedtuple("P", "a b")


@dataclasses.dataclass
class D:
    u: float
    v: float


class K:
    RED = 2


@case()
def values(x):
    mode = "b"
    match mode:
        case "a":
            return np.sum(x)
        case "b" | "c":
            return np.sum(x * x)
    return 0.0


@case(3)
def runtime_value(x, n):
    for i in range(4):
        match i % 3:
            case 0:
                x = x * 1.5
            case 1 if x[0] > 1.0:
                x = x * x
            case 1:
                x = np.sin(x)
            case _:
                x = x + 1
    return np.sum(x)


@case()
def runtime_return(x):
    s = 0.0
    for i in range(4):
        match i:
            case 0 | 1:
                s = s + x[i] ** 2
            case 3:
                return s * x[0]
            case k:
                s = s * x[1] + k
    return s


@case()
def sequence(x):
    t = (x[0], (x[1], x[2]), "z")
    match t:
        case [a, b]:
            return a
        case [a, (b, c), "y"]:
            return a * b
        case (a, [b, c], "z"):
            return a * b * c


@case()
def starred(x):
    match [x[0], x[1], x[2], 4.0]:
        case [a, *rest, 5.0]:
            return a
        case [a, *rest, last] if last > 3:
            return a * sum(rest) * last


@case()
def mapping(x):
    d = {"k": "s", "w": x, "b": 2.0, "c": 3}
    match d:
        case {"k": "t"}:
            return 0.0
        case {"k": "s", "w": w, **rest}:
            return np.sum(w * w) * rest["b"] * len(rest)


@case()
def classes(x):
    s = 0.0
    for o in (P(x[0], x[1]), D(x[2], 2.0), 3.0, "q", 4, x, [1, 2]):
        match o:
            case P(a, b=b):
                s += a * b
            case D(u, v) if v > 1:
                s += u * u * v
            case float(q):
                s += q * x[0]
            case int(q):
                s += q * x[1]
            case str():
                s = s * 2
            case np.ndarray():
                s += np.sum(o)
            case list():
                s += o[1] * x[2]
    return s


@case()
def guard_runtime(x):
    match x[0]:
        case v if v > 1:
            return v
        case v if v > 0.5:
            return v * v * x[1]
        case _:
            return 0.0


@case()
def enum_dotted(x):
    k = 2
    match k:
        case K.RED:
            return np.sum(x**3)
    return x[0]


@case()
def or_with_capture(x):
    match (1, x[0]):
        case (0, v) | (1, v):
            return v * v


@case(2)
def or_with_capture_runtime(x, n):
    match (n, x[0], x[1]):
        case (1, v, _) | (2, _, v):
            return v * v
        case _:
            return x[2]


@case()
def is_none(x, y=None):
    match y:
        case None:
            return x[0] ** 2
        case _:
            return x[1]


def h_in_helper(op, v):
    match op:
        case ("mul", k):
            return v * k
        case ("sin",):
            return np.sin(v)
        case {"pow": k}:
            return v**k
        case _:
            raise ValueError(op)


@case()
def in_helper(x):
    for op in (("mul", 3), ("sin",), {"pow": 2}):
        x = h_in_helper(op, x)
    return np.sum(x)


@case(1)
def stores(x, n):
    y = np.zeros(3)
    for i in range(3):
        match i, n:
            case 0, 1:
                y[i] = x[i] ** 2
            case 1, _:
                y[i] = x[i] ** 3
                continue
            case j, _:
                y[j] += x[j]
        y[i] *= 2
    return np.sum(y * y)


@case()
def otherwise_raises(x):
    match x[0]:
        case int():
            return x[0]
        case np.float64():
            return x[0] * 2
        case _:
            raise TypeError("no")


@case()
def items_of_an_array(x):
    match x * 2:
        case [a, b]:
            return a * b
        case [a, 0.0, b] | [1.5, b, a]:
            return a - b
        case [a, *_, b] if b > 100:
            return a
        case [a, *rest, b]:
            return a * b * sum(rest)
        case whole:
            return whole[0] * whole[2]


@case()
def items_of_a_matrix(x):
    match np.outer(x, x):
        case [[a, b], c]:
            return a * b * c
        case [[a, _, b], *_, np.ndarray() as last]:
            return a * b * last[1]
        case whole:
            return np.sum(whole[0] ** 2)


@case()
def items_of_a_grown_list(x):
    parts = []
    s = 1.0
    for v in x:
        match parts:
            case []:
                s = s * v
            case [first]:
                s = s * first + v
            case [*_, 0.0]:
                s = s + 100
            case [first, *middle, last]:
                s = s * last - first + len(middle) + sum(middle)
        parts.append(v * s)
    match parts:
        case [a, b]:
            return s
        case [a, b, c] if a > b + c:
            return s * a
        case [a, *rest]:
            return s * a * sum(rest)


@case(4)
def items_of_a_range(x, n):
    match range(1, n):
        case [_]:
            return x[0]
        case [a, *rest]:
            return x[a] ** 2 * len(rest) * rest[-1]


@case()
def empty_items(x):
    match x[:0]:
        case [a, *_]:
            return a
        case [*rest]:
            return x[0] ** 2 + len(rest)
        case whole:
            return x[0] ** 2 + len(whole)


@pytest.mark.parametrize(("f", "rest"), CASES)
def test_gradient(f: Any, rest: tuple[Any, ...]) -> None:
    check_program(f, rest)


def test_a_star_alone_asks_for_no_length() -> None:
    def f(x):
        match np.asarray(x):
            case [*_]:
                return x * 3.0
            case _:
                return x * 2.0

    assert ad.value_and_grad(f)(1.5) == (f(1.5), f(1.0))


def test_an_array_without_axes_has_no_items() -> None:
    def f(x):
        match np.asarray(x):
            case [a]:
                return a * 1.0
            case b:
                return b * 2.0

    try:
        expected = f(1.5)
    except TypeError:  # of versions of NumPy whose arrays are sequences to a pattern
        with pytest.raises(TypeError):
            ad.value_and_grad(f)(1.5)
    else:
        assert ad.value_and_grad(f)(1.5) == (expected, 2.0)
