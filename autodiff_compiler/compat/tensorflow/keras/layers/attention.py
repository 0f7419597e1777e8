"""Attention: averages of values, weighted by how well keys fit queries."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import tensorflow as tf
from .. import initializers, regularizers
from ..layer import Layer
from ..masks import mask_of
from .core import Dropout, positive_integer


class _Projection(Layer):
    """An ``einsum`` of the inputs and a kernel, plus a bias of the kernel's last axes."""

    supports_masking = True

    def __init__(self, equation: str, kernel: tuple[int, ...], bias: tuple[int, ...] | None, name: str, **made: Any):
        super().__init__(name=name)
        self.equation, self._shapes, self._made = equation, (kernel, bias), made

    def build(self, input_shape: Any) -> None:
        kernel, bias = self._shapes
        made = self._made
        self.kernel = self.add_weight(
            kernel, made["kernel_initializer"], regularizer=made["kernel_regularizer"],
            constraint=made["kernel_constraint"], name="kernel",
        )  # fmt: skip
        self.bias = None
        if bias is not None:
            self.bias = self.add_weight(
                bias, made["bias_initializer"], regularizer=made["bias_regularizer"],
                constraint=made["bias_constraint"], name="bias",
            )  # fmt: skip

    def call(self, inputs: Any) -> Any:
        x = tf.einsum(self.equation, inputs, self.kernel)
        return x if self.bias is None else x + self.bias


