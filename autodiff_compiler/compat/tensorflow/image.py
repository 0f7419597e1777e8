"""``tf.image``: what can be said in a few lines. Images have the axes (..., height, width, channels)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tape.custom import named_operation
from . import dtypes
from .dtypes import as_dtype
from .elementwise import abs_, cast, saturate_cast, sqrt
from .namespace import lazy
from .operands import integers, operand, run
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


def sobel_edges(image: Any) -> Any:
    """How a batch of images changes down and across, by Sobel's filters: ``(batch, height, width, channels, 2)``."""
    from .shaping import pad, reshape
    from .windows import depthwise_conv2d

    x = operand(image)
    batch, height, width, channels = x._value.shape
    down = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]], x._value.dtype)
    filters = np.broadcast_to(np.stack([down, down.T], -1)[:, :, None, :], (3, 3, channels, 2))
    padded = pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT")
    found = depthwise_conv2d(padded, tensor(np.array(filters)), [1, 1, 1, 1], "VALID")
    return reshape(found, [batch, height, width, channels, 2])


def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Any:
    """The peak signal to noise ratio of two images, in decibels, for values from 0 to `max_val`."""
    from .elementwise import log, square

    x, y = convert_image_dtype(a, dtypes.float32), convert_image_dtype(b, dtypes.float32)
    peak = float(max_val)
    if not dtypes.of(operand(a)._value.dtype).is_floating:
        peak /= float(np.iinfo(operand(a)._value.dtype).max)
    error = reduce_mean(square(x - y), (-3, -2, -1))
    return float(20.0 * np.log10(peak)) - float(10.0 / np.log(10.0)) * log(error)


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Any:
    """``gain * image**gamma``, for values from 0 to 1."""
    from .elementwise import pow as power

    x = operand(image)
    original = dtypes.of(x._value.dtype)
    floating = x if original.is_floating else convert_image_dtype(x, dtypes.float32)
    out = power(floating, float(gamma)) * float(gain)
    return out if original.is_floating else convert_image_dtype(out, original, saturate=True)


def pad_to_bounding_box(
    image: Any, offset_height: int, offset_width: int, target_height: int, target_width: int
) -> Any:  # fmt: skip
    """The image inside a larger one of zeros. Raises ValueError where it does not fit."""
    x = operand(image)
    height, width = x._value.shape[-3:-1]
    after = (target_height - offset_height - height, target_width - offset_width - width)
    for name, n in (("offset_height", offset_height), ("offset_width", offset_width)):
        if n < 0:
            raise ValueError(f"{name} must be >= 0")
    for name, n in (("height", after[0]), ("width", after[1])):
        if n < 0:
            raise ValueError(f"{name} must be <= target - offset")
    widths = [(0, 0)] * (x._value.ndim - 3) + [(offset_height, after[0]), (offset_width, after[1]), (0, 0)]
    return run(np.pad, x, tuple(widths))


def resize_with_crop_or_pad(image: Any, target_height: int, target_width: int) -> Any:
    """The middle of the image, or the image in the middle of zeros, on each axis."""
    x = operand(image)
    height, width = x._value.shape[-3:-1]
    top, left = max((height - target_height) // 2, 0), max((width - target_width) // 2, 0)
    cut = crop_to_bounding_box(x, top, left, min(height, target_height), min(width, target_width))
    above, before = max((target_height - height) // 2, 0), max((target_width - width) // 2, 0)
    return pad_to_bounding_box(cut, above, before, target_height, target_width)


def resize(
    images: Any, size: Any, method: str = "bilinear", preserve_aspect_ratio: bool = False, antialias: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Images of another height and width, as float32, or with "nearest" of the same dtype.

    method: "bilinear", "nearest" or "area". antialias: where images become smaller, "bilinear" takes all pixels into
    account. preserve_aspect_ratio: the images become as large as fits into `size`.
    Raises ValueError for another method, and for what is neither an image nor a batch of them.
    """
    from .elementwise import identity
    from .indexing import gather
    from .linear_algebra import einsum

    x = operand(images)
    if x._value.ndim not in (3, 4):
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    old = x._value.shape[-3:-1]
    new = tuple(integers(size))
    if len(new) != 2:
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    if preserve_aspect_ratio:
        scale = min(new[0] / old[0], new[1] / old[1])
        new = (round(old[0] * scale), round(old[1] * scale))
    if method == "nearest":
        at = [np.minimum(((np.arange(n) + 0.5) * (m / n)).astype(int), m - 1) for m, n in zip(old, new)]
        x = identity(x)  # of a variable the gradient would be IndexedSlices
        return gather(gather(x, at[0], axis=x._value.ndim - 3), at[1], axis=x._value.ndim - 2)
    if method not in ("bilinear", "area"):
        raise ValueError(f"method={method!r} is not there: 'bilinear', 'nearest' and 'area' are")
    x = x if dtypes.of(x._value.dtype).is_floating else cast(x, dtypes.float32)
    rows, columns = (_mixed(m, n, method, antialias).astype(x._value.dtype) for m, n in zip(old, new))
    return einsum("yh,...hwc,xw->...yxc", tensor(rows), x, tensor(columns))


def _mixed(old: int, new: int, method: str, antialias: bool) -> Any:
    """How much of each old pixel is in each new one, along one axis."""
    scale = old / new
    pixels = np.arange(old)
    if method == "area":
        start, end = np.arange(new)[:, None] * scale, np.arange(1, new + 1)[:, None] * scale
        part = np.clip(np.minimum(pixels + 1, end) - np.maximum(pixels, start), 0, None)
    else:
        width = max(scale, 1.0) if antialias else 1.0
        center = (np.arange(new)[:, None] + 0.5) * scale - 0.5
        if not antialias:
            center = np.clip(center, 0, old - 1)
        part = np.clip(1.0 - np.abs(pixels - center) / width, 0, None)
    return part / part.sum(1, keepdims=True)


def _chance(seed: Any) -> Any:
    from .random import generator

    return generator(seed)


def random_flip_left_right(image: Any, seed: Any = None) -> Any:
    """The image, or its mirror image, by chance; in a batch for each image by itself."""
    return _flipped(image, seed, -2)


def random_flip_up_down(image: Any, seed: Any = None) -> Any:
    """The image, or itself upside down, by chance; in a batch for each image by itself."""
    return _flipped(image, seed, -3)


def _flipped(image: Any, seed: Any, axis: int) -> Any:
    from .indexing import where

    x = operand(image)
    turned = run(np.flip, x, axis=axis)
    chosen = _chance(seed).random((*x._value.shape[:-3], 1, 1, 1)) < 0.5
    return where(tensor(np.broadcast_to(chosen, x._value.shape).copy()), turned, x)


def random_crop(value: Any, size: Any, seed: Any = None, name: str | None = None) -> Any:
    """A part of these lengths, from anywhere."""
    x, lengths = operand(value), tuple(integers(size))
    if any(n > m for n, m in zip(lengths, x._value.shape)):
        raise ValueError(f"Need value.shape >= size, got {list(x._value.shape)} and {list(lengths)}")
    chance = _chance(seed)
    starts = [int(chance.integers(m - n + 1)) for n, m in zip(lengths, x._value.shape)]
    return subscript(x, tuple([slice(a, a + n) for a, n in zip(starts, lengths)]))


def random_brightness(image: Any, max_delta: float, seed: Any = None) -> Any:
    """`adjust_brightness` by chance, from ``-max_delta`` to ``max_delta``."""
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, float(_chance(seed).uniform(-max_delta, max_delta)))


__getattr__, __dir__ = lazy(__name__, {})
