"""Layers: modules with parameters, and functions as modules."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...operations.creation import rng
from ..dtypes import dtype as _dtype
from ..made import ACTIVATIONS, FUNCTIONS
from ..shaping import flatten
from ..tensor import Parameter, check_device
from . import functions, losses
from .functions import each
from .modules import Module


def _uniform(shape: tuple[int, ...], bound: float, dtype: _dtype | None) -> Parameter:
    made = FUNCTIONS["zeros"](shape, dtype=dtype)
    made._value[...] = rng().uniform(-bound, bound, shape)
    return Parameter(made)  # type: ignore[no-any-return]


class Linear(Module):
    """``input @ weight.T + bias``. Shapes: `weight` (out_features, in_features), `bias` (out_features).

    >>> from autodiff_compiler.compat import torch
    >>> torch.nn.Linear(3, 2)(torch.ones(4, 3)).shape
    torch.Size([4, 2])
    """

    bias: Parameter | None

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None):
        super().__init__()
        check_device(device)
        self.in_features, self.out_features = in_features, out_features
        bound = 1 / math.sqrt(in_features) if in_features else 0.0
        self.weight = _uniform((out_features, in_features), bound, dtype)
        self.register_parameter("bias", _uniform((out_features,), bound, dtype) if bias else None)

    def forward(self, input: Any) -> Any:
        return functions.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Conv2d(Module):
    """Products of filters with windows of images: (batch, channels, height, width).

    >>> from autodiff_compiler.compat import torch
    >>> torch.nn.Conv2d(1, 4, 3, padding=1)(torch.ones(2, 1, 8, 8)).shape
    torch.Size([2, 4, 8, 8])
    """

    bias: Parameter | None

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, bias: bool = True, *, device: Any = None, dtype: Any = None,
    ):  # fmt: skip
        super().__init__()
        check_device(device)
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.dilation = each(kernel_size), each(stride), each(dilation)
        self.padding = padding if isinstance(padding, str) else each(padding)
        bound = 1 / math.sqrt(in_channels // groups * int(np.prod(self.kernel_size)))
        self.weight = _uniform((out_channels, in_channels // groups, *self.kernel_size), bound, dtype)
        self.register_parameter("bias", _uniform((out_channels,), bound, dtype) if bias else None)

    def forward(self, input: Any) -> Any:
        options = (self.stride, self.padding, self.dilation, self.groups)
        return functions.conv2d(input, self.weight, self.bias, *options)

    def extra_repr(self) -> str:
        out = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        for name, usual in (("padding", (0, 0)), ("dilation", (1, 1)), ("groups", 1)):
            if getattr(self, name) != usual:
                out += f", {name}={getattr(self, name)}"
        return out + (", bias=False" if self.bias is None else "")


# --- modules of functions ---------------------------------------------------------------------------------------------


_OTHERS = ("input", "target", "training", "dtype")


def _module(name: str, f: Callable[..., Any], shown: str | None = None, **defaults: Any) -> type[Module]:
    """The module of a function, with its parameters. It prints those `shown`, by default all. `weight` and
    `pos_weight` are buffers."""
    given = inspect.signature(f).parameters
    defaults = {n: p.default for n, p in given.items() if n not in _OTHERS} | defaults
    names = list(defaults)
    trains = "training" in given

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        Module.__init__(self)
        chosen = {**defaults, **dict(zip(names, args)), **kwargs}
        missing = any(v is inspect.Parameter.empty for v in chosen.values())
        if missing or max(len(args), len(chosen)) > len(names):
            raise TypeError(f"{name} takes the parameters {', '.join(names) or '(none)'}")
        if "stride" in chosen and chosen["stride"] is None:
            chosen["stride"] = chosen["kernel_size"]
        for key, value in chosen.items():
            if key in ("weight", "pos_weight"):
                self.register_buffer(key, value)
            else:
                setattr(self, key, value)

    def forward(self: Any, *args: Any) -> Any:
        return f(*args, **{n: getattr(self, n) for n in (names + ["training"] if trains else names)})

    def extra_repr(self: Any) -> str:
        known = [(n, getattr(self, n)) for n in (names if shown is None else shown.split())]
        return ", ".join([f"{n}={value!r}" for n, value in known if n != "inplace" or value or trains])

    doc = f"`{f.__name__}` as a module."
    return type(name, (Module,), {"__init__": __init__, "forward": forward, "extra_repr": extra_repr, "__doc__": doc})


_LOSSES: dict[str, Callable[..., Any]] = {
    "MSELoss": losses.mse_loss, "L1Loss": losses.l1_loss, "SmoothL1Loss": losses.smooth_l1_loss,
    "HuberLoss": losses.huber_loss, "NLLLoss": losses.nll_loss, "CrossEntropyLoss": losses.cross_entropy,
    "BCELoss": losses.binary_cross_entropy, "BCEWithLogitsLoss": losses.binary_cross_entropy_with_logits,
}  # fmt: skip
MEMBERS: dict[str, Any] = {
    "Linear": Linear, "Conv2d": Conv2d, "Flatten": _module("Flatten", flatten, start_dim=1),
    "Dropout": _module("Dropout", functions.dropout), "MaxPool2d": _module("MaxPool2d", functions.max_pool2d),
    "AvgPool2d": _module("AvgPool2d", functions.avg_pool2d, "kernel_size stride padding"),
    **{name: _module(name, f) for name, f in ACTIVATIONS.items()},
    **{name: _module(name, f, "") for name, f in _LOSSES.items()},
}  # fmt: skip
globals().update(MEMBERS)  # where pickle looks for the classes
