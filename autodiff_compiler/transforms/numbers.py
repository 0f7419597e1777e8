"""Python's numbers where a loop reads and computes numbers one by one: NumPy's take two to three times as long.

Takes a function whose loops read elements of arrays. Gives the same function, in which such an array is a list while
the loop runs (`TOLIST`), and what is computed from its elements are Python's numbers. They are NumPy's again where
somebody could tell: where they are returned, or given to an operation that is not listed here.

The numbers are the same, bit by bit, and so is what Python's numbers would do otherwise: a division by zero, which
Python's numbers refuse, is left to NumPy (`DIVIDED`), and so is a power that may be too large (`RAISED`). What is lost
is NumPy's warning of a sum or a product that overflows or is invalid.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(k, x):
...     s = 0.0
...     for i in range(len(x)):
...         s = k * s + x[i] / x[i - 1]
...     return 2.0 * s
>>> show_source(f, 0.5, np.ones(3))
def f_grad(k, x):
    n = x.shape[0]
    x_list = x.tolist()
    s_saved = []
    s = 0.0
    for i in range(n):
        s_saved.append(s)
        x_prev = x_list[i - 1]
        s = k * s + x_list[i] / (x_prev or np.float64(x_prev))
    s_bar, k_bar = 2.0, 0.0
    # adjoint of line 3: for i in range(len(x)):
    for s in reversed(s_saved):
        # adjoint of line 4: s = k * s + x[i] / x[i - 1]
        k_bar += s_bar * s
        s_bar *= k
    return k_bar
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..ir import opset
from ..ir.core import DERIVED, FUNC, IF, LOOP, TRY, Function, Op, Prim, Region, Value, leaves, type_of
from ..ir.definedness import ends, maybe_undefined
from ..ir.opset import ADDAT, DIVIDED, GET, ITEM, LIST_GET, NUMPYS, POP, PRIMS, PUSH, RAISED, SET
from ..ir.rewrite import region_of, stands_before, substitute_in
from ..ir.types import PY_BOOL, PY_FLOAT, Ty, generic, py_int
from ..operations.choices import OVER, PRODUCT, QUOTIENT, RATIO
from ..operations.signs import not_negative, positive
from .listing import COMPARISONS, FLOAT64, NUMBER, Lists, insert, is_double, picked

NUMPYS_NUMBER = generic(FLOAT64)

FEW = 8  # trips: a loop with fewer does not pay for lists
_PYTHONS = (operator.add, operator.sub, operator.mul, operator.neg, operator.pos, abs)
ARITHMETIC = frozenset([PRIMS[f] for f in _PYTHONS]) | {QUOTIENT, RATIO, OVER, PRODUCT}
POW = PRIMS[operator.pow]
SUMS = (opset.ADD, opset.SUB)
LOGARITHMS = frozenset([PRIMS[f] for f in (math.log, math.log2, math.log10)])
DECIDING = frozenset({IF, opset.NOT, opset.TRUTH})
_MIXING = frozenset(map(np.dtype, ["f8", "c16", "i8", "i4", "i2", "i1", "u4", "u2", "u1", "?"]))


def numbers(fn: Function, before_change: Any = None) -> bool:
    """Make Python's numbers of those that loops compute; `before_change` is called if something is to be changed."""
    loops = list(_outermost(fn.body))
    if not loops or any(op.prim in (TRY, FUNC) for op in fn.body.walk()):
        return False
    plan = Plan(fn, loops)
    if not plan.worth():
        return False
    if before_change is not None:
        before_change()
        plan = Plan(fn, loops)
    plan.carry_out()
    return True


def _outermost(region: Region) -> Iterator[Op]:
    for op in region.ops:
        if op.prim is LOOP:
            yield op
        elif op.prim is IF:
            for inner in op.regions:
                yield from _outermost(inner)


def _numpys(t: Ty) -> bool:
    """Surely a number of NumPy's."""
    return t.kind in ("generic", "array")


def _is_nonzero(x: Any) -> bool:
    return type(x) in (int, float) and x != 0


