"""Forward mode: tangents against gradients, differences and errors."""

from __future__ import annotations

import dataclasses
import math
import pickle
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.api import persist
from autodiff_compiler.api.forward import Pushforward
from autodiff_compiler.api.pullbacks import for_all_arguments
from benchmarks.kernels import all_kernels
from tests.whole.test_corpus import CASES, V, X, plain, stored

KERNELS = [kernel for kernel in all_kernels() if not kernel.refused]
A = np.array([0.7, -1.3, 2.1])


def source(f: Any, *args: Any) -> str:
    """What `ad.jvp` compiles."""
    return str(for_all_arguments(Pushforward, f, len(args)).source(*args))


def difference(f: Any, args: tuple[Any, ...], dots: tuple[Any, ...], h: float = 1e-6) -> Any:
    up, down = (f(*[x + s * d for x, d in zip(args, dots)]) for s in (h, -h))
    return (up - down) / (2 * h)


def check(f: Any, args: tuple[Any, ...], dots: tuple[Any, ...]) -> None:
    """The tangent of a function with a scalar result, against the gradient; the arguments stay as they are."""
    given = tuple([x.copy() if isinstance(x, np.ndarray) else x for x in args])
    value, along = ad.jvp(f, given, dots)
    for x, old in zip(given, args):
        assert np.array_equal(x, old)
    gradient = ad.grad(f, argnums=tuple(range(len(args))))(*given)
    assert np.isclose(value, f(*given), rtol=1e-12)
    want = sum(np.real(np.sum(g * d)) for g, d in zip(gradient, dots))
    np.testing.assert_allclose(along, want, rtol=1e-9, atol=1e-11)


# --- programs that were written for the gradient ----------------------------------------------------------------------


@pytest.mark.parametrize("place", [plain, stored], ids=lambda p: p.__name__)
@pytest.mark.parametrize("name", CASES)
def test_corpus(name: str, place: Any) -> None:
    with np.errstate(all="ignore"):
        check(place(CASES[name]), (X,), (V,))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_kernels(kernel: Any) -> None:
    from autodiff_compiler.tree import flatten, unflatten

    args = kernel.inputs(kernel.small)
    rng = np.random.default_rng(0)
    gradient = ad.grad(kernel.function, argnums=kernel.argnums())(*args)
    leaves, tree = flatten(gradient)
    parts = [np.asarray(rng.normal(size=np.shape(g)))[()] for g in leaves]
    direction = iter(unflatten(tree, parts))
    dots = [next(direction) if k in kernel.argnums() else unmoved(x) for k, x in enumerate(args)]
    _, along = ad.jvp(kernel.function, args, dots)
    terms = [np.sum(g * d) for g, d in zip(leaves, parts)]
    np.testing.assert_allclose(along, sum(terms), rtol=1e-9, atol=1e-9 * sum(map(abs, terms)))


def unmoved(x: Any) -> Any:
    """The tangent zero of an argument."""
    if isinstance(x, (tuple, list)):
        return type(x)(map(unmoved, x))
    if isinstance(x, dict):
        return {key: unmoved(item) for key, item in x.items()}
    return np.zeros_like(x) if np.result_type(x).kind in "fc" else None


# --- containers, objects, recursion, exceptions -----------------------------------------------------------------------


def test_stores_through_views() -> None:
    def f(x, y):
        rows = x.reshape(2, 3)
        first = rows[0]
        first[1:] = y[:2] * rows[1, 0]
        x[-1] *= y[0]
        return np.sum(rows**2) + x[1]

    check(f, (np.arange(6.0) + 0.5, A), (np.ones(6), A * 0.3))


def test_list_that_grows_and_shrinks() -> None:
    def f(x, s):
        kept = [x[0]]
        for k in range(3):
            kept.append(kept[-1] * x[k] + s)
            if kept[-1] > 1.0:
                kept.insert(1, np.sin(x[k]))
        last = kept.pop()
        kept[0] = last * 2
        del kept[1]
        return sum(kept) * last

    check(f, (A, 0.4), (A * 0.5, 0.8))


def test_dictionary_and_object() -> None:
    @dataclasses.dataclass
    class Point:
        x: Any
        y: Any

    def f(p, d):
        p.x = p.x * d["w"]
        d["b"] = p.y + p.x
        return np.sum(d["b"] * p.x)

    d = {"w": A + 1, "b": 0.5}
    value, along = ad.jvp(f, (Point(A, 2.0), d), (Point(A * 2, 1.0), {"w": np.ones(3), "b": 0.0}))
    gp, gd = ad.grad(f, argnums=(0, 1))(Point(A, 2.0), d)
    want = np.sum(gp.x * A * 2) + gp.y + np.sum(gd["w"])
    np.testing.assert_allclose(along, want, rtol=1e-12)
    assert np.isclose(value, f(Point(A, 2.0), {"w": A + 1, "b": 0.5}))


