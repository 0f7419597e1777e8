"""``batch`` inside of a function that is compiled, such as ``ad.vmap(f, in_axes=(None, 0))(w, xs)`` in a user's loss.

The call is lowered into its own region, for one example. The transform of `transforms.stacked` makes a region for
stacks of it, and its operations are inlined at the call. So they are differentiated as all others are.
"""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentError, AutodiffError, UnsupportedError
from ..frontend.avals import (
    DictRef,
    Entries,
    Instance,
    Items,
    Obj,
    Partial,
    Ref,
    Seq,
    is_collection,
    is_reference,
)
from ..frontend.structures import Node, Static, leaves_in
from ..ir.core import Region, Value, type_of
from ..ir.opset import DIM, EQ, RAISE, exception
from ..ir.types import DimLike, Ty, array, generic
from ..records import record
from ..transforms.stacked import Axis, function_of_stacks
from .batching import Batched, Everywhere, _axes_in, out_axes_of, place, told
from .nested import Taken, apart, append, is_constant_function, is_function, known, opened, without_changes
from .nested_kinds import of_result

_REMEDY = "give an int or None for the whole argument, or a container like it"


@record
class Stack:
    """A leaf of an argument that is a stack: what it is called, its operand, and the axis of the examples."""

    name: str
    value: Any
    axis: int

    @property
    def length(self) -> DimLike:
        dims = type_of(self.value).dims
        assert dims is not None
        return dims[self.axis]

    def param(self, region: Region) -> Value:
        """A parameter for one example."""
        t: Ty = type_of(self.value)
        assert t.dims is not None
        dims = (*t.dims[: self.axis], *t.dims[self.axis + 1 :])
        return region.param(array(t.dtype, dims) if dims else generic(t.dtype), self.value.hint)

    def argument(self, interp: Any, param: Value) -> Any:
        """The abstract value of an example: an array of its own, laid out as C does."""
        return interp.fresh(param, contiguous=True)


def lower_batched(
    interp: Any, callee: Any, in_axes: Any, out_axes: Any, args: list[Any], kwargs: dict[str, Any]
) -> Any:
    """The abstract result of calling the batch of the abstract function `callee`."""
    loc = interp.builder.loc
    if isinstance(in_axes, tuple) and len(in_axes) != len(args):
        raise ArgumentError(
            f"batch: in_axes has {len(in_axes)} entries, and the call {len(args)} positional arguments",
            loc,
            "give one entry for each positional argument; keyword arguments are mapped over axis 0",
        )
    axes = dict(enumerate(in_axes)) if isinstance(in_axes, tuple) else dict.fromkeys(range(len(args)), in_axes)

    def structure(where: Any, av: Any) -> Any:
        given = 0 if isinstance(where, str) else axes[where]
        return _structure(interp, av, given, where if isinstance(where, str) else f"argument {where}")

    taken = apart(interp, callee, [*range(len(args)), *kwargs], structure, "batch", args, kwargs)
    stacks = [leaf for s in taken.structures for leaf in leaves_in(s)]
    if not stacks:
        raise ArgumentError(
            "batch: no argument is a stack: in_axes is None for all of them", loc,
            "give the axis of an argument, or call the function itself",
        )  # fmt: skip
    _check_lengths(interp, stacks)
    return _stacked(interp, without_changes(interp, taken, "batch"), stacks, out_axes)


def _stacked(interp: Any, taken: Taken, stacks: list[Stack], out_axes: Any) -> Any:
    loc = interp.builder.loc
    outs = out_axes_of(taken.tree, len(taken.inner.results), out_axes, loc)
    axes = {k: Axis(stack.axis, stacks[0].length) for k, stack in enumerate(stacks)}
    try:
        fn, why = function_of_stacks(taken.inner, axes, [axis is not None for axis in outs])
    except AutodiffError as error:
        error.loc = error.loc or loc
        raise
    for k, axis in enumerate(outs):
        place(fn, k, axis, loc)
    if why is not None:
        interp.inputs.alone[told(why)] = None
    append(interp, fn, taken.actual)
    exits = fn.body.exit
    return of_result(interp, taken.tree, lambda k: interp.fresh(exits[k], contiguous=not outs[k]))


def _check_lengths(interp: Any, stacks: list[Stack]) -> None:
    """Raise an error, here or when the program runs, if the stacks have different numbers of examples."""
    first = stacks[0]
    builder = interp.builder
    for other in stacks[1:]:
        if builder.region.dims.same(first.length, other.length):
            continue
        listed = f"{first.name} and {other.name} have different lengths along axes {first.axis} and {other.axis}"
        regions = (builder.new_region(), builder.new_region())
        lengths = [builder.emit(DIM, s.value, s.axis) for s in (first, other)]
        equal = builder.emit(EQ, *lengths)
        with builder.inside(regions[1]):
            builder.emit(RAISE, builder.emit(exception(ArgumentError), f"batch: {listed}"))
        builder.if_(equal, *regions, [], [])
        builder.region.ops[-1].checks = True
        builder.dims.unify(first.length, other.length)


