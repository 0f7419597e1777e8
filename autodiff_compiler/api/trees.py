"""Functions made of syntax trees, and adjoints as syntax trees.

Trees of ``gast`` are the same for all versions of Python, so tools exchange these. The library is imported at its
first use.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import linecache
import types
from typing import Any

from ..errors import ArgumentError
from ..tracebacks import trimmed


@trimmed
def from_tree(tree: ast.AST, namespace: dict[str, Any] | None = None) -> types.FunctionType:
    """The function that a syntax tree defines. Its source can be read, so it can be differentiated.

    This is for code that is in no file, such as generated code, macros and cells of notebooks.

    tree: a function definition of `ast` or `gast`, or a module with one function definition and nothing else.
    namespace: the globals of the function, which it reads when it is called. As with `exec`, they get the function
        under its name, so that it may call itself. By default they are empty.

    Tracebacks, `pdb` and `inspect.getsource` show the text of the tree.

    Raises ArgumentError for a tree that is no function definition.

    >>> import gast, numpy as np
    >>> import autodiff_compiler as ad
    >>> f = ad.from_tree(gast.parse("def f(x): return np.sum(x ** 3)"), {"np": np})
    >>> ad.grad(f)(np.array([1.0, 2.0]))
    array([ 3., 12.])
    """
    node = _definition(tree)
    if any(type(n).__module__.startswith("gast") for n in ast.walk(node)):
        import gast

        node = gast.gast_to_ast(copy.deepcopy(node))
    text = ast.unparse(node) + "\n"
    # The same tree has the same file name in each process, so that the disk cache finds its compiled code.
    file = f"<tree {node.name} {hashlib.sha256(text.encode()).hexdigest()[:12]}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names: dict[str, Any] = {} if namespace is None else namespace
    exec(compile(text, file, "exec"), names)
    made = names[node.name]
    if not isinstance(made, types.FunctionType):
        raise ArgumentError(
            f"the decorators of {node.name!r} return a {type(made).__name__}, not a Python function",
            None,
            "leave the decorators out of the tree, and call them on the function",
        )
    return made


def _definition(tree: Any) -> Any:
    """The function definition in the tree."""
    body = getattr(tree, "body", None)
    if type(tree).__name__ == "Module" and isinstance(body, list) and len(body) == 1:
        tree = body[0]
    if not isinstance(tree, ast.AST) or type(tree).__name__ != "FunctionDef":
        raise ArgumentError(
            f"from_tree takes the tree of one function definition, not {type(tree).__name__}",
            None,
            "parse the text of one `def`: ast.parse(text), or gast.parse(text)",
        )
    return tree


def tree_of(source: str) -> Any:
    """The source of an adjoint as a tree of `gast`: a module with its imports and the function."""
    import gast

    return gast.parse(source)
