"""Layers: modules with parameters, and activations and losses as modules."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..creation import ones, rng, zeros
from ..dtypes import dtype as _dtype
from ..tensor import Parameter, check_device
from . import activations, losses, windows
from . import basics as functional
from .modules import Module
from .windows import each

F = functional.MEMBERS


def _uniform(shape: tuple[int, ...], bound: float, dtype: _dtype | None) -> Parameter:
    made = zeros(*shape, dtype=dtype)
    made._value[...] = rng().uniform(-bound, bound, shape)
    out: Parameter = Parameter(made)
    return out


class Linear(Module):
    """``input @ weight.T + bias``. Shapes: `weight` (out_features, in_features), `bias` (out_features).

    >>> from autodiff_compiler.compat import torch
    >>> torch.nn.Linear(3, 2)(torch.ones(4, 3)).shape
    torch.Size([4, 2])
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None):
        super().__init__()
        check_device(device)
        self.in_features, self.out_features = in_features, out_features
        bound = 1 / math.sqrt(in_features) if in_features else 0.0
        self.weight = _uniform((out_features, in_features), bound, dtype)
        self.register_parameter("bias", _uniform((out_features,), bound, dtype) if bias else None)

    def forward(self, input: Any) -> Any:
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Bilinear(Module):
    """``input1 @ weight[k] @ input2 + bias`` for each output k."""

    def __init__(self, in1_features: int, in2_features: int, out_features: int, bias: bool = True):
        super().__init__()
        bound = 1 / math.sqrt(in1_features)
        self.weight = _uniform((out_features, in1_features, in2_features), bound, None)
        self.register_parameter("bias", _uniform((out_features,), bound, None) if bias else None)

    def forward(self, input1: Any, input2: Any) -> Any:
        return functional.bilinear(input1, input2, self.weight, self.bias)


