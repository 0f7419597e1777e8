"""On a tape: functions with rules of their own, `on_gradient` and `nondifferentiable`, as in compiled code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..api.custom import HOOKED_ON_TAPE, ON_TAPE
from ..operations.numerical import CONSTANT_ON_TAPE
from .custom import isolated, record_barrier, stop_gradient, tensor_or_none
from .function import function
from .nest import flatten, pack_like
from .tensor import Operand, wrap


def _holds_tensors(*nests: Any) -> bool:
    return any(isinstance(x, Operand) for x in flatten(list(nests)))


def _custom_on_tape(made: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function of `custom_vjp` or `custom_jvp` called on tensors: one record, compiled with its rules."""
    if not _holds_tensors(args, kwargs):
        return NotImplemented
    if "on_tape" not in made.__dict__:
        made.on_tape = function(made)
    return made.on_tape(*args, **kwargs)


def _hooked_on_tape(x: Any, fn: Callable[[Any], Any]) -> Any:
    """`on_gradient` of tensors."""
    if not _holds_tensors(x):
        return NotImplemented
    flat = flatten(x)
    places = [k for k, t in enumerate(flat) if isinstance(t, Operand)]
    outs = [wrap(flat[k]._tensor_class, flat[k]._value[()]) for k in places]

    def back(*upstream: Any) -> list[Any]:
        every: list[Any] = [None] * len(flat)
        for k, g in zip(places, upstream):
            every[k] = g
        found = fn(pack_like(x, every))
        if found is None:
            return list(upstream)
        given = flatten(found)
        return [tensor_or_none(given[k], flat[k]) for k in places]

    made: list[Any] = list(flat)
    for k, t in zip(places, record_barrier(outs, [flat[k] for k in places], back)):
        made[k] = t
    return pack_like(x, made)


def _constant_on_tape(fun: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function under `nondifferentiable`, called on tensors."""
    if not _holds_tensors(args, kwargs):
        return NotImplemented
    with isolated():
        result = fun(*args, **kwargs)
    return stop_gradient(result)


ON_TAPE.append(_custom_on_tape)
HOOKED_ON_TAPE.append(_hooked_on_tape)
CONSTANT_ON_TAPE.append(_constant_on_tape)
