"""Facts about cotangents and arguments that the reverse transform asks for.

Takes a value, an operation or a cotangent. Gives the type that a cotangent is sure to have, the names of an operation's
arguments, or the answer to a question about its form.

>>> from autodiff_compiler.ir.core import Builder, Region
>>> from autodiff_compiler.ir.types import array
>>> b = Builder(Region())
>>> x = b.region.param(array(float, (b.dims.fresh(),)), "x")
>>> print(x.type, cotangent_type(x), cotangent_type(1.0), sep='; ')
float64[d1]; float64[d1]; scalar float64
>>> y = b.emit(ADD, x, 2.0)
>>> [name for name, _ in named_arguments(y.op)], last_addend(b.emit(ADD, x, y)) is y
(['x1', 'x2'], True)
"""

from __future__ import annotations

from typing import Any

from ..ir.core import Op, Value, type_of
from ..ir.opset import ACCUM, ADD, SUB
from ..ir.telling import with_suffix
from ..ir.types import Ty, cotangent_list, same_dtype


def cotangent_type(v: Any) -> Ty:
    """The facts that hold of any cotangent of `v`: its shape; its dtype where that is certain."""
    t = type_of(v)
    if t.is_scalar:
        return Ty("scalar", t.dtype if t.is_float else None, (), real=t.is_real and not t.is_float)
    if t.kind == "list":
        return cotangent_list(t)
    # NumPy makes numbers of arrays without axes, so the cotangent of one may be a number.
    kind = "any" if t.kind == "array" and t.dims == () and t.duck is None else t.kind
    return Ty(kind, t.dtype if t.is_float else None, t.dims, duck=t.duck)


def in_either_dtype(v: Any, other: Any) -> Ty:
    """The facts that hold of any cotangent of `v` and of any cotangent of `other`.

    A loop of the backward sweep carries one cotangent for two values. It starts with that of the forward loop's result.
    From then on, it is that of a value that an iteration yields.
    """
    t, as_other = cotangent_type(v), cotangent_type(other)
    if t.kind == "list":
        return t if t.elem == as_other.elem or t.elem is None else Ty("list", elem=Ty(t.elem.kind, None, t.elem.dims))
    return t if same_dtype(t.dtype, as_other.dtype) or t.dtype is None else Ty(t.kind, None, t.dims, duck=t.duck)


def join_cotangents(v: Value, bars: list[Any]) -> Ty:
    """The type of the cotangent of `v` where two branches meet that yield these."""
    types = [type_of(g) for g in bars]
    if types[0] == types[1]:
        return types[0]
    return cotangent_type(v)


def named_arguments(op: Op) -> list[tuple[str, Any]]:
    """The operation's arguments with the names of the parameters that they bind."""
    params, args = op.prim.params, op.args
    out: list[tuple[str, Any]] = list(zip(params, args))
    for position, (name, _) in enumerate(out):
        if name[0] == "*":
            out[position:] = [(name, args[position:])]
            break
    else:
        out += [(f"argument {k + 1}", args[k]) for k in range(len(params), len(args))]
    return out + list(op.kwargs.items()) if op.kwargs else out


def fits(arg: Any, g: Any) -> bool:
    """There is a cotangent for each item of a container."""
    if g is None or not isinstance(arg, (tuple, list)):
        return True
    return isinstance(g, (tuple, list)) and len(g) == len(arg) and all(map(fits, arg, g))


def holds_records(value: Any) -> bool:
    """An array of records, or one of them."""
    return type(value) is Value and value.type.dtype is not None and value.type.dtype.names is not None


def computed_of(v: Any, g: Any, depth: int = 6) -> bool:
    """`v` is an elementwise function of `g`, among others: it has all axes of `g`."""
    if v is g:
        return True
    op = v.op if type(v) is Value else None
    if op is None or not depth or not op.prim.elementwise:
        return False
    return any(computed_of(a, g, depth - 1) for a in op.args)


def adds_axes(path: tuple[Any, ...]) -> bool:
    """Subscripts that select nothing: all that a number takes."""
    return len(path) == 1 and path[0][0] == "index" and all(item is None or item is Ellipsis for item in path[0][1])


def hint_of(v: Any) -> str:
    return v.hint if type(v) is Value else ""


def bar_of(v: Any) -> str:
    """The hint for the name of the cotangent of `v`."""
    return with_suffix(v, "_bar")


def last_addend(known: Any) -> Any:
    """What was added to a cotangent last."""
    return known.op.args[1] if type(known) is Value and known.op is not None and known.op.prim in (ACCUM, ADD) else None


def minuend(known: Any) -> Any:
    """The first contribution to a cotangent, if another one is subtracted from it."""
    return known.op.args[0] if type(known) is Value and known.op is not None and known.op.prim is SUB else None


__all__ = [
    "adds_axes",
    "bar_of",
    "computed_of",
    "cotangent_type",
    "fits",
    "hint_of",
    "holds_records",
    "in_either_dtype",
    "join_cotangents",
    "last_addend",
    "minuend",
    "named_arguments",
]
