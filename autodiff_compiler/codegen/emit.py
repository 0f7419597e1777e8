"""Print the SSA form as Python and NumPy, the way one would write it by hand.

Takes a function in which every store may be done in place, and what its values share (`analysis.sharing`). Gives the
text of a module. `nesting` decides what is printed inside of what, `names` what values are called, `expressions` prints
expressions, and this module prints statements.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show, show_source
>>> def f(x):
...     x[1:] *= 2.0
...     return np.sum(x * x)
>>> show(f, np.ones(3), after="in place")
func f(%x: float64[d1]) {
  %v1: float64[d1-1] = get %x, (('index', (1:,)),)
  %v2: float64[d1-1] = * %v1, 2.0
  %x2: float64[d1] = copy %x
  %x3: float64[d1] = set %x2, (('index', (1:,)),), %v2
  %x_bar: float64[d1] = * 2.0, %x3
  %v3: float64[d1-1] = get %x_bar, (('index', (1:,)),)
  %v4: float64[d1-1] = * %v3, 2.0
  %x_bar2: float64[d1] = set %x_bar, (('index', (1:,)),), %v4
  return %x_bar2
}
>>> show_source(f, np.ones(3))
def f_grad(x):
    x2 = x.copy()
    x2[1:] = x[1:] * 2.0
    # adjoint of line 3: return np.sum(x * x)
    x_bar = 2.0 * x2
    # adjoint of line 2: x[1:] *= 2.0
    x_bar[1:] *= 2.0
    return x_bar
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir import opset
from ..ir.core import (
    CALL,
    DERIVED,
    FUNC,
    IF,
    LOOP,
    TRY,
    UNDEF,
    Builder,
    Exit,
    Function,
    Loc,
    Op,
    Region,
    Value,
    structural_key,
    type_of,
)  # fmt: skip
from ..ir.opset import ACCUM, ADDAT, GET, POP, PUSH, SET, STACK_NEW, STORES
from ..ir.rewrite import called, enclosing, handler_of
from ..ir.types import same_dtype
from . import layout
from .expressions import Printer
from .layout import Block, Line
from .list_stores import changed_list
from .load import Emitted
from .names import Naming
from .nesting import Nesting, maybe_undefined, where_completed
from .notes import Note, Statement

AUGMENTED = frozenset({opset.ADD, opset.SUB, opset.MUL, opset.DIV})


def emit_function(
    fn: Function,
    analysis: Any,
    name: str,
    *,
    statement_at: Callable[[Loc], Statement] | None = None,
    result: Callable[[list[str]], str] | None = None,
    split: int | None = None,
    reserved: set[str] | None = None,
    quick: bool = False,
) -> Emitted:
    """The source of a function that computes `fn`.

    `result` formats the returned expressions. `split` is the number of leading results of a forward sweep; what follows
    becomes a nested ``pullback``. `reserved` names are not given to variables. `quick`: with the callees that
    are fastest on small arrays, ``x.dot(y)`` for ``x @ y``.
    """
    emitter = Emitter(fn, analysis, statement_at, (reserved or set()) | {"pullback"}, split)
    emitter.printer.quick = quick
    return emitter.run(name, result)


class Emitter:
    def __init__(
        self,
        fn: Function,
        analysis: Any,
        statement_at: Callable[[Loc], Statement] | None,
        reserved: set[str],
        split: int | None = None,
    ):
        self.fn = fn
        self.body = fn.body
        self.analysis = analysis
        self.statement_at = statement_at
        self.lines: list[Line] = []  # of the block that is being printed
        self.split = split
        self.taken: set[Op] = set()  # printed as part of a loop's head
        self.tried: dict[Op, Op] = {}  # from an ``if`` that is printed as a handler to its ``try``
        nesting = Nesting(self.body, analysis, split)
        self.inlined, self.users, self.use_count = nesting.inlined, nesting.users, nesting.use_count
        inner = {op for op in self.body.ops if op.tag == DERIVED} if split is not None else None
        self.naming = Naming(self.body, self.inlined, reserved, inner)
        self.maybe = maybe_undefined(self.body)
        self.printer = Printer(self.naming, self.inlined, self.maybe)
        self.notes: list[Note] = []
        self.commented: Statement | None = None  # the statement that the last note names
        # Of these, the ones that are read whether defined or not, so that their name must exist.
        self.optional = {
            v for v in self.maybe
            if any(
                isinstance(u, Region) or u.regions or u.prim in (PUSH, opset.COPY, opset.ZEROS, opset.LIST_NEW)
                for u in self.users.get(v, ()) if not where_completed(u, v)
            )
        }  # fmt: skip

    # --- statements -----------------------------------------------------------------------------------------------

    def run(self, name: str, result: Callable[[list[str]], str] | None) -> Emitted:
        own = self.body.params
        if self.split is not None:
            own = own[: len(own) - self.fn.meta["seed_params"]]
        args = [self.naming.of(p) for p in own]
        exits = list(self.body.exit)
        if self.split is None:
            self.emit_ops(self.body.ops)
            shown = [self.printer.show(x) for x in exits]
            self.line("return " + bare(result(shown) if result else ", ".join(shown)))
        else:
            self._emit_split(exits, self.split, result)
        layout.outline(self.lines, set(args), self._unused)
        helpers = ", ".join(sorted(self.printer.helpers))
        lines = ["import math"] if self.printer.imports_math else []
        lines += ["import numpy as np", *([f"from autodiff_compiler.runtime import {helpers}"] if helpers else [])]
        lines += ["", "", f"def {name}({', '.join(args)}):"]
        layout.flat(self.lines, 1, lines)
        return Emitted(lines, name, dict(self.printer.objects), [note for note in self.notes if note.at >= 0])

    def _emit_split(self, exits: list[Any], split: int, result: Callable[[list[str]], str] | None) -> None:
        forward = [op for op in self.body.ops if op.tag != DERIVED]
        backward = [op for op in self.body.ops if op.tag == DERIVED]
        self.emit_ops(forward)
        outs = [self.printer.show(x) for x in exits[:split]]
        seeds = [self.naming.of(p) for p in self.body.params[len(self.body.params) - self.fn.meta["seed_params"] :]]
        read = self.naming.read_inside()
        stacks = [op.results[0] for op in forward if op.prim is STACK_NEW and op.results[0] in read]
        saved = [self.naming.of(s) for s in stacks]
        # The pullback may be called again: it takes from copies of the stacks.
        self.lines.append("")
        outer, self.lines = self.lines, [f"{s} = list({s})" for s in saved]
        self.emit_ops(backward)
        shown = [self.printer.show(x) for x in exits[split:]]
        self.line("return " + bare(result(shown) if result else ", ".join(shown)))
        outer.append(Block(f"def pullback({', '.join(seeds + [f'{s}={s}' for s in saved])}):", self.lines))
        self.lines = [*outer, ""]
        self.line(f"return {outs[0] if len(outs) == 1 else '(' + ', '.join(outs) + ')'}, pullback")

    def line(self, text: str) -> None:
        self.lines.append(text)

    def _unused(self, stem: str) -> str:
        """A name that stands for nothing yet, which it takes."""
        name, n = stem, 1
        while self.naming.is_taken(name):
            n += 1
            name = f"{stem}{n}"
        self.naming.fixed |= {name}
        return name

    def emit_ops(self, ops: list[Op]) -> None:
        popped: set[Op] = set()
        for k, op in enumerate(ops):
            if op in self.inlined or op in self.taken or op in popped:
                continue
            drop = self.popping(op, ops[k + 1 :]) if op.prim is opset.LIST_GET else None
            if drop is None:
                self.emit_op(op)
                continue
            self.comment(op)
            popped.add(drop)
            at = "" if type(op.args[1]) is int and op.args[1] == -1 else self.printer.show(op.args[1])
            self.line(f"{self.naming.of(op.result)} = {self.printer.show(op.args[0])}.pop({at})")
            self.rename(drop)

    def popping(self, get: Op, following: list[Op]) -> Op | None:
        """The operation that takes out the item that this one reads, if nothing that lies between looks at the list."""
        items, index = get.args
        if not self.use_count.get(get.result, 0):
            return None
        for op in following:
            if op.prim is opset.LIST_DROP and op.args[0] is items and (op.args[1] is index or op.args[1] == index):
                return op
            if op in self.inlined:
                continue  # it reads the same where it is printed
            if op.prim not in (PUSH, opset.LIST_GET, opset.LIST_DROP):
                return None
            if any(v.op in self.inlined or self.naming.same(v, items) for v in op.operands()):
                return None
        return None

    def comment(self, op: Op) -> None:
        """Name the user's statement that the operation comes from, unless the last comment did."""
        if op.loc is None or self.statement_at is None or op.tag != DERIVED:
            return
        if op.prim in (opset.ZEROS, STACK_NEW, opset.SPREAD, opset.FULL_LIKE, opset.COPY):
            return
        statement = self.statement_at(op.loc)
        if statement == self.commented:
            return
        self.notes.append(Note(statement))
        self.lines.append(self.notes[-1])
        self.commented = statement

    def emit_op(self, op: Op) -> None:
        if op.regions:
            if op.prim is IF:
                self.emit_if(op)
            elif op.prim is TRY:
                handler = handler_of(op, self.inlined) if op.catch else None
                if handler is not None:
                    self.tried[handler] = op  # it is printed with that
                else:
                    self.emit_try(op, [], [], False)
            elif op.prim is FUNC:
                self.emit_function(op)
            else:
                self.emit_loop(op)
            return
        self.comment(op)
        show = self.printer.show
        if op.prim in STORES:
            self.emit_store(op)
        elif op.prim is PUSH:
            self.line(f"{show(op.args[0])}.append({show(op.args[1])})")
        elif op.prim is opset.ASSERT:
            message = "" if op.args[1:] in ((), (None,)) else f", {show(op.args[1])}"
            self.line(f"assert {show(op.args[0])}{message}")
        elif op.prim is opset.RAISE:
            self.line("raise " + " from ".join(map(show, op.args)))
        elif op.prim.nout == 0 or not op.results:
            self.line(self.printer.expression(op)[0])
        else:
            text = self.printer.expression(op)[0]
            if all(self.use_count.get(r, 0) == 0 for r in op.results):
                self.line(text)
            else:
                names = ", ".join(self.naming.of(r) if self.use_count.get(r, 0) else "_" for r in op.results)
                if (
                    op.prim in AUGMENTED
                    and op.results[0].type.is_scalar
                    and self.naming.same(op.results[0], op.args[0])
                ):
                    self.line(f"{names} {op.prim.name}= {show(op.args[1])}")
                else:
                    self.line(f"{names} = {text}")

    def emit_store(self, op: Op) -> None:
        show = self.printer.show
        base = show(op.args[0])
        prim = op.prim
        cut = _copying_step(op) if prim is SET or prim is ADDAT else None
        if cut is not None:
            self.emit_reshaped_store(op, base, cut)
        elif prim is SET:
            self.line(f"{self.printer.place(base, op.args[1])} {self.stored(op)}")
        elif prim is ACCUM:
            if op.args[0].type.kind == "list":
                self.line(changed_list(self.printer, op))
            else:
                self.line(f"{base} {self.increment(op.args[1])}")
        elif prim is ADDAT:
            path = op.args[1]
            if opset.is_plain_path(path):
                self.line(f"{self.printer.place(base, path)} {self.increment(op.args[2])}")
            else:
                head = self.printer.place(base, path[:-1]) if len(path) > 1 else base
                self.line(f"np.add.at({head}, {self.printer.subscript(path[-1][1], nested=True)}, {show(op.args[2])})")
        else:
            self.line(changed_list(self.printer, op))
        self.rename(op)

    def rename(self, op: Op) -> None:
        """The version that a store made, under its own name where it has one."""
        result = op.results[0]
        if not self.naming.same(result, op.args[0]) and self.use_count.get(result, 0):
            self.line(f"{self.naming.of(result)} = {self.printer.show(op.args[0])}")

    def stored(self, op: Op) -> str:
        """``= v``, or ``-= u`` where v is the present part less u."""
        base, path, v = op.args
        inner = v.op if type(v) is Value else None
        if (
            inner is not None
            and inner in self.inlined
            and inner.prim.name in ("+", "-", "*", "/")
            and len(inner.args) == 2
        ):
            part = inner.args[0]
            whole = part is base and opset.is_whole(path)
            again = (
                type(part) is Value and part.op is not None and part.op in self.inlined and part.op.prim is GET
                and part.op.args[0] is base and structural_key(part.op.args[1]) == structural_key(path)
            )  # fmt: skip
            if (
                (whole or again)
                and base.type.kind == "array"
                and same_dtype(inner.results[0].type.dtype, base.type.dtype)
            ):
                if opset.is_plain_path(path):
                    return f"{inner.prim.name}= {self.printer.show(inner.args[1])}"
        return f"= {self.printer.show(v)}"

    def emit_reshaped_store(self, op: Op, base: str, cut: int) -> None:
        """A store through a reshape that, by the layout of the array, may be a copy."""
        rest, part, back = op.args[1], base, []
        following: int | None = cut
        while following is not None:
            whole = self.printer.place(part, rest[:following]).removesuffix("[...]")
            step, rest = rest[following : following + 1], rest[following + 1 :]
            part = "part" if part == base else part + "_"
            while self.naming.is_taken(part):
                part += "_"
            self.line(f"{part} = {self.printer.place(whole, step).removesuffix('[...]')}")
            back.append(f"put_back({whole}, {part})")
            following = next((k for k, step in enumerate(rest) if step[0] == "reshape"), None)
        rest = rest or (("index", (Ellipsis,)),)
        if op.prim is SET:
            self.line(f"{self.printer.place(part, rest)} = {self.printer.show(op.args[2])}")
        elif opset.is_plain_path(rest):
            self.line(f"{self.printer.place(part, rest)} {self.increment(op.args[2])}")
        else:
            head = self.printer.place(part, rest[:-1]) if len(rest) > 1 else part
            at = self.printer.subscript(rest[-1][1], nested=True)
            self.line(f"np.add.at({head}, {at}, {self.printer.show(op.args[2])})")
        self.printer.helpers.add("put_back")
        for line in back[::-1]:
            self.line(line)

    def increment(self, v: Any) -> str:
        op = v.op if type(v) is Value else None
        if op is not None and op.prim is opset.NEG and op in self.inlined:
            return f"-= {self.printer.show(op.args[0])}"
        return f"+= {self.printer.show(v)}"

    def emit_function(self, op: Op) -> None:
        """A function that calls itself, as a nested one."""
        (body,) = op.regions
        outer, self.lines = self.lines, []
        self.commented = None
        self.emit_ops(body.ops)
        self.line(f"return {', '.join(self.printer.show(x) for x in body.exit)}".rstrip())
        name, params = self.naming.of(op.result), ", ".join(self.naming.of(p) for p in body.params)
        self.lines = [*outer, Block(f"def {name}({params}):", self.lines)]
        self.commented = None

    # --- control flow ---------------------------------------------------------------------------------------------

    def assign(self, pairs: list[tuple[Value, Any]]) -> None:
        """``a, b = x, y`` for those that need it; the right sides are all read first."""
        left, right = [], []
        for target, source in pairs:
            if source is UNDEF:
                if target not in self.optional:
                    continue
                source = None
            if self.naming.same(target, source):
                continue
            if not self.needed(target):
                continue
            left.append(self.naming.of(target))
            right.append(self.printer.show(source))
        if left:
            self.line(f"{', '.join(left)} = {', '.join(right)}")

    def needed(self, target: Value) -> bool:
        """The variable is read somewhere: for a carried one, in the loop or after it."""
        if self.use_count.get(target, 0):
            return True
        owner = target.region.op if target.op is None and target.region is not None else None
        if owner is None or owner.prim is not LOOP:
            return False
        return self.use_count.get(owner.results[owner.regions[0].params.index(target) - 1], 0) > 0

    def emit_if(self, op: Op, finish: Callable[[Region], bool] | None = None) -> None:
        """`finish`, called at the end of each branch, prints what leaves the loop around; it returns whether the branch
        jumps."""
        count, commented = len(self.notes), self.commented
        self.comment(op)
        texts: list[list[Line]] = []
        jumps = []
        for side in op.regions:
            outer, self.lines = self.lines, []
            self.emit_ops(side.ops)
            if not side.ops or side.ops[-1].prim is not opset.RAISE:
                self.assign([(r, side.exit[k]) for k, r in enumerate(op.results)])
            jumps.append(finish(side) if finish else False)
            texts.append(self.lines)
            self.lines = outer
        if not texts[0] and not texts[1] and op not in self.tried:
            if len(self.notes) > count:
                self.lines.remove(self.notes.pop())
            self.commented = commented
            return
        self._branches(op, texts, jumps)

    def _branches(self, op: Op, texts: list[list[Line]], jumps: list[bool]) -> None:
        """An ``if`` of these branches. Some may end in a jump."""
        if op in self.tried:
            self.emit_try(self.tried[op], texts[0], texts[1], jumps[1])
            return
        cond, otherwise = self.printer.show(op.condition), self.printer.negated(op.condition)
        if not texts[0] or (jumps[1] and not jumps[0]):
            cond, otherwise = otherwise, cond
            texts.reverse()
            jumps.reverse()
        self.lines += layout.branches(cond, otherwise, texts[0], texts[1], jumps[0])

    def emit_try(self, op: Op, orelse: list[Line], handler: list[Line], jumps: bool) -> None:
        """A ``try`` with the text of its else clause and its handler, which may end in a jump; or a ``with``."""
        completed, error, *results = op.results
        (body,) = op.regions
        catch, context = op.catch, op.context
        text = handler_of(op, self.inlined) if catch else None
        flag = self.naming.of(completed) if self.use_count.get(completed, 0) > (text is not None) else ""
        marks = {self.naming.of(s): self._mark_name(s) for s in self._pushed_before_raise(body)} if catch else {}
        for stack, mark in marks.items():
            self.line(f"{mark} = len({stack})")
        outer, self.lines = self.lines, []
        self.emit_ops(body.ops)
        self.assign(list(zip(results, body.exit)))
        if flag:
            self.line(f"{flag} = True")
        header = "try:" if catch else f"with {self.printer.show(context)}:"
        self.lines = [*outer, Block(header, self.lines or ["pass"])]
        if not catch:
            return
        classes = [self.printer.show(c) for c in catch]
        shown = classes[0] if len(classes) == 1 else f"({', '.join(classes)})"
        used = self.use_count.get(error, 0) > 0
        users = self.users.get(error, ())
        handed_out = any(isinstance(user, Region) for user in users)  # and then often under the same name
        outlives = used and (handed_out or text is None or not all(self._within(u, text.regions[1]) for u in users))
        name = " as exception" if outlives else f" as {self.naming.of(error)}" if used else ""
        outer, self.lines = self.lines, []
        if outlives:
            self.line(f"{self.naming.of(error)} = exception")
        if flag:
            self.line(f"{flag} = False")
        for stack, mark in marks.items():
            self.line(f"del {stack}[{mark}:]")
        self.assign([(r, UNDEF) for r in results])
        self.lines += handler
        self.lines = [*outer, Block(f"except {shown}{name}:", self.lines or ["pass"])]
        if orelse and jumps:
            self.lines += orelse
        elif orelse:
            self.lines.append(Block("else:", orelse))

    def _within(self, user: Op | Region, region: Region) -> bool:
        return any(r is region for r in enclosing(user if isinstance(user, Region) else user.parent))

    def _pushed_before_raise(self, body: Region) -> list[Value]:
        """The stacks that something is put on before the last operation that may raise."""
        ops = list(body.ops)
        while ops and ops[-1].prim is PUSH:
            ops.pop()
        found: dict[Value, None] = {}
        funcs: set[Op] = set()

        def visit(op: Op) -> None:
            if op.prim is PUSH:
                found[op.args[0]] = None
            if op.prim is CALL and called(op) not in funcs:
                funcs.add(called(op))
                visit(called(op))
            for region in op.regions:
                for inner in region.ops:
                    visit(inner)

        for op in ops:
            visit(op)
        inside = {r for op in body.walk() for r in op.results}
        return [stack for stack in found if stack not in inside]

    def _mark_name(self, stack: Value) -> str:
        stem = name = f"{self.naming.of(stack)}_length"
        n = 1
        while self.naming.is_taken(name):
            n += 1
            name = f"{stem}{n}"
        return name

    def emit_loop(self, op: Op) -> None:
        body = op.regions[0]
        range_, inits = op.range, op.inits
        results, trips, code = op.carried, op.trips, op.exit_code
        count_trips = self.use_count.get(trips, 0) > 0
        keep_code = self.use_count.get(code, 0) > 0
        self.assign(list(zip(body.params[1:], inits)))
        self.comment(op)
        if count_trips:
            self.line(f"{self.naming.of(trips)} = 0")
        if keep_code:
            self.line(f"{self.naming.of(code)} = 0")
        index = body.params[0]
        if range_ is None:
            if self.use_count.get(index, 0):
                self.line(f"{self.naming.of(index)} = 0")
            head = "while True:"
        else:
            head = self._over_saved(op)
            if not head:
                name = self.naming.of(index) if self.use_count.get(index, 0) else "_"
                head = f"for {name} in {self.printer.range(range_)}:"
        outer, self.lines = self.lines, []

        def finish(region: Region, known: Any) -> bool:
            """The end of a path through the body, on which the exit code is `known`."""
            if type(known) is Value:
                self.assign(list(zip(body.params[1:], body.exit[1:])))
                if keep_code:
                    self.line(f"{self.naming.of(code)} = {self.printer.show(known)}")
                self.lines.append(Block(f"if {self.printer.show(known)}:", ["break"], self.printer.negated(known)))
                self._next_iteration(op, count_trips)
                return False
            if known == Exit.NORMAL:
                self.assign(list(zip(body.params[1:], body.exit[1:])))
                self._next_iteration(op, count_trips)
                return False
            self.assign(list(zip(body.params[1:], body.exit[1:])))
            if keep_code:
                self.line(f"{self.naming.of(code)} = {known}")
            self.line("break")
            return True

        self._emit_body(body, body.exit[0], finish)
        self.lines = [*outer, self._as_while(Block(head, self.lines or ["pass"]))]
        # The loop's results are its carried variables.
        self.assign(list(zip(results, body.params[1:])))

    def _over_saved(self, op: Op) -> str:
        """``for x in reversed(x_saved)``, where each iteration begins with the values that one iteration of the forward
        sweep saved, and nothing else saved any."""
        body = op.regions[0]
        if op.parent is not self.body or self.use_count.get(body.params[0], 0) or op.tag != DERIVED:
            return ""
        pops: list[Op] = []
        for inner in body.ops:
            if inner.prim is not POP:
                break
            pops.append(inner)
        if not 1 <= len(pops) <= 3:
            return ""
        makers = set()
        for pop in pops:
            stack = pop.args[0]
            pushes = [u for u in self.users.get(stack, ()) if isinstance(u, Op) and u.prim is PUSH]
            others = [u for u in self.users.get(stack, ()) if u is not pop and u not in pushes]
            if (
                others
                or len(pushes) != 1
                or pushes[0].parent is None
                or stack.op is None
                or stack.op.parent is not self.body
            ):
                return ""
            site = pushes[0].parent
            while site.op is not None and site.op.prim is IF:
                site = site.op.parent  # type: ignore[assignment]
            if site.op is None or site.op.prim is not LOOP or site.op.parent is not self.body:
                return ""
            makers.add(site.op)
        if len(makers) != 1:
            return ""
        self.taken.update(pops)
        stacks = [f"reversed({self.naming.of(pop.args[0])})" for pop in pops]
        names = ", ".join(
            self.naming.of(pop.results[0]) if self.use_count.get(pop.results[0], 0) else "_" for pop in pops
        )
        return f"for {names} in {stacks[0] if len(stacks) == 1 else 'zip(' + ', '.join(stacks) + ')'}:"

    def _next_iteration(self, op: Op, count_trips: bool) -> None:
        index = op.regions[0].params[0]
        if count_trips:
            self.line(f"{self.naming.of(op.trips)} += 1")
        if op.range is None and self.use_count.get(index, 0):
            self.line(f"{self.naming.of(index)} += 1")

    def _emit_body(self, region: Region, code: Any, finish: Callable[[Region, Any], bool]) -> bool:
        """The operations of a path through a loop's body, its last ``if`` included if that decides how it ends."""
        ops = region.ops
        last = ops[-1] if ops else None
        if type(code) is Value and last is not None and last.prim is IF and code.op is last:
            k = last.results.index(code)
            self.emit_ops(ops[:-1])
            saved = self.use_count.get(code, 0)
            self.use_count[code] = saved - 1
            self.emit_if_in_tail(last, k, finish)
            self.use_count[code] = saved
            return False
        self.emit_ops(ops)
        return finish(region, code)

    def emit_if_in_tail(self, op: Op, k: int, finish: Callable[[Region, Any], bool]) -> None:
        pending: dict[Region, Any] = {r: r.exit[k] for r in op.regions}

        def done(side: Region) -> bool:
            known = pending[side]
            return finish(side, known)

        # A branch may itself end in an ``if`` that decides.
        nested = [side for side in op.regions if _decides(side, side.exit[k])]
        if not nested:
            self.emit_if(op, done)
            return
        self.comment(op)
        texts: list[list[Line]] = []
        jumps = []
        for side in op.regions:
            outer, self.lines = self.lines, []
            if side in nested:
                inner = side.ops[-1]
                j = inner.results.index(side.exit[k])
                self.emit_ops(side.ops[:-1])

                def through(region: Region, known: Any, side: Region = side) -> bool:
                    self.assign([(r, side.exit[n]) for n, r in enumerate(op.results)])
                    return finish(region, known)

                saved = self.use_count.get(side.exit[k], 0)
                self.use_count[side.exit[k]] = saved - 1
                self.emit_if_in_tail(inner, j, through)
                self.use_count[side.exit[k]] = saved
                jumps.append(False)
            else:
                self.emit_ops(side.ops)
                self.assign([(r, side.exit[n]) for n, r in enumerate(op.results)])
                jumps.append(done(side))
            texts.append(self.lines)
            self.lines = outer
        self._branches(op, texts, jumps)

    def _as_while(self, loop: Block) -> Block:
        """``while True: if not c: break`` reads ``while c``."""
        first = loop.body[0]
        if loop.header == "while True:" and isinstance(first, Block) and first.otherwise and first.body == ["break"]:
            return Block(f"while {first.otherwise}:", loop.body[1:] or ["pass"])
        return loop


