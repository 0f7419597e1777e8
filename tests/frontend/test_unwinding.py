"""Exceptions that pass a ``finally`` or an ``__exit__``: it runs, and what it has changed is what the handler finds."""

from __future__ import annotations

import linecache
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.frontend import unwinding_programs as programs

COMBINATIONS = list(programs.combinations())
# Each kind of clean-up meets each exception, each change and each place of the handler, in another order each time.
CHOSEN = {
    inner: random.Random(inner).sample([c for c in COMBINATIONS if c[0] == inner], 14) for inner in programs.INNER
}


def made(text: str, name: str) -> Any:
    """The function `f` of a module with this text."""
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    module: dict[str, Any] = {"__name__": name}
    exec(compile(text, name, "exec"), module)
    return module["f"]


def outcome(f: Any, *args: Any) -> Any:
    try:
        return f(*args)
    except Exception as error:
        return error


def differs(f: Any) -> str | None:
    """How the gradient differs from what the function does."""
    x, *rest = programs.ARGUMENTS
    expected = outcome(f, x, *rest)
    gradient = ad.value_and_grad(f)
    for _ in range(2):  # compiled, then warm
        found = outcome(gradient, x, *rest)
        if isinstance(expected, Exception):
            located = isinstance(found, ad.AutodiffError) and isinstance(found, type(expected))
            if not located and (type(found) is not type(expected) or found.args != expected.args):
                return f"{found!r} for {expected!r}"
            continue
        if isinstance(found, Exception):
            return repr(found)
        slope = (f(x + 1e-6, *rest) - f(x - 1e-6, *rest)) / 2e-6
        if not np.allclose(found, (expected, slope), rtol=1e-6, atol=1e-7):
            return f"{found} for {(expected, slope)}"
    return None


@pytest.mark.parametrize("inner", programs.INNER)
def test_clean_ups_run_when_an_exception_passes(inner: str) -> None:
    wrong = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, chosen in enumerate(CHOSEN[inner]):
            found = differs(made(programs.program(*chosen), f"<unwinding {inner} {k}>"))
            if found is not None:
                wrong[chosen] = found
    assert not wrong


def chain(count: int) -> str:
    cases = "".join(f"    elif k == {i}:\n        y = x * {i}.0\n" for i in range(1, count))
    return f"def f(x, k):\n    if k == 0:\n        y = x\n{cases}    else:\n        y = x * x\n    return y\n"


@pytest.mark.parametrize(
    "text",
    [
        chain(120),
        chain(400),
        chain(900),
        f"def f(x, k):\n    return {' + '.join(['x'] * 2000)}\n",
        f"def f(x, k):\n    return x * x if {' and '.join(f'x < {i}.5' for i in range(1, 600))} else x\n",
        "def f(x, k):\n    match k:\n" + "".join(f"        case {i}:\n            y = x * {i}.0\n" for i in range(300))
        + "        case _:\n            y = x * x\n    return y\n",
    ],
    ids=["elif120", "elif400", "elif900", "sum", "and", "match"],
)  # fmt: skip
def test_deep_nesting_is_compiled_or_refused_with_its_place(text: str) -> None:
    f = made(text, f"<deep {len(text)}>")
    try:
        value, slope = ad.value_and_grad(f)(0.7, 7)
    except ad.AutodiffError as error:
        assert error.loc is not None
        assert error.remedy
    else:
        assert np.isclose(value, f(0.7, 7))
        assert np.isclose(slope, (f(0.7 + 1e-6, 7) - f(0.7 - 1e-6, 7)) / 2e-6)


class Closing:
    def __init__(self, v, seen):
        self.v, self.seen = v, seen

    def __enter__(self):
        return self.v * 0.5

    def __exit__(self, kind, error, trace):
        self.seen.append(np.sin(self.v))
        self.v = self.v * 0.5
        return kind is KeyError


def lists_of_clean_ups(x):
    n = x.shape[0]
    t, u, first, second = x[-1] * 2.0, 0.5, [], []
    try:
        with Closing(x[-2], first):
            t = np.sum(x[x > 0.2])
            t = t * np.ones(2)[n - 1]
            u = x[-2]
    except (LookupError, ValueError):
        t = t * 0.5
    v = u + sum(first)
    try:
        with Closing(t, second):
            t = np.sum(x)
            t = t * np.ones(2)[n - n]
            u = x[-2]
    except (LookupError, ValueError):
        t = t * 0.5
    return t + u + v * sum(second)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_a_clean_up_appends_before_it_returns_is_kept(dtype: Any) -> None:
    x = np.array([0.7, 1.3, 2.1], dtype)
    value, slopes = ad.value_and_grad(lists_of_clean_ups)(x)
    assert np.isclose(value, lists_of_clean_ups(x))
    wide = x.astype(float)
    steps = 1e-6 * np.eye(3)
    expected = [(lists_of_clean_ups(wide + h) - lists_of_clean_ups(wide - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(slopes, expected, rtol=1e-5 if dtype is np.float64 else 1e-3)


EXITS_OF_TRIES = """
import numpy as np

def f(x, s):
    t, r = s, 1.0
    for i in range(4):
        for j in range(2):
            try:
                if i == LIMIT and t > 0.1:
                    LEAVE
                r = r * t
            finally:
                u = np.exp(t) * s
                t = np.sin(u * u) + x[i % 3] * r
    return t * r + s
"""


@pytest.mark.parametrize("limit", [0, 1, 3, 9])
@pytest.mark.parametrize("leave", ["break", "continue", "return t * s", "t = t * 0.5"])
def test_a_finally_that_computes_after_the_trip_was_left(leave: str, limit: int, tmp_path: Path) -> None:
    path = tmp_path / "exits.py"
    path.write_text(EXITS_OF_TRIES.replace("LIMIT", str(limit)).replace("LEAVE", leave))
    space: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    ad.check_grads(space["f"], (np.array([0.3, 0.8, 0.5]), 0.4), order=2)
