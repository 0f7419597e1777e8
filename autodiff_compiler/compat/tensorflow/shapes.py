"""`TensorShape`: the lengths of a tensor's axes, some or all of which may be unknown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class TensorShape:
    """The lengths of the axes: integers, None for one that is unknown; ``TensorShape(None)`` does not even know the
    number of axes.

    >>> TensorShape([2, 3]) + [4]
    TensorShape([2, 3, 4])
    """

    __slots__ = ("_dims",)
    _dims: tuple[int | None, ...] | None

    def __init__(self, dims: Any):
        if isinstance(dims, TensorShape):
            self._dims = dims._dims
        elif dims is None:
            self._dims = None
        elif hasattr(dims, "__iter__") or hasattr(dims, "__len__"):
            self._dims = tuple([_length(n) for n in dims])
        else:
            self._dims = (_length(dims),)

    @property
    def rank(self) -> int | None:
        """The number of axes, None if that is unknown."""
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self) -> int | None:
        return self.rank

    @property
    def dims(self) -> list[int | None] | None:
        return None if self._dims is None else list(self._dims)

    def as_list(self) -> list[int | None]:
        """The lengths as a list. Raises ValueError if the number of axes is unknown."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def num_elements(self) -> int | None:
        """The product of the lengths, None if one of them is unknown."""
        if self._dims is None:
            return None
        out = 1
        for n in self._dims:
            if n is None:
                return None
            out *= n
        return out

    def is_fully_defined(self) -> bool:
        return self._dims is not None and None not in self._dims

    def is_compatible_with(self, other: Any) -> bool:
        """Whether both could be the shape of one tensor."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return True
        return len(self._dims) == len(other._dims) and all(
            a is None or b is None or a == b for a, b in zip(self._dims, other._dims)
        )

    def concatenate(self, other: Any) -> TensorShape:
        """The lengths of this one, then of the other."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return TensorShape(None)
        return TensorShape(self._dims + other._dims)

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return as_shape(other).concatenate(self)

    def __getitem__(self, key: Any) -> Any:
        if self._dims is None:
            return TensorShape(None) if isinstance(key, slice) else None
        found = self._dims[key]
        return TensorShape(found) if isinstance(key, slice) else found

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __iter__(self) -> Iterator[int | None]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims)

    def __bool__(self) -> bool:
        return self._dims is not None

    def __eq__(self, other: Any) -> bool:
        try:
            return self._dims == as_shape(other)._dims
        except (TypeError, ValueError):
            return NotImplemented

    def __ne__(self, other: Any) -> bool:
        found = self.__eq__(other)
        return found if found is NotImplemented else not found

    def __hash__(self) -> int:
        return hash(self._dims)

    def __reduce__(self) -> Any:
        return TensorShape, (None if self._dims is None else list(self._dims),)

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else list(self._dims)})"

    def __str__(self) -> str:
        return "<unknown>" if self._dims is None else str(self._dims)


def _length(n: Any) -> int | None:
    if n is None:
        return None
    try:
        out = n.__index__()
    except AttributeError:
        raise TypeError(f"Dimension value must be integer or None or have an __index__ method, got value '{n!r}' with "
                        f"type '{type(n)!r}'") from None  # fmt: skip
    if out < 0:
        raise ValueError(f"Dimension {out} must be >= 0")
    return int(out)


def as_shape(shape: Any) -> TensorShape:
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def known(dims: tuple[int, ...]) -> TensorShape:
    """The shape of an array."""
    out = object.__new__(TensorShape)
    out._dims = dims
    return out
