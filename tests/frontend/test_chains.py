"""Long chains and deep nesting: what CPython compiles has a gradient, whose code is a chain as well."""

from __future__ import annotations

import contextvars
import os
import runpy
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler import deep
from autodiff_compiler.codegen.layout import BREAK, Assignment, Block, Line, flat, outline


def made(source: str, folder: Path) -> dict[str, Any]:
    file = folder / f"made{len(list(folder.iterdir()))}.py"
    file.write_text(f"import contextlib\nimport math\nimport numpy as np\n\n{source}\n")
    return runpy.run_path(str(file))


def lines(count: int, first: str, each: str, last: str) -> str:
    return "\n".join([first, *[each.format(k=k, el="el" if k else "") for k in range(count)], last])


def joined(count: int, sign: str, each: str, start: str = "    return ", end: str = "") -> str:
    return f"def f(x):\n{start}" + sign.join(each.format(k=k) for k in range(count)) + end


def nested(count: int, head: str, last: str) -> str:
    body = [" " * (k + 1) + head.format(k=k) for k in range(count)]
    return "\n".join(["def f(x):", " y = x", *body, " " * (count + 1) + last, " return y * y"])


BRANCH = "    {el}if x < {k}:\n        "
CASE = "        case {k}:\n            "
LONG: dict[str, Callable[[int], str]] = {
    "elif": lambda n: lines(n, "def f(x):", BRANCH + "y = x * {k}.5", "    else:\n        y = x\n    return y * y"),
    "elif without else": lambda n: lines(n, "def f(x):\n    y = x", BRANCH + "y *= {k}.5", "    return y * y"),
    "elif that returns": lambda n: lines(n, "def f(x):", BRANCH + "return x * x * {k}.5", "    return x"),
    "if that returns": lambda n: lines(n, "def f(x):", "    if x < {k}:\n        return x * x * {k}.5", "    return x"),
    "if": lambda n: lines(n, "def f(x):\n    y = x", "    if x < {k}:\n        y = y * 1.001", "    return y"),
    "elif in a loop": lambda n: lines(
        n, "def f(x):\n  y = 0.0\n  for i in range(4):", BRANCH + "y = y * 1.1 + x * {k}.5", "  return y * y"
    ).replace("if x <", "if x * i <"),
    "elif on what was computed": lambda n: lines(
        n, "def f(x):\n    y = x", "    {el}if np.sin(x) * {k} > 9:\n        y = np.cos(x)", "    return y * y"
    ),
    "match": lambda n: lines(n, "def f(x):\n    match int(x):", CASE + "y = x * {k}.5", "    return y * y"),
    "match that returns": lambda n: lines(n, "def f(x):\n    match int(x):", CASE + "return x * x", "    return x"),
    "match of keys": lambda n: lines(
        n, "def f(x, k='k3'):\n    match k:", CASE.replace("{k}", "'k{k}'") + "y = x * {k}.5", "    return y * y"
    ),
    "in a helper": lambda n: lines(n, "def h(x):", BRANCH + "return x * x * {k}.5", "    return x")
    + "\ndef f(x):\n    return h(x) + h(x * 0.5)",
    "in a method": lambda n: lines(n, "class M:\n  def m(self, x):", BRANCH + "return x * x * {k}.5", "    return x")
    + "\ndef f(x):\n    return M().m(x)",
    "in a try": lambda n: lines(
        n, "def f(x):\n  try:", BRANCH + "y = x / {k}.5", "    else:\n        y = x\n  except ZeroDivisionError:\n"
        "    y = 0.0\n  return y * y"
    ),
    "conditional expressions": lambda n: joined(n, " else ", "x * {k}.5 if x < {k}", end=" else x * x"),
    "and": lambda n: joined(n, " and ", "x < {k} + 3", "    if ", ":\n        return x * x\n    return x"),
    "or": lambda n: joined(n, " or ", "x > {k} + 3", "    if ", ":\n        return x * x\n    return x * x * x"),
    "comparisons": lambda n: joined(n, " < ", "x + {k}", "    if ", ":\n        return x * x\n    return x"),
    "sum": lambda n: joined(n, " + ", "math.sin(x * 0.{k})"),
    "product": lambda n: joined(n, " * ", "(1.0 + x * 0.001 * ({k} % 7))"),
    "statements": lambda n: lines(n, "def f(x):\n    y = x", "    y = math.sin(y) + x * 0.{k}", "    return y"),
    "methods": lambda n: joined(n, "", ".copy()", "    return np.array([x * x])", ".sum()"),
    "tries": lambda n: lines(
        n // 2, "def f(x):\n  y = x", "  try:\n    y = y / x\n  except ZeroDivisionError:\n    y = x",
        "  return y * x * x"
    ),
}  # fmt: skip
IFS = nested(60, "if x < {k} + 3:", "y = y * x")
LOOPS = nested(14, "for i{k} in range(1 + ({k} == 7)):", "y = y * x * 0.5")
BREAKS = nested(10, "while y < 9.0:", "y = y * x * 0.8\n" + " " * 11 + "if y > 5.0: break").replace(
    " return", "\n".join(" " * (k + 1) + "break" for k in reversed(range(1, 10))) + "\n return"
)
DEEP = {
    "sin": "def f(x):\n    return " + "math.sin(" * 190 + "x" + ")" * 190,
    "parentheses": "def f(x):\n    return " + "(" * 190 + "x" + " * 1.001 + x * x)" * 190,
    "ifs": nested(90, "if x < {k} + 3:", "y = y * x"),
    "helpers": "\n".join(
        [
            "def h0(x): return x * x",
            *[f"def h{k}(x): return h{k - 1}(x) * 1.001" for k in range(1, 200)],
            "def f(x): return h199(x)",
        ]
    ),
    "loops": nested(18, "for i{k} in range(1 + ({k} == 7)):", "y = y * x * 0.5"),
    "ifs of a helper in ifs": IFS.replace("def f", "def h") + "\n" + IFS.replace("y * x", "h(y) * x * 0.01"),
    "loops of a helper in loops": LOOPS.replace("def f", "def h") + "\n" + LOOPS.replace("y * x", "h(y) * x"),
    "loops that are left": BREAKS.replace("def f", "def h") + "\n" + LOOPS.replace("y * x", "h(y) * x * 0.2"),
}


