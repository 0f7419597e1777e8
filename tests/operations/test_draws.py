"""The types of draws, clocks and functions that make arrays, compared with what the functions give."""

from __future__ import annotations

import math
import random
import time
from typing import Any

import numpy as np
import pytest
from numpy.random import multivariate_normal, normal, rand, seed

import autodiff_compiler as ad
from autodiff_compiler.ir.core import Builder, Region
from autodiff_compiler.ir.opset import PRIMS
from autodiff_compiler.ir.types import Dims, Ty
from autodiff_compiler.operations.draws import _FLOATS, _INTS, _OF, _key, drawn
from tests.differences import differences

GENERATOR, STATE, PYTHONS = np.random.default_rng(0), np.random.RandomState(0), random.Random(0)
V, M = np.array([0.25, 0.5, 0.25]), np.eye(3)
# Parameters of distributions for which the usual number will not do.
PARAMETERS = {
    "triangular": (0.0, 0.5, 1.0),
    "hypergeometric": (3, 4, 5),
    "binomial": (4, 0.5),
    "noncentral_f": (2, 2, 1),
}
POSITIVE = {"zipf": 2.0, "logseries": 0.5, "geometric": 0.5, "negative_binomial": 0.5}


def distributions() -> list[Any]:
    out = []
    for owner in (GENERATOR, STATE):
        for name, params in {**_FLOATS, **_INTS}.items():
            n = len(params.split())
            given = PARAMETERS.get(name, (POSITIVE.get(name, 0.5),) * n)
            method = getattr(owner, name, None)
            if method is None:
                continue
            first = (np.full(3, given[0]), *given[1:]) if n else ()
            out += [(method, given, {}), (method, given, {"size": (2, 3)}), (method, (*given, 4), {})]
            out += [(method, given, {"size": ()})] + ([(method, first, {})] if n else [])
    return out


CALLS = [
    *distributions(),
    (GENERATOR.standard_normal, (3, np.float32), {}),
    (GENERATOR.random, (), {"size": 3, "dtype": np.float32}),
    (GENERATOR.random, (3, np.float64, np.zeros(3)), {}),
    (GENERATOR.normal, (np.array(0.0),), {}),
    (GENERATOR.normal, (np.float64(0.0), [1.0, 2.0]), {}),
    (GENERATOR.normal, (0.0, 1.0, [3, 1]), {}),
    (GENERATOR.normal, (0.0, 1.0, np.int64(3)), {}),
    (GENERATOR.integers, (5,), {}),
    (GENERATOR.integers, (0, 5, 3), {}),
    (GENERATOR.integers, (0, 5, 3, np.uint8), {}),
    (GENERATOR.choice, (5, (2, 1)), {}),
    (GENERATOR.choice, (V, 3), {}),
    (GENERATOR.choice, (M, 2), {}),
    (GENERATOR.choice, (M, 2), {"axis": 1}),
    (GENERATOR.choice, (5,), {}),
    (GENERATOR.permutation, (5,), {}),
    (GENERATOR.permutation, (M,), {}),
    (GENERATOR.multivariate_normal, (V, M), {}),
    (GENERATOR.multivariate_normal, (V, M, 2), {}),
    (GENERATOR.dirichlet, (V,), {}),
    (GENERATOR.dirichlet, (V, (2, 1)), {}),
    (STATE.rand, (), {}),
    (STATE.rand, (2, 3), {}),
    (STATE.randn, (3,), {}),
    (STATE.randint, (5,), {}),
    (STATE.randint, (0, 5, 3), {}),
    (STATE.randint, (0, 5), {"size": 3, "dtype": np.int8}),
    (STATE.choice, (5, 3), {}),
    (STATE.choice, (5, ()), {}),
    (STATE.permutation, ([1, 2, 3],), {}),
    (np.random.normal, (), {"size": (3, 1)}),
    (PYTHONS.random, (), {}),
    (PYTHONS.gauss, (0.0, 1.0), {}),
    (PYTHONS.randint, (0, 3), {}),
    (PYTHONS.getrandbits, (3,), {}),
    (time.time, (), {}),
    (time.perf_counter_ns, (), {}),
]