def test_structure_of_the_result() -> None:
    def f(x, n):
        return {"y": x * n, "pair": (x[0], n, "text"), "list": [x.sum()]}

    value, along = ad.jvp(f, (A, 2), (np.ones(3), None))
    assert value["pair"] == (A[0], 2, "text") and along["pair"] == (1.0, None, None)
    assert np.array_equal(along["y"], np.full(3, 2.0)) and along["list"] == [3.0]


def test_recursion() -> None:
    def fold(a, n):
        if n == 0:
            return a.sum()
        return fold(a * np.cos(a), n - 1) + a[n - 1]

    def f(x, n):
        return fold(x * 1.0, n)

    x, v = A.copy(), A * 0.5
    _, along = ad.jvp(f, (x, 3), (v, None))
    np.testing.assert_allclose(along, ad.grad(f)(x, 3) @ v, rtol=1e-12)


def test_exception_that_is_caught() -> None:
    def f(x, d):
        total = 0.0
        for k in range(4):
            try:
                total = total + x[0] * d[("a", "b", "c", "d")[k]]
            except KeyError:
                total = total * x[1]
        return total

    d = {"a": 2.0, "c": 3.0}
    _, along = ad.jvp(f, (A, d), (A, {"a": 0.0, "c": 0.0}))
    np.testing.assert_allclose(along, ad.grad(f)(A, d) @ A, rtol=1e-12)


def test_tangent_that_would_be_caught_is_refused() -> None:
    def f(x):
        try:
            y = x**0.5
        except ZeroDivisionError:
            y = 7.0
        return y + x

    with pytest.raises(ad.UnsupportedError, match=r"the tangent of .* may raise an exception"):
        ad.jvp(f, (0.0,), (1.0,))


def test_loop_that_is_left_early() -> None:
    def f(x, s):
        total = s
        while True:
            total = total * 1.5 + x[0]
            if total > 10:
                break
            for k in range(3):
                if x[k] < 0:
                    continue
                total += x[k] * total
                if total > 20:
                    return total * s
        return total

    check(f, (A, 0.4), (A * 0.5, 0.8))


