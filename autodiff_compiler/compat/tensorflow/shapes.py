"""`TensorShape`: the lengths of a tensor's axes, some of which may be unknown."""

from __future__ import annotations

import math
from typing import Any


class TensorShape(tuple[Any, ...]):
    """The lengths of the axes: integers, and None for one that is unknown.

    >>> TensorShape([2, 3]) + [4]
    TensorShape([2, 3, 4])
    """

    __slots__ = ()

    def __new__(cls, dims: Any) -> TensorShape:
        if dims is None:
            raise ValueError("shapes of an unknown number of axes are not there: write None for each length")
        return tuple.__new__(cls, [_length(n) for n in (dims if hasattr(dims, "__iter__") else (dims,))])

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self)

    ndims = rank

    def as_list(self) -> list[int | None]:
        """The lengths as a list."""
        return list(self)

    def num_elements(self) -> int | None:
        """The product of the lengths, None if one of them is unknown."""
        return math.prod(self) if self.is_fully_defined() else None

    def is_fully_defined(self) -> bool:
        return None not in self

    def is_compatible_with(self, other: Any) -> bool:
        """Whether both could be the shape of one tensor."""
        other = TensorShape(other)
        return len(self) == len(other) and all(None in (n, m) or n == m for n, m in zip(self, other))

    def concatenate(self, other: Any) -> TensorShape:
        """The lengths of this one, then of the other."""
        return TensorShape([*self, *TensorShape(other)])

    __add__ = concatenate

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape(other).concatenate(self)

    def __getitem__(self, key: Any) -> Any:
        found = tuple.__getitem__(self, key)
        return TensorShape(found) if isinstance(key, slice) else found

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: Any) -> bool:
        try:
            return tuple.__eq__(self, TensorShape(other))
        except (TypeError, ValueError):
            return NotImplemented

    def __ne__(self, other: Any) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def __repr__(self) -> str:
        return f"TensorShape({list(self)})"

    def __str__(self) -> str:
        return tuple.__repr__(self)


def _length(n: Any) -> int | None:
    if n is not None and not hasattr(n, "__index__"):
        raise TypeError(f"Dimension value must be integer or None or have an __index__ method, got value '{n!r}' with "
                        f"type '{type(n)!r}'")  # fmt: skip
    if n is not None and n.__index__() < 0:
        raise ValueError(f"Dimension {n} must be >= 0")
    return None if n is None else int(n.__index__())


def known(lengths: tuple[int, ...]) -> TensorShape:
    """The shape of an array."""
    return tuple.__new__(TensorShape, lengths)
