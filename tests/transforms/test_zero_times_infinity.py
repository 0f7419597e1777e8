"""A cotangent of zero that meets an infinite derivative: distances of points from themselves, and all that looks so.

Every way to write a distance, in every function of it that is smooth where the distance is zero, against central
differences. Where the function is defined on one side only, zero may be wrong: there nan is the answer.
"""

from __future__ import annotations

import math
import pickle
import re
import warnings

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import UnsupportedError
from tests.differences import differences

P = np.array([[0.1, 0.2], [0.5, -0.3], [-0.4, 0.9]])
X = np.array([0.3, -0.7, 1.1])
O = np.zeros(2)
V = np.cos(np.arange(1.0, 7.0))


def curved(f, x, v, step=1e-3):
    """The second derivative along `v`, by the differences of gradients away from where they are in question."""
    return differences(lambda y: (f(y + step * v) - f(y - step * v)) / (2 * step), x, step=step)


@pytest.fixture(autouse=True)
def no_warnings_of_division():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def squares(x):
    return ((x[:, None] - x[None, :]) ** 2).sum(-1)


def by_einsum(x):
    d = x[:, None] - x
    return np.sqrt(np.einsum("ijk,ijk->ij", d, d))


def by_products(x):
    s = (x * x).sum(1)
    return np.sqrt(np.maximum(s[:, None] + s - 2 * x @ x.T, 0.0))


def by_complex(x):
    z = x[:, 0] + 1j * x[:, 1]
    return np.abs(z[:, None] - z)


def by_axes(x):
    total = np.zeros((len(x), len(x)))
    for k in range(x.shape[1]):
        d = np.subtract.outer(x[:, k], x[:, k])
        total = total + d**2
    return np.sqrt(total)


def by_rows(x):
    return np.array([[np.linalg.norm(x[i] - x[j]) for j in range(3)] for i in range(3)])


def by_numbers(x):
    r = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            dx, dy = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1]
            r[i, j] = math.sqrt(dx * dx + dy * dy)
    return r


def stored(x):
    r = np.empty((3, 3))
    for i in range(3):
        r[i] = np.sqrt(np.sum((x - x[i]) ** 2, axis=1))
    return r


DISTANCES = {
    "sqrt": lambda x: np.sqrt(squares(x)),
    "sqrt of dots": lambda x: np.sqrt(np.sum(np.square(x[:, None] - x), axis=2)),
    "sqrt of abs": lambda x: np.sqrt((np.abs(x[:, None] - x) ** 2).sum(axis=-1)),
    "power": lambda x: squares(x) ** 0.5,
    "np.power": lambda x: np.power(squares(x), 0.5),
    "float_power": lambda x: np.float_power(squares(x), 0.5),
    "power of an array": lambda x: squares(x) ** np.full(3, 0.5),
    "another power": lambda x: (squares(x) ** 2) ** 0.25,
    "cbrt": lambda x: np.cbrt(squares(x) ** 1.5),
    "norm": lambda x: np.linalg.norm(x[:, None] - x, axis=-1),
    "norm, order 2": lambda x: np.linalg.norm(x[:, None] - x, ord=2, axis=2),
    "norm, keepdims": lambda x: np.linalg.norm(x[:, None] - x, axis=-1, keepdims=True),
    "hypot": lambda x: np.hypot(x[:, 0] - x[:, :1], x[:, 1] - x[:, 1:]),
    "einsum": by_einsum,
    "products": by_products,
    "complex": by_complex,
    "axes": by_axes,
    "rows": by_rows,
    "numbers": by_numbers,
    "stored": stored,
    "arccosh": lambda x: np.arccosh(1 + squares(x)),
    "chord": lambda x: 2 * np.arcsin(np.minimum(np.sqrt(squares(x)) / 4, 1.0)),
    "angle": lambda x: np.arccos(np.maximum(1 - squares(x) / 4, -1.0)),
}

