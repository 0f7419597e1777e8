"""Layers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...graph.core import run
from .. import npx
from ..base import MODE
from .block import Block, HybridBlock, Parameter


class Sequential(Block):
    """Blocks that are run one after the other."""

    def add(self, *blocks: Block) -> None:
        """Add blocks at the end."""
        for b in blocks:
            self.register_child(b)

    def forward(self, x: Any) -> Any:
        for b in self._children.values():
            x = b(x)
        return x

    def __len__(self) -> int:
        return len(self._children)

    def __iter__(self) -> Iterator[Block]:
        return iter(self._children.values())

    def __getitem__(self, k: Any) -> Any:
        found = list(self._children.values())[k]
        if isinstance(found, list):
            part = type(self)()
            part.add(*found)
            return part
        return found


class HybridSequential(Sequential, HybridBlock):
    """`Sequential`; here there is no difference."""


class Activation(HybridBlock):
    """An activation by its name."""

    def __init__(self, activation: str):
        super().__init__()
        self.name = activation

    def forward(self, x: Any) -> Any:
        return npx.activation(x, self.name)


class Dense(HybridBlock):
    """``x @ weight.T + bias``, then an activation. Shapes: `weight` (units, in_units)."""

    def __init__(
        self, units: int, activation: str | None = None, use_bias: bool = True, flatten: bool = True,
        dtype: Any = "float32",
        weight_initializer: Any = None, bias_initializer: Any = "zeros", in_units: int = 0,
    ):  # fmt: skip
        super().__init__()
        self.units, self.flatten, self.act = units, flatten, activation
        self.weight = Parameter("weight", shape=(units, in_units), dtype=dtype, init=weight_initializer)
        self.bias = Parameter("bias", shape=(units,), dtype=dtype, init=bias_initializer) if use_bias else None

    def forward(self, x: Any) -> Any:
        width = int(np.prod(x.shape[1:])) if self.flatten else x.shape[-1]
        self.weight.finish((self.units, width))
        bias = None if self.bias is None else self.bias.data()
        out = npx.fully_connected(x, self.weight.data(), bias, self.units, flatten=self.flatten)
        return out if self.act is None else npx.activation(out, self.act)


class Dropout(HybridBlock):
    """Elements are zero with a probability, in training mode."""

    def __init__(self, rate: float):
        super().__init__()
        self.rate = rate

    def forward(self, x: Any) -> Any:
        return npx.dropout(x, self.rate)


class Flatten(HybridBlock):
    """All axes but the first made one."""

    def forward(self, x: Any) -> Any:
        return x.reshape(x.shape[0], -1)


class Embedding(HybridBlock):
    """A table of rows, looked up by index."""

    def __init__(self, input_dim: int, output_dim: int, dtype: Any = "float32", weight_initializer: Any = None):
        super().__init__()
        self.weight = Parameter("weight", shape=(input_dim, output_dim), dtype=dtype, init=weight_initializer)

    def forward(self, x: Any) -> Any:
        return npx.embedding(x, self.weight.data())


class Conv2D(HybridBlock):
    """Products of filters with windows of images, channels first."""

    def __init__(
        self, channels: int, kernel_size: Any, strides: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1),
        groups: int = 1, activation: str | None = None, use_bias: bool = True, weight_initializer: Any = None,
        bias_initializer: Any = "zeros", in_channels: int = 0,
    ):  # fmt: skip
        super().__init__()
        size = kernel_size if isinstance(kernel_size, (tuple, list)) else (kernel_size, kernel_size)
        self.channels, self.size, self.groups, self.act = channels, tuple(size), groups, activation
        self.options = {"stride": strides, "pad": padding, "dilate": dilation, "num_group": groups}
        self.weight = Parameter("weight", shape=(channels, in_channels // groups, *size), init=weight_initializer)
        self.bias = Parameter("bias", shape=(channels,), init=bias_initializer) if use_bias else None

    def forward(self, x: Any) -> Any:
        self.weight.finish((self.channels, x.shape[1] // self.groups, *self.size))
        bias = None if self.bias is None else self.bias.data()
        out = npx.convolution(x, self.weight.data(), bias, **self.options)
        return out if self.act is None else npx.activation(out, self.act)


class _Pool(HybridBlock):
    kind = "max"

    def __init__(self, pool_size: Any = (2, 2), strides: Any = None, padding: Any = (0, 0)):
        super().__init__()
        self.pool_size, self.strides, self.padding = pool_size, pool_size if strides is None else strides, padding

    def forward(self, x: Any) -> Any:
        return npx.pooling(x, self.pool_size, self.strides, self.padding, self.kind)


class MaxPool2D(_Pool):
    """The maximum of each window."""


class AvgPool2D(_Pool):
    """The mean of each window."""

    kind = "avg"


class GlobalAvgPool2D(HybridBlock):
    """The mean of each channel."""

    def forward(self, x: Any) -> Any:
        return npx.pooling(x, pool_type="avg", global_pool=True)


class BatchNorm(HybridBlock):
    """Channels minus a mean, divided by a deviation: the batch's in training mode, else the running ones."""

    def __init__(self, axis: int = 1, momentum: float = 0.9, epsilon: float = 1e-5, in_channels: int = 0):
        super().__init__()
        self.axis, self.momentum, self.epsilon = axis, momentum, epsilon
        self.gamma = Parameter("gamma", shape=(in_channels,), init="ones")
        self.beta = Parameter("beta", shape=(in_channels,), init="zeros")
        self.running_mean = Parameter("running_mean", "null", shape=(in_channels,), init="zeros")
        self.running_var = Parameter("running_var", "null", shape=(in_channels,), init="ones")

    def forward(self, x: Any) -> Any:
        n = x.shape[self.axis]
        for p in (self.gamma, self.beta, self.running_mean, self.running_var):
            p.finish((n,))
        axes = tuple([k for k in range(x.ndim) if k != self.axis % x.ndim])
        shape = tuple([n if k == self.axis % x.ndim else 1 for k in range(x.ndim)])
        mean, var = self.running_mean.data()._value, self.running_var.data()._value
        training, eps = MODE.training, self.epsilon
        fixed = mean.reshape(shape).copy(), np.sqrt(var.reshape(shape) + eps).astype(mean.dtype)
        if training:
            for kept, found in ((mean, x._value.mean(axis=axes)), (var, x._value.var(axis=axes))):
                kept[...] = self.momentum * kept + (1 - self.momentum) * found

        def computed(a: Any, g: Any, b: Any) -> Any:
            if training:
                centred = a - np.mean(a, axis=axes, keepdims=True)
                scaled = centred / np.sqrt(np.mean(centred * centred, axis=axes, keepdims=True) + eps)
            else:
                scaled = (a - fixed[0]) / fixed[1]
            return scaled * np.reshape(g, shape) + np.reshape(b, shape)

        return run("batch_norm", computed, x, self.gamma.data(), self.beta.data())


class LayerNorm(HybridBlock):
    """Elements minus their mean, divided by their deviation, along an axis."""

    def __init__(self, axis: int = -1, epsilon: float = 1e-5, in_channels: int = 0):
        super().__init__()
        self.axis, self.epsilon = axis, epsilon
        self.gamma = Parameter("gamma", shape=(in_channels,), init="ones")
        self.beta = Parameter("beta", shape=(in_channels,), init="zeros")

    def forward(self, x: Any) -> Any:
        self.gamma.finish((x.shape[self.axis],))
        self.beta.finish((x.shape[self.axis],))
        return npx.layer_norm(x, self.gamma.data(), self.beta.data(), self.axis, self.epsilon)


class Lambda(Block):
    """A function as a block."""

    def __init__(self, function: Any):
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


MEMBERS: dict[str, Any] = {
    c.__name__: c
    for c in (
        Block, HybridBlock, Sequential, HybridSequential, Activation, Dense, Dropout, Flatten, Embedding, Conv2D,
        MaxPool2D,
        AvgPool2D, GlobalAvgPool2D, BatchNorm, LayerNorm, Lambda,
    )
}  # fmt: skip
