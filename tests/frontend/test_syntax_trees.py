"""Programs that interpret expressions: the tree of a text that is known is walked through when they are compiled."""

from __future__ import annotations

import ast
import operator

import numpy as np
import pytest

import autodiff_compiler as ad

OPERATORS = {ast.Add: operator.add, ast.Mult: operator.mul, ast.Sub: operator.sub, ast.Pow: operator.pow}
TEXT = "2*v + sin(v)*v**3 - 1"
WANTED = 2 + np.cos(1.5) * 1.5**3 + np.sin(1.5) * 3 * 1.5**2


def evaluated(node, names):
    if isinstance(node, ast.Expression):
        return evaluated(node.body, names)
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](evaluated(node.left, names), evaluated(node.right, names))
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Call):
        return getattr(np, node.func.id)(*[evaluated(a, names) for a in node.args])
    raise ValueError(node)


class Evaluator(ast.NodeVisitor):
    def __init__(self, names):
        self.names = names

    def visit_Module(self, node):
        return self.visit(node.body[0])

    def visit_Expr(self, node):
        return self.visit(node.value)

    def visit_BinOp(self, node):
        return OPERATORS[type(node.op)](self.visit(node.left), self.visit(node.right))

    def visit_Call(self, node):
        return getattr(np, node.func.id)(*map(self.visit, node.args))

    def visit_Name(self, node):
        return self.names[node.id]

    def visit_Constant(self, node):
        return node.value


def by_mode(x):
    return evaluated(ast.parse("2*v + sin(v)*v**3 - 1", mode="eval"), {"v": x})


def of_a_global(x):
    return evaluated(ast.fix_missing_locations(ast.parse(TEXT)).body[0].value, {"v": x})


def visited(x):
    return Evaluator({"v": x}).visit(ast.parse(TEXT))


@pytest.mark.parametrize("f", [by_mode, of_a_global, visited], ids=lambda f: f.__name__)
def test_expressions(f) -> None:
    value, gradient = ad.value_and_grad(f)(1.5)
    assert (value, gradient) == (f(1.5), pytest.approx(WANTED))


def test_the_text_is_guarded() -> None:
    holder = {"text": "v * 2"}

    def f(x):
        return evaluated(ast.parse(holder["text"], mode="eval"), {"v": x})

    g = ad.grad(f)
    assert g(1.5) == 2.0
    holder["text"] = "v * 3 + v"
    assert g(1.5) == 4.0
    holder["text"] = "v +"
    with pytest.raises(SyntaxError):
        g(1.5)


def test_numbers_in_a_tree_are_written_into_the_code() -> None:
    assert "return 3.0 * x**2 + 2.0\n" in ad.grad(
        lambda x: evaluated(ast.parse("2*v + v**3").body[0].value, {"v": x})
    ).source(1.5)


def test_a_tree_that_is_changed_is_refused() -> None:
    def f(x):
        tree = ast.parse("2 * v", mode="eval")
        tree.body.left.value = 5.0
        return evaluated(tree, {"v": x})

    with pytest.raises(ad.UnsupportedError, match="assignment to the attribute 'value'"):
        ad.grad(f)(1.5)