KERNELS = {
    "gauss": lambda r: np.exp(-(r**2)),
    "gauss of products": lambda r: np.exp(-r * r / 2.0),
    "matern 3/2": lambda r: (1 + np.sqrt(3.0) * r) * np.exp(-np.sqrt(3.0) * r),
    "matern 5/2": lambda r: (1 + r + r**2 / 3) * np.exp(-r),
    "wendland": lambda r: np.maximum(1 - r / 3, 0) ** 4 * (4 * r / 3 + 1),
    "spline": lambda r: np.where(r < 1, 1 - 1.5 * r**2 + 0.75 * r**3, np.where(r < 2, 0.25 * (2 - r) ** 3, 0.0)),
    "multiquadric": lambda r: np.sqrt(1 + r**2),
    "inverse": lambda r: 1 / (1 + r * r),
    "cos": lambda r: np.cos(r),
    "cube": lambda r: r**3,
    "power": lambda r: r**2.5,
    "tanh": lambda r: np.tanh(r) ** 2,
    "log": lambda r: np.log1p(r**2) + np.log(np.cosh(r)),
    "sinc": lambda r: np.sinc(r / 4),
    "stress": lambda r: (r - np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.5], [2.0, 1.5, 0.0]])) ** 2,
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("distance", DISTANCES)
def test_distances(distance, kernel):
    r, k = DISTANCES[distance], KERNELS[kernel]

    def f(x):
        return np.sum(k(np.reshape(r(x), (3, 3))))

    np.testing.assert_allclose(ad.grad(f)(P), differences(f, P), rtol=1e-6, atol=1e-8)


def masked(x):
    r = np.sqrt(squares(x))
    np.fill_diagonal(r, np.inf)
    return np.sum(r**-12.0 - r**-6.0)


def masked_by_indices(x):
    r = np.sqrt(squares(x))
    r[np.diag_indices(3)] = 1.0
    return np.sum(4 * ((0.3 / r) ** 12 - (0.3 / r) ** 6))


def masked_by_where(x):
    r = np.sqrt(squares(x))
    return np.sum(np.where(r > 0, r**2 * np.log(np.where(r > 0, r, 1.0)), 0.0))


def upper_triangle(x):
    i, j = np.triu_indices(3, 1)
    return np.sum(1 / np.sqrt(squares(x))[i, j])


def smoothed_particles(x):
    q = np.sqrt(squares(x)) / 0.8
    w = np.where(q <= 1, 2 / 3 - q**2 + 0.5 * q**3, np.where(q < 2, (2 - q) ** 3 / 6, 0.0))
    return np.sum((w.sum(1) ** 2 - 1) ** 2)


def great_circle(x):
    u = x / np.linalg.norm(x, axis=1, keepdims=True)
    return np.sum(np.arccos(np.clip(u @ u.T, -1, 1)) ** 2)


def silverman(x):
    d = np.sqrt((x[:, None, 0] - x[:, 0]) ** 2)
    return np.sum(0.5 * np.exp(-d / np.sqrt(2)) * np.sin(d / np.sqrt(2) + np.pi / 4))


def softened(x):
    r = np.sqrt(squares(x)) + np.eye(3)
    return np.sum(1 / r)


def nearest(x):
    r = np.sqrt(squares(x)) + 1e9 * np.eye(3)
    return np.sum(r.min(axis=1)) if x[0, 0] > 9 else np.sum(np.sort(np.sqrt(squares(x)), axis=1)[:, 1])


def in_a_try(x):
    try:
        r = np.sqrt(squares(x))
    except ValueError:
        r = x
    return np.sum(np.exp(-(r**4)))


def in_a_comprehension(x):
    return sum([math.exp(-(math.sqrt((a - b) ** 2) ** 3)) for a in x[:, 0] for b in x[:, 1:].ravel() * 0 + x[:, 0]])


def in_a_nested_function(x):
    def r(a, b):
        return np.sqrt(((a - b) ** 2).sum())

    def k(s):
        return (1 + s) * np.exp(-s)

    total = 0.0
    for a in x:
        for b in x:
            total += k(r(a, b))
    return total


class Kernel:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, x, y):
        r = np.sqrt(((x[:, None] - y[None]) ** 2).sum(-1)) / self.scale
        return (1 + r) * np.exp(-r)


PROGRAMS = {
    f.__name__: f
    for f in (
        masked, softened, masked_by_indices, masked_by_where, upper_triangle, smoothed_particles, great_circle,
        silverman, nearest, in_a_try, in_a_comprehension, in_a_nested_function,
    )
}  # fmt: skip
PROGRAMS["of an object"] = lambda x: np.sum(Kernel(0.7)(x, x) @ x)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    f = PROGRAMS[name]
    np.testing.assert_allclose(ad.grad(f)(P), differences(f, P), rtol=1e-6, atol=1e-7)
    value, gradient = ad.value_and_grad(f)(P)
    np.testing.assert_allclose(value, f(P))
    np.testing.assert_allclose(gradient, differences(f, P), rtol=1e-6, atol=1e-7)


