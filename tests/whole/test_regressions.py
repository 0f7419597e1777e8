"""Programs that once went wrong, found by the random programs and made small. Never remove one."""

from __future__ import annotations

import itertools
import textwrap

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.programs.random_programs import check, check_in_time, check_lowering

PROGRAMS = {
    "a name that a loop binds first, read after it": """
        def f(x, y, s):
            for i in range(3):
                t = np.sin(y[i:].sum())
            return np.sum(y * y) + 1.5 * t
        """,
    "the same, from one element at a time": """
        def f(x, y, s):
            for i in range(3):
                t = np.sin(x[i - 1])
            return np.sum(x) + np.sum(np.sin(y)) - t
        """,
    "the same, without anything that varies": """
        def f(x, y, s):
            for i in range(1):
                t = np.sin(s)
            return np.mean(x) + np.sum(np.sin(y)) + s + 2 * t
        """,
    "two such names, one from the other": """
        def f(x, y, s):
            for i in range(3):
                t = np.sum(y - x)
                u = np.tanh(t)
            return 2.0 * u + 0.3 * t
        """,
    "such a name next to an array that the loop replaces": """
        def f(x, y, s):
            for i in range(2):
                t = 0.5 * s
                x = 1.0 * np.sin(x * y)
            return np.sum(x * x) + s - t
        """,
    "such a name next to a product of vectors": """
        def f(x, y, s):
            n = y.shape[0]
            for i in range(2):
                t = 0.5 * (np.log(2.0 + np.full(n, s) * np.full(n, s)) @ y)
            return np.sum(x * x) + 2.0 * t
        """,
    "such a name next to stores": """
        def f(x, y, s):
            n = y.shape[0]
            for i in range(1):
                t = np.cos(s) * np.log(2.0 + y[i] * y[i])
                y[1:] = np.sin(np.sqrt(1.0 + (np.full(n - 1, s) - y[:-1]) ** 2))
            return np.mean(y) + 0.5 * s + 2.0 * t
        """,
    "such a name, replaced after the loop on one path": """
        def f(x, y, s):
            for i in range(1):
                t = 0.5 * (s * np.dot(y[i:], y[i:]))
            t = x[-1] if y[0] < 0.2 else np.tanh(t)
            return 2 * s + t
        """,
    "an argument that a loop replaces by a constant": """
        def f(x, y, s):
            for i in range(3):
                s = np.tanh(0.3)
            x[-2] = y[1] * s
            return np.mean(x) + 2.0 * s
        """,
    "an argument that a loop replaces by its counter": """
        def f(x, y, s):
            n = y.shape[0]
            for i in range(n - 1, 1, -1):
                s = 0.1 * i
            t = s * -0.7 + np.dot(y, x)
            return np.sum(np.sin(x)) + 2 * t
        """,
    "an argument that a loop replaces by what it does not depend on": """
        def f(x, y, s):
            n = y.shape[0]
            if x @ x > -0.3:
                pass
            for i in range(n - 1 - 1, -1, -1):
                y = 1.0 * np.sin(np.maximum(x, x @ x))
            return np.sum(np.sin(y))
        """,
    "the same in a loop that may be left at once": """
        def f(x, y, s):
            n = y.shape[0]
            m = x.shape[0]
            for i in range(1, n - 1):
                if np.sum(x) <= -0.3:
                    break
                y = 1.0 * (x[-2] * x.sum(axis=0) / (1.5 + (x[-2] * x.sum(axis=0)) ** 2))
            return 0.7 * np.sum(x) + 0.7 * np.sum(y)
        """,
    "a store at an index twice: the last value stays": """
        def f(x, y, s):
            y[np.array([0, 0])] = s - x[-1]
            return np.sum(y * y)
        """,
    "a store of two values at one index": """
        def f(x, y, s):
            y[np.array([0, 0])] = x[:2] * s
            return np.sum(y * y)
        """,
    "an augmented store at an index twice": """
        def f(x, y, s):
            y[np.array([0, 0])] *= np.sin(s * x[0])
            return np.sum(y * y)
        """,
    "builtin max with a constant": """
        def f(x, y, s):
            s = min(2.0, np.exp(-(y[0] ** 2)))
            return np.sum(x) * s + max(0.5, s)
        """,
    "an exponential of a square, used twice": """
        def f(x, y, s):
            y = 1.0 * np.log(2.0 + np.exp(-(y**2)) * np.exp(-(y**2)))
            return np.sum(np.sin(x)) + np.min(y * x[-1])
        """,
    "a choice between arrays, squared": """
        def f(x, y, s):
            a = 1.0 * ((x + y) * (y / (1.5 + x**2)))
            x = (np.cos(x) * np.where(y > s, a, x)).copy()
            return np.sum(x * x)
        """,
    "a helper that stores while it reads, called again in a loop that ends early": """
        def h1(a, v=0.4):
            n = a.shape[0]
            for i in reversed(range(1, n - 1)):
                a[i] -= np.sin((a / (1.5 + a**2)).sum())
            return v * np.sum(a[a > 0]) + 0.3 * np.sum(np.cos(a))

        def h2(a, v=0.4):
            b = 1.0 * a
            return h1(a, v=a[-1]) + 0.3 * np.sum(b / (1.5 + b**2))

        def f(x, y, s):
            n = y.shape[0]
            for i in range(1, n):
                t = np.tanh(np.log(2.0 + h2(y, s) * h2(y, s)))
                if i != 1:
                    break
            return np.sum(x * x) + np.sum(np.sin(y)) + 2.0 * s
        """,
    "an inner loop before a break: what the last trip saved belongs to the exit path only": """
        def f(x, y, s):
            n = y.shape[0]
            for i in range(1, 3):
                for j in range(1, n - 1):
                    y[j] -= np.sin((y / (1.5 + y**2)).sum())
                if i != 1:
                    break
            return np.sum(np.sin(y))
        """,
    "the same, where a helper does the stores": """
        def h(a):
            n = a.shape[0]
            for i in reversed(range(1, n - 1)):
                a[i] -= np.sin((a * a).sum())

        def f(x, y, s):
            n = y.shape[0]
            for i in range(1, n):
                h(y)
                h(y)
                if i != 1:
                    break
            return np.sum(np.sin(y))
        """,
    "a saved array that a swap brings under a store": """
        def f(x, y, s):
            a = x * y
            for i in range(2):
                a, x = x, a
                x[i] -= 0.5 * np.sum(a * a)
            a += 0.3
            return np.sum(x) + np.sum(a) * np.sum(y)
        """,
    "slices of two arrays, each stored to on one path": """
        def f(x, y, s):
            if s >= -0.3:
                x[:-1] = np.tanh(x[:-1] - s)
            else:
                y[:-1] = y[1:] * y[-1] * x[:-1]
            return np.mean(x) + np.mean(y)
        """,
    "the same, and one of them read before": """
        def f(x, y, s):
            t = np.sum(y * y)
            if s >= 0.3:
                x[:-1] = np.tanh(x[:-1] - s)
            elif s <= -0.9:
                pass
            else:
                y[:-1] = y[1:] * y[-1] * x[:-1]
            return np.mean(x) + np.mean(y) + t
        """,
    "an undo must not miss an inner loop": """
        def f(x, y, s):
            n = y.shape[0]
            for i in range(n):
                for j in range(n):
                    x[j] = x[j] * np.sin(x[i])
                s += (x * x).sum()
            return s
        """,
    "an if that passes the old array on while the backward sweep still reads it": """
        def f(x, y, s):
            z = x * y
            if s > 0:
                t = np.sum(z * z)
                z[1:] = np.sin(y[1:] + z[:-1])
            else:
                t = s
            return np.sum(z * z) * t
        """,
    "residuals in a loop in an if": """
        def f(x, y, s):
            if s < 10.0:
                for i in range(3):
                    x[1:] = np.sin(y[1:] + x[:-1])
            return np.sum(x * x)
        """,
    "a read before the index, where the index may be negative": """
        def f(x, y, s):
            for i in range(-2, 3):
                x[i] = 0.5 * x[i] + (x[:i] * x[:i]).sum()
            return np.sum(x * y)
        """,
    "a view that lives across a store": """
        def f(x, y, s):
            z = x[1:]
            t = z * 1.0
            x[1] = s * y[0]
            return np.sum(z * t)
        """,
    "views and arrays that change places": """
        def f(x, y, s):
            for i in range(3):
                x, y = y, x
                x[i] = np.sin(y[i] * x[i - 1])
            return np.sum(x * y)
        """,
    "a second derivative adds to a cotangent that the loop leaves alone, in each trip": """
        def f(x, y, s):
            a = np.ones(y.shape[0]) * x[-1]
            for i in range(2):
                x = np.tanh(y - a - y[i])
            return np.sum(x)
        """,
    "the same through a maximum": """
        def f(x, y, s):
            y *= 0.7
            x += np.sin(y)
            k = 0
            while k < 3:
                k += 1
                s = np.sin(np.max(x + y))
            return np.sum(np.sin(x)) + s
        """,
    "float32 whose cotangent is a plain zero on one path": """
        def f(x, y, s):
            b = y + y[-2]
            t = np.mean(y) * 2.0
            if s <= t:
                b[:-1] -= t
            return np.sum(b * b) + np.sum(x)
        """,
    "a record that is an item of a list from the second trip on, stored into": """
        def f(x, y, s):
            L = [{"v": x * 1.0}, {"v": y * 2.0}]
            M = []
            d = L.pop()
            for i in range(2):
                for j in range(2):
                    M = L
                    d["v"][0] = s
                d = M[-1]
            return np.sum(d["v"] * d["v"] * y)
        """,
    "a broadcast to no axes, added to at second order": """
        def f(x, y, s):
            n = y.shape[0]
            y[:-1] = np.minimum(y[:-1][::-1], np.full(n - 1, y[-2]) / (1.5 + y[1] ** 2))
            t1 = np.sum(np.median(y) * y) * 2.0
            a2 = 1.0 * x
            for i3 in range(n - 1):
                g5 = np.outer(x, x)
                for k7, row6 in enumerate(g5):
                    row6[k7 % 2] = np.sin(row6[1] * t1)
                t8 = np.sum(np.sin(g5))
                a2[:-1] -= np.tanh(a2[1:] * s * np.cos(t8))
            a2[::-1] = np.sqrt(1.0 + (a2 / (1.5 + x ** 2)) ** 2)
            a2[1:] *= np.sin(s * x[1])
            return np.mean(x) + 0.7 * np.sum(a2) + 0.3 * t1
        """,
    "a number that was read from a 0-d array, in place": """
        def f(x, y, s):
            t = np.asarray(s * 1.0)[()]
            for i in range(2):
                t *= x[i]
            return t + np.sum(y)
        """,
    "a loop over the length of a view, next to a number without a name": """
        def h(a):
            n = len(a)
            d = {"q": 0.0}
            a[a > 0] = 0.5
            for i in range(n):
                d["q"] = np.sin(d["q"] + a[-1])
                if d["q"] > 0.2:
                    break

        def f(x, y, s):
            for k in range(2):
                h(y[1:])
            return np.sum(x * y)
        """,
    "float32 in an einsum whose cotangent is a plain zero on one path": """
        def f(x, y, s):
            t = np.einsum("i,i,i->", y, y, y)
            if x[0] <= 0.3:
                y = t
            return np.sum(y)
        """,
    "float32 in a loop that replaces it, by what is float64 after it": """
        def f(x, y, s):
            for i in range(3):
                s = np.sin(y[i - 1])
            s *= np.tanh(np.cos(0.3))
            return 0.7 * np.sum(y) - s * np.sum(x)
        """,
    "lists in a list, of float32, into which float64 is stored": """
        def f(x, y, s):
            g = [[x[0] for _ in range(3)] for _ in range(y.shape[0])]
            for i in range(2):
                for j in range(2):
                    g[i][j] = np.sin(0.5 + i * 0.3 - 0.1 * j)
            return np.sum(np.sin(x)) + 0.9 * sum(sum(row) for row in g)
        """,
    "interpolation in lists": """
        def f(x, y, s):
            return np.sum(np.interp(0.3 * y, [-2.0, 0.0, 2.0], [0.1, 0.5, -0.4]) * x)
        """,
}


