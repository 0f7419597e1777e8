"""Where the statements of inlined functions stand now, for entries of the disk cache.

A comment or a blank line moves statements. It does not change the syntax tree. So an entry names a statement by its
number in the tree of its function, and `ast.dump` without positions says whether it is the same tree. Entries are for
one version of Python, so the dump need not be the same for all versions; the one of `gast` takes ten times as long.

An entry also holds the lines at which it found the statements last. If the text of a function is what it was, these are
used, and nothing is parsed.
"""

from __future__ import annotations

import ast
import linecache
import types
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..codegen.notes import Statement
from ..ir.core import Loc
from .fingerprint import NotPortable, digest

if TYPE_CHECKING:
    from ..frontend.scopes import FunctionNode
    from ..frontend.source import Source

# Of a node: its number, its line (that of the function's first line is 0), its columns, and the text of a statement
# over several lines.
Row = list[Any]


class Changed(Exception):
    """The tree of a function is not what it was."""


class Marks:
    """Numbers for the statements and expressions that emitted code names.

    functions: those whose text went into the code.

    A place in no such function raises NotPortable.
    """

    def __init__(self, functions: Sequence[types.FunctionType]):
        from ..frontend.scopes import nodes_of
        from ..frontend.source import source_of

        self.functions = functions
        self.sources = [source_of(fn) for fn in functions]
        self.used: list[dict[int, ast.AST]] = [{} for _ in functions]
        self.by_file: dict[str, list[tuple[int, dict[Any, int], list[ast.AST]]]] = {}
        # Functions may be nested. The innermost one is asked first.
        for k in sorted(range(len(functions)), key=lambda k: -self.sources[k].node.lineno):
            source = self.sources[k]
            self.by_file.setdefault(source.file, []).append((k, _starts(source.node), nodes_of(source.node)))

    def statement(self, statement: Statement) -> tuple[int, int]:
        """The number of the function, and of the node in its tree."""
        key = (statement.line, statement.col)
        for place in (key, statement.line):
            for k, starts, nodes in self.by_file.get(statement.file, ()):
                if place in starts:
                    return self._used(k, starts[place], nodes)
        raise NotPortable(f"line {statement.line} of {statement.file}")

    def node(self, loc: Loc) -> tuple[int, int]:
        """The same for the expression at a place."""
        for k, _, nodes in self.by_file.get(loc.file, ()):
            found = [n for n, node in enumerate(nodes) if hasattr(node, "lineno") and _span(node) == loc[1:4]]
            if found:
                calls = [n for n in found if isinstance(nodes[n], ast.Call)]
                return self._used(k, (calls or found)[0], nodes)
        raise NotPortable(f"line {loc.line} of {loc.file}")

    def _used(self, k: int, n: int, nodes: list[ast.AST]) -> tuple[int, int]:
        self.used[k][n] = nodes[n]
        return k, n

    def rows(self) -> list[list[Any]]:
        """For each function what identifies its tree, what identifies its text, and the rows of the nodes used."""
        return [
            [tree_print(source), text_print(fn), [_row(fn, source, n, node) for n, node in used.items()]]
            for fn, source, used in zip(self.functions, self.sources, self.used)
        ]


class Found:
    """The statements and expressions of an entry where they are now.

    functions: each with what `Marks.rows` gave.
    moved:     the text of a function is another one, so `rows` are others.

    Raises Changed for a function whose tree is another one.
    """

    def __init__(self, functions: Iterable[tuple[types.FunctionType, str, str, list[Row]]]):
        self.moved = False
        self.functions: list[tuple[types.FunctionType, str, str, dict[int, Row]]] = []
        for fn, tree, text, rows in functions:
            now = text_print(fn)
            if now != text:
                from ..frontend.scopes import nodes_of
                from ..frontend.source import source_of

                source = source_of(fn)
                if tree_print(source) != tree:
                    raise Changed
                nodes = nodes_of(source.node)
                rows = [_row(fn, source, row[0], nodes[row[0]]) for row in rows]
                self.moved = True
            self.functions.append((fn, tree, now, {row[0]: row for row in rows}))

    def statement(self, k: int, n: int) -> Statement:
        code = self.functions[k][0].__code__
        _, line, col, _, text = self.functions[k][3][n]
        line += code.co_firstlineno
        return Statement(code.co_filename, line, col, line_of(code.co_filename, line) if text is None else text)

    def loc(self, k: int, n: int, function: str) -> Loc:
        code = self.functions[k][0].__code__
        _, line, col, end_col, _ = self.functions[k][3][n]
        return Loc(code.co_filename, line + code.co_firstlineno, col, end_col, function)

    def rows(self) -> list[list[Any]]:
        """What `Marks.rows` would give now."""
        return [[tree, text, list(rows.values())] for _, tree, text, rows in self.functions]


def line_of(file: str, line: int) -> str:
    """A line of a file, without its indentation."""
    return linecache.getline(file, line).strip()


def text_over_lines(node: Any) -> str | None:
    """The text on one line of a statement that covers several lines. None for a statement on one line."""
    from ..codegen.statements import on_one_line
    from ..frontend.source import end_of_head

    return on_one_line(node) if end_of_head(node) > node.lineno else None


def _starts(root: FunctionNode) -> dict[Any, int]:
    """The numbers of nodes: of statements by line and column, of the first node of a line by the line."""
    from ..frontend.scopes import nodes_of

    found: dict[Any, int] = {}
    for n, node in enumerate(nodes_of(root)):
        if hasattr(node, "lineno"):
            found.setdefault(node.lineno, n)
            if isinstance(node, ast.stmt) or node is root:
                found.setdefault((node.lineno, node.col_offset), n)
    return found


def _span(node: Any) -> tuple[int, int, int]:
    """The part of a `Loc` that says where a node stands."""
    end = node.end_col_offset if node.end_lineno == node.lineno else None
    return node.lineno, node.col_offset, -1 if end is None else end


def _row(fn: types.FunctionType, source: Source, n: int, node: Any) -> Row:
    line, col, end_col = _span(node)
    text = None
    if isinstance(node, ast.stmt) or node is source.node:
        text = text_over_lines(node)
    return [n, line - fn.__code__.co_firstlineno, col, end_col, text]


def tree_print(source: Source) -> str:
    """Identifies the syntax tree of a function; comments, blank lines and line breaks do not matter."""
    return digest(ast.dump(source.node, annotate_fields=False))


def text_print(fn: types.FunctionType) -> str:
    """Identifies the text of a function, and which of the functions in this text it is."""
    code = fn.__code__
    lines = linecache.getlines(code.co_filename, fn.__globals__)
    codes = [code]
    for inner in codes:
        codes += [c for c in inner.co_consts if isinstance(c, types.CodeType)]
    last = max([line for c in codes for _, _, line in c.co_lines() if line is not None], default=code.co_firstlineno)
    return digest("".join(lines[code.co_firstlineno - 1 : last]), *[c.co_linetable.hex() for c in codes])


__all__ = ["Changed", "Found", "Marks", "line_of", "text_over_lines", "text_print", "tree_print"]
