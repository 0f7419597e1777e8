"""``taylor``: the Taylor coefficients of a function along a direction, as users call it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..ir.core import type_of
from ..lowered import Lowered, lowers_by, refused
from ..tracebacks import trimmed
from ..tree import Tree, children, with_children
from .forward import Pushforward
from .pullbacks import for_all_arguments
from .transforms import Argnums, differentiated, portable_name


class Taylor(Pushforward):
    """A function of the arguments that gives a function of a direction for each, which returns the list of Taylor
    coefficients. See `taylor`.

    order: that of the last coefficient
    """

    suffix = "taylor"

    def __init__(self, fn: Callable[..., Any], argnums: Argnums = 0, order: int = 1):
        super().__init__(fn, argnums)
        self.order = order

    def _parts(self) -> tuple[Any, ...]:
        return self.primal, self.argnums, self.order

    def __autodiff_portable__(self) -> list[str]:
        return [*portable_name(self), f"order {self.order}"]

    def transform(self, lowered: Lowered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Lowered:
        from .compiler import pipeline

        wanted, tree = differentiated(self.primal, lowered, self.argnums, args, kwargs, exact=True)
        results = lowered.function.results
        fn = pipeline.taylor(lowered.function, wanted.wrt, max(self.order, 1))
        fn.meta["wrt"] = wanted.wrt
        fn.body.exit = fn.body.exit[: len(results) * (1 + self.order)]
        carries = [type_of(r).may_be_float for r in results]
        out = [lowered.out, *[coefficient_tree(lowered.out, carries, j) for j in range(1, 1 + self.order)]]
        return replace(lowered, function=fn, out=("split", tree, ("list", tuple(out))))


def coefficient_tree(out: Tree, carries: list[bool], order: int) -> Tree:
    """The structure of the coefficients of one order: None where there can be none.

    >>> coefficient_tree(("tuple", (("leaf", 0), ("leaf", 1), ("static", "text"))), [True, False], 2)
    ('tuple', (('leaf', 4), ('static', None), ('static', None)))
    """
    if out[0] == "leaf":
        return ("leaf", order * len(carries) + out[1]) if carries[out[1]] else ("static", None)
    if out[0] == "static":
        return ("static", None)
    return with_children(out, [coefficient_tree(t, carries, order) for t in children(out)])


@trimmed
def taylor(fun: Callable[[Any], Any], x: Any, direction: Any, k: int) -> list[Any]:
    """The Taylor coefficients of ``fun(x + t * direction)`` in t, from order 0 to order k, as a list.

    Coefficient j is the derivative of order j by t, at ``t == 0``, divided by ``j!``. It has the structure, shapes and
    dtypes of the result of `fun`, with None for what does not move, as in `jvp`. Coefficient 0 is the result.

    fun: a function of one argument, which may be a container: a function of several is
        ``lambda args: f(*args)``.
    direction: has the structure and the shapes of `x`. That of an integer, a bool or a text is None.
    k: a number that is not negative. The code for it is compiled once, and grows with about its square.

    All coefficients are computed in one sweep. For higher derivatives that is much cheaper than to repeat `derivative`
    or `jvp`, whose code grows with each order by a factor.

    Raises `ArgumentError` if `direction` does not fit `x`, or for another `k`; `UnsupportedError` for an operation
    whose coefficients are not known; and for the function what `grad` raises.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> [round(float(c), 6) for c in ad.taylor(np.exp, 0.0, 1.0, 4)]
    [1.0, 1.0, 0.5, 0.166667, 0.041667]
    >>> ad.taylor(lambda x: x[0] * x[1] ** 2, np.array([2.0, 3.0]), np.array([1.0, 1.0]), 3)
    [np.float64(18.0), np.float64(21.0), np.float64(8.0), np.float64(1.0)]
    """
    push = for_all_arguments(Taylor, fun, 1, checked_order(k))(x)
    return push((direction,))  # type: ignore[no-any-return]


def checked_order(k: Any) -> int:
    try:
        order = operator.index(k) if not isinstance(k, (bool, np.bool_)) else -1
    except TypeError:
        order = -1
    if order < 0:
        raise ArgumentError(
            f"taylor: the order k is {k!r}", None, "pass the order of the last coefficient, an int that is not negative"
        )
    return order


lowers_by(
    refused(
        "taylor in a function that is compiled is not supported",
        "use derivative there, or jvp, nested for the order that you need",
    )
)(taylor)

__all__ = ["Taylor", "taylor"]
