"""Functions that solvers call: what they read becomes operands, and what cannot be followed is refused."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy", minversion="1.16")  # of older versions nothing is known
from scipy import integrate
from scipy.integrate import quad
from scipy.optimize import brentq, least_squares

import autodiff_compiler as ad
from tests.differences import differences

X = np.array([0.8, 0.7])
SCALE = 1.5


def squared(t, a):
    return a * t * t * SCALE


class Shape:
    def __init__(self, width):
        self.width = width

    def height(self, t):
        return np.exp(-t * self.width)


OUTSIDE = Shape(0.9)


def a_local_helper(x):
    def helper(t):
        return np.sin(t * x[1])

    return quad(lambda t: helper(t) * x[0], 0, 1)[0]


def a_default(x):
    k = x[0] * 2

    def f(t: float, g=lambda u: u * x[1]) -> float:
        return g(t)

    return quad(lambda t, k=k: np.cos(k * t) * x[1], 0, 1)[0] + quad(f, 0, 1)[0]


def args(x):
    return quad(squared, 0, x[1], args=(x[0],))[0]


def a_partial(x):
    return quad(functools.partial(lambda a, t: np.exp(a * t), x[0]), 0, x[1])[0]


def containers(x):
    p = (x[0], [x[1], 2.0 * x])
    return quad(lambda t: p[0] * t + p[1][0] * t**2 + p[1][1][0] * t**3, 0, 1)[0]


def the_present_value(x):
    a = x * 2.0
    first = quad(lambda t: a[0] * t, 0, 1)[0]
    a[0] = x[1] ** 2
    return first + quad(lambda t: a[0] * t, 0, 1)[0]


def a_name_that_is_bound_later(x):
    f = lambda t: k * t
    k = x[0] ** 2
    return quad(f, 0, x[1])[0]


def in_a_loop(x):
    total = 0.0
    for n in range(3):
        total = total + quad(lambda t: np.exp(-n * t * x[0]) * x[1], 0, 1)[0] * (n + 1)
    return total


def in_a_branch(x):
    if x[0] > 0.5:
        y = brentq(lambda t: t**3 - x[0] * x[1], 0, 2)
    else:
        y = x[1]
    return y * y


def one_in_the_other(x):
    return quad(lambda t: brentq(lambda s: s**3 + s - t * x[0], 0, 3) * x[1], 0, 1)[0]


def a_method_of_an_object_outside(x):
    return quad(OUTSIDE.height, 0, x[0])[0] * x[1]


def a_view(x):
    y = x[::-1]
    return quad(lambda t: y[0] * t + y[1] ** 2, 0, 1)[0]


def a_branch_inside(x):
    def f(t):
        if t > 0.5:
            return x[0] * t
        return x[1] * t * t

    return quad(f, 0, 1, points=(0.5,))[0]


def comprehension(x):
    return sum([quad(lambda t: t ** (k + 1) * x[k], 0, 1)[0] ** 2 for k in range(2)])


def local_import(x):
    import math

    c = math.pi

    def f(t):
        return math.sin(t * c) * x[0] + np.log(1 + t) * x[1]

    return quad(f, 0, 0.5)[0]


def several_statements(x):
    def f(t):
        """An integrand."""
        total = 0.0
        for k in range(3):
            total += x[0] ** k * t**k
        return total * x[1]

    return quad(f, 0, 1)[0]


def a_name_that_means_two_things(x):
    t = x[0]

    def helper(u):
        return u * t

    return quad(lambda t: helper(t) + t * x[1], 0, 1)[0]


def a_parameter_with_a_name_of_ours(x):
    p = (x[0], x[1])
    return quad(lambda p_0: p[0] * p_0 + p[1], 0, 1)[0]


def a_variable_with_a_name_of_ours(x):
    p = (x[0], x[1])
    p_0 = x[1] * 5
    return quad(lambda t: p[0] * t + p_0, 0, 1)[0]


class Decay:
    def fade(self, t):
        return np.exp(-t * self.rate)


class Model(Decay):
    SCALE = 2.0

    def __init__(self, rate, levels=(1.0, 2.0)):
        self.rate = rate
        self.levels = list(levels)
        self.table = {"a": rate * 2, 3: levels}
        self.name = "model"
        self.ramp = lambda t: t * rate
        self.rows = None

    @property
    def double(self):
        return self.rate * 2

    def height(self, t):
        return self.fade(t) * self.SCALE + self.levels[1] * self.table["a"] * t + self.ramp(t) + self.double

    def area(self, b):
        return quad(self.height, 0, b)[0]

    def rhs(self, t, y):
        return -self.rate * y + self.levels[0]

    def final(self, start):
        return integrate.solve_ivp(self.rhs, (0, 1), [start], rtol=1e-9, atol=1e-11).y[0, -1]

    def __call__(self, t):
        return t * self.rate


class Scaled(Model):
    def __init__(self, rate):
        super().__init__(rate)
        self.__factor = rate**2

    @functools.cached_property
    def square(self):
        return self.rate**2

    def fade(self, t):
        return super().fade(t) * self.__factor

    def inner(self):
        return quad(lambda t: self.fade(t) * self.__factor, 0, 1)[0]

    def squares(self, t):
        return self.square * t


class Slots:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a

    def line(self, t):
        return self.a * t


@dataclasses.dataclass(frozen=True)
class Point:
    a: float
    b: np.ndarray

    def residual(self, p):
        return np.array([p[0] * self.a - self.b[0], p[1] - self.b[1] * p[0], p[0] - 1.0])


def methods(x):
    model = Model(x[0], (x[1], x[0] * 2))
    return model.area(x[1]) + model.final(x[1] * 2)


def a_method_of_a_frozen_dataclass(x):
    point = Point(x[0], x)
    return np.sum(least_squares(point.residual, np.ones(2), xtol=1e-14, ftol=1e-14, gtol=1e-14).x)


def objects_in_dictionaries(x):
    model = Model(x[0])
    d = {"k": x[1], "model": model}
    return quad(lambda t: d["model"].height(t) * d["k"] + model.rate, 0, 1)[0]


def objects_in_objects(x):
    model = Model(x[0])
    model.rows = [Model(x[1]), Slots(x[0])]
    return quad(lambda t: model.rows[0].height(t) + model.rows[1].line(t), 0, 1)[0]


def an_object_that_is_called(x):
    return quad(Model(x[0] * x[1]), 0, 1)[0]


def a_partial_with_keywords(x):
    return quad(functools.partial(lambda t, a, b: a * t**2 + b, a=x[0], b=x[1]), 0, 1)[0]


def functions_in_dictionaries(x):
    table = {"f": lambda t: t * x[0], "g": (lambda t: t * t * x[1], 2)}
    return quad(table["f"], 0, 1)[0] + quad(lambda t: table["g"][0](t) * table["f"](t), 0, 1)[0]


def lists_of_run_time_length(x):
    places, heights, counts = [], [], []
    for k in range(len(x) + 2):
        places.append(float(x[0]) * k)
        heights.append(np.sin(x[1] * k))
        counts.append(k)
    return quad(lambda t: sum([a * t + b + k for a, b, k in zip(places, heights, counts)]), 0, 1)[0]


def methods_of_a_subclass(x):
    first, second = Scaled(x[0]), Model(x[1])
    start = first.square
    first.rate = x[1]
    return (
        start * first.inner()
        + quad(first.squares, 0, 1)[0]
        + quad(lambda t: sum([m.height(t) for m in (first, second)]), 0, 1)[0]
    )


def an_object_that_changes(x):
    model = Model(x[0])
    first = model.area(1.0)
    model.levels[1], model.rate = x[1] * 5, x[0] * x[1]
    return first * model.area(1.0)


def closures_of_closures(x):
    def outer(a):
        return lambda b: lambda t, *more: a * t + b * t**2 + sum(more)

    f = outer(x[0])(x[1])
    return quad(f, 0, 1)[0] + quad(lambda t: f(t, t, x[0]) * t, 0, 1)[0]


def what_another_solver_gave(x):
    root = brentq(lambda t: t**3 - x[0], 0, 3)
    sol = integrate.solve_ivp(lambda t, y: -y * root, (0, 1), [x[1]], rtol=1e-9, atol=1e-11)
    return quad(lambda t: sol.y[0, -1] * t * root, 0, 1)[0]


def helpers_of_helpers(x):
    a = lambda t: t * x[0]
    b = lambda t, k=2.0: a(t) ** 2 * k
    return quad(lambda t: b(t) + a(t), 0, x[1])[0]


def a_default_of_a_helper(x):
    def helper(u, k=x[1] ** 2):
        return u * k

    return quad(lambda x: helper(x) + helper(x, 2.0), 0, x[0])[0]


PROGRAMS = [
    a_local_helper, a_default, args, a_partial, containers, the_present_value, a_name_that_is_bound_later, in_a_loop,
    in_a_branch, one_in_the_other, a_method_of_an_object_outside, a_view, a_branch_inside, comprehension, local_import,
    several_statements, a_name_that_means_two_things, a_parameter_with_a_name_of_ours, helpers_of_helpers,
    a_default_of_a_helper, a_variable_with_a_name_of_ours, methods, a_method_of_a_frozen_dataclass,
    objects_in_dictionaries, objects_in_objects, an_object_that_is_called, a_partial_with_keywords,
    functions_in_dictionaries, lists_of_run_time_length, methods_of_a_subclass,
    an_object_that_changes, closures_of_closures, what_another_solver_gave,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs(f: Any) -> None:
    g = ad.grad(f)
    wanted = differences(f, X)
    np.testing.assert_allclose(g(X), wanted, rtol=1e-6, atol=1e-8)
    d = np.array([0.3, -1.1])
    value, tangent = ad.jvp(f, (X,), (d,))
    np.testing.assert_allclose(value, f(X), rtol=1e-12)
    np.testing.assert_allclose(tangent, wanted @ d, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "f", [a_local_helper, containers, in_a_branch, the_present_value, methods], ids=lambda f: f.__name__
)
def test_second_derivatives(f: Any) -> None:
    def total(x):
        return np.sum(ad.grad(f)(x) * np.array([1.0, -2.0]))

    np.testing.assert_allclose(ad.grad(total)(X), differences(total, X), rtol=1e-5, atol=1e-7)


def test_a_global_that_changes() -> None:
    global SCALE
    g = ad.grad(args)
    try:
        SCALE = 1.5
        before = g(X)
        SCALE = 3.0
        np.testing.assert_allclose(g(X), 2 * before)
    finally:
        SCALE = 1.5


def counts(x):
    calls = [0]

    def f(t):
        calls[0] += 1
        return t * x[0]

    return quad(f, 0, 1)[0] + 0.0 * calls[0]


def appends(x):
    seen = []

    def f(t):
        seen.append(t)
        return t * x[0]

    return quad(f, 0, 1)[0]


def rebinds(x):
    count = 0

    def f(t):
        nonlocal count
        count += 1
        return t * x[0]

    return quad(f, 0, 1)[0]


class Counts:
    def __init__(self, width):
        self.width = width
        self.calls = 0
        self.seen = []

    def height(self, t):
        self.calls += 1
        return t * self.width

    def noted(self, t):
        note(self.seen, t)
        return t * self.width


def note(seen, t):
    seen.append(t)


def counts_in_an_object(x):
    shape = Counts(x[0])

    def f(t):
        shape.calls += 1
        return t * shape.width

    return quad(f, 0, 1)[0]


LEVEL = 1.0
LEVELS = np.ones(2)


def level(t):
    return t * LEVEL


def writes_a_global(x):
    global LEVEL
    LEVEL = x[0] * 2.0
    return quad(lambda t: t * LEVEL, 0, 1)[0]


def writes_a_global_of_a_helper(x):
    global LEVEL
    LEVEL = x[0] * 2.0
    return quad(level, 0, 1)[0]


def writes_an_array_outside(x):
    LEVELS[0] = x[0]
    return quad(lambda t: t * LEVELS[0], 0, 1)[0]


def writes_an_attribute_outside(x):
    OUTSIDE.width = x[0]
    return quad(OUTSIDE.height, 0, 1)[0]


def calls_itself(x):
    def f(t):
        return t if t < 0.1 else f(t - 0.1) * x[0]

    return quad(f, 0, 1)[0]


def has_a_weight(x):
    return quad(lambda t: t * x[0], 0, 1, weight="cos", wvar=2.0)[0]


@pytest.mark.parametrize(
    "f", [counts, appends, rebinds, counts_in_an_object, calls_itself, has_a_weight, writes_a_global,
     writes_a_global_of_a_helper, writes_an_array_outside, writes_an_attribute_outside],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_refused(f: Any) -> None:
    with pytest.raises(ad.UnsupportedError) as error:
        ad.grad(f)(X)
    assert "quad(" in str(error.value) and "Instead:" in str(error.value)


def test_an_array_that_is_written_to() -> None:
    def f(x):
        last = np.zeros(1)

        def integrand(t):
            last[0] = t
            return t * x[0]

        return quad(integrand, 0, 1)[0] + last[0]

    with pytest.raises(NotImplementedError, match="writes into an array"):
        ad.grad(f)(X)


def test_an_argument_that_is_written_to() -> None:
    def by_steps(x):
        def rhs(t, y, a):
            a[0] += 1.0
            return [-a[0] * y[0]]

        return integrate.solve_ivp(rhs, (0, 1), [1.0], args=(x * 2.0,)).y[0, -1]

    def by_root(x):
        def residual(t, a):
            a[0] += 1.0
            return t - a[0]

        return brentq(residual, 0, 10, args=(x * 2.0,))

    for f in (by_steps, by_root):
        with pytest.raises(NotImplementedError, match="writes into an array"):
            ad.grad(f)(X)


def test_what_the_function_raises() -> None:
    def f(x):
        def integrand(t):
            if t > 0.5:
                raise KeyError("beyond")
            return t * x[0]

        return quad(integrand, 0, 1)[0]

    with pytest.raises(KeyError, match="beyond"):
        ad.grad(f)(X)
    with pytest.raises(ValueError, match="different signs"):
        ad.grad(lambda x: brentq(lambda t: t + x[0], 1, 2))(X)


def test_attributes_of_functions() -> None:
    def f(x):
        def scaled(t):
            return t * x[0]

        scaled.power = x[1] ** 2
        if x[0] > 0.5:
            scaled.power = scaled.power * 3
        line = lambda t: t
        line.power = 2.0
        both = (scaled, line)
        others = [hasattr(fn, "weight") for fn in both]
        return sum([fn(2.0) * fn.power for fn in both]) + getattr(line, "weight", 5.0) + sum(others)

    np.testing.assert_allclose(ad.grad(f)(X), differences(f, X), rtol=1e-6)

    def made_in_a_loop(x):
        total = 0.0
        for k in range(3):
            g = lambda t: t * x[0]
            g.weight = x[1] * k
            total += g(1.0) * g.weight
        return total

    np.testing.assert_allclose(ad.grad(made_in_a_loop)(X), differences(made_in_a_loop, X), rtol=1e-6)


def test_objects_that_are_written_to() -> None:
    def a_counter(x):
        return quad(Counts(x[0]).height, 0, 1)[0]

    def a_list(x):
        return quad(Counts(x[0]).noted, 0, 1)[0]

    def a_list_of_a_helper(x):
        seen = [0.0]

        def integrand(t):
            note(seen, t)
            return t * x[0]

        return quad(integrand, 0, 1)[0]

    def a_cached_property(x):
        return quad(Scaled(x[0]).squares, 0, 1)[0]

    for f in (a_counter, a_list, a_list_of_a_helper, a_cached_property):
        with pytest.raises(NotImplementedError, match="writes to an object"):
            ad.grad(f)(X)


def by_parts(model, b):
    return model.area(b) + quad(lambda t: model.rows.line(t) * model.levels[0], 0, 1)[0] + quad(model, 0, 1)[0]


def test_objects_that_are_arguments() -> None:
    model = Model(0.8, (0.5, 0.7))
    model.rows = Slots(1.2)
    found, by_end = ad.grad(by_parts, argnums=(0, 1))(model, 0.7)

    def change(place, key):
        out = []
        for h in (1e-6, -1e-6):
            before = place[key] if isinstance(place, list) else getattr(place, key)
            if isinstance(place, list):
                place[key] = before + h
            else:
                setattr(place, key, before + h)
            out.append(by_parts(model, 0.7))
            if isinstance(place, list):
                place[key] = before
            else:
                setattr(place, key, before)
        return (out[0] - out[1]) / 2e-6

    get = lambda obj, name: obj[name] if isinstance(obj, dict) else getattr(obj, name)
    np.testing.assert_allclose(get(found, "rate"), change(model, "rate"), rtol=1e-6)
    np.testing.assert_allclose(get(found, "levels")[0], change(model.levels, 0), rtol=1e-6)
    np.testing.assert_allclose(get(found, "levels")[1], change(model.levels, 1), rtol=1e-6)
    np.testing.assert_allclose(get(get(found, "rows"), "a"), change(model.rows, "a"), rtol=1e-6)
    np.testing.assert_allclose(by_end, model.height(0.7), rtol=1e-6)


def test_an_object_with_another_attribute() -> None:
    """The code is for objects with these attributes."""

    class Table:
        power = 1.0

        def height(self, t):
            return t**self.power

    def f(table, b):
        return quad(table.height, 0, b)[0]

    g = ad.grad(f, argnums=1)
    table = Table()
    np.testing.assert_allclose(g(table, 0.5), 0.5)
    table.power = 2.0
    np.testing.assert_allclose(g(table, 0.5), 0.25)


def test_another_object_outside() -> None:
    global OUTSIDE

    def in_a_function(x):
        shape = OUTSIDE
        return quad(lambda t: shape.height(t), 0, x[0])[0]

    was = OUTSIDE
    try:
        for f in (a_method_of_an_object_outside, in_a_function):
            g = ad.grad(f)
            for width in (0.9, 2.0):
                OUTSIDE = Shape(width)
                np.testing.assert_allclose(g(X), differences(f, X), rtol=1e-6)
            OUTSIDE.width = 3.0
            np.testing.assert_allclose(g(X), differences(f, X), rtol=1e-6)
    finally:
        OUTSIDE = was


def test_attributes_that_cannot_be_handed_on() -> None:
    class Series:
        def __init__(self, k, n):
            self.k = k
            self.rows = []
            for i in range(n):
                self.rows.append(np.sin(i * k) * np.ones(i))

        def height(self, t):
            return self.k * t

    class Sums(Series):
        def total(self, t):
            return t * np.sum(self.rows[0])

    def last(series):
        return series.rows[-1]

    def unread(x, n):
        return quad(Series(x[0], n).height, 0, x[1])[0]

    def asked(x, n):
        return quad(Sums(x[0], n).total, 0, x[1])[0]

    def asked_elsewhere(x, n):
        series = Series(x[0], n)
        return quad(lambda t: last(series) * t, 0, x[1])[0]

    np.testing.assert_allclose(ad.grad(unread)(X, 3), [X[1] ** 2 / 2, X[0] * X[1]])
    with pytest.raises(ad.UnsupportedError, match=r"reads a list \('self_rows'\)"):
        ad.grad(asked)(X, 3)
    with pytest.raises(NotImplementedError, match="'rows'"):
        ad.grad(asked_elsewhere)(X, 3)