class MultiHeadAttention(Layer):
    """Attention of several heads: ``layer(query, value, key=None)``.

    query: ``(batch, T, width)``, value and key ``(batch, S, ...)``; the result is ``(batch, T, output_shape)``, as wide
    as the query by default. attention_mask: ``(batch, T, S)``, false where a query does not see a value;
    use_causal_mask: none sees later ones. return_attention_scores: the weights ``(batch, heads, T, S)`` follow.

    Weights: kernels ``(width, heads, key_dim)`` and biases for query, key and value, ``(heads, value_dim, output)`` for
    the output.

    >>> from autodiff_compiler.compat import tensorflow as tf
    >>> layer = tf.keras.layers.MultiHeadAttention(num_heads=2, key_dim=3)
    >>> layer(tf.ones((2, 5, 4)), tf.ones((2, 7, 6))).shape
    TensorShape([2, 5, 4])
    """

    supports_masking = True

    def __init__(
        self, num_heads: int, key_dim: int, value_dim: int | None = None, dropout: float = 0.0, use_bias: bool = True,
        output_shape: Any = None, kernel_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
        kernel_constraint: Any = None, bias_constraint: Any = None, seed: int | None = None, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.num_heads, self.key_dim = positive_integer("num_heads", num_heads), positive_integer("key_dim", key_dim)
        self.value_dim, self.use_bias, self.dropout = value_dim or key_dim, use_bias, dropout
        self._width = output_shape if output_shape is None or isinstance(output_shape, int) else output_shape[0]
        self._made = {
            "kernel_initializer": initializers.get(kernel_initializer),
            "bias_initializer": initializers.get(bias_initializer),
            "kernel_regularizer": regularizers.get(kernel_regularizer),
            "bias_regularizer": regularizers.get(bias_regularizer),
            "kernel_constraint": kernel_constraint, "bias_constraint": bias_constraint,
        }  # fmt: skip
        self._drop = Dropout(dropout, seed=seed)

    def build(self, query_shape: Any, value_shape: Any = None, key_shape: Any = None) -> None:
        value_shape = query_shape if value_shape is None else value_shape
        key_shape = value_shape if key_shape is None else key_shape
        if any(len(s) != 3 for s in (query_shape, value_shape, key_shape)):
            raise ValueError(f"queries and values are (batch, time, features), not of shape {tuple(query_shape)}")
        heads = self.num_heads
        out = self._width or query_shape[-1]

        def projection(name: str, width: int, dim: int) -> _Projection:
            bias = (heads, dim) if self.use_bias else None
            return _Projection("abc,cde->abde", (width, heads, dim), bias, name, **self._made)

        self.query_dense = projection("query", query_shape[-1], self.key_dim)
        self.key_dense = projection("key", key_shape[-1], self.key_dim)
        self.value_dense = projection("value", value_shape[-1], self.value_dim)
        self.output_dense = _Projection(
            "abcd,cde->abe", (heads, self.value_dim, out), (out,) if self.use_bias else None, "attention_output",
            **self._made,
        )  # fmt: skip
        for part in (self.query_dense, self.key_dense, self.value_dense, self.output_dense):
            part.build(None)

    def call(
        self, query: Any, value: Any, key: Any = None, query_mask: Any = None, value_mask: Any = None,
        key_mask: Any = None, attention_mask: Any = None, return_attention_scores: bool = False,
        training: bool | None = None, use_causal_mask: bool = False,
    ) -> Any:  # fmt: skip
        key = value if key is None else key
        seen = _all(
            None if query_mask is None else tf.cast(query_mask, tf.bool)[:, :, tf.newaxis],
            None if value_mask is None else tf.cast(value_mask, tf.bool)[:, tf.newaxis, :],
            None if key_mask is None else tf.cast(key_mask, tf.bool)[:, tf.newaxis, :],
            _causal(query, value) if use_causal_mask else None,
            None if attention_mask is None else tf.cast(attention_mask, tf.bool),
        )
        q = self.query_dense(query) * (1.0 / math.sqrt(self.key_dim))
        k, v = self.key_dense(key), self.value_dense(value)
        scores = tf.einsum("btnh,bsnh->bnts", q, k)
        if seen is not None:
            hidden = tf.constant(float(np.finfo(scores.dtype.as_numpy_dtype).min) * 0.7, scores.dtype)
            scores = tf.where(seen if len(seen.shape) == 4 else tf.expand_dims(seen, 1), scores, hidden)
        weights = tf.nn.softmax(scores, axis=-1)
        out = self.output_dense(tf.einsum("bnts,bsnh->btnh", self._drop(weights), v))
        return (out, weights) if return_attention_scores else out

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for k, name in enumerate(("query", "value", "key")):
            given = args[k] if k < len(args) else kwargs.get(name)
            if given is not None and kwargs.get(f"{name}_mask") is None and mask_of(given) is not None:
                kwargs[f"{name}_mask"] = mask_of(given)
        return super().__call__(*args, **kwargs)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        return previous_mask


class Attention(Layer):
    """Attention by products, ``softmax(query @ key) @ value``, of a list ``[query, value]`` or ``[query, value, key]``.

    use_scale: the products are multiplied by a number that is trained. score_mode: "dot", or "concat" for the sum of
    ``tanh(query + key)``. A list of masks ``[query_mask, value_mask]`` says which places count.
    """

    supports_masking = True

    def __init__(
        self, use_scale: bool = False, score_mode: str = "dot", dropout: float = 0.0, seed: int | None = None,
        **kwargs: Any,
    ):  # fmt: skip
        super().__init__(**kwargs)
        if score_mode not in ("dot", "concat"):
            raise ValueError(
                f"Invalid value for argument score_mode. Expected one of {{'dot', 'concat'}}. Received: "
                f"score_mode={score_mode}"
            )
        self.use_scale, self.score_mode, self._drop = use_scale, score_mode, Dropout(dropout, seed=seed)

    def build(self, input_shape: Any) -> None:
        self.scale = self.add_weight((), "ones", name="scale") if self.use_scale else None
        self.concat_score_weight = (
            self.add_weight((), "ones", name="concat_score_weight") if self.score_mode == "concat" else None
        )  # fmt: skip

    def _scores(self, query: Any, key: Any) -> Any:
        if self.score_mode == "dot":
            scores = tf.matmul(query, key, transpose_b=True)
            return scores if self.scale is None else scores * self.scale
        total = tf.expand_dims(query, -2) + tf.expand_dims(key, -3)
        total = total if self.scale is None else self.scale * total
        return self.concat_score_weight * tf.reduce_sum(tf.tanh(total), axis=-1)

    def call(
        self, inputs: Any, mask: Any = None, training: bool = False, return_attention_scores: bool = False,
        use_causal_mask: bool = False,
    ) -> Any:  # fmt: skip
        if not isinstance(inputs, (list, tuple)) or len(inputs) not in (2, 3):
            raise ValueError(
                f"{type(self).__name__} layer must be called on a list of inputs, namely [query, value] or [query, "
                f"value, key]. Received: inputs={inputs}."
            )
        query, value = inputs[0], inputs[1]
        key = inputs[2] if len(inputs) > 2 else value
        query_mask, value_mask = (mask[0], mask[1]) if mask else (None, None)
        scores = self._scores(query, key)
        seen = _all(
            None if value_mask is None else value_mask[:, tf.newaxis, :],
            _causal(query, key) if use_causal_mask else None,
        )
        if seen is not None:
            scores = tf.where(seen, scores, scores - (65504.0 if scores.dtype == tf.float16 else 1.0e9))
        weights = tf.nn.softmax(scores, axis=-1)
        out = tf.matmul(self._drop(weights), value)
        if query_mask is not None:
            out = tf.where(tf.expand_dims(query_mask, -1), out, tf.zeros_like(out))
        return (out, weights) if return_attention_scores else out

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        return previous_mask[0] if isinstance(previous_mask, list) else None


class AdditiveAttention(Attention):
    """Attention by sums, ``softmax(sum(scale * tanh(query + key))) @ value``, of a list as `Attention` takes it."""

    def __init__(self, use_scale: bool = True, dropout: float = 0.0, **kwargs: Any):
        super().__init__(use_scale, dropout=dropout, **kwargs)

    def build(self, input_shape: Any) -> None:
        self.scale = self.add_weight((input_shape[0][-1],), None, name="scale") if self.use_scale else None

    def _scores(self, query: Any, key: Any) -> Any:
        total = tf.tanh(tf.expand_dims(query, -2) + tf.expand_dims(key, -3))
        return tf.reduce_sum(total if self.scale is None else self.scale * total, axis=-1)


def _all(*masks: Any) -> Any:
    """Where all of the masks are true; None if there is none."""
    out = None
    for mask in masks:
        if mask is not None:
            out = mask if out is None else tf.logical_and(out, mask)
    return out


def _causal(query: Any, value: Any) -> Any:
    """Each query sees the values up to its own place: ``(1, T, S)``."""
    return tf.constant(np.tri(int(query.shape[1]), int(value.shape[1]), dtype=bool)[None])
