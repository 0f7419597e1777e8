"""PyTorch's operations that are made from the rows of the table: functions of its modules, and methods of tensors."""

from __future__ import annotations

import functools
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

from ...tape.operators import add_up, average
from .. import operations
from ..graph.array import to, value_of
from ..graph.direct import unary
from ..operations.elementwise import stepped
from ..operations.row import Row
from ..operations.shaping import counts
from ..operations.signatures import function, parameters, settings
from . import dtypes
from .conversion import finished, new, numpy_dtype, shape_of
from .core import Base, assign, axes_of, check_dim, elementwise, in_place_of, make, numpy_names, result_type, run, view
from .tensor import method

MODULE = __name__.rpartition(".")[0]
Parts = tuple[str, dict[str, Any]]  # the statements of a function, and the names in them


def _function(row: Row) -> Parts:
    """A function of each element."""
    f = row.computes("torch")
    if row.kind in ("step", "still"):
        f = stepped(f)
    label = row.name

    def as_float(input: Any) -> Any:
        wanted = dtypes.get_default_dtype().numpy
        return run(label, lambda a: f(to(a, wanted)), input, layout=True)

    names = {"unary": unary, "key": (label, f), "label": label, "f": f, "as_float": as_float}
    body = "return unary(key, label, f, {0})"
    if row.integers == "float":
        body = f"if {{0}}._value.dtype.kind not in 'fc':\n    return as_float({{0}})\n{body}"
    return body, names


def compare(op: str, f: Callable[..., Any], *operands: Any) -> Any:
    """A function of two operands without gradient."""
    dtype = result_type(*operands).numpy
    free = [x.detach() if isinstance(x, Base) else x for x in operands]
    return run(op, lambda *given: f(*[to(x, dtype) for x in given]), *free, layout=True)


def _activation(row: Row) -> Parts:
    """A function of each element with settings; ``inplace=True`` writes into the operand."""
    f, label = row.computes("torch"), row.name

    def activation(input: Any, *settings: Any) -> Any:
        return unary((label, settings), label, (lambda a: f(a, *settings)) if settings else f, input)

    passed = [name for name, _ in parameters(row.signature("torch"))]
    given = ", ".join(n for n in passed[1:] if n != "inplace")
    body = f"return activation({{0}}, {given})"
    if "inplace" in passed:
        body = f"if inplace:\n    return assign({{0}}, lambda before: activation(before, {given}))\n{body}"
    return body, {"activation": activation, "assign": assign}


def along(op: str, f: Callable[..., Any], input: Any, dim: Any, dtype: Any) -> Any:
    """An operation on rows along an axis, by default the last."""
    axis = check_dim(input, -1 if dim is None else dim)
    if dtype is None:
        return unary((op, axis), op, lambda a: f(a, axis), input, False)
    return run(op, lambda a: f(to(a, dtype.numpy), axis), input)


def _sum(f: Any, fast: Any) -> Any:
    """A sum or product, in which integers give int64."""

    def add(a: Any, axis: Any, keepdims: bool) -> Any:
        if value_of(a).dtype.kind in "biu":
            return f(value_of(a), axis=axis, keepdims=keepdims, dtype=np.int64)
        return fast(a, axis, keepdims) if a.__class__ is np.ndarray else f(a, axis=axis, keepdims=keepdims)

    return add


def _mean(a: Any, axis: Any, keepdims: bool) -> Any:
    kind = value_of(a).dtype
    if kind.kind not in "fc":
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
            f"{dtypes.of_numpy(kind).type_name}"
        )
    return average(a, axis, keepdims) if a.__class__ is np.ndarray else np.mean(a, axis=axis, keepdims=keepdims)


_SUMS = {
    np.sum: _sum(np.sum, add_up), np.mean: _mean,
    np.prod: _sum(np.prod, lambda a, axis, keepdims: np.prod(a, axis=axis, keepdims=keepdims)),
}  # fmt: skip


_REDUCTION = """if dtype is None:
    axes = axes_of({0}, {1})
    name = whole if {1} is None else along
    return unary((label, axes, {2}), name, lambda a: f(a, axes, {2}), {0}, False)
return general({all})"""


def _reduction(row: Row) -> Parts:
    """A reduction along axes."""
    f, label = _SUMS[row.function], row.name

    def general(input: Any, dim: Any, keepdim: bool, dtype: Any = None) -> Any:
        axes = axes_of(input, dim)
        wanted = input._value.dtype if dtype is None else dtype.numpy
        full = label + ("Backward0" if dim is None else "Backward1")
        return run(full, lambda a: f(to(a, wanted), axes, keepdim), input)

    names = {"general": general, "unary": unary, "axes_of": axes_of, "f": f, "label": label}
    return _REDUCTION, {**names, "whole": f"{label}Backward0", "along": f"{label}Backward1"}


def running(op: str, f: Callable[..., Any], input: Any, dim: int, dtype: Any = None) -> Any:
    """Running sums or products, for which integers give int64."""
    axis = check_dim(input, dim)
    wanted = dtype.numpy if dtype is not None else np.dtype(np.int64) if input._value.dtype.kind in "biu" else None
    return run(op, lambda a: f(a, axis, wanted), input)


def like(f: Callable[..., Any], input: Any, *number: Any, dtype: Any = None, **options: Any) -> Any:
    """An array in the shape of another."""
    wanted = input._value.dtype if dtype is None else dtype.numpy
    return finished(f(input._value, *number, dtype=wanted, order="C"), **options)


def elements(op: str, f: Callable[..., Any], count: int, *given: Any, **settings: Any) -> Any:
    """A function of each element of so many operands, of which None are not given."""
    return elementwise(op, lambda *a: f(*a, *settings.values()), *given[:count])


