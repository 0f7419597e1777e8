"""Residuals: give the backward sweep the forward values that it reads.

Takes an adjoint whose backward sweep names forward values wherever they are defined, even deep inside a loop. Gives an
adjoint in which every value is in scope where it is read. Each such value comes from the cheapest of these sources:

1. The value itself, where it is still in scope.
2. The same computation again: integer arithmetic, lengths, elements of arrays that nothing overwrites.
3. The finished array, where every store of a loop is at the loop's own index (`stable_reads`).
4. An extra result of the ``if`` that computed it, where no loop lies between.
5. A result of the loop that computed it, if it is that of the iteration that left the loop.
6. A stack. The forward sweep pushes the value once for each run of the region that the backward sweep reverses.

This is the to-be-recorded analysis of the literature, after the fact: exactly what is read is saved.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(x):
...     for i in range(3):
...         x = np.sin(x)
...     return x
>>> show_source(f, 0.5)
def f_grad(x):
    x_saved = []
    for _ in range(3):
        x_saved.append(x)
        x = np.sin(x)
    x_bar = 1.0
    # adjoint of line 2: for i in range(3):
    for x in reversed(x_saved):
        # adjoint of line 3: x = np.sin(x)
        x_bar *= np.cos(x)
    return x_bar
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..ir import opset
from ..ir.core import (
    DERIVED,
    FUNC,
    IF,
    LOOP,
    TRY,
    UNDEF,
    Builder,
    Function,
    Op,
    Region,
    Value,
    leaves,
    map_leaves,
    type_of,
)
from ..ir.opset import DIM, GET, POP, PUSH, SET, STACK_NEW, STORES
from ..ir.rewrite import (
    collect_uses,
    content_operands,
    enclosing,
    enclosing_func,
    operands_first,
    region_of,
)
from ..ir.telling import name_of
from ..ir.types import STACK, UNDEF_TY, Dim, DimLike, Ty, join, py_int, same_dtype
from .filling import AXES, Filling, Front, stays
from .paths import covers, end_on_path, on_path
from .rematerialise import Choice
from .shapes import reads_lengths_only

YIELDED = 8  # levels of ``if`` through which a value is yielded; each of them names it
STRIDE = 30  # how many values of a chain are provided in one recursion


def place(fn: Function, optimise: bool = True) -> None:
    """Give each read of the backward sweep its source. Without `optimise`, all that is out of scope is on stacks."""
    Placer(fn, optimise).run()


class Placer:
    def __init__(self, fn: Function, optimise: bool):
        self.body = fn.body
        self.optimise = optimise
        self.forward: set[Region] = set()
        for op in self.body.ops:
            if op.tag != DERIVED or not _is_backward(op):
                self._collect(op)
        self.memo: dict[tuple[Value, Region], Any] = {}
        self.preludes: dict[Region, list[Op]] = {}
        self.exported: dict[Value, Value] = {}
        self.handed_back: dict[Region, list[Any]] = {}  # by reversed loops, behind what they carry anyway
        self.front: list[Op] = []  # what is computed again before the backward sweep
        self.hoisted: dict[Value, Value] = {}
        self._killed: dict[Value, bool] = {}

    def _collect(self, op: Op) -> None:
        for region in op.regions:
            self.forward.add(region)
            for inner in region.ops:
                self._collect(inner)

    def run(self) -> None:
        if not self.forward:
            return  # straight-line code: everything is still there
        self.uses = collect_uses(self.body)
        self.wanted = self._wanted()
        self._index: dict[Value, bool] = {}
        self._free: dict[Value, bool] = {}
        self._depth: dict[Value, int] = {}
        self._laid: dict[Region, set[Value]] = {}
        self.choice = Choice(self, self.wanted) if self.optimise else None
        for op in list(self.body.ops):
            if _is_backward(op):
                self.visit_op(op, [])
        self.body.exit = map_leaves(lambda v: self.fetch(v, []), self.body.exit)
        first = next((k for k, op in enumerate(self.body.ops) if _is_backward(op)), len(self.body.ops))
        self.body.ops[first:first] = self.front
        for region, ops in self.preludes.items():
            for op in ops:
                op.parent = region
            ops.sort(key=lambda op: op.prim is not POP)
            region.ops[:0] = ops
        for region, ops in [*self.preludes.items(), (self.body, self.front)]:
            start = region.ops.index(ops[0]) if ops else 0
            made = [op for op in ops if op.prim is not POP]
            at = start + len(ops) - len(made)
            region.ops[at:] = _where_read(made, region.ops[start + len(ops) :])
        forget_iterations(self.body)

    def _wanted(self) -> set[Value]:
        """The values out of reach that the backward sweep names."""
        out: set[Value] = set()

        def visit(op: Op) -> None:
            out.update(self.content(v) for v in content_operands(op) if not self.reachable(v))
            for region in op.regions:
                for inner in region.ops:
                    visit(inner)
                out.update(self.content(v) for v in leaves(region.exit) if not self.reachable(v))

        for op in self.body.ops:
            if _is_backward(op):
                visit(op)
        return out

    def is_free(self, v: Value) -> bool:
        """There is a source for the value that costs next to nothing."""
        if v not in self._free:
            op = v.op
            self._free[v] = self.is_index(v) or self.stable_place(v) is not None or (op is not None and self.cheap(op))
        return self._free[v]

    def visit(self, region: Region, chain: list[Region]) -> None:
        here = [*chain, region]
        for op in list(region.ops):
            self.visit_op(op, here)
        exit = map_leaves(lambda v: self.fetch(v, here), region.exit)
        region.exit = (*exit, *self.handed_back.get(region, ()))

    def visit_op(self, op: Op, chain: list[Region]) -> None:
        skip = op.prim.shape_only
        op.args = tuple(
            map_leaves(
                (lambda v: self.fetch_shape(v, chain, op)) if k in skip else (lambda v: self.fetch(v, chain)), arg
            )
            for k, arg in enumerate(op.args)
        )
        if op.kwargs:
            op.kwargs = map_leaves(lambda v: self.fetch(v, chain), op.kwargs)
        for inner in op.regions:
            self.visit(inner, chain)

    # --- where a value comes from ---------------------------------------------------------------------------------

    def reachable(self, v: Value) -> bool:
        return region_of(v) not in self.forward

    def fetch_shape(self, v: Value, chain: list[Region], op: Op) -> Any:
        """A value with the shape and dtype of `v`; its content does not matter."""
        if self.reachable(v):
            return v
        t = v.type
        if (
            self.optimise
            and t.kind == "array"
            and t.dims is not None
            and (t.dtype is not None or reads_lengths_only(op))
        ):
            dims = region_of(v).dims
            for other in self.sources():
                o = other.type
                if (
                    o.dims is not None
                    and len(o.dims) == len(t.dims)
                    and (same_dtype(o.dtype, t.dtype) or reads_lengths_only(op))
                ):
                    if all(map(dims.same, o.dims, t.dims)):
                        return other
        return self.fetch(v, chain)

    def sources(self) -> list[Value]:
        """Arrays in scope everywhere, arguments first."""
        if not hasattr(self, "_sources"):
            found = [p for p in self.body.params if p.type.kind == "array"]
            for op in self.body.ops:
                if _is_backward(op):
                    break
                if not op.regions:  # the result of a branch may be undefined on another path
                    found += [r for r in op.results if r.type.kind == "array"]
            self._sources = found
        return self._sources

    def content(self, v: Value) -> Value:
        """What was stored over all of an array is what the array is then. It may be computed again."""
        while self.optimise and not self.reachable(v) and v.op is not None and _stores_all(v.op):
            v = v.op.args[2]
        return v

    def fetch(self, v: Value, chain: list[Region]) -> Any:
        stored = self.content(v)
        if self.reachable(stored) or self.is_repeated(stored):
            v = stored
        if self.reachable(v):
            return v
        home = region_of(v) if self.choice is None else self.choice.home(v)
        while (around := home.op) is not None and around.prim is TRY and not around.args[0]:
            if home is region_of(v):  # a context yields every value
                v = self.handed_out(v)
                home = region_of(v)
            else:  # what a loop inside of it computes in each iteration, and is computed again in front of the loop
                assert around.parent is not None
                home = around.parent
        if self.reachable(v):
            return v
        if home is self.body:
            return self.hoist(v)
        for depth in range(len(chain) - 1, -1, -1):
            mirror = chain[depth].tag
            if mirror is not None and covers(mirror, home):
                break
        else:
            raise AssertionError(f"no backward region mirrors the definition of {v!r}")
        region = chain[depth]
        key = (v, region)
        if key not in self.memo:
            self.memo[key] = self.provide(v, region, chain[: depth + 1])
        return self.memo[key]

    def provide(self, v: Value, region: Region, chain: list[Region]) -> Any:
        mirror = region.tag
        if v.op is None and mirror.body.op is not None and mirror.body.op.prim is LOOP and v is mirror.body.params[0]:
            if region.op is not None and region.op.prim is LOOP:
                return region.params[0]
            return self.index_at_exit(mirror.body.op, region, chain)
        at_sites = [on_path(v, site) for site in mirror.sites]
        if any(x is not v for x in at_sites):
            first = at_sites[0]
            if all(x is first or (type(x) is not Value and type(x) is type(first) and x == first) for x in at_sites):
                return self.fetch(first, chain) if type(first) is Value else first
            return self.save(v, region)
        if not self.optimise:
            return self.save(v, region)
        stable = self.stable_read(v, region, chain)
        if stable is not None:
            return stable
        again = self.recompute(v, region, chain)
        if again is not None:
            return again
        around = [r.op.prim for r in enclosing(region_of(v)) if r.op is not None]
        if len(around) <= YIELDED and LOOP not in around and FUNC not in around:
            return self.export(v)
        shifted = self.shifted(v, region, chain)
        if shifted is not None:
            return shifted
        left = self.left_by_loop(v, region, chain)
        return self.save(v, region) if left is None else left

    def left_by_loop(self, v: Value, region: Region, chain: list[Region]) -> Any:
        """What the iteration that left a loop has computed, as a result of the loop."""
        sites = region.tag.sites
        body, around = region.tag.body, list(chain[:-1])
        while body.op is not None and body.op.prim is IF and around:  # a branch of the last iteration
            region = around.pop()
            if region.tag is not None:
                body = region.tag.body
        loop = body.op
        if loop is None or loop.prim is not LOOP or (region.op is not None and region.op.prim is LOOP):
            return None
        inside = [r for site in sites for r in enclosing(site) if r is not body and body in enclosing(r)]
        if any(r.op.prim is not IF for r in inside) or not self._outlives(v):  # type: ignore[union-attr]
            return None
        for k, result in enumerate(loop.carried):
            ends = {end_on_path(body, 1 + k, site) for site in sites}
            unbound = [(r, at) for r, at in ends if r.exit[at] is UNDEF]
            if any(r.exit[at] is not v and r.exit[at] is not UNDEF for r, at in ends):
                continue
            if unbound:
                seen = all(region_of(v) in enclosing(r) for r, _ in unbound)
                if not seen or join(result.type, v.type, self.body.dims) != result.type:
                    continue
                for r, at in unbound:
                    r.exit = (*r.exit[:at], v, *r.exit[at + 1 :])
            return self.fetch(result, around)
        body.exit = (*body.exit, _yielded_at(body, sites, v))
        body.param(v.type, v.hint)
        loop.args = (loop.args[0], (*loop.args[1], UNDEF))
        result = Value(v.type, v.hint, loop)
        loop.results.insert(len(loop.results) - 2, result)
        return self.fetch(result, around)

    def _outlives(self, v: Value) -> bool:
        """The type says nothing of lengths that only the region knows in which the value is."""
        dims = v.type.dims or ()
        return v.type.elem is None and all(not isinstance(d, Dim) or self.body.dims.is_argument(d) for d in dims)

    def shifted(self, v: Value, region: Region, chain: list[Region]) -> Any:
        """What an iteration hands on is what the next one starts with. Where that is saved, the reversed loop hands it
        back, and it is not saved a second time."""
        body, reverse = region.tag.body, region.op
        loop = body.op
        if loop is None or loop.prim is not LOOP or reverse is None or reverse.prim is not LOOP:
            return None
        if region.tag.sites != [body]:  # it does not reverse the iteration that left the loop, or not with the others
            return None
        for k, handed_on in enumerate(body.exit[1:]):
            start, last = body.params[k + 1], loop.results[k]
            if handed_on is not v or not self.is_kept(start) or not self.is_given_back(v, loop, k):
                continue
            final = self.fetch(last, chain[:-1])
            given = self.fetch(start, chain)
            param = region.param(v.type, v.hint)
            reverse.args = (reverse.args[0], (*reverse.args[1], final))
            reverse.results.insert(len(reverse.results) - 2, Value(v.type, v.hint, reverse))
            self.handed_back.setdefault(region, []).append(given)
            return param
        return None

    def is_given_back(self, v: Value, loop: Op, k: int) -> bool:
        """The reversed loop may carry what the loop hands on as its k-th variable."""
        start, last = loop.regions[0].params[k + 1], loop.results[k]
        if start is v or not _alike(start, v, last) or self.killed(last):
            return False
        return v.op is None or region_of(v) is loop.regions[0]

    def is_kept(self, v: Value) -> bool:
        """The value is put on a stack anyway."""
        return self.choice is not None and v in self.choice.kept

    def index_at_exit(self, loop: Op, region: Region, chain: list[Region]) -> Any:
        """The loop variable in the iteration that left the loop."""
        trips = self.fetch(loop.results[-2], chain[:-1])
        if loop.args[0] is None:
            return trips
        start, stop, step, *flags = (map_leaves(lambda x: self.fetch(x, chain[:-1]), a) for a in loop.args[0])
        if flags and flags[0]:
            count = self.prelude(region, Op(opset.RANGE_LEN, (start, stop, step)), "")
            start = self.arithmetic(
                region, start, self.arithmetic(region, self.arithmetic(region, count, 1, "-"), step, "*"), "+"
            )
            step = self.arithmetic(region, 0, step, "-")
        offset = trips if type(step) is int and step == 1 else self.arithmetic(region, trips, step, "*")
        return offset if type(start) is int and start == 0 else self.arithmetic(region, start, offset, "+")

    def arithmetic(self, region: Region, x: Any, y: Any, sign: str) -> Any:
        prim = {"+": opset.ADD, "-": opset.SUB, "*": opset.MUL}[sign]
        return self.prelude(region, Op(prim, (x, y)), "i")

    def prelude(self, region: Region, op: Op, hint: str) -> Value:
        op.tag = DERIVED
        if not op.results:
            op.results = [Value(py_int(), hint, op)]
        self.preludes.setdefault(region, []).append(op)
        op.parent = region
        return op.results[0]

    def recompute(self, v: Value, region: Region, chain: list[Region]) -> Any:
        op = v.op
        if op is None or not (self.is_repeated(v) or self.cheap(op)):
            return None
        self.lay_stones(v, region, chain)
        skip = op.prim.shape_only
        args = tuple(
            map_leaves(
                (lambda x: self.fetch_shape(x, chain, op)) if k in skip else (lambda x: self.fetch(x, chain)), arg
            )
            for k, arg in enumerate(op.args)
        )
        new = Op(op.prim, args, dict(op.kwargs), (), op.loc)
        new.results = [Value(r.type, r.hint, new) for r in op.results]
        self.prelude(region, new, v.hint)
        return new.results[op.results.index(v)]

    def is_repeated(self, v: Value) -> bool:
        """It costs less to compute the value again than to keep it."""
        return self.choice is not None and v in self.choice.repeated

    def hoist(self, v: Value) -> Value:
        """Compute what no loop changes once, before the backward sweep."""
        if v not in self.hoisted:
            op = v.op
            assert op is not None
            new = Op(op.prim, map_leaves(lambda x: self.fetch(x, []), op.args), dict(op.kwargs))
            new.results = [Value(r.type, r.hint, new) for r in op.results]
            new.tag, new.parent = DERIVED, self.body
            self.front.append(new)
            self.hoisted[v] = new.result
        return self.hoisted[v]

    def lay_stones(self, v: Value, region: Region, chain: list[Region]) -> None:
        """Provide some values of a long chain that is computed again, first ones first.

        The next value is then found without deep recursion.
        """

        def inner(x: Value) -> list[Value]:
            again = x.op is not None and not self.reachable(x) and (self.is_repeated(x) or self.cheap(x.op))
            return x.op.operands() if again and x.op is not None else []

        for x in operands_first(v, self._depth, inner):
            self._depth[x] = 1 + max([self._depth.get(y, 0) for y in inner(x)], default=0)
        if self._depth[v] > STRIDE:
            laid = self._laid.setdefault(region, set())
            for x in operands_first(v, laid, inner):
                laid.add(x)
                if self._depth[x] % STRIDE == 0 and x is not v:
                    self.fetch(x, chain)

    def cheap(self, op: Op) -> bool:
        """To compute it again costs no more than to save it, and asks for no other value to be saved."""
        if op.regions or op.prim.effects or op.prim.nout != 1 or op.prim is opset.ISINSTANCE:
            return False  # (an exception is gone with its handler)
        if op.prim is GET:
            a = op.args[0]
            if self.killed(a) or not self.reachable(a):
                return False
            return all(self.is_index(x) for x in op.operands() if x is not a)
        if op.prim.shape_only and op.result.type.kind == "py":
            t = op.args[0].type
            return t.kind == "array" and t.dims is not None and self.has_shape_source(op.args[0])
        t = op.result.type
        whole = t.kind == "py" and t.dtype is not None and t.dtype.kind in "ib"
        return whole and all(map(self.is_index, op.operands()))

    # --- arrays filled in order -----------------------------------------------------------------------------------

    def stable_read(self, v: Value, region: Region, chain: list[Region]) -> Any:
        """A value that was read from a part of an array, or stored into it, is read from the finished array.

        No later iteration of the loop may write into that part.

        In ``for i in range(n): x[i] = f(x[:i])`` all stores are at i and all reads below it.
        """
        found = self.stable_place(v)
        return None if found is None else self.read_final(*found, v, region, chain)

    def stable_place(self, v: Value) -> tuple[Value, Any] | None:
        """The finished array, and the path at which the value is in it."""
        op = v.op
        if op is None:
            return None
        if op.prim is GET and self.indices_known(op, op.args[0]):
            for loop, k, order in self.slots_of(op.args[0]):
                if stays(op.args[0], op.args[1], loop, k, order):
                    return self.final_place(loop.results[k], op.args[1])
            for loop, k, front in self.fronts_of(op.args[0]):
                if front.passes(op.args[1]):
                    return self.final_place(loop.results[k], op.args[1])
        for user in self.uses.get(v, ()):
            # The only store of each iteration, and nothing writes there again.
            if isinstance(user, Op) and user.prim is SET and user.args[2] is v and user.parent is not None:
                slot = next(iter(self.slots_of(user.args[0])), None)
                if slot is None or len(slot[2].stores) != 1 or user.parent is not slot[0].regions[0]:
                    continue
                base = user.args[0].type
                part = opset.GET.infer(Builder(user.parent), (user.args[0], user.args[1]), {})  # type: ignore[misc]
                same = same_dtype(v.type.dtype, base.dtype) and v.type.dims is not None and part.dims is not None
                if not same or len(part.dims) != len(v.type.dims or ()) or v.type.kind not in ("generic", "array"):
                    continue
                if not all(map(user.parent.dims.same, part.dims, v.type.dims or ())):
                    continue
                if opset.is_plain_path(user.args[1]) and self.indices_known(user, user.args[0], v):
                    return self.final_place(slot[0].results[slot[1]], user.args[1])
        return None

    def final_place(self, final: Value, path: Any) -> tuple[Value, Any] | None:
        return None if not self.reachable(final) or self.killed(final) else (final, path)

    def read_final(self, final: Value, path: Any, v: Value, region: Region, chain: list[Region]) -> Any:
        new = Op(GET, (final, map_leaves(lambda x: self.fetch(x, chain), path)), {}, (), v.op.loc if v.op else None)
        new.results = [Value(v.type, v.hint, new)]
        return self.prelude(region, new, v.hint)

    def indices_known(self, op: Op, *others: Value) -> bool:
        return all(self.is_index(x) for x in op.operands() if x not in others)

    def fronts_of(self, a: Value) -> list[tuple[Op, int, Front]]:
        """The loops and slots that `a` is a version of, if all iterations store behind a bound that never decreases."""
        return [slot for slot in self._fronts if a in slot[2].versions]

    @functools.cached_property
    def _fronts(self) -> list[tuple[Op, int, Front]]:
        loops = [op for op in self.body.ops if op.prim is LOOP and not _is_backward(op)]
        slots = [(op, k, Front.of(op, k, axis)) for op in loops for k in range(len(op.args[1])) for axis in range(AXES)]
        return [(op, k, front) for op, k, front in slots if front is not None]

    def slots_of(self, a: Value) -> list[tuple[Op, int, Filling]]:
        """The loops and slots that `a` is a version of, if each iteration stores at the index plus one constant."""
        if not hasattr(self, "_slots"):
            self._slots: dict[Value, list[tuple[Op, int, Filling]]] = {}
            for op in self.body.ops:
                if op.prim is LOOP and not _is_backward(op):
                    for k in range(len(op.args[1])):
                        for axis in range(AXES):
                            filling = Filling.of(op, k, axis)
                            for version in filling.versions if filling is not None else ():
                                self._slots.setdefault(version, []).append((op, k, filling))  # type: ignore[arg-type]
        return self._slots.get(a, [])

    def has_shape_source(self, v: Value) -> bool:
        probe = Op(DIM, (v, 0))
        return self.reachable(v) or self.fetch_shape_only(v, probe) is not None

    def fetch_shape_only(self, v: Value, op: Op) -> Value | None:
        t = v.type
        dims = region_of(v).dims
        for other in self.sources():
            o = other.type
            if (
                o.dims is not None
                and t.dims is not None
                and len(o.dims) == len(t.dims)
                and all(map(dims.same, o.dims, t.dims))
            ):
                return other
        return None

    def is_index(self, v: Value) -> bool:
        """An integer that is in scope, a loop's variable, or cheap arithmetic on such."""
        if v not in self._index:
            for x in operands_first(v, self._index, self._integers_of):
                self._index[x] = self._is_index(x)
        return self._index[v]

    def _integers_of(self, v: Value) -> list[Value]:
        return [] if v.op is None or self.reachable(v) or not is_integer(v) else v.op.operands()

    def _is_index(self, v: Value) -> bool:
        if self.reachable(v) or not is_integer(v):
            return self.reachable(v)
        if v.op is None:
            owner = v.region.op if v.region is not None else None
            return owner is not None and owner.prim is LOOP and v is owner.regions[0].params[0]
        return self.cheap(v.op)

    def killed(self, v: Value) -> bool:
        """Its buffer may be overwritten by a later store, so that reading it late would cost a copy."""
        if v not in self._killed:
            self._killed[v] = False
            self._killed[v] = any(self._kills(v, user) for user in self.uses.get(v, ()))
        return self._killed[v]

    def _kills(self, v: Value, user: Op | Region) -> bool:
        if isinstance(user, Op):
            if user.prim in STORES and user.args[0] is v:
                return True
            if user.prim is LOOP:
                for k, init in enumerate(user.args[1]):
                    if init is v and (self.killed(user.regions[0].params[k + 1]) or self.killed(user.results[k])):
                        return True
            return False
        owner = user.op
        if owner is None or owner.prim is FUNC:
            return False
        shift = 1 if owner.prim is LOOP else 0
        for k, out in enumerate(user.exit[shift:]):
            if out is v:
                if self.killed(owner.results[k]):
                    return True
                if owner.prim is LOOP and self.killed(user.params[k + 1]):
                    return True
        return False

    # --- saving ---------------------------------------------------------------------------------------------------

    def export(self, v: Value) -> Value:
        """Let the ``if``s around a value yield it."""
        while not self.reachable(v):
            v = self.handed_out(v)
        return v

    def handed_out(self, v: Value) -> Value:
        if v not in self.exported:
            home = region_of(v)
            owner = home.op
            assert owner is not None and owner.prim in (IF, TRY)
            at = next((k for k, x in enumerate(home.exit) if x is v), -1)
            if at >= 0:  # it is yielded already
                self.exported[v] = owner.results[at + (2 if owner.prim is TRY else 0)]
                return self.exported[v]
            result = Value(v.type, v.hint, owner)
            for region in owner.regions:
                region.exit = (*region.exit, v if region is home else UNDEF)
            owner.results.append(result)
            self.exported[v] = result
        return self.exported[v]

    def save(self, v: Value, region: Region) -> Value:
        """Push a value in the forward sweep and pop it in the backward one."""
        mirror = region.tag
        hint = name_of(v)
        stack_op = Op(STACK_NEW, ())
        stack = Value(STACK, f"{hint or 't'}_saved", stack_op)
        stack_op.results = [stack]
        outermost = [r for r in enclosing(region_of(v)) if r is not self.body][-1]
        at = outermost.op
        stack_op.parent = self.body
        self.body.ops.insert(self.body.ops.index(at), stack_op)  # type: ignore[arg-type]
        for site in mirror.sites:
            value = on_path(v, site)
            push = Op(PUSH, (stack, value))
            push.parent = site
            here = type(value) is Value and value.op is not None and value.op.parent is site
            where = site.ops.index(value.op) + 1 if here else 0
            if here and value.op.prim is TRY and where < len(site.ops) and _decided_by(site.ops[where], value.op):
                where += 1  # the handler stays right behind its ``try``
            if enclosing_func(site) is not None or (site.op is not None and site.op.prim is TRY):
                # What is popped when the reversed run starts is what was pushed when the run ended: calls lie between.
                where = len(site.ops)
            site.ops.insert(where, push)
        pop = Op(POP, (stack,))
        pop.results = [Value(v.type if v.type.kind != "undef" else UNDEF_TY, hint, pop)]
        pop.tag = DERIVED
        self.preludes.setdefault(region, []).append(pop)
        pop.parent = region
        return pop.results[0]