# --- which arguments are stacks ---------------------------------------------------------------------------------------


def _structure(interp: Any, av: Any, axes: Any, name: str, held: bool = False) -> Any:
    """The structure of an argument: its leaves are stacks, and the rest is the same for all examples.

    held: it is part of an object, where only arrays are stacks
    """
    loc = interp.builder.loc
    if axes is None or (isinstance(axes, Everywhere) and axes.axis is None) or av is None:
        return Static(av)
    av = opened(interp, av)
    if type(av) is Ref or type(av) is Value or isinstance(av, (int, float, complex)):
        value = interp.operand(av)
        t = type_of(value)
        if t.kind == "array" and type(value) is Value:
            return Stack(name, value, _axis(t, axes, name, loc))
        if held:
            return Static(av)
        if t.dims is None:
            raise UnsupportedError(
                f"batch: the number of axes of {name} is not known here",
                loc,
                "pass np.asarray of it, and check its ndim",
            )
        raise ArgumentError(
            f"batch: {name} is a number, which has no axis to map over", loc,
            "pass an array of one for each example, or None in in_axes for it",
        )  # fmt: skip
    content: Any = interp.checked(av.cell, None) if is_reference(av) and not is_collection(av) else av
    if type(content) not in (Seq, Items, Entries):
        if held:
            return Static(av)
        raise ArgumentError(
            f"batch: {name} is not an array or a container of arrays",
            loc,
            f"pass np.asarray of {name}, or None in in_axes",
        )
    held = held or type(av) is Instance
    keys = content.keys if type(content) is Entries else range(len(content.items))
    if not isinstance(axes, Everywhere) and not isinstance(axes, int):
        fits = len(axes) == len(content.items) and isinstance(axes, dict) == (type(av) is DictRef)
        if not fits or (isinstance(axes, dict) and set(axes) != set(keys)):
            raise ArgumentError(
                f"batch: in_axes has {axes!r} for {name}, which has {len(content.items)} parts", loc, _REMEDY
            )
    whole = Everywhere(axes) if isinstance(axes, int) else axes
    parts = [
        _structure(interp, x, _axes_in(whole, key), f"{name}[{key!r}]", held) for key, x in zip(keys, content.items)
    ]
    return Node(av, None if av is content else content.keys, tuple(parts))


def _axis(t: Ty, axes: Any, name: str, loc: Any) -> int:
    """The number of the axis of the examples, counted from the front."""
    axis = axes.axis if isinstance(axes, Everywhere) else axes
    if not isinstance(axis, int):
        raise ArgumentError(f"batch: in_axes has {axes!r} for {name}, which is an array", loc, _REMEDY)
    if t.dims is None:
        raise UnsupportedError(
            f"batch: the number of axes of {name} is not known here", loc, "make it known, e.g. by reshape"
        )
    rank = len(t.dims)
    if not -rank <= axis < rank:
        raise ArgumentError(
            f"batch: {name} is to be mapped over axis {axis}, and has {rank} axes", loc,
            f"in_axes is {f'at least {-rank} and less than {rank}' if rank else 'None'} for it",
        )  # fmt: skip
    return axis % rank


# --- the call of batch itself -----------------------------------------------------------------------------------------


class AbstractBatch:
    """The batch of a function that exists only while the program is lowered: a lambda or a nested function."""

    def __init__(self, callee: Any, in_axes: Any, out_axes: Any):
        self.callee, self.axes = callee, (in_axes, out_axes)

    def __autodiff_lower__(self, interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return lower_batched(interp, self.callee, *self.axes, args, kwargs)


def lower_batch(interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The abstract result of a call of ``batch`` in a function that is compiled."""
    from .batching import batch

    given = {**dict(zip(("fun", "in_axes", "out_axes"), args)), **kwargs}
    callee = given.pop("fun", None)
    if callee is None:
        return Partial(Obj(batch, (("object", batch),)), (), tuple(given), tuple(given.values()))
    axes = [known(interp, given.get(name, 0), f"batch: {name}") for name in ("in_axes", "out_axes")]
    if isinstance(axes[0], list):
        axes[0] = tuple(axes[0])
    if is_constant_function(callee):
        made: Any = Batched(callee.obj, *axes)
    elif is_function(callee):
        made = AbstractBatch(callee, *axes)
    else:
        raise ArgumentError(
            "batch needs a function", interp.builder.loc, "pass the name of a function, a lambda or a method"
        )
    return Obj(made, (("object", made),))


__all__ = ["lower_batch", "lower_batched"]
