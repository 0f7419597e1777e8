"""`ad.batch`: against a loop over the examples."""

from __future__ import annotations

import copy
import pickle
import types
import warnings
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.api import persist
from autodiff_compiler.errors import ArgumentError
from autodiff_compiler.tree import flatten, unflatten

R = np.random.default_rng(3)
X, Y, W = R.normal(size=(5, 3)), R.normal(size=5), R.normal(size=3)


def stacked(results: list[Any], axis: int = 0) -> Any:
    """Results of examples as one, in their structure."""
    found = [flatten(r) for r in results]
    return unflatten(found[0][1], [np.stack(leaves, axis) for leaves in zip(*[leaves for leaves, _ in found])])


def same(got: Any, want: Any, rtol: float = 1e-12) -> None:
    (a, got_tree), (b, want_tree) = flatten(got), flatten(want)
    assert got_tree == want_tree
    for x, y in zip(a, b):
        assert isinstance(x, np.ndarray) and x.dtype == y.dtype and x.flags.writeable
        np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol)


def loss(w, x, y):
    return (np.tanh(x @ w) - y) ** 2


def mlp(p, x, y):
    (w1, b1), out = p["hidden"], p["out"]
    return np.sum((np.tanh(x @ w1 + b1) @ out - y) ** 2)


P = {"hidden": (R.normal(size=(3, 4)), R.normal(size=4)), "out": R.normal(size=4)}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_per_example_gradients(dtype: Any) -> None:
    leaves, tree = flatten((P, X, Y))
    p, x, y = unflatten(tree, [a.astype(dtype) for a in leaves])
    found = ad.batch(ad.grad(mlp), in_axes=(None, 0, 0))(p, x, y)
    same(found, stacked([ad.grad(mlp)(p, a, b) for a, b in zip(x, y)]), 1e-12 if dtype is np.float64 else 1e-5)


def test_any_order_of_transformations() -> None:
    one = [ad.value_and_grad(loss)(W, x, y) for x, y in zip(X, Y)]
    same(ad.batch(ad.value_and_grad(loss), in_axes=(None, 0, 0))(W, X, Y), stacked(one))
    many = ad.batch(loss, in_axes=(None, 0, 0))
    _, pull = ad.vjp(many, W, X, Y)
    np.testing.assert_allclose(pull(np.ones(5))[0], sum(g for _, g in one), rtol=1e-12)
    _, tangent = ad.jvp(many, (W, X, Y), (np.ones(3), np.zeros((5, 3)), np.zeros(5)))
    np.testing.assert_allclose(tangent, [np.sum(g) for _, g in one], rtol=1e-12)
    # A table of products, and second derivatives for each example.
    table = ad.batch(ad.batch(lambda a, b: a * b + 1.0, in_axes=(None, 0)), in_axes=(0, None))
    same(table(Y, W), np.multiply.outer(Y, W) + 1.0)

    def slope(w, x, y):
        return np.sum(ad.grad(loss)(w, x, y) * W)

    second = ad.batch(ad.grad(slope), in_axes=(None, 0, 0))(W, X, Y)
    same(second, stacked([ad.grad(slope)(W, x, y) for x, y in zip(X, Y)]))


def test_axes_and_structures() -> None:
    def f(pair, scale, *, shift):
        return {"sum": pair[0] + pair[1], "product": pair[0] * scale + shift}, scale

    a, b = R.normal(size=(2, 5)), R.normal(size=(5, 2))
    many = ad.batch(f, in_axes=((1, 0), None), out_axes=({"sum": 1, "product": -1}, None))
    shift = R.normal(size=5)
    (got, scale) = many((a, b), 3.0, shift=shift)
    want = [f((a[:, k], b[k]), 3.0, shift=shift[k])[0] for k in range(5)]
    same(got, stacked(want, 1))
    assert scale == 3.0
    same(ad.batch(lambda v: 2.0, out_axes=0)(Y), np.full(5, 2.0))
    assert ad.batch(lambda v, s: (v, s), in_axes=(0, None), out_axes=(0, None))(Y, "text")[1] == "text"


def test_objects_and_what_is_not_an_array() -> None:
    def f(model, x, how):
        y = x * model.slope + model.offset
        return y if how is None else y * model.rate

    model = types.SimpleNamespace(slope=Y, offset=X, rate=0.5, name="line")
    many = ad.batch(f, in_axes=(0, 0, None))
    same(many(model, Y, None), Y[:, None] * Y[:, None] + X)
    g = ad.vjp(many, model, Y, "scaled")[1](np.ones((5, 3)))[0]
    np.testing.assert_allclose(g.slope, 1.5 * Y, rtol=1e-12)
    with pytest.raises(ArgumentError, match=r"model.slope has 5 along axis 0, x has 2 along axis 0|different numbers"):
        many(model, Y[:2], None)


