"""Masks: which steps of a sequence count. They travel with the tensors that layers give, as in Keras."""

from __future__ import annotations

from typing import Any

from ....tape.tensor import wrap
from ... import tensorflow as tf
from ..tensors import EagerTensor


class _Masked(EagerTensor):
    """A tensor that a mask goes with."""

    __slots__ = ("_keras_mask",)
    _keras_mask: Any


_Masked.__name__ = _Masked.__qualname__ = "EagerTensor"


def mask_of(x: Any) -> Any:
    """The mask that goes with a tensor, or None; for a list of tensors a list of these, or None if there is none."""
    if isinstance(x, (list, tuple)):
        found = [mask_of(item) for item in x]
        return found if any(m is not None for m in found) else None
    return getattr(x, "_keras_mask", None)


def with_mask(x: Any, mask: Any) -> Any:
    """The tensor with a mask, unless it has one; several with theirs."""
    if mask is None:
        return x
    if isinstance(x, (list, tuple)):
        parts = [with_mask(item, m) for item, m in zip(x, mask)] + list(x)[len(mask) :]
        return parts if isinstance(x, list) else tuple(parts)
    if not tf.is_tensor(x) or mask_of(x) is not None:
        return x
    made = wrap(_Masked, x._value)
    made._token, made._slot = x._token, x._slot
    made._keras_mask = mask
    return made
