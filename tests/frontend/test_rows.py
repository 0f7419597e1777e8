"""Lists of run-time length whose items are tuples, dictionaries, objects, lists or arrays that change in place."""

from __future__ import annotations

from collections import deque, namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences
from tests.frontend.container_checks import X, check

PROGRAMS: list[Callable[[Any], Any]] = []
SHARING: list[Callable[[Any], Any]] = []


def program(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS.append(f)
    return f


def sharing(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    SHARING.append(f)
    return f


@program
def p_arrays_stored(x):
    a = [np.zeros(3) for _ in range(3)]
    for i in range(3):
        a[i][:] = x * i
        a[i][0] = x[1]
    return np.sum(a[0] * a[1] + a[2] ** 2)


@program
def p_arrays_stored_dyn(x):
    a = [np.zeros(3) for _ in range(len(x))]
    for i in range(len(x)):
        a[i][:] = x * i
        a[i][0] += x[1]
        a[i] *= 2.0
    s = 0.0
    for v in a:
        s += np.sum(v * v)
    return s


@program
def p_matrix_lol_dyn(x):
    n = len(x)
    g = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            g[i][j] = x[i] * x[j]
    s = 0.0
    for i in range(n):
        for j in range(n):
            s += g[i][j] * g[j][i] * (i + 1)
    return s


@sharing
def p_lol_shared_rows(x):
    g = [[0.0] * 3] * 3
    for i in range(3):
        g[i][i] = x[i]
    return g[0][1] + g[2][2]


@program
def p_lol_sum_rows(x):
    g = [[x[i] * j for j in range(3)] for i in range(3)]
    s = 0.0
    for row in g:
        row[1] = row[2] * x[0]
        for v in row:
            s += v * v
    return s


class P:
    def __init__(self, p, v):
        self.p = p
        self.v = v

    def step(self, dt):
        self.p = self.p + self.v * dt


@program
def p_particles_objects(x):
    ps = [P(x[i], x[i] * 0.5) for i in range(len(x))]
    for t in range(4):
        for p in ps:
            a = 0.0
            for q in ps:
                a += (q.p - p.p) * 0.1
            p.v = p.v + a
        for p in ps:
            p.step(0.1)
    return sum(p.p * p.v for p in ps)


@program
def p_dict_records_update(x):
    tr = []
    for i in range(len(x)):
        d = {"a": x[i], "b": 0.0}
        tr.append(d)
        d["b"] = x[i] * 2
    tr[1]["a"] = x[0] ** 2
    s = 0.0
    for d in tr:
        d["a"] *= 3.0
        s += d["a"] * d["b"]
    return s + tr[0]["a"]


@sharing
def p_record_shared(x):
    tr = []
    d = {"a": x[0]}
    for i in range(len(x)):
        d["a"] = d["a"] + x[i]
        tr.append(d)
    return sum(t["a"] for t in tr)


@sharing
def p_record_shared2(x):
    tr = []
    d = {"a": x[0]}
    for i in range(2):
        tr.append(d)
    tr[0]["a"] = x[1]
    return tr[1]["a"]


@sharing
def p_array_shared(x):
    tr = []
    a = np.zeros(3)
    for i in range(len(x)):
        a[i] = x[i]
        tr.append(a)
    return np.sum(tr[0] * tr[1])


@program
def p_array_append_then_fill(x):
    tr = []
    for i in range(len(x)):
        r = np.zeros(3)
        tr.append(r)
        r[i] = x[i]
        r[0] += x[1]
    s = 0.0
    for r in tr:
        s += np.sum(r * r)
    return s


@sharing
def p_two_lists_share(x):
    a = []
    b = []
    for i in range(len(x)):
        r = {"v": x[i]}
        a.append(r)
        b.append(r)
    a[0]["v"] = x[1] * 3
    return b[0]["v"]


@program
def p_stack_of_lists_pop(x):
    st = [[x[0], 1.0]]
    s = 0.0
    k = 0
    while st:
        v, w = st.pop()
        s += v * w
        k += 1
        if k < 5:
            st.append([v * x[1], w * 0.5])
            if k < 3:
                st.append([x[2], w])
    return s


@program
def p_pop_dict_modify(x):
    q = []
    for i in range(len(x)):
        q.append({"v": x[i], "n": i})
    s = 0.0
    while len(q) > 0:
        d = q.pop(0)
        d["v"] = d["v"] * 2
        s = s * 0.5 + d["v"] ** 2
        if d["n"] == 1:
            q.append({"v": d["v"] * x[0], "n": 5})
    return s


T = namedtuple("T", "a b")


@program
def p_namedtuple_list(x):
    l = [T(v, v * v) for v in x]
    l2 = [t._replace(a=t.b) for t in l]
    return sum(t.a * t.b for t in l) + l2[1].a + sum(a for a, _ in l2)


@program
def p_nested_record(x):
    l = []
    for i in range(len(x)):
        l.append((i, {"p": np.array([x[i], 1.0]), "q": (x[i], [x[0], x[1]])}))
    s = 0.0
    for i, d in l:
        d["p"][0] *= 2
        a, (b, c) = d["q"]
        s += np.sum(d["p"] ** 2) * a + b * c * i
    return s + l[2][1]["p"][0]


@program
def p_adjacency(x):
    n = len(x)
    adj = [[] for _ in range(n)]
    for i in range(n):
        for j in range(i):
            adj[i].append(x[j] * x[i])
    s = 0.0
    for i in range(n):
        for v in adj[i]:
            s += v * (i + 1)
    return s


@program
def p_list_of_records_in_branch(x):
    l = [(x[0], x[1])]
    if x[0] > 0.5:
        l.append((x[1], x[2]))
    s = 0.0
    for a, b in l:
        s += a * b
    return s


@program
def p_list_of_records_branch_else(x):
    l = []
    for i in range(len(x)):
        if x[i] > 1.0:
            l.append((x[i], 1.0))
        else:
            l.append((x[i] * 2, x[0]))
    return sum(a * b for a, b in l) + l[-1][0]


def h(x):
    l = []
    for i in range(len(x)):
        l.append((x[i], i))
        if i > 5:
            return l
    return l


@program
def p_returned_list_of_records(x):
    return sum(a * b for a, b in h(x))


@program
def p_sorted_records(x):
    l = []
    for i in range(len(x)):
        l.append((np.sin(4 * x[i]), x[i]))
    l.sort(key=lambda t: t[0])
    m = max(l, key=lambda t: t[1])
    return l[0][1] * 3 + l[1][1] * 2 + m[0]


@program
def p_index_static_list_of_dicts(x):
    ls = [{"w": x[0], "b": x[1]}, {"w": x[1], "b": x[2]}]
    y = 1.0
    for k in range(4):
        l = ls[k % 2]
        y = np.tanh(l["w"] * y + l["b"])
    return y


@program
def p_index_static_list_of_dicts_store(x):
    ls = [{"w": x[0]}, {"w": x[1]}]
    for k in range(4):
        ls[k % 2]["w"] = ls[(k + 1) % 2]["w"] * 1.5
    a = ls[0]
    a["w"] += x[2]
    return ls[0]["w"] * ls[1]["w"]


@program
def p_alias_name_static_dicts(x):
    d = {"w": x[0]}
    ls = [d, {"w": x[1]}]
    for k in range(3):
        ls[k % 2]["w"] = ls[k % 2]["w"] * 1.5
    d["w"] = d["w"] * x[2]
    return ls[0]["w"] + d["w"] * ls[1]["w"]


@program
def p_item_rebinding_alias(x):
    g = [[x[0], x[1]], [x[2], 1.0]]
    s = 0.0
    for i in range(2):
        row = g[i]
        g[i] = [x[1], x[1]]
        s += row[0] * (i + 1)
    return s


@program
def p_tuple_of_dicts_dyn(x):
    t = ({"a": x[0]}, {"a": x[1]})
    s = 0.0
    for i in range(2):
        s += t[i]["a"] * (i + 1)
    t[0]["a"] = 5.0
    return s * t[0]["a"]


@sharing
def p_tuple_of_dicts_dyn_store(x):
    t = ({"a": x[0]}, {"a": x[1]})
    for i in range(2):
        t[i]["a"] = x[2] * i
    return t[0]["a"] + t[1]["a"]


@program
def p_while_with_deque_of_tuples(x):
    q = deque([(0, x[0])])
    s = 0.0
    while q:
        d, v = q.popleft()
        s += v * (d + 1)
        if d < 2:
            q.append((d + 1, v * x[1]))
            q.append((d + 1, v + x[2]))
    return s


@program
def p_comp_nested_dyn(x):
    u = [[a * b for a in x if a > 1] for b in x]
    return sum(u[0]) + sum(map(sum, u)) + len(u[1])


@program
def p_comp_of_dicts(x):
    u = [{"v": v, "sq": v * v} for v in x]
    best = max(u, key=lambda d: d["sq"])
    best["v"] = best["v"] * 10
    return sum(d["v"] for d in u)


@program
def p_linked_carry(x):
    hist = []
    cur = {"v": x[0], "w": x[1]}
    for i in range(len(x)):
        cur = {"v": cur["w"], "w": cur["v"] * x[i]}
        hist.append(cur)
    return sum(h["v"] * h["w"] for h in hist) + cur["v"]


@sharing
def p_last_after_loop(x):
    l = []
    for i in range(len(x)):
        d = {"v": x[i]}
        l.append(d)
    d["v"] = x[0] * 7
    return l[2]["v"] + d["v"]


@program
def p_cond_item(x):
    l = [{"v": v} for v in x]
    a = l[0] if x[0] > 0.5 else l[2]
    a["v"] = x[1] * 5
    return sum(d["v"] * d["v"] for d in l)


@program
def p_rows_list_of_lists_append_rows(x):
    path = [[0.0, x[0]]]
    for i in range(len(x)):
        a, b = path[-1]
        path.append([a + x[i], b * x[i]])
    return sum(p[0] * p[1] for p in path)


@program
def p_list_of_arrays_swap_items(x):
    a = [x * 1.0, x * 2.0, x * 3.0]
    for i in range(2):
        a[i], a[i + 1] = a[i + 1], a[i]
    return np.sum(a[0] * a[2])


@program
def p_ring_buffer(x):
    buf = [np.zeros(3) for _ in range(2)]
    buf[0][:] = x
    for t in range(4):
        src = buf[t % 2]
        dst = buf[(t + 1) % 2]
        dst[1:-1] = src[1:-1] + 0.1 * (src[2:] - src[:-2])
        dst[0] = src[0] * 1.1
        dst[-1] = src[-1]
    return np.sum(buf[0] ** 2)


@program
def p_dict_missing_key_try(x):
    d = {"a": x[0]}
    try:
        v = d["b"]
    except KeyError:
        v = x[1]
    return v * d["a"]


@program
def p_next_stop(x):
    it = iter([x[0]])
    s = next(it)
    try:
        s = s + next(it)
    except StopIteration:
        s = s * x[1]
    return s


def make(v, i):
    return {"v": v * v, "h": [v, v * 2], "i": i}


@program
def p_helper_returns_record(x):
    l = [make(v, i) for i, v in enumerate(x)]
    l[1]["h"][0] = x[0]
    l[1]["h"].append(x[2])
    return sum(d["v"] * sum(d["h"]) * d["i"] for d in l)


def bump(d, k):
    d["v"] = d["v"] * k
    d["n"] += 1


@program
def p_record_passed_and_mutated_by_helper(x):
    l = []
    for v in x:
        l.append({"v": v, "n": 0})
    for d in l:
        bump(d, x[0])
        if d["n"] > 0:
            bump(d, 2.0)
    return sum(d["v"] * d["n"] for d in l)


@sharing
def p_swap_records(x):
    l = []
    for v in x:
        l.append({"v": v})
    l[0], l[2] = l[2], l[0]
    l[0]["v"] = l[0]["v"] * 5
    return l[0]["v"] * 3 + l[1]["v"] * 2 + l[2]["v"]


@program
def p_bubble_sort_of_pairs(x):
    l = []
    for i in range(len(x)):
        l.append((np.cos(3 * x[i]), x[i]))
    for i in range(len(l)):
        for j in range(len(l) - 1 - i):
            if l[j][0] > l[j + 1][0]:
                l[j], l[j + 1] = l[j + 1], l[j]
    return l[0][1] + 2 * l[1][1] + 3 * l[2][1]


@program
def p_heap_of_lists_nested_mutate_in_while(x):
    rows = [[v] for v in x]
    k = 0
    while k < 3:
        rows[k].append(rows[(k + 1) % 3][0] * x[k])
        rows[k][0] = rows[k][-1] * 0.5
        k += 1
    return sum(sum(r) for r in rows)


class Kicked:
    def __init__(self, p):
        self.p = p
        self.v = np.zeros(2)

    def kick(self, a):
        self.v += a
        self.p = self.p + 0.1 * self.v


@program
def p_objects_in_list_loop_method(x):
    ps = []
    for v in x:
        ps.append(Kicked(np.array([v, v * v])))
    for t in range(3):
        for p in ps:
            p.kick(x[:2] * p.p[0])
    return sum(np.sum(p.p * p.v) for p in ps)


@program
def p_dp_2d_table_list_of_lists(x):
    n = len(x)
    T = [[0.0 for _ in range(n + 1)] for _ in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            c = (x[i - 1] - 0.5 * x[j - 1]) ** 2
            T[i][j] = c + min(T[i - 1][j], T[i][j - 1], T[i - 1][j - 1])
    return T[n][n]


@program
def p_cond_append_array_and_store(x):
    l = []
    for i in range(len(x)):
        a = np.zeros(2)
        if x[i] > 1:
            l.append(a)
        a[0] = x[i]
    return sum(np.sum(v * v) for v in l) + len(l) * x[0]


@program
def p_for_over_list_being_mutated_items_dyn(x):
    l = [v * 1.0 for v in x]
    s = 0.0
    for i, v in enumerate(l):
        l[(i + 1) % 3] = v * 2 + x[i]
        s += v
    return s


@sharing
def p_list_copy_shares(x):
    a = []
    for v in x:
        a.append({"v": v})
    b = list(a)
    b.append({"v": x[0]})
    b[0]["v"] = x[2] * 3
    return sum(d["v"] for d in a)


@sharing
def p_list_copy_arrays(x):
    a = [x * i for i in range(len(x))]
    b = a[:]
    b[1][0] = 7.0 * x[1]
    return np.sum(a[1])


def product(*a):
    return a[0] * a[1]


@program
def p_star_args_grown(x):
    l = [x[0]]
    l.append(x[1])
    return product(*l) + max(*l)


@program
def p_one_of_two_aliases_is_unknown_after_a_trip(x):
    rows = [{"v": x * 1.0}, {"v": x * 2.0}]
    for i in range(len(x)):
        rows[-1]["v"] = x * i
        rows[-1] = {"v": rows[0]["v"]}
    return np.sum(rows[1]["v"] ** 2)


@sharing
def p_lists_that_swap(x):
    a, b = [{"v": x[0]}, {"v": x[1]}], []
    d = a[0]
    for _ in range(2):
        if len(a) > 2:
            d = {"v": d["v"]}
        a, b = b, a
    if x[0] > 0:
        d["v"] = x[2] * 2
    return sum(e["v"] for e in a)


@sharing
def p_shared_by_way_of_a_third(x):
    rows, kept = [{"v": x * 1.0}, {"v": x * 2.0}], []
    if x[0] > 0:
        kept.append(rows[0])
        rows.pop()
    for i in range(len(x)):
        for e in rows:
            e["v"] += x[i]
    return sum(np.sum(e["v"]) for e in kept)


@sharing
def p_sorted_again_and_again(x):
    rows = [{"v": x[0]}, {"v": x[1]}]
    d = rows[0]
    for _ in range(3):
        rows.sort(key=lambda e: -e["v"])
    d["v"] = x[2] * 7
    return rows[0]["v"] + 2 * rows[1]["v"]


@sharing
def p_row_taken_on_one_path(x):
    g = [[x[0], 1.0], [2.0, x[1]]]
    r = g[1]
    if x[0] > 0:
        r = g.pop(0)
    r[-1] = x[2] * 3
    return sum(q[0] - 2 * q[-1] for q in g) + r[0]


@sharing
def p_stores_while_a_generator_is_looped_over(x):
    d = [x[0], x[1], x[2]]
    s = 0.0
    for v in (d[k] * 2 for k in range(3)):
        d[2] = v
        s += v
    return s


@sharing
def p_stores_while_a_filter_is_looped_over(x):
    d = [x[0], x[1], x[2]]
    s = 0.0
    for v in filter(lambda v: v > 0, d):
        d[2] = v * 3
        s += v
    return s


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__[2:])
def test_program(f: Callable[[Any], Any]) -> None:
    check(f)


@pytest.mark.parametrize("f", SHARING, ids=lambda f: f.__name__[2:])
def test_items_that_are_one_object(f: Callable[[Any], Any]) -> None:
    """Right, or refused."""
    try:
        gradient = ad.grad(f)(X)
    except ad.AutodiffError as error:
        assert "test_rows.py" in str(error)
    else:
        np.testing.assert_allclose(gradient, differences(f, X), rtol=1e-5)


# --- an item that is a list of arrays changes its length --------------------------------------------------------------


def pairs(x, n):
    rows = []
    for i in range(n):
        rows.append([x * i, np.sin(x)])
    return rows


def total(rows):
    s = 0.0
    for row in rows:
        for a in row:
            s = s + np.sum(a)
    return s


def grown_item(x, n, k):
    rows = pairs(x, n)
    item = rows[k]
    item.append(x * x)
    return total(rows)


def shrunk_item(x, n, k):
    rows = pairs(x, n)
    item = rows[k]
    del item[0]
    return total(rows)


@pytest.mark.parametrize("f", [grown_item, shrunk_item])
def test_an_item_that_changes_its_length_is_refused(f) -> None:
    with pytest.raises(ad.UnsupportedError, match="changes its length"):
        ad.grad(f)(X, 3, 1)


def test_items_that_all_change_their_length() -> None:
    def f(x, n):
        rows = pairs(x, n)
        for row in rows:
            row.pop()
        return total(rows)

    np.testing.assert_allclose(ad.grad(f)(X, 3), np.full(X.shape, 3.0))


# --- an item, at a place known at run time only, is appended to its own list ------------------------------------------


@program
def p_own_item_of_numbers(x):
    g = [[x[0], 1.0], [2.0, x[1]]]
    g.append(g[len(x) - 2])
    out = 0.0
    for q in g:
        out = out * 1.2 + q[0] - 2.0 * q[-1]
    return out


@program
def p_own_item_of_arrays(x):
    g = [[x, x * x], [np.sin(x), x]]
    for i in range(2):
        g.append(g[i])
    return sum(np.sum(q[0]) * (k + 1.0) + np.sum(q[1]) for k, q in enumerate(g))


@sharing
def s_own_item_twice(x):
    n = len(x)
    g = [[x[0], 1.0], [2.0, x[1]]]
    g[0][0] = g[n - 2][1] * x[2]
    g.append(g[n - 2])
    g.append(g[n - 1])
    return sum(q[0] * (k + 1.0) + q[1] for k, q in enumerate(g))


@sharing
def s_own_item_changes(x):
    n = int(x[0] > 0.0)
    g = [[x[0], 1.0], [2.0, x[1]]]
    g.append(g[n])
    g[1][0] = x[2]
    return g[2][0] + g[0][0] * x[1]


@sharing
def s_own_item_changed_at_the_end(x):
    n = int(x[0] > 0.0)
    g = [[x[0], 1.0], [2.0, x[1]]]
    g.append(g[n])
    g[2][0] = x[2] * x[1]
    return g[0][0] + g[1][0] * 3.0
