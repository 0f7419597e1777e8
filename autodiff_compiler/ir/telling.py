"""Telling names: what a value is called to which the user gave no name.

The name is made of the operation that computes the value, and of what its operands are called. It is short, or there is
none. A name of this kind is a hint of a class of its own, as it gives way to the names that users wrote.

>>> from autodiff_compiler.api.stages import show_source
>>> def f(x, a):
...     y = x[0] * math.sin(a)
...     return math.exp(x[1] * y) / (1.0 + y)
>>> import math, numpy as np
>>> show_source(f, np.ones(2), 0.5)
def f_grad(x, a):
    sin_a = math.sin(a)
    y = x[0] * sin_a
    x_1 = x[1]
    exp_x_1_y = math.exp(x_1 * y)
    one_plus_y = 1.0 + y
    # adjoint of line 3: return math.exp(x[1] * y) / (1.0 + y)
    exp_x_1_y_bar = 1.0 / one_plus_y
    x_1_y_bar = exp_x_1_y_bar * exp_x_1_y
    x_bar = np.zeros(x.shape)
    x_bar[1] = x_1_y_bar * y
    # adjoint of line 2: y = x[0] * math.sin(a)
    x_bar[0] = (x_1_y_bar * x_1 - exp_x_1_y_bar * (exp_x_1_y / one_plus_y)) * sin_a
    return x_bar
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .core import Op, Value

LONGEST = 16  # characters of a name
DEPTH = 3  # operations that a name tells of
OF_LISTS = ("list_get", "list_item", "table_row")
PLAIN = frozenset([int, float, bool, complex, str, type(None)])
# How loosely the parts of a name bind: ``x_i``, ``sin_x``, ``a_b``, ``a_over_b``, ``a_plus_b``. A part that binds more
# loosely than what is around it would be read wrong, so there is no such name.
ATOM, APPLIED, PRODUCT, QUOTIENT, SUM = range(5)
Name = tuple[str, int]  # and how loosely it binds
NOTHING: Name = ("", ATOM)


class Telling(str):
    """A hint that no user wrote.

    exact:    differs for two operations that have one name, such as sums over different axes
    level:    how loosely its parts bind
    suffixed: of what goes with a value, such as its cotangent; no other name is made of it
    """

    __slots__ = ("exact", "level", "suffixed")
    exact: str
    level: int
    suffixed: bool

    def __new__(cls, name: str, exact: str = "", level: int = ATOM, suffixed: bool = False) -> Telling:
        made = super().__new__(cls, name)
        made.exact, made.level, made.suffixed = exact, level, suffixed
        return made


NONE = Telling("")


def with_suffix(v: Any, suffix: str) -> str:
    """The hint for what goes with a value, such as its cotangent: the value's name and the suffix, or nothing."""
    hint = name_of(v)
    if type(hint) is Telling:
        fits = 0 < len(hint) <= LONGEST - len(suffix)
        return Telling(hint + suffix, hint.exact + suffix, ATOM, True) if fits else NONE
    return hint + suffix if hint else ""


def give(v: Any, hint: str) -> None:
    """Give a value a hint, unless it has one. A user's name goes before others."""
    if type(v) is Value and (not v.hint or (hint and type(v.hint) is Telling and type(hint) is not Telling)):
        v.hint = hint


def name_of(v: Any) -> str:
    """The value's hint, or a telling name."""
    return "" if type(v) is not Value else v.hint or telling(v)


def telling(v: Value, depth: int = DEPTH) -> Telling:
    """A name from what computes the value; empty if there is no short one."""
    op = v.op
    if op is None or op.regions or op.prim.nout != 1 or op.prim.effects or not depth:
        return NONE
    rule = RULES.get(op.prim.name)
    if rule is not None:
        name, level = rule(op, depth - 1)
    elif op.prim.name.startswith(("np.", "math.")):
        name, level = _applied(op.prim.name.rpartition(".")[2], op, depth - 1)
    else:
        return NONE
    return Telling(name, _exact(op, depth), level) if 0 < len(name) <= LONGEST else NONE


