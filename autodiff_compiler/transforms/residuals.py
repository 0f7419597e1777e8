"""Give the backward sweep the forward values that it reads: the to-be-recorded analysis, after the fact.

Before: operations of the backward sweep name forward values wherever these were defined, be it deep inside a loop.
After: each such read is one of, cheapest first,
  - the value itself, where it is still in scope;
  - the same computation again: integer arithmetic, lengths, elements of arrays that nothing overwrites;
  - an extra result of the ``if`` that computed it, where no loop lies between;
  - a value popped off a stack, to which the forward sweep pushes it once per run of the mirrored region.
"""

from __future__ import annotations

from typing import Any

from ..ir import opset
from ..ir.core import IF, LOOP, UNDEF, Function, Op, Region, Value, map_leaves
from ..ir.opset import ACCUM, ADDAT, DIM, GET, LIST_APPEND, LIST_SET, POP, PUSH, SET, SPREAD, STACK_NEW, STORES
from ..ir.rewrite import SHAPE_ONLY, collect_uses, enclosing, region_of
from ..ir.types import UNDEF_TY



def place(fn: Function) -> None:
    from .shapes import shapes_from_arguments
    from .simplify import drop_dead

    shapes_from_arguments(fn)
    drop_dead(fn)
    Placer(fn).run()
    drop_dead(fn)


