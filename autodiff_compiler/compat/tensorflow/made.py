"""TensorFlow's operations that are made from the rows of the table, each when it is first asked for."""

from __future__ import annotations

import collections
import contextlib
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.opset import PRIMS
from ...tape.custom import record_barrier
from ...tape.operators import reduction
from ...tape.recording import STATE
from .. import operations
from ..operations.elementwise import stepped
from ..operations.row import Row
from ..operations.signatures import function, parameters
from . import dtypes
from .computing import REDUCTIONS
from .dtypes import as_dtype
from .errors import invalid
from .operands import (
    array,
    axes,
    bools,
    checked,
    computed,
    cut,
    elementwise,
    floating,
    integer,
    integers,
    operand,
    quiet,
    run,
    same_dtypes,
)
from .operators import Arithmetic, not_allowed
from .tapes import GradientTape
from .tensors import convert_to_tensor, tensor

REALS = "bfloat16, half, float, double"
Parts = tuple[str, dict[str, Any]]  # the statements of a function, and the names in them


def _function(row: Row) -> Parts:
    """A function of each element, which may have settings. An activation takes real numbers only."""
    f = row.computes("tensorflow")
    if f not in PRIMS or len(parameters(row.signature("tensorflow"))) > 1:
        allowed = "f" if row.kind == "activation" else "fc"
        return f"return computed(f, floating({{0}}, op, {allowed!r}), *({{all}},)[1:])", {}
    names = {"Arithmetic": Arithmetic, "convert": convert_to_tensor, "fast": elementwise(f, row.name)}
    return "return fast({0} if isinstance({0}, Arithmetic) else convert({0}))", names


def _root(row: Row) -> Parts:
    """An operation whose derivative at 0 is infinite, but 0 where the upstream gradient is 0, as TensorFlow's."""
    f = row.computes("tensorflow")
    plain = functools.partial(computed, f)
    fast = elementwise(f, row.name)

    def rooted(x: Any) -> Any:
        x = floating(x, row.name)
        v = x._value
        if v.dtype.kind != "f":
            return fast(x) if f is np.sqrt else plain(x)
        if STATE.rec is None or np.all(v):
            return fast(x)

        def back(upstream: Any) -> list[Any]:
            silent = np.asarray(upstream._value == 0)
            with GradientTape() as tape:
                tape.watch(x)
                root = plain(computed(lambda a: np.where(silent, np.ones((), v.dtype)[()], a), x))
            return [tape.gradient(root, x, upstream)]

        like = [fast(x) if f is np.sqrt else plain(x)] if STATE.rec.forward else None
        return record_barrier([tensor(quiet(f)(v))], [x], back, like=like)[0]

    return "return rooted({0})", {"rooted": rooted}


def _step(row: Row) -> Parts:
    """A step function: by its argument the gradient is None."""

    def step(x: Any) -> Any:
        x = operand(x)
        if row.integers == "pass" and x._value.dtype.kind in "iu":
            return run(np.positive, x)
        if x._value.dtype.kind not in "fc":
            raise not_allowed(row.name, x._value.dtype, REALS)
        return cut(tensor(row.function(x._value)), x)

    return "return step({0})", {"step": step}


def _operator(row: Row) -> Parts:
    """An operation that Python has an operator for."""
    f = row.function

    def forward(x: Any, y: Any) -> Any:
        if isinstance(x, Arithmetic) or isinstance(y, Arithmetic) and not isinstance(x, (list, tuple, np.ndarray)):
            return f(x, y)
        if isinstance(y, Arithmetic):
            return f(convert_to_tensor(x, dtypes.of(y._value.dtype)), y)
        return f(convert_to_tensor(x), y)

    return "return forward({0}, {1})", {"forward": forward}


def _along(row: Row) -> Parts:
    """An operation on rows along an axis, by default the last."""
    f, op = row.computes("tensorflow"), row.name

    def along(logits: Any, axis: Any) -> Any:
        x = floating(logits, op, "f")
        at, n = -1 if axis is None else integer(axis), x._value.ndim
        if not -n <= at < n:
            raise invalid(op, f"`axis` = {at} not in range [{-n}, {n})")
        return run(f, x, at)

    return "return along({0}, {1})", {"along": along}


_REDUCTION = """x = {0} if isinstance({0}, Arithmetic) else convert({0})
if {1} is None or type({1}) is int:
    try:
        return reduce(x, {1}, bool({2}))
    except (AxisError, ValueError) as error:
        raise invalid(op, str(error)) from None
return general(x, {1}, bool({2}))"""


def _reduction(row: Row) -> Parts:
    """A reduction that keeps the dtype, along axes, by default all."""
    f, op = row.function, row.name
    reduce = reduction(PRIMS[f], REDUCTIONS[f])

    def general(x: Any, axis: Any, keepdims: bool) -> Any:
        at = axes(axis)
        if at == ():
            return run(np.positive, x) if x._value.dtype.kind != "b" else x
        return checked(op, reduce, x, at, keepdims)

    names = {"reduce": reduce, "general": general, "invalid": invalid, "AxisError": np.exceptions.AxisError}
    return _REDUCTION, {**names, "Arithmetic": Arithmetic, "convert": convert_to_tensor}


def _steps(items: Any) -> Any:
    """Strides, windows or dilations: one number, or one for each axis."""
    given = (1,) if items is None else integers(items)
    return given[0] if len(given) == 1 else given


def _padding(padding: Any) -> Any:
    if not isinstance(padding, str):
        return tuple([integers(p) for p in padding])
    if padding.upper() not in ("SAME", "VALID"):
        raise ValueError(
            f'Value for attr \'padding\' of {padding!r} is not in the list of allowed values: "SAME", "VALID"'
        )
    return padding.upper()


