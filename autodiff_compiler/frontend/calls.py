"""Lowering of calls: inlining of the user's functions, construction of objects, primitives, and callables of which
nothing is known."""

from __future__ import annotations

import ast
import functools
import inspect
import types
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import AliasError, ArgumentError, RuleLookupError, SourceUnavailableError, is_interruption
from ..ir.core import IF, TRY, Prim, Value, leaves, structural_key, type_of
from ..ir.foreign import CALLED, EFFECTS, is_inert, is_weak, leaves_alone, loaded, root_module, runs_own_code
from ..ir.opset import COPY, lookup, opaque
from ..ir.roles import IN_C_ORDER, KEEP_C_ORDER, KNOWN, flags_of, is_numpys, names_of, signature_of
from ..ir.sites import CALL_OBJECT, GET_ITEM, GET_NEXT
from ..late import late, load
from ..lowered import lowering_of
from ..operations.draws import ORDER, drawn, generator_of, shuffles
from .avals import (
    Bound,
    Closure,
    Conflict,
    DictRef,
    Entries,
    Instance,
    Items,
    ListRef,
    Maybe,
    Obj,
    Partial,
    Poison,
    RangeOf,
    Ref,
    Seq,
    StreamOf,
    Super,
    describe,
    is_collection,
    is_constant,
    is_plain_key,
)
from .core import Unreachable
from .definitions import constant, definition_of, is_definition
from .disturbed import OF_HANDLERS, handlers_of, is_builtin_class
from .exits import DEAD
from .frames import Frame
from .handlers import Ctx, Node, Val, handler_of, lowers, method_of, run
from .inputs import is_lasting
from .layout import mark_fortran
from .objects import GETTERS, is_generated
from .observe import may_vary
from .own_code import ANYTHING
from .plan import CallsItself, FoundWanting, RecursionTooDeep, SelfCalls
from .scopes import FunctionNode, Scope, scope_of
from .source import source_of
from .splitting import Continued
from .state import LIVE, PROTECTED

if TYPE_CHECKING:
    from .comprehensions import Comprehensions as Before
else:  # the parts between are imported when they are first needed, see `parts`
    from .loops import Loops as Before

run_by = late(__package__, "may_write", "run_by")
prefer_known = late(__package__, "causes", "prefer_known")

RECURSION_LIMIT = 60
RECURSION_STEPS = 12


_DRAWS_INTO = ("random", "standard_normal", "standard_exponential", "standard_gamma")  # arrays that they are given
_STATES = ("seed", "getstate", "setstate")  # of Python's random generators
# They are foreign, as they read files, and give arrays of their own.
_MAKERS = (np.load, np.loadtxt, np.genfromtxt, np.fromfile)


