"""Whole programs: the IR, interpreted, gives what Python gives."""

from __future__ import annotations

import copy
import dataclasses
import functools
import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from autodiff_compiler.frontend.lower import lower
from autodiff_compiler.ir.interp import interpret
from autodiff_compiler.ir.verify import verify
from autodiff_compiler.lowered import bind_arguments, fetch
from autodiff_compiler.tree import flatten, unflatten


def outcome(f: Any, args: Any) -> Any:
    try:
        return ("value", f(*copy.deepcopy(args)))
    except Exception as error:
        return ("error", type(error))


def lowered_outcome(f: Any, args: Any) -> Any:
    low = lower(f, args, {})
    verify(low.function)
    before = copy.deepcopy(args)
    values = tuple(bind_arguments(f, args, {})[1])
    try:
        leaves = [fetch(i.path, values) for i in low.inputs]
        result = ("value", unflatten(low.out, interpret(low.function, leaves)))
    except Exception as error:
        return ("error", type(error))
    for a, b in zip(flatten(args)[0], flatten(before)[0]):
        np.testing.assert_array_equal(a, b)
    return result


def check(f: Any, *args: Any) -> None:
    want, got = outcome(f, args), lowered_outcome(f, args)
    assert got[0] == want[0], (got, want)
    if want[0] == "error":
        assert issubclass(got[1], want[1]) or issubclass(want[1], got[1]), (got, want)
        return
    xs, tree_x = flatten(got[1])
    ys, tree_y = flatten(want[1])
    assert tree_x == tree_y
    for x, y in zip(xs, ys):
        np.testing.assert_allclose(x, y, rtol=1e-12)
        assert np.shape(x) == np.shape(y)
        assert np.result_type(x) == np.result_type(y)


X = np.array([0.3, -0.7, 1.2, 0.5])
Y = np.array([1.1, 0.2, -0.4, 2.0])
M = np.arange(12.0).reshape(3, 4) / 7 - 0.6
scale = 2.5
table = {"w": np.array([1.0, 2.0, 3.0, 4.0]), "b": 0.5}
settings = [1.0, 2.0]


def straight(x, y):
    a = x * y + scale
    b, c = a, a - 1
    return (b * c).sum() / len(x)


def globals_and_defaults(x, k=3.0, *, shift=None):
    if shift is None:
        shift = settings[1]
    return np.sum(x * k + table["w"]) + table["b"] + shift


def branches(x):
    s = np.sum(x)
    if s > 10:
        return s * 2
    elif s > 0:
        y = s + 1
    else:
        y = -s
    if y > 2 and s != 0 or y < -5:
        y = y / 2
    z = y if y > 0 else -y
    return z * (s > 0) + (1 < y < 3)


def early_returns(x, n):
    for i in range(n):
        for j in range(i):
            if x[j] > 1.0:
                return x[j] * i
            if x[i] < 0:
                continue
            if x[i] * j > 5:
                break
        else:
            x[i] += 1
    return x.sum()


def stores(x):
    y = x.copy()
    y[0] = 3.0
    y[1:] = y[:-1] * 2
    y[y > 2] = 0.5
    y[[0, 2]] += 1.0
    y += x
    y *= 2
    y[-1] -= 4
    return y.sum() + x.sum()


def store_in_argument(x, y):
    x[0] = y[1]
    x += y
    return np.sum(x * y)


def views(x):
    y = x * 1.0
    z = y[1:]
    z[0] = 5.0
    w = z[::-1]
    w[0] = 7.0
    z += 1
    r = y.reshape(2, 2)
    r[1, 0] = -1.0
    t = r.T
    t[0] += 10
    return y.sum() * y[1] + z[0] + r[0, 1]


def alias(x):
    a = x * 2
    b = a
    a += 1
    b[0] = 9
    return a.sum() + b[1]


def swap(x, y):
    a, b = x.copy(), y.copy()
    a, b = b, a
    a[0] = 100
    return a.sum() + 2 * b.sum()


def swap_loop(x, n):
    a = x.copy()
    b = np.zeros_like(a)
    for t in range(n):
        for i in range(1, len(x) - 1):
            b[i] = (a[i - 1] + a[i + 1]) * 0.5
        a, b = b, a
    return a.sum() - b[0]


