"""Statements that are too long for a line, on several lines.

Takes a statement, or the head of a compound one. Gives its lines, in the layout of black and of ruff's formatter: an
expression is broken within its last brackets, or it gets parentheses and is broken in front of the operators that bind
the loosest. Emitted code has few such statements, so only these are parsed.

>>> for line in wrapped("total = first(alpha, beta) * weight + second(gamma, delta) * weight", 4, 48):
...     print(line)
    total = (
        first(alpha, beta) * weight
        + second(gamma, delta) * weight
    )
>>> for line in wrapped("total = np.where(first > second, first, second)", 4, 48):
...     print(line)
    total = np.where(
        first > second, first, second
    )
"""

from __future__ import annotations

import ast
from typing import Any

from ..records import record

WIDTH = 100
LEAST = 40  # columns: deeper inside, lines are left as they are
LONGEST = 4000  # characters, as many as a list of a thousand numbers has: longer statements are left as they are

# What a text is made of: pieces of text, and these. SOFT is a line break or nothing, SPACE a line break or a space, and
# COMMA is there if the line breaks around it are.
SOFT, SPACE, COMMA = object(), object(), object()


@record
class Group:
    """Parts that stand on one line if they fit; if not, their own line breaks are breaks."""

    parts: list[Any]


@record
class Indent:
    """Parts whose lines are indented."""

    parts: list[Any]


# How loosely operators bind. Attributes of calls count, too.
_ATTRIBUTE, _POWER, _PRODUCT, _SUM, _SHIFT, _AND, _XOR, _OR, _COMPARE, _BOOL, _CONDITION, _COMMA = range(1, 13)
_OPERATORS: dict[type, tuple[str, int]] = {
    ast.Pow: ("**", _POWER), ast.Mult: ("*", _PRODUCT), ast.Div: ("/", _PRODUCT), ast.FloorDiv: ("//", _PRODUCT),
    ast.Mod: ("%", _PRODUCT), ast.MatMult: ("@", _PRODUCT), ast.Add: ("+", _SUM), ast.Sub: ("-", _SUM),
    ast.LShift: ("<<", _SHIFT), ast.RShift: (">>", _SHIFT), ast.BitAnd: ("&", _AND), ast.BitXor: ("^", _XOR),
    ast.BitOr: ("|", _OR), ast.Lt: ("<", _COMPARE), ast.LtE: ("<=", _COMPARE), ast.Gt: (">", _COMPARE),
    ast.GtE: (">=", _COMPARE), ast.Eq: ("==", _COMPARE), ast.NotEq: ("!=", _COMPARE), ast.Is: ("is", _COMPARE),
    ast.IsNot: ("is not", _COMPARE), ast.In: ("in", _COMPARE), ast.NotIn: ("not in", _COMPARE),
    ast.And: ("and", _BOOL), ast.Or: ("or", _BOOL),
}  # fmt: skip
_HEADS = ("if ", "elif ", "while ", "for ", "def ", "with ")


def wrapped(text: str, indent: int, width: int = WIDTH) -> list[str]:
    """The lines of a statement, or of the head of a compound one, each with its indentation."""
    line = " " * indent + text
    head = text.endswith(":")
    if len(line) <= width or width - indent < LEAST or len(text) > LONGEST or (head and not text.startswith(_HEADS)):
        return [line]
    whole = f"{text} pass" if head else text
    cut = 2 if whole.startswith("elif ") else 0  # parsed as an ``if``
    (statement,) = ast.parse(whole[cut:]).body
    parts = _Layout(whole[cut:].encode()).statement(statement, text[:cut], width - indent)
    if parts is None:
        return [line]
    lines = printed(parts, indent, width)
    text = "\n".join([part[indent:] for part in lines])[cut:]
    # A layout that changed what a statement means would be a wrong number.
    again = ast.parse(f"{text} pass" if head else text)
    return lines if ast.dump(again) == ast.dump(ast.Module([statement], [])) else [line]


# --- from parts to lines ----------------------------------------------------------------------------------------------


