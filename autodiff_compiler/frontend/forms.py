"""The forms of the items of a list: how an item is put together of numbers and arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .avals import Hole, Instance, ListRef, alike, is_composite, is_reference, record, same


class Unfit(Exception):
    """Values that cannot be items of one list of run-time length."""


@dataclass(frozen=True, slots=True)
class ListForm:
    """A list: IR lists of IR lists, one for each of those that an item of it needs."""

    item: Any


@record
class Fixed:
    """The same in all items."""

    av: Any


@record
class Record:
    """A tuple, dictionary, object or list with these parts; `keys` of what has any."""

    sample: Any
    keys: Any
    parts: tuple[Any, ...]


def width(form: Any) -> int:
    """The number of IR lists that items of this form need."""
    if type(form) is Hole:
        return 1
    if type(form) is ListForm:
        return width(form.item)
    return sum(map(width, form.parts)) if type(form) is Record else 0


def places_in(form: Any, place: int) -> Iterator[tuple[int, type]]:
    """Where what an item of this form holds begins, and of which kind of form it is; the item itself first."""
    yield place, type(form)
    for sub in form.parts if type(form) is Record else ():
        yield from places_in(sub, place)
        place += width(sub)


def holds_containers(form: Any) -> bool:
    """Some part of an item is a list, dictionary or object, which may change in place."""
    if type(form) is ListForm:
        return True
    return type(form) is Record and (is_reference(form.sample) or any(map(holds_containers, form.parts)))


def holds_lists(form: Any) -> bool:
    """Some part of an item is a list."""
    if type(form) is ListForm:
        return True
    return type(form) is Record and (type(form.sample) is ListRef or any(map(holds_lists, form.parts)))


def united(a: Any, b: Any) -> Any:
    """The form of items that have the one or the other."""
    if a is b:
        return a
    if type(a) is type(b) is ListForm:
        item = united(a.item, b.item)
        return a if item is a.item else ListForm(item)
    if type(a) is type(b) is Hole:
        return a
    if type(a) is type(b) is Fixed and same(a.av, b.av):
        return a
    if type(a) is type(b) is Record and _alike(a, b):
        parts = [united(x, y) for x, y in zip(a.parts, b.parts)]
        return a if all(x is y for x, y in zip(parts, a.parts)) else Record(a.sample, a.keys, tuple(parts))
    raise Unfit("has items of different kinds, or with different keys")


def _alike(a: Record, b: Record) -> bool:
    if type(a.sample) is not type(b.sample) or len(a.parts) != len(b.parts) or a.keys != b.keys:
        return False
    if is_composite(a.sample):
        return alike(a.sample, b.sample)
    return type(a.sample) is not Instance or bool(a.sample.cls is b.sample.cls)


def matches(a: Any, b: Any) -> bool:
    try:
        return united(a, b) is a
    except Unfit:
        return False
