"""Values that may be rounded in another way: only where it is asked for, and only what is rounded."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import ArgumentError

RNG = np.random.default_rng(3)


def distances(x: Any, left: Any, right: Any) -> Any:
    d = x[right] - x[left]
    length = np.sqrt(np.sum(d**2, axis=1))
    pull = np.zeros_like(x)
    np.add.at(pull, left, d / length[:, None])
    return np.sum(length) + np.sum(pull**2), np.sum(d**3)


def of_numbers(x: Any, k: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] ** 2 * k
    return total + k**2


def stored(x: Any) -> Any:
    x[1:] = x[:-1] ** 2
    y = x * x
    x[0] = np.sum(y * x)
    return np.sum(x * np.sum(x**2))


def in_branches(x: Any, n: int) -> Any:
    y = x
    for _ in range(n):
        if np.sum(y * y) > 1.0:
            y = y / np.sqrt(np.sum(y**2))
        else:
            y = y * 1.5
    return np.sum(y**3)


def ints(x: Any, k: Any) -> Any:
    return np.sum(x * np.sum(k**2)) + k[0] ** 2 + np.sum(k * k)


LEFT, RIGHT = np.array([0, 1, 2, 0] * 10), np.array([1, 2, 3, 3] * 10)
PROGRAMS: dict[Any, tuple[Any, ...]] = {
    distances: (RNG.normal(size=(4, 2)), LEFT, RIGHT),
    of_numbers: (RNG.normal(size=7), 1.5),
    stored: (RNG.normal(size=4),),
    in_branches: (RNG.normal(size=3), 4),
    ints: (RNG.normal(size=3), np.array([3, 2])),
}


def first(result: Any) -> Any:
    return result[0] if isinstance(result, tuple) else result


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_values_and_gradients_agree(fn: Any) -> None:
    args = PROGRAMS[fn]

    def loss(*args: Any) -> Any:
        return first(fn(*args))

    want, gradient = ad.value_and_grad(loss)(*[np.copy(a) if isinstance(a, np.ndarray) else a for a in args])
    got, loose = ad.value_and_grad(loss, reassociate=True)(*args)
    assert type(got) is type(want) and got == pytest.approx(want, rel=1e-13)
    np.testing.assert_allclose(loose, gradient, rtol=1e-12)
    value, pullback = ad.vjp(loss, *args, reassociate=True)
    assert value == pytest.approx(want, rel=1e-13)
    for _ in range(2):
        np.testing.assert_allclose(pullback(1.0)[0], gradient, rtol=1e-12)


def test_it_is_only_done_where_it_is_asked_for() -> None:
    args = PROGRAMS[distances]
    exact, loose = (ad.value_and_grad(lambda *a: first(distances(*a)), reassociate=r) for r in (False, True))
    assert exact(*args)[0] == distances(*args)[0]
    text = loose.source(*args)
    assert "row_dots(d, d)" in text and "row_sums(" not in text
    assert "row_sums(d**2)" in exact.source(*args)


def test_pythons_numbers_overflow_as_before() -> None:
    compiled = ad.grad(of_numbers, reassociate=True)
    with pytest.raises(OverflowError):
        compiled(np.ones(2), 1e200)
    with np.errstate(over="ignore"):
        value, _ = ad.value_and_grad(of_numbers, reassociate=True)(np.array([1e200]), 1.0)
    assert value == np.inf


def test_shapes_that_do_not_fit_raise_as_before() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sum(x * y)

    with pytest.raises(ValueError, match="broadcast"):
        ad.value_and_grad(f, reassociate=True)(np.ones(3), np.ones(2))
    assert ad.value_and_grad(f, reassociate=True)(np.ones(3), np.ones(1))[0] == 3.0


def test_it_is_an_option_of_each_derivative() -> None:
    def f(x: Any) -> Any:
        return np.sum(x**2 * np.sin(x), axis=0) * np.sum(x * x)

    x = RNG.normal(size=(4, 3))
    for make in (ad.jacrev, ad.jacfwd):
        np.testing.assert_allclose(make(f, reassociate=True)(x), make(f)(x), rtol=1e-12)
    for got, want in zip(*[ad.jvp(f, (x,), (np.ones_like(x),), reassociate=r) for r in (False, True)]):
        np.testing.assert_allclose(got, want, rtol=1e-12)
    again = pickle.loads(pickle.dumps(ad.grad(distances_of_one, reassociate=True)))
    assert "dot" in again.source(x[0]) and again.options.reassociate


def distances_of_one(x: Any) -> Any:
    return np.sqrt(np.sum(x**2))


def test_what_is_no_answer_is_refused() -> None:
    with pytest.raises(ArgumentError, match="reassociate is True or False, not 1"):
        ad.grad(distances_of_one, reassociate=1)

    def outer(x: Any) -> Any:
        return np.sum(ad.grad(distances_of_one, reassociate=True)(x))

    with pytest.raises(ad.UnsupportedError, match="reassociate="):
        ad.grad(outer)(np.ones(3))


def recurrent(W: Any, U: Any, inputs: Any, h: Any, n: Any) -> Any:
    for t in range(n):
        h = np.tanh(W @ h + inputs[t] @ U) + 0.1 * np.sum(U @ inputs[t])
    return np.sum(h**2)


def test_rows_are_multiplied_in_front_of_a_loop() -> None:
    W, U, inputs, h = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3)), RNG.normal(size=(5, 3)), np.zeros(3)

    def over_all(W: Any, U: Any, inputs: Any, h: Any) -> Any:
        return recurrent(W, U, inputs, h, len(inputs))

    compiled = ad.value_and_grad(over_all, (0, 1, 2), reassociate=True)
    text = compiled.source(W, U, inputs, h)
    front, loops = "\n".join(x for x in text.splitlines() if "#" not in x).split("for t in", 1)
    assert "inputs @ U\n" in front and "inputs @ U.T" in front and "inputs[t]" not in loops
    for rows in (5, 1, 0):
        (value, gradients), (want, wanted) = (
            c(W, U, inputs[:rows], h) for c in (compiled, ad.value_and_grad(over_all, (0, 1, 2)))
        )
        assert value == pytest.approx(want, rel=1e-13)
        for a, b in zip(gradients, wanted):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
    ad.check_grads(lambda W, U: ad.grad(over_all, 1, reassociate=False)(W, U, inputs, h), (W, U), order=1)


def test_rows_are_multiplied_where_the_loop_does_where_it_may_not_reach_all() -> None:
    W, U, inputs, h = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3)), RNG.normal(size=(5, 3)), np.zeros(3)
    compiled = ad.value_and_grad(recurrent, (0, 1, 2), reassociate=True)
    assert "inputs[t] @ U" in compiled.source(W, U, inputs, h, 2)
    assert compiled(W, U, inputs, h, 2)[0] == pytest.approx(recurrent(W, U, inputs, h, 2), rel=1e-13)
    with pytest.raises(IndexError):
        compiled(W, U, inputs, h, 6)

    def changes(U: Any, inputs: Any) -> Any:
        total = 0.0
        for t in range(len(inputs)):
            total = total + np.sum(U @ inputs[t])
            inputs[t] = inputs[t] * 2.0
            U[0] += inputs[t]
        return total

    args = RNG.normal(size=(3, 3)), RNG.normal(size=(5, 3))
    want = ad.value_and_grad(changes, (0, 1))(*map(np.copy, args))
    got = ad.value_and_grad(changes, (0, 1), reassociate=True)(*map(np.copy, args))
    assert got[0] == pytest.approx(want[0], rel=1e-13)
    for a, b in zip(got[1], want[1]):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_a_product_that_would_raise_stays_in_a_loop_without_iterations() -> None:
    def f(U: Any, inputs: Any, h: Any) -> Any:
        for t in range(len(inputs)):
            h = h + U @ inputs[t]
        return np.sum(h)

    compiled = ad.value_and_grad(f, reassociate=True)
    assert compiled(np.ones((2, 3)), np.ones((0, 4)), np.ones(2))[0] == 2.0
    assert compiled(np.ones((2, 3)), np.ones((4, 3)), np.ones(2))[0] == 26.0
    assert compiled(np.ones((2, 3)), np.ones((0, 4)), np.ones(2))[0] == 2.0
    with pytest.raises(ValueError, match="mismatch"):
        compiled(np.ones((2, 3)), np.ones((3, 4)), np.ones(2))