def printed(parts: list[Any], indent: int, width: int) -> list[str]:
    """The lines of these parts. A group stands on one line if it fits, with what follows up to the next break."""
    out, at = [" " * indent], indent
    todo: list[tuple[int, bool, Any]] = [(indent, True, part) for part in reversed(parts)]
    while todo:
        margin, broken, part = todo.pop()
        if type(part) is str:
            out.append(part)
            at += len(part)
        elif type(part) is Group:
            broken = broken and not _fits(part, todo, width - at)
            todo += [(margin, broken, p) for p in reversed(part.parts)]
        elif type(part) is Indent:
            todo += [(margin + 4, broken, p) for p in reversed(part.parts)]
        elif part is COMMA:
            out.append("," if broken else "")
        elif broken:
            out.append("\n" + " " * margin)
            at = margin
        elif part is SPACE:
            out.append(" ")
            at += 1
    return "".join(out).split("\n")


def _fits(group: Group, rest: list[tuple[int, bool, Any]], room: int) -> bool:
    todo = [(False, part) for part in reversed(group.parts)]
    following = len(rest)
    while room >= 0:
        if not todo:
            if not following:
                return True
            following -= 1
            todo.append(rest[following][1:])
        broken, part = todo.pop()
        if type(part) is str:
            room -= len(part)
        elif type(part) in (Group, Indent):
            todo += [(broken, p) for p in reversed(part.parts)]
        elif part is COMMA:
            room -= broken
        elif broken:
            return True
        elif part is SPACE:
            room -= 1
    return False


def _widest(parts: list[Any], first: int) -> int:
    """The length of the longest line if each group is broken. `first`: the column at which the first line begins."""
    widest, at, margin = 0, first, 0
    todo: list[Any] = list(reversed(parts))
    while todo:
        part = todo.pop()
        if type(part) is str:
            at += len(part)
        elif type(part) is Group:
            todo += reversed(part.parts)
        elif type(part) is Indent:
            todo += [-4, *reversed(part.parts), 4]
        elif type(part) is int:
            margin += part
        elif part is COMMA:
            at += 1
        else:
            widest, at = max(widest, at), margin
    return max(widest, at)


# --- from a syntax tree to parts --------------------------------------------------------------------------------------


