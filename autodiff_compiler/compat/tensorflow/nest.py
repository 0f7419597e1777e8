"""``tf.nest``: nested structures of lists, tuples, named tuples and mappings, taken apart and put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...tape.nest import flatten as _flatten
from ...tape.nest import is_nested as _is_nested
from ...tape.nest import pack_like
from .namespace import lazy

is_nested = _is_nested


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves in order; those of a mapping in the order of its sorted keys.

    >>> flatten({"b": 1, "a": [2, (3,)]})
    [2, 3, 1]
    """
    return _flatten(structure)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """The structure with other leaves. Raises ValueError if they are not as many.

    >>> pack_sequence_as([0, (0,)], [1, 2])
    [1, (2,)]
    """
    count, leaves = len(_flatten(structure)), list(flat_sequence)
    if count != len(leaves):
        raise ValueError(
            f"Could not pack sequence. Structure had {count} atoms, but flat_sequence had {len(leaves)} items."
        )
    return pack_like(structure, leaves)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """`func` of the leaves of structures that are alike, in their structure. Raises ValueError if they are not.

    >>> map_structure(lambda a, b: a + b, {"x": 1}, {"x": 2})
    {'x': 3}
    """
    for other in structure[1:]:
        if not _alike(structure[0], other):
            raise ValueError(
                "The two structures don't have the same nested structure.\n\n"
                f"First structure: {structure[0]}\n\nSecond structure: {other}"
            )
    leaves = [func(*x) for x in zip(*[_flatten(s) for s in structure])]
    return pack_like(structure[0], leaves)


def _alike(a: Any, b: Any) -> bool:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return set(a) == set(b) and all(_alike(a[k], b[k]) for k in a)
    if not _is_nested(a) or not _is_nested(b):
        return not _is_nested(a) and not _is_nested(b)
    return type(a) is type(b) and len(a) == len(b) and all(_alike(x, y) for x, y in zip(a, b))


__getattr__, __dir__ = lazy(__name__, {})
