"""What loops do not change is computed in front of them, where nobody can tell."""

import math
import warnings

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

X = np.random.default_rng(3).normal(size=6)
W = np.random.default_rng(4).normal(size=6)


def by_the_wind(x, w, n):
    for _ in range(n):
        x = x + np.sin(x) * np.maximum(w, 0.0) - 0.1 * w[0] * w[-1]
    return np.sum(x * x)


def nested(x, w, n):
    for i in range(n):
        for j in range(2):
            x = x * np.abs(w) + (i * 0.1 + j) * (w[1:-1] * 0.2).sum()
    return np.sum(x * x)


def stored_into(x, w, n):
    """The zeros, and the negation that is overwritten, are new in each iteration."""
    for i in range(n):
        y = np.zeros(len(x))
        z = -w
        y[1:] = x[1:] * z[:-1]
        z[0] = x[i]
        x = y * z + np.cos(x)
    return np.sum(x * x)


def changed_in_between(x, w, n):
    w = w.copy()
    for i in range(n):
        x = x * np.maximum(w, 0.1)
        w[i] = x[i]
    return np.sum(x * w)


def handed_on(x, w, n):
    last = x
    for _ in range(n):
        last = np.minimum(w, 0.5)
        x = x * last
    return np.sum(x * last)


def kept_in_a_list(x, w, n):
    parts = []
    for _ in range(n):
        parts.append(np.abs(w))
        x = x * parts[-1]
    return np.sum(x) + sum(np.sum(p) for p in parts)


def on_a_condition(x, w, n):
    for i in range(n):
        if x[i] > 0.0:
            x = x * np.sign(w)
    return np.sum(x * x)


def while_it_is_large(x, w, n):
    while np.sum(x * x) > 0.01 * n:
        x = 0.5 * x * (w > 0.0) + 0.1 * x * np.minimum(w, 1.0)
    return np.sum(x * x)


