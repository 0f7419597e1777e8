"""Print the SSA form as Python and NumPy, the way one would write it by hand.

Takes a function in which every store may be done in place, and the facts about shared memory (`analysis.sharing`).
Gives the text of a module. `nesting` decides which expressions stand inside of others, and `names` names the values.
`expressions` prints expressions, `array_stores` and `list_stores` print stores, `control` prints compound statements.
This module prints other statements, the functions, and the comments.

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
  %x_tail_bar: float64[d1-1] = * %v3, 2.0
  %x_bar2: float64[d1] = set %x_bar, (('index', (1:,)),), %x_tail_bar
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

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..ir import opset
from ..ir.core import DERIVED, FUNC, IF, LOOP, TRY, UNDEF, Function, Loc, Op, Region, Value, leaves
from ..ir.definedness import maybe_undefined, where_left
from ..ir.opset import ACCUM, ADDAT, PUSH, SET, STACK_NEW, STORES
from ..ir.rewrite import enclosing, free_values
from ..ir.spelling import identifier
from ..ir.types import duck_in
from . import control, layout
from .array_stores import emit_array_store
from .expressions import AUGMENTED, Printer
from .layout import LONG, Assignment, Block, Line
from .list_stores import changed_list
from .load import Emitted
from .names import Naming, is_derived
from .neighbours import on_one_line
from .nesting import Nesting, is_index, is_sum, where_completed
from .notes import Note, Statement
from .wrapping import WIDTH, wrapped

NAMED = 6  # characters of a statement that binds a short name, but for its value

# Operations of the backward sweep that prepare others, and get no comment of their own.
PREPARING = frozenset({opset.ZEROS, STACK_NEW, opset.SPREAD, opset.FULL_LIKE, opset.COPY, opset.TOLIST, opset.REPEATED})
EMPTY = frozenset(["np.empty", "np.empty_like"])  # so do these
# Operations that read parts.
READING = frozenset({opset.GET, opset.LIST_GET, opset.TABLE_GET, opset.LIST_ITEM, opset.ITEM, opset.DIM})
# Operations that read a value whether or not it is defined: a branch's cotangent has the shape of each of its results.
READING_ANY = frozenset({PUSH, opset.COPY, opset.SNAPSHOT, opset.ZEROS, opset.SUM_TO, opset.LIST_NEW})


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

    statement_at: the user's statement at a location, for comments
    result:       formats the returned expressions; by default with commas between them
    split:        the number of leading results of a forward sweep; what follows becomes a nested ``pullback``,
                  or what ``fn.meta["inner"]`` calls it
    reserved:     names that are not given to variables
    quick:        with the callees that are fastest on small arrays, ``x.dot(y)`` for ``x @ y``
    """
    inner = {fn.meta.get("inner", "pullback")}
    emitter = Emitter(fn, analysis, statement_at, (reserved or set()) | inner, split)
    emitter.printer.quick = quick
    return emitter.run(name, result or ", ".join)