def helper_mutates(a, k):
    a[k] = a[k] * 2
    for i in range(k):
        a[i] += 1


def calls_mutating(x):
    y = x.copy()
    helper_mutates(y, 2)
    helper_mutates(y[1:], 1)
    return (y * y).sum()


def while_loop(x):
    n = 0
    while np.sum(x) < 20:
        x = x * 1.5 + 0.1
        n += 1
        if n > 6:
            break
    else:
        x = x - 1
    return x.sum() + n


def while_true(x):
    i = 0
    while True:
        if i >= len(x):
            return x.sum()
        x[i] = x[i] * i
        i += 1


def closures(x):
    k = x[0]

    def inner(v, w=2.0):
        return v * k + w

    k = x[1]
    f = lambda v: inner(v) + 1
    return f(x).sum() + inner(x, w=k).sum()


def nonlocal_counter(x):
    total = 0.0

    def add(v):
        nonlocal total
        total = total + v

    for i in range(len(x)):
        add(x[i] * i)
    return total


def lists(x):
    out = []
    for i in range(len(x)):
        out.append(x[i] * 2)
    s = 0.0
    for v in out:
        s += v
    out[1] = s
    return out[0] + out[-1] + len(out) + out[1]


def list_of_arrays(x):
    hs = [x]
    for _ in range(3):
        hs.append(np.tanh(hs[-1]) + x)
    return np.sum(hs[2] * hs[-1]) + sum(h.sum() for h in hs)


def static_lists(x):
    xs = [x, x * 2, 3.0]
    xs[2] = xs[0] + 1
    a, *rest = xs
    total = 0
    for k, v in enumerate(xs):
        if k == 1:
            continue
        total = total + v * k
    return (a + rest[-1] + total).sum()


def unrolled_dynamic(x):
    total = 0.0
    for v in (1.0, 2.0, 3.0, 4.0):
        if total > x[0] * 3:
            break
        if x[1] * v < -1:
            continue
        total += v * x[2]
    else:
        total += 100
    return total


def comprehension(x):
    ys = [v * v for v in x if v > 0]
    zs = [a + b for a in (1.0, 2.0) for b in (x[0], x[1])]
    d = {k: x[k] * k for k in range(3)}
    return sum(ys) + sum(zs) + d[2] + len(ys)


def iterate(x, m):
    s = 0.0
    for row in m:
        for v in row:
            s += v * v
    for i, (a, b) in enumerate(zip(x, x[1:])):  # noqa: RUF007
        s += i * a * b
    for v in reversed(x):
        s = s * 0.5 + v
    for i in range(len(x) - 1, -1, -2):
        s += x[i] * i
    for i in reversed(range(3)):
        s -= x[i]
    return s + i


def tuples(x):
    def pair(v):
        return v, v * 2

    p = pair(x[0])
    for i in range(3):
        p = pair(p[0] + p[1])
    (a, b), c = p, 3
    return a + b + c


def containers(params, x):
    h = x
    for layer in params["layers"]:
        h = np.tanh(h @ layer["w"] + layer["b"])
    return h.sum() * params["scale"]


class Point(NamedTuple):
    x: Any
    y: Any = 1.0


@dataclasses.dataclass
class Body:
    mass: float
    pos: Any
    tag: str = "b"

    def moved(self, d):
        return Body(self.mass, self.pos + d)

    @property
    def energy(self):
        return self.mass * np.sum(self.pos**2)


class Model:
    factor = 3.0

    def __init__(self, w):
        self.w = w
        self.calls = 0

    def __call__(self, x):
        return np.sum(x * self.w) * self.factor + self.bias(x)

    def bias(self, x):
        return x[0]


class Deep(Model):
    def count(self):
        self.calls += 1
        return self.calls

    def bias(self, x):
        return super().bias(x) * 2


def objects(x):
    b = Body(2.0, x).moved(1.0)
    p = Point(x[0])
    m = Deep(x)
    return b.energy + p.x * p.y + m(x) + m.count() + m.count()


def given_object(body, x):
    return body.energy + body.moved(x).energy + (1 if body.tag == "b" else 2)


def make_scaled(k):
    def f(x):
        return (x * k).sum()

    return f


@dataclasses.dataclass
class Holder:
    fn: Any


power = functools.partial(lambda a, b, c: a * b + c, 2.0, c=5.0)


