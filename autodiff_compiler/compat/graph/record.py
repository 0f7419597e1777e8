"""The graph: what each operation computed, so that `backward` can replay it.

A `GraphRecord` is one operation: the values, and the structure of the computation. The structure is a path in the
tape's trie whose first leaves are the operands. An operation of one primitive is recorded directly. Any other is a
plain function of arrays, written with NumPy. It runs on the tape's own tensors, with a recording of its own. `engine`
appends the records behind a target to one `Recording`, where the tape finds the compiled pullback.

A `Var` is one value of the graph: a result of a record, or a leaf. An operation in place gives a tensor another `Var`.
"""

from __future__ import annotations

import contextvars
import itertools
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...tape.native import Tensor as Traced
from ...tape.recording import BARRIER, STATE, Recording, TrieNode, Watcher, leaf_key

_serial = itertools.count()
new = object.__new__
ndarray = np.ndarray


class Mode(threading.local):
    """Whether operations are recorded, in this thread.

    quiet: ``quiet(f, *args)`` calls a function of NumPy's without its warnings: infinities and NaN are values like
    others here. It is not to be called from inside itself: then it raises RuntimeError.
    """

    grad: bool = True

    def __init__(self) -> None:
        # Entering a context costs less than `np.errstate`, which makes one anew each time.
        context = contextvars.Context()
        context.run(np.seterr, all="ignore")
        self.quiet: Callable[..., Any] = context.run


@dataclass(eq=False)
class System:
    """What differs between the systems whose graphs these are.

    mode: whether operations are recorded. cls: the class of tensors. check_cast: raises where a result of one dtype
    must not be written into a tensor of another. type_name: how messages call a tensor of a dtype. freed: the message
    where the graph was freed. refused: what to raise for a ValueError or IndexError of NumPy's, by the operation's name
    and the shapes of the tensors.
    """

    mode: Any
    cls: Any
    check_cast: Callable[[Any, Any], None]
    type_name: Callable[[Any], str]
    freed: str
    refused: Callable[[Exception, str, list[tuple[int, ...]]], Exception] = lambda error, *_: error


