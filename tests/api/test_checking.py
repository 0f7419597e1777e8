"""The check at compile time that what was lowered computes what the function does."""

from __future__ import annotations

import collections
import types
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.api import checking, compiler, options
from autodiff_compiler.errors import WrongValueError

X = np.array([0.7, 1.3, 2.1])


@pytest.fixture
def mistaken(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Have the frontend lower another function than the one that it is given."""

    def mistake(other: Any) -> None:
        right = compiler.lower
        monkeypatch.setattr(compiler, "lower", lambda fn, args, kwargs: right(other, args, kwargs))

    return mistake


def square(x):
    return np.sum(x * x)


def cube(x):
    return np.sum(x**3)


def fails(x):
    if x[0] > 0:
        raise ValueError("no")
    return np.sum(x)


@pytest.mark.parametrize("fn, other", [(square, cube), (fails, square), (square, fails)])
def test_another_value_is_told(mistaken: Any, fn: Any, other: Any) -> None:
    mistaken(other)
    for transform in (ad.grad(fn), ad.value_and_grad(fn), lambda x: ad.vjp(fn, x)):
        with pytest.raises(WrongValueError, match="the function itself"):
            transform(X)


def chaos(x):
    for _ in range(60):
        x = x + np.sin(30 * np.dot(x, x))
    return np.sum(x)


def chaos_in_other_order(x):
    for _ in range(60):
        x = x + np.sin(30 * np.dot(x[::-1], x[::-1]))
    return np.sum(x)


def jump(x):
    return np.sum(x) if x[0] == 0.7 else np.sum(x * x)


def test_values_that_rounding_decides_are_no_proof(mistaken: Any) -> None:
    assert not checking.agrees(chaos(X / 3), chaos_in_other_order(X / 3))
    mistaken(chaos_in_other_order)
    ad.grad(chaos)(X / 3)


def test_a_jump_is_no_chaos(mistaken: Any) -> None:
    mistaken(square)
    with pytest.raises(WrongValueError):
        ad.grad(jump)(X)


def test_only_where_it_is_asked_for(mistaken: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(options.CHECKING, "0")
    mistaken(cube)
    np.testing.assert_allclose(ad.grad(square)(X), 3 * X**2)
    with pytest.raises(WrongValueError):
        ad.check_grads(lambda x: np.sum(np.sin(x)), (X,))


def test_a_function_whose_second_run_would_be_seen_is_left_alone() -> None:
    log: list[float] = []

    def f(x):
        log.append(1.0)
        return np.sum(x * x)

    ad.grad(f)(X)
    assert log == [1.0]
    rng = np.random.default_rng(0)
    ad.grad(lambda x: np.sum(x * rng.normal(size=3)))(X)
    assert rng.normal() == np.random.default_rng(0).normal(size=4)[3]


def test_arguments_are_copied_as_they_are() -> None:
    point = types.SimpleNamespace(x=X.copy(), mode="left")
    base = np.arange(24.0).reshape(4, 6)
    given = (
        [X],
        {"a": X},
        point,
        collections.deque([X], maxlen=2),
        base[::2, ::-3],
        np.broadcast_to(X, (2, 3)),
        base.T,
    )
    new = checking.copied(given, {})
    assert new[0][0] is new[1]["a"] is new[3][0] is not X and new[3].maxlen == 2
    assert new[2].x is not point.x and new[2].mode == "left" and type(new[2]) is type(point)
    for a, b in zip(given[4:], new[4:]):
        np.testing.assert_array_equal(a, b)
        assert a.strides == b.strides and a.flags.writeable == b.flags.writeable and not np.shares_memory(a, b)


@pytest.mark.parametrize(
    "a, b, same",
    [
        (1.0, 1.0 + 1e-12, True), (1.0, 1.0 + 1e-6, False), (1, 1.0, False), (True, 1, False), (X, X[:2], False),
        (X, X.astype(np.float32), False), (np.nan, np.nan, True), ([X], (X,), False), ({"a": 1}, {"b": 1}, False),
        ({"a": X}, {"a": X + 0.0}, True), ("a", np.str_("a"), False), (None, 0, False), (X * 0, X * 0 + 1e-30, True),
    ],
)  # fmt: skip
def test_what_agrees(a: Any, b: Any, same: bool) -> None:
    assert checking.agrees(a, b) is same
