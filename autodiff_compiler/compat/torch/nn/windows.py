"""Convolutions and pooling, channels first: functions of ``torch.nn.functional``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .... import kernels
from ...graph.array import value_of
from ..core import make, run
from ..reductions import pair


def each(x: Any, n: int) -> tuple[int, ...]:
    """A number for each spatial axis."""
    return tuple([int(v) for v in x]) if isinstance(x, (tuple, list)) else (int(x),) * n


def _last(a: Any) -> Any:
    return np.moveaxis(a, 1, -1)


def _first(a: Any) -> Any:
    # In the order of its axes, as PyTorch has it: `view` is what usually comes next.
    return np.copy(np.moveaxis(a, -1, 1), order="C")


def _batched(f: Callable[..., Any], input: Any, n: int) -> Any:
    """`f` of a batch; of one image, without the axis of the batch."""
    if input._value.ndim == n + 2:
        return f(input)
    if input._value.ndim != n + 1:
        raise RuntimeError(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input, but got input of size: "
            f"{list(input._value.shape)}"
        )
    return f(input.unsqueeze(0)).squeeze(0)


def _conv(n: int) -> Callable[..., Any]:
    def conv(
        input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
    ) -> Any:
        w = weight._value.shape
        steps, holes = each(stride, n), each(dilation, n)
        if padding == "valid":
            pads = [(0, 0)] * n
        elif padding == "same":
            if any(s != 1 for s in steps):
                raise RuntimeError("padding='same' is not supported for strided convolutions")
            total = [d * (k - 1) for d, k in zip(holes, w[2:])]
            pads = [(t // 2, t - t // 2) for t in total]
        else:
            pads = [(p, p) for p in each(padding, n)]
        axes = (*range(2, n + 2), 1, 0)

        def whole(x: Any) -> Any:
            shape = x._value.shape
            if shape[1] != w[1] * groups:
                raise RuntimeError(
                    f"Given groups={groups}, weight of size {list(w)}, expected input{list(shape)} to have "
                    f"{w[1] * groups} channels, but got {shape[1]} channels instead"
                )

            def computed(a: Any, f: Any, *b: Any) -> Any:
                out = kernels.conv(_last(a), np.transpose(f, axes), steps, pads, holes, groups)
                return _first(out + b[0] if b else out)

            return run("Convolution", computed, x, weight, *(() if bias is None else (bias,)))

        return _batched(whole, input, n)

    conv.__name__ = conv.__qualname__ = f"conv{n}d"
    conv.__doc__ = (
        f"The products of filters with windows. Shapes: `input` (batch, channels, *{n} axes), `weight` "
        f"(outputs, channels // "
        "groups, *window)."
    )
    return conv


conv1d, conv2d, conv3d = _conv(1), _conv(2), _conv(3)


def _conv_transpose(n: int) -> Callable[..., Any]:
    def conv_transpose(
        input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
        groups: int = 1, dilation: Any = 1,
    ) -> Any:  # fmt: skip
        w = weight._value.shape
        steps, holes, pad, extra = each(stride, n), each(dilation, n), each(padding, n), each(output_padding, n)
        if groups != 1:
            raise NotImplementedError(f"conv_transpose{n}d: groups={groups} is not there: split the channels yourself")
        axes = (*range(2, n + 2), 1, 0)

        def whole(x: Any) -> Any:
            size = tuple(
                [
                    (m - 1) * s - 2 * p + d * (k - 1) + e + 1
                    for m, s, p, d, k, e in zip(x._value.shape[2:], steps, pad, holes, w[2:], extra)
                ]
            )

            def computed(a: Any, f: Any, *b: Any) -> Any:
                pads = [(p, p) for p in pad]
                out = kernels.conv_input(_last(a), np.transpose(f, axes), size, steps, pads, holes, 1)
                return _first(out + b[0] if b else out)

            return run("Convolution", computed, x, weight, *(() if bias is None else (bias,)))

        return _batched(whole, input, n)

    conv_transpose.__name__ = conv_transpose.__qualname__ = f"conv_transpose{n}d"
    conv_transpose.__doc__ = "The transpose of a convolution. `weight`: (channels, outputs, *window)."
    return conv_transpose


conv_transpose1d, conv_transpose2d = _conv_transpose(1), _conv_transpose(2)


def _check_pool(ceil_mode: bool, dilation: Any, name: str) -> None:
    if ceil_mode:
        raise NotImplementedError(f"{name}: ceil_mode=True is not there: pad the input first")
    if any(d != 1 for d in each(dilation, 1)):
        raise NotImplementedError(f"{name}: dilation is not there")


def _max_pool(n: int) -> Callable[..., Any]:
    def max_pool(
        input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:  # fmt: skip
        _check_pool(ceil_mode, dilation, f"max_pool{n}d")
        size = each(kernel_size, n)
        steps = size if stride is None or stride == [] else each(stride, n)
        pads = [(p, p) for p in each(padding, n)]
        if any(p[0] > k // 2 for p, k in zip(pads, size)):
            raise RuntimeError("pad should be at most half of effective kernel size")
        if return_indices:
            raise NotImplementedError(f"max_pool{n}d: return_indices=True is not there")

        def whole(x: Any) -> Any:
            places = kernels.pool_places(_last(x._value), size, steps, pads)
            return run(f"MaxPool{n}D", lambda a: _first(np.take(np.reshape(_last(a), (-1,)), places)), x)

        return _batched(whole, input, n)

    max_pool.__name__ = max_pool.__qualname__ = f"max_pool{n}d"
    max_pool.__doc__ = "The maximum of each window; of equal elements the first gets the gradient."
    return max_pool


def _avg_pool(n: int) -> Callable[..., Any]:
    def avg_pool(
        input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> Any:  # fmt: skip
        _check_pool(ceil_mode, 1, f"avg_pool{n}d")
        size = each(kernel_size, n)
        steps = size if stride is None or stride == [] else each(stride, n)
        pads = [(p, p) for p in each(padding, n)]

        def whole(x: Any) -> Any:
            def computed(a: Any) -> Any:
                sums = kernels.pool_sum(_last(a), size, steps, pads)
                if divisor_override is not None:
                    return _first(sums / divisor_override)
                if count_include_pad:
                    return _first(sums / float(np.prod(size)))
                counts = kernels.pool_count(_last(value_of(a)), size, steps, pads)
                return _first(sums / counts.astype(value_of(a).dtype))

            return run(f"AvgPool{n}D", computed, x)

        return _batched(whole, input, n)

    avg_pool.__name__ = avg_pool.__qualname__ = f"avg_pool{n}d"
    avg_pool.__doc__ = "The mean of each window; the zeros of the padding count unless told otherwise."
    return avg_pool


max_pool1d, max_pool2d = _max_pool(1), _max_pool(2)
avg_pool1d, avg_pool2d = _avg_pool(1), _avg_pool(2)


def _bounds(n: int, parts: int) -> list[tuple[int, int]]:
    return [(k * n // parts, -(-(k + 1) * n // parts)) for k in range(parts)]


def _averages(n: int, parts: int, dtype: Any) -> Any:
    """The matrix that takes `n` numbers to the means of `parts` ranges."""
    out = np.zeros((parts, n), dtype)
    for k, (a, b) in enumerate(_bounds(n, parts)):
        out[k, a:b] = 1 / (b - a)
    return out


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Any:
    """The means of as many parts of each image as are wanted."""
    h, w = input._value.shape[-2:]
    given = output_size if isinstance(output_size, (tuple, list)) else (output_size, output_size)
    rows, columns = [n if g is None else g for g, n in zip(given, (h, w))]
    left, right = _averages(h, rows, input._value.dtype), _averages(w, columns, input._value.dtype).T
    return run("AdaptiveAvgPool2D", lambda a: np.matmul(np.matmul(left, a), right), input)


def adaptive_max_pool2d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The maxima of as many parts of each image as are wanted."""
    value = input._value
    h, w = value.shape[-2:]
    given = output_size if isinstance(output_size, (tuple, list)) else (output_size, output_size)
    rows, columns = [n if g is None else g for g, n in zip(given, (h, w))]
    flat = value.reshape(-1, h, w)
    places = np.empty((len(flat), rows, columns), np.int64)
    for i, (a, b) in enumerate(_bounds(h, rows)):
        for j, (c, d) in enumerate(_bounds(w, columns)):
            best = flat[:, a:b, c:d].reshape(len(flat), -1).argmax(1)
            places[:, i, j] = (best // (d - c) + a) * w + best % (d - c) + c
    where = (places + (np.arange(len(flat)) * h * w)[:, None, None]).reshape(*value.shape[:-2], rows, columns)
    out = run("AdaptiveMaxPool2D", lambda a: np.take(np.reshape(a, (-1,)), where), input)
    return pair("adaptive_max_pool2d", out, make(places.reshape(where.shape))) if return_indices else out


def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """The windows of images as columns: (batch, channels * window, windows)."""
    size, holes, pad, steps = [each(x, 2) for x in (kernel_size, dilation, padding, stride)]

    def computed(a: Any) -> Any:
        padded = np.pad(a, ((0, 0), (0, 0), (pad[0],) * 2, (pad[1],) * 2)) if any(pad) else a
        n, c, h, w = value_of(padded).shape
        counts = [(m - d * (k - 1) - 1) // s + 1 for m, d, k, s in zip((h, w), holes, size, steps)]
        rows = (np.arange(size[0]) * holes[0])[:, None] + np.arange(counts[0]) * steps[0]
        columns = (np.arange(size[1]) * holes[1])[:, None] + np.arange(counts[1]) * steps[1]
        windows = padded[:, :, rows[:, None, :, None], columns[None, :, None, :]]
        return np.reshape(windows, (n, c * size[0] * size[1], counts[0] * counts[1]))

    return run("Im2Col", computed, input)


def interpolate(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Any:
    """Images in another size: ``"nearest"`` or ``"bilinear"``."""
    space = input._value.shape[2:]
    if size is None:
        factors = scale_factor if isinstance(scale_factor, (tuple, list)) else (scale_factor,) * len(space)
        wanted = [int(n * f) for n, f in zip(space, factors)]
    else:
        wanted = list(each(size, len(space)))
    if mode == "nearest":
        items = [np.floor(np.arange(m) * (n / m)).astype(np.int64).clip(0, n - 1) for n, m in zip(space, wanted)]

        def nearest(a: Any) -> Any:
            for k, where in enumerate(items):
                a = np.take(a, where, axis=k + 2)
            return a

        return run("UpsampleNearest2D", nearest, input)
    if mode not in ("bilinear", "linear"):
        raise NotImplementedError(f"interpolate: mode={mode!r} is not there. Instead: 'nearest' or 'bilinear'")
    weights = [_hats(n, m, bool(align_corners), input._value.dtype) for n, m in zip(space, wanted)]

    def linear(a: Any) -> Any:
        for k, w in enumerate(weights):
            a = np.moveaxis(np.matmul(np.moveaxis(a, k + 2, -1), w.T), -1, k + 2)
        return a

    return run("UpsampleBilinear2D", linear, input)


def _hats(n: int, m: int, corners: bool, dtype: Any) -> Any:
    """The matrix that interpolates `n` numbers linearly at `m` places."""
    if corners:
        at = np.arange(m) * ((n - 1) / max(m - 1, 1))
    else:
        at = ((np.arange(m) + 0.5) * (n / m) - 0.5).clip(0, n - 1)
    low = np.floor(at).astype(int).clip(0, max(n - 2, 0))
    out = np.zeros((m, n), dtype)
    out[np.arange(m), low] = 1 - (at - low)
    if n > 1:
        out[np.arange(m), low + 1] += at - low
    return out


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d, max_pool1d, max_pool2d, avg_pool1d, avg_pool2d,
        adaptive_avg_pool2d, adaptive_max_pool2d, unfold, interpolate,
    )
}  # fmt: skip
