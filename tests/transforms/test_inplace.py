"""The in-place pass: what it finds out step by step is what it would find out from the start."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.analysis.order import Order
from autodiff_compiler.analysis.sharing import Sharing
from autodiff_compiler.transforms import inplace, passes
from tests.codegen.test_golden import load
from tests.programs.checks import Program, arguments
from tests.programs.checks import load as load_text
from tests.programs.generator import generate

PROGRAMS = sorted((Path(__file__).parents[1] / "golden").glob("*.py"))


def nonempty(index: dict[Any, set[Any]]) -> dict[Any, set[Any]]:
    return {root: values for root, values in index.items() if values}


class FromTheStart(inplace.InPlace):
    """Compares each round with an analysis of the function as it is then."""

    rounds_after_changes = 0

    def find_conflicts(self) -> bool:
        found = super().find_conflicts()
        order = Order(self.fn.body)
        sharing = Sharing(order)
        assert sorted(order.position, key=order.position.__getitem__) == sorted(
            self.order.position, key=self.order.position.__getitem__
        )
        for v, uses in order.uses.items():
            assert self.order.uses[v] == uses
        assert self.sharing.mutated == sharing.mutated
        assert self.sharing.family == sharing.family
        assert self.sharing.roots == sharing.roots
        assert self.sharing.inner == sharing.inner
        assert nonempty(self.sharing.sharing) == nonempty(sharing.sharing)
        assert nonempty(self.sharing.holding) == nonempty(sharing.holding)
        plan = inplace.Conflicts(order, sharing, self.split).find(None, set())
        assert plan.keys == self.plan.keys
        FromTheStart.rounds_after_changes += self.rounds > 1
        return found


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "InPlace", FromTheStart)
    FromTheStart.rounds_after_changes = 0


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_rounds_of_programs_that_people_write(path: Path, compared: None) -> None:
    names, _ = load(path)
    with np.errstate(all="ignore"):
        names["derived"](*copy.deepcopy(names["arguments"]))


def test_rounds_of_random_programs(compared: None) -> None:
    for seed in (30006517, 30006534, 30006548, 30006606, 30006613, 30006622):
        program = Program(source := generate(seed, 7))
        args = arguments(source, seed, 4)
        with np.errstate(all="ignore"):
            try:
                program.gradient_of(args)
                directions = [np.ones_like(a) for a in args]
                ad.grad(program.names["directional"], argnums=(0, 1, 2))(*args, *directions)
            except (ad.AutodiffError, AssertionError) as error:
                if isinstance(error, AssertionError):
                    raise
    assert FromTheStart.rounds_after_changes > 5


def test_room_between_positions_runs_out(compared: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no position is left between two neighbours, all get new ones."""
    from autodiff_compiler.analysis import order

    monkeypatch.setattr(order, "ROOM", 1)

    def f(x: Any) -> Any:
        y = x * 2.0
        old = y[1:]
        y[0] = x[1] * x[1]
        older = y[:-1]
        y[1:] = y[1:] * y[0]
        return np.sum(y * y) + np.sum(np.sin(old)) + np.sum(older * old)

    x = np.array([0.3, 0.7, -0.2])
    g = ad.grad(f)(x)
    assert FromTheStart.rounds_after_changes >= 1
    for k in range(3):
        step = np.where(np.arange(3) == k, 1e-6, 0.0)
        assert np.isclose(g[k], (f(x + step) - f(x - step)) / 2e-6, rtol=1e-6)


