"""The module ``torch.nn.functional``: linear maps, normalisation, embeddings, padding; and the parts of the others."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...graph.array import value_of
from ...graph.direct import several
from ..core import make, run
from ..elementwise import FUNCTIONS as _ELEMENTWISE
from ..matrices import matmul
from ..reductions import softmax
from . import activations, losses, windows


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """``input @ weight.T + bias``. Shapes: `weight` (outputs, inputs), `bias` (outputs)."""
    a, w = input._value.shape, weight._value.shape
    if a[-1] != w[-1]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({int(np.prod(a[:-1]))}x{a[-1]} and {w[-1]}x{w[0]})"
        )
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


def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """``input1 @ weight[k] @ input2`` for each output k."""
    out = run("Trilinear", lambda a, b, w: np.einsum("...i,kij,...j->...k", a, w, b), input1, input2, weight)
    return out if bias is None else out + bias


# --- normalisation ----------------------------------------------------------------------------------------------------


def _standardised(a: Any, axes: tuple[int, ...], eps: float) -> Any:
    centred = a - np.mean(a, axis=axes, keepdims=True)
    return centred / np.sqrt(np.mean(centred * centred, axis=axes, keepdims=True) + eps)


def layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Each element of the batch minus its mean, divided by its deviation, over the last axes."""
    shape = tuple(normalized_shape) if isinstance(normalized_shape, (tuple, list)) else (normalized_shape,)
    if input._value.shape[len(input._value.shape) - len(shape) :] != shape:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, "
            f"{', '.join(map(str, shape))}], but got "
            f"input of size{list(input._value.shape)}"
        )
    axes = tuple(range(-len(shape), 0))
    return _scaled("NativeLayerNorm", lambda a: _standardised(a, axes, eps), input, weight, bias, shape)


def _scaled(name: str, f: Callable[..., Any], input: Any, weight: Any, bias: Any, shape: tuple[int, ...]) -> Any:
    """`f` of the input, times the weight, plus the bias, which have this shape then."""
    scale, shift = weight is not None, bias is not None

    def computed(a: Any, *rest: Any) -> Any:
        out = f(a)
        if scale:
            out = out * np.reshape(rest[0], shape)
        return out + np.reshape(rest[-1], shape) if shift else out

    return run(name, computed, input, *[x for x in (weight, bias) if x is not None])


def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Groups of channels minus their mean, divided by their deviation."""
    shape = input._value.shape
    if shape[1] % num_groups:
        raise RuntimeError(
            f"Expected number of channels in input to be divisible by num_groups, got {shape}, {num_groups}"
        )

    def computed(a: Any) -> Any:
        rows = np.reshape(a, (shape[0], num_groups, -1))
        return np.reshape(_standardised(rows, (2,), eps), shape)

    return _scaled("NativeGroupNorm", computed, input, weight, bias, (1, shape[1], *(1,) * (len(shape) - 2)))


def instance_norm(
    input: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Each channel of each image minus its mean, divided by its deviation."""
    return group_norm(input, input._value.shape[1], weight, bias, eps)