# At one point: (function, point). All are smooth there, or have a kink whose derivative is zero.
POINTS = {
    "issue": (lambda x: np.exp(-(np.sqrt(((x[:, None] - x) ** 2)) ** 2)).sum(), X),
    "norm": (lambda x: np.linalg.norm(x) ** 2, O),
    "root of a dot": (lambda x: np.sqrt(x @ x) ** 2, O),
    "cube of a norm": (lambda x: np.linalg.norm(x) ** 3, O),
    "numbers": (lambda x: math.sqrt(x[0] ** 2 + x[1] ** 2) ** 2, O),
    "math.hypot": (lambda x: math.hypot(x[0], x[1]) ** 2, O),
    "abs": (lambda x: np.sum(np.abs(x) ** 2 + np.abs(x) ** 3), O),
    "another factor": (lambda x: x[0] * np.sqrt(x[1] ** 2), O),
    "std": (lambda x: np.std(x) ** 2, np.full(3, 0.3)),
    "root of var": (lambda x: np.sqrt(np.var(x)) ** 2, np.full(3, 0.3)),
    "exp of std": (lambda x: np.exp(-(np.std(x) ** 2)) + x[0], np.full(3, 0.3)),
    "cbrt": (lambda x: np.cbrt(x[0] ** 2) ** 3 + x[1], O),
    "haversine": (
        lambda x: (2 * np.arcsin(np.sqrt(np.sin(x[0] / 2) ** 2 + np.cos(x[1]) * np.sin(x[1] / 2) ** 2))) ** 2, O,
    ),
    "angle times square": (lambda x: np.arctan2(x[0], x[1]) * (x[0] ** 2 + x[1] ** 2), np.array([0.0, 0.0])),
    "arccosh": (lambda x: np.arccosh(1 + 2 * np.sum(x**2)) ** 2, O),
    "huber": (lambda x: huber(np.sqrt(np.sum(x**2))), O),
    "sine": (lambda x: np.sqrt(1 - np.cos(x[0]) ** 2) ** 2 + x[1], O),
    "sum in a loop": (lambda x: sum_in_a_loop(x), O),
    "zero exponent": (lambda x: np.sum(np.sqrt(x * x) ** np.array([2.0, 3.0])), O),
}  # fmt: skip


def huber(r):
    return 0.5 * r**2 if r < 1 else r - 0.5


def sum_in_a_loop(x):
    s = 0.0
    for k in range(2):
        r = np.sqrt((x[k] - 0.0) ** 2)
        s = s + r**2 * np.exp(-r)
    return s


@pytest.mark.parametrize("name", POINTS)
def test_at_a_point(name):
    f, x = POINTS[name]
    np.testing.assert_allclose(ad.grad(f)(x), differences(f, x), rtol=1e-6, atol=1e-4)


@pytest.mark.parametrize("name", POINTS)
def test_second_order_is_right_or_nan(name):
    """What the zero stood for is not known, so where it counts the second derivative is nan."""
    f, x = POINTS[name]
    v = V[: x.size]
    try:
        found = ad.grad(lambda y: np.sum(ad.grad(f)(y) * v))(x)
    except ZeroDivisionError:
        return
    if np.isfinite(found).all():
        np.testing.assert_allclose(found, curved(f, x, v), atol=2e-2)


@pytest.mark.parametrize("name", ["issue", "norm", "root of a dot", "math.hypot", "std", "root of var", "exp of std"])
def test_second_order(name):
    """A factor that is the root itself is cancelled, which is right in every order."""
    f, x = POINTS[name]
    v = V[: x.size]
    found = ad.grad(lambda y: np.sum(ad.grad(f)(y) * v))(x)
    np.testing.assert_allclose(found, curved(f, x, v), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["sqrt", "power", "norm", "einsum", "products", "axes", "hypot"])
def test_second_order_of_distances(name):
    def f(x):
        return np.sum(np.exp(-(DISTANCES[name](x) ** 2)))

    v = V.reshape(3, 2)
    found = ad.grad(lambda y: np.sum(ad.grad(f)(y) * v))(P)
    np.testing.assert_allclose(found, curved(f, P, v), rtol=1e-4, atol=1e-5)


