"""The backward pass: the records behind the targets are replayed into one recording, whose pullback the core compiles.

The core finds what was compiled for the same structure before, so a training loop compiles in its first step. Records
of which only a Python function knows the pullback (custom functions, hooks) are barriers there.
"""

from __future__ import annotations

import operator
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...ir.core import Value, leaves
from ...ir.opset import PRIMS
from ...ir.rewrite import collect_uses
from ...tape.barrier import Barrier
from ...tape.connect import View, records_of
from ...tape.pullback import NotBatchedError, Pullback, Request, request
from ...tape.recording import BARRIER, PULL, Recording, TrieNode, leaf_key, shift
from ...tape.sweep import sweep
from .core import Base, new_tensor
from .core import run as run_operation
from .record import WRITES, GraphRecord, Operands, System, Var, Version, give, shown

CONSTANT, WATCHED = leaf_key("c"), leaf_key("p")


class Replay:
    """The records behind some targets, in one recording.

    leaf_slots: of each leaf, the slots of the values that it had. hooked: there are barriers. freed: some values are
    gone.
    """

    def __init__(self, targets: Sequence[Var]):
        self.rec = Recording(masks=None)  # zero times infinity is nan in PyTorch and in MXNet
        self.leaf_slots: dict[Var, list[int]] = {}
        self.hooked = False
        self.freed = False
        self._places: dict[GraphRecord, int] = {}  # where a record's slots are: what is added to them
        self._leaves: dict[Var, tuple[int, Version, int]] = {}
        self._others: dict[tuple[Var, int, int], int] = {}  # further values of a Var
        self._after: dict[Var, int] = {}  # the slot that lies behind the hooks of a Var
        self._before: dict[int, int] = {}  # from such a slot to the one that lies before the hooks
        self._origin: dict[int, tuple[GraphRecord, int]] = {}  # of slots that a record does not make
        self._starts: list[int] = []  # the first slots of records
        self.records = behind(targets)
        for record in self.records:
            self._append(record)
        for var in targets:
            if var.record is None and var not in self._leaves:
                operand = Operands()
                operand.tensor(var.owner())
                self._leaf(operand.record(""), 0, var)
        self.writes = self.records[0].writes if self.records else -1

    def slot(self, var: Var) -> int:
        """The slot of a value that the targets depend on; -1 if they do not."""
        after = self._after.get(var)
        if after is not None:
            return after
        if var.record is None:
            leaf = self._leaves.get(var)
            return -1 if leaf is None else leaf[0]
        place = self._places.get(var.record)
        return -1 if place is None else place + var.slot

    def origin(self, slot: int) -> tuple[GraphRecord, int]:
        """The record that holds the value of a slot, and the slot there."""
        found = self._origin.get(slot)
        if found is None:
            record = self.records[bisect_right(self._starts, slot) - 1]
            found = record, slot - self._places[record]
        return found

    def source_slots(self, var: Var) -> list[int]:
        if var.record is None:
            return self.leaf_slots.get(var, [])
        slot = self.slot(var)
        return [] if slot < 0 else [self._before.get(slot, slot)]

    def _new_leaf(self, record: GraphRecord, k: int, key: Any) -> int:
        rec = self.rec
        slot = rec.step(key, 1)
        rec.values.append(shown(record.values[k]) if record.freed else record.values[k])
        self._origin[slot] = record, k
        return slot

    def _leaf(self, record: GraphRecord, k: int, var: Var) -> int:
        """The slot of a leaf, which is an operand."""
        version, count = record.versions[k], record.counts[k]
        known = self._leaves.get(var)
        if known is None:
            made = self._new_leaf(record, k, WATCHED)
            self.leaf_slots[var] = [made]
            made = self._hooks(var, made)
            self._leaves[var] = made, version, count
            return made
        slot = known[0]
        if known[1] is not version or known[2] != count:
            key = (var, id(version), count)
            found = self._others.get(key)
            if found is None:
                made = self._new_leaf(record, k, WATCHED)
                self.leaf_slots[var].append(made)
                self._others[key] = made = self._hooks(var, made)
                return made
            slot = found
        if self.freed:
            self._take_over(self._before.get(slot, slot), record, k)
        return slot

    def _result(self, record: GraphRecord, k: int, var: Var) -> int:
        """The slot of a result, which is an operand of another record."""
        slot = self.slot(var)
        if record.versions[k] is var.version and record.counts[k] == var.count:
            if self.freed:
                self._take_over(slot, record, k)
            return slot
        # The memory was written to without the graph's knowing, or this is a copy that was made before a write.
        key = (var, id(record.versions[k]), record.counts[k])
        found = self._others.get(key)
        if found is None:
            found = self._others[key] = self._new_leaf(record, k, (PRIMS[np.positive], slot))
        return found

    def _take_over(self, slot: int, record: GraphRecord, k: int) -> None:
        """An operand may still have the value that others have let go of."""
        if not record.freed and self.origin(slot)[0].freed:
            self.rec.values[slot] = record.values[k]
            self._origin[slot] = record, k

    def _append(self, record: GraphRecord) -> None:
        rec = self.rec
        places, after, freed = self._places, self._after, self.freed
        slots: list[Any] = [record.node]
        for k, var in enumerate(record.operands):
            if var is None:
                slots.append(self._new_leaf(record, k, CONSTANT))
            elif var.record is None:
                slots.append(self._leaf(record, k, var))
            elif (
                record.counts[k] == var.count
                and record.versions[k] is var.version
                and not freed
                and (not after or var not in after)
            ):
                slots.append(places[var.record] + var.slot)
            else:
                slots.append(self._result(record, k, var))
        node = rec.node
        key = tuple(slots)
        count = len(slots) - 1
        found = node.pulls.get(key)  # the structure that appending this one leads to
        rec.node = self._walk(record.node, slots[1:]) if found is None else found
        if found is None:
            node.pulls[key] = rec.node
        place = places[record] = node.count - count
        self._starts.append(node.count)
        if record.freed:
            self.freed = True
            rec.values.extend([shown(v) for v in record.values[count:]])
        else:
            rec.values.extend(record.values[count:])
        if record.barriers:
            self.hooked = True
            for local, barrier in record.barriers.items():
                rec.set_barrier(place + local, barrier)
        if record.marked:
            for ref in record.vars.values():
                var = ref()
                if var is not None:
                    self._hooks(var, place + var.slot)

    def _walk(self, node: TrieNode, slots: list[int]) -> TrieNode:
        """The structure that the records of a small one lead to, whose first slots are these."""
        rec = self.rec
        start = rec.node
        for step in node.path()[len(slots) :]:
            assert step.parent is not None
            first = step.parent.count
            base = rec.step(shift(step.key, slots.__getitem__), step.count - first)
            slots.extend(range(base, base + step.count - first))
        reached, rec.node = rec.node, start
        return reached

    def _hooks(self, var: Var, slot: int) -> int:
        """The slot from which the others read: the Var's own, or what lies behind its hooks."""
        if not var.hooks:
            return slot
        self.hooked = True
        after = self.rec.step((BARRIER, (slot,), 1, None), 1)
        self.rec.values.append(self.rec.values[slot])
        self.rec.set_barrier(after, Gradient(None, _hooked(var), lambda: False))
        self._origin[after] = self.origin(slot)
        self._before[after] = slot
        if var.record is not None:
            self._after[var] = after
        return after


