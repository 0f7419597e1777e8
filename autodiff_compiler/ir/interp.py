"""The reference interpreter: what a function of the IR means, computed in the plainest way. For tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from itertools import repeat
from typing import Any

from .core import CALL, FUNC, IF, LOOP, TRY, UNDEF, Function, Op, Region, Value, leaves, map_leaves
from .custom import CUSTOMS
from .opset import LIST_NEW, PUSH

Env = dict[Value, Any]
_look: ContextVar[Callable[[Op, Any, Any], None] | None] = ContextVar("look", default=None)


@contextmanager
def watched(look: Callable[[Op, Any, Any], None]) -> Iterator[None]:
    """In this context, `look` gets each operation without regions, its operands and its results."""
    token = _look.set(look)
    try:
        yield
    finally:
        _look.reset(token)


def interpret(fn: Function, args: Iterable[Any]) -> tuple[Any, ...]:
    """The results of `fn` on these arguments, one per element of its body's exit."""
    args = tuple(args)
    if len(args) != len(fn.params):
        raise TypeError(f"{fn.name} takes {len(fn.params)} arguments, got {len(args)}")
    env: Env = dict(zip(fn.params, args))
    return _run(fn.body, env)


def _run(region: Region, env: Env) -> tuple[Any, ...]:
    for op in region.ops:
        _step(op, env)
    # What a path leaves undefined passes through exits, stacks and lists; reading it does not.
    return tuple([map_leaves(env.__getitem__, item) for item in region.exit])


def _resolve(arg: Any, env: Env) -> Any:
    for value in leaves(arg):
        if env[value] is UNDEF:
            raise UnboundLocalError(f"local variable {value.hint or 'v'!r} referenced before assignment")
    return map_leaves(env.__getitem__, arg)


def _shape_of(arg: Any, env: Env) -> Any:
    """An operand whose shape alone is read. A value that is undefined on this path has none, and is not used."""
    found = map_leaves(env.__getitem__, arg)
    return None if found is UNDEF else found


def _step(op: Op, env: Env) -> None:
    if op.prim is IF:
        taken = op.regions[0] if _resolve(op.condition, env) else op.regions[1]
        results: Any = _run(taken, env)
    elif op.prim is LOOP:
        results = _loop(op, env)
    elif op.prim is TRY:
        results = _try(op, env)
    elif op.prim is FUNC:
        results = (op,)
    elif op.prim is PUSH:
        stack, value = map_leaves(env.__getitem__, op.args)
        stack.append(value)
        look = _look.get()
        if look is not None:
            look(op, (stack, value), ())
        return
    elif op.prim is CALL:
        # An activation has values of its own.
        func, *args = _resolve(op.args, env)
        inner = dict(env)
        inner.update(zip(func.regions[0].params, args, strict=True))
        results = _run(func.regions[0], inner)
    elif op.prim in CUSTOMS:
        rules, operands, captured, shaped = op.args
        assert rules.primal is not None
        inner = dict(env)
        inner.update(zip(rules.primal.params, _resolve((*operands, *captured, *shaped), env), strict=True))
        results = _run(rules.primal.body, inner)
    else:
        shapes = op.prim.shape_only
        if op.prim is LIST_NEW:
            args = map_leaves(env.__getitem__, op.args)
        else:
            args = tuple([_shape_of(a, env) if k in shapes else _resolve(a, env) for k, a in enumerate(op.args)])
        kwargs = _resolve(op.kwargs, env)
        if op.prim.fn is None:
            raise NotImplementedError(f"{op.prim.name} has no function to compute it")
        results = op.prim.fn(*args, **kwargs)
        look = _look.get()
        if op.prim.nout == 0:
            return
        if op.prim.nout == 1:
            results = (results,)
        if look is not None:
            look(op, args, results)
    for value, result in zip(op.results, results, strict=True):
        env[value] = result


def _loop(op: Op, env: Env) -> tuple[Any, ...]:
    range_, inits = op.range, op.inits
    body = op.regions[0]
    carried = tuple([map_leaves(env.__getitem__, item) for item in inits])
    trips: Iterator[int] = _counter() if range_ is None else _range(*_resolve(range_, env))
    done = 0
    for i in trips:
        env[body.params[0]] = i
        env.update(zip(body.params[1:], carried))
        code, *rest = _run(body, env)
        carried = tuple(rest)
        if code:
            return (*carried, done, code)
        done += 1
    return (*carried, done, 0)


def _try(op: Op, env: Env) -> tuple[Any, ...]:
    catch, context = op.args
    marks = [(stack, len(stack)) for v, stack in env.items() if v.type.kind == "stack"]
    with nullcontext() if context is None else _resolve(context, env):
        try:
            return (True, None, *_run(op.regions[0], env))
        except catch as error:
            for stack, length in marks:
                del stack[length:]
            return (False, error, *[UNDEF for _ in op.regions[0].exit])


def _range(start: int, stop: int, step: int, backwards: bool = False) -> Iterator[int]:
    trips = range(start, stop, step)
    return reversed(trips) if backwards else iter(trips)


def _counter() -> Iterator[int]:
    for i, _ in enumerate(repeat(None)):
        yield i
