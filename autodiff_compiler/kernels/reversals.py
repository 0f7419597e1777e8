"""Schedules that reverse the trips of a loop with few snapshots of its state.

References: Griewank and Walther, Algorithm 799: Revolve (ACM TOMS 26, 2000), section 3; Evaluating Derivatives (2008),
section 12.3.
"""

from __future__ import annotations

import math


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


def snapshot_steps(trips: int, snapshots: int) -> list[int]:
    """The trips in front of which the forward sweep takes a snapshot, and the number of trips at the end.

    >>> snapshot_steps(10, 3), snapshot_steps(1, 3), snapshot_steps(0, 3)
    ([0, 4, 7, 10], [0, 1], [0])
    """
    if snapshots < 1:
        raise ValueError(f"checkpointed needs at least one snapshot, not {snapshots}")
    out, at, left = [0], 0, snapshots
    while left > 1 and trips - at > 1:
        at += split(trips - at, left)
        out.append(at)
        left -= 1
    return out if trips == 0 else [*out, trips]


def reversal(trips: int, snapshots: int) -> tuple[list[int], list[int], list[int]]:
    """What the backward sweep does behind a forward sweep that has taken the snapshots of `snapshot_steps`: kinds of
    actions, and for each two numbers of trips.

    0: advance from one to the other; 1: take a snapshot; 2: go back to the last one; 3: drop it; 4: reverse a trip.

    >>> list(zip(*reversal(3, 2)))
    [(2, 1, 1), (0, 1, 2), (4, 2, 3), (2, 1, 1), (4, 1, 2), (3, 1, 1), (2, 0, 0), (4, 0, 1)]
    """
    actions: list[tuple[int, int, int]] = []
    # Actions, and stretches that are to be reversed: from one trip to another, with how many snapshots there are (that
    # of the first trip included), and with how many splits the forward sweep has made from here on.
    todo: list[tuple[int, ...]] = []
    if trips:
        todo.append((0, trips, snapshots, len(snapshot_steps(trips, snapshots)) - 2))
    while todo:
        item = todo.pop()
        if len(item) == 3:
            actions.append((item[0], item[1], item[2]))
            continue
        first, last, left, taken = item
        parts: list[tuple[int, ...]] = []
        if last - first == 1:
            if not actions:
                parts.append((2, first, first))
            parts.append((4, first, last))
        elif left == 1:
            for k in range(last - 1, first - 1, -1):
                parts.append((2, first, first))
                if k > first:
                    parts.append((0, first, k))
                parts.append((4, k, k + 1))
        else:
            middle = first + split(last - first, left)
            if taken <= 0:
                parts += [(0, first, middle), (1, middle, middle)]
            parts += [(middle, last, left - 1, taken - 1), (3, middle, middle), (2, first, first)]
            parts.append((first, middle, left, 0))
        todo += reversed(parts)
    kinds, starts, ends = (list(column) for column in zip(*actions)) if actions else ([], [], [])
    return kinds, starts, ends


__all__ = ["reversal", "snapshot_steps", "split"]
