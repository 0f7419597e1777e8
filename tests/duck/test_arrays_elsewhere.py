"""Arrays that know NumPy's protocols and nothing else: what is emitted for them calls public functions only."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler import errors
from tests.duck.lazy import Lazy, lazy
from tests.duck.programs import CASES
from tests.duck.strict import Strict, bring

NAMES = [f.__name__ for f, _ in CASES]


def gradient(f, x):
    return ad.grad(f)(x)


def value(f, x):
    return ad.value_and_grad(f)(x)[0]


def pulled(f, x):
    return ad.vjp(f, x)[1](1.5)[0]


def pushed(f, x):
    return ad.jvp(f, (x,), (x,))[1]


def linear(f, x):
    return ad.linearize(f, x)[1](x)


def second(f, x):
    g = ad.grad(f)

    def squared(x):
        return np.sum(g(x) ** 2)

    return ad.grad(squared)(x)


TRANSFORMS = [gradient, value, pulled, pushed, linear, second]


@pytest.mark.parametrize(("f", "make"), CASES, ids=NAMES)
def test_same_derivatives_as_of_numpys_arrays(f, make):
    x = make()
    for transform in TRANSFORMS:
        got = bring(transform(f, Strict(x)))
        np.testing.assert_allclose(got, transform(f, x), rtol=1e-10, atol=1e-12, err_msg=transform.__name__)


@pytest.mark.parametrize(("f", "make"), CASES, ids=NAMES)
def test_nothing_is_computed_before_it_is_asked_for(f, make):
    x = make()
    got = ad.grad(f)(lazy(x))
    assert type(got) is Lazy
    assert (got.shape, got.dtype) == (x.shape, x.dtype)
    np.testing.assert_allclose(got.compute(), ad.grad(f)(x), rtol=1e-10, atol=1e-12)


# --- arrays of NumPy's that lazy ones hold ----------------------------------------------------------------------------


def buffered(x, n):
    t = np.zeros(n)
    s = 0.0
    for k in range(3):
        t[k] = k + 1.0
        s = s + np.sum(x * t) ** 2
        t[0] += 10.0
    return s


def weighted(w, x):
    t = w * 2.0
    y = x * t
    t[1:] *= 3.0
    z = x * t
    t[0] = 7.0
    return np.sum(y * z)


def test_a_buffer_is_not_changed_under_a_lazy_array():
    x = np.arange(1.0, 4.0)
    got = ad.grad(buffered)(lazy(x), 3)
    np.testing.assert_allclose(got.compute(), ad.grad(buffered)(x, 3))
    got = ad.grad(weighted, argnums=(0, 1))(x, lazy(x + 1))
    for g, want in zip(got, ad.grad(weighted, argnums=(0, 1))(x, x + 1)):
        np.testing.assert_allclose(g.compute(), want)


# --- numbers, containers, integers ------------------------------------------------------------------------------------


def scaled(scale, x):
    return np.sum(scale * x) ** 2


def test_gradient_of_a_number_beside_it():
    x = np.arange(3.0)
    got = ad.grad(scaled, argnums=(0, 1))(2.0, Strict(x))
    want = ad.grad(scaled, argnums=(0, 1))(2.0, x)
    np.testing.assert_allclose([*map(bring, got)][1], want[1])
    assert bring(got[0]) == want[0]


def affine(p, x):
    return np.sum((p["w"] * x + p["b"][0]) ** 2)


def test_containers():
    w, x, b = np.arange(1.0, 4.0), np.arange(3.0), np.array(0.5)
    got = ad.grad(affine)({"w": Strict(w), "b": [Strict(b)]}, Strict(x))
    want = ad.grad(affine)({"w": w, "b": [b]}, x)
    np.testing.assert_allclose(bring(got["w"]), want["w"])
    np.testing.assert_allclose(bring(got["b"][0]), want["b"][0])


def counted(x, k):
    return np.sum(x * k)


def test_integers():
    x, k = np.arange(3.0), np.arange(3)
    with pytest.raises(errors.IntegerArgumentError, match="'k'"):
        ad.grad(counted, argnums=1)(Strict(x), Strict(k))
    got = ad.grad(counted, argnums=(0, 1), allow_int=True)(Strict(x), Strict(k))
    np.testing.assert_array_equal(bring(got[0]), k)
    np.testing.assert_array_equal(bring(got[1]), np.zeros(3))


def narrow(x):
    return np.sum(np.exp(x) * x[::-1])


def test_float32():
    x = np.linspace(0, 1, 5, dtype=np.float32)
    got = bring(ad.grad(narrow)(Strict(x)))
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, ad.grad(narrow)(x), rtol=1e-6)


def spread_out(x, y):
    return np.sum(x * y)


def test_broadcast_operands():
    x, y = np.arange(1.0, 4.0).reshape(3, 1), np.arange(8.0).reshape(2, 1, 4)
    got = ad.grad(spread_out, argnums=(0, 1))(Strict(x), Strict(y))
    for g, want in zip(got, ad.grad(spread_out, argnums=(0, 1))(x, y)):
        np.testing.assert_allclose(bring(g), want)


def zero_at(x):
    return np.sum(np.where(x > 0, np.sqrt(np.abs(x)), 0.0)) + np.sum(np.where(x > 1, np.log(x), x))


def test_zeros_beside_infinity():
    x = np.array([0.0, 0.25, -1.0, 4.0])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(bring(ad.grad(zero_at)(Strict(x))), ad.grad(zero_at)(x))


# --- the signature ----------------------------------------------------------------------------------------------------


class Other(Strict):
    """Another class with the protocols."""


def squares(x):
    return np.sum(x * x)


def test_code_is_for_one_class():
    g, x = ad.grad(squares), np.arange(3.0)
    assert type(g(x)) is np.ndarray
    assert type(g(Strict(x))) is Strict
    assert type(g(x)) is np.ndarray
    g(Other(x))
    (entries,) = g._dispatch.entries.values()
    assert len(entries) == 3


def what_it_is(x):
    if isinstance(x, np.ndarray):
        return np.sum(x)
    return np.sum(x * x) if type(x) is Strict else np.sum(x**3)


def test_questions_about_the_class():
    x = np.arange(3.0)
    np.testing.assert_array_equal(ad.grad(what_it_is)(x), np.ones(3))
    np.testing.assert_array_equal(bring(ad.grad(what_it_is)(Strict(x))), 2 * x)


HELD = Strict([1.0, 2.0])


def with_a_global(w):
    return np.sum(w * HELD)


def test_one_that_is_no_argument():
    np.testing.assert_array_equal(bring(ad.grad(with_a_global)(Strict([3.0, 4.0]))), [1.0, 2.0])


def test_other_lengths_use_the_same_code():
    g = ad.grad(squares)
    g(Strict(np.arange(3.0)))
    np.testing.assert_array_equal(bring(g(Strict(np.arange(5.0)))), 2 * np.arange(5.0))
    assert [len(found) for found in g._dispatch.entries.values()] == [1]


def product(x, y):
    return np.sum(x * y)


def test_lengths_that_do_not_fit():
    g = ad.grad(product)
    g(Strict(np.ones(3)), Strict(np.ones(3)))
    with pytest.raises(ValueError, match="could not be broadcast"):
        g(Strict(np.ones(3)), Strict(np.ones(4)))


def test_a_gradient_is_pickled():
    g = pickle.loads(pickle.dumps(ad.grad(squares)))
    np.testing.assert_array_equal(bring(g(Strict([1.0, 2.0]))), [2.0, 4.0])


def test_the_native_backend_leaves_them_to_numpys_functions():
    pytest.importorskip("numba")
    g = ad.grad(squares, backend="native")
    np.testing.assert_array_equal(bring(g(Strict([1.0, 2.0]))), [2.0, 4.0])


# --- what is refused --------------------------------------------------------------------------------------------------


def test_jacobians_and_stacks_are_refused():
    x = Strict(np.arange(3.0))
    for transform in (ad.hessian, ad.jacobian):
        with pytest.raises(errors.UnsupportedError, match=r"directions are arrays of NumPy's"):
            transform(squares)(x)
    with pytest.raises(errors.UnsupportedError, match="of which there are no stacks"):
        ad.vmap(squares)(x)


def test_unknown_lengths_are_refused():
    x = lazy(np.arange(3.0))
    x.shape = (float("nan"),)
    with pytest.raises(errors.ArgumentError, match=r"'x' is a tests.duck.lazy.Lazy of shape \(nan,\)"):
        ad.grad(squares)(x)


def test_a_cotangent_of_another_kind_is_refused():
    _, pullback = ad.vjp(np.sin, np.arange(3.0))
    with pytest.raises(errors.ArgumentError, match=r"the cotangent is a tests.duck.strict.Strict, the result none"):
        pullback(Strict(np.ones(3)))


TABLE = np.arange(5.0)


def looked_up(x, k):
    return np.sum(TABLE[k] * x)


def taken(x, k):
    return np.sum(np.take(TABLE, k) * x)


@pytest.mark.parametrize(("f", "message"), [
    (looked_up, "an array of NumPy's is read at subscripts that are"),
    (taken, "calls np.take, which NumPy does not hand"),
])  # fmt: skip
def test_what_would_convert_an_index_is_refused(f, message):
    x, k = np.arange(3.0), np.array([0, 3, 3])
    np.testing.assert_array_equal(ad.grad(f)(x, k), [0, 3, 3])
    with pytest.raises(errors.UnsupportedError, match=message):
        ad.grad(f)(lazy(x), lazy(k))


class HalfAnArray:
    """It is an array, and has one of the protocols."""

    shape, dtype, ndim = (3,), np.dtype(float), 1

    def __array_ufunc__(self, *args, **kwargs):
        return NotImplemented

    def __array_namespace__(self, api_version=None):
        return np


def test_one_protocol_is_not_enough():
    with pytest.raises(errors.UnsupportedError, match=r"has not both of NumPy's protocols"):
        ad.grad(squares)(HalfAnArray())


def branch(x):
    if np.sum(x) > 0:
        return np.sum(x)
    return np.sum(x * x)


def test_a_decision_asks_for_the_number():
    with pytest.raises(TypeError, match="this array lives elsewhere"):
        ad.grad(branch)(Strict(np.ones(3)))
