"""Calls of functions that bring rules of their own (`custom_vjp`, `custom_jvp`).

Takes the abstract arguments of a call. The function and its rules are lowered each into a function of the SSA form, of
the numbers and arrays in the arguments. One operation, `ir.custom.CUSTOM`, holds them all. A transform chooses.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from .. import runtime
from ..errors import ArgumentError, RuleLookupError, UnsupportedError
from ..ir.core import FUNC, Function, Op, Region, Value, type_of
from ..ir.custom import CUSTOM, CUSTOM_EFFECTS, CUSTOMS, Rules
from ..ir.opset import POP, PRIMS, PUSH, RAISE, STACK_NEW
from ..ir.rewrite import content_operands, drop_uncalled, free_values, replace_values
from ..operations import custom  # noqa: F401  (the record of `runtime.matching`)
from .avals import (
    Columns,
    Conflict,
    ListRef,
    Maybe,
    Ref,
    Seq,
    describe,
    is_constant,
    is_reference,
    leaves_of,
)
from .core import Unreachable
from .custom_forms import (
    Piece,
    beside,
    form_of,
    may_agree,
    may_share,
    opened,
    roots_of,
    same_form,
    same_type,
    taken_apart,
    values_in_order,
    without_statics,
)
from .handlers import Ctx, Val
from .structures import LEAF, Static, built, leaves_in
from .structures import Node as Parts

DEEPEST = 8  # rules that call functions with rules of their own, whose rules do


def lower_custom(ctx: Ctx, made: Any, args: list[Val], kwargs: dict[str, Val]) -> Val:
    """The abstract result of a call of `made`, which has the attributes of `api.custom.Custom`."""
    return _Call(ctx, made).run(args, kwargs)


class _Call:
    """One call, while it is lowered."""

    def __init__(self, ctx: Ctx, made: Any):
        self.ctx, self.made = ctx, made
        loc = self.loc = ctx.builder.loc
        assert loc is not None
        self.node: Any = ast.Pass(
            lineno=loc.line, col_offset=loc.col, end_lineno=loc.line, end_col_offset=loc.end_col
        )  # fmt: skip
        self.name = made.__name__
        self.regions: list[tuple[Function, int]] = []

    # --- arguments ------------------------------------------------------------------------------------------------

    def run(self, args: list[Val], kwargs: dict[str, Val]) -> Val:
        made, ctx = self.made, self.ctx
        if not made.has_rules:
            raise RuleLookupError(f"{self.name!r} has no rule", self.loc, f"give it one: {made.remedy}")
        self.args = [opened(ctx, av) for av in self.bound(args, kwargs)]
        self.fixed = _positions(self, made.nondiff_argnums)
        self.structures = [taken_apart(ctx, av, self.node) for av in self.args]
        self.pieces = [leaf for s in self.structures for leaf in leaves_in(s)]
        self.places = [k for k, leaf in enumerate(self.pieces) if type(leaf.value) is Value]  # the operands
        self.operands = tuple([self.pieces[k].value for k in self.places])
        known = self.underway()
        if known is not None:
            return self.emitted(*known)
        open_calls = _underway(ctx)
        if len(open_calls) >= DEEPEST:
            self.refuse(
                f"rules that call each other, from {self.name!r} on, without an end", "let rules call what has none"
            )
        of_fixed = [leaf for n in self.fixed for leaf in leaves_in(self.structures[n])]
        numbers = {id(leaf) for leaf in of_fixed}
        rules = Rules(
            self.name, self.loc, frozenset([k for k, p in enumerate(self.places) if id(self.pieces[p]) in numbers])
        )
        open_calls.append((self, rules))
        try:
            raised = self.lower_all(rules)
        finally:
            open_calls.pop()
        if raised:
            return ctx.call(self.primal(), self.args, {}, self.node)  # it always raises
        return self.emitted(rules, self.out)

    def bound(self, args: list[Val], kwargs: dict[str, Val]) -> list[Val]:
        """The arguments by position, with the defaults of those left out."""
        fun = self.made.fun
        if self.made.local:
            if kwargs:
                self.refuse(f"{self.name!r}, with a rule of its own, is called by keyword inside of the function that "
                          "defines it", "pass arguments by position")  # fmt: skip
            return list(args)
        try:
            signature = inspect.signature(fun, follow_wrapped=False)
        except (TypeError, ValueError):
            if kwargs:
                self.refuse(f"{self.name!r} is called by keyword, and has no signature", "pass arguments by position")
            return list(args)
        try:
            given = signature.bind(*args, **kwargs)
        except TypeError as error:
            self.ctx.raises(TypeError, f"{self.name}() {error}", self.node)
        out: list[Val] = []
        for name, p in signature.parameters.items():
            if p.kind is p.VAR_KEYWORD or p.kind is p.KEYWORD_ONLY:
                if name in given.arguments:
                    self.refuse(f"{self.name!r} has a rule of its own and is given {name!r} by keyword only",
                              "let it take its arguments by position")  # fmt: skip
            elif p.kind is p.VAR_POSITIONAL:
                out += given.arguments.get(name, ())
            elif name in given.arguments:
                out.append(given.arguments[name])
            elif is_constant(p.default):
                out.append(p.default)
            else:
                self.refuse(f"{self.name!r} is called without {name!r}, whose default is no constant", "pass it")
        return out

    def underway(self) -> tuple[Rules, Any] | None:
        """The rules that are being lowered for a call like this one, which is in them."""
        if not _underway(self.ctx):
            return None
        for other, rules in reversed(_underway(self.ctx)):
            if other.made is not self.made or rules.primal is None or len(other.args) != len(self.args):
                continue
            if len(other.operands) != len(self.operands) or len(other.pieces) != len(self.pieces):
                continue
            alike = all(same_form(a, b) for a, b in zip(other.structures, self.structures))
            dims = self.ctx.builder.dims
            if alike and all(same_type(dims, x.type, y.type) for x, y in zip(other.operands, self.operands)):
                return rules, other.out
        return None

    # --- functions ------------------------------------------------------------------------------------------------

    def primal(self) -> Val:
        made = self.made
        return made.opaque if made.opaque is not None else self.function("fun")

    def function(self, which: str, k: int | None = None) -> Val:
        """The function in an attribute of the object with rules, under a guard."""
        fn = getattr(self.made, which)
        if self.made.local:
            return fn if k is None else fn[k]
        path: Any = (("object", self.made), ("attr", which), *([] if k is None else [("item", k)]))
        return self.ctx.outside(fn if k is None else fn[k], path, self.node)

    def lower_all(self, rules: Rules) -> bool:
        """Lower the function and its rules. Returns whether the function always raises."""
        made = self.made
        try:
            with self.into("primal") as (region, args, _):
                self.out, values = self.result(self.primal_result(args))
                region.exit = values
        except Unreachable:
            return True
        rules.primal = self.regions[-1][0]
        if made.kind == "vjp":
            self.lower_forward(rules)
            self.lower_backward(rules)
        elif made.parts:
            self.lower_parts(rules)
        else:
            self.lower_joint(rules)
        self.close(rules)
        return False

    def primal_result(self, args: list[Val]) -> Val:
        opaque = self.made.opaque
        if opaque is not None:
            return self.ctx.call_prim(opaque, args, {}, self.node)
        return self.ctx.call(self.function("fun"), args, {}, self.node)

    def lower_forward(self, rules: Rules) -> None:
        with self.into("fwd") as (region, args, _):
            got = self.ctx.call(self.function("fwd"), args, {}, self.node)
            if type(got) is not Seq or len(got.items) != 2:
                self.wrong("fwd", "what it returns", "a pair: the result and the residuals", self.told(got))
            out, values = self.result(got.items[0])
            self.check_alike(self.out, out, "fwd", "the result")
            self.residuals = taken_apart(self.ctx, got.items[1], self.node)
            region.exit = (*values, *values_in_order(self.residuals))
        rules.forward = self.regions[-1][0]

    def lower_backward(self, rules: Rules) -> None:
        ctx = self.ctx
        with self.into("bwd") as (region, args, kept):
            held = self.anew(region, self.residuals)
            g = self.beside(region, self.out, "bar")
            fixed = [args[n] for n in self.fixed]
            got = ctx.call(self.function("bwd"), [*fixed, held, g], {}, self.node)
            free = [n for n in range(len(args)) if n not in self.fixed]
            if type(got) is ListRef:
                got = Seq(tuple(ctx.static_items(got, self.node)))
            if type(got) is not Seq or len(got.items) != len(free):
                expected = f"a tuple of {len(free)} cotangents, one for each argument that is differentiated by"
                self.wrong("bwd", "what it returns", expected, self.told(got))
            found = dict.fromkeys(range(len(self.places)))
            for n, part in zip(free, got.items):
                self.matched(self.structures[n], part, "bwd", f"the cotangent of argument {n}", found, kept)
            region.exit = tuple(found.values())
        rules.backward = self.regions[-1][0]

    def lower_joint(self, rules: Rules) -> None:
        """`jvp(primals, tangents)`, which gives the result and its tangent."""
        free = [n for n in range(len(self.args)) if n not in self.fixed]
        with self.into("jvp") as (region, args, _):
            dots = [self.beside(region, self.structures[n], "dot") for n in free]
            given = [Seq(tuple([args[n] for n in free])), Seq(tuple(dots))]
            got = self.ctx.call(self.function("jvp"), [*[args[n] for n in self.fixed], *given], {}, self.node)
            if type(got) is not Seq or len(got.items) != 2:
                self.wrong("jvp", "what it returns", "a pair: the result and its tangent", self.told(got))
            out, values = self.result(got.items[0])
            self.check_alike(self.out, out, "jvp", "the result")
            region.exit = (*values, *self.tangents(got.items[1], values, "jvp"))
        rules.pushes = [(self.regions[-1][0], self.moving(free))]

    def lower_parts(self, rules: Rules) -> None:
        """`jvps[k](tangent, result, *primals)`, which gives what that argument contributes to the tangent."""
        rules.joint = False
        free = [n for n in range(len(self.args)) if n not in self.fixed]
        if len(self.made.parts) != len(free):
            self.refuse(
                f"defjvps of {self.name!r} has {len(self.made.parts)} rules for {len(free)} arguments",
                "give one for each argument that is not among nondiff_argnums, or None",
            )
        for k, n in enumerate(free):
            if self.made.parts[k] is None or not self.moving([n]):
                continue
            with self.into("jvp") as (region, args, _):
                d = self.beside(region, self.structures[n], "dot")
                out = self.anew(region, self.out, constants=True)
                got = self.ctx.call(self.function("parts", k), [d, out, *args], {}, self.node)
                values = region.params[len(region.params) - len(list(leaves_in(self.out))) :]
                region.exit = tuple(self.tangents(got, values, f"jvp of argument {n}"))
            rules.pushes.append((self.regions[-1][0], self.moving([n])))

    def moving(self, numbers: Sequence[int]) -> tuple[int, ...]:
        """The operands in these arguments that have tangents."""
        wanted = {id(leaf) for n in numbers for leaf in leaves_in(self.structures[n]) if leaf.moves}
        return tuple([k for k, p in enumerate(self.places) if id(self.pieces[p]) in wanted])

    @contextmanager
    def into(self, what: str) -> Iterator[tuple[Region, list[Val], list[Any]]]:
        """Lower into a function of its own: its region, its arguments as abstract values, and their operands."""
        ctx = self.ctx
        start, top, scope = ctx.state, ctx.func_top, ctx.func_scope
        apart = ("journals", "exact", "catching", "errors", "handling")
        saved = {name: getattr(ctx, name) for name in apart}
        watch, ctx.plan.watch = ctx.plan.watch, None
        outside = _written(ctx)
        region = ctx.builder.new_region()
        ctx.journals, ctx.exact, ctx.catching, ctx.handling = [], False, 0, []
        ctx.state = start.fork()
        try:
            with ctx.path(ctx.state, region):
                ctx.func_top, ctx.func_scope = region, len(ctx.builder._scopes)
                args = [self.anew(region, s) for s in self.structures]
                kept = list(region.params)
                before = {**ctx.inputs.initial, **ctx.state.heap}
                yield region, args, kept
                end = ctx.state
        finally:
            ctx.plan.watch = watch
            for name, value in saved.items():
                setattr(ctx, name, value)
            ctx.func_top, ctx.func_scope, ctx.state = top, scope, start
            ctx.builder.loc = self.loc
        self.check_effects(what, start, end, before, outside, region)
        self.regions.append((Function(f"{self.name}_{what}", region), len(region.params)))

    def check_effects(self, what: str, start: Any, end: Any, before: Any, outside: Any, region: Region) -> None:
        name = self.name if what == "primal" else f"the rule {what!r} of {self.name}"
        before = {**self.ctx.inputs.initial, **before}  # what is outside is found when it is first read
        changed = [c for c, content in end.heap.items() if c in before and content is not before[c]]
        rebound = any(
            names.get(n, None) is not end.envs[env].get(n, None)
            for env, names in start.envs.items() if env in end.envs for n in {**names, **end.envs[env]}
        )  # fmt: skip
        if changed or rebound or _written(self.ctx) != outside:
            allowed = what != "primal" and not rebound and _written(self.ctx) == outside
            if not (allowed and all(c not in start.heap and c not in self.ctx.inputs.initial for c in changed)):
                self.refuse(
                    f"{name} writes to an argument, or to something around it",
                    "let it compute its result only, from copies: x = x.copy(); on_gradient may keep cotangents",
                )
        drop_uncalled(region)
        if any(op.prim is FUNC for op in region.ops):
            self.refuse(f"{name} is recursive", "write it as a loop")

    def anew(self, region: Region, structure: Any, constants: bool = False) -> Val:
        """A value of this structure, of which the numbers and arrays are parameters of the region; with `constants`,
        also those that are known."""

        def leaf(piece: Piece, _: Any) -> Val:
            if type(piece.value) is not Value and not constants:
                return piece.value
            hint = getattr(piece.value, "hint", "") or "x"
            return self.wrapped(piece.av, region.param(type_of(piece.value), hint))

        return built(self.ctx, structure, leaves_in(structure), leaf)

    def beside(self, region: Region, structure: Any, kind: str) -> Val:
        """Cotangents ("bar") or tangents ("dot") in a structure: None for what has none."""

        def leaf(piece: Piece, _: Any) -> Val:
            if not piece.moves:
                return None
            if type(piece.value) is not Value and kind == "dot":
                return 0.0
            t, hint = type_of(piece.value), getattr(piece.value, "hint", "")
            return self.wrapped(piece.av, region.param(beside(t), f"{hint or 'x'}_{kind}"))

        return built(self.ctx, without_statics(structure), leaves_in(structure), leaf)

    def wrapped(self, av: Val, param: Value) -> Val:
        """The abstract value for a parameter that stands for `av`."""
        if type(av) is ListRef:
            return ListRef(self.ctx.new_cell(Columns(LEAF, (param,), True)))
        if type(av) is not Ref:
            return param
        cells, known = self.ctx.cells, av.cell in self.ctx.state.heap or av.cell in self.ctx.inputs.initial
        made = self.ctx.fresh(param, like=(av,) if known else None, contiguous=av.cell in cells.contiguous)
        for group in (cells.fortran, cells.scattered):
            if av.cell in group and not av.path:
                group.add(made.cell)
        return made

    # --- results --------------------------------------------------------------------------------------------------

    def result(self, av: Val) -> tuple[Any, tuple[Any, ...]]:
        structure = taken_apart(self.ctx, av, self.node)
        return structure, tuple([leaf.value for leaf in leaves_in(structure)])

    def check_alike(self, want: Any, have: Any, rule: str, what: str) -> None:
        """Two results have one structure, and their leaves are of one kind."""
        if not same_form(want, have):
            self.wrong(rule, what, form_of(want), form_of(have))
        for k, (x, y) in enumerate(zip(leaves_in(want), leaves_in(have))):
            s, t = type_of(x.value), type_of(y.value)
            if s.is_scalar and t.is_scalar and s.dtype == t.dtype:
                continue
            if not may_agree(self.ctx.builder.dims, s, t):
                self.wrong(rule, f"{what}, leaf {k}" if len(list(leaves_in(want))) > 1 else what, str(s), str(t))

    def tangents(self, av: Val, values: Sequence[Any], rule: str) -> list[Any]:
        """The tangents of the results, in the order of these."""
        found: dict[int, Any] = dict.fromkeys(range(len(values)))
        numbers = {id(leaf): k for k, leaf in enumerate(leaves_in(self.out))}
        self.match(
            self.out, av, rule, "the tangent", lambda leaf: (numbers[id(leaf)], values[numbers[id(leaf)]]), found
        )
        return [0.0 if x is None and type_of(v).is_scalar else x for x, v in zip(found.values(), values)]

    def matched(self, structure: Any, av: Val, rule: str, what: str, found: Any, kept: list[Any]) -> None:
        """The cotangents of the operands in an argument."""
        numbers = {id(self.pieces[p]): k for k, p in enumerate(self.places)}

        def entry(leaf: Piece) -> tuple[Any, Any]:
            k = numbers.get(id(leaf))
            return k, None if k is None else kept[k]

        self.match(structure, av, rule, what, entry, found)

    def match(self, structure: Any, av: Val, rule: str, what: str, entry: Callable[[Any], Any], found: Any) -> None:
        """Walk through what a rule gave along a structure, and check each leaf."""
        ctx = self.ctx
        if type(av) is Maybe or type(av) is Conflict:
            av = ctx.use(av, what, self.node)
        if av is None or type(structure) is Static:
            return
        if type(structure) is Parts:
            parts: Any = None
            if type(structure.sample) is Seq and type(av) is Seq:
                parts = av.items
            elif is_reference(av) and type(av) is type(structure.sample):
                content = ctx.checked(av.cell, self.node, "container")
                parts = getattr(content, "items", None)
                if getattr(content, "keys", None) != structure.keys:
                    parts = None
            if parts is None or len(parts) != len(structure.parts):
                self.wrong(rule, what, form_of(structure), self.told(av))
            for k, (sub, part) in enumerate(zip(structure.parts, parts)):
                key = k if structure.keys is None else structure.keys[k]
                self.match(sub, part, rule, f"{what}[{key!r}]", entry, found)
            return
        if not structure.moves:
            return
        number, like = entry(structure)
        if not (type(av) in (Ref, Value, ListRef) or isinstance(av, (int, float, complex))):
            self.wrong(rule, what, str(type_of(structure.value)), self.told(av))
        value, want = ctx.operand(av, self.node), type_of(structure.value)
        have = type_of(value)
        if have.dtype is not None and have.dtype.kind not in "fc" and not (isinstance(value, int) and value == 0):
            self.wrong(rule, what, str(want), str(have))
        if want.is_real and have.dtype is not None and have.dtype.kind == "c":
            self.wrong(rule, what, str(want), str(have))
        if number is None:
            return
        if want.kind in ("array", "generic", "py", "scalar") and have.kind != "list":
            if want.dims is not None and have.dims is not None and len(want.dims) != len(have.dims):
                self.wrong(rule, what, str(want), str(have))
            known = zip(want.dims or (), have.dims or ())
            find = ctx.builder.dims.find
            if any(isinstance(find(a), int) and isinstance(find(b), int) and find(a) != find(b) for a, b in known):
                self.wrong(rule, what, str(want), str(have))
            same = want.dims is not None and have.dims is not None
            if not (same and all(map(ctx.builder.dims.same, want.dims or (), have.dims or ()))):
                text = f"the rule {rule!r} of {self.name}: {what}"
                value = ctx.emit(self.node, PRIMS[runtime.matching], value, like, text)
        found[number] = value

    def told(self, av: Val) -> str:
        if type(av) in (Ref, Value):
            return str(type_of(self.ctx.operand(av, self.node)))
        return form_of(taken_apart(self.ctx, av, self.node)) if type(av) is Seq else describe(av)

    def wrong(self, rule: str, what: str, expected: str, found: str) -> NoReturn:
        self.refuse(
            f"the rule {rule!r} of {self.name!r} is wrong in {what}: expected {expected}, found {found}",
            "return the structure, shapes and dtypes that the function has",
            ArgumentError,
        )

    def refuse(self, message: str, remedy: str, error: Any = UnsupportedError) -> NoReturn:
        raise error(message, self.loc, remedy)

    # --- the operation --------------------------------------------------------------------------------------------

    def close(self, rules: Rules) -> None:
        """Make what the functions read from around them parameters of theirs."""
        read: dict[Value, None] = {}
        content: set[Value] = set()
        for fn, _ in self.regions:
            read.update(dict.fromkeys(free_values(fn.body)))
            content.update(free_values(fn.body, content_operands))
        rules.captured = tuple([v for v in read if v in content])
        rules.shaped = tuple([v for v in read if v not in content])
        if read and rules.distant:
            raise UnsupportedError(
                f"rules that call each other, where {self.name!r} or its rule reads something around it",
                self.loc,
                "pass it as an argument",
            )
        for fn, _ in self.regions:
            mapping: dict[Value, Any] = {v: fn.body.param(v.type, v.hint) for v in (*rules.captured, *rules.shaped)}
            replace_values(fn.body, mapping)
            inside = [tuple([mapping[v] for v in group]) for group in (rules.captured, rules.shaped)]
            for op in fn.body.walk():
                if op.prim in CUSTOMS and op.args[0] is rules:
                    op.args = (rules, op.args[1], *inside)
        later = [fn for fn, _ in self.regions[1:]]
        rules.effects = any(_is_seen(op) for fn in later for op in fn.body.walk() if op.prim is not RAISE)

    def emitted(self, rules: Rules, out: Any) -> Val:
        """Append the call. `out`: the structure of its result."""
        ctx = self.ctx
        assert rules.primal is not None
        prim = CUSTOM_EFFECTS if any(map(_is_seen, rules.primal.body.walk())) else CUSTOM
        op = Op(prim, (rules, self.operands, rules.captured, rules.shaped), {}, (), self.loc)
        values = rules.primal.body.exit
        op.results = [Value(type_of(v), v.hint if type(v) is Value else "", op) for v in values]
        ctx.builder.append(op)
        open_calls = [r for _, r in _underway(ctx)]
        if rules in open_calls[:-1]:
            rules.distant.append(op)
        cells = list(ctx.cells_in(self.args))
        captured = set(rules.captured)
        for heap in (ctx.inputs.initial, ctx.state.heap):
            cells += [c for c, content in heap.items() if type(content) is Value and content in captured]
        sharing = {id(r) for r, v in zip(op.results, values) if may_share(v)}

        def leaf(piece: Piece, value: Value) -> Val:
            if type(piece.av) is ListRef:
                return self.wrapped(piece.av, value)
            if type(piece.av) is not Ref:
                return value
            if id(value) not in sharing:
                return self.wrapped(piece.av, value)
            av = ctx.fresh(value)
            if type(av) is Ref:
                ctx.cells.contiguous.discard(av.cell)
                ctx.share(av.cell, cells)
            return av

        made = built(ctx, out, iter(op.results), leaf)
        _link_results(ctx, [av for av in leaves_of(made) if type(av) is Ref], out, values)
        return made


# --- what is underway ----------------------------------------------------------------------------------------------


def _link_results(ctx: Ctx, refs: list[Any], out: Any, values: Sequence[Any]) -> None:
    """Results that may be one array, or views of one, are linked."""
    roots = [roots_of(v) for piece, v in zip(leaves_in(out), values) if type(piece.av) is Ref]
    for k, (a, of_a) in enumerate(zip(refs, roots)):
        for b, of_b in zip(refs[:k], roots[:k]):
            if of_a is None or of_b is None or of_a & of_b:
                ctx.state.link(a.cell, b.cell)


def _is_seen(op: Op) -> bool:
    """The operation has an effect that is seen outside of the function."""
    return op.prim.effects and op.prim not in (PUSH, POP, STACK_NEW)


def _positions(call: _Call, numbers: Sequence[int]) -> list[int]:
    n = len(call.args)
    for k in numbers:
        if not -n <= k < n:
            call.refuse(f"nondiff_argnums of {call.name!r} names argument {k}, and it has {n}", "number them from 0")
    return sorted({k % n for k in numbers})


def _underway(ctx: Any) -> list[Any]:
    """The calls that are being lowered, innermost last."""
    found: list[Any] = ctx.__dict__.setdefault("custom_calls", [])
    return found


def _written(ctx: Any) -> Any:
    """What was written outside of the program so far."""
    return (len(ctx.frozen), len(ctx.kept_as), len(ctx.appended), len(ctx.plan.written), len(ctx.stored))


__all__ = ["lower_custom"]
