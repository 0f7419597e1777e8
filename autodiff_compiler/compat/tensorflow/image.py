"""``tf.image``: the operation that TensorFlow's guide registers a gradient for."""

from __future__ import annotations

from typing import Any

from ...tape.custom import named_operation
from . import dtypes
from .namespace import lazy
from .operands import floating
from .operators import Arithmetic
from .tensors import convert_to_tensor


def adjust_contrast(images: Any, contrast_factor: Any) -> Any:
    """``(x - mean) * factor + mean`` for each channel of floating images (..., height, width, channels).

    TensorFlow has no gradient for it: LookupError, unless one was registered for "AdjustContrastv2".
    """
    x = floating(images, "AdjustContrastv2", "f")
    factor = convert_to_tensor(contrast_factor, None if isinstance(contrast_factor, Arithmetic) else dtypes.float32)
    return named_operation("AdjustContrastv2", _contrast, [convert_to_tensor(x), factor])


def _contrast(v: Any, factor: Any) -> Any:
    mean = v.mean(axis=(-3, -2), keepdims=True)
    return ((v - mean) * factor + mean).astype(v.dtype)


__getattr__, __dir__ = lazy(__name__, {})
