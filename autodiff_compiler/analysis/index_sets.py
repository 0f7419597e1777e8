"""Sets of input elements, one for each element of an array, as numbers of nodes in a graph of unions.

An array of sets is an array of node numbers. Node 0 is the empty set, and node ``k + 1`` the set of input element `k`.
Any other node is the union of its parents, which have smaller numbers. So an operation that moves elements moves
numbers, and only an operation that combines elements makes nodes. `rows` takes such an array and gives the sets:
nodes of one level, which do not depend on each other, are computed together, whether one operation made them or
thousands of iterations of a loop.

>>> sets = IndexSets(3)
>>> x = sets.inputs()
>>> y = sets.union(x[1:], x[:-1])
>>> starts, items = sets.rows(y)
>>> starts.tolist(), items.tolist()
([0, 2, 4], [0, 1, 1, 2])
"""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np

EMPTY = 0
Array = np.ndarray[Any, Any]


class IndexSets:
    """Nodes for sets of the numbers below `count`."""

    def __init__(self, count: int):
        self.count = count
        self.size = count + 1
        # How many unions lie below each node. Arrays of Python's grow fast by one number and by many.
        self.levels = array("q", bytes(8 * self.size))
        self.children, self.parents = array("q"), array("q")

    def inputs(self) -> Array:
        """The set of each input element: that element."""
        return np.arange(1, self.count + 1)

    def union(self, a: Any, b: Any) -> Any:
        """The unions of sets element by element, with broadcasting."""
        if type(a) is int and type(b) is int:
            return self._union_of_two(a, b)
        if np.shape(a) != np.shape(b):
            a, b = np.broadcast_arrays(a, b)
        out = np.where(a == EMPTY, b, a)
        new = (a != b) & (a != EMPTY) & (b != EMPTY)
        count = int(np.count_nonzero(new))
        if count:
            first, second = a[new], b[new]
            out[new] = numbers = np.arange(self.size, self.size + count)
            levels = self._levels_of(first)
            np.maximum(levels, self._levels_of(second), out=levels)
            self._add(np.concatenate((numbers, numbers)), np.concatenate((first, second)), levels + 1)
        return out

    def _union_of_two(self, a: int, b: int) -> int:
        if a == b or b == EMPTY:
            return a
        if a == EMPTY:
            return b
        number = self.size
        self.size += 1
        self.children.append(number)
        self.children.append(number)
        self.parents.append(a)
        self.parents.append(b)
        self.levels.append(1 + max(self.levels[a], self.levels[b]))
        return number

    def groups(self, cells: Array, members: Array, count: int) -> Array:
        """For each of `count` cells, the union of its members: ``members[k]`` belongs to the cell ``cells[k]``."""
        out = np.zeros(count, np.int64)
        keep = members != EMPTY
        cells, members = cells[keep], members[keep]
        if not len(cells):
            return out
        order = np.argsort(cells, kind="stable")
        cells, members = cells[order], members[order]
        first = np.flatnonzero(np.r_[True, cells[1:] != cells[:-1]])
        # A group of one set is that set.
        changes = np.r_[False, (members[1:] != members[:-1]) & (cells[1:] == cells[:-1])]
        mixed = np.add.reduceat(changes, first, dtype=np.int64) > 0
        out[cells[first]] = members[first]
        total = int(np.count_nonzero(mixed))
        if total:
            lengths = np.diff(np.r_[first, len(cells)])
            numbers = np.arange(self.size, self.size + total)
            out[cells[first[mixed]]] = numbers
            inside = np.repeat(mixed, lengths)
            levels = np.maximum.reduceat(self._levels_of(members), first)[mixed]
            self._add(np.repeat(numbers, lengths[mixed]), members[inside], levels + 1)
        return out

    def along(self, sets: Array, axes: tuple[int, ...]) -> Array:
        """The union over some axes, which stay with length 1."""
        axes = tuple([k % sets.ndim for k in axes])
        kept = [k for k in range(sets.ndim) if k not in axes]
        shape = tuple([1 if k in axes else n for k, n in enumerate(sets.shape)])
        rows = np.transpose(sets, (*kept, *axes)).reshape(int(np.prod([sets.shape[k] for k in kept], dtype=int)), -1)
        cells = np.repeat(np.arange(rows.shape[0]), rows.shape[1])
        return self.groups(cells, rows.ravel(), rows.shape[0]).reshape(shape)

    def together(self, *sets: Any) -> int:
        """The union of all elements of several arrays of sets."""
        members = np.unique(np.concatenate([np.ravel(np.asarray(s, np.int64)) for s in sets]))
        return int(self.groups(np.zeros(len(members), np.int64), members, 1)[0])

    def _levels_of(self, nodes: Array) -> Array:
        return np.frombuffer(self.levels, np.int64)[nodes]

    def _add(self, children: Array, parents: Array, levels: Array) -> None:
        self.children.frombytes(children.tobytes())
        self.parents.frombytes(parents.tobytes())
        self.levels.frombytes(levels.tobytes())
        self.size += len(levels)

    def rows(self, sets: Array) -> tuple[Array, Array]:
        """The sets of an array's elements, in order: where each begins and the last ends, and the sorted numbers."""
        starts = np.zeros(self.size, np.int64)
        lengths = np.zeros(self.size, np.int64)
        starts[1 : self.count + 1] = np.arange(self.count)
        lengths[1 : self.count + 1] = 1
        pool = np.arange(self.count)
        used = self.count
        children, parents = np.array(self.children, np.int64), np.array(self.parents, np.int64)
        needed = self._needed(children, parents, sets)
        children, parents = children[needed[children]], parents[needed[children]]
        by_level = self._levels_of(children)
        order = np.lexsort((children, by_level))
        children, parents, by_level = children[order], parents[order], by_level[order]
        for part in np.split(np.arange(len(children)), np.flatnonzero(np.diff(by_level)) + 1):
            if not len(part):
                continue
            nodes = children[part]
            first = np.r_[True, nodes[1:] != nodes[:-1]]
            owner = np.cumsum(first) - 1
            chosen = parents[part]
            items = _gathered(pool, starts[chosen], lengths[chosen])
            keys = np.sort(np.repeat(owner, lengths[chosen]) * self.count + items)
            keys = keys[np.r_[True, keys[1:] != keys[:-1]]]
            owner, items = np.divmod(keys, self.count)
            sizes = np.bincount(owner)
            lengths[nodes[first]] = sizes
            starts[nodes[first]] = used + np.cumsum(sizes) - sizes
            if used + len(items) > len(pool):
                pool = np.concatenate((pool, np.empty(len(pool) + len(items), np.int64)))
            pool[used : used + len(items)] = items
            used += len(items)
        wanted = np.ravel(sets)
        return np.r_[0, np.cumsum(lengths[wanted])], _gathered(pool, starts[wanted], lengths[wanted])

    def _needed(self, children: Array, parents: Array, sets: Array) -> Array:
        """The nodes on which those of `sets` depend."""
        needed = np.zeros(self.size, bool)
        needed[np.ravel(sets)] = True
        levels = self._levels_of(children)
        order = np.argsort(-levels, kind="stable")
        levels, children, parents = levels[order], children[order], parents[order]
        ends = np.r_[np.flatnonzero(np.diff(levels)) + 1, len(levels)]
        start = 0
        for end in ends.tolist():
            needed[parents[start:end][needed[children[start:end]]]] = True
            start = end
        return needed


def _gathered(pool: Array, starts: Array, lengths: Array) -> Array:
    """The parts of `pool` that begin at `starts` and have these lengths, one after the other."""
    ends = np.cumsum(lengths)
    if not len(ends) or not ends[-1]:
        return pool[:0]
    places: Array = np.arange(ends[-1]) + np.repeat(starts - (ends - lengths), lengths)
    found: Array = pool[places]
    return found


__all__ = ["EMPTY", "IndexSets"]
