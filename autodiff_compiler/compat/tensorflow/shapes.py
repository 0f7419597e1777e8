"""`TensorShape`: the lengths of a tensor's axes, some of which may be unknown."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any


class TensorShape:
    """The lengths of the axes: integers, and None for one that is unknown; of ``TensorShape(None)`` not even the number
    of axes is known.

    >>> TensorShape([2, 3]) + [4]
    TensorShape([2, 3, 4])
    """

    __slots__ = ("_dims",)
    _dims: tuple[int | None, ...] | None

    def __init__(self, dims: Any):
        if isinstance(dims, TensorShape) or dims is None:
            self._dims = None if dims is None else dims._dims
        else:
            self._dims = tuple([_length(n) for n in (dims if hasattr(dims, "__iter__") else (dims,))])

    @property
    def rank(self) -> int | None:
        """The number of axes, None if that is unknown."""
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self) -> int | None:
        return self.rank

    def as_list(self) -> list[int | None]:
        """The lengths as a list. Raises ValueError if the number of axes is unknown."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def num_elements(self) -> int | None:
        """The product of the lengths, None if one of them is unknown."""
        return math.prod(self._dims) if self.is_fully_defined() else None  # type: ignore[arg-type]

    def is_fully_defined(self) -> bool:
        return self._dims is not None and None not in self._dims

    def is_compatible_with(self, other: Any) -> bool:
        """Whether both could be the shape of one tensor."""
        a, b = self._dims, as_shape(other)._dims
        if a is None or b is None:
            return True
        return len(a) == len(b) and all(x is None or y is None or x == y for x, y in zip(a, b))

    def concatenate(self, other: Any) -> TensorShape:
        """The lengths of this one, then of the other."""
        a, b = self._dims, as_shape(other)._dims
        return TensorShape(None if a is None or b is None else a + b)

    __add__ = concatenate

    def __radd__(self, other: Any) -> TensorShape:
        return as_shape(other).concatenate(self)

    def __getitem__(self, key: Any) -> Any:
        found = self.as_list()[key]
        return TensorShape(found) if isinstance(key, slice) else found

    def __len__(self) -> int:
        return len(self.as_list())

    def __iter__(self) -> Iterator[int | None]:
        return iter(self.as_list())

    def __bool__(self) -> bool:
        return self._dims is not None

    def __eq__(self, other: Any) -> bool:
        try:
            return self._dims == as_shape(other)._dims
        except (TypeError, ValueError):
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def __reduce__(self) -> Any:
        return TensorShape, (self._dims,)

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else list(self._dims)})"

    def __str__(self) -> str:
        return "<unknown>" if self._dims is None else str(self._dims)


def _length(n: Any) -> int | None:
    if n is not None and not hasattr(n, "__index__"):
        raise TypeError(f"Dimension value must be integer or None or have an __index__ method, got value '{n!r}' with "
                        f"type '{type(n)!r}'")  # fmt: skip
    if n is not None and n.__index__() < 0:
        raise ValueError(f"Dimension {n} must be >= 0")
    return None if n is None else int(n.__index__())


def as_shape(shape: Any) -> TensorShape:
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def known(dims: tuple[int, ...]) -> TensorShape:
    """The shape of an array."""
    out = object.__new__(TensorShape)
    out._dims = dims
    return out
