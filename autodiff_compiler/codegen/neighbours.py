"""Statements that stand next to each other and do the same for different variables, on one line.

Takes the blocks of a function. Gives them with ``c, s = np.cos(x), np.sin(x)`` in the place of two statements. Both
values are computed before a variable is bound, so no value reads a variable that the line binds.

>>> lines = [Assignment(["x_bar"], "=", "np.zeros_like(x)"), Assignment(["y_bar"], "=", "np.zeros_like(y)")]
>>> [line.text for line in on_one_line(lines)]
['x_bar, y_bar = np.zeros_like(x), np.zeros_like(y)']
>>> [line.text for line in on_one_line([Store("rows[i]", "x"), Store("columns[i]", "x_bar")])]
['rows[i], columns[i] = x, x_bar']
>>> [line.text for line in on_one_line([Assignment(["x_bar"], "=", "0.0"), Assignment(["y_bar"], "=", "0.0")])]
['x_bar = y_bar = 0.0']

What a loop begins with stands in front of it, and a list that only its head reads is made there:

>>> lines = [Assignment([name], "=", value) for name, value in (("saved", "[]"), ("r", "x.tolist()"), ("s", "s0"))]
>>> out = []
>>> layout.flat(on_one_line([*lines, Block("for", "x_i in r", ["saved.append(s)"], binds=["x_i"])]), 0, out)
>>> for line in out:
...     print(line)
saved = []
s = s0
for x_i in x.tolist():
    saved.append(s)
"""

from __future__ import annotations

import re

from ..late import Pattern
from . import layout
from .layout import WORD, Assignment, Block, Line, Store
from .notes import Note

SHORT = 40  # characters of a value
LONG = 100  # columns of a line that was put together
# A variable, or a number: what may differ between two values. Functions and attributes may not.
_VARIES = Pattern(r"(?<![\w.])(?:(?!np\.|math\.)[^\W\d]\w*(?![\w(])|\d+(?:\.\d*)?(?:e[+-]?\d+)?)")
_CALLEE = Pattern(r"(?:np|math)\.\w+(?=\()")
# A new list or array, or a length: it may be made before what does not bind a variable that it reads.
_MAKING = Pattern(r"\[\]|\[0\.0\] \* [\w.\[\]]+|np\.(?:zeros|empty)(?:_like)?\([\w.\[\], ()]*\)|\w+\.shape\[\d+\]")
# A part of an array: two parts of one array are alike.
_PART = Pattern(r"(\w+)\[[^\[\]]*\]")
# What variables begin with: a number, and numbers beside other variables.
_NUMBER = r"-?\d+(?:\.\d*)?(?:e[+-]?\d+)?"
_ONE = Pattern(_NUMBER)
_NUMBERS = Pattern(rf"(?:[^\W\d]\w*, )*{_NUMBER}(?:, (?:{_NUMBER}|[^\W\d]\w*))*")
# What variables of loops begin with.
_FIRSTS = Pattern(rf"(?:{_NUMBER}|[^\W\d]\w*|\[\])(?:, (?:{_NUMBER}|[^\W\d]\w*))*")
_NEW = Pattern(rf"\[\]|{_NUMBER}(?:, {_NUMBER})*")
_TOLIST = Pattern(r"\w+\.tolist\(\)")
_LIKE = Pattern(r"np\.(?:(?:zeros|empty)_like\([\w.]*(?:\[\w+\])?\)|zeros\([\w.]+\.shape(?:, [\w.]+\.dtype)?\))")
_UNLIKE = Pattern(r"[\"'{]| if | for | or | and |lambda |\.pop\(")  # and stays on a line of its own


def on_one_line(lines: list[Line], depth: int = 0) -> list[Line]:
    """The lines, with one in the place of neighbours that are alike; also in the blocks among them."""
    counts: dict[str, int] = {}
    for word in layout.words(lines):
        counts[word] = counts.get(word, 0) + 1
    return _on_one_line(lines, depth, counts)


def _on_one_line(lines: list[Line], depth: int, counts: dict[str, int]) -> list[Line]:
    """counts: how often each name stands in the function."""
    out: list[Line] = []
    group: list[Assignment | Store] = []

    def close() -> None:
        out.extend(_joined(group, LONG - 4 * depth))
        group.clear()

    for line in _gathered(_with_firsts(lines, depth, counts)):
        if isinstance(line, Block):
            line.body = _on_one_line(line.body, depth + 1, counts)
        may = isinstance(line, Store) or (isinstance(line, Assignment) and _may_join(line))
        if not may or not group or not _goes_with(line, group):  # type: ignore[arg-type]
            close()
        if may:
            group.append(line)  # type: ignore[arg-type]
        else:
            out.append(line)
    close()
    return out


def _with_firsts(lines: list[Line], depth: int, counts: dict[str, int]) -> list[Line]:
    """The lines, with what a loop begins with in front of it, and lists that only its head reads in that."""
    out: list[Line] = []
    for line in lines:
        if isinstance(line, Block) and line.kind in ("for", "while"):
            at = len(out)
            while at and _is_first(out[at - 1]):
                at -= 1
            out[at:] = _lists_first(out[at:])
            at += sum([_is_list(x) for x in out[at:]])
            if any(isinstance(x, Assignment) for x in out[at:]):
                _move_firsts(out, at)
            _make_in_head(line, out, depth, counts)
        out.append(line)
    return out


