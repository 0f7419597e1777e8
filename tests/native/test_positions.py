"""Positions in programs count from the front: machine code does not ask whether they do (`native.values`)."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from autodiff_compiler.native import support

from . import test_lowering, test_outside
from .both import agree
from .test_improvements import numbers
from .test_random_programs import compare


def position(k: Any, n: int) -> Any:
    assert 0 <= k < n, f"the position {k} of an axis of length {n}"
    return k


class _Checked(ast.NodeTransformer):
    """Looks at the positions of subscripts, but for those of rows and slices."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        array = ast.unparse(node.value)
        if array.endswith(".shape"):
            return node
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not any(isinstance(item, ast.Slice) for item in items):
            made = [f"position_({ast.unparse(item)}, {array}.shape[{k}])" for k, item in enumerate(items)]
            node.slice = ast.parse(", ".join(made), mode="eval").body
        return node


def checked(fn: Any) -> Any:
    """A function that looks at its positions."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(fn))).body
    assert isinstance(tree, ast.FunctionDef)
    tree.decorator_list = []
    module = ast.fix_missing_locations(ast.Module([_Checked().visit(tree)], []))
    fn.__globals__["position_"] = position
    exec(compile(module, f"<positions of {fn.__name__}>", "exec"), fn.__globals__, namespace := {})
    return namespace[fn.__name__]


@pytest.fixture(autouse=True)
def positions_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    made: list[str] = []
    begin = support.Native.__init__

    def init(self: Any, fn: Any) -> None:
        made.append(fn.__name__)
        begin(self, checked(fn))

    monkeypatch.setattr(support.Native, "__init__", init)
    for name in ("njit", "apart"):  # of the loops that run in parts
        monkeypatch.setattr(support, name, checked)
    yield made


def test_a_wrong_position_is_seen(positions_are_looked_at: list[str]) -> None:
    def last(x: Any) -> Any:
        return x[-1]

    assert checked(lambda_of := test_lowering.swapped) is not lambda_of
    with pytest.raises(AssertionError, match="the position -1 of an axis of length 2"):
        checked(last)(np.ones(2))
    agree(test_lowering.swapped, test_lowering.X)
    assert positions_are_looked_at


@pytest.mark.parametrize("f", test_lowering.PROGRAMS)
@pytest.mark.parametrize("parallel", [False, True])
def test_programs(f: Any, parallel: bool) -> None:
    for x in (test_lowering.X, test_lowering.X[:1], test_lowering.X[:0], test_lowering.X[::-1].copy()):
        agree(f, x, parallel=parallel)


@pytest.mark.parametrize("f", test_outside.PROGRAMS)
def test_calls(f: Any) -> None:
    agree(f, test_outside.A, test_outside.V, argnums=(0, 1), rtol=1e-9)


def from_the_end(x: Any, k: int) -> Any:
    y = x[::-1].copy()
    y[-1] = x[k]
    for i in range(-1, -len(x) - 1, -1):
        y[i] += x[-i - 1] * y[k]
    y[-2:] *= x[:2]
    return np.sum(y[-3:-1] * y[1:3]) + x[-k]


@pytest.mark.parametrize("n", [1, 2, 4, 5])
@pytest.mark.parametrize("k", [-6, -5, -2, -1, 0, 1, 4, 5])
def test_from_the_end(n: int, k: int) -> None:
    agree(from_the_end, numbers(n), k)


@pytest.mark.parametrize("seed", range(9000, 9040))
def test_random_programs(seed: int) -> None:
    compare(seed, parallel=bool(seed % 2))
