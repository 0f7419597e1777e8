"""Layers that pad, cut windows, and move channels into space; and the functions that go with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..reductions import softmax
from ..shaping import permute, reshape
from . import basics as functional
from . import losses, windows
from .modules import Module
from .windows import each


def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """Channels moved into space: (..., channels * r * r, height, width) to (..., channels, height * r, width * r)."""
    r, shape = upscale_factor, input._value.shape
    if len(shape) < 3:
        raise RuntimeError(
            f"pixel_shuffle expects input to have at least 3 dimensions, but got input with {len(shape)}"
        )
    if shape[-3] % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={shape[-3]} is not divisible by {r * r}"
        )
    lead, (c, h, w) = shape[:-3], shape[-3:]
    n = len(lead)
    parts = reshape(input, *lead, c // (r * r), r, r, h, w)
    moved = permute(parts, *range(n), n, n + 3, n + 1, n + 4, n + 2)
    return reshape(moved, *lead, c // (r * r), h * r, w * r)


def pixel_unshuffle(input: Any, downscale_factor: int) -> Any:
    """Space moved into channels: what `pixel_shuffle` does, undone."""
    r, shape = downscale_factor, input._value.shape
    if len(shape) < 3:
        raise RuntimeError(
            f"pixel_unshuffle expects input to have at least 3 dimensions, but got input with {len(shape)}"
        )
    lead, (c, h, w) = shape[:-3], shape[-3:]
    if h % r or w % r:
        raise RuntimeError(f"pixel_unshuffle expects height and width to be divisible by downscale_factor {r}")
    n = len(lead)
    parts = reshape(input, *lead, c, h // r, r, w // r, r)
    moved = permute(parts, *range(n), n, n + 2, n + 4, n + 1, n + 3)
    return reshape(moved, *lead, c * r * r, h // r, w // r)


class PixelShuffle(Module):
    """`pixel_shuffle` as a module."""

    def __init__(self, upscale_factor: int):
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Any) -> Any:
        return pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """`pixel_unshuffle` as a module."""

    def __init__(self, downscale_factor: int):
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Any) -> Any:
        return pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"


class Softmax2d(Module):
    """The softmax over the channels of images."""

    def forward(self, input: Any) -> Any:
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return softmax(input, -3)


class Unfold(Module):
    """`unfold` as a module: the windows of images as columns."""

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1):
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input: Any) -> Any:
        return windows.FUNCTIONS["unfold"](input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        names = ("kernel_size", "dilation", "padding", "stride")
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)


class PairwiseDistance(Module):
    """`pairwise_distance` as a module."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False):
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Any, x2: Any) -> Any:
        return losses.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class _Pad(Module):
    mode = "constant"
    axes = 2

    def __init__(self, padding: Any):
        super().__init__()
        self.padding = each(padding, 2 * self.axes)

    def forward(self, input: Any) -> Any:
        return functional.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPad(_Pad):
    def __init__(self, padding: Any, value: float):
        super().__init__(padding)
        self.value = value

    def forward(self, input: Any) -> Any:
        return functional.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


def _padding(kind: str, axes: int) -> type[Module]:
    base = _ConstantPad if kind == "Constant" else _Pad
    modes = {"Reflection": "reflect", "Replication": "replicate", "Circular": "circular"}
    body = {
        "mode": modes.get(kind, "constant"),
        "axes": axes,
        "__doc__": f"`pad` with mode {modes.get(kind, 'constant')!r}.",
    }
    return type(f"{kind}Pad{axes}d", (base,), body)


FUNCTIONS: dict[str, Callable[..., Any]] = {"pixel_shuffle": pixel_shuffle, "pixel_unshuffle": pixel_unshuffle}
MEMBERS: dict[str, Any] = {
    **{c.__name__: c for c in (PixelShuffle, PixelUnshuffle, Softmax2d, Unfold, PairwiseDistance)},
    **{
        f"{kind}Pad{axes}d": _padding(kind, axes)
        for kind in ("Zero", "Constant", "Reflection", "Replication", "Circular")
        for axes in (1, 2)
    },
}
