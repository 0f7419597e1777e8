"""The backward pass: the records behind the targets are replayed into one recording, whose pullback the core compiles.

The core finds what was compiled for the same structure before, so a training loop compiles in its first step. Records
of which only a Python function knows the pullback (custom functions, hooks) are barriers there.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.core import Value, leaves
from ...ir.opset import PRIMS
from ...ir.rewrite import SHAPE_ONLY, collect_uses
from ...tape.barrier import Barrier
from ...tape.connect import View
from ...tape.pullback import Pullback, Request, request
from ...tape.recording import BARRIER, CALL, CONTAINERS, LEAF, PULL, Node, Recording
from ...tape.sweep import sweep
from .core import Base, new_tensor
from .record import Record, Recorded, System, Use, Var, Version, shown


class Replay:
    """The records behind some targets, in one recording.

    slots: of each Var, the slot of its value; leaf_slots: of each leaf, the slots of the values that it had.
    origin: of each slot, the record and the slot there, or the operand that a leaf slot stands for.
    """

    def __init__(self, targets: Sequence[Var]):
        self.rec = Recording()
        self.slots: dict[Var, int] = {}
        self.leaf_slots: dict[Var, list[int]] = {}
        self.origin: list[Any] = []
        self.before: dict[int, int] = {}  # from a slot that lies behind hooks to the one that lies before them
        self.hooked = False
        self._others: dict[tuple[Var, int, int], int] = {}
        self.records = behind(targets)
        for record in self.records:
            self._append(record)
        for var in targets:
            if var.record is None and var not in self.slots:
                tensor = var.owner()
                self._leaf(Use(var, tensor._value[()], tensor._memory))

    def _new_leaf(self, value: Any, origin: Any) -> int:
        slot = self.rec.step((LEAF, "", False), 1)
        self.rec.values.append(shown(value))
        self.origin.append(origin)
        return slot

    def _leaf(self, use: Use) -> int:
        var = use.var
        assert var is not None
        key = (var, id(use.version), use.count)
        found = self._others.get(key)
        if found is None:
            made = self._new_leaf(use.value, use)
            self.leaf_slots.setdefault(var, []).append(made)
            found = self._others[key] = self._hooks(var, made)
            self.slots.setdefault(var, found)
        else:
            slot = self.before.get(found, found)
            if self.origin[slot].freed and not use.freed:
                self._take_over(slot, use)
        return found

    def _use(self, use: Use) -> int:
        """The slot of an operand."""
        var = use.var
        if var is None:
            return self._new_leaf(use.value, use)
        if var.record is None:
            return self._leaf(use)
        main = self.slots[var]
        if use.version is var.version and use.count == var.count:
            origin = self.origin[main]
            if type(origin) is not Use and origin[0].freed and not use.freed:
                self._take_over(main, use)
            return main
        # The memory was written to without the graph's knowing, or this is a copy that was made before a write.
        key = (var, id(use.version), use.count)
        found = self._others.get(key)
        if found is None:
            found = self.rec.step((PRIMS[np.positive], main), 1)
            self.rec.values.append(shown(use.value))
            self.origin.append(use)
            self._others[key] = found
        return found

    def _take_over(self, slot: int, use: Use) -> None:
        """An operand still has the value that others have let go of."""
        self.rec.values[slot] = shown(use.value)
        self.origin[slot] = use

    def _append(self, record: Record) -> None:
        slots: list[int] = []
        rec = self.rec
        for node in record.node.path():
            assert node.parent is not None
            first = node.parent.count
            if node.key[0] == LEAF:
                slots.append(self._use(record.uses[first]))
                continue
            key = moved(node.key, slots)
            base = rec.step(key, node.count - first)
            if node.key[0] == BARRIER:
                rec.barriers[base] = record.barriers[first]
                self.hooked = True
            for k in range(first, node.count):
                slots.append(base + k - first)
                rec.values.append(shown(record.values[k]) if record.freed else record.values[k])
                self.origin.append((record, k))
        for slot, ref in record.vars.items():
            var = ref()
            if var is not None:
                self.slots[var] = self._hooks(var, slots[slot])

    def _hooks(self, var: Var, slot: int) -> int:
        """The slot from which the others read: the Var's own, or what lies behind its hooks."""
        if not var.hooks:
            return slot
        self.hooked = True
        after = self.rec.step((BARRIER, (slot,), 1, None), 1)
        self.rec.values.append(self.rec.values[slot])
        self.rec.barriers[after] = _Hooks(var)
        self.origin.append(self.origin[slot])
        self.before[after] = slot
        return after

    def source_slots(self, var: Var) -> list[int]:
        if var.record is None:
            return self.leaf_slots.get(var, [])
        slot = self.slots.get(var)
        return [] if slot is None else [self.before.get(slot, slot)]


