"""Emitted code passes a linter and a formatter: nothing unused, at most 100 columns, and the layout of black."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.codegen import wrapping
from autodiff_compiler.codegen.wrapping import WIDTH, wrapped
from autodiff_compiler.ir.spelling import literal
from benchmarks.by_hand import all_programs
from benchmarks.kernels import all_kernels
from tests.codegen.test_golden import MARKER, PROGRAMS

pytest.importorskip("ruff")


def ruff(*args: str) -> str:
    """What ruff prints, with no settings of this project's."""
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *args, "--isolated", f"--line-length={WIDTH}"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert "error: " not in done.stderr, done.stderr
    return done.stdout


def assert_as_by_hand(folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    # F401 and F841: unused imports and variables; E7: such as ``not x is None``, without names like ``l``
    found = ruff("check", "--select=F401,F841,E5,E7,W", "--ignore=E741", "--output-format=concise", str(folder))
    assert found.strip() == "All checks passed!", found
    assert not (found := ruff("format", "--diff", str(folder))), found


def test_goldens(tmp_path: Path) -> None:
    texts = {path.stem: path.read_text(encoding="utf-8").partition(MARKER)[2] for path in PROGRAMS}
    assert_as_by_hand(tmp_path, texts)


def test_programs_with_adjoints_by_hand(tmp_path: Path) -> None:
    texts = {
        p.name: str(ad.value_and_grad(p.function, argnums=p.argnums).source(*p.inputs(p.small))) for p in all_programs()
    }
    assert_as_by_hand(tmp_path, texts)


def test_kernels(tmp_path: Path) -> None:
    texts = {
        k.name: str(ad.value_and_grad(k.function, argnums=k.argnums()).source(*k.inputs(k.small)))
        for k in all_kernels()
        if not k.refused
    }
    assert_as_by_hand(tmp_path, texts)


def awkward(x: Any, n: int, text: str) -> Any:
    y = x[n + 1 : 2 * n] ** 2 * 1e300 - x[-n:] ** -x[:-n]
    if not (n > 2 and text == "it's"):
        raise ValueError('a "quoted" one')
    z = np.exp(-((y[::-1] - 3.0) ** 2)) / (1e-300 + np.sum(x**2)) ** 0.5
    a_rather_long_name, another_rather_long_name = np.sum(z), np.sum(np.where(y > 1e-30, y, np.minimum(z, y)))
    return a_rather_long_name * another_rather_long_name**2 + np.sum(np.add.outer(y, z)[1:, np.newaxis, : n - 1])


def test_awkward_expressions(tmp_path: Path) -> None:
    args = np.linspace(0.1, 0.9, 8), 4, "it's"
    texts = {
        "gradient": ad.grad(awkward).source(*args),
        "value_and_gradient": ad.value_and_grad(awkward, optimize="-peepholes").source(*args),
        "hessian": ad.hessian(awkward).source(*args),
    }
    assert_as_by_hand(tmp_path, texts)


# Statements of 60 columns and more, in lines of 60: as ruff 0.17 lays them out.
LONG = [
    "total = first_one(alpha, beta, gamma) * weight_of_it + the_other_one",
    "total = first_one(alpha, beta, gamma) * second_one(delta, epsilon)",
    "total = np.where(condition_of_it, first_one_of_all, second_one_of_it)",
    "total = np.where(condition_of_it, first_one_of_all, second_one_of_it, the_other)",
    "x_bar[i, j] += (a_bar / variance if variance else 0.0) * weight_of_it - b_bar",
    "total = -(first_one_of_all + second_one_of_it) * (the_other_one - weight)",
    "return value_of_it, (first_one_bar, second_one_bar, third_one_bar, fourth)",
    "return first_one_bar, second_one_bar, third_one_bar, fourth_one_bar * 2.0",
    'return {"first": first_one_bar, "second": second_one_bar, "third": third}',
    "saved.append((first_one_of_all, second_one_of_it, third_one, fourth_one))",
    "total = first_of_all if condition_of_it and the_other else second_of_it * 2.0",
    "total = [a * weight + b for a, b in zip(first_one_of_all, second_one_of_it)]",
    "total = alpha_of_it * beta_of_it + gamma_of_it**delta - epsilon * zeta_of_it",
    "y[alpha + 1 : beta, gamma] = first_one(alpha, beta, gamma_of_it)[delta]",
    "total = matrix_of_it.T @ (vector_of_it * weight).reshape(first, second_one)",
    "first_one_of_all, second_one_of_it, third_one_of_it, fourth_one = saved.pop()",
    "first_one_of_all, second_one_of_it, third_one_of_it, fourth_one = parameters",
    "return value_of_it, (np.array([first_one_bar, second_one_bar, third_one_bar]),)",
    "first_bar = np.array([first_one_bar, second_one_bar, third_one_bar, fourth_bar])",
    "raise ValueError(first_one_of_all, second_one_of_it, third_one_of_it, fourth)",
    "if first_one_of_all < second_one_of_it and not (third_one or fourth_one > 0):",
    "while first_one_of_all(alpha) + second_one_of_it < third_one_of_it * weight:",
    "for first_one, second_one in zip(reversed(first_saved), reversed(second_saved)):",
    "def function_of_it(first_one, second_one, third_one=third_one, fourth=fourth):",
    "from autodiff_compiler.runtime import first_one, second_one, third_one, fourth",
]


@pytest.mark.parametrize("text", LONG)
def test_a_long_statement_is_wrapped_as_by_ruff(text: str, tmp_path: Path) -> None:
    lines = wrapped(text, 4, 60)
    assert len(lines) > 1 and all(len(line) <= 60 for line in lines)
    body = ["        pass"] * text.endswith(":")
    code = "\n".join(["def f():", *lines, *body, ""])
    assert ast.dump(ast.parse(code)) == ast.dump(ast.parse("\n".join(["def f():", f"    {text}", *body])))
    path = tmp_path / "long.py"
    path.write_text(code)
    found = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length=60", "--diff", str(path)],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert not found.stdout, found.stdout


@pytest.mark.parametrize("indent", [0, 4, 40])
@pytest.mark.parametrize("text", ["x = " + "name" * 40, "assert " + "name" * 40, "del " + "name" * 40])
def test_what_cannot_be_broken_stays(text: str, indent: int) -> None:
    assert wrapped(text, indent) == [" " * indent + text]


@pytest.mark.parametrize(
    "text", ["else:", "except (ValueError, KeyError) as error:", "total = first(alpha) + second(beta)"]
)
def test_far_inside_lines_are_left_as_they_are(text: str) -> None:
    assert wrapped(text, 80) == [" " * 80 + text]
    longer = f"total = [{', '.join(['1.0'] * 1000)}]"
    assert wrapped(longer, 0) == [longer]


@pytest.mark.parametrize(
    "x",
    [
        *("a", "it's", 'a "b"', 'it\'s "b"', "\\'", b"a", b"it's", ("a",)),
        *(1e300, -1e300, 1e-5, 1 + 2j, -1e300j, 1e30 - 2e-30j),
    ],
)
def test_literals(x: Any) -> None:
    assert eval(literal(x)) == x and type(eval(literal(x))) is type(x)


def test_a_layout_that_changes_the_meaning_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "total = (alpha + beta) * gamma"
    monkeypatch.setattr(wrapping, "LEAST", 10)
    assert len(wrapped(text, 0, 25)) == 3
    monkeypatch.setattr(wrapping._Layout, "statement", lambda *args: ["total = alpha + beta * gamma"])
    assert wrapped(text, 0, 25) == [text]
