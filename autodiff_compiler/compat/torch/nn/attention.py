"""Attention of several heads, and the layers of transformers."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import make
from ..creation import zeros
from ..matrices import matmul
from ..reductions import softmax
from ..tensor import Parameter, check_device
from . import activations, initial
from . import basics as functional
from .layers import Dropout, Linear
from .modules import Module, ModuleList
from .normalisation import LayerNorm


def _additive(mask: Any, dtype: Any) -> Any:
    """A mask that is added to scores: minus infinity where one of truths is True."""
    if mask._value.dtype.kind != "b":
        return mask
    return make(np.where(mask._value, -math.inf, 0.0).astype(dtype))


class MultiheadAttention(Module):
    """``softmax(q @ k.T / sqrt(width)) @ v`` for each head, of projections of query, key and value.

    A mask is True where one must not look, or is added to the scores. The result is the attention, and the weights,
    averaged over the heads, or None without `need_weights`.

    >>> from autodiff_compiler.compat import torch
    >>> x = torch.ones(2, 5, 8)
    >>> out, weights = torch.nn.MultiheadAttention(8, 2, batch_first=True)(x, x, x)
    >>> out.shape, weights.shape
    (torch.Size([2, 5, 8]), torch.Size([2, 5, 5]))
    """

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        device: Any = None, dtype: Any = None,
    ):  # fmt: skip
        super().__init__()
        check_device(device)
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} "
                "instead"
            )
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        if add_bias_kv or add_zero_attn or kdim not in (None, embed_dim) or vdim not in (None, embed_dim):
            raise NotImplementedError(
                "MultiheadAttention: add_bias_kv, add_zero_attn, kdim and vdim are not there; project with Linear first"
            )
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.dropout, self.batch_first = dropout, batch_first
        self.in_proj_weight = Parameter(zeros(3 * embed_dim, embed_dim, dtype=dtype))
        self.register_parameter("in_proj_bias", Parameter(zeros(3 * embed_dim, dtype=dtype)) if bias else None)
        self.out_proj = Linear(embed_dim, embed_dim, bias=bias, dtype=dtype)
        initial.xavier_uniform_(self.in_proj_weight)
        if bias:
            self.out_proj.bias.detach().zero_()

    def forward(
        self, query: Any, key: Any, value: Any, key_padding_mask: Any = None, need_weights: bool = True,
        attn_mask: Any = None, average_attn_weights: bool = True, is_causal: bool = False,
    ) -> Any:  # fmt: skip
        if is_causal and attn_mask is None:
            raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
        if query.shape[-1] != self.embed_dim:
            raise AssertionError(f"was expecting embedding dimension of {self.embed_dim}, but got {query.shape[-1]}")
        single = query.dim() == 2
        given = [query, key, value]
        if single:
            given = [x.unsqueeze(0) for x in given]
        elif not self.batch_first:
            given = [x.transpose(0, 1) for x in given]
        weights = self.in_proj_weight.chunk(3)
        biases = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        heads = []
        for x, w, b in zip(given, weights, biases):
            made = functional.linear(x, w, b)
            heads.append(made.reshape(*made.shape[:2], self.num_heads, self.head_dim).transpose(1, 2))
        q, k, v = heads
        scores = matmul(q * (1 / math.sqrt(self.head_dim)), k.transpose(-2, -1))
        dtype = scores._value.dtype
        if attn_mask is not None:
            mask = _additive(attn_mask, dtype)
            scores = scores + (mask.reshape(scores.shape) if mask.dim() == 3 else mask)
        if key_padding_mask is not None:
            padding = key_padding_mask.unsqueeze(0) if single else key_padding_mask
            scores = scores + _additive(padding, dtype).unsqueeze(1).unsqueeze(2)
        attention = softmax(scores, -1)
        if self.dropout:
            attention = activations.dropout(attention, self.dropout, self.training)
        out = matmul(attention, v).transpose(1, 2)
        out = self.out_proj(out.reshape(*out.shape[:2], self.embed_dim))
        shown = None
        if need_weights:
            shown = attention.mean(1) if average_attn_weights else attention
        if single:
            return out.squeeze(0), None if shown is None else shown.squeeze(0)
        return out if self.batch_first else out.transpose(0, 1), shown


def _activation(given: Any) -> Callable[[Any], Any]:
    if isinstance(given, str):
        if given not in ("relu", "gelu"):
            raise RuntimeError(f"activation should be relu/gelu, not {given}")
        found: Callable[[Any], Any] = activations.FUNCTIONS[given]
        return found
    return given  # type: ignore[no-any-return]


class _Layer(Module):
    """What the layers of encoders and decoders share: attention, then two linear maps, with sums around them."""

    def _make_rest(
        self, d_model: int, dim_feedforward: int, dropout: float, eps: float, bias: bool, parts: int
    ) -> None:
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias)
        for k in range(1, parts + 1):
            setattr(self, f"norm{k}", LayerNorm(d_model, eps=eps, bias=bias))
        for k in range(1, parts + 1):
            setattr(self, f"dropout{k}", Dropout(dropout))

    def _feed_forward(self, x: Any) -> Any:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))

    def _add(self, x: Any, number: int, part: Callable[[Any], Any]) -> Any:
        """``x + part(x)``, normalised before or after."""
        norm, drop = getattr(self, f"norm{number}"), getattr(self, f"dropout{number}")
        return x + drop(part(norm(x))) if self.norm_first else norm(x + drop(part(x)))


class TransformerEncoderLayer(_Layer):
    """Self attention, then two linear maps."""

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1, activation: Any = "relu",
        layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False, bias: bool = True,
    ):  # fmt: skip
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first)
        self._make_rest(d_model, dim_feedforward, dropout, layer_norm_eps, bias, 2)
        self.activation, self.norm_first = _activation(activation), norm_first

    def forward(
        self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False
    ) -> Any:  # fmt: skip
        def attend(x: Any) -> Any:
            return self.self_attn(x, x, x, src_key_padding_mask, False, src_mask)[0]

        return self._add(self._add(src, 1, attend), 2, self._feed_forward)


class TransformerDecoderLayer(_Layer):
    """Self attention, attention to what an encoder gave, then two linear maps."""

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1, activation: Any = "relu",
        layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False, bias: bool = True,
    ):  # fmt: skip
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first)
        self._make_rest(d_model, dim_feedforward, dropout, layer_norm_eps, bias, 3)
        self.activation, self.norm_first = _activation(activation), norm_first

    def forward(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None,
        tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None, tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        def attend(x: Any) -> Any:
            return self.self_attn(x, x, x, tgt_key_padding_mask, False, tgt_mask)[0]

        def look(x: Any) -> Any:
            return self.multihead_attn(x, memory, memory, memory_key_padding_mask, False, memory_mask)[0]

        return self._add(self._add(self._add(tgt, 1, attend), 2, look), 3, self._feed_forward)


class _Stack(Module):
    def __init__(self, layer: Module, num_layers: int, norm: Module | None = None):
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm


class TransformerEncoder(_Stack):
    """Copies of an encoder layer, one after the other."""

    def __init__(
        self, encoder_layer: Module, num_layers: int, norm: Module | None = None, enable_nested_tensor: bool = True
    ):
        super().__init__(encoder_layer, num_layers, norm)

    def forward(
        self, src: Any, mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool | None = None
    ) -> Any:  # fmt: skip
        out = src
        for layer in self.layers:
            out = layer(out, mask, src_key_padding_mask)
        return out if self.norm is None else self.norm(out)


class TransformerDecoder(_Stack):
    """Copies of a decoder layer, one after the other."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None):
        super().__init__(decoder_layer, num_layers, norm)

    def forward(self, tgt: Any, memory: Any, *masks: Any, **named: Any) -> Any:
        out = tgt
        for layer in self.layers:
            out = layer(out, memory, *masks, **named)
        return out if self.norm is None else self.norm(out)