def _where_read(made: list[Op], ops: list[Op]) -> list[Op]:
    """The operations, with each of those that are made for them in front of the expression that first reads it.

    It belongs to the statement of that. Parts that one statement has read together stay together.
    """
    maker = {r: op for op in made for r in op.results}
    first: dict[Op, tuple[int, Op]] = {}
    start = 0
    for k, op in enumerate(ops):
        # (Which expressions share a line is not asked: code is the same however a program is laid out.)
        if k and not (op.loc == ops[k - 1].loc or _decided_by(op, ops[k - 1])):
            start = k
        read = [v for inner in _within(op) for v in inner.operands()]
        for region in (r for inner in _within(op) for r in inner.regions):
            read += leaves(region.exit)
        for v in read:
            if v in maker:
                first.setdefault(maker[v], (start, op))
    parts: dict[Any, list[Op]] = {}
    for op in made:
        if op.prim is GET and op.loc is not None and type(op.args[0]) is Value:
            parts.setdefault((op.args[0], op.loc), []).append(op)
    before: dict[int, list[Op]] = {}
    nowhere = len(ops)
    for op in reversed(made):
        together = parts.get((op.args[0], op.loc), ()) if op.prim is GET else ()
        where = min([first.get(x, (nowhere, x)) for x in together or (op,)], key=lambda found: found[0])
        before.setdefault(where[0], []).append(op)
        if op.loc is not None and len(together) < 2:  # without one, it belongs to no statement
            op.loc = where[1].loc
        for v in op.operands():
            if v in maker:
                first[maker[v]] = min(first.get(maker[v], where), where, key=lambda found: found[0])
    return [op for k in range(len(ops) + 1) for op in (*reversed(before.get(k, ())), *ops[k : k + 1])]


