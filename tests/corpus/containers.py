"""Containers."""

from __future__ import annotations

import itertools
from collections import deque

import numpy as np


def case_sorted_list_of_values(x):
    s = sorted([x[0], x[1], x[2]])
    return s[0] * 3 + s[2]


def case_enumerate_zip_reversed(x):
    s = 0.0
    for i, (a, b) in enumerate(zip(reversed(x), x)):
        s += a * b * i
    return s


def case_memo_dict_dp(x):
    memo = {}

    def fib(n):
        if n in memo:
            return memo[n]
        r = x[n] if n < 2 else fib(n - 1) * x[2] + fib(n - 2)
        memo[n] = r
        return r

    return fib(6)


def case_comprehension_scope(x):
    i = 5
    s = sum([x[i] * i for i in range(3)])
    return s * i


def case_tuple_swap_items(x):
    a = x * 1.0
    a[0], a[1] = (a[1], a[0] * x[2])
    a[[0, 1]] = a[[1, 0]]
    return np.sum(a * np.array([1.0, 10.0, 100.0]))


def case_list_alias_grow(x):
    a = []
    b = a
    for i in range(len(x)):
        b.append(x[i] * 2)
        if len(a) > 2:
            a[0] = x[i]
    return sum(a) * b[0]


def case_list_of_same_buffer_copy(x):
    hist = []
    y = x.copy()
    for i in range(3):
        y *= x
        hist.append(y.copy())
    return sum((np.sum(h * k) for k, h in enumerate(hist)))


def case_map_multiple_and_filter(x):
    a = list(map(lambda p, q: p * q, x, [1.0, 2.0, 3.0]))
    b = list(filter(lambda k: k % 2 == 0, range(3)))
    return sum(a) * sum((x[k] for k in b)) + sum(map(np.sin, [x[0], x[1]]))


def case_sorted_by_key(x):
    order = sorted(range(3), key=lambda i: -i)
    d = {"b": x[0], "a": x[1]}
    return sum((x[i] * k for k, i in enumerate(order))) + [d[k] for k in sorted(d, reverse=True)][0] * 5


def case_reversed_and_zip_strict(x):
    s = 0.0
    for i in reversed(range(3)):
        s = s * 0.5 + x[i]
    for a, b, c in zip(x, x[::-1], (1.0, 2.0, 3.0)):
        s += a * b * c
    return s


def case_dict_comprehension_filtered(x):
    d = {f"k{i}": x[i] * (i + 1) for i in range(3) if i != 1}
    e = {v: k for k, v in {"a": 0, "b": 2}.items()}
    return d["k0"] * d["k2"] + sum((x[i] for i in e))


def case_nested_comprehension(x):
    m = [[x[i] * x[j] for j in range(3) if j != i] for i in range(3)]
    return sum((m[i][0] * m[i][1] for i in range(3))) + sum((a * b for a in x for b in x if a < b))


def case_set_of_plain_values(x):
    used = set()
    s = 0.0
    for k in (2, 0, 2, 1, 0):
        if k in used:
            continue
        used.add(k)
        s += x[k] * len(used)
    return s * len({1, 2} & {2, 3} | {5})


def case_iterate_dict_views(x):
    d = {"a": x, "b": x * x}
    s = 0.0
    for k in d:
        s += np.sum(d[k])
    for v in d.values():
        s *= v[0]
    for k, v in d.items():
        if k == "b":
            s += v[1]
    return s


def case_list_aliases(x):
    a = [x[0], x[1]]
    b = a
    c = a[:]
    b.append(x[2])
    a += [1.0]
    a = a + [2.0]
    b[0] = x[2] * 2
    return sum(a) + b[0] * c[0] * len(b)


def case_list_times(x):
    a = [x] * 3
    b = [x[0]] * 2 + [x[1]]
    a[0] = a[0] * 2
    c = [x * 1.0] * 2
    c[0][0] = 5.0 * x[1]
    return np.sum(a[0] * a[1]) + b[0] * b[1] * b[2] + np.sum(c[1])


def case_dynamic_list_slices(x):
    h = [x[0]]
    for i in range(4):
        h.append(h[-1] * x[i % 3] + (h[-2] if i > 0 else 0.0))
    return sum(h[1:]) * h[-2] + sum(h[::2]) + h[len(h) // 2]


def case_grow_lists_of_records(x):
    hist = []
    a, b = (x[0], x[1])
    for i in range(3):
        hist.append((a, {"b": b, "i": i}))
        a, b = (b, a * b)
    s = 0.0
    for v, rec in hist[1:]:
        s += v * rec["b"] * rec["i"]
    return s + hist[0][0] + hist[-1][1]["b"]


def case_list_of_lists_table(x):
    n = 3
    g = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            g[i][j] = x[i] * x[j] + (g[i - 1][j] if i > 0 else 0.0)
    return g[2][2] * g[1][0]


def case_list_of_rows_stored(x):
    rows = [np.zeros(3) for _ in range(3)]
    for i in range(3):
        rows[i][:] = x * (i + 1)
        rows[i][0] = x[1]
    return np.sum(rows[0] * rows[1] + rows[2] ** 2)


def case_deque(x):
    q = deque([x[0], x[1]])
    q.append(x[2])
    q.appendleft(x[2] * 2)
    a = q.popleft()
    b = q.pop()
    return a * b * q[0] + len(q)


def case_conditional_keys(x):
    d = {"a": x}
    if x[0] > 0.5:
        d["b"] = x * 2
    s = 0.0
    for k, v in d.items():
        s = s + np.sum(v * v)
    return s * len(d)


def case_lists_to_arrays(x):
    parts = []
    for i in range(len(x)):
        parts.append(x[:i] * i)
    rows = []
    for i in range(3):
        rows.append(x * i)
    return (
        np.sum(np.concatenate(parts) ** 2)
        + np.sum(np.stack(rows) ** 2)
        + np.sum(np.array(rows)[1])
        + np.mean([x[0], x[1]])
    )


def case_itertools(x):
    s = 0.0
    for i, j in itertools.product(range(3), range(2)):
        s += x[i] * x[j]
    for a, b in itertools.combinations(range(3), 2):
        s += x[a] * x[b] * 2
    for v in itertools.accumulate([x[0], x[1]]):
        s += v * v
    for v in itertools.chain([x[0]], (x[1],)):
        s += v
    return s


def case_work_list(x):
    todo = [(0, 1.0)]
    s = 0.0
    while todo:
        i, w = todo.pop()
        s += w * x[i]
        if i < 2:
            todo.append((i + 1, w * x[i]))
            todo.append((i + 1, w * 2))
    return s