def test_each_argument_has_a_length_of_its_own() -> None:
    many = ad.batch(lambda x, s: x * float(s))  # the number is the argument itself
    many(X, Y)
    with pytest.raises(ArgumentError, match="x has 5 along axis 0, s has 4 along axis 0"):
        many(X, Y[:4])


def test_subscripts_that_differ_between_examples() -> None:
    def f(x, i, y):
        y = y.copy()
        y[i] = 9.0
        y[:, i] += x[i]
        return x[i], x[:2][[i, 0]], y[i, ::-1], np.where(y > 8.0, y, 0.0)[:, [i, i]]

    x, i, y = np.array([1.0, 2.0]), np.array([1, 0, 1]), R.normal(size=(3, 2, 2))
    many = ad.batch(f, in_axes=(None, 0, 0))
    same(many(x, i, y), stacked([f(x, int(k), v) for k, v in zip(i, y)]))
    assert "for " not in many.source(x, i, y)


def test_as_a_decorator_and_a_method() -> None:
    @ad.batch
    def double(x):
        """Twice."""
        return 2.0 * x

    @ad.batch(in_axes=(None, 1))
    def product(a, b):
        return a * b

    class Model:
        @ad.batch(in_axes=(None, 0))
        def run(self, x):
            return x * self.factor

    model = Model()
    model.factor = 3.0
    same(double(Y), 2.0 * Y)
    same(product(2.0, X), 2.0 * X.T)
    same(model.run(Y), 3.0 * Y)
    assert double.__doc__ == "Twice." and repr(double) == "<batch of double>" and ad.vmap is ad.batch
    assert "double_batch" in double.source(Y) and "func double" in double.ir(Y)
    assert [name for name, _ in double.passes(Y)][:2] == ["lower", "batch"]


def test_one_example_and_none() -> None:
    many = ad.batch(loss, in_axes=(None, 0, 0))
    same(many(W, X[:1], Y[:1]), stacked([loss(W, X[0], Y[0])]))
    assert many(W, X[:0], Y[:0]).shape == (0,)
    assert ad.batch(lambda x: (x, np.outer(x, x)))(X[:0])[1].shape == (0, 3, 3)
    same(many(W, X, Y), stacked([loss(W, x, y) for x, y in zip(X, Y)]))


def test_results_are_arrays_of_their_own() -> None:
    x = X.copy()
    for out in (ad.batch(lambda v: v)(x), *ad.batch(lambda v: (v[::-1], v, v))(x), ad.batch(lambda v: 1.0 * W)(x)):
        out += 1.0
    np.testing.assert_array_equal(x, X)


def root(x):
    return np.sqrt(x) if x > 0 else x


def logarithm(x):
    if x > 0:
        y = np.log(x)
    elif x < -1:
        y = 2.0
    else:
        y = x * x
    return y + x


def sinc(x):
    return 0.0 * x if x == 0 else np.sin(x) / x


def inverse_cosine(x):
    return np.arccos(x) if abs(x) < 1 else np.exp(-x)


def half_power(x):
    return x**0.5 if x > 0 else -x


