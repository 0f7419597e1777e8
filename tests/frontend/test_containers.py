"""Containers and iterators: each program alone, in a loop, on one side of a branch, and its second derivative."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.frontend.container_checks import check

PROGRAMS: list[Callable[[Any], Any]] = []


def program(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS.append(f)
    return f


@program
def p_iterator_one_shot(x):
    z = zip(x, x * 2)
    s = sum(a * b for a, b in z)
    t = sum(a for a, b in z)
    return s + 10 * t


@program
def p_map_one_shot(x):
    m = map(lambda v: v * v, x)
    a = next(m)
    return a * 3 + sum(m) + sum(m)


@program
def p_gen_late_binding(x):
    k = 2.0
    g = (v * k for v in x)
    k = 3.0
    return sum(g)


def total(it):
    return sum(it) + sum(it)


@program
def p_gen_passed(x):
    return total(v * v for v in x)


@program
def p_live_list(x):
    a = [x[0], x[1], x[2]]
    s = 0.0
    for v in a:
        a[2] = v * 2
        s += v * v
    return s


@program
def p_live_list_append(x):
    a = [x[0], x[1]]
    s = 0.0
    for v in a:
        if len(a) < 5:
            a.append(v * 2)
        s += v * v
    return s


@program
def p_live_dict_values(x):
    d = {"a": x[0], "b": x[1]}
    s = 0.0
    for k, v in d.items():
        d["b"] = v * 3
        s += v * v
    return s


@program
def p_keys_view_live(x):
    d = {"a": x[0]}
    ks = d.keys()
    vs = d.values()
    d["b"] = x[1]
    return sum(vs) * len(ks)


@program
def p_zip_pairs_of_iterator(x):
    it = iter([x[0], x[1], x[2], x[0] * 2])
    return sum(a * b * b for a, b in zip(it, it))


@program
def p_islice_iterator(x):
    it = iter([x[0], x[1], x[2]])
    a = list(itertools.islice(it, 2))
    return sum(a) + 5 * next(it)


@program
def p_next_default(x):
    it = iter([])
    return next(it, x[0]) + next(iter(x[1:])) * 2


@program
def p_next_gen_cond(x):
    return next(v for v in [x[0], x[1], x[2]] if v > 1.0)


@program
def p_next_gen_cond_dyn(x):
    return next((v * v for v in x if v > 1.0), 0.0)


@program
def p_next_in_loop(x):
    it = iter(x)
    s = 0.0
    for i in range(2):
        s = s * 2 + next(it) * i
    return s + next(it)


@program
def p_product_dynamic(x):
    s = 0.0
    for i, j in itertools.product(range(len(x)), range(len(x))):
        s += x[i] * x[j] * i
    return s


@program
def p_combinations_dynamic(x):
    s = 0.0
    for i, j in itertools.combinations(range(len(x)), 2):
        s += x[i] * x[j] ** 2
    return s


@program
def p_combos_of_array(x):
    return sum(a * b for a, b in itertools.combinations(x, 2))


@program
def p_permutations(x):
    return sum(x[a] * x[b] ** 2 * x[c] ** 3 for a, b, c in itertools.permutations(range(3)))


@program
def p_chain_dyn(x):
    s = 0.0
    for i, v in enumerate(itertools.chain(x, x * x, [x[0]])):
        s += i * v
    return s


@program
def p_accumulate_dyn(x):
    return sum(v * v for v in itertools.accumulate(x, operator.mul)) + list(itertools.accumulate(x))[-1]


@program
def p_pairwise_dyn(x):
    return sum((b - a) ** 2 for a, b in itertools.pairwise(x))


@program
def p_repeat_count_cycle(x):
    s = 0.0
    for i, v, c, r in zip(itertools.count(1), x, itertools.cycle([2.0, 3.0]), itertools.repeat(2)):
        s += i * v * c * r
    return s


@program
def p_starmap_zip_longest(x):
    s = sum(itertools.starmap(lambda a, b: a * b, [(x[0], x[1]), (x[1], x[2])]))
    for a, b in itertools.zip_longest([x[0], x[1]], [x[2]], fillvalue=2.0):
        s += a * b
    return s


@program
def p_takewhile(x):
    return sum(x[i] for i in itertools.takewhile(lambda i: i < 2, range(3)))


@program
def p_sorted_key_reverse(x):
    a = sorted([x[0], x[1], x[2]], key=lambda v: -v * v)
    b = sorted(x, reverse=True)
    c = sorted([(x[0], 3), (x[1], 1), (x[2], 2)], key=lambda t: t[1])
    return a[0] + 2 * a[1] * b[0] + c[0][0] * b[2]


@program
def p_sorted_dyn_list(x):
    t = []
    for i in range(len(x)):
        t.append(np.sin(5 * x[i]))
    t.sort(reverse=True)
    u = sorted(t, key=abs)
    return t[0] * 2 + t[1] + u[0] * u[2]


@program
def p_max_key_default(x):
    a = max([x[0], x[1], x[2]], key=lambda v: -v)
    b = max([], default=2.0)
    c = min(x, key=lambda v: abs(v - 1.3))
    i = max(range(len(x)), key=lambda i: x[i])
    return a * b + c * c * 3 + x[i]


@program
def p_max_dyn_list(x):
    t = []
    for v in x:
        t.append(v * v)
    return max(t) * min(t) + max(v for v in x if v > 1)


@program
def p_any_all_dyn(x):
    s = 1.0
    if any(v > 2 for v in x):
        s = 2.0
    if all(v > 0.1 for v in x):
        s *= 3.0
    return s * np.sum(x)


@program
def p_zip_strict(x):
    return sum(a * b for a, b in zip(x, x * x, strict=True))


@program
def p_reduce_init(x):
    a = functools.reduce(lambda a, v: a * 0.5 + v, x, 1.0)
    return a + functools.reduce(np.maximum, [x, x * x, 2 * x])[1]


@program
def p_list_del_insert_slices_dyn(x):
    t = []
    for i in range(len(x)):
        t.append(x[i] * (i + 1))
    t.insert(1, x[0] * x[1])
    del t[0]
    t[1:2] = [x[0], x[2]]
    u = t[::-1] + t[1:] + [x[0]]
    t.reverse()
    a = t.pop(0)
    t.pop(1)
    w = u[:2]
    w.extend(x)
    return sum(v * (i + 1) ** 2 for i, v in enumerate(u)) + a * t[0] * t[1] + sum(w)


@program
def p_list_mul_alias(x):
    a = [x[0], x[1]]
    b = a
    a *= 2
    b += [x[2]]
    a[0] = x[2] ** 2
    return sum(v * (i + 1) for i, v in enumerate(b))


@program
def p_list_dyn_index_slice_read(x):
    a = [x[0], x[1], x[2], x[0] * 2]
    s = 0.0
    for i in range(3):
        s += sum(a[i:]) * a[-i]
    return s


@program
def p_dict(x):
    d = {"a": x[0]}
    d |= {"b": x[1]}
    d.update([("c", x[2])], e=x[0] * 2)
    _, v = d.popitem()
    z = d.pop("q", 3.0)
    e = dict(zip("xyz", x))
    g = dict.fromkeys(["u", "w"], x[1])
    del d["a"]
    n = 0.0
    for i, (kk, vv) in enumerate(sorted(d.items(), key=lambda t: t[0], reverse=True)):
        n += i * vv
    for kk in reversed(d):
        n += d[kk] * e["x"]
    return (
        v * z
        + n
        + sum(e.values())
        + g["u"] * g["w"]
        + (1.0 if d == {"b": x[1], "c": x[2]} else 0) * x[0]
        + len(d) * ("b" in d)
    )


@program
def p_dict_int_tuple_keys(x):
    d = {(i, j): x[i] * x[j] for i in (0, 1, 2) for j in (0, 1)}
    s = 0.0
    for (i, j), v in d.items():
        s += v * (i + 2 * j)
    return s


@program
def p_defaultdict(x):
    d = defaultdict(list)
    for i, k in enumerate("aba"):
        d[k].append(x[i])
    e = defaultdict(float)
    for i, k in enumerate("aba"):
        e[k] += x[i] ** 2
    c = Counter("abca")
    return sum(d["a"]) * d["b"][0] + e["a"] * e["b"] + c["a"] * x[0] + e["zz"] + sum(c.values()) * x[1] + c["nope"]


@program
def p_sets(x):
    s = {0, 1} | {2}
    s.add(1)
    s.discard(0)
    t = frozenset([2, 5])
    u = s & t
    v = 0.0
    for i in s:
        v += x[i] * (i + 1)
    if s >= u and 2 in t and not s.isdisjoint(t) and s != t:
        v *= 2
    q = {k % 2 for k in (1, 2, 3)}
    s -= {1}
    return v + x[min(u)] * len(q) + len(s) * x[0]


@program
def p_set_in_loop(x):
    seen = set()
    s = 0.0
    for k in (0, 1, 0, 2, 1):
        if k not in seen:
            seen.add(k)
            s += x[k] ** 2 * (k + 1)
    return s


@program
def p_deque(x):
    q = deque([x[0], x[1]], maxlen=3)
    q.append(x[2])
    q.appendleft(x[0] * x[1])
    q.rotate(1)
    a = q.popleft()
    s = 0.0
    while q:
        s = s * 1.5 + q.pop()
    return a * s


@program
def p_deque_dyn_bfs(x):
    q = deque()
    q.append(x[0])
    s = 0.0
    n = 0
    while q:
        v = q.popleft()
        s += v * v * (n + 1)
        n += 1
        if n < 4:
            q.append(v * x[1])
            q.append(v * 0.5)
        if n > 6:
            break
    return s


@program
def p_deque_maxlen_loop(x):
    q = deque([0.0, 0.0], maxlen=2)
    s = 0.0
    for i in range(len(x)):
        q.append(x[i])
        s += q[0] * q[1]
    return s


@program
def p_operator(x):
    d = {"a": x[0], "b": x[1]}
    P = operator.itemgetter("a", "b")
    a, b = P(d)
    return (
        a * b
        + operator.itemgetter(1)(x) * operator.attrgetter("T")(x)[2]
        + operator.methodcaller("sum")(x)
        + operator.getitem(x, 1)
    )


@program
def p_math(x):
    l = [x[0], x[1], x[2]]
    return math.fsum(l) * math.prod(l) + math.dist(l, [1.0, 2.0, 3.0]) + math.fsum(x) + math.prod(x, start=2.0)


@program
def p_compare_lists(x):
    s = 1.0
    if [x[0], 2] < [x[1], 3]:
        s = 2.0
    if (1, "b") > (1, "a"):
        s *= 3
    if [x[0]].count(x[0]) == 1:
        s *= 5
    if ["a", "b"].index("b") == 1:
        s *= 7
    return s * x[0]


@program
def p_starred_for(x):
    s = 0.0
    for a, *b in [(x[0], x[1], x[2]), (x[1], x[2])]:
        s += a * sum(b)
    for i, (a, (b, c)) in enumerate([(x[0], (x[1], x[2]))]):
        s += a * b * c
    return s


@program
def p_range_in_list(x):
    idx = list(range(3))
    r = range(2)
    return sum(x[i] for i in idx[1:]) + x[r[1]] + (2.0 if 1 in r else 1.0) * x[0] * len(r)


@program
def p_sort_list_static_with_key(x):
    names = ["bb", "a", "ccc"]
    names.sort(key=len)
    d = dict(zip(names, x))
    return d["a"] * 1 + d["bb"] * 2 + d["ccc"] * 3


@program
def p_remove(x):
    l = [1, 2, 3]
    l.remove(2)
    return x[0] * l[1]


@program
def p_genexp_in_loop_over_rows(x):
    a = np.outer(x, x)
    return sum(max(r) for r in a) + sum(sum(r) for r in a)


@program
def p_iterator_in_branch(x):
    it = iter([x[0], x[1], x[2]])
    if x[0] > 0.5:
        next(it)
    return next(it)


@program
def p_for_else_break_iterators(x):
    s = 0.0
    for v in map(lambda v: v * v, x):
        if v > 2:
            break
        s += v
    else:
        s = 100 * s
    return s


@program
def p_enumerate_start_dyn(x):
    return sum(i * v for i, v in enumerate(x, start=2))


@program
def p_map_several(x):
    return sum(map(operator.mul, x, x[::-1])) + sum(map(lambda a, b, c: a * b * c, x, [1.0, 2.0, 3.0], range(3)))


@program
def p_filter_none_and_dyn(x):
    return sum(filter(None, [x[0], 0.0, x[1]])) + sum(filter(lambda v: v < 2, x)) * 2


@program
def p_dict_comp_filter(x):
    d = {"a": x[0], "b": x[1], "c": x[2]}
    e = {k: v * 2 for k, v in d.items() if k != "b"}
    return sum(e.values()) + len(e)


@program
def p_dict_order_merge(x):
    d = {"b": x[0], "a": x[1]}
    e = {**d, "b": x[2]}
    vals = list(e.values())
    return vals[0] * 2 + vals[1]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__[2:])
def test_program(f: Callable[[Any], Any]) -> None:
    check(f)