class _Layout:
    """The parts of a statement with this text."""

    def __init__(self, text: bytes):
        self.text = text

    def source(self, start: int, end: int) -> str:
        return self.text[start:end].decode()

    def of(self, node: Any) -> str:
        return self.source(node.col_offset, node.end_col_offset)

    def statement(self, node: ast.stmt, cut: str, room: int) -> list[Any] | None:
        """None for what stays on its line."""
        if isinstance(node, ast.FunctionDef):
            params = [arg.arg for arg in node.args.args]
            values = [f"={self.of(d)}" for d in node.args.defaults]
            shown = [name + value for name, value in zip(params, [""] * (len(params) - len(values)) + values)]
            return [f"def {node.name}", _brackets("(", [[name] for name in shown], ")", True), ":"]
        if isinstance(node, ast.ImportFrom):
            names = [[alias.name] for alias in node.names]
            return [f"from {node.module} import ", Group(["(", Indent([SOFT, *_commas(names)]), SOFT, ")"])]
        suffix = ":" if isinstance(node, (ast.If, ast.While, ast.For)) else ""
        value: Any = getattr(node, "value", None) or getattr(node, "test", None) or getattr(node, "iter", None)
        value = node.exc if isinstance(node, ast.Raise) else value
        if value is None or isinstance(node, ast.Assert):
            return None
        prefix = cut + self.source(0, value.col_offset)
        if prefix.endswith("("):  # parentheses around all of the value
            return None
        if isinstance(node, ast.Expr) and not isinstance(value, (ast.BinOp, ast.Compare, ast.BoolOp, ast.IfExp)):
            return [*self.parts(value, False)]
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and not self.can_break(value):
            names = _commas([self.item(x) for x in node.targets[0].elts])
            return ["(", Indent([SOFT, *names]), SOFT, ") = ", self.of(value)]
        return [prefix, *self.value(value, isinstance(node, ast.Return), len(prefix), len(suffix), room), suffix]

    def can_break(self, node: ast.expr) -> bool:
        """There are brackets with something in them."""
        return not isinstance(node, (ast.Name, ast.Attribute)) and not (isinstance(node, ast.Call) and not node.args)

    def value(self, node: Any, returned: bool, before: int, behind: int, room: int) -> list[Any]:
        """The right side of a statement, which gets parentheses if it has to."""
        if isinstance(node, ast.Tuple) and not self.has_parentheses(node):
            whole = _commas([self.item(x) for x in node.elts])
            plain = _commas([self.parts(x, False) for x in node.elts], flat=True)
            may_omit = returned and len(node.elts) == 2
        elif not isinstance(node, (ast.BinOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.UnaryOp)):
            return self.parts(node, False)
        else:
            whole, plain = [Group(self.parts(node, True))], self.parts(node, False)
            may_omit = _Omission(self, node).allowed()
        if may_omit and _widest([*plain, " " * behind], before) <= room:
            return plain
        return ["(", Indent([SOFT, *whole]), SOFT, ")"]

    def has_parentheses(self, node: Any) -> bool:
        """Of a tuple: its parentheses belong to it. There are none around an item."""
        return not node.elts or bool(node.col_offset < node.elts[0].col_offset)

    def operand(self, node: Any, start: int, inside: bool) -> list[Any]:
        """An operand that begins at `start`, with its parentheses, if it has any."""
        if self.in_parentheses(node, start):
            return [Group(["(", Indent([SOFT, Group(self.parts(node, True))]), SOFT, ")"])]
        return self.parts(node, inside)

    def in_parentheses(self, node: Any, start: int) -> bool:
        return b"(" in self.text[start : node.col_offset]

    def item(self, node: Any) -> list[Any]:
        """The parts of what stands between commas."""
        return [Group(self.parts(node, True))]

    def parts(self, node: Any, inside: bool) -> list[Any]:
        """The parts of an expression; `inside` of parentheses it may be broken at operators."""
        if isinstance(node, (ast.BinOp, ast.Compare, ast.BoolOp)):
            flat = self.flattened(node, node.col_offset)
            return self.joined(flat, inside)
        if isinstance(node, ast.IfExp):
            space: Any = SPACE if inside else " "
            starts = node.col_offset, node.body.end_col_offset or 0, node.test.end_col_offset or 0
            body, test, orelse = map(self.operand, (node.body, node.test, node.orelse), starts, [inside] * 3)
            return [Group(body), space, "if ", Group(test), space, "else ", Group(orelse)]
        if isinstance(node, ast.UnaryOp):
            sign = self.source(node.col_offset, node.operand.col_offset).rstrip("(")
            return [sign, *self.operand(node.operand, node.col_offset, inside)]
        if isinstance(node, ast.Call):
            args = [self.item(a) for a in node.args]
            args += [[f"{k.arg}=", *self.item(k.value)] for k in node.keywords]
            return [*self.operand(node.func, node.col_offset, inside), _brackets("(", args, ")", True)]
        if isinstance(node, ast.Subscript):
            base = self.operand(node.value, node.col_offset, inside)
            index = node.slice
            if isinstance(index, ast.Tuple) and not self.has_parentheses(index):
                return [*base, _brackets("[", [self.item(x) for x in index.elts], "]", True)]
            return [*base, Group(["[", Indent([SOFT, Group(self.parts(index, True))]), SOFT, "]"])]
        if isinstance(node, ast.Attribute):
            return [*self.operand(node.value, node.col_offset, inside), f".{node.attr}"]
        if isinstance(node, ast.Tuple) and len(node.elts) == 1:
            return [Group(["(", Indent([SOFT, *self.item(node.elts[0]), ","]), SOFT, ")"])]
        if isinstance(node, (ast.Tuple, ast.List)) and len(node.elts) > 1:
            signs = ("(", ")") if isinstance(node, ast.Tuple) else ("[", "]")
            return [_brackets(signs[0], [self.item(x) for x in node.elts], signs[1], False)]
        if isinstance(node, ast.Dict) and node.keys:
            items = [[f"{self.of(k)}: ", *self.item(v)] for k, v in zip(node.keys, node.values)]
            return [_brackets("{", items, "}", False)]
        if isinstance(node, ast.ListComp):
            end = node.elt.end_col_offset or 0
            rest = self.source(end, (node.end_col_offset or 0) - 1).lstrip(") ")
            elt = self.operand(node.elt, node.col_offset + 1, True)
            return [Group(["[", Indent([SOFT, Group(elt), SPACE, rest]), SOFT, "]"])]
        return [self.of(node)]

    def flattened(self, node: Any, start: int) -> list[Any]:
        """Operands and, between them, operators with how loosely they bind. An operand is a node and its start."""
        if self.in_parentheses(node, start) or not isinstance(node, (ast.BinOp, ast.Compare, ast.BoolOp)):
            return [(node, start)]
        if isinstance(node, ast.BinOp):
            operands, operators = [node.left, node.right], [node.op]
        elif isinstance(node, ast.Compare):
            operands, operators = [node.left, *node.comparators], node.ops  # type: ignore[assignment]
        else:
            operands, operators = node.values, [node.op] * (len(node.values) - 1)  # type: ignore[list-item]
        found: list[Any] = []
        for k, operand in enumerate(operands):
            found += self.flattened(operand, operands[k - 1].end_col_offset or 0 if k else start)
            if k < len(operators):
                found.append(_OPERATORS[type(operators[k])])
        return found

    def joined(self, flat: list[Any], inside: bool) -> list[Any]:
        """The parts of operands and operators, which are broken in front of the operators that bind the loosest."""
        if len(flat) == 1:
            return self.operand(flat[0][0], flat[0][1], inside)
        loosest = max(level for _, level in flat[1::2])
        out: list[Any] = []
        start = 0
        ends = [k for k in range(1, len(flat), 2) if flat[k][1] == loosest]
        for k in [*ends, len(flat)]:
            part = self.joined(flat[start:k], inside)
            out += [Group(part)] if inside and k - start > 1 else part
            if k < len(flat):
                sign = flat[k][0]
                if sign == "**" and self.tight(flat[k - 1][0]):
                    out.append("**")
                else:
                    out += [SPACE if inside else " ", f"{sign} "]
            start = k + 1
        return out

    def tight(self, base: Any) -> bool:
        """A power is written without spaces around its sign, as both operands are simple."""
        return self.text[base.end_col_offset : base.end_col_offset + 2] == b"**"