class Gradient(Barrier):
    """The pullback of an operation with a gradient of one's own.

    back: takes a cotangent for each result, and gives one, or None, for each operand. zeros: whether it gets zeros, and
    not None, for results that nothing depends on. release: called when the graph is freed.
    """

    def __init__(
        self, system: Any, back: Callable[..., list[Any]], zeros: Callable[[], bool] = lambda: True,
        release: Callable[[], None] = lambda: None,
    ):  # fmt: skip
        super().__init__(back)
        self.system, self.zeros, self.release = system, zeros, release

    def pullback(self, given: list[Any], values: list[Any], cls: type[Any]) -> list[Any]:
        given = [flipped(g) for g in given]
        if self.zeros():
            given = [new_tensor(self.system, np.zeros_like(v)) if g is None else g for g, v in zip(given, values)]
        return [flipped(g) for g in self.back(*given)]

    def part(self, g: Any, k: int) -> Any:
        return run_operation("Select", lambda a: a[k], g)

    def joined(self, parts: list[Any]) -> Any:
        known = [g for g in parts if g is not None]
        if not known:
            return None
        full = [new_tensor(self.system, np.zeros_like(known[0]._value)) if g is None else g for g in parts]
        return run_operation("Stack", lambda *rows: np.stack(rows), *full)


