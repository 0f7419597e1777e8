"""Arrays that are unpacked, and filled, item by item: when one statement does it, and that results and errors stay."""

import numpy as np
import pytest

import autodiff_compiler as ad
from benchmarks.kernels.sequences import bellman_ford
from tests.differences import differences

RNG = np.random.default_rng(5)


def parameters(w, n):
    rate, level, shift = w
    for _ in range(n):
        level = level - rate * level + shift
    return level * level


def of_arrays(w, x):
    scale, shift = w
    return np.sum(np.tanh(scale * x + shift))


def one_is_not_used(w, x):
    scale, _, shift = w
    return np.sum(scale * x + shift**2)


def rows(points, order):
    total = 0.0
    for k in order:
        x, y, z = points[k]
        total = total + x * y * np.sin(z) * total + x
    return total


def rows_of_arrays(points, x):
    total = 0.0
    for k in range(len(points)):
        a, b = points[k]
        total = total + np.sum(np.sin(a * x) * b)
    return total


def rows_of_a_matrix(m):
    a, b = m
    return np.sum(a * np.sin(b))


def stored_between(w):
    w = w.copy()
    a, b, c = w
    w[1] = a * b
    d, e, f = w
    return a * b * c + d * e * e * f


def each_after_a_store(w):
    w = w.copy()
    a, b = w
    w[0] = b * b
    w[1] = w[0] * a
    return w[0] * w[1]


def views_of_rows(m):
    m = m.copy()
    a, b = m
    a[0] = 3.0 * b[1]
    b *= a
    return np.sum(m * m)


def in_a_branch(w, x):
    if x > 0.0:
        a, b = w
        return a * b * x
    return w[0] * x


def twice(w, x):
    a, b = w
    c, d = w
    return a * b * x + c * d * d


def filled(x):
    w = np.zeros(3)
    w[0] = x * x
    w[2] = np.sin(x)
    return np.sum(w * w)


def nested_loops(w, n):
    a, b = w
    total = 0.0
    for i in range(n):
        for j in range(i):
            total = total * a + b * j
    return total


def rates_of(y, rates):
    prey, predators = y
    meetings = prey * predators
    return np.stack([rates[0] * prey - rates[1] * meetings, rates[2] * meetings - rates[3] * predators])


def a_helper_unpacks_rows(y, rates):
    """Helpers become functions of their own after this pass; what is unpacked may be views."""
    for _ in range(3):
        k1 = rates_of(y, rates)
        k2 = rates_of(y + 0.5 * k1, rates)
        k3 = rates_of(y + 0.5 * k2, rates)
        k4 = rates_of(y + k3, rates)
        y = y + 0.1 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return np.mean(np.sin(y) ** 2)


def by_its_rates(rates, y):
    return a_helper_unpacks_rows(y, rates)


