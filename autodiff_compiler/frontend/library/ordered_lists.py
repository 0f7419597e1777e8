"""The functions of `bisect` and `heapq`, and searches in lists of values that only the run knows."""

from __future__ import annotations

from typing import Any

from ..definitions import defines

# --- searches ---------------------------------------------------------------------------------------------------------


@defines()
def place_of(sequence: Any, value: Any, message: Any) -> Any:
    """The index of the first item that equals the value."""
    place = -1
    k = 0
    for item in sequence:
        if value in (item,):  # one object, or equal
            place = k
            break
        k = k + 1
    if place < 0:
        raise ValueError(message)
    return place


@defines()
def count_of(sequence: Any, value: Any) -> Any:
    """How many items equal the value."""
    count = 0
    for item in sequence:
        if value in (item,):
            count = count + 1
    return count


# --- sorted lists -----------------------------------------------------------------------------------------------------


@defines()
def place_after(a: Any, x: Any, lo: Any, hi: Any, key: Any) -> Any:
    """``bisect.bisect_right``."""
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is None:
        hi = len(a)
    while lo < hi:
        middle = (lo + hi) // 2
        item = a[middle] if key is None else key(a[middle])
        if x < item:
            hi = middle
        else:
            lo = middle + 1
    return lo


@defines()
def place_before(a: Any, x: Any, lo: Any, hi: Any, key: Any) -> Any:
    """``bisect.bisect_left``."""
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is None:
        hi = len(a)
    while lo < hi:
        middle = (lo + hi) // 2
        item = a[middle] if key is None else key(a[middle])
        if item < x:
            lo = middle + 1
        else:
            hi = middle
    return lo


# --- heaps ------------------------------------------------------------------------------------------------------------


def _raised(heap: Any, top: Any, place: Any) -> None:
    """Move the item at `place` up to where its parent, not above `top`, is no larger."""
    item = heap[place]
    moving = place > top
    while moving:
        above = (place - 1) >> 1
        parent = heap[above]
        if item < parent:
            heap[place] = parent
            place = above
            moving = place > top
        else:
            moving = False
    heap[place] = item


def _sunk(heap: Any, place: Any) -> None:
    """Move the item at `place` down to a leaf, the smaller child up each time, and from there up to its place."""
    top = place
    end = len(heap)
    item = heap[place]
    child = 2 * place + 1
    while child < end:
        other = child + 1
        if other < end:
            if not heap[child] < heap[other]:
                child = other
        heap[place] = heap[child]
        place = child
        child = 2 * place + 1
    heap[place] = item
    _raised(heap, top, place)


@defines()
def heappush(heap: Any, item: Any) -> None:
    heap.append(item)
    _raised(heap, 0, len(heap) - 1)


@defines()
def heappop(heap: Any) -> Any:
    last = heap.pop()
    if len(heap) > 0:
        least = heap[0]
        heap[0] = last
        _sunk(heap, 0)
        return least
    return last


@defines()
def heapreplace(heap: Any, item: Any) -> Any:
    least = heap[0]
    heap[0] = item
    _sunk(heap, 0)
    return least


@defines()
def heappushpop(heap: Any, item: Any) -> Any:
    if len(heap) > 0:
        if heap[0] < item:
            item, heap[0] = heap[0], item
            _sunk(heap, 0)
    return item


@defines()
def heapify(x: Any) -> None:
    for k in reversed(range(len(x) // 2)):
        _sunk(x, k)


@defines()
def smallest(n: Any, iterable: Any, key: Any, reverse: Any) -> Any:
    """``heapq.nsmallest`` and, in reverse, ``heapq.nlargest``."""
    return sorted(iterable, key=key, reverse=reverse)[: max(n, 0)]
