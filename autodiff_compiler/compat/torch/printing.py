"""What tensors print: PyTorch's rules for digits, widths, line breaks and summaries."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtypes

_INDENT = " " * len("tensor(")
PRECISION, THRESHOLD, EDGE_ITEMS, LINE_WIDTH = 4, 1000, 3, 80


def _formatter(values: Any) -> Callable[[Any], str]:
    """How the elements of an array are printed: all with the same width."""
    if values.dtype.kind == "c":
        real, imag = _formatter(values.real), _formatter(np.abs(values.imag))
        return lambda v: f"{real(v.real)}{'-' if math.copysign(1, v.imag) < 0 else '+'}{imag(abs(v.imag)).strip()}j"
    shown = values.ravel()
    style = "{}"
    if values.dtype.kind == "f":
        # Only what is finite and not zero counts for the style and the width.
        shown = shown[np.isfinite(shown) & (shown != 0)].astype(np.float64)
        size = np.abs(shown)
        large, small = (size.max(), size.min()) if size.size else (1.0, 1.0)
        whole = bool(np.all(size == np.ceil(size)))
        if large / small > 1000 or large > 1e8 or (not whole and small < 1e-4):
            style = f"{{:.{PRECISION}e}}"
        else:
            style = "{:.0f}." if whole else f"{{:.{PRECISION}f}}"

    def text(value: Any) -> str:
        number = np.asarray(value).item()
        return (style if math.isfinite(number) else "{}").format(number)

    width = max([len(text(v)) for v in shown], default=1)
    return lambda v: text(v).rjust(width)


def _summarised(values: Any) -> Any:
    """The elements that are shown of a large array."""
    for axis, n in enumerate(values.shape):
        if n > 2 * EDGE_ITEMS:
            values = np.take(values, [*range(EDGE_ITEMS), *range(-EDGE_ITEMS, 0)], axis=axis)
    return values


def text_of(t: Any) -> str:
    """What ``repr`` gives for a tensor."""
    values, default = t._value, dtypes.get_default_dtype()
    dtype = dtypes.of_numpy(values.dtype)
    suffixes, implied = [], [default]
    if values.size == 0:
        text = "tensor([]"
        if values.ndim != 1:
            suffixes.append(f"size={tuple(values.shape)}")
    else:
        form = _formatter(_summarised(values) if values.size > THRESHOLD else values)
        # NumPy counts a closing bracket for each axis, PyTorch only one.
        text = "tensor(" + np.array2string(
            values, max_line_width=LINE_WIDTH + max(values.ndim - 1, 0), separator=", ", prefix=_INDENT,
            formatter={"all": form}, threshold=THRESHOLD, edgeitems=EDGE_ITEMS,
        ).replace(", ...,", ",  ...,")  # fmt: skip
        implied += [dtypes.int64, dtypes.bool_, dtypes.of_number(1j)]
    if dtype not in implied:
        suffixes.append(f"dtype={dtype}")
    if t.requires_grad:
        suffixes.append("requires_grad=True" if t.is_leaf else f"grad_fn=<{t.grad_fn.name()}>")
    for suffix in suffixes:
        column = len(text) - text.rfind("\n") - 1
        text += (", " if column + len(suffix) + 2 <= LINE_WIDTH else f",\n{_INDENT}") + suffix
    return text + ")"
