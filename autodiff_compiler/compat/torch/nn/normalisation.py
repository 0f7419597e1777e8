"""Layers that normalise: batches, layers, groups, instances."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import make
from ..creation import ones, zeros
from ..tensor import Parameter
from . import basics as functional
from .modules import Module


class _BatchNorm(Module):
    allowed: tuple[int, ...] = ()

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True,
    ):  # fmt: skip
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self.register_parameter("weight", Parameter(ones(num_features)) if affine else None)
        self.register_parameter("bias", Parameter(zeros(num_features)) if affine else None)
        self.register_buffer("running_mean", zeros(num_features) if track_running_stats else None)
        self.register_buffer("running_var", ones(num_features) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", make(np.asarray(0)) if track_running_stats else None)

    def forward(self, input: Any) -> Any:
        if input.dim() not in self.allowed:
            wanted = " or ".join(f"{n}D" for n in self.allowed)
            raise ValueError(f"expected {wanted} input (got {input.dim()}D input)")
        momentum = self.momentum
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
            if momentum is None:
                momentum = 1.0 / self.num_batches_tracked.item()
        return functional.batch_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats, momentum or 0.0, self.eps,
        )  # fmt: skip

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """`batch_norm` of (batch, channels) or (batch, channels, length)."""

    allowed = (2, 3)


class BatchNorm2d(_BatchNorm):
    """`batch_norm` of (batch, channels, height, width)."""

    allowed = (4,)


class BatchNorm3d(_BatchNorm):
    """`batch_norm` of (batch, channels, depth, height, width)."""

    allowed = (5,)


class LayerNorm(Module):
    """`layer_norm` over the last axes, with a weight and a bias."""

    def __init__(self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True):
        super().__init__()
        shape = tuple(normalized_shape) if isinstance(normalized_shape, (tuple, list)) else (normalized_shape,)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        self.register_parameter("weight", Parameter(ones(*shape)) if elementwise_affine else None)
        self.register_parameter("bias", Parameter(zeros(*shape)) if elementwise_affine and bias else None)

    def forward(self, input: Any) -> Any:
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        affine = f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        return f"{self.normalized_shape}, eps={self.eps}, {affine}"


class GroupNorm(Module):
    """`group_norm`, with a weight and a bias for each channel."""

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True):
        super().__init__()
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.register_parameter("weight", Parameter(ones(num_channels)) if affine else None)
        self.register_parameter("bias", Parameter(zeros(num_channels)) if affine else None)

    def forward(self, input: Any) -> Any:
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        affine = f"affine={self.weight is not None}, bias={self.bias is not None}"
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, {affine}"


class RMSNorm(Module):
    """`rms_norm` over the last axes, with a weight."""

    def __init__(self, normalized_shape: Any, eps: float | None = None, elementwise_affine: bool = True):
        super().__init__()
        shape = tuple(normalized_shape) if isinstance(normalized_shape, (tuple, list)) else (normalized_shape,)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        self.register_parameter("weight", Parameter(ones(*shape)) if elementwise_affine else None)

    def forward(self, input: Any) -> Any:
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class _InstanceNorm(Module):
    axes = 2

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False,
        track_running_stats: bool = False,
    ):  # fmt: skip
        super().__init__()
        if track_running_stats:
            raise NotImplementedError(
                f"{type(self).__name__}: track_running_stats=True is not there. Instead: BatchNorm{self.axes}d"
            )
        self.num_features, self.eps, self.momentum, self.affine = num_features, eps, momentum, affine
        self.register_parameter("weight", Parameter(ones(num_features)) if affine else None)
        self.register_parameter("bias", Parameter(zeros(num_features)) if affine else None)

    def forward(self, input: Any) -> Any:
        n = self.axes
        if input.dim() not in (n + 1, n + 2):
            raise ValueError(f"expected {n + 1}D or {n + 2}D input (got {input.dim()}D input)")
        single = input.dim() == n + 1
        x = input.unsqueeze(0) if single else input
        if x.shape[1] != self.num_features and self.affine:
            raise ValueError(
                f"expected input's size at dim=1 to match num_features ({self.num_features}), but got: {x.shape[1]}."
            )
        out = functional.instance_norm(x, weight=self.weight, bias=self.bias, eps=self.eps)
        return out.squeeze(0) if single else out

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats=False"
        )


class InstanceNorm1d(_InstanceNorm):
    """`instance_norm` of (batch, channels, length)."""

    axes = 1


class InstanceNorm2d(_InstanceNorm):
    """`instance_norm` of (batch, channels, height, width)."""

    axes = 2


class InstanceNorm3d(_InstanceNorm):
    """`instance_norm` of (batch, channels, depth, height, width)."""

    axes = 3


MEMBERS: dict[str, Any] = {
    c.__name__: c
    for c in (
        BatchNorm1d, BatchNorm2d, BatchNorm3d, LayerNorm, GroupNorm, RMSNorm, InstanceNorm1d, InstanceNorm2d,
        InstanceNorm3d,
    )
}  # fmt: skip