class _Conv(Module):
    axes = 2

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1, bias: bool = True, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ):  # fmt: skip
        super().__init__()
        check_device(device)
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        if padding_mode != "zeros":
            raise NotImplementedError(f"padding_mode={padding_mode!r} is not there. Instead: torch.nn.functional.pad")
        n = self.axes
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.dilation = each(kernel_size, n), each(stride, n), each(dilation, n)
        self.padding = padding if isinstance(padding, str) else each(padding, n)
        bound = 1 / math.sqrt(in_channels // groups * int(np.prod(self.kernel_size)))
        self.weight = _uniform((out_channels, in_channels // groups, *self.kernel_size), bound, dtype)
        self.register_parameter("bias", _uniform((out_channels,), bound, dtype) if bias else None)

    def forward(self, input: Any) -> Any:
        conv = windows.FUNCTIONS[f"conv{self.axes}d"]
        return conv(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)

    def extra_repr(self) -> str:
        n = self.axes
        out = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding != (0,) * n:
            out += f", padding={self.padding}"
        if self.dilation != (1,) * n:
            out += f", dilation={self.dilation}"
        if self.groups != 1:
            out += f", groups={self.groups}"
        return out + (", bias=False" if self.bias is None else "")


class Conv1d(_Conv):
    """Products of filters with windows of sequences: (batch, channels, length)."""

    axes = 1


class Conv2d(_Conv):
    """Products of filters with windows of images: (batch, channels, height, width).

    >>> from autodiff_compiler.compat import torch
    >>> torch.nn.Conv2d(1, 4, 3, padding=1)(torch.ones(2, 1, 8, 8)).shape
    torch.Size([2, 4, 8, 8])
    """

    axes = 2


class Conv3d(_Conv):
    """Products of filters with windows of volumes: (batch, channels, depth, height, width)."""

    axes = 3


class ConvTranspose2d(Module):
    """The transpose of a convolution of images."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: int = 1, bias: bool = True, dilation: Any = 1,
    ):  # fmt: skip
        super().__init__()
        size = each(kernel_size, 2)
        self.options = (stride, padding, output_padding, groups, dilation)
        bound = 1 / math.sqrt(out_channels * int(np.prod(size)))
        self.weight = _uniform((in_channels, out_channels, *size), bound, None)
        self.register_parameter("bias", _uniform((out_channels,), bound, None) if bias else None)

    def forward(self, input: Any) -> Any:
        return windows.conv_transpose2d(input, self.weight, self.bias, *self.options)


class Embedding(Module):
    """A table of rows, looked up by index."""

    def __init__(self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None):
        super().__init__()
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        made = zeros(num_embeddings, embedding_dim)
        made._value[...] = rng().standard_normal((num_embeddings, embedding_dim))
        if padding_idx is not None:
            made._value[padding_idx] = 0
        self.weight = Parameter(made)

    @classmethod
    def from_pretrained(cls, embeddings: Any, freeze: bool = True) -> Any:
        """A table with these rows; it is not trained if `freeze`."""
        made = cls(*embeddings._value.shape)
        made.weight = Parameter(embeddings, requires_grad=not freeze)
        return made

    def forward(self, input: Any) -> Any:
        return functional.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}" + (
            "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        )


# --- normalisation ----------------------------------------------------------------------------------------------------


# --- modules of functions ---------------------------------------------------------------------------------------------


class Identity(Module):
    """Its argument."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input


class Flatten(Module):
    """A range of axes made one; all but the batch by default."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Any) -> Any:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """One axis made several."""

    def __init__(self, dim: int, unflattened_size: Any):
        super().__init__()
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Any) -> Any:
        return input.unflatten(self.dim, self.unflattened_size)


class _Dropout(Module):
    function = "dropout"

    def __init__(self, p: float = 0.5, inplace: bool = False):
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input: Any) -> Any:
        if self.function == "alpha_dropout":
            return activations.alpha_dropout(input, self.p, self.training)
        return activations.FUNCTIONS[self.function](input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """`dropout` in training mode."""


class Dropout1d(_Dropout):
    """`dropout` of whole channels in training mode."""

    function = "dropout1d"


class Dropout2d(_Dropout):
    """`dropout` of whole channels in training mode."""

    function = "dropout2d"


class AlphaDropout(_Dropout):
    """`alpha_dropout` in training mode."""

    function = "alpha_dropout"


class _Pool(Module):
    function = ""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, **options: Any):
        super().__init__()
        self.kernel_size, self.padding = kernel_size, padding
        self.stride = kernel_size if stride is None else stride
        self.options = options

    def forward(self, input: Any) -> Any:
        return windows.FUNCTIONS[self.function](input, self.kernel_size, self.stride, self.padding, **self.options)

    def extra_repr(self) -> str:
        out = f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"
        if self.function.startswith("max"):
            out += f", dilation={self.options.get('dilation', 1)}, ceil_mode={self.options.get('ceil_mode', False)}"
        return out


def _pool(name: str, function: str) -> type[Module]:
    return type(name, (_Pool,), {"function": function, "__doc__": f"`{function}` as a module."})


MaxPool1d, MaxPool2d = _pool("MaxPool1d", "max_pool1d"), _pool("MaxPool2d", "max_pool2d")
AvgPool1d, AvgPool2d = _pool("AvgPool1d", "avg_pool1d"), _pool("AvgPool2d", "avg_pool2d")


class _Adaptive(Module):
    function = ""

    def __init__(self, output_size: Any):
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Any) -> Any:
        return windows.FUNCTIONS[self.function](input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool2d(_Adaptive):
    """`adaptive_avg_pool2d` as a module."""

    function = "adaptive_avg_pool2d"


class AdaptiveMaxPool2d(_Adaptive):
    """`adaptive_max_pool2d` as a module."""

    function = "adaptive_max_pool2d"


class Upsample(Module):
    """`interpolate` as a module."""

    def __init__(self, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Any = None):
        super().__init__()
        self.options = (size, scale_factor, mode, align_corners)

    def forward(self, input: Any) -> Any:
        return windows.interpolate(input, *self.options)


def _activation(name: str, function: str, *parameters: tuple[str, Any]) -> type[Module]:
    """The module of an activation with these parameters and their defaults."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        Module.__init__(self)
        names = [n for n, _ in parameters]
        if len(args) > len(names) or any(k not in names for k in kwargs):
            raise TypeError(f"{name} takes the parameters {', '.join(names) or '(none)'}")
        values = {**dict(parameters), **dict(zip(names, args)), **kwargs}
        for key, value in values.items():
            setattr(self, key, value)

    def forward(self: Any, input: Any) -> Any:
        return activations.FUNCTIONS[function](input, **{n: getattr(self, n) for n, _ in parameters})

    def extra_repr(self: Any) -> str:
        if function in ("softshrink", "hardshrink"):
            return str(self.lambd)
        shown = [f"{n}={getattr(self, n)!r}" for n, _ in parameters if n != "inplace" or self.inplace]
        return ", ".join(shown)

    body = {"__init__": __init__, "forward": forward, "extra_repr": extra_repr, "__doc__": f"`{function}` as a module."}
    return type(name, (Module,), body)


_INPLACE = ("inplace", False)
ACTIVATIONS = {
    name: _activation(name, function, *parameters)
    for name, function, parameters in (
        ("ReLU", "relu", (_INPLACE,)), ("ReLU6", "relu6", (_INPLACE,)), ("SELU", "selu", (_INPLACE,)),
        ("SiLU", "silu", (_INPLACE,)), ("Mish", "mish", (_INPLACE,)), ("Hardsigmoid", "hardsigmoid", (_INPLACE,)),
        ("Hardswish", "hardswish", (_INPLACE,)), ("LogSigmoid", "logsigmoid", ()), ("Softsign", "softsign", ()),
        ("Tanhshrink", "tanhshrink", ()), ("Softshrink", "softshrink", (("lambd", 0.5),)),
        ("Hardshrink", "hardshrink", (("lambd", 0.5),)), ("Tanh", "tanh", ()), ("Sigmoid", "sigmoid", ()),
        ("LeakyReLU", "leaky_relu", (("negative_slope", 0.01), _INPLACE)), ("ELU", "elu", (("alpha", 1.0), _INPLACE)),
        ("CELU", "celu", (("alpha", 1.0), _INPLACE)), ("GELU", "gelu", (("approximate", "none"),)),
        ("Softplus", "softplus", (("beta", 1.0), ("threshold", 20.0))),
        ("Hardtanh", "hardtanh", (("min_val", -1.0), ("max_val", 1.0), _INPLACE)),
        ("Threshold", "threshold", (("threshold", 0.0), ("value", 0.0), _INPLACE)), ("GLU", "glu", (("dim", -1),)),
        ("Softmax", "softmax", (("dim", None),)), ("LogSoftmax", "log_softmax", (("dim", None),)),
        ("Softmin", "softmin", (("dim", None),)),
    )
}  # fmt: skip


class PReLU(Module):
    """`prelu` with a slope that is learned."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25):
        super().__init__()
        self.weight = Parameter(ones(num_parameters) * init)

    def forward(self, input: Any) -> Any:
        return activations.prelu(input, self.weight)


def _loss(name: str, function: str, *parameters: tuple[str, Any]) -> type[Module]:
    """The module of a loss with these parameters and their defaults; `weight` and `pos_weight` are buffers."""
    full = (*parameters, ("reduction", "mean"))

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        Module.__init__(self)
        names = [n for n, _ in full]
        if len(args) > len(names) or any(k not in names for k in kwargs):
            raise TypeError(f"{name} takes the parameters {', '.join(names)}")
        for key, value in {**dict(full), **dict(zip(names, args)), **kwargs}.items():
            if key in ("weight", "pos_weight"):
                self.register_buffer(key, value)
            else:
                setattr(self, key, value)

    def forward(self: Any, *args: Any) -> Any:
        return losses.FUNCTIONS[function](*args, **{n: getattr(self, n) for n, _ in full})

    return type(name, (Module,), {"__init__": __init__, "forward": forward, "__doc__": f"`{function}` as a module."})


LOSSES = {
    name: _loss(name, function, *parameters)
    for name, function, parameters in (
        ("MSELoss", "mse_loss", ()), ("L1Loss", "l1_loss", ()), ("SmoothL1Loss", "smooth_l1_loss", (("beta", 1.0),)),
        ("HuberLoss", "huber_loss", (("delta", 1.0),)), ("NLLLoss", "nll_loss", (("weight", None), ("ignore_index",
        -100))),
        ("CrossEntropyLoss", "cross_entropy", (("weight", None), ("ignore_index", -100), ("label_smoothing", 0.0))),
        ("BCELoss", "binary_cross_entropy", (("weight", None),)),
        ("BCEWithLogitsLoss", "binary_cross_entropy_with_logits", (("weight", None), ("pos_weight", None))),
        ("KLDivLoss", "kl_div", (("log_target", False),)),
        ("CosineEmbeddingLoss", "cosine_embedding_loss", (("margin", 0.0),)),
        ("MarginRankingLoss", "margin_ranking_loss", (("margin", 0.0),)),
        ("HingeEmbeddingLoss", "hinge_embedding_loss", (("margin", 1.0),)), ("SoftMarginLoss", "soft_margin_loss", ()),
        ("TripletMarginLoss", "triplet_margin_loss", (("margin", 1.0), ("p", 2.0), ("eps", 1e-6), ("swap", False))),
        ("PoissonNLLLoss", "poisson_nll_loss", (("log_input", True), ("full", False), ("eps", 1e-8))),
        ("GaussianNLLLoss", "gaussian_nll_loss", (("full", False), ("eps", 1e-6))),
    )
}  # fmt: skip


class CosineSimilarity(Module):
    """`cosine_similarity` as a module."""

    def __init__(self, dim: int = 1, eps: float = 1e-8):
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1: Any, x2: Any) -> Any:
        return losses.cosine_similarity(x1, x2, self.dim, self.eps)


MEMBERS: dict[str, Any] = {
    **{
        c.__name__: c
        for c in (
            Linear, Bilinear, Conv1d, Conv2d, Conv3d, ConvTranspose2d, Embedding,
            Identity, Flatten, Unflatten, Dropout, Dropout1d, Dropout2d, AlphaDropout, MaxPool1d,
            MaxPool2d, AvgPool1d, AvgPool2d, AdaptiveAvgPool2d, AdaptiveMaxPool2d, Upsample, PReLU, CosineSimilarity,
        )
    },
    **ACTIVATIONS,
    **LOSSES,
}  # fmt: skip