class Calls(Before):
    def call(self, fn: Any, args: list[Val], kwargs: dict[str, Val], node: Node) -> Any:
        """Call an abstract function."""
        kind = type(fn)
        if kind is Obj:
            return _call_object(self, fn, args, kwargs, node)
        if kind is Closure:
            return _inline_closure(self, fn, args, kwargs, node)
        if kind is Bound:
            if isinstance(fn.fn, str):
                return self.call_method(fn.self, fn.fn, args, kwargs, node)
            if type(fn.self) is Obj and root_module(fn.self.obj) in ("random", "numpy") and type(fn.fn) is Obj:
                method = getattr(fn.self.obj, fn.fn.obj.__name__, None)  # it is called, and not inlined
                if drawn(method, "") is not None or fn.fn.obj.__name__ in _STATES:
                    return self.call_unknown(method, args, kwargs, node)
            return self.call(fn.fn, [fn.self, *args], kwargs, node)
        if kind is Partial:
            return self.call(fn.fn, [*fn.args, *args], {**dict(zip(fn.names, fn.values)), **kwargs}, node)
        method = self.type_attribute(fn, "__call__")
        if method is not None:
            return self.call(method, [fn, *args], kwargs, node)
        if kind is Maybe or kind is Conflict:
            return self.call(self.use(fn, "the function", node), args, kwargs, node)
        x = self.read(fn, node) if kind is Ref else fn
        what = ast.unparse(node.func) if isinstance(node, ast.Call) else "this"
        if type(x) is Value and x.type.kind in ("any", "object") and x.type.dims is None:
            if self.plan.watch is not None:
                return self.call_foreign(CALL_OBJECT, [x], args, kwargs, None, describe(fn), node)
            self.fail(f"`{what}` is called, and it is not known what it is", node, "call a function or a method")
        what = f"`{what}` is {describe(fn)}, which cannot be called"
        cls = self.class_of(fn, node)
        if isinstance(cls, type):
            text = f"{cls.__name__!r} object is not callable"
            self.lacks(cls, TypeError, text, node, what, "call a function or a method")
        self.fail(what, node, "call a function or a method", ArgumentError)

    # --- primitives -----------------------------------------------------------------------------------------------

    def call_prim(self, prim: Prim, args: list[Val], kwargs: dict[str, Val], node: Node) -> Any:
        """Emit the primitive; its result is linked to what it may share memory with."""
        if is_numpys(prim):
            args, kwargs = self.accepted(prim.fn, signature_of(prim.fn), args, kwargs, node)
        args, kwargs = _with_flags(prim, args, kwargs)
        if "out" in kwargs and prim.nout != 1:
            self.fail(f"{prim.name} with out=", node, "assign its results")
        out = kwargs.pop("out", None) if "out" in kwargs else None
        at = prim.params.index("out") if "out" in prim.params else -1
        if 0 <= at < len(args):
            if args[at] is not None:
                out = args[at]
            args = [*args[:at], *([None] if len(args) > at + 1 else []), *args[at + 1 :]]
        elif prim.params and not prim.params[-1].startswith("*") and len(args) > len(prim.params) + prim.elementwise:
            self.fail(f"{prim.name} with {len(args)} positional arguments", node, "pass out= by its name")
        if "copy" in prim.params and prim.fn is not np.copy:
            place = prim.params.index("copy")
            copy = kwargs.get("copy", args[place] if place < len(args) else True)
            if copy is not True:
                self.fail(f"{prim.name} with copy={copy!r}", node, "leave copy out, or use np.asarray", AliasError)
        if kwargs.get("where", True) is True:
            kwargs.pop("where", None)
        if (
            out is None
            and prim.elementwise
            and prim.params
            and len(args) == len(prim.params) + 1
            and type(args[-1]) is Ref
        ):
            out = args.pop()
        if "where" in kwargs and prim.elementwise:
            return self.where_stored(prim, args, dict(kwargs), out, node)
        for name, av in [*zip(_names(prim, len(args)), args), *kwargs.items()]:
            if name == "output" and type(av) is Ref:
                self.fail(f"{prim.name} with output=", node, "assign the result")
            if name in _FOR_RULES or (KNOWN in prim.roles and name in prim.params and _is_known(prim, name)):
                for item in av.items if type(av) is Seq else (av,):
                    if type(item) is Value:
                        prefer_known(self, item, unroll=True)  # a derivative rule cannot do without
        if "dtype" in prim.params:
            at = prim.params.index("dtype")
            args = [
                self.dtype_of(a, node) if k == at and type(a) in (ListRef, DictRef) else a for k, a in enumerate(args)
            ]
            kwargs = {k: _record_dtype(self, v, node) if k == "dtype" else v for k, v in kwargs.items()}
        args, kwargs = self.entering_primitive(prim, args, kwargs, node)
        operands = [self.operand(a, node) for a in args]
        keywords = {k: self.operand(v, node) for k, v in kwargs.items()}
        result = self.emit(node, prim, *operands, **keywords)
        order = next((a for name, a in [*zip(_names(prim, len(args)), args), *kwargs.items()] if name == "order"), None)
        if out is not None:
            return self.write_out(prim, out, result, [*operands, *keywords.values()], node)
        sources = [*args, *kwargs.values()]
        if prim.nout != 1:
            return Seq(tuple([self.result_of(prim, r, sources) for r in result or ()]))
        made = self.result_of(prim, result, sources)
        if order == "F" and prim.name in _IN_ORDER and type(made) is Ref and made.cell not in self.cells.contiguous:
            self.cells.fortran.add(made.cell)
        return made

    def result_of(self, prim: Prim, value: Val, sources: list[Any]) -> Any:
        if prim.alias == "fresh":
            if any(isinstance(a, str) and a in "FAK" for a in sources):
                return self.fresh(value)  # its memory is laid out in another order
            # Products of matrices; of stacks of matrices the stack is laid out as those of the operands are.
            product = prim.name in ("@", "np.matmul")
            matrices = product and all((type_of(self.operand(a, None)).ndim or 9) <= 2 for a in sources[:2])
            like = sources if prim.elementwise or prim.name in KEEP_C_ORDER or product else None
            made = self.fresh(value, contiguous=matrices or prim.name in IN_C_ORDER, like=like)
            return mark_fortran(self, made, sources) if prim.elementwise or prim.name in _KEEP_ORDER else made
        if prim.alias == "view":
            made = self.linked(value, sources[:1])
            if "read_only" in prim.traits and type(made) is Ref:
                self.cells.read_only.add(made.cell)
                self.cells.mark(made.cell, PROTECTED)
            return made
        made = self.linked(value, sources)
        if prim.fn is np.imag:
            return self.guarded_imaginary(made, type_of(value.op.args[0]))
        if prim.name == "np.diag" and type(made) is Ref and type_of(self.operand(sources[0], None)).ndim == 2:
            self.cells.read_only.add(made.cell)
            self.cells.mark(made.cell, PROTECTED)
        return made

    def guarded_imaginary(self, made: Any, t: Any) -> Any:
        """The imaginary part of real numbers: zeros that NumPy protects from stores."""
        if type(made) is Ref and (t.dtype is None or t.dtype.kind != "c"):
            self.cells.mark(made.cell, PROTECTED)
            if t.dtype is not None and t.kind == "array":
                self.cells.read_only.add(made.cell)
        return made

    def call_unknown(self, obj: Any, args: list[Val], kwargs: dict[str, Val], node: Node, name: str = "") -> Any:
        """A callable without primitive and without Python source, which errors call by its name."""
        name = name or dotted_name(obj)
        if root_module(obj) in EFFECTS:
            args = [self.reported(a, node) for a in args]
            kwargs = {k: self.reported(a, node) for k, a in kwargs.items()}
        everything = [*args, *kwargs.values()]
        kinds = (Value, Ref, Obj, Seq, ListRef, RangeOf, DictRef)[: 7 if leaves_alone(obj) else 6]
        other = [a for a in everything if not (is_constant(a) or type(a) in kinds)]
        if other:
            self.fail(
                f"{name} is called with {describe(other[0])}",
                node,
                "pass numbers and arrays",
            )
        if shuffles(obj) and len(args) == 1 and not kwargs and type(args[0]) in (Ref, ListRef):
            return self.call_shuffle(obj.__self__, args[0], node)
        if root_module(obj) == "logging":
            handlers = handlers_of(everything)
            anything = self.effects_of(list(handlers.values()), OF_HANDLERS).extent == ANYTHING
            self.note_disturbed(None if anything else handlers, name, self.loc_of(node), anything)
        if is_inert(obj) and not _stores(obj, args, kwargs):
            objects, names = run_by(obj)
            self.may_run(objects, names, node)
            draw = drawn(obj, name)
            if draw is not None:
                definition = load(f"{__package__}.library.draws").DRAWN.get((generator_of(obj), obj.__name__))
                return self.call_draw(draw, definition, Obj(getattr(obj, "__self__", None), None), args, kwargs, node)
            operands, keywords = (
                [self.plain(a, node) for a in args],
                {k: self.plain(a, node) for k, a in kwargs.items()},
            )
            return self.given(self.emit(node, opaque(obj, name), *operands, **keywords), everything)
        return self.call_foreign(opaque(obj, name), [], args, kwargs, obj, name, node)

    def call_draw(
        self, prim: Prim, definition: types.FunctionType | None, generator: Val, args: list[Val],
        kwargs: dict[str, Val], node: Node,
    ) -> Any:  # fmt: skip
        """A draw from a random generator, or what a clock says. `definition`: what it means if parameters vary."""
        called = prim.name.replace(" ", ".").rpartition(".")[2]
        if kwargs.get("out") is not None or (called in _DRAWS_INTO and any(type(a) is Ref for a in args[2:])):
            self.fail(
                f"{called}() of a random generator with out=",
                node,
                "store what it returns: a[...] = rng.random(a.shape)",
            )
        if definition is not None and any(_varies(self, a, node) for a in [*args, *kwargs.values()]):
            return self.inline_function(Obj(definition, None), [generator, *args], kwargs, node)
        given = [generator, *args] if type(generator) is Value else args
        operands = [self.operand(a, node) for a in given]
        return self.fresh(self.emit(node, prim, *operands, **{k: self.operand(a, node) for k, a in kwargs.items()}))

    def call_shuffle(self, generator: Any, x: Any, node: Node) -> None:
        """``generator.shuffle(x)``: the items are stored in the order that is drawn."""
        order = self.fresh(self.emit(node, ORDER, generator, self.length(x, node)))
        if type(x) is Ref:
            self.store_item(x, ..., self.subscript(x, order, node), node)
            return
        made = [self.subscript(x, self.subscript(order, k, node), node) for k in range(len(self.static_items(x, node)))]
        for k, item in enumerate(made):
            self.store_item(x, k, item, node)

    def call_foreign(
        self, prim: Prim, first: list[Val], args: list[Val], kwargs: dict[str, Val], obj: Any, name: str, node: Node
    ) -> Any:
        """A call of what may write into its arguments. It gets copies; what the originals hold then is not known."""
        everything = [*args, *kwargs.values()]
        operands = [self.own(self.plain(a, node), node) for a in args]
        keywords = {k: self.own(self.plain(a, node), node) for k, a in kwargs.items()}
        alone = obj is not None and leaves_alone(obj) and not _stores(obj, args, kwargs)
        cells = [] if alone else self.cells_in(everything)
        for cell in cells:
            self.half_done(cell)
        if not (is_weak(obj) or runs_own_code(obj) and all(_runs_nothing(self, a) for a in everything)):
            self.disturb([obj, *[a.obj for a in everything if type(a) is Obj]], name, node)
        value = self.emit(node, prim, *first, *operands, **keywords)
        for cell in cells:
            self.state.poison(cell, self.loc_of(node))
            self.state.heap[cell] = Poison(self.loc_of(node), f"was passed to {name}, which may have changed it,")
        # The result is what the call gave, and a store into it may be one into an argument.
        result = self.given(value, [], not any(obj is maker for maker in _MAKERS))
        for cell in self.cells_in([result]):
            self.share(cell, cells)
        return result

    def given(self, value: Val, sources: list[Any], live: bool = False) -> Any:
        """The abstract value for what an unknown call gave; `live`: an array in it may be one that lives outside."""
        result = self.linked(value, sources, numpy=False)
        for cell in self.cells_in([result]):
            if type(value) is Seq:
                self.share(cell, self.cells_in(sources))
            if live:
                self.cells.mark(cell, LIVE)
        return result

    def own(self, x: Any, node: Node) -> Any:
        """An operand that a callable may write into."""
        return self.emit(node, COPY, x) if type(x) is Value and not x.type.is_scalar and x.type.kind != "object" else x

    # --- inlining -------------------------------------------------------------------------------------------------

    def inline_function(self, fn: Obj, args: list[Val], kwargs: dict[str, Val], node: Node) -> Any:
        obj: types.FunctionType = fn.obj
        if self.on_yield is None and obj.__code__.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
            self.fail(f"{obj.__name__!r} is an async function", node, "write an ordinary function")
        try:
            source = source_of(obj, self.builder.loc if self.frame is None else self.loc_of(node))
        except SourceUnavailableError:
            if self.plan.watch is None or not self.stack or self.on_yield is not None:
                raise
            return self.call_unknown(obj, args, kwargs, node)  # what it gives is observed
        ours = is_definition(obj)
        if not ours:
            self.sources[f"{obj.__module__}.{obj.__qualname__}\n{source.text}"] = None
            self.functions[obj] = None
        tree = source.node

        def default(name: str, k: int | None) -> Any:
            holder = obj.__defaults__ if k is not None else obj.__kwdefaults__
            key: Any = k if k is not None else name
            if ours:
                held = holder[key]  # type: ignore[index]
                return self.new_list([constant(item) for item in held]) if type(held) is list else constant(held)
            return self.outside(holder[key], (("default", obj, key),), node)  # type: ignore[index]

        n = len(obj.__defaults__ or ())
        bound = _bind_parameters(
            self, tree.args, n, default, set(obj.__kwdefaults__ or ()), args, kwargs, node, obj.__name__
        )
        if self.on_yield is None and obj.__code__.co_flags & inspect.CO_GENERATOR:
            return self.generator_begun(fn, bound, node)
        return _activate(self, tree, scope_of(tree), obj, source.file, obj.__name__, None, bound, node)

    def generator_begun(self, fn: Any, bound: dict[str, Any], node: Node) -> Instance:
        """What the call of a generator gives, with its parameters bound: nothing of it runs yet."""
        return self.one_shot(StreamOf("body", (fn, Seq(tuple(bound)), *bound.values()), node))

    def activate(self, fn: Any, bound: dict[str, Any], node: Node) -> Any:
        """Run a function with its parameters bound."""
        if type(fn) is Closure:
            tree, owner, file, parent = fn.node, fn.owner, fn.file, self.frames[fn.env]
        else:
            source = source_of(fn.obj, None)
            tree, owner, file, parent = source.node, fn.obj, source.file, None
        name = getattr(tree, "name", "<lambda>")
        return _activate(self, tree, scope_of(tree), owner, file, name, parent, bound, node)

    def inline(
        self,
        tree: FunctionNode,
        scope: Scope,
        owner: types.FunctionType,
        file: str,
        name: str,
        parent: Frame | None,
        bound: dict[str, Any],
        node: Node,
    ) -> Any:
        """Lower the body of a function with its parameters bound; its return value."""
        depth = sum(1 for t in self.stack if t is tree)
        self.inlined_again += depth > 0
        most, in_all = (
            (RECURSION_LIMIT, 600) if self.plan.self_calls is SelfCalls.INLINED_DEEPLY else (RECURSION_STEPS, 100)
        )
        if depth >= most or len(self.stack) > 400 or self.inlined_again > in_all:
            self.fail(
                f"recursion of {name!r} that does not end on the types, the int arguments and the shapes "
                f"(or is deeper than {RECURSION_LIMIT})",
                node,
                "write it as a loop",
                RecursionTooDeep,
            )
        on_yield, self.on_yield = self.on_yield, None
        if scope.generator and on_yield is None:
            self.fail(f"{name!r} is a generator", node, "return a list")
        self.env_count += 1
        caller, loc = self.frame, self.loc_of(node)
        frame = Frame(
            self.env_count, tree, scope, owner, file, name, parent, (node, caller.call if caller is not None else None)
        )
        if on_yield is not None:
            frame.on_yield, frame.consumer, frame.cleanups = on_yield, caller, 1
        frame.caller, frame.called_at = caller, loc if caller.env else None
        frame.resume = self.take_pending(tree, node)
        if is_definition(owner):
            frame.site = self.loc_of(node)
        self.frames[frame.env] = frame
        self.state.envs[frame.env] = bound
        self.frame = frame
        self.stack.append(tree)
        try:
            with self.budget.copy("inline", tree, name, loc, len(self.stack) > 1):
                if isinstance(tree, ast.Lambda) and frame.resume is None and not self.wants(tree.body):
                    result = self.ev(tree.body)
                else:
                    code = self.lower_block(body_of(tree), False)
                    if code is DEAD:
                        raise Unreachable
                    if frame.resume is not None:
                        raise Continued(code)
                    if on_yield is not None:
                        self.left = code  # what goes through the generator goes on with it
                        return None
                    self.raise_on(code, node)
                    result = self.state.envs[frame.env]["$ret"]
        finally:
            self.frame = caller
            self.stack.pop()
            if not frame.captured:
                self.state.envs.pop(frame.env, None)
        if caller is not None:
            self.at(node)
        return self.use(result, f"the result of {name}()", node)

    def zero_super(self, node: Node) -> Super:
        frame = self.own_frames()[-1]
        owner = frame.owner
        names = owner.__code__.co_freevars
        if "__class__" not in names or frame.parent is not None:
            self.fail("super() outside of a method", node, "name the class: Base.method(self, ...)")
        cls = owner.__closure__[names.index("__class__")].cell_contents
        first = (frame.node.args.posonlyargs + frame.node.args.args)[0].arg
        return Super(cls, self.load(first, node))


