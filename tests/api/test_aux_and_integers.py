"""`has_aux`: a function may return more than what is differentiated. `allow_int`: integers have the gradient zero."""

from __future__ import annotations

import dataclasses
import pickle
import warnings

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import IntegerArgumentError, NonScalarOutputError, RuleLookupError
from tests.differences import differences

X = np.array([0.3, 0.7])


@dataclasses.dataclass
class Report:
    residual: np.ndarray
    steps: int


def loss(x, n=2):
    y = np.sin(x)
    for _ in range(n):
        y = y * x
    return np.sum(y), {"y": y, "name": "text", "list": [y[0], (1, None, y * 2)], "object": Report(y - x, n)}


def without_rule(x):
    """What comes beside the result has no rule, also inside of a loop."""
    total, seen = 0.0, 0.0
    for k in range(3):
        total = total + np.sum(np.sin(x) * k)
        seen = seen + np.max(np.abs(np.kaiser(4, x[0] + k)))
    return total, seen


def value_of(fn):
    return lambda *args: fn(*args)[0]


def same(a, b):
    if isinstance(a, dict):
        return set(a) == set(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, Report):
        return type(b) is Report and same(vars(a), vars(b))
    if isinstance(a, (float, np.ndarray)):
        return type(a) is type(b) and np.allclose(a, b)
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("fn", [loss, without_rule])
def test_every_transform_hands_it_on(fn):
    value, aux = fn(X)
    want = differences(value_of(fn), X)
    g, got = ad.grad(fn, has_aux=True)(X)
    np.testing.assert_allclose(g, want, rtol=1e-6)
    assert same(got, aux)
    (v, got), g = ad.value_and_grad(fn, has_aux=True)(X)
    np.testing.assert_allclose(g, want, rtol=1e-6)
    assert v == pytest.approx(value) and same(got, aux)
    out, pullback, got = ad.vjp(fn, X, has_aux=True)
    np.testing.assert_allclose(pullback(2.0)[0], 2.0 * want, rtol=1e-6)
    assert out == pytest.approx(value) and same(got, aux)
    out, tangent, got = ad.jvp(fn, (X,), (np.array([1.0, -2.0]),), has_aux=True)
    assert out == pytest.approx(value) and tangent == pytest.approx(want @ [1.0, -2.0]) and same(got, aux)


def test_as_a_decorator_with_other_options():
    @ad.value_and_grad(argnums=("b", "a"), has_aux=True, strong_zeros=False)
    def f(a, b):
        return a * a * b, (a, "aux")

    assert f(2.0, 3.0) == ((12.0, (2.0, "aux")), (4.0, 12.0))


def test_what_has_no_rule_is_refused_without_it():
    with pytest.raises(RuleLookupError):
        ad.grad(lambda x: without_rule(x)[0] + without_rule(x)[1])(X)


def test_the_value_itself_beside_the_result():
    def f(x):
        out = np.sum(x * x)
        return out, {"loss": out, "x": x}

    g, aux = ad.grad(f, has_aux=True)(X)
    np.testing.assert_array_equal(g, 2 * X)
    assert aux["loss"] == np.sum(X * X) and np.array_equal(aux["x"], X)


def test_results_of_vjp_may_be_containers():
    out, pullback, aux = ad.vjp(lambda x: ((x * 2.0, [x * x]), x + 1.0), X, has_aux=True)
    np.testing.assert_allclose(pullback((np.ones(2), [np.ones(2)]))[0], 2.0 + 2.0 * X)
    np.testing.assert_array_equal(aux, X + 1.0)
    assert type(out) is tuple and type(out[1]) is list


def test_twice():
    g = ad.grad(lambda x: (x**3, x), has_aux=True)
    assert ad.grad(g, has_aux=True)(2.0) == (12.0, 2.0)


def test_none_as_aux():
    assert ad.grad(lambda x: (x * x, None), has_aux=True)(3.0) == (6.0, None)
    out, pullback, aux = ad.vjp(lambda x: (x * x, None), 3.0, has_aux=True)
    assert aux is None and out == 9.0 and pullback(1.0) == (6.0,)


@pytest.mark.parametrize("fn", [lambda x: x * x, lambda x: (x, x, x), lambda x: [x, x]])
def test_a_pair_is_needed(fn):
    for call in (
        lambda: ad.grad(fn, has_aux=True)(2.0),
        lambda: ad.vjp(fn, 2.0, has_aux=True),
        lambda: ad.jvp(fn, (2.0,), (1.0,), has_aux=True),
    ):
        with pytest.raises(NonScalarOutputError, match="returns a pair"):
            call()


def test_in_a_function_that_is_compiled():
    """Of what comes beside the result, the outer derivative is taken as of any other value."""

    def f(x):
        value, pull, aux = ad.vjp(lambda y: (y * y, {"cube": y**3, "n": 2}), x, has_aux=True)
        again, push, beside = ad.linearize(lambda y: (y * y, y), x, has_aux=True)
        return value * pull(aux["cube"])[0] * aux["n"] + again * push(beside)

    assert ad.grad(f)(2.0) == pytest.approx(24 * 2.0**5 + 8 * 2.0**3)
    assert f(2.0) == 4 * 2.0**6 + 2 * 2.0**4
    g = ad.grad(lambda y: (y * y, y**3), has_aux=True)
    assert ad.grad(lambda x: g(x)[0] * g(x)[1])(2.0) == 8 * 2.0**3