def source_of(name: str) -> str:
    return "import numpy as np\n\n\n" + textwrap.dedent(PROGRAMS[name]).lstrip()


@pytest.mark.parametrize("name", PROGRAMS)
def test_lowering(name: str) -> None:
    for seed in (1, 2, 3):
        assert check_lowering(source_of(name), seed) == "ok"


@pytest.mark.parametrize("name", PROGRAMS)
def test_first_order(name: str) -> None:
    for seed in (1, 2, 3):
        assert check(source_of(name), seed) == "ok"


@pytest.mark.parametrize("name", PROGRAMS)
def test_float32_stays(name: str) -> None:
    for seed in (1, 2, 3):
        assert check_in_time(source_of(name), seed, ("float32",)).startswith("ok")


@pytest.mark.parametrize("name", PROGRAMS)
def test_second_order(name: str) -> None:
    assert check(source_of(name), 1, second=True) == "ok"


@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (3, 3), (2, 3, 4)])
@pytest.mark.parametrize("rcond", [0.5, 1e-10])
def test_pseudoinverse_with_singular_values_cut_off(shape, rcond):
    r = np.random.default_rng(4)
    a, weights = r.normal(size=shape), r.normal(size=(*shape[:-2], shape[-1], shape[-2]))

    def f(a):
        return np.sum(np.linalg.pinv(a, rcond) * weights)

    s = np.linalg.svd(a, compute_uv=False)
    assert (s < 0.5 * s.max(axis=-1, keepdims=True)).any()
    gradient = ad.grad(f)
    direction, h = r.normal(size=shape), 1e-6
    want = (f(a + h * direction) - f(a - h * direction)) / (2 * h)
    np.testing.assert_allclose(np.sum(gradient(a) * direction), want, rtol=1e-6)
    second = ad.grad(lambda a: np.sum(gradient(a) * direction))(a)
    want = (gradient(a + h * direction) - gradient(a - h * direction)) / (2 * h)
    np.testing.assert_allclose(second, want, rtol=1e-5, atol=1e-6)
    assert gradient(a.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize(
    "reduction", [np.sum, np.max, np.min, np.prod, np.cumsum, np.cumprod, np.ptp, np.maximum.reduce]
)
def test_reductions_of_a_number_along_an_axis(reduction, axis):
    # NumPy's reductions take 0 and -1 for an axis of a number.
    def f(x):
        return np.sum(3.0 * reduction(x, axis=axis) + x)

    x = np.float64(2.0)
    want = 1.0 if reduction is np.ptp else 4.0
    assert ad.grad(f)(x) == want
    v = ad.Variable(x)
    with ad.GradientTape() as tape:
        y = f(v)
    assert tape.gradient(y, v).numpy() == want


def test_a_zero_that_stands_in_the_program_divides_as_numpy_does() -> None:
    def f(x):
        try:
            t = x[1] / 0 - x[0] / -0.0
        except ZeroDivisionError:
            t = x[0]
        return t

    with np.errstate(all="ignore"):
        value, x_bar = ad.value_and_grad(f)(np.array([2.0, 3.0]))
    assert value == np.inf
    np.testing.assert_array_equal(x_bar, [np.inf, np.inf])


@pytest.mark.parametrize("whole", [lambda v: v[()], lambda v: v[...], lambda v: v.squeeze()[()]])
@pytest.mark.parametrize("other", [3.0, 0.0, np.array([0.0, 3.0])])
def test_all_of_what_may_be_a_number_is_read(whole, other):
    """A store into a number is a TypeError, which the program catches: who knows whether `distance` has axes?"""

    def f(start, end):
        start, end = np.broadcast_arrays(np.radians(start), np.radians(end))
        distance = start * 3.0 / abs(np.cos(end))
        near = end < 1e-9
        try:
            distance[near] = start[near] * 2.0
        except TypeError:
            if near:
                distance = start * 2.0
        return whole(distance)

    value, pullback = ad.vjp(f, 2.0, other)
    np.testing.assert_array_equal(value, f(2.0, other))
    start_bar, end_bar = pullback(np.ones_like(value) if np.ndim(value) else 1.0)
    np.testing.assert_allclose(start_bar, np.sum(value) / 2.0)
    angle = np.radians(other)
    slope = np.radians(2.0) * 3.0 * np.sin(angle) / np.cos(angle) ** 2 * np.radians(1.0)
    np.testing.assert_allclose(end_bar, np.where(angle < 1e-9, 0.0, slope))


def test_a_sum_of_rows_with_binomial_coefficients():
    """The number of axes of `comb(n, k) * row` is known, so that of the sum is."""
    special = pytest.importorskip("scipy.special")

    def curve(points, t):
        n = len(points) - 1
        return np.sum([special.comb(n, i) * t**i * (1 - t) ** (n - i) * points[i] for i in range(n + 1)], axis=0)

    def f(points):
        return np.sum(np.array([curve(points, t) for t in np.linspace(0.0, 1.0, 5)]) ** 2)

    points = np.array([[0.1, 0.2], [0.6, 0.3], [0.9, 0.5], [1.4, 0.2]])
    weights = np.array(
        [[special.binom(3, i) * t**i * (1 - t) ** (3 - i) for i in range(4)] for t in np.linspace(0, 1, 5)]
    )
    np.testing.assert_allclose(ad.grad(f)(points), 2.0 * weights.T @ (weights @ points))


def positions_of_product(a):
    return sum(a[i, j] * (i + 7) ** 30 for i, j in itertools.product(range(a.shape[0]), range(a.shape[1])))


def positions_of_combinations(a):
    return sum(a[i, 0] * (j + 7) ** 30 for i, j in itertools.combinations(range(len(a)), 2))


def positions_of_ndindex(a):
    s = 0.0
    for i, j in np.ndindex(a.shape):
        s += a[i, j] * 2 ** (i - j)
    return s


def positions_of_ndenumerate(a):
    s = 0.0
    for (i, j), v in np.ndenumerate(a):
        s += v * (i + 0.5) * j
    return s


@pytest.mark.parametrize(
    "f", [positions_of_product, positions_of_combinations, positions_of_ndindex, positions_of_ndenumerate]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_items_of_ranges_are_ints_of_python(f, dtype):
    """They do not overflow, and make no double of a single."""
    a = np.arange(1.0, 7.0, dtype=dtype).reshape(2, 3)
    want = f(a)
    for options in ({}, {"backend": "native"}):
        value, gradient = ad.value_and_grad(f, **options)(a)
        assert type(value) is type(want)
        np.testing.assert_allclose(value, want, rtol=0.0 if not options else 1e-6)
        np.testing.assert_allclose(np.sum(gradient * a), want, rtol=1e-5)  # they are linear