def _call_object(ctx: Any, fn: Obj, args: list[Val], kwargs: dict[str, Val], node: Node) -> Any:
    result = _call_known(ctx, fn, args, kwargs, node)
    ctx.overwritten(fn.obj, args, kwargs, node)
    return result


def _call_known(ctx: Calls, fn: Obj, args: list[Val], kwargs: dict[str, Val], node: Node) -> Any:
    obj = fn.obj
    hook = lowering_of(obj)
    if hook is not None:
        ctx.at(node)
        return hook(ctx, args, kwargs)
    if isinstance(obj, _DESCRIPTORS) and args:
        if ctx.is_builtin_method(args[0], obj):
            return ctx.derived_method(args[0], obj.__name__, args[1:], kwargs, node)
        if _is_of(ctx, args[0], obj.__objclass__, node):
            return ctx.call_method(args[0], obj.__name__, args[1:], kwargs, node)
    handler = handler_of(obj)
    if handler is not None:
        return run(ctx, handler, args, kwargs, node)
    definition = definition_of(obj)
    if definition is not None and definition is not ctx.frame.owner:
        ctx.at(node)
        return _call_definition(ctx, obj, definition, args, kwargs, node)
    prim = lookup(obj)
    if prim is not None:
        return ctx.call_prim(prim, args, kwargs, node)
    if type(obj) is types.MethodType and definition_of(obj.__func__) is not None:  # of an object of a library
        owner = Obj(obj.__self__, (*ctx.object_path(fn), ("attr", "__self__")))
        return ctx.call(Obj(obj.__func__, None), [owner, *args], kwargs, node)
    observed = ctx.plan.watch is not None and root_module(obj) in CALLED
    if observed or (isinstance(obj, types.FunctionType) and root_module(obj) in EFFECTS):
        return ctx.call_unknown(obj, args, kwargs, node)
    if isinstance(obj, types.FunctionType) and obj.__code__ is _DISPATCHING:
        return ctx.call(_dispatched(ctx, fn, args, node), args, kwargs, node)
    if isinstance(obj, types.FunctionType) and is_generated(obj) and args and type(args[0]) is Instance:
        for cls in args[0].cls.__mro__:
            if cls.__dict__.get("__init__") is obj and "__dataclass_fields__" in cls.__dict__:
                return ctx.initialise_dataclass(args[0], cls, list(args[1:]), kwargs, node)
    if isinstance(obj, types.FunctionType) and not _belongs_to_numpy(obj):
        return ctx.inline_function(fn, args, kwargs, node)
    if type(obj) is type(_CACHED):
        return _call_cached(ctx, fn, args, kwargs, node)
    if isinstance(obj, loaded(*_JITTED)):  # by Numba: it computes what the Python function says
        written: Any = obj
        there = (*ctx.object_path(fn), ("attr", "py_func"))
        return ctx.call(ctx.outside(written.py_func, there, node), args, kwargs, node)
    if (
        isinstance(obj, loaded(*_OF_ELEMENTS)) and not kwargs
    ):  # of `numba.vectorize`, which compiles it when it is called
        made: Any = obj
        there = (*ctx.object_path(fn), ("attr", "_dispatcher"), ("attr", "py_func"))
        of_element = ctx.outside(made._dispatcher.py_func, there, node)
        otype = Obj(float, None) if {known[-1] for known in made.types} == {"d"} else None
        mapped_numbers = load(f"{__package__}.library.call_forms").mapped_numbers
        return ctx.inline_function(Obj(mapped_numbers), [of_element, otype, Seq(tuple(args))], {}, node)
    if type(obj) in GETTERS:
        cls, parts = obj.__reduce__()[:2]
        if isinstance(cls, type):
            return ctx.call_method(Seq(parts), f"@{cls.__name__}", args, kwargs, node)
    if isinstance(obj, type):
        return ctx.construct(fn, args, kwargs, node)
    if not isinstance(obj, (types.BuiltinFunctionType, np.ufunc)):
        kind: Any = type(obj)
        called = method_of(kind, "__call__")
        if called is not None:
            return run(ctx, called, [fn, *args], kwargs, node)
        method = ctx.type_attribute(fn, "__call__")
        if method is not None:
            return ctx.call(method, [fn, *args], kwargs, node)
    return ctx.call_unknown(obj, args, kwargs, node)