class Divisors:
    """Which numbers are not zero where they divide.

    A number may be positive by what computes it, or the function may have raised an error if it had been zero: it has
    divided by it, or taken its logarithm. The backward sweep runs only where the function has not raised.

    raising: the operations that raise if a number is zero, and that number, by what computes it
    """

    def __init__(
        self, ops: Iterable[Op], stacks: dict[Value, tuple[list[Op], list[Op]]], uses: dict[Value, list[Op | Region]]
    ) -> None:
        self.stacks, self.uses = stacks, uses
        self.raising: dict[Prim | None, list[tuple[Op, Value]]] = {}
        for op in ops:
            divides = op.prim is opset.DIV and all(type_of(x).kind == "py" for x in op.args)
            if divides or op.prim in LOGARITHMS:
                nonzero = [op.args[1] if divides else op.args[0]]
                for d in nonzero:
                    if type(d) is Value:
                        self.raising.setdefault(_made_by(d), []).append((op, d))
                        nonzero += d.op.args if d.op is not None and d.op.prim is opset.MUL else ()

    def never_zero(self, d: Any, at: Op) -> bool:
        """`d` is not zero where `at` runs."""
        if type(d) is not Value:
            return _is_nonzero(d)
        if self._positive(d):
            return True
        pushed = self._pushed(d)
        source = d if pushed is None else pushed.args[1]
        for op, known in self.raising.get(_made_by(source), ()):
            if at.tag != DERIVED and not self._are_in_order(op, at):
                continue  # the code that is printed may raise in another order
            pops: list[Op] = []
            if self._is_one(d, known, pops):
                pushes = [self.stacks[pop.args[0]][0][0] for pop in pops]
                if not pops and stands_before(op, at):
                    return True
                if pops and len({pop.parent for pop in pops}) == len({push.parent for push in pushes}) == 1:
                    # Pushed and popped in one region each, so all belong to one iteration.
                    if op.parent is pushes[0].parent or stands_before(op, pushes[0]):
                        return True
        return False

    def _are_in_order(self, first: Op, second: Op) -> bool:
        """Both are computed for one operation only, where `first` stands on the left: it is printed in front."""
        users = self.uses.get(first.result, [])
        user = users[0] if len(users) == 1 and users == self.uses.get(second.result) else None
        return isinstance(user, Op) and user.prim in SUMS and user.args == (first.result, second.result)

    def _pushed(self, v: Any) -> Op | None:
        """The push that a popped number comes from, if there is one only."""
        op = v.op if type(v) is Value else None
        if op is None or op.prim is not POP:
            return None
        pushes, pops = self.stacks[op.args[0]]
        return pushes[0] if len(pushes) == len(pops) == 1 else None

    def _is_one(self, x: Any, known: Any, pops: list[Op], depth: int = 4) -> bool:
        """`x` is the number `known` of the forward sweep: itself, saved, or computed again.

        pops: gets the operations that restore what was saved
        """
        if type(x) is not Value or type(known) is not Value:
            return type(x) is type(known) and type(x) in (int, float) and bool(x == known)
        push = self._pushed(x)
        if push is not None:
            assert x.op is not None
            pops.append(x.op)
            return self._is_one(push.args[1], known, pops, depth)
        if x is known:
            return True
        if x.op is None or known.op is None or x.op.prim is not known.op.prim or not depth:
            return False
        if x.op.prim not in ARITHMETIC or len(x.op.args) != len(known.op.args):
            return False
        return all(self._is_one(a, b, pops, depth - 1) for a, b in zip(x.op.args, known.op.args))

    def _positive(self, x: Any, depth: int = 3) -> bool:
        push = self._pushed(x)
        if push is not None:
            return self._positive(push.args[1], depth)
        if type(x) is Value and x.op is not None and x.op.prim is opset.ADD and depth:
            a, b = x.op.args
            sides = ((a, b), (b, a))
            if any(self._positive(p, depth - 1) and self._not_negative(q) for p, q in sides):
                return True
        return positive(x)

    def _not_negative(self, x: Any) -> bool:
        push = self._pushed(x)
        return not_negative(x if push is None else push.args[1])


def _made_by(x: Any) -> Prim | None:
    return x.op.prim if type(x) is Value and x.op is not None else None


def _is_length(x: Any) -> bool:
    """An int of Python's, by which the function itself has divided."""
    t = type_of(x)
    return t.kind == "py" and t.dtype is not None and t.dtype.kind == "i"


