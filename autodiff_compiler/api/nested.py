"""Derivatives inside of a function that is compiled, such as ``ad.grad(f)(x)`` in the user's code.

The call is lowered into its own region. A transform differentiates the region, and its operations are inlined at the
call. So all derivatives nest, to any order. `nested_kinds` says what each kind of derivative does.
"""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..errors import ArgumentError, AutodiffError, IntegerArgumentError, UnsupportedError
from ..frontend.avals import (
    Closure,
    DictRef,
    Entries,
    Instance,
    Items,
    ListRef,
    Obj,
    Partial,
    Ref,
    Seq,
    is_collection,
    is_reference,
)
from ..frontend.core import Unreachable
from ..frontend.structures import Node, Static, built, leaves_in
from ..ir.core import DERIVED, FUNC, Function, Region, Value, type_of
from ..ir.opset import may_repeat
from ..ir.rewrite import clone_function, drop_uncalled, replace_values
from ..lowered import NO_INTEGERS, NO_SPARSITY, NO_WEAK_ZEROS, refused
from ..records import record, replaced
from ..tree import flatten, is_object
from .nested_kinds import KINDS, Kind, of_result
from .nested_state import Changes
from .options import bytes_of, refuse_options
from .transforms import Transformed

FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, np.ufunc)


@record
class Taken:
    """A call of a function that is differentiated: the SSA form of the function, and the arguments.

    inner:      its parameters are the leaves of the arguments to differentiate by; its results are the leaves of
    `tree`,
                and then `extra` values: the leaves of `aux`, and those that it changes
    actual:     what the parameters stand for
    structures: those of these arguments; `several`: they were given as a sequence
    aux:        the structure of what the function returns beside its result, if it does, and how many leaves it has
    """

    inner: Function
    actual: list[Any]
    structures: list[Any]
    several: bool
    tree: Any
    changes: Changes
    aux: tuple[Any, int] | None = None

    @property
    def extra(self) -> int:
        return len(self.changes.values) + (0 if self.aux is None else self.aux[1])


def take(
    interp: Any, callee: Any, argnums: Any, what: str, args: list[Any], kwargs: dict[str, Any],
    check: Callable[[Any, list[Any], Any], None] | None = None, has_aux: bool = False,
) -> Taken:  # fmt: skip
    """Lower a call of the abstract function `callee`, to differentiate it by some of its arguments.

    has_aux: the function returns a pair, of which the first is differentiated
    """
    several = isinstance(argnums, tuple)
    chosen = [_position(interp, n, args, kwargs, what) for n in (argnums if several else (argnums,))]

    def structure(where: Any, av: Any) -> Any:
        found = _structure(interp, av, what)
        if not any(True for _ in leaves_in(found)):
            raise ArgumentError(
                f"{what}: the argument holds no floating numbers or arrays",
                interp.builder.loc,
                "pass a float, or an array of floats",
            )
        return found

    taken = apart(interp, callee, chosen, structure, what, args, kwargs, check, has_aux)
    return replaced(taken, several=several)


