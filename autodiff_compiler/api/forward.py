"""``jvp``: forward mode as users call it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..codegen.load import Emitted
from ..duck import is_duck, name_of
from ..errors import ArgumentError, IntegerArgumentError, is_interruption
from ..ir.core import type_of
from ..lowered import Lowered, lowers_by
from ..tracebacks import trimmed
from ..tree import Tree, children, count_leaves, leaves_like, with_children
from .pullbacks import as_cotangent, for_all_arguments, stands_for
from .transforms import (
    Argnums,
    Transformed,
    differentiated,
    portable_name,
    split_aux,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .options import Asked


class Pushforward(Transformed):
    """A function of the arguments that gives a function of their tangents, which returns value and tangent. See `jvp`.

    The code is specialised on the arguments. Each tangent has the shape and dtype of its argument.
    """

    suffix = "jvp"

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
        main, *aux = split_aux(lowered, self) if self.has_aux else (lowered.out,)
        results = lowered.function.results
        handed_on = range(count_leaves(main) if aux else len(results), len(results))
        fn = pipeline.pushforward(lowered.function, wanted.wrt, handed_on)
        pipeline.own_tangents(fn, len(lowered.function.params), len(results))
        fn.meta["wrt"] = wanted.wrt
        carries = [type_of(r).may_be_float for r in results]
        return replace(lowered, function=fn, out=("split", tree, ("tuple", (main, tangent_tree(main, carries), *aux))))

    def _compile(self, lowered: Lowered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any]:
        derived = self.transform(lowered, args, kwargs)
        _, tree, out = derived.out
        run = self.generate(replace(derived, out=out))
        return self._wrapped(run, tree, len(lowered.function.params), derived.function.meta["wrt"])

    def _rebuild(self, emitted: Emitted, details: Any) -> Callable[..., Any]:
        return self._wrapped(self._load(emitted), *details)

    def _wrapped(self, run: Any, tree: Tree, count: int, wrt: list[int]) -> Callable[..., Any]:
        """`tree`: the structure of the tangents. `wrt`: the numbers of the inputs that have one."""

        def call(*leaves: Any) -> Callable[[Any], tuple[Any, Any]]:
            def push(tangents: Any) -> tuple[Any, Any]:
                given = match_tangents(tangents, tree, [leaves[k] for k in wrt])
                return run(*leaves, *given)  # type: ignore[no-any-return]

            return push

        return stands_for(run, call, count, (tree, count, wrt))


def tangent_tree(out: Tree, carries: Sequence[bool]) -> Tree:
    """The structure of the tangents of a result: None where there can be none.

    >>> tangent_tree(("tuple", (("leaf", 0), ("leaf", 1), ("static", "text"))), [True, False])
    ('tuple', (('leaf', 2), ('static', None), ('static', None)))
    """
    if out[0] == "leaf":
        return ("leaf", len(carries) + out[1]) if carries[out[1]] else ("static", None)
    if out[0] == "static":
        return ("static", None)
    return with_children(out, [tangent_tree(t, carries) for t in children(out)])


def match_tangents(tangents: Any, tree: Tree, primals: Sequence[Any], copy: bool = False) -> list[Any]:
    """The leaves of the tangents, checked against the arguments that they belong to. `copy`: as arrays of their own."""
    try:
        leaves = leaves_like(tree, tangents)[: len(primals)]
    except (TypeError, AttributeError, IndexError, KeyError) as error:
        if is_interruption(error):
            raise
        raise ArgumentError(
            f"the tangents do not have the structure of the arguments: {error}", None, "give each argument a tangent"
        ) from None
    refuse_exact(tree, tangents)
    for k, (d, x) in enumerate(zip(leaves, primals)):
        known = isinstance(d, (np.ndarray, np.generic, int, float, complex)) or (is_duck(d) and is_duck(x))
        if not known or isinstance(d, (bool, np.bool_)):
            raise ArgumentError(
                f"tangent number {k} is {d!r}, but its argument is {_described(x)}",
                None,
                "pass zeros for an argument that does not move",
            )
        if np.shape(d) != np.shape(x):
            raise ArgumentError(f"tangent number {k} has shape {np.shape(d)}, its argument {np.shape(x)}")
        if _is_complex(d) and not _is_complex(x):
            raise ArgumentError(f"tangent number {k} is complex, but its argument is {_described(x)}")
    return [as_tangent(d, x, copy) for d, x in zip(leaves, primals)]


def refuse_exact(tree: Tree, d: Any) -> None:
    """An integer, a bool or a text does not move: its tangent is None."""
    if tree[0] == "static" and d is not None:
        raise IntegerArgumentError(
            f"a tangent, {d!r}, for an argument that is no floating number or array",
            None,
            "pass the argument as a float, or None as its tangent",
        )
    if tree[0] in ("tuple", "list", "make"):
        for t, part in zip(tree[-1], d):
            refuse_exact(t, part)
    elif tree[0] == "dict":
        for key, t in zip(tree[1], tree[-1]):
            refuse_exact(t, d.get(key))


def _is_complex(x: Any) -> bool:
    return bool(x.dtype.kind == "c") if is_duck(x) else np.iscomplexobj(x)


def _described(x: Any) -> str:
    if is_duck(x):
        return f"a {name_of(type(x))} of {x.dtype} with shape {x.shape}"
    return f"an array of {x.dtype} with shape {x.shape}" if isinstance(x, np.ndarray) else f"a {type(x).__name__}"


def as_tangent(d: Any, x: Any, copy: bool) -> Any:
    """The tangent in the type of the argument."""
    if type(x) in (float, complex):
        return type(x)(d)
    if is_duck(x):
        return as_cotangent(d, x)
    if not copy and type(d) is type(x) is np.ndarray and d.dtype == x.dtype:
        return d
    return np.asarray(as_cotangent(d, x)) if isinstance(x, np.ndarray) else as_cotangent(d, x)


@trimmed
def jvp(
    fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False,
    **options: Unpack[Asked],
) -> tuple[Any, ...]:  # fmt: skip
    """The value of ``fun(*primals)`` and its tangent: the derivative along the direction `tangents`.

    Each tangent has the structure and the shapes of its primal, and is converted to its dtype. The tangent of an
    integer, a bool or a text is None. The tangent of the result has the structure, shapes and dtypes of the result,
    with None for what cannot have one. Value and tangent are computed in one sweep, without residuals.

    has_aux: `fun` returns a pair, of which only the first is differentiated. Then `jvp` returns the first, its tangent,
    and the second.
    options: as for `grad`.

    Raises `ArgumentError` if a tangent does not fit its primal, `IntegerArgumentError` for a tangent of what is no
    floating number, and for the function what `grad` raises.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> ad.jvp(lambda x, y: x * y, (np.array([1.0, 2.0]), np.array([3.0, 4.0])), (np.array([1.0, 0.0]), np.zeros(2)))
    (array([3., 8.]), array([3., 0.]))
    >>> ad.jvp(lambda x, n: x**n, (2.0, 3), (1.0, None))
    (8.0, 12.0)
    """
    for what, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            raise ArgumentError(f"jvp: the {what} are a tuple, with one for each argument, not {type(given).__name__}")
    if len(primals) != len(tangents):
        raise ArgumentError(f"jvp: {len(primals)} primals, but {len(tangents)} tangents")
    push = for_all_arguments(Pushforward, fun, len(primals), has_aux, options=options)(*primals)
    return push(tuple(tangents))  # type: ignore[no-any-return]


def _inside(interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    from .compiler import lower_jvp

    return lower_jvp(interp, args, kwargs)


lowers_by(_inside)(jvp)

__all__ = ["Pushforward", "jvp"]
