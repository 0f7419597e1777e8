"""`ForwardAccumulator`: computes tangents of eager code while it runs.

The operations inside of the ``with`` block are recorded, as for a tape. Their tangents are computed by compiled
pushforwards, for all records since the last time that something was opened or closed. So tapes and accumulators around
see the operations that compute tangents as if each were done at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tracebacks import trimmed
from .apply import call
from .connect import NONE, Record, UnconnectedGradients, inexact, read
from .gradient_tape import GradientTape
from .nest import flatten, is_nested, keys, pack_like
from .pullback import Pullback, Request
from .recorder import Recorder, settle
from .recording import BARRIER, LEAF, Recording, TrieNode
from .sweep import record_pull
from .tensor import Operand, wrap


class ForwardAccumulator(Recorder):
    """Computes tangents beside the operations on `primals`, in its ``with`` block.

    primals: a tensor or variable, or a nest of them. tangents: the direction, with the same structure, and a tangent
    for each of them.

    >>> import autodiff_compiler as ad
    >>> x = ad.Variable([1.0, 2.0])
    >>> with ad.ForwardAccumulator(x, ad.constant([1.0, 0.0])) as acc:
    ...     y = x * x * x
    >>> acc.jvp(y).numpy()
    array([3., 0.])
    """

    _forward = True
    _active = "Accumulator is already recording."
    _inactive = "Accumulator is not recording."

    def __init__(self, primals: Any, tangents: Any):
        super().__init__(False)
        if not _alike(primals, tangents):
            raise ValueError(
                "The two structures don't have the same nested structure: give one tangent for each primal. "
                f"First structure: {primals!r}. Second structure: {tangents!r}"
            )
        self._primals: list[tuple[Any, Any]] = []
        self._tangents: dict[int, Any] = {}  # by slot
        for x, d in zip(flatten(primals), flatten(tangents)):
            if not isinstance(x, Operand):
                raise self._not_a_tensor(x)
            if any(x is other for other, _ in self._primals):
                raise ValueError(
                    f"Tensor {x!r} was specified as a primal multiple times. This may indicate an error. If it was "
                    "intended, please sum the corresponding tangents."
                )
            v = np.asarray(x._value)
            if v.dtype.kind != "f":
                self._warn(
                    "primal",
                    f"The dtype of the watched primal must be floating (e.g. {self._floating}), got %r",
                    x.dtype if hasattr(x, "dtype") else v.dtype,
                )
            if v.dtype.kind in "fc":
                self._primals.append((x, self._tangent_of(x, d)))

    def _tangent_of(self, x: Any, d: Any) -> Any:
        """A tangent as a tensor of the shape and dtype of its primal."""
        v = np.asarray(x._value)
        if not isinstance(d, Operand):
            given = np.asarray(d)
            if given.dtype.kind not in "fciub":
                raise ValueError(f"a tangent is {d!r}: give a tensor, an array or a number")
            d = wrap(x._tensor_class, np.array(given, v.dtype)[()])
        kind = np.asarray(d._value).dtype
        if kind != v.dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {v.dtype} for Tensor with dtype {kind}: give the tangent in the "
                "dtype of its primal"
            )
        if np.shape(d._value) != v.shape:
            try:
                d = call(np.broadcast_to, d, v.shape)
            except ValueError:
                raise ValueError(f"a tangent has shape {np.shape(d._value)}, its primal {v.shape}") from None
        return d

    # --- recording ------------------------------------------------------------------------------------------------

    def _push(self) -> None:
        super()._push()
        rec = self._rec
        assert rec is not None
        for x, d in self._primals:
            for slot in rec.watch(x):
                self._tangents[slot] = d
        self._start = rec.node.count

    def __enter__(self) -> ForwardAccumulator:
        self._push()
        return self

    def _join(self, home: Recording) -> list[int]:
        moved = super()._join(home)
        self._tangents = {moved[slot]: d for slot, d in self._tangents.items()}
        return moved

    def _settle(self) -> None:
        """Compute the tangents of the results since the last time."""
        rec = self._rec
        assert rec is not None
        if len(rec.values) != rec.node.count:
            raise RuntimeError("an operation was interrupted while this accumulator recorded it: compute it again")
        for x, d in self._primals:
            if hasattr(x, "_serial"):  # a variable that was assigned to moves as before
                for slot in rec.slots(x):
                    self._tangents.setdefault(slot, d)
        segment: list[Record] = []
        for node in _since(rec.node, self._start):
            record = read(node)
            if node.key[0] != BARRIER:
                segment.append(record)
                continue
            self._push_forward(rec, segment)
            segment = []
            self._pass_barrier(rec, record)
        self._push_forward(rec, segment)
        self._start = rec.node.count

    def _push_forward(self, rec: Recording, records: list[Record]) -> None:
        """Run the pushforward of these records."""
        dots = self._tangents
        varied: set[int] = set()
        sources: list[int] = []
        targets: list[int] = []
        for record in records:
            fresh = [s for s in record.operands if s in dots and s not in varied]
            sources += dict.fromkeys(fresh)
            varied.update(fresh)
            reached = [s for s in record.reached(varied) if inexact(rec.values[s])]
            targets += reached
            varied.update(reached)
        if not targets:
            return
        node = records[-1].node
        key = ("forward", records[0].results.start, tuple(sources), tuple(targets))
        ask = node.pulls.get(key)
        if ask is None:
            ask = Request(node, tuple(targets), tuple(sources), True, records, set(sources), forward=True)
            node.pulls[key] = ask
        pull: Pullback = ask.pullback(rec.values)
        seeds = [dots[s] for s in ask.sources]
        out = pull.run(*pull.fetch(rec.values), *[d._value for d in seeds])
        results = (out,) if len(targets) == 1 else out
        first = -1 if rec.tapes[0] is self else record_pull(rec, rec, pull, seeds, results)
        cls = seeds[0]._tensor_class
        moves = len(pull.needed)
        for k, (slot, row) in enumerate(zip(targets, pull.depends)):
            if not any(p >= moves for p in row):
                continue  # it depends on none of the tangents
            t = wrap(cls, results[k])
            if first >= 0:
                t._token, t._slot = rec.token, first + k
            dots[slot] = t

    def _pass_barrier(self, rec: Recording, record: Record) -> None:
        """The tangents of results whose pullback is a Python function.

        The pullback is linear in the cotangents. The tangents are those of its own pullback by these.
        """
        dots = self._tangents
        given = [dots.get(s) for s in record.operands]
        if all(d is None for d in given):
            return
        barrier = rec.barriers[record.results.start]
        if barrier.like is not None:
            for s, other in zip(record.results, barrier.like):
                if other in dots:
                    dots[s] = dots[other]
            return
        cls: Any = next(d for d in given if d is not None)._tensor_class
        kept = [s for s in record.results if inexact(rec.values[s])]
        ones = {s: wrap(cls, np.ones_like(rec.values[s])[()]) for s in kept}
        with GradientTape() as tape:
            tape.watch(list(ones.values()))
            bars = barrier.pullback([ones.get(s) for s in record.results], [rec.values[s] for s in record.results], cls)
        pairs = [(b, d) for b, d in zip(bars, given) if b is not None and d is not None]
        if not pairs:
            return
        found = tape.gradient([b for b, _ in pairs], list(ones.values()), [d for _, d in pairs])
        dots.update({s: t for s, t in zip(kept, found) if t is not None})

    # --- tangents -------------------------------------------------------------------------------------------------

    @trimmed
    def jvp(self, primals: Any, unconnected_gradients: Any = NONE) -> Any:
        """The tangents of tensors that were computed inside of the block, in the structure of `primals`.

        None for what does not depend on the primals; with `UnconnectedGradients.ZERO`, zeros of its shape.
        """
        unconnected = UnconnectedGradients(getattr(unconnected_gradients, "value", unconnected_gradients))
        if self._recording and self._rec is not None:
            settle(self._rec)
        found = [self._tangent(x) for x in flatten(primals)]
        if unconnected is UnconnectedGradients.ZERO:
            zeros = [wrap(x._tensor_class, np.zeros_like(x._value)[()]) for x in flatten(primals)]
            found = [z if t is None else t for t, z in zip(found, zeros)]
        return pack_like(primals, found) if is_nested(primals) else found[0]

    def _tangent(self, x: Any) -> Any:
        if not isinstance(x, Operand):
            raise AttributeError(f"the tangent of {x!r} was asked for, which is no tensor")
        for primal, d in self._primals:
            if primal is x:
                return d
        rec = self._rec
        slots = () if rec is None else rec.slots(x)
        return next((self._tangents[s] for s in reversed(slots) if s in self._tangents), None)


def _alike(a: Any, b: Any) -> bool:
    """Both have one structure."""
    if not is_nested(a) or not is_nested(b):
        return is_nested(a) == is_nested(b)
    if type(a) is not type(b) or len(a) != len(b):
        return False
    if hasattr(a, "keys"):
        return keys(a) == keys(b) and all(_alike(a[k], b[k]) for k in a)
    return all(_alike(x, y) for x, y in zip(a, b))


def _since(node: TrieNode, start: int) -> list[TrieNode]:
    """The records from this slot on, without leaves."""
    found = []
    while node.parent is not None and node.parent.count >= start:
        if node.key[0] != LEAF:
            found.append(node)
        node = node.parent
    return found[::-1]


__all__ = ["ForwardAccumulator"]