def apart(
    interp: Any, callee: Any, chosen: list[Any], structure_of: Callable[[Any, Any], Any], what: str, args: list[Any],
    kwargs: dict[str, Any], check: Callable[[Any, list[Any], Any], None] | None = None, has_aux: bool = False,
) -> Taken:  # fmt: skip
    """Lower a call of the abstract function `callee` into a region of its own.

    chosen:       the arguments, by position or name, of which parts become parameters of the region
    structure_of: from such an argument, its place and its abstract value, the structure of these parts. A leaf says
    what its ``value`` is, which ``param(region)`` stands for it, and ``argument(interp, param)``: what is passed
    """
    loc = interp.builder.loc
    node = node_at(loc)
    start = interp.state
    region = interp.builder.new_region()
    actual: list[Any] = []
    outer_top, outer_scope = interp.func_top, interp.func_scope
    at_top = interp.builder.region is outer_top
    interp.state = start.fork()
    # Stores of the inner function into its arguments are not seen outside, as for each transformed function.
    new_args = [_owned(interp, av, node) for av in args]
    new_kwargs = {name: _owned(interp, av, node) for name, av in kwargs.items()}
    structures = []
    for where in chosen:
        # Operations that compute an argument belong in front of the call, not into its region.
        holder: Any = new_kwargs if isinstance(where, str) else new_args
        old = args[where] if not isinstance(where, str) else kwargs[where]
        structure = structure_of(where, old)
        found_leaves = list(leaves_in(structure))
        actual += [leaf.value for leaf in found_leaves]
        params = iter([leaf.param(region) for leaf in found_leaves])
        holder[where] = built(interp, structure, params, lambda leaf, param: leaf.argument(interp, param))
        structures.append(structure)
    with interp.path(interp.state, region):
        interp.func_top, interp.func_scope = region, len(interp.builder._scopes)
        leaves: list[Any] = []
        beside: list[Any] = []
        aux = None
        try:
            found = interp.call(callee, new_args, new_kwargs, node)
            if has_aux:
                found, more = _pair(interp, found, what)
                aux = interp.result_tree(more, beside)
            tree = interp.result_tree(found, leaves)
        except Unreachable:
            # The function always raises, and so does its derivative.
            tree, leaves, beside = ("leaf", 0), [0.0], []
            aux = ("static", None) if has_aux else None
        end = interp.state
    interp.func_top, interp.func_scope = outer_top, outer_scope
    interp.state = start
    interp.builder.loc = loc
    changes = Changes(interp, start, end)
    drop_uncalled(region)
    if not at_top and any(op.prim is FUNC for op in region.ops):
        raise UnsupportedError(
            f"{what} of a recursive function inside a loop, a branch or another recursion",
            loc,
            "take it at the top level of the function",
        )
    if check is not None:
        check(tree, leaves, loc)
    region.exit = (*leaves, *beside, *changes.values)
    taken = Taken(Function(what, region), actual, structures, True, tree, changes)
    return taken if aux is None else replaced(taken, aux=(aux, len(beside)))


def node_at(loc: Any) -> ast.stmt:
    """A statement at a place of the program."""
    return ast.Pass(lineno=loc.line, col_offset=loc.col, end_lineno=loc.line, end_col_offset=loc.end_col)


def _pair(interp: Any, av: Any, what: str) -> tuple[Any, Any]:
    """The two items that a function with ``has_aux=True`` returns."""
    if type(av) is Seq and len(av.items) == 2:
        return av.items[0], av.items[1]
    raise ArgumentError(
        f"{what} with has_aux=True needs a function that returns a pair",
        interp.builder.loc,
        "return (result, what comes beside it)",
    )


def lower_call(
    interp: Any, callee: Any, argnums: Any, kind: Kind, args: list[Any], kwargs: dict[str, Any], has_aux: bool = False
) -> Any:
    """The abstract result of calling a derivative of the abstract function `callee`."""
    args, more = kind.split(interp, args)
    return lower_taken(interp, take(interp, callee, argnums, kind.name, args, kwargs, kind.check, has_aux), kind, more)


def lower_taken(interp: Any, taken: Taken, kind: Kind, more: Any) -> Any:
    """The abstract result of a derivative of a call. The SSA form of the function is used up.

    more: what the derivative takes besides the arguments, such as their tangents
    """
    loc = interp.builder.loc
    given = kind.operands(interp, taken, more)
    inner = taken.inner
    watch = interp.plan.watch
    primal = clone_function(inner)[0] if watch is not None and watch.observing else None
    try:
        fn, build = kind.derive(inner, len(taken.actual), taken.tree, taken.extra)
    except AutodiffError as error:
        if primal is not None:
            append(interp, primal, taken.actual)  # a run tells more of its values
        if error.loc is None:
            error.loc = loc
        raise
    append(interp, fn, [*taken.actual, *given])
    for op in fn.body.walk():
        op.droppable, op.tag = op.droppable or op.tag == DERIVED, None
    exits = fn.body.exit
    count = 0 if taken.aux is None else taken.aux[1]
    taken.changes.apply(interp, dict(zip(taken.changes.values, exits[count : taken.extra])))
    found = build(interp, exits[taken.extra :], taken.structures, taken.several)
    if taken.aux is None:
        return found
    return kind.beside(found, of_result(interp, taken.aux[0], lambda k: interp.fresh(exits[k])))