def _hooked(var: Var) -> Callable[..., list[Any]]:
    """The pullback of an identity, whose cotangent the hooks of a Var may replace."""

    def back(g: Any) -> list[Any]:
        for hook in list((var.hooks or {}).values()):
            found = hook(g)
            g = g if found is None else found
        return [g]

    return back


def flipped(g: Any) -> Any:
    """A gradient as PyTorch has it as a cotangent of the core's, or the other way round: conjugates, if complex."""
    return g.conj() if g is not None and g._value.dtype.kind == "c" else g


def behind(targets: Iterable[Var]) -> list[GraphRecord]:
    """The records that the targets depend on, in the order in which they were made."""
    todo = [v.record for v in targets if v.record is not None]
    seen = set(todo)
    while todo:
        for var in todo.pop().operands:
            if var is not None:
                record = var.record
                if record is not None and record not in seen:
                    seen.add(record)
                    todo.append(record)
    return sorted(seen, key=_serial_of)


_serial_of = operator.attrgetter("serial")


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
            k in op.prim.shape_only for op in pull.function.body.walk() for k, a in enumerate(op.args) if a is param
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


def unreadable(replay: Replay, pull: Pullback, system: System) -> Exception | None:
    """The error if a value that the pullback reads was freed, or overwritten since."""
    if replay.writes == WRITES.count and not replay.freed:
        return None
    for slot, shape in zip(pull.needed, shape_only(pull)):
        if shape:
            continue
        record, local = replay.origin(slot)
        value = record.values[local]
        count = len(record.operands)
        if record.freed and (local < count or type(value) is tuple or isinstance(value, np.floating)):
            return RuntimeError(system.freed)
        if local < count:
            if record.versions[local].count != record.counts[local]:
                return modified(system, value, record.versions[local], record.counts[local], record.operands[local])
            continue
        var = record.known_var(local)
        if var is not None and var.version.count != var.count:
            return modified(system, value, var.version, var.count, var)
        for k in range(count):
            if record.versions[k].count != record.counts[k] and isinstance(value, np.ndarray):
                given = record.values[k]
                if np.may_share_memory(value, given):
                    return modified(system, given, record.versions[k], record.counts[k], record.operands[k])
    return None


def readable(replay: Replay, ask: Request, system: System) -> Pullback:
    """The pullback, or one that reads no more than the operations themselves do, if values of others are gone.

    Raises RuntimeError if it cannot be run either.
    """
    values = replay.rec.values
    pull = ask.pullback(values)
    error = unreadable(replay, pull, system)
    if error is None:
        return pull
    key = ("plain", ask)
    other: Request | None = ask.node.pulls.get(key)
    if other is None:
        other = ask.node.pulls[key] = ask.plainly()
    pull = other.pullback(values)
    if unreadable(replay, pull, system) is not None:
        raise error
    return pull


def modified(system: System, value: Any, version: Version, count: int, var: Var | None) -> Exception:
    """The error for an operand whose memory was written to since."""
    owner = var.owner() if var is not None else None
    made = owner._var if owner is not None else None
    by = ""
    if made is not None and made.record is not None:
        by = f", which is output 0 of {made.record.name.removesuffix('Backward0').removesuffix('Backward1')},"
    kind = system.type_name(value.dtype)
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{kind} {list(np.shape(value))}]{by} is at version {version.count}; expected version {count} "
        "instead. Hint: a value that the backward pass reads was overwritten; write into a clone() of it."
    )


# --- the pass ---------------------------------------------------------------------------------------------------------


