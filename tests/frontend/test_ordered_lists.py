"""`bisect`, `heapq`, and searches in lists of numbers that only the run knows."""

import bisect
import heapq

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

X = np.array([0.3, 1.1, 0.7, 0.9, 0.2])
PROGRAMS = []


def program(f):
    PROGRAMS.append(f)
    return f


@program
def index_min(x):
    d = [v * v for v in x]
    k = d.index(min(d))
    return d[k] * x[k]


@program
def index_static(x):
    d = [x[0], x[1], x[2]]
    k = d.index(max(d))
    return d[k] * x[k] * k


@program
def index_tuple(x):
    d = (x[0], x[1], x[2])
    return x[d.index(max(d))] * d.count(x[1])


@program
def index_str(x):
    d = ["a", "b"]
    return x[d.index("b")]


@program
def count(x):
    d = [v * v for v in x]
    return d.count(d[1]) * x[0] + d.count(7.0)


@program
def remove(x):
    d = [v * v for v in x]
    d.remove(max(d))
    d.remove(min(d))
    return sum(v * (k + 1) for k, v in enumerate(d))


@program
def remove_static(x):
    d = [x[0], x[1], x[2]]
    d.remove(max(d))
    return d[0] * 3 + d[1] * 5


@program
def notin(x):
    d = [v * v for v in x]
    try:
        return d.index(7.0) * x[0]
    except ValueError:
        return 2 * x[0]


@program
def bis(x):
    xs = [0.0, 0.5, 1.0, 2.0]
    return sum(v * xs[bisect.bisect(xs, v)] + bisect.bisect_left(xs, v) for v in x)


@program
def bis2(x):
    xs = list(np.sort(x))
    return xs[bisect.bisect_left(xs, 0.5)] * 2.0 + xs[bisect.bisect_right(xs, 0.5, 1, 4)]


@program
def bis3(x):
    xs = np.sort(x)
    k = bisect.bisect_left(xs, 0.5)
    return xs[k] ** 2


@program
def insort(x):
    l = []
    for v in x:
        bisect.insort(l, v * v)
    return sum(v * (k + 1) for k, v in enumerate(l))


@program
def insort_key(x):
    l = []
    for v in x:
        bisect.insort(l, v * v, key=lambda u: -u)
    return sum(v * (k + 1) for k, v in enumerate(l))


@program
def heap(x):
    h = []
    for v in x:
        heapq.heappush(h, v * v)
    s = sum(v * (k + 1) for k, v in enumerate(h))
    a = heapq.heappop(h)
    b = heapq.heappop(h)
    return a * x[0] + b * 3 + s + sum(v * (k + 1) for k, v in enumerate(h))


@program
def heap_tuple(x):
    h = [(v * v, i) for i, v in enumerate(x)]
    heapq.heapify(h)
    a, i = heapq.heappop(h)
    b, j = heapq.heappop(h)
    return a * x[i] + 2 * b * x[j]


@program
def heap_static(x):
    h = [x[2], x[0], x[1]]
    heapq.heapify(h)
    s = h[0] + 2 * h[1] + 3 * h[2]
    a = heapq.heappop(h)
    heapq.heappush(h, 2 * x[0])
    b = heapq.heappushpop(h, 0.5)
    c = heapq.heapreplace(h, 0.1)
    return s + a + 2 * b + 3 * c + h[0] * 2 + h[1]


@program
def nsmall(x):
    return sum(heapq.nsmallest(2, x)) + 3 * heapq.nlargest(2, x)[1] + heapq.nsmallest(2, x, key=lambda v: -v)[0]


@program
def dijkstra(w):
    edges = {0: [(1, 0), (2, 1)], 1: [(2, 2), (3, 3)], 2: [(3, 4)], 3: []}
    dist = [1e9, 1e9, 1e9, 1e9]
    dist[0] = 0.0
    heap = [(0.0, 0)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > dist[u]:
            continue
        for k in range(4):
            if u == k:
                for v, e in edges[k]:
                    nd = d + w[e] ** 2
                    if nd < dist[v]:
                        dist[v] = nd
                        heapq.heappush(heap, (nd, v))
    return dist[3]


@program
def topk(x):
    h = []
    for i in range(len(x)):
        if len(h) < 3:
            heapq.heappush(h, (x[i], i))
        elif x[i] > h[0][0]:
            heapq.heapreplace(h, (x[i], i))
    return sum(v * (i + 1) for v, i in h)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient_and_tangent(f):
    want = differences(f, X)
    for x in (X, X):  # the second call finds the code
        np.testing.assert_allclose(ad.grad(f)(x), want, rtol=1e-6, atol=1e-6)
    for e in np.eye(5):
        np.testing.assert_allclose(ad.jvp(f, (X,), (e,))[1], want @ e, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_a_heap_lies_as_that_of_python(seed):
    rng = np.random.default_rng(seed)
    steps = tuple(rng.choice(["pop", "replace", "pushpop", "push"], size=12).tolist())

    def f(x):
        heap = []
        taken = 0.0
        for k, step in enumerate(steps):
            if step == "pop" and len(heap) > 0:
                taken = taken + heapq.heappop(heap) * (k + 1)
            elif step == "replace" and len(heap) > 0:
                taken = taken + heapq.heapreplace(heap, x[k] ** 2) * (k + 1)
            elif step == "pushpop":
                taken = taken + heapq.heappushpop(heap, x[k] * 2.0) * (k + 1)
            else:
                heapq.heappush(heap, x[k])
        for k, v in enumerate(heap):
            taken = taken + v * np.cos(k)
        return taken

    x = rng.normal(size=12)
    value, found = ad.value_and_grad(f)(x)
    assert abs(value - f(x)) < 1e-12
    np.testing.assert_allclose(found, differences(f, x), rtol=1e-6, atol=1e-6)


def test_what_is_not_there_raises():
    with pytest.raises(ValueError, match="not in list"):
        ad.grad(lambda x: [v * v for v in x].index(7.0) * x[0])(X)
    with pytest.raises(ValueError, match="not in list"):
        ad.grad(lambda x: [v * v for v in x].remove(7.0) or x[0])(X)


def test_ties_are_searched_from_the_front():
    def f(x):
        values = [v * 1.0 for v in x]
        return x[values.index(max(values))] ** 2 * bisect.bisect_left(values, x[0])

    x = np.array([1.0, 2.0, 2.0, 2.0])
    np.testing.assert_allclose(ad.grad(f)(x), [0.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(ad.grad(lambda x: x[[v for v in x].index(2.0)] ** 2)(x), [0.0, 4.0, 0.0, 0.0])
