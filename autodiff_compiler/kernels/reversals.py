"""Schedules that reverse the trips of a loop with few snapshots of its state.

References: Griewank and Walther, Algorithm 799: Revolve (ACM TOMS 26, 2000), section 3; Evaluating Derivatives (2008),
section 12.3.
"""

from __future__ import annotations

import functools
import math
from array import array
from collections.abc import Sequence

Actions = tuple["array[int]", "array[int]", "array[int]"]


@functools.lru_cache(4096)
def split(length: int, snapshots: int) -> int:
    """How many steps to go before the next snapshot, of `length` steps that are to be reversed with so many snapshots;
    one is that of the state in front of the steps.

    The bounds of Revolve leave a choice; each number within them leads to the least number of steps.

    >>> split(2000, 8), split(10, 3), split(2, 2)
    (1208, 4, 1)
    """
    repeated = 1
    while math.comb(snapshots + repeated, snapshots) < length:
        repeated += 1
    most = math.comb(snapshots + repeated - 1, snapshots)
    return max(1, min(most, length - math.comb(snapshots + repeated - 2, snapshots - 1)))


def snapshot_steps(trips: int, snapshots: int, together: int = 1) -> list[int]:
    """The trips in front of which the forward sweep takes a snapshot, and the number of trips at the end.

    together: how many trips the backward sweep reverses at a time.

    >>> snapshot_steps(10, 3), snapshot_steps(1, 3), snapshot_steps(0, 3)
    ([0, 4, 7, 10], [0, 1], [0])
    >>> snapshot_steps(10, 3, 4)
    [0, 4, 8, 10]
    """
    if snapshots < 1:
        raise ValueError(f"checkpointed needs at least one snapshot, not {snapshots}")
    out, at, left, count = [0], 0, snapshots, -(-trips // together)
    while left > 1 and count - at > 1:
        at += split(count - at, left)
        out.append(at * together)
        left -= 1
    return out if trips == 0 else [*out, trips]


def reversal(
    taken: list[int], trips: int, snapshots: int, together: int = 1
) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:  # fmt: skip
    """What the backward sweep does behind a forward sweep that has taken snapshots in front of the trips `taken`: kinds
    of actions, and for each two numbers of trips. These take 17 bytes for an action.

    0: advance from one to the other; 1: take a snapshot; 2: go back to the last one; 3: drop it; 4: reverse the trips
    from one to the other, at most `together` of them. There are never more than `snapshots`.

    >>> list(zip(*reversal([0, 1], 3, 2)))
    [(2, 1, 1), (0, 1, 2), (4, 2, 3), (2, 1, 1), (4, 1, 2), (3, 1, 1), (2, 0, 0), (4, 0, 1)]
    >>> list(zip(*reversal([0], 10, 2, 5)))
    [(2, 0, 0), (0, 0, 5), (1, 5, 5), (4, 5, 10), (3, 5, 5), (2, 0, 0), (4, 0, 5)]
    """
    actions = array("b"), array("q"), array("q")
    ends = [*taken[1:], trips]
    for k in reversed(range(len(taken))):
        first = taken[k]
        if first < ends[k]:
            _act(actions, 2, first, first)
            _reverse(actions, first, ends[k], snapshots - k, together)
        if k:
            _act(actions, 3, first, first)
    return actions


def _act(actions: Actions, kind: int, first: int, last: int) -> None:
    actions[0].append(kind)
    actions[1].append(first)
    actions[2].append(last)


def _reverse(actions: Actions, first: int, last: int, left: int, together: int) -> None:
    """Append what reverses the trips from `first` to `last`, in front of which the state is. left: how many snapshots
    there may be, that of the first trip included."""
    todo: list[tuple[int, ...]] = [(first, last, left)]
    while todo:
        item = todo.pop()
        if len(item) == 4:
            _act(actions, *item[:3])
            continue
        first, last, left = item
        count = -(-(last - first) // together)
        parts: list[tuple[int, ...]] = []
        if count == 1:
            parts.append((4, first, last, 0))
        elif left <= 1:
            for k in reversed(range(first, last, together)):
                if parts:
                    parts.append((2, first, first, 0))
                if k > first:
                    parts.append((0, first, k, 0))
                parts.append((4, k, min(k + together, last), 0))
        else:
            middle = first + split(count, left) * together
            parts += [(0, first, middle, 0), (1, middle, middle, 0), (middle, last, left - 1)]
            parts += [(3, middle, middle, 0), (2, first, first, 0), (first, middle, left)]
        todo += reversed(parts)


def repeats(trips: int, snapshots: int) -> int:
    """How often a trip runs again at most, by the schedule with so many snapshots.

    >>> repeats(2000, 8), repeats(2000, 100), repeats(10, 10)
    (6, 2, 1)
    """
    found = trips - 1 if snapshots == 1 and trips > 2 else 1
    while math.comb(snapshots + found, snapshots) < trips:
        found += 1
    return found


def within(budget: int, trips: int, state: int, trip: int) -> tuple[int, int]:
    """How many trips are reversed together, and with how many snapshots, so that few of them run again.

    Both fit into `budget` bytes: a snapshot takes `state` of them, and a trip that is reversed `trip`.

    >>> within(1000, 100, 10, 10), within(100, 100, 10, 10), within(20, 100, 10, 10)
    ((10, 10), (4, 6), (1, 1))
    """
    balanced = max(1, min(trips, math.isqrt(trips * state // max(1, trip))))
    count = -(-trips // balanced)
    if balanced * trip + count * state <= budget:
        return balanced, count
    best = None
    together = 1
    while best is None or together * trip + state <= budget:
        count = -(-trips // together)
        snapshots = max(1, min(count, (budget - together * trip) // state))
        found = (repeats(count, snapshots), together, snapshots)
        best = found if best is None or found < best else best
        together *= 2
        if together > trips:
            break
    return best[1], best[2]


__all__ = ["repeats", "reversal", "snapshot_steps", "split", "within"]