class _Hooks(Barrier):
    """The identity, whose cotangent the hooks of a Var may replace."""

    def __init__(self, var: Var):
        super().__init__(lambda g: [g], None)
        self.var = var

    def pullback(self, given: list[Any], values: list[Any], cls: type[Any]) -> list[Any]:
        g = flipped(given[0])
        for hook in list((self.var.hooks or {}).values()):
            found = hook(g)
            if found is not None:
                g = found
        return [flipped(g)]


def flipped(g: Any) -> Any:
    """A gradient as PyTorch has it as a cotangent of the core's, or the other way round: conjugates, if complex."""
    return g.conj() if g is not None and g._value.dtype.kind == "c" else g


def behind(targets: Sequence[Var]) -> list[Record]:
    """The records that the targets depend on, in the order in which they were made."""
    seen: set[Record] = set()
    todo = [v.record for v in targets if v.record is not None]
    while todo:
        record = todo.pop()
        if record in seen:
            continue
        seen.add(record)
        todo.extend(u.var.record for u in record.uses if u.var is not None and u.var.record is not None)
    return sorted(seen, key=lambda r: r.serial)


def _moved(a: Any, slots: list[int]) -> Any:
    if type(a) is int:
        return a if a < 0 else slots[a]
    if type(a) is tuple and a and a[0] in CONTAINERS:
        return (a[0], *[_moved(x, slots) for x in a[1:]])
    return a


def moved(key: Any, slots: list[int]) -> Any:
    """The key of a record of a small recording, in the large one."""
    head = key[0]
    if head == BARRIER:
        return (BARRIER, tuple([_moved(s, slots) for s in key[1]]), *key[2:])
    if head == PULL:
        return (PULL, key[1], *[_moved(s, slots) for s in key[2:]])
    if type(key[1]) is tuple and key[1][:1] == (CALL,):
        named = tuple([(name, _moved(a, slots)) for name, a in key[2]])
        return (head, (CALL, *[_moved(a, slots) for a in key[1][1:]]), named)
    return (head, *[_moved(s, slots) for s in key[1:]])


# --- may the values still be read? ------------------------------------------------------------------------------------

_known_shapes: dict[int, tuple[Pullback, tuple[bool, ...]]] = {}


def shape_only(pull: Pullback) -> tuple[bool, ...]:
    """Of each value that a pullback takes, whether it reads no more than the shape and the dtype."""
    found = _known_shapes.get(id(pull))
    if found is not None and found[0] is pull:
        return found[1]
    uses = collect_uses(pull.function.body)
    out = []
    for param in pull.function.params[: len(pull.needed)]:
        plain = all(
            k in SHAPE_ONLY.get(op.prim, ())
            for op in pull.function.body.walk()
            for k, a in enumerate(op.args)
            if a is param
        ) and not any(param in _nested(op) for op in pull.function.body.walk())
        out.append(plain and param in uses)
    if len(_known_shapes) > 4096:
        _known_shapes.clear()
    _known_shapes[id(pull)] = (pull, tuple(out))
    return tuple(out)


def _nested(op: Any) -> list[Any]:
    """The operands that are not themselves arguments, but lie in nested ones."""
    out = leaves([a for a in op.args if type(a) is not Value] + [op.kwargs])
    for region in op.regions:
        out += leaves(region.exit)
    return out


def check_readable(replay: Replay, pull: Pullback, system: System) -> None:
    """Raise if a value that the pullback reads was freed, or overwritten since."""
    for slot, shape in zip(pull.needed, shape_only(pull)):
        if shape:
            continue
        origin = replay.origin[slot]
        if type(origin) is Use:
            if origin.freed:
                raise RuntimeError(system.freed)
            if origin.version.count != origin.count:
                raise modified(origin, system)
            continue
        record, local = origin
        if record.freed and isinstance(replay.rec.values[slot], (np.ndarray, np.generic)):
            raise RuntimeError(system.freed)
        value = record.values[local]
        var = record.known_var(local)
        if var is not None and var.version.count != var.count:
            raise modified(Use(var, value, var.version, var.count), system)
        for use in record.uses:
            if use.version.count != use.count and isinstance(value, np.ndarray):
                if np.may_share_memory(value, use.value):
                    raise modified(use, system)


def modified(use: Use, system: System) -> Exception:
    """The error for an operand whose memory was written to since."""
    owner = use.var.owner() if use.var is not None else None
    by = ""
    if owner is not None and owner.grad_fn is not None:
        by = f", which is output 0 of {owner.grad_fn.name().removesuffix('Backward0').removesuffix('Backward1')},"
    kind = system.type_name(use.value.dtype)
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{kind} {list(np.shape(use.value))}]{by} is at version {use.version.count}; expected version {use.count} "
        "instead. Hint: a value that the backward pass reads was overwritten; write into a clone() of it."
    )


# --- the pass ---------------------------------------------------------------------------------------------------------


