"""A statement of the user's on one line, for the comments of emitted code.

Takes a syntax tree. Gives text.

>>> on_one_line(ast.parse("z = np.concatenate([\\n    x[1:, None],\\n    y])").body[0])
'z = np.concatenate([x[1:, None], y])'

``astunparse`` prints syntax trees. Version 1.6.3 has three flaws: it prints ``x[1:, None]`` as ``x[(1:, None)]``, a
syntax error; it puts parentheses around every operation; it does not know ``match``. The subclass mends them. The first
statement over several lines imports the library, so a start does not pay for it.
"""

from __future__ import annotations

import ast
import copy
import functools
import io
from typing import Any

# How tightly an expression binds, from loose to tight: the order of the language reference, section 6.17.
OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT, UNARY, POWER, ATOM = range(1, 14)
_BINARY: dict[type[ast.operator], int] = {
    ast.Add: SUM, ast.Sub: SUM, ast.Mult: PRODUCT, ast.Div: PRODUCT, ast.FloorDiv: PRODUCT, ast.Mod: PRODUCT,
    ast.MatMult: PRODUCT, ast.Pow: POWER, ast.LShift: SHIFT, ast.RShift: SHIFT, ast.BitAnd: BIT_AND,
    ast.BitOr: BIT_OR, ast.BitXor: BIT_XOR,
}  # fmt: skip

_STARS = {"TypeVar": "", "TypeVarTuple": "*", "ParamSpec": "**"}


@functools.lru_cache(maxsize=256)  # each operation of a statement asks
def on_one_line(node: ast.AST) -> str:
    """The text of a simple statement or an expression; of a compound statement the line before its body.

    >>> on_one_line(ast.parse("y = (a +\\n     b[1:, None]) * -x ** 2").body[0])
    'y = (a + b[1:, None]) * -x ** 2'
    >>> on_one_line(ast.parse("for i in range(\\n        n):\\n    s += i").body[0])
    'for i in range(n):'
    """
    if isinstance(getattr(node, "body", None), list):
        node = copy.copy(node)
        node.body = [ast.Pass()]  # type: ignore[attr-defined]
        for field in ("orelse", "finalbody", "handlers", "decorator_list"):
            if hasattr(node, field):
                setattr(node, field, [])
    out = io.StringIO()
    _printer()(node, out)
    lines = out.getvalue().strip().split("\n")
    return lines[0] if lines[-1].strip() == "pass" else " ".join(map(str.strip, lines))


def shortened(text: str, width: int) -> str:
    """The text, without a piece in its middle where it is longer than `width`.

    >>> shortened("z = np.concatenate([first, second, third], axis=1)", 36)
    'z = np.concatenate([fi ... , axis=1)'
    """
    if len(text) <= width:
        return text
    tail = width // 4
    return f"{text[: width - tail - 5].rstrip()} ... {text[-tail:].lstrip()}"


def _level(node: ast.AST) -> int:
    if isinstance(node, ast.BinOp):
        return _BINARY[type(node.op)]
    if isinstance(node, ast.UnaryOp):
        return NOT if isinstance(node.op, ast.Not) else UNARY
    if isinstance(node, ast.BoolOp):
        return AND if isinstance(node.op, ast.And) else OR
    return COMPARE if isinstance(node, ast.Compare) else ATOM


