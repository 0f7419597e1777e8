"""Statements on one line: right on public code, and whole in the comments of emitted adjoints."""

from __future__ import annotations

import ast
import copy
import warnings
from pathlib import Path

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.codegen.statements import on_one_line, shortened

NUMPY = Path(np.__file__).parent
LIBRARY = Path(ast.__file__).parent
FILES = [
    *sorted((NUMPY / "lib").glob("*.py")),
    *(LIBRARY / f"{name}.py" for name in ("dataclasses", "inspect", "statistics")),
]


def parsed_again(node: ast.stmt, text: str) -> ast.AST:
    """What the text parses to, in a loop of a coroutine, where every statement may stand."""
    compound = text.endswith(":")
    module = ast.parse(f"async def f():\n for _ in x:\n  {text}{' pass' if compound else ''}")
    return module.body[0].body[0].body[0]  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_public_code(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf8"))))
    # What is a statement by itself, or has parts that are no statements.
    alone = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Try, ast.Match)
    for node in nodes:
        if isinstance(node, ast.stmt) and not isinstance(node, alone):
            text = on_one_line(node)
            assert "\n" not in text
            if isinstance(getattr(node, "body", None), list):
                node = copy.copy(node)
                node.body = [ast.Pass()]  # type: ignore[attr-defined]
                if hasattr(node, "orelse"):
                    node.orelse = []
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                assert ast.dump(parsed_again(node, text)) == ast.dump(node), text


PIECES = """
a if b else (lambda: c)
(yield)
x[1:, None], x[..., ::2], x[(1,)], x[:,], x[(a, b), c]
-(a ** -b) ** c, (-a) ** b, not (a and b) or c, (not a) == b
(a, b), (a,), (), {**a, "k": b}, [*a], {*a}
1 .real, 1.5.real, (a + b).c, (a if b else c).d, (lambda: a)()
f(*a, k=b, **c)(d)[e].g
a < b < c, (a < b) < c, a is not b, a not in b
a @ b * c / (d // e) % g, a - (b - c), a << b | c ^ d & e
[a for b in c if d for e in f], {a: b for a in c}, (a for b in c)
f"{a!r:>{b}} {{}} {c + 1=}", "q'\\"\\n", b"x", 1j, 1e300, ...
await a, (a := b)
"""


@pytest.mark.parametrize("text", [line for line in PIECES.split("\n") if line])
def test_pieces(text: str) -> None:
    (node,) = ast.parse(f"async def f():\n {text}").body[0].body  # type: ignore[attr-defined]
    assert ast.dump(parsed_again(node, on_one_line(node))) == ast.dump(node)


def test_heads_of_match_and_cases() -> None:
    (node,) = ast.parse("match a, b:\n case [1, *_] | {'k': P(x, y=-1) as q, **r} if q: pass\n case None: pass").body
    assert isinstance(node, ast.Match)
    assert on_one_line(node) == "match (a, b):"
    assert on_one_line(node.cases[0].pattern) == "([1, *_] | {'k': (P(x, y=-1) as q), **r})"


def test_a_long_text_loses_its_middle() -> None:
    assert shortened("x = 1", 5) == "x = 1"
    text = shortened("total = " + " + ".join(f"part{k}" for k in range(30)), 60)
    assert len(text) <= 60 and text.startswith("total = part0") and text.endswith("part29") and " ... " in text


def several_lines(x):
    y = np.concatenate(
        [
            x * 2.0,  # twice
            np.sin(x),
        ],
        axis=0,
    )
    s = 0.0
    for k in range(
        1,
        len(x),
    ):
        s -= (
            y[k]
            * s
        )  # fmt: skip
    if (
        s > 0
        and x[0] > 0
    ):  # fmt: skip
        s = s * (y[0] +
                 x[1])  # fmt: skip
    return s


def test_comments_show_whole_statements() -> None:
    first = several_lines.__code__.co_firstlineno
    source = ad.grad(several_lines).source(np.ones(3))
    found = [line.strip() for line in source.splitlines() if "# adjoint of line" in line]
    texts = {int(line.split("line ")[1].split(":")[0]) - first: line.split(": ", 1)[1] for line in found}
    assert texts == {
        1: "y = np.concatenate([x * 2.0, np.sin(x)], axis=0)",
        9: "for k in range(1, len(x)):",
        13: "s -= y[k] * s",
        17: "if s > 0 and x[0] > 0:",
        21: "s = s * (y[0] + x[1])",
    }
    ad.check_grads(several_lines, (np.array([0.3, 0.8, 0.5]),))
