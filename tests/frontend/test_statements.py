"""Statements and expressions of every kind, alone and in combination."""

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
def walrus_comp(x):
    s = sum(y * y for v in [x[0], x[1], x[2]] if (y := v * 2) > 2)
    return s + y


@case(4)
def walrus_while(x, n):
    s = x[0]
    k = 0
    while (k := k + 1) < n:
        s = s * x[1] + k
    return s * k


@case()
def walrus_bool(x):
    if (a := x[0]) > 0 and (b := x[1] * a) > 0.5:
        return a * b
    return a


@case()
def walrus_bool_or(x):
    c = (a := x[0] * x[1]) > 5 or (b := x[2] ** 2) > 1
    return a * b + c


@case()
def walrus_list_comp_collect(x):
    t = 0.0
    ys = [t := t + v for v in x]
    return ys[0] * ys[2] + t


class O_chained_everything:
    pass


@case()
def chained_everything(x):
    o = O_chained_everything()
    d = {}
    l = [0, 0]
    a = np.zeros(3)
    o.v = d["k"] = l[1] = a[2] = q = x[0] * x[1]
    return o.v * d["k"] + l[1] ** 2 + a[2] + q


@case()
def starred_targets_nested(x):
    (a, *(b, c)), *d = (x[0], x[1], x[2]), x[0], x[1]
    return a * b * c * d[0] * d[1]


class O_starred_attr:
    pass


@case()
def starred_attr(x):
    o = O_starred_attr()
    l = [None, None]
    o.a, *l[1] = x[0], x[1], x[2]
    return o.a * l[1][0] + l[1][1] ** 2


@case()
def star_in_list_display_call_index(x):
    a = [x[0], x[1]]
    b = [*a, x[2], *a]
    c = (*b, *range(2))
    return b[3] * b[2] + sum(c)


class O_del_things:
    pass


@case()
def deletes_things(x):
    o = O_del_things()
    o.a = x[0]
    o.b = x[1]
    del o.a
    l = [x[0], x[1], x[2], x[0] * 2]
    del l[1:3], o.b
    d = {"a": x[0], "b": x[1]}
    del d["a"]
    k = 3
    del k
    return l[0] * l[1] * d["b"] + len(l)


@case()
def deletes_in_loop(x):
    l = [x[0], x[1], x[2]]
    s = 0.0
    for i in range(2):
        s += l[0]
        del l[0]
    return s * l[0]


@case()
def annotations(x: np.ndarray) -> float:
    y: float = x[0]
    z: "np.ndarray"
    z = x[1]
    w: list[float] = [y, z]
    o = {}
    o["a"]: float = 3.0
    return w[0] * w[1] * o["a"]


@case()
def local_imports(x):
    import math as m

    import numpy.linalg
    from numpy import linalg
    from numpy import sin as s

    return s(x[0]) * m.exp(2) + linalg.norm(x) + numpy.linalg.norm(x)


@case(2)
def ifexp_nested(x, n):
    y = np.sin((x if n > 1 else x * 2)[0 if x[0] > 1 else 1])
    return (y if y > 0 else -y) * x[n if n < 2 else 0] * (lambda q: q if q > 1 else q * q)(x[0])


class O_augassign_all:
    pass


@case()
def augassign_all(x):
    o = O_augassign_all()
    o.v = x[0]
    o.a = x * 1.0
    o.v *= x[1]
    o.a += x
    o.a[0] *= 3
    o.a[1:] **= 2
    d = {"a": x[0], "b": x * 1.0}
    d["a"] -= x[1]
    d["b"] /= 2
    d["b"][0] += 1
    l = [x[0], x * 1.0]
    l[0] **= 2
    l[1][1:] -= x[0]
    l[-1] *= 2
    t = (x * 1.0,)
    t[0][0] += 5
    n = 7
    n //= 2
    n %= 2
    n <<= 3
    n |= 1
    n ^= 3
    n &= 15
    n >>= 1
    return o.v + np.sum(o.a) + d["a"] * np.sum(d["b"]) + l[0] * np.sum(l[1]) + n + np.sum(t[0] * x)


@case()
def aug_matmul(x):
    a = np.outer(x, x)
    a @= np.ones((3, 3)) * 0.5
    return np.sum(a * a)


@case(3)
def loop_else(x, n):
    s = 0.0
    for i in range(n):
        if x[i] > 5:
            break
        s += x[i]
    else:
        s = s * x[0]
    while n > 0:
        n -= 1
        if n == 7:
            break
    else:
        s = s * s
    return s


@case()
def nonlocal_write_loop(x):
    t = 0.0
    k = 0

    def add(v):
        nonlocal t, k
        t += v * v
        k += 1
        return t

    for i in range(3):
        add(x[i] * i)
        if k == 2:
            add(x[0])
    return t * k


@case()
def nonlocal_nested_two(x):
    acc = x[0]

    def outer():
        def inner(v):
            nonlocal acc
            acc = acc * v

        inner(x[1])
        inner(x[2])

    outer()
    return acc


@case()
def nonlocal_read_later_binding(x):
    def g():
        return y * 2

    y = x[0]
    a = g()
    y = x[1] ** 2
    return a * g()


G_global_read = 2.5


@case()
def global_read(x):
    global G_global_read
    return np.sum(x * G_global_read)


@case()
def with_in_branch(x):
    if x[0] > 0.5:
        with np.errstate(all="ignore"):
            return np.sum(x**2)
    with np.errstate(all="ignore"):
        y = x * 3
    return np.sum(y)


@case()
def set_ops(x):
    s = {1, 2} - {2}
    return x[0] * sum(s)


@case()
def fstring(x):
    k = 3
    d = {f"a{k:02d}{'x'!r}": x[0]}
    return d["a03'x'"] ** 2


@case()
def slice_starred_index(x):
    A = np.outer(x, x)
    i = (1, 2)
    return A[i] * A[2, 1] + A[..., 0].sum() + A[1:, None, ::2].sum()


@case()
def chained_compare(x):
    return x[0] ** 2 if 0 < x[0] < x[1] < 5 else x[1]


@case()
def lambda_default_walrus(x):
    g = lambda v, k=2.0, *, j=x[1]: v * k * j
    return g(x[0]) + g(x[2], j=1.0)


@case(2)
def unbound_del(x, n):
    y = x[0]
    if n > 3:
        del y
    y = x[1]
    return y * y


@pytest.mark.parametrize(("f", "rest"), CASES)
def test_gradient(f: Any, rest: tuple[Any, ...]) -> None:
    check_program(f, rest)