def _varies(ctx: Calls, av: Val, node: Node) -> bool:
    """The parameter of a draw may depend on an argument that is differentiated."""
    if type(av) is Seq:
        return any(_varies(ctx, item, node) for item in av.items)
    x = ctx.operand(av, node) if type(av) in (Ref, ListRef) else av
    return any(v.type.may_be_float and may_vary(ctx, v) for v in leaves(x) if type(v) is Value)


def _runs_nothing(ctx: Calls, av: Val) -> bool:
    """Numbers, text, arrays and objects of built-in classes, and what is made of them: none has code of the program."""
    if type(av) in (Seq, ListRef, DictRef):
        content = av if type(av) is Seq else ctx.content(av.cell)
        return type(content) in (Seq, Items, Entries) and all(_runs_nothing(ctx, part) for part in content.items)
    x = ctx.content(av.cell) if type(av) is Ref else av
    if type(x) is not Value or x.type.kind not in ("object", "any", "undef"):
        return is_constant(x) or isinstance(x, (Value, bytes))
    if is_builtin_class(ctx.known_objects.get(x)):
        return True
    op = x.op  # what such a function made of text, and what that has
    if op is None:
        return False
    if op.prim in (IF, TRY):
        place = op.results.index(x) - (2 if op.prim is TRY else 0)
        return place >= 0 and all(_runs_nothing(ctx, region.exit[place]) for region in op.regions)
    own = op.prim.fn is getattr or op.prim in (GET_ITEM, GET_NEXT) or runs_own_code(op.prim.fn)
    return own and all(_runs_nothing(ctx, arg) for arg in (*op.args, *op.kwargs.values()))