def _within(op: Op) -> Iterator[Op]:
    yield op
    for region in op.regions:
        yield from region.walk()


def forget_iterations(body: Region) -> None:
    """Outside of a loop, give new names to lengths that its iterations may have differently.

    What the iteration that left the loop has saved is read there. It has the lengths of that iteration, and nothing
    that is read in the loop is known to have these.
    """
    moving: set[int] = set()
    for op in body.walk():
        if op.prim is LOOP:
            inner = op.regions[0]
            for param, init in zip(inner.params[1:], op.inits):
                moving |= _roots(param.type) - _roots(type_of(init))
            if inner.dims is not body.dims:
                moving.update(d.root for d in inner.dims.memo.values())
    moving -= body.dims.top().arg_roots
    if not moving:
        return
    new: dict[int, int] = {}

    def renamed(d: DimLike) -> DimLike:
        if not isinstance(d, Dim) or d.root not in moving:
            return d
        if d.root not in new:
            new[d.root] = body.dims.fresh().root
        return Dim(new[d.root], d.off)

    todo = [body]
    while todo:
        for op in todo.pop().ops:
            if op.prim is not LOOP:
                todo += op.regions
            for r in op.results:
                if not moving.isdisjoint(_roots(r.type)):
                    r.type = replace(r.type, dims=tuple(map(renamed, r.type.dims or ())))


