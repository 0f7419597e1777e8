"""Functions of ``torch.nn.functional`` that are neither activations nor losses: linear maps, windows, batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...graph.direct import several
from ...operations import windows
from ...operations.creation import rng
from ..core import elementwise, make, run


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """``input @ weight.T + bias``. Shapes: `weight` (outputs, inputs), `bias` (outputs)."""
    if input._value.dtype != weight._value.dtype:
        raise RuntimeError(f"mat1 and mat2 must have the same dtype, but got {input.dtype} and {weight.dtype}")
    if bias is None:
        return several("linear", "Mm", lambda x, m: np.matmul(x, m.T), _product, input, weight)
    return several("linear", "Addmm", lambda x, m, b: np.matmul(x, m.T) + b, _affine, input, weight, bias)


def _product(x: Any, m: Any) -> list[Any]:
    turned = m.T
    return [turned, x.dot(turned) if x.ndim == 2 else np.matmul(x, turned)]


def _affine(x: Any, m: Any, b: Any) -> list[Any]:
    turned, product = _product(x, m)
    return [turned, product, product + b]


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Elements are zero with probability `p`, the others divided by ``1 - p``; nothing changes unless `training`."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    dtype = input._value.dtype
    kept = rng().random(input._value.shape) >= p
    mask = make(kept.astype(dtype) * dtype.type(1 / (1 - p) if p < 1 else 0))
    return input.mul_(mask) if inplace else elementwise("Mul", lambda a, m: a * m, input, mask)


def one_hot(tensor: Any, num_classes: int = -1) -> Any:
    """Ones at classes along a new last axis: a tensor of int64."""
    ids = tensor._value
    n = int(ids.max()) + 1 if num_classes < 0 else num_classes
    if ids.size and (ids.min() < 0 or ids.max() >= n):
        raise RuntimeError("Class values must be smaller than num_classes.")
    return make((np.expand_dims(ids, -1) == np.arange(n)).astype(np.int64, order="C"))


# --- windows of images, channels first --------------------------------------------------------------------------------


def each(x: Any) -> tuple[int, int]:
    """A number for each of the two axes of an image."""
    rows, columns = x if isinstance(x, (tuple, list)) else (x, x)
    return int(rows), int(columns)


def _batched(f: Callable[[Any], Any], input: Any) -> Any:
    """`f` of a batch; of one image, without the axis of the batch."""
    if input._value.ndim == 4:
        return f(input)
    if input._value.ndim != 3:
        raise RuntimeError(
            f"Expected 3D (unbatched) or 4D (batched) input, but got input of size: {list(input._value.shape)}"
        )
    return f(input.unsqueeze(0)).squeeze(0)


def conv2d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """The products of filters with windows. Shapes: `input` (batch, channels, height, width), `weight` (outputs,
    channels // groups, *window)."""
    w = weight._value.shape
    steps, holes = each(stride), each(dilation)
    if padding == "valid":
        pads = [(0, 0)] * 2
    elif padding == "same":
        if steps != (1, 1):
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        pads = [(t // 2, t - t // 2) for t in [d * (k - 1) for d, k in zip(holes, w[2:])]]
    else:
        pads = [(p, p) for p in each(padding)]

    def whole(x: Any) -> Any:
        shape = x._value.shape
        if shape[1] != w[1] * groups:
            raise RuntimeError(
                f"Given groups={groups}, weight of size {list(w)}, expected input{list(shape)} to have "
                f"{w[1] * groups} channels, but got {shape[1]} channels instead"
            )

        def computed(a: Any, f: Any, b: Any = None) -> Any:
            return windows.convolution(a, f, b, steps, pads, holes, groups)

        return run("Convolution", computed, x, weight, *(() if bias is None else (bias,)))

    return _batched(whole, input)


def _pool(kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool) -> tuple[Any, Any, Any]:
    """Windows, steps and padding as the kernels take them."""
    if ceil_mode:
        raise NotImplementedError("ceil_mode=True is not there: pad the input first")
    size, pads = each(kernel_size), [(p, p) for p in each(padding)]
    if any(p[0] > k // 2 for p, k in zip(pads, size)):
        raise RuntimeError("pad should be at most half of effective kernel size")
    return size, size if stride is None or stride == [] else each(stride), pads


def max_pool2d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Any:
    """The maximum of each window; of equal elements the first gets the gradient."""
    window = _pool(kernel_size, stride, padding, ceil_mode)
    if each(dilation) != (1, 1):
        raise NotImplementedError("max_pool2d: dilation is not there")

    def computed(a: Any) -> Any:
        return windows.first(windows.largest(windows.last(a), *window))

    return _batched(lambda x: run("MaxPool2D", computed, x), input)


def avg_pool2d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Any:  # fmt: skip
    """The mean of each window; the zeros of the padding count unless told otherwise."""
    window = _pool(kernel_size, stride, padding, ceil_mode)

    divisor = divisor_override
    if divisor is None and count_include_pad:
        divisor = int(np.prod(window[0]))

    def computed(a: Any) -> Any:
        return windows.first(windows.average(windows.last(a), *window, divisor))

    return _batched(lambda x: run("AvgPool2D", computed, x), input)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (linear, dropout, one_hot, conv2d, max_pool2d, avg_pool2d)
}