def checked(f: Callable[[float], float], x: float, order: int) -> str:
    g: Any = ad.grad(f)
    primal = f
    if order == 2:
        primal, g = g, ad.grad(g)
    h = 1e-6
    expected = (primal(x + h) - primal(x - h)) / (2 * h)
    assert float(g(x)) == pytest.approx(expected, rel=1e-5, abs=1e-5)
    return str(g.source(x))


def depth(source: str) -> int:
    return max((len(line) - len(line.lstrip())) // 4 for line in source.splitlines())


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", LONG)
def test_long_chains(name: str, order: int, tmp_path: Path) -> None:
    limit = sys.getrecursionlimit()
    f = made(LONG[name](150 if order == 1 else 105), tmp_path)["f"]
    assert depth(checked(f, 90.3, order)) < 70
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", DEEP)
def test_deep_nesting(name: str, order: int, tmp_path: Path) -> None:
    f = made(DEEP[name], tmp_path)["f"]
    assert depth(checked(f, 1.3, order)) < 70


def test_a_thousand(tmp_path: Path) -> None:
    for name in ("elif", "sum"):
        checked(made(LONG[name](1000), tmp_path)["f"], 501.3, 1)


def test_a_chain_is_printed_as_one(tmp_path: Path) -> None:
    source = checked(made(LONG["elif"](30), tmp_path)["f"], 2.7, 1)
    assert depth(source) == 2
    assert source.count("\n    elif ") == 58 and source.count("\n    else:") == 1
    assert "\n    # adjoint of line 9: elif x < 2:\n    elif x < 2.0:\n" not in source  # nothing is taken twice
    assert "elif x < 2:\n    elif x < 2.0:\n" in source


def test_the_text_grows_with_the_chain(tmp_path: Path) -> None:
    for name in ("elif", "elif in a loop", "elif on what was computed"):
        short, long = (checked(made(LONG[name](n), tmp_path)["f"], 2.7, 1).count("\n") for n in (50, 100))
        assert long < 2.1 * short


def test_vjp_and_containers(tmp_path: Path) -> None:
    f = made(
        lines(130, "def f(p):\n    x = p['x'][0]", BRANCH + "p['y'][1] = x * x", "    return p['y'] * x"), tmp_path
    )["f"]
    value, pull = ad.vjp(f, {"x": np.array([120.5]), "y": np.ones(3)})
    (bar,) = pull(np.ones(3))
    assert value[1] == pytest.approx(120.5**3)
    assert bar["x"][0] == pytest.approx(2.0 + 3 * 120.5**2)
    assert bar["y"].tolist() == [120.5, 0.0, 120.5]


# --- the stack --------------------------------------------------------------------------------------------------------


def test_what_the_thread_sees(tmp_path: Path) -> None:
    """Context variables are those of the caller; results and errors come back to it."""
    seen = contextvars.ContextVar("seen", default=0)
    seen.set(3)
    caller = threading.current_thread()
    assert deep.run(lambda: (seen.get(), deep.is_deep(), threading.current_thread() is caller)) == (3, True, False)
    assert not deep.is_deep()
    with pytest.raises(ZeroDivisionError):
        deep.run(lambda: 1 // 0)

    def down(n: int) -> int:
        return 0 if n == 0 else 1 + down(n - 1)

    limit, size = sys.getrecursionlimit(), threading.stack_size()
    assert deep.run(lambda: down(30_000)) == 30_000
    assert (sys.getrecursionlimit(), threading.stack_size()) == (limit, size)


def test_endless_nesting_is_an_error_with_a_place(tmp_path: Path) -> None:
    rest = " + ".join(f"(x * {k}.5)" for k in range(10))
    source = f"def h(x, k):\n    return h(x * 1.01, k + 1) + {rest}\ndef f(x):\n    return h(x, 0)"
    f = made(source, tmp_path)["f"]
    with pytest.raises(ad.UnsupportedError) as caught:
        ad.grad(f)(2.0)
    assert caught.value.loc is not None and caught.value.remedy


class Enough(Exception):
    pass


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
def test_a_signal_ends_the_wait_and_the_work() -> None:
    from autodiff_compiler.ir.budget import Budget

    ended = threading.Event()

    def work() -> None:
        budget = Budget("f", None)
        try:
            while True:
                budget.look()
                time.sleep(0.001)
        finally:
            ended.set()

    def handler(number: int, frame: Any) -> None:
        raise Enough

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(Enough):
            deep.run(work)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert ended.is_set() and not deep.is_deep()


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_while_something_runs() -> None:
    limit, go = sys.getrecursionlimit(), threading.Event()
    other = threading.Thread(target=lambda: deep.run(go.wait))
    other.start()
    while not deep._running:
        time.sleep(0.001)
    child = os.fork()
    if child == 0:
        right = sys.getrecursionlimit() == limit and deep.run(deep.is_deep)
        os._exit(0 if right and sys.getrecursionlimit() == limit else 1)
    go.set()
    other.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert sys.getrecursionlimit() == limit


def test_many_threads_at_once(tmp_path: Path) -> None:
    fs = [made(LONG["elif"](150 + k), tmp_path)["f"] for k in range(4)]
    limit, out = sys.getrecursionlimit(), {}

    def one(k: int) -> None:
        out[k] = float(ad.grad(fs[k])(100.5))

    threads = [threading.Thread(target=one, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert out == {k: pytest.approx(2 * 100.5 * 101.5**2) for k in range(4)}
    assert sys.getrecursionlimit() == limit


def test_where_the_caller_has_no_stack_left() -> None:
    def down(n: int) -> float:
        if n == 0:
            return float(ad.grad(_plain)(2.0))
        return down(n - 1)

    frame, used = sys._getframe(), 0
    while frame is not None:
        frame, used = frame.f_back, used + 1  # type: ignore[assignment]
    assert down(sys.getrecursionlimit() - used - 60) == pytest.approx(3 * 4.0 + 1.0)


def _plain(x: float) -> float:
    y = x
    for _ in range(2):
        y = y * x
    return y + (x if x > 0 else 1.0)


# --- local functions for what nests too deeply ------------------------------------------------------------------------


def tower(heads: list[str], inner: list[Line], after: list[Line]) -> list[Line]:
    body = inner
    for head in reversed(heads):
        kind, _, text = head.partition(" ")
        body = [Block(kind, text, [*body, *after], binds=["i"] if kind == "for" else [])]
    return body


@pytest.mark.parametrize("count", [5, 70, 130])
@pytest.mark.parametrize("loop_at", [None, 0, 40, 69, 129])
def test_outlined_code_does_what_it_did(count: int, loop_at: int | None) -> None:
    heads = [f"if n > {k}" for k in range(count)]
    if loop_at is not None and loop_at < count:
        heads[loop_at] = "for i in range(5)"
    inner: list[Line] = [Assignment(["low"], "=", "n * 2"), Assignment(["s"], "+=", "low")]
    if loop_at is not None and loop_at < count:
        inner.append(Block("if", "s > 30", [BREAK]))

    def program() -> list[Line]:
        one: Line = Assignment(["s"], "+=", "1")
        return [Assignment(["s"], "=", "0"), *tower(heads, list(inner), [one]), "return s"]

    outlined: list[Line] = program()
    outline(outlined, {"n"}, lambda stem, taken=[0]: taken.append(0) or f"{stem}{len(taken)}")  # type: ignore[misc]
    printed: list[str] = []
    flat(outlined, 1, printed)
    source = "\n".join(printed)
    assert depth(source) < 65

    def plain(n: int) -> int:
        """The tower itself, by an interpreter of its few statements."""
        s, high = 0, len(heads)

        def level(k: int) -> bool:
            nonlocal s
            if k == high:
                s += n * 2
                return loop_at is not None and loop_at < count and s > 30
            rounds = 5 if heads[k].startswith("for") else int(n > k)
            for _ in range(rounds):
                if level(k + 1):
                    if heads[k].startswith("for"):
                        break
                    return True
                s += 1
            return False

        level(0)
        return s

    space: dict[str, Any] = {}
    exec(f"def f(n):\n{source}", space)
    for n in (0, 3, 64, 69, 100, 128, 200):
        assert space["f"](n) == plain(n)
