"""Control flow, which runs eagerly: `cond`, `while_loop`, `map_fn`, `scan`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...tape.nest import flatten, map_nested, pack_like
from ...tape.tensor import Operand
from .made import stack, unstack
from .operands import integer
from .tensors import convert_to_tensor


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    """``true_fn()`` or ``false_fn()``."""
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError("'true_fn' and 'false_fn' arguments must be callable")
    return true_fn() if bool(pred) else false_fn()


def _tensors(x: Any) -> Any:
    """A structure with tensors for numbers and arrays."""
    return map_nested(lambda leaf: leaf if leaf is None or isinstance(leaf, Operand) else convert_to_tensor(leaf), x)


def while_loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, *, maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Run `body` on the loop variables while `cond` of them is true; their last values, in a list or tuple as `body`
    returned them."""
    kind = type(loop_vars)
    made = [_tensors(v) for v in loop_vars]
    left = -1 if maximum_iterations is None else integer(maximum_iterations)
    while left and bool(cond(*made)):
        out = body(*made)
        if isinstance(out, (list, tuple)) and not hasattr(out, "_fields") and len(out) == len(made):
            made, kind = list(out), type(out)
        elif len(made) == 1:
            made = [out]
        else:
            raise ValueError("The two structures don't have the same nested structure.")
        made = [_tensors(v) for v in made]
        left -= 1
    return tuple(made) if kind is tuple else made


def _rows(elems: Any) -> list[Any]:
    """The parts of a structure of tensors along their first axis."""
    made = _tensors(elems)
    columns = [unstack(x) for x in flatten(made)]
    return [pack_like(made, list(row)) for row in zip(*columns)]


def stacked(results: list[Any]) -> Any:
    """Structures as one, whose tensors are stacked."""
    columns = zip(*[flatten(r) for r in results])
    return pack_like(results[0], [stack(column) for column in columns])


def map_fn(fn: Callable[..., Any], elems: Any, *, fn_output_signature: Any = None, name: str | None = None) -> Any:
    """`fn` of each part along the first axis, stacked."""
    return stacked([fn(row) for row in _rows(elems)])


def scan(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, *, reverse: bool = False, name: str | None = None
) -> Any:  # fmt: skip
    """All values of ``state = fn(state, part)`` along the first axis, stacked."""
    rows = _rows(elems)[:: -1 if reverse else 1]
    states = [rows.pop(0) if initializer is None else _tensors(initializer)]
    for row in rows:
        states.append(_tensors(fn(states[-1], row)))
    return stacked(states[initializer is not None :][:: -1 if reverse else 1])
