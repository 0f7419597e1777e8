"""Functions made of syntax trees, and adjoints as trees."""

from __future__ import annotations

import ast
import inspect
import os
import pickle
import subprocess
import sys
import traceback
from typing import Any

import gast
import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler import errors

TEXT = """
def f(x, n=3):
    y = np.zeros_like(x)
    for i in range(1, len(x)):
        y[i] = y[i - 1] * x[i] + np.sin(x[i] * n)
    return np.sum(y * scale)
"""
X = np.array([0.3, 0.9, 0.4])


@pytest.mark.parametrize("parse", [ast.parse, gast.parse])
@pytest.mark.parametrize("whole", [True, False])
def test_a_function_of_a_tree(parse: Any, whole: bool) -> None:
    tree = parse(TEXT)
    before = ast.dump(tree) if parse is ast.parse else gast.dump(tree)
    space = {"np": np, "scale": 2.0}
    f = ad.from_tree(tree if whole else tree.body[0], space)
    ad.check_grads(f, (X,))
    assert inspect.getsource(f).startswith("def f(x, n=3):")
    assert f.__globals__ is space and space["f"] is f
    assert (ast.dump(tree) if parse is ast.parse else gast.dump(tree)) == before  # the tree is as it was
    first = ad.grad(f)(X)
    space["scale"] = 6.0  # globals are read when it is called
    np.testing.assert_allclose(ad.grad(f)(X), 3 * first)


def test_it_may_call_itself() -> None:
    f = ad.from_tree(ast.parse("def power(x, n):\n    return 1.0 if n == 0 else x * power(x, n - 1)"))
    assert ad.grad(f)(2.0, 4) == 32.0


def test_a_tree_that_was_rewritten() -> None:
    class Doubled(gast.NodeTransformer):  # type: ignore[misc]
        def visit_Constant(self, node: Any) -> Any:
            return gast.Constant(node.value * 2, None)

    f = ad.from_tree(Doubled().visit(gast.parse("def f(x):\n    return x ** 2 * 3")))
    assert f(2.0) == 2.0**4 * 6
    assert ad.grad(f)(2.0) == 4 * 2.0**3 * 6


def test_errors_and_tracebacks_show_its_lines() -> None:
    f = ad.from_tree(ast.parse("def f(x):\n    y = x + 1\n    return y[7]"), {})
    with pytest.raises(IndexError) as caught:
        f(X)
    assert "y[7]" in "".join(traceback.format_exception(caught.value))
    g = ad.from_tree(ast.parse("def g(x):\n    raise x"), {})
    with pytest.raises(errors.UnsupportedError, match="raise x"):
        ad.grad(g)(2.0)


@pytest.mark.parametrize(
    "given", [ast.parse("x = 1"), ast.parse("def f(): pass\ndef g(): pass"), gast.parse("lambda x: x"), "def f(): pass"]
)
def test_what_is_no_function_definition(given: Any) -> None:
    with pytest.raises(errors.ArgumentError, match="one function definition"):
        ad.from_tree(given)


def test_decorators_that_give_something_else() -> None:
    with pytest.raises(errors.ArgumentError, match="decorators"):
        ad.from_tree(ast.parse("@staticmethod\ndef f(x): return x"), {})


def test_the_disk_cache_finds_it_in_another_process(tmp_path: Any) -> None:
    program = (
        "import ast, numpy as np, autodiff_compiler as ad\n"
        f"f = ad.from_tree(ast.parse({TEXT!r}), {{'np': np, 'scale': 2.0}})\n"
        "print(ad.grad(f)(np.array([0.3, 0.9, 0.4])).tolist())\n"
    )
    env = {**os.environ, "AUTODIFF_COMPILER_CACHE": str(tmp_path), "AUTODIFF_COMPILER_CHECK": "0"}
    runs = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=env, check=True).stdout
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
    stored = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert len(stored) == 1


def test_an_adjoint_as_a_tree() -> None:
    f = ad.from_tree(ast.parse(TEXT), {"np": np, "scale": 2.0})
    g = ad.grad(f)
    tree = g.tree(X)
    assert isinstance(tree, gast.Module)
    space: dict[str, Any] = {}
    exec(compile(gast.gast_to_ast(tree), "<adjoint>", "exec"), space)
    made = space["f_grad"]
    hidden = list(inspect.signature(made).parameters)[1:]
    values = {"n": 3, "scale": 2.0}
    np.testing.assert_array_equal(made(X, *[values[name] for name in hidden]), g(X))
    assert gast.dump(pickle.loads(pickle.dumps(tree))) == gast.dump(tree)
