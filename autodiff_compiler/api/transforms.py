"""``grad`` and ``value_and_grad``: the compiler as users call it."""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ..codegen.load import Emitted, load
from ..errors import AutodiffError, InternalError, NonScalarOutputError, UnsupportedError
from ..ir.apart import with_known_axes
from ..ir.core import Builder, Function, type_of
from ..ir.spelling import identifier, literal
from ..lowered import (
    NO_INTEGERS,
    NO_WEAK_ZEROS,
    USE_GRAD,
    Guard,
    Lowered,
    bind_arguments,
    fetch,
    location_of,
    lowers_by,
    refused,
)
from ..records import replaced
from ..tracebacks import trim, trimmed
from ..tree import children, copy_with, count_leaves, leaf_numbers, new_object, shift
from . import persist
from .cache import keep_machine_code
from .carried import carried, is_found_by_name, restored
from .display import Pair, Source, card, text_of
from .observing import observed_entry, refit_by, take_sites
from .options import Asked, Options, is_checking, options_of, refuse_options_of
from .specialize import MISS, Dispatcher, Entry
from .trees import tree_of
from .two_stages import LOG, Log, Stages

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .arguments import Wanted

Argnums = int | str | Sequence[int | str]


# The class of eager tensors, and the function that calls a transformed function on them. The tape fills this in.
_operands: list[Any] = []


def accept_operands(cls: type[Any], call: Callable[..., Any]) -> None:
    """Register a class of tensors: a transformed function on them becomes ``call(transformed, args, kwargs)``."""
    _operands[:] = [cls, call]


def is_operand(x: Any) -> bool:
    """It is a tensor, or holds one."""
    return bool(_operands) and _holds(_operands[0], x)


