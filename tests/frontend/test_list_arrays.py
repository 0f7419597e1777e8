"""Arrays made of lists whose length is known at run time only, and containers as what a function reads and returns."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.frontend.container_checks import X, check

PROGRAMS: list[Callable[[Any], Any]] = []


def program(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS.append(f)
    return f


@program
def p_array(x):
    p = [x * i for i in range(len(x))]
    return np.sum(np.array(p)[1] ** 2)


@program
def p_stack(x):
    p = [x * i for i in range(len(x))]
    return np.sum(np.stack(p) ** 3) + np.sum(np.stack(p, axis=1)[0]) + np.sum(np.stack(p, axis=-1)[1] ** 2)


@program
def p_concatenate(x):
    p = [x[:i] * x[i] for i in range(len(x))]
    return np.sum(np.concatenate(p) ** 2 * np.arange(3.0))


@program
def p_concatenate_axis(x):
    p = [np.outer(x, x[:i]) for i in range(len(x))]
    q = [np.outer(x[:i], x) for i in range(len(x))]
    return (
        np.sum(np.concatenate(p, axis=1) ** 2)
        + np.sum(np.concatenate(q) ** 3)
        + np.sum(np.vstack(q))
        + np.sum(np.hstack(p) ** 2)
    )


@program
def p_vstack_hstack_column_stack(x):
    p = [x * (i + 1) for i in range(len(x))]
    return np.sum(np.vstack(p) * np.hstack(p).reshape(3, 3)) + np.sum(np.column_stack(p)[0] ** 2)


@program
def p_hstack_scalars(x):
    p = [x[i] ** 2 for i in range(len(x))]
    return (
        np.sum(np.hstack(p) * x)
        + np.dot(np.array(p), x)
        + np.mean(p)
        + np.sum(p)
        + np.max(p)
        + np.prod(np.asarray(p))
        + np.linalg.norm(p)
    )


@program
def p_mean_sum(x):
    p = []
    for i in range(len(x)):
        p.append(x * i)
    return np.mean(p) + np.sum(p) * 2 + np.sum(np.mean(p, axis=0) ** 2) + np.sum(np.sum(p, axis=0) * x)


@program
def p_records(x):
    l = []
    for i in range(len(x)):
        l.append((x[i], x[i] ** 2))
    m = np.array(l)
    g = np.array([[x[i] * j for j in range(2)] for i in range(len(x))])
    return np.sum(m[:, 0] * m[:, 1] ** 2) + np.sum(g**2)


@program
def p_nested_list(x):
    n = len(x)
    g = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            g[i][j] = x[i] * x[j] * j
    A = np.array(g)
    return np.sum(A @ A) + A[0, 1]


@program
def p_array_ops_on_list(x):
    p = []
    for i in range(len(x)):
        p.append(x[i] * 2)
    return np.sum(p * x) + np.sum(x + p) + np.dot(p, x)


@program
def p_asarray_zip_star(x):
    pts = [(v, v * v) for v in x]
    xs = [a for a, _ in pts]
    ys = np.array([b for _, b in pts])
    return np.sum(np.array(xs) * ys)


@program
def p_concatenate_pair_with_dyn(x):
    p = [x * i for i in range(len(x))]
    return np.sum(np.concatenate([x] + p + [x * 2]) ** 2) + np.sum(np.concatenate((np.array(p)[0], x)))


@program
def p_block(x):
    rows = []
    for i in range(len(x)):
        rows.append(np.concatenate([x[:i], x[i:] * 2]))
    return np.sum(np.vstack(rows)[1:, 2] ** 2)


@program
def p_zip_star(x):
    pts = [(x[0], x[1]), (x[1], x[2])]
    xs, ys = zip(*pts)
    return xs[0] * ys[1] + sum(xs)


@program
def p_loop_concatenate_int(x):
    idx = []
    for i in range(len(x)):
        if x[i] > 1.0:
            idx.append(i)
    return np.sum(x[idx]) + np.sum(x[np.array(idx)] ** 2)


counts = Counter("aab")
defaults = defaultdict(float, k=2.0)
queue = deque([1.0, 2.0])
ordered = OrderedDict(a=3.0)
allowed = {0, 2}


@program
def p_global_collections(x):
    total = np.sum(x) * counts["a"] * defaults["k"] * queue[1] * ordered["a"]
    return total + sum(x[i] for i in allowed) * len(queue)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__[2:])
def test_program(f: Callable[[Any], Any]) -> None:
    check(f)


def test_what_a_global_set_or_deque_holds_is_seen_when_it_changes() -> None:
    chosen, last = {1}, deque([1.0], maxlen=2)

    def f(x):
        return sum(x[i] for i in chosen) * last[-1]

    gradient = ad.grad(f)
    np.testing.assert_array_equal(gradient(X), [0.0, 1.0, 0.0])
    chosen.add(2)
    last.append(3.0)
    np.testing.assert_array_equal(gradient(X), [0.0, 3.0, 3.0])


def test_an_argument_that_is_a_deque_stays_what_it_was() -> None:
    def f(x, q, d):
        q.append(x[0])
        d["new"] += q.popleft()
        return q[0] * x[1] + d["new"] * x[2]

    q, d = deque([2.0, 3.0]), defaultdict(float)
    np.testing.assert_array_equal(ad.grad(f)(X, q, d), [0.0, 3.0, 2.0])
    assert list(q) == [2.0, 3.0] and not d


def test_nested_results_of_vjp() -> None:
    def f(p):
        rows = [[p["x"][i] * j for j in range(i)] for i in range(len(p["x"]))]
        return {"rows": rows, "pair": (p["s"] * 2.0, "text")}

    out, pullback = ad.vjp(f, {"x": X, "s": 3.0})
    assert out["rows"] == [[], [0.0], [0.0, 2.1]] and out["pair"] == (6.0, "text")
    (g,) = pullback({"rows": [[], [1.0], [1.0, 2.0]], "pair": (1.0, None)})
    np.testing.assert_array_equal(g["x"], [0.0, 0.0, 2.0])
    assert g["s"] == 2.0


def test_list_of_pairs_by_which_to_differentiate() -> None:
    value, g = ad.value_and_grad(lambda pairs: sum(a * b for a, b in pairs))([(1.0, 2.0), (3.0, 4.0)])
    assert value == 14.0 and g == [(2.0, 1.0), (4.0, 3.0)]