def _exact(x: Any, depth: int) -> str:
    """A text that differs for what differs."""
    if type(x) is Value:
        hint = x.hint or telling(x, depth)
        return hint.exact if type(hint) is Telling else hint or f"#{id(x)}"
    if isinstance(x, Op):
        if x.prim.name == "get" or x.prim.name in OF_LISTS:  # an element is the same in an array and in its list
            place = _place(x, depth - 1)
            if place:
                return f"{_exact(x.args[0], depth - 1).removesuffix('_list')}[{place}]"
        args = [_exact(arg, depth - 1) for arg in (*x.args, *x.kwargs.values())]
        return f"{x.prim.name}({', '.join(args)})"
    if type(x) is tuple:
        return f"({', '.join([_exact(part, depth) for part in x])})"
    if type(x) is slice:
        return f"slice{_exact((x.start, x.stop, x.step), depth)}"
    return repr(x) if type(x) in PLAIN else f"#{id(x)}"


def _part(x: Any, depth: int, loosest: int = ATOM) -> Name:
    """What an operand is called, unless its parts bind more loosely than this."""
    if type(x) is not Value:
        return NOTHING
    hint = x.hint or telling(x, depth)
    level = ATOM
    if type(hint) is Telling:
        if hint.suffixed:
            return NOTHING
        level = hint.level
    fits = level <= loosest and hint.isidentifier() and hint[0] != "_"
    return (hint.removesuffix("_list"), level) if fits else NOTHING


def _joined(level: int, *words: str) -> Name:
    return ("_".join(words), level) if all(words) else NOTHING


def _applied(function: str, op: Op, depth: int) -> Name:
    """A function of one or two values: ``exp_z``."""
    values = [arg for arg in op.args if type(arg) is Value]
    if not 0 < len(values) < 3:
        return NOTHING
    if any(type(arg) in (tuple, list) for arg in op.args) or any(type(arg) is Value for arg in op.kwargs.values()):
        return NOTHING
    most = PRODUCT if len(values) == 1 else ATOM
    return _joined(APPLIED, function, *[_part(v, depth, most)[0] for v in values])


# --- operators --------------------------------------------------------------------------------------------------------

LEADING = {0.5: "half", 1: "one", 2: "two", 3: "three", 4: "four"}
POWERS = {2: "sq", 3: "cubed"}


def _constant(x: Any) -> str:
    return LEADING.get(x, "") if type(x) in (int, float) else ""


def _trailing(x: Any, depth: int, loosest: int) -> str:
    if type(x) in (int, float):
        return str(int(x)) if 0 < x < 100 and x == int(x) else ""
    return _part(x, depth, loosest)[0]


def _sum(word: str) -> Callable[[Op, int], Name]:
    def name(op: Op, depth: int) -> Name:
        if len(op.args) == 1:
            return _joined(PRODUCT, word, _part(op.args[0], depth, PRODUCT)[0])
        a, b = op.args
        return _joined(SUM, _constant(a) or _part(a, depth, SUM)[0], word, _trailing(b, depth, QUOTIENT))

    return name


def _product(op: Op, depth: int) -> Name:
    a, b = op.args
    if a is b:
        return _joined(ATOM, _part(a, depth)[0], "sq")
    if type(b) is not Value:
        a, b = b, a
    first, level = (_constant(a), ATOM) if type(a) is not Value else _part(a, depth, PRODUCT)
    second, last = _part(b, depth, APPLIED)
    if level == APPLIED:  # ``sin_x_y`` would be the sine of a product
        if last == APPLIED or op.prim.name not in ("*", "np.multiply"):
            return NOTHING
        first, second = second, first
    return _joined(PRODUCT, first, second)


def _quotient(op: Op, depth: int) -> Name:
    a, b = op.args
    if type(a) in (int, float):
        return _joined(APPLIED, "inv" if a == 1 else "", _part(b, depth, PRODUCT)[0])
    return _joined(QUOTIENT, _part(a, depth, PRODUCT)[0], "over", _trailing(b, depth, APPLIED))


def _power(op: Op, depth: int) -> Name:
    a, b = op.args
    word = POWERS.get(b, "") if type(b) in (int, float) else "_".join(filter(None, ("to", _part(b, depth)[0])))
    return _joined(ATOM, _part(a, depth)[0], "" if word == "to" else word)


