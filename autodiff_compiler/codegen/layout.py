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

from collections.abc import Callable, Iterator, Sequence

from ..late import Pattern
from ..records import mutable_record
from .notes import Note
from .wrapping import WIDTH, wrapped

DEPTH = 60  # levels of indentation; Python reads up to 100
NESTED = 12  # loops, ``try`` and ``with`` in each other; Python compiles up to 20, and some count twice
# How many of Python's nested blocks a compound statement is.
WEIGHTS = {"for": 1, "while": 1, "with": 1, "try": 1, "except": 2}

WORD = Pattern(r"[^\W\d]\w*")
COUNT = Pattern(r"\w+|\w+\.shape\[\d+\]")  # numbers, flags and lengths
_ARRAY = Pattern(r"np\.array\((\w+)\)")
_ARRAYS = Pattern(r"(?<!\w)\(((?:np\.array\(\w+\), )+np\.array\(\w+\))\)")
_NAMES = Pattern(r"np\.array\(\[(\w+(?:, \w+)*)\]\)")
BREAK = "break"
LONG = 72  # characters; statements that bind several variables, or choose a value, are no longer
LEAVE = "return True"  # a ``break`` in a part that was moved into a function


@mutable_record
class Assignment:
    """A statement that binds variables: ``a, b = value``, or with a sign like ``+=``.

    chained: each variable is bound to the value: ``a = b = value``
    """

    names: list[str]
    sign: str
    value: str
    chained: bool = False

    @property
    def text(self) -> str:
        return f"{(' = ' if self.chained else ', ').join(self.names)} {self.sign} {self.value}"


@mutable_record
class Store:
    """A statement that stores what a variable refers to, or a constant, at a place: ``a[i] = value``."""

    place: str
    value: str

    @property
    def text(self) -> str:
        return f"{self.place} = {self.value}"


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


Line = str | Assignment | Store | Block | Note


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


def chosen(cond: str, then: list[Line], orelse: list[Line], longest: int) -> Assignment | None:
    """``a = x if cond else y`` for two branches that bind one variable; None if it would be too long.

    >>> chosen("k > 0", [Assignment(["s"], "=", "0.5")], [Assignment(["s"], "=", "x[k]")], 40).text
    's = 0.5 if k > 0 else x[k]'
    """
    if len(then) != 1 or len(orelse) != 1:
        return None
    first, second = then[0], orelse[0]
    if not isinstance(first, Assignment) or not isinstance(second, Assignment):
        return None
    if first.sign != "=" or second.sign != "=" or first.names != second.names or len(first.names) != 1:
        return None
    made = Assignment(first.names, "=", f"{first.value} if {cond} else {second.value}")
    plain = not any(word in text for text in (first.value, cond, second.value) for word in (" if ", "lambda", ":="))
    return made if plain and len(made.text) <= longest else None


def either(cond: str, then: str, orelse: str) -> str | None:
    """A truth value that is one of two, by a condition that is one: as ``or`` or ``and`` if one of them is known.

    >>> either("x > 2.0", "True", "n > 10"), either("a or b", "c", "False")
    ('x > 2.0 or n > 10', '(a or b) and c')
    """
    for known, other, word, against in (("True", orelse, " or ", " and "), ("False", then, " and ", " or ")):
        if (then if known == "True" else orelse) == known:
            terms = [f"({text})" if against in text else text for text in (cond, other)]
            return word.join(terms)
    return None


def arrays_at_once(text: str) -> str | None:
    """The expression, with one call for the arrays of a tuple that are all made of lists; None if there are none.

    >>> arrays_at_once("value, (np.array(x_bar), np.array(y_bar), np.array(z_bar))")
    'value, tuple(map(np.array, (x_bar, y_bar, z_bar)))'
    """
    found = _ARRAYS.fullmatch(f"({text})") or _ARRAYS.search(text)
    if found is None:
        return None
    made = f"tuple(map(np.array, ({', '.join(_ARRAY.findall(found[1]))})))"
    return f"{found.string[: found.start()]}{made}{found.string[found.end() :]}"