@pytest.mark.parametrize("count", [40, 210])
def test_a_long_chain_of_stores_that_are_read_in_between(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each store needs a copy, and one round finds all of them. More than 200 rounds were an internal error."""
    steps = [f"    y[{k}] = x[{k}] * x[{(k + 1) % count}]\n    t = t + np.sum(np.sin(y) * y)\n" for k in range(count)]
    head = f"import numpy as np\ndef chain(x):\n    y = np.zeros({count})\n    t = 0.0\n"
    chain = load_text(head + "".join(steps) + "    return t\n", "chain_of_stores")["chain"]
    rounds = []

    class Counted(inplace.InPlace):
        def find_conflicts(self) -> bool:
            found = super().find_conflicts()
            rounds.append(self.rounds)
            return found

    monkeypatch.setattr(passes, "InPlace", Counted)
    x, e = np.linspace(0.1, 0.9, count), np.eye(count)[3] * 1e-6
    found = ad.grad(chain)(x)
    assert abs(found[3] - (chain(x + e) - chain(x - e)) / 2e-6) < 1e-6
    assert max(rounds) <= 4


def stored_again(x, y, s):
    """Its linear function computes the stores into `y` again, where other operations lie between."""
    n = y.shape[0]
    y[...] *= np.sin(x * y)
    y[1:] -= y[:-1]
    y[:-1] -= np.log(2.0 + np.minimum(np.full(n - 1, x[-1]), x[:-1]) * np.minimum(np.full(n - 1, x[-1]), x[:-1]))
    for i, _ in enumerate(y):
        s = 0.5 * (np.sum(x) * (y[i] * s))
        x = np.sin(y - y + np.maximum(y, x)).copy()
    s += np.tanh(s * y[-2])
    y[:-1] = np.zeros(n - 1)
    a = 1.0 * np.tanh(x / (1.5 + x**2))
    y[...] = x
    return 0.7 * np.sum(x) + np.mean(y) + np.sum(np.sin(a)) + 1.5 * s


def test_what_a_linear_function_may_write_into() -> None:
    """A copy that one round has made for the function is not the linear function's, which may be called again."""
    given = (np.linspace(-0.4, 0.9, 5), np.linspace(0.8, -0.3, 5), 0.3)
    tangents = (np.linspace(0.1, 0.5, 5), np.linspace(-0.2, 0.6, 5), 0.7)
    gradient = ad.grad(stored_again, argnums=(0, 1, 2))(*[np.copy(a) for a in given])
    expected = sum(float(np.sum(g * t)) for g, t in zip(gradient, tangents))
    _, linear = ad.linearize(stored_again, *given)
    for _ in range(3):
        assert abs(linear(*tangents) - expected) < 1e-12


def trace_behind_a_loop(q, n):
    p = np.diag([1.0, 2.0])
    for _ in range(n):
        v = p @ p[0]
        p = p - np.outer(v, v) * q
        q = q + v[0]
    return np.trace(p)


def trace_of_a_shape(x):
    return np.trace(x.reshape(2, 2))


@pytest.mark.parametrize("f, args", [(trace_behind_a_loop, (0.3, 3)), (trace_of_a_shape, (np.arange(4.0),))])
def test_a_constant_is_neither_stored_into_nor_handed_out(f, args) -> None:
    """The cotangent of a trace is a constant array, which is one for all calls."""
    gradient = ad.grad(f)
    first = np.array(gradient(*args))
    for _ in range(2):
        again = gradient(*args)
        np.testing.assert_array_equal(again, first)
        if isinstance(again, np.ndarray):
            again[...] = 7.0


def test_a_number_that_is_added_to_stays_what_it_was() -> None:
    """A tangent turns out to be a number where a cotangent of unknown type was added to."""
    interpolate = pytest.importorskip("scipy.interpolate")

    def twice(xs, ys, q):
        s = interpolate.CubicSpline(xs, ys, bc_type="natural")
        return s(q), s(q, 1)

    given = ([0.0, 1.0, 2.5, 3.0], [1.0, 0.2, -0.4, 0.5], 1.7)
    tangents = ([1.0, 0.5, 0.2, 0.3], [1.0, 2.0, 3.0, 4.0], 1.0)
    _, wanted = ad.jvp(twice, given, tangents)
    _, push = ad.linearize(twice, *given)
    for _ in range(2):
        np.testing.assert_allclose(push(*tangents), wanted, rtol=1e-12)
