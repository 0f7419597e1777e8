"""The graph: what each operation computed, so that `backward` can replay it.

An operation is a plain function of arrays, written with NumPy. When one of its operands requires a gradient, it is
run on the
core's own tensors with a recording of its own; that small recording, with its operands and results, is one record of
the graph. `engine` appends the records behind a target to one `Recording`, where the core finds the compiled pullback.

A `Var` is one value of the graph: a result of a record, or a leaf. In place operations give a tensor another Var.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ...tape.native import Tensor as Traced
from ...tape.recording import LEAF, STATE, Recording

_serial = itertools.count()


class Mode(threading.local):
    """Whether operations are recorded, in this thread; and whether results may never be."""

    grad: bool = True
    inference: bool = False


class System:
    """What differs between the systems whose graphs these are.

    mode: whether operations are recorded. cls: the class of tensors. check_cast: raises where a result of one dtype
    must not be written into a tensor of another. type_name: how messages call a tensor of a dtype. freed: the message
    where the graph was freed.
    """

    def __init__(
        self, mode: Any, cls: Any, check_cast: Callable[[Any, Any], None], type_name: Callable[[Any], str], freed: str
    ):
        self.mode = mode
        self.cls = cls
        self.check_cast = check_cast
        self.type_name = type_name
        self.freed = freed


class Recorded:
    """A block in which the operations of a system are recorded, or are not."""

    def __init__(self, system: System, grad: bool):
        self.mode, self.grad = system.mode, grad

    def __enter__(self) -> None:
        self.saved, self.mode.grad = self.mode.grad, self.grad

    def __exit__(self, *error: Any) -> None:
        self.mode.grad = self.saved


class Version:
    """Counts the writes into one piece of memory. All tensors that share the memory share it."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


class Var:
    """One value of the graph.

    record, slot: what made it; record is None for a leaf.
    version, count: the memory that it lies in, and how often that had been written to when it was made.
    owner: weakly, the tensor; of a leaf, the one that gets the gradient.
    hooks: functions of its gradient, by number; retained: its gradient is kept in its tensor.
    """

    __slots__ = ("record", "slot", "version", "count", "owner", "hooks", "retained", "__weakref__")

    def __init__(self, record: Record | None, slot: int, version: Version):
        self.record = record
        self.slot = slot
        self.version = version
        self.count = version.count
        self.owner: Callable[[], Any] = _nobody
        self.hooks: dict[int, Callable[..., Any]] | None = None
        self.retained = False


def _nobody() -> None:
    return None


class Use:
    """An operand of a record: its value and the state of its memory then. `var` is None if it needs no gradient."""

    __slots__ = ("var", "value", "version", "count", "freed")

    def __init__(self, var: Var | None, value: Any, version: Version, count: int | None = None):
        self.var = var
        self.value = value
        self.version = version
        self.count = version.count if count is None else count
        self.freed = False


class Record:
    """One operation: a recording whose first leaves are the operands.

    name: as in ``grad_fn=<AddBackward0>``; vars: of its slots, those that something outside refers to.
    """

    __slots__ = ("name", "serial", "uses", "node", "values", "vars", "barriers", "freed", "outputs", "__weakref__")

    def __init__(self, name: str, uses: list[Use], rec: Recording):
        self.name = name
        self.serial = next(_serial)
        self.uses = uses
        self.node = rec.node
        self.values = rec.values
        self.vars: dict[int, Any] = {}
        self.barriers = rec.barriers
        self.freed = False
        self.outputs: list[int] = []

    def var(self, slot: int) -> Var:
        """The Var of a slot; those of inner results are made when a gradient that is differentiated reads them."""
        made = self.known_var(slot)
        if made is None:
            if slot < len(self.uses) and self.uses[slot].var is not None:
                return self.uses[slot].var  # type: ignore[return-value]
            made = Var(self, slot, Version())
            self.vars[slot] = weakref.ref(made)
        return made

    def known_var(self, slot: int) -> Var | None:
        ref = self.vars.get(slot)
        return ref() if ref is not None else None

    def output(self, slot: int, version: Version) -> Var:
        """The Var of a result."""
        made = Var(self, slot, version)
        self.vars[slot] = weakref.ref(made)
        self.outputs.append(slot)
        return made

    def free(self) -> None:
        """Let go of the arrays. Their shapes and dtypes stay, as do numbers that are part of the program."""
        if self.freed:
            return
        self.freed = True
        self.values = [Gone(v) if type(v) is np.ndarray else v for v in self.values]
        for use in self.uses:
            if type(use.value) is np.ndarray:
                use.value = Gone(use.value)
            use.freed = True
        for barrier in self.barriers.values():
            release = getattr(barrier, "release", None)
            if release is not None:
                release()


class Gone:
    """In the place of an array that was let go of: its shape and dtype."""

    __slots__ = ("shape", "dtype")

    def __init__(self, value: np.ndarray[Any, Any]):
        self.shape = value.shape
        self.dtype = value.dtype


def shown(value: Any) -> Any:
    """The value; for one that is gone, an array of its shape and dtype that takes no memory."""
    if type(value) is Gone:
        return np.broadcast_to(np.zeros((), value.dtype), value.shape)
    return value


class Trace:
    """A recording of one operation, while it runs."""

    def __init__(self) -> None:
        self.rec = Recording()
        self.uses: list[Use] = []
        self.known: dict[int, Any] = {}

    def operand(self, t: Any) -> Any:
        """The core's tensor that stands for an operand."""
        found = self.known.get(id(t))
        if found is not None:
            return found
        value = t._value[()]
        made = object.__new__(Traced)
        made._value = value
        made._token = self.rec.token
        made._slot = self.rec.step((LEAF, "", False), 1)
        self.rec.values.append(value)
        self.uses.append(Use(t._var, value, t._memory))
        self.known[id(t)] = made
        return made

    def run(self, f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        saved = STATE.rec, STATE.home, STATE.tapes, STATE.sealed
        STATE.rec = STATE.home = self.rec
        STATE.tapes, STATE.sealed = (), True
        try:
            return f(*args)
        finally:
            STATE.rec, STATE.home, STATE.tapes, STATE.sealed = saved


def recording(tensors: list[Any]) -> bool:
    """An operation on these tensors is to be recorded."""
    return bool(tensors) and tensors[0]._system.mode.grad and any(t._var is not None for t in tensors)