def _is_numpys_zero(x: Any) -> bool:
    """A number that is NumPy's if it is zero: NumPy divides by it."""
    op = x.op if type(x) is Value else None
    if op is None or op.prim is not NUMPYS:
        return op is not None and op.prim.fn is np.float64
    loop = op.args[0].op
    return loop is not None and loop.prim is LOOP and _is_nonzero(loop.inits[loop.results.index(op.args[0])])


def _is_small_power(x: Any) -> bool:
    return type(x) is int and 1 < x <= 8


def _is_left_as_it_was(loop: Op, k: int) -> bool:
    """Each iteration that goes on yields a number of NumPy's; one that leaves the loop does not change it."""
    body = loop.regions[0]
    return all(
        type(code) is int and (x is body.params[k + 1] if code else type_of(x).kind == "generic")
        for code, x in ends(body, body.exit[k + 1])
    )


class Plan(Lists):
    """Which numbers become Python's.

    changed:  the numbers that were NumPy's, and now are Python's
    floats:   numbers of NumPy's that are made before all loops, and are read as Python's in them
    pinned:   numbers that have to stay what they are
    at_exit:  results of loops that are made NumPy's behind the loop, if it ran at all; True: if it completed an
              iteration
    exact:    of an operation (or the region whose exit names it), what it has to get as it was
    """

    def __init__(self, fn: Function, loops: list[Op]):
        super().__init__(fn, loops)
        self.maybe = maybe_undefined(fn.body)  # to convert them would be to read them
        self.stacks: dict[Value, tuple[list[Op], list[Op]]] = {}
        for op in self.ops:
            if op.prim in (PUSH, POP):
                self.stacks.setdefault(op.args[0], ([], []))[op.prim is POP].append(op)
        self.read_in: set[Region] = set()  # the bodies of loops that read elements, or are inside of such
        # Numbers of NumPy's that are made before all loops, and what computes with them in a loop.
        self.outer = [
            (op, x) for op in self.ops if op.prim in ARITHMETIC and op.parent in self.root
            for x in op.operands() if x.type.kind == "generic" and region_of(x) is fn.body and is_double(x)
            and x not in self.maybe and all(type_of(a).is_scalar for a in op.args)
        ]  # fmt: skip
        reading = {self.root[op.parent] for op in (*self.reads, *self.accesses, *self.items) if op.parent in self.root}
        self.rejected.update(set(loops) - reading - {self.root[op.parent] for op, _ in self.outer if op.parent})
        while self.worth():
            self.read_in = {r for r, loop in self.root.items() if loop in reading and loop not in self.rejected}
            self._settle()
            losing = [loop for loop in loops if loop not in self.rejected and not self._gains(loop)]
            if not losing:
                break
            self.rejected.update(losing)

    def worth(self) -> bool:
        return len(self.rejected) < len(self.loops)

    def _settle(self) -> None:
        """Find which numbers become Python's: as many as may."""
        self.pinned: set[Value] = set()
        self.at_exit: dict[Value, bool] = {}
        while True:
            self._spread()
            before = len(self.pinned) + len(self.at_exit)
            self.exact: dict[Op | Region, set[Value]] = {}
            for op in self.ops:
                self._check(op)
            for v in leaves(self.fn.body.exit):
                if v in self.changed and not (v.type.kind == "scalar" and v.op is not None and v.op.tag == DERIVED):
                    self._need(self.fn.body, v)
            if len(self.pinned) + len(self.at_exit) == before:
                return

    def _is_changed(self, x: Any, op: Op) -> bool:
        return type(x) is Value and (x in self.changed or (x in self.floats and self.in_loop(op)))

    def _spread(self) -> None:
        """The numbers that become Python's, by way of all that computes or carries them, but for the pinned ones."""
        self.changed: set[Value] = set()
        self.floats = {x for op, x in self.outer if self.in_loop(op)}
        self.todo = [op for op, _ in self.outer]
        for op in (*self.reads, *self.accesses, *self.items):
            if op.prim is GET and self.in_loop(op) and op.result not in self.pinned:
                self._change(op.result)
        self.todo += [r.op for r in self.read_in if r.op is not None and r.op.prim is LOOP]
        while self.todo:
            self._spread_over(self.todo.pop())

    def _change(self, v: Value) -> None:
        if v in self.changed:
            return
        self.changed.add(v)
        for user in self.uses.get(v, ()):
            op = user.op if isinstance(user, Region) else user
            if op is not None:
                self.todo.append(op)
                if op.prim is PUSH:
                    self.todo += self.stacks[op.args[0]][1]

    def _spread_over(self, op: Op) -> None:
        changed = self.changed
        if op.prim is LOOP:
            body = op.regions[0]
            for init, param, last, result in zip(op.inits, body.params[1:], body.exit[1:], op.results):
                if param in self.pinned or not is_double(param) or not is_double(result):
                    continue
                moved = any(type(x) is Value and x in changed for x in (init, last))
                if type(init) is Value and init.type.kind in ("generic", "scalar") and body in self.read_in:
                    moved = True
                if moved:
                    self._change(param)
                if param in changed and result not in self.at_exit:
                    self._change(result)
        elif op.prim is IF:
            for k, result in enumerate(op.results):
                if result not in self.pinned and is_double(result):
                    if any(type(r.exit[k]) is Value and r.exit[k] in changed for r in op.regions):
                        self._change(result)
        elif op.prim is POP:
            pushes = self.stacks[op.args[0]][0]
            if op.result not in self.pinned and is_double(op.result):
                if any(self._is_changed(push.args[1], push) for push in pushes):
                    self._change(op.result)
        elif op.results and op.result not in self.pinned and self._stays_python(op):
            self._change(op.result)

    def _stays_python(self, op: Op) -> bool:
        """The operation, on operands of which some are Python's now, gives a number of Python's."""
        if not any(self._is_changed(x, op) for x in op.args) or op.kwargs:
            return False
        if not all(type_of(x).is_scalar and (self._is_changed(x, op) or not _numpys(type_of(x))) for x in op.args):
            return False
        if not all((d := type_of(x).dtype) is not None and d.kind in "iuf" and d in _MIXING for x in op.args):
            return False
        if op.prim in COMPARISONS:
            return self._only_decides(op.result)
        if not is_double(op.result):
            return False
        if op.prim in ARITHMETIC or op.prim.fn in (max, min):
            return True
        if op.prim is POW and not _is_small_power(op.args[1]):
            return False
        if op.prim in (opset.DIV, POW):
            # Of numbers that may have been Python's, the rules of derivatives divide where nothing is zero.
            certain = any(_numpys(type_of(x)) for x in op.args) or op.tag == DERIVED
            return certain or (op.prim is opset.DIV and _is_nonzero(op.args[1]))
        return False

    def _only_decides(self, v: Value) -> bool:
        """A truth value is read by branches only, also after it was saved."""
        for user in self.uses.get(v, ()):
            if isinstance(user, Region) or user.prim not in (PUSH, *DECIDING):
                return False
            if user.prim is PUSH and not all(self._only_decides(pop.result) for pop in self.stacks[user.args[0]][1]):
                return False
        return True

    def _check(self, op: Op) -> None:
        """Which operands an operation has to get as they were."""
        if op.prim is LOOP:
            body = op.regions[0]
            for init, param, last in zip(op.inits, body.params[1:], body.exit[1:]):
                if param not in self.changed:
                    self._need(op, init)
                    self._need(body, last)
            if op.range is not None:
                for x in leaves(op.range):
                    self._need(op, x)
        elif op.prim is IF:
            for k, result in enumerate(op.results):
                if result not in self.changed:
                    for r in op.regions:
                        self._need(r, r.exit[k])
        elif op.prim is PUSH:
            if is_double(op.args[1]) and not all(x.result in self.changed for x in self.stacks[op.args[0]][1]):
                self._need(op, op.args[1])
        elif not (op.results and op.result in self.changed) and not self._takes_either(op):
            for x in op.operands():
                self._need(op, x)

    def _takes_either(self, op: Op) -> bool:
        """The operation does the same to a number of Python's as to one of NumPy's."""
        if op in self.accesses:
            return True
        types = [type_of(x) for x in op.args]
        if op.prim.name.startswith("math.") or op.prim.fn in (float, int) or op.prim in (opset.NOT, opset.TRUTH):
            return True
        if op.prim in (SET, ADDAT, opset.ACCUM):
            return (
                types[0].kind == "array"
                and (types[0].dtype is not None and types[0].dtype.kind in "fc" and types[0].dtype in _MIXING)
                and not any(x in self.changed for x in leaves(op.args[1] if op.prim is not opset.ACCUM else ()))
            )
        known = all(t.dtype is not None and t.dtype in _MIXING for t in types)
        if not known or op.kwargs:
            return False
        if isinstance(op.prim.fn, np.ufunc):
            return True
        numpys = any(_numpys(t) and not self._is_changed(x, op) for x, t in zip(op.args, types))
        return numpys and (op.prim in ARITHMETIC or op.prim in COMPARISONS or op.prim in (opset.DIV, POW))

    def _need(self, user: Op | Region, x: Any) -> None:
        """Somebody needs a number to be NumPy's where it was."""
        if type(x) is not Value or x not in self.changed:
            return
        if x.type.kind == "generic" and x not in self.maybe:
            self.exact.setdefault(user, set()).add(x)
            return
        op = x.op
        if op is not None and op.prim is LOOP:
            k = op.results.index(x)
            init, last = op.inits[k], op.regions[0].exit[k + 1]
            if x not in self.maybe and not (type(init) is Value and init in self.changed):
                if type_of(last).kind == "generic":
                    self.at_exit[x] = False
                    return
                if _is_left_as_it_was(op, k):
                    self.at_exit[x] = True
                    return
            self.pinned |= {op.regions[0].params[k + 1], x}
        elif op is None and x.region is not None and x.region.op is not None and x.region.op.prim is LOOP:
            self.pinned |= {x, x.region.op.results[x.region.params.index(x) - 1]}
        else:
            self.pinned.add(x)

    def _gains(self, loop: Op) -> bool:
        """The loop is faster afterwards."""
        if loop.range is not None and all(type(x) is int for x in loop.range[:3]):
            if len(range(*loop.range[:3])) < FEW and not any(op.prim is LOOP for op in loop.regions[0].walk()):
                return False
        inside = self.inside[loop]
        gain = sum([
            (1 + (op.prim is ADDAT)) if op in self.accesses else any(r in self.changed for r in op.results)
            for op in inside if not op.regions and op not in self.items
        ])  # fmt: skip
        users: list[Op | Region] = [loop, *inside, *[r for op in (loop, *inside) for r in op.regions]]
        back = {v for user in users for v in self.exact.get(user, ()) if region_of(v) in self.root}
        back.update([v for v in self.at_exit if v.op in inside])
        floats = [
            op for op in inside if op in self.accesses and op.prim is not GET and not self._is_python(op.args[2], op)
        ]
        arrays = [
            op for op in inside if op.prim is not GET and op not in self.accesses and not op.regions
            and any(r.type.kind in ("array", "any", "list") for r in op.results)
        ]  # fmt: skip
        return gain > 3 + 2 * len(back) + len(floats) + 4 * len(arrays)

    def _is_python(self, x: Any, op: Op) -> bool:
        return type(x) is not Value or self._is_changed(x, op) or x.type.kind == "py"

    def carry_out(self) -> None:
        self._restore()
        for op in self.items:
            if op.result in self.changed:
                if any(self._profits(user) for user in self.uses.get(op.result, ())):
                    op.prim, op.args = ITEM, (op.args[0], *(picked(op.args[1]) or ()))
                else:
                    self.changed.discard(op.result)
        never_zero = Divisors(self.ops, self.stacks, self.uses).never_zero
        for op in self.ops:
            if op.prim is POW and op.result in self.changed and op.tag == DERIVED and op.args[1] == 2:
                op.prim, op.args = opset.MUL, (op.args[0], op.args[0])
            if op.prim in (RATIO, QUOTIENT, OVER) and type_of(op.args[1]).is_scalar and never_zero(op.args[1], op):
                op.prim = opset.DIV  # which they are where the divisor is not zero
                continue
            if op.prim in (opset.DIV, POW) and op.result in self.changed:
                if op.prim is POW:
                    op.prim = RAISED
                elif (op.tag == DERIVED and _is_length(op.args[1])) or _is_numpys_zero(op.args[1]):
                    pass
                elif not never_zero(op.args[1], op):
                    op.prim = DIVIDED
        self._use_floats()
        self._make_firsts()
        for v in self.changed:
            v.type = NUMBER if is_double(v) else PY_BOOL
        self.make_lists()

    def _profits(self, user: Op | Region) -> bool:
        if isinstance(user, Region) or user.regions or user.prim is PUSH:
            return True
        return any(r in self.changed for r in user.results) and user.prim not in (GET, LIST_GET)

    def _restore(self) -> None:
        """NumPy's numbers, for those who need them."""
        made: dict[Value, Value] = {}
        for user, values in self.exact.items():
            for v in values:
                if v not in made:
                    made[v] = self.behind(v, PRIMS[np.float64], (v,), NUMPYS_NUMBER)
            substitute_in(user, {v: made[v] for v in values})
        for v, completed in self.at_exit.items():
            loop = v.op
            assert loop is not None
            users = self.uses.get(v, ())
            if not completed and self._surely_runs(loop):
                new = self.behind(v, PRIMS[np.float64], (v,), NUMPYS_NUMBER)
            else:
                ran = loop.trips if completed else self._ran(loop)
                assert loop.parent is not None and ran.op is not None
                new = insert(loop.parent, loop.parent.ops.index(ran.op) + 1, NUMPYS, (v, ran), v.type, loop.tag, "")
            for user in users:
                substitute_in(user, {v: new})

    def _ran(self, loop: Op) -> Value:
        """An int that is not zero if the body of a loop has run, perhaps not to its end."""
        if type(loop.regions[0].exit[0]) is int:
            return loop.trips
        assert loop.parent is not None
        at = loop.parent.ops.index(loop) + 1
        return insert(loop.parent, at, opset.ADD, (loop.trips, loop.exit_code), py_int(), loop.tag, "")

    def _surely_runs(self, loop: Op) -> bool:
        if loop.range is None:
            return True
        if type(loop.range[2]) is not int or loop.range[2] != 1 or type(loop.range[0]) is not int:
            return False
        stop = loop.range[1]
        if type(stop) is int:
            return stop > loop.range[0]
        length = type_of(stop).length
        return length is not None and loop.range[0] == 0 and self.dims.not_zero(length)

    def _use_floats(self) -> None:
        made: dict[Value, Value] = {}
        for op in self.ops:
            if not op.results or op.result not in self.changed or op.prim in (LOOP, IF, POP):
                continue
            used = {x for x in op.operands() if x in self.floats and x not in self.changed and self.in_loop(op)}
            for x in used - made.keys():
                made[x] = self.behind(x, PRIMS[float], (x,), PY_FLOAT)
            if used:
                substitute_in(op, {x: made[x] for x in used})

    def _make_firsts(self) -> None:
        self.pure = set(self.changed)  # what is Python's for sure, if the first values of loops are
        size = -1
        while len(self.pure) != size:
            size = len(self.pure)
            for op in self.ops:
                for k, result in enumerate(op.results):
                    if result in self.pure and not all(map(self._is_pure, self._comes_from(op, k))):
                        self.pure.discard(result)
                        if op.prim is LOOP:
                            self.pure.discard(op.regions[0].params[k + 1])
        for op in self.ops:
            if op.prim is LOOP and (op in self.loops or self.in_loop(op)):
                op.args = (op.range, tuple(map(self._first, op.inits, op.regions[0].params[1:], op.results)))

    def _comes_from(self, op: Op, k: int) -> list[Any]:
        if op.prim is LOOP:
            return [op.regions[0].exit[k + 1]]
        if op.prim is IF:
            return [r.exit[k] for r in op.regions]
        if op.prim is POP:
            return [push.args[1] for push in self.stacks[op.args[0]][0]]
        return [] if op.prim in (GET, ITEM) else list(op.args)

    def _is_pure(self, x: Any) -> bool:
        return type(x) is not Value or x in self.pure or x.type.kind == "py"

    def _first(self, init: Any, param: Value, result: Value) -> Any:
        """The first value of a number that a loop carries: NumPy's would make NumPy's of all others."""
        if (
            type(init) is not Value
            or param not in self.changed
            or result in self.at_exit
            or init in self.pure | self.maybe
        ):
            return init
        if init.type.kind not in ("generic", "scalar") or not is_double(init):
            return init
        loop = result.op
        assert loop is not None and loop.parent is not None
        at = loop.parent.ops.index(loop)
        return insert(loop.parent, at, PRIMS[float], (init,), PY_FLOAT, loop.tag, "")


__all__ = ["numbers"]