def gradients(
    targets: list[Var], seeds: list[Any], sources: list[Var], retain_graph: bool, create_graph: bool
) -> list[Any]:
    """The gradients of the sources, None for those that no target depends on. Seeds are tensors, one for each
    target."""
    replay = Replay(targets)
    rec = replay.rec
    wanted: list[int] = []
    for var in sources:
        wanted += replay.source_slots(var)
    watched = [s for slots in replay.leaf_slots.values() for s in slots]
    view = View(((0, rec.node.count),), tuple([(s, 0) for s in watched]), False)
    summed: dict[int, Any] = {}
    system = seeds[0]._system
    with Recorded(system, create_graph):
        for var, seed in zip(targets, seeds):
            slot, seed = replay.slots[var], flipped(seed)
            summed[slot] = summed[slot] + seed if slot in summed else seed
        sources_slots = tuple(dict.fromkeys(wanted))

        def run(rec: Recording, ask: Request, given: list[Any], cls: type[Any]) -> dict[int, Any]:
            return run_pullback(replay, ask, given, create_graph, system)

        if replay.hooked:
            found = sweep(rec, view, list(summed.items()), sources_slots, Base, run)
        else:
            ask = connected(rec, tuple(summed), sources_slots, view)
            found = run(rec, ask, [summed[s] for s in ask.targets], Base) if ask is not None else {}
        out: list[Any] = []
        used = {u.var for r in replay.records for u in r.uses} | set(targets)
        for var in sources:
            total = None
            for slot in replay.source_slots(var):
                g = found.get(slot)
                if g is not None:
                    total = g if total is None else total + g
            if total is None and var in used:
                total = new_tensor(system, np.zeros_like(rec.values[replay.source_slots(var)[0]]))
            out.append(flipped(total))
    if not retain_graph:
        for record in replay.records:
            record.free()
    return out


def connected(rec: Recording, targets: tuple[int, ...], sources: tuple[int, ...], view: View) -> Request | None:
    """The request for those of the targets that the sources lead to; None if there are none."""
    key = ("connected", targets, sources, view.watched)
    node: Node = rec.node
    if key not in node.pulls:
        ask = request(rec, targets, sources, view, seeded=True)
        made = {s for r in ask.records for s in r.results} | ask.reached
        live = tuple([t for t in targets if t in made])
        node.pulls[key] = (request(rec, live, sources, view, seeded=True) if live else None,)
    found: Request | None = node.pulls[key][0]
    return found if found is not None and found.sources else None


def run_pullback(replay: Replay, ask: Request, seeds: list[Any], create_graph: bool, system: System) -> dict[int, Any]:
    """The cotangents of the sources of a request, as tensors by slot; recorded if the graph is wanted."""
    values = replay.rec.values
    pull = ask.pullback(values)
    check_readable(replay, pull, system)
    fetched = pull.fetch(values)
    with np.errstate(all="ignore"):  # infinities and NaN are values like others here
        results = pull.run(*fetched, *[s._value[()] for s in seeds])
    if len(ask.sources) == 1:
        results = (results,)
    owned = [own(g, values[s], (*fetched, *[t._value for t in seeds])) for g, s in zip(results, ask.sources)]
    tensors = [new_tensor(system, g) for g in owned]
    if create_graph and system.mode.grad:
        _record(replay, pull, fetched, seeds, tensors)
    return dict(zip(ask.sources, tensors))


def own(g: Any, like: Any, others: Sequence[Any]) -> np.ndarray[Any, Any]:
    """The gradient in memory of its own, in the shape and dtype of what it belongs to."""
    value = np.asarray(g)
    if value.dtype != like.dtype:
        value = (value.real if like.dtype.kind != "c" and value.dtype.kind == "c" else value).astype(like.dtype)
    if value.shape != np.shape(like):
        value = np.broadcast_to(value, np.shape(like))
    if value.base is not None or not value.flags.writeable or any(value is v for v in others):
        value = value.copy()
    return value


def _record(replay: Replay, pull: Pullback, fetched: Any, seeds: list[Any], results: list[Any]) -> None:
    """Record that the pullback was run: an operation on the values that it took."""
    rec = Recording()
    uses: list[Use] = []
    for slot, value in zip(pull.needed, fetched):
        origin = replay.origin[slot]
        if type(origin) is Use:
            use = Use(origin.var, value, origin.version, origin.count)
        else:
            if not isinstance(value, (np.ndarray, np.generic)):
                uses.append(Use(None, value, Version()))  # a number of the program
                continue
            var = origin[0].var(origin[1])
            use = Use(var, value, var.version, var.count)
        uses.append(use)
    for seed in seeds:
        uses.append(Use(seed._var, seed._value[()], seed._memory))
    if all(u.var is None for u in uses):
        return
    for use in uses:
        rec.step((LEAF, "", False), 1)
        rec.values.append(use.value)
    first = rec.step((PULL, pull, *range(len(uses))), len(results))
    rec.values.extend(t._value[()] for t in results)
    record = Record("Backward", uses, rec)
    for k, t in enumerate(results):
        # Also where it depends on them without a slope: then its own gradient is zero.
        if t._value.dtype.kind in "fc":
            t._own = record.output(first + k, t._memory)
            t._own.owner = weakref.ref(t)