@functools.cache
def _printer() -> Any:
    """The class. Expressions that bind more loosely than `or` get parentheses from the library itself."""
    from astunparse.unparser import Unparser

    class Printer(Unparser):  # type: ignore[misc]
        f: Any  # the stream that is written to

        def within(self, node: ast.AST, least: int) -> None:
            """An operand, in parentheses if it binds less tightly than its place asks for."""
            loose = _level(node) < least
            self.write("(" if loose else "")
            self.dispatch(node)
            self.write(")" if loose else "")

        def listed(self, nodes: list[Any], between: str = ", ") -> None:
            for k, node in enumerate(nodes):
                self.write(between if k else "")
                self.dispatch(node)

        def _BinOp(self, t: ast.BinOp) -> None:
            level, right = _level(t), isinstance(t.op, ast.Pow)
            self.within(t.left, level + right)
            self.write(f" {self.binop[type(t.op).__name__]} ")
            self.within(t.right, UNARY if right else level + 1)

        def _UnaryOp(self, t: ast.UnaryOp) -> None:
            self.write(self.unop[type(t.op).__name__] + " " * isinstance(t.op, ast.Not))
            self.within(t.operand, _level(t))

        def _BoolOp(self, t: ast.BoolOp) -> None:
            for k, value in enumerate(t.values):
                self.write((" and " if isinstance(t.op, ast.And) else " or ") if k else "")
                self.within(value, _level(t) + 1)

        def _Compare(self, t: ast.Compare) -> None:
            self.within(t.left, COMPARE + 1)
            for op, right in zip(t.ops, t.comparators):
                self.write(f" {self.cmpops[type(op).__name__]} ")
                self.within(right, COMPARE + 1)

        def _Attribute(self, t: ast.Attribute) -> None:
            self.within(t.value, ATOM)
            number = isinstance(t.value, ast.Constant) and type(t.value.value) is int
            self.write(f"{' ' * number}.{t.attr}")

        def _Subscript(self, t: ast.Subscript) -> None:
            self.within(t.value, ATOM)
            self.write("[")
            index = t.slice
            parts = index.elts if isinstance(index, ast.Tuple) else []
            if parts and not any(isinstance(x, ast.Starred) for x in parts):
                self.listed(parts)
                self.write("," if len(parts) == 1 else "")
            else:
                self.dispatch(index)
            self.write("]")

        def _Call(self, t: ast.Call) -> None:
            self.within(t.func, ATOM)
            self.write("(")
            self.listed([*t.args, *t.keywords])
            self.write(")")

        def _Tuple(self, t: ast.Tuple) -> None:
            self.write("(")
            self.listed(t.elts)
            self.write(",)" if len(t.elts) == 1 else ")")

        def _JoinedStr(self, t: ast.JoinedStr) -> None:
            whole, self.f = self.f, io.StringIO()
            super()._JoinedStr(t)
            text, self.f = self.f.getvalue(), whole
            self.write(text.replace("\n", "\\n"))

        def _TypeAlias(self, t: Any) -> None:
            self.fill("type ")
            self.dispatch(t.name)
            if t.type_params:
                self.write("[")
                self.listed(t.type_params)
                self.write("]")
            self.write(" = ")
            self.dispatch(t.value)

        def _TypeVar(self, t: Any) -> None:
            self.write(_STARS[type(t).__name__] + t.name)
            for mark, part in ((": ", getattr(t, "bound", None)), (" = ", getattr(t, "default_value", None))):
                if part is not None:
                    self.write(mark)
                    self.dispatch(part)

        _TypeVarTuple = _ParamSpec = _TypeVar

        # --- match --------------------------------------------------------------------------------------------

        def _Match(self, t: ast.Match) -> None:
            self.fill("match ")
            self.dispatch(t.subject)
            self.write(":")

        def _MatchValue(self, t: ast.MatchValue) -> None:
            self.dispatch(t.value)

        def _MatchSingleton(self, t: ast.MatchSingleton) -> None:
            self.write(repr(t.value))

        def _MatchSequence(self, t: ast.MatchSequence) -> None:
            self.write("[")
            self.listed(t.patterns)
            self.write("]")

        def _MatchStar(self, t: ast.MatchStar) -> None:
            self.write("*" + (t.name or "_"))

        def _MatchMapping(self, t: ast.MatchMapping) -> None:
            self.write("{")
            for k, (key, pattern) in enumerate(zip(t.keys, t.patterns)):
                self.write(", " if k else "")
                self.dispatch(key)
                self.write(": ")
                self.dispatch(pattern)
            self.write(f"{', ' if t.keys else ''}**{t.rest}" if t.rest else "")
            self.write("}")

        def _MatchClass(self, t: ast.MatchClass) -> None:
            self.dispatch(t.cls)
            self.write("(")
            self.listed(t.patterns)
            for k, (name, pattern) in enumerate(zip(t.kwd_attrs, t.kwd_patterns)):
                self.write(f"{', ' if k or t.patterns else ''}{name}=")
                self.dispatch(pattern)
            self.write(")")

        def _MatchAs(self, t: ast.MatchAs) -> None:
            if t.pattern is None:
                self.write(t.name or "_")
            else:
                self.write("(")
                self.dispatch(t.pattern)
                self.write(f" as {t.name})")

        def _MatchOr(self, t: ast.MatchOr) -> None:
            self.write("(")
            self.listed(t.patterns, " | ")
            self.write(")")

    return Printer
