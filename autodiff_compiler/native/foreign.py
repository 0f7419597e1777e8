"""Calls of NumPy from a program of loops, for operations that have no loops of their own.

The call is printed as the code generator prints it. It takes and gives numbers and whole buffers.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from ..codegen.expressions import Printer
from ..ir import opset
from ..ir.core import Op, Value, leaves, type_of
from . import lists
from .lowering import Lowering
from .nest import BOOL, INDEX, Call, Const, Expr, Foreign, Length, Name, Piece, Set
from .numbers import LOADED, NotNative, Number
from .views import ONE, ZERO, whole

_NOT_CALLED = {opset.CHECKPOINT, opset.SNAPSHOT_FILE, opset.SNAPSHOT}


_KINDS = {"py": "py", "generic": "np"}


class _Names:
    """The operands of a call, and their names in its text."""

    def __init__(self) -> None:
        self.args: list[Expr | str] = []
        self.texts: dict[Value, str] = {}

    def new(self, arg: Expr | str) -> str:
        if arg not in self.args:
            self.args.append(arg)
        return f"x{self.args.index(arg)}"

    def of(self, v: Value) -> str:
        return self.texts[v]

    def is_taken(self, name: str) -> bool:
        return False

    def same(self, a: Value, b: Any) -> bool:
        return False


class _Printer(Printer):
    """Prints calls."""

    def __init__(self, names: _Names):
        super().__init__(names, {})  # type: ignore[arg-type]

    def bind(self, x: Any) -> str:
        """Machine code on disk is found by its text. So the name of an object says what it is."""
        if type(x) is not np.ndarray or x.dtype.hasobject:
            raise NotNative(f"a call with {getattr(x, '__name__', type(x).__name__)}")
        found = hashlib.sha256(f"{x.dtype.descr} {x.shape} {x.strides}".encode() + x.tobytes()).hexdigest()
        name = f"native_ndarray_{found[:16]}"
        self.objects[name] = x
        return name


def call(self: Lowering, op: Op) -> None:
    """The operation is a call of NumPy. Raises NotNative if its operands or results are no numbers or arrays."""
    prim = op.prim
    if op.regions or prim.effects or prim.foreign or prim in opset.STORES or prim in _NOT_CALLED or not op.results:
        raise NotNative(f"{prim.name} has no native form", op)
    names = _Names()
    for v in leaves((op.args, op.kwargs)):
        if v not in names.texts:
            names.texts[v] = _operand(self, op, v, names)
    printer = _Printer(names)
    text = printer.expression(op)[0]
    results: list[tuple[str, Any, int | None]] = []
    made: dict[Value, str] = {}  # lists
    for r in op.results:
        t = r.type
        if _is_of_ints(t):
            name = self.fresh(r.hint)
            results.append((name, INDEX, 1))
            made[r] = name
            continue
        if t.dtype is None or t.dims is None or t.dtype not in LOADED or (not t.is_scalar and not t.dims):
            raise NotNative(f"{prim.name} gives {t}, and has no native form", op)
        name = self.fresh(r.hint)
        results.append((name, t.dtype, len(t.dims) if t.dims else None))
        if t.dims:
            self.values[r] = whole(name, t.dtype, [ONE if d == 1 else Length(name, k) for k, d in enumerate(t.dims)])
        else:
            self.values[r] = Number(Name(name, t.dtype), t.dtype, _KINDS.get(t.kind, "?"), 64)
    if made:
        if len(made) < len(results):
            raise NotNative(f"{prim.name} gives a list, and has no native form", op)
        text = f"[np.array(l, np.int64) for l in {text}]" if len(made) > 1 else f"np.array({text}, np.int64)"
    self.flush()
    done = self.fresh("done")
    self.emit(Foreign(tuple(results), done, text, tuple(names.args), prim.alias != "fresh"))
    self.bail(Call("not", (Name(done, BOOL),), BOOL))
    for r, name in made.items():
        length = self.fresh(f"{name}_len")
        self.emit(Set(length, Length(name, 0)))
        self.values[r] = lists.Items(name, Name(length, INDEX), INDEX, "py")
    self.foreign.append(printer)


def _is_of_ints(t: Any) -> bool:
    """A type is that of lists of Python's ints, which are lengths and positions."""
    elem = t.elem if t.kind == "list" else None
    return elem is not None and elem.kind == "py" and elem.dtype == INDEX


def _operand(self: Lowering, op: Op, v: Value, names: _Names) -> str:
    """The text of an operand."""
    if self.is_array(v):
        view = self.view(v)
        turned = len(view.shape) == 2 and not view.is_dense and view.transposed(None).is_dense
        name = self.buffer_of(view.transposed(None)) if turned else self.dense(v)
        return names.new(name) + (".T" if turned else "")
    found = self.values.get(v)
    if isinstance(found, tuple):
        return f"({', '.join([_text(self.named(n, 'n'), names) for n in found])},)"
    if isinstance(found, lists.Items) and _is_of_ints(type_of(v)) and found.kind == "py":
        part = self.fresh(found.buffer)
        self.emit(Piece(part, found.buffer, ZERO, found.length))
        return f"{names.new(part)}.tolist()"
    number = self.number(v)
    if number.kind == "?" and type_of(v).kind not in ("py", "generic"):
        number = Number(number.expr, number.dtype, "np")
    e = self.named(number.expr, "t")
    if isinstance(e, (Const, Length)):
        return _text(e, names)
    kind = number.kind if number.kind != "?" else "np" if type_of(v).kind == "generic" else "py"
    return f"np.{_scalar(number.dtype)}({names.new(e)})" if kind == "np" else names.new(e)


def _text(e: Expr, names: _Names) -> str:
    """A number as Python."""
    return repr(e.value) if isinstance(e, Const) else names.new(e)


def _scalar(dtype: np.dtype[Any]) -> str:
    return "bool_" if dtype.kind == "b" else dtype.name


__all__ = ["call"]
