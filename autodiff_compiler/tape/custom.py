"""Gradients that users write: `custom_gradient`, gradients of named operations, `stop_gradient`, `recompute_grad`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from ..ir.opset import PRIMS
from ..lowered import lowers_by, refused
from ..runtime import constant
from .apply import apply
from .barrier import record_barrier
from .gradient_tape import GradientTape
from .nest import flatten, map_nested, pack_like
from .recording import STATE, Recording, Watcher
from .tensor import Operand, wrap

F = TypeVar("F", bound=Callable[..., Any])


def stop_gradient(x: Any) -> Any:
    """The same value, through which no gradient flows, on a tape and in compiled functions.

    `x`: a tensor, a variable, an array or a number, or a nest of them. Arrays are copied.

    >>> import autodiff_compiler as ad
    >>> x = ad.Variable(2.0)
    >>> with ad.GradientTape() as tape:
    ...     y = x * ad.stop_gradient(x)
    >>> tape.gradient(y, x).numpy()
    np.float64(2.0)
    >>> ad.grad(lambda v: v * ad.stop_gradient(v))(2.0)
    2.0
    """
    # The value is a new object, since a recording identifies a constant that is watched later by its value.
    return map_nested(lambda t: wrap(t._tensor_class, t._value[()]) if isinstance(t, Operand) else constant(t), x)


@contextmanager
def isolated() -> Iterator[Recording]:
    """A context whose operations are on no tape that is open outside. Gives the recording, with the variables read."""
    state = STATE
    outside = state.rec
    state.rec = watcher = Recording()
    watcher.tapes = (Watcher(),)
    try:
        yield watcher
    finally:
        state.rec = outside


@contextmanager
def _variables_read() -> Iterator[list[Any]]:
    """A context that gives the list of the variables read inside. Open tapes record its operations as usual."""
    rec = STATE.rec
    reads: list[Any] = []
    if rec is None:
        with isolated() as watcher:
            yield reads
        reads.extend(watcher.variables.values())
        return
    outer, rec.reads = rec.reads, reads
    try:
        yield reads
    finally:
        rec.reads = outer
        if outer is not None:
            outer.extend(reads)


def custom_gradient(f: F, convert: Callable[[Any], Any] | None = None) -> F:
    """Decorator: the function brings its own gradient.

    ``f(*args, **kwargs)`` returns a pair: its result, which is a tensor or a nest of them, and ``grad_fn``. The tape
    calls ``grad_fn(*upstream)`` with the cotangent of each result, as tensors. It returns the cotangent of each
    positional argument, as a tensor of the argument's shape, or None. Gradients of higher order differentiate
    ``grad_fn``. In a method, ``self`` is not an argument.

    If `f` reads variables that are not among its arguments, the tape calls ``grad_fn(*upstream, variables=variables)``.
    Then it returns a pair: the cotangents of the arguments, and the list of those of the variables.

    convert: a function that makes a tensor of each result, for a compatibility layer.

    Raises TypeError if variables are read and ``grad_fn`` does not take them. Raises ValueError if ``grad_fn`` returns
    another number of cotangents than there are arguments, or one of another shape than its argument.

    >>> import autodiff_compiler as ad
    >>> @ad.custom_gradient
    ... def clipped(x):
    ...     return x * 1.0, lambda upstream: upstream * 0.5
    >>> x = ad.Variable(3.0)
    >>> with ad.GradientTape() as tape:
    ...     y = clipped(x * x)
    >>> tape.gradient(y, x).numpy()
    np.float64(3.0)
    """

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        outside = STATE.rec
        owner = args[:1] if args and not _is_value(args[0]) else ()
        args = args[len(owner) :]
        # The function's operations are recorded: `grad_fn` may use their results, and outer tapes differentiate it.
        # Only the results of `f` are cut off.
        with _variables_read() as read:
            result, grad_fn = f(*owner, *args, **kwargs)
        given = flatten(list(args))
        keywords = flatten(list(kwargs.values()))
        variables: list[Any] = []
        for v in read:
            if not any(v is x for x in [*given, *keywords, *variables]):
                variables.append(v)
        if variables and not _takes_variables(grad_fn):
            raise TypeError(
                "@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function uses variables: "
                f"{variables}"
            )
        flat = flatten(result)
        if convert is not None:
            flat = [convert(x) for x in flat]
        outs = [
            wrap(x._tensor_class, x._value[()]) if isinstance(x, Operand) else _as_tensor_like(x, given) for x in flat
        ]
        inputs = [x for x in given if isinstance(x, Operand)]

        def back(*upstream: Any) -> list[Any]:
            if variables:
                found, of_variables = grad_fn(*upstream, variables=variables)
                of_variables = list(of_variables)
                if len(of_variables) != len(variables):
                    raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
            else:
                found, of_variables = grad_fn(*upstream), []
            grads = flatten(found)
            if len(grads) != len(given):
                raise ValueError(
                    f"custom_gradient function expected to return {len(given)} gradients, but returned {len(grads)} "
                    "instead."
                )
            kept = [tensor_or_none(g, x) for g, x in zip(grads, given) if isinstance(x, Operand)]
            return kept + [tensor_or_none(g, v) for g, v in zip(of_variables, variables)]

        if outside is not None:
            outs = record_barrier(outs, [*inputs, *variables], back, like=flat)  # tangents are those of the operations
        return pack_like(result, outs)

    lowers_by(refused(_ON_TAPE.format("custom_gradient"), _USE_RULES))(decorated)
    return decorated  # type: ignore[return-value]


_ON_TAPE = "a function under {} in a function that is compiled is not supported: it works on a tape"
_PASS = "write `x + stop_gradient(f(x) - x)`"
_USE_RULES = "use `custom_vjp`, which works in compiled functions and on a tape (docs/custom.md)"


def _as_tensor_like(x: Any, given: list[Any]) -> Any:
    for other in given:
        if isinstance(other, Operand):
            return wrap(other._tensor_class, other._coerce(x))
    raise TypeError(f"a custom_gradient function returned {x!r}, which is no tensor: return (result, grad_fn)")


def _astype(x: Any, dtype: Any) -> Any:
    return x.astype(dtype)


def tensor_or_none(g: Any, x: Any) -> Any:
    """A cotangent of the operand `x`, in its dtype. `sweep.check_cotangent` refuses those that do not fit."""
    if g is None:
        return None
    dtype = np.asarray(x._value).dtype
    if isinstance(g, Operand):
        kinds = (np.asarray(g._value).dtype.kind, dtype.kind)
        if g._value.dtype == dtype or kinds not in (("f", "f"), ("i", "f"), ("u", "f"), ("f", "c"), ("c", "c")):
            return g
        return apply(PRIMS[np.ndarray.astype], _astype, (g, dtype), {})
    value = x._coerce(g)
    if value is NotImplemented:
        raise TypeError(
            f"a gradient function returned {g!r}, which is no tensor: return a tensor or None for each argument"
        )
    value = np.asarray(value)
    return wrap(x._tensor_class, (value if value.dtype.kind == "c" else value.astype(dtype))[()])


def _is_value(x: Any) -> bool:
    """A tensor, number or array, or a nest of them. Other first arguments are the `self` of a method."""
    return (
        isinstance(x, (Operand, bool, int, float, complex, str, np.ndarray, np.generic, list, tuple, dict)) or x is None
    )


def _takes_variables(fn: Callable[..., Any]) -> bool:
    try:
        spec = inspect.getfullargspec(fn)
    except TypeError:
        return False
    return "variables" in spec.args or "variables" in spec.kwonlyargs or spec.varkw is not None


def recompute_grad(f: F, tape_class: type[GradientTape] = GradientTape) -> F:
    """Decorator: the tape keeps no intermediate result of the function, and runs it again in the backward sweep.

    This saves memory for the time of a second run. ``__wrapped__`` is the function itself.
    tape_class: the class of the tape that the backward sweep opens.

    >>> import autodiff_compiler as ad
    >>> @ad.recompute_grad
    ... def cube(x):
    ...     return x * x * x
    >>> x = ad.Variable(2.0)
    >>> with ad.GradientTape() as tape:
    ...     y = cube(x)
    >>> tape.gradient(y, x).numpy()
    np.float64(12.0)
    """

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        outside = STATE.rec
        with isolated() as watcher:
            result = f(*args, **kwargs)
        flat = flatten(result)
        outs = [wrap(x._tensor_class, x._value[()]) for x in flat]
        given = [x for x in flatten([list(args), kwargs]) if isinstance(x, Operand)]
        variables = [v for v in watcher.variables.values() if not any(v is x for x in given)]

        def back(*upstream: Any) -> Any:
            with tape_class() as tape:
                tape.watch([x for x in given if not hasattr(x, "_serial")])
                again = f(*args, **kwargs)
            return tape.gradient(again, [*given, *variables], output_gradients=pack_like(again, list(upstream)))

        if outside is not None:
            outs = record_barrier(outs, [*given, *variables], back)
        return pack_like(result, outs)

    lowers_by(refused(_ON_TAPE.format("recompute_grad"), "call the function itself"))(decorated)
    return decorated  # type: ignore[return-value]


def grad_pass_through(f: F) -> F:
    """Decorator: the same function, with the gradient of the identity.

    The cotangent of the result becomes that of the argument. So both must have one shape.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> rounded = ad.grad_pass_through(np.round)
    >>> x = ad.Variable(2.4)
    >>> with ad.GradientTape() as tape:
    ...     y = rounded(x) * 10.0
    >>> y.numpy(), tape.gradient(y, x).numpy()
    (np.float64(20.0), np.float64(10.0))
    """

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        with isolated():
            result = f(*args, **kwargs)
        given = [x for x in flatten(list(args)) if isinstance(x, Operand)]
        outs = [wrap(x._tensor_class, x._value[()]) for x in flatten(result)]
        return pack_like(result, record_barrier(outs, given, lambda *upstream: list(upstream)))

    lowers_by(refused(_ON_TAPE.format("grad_pass_through"), _PASS))(decorated)
    return decorated  # type: ignore[return-value]


lowers_by(refused("grad_pass_through in a function that is compiled is not supported", _PASS))(grad_pass_through)


# --- named operations -------------------------------------------------------------------------------------------------

_registered: dict[str, Callable[..., Any] | None] = {}


class RegisterGradient:
    """Decorator that registers a function as the gradient of a named operation.

    ``fn(op, *upstream)`` takes an `Operation` and the cotangents of its outputs. It gives a tensor or None for each of
    ``op.inputs``. Raises TypeError if the name is not a string, KeyError if it has a gradient already.
    """

    def __init__(self, op_type: str):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: F) -> F:
        if self._op_type in _registered:
            raise KeyError(f"Registering two gradient with name '{self._op_type}'!")
        _registered[self._op_type] = f
        return f


def no_gradient(op_type: str) -> None:
    """Register that the named operation has no gradient: its inputs get None.

    Raises TypeError if the name is not a string.
    """
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    _registered[op_type] = None


class Operation:
    """One call of a named operation, for its gradient function.

    type: its name. inputs, outputs: tensors. ``get_attr(name)`` gives an attribute.
    """

    def __init__(self, op_type: str, inputs: list[Any], outputs: list[Any], attributes: dict[str, Any]):
        self.type = op_type
        self.name = op_type
        self.inputs = inputs
        self.outputs = outputs
        self._attributes = attributes

    def get_attr(self, name: str) -> Any:
        return self._attributes[name]


def named_operation(
    op_type: str, compute: Callable[..., Any], inputs: list[Any], attributes: dict[str, Any] | None = None
) -> Any:
    """Compute a named operation on `inputs`. A function registered by `RegisterGradient` differentiates it.

    The gradient looks the function up when it runs, and raises LookupError if there is none.
    """
    value = compute(*[x._value for x in inputs], **(attributes or {}))
    out = wrap(inputs[0]._tensor_class, value)

    def back(upstream: Any) -> list[Any]:
        if op_type not in _registered:
            raise LookupError(f"gradient registry has no entry for: {op_type}")
        fn = _registered[op_type]
        if fn is None:
            return [None] * len(inputs)
        found = fn(Operation(op_type, inputs, [out], attributes or {}), upstream)
        return list(found) if isinstance(found, (list, tuple)) else [found]

    (out,) = record_barrier([out], inputs, back)
    return out


__all__ = [
    "Operation", "RegisterGradient", "custom_gradient", "grad_pass_through", "isolated", "named_operation",
    "no_gradient", "record_barrier", "recompute_grad", "stop_gradient",
    "tensor_or_none",
]  # fmt: skip
