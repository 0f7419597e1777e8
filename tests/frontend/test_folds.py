"""Every answer that is given while a program is compiled names its proof: see `autodiff_compiler.frontend.folds`."""

import ast
import inspect
import re
from pathlib import Path

import pytest

from autodiff_compiler import frontend
from autodiff_compiler.frontend.folds import FOLDS, proved

FOLDER = Path(inspect.getfile(frontend)).parent
TREES = {path.name: ast.parse(path.read_text()) for path in sorted(FOLDER.glob("*.py"))}
PREDICATES = {"bool", "isinstance", "issubclass", "hasattr", "callable", "any", "all", "len"}


def is_answer(node):
    """An expression that is a bool, or a number of items, and that names no proof."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, bool)
    if isinstance(node, ast.IfExp):
        return is_answer(node.body) or is_answer(node.orelse)
    if isinstance(node, ast.BoolOp):
        return all(map(is_answer, node.values))
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in PREDICATES
    return isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))


def answers(tree):
    """What methods that return abstract values return without a proof; those of Python's own bools say so in their
    annotation."""
    for cls in ast.walk(tree):
        if not isinstance(cls, ast.ClassDef):
            continue
        for method in cls.body:
            if isinstance(method, ast.FunctionDef) and method.returns is not None:
                if ast.unparse(method.returns) == "Any":
                    for node in ast.walk(method):
                        if isinstance(node, ast.Return) and node.value is not None and is_answer(node.value):
                            yield f"{cls.name}.{method.name}: {ast.unparse(node.value)}"
                        if isinstance(node, ast.Lambda) and is_answer(node.body):
                            yield f"{cls.name}.{method.name}: {ast.unparse(node)}"


@pytest.mark.parametrize("name", TREES)
def test_nothing_is_answered_without_a_proof(name):
    assert list(answers(TREES[name])) == []


def test_the_check_sees_answers():
    found = ast.parse(
        "class A:\n def f(self) -> Any:\n  return x is y\n def g(self) -> Any:\n  return proved('a', x is y)"
    )
    assert list(answers(found)) == ["A.f: x is y"]


def test_every_proof_is_used_and_known():
    used = {m for path in FOLDER.glob("*.py") for m in re.findall(r'proved\(\s*"([^"]+)"', path.read_text())}
    assert used == set(FOLDS)
    with pytest.raises(KeyError):
        proved("by default", True)