def fits(t: Ty, x: Any) -> bool:
    kind = "array" if type(x) is np.ndarray else "generic" if isinstance(x, np.generic) else "py"
    array = np.asarray(x)
    if t.kind not in ("any", kind) or (t.dtype is not None and t.dtype != array.dtype):
        return False
    return t.dims is None or (
        len(t.dims) == array.ndim and all(n == d for d, n in zip(t.dims, array.shape) if isinstance(d, int))
    )


@pytest.mark.parametrize("k", range(len(CALLS)))
def test_a_draw_has_the_type_that_is_inferred(k: int) -> None:
    fn, args, kwargs = CALLS[k]
    prim = drawn(fn, "draw")
    assert prim is not None and prim.infer is not None and prim.effects and not prim.foreign
    t = prim.infer(Builder(Region(Dims())), args, kwargs)
    assert fits(t, fn(*args, **kwargs)), (fn, args, kwargs, t)


def test_the_type_of_a_draw_is_known_where_its_size_is() -> None:
    for owner in (GENERATOR, STATE):
        for name in (*_FLOATS, *_INTS):
            infer = _OF[_key(type(owner))][name]
            assert infer(Builder(Region(Dims())), size=(2, 3)).dims == (2, 3), name


@pytest.mark.parametrize("name", ["hanning", "hamming", "blackman", "bartlett", "kaiser", "tri"])
def test_what_makes_arrays_has_the_type_that_is_inferred(name: str) -> None:
    fn = getattr(np, name)
    prim = PRIMS[fn]
    for n in (0, 1, 3, -2, 3.0) if name != "tri" else (0, 1, 3):
        args = (n, 1.5) if name == "kaiser" else (n,)
        assert prim.infer is not None
        assert fits(prim.infer(Builder(Region(Dims())), args, {}), fn(*args)), args
    assert prim.infer(Builder(Region(Dims())), (3, 1.0) if name == "kaiser" else (3,), {}).dims == (
        (3, 3) if name == "tri" else (3,)
    )


def test_functions_of_whole_numbers_give_whole_numbers() -> None:
    def f(v: np.ndarray) -> Any:
        weight = (
            math.factorial(3) + math.comb(4, 2) + math.perm(4, 2) + math.isqrt(10) + math.gcd(4, 6) + math.lcm(4, 6)
        )
        return np.sum(np.asarray(weight) * v * v)

    assert np.array_equal(ad.grad(f)(np.ones(2)), [82.0, 82.0])


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_frequencies_are_those_of_numpy_and_have_a_derivative(n: int) -> None:
    def f(d: float) -> Any:
        return np.sum(np.fft.fftfreq(n, d) * np.arange(n)) + np.sum(np.fft.rfftfreq(n, d))

    value, gradient = ad.value_and_grad(f)(0.3)
    assert value == f(0.3)
    assert gradient == pytest.approx(-f(0.3) / 0.3)


def test_draws_meet_matrix_products_loops_and_unpacking() -> None:
    def f(v: np.ndarray, rng: Any) -> Any:
        a, b, c = np.random.default_rng(1).uniform(size=3)
        total = a * v[0] + b * v[1] * c + np.sum(rng.normal(size=(2, 3)) @ v)
        for x in np.hanning(5):
            total = total + x * v[2]
        return total * random.uniform(1.0, 2.0)

    v = np.array([0.3, -0.4, 1.2])
    random.seed(4)
    gradient = ad.grad(f)(v, np.random.default_rng(2))
    a, b, c = np.random.default_rng(1).uniform(size=3)
    random.seed(4)
    want = np.array([a, b * c, np.hanning(5).sum()]) + np.random.default_rng(2).normal(size=(2, 3)).sum(0)
    assert np.allclose(gradient, want * random.uniform(1.0, 2.0))


