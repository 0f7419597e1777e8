"""`TensorArray`: tensors by number, written one at a time and stacked at the end."""

from __future__ import annotations

from typing import Any

from . import dtypes
from .creation import zeros
from .dtypes import as_dtype
from .errors import InvalidArgumentError, OutOfRangeError
from .operands import integer
from .shapes import TensorShape, as_shape
from .shaping import concat, split, stack, unstack
from .tensors import convert_to_tensor


class TensorArray:
    """A list of tensors of one dtype, which gradients pass through.

    dtype: that of the elements. size: how many there are; with `dynamic_size` writing beyond the end makes more.
    clear_after_read: `read` takes an element out, and raises the second time. element_shape: what each has to fit; with
    `infer_shape` that is the first one's shape. For `stack`, `gather` and `concat` what is not there is zeros.

    Raises OutOfRangeError for an index beyond the size, InvalidArgumentError for an element of another dtype and for
    reading twice, ValueError for another shape.

    >>> from autodiff_compiler.compat import tensorflow as tf
    >>> squares = tf.TensorArray(tf.float32, size=3)
    >>> for k in range(3):
    ...     squares = squares.write(k, float(k * k))
    >>> squares.stack().numpy()
    array([0., 1., 4.], dtype=float32)
    """

    def __init__(
        self, dtype: Any, size: Any = None, dynamic_size: bool | None = None, clear_after_read: bool | None = None,
        tensor_array_name: str | None = None, handle: Any = None, flow: Any = None, infer_shape: bool = True,
        element_shape: Any = None, colocate_with_first_write_call: bool = True, name: str | None = None,
    ):  # fmt: skip
        self.dtype = as_dtype(dtype)
        self.dynamic_size = bool(dynamic_size)
        self._clears = clear_after_read is None or bool(clear_after_read)
        self._infers = infer_shape
        self.element_shape: TensorShape = as_shape(element_shape)
        self._items: list[Any] = [None] * (0 if size is None else integer(size))
        self._read: set[int] = set()

    def size(self, name: str | None = None) -> Any:
        """How many elements there are, int32."""
        return convert_to_tensor(len(self._items), dtypes.int32)

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """Store an element; the array itself is returned."""
        k = integer(index)
        if k < 0:
            raise OutOfRangeError(None, None, f"Writing to negative indices (index {k}) is not allowed.")
        if k >= len(self._items):
            if not self.dynamic_size:
                raise OutOfRangeError(
                    None, None,
                    f"Tried to write to index {k} but array is not resizeable and size is: {len(self._items)} ",
                )  # fmt: skip
            self._items += [None] * (k + 1 - len(self._items))
        made = convert_to_tensor(value) if hasattr(value, "_value") else convert_to_tensor(value, self.dtype)
        if made.dtype != self.dtype:
            raise InvalidArgumentError(
                None, None,
                f"TensorArray dtype is {self.dtype.name} but Op is trying to write dtype {made.dtype.name} ",
            )  # fmt: skip
        if not self.element_shape.is_compatible_with(made.shape):
            raise ValueError(f"Incompatible shape for value ({made.shape}), expected ({self.element_shape})")
        if self._infers:
            self.element_shape = self.element_shape.merge_with(made.shape)
        self._items[k] = made
        self._read.discard(k)
        return self

    def read(self, index: Any, name: str | None = None) -> Any:
        """An element."""
        k = integer(index)
        if k < 0:
            raise OutOfRangeError(None, None, f"Reading from negative indices (index {k}) is not allowed.")
        if k >= len(self._items):
            raise OutOfRangeError(
                None, None, f"Tried to read from index {k} but array size is: {len(self._items)} "
            )  # fmt: skip
        if k in self._read:
            raise InvalidArgumentError(
                None, None,
                f"Could not read index {k} twice because it was cleared after a previous read (perhaps try setting "
                "clear_after_read = false?)",
            )  # fmt: skip
        if self._clears:
            self._read.add(k)
        found = self._there(k)
        if self._clears:
            self._items[k] = None
        return found

    def _there(self, k: int) -> Any:
        """An element; zeros for one that was never written, or was taken out."""
        if self._items[k] is None:
            if not self.element_shape.is_fully_defined():
                raise ValueError(f"Cannot convert a partially known TensorShape {self.element_shape} to a Tensor.")
            self._items[k] = zeros(list(self.element_shape), self.dtype)
        return self._items[k]

    def stack(self, name: str | None = None) -> Any:
        """All elements along a new first axis."""
        return self.gather(range(len(self._items)))

    def gather(self, indices: Any, name: str | None = None) -> Any:
        """Some elements along a new first axis."""
        numbers = list(indices) if isinstance(indices, range) else convert_to_tensor(indices).numpy().tolist()
        if not numbers:
            return zeros([0, *(n or 0 for n in self.element_shape)] if self.element_shape.rank else [0], self.dtype)
        return stack([self._there(k) for k in numbers])

    def concat(self, name: str | None = None) -> Any:
        """All elements after each other along their first axis."""
        return concat([self._there(k) for k in range(len(self._items))], 0)

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Store the parts of a tensor along its first axis. Raises ValueError if they are more than the size."""
        parts = unstack(convert_to_tensor(value, None if hasattr(value, "_value") else self.dtype))
        if len(parts) > len(self._items) and not self.dynamic_size:
            raise ValueError(
                f"Cannot unstack {len(parts)} tensors into a TensorArray of static size {len(self._items)} "
            )  # fmt: skip
        self._items = [None] * len(parts)
        for k, part in enumerate(parts):
            self.write(k, part)
        return self

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Store the parts of a tensor along its first axis at these places."""
        parts = unstack(convert_to_tensor(value, None if hasattr(value, "_value") else self.dtype))
        for k, part in zip(convert_to_tensor(indices).numpy().tolist(), parts):
            self.write(k, part)
        return self

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Store parts of a tensor along its first axis, of these lengths."""
        self._infers = False
        made = convert_to_tensor(value, None if hasattr(value, "_value") else self.dtype)
        for k, part in enumerate(split(made, convert_to_tensor(lengths).numpy().tolist())):
            self.write(k, part)
        return self

    def identity(self) -> TensorArray:
        """The array itself."""
        return self

    def close(self, name: str | None = None) -> None:
        """Drop all elements."""
        self._items.clear()