def test_pickle():
    g = pickle.loads(pickle.dumps(ad.grad(without_rule, has_aux=True, allow_int=True)))
    assert g.has_aux and g.allow_int and len(g(X)) == 2


def test_the_disk_cache_tells_them_apart(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTODIFF_COMPILER_CACHE", str(tmp_path))

    def pair(x):
        return x * x, 2

    for _ in range(2):
        assert ad.grad(pair, has_aux=True)(3.0) == (6.0, 2)
        assert ad.value_and_grad(pair, has_aux=True)(3.0) == ((9.0, 2), 6.0)
        out, pullback, aux = ad.vjp(pair, 3.0, has_aux=True)
        assert (out, pullback(1.0), aux) == (9.0, (6.0,), 2)
        out, pullback = ad.vjp(pair, 3.0)
        assert (out, pullback((1.0, None))) == ((9.0, 2), (6.0,))
        assert ad.jvp(pair, (3.0,), (1.0,), has_aux=True) == (9.0, 6.0, 2)
        with pytest.raises(NonScalarOutputError):
            ad.grad(pair)(3.0)


@pytest.mark.parametrize("has_aux", [False, True])
def test_writing_into_a_result_that_is_an_argument_does_not_reach_the_pullback(has_aux):
    def f(x):
        return (x**2).sum(), x

    x = X.copy()
    if has_aux:
        _, pullback, returned = ad.vjp(f, x, has_aux=True)
    else:
        (_, returned), pullback = ad.vjp(f, x)
    returned[...] = 99.0
    cotangent = 1.0 if has_aux else (1.0, np.zeros(2))
    np.testing.assert_array_equal(pullback(cotangent)[0], 2.0 * X)
    np.testing.assert_array_equal(x, X)


def test_writing_into_a_list_of_results_does_not_reach_the_pullback():
    def f(x):
        seen = []
        for _ in range(3):
            x = np.sin(x)
            seen.append(x)
        return np.sum(x), seen

    _, pullback, seen = ad.vjp(f, X, has_aux=True)
    want = pullback(1.0)[0]
    for item in seen:
        item[...] = 99.0
    np.testing.assert_array_equal(pullback(1.0)[0], want)
    np.testing.assert_allclose(want, differences(value_of(f), X), rtol=1e-6)


# --- integers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "x, remedy", [(np.arange(3), r"x.astype\(float\)"), (3, r"float\(x\)"), (np.int32(3), r"float\(x\)")]
)
def test_integers_where_floats_are_meant(x, remedy):
    with pytest.raises(IntegerArgumentError, match=f"{remedy}(.|\n)*allow_int=True"):
        ad.grad(lambda x: np.sum(x * 2.0))(x)


@pytest.mark.parametrize("x", [np.arange(6).reshape(2, 3), np.array([True, False]), 3, True, np.int8(3)])
def test_allow_int_gives_zeros_of_floats(x):
    g = ad.grad(lambda x: np.sum(x * 2.0), allow_int=True)(x)
    assert np.shape(g) == np.shape(x) and np.result_type(g) == np.float64 and not np.any(g)
    assert np.shape(x) == () or g.base is None


def test_allow_int_beside_floats():
    def f(p, n):
        return np.sum(p["w"] * 2.0) ** n * p["k"]

    p = {"w": np.ones(2), "k": 3, "index": np.arange(2)}
    (gp, gn), value = (ad.grad(f, (0, 1), allow_int=True)(p, 2), f(p, 2))
    np.testing.assert_allclose(gp["w"], differences(lambda w: f({**p, "w": w}, 2), p["w"]), rtol=1e-6)
    assert gp["k"] == 0.0 and gn == 0.0 and np.array_equal(gp["index"], [0.0, 0.0])
    again, g = ad.value_and_grad(f, (0, 1), allow_int=True)(p, 2)
    assert again == value and np.array_equal(g[0]["w"], gp["w"])
    # A step of gradient descent on all of them.
    assert (p["index"] - 0.1 * gp["index"]).dtype == np.float64


def test_allow_int_and_aux():
    g, aux = ad.grad(lambda x, k: (np.sum(x) * k, k), (1, 0), has_aux=True, allow_int=True)(X, 3)
    assert g[0] == 0.0 and np.array_equal(g[1], [3.0, 3.0]) and aux == 3


def test_no_warning_comes_with_it():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ad.grad(lambda x: np.sum(x * 2.0), allow_int=True)(np.arange(3))


@pytest.mark.parametrize("x", [np.array([1, 2], dtype=object), np.array([1, 2], dtype="m8[s]")])
def test_what_is_neither_is_refused(x):
    with pytest.raises(IntegerArgumentError, match=r"not a floating type(.|\n)*pass it as a float, or leave"):
        ad.grad(lambda x: 2.0, allow_int=True)(x)
