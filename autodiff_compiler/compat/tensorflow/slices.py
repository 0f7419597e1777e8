"""`IndexedSlices`: the gradient of a variable of which only some rows were read."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tape.connect import View, records_of
from ...tape.recording import Recording
from . import dtypes, made
from .operands import operand, run
from .shapes import TensorShape
from .tensors import EagerTensor, tensor


class IndexedSlices:
    """Rows of a tensor that is zero elsewhere; rows with one index add up.

    values: the rows; indices: their places along the first axis; dense_shape: the shape of the whole.
    ``tf.convert_to_tensor`` gives the dense tensor.
    """

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None):
        self.values = operand(values)
        self.indices = operand(indices)
        self.dense_shape = None if dense_shape is None else operand(dense_shape)
        self.dtype = dtypes.of(self.values._value.dtype)

    @property
    def shape(self) -> TensorShape | None:
        """The shape of the whole, None if it is unknown."""
        return None if self.dense_shape is None else TensorShape(self.dense_shape._value)

    def _as_tensor(self) -> Any:
        """The dense tensor."""
        if self.dense_shape is None:
            raise ValueError(
                "Tensor conversion requested for IndexedSlices without dense_shape: the shape of the whole is unknown"
            )
        ids = np.asarray(self.indices._value).reshape(-1, 1)
        return made.scatter_nd(ids, self.values, self.dense_shape)

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self.values, self.indices, self.dense_shape)

    def __repr__(self) -> str:
        shape = "" if self.dense_shape is None else f", dense_shape={self.dense_shape}"
        return f"IndexedSlices(indices={self.indices}, values={self.values}{shape})"


# --- gradients of variables that were gathered from -------------------------------------------------------------------


def gathered(rec: Recording, x: Any, view: View) -> list[tuple[int, Any]] | None:
    """The slots of the rows that were gathered from a variable, as a tape saw it, and their indices; None if it was
    read otherwise."""
    known = x._gathers
    if known is None or known[0] is not rec.token:
        return None
    at = rec.slots(x)
    if len(at) != 1:
        return None
    slots = {slot for slot, _ in known[1]}
    seen = {record.results.start: record for record in records_of(rec.node, view, rec.values)[0]}
    if any(at[0] in record.operands and first not in slots for first, record in seen.items()):
        return None
    return [(slot, ids) for slot, ids in known[1] if slot in seen] or None


def slot_of(rec: Recording, slot: int) -> EagerTensor:
    """A tensor for a slot of the recording."""
    out = tensor(rec.values[slot])
    out._token, out._slot = rec.token, slot
    return out


def sparse_gradient(x: Any, rows: list[tuple[int, Any]], grads: list[Any]) -> IndexedSlices | None:
    """The gradient of a variable from those of the rows that were gathered from it."""
    shape = x._value.shape
    values, indices = [], []
    for (_, ids), g in zip(rows, grads):
        if g is not None:
            values.append(run(np.reshape, g, (-1, *shape[1:])))
            indices.append(ids.ravel())
    if not values:
        return None
    joined = values[0] if len(values) == 1 else run(np.concatenate, values, axis=0)
    return IndexedSlices(joined, tensor(np.concatenate(indices)), tensor(np.array(shape, np.int32)))


__all__ = ["IndexedSlices", "gathered", "slot_of", "sparse_gradient"]
