"""Which arrays are surely laid out in C order, as far as that decides whether a reshape is a view or a copy.

What depends on the layout of arguments is known where the code is for that layout only: see `plan`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ir.core import Value, type_of
from ..lowered import Path
from ..records import record
from .avals import Items, ListRef, Ref, Seq, is_constant
from .handlers import Val

if TYPE_CHECKING:
    from .core import Core


@record
class Layout:
    """The cause of a link: whether these inputs are laid out in C order is not known."""

    inputs: frozenset[Path]


TURN = ("transpose", None)
ORDERS = ("C", "F", "A", "K")  # as NumPy names them


def layout_of(interp: Core, av: Val) -> frozenset[Path] | None:
    """The inputs that have to be in C order for this to be; none if it surely is, None if nothing is known."""
    if is_constant(av) or (type(av) is Value and av.type.is_scalar):
        return frozenset()
    if type(av) is Seq:
        return layout_of_all(interp, av.items)
    if type(av) is ListRef:
        content = interp.state.heap.get(av.cell)
        return layout_of_all(interp, content.items) if type(content) is Items else None
    if type(av) is not Ref:
        return None
    inputs: frozenset[Path] | None = frozenset()
    path = av.path
    if av.cell in interp.cells.fortran:
        if path[:1] != (TURN,):
            return None
        path = path[1:]
    elif av.cell not in interp.cells.contiguous:
        inputs = interp.cells.layouts.get(av.cell)
    while path[:2] == (TURN, TURN):
        path = path[2:]
    return inputs if all(map(_keeps_order, path)) else None


def turned(av: Ref) -> Ref:
    """``av.T``."""
    return Ref(av.cell, av.path[:-1] if av.path[-1:] == (TURN,) else (*av.path, TURN))


def is_fortran(interp: Core, av: Val) -> bool:
    """Surely in Fortran order, and not in C order."""
    return type(av) is Ref and layout_of(interp, turned(av)) == frozenset() and axes_are_long(interp, av)


def layout_of_all(interp: Core, avs: Any) -> frozenset[Path] | None:
    """The same for a new array computed of these element by element: it is enough that their axes are in C order."""
    out: frozenset[Path] = frozenset()
    for av in avs:
        cut = type(av) is Ref and all(map(_keeps_axes, av.path))
        if cut and type_of(interp.read(Ref(av.cell))).ndim == 1:
            continue  # it has no order of axes
        one = layout_of(interp, Ref(av.cell) if cut else av)
        if one is None:
            return None
        out |= one
    return out


def _keeps_order(step: tuple[Any, ...]) -> bool:
    """The part is contiguous if the whole is: leading integers, then one slice, then all."""
    if step[0] != "index":
        return bool(step[0] == "reshape")
    cut = False
    for item in step[1]:
        if type(item) is slice:
            whole = item.start is None and item.stop is None and item.step is None
            if not whole and (cut or not (item.step is None or (type(item.step) is int and item.step == 1))):
                return False
        elif item is not None and item is not Ellipsis and (cut or not _is_place(item)):
            return False
        cut = cut or item is Ellipsis or type(item) is slice
    return True


def _keeps_axes(step: tuple[Any, ...]) -> bool:
    """A part that is cut out, with the axes in the order that they had."""
    return step[0] == "index" and all(
        i is None
        or i is Ellipsis
        or (type(i) is slice and (i.step is None or (type(i.step) is int and i.step > 0)))
        or _is_place(i)
        for i in step[1]
    )


def _is_place(item: Val) -> bool:
    """An index that picks one element of an axis."""
    return not isinstance(item, bool) and (isinstance(item, int) or _is_scalar(item))


def _is_scalar(item: Val) -> bool:
    return type(item) is Value and item.type.is_scalar


def deciding(interp: Core, av: Val) -> frozenset[Path] | None:
    """The inputs of which the order has to be known for that of this to be; None if it never is."""
    found = layout_of(interp, av)
    if found is None and type(av) is Ref:
        found = layout_of(interp, turned(av))
        if found is None:
            found = interp.cells.undecided.get(av.cell)
    return found


def order_like(interp: Core, cell: int, avs: Any) -> None:
    """This new array is laid out as those are from which it is computed."""
    layout = layout_of_all(interp, avs)
    if layout is not None:
        interp.cells.layouts[cell] = layout
        return
    found = [deciding(interp, x) for x in avs if type(x) is Ref]
    if found and None not in found:
        interp.cells.undecided[cell] = frozenset().union(*filter(None, found))


def mark_fortran(interp: Core, made: Any, sources: Any) -> Any:
    """`made`, computed element by element from arrays in Fortran order, vectors and numbers, is in Fortran order."""
    arrays = [x for x in sources if type(x) is Ref and type_of(interp.read(x)).ndim != 1]
    others = [x for x in sources if type(x) is not Ref]
    numbers = all((is_constant(x) and not isinstance(x, str)) or _is_scalar(x) for x in others)
    if type(made) is Ref and made.cell not in interp.cells.contiguous and arrays and numbers:
        ranks = {type_of(interp.read(x)).ndim for x in (made, *arrays)}
        if len(ranks) == 1 and all(is_fortran(interp, x) for x in arrays):
            interp.cells.fortran.add(made.cell)
    return made


def surely_copied(interp: Core, av: Ref, flat: bool) -> bool:
    """A reshape to one axis of this array is a copy; `flat`: it is done by ``ravel``."""
    if flat and not av.path and av.cell in interp.cells.scattered:
        return axes_are_long(interp, av)
    return is_fortran(interp, av)


def axes_are_long(interp: Core, av: Ref) -> bool:
    """Several axes, none of length one, so that their order in memory matters."""
    dims = interp.builder.dims
    lengths = [dims.find(d) for d in type_of(interp.read(av)).dims or ()]
    return len(lengths) > 1 and all(d > 1 if isinstance(d, int) else dims.not_one(d) for d in lengths)
