"""Programs in which something has to be static that is so on each path, in each trip or for each value only."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler import errors
from tests.differences import differences

V = np.array([0.7, 1.3, 2.1])


def check(f: Any, *args: Any, second: bool = True) -> None:
    before = copy.deepcopy(args)
    g = ad.grad(f)
    got = g(*args)
    np.testing.assert_allclose(got, differences(f, *args), rtol=1e-5, atol=1e-7)
    for a, b in zip(args, before):
        np.testing.assert_equal(a, b)
    if second:

        def directional(*xs: Any) -> Any:
            return np.sum(g(*xs) * np.cos(np.arange(xs[0].size)).reshape(xs[0].shape))

        hessian = ad.grad(lambda *xs: np.sum(g(*xs) * np.cos(np.arange(xs[0].size)).reshape(xs[0].shape)))(*args)
        np.testing.assert_allclose(hessian, differences(directional, *args), rtol=1e-4, atol=1e-5)


# --- aliases that depend on a condition -------------------------------------------------------------------------------


def by_expression(x, c):
    a = x * 1.0
    b = a if c > 0 else a * 2
    b[0] = 5.0
    return np.sum(a * a * b)


def by_statement(x, c):
    a = x * 1.0
    if c > 0:
        b = a
    elif c > -1:
        b = x
    else:
        b = a * 2
    b *= 2.0
    return np.sum(a * a * b * x)


def in_loop(x, c):
    a = x * 1.0
    s = 0.0
    for t in range(3):
        if c > t:
            b = a
        else:
            b = a * 2
        b[0] *= 0.5
        s += np.sum(b * a)
    return s


def nested_if(x, c):
    a = x * 1.0
    b = a
    if c > 0:
        if c > 1:
            b = a * 2.0
        b += 1.0
    b[0] = 3.0 * x[1]
    return np.sum(a * b)


def after_loop(x, c):
    a = x * 1.0
    b = a
    for i in range(2):
        if c > i:
            b = b * 2.0
    b[0] = 1.0
    return np.sum(a * b)


def pick(a, c):
    if c > 0:
        return a
    return a * 2.0


def picked_by_expression(a, c):
    return a if c > 0 else a * 2.0


def picked_twice(a, c):
    q = picked_by_expression(a, c)
    return q


def in_helper(x, c):
    a = x * 1.0
    b = pick(a, c)
    b[0] = 4.0 * x[1]
    return np.sum(a * a) + np.sum(b)


def in_helpers_helper(x, c):
    a = x * 1.0
    s = np.sum(a) + np.sum(picked_twice(a, c) * a)
    b = picked_twice(a, c)
    b[0] = 4.0
    return np.sum(a * a) + np.sum(b) + s


def helper_in_loop(x, c):
    a = x * 1.0
    s = 0.0
    for t in range(3):
        b = picked_by_expression(a, c - t)
        b[t] *= 0.5
        s += np.sum(b * a)
    return s


def stored_before_return(a, c):
    if c > 2:
        return a
    if c > 1:
        a[0] = 2.0
        return a * 1.0
    b = a * 3
    return b


def early_returns(x, c):
    a = x * 1.0
    if c > 0:
        b = stored_before_return(a, c)
        b[1] = 7.0
    else:
        b = a
    b *= 2
    return np.sum(a * a * b)


def scaled(q, r):
    r[0] = 3.0
    return np.sum(q * r)


def in_argument(x, c):
    a = x * 1.0
    return scaled(a * 2, a if c > 0 else a * 3) + np.sum(a * a)


def in_order(x, c):
    """What stands left of the conditional expression is evaluated before it."""
    a = x * 1.0
    b = scaled(x, a) * (a if c > 0 else a * 2)
    b += a
    d = a if c > 1 else b
    d[1] += scaled(d, a if c > 0 else b)
    return np.sum(a * b * d)


def short_circuit(x, c):
    a = x * 1.0
    none = None
    b = none or (a if c > 0 else a * 2)
    b[0] = 2.0
    return np.sum(a * b)


@pytest.mark.parametrize("c", [-2.0, -0.5, 0.5, 1.5, 2.5])
@pytest.mark.parametrize(
    "f",
    [by_expression, by_statement, in_loop, nested_if, after_loop, in_helper, in_helpers_helper, helper_in_loop]
    + [early_returns, in_argument, in_order, short_circuit],
)
def test_aliases(f: Any, c: float) -> None:
    check(f, V, c, second=c in (-0.5, 1.5))


# --- containers and objects of different kinds ------------------------------------------------------------------------


def other_keys(x, c):
    d = {"a": x}
    if c > 0:
        d["b"] = x * 2
    s = 0.0
    for k in d:
        s = s + np.sum(d[k] ** 2)
    return s


def other_kind(x, c):
    if c > 0:
        y = (x, x * 2)
    else:
        y = [x]
    s = 0.0
    for t in y:
        s += np.sum(t * t)
    return s


def maybe_none(x, c):
    w = None
    if c > 0:
        w = x * 2
    y = x * x
    if w is not None:
        y = y * w
        y += w
    return np.sum(y)


def other_items(x, c):
    parts = [x]
    if c > 0:
        parts.append((x, 2))
    else:
        parts.append({"a": x})
    y = parts[1][0] if c > 0 else parts[1]["a"]
    return np.sum(y * x * x)


class Linear:
    def __init__(self, w):
        self.w = w

    def run(self, x):
        return np.sum(self.w * x)


class Squared(Linear):
    def run(self, x):
        return np.sum(self.w + x * x * x)


def other_class(x, c):
    model = Linear(x) if c > 0 else Squared(x)
    return model.run(x)


@pytest.mark.parametrize("c", [-1.0, 1.0])
@pytest.mark.parametrize("f", [other_keys, other_kind, maybe_none, other_items, other_class])
def test_kinds(f: Any, c: float) -> None:
    check(f, V, c)


# --- what depends on a loop's variable --------------------------------------------------------------------------------


def keys_by_number(x, n):
    d = {"W0": x, "W1": x * 2, "W2": x**3}
    s = 0.0
    for i in range(n):
        s = s + np.sum(d[f"W{i}"])
    return s


def memo(x, n):
    table = {}
    for i in range(len(x)):
        table[i] = x[i] * (table[i - 1] if i > 0 else 1.0)
    return table[len(x) - 1]


def list_of_tuples(x, n):
    layers = [(x, 1.0), (x * 2, 2.0), (x, 3.0)]
    s = 0.0
    for i in range(n):
        w, b = layers[i]
        s += np.sum(w * b) * s + np.sum(w)
    return s


def while_keys(x, n):
    d = {"W0": x, "W1": x * 2, "W2": x**3}
    i = 0
    s = 0.0
    while i < n:
        s = s + np.sum(d[f"W{i}"])
        i += 1
    return s


def rows_kept(x, n):
    d = {}
    for i, row in enumerate(x.reshape(3, 1)):
        d[f"r{i}"] = row * 2
    s = 0.0
    for v in d.values():
        s += np.sum(v * v)
    return s


def leaves_early(x, n):
    d = {0: x, 1: x * x, 2: x**3}
    s = 0.0
    for i in range(3):
        if s > 5.0:
            break
        if i > n:
            continue
        s = s + np.sum(d[i])
    return s


def appended_twice(x, n):
    y = x * 2
    rows = []
    for _ in range(3):
        rows.append(y)
    y[0] = 1.0
    return np.sum(rows[0] * rows[2])


def dicts_in_list(x, n):
    out = []
    for v in x:
        out.append({"v": v * v})
    return sum([d["v"] * d["v"] for d in out])


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize(
    "f",
    [keys_by_number, memo, list_of_tuples, while_keys, rows_kept, leaves_early, appended_twice, dicts_in_list],
)
def test_unrolled(f: Any, n: int) -> None:
    check(f, V, n)


def test_the_value_is_a_part_of_the_signature() -> None:
    g = ad.grad(keys_by_number)
    for n in (1, 3, 2, 0, 3):
        np.testing.assert_allclose(g(V, n), differences(keys_by_number, V, n), rtol=1e-6, atol=1e-9)
    h = ad.grad(memo)
    for x in (V, V[:2], np.array([1.5, 2.5, 3.5, 4.5])):
        np.testing.assert_allclose(h(x, 0), differences(memo, x, 0), rtol=1e-6)


def test_bounded() -> None:
    """Cases are not multiplied without end: the error that was to be avoided stands."""

    def f(x):
        a = x * 1.0
        b = a
        for i in range(12):
            if x[i % 3] > i:
                b = b if x[0] > 1 else b * 1.5
        b[0] = 1.0
        return np.sum(a * b)

    with pytest.raises(ad.AliasError, match="may share memory"):
        ad.grad(f)(V)


# --- None or a value, ranks, `match` ----------------------------------------------------------------------------------


def hit(b):
    if b <= 1.0:
        return None
    return b * b


def first_match(x, c):
    best = None
    for k in range(3):
        t = hit(x[k] + c)
        if t is not None and (best is None or t < best):
            best = t
    return max(best, 0.0) * x[0]


def nearest(x, c):
    found = np.inf
    for k in range(len(x)):
        t = hit(x[k] + c)
        if t is not None and t < found:
            found = t
    return max(found, 0.0)


def cached(x, c):
    cache = None
    s = 0.0
    for _ in range(3):
        if cache is None:
            cache = x * 2
        else:
            cache = cache * x
        s += np.sum(cache * cache)
    return s


def search(x, c):
    queue, dist, graph = [0], [0.0, None, None, None], {0: [1, 2], 1: [3], 2: [3], 3: []}
    while queue:
        u = queue.pop(0)
        for v in graph[u]:
            if dist[v] is None:
                dist[v] = dist[u] + x[v % 3] ** 2
                queue.append(v)
    return sum(dist)


def matched(x, c):
    a = x * 1.0
    match c:
        case -0.5:
            b = a
        case _ if c > 0:
            if c > 1:
                b = a
            else:
                b = a * 2
        case _:
            b = a * 3
    b[0] = 5.0
    return np.sum(a * b)


def buffers(x, c):
    pair = [x * 1.0, np.zeros_like(x)]
    for t in range(4):
        source, target = pair[t % 2], pair[(t + 1) % 2]
        target[:] = source * source * 0.5
        target[0] += source[1]
    return np.sum(pair[0] * pair[1])


@pytest.mark.parametrize("c", [-0.5, 0.5, 1.5])
@pytest.mark.parametrize("f", [first_match, nearest, cached, search, matched, buffers])
def test_known_on_each_path(f: Any, c: float) -> None:
    check(f, V, c, second=c == 0.5)


@pytest.mark.parametrize("axis", [0, 1, None])
def test_rank(axis: Any) -> None:
    def f(x, axis):
        loss = 0
        t = np.sum(x * x, axis=axis)
        t += 1.0
        for i in range(2):
            loss += np.sum(x * (i + 1.0), axis=axis) ** 2 * t
        return np.sum(loss)

    check(f, np.cos(np.arange(6.0)).reshape(2, 3), axis)


def test_what_a_path_raises_is_raised_there() -> None:
    """On the path on which nothing was found, and only there."""
    with pytest.raises(TypeError):
        first_match(V * 0.1, 0.0)
    with pytest.raises(TypeError):
        ad.grad(first_match)(V * 0.1, 0.0)


def returned_from_loop(a, c):
    for i in range(3):
        if c > i:
            return a
        a = a * 2
    return a * 1.0


def test_what_a_loop_returns_may_be_what_it_was_given() -> None:
    def stored(x, c):
        a = x * 1.0
        b = returned_from_loop(a, c)
        b[0] = 3.0
        return np.sum(a * b)

    def read(x, c):
        a = x * 1.0
        b = returned_from_loop(a, c)
        return np.sum(a * b * b)

    for c in (-0.5, 0.5, 1.5):
        check(read, V, c)
        with pytest.raises(ad.AliasError, match="may share memory"):
            ad.grad(stored)(V, c)


def swapped_until(x, y, s):
    a = y * 1.0
    z = a[:-1]
    k = 0
    while True:
        if k >= 3 or s > 2.0:
            break
        k += 1
        s = s + 0.5 * np.sin(s * x[0])
        a, y = y, a
    for _ in range(2):
        y[:-1] *= np.sin(z)
    return np.sum(y) * s


def test_a_loop_that_any_trip_may_leave_is_unrolled_for_some_trips_only():
    with pytest.raises(errors.AliasError, match="unprovable alias"):
        ad.grad(swapped_until)(np.ones(3), np.ones(3), 0.5)


X2 = np.array([[0.3, -1.2, 0.7], [1.5, 0.4, -0.6]])


def sum_along(x, axis=0):
    return np.sum(np.sum(np.abs(x), axis=axis) ** 2)


def softmax_along(x, axis):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return np.sum((e / np.sum(e, axis=axis, keepdims=True)) ** 2)


def means_along_each(x):
    s = 0.0
    for k in range(2):
        s = s + np.sum(np.mean(x, axis=k) ** 2)
    return s


def kept_axes(x, keep):
    return np.sum((x - np.mean(x, axis=0, keepdims=keep)) ** 2)


def joined_along(x, axis):
    joined = np.concatenate([x, x * 2.0], axis=axis)
    return np.sum(joined**2) + np.sum(np.cumsum(x, axis=axis) ** 2) + np.sum(np.stack([x, x], axis) ** 3)


@pytest.mark.parametrize(
    ("f", "given"),
    [
        (sum_along, ()), (sum_along, (0,)), (sum_along, (1,)), (sum_along, (-1,)), (softmax_along, (0,)),
        (softmax_along, (1,)), (means_along_each, ()), (kept_axes, (True,)), (joined_along, (0,)), (joined_along, (1,)),
    ],
)  # fmt: skip
def test_an_axis_that_is_an_argument(f, given):
    gradient = ad.grad(f)
    want = np.zeros_like(X2)
    for at in np.ndindex(X2.shape):
        up, down = X2.copy(), X2.copy()
        up[at] += 1e-6
        down[at] -= 1e-6
        want[at] = (f(up, *given) - f(down, *given)) / 2e-6
    np.testing.assert_allclose(gradient(X2, *given), want, atol=1e-6)


# --- comprehensions and calls that take the items of arrays -----------------------------------------------------------

NAMES = ["a", "b", "c"]


def dict_of_named(x, n):
    d = {name: v for v, name in zip(x, NAMES)}
    return d["a"] * d["b"] + d["c"]


def list_of_named(x, n):
    return sum([v * len(name) * (name != "b") for v, name in zip(x, NAMES)])


def rows_of_named(x, n):
    rows = [(name, v * 2.0) for name, v in zip(NAMES, x) if name in ("a", "c")]
    return sum(v * v for name, v in rows if name != "b") * dict(rows)["c"]


def spread_quartiles(x, n):
    return np.subtract(*np.percentile(x, [75, 25])) * np.subtract(*np.quantile(x, np.array([0.9, 0.1])))


def spread_slice(x, n):
    return np.hypot(*x[:2]) * np.maximum(*x[n - 1 : n + 1])


def spread_rows(x, n):
    a = np.outer(x, x)
    return np.sum(np.multiply(*a[1:])) + (lambda u, v, w: u * v - w)(*x)


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize(
    "f", [dict_of_named, list_of_named, rows_of_named, spread_quartiles, spread_slice, spread_rows]
)
def test_items_of_an_array(f: Any, n: int) -> None:
    check(f, V, n)


# --- arrays whose items are taken one by one --------------------------------------------------------------------------


def volume(p, q, r):
    return p * q + np.sin(r)


def items_as_arguments(x):
    return volume(*x) + np.hypot(*x[:2]) + volume(*np.cos(x))


def items_in_a_list(x):
    padded = [1.0, *x]
    padded.append(2.0)
    return padded[1] * padded[2] * padded[-1]


def items_in_a_tuple(x):
    first, *rest = x
    t = tuple(x)
    return first * sum(rest) * t[1] ** 2


def rows_as_arguments(x):
    table = np.outer(x, x)
    return sum(volume(*row) for row in table) + max(*x)


@pytest.mark.parametrize("f", [items_as_arguments, items_in_a_list, items_in_a_tuple, rows_as_arguments])
def test_arrays_that_are_spread(f):
    check(f, V)


def test_items_of_an_array_of_another_length():
    g = ad.grad(items_in_a_tuple)
    for x in (V, np.linspace(0.5, 2.0, 5), V[:2]):
        np.testing.assert_allclose(g(x), differences(items_in_a_tuple, x), rtol=1e-5)


def test_as_many_names_as_items():
    def f(x):
        p, q = zip(*np.outer(x, x))
        return p[0] * q[0] + np.sum(p)

    check(f, V[:2])
    with pytest.raises(ValueError, match="too many values to unpack"):
        ad.grad(f)(V)


def test_a_number_of_items_that_only_the_run_tells():
    with pytest.raises(errors.AutodiffError, match="the number of items of an array has to be known"):
        ad.grad(lambda x: volume(*x[x > 0.0]))(V)


def test_numbers_of_an_array_of_unknown_dtype():
    def stretched(x):
        width = np.max(x) - np.min(x)
        return (x - np.min(x)) / (1 if width == 0 else width)  # an int of Python's, or a float64 of NumPy's

    for numbers in (lambda x: stretched(x).tolist()[1], lambda x: stretched(x)[1].item()):
        with pytest.raises(errors.AutodiffError, match=r"unknown dtype(.|\n)*with \.astype"):
            ad.grad(numbers)(V)
    check(lambda x: stretched(x).astype(float).tolist()[1], V)
