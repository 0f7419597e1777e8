"""Loops that are left early: one code says how, nothing that is known is asked again, and nothing stands twice."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad


def breaks(x: Any) -> Any:
    n = 0
    while True:
        x = x * x + 0.1
        n += 1
        if x > 2.0 or n > 10:
            break
    return x * n


def returns(x: Any) -> Any:
    n = 0
    while True:
        x = x * 0.5 + np.sin(x)
        n += 1
        if x < 0.1:
            return x * x
        if n > 5:
            return np.exp(x)


def both(x: Any, y: Any) -> Any:
    k = 0
    while True:
        x = x - 0.1 * np.sin(x * y)
        if x < 0.1:
            return x * y
        k += 1
        if k > 20:
            break
        y = y * x
    return x + y


def newton(a: Any, x: Any) -> Any:
    for _ in range(50):
        step = (x * x - a) / (2.0 * x)
        x = x - step
        if abs(step) < 1e-12:
            break
    return x


def nested(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        v = x[i]
        while True:
            v = v * v
            if v < 0.01:
                break
            s += v
        if s > 3.0:
            return s * v
    return s


def skips(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        if x[i] < 0.0:
            continue
        if s > 10.0:
            break
        s += x[i] ** 2
    return s


def searched(x: Any) -> Any:
    for i in range(len(x)):
        if x[i] > 1.0:
            return x[i] ** 2
    return 0.0


def on_one_side(x: Any) -> Any:
    """The last iteration and the others go through one branch, which reads the loop's variable."""
    s = 0.0
    y = x[0]
    for i in range(1, len(x)):
        y = np.sin(y) * x[i] + y
        y = y * 0.9 + np.cos(y)
        if i % 2 == 1:
            s += y * x[i] * i
            if s > 6.0:
                return s * y * i
        else:
            s += 2.0 * y * i
    return s


def popped(x: Any) -> Any:
    """A list is changed in front of the test."""
    items = [w for i in range(3) if (w := x[i] * i) is not None]
    while (t := items.pop()) < 1.0:
        pass
    return t * sum(items)


def arrays(x: Any) -> Any:
    n = 0
    while True:
        y = x * 0.5
        z = y * np.sin(y) + x
        if np.sum(y) < 1.0:
            return np.sum(y * z)
        if n == 3:
            break
        x = np.sin(z)
        n += 1
    return np.sum(x * y)


def stored(x: Any) -> Any:
    """Arrays that are written to in front of the test, and behind the loop."""
    for i in range(5):
        x[i % 3] = np.sin(x[0]) * x[1] + x[2]
        x[1:] *= 0.9
        if x[0] > 0.8:
            x[2] = x[0] * x[1]
            break
        x[0] += 0.1
    x[0] *= x[1]
    return np.sum(x * x)


def finished(x: Any) -> Any:
    s = x
    for i in range(3):
        s = s * s + 0.5 * np.sin(s) * s
        if s > 100.0:
            break
    else:
        return s * 3.0
    return s


def thrown(v: Any, drag: Any) -> Any:
    x, y, u = 0.0, 1.0, v
    while True:
        brake = drag * np.sqrt(u * u + v * v)
        u = u - 0.05 * brake * u
        v = v - 0.05 * (9.81 + brake * v)
        after = y + 0.05 * v
        if after < 0.0:
            break
        x, y = x + 0.05 * u, after
    return x + 0.05 * u * y / (y - after)


def insist(v: Any) -> Any:
    for k in range(3):
        try:
            if v > 0.5:
                raise ValueError
            return v * (k + 1)
        except ValueError:
            v = v * 0.4
        finally:
            v = v + 0.1
    return v


def insists(x: Any) -> Any:
    """An exit code is undefined on a path that raises."""
    s = 0.0
    for i in range(2):
        s += insist(2) * x[i]
    return s