def partials(x):
    return np.sum(power(x)) + functools.partial(np.sum, axis=0)(x)


def decorated(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs) * 2

    return wrapper


@decorated
def doubled(x):
    return x.sum()


def calls_decorated(x):
    return doubled(x) + 1


def loop_last(x):
    for i in range(len(x)):
        y = x[i] * 2
    return y + i


def maybe_unbound(x):
    if x[0] > 100:
        z = x[1]
    return z


def raises(x):
    if x[0] < 1:
        raise ValueError(f"bad {x[0]}")
    return x.sum()


def guarded(x):
    if x.ndim != 1:
        raise ValueError("no")
    if np.sum(x) > 1000:
        raise ValueError("no")
    assert x.shape[0] == len(x), "length"
    return x.mean()


def recursion(x, depth=4):
    if depth == 0:
        return x.sum()
    return recursion(x * 0.5, depth - 1) + depth


def numpy_calls(x, m):
    a = np.concatenate([x, x * 2])
    b = np.stack([x, x + 1]).sum(axis=0)
    c = np.where(x > 0, x, 0.0)
    d = np.einsum("ij,j->i", m, x) + m.dot(x)
    e = m.T @ d[:3]
    f = np.linalg.norm(x) + np.max(x) - x.min() + np.std(x)
    g = np.zeros((2, len(x)))
    g[0] = x
    g[1, 2:] = x[2:]
    h = np.outer(x, x)[0].reshape(-1, 1)
    return a.sum() + b.sum() + c.sum() + e.mean() + f + g.sum() + h.sum() + m.transpose().reshape(-1)[3] + np.pi


def add_at(x):
    y = np.zeros(3)
    np.add.at(y, [0, 1, 1, 2], x)
    y[[0, 0]] += 1.0
    return (y * y).sum()


def out_argument(x):
    y = np.empty_like(x)
    np.multiply(x, 2.0, out=y)
    np.add(y, 1, y)
    return y.sum()


def carried_array(x, n):
    h = np.zeros(3)
    c = np.zeros(3)
    for t in range(n):
        h, c = np.tanh(h + x[t]), c * 0.5 + h
    return h.sum() + c.sum()


def shrinking(x):
    y = x
    while len(y) > 1:
        y = y[1:] * y[:-1]
    return y[0]


def bools(x, flag):
    v = x[0] > 0 and x[1]
    w = x[0] < 0 or x[2]
    return v + w + (1.0 if flag else 2.0) + (not flag)


def first_flag(x):
    first = True
    best = None
    for v in x:
        if first or v > best:
            best = v
            first = False
    return best


def in_place_both(x, c):
    if c > 0:
        x[0] = 1.0
    else:
        x[1:] = 2.0
    return np.sum(x * x)


def chained(x):
    A = np.zeros((3, 3))
    for i in range(3):
        for j in range(i + 1):
            A[i][j] = x[i] * x[j]
            A[i, j] += 1
    return A.sum() + A[1][0]


def walrus(x):
    if (n := len(x)) > 2 and (s := x.sum()) > 0:
        return n * s
    return 0.0


def scalars(a, b):
    c = a // 2 + a % 3 + b**2 + abs(-b) + max(a, b) + min(b, 1.0, a)
    return math.sqrt(c) + math.sin(b) * round(b, 2) + int(b) + float(a) + divmod(a, 2)[0]


def structured(x):
    return {"a": x * 2, "b": (x.sum(), [x[0], None, 3])}


def imports(x):
    import math as m

    from numpy import tanh

    return m.exp(x[0]) + tanh(x).sum()


def string_modes(x, mode):
    if mode == "sum":
        return x.sum()
    elif mode in ("mean", "avg"):
        return x.mean()
    raise KeyError(mode)


def dict_updates(x):
    d = {"a": x, "b": x * 2}
    d["c"] = d["a"] + d["b"]
    d["a"] = d["a"] * 3
    s = 0.0
    for k, v in d.items():
        if k != "b":
            s = s + v.sum()
    return s + d.get("z", 1.0) + len(d)


def nested_stores_in_if(x, n):
    for i in range(n):
        if x[i] > 0:
            for j in range(len(x)):
                x[j] = x[j] * 0.9
            y = x[1:]
            y[0] += i
        else:
            x[i] = -x[i]
    return x.sum()


