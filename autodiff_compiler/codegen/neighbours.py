"""Statements that stand next to each other and do the same for different variables, on one line.

Takes the blocks of a function. Gives them with ``c, s = np.cos(x), np.sin(x)`` in the place of two statements. Both
values are computed before a variable is bound, so no value reads a variable that the line binds.

>>> lines = [Assignment(["x_bar"], "=", "np.zeros_like(x)"), Assignment(["y_bar"], "=", "np.zeros_like(y)")]
>>> [line.text for line in on_one_line(lines)]
['x_bar, y_bar = np.zeros_like(x), np.zeros_like(y)']
>>> [line.text for line in on_one_line([Store("rows[i]", "x"), Store("columns[i]", "x_bar")])]
['rows[i], columns[i] = x, x_bar']
"""

from __future__ import annotations

import re

from .layout import WORD, Assignment, Block, Line, Store
from .notes import Note

SHORT = 40  # characters of a value
LONG = 100  # columns of a line that was put together
# A variable, or a number: what may differ between two values. Functions and attributes may not.
_VARIES = re.compile(r"(?<![\w.])(?:(?!np\.|math\.)[^\W\d]\w*(?![\w(])|\d+(?:\.\d*)?(?:e[+-]?\d+)?)")
_CALLEE = re.compile(r"(?:np|math)\.\w+(?=\()")
# A new list or array, or a length: it may be made before what does not bind a variable that it reads.
_MAKING = re.compile(r"\[\]|\[0\.0\] \* [\w.\[\]]+|np\.(?:zeros|empty)(?:_like)?\([\w.\[\], ()]*\)|\w+\.shape\[\d+\]")
# A part of an array: two parts of one array are alike.
_PART = re.compile(r"(\w+)\[[^\[\]]*\]")
# What variables begin with: numbers, beside an array of zeros or an empty list.
_NUMBER = r"-?\d+(?:\.\d*)?(?:e[+-]?\d+)?"
_NUMBERS = re.compile(rf"(?:[^\W\d]\w*, )*{_NUMBER}(?:, (?:{_NUMBER}|[^\W\d]\w*))*")
_ZEROS = re.compile(r"np\.(?:zeros|empty)(?:_like)?\((?:[\w.]*(?:\[\w+\])?|\([^()]*\))\)")
_UNLIKE = re.compile(r"[\"'{]| if | for | or | and |lambda |\.pop\(")  # and stays on a line of its own


def on_one_line(lines: list[Line], depth: int = 0) -> list[Line]:
    """The lines, with one in the place of neighbours that are alike; also in the blocks among them."""
    out: list[Line] = []
    group: list[Assignment | Store] = []

    def close() -> None:
        out.extend(_joined(group, LONG - 4 * depth))
        group.clear()

    for line in _gathered(lines):
        if isinstance(line, Block):
            line.body = on_one_line(line.body, depth + 1)
        may = isinstance(line, Store) or (isinstance(line, Assignment) and _may_join(line))
        if not may or not group or not _goes_with(line, group):  # type: ignore[arg-type]
            close()
        if may:
            group.append(line)  # type: ignore[arg-type]
        else:
            out.append(line)
    close()
    return out


def _gathered(lines: list[Line]) -> list[Line]:
    """The lines, with what makes something new behind the last statement that is alike, if nothing between matters."""
    out: list[Line] = []
    last: dict[str, Assignment] = {}
    for line in lines:
        if isinstance(line, Block):
            last.clear()
        making = isinstance(line, Assignment) and _may_join(line) and _MAKING.fullmatch(line.value) is not None
        if not making:
            out.append(line)
            continue
        assert isinstance(line, Assignment)
        form = _form(line.value)
        at = out.index(last[form]) + 1 if form in last else len(out)
        out.insert(at if all(_independent(line, other) for other in out[at:]) else len(out), line)
        last[form] = line
    return out


def _independent(line: Assignment, other: Line) -> bool:
    """`line` may be run before `other`."""
    if isinstance(other, (Note, Store)):
        return isinstance(other, Note) or line.names[0] not in WORD.findall(other.text)
    if not isinstance(other, Assignment) or line.names[0] in WORD.findall(other.text):
        return False
    return not set(other.names) & set(WORD.findall(line.value))


def _may_join(line: Assignment) -> bool:
    if line.sign != "=" or len(line.value) > SHORT or _UNLIKE.search(line.value) is not None:
        return False
    if line.value == f"{line.names[0]}.tolist()":
        return False  # it takes the place of an array, which goes at once
    return len(line.names) == 1 or _NUMBERS.fullmatch(line.value) is not None


def _goes_with(line: Assignment | Store, group: list[Assignment | Store]) -> bool:
    first = group[0]
    if isinstance(line, Store) or isinstance(first, Store):
        return isinstance(line, Store) and isinstance(first, Store) and _form(line.place) == _form(first.place)
    bound = {name for other in group if isinstance(other, Assignment) for name in other.names}
    if not bound.isdisjoint((*line.names, *WORD.findall(line.value))):
        return False
    if _PART.fullmatch(line.value) and _PART.fullmatch(first.value):
        return line.value.split("[")[0] == first.value.split("[")[0] or _form(line.value) == _form(first.value)
    if all(_ZEROS.fullmatch(x.value) and "_like" in x.value for x in (line, first)):
        return True
    if _NUMBERS.fullmatch(line.value) or _NUMBERS.fullmatch(first.value):
        return all(_begins(x.value) for x in (line, first))
    return _form(line.value) == _form(first.value) or _CALLEE.sub("f", line.value) == _CALLEE.sub("f", first.value)


def _begins(value: str) -> bool:
    """The value is one that variables begin with."""
    if value == "[]" or value.isidentifier():
        return True
    return _NUMBERS.fullmatch(value) is not None or _ZEROS.fullmatch(value) is not None


def _form(text: str) -> str:
    """What two texts that do the same have in common."""
    return _VARIES.sub("x", text)


def _joined(group: list[Assignment | Store], width: int) -> list[Line]:
    """The statements on as few lines as there have to be, with about as many on each."""
    for count in range(1, len(group)):
        size = -(-len(group) // count)
        chunks = [group[k : k + size] for k in range(0, len(group), size)]
        made: list[Line] = [_tuple(chunk) if len(chunk) > 1 else chunk[0] for chunk in chunks]
        if all(len(line.text) <= width for line in made):  # type: ignore[union-attr]
            return made
    return list(group)


def _tuple(group: list[Assignment | Store]) -> Assignment:
    places = [place for line in group for place in ([line.place] if isinstance(line, Store) else line.names)]
    return Assignment(places, "=", ", ".join([line.value for line in group]))


__all__ = ["on_one_line"]
