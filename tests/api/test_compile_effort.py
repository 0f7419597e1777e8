"""What compiling costs, counted in work and not in seconds."""

from __future__ import annotations

import gc
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.transforms import inplace


def split(y: Any) -> Any:
    b = y if np.sum(y) > 0.0 else y.copy()
    b[1:] -= y[0]
    y[0] = np.sum(b * b)
    c = y if np.sum(y) > 1.0 else np.ones(4) * y[1]
    c[::2] -= 0.5
    y[1] = np.sum(c * y)
    d = y if np.sum(y) > 2.0 else y * 2.0
    d[:] *= y[2]
    y[2] = np.sin(d[0])
    e = y if np.sum(y) > 3.0 else y.copy()
    e[0] += y[3]
    return np.sum(y * b) + np.sum(c * d) + np.sum(e * e)


def test_stores_on_all_paths_get_their_copies_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rounds of the in-place pass grow with the length of a path, not with the number of paths."""
    rounds = []
    find = inplace.Conflicts.find

    def counted(self: Any, *args: Any) -> Any:
        rounds.append(args)
        return find(self, *args)

    monkeypatch.setattr(inplace.Conflicts, "find", counted)
    y = np.array([0.3, 1.2, 0.9, -0.4])
    g = ad.grad(split)(y.copy())
    assert len(rounds) <= 9
    for k in range(4):
        step = np.where(np.arange(4) == k, 1e-6, 0.0)
        assert np.isclose(g[k], (split(y + step) - split(y - step)) / 2e-6, rtol=1e-6, atol=1e-7)


def counted(run: Callable[[], Any]) -> int:
    """How many Python functions are called by `run`."""
    count = 0

    def profile(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


def calls_to_compile(n: int) -> int:
    """How many Python functions are called to compile the gradient of a chain of `n` operations on the tape."""
    x, w = ad.Variable(np.linspace(0.1, 0.9, 5)), ad.Variable(np.linspace(0.5, 1.5, 5))
    with ad.GradientTape() as tape:
        y = ad.ops.sqrt(x)
        for k in range(n // 4):
            y = ad.ops.sin(y) / w
            y = ad.ops.tanh(y * w) + x if k % 2 else ad.ops.tanh(y * w) - x
    return counted(lambda: tape.gradient(y, [x, w]))


def test_the_work_for_a_chain_grows_with_its_length() -> None:
    """No pass looks at what lies before or behind an operation more often in a longer chain."""
    calls_to_compile(8)
    short, long = calls_to_compile(200), calls_to_compile(800)
    assert long / 800 < 1.1 * short / 200


LINES = {
    "a name bound again": ["x = np.sin(x) * w", "x = x * x + w", "x = np.tanh(x) / w"],
    "stores into an array": ["a[{k} % 7] = np.sin(a[({k} + 3) % 7]) * w"],
    "values kept to the end": ["a{k} = np.sin(x * {k}.0)", "x = x + a{k} * w"],
    "roots": ["x = x * np.sqrt(w + {k}.0)"],
    "branches": ["x = np.sin(x) if x[0] > 0.{k} else x * w"],
    "loops": ["for i in range(5):\n        x = x * w[i] + a[0]"],
}


def calls_for_lines(lines: list[str], n: int, folder: Path) -> int:
    """How many Python functions are called to compile the gradient of a function in which each line stands `n` times,
    with another number for k."""
    body = [line.format(k=k) for k in range(n) for line in lines]
    text = "\n    ".join(["def f(x, w):", "a = np.zeros((7, 5)) + w", *body, "return np.sum(x) + np.sum(a)"])
    (folder / f"lines{n}.py").write_text(f"import numpy as np\n\n\n{text}\n")
    namespace = runpy.run_path(str(folder / f"lines{n}.py"))
    return counted(lambda: ad.grad(namespace["f"]).source(np.linspace(0.1, 0.9, 5), np.linspace(0.5, 1.5, 5)))


@pytest.mark.parametrize("name", LINES)
def test_the_work_for_a_function_grows_with_its_length(name: str, tmp_path: Path) -> None:
    lines = LINES[name]
    calls_for_lines(lines, 2, tmp_path)
    short, long = calls_for_lines(lines, 30, tmp_path), calls_for_lines(lines, 120, tmp_path)
    assert long / 120 < 1.1 * short / 30


def test_tables_of_passes_do_not_wait_for_the_collector(tmp_path: Path) -> None:
    """Only the IR has cycles. What a pass notes of it is freed when the pass is done."""
    calls_for_lines(LINES["branches"], 2, tmp_path)
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        calls_for_lines([*LINES["branches"], *LINES["loops"]], 15, tmp_path)
        gc.collect()
        names = [type(x).__name__ for x in gc.garbage]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert names.count("list") < 5 * names.count("Op")


LONG_BODIES = {
    "numbers": (["s = s * x[1]", "s = np.sin(s) + x[2]", "t = s * 0.5", "s = t + 0.1"], "s"),
    "indices": (["k = k + 1"], "s * x[k % 5]"),
}


@pytest.mark.parametrize("name", LONG_BODIES)
def test_long_bodies_of_loops(name: str, tmp_path: Path) -> None:
    """What a trip computes again is found without recursion."""
    lines, last = LONG_BODIES[name]
    body = ["s = x[0]", "for i in range(2):", "    k = i", *[f"    {line}" for line in lines * 400], f"    s = {last}"]
    text = "\n    ".join(["def f(x):", *body, "return s"])
    (tmp_path / "body.py").write_text(f"import numpy as np\n\n\n{text}\n")
    f = runpy.run_path(str(tmp_path / "body.py"))["f"]
    x = np.linspace(0.1, 0.9, 5)
    want = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(5)]
    np.testing.assert_allclose(ad.grad(f)(x), want, rtol=1e-5, atol=1e-8)
