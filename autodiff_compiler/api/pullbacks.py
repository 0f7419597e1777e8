"""``vjp``: the value and the pullback of a function, as users call it."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from ..codegen.load import Emitted
from ..duck import is_duck, name_of
from ..errors import ArgumentError, is_interruption
from ..ir.core import type_of
from ..locks import Lock
from ..lowered import Lowered, lowers_by, refused
from ..tracebacks import trim
from ..tree import count_leaves, leaves_like, unflatten
from .transforms import Argnums, Transformed, differentiated, hand_through, portable_name, split_aux

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .options import Asked


def stands_for(
    run: Any, call: Any, arity: int, details: Any, seeds: Callable[..., Any] | None = None
) -> Callable[..., Any]:  # fmt: skip
    """`call`, which calls the compiled function `run`, with its attributes. `details` are for the disk cache.

    seeds: if `run` gives a function, too: makes cotangents or tangents for it that are ones, from the results and the
    arguments. `call.clock` may then be set to what wraps that function, see `auto`.
    """
    call.__autodiff_source__ = run.__autodiff_source__
    call.__autodiff_emitted__ = run.__autodiff_emitted__
    call.__autodiff_arity__ = arity
    call.__autodiff_details__ = details
    call.__wrapped__ = run
    if seeds is not None:
        call.clock, call.seeds = None, seeds
    return call  # type: ignore[no-any-return]


class Pullback(Transformed):
    suffix = "vjp"
    has_budget = True

    def __init__(self, fn: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False):
        super().__init__(fn, argnums)
        self.has_aux = has_aux

    def _parts(self) -> tuple[Any, ...]:
        return self.primal, self.argnums, self.has_aux

    def __autodiff_portable__(self) -> list[str]:
        return portable_name(self) + (["aux"] if self.has_aux else [])

    def transform(self, lowered: Lowered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Lowered:
        from .compiler import pipeline

        wanted, tree = differentiated(self.primal, lowered, self.argnums, args, kwargs, exact=True)
        results = lowered.function.results
        seeds: list[Any] = [None if type_of(r).may_be_float else 0.0 for r in results]
        if self.has_aux:
            first = count_leaves(split_aux(lowered, self)[0])
            seeds[first:] = [False] * (len(seeds) - first)
        fn = pipeline.adjoint(
            lowered.function, wanted.wrt, seeds=seeds, keep_results=True, budget=self.options.max_residual_bytes
        )
        fn.meta["seeded"] = [k for k, s in enumerate(seeds) if s is None]
        hand_through(fn, wanted)
        return replace(lowered, function=fn, out=("split", lowered.out, tree))

    def _compile(self, lowered: Lowered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any]:
        derived = self.transform(lowered, args, kwargs)
        _, out, tree = derived.out
        count = len(lowered.function.results)
        seeded = derived.function.meta["seeded"]
        run = self.generate(replace(derived, out=tree), split=count)
        return self._wrapped(run, out, count, seeded)

    def _rebuild(self, emitted: Emitted, details: Any) -> Callable[..., Any]:
        return self._wrapped(self._load(emitted), *details)

    def _wrapped(self, run: Any, out: Any, count: int, seeded: list[int]) -> Callable[..., Any]:
        """A function that returns the value and the pullback, both in the structure of the result."""
        whole = out
        main, aux = out[-1] if self.has_aux else (out, None)

        def call(*leaves: Any) -> Any:
            results, pullback = run(*leaves)
            if call.clock is not None:  # type: ignore[attr-defined]
                pullback = call.clock(pullback)  # type: ignore[attr-defined]
            parts = [results] if count == 1 else list(results)

            def pull(cotangent: Any) -> Any:
                try:
                    return pullback(*match_cotangent(cotangent, main, parts, seeded))
                except BaseException as error:
                    __tracebackhide__ = True
                    trim(error)
                    raise

            _refused_inside(pull)
            if aux is not None:
                return unflatten(main, parts), pull, unflatten(aux, parts)
            return unflatten(main, parts), pull

        def seeds(results: Any, leaves: Any) -> list[Any]:
            return [ones_like(results if count == 1 else results[k]) for k in seeded]

        return stands_for(run, call, run.__autodiff_arity__, (whole, count, seeded), seeds)


def ones_like(x: Any) -> Any:
    """Ones in the place of a number, of an array, or of those in a list."""
    if isinstance(x, list):
        return [ones_like(item) for item in x]
    return np.ones_like(x) if isinstance(x, np.ndarray) else type(x)(1)


_refused_inside = lowers_by(
    refused(
        "the function that vjp gave is called in a function that is compiled, or transformed",
        "call vjp there: lambda g: vjp(f, x)[1](g)",
    )
)


class _Projected(Transformed):
    """The gradient of ``<u, f(...)>`` for fixed cotangents u. `check_grads` checks the next order on it."""

    suffix = "projected"

    def __init__(self, fn: Callable[..., Any], argnums: Argnums, cotangents: list[Any]):
        super().__init__(fn, argnums)
        self.cotangents = cotangents

    def transform(self, lowered: Lowered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Lowered:
        from .compiler import pipeline

        wanted, tree = differentiated(self.primal, lowered, self.argnums, args, kwargs, exact=True)
        fn = pipeline.adjoint(lowered.function, wanted.wrt, seeds=self.cotangents)
        hand_through(fn, wanted)
        return replace(lowered, function=fn, out=tree)


def projected_gradient(fn: Callable[..., Any], cotangents: list[Any], count: int) -> _Projected:
    return _Projected(fn, tuple(range(count)), cotangents)


def match_cotangent(cotangent: Any, out: Any, results: list[Any], seeded: list[int]) -> list[Any]:
    """The leaves of a cotangent. Raises ArgumentError if its structure or shapes are not those of the result."""
    try:
        leaves = leaves_like(out, cotangent)
    except (TypeError, AttributeError) as error:
        if is_interruption(error):
            raise
        raise ArgumentError(
            f"the cotangent does not have the result's structure: {error}",
            None,
            "pass a cotangent with the structure and shapes of the result",
        ) from None
    for k in seeded:
        g, r = leaves[k], results[k]
        if isinstance(r, list):
            if not isinstance(g, list) or [np.shape(x) for x in g] != [np.shape(x) for x in r]:
                raise ArgumentError(f"the cotangent of a list of {len(r)} must be a list of items of the same shapes")
        elif np.shape(g) != np.shape(r):
            raise ArgumentError(
                f"the cotangent has shape {np.shape(g)}, the result {np.shape(r)}", None, "pass the result's shape"
            )
    return [as_cotangent(leaves[k], results[k]) for k in seeded]


def as_cotangent(g: Any, r: Any) -> Any:
    if isinstance(r, list):
        return [as_cotangent(x, y) for x, y in zip(g, r)]
    if is_duck(r):
        if not is_duck(g) and np.ndim(g) == 0:
            return np.full_like(r, as_cotangent(g, np.zeros((), r.dtype)))
        g = g if hasattr(g, "dtype") else np.asarray(g)
        if g.dtype.kind == "c" and r.dtype.kind == "f":
            raise ArgumentError("the cotangent of a real result is complex", None, "pass a real cotangent")
        return g if g.dtype == r.dtype else g.astype(r.dtype)
    if is_duck(g):
        raise ArgumentError(
            f"the cotangent is a {name_of(type(g))}, the result none", None, "pass an array of NumPy's, or a number"
        )
    if isinstance(r, (np.ndarray, np.generic)) and r.dtype.kind in "fc":
        g = np.asarray(g)
        if g.dtype.kind == "c" and r.dtype.kind == "f":
            raise ArgumentError("the cotangent of a real result is complex", None, "pass a real cotangent")
        return g.astype(r.dtype)[()] if np.ndim(r) == 0 and not isinstance(r, np.ndarray) else g.astype(r.dtype)
    return g if isinstance(g, (float, int, complex)) else np.asarray(g)[()]


@overload
def vjp(
    fun: Callable[..., Any], *args: Any, has_aux: Literal[False] = False, **options: Unpack[Asked]
) -> tuple[Any, Callable[[Any], Any]]: ...
@overload
def vjp(fun: Callable[..., Any], *args: Any, has_aux: bool, **options: Unpack[Asked]) -> tuple[Any, ...]: ...
def vjp(
    fun: Callable[..., Any], *args: Any, has_aux: bool = False, **options: Unpack[Asked]
) -> tuple[Any, ...]:  # fmt: skip
    """The value of ``fun(*args)`` and its pullback: from a cotangent of the result to the cotangents of the arguments.

    The pullback takes a cotangent with the structure and shapes of the result. It returns a tuple with one cotangent
    for each argument, in the argument's structure, shapes and dtypes, and None for an integer. It may be called any
    number of times. The result of `fun` may have any shape. Raises `ArgumentError` for a cotangent that does not fit,
    and otherwise what `grad` raises.

    has_aux: `fun` returns a pair, of which only the first is differentiated. Then `vjp` returns the first, the
    pullback, and the second.
    options: as for `grad`.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> out, pullback = ad.vjp(lambda x, y: x * y, np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    >>> pullback(np.array([1.0, 10.0]))
    (array([ 3., 40.]), array([ 1., 20.]))
    """
    try:
        return for_all_arguments(Pullback, fun, len(args), has_aux, options=options)(*args)  # type: ignore[no-any-return]
    except BaseException as error:
        __tracebackhide__ = True
        trim(error)
        raise


def for_all_arguments(
    cls: Any, fun: Any, count: int, *settings: Any, options: Mapping[str, Any] = MappingProxyType({})
) -> Any:
    """The transformation of a function by its first `count` arguments. For the same function and options it is the same
    object."""
    # Keys are identities: callables may be unhashable, or equal and yet different. Each access makes a bound method.
    parts = (fun.__func__, fun.__self__) if isinstance(fun, types.MethodType) else (fun,)
    key = (cls, count, settings, repr(sorted(options.items())), *[id(p) for p in parts])
    found = _transformed.get(key)
    if found is None:
        with _transformed_lock:
            # It keeps the parts alive, and so their ids.
            found = _transformed.setdefault(key, cls(fun, tuple(range(count)), *settings).asked(options))
            while len(_transformed) > 256:
                del _transformed[next(iter(_transformed))]
    return found


_transformed: dict[tuple[Any, ...], Transformed] = {}
_transformed_lock = Lock()


def _inside(interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    from .compiler import PULLED, lower_linear

    return lower_linear(interp, "vjp", PULLED, args, kwargs)


lowers_by(_inside)(vjp)

__all__ = [
    "Pullback",
    "as_cotangent",
    "for_all_arguments",
    "match_cotangent",
    "ones_like",
    "projected_gradient",
    "stands_for",
    "vjp",
]