# The function is defined on one side only, and its derivative there is not zero.
ONE_SIDED = {
    "square of a root": lambda x: np.sqrt(x) ** 2,
    "product of roots": lambda x: np.sqrt(x) * np.sqrt(x),
    "two roots": lambda x: np.sqrt(2 * x) * np.sqrt(x),
    "power of a power": lambda x: (x**0.5) ** 2,
    "sum": lambda x: np.sum(np.sqrt(np.array([x, 2 * x]))) ** 2,
    "number": lambda x: math.sqrt(x) * math.sqrt(x),
    "angle": lambda x: np.arccos(1 - x) ** 2,
    "arcsin": lambda x: np.arcsin(np.sqrt(x)) ** 2,
    "log of cosh": lambda x: np.log(np.cosh(np.sqrt(x))),
    "cos": lambda x: np.cos(np.sqrt(x)),
    "harmonic": lambda x: 1 / (1 / x + 1.0),
    "arctan": lambda x: np.arctan(1 / x),
    "exp of log": lambda x: np.exp(np.log(x)),
    "log of exp": lambda x: 1 / np.log1p(np.exp(1 / x)),
    "power by a log": lambda x: np.exp(-np.log(1 / x)),
    "both": lambda x: np.exp(-1 / x) + 1 / (1 + 1 / x),
}


@pytest.mark.parametrize("name", ONE_SIDED)
def test_one_sided_is_not_zero(name):
    """Nan is an honest answer, zero would be a wrong number."""
    f = ONE_SIDED[name]
    with np.errstate(all="ignore"):
        try:
            found = ad.grad(f)(np.float64(0.0))
        except ZeroDivisionError:
            return
        assert not np.isfinite(found) or abs(found - (f(1e-9) - f(0.0)) / 1e-9) < 1e-4 * abs(found)


def test_a_factor_that_goes_to_zero_faster_than_the_root():
    """The derivative of ``x * sqrt(x)`` at 0 is 0, although 0 is at the edge."""
    assert ad.grad(lambda x: x * np.sqrt(x))(np.float64(0.0)) == 0
    assert ad.grad(lambda x: np.sin(x) * np.sqrt(x) + x)(np.float64(0.0)) == 1
    np.testing.assert_array_equal(ad.grad(lambda x: np.sum(x**2 * np.arccos(1 - x)))(O), O)
    np.testing.assert_array_equal(ad.grad(lambda x: x[0] * np.sqrt(x[1]))(O), O)


def test_infinite_and_nan_where_due():
    with np.errstate(all="ignore"):
        assert ad.grad(lambda x: np.sum(np.sqrt(x)))(O).tolist() == [np.inf, np.inf]
        assert ad.grad(lambda x: np.sum(w_of(x) * np.sqrt(x)))(O).tolist() == [0.0, np.inf]
        found = ad.grad(lambda x: np.sum(np.exp(-(np.sqrt(x**2) ** 3))))(np.array([np.nan, 0.0, 1.0]))
        assert np.isnan(found[0]) and found[1] == 0 and found[2] < 0
        pull = ad.vjp(lambda x: np.sqrt(np.sum(x * x, axis=1)), np.zeros((2, 2)))[1]
        np.testing.assert_array_equal(pull(np.zeros(2))[0], np.zeros((2, 2)))
        assert np.isnan(pull(np.array([np.nan, 0.0]))[0][0]).all()


FLAT = {
    "bump": lambda x: np.exp(-1 / x**2),
    "negative power": lambda x: np.exp(-(x**-2.0)) + x,
    "reciprocal": lambda x: x * np.exp(-np.reciprocal(x * x)),
    "tanh": lambda x: np.tanh(1 / x**2),
    "planck": lambda x: x + 1 / (np.exp(1 / x**2) - 1),
    "step": lambda x: np.exp(-1 / x**2) / (np.exp(-1 / x**2) + np.exp(-1 / (1 - x) ** 2)),
    "sigmoid": lambda x: 1 / (1 + np.exp(1 / x**2)),
}


