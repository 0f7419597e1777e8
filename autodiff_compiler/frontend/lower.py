"""``lower``: from a Python function and actual arguments to the IR."""

from __future__ import annotations

import ast
import inspect
import types
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import deep, ir
from ..duck import name_of
from ..errors import AliasError, AutodiffError, UnsupportedError, is_interruption
from ..ir.apart import APART
from ..ir.budget import Exhausted, compiling
from ..ir.core import Function, Loc, Op, Value, leaves
from ..ir.opset import COPY
from ..ir.rewrite import drop_uncalled, replace_values
from ..late import late
from ..lowered import Lowered, ObjectStep, bind_arguments, location_of
from ..tree import flatten, is_object
from . import table  # noqa: F401  (it fills the table of handlers)
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
    Ref,
    Seq,
    describe,
    is_collection,
    is_constant,
)
from .core import Unreachable
from .definitions import stands_in
from .handlers import Val
from .inputs import base_of, path_name
from .observe import WATCH
from .plan import FoundWanting, Plan, RecursionTooDeep, lower_by_plan

begin_with_floats = late(ir.__name__, "beginnings", "begin_with_floats")

if TYPE_CHECKING:
    from .numpy_calls import NumpyCalls as Before
else:  # the parts between are imported when they are first needed, see `parts`
    from .outputs import Outputs as Before


class Interpreter(Before):
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
        if kind is Instance and stands_in(av.cls):
            what = f"the function returns {describe(av)}, which stands for an object of a library"
            self.fail(what, None, "return the numbers and arrays that it holds")
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


def lower(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Val] | None = None) -> Lowered:
    """Lower ``fn(*args, **kwargs)`` for arguments of these types.

    A function that calls itself is lowered in one of the ways of `plan.SelfCalls`. Where something has to be static
    that is not, the lowering starts again with a larger plan: see `plan`.
    """
    with compiling(getattr(fn, "__name__", type(fn).__name__), location_of(fn)) as budget:
        watch = WATCH.get()
        plan = Plan(watch=watch, apart=APART.get())
        if watch is not None:
            if watch.plan is not None:
                plan = watch.plan.begun(plan)
            watch.plan = plan
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
            if interp.body_in(result) is not None:
                name = getattr(fn, "__name__", "the function")
                remedy = "return what it yields: a number, an array, or a list"
                raise UnsupportedError(f"{name!r} is a generator, or returns one", loc, remedy)
            out = interp.result_tree(result, leaves)
        except Unreachable:
            out, leaves = ("leaf", 0), [0.0]  # it always raises, and so does what is made of it
        except RecursionError:
            if not deep.is_deep():
                raise
            kind = RecursionTooDeep if interp.inlined_again else UnsupportedError
            raise kind("the function is nested too deeply to be compiled", interp.builder.loc, "use a loop") from None
        except AutodiffError:
            if interp.plan.watch is None or not interp.plan.watch.observing:
                raise
            out, leaves = ("leaf", 0), [0.0]  # what comes before can be run
        except (FoundWanting, Exhausted):
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
    interp.inputs.kept_arrays |= interp.arrays_disturbed()
    own_what_is_stored_into(interp)
    drop_uncalled(interp.top)
    function = Function(getattr(fn, "__name__", type(fn).__name__), interp.top)
    if any(v.type.kind == "scalar" and v.type.dtype is None for op in interp.top.walk() for v in op.results):
        begin_with_floats(function)  # otherwise the types of all numbers are known
    used = {v for op in interp.top.walk() for v in op.operands()} | set(_region_values(interp.top))
    stored = sorted(interp.stored)
    ducks = [item for item in interp.inputs.inputs if item.type.duck is not None]
    if stored and ducks:
        name = interp.inputs.inputs[stored[0]].name
        raise AliasError(
            f"unprovable alias: the function writes to the array {name!r}, and {ducks[0].name!r}, a "
            f"{name_of(ducks[0].key[4])}, may read from it",
            loc,
            f"copy it first, {name} = {name}.copy()",
        )
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
        alone="\n  ".join(interp.inputs.alone),
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
    """An array from outside that changes there in the call is read as it was at the start: from a copy."""
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


class _OutermostFrame:
    """Stands for the caller of the function that is lowered."""

    def __init__(self, loc: Loc):
        self.node = ast.Pass(lineno=loc.line, col_offset=0, end_lineno=loc.line, end_col_offset=0)
        self.env = 0
        self.file = loc.file
        self.name = loc.function
        self.call = None
        self.parent = self.caller = self.called_at = None
        self.captured = False
        self.site = self.owner = None
