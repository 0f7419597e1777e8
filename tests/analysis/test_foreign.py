"""What enters foreign code, objects, text or bytes: the right gradient, or a located error; never a number from which a
derivative is missing."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import itertools
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import AutodiffError
from autodiff_compiler.ir.foreign import is_inert
from tests.analysis.foreign_programs import REFUSED, RIGHT

X = 0.7
NUMBERS = itertools.count()
LOCATED = re.compile(r":\d+:\d+, in .*\n.*\n.*\^.*\nInstead: ", re.DOTALL)


def parsed(text: str) -> dict[str, tuple[list[str], list[str], str]]:
    found = {}
    for line in text.strip().split("\n"):
        name, rest = line.split(":", 1)
        setup, body, result = (part.strip(" ") for part in rest.split(" |", 2))
        found[name] = ([s for s in setup.split(";; ") if s], [s for s in body.split(";; ") if s], result)
    return found


PROGRAMS = {**parsed(RIGHT), **parsed(REFUSED)}
MUST_BE_RIGHT = set(parsed(RIGHT))


def plain(body: list[str], result: str) -> list[str]:
    return ["def f(x):", *indented(body, 4), f"    return {result}"]


def helper(body: list[str], result: str) -> list[str]:
    return ["def h_(x):", *indented(body, 4), f"    return {result}", "def f(x):", "    return h_(x * 1.0) * 1.0"]


def loop(body: list[str], result: str) -> list[str]:
    head = ["N_ = 3", "def f(x):", "    out = 0.0", "    for k_ in range(N_):"]
    return [*head, *indented(body, 8), f"        out = out + {result}", "    return out"]


def branch(body: list[str], result: str) -> list[str]:
    return [
        "def f(x):",
        "    out = 0.0",
        "    if x > 0.1:",
        *indented(body, 8),
        f"        out = {result}",
        "    return out",
    ]


def nested(body: list[str], result: str) -> list[str]:
    return ["def f(x):", "    def g_():", *indented(body, 8), f"        return {result}", "    return g_()"]


def method(body: list[str], result: str) -> list[str]:
    head = ["class M_:", "    def run(self, x):", *indented(body, 8), f"        return {result}"]
    return [*head, "def f(x):", "    return M_().run(x)"]


def caught(body: list[str], result: str) -> list[str]:
    head = ["def f(x):", "    try:", *indented(body, 8), f"        out = {result}"]
    return [*head, "    except ZeroDivisionError:", "        out = 0.0", "    return out"]


def listed(body: list[str], result: str) -> list[str]:
    return [*helper(body, result)[:-2], "def f(x):", "    return sum([h_(x * t) for t in (1.0, 0.5)])"]


PLACES: list[Callable[[list[str], str], list[str]]] = [plain, helper, loop, branch, nested, method, caught, listed]


def indented(lines: list[str], n: int) -> list[str]:
    return [" " * n + line for line in lines]


@contextlib.contextmanager
def silence() -> Iterator[None]:
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        with np.printoptions():  # a program sets them
            yield


def load(lines: list[str], directory: Path) -> Any:
    path = directory / f"program{next(NUMBERS)}.py"
    path.write_text("\n".join(["import numpy as np", "import autodiff_compiler as ad", *lines, ""]))
    spec = importlib.util.spec_from_file_location("program", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


def outcome(f: Any, order: int) -> str:
    """ "right", "refused", or what went wrong."""
    h = 1e-5 if order == 1 else 1e-3
    with silence():
        try:
            low, mid, high = (np.float64(f(X + k * h)) for k in (-1, 0, 1))
        except Exception as error:  # the function itself
            low = mid = high = np.float64(np.nan)
            raised: Any = error
        else:
            raised = None
        want = (high - low) / (2 * h) if order == 1 else (high - 2 * mid + low) / h**2
        try:
            got = ad.grad(f)(X) if order == 1 else ad.grad(ad.grad(f))(X)
        except AutodiffError as error:
            return "refused" if LOCATED.search(str(error)) or raised is not None else f"no place in {error}"
        except Exception as error:
            return "refused" if type(error) is type(raised) else f"raw {error!r}"
    if raised is not None:
        return f"{got} where the function raises {raised!r}"
    return "right" if np.allclose(got, want, rtol=1e-3, atol=1e-3) else f"{got} for {want}"


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_right_or_refused_with_its_place(name: str, tmp_path: Path) -> None:
    setup, body, result = PROGRAMS[name]
    more = list(PROGRAMS).index(name) % (len(PLACES) - 3)
    for place in (*PLACES[:3], PLACES[3 + more]):
        f = load([*setup, *place(body, result)], tmp_path)
        for order in (1, 2) if place is plain else (1,):
            found = outcome(f, order)
            allowed = ("right",) if name in MUST_BE_RIGHT and place in PLACES[:3] else ("right", "refused")
            assert found in allowed, f"{place.__name__}, order {order}: {found}"


def test_what_is_only_kept_or_shown_is_no_error(tmp_path: Path) -> None:
    lines = ["from contextvars import ContextVar", "V = ContextVar('V', default=1.0)", "SEEN = []", "import logging"]
    f = load(
        [*lines, "def f(x):", "    V.set(x)", "    SEEN.append(x)", "    print(f'{x}')", "    return x * x"], tmp_path
    )
    with silence():
        assert ad.grad(f)(3.0) == 6.0


def test_what_was_read_before_is_no_error(tmp_path: Path) -> None:
    lines = ["from contextvars import ContextVar", "V = ContextVar('V', default=2.0)"]
    f = load([*lines, "def f(x):", "    y = float(V.get())", "    V.set(x)", "    return y * x"], tmp_path)
    assert ad.grad(f)(3.0) == 2.0


def test_in_a_loop_the_next_trip_reads_what_this_one_kept(tmp_path: Path) -> None:
    lines = ["from contextvars import ContextVar", "V = ContextVar('V', default=2.0)", "def f(x, n):", "    s = 0.0"]
    f = load(
        [*lines, "    for k in range(n):", "        s = s + V.get() * x", "        V.set(x)", "    return s"], tmp_path
    )
    with pytest.raises(AutodiffError, match=r"entered ContextVar\.set"):
        ad.grad(f)(3.0, 2)


def test_each_branch_has_its_own_order(tmp_path: Path) -> None:
    lines = ["from contextvars import ContextVar", "V = ContextVar('V', default=2.0)", "def f(x, c):", "    if c > 0:"]
    f = load(
        [*lines, "        V.set(x)", "        y = x", "    else:", "        y = V.get() * x", "    return y * x"],
        tmp_path,
    )
    assert ad.grad(f)(3.0, -1.0) == 12.0


@pytest.mark.parametrize(
    "fn", [np.sin, np.sum, np.random.normal, float, str, repr, len, isinstance, np.float32, "a".join]
)
def test_inert(fn: Any) -> None:
    assert is_inert(fn)


@pytest.mark.parametrize(
    "fn", [list.append, [].append, {}.update, setattr, np.save, np.load, open, np.frompyfunc(len, 1, 1), list,
           io.StringIO().write, np.ndarray.__setitem__, np.random.shuffle, np.vectorize(len), object.__setattr__]
)  # fmt: skip
def test_not_inert(fn: Any) -> None:
    assert not is_inert(fn)
