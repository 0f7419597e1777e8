"""Convolutions of stacks. Where the filters are a stack, the filters of all examples are applied at once: the examples
become channels. Where both operands are stacks, the channels of each example are groups of their own.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import runtime
from ..ir.core import Op, type_of
from ..ir.opset import PRIMS
from . import lib
from .batch_rules import batch, no_rule
from .batching import Batcher
from .fourier import start_of

RESHAPE, MOVE = PRIMS[np.reshape], PRIMS[np.moveaxis]


class _Channels:
    """Moves the axis of the stack into an axis of channels, and out of it.

    groups: of the channels, those of all examples in one group stand together
    """

    def __init__(self, batcher: Batcher, groups: int):
        self.batcher = batcher
        self.groups = groups

    def into(self, x: Any, axis: int = -1, apart: bool = False) -> Any:
        """From (b, ..., c) to (..., b * c), or within each group of the c channels. ``axis=-2`` is that in front of the
        last one, which has no groups. `apart`: the channels of an example stand together."""
        b = self.batcher
        lead = list(b.lengths(x))
        count = b.size()
        if axis == -2:
            channels, last = lead[-2:]
            moved = b.emit(MOVE, x, 0, -3)
            return b.emit(RESHAPE, moved, (*lead[:-2], b.product([count, channels]), last))
        channels = lead[-1]
        whole = b.product([count, channels])
        if self.groups == 1 or apart:
            return b.emit(RESHAPE, b.emit(MOVE, x, 0, -2), (*lead[:-1], whole))
        x = b.emit(RESHAPE, x, (count, *lead[:-1], self.groups, self.each(channels)))
        return b.emit(RESHAPE, b.emit(MOVE, x, 0, -2), (*lead[:-1], whole))

    def out_of(self, x: Any, channels: Any, axis: int = -1, apart: bool = False) -> Any:
        """The way back, to a stack of what has so many channels."""
        b = self.batcher
        lead = list(b.lengths(x))
        count = b.size()
        if axis == -2:
            x = b.emit(RESHAPE, x, (*lead[:-2], count, channels, lead[-1]))
            return b.stack(MOVE, x, -3, 0)
        if self.groups == 1 or apart:
            return b.stack(MOVE, b.emit(RESHAPE, x, (*lead[:-1], count, channels)), -2, 0)
        x = b.emit(RESHAPE, x, (*lead[:-1], self.groups, count, self.each(channels)))
        return b.stack(RESHAPE, b.emit(MOVE, x, -2, 0), (count, *lead[:-1], channels))

    def each(self, channels: Any) -> Any:
        if type(channels) is int:
            return channels // self.groups
        return self.batcher.emit(PRIMS[operator.floordiv], channels, self.groups)


@batch(runtime.conv, runtime.conv_input, runtime.conv_filters)
def _convolution_batch(self: Batcher, op: Op) -> Any:
    x, y, *rest = self.new(op.args)
    if op.kwargs or self.has_stack(rest) or type(rest[-1]) is not int or self.axis == 0:
        raise no_rule(op)
    *settings, groups = rest
    channels = _Channels(self, groups)
    filters = op.prim is PRIMS[runtime.conv_filters]
    inputs = op.prim is PRIMS[runtime.conv_input]
    if self.is_stack(x) and self.is_stack(y):
        if filters:
            raise no_rule(op)
        last = self.length(y, self.rank(y) - 1)
        if inputs:
            last = self.product([self.length(y, self.rank(y) - 2), groups])
        args = channels.into(x, apart=True), channels.into(y, apart=True)
        out = self.emit(op.prim, *args, *settings, self.product([self.size(), groups]))
        return channels.out_of(out, last, apart=True)
    if self.is_stack(x) and not filters:  # images of all examples are images
        count = self.length(x, 0)
        out = self.emit(op.prim, self.emit(RESHAPE, x, (-1, *self.lengths(x)[1:])), y, *rest)
        return self.stack(RESHAPE, out, (self.size(), count, *self.lengths(out)[1:]))
    if self.is_stack(x):  # filters: of the channels of the images
        own = channels.each(self.length(x, self.rank(x) - 1))
        return channels.out_of(self.emit(op.prim, channels.into(x), y, *rest), own, axis=-2)
    if inputs:
        own = self.length(y, self.rank(y) - 2)
        out = self.emit(op.prim, x, channels.into(y, axis=-2), *rest)
        return channels.out_of(out, self.product([own, groups]))
    last = self.length(y, self.rank(y) - 1)
    return channels.out_of(self.emit(op.prim, x, channels.into(y), *rest), last)


# --- np.convolve, np.correlate ----------------------------------------------------------------------------------------


def _overlaps(self: Batcher, whole: Any, other: Any, op: Op) -> Any:
    """For each place in `whole`, the product with `other` laid there: vectors, of which one is a stack, or both."""
    kinds = [type_of(v).dtype for v in (whole, other)]
    if any(d is None or d.kind != "f" or d.itemsize < 4 for d in kinds) or self.axis == 0:
        raise no_rule(op)
    count = self.size()
    groups: Any = 1
    n, m = self.length(whole, 0), self.length(other, 0)
    if self.is_stack(whole) and not self.is_stack(other):
        x = self.emit(RESHAPE, whole, (count, n, 1))
    elif self.is_stack(whole):
        x, groups = self.emit(RESHAPE, self.emit(MOVE, whole, 0, 1), (1, n, count)), count
    else:
        x = self.emit(RESHAPE, whole, (1, n, 1))
    last = 1
    if self.is_stack(other):
        other, last = self.emit(MOVE, other, 0, 1), count
    filters = self.emit(RESHAPE, other, (m, 1, last))
    out = self.emit(PRIMS[runtime.conv], x, filters, 1, "VALID", 1, groups)
    if last == 1 and type(last) is int:
        return self.stack(RESHAPE, out, (count, self.length(out, 1)))
    return self.stack(MOVE, self.emit(RESHAPE, out, (self.length(out, 1), count)), 0, 1)


def _laid_out(self: Batcher, x: Any, start: Any, length: Any) -> Any:
    """A vector, or a stack of vectors, from `start` on among so many zeros."""
    moved = int(self.is_stack(x))
    return (self.stack if moved else self.emit)(PRIMS[runtime.embed], x, moved, start, length)


@batch(runtime.overlap)
def _overlap_batch(self: Batcher, op: Op) -> Any:
    g, other, start, length = self.new(op.args)
    if self.has_stack((start, length)):
        raise no_rule(op)
    with self.b.active():
        total = length + self.length(other, 0) - 1
    return _overlaps(self, _laid_out(self, g, start, total), other, op)


@batch(np.convolve, np.correlate)
def _convolve_batch(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    mirrored = op.prim is PRIMS[np.correlate]
    mode = args.get("mode", "valid" if mirrored else "full")
    a, v = args["a"], args["v"]
    if type(mode) is not str or self.rank(a) != 1 or self.rank(v) != 1:
        raise no_rule(op)
    n, m = self.length(a, 0), self.length(v, 0)
    with self.b.active():
        first = m - 1
        total = n + 2 * first
    if not mirrored:
        v = (self.stack if self.is_stack(v) else self.emit)(PRIMS[np.flip], v, -1)
    full = _overlaps(self, _laid_out(self, a, first, total), v, op)
    if mode == "full":
        return full
    with self.b.active():
        start = start_of(n, m, mode, mirrored)
        if type(n) is int and type(m) is int:
            start, less = int(start), n < m
            longer, shorter = (m, n) if less else (n, m)
        else:
            less = n < m
            longer, shorter = lib.choose(less, m, n), lib.choose(less, n, m)
        stop = start + (longer if mode == "same" else longer - shorter + 1)
    return self.index(full, slice(None), slice(start, stop))
