"""Default names of layers, models and optimizers: `dense`, `dense_1`, ...; and objects by their names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

_counts: dict[str, int] = {}


def snake_case(name: str) -> str:
    """The name of a class as Keras writes it, which keeps a digit and the letter after it together.

    >>> snake_case("Conv2D"), snake_case("BatchNormalization")
    ('conv2d', 'batch_normalization')
    """
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", name))
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()


def unique(x: Any) -> str:
    """A name for an object: that of its class, with a number after it from the second object on.

    >>> clear()
    >>> unique({}), unique({})
    ('dict', 'dict_1')
    """
    name = snake_case(type(x).__name__)
    count = _counts.get(name, 0)
    _counts[name] = count + 1
    return f"{name}_{count}" if count else name


def clear() -> None:
    """Start counting anew."""
    _counts.clear()


def find(table: Mapping[str, Any], identifier: Any, kind: str) -> Callable[..., Any]:
    """The object of an identifier: an entry of the table by its name (a class is instantiated), or the object itself.

    Raises ValueError for anything else.
    """
    found: Any = table.get(identifier) if isinstance(identifier, str) else identifier
    if isinstance(found, type):
        found = found()
    if not callable(found):
        raise ValueError(f"Could not interpret {kind} identifier: {identifier}")
    return found  # type: ignore[no-any-return]
