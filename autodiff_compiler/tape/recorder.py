"""What opens and closes with a ``with`` block, and records meanwhile: tapes and forward accumulators."""

from __future__ import annotations

import logging
from typing import Any, TypeVar

from .recording import STATE, Recording

# How often a warning is given in a process. A training loop would give it at each step.
MAX_WARNINGS = {"watch": 5, "primal": 5, "inside": 1}
_warned = dict.fromkeys(MAX_WARNINGS, 0)
R = TypeVar("R", bound="Recorder")


class Recorder:
    """Records the operations of its own thread, while its ``with`` block is open."""

    _logger = logging.getLogger("autodiff_compiler")
    _masks = True  # a cotangent that a choice makes zero stays zero beside an infinite partial
    _forward = False  # it computes tangents of what is recorded
    # Words of messages.
    _tensors = "a Tensor or Variable: make one with constant(value) or Variable(value)"
    _floating = "np.float32"
    _active = "Tape is still recording, This can happen if you try to re-enter an already-active tape."
    _inactive = "Tape is not recording."

    __slots__ = ("_auto", "_rec", "_recording", "_start", "_spans", "_watched", "__dict__", "__weakref__")

    def __init__(self, auto: bool):
        self._auto = auto  # it watches trainable variables when they are read
        self._rec: Recording | None = None
        self._recording = False
        self._start = 0  # the first slot since it was entered
        self._spans: tuple[tuple[int, int], ...] = ()  # ranges of slots of earlier recording
        self._watched: tuple[tuple[int, int], ...] = ()  # slots, each with the slot from which on it is watched

    def __enter__(self: R) -> R:
        if self._rec is None and STATE.rec is None and not self._recording:
            # As in `_push`, but fast: each step of a training loop opens the first tape of its thread.
            self._rec = STATE.rec = Recording(self._masks, self._auto, (self,))
            self._start = 0
            self._recording = True
        else:
            self._push()
        return self

    def __exit__(self, kind: Any = None, error: Any = None, traceback: Any = None) -> None:
        if not self._recording:
            return
        rec = self._rec
        assert rec is not None
        if rec.forward:
            try:
                settle(rec)
            except Exception:
                rec.forward = False
                self.__exit__()
                rec.forward = any(t._forward for t in rec.tapes)
                if kind is None:
                    raise
                return  # the block has raised already
        self._recording = False
        spans, start = self._spans, self._start
        if not spans and not start:
            self._spans = rec.node.whole or rec.node.all_of_it()
        elif start < rec.node.count:
            self._spans = (*spans, (start, rec.node.count))
        if len(rec.tapes) == 1:
            rec.tapes = ()
            rec.forward = False
            if STATE.rec is rec:
                STATE.rec = None
        else:
            rec.tapes = tuple([t for t in rec.tapes if t is not self])
            rec.auto = any(t._auto for t in rec.tapes)
            rec.forward = rec.forward and any(t._forward for t in rec.tapes)

    def _push(self) -> None:
        if self._recording:
            raise ValueError(self._active)
        state = STATE
        own, home = self._rec, state.rec
        if home is not None and home.forward:
            settle(home)
        if home is None:
            if own is None:
                self._rec = home = Recording(self._masks)
            elif own.tapes:
                raise RuntimeError("this tape shares its recording with a tape that is open in another thread")
            else:
                home = own
            state.rec = home
        elif own is None:
            self._rec = home
        elif own is not home:
            self._join(home)
        self._start = home.node.count
        self._recording = True
        home.tapes = (*home.tapes, self)
        home.auto = any(t._auto for t in home.tapes)
        home.forward = home.forward or self._forward

    def _join(self, home: Recording) -> list[int]:
        """Go on in another recording, which absorbs that of this one. Gives for each of its slots the slot there."""
        assert self._rec is not None
        before = home.node.count
        moved = home.absorb(self._rec)
        at_end = [*moved, home.node.count]
        self._spans = tuple([(moved[slot], moved[slot] + 1) for a, b in self._spans for slot in range(a, b)])
        self._watched = tuple([(moved[slot], at_end[at]) for slot, at in self._watched])
        self._rec = home
        for tape in home.tapes:  # the absorbed records do not belong to them
            tape._leave_out(before, home.node.count)
        return moved

    def _leave_out(self, start: int, end: int) -> None:
        """These records do not belong to it, and all before them are finished."""
        if start > self._start:
            self._spans = (*self._spans, (self._start, start))
        self._start = end

    def _settle(self) -> None:
        """Compute what is to be computed of the records so far. A tape waits for `gradient`."""

    def _warn(self, about: str, message: str, *args: Any) -> None:
        if _warned[about] < MAX_WARNINGS[about]:
            _warned[about] += 1
            self._logger.warning(message, *args)

    def _not_a_tensor(self, x: Any) -> ValueError:
        return ValueError(f"Passed in object {x!r} of type {type(x).__name__!r}, not {self._tensors}")

    def _pop(self) -> None:
        if not self._recording:
            raise ValueError(self._inactive)
        self.__exit__()


def settle(rec: Recording) -> None:
    """Have the open accumulators compute the tangents of the records so far, before something opens or closes.

    The one that was opened last comes first. Those that were opened before it, and tapes, record how it computes them.
    Those that were opened after it do not.
    """
    rec.forward = False  # what is opened and closed meanwhile belongs to that
    try:
        for k in range(len(rec.tapes) - 1, -1, -1):
            before = rec.node.count
            rec.tapes[k]._settle()
            if rec.node.count > before:
                for later in rec.tapes[k + 1 :]:
                    later._leave_out(before, rec.node.count)
    finally:
        rec.forward = True
