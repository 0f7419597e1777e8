"""Emitted code that people read in review, and the work it does.

Each file in ``golden/`` is a program: a function, ``derived`` (what is made of it), and ``arguments``. What follows
the marker is what the compiler emits. ``pytest --update-golden`` rewrites that; write a new program's first part by
hand.
"""

from __future__ import annotations

import ast
import copy
import difflib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.api.pullbacks import Pullback, for_all_arguments
from autodiff_compiler.tree import flatten, unflatten

FOLDER = Path(__file__).parents[1] / "golden"
MARKER = "# === emitted ===\n"
UPDATE = "read the difference, then run pytest --update-golden"
PROGRAMS = sorted(FOLDER.glob("*.py"))


def vjp_of(f: Callable[..., Any], count: int) -> Any:
    """What `ad.vjp` compiles for a function of `count` arguments to differentiate by."""
    return for_all_arguments(Pullback, f, count)


def changed(golden: str, source: str) -> str:
    return "\n".join(difflib.unified_diff(golden.splitlines(), source.splitlines(), "golden", "emitted", lineterm=""))


def load(path: Path) -> tuple[dict[str, Any], str]:
    """The names that the program defines, and the code that follows the marker."""
    written, marker, emitted = path.read_text(encoding="utf-8").partition(MARKER)
    assert marker, f"{path.name} has no marker"
    namespace: dict[str, Any] = {"__name__": f"golden_{path.stem}", "__file__": str(path)}
    exec(compile(written, str(path), "exec"), namespace)
    return namespace, emitted


def differences(f: Callable[..., Any], args: tuple[Any, ...], number: int) -> Any:
    """The gradient by the argument with this number from central differences, in its structure.

    It is df/dx - i df/dy where the argument is complex.
    """
    leaves, tree = flatten(args[number])

    def at(k: int, index: tuple[int, ...], h: complex) -> float:
        moved = [np.array(x) for x in leaves]
        moved[k][index] += h
        new = [m if isinstance(x, np.ndarray) else m[()] for m, x in zip(moved, leaves)]
        given = [copy.deepcopy(x) for x in args]
        given[number] = unflatten(tree, new)
        return float(f(*given))

    out = []
    for k, x in enumerate(leaves):
        low = np.result_type(x) in (np.float32, np.complex64)
        h = 1e-2 if low else 1e-6
        g = np.zeros(np.shape(x), np.result_type(x))
        for index in np.ndindex(g.shape):
            slope: complex = (at(k, index, h) - at(k, index, -h)) / (2 * h)
            if g.dtype.kind == "c":
                slope -= 1j * (at(k, index, 1j * h) - at(k, index, -1j * h)) / (2 * h)
            g[index] = slope
        out.append(g)
    return unflatten(tree, out)


def assert_close(got: Any, expected: Any) -> None:
    (a, got_tree), (b, expected_tree) = flatten(got), flatten(expected)
    assert got_tree == expected_tree
    for x, y in zip(a, b):
        low = np.result_type(y) in (np.float32, np.complex64)
        assert np.result_type(x) == y.dtype and np.shape(x) == y.shape
        np.testing.assert_allclose(x, y, rtol=1e-2 if low else 1e-5, atol=1e-2 if low else 1e-6)


SUMS = ("list_append",)  # with `sum` of floats


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_golden(path: Path, update_golden: bool) -> None:
    if path.stem in SUMS and sys.version_info >= (3, 12):
        pytest.skip("a sum of Python's floats is a call of `sum` there")
    program, golden = load(path)
    derived, args = program["derived"], program["arguments"]
    source = derived.source(*copy.deepcopy(args))
    if update_golden:
        text = path.read_text(encoding="utf-8")
        path.write_text(text.partition(MARKER)[0] + MARKER + source, encoding="utf-8")
    else:
        same_tree = ast.dump(ast.parse(source)) == ast.dump(ast.parse(golden))
        assert same_tree, f"emitted code changed; {UPDATE}\n{changed(golden, source)}"
        assert source == golden, (
            f"the text of emitted code changed, and not its tree; {UPDATE}\n{changed(golden, source)}"
        )


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_golden_is_right(path: Path) -> None:
    program, _ = load(path)
    derived, args = program["derived"], program["arguments"]
    given = copy.deepcopy(args)
    if derived.suffix == "batch":
        mapped = derived.in_axes if isinstance(derived.in_axes, tuple) else (derived.in_axes,) * len(args)
        count = next(len(x) for x, axis in zip(args, mapped) if axis == 0)
        one = [[x if axis is None else x[k] for x, axis in zip(args, mapped)] for k in range(count)]
        results = [flatten(derived.primal(*copy.deepcopy(given))) for given in one]
        want = [np.stack([np.asarray(leaves[n]) for leaves, _ in results]) for n in range(len(results[0][0]))]
        assert_close(derived(*given), unflatten(results[0][1], want))
    elif derived.suffix == "vjp":
        out, pullback = derived(*given)
        np.testing.assert_array_equal(out, derived.primal(*copy.deepcopy(args)))
        u = np.linspace(0.5, 1.5, np.size(out)).reshape(np.shape(out))
        for _ in range(2):  # a pullback may be called again
            for number, g in enumerate(pullback(u)):
                assert_close(g, differences(lambda *a: np.sum(derived.primal(*a) * u), args, number))
    else:
        got = derived(*given)
        if derived.keep_value:
            value, got = got
            assert value == derived.primal(*copy.deepcopy(args))
        several = isinstance(derived.argnums, tuple)
        for number, g in zip(derived.argnums, got) if several else [(derived.argnums, got)]:
            assert_close(g, differences(derived.primal, args, number))
    for before, after in zip(flatten(args)[0], flatten(given)[0]):
        np.testing.assert_array_equal(before, after)


