"""Lists of arrays, and loops with snapshots, with both backends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import ArgumentError
from tests.api import test_checkpoints, test_residual_budget

from . import both_halves
from .both import agree, bailed, why_not

X = np.array([0.5, -1.5, 2.0, 0.25])


def history(x: Any) -> Any:
    rows = []
    for k in range(4):
        rows.append(x * x[k])
    return sum([np.sum(row**2) for row in rows])


def looked_up(x: Any) -> Any:
    rows = [x, x * 2.0, np.sin(x)]
    s = 0.0
    for k in range(5):
        s = s + np.sum(rows[k % 3] * rows[-1]) * x[k % 4]
    return s + len(rows)


def changed(x: Any) -> Any:
    rows = [x, x * x]
    for k in range(1, 4):
        rows[k % 2] = rows[k % 2] * x[k]
        rows[-1] = rows[-1] + x
    return np.sum(rows[0] * rows[1])


def stored_into(x: Any) -> Any:
    rows = [x.copy(), x * x]
    for k in range(3):
        rows[0][k] = rows[1][k] * x[0]
        rows[1][1:] += rows[0][:-1]
    return np.sum(rows[0] * rows[1])


def one_array_twice(x: Any) -> Any:
    row = x * 2.0
    rows = [row, row]
    rows[0] = rows[0] * x
    rows[1] = rows[1] + rows[0]
    return np.sum(rows[1] * row)


def several_shapes(x: Any) -> Any:
    rows = [x]
    for k in range(1, 4):
        rows.append(x[k:] * rows[k - 1][1:])
    s = 0.0
    for k in range(4):
        s = s + np.sum(rows[k]) * x[k]
    return s


def reset(x: Any) -> Any:
    s, rows = 0.0, [x]
    for k in range(6):
        if len(rows) > 2:
            s = s + np.sum(rows[1] * rows[2])
            rows = []
        rows.append(x * (k + 1.0))
    return s + np.sum(rows[-1] ** 2)


def sliced(x: Any) -> Any:
    rows = [x * k for k in range(1, 7)]
    part = rows[1:5]
    return np.sum(part[0] * part[-1]) + len(rows[::2]) * np.sum(rows[::2][2])


def last_ones(x: Any) -> Any:
    rows = [x]
    for k in range(4):
        rows.append(np.sin(rows[-1]) * x)
        if k % 2:
            rows.pop()
    return np.sum(rows[-1] * rows[0])


def extended(x: Any) -> Any:
    rows, numbers = [x], [x[0]]
    for k in range(3):
        rows.extend([x * x[k], np.sin(x)])
        numbers += [x[k] * 2.0, x[k] * x[0]]
    s = 0.0
    for k in range(len(rows)):
        s = s + np.sum(rows[k]) * numbers[k]
    return s


def extended_by_itself(x: Any) -> Any:
    rows, numbers = [x, x * x], [x[0], x[1]]
    rows.extend(rows)
    numbers.extend(numbers)
    return np.sum(rows[3] * rows[0]) * numbers[2] * numbers[3] + len(rows)


LISTS = [
    extended,
    extended_by_itself,
    history,
    looked_up,
    changed,
    stored_into,
    one_array_twice,
    several_shapes,
    reset,
    sliced,
    last_ones,
]


@pytest.mark.parametrize("f", LISTS)
def test_lists(f: Any) -> None:
    native = agree(f, X)
    assert (why_not(native) is None) == (f is not reset) and not bailed(native)  # it saves lists
    agree(f, X.astype(np.float32), rtol=1e-5)
    for kind in both_halves.KINDS:
        both_halves.agree(f, X.copy(), kind=kind)


def test_items_out_of_range_raise() -> None:
    def f(x: Any, n: int) -> Any:
        rows = [x, x * 2.0]
        return np.sum(rows[n] * x)

    for n in (-3, -2, 0, 1, 2):
        native = agree(f, X, n)
        assert why_not(native) is None and bailed(native) == (n in (-3, 2))


def test_nothing_to_drop_raises() -> None:
    def f(x: Any, n: int) -> Any:
        rows = [x]
        for _ in range(n):
            rows.pop()
        rows.append(x * x)
        return np.sum(rows[-1])

    for n in (0, 1, 2):
        native = agree(f, X, n)
        assert why_not(native) is None and bailed(native) == (n == 2)


def test_sums_that_start_with_an_int() -> None:
    def f(x: Any, n: int) -> Any:
        return sum(x[i] * x[0] for i in range(n))

    for n in range(4):
        native = agree(f, X, n)
        assert why_not(native) is None and bailed(native) == (n == 0)


def seen(x: Any, n: int) -> Any:
    s, t = 0, 0
    for i in range(n):
        t = s
        s = s + x[i]
    return t * x[0]


def doubled(x: Any, n: int) -> Any:
    s, t = 0, x[0]
    for i in range(n):
        t = s * 2
        s = s + x[i]
    return t


def left_at_once(x: Any, n: int) -> Any:
    s = 0
    for i in range(n):
        if x[i] < 0.0:
            break
        s = s + x[i]
    return s


@pytest.mark.parametrize("f", [seen, doubled, left_at_once])
def test_ints_that_somebody_sees(f: Any) -> None:
    for x in (X, -X):
        for n in range(4):
            agree(f, x, n)


# --- snapshots --------------------------------------------------------------------------------------------------------

# Those that have no machine code, each with what is missing.
WITHOUT = {
    "in_a_loop": "a value of type list[int] where a number is wanted",
    "a_list": "a list of any",
    "a_list_of_arrays": "a list of list[float64[d1]]",
}
BAILS = {"grows", "shrinks"}  # other lengths in each iteration


@pytest.mark.parametrize("given", [(0,), (1,), (7,), (3, 20), (1, 50, 7)])
@pytest.mark.parametrize("f", test_checkpoints.LOOPS)
def test_loops_with_snapshots(f: Any, given: tuple[int, ...]) -> None:
    if f is test_checkpoints.skips and given == (0,):
        return
    for snapshots in (1, 2, 5):
        native = agree(test_checkpoints.along(f, given, True, None, snapshots), X[:3], rtol=1e-12)
        assert why_not(native) == WITHOUT.get(f.__name__)
        assert not bailed(native) or (f, given) == (test_checkpoints.appended, (0,))


@pytest.mark.parametrize("f", [f for f in test_residual_budget.FUNCTIONS if f is not test_residual_budget.handled])
def test_loops_within_a_budget(f: Any) -> None:
    fitted = 0
    for budget in (500, 1000, 2500, 10**6):
        try:
            ad.grad(f, max_residual_bytes=budget)(X[:3])
        except ArgumentError:
            agree_to_refuse(f, budget)
            continue
        native = agree(f, X[:3], rtol=1e-12, max_residual_bytes=budget)
        assert why_not(native) == WITHOUT.get(f.__name__)
        fitted += not bailed(native)
    assert fitted >= 2 or f.__name__ in BAILS


def agree_to_refuse(f: Any, budget: int) -> None:
    with pytest.raises(ArgumentError, match="max_residual_bytes leaves"):
        ad.grad(f, backend="native", max_residual_bytes=budget)(X[:3])


def heat(u: Any, r: Any) -> Any:
    for _ in r:
        u[1:-1] = u[1:-1] + 0.2 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) - 0.01 * u[1:-1] ** 3
    return np.sum(u * u)


def test_bits_are_those_of_numpy() -> None:
    """Without the passes that are for NumPy code alone, and that round gradients in another way."""
    u = np.linspace(0.0, 1.0, 30)
    plain = "-scalings, -common factors"
    for snapshots in (1, 3, 8, 100):
        for n in (0, 1, 5, 40):
            f = lambda u, n, k=snapshots: heat(u, ad.checkpointed(range(n), snapshots=k))
            got, want = (ad.grad(f, backend=b, optimize=plain)(u, n) for b in ("native", "numpy"))
            np.testing.assert_array_equal(got, want)
    for budget in (2500, 5000, 10**6):
        got, want = (
            ad.grad(heat, backend=b, optimize=plain, max_residual_bytes=budget)(u, range(40))
            for b in ("native", "numpy")
        )
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("f", [test_checkpoints.carried, test_checkpoints.stored, test_checkpoints.left])
def test_pullbacks_with_snapshots(f: Any) -> None:
    for given in ((7,), (3, 20)):
        native = both_halves.agree(test_checkpoints.along(f, given, True, None, 3), X[:3].copy())
        assert "# no machine code" not in str(native.source()) and not both_halves.bailed(native)


def test_second_derivatives_with_snapshots() -> None:
    f = test_checkpoints.along(test_checkpoints.carried, (7,), True, None, 2)
    agree(lambda x: np.sum(ad.grad(f)(x) * x), X[:3])


def test_many_numbers_at_once() -> None:
    def f(x: Any, n: int, k: int) -> Any:
        a, b = x[0], x[1]
        for i in ad.checkpointed(range(n), snapshots=k):
            a, b = np.sin(a * b) + i, a * 0.5
        return a * b

    for n, k in ((0, 1), (3, 1), (10, 3), (10, 20)):
        native = agree(f, X, n, k)
        assert why_not(native) is None and not bailed(native)
    agree(f, X, 3, 0)
