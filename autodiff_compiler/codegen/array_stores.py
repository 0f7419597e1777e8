"""Statements that store into an array in place.

Takes a store. Gives the statements: an assignment to a subscript, an augmented one, or a call of ``np.add.at``.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(x):
...     x[1:] = x[1:] / 2.0
...     return np.sum(x * x)
>>> show_source(f, np.ones(3))
def f_grad(x):
    x2 = x.copy()
    x2[1:] = x[1:] / 2.0
    # adjoint of line 3: return np.sum(x * x)
    x_bar = 2.0 * x2
    # adjoint of line 2: x[1:] = x[1:] / 2.0
    x_bar[1:] /= 2.0
    return x_bar
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir import opset
from ..ir.core import LOOP, Builder, Op, Region, Value, type_of
from ..ir.opset import ACCUM, ADDAT, GET, SET
from ..ir.rewrite import enclosing
from ..ir.types import Ty, same_dtype
from .expressions import ATOM, UFUNCS, Printer, increment
from .layout import Store
from .nesting import C_ORDER, is_augmented, key_of_path
from .short_axes import FLOATS, is_index_array

if TYPE_CHECKING:
    from .emit import Emitter


def emit_array_store(e: Emitter, op: Op) -> None:
    """Print a store into an array."""
    p, base = e.printer, e.printer.show(op.args[0])
    if op.prim is ACCUM:
        sign, value = increment(p, op.args[1])
        e.store([base], value, sign)
        return
    path = op.args[1]
    cut = _copying_step(op)
    if cut is not None:
        _emit_reshaped_store(e, op, base, cut)
    elif op.prim is SET:
        view = _updated_view(p, op)
        if view is not None:
            inner = op.args[2].op
            e.store([p.show(view)], p.show(inner.args[1]), f"{inner.prim.name}=")
        elif _is_computed_there(p, op):
            e.line(_computed_there(p, op.args[2].op, p.place(base, path)))
        else:
            text = _stored(p, op)
            # ``x[...] += v`` stores the sum into itself once more.
            whole = text[0] != "=" and path == _WHOLE and base.isidentifier() and op.args[0].type.dims
            place = base if whole else p.place(base, path)
            if text[0] == "=" and text[2:].isidentifier():
                e.lines.append(Store(place, text[2:]))
            else:
                e.line(f"{place} {text}")
    else:
        e.line(_added(p, base, path, op.args[2], op))


_WHOLE = (("index", (Ellipsis,)),)


def _added(p: Printer, base: str, path: tuple[Any, ...], v: Any, op: Op) -> str:
    """The statement that adds to a part. ``+=`` would add only once where indices repeat."""
    if op.parent is not None and opset.picks_each_once(path, op.parent.dims):
        if len(path) > 1 and path[-1] == ("transpose", None) and path[-2][0] == "index":
            if _axes_at(op.args[0], path[:-1]) == type_of(v).ndim:  # ``a[i].T += v`` is no statement
                sign, text, level = p.signed("+", v, known=False)
                text = text if level == ATOM else f"({text})"
                return f"{p.place(base, path[:-1])} {sign}= {text[:-2] if text.endswith('.T') else f'{text}.T'}"
        return f"{p.place(base, path)} {' '.join(increment(p, v))}"
    head = p.place(base, path[:-1]) if len(path) > 1 else base
    if len(path) == 1 and _are_rows(path[0][1], type_of(op.args[0]), type_of(v)):
        p.helpers.add("add_at")
        return f"add_at({head}, {p.show(path[0][1][0])}, {p.show(v)})"
    if len(path) == 1 and _are_columns(path[0][1], op.args[0], v):
        p.helpers.add("add_at")
        return f"add_at({head}.T, {p.show(path[0][1][1])}, {p.show(v, ATOM)}.T)"
    return f"np.add.at({head}, {p.subscript(path[-1][1], nested=True)}, {p.show(v)})"


def _are_rows(items: tuple[Any, ...], base: Ty, v: Ty) -> bool:
    """An array of ints alone names the places, in an array of floats. NumPy is fast where a vector names numbers."""
    index = type_of(items[0]) if len(items) == 1 and is_index_array(items[0]) else None
    if index is None or index.ndim is None or base.ndim is None or base.duck is not None or v.duck is not None:
        return False
    if index.ndim == base.ndim == 1 and index.dtype == np.intp:
        return False
    floats = base.kind == v.kind == "array" and base.dtype in FLOATS
    return floats and same_dtype(base.dtype, v.dtype) and v.ndim == index.ndim + base.ndim - 1


def _are_columns(items: tuple[Any, ...], base: Any, v: Any) -> bool:
    """A vector of ints names columns of a matrix, which are rows of the transposed one."""
    both = type_of(base).ndim == type_of(v).ndim == 2 and len(items) == 2
    return (
        both
        and type(items[0]) is slice
        and items[0] == slice(None)
        and type_of(items[1]).ndim == 1
        and _are_rows(items[1:], type_of(base), type_of(v))
    )


def _axes_at(base: Any, path: tuple[Any, ...]) -> int | None:
    """How many axes the part of `base` at `path` has, if that is known."""
    builder, t = Builder(Region()), type_of(base)
    for step in path:
        t = opset.infer_step(builder, t, step)[0]
    return t.ndim


def _updated_view(p: Printer, op: Op) -> Value | None:
    """The view of the part that the store changes, where it has a name, and what is stored is computed from it."""
    base, path, v = op.args
    inner = v.op if type(v) is Value else None
    if inner is None or inner not in p.inlined or inner.prim.name not in ("+", "-", "*", "/") or len(inner.args) != 2:
        return None
    view = inner.args[0]
    if type(view) is not Value or view.op is None or view.op in p.inlined or view.op.prim is not GET:
        return None
    same_part = (
        view.op.parent is op.parent and view.op.args[0] is base and key_of_path(view.op.args[1]) == key_of_path(path)
    )
    same_type = view.type.kind == base.type.kind == "array" and same_dtype(inner.result.type.dtype, base.type.dtype)
    sliced = len(path) == 1 and path[0][0] == "index" and all(type(i) is slice or _is_int(i) for i in path[0][1])
    # A store drops axes of length one in front, an addition in place does not.
    same_axes = view.type.ndim == inner.result.type.ndim
    return view if same_part and same_type and sliced and view.type.dims and same_axes else None


def _is_computed_there(p: Printer, op: Op) -> bool:
    """What is stored into whole rows of a matrix is the result of a ufunc, which can write it there itself. NumPy sees
    to it if they are also read. It is so where nobody has written the store, and in adjoints beside loops: elsewhere,
    and for vectors, a new array costs little, and an assignment reads better."""
    base, path, v = op.args
    inner = v.op if type(v) is Value else None
    if op.parent is None or inner is None or inner not in p.inlined or inner.prim not in UFUNCS:
        return False
    in_loop = any(r.op is not None and r.op.prim is LOOP for r in enclosing(op.parent))
    if (op.loc is not None and (op.tag is None or in_loop)) or is_augmented(op, p.inlined):
        return False
    t = base.type
    if t.kind != "array" or t.duck is not None or t.dtype not in FLOATS or not t.dims or len(t.dims) < 2:
        return False
    if len(path) != 1 or path[0][0] != "index" or v.type.kind != "array":
        return False
    if any(type_of(x).kind == "array" and not same_dtype(type_of(x).dtype, t.dtype) for x in (v, *inner.args)):
        return False
    first, *others = path[0][1]
    if type(first) is not slice or first.step not in (None, 1) or any(item != slice(None) for item in others):
        return False
    have, want = v.type.dims, opset.infer_step(Builder(op.parent), t, path[0])[0].dims
    return bool(have and want and len(have) == len(want) and all(map(op.parent.dims.same, have, want)))


def _computed_there(p: Printer, op: Op, place: str) -> str:
    """The call of the ufunc. A sum with a negative number is a difference, as it is between brackets."""
    x, y = op.args
    name, shown = UFUNCS[op.prim], p.show(y)
    if name in ("add", "subtract"):
        sign, shown, _ = p.signed("+" if name == "add" else "-", y)
        name = "add" if sign == "+" else "subtract"
    return f"np.{name}({p.show(x)}, {shown}, out={place})"


def _is_int(i: Any) -> bool:
    dtype = i.type.dtype if type(i) is Value and i.type.is_scalar else None
    return type(i) is int or (dtype is not None and dtype.kind in "iu")


def _stored(p: Printer, op: Op) -> str:
    """``= v``, or ``-= u`` where v is the present part less u."""
    v = op.args[2]
    if is_augmented(op, p.inlined) and type(v) is Value and v.op is not None and v.op in p.inlined:
        return f"{v.op.prim.name}= {p.show(v.op.args[1])}"
    return f"= {p.show(v)}"


def _emit_reshaped_store(e: Emitter, op: Op, base: str, cut: int) -> None:
    """A store through a reshape that may be a copy, depending on the layout of the array."""
    p, rest, part, back = e.printer, op.args[1], base, []
    following: int | None = cut
    while following is not None:
        whole = p.part(part, rest[:following])
        step, rest = rest[following : following + 1], rest[following + 1 :]
        part = "part" if part == base else part + "_"
        while e.naming.is_taken(part):
            part += "_"
        e.store([part], p.part(whole, step))
        back.append(f"put_back({whole}, {part})")
        following = next((k for k, step in enumerate(rest) if step[0] == "reshape"), None)
    rest = rest or (("index", (Ellipsis,)),)
    e.line(f"{p.place(part, rest)} = {p.show(op.args[2])}" if op.prim is SET else _added(p, part, rest, op.args[2], op))
    p.helpers.add("put_back")
    for line in back[::-1]:
        e.line(line)


def _copying_step(op: Op) -> int | None:
    """The first step of the path that reshapes what may be laid out so that this makes a copy."""
    base, path = op.args[:2]
    if all(step[0] != "reshape" for step in path):
        return None
    builder = Builder(Region())
    t = type_of(base)
    while base.op is not None and base.op.prim in (SET, ADDAT, ACCUM):
        base = base.op.args[0]
    in_order = base.op is not None and (base.op.prim is opset.COPY or _makes_c_order(base.op))
    for k, step in enumerate(path):
        if step[0] == "reshape" and not in_order and (t.ndim is None or t.ndim > 1):
            return k
        t = opset.infer_step(builder, t, step)[0]
        leading = step[0] == "index" and all(
            isinstance(i, int) or (type(i) is Value and i.type.is_scalar) for i in step[1]
        )
        in_order = in_order and (leading or step[0] == "reshape")
    return None


def _makes_c_order(op: Op) -> bool:
    """Not with ``order="F"``, and not ``linspace`` with an axis."""
    others = [x for x in (*op.args, *op.kwargs.values()) if isinstance(x, str) and x != "C"]
    return op.prim.name in C_ORDER and not others and "axis" not in op.kwargs


__all__ = ["emit_array_store"]