def test_golden_covers_the_language() -> None:
    assert len(PROGRAMS) >= 30


# --- counted work ---------------------------------------------------------------------------------------------------


def linear_numbers(x, rate, n):
    for _ in range(n):
        x = rate * x + 1.0
    return x


def linear_elements(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += 2.0 * x[i]
    return s


def linear_stores(x):
    y = x.copy()
    for i in range(1, x.shape[0]):
        y[i] += 0.5 * y[i - 1]
    return y.sum()


def linear_slices(u, n):
    u = u.copy()
    for _ in range(n):
        u[1:-1] += 0.1 * (u[:-2] - 2.0 * u[1:-1] + u[2:])
    return u.sum()


def linear_branches(x, n):
    for i in range(n):
        if i % 2 == 0:
            x = 2.0 * x
        else:
            x = x - 1.0
    return x


def linear_matrices(w, h, n):
    for _ in range(n):
        h = w @ h
    return h.sum()


def index_arithmetic(x, n):
    s = 0.0
    for i in range(n):
        k = (3 * i + 1) % 4
        s += x[k] * i
    return s


def own_elements(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += np.sin(x[i]) * x[i]
    return s


def filled_in_order(x):
    y = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        y[i] = np.exp(x[i]) + 0.1 * (y[:i] @ y[:i])
    return y.sum()


def sines(x, n):
    for _ in range(n):
        x = np.sin(x)
    return x


def exponentials(x, n):
    for _ in range(n):
        x = np.exp(x) - 1.5
    return x


def squares_in_a_while(x, limit):
    while x < limit:
        x = x * x
    return x


def branches_on_the_value(x, n):
    for _ in range(n):
        if x > 0.5:
            x = 3.1 * x * (1.0 - x)
        else:
            x = x + 0.3
    return x


def overwritten_slices(a, n):
    a = a.copy()
    for _ in range(n):
        a[1:-1] = a[1:-1] * a[1:-1] + 0.1 * a[:-2]
    return a.sum()


X = np.linspace(0.2, 0.9, 6)
SAVED = [
    (linear_numbers, (0.7, 0.9, 4), 0),
    (linear_elements, (X,), 0),
    (linear_stores, (X,), 0),
    (linear_slices, (X, 3), 0),
    (linear_branches, (1.5, 5), 0),
    (linear_matrices, (np.eye(2) * 0.5, np.ones(2), 3), 1),
    (index_arithmetic, (X, 6), 0),
    (own_elements, (X,), 0),
    (filled_in_order, (X,), 1),
    (sines, (0.7, 4), 1),
    (exponentials, (0.7, 4), 1),
    (squares_in_a_while, (1.3, 9.0), 1),
    (branches_on_the_value, (0.3, 5), 1),
    (overwritten_slices, (X, 3), 1),
]


@pytest.mark.parametrize("case", SAVED, ids=lambda case: case[0].__name__)
def test_only_what_the_backward_sweep_reads_is_saved(case: tuple[Any, ...]) -> None:
    f, args, count = case
    source = ad.grad(f).source(*args)
    forward = source.split("# adjoint")[0]
    assert forward.count(".append(") == count, source
    assert_close(ad.grad(f)(*args), differences(f, args, 0))


def test_saved_by_argument() -> None:
    """With a fixed matrix the loop is linear; its gradient by the vector saves nothing."""
    args = (np.eye(2) * 0.5, np.ones(2), 3)
    assert ".append(" not in ad.grad(linear_matrices, argnums=1).source(*args)


def straight_product(x, y):
    return np.sum(x * y * y)


def one_slice(x):
    return np.sum(x[1:] * 2.0)


def two_readers(x):
    y = np.exp(x)
    return np.sum(y * x)


def scaled_rows(a, s):
    return np.sum((a * s[:, None]) ** 2)


def kept_buffer(x):
    y = 2.0 * x
    y[0] = x[1]
    return y.sum()


FREE_OF = [
    (straight_product, (X, X + 1.0), ("zeros", "+=", ".copy(", "full_like", "ones_like")),
    (two_readers, (X,), ("zeros", ".copy(")),
    (scaled_rows, (np.ones((3, 2)), np.ones(3)), ("zeros", "+=", ".copy(", "sum_to", "spread")),
    (one_slice, (X,), ("+=", ".copy(", "sum_to", "spread")),
    (kept_buffer, (X,), (".copy(", "sum_to", "append")),
    (overwritten_slices, (X, 3), ("zeros",)),
    (linear_slices, (X, 3), ("zeros", "sum_to", "spread")),
]


@pytest.mark.parametrize("case", FREE_OF, ids=lambda case: case[0].__name__)
def test_work_that_is_not_done(case: tuple[Any, ...]) -> None:
    f, args, absent = case
    source = ad.grad(f).source(*args)
    for word in absent:
        assert word not in source, f"{word} in\n{source}"
    assert_close(ad.grad(f)(*args), differences(f, args, 0))


def test_one_buffer_for_each_adjoint() -> None:
    """An accumulator is made once, before the loop, and added to in place."""
    source = ad.grad(filled_in_order).source(X)
    backward = source[source.index("reversed(") :]
    assert "zeros" not in backward and ".copy(" not in backward, source


def test_output_is_deterministic() -> None:
    for path in PROGRAMS[::6]:
        first, second = (load(path)[0] for _ in range(2))
        assert first["derived"].source(*first["arguments"]) == second["derived"].source(*second["arguments"])