def _holds(cls: type[Any], x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        return any(_holds(cls, item) for item in x)
    if isinstance(x, dict):
        return any(_holds(cls, item) for item in x.values())
    return isinstance(x, cls)


class Transformed:
    """A derived function, such as a gradient. Call it with the arguments of the original function.

    ``primal``        the original function
    ``source(*args)`` the Python source for these arguments; without arguments, all source so far
    ``side_by_side(*args)`` the source of the function and of its derivative
    ``tree(*args)``   the source as a syntax tree
    ``ir(*args)``     the SSA form before and after differentiation
    ``passes(*args)`` the SSA form after each pass
    """

    suffix = "grad"
    keep_value = False
    is_derivative = True
    options = Options()
    has_budget = False  # `max_residual_bytes` says something
    __qualname__: str
    __wrapped__: Any

    def __init__(self, fn: Callable[..., Any], argnums: Argnums = 0):
        if not callable(fn):
            raise TypeError(f"{self.suffix} needs a function, and {fn!r} is a {type(fn).__name__}")
        for which in argnums if isinstance(argnums, (list, tuple)) else (argnums,):
            if type(which) not in (int, str):
                raise TypeError(f"argnums must be ints or names of arguments, not {which!r}")
        if isinstance(fn, Transformed):
            self.options = replace(fn.options, max_residual_bytes=None)
            fn = fn.as_primal()
        self.primal = fn
        self.argnums = tuple(argnums) if isinstance(argnums, (list, tuple)) else argnums
        functools.update_wrapper(self, fn, updated=())
        self.__name__ = f"{_name_of(fn)}_{self.suffix}"

        self._dispatch = Dispatcher(innermost(fn), self._as_asked(self._compile), self._as_asked(self._lower), self)
        self._fronts = self._dispatch.fronts
        self._generated: dict[str, None] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            # Fronts are kept by the number of arguments: another thread's call with fewer cannot get in between.
            front = None if kwargs else self._fronts.get(len(args))
            if front is not None:
                result = front(*args)
                if result is not MISS:
                    return result
            if _operands and _holds(_operands[0], (args, kwargs)):
                return _operands[1](self, args, kwargs)
            dispatch = self._dispatch
            return dispatch.finish(*dispatch.bind(args, kwargs))
        except BaseException as error:
            __tracebackhide__ = True
            trim(error)
            raise

    def as_primal(self) -> Callable[..., Any]:
        """What another transformation takes for this one: a function with the signature of the innermost one."""
        return self

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """A bound method: it is called with the instance first."""
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<{self.suffix} of {_name_of(self.primal)}>"

    def __reduce__(self) -> Any:
        if is_found_by_name(self):
            return self.__qualname__
        return restored, (carried(self.primal), type(self), self._parts(), self.options)

    def _parts(self) -> tuple[Any, ...]:
        """The arguments of the class that make an equal object."""
        return self.primal, self.argnums

    @trimmed
    def source(self, *args: Any, **kwargs: Any) -> str:
        """The generated source for these arguments. Without arguments: all source that was generated so far.

        The function is compiled if need be, and not run. Raises what a call would raise for code that cannot be
        differentiated.

        >>> from autodiff_compiler import grad
        >>> def square(x):
        ...     return x * x
        >>> grad(square).source(3.0).splitlines()[-1]
        '    return 2.0 * x'
        """
        if args or kwargs:
            return Source(self._dispatch.entry_for(args, kwargs).run.__autodiff_source__)  # type: ignore[attr-defined]
        return Source("\n\n".join(self._generated))

    @trimmed
    def side_by_side(self, *args: Any, **kwargs: Any) -> Pair:
        """The source of the function and of its derivative for these arguments, in two columns; in a notebook, a table.

        >>> from autodiff_compiler import grad
        >>> print(grad(lambda x: x * x).side_by_side(3.0).splitlines()[-1].split("|")[1])
              return 2.0 * x
        """
        derived = self.source(*args, **kwargs)
        return Pair(text_of(innermost(self)), derived, (_name_of(self.primal), self.__name__))

    def _repr_html_(self) -> str:
        names = self._dispatch.positional
        wanted = ", ".join(
            [
                names[k] if isinstance(k, int) and -len(names) <= k < len(names) else str(k)
                for k in (self.argnums if isinstance(self.argnums, tuple) else (self.argnums,))
            ]
        )
        found = self._dispatch.codes()
        return card(
            f"{self.suffix} of {_name_of(self.primal)}", innermost(self), f"by {wanted}",
            [(_arguments_of(entry), entry.run.__autodiff_source__) for entry in found],  # type: ignore[attr-defined]
        )  # fmt: skip

    @trimmed
    def tree(self, *args: Any, **kwargs: Any) -> Any:
        """The generated source for these arguments as a syntax tree of `gast`: a module with imports and the
        function.

        >>> import gast
        >>> from autodiff_compiler import grad
        >>> def square(x):
        ...     return x * x
        >>> gast.unparse(grad(square).tree(3.0).body[-1]).splitlines()[0]
        'def square_grad(x):'
        """
        return tree_of(self.source(*args, **kwargs))

    @trimmed
    def ir(self, *args: Any, **kwargs: Any) -> str:
        """The SSA form of the primal and of the derived function for these arguments, as text."""
        from .compiler import print_function

        lowered = self._dispatch.lower(args, kwargs)
        before = print_function(lowered.function)
        after = print_function(self._as_asked(self.transform)(lowered, args, kwargs).function)
        return f"{before}\n{after}"

    @trimmed
    def attempts(self, *args: Any, **kwargs: Any) -> str:
        """Why the primal is lowered more than once: one line for each attempt that failed.

        The text is empty if the first attempt succeeds. See `frontend.plan`.
        """
        from .compiler import lower

        primal = self.primal
        while isinstance(primal, Transformed):
            primal = primal.primal
        return "\n".join(f"{n}. {reason}" for n, reason in enumerate(lower(primal, args, kwargs).reasons, 1))

    @trimmed
    def passes(self, *args: Any, **kwargs: Any) -> list[tuple[str, str]]:
        """For each pass that has run its name and the SSA form after it, as text.

        The function is compiled anew for these arguments, without the cache. `transforms.passes` has the table of
        the passes.

        >>> from autodiff_compiler import grad
        >>> [name for name, text in grad(lambda x: x * x).passes(3.0)]  # doctest: +NORMALIZE_WHITESPACE
        ['lower', 'differentiate', 'shapes', 'dead code', 'residuals', 'factors', 'finish', 'dead code', 'in place']
        """
        from .compiler import passes, print_function

        def compiled() -> list[tuple[str, str]]:
            lowered = self._dispatch.lower(args, kwargs)
            seen = [("lower", print_function(lowered.function))]
            with passes.after_each_pass(lambda name, fn: seen.append((name, print_function(fn)))):
                self._dispatch.compile_entry(lowered, args, kwargs)
            return seen

        return with_known_axes(compiled)

    # --- compilation ----------------------------------------------------------------------------------------------

    def asked(self, options: Mapping[str, Any]) -> Any:
        """This object, with the options that a user gives. To be called before it is used."""
        if options:
            self.options = options_of(self.kind, options, self.has_budget, self.options)
        return self

    def _as_asked(self, step: Callable[..., Any]) -> Callable[..., Any]:
        """A step of the compilation that leaves out the passes that the options name."""

        def run(*args: Any) -> Any:
            if not self.options.left_out and not self.options.reassociate:
                return step(*args)
            from .compiler import passes

            with passes.leaving_out(self.options.left_out):
                if not self.options.reassociate:
                    return step(*args)
                with passes.reassociating():
                    return step(*args)

        return run

    def _lower(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Lowered:
        return lower_any(self.primal, args, kwargs)

    def transform(self, lowered: Lowered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Lowered:
        """The derived function, with the structure of its result."""
        raise NotImplementedError

    def _compile(self, lowered: Lowered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any]:
        return self.generate(self.transform(lowered, args, kwargs))

    def generate(self, derived: Lowered, split: int | None = None) -> Callable[..., Any]:
        """The function that the emitted source of a lowered function defines."""
        from .compiler import emit_adjoint, emit_native

        classes: dict[Any, str] = {}
        name_classes(derived.out, classes)

        def result(leaves: list[str]) -> str:
            kind, parts = derived.out[0], children(derived.out)
            if kind == "tuple" and len(parts) > 1:  # without parentheses
                return ", ".join([tree_text(part, leaves, classes) for part in parts])
            return tree_text(derived.out, leaves, classes)

        reserved = set(classes.values())
        if self.options.backend == "native":
            emitted = emit_native(
                derived.function, self.__name__, split=split, result=result, reserved=reserved,
                parallel=self.options.parallel,
            )  # fmt: skip
        else:
            emitted = emit_adjoint(derived.function, self.__name__, split=split, result=result, reserved=reserved)
        objects = {**emitted.objects, **{name: cls for cls, name in classes.items()}}
        return self._load(replaced(emitted, objects=objects))

    def _load(self, emitted: Emitted) -> Callable[..., Any]:
        source = emitted.source
        self._generated[source] = None
        if self.options.backend == "native":
            keep_machine_code()
        run = load(source, self.__name__, emitted.objects)
        run.__autodiff_source__ = source  # type: ignore[attr-defined]
        run.__autodiff_emitted__ = emitted  # type: ignore[attr-defined]
        run.__autodiff_arity__ = getattr(run, "__wrapped__", run).__code__.co_argcount  # type: ignore[attr-defined]
        return run

    def _observed(
        self, names: tuple[str, ...], values: tuple[Any, ...], done: list[Log], error: AutodiffError | None,
        key: str | None,
    ) -> Entry:  # fmt: skip
        """The entry for a function that is run to know the types of its values; `error` stands if that is no help."""
        entry = observed_entry(self._dispatch, names, values, {}, done, error)
        if key is not None:
            self._keep(key, entry.lowered, values, entry.run)
        return entry

    def _watch(self, entry: Entry, names: tuple[str, ...]) -> None:
        """A new entry: with ``backend="auto"``, its calls are timed."""
        if self.options.backend == "auto" and not isinstance(entry.run, Stages):
            from .auto import Watch

            Watch(entry, self, names)

    def _with_backend(self, backend: str) -> Transformed:
        """The same derivative with another backend."""
        twin = type(self)(*self._parts())
        twin.options = replace(self.options, backend=backend)
        return twin

    def _refit(self, names: tuple[str, ...], run: Any) -> Callable[..., Any] | None:
        return refit_by(self._dispatch, names, run) if isinstance(run, Stages) else None

    def _plain(self) -> Callable[..., Any] | None:
        """The function of the arguments of a call without the compiler, if that is not the innermost function."""
        return self.primal._plain() if isinstance(self.primal, Transformed) else None

    # --- the disk cache -------------------------------------------------------------------------------------------

    def _key(self, names: tuple[str, ...], values: tuple[Any, ...]) -> str | None:
        return persist.entry_key(self, self._dispatch.fn, names, values)

    def _restore(self, key: str, values: tuple[Any, ...]) -> Iterator[tuple[Lowered, Any]]:
        """The entries on disk for these arguments."""
        return persist.load(key, self._dispatch.fn, values, self._restored)

    def _restored(self, lowered: Lowered, emitted: Emitted, details: Any, staged: persist.Staged | None) -> Any:
        if staged is None:
            return self._rebuild(emitted, details)
        if not take_sites(self._dispatch, staged.sites):
            raise persist.Unusable
        paths = [item.path for item in lowered.inputs[: [item.path for item in lowered.inputs].index(LOG)]]
        prologue = self._load(staged.prologue)
        body, loc = self._rebuild(emitted, details), location_of(self._dispatch.fn)
        return Stages(prologue, body, staged.facts, paths, staged.foreign, loc, staged.writes)

    def _rebuild(self, emitted: Emitted, details: Any) -> Callable[..., Any]:
        return self._load(emitted)

    def _keep(self, key: str, lowered: Lowered, values: tuple[Any, ...], run: Any) -> None:
        persist.store(key, self._dispatch.fn, lowered, values, run, self._dispatch.sites)

    @property
    def _numba_type_(self) -> Any:
        """For functions under ``numba.njit`` that call it."""
        from .inside_numba import numba_type

        return numba_type(self)

    # --- inside other functions that are being compiled -----------------------------------------------------------

    @property
    def kind(self) -> str:
        """Which of `nested_kinds.KINDS` it is."""
        return self.suffix

    def __autodiff_lower__(self, interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        from .compiler import KINDS, lower_call, primal_of

        refuse_options_of(self.options, interp, args, kwargs)
        if self.kind not in KINDS:
            refused(f"{self.kind} in a function that is compiled is not supported", USE_GRAD)(interp, args, kwargs)
        has_aux = getattr(self, "has_aux", False)
        callee = primal_of(interp, self.primal)
        kind = KINDS[self.kind].within(self.options.max_residual_bytes)
        return lower_call(interp, callee, self.argnums, kind, args, kwargs, has_aux)


def portable_name(transformed: Transformed) -> list[str]:
    """The part of a transformation's disk key that does not come from the primal."""
    return [
        type(transformed).__name__,
        repr(transformed.argnums),
        *transformed.options.portable(),
    ]


def innermost(fn: Any) -> Any:
    """The ordinary function under any number of transformations. Its signature is theirs."""
    while isinstance(fn, Transformed):
        fn = fn.primal
    return fn


def name_classes(tree: Any, named: dict[Any, str]) -> None:
    """Give each class in the structure of a result a name, and each helper that builds instances."""
    kind = tree[0]
    wanted = [tree[1]] if kind in ("make", "new") else []
    wanted += [{"new": new_object, "like": copy_with}[kind]] if kind in ("new", "like") else []
    for obj in wanted:
        if obj not in named:
            stem, n = identifier(obj.__name__, "cls"), 1
            name = stem
            while name in named.values():
                n += 1
                name = f"{stem}_{n}"
            named[obj] = name
    for part in children(tree):
        name_classes(part, named)


def tree_text(tree: Any, leaves: Sequence[str], named: dict[Any, str]) -> str:
    """The expression that builds a result from the expressions of its leaves."""
    kind = tree[0]
    if kind == "leaf":
        return str(leaves[tree[1]])
    if kind == "static":
        return literal(tree[1])
    items = [tree_text(t, leaves, named) for t in children(tree)]
    if kind == "dict":
        return "{" + ", ".join(f"{literal(k)}: {item}" for k, item in zip(tree[1], items)) + "}"
    if kind == "make":
        return f"{named[tree[1]]}({', '.join(items)})"
    if kind == "list":
        return "[" + ", ".join(items) + "]"
    parts = "(" + ", ".join(items) + ("," if len(items) == 1 else "") + ")"
    if kind == "new":
        return f"{named[new_object]}({named[tree[1]]}, {literal(tuple(tree[2]))}, {parts})"
    return parts if kind == "tuple" else f"{named[copy_with]}({leaves[tree[1]]}, {literal(tuple(tree[2]))}, {parts})"


class Repeatable(Transformed):
    """A derivative that, by one float, may be repeated. Of `FEWEST` and more of them, the one of highest order is a
    Taylor coefficient of the function, whose code grows with the square of the order. That of one transformation after
    the other grows by a factor with each order.
    """

    FEWEST = 3

    def is_plain(self) -> bool:
        """It has no options that ask for more than the derivative."""
        raise NotImplementedError

    def once(self, lowered: Lowered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Lowered:
        """See `transform`. Of the primal, and not of what is below it."""
        raise NotImplementedError

    def chain(self) -> list[Repeatable]:
        """The derivatives that were taken one after the other, of which this is the last."""
        found: list[Repeatable] = []
        fn: Any = self
        while isinstance(fn, Repeatable) and fn.is_plain() and fn.argnums == self.argnums:
            found.append(fn)
            fn = fn.primal
        return found[::-1]

    def _lower(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Lowered:
        chain = self.chain()
        if len(chain) < self.FEWEST:
            return super()._lower(args, kwargs)
        return replace(lower_any(chain[0].primal, args, kwargs), orders=len(chain))

    def transform(self, lowered: Lowered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Lowered:
        if lowered.orders == 1:
            return self.once(lowered, args, kwargs)
        order, lowered = lowered.orders, replace(lowered, orders=1)
        found = self._coefficient(lowered, args, kwargs, order)
        if found is None:
            found = lowered
            for derivative in self.chain():
                found = derivative.once(found, args, kwargs)
        return found

    def _coefficient(
        self, lowered: Lowered, args: tuple[Any, ...], kwargs: dict[str, Any], order: int
    ) -> Lowered | None:  # fmt: skip
        """The derivative of this order, if the argument and the result are one float each, and if each operation has
        Taylor coefficients."""
        from .compiler import pipeline

        wanted, tree = differentiated(self.primal, lowered, self.argnums, args, kwargs)
        fn = lowered.function
        if tree[0] != "leaf" or lowered.out != ("leaf", 0) or len(fn.results) != 1 or wanted.kept:
            return None
        for t in (type_of(fn.params[wanted.wrt[0]]), type_of(fn.results[0])):
            if t.kind == "list" or t.dims != () or not t.is_real or not t.may_be_float:
                return None
        try:
            made = pipeline.coefficient(fn, wanted.wrt[0], order)
        except UnsupportedError:
            return None
        with Builder(made.body).active():
            made.body.exit = (made.body.exit[0] * float(math.factorial(order)),)
        hand_through(made, wanted)
        return replace(lowered, function=made, out=tree)


class Gradient(Repeatable):
    """The gradient of a function with a scalar result. See `grad`."""

    suffix = "grad"
    has_budget = True
    keep_value = False
    moving: int | None = 0  # how many tangents are pushed through the gradient; None: one for each element
    exact = False  # integer arguments are allowed, and their cotangent is None

    def __init__(
        self, fn: Callable[..., Any], argnums: Argnums = 0, strong_zeros: bool = True, has_aux: bool = False,
        allow_int: bool = False,
    ):  # fmt: skip
        super().__init__(fn, argnums)
        self.strong_zeros = bool(strong_zeros)
        self.has_aux = bool(has_aux)
        self.allow_int = bool(allow_int)

    def _parts(self) -> tuple[Any, ...]:
        return self.primal, self.argnums, self.strong_zeros, self.has_aux, self.allow_int

    def __autodiff_lower__(self, interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        for wanted, refusal in (
            (not self.strong_zeros, NO_WEAK_ZEROS), (self.allow_int, NO_INTEGERS),
        ):  # fmt: skip
            if wanted:
                refused(*refusal)(interp, args, kwargs)
        return super().__autodiff_lower__(interp, args, kwargs)

    def __autodiff_portable__(self) -> list[str]:
        options = (not self.strong_zeros, "multiplies"), (self.has_aux, "aux"), (self.allow_int, "integers")
        return portable_name(self) + [name for wanted, name in options if wanted]

    def scalar(self, lowered: Lowered, main: Any) -> None:
        """Check that the result, which has this structure, is one real number."""
        check_scalar(lowered, main, self)

    def to_push(self, moving: int | None, options: Options) -> Gradient:
        """This gradient, for so many tangents, and with the options of what pushes them."""
        self.moving, self.options = moving, options
        return self

    def is_plain(self) -> bool:
        return (
            type(self) is Gradient
            and self.strong_zeros
            and not self.has_aux
            and not self.allow_int
            and self.options == Options()
        )

    def once(self, lowered: Lowered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Lowered:
        from .compiler import pipeline

        wanted, tree = differentiated(
            self.primal, lowered, self.argnums, args, kwargs, self.exact, zeros=self.allow_int
        )  # fmt: skip
        main, aux = split_aux(lowered, self) if self.has_aux else (lowered.out, None)
        self.scalar(lowered, main)
        results = len(lowered.function.results)
        fn = pipeline.adjoint(
            lowered.function, wanted.wrt, seeds=[1.0, *[False] * (results - 1)],
            keep_results=self.keep_value or self.has_aux, masks=True if self.strong_zeros else None,
            budget=self.options.max_residual_bytes, moving=self.moving,
        )  # fmt: skip
        hand_through(fn, wanted)
        if self.keep_value:
            value = main if aux is None else ("tuple", (main, aux))
            return replace(lowered, function=fn, out=("tuple", (value, shift(tree, results))))
        if aux is not None:
            # The value is not returned. What may be differentiated again stands in front.
            exits = fn.body.exit
            fn.body.exit = (*exits[results:], *exits[1:results])
            tree = ("tuple", (tree, shift(aux, len(exits) - results - 1)))
        return replace(lowered, function=fn, out=tree)


class ValueAndGradient(Gradient):
    """The value of a function and its gradient. See `value_and_grad`."""

    suffix = "value_and_grad"
    keep_value = True


def lower_any(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Lowered:
    """Lower a function. For a transformed one, transform the IR of its primal."""
    if isinstance(fn, Transformed):
        return fn.transform(fn._lower(args, kwargs), args, kwargs)
    from .compiler import lower

    lowered = lower(fn, args, kwargs)
    if is_checking():
        from .compiler import check_value

        check_value(fn, lowered, args, kwargs)
    if any(op.prim.name in ("@", "np.matmul") for op in lowered.function.body.walk()):
        _tag_products(lowered, bind_arguments(fn, args, kwargs)[1])
    return lowered


def _tag_products(lowered: Lowered, values: list[Any]) -> None:
    """Find out which products `dot` computes. The code is for arrays in C order then, where that matters."""
    from .compiler import tag_products

    for k in tag_products(lowered.function, _in_c_order(lowered, values)):
        flag = (*lowered.inputs[k].path, ("attr", "flags"), ("attr", "c_contiguous"))
        lowered.guards.append(Guard(flag, "eq", True))


def _in_c_order(lowered: Lowered, values: list[Any]) -> Iterator[int]:
    """The inputs, by number, that are arrays in C order at this call."""
    for k, item in enumerate(lowered.inputs):
        plain = all(kind in ("arg", "global", "cell", "item", "attr") for kind, *_ in item.path)
        if plain and item.key[0] == "array" and fetch(item.path, tuple(values)).flags.c_contiguous:
            yield k


def split_aux(lowered: Lowered, what: Transformed) -> tuple[Any, Any]:
    """The structures of what is differentiated, and of what comes beside it.

    The leaves of the first are in front.
    """
    kind, parts = lowered.out[0], children(lowered.out)
    if kind != "tuple" or len(parts) != 2:
        raise NonScalarOutputError(
            f"{what.suffix} with has_aux=True needs a function that returns a pair, the result and what comes beside "
            "it",
            lowered.loc,
            "return (result, aux)",
        )
    if sorted(leaf_numbers(parts[0])) != list(range(count_leaves(parts[0]))):
        raise InternalError("the leaves of what is differentiated are not the first")
    return parts[0], parts[1]


def check_scalar(lowered: Lowered, out: Any, what: Transformed) -> None:
    """The result with the structure `out`, the first of all, is one real number."""
    name = getattr(what.primal, "__name__", type(what.primal).__name__)
    name = "the lambda" if name == "<lambda>" else name

    def refused(wanted: str, result: str, remedy: str) -> NonScalarOutputError:
        if isinstance(what.primal, types.BuiltinFunctionType | types.MethodDescriptorType | type):
            remedy = f"pass a function that returns one float; {name!r} is built in"
        return NonScalarOutputError(
            f"{what.suffix} needs a {wanted} result, and {name} returns {result}", lowered.loc, remedy
        )

    if out[0] != "leaf":
        names = {"tuple": "a tuple", "list": "a list", "dict": "a dict", "static": repr(out[-1])}
        raise refused("scalar", names.get(out[0], "an object"), "return one number, or use vjp")
    t = type_of(lowered.function.results[0])
    if t.kind == "list" or (t.dims is not None and len(t.dims) > 0):
        described = "a list" if t.kind == "list" else f"an array, {t}"
        raise refused("scalar", described, "sum the result, or use vjp with a cotangent")
    if t.dtype is not None and t.dtype.kind == "c":
        raise refused("real floating", "complex", "return its real part, or its absolute value")
    if t.dtype is not None and t.dtype.kind != "f":
        raise refused("real floating", t.dtype.name, "return a float")
    if t.dims is None or not t.is_real:  # a power of Python's numbers may be complex
        guard_scalar(lowered, what)


def guard_scalar(lowered: Lowered, what: Transformed) -> None:
    """Check at run time that the result is a real scalar, if its type does not tell."""
    from ..ir import opset

    body = lowered.function.body
    builder = Builder(body)
    out = builder.emit(opset.AS_SCALAR, body.exit[0])
    body.exit = (out, *body.exit[1:])


def differentiated(
    fn: Any, lowered: Lowered, argnums: Any, args: tuple[Any, ...], kwargs: dict[str, Any], exact: bool = False,
    zeros: bool = False,
) -> tuple[Wanted, Any]:  # fmt: skip
    """The parameters to differentiate by, and the structure in which their cotangents are returned.

    exact: integers among the arguments are allowed, and their cotangent is None; zeros: it is zero.
    """
    from .compiler import Wanted, argument_place

    several = isinstance(argnums, tuple)
    names, values, signature = bind_arguments(innermost(fn), args, kwargs)
    wanted = Wanted(lowered, exact, zeros)
    trees = []
    for which in argnums if several else (argnums,):
        start, value, name = argument_place(which, names, values, signature)
        trees.append(wanted.tree(value, start, name))
    return wanted, wanted.finished(("tuple", tuple(trees)) if several else trees[0])


def hand_through(fn: Function, wanted: Wanted) -> None:
    """Give the cotangents the kinds, shapes and dtypes of their parameters, and add the parameters in `wanted.kept`."""
    from ..ir.opset import apply
    from .compiler import pipeline

    fn.meta["wrt"] = wanted.wrt
    pipeline.finish(fn, len(wanted.wrt))
    builder = Builder(fn.body)
    for n, k in enumerate(wanted.kept):
        x: Any = fn.body.params[k]
        if n in wanted.zeroed:
            with builder.active():
                x = apply(np.zeros_like, x, dtype=np.dtype(np.float64))
        fn.body.exit = (*fn.body.exit, x)


def _arguments_of(entry: Entry) -> str:
    """The arguments that an entry is for, with their types."""
    return (
        ", ".join([f"{item.name}: {item.type}" for item in entry.lowered.inputs if not item.hidden]) or "no arguments"
    )


def _name_of(fn: Any) -> str:
    name = getattr(fn, "__name__", type(fn).__name__)
    return identifier(name, "lambda_" if name == "<lambda>" else "f")


@overload
def grad(
    fun: Callable[..., Any], argnums: Argnums = 0, *, strong_zeros: bool = True, has_aux: bool = False,
    allow_int: bool = False, **options: Unpack[Asked],
) -> Gradient: ...  # fmt: skip
@overload
def grad(
    fun: None = None, argnums: Argnums = 0, *, strong_zeros: bool = True, has_aux: bool = False,
    allow_int: bool = False, **options: Unpack[Asked],
) -> Callable[[Callable[..., Any]], Gradient]: ...  # fmt: skip
@trimmed
def grad(
    fun: Any = None, argnums: Argnums = 0, *, strong_zeros: bool = True, has_aux: bool = False,
    allow_int: bool = False, **options: Unpack[Asked],
) -> Any:  # fmt: skip
    """A function that computes the gradient of `fun`. It may also be used as ``@grad`` and ``@grad(argnums=...)``.

    fun: an ordinary Python function of floats and NumPy arrays, or of tuples, lists, dicts and objects that hold them.
        It returns a real scalar. It is compiled at the first call with arguments of new types.
    argnums: the argument to differentiate by, as a position or a name, or a sequence of these.
    strong_zeros: where a cotangent is zero and a partial infinite, their product is zero. If False, it is nan, as in
        most systems, and roots need no pass that looks for zeros (see docs/semantics.md, "Zero times infinity").
    has_aux: `fun` returns a pair. The first is differentiated. The second may be any container, and is returned beside
        the gradient: ``(gradient, aux)``, and for `value_and_grad` ``((value, aux), gradient)``.
    allow_int: arguments to differentiate by may be integers and bools. Their gradient is zero, as floats.
    options: how the code is made; see `api.options`. ``optimize="-numbers"`` leaves out passes.
        ``max_residual_bytes=`` bounds what loops keep for the backward sweep. A loop of which all fits keeps all.
        With "auto", there is no bound, but loops that would keep more than 64 MB are cut into segments.
        Others keep snapshots, and run in part again. A call raises `ArgumentError` if a loop needs more, and
        `UnsupportedError` if a loop cannot run again (docs/checkpoints.md). The schedule is that of Griewank and
        Walther, Algorithm 799: Revolve (ACM TOMS 26, 2000), section 3.
        With ``backend="native"``, it is machine code that Numba compiles at the first call (docs/native.md).

    Call the result with the arguments of `fun`. It returns the gradient in the structure, shapes and dtypes of the
    argument. For a sequence of `argnums`, it returns a tuple of gradients. Arguments are not changed. Further methods
    of the result show what is computed: `source`, `ir`, `passes`.

    A call raises what `fun` raises. It raises `NonScalarOutputError` if the result of `fun` is no real scalar,
    `IntegerArgumentError` for an integer or bool argument, `RuleLookupError` for a function without a derivative rule,
    `SourceUnavailableError` if the source of `fun` cannot be read, and `UnsupportedError` or `AliasError` for code that
    cannot be differentiated safely. `grad` itself raises ValueError for an `optimize` that names no optional pass.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> ad.grad(lambda x: np.sum(x * x))(np.array([1.0, 2.0, 3.0]))
    array([2., 4., 6.])
    >>> @ad.grad(argnums=("w", "b"))
    ... def loss(x, w, b):
    ...     return np.sum((x @ w + b) ** 2)
    >>> loss(np.eye(2), np.array([1.0, 2.0]), np.array([0.5, 0.0]))
    (array([3., 4.]), array([3., 4.]))
    >>> ad.grad(lambda x: (x * x, {"twice": 2.0 * x}), has_aux=True)(3.0)
    (6.0, {'twice': 6.0})
    >>> ad.grad(lambda x: x * x, optimize="-numbers, -sweeps")(3.0)
    6.0
    >>> @ad.grad(max_residual_bytes=1_000_000)
    ... def decay(x, n):
    ...     for _ in range(n):
    ...         x = x - 0.01 * np.sin(x)
    ...     return np.sum(x)
    >>> decay(np.full(10_000, 0.5), 1000).shape
    (10000,)
    """
    if fun is None:
        return functools.partial(
            grad, argnums=argnums, strong_zeros=strong_zeros, has_aux=has_aux, allow_int=allow_int, **options
        )
    return Gradient(fun, argnums, strong_zeros, has_aux, allow_int).asked(options)


@overload
def value_and_grad(
    fun: Callable[..., Any], argnums: Argnums = 0, *, strong_zeros: bool = True, has_aux: bool = False,
    allow_int: bool = False, **options: Unpack[Asked],
) -> ValueAndGradient: ...  # fmt: skip
@overload
def value_and_grad(
    fun: None = None, argnums: Argnums = 0, *, strong_zeros: bool = True, has_aux: bool = False,
    allow_int: bool = False, **options: Unpack[Asked],
) -> Callable[[Callable[..., Any]], ValueAndGradient]: ...  # fmt: skip
@trimmed
def value_and_grad(
    fun: Any = None, argnums: Argnums = 0, *, strong_zeros: bool = True, has_aux: bool = False,
    allow_int: bool = False, **options: Unpack[Asked],
) -> Any:  # fmt: skip
    """A function that returns the value of `fun` and its gradient, as a pair. See `grad`.

    >>> import autodiff_compiler as ad
    >>> ad.value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    if fun is None:
        return functools.partial(
            value_and_grad, argnums=argnums, strong_zeros=strong_zeros, has_aux=has_aux, allow_int=allow_int,
            **options,
        )  # fmt: skip
    return ValueAndGradient(fun, argnums, strong_zeros, has_aux, allow_int).asked(options)


def inside(make: Any) -> Any:
    """How a call of `make` in a function that is compiled is lowered."""

    def lowering(interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        from .compiler import KINDS, lower_transform

        return lower_transform(make, KINDS[make.__name__], interp, args, kwargs)

    return lowering


for _made in (grad, value_and_grad):
    lowers_by(inside(_made))(_made)

__all__ = ["Gradient", "Transformed", "grad", "value_and_grad"]
