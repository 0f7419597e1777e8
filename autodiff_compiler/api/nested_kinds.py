"""The kinds of derivatives that may be taken inside of a function that is compiled; see `nested`.

A kind differentiates the region that a call was lowered into, and puts the abstract result together.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..errors import ArgumentError, NonScalarOutputError, UnsupportedError
from ..frontend.avals import Ref, Seq
from ..frontend.structures import built, operands_of
from ..ir.core import Builder, Function, type_of
from ..ir.opset import AS_SCALAR
from ..transforms import jacobian, pipeline
from ..tree import Tree, children

# From the interpreter, the results behind the changes, the structures of the arguments, and whether these are several,
# to the abstract result.
Build = Callable[[Any, Sequence[Any], list[Any], bool], Any]


class Kind:
    """A kind of derivative."""

    name = ""
    has_backward = True
    budget: int | str | None = None  # of bytes, as for `pipeline.adjoint`

    def within(self, budget: int | str | None) -> Any:
        """This kind, with a budget."""
        if budget is None:
            return self
        made = copy.copy(self)
        made.budget = budget
        return made

    def split(self, interp: Any, args: list[Any]) -> tuple[list[Any], Any]:
        """The arguments of a call: those of the function, and what the derivative takes besides them."""
        return args, None

    def operands(self, interp: Any, taken: Any, more: Any) -> list[Any]:
        """The operands of the derived function besides the arguments."""
        return []

    def given(self, interp: Any, run: Callable[[Any], Any], linear: Any, args: list[Any]) -> Any:
        """The abstract result of a call of the second result of ``vjp`` or ``linearize``."""
        raise NotImplementedError

    def check(self, tree: Tree, leaves: list[Any], loc: Any) -> None:
        """Raise an error for a function whose result has another structure than this kind is for."""

    def beside(self, found: Any, aux: Any) -> Any:
        """The abstract result of a derivative, with what the function returns beside its result."""
        return Seq((found, aux))

    def derive(self, inner: Function, count: int, tree: Tree, extra: int) -> tuple[Function, Build]:
        """The derivative of a function by its first `count` parameters, and how its result is put together.

        The first results of the function are the leaves of `tree`. The last `extra` come first in the derivative.
        """
        raise NotImplementedError


def of_arguments(interp: Any, structures: list[Any], several: bool, values: Iterator[Any]) -> Any:
    """A value for each leaf of the arguments, in their structure."""
    parts = [
        built(interp, s, values, lambda leaf, value: interp.fresh(value) if type(leaf.av) is Ref else value)
        for s in structures
    ]
    return Seq(tuple(parts)) if several else parts[0]


def of_result(interp: Any, tree: Tree, leaf: Callable[[int], Any], static: Callable[[Any], Any] = lambda x: x) -> Any:
    """The abstract value of the structure of a result."""
    if tree[0] == "leaf":
        return leaf(tree[1])
    if tree[0] == "static":
        return static(tree[1])
    items = [of_result(interp, t, leaf, static) for t in children(tree)]
    if tree[0] in ("tuple", "make"):
        return Seq(tuple(items)) if tree[0] == "tuple" else Seq(tuple(items), tree[1])
    if tree[0] == "list":
        return interp.new_list(items)
    if tree[0] == "dict":
        return interp.new_dict(dict(zip(tree[1], items)))
    raise UnsupportedError(
        "a derivative, inside of a function that is compiled, of a function that returns an object",
        interp.builder.loc,
        "return a tuple or a dictionary of its attributes",
    )


class Reverse(Kind):
    """``grad``, and with `keep_value` ``value_and_grad``."""

    def __init__(self, name: str, keep_value: bool):
        self.name, self.keep_value = name, keep_value

    def check(self, tree: Tree, leaves: list[Any], loc: Any) -> None:
        check_scalar(self.name, tree, leaves, loc)

    def beside(self, found: Any, aux: Any) -> Any:
        return _with_value(found, aux) if self.keep_value else super().beside(found, aux)

    def derive(self, inner: Function, count: int, tree: Tree, extra: int) -> tuple[Function, Build]:
        fn = adjoint_of(inner, count, extra, self.keep_value or extra > 0, self.budget)

        def build(interp: Any, exits: Sequence[Any], structures: list[Any], several: bool) -> Any:
            out = of_arguments(interp, structures, several, iter(exits[len(exits) - count :]))
            return Seq((exits[0], out)) if self.keep_value else out

        if self.keep_value or extra:
            value, *rest = fn.body.exit
            fn.body.exit = (*rest[:extra], *([value] if self.keep_value else []), *rest[extra:])
        return fn, build


def _with_value(found: Any, aux: Any) -> Any:
    """Of a value and a derivative: the value stands in a pair with what comes beside it."""
    value, derivative = found.items
    return Seq((Seq((value, aux)), derivative))


def check_scalar(name: str, tree: Tree, leaves: list[Any], loc: Any) -> None:
    """The result of a function is one number."""
    if tree[0] != "leaf" or (type_of(leaves[0]).dims not in ((), None)) or type_of(leaves[0]).kind == "list":
        raise NonScalarOutputError(f"{name} needs a scalar result", loc, "sum the result of the function")
    if jacobian.is_complex(leaves[0]):
        raise NonScalarOutputError(
            f"{name} needs a real result, and this one is complex", loc, "return its real part, or its absolute value"
        )


def adjoint_of(
    inner: Function, count: int, extra: int, keep: bool, budget: int | str | None, moving: int | None = 0
) -> Function:  # fmt: skip
    """The adjoint of a function with one result and `extra` others, in the types of its arguments. `budget`, `moving`:
    as for `pipeline.adjoint`."""
    t = type_of(inner.results[0])
    if t.kind != "array" and (t.dims is None or not t.is_real):  # a power of Python's numbers may be complex
        value, *rest = inner.body.exit
        inner.body.exit = (Builder(inner.body).emit(AS_SCALAR, value), *rest)
    wrt = list(range(count))
    seeds = [1.0, *[False] * extra]
    fn = pipeline.adjoint(inner, wrt, seeds=seeds, keep_results=keep, budget=budget, moving=moving)
    fn.meta["wrt"] = wrt
    pipeline.finish(fn, count)
    return fn


class Forward(Kind):
    """``jvp``: the value and the tangent. It takes the tangents of the arguments."""

    name = "jvp"
    has_backward = False

    def beside(self, found: Any, aux: Any) -> Any:
        return Seq((*found.items, aux))

    def operands(self, interp: Any, taken: Any, more: Any) -> list[Any]:
        return tangents_of(interp, self.name, taken.structures, taken.several, more)

    def derive(self, inner: Function, count: int, tree: Tree, extra: int) -> tuple[Function, Build]:
        results = len(inner.results) - extra
        fn = pipeline.pushforward(inner, range(count), range(results, results + extra))
        exits = fn.body.exit
        fn.body.exit = (*exits[results : results + extra], *exits[:results], *exits[results + extra : -extra or None])

        def build(interp: Any, exits: Sequence[Any], structures: list[Any], several: bool) -> Any:
            value = of_result(interp, tree, lambda k: interp.fresh(exits[k]))
            tangent = of_result(interp, tree, lambda k: interp.fresh(exits[results + k]), lambda x: None)
            return Seq((value, tangent))

        return fn, build


def tangents_of(interp: Any, name: str, structures: list[Any], several: bool, given: Any) -> list[Any]:
    """The leaves of tangents, which have the structure of the arguments."""

    def leaf(wanted: Any, av: Any) -> list[Any]:
        d = interp.operand(av)
        t, like = type_of(d), type_of(wanted.value)
        if t.kind not in ("array", "py", "generic", "scalar") or (t.ndim or 0) != (like.ndim or 0):
            raise ArgumentError(
                f"{name}: a tangent is {t}, and its argument is {like}",
                interp.builder.loc,
                "pass a tangent of the shape of the argument",
            )
        return [d]

    parts = given.items if several else [given]
    found = []
    for structure, part in zip(structures, parts):
        try:
            found += operands_of(interp, structure, part, leaf)
        except (AttributeError, IndexError, TypeError):
            raise ArgumentError(
                f"{name}: the tangents do not have the structure of the arguments",
                interp.builder.loc,
                "give each argument a tangent of its structure",
            ) from None
    return found


class Pushed(Forward):
    """The linear function of ``linearize``: the tangent alone."""

    name = "linearize"

    def given(self, interp: Any, run: Callable[[Any], Any], linear: Any, args: list[Any]) -> Any:
        if len(args) != linear.count:
            raise ArgumentError(
                f"{len(args)} tangents for {linear.count} arguments", interp.builder.loc, "give each argument a tangent"
            )
        return run(Seq(tuple([args[k] for k in linear.moving]))).items[1]


class Pulled(Kind):
    """The pullback of ``vjp``: cotangents of the arguments from that of the result."""

    name = "vjp"

    def given(self, interp: Any, run: Callable[[Any], Any], linear: Any, args: list[Any]) -> Any:
        if len(args) != 1:
            raise ArgumentError("a pullback takes the cotangent of the result", interp.builder.loc, "pass it alone")
        found = iter(run(args[0]).items)
        return Seq(tuple([next(found) if k in linear.moving else None for k in range(linear.count)]))

    def operands(self, interp: Any, taken: Any, more: Any) -> list[Any]:
        leaves: dict[int, Any] = {}
        _flatten(interp, taken.tree, more, leaves)
        floats = [k for k, x in enumerate(taken.inner.results) if type_of(x).may_be_float]
        return [interp.operand(leaves[k]) for k in floats]

    def derive(self, inner: Function, count: int, tree: Tree, extra: int) -> tuple[Function, Build]:
        wrt = list(range(count))
        seeds = [None if type_of(r).may_be_float else False for r in inner.results]
        fn = pipeline.adjoint(inner, wrt, seeds=seeds, budget=self.budget)
        fn.meta["wrt"] = wrt
        pipeline.finish(fn, count)

        def build(interp: Any, exits: Sequence[Any], structures: list[Any], several: bool) -> Any:
            return of_arguments(interp, structures, True, iter(exits))

        return fn, build


def _flatten(interp: Any, tree: Tree, av: Any, leaves: dict[int, Any]) -> None:
    """Enter the leaves of an abstract value that has the structure of a result."""
    if tree[0] == "leaf":
        leaves[tree[1]] = av
        return
    parts = children(tree)
    if not parts:
        return
    content = av if type(av) is Seq else interp.checked(av.cell, None) if hasattr(av, "cell") else None
    items = getattr(content, "items", None)
    if items is None or len(items) != len(parts):
        raise ArgumentError(
            "the cotangent does not have the structure of the result",
            interp.builder.loc,
            "pass a cotangent with the structure and shapes of the result",
        )
    if tree[0] == "dict":
        by_key = dict(zip(content.keys, items))  # type: ignore[union-attr]
        items = [by_key.get(key) for key in tree[1]]
    for part, item in zip(parts, items):
        _flatten(interp, part, item, leaves)


class Stacked(Kind):
    """``jacobian`` and its like.

    mode:  "forward", "reverse" or None for the one that is cheaper
    value: the value is returned, too
    """

    def __init__(self, name: str, mode: str | None = None, value: bool = False):
        self.name, self.mode, self.value = name, mode, value
        self.has_backward = mode != "forward"

    def check(self, tree: Tree, leaves: list[Any], loc: Any) -> None:
        if not any(type_of(x).may_be_float for x in leaves):
            raise NonScalarOutputError(f"{self.name} needs a result that holds floats", loc, "return a float")
        if any(type_of(x).kind in ("list", "object") for x in leaves):
            raise UnsupportedError(f"{self.name} of a function that returns a list of run-time length", loc,
                                   "return an array: np.array of the list")  # fmt: skip

    def beside(self, found: Any, aux: Any) -> Any:
        return _with_value(found, aux) if self.value else super().beside(found, aux)

    def derive(self, inner: Function, count: int, tree: Tree, extra: int) -> tuple[Function, Build]:
        return self.stacked(inner, count, tree, extra)

    def stacked(self, inner: Function, count: int, tree: Tree, extra: int) -> tuple[Function, Build]:
        own = len(inner.results) - extra
        moving = [k for k in range(own) if type_of(inner.results[k]).may_be_float]
        wrt = list(range(count))
        if any(jacobian.is_complex(p) for p in inner.params[:count]):
            raise UnsupportedError(
                f"{self.name} by a complex argument",
                None,
                "pass its real and its imaginary part as two arguments, or use vjp or jvp",
            )
        forward = self.mode == "forward" or (
            self.mode is None and jacobian.is_cheaper_forward(inner, wrt, moving)
        )  # fmt: skip
        if not forward:
            jacobian.require_real(inner, moving, self.name)
        keep = [*range(own, own + extra), *(range(own) if self.value else ())]
        fn = pipeline.jacobian(inner, wrt, moving, forward=forward, keep=keep, budget=self.budget)
        first = own if self.value else 0
        numbers = {k: n for n, k in enumerate(moving)}

        def build(interp: Any, exits: Sequence[Any], structures: list[Any], several: bool) -> Any:
            def block(k: int) -> Any:
                if k not in numbers:
                    return None
                blocks = exits[first + numbers[k] * count :][:count]
                return of_arguments_fresh(interp, structures, several, iter(blocks))

            found = of_result(interp, tree, block, lambda x: None)
            if not self.value:
                return found
            return Seq((of_result(interp, tree, lambda k: interp.fresh(exits[k])), found))

        return fn, build


def of_arguments_fresh(interp: Any, structures: list[Any], several: bool, values: Iterator[Any]) -> Any:
    """A value of any shape for each leaf of the arguments, in their structure."""
    parts = [built(interp, s, values, lambda leaf, value: interp.fresh(value)) for s in structures]
    return Seq(tuple(parts)) if several else parts[0]


class Second(Stacked):
    """``hessian`` and ``laplacian``: the Jacobian of the gradient, or the sum of its diagonal."""

    def __init__(self, name: str, trace: bool = False):
        super().__init__(name, "forward")
        self.trace, self.has_backward = trace, True

    def check(self, tree: Tree, leaves: list[Any], loc: Any) -> None:
        check_scalar(self.name, tree, leaves, loc)

    def derive(self, inner: Function, count: int, tree: Tree, extra: int) -> tuple[Function, Build]:
        fn = gradient_of(inner, count, extra, self.budget, None)
        fn, _ = self.stacked(fn, count, ("tuple", tuple([("leaf", k) for k in range(count)])), extra)
        if self.trace:
            jacobian.trace(fn, extra, range(count))
            return fn, lambda interp, exits, structures, several: interp.fresh(exits[0])

        def build(interp: Any, exits: Sequence[Any], structures: list[Any], several: bool) -> Any:
            def row(k: int) -> Any:
                return of_arguments_fresh(interp, structures, several, iter(exits[k * count :][:count]))

            numbers = iter(range(count))
            rows = [built(interp, s, numbers, lambda leaf, k: row(k)) for s in structures]
            return Seq(tuple(rows)) if several else rows[0]

        return fn, build


def gradient_of(inner: Function, count: int, extra: int, budget: int | str | None, moving: int | None) -> Function:
    """The gradient of a function, and then what it changes."""
    fn = adjoint_of(inner, count, extra, extra > 0, budget, moving)
    if extra:
        _, *rest = fn.body.exit
        fn.body.exit = (*rest[extra:], *rest[:extra])
    return fn


class Product(Forward):
    """The product of a matrix and a vector, which follows the arguments."""

    beside = Kind.beside
    has_backward = True

    def split(self, interp: Any, args: list[Any]) -> tuple[list[Any], Any]:
        if len(args) < 2:
            raise ArgumentError(
                f"{self.name} takes the arguments and then the vector", interp.builder.loc, "pass the vector last"
            )
        return args[:-1], args[-1]


class HessianProduct(Product):
    """``hvp``: the tangent of the gradient."""

    name = "hvp"

    def check(self, tree: Tree, leaves: list[Any], loc: Any) -> None:
        check_scalar(self.name, tree, leaves, loc)

    def derive(self, inner: Function, count: int, tree: Tree, extra: int) -> tuple[Function, Build]:
        fn = gradient_of(inner, count, extra, self.budget, 1)
        fn = pipeline.pushforward(fn, range(count), range(count, count + extra))
        exits = fn.body.exit
        fn.body.exit = (*exits[count : count + extra], *exits[count + extra :][:count])

        def build(interp: Any, exits: Sequence[Any], structures: list[Any], several: bool) -> Any:
            return of_arguments(interp, structures, several, iter(exits))

        return fn, build


class GaussNewtonProduct(Product):
    """``gauss_newton_vp``: the pullback of the tangent."""

    name = "gauss_newton_vp"

    def derive(self, inner: Function, count: int, tree: Tree, extra: int) -> tuple[Function, Build]:
        own = len(inner.results) - extra
        moving = [k for k in range(own) if type_of(inner.results[k]).may_be_float]
        if not moving or not all(
            type_of(x).is_real for x in (*[inner.results[k] for k in moving], *inner.params[:count])
        ):
            raise NonScalarOutputError(f"{self.name} needs real residuals", None, "return floats")
        fn = pipeline.gauss_newton(inner, range(count), moving, range(own, own + extra), self.budget)
        fn.meta["wrt"] = list(range(count))
        pipeline.finish(fn, count)

        def build(interp: Any, exits: Sequence[Any], structures: list[Any], several: bool) -> Any:
            return of_arguments(interp, structures, several, iter(exits[len(exits) - count :]))

        return fn, build


class Elementwise(Reverse):
    """``elementwise_grad``: the gradient of the sum of the result."""

    def __init__(self) -> None:
        super().__init__("elementwise_grad", False)

    def check(self, tree: Tree, leaves: list[Any], loc: Any) -> None:
        if tree[0] != "leaf" or type_of(leaves[0]).kind not in ("array", "py", "generic", "scalar"):
            raise NonScalarOutputError("elementwise_grad needs an array or a number as result", loc, "return one array")

    def derive(self, inner: Function, count: int, tree: Tree, extra: int) -> tuple[Function, Build]:
        jacobian.sum_result(inner)
        return super().derive(inner, count, tree, extra)


KINDS: dict[str, Kind] = {
    "grad": Reverse("grad", False),
    "value_and_grad": Reverse("value_and_grad", True),
    "jacobian": Stacked("jacobian"),
    "jacfwd": Stacked("jacfwd", "forward"),
    "jacrev": Stacked("jacrev", "reverse"),
    "value_and_jacobian": Stacked("value_and_jacobian", value=True),
    "derivative": Stacked("derivative", "forward"),
    "hessian": Second("hessian"),
    "laplacian": Second("laplacian", trace=True),
    "gauss_newton_vp": GaussNewtonProduct(),
    "hvp": HessianProduct(),
    "elementwise_grad": Elementwise(),
    "jvp": Forward(),
}

PULLED, PUSHED = Pulled(), Pushed()

__all__ = ["KINDS", "PULLED", "PUSHED", "Kind", "of_result"]