# Draws that move with their parameters `p`, which are positive and grow.
MOVED: dict[str, Any] = {
    "normal": lambda g, p, **size: g.normal(p[0], p[1], **size),
    "normal by its scale": lambda g, p, **size: g.normal(scale=p[0], **size),
    "uniform": lambda g, p, **size: g.uniform(p[0], high=p[1], **size),
    "uniform from zero": lambda g, p, **size: g.uniform(0.0, p[1], **size),
    "laplace": lambda g, p, **size: g.laplace(p[0], p[1], **size),
    "logistic": lambda g, p, **size: g.logistic(p[0], p[1], **size),
    "gumbel": lambda g, p, **size: g.gumbel(p[0], p[1], **size),
    "exponential": lambda g, p, **size: g.exponential(p[1], **size),
    "rayleigh": lambda g, p, **size: g.rayleigh(p[1], **size),
    "lognormal": lambda g, p, **size: g.lognormal(p[0], p[1], **size),
    "gamma": lambda g, p, **size: g.gamma(2.5, p[1], **size),
    "vectors": lambda g, p, **size: g.multivariate_normal(p, np.outer(p, p) + np.diag([1.0, 2.0, 4.0]), **size),
    "vectors of constant covariance": lambda g, p, **size: g.multivariate_normal(p, np.eye(3), **size),
}
MAKERS: list[Any] = [np.random.RandomState, np.random.default_rng]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("size", [{}, {"size": None}, {"size": 4}, {"size": (2, 3)}, {"size": ()}], ids=str)
@pytest.mark.parametrize("name", MOVED)
def test_a_draw_moves_with_its_parameters(name: str, size: dict[str, Any], make: Any) -> None:
    draw = MOVED[name]

    def f(p: np.ndarray) -> Any:
        rng = make(7)
        x = draw(rng, p, **size)
        return np.sum(x**2) * rng.uniform() + np.size(x)

    p = np.array([0.4, 0.9, 1.7])
    value, gradient = ad.value_and_grad(f)(p)
    assert value == f(p)
    assert np.allclose(gradient, differences(f, p), rtol=1e-5, atol=1e-6)
    d = np.array([0.3, -1.0, 0.5])
    assert ad.jvp(f, (p,), (d,))[1] == pytest.approx(np.sum(gradient * d))


