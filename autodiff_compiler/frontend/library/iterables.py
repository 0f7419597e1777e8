"""What goes through an iterable up to the item that decides."""

from __future__ import annotations

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