@pytest.mark.parametrize("name", FLAT)
def test_a_quotient_behind_an_exponential(name):
    """It is infinite, and what is made of it is flat: the exponential wins against any power."""
    f = FLAT[name]
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(ad.grad(f)(np.float64(0.0)), (f(1e-3) - f(-1e-3)) / 2e-3, atol=1e-12)
        x = np.array([0.0, 0.5, -0.7])
        want = [(f(v + 1e-6) - f(v - 1e-6)) / 2e-6 for v in x]
        np.testing.assert_allclose(ad.grad(lambda x: np.sum(f(x)))(x), want, rtol=1e-6, atol=1e-9)


def w_of(x):
    return np.array([0.0, 1.0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_is_kept(dtype):
    x = P.astype(dtype)
    for r in ("sqrt", "power", "norm", "angle"):
        found = ad.grad(lambda x, r=DISTANCES[r]: np.sum((1 + r(x)) * np.exp(-r(x))))(x)
        assert found.dtype == dtype and np.isfinite(found).all()
    found = ad.grad(lambda x: np.sqrt(x * x) ** 3)(dtype(0))
    assert found == 0 and type(found) is dtype


@pytest.mark.parametrize("size", [3, 60])
def test_no_warning_where_the_result_is_finite(size):
    x = np.random.default_rng(0).normal(size=(size, 2))  # 60 points have 3,600 distances: another way to divide
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        found = ad.grad(lambda x: np.sum((1 + np.sqrt(squares(x))) * np.exp(-np.sqrt(squares(x)))))(x)
        ad.grad(lambda x: np.sqrt(x @ x) ** 3)(O)
        ad.grad(in_a_nested_function)(P)
    np.testing.assert_allclose(
        found, ad.grad(lambda x: np.sum(KERNELS["matern 3/2"](DISTANCES["norm"](x) / np.sqrt(3))))(x)
    )


def test_no_guard_where_it_cannot_matter():
    """Emitted code has no helper where the argument is positive or the cotangent is not zero."""
    x = np.array([1.0, 2.0])
    for f in (
        lambda x: np.sum(np.sqrt(x)),
        lambda x: np.sum(np.sqrt(x**2 + 1e-8) ** 3),
        lambda x: np.sum(np.tanh(np.sqrt(np.exp(x) + 1.0))),
        lambda x: np.sum(np.exp(-(np.sqrt(np.sum(x**2)) ** 2))),
        lambda x: np.sum(1 / (1 + np.exp(-x))),
        lambda x: np.sum(np.linalg.norm(x) ** 3),
        lambda x: np.mean(np.cbrt(x)),
    ):
        assert not {"ratio", "over", "product"} & set(re.findall(r"\w+", ad.grad(f).source(x)))
    assert "ratio(" in ad.grad(lambda x: np.sum(np.cos(np.sqrt(np.maximum(x, 0.0))))).source(x)


def test_on_the_tape():
    x = ad.Variable(P)
    with ad.GradientTape() as tape:
        r = ad.ops.sqrt(ad.ops.sum((x[:, None] - x) ** 2, axis=-1))
        y = ad.ops.sum((1 + r) * ad.ops.exp(-r))
    want = differences(lambda x: np.sum((1 + np.sqrt(squares(x))) * np.exp(-np.sqrt(squares(x)))), P)
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), want, rtol=1e-6, atol=1e-8)


def test_rules_of_users():
    @ad.primitive
    def root(x):
        return np.sqrt(x)

    ad.elementwise(root, lambda out, x: 0.5 / out, singular=True)

    def f(x):
        return np.sum(np.cos(root(squares(x))))

    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(ad.grad(f)(P), differences(f, P), rtol=1e-6, atol=1e-8)


def test_the_precision_of_a_loop_does_not_matter():
    """The array is float32 at first and float64 later: its dtype is not known, but it is real."""

    def f(y):
        for _ in range(2):
            y = np.sin(np.maximum(np.full(4, 0.3), y) * np.dot(y[1:], y[1:]) * 0.0)
        return np.sum(np.sqrt((y[:, None] - y) ** 2)[np.triu_indices(4, 1)])

    for dtype in (np.float32, np.float64):
        np.testing.assert_array_equal(ad.grad(f)(np.ones(4, dtype)), np.zeros(4))


def weighted_root(v):
    return np.sum(np.array([0.0, 2.0]) * np.sqrt(v))