PROGRAMS = [
    by_the_wind, nested, stored_into, changed_in_between, handed_on, kept_in_a_list, on_a_condition, while_it_is_large,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("n", [3, 1, 0])
def test_derivatives(f, n):
    if f is while_it_is_large and n == 0:
        return
    for k in (0, 1):
        expected = differences(f, X, W, n, argnum=k)
        np.testing.assert_allclose(ad.grad(f, argnums=k)(X, W, n), expected, rtol=1e-5, atol=1e-7)
    value, _ = ad.value_and_grad(f)(X, W, n)
    assert value == f(X.copy(), W.copy(), n)
    plain = ad.grad(f, argnums=(0, 1), optimize="-invariants")(X, W, n)
    for a, b in zip(ad.grad(f, argnums=(0, 1))(X, W, n), plain):
        np.testing.assert_allclose(a, b, rtol=1e-13)


def _in_loops(text):
    return [line for line in text.splitlines() if line.startswith("        ") and "#" not in line]


def test_what_leaves_the_loop():
    inside = _in_loops(ad.grad(by_the_wind, argnums=(0, 1)).source(X, W, 3))
    assert not any("maximum(" in line or "sign" in line or "w[0] =" in line for line in inside)


def test_what_stays():
    inside = "\n".join(_in_loops(ad.grad(stored_into, argnums=(0, 1)).source(X, W, 3)))
    assert "np.zeros" in inside and "-w" in inside


def large_products(x, w, n):
    for _ in range(n):
        x = x + w * w
    return np.sum(x * x)


def test_no_iterations():
    """What might warn stays in a loop that may have no iterations, and what might raise does."""

    def f(x, w, n):
        for i in range(n):
            x = x + 1.0 / w + w[i]
        return np.sum(x * x)

    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        np.testing.assert_array_equal(ad.grad(f)(X, np.zeros(6), 0), 2.0 * X)
        large = np.full(6, 1e200)
        value, found = ad.value_and_grad(large_products)(X, large, 0)
        assert value == np.sum(X * X)
        np.testing.assert_array_equal(found, 2.0 * X)
    with pytest.raises(IndexError):
        ad.grad(f)(X, W, 7)


def test_first_elements():
    """Element 0 exists, since a length of zero or one has code of its own."""

    def f(x, w, n):
        for _ in range(n):
            x = x * np.abs(w[0]) * np.abs(w[1])
        return np.sum(x * x)

    g = ad.grad(f)
    assert not any("w[0]" in line for line in _in_loops(g.source(X, W, 2)))
    np.testing.assert_allclose(g(X, W[:2].copy(), 2), 2.0 * X * (W[0] * W[1]) ** 4)
    for length in (0, 1):
        with pytest.raises(IndexError):
            g(X, W[:length].copy(), 2)
        np.testing.assert_array_equal(g(X, W[:length].copy(), 0), 2.0 * X)


def _of_no_trip(x, w):
    s = 0.0
    for _ in range(len(x) // 2):
        s = s + np.sum(np.sin(w) * x[1:-1])
    return s + np.sum(x * x)


def _of_few_trips(x, w):
    s, m = 0.0, len(w)
    for _ in range(len(x) // 6):
        s = s + np.sum(np.sin(w) + x[:m])
    return s + np.sum(x * x)


def _of_nested_loops(x, w):
    s = 0.0
    for _ in range(2):
        for _ in range(len(x) - 6):
            s = s + np.sum(w * x[:-2] * np.cos(w)) * s
            w = np.sin(w) * np.sin(x[2:])
    return s + np.sum(x * x) + np.sum(w)


def _of_a_part_that_may_be_short(x, w):
    s, k = 0.0, len(w)
    for _ in range(len(x) // 6):
        s = s + np.sum(x[:k] * x * x[:k])
    return s + np.sum(x * x) + np.sum(w)


@pytest.mark.parametrize("f", [_of_no_trip, _of_few_trips, _of_nested_loops, _of_a_part_that_may_be_short])
@pytest.mark.parametrize("lengths", [(0, 2), (5, 7), (5, 3), (3, 2), (1, 3), (6, 4)])
def test_what_fits_together_only_in_an_iteration_stays_there(f, lengths):
    """Where a loop has iterations, its operations do not raise, so lengths are equal. Without any they may differ."""
    x, w = [np.linspace(0.4, 1.3, n) for n in lengths]
    try:
        f(x, w)
    except ValueError:
        pytest.skip("the function raises")
    for optimize in (True, False):
        g = ad.value_and_grad(f, argnums=(0, 1), optimize=optimize)
        value, found = g(x, w)
        assert value == f(x, w)
        for k in range(2):
            if lengths[k]:
                np.testing.assert_allclose(found[k], differences(f, x, w, argnum=k), rtol=1e-5, atol=1e-6)


def _smoothed(x, w):
    y = np.empty_like(x)
    y[0] = x[0]
    for t in range(1, len(x)):
        y[t] = w[0] * x[t] + (1.0 - w) @ w / np.sqrt(w[1]) * y[t - 1]
    return np.sum(y**2)


def _smoothed_for_some_steps(x, w, n):
    y = x
    for _ in range(n):
        y = y * (1.0 - w) / np.sqrt(w)
    return np.sum(y**2)


def test_what_the_first_iteration_computes_for_sure_leaves_the_loop():
    x, w = np.linspace(0.4, 1.3, 5), np.array([0.3, 0.7])
    text = "\n".join(x for x in ad.grad(_smoothed).source(x, w).split("\n") if not x.strip().startswith("#"))
    before, loops = text.split("    for x_t in")
    assert "np.sqrt" in before and "np.sqrt" not in loops and "1.0 - w" not in loops
    assert "saved" not in before  # the number is read where it is, and not from a list
    assert ad.value_and_grad(_smoothed)(x, w)[0] == _smoothed(x, w)


def test_a_loop_that_may_have_no_iterations_keeps_what_may_raise():
    """The root may be that of a negative number. A difference raises nothing, and goes in front of the loop."""
    x = np.linspace(0.4, 1.3, 5)
    code = ad.grad(_smoothed_for_some_steps).source(x, x, 2)
    assert "np.sqrt" in code.split("for _ in")[1] and "1.0 - w" not in code.split("for _ in")[1]
    np.testing.assert_array_equal(ad.grad(_smoothed_for_some_steps)(x, x, 0), 2.0 * x)


def test_what_stands_behind_an_error_stays_there():
    def f(x, w):
        y = x
        for k in range(len(x)):
            if x[k] < 0.0:
                raise ValueError("negative")
            y = y * np.sqrt(w)
        return np.sum(y)

    with np.errstate(all="raise"):
        ad.grad(f)(X * X, W * W)
        with pytest.raises(ValueError, match="negative"):
            ad.grad(f)(-X * X, -W * W)


def hawkes(x, base, jump, decay):
    excitement = before = total = 0.0
    for t in x:
        excitement *= math.exp(-decay * (t - before))
        total -= math.log(base + jump * decay * excitement)
        total += jump * (1.0 - math.exp(-decay * t)) * len(x)
        excitement += 1.0
        before = t
    return total


def of_arrays(x, k):
    for _ in range(3):
        x = np.sin(x) * (1.0 - k)
    return np.sum(x)


def unbound(x, n, m):
    for i in range(n):
        scale = x * 2.0
        for _ in range(m):
            x = x - scale * 0.5 * x
    for _ in range(m):
        x = x * (scale + 1.0)
    return x


def test_numbers_leave_loops_over_numbers():
    x = np.array([0.2, 0.9, 1.4])
    args = 0.5, 0.6, 1.2
    value, gradient = ad.value_and_grad(hawkes, argnums=(0, 1, 2, 3))(x, *args)
    assert value == hawkes(x, *args)
    for k, found in enumerate(gradient):
        assert found == pytest.approx(differences(hawkes, x, *args, argnum=k), rel=1e-5, abs=1e-7)
    text = ad.grad(hawkes).source(x, *args)
    assert text.index("minus_decay = -decay") < text.index("for ") > text.index("jump_decay = jump * decay")
    assert "* (1.0 - k)" in ad.grad(of_arrays).source(x, 0.5)


def test_numbers_that_are_not_there_are_not_computed():
    gradient = ad.value_and_grad(unbound)
    for n, m in ((2, 2), (1, 0), (0, 0), (2, 1)):
        assert gradient(0.3, n, m) == pytest.approx((unbound(0.3, n, m), differences(lambda x: unbound(x, n, m), 0.3)))
    with pytest.raises(UnboundLocalError):
        gradient(0.3, 0, 2)


def test_a_choice_between_numbers_leaves_the_loop():
    """The derivative of an extreme of two numbers, which is a factor of what the loop adds up."""

    def f(x, w, n):
        total = 0.0
        for _ in range(n):
            total += np.sum(x) * np.maximum(w[0], 0.5)
            x = np.sin(x) * w
        return total

    source = ad.grad(f, argnums=1).source(np.ones(2), np.array([0.8, 1.2]), 3)
    assert "\n    w_bar[0] += summed * (1.0 if w_0 > 0.5 else 0.5 if w_0 == 0.5 else 0.0)\n" in source, source
    for first in (0.3, 0.8):
        ad.check_grads(f, (np.array([0.4, 0.9]), np.array([first, 1.2]), 3))
    assert ad.grad(lambda a: np.maximum(a, 0.5))(0.5) == 0.5


# --- what each iteration would save -----------------------------------------------------------------------------------


def _pulled(x, w):
    """An array that no iteration changes, and that the backward sweep reads."""
    for i in range(1, len(x)):
        pull = np.maximum(w, 0.1) * (1.0 - w)
        x = x + np.sin(x * pull[0]) * pull
    return np.sum(x * x)


def _pulled_in_rounds(x, w):
    total = 0.0
    for _ in range(1, len(x)):
        for _ in range(3):
            pull = np.maximum(w, 0.1) * -w
            x = np.sin(x) * pull * np.abs(x)
        total += np.sum(x * pull)
    return total


def _pulled_for_some(x, w):
    for i in range(1, len(x)):
        if x[i] > 0.7:
            pull = np.minimum(w, 0.9)
            x = x * pull * np.cos(x)
    return np.sum(x * x)


def _pulled_and_changed(x, w):
    """The array is stored into: each iteration has its own."""
    for i in range(1, len(x)):
        pull = np.minimum(w, 0.9)
        pull[i] = x[i - 1]
        x = x * pull * np.cos(x)
    return np.sum(x * x)


def _pulled_until(x, w):
    for i in range(1, len(x)):
        pull = np.minimum(w, 0.9)
        x = x * pull * np.cos(x)
        if np.sum(x) < 1.0:
            break
    return np.sum(x * x)


@pytest.mark.parametrize("f", [_pulled, _pulled_in_rounds, _pulled_for_some, _pulled_and_changed, _pulled_until])
def test_an_invariant_is_not_saved(f):
    for n in (1, 2, 5):
        x, w = np.linspace(0.4, 1.3, n), np.linspace(0.5, 1.1, n)
        value, grads = ad.value_and_grad(f, argnums=(0, 1))(x, w)
        assert value == f(x, w)
        _, pullback = ad.vjp(f, x, w)
        for k in (0, 1):
            want = differences(f, x, w, argnum=k)
            np.testing.assert_allclose(grads[k], want, rtol=1e-5, atol=1e-6)
            for _ in range(2):
                np.testing.assert_allclose(pullback(1.0)[k], want, rtol=1e-5, atol=1e-6)


def test_one_array_serves_all_iterations():
    text = ad.grad(_pulled, (0, 1)).source(np.ones(3), np.ones(3))
    before, loop = text.split("    for _ in", 1)
    assert (
        "np.maximum" in before
        and "np.maximum" not in loop.split("reversed")[0]
        and "pull" not in loop.split("append")[1].split("\n")[0]
    )
