"""Texts that the program makes of what only the run tells.

Of ints and of other such texts alone, Python makes one text, and nothing else happens. How floats and arrays are shown
is decided by settings of NumPy's, and an object has a method that may do anything: these calls are effects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ir.core import Prim, Value
from ..ir.opset import FORMAT, gives, opaque
from ..ir.types import OBJECT
from .avals import is_constant
from .handlers import Node, Val

if TYPE_CHECKING:
    from .core import Core


def is_text(ctx: Core, av: Val) -> bool:
    return isinstance(av, str) or (type(av) is Value and ctx.known_objects.get(av) is str)


def text_by(ctx: Core, fn: Any, name: str, args: list[Val], kwargs: dict[str, Val], node: Node) -> Any:
    """What ``fn(*args, **kwargs)`` gives, which makes a text of plain values."""
    if all(_is_settled(ctx, a) for a in [*args, *kwargs.values()]):
        return _known(ctx, ctx.emit(node, Prim(name, fn, infer=gives(OBJECT), params=("*args",)), *args, **kwargs))
    return ctx.emit(node, opaque(fn, name), *args, **kwargs)


def joined_texts(ctx: Core, parts: list[Val], node: Node) -> Value:
    """These texts, one behind the other."""
    return _known(ctx, ctx.emit(node, FORMAT, *parts))


def _known(ctx: Core, made: Value) -> Value:
    ctx.known_objects[made] = str
    return made


def _is_settled(ctx: Core, av: Val) -> bool:
    """It is shown as it is, whatever was set before."""
    if type(av) is Value and av.type.kind == "py":
        return av.type.dtype is not None and av.type.dtype.kind in "bi"
    return is_constant(av) or is_text(ctx, av)
