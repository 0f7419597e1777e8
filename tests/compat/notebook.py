"""Runs the cells of a document as a notebook does."""

from __future__ import annotations

import ast
import contextlib
import io
from typing import Any, NamedTuple


class Result(NamedTuple):
    """The output of a cell: the value of its last expression, and the printed text."""

    value: Any
    printed: str

    @property
    def shown(self) -> str:
        return repr(self.value)


class Notebook:
    """A namespace that cells share.

    >>> notebook = Notebook(y=2)
    >>> notebook.run("x = 3")
    Result(value=None, printed='')
    >>> notebook.run("print(x); x * y")
    Result(value=6, printed='3\\n')
    """

    def __init__(self, **names: Any) -> None:
        self.names = names

    def __getitem__(self, name: str) -> Any:
        return self.names[name]

    def run(self, cell: str) -> Result:
        tree = ast.parse(cell)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        printed, value = io.StringIO(), None
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, "<cell>", "exec"), self.names)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), self.names)
        return Result(value, printed.getvalue())