class Emitter:
    """Prints the operations of one function.

    lines:     the block that is being printed
    above:     functions in front of the one that is printed
    taken:     operations that are printed as part of a loop's head
    tried:     from an ``if`` that is printed as a handler to its ``try``
    use_count: how many operations and regions read a value
    maybe:     values that are undefined on some path
    optional:  those of them that are read nevertheless, so that their name must exist
    """

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
        self.statement_at = statement_at
        self.lines: list[Line] = []
        self.above: list[Line] = []
        self.split = split
        self.taken: set[Op] = set()
        self.tried: dict[Op, Op] = {}
        nesting = Nesting(self.body, analysis, split)
        self.inlined, self.users, self.use_count = nesting.inlined, nesting.users, nesting.use_count
        self.raising = nesting.raising
        inner = {op for op in self.body.ops if op.tag == DERIVED} if split is not None else None
        self.naming = Naming(self.body, self.inlined, reserved, inner)
        maybe = maybe_undefined(self.body)
        self.printer = Printer(self.naming, self.inlined, maybe)
        self.unprinted: set[str] = set()  # what conditions and ranges read that are not printed
        self.ducks = any(duck_in(p.type) is not None for p in fn.params)
        self.notes: list[Note] = []
        self.commented: Statement | None = None  # the statement that the last note names
        self.reads: tuple[list[Line], int] | None = None  # where reads begin that no note stands in front of
        self.maybe = maybe
        # By region, and from its end: the most axes of an array that an operation, or one behind it, makes.
        self.axes_from: dict[Region, list[float]] = {}
        self.optional: set[Value] = set()
        while found := {v for v in maybe - self.optional if self._must_exist(v)}:
            self.optional |= found

    def _must_exist(self, v: Value) -> bool:
        """A statement reads the variable, whether or not it has a value."""
        for user in self.users.get(v, ()):
            place = user if isinstance(user, Region) else user.parent
            if self._reads_any(user, v) and not where_completed(user, v) and not where_left(place, v, self.maybe):
                return True
        return any(self._takes_over(v, r) for r in self._results_of(v))

    def _results_of(self, v: Value) -> list[Value]:
        """The result of the loop by which a carried value goes on."""
        owner = v.region.op if v.op is None and v.region is not None else None
        if owner is None or owner.prim is not LOOP or v is v.region.params[0]:  # type: ignore[union-attr]
            return []
        return [owner.results[v.region.params.index(v) - 1]]  # type: ignore[union-attr]

    def _reads_any(self, user: Op | Region, v: Value) -> bool:
        if isinstance(user, Region):
            owner, yielded = user.op, user.exit
        elif user.prim is LOOP and v not in leaves(user.range):
            owner, yielded = user, (0, *user.inits)
        else:
            return bool(user.regions) or user.prim in READING_ANY
        if owner is None or owner.prim not in (IF, LOOP):
            return True
        targets = owner.results if owner.prim is IF else owner.regions[0].params
        return any(self._takes_over(v, target) for target, x in zip(targets, yielded) if x is v)

    def _takes_over(self, v: Value, target: Value) -> bool:
        """The variable of `v` is read to give its value to another, or it is that of a value that must exist."""
        return target in self.optional if self.naming.same(target, v) else self.needed(target)

    def used(self, v: Value) -> bool:
        """Something reads the value."""
        return self.use_count.get(v, 0) > 0

    # --- functions ------------------------------------------------------------------------------------------------

    def run(self, name: str, result: Callable[[list[str]], str]) -> Emitted:
        """The module."""
        own = self.body.params
        if self.split is not None:
            own = own[: len(own) - self.fn.meta["seed_params"]]
        args = [self.naming.of(p) for p in own]
        exits = list(self.body.exit)
        if self.split is None:
            self.emit_ops(self.body.ops)
            self.emit_return(exits, result, 1)
        else:
            self._emit_split(exits, self.split, result)
        if self.unprinted:
            layout.drop_unread(self.lines, self.unprinted)
        self.lines = on_one_line(self.lines, 1)
        layout.outline(self.lines, set(args), self.unused)
        code: list[str] = []
        above = [line for block in on_one_line(self.above) for line in (block, "", "")]
        layout.flat([*above, Block("def", f"{name}({', '.join(args)})", self.lines)], 0, code)
        lines = self._imports(code)
        notes = [note for note in self.notes if note.at >= 0]
        for note in notes:
            note.at += len(lines)
        lines += code
        return Emitted(lines, name, dict(self.printer.objects), notes)

    def _imports(self, code: list[str]) -> list[str]:
        """The lines in front of the function."""
        imports = self.printer.imports
        imports.setdefault("autodiff_compiler.runtime", set()).update(self.printer.helpers)
        lines = ["import math"] if self.printer.imports_math else []
        lines += ["import numpy as np"] if any("np." in line for line in code) else []
        for module in sorted(imports, key=lambda name: (name.startswith("autodiff_compiler"), name)):
            if imports[module]:
                lines += wrapped(f"from {module} import {', '.join(sorted(imports[module]))}", 0)
        return [*lines, "", ""] if lines else []

    def _emit_split(self, exits: list[Any], split: int, result: Callable[[list[str]], str]) -> None:
        forward = [op for op in self.body.ops if op.tag != DERIVED]
        backward = [op for op in self.body.ops if op.tag == DERIVED]
        self.emit_ops(forward)
        outs = [self.printer.show(x) for x in exits[:split]]
        seeds = [self.naming.of(p) for p in self.body.params[len(self.body.params) - self.fn.meta["seed_params"] :]]
        read = self.naming.read_inside()
        stacks = [op.results[0] for op in forward if op.prim is STACK_NEW and op.results[0] in read]
        saved = [self.naming.of(s) for s in stacks]
        self.lines.append("")
        with self.block() as inner:
            for s in saved:  # the pullback may be called again: it takes from copies of the stacks
                self.store([s], f"list({s})")
            self.emit_ops(backward)
            self.emit_return(exits[split:], result, 2)
        params = ", ".join([*seeds, *[f"{s}={s}" for s in saved]])
        name = self.fn.meta.get("inner", "pullback")
        self.lines.append(Block("def", f"{name}({params})", inner, binds=[name], params=[*seeds, *saved]))
        self.lines.append("")
        self.line(f"return {outs[0] if len(outs) == 1 else '(' + ', '.join(outs) + ')'}, {name}")

    def emit_return(self, exits: list[Any], result: Callable[[list[str]], str], depth: int) -> None:
        """The last statement. If it is too long for a line, the longest of the results have statements of their own."""
        plain = list(map(self.printer.show, exits))
        best: tuple[list[Assignment], str] = [], result(plain)
        count = len(wrapped(f"return {best[1]}", 4 * depth))
        long = [k for k, v in enumerate(exits) if type(v) is Value and v.op in self.inlined]
        long.sort(key=lambda k: (not exits[k].hint, -len(plain[k])))  # those with names first
        for n in range(1, min(len(long), count - 1, 8) + 1):
            lines, texts = self._with_statements(exits, plain, sorted(long[:n]), depth == 2)
            shown = [line.text for line in on_one_line([*lines], depth)]  # type: ignore[union-attr]
            total = sum(len(wrapped(text, 4 * depth)) for text in [*shown, f"return {result(texts)}"])
            if total < count and self._in_order(exits, long[:n]):
                best, count = (lines, result(texts)), total
        at_once = layout.arrays_at_once(result(plain))
        if count > 1 and at_once is not None and len(wrapped(f"return {at_once}", 4 * depth)) <= count:
            best = [], at_once
        last = self.lines[-1] if self.lines else None
        made = exits[0].op if len(exits) == 1 and type(exits[0]) is Value else None
        of_last = isinstance(last, Assignment) and last.sign == "=" and last.names == [best[1]] and not best[0]
        if of_last and made is not None:
            assert isinstance(last, Assignment)
            if made.tag == DERIVED and len(f"return {last.value}") + 4 * depth <= WIDTH:
                self.lines.pop()
                best = [], last.value
        self.lines += best[0]
        self.naming.fixed |= {name for line in best[0] for name in line.names}
        self.line(f"return {best[1]}")

    def _with_statements(
        self, exits: list[Any], texts: list[str], chosen: list[int], nested: bool
    ) -> tuple[list[Assignment], list[str]]:
        """Statements for some of the results, and all results with their variables."""
        lines: list[Assignment] = []
        texts = list(texts)
        for k in chosen:
            op, hint, n = exits[k].op, exits[k].hint, 1
            name = stem = identifier(hint or ("t" if op.tag == DERIVED else "value"), "t")
            others = {word for j, text in enumerate(texts) if j != k for word in layout.WORD.findall(text)}
            while name in others or (
                self.naming.is_taken(name) and not (hint and self.naming.is_variable(name, nested))
            ):
                n += 1
                name = f"{stem}{n}"
            lines.append(self.bound(name, op))
            texts[k] = name
        return lines, texts

    def bound(self, name: str, op: Op) -> Assignment:
        """The statement that binds a variable to the result: ``x += y`` if it is the first operand."""
        # A number may be a duck array without axes, which other names may have, too.
        scalar = op.prim in AUGMENTED and op.result.type.is_scalar and not self.ducks
        if not scalar or self.printer.show(op.args[0]) != name:
            return Assignment([name], "=", self.printer.expression(op)[0])
        sign, text = op.prim.name, self.printer.show(op.args[1])
        if sign in "+-" and op.result.type.is_float:
            sign, text, _ = self.printer.signed(sign, op.args[1])
        return Assignment([name], f"{sign}=", text)

    def _in_order(self, exits: list[Any], first: list[int]) -> bool:
        """None of the results that are computed after these may raise an exception of the function's own."""
        later = [v for k, v in enumerate(exits[: max(first)]) if k not in first and type(v) is Value]
        return self.raising.isdisjoint([v.op for v in later])

    def emit_local_function(self, op: Op) -> None:
        """A function that is called several times: above, or as a nested one if it reads what is around it."""
        (body,) = op.regions
        self.commented = None
        with self.block() as lines:
            self.emit_ops(body.ops)
            self.line(f"return {', '.join(self.printer.show(x) for x in body.exit)}".rstrip())
        name, params = self.naming.of(op.result), [self.naming.of(p) for p in body.params]
        block = Block("def", f"{name}({', '.join(params)})", lines, binds=[name], params=params)
        reads_nothing = all(v is op.result for v in free_values(body))
        (self.above if reads_nothing else self.lines).append(block)
        self.commented = None

    # --- lines ----------------------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        """Print a statement that binds no variable."""
        self.lines.append(text)

    def store(self, names: list[str], value: str, sign: str = "=") -> None:
        """Print a statement that binds variables."""
        self.lines.append(Assignment(names, sign, value))

    @contextmanager
    def block(self) -> Iterator[list[Line]]:
        """What is printed in this context goes to a list of its own."""
        outer, self.lines = self.lines, []
        try:
            yield self.lines
        finally:
            self.lines = outer

    def unused(self, stem: str) -> str:
        """A name that stands for nothing yet, which it takes."""
        name, n = stem, 1
        while self.naming.is_taken(name):
            n += 1
            name = f"{stem}{n}"
        self.naming.fixed |= {name}
        return name

    def comment(self, op: Op) -> None:
        """Name the user's statement that the operation comes from, unless the last comment did."""
        if op.loc is None or self.statement_at is None or op.tag != DERIVED:
            self.reads = None
            return
        if op.prim in PREPARING or op.prim.name in EMPTY:
            return
        if op.again or self.is_read(op):
            self.commented = None  # what is repeated is no adjoint
            if self.reads is None or self.reads[0] is not self.lines:
                self.reads = self.lines, len(self.lines)
            return
        reads, self.reads = self.reads, None
        statement = self.statement_at(op.loc)
        if statement == self.commented:
            return
        self.notes.append(Note(statement))
        # What is read in front of the statement is read for it.
        at = reads[1] if reads is not None and reads[0] is self.lines else len(self.lines)
        self.lines.insert(at, self.notes[-1])
        self.commented = statement

    def is_read(self, op: Op) -> bool:
        """The operation reads a part of what the function itself has made, or computes an index."""
        if op.prim in READING:
            return type(op.args[0]) is Value and not is_derived(op.args[0])
        return is_index(op)

    # --- statements -----------------------------------------------------------------------------------------------

    def emit_ops(self, ops: list[Op]) -> None:
        """Print the operations of a region, except those that are printed as parts of others."""
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
            self.store([self.naming.of(op.result)], f"{self.printer.show(op.args[0])}.pop({at})")
            self.rename(drop)

    def popping(self, get: Op, following: list[Op]) -> Op | None:
        """The operation that takes out the item that this one reads, if nothing that lies between looks at the list."""
        items, index = get.args
        if not self.used(get.result):
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

    def emit_op(self, op: Op) -> None:
        printing = COMPOUND.get(op.prim)
        if printing is not None:
            printing(self, op)
            return
        self.comment(op)
        at = len(self.lines)
        self.emit_statement(op)
        while layout.is_too_long(self.lines[at:], depth_of(op)) and (part := self.part_of(op)) is not None:
            del self.lines[at:]
            del self.inlined[part]
            if self._begins_with(op, part):  # ``x = a + b`` and ``x += c``
                self.naming.share(part.result, op.result)
            else:
                self.naming.name_late(part.result, op)
            self.lines.append(self.bound(self.naming.of(part.result), part))
            at = len(self.lines)
            self.emit_statement(op)
        last = self.lines[-1] if len(self.lines) == at + 1 else None
        if isinstance(last, Assignment) and (items := layout.halves(last, depth_of(op))) is not None:
            name = self.unused("items")
            self.lines[at:] = [
                Assignment([name], "=", items[0]),
                Assignment(last.names, "=", f"np.array([*{name}, {items[1]}])"),
            ]

    def _begins_with(self, op: Op, part: Op) -> bool:
        """The operation adds a number to what another one computes, and does not read the variable that it binds."""
        if op.prim not in (opset.ADD, opset.SUB) or op.args[0] is not part.result or not op.result.type.is_scalar:
            return False
        return self.used(op.result) and self.naming.of(op.result) not in self.printer.names_in(op.args[1:])

    def part_of(self, op: Op) -> Op | None:
        """What is nested in a statement that is too long for a line, and is better computed in front of it."""
        room = WIDTH - 4 * depth_of(op)
        total = max(
            [len(line.text) for line in self.lines if isinstance(line, Assignment | layout.Store)][-1:], default=0
        )
        found: list[tuple[bool, int, Op]] = []
        todo = [v.op for v in op.operands()]
        while todo:
            part = todo.pop()
            if part is None or part not in self.inlined:
                continue
            todo += [v.op for v in part.operands()]
            length = len(self.printer.expression(part)[0])
            if (
                part not in self.raising
                and part.prim not in STORES
                and length + NAMED <= room >= total - length + NAMED
            ):
                found.append((self._begins_with(op, part), length, part))
        return max(found, key=lambda candidate: candidate[:2])[2] if found else None

    def emit_statement(self, op: Op) -> None:
        show = self.printer.show
        if op.prim in STORES and not is_sum(op, self.inlined):
            self.emit_store(op)
        elif op.prim is PUSH:
            self.line(f"{show(op.args[0])}.append({show(op.args[1])})")
        elif op.prim is opset.ASSERT:
            message = "" if op.args[1:] in ((), (None,)) else f", {show(op.args[1])}"
            self.line(f"assert {show(op.args[0])}{message}")
        elif op.prim is opset.RAISE:
            self.line("raise " + " from ".join(map(show, op.args)))
        elif not any(map(self.used, op.results)):
            self.line(self.printer.expression(op)[0])
        else:
            names = [self.naming.of(r) if self.used(r) else "_" for r in op.results]
            if len(names) == 1:
                self.lines.append(self.bound(names[0], op))
            else:
                self.store(names, self.printer.expression(op)[0])

    def emit_store(self, op: Op) -> None:
        """A store into an array or list, in place."""
        if op.prim in (SET, ADDAT) or (op.prim is ACCUM and op.args[0].type.kind != "list"):
            emit_array_store(self, op)
        else:
            self.lines.append(changed_list(self.printer, op))
        self.rename(op)

    def rename(self, op: Op) -> None:
        """Give the version that a store made its own name, if it has one."""
        result, base = op.results[0], op.args[0]
        if not self.naming.same(result, base) and self.used(result):
            self.store([self.naming.of(result)], self.printer.show(base))

    def assign(self, pairs: list[tuple[Value, Any]]) -> None:
        """``a, b = x, y`` for those that need it; the right sides are all read first."""
        left, right, sources = [], [], []
        for target, source in pairs:
            if source is UNDEF:
                if target not in self.optional:
                    continue
                source = None
            if self.naming.same(target, source) or not self.needed(target):
                continue
            name, text = self.naming.of(target), self.printer.show(source)
            if name != text:  # two values may have one name, the first of which is not read any more
                left.append(name)
                right.append(text)
                sources.append(source)
        if len(left) == 1 and type(sources[0]) is Value and sources[0].op in self.inlined:
            self.lines.append(self.bound(left[0], sources[0].op))
        elif len(left) > 1 and sum(map(len, [*left, *right])) + 2 * len(left) > LONG:
            self.lines += layout.one_by_one(left, right, LONG)
        elif left:
            self.store(left, ", ".join(right))

    def needed(self, target: Value) -> bool:
        """The variable is read somewhere: for a carried one, in the loop or after it."""
        if self.used(target):
            return True
        owner = target.region.op if target.op is None and target.region is not None else None
        if owner is None or owner.prim is not LOOP:
            return False
        return self.used(owner.results[owner.regions[0].params.index(target) - 1])


def depth_of(op: Op) -> int:
    """How deeply the statement is indented."""
    return len(list(enclosing(op.parent)))


COMPOUND: dict[Any, Callable[[Emitter, Op], None]] = {
    IF: control.emit_if,
    LOOP: control.emit_loop,
    TRY: control.emit_try,
    FUNC: Emitter.emit_local_function,
}


__all__ = ["Emitted", "emit_function"]