class Placer:
    def __init__(self, fn: Function):
        self.body = fn.body
        self.forward: set[Region] = set()
        for op in self.body.ops:
            if op.tag != "derived" or not _is_backward(op):
                self._collect(op)
        self.memo: dict[tuple[Value, Region], Any] = {}
        self.preludes: dict[Region, list[Op]] = {}
        self.exported: dict[Value, Value] = {}
        self.uses = collect_uses(self.body)
        self._killed: dict[Value, bool] = {}

    def _collect(self, op: Op) -> None:
        for region in op.regions:
            self.forward.add(region)
            for inner in region.ops:
                self._collect(inner)

    def run(self) -> None:
        for op in list(self.body.ops):
            if _is_backward(op):
                self.visit_op(op, [])
        self.body.exit = map_leaves(lambda v: self.fetch(v, []), self.body.exit)
        for region, ops in self.preludes.items():
            for op in ops:
                op.parent = region
            region.ops[:0] = ops

    def visit(self, region: Region, chain: list[Region]) -> None:
        here = [*chain, region]
        for op in list(region.ops):
            self.visit_op(op, here)
        region.exit = map_leaves(lambda v: self.fetch(v, here), region.exit)

    def visit_op(self, op: Op, chain: list[Region]) -> None:
        skip = SHAPE_ONLY.get(op.prim, ())
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
        if t.kind == "array" and t.dims is not None and (t.dtype is not None or op.prim in (SPREAD, DIM)):
            dims = region_of(v).dims
            for other in self.sources():
                o = other.type
                if o.dims is not None and len(o.dims) == len(t.dims) and (o.dtype == t.dtype or op.prim in (SPREAD, DIM)):
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

    def fetch(self, v: Value, chain: list[Region]) -> Any:
        if self.reachable(v):
            return v
        home = region_of(v)
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
        again = self.recompute(v, region, chain)
        if again is not None:
            return again
        if not any(r.op is not None and r.op.prim is LOOP for r in enclosing(region_of(v))):
            return self.export(v)
        return self.save(v, region)

    def index_at_exit(self, loop: Op, region: Region, chain: list[Region]) -> Any:
        """The loop variable in the trip that left the loop."""
        trips = self.fetch(loop.results[-2], chain[:-1])
        if loop.args[0] is None:
            return trips
        start, stop, step, *flags = (map_leaves(lambda x: self.fetch(x, chain[:-1]), a) for a in loop.args[0])
        if flags and flags[0]:
            count = self.prelude(region, Op(opset.RANGE_LEN, (start, stop, step)), "")
            start = self.arithmetic(region, start, self.arithmetic(region, self.arithmetic(region, count, 1, "-"), step, "*"), "+")
            step = self.arithmetic(region, 0, step, "-")
        offset = trips if type(step) is int and step == 1 else self.arithmetic(region, trips, step, "*")
        return offset if type(start) is int and start == 0 else self.arithmetic(region, start, offset, "+")

    def arithmetic(self, region: Region, x: Any, y: Any, sign: str) -> Any:
        prim = {"+": opset.ADD, "-": opset.SUB, "*": opset.MUL}[sign]
        return self.prelude(region, Op(prim, (x, y)), "i")

    def prelude(self, region: Region, op: Op, hint: str) -> Value:
        from ..ir.types import py_int

        op.tag = "derived"
        if not op.results:
            op.results = [Value(py_int(), hint, op)]
        self.preludes.setdefault(region, []).append(op)
        op.parent = region
        return op.results[0]

    def recompute(self, v: Value, region: Region, chain: list[Region]) -> Any:
        op = v.op
        if op is None or not self.cheap(op, chain):
            return None
        skip = SHAPE_ONLY.get(op.prim, ())
        args = tuple(
            map_leaves((lambda x: self.fetch_shape(x, chain, op)) if k in skip else (lambda x: self.fetch(x, chain)), arg)
            for k, arg in enumerate(op.args)
        )
        new = Op(op.prim, args, dict(op.kwargs), (), op.loc)
        new.results = [Value(r.type, r.hint, new) for r in op.results]
        self.prelude(region, new, v.hint)
        return new.results[op.results.index(v)]

    def cheap(self, op: Op, chain: list[Region]) -> bool:
        """Costs no more than to save it, and needs nothing saved that would not be."""
        if op.regions or op.prim.effects or op.prim.nout != 1:
            return False
        if op.prim is GET:
            a, path = op.args
            if self.killed(a) or not self.reachable(a):
                return False
            return all(self.is_index(x) for x in op.operands() if x is not a)
        if op.prim in SHAPE_ONLY and op.result.type.kind == "py":
            t = op.args[0].type
            return t.kind == "array" and t.dims is not None and self.has_shape_source(op.args[0])
        t = op.result.type
        if t.kind == "py" and t.dtype is not None and t.dtype.kind in "ib":
            return all(self.is_index(x) for x in op.operands())
        return False

    def has_shape_source(self, v: Value) -> bool:
        probe = Op(DIM, (v, 0))
        return self.reachable(v) or self.fetch_shape_only(v, probe) is not None

    def fetch_shape_only(self, v: Value, op: Op) -> Value | None:
        t = v.type
        dims = region_of(v).dims
        for other in self.sources():
            o = other.type
            if o.dims is not None and t.dims is not None and len(o.dims) == len(t.dims) and all(map(dims.same, o.dims, t.dims)):
                return other
        return None

    def is_index(self, v: Value) -> bool:
        """An integer that is in scope, a loop's variable, or cheap arithmetic on such."""
        if v.type.kind not in ("py", "generic", "scalar") or v.type.dtype is None or v.type.dtype.kind not in "ib":
            return self.reachable(v)
        if self.reachable(v):
            return True
        if v.op is None:
            owner = v.region.op if v.region is not None else None
            return owner is not None and owner.prim is LOOP and v is owner.regions[0].params[0]
        return self.cheap(v.op, [])

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
        if owner is None:
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
        """Hand a value out of the ``if``s around it."""
        while not self.reachable(v):
            if v not in self.exported:
                home = region_of(v)
                owner = home.op
                assert owner is not None and owner.prim is IF
                result = Value(v.type, v.hint, owner)
                for region in owner.regions:
                    region.exit = (*region.exit, v if region is home else UNDEF)
                owner.results.append(result)
                self.exported[v] = result
            v = self.exported[v]
        return v

    def save(self, v: Value, region: Region) -> Value:
        """Push a value in the forward sweep and pop it in the backward one."""
        mirror = region.tag
        stack_op = Op(STACK_NEW, ())
        stack = Value(opset.STACK, f"{v.hint or 't'}_saved", stack_op)
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
            site.ops.insert(where, push)
        pop = Op(POP, (stack,))
        pop.results = [Value(v.type if v.type.kind != "undef" else UNDEF_TY, v.hint, pop)]
        pop.tag = "derived"
        self.preludes.setdefault(region, []).append(pop)
        pop.parent = region
        return pop.results[0]


def on_path(v: Any, site: Region) -> Any:
    """What `v` is at the end of `site`: inside a branch, the result of its ``if`` is what the branch hands out."""
    around = list(enclosing(site))
    while type(v) is Value and v.op is not None and v.op.prim is IF:
        inside = [r for r in v.op.regions if r in around]
        if not inside:
            return v
        v = inside[0].exit[v.op.results.index(v)]
    return v


def covers(mirror: Any, home: Region) -> bool:
    """What `home` defines is visible at the end of every site of the mirror."""
    for site in mirror.sites:
        for r in enclosing(site):
            if r is home:
                break
            if r is mirror.body:
                return False
    return True


def _is_backward(op: Op) -> bool:
    return op.tag == "derived"