# The parameters that name axes.
_AXES = ("dim", "dim0", "dim1", "dim2")


def _arguments(row: Row) -> Callable[[tuple[Any, ...]], list[Any]]:
    """How the arguments of a row become those of its function: axes are counted from 0, what comes one by one is a
    tuple."""
    names = parameters(row.signature("torch"))
    many = [k for k, (_, passed) in enumerate(names) if passed.startswith("*")]
    axes = [
        k
        for k, (name, passed) in enumerate(names)
        if (name in _AXES or passed == "*dims") and row.function is not np.expand_dims
    ]

    def arguments(given: tuple[Any, ...]) -> list[Any]:
        found = [tuple(x) if type(x) is list else x for x in given]
        for k in many:
            found[k:] = [counts(found[k:])]
        for k in axes:
            found[k] = axes_of(found[0], found[k])
        return found

    return arguments


def _arrays(row: Row) -> Parts:
    """An operation on whole arrays, with settings."""
    f, label, arguments = row.computes("torch"), row.name, _arguments(row)
    named, *fields = row.results.get("torch", "").split(" ")

    def arrays(*given: Any, **more: Any) -> Any:
        out = run(label, f, *arguments((*given, *more.values())))
        return pair(named, *out, names=tuple(fields)) if named and type(out) is tuple else out

    return "return arrays({all})", {"arrays": arrays}


def _view(row: Row) -> Parts:
    """What shares the memory of its operand."""
    f, label, arguments = row.function, row.name, _arguments(row)

    def part(*given: Any) -> Any:
        t, *settings = arguments(given)
        return view(label, lambda a: f(a, *settings), t, key=(f, t._value.shape, *settings))

    return "return part({all})", {"part": part}


@functools.cache
def _result_class(kind: str, names: tuple[str, ...]) -> type[Any]:
    base = namedtuple(kind, names)  # type: ignore[misc]

    def text(self: Any) -> str:
        rows = ",\n".join(f"{n}={v!r}" for n, v in zip(names, self))
        return f"torch.return_types.{kind}(\n{rows})"

    return type(kind, (base,), {"__repr__": text, "__slots__": ()})


def pair(kind: str, *values: Any, names: tuple[str, ...] = ("values", "indices")) -> Any:
    """What functions with several results return: a named tuple that prints as ``torch.return_types.<kind>``."""
    return _result_class(kind, names)(*values)


_ALONG = "return make(asarray(f({0}._value, axis=axes_of({0}, {1}), keepdims={2})))"
_PAIR = "return elementwise(op, f, {0}, {1}, floats=floats)"
_BODIES = {
    "predicate": "return make(asarray(f({0}._value)))", "truth": _ALONG, "index": _ALONG, "pair": _PAIR,
    "operator": "return f({0}, {1})", "comparison": "return compare(op, f, {0}, {1})",
    "logical": "return compare(op, f, {0}, {1})", "along": "return along(op, f, {all})",
    "running": "return running(op, f, {all})", "elements": "return elements(op, f, count, {all})",
    "creation": "return finished(f(shape_of({0}, {2}), numpy_dtype({1})), **{2})", "likeness": "return like(f, {all})",
}  # fmt: skip
_SCOPE: dict[str, Any] = {
    "make": make, "asarray": np.asarray, "axes_of": axes_of, "elementwise": elementwise, "compare": compare,
    "along": along, "running": running, "elements": elements, "finished": finished, "shape_of": shape_of,
    "numpy_dtype": numpy_dtype, "like": like, "new": new,
}  # fmt: skip
_PARTS: dict[str, Callable[[Row], Parts]] = {
    **dict.fromkeys(("function", "plain", "root", "step", "still"), _function),
    "activation": _activation, "reduction": _reduction, "arrays": _arrays, "view": _view,
}  # fmt: skip


def made(row: Row, name: str) -> Callable[..., Any]:
    """The function of a row."""
    names = {"f": row.computes("torch"), "op": row.name, "floats": row.integers == "float", "count": row.operands}
    body, scope = _PARTS[row.kind](row) if row.kind in _PARTS else (_BODIES.get(row.kind, ""), _SCOPE)
    if "torch" in row.own and row.kind == "operator":
        body = _PAIR
    if "alpha" in row.signature("torch") and row.kind == "operator":
        body = "return f({0}, {1} if alpha == 1 else {1} * alpha)"
    if row.kind == "new":
        body = f"return new(f, ({settings(row.signature('torch'))}), dtype, **options)"
    return function(name, row.signature("torch"), body, {**names, **scope}, row.doc, MODULE)


def place(spaces: dict[str, dict[str, Any]], rows: list[Row]) -> None:
    """Make the functions of rows: into the names of modules, and as methods."""
    for row in rows:
        known: dict[tuple[str, bool], Callable[..., Any]] = {}
        for full in row.names("torch"):
            module, _, name = full.rpartition(".")
            plain = name.rstrip("_") if not name.startswith("__") else name
            key = plain, row.numpy_names and module != "nn.functional"
            f = known.get(key)
            if f is None:
                f = known[key] = numpy_names(made(row, plain)) if key[1] else made(row, plain)
                if row.module:
                    ACTIVATIONS[row.module] = f
            if plain != name:
                f = in_place_of(name, f)
            if not full.startswith("."):
                spaces.setdefault(module, {})[name] = f
            if not module:
                method(name, f)


# By module, "" for the bare names, which are methods too.
SPACES: dict[str, dict[str, Any]] = {}
# The modules of activations, with the functions that they call.
ACTIVATIONS: dict[str, Callable[..., Any]] = {}
place(SPACES, [row for row in operations.ROWS if "torch" in row.places])
FUNCTIONS: dict[str, Callable[..., Any]] = {**SPACES.get("", {}), **SPACES.get("torch", {})}
