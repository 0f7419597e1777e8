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

from collections.abc import Iterator
from typing import Any

from ..ir import opset
from ..ir.core import IF, Op, Region, Value
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


@record
class Path:
    """One way through a region: operations in order, with decided branches spliced in."""

    items: list[Op | Bind | Kept]
    sites: list[Region]


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


def _outcomes(region: Region, code: Any) -> set[bool]:
    """Whether the exit code that a region yields can be non-zero, can be zero."""
    if type(code) is not Value:
        return {code != 0}
    # Behind a guard ``if code == 0``, the guard says it.
    inner: Region | None = region
    while inner is not None and inner.op is not None and inner.op.prim is IF:
        cond = inner.op.args[0]
        if type(cond) is Value and cond.op is not None and cond.op.prim is opset.EQ:
            if cond.op.args[0] is code and cond.op.args[1] == 0 and type(cond.op.args[1]) is int:
                return {inner.op.regions[1] is inner}
        inner = inner.op.parent
    if code.op is not None and code.op.prim is IF:
        k = code.op.results.index(code)
        regions = code.op.regions[:1] if _is_checkpoint(code.op) else code.op.regions
        return set().union(*(_outcomes(r, r.exit[k]) for r in regions))
    return {False, True}


def _path(region: Region, code: Any, exits: bool) -> Path | None:
    outcomes = _outcomes(region, code)
    if exits not in outcomes:
        return None
    items: list[Any] = list(region.ops)
    if len(outcomes) == 1:
        return Path(items, [region])
    owner = code.op
    if owner is None or owner.prim is not IF or owner.parent is not region or _is_checkpoint(owner):
        raise Undecided
    k = owner.results.index(code)
    paths = [_path(r, r.exit[k], exits) for r in owner.regions]
    at = items.index(owner)
    if at != len(items) - 1:
        # A path saves residuals at the end of the branch. Values that are computed behind the branch are not there yet.
        raise Undecided
    if paths[0] is not None and paths[1] is not None:
        items[at] = Kept(owner, [paths[0], paths[1]])
        return Path(items, paths[0].sites + paths[1].sites)
    chosen = 0 if paths[0] is not None else 1
    path = paths[chosen]
    assert path is not None
    items[at : at + 1] = [*path.items, Bind(owner, chosen)]
    return Path(items, path.sites)


def _is_checkpoint(owner: Op) -> bool:
    """It is reversed as one, see `transforms.checkpoint`."""
    made = owner.condition.op if type(owner.condition) is Value else None
    return made is not None and made.prim is opset.CHECKPOINT


class Undecided(Exception):
    """No path through the body shows whether an iteration leaves the loop."""


# --- what is in scope on a path ---


def on_path(v: Any, site: Region) -> Any:
    """What `v` is at the end of `site`: inside a branch, the result of its ``if`` is what the branch yields."""
    around = list(enclosing(site))
    while type(v) is Value and v.op is not None and v.op.prim is IF:
        inside = [r for r in v.op.regions if r in around]
        if not inside:
            return v
        v = inside[0].exit[v.op.results.index(v)]
    return v


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
    "on_path",
    "path_through",
    "runs_on_both",
]
