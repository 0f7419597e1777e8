"""What tensors print: PyTorch's rules for digits, widths, line breaks and summaries."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import dtypes

PRECISION, THRESHOLD, EDGE_ITEMS, LINE_WIDTH = 4, 1000, 3, 80


class Formatter:
    """How the elements of an array are printed: all with the same width."""

    def __init__(self, values: Any):
        self.floating = values.dtype.kind == "f"
        self.int_mode, self.sci_mode, self.width = True, False, 1
        flat = values.ravel()
        if not self.floating:
            self.width = max([len(str(v)) for v in flat.tolist()], default=1)
            return
        # Only what is finite and not zero counts for the mode and the width.
        shown = flat[np.isfinite(flat) & (flat != 0)].astype(np.float64)
        finite = np.abs(shown)
        if finite.size:
            largest, smallest = float(finite.max()), float(finite.min())
            self.int_mode = bool(np.all(finite == np.ceil(finite)))
            ratio = largest / smallest
            self.sci_mode = ratio > 1000 or largest > 1e8 or (not self.int_mode and smallest < 1e-4)
        self.width = max([1, *[len(self._text(v)) for v in shown.tolist()]])

    def _text(self, value: float) -> str:
        digits = PRECISION
        if self.sci_mode:
            return f"{value:.{digits}e}"
        if self.int_mode:
            return f"{value:.0f}" + ("." if math.isfinite(value) else "")
        return f"{value:.{digits}f}"

    def format(self, value: Any) -> str:
        text = self._text(value) if self.floating else str(value)
        return text.rjust(self.width)


class _Complex:
    def __init__(self, values: Any):
        self.real, self.imag = Formatter(values.real.copy()), Formatter(np.abs(values.imag))
        self.width = self.real.width + self.imag.width + 1

    def format(self, value: complex) -> str:
        sign = "-" if math.copysign(1.0, value.imag) < 0 else "+"
        return f"{self.real.format(value.real)}{sign}{self.imag.format(abs(value.imag)).strip()}j"


def _summarised(values: Any) -> Any:
    """The elements that are shown of a large array."""
    edge = EDGE_ITEMS
    if values.ndim == 0:
        return values
    if values.shape[0] > 2 * edge:
        parts = [*values[:edge], *values[-edge:]]
    else:
        parts = list(values)
    return np.concatenate([np.asarray(_summarised(p)).ravel() for p in parts]) if parts else values.ravel()


def _body(values: Any, indent: int, summarise: bool, formatter: Formatter | _Complex) -> str:
    if values.ndim == 0:
        return str(formatter.format(values.item()))
    edge = EDGE_ITEMS
    if values.ndim == 1:
        per_line = max(1, (LINE_WIDTH - indent) // (formatter.width + 2))
        if summarise and len(values) > 2 * edge:
            items = [
                *[formatter.format(v) for v in values[:edge].tolist()],
                " ...",
                *[formatter.format(v) for v in values[-edge:].tolist()],
            ]
        else:
            items = [formatter.format(v) for v in values.tolist()]
        lines = [items[k : k + per_line] for k in range(0, len(items), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(", ".join(line) for line in lines) + "]"
    if summarise and len(values) > 2 * edge:
        parts = [
            *[_body(v, indent + 1, summarise, formatter) for v in values[:edge]],
            "...",
            *[_body(v, indent + 1, summarise, formatter) for v in values[-edge:]],
        ]
    else:
        parts = [_body(v, indent + 1, summarise, formatter) for v in values]
    between = "," + "\n" * int(values.ndim - 1) + " " * (indent + 1)
    return "[" + between.join(parts) + "]"


def text_of(t: Any) -> str:
    """What ``repr`` gives for a tensor."""
    values = t._value
    dtype = dtypes.of_numpy(values.dtype)
    prefix = "tensor("
    suffixes = []
    if values.size == 0:
        body = "[]"
        if values.ndim != 1:
            suffixes.append(f"size={tuple(values.shape)}")
        if dtype is not dtypes.get_default_dtype():
            suffixes.append(f"dtype={dtype}")
    else:
        summarise = values.size > THRESHOLD
        shown = _summarised(values) if summarise else values
        formatter: Formatter | _Complex = _Complex(shown) if dtype.is_complex else Formatter(shown)
        body = _body(values, len(prefix), summarise, formatter)
        implied = (dtypes.get_default_dtype(), dtypes.int64, dtypes.bool_)
        complex_default = dtypes.of_number(1j)
        if dtype not in implied and dtype is not complex_default:
            suffixes.append(f"dtype={dtype}")
    var = t._var
    if var is not None and var.record is not None:
        suffixes.append(f"grad_fn=<{t.grad_fn.name()}>")
    elif var is not None:
        suffixes.append("requires_grad=True")
    text = prefix + body
    last = len(text) - text.rfind("\n") - 1 if "\n" in text else len(text)
    for suffix in suffixes:
        if last + len(suffix) + 2 > LINE_WIDTH:
            text += ",\n" + " " * len(prefix) + suffix
            last = len(prefix) + len(suffix)
        else:
            text += ", " + suffix
            last += len(suffix) + 2
    return text + ")"