def _is_of(ctx: Calls, av: Val, cls: type, node: Node) -> bool:
    """A built-in thing of this class, so that a method of the class is one of its own."""
    if type(av) is Obj or (type(av) is Instance and not is_collection(av)) or cls is object:
        return False
    found = ctx.class_of(av, node)
    if found is None:
        return cls is np.ndarray and type(av) is Ref
    return issubclass(found, cls) and (found.__module__ == cls.__module__ or cls is not float)


def _call_cached(ctx: Calls, fn: Obj, args: list[Val], kwargs: dict[str, Val], node: Node) -> Any:
    """A call of a function under `functools.lru_cache`, whose value may have been computed before.

    What it computes from its arguments alone it computes anew, and is differentiated. If it reads what may change,
    has an effect or hands out what may be changed, only the live function knows the value: it is called.
    """
    obj: Any = fn.obj
    for a in [*args, *kwargs.values()]:
        if type(a) in (Ref, ListRef, DictRef) or (type(a) is Instance and a.cls is set):
            name = "numpy.ndarray" if type(a) is Ref else {ListRef: "list", DictRef: "dict"}.get(type(a), "set")
            ctx.raises(TypeError, f"unhashable type: {name!r}", node)
    if any(known is obj for known in ctx.plan.impure):
        if not kwargs and all(map(is_plain_key, args)) and _is_begin(ctx):
            # What it holds for these arguments is fetched at each call, as what a global holds is.
            path: Any = (*ctx.object_path(fn), ("call", tuple(args), structural_key(args)))
            return ctx.outside(ctx.folded(obj, args, {}, node), path, node)
        return ctx.call_unknown(obj, args, kwargs, node)
    wrapped = ctx.outside(obj.__wrapped__, (*ctx.object_path(fn), ("attr", "__wrapped__")), node)
    if any(not _is_hashed(a) for a in [*args, *kwargs.values()]) or _is_cached_as_equal(ctx, obj, args):
        ctx.impure(obj)
    ctx.caching.append(obj)
    try:
        result = ctx.call(wrapped, args, kwargs, node)
    finally:
        ctx.caching.pop()
    if ctx.cells_in([result]):
        ctx.impure(obj)
    return result


