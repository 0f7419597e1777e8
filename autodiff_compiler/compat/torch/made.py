"""PyTorch's operations that are made from the rows of the table: functions of its modules, and methods of tensors."""

from __future__ import annotations

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
from ..operations.signatures import function, parameters
from . import dtypes
from .arithmetic import elementwise, in_place_of, result_type
from .conversion import finished, numpy_dtype, shape_of
from .core import Base, assign, axes_of, check_dim, make, run, view
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


def _predicate(row: Row) -> Parts:
    f = row.computes("torch")
    return "return make(asarray(f({0}._value)))", {"make": make, "asarray": np.asarray, "f": f}


def _pair(row: Row) -> Parts:
    names = {"elementwise": elementwise, "label": row.name, "f": row.computes("torch")}
    return f"return elementwise(label, f, {{0}}, {{1}}, floats={row.integers == 'float'})", names


def _operator(row: Row) -> Parts:
    """What Python has an operator for; some are another function here."""
    return ("return f({0}, {1})", {"f": row.function}) if "torch" not in row.own else _pair(row)


def _comparison(row: Row) -> Parts:
    f, label = row.computes("torch"), row.name

    def compare(input: Any, other: Any) -> Any:
        dtype = result_type(input, other).numpy
        free = [x.detach() if isinstance(x, Base) else x for x in (input, other)]
        return run(label, lambda *given: f(*[to(x, dtype) for x in given]), *free, layout=True)

    return "return compare({0}, {1})", {"compare": compare}


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


def _along(row: Row) -> Parts:
    """An operation on rows along an axis, by default the last."""
    f, label = row.computes("torch"), row.name

    def along(input: Any, dim: Any, dtype: Any) -> Any:
        axis = check_dim(input, -1 if dim is None else dim)
        if dtype is None:
            return unary((label, axis), label, lambda a: f(a, axis), input, False)
        return run(label, lambda a: f(to(a, dtype.numpy), axis), input)

    return "return along({all})", {"along": along}


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
            f"{dtypes.TYPE_NAMES[dtypes.of_numpy(kind)]}"
        )
    return average(a, axis, keepdims) if a.__class__ is np.ndarray else np.mean(a, axis=axis, keepdims=keepdims)


_SUMS = {
    np.sum: _sum(np.sum, add_up), np.mean: _mean,
    np.prod: _sum(np.prod, lambda a, axis, keepdims: np.prod(a, axis=axis, keepdims=keepdims)),
}  # fmt: skip


_REDUCTION = """if dtype is None and not other:
    axes = axes_of({0}, {1})
    name = whole if {1} is None else along
    return unary((label, axes, {2}), name, lambda a: f(a, axes, {2}), {0}, False)
return general({all})"""


def _reduction(row: Row) -> Parts:
    """A reduction along axes, which may be called `dim` or `axis`."""
    f, label = _SUMS[row.function], row.name

    def general(input: Any, dim: Any, keepdim: bool, dtype: Any = None, **other: Any) -> Any:
        dim, keepdim = other.pop("axis", dim), other.pop("keepdims", keepdim)
        for name in other:
            raise TypeError(f"{label.lower()}() got an unexpected keyword argument {name!r}")
        axes = axes_of(input, dim)
        wanted = input._value.dtype if dtype is None else dtype.numpy
        full = label + ("Backward0" if dim is None else "Backward1")
        return run(full, lambda a: f(to(a, wanted), axes, keepdim), input)

    names = {"general": general, "unary": unary, "axes_of": axes_of, "f": f, "label": label}
    return _REDUCTION, {**names, "whole": f"{label}Backward0", "along": f"{label}Backward1"}


def _truth(row: Row) -> Parts:
    def truth(input: Any, dim: Any, keepdim: bool) -> Any:
        return make(np.asarray(row.function(input._value, axis=axes_of(input, dim), keepdims=keepdim)))

    return "return truth({all})", {"truth": truth}


def _index(row: Row) -> Parts:
    def index(input: Any, dim: Any, keepdim: bool) -> Any:
        return make(np.asarray(row.function(input._value, axis=dim, keepdims=keepdim)))

    return "return index({all})", {"index": index}


def _running(row: Row) -> Parts:
    f, label = row.function, row.name

    def running(input: Any, dim: int, dtype: Any = None) -> Any:
        axis = check_dim(input, dim)
        wanted = dtype.numpy if dtype is not None else np.dtype(np.int64) if input._value.dtype.kind in "biu" else None
        return run(label, lambda a: f(a, axis, wanted), input)

    return "return running({all})", {"running": running}


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
        return view(label, lambda a: f(a, *settings), t, key=(t._value.shape, *settings))

    return "return part({all})", {"part": part}


def _elements(row: Row) -> Parts:
    """A function of each element of several operands, of which None are not given."""
    f, label, n = row.function, row.name, row.operands

    def elements(*given: Any, **more: Any) -> Any:
        settings = tuple(more.values())
        return elementwise(label, lambda *a: f(*a, *settings), *given[:n])

    return "return elements({all})", {"elements": elements}


_RESULTS: dict[str, type[Any]] = {}


def pair(kind: str, *values: Any, names: tuple[str, ...] = ("values", "indices")) -> Any:
    """What functions with several results return: a named tuple that prints as ``torch.return_types.<kind>``."""
    cls = _RESULTS.get(kind)
    if cls is None:
        cls = _RESULTS[kind] = _result_class(kind, names)
    return cls(*values)


def _result_class(kind: str, names: tuple[str, ...]) -> type[Any]:
    base = namedtuple(kind, names)  # type: ignore[misc]

    def text(self: Any) -> str:
        rows = ",\n".join(f"{n}={v!r}" for n, v in zip(names, self))
        return f"torch.return_types.{kind}(\n{rows})"

    return type(kind, (base,), {"__repr__": text, "__slots__": ()})


def _creation(row: Row) -> Parts:
    def make_new(*size: Any, dtype: Any = None, **options: Any) -> Any:
        return finished(row.function(shape_of(size, options), numpy_dtype(dtype)), **options)

    return "return make_new({all})", {"make_new": make_new}


def _likeness(row: Row) -> Parts:
    def like(input: Any, *number: Any, dtype: Any = None, **options: Any) -> Any:
        wanted = input._value.dtype if dtype is None else dtype.numpy
        return finished(row.function(input._value, *number, dtype=wanted, order="C"), **options)

    return "return like({all})", {"like": like}


_PARTS: dict[str, Callable[[Row], Parts]] = {
    **dict.fromkeys(("function", "plain", "root", "step", "still"), _function),
    "predicate": _predicate, "pair": _pair, "operator": _operator, "comparison": _comparison, "logical": _comparison,
    "activation": _activation, "along": _along, "reduction": _reduction, "truth": _truth, "index": _index,
    "running": _running, "arrays": _arrays, "view": _view, "elements": _elements,
    "creation": _creation, "likeness": _likeness,
}  # fmt: skip


def made(row: Row, name: str) -> Callable[..., Any]:
    """The function of a row."""
    body, names = _PARTS[row.kind](row)
    return function(name, row.signature("torch"), body, names, row.doc, MODULE)


def place(spaces: dict[str, dict[str, Any]], rows: list[Row]) -> None:
    """Make the functions of rows: into the names of modules, and as methods."""
    for row in rows:
        known: dict[str, Callable[..., Any]] = {}
        for full in row.names("torch"):
            module, _, name = full.rpartition(".")
            plain = name.rstrip("_") if not name.startswith("__") else name
            f = known.get(plain)
            if f is None:
                f = known[plain] = made(row, plain)
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
