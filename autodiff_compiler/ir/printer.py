"""The IR as text: one line per operation, nested regions indented, the same bytes for the same program."""

from __future__ import annotations

from typing import Any

import numpy as np

from .core import FUNC, IF, LOOP, TRY, UNDEF, Exit, Function, Op, Region, Value


def print_function(fn: Function) -> str:
    """The function as text, e.g. ``%y: float64[d1] = np.exp %x   # line 3``."""
    printer = _Printer()
    params = ", ".join(printer.define(p) for p in fn.body.params)
    lines = [f"func {fn.name}({params}) {{"]
    printer.region(fn.body, 1, lines)
    lines.append(f"  return {', '.join(map(printer.show, fn.body.exit))}".rstrip())
    lines.append("}")
    return "\n".join(lines) + "\n"


def print_op(op: Op) -> str:
    """One operation as text, for messages."""
    lines: list[str] = []
    _Printer().op(op, 0, lines)
    return "\n".join(lines)


class _Printer:
    def __init__(self) -> None:
        self.names: dict[Value, str] = {}
        self.taken: set[str] = set()
        self.last: dict[str, int] = {}

    def name(self, value: Value) -> str:
        """The value's name: its hint, with a number where the hint is taken."""
        known = self.names.get(value)
        if known is None:
            stem = value.hint or "v"
            number = self.last.get(stem, 1)
            known = stem if value.hint else f"v{number}"
            while known in self.taken:
                number += 1
                known = f"{stem}{number}"
            self.last[stem] = number
            self.taken.add(known)
            self.names[value] = known
        return "%" + known

    def define(self, value: Value) -> str:
        return f"{self.name(value)}: {value.type}"

    def show(self, arg: Any) -> str:
        """An operand: values by name, structures written out, other objects by their own names."""
        if type(arg) is Value:
            return self.name(arg)
        if isinstance(arg, tuple) and type(arg) is tuple:
            inner = ", ".join(map(self.show, arg))
            return f"({inner},)" if len(arg) == 1 else f"({inner})"
        if isinstance(arg, list):
            return f"[{', '.join(map(self.show, arg))}]"
        if isinstance(arg, dict):
            return "{" + ", ".join(f"{k!r}: {self.show(v)}" for k, v in arg.items()) + "}"
        if isinstance(arg, slice):
            start, stop = ("" if e is None else self.show(e) for e in (arg.start, arg.stop))
            return f"{start}:{stop}" + ("" if arg.step is None else ":" + self.show(arg.step))
        if arg is Ellipsis:
            return "..."
        if arg is UNDEF:
            return "undef"
        if isinstance(arg, np.ndarray):
            if arg.size <= 8:
                return f"array({arg.tolist()}, {arg.dtype})"
            return f"array<{arg.dtype}{list(arg.shape)}>"
        if isinstance(arg, np.dtype):
            return f"dtype({arg})"
        if arg is None or isinstance(arg, (bool, int, float, complex, str, bytes, np.generic)):
            return repr(arg)
        named = getattr(arg, "__qualname__", None) or getattr(arg, "__name__", None)
        return f"<{named or type(arg).__qualname__}>"

    def region(self, region: Region, depth: int, lines: list[str]) -> None:
        for op in region.ops:
            self.op(op, depth, lines)

    def op(self, op: Op, depth: int, lines: list[str]) -> None:
        pad = "  " * depth
        note = "" if op.loc is None else f"   # line {op.loc.line}"
        if op.prim is IF:
            head = f"if {self.show(op.condition)} {{"
        elif op.prim is LOOP:
            body = op.regions[0]
            carried = ", ".join(f"{self.define(p)} = {self.show(i)}" for p, i in zip(body.params[1:], op.inits))
            over = "forever" if op.range is None else f"range({', '.join(map(self.show, op.range))})"
            head = f"loop {self.define(body.params[0])} in {over} with ({carried}) {{"
        elif op.prim is TRY:
            context = "" if op.context is None else f" with {self.show(op.context)}"
            head = f"try {self.show(op.catch)}{context} {{"
        elif op.prim is FUNC:
            head = f"func({', '.join(map(self.define, op.regions[0].params))}) {{"
        else:
            operands = [self.show(a) for a in op.args] + [f"{k}={self.show(v)}" for k, v in op.kwargs.items()]
            head = f"{op.prim.name} {', '.join(operands)}".rstrip()
        # Operands get their names before results, as a reader meets them in that order.
        results = ", ".join(map(self.define, op.results))
        lines.append(f"{pad}{results + ' = ' if results else ''}{head}{note}")
        if op.prim in (IF, LOOP, TRY, FUNC):
            for number, region in enumerate(op.regions):
                if number:
                    lines.append(f"{pad}}} else {{")
                self.region(region, depth + 1, lines)
                shown = list(map(self.show, region.exit))
                if op.prim is LOOP and type(region.exit[0]) is int:
                    shown[0] = Exit(region.exit[0]).name.lower()
                lines.append(f"{pad}  yield {', '.join(shown)}".rstrip())
            lines.append(f"{pad}}}")
        else:
            for region in op.regions:
                lines.append(f"{pad}{{")
                self.region(region, depth + 1, lines)
                lines.append(f"{pad}}}")