def test_strong_zeros_can_be_turned_off():
    v = np.array([0.0, 4.0])
    with np.errstate(all="ignore"):
        for strong, want in [(True, [0.0, 0.5]), (False, [np.nan, 0.5])]:
            gradient = ad.grad(weighted_root, strong_zeros=strong)
            np.testing.assert_array_equal(gradient(v), want)
            np.testing.assert_array_equal(ad.value_and_grad(weighted_root, strong_zeros=strong)(v)[1], want)
            assert ("ratio" in gradient.source(v)) == strong
            np.testing.assert_array_equal(pickle.loads(pickle.dumps(gradient))(v), want)


def test_strong_zeros_hold_inside_of_compiled_functions():
    loose = ad.grad(weighted_root, strong_zeros=False)
    for f in (lambda v: np.sum(loose(v)), lambda v: np.sum(ad.grad(weighted_root, strong_zeros=False)(v))):
        with pytest.raises(UnsupportedError, match="strong_zeros=False"):
            ad.grad(f)(np.ones(2))


# --- Python's numbers at the edge of a domain: they raise where NumPy's are infinite ----------------------------------


def root_behind_a_branch(s):
    y = 0.0
    if s > 5:
        y = s
    return math.sqrt(y) + s


def root_of_a_running_maximum(s):
    m = 0.0
    for _ in range(2):
        m = max(m, s - 9)
    return math.sqrt(m) + s


def roots_of_a_list(s):
    r, total = [0.0, s], 0.0
    for k in range(2):
        total += math.sqrt(r[k])
    return total


def power(n):
    return lambda s: (s if s > 5 else 0.0) ** n


# By name: the function of a Python float, and its derivative at 1.7.
CHOSEN = {
    "a branch": (root_behind_a_branch, 1.0),
    "a running maximum": (root_of_a_running_maximum, 1.0),
    "items": (roots_of_a_list, 0.5 / math.sqrt(1.7)),
    "sqrt of max": (lambda s: math.sqrt(max(s - 5.0, 0.0)), 0.0),
    "sqrt of the other max": (lambda s: math.sqrt(max(0.0, s - 5.0)), 0.0),
    "acos of min": (lambda s: math.acos(min(1.0, s)), 0.0),
    "acos of the other min": (lambda s: math.acos(min(s, 1.0)), 0.0),
    "acos of both": (lambda s: math.acos(max(-1.0, min(1.0, s))), 0.0),
    "acos of both, below": (lambda s: math.acos(max(-1.0, min(1.0, -s))), 0.0),
    "asin": (lambda s: math.asin(s if s > 5 else 1.0), 0.0),
    "acosh": (lambda s: math.acosh(max(1.0, s - 3)), 0.0),
    "root by a power": (power(0.5), 0.0),
    "another power": (power(0.3), 0.0),
    "power by the argument": (lambda s: (s if s > 5 else 0.0) ** (s - 1), 0.0),
    "power of max": (lambda s: max(0.0, s - 5) ** (s - 1) + s, 1.0),
    "np.sqrt": (lambda s: np.sqrt(max(s - 5.0, 0.0)), 0.0),
    "np.sqrt of np.maximum": (lambda s: np.sqrt(np.maximum(s - 5.0, 0.0)), 0.0),
    "pow": (lambda s: pow(max(s - 9.0, 0.0), 0.5), 0.0),
    "math.pow": (lambda s: math.pow(max(s - 9.0, 0.0), 0.3), 0.0),
    "math.pow by the argument": (lambda s: math.pow(s if s > 5 else 0.0, s - 1) + s, 1.0),
    "atan2": (lambda s: math.atan2(max(s - 5, 0.0), max(0.0, s - 6)) + s, 1.0),
    "in a product": (lambda s: s * math.sqrt(max(s - 5.0, 0.0)) + s, 1.0),
    "of a product": (lambda s: math.sqrt(max(3.0 * s / 2 - 50.0, 0.0)) + s, 1.0),
    "a NumPy number by a Python zero": (lambda s: np.float64(2.0) * s / (s if s > 5 else 1.0), 2.0),
}
if hasattr(math, "cbrt"):  # Python 3.11
    CHOSEN["math.cbrt"] = (lambda s: math.cbrt(max(s - 9.0, 0.0)), 0.0)


