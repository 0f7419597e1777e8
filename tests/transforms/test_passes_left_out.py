"""Passes that only make the code better can be left out, one by one: the gradient stays, and the code differs."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.api import persist
from autodiff_compiler.api.cache import VARIABLE
from autodiff_compiler.transforms import passes
from autodiff_compiler.tree import flatten

X, W = np.array([0.3, 0.9, 0.4]), np.array([[0.2, 0.5, 0.1], [0.4, 0.3, 0.2], [0.6, 0.1, 0.9]])


def product(x: Any) -> Any:
    return np.sum(x * x)


def masked(x: Any) -> Any:
    r = np.sqrt(x * x)
    return np.sum(np.where(r < 2.5, 0.5 * (r * r - 2.0 * r), 0.0))


def doubled(x: Any) -> Any:
    return np.sum(2 * x * x)


def shaped(x: Any) -> Any:
    h = x * 3.0
    return np.sum(h)


def branches(x: Any) -> Any:
    y = np.sum(x)
    large = y > 0.5
    if large:
        z = y * y
    else:
        z = np.sin(y)
    if large:
        z = z * 3.0
    return z


def network(w: Any, x: Any) -> Any:
    h = np.zeros(3)
    for t in range(len(x)):
        h = np.tanh(w @ h + x[t])
    return np.sum(h)


def solved(x: Any, w: Any) -> Any:
    y = x.copy()
    for i in range(3):
        y[i] -= w[i, 0] * y[0]
        y[i] /= 2.0
    return np.sum(y * y)


def both(x: Any, y: Any) -> Any:
    for _ in range(3):
        x, y = np.sin(x) * y, np.cos(y) + x
    return x + y


def summed(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += np.sin(x[i]) * x[i]
    return total


def filled(x: Any) -> Any:
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = x[i] * x[i] + 1.0
    return y @ y


def distances(x: Any) -> Any:
    return np.sum(np.sqrt(np.sum(x**2, axis=1)))


def scaled(x: Any, w: Any) -> Any:
    for _ in range(3):
        x = np.sin(x) * np.maximum(w, 0.4)
    return np.sum(x)


def likelihood(a: Any) -> Any:
    y = np.ones(len(a))
    return y @ np.linalg.solve(a, y) + np.linalg.slogdet(a)[1]


def differing(x: Any) -> Any:
    y = np.zeros(len(x) + 1)
    y[1:] = np.sin(x)
    return np.sum((y[1:] - y[:-1]) ** 2)


def scaled_steps(y: Any, x: Any, steps: int) -> Any:
    for _ in range(steps):
        x = x + np.sin(x) * y**2
    return np.sum(x)


def divided(x: Any, steps: int) -> Any:
    x = x.copy()
    for _ in range(steps):
        x /= 1.0 + x * x
    return np.sum(x)


def logistic(x: Any, r: Any) -> Any:
    return np.sum(np.sin(r * x * (1.0 - x)))


def pulled(x: Any, y: Any) -> Any:
    z = 0.1 * np.sin(x)
    return np.sum(0.5 * z * np.cos(y) + 0.5 * z**2 * y)


def differing_numbers(x: Any) -> Any:
    y = np.zeros(len(x))
    for i in range(1, len(x)):
        y[i] = 0.5 * y[i - 1] + x[i] * (x[i] - y[i - 1])
    return np.sum(y**2)


def orthogonal(a: Any) -> Any:
    q = np.zeros_like(a)
    for j in range(a.shape[1]):
        v = a[:, j] - q[:, :j] @ (a[:, j] @ q[:, :j])
        q[:, j] = v / np.sqrt(v @ v)
    return np.sum(q**3)


def stretched(rates: Any, x: Any) -> Any:
    return np.sum(np.exp(rates * x) * x)


def leaky(rates: Any, x: Any) -> Any:
    y = np.zeros_like(x)
    for t in range(1, len(x)):
        y[t] = rates * x[t] + np.tanh(y[t - 1])
    return np.sum(y * y)


def smoothed(rates: Any, x: Any) -> Any:
    y = np.zeros_like(x)
    for t in range(1, len(x)):
        y[t] = rates * x[t] + y[t - 1]
    return np.sum(y**2)


def left_early(x: Any) -> Any:
    while True:
        x = x * 1.5
        if x > 9.0:
            return np.sin(x)
        if x < 0.0:
            break
    return -x


def rate(y: Any) -> Any:
    grown = np.exp(-y * y)
    return np.tanh(grown + np.sin(y) * grown) * np.cos(y) - y * grown


def helped(x: Any) -> Any:
    return np.sum(rate(rate(rate(rate(x)))))


def appended(x: Any) -> Any:
    items = [x]
    for i in range(len(x)):
        items.append(x[i:])
    del items[0]
    return np.sum(items[0])


def unpacked(w: Any) -> Any:
    a, b, *_ = w
    return a * np.sin(b)


def shifted(x: Any) -> Any:
    y = x * x
    for i in range(len(x) - 2):
        y[i + 1 :] = np.sin(y[i + 1 :])
    return np.sum(y)


def relaxed(x: Any) -> Any:
    u = x.copy()
    for i in range(1, len(x)):
        for j in range(1, len(x)):
            u[i, j] += u[i - 1, j] * u[i, j - 1]
    return np.sum(u)


def decayed(x: Any, k: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        s = k * s + x[i] * s + x[i]
    return s


def rolled(x: Any) -> Any:
    return np.sum((np.roll(x, 1) - x) ** 2)


def projected(x: Any, y: Any) -> Any:
    rows = x[:2]
    return np.sum(np.sin(rows @ np.cos(rows.T @ y[:2])))


def attended(k: Any, q: Any) -> Any:
    return np.sum((q[:, :2] @ k[:, :2].T) ** 3)


def halves(x: Any) -> Any:
    return np.sum(np.sin(x[:2])) * np.sum(x[2:] ** 2)


def grown(x: Any, k: Any) -> Any:
    s = x[0]
    for _ in range(3):
        s = (1.0 - k) * s * s
    return s


def value(f: Any, **options: Any) -> Any:
    return ad.value_and_grad(f, argnums=(0, 1) if f is both else 0, **options)


def tangents(f: Any, **options: Any) -> Any:
    return ad.jacfwd(f, **options)


def squared_gates(x: Any) -> Any:
    return np.sum((1.0 / (1.0 + np.exp(-x))) ** 2)


# For each pass a derivative of which it changes the code.
def shifted_slope(x: Any, k: Any) -> Any:
    return x * x * k - 0.3 * x


CHANGED: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = {
    "exits": (value, left_early, (0.5,)),
    "masks": (value, masked, (X,)),
    "shapes": (value, shaped, (X,)),
    "reciprocals": (value, squared_gates, (X,)),
    "fuse branches": (value, branches, (X,)),
    "simplify": (value, summed, (X,)),
    "factors": (value, distances, (W,)),
    "turned signs": (ad.grad, shifted_slope, (0.5, 0.1)),
    "collect": (value, network, (W, W)),
    "stored": (tangents, solved, (X, W)),
    "common": (value, summed, (X,)),
    "literals": (value, doubled, (X,)),
    "sweeps": (value, summed, (X,)),
    "invariants": (value, scaled, (X, X)),
    "inverses": (value, likelihood, (W @ W.T + 3.0 * np.eye(len(W)),)),
    "dead stores": (value, filled, (X,)),
    "assembled": (value, differing, (X,)),
    "deferred": (value, orthogonal, (W,)),
    "distribute": (value, smoothed, (W[0], W)),
    "begun": (value, leaky, (W[0], W)),
    "outer factors": (value, scaled_steps, (X, X, 5)),
    "common factors": (value, logistic, (X, 0.7)),
    "scalings": (value, pulled, (X, X)),
    "contractions": (value, stretched, (W[0], W)),
    "transposes": (value, attended, (W, W)),
    "views": (value, projected, (W, W)),
    "templates": (value, appended, (X,)),
    "numbers": (value, filled, (X,)),
    "steady": (value, grown, (X, 0.5)),
    "carried items": (value, differing_numbers, (X,)),
    "shortcuts": (value, rolled, (X,)),
    "first stores": (value, halves, (X,)),
    "whole stores": (value, divided, (X, 5)),
    "appended": (value, decayed, (X, 0.5)),
    "rows": (value, relaxed, (W,)),
    "bundle": (value, both, (0.5, 0.7)),
    "unpack": (value, unpacked, (W[0],)),
    "items": (value, decayed, (X, 0.5)),
    "indices": (value, shifted, (X,)),
    "helpers": (value, helped, (X,)),
    "peepholes": (value, product, (X,)),
    "recompute": (value, filled, (X,)),
}


def assert_same(found: Any, want: Any) -> None:
    for a, b in zip(flatten(found)[0], flatten(want)[0], strict=True):
        assert type(a) is type(b)
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_each_optional_pass_is_here() -> None:
    assert list(CHANGED) == passes.optional_names()


@pytest.mark.parametrize("name", CHANGED)
def test_a_pass_is_left_out(name: str) -> None:
    make, f, args = CHANGED[name]
    usual, without = make(f), make(f, optimize=f"-{name}")
    assert usual.source(*args) != without.source(*args), "the pass changes nothing here"
    assert_same(without(*args), usual(*args))
    if name not in passes.WITHIN:
        assert name in dict(usual.passes(*args)) and name not in dict(without.passes(*args))


@pytest.mark.parametrize("name", CHANGED)
def test_all_are_left_out(name: str) -> None:
    make, f, args = CHANGED[name]
    plain = make(f, optimize=False)
    assert_same(plain(*args), make(f)(*args))
    assert not {row for row, _ in plain.passes(*args)} & set(CHANGED)


@pytest.mark.parametrize(
    "optimize, message",
    [
        ("-finish", r"the pass 'finish' cannot be left out \(it makes the results\)"),
        ("-in place", r"cannot be left out \(without its copies, stores change what is read later\)"),
        ("-number", r"no pass is called 'number'; those that may be left out: exits, .*numbers, .*recompute"),
        ("numbers", r"write '-numbers' to leave a pass out; those"),
    ],
)
def test_wrong_names_are_refused(optimize: str, message: str) -> None:
    for make in (ad.grad, ad.value_and_grad, ad.jacobian, ad.hvp):
        with pytest.raises(ValueError, match=message):
            make(product, optimize=optimize)
    with pytest.raises(ValueError, match=message):
        ad.vjp(product, X, optimize=optimize)
    with pytest.raises(ValueError, match=message):
        ad.jvp(product, (X,), (X,), optimize=optimize)


@pytest.mark.parametrize("optimize", [2, ["-numbers"], None])
def test_what_is_no_text_is_refused(optimize: Any) -> None:
    with pytest.raises(TypeError, match="optimize is True, False, or a text"):
        ad.grad(product, optimize=optimize)
    with pytest.raises(TypeError, match="optimize is True, False, or a text"):
        ad.vjp(product, X, optimize=optimize)


def test_vjp_and_jvp_take_it() -> None:
    for optimize in ("-numbers", False, True):
        out, pull = ad.vjp(summed, X, optimize=optimize)
        assert_same((out, pull(1.0)[0]), ad.value_and_grad(summed)(X))
        assert_same(ad.jvp(summed, (X,), (X,), optimize=optimize), ad.jvp(summed, (X,), (X,)))


def test_as_a_decorator() -> None:
    @ad.grad(optimize="-peepholes, -numbers")
    def f(x: Any) -> Any:
        return x * x

    assert f(3.0) == 6.0 and "sum_to(1.0" in f.source(3.0)


def test_a_derivative_of_a_derivative_leaves_out_what_that_leaves_out() -> None:
    inner = ad.grad(product, optimize="-peepholes")
    outer = ad.grad(lambda x: np.sum(inner(x)))
    with pytest.raises(ad.UnsupportedError, match=r"optimize=\.\.\. in a function that is compiled"):
        outer(X)
    with pytest.raises(ad.UnsupportedError, match=r"optimize=\.\.\. in a function that is compiled"):
        ad.grad(lambda x: ad.grad(lambda y: y * y, optimize="-peepholes")(x))(2.0)
    with pytest.raises(ad.UnsupportedError, match=r"optimize=\.\.\. in a function that is compiled"):
        ad.grad(lambda x: ad.jvp(lambda y: y * y, (x,), (1.0,), optimize=False)[1])(2.0)
    with pytest.raises(ad.UnsupportedError, match=r"optimize=\.\.\. in a function that is compiled"):
        ad.grad(lambda x: ad.vjp(lambda y: y * y, x, optimize=False)[1](1.0)[0])(2.0)
    second = ad.jacobian(inner)
    assert second.options.left_out == {"peepholes"}
    np.testing.assert_allclose(second(X), 2.0 * np.eye(3))
    third = ad.grad(ad.grad(ad.grad(lambda x: x**4, optimize="-numbers"), optimize="-simplify"))
    assert third.options.left_out == {"numbers", "simplify"}
    np.testing.assert_allclose(third(2.0), 48.0)


def test_pickled() -> None:
    again = pickle.loads(pickle.dumps(ad.grad(product, optimize="-peepholes")))
    assert again.options.left_out == {"peepholes"}
    assert_same(again(X), 2.0 * X)


def test_entries_on_disk_are_apart(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(persist, "RULES_OF_USERS", [])  # modules of tests register some: no cache
    monkeypatch.setattr(
        persist, "RULES_OF_USERS", []
    )  # modules of other tests register some, which turns the cache off
    keys = set()
    for optimize in (True, False, "-numbers", "-numbers, -sweeps"):
        keys.add(persist.entry_key(ad.grad(filled, optimize=optimize), filled, ("x",), (X,)))
    assert len(keys) == 4 and None not in keys
    sources = []
    for optimize in (True, "-numbers"):
        for _ in range(2):
            gradient = ad.grad(filled, optimize=optimize)
            assert_same(gradient(X), 4.0 * X * (X * X + 1.0))
            sources.append(gradient.source(X))
    assert sources[0] == sources[1] != sources[2] == sources[3]


def test_what_a_context_leaves_out_is_not_kept_on_disk(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(persist, "RULES_OF_USERS", [])  # modules of tests register some: no cache
    with passes.leaving_out(["numbers"]):
        assert persist.entry_key(ad.grad(filled), filled, ("x",), (X,)) is None
        without = ad.grad(filled).source(X)
    usual = ad.grad(filled).source(X)
    assert "numbers" in passes.optional_names() and usual != without
    seen: list[str] = []
    with passes.after_each_pass(lambda name, fn: seen.append(name)):
        assert ad.grad(filled).source(X) == usual
    assert "numbers" in seen  # it was compiled, and not read from disk
    inside = ad.grad(filled, optimize="-numbers")
    assert persist.entry_key(inside, filled, ("x",), (X,)) is not None
