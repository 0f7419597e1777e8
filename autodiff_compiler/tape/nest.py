"""Nested sources, targets and results: lists, tuples, named tuples and mappings. Their types are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def is_nested(x: Any) -> bool:
    return isinstance(x, (list, tuple, Mapping))


def flatten(x: Any) -> list[Any]:
    """The leaves, in order. Keys of a mapping are sorted, if they can be.

    >>> flatten({"b": 1, "a": [2, (3,)]})
    [2, 3, 1]
    """
    out: list[Any] = []
    _flatten(x, out)
    return out


def _flatten(x: Any, out: list[Any]) -> None:
    if isinstance(x, (list, tuple)):
        for item in x:
            _flatten(item, out)
    elif isinstance(x, Mapping):
        for key in keys(x):
            _flatten(x[key], out)
    else:
        out.append(x)


def keys(x: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(x)
    except TypeError:
        return list(x)


def pack_like(x: Any, leaves: list[Any]) -> Any:
    """The structure of `x` with these leaves.

    >>> pack_like({"b": 1, "a": [2, (3,)]}, [20, 30, 10])
    {'b': 10, 'a': [20, (30,)]}
    """
    it = iter(leaves)
    return map_nested(lambda _: next(it), x)


def map_nested(f: Callable[[Any], Any], x: Any) -> Any:
    """The structure of `x` with `f` applied to each leaf.

    >>> map_nested(lambda v: v + 1, [1, (2, 3)])
    [2, (3, 4)]
    """
    if isinstance(x, Mapping):
        made = {key: map_nested(f, x[key]) for key in keys(x)}
        ordered = [(key, made[key]) for key in x]
        return dict(ordered) if type(x) is dict else _mapping(x, ordered)
    if isinstance(x, tuple):
        items = [map_nested(f, item) for item in x]
        return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
    if isinstance(x, list):
        return [map_nested(f, item) for item in x]
    return f(x)


def _mapping(x: Any, items: list[tuple[Any, Any]]) -> Any:
    if hasattr(x, "default_factory"):
        return type(x)(x.default_factory, items)
    return type(x)(items)