PROGRAMS = {
    a_helper_unpacks_rows: (RNG.uniform(0.5, 1.5, size=(2, 5)), np.array([0.6, 0.4, 0.3, 0.5])),
    by_its_rates: (np.array([0.6, 0.4, 0.3, 0.5]), RNG.uniform(0.5, 1.5, size=(2, 5))),
    parameters: (RNG.normal(size=3), 4),
    of_arrays: (RNG.normal(size=2), RNG.normal(size=5)),
    one_is_not_used: (RNG.normal(size=3), RNG.normal(size=5)),
    rows: (RNG.normal(size=(4, 3)), np.array([2, 0, 2, 3])),
    rows_of_arrays: (RNG.normal(size=(4, 2)), RNG.normal(size=3)),
    rows_of_a_matrix: (RNG.normal(size=(2, 3)),),
    stored_between: (RNG.normal(size=3),),
    each_after_a_store: (RNG.normal(size=2),),
    views_of_rows: (RNG.normal(size=(2, 3)),),
    in_a_branch: (RNG.normal(size=2), 0.7),
    twice: (RNG.normal(size=2), 0.7),
    filled: (0.7,),
    nested_loops: (RNG.normal(size=2), 4),
}


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives_are_right(fn):
    args = PROGRAMS[fn]
    value, gradient = ad.value_and_grad(fn)(*args)
    assert value == pytest.approx(fn(*args), rel=1e-14)
    assert gradient == pytest.approx(differences(lambda x: fn(x, *args[1:]), args[0]), rel=1e-6, abs=1e-8)
    assert np.array_equal(gradient, ad.grad(fn, optimize="-unpack")(*args))
    assert np.array_equal(ad.vjp(fn, *args)[1](1.0)[0], gradient)
    first = np.sum if np.ndim(args[0]) else float
    second = ad.grad(lambda x, *rest: first(ad.grad(fn)(x, *rest)))(*args)
    wanted = differences(lambda x: np.sum(ad.grad(fn)(x, *args[1:])), args[0])
    assert second == pytest.approx(wanted, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_other_lengths_raise(backend):
    for wrong in (np.ones(2), np.ones(4)):
        with pytest.raises(ValueError, match="unpack"):
            ad.grad(parameters, backend=backend)(wrong, 3)
    for wrong in (np.ones((4, 2)), np.ones((4, 5))):
        with pytest.raises(ValueError, match="unpack"):
            ad.grad(rows, backend=backend)(wrong, np.array([0, 1]))
    for wrong in (np.ones(1), np.ones(3)):
        for program in (of_arrays, in_a_branch, twice):
            with pytest.raises(ValueError, match="unpack"):
                ad.grad(program, backend=backend)(wrong, 0.5)


def test_a_row_that_is_not_there():
    with pytest.raises(IndexError):
        ad.grad(rows)(np.ones((4, 3)), np.array([0, 4]))
    gradient = ad.grad(rows)(np.ones((4, 5)), np.array([], int))  # nothing is unpacked
    assert np.array_equal(gradient, np.zeros((4, 5)))


def test_statements():
    text = ad.grad(parameters).source(*PROGRAMS[parameters])
    assert "rate, level, shift = w.tolist()" in text or "rate, level, shift = w\n" in text
    assert text.count("w[") == 0 and "raise" not in text and "return np.array([rate_bar, level_bar, shift_bar])" in text
    text = "\n".join(x for x in ad.grad(rows).source(*PROGRAMS[rows]).splitlines() if "#" not in x)
    assert text.count("x, y, z = points") == 2 and "shape[1]" not in text
    text = ad.grad(one_is_not_used).source(*PROGRAMS[one_is_not_used])
    assert "* w[2]" in text and "\n    _" not in text  # the gradient needs one of three numbers


def test_the_length_is_not_known_where_the_check_may_not_have_run():
    def last_of_many(w, n):
        total = 0.0
        for _ in range(n):
            a, b = w
            total = total + a * b
        return total + w[0] + w[1]

    for w, n in ((np.array([2.0, 3.0]), 2), (np.array([2.0, 3.0, 4.0]), 0)):
        wanted = differences(lambda x, n=n: last_of_many(x, n), w)
        assert ad.grad(last_of_many)(w, n) == pytest.approx(wanted, rel=1e-6)


def test_numbers_of_other_types():
    def product(w):
        a, b, c = w
        return a * b * np.sin(c)

    w = np.array([1.5, 2.5, 0.5], np.float32)
    gradient = ad.grad(product)(w)
    assert gradient.dtype == np.float32
    assert gradient == pytest.approx(differences(product, w.astype(float)), rel=1e-5)

    def counted(x, k):
        i, j = k
        return x**i * j

    assert ad.grad(counted)(1.5, np.array([3, 2])) == pytest.approx(2 * 3 * 1.5**2)
    with pytest.raises(ValueError, match="unpack"):
        ad.grad(counted)(1.5, np.array([3, 2, 1]))


def weighted(rows, x):
    total = np.zeros(2)
    for k in range(len(rows)):
        a, b = rows[k]
        total[0] += a
        total = total + b * x
    return np.sum(total**2)


def of_two(rows, n):
    out = rows[0, 0]
    for k in range(n):
        a, b = rows[k]
        out = a * b
    return out / rows[0, 1]


def test_rows_in_loops_are_unpacked_as_lists():
    """An array takes a third of a microsecond to be unpacked, its list a tenth."""
    edges = np.array([[0, 1], [1, 2], [0, 3], [3, 2], [2, -1]])
    source = ad.value_and_grad(bellman_ford).source(np.ones(5), edges, 4, 2)
    assert source.count("u, v = edges[k].tolist()") == 2
    ad.check_grads(lambda w: bellman_ford(w, edges, 4, 2), (np.arange(1.0, 6.0),), order=1)
    with pytest.raises(ValueError, match="not enough values to unpack"):
        ad.grad(bellman_ford)(np.ones(5), np.ones((5, 1), int), 4, 2)
    with pytest.raises(IndexError):
        ad.grad(bellman_ford)(np.ones(5), edges + 1, 4, 2)
    assert ".tolist()" in ad.grad(weighted, (0, 1)).source(np.ones((3, 2)), np.ones(2))
    ad.check_grads(weighted, (np.arange(6.0).reshape(3, 2), np.array([0.3, -1.0])), order=1)


def test_numbers_that_can_be_told_from_pythons_stay():
    rows = np.array([[1.0, 0.0], [2.0, 3.0]])
    compiled = ad.value_and_grad(of_two)
    with np.errstate(all="ignore"):
        for n in (0, 1, 2):
            value, _ = compiled(rows, n)
            assert type(value) is np.float64
            assert np.array_equal(value, of_two(rows, n), equal_nan=True)
    assert "rows[k].tolist()" not in compiled.source(rows, 2)
