"""The values that a call of a function with rules of its own takes, gives and saves: how they are put together.

Takes abstract values. Gives structures of which the leaves are a `Piece` for each number and array, and answers whether
two of them have one form.
"""

from __future__ import annotations

from typing import Any

from ..ir.core import IF, LOOP, TRY, Value, leaves, type_of
from ..ir.types import Ty
from ..records import record
from ..tree import flatten, is_object
from .avals import Columns, Conflict, Instance, ListRef, Maybe, Obj, Ref, Seq, describe, is_collection, is_constant
from .handlers import Ctx, Node, Val
from .structures import Node as Parts
from .structures import Static, leaves_in, structure_of


@record
class Piece:
    """A leaf: the abstract value and the operand that it is."""

    av: Any
    value: Any

    @property
    def moves(self) -> bool:
        """It may have a tangent."""
        return not isinstance(self.value, (bool, int)) and type_of(self.value).may_be_float


def opened(ctx: Ctx, av: Val) -> Val:
    """An object from outside that holds floats, as one of which the attributes are arguments."""
    outside = type(av) is Instance and not is_collection(av) and av.cell in ctx.inputs.outside
    if outside or (type(av) is Obj and is_object(av.obj) and flatten(av.obj)[0]):
        return ctx.shallow_copy(av, None)
    return av


def taken_apart(ctx: Ctx, av: Val, node: Node) -> Any:
    """The structure of a value, with a `Piece` for each number and array that a call may be differentiated by."""

    def leaf(av: Val) -> Any:
        kind = type(av)
        if kind is Maybe or kind is Conflict:
            return taken_apart(ctx, ctx.use(av, "the value", node), node)
        if kind is Value or kind is Ref:
            return Piece(av, ctx.operand(av, node))
        if isinstance(av, (float, complex)):
            return Piece(av, av)
        if kind is ListRef and type(ctx.checked(av.cell, node, "list")) is Columns:
            return Piece(av, ctx.one_list(ctx.content(av.cell), node))
        return None

    return structure_of(ctx, av, leaf)


def values_in_order(structure: Any) -> list[Any]:
    """The leaves that are values, which is all that a rule has to be handed."""
    return [leaf.value for leaf in leaves_in(structure) if type(leaf.value) is Value]


def without_statics(structure: Any) -> Any:
    """The structure with None for what is the same in all its values: an int or a text has no tangent."""
    if type(structure) is Parts:
        return Parts(structure.sample, structure.keys, tuple([without_statics(p) for p in structure.parts]))
    return Static(None) if type(structure) is Static and type(structure.av) is not Obj else structure


def same_form(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if type(a) is Parts:
        alike = type(a.sample) is type(b.sample) and getattr(a.sample, "cls", None) is getattr(b.sample, "cls", None)
        return alike and a.keys == b.keys and len(a.parts) == len(b.parts) and all(map(same_form, a.parts, b.parts))
    if type(a) is Static:
        return (
            a.av is b.av
            or bool(is_constant(a.av) and type(a.av) is type(b.av) and a.av == b.av)
            or (type(a.av) is type(b.av) is Obj and a.av.obj is b.av.obj)
        )
    return (type(a.av) is ListRef) == (type(b.av) is ListRef)


def form_of(structure: Any) -> str:
    """A structure for an error message."""
    if type(structure) is Parts:
        parts = [form_of(p) for p in structure.parts]
        if type(structure.sample) is Seq:
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        if structure.keys is None:
            return f"[{', '.join(parts)}]"
        return "{" + ", ".join([f"{k!r}: {p}" for k, p in zip(structure.keys, parts)]) + "}"
    if type(structure) is Static:
        return repr(structure.av) if is_constant(structure.av) else describe(structure.av)
    return str(type_of(structure.value))


def same_type(dims: Any, s: Ty, t: Ty) -> bool:
    if s == t:
        return True
    if s.kind != t.kind or (s.dtype is None) != (t.dtype is None) or s.dtype != t.dtype or s.elem != t.elem:
        return False
    if s.dims is None or t.dims is None:
        return s.dims is t.dims
    return len(s.dims) == len(t.dims) and all(map(dims.same, s.dims, t.dims))


def may_agree(dims: Any, s: Ty, t: Ty) -> bool:
    """Both may be types of one value."""
    if (s.kind == "list") != (t.kind == "list"):
        return False
    if s.dtype is not None and t.dtype is not None and s.dtype != t.dtype:
        return False
    if s.dims is None or t.dims is None:
        return True
    if len(s.dims) != len(t.dims):
        return False
    known = [(dims.find(a), dims.find(b)) for a, b in zip(s.dims, t.dims)]
    return all(a == b for a, b in known if isinstance(a, int) and isinstance(b, int))


def beside(t: Ty) -> Ty:
    """The facts that hold of any tangent or cotangent of a value of this type."""
    if t.is_scalar:
        return Ty("scalar", t.dtype if t.is_float else None, (), real=t.is_real and not t.is_float)
    return Ty(t.kind, t.dtype if t.is_float else None, t.dims, t.elem)


def roots_of(v: Any, depth: int = 12) -> frozenset[Value] | None:
    """The values of which a result may share the memory; None: that is not known."""
    if type(v) is not Value or v.type.is_scalar:
        return frozenset()
    op = v.op
    if op is None:
        return frozenset([v])
    if not depth or op.prim in (IF, LOOP, TRY):
        return None
    if op.prim.alias == "fresh":
        return frozenset([v])
    found = [roots_of(x, depth - 1) for x in leaves((op.args, op.kwargs))]
    return None if None in found else frozenset().union(*[f for f in found if f is not None])


def may_share(v: Any) -> bool:
    """A result may share memory with what the function was given."""
    roots = roots_of(v)
    return roots is None or any(root.op is None for root in roots)


__all__ = [
    "Piece",
    "beside",
    "form_of",
    "may_agree",
    "may_share",
    "roots_of",
    "opened",
    "same_form",
    "same_type",
    "taken_apart",
    "values_in_order",
    "without_statics",
]
