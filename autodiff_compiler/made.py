"""Functions that the compiler makes of syntax trees, such as those that it hands to a solver.

They stand in no file. What they were made of is kept, so that they can be differentiated, and made again in another
process from an entry of the disk cache.
"""

from __future__ import annotations
import __future__

import ast
import functools
import inspect
import operator
import types
from typing import Any

from .records import record

FUTURE = functools.reduce(operator.or_, [getattr(__future__, n).compiler_flag for n in __future__.all_feature_names])
TYPE_PARAMS: dict[str, Any] = {"type_params": []} if "type_params" in ast.FunctionDef._fields else {}


@record
class Made:
    """What a function was made of.

    owner: the function in which it stands; it has its globals, and the cells that are not in `cells`
    """

    tree: ast.FunctionDef
    owner: types.FunctionType
    file: str
    cells: dict[str, Any]


MADE: dict[types.CodeType, Made] = {}


def function_of(
    tree: ast.FunctionDef, owner: types.FunctionType, file: str, cells: dict[str, Any]
) -> types.FunctionType:
    """The function of a definition, at the user's own lines: with these constants, and the globals of the owner."""
    outer = dict(zip(owner.__code__.co_freevars, owner.__closure__ or ()))
    them = {**outer, **{name: types.CellType(value) for name, value in cells.items()}}
    code = code_of(tree, list(them), owner, file)
    closure = tuple([them[name] for name in code.co_freevars])
    function = types.FunctionType(code, owner.__globals__, tree.name, None, closure)
    MADE[code] = Made(tree, owner, file, {name: cells[name] for name in code.co_freevars if name in cells})
    return function


def code_of(tree: ast.FunctionDef, around: list[str], owner: types.FunctionType, file: str) -> types.CodeType:
    """The code of a definition that stands where there are variables with these names around it."""
    names = ast.arguments([], [ast.arg(name) for name in around], None, [], [], None, [])
    enclosing = ast.FunctionDef("enclosing", names, [tree], [], None, None, **TYPE_PARAMS)
    module = ast.fix_missing_locations(ast.Module([ast.copy_location(enclosing, tree)], []))
    flags = owner.__code__.co_flags & FUTURE
    (outside,) = [c for c in compile(module, file, "exec", flags, dont_inherit=True).co_consts if inspect.iscode(c)]
    (code,) = [c for c in outside.co_consts if inspect.iscode(c)]
    return code


def text_of(tree: ast.FunctionDef) -> tuple[str, list[list[int]]]:
    """A definition as text, and where each of its nodes stands in the user's file.

    Raises ValueError for a tree that no text gives.
    """
    text = ast.unparse(tree)
    if ast.dump(_parsed(text)) != ast.dump(tree):
        raise ValueError("the text of a tree is that of another")
    return text, [[getattr(node, name) for name in _PLACE] for node in _placed(tree)]


def tree_of(text: str, places: list[list[int]]) -> ast.FunctionDef:
    """The definition that `text_of` gave these of."""
    tree = _parsed(text)
    for node, place in zip(_placed(tree), places):
        for name, x in zip(_PLACE, place):
            setattr(node, name, x)
    return tree


_PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def _parsed(text: str) -> ast.FunctionDef:
    (tree,) = ast.parse(text).body
    if not isinstance(tree, ast.FunctionDef):
        raise ValueError("not a definition")
    return tree


def _placed(tree: ast.AST) -> list[ast.AST]:
    return [node for node in ast.walk(tree) if hasattr(node, "lineno")]


__all__ = ["FUTURE", "MADE", "TYPE_PARAMS", "Made", "code_of", "function_of", "text_of", "tree_of"]
