"""Calls compiled functions on tensors. Each call is one record, with a compiled forward sweep and pullback."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..api.batching import batch
from ..api.pullbacks import Pullback
from ..api.specialize import Dispatcher
from ..api.transforms import Gradient, Transformed, accept_operands, innermost, lower_any
from ..errors import ArgumentError
from ..locks import Lock
from ..lowered import Lowered
from ..tree import unflatten
from .custom import record_barrier
from .nest import flatten, keys, map_nested, pack_like
from .pullback import dependence
from .recording import STATE
from .tensor import Operand, wrap

F = TypeVar("F", bound=Callable[..., Any])


class Function:
    """A function of arrays that also takes tensors. See `function`."""

    __wrapped__: Callable[..., Any]

    def __init__(self, fn: Callable[..., Any]):
        self.fn = fn
        self._pullbacks: dict[tuple[int | str, ...], Pullback] = {}
        self._dependence = _dependence(fn)
        self._adjoints: dict[Any, Function] = {}
        self._stacks: Function | None = None
        self._lock = Lock()
        functools.update_wrapper(self, fn)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        operands = [x for x in flatten([list(args), kwargs]) if isinstance(x, Operand)]
        if not operands:
            return self.fn(*args, **kwargs)
        cls = operands[0]._tensor_class
        values = tuple([map_nested(_value, a) for a in args])
        named = {k: map_nested(_value, a) for k, a in kwargs.items()}
        rec = STATE.rec
        if rec is None or all(rec.find(x) < 0 for x in operands):
            # The function may write into its arguments, and tensors are immutable.
            out = self.fn(*copy.deepcopy(values), **copy.deepcopy(named))
            return map_nested(lambda v: _wrapped(cls, v), out)
        wanted = tuple(
            [k for k, a in enumerate(args) if _holds_operand(a)] + [k for k, a in kwargs.items() if _holds_operand(a)]
        )
        out, pullback = self._pullback(wanted)(*values, **named)
        leaves = flatten(out)
        results = [_wrapped(cls, v) for v in leaves]
        kept = [k for k, v in enumerate(results) if isinstance(v, Operand) and _inexact(v._value)]
        given = [args[k] if isinstance(k, int) else kwargs[k] for k in wanted]

        def now(x: Any) -> Any:
            """A copy of an argument, which may be assigned or written to before the gradient is taken."""
            if isinstance(x, Operand):
                slot = rec.find(x)
                frozen = wrap(cls, x._value)
                if slot >= 0:
                    frozen._token, frozen._slot = rec.token, slot
                return frozen
            return x.copy() if isinstance(x, np.ndarray) else x

        held = tuple([map_nested(now, a) for a in args])
        held_named = {k: map_nested(now, a) for k, a in kwargs.items()}

        def back(*upstream: Any) -> list[Any]:
            seeds: list[Any] = [None if not isinstance(v, Operand) else np.zeros_like(v._value)[()] for v in results]
            if STATE.rec is None:
                for k, g in zip(kept, upstream):
                    seeds[k] = g._value
                bars = pullback(pack_like(out, [_like(s, v) for s, v in zip(seeds, leaves)]))
                return self._of_operands(given, bars, cls)
            # An open tape may differentiate the pullback, so it is called as a `Function`, too.
            for k, g in zip(kept, upstream):
                seeds[k] = g
            weights = tuple([seeds[k] for k in kept])
            places = _leaf_paths(out)
            bars = self._adjoint(wanted, tuple([places[k] for k in kept]))(weights, *held, **held_named)
            return self._of_operands(given, bars, cls)

        def back_of_stacks(*upstream: Any) -> list[Any]:
            places = _leaf_paths(out)
            stacked = self._adjoint(wanted, tuple([places[k] for k in kept]))._of_stacks(len(held))
            return self._of_operands(given, stacked(tuple(upstream), *held), cls)

        rows = self._depends(values, named, list(zip(wanted, given)), kept)
        recorded = record_barrier(
            [results[k] for k in kept], operands, back, rows, stacks=None if named else back_of_stacks
        )
        for k, t in zip(kept, recorded):
            results[k] = t
        return pack_like(out, results)

    def vjp(self, *args: Any) -> tuple[Any, Callable[[Any], Any]]:
        """The value, and the pullback as a function of tensors. See `autodiff_compiler.vjp`."""
        out = self(*args)
        leaves = flatten(out)
        places = _leaf_paths(out)
        kept = [k for k, v in enumerate(leaves) if isinstance(v, Operand) and _inexact(v._value)]
        wanted = tuple([k for k, a in enumerate(args) if all(_inexact(np.asarray(_value(x))) for x in flatten(a))])
        adjoint = self._adjoint(wanted, tuple([places[k] for k in kept]))

        def pullback(cotangent: Any) -> Any:
            given = flatten(cotangent)
            if len(given) != len(leaves):
                raise ArgumentError(f"the cotangent has {len(given)} parts, the result {len(leaves)}")
            for k in kept:
                g, v = np.shape(_value(given[k])), np.shape(leaves[k]._value)
                if g != v:
                    raise ArgumentError(f"the cotangent has shape {g}, the result {v}")
            bars = iter(adjoint(tuple([given[k] for k in kept]), *args))
            return tuple([next(bars) if k in wanted else None for k in range(len(args))])

        return out, pullback

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """A bound method: it is called with the instance first."""
        return self if instance is None else functools.partial(self, instance)

    def _pullback(self, wanted: tuple[int | str, ...]) -> Pullback:
        with self._lock:
            found = self._pullbacks.get(wanted)
            if found is None:
                found = self._pullbacks[wanted] = Pullback(self.fn, wanted)
            return found

    def _adjoint(self, wanted: tuple[int | str, ...], paths: tuple[tuple[Any, ...], ...]) -> Function:
        """The pullback as a function of cotangents and of all arguments.

        wanted: the arguments to differentiate by. paths: the subscripts that lead to the results with a cotangent.
        """
        with self._lock:
            found = self._adjoints.get((wanted, paths))
            if found is None:
                shifted = tuple([k + 1 if isinstance(k, int) else k for k in wanted])
                found = self._adjoints[wanted, paths] = Function(_Adjoint(_weighted(self.fn, paths), shifted))
            return found

    def _of_stacks(self, shared: int) -> Function:
        """The function for stacks of its first argument. So many others are shared."""
        with self._lock:
            if self._stacks is None:
                self._stacks = Function(batch(self.fn, in_axes=(0, *[None] * shared)))
            return self._stacks

    def _of_operands(self, given: list[Any], bars: Any, cls: type[Any]) -> list[Any]:
        """The cotangents of the operands among the arguments, as tensors."""
        out = []
        for arg, bar in zip(given, bars):
            for x, g in zip(flatten(arg), flatten(bar)):
                if isinstance(x, Operand):
                    out.append(g if g is None or isinstance(g, Operand) else _wrapped(cls, g))
        return out

    def _depends(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], given: list[Any], kept: list[int]
    ) -> tuple[tuple[int, ...], ...] | None:
        """For each result in `kept`, the positions of the operands on which it depends. None if that is not known."""
        found = self._dependence
        names, _ = found.bind(args, kwargs)
        if not all(isinstance(k, int) or k in names for k, _ in given):
            return None
        wanted = [p for k, a in given for p in _paths(a, ("arg", k if isinstance(k, int) else names.index(k)))]
        rows, by_path, order = found(*args, **kwargs)
        numbers = [by_path.get(p) for p in wanted]
        if None in numbers or max(kept, default=-1) >= len(order):
            return None
        place = {n: k for k, n in enumerate(numbers)}
        return tuple([tuple([place[n] for n in rows[order[r]] if n in place]) for r in kept])


def _dependence(fn: Callable[..., Any]) -> Dispatcher:
    """A dispatcher that tells for a call which inputs each result depends on, by specialisation.

    It gives three things: for each leaf of the result, the numbers of the inputs that it depends on; the number of each
    input, by its path; and the leaves of the result in the order of `flatten`.
    """

    def compile_entry(lowered: Lowered, args: Any, kwargs: Any) -> Callable[..., Any]:
        rows = dependence(lowered.function)
        by_path = {item.path: n for n, item in enumerate(lowered.inputs)}
        order = flatten(unflatten(lowered.out, list(range(len(rows)))))
        return lambda *leaves: (rows, by_path, order)

    return Dispatcher(innermost(fn), compile_entry, lambda args, kwargs: lower_any(fn, args, kwargs))


def _steps(x: Any, path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], Any]]:
    """The leaves of a nested value with the subscripts that lead to them, in the order of `flatten`."""
    if isinstance(x, (list, tuple)):
        return [found for k, item in enumerate(x) for found in _steps(item, (*path, k))]
    if isinstance(x, dict):
        return [found for key in keys(x) for found in _steps(x[key], (*path, key))]
    return [(path, x)]


def _leaf_paths(x: Any) -> list[tuple[Any, ...]]:
    """The subscripts that lead to the leaves of a nested result."""
    return [path for path, _ in _steps(x)]


def _paths(x: Any, start: tuple[Any, ...]) -> list[Any]:
    """The paths of the operands in an argument."""
    return [(start, *[("item", k) for k in path]) for path, leaf in _steps(x) if isinstance(leaf, Operand)]


def _value(x: Any) -> Any:
    return x._value if isinstance(x, Operand) else x


def _holds_operand(x: Any) -> bool:
    return any(isinstance(v, Operand) for v in flatten(x))


def _inexact(v: Any) -> bool:
    return isinstance(v, (np.ndarray, np.generic)) and v.dtype.kind in "fc"


def _wrapped(cls: type[Any], v: Any) -> Any:
    if isinstance(v, (np.ndarray, np.generic, float, int, complex)) and not isinstance(v, bool):
        return wrap(cls, np.asarray(v)[()])
    return v


def _like(seed: Any, value: Any) -> Any:
    """The cotangent of a result. A result without one stands for itself: the pullback takes its structure."""
    return seed if seed is not None else value


class _Adjoint(Gradient):
    """A pullback, as the gradient of the weighted sum of a function's results.

    It differentiates by containers that may hold integers as well.
    """

    exact = True


def _weighted(fn: Callable[..., Any], paths: tuple[tuple[Any, ...], ...]) -> Callable[..., Any]:
    """A function of weights and arguments: the weighted sum of the results at these paths of `fn`.

    Its gradient is the pullback of `fn`, with the weights as cotangents.
    """

    def weighted(weights, *args, **kwargs):  # type: ignore[no-untyped-def]
        out = fn(*args, **kwargs)
        total = 0.0
        for path, weight in zip(paths, weights):
            part = out
            for step in path:
                part = part[step]
            total = total + np.sum(np.real(part * weight))
        return total

    return weighted


def function(fn: F) -> F:
    """Decorator: a function of NumPy arrays takes tensors, too, and the tape differentiates it as a whole.

    The compiler differentiates it from source, with its loops and branches. The tape holds one record for each call.
    Gradients of any order use the compiled pullback. Results are tensors. Called on arrays only, it is the function
    itself. A gradient raises what `autodiff_compiler.grad` raises for the function.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> @ad.function
    ... def power(x, n):
    ...     out = 1.0
    ...     for _ in range(n):
    ...         out = out * x
    ...     return np.sum(out)
    >>> x = ad.Variable([1.0, 2.0])
    >>> with ad.GradientTape() as tape:
    ...     y = power(x, 3)
    >>> tape.gradient(y, x).numpy()
    array([ 3., 12.])
    """
    return Function(fn)  # type: ignore[return-value]


def on_operands(transformed: Transformed, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a transformed function, such as ``ad.grad(f)``, on tensors."""
    pulls = isinstance(transformed, Pullback)
    found = getattr(transformed, "_on_operands", None)
    if found is None:
        found = Function(transformed.primal if pulls else transformed)
        transformed._on_operands = found  # type: ignore[attr-defined]
    return found.vjp(*args) if pulls else found(*args, **kwargs)


accept_operands(Operand, on_operands)

__all__ = ["Function", "function", "on_operands"]