@pytest.mark.parametrize("make", MAKERS)
def test_arrays_of_parameters_move_what_is_drawn(make: Any) -> None:
    rng = make(0)

    def f(p: np.ndarray, g: Any) -> Any:
        if make is np.random.RandomState:
            g.seed(3)
        x = g.normal(p, [0.5, 1.5, 2.5]) + g.uniform(p, p[:, None] + 2.0, size=(2, 3, 3))[0, 1]
        rejected = x > 1.0
        x[rejected] = g.normal(p[0], p[1], size=rejected.sum())
        return np.sum(g.exponential(p[:, None] * x**2) * g.gamma(np.full(3, 2.0), p))

    p = np.array([0.4, 0.9, 1.7])
    if make is np.random.RandomState:
        value, gradient = ad.value_and_grad(f)(p, rng)
        assert value == f(p, rng)
        assert np.allclose(gradient, differences(lambda p: f(p, rng), p), rtol=1e-5, atol=1e-6)
    else:
        gradient = ad.grad(f)(p, make(3))
        assert np.allclose(gradient, differences(lambda p: f(p, make(3)), p), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("method", ["svd", "eigh", "cholesky"])
def test_each_way_to_draw_vectors_moves_with_the_covariance(method: Any) -> None:
    def f(a: np.ndarray) -> Any:
        return np.sum(np.random.default_rng(1).multivariate_normal(a[0], a @ a.T, 5, method=method) ** 3)

    a = np.array([[1.0, 0.5, 0.0], [-0.5, 2.0, 1.0], [0.0, 0.3, 4.0]])
    value, gradient = ad.value_and_grad(f)(a)
    assert value == pytest.approx(f(a), rel=1e-14)
    assert np.allclose(gradient, differences(f, a), rtol=1e-5, atol=1e-5)


def test_draws_of_pythons_generators_move_with_their_parameters() -> None:
    rng = random.Random(0)

    def f(p: np.ndarray) -> Any:
        rng.seed(2)
        random.seed(1)
        x = random.uniform(p[0], p[1]) * random.gauss(p[1], p[2])
        return x + rng.normalvariate(p[0], p[2]) ** 2 * rng.uniform(0.0, p[1])

    p = np.array([0.4, 0.9, 1.7])
    value, gradient = ad.value_and_grad(f)(p)
    assert value == f(p)
    assert np.allclose(gradient, differences(f, p), rtol=1e-5, atol=1e-6)


def test_methods_that_were_imported_by_name_are_draws() -> None:
    def f(p: np.ndarray) -> Any:
        seed(3)
        return np.sum(multivariate_normal(mean=p, cov=np.outer(p, p) + np.diag(p), size=4) @ normal(p, 2.0)) * rand()

    p = np.array([0.4, 0.9, 1.7])
    value, gradient = ad.value_and_grad(f)(p)
    assert value == pytest.approx(f(p), rel=1e-14)
    assert np.allclose(gradient, differences(f, p), rtol=1e-5, atol=1e-5)


WRONG: list[Any] = [
    lambda g, x: g.normal(x, -x), lambda g, x: g.normal(0.0, x * -0.0), lambda g, x: g.uniform(x, x - 2.0),
    lambda g, x: g.uniform(np.array([x, np.inf]), 1.0), lambda g, x: g.exponential(-x),
    lambda g, x: g.normal(np.array([x, x]), 1.0, 1), lambda g, x: g.normal(np.array([x, x]), 1.0, (2, 3)),
    lambda g, x: g.normal(x + 1j, 1.0), lambda g, x: g.gamma(-1.0, x), lambda g, x: g.gamma(2.0, -x),
    lambda g, x: g.multivariate_normal(x, np.eye(2)), lambda g, x: g.multivariate_normal([x, x], np.eye(3)),
    lambda g, x: g.multivariate_normal([x, x], np.ones((2, 3))),
]  # fmt: skip


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("k", range(len(WRONG)))
def test_parameters_that_numpy_refuses_are_refused_as_it_does(k: int, make: Any) -> None:
    def f(x: float) -> Any:
        return np.sum(np.real(WRONG[k](make(0), x)))

    try:
        expected: Any = f(1.0)
    except Exception as error:
        with pytest.raises(type(error)):
            ad.grad(f)(1.0)
    else:
        assert ad.value_and_grad(f)(1.0)[0] == expected


REFUSED: list[Any] = [
    lambda x: np.random.default_rng(0).gamma(x, 1.0), lambda x: np.random.default_rng(0).beta(x, 1.0),
    lambda x: random.betavariate(x, 1.0), lambda x: np.sum(np.kaiser(5, x)),
]  # fmt: skip


@pytest.mark.parametrize("fn", REFUSED)
def test_a_shape_of_a_distribution_or_of_a_window_has_no_derivative_rule(fn: Any) -> None:
    with pytest.raises(ad.AutodiffError, match="no derivative rule"):
        ad.grad(fn)(1.0)


def shuffled_places(v: np.ndarray, rng: Any) -> Any:
    places = np.arange(6)
    total = 0.0
    for epoch in range(3):
        rng.shuffle(places)
        for first in range(0, 6, 2):
            total = total + np.sum(v[places[first : first + 2] % 3] ** 2) * (first + epoch)
    return total


def shuffled_values(v: np.ndarray, rng: Any) -> Any:
    x, table, items = v * 2.0, np.outer(v, v), [v[0], v[1], v[2] * 2.0]
    rng.shuffle(x[1:])
    rng.shuffle(table)
    rng.shuffle(items)
    return np.sum(x * V**2) + np.sum(table * np.arange(9.0).reshape(3, 3)) + items[0] * items[1] ** 2 + rng.uniform()


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng, None])
@pytest.mark.parametrize("program", [shuffled_places, shuffled_values])
def test_a_shuffle_stores_the_items_in_the_order_that_is_drawn(program: Any, make: Any) -> None:
    if make is None:

        def f(v: np.ndarray) -> Any:
            np.random.seed(4)
            return program(v, np.random)
    else:

        def f(v: np.ndarray) -> Any:
            return program(v, make(4))

    x = np.array([0.5, -1.0, 2.0])
    for _ in range(2):
        value, gradient = ad.value_and_grad(f)(x)
        assert value == pytest.approx(f(x))
        assert np.allclose(gradient, differences(f, x), rtol=1e-5, atol=1e-6)


def test_a_shuffle_by_a_generator_from_outside() -> None:
    rng, again = np.random.default_rng(5), np.random.default_rng(5)

    def f(v: np.ndarray) -> Any:
        x = v * 1.0
        rng.shuffle(x)
        return np.sum(x * np.arange(3.0))

    g = ad.grad(f)
    for _ in range(3):
        order, want = np.arange(3), np.zeros(3)
        again.shuffle(order)
        want[order] = np.arange(3.0)
        assert np.array_equal(g(V), want)
    assert rng.random() == again.random()
