"""``lower``: from a Python function and actual arguments to the IR."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
import types
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import deep
from ..errors import ArgumentError, AutodiffError, UnsupportedError, is_interruption
from ..ir.budget import Exhausted, compiling
from ..ir.core import Function, Loc, Op, Value, leaves
from ..ir.opset import COPY
from ..ir.rewrite import drop_uncalled, replace_values
from ..tree import class_lookup, flatten, is_object
from . import table  # noqa: F401  (fills the table of handlers)
from .avals import (
    UNSET,
    Bound,
    Conflict,
    DictRef,
    Entries,
    Instance,
    Items,
    ListRef,
    Maybe,
    Obj,
    ObjectStep,
    Ref,
    Seq,
    describe,
    is_collection,
    is_constant,
)
from .core import Unreachable
from .handlers import Val
from .inputs import Guard, Input, base_of, path_name
from .numpy_calls import NumpyCalls
from .plan import FoundWanting, Plan, RecursionTooDeep, lower_by_plan


@dataclass(slots=True)
class Lowered:
    """A function in IR, with what ties it to the Python world.

    function: the IR; its parameters are `inputs` in order; its results are the leaves of `out`
    inputs:   where each parameter comes from at a call
    guards:   what has to hold at a call for this lowering to be valid
    out:      the structure of the return value (see `tree.unflatten`)
    sources:  the texts of all functions that went into it, by qualified name
    params:   the names of the top-level parameters, in the order that ("arg", k) paths count
    no_alias: pairs of inputs (indices) that must not share memory, as one is written to; an input with itself: its
    elements must not
    stored:   the inputs (indices) that the function writes to
    """

    function: Function
    inputs: list[Input]
    guards: list[Guard]
    out: Any
    sources: list[str]
    params: list[str]
    no_alias: list[tuple[int, int]] = field(default_factory=list)
    stored: list[int] = field(default_factory=list)
    loc: Loc | None = None  # of the definition
    functions: list[Any] = field(default_factory=list)  # those whose text went into it
    reasons: list[str] = field(default_factory=list)  # for which attempts to lower it were found wanting: see `plan`


class Interpreter(NumpyCalls):
    """The abstract interpreter, whole."""

    def result_tree(self, av: Val, leaves: list[Any]) -> Any:
        """The structure of a return value; its leaves are collected."""
        kind = type(av)
        if kind is Value or kind is Ref:
            leaves.append(self.operand(av))
            return ("leaf", len(leaves) - 1)
        if is_constant(av):
            if av is None or isinstance(av, (bool, str, bytes)) or av is Ellipsis:
                return ("static", av)
            leaves.append(av)
            return ("leaf", len(leaves) - 1)
        if kind is Seq:
            items = tuple([self.result_tree(x, leaves) for x in av.items])
            return ("tuple", items) if av.cls is None else ("make", av.cls, items)
        if kind is ListRef:
            content = self.checked(av.cell, None, "list")
            if type(content) is Items:
                return ("list", tuple([self.result_tree(x, leaves) for x in content.items]))
            leaves.append(self.one_list(content, None))
            return ("leaf", len(leaves) - 1)
        if kind is DictRef:
            content = self.checked(av.cell, None, "dictionary")
            return ("dict", content.keys, tuple([self.result_tree(x, leaves) for x in content.items]))
        if kind is Maybe or kind is Conflict:
            return self.result_tree(self.use(av, "the result", None), leaves)
        if kind is Obj:
            if is_object(av.obj):
                return _object_tree(self, av, av, leaves)
            return ("static", av.obj)
        if kind is Instance and av.cell in self.inputs.outside:
            _, obj, path = self.inputs.outside[av.cell]
            return _object_tree(self, av, Obj(obj, path), leaves)
        if kind is Instance and not is_collection(av) and base_of(av.cls) is None:
            content = self.checked(av.cell, None, "object")
            items = tuple([self.result_tree(self.use(x, "an attribute", None), leaves) for x in content.items])
            return ("new", av.cls, content.keys, items)
        self.fail(
            f"the function returns {describe(av)}",
            None,
            "return numbers, arrays, or tuples, lists and dictionaries of them",
        )


def _object_tree(ctx: Interpreter, av: Val, origin: Obj, leaves: list[Any]) -> Any:
    """An object from outside that is returned: itself, or a copy if it holds something to differentiate."""
    path = ctx.object_path(origin)
    content = ctx.checked(av.cell, None, "object") if type(av) is Instance else Entries((), ())
    written = [k for k, x in zip(content.keys, content.items) if x is not UNSET]
    found, _ = flatten(origin.obj)
    names: list[str] = []
    items: list[Any] = []
    if written or any(isinstance(x, (float, complex)) or np.result_type(x).kind in "fc" for x in found):
        for name in dict.fromkeys([*ctx.own_names(origin), *written]):
            if name in written or flatten(getattr(origin.obj, name))[0]:
                names.append(name)
                items.append(ctx.result_tree(ctx.own_attribute(av, name, None), leaves))
    leaves.append(ctx.top.params[ctx.inputs.object_at(origin.obj, path, path_name(path))])
    if not names:
        return ("leaf", len(leaves) - 1)
    return ("like", len(leaves) - 1, tuple(names), tuple(items))


def bind_arguments(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Val]) -> tuple[list[str], list[Any], Any]:
    """The parameters that a call gives, in order: names and values, and how they go back into (args, kwargs).

    Parameters left at their defaults are not among them.
    """
    try:
        bound = inspect.signature(fn, follow_wrapped=False).bind(*args, **kwargs)
    except TypeError as error:
        if is_interruption(error):
            raise
        raise ArgumentError(f"{getattr(fn, '__name__', 'the function')}() {error}", location_of(fn)) from None
    except ValueError:
        if kwargs:
            raise ArgumentError("this callable takes no keyword arguments") from None
        return [f"x{k}" for k in range(len(args))], list(args), None
    return list(bound.arguments), list(bound.arguments.values()), bound.signature


def lower(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Val] | None = None) -> Lowered:
    """Lower ``fn(*args, **kwargs)`` for arguments of these types.

    A function that calls itself is lowered in one of the ways of `plan.SelfCalls`. Where something has to be static
    that is not, the lowering starts again with a larger plan: see `plan`.
    """
    with compiling(getattr(fn, "__name__", type(fn).__name__), location_of(fn)) as budget:
        plan = Plan()
        lowered = lower_by_plan(
            plan, lambda plan: _lower(fn, tuple(args), dict(kwargs or {}), Interpreter(plan)), budget
        )
        lowered.reasons = [str(reason) for reason in plan.reasons]
        return lowered


def _lower(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Val], interp: Interpreter) -> Lowered:
    names, values, signature = bind_arguments(fn, args, kwargs)
    avs = [
        interp.inputs.wrap(v, (("arg", k),), name, hidden=False, loc=location_of(fn))
        for k, (name, v) in enumerate(zip(names, values))
    ]
    interp.state.heap.update(interp.inputs.initial)
    positional, keywords = avs, {}
    if signature is not None:
        bound = inspect.BoundArguments(
            signature, {name: _spread(interp, av, name, signature) for name, av in zip(names, avs)}
        )
        positional, keywords = list(bound.args), bound.kwargs
    loc = location_of(fn)
    frame = _OutermostFrame(loc)
    interp.frame = frame  # type: ignore[assignment]
    interp.builder.loc = loc
    interp.state.envs[0] = {}
    out: Any
    leaves: list[Any] = []
    with interp.builder.active():
        callee = fn_value(interp, fn)
        try:
            result = interp.call(callee, positional, keywords, frame.node)
            out = interp.result_tree(result, leaves)
        except Unreachable:
            out, leaves = ("leaf", 0), [0.0]  # it always raises, and so does what is made of it
        except RecursionError:
            if not deep.is_deep():
                raise
            kind = RecursionTooDeep if interp.inlined_again else UnsupportedError
            raise kind("the function is nested too deeply to be compiled", interp.builder.loc, "use a loop") from None
        except (AutodiffError, FoundWanting, Exhausted):
            raise
        except Exception as error:
            if is_interruption(error):
                raise
            raise UnsupportedError(
                f"the compiler cannot handle this ({type(error).__name__}: {error})",
                interp.builder.loc,
                "write it in simpler steps",
            ) from error
    interp.settle_appended()
    interp.inputs.identities()
    interp.top.exit = tuple(leaves)
    own_what_is_stored_into(interp)
    drop_uncalled(interp.top)
    function = Function(getattr(fn, "__name__", type(fn).__name__), interp.top)
    used = {v for op in interp.top.walk() for v in op.operands()} | set(_region_values(interp.top))
    stored = sorted(interp.stored)
    pairs = [(i, i) for i in stored if interp.inputs.inputs[i].type.ndim]
    for i in stored:
        for j, item in enumerate(interp.inputs.inputs):
            if j != i and item.key[0] == "array" and interp.top.params[j] in used and (j, i) not in pairs:
                pairs.append((i, j))
    return Lowered(
        function,
        interp.inputs.inputs,
        interp.inputs.guards,
        out,
        list(interp.sources),
        names,
        pairs,
        stored,
        loc,
        list(interp.functions),
    )


def _spread(interp: Interpreter, av: Val, name: str, signature: inspect.Signature) -> Any:
    """An argument of the outermost call; of ``*args`` and ``**kwargs`` what they hold."""
    kind = signature.parameters[name].kind
    if kind is inspect.Parameter.VAR_POSITIONAL:
        return av.items
    if kind is inspect.Parameter.VAR_KEYWORD:
        content = interp.content(av.cell)
        return dict(zip(content.keys, content.items))
    return av


def own_what_is_stored_into(interp: Interpreter) -> None:
    """An array from outside that the function changes there is read as it was at the start: from a copy."""
    top = interp.top
    for number in sorted(interp.inputs.kept_arrays):
        param = top.params[number]
        copy = Op(COPY, (param,))
        copy.results = [Value(param.type, param.hint, copy)]
        copy.parent = top
        replace_values(top, {param: copy.results[0]})
        copy.args = (param,)
        top.ops.insert(0, copy)


def _region_values(region: Any) -> list[Value]:
    out = list(leaves(region.exit))
    for op in region.ops:
        for sub in op.regions:
            out += _region_values(sub)
    return out


def fn_value(interp: Interpreter, fn: Any) -> Any:
    """The abstract value of the function to be lowered. It is named by the caller, so it needs no guard."""
    path: Any = (ObjectStep(("object", fn)),)
    if isinstance(fn, types.FunctionType):
        return Obj(fn, path)
    if isinstance(fn, types.MethodType):
        return Bound(
            Obj(fn.__func__, (*path, ("attr", "__func__"))),
            interp.inputs.wrap(fn.__self__, (*path, ("attr", "__self__")), "self"),
        )
    return interp.inputs.wrap(fn, path, getattr(fn, "__name__", ""))


def location_of(fn: Any) -> Loc:
    """Where a function begins. A built-in function begins nowhere: it is the call that brought it here."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    made_by: Any
    for made_by in (fn, getattr(fn, "__func__", None), class_lookup(type(fn), "__call__")):
        code = getattr(made_by, "__code__", None)
        if code is not None:
            return Loc(code.co_filename, code.co_firstlineno, 0, -1, made_by.__name__)
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == __name__.split(".")[0]:
        frame = frame.f_back
    if frame is None:  # the thread with the large stack, see `deep`
        return Loc(f"<built-in {getattr(fn, '__name__', type(fn).__name__)}>", 1, 0, 0)
    name = frame.f_code.co_name
    return Loc(frame.f_code.co_filename, frame.f_lineno, 0, 0, "" if name.startswith("<") else name)


class _OutermostFrame:
    """Stands for the caller of the function that is lowered."""

    def __init__(self, loc: Loc):
        self.node = ast.Pass(lineno=loc.line, col_offset=0, end_lineno=loc.line, end_col_offset=0)
        self.env = 0
        self.file = loc.file
        self.name = loc.function
        self.call = None
        self.parent = None
        self.captured = False
        self.site = self.owner = None