CASES: list[tuple[Callable[..., Any], list[tuple[Any, ...]]]] = [
    (breaks, [(1.1,), (0.2,)]),
    (returns, [(1.2,), (0.05,)]),
    (both, [(1.0, 0.5), (0.05, 0.5), (3.0, 1.0)]),
    (newton, [(2.0, 1.0), (2.0, 1.4142135623730951)]),
    (nested, [(np.linspace(0.1, 0.9, 5),), (np.array([0.9, 0.99, 0.99]),)]),
    (skips, [(np.linspace(-1.0, 4.0, 5),), (np.array([-1.0, 2.0]),)]),
    (searched, [(np.linspace(0.0, 2.0, 5),), (np.zeros(3),)]),
    (on_one_side, [(np.linspace(0.5, 2.0, 6),), (np.linspace(-0.5, 0.2, 4),)]),
    (popped, [(np.array([0.3, 0.9, 1.4]),), (np.array([0.3, 1.9, 0.1]),)]),
    (arrays, [(np.array([0.3, 0.9, 1.4]),), (np.array([2.0, 3.0, 2.5]),), (np.zeros(2),)]),
    (stored, [(np.array([0.3, 0.9, 1.4]),), (np.array([-0.3, 0.2, -1.4]),)]),
    (finished, [(0.3,), (2.0,), (7.0,)]),
    (insists, [(np.array([0.1, 0.7]),)]),
    (thrown, [(20.0, 0.3), (5.0, 0.1)]),
]


