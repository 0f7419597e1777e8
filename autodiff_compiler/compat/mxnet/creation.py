"""What is made from the rows of the table; and new arrays: float32 unless told otherwise, and random ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import operations
from ..graph.core import Base, run
from ..operations.creation import rng
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


def array(object: Any, dtype: Any = None, ctx: Any = None) -> Any:
    """An array of a number, nested lists, or an array, which is copied: float32 unless told otherwise; a NumPy array
    keeps float16, float32 and integers."""
    if isinstance(object, Base):
        return make(np.array(object._value, object._value.dtype if dtype is None else np.dtype(dtype)))
    if dtype is None and isinstance(object, np.ndarray) and object.dtype != np.float64:
        return make(np.array(object))
    plain = [x._value if isinstance(x, Base) else x for x in object] if isinstance(object, (list, tuple)) else object
    return make(np.array(plain, dtype_of(dtype)))


def full(shape: Any, fill_value: Any, dtype: Any = None, ctx: Any = None) -> Any:
    """An array filled with one number."""
    return make(np.full(shape, fill_value, dtype_of(dtype)))


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, ctx: Any = None) -> Any:
    """The numbers from `start` up to but not including `stop`."""
    return make((np.arange(start) if stop is None else np.arange(start, stop, step)).astype(dtype_of(dtype)))


def linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, ctx: Any = None) -> Any:
    """Evenly spaced numbers."""
    return make(np.linspace(start, stop, num, endpoint).astype(dtype_of(dtype)))


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = None, ctx: Any = None) -> Any:
    """Ones on a diagonal."""
    return make(np.eye(N, M, k, dtype_of(dtype)))


CREATION = {**made("np"), **{f.__name__: f for f in (array, full, arange, linspace, eye)}, "identity": eye}


# --- random numbers ---------------------------------------------------------------------------------------------------


def seed(seed: int, ctx: Any = None) -> None:
    """Start over from a seed. The numbers are NumPy's, not MXNet's."""
    operations.creation.seed(seed)


def _plain(x: Any) -> Any:
    return x._value if isinstance(x, Base) else x


def _drawn(draw: Any, given: tuple[Any, Any], size: Any, dtype: Any) -> Any:
    a, b = map(_plain, given)
    size = np.broadcast_shapes(np.shape(a), np.shape(b)) if size is None else size
    return make(np.asarray(draw(a, b, size)).astype(dtype_of(dtype)))


def normal(loc: Any = 0.0, scale: Any = 1.0, size: Any = None, dtype: Any = None, ctx: Any = None) -> Any:
    """Numbers of a normal distribution."""
    return _drawn(rng().normal, (loc, scale), size, dtype)


def uniform(low: Any = 0.0, high: Any = 1.0, size: Any = None, dtype: Any = None, ctx: Any = None) -> Any:
    """Uniform numbers."""
    return _drawn(rng().uniform, (low, high), size, dtype)


def randint(low: int, high: int | None = None, size: Any = None, dtype: Any = None, ctx: Any = None) -> Any:
    """Integers below `high`."""
    return make(np.asarray(rng().integers(low, high, size)).astype(np.int64 if dtype is None else dtype))


def choice(a: Any, size: Any = None, replace: bool = True, p: Any = None, ctx: Any = None) -> Any:
    """Elements drawn from an array, or from the integers below a number."""
    return make(np.asarray(rng().choice(_plain(a), size, replace, _plain(p))))


def permutation(x: Any) -> Any:
    """The elements, or the integers below a number, in random order."""
    return make(np.asarray(rng().permutation(_plain(x))))


def shuffle(x: Any) -> None:
    """Put the rows of an array into random order, in place."""
    x[:] = make(rng().permutation(x._value))


RANDOM = {
    **made("np.random"),
    **{f.__name__: f for f in (seed, normal, uniform, randint, choice, permutation, shuffle)},
}
