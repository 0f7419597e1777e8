"""``linearize``: the value of a function, and its tangents at that point for any number of directions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..ir.core import type_of
from ..lowered import Lowered, lowers_by, refused
from ..tracebacks import trim
from ..tree import count_leaves, unflatten
from .forward import match_tangents, tangent_tree
from .pullbacks import Pullback, for_all_arguments, ones_like, stands_for
from .transforms import differentiated, split_aux

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .options import Asked


class Linearized(Pullback):
    """A function of the arguments that gives the value and the linear function of the tangents. See `linearize`.

    The pullback is linear in the cotangent, so the pullback of the pullback takes tangents to tangents. Its forward
    sweep computes what no direction changes, once.
    """

    suffix = "linearized"
    has_budget = False

    def transform(self, lowered: Lowered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Lowered:
        from .compiler import pipeline

        wanted, tree = differentiated(self.primal, lowered, self.argnums, args, kwargs, exact=True)
        main = split_aux(lowered, self)[0] if self.has_aux else lowered.out
        results = lowered.function.results
        moving = [k for k in range(count_leaves(main)) if type_of(results[k]).may_be_float]
        fn = pipeline.linear(lowered.function, wanted.wrt, moving)
        carries = [k in moving for k in range(len(results))]
        return replace(lowered, function=fn, out=("split", lowered.out, tree, carries))

    def _compile(self, lowered: Lowered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any]:
        derived = self.transform(lowered, args, kwargs)
        _, out, tree, carries = derived.out
        moving = sum(carries)
        tangents: Any = ("tuple", tuple([("leaf", k) for k in range(moving)])) if moving != 1 else ("leaf", 0)
        count = len(lowered.function.results)
        run = self.generate(replace(derived, out=tangents), split=count)
        return self._wrapped(run, ("tuple", (out, tree)), count, [*carries, *derived.function.meta["wrt"]])

    def _wrapped(self, run: Any, out: Any, count: int, seeded: list[int]) -> Callable[..., Any]:
        """`out`: the structures of the result and of the tangents. `seeded`: for each result whether it has a tangent,
        and then the numbers of the inputs that have one."""
        result, tree = out[-1]
        main, aux = result[-1] if self.has_aux else (result, None)
        carries, wrt = seeded[:count], seeded[count:]
        moved = tangent_tree(main, [bool(c) for c in carries])
        numbers = [k for k, c in enumerate(carries) if c]

        def call(*leaves: Any) -> Any:
            results, push_leaves = run(*leaves)
            if call.clock is not None:  # type: ignore[attr-defined]
                push_leaves = call.clock(push_leaves)  # type: ignore[attr-defined]
            parts = [results] if count == 1 else list(results)
            primals = [leaves[k] for k in wrt]

            def push(*tangents: Any) -> Any:
                try:
                    found = push_leaves(*match_tangents(tangents, tree, primals, copy=True))
                    every = [None] * (2 * count)
                    for k, d in zip(numbers, found if len(numbers) != 1 else [found]):
                        every[count + k] = d
                    return unflatten(moved, every)
                except BaseException as error:
                    __tracebackhide__ = True
                    trim(error)
                    raise

            _refused_inside(push)
            if aux is not None:
                return unflatten(main, parts), push, unflatten(aux, parts)
            return unflatten(main, parts), push

        def seeds(results: Any, leaves: Any) -> list[Any]:
            return [ones_like(leaves[k]) for k in wrt]

        return stands_for(run, call, run.__autodiff_arity__, (out, count, seeded), seeds)


_refused_inside = lowers_by(
    refused(
        "the function that linearize gave is called in a function that is compiled, or transformed",
        "call jvp there: lambda d: jvp(f, (x,), (d,))[1]",
    )
)


def linearize(
    fun: Callable[..., Any], *primals: Any, has_aux: bool = False, **options: Unpack[Asked]
) -> tuple[Any, ...]:  # fmt: skip
    """The value of ``fun(*primals)``, and the linear function from tangents of the primals to the tangent of the
    result.

    The linear function takes a tangent for each primal, as `jvp` does, and may be called any number of times. What no
    tangent changes is computed once, and kept. So for many directions at one point it is cheaper than `jvp`, which
    computes the primal anew each time and keeps nothing.

    has_aux: `fun` returns a pair, of which only the first is differentiated. Then `linearize` returns the first, the
    linear function, and the second.
    options: as for `grad`.

    Raises what `jvp` raises. Where a tangent of zero meets an infinite partial, such as that of ``np.sqrt`` at 0, the
    result may be nan; `jvp` knows better.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> value, push = ad.linearize(lambda x: np.sin(x) * x, 0.0)
    >>> value, push(1.0), push(2.0)
    (np.float64(0.0), np.float64(0.0), np.float64(0.0))
    """
    try:
        return for_all_arguments(Linearized, fun, len(primals), has_aux, options=options)(*primals)  # type: ignore[no-any-return]
    except BaseException as error:
        __tracebackhide__ = True
        trim(error)
        raise


def _inside(interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    from .compiler import PUSHED, lower_linear

    return lower_linear(interp, "linearize", PUSHED, args, kwargs)


lowers_by(_inside)(linearize)

__all__ = ["Linearized", "linearize"]
