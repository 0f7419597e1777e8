"""Where the names of a program's text are bound and read, as far as machine code needs to know.

A name that is bound once, and read only where that statement has been executed, is a value and no place in memory. A
buffer is let go behind the last statement that reads it, in the block that holds all of them; a name of a part of it
counts as the buffer.

>>> found = scopes_of(ast.parse('''
... def f(x):
...     a = buffer(3)
...     row = a[0]
...     for i in range(3):
...         row[i] = x
...     s = 0.0
...     for j in range(3):
...         t = x[j]
...         s = s + t
...     return s
... ''').body[0])
>>> [name for name, scope in found.items() if scope.is_value]
['x', 'a', 'row', 'i', 'j', 't']
>>> [(name, scope.last) for name, scope in found.items() if name in ("a", "t")]
[('a', 2), ('t', 1)]
>>> found["row"].of
'a'
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

Path = tuple[tuple[int, int], ...]  # blocks, each in a statement of the one before it; with the number of a statement


@dataclass(slots=True)
class Scope:
    """What is known of a name.

    stores, loads: where it is bound, and read
    is_value: it is bound once, in front of all that reads it
    block:  the innermost block that holds all of these
    last:   the last statement of that block with one of them
    of:     what it is a part of, or another name of; that is read at least as long
    """

    stores: list[tuple[int, Path]] = field(default_factory=list)
    loads: list[tuple[int, Path]] = field(default_factory=list)
    is_value: bool = False
    block: int = 0
    last: int = 0
    of: str | None = None


def scopes_of(function: ast.FunctionDef) -> dict[str, Scope]:
    """The scopes of all names that a function binds, parameters first."""
    walk = _Walk(function)
    scopes = walk.scopes
    for scope in scopes.values():
        _place(scope)
    for name, base in walk.parts:  # in the order of the text: parts of parts come later
        scope = scopes[name]
        if base not in scopes or name not in walk.arrays or not (scope.is_value and scopes[base].is_value):
            continue
        scope.of = base
        whole: str | None = base
        while whole is not None:
            scopes[whole].loads += scope.loads
            _place(scopes[whole])
            whole = scopes[whole].of
    return scopes


def _place(scope: Scope) -> None:
    """Find the block that holds all that binds and reads a name."""
    paths = [path for _, path in scope.stores + scope.loads]
    level = 0
    while all(len(path) > level + 1 for path in paths) and (
        len({path[level] for path in paths}) == 1 == len({path[level + 1][0] for path in paths})
    ):
        level += 1
    scope.block = paths[0][level][0]
    scope.last = max(path[level][1] for path in paths)
    if len(scope.stores) == 1:
        at, path = scope.stores[0]
        scope.is_value = len(path) == level + 1 and all(at < k for k, _ in scope.loads)


class _Walk:
    """Collects what binds and reads names.

    parts:  pairs of a name and of what it may be a part of
    arrays: names that are used as arrays are
    """

    def __init__(self, function: ast.FunctionDef):
        self.scopes: dict[str, Scope] = {}
        self.parts: list[tuple[str, str]] = []
        self.arrays: set[str] = set()
        self.count = 0
        for arg in function.args.args:
            self.store(arg.arg, ((id(function.body), -1),))
        self.block(function.body, ())

    def next(self) -> int:
        self.count += 1
        return self.count

    def store(self, name: str, path: Path) -> None:
        self.scopes.setdefault(name, Scope()).stores.append((self.next(), path))

    def block(self, block: Sequence[ast.stmt], path: Path) -> None:
        for k, s in enumerate(block):
            here = (*path, (id(block), k))
            if isinstance(s, ast.For):
                self.read(s.iter, here)
                assert isinstance(s.target, ast.Name)
                self.store(s.target.id, (*here, (id(s.body), -1)))
                self.block(s.body, here)
            elif isinstance(s, ast.While):
                self.block(s.body, here)
            elif isinstance(s, ast.If):
                self.read(s.test, here)
                self.block(s.body, here)
                self.block(s.orelse, here)
            elif isinstance(s, (ast.Assign, ast.AugAssign)):
                self.assign(s, here)
            else:
                self.read(s, here)

    def assign(self, s: Any, here: Path) -> None:
        target, *others = s.targets if isinstance(s, ast.Assign) else (s.target,)
        self.read(s.value, here)
        for other in others:  # the value is a number
            assert isinstance(other, ast.Name)
            self.store(other.id, here)
        if isinstance(s, ast.AugAssign) and isinstance(target, ast.Name):
            self.load(target.id, here)
        if isinstance(target, ast.Name):
            base = _base(s.value)
            if base is not None:
                self.parts.append((target.id, base))
                if isinstance(s.value, ast.Name):
                    self.arrays.add(base)
            self.store(target.id, here)
        elif isinstance(target, ast.Tuple):
            for item in target.elts:
                assert isinstance(item, ast.Name)
                self.store(item.id, here)
        else:
            self.read(target, here)

    def load(self, name: str, here: Path) -> None:
        if name in self.scopes:  # what is not bound in front of it is a global name
            self.scopes[name].loads.append((self.next(), here))

    def read(self, node: ast.AST, here: Path) -> None:
        for x in ast.walk(node):
            if isinstance(x, ast.Name):
                self.load(x.id, here)
            self.arrays.update(_used_as_arrays(x))


def _base(value: ast.expr) -> str | None:
    """The buffer that an expression may be a part of."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "reshape":
        value = value.func.value
    if isinstance(value, ast.Subscript):
        value = value.value
    return value.id if isinstance(value, ast.Name) else None


def _used_as_arrays(node: Any) -> Iterator[str]:
    """The names that may be arrays, since they stand where arrays do."""
    found: list[Any] = []
    if isinstance(node, (ast.Subscript, ast.Attribute)):
        found = [node.value]
    elif isinstance(node, ast.Call):
        found = node.args
    elif isinstance(node, (ast.Tuple, ast.List)):
        found = node.elts
    elif isinstance(node, (ast.Return, ast.Assign)):
        found = [node.value]
    for x in found:
        if isinstance(x, ast.Name):
            yield x.id


__all__ = ["Scope", "scopes_of"]