# --- elements and parts -----------------------------------------------------------------------------------------------

PARTS = {
    (1, None, None): "tail",
    (None, -1, None): "head",
    (1, -1, None): "inner",
    (None, None, -1): "flipped",
    (None, None, 2): "even",
    (1, None, 2): "odd",
}


def _element(op: Op, depth: int) -> Name:
    return _joined(ATOM, _part(op.args[0], depth)[0], _place(op, depth))


def _place(op: Op, depth: int) -> str:
    """Which element or part an operation reads: ``i_j``, ``tail``, ``T``."""
    path = op.args[1]
    if op.prim.name in OF_LISTS:
        more = op.args[2] if op.prim.name == "list_item" else 0
        return _subscript(path, depth) if not more else _beside(path, more, depth)
    if len(path) != 1 or path[0][0] not in ("index", "transpose"):
        return ""
    return "T" if path[0][0] == "transpose" else _subscripts(path[0][1], depth)


def _subscripts(items: tuple[Any, ...], depth: int) -> str:
    """``0``, ``i_j``, ``tail``; ``col_0`` for what stands behind one axis that is left whole."""
    words = ["" if _is_whole(item) else _subscript(item, depth) for item in items]
    if not all(word or _is_whole(item) for word, item in zip(words, items)):
        return _axes(items)
    while words and not words[-1]:
        words.pop()
    if len(words) > 1 and set(words) == {"inner"}:
        return "inner"
    if len(words) == 2 and not words[0]:
        words[0] = "cols" if type(items[1]) is slice else "col"
    return "_".join(words) if all(words) else ""


def _is_whole(item: Any) -> bool:
    return item is Ellipsis or (type(item) is slice and (item.start, item.stop, item.step) == (None, None, None))


def _axes(items: tuple[Any, ...]) -> str:
    """For ``x[None, :]`` and ``x[:, None]``."""
    shape = [item is None or (_is_whole(item) and None) for item in items]
    return {(True,): "row", (True, None): "row", (None, True): "col"}.get(tuple(shape), "")


def _subscript(item: Any, depth: int) -> str:
    if type(item) is slice:
        ends = (item.start, item.stop, item.step)
        if all(end is None or type(end) is int for end in ends) and ends in PARTS:
            return PARTS[ends]
        start, stop = _end(item.start, depth), _end(item.stop, depth)
        if item.step is not None or (item.start is not None and not start) or (item.stop is not None and not stop):
            return ""
        return f"{start}_to_{stop}" if start and stop else f"from_{start}" if start else f"to_{stop}" if stop else ""
    return "last" if type(item) is int and item == -1 else _end(item, depth)


def _end(x: Any, depth: int) -> str:
    """An index: ``2``, ``i``; ``next`` and ``prev`` for those beside it."""
    if type(x) is int:
        return str(x) if x >= 0 else f"minus_{-x}"
    op = x.op if type(x) is Value and not x.hint else None
    if op is not None and op.prim.name in ("+", "-") and len(op.args) == 2 and type(op.args[1]) is int:
        return _beside(op.args[0], op.args[1] if op.prim.name == "+" else -op.args[1], depth)
    return _part(x, depth)[0]


def _beside(x: Any, more: int, depth: int) -> str:
    """The index next to another one."""
    word = {1: "next", -1: "prev"}.get(more, "")
    return word if _part(x, depth)[0] else ""


RULES: dict[str, Callable[[Op, int], Name]] = {
    **dict.fromkeys(["+", "np.add"], _sum("plus")),
    **dict.fromkeys(["-", "np.subtract", "np.negative"], _sum("minus")),
    **dict.fromkeys(["*", "@", "np.multiply", "np.matmul", "np.dot"], _product),
    **dict.fromkeys(["/", "divided", "np.divide", "np.true_divide"], _quotient),
    **dict.fromkeys(["**", "raised", "np.power"], _power),
    "float": lambda op, depth: _part(op.args[0], depth, SUM),
    "get": _element,
    "list_get": _element,
    "list_item": _element,
    "table_row": _element,
}


__all__ = ["Telling", "give", "name_of", "telling", "with_suffix"]