class Version:
    """Counts the writes into one piece of memory. All tensors that share the memory share it."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def written(self) -> None:
        """The memory was written to."""
        self.count += 1
        WRITES.count += 1


WRITES = new(Version)  # into any memory: where this has not moved, nothing was overwritten
WRITES.count = 0


class Var:
    """One value of the graph.

    record, slot: what made it; record is None for a leaf.
    version, count: the memory that it lies in, and how often that had been written to when it was made.
    owner: weakly, the tensor; of a leaf, the one that gets the gradient.
    hooks: functions of its gradient, by number; retained: its gradient is kept in its tensor.
    """

    __slots__ = ("record", "slot", "version", "count", "owner", "hooks", "retained", "__weakref__")

    def __init__(self, record: GraphRecord | None, slot: int, version: Version):
        self.record = record
        self.slot = slot
        self.version = version
        self.count = version.count
        self.owner: Callable[[], Any] = _nobody
        self.hooks: dict[int, Callable[..., Any]] | None = None
        self.retained = False


def _nobody() -> None:
    return None


class GraphRecord:
    """One operation: a structure whose first leaves are the operands.

    name: as in ``grad_fn=<AddBackward0>``; node: the structure; values: of its slots, those of the operands first.
    operands: the Vars of the operands, None for those that need no gradient; versions, counts: their memory, and how
    often it had been written to; writes: how often any memory had.
    vars: of its slots, those that something outside refers to; marked: some of them have hooks, or keep gradients.
    """

    __slots__ = (
        "name", "serial", "node", "operands", "versions", "counts", "writes", "values", "vars", "barriers", "freed",
        "marked", "__weakref__",
    )  # fmt: skip

    def __init__(
        self, name: str, node: TrieNode, operands: tuple[Var | None, ...], versions: tuple[Version, ...],
        counts: tuple[int, ...], values: list[Any], barriers: dict[int, Any] | None = None,
    ):  # fmt: skip
        self.name = name
        self.serial = next(_serial)
        self.node = node
        self.operands = operands
        self.versions = versions
        self.counts = counts
        self.writes = WRITES.count
        self.values = values
        self.vars: dict[int, Any] = {}
        self.barriers = barriers
        self.freed = False
        self.marked = False

    def var(self, slot: int) -> Var:
        """The Var of a slot; those of inner results are made when a gradient that is differentiated reads them."""
        made = self.known_var(slot)
        return self.output(slot, Version()) if made is None else made

    def known_var(self, slot: int) -> Var | None:
        ref = self.vars.get(slot)
        return ref() if ref is not None else None

    def output(self, slot: int, version: Version) -> Var:
        """The Var of a result."""
        made = Var(self, slot, version)
        self.vars[slot] = weakref.ref(made)
        return made

    def free(self) -> None:
        """Let go of the arrays. Their shapes and dtypes stay, as do numbers that are part of the program."""
        if self.freed:
            return
        self.freed = True
        self.values = [(v.shape, v.dtype) if v.__class__ is ndarray else v for v in self.values]
        for barrier in self.barriers.values() if self.barriers else ():
            release = getattr(barrier, "release", None)
            if release is not None:
                release()


def shown(value: Any) -> Any:
    """The value; for one that is gone, an array of its shape and dtype that takes no memory."""
    if type(value) is tuple:
        return np.broadcast_to(np.zeros((), value[1]), value[0])
    return value


class Operands:
    """The operands of a record that is being made."""

    def __init__(self) -> None:
        self.rec = Recording()
        self.vars: list[Var | None] = []
        self.versions: list[Version] = []
        self.counts: list[int] = []

    def add(self, var: Var | None, value: Any, version: Version, count: int | None = None) -> int:
        """One more; its slot."""
        rec = self.rec
        slot = rec.step(leaf_key(), 1)
        rec.values.append(value)
        self.vars.append(var)
        self.versions.append(version)
        self.counts.append(version.count if count is None else count)
        return slot

    def tensor(self, t: Any) -> int:
        """A tensor as the next one."""
        return self.add(t._var, t._value[()], t._memory)

    def step(self, key: Any, results: list[Any]) -> int:
        """Record results; the slot of the first one."""
        first = self.rec.step(key, len(results))
        self.rec.values.extend(results)
        return first

    def record(self, name: str) -> GraphRecord:
        rec = self.rec
        return GraphRecord(
            name, rec.node, tuple(self.vars), tuple(self.versions), tuple(self.counts), rec.values, rec.barriers
        )


class Trace(Operands):
    """A recording of one operation, while it runs."""

    def __init__(self) -> None:
        super().__init__()
        self.rec.tapes = (Watcher(),)  # it goes on when a tape that is opened inside is closed
        self.known: dict[int, Any] = {}

    def operand(self, t: Any) -> Any:
        """The core's tensor that stands for an operand."""
        found = self.known.get(id(t))
        if found is not None:
            return found
        made = new(Traced)
        made._token = self.rec.token
        made._slot = self.tensor(t)
        made._value = self.rec.values[-1]
        self.known[id(t)] = made
        return made

    def run(self, f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        state = STATE
        saved = state.rec, state.sealed
        state.rec, state.sealed = self.rec, True
        try:
            return f(*args)
        finally:
            state.rec, state.sealed = saved


def recording(tensors: list[Any]) -> bool:
    """An operation on these tensors is to be recorded."""
    if tensors and tensors[0]._system.mode.grad:
        for t in tensors:
            if (t._own if t._base is None else t._var) is not None:
                return True
    return False


def give(t: Any, record: GraphRecord, slot: int) -> None:
    """The tensor is this result of the record."""
    var = t._own = record.output(slot, t._memory)
    var.owner = weakref.ref(t)


def record_barrier(name: str, tensors: list[Any], outs: list[Any], barrier: Any) -> tuple[GraphRecord, int]:
    """Record that `outs` were computed from the tensors by a Python function that knows its own gradient; the slot of
    the first of them."""
    operands = Operands()
    for t in tensors:
        operands.tensor(t)
    key = (BARRIER, tuple(range(len(tensors))), len(outs), None)
    first = operands.step(key, [None if t is None else t._value[()] for t in outs])
    operands.rec.set_barrier(first, barrier)
    return operands.record(name), first


def record(
    t: Any, name: str, node: TrieNode, operands: tuple[Any, ...], versions: tuple[Any, ...], counts: tuple[int, ...],
    values: list[Any],
) -> None:  # fmt: skip
    """Record `t` as the last value of a structure, without running it."""
    made = GraphRecord(name, node, operands, versions, counts, values)
    slot = node.last
    t._own = var = Var(made, slot, t._memory)
    made.vars[slot] = weakref.ref(var)
    var.owner = weakref.ref(t)


STRUCTURES: dict[Any, TrieNode] = {}  # by operation, number of axes and so on: what it records


def learn(key: Any, var: Var | None, values: int = 2) -> None:
    """Keep the structure of what was just recorded, if it has so many values: 2 are those of one primitive on one
    operand, without constants."""
    if var is not None and var.record is not None and len(var.record.values) == values == var.slot + 1:
        if len(STRUCTURES) > 4096:
            STRUCTURES.clear()
        STRUCTURES[key] = var.record.node
