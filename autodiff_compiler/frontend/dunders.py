"""Special methods of built-in things that are called by their names, as in ``a.__setitem__(0, x)``."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..ir.core import Value, type_of
from .avals import Instance, ListRef, Obj, Ref, Seq, describe, is_collection, is_number
from .handlers import Node, Val

_STEMS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift", "and", "or", "xor")
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
# Those that a built-in function or one of `operator` stands for, with the object first.
_FUNCTIONS: dict[str, Any] = {
    "abs": abs, "neg": operator.neg, "pos": operator.pos, "invert": operator.invert, "len": len, "bool": bool,
    "float": float, "int": int, "complex": complex, "str": str, "repr": repr, "format": format, "round": round,
    "iter": iter, "next": next, "reversed": reversed, "getitem": operator.getitem, "setitem": operator.setitem,
    "delitem": operator.delitem, "contains": operator.contains,
}  # fmt: skip

# ``operator.iadd`` and the like, and the operators that they assign with.
IN_PLACE = {getattr(operator, f"__i{stem}__"): getattr(operator, f"__{stem}__") for stem in _STEMS}
IN_PLACE[operator.iconcat] = operator.add


def _operation(stem: str) -> Any:
    return getattr(operator, f"__{stem}__")


def call_dunder(lw: Any, av: Val, name: str, args: list[Val], node: Node) -> Val:
    """``av.name(*args)`` for the name of a special method; NotImplemented if it is none of those known here."""
    stem = name[2:-2]
    if stem in _FUNCTIONS:
        return lw.call(Obj(_FUNCTIONS[stem], None), [av, *args], {}, node)
    lowered: Callable[[], Any]
    if len(args) != 1:
        return NotImplemented
    other = args[0]
    if stem in _COMPARISONS:
        lowered = lambda: lw.compare_with(_operation(stem), av, other, node)
    elif stem in _STEMS:
        lowered = lambda: lw.binary(_operation(stem), av, other, node)
    elif stem[:1] == "r" and stem[1:] in _STEMS:
        lowered = lambda: lw.binary(_operation(stem[1:]), other, av, node)
    elif stem[:1] == "i" and stem[1:] in _STEMS:
        return changed(lw, _operation(stem[1:]), av, other, node)
    else:
        return NotImplemented
    if not _takes(lw, av, other, node):
        what = f"{name}() of {describe(av)} and {describe(other)}: which of the two has the say is not known"
        lw.fail(what, node, "use the operator")
    return lowered()


def changed(lw: Any, fn: Any, av: Val, other: Val, node: Node) -> Val:
    """``operator.iadd(av, other)`` and the like."""
    done, made = lw.augmented(fn, av, other, node)
    return av if done else made


def _takes(lw: Any, av: Val, other: Val, node: Node) -> bool:
    """The method of `av` computes with `other`, and does not leave it to other's."""
    if type(av) is Ref and type_of(lw.read(av, node)).kind == "array":
        return type(other) in (Ref, Value, Seq, ListRef) or is_number(other)
    mine, its = lw.class_of(av, node), lw.class_of(other, node)
    if mine is None or its is None:
        return False
    if type(av) is Value or is_number(av):
        order = (bool, int, float, complex)
        if mine in order:
            return its in order[: order.index(mine) + 1]
        return type(other) is Value or is_number(other)
    sets = (set, frozenset)
    return mine is its or (mine in sets and its in sets)


def is_builtin_thing(av: Val) -> bool:
    """A container, number or array, whose special methods are Python's or NumPy's own."""
    return type(av) not in (Obj, Instance) or is_collection(av)
