"""Checkpoints, in a function that is compiled: a call becomes a region that is reversed as one."""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentError, UnsupportedError
from ..frontend.avals import CheckpointedOf, Obj
from ..frontend.core import Unreachable
from ..ir.core import FUNC, type_of
from ..ir.opset import may_repeat
from ..ir.rewrite import drop_uncalled
from ..transforms.checkpoint import keep_apart
from .checkpoints import AbstractCheckpoint, Checkpoint, misfit
from .nested import is_constant_function, is_function, node_at
from .nested_state import Changes

_RESULT = "$checkpoint"


def lower_checkpoint(interp: Any, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The abstract result of calling the abstract function `callee` as a checkpoint."""
    loc = interp.builder.loc
    node = node_at(loc)
    start = interp.state
    region = interp.builder.new_region()
    outer_top, outer_scope = interp.func_top, interp.func_scope
    at_top = interp.builder.region is outer_top
    env = interp.frame.env
    interp.state = start.fork()
    ends = True
    with interp.path(interp.state, region):
        interp.func_top, interp.func_scope = region, len(interp.builder._scopes)
        try:
            # What it returns is a variable like others that it changes: it may share memory with these.
            interp.state.envs[env][_RESULT] = interp.call(callee, args, kwargs, node)
        except Unreachable:
            ends = False
        end = interp.state
    interp.func_top, interp.func_scope = outer_top, outer_scope
    interp.state = start
    interp.builder.loc = loc
    drop_uncalled(region)
    _check(interp, region, at_top)
    changes = Changes(interp, start, end) if ends else None
    region.exit = tuple(changes.values) if changes is not None else ()
    found = keep_apart(interp.builder, region, [type_of(v) for v in region.exit], [v.hint for v in region.exit])
    if changes is None:
        raise Unreachable
    changes.apply(interp, dict(zip(changes.values, found)))
    return interp.state.envs[env].pop(_RESULT)


def _check(interp: Any, region: Any, at_top: bool) -> None:
    """Refuse what cannot be run a second time."""
    for op in region.walk():
        if not may_repeat(op):
            raise UnsupportedError(
                f"a checkpoint of a function that has effects ({op.prim.name}): they would happen twice",
                op.loc or interp.builder.loc,
                "do it outside of the checkpoint, and pass what it gives",
            )
    if not at_top and any(op.prim is FUNC for op in region.ops):
        raise UnsupportedError(
            "a checkpoint of a recursive function inside a loop, a branch or another recursion",
            interp.builder.loc,
            "take it at the top level of the function",
        )


def lower_checkpoint_of(interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The abstract result of a call of ``checkpoint`` in a function that is compiled."""
    callee = args[0] if args else kwargs.get("fun")
    made: Any
    if callee is not None and is_constant_function(callee):
        made = Checkpoint(callee.obj)
    elif callee is not None and is_function(callee):
        made = AbstractCheckpoint(callee)
    else:
        raise ArgumentError(
            "checkpoint needs a function", interp.builder.loc, "pass the name of a function, a lambda or a method"
        )
    return Obj(made, (("object", made),))


def lower_checkpointed(interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The abstract result of a call of ``checkpointed`` in a function that is compiled."""
    given = {**dict(zip(("iterable", "segments"), args)), **kwargs}
    segments, snapshots, disk, directory = map(given.get, ("segments", "snapshots", "disk", "directory"))
    wrong = misfit(segments, snapshots, disk, directory)
    if wrong is None and not (directory is None or isinstance(directory, str)):
        wrong = "checkpointed needs a directory that is known when the program is compiled", "give a text"
    if wrong is not None:
        raise ArgumentError(wrong[0], interp.builder.loc, wrong[1])
    return CheckpointedOf(given.get("iterable"), (segments, snapshots, disk), directory)


__all__ = ["lower_checkpoint", "lower_checkpoint_of", "lower_checkpointed"]