def _is_first(line: Line) -> bool:
    """A loop may begin with what the line makes."""
    return isinstance(line, Note) or _is_list(line) or (isinstance(line, Assignment) and _is_plain(line))


def _is_plain(line: Assignment) -> bool:
    """It binds variables to numbers and other variables, or to a new list."""
    values = line.value.split(", ")
    return line.sign == "=" and len(values) == len(line.names) and _FIRSTS.fullmatch(line.value) is not None


def _is_list(line: Line) -> bool:
    return isinstance(line, Assignment) and line.sign == "=" and _TOLIST.fullmatch(line.value) is not None


def _lists_first(lines: list[Line]) -> list[Line]:
    """Lists of arrays in front of what else a loop begins with, if that does not matter."""
    out = [line for line in lines if _is_list(line)]
    rest = [line for line in lines if not _is_list(line)]
    both = set(layout.words(out)) & {name for line in rest if isinstance(line, Assignment) for name in line.names}
    both |= {name for line in out if isinstance(line, Assignment) for name in line.names} & set(layout.words(rest))
    return lines if both else [*out, *rest]


def _move_firsts(out: list[Line], at: int) -> None:
    """Move new lists, numbers and zeros behind all that does not matter to them, to the statements from `at` on."""
    k = at - 1
    while k >= 0 and not isinstance(out[k], Block):
        line = out[k]
        if isinstance(line, Assignment) and line.sign == "=" and _is_new(line.value):
            alone = k > 0 and isinstance(out[k - 1], Note)
            if not alone and all(_may_follow(line, other) for other in out[k + 1 : at]):
                out.insert(at - 1, out.pop(k))
                at -= 1
        k -= 1


def _is_new(value: str) -> bool:
    return _NEW.fullmatch(value) is not None or _LIKE.fullmatch(value) is not None


def _may_follow(line: Assignment, other: Line) -> bool:
    """`line`, which makes something new, may be run after `other`."""
    if not set(line.names).isdisjoint(layout.words([other])):
        return False
    return not isinstance(other, Assignment) or set(other.names).isdisjoint(WORD.findall(line.value))


def _make_in_head(block: Block, out: list[Line], depth: int, counts: dict[str, int]) -> None:
    """Make the lists in the head of a ``for`` that nothing else reads."""
    if block.kind != "for":
        return
    for k in reversed(range(len(out))):
        line = out[k]
        if not _is_first(line):
            return
        if not isinstance(line, Assignment) or not _is_list(line) or counts.get(line.names[0]) != 2:
            continue
        if any(
            isinstance(x, Assignment) and not set(x.names).isdisjoint(WORD.findall(line.value)) for x in out[k + 1 :]
        ):
            continue  # the array has lost its name
        text, count = re.subn(rf"\b{line.names[0]}\b", line.value, block.text)
        if count == 1 and len(f"for {text}:") + 4 * depth <= LONG:
            block.text = text
            del out[k]


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
    return len(line.names) == 1 or _is_plain(line)


def _goes_with(line: Assignment | Store, group: list[Assignment | Store]) -> bool:
    first = group[0]
    if isinstance(line, Store) or isinstance(first, Store):
        return isinstance(line, Store) and isinstance(first, Store) and _form(line.place) == _form(first.place)
    bound = {name for other in group if isinstance(other, Assignment) for name in other.names}
    if not bound.isdisjoint((*line.names, *WORD.findall(line.value))):
        return False
    if _PART.fullmatch(line.value) and _PART.fullmatch(first.value):
        return line.value.split("[")[0] == first.value.split("[")[0] or _form(line.value) == _form(first.value)
    if all(_LIKE.fullmatch(x.value) for x in (line, first)):
        return True
    if all(x.value.startswith("[0.0] * ") for x in (line, first)):
        return True
    if any(x.value == "[]" or _NUMBERS.fullmatch(x.value) for x in (line, first)):
        return (line.value == "[]") == (first.value == "[]") and all(_begins(x.value) for x in (line, first))
    return _form(line.value) == _form(first.value) or _CALLEE.sub("f", line.value) == _CALLEE.sub("f", first.value)


def _begins(value: str) -> bool:
    """The value is one that variables begin with."""
    return _FIRSTS.fullmatch(value) is not None


def _form(text: str) -> str:
    """What two texts that do the same have in common."""
    return _VARIES.sub("x", text)


def _joined(group: list[Assignment | Store], width: int) -> list[Line]:
    """The statements on as few lines as there have to be, with about as many on each if that fits."""
    for count in range(1, len(group)):
        size = -(-len(group) // count)
        made = [_tuple(group[k : k + size]) for k in range(0, len(group), size)]
        if all(len(line.text) <= width for line in made):
            return [*made]
    packed: list[list[Assignment | Store]] = []
    for line in group:
        if packed and len(_tuple([*packed[-1], line]).text) <= width:
            packed[-1].append(line)
        else:
            packed.append([line])
    return [_tuple(lines) for lines in packed]


def _tuple(group: list[Assignment | Store]) -> Assignment | Store:
    places = [place for line in group for place in ([line.place] if isinstance(line, Store) else line.names)]
    text = ", ".join([line.value for line in group])
    values = text.split(", ")
    if (
        isinstance(group[0], Assignment)
        and 1 < len(places) == len(values)
        and len(set(values)) == 1
        and _ONE.fullmatch(values[0])
    ):
        return Assignment(places, "=", values[0], chained=True)
    return group[0] if len(group) == 1 else Assignment(places, "=", text)


__all__ = ["on_one_line"]