class Transformer(Module):
    """An encoder of the source, and a decoder of the target that looks at it."""

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
        dim_feedforward: int = 2048, dropout: float = 0.1, activation: Any = "relu", custom_encoder: Any = None,
        custom_decoder: Any = None, layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False,
        bias: bool = True,
    ):  # fmt: skip
        super().__init__()
        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        norms = [LayerNorm(d_model, eps=layer_norm_eps, bias=bias) for _ in range(2)]
        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*options), num_encoder_layers, norms[0]
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*options), num_decoder_layers, norms[1]
        )
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first
        for p in self.parameters():
            if p.dim() > 1:
                initial.xavier_uniform_(p)

    def forward(
        self, src: Any, tgt: Any, src_mask: Any = None, tgt_mask: Any = None, memory_mask: Any = None,
        src_key_padding_mask: Any = None, tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None,
    ) -> Any:  # fmt: skip
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, src_mask, src_key_padding_mask)
        return self.decoder(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Any:
        """Minus infinity above the diagonal, zeros elsewhere: no place looks at a later one."""
        check_device(device)
        made = zeros(sz, sz, dtype=dtype)
        made._value[np.triu_indices(sz, 1)] = -math.inf
        return made


MEMBERS: dict[str, Any] = {
    c.__name__: c
    for c in (
        MultiheadAttention, TransformerEncoderLayer, TransformerDecoderLayer, TransformerEncoder, TransformerDecoder,
        Transformer,
    )
}  # fmt: skip