def fresh(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple([a.copy() if isinstance(a, np.ndarray) else a for a in args])


@pytest.mark.parametrize("optimize", [True, False, "-exits"])
@pytest.mark.parametrize("f, points", CASES, ids=[f.__name__ for f, _ in CASES])
def test_the_gradient_is_that_of_the_forward_mode(f: Any, points: Any, optimize: Any) -> None:
    rng = np.random.default_rng(1)
    for args in points:
        along = tuple([rng.normal(size=np.shape(a))[()] for a in args])
        value, found = ad.value_and_grad(f, argnums=tuple(range(len(args))), optimize=optimize)(*fresh(args))
        want, tangent = ad.jvp(f, fresh(args), along)
        assert value == pytest.approx(want)
        assert sum(np.sum(g * t) for g, t in zip(found, along)) == pytest.approx(tangent, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("f, points", CASES, ids=[f.__name__ for f, _ in CASES])
def test_the_second_derivative(f: Any, points: Any) -> None:
    everything = tuple(range(len(points[0][0:])))

    def total(*args: Any) -> Any:
        return sum(np.sum(g * g) for g in ad.grad(f, argnums=everything)(*args))

    rng = np.random.default_rng(2)
    for args in points:
        along = tuple([rng.normal(size=np.shape(a))[()] for a in args])
        found = ad.grad(total, argnums=everything)(*fresh(args))
        _, tangent = ad.jvp(total, fresh(args), along)
        assert sum(np.sum(g * t) for g, t in zip(found, along)) == pytest.approx(tangent, rel=1e-7, abs=1e-9)


def text(f: Any, args: tuple[Any, ...]) -> list[str]:
    """The lines of the emitted gradient, without comments and imports."""
    source = ad.grad(f).source(*args)
    lines = [line for line in source[source.index("def ") :].splitlines() if line.strip()]
    return [line for line in lines if not line.strip().startswith("#")]


@pytest.mark.parametrize(
    "f, most",
    [(breaks, 13), (returns, 22), (both, 35), (newton, 15), (nested, 39), (searched, 14)],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_the_lines_are_few(f: Any, most: int) -> None:
    (args,) = [points[0] for g, points in CASES if g is f]
    assert len(text(f, args)) <= most


def test_what_is_known_is_not_asked_again() -> None:
    for f, points in CASES[:4]:
        lines = text(f, points[0])
        tests = [line.split("if ")[1] for line in lines if re.match(r" *(el)?if ", line)]
        assert len(tests) == len(set(tests))
        assert not any("None" in line for line in lines)


def test_each_way_out_has_one_code() -> None:
    lines = [line.strip() for line in text(returns, (1.2,))]
    assert [line for line in lines if "code" in line] == [
        "n = code = 0", "code = 3", "code = 4", "if code == 4:",
    ]  # fmt: skip


def test_iterations_are_counted_only_where_the_backward_sweep_asks() -> None:
    assert not any("trips" in line for f in (breaks, returns, newton) for line in text(f, dict(CASES)[f][0]))
    assert any("trips" in line for line in text(both, (1.0, 0.5)))


def test_the_last_iteration_is_not_reversed_by_itself() -> None:
    for f, points in (CASES[0], CASES[2], CASES[3]):
        assert sum("_saved.append" in line or "saved.append" in line for line in text(f, points[0])) == 1


def test_what_only_the_last_iteration_reads_is_reversed_for_it_alone() -> None:
    def escape(c, n):
        z = 0.1
        count = 0.0
        for k in range(n):
            z = z * z + c
            size = np.sqrt(z * z + 1.0)
            if size > 3.0:
                count = k - np.log(size)
                break
        return count + z

    made = ad.value_and_grad(escape)
    loop = made.source(0.7, 20).split("reversed(")[1]
    assert "z_bar" in loop and "size" not in loop
    ad.check_grads(escape, (0.7, 20))
    ad.check_grads(escape, (0.1, 3))  # the loop runs to its end


def test_a_last_iteration_that_adds_nothing_is_not_reversed() -> None:
    def newton(a, n):
        x = a
        for _ in range(n):
            residual = x * x - np.cos(a) * x - a
            slope = 2.0 * x - np.cos(a)
            if abs(residual) < 1e-12:
                break
            x = x - residual / slope
        return x

    source = ad.value_and_grad(newton).source(2.0, 50)
    assert "code" not in source.split("# adjoint")[1] and " if " not in source.split("reversed(")[1]
    ad.check_grads(newton, (2.0, 50))
    ad.check_grads(newton, (2.0, 1))


def test_what_is_handed_to_another_loop_is_reversed_in_each_iteration() -> None:
    def f(x, n):
        seen = []
        z = x
        for _ in range(n):
            z = z * x
            y = np.sin(z)
            seen.append(y)
            if y > 0.9:
                z = z + y * y
                break
        total = z
        for y in seen:
            total = total * y + y
        return total

    for x, n in ((1.3, 9), (0.7, 4), (1.0, 1)):
        ad.check_grads(f, (x, n))


@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_arrays_that_only_the_last_iteration_reads(n: int) -> None:
    def f(x: Any, n: int) -> Any:
        y = x
        out = np.sum(x)
        for _ in range(n):
            y = y * y + 0.2 * x
            z = np.sin(y) * x
            if np.sum(y) > 3.0:
                out = np.sum(z * y)
                break
        return out + np.sum(y)

    ad.check_grads(lambda x: f(x, n), (np.array([0.9, 0.7, -0.3]),))


def test_the_value_that_a_loop_returns_is_that_of_the_variable() -> None:
    def root(a: Any, y: Any) -> Any:
        while True:
            step = (y * y - a) / (2.0 * y)
            y = y - step
            if abs(step) < 1e-9:
                return y

    def f(a: Any) -> Any:
        total = 0.0
        for k in range(len(a)):
            total = total + root(a[k], 1.0) ** 3
        return total

    a = np.array([2.0, 3.0])
    text = ad.grad(f).source(a)
    assert not re.search(r"^ +(\w+) = y\d?\n +break", text, re.MULTILINE), text
    np.testing.assert_allclose(ad.grad(f)(a), 1.5 * np.sqrt(a), rtol=1e-9)
    np.testing.assert_allclose(ad.hessian(f)(a), np.diag(0.75 / np.sqrt(a)), rtol=1e-9)


def test_a_branch_in_front_of_the_way_out_makes_the_value() -> None:
    def f(x: Any) -> Any:
        while True:
            if x > 2.0:
                x = x * 0.5
            else:
                x = x * x + 0.1
            if x < 1.5:
                break
        return x

    for start in (1.1, 1.3, 2.6, 9.7):
        np.testing.assert_allclose(ad.grad(f)(start), (f(start + 1e-6) - f(start - 1e-6)) / 2e-6, rtol=1e-6)
