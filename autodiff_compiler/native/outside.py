"""Calls of Python functions from machine code.

A call takes Python's lock, makes objects of numbers and arrays, and has the function run. That takes no code of Numba's
own but some instructions, where a block in its object mode would be a function that it compiles.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np


class Outside:
    """A Python function with what it gives: for each result the dtype, and the number of axes or None for a number."""

    def __init__(self, fn: Callable[..., Any], kinds: tuple[tuple[str, int | None], ...]):
        self.fn = fn
        self.kinds = [(np.dtype("bool" if name == "boolean" else name), axes) for name, axes in kinds]

    def __call__(self, *args: Any) -> tuple[Any, ...] | None:
        """The results; None if the function raises, or gives what it is not known to give."""
        try:
            found = self.fn(*args)
        except Exception:
            return None
        results = (found,) if len(self.kinds) == 1 else found
        for x, (dtype, axes) in zip(results, self.kinds, strict=True):
            if axes is not None and not (
                type(x) is np.ndarray and x.dtype == dtype and x.ndim == axes and x.flags.c_contiguous
            ):
                return None
        return tuple(results)

    def __reduce__(self) -> Any:
        return _found, (self.fn.__module__, self.fn.__name__)


def _found(module: str, name: str) -> Outside:
    """The function in a module that is loaded. Modules of one name have one text."""
    found: Outside = getattr(sys.modules[module], name).outside
    return found


def kind_of(text: str) -> tuple[str, int | None]:
    """The dtype and the number of axes of a type as Numba writes it.

    >>> kind_of("float64[:, ::1]"), kind_of("int64")
    (('float64', 2), ('int64', None))
    """
    name, bracket, axes = text.partition("[")
    return name, axes.count(",") + 1 if bracket else None


def run_as_python(*kinds: str) -> Callable[[Any], Any]:
    """A decorator: the function, which says first whether it came to its end."""

    def decorate(fn: Any) -> Any:
        outside = Outside(fn, tuple(map(kind_of, kinds)))
        nothing = tuple([0 if axes is None else np.empty((0,) * axes, dtype) for dtype, axes in outside.kinds])

        def call(*args: Any) -> tuple[Any, ...]:
            found = outside(
                *[x.item() if isinstance(x, np.generic) else x for x in args]
            )  # as the machine hands it over
            return (False, *nothing) if found is None else (True, *found)

        return call

    return decorate


def compiled(*kinds: str) -> Callable[[Any], Any]:
    """The same as an intrinsic function of Numba's."""
    from numba.core import cgutils as _cgutils
    from numba.core import types
    from numba.extending import intrinsic

    cgutils: Any = _cgutils

    def decorate(fn: Any) -> Any:
        outside = Outside(fn, tuple(map(kind_of, kinds)))
        given = []
        for name, axes in map(kind_of, kinds):
            number = getattr(types, name)
            given.append(number if axes is None else types.Array(number, axes, "C"))
        result = types.Tuple((types.boolean, *given))  # type: ignore[no-untyped-call]

        def typed(context: Any, *args: Any) -> Any:
            return result(*args), generate

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            python, environment = context.get_python_api(builder), context.get_env_manager(builder)
            slot = cgutils.alloca_once(builder, context.get_value_type(result), zfill=True)
            lock = python.gil_ensure()
            objects = []
            for t, x in zip(signature.args, args):
                context.nrt.incref(builder, t, x)  # the object takes it over
                objects.append(python.from_native_value(t, x, environment))
            run = environment.read_const(environment.add_const(outside))
            found = python.call_function_objargs(run, objects)
            for x in objects:
                python.decref(x)

            def leave_if(raised: Any) -> None:
                with builder.if_then(raised, likely=False):
                    python.gil_release(lock)
                    context.call_conv.return_exc(builder)

            leave_if(cgutils.is_null(builder, found))
            with builder.if_then(builder.icmp_unsigned("!=", found, python.borrow_none())):
                out = builder.load(slot)
                for k, t in enumerate(result.types[1:]):
                    native = python.to_native_value(t, python.tuple_getitem(found, k))
                    leave_if(native.is_error)
                    out = builder.insert_value(out, native.value, k + 1)
                true = context.get_constant(types.boolean, True)
                builder.store(builder.insert_value(out, true, 0), slot)
            python.decref(found)
            python.gil_release(lock)
            return builder.load(slot)

        parameters = inspect.signature(fn).parameters.values()
        context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        typed.__signature__ = inspect.Signature([context, *parameters])  # type: ignore[attr-defined]
        typed.__name__ = typed.__qualname__ = fn.__name__
        found: Any = intrinsic(typed)
        found.outside = outside
        return found

    return decorate


__all__ = ["Outside", "compiled", "kind_of", "run_as_python"]