_C_ORDER = frozenset(
    ["np.zeros", "np.ones", "np.empty", "np.full", "np.arange", "np.linspace", "np.eye", "np.identity"]
)


def _copying_step(op: Op) -> int | None:
    """The first step of the path that reshapes what may be laid out so that this makes a copy."""
    base, path = op.args[:2]
    if all(step[0] != "reshape" for step in path):
        return None
    builder = Builder(Region())
    t = type_of(base)
    while base.op is not None and base.op.prim in (SET, ADDAT, ACCUM):
        base = base.op.args[0]
    in_order = base.op is not None and (base.op.prim is opset.COPY or _makes_c_order(base.op))
    for k, step in enumerate(path):
        if step[0] == "reshape" and not in_order and (t.ndim is None or t.ndim > 1):
            return k
        t = opset.infer_step(builder, t, step)[0]
        leading = step[0] == "index" and all(
            isinstance(i, int) or (type(i) is Value and i.type.is_scalar) for i in step[1]
        )
        in_order = in_order and (leading or step[0] == "reshape")
    return None


def _makes_c_order(op: Op) -> bool:
    """Not with ``order="F"``, and not ``linspace`` with an axis."""
    others = [x for x in (*op.args, *op.kwargs.values()) if isinstance(x, str) and x != "C"]
    return op.prim.name in _C_ORDER and not others and "axis" not in op.kwargs


def _decides(region: Region, code: Any) -> bool:
    last = region.ops[-1] if region.ops else None
    return type(code) is Value and last is not None and last.prim is IF and code.op is last


def bare(text: str) -> str:
    """A tuple without its parentheses."""
    return (
        text[1:-1]
        if text[:1] == "(" and text[-1:] == ")" and _balanced(text[1:-1]) and text[-2] != "," and "," in text
        else text
    )


def _balanced(text: str) -> bool:
    depth = 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if depth < 0:
            return False
    return depth == 0
