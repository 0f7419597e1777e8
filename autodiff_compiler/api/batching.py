"""``batch``: a function for one example becomes a function for a stack of them. JAX calls it ``vmap``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ..duck import is_duck, name_of
from ..errors import ArgumentError, AutodiffError, UnsupportedError
from ..ir.core import Function, type_of
from ..ir.types import DimLike
from ..lowered import Input, Lowered, bind_arguments, fetch, key_of, location_of, lowers_by
from ..records import record
from ..tracebacks import trim, trimmed
from ..tree import Tree, children, copy_with, flatten, is_object, own_attributes, unflatten
from .specialize import Entry
from .transforms import Transformed, _arguments_of, innermost, lower_any

if TYPE_CHECKING:
    from ..transforms.batch import Axis

Axes = int | None | Sequence[Any] | dict[Any, Any]


class WritesOutside(UnsupportedError):
    """An example would read what was there before all of them."""


@record
class Everywhere:
    """The axis of all arrays in an argument; None: the argument is the same for all examples."""

    axis: int | None


class Batched(Transformed):
    """A function that takes stacks of arguments and returns stacks of results. See `batch`."""

    suffix = "batch"
    is_derivative = False

    def __init__(self, fn: Callable[..., Any], in_axes: Axes = 0, out_axes: Axes = 0):
        super().__init__(fn, ())
        for what, axes in (("in_axes", in_axes), ("out_axes", out_axes)):
            _check_axes(what, axes)
        if not isinstance(in_axes, (int, tuple, list, type(None))):
            raise TypeError(f"batch: in_axes is an int, None or a tuple with one for each argument, not {in_axes!r}")
        self.in_axes = tuple(in_axes) if isinstance(in_axes, list) else in_axes
        self.out_axes = out_axes

        self._alone = False  # it runs in Python, once for each example

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._alone:
            try:
                return super().__call__(*args, **kwargs)
            except WritesOutside:
                self._alone = True
        try:
            return self._one_by_one(args, kwargs)
        except BaseException as error:
            __tracebackhide__ = True
            trim(error)
            raise

    def _one_by_one(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The stacked results of a loop in Python."""
        _, stacks = self._examples(args, kwargs)
        if not stacks.size:
            raise ArgumentError(
                "batch of a function that changes what is outside of it, without examples",
                location_of(innermost(self.primal)),
                "pass one example or more",
            )
        found = []
        for k in range(stacks.size):
            one, keywords = stacks.example(k)
            found.append(flatten(self.primal(*one, **keywords)))
        leaves, tree = found[0]
        if any(other != tree for _, other in found):
            raise ArgumentError(
                "batch: the results of the examples have different structures",
                location_of(innermost(self.primal)),
                "return the same tuples, lists and dictionaries for all examples",
            )
        axes = out_axes_of(tree, len(leaves), self.out_axes, location_of(innermost(self.primal)))
        for k, axis in enumerate(axes):
            if axis is None and not all(np.array_equal(each[k], leaves[k], equal_nan=True) for each, _ in found):
                raise _not_one(k, location_of(innermost(self.primal)))
        return unflatten(tree, [
            np.stack([np.asarray(each[k]) for each, _ in found], axis) if axis is not None else leaves[k]
            for k, axis in enumerate(axes)
        ])  # fmt: skip

    def _parts(self) -> tuple[Any, ...]:
        return self.primal, self.in_axes, self.out_axes

    def __autodiff_portable__(self) -> list[str]:
        return [type(self).__name__, repr(self.in_axes), repr(self.out_axes)]

    def _repr_html_(self) -> str:
        from .display import card

        found = self._dispatch.codes()
        rows = [(_arguments_of(entry), entry.run.__autodiff_source__) for entry in found]  # type: ignore[attr-defined]
        return card(repr(self).strip("<>"), innermost(self), f"in_axes={self.in_axes}, out_axes={self.out_axes}", rows)

    @trimmed
    def ir(self, *args: Any, **kwargs: Any) -> str:
        """The SSA form of the function for one example, and of the function for a stack, as text."""
        from .compiler import print_function

        one, stacks = self._examples(args, kwargs)
        lowered = lower_any(self.primal, *one)
        before = print_function(lowered.function)
        return f"{before}\n{print_function(self._stacked(lowered, stacks).function)}"

    @trimmed
    def passes(self, *args: Any, **kwargs: Any) -> list[tuple[str, str]]:
        """For each pass its name and the SSA form after it, as text."""
        from .compiler import passes, print_function

        one, stacks = self._examples(args, kwargs)
        lowered = lower_any(self.primal, *one)
        seen = [("lower", print_function(lowered.function))]
        stacked = self._stacked(lowered, stacks)
        seen.append(("batch", print_function(stacked.function)))
        with passes.after_each_pass(lambda name, fn: seen.append((name, print_function(fn)))):
            self._compile(stacked, args, kwargs)
        return seen

    # --- compilation ----------------------------------------------------------------------------------------------

    def _lower(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Lowered:
        from .compiler import WATCH

        if WATCH.get() is not None:
            raise UnsupportedError(
                "a function of stacks is not run to know the types of its values",
                location_of(self),
                "make the types known, e.g. by np.asarray(..., float), or call the function for one example at a time",
            )
        one, stacks = self._examples(args, kwargs)
        return self._stacked(lower_any(self.primal, *one), stacks)

    def transform(self, lowered: Lowered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Lowered:
        return lowered

    def _observed(self, names: Any, values: Any, done: Any, error: AutodiffError | None, key: Any) -> Entry:
        assert error is not None  # nothing was run before
        raise error

    def _examples(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[tuple[Any, ...], dict[str, Any]], _Stacks]:
        """The arguments for one example, and which of them are stacks."""
        axes = self._axes_of(args)
        every = Everywhere(0)
        stacks = _Stacks(innermost(self.primal), args, kwargs, axes, dict.fromkeys(kwargs, every))
        return stacks.example(0), stacks

    def _axes_of(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Of each positional argument, the axes of its arrays, in its structure."""
        given = self.in_axes
        if isinstance(given, tuple):
            if len(given) != len(args):
                raise ArgumentError(
                    f"batch: in_axes has {len(given)} entries, and the call {len(args)} positional arguments",
                    location_of(innermost(self.primal)),
                    "give one entry for each positional argument; keyword arguments are mapped over axis 0",
                )
            return tuple([_spread_axes(axes, x, f"in_axes[{k}]") for k, (axes, x) in enumerate(zip(given, args))])
        return tuple([Everywhere(given) for _ in args])

    def _stacked(self, lowered: Lowered, stacks: _Stacks) -> Lowered:
        """The lowered function of stacks for that of one example."""
        from .compiler import WRITES, function_of_stacks

        writes = next((op for op in lowered.function.body.walk() if op.prim in WRITES), None)
        if writes is not None:
            raise WritesOutside(
                "batch of a function that changes what is outside of it",
                writes.loc or lowered.loc,
                "have it return what it changes, or loop over the examples",
            )
        if lowered.out[0] == "split":
            raise ArgumentError(
                "batch of this transformation is not supported", lowered.loc, "batch the function first"
            )
        axes = stacks.axes_of(lowered)
        outs = out_axes_of(lowered.out, len(lowered.function.results), self.out_axes, lowered.loc)
        fn, why = function_of_stacks(lowered.function, axes, [a is not None for a in outs])
        for k, axis in enumerate(outs):
            place(fn, k, axis, lowered.loc)
        alone = lowered.alone
        if why is not None:
            alone = told(why)
        guards = [g for g in lowered.guards if not stacks.is_of_stack(g.path)]
        return replace(
            lowered, function=fn, inputs=stacks.inputs(lowered, fn, axes), alone=alone, guards=guards
        )  # fmt: skip

    def _plain(self) -> Callable[..., Any]:
        run = super()._plain() or innermost(self.primal)

        def each(*args: Any, **kwargs: Any) -> None:
            """A loop in Python. What does not fit together is an error of the function, or of the numbers of
            examples."""
            _, stacks = self._examples(args, kwargs)
            for k in range(stacks.size):
                one, keywords = stacks.example(k)
                run(*one, **keywords)

        return each

    @trimmed
    def attempts(self, *args: Any, **kwargs: Any) -> str:
        """Why the primal is lowered more than once, and why it runs once for each example: a line for each reason."""
        try:
            lowered = self._lower(args, kwargs)
        except WritesOutside as error:
            return f"1. it runs once for each example, in Python: {error.message}"
        alone = [f"it runs once for each example: {lowered.alone}"] if lowered.alone else []
        return "\n".join(f"{n}. {reason}" for n, reason in enumerate([*lowered.reasons, *alone], 1))

    def __autodiff_lower__(self, interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        from .compiler import lower_batched, primal_of

        return lower_batched(interp, primal_of(interp, self.primal), self.in_axes, self.out_axes, args, kwargs)


class _Stacks:
    """Which arguments of a call are stacks, along which axes, of what length."""

    def __init__(self, fn: Any, args: Any, kwargs: Any, axes: Any, keyword_axes: Any):
        self.fn = fn
        self.given = args, kwargs
        self.axes = axes, keyword_axes
        names, self.values, _ = bind_arguments(fn, args, kwargs)
        _, self.bound, _ = bind_arguments(fn, axes, keyword_axes)
        sizes: list[tuple[str, int, int]] = []  # of each array: its name, the axis, its length
        for name, x, a in zip(names, self.values, self.bound):
            self.measure(name, x, a, sizes)
        if not sizes:
            raise ArgumentError(
                "batch: no argument is a stack: in_axes is None for all of them", location_of(fn),
                "give the axis of an argument, or call the function itself",
            )  # fmt: skip
        self.size = sizes[0][2]
        if any(n != self.size for _, _, n in sizes):
            listed = ", ".join([f"{name} has {n} along axis {axis}" for name, axis, n in sizes])
            raise ArgumentError(
                f"batch: the arguments have different numbers of examples: {listed}", location_of(fn),
                "pass arrays of the same length along these axes, or None in in_axes for what all examples share",
            )  # fmt: skip

    def measure(self, name: str, x: Any, a: Any, sizes: list[tuple[str, int, int]], held: bool = False) -> None:
        """Collect the lengths of the axes of the examples. `held`: in an object, where only arrays are stacks."""
        axis = a.axis if isinstance(a, Everywhere) else 0
        if axis is None or x is None:
            return
        if isinstance(x, np.ndarray):
            if not -x.ndim <= axis < x.ndim:
                raise ArgumentError(
                    f"batch: {name!r} is to be mapped over axis {axis}, and has {x.ndim} axes", location_of(self.fn),
                    f"in_axes is {f'at least {-x.ndim} and less than {x.ndim}' if x.ndim else 'None'} for it",
                )  # fmt: skip
            sizes.append((name, axis, x.shape[axis]))
            return
        if is_duck(x):
            raise UnsupportedError(
                f"batch: {name!r} is a {name_of(type(x))}, of which there are no stacks", location_of(self.fn),
                "write the function for all examples at once, or give None in in_axes for what they share",
            )  # fmt: skip
        parts = _parts_of(x)
        if parts is None and held:
            return
        if parts is None or (isinstance(x, list) and x and all(isinstance(v, (int, float, complex)) for v in x)):
            what = "a list of numbers" if parts is not None else f"a {type(x).__name__}"
            remedy = f"pass np.asarray({name})" if parts is not None else "pass an array of one for each example"
            raise ArgumentError(
                f"batch: {name!r} is {what}, which has no axis to map over", location_of(self.fn),
                f"{remedy}, or None in in_axes for it",
            )  # fmt: skip
        for key, part in parts.items():
            inside = held or not isinstance(x, (dict, tuple, list))
            self.measure(f"{name}.{key}" if inside else f"{name}[{key!r}]", part, _axes_in(a, key), sizes, inside)

    def example(self, k: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments for example number `k`. Without examples, it has ones."""
        args, kwargs = self.given
        axes, keyword_axes = self.axes
        return (
            tuple([self.one(x, a, k) for x, a in zip(args, axes)]),
            {name: self.one(x, keyword_axes[name], k) for name, x in kwargs.items()},
        )

    def one(self, x: Any, a: Any, k: int) -> Any:
        axis = a.axis if isinstance(a, Everywhere) else 0
        if axis is None:
            return x
        if isinstance(x, np.ndarray):
            if not x.shape[axis]:
                shape = list(x.shape)
                del shape[axis]
                return np.ones(shape, x.dtype)[()]
            part = np.take(x, k, axis)
            return part.copy() if isinstance(part, np.ndarray) else part
        parts = _parts_of(x)
        if not parts:
            return x
        items = [self.one(part, _axes_in(a, key), k) for key, part in parts.items()]
        if isinstance(x, dict):
            return dict(zip(parts, items))
        if isinstance(x, tuple) and hasattr(type(x), "_fields"):
            return type(x)(*items)
        return type(x)(items) if isinstance(x, (tuple, list)) else copy_with(x, tuple(parts), items)

    def axis_at(self, path: Any) -> int | None:
        """The axis of the array at a path from the arguments; None: it is the same for all examples."""
        if path[0][0] != "arg":
            return None
        a = self.bound[path[0][1]]
        for step in path[1:]:
            if isinstance(a, Everywhere):
                break
            a = _axes_in(a, step[1])
        return a.axis if isinstance(a, Everywhere) else None

    def axes_of(self, lowered: Lowered) -> dict[int, Axis]:
        """Of each parameter that is a stack, the axis. Its length is a length of the arguments."""
        from .compiler import Axis

        out: dict[int, Axis] = {}
        dims = lowered.function.body.dims
        first: DimLike | None = None
        for k, item in enumerate(lowered.inputs):
            axis = None if item.key[0] == "object" else self.axis_at(item.path)
            if axis is None or not isinstance(fetch(item.path, tuple(self.values)), np.ndarray):
                continue
            length: DimLike = self.size
            if self.size > 1:
                length = dims.fresh()
                dims.mark_not_one(length)
                dims.arg_roots.add(length.root)
                dims.lengths[length.root] = self.size
                if first is None:
                    first = length
                else:
                    dims.unify(length, first)
            out[k] = Axis(axis % fetch(item.path, tuple(self.values)).ndim, length)
        return out

    def inputs(self, lowered: Lowered, fn: Function, axes: dict[int, Axis]) -> list[Input]:
        """The inputs as the caller has them, who passes stacks."""
        out = []
        for k, item in enumerate(lowered.inputs):
            if k in axes:
                x = fetch(item.path, tuple(self.values))
                shape = None if item.shape is None else x.shape
                item = Input(item.path, item.name, fn.params[k].type, key_of(x), item.hidden, shape)
            out.append(item)
        return out

    def is_of_stack(self, path: Any) -> bool:
        """The path leads to the layout of an array that is a stack, which says nothing of its examples."""
        return ("attr", "flags") in path and self.axis_at(path[: path.index(("attr", "flags"))]) is not None


# --- axes -------------------------------------------------------------------------------------------------------------


def _check_axes(what: str, axes: Any) -> None:
    if isinstance(axes, (tuple, list)):
        for a in axes:
            _check_axes(what, a)
    elif isinstance(axes, dict):
        for a in axes.values():
            _check_axes(what, a)
    elif axes is not None and type(axes) is not int:
        raise TypeError(f"batch: {what} holds ints and None, not {axes!r}")


def _parts_of(x: Any) -> dict[Any, Any] | None:
    """What a container or an object holds, by its keys, positions or attributes; None for other things."""
    if isinstance(x, dict):
        return dict(x)
    if isinstance(x, (tuple, list)):
        return dict(enumerate(x))
    return own_attributes(x) if is_object(x) else None


def _axes_in(a: Any, key: Any) -> Any:
    return a if isinstance(a, Everywhere) else a[key]


def _spread_axes(axes: Any, x: Any, name: str) -> Any:
    """The axes in the structure of the argument: a number stands for all that is in it."""
    if axes is None or type(axes) is int:
        return Everywhere(axes)
    parts = _parts_of(x)
    fits = parts is not None and isinstance(x, dict) == isinstance(axes, dict) and len(parts) == len(axes)
    if not fits or (isinstance(axes, dict) and set(axes) != set(parts or ())):
        raise ArgumentError(
            f"batch: {name} is {axes!r}, and the argument is {_kind(x)}: they have different structures", None,
            "give an int or None for the whole argument, or a container like it",
        )  # fmt: skip
    assert parts is not None
    items = axes if isinstance(axes, dict) else dict(enumerate(axes))
    return {key: _spread_axes(items[key], part, f"{name}[{key!r}]") for key, part in parts.items()}


def _kind(x: Any) -> str:
    parts = _parts_of(x)
    return f"a {type(x).__name__}" + ("" if parts is None else f" of {len(parts)}")


def told(why: Any) -> str:
    """Why a function of stacks runs example by example, and where."""
    at = "" if why.op is None or why.op.loc is None else f"line {why.op.loc.line}: "
    return f"{at}{why}"


def out_axes_of(tree: Tree, count: int, given: Any, loc: Any) -> list[int | None]:
    """The axis of the examples in each of the `count` leaves of a result of this structure."""
    out: list[int | None] = [0] * count

    def walk(t: Tree, axes: Any) -> None:
        if t[0] == "leaf":
            if isinstance(axes, (tuple, list, dict)):
                raise misfit(axes)
            out[t[1]] = axes
        elif t[0] != "static":
            several = isinstance(axes, (tuple, list, dict))
            inner = children(t)
            if several and (len(axes) != len(inner) or isinstance(axes, dict) != (t[0] == "dict")):
                raise misfit(axes)
            keys = t[1] if t[0] == "dict" else range(len(inner))
            if isinstance(axes, dict) and set(axes) != set(keys):
                raise misfit(axes)
            for key, part in zip(keys, inner):
                walk(part, axes[key] if several else axes)

    def misfit(axes: Any) -> ArgumentError:
        return ArgumentError(
            f"batch: out_axes has {axes!r} where the result has another structure", loc,
            "give an int or None for the whole result, or a container like it",
        )  # fmt: skip

    walk(tree, given)
    return out


def _not_one(k: int, loc: Any) -> ArgumentError:
    return ArgumentError(
        f"batch: out_axes is None for result number {k}, which differs between the examples", loc, "give its axis"
    )


def place(fn: Function, k: int, axis: int | None, loc: Any) -> None:
    """Put the axis of the examples of result number `k` where out_axes says."""
    from .compiler import move_result

    x = fn.body.exit[k]
    if not fn.meta["stacks"][k]:
        return
    if axis is None:
        raise _not_one(k, loc)
    rank = type_of(x).ndim
    if axis and (type_of(x).kind == "list" or rank is not None and not -rank <= axis < rank):
        described = "a list" if rank is None else f"of {rank - 1} axes for each example"
        raise ArgumentError(
            f"batch: out_axes is {axis} for result number {k}, which is {described}", loc,
            "0 is the axis in front" if rank is None else f"it is at least {-rank} and less than {rank}",
        )  # fmt: skip
    move_result(fn, k, axis)


@overload
def batch(fun: Callable[..., Any], in_axes: Axes = 0, out_axes: Axes = 0) -> Batched: ...
@overload
def batch(fun: None = None, in_axes: Axes = 0, out_axes: Axes = 0) -> Callable[[Callable[..., Any]], Batched]: ...
@trimmed
def batch(fun: Any = None, in_axes: Axes = 0, out_axes: Axes = 0) -> Any:
    """A function of stacks: it computes for all examples at once what `fun` computes for one. Also as ``@batch`` and
    ``@batch(in_axes=...)``. `vmap` is the same function, under JAX's name.

    fun: an ordinary function for one example, or a transformed one, such as a gradient.
    in_axes: the axis of the examples in the arrays of each argument: an int for all, or a tuple with an entry for each
        positional argument. An entry is an int, None for what all examples share, or a container like the argument.
        Keyword arguments are mapped over axis 0.
    out_axes: the axis of the examples in the results, likewise. None for what does not differ between the examples.

    An example is a copy in C order, whatever the layout of the stack: that of ``np.take(x, k, axis).copy()``.

    The operations of `fun` become operations on stacks. Where a condition or a number of iterations differs between
    examples, or where `fun` has effects, it runs once for each example, in order; `explain` says where and why.

    A call raises `ArgumentError` if the arguments have different numbers of examples, if an axis does not exist or
    if nothing is mapped, and for the function what `grad` raises.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> def loss(w, x, y):
    ...     return (np.tanh(x @ w) - y) ** 2
    >>> x, y = np.array([[1.0, 2.0], [0.5, 0.0], [0.0, 1.0]]), np.array([1.0, 0.0, 0.5])
    >>> ad.batch(ad.grad(loss), in_axes=(None, 0, 0))(np.zeros(2), x, y)
    array([[-2., -4.],
           [ 0.,  0.],
           [-0., -1.]])
    """
    if fun is None:
        return functools.partial(batch, in_axes=in_axes, out_axes=out_axes)
    return Batched(fun, in_axes, out_axes)


vmap = batch


def _inside(interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    from .compiler import lower_batch

    return lower_batch(interp, args, kwargs)


lowers_by(_inside)(batch)

__all__ = ["Batched", "batch", "vmap"]
