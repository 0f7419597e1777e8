"""What a program asks of the memory of an array: flags, strides, base, sizes in bytes.

Compiled code may work on a copy of an argument, and makes arrays that the function does not. So these are asked of the
live array, under a guard; of an array that the function makes, what its layout proves; the rest is refused.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..ir.core import type_of
from .avals import FlagsOf, Ref, Seq
from .folds import proved
from .handlers import Node, Val
from .layout import Layout, layout_of
from .objects import Objects

_NAMES = ("c_contiguous", "f_contiguous", "owndata", "writeable", "aligned", "fnc", "forc")
# The attributes by their names, and by the keys in ``flags["C"]``.
FLAGS = {**dict(zip(_NAMES, _NAMES)), "contiguous": "c_contiguous"}
FLAG_KEYS = {**{name.upper(): flag for name, flag in FLAGS.items()}, **dict(zip("CFOWA", _NAMES))}
REMEDY = "ask it of an argument, or outside of the function"


class Memory(Objects):
    """Flags, strides and the like."""

    def memory_attribute(self, av: Val, name: str, node: Node) -> Val:
        """An attribute of an array, or of a number of NumPy's, that says how it lies in memory; else NotImplemented."""
        t = type_of(self.operand(av, node))
        if name in ("itemsize", "nbytes") and t.dtype is not None and t.kind in ("array", "generic"):
            size = proved("memory", t.dtype.itemsize)
            if name == "itemsize" or t.kind == "generic":
                return size
            return self.binary(operator.mul, self.array_attribute(av, "size", node), size, node)
        if type(av) is not Ref or t.kind != "array":
            return NotImplemented
        if name == "flags":
            return FlagsOf(av)
        if name == "strides":
            path, array = _live_array(self, av, "the strides", node)
            self.inputs.guard((*path, ("attr", "strides")), "eq", array.strides)
            return Seq(array.strides)
        if name == "base":
            path, array = _live_array(self, av, "the base", node)
            if self.inputs.by_path.get(path) is not av or array.base is not None:
                self.fail("the array that this is a view of", node, "pass that array")
            self.inputs.guard((*path, ("attr", "base")), "eq", None)
            return None
        return NotImplemented

    def flag(self, flags: FlagsOf, name: str | None, node: Node) -> Any:
        """``a.flags.name``, the attribute that a flag is called by."""
        if name is None:
            self.fail("this flag of an array", node, "ask for c_contiguous, f_contiguous or writeable")
        av = flags.of
        path = None if av.path else self.inputs.found_at.get(av.cell)
        if path is not None and (name != "owndata" or self.inputs.by_path.get(path) is av):
            found = bool(getattr(self.inputs.met[path].flags, name))
            self.inputs.guard((*path, ("attr", "flags"), ("attr", name)), "eq", found)
            return proved("memory", found)
        layout = layout_of(self, av) if name in ("c_contiguous", "f_contiguous", "forc") else None
        if layout == frozenset() and not av.path:
            whole = self.read(av, node)
            if name != "f_contiguous" or whole.type.ndim == 1:
                return proved("memory", True)
        cause = Layout(layout) if layout else None
        self.fail(f"whether an array that the function makes is {name}", node, REMEDY, cause=cause)


def _live_array(ctx: Memory, av: Ref, what: str, node: Node) -> tuple[Any, Any]:
    """Where an array was found, and the array; an error if the function made it."""
    path = None if av.path else ctx.inputs.found_at.get(av.cell)
    if path is None:
        ctx.fail(f"{what} of an array that the function makes", node, REMEDY)
    return path, ctx.inputs.met[path]


FLAGS_CLASS = type(np.zeros(0).flags)