def one_by_one(names: list[str], values: list[str], longest: int) -> list[Line]:
    """``a, b = x, y`` in several statements, where no value is read after its variable was bound anew.

    >>> [line.text for line in one_by_one(["a", "b", "c", "d"], ["b", "a", "c + d", "0"], 10)]
    ['c = c + d', 'd = 0', 'a, b = b, a']
    """
    words = [set(WORD.findall(value)) for value in values]
    left = list(range(len(names)))
    order = []
    while True:
        free = next((k for k in left if not any(names[k] in words[j] for j in left if j != k)), None)
        if free is None:
            break
        left.remove(free)
        order.append(free)
    chunks: list[list[int]] = []
    room = 0
    for k in order:
        length = len(names[k]) + len(values[k]) + 2
        if not chunks or length > room:
            chunks.append([])
            room = longest
        chunks[-1].append(k)
        room -= length + 2
    out: list[Line] = []
    for chunk in [*chunks, *([left] if left else [])]:
        out.append(Assignment([names[k] for k in chunk], "=", ", ".join([values[k] for k in chunk])))
    return out


def halves(line: Assignment, depth: int) -> tuple[str, str] | None:
    """The items of an array that would get a line for each of them: a list of the first ones, and the others.

    >>> names = [f"coefficient{k}_bar" for k in range(7)]
    >>> halves(Assignment(["x_bar"], "=", f"np.array([{', '.join(names[:3])}])"), 1)
    >>> halves(Assignment(["x_bar"], "=", f"np.array([{', '.join(names)}])"), 1)[1]
    'coefficient4_bar, coefficient5_bar, coefficient6_bar'
    """
    found = _NAMES.fullmatch(line.value)
    if found is None:
        return None
    items = found[1].split(", ")
    if len(items) < 2 or len(wrapped(line.text, 4 * depth)) <= len(items):
        return None
    half = (len(items) + 1) // 2
    first, rest = f"[{', '.join(items[:half])}]", ", ".join(items[half:])
    longest = max(len(first), len(line.names[0]) + len(rest) + 12)
    return (first, rest) if longest + 14 + 4 * depth <= WIDTH else None


def is_too_long(lines: list[Line], depth: int) -> bool:
    """One of these statements does not fit on a line."""
    return any(isinstance(x, Assignment | Store) and len(x.text) + 4 * depth > WIDTH for x in lines)


def drop_unread(lines: list[Line], names: set[str]) -> None:
    """Drop the statements that set flags and counters with these names, where nothing reads them.

    >>> lines = [Assignment(["code"], "=", "0"), Block("while", "True", [Assignment(["code"], "=", "1"), BREAK])]
    >>> drop_unread(lines, {"code"})
    >>> lines
    [Block(kind='while', text='True', body=['break'], otherwise='', binds=(), params=(), clauses=1)]
    """
    read: set[str] = set()
    for line in _walk(lines, True):
        text = line if isinstance(line, str) else line.value if isinstance(line, Assignment) else line.text
        read.update(WORD.findall(text))
    todo = [lines] if names - read else []
    while todo:
        block = todo.pop()
        block[:] = [
            line
            for line in block
            if not isinstance(line, Assignment)
            or not (len(line.names) == 1 and line.names[0] in names - read and COUNT.fullmatch(line.value))
        ]
        todo += [line.body for line in block if isinstance(line, Block)]


def flat(lines: list[Line], depth: int, out: list[str]) -> None:
    """Append the lines of text, indented. Of a note there is the indentation only."""
    todo = [(iter(lines), depth)]
    while todo:
        rest, depth = todo[-1]
        for line in rest:
            if isinstance(line, Block):
                _put(line.head, depth, out)
                todo.append((iter(line.body or ["pass"]), depth + 1))
                break
            if isinstance(line, Note):
                line.at = len(out)
                out.append("    " * depth)
            else:
                text = line if isinstance(line, str) else line.text
                _put(text, depth, out)
        else:
            todo.pop()


def _put(text: str, depth: int, out: list[str]) -> None:
    """Append the line, or its lines if it is too long for one."""
    if len(text) + 4 * depth > WIDTH:
        out += wrapped(text, 4 * depth)
    else:
        out.append("    " * depth + text if text else "")


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
    found = [set(words(body)), *[set(words(moved)) for _, moved in parts]]
    missing: dict[str, None] = {}
    head: list[Line] = []
    for k, (part, moved) in enumerate(parts):
        shared = []
        for variable in sorted(_stored(moved) - {"_"}):
            if variable not in own:
                if not any(variable in names for j, names in enumerate(found) if j != k + 1):
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


def _walk(lines: list[Line], functions: bool) -> Iterator[str | Assignment | Store | Block]:
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


def words(lines: list[Line]) -> list[str]:
    """All names in these lines, and other words, each as often as it is there."""
    texts = (line if isinstance(line, str) else line.text for line in _walk(lines, True))
    return [word for text in texts for word in WORD.findall(text)]


__all__ = ["BREAK", "Assignment", "Block", "Line", "Store", "branches", "chosen", "either", "flat", "outline", "words"]
