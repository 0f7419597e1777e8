"""Makes a failing program small: drops statements and replaces compound ones by their bodies, as long as it fails."""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator

BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def shrink(source: str, failing: Callable[[str], bool], limit: int = 600, seconds: float = 60.0) -> str:
    """A smaller program that still fails."""
    tree = ast.parse(source)
    end = time.monotonic() + seconds
    progress = True
    while progress and limit > 0:
        progress = False
        for variant in _variants(tree):
            limit -= 1
            if limit <= 0 or time.monotonic() > end:
                return ast.unparse(tree) + "\n"
            try:
                text = ast.unparse(ast.fix_missing_locations(variant))
                if failing(text):
                    tree, progress = ast.parse(text), True
                    break
            except Exception:
                continue
    return ast.unparse(tree) + "\n"


def _variants(tree: ast.Module) -> Iterator[ast.Module]:
    """The program with one statement dropped, or one compound statement replaced by one of its bodies; then with one
    expression replaced by one of its operands."""
    blocks = [
        (k, name)
        for k, node in enumerate(ast.walk(tree))
        for name in BLOCKS
        if isinstance(getattr(node, name, None), list)
    ]
    nodes = list(ast.walk(tree))
    for k, name in reversed(blocks):
        for position, statement in enumerate(getattr(nodes[k], name)):
            if isinstance(statement, (ast.Import, ast.Pass)):
                continue
            replacements: list[list[ast.stmt]] = [[]]
            for inner in BLOCKS[:3]:
                if getattr(statement, inner, None) and not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                    replacements.append(getattr(statement, inner))
            for replacement in replacements:
                if name in ("handlers", "cases") and replacement:
                    continue
                clone = copy.deepcopy(tree)
                block = getattr(list(ast.walk(clone))[k], name)
                block[position : position + 1] = copy.deepcopy(replacement)
                if not block and name == "body":
                    block.append(ast.Pass())
                yield clone
    for k, node in enumerate(nodes):
        for name, child in ast.iter_fields(node):
            if not isinstance(child, (ast.BinOp, ast.Call, ast.IfExp, ast.BoolOp)):
                continue
            for operand in _operands(child):
                clone = copy.deepcopy(tree)
                setattr(list(ast.walk(clone))[k], name, copy.deepcopy(operand))
                yield clone


def _operands(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BoolOp):
        return list(node.values)
    return list(node.args) if isinstance(node, ast.Call) else []
