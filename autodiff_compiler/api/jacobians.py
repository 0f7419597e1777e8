"""``jacobian``, ``hessian`` and what else is made of many tangents or cotangents, as users call them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError, NonScalarOutputError, UnsupportedError
from ..ir.core import Function, type_of
from ..lowered import Lowered, lowers_by
from ..tracebacks import trimmed
from ..tree import Tree, children, count_leaves, shift, with_children
from .sparse import SparseDerivative, refuse_complex
from .transforms import (
    Argnums,
    Gradient,
    Transformed,
    differentiated,
    inside,
    portable_name,
    split_aux,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .options import Asked

FORWARD, REVERSE = "forward", "reverse"


class Jacobian(Transformed):
    """The Jacobian of a function. See `jacobian`.

    mode: "forward", "reverse", or None for the one that is cheaper
    """

    suffix = "jacobian"

    def __init__(
        self, fn: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, mode: str | None = None,
        keep_value: bool = False,
    ):  # fmt: skip
        super().__init__(fn, argnums)
        self.has_aux = bool(has_aux)
        self.mode = mode
        self.has_budget = mode != FORWARD
        self.keep_value = keep_value

    def _parts(self) -> tuple[Any, ...]:
        return self.primal, self.argnums, self.has_aux, self.mode, self.keep_value

    def __autodiff_portable__(self) -> list[str]:
        options = (self.has_aux, "aux"), (self.keep_value, "value"), (self.mode is not None, str(self.mode))
        return portable_name(self) + [name for wanted, name in options if wanted]

    def derived_from(self, lowered: Lowered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Lowered:
        """What is differentiated, from the lowered primal."""
        return lowered

    def check(self, fn: Function, wrt: list[int], lowered: Lowered) -> None:
        """Raise an error for arguments that this transformation is not for."""

    def combined(self, fn: Function, first: int, wrt: list[int], tree: Tree) -> tuple[Tree, int]:
        """The structure of what is returned, and how many values it has. Those are the results from `first` on."""
        return tree, len(fn.body.exit) - first

    def transform(self, lowered: Lowered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Lowered:
        from .compiler import pipeline, require_real

        lowered = self.derived_from(lowered, args, kwargs)
        wanted, argument = differentiated(self.primal, lowered, self.argnums, args, kwargs)
        main, aux = split_aux(lowered, self) if self.has_aux else (lowered.out, None)
        fn, wrt = lowered.function, wanted.wrt
        self.check(fn, wrt, lowered)
        results = moving_results(lowered, main, self)
        refuse_complex(fn, wrt, lowered, self.suffix)
        own = count_leaves(main)
        keep = range(0 if self.keep_value else own, len(fn.results))
        forward = self.is_forward(fn, wrt, results)
        if not forward:
            require_real(fn, results, self.suffix, lowered.loc)
        budget = self.options.max_residual_bytes
        made = pipeline.jacobian(fn, wrt, results, forward=forward, keep=keep, budget=budget)
        numbers = {k: n for n, k in enumerate(results)}
        tree = blocks_tree(main, argument, numbers, len(wrt), len(results) * len(wrt))
        tree, count = self.combined(made, len(keep), wrt, tree)
        made.meta["wrt"] = wrt
        add_kept(made, wanted)
        if self.keep_value:
            return replace(lowered, function=made, out=("tuple", (lowered.out, shift(tree, len(keep)))))
        # What may be differentiated again stands in front.
        exits = made.body.exit
        made.body.exit = (*exits[len(keep) :], *exits[: len(keep)])
        if aux is not None:
            tree = ("tuple", (tree, shift(aux, count + len(wanted.kept) - own)))
        return replace(lowered, function=made, out=tree)

    def is_forward(self, fn: Function, wrt: Sequence[int], results: Sequence[int]) -> bool:
        """Tangents are stacked, not cotangents."""
        from .compiler import is_cheaper_forward

        return self.mode == FORWARD if self.mode is not None else is_cheaper_forward(fn, wrt, results)

    @property
    def kind(self) -> str:
        if self.keep_value:
            return "value_and_jacobian"
        return {FORWARD: "jacfwd", REVERSE: "jacrev", None: "jacobian"}[self.mode]


def moving_results(lowered: Lowered, main: Tree, what: Transformed) -> list[int]:
    """The numbers of the results in the structure `main` that are floats or arrays of them."""
    results = lowered.function.results
    found = [k for k in range(count_leaves(main)) if type_of(results[k]).may_be_float]
    if not found:
        raise NonScalarOutputError(
            f"{what.suffix} needs a result that holds floats", lowered.loc, "return a float, or an array of floats"
        )
    for k in found:
        if type_of(results[k]).kind in ("list", "stack", "object"):
            raise UnsupportedError(
                f"{what.suffix} of a function that returns a list of run-time length",
                lowered.loc,
                "return an array: np.array of the list",
            )
    return found


def add_kept(fn: Function, wanted: Any) -> None:
    """Return the objects, too, of which the structure of the arguments has copies."""
    fn.body.exit = (*fn.body.exit, *[fn.body.params[k] for k in wanted.kept])


def blocks_tree(main: Tree, argument: Tree, numbers: dict[int, int], width: int, blocks: int) -> Tree:
    """The structure of a Jacobian: that of the result, with that of the argument in the place of each leaf.

    numbers: the position of each result that is differentiated among these; others get None
    width:   how many leaves of the argument are differentiated by
    blocks:  how many parts the Jacobian has

    >>> blocks_tree(("tuple", (("leaf", 0), ("leaf", 1))), ("list", (("leaf", 0),)), {0: 0}, 1, 1)
    ('tuple', (('list', (('leaf', 0),)), ('static', None)))
    """
    if main[0] == "leaf":
        return _moved(argument, numbers[main[1]] * width, width, blocks) if main[1] in numbers else ("static", None)
    if main[0] == "static":
        return ("static", None)
    if main[0] in ("new", "like", "copy"):
        names = [str(name) for name in main[2]]
        return ("dict", tuple(names), tuple([blocks_tree(t, argument, numbers, width, blocks) for t in main[-1]]))
    return with_children(main, [blocks_tree(t, argument, numbers, width, blocks) for t in children(main)])


def _moved(tree: Tree, by: int, width: int, blocks: int) -> Tree:
    """The structure of the argument with its leaves numbered from `by`, and copied objects behind all blocks."""
    if tree[0] == "leaf":
        return ("leaf", tree[1] + by if tree[1] < width else tree[1] - width + blocks)
    out = with_children(tree, [_moved(t, by, width, blocks) for t in children(tree)])
    return (out[0], out[1] - width + blocks, *out[2:]) if out[0] == "like" else out


class Hessian(Jacobian):
    """The Hessian of a function with a scalar result. See `hessian`."""

    suffix = "hessian"
    kind = "hessian"

    def __init__(self, fn: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False):
        super().__init__(fn, argnums, has_aux, FORWARD)
        self.has_budget = True
        self._gradient = Gradient(fn, argnums, has_aux=has_aux)

    def _parts(self) -> tuple[Any, ...]:
        return self.primal, self.argnums, self.has_aux

    def derived_from(self, lowered: Lowered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Lowered:
        return self._gradient.to_push(None, self.options).transform(lowered, args, kwargs)


@trimmed
def jacobian(
    fun: Any = None, argnums: Argnums = 0, *, has_aux: bool = False, sparsity: Any = None, **options: Unpack[Asked]
) -> Any:
    """A function that computes the Jacobian of `fun`: the derivative of each element of its result by each element of
    an argument. It may also be used as ``@jacobian`` and ``@jacobian(argnums=...)``.

    fun: a function of floats and float arrays, or of containers of them. Its result may have any shape, and may be a
        container.
    argnums: the argument to differentiate by, as a position or a name, or a sequence of these.
    options: as for `grad`.
    has_aux: `fun` returns a pair, of which only the first is differentiated. The second is returned beside
        the Jacobian.
    sparsity: for a Jacobian that is mostly zeros. With "auto", the places of its elements are found, or they are given
        as a sparse matrix or a boolean array. The function takes one array to differentiate by, and returns one. The
        Jacobian is a ``scipy.sparse.csr_array`` with a row for each element of the result and a column for each of the
        argument. See docs/sparse.md, and `api.sparse` for what is kept from call to call.

    For a result of shape ``s`` and an argument of shape ``t``, the Jacobian has shape ``(*s, *t)``. It has the
    structure of the result, with that of the argument in the place of each array. It is computed forwards, one tangent
    for each element of the arguments, if these have fewer elements than the results, and else backwards. `jacfwd` and
    `jacrev` choose for you.

    A call raises what `grad` raises, but for the shape of the result. It raises `UnsupportedError` for a complex
    argument.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> ad.jacobian(lambda x: x * np.sum(x))(np.array([2.0, 3.0]))
    array([[7., 2.],
           [3., 8.]])
    >>> ad.jacobian(lambda x: x[1:] * x[:-1], sparsity="auto")(np.array([2.0, 3.0, 4.0])).toarray()
    array([[3., 2., 0.],
           [0., 4., 3.]])
    """
    if sparsity is not None:
        return sparse_by(jacobian, False, fun, argnums, has_aux, sparsity, options)
    return made_by(jacobian, Jacobian, fun, argnums, has_aux, options)


@trimmed
def jacfwd(fun: Any = None, argnums: Argnums = 0, *, has_aux: bool = False, **options: Unpack[Asked]) -> Any:
    """The Jacobian of `fun`, computed forwards: one tangent for each element of the arguments. See `jacobian`.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> ad.jacfwd(lambda t: np.array([np.cos(t), t * t]))(0.0)
    array([-0.,  0.])
    """
    return made_by(jacfwd, Jacobian, fun, argnums, has_aux, options, mode=FORWARD)


@trimmed
def jacrev(fun: Any = None, argnums: Argnums = 0, *, has_aux: bool = False, **options: Unpack[Asked]) -> Any:
    """The Jacobian of `fun`, computed backwards: one cotangent for each element of the results. See `jacobian`.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> ad.jacrev(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return made_by(jacrev, Jacobian, fun, argnums, has_aux, options, mode=REVERSE)


@trimmed
def value_and_jacobian(
    fun: Any = None, argnums: Argnums = 0, *, has_aux: bool = False, **options: Unpack[Asked]
) -> Any:
    """A function that returns the value of `fun` and its Jacobian, as a pair. See `jacobian`.

    With `has_aux`, the pair is ``((value, aux), jacobian)``.

    >>> import autodiff_compiler as ad
    >>> ad.value_and_jacobian(lambda x: (x * x, 3.0 * x))(2.0)
    ((4.0, 6.0), (4.0, 3.0))
    """
    return made_by(value_and_jacobian, Jacobian, fun, argnums, has_aux, options, keep_value=True)


@trimmed
def hessian(
    fun: Any = None, argnums: Argnums = 0, *, has_aux: bool = False, sparsity: Any = None, **options: Unpack[Asked]
) -> Any:
    """A function that computes the Hessian of `fun`: the second derivatives of its scalar result. It may also be used
    as ``@hessian`` and ``@hessian(argnums=...)``.

    For an argument of shape ``t``, the Hessian has shape ``(*t, *t)``. For containers or several `argnums`, it has the
    structure of the gradient, with that of the argument in the place of each array. The tangents of all unit directions
    go through the gradient at once.

    has_aux: `fun` returns a pair, of which only the first is differentiated. The second is returned beside the Hessian.
    sparsity: for a Hessian that is mostly zeros, as for `jacobian`. The function takes one array to differentiate by.
        The Hessian is a ``scipy.sparse.csr_array`` with both of its halves.

    A call raises what `grad` raises, and `UnsupportedError` for a complex argument.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> ad.hessian(lambda x: x[0] * x[1] ** 2)(np.array([2.0, 3.0]))
    array([[0., 6.],
           [6., 4.]])
    """
    if sparsity is not None:
        return sparse_by(hessian, True, fun, argnums, has_aux, sparsity, options)
    return made_by(hessian, Hessian, fun, argnums, has_aux, options)


def sparse_by(
    function: Any,
    symmetric: bool,
    fun: Any,
    argnums: Argnums,
    has_aux: bool,
    sparsity: Any,
    options: Mapping[str, Any],
) -> Any:
    if options:
        (name, *_) = options
        raise ArgumentError(f"{function.__name__} with sparsity=... has no {name}", None, "leave out one of them")
    if has_aux:
        raise ArgumentError(
            f"{function.__name__} with sparsity=... has no has_aux",
            None,
            "call the function once more for what comes beside the result",
        )
    if fun is None:
        return functools.partial(function, argnums=argnums, sparsity=sparsity)
    return SparseDerivative(fun, argnums, sparsity, symmetric)


def made_by(
    function: Any, cls: Any, fun: Any, argnums: Argnums, has_aux: bool, options: Mapping[str, Any],
    **settings: Any,
) -> Any:  # fmt: skip
    if fun is None:
        return functools.partial(function, argnums=argnums, has_aux=has_aux, **options)
    return cls(fun, argnums, has_aux, **settings).asked(options)


for _made in (jacobian, jacfwd, jacrev, value_and_jacobian, hessian):
    lowers_by(inside(_made))(_made)

__all__ = [
    "Hessian", "Jacobian", "hessian", "jacfwd", "jacobian", "jacrev", "made_by", "moving_results", "value_and_jacobian",
]  # fmt: skip