def _is_cached_as_equal(ctx: Calls, obj: Any, args: list[Val]) -> bool:
    """The function was called before with arguments that are equal and of other types, whose value the cache gives:
    ``f(1)`` for ``f(True)``."""
    if obj.cache_parameters()["typed"] or not all(map(is_plain_key, args)):
        return False
    first = ctx.cached_keys.setdefault((id(obj), tuple(args)), args)
    return bool(structural_key(first) != structural_key(args))


def _is_begin(ctx: Calls) -> bool:
    """Whatever runs before this place has no effect, and this place is surely reached."""
    first = ctx.builder.region is ctx.top and not ctx.caching and not ctx.plan.written
    return first and not any(op.prim.effects or op.regions for op in ctx.top.ops)


def _dispatched(ctx: Calls, fn: Obj, args: list[Val], node: Node) -> Any:
    """The function that `functools.singledispatch` chooses by the class of the first argument."""
    cls = ctx.class_of(args[0], node) if args else None
    if cls is None:
        ctx.fail(
            "singledispatch on a value of which the type is not known when the program is compiled",
            node,
            "make it one type on all paths, or call the implementation by its name",
        )
    chosen = fn.obj.dispatch(cls)
    path: Any = (*ctx.object_path(fn), ("attr", "registry"))
    key = next(k for k, f in fn.obj.registry.items() if f is chosen)
    ctx.inputs.guard(path, "keys", tuple(fn.obj.registry))
    return ctx.outside(chosen, (*path, ("item", key)), node)


def _call_definition(ctx: Calls, fn: Any, definition: Any, args: list[Val], kwargs: dict[str, Val], node: Node) -> Any:
    """A call of a function of NumPy's that has a definition in Python."""
    names = names_of(definition)
    args, kwargs = ctx.entering(fn, names, args, kwargs, node)
    out, at = kwargs.pop("out", None), names.index("out") if "out" in names else len(args)
    if at < len(args):
        out, args = args[at], [*args[:at], None, *args[at + 1 :]]
    kwargs = _known_to(ctx, fn, definition, args, kwargs, node)
    made = ctx.inline_function(Obj(definition, None), args, kwargs, node)
    if out is None:
        return made
    return ctx.write_out(Prim(dotted_name(fn), fn), out, ctx.operand(made, node), args, node)