def batch_norm(
    input: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Channels minus a mean, divided by a deviation: the batch's if `training`, which also move the running ones, else
    the running ones.

    Raises ValueError in training for one value per channel.
    """
    value = input._value
    axes = tuple([k for k in range(value.ndim) if k != 1])
    shape = (1, value.shape[1], *(1,) * (value.ndim - 2))
    if training:
        count = value.size // value.shape[1]
        if count <= 1:
            raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.size()}")
        if running_mean is not None:
            mean = value.mean(axis=axes)
            var = value.var(axis=axes) * (count / (count - 1))
            for kept, found in ((running_mean, mean), (running_var, var)):
                kept._value[...] = (1 - momentum) * kept._value + momentum * found
                kept._memory.written()
        return _scaled("NativeBatchNorm", lambda a: _standardised(a, axes, eps), input, weight, bias, shape)
    mean, deviation = running_mean._value.reshape(shape).copy(), np.sqrt(running_var._value.reshape(shape) + eps)
    return _scaled("NativeBatchNorm", lambda a: (a - mean) / deviation.astype(value.dtype), input, weight, bias, shape)


def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Any:
    """Each element of the batch divided by the root of the mean of its squares, over the last axes."""
    shape = tuple(normalized_shape) if isinstance(normalized_shape, (tuple, list)) else (normalized_shape,)
    axes = tuple(range(-len(shape), 0))
    small = float(np.finfo(input._value.dtype).eps) if eps is None else eps

    def computed(a: Any) -> Any:
        return a / np.sqrt(np.mean(a * a, axis=axes, keepdims=True) + small)

    return _scaled("RmsNorm", computed, input, weight, None, shape)


# --- embeddings and padding -------------------------------------------------------------------------------------------


def embedding(input: Any, weight: Any, padding_idx: int | None = None) -> Any:
    """The rows of `weight` at indices; the row `padding_idx` gets no gradient."""
    ids = input._value
    n = weight._value.shape[0]
    if ids.dtype.kind not in "iu":
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{input.type()} instead (while checking arguments for embedding)"
        )
    if ids.size and (ids.min() < 0 or ids.max() >= n):
        raise IndexError("index out of range in self")
    where = ids.copy()
    if padding_idx is None:
        return run("Embedding", lambda w: w[where], weight)
    padded = np.expand_dims(where == (padding_idx % n), -1)
    constant = weight._value[where]
    return run("Embedding", lambda w: np.where(padded, constant, w[where]), weight)


def one_hot(tensor: Any, num_classes: int = -1) -> Any:
    """Ones at classes along a new last axis: a tensor of int64."""
    ids = tensor._value
    n = int(ids.max()) + 1 if num_classes < 0 else num_classes
    if ids.size and (ids.min() < 0 or ids.max() >= n):
        raise RuntimeError("Class values must be smaller than num_classes.")
    return make((np.expand_dims(ids, -1) == np.arange(n)).astype(np.int64, order="C"))


def pad(input: Any, pad: Any, mode: str = "constant", value: float | None = None) -> Any:
    """Elements added before and after: ``(left, right, top, bottom, ...)``, from the last axis on. Negative numbers cut
    off."""
    amounts = [int(p) for p in pad]
    n = input._value.ndim
    if len(amounts) % 2 or len(amounts) > 2 * n:
        raise RuntimeError(
            "Padding length must be divisible by 2 and at most twice the number of dimensions of the input"
        )
    pairs = [(0, 0)] * (n - len(amounts) // 2)
    pairs += [(amounts[k], amounts[k + 1]) for k in range(len(amounts) - 2, -1, -2)]
    kinds = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    if mode not in kinds:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    cut = tuple([slice(max(-a, 0), m - max(-b, 0)) for (a, b), m in zip(pairs, input._value.shape)])
    added = [(max(a, 0), max(b, 0)) for a, b in pairs]

    def computed(a: Any) -> Any:
        a = a[cut]
        if mode == "constant":
            return np.pad(a, added, "constant", constant_values=0.0 if value is None else value)
        for axis, (before, after) in enumerate(added):
            m = value_of(a).shape[axis]
            if before or after:
                a = np.take(a, np.pad(np.arange(m), (before, after), kinds[mode]), axis=axis)  # type: ignore[call-overload]
        return a

    return run("ConstantPadNd" if mode == "constant" else "Pad", computed, input)


def scaled_dot_product_attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: float | None = None,
) -> Any:  # fmt: skip
    """``softmax(query @ key.T / sqrt(width) + mask) @ value``. A mask is True where one may look, or is added."""
    factor = 1 / math.sqrt(query._value.shape[-1]) if scale is None else scale
    scores = matmul(query, key.transpose(-2, -1)) * factor
    if is_causal:
        shape = scores._value.shape[-2:]
        attn_mask = make(np.tril(np.ones(shape, bool)))
    if attn_mask is not None:
        if attn_mask._value.dtype.kind == "b":
            scores = _ELEMENTWISE["masked_fill"](scores, make(~attn_mask._value), -math.inf)
        else:
            scores = scores + attn_mask
    weights = softmax(scores, -1)
    if dropout_p:
        weights = activations.dropout(weights, dropout_p)
    return matmul(weights, value)


MEMBERS: dict[str, Any] = {
    **activations.FUNCTIONS,
    **losses.FUNCTIONS,
    **windows.FUNCTIONS,
    **{
        f.__name__: f
        for f in (
            linear, bilinear, layer_norm, group_norm, instance_norm, batch_norm, rms_norm, embedding, one_hot, pad,
            scaled_dot_product_attention,
        )
    },
}  # fmt: skip
