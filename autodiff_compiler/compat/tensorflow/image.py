"""``tf.image``: what can be said in a few lines. Images have the axes (..., height, width, channels)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tape.custom import named_operation
from . import dtypes
from .dtypes import as_dtype
from .elementwise import abs_, cast, saturate_cast, sqrt
from .namespace import lazy
from .operands import operand, run
from .operators import subscript
from .reductions import reduce_mean, reduce_sum, reduce_variance
from .tensors import convert_to_tensor, tensor


def convert_image_dtype(image: Any, dtype: Any, saturate: bool = False, name: str | None = None) -> Any:
    """The image in another dtype, its intensities scaled to the range of that dtype."""
    x, wanted = operand(image), as_dtype(dtype)
    source = dtypes.of(x._value.dtype)
    if source is wanted:
        return x
    change = saturate_cast if saturate else cast
    if source.is_integer and wanted.is_integer:
        if source.max > wanted.max:
            return change(tensor(x._value // ((int(source.max) + 1) // (int(wanted.max) + 1))), wanted)
        return change(x, wanted) * ((int(wanted.max) + 1) // (int(source.max) + 1))
    if source.is_floating and wanted.is_floating:
        return cast(x, wanted)
    if source.is_integer:
        return cast(x, wanted) * (1.0 / float(source.max))
    return change(tensor(x._value * (float(wanted.max) + 0.5)), wanted)


def adjust_contrast(images: Any, contrast_factor: Any) -> Any:
    """``(x - mean) * factor + mean`` for each channel. TensorFlow has no gradient for it: LookupError, unless one was
    registered for "AdjustContrastv2"."""
    x = operand(images)
    original = dtypes.of(x._value.dtype)
    floating = x if original.is_floating else convert_image_dtype(x, dtypes.float32)
    factor = (
        operand(contrast_factor)
        if hasattr(contrast_factor, "_value")
        else convert_to_tensor(contrast_factor, dtypes.float32)
    )
    out = adjust_contrast_v2(images=floating, contrast_factor=factor)
    return out if original.is_floating else convert_image_dtype(out, original, saturate=True)


def adjust_contrast_v2(images: Any, contrast_factor: Any, name: str | None = None) -> Any:
    x = operand(images)
    factor = (
        operand(contrast_factor)
        if hasattr(contrast_factor, "_value")
        else convert_to_tensor(contrast_factor, dtypes.float32)
    )
    return named_operation("AdjustContrastv2", _contrast, [convert_to_tensor(x), convert_to_tensor(factor)])


def _contrast(v: Any, factor: Any) -> Any:
    mean = v.mean(axis=(-3, -2), keepdims=True)
    return ((v - mean) * factor + mean).astype(v.dtype)


def adjust_brightness(image: Any, delta: Any) -> Any:
    """``image + delta``, in the scale of floating images."""
    x = operand(image)
    original = dtypes.of(x._value.dtype)
    floating = x if original.is_floating else convert_image_dtype(x, dtypes.float32)
    out = floating + delta
    return out if original.is_floating else convert_image_dtype(out, original, saturate=True)


def flip_left_right(image: Any) -> Any:
    """Columns in reverse order."""
    return run(np.flip, operand(image), axis=-2)


def flip_up_down(image: Any) -> Any:
    """Rows in reverse order."""
    return run(np.flip, operand(image), axis=-3)


def transpose(image: Any, name: str | None = None) -> Any:
    """Rows and columns swapped."""
    return run(np.swapaxes, operand(image), -3, -2)


def rot90(image: Any, k: int = 1, name: str | None = None) -> Any:
    """Turned counter-clockwise by `k` times 90 degrees."""
    x = operand(image)
    for _ in range(k % 4):
        x = flip_up_down(transpose(x))
    return x


def rgb_to_grayscale(images: Any, name: str | None = None) -> Any:
    """One channel: 0.2989 of red, 0.587 of green, 0.114 of blue."""
    x = operand(images)
    original = dtypes.of(x._value.dtype)
    floating = x if original.is_floating else convert_image_dtype(x, dtypes.float32)
    weights = np.array([0.2989, 0.587, 0.114], floating._value.dtype)
    out = reduce_sum(floating * tensor(weights), -1, True)
    return out if original.is_floating else convert_image_dtype(out, original)


def grayscale_to_rgb(images: Any, name: str | None = None) -> Any:
    """The channel three times."""
    x = operand(images)
    return run(np.concatenate, [x, x, x], axis=-1)


def per_image_standardization(image: Any) -> Any:
    """Mean 0 and variance 1 for each image; small deviations count as one over the root of the number of elements."""
    from .elementwise import maximum

    x = operand(image)
    x = x if dtypes.of(x._value.dtype).is_floating else cast(x, dtypes.float32)
    at = (-3, -2, -1)
    count = float(np.prod(x._value.shape[-3:]))
    deviation = maximum(sqrt(reduce_variance(x, at, True)), 1.0 / count**0.5)
    return (x - reduce_mean(x, at, True)) / deviation


def central_crop(image: Any, central_fraction: float) -> Any:
    """The middle part."""
    x = operand(image)
    if not 0 < central_fraction <= 1:
        raise ValueError("central_fraction must be within (0, 1]")
    height, width = x._value.shape[-3:-1]
    top, left = (int((n - n * central_fraction) / 2) for n in (height, width))
    return subscript(x, (Ellipsis, slice(top, height - top), slice(left, width - left), slice(None)))


def crop_to_bounding_box(
    image: Any, offset_height: int, offset_width: int, target_height: int, target_width: int
) -> Any:
    """A part of the image."""
    rows, columns = (
        slice(offset_height, offset_height + target_height),
        slice(offset_width, offset_width + target_width),
    )
    x = operand(image)
    if rows.stop > x._value.shape[-3] or columns.stop > x._value.shape[-2] or min(offset_height, offset_width) < 0:
        raise ValueError("the box must lie within the image")
    return subscript(x, (Ellipsis, rows, columns, slice(None)))


def image_gradients(image: Any) -> tuple[Any, Any]:
    """Differences of neighbouring rows and columns of a batch of images; the last ones are zero."""
    x = operand(image)
    out = []
    for at in (1, 2):
        head: Any = [slice(None)] * 4
        tail: Any = [slice(None)] * 4
        head[at], tail[at] = slice(1, None), slice(None, -1)
        widths = [(0, 0)] * 4
        widths[at] = (0, 1)
        out.append(run(np.pad, subscript(x, tuple(head)) - subscript(x, tuple(tail)), tuple(widths)))
    return out[0], out[1]


def total_variation(images: Any, name: str | None = None) -> Any:
    """The sum of the differences of neighbouring pixels, for each image."""
    x = operand(images)
    rows = subscript(x, (Ellipsis, slice(1, None), slice(None), slice(None))) - subscript(
        x, (Ellipsis, slice(None, -1), slice(None), slice(None))
    )
    columns = subscript(x, (Ellipsis, slice(1, None), slice(None))) - subscript(
        x, (Ellipsis, slice(None, -1), slice(None))
    )
    at = (-3, -2, -1)
    return reduce_sum(abs_(rows), at) + reduce_sum(abs_(columns), at)


__getattr__, __dir__ = lazy(__name__, {})