def _roots(t: Ty) -> set[int]:
    return {d.root for d in t.dims or () if isinstance(d, Dim)}


def _yielded_at(region: Region, sites: list[Region], v: Value) -> Any:
    """The value in those runs of a region that end in one of the sites, which the branches in between yield."""
    if any(region is site for site in sites):
        return v
    owners = (r.op for site in sites for r in enclosing(site))
    branch = next(op for op in owners if op is not None and op.parent is region)
    result = Value(v.type, v.hint, branch)
    for side in branch.regions:
        here = [site for site in sites if side in enclosing(site)]
        side.exit = (*side.exit, _yielded_at(side, here, v) if here else UNDEF)
    branch.results.append(result)
    return result


def is_integer(v: Value) -> bool:
    """Proven an integer or a bool, as a number."""
    return v.type.is_scalar and v.type.dtype is not None and v.type.dtype.kind in "ib"


def _stores_all(op: Op) -> bool:
    """The operation stores an array over one of the same shape and dtype."""
    if op.prim is not SET or op.parent is None or type(op.args[2]) is not Value or not opset.is_whole(op.args[1]):
        return False
    old, new, dims = op.args[0].type, op.args[2].type, op.parent.dims
    if old.kind != "array" or new.kind != "array" or old.duck is not None or new.duck is not None:
        return False
    if not same_dtype(old.dtype, new.dtype) or old.dims is None or new.dims is None or len(old.dims) != len(new.dims):
        return False
    return all(map(dims.same, old.dims, new.dims))


def _alike(*values: Value) -> bool:
    """Numbers of one kind, or arrays of one dtype with as many axes."""
    first = values[0].type
    return first.kind in ("py", "generic", "scalar", "array") and all(
        v.type.kind == first.kind and same_dtype(v.type.dtype, first.dtype) and v.type.ndim == first.ndim
        for v in values
    )


def _decided_by(op: Op, attempt: Op) -> bool:
    """It is the handler of the ``try``, or its else."""
    return op.prim is IF and attempt.prim is TRY and op.args[0] is attempt.results[0]


def _is_backward(op: Op) -> bool:
    return bool(op.tag == DERIVED)
