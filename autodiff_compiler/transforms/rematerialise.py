"""Rematerialisation: which forward values of loops to keep for the backward sweep, and which to compute again.

Takes the values that the backward sweep reads, from `residuals`, and gives those that are computed again. Each may be
kept, for the cost of its memory, or computed again from its operands, for the cost of that work and of having the
operands. The cheapest choice for all of them is a minimum cut: a value is a pair of nodes, joined by an edge that costs
what keeping costs; from the source leads an edge that costs its work; from each operand one that cannot be cut. Values
on the sink's side of the cut are computed again. (Jain et al., "Checkmate", MLSys 2020, solve the general problem by
integer programming. Where nothing is dropped and computed again within one sweep, a cut is enough.) What no loop
changes is computed once, before the loop that reads it.

Only operations that are rounded in one way are repeated (`Prim.work`), so that no bit of a gradient depends on the
choice: no exp, no reduction, no product of matrices. The costs are for arrays of a nominal length, since the code must
not depend on the arguments of the first call.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(x, r):
...     for _ in range(3):
...         x = r * x * (1.0 - x)
...     return np.sum(x)
>>> show_source(f, np.ones(3), 0.5)
def f_grad(x, r):
    x_saved = []
    x2 = x
    for _ in range(3):
        x_saved.append(x2)
        x2 = r * x2 * (1.0 - x2)
    x_bar = spread(1.0, x)
    # adjoint of line 2: for _ in range(3):
    for x in reversed(x_saved):
        # adjoint of line 3: x = r * x * (1.0 - x)
        x_bar = (1.0 - x - x) * r * x_bar
    return x_bar.copy()
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..ir.core import FUNC, LOOP, TRY, Builder, Exit, Op, Region, Value, leaves, type_of
from ..ir.definedness import maybe_undefined
from ..ir.opset import GET, MUL, is_plain_path, path_is_view
from ..ir.rewrite import enclosing, region_of
from ..ir.types import Dim, DimLike, Ty
from .cut import NEVER, Graph
from .simplify import is_total_in

if TYPE_CHECKING:
    from .residuals import Placer

# Costs are in sixteenths of those of keeping one element of eight bytes. They were measured on the programs of
# benchmarks/by_hand, see docs/architecture.md.
UNIT = 16
BOUGHT = 8  # the same where little more memory is asked for in all
MORE = 1.4  # times the memory that the first choice asks for: what the second one may take
ONE_MORE = 390 * UNIT  # what that has to save for each value, which makes the code harder to read
NOMINAL = 2000  # the length of an axis of an argument
PART = 1000  # of another axis, and of a vector if no argument is a vector of its length: rows of matrices are shorter
LOOP_FACTOR = 8  # iterations of a loop
APPEND = 40 * UNIT  # to put a value on a list and to take it off
CALL = 260 * UNIT  # what NumPy needs to start
COPIED = 1.6  # times the elements of an array that is overwritten later: a copy of it is kept
NUMBER = 60 * UNIT  # to keep a number
BESIDE = 6 * UNIT  # more to keep it beside another one: they are a tuple, of which there is one for each iteration
NUMBER_WORK = 26 * UNIT  # to compute one of Python's
GENERIC_WORK = 32 * UNIT  # and one of NumPy's
VIEW = 12 * UNIT


class Choice:
    """The choice for the values that a `Placer` has found to be wanted.

    repeated: values that are computed again
    kept:     values that are put on stacks
    keeping:  what it costs to keep an element
    chosen:   these are final
    """

    def __init__(self, placer: Placer, wanted: set[Value]):
        self.placer = placer
        self.wanted = wanted
        self.repeated: set[Value] = set()
        self.kept: set[Value] = set()
        self.chosen = False
        self.keeping = UNIT
        loops = any(region.op is not None and region.op.prim is LOOP for region in placer.forward)
        self.maybe_undefined = maybe_undefined(placer.body) if loops else set()  # before the placer changes loops
        self._homes: dict[Value, Region] = {}
        vectors = (self._root(p.type.dims[0]) for p in placer.body.params if p.type.dims and len(p.type.dims) == 1)
        self._vectors = set(vectors)  # the lengths of arguments with one axis
        # The bodies of loops that carry a number which is kept anyway.
        self._handed_on = set(self._given_back())
        self._keeping = {region_of(v) for v in wanted if v.op is None and v.type.is_scalar and not placer.is_free(v)}
        self._choose()
        self.chosen = True
        self._homes.clear()  # what is kept is where it was made

    def _given_back(self) -> Iterator[Value]:
        """Arrays that an iteration hands on to the next one, which starts with them and keeps them."""
        for region in self.placer.forward:
            loop = region.op
            if loop is not None and loop.prim is LOOP and region.exit[0] == Exit.NORMAL:
                for k, v in enumerate(region.exit[1:]):
                    if type(v) is Value and v.op is not None and v.type.kind == "array" and region_of(v) is region:
                        if region.params[k + 1] in self.wanted and self.placer.is_given_back(v, loop, k):
                            yield v

    def _is_free(self, v: Value) -> bool:
        return v in self._handed_on or self.placer.is_free(v)

    def _choose(self) -> None:
        """Compute again what costs less than its memory, or half of that if all takes little more memory then: an array
        is put on a list in a third of the time that a product takes."""
        self.repeated, self.kept = self._cut()
        if any(v.type.kind == "array" and self.work(v) for v in self.repeated):
            most = MORE * self._memory(self.kept)
            self.keeping = BOUGHT
            repeated, kept = self._cut()
            if self._memory(kept) <= most:
                self.repeated, self.kept = repeated, kept

    def _memory(self, kept: set[Value]) -> float:
        """The elements of the arrays that loops keep."""
        total = 0.0
        for v in kept:
            often = frequency(region_of(v)) if v.type.kind == "array" else 1
            if often > 1 and not (v.op is None and self._handed_to(v) in kept):
                total += (self.elements(v.type, NOMINAL) or NOMINAL**2) * often
        return total

    def _handed_to(self, v: Value) -> Any:
        """What an iteration hands on to the next one as this parameter."""
        region = region_of(v)
        return region.exit[region.params.index(v)] if region.exit[0] == Exit.NORMAL else None

    def _cut(self) -> tuple[set[Value], set[Value]]:
        """What is computed again, and what is kept."""
        graph = Graph()
        source, sink = graph.node(), graph.node()
        nodes: dict[Value, tuple[int, int]] = {}
        bound: list[tuple[Value, Value]] = []  # from an operand to what is computed from it
        todo = list(self.wanted)
        while todo:
            v = todo.pop()
            if v in nodes or self.placer.reachable(v):
                continue
            before, after = nodes[v] = graph.node(), graph.node()
            if v in self.wanted:
                graph.edge(after, sink, NEVER)
            if self._is_free(v):
                graph.edge(source, before, 0)
                continue
            graph.edge(before, after, self.cost_of_keeping(v) * frequency(region_of(v)))
            work = self.work(v)
            if work is None:
                graph.edge(source, before, NEVER)
                continue
            graph.edge(source, before, work * frequency(self.home(v)))
            operands = self._operands(v.op)  # type: ignore[arg-type]
            bound += [(x, v) for x in operands]
            todo += operands
        for x, v in bound:
            if x in nodes:
                graph.edge(nodes[x][1], nodes[v][0], NEVER)
        again = graph.cut(source, sink)
        repeated, kept = set(), set()
        for v, (before, after) in nodes.items():
            if self._is_free(v):
                continue
            if again[before]:
                repeated.add(v)
            elif again[after]:
                kept.add(v)
        return repeated, kept

    def _operands(self, op: Op) -> list[Value]:
        """What is needed to compute an operation again."""
        out: list[Value] = []
        for k, arg in enumerate(op.args):
            shape_only = k in op.prim.shape_only
            for x in map(self.placer.content, leaves(arg)):
                if not self.placer.reachable(x) and not (shape_only and self.placer.has_shape_source(x)):
                    out.append(x)
        return out

    # --- costs ----------------------------------------------------------------------------------------------------

    def elements(self, t: Ty, part: float = PART) -> float | None:
        """The size of an array of a type at the nominal length, in elements of eight bytes; None if it is not known."""
        if t.is_scalar or t.dims == ():
            return 1.0
        if t.kind not in ("array", "any") or t.dims is None:
            return None
        dims = self.placer.body.dims
        count = 1.0
        for d in t.dims:
            if isinstance(d, Dim):
                whole = dims.is_argument(d) and (len(t.dims) > 1 or self._root(d) in self._vectors)
                count *= NOMINAL if whole else part
            else:
                count *= max(d, 1)
        return count * (t.dtype.itemsize if t.dtype is not None else 8) / 8

    def _root(self, d: DimLike) -> int:
        """Lengths of one root differ by a constant; zero for a known length."""
        found = self.placer.body.dims.find(d)
        return found.root if isinstance(found, Dim) else 0

    def cost_of_keeping(self, v: Value) -> int:
        if v.type.is_scalar or v.type.dims == ():
            return NUMBER + BESIDE * (v.op is not None and region_of(v) in self._keeping)
        if frequency(region_of(v)) == 1:
            return APPEND  # a branch hands it out
        size = self.elements(v.type)
        if size is None:
            size = NOMINAL**2
        beside = ONE_MORE if self.keeping == BOUGHT else 0
        if self._is_copied(v):
            return int(size * self.keeping * COPIED) + APPEND + CALL // 2 + beside
        return int(size * self.keeping) + APPEND + beside

    def _is_copied(self, v: Value) -> bool:
        """A later store overwrites the memory, so that a copy is kept."""
        while not self.placer.killed(v):
            op = v.op
            if op is None or (op.prim.alias != "view" and op.prim is not GET):
                return False
            if not op.args or type(op.args[0]) is not Value:
                return False
            v = op.args[0]
        return True

    def work(self, v: Value) -> int | None:
        """What it costs to compute a value again; None if that is not done."""
        op = v.op
        per_element = work_of(op) if op is not None else None
        if op is None or per_element is None or op.regions or op.kwargs:
            return None
        if any(r.op is not None and r.op.prim in (FUNC, TRY) for r in enclosing(region_of(v))):
            return None
        size = self.elements(v.type)
        if size is None:
            return None
        if op.prim is GET:
            return self._work_of_read(op)
        if any(self._is_lost(x) for x in op.operands()):
            return None
        if v.type.is_scalar or v.type.dims == ():
            return NUMBER_WORK if all(type_of(x).kind == "py" for x in (v, *op.args)) else GENERIC_WORK
        largest = max([size, *[self.elements(type_of(x)) or 0.0 for x in op.operands()]])
        return int(largest * UNIT * per_element) + CALL

    def _is_lost(self, x: Value) -> bool:
        """An array outside of loops that a later store overwrites."""
        return self.placer.reachable(x) and not x.type.is_scalar and self.placer.killed(x)

    def _work_of_read(self, op: Op) -> int | None:
        base, path = op.args
        if self._is_lost(base) or not is_plain_path(path):
            return None
        assert op.parent is not None
        if not op.result.type.is_scalar and path_is_view(Builder(op.parent), base, path) is not True:
            return None
        return VIEW

    # --- loop-invariant values ------------------------------------------------------------------------------------

    def home(self, v: Value) -> Region:
        """The forward region whose reversed run computes a value again: that of the outermost loop around it that
        changes none of its operands, if to compute it cannot raise."""
        if v not in self._homes:
            self._homes[v] = region_of(v)
            if self._is_made_again(v):
                self._homes[v] = self._outermost(v)
        return self._homes[v]

    def _is_made_again(self, v: Value) -> bool:
        """The backward sweep computes it, or may do so as long as nothing is chosen."""
        if v.op is None or self.placer.stable_place(v) is not None:
            return False
        if self.placer.cheap(v.op):
            return True
        return v in self.repeated if self.chosen else self.work(v) is not None

    def _outermost(self, v: Value) -> Region:
        op, region = v.op, region_of(v)
        assert op is not None
        operands = op.operands()
        inside = {r for x in operands if not self.placer.reachable(x) for r in enclosing(self.home(x))}
        while region.op is not None and region.op.prim is LOOP and region not in inside:
            around = region.op.parent
            if around is None or not is_total_in(around, op):
                break
            region = around
        if region is not region_of(v) and any(x in self.maybe_undefined for x in operands):
            return region_of(v)  # the loop may have no iterations where they are undefined
        return region


def work_of(op: Op) -> float | None:
    """The work of an operation for each element; a square is a product."""
    if "power" in op.prim.traits and len(op.args) == 2 and type(op.args[1]) in (int, float) and op.args[1] == 2:
        return MUL.work
    return op.prim.work


def frequency(home: Region) -> int:
    """How often a region runs, relative to code outside of loops."""
    often = 1
    for region in enclosing(home):
        if region.op is not None and region.op.prim is LOOP:
            often *= LOOP_FACTOR
    return often


__all__ = ["Choice", "frequency"]