def conditional_rebind(x, c):
    y = x * 2
    if c > 0:
        y = y + 1
    y[0] = 5.0
    return y.sum() + x.sum()


def loop_over_list_arg(xs):
    s = 0.0
    for x in xs:
        s = s + x.sum()
    return s


def list_pop(x):
    stack = [x[0]]
    for i in range(1, 4):
        stack.append(x[i] * stack[-1])
    s = 0.0
    while stack:
        s += stack.pop()
    return s


def sum_cases(x, m):
    return sum(x) + sum(m)[0] + sum([x[0], x[1]], 2.0) + sum(v * v for v in x)


def zero_d(x):
    z = np.array(2.0)
    z += x[0]
    y = np.asarray(x)
    return z * y.sum()


def prints(x):
    for i in range(2):
        print(f"{i} {x[i]:.2f}", "done", sep="-")
    return x.sum()


PARAMS = {"layers": [{"w": np.eye(4) * 0.3, "b": 0.1}, {"w": np.ones((4, 2)), "b": np.array([0.1, 0.2])}], "scale": 2.0}

CASES: list[tuple[Any, ...]] = [
    (straight, X, Y),
    (globals_and_defaults, X),
    (branches, X),
    (branches, X * 9),
    (branches, -X),
    (early_returns, X, 4),
    (early_returns, np.array([0.5, 0.7, 0.2, 0.1]), 4),
    (early_returns, np.array([0.5, 6.0, 0.2, 0.1]), 4),
    (stores, X),
    (store_in_argument, X, Y),
    (views, X),
    (alias, X),
    (swap, X, Y),
    (swap_loop, X, 3),
    (swap_loop, X, 0),
    (calls_mutating, X),
    (while_loop, X),
    (while_loop, X * 40),
    (while_true, X),
    (closures, X),
    (nonlocal_counter, X),
    (lists, X),
    (list_of_arrays, X),
    (static_lists, X),
    (unrolled_dynamic, X),
    (unrolled_dynamic, np.array([-1.0, -0.7, 1.2])),
    (unrolled_dynamic, np.array([9.0, 0.7, 1.2])),
    (comprehension, X),
    (iterate, X, M),
    (tuples, X),
    (containers, PARAMS, X),
    (objects, X),
    (given_object, Body(3.0, Y), X),
    (make_scaled(2.0), X),
    (make_scaled(X), X),
    (partials, X),
    (doubled, X),
    (calls_decorated, X),
    (Deep(X), Y),
    (Deep(X).bias, Y),
    (loop_last, X),
    (loop_last, X[:0]),
    (maybe_unbound, X),
    (maybe_unbound, X + 200),
    (raises, X),
    (raises, X + 5),
    (guarded, X),
    (recursion, X),
    (numpy_calls, X, M),
    (add_at, X),
    (out_argument, X),
    (carried_array, X, 4),
    (shrinking, X),
    (bools, X, True),
    (bools, -X, False),
    (first_flag, X),
    (in_place_both, X, 1.0),
    (in_place_both, X, -1.0),
    (chained, X),
    (walrus, X),
    (walrus, -X),
    (scalars, 7, 2.5),
    (structured, X),
    (imports, X),
    (string_modes, X, "sum"),
    (string_modes, X, "avg"),
    (string_modes, X, "none"),
    (dict_updates, X),
    (nested_stores_in_if, X, 4),
    (conditional_rebind, X, 1.0),
    (conditional_rebind, X, -1.0),
    (loop_over_list_arg, [X, Y, M]),
    (list_pop, X),
    (sum_cases, X, M),
    (zero_d, X),
    (prints, X),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: getattr(c[0], "__name__", type(c[0]).__name__))
def test_program(case: tuple[Any, ...]) -> None:
    check(*case)


def power_of(x, n):
    if n == 0:
        return 1.0
    return x * power_of(x, n - 1)


def divide(x):
    n = len(x)
    if n == 1:
        return x[0]
    return divide(x[: n // 2]) * 2 + divide(x[n // 2 :])


@pytest.mark.parametrize("case", [(power_of, 1.5, 6), (divide, X), (divide, X[:3])], ids=["power", "four", "three"])
def test_recursion(case: tuple[Any, ...]) -> None:
    check(*case)
