"""What goes through an iterable up to the item that decides."""

from __future__ import annotations

import collections.abc
from collections.abc import Iterator
from typing import Any

from ...live import Cursor, advance, item_at
from ..definitions import defines


@defines()
def any_of(iterable: Any) -> Any:
    """``any(iterable)``."""
    found = False
    for item in iterable:
        if item:
            found = True
            break
    return found


@defines()
def all_of(iterable: Any) -> Any:
    """``all(iterable)``."""
    every = True
    for item in iterable:
        if not item:
            every = False
            break
    return every


@defines()
def sum_of(iterable: Any, start: Any) -> Any:
    """``sum(iterable, start)``, where the first item may make an array of a number."""
    total = start
    for item in iterable:
        total = total + item
    return total


@defines()
def is_in(iterable: Any, sought: Any) -> Any:
    """``sought in iterable``."""
    found = False
    for item in iterable:
        if sought in (item,):  # one object, or equal
            found = True
            break
    return found


@defines()
def first_of(iterator: Any) -> Any:
    """``next(iterator)``, where it takes a loop to find the item."""
    for item in iterator:
        return item
    raise StopIteration


@defines()
def first_or(iterator: Any, default: Any) -> Any:
    """``next(iterator, default)``, where it takes a loop to find the item."""
    for item in iterator:
        return item
    return default


@defines()
def one_by_one(iterable: Any) -> Any:
    """The items of an object of which nothing is known."""
    cursor = Cursor(iterable)
    while advance(cursor):
        yield item_at(cursor)


@defines(collections.abc.Sequence.__iter__)
def sequence_iter(self: Any) -> Iterator[Any]:
    """The items up to the one that is not there. Python finds that one by asking for it, and so does this."""
    count = len(self)
    for k in range(count):
        yield self[k]
    try:
        self[count]
    except IndexError:
        return
    raise NotImplementedError("a sequence has an item behind its last one; write its __iter__")


@defines(collections.abc.Sequence.__reversed__)
def sequence_reversed(self: Any) -> Iterator[Any]:
    for k in range(len(self)):
        yield self[len(self) - 1 - k]
