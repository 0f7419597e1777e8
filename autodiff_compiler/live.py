"""What compiled code asks of objects of which nothing is known when it is compiled: as `with` and `for` do."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, MappingView, Sequence, Set
from typing import Any

import numpy as np

from .errors import UnsupportedError

_COLLECTIONS = (Sequence, Set, Mapping, MappingView, np.ndarray)


class _Methods:
    """``METHODS.name(thing, ...)`` is ``thing.name(...)``, for any name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def method(thing: Any, *args: Any, **kwargs: Any) -> Any:
            return getattr(thing, name)(*args, **kwargs)

        method.__name__, method.__qualname__ = name, f"METHODS.{name}"
        return self.__dict__.setdefault(name, method)


METHODS = _Methods()


def enter_manager(manager: Any) -> Any:
    """What ``with manager as ...`` binds."""
    return type(manager).__enter__(manager)


def leave_manager(manager: Any, *raised: Any) -> None:
    """The end of a ``with``: `raised` are the class, the exception and its traceback, or three times None."""
    if type(manager).__exit__(manager, *raised) and raised[0] is not None:
        raise UnsupportedError(
            f"a {type(manager).__name__} has ended the {raised[0].__name__} that was raised inside of its `with`",
            None,
            "use try and except",
        ) from raised[1]


def is_collection(value: Any) -> bool:
    """To go through it changes nothing, and can be done again. So it is with what has a length, items by keys, and
    iterators that are others, such as a column of pandas.

    >>> is_collection([1, 2]), is_collection({1: 2}.items()), is_collection(iter([1, 2]))
    (True, True, False)
    """
    if isinstance(value, _COLLECTIONS):
        return True
    return isinstance(value, Collection) and hasattr(type(value), "__getitem__") and not isinstance(value, Iterator)


def items_in(value: Any) -> list[Any]:
    """The items of a collection.

    >>> items_in({"a": 1, "b": 2})
    ['a', 'b']
    """
    if not is_collection(value):
        raise UnsupportedError(
            f"a loop over a {type(value).__name__}, which may give its items once only",
            None,
            "make a list of it first, list(...), and loop over that",
        )
    return list(value)


class Cursor:
    """Goes through an iterable of which nothing is known.

    >>> cursor = Cursor("ab")
    >>> advance(cursor), item_at(cursor), advance(cursor), item_at(cursor), advance(cursor)
    (True, 'a', True, 'b', False)
    """

    def __init__(self, iterable: Any):
        self.rest: Iterator[Any] = iter(iterable)
        self.item: Any = None


def advance(cursor: Cursor) -> bool:
    """Whether there is one more item."""
    cursor.item = next(cursor.rest, cursor)
    return cursor.item is not cursor


def item_at(cursor: Cursor) -> Any:
    """The item that was reached last."""
    return cursor.item


def shuffled(generator: Any, n: int) -> Any:
    """The order into which a random generator puts `n` items. ``generator.shuffle(x)`` draws the same numbers.

    >>> x = np.array([0.5, 1.5, 2.5])
    >>> order = shuffled(np.random.RandomState(0), 3)
    >>> np.random.RandomState(0).shuffle(x)
    >>> (np.array([0.5, 1.5, 2.5])[order] == x).all()
    np.True_
    """
    order = np.arange(n)
    generator.shuffle(order)
    return order


__all__ = ["Cursor", "advance", "enter_manager", "is_collection", "item_at", "items_in", "leave_manager", "shuffled"]