class _Omission:
    """Whether an expression is broken in its brackets, without parentheses around it, where that is enough."""

    def __init__(self, layout: _Layout, node: Any):
        self.layout = layout
        self.brackets = False
        self.level = self.count = 0
        self.ends: list[bool] = []  # whether the first and last operands have brackets that are not empty
        self.visit(node, node.col_offset)

    def allowed(self) -> bool:
        if not self.brackets or self.count > 1:
            return False
        return self.level <= _ATTRIBUTE or self.ends[0] or self.ends[-1]

    def loosen(self, level: int, count: int = 1) -> None:
        if level > self.level:
            self.level, self.count = level, count
        elif level == self.level:
            self.count += count

    def visit(self, node: Any, start: int) -> None:
        if self.layout.in_parentheses(node, start):
            self.brackets = True
            self.ends.append(True)
        elif isinstance(node, (ast.BinOp, ast.Compare, ast.BoolOp)):
            for k, item in enumerate(self.layout.flattened(node, start)):
                if k % 2:
                    self.loosen(item[1])
                else:
                    self.visit(*item)
        elif isinstance(node, ast.IfExp):
            self.loosen(_CONDITION, 2)
            self.visit(node.body, node.col_offset)
            self.visit(node.test, node.body.end_col_offset or 0)
            self.visit(node.orelse, node.test.end_col_offset or 0)
        elif isinstance(node, ast.UnaryOp):
            self.ends += [] if self.ends else [False]
            self.visit(node.operand, node.col_offset)
        elif isinstance(node, (ast.Call, ast.Subscript)):
            self.brackets = True
            inner = node.func if isinstance(node, ast.Call) else node.value
            self.visit(inner, node.col_offset)
            self.ends.append(isinstance(node, ast.Call) and bool(node.args or node.keywords))
        elif isinstance(node, ast.Attribute):
            self.visit(node.value, node.col_offset)
            if isinstance(node.value, (ast.Call, ast.Subscript)):
                self.loosen(_ATTRIBUTE)
            self.ends.append(False)
        elif isinstance(node, (ast.List, ast.Tuple, ast.Dict, ast.ListComp)):
            self.brackets = True
            self.ends.append(True)
        else:
            self.ends.append(False)


def _commas(items: list[list[Any]], flat: bool = False) -> list[Any]:
    out: list[Any] = []
    for k, item in enumerate(items):
        out += [*item, *([",", " " if flat else SPACE] if k + 1 < len(items) else [] if flat else [COMMA])]
    return out


def _brackets(left: str, items: list[list[Any]], right: str, together: bool) -> Any:
    """Items in brackets. `together`: on one line of their own, if they fit."""
    if not items:
        return left + right
    content = _commas(items)
    return Group([left, Indent([SOFT, *([Group(content)] if together else content)]), SOFT, right])


__all__ = ["WIDTH", "wrapped"]
