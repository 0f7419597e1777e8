"""Statements as blocks in blocks, and as text.

Takes lines and blocks. Gives text. What nests too deeply for Python becomes a local function.

>>> lines = ["s = 0", Block("for i in x:", branches("i > 0", "i <= 0", ["s += i"], ["break"], False)), "return s"]
>>> out = []
>>> flat(lines, 1, out)
>>> for line in out:
...     print(line)
    s = 0
    for i in x:
        if i > 0:
            s += i
        else:
            break
    return s
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from .notes import Note

DEPTH = 60  # levels of indentation; Python reads up to 100
NESTED = 12  # loops, ``try`` and ``with`` in each other; Python compiles up to 20, and some count twice

WORD = re.compile(r"[^\W\d]\w*")


class Block:
    """A compound statement, or a clause of one."""

    __slots__ = ("header", "body", "clauses", "otherwise")

    def __init__(self, header: str, body: list[Line], otherwise: str = ""):
        self.header, self.body = header, body
        self.otherwise = otherwise  # of an ``if``: the negated condition
        self.clauses = 1  # of an ``if``: how many lines, from this one on, are its clauses and their comments


Line = str | Block | Note


def branches(cond: str, otherwise: str, then: list[Line], orelse: list[Line], jumps: bool) -> list[Line]:
    """An ``if``. What stands alone in an ``else`` becomes an ``elif``.

    otherwise: the negated condition
    jumps:     after `then` nothing falls through
    """
    first = Block(f"if {cond}:", then, otherwise)
    if jumps or not orelse:
        return [first, *orelse]
    at = next((k for k, line in enumerate(orelse) if not isinstance(line, Note)), 0)
    second = orelse[at]
    if isinstance(second, Block) and second.header.startswith("if ") and at + second.clauses == len(orelse):
        second.header = "el" + second.header
    else:
        orelse = [Block("else:", orelse)]
    first.clauses += len(orelse)
    return [first, *orelse]


def flat(lines: list[Line], depth: int, out: list[str]) -> None:
    """Append the lines of text, indented. Of a note there is the indentation only."""
    todo = [(iter(lines), depth)]
    while todo:
        rest, depth = todo[-1]
        for line in rest:
            if isinstance(line, Block):
                out.append("    " * depth + line.header)
                todo.append((iter(line.body), depth + 1))
                break
            if isinstance(line, Note):
                line.at = len(out)
                out.append("    " * depth)
            else:
                out.append("    " * depth + line if line else "")
        else:
            todo.pop()


# --- deep nesting -----------------------------------------------------------------------------------------------------


def outline(body: list[Line], given: set[str], name: Callable[[str], str], depth: int = 1) -> None:
    """Move what is nested too deeply into functions at the start of the function's `body`, in place.

    `given` are the function's parameters; `name` makes a name that is not in use.
    """
    parts: list[tuple[str, list[Line]]] = []
    todo = [(body, depth, 0)]
    while todo:
        lines, level, nested = todo.pop()
        for line in lines:
            if not isinstance(line, Block):
                continue
            if line.header.startswith("def "):
                outline(line.body, _parameters(line.header), name, level + 1)
                continue
            inside = nested + _weight(line.header)
            if (level + 1 < DEPTH and inside < NESTED) or not any(isinstance(inner, Block) for inner in line.body):
                todo.append((line.body, level + 1, inside))
                continue
            part, moved = name("part"), line.body
            parts.append((part, moved))
            left = _leave_by_return(moved)
            line.body = [Block(f"if {part}():", [left])] if left else [f"{part}()"]
            todo.append((moved, depth + 1, 0))
    if not parts:
        return
    own = given | _stored(body)
    words = [_words(body), *[_words(moved) for _, moved in parts]]
    missing: dict[str, None] = {}
    head: list[Line] = []
    for k, (part, moved) in enumerate(parts):
        shared = []
        for variable in sorted(_stored(moved) - {"_"}):
            if variable not in own:
                if not any(variable in found for j, found in enumerate(words) if j != k + 1):
                    continue
                missing[variable] = None
            shared.append(variable)
        head.append(Block(f"def {part}():", [*([f"nonlocal {', '.join(shared)}"] if shared else []), *moved]))
        head.append("")
    body[:0] = [*head, *[f"{variable} = None" for variable in missing]]


def _weight(header: str) -> int:
    """How many of Python's nested blocks it is."""
    if header.startswith(("for ", "while ", "with ", "try:")):
        return 1
    return 2 if header.startswith("except ") else 0


def _leave_by_return(lines: list[Line]) -> str:
    """Replace each ``break`` of a loop around by ``return True``. Returns the statement that was replaced, if any."""
    found = ""
    todo = [lines]
    while todo:
        inner = todo.pop()
        for k, line in enumerate(inner):
            if isinstance(line, Block):
                if not line.header.startswith(("for ", "while ", "def ")):
                    todo.append(line.body)
            elif line in ("break", "return True"):  # which may be in a part already
                inner[k], found = "return True", line
    return found


def _parameters(header: str) -> set[str]:
    (function,) = ast.parse(header + " pass").body
    assert isinstance(function, ast.FunctionDef)
    return {p.arg for p in function.args.args}


def _walk(lines: list[Line], functions: bool) -> Iterator[str]:
    """All lines and headers, those of local functions if asked for."""
    todo = [lines]
    while todo:
        for line in todo.pop():
            if isinstance(line, str):
                yield line
            elif isinstance(line, Block):
                yield line.header
                if functions or not line.header.startswith("def "):
                    todo.append(line.body)


def _stored(lines: list[Line]) -> set[str]:
    """The variables that are bound in these lines."""
    found: set[str] = set()
    for line in _walk(lines, False):
        if line.startswith("def "):
            found.add(WORD.findall(line)[1])
        elif line.startswith("except ") and " as " in line:
            found.add(WORD.findall(line)[-1])
        elif line.startswith("for "):
            found |= _targets(line + " pass")
        elif "=" in line and not line.endswith(":"):
            found |= _targets(line)
    return found


def _targets(line: str) -> set[str]:
    (statement,) = ast.parse(line).body
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, (ast.AugAssign, ast.For)):
        targets = [statement.target]
    else:
        return set()
    return {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _words(lines: list[Line]) -> set[str]:
    return {word for line in _walk(lines, True) for word in WORD.findall(line)}


__all__ = ["Block", "Line", "branches", "flat", "outline"]
