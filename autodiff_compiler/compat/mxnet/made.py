"""MXNet's operations that are made from the rows of the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import operations
from ..graph.core import run
from ..operations.row import Row
from ..operations.signatures import function, parameters
from .arrays import FLOAT, make


def _along(f: Callable[..., Any], name: str, data: Any, axis: int, temperature: float | None = None) -> Any:
    return run(name, lambda a: f(a if temperature is None else a / temperature, axis), data)


_BODIES = {
    "along": "return along(f, op, {all})", "creation": "return make(f({0}, dtype_of({1})))",
    "likeness": "return make(f({0}._value, {1}))",
}  # fmt: skip


def dtype_of(dtype: Any) -> np.dtype[Any]:
    """float32 unless told otherwise."""
    return FLOAT if dtype is None else np.dtype(dtype)


def operation(row: Row, name: str) -> Callable[..., Any]:
    """The function of a row of the table."""
    scope = {"run": run, "along": _along, "make": make, "dtype_of": dtype_of, "f": row.computes("mxnet"), "op": name}
    if len(parameters(row.signature("mxnet"))) == 3 and row.kind == "likeness":
        return function(name, row.signature("mxnet"), "return make(f({0}._value, {1}, {2}))", scope, row.doc, __name__)
    body = _BODIES.get(row.kind, "return run(op, f, {0})")
    return function(name, row.signature("mxnet"), body, scope, row.doc, __name__)


def made(module: str) -> dict[str, Callable[..., Any]]:
    """The functions of a module that are rows of the table."""
    return {name: operation(row, name) for name, row in operations.entries("mxnet")[module].items()}
