"""Gradients inside of a function that is compiled, such as ``ad.grad(f)(x)`` in the user's code.

The call is lowered into its own region. The reverse transform differentiates the region, and its operations are inlined
at the call. So all derivatives nest, to any order.
"""

from __future__ import annotations

import ast
from typing import Any

from ..errors import ArgumentError, AutodiffError, IntegerArgumentError, NonScalarOutputError, UnsupportedError
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
from ..ir.core import FUNC, Function, Region, Value, type_of
from ..ir.rewrite import clone_function, drop_uncalled, replace_values
from ..lowered import NO_AUX, NO_INTEGERS, NO_WEAK_ZEROS, refused
from ..records import record
from ..transforms import pipeline
from ..tree import flatten, is_object
from .nested_state import Changes


def lower_call(
    interp: Any, callee: Any, argnums: Any, keep_value: bool, what: str, args: list[Any], kwargs: dict[str, Any]
) -> Any:
    """The abstract result of calling the gradient of the abstract function `callee`."""
    loc = interp.builder.loc
    node = ast.Pass(lineno=loc.line, col_offset=loc.col, end_lineno=loc.line, end_col_offset=loc.end_col)
    several = isinstance(argnums, tuple)
    chosen = [_position(interp, n, args, kwargs, what) for n in (argnums if several else (argnums,))]
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
        structure = _structure(interp, old, what)
        wrt_leaves = list(leaves_in(structure))
        if not wrt_leaves:
            raise ArgumentError(
                f"{what}: the argument holds no floating numbers or arrays",
                loc,
                "pass a float, or an array of floats",
            )
        actual += [leaf.value for leaf in wrt_leaves]
        params = iter([leaf.param(region) for leaf in wrt_leaves])
        holder[where] = built(interp, structure, params, lambda leaf, param: _argument(interp, leaf, param))
        structures.append(structure)
    with interp.path(interp.state, region):
        interp.func_top, interp.func_scope = region, len(interp.builder._scopes)
        leaves: list[Any] = []
        try:
            tree = interp.result_tree(interp.call(callee, new_args, new_kwargs, node), leaves)
        except Unreachable:
            tree, leaves = ("leaf", 0), [0.0]  # the function always raises, and so does its gradient
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
    if tree[0] != "leaf" or (type_of(leaves[0]).dims not in ((), None)) or type_of(leaves[0]).kind == "list":
        raise NonScalarOutputError(f"{what} needs a scalar result", loc, "sum the result of the function")
    extra = len(changes.values)
    region.exit = (*leaves, *changes.values)
    inner = Function(what, region)
    wrt = list(range(len(actual)))
    watch = interp.plan.watch
    primal = clone_function(inner)[0] if watch is not None and watch.observing else None
    try:
        fn = pipeline.adjoint(inner, wrt, seeds=[1.0, *[False] * extra], keep_results=keep_value or extra > 0)
        fn.meta["wrt"] = wrt
        pipeline.finish(fn, len(wrt))
    except AutodiffError:
        if primal is not None:
            _append(interp, primal, actual)  # a run tells more of its values
        raise
    _append(interp, fn, actual)
    for op in fn.body.walk():
        op.droppable, op.tag = op.droppable or op.tag == "derived", None
    exits = list(fn.body.exit)
    value = exits.pop(0) if keep_value or extra else None
    changes.apply(interp, dict(zip(changes.values, exits[:extra])))
    del exits[:extra]
    values = iter(exits)
    cotangent = lambda leaf, value: interp.fresh(value) if type(leaf.av) is Ref else value
    grads = [built(interp, structure, values, cotangent) for structure in structures]
    out = Seq(tuple(grads)) if several else grads[0]
    return Seq((value, out)) if keep_value else out


def _append(interp: Any, fn: Function, actual: list[Any]) -> None:
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


def _opened(interp: Any, av: Any) -> Any:
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


def _argument(interp: Any, leaf: Wrt, param: Value) -> Any:
    """The abstract value of a leaf in the inner function, where it is a parameter of the region."""
    if type(leaf.av) is not Ref:
        return param
    made = interp.fresh(param, like=(leaf.av,))
    for group in (interp.cells.fortran, interp.cells.scattered):
        if leaf.av.cell in group and not leaf.av.path:
            group.add(made.cell)
    return made


def _structure(interp: Any, av: Any, what: str, inside: bool = False) -> Any:
    """The structure of an argument. Its leaves are the values to differentiate by.

    inside: the argument is part of an object. There, values without floats stay as they are.
    """
    av = _opened(interp, av)
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


class AbstractGradient:
    """The gradient of a function that exists only while the program is lowered: a lambda or a nested function."""

    def __init__(self, callee: Any, argnums: Any, keep_value: bool, what: str):
        self.callee, self.argnums, self.keep_value, self.what = callee, argnums, keep_value, what

    def __autodiff_lower__(self, interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return lower_call(interp, self.callee, self.argnums, self.keep_value, self.what, args, kwargs)


def lower_transform(
    make: Any, keep_value: bool, what: str, interp: Any, args: list[Any], kwargs: dict[str, Any]
) -> Any:
    """The abstract result of a call of ``grad`` itself in a function that is compiled."""
    if kwargs.get("strong_zeros", True) is not True:
        refused(*NO_WEAK_ZEROS)(interp, args, kwargs)
    for option, refusal in (("has_aux", NO_AUX), ("allow_int", NO_INTEGERS)):
        if kwargs.get(option, False) is not False:
            refused(*refusal)(interp, args, kwargs)
    argnums = argnums_given = kwargs.get("argnums", args[1] if len(args) > 1 else 0)
    if type(argnums) is Seq:
        argnums = tuple(argnums.items)
    callee = args[0] if args else kwargs.get("fun")
    if callee is None:
        return Partial(Obj(make, (("object", make),)), (), ("argnums",), (argnums_given,))
    if type(callee) is Obj and isinstance(callee.obj, AbstractGradient):
        made = AbstractGradient(callee, argnums, keep_value, what)
        return Obj(made, (("object", made),))
    if type(callee) is Obj and callable(callee.obj):
        made = make(callee.obj, argnums)
        return Obj(made, (("object", made),))
    if type(callee) is Closure or callee is not None and type(callee).__name__ in ("Bound", "Partial", "Instance"):
        made = AbstractGradient(callee, argnums, keep_value, what)
        return Obj(made, (("object", made),))
    raise ArgumentError(
        f"{what} needs a function", interp.builder.loc, "pass the name of a function, a lambda or a method"
    )
