"""Default names of layers, models and optimizers: `dense`, `dense_1`, ..., and how objects are found by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_counts: dict[str, int] = {}


def snake_case(name: str) -> str:
    """The name of a class as Keras writes it, which keeps a digit and the letter after it together.

    >>> snake_case("Conv2D"), snake_case("BatchNormalization")
    ('conv2d', 'batch_normalization')
    """
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", name))
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()


def unique(name: str) -> str:
    """The name, with a number after it from the second time on.

    >>> clear()
    >>> unique("dense"), unique("dense")
    ('dense', 'dense_1')
    """
    count = _counts.get(name, 0)
    _counts[name] = count + 1
    return f"{name}_{count}" if count else name


def clear() -> None:
    """Start counting anew."""
    _counts.clear()


def find(table: Mapping[str, Any], identifier: Any, kind: str) -> Any:
    """What an identifier stands for: an entry of the table by its name (a class is instantiated), or the object itself.

    Raises ValueError for anything else.
    """
    found = table.get(identifier) if isinstance(identifier, str) else identifier
    if isinstance(found, type):
        found = found()
    if not callable(found):
        raise ValueError(f"Could not interpret {kind} identifier: {identifier}")
    return found


def both_spellings(*classes: type) -> dict[str, Any]:
    """The classes by their names and by these in snake case.

    >>> sorted(both_spellings(dict, type("MaxNorm", (), {})))
    ['MaxNorm', 'dict', 'max_norm']
    """
    return {name: c for c in classes for name in (c.__name__, snake_case(c.__name__))}
