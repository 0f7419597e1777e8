"""Calls of NumPy from a program of loops, for operations that have no loops of their own.

The call is printed as the code generator prints it. It takes and gives numbers and whole buffers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..codegen.expressions import Printer
from ..ir import opset
from ..ir.core import Op, Value, leaves, type_of
from ..ir.spelling import identifier
from .lowering import Lowering
from .nest import Const, Expr, Foreign, Length, Name
from .numbers import LOADED, NotNative, Number
from .views import ONE, whole

_NOT_CALLED = {opset.CHECKPOINT, opset.SNAPSHOTS, opset.REVERSAL, opset.SNAPSHOT_FILE, opset.SNAPSHOT}


_KINDS = {"py": "py", "generic": "np"}


class _Names:
    """The names of operands in the text of a call."""

    def __init__(self) -> None:
        self.texts: dict[Value, str] = {}

    def of(self, v: Value) -> str:
        return self.texts[v]

    def is_taken(self, name: str) -> bool:
        return False

    def same(self, a: Value, b: Any) -> bool:
        return False


class _Printer(Printer):
    """Prints calls. What it binds in the module has names of its own: the NumPy code binds things there, too.

    known: what the calls of the program have bound so far
    """

    def __init__(self, names: _Names, known: dict[str, Any]):
        super().__init__(names, {})  # type: ignore[arg-type]
        self.known = known

    def bind(self, x: Any) -> str:
        stem = f"native_{identifier(getattr(x, '__name__', type(x).__name__), 'constant')}"
        name, n = stem, 1
        while self.known.setdefault(name, x) is not x:
            n += 1
            name = f"{stem}_{n}"
        self.objects[name] = x
        return name


def call(self: Lowering, op: Op) -> None:
    """The operation is a call of NumPy. Raises NotNative if its operands or results are no numbers or arrays."""
    prim = op.prim
    if op.regions or prim.effects or prim.foreign or prim in opset.STORES or prim in _NOT_CALLED or not op.results:
        raise NotNative(f"{prim.name} has no native form", op)
    names, reads = _Names(), []
    for v in leaves((op.args, op.kwargs)):
        text, name = _operand(self, op, v)
        names.texts[v] = text
        reads += [] if name is None else [name]
    printer = _Printer(names, self.bound)
    text = printer.expression(op)[0]
    self.keep({*printer.helpers, *printer.objects, *(name for group in printer.imports.values() for name in group)})
    results: list[tuple[str, Any, int | None]] = []
    shown = []
    for r in op.results:
        t = r.type
        if t.dtype is None or t.dims is None or t.dtype not in LOADED or (not t.is_scalar and not t.dims):
            raise NotNative(f"{prim.name} gives {t}, and has no native form", op)
        name = self.fresh(r.hint)
        results.append((name, t.dtype, len(t.dims) if t.dims else None))
        if t.dims:
            self.values[r] = whole(name, t.dtype, [ONE if d == 1 else Length(name, k) for k, d in enumerate(t.dims)])
        else:
            self.values[r] = Number(Name(name, t.dtype), t.dtype, _KINDS.get(t.kind, "?"), 64)
        shown.append(name)
    self.flush()
    self.emit(Foreign(tuple(results), text, tuple(dict.fromkeys(reads)), prim.alias != "fresh"))
    self.foreign.append(printer)


def _operand(self: Lowering, op: Op, v: Value) -> tuple[str, str | None]:
    """The text of an operand, and the name that it reads."""
    if self.is_array(v):
        view = self.view(v)
        turned = len(view.shape) == 2 and not view.is_dense and view.transposed(None).is_dense
        name = self.buffer_of(view.transposed(None)) if turned else self.dense(v)
        return name + (".T" if turned else ""), name
    found = self.values.get(v)
    if isinstance(found, tuple):
        return f"({', '.join([_text(self.named(n, 'n')) for n in found])},)", None
    number = self.number(v)
    if number.kind == "?" and type_of(v).kind not in ("py", "generic"):
        number = Number(number.expr, number.dtype, "np")
    e = self.named(number.expr, "t")
    if not isinstance(e, Name):
        return _text(e), e.array if isinstance(e, Length) else None
    kind = number.kind if number.kind != "?" else "np" if type_of(v).kind == "generic" else "py"
    return (f"np.{_scalar(number.dtype)}({e.name})" if kind == "np" else e.name), e.name


def _text(e: Expr) -> str:
    """A name, a constant or a length as Python."""
    if isinstance(e, Length):
        return f"{e.array}.shape[{e.axis}]"
    assert isinstance(e, (Name, Const))
    return e.name if isinstance(e, Name) else repr(e.value)


def _scalar(dtype: np.dtype[Any]) -> str:
    return "bool_" if dtype.kind == "b" else dtype.name


__all__ = ["call"]
