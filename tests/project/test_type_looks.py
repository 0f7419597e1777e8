"""Where transforms, analyses and rules look at what kind of thing an operand is.

An operand is a value or a constant, and where NumPy takes a sequence of arrays a list or tuple of those. A test such
as ``type(v) is Value`` answers False for a list of values as it does for a constant, and that made wrong numbers. So
each place that looks is listed, by module and function, and a new one is seen in review: ``pytest --update-golden``
rewrites the list.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import autodiff_compiler

PACKAGE = Path(autodiff_compiler.__file__).parent
LISTING = Path(__file__).parents[1] / "golden" / "type_looks.txt"
FOLDERS = ("analysis", "transforms", "rules")


def looks(tree: ast.AST) -> list[str]:
    """The tests of types in a function, without those of the functions in it."""
    found = []
    todo: list[ast.AST] = list(ast.iter_child_nodes(tree))
    while todo:
        node = todo.pop(0)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        todo += ast.iter_child_nodes(node)
        called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id
        if called == "isinstance" or (called == "type" and len(node.args) == 1):  # type: ignore[attr-defined]
            found.append(ast.unparse(node))
    return sorted(found)


def listed() -> str:
    lines = []
    for folder in FOLDERS:
        for path in sorted((PACKAGE / folder).glob("*.py")):
            tree = ast.parse(path.read_text())
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef) and (here := looks(node)):
                    lines.append(f"{folder}/{path.name} {node.name}: {', '.join(here)}")
    return "\n".join(sorted(lines)) + "\n"


def test_every_place_is_listed(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        LISTING.write_text(listed())
    assert LISTING.read_text() == listed()


def test_a_look_is_found() -> None:
    tree = ast.parse(
        "def f(v):\n    if type(v) is Value or isinstance(v, list):\n        def g(w): return type(w)"
    ).body[0]
    assert looks(tree) == ["isinstance(v, list)", "type(v)"]
