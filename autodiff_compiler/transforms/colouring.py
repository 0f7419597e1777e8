"""Colourings: which columns or rows of a sparse matrix one directional derivative may compute together.

Takes a pattern. Gives a colour for each column, or for each row, or for each index of a symmetric matrix. Columns of
one colour have no row in common, so their sum still tells each element: a Jacobian needs one tangent for each colour,
not one for each column. A symmetric matrix needs fewer: each element has to be told by its column or by its row.

>>> arrow = Pattern.of_rows([0, 4, 6, 8, 10], [0, 1, 2, 3, 0, 1, 0, 2, 0, 3], 4)
>>> colour_columns(arrow).tolist(), colour_symmetric(arrow).tolist()
([0, 1, 2, 3], [0, 1, 1, 1])

A Jacobian with some dense rows needs fewer directions if these rows are computed by cotangents, and the rest by
tangents:

>>> dense_row = Pattern.of_rows([0, 4, 6, 8, 10], [0, 1, 2, 3, 0, 1, 0, 2, 0, 3], 4)
>>> rows, by_rows, by_columns = colour_both(dense_row, 4)
>>> rows.tolist(), by_rows.tolist(), by_columns.tolist()
([0], [0], [0, 1, 1, 1])

Reference: Gebremedhin, Manne and Pothen, What Color Is Your Jacobian? Graph Coloring for Computing Derivatives, SIAM
Review 47 (2005). `colour_columns` is the greedy algorithm 3.1 for a partial distance-2 colouring of the bipartite graph
of rows and columns, `colour_symmetric` the greedy algorithm 4.1 for a star colouring of the adjacency graph. Both are
run in several orders, of which section 5 of the paper has more. `colour_both` computes whole rows or parts of columns,
as Hossain and Steihaug do in Computing a Sparse Jacobian Matrix by Rows and Columns, Optimization Methods and Software
10 (1998).
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class Pattern:
    """The places of the elements of a sparse matrix that may differ from zero, sorted by rows.

    shape:  the numbers of rows and of columns
    rows, columns: for each element
    starts: where each row begins, and where the last one ends
    """

    def __init__(self, rows: Array, columns: Array, shape: tuple[int, int]):
        self.shape = shape
        self.rows, self.columns = rows, columns
        self.starts = np.r_[0, np.cumsum(np.bincount(rows, minlength=shape[0]))]

    @staticmethod
    def of_rows(starts: Any, columns: Any, width: int) -> Pattern:
        """The pattern that has these columns, row by row."""
        count = len(starts) - 1
        rows = np.repeat(np.arange(count), np.diff(starts))
        return Pattern(rows, np.asarray(columns, np.int64), (count, width))

    @staticmethod
    def of_elements(rows: Array, columns: Array, shape: tuple[int, int]) -> Pattern:
        """The pattern with these elements, in any order. An element may be given twice."""
        keys = np.unique(rows.astype(np.int64) * max(shape[1], 1) + columns)
        rows, columns = np.divmod(keys, max(shape[1], 1))
        return Pattern(rows, columns, shape)

    def transposed(self) -> Pattern:
        order = np.argsort(self.columns, kind="stable")
        return Pattern(self.columns[order], self.rows[order], self.shape[::-1])

    def symmetric(self) -> Pattern:
        """The pattern together with its transpose."""
        rows, columns = np.r_[self.rows, self.columns], np.r_[self.columns, self.rows]
        return Pattern.of_elements(rows, columns, self.shape)

    def is_same(self, other: Pattern) -> bool:
        """Both have the same elements."""
        return (
            self.shape == other.shape
            and np.array_equal(self.starts, other.starts)
            and np.array_equal(self.columns, other.columns)
        )

    def part(self, rows: Array) -> Pattern:
        """The pattern of some of the rows. `rows`: their numbers, in order."""
        kept = np.zeros(self.shape[0], bool)
        kept[rows] = True
        here = kept[self.rows]
        return Pattern((np.cumsum(kept) - 1)[self.rows[here]], self.columns[here], (len(rows), self.shape[1]))

    def by_rows(self) -> list[list[int]]:
        """The columns of each row."""
        columns, starts = self.columns.tolist(), self.starts.tolist()
        return [columns[a:b] for a, b in itertools.pairwise(starts)]

    def widest(self) -> int:
        """The largest number of elements in a row. No colouring of the columns has fewer colours."""
        return int(np.max(np.diff(self.starts), initial=0))


def number_of(colours: Array) -> int:
    return int(np.max(colours, initial=-1)) + 1


def colour_columns(pattern: Pattern) -> Array:
    """A colour for each column. No two columns with an element in the same row have the same colour.

    The orders are: natural, largest first, and incidence degree. The first that needs fewest colours is taken.
    """
    by_columns, count = pattern.transposed().by_rows(), pattern.shape[1]
    least = pattern.widest()
    best = _greedy_columns(by_columns, pattern.shape[0], range(count))
    sizes = np.diff(pattern.starts)
    degrees = np.bincount(pattern.columns, sizes[pattern.rows], minlength=count)
    if number_of(best) > least and np.ptp(degrees):
        order = np.argsort(-degrees, kind="stable").tolist()
        best = _fewer(best, _greedy_columns(by_columns, pattern.shape[0], order))
    # This order looks at all pairs of columns that share a row.
    if number_of(best) > least and int(np.sum(sizes * sizes)) <= _MOST_PAIRS:
        order = _by_incidence(by_columns, pattern.by_rows())
        best = _fewer(best, _greedy_columns(by_columns, pattern.shape[0], order))
    return best


_MOST_PAIRS = 100_000


def _fewer(best: Array, other: Array) -> Array:
    return other if number_of(other) < number_of(best) else best


def _greedy_columns(by_columns: list[list[int]], count: int, order: Sequence[int]) -> Array:
    # For each row, the colours of its columns so far, as the bits of a number.
    taken = [0] * count
    out = [0] * len(by_columns)
    for j in order:
        rows = by_columns[j]
        found = 0
        for i in rows:
            found |= taken[i]
        free = ~found & (found + 1)  # the lowest bit that is not set
        for i in rows:
            taken[i] |= free
        out[j] = free.bit_length() - 1
    return np.array(out, np.int64)


def _by_incidence(by_columns: list[list[int]], by_rows: list[list[int]]) -> list[int]:
    """An order in which each column has most neighbours among those before it."""
    seen = [0] * len(by_columns)
    queue = [(0, j) for j in range(len(by_columns))]
    done = [False] * len(by_columns)
    order = []
    while queue:
        degree, j = heapq.heappop(queue)
        if done[j] or -degree != seen[j]:
            continue
        done[j] = True
        order.append(j)
        for k in {k for i in by_columns[j] for k in by_rows[i]}:
            if not done[k]:
                seen[k] += 1
                heapq.heappush(queue, (-seen[k], k))
    return order


def colour_both(pattern: Pattern, limit: int) -> tuple[Array, Array, Array] | None:
    """The numbers of some rows, a colour for each of these, and a colour for each column, such that no two rows of one
    colour have an element in the same column, and no two columns of one colour have one in the same other row.

    They have fewer than `limit` colours together; None if no such rows were found. Tried are the rows with more
    elements than others have, for some of the numbers of elements.
    """
    sizes = np.diff(pattern.starts)
    best = None
    steps = np.unique(sizes)[::-1][1 : 1 + _MOST_STEPS]  # from the densest rows on
    for size in steps:
        dense = np.flatnonzero(sizes > size)
        widest = int(np.max(np.bincount(pattern.part(dense).columns, minlength=1)))
        if widest + size >= limit:  # as many colours, at least
            continue
        by_rows = colour_columns(pattern.part(dense).transposed())
        by_columns = colour_columns(pattern.part(np.flatnonzero(sizes <= size)))
        if number_of(by_rows) + number_of(by_columns) < limit:
            limit = number_of(by_rows) + number_of(by_columns)
            best = dense, by_rows, by_columns
    return best


_MOST_STEPS = 8


def colour_symmetric(pattern: Pattern) -> Array:
    """A star colouring of a symmetric pattern: neighbours differ, and any path of four has at least three colours.

    So for each element ``(i, j)``, column `j` is the only one of its colour in row `i`, or column `i` in row `j`.
    """
    off = pattern.rows != pattern.columns
    near = Pattern(pattern.rows[off], pattern.columns[off], pattern.shape).by_rows()
    degrees = np.array([len(n) for n in near], np.int64)
    best = _greedy_star(near, range(len(near)))
    if len(near) and np.ptp(degrees) and number_of(best) > 2:
        best = _fewer(best, _greedy_star(near, np.argsort(-degrees, kind="stable").tolist()))
    return best


def _greedy_star(near: list[list[int]], order: Sequence[int]) -> Array:
    out = [-1] * len(near)
    for v in order:
        found = 0
        for w in near[v]:
            own = out[w]
            if own >= 0:
                found |= 1 << own
            for x in near[w]:
                colour = out[x]
                if colour < 0 or found >> colour & 1:
                    continue
                # Two neighbours of what has no colour yet, or of one end of v-w-x-y with colours 1-2-1-2.
                if own < 0 or any(out[y] == own for y in near[x] if y != w):
                    found |= 1 << colour
        out[v] = (~found & (found + 1)).bit_length() - 1
    return np.array(out, np.int64)


def told_by_column(pattern: Pattern, colours: Array) -> Array:
    """For each element ``(i, j)``: column `j` is the only one of its colour in row `i`."""
    width = number_of(colours)
    keys = pattern.rows * max(width, 1) + colours[pattern.columns]
    counts: Array = np.bincount(keys, minlength=pattern.shape[0] * max(width, 1))
    return counts[keys] == 1  # type: ignore[no-any-return]


def seeds(colours: Array, dtype: Any) -> Array:
    """The sums of unit vectors of one colour, as rows."""
    out = np.zeros((max(number_of(colours), 1), len(colours)), dtype)
    out[colours, np.arange(len(colours))] = 1
    return out


__all__ = ["Pattern", "colour_both", "colour_columns", "colour_symmetric", "number_of", "seeds", "told_by_column"]
