"""What is made from the rows of the table; and new arrays: float32 unless told otherwise, and random ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import operations
from ..graph.core import Base, run
from ..operations.creation import rng
from ..operations.row import Row
from ..operations.signatures import function, parameters, settings
from .arrays import FLOAT, make, narrowed


def _along(f: Callable[..., Any], name: str, data: Any, axis: int, temperature: float | None = None) -> Any:
    return run(name, lambda a: f(a if temperature is None else a / temperature, axis), data)


def new(f: Callable[..., Any], given: tuple[Any, ...], dtype: Any) -> Any:
    """A new array of what a function of NumPy arrays and numbers gives; float64 only where that is asked for."""
    value = np.asarray(f(*[x._value if isinstance(x, Base) else x for x in given]))
    return make(narrowed(value, False) if dtype is None else value.astype(dtype))


def dtype_of(dtype: Any) -> np.dtype[Any]:
    """float32 unless told otherwise."""
    return FLOAT if dtype is None else np.dtype(dtype)


def operation(row: Row, name: str) -> Callable[..., Any]:
    """The function of a row of the table."""
    signature = row.signature("mxnet")
    first, *rest = [name for name, _ in parameters(signature)]
    body = {
        "along": "return along(f, op, {all})", "creation": "return make(f({0}, dtype_of({1})))",
        "likeness": f"return make(f({first}._value, {', '.join(rest)}))",
        "new": f"return new(f, ({settings(signature)}), dtype)",
    }.get(row.kind, "return run(op, f, {0})")  # fmt: skip
    scope = {
        "run": run, "along": _along, "make": make, "dtype_of": dtype_of, "new": new, "f": row.computes("mxnet"),
        "op": name,
    }  # fmt: skip
    return function(name, signature, body, scope, row.doc, __name__)


def made(module: str) -> dict[str, Callable[..., Any]]:
    """The functions of a module that are rows of the table."""
    return {name: operation(row, name) for name, row in operations.entries("mxnet")[module].items()}


def array(object: Any, dtype: Any = None, ctx: Any = None) -> Any:
    """An array of a number, nested lists, or an array, which is copied: float32 unless told otherwise; a NumPy array
    keeps float16, float32 and integers."""
    if isinstance(object, Base):
        return make(np.array(object._value, object._value.dtype if dtype is None else np.dtype(dtype)))
    if dtype is None and isinstance(object, np.ndarray) and object.dtype != np.float64:
        return make(np.array(object))
    plain = [x._value if isinstance(x, Base) else x for x in object] if isinstance(object, (list, tuple)) else object
    return make(np.array(plain, dtype_of(dtype)))


# --- random numbers ---------------------------------------------------------------------------------------------------


def seed(seed: int, ctx: Any = None) -> None:
    """Start over from a seed. The numbers are NumPy's, not MXNet's."""
    operations.creation.seed(seed)


def shuffle(x: Any) -> None:
    """Put the rows of an array into random order, in place."""
    x[:] = make(rng().permutation(x._value))


CREATION = {**made("np"), "array": array}
RANDOM = {**made("np.random"), "seed": seed, "shuffle": shuffle}
