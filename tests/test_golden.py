"""Emitted code that people read in review, and the work it does.

Each file in ``golden/`` is a program: a function, ``derived`` (what is made of it), and ``arguments``. What follows the marker is what the
compiler emits. ``pytest --update-golden`` rewrites that; write a new program's first part by hand.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.api.transforms import _pullback_of
from autodiff_compiler.tree import flatten, unflatten

FOLDER = Path(__file__).parent / "golden"
MARKER = "# === emitted ===\n"
PROGRAMS = sorted(FOLDER.glob("*.py"))


def vjp_of(f: Callable[..., Any], count: int) -> Any:
    """What `ad.vjp` compiles for a function of `count` arguments to differentiate by."""
    return _pullback_of(f, count)


def load(path: Path) -> tuple[dict[str, Any], str]:
    """The names that the program defines, and the code that follows the marker."""
    written, marker, emitted = path.read_text(encoding="utf-8").partition(MARKER)
    assert marker, f"{path.name} has no marker"
    namespace: dict[str, Any] = {"__name__": f"golden_{path.stem}", "__file__": str(path)}
    exec(compile(written, str(path), "exec"), namespace)
    return namespace, emitted


def differences(f: Callable[..., Any], args: tuple[Any, ...], number: int) -> Any:
    """The gradient by the argument with this number from central differences, in its structure; df/dx - i df/dy where it is complex."""
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


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_golden(path: Path, update_golden: bool) -> None:
    program, golden = load(path)
    derived, args = program["derived"], program["arguments"]
    source = derived.source(*copy.deepcopy(args))
    if update_golden:
        text = path.read_text(encoding="utf-8")
        path.write_text(text.partition(MARKER)[0] + MARKER + source, encoding="utf-8")
    else:
        assert source == golden, "emitted code changed; read the difference, then run pytest --update-golden"


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_golden_is_right(path: Path) -> None:
    program, _ = load(path)
    derived, args = program["derived"], program["arguments"]
    given = copy.deepcopy(args)
    if derived.suffix == "vjp":
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
