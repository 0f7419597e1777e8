"""``tf.nest``: nested structures of lists, tuples, named tuples and mappings, taken apart and put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...tape.nest import flatten as _flatten
from ...tape.nest import is_nested as _is_nested
from ...tape.nest import keys, pack_like
from .namespace import lazy


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves in order; those of a mapping in the order of its sorted keys.

    >>> flatten({"b": 1, "a": [2, (3,)]})
    [2, 3, 1]
    """
    return _flatten(structure)


def is_nested(seq: Any) -> bool:
    """Whether it is a list, a tuple or a mapping."""
    return _is_nested(seq)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """The structure with other leaves. Raises ValueError if they are not as many.

    >>> pack_sequence_as([0, (0,)], [1, 2])
    [1, (2,)]
    """
    if not _is_nested(flat_sequence):
        raise TypeError(f"Attempted to pack value:\n  {flat_sequence}\ninto a structure, but found incompatible type "
                        f"`{type(flat_sequence)}` instead.")  # fmt: skip
    leaves = list(flat_sequence)
    if not _is_nested(structure):
        if len(leaves) != 1:
            raise ValueError(
                f"The target structure is of type `{type(structure)}`\n  {structure}\nHowever the input is a sequence "
                f"of length {len(leaves)}."
            )
        return leaves[0]
    count = len(_flatten(structure))
    if count != len(leaves):
        raise ValueError(
            f"Could not pack sequence. Structure had {count} atoms, but flat_sequence had {len(leaves)} items.  "
            f"Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return pack_like(structure, leaves)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """`func` of the leaves of structures that are alike, in their structure.

    >>> map_structure(lambda a, b: a + b, {"x": 1}, {"x": 2})
    {'x': 3}
    """
    if not callable(func):
        raise TypeError(f"Argument `func` must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    for other in structure[1:]:
        _check_alike(structure[0], other)
    leaves = [func(*x) for x in zip(*[_flatten(s) for s in structure])]
    return pack_like(structure[0], leaves)


def _check_alike(a: Any, b: Any) -> None:
    """Raises ValueError if two structures are not alike, TypeError if their types are not."""
    message = "The two structures don't have the same nested structure."
    mappings = isinstance(a, Mapping) and isinstance(b, Mapping)
    if _is_nested(a) != _is_nested(b) or _is_nested(a) and len(a) != len(b) or mappings and set(a) != set(b):
        raise ValueError(f"{message}\n\nFirst structure: {a}\n\nSecond structure: {b}")
    if not _is_nested(a):
        return
    if type(a) is not type(b) and not mappings:
        raise TypeError(f"{message}\n\nThe types {type(a)} and {type(b)} differ")
    for k in keys(a) if mappings else range(len(a)):
        _check_alike(a[k], b[k])


__getattr__, __dir__ = lazy(__name__, {})
