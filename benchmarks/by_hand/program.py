"""The description of a program whose adjoint was written by hand."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Program:
    """A function with a number as result, its value and gradient by hand, and inputs of two sizes.

    `by_hand` takes the arguments of `function` and gives `(value, (cotangent, ...))`, one cotangent for each of
    `argnums`. Neither changes its arguments. `helpers` are the functions that were written for `by_hand`; their lines
    count.
    """

    function: Callable[..., Any]
    by_hand: Callable[..., tuple[Any, tuple[Any, ...]]]
    make: Callable[..., tuple[Any, ...]]
    small: tuple[int, ...]
    large: tuple[int, ...]
    argnums: tuple[int, ...]
    helpers: tuple[Callable[..., Any], ...] = ()

    @property
    def name(self) -> str:
        return self.function.__name__

    def inputs(self, size: tuple[int, ...]) -> tuple[Any, ...]:
        return self.make(np.random.default_rng(len(self.name) + 3 * sum(size)), *size)

    @property
    def lines(self) -> int:
        """The lines of the code by hand."""
        return sum(code_lines(inspect.getsource(fn)) for fn in (self.by_hand, *self.helpers))


def code_lines(source: str) -> int:
    """How many lines hold code: no comments, imports, docstrings and empty lines."""
    lines: set[int] = set()
    texts: set[int] = set()
    for top in ast.parse(source).body:
        if isinstance(top, (ast.Import, ast.ImportFrom)):
            continue
        lines.update(_lines_of(top))
        for node in ast.walk(top):
            value = getattr(node, "value", None)
            if isinstance(node, ast.Expr) and isinstance(value, ast.Constant) and isinstance(value.value, str):
                texts.update(_lines_of(node))
    text = [line.strip() for line in source.splitlines()]
    return sum(1 for n in lines - texts if text[n - 1] and not text[n - 1].startswith("#"))


def _lines_of(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)