# --- types ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble])
def test_dtypes(dtype: Any) -> None:
    def f(x):
        y = np.zeros_like(x)
        y[1:] = np.tanh(x[:-1]) * 2
        return np.where(x > 0, y / (1 + x * x), np.maximum(x, 0.5)), x.max(), np.mean(x)

    x = A.astype(dtype)
    values, dots = ad.jvp(f, (x,), (np.ones(3),))
    _, want = ad.jvp(f, (A,), (np.ones(3),))
    for v, d, w in zip(values, dots, want):
        assert np.result_type(d) == np.result_type(v) == dtype
        np.testing.assert_allclose(d, w, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize(
    "f",
    [
        lambda z: z * z / (1 + z),
        lambda z: np.abs(z) + np.angle(z),
        lambda z: np.conj(z) * np.exp(z),
        lambda z: np.real(z) + 2 * np.imag(z),
        lambda z: np.sign(z) * 1j,
        lambda z: np.fft.fft(z),
        lambda z: np.sum(np.abs(z) ** 2),
        lambda z: np.linalg.norm(z),
        lambda z: np.std(z),
        lambda z: np.vdot(z, z[::-1]),
    ],
)
def test_complex(f: Any) -> None:
    z = np.array([0.4 + 0.3j, -0.6 + 1.1j, 0.9 - 0.2j])
    v = np.array([0.2 - 0.5j, 0.1 + 0.4j, -0.3 + 0.2j])
    value, along = ad.jvp(f, (z,), (v,))
    assert np.result_type(along) == np.result_type(value) and np.shape(along) == np.shape(value)
    np.testing.assert_allclose(along, difference(f, (z,), (v,)), rtol=1e-7, atol=1e-8)


def test_results_are_fresh_and_of_the_kind_of_the_value() -> None:
    x, v = A.copy(), np.ones(3)
    value, along = ad.jvp(lambda x: x, (x,), (v,))
    along[0] = 5.0
    assert v[0] == 1.0 and not np.shares_memory(value, along)
    assert type(ad.jvp(lambda x: x * 2, (1.5,), (1,))[1]) is float
    zero_d = ad.jvp(lambda x: np.asarray(x.sum()), (x,), (v,))
    assert type(zero_d[0]) is type(zero_d[1]) is np.ndarray
    constant = ad.jvp(lambda x: np.ones(2), (x,), (v,))[1]
    assert np.array_equal(constant, np.zeros(2))


def test_zero_that_is_not_read_stays_zero() -> None:
    x = np.array([0.0, 4.0])
    with np.errstate(all="ignore"):
        for f in (lambda x: np.sqrt(x) * (x > 0), lambda x: np.where(x > 0, np.sqrt(x), 0.0)):
            assert np.array_equal(ad.jvp(f, (x,), (np.ones(2),))[1], [0.0, 0.25])
        assert ad.jvp(lambda x: np.sqrt(np.sum(x * x)), (np.zeros(2),), (np.ones(2),))[1] == 0.0


# --- together with reverse mode ---------------------------------------------------------------------------------------


def test_product_with_the_hessian() -> None:
    def f(x):
        s = 0.0
        for k in range(len(x)):
            if x[k] > 0:
                s = s + np.sin(x[k]) * x[k - 1] ** 2
            else:
                x[k] = np.exp(x[k]) * s
        return s * np.sum(x * x)

    g = ad.grad(f)
    _, along = ad.jvp(g, (A,), (np.array([1.0, 0.5, -0.2]),))
    np.testing.assert_allclose(along, difference(g, (A,), (np.array([1.0, 0.5, -0.2]),)), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("rows, others", [([0, 2], [2, 0]), ([0, 0, 2], [2, 1, 1])])
def test_product_with_the_hessian_of_a_store_at_indices(rows: list[int], others: list[int]) -> None:
    def f(x):
        a = np.outer(x, x)
        a[rows] = a[others]
        return np.sum(a[0] ** 3 * x) + np.sum(a[2])

    gradient, v = ad.grad(f), np.array([1.0, 0.5, -0.2])
    _, along = ad.jvp(gradient, (A,), (v,))
    np.testing.assert_allclose(along, difference(gradient, (A,), (v,), 1e-5), rtol=1e-7)


def test_the_code_is_one_sweep() -> None:
    def f(x, y):
        h = np.tanh(x @ y)
        return np.sum(h * h)

    text = source(f, np.ones((3, 2)), np.ones(2))
    assert "(x_dot @ y + x @ y_dot) * (1.0 - h_sq)" in text and "h_sq = h * h" in text
    assert "def f_jvp(x, y, x_dot, y_dot):" in text and "adjoint" not in text


def test_a_rule_of_a_users_own() -> None:
    @ad.primitive
    def twice(x):
        return 2 * x

    with pytest.raises(ad.RuleLookupError, match="no derivative rule for twice"):
        ad.jvp(twice, (A,), (A,))
    ad.vjp_rule(twice, "x")(lambda g, out, x: 2 * g)
    np.testing.assert_allclose(ad.jvp(lambda x: twice(x), (A,), (A,))[1], 2 * A)
    seen = []

    @ad.jvp_rule(twice, "x")
    def _(d, out, x):
        seen.append(1)
        return d + d

    np.testing.assert_allclose(ad.jvp(lambda x: twice(x) * 1.0, (A,), (A,))[1], 2 * A)
    assert seen


# --- errors -----------------------------------------------------------------------------------------------------------


def test_errors_of_arguments() -> None:
    f = lambda x, y: x * y
    with pytest.raises(TypeError, match="primals are a tuple"):
        ad.jvp(f, A, (A,))
    with pytest.raises(TypeError, match="2 primals, but 1 tangents"):
        ad.jvp(f, (A, A), (A,))
    with pytest.raises(TypeError, match=r"shape .2,., its argument .3,."):
        ad.jvp(f, (A, A), (A, np.ones(2)))
    with pytest.raises(ad.IntegerArgumentError, match="no floating number"):
        ad.jvp(f, (2, A), (1.0, A))
    with pytest.raises(TypeError, match="pass zeros"):
        ad.jvp(f, (A, A), (A, None))
    with pytest.raises(TypeError, match="is complex"):
        ad.jvp(f, (A, A), (A, 1j * A))
    with pytest.raises(TypeError, match="structure"):
        ad.jvp(lambda p: p["w"], ({"w": A},), (A,))
    with pytest.raises(TypeError, match="structure"):
        ad.jvp(lambda p: p[0], ((A, A),), ((A,),))


def test_an_operation_without_a_rule_is_named() -> None:
    with pytest.raises(ad.RuleLookupError, match=r"no derivative rule for np.kaiser"):
        ad.jvp(lambda x: np.kaiser(4, x[0]).sum(), (np.ones(3),), (np.ones(3),))


def test_what_the_function_raises() -> None:
    with pytest.raises(ValueError, match="math domain error"):
        ad.jvp(lambda x: math.log(x), (-1.0,), (1.0,))


def test_other_sizes_on_the_same_code() -> None:
    push = Pushforward(lambda x: np.sum(x[1:] * x[:-1]), (0,))
    for n in (5, 7, 2):
        x = np.arange(n) + 1.0
        assert push(x)((x,)) == (np.sum(x[1:] * x[:-1]), 2 * np.sum(x[1:] * x[:-1]))
    assert push.source().count("def ") == 1


def test_the_disk_cache(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTODIFF_COMPILER_CACHE", str(tmp_path))
    monkeypatch.setattr(persist, "RULES_OF_USERS", [])
    want = Pushforward(f_for_cache, (0,))(X)((V,))
    again = Pushforward(f_for_cache, (0,))

    def lower(*_: Any) -> Any:
        raise AssertionError("not stored")

    again._dispatch.lower = lower  # type: ignore[assignment]
    assert again(X)((V,)) == want


def f_for_cache(x: Any) -> Any:
    return np.sum(np.sin(x) * x)


def test_pickles() -> None:
    push = pickle.loads(pickle.dumps(Pushforward(f_for_cache, (0,))))
    assert push(X)((V,)) == ad.jvp(f_for_cache, (X,), (V,))