def without_changes(interp: Any, taken: Taken, what: str) -> Taken:
    """The call. Raises an error if it changes variables or containers of the program around it."""
    if taken.changes.values or taken.changes.cells or taken.changes.names:
        _refuse_effects(interp, what, "changes what is outside of it", "have the function return what it changes")
    return taken


def pure(interp: Any, taken: Taken, what: str) -> Taken:
    """The call, which may be differentiated more than once. Raises an error if it has effects."""
    remedy = "take the gradient by grad there, or have the function return what it changes"
    if taken.changes.values or taken.changes.cells or taken.changes.names:
        _refuse_effects(interp, what, "changes what is outside of it", remedy)
    if not all(map(may_repeat, taken.inner.body.walk())):
        _refuse_effects(interp, what, "has effects, such as prints or draws", remedy)
    return taken


def _refuse_effects(interp: Any, what: str, reason: str, remedy: str) -> NoReturn:
    raise UnsupportedError(
        f"{what}, in a function that is compiled, of a function that {reason}", interp.builder.loc, remedy
    )


def lower_linear(interp: Any, what: str, kind: Kind, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The abstract result of ``vjp(f, *args)`` or ``linearize(f, *args)``: the value, and a function, and then what the
    function returns beside its result, with ``has_aux``."""
    refuse_options(interp, args, kwargs)
    kind = kind.within(_budget(interp, kind, kwargs))
    has_aux = bool(kwargs.get("has_aux", False))
    if not args:
        raise ArgumentError(f"{what} needs a function and its arguments", interp.builder.loc)
    callee, *primals = args
    moving = tuple([k for k, av in enumerate(primals) if _holds_floats(interp, av)])
    taken = pure(interp, take(interp, callee, moving, what, primals, {}, has_aux=has_aux), what)
    value = clone_function(taken.inner)[0]
    append(interp, value, taken.actual)
    exits = value.body.exit
    own = len(exits) - taken.extra
    taken.inner.body.exit = taken.inner.body.exit[:own]
    made = Linear(replaced(taken, aux=None), kind, len(primals), moving)
    out = of_result(interp, taken.tree, lambda k: interp.fresh(exits[k]))
    found = (out, Obj(made, (("object", made),)))
    if taken.aux is None:
        return Seq(found)
    return Seq((*found, of_result(interp, taken.aux[0], lambda k: interp.fresh(exits[own + k]))))


class Linear:
    """The second of the results of ``vjp`` and ``linearize``, while the program is lowered."""

    def __init__(self, taken: Taken, kind: Kind, count: int, moving: tuple[int, ...]):
        self.taken, self.kind, self.count, self.moving = taken, kind, count, moving

    def __autodiff_lower__(self, interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        taken = replaced(self.taken, inner=clone_function(self.taken.inner)[0])
        return self.kind.given(interp, lambda more: lower_taken(interp, taken, self.kind, more), self, args)


def lower_jvp(interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The abstract result of ``jvp(f, primals, tangents)``."""
    refuse_options(interp, args, kwargs)
    _budget(interp, KINDS["jvp"], kwargs)
    has_aux = args[3] if len(args) > 3 else kwargs.get("has_aux", False)
    args = args[:3]
    names = ("fun", "primals", "tangents")
    given = [*args, *[kwargs[name] for name in names[len(args) :] if name in kwargs]]
    if len(given) != 3:
        raise ArgumentError("jvp needs a function, its arguments and their tangents", interp.builder.loc)
    primals, tangents = [items_of(interp, av, "jvp") for av in given[1:]]
    if len(primals) != len(tangents):
        raise ArgumentError(f"jvp: {len(primals)} primals, but {len(tangents)} tangents", interp.builder.loc)
    moving = tuple([k for k, d in enumerate(tangents) if d is not None])
    more = Seq(tuple([tangents[k] for k in moving]))
    taken = take(interp, given[0], moving, "jvp", primals, {}, has_aux=bool(has_aux))
    return lower_taken(interp, taken, KINDS["jvp"], more)


def items_of(interp: Any, av: Any, what: str) -> list[Any]:
    """The abstract items of a tuple or a list."""
    if type(av) is Seq:
        return list(av.items)
    content = interp.checked(av.cell, None) if type(av) is ListRef else None
    if type(content) is not Items:
        raise ArgumentError(f"{what}: this is to be a tuple, with one item for each argument", interp.builder.loc)
    return list(content.items)


def append(interp: Any, fn: Function, actual: list[Any]) -> None:
    """Append the operations of a function, applied to these arguments."""
    replace_values(fn.body, dict(zip(fn.body.params, actual)))
    for op in fn.body.ops:
        op.parent = interp.builder.region
        interp.builder.region.ops.append(op)


def _owned(interp: Any, av: Any, node: Any) -> Any:
    """A copy of an array, also inside of tuples, so that stores into it are not seen outside."""
    if type(av) is Seq:
        return Seq(tuple([_owned(interp, x, node) for x in av.items]), av.cls)
    if type(av) is Ref and type_of(interp.operand(av)).kind == "array":
        return interp.copy_of(av, node, "K")
    return av


def _position(interp: Any, which: Any, args: list[Any], kwargs: dict[str, Any], what: str) -> Any:
    if isinstance(which, str):
        if which in kwargs:
            return which
        raise ArgumentError(f"{what}: pass the argument {which!r} by keyword here", interp.builder.loc)
    if which >= len(args):
        raise ArgumentError(
            f"{what}: argnums is {which}, but this call has {len(args)} positional arguments", interp.builder.loc
        )
    return which


def opened(interp: Any, av: Any) -> Any:
    """A shallow copy of an object from outside, whose attributes can be replaced. Other values as they are."""
    outside = type(av) is Instance and av.cell in interp.inputs.outside
    return interp.shallow_copy(av, None) if outside or (type(av) is Obj and is_object(av.obj)) else av


@record
class Wrt:
    """A leaf of an argument to differentiate by: its abstract value and its operand."""

    av: Any
    value: Any

    def param(self, region: Region) -> Value:
        return region.param(type_of(self.value), self.value.hint if type(self.value) is Value else "x")

    def argument(self, interp: Any, param: Value) -> Any:
        """Its abstract value in the inner function."""
        if type(self.av) is not Ref:
            return param
        made = interp.fresh(param, like=(self.av,))
        for group in (interp.cells.fortran, interp.cells.scattered):
            if self.av.cell in group and not self.av.path:
                group.add(made.cell)
        return made


def _structure(interp: Any, av: Any, what: str, inside: bool = False) -> Any:
    """The structure of an argument. Its leaves are the values to differentiate by.

    inside: the argument is part of an object. There, values without floats stay as they are.
    """
    av = opened(interp, av)
    if inside and not _holds_floats(interp, av):
        return Static(av)
    if type(av) is Ref or type(av) is Value or isinstance(av, (int, float, complex)):
        value = interp.operand(av)
        if not type_of(value).may_be_float:
            raise IntegerArgumentError(
                f"{what}: the argument is {type_of(value)}, not a float", interp.builder.loc, "pass it as a float"
            )
        return Wrt(av, value)
    content: Any = interp.checked(av.cell, None) if is_reference(av) and not is_collection(av) else av
    if type(content) in (Seq, Items, Entries):
        inside = inside or type(av) is Instance
        parts = tuple([_structure(interp, x, what, inside) for x in content.items])
        return Node(av, None if av is content else content.keys, parts)
    raise ArgumentError(
        f"{what}: cannot differentiate with respect to this argument inside of a compiled function",
        interp.builder.loc,
        "pass floats or arrays, or tuples, lists, dicts and objects that hold them",
    )


def _holds_floats(interp: Any, av: Any) -> bool:
    """The abstract value is or holds a float."""
    kind = type(av)
    if kind is Ref or kind is Value or isinstance(av, (int, float, complex)):
        return not isinstance(av, bool) and type_of(interp.operand(av)).may_be_float
    if kind is Seq:
        return any(_holds_floats(interp, x) for x in av.items)
    if kind in (ListRef, DictRef, Instance) and not is_collection(av):
        content = interp.checked(av.cell, None)
        return type(content) in (Items, Entries) and any(_holds_floats(interp, x) for x in content.items)
    return type(av) is Obj and is_object(av.obj) and bool(flatten(av.obj)[0])


def known(interp: Any, av: Any, what: str) -> Any:
    """The ints, names and None that an abstract value stands for, also in containers. The code is for these only."""
    if av is None or type(av) in (int, str):
        return av
    if type(av) is Obj and isinstance(av.obj, (tuple, list, dict)):
        return interp.pinned(av)
    content: Any = av if type(av) is Seq else interp.checked(av.cell, None) if type(av) in (ListRef, DictRef) else None
    if type(content) in (Seq, Items):
        items = [known(interp, x, what) for x in content.items]
        return tuple(items) if type(av) is Seq else items
    if type(content) is Entries:
        return {key: known(interp, x, what) for key, x in zip(content.keys, content.items)}
    interp.fail(
        f"{what} is to be known when the function is compiled",
        None,
        "write ints, names or None, or containers of them",
        ArgumentError,
        cause=av,
    )


def _budget(interp: Any, kind: Kind, kwargs: dict[str, Any]) -> int | str | None:
    """The ``max_residual_bytes`` of a call of a transformation."""
    given = kwargs.get("max_residual_bytes")
    if given is None:
        return None
    if not kind.has_backward:
        raise ArgumentError(
            f"{kind.name} has no max_residual_bytes: it has no backward sweep", interp.builder.loc, "leave it out"
        )
    return bytes_of(known(interp, given, f"{kind.name}: max_residual_bytes"))


class AbstractDerivative:
    """The derivative of a function that exists only while the program is lowered: a lambda or a nested function."""

    def __init__(self, callee: Any, argnums: Any, kind: Kind, has_aux: bool):
        self.callee, self.argnums, self.kind, self.has_aux = callee, argnums, kind, has_aux

    def __autodiff_lower__(self, interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return lower_call(interp, self.callee, self.argnums, self.kind, args, kwargs, self.has_aux)


def lower_transform(make: Any, kind: Kind, interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The abstract result of a call of ``grad`` and its like in a function that is compiled."""
    what = kind.name
    if kwargs.get("strong_zeros", True) is not True:
        refused(*NO_WEAK_ZEROS)(interp, args, kwargs)
    if kwargs.get("allow_int", False) is not False:
        refused(*NO_INTEGERS)(interp, args, kwargs)
    refuse_options(interp, args, kwargs)
    budget = _budget(interp, kind, kwargs)
    if kwargs.get("sparsity") is not None:
        refused(*NO_SPARSITY)(interp, args, kwargs)
    has_aux = bool(kwargs.get("has_aux", False))
    argnums_given = kwargs.get("argnums", args[1] if len(args) > 1 else 0)
    argnums = known(interp, argnums_given, f"{what}: argnums")
    if isinstance(argnums, list):
        argnums = tuple(argnums)
    callee = args[0] if args else kwargs.get("fun")
    if callee is None:
        names: tuple[str, ...] = ("argnums", "has_aux")
        given: tuple[Any, ...] = (argnums_given, has_aux)
        if budget is not None:
            names, given = (*names, "max_residual_bytes"), (*given, budget)
        return Partial(Obj(make, (("object", make),)), (), names, given)
    if is_constant_function(callee):
        made = make(callee.obj, argnums, has_aux=has_aux, **({} if budget is None else {"max_residual_bytes": budget}))
        return Obj(made, (("object", made),))
    if is_function(callee):
        made = AbstractDerivative(callee, argnums, kind.within(budget), has_aux)
        return Obj(made, (("object", made),))
    raise ArgumentError(
        f"{what} needs a function", interp.builder.loc, "pass the name of a function, a lambda or a method"
    )


def primal_of(interp: Any, fn: Any) -> Any:
    """The abstract value of the function that a transformed one was made of: a method with its object."""
    path = (("object", fn),)
    if isinstance(fn, (types.MethodType, functools.partial)):
        return interp.inputs.wrap(fn, path, getattr(fn, "__name__", "partial"), False, interp.builder.loc)
    return Obj(fn, path)


def is_constant_function(callee: Any) -> bool:
    """The abstract value is a function. An object with ``__call__`` is none: what it holds may be differentiated by,
    and another call may be given another object."""
    return type(callee) is Obj and isinstance(callee.obj, (*FUNCTIONS, Transformed))


def is_function(callee: Any) -> bool:
    """The abstract value may be called, and is not known before the program runs."""
    if type(callee) is Obj:
        return callable(callee.obj) or hasattr(callee.obj, "__autodiff_lower__")
    return type(callee) is Closure or callee is not None and type(callee).__name__ in ("Bound", "Partial", "Instance")
