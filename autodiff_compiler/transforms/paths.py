"""Paths: the ways through a region, so that each can be reversed.

Takes the body of a loop. Gives the path on which an iteration goes on, and the path on which it leaves the loop. On a
path, the branches that decide between the two are decided.

>>> import numpy as np
>>> from autodiff_compiler.frontend.lower import lower
>>> def f(x):
...     for i in range(3):
...         x = x * 2.0
...         if x > 9.0:
...             break
...     return x
>>> (loop,) = lower(f, (1.0,)).function.body.ops
>>> normal, leaving = (path_through(loop.regions[0], exits) for exits in (False, True))
>>> [item.prim.name if isinstance(item, Op) else f"branch {item.chosen}" for item in leaving.items]
['*', '>', 'branch 0']
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..analysis.exits import asked, codes_of
from ..ir.core import IF, Op, Region, Value
from ..ir.opset import EQ, is_checkpoint
from ..ir.rewrite import enclosing
from ..records import record


@record
class Mirror:
    """The forward regions that a backward region reverses: it runs once for each of their runs.

    `body` is the forward region. `sites` are the innermost regions in which the path through it is decided. Exactly one
    of them runs. The values that the backward region needs are in scope at the end of each of them.
    """

    body: Region
    sites: list[Region]


@record
class Bind:
    """On this path, the results of an ``if`` are what the region `chosen` yields."""

    op: Op
    chosen: int


@record
class Kept:
    """An ``if`` whose branches both lie on the path."""

    op: Op
    paths: list[Path]

    def codes(self) -> list[frozenset[int]] | None:
        """The exit codes of the loop that tell which of the branches was taken; None if they do not."""
        first, second = (path.codes for path in self.paths)
        return [first, second] if first is not None and second is not None and first.isdisjoint(second) else None


@record
class Path:
    """One way through a region: operations in order, with decided branches spliced in.

    codes:  the exit codes at its ends; None if they are not known
    before: the operations of the region that lie in front of it
    """

    items: list[Op | Bind | Kept]
    sites: list[Region]
    codes: frozenset[int] | None = None
    before: Sequence[Op] = ()


def path_through(body: Region, exits: bool) -> Path | None:
    """The path through a loop's body on which its exit code is zero, or on which it is not; None if there is none."""
    return _path(body, body.exit[0], exits)


def runs_on_both(normal: Path, leaving: Path) -> bool:
    """Some branch or loop of the body lies on both paths."""
    mine = set(_with_regions(normal))
    return any(op in mine for op in _with_regions(leaving))


def _with_regions(path: Path) -> Iterator[Op]:
    """The branches and loops on a path, those inside of branches that it decides included."""
    for item in path.items:
        if isinstance(item, Kept):
            for inner in item.paths:
                yield from _with_regions(inner)
        elif isinstance(item, Op) and item.regions:
            yield item


def _codes(region: Region, code: Any, exits: bool) -> frozenset[int] | None:
    """The exit codes of this kind that a region may yield; None if they are not known."""
    codes = codes_of(code, region)
    return None if codes is None else frozenset([c for c in codes if (c != 0) == exits])


def _outcomes(region: Region, code: Any) -> set[bool]:
    """Whether the exit code that a region yields can be non-zero, can be zero."""
    if type(code) is not Value:  # it is undefined behind what raises
        return {code != 0}
    codes = codes_of(code, region)
    if codes is not None:
        return {c != 0 for c in codes}
    # Behind a guard ``if code == 0``, the guard says it.
    for inner in enclosing(region):
        owner = inner.op
        known = asked(owner.condition) if owner is not None and owner.prim is IF else None
        if known is not None and known[0] is code and known[1] is EQ and known[2] == 0:
            return {owner.regions[1] is inner}  # type: ignore[union-attr]
    if code.op is not None and code.op.prim is IF:
        k = code.op.results.index(code)
        regions = code.op.regions[:1] if is_checkpoint(code.op) else code.op.regions
        return set().union(*(_outcomes(r, r.exit[k]) for r in regions))
    return {False, True}


def _path(region: Region, code: Any, exits: bool) -> Path | None:
    outcomes = _outcomes(region, code)
    if exits not in outcomes:
        return None
    items: list[Any] = list(region.ops)
    codes = _codes(region, code, exits)
    if len(outcomes) == 1:
        return Path(items, [region], codes)
    owner = code.op
    if owner is None or owner.prim is not IF or owner.parent is not region or is_checkpoint(owner):
        raise Undecided
    k = owner.results.index(code)
    paths = [_path(r, r.exit[k], exits) for r in owner.regions]
    at = items.index(owner)
    if at != len(items) - 1:
        # A path saves residuals at the end of the branch. Values that are computed behind the branch are not there yet.
        raise Undecided
    if paths[0] is not None and paths[1] is not None:
        items[at] = Kept(owner, [paths[0], paths[1]])
        return Path(items, paths[0].sites + paths[1].sites, codes)
    chosen = 0 if paths[0] is not None else 1
    path = paths[chosen]
    assert path is not None
    items[at : at + 1] = [*path.items, Bind(owner, chosen)]
    return Path(items, path.sites, codes)


class Undecided(Exception):
    """No path through the body shows whether an iteration leaves the loop."""


# --- what is in scope on a path ---


def on_path(v: Any, site: Region) -> Any:
    """What `v` is at the end of `site`: inside a branch, the result of its ``if`` is what the branch yields."""
    around = list(enclosing(site))
    while (end := _yielded(v, around)) is not None:
        v = end[0].exit[end[1]]
    return v


def end_on_path(region: Region, at: int, site: Region) -> tuple[Region, int]:
    """The region, and the place in its exit, from which the value at a place in a region's exit comes on the way to
    `site`."""
    around = list(enclosing(site))
    end = region, at
    while (inner := _yielded(end[0].exit[end[1]], around)) is not None:
        end = inner
    return end


def _yielded(v: Any, around: list[Region]) -> tuple[Region, int] | None:
    """The branch, one of these regions, that yields a result of its ``if``, and the place in its exit."""
    if type(v) is not Value or v.op is None or v.op.prim is not IF:
        return None
    inside = next((r for r in v.op.regions if r in around), None)
    return None if inside is None else (inside, v.op.results.index(v))


def covers(mirror: Any, home: Region) -> bool:
    """What `home` defines is visible at the end of every site of the mirror."""
    for site in mirror.sites:
        for r in enclosing(site):
            if r is home:
                break
            if r is mirror.body:
                return False
    return True


__all__ = [
    "Bind",
    "Kept",
    "Mirror",
    "Path",
    "Undecided",
    "covers",
    "end_on_path",
    "on_path",
    "path_through",
    "runs_on_both",
]
