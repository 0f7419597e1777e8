"""Which records of a recording connect sources with targets, for one tape.

A record belongs to a tape if two conditions hold. It was made while the tape was recording. And one of its operands is
a leaf that the tape watches, or the result of a record that belongs to the tape. This module decides whether a gradient
is None. It looks at the structure and at dtypes, never at numbers.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

import numpy as np

from .recording import BARRIER, LEAF, PULL, Reader, TrieNode, slots_in


class UnconnectedGradients(enum.Enum):
    """What `gradient` returns for a source that the target does not depend on: None, or zeros of the source's shape."""

    NONE = "none"
    ZERO = "zero"


NONE = UnconnectedGradients.NONE  # a global: to look up an attribute of an enum takes as long as a small operation


@dataclass(frozen=True, slots=True)
class View:
    """The part of a recording that belongs to one tape.

    spans:   the ranges of slots that were made while the tape was recording
    watched: pairs: a slot that the tape was told to watch, and the first slot of a record that may depend on it
    auto:    the tape watches trainable variables when they are read
    """

    spans: tuple[tuple[int, int], ...]
    watched: tuple[tuple[int, int], ...] = ()
    auto: bool = True

    def covers(self, slot: int) -> bool:
        return any(start <= slot < end for start, end in self.spans)


@dataclass(slots=True)
class Record:
    """One record: its node in the trie, and the slots of its results and operands.

    depends: for each result, the slots of the operands on which it depends. None: each depends on all.
    """

    node: TrieNode
    results: range
    operands: tuple[int, ...]
    depends: tuple[tuple[int, ...], ...] | None

    def reached(self, slots: set[int]) -> list[int]:
        """The slots of the results that depend on one of these slots."""
        if self.depends is None:
            return [] if slots.isdisjoint(self.operands) else list(self.results)
        return [s for s, needed in zip(self.results, self.depends) if not slots.isdisjoint(needed)]


def read(node: TrieNode) -> Record:
    """The record that the node adds to its parent."""
    assert node.parent is not None
    key = node.key
    head, first = key[0], node.parent.count
    if head == LEAF:
        return Record(node, range(first, node.count), (), None)
    if head == BARRIER:
        reader = Reader(node)
        slots = tuple([reader.read(s).number for s in key[1]])
        found = None if key[3] is None else tuple([tuple([slots[k] for k in row]) for row in key[3]])
        return Record(node, range(reader.next, node.count), slots, found)
    if head == PULL:
        reader = Reader(node)
        slots = tuple([reader.read(a).number for a in key[2:]])
        return Record(
            node, range(reader.next, node.count), slots, tuple([tuple([slots[k] for k in d]) for d in key[1].depends])
        )
    reader = Reader(node)
    prim, args, kwargs, results = reader.operands()
    if prim.nondiff:
        return Record(node, range(results[0], node.count), (), None)
    # Constants are operands too, since the tape may be told later to watch one.
    numbers = tuple([s.number for s in slots_in((args, kwargs))])
    return Record(node, range(results[0], node.count), numbers, None)


def inexact(value: Any) -> bool:
    """The value may carry a derivative."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind in "fcO"
    return isinstance(value, (float, complex))


def records_of(node: TrieNode, view: View, values: list[Any]) -> tuple[list[Record], set[int]]:
    """The records that belong to the tape, in order, and the slots that carry a derivative for it."""
    alive: set[int] = set()
    kept: list[Record] = []
    auto: set[int] = set()
    watched = sorted(view.watched, key=lambda pair: pair[1])
    at = 0
    for step in node.path():
        assert step.parent is not None
        first = step.parent.count
        while at < len(watched) and watched[at][1] <= first:
            alive.add(watched[at][0])
            at += 1
        if step.key[0] == LEAF:
            if step.key[2] and view.auto and inexact(values[first]):
                auto.add(first)
            continue
        if not view.covers(first):
            continue
        record = read(step)
        if step.key[0] != PULL:  # a pullback takes values that were read earlier, maybe not under this tape
            alive.update(auto.intersection(record.operands))
        results = [s for s in record.reached(alive) if inexact(values[s])]
        if results:
            alive.update(results)
            kept.append(record)
    alive.update(slot for slot, _ in watched)
    # Variables that were read and not used.
    alive.update(
        first
        for step in node.path()
        if step.key[0] == LEAF
        and step.key[2]
        and view.auto
        and view.covers(first := step.count - 1)
        and inexact(values[first])
    )
    return kept, alive


def between(records: list[Record], sources: set[int], targets: set[int]) -> tuple[list[Record], set[int]]:
    """The records on a path from a source to a target, in order, and the sources that such a path starts from."""
    varied = set(sources)
    forward: list[Record] = []
    for record in records:
        results = record.reached(varied)
        if results:
            varied.update(results)
            forward.append(record)
    useful = {t for t in targets if t in varied}
    kept: list[Record] = []
    for record in reversed(forward):
        wanted = [k for k, s in enumerate(record.results) if s in useful]
        if wanted:
            kept.append(record)
            for k in wanted:
                operands = record.operands if record.depends is None else record.depends[k]
                useful.update(o for o in operands if o in varied)
    kept.reverse()
    return kept, useful & sources