def _known_to(
    ctx: Calls, fn: Any, definition: Any, args: list[Val], kwargs: dict[str, Val], node: Node
) -> dict[str, Val]:
    """The keywords that a definition has parameters for. The function itself takes all of them.

    What only the function has, a parameter of a newer version of the library, has to be as it is by default.
    """
    own, told = signature_of(definition), signature_of(fn)
    assert own is not None
    if told is not None and not any(p.kind is p.VAR_KEYWORD for p in own.parameters.values()):
        parameters = told.parameters
        kwargs = {
            name: av
            for name, av in kwargs.items()
            if name in own.parameters or name not in parameters or not _is_default(av, parameters[name].default)
        }
    try:
        own.bind(*args, **kwargs)
    except TypeError as error:
        if is_interruption(error):
            raise
        unknown = [name for name in kwargs if name not in own.parameters]
        what = f"with {', '.join(unknown)}" if unknown else "with so many arguments"
        ctx.fail(
            f"{dotted_name(fn)} {what} has no derivative rule",
            node,
            "leave out the keywords" if unknown else "pass the last arguments by keyword",
            RuleLookupError,
        )
    return kwargs


def _is_default(av: Val, default: Any) -> bool:
    return type(av) is type(default) and type(av) in (int, float, str, bool, type(None)) and bool(av == default)


def _record_dtype(ctx: Calls, av: Val, node: Node) -> Val:
    """A dtype that is written as a list of fields is the dtype itself."""
    return Obj(ctx.dtype_of(av, node), None) if type(av) in (ListRef, DictRef) else av


def _inline_closure(ctx: Calls, fn: Closure, args: list[Val], kwargs: dict[str, Val], node: Node) -> Any:
    keywords = dict(zip(fn.names, fn.values))
    name = getattr(fn.node, "name", "<lambda>")

    def default(name: str, k: int | None) -> Any:
        return keywords[name] if k is None else fn.defaults[k]

    bound = _bind_parameters(ctx, fn.node.args, len(fn.defaults), default, set(keywords), args, kwargs, node, name)
    scope = scope_of(fn.node)
    if scope.generator and ctx.on_yield is None:
        return ctx.generator_begun(fn, bound, node)
    return _activate(ctx, fn.node, scope, fn.owner, fn.file, name, ctx.frames[fn.env], bound, node)


def _bind_parameters(
    ctx: Calls,
    spec: ast.arguments,
    n_defaults: int,
    default: Val,
    kw_defaults: set[str],
    args: list[Val],
    kwargs: dict[str, Val],
    node: Node,
    name: str,
) -> dict[str, Any]:
    """Python's binding of arguments to parameters."""
    kwargs = dict(kwargs)
    params = [a.arg for a in spec.posonlyargs + spec.args]
    positional_only = len(spec.posonlyargs)
    bound: dict[str, Any] = {}
    for p, a in zip(params, args):
        bound[p] = a
    extra = args[len(params) :]
    if spec.vararg is not None:
        bound[spec.vararg.arg] = Seq(tuple(extra))
    elif extra:
        ctx.raises(TypeError, f"{name}() takes {len(params)} positional arguments but {len(args)} were given", node)
    for k, p in enumerate(params):
        if k >= positional_only and p in kwargs:
            if p in bound:
                ctx.raises(TypeError, f"{name}() got multiple values for argument {p!r}", node)
            bound[p] = kwargs.pop(p)
        elif p not in bound:
            number = k - (len(params) - n_defaults)
            if number < 0:
                ctx.raises(TypeError, f"{name}() missing a required argument: {p!r}", node)
            bound[p] = default(p, number)
    for a in spec.kwonlyargs:
        if a.arg in kwargs:
            bound[a.arg] = kwargs.pop(a.arg)
        elif a.arg in kw_defaults:
            bound[a.arg] = default(a.arg, None)
        else:
            ctx.raises(TypeError, f"{name}() missing a required keyword argument: {a.arg!r}", node)
    if spec.kwarg is not None:
        bound[spec.kwarg.arg] = ctx.new_dict(kwargs)
    elif kwargs:
        ctx.raises(TypeError, f"{name}() got an unexpected keyword argument {next(iter(kwargs))!r}", node)
    return bound


def _watched(ctx: Calls, tree: Any, parent: Any, bound: dict[str, Any]) -> Any:
    """The structures of the arguments of a function that calls itself, which is inlined; None for any other."""
    if ctx.plan.self_calls.for_values:
        return None
    if tree not in ctx.plan.nested:
        if any(other is tree for other, _, _ in ctx.activations):
            raise FoundWanting(CallsItself(tree, False))
        return None
    return ctx.watch(tree, parent, bound)


