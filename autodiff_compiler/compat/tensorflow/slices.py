"""`IndexedSlices`: the gradient of a variable of which only some rows were read."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dtypes
from .operands import operand
from .shapes import TensorShape, known
from .tensors import EagerTensor


class IndexedSlices:
    """Rows of a tensor that is zero elsewhere; rows with one index add up.

    values: the rows; indices: their places along the first axis; dense_shape: the shape of the whole.
    ``tf.convert_to_tensor`` gives the dense tensor.
    """

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None):
        self._values = operand(values)
        self._indices = operand(indices)
        self._dense_shape = None if dense_shape is None else operand(dense_shape)

    @property
    def values(self) -> EagerTensor:
        return self._values  # type: ignore[no-any-return]

    @property
    def indices(self) -> EagerTensor:
        return self._indices  # type: ignore[no-any-return]

    @property
    def dense_shape(self) -> Any:
        return self._dense_shape

    @property
    def dtype(self) -> dtypes.DType:
        return dtypes.of(self._values._value.dtype)

    @property
    def shape(self) -> TensorShape:
        if self._dense_shape is None:
            return TensorShape(None)
        return known(tuple([int(n) for n in self._dense_shape._value]))

    @property
    def device(self) -> str:
        return self._values.device  # type: ignore[no-any-return]

    def _as_tensor(self) -> Any:
        """The dense tensor."""
        from .indexing import scatter_nd

        if self._dense_shape is None:
            raise ValueError(
                "Tensor conversion requested for IndexedSlices without dense_shape: the shape of the whole is unknown"
            )
        ids = np.asarray(self._indices._value).reshape(-1, 1)
        return scatter_nd(ids, self._values, self._dense_shape)

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __repr__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape}"
        return f"IndexedSlices(indices={self._indices}, values={self._values}{shape})"


def dense(x: Any) -> Any:
    """A tensor of a gradient, which may be indexed slices."""
    return x._as_tensor() if isinstance(x, IndexedSlices) else x


__all__ = ["IndexedSlices", "dense"]