@pytest.mark.parametrize("f", [root, logarithm, sinc, inverse_cosine, half_power], ids=lambda f: f.__name__)
def test_branches_that_differ_between_examples(f: Any) -> None:
    """Both run. What the branch not taken gives is in no value and in no derivative."""
    x = np.array([2.0, 0.0, -0.5, -3.0, 1.0, 800.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = np.array([ad.grad(f)(v) for v in x])
        many = ad.batch(f)
        np.testing.assert_allclose(many(x), [f(v) for v in x], rtol=1e-12)
        np.testing.assert_allclose(ad.batch(ad.grad(f))(x), want, rtol=1e-12)
        np.testing.assert_allclose(ad.vjp(many, x)[1](np.ones(6))[0], want, rtol=1e-12)
        np.testing.assert_allclose(ad.jvp(many, (x,), (np.ones(6),))[1], want, rtol=1e-12)
        assert "np.where" in many.source(x) and "for " not in many.source(x)


def halvings(x):
    n = 0
    while np.sum(x) > 1.0:
        x = x / 2.0
        n += 1
    return x * n, np.arange(2.0)


def refused_sign(x):
    if x[0] < -5.0:
        raise ValueError("too small")
    return x[0] * x


def inverse_or_zero(x):
    try:
        return 1.0 / float(x[0] > 0.0) * x
    except ZeroDivisionError:
        return 0.0 * x


def chosen(x):
    return x[np.argsort(x)[-2:]], x[x > 0.0].sum()


def sunk(x):
    return deeper(x, x[0])


def deeper(x, depth):
    return x if depth < 0.3 else x * deeper(x, depth / 2.0)


@pytest.mark.parametrize("f", [halvings, refused_sign, inverse_or_zero, chosen, sunk], ids=lambda f: f.__name__)
def test_examples_one_after_the_other(f: Any) -> None:
    many = ad.batch(f)
    want = stacked([f(x) for x in X])
    same(many(X), want)

    def total(x):
        out = f(x)
        return np.sum(out[0] if isinstance(out, tuple) else out)

    same(ad.batch(ad.grad(total))(X), stacked([ad.grad(total)(x) for x in X]))
    _, pull = ad.vjp(ad.batch(total), X)
    same(pull(np.ones(5))[0], stacked([ad.grad(total)(x) for x in X]))


def test_why_examples_run_one_after_the_other() -> None:
    line = halvings.__code__.co_firstlineno + 2
    text = ad.explain(ad.batch(halvings), X)
    assert f"example by example\n  line {line}: an end of a loop that differs between examples" in text
    assert "example by example" not in ad.explain(ad.batch(root), Y)
    assert "once for each example" in ad.batch(halvings).attempts(X)
    with pytest.raises(ValueError, match="too small"):
        ad.batch(refused_sign)(np.array([[1.0], [-9.0]]))


def test_effects_come_in_the_order_of_a_loop(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x):
        print("before", float(x))
        print("after")
        return x + 1.0

    same(ad.batch(f)(np.array([1.0, 2.0])), np.array([2.0, 3.0]))
    assert capsys.readouterr().out == "before 1.0\nafter\nbefore 2.0\nafter\n"

    def noisy(x, rng):
        return x + rng.normal()

    got = ad.batch(noisy, in_axes=(0, None))(Y, np.random.default_rng(1))
    rng = np.random.default_rng(1)
    same(got, np.array([noisy(y, rng) for y in Y]))


COUNT = 0
LOG: list[Any] = []
TOTAL = np.zeros(2)


def counts(x):
    global COUNT
    COUNT += 1
    return x @ x * COUNT


def logs(x):
    LOG.append(x[0])
    return x * len(LOG)


def adds(x):
    TOTAL[0] += x[0]
    return x * TOTAL[0]


class Seen:
    def last(self, x):
        self.x = x
        return x @ x


@pytest.mark.parametrize("axis", [0, 1])
def test_a_function_that_changes_what_is_outside_runs_in_python(axis: int) -> None:
    global COUNT
    COUNT, TOTAL[:] = 0, 0.0
    LOG.clear()
    seen = Seen()
    x = X if axis == 0 else X.T.copy()
    np.testing.assert_allclose(ad.batch(counts, in_axes=axis)(x), [v @ v * (k + 1) for k, v in enumerate(X)])
    assert COUNT == len(X)
    found = ad.batch(logs, in_axes=axis, out_axes=axis)(x)
    np.testing.assert_allclose(np.moveaxis(found, axis, 0), [v * (k + 1) for k, v in enumerate(X)])
    assert LOG == list(X[:, 0])
    np.testing.assert_allclose(ad.batch(adds, in_axes=axis)(x), [v * np.sum(X[: k + 1, 0]) for k, v in enumerate(X)])
    many = ad.batch(seen.last, in_axes=axis)
    for _ in range(2):
        np.testing.assert_allclose(many(x), np.sum(X * X, axis=1))
        np.testing.assert_array_equal(seen.x, X[-1])
    assert "in Python: batch of a function that changes what is outside" in many.attempts(x)
    with pytest.raises(ArgumentError, match="out_axes is None for result number 0, which differs"):
        ad.batch(counts, in_axes=axis, out_axes=None)(x)
    # Each gradient changes it once, too.
    COUNT = 0
    np.testing.assert_allclose(ad.batch(ad.grad(counts), in_axes=axis)(x), [2.0 * v * (k + 1) for k, v in enumerate(X)])
    assert COUNT == len(X)


@pytest.mark.parametrize("f", [counts, logs, adds, Seen().last])
def test_the_derivative_of_such_a_batch_is_refused(f: Any) -> None:
    # An example would read what was there before all of them.
    many = ad.batch(f)
    for total in (lambda x: np.sum(ad.batch(f)(x)), lambda x: np.sum(many(x))):
        with pytest.raises(ad.UnsupportedError, match="changes what is outside"):
            ad.grad(total)(X)
    with pytest.raises(ad.UnsupportedError, match="changes what is outside"):
        ad.vjp(ad.batch(f), X)


def test_stores_into_arguments_are_not_seen_outside() -> None:
    def f(x):
        x[0] = 7.0
        return x * 2.0

    x = X.copy()
    same(ad.batch(f)(x), stacked([f(v.copy()) for v in X]))
    np.testing.assert_array_equal(x, X)


SQUARE = ad.batch(loss, in_axes=(None, 0, 0))


def test_pickle_and_copies() -> None:
    for other in (pickle.loads(pickle.dumps(SQUARE)), copy.deepcopy(SQUARE)):
        same(other(W, X, Y), SQUARE(W, X, Y))
    assert pickle.loads(pickle.dumps(SQUARE)).in_axes == (None, 0, 0)


def test_the_disk_cache(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTODIFF_COMPILER_CACHE", str(tmp_path))
    monkeypatch.setattr(persist, "RULES_OF_USERS", [])  # whatever other tests have registered
    want = ad.batch(mlp, in_axes=(None, 0, 0))(P, X, Y)
    assert list(tmp_path.rglob("*"))
    warm = ad.batch(mlp, in_axes=(None, 0, 0))
    monkeypatch.setattr(warm._dispatch, "lower", None)  # it is not lowered again
    same(warm(P, X, Y), want)
    with pytest.raises(ArgumentError, match="different numbers of examples"):
        warm(P, X, Y[:3])
    other = ad.batch(mlp, in_axes=(None, 0, None))
    same(other(P, X, Y[0]), stacked([mlp(P, x, Y[0]) for x in X]))


def double(x, y=None):
    return x * 2.0 if y is None else x * y


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ad.batch(double)(2.0), "'x' is a float, which has no axis to map over"),
        (lambda: ad.batch(double)([1.0, 2.0]), r"pass np.asarray\(x\), or None in in_axes"),
        (lambda: ad.batch(double)("text"), "'x' is a str"),
        (lambda: ad.batch(double)(np.array(2.0)), "mapped over axis 0, and has 0 axes"),
        (lambda: ad.batch(double, in_axes=2)(X), "at least -2 and less than 2"),
        (lambda: ad.batch(double)(X, Y[:4]), "x has 5 along axis 0, y has 4 along axis 0"),
        (lambda: ad.batch(double)(X, y=Y[:4]), "x has 5 along axis 0, y has 4 along axis 0"),
        (lambda: ad.batch(double, in_axes=None)(X), "no argument is a stack"),
        (lambda: ad.batch(double, in_axes=(0, None))(X), "in_axes has 2 entries, and the call 1 positional"),
        (lambda: ad.batch(double, in_axes=((0, 0),))(X), r"in_axes\[0\] is \(0, 0\), and the argument is a ndarray"),
        (lambda: ad.batch(double, out_axes=None)(X), "out_axes is None for result number 0, which differs"),
        (lambda: ad.batch(double, out_axes=2)(X), "at least -2 and less than 2"),
        (lambda: ad.batch(double, out_axes=(0, 0))(X), r"out_axes has \(0, 0\) where the result has another"),
        (lambda: ad.batch(lambda x: [v for v in x if v > 0.0])(X), "no result that can be stacked"),
    ],
)
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(ad.AutodiffError, match=message):
        call()


@pytest.mark.parametrize(
    "make",
    [
        lambda: ad.batch(3),
        lambda: ad.batch(double, in_axes="x"),
        lambda: ad.batch(double, in_axes={"x": 0}),
        lambda: ad.batch(double, out_axes=0.5),
    ],
)
def test_wrong_options(make: Any) -> None:
    with pytest.raises(TypeError):
        make()


def test_lengths_that_do_not_fit() -> None:
    many = ad.batch(loss, in_axes=(None, 0, 0))
    many(W, X, Y)
    with pytest.raises(ArgumentError, match="x has 5 along axis 0, y has 3 along axis 0"):
        many(W, X, Y[:3])
    with pytest.raises(ValueError, match="core dimension"):  # the function's own error
        many(W[:2], X, Y)
    with pytest.raises(ArgumentError, match="different numbers"):
        ad.grad(lambda w, x, y: 0.0)  # the gradient of a batch names them, too
        ad.vjp(many, W, X, Y[:3])
