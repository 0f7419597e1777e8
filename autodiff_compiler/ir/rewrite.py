"""Ways to copy and look around in the IR that several passes share."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any

from .core import CALL, DERIVED, FUNC, IF, LOOP, LOOSE, Builder, Function, Loc, Op, Region, Value, leaves, map_leaves
from .types import duck_in


def content_operands(op: Op) -> list[Value]:
    """The values whose content the operation reads, not only their shape. The length of a list counts as content: a
    store in place changes it."""
    skip = op.prim.shape_only
    if not skip:
        return op.operands()
    kept = [arg for position, arg in enumerate(op.args) if position not in skip or _is_list(arg)]
    return leaves([*kept, op.kwargs])


def has_ducks(fn: Function) -> bool:
    """The function has a parameter that may be a duck array."""
    return any(duck_in(p.type) is not None for p in fn.params)


def _is_list(arg: Any) -> bool:
    return isinstance(arg, Value) and arg.type.kind == "list"


def region_of(value: Value) -> Region:
    """The region in which a value is defined."""
    region = value.op.parent if value.op is not None else value.region
    assert region is not None
    return region


def enclosing(region: Region | None) -> Iterator[Region]:
    """The region and those around it, innermost first."""
    while region is not None:
        yield region
        region = region.op.parent if region.op is not None else None


def stands_before(first: Op, op: Op) -> bool:
    """`first` stands in front of `op`, in its region or in one around it."""
    home = first.parent
    at: Op | None = op
    while at is not None and at.parent is not home:
        at = at.parent.op if at.parent is not None else None
    if at is None or home is None or at is first:
        return False
    return home.ops.index(first) < home.ops.index(at)


def joined_from(v: Value, loop: Op | None) -> list[Any]:
    """What a value that a branch or a loop hands on is on the paths that lead to it. What `loop` starts with is left
    out."""
    op = v.op if v.op is not None else v.region.op if v.region is not None else None
    if op is None or op.prim not in (IF, LOOP):
        return []
    if op.prim is IF:
        return [r.exit[op.results.index(v)] for r in op.regions]
    k = op.results.index(v) if v.op is op else op.regions[0].params.index(v) - 1
    return [op.regions[0].exit[k + 1], *([] if op is loop else [op.inits[k]])]


def clone_function(fn: Function) -> tuple[Function, dict[Value, Value]]:
    """A copy with values of its own, and the map from old to new values."""
    mapping: dict[Value, Value] = {}
    body = clone_region(fn.body, mapping)
    for forms in body.dims.top().varying.values():  # the variables of its loops are others
        forms += [copied for form in forms if (copied := _renamed(form, mapping)) is not form]
    return Function(fn.name, body, dict(fn.meta)), mapping


def _renamed(form: dict[Any, int], mapping: dict[Value, Value]) -> dict[Any, int]:
    if not any(type(root) is Value and root in mapping for root in form):
        return form
    return {mapping.get(root, root): factor for root, factor in form.items()}


def clone_region(region: Region, mapping: dict[Value, Value]) -> Region:
    new = Region(region.dims)
    for param in region.params:
        mapping[param] = new.param(param.type, param.hint)
    for op in region.ops:
        clone_op(op, mapping, new)
    new.exit = substitute(region.exit, mapping)
    names = region.dims.memo  # the copy's values give the lengths that the values give which they are copies of
    names.update([(copied, dim) for key, dim in names.items() if (copied := _rekeyed(key, mapping)) is not key])
    return new


def _rekeyed(key: Any, mapping: dict[Value, Value]) -> Any:
    """The key of a length (`Dims.named`) with other values; the same object if it names none of them."""
    if type(key) is Value:
        return mapping.get(key, key)
    if type(key) is tuple or type(key) is frozenset:
        parts = [_rekeyed(part, mapping) for part in key]
        if any(part is not old for part, old in zip(parts, key)):
            return type(key)(parts)
    return key


def clone_op(op: Op, mapping: dict[Value, Value], into: Region) -> Op:
    new = Op(op.prim, substitute(op.args, mapping), substitute(op.kwargs, mapping), (), op.loc)
    new.checks, new.droppable, new.tag, new.again = op.checks, op.droppable, op.tag, op.again
    for result in op.results:  # first, because a function may call itself
        mapping[result] = copy = Value(result.type, result.hint, new)
        new.results.append(copy)
    new.regions = tuple([clone_region(r, mapping) for r in op.regions])  # a generator would use up C's stack
    for region in new.regions:
        region.op = new
    new.parent = into
    into.ops.append(new)
    return new


def substitute(arg: Any, mapping: dict[Value, Value]) -> Any:
    return map_leaves(lambda v: mapping.get(v, v), arg)


def substitute_in(user: Op | Region, mapping: dict[Value, Value]) -> None:
    """Let an operation, or the exit of a region, read other values."""
    if isinstance(user, Region):
        user.exit = substitute(user.exit, mapping)
    else:
        user.args, user.kwargs = substitute(user.args, mapping), substitute(user.kwargs, mapping)


def replace_values(region: Region, mapping: dict[Value, Any]) -> None:
    """Replace uses of values throughout a region, in place. Chains in the mapping are followed."""
    if not mapping:
        return

    def resolve(v: Value) -> Any:
        while type(v) is Value and v in mapping:
            v = mapping[v]
        return v

    def visit(r: Region) -> None:
        for op in r.ops:
            if not mapping.keys().isdisjoint(op.operands()):
                op.args = map_leaves(resolve, op.args)
                if op.kwargs:
                    op.kwargs = map_leaves(resolve, op.kwargs)
            for inner in op.regions:
                visit(inner)
        r.exit = map_leaves(resolve, r.exit)

    visit(region)


def derived(region: Region, prim: Any, *args: Any, loc: Loc | None = None, **kwargs: Any) -> Op:
    """An operation of a derivative with one result, for a place in a region that the caller chooses."""
    op = Op(prim, args, kwargs, (), loc)
    op.results = [Value(prim.infer(Builder(region), args, kwargs), "", op)]
    op.tag, op.parent = DERIVED, region
    return op


def collect_uses(region: Region) -> dict[Value, list[Op | Region]]:
    """Every user of each value: operations, and regions whose exit names it."""
    uses: dict[Value, list[Op | Region]] = {}
    _collect_uses(region, uses)
    return uses


# A function inside of the other one that called itself would be a cycle: the table would wait for the collector.
def _collect_uses(region: Region, uses: dict[Value, list[Op | Region]]) -> None:
    for op in region.ops:
        for v in op.operands():
            if v in uses:
                uses[v].append(op)
            else:
                uses[v] = [op]
        for inner in op.regions:
            _collect_uses(inner, uses)
    for v in leaves(region.exit):
        uses.setdefault(v, []).append(region)


def live_uses(region: Region) -> dict[Value, list[Op | Region]]:
    """The uses of values. Operations of derivatives, and `LOOSE` ones, do not count if nothing reads their results."""
    uses = collect_uses(region)
    for op in reversed(list(region.walk())):
        if op.tag in (DERIVED, LOOSE) and _is_idle(op, uses):
            for v in op.operands():
                uses[v] = [user for user in uses[v] if user is not op]
    return uses


def _is_idle(op: Op, uses: Mapping[Value, list[Op | Region]]) -> bool:
    """Nothing reads what the operation makes, and it does nothing else. (A call may, whatever it gives.)"""
    return not op.regions and not op.prim.effects and op.prim is not CALL and not any(uses.get(r) for r in op.results)


class Uses:
    """The uses of values, kept while a pass replaces operations of a derivative one by one. As in `live_uses`, what
    nothing reads does not count."""

    def __init__(self, region: Region):
        self.of = live_uses(region)

    def __getitem__(self, v: Any) -> list[Op | Region]:
        return self.of.get(v, []) if type(v) is Value else []

    def add(self, ops: Iterable[Op]) -> None:
        for op in ops:
            for v in op.operands():
                self.of.setdefault(v, []).append(op)

    def forget(self, op: Op | None) -> None:
        """An operation of a derivative does not count if nothing reads its results any more."""
        waiting = [op]
        while waiting:
            op = waiting.pop()
            if op is None or op.tag != DERIVED or not _is_idle(op, self.of):
                continue
            for v in op.operands():
                if op in self[v]:
                    self.of[v].remove(op)
                    waiting.append(v.op)

    def change(self, op: Op, prim: Any, *args: Any) -> None:
        """Another operation in the place of one, with the same result."""
        before = op.operands()
        op.prim, op.args = prim, args
        self.add([op])
        for v in before:
            self.of[v].remove(op)
        for v in before:
            self.forget(v.op)

    def replace(self, v: Value, new: Any, but: Op | None = None) -> None:
        """Let what reads a value, but for one operation, read another one, or a constant."""
        users = self.of.pop(v, [])
        if but is not None:
            users, self.of[v] = [user for user in users if user is not but], [but]
        for user in users:
            if isinstance(user, Region):
                user.exit = substitute(user.exit, {v: new})
            else:
                user.args, user.kwargs = substitute(user.args, {v: new}), substitute(user.kwargs, {v: new})
        if type(new) is Value:
            self.of.setdefault(new, []).extend(users)
        self.forget(v.op)

    def insert(self, builder: Builder, at: Op, make: Callable[[], Any], behind: bool = False) -> tuple[Any, list[Op]]:
        """What `make` gives, and the operations that it builds: they are put in front of another one, or behind it."""
        ops, mark = builder.region.ops, len(builder.region.ops)
        with builder.active():
            out = make()
        new = ops[mark:]
        del ops[mark:]
        place = ops.index(at) + behind
        ops[place:place] = new
        self.add(new)
        for op in reversed(new):
            if op.results and op.result is not out:
                self.forget(op)
        return out, new


def operands_first(v: Value, known: Container[Value], inner: Callable[[Value], Iterable[Value]]) -> Iterator[Value]:
    """The values that `v` is computed from and that are not `known`, operands first, and `v` last.

    `inner` gives the operands of a value. The caller makes each value known when it gets it. There is no recursion,
    because a chain may be thousands of operations long.
    """
    todo = [v]
    opened: set[Value] = set()
    while todo:
        x = todo[-1]
        if x in known:
            todo.pop()
        elif x in opened:
            yield todo.pop()
        else:
            opened.add(x)
            todo += [y for y in inner(x) if y not in known and y not in opened]


def used_values(region: Region) -> set[Value]:
    """Every value that an operation or an exit names."""
    used: set[Value] = set(leaves(region.exit))
    for op in region.walk():
        used.update(op.operands())
        for inner in op.regions:
            used.update(leaves(inner.exit))
    return used


def handler_of(attempt: Op, skipped: Container[Op] = ()) -> Op | None:
    """The ``if`` that stands right behind a ``try`` and asks whether it was completed."""
    region = attempt.parent
    assert region is not None
    for op in region.ops[region.ops.index(attempt) + 1 :]:
        if op not in skipped:
            return op if op.prim is IF and op.condition is attempt.completed else None
    return None


# --- functions that call themselves -----------------------------------------------------------------------------------


def called(call: Op) -> Op:
    """The ``func`` that a ``call`` runs."""
    func = call.func.op
    assert func is not None and func.prim is FUNC
    return func  # type: ignore[no-any-return]


def enclosing_func(region: Region | None) -> Op | None:
    """The function in whose region this is, if any."""
    for r in enclosing(region):
        if r.op is not None and r.op.prim is FUNC:
            return r.op
    return None


def free_values(region: Region, operands: Callable[[Op], Iterable[Value]] = Op.operands) -> list[Value]:
    """The values that a region reads and that are defined outside of it, in order of first use.

    `operands` says which operands of an operation count. Values that called functions read are among them.
    """
    out: dict[Value, None] = {}
    _free_values(region, operands, out, set())
    return list(out)


def _free_values(
    region: Region, operands: Callable[[Op], Iterable[Value]], out: dict[Value, None], seen: set[Op]
) -> None:
    defined: set[Value] = set(region.params)
    for op in region.walk():
        defined.update(op.results)
        for inner in op.regions:
            defined.update(inner.params)

    def use(arg: Any) -> None:
        for v in leaves(arg):
            if v not in defined:
                out[v] = None

    for op in region.walk():
        use(tuple(operands(op)) if op.prim not in (IF, LOOP) else op.args if operands is Op.operands else op.args[1:])
        for inner in op.regions:
            use(inner.exit)
        if op.prim is CALL and called(op) not in seen:
            func = called(op)
            seen.add(func)
            found: dict[Value, None] = {}
            _free_values(func.regions[0], operands, found, seen)
            use(tuple(found))
    use(region.exit)


def hoist(func: Op, top: Region) -> list[Value]:
    """Put a function at the end of the top level. Nothing outside of it calls it yet.

    What it reads from deeper regions is passed to it, after its other arguments: the values returned are to be passed
    by calls to come.
    """
    region = func.regions[0]
    passed = [v for v in free_values(region) if v is not func.result and region_of(v) is not top]
    mapping: dict[Value, Any] = {v: region.param(v.type, v.hint) for v in passed}
    for op in region.walk():
        if op.prim is CALL and op.func is func.result:
            op.args = (*op.args, *passed)
    replace_values(region, mapping)
    func.parent = top
    top.ops.append(func)
    return passed


def drop_uncalled(body: Region) -> bool:
    """Remove functions that nothing outside of them calls. Returns whether there were any."""
    live: set[Op] = set()

    def visit(region: Region) -> None:
        for op in region.walk():
            if op.prim is CALL and called(op) not in live:
                live.add(called(op))
                visit(called(op).regions[0])

    for op in body.ops:
        if op.prim is not FUNC:
            if op.prim is CALL and called(op) not in live:
                live.add(called(op))
                visit(called(op).regions[0])
            for inner in op.regions:
                visit(inner)
    kept = [op for op in body.ops if op.prim is not FUNC or op in live]
    changed = len(kept) != len(body.ops)
    body.ops[:] = kept
    return changed
