"""`explain` says what is active, what is saved, what was split, what is unknown, and where a nan first appears."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_compiler as ad

X = np.array([1.0, 2.0, 0.0])


def loop(x, w, n):
    y = x
    for k in range(n):
        y = np.tanh(y * w) + k
    z = np.cos(x)
    unused = n * 2.0
    return np.sum(y * z) + unused


def part(text, title):
    return next((p for p in text.split("\n\n") if p.startswith(title)), "")


def line_of(fn, text):
    import inspect

    lines, first = inspect.getsourcelines(fn)
    return first + next(k for k, line in enumerate(lines) if text in line)


def test_what_is_active():
    text = part(ad.explain(loop, X, np.ones(3), 10), "active")
    assert f"line {line_of(loop, 'np.tanh')}: y = np.tanh(y * w) + k\n      y: float64[" in text
    assert "z = np.cos(x)" in text and "unused =" not in text


def test_a_gradient_says_by_what():
    text = ad.explain(ad.grad(loop, "w"), X, np.ones(3), 10)
    assert "differentiated by w: float64[" in text and "z = np.cos(x)" not in part(text, "active")


def test_what_is_saved_and_how_many_bytes():
    for n in (10, 25):
        text = part(ad.explain(loop, X, np.ones(3), n), "saved")
        assert f"in each iteration of the loop, line {line_of(loop, 'for k')}: {n} times, {n * 24} bytes" in text
        total = int(text.split()[1])
        assert total == sum(int(row.rsplit(" ", 2)[1]) for row in text.splitlines()[1:])


def test_nothing_is_saved_for_a_linear_function():
    assert part(ad.explain(lambda x: np.sum(x * 3.0), X), "saved") == "saved: 0 bytes"


def aliased(x, flag):
    a = x if flag > 0.0 else x * 2.0
    if flag > 1.0:
        b = a
    else:
        b = a * 1.0
    b[0] = 1.0
    return np.sum(a * b)


def test_what_was_split_and_why():
    g = ad.grad(aliased)
    reasons = g.attempts(X, 2.0).splitlines()
    text = part(ad.explain(g, X, 2.0), "lowered more than once")
    assert reasons and all(reason in text for reason in reasons)
    assert not part(ad.explain(loop, X, np.ones(3), 2), "lowered more than once")


@pytest.mark.parametrize(
    "fn, forward, backward",
    [
        (lambda x: np.sum(np.log(x)), "-inf first in np.log", "inf first"),
        (lambda x: np.sum(np.sqrt(x) * 2.0), "", "inf first"),
        (lambda x: np.sum(np.log(x - 1.5)), "nan first in np.log", ""),
        (lambda x: np.sum(x * x), "", ""),
    ],
)
def test_where_nan_and_inf_first_appear(fn, forward, backward):
    text = part(ad.explain(fn, X), "nan and inf")
    for sweep, said in (("forward", forward), ("backward", backward)):
        found = next((line for line in text.splitlines() if f"{sweep} sweep" in line), "")
        assert said in found and bool(said) == bool(found)
    assert ("none" in text) == (not forward and not backward)


def test_arguments_are_not_changed_and_errors_are_those_of_grad():
    x = X.copy()
    ad.explain(lambda x: np.sum(np.add(x, 1.0, out=x)), x)
    np.testing.assert_array_equal(x, X)
    with pytest.raises(ad.RuleLookupError):
        ad.explain(lambda x: np.sum(np.kaiser(4, x[0])), X)


def test_it_shows_as_it_is():
    text = ad.explain(lambda x: (x * x, x + 1.0), 2.0)
    assert repr(text) == str(text) and text.startswith("<lambda>")
