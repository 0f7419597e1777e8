"""Structures: how an abstract value is put together of leaves, without what the leaves are.

Three things pass the leaves of values on and put values of the same structure together again: lists of run-time length,
with one IR list for each leaf of an item (`columns`), functions that call themselves (`recursion`), and gradients that
are taken inside of a function (`api.nested`). Each says what a leaf is. All else is here:

- `structure_of` takes a value apart, `operands_of` gives its leaves, `built` makes a value of leaves;
- `joined` is the structure that covers two others, `covers` says whether the first does already.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from ..records import record
from .avals import (
    Entries,
    Instance,
    ItemOf,
    Items,
    ListRef,
    Maybe,
    alike,
    is_composite,
    is_reference,
    parts_of,
    same,
    same_keys,
)

if TYPE_CHECKING:
    from .core import Core


class NoCommonStructure(Exception):
    """Values that cannot be items of one list of run-time length, or be passed in one recursion; the text says why."""


@record
class Leaf:
    """An item, or a part of one, that is a number or an array: one IR list."""


LEAF = Leaf()


@record
class ListOf:
    """A list: IR lists of IR lists, one for each of those that an item of it needs."""

    item: Any


@record
class Static:
    """The same in all values of the structure."""

    av: Any


@record
class Node:
    """A tuple, dictionary, object or list with these parts; `keys` of what has any, `sample`: one such value."""

    sample: Any
    keys: Any
    parts: tuple[Any, ...]


# --- structures -------------------------------------------------------------------------------------------------------


def width(structure: Any) -> int:
    """The number of IR lists that items of this structure need."""
    if type(structure) is Leaf:
        return 1
    if type(structure) is ListOf:
        return width(structure.item)
    return sum(map(width, structure.parts)) if type(structure) is Node else 0


def leaves_in(structure: Any) -> Iterator[Any]:
    """The leaves of a structure, left to right."""
    if type(structure) is Node:
        for part in structure.parts:
            yield from leaves_in(part)
    elif type(structure) is not Static:
        yield structure


def with_leaves(structure: Any, change: Callable[[Any], Any]) -> Any:
    """The structure with other leaves."""
    if type(structure) is Node:
        return Node(structure.sample, structure.keys, tuple([with_leaves(p, change) for p in structure.parts]))
    return structure if type(structure) is Static else change(structure)


def placed(structure: Node, place: int) -> Iterator[tuple[Any, int]]:
    """The parts of a structure whose IR lists start at `place`, and where those of each part start."""
    return zip(structure.parts, itertools.accumulate(map(width, structure.parts), initial=place))


def places_in(structure: Any, place: int) -> Iterator[tuple[int, type]]:
    """Where what an item of this structure holds begins, and of which kind it is; the item itself first."""
    yield place, type(structure)
    for sub, at in placed(structure, place) if type(structure) is Node else ():
        yield from places_in(sub, at)


def holds_lists(structure: Any) -> bool:
    """Some part of an item is a list."""
    if type(structure) is ListOf:
        return True
    return type(structure) is Node and (type(structure.sample) is ListRef or any(map(holds_lists, structure.parts)))


def _different(a: Any, b: Any) -> NoReturn:
    raise NoCommonStructure("has items of different kinds, or with different keys")


def joined(a: Any, b: Any, leaf: Callable[[Any, Any], Any] = _different) -> Any:
    """The structure that covers both; `a` itself if it does.

    ``leaf(a, b)`` is asked where two parts differ in more than their own parts. It raises `NoCommonStructure`.
    """
    if a is b or (type(a) is type(b) is Static and same(a.av, b.av)):
        return a
    if type(a) is type(b) is ListOf:
        item = joined(a.item, b.item, leaf)
        return a if item is a.item else ListOf(item)
    if type(a) is type(b) is Node and _nodes_alike(a, b):
        parts = [joined(x, y, leaf) for x, y in zip(a.parts, b.parts)]
        return a if all(x is y for x, y in zip(parts, a.parts)) else Node(a.sample, a.keys, tuple(parts))
    return leaf(a, b)


def _nodes_alike(a: Node, b: Node) -> bool:
    if type(a.sample) is not type(b.sample) or len(a.parts) != len(b.parts) or not same_keys(a.keys, b.keys):
        return False
    if is_composite(a.sample):
        return alike(a.sample, b.sample)
    return type(a.sample) is not Instance or bool(a.sample.cls is b.sample.cls)


def covers(a: Any, b: Any) -> bool:
    """Each value of the structure `b` is one of the structure `a`."""
    try:
        return joined(a, b) is a
    except NoCommonStructure:
        return False


def is_same_part(a: Any, b: Any) -> bool:
    """Both are the same part of items of one list, and `a` may be any item that `b` may be."""
    alike = type(a) is type(b) is ItemOf and (a.cell, a.place) == (b.cell, b.place)
    return alike and covers(a.root, b.root)


# --- values -----------------------------------------------------------------------------------------------------------


def content_of(keys: Any, parts: Any) -> Items | Entries:
    """What a container with these keys and parts holds; a list has no keys."""
    return Items(tuple(parts)) if keys is None else Entries(keys, tuple(parts))


def structure_of(interp: Core, av: Any, leaf: Callable[[Any], Any]) -> Any:
    """The structure of a value. ``leaf(av)`` is that of a value that is not taken apart, or else None."""
    found = leaf(av)
    if found is not None:
        return found
    keys: Any = None
    parts: Any = ()
    if is_composite(av):
        parts = parts_of(av)
    elif is_reference(av):
        content = interp.content(av.cell)
        keys, parts = content.keys, content.items
    if not parts and not is_reference(av):
        return Static(av)
    return Node(av, keys, tuple([structure_of(interp, part, leaf) for part in parts]))


def operands_of(interp: Core, structure: Any, av: Any, leaf: Callable[[Any, Any], list[Any]]) -> list[Any]:
    """The operands that a value of this structure is made of; ``leaf(structure, av)`` gives those of a leaf."""
    if type(av) is Maybe:
        av = interp.use(av, "the value", None)
    if type(structure) is Static:
        return []
    if type(structure) is not Node:
        return leaf(structure, av)
    parts = parts_of(av) if is_composite(structure.sample) else interp.content(av.cell).items
    return [x for sub, part in zip(structure.parts, parts) for x in operands_of(interp, sub, part, leaf)]


def built(interp: Core, structure: Any, values: Iterator[Any], leaf: Callable[[Any, Any], Any]) -> Any:
    """A value of this structure; ``leaf(structure, value)`` gives a leaf for the next of the values."""
    if type(structure) is Static:
        return structure.av
    if type(structure) is not Node:
        return leaf(structure, next(values))
    parts = [built(interp, sub, values, leaf) for sub in structure.parts]
    if is_composite(structure.sample):
        return structure.sample.with_parts(parts)
    return structure.sample.to(interp.new_cell(content_of(structure.keys, parts)))