def _activate(
    ctx: Calls,
    tree: FunctionNode,
    scope: Scope,
    owner: types.FunctionType,
    file: str,
    name: str,
    parent: Frame | None,
    bound: dict[str, Any],
    node: Node,
) -> Any:
    """Lower a call of a function with its parameters bound; its return value."""

    def lower(given: dict[str, Any]) -> Any:
        return ctx.inline(tree, scope, owner, file, name, parent, given, node)

    if tree in ctx.plan.recursive:
        if ctx.on_yield is not None:
            ctx.fail(
                f"the recursion of the generator {name!r} goes on as long as the program says", node, "return a list"
            )
        if ctx.take_pending(tree, node) is not None:
            ctx.plan.refuse(node)
        return ctx.call_recursive(tree, parent, bound, lower, name, node)
    ctx.activations.append((tree, parent, _watched(ctx, tree, parent, bound)))
    try:
        return lower(bound)
    finally:
        ctx.activations.pop()


@lowers(ast.Call)
def _call(ctx: Ctx, node: ast.Call) -> Val:
    node.func._called = True  # type: ignore[attr-defined]
    fn = ctx.ev(node.func)
    if type(fn) is Obj and fn.obj is super and not node.args:
        return ctx.zero_super(node)
    last = node.args[0] if len(node.args) == 1 and isinstance(node.args[0], ast.Starred) else None
    # CPython makes a tuple of the one starred argument of a call after the keywords were evaluated.
    starred = None if last is None else ctx.ev(last.value)
    args = ctx.ev_many(node.args) if last is None else []
    if type(fn) is Obj and fn.obj is super and len(args) == 2 and type(args[0]) is Obj:
        return Super(args[0].obj, args[1])
    kwargs: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            more = ctx.entries_of(ctx.ev(keyword.value), node)
        else:
            more = {keyword.arg: ctx.ev(keyword.value)}
        twice = [k for k in more if k in kwargs]
        if twice:
            ctx.raises(TypeError, f"got multiple values for keyword argument {twice[0]!r}", node)
        kwargs.update(more)
    if last is not None:
        args = ctx.static_items(starred, last)
    return ctx.call(fn, args, kwargs, node)


def body_of(tree: FunctionNode) -> list[ast.stmt]:
    """The statements of a function, with the return at its end."""
    if isinstance(tree, ast.Lambda):
        return [ast.copy_location(ast.Return(tree.body), tree.body)]
    return [*tree.body, ast.copy_location(ast.Return(None), tree.body[-1])]


def dotted_name(obj: Any) -> str:
    """How users write the callable, as far as it is known."""
    module = getattr(obj, "__module__", None) or ""
    name = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None) or type(obj).__name__
    if module in ("builtins", ""):
        return str(name)
    return f"{'np' if module == 'numpy' else module}.{name}"


def _stores(obj: Any, args: list[Val], kwargs: dict[str, Val]) -> bool:
    """The call writes into one of its arguments."""
    if isinstance(obj, np.ufunc) and len(args) > obj.nin:
        return True
    signature = signature_of(obj) if any(type(a) in (Ref, Seq) for a in args) else None
    names = list(signature.parameters) if signature is not None else []
    written = _WRITTEN if getattr(obj, "__name__", "").startswith("distance_transform") else _WRITTEN[:2]
    given = [*zip(names, args), *kwargs.items()]
    return any((k in written or k.startswith("overwrite")) and v is not None and v is not False for k, v in given)


# Parameters of NumPy's and SciPy's that take arrays for results; the last two are of distance transforms.
_WRITTEN = ("out", "output", "distances", "indices")


def _belongs_to_numpy(obj: Any) -> bool:
    return root_module(obj) in ("numpy", "scipy")


_JITTED = (("numba.core.dispatcher", "Dispatcher"),)
_OF_ELEMENTS = (("numba.np.ufunc.dufunc", "DUFunc"),)
_DESCRIPTORS = (types.MethodDescriptorType, types.WrapperDescriptorType)
_CACHED = functools.lru_cache(len)


def _is_hashed(av: Val) -> bool:
    """A number, string or constant, a function or class, or a tuple of them: nothing in it changes."""
    if type(av) is Seq:
        return all(map(_is_hashed, av.items))
    return is_constant(av) or type(av) is Value or (type(av) is Obj and is_lasting(av.obj))


_DISPATCHING = getattr(functools.singledispatch(len), "__code__")  # noqa: B009


def _names(prim: Prim, count: int) -> list[str]:
    """The names of the parameters that `count` arguments bind."""
    return [*prim.params[:count], *[""] * (count - len(prim.params))]


def _with_flags(prim: Prim, args: list[Val], kwargs: dict[str, Val]) -> tuple[list[Val], dict[str, Val]]:
    """``keepdims=1`` is ``keepdims=True``: types and derivative rules ask for the bool."""
    flags = flags_of(prim.fn)

    def plain(name: str, av: Val) -> Val:
        return bool(av) if name in flags and type(av) is int else av

    given = [plain(name, av) for name, av in zip(_names(prim, len(args)), args)]
    return given, {name: plain(name, av) for name, av in kwargs.items()}


def _is_known(prim: Prim, name: str) -> bool:
    """The role of the parameter is to be known."""
    return prim.roles[prim.params.index(name)] == KNOWN


# Parameters that say which operation it is: derivative rules have to know them.
_FOR_RULES = frozenset({"axis", "axes", "keepdims", "ord"})
_KEEP_ORDER = frozenset({"np.zeros_like", "np.ones_like", "np.empty_like", "np.full_like"})
_IN_ORDER = _KEEP_ORDER | {"np.zeros", "np.ones", "np.empty", "np.full", "np.eye"}