def gradients(
    targets: list[Var], seeds: list[Any], sources: list[Var] | None, retain_graph: bool, create_graph: bool,
    stacked: bool = False,
) -> list[tuple[Var, Any]]:  # fmt: skip
    """The gradients of the sources, None for those that no target depends on. Seeds are tensors, one for each target.

    Without sources: of all leaves that the targets depend on, and of the results that keep their gradients. `stacked`:
    seeds and results are stacks of cotangents; raises NotBatchedError where an operation has no rule for these.
    """
    replay = Replay(targets)
    if sources is None:
        sources = kept(replay)
    slots = [replay.source_slots(var) for var in sources]
    system = seeds[0]._system
    mode = system.mode
    saved, mode.grad = mode.grad, create_graph
    try:
        summed: dict[int, Any] = {}
        for var, seed in zip(targets, seeds):
            slot = replay.slot(var)
            if seed._value.dtype.kind == "c":
                seed = seed.conj()
            summed[slot] = summed[slot] + seed if slot in summed else seed
        wanted = tuple(dict.fromkeys([s for found in slots for s in found]))
        found = _cotangents(replay, summed, wanted, create_graph, system, stacked)
        out: list[tuple[Var, Any]] = []
        for var, own_slots in zip(sources, slots):
            total = None
            for slot in own_slots:
                g = found.get(slot)
                if g is not None:
                    total = g if total is None else total + g
            if total is None:
                if own_slots and (var in targets or any(var in r.operands for r in replay.records)):
                    # It is used, without a slope.
                    zeros = np.zeros_like(replay.rec.values[own_slots[0]])
                    if stacked:
                        zeros = np.zeros((len(seeds[0]._value), *zeros.shape), zeros.dtype)
                    total = new_tensor(system, zeros)
            elif total._value.dtype.kind == "c":
                total = total.conj()
            out.append((var, total))
    finally:
        mode.grad = saved
    if not retain_graph:
        for record in replay.records:
            record.free()
    return out


def kept(replay: Replay) -> list[Var]:
    """The leaves of a graph, and the results that keep their gradients."""
    found = list(replay.leaf_slots)
    for record in replay.records:
        if record.marked:
            found += [var for ref in record.vars.values() if (var := ref()) is not None and var.retained]
    return found


def _cotangents(
    replay: Replay, summed: dict[int, Any], wanted: tuple[int, ...], create_graph: bool, system: System, stacked: bool
) -> dict[int, Any]:
    rec = replay.rec
    if replay.hooked:

        def run(rec: Recording, ask: Request, given: list[Any], cls: type[Any]) -> dict[int, Any]:
            return run_pullback(replay, ask, given, create_graph, system, stacked)

        return sweep(rec, _view(replay), list(summed.items()), wanted, Base, run, stacked)
    key = ("connected", tuple(summed), wanted)
    pulls = rec.node.pulls
    if key not in pulls:
        pulls[key] = _connected(rec, tuple(summed), wanted, _view(replay))
    ask: Request | None = pulls[key]
    if ask is None:
        return {}
    return run_pullback(replay, ask, [summed[s] for s in ask.targets], create_graph, system, stacked)


def _view(replay: Replay) -> View:
    """All of the replay, with its leaves watched."""
    watched = [s for slots in replay.leaf_slots.values() for s in slots]
    return View(((0, replay.rec.node.count),), tuple([(s, 0) for s in watched]), False)