@pytest.mark.parametrize("name", CHOSEN)
def test_pythons_numbers_behind_a_choice(name):
    f, want = CHOSEN[name]
    np.testing.assert_allclose(differences(f, 1.7), want, atol=1e-8)
    np.testing.assert_allclose(ad.grad(f)(1.7), want, rtol=1e-12)
    np.testing.assert_allclose(ad.value_and_grad(f)(1.7), (f(1.7), want), rtol=1e-12)
    np.testing.assert_allclose(ad.jvp(f, (1.7,), (1.0,)), (f(1.7), want), rtol=1e-12)


def test_pythons_numbers_of_an_array():
    """One element has an infinite derivative, the others have theirs."""
    found = ad.grad(lambda r: sum([math.sqrt(v) for v in r]))(np.array([0.0, 4.0]))
    assert found.tolist() == [np.inf, 0.25]


def test_a_tangent_of_zero_by_chance_is_not_taken_for_sure():
    """``cbrt(s ** 3)`` is `s`, though the tangent of ``s ** 3`` is zero at 0."""
    for f in (lambda s: np.cbrt(max(s, -1.0) ** 3), lambda s: (max(s, 0.0) ** 2) ** 0.5 if s > 1 else np.cbrt(s**3)):
        try:
            assert not np.isfinite(ad.jvp(f, (np.float64(0.0),), (1.0,))[1])
        except ZeroDivisionError:
            pass


def test_pythons_numbers_without_a_choice_are_divided_as_they_are():
    for f in (math.sqrt, lambda s: math.sqrt(2 * s + 1), lambda s: s**0.5, math.acos):
        code = [line for line in ad.grad(f).source(0.3).splitlines() if "# adjoint" not in line]
        assert not any("inf" in line for line in code)


def test_what_is_overwritten_is_divided_by_zero():
    """The zeros are stored behind the division, which needs no mask."""

    def f(x, d, mask):
        y = x / d
        y[mask] = 3.0
        return np.sum(y * y)

    def of_roots(x, d, mask):
        y = d * np.sqrt(x)
        y[mask] = 3.0
        return np.sum(y * y)

    x, mask = np.array([0.0, 2.0, 0.0]), np.array([True, False, True])
    assert "np.where" not in ad.grad(f).source(x, 0.5, mask)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(ad.grad(f)(x, 0.5, mask), [0.0, 16.0, 0.0])
        np.testing.assert_array_equal(ad.grad(f)(x, 0.0, mask), [0.0, np.inf, 0.0])
        np.testing.assert_array_equal(ad.grad(f)(x, 0.0, mask | True), [0.0, 0.0, 0.0])
        np.testing.assert_array_equal(ad.grad(of_roots)(x, 2.0, mask), [0.0, 4.0, 0.0])
        np.testing.assert_array_equal(ad.jvp(lambda x: f(x, 0.0, mask | True), (x,), (np.ones(3),))[1], 0.0)
        hessian = ad.hessian(f)(x, 0.5, mask)
    np.testing.assert_array_equal(hessian, np.diag([0.0, 8.0, 0.0]))


def test_what_a_loop_binds_anew_is_not_divided_by_pythons_zero():
    """NumPy has divided, by a number of Python's. Behind a loop or in a list, the cotangent is one of Python's, too."""

    def in_a_loop(x, v):
        t = v[0] / x
        for i in range(len(v)):
            if v[i] > 0.5:
                t = 2.0 * v[i]
        return t

    def before_a_while(x, v):
        t, i = x, 0
        if v[1] > 0.0:
            t = v[0] / t
        while i < 2:
            t = 2.0 * v[i]
            i += 1
        return t

    def in_a_list(x, v):
        items = [v[0] / x, v[1]]
        for e in v:
            items[0] = 2.0 * e
        return items[0]

    v = np.array([0.3, 0.7])
    for f in (in_a_loop, before_a_while, in_a_list):
        with np.errstate(all="ignore"):
            found = ad.grad(f, argnums=(0, 1))(0.0, v)
        assert found[1][1] == 2.0
        assert not any(abs(g) > 0.0 for g in (found[0], found[1][0]))  # zero or nan
        assert ad.grad(f, argnums=(0, 1))(0.5, v)[1].tolist() == [0.0, 2.0]

    def of_unknown_type(x, v):
        s = 0
        for _ in range(2):
            s -= v[0] / s
        for e in v:
            s = 0
            s -= x - 2.0 * e
        return s

    with np.errstate(all="ignore"):
        found = ad.grad(of_unknown_type, argnums=(0, 1))(0.5, v)
    assert found[0] == -1.0
    assert found[1][1] == 2.0