def _channels(data_format: str | None) -> bool:
    """Whether the channels are in the second axis."""
    return data_format is not None and data_format.startswith("NC")


def _descending(direction: str) -> bool:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"Argument `direction` should be one of 'ASCENDING' or 'DESCENDING'. Received: {direction}")
    return direction == "DESCENDING"


def _optional(made: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: None if x is None else made(x)


def _several(values: Any, op: str) -> list[Any]:
    """Tensors of one dtype; numbers have that which they have together."""
    parts = list(values) if isinstance(values, (list, tuple)) else [values]
    if not any(isinstance(x, Arithmetic) for x in parts):
        with contextlib.suppress(ValueError):
            parts = list(operand(parts))
    return same_dtypes(parts, op)


def _numpy_dtype(dtype: Any) -> Any:
    return as_dtype(dtype).np_dtype


# What parameters that are no tensors become, by name.
_STATIC: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("axis", "axes", "num_or_size_splits"), axes),
    **dict.fromkeys(("k", "num_lower", "num_upper", "batch_dims", "num_rows", "depth"), integer),
    **dict.fromkeys(("multiples", "shape", "output_shape", "begin", "size", "dims"), integers),
    **dict.fromkeys(("repeats", "indices"), array),
    **dict.fromkeys(("stride", "strides", "ksize", "dilations"), _steps),
    "keepdims": bool, "padding": _padding, "paddings": lambda x: tuple(map(tuple, array(x).tolist())),
    "shift": _optional(integers), "data_format": _channels, "direction": _descending,
    **dict.fromkeys(("num_columns", "num"), _optional(integer)), "batch_shape": _optional(integers),
    **dict.fromkeys(("dtype", "index_type", "out_type"), _numpy_dtype),
}  # fmt: skip


def _arrays(row: Row) -> Parts:
    """An operation on whole arrays, with settings."""
    f, op, n = row.computes("tensorflow"), row.name, row.operands
    names = [name for name, _ in parameters(row.signature("tensorflow"))]
    tensors = [k for k, name in enumerate(names[: max(n, 0)]) if name not in _STATIC]
    settings = [(k, _STATIC[name]) for k, name in enumerate(names) if name in _STATIC]
    compute = run if n < 0 and f in PRIMS else computed
    result = row.results.get("tensorflow", "")
    named = collections.namedtuple(*result.split(" ", 1)) if result else None

    def arrays(*given: Any) -> Any:
        found = list(given)
        for k, made in settings:
            found[k] = made(given[k])
        if n < 0:
            found[0] = _several(given[0], op)
        elif len(tensors) == 1:
            found[tensors[0]] = (floating if row.integers == "refuse" else _operand)(given[tensors[0]], op)
        elif tensors:
            there = [k for k in tensors if given[k] is not None]
            for k, x in zip(there, same_dtypes([given[k] for k in there], op)):
                found[k] = x
        out = checked(op, compute, f, *found, refused=row.refused)
        return named(*out) if named else out

    return f"return arrays({', '.join(names)})", {"arrays": arrays}


def _operand(x: Any, op: str) -> Any:
    return operand(x)


def _likeness(row: Row) -> Parts:
    def like(input: Any, dtype: Any) -> Any:
        x = operand(input)
        return cut(tensor(row.function(x._value, dtype and as_dtype(dtype).np_dtype)[()]), x)

    return "return like({0}, {1})", {"like": like}


_BODIES: dict[str, str] = {
    "creation": "return tensor(f(integers({0}), as_dtype({1}).np_dtype)[()])",
    "plain": "return f(operand({0}))",
    "predicate": "return computed(f, operand({0}))",
    "still": "return computed(stepped(f), operand({0}))",
    "pair": "return computed(f, *same_dtypes(({0}, {1}), op))",
    "index": "kind = as_dtype({2} or 'int64').np_dtype\n"
    "return tensor(asarray(f(operand({0})._value, axis=integer({1} or 0)), kind)[()])",
    "running": "return computed(lambda a: f(a, integer({1}), None, {2}, {3}), operand({0}))",
    "logical": "return computed(f, *[bools(x, op) for x in ({all},)])",
}
_PARTS: dict[str, Callable[[Row], Parts]] = {
    "function": _function, "root": _root, "step": _step, "operator": _operator, "comparison": _operator,
    "activation": _function, "along": _along, "reduction": _reduction, "truth": _reduction, "arrays": _arrays,
    "likeness": _likeness,
}  # fmt: skip
_SCOPE: dict[str, Any] = {
    "tensor": tensor, "integers": integers, "as_dtype": as_dtype, "operand": operand, "computed": computed,
    "floating": floating, "same_dtypes": same_dtypes, "bools": bools, "stepped": stepped,
    "integer": integer, "asarray": np.asarray,
}  # fmt: skip


@functools.cache
def operation(row: Row, name: str) -> Callable[..., Any]:
    """The function of a row."""
    body, scope = _PARTS[row.kind](row) if row.kind in _PARTS else (_BODIES[row.kind], {})
    names = {"f": row.computes("tensorflow"), **_SCOPE, "op": row.name, **scope}
    return function(name, row.signature("tensorflow"), body, names, row.doc, __name__)


@functools.cache
def rows() -> dict[str, Row]:
    """All rows by the names of their functions, whatever modules these are in."""
    return {name: row for found in operations.entries("tensorflow").values() for name, row in found.items()}


def __getattr__(name: str) -> Any:
    row = rows().get(name)
    if row is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    return operation(row, name)