def tangents(
    targets: list[Var], sources: list[Var], dots: list[Any], create_graph: bool, stacked: bool = False
) -> list[Any]:
    """The tangents of the targets where the sources have the tangents `dots`; None for a target that depends on none of
    them. `stacked`: all these are stacks.

    Raises NotBatchedError where a Python function knows the gradient of an operation, or stacks are not possible.
    """
    replay = Replay(targets)
    if replay.hooked:
        raise NotBatchedError("a hook, or a function with its own gradient")
    system = dots[0]._system
    seeds = {s: d for var, d in zip(sources, dots) for s in replay.source_slots(var)}
    rec, ends = replay.rec, [replay.slot(var) for var in targets]
    key = ("tangents", tuple(ends), tuple(seeds))
    ask: Request | None = rec.node.pulls.get(key)
    if ask is None:
        records, alive = records_of(rec.node, _view(replay), rec.values)
        reached = set(seeds)
        for record in records:
            reached.update(record.reached(reached))
        wanted = tuple(dict.fromkeys([t for t in ends if t in reached]))
        ask = rec.node.pulls[key] = Request(rec.node, wanted, tuple(seeds), True, records, alive, forward=True)
    if not ask.targets:
        return [None] * len(targets)
    found = run_pullback(replay, ask, [seeds[s] for s in ask.sources], create_graph, system, stacked)
    return [found.get(t) for t in ends]


def _connected(rec: Recording, targets: tuple[int, ...], sources: tuple[int, ...], view: View) -> Request | None:
    """The request for those of the targets that the sources lead to; None if there are none."""
    ask = request(rec, targets, sources, view, seeded=True)
    made = {s for r in ask.records for s in r.results} | ask.reached
    live = tuple([t for t in targets if t in made])
    found = request(rec, live, sources, view, seeded=True) if live else None
    return found if found is not None and found.sources else None


def run_pullback(
    replay: Replay, ask: Request, seeds: list[Any], create_graph: bool, system: System, stacked: bool = False
) -> dict[int, Any]:
    """The cotangents of the sources of a request, or the tangents of its targets, as tensors by slot; recorded if the
    graph is wanted."""
    values = replay.rec.values
    pull = readable(replay, ask, system)
    if stacked:
        many = pull.stacked()
        if many is None:
            raise NotBatchedError("the pullback")
        pull = many
    given = (*pull.fetch(values), *[s._value[()] for s in seeds])
    with np.errstate(all="ignore"):  # infinities and NaN are values like others here
        results = pull.run(*given)
    if len(ask.results) == 1:
        results = (results,)
    taken = {*map(id, given), *[id(s._value) for s in seeds]}
    tensors = []
    for g, slot in zip(results, ask.results):
        like = values[slot]
        made = own(g, like, taken, (len(seeds[0]._value), *like.shape) if stacked else like.shape)
        taken.add(id(made))
        tensors.append(new_tensor(system, made))
    if create_graph and system.mode.grad:
        _record(replay, pull, given, seeds, tensors)
    return dict(zip(ask.results, tensors))


def own(g: Any, like: Any, taken: set[int], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """The gradient in memory of its own, in this shape and in the dtype of what it belongs to. `taken`: the arrays, by
    id, that are others' already."""
    value: np.ndarray[Any, Any] = g if type(g) is np.ndarray else np.asarray(g)
    if value.dtype is not like.dtype and value.dtype != like.dtype:
        value = (value.real if like.dtype.kind != "c" and value.dtype.kind == "c" else value).astype(like.dtype)
    if value.shape != shape:
        value = np.broadcast_to(value, shape)
    if value.base is not None or id(value) in taken or not value.flags.writeable:
        value = value.copy()
    return value


def _record(replay: Replay, pull: Pullback, given: Any, seeds: list[Any], results: list[Any]) -> None:
    """Record that the pullback was run: an operation on the values that it took."""
    operands = Operands()
    for slot, value in zip(pull.needed, given):
        record, local = replay.origin(slot)
        if local < len(record.operands):
            operands.add(record.operands[local], value, record.versions[local], record.counts[local])
        elif not isinstance(value, (np.ndarray, np.generic)):
            operands.add(None, value, Version())  # a number of the program
        else:
            var = record.var(local)
            operands.add(var, value, var.version, var.count)
    for seed in seeds:
        operands.tensor(seed)
    if all(var is None for var in operands.vars):
        return
    first = operands.step((PULL, pull, *range(len(operands.vars))), [t._value[()] for t in results])
    made = operands.record("Backward")
    made.writes = replay.writes
    for k, t in enumerate(results):
        # Also where it depends on them without a slope: then its own gradient is zero.
        if t._value.dtype.kind in "fc":
            give(t, made, first + k)
