"""Statements as blocks in blocks, and as text.

Takes lines and blocks. Gives text. Blocks that nest too deeply for Python become local functions.

>>> body = branches("i > 0", "i <= 0", [Assignment(["s"], "+=", "i")], [BREAK], False)
>>> lines = [Assignment(["s"], "=", "0"), Block("for", "i in x", body, binds=["i"]), "return s"]
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

import re
from collections.abc import Callable, Iterator, Sequence

from ..records import mutable_record
from .notes import Note

DEPTH = 60  # levels of indentation; Python reads up to 100
NESTED = 12  # loops, ``try`` and ``with`` in each other; Python compiles up to 20, and some count twice
# How many of Python's nested blocks a compound statement is.
WEIGHTS = {"for": 1, "while": 1, "with": 1, "try": 1, "except": 2}

WORD = re.compile(r"[^\W\d]\w*")
BREAK = "break"
LEAVE = "return True"  # a ``break`` in a part that was moved into a function


@mutable_record
class Assignment:
    """A statement that binds variables: ``a, b = value``, or with a sign like ``+=``."""

    names: list[str]
    sign: str
    value: str

    @property
    def text(self) -> str:
        return f"{', '.join(self.names)} {self.sign} {self.value}"


@mutable_record
class Block:
    """A compound statement, or a clause of one.

    kind:      its keyword
    text:      the rest of its head
    otherwise: the negated condition of an ``if``
    binds:     the variables that the head binds
    params:    the parameters of a function
    clauses:   how many lines, from this one on, are the clauses of an ``if`` and their comments
    """

    kind: str
    text: str
    body: list[Line]
    otherwise: str = ""
    binds: Sequence[str] = ()
    params: Sequence[str] = ()
    clauses: int = 1

    @property
    def head(self) -> str:
        return f"{self.kind} {self.text}:" if self.text else f"{self.kind}:"


Line = str | Assignment | Block | Note


def branches(cond: str, otherwise: str, then: list[Line], orelse: list[Line], jumps: bool) -> list[Line]:
    """An ``if``. What stands alone in an ``else`` becomes an ``elif``.

    otherwise: the negated condition
    jumps:     after `then` nothing falls through
    """
    first = Block("if", cond, then, otherwise)
    if jumps or not orelse:
        return [first, *orelse]
    at = next((k for k, line in enumerate(orelse) if not isinstance(line, Note)), 0)
    second = orelse[at]
    if isinstance(second, Block) and second.kind == "if" and at + second.clauses == len(orelse):
        second.kind = "elif"
    else:
        orelse = [Block("else", "", orelse)]
    first.clauses += len(orelse)
    return [first, *orelse]


def flat(lines: list[Line], depth: int, out: list[str]) -> None:
    """Append the lines of text, indented. Of a note there is the indentation only."""
    todo = [(iter(lines), depth)]
    while todo:
        rest, depth = todo[-1]
        for line in rest:
            if isinstance(line, Block):
                out.append("    " * depth + line.head)
                todo.append((iter(line.body or ["pass"]), depth + 1))
                break
            if isinstance(line, Note):
                line.at = len(out)
                out.append("    " * depth)
            else:
                text = line.text if isinstance(line, Assignment) else line
                out.append("    " * depth + text if text else "")
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
            if line.kind == "def":
                outline(line.body, set(line.params), name, level + 1)
                continue
            inside = nested + WEIGHTS.get(line.kind, 0)
            if (level + 1 < DEPTH and inside < NESTED) or not any(isinstance(inner, Block) for inner in line.body):
                todo.append((line.body, level + 1, inside))
                continue
            part, moved = name("part"), line.body
            parts.append((part, moved))
            left = _leave_by_return(moved)
            line.body = [Block("if", f"{part}()", [left])] if left else [f"{part}()"]
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
        nonlocal_ = [f"nonlocal {', '.join(shared)}"] if shared else []
        head.append(Block("def", f"{part}()", [*nonlocal_, *moved], binds=[part]))
        head.append("")
    body[:0] = [*head, *[f"{variable} = None" for variable in missing]]


def _leave_by_return(lines: list[Line]) -> str:
    """Replace each ``break`` of a loop around by ``return True``. Returns the statement that was replaced, if any."""
    found = ""
    todo = [lines]
    while todo:
        inner = todo.pop()
        for k, line in enumerate(inner):
            if isinstance(line, Block):
                if line.kind not in ("for", "while", "def"):
                    todo.append(line.body)
            elif line in (BREAK, LEAVE):  # it may be in a part already
                inner[k], found = LEAVE, line
    return found


def _walk(lines: list[Line], functions: bool) -> Iterator[str | Assignment | Block]:
    """All statements and heads, those in local functions if asked for."""
    todo = [lines]
    while todo:
        for line in todo.pop():
            if isinstance(line, Note):
                continue
            yield line
            if isinstance(line, Block) and (functions or line.kind != "def"):
                todo.append(line.body)


def _stored(lines: list[Line]) -> set[str]:
    """The variables that are bound in these lines."""
    found: set[str] = set()
    for line in _walk(lines, False):
        if isinstance(line, Assignment):
            found.update(line.names)
        elif isinstance(line, Block):
            found.update(line.binds)
    return found


def _words(lines: list[Line]) -> set[str]:
    """All names in these lines, and other words."""
    texts = (line if isinstance(line, str) else line.text for line in _walk(lines, True))
    return {word for text in texts for word in WORD.findall(text)}


__all__ = ["BREAK", "Assignment", "Block", "Line", "branches", "flat", "outline"]
