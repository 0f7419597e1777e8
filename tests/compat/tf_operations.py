"""Operations of TensorFlow with small inputs. Their results on the real one are recorded, and compared with ours.

A case is an expression over the names in INPUTS (or its own inputs) and `tf`. SMOOTH cases run in float64, with second
derivatives, and in float32; EDGES are points where the derivative is a convention; TYPED cases say their dtypes.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

INPUTS: dict[str, Any] = {
    "x": [0.7, -1.3, 0.4],
    "y": [1.1, 0.6, -2.2],
    "p": [0.3, 1.7, 2.5],
    "q": [0.9, 0.4, 1.6],
    "u": [0.2, -0.6, 0.9],
    "c": 0.8,
    "m": [[0.5, -1.2, 2.0], [1.5, 0.3, -0.7]],
    "n": [[0.4, 1.1], [-0.9, 0.2], [1.3, -0.5]],
    "a": [[2.0, 0.3], [0.5, 1.4]],
    "b": [[1.2, -0.4], [0.7, 0.9]],
    "spd": [[2.0, 0.4, 0.1], [0.4, 1.5, -0.2], [0.1, -0.2, 1.1]],
    "t": [[[0.1, 0.5], [-0.7, 1.2], [0.3, -0.4]], [[1.1, -0.2], [0.6, 0.8], [-1.5, 0.9]]],
    "k": [[[0.5, -0.3], [0.2, 0.8]], [[-0.6, 0.1], [0.4, 0.7]]],
    "image": np.round(np.sin(np.arange(2 * 4 * 5 * 2) * 0.7).reshape(2, 4, 5, 2), 3).tolist(),
    "kernel": np.round(np.cos(np.arange(3 * 2 * 2 * 3) * 0.9).reshape(3, 2, 2, 3), 3).tolist(),
    "depth": np.round(np.cos(np.arange(2 * 2 * 2 * 2) * 1.3).reshape(2, 2, 2, 2), 3).tolist(),
    "labels": [[0.2, 0.5, 0.3], [0.0, 1.0, 0.0]],
}


class Case(NamedTuple):
    name: str
    expression: str
    inputs: dict[str, Any]
    dtypes: tuple[str, ...]
    second: bool


def smooth(*expressions: str, **inputs: Any) -> list[Case]:
    return [Case(e, e, inputs, ("float64", "float32"), True) for e in expressions]


def edge(*expressions: str, **inputs: Any) -> list[Case]:
    named = ", ".join(f"{k}={v}" for k, v in inputs.items())
    return [Case(f"{e} at {named}", e, inputs, ("float32",), False) for e in expressions]


def typed(dtype: str, *expressions: str, **inputs: Any) -> list[Case]:
    return [Case(f"{e} of {dtype}", e, inputs, (dtype,), False) for e in expressions]


ARITHMETIC = smooth(
    "x + y", "x - y", "x * y", "x / p", "p ** x", "x ** 2", "x ** 3", "p ** 0.5", "2.0 ** x", "1.0 / p", "3.0 - x",
    "-x", "abs(x)", "m @ n", "x // p", "x % p", "m + x", "m * c", "c / p", "m - m[:, :1]", "tf.add(x, y)",
    "tf.subtract(x, y)", "tf.multiply(x, y)", "tf.divide(x, p)", "tf.math.divide_no_nan(x, p)",
    "tf.math.multiply_no_nan(x, p)", "tf.pow(p, y)", "tf.negative(x)", "tf.square(x)",
    "tf.math.squared_difference(x, y)", "tf.add_n([x, y, x])", "tf.math.reciprocal(p)",
    "tf.math.reciprocal_no_nan(p)", "tf.maximum(x, y)", "tf.minimum(x, y)", "tf.math.floormod(x, p)",
    "tf.math.truediv(x, p)", "tf.identity(x)", "tf.stop_gradient(x) * x", "tf.math.xlogy(p, q)",
    "tf.math.xdivy(p, q)", "tf.math.xlog1py(p, q)", "tf.math.scalar_mul(2.5, x)",
)  # fmt: skip

ELEMENTWISE = smooth(
    "tf.sin(x)", "tf.cos(x)", "tf.tan(x)", "tf.asin(u)", "tf.acos(u)", "tf.atan(x)", "tf.sinh(x)", "tf.cosh(x)",
    "tf.tanh(x)", "tf.asinh(x)", "tf.acosh(p + 1.5)", "tf.atanh(u)", "tf.atan2(x, y)", "tf.exp(x)",
    "tf.math.expm1(x)", "tf.math.log(p)", "tf.math.log1p(p)", "tf.sqrt(p)", "tf.math.rsqrt(p)", "tf.abs(x)",
    "tf.sigmoid(x)", "tf.math.log_sigmoid(x)", "tf.math.erf(x)",
    "tf.math.softplus(x)", "tf.math.sign(x)", "tf.floor(x)", "tf.math.ceil(x)", "tf.round(x)", "tf.math.rint(x)",
    "tf.sin(x) / x", "tf.clip_by_value(x, -0.5, 0.5)", "tf.clip_by_norm(x, 0.5)", "tf.clip_by_norm(x, 5.0)",
    "tf.clip_by_norm(m, 0.5, axes=[1])", "tf.where(x > 0.0, x * x, y)", "tf.where(m > 0.0, m, 0.1 * m)",
    "tf.zeros_like(x)", "tf.ones_like(x) * x", "tf.math.pow(p, 1.5)", "tf.math.log(tf.abs(x))",
    "tf.math.log_softmax(x)", "tf.math.softmax(m)", "tf.math.exp(-x * x)",
)  # fmt: skip

ACTIVATIONS = smooth(
    "tf.nn.relu(x)", "tf.nn.relu6(5.0 * x)", "tf.nn.leaky_relu(x)", "tf.nn.leaky_relu(x, alpha=0.3)", "tf.nn.elu(x)",
    "tf.nn.selu(x)", "tf.nn.gelu(x)", "tf.nn.gelu(x, approximate=True)", "tf.nn.silu(x)", "tf.nn.swish(x)",
    "tf.nn.softplus(x)", "tf.nn.sigmoid(x)", "tf.nn.tanh(x)", "tf.nn.softmax(x)", "tf.nn.softmax(m, axis=0)",
    "tf.nn.log_softmax(m)", "tf.nn.l2_loss(m)", "tf.nn.bias_add(m, x)", "tf.nn.l2_normalize(m, axis=1)",
    "tf.math.l2_normalize(x)", "tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=m)",
    "tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=m)",
    "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[2, 0], logits=m)",
    "tf.nn.weighted_cross_entropy_with_logits(labels=labels, logits=m, pos_weight=2.0)",
    "tf.nn.moments(m, axes=[0])[0]",
    "tf.nn.batch_normalization(m, x, p, y, q, 1e-3)", "tf.nn.embedding_lookup(n, [0, 2, 2])", "tf.nn.dropout(x, 0.0)",
    "tf.keras.activations.relu(x)", "tf.keras.activations.softmax(m)",
)  # fmt: skip

LOSSES = smooth(
    "tf.keras.losses.mse(labels, m)",
    "tf.keras.losses.MeanSquaredError()(labels, m)",
    "tf.keras.losses.BinaryCrossentropy(from_logits=True)(labels, m)",
    "tf.keras.losses.BinaryCrossentropy()(labels, tf.sigmoid(m))",
    "tf.keras.losses.CategoricalCrossentropy(from_logits=True)(labels, m)",
    "tf.keras.losses.CategoricalCrossentropy()(labels, tf.nn.softmax(m))",
    "tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)(tf.constant([2, 0]), m)",
    "tf.keras.losses.SparseCategoricalCrossentropy()(tf.constant([2, 0]), tf.nn.softmax(m))",
    "tf.keras.losses.binary_crossentropy(labels, m, from_logits=True)",
    "tf.keras.losses.categorical_crossentropy(labels, m, from_logits=True)",
    "tf.keras.losses.sparse_categorical_crossentropy(tf.constant([2, 0]), m, from_logits=True)",
    "tf.keras.losses.MeanSquaredError(reduction='sum')(labels, m)",
    "tf.keras.losses.MeanSquaredError(reduction='none')(labels, m)",
    "tf.keras.losses.MeanSquaredError()(labels, m, sample_weight=[1.0, 3.0])",
    "tf.keras.losses.CategoricalCrossentropy(from_logits=True)(0.9 * labels + 0.1 / 3, m)",
)  # fmt: skip

REDUCTIONS = smooth(
    "tf.reduce_sum(x)", "tf.reduce_sum(m, axis=0)", "tf.reduce_sum(m, 1)", "tf.reduce_sum(m, axis=-1, keepdims=True)",
    "tf.reduce_sum(t, axis=[0, 2])", "tf.reduce_sum(t, axis=(1,))", "tf.reduce_sum(m, axis=[])", "tf.reduce_mean(m)",
    "tf.reduce_mean(m, axis=0)", "tf.reduce_mean(t, [1, 2], keepdims=True)", "tf.reduce_prod(x)",
    "tf.reduce_prod(m, axis=1)", "tf.reduce_max(m)", "tf.reduce_max(m, axis=0)", "tf.reduce_min(m, axis=1)",
    "tf.reduce_min(t, axis=[0, 1])", "tf.reduce_logsumexp(x)", "tf.reduce_logsumexp(m, axis=1)",
    "tf.reduce_logsumexp(m, axis=1, keepdims=True)", "tf.math.reduce_variance(m, axis=0)", "tf.math.reduce_std(x)",
    "tf.math.reduce_std(m, axis=1)", "tf.math.reduce_euclidean_norm(m)", "tf.math.reduce_euclidean_norm(m, axis=1)",
    "tf.norm(x)", "tf.norm(m)", "tf.norm(m, axis=1)", "tf.norm(x, ord=1)", "tf.norm(x, ord=np.inf)",
    "tf.norm(p, ord=3)", "tf.norm(m, ord='euclidean', axis=[0, 1])", "tf.norm(m, axis=0, keepdims=True)",
    "tf.cumsum(x)", "tf.cumsum(m, axis=1)", "tf.cumsum(x, exclusive=True)", "tf.cumsum(x, reverse=True)",
    "tf.math.cumprod(x)", "tf.math.cumprod(m, axis=1)", "tf.reduce_all(x > 0.0)", "tf.reduce_any(m > 1.0, axis=0)",
    "tf.argmax(m, axis=1)", "tf.argmin(x)",
    "tf.linalg.trace(a)",
)  # fmt: skip

LINALG = smooth(
    "tf.matmul(m, n)", "tf.matmul(m, m, transpose_b=True)", "tf.matmul(n, n, transpose_a=True)", "m @ n",
    "tf.linalg.matmul(a, b)", "tf.matmul(k, k)", "tf.matmul(t, a)", "tf.linalg.matvec(m, x)",
    "tf.tensordot(x, y, axes=1)", "tf.tensordot(m, n, axes=[[1], [0]])", "tf.tensordot(m, n, 1)",
    "tf.tensordot(x, y, axes=0)", "tf.tensordot(t, m, axes=[[0, 1], [0, 1]])", "tf.einsum('ij,jk->ik', m, n)",
    "tf.einsum('ij->ji', m)", "tf.einsum('ij->', m)", "tf.einsum('ii->i', a)", "tf.einsum('bij,bjk->bik', k, k)",
    "tf.einsum('i,j->ij', x, y)", "tf.einsum('...ij,jk->...ik', t, a)", "tf.linalg.inv(a)", "tf.linalg.det(a)",
    "tf.linalg.det(spd)", "tf.linalg.logdet(spd)", "tf.linalg.slogdet(a)[1]", "tf.linalg.solve(a, b)",
    "tf.linalg.solve(a, b, adjoint=True)", "tf.linalg.cholesky(spd)", "tf.linalg.diag(x)", "tf.linalg.diag_part(a)",
    "tf.linalg.trace(spd)", "tf.linalg.norm(m)", "tf.linalg.matrix_transpose(t)", "tf.linalg.band_part(spd, -1, 0)",
    "tf.linalg.band_part(spd, 0, -1)", "tf.linalg.triangular_solve(tf.linalg.band_part(spd, -1, 0), n)",
    "tf.linalg.eigvalsh(spd)",
    "tf.linalg.svd(m, compute_uv=False)",
    "tf.linalg.inv(k + 2.0 * tf.eye(2, dtype=k.dtype))", "tf.reduce_sum(tf.linalg.qr(a)[1] ** 2)",
)  # fmt: skip

SHAPES = smooth(
    "tf.reshape(m, [3, 2])", "tf.reshape(m, [-1])", "tf.reshape(t, (2, -1))", "tf.transpose(m)",
    "tf.transpose(t, [2, 0, 1])", "tf.transpose(t, perm=[1, 0, 2])", "tf.expand_dims(x, 0)",
    "tf.expand_dims(m, axis=-1)", "tf.squeeze(tf.reshape(x, [1, 3, 1]))",
    "tf.squeeze(tf.reshape(x, [1, 3, 1]), axis=[0])", "tf.concat([m, m * 2.0], axis=0)", "tf.concat([m, n[:2]], 1)",
    "tf.concat([x, y], -1)", "tf.stack([x, y])", "tf.stack([x, y], axis=1)", "tf.unstack(m)[1]",
    "tf.unstack(m, axis=1)[2]", "tf.split(x, 3)[1]", "tf.split(m, [1, 2], axis=1)[1]",
    "tf.split(m, num_or_size_splits=3, axis=1)[0]", "tf.tile(m, [2, 1])", "tf.tile(x, [3])", "tf.repeat(x, 2)",
    "tf.repeat(m, [1, 3], axis=0)", "tf.pad(m, [[1, 0], [0, 2]])", "tf.pad(m, [[1, 1], [1, 1]], constant_values=3.0)",
    "tf.pad(m, [[1, 1], [1, 1]], 'REFLECT')", "tf.pad(m, [[1, 1], [1, 1]], mode='SYMMETRIC')",
    "tf.reverse(m, axis=[1])", "tf.reverse(m, [0, 1])", "tf.roll(x, 1, axis=0)",
    "tf.roll(m, shift=[1, -1], axis=[0, 1])", "tf.broadcast_to(x, [2, 3])", "tf.slice(m, [0, 1], [2, 2])",
    "tf.slice(m, [0, 1], [-1, -1])", "m[0]", "m[:, 1]", "m[1, 2]",
    "m[..., ::-1]", "m[:, ::2]", "m[tf.newaxis, 0, :]", "t[:, 1:, 0]", "x[-1]", "x[1:]", "x[::-1]",
    "tf.meshgrid(x, y)[0]", "tf.meshgrid(x, y, indexing='ij')[1]", "tf.sort(x)",
    "tf.sort(m, axis=0, direction='DESCENDING')",  "tf.nn.top_k(m, 2)[0]",
     "tf.math.top_k(x, k=1).values", "tf.shape(m)", "tf.size(m)", "tf.rank(m)",
    "tf.linspace(c, 2.0 * c, 4)", "tf.fill([2, 2], c)", "tf.cast(x, tf.float64)", "tf.cast(x, tf.float32)",
    "tf.cast(x, tf.int32)", "tf.reshape(tf.stack(tf.unstack(m)), [6])", "tf.einsum('bij->bji', t)",
    "tf.ensure_shape(m, [2, 3])",
)  # fmt: skip

INDEXED = smooth(
    "tf.gather(x, [0, 0, 2])", "tf.gather(m, [1, 0, 1])", "tf.gather(m, [2, 0], axis=1)", "tf.gather(m, 1)",
    "tf.gather(m, [[0, 1], [1, 1]])", "tf.gather(m, [[0, 2], [1, 1]], batch_dims=1)",
    "tf.gather(m, [[0, 2], [1, 1]], axis=1, batch_dims=1)", "tf.gather_nd(m, [[0, 1], [1, 2], [0, 1]])",
    "tf.gather_nd(m, [[1], [0]])", "tf.gather_nd(t, [[0, 1], [1, 2]])", "tf.scatter_nd([[1], [3], [1]], x, [5])",
    "tf.scatter_nd([[0, 1], [1, 0]], x[:2], [2, 2])", "tf.tensor_scatter_nd_update(x, [[0], [2]], y[:2])",
    "tf.tensor_scatter_nd_add(x, [[0], [0]], y[:2])", "tf.tensor_scatter_nd_sub(m, [[1]], [x])",
    "tf.boolean_mask(x, [True, False, True])", "tf.boolean_mask(m, m > 0.0)", "tf.boolean_mask(m, [True, False])",
    "tf.where([True, False, True], x, y)", "tf.where(x > y, x, 0.0)", "tf.where(m > 0.0, c, m)", "tf.where(x > 0.0)",
    "tf.one_hot([0, 2], 3) @ tf.cast(n, tf.float32)", "tf.gather(x, tf.argsort(x))",
    "tf.nn.embedding_lookup(n, [[0, 1], [2, 2]])", "x[x > 0.0]",
)  # fmt: skip

CONVOLUTIONS = smooth(
    "tf.nn.conv2d(image, kernel, strides=1, padding='VALID')", "tf.nn.conv2d(image, kernel, 1, 'SAME')",
    "tf.nn.conv2d(image, kernel, strides=2, padding='SAME')",
    "tf.nn.conv2d(image, kernel, strides=[1, 1, 2, 1], padding='VALID')",
    "tf.nn.conv2d(image, kernel[:1], 1, 'VALID')", "tf.nn.conv2d(image, kernel, 1, [[0, 0], [1, 1], [0, 1], [0, 0]])",
    "tf.nn.max_pool2d(image, 2, 2, 'VALID')", "tf.nn.max_pool2d(image, ksize=2, strides=1, padding='SAME')",
    "tf.nn.max_pool2d(image, [2, 3], [1, 2], 'SAME')", "tf.nn.avg_pool2d(image, 2, 2, 'VALID')",
    "tf.nn.avg_pool2d(image, ksize=2, strides=1, padding='SAME')", "tf.nn.max_pool(image, 2, 2, 'SAME')",
    "tf.nn.avg_pool(image, [1, 2, 2, 1], [1, 2, 2, 1], 'VALID')", "tf.nn.conv1d(t, k, 1, 'VALID')",
    "tf.nn.conv1d(t, k, stride=2, padding='SAME')", "tf.nn.depthwise_conv2d(image, depth, [1, 1, 1, 1], 'VALID')",
    "tf.nn.conv2d_transpose(image, depth, [2, 5, 6, 2], 1, 'VALID')",
    "tf.nn.conv2d_transpose(image, depth, output_shape=[2, 8, 10, 2], strides=2, padding='SAME')",
)  # fmt: skip

EDGES = [
    *edge("tf.maximum(x, y)", "tf.minimum(x, y)", x=[1.0, 2.0, 3.0], y=[1.0, 3.0, 3.0]),
    *edge("tf.maximum(x, 0.0)", "tf.minimum(x, 0.0)", "tf.nn.relu(x)", "tf.abs(x)", "tf.sign(x)", x=[0.0, -0.0, 1.0]),
    *edge("tf.nn.leaky_relu(x)", "tf.nn.elu(x)", "tf.nn.selu(x)", "tf.nn.softsign(x)", x=[0.0, -1.0, 1.0]),
    *edge("tf.nn.relu6(x)", x=[0.0, 6.0, 7.0, 3.0]),
    *edge("tf.reduce_max(x)", "tf.reduce_min(x)", "tf.math.reduce_std(x)", x=[2.0, 2.0, 2.0]),
    *edge(
        "tf.reduce_max(x)",
        "tf.reduce_max(x, keepdims=True)",
        "tf.sort(x)",
        "tf.nn.top_k(x, 2)[0]",
        x=[1.0, 5.0, 5.0, 2.0],
    ),
    *edge(
        "tf.reduce_max(m, axis=1)",
        "tf.reduce_min(m, axis=0)",
        "tf.argmax(m, axis=1)",
        m=[[3.0, 3.0, 1.0], [0.0, 3.0, 1.0]],
    ),
    *edge("tf.reduce_prod(x)", x=[0.0, 2.0, 3.0]),
    *edge("tf.reduce_prod(x)", x=[0.0, 2.0, 0.0]),
    *edge("tf.reduce_prod(m, axis=1)", m=[[0.0, 2.0, 3.0], [1.0, 2.0, 3.0]]),
    *edge("x ** 2.0", "x ** 1.0", "x ** 3.0", "tf.pow(x, y)", x=[0.0, 0.0, -2.0], y=[2.0, 1.0, 2.0]),
    *edge("tf.pow(x, y)", x=[0.0, 2.0], y=[2.0, 0.0]),
    *edge("tf.pow(x, y)", x=[-2.0, -3.0, 1.0], y=[2.0, 3.0, 0.5]),
    *edge("2.0 ** y", "0.0 ** y", y=[0.0, 1.0]),
    *edge("tf.sqrt(x)", "x ** 0.5", "tf.square(tf.sqrt(x))", x=[0.0, 4.0]),
    *edge("tf.where(x > 0.0, tf.sqrt(x), 0.0)", x=[0.0, 4.0]),
    *edge("tf.norm(x)", "tf.nn.l2_normalize(x)", "tf.clip_by_norm(x, 1.0)", "tf.linalg.norm(x)", x=[0.0, 0.0]),
    *edge("tf.norm(x, ord=1)", "tf.norm(x, ord=np.inf)", x=[0.0, 0.0]),
    *edge("tf.norm(m, axis=1)", m=[[0.0, 0.0], [3.0, 4.0]]),
    *edge("tf.clip_by_value(x, 1.0, 3.0)", x=[0.0, 1.0, 2.0, 3.0, 4.0]),
    *edge("tf.clip_by_norm(x, 5.0)", x=[3.0, 4.0]),
    *edge("tf.math.divide_no_nan(x, y)", "tf.math.multiply_no_nan(x, y)", x=[1.0, 2.0], y=[0.0, 4.0]),
    *edge("tf.math.reciprocal_no_nan(x)", x=[0.0, 4.0]),
    *edge("tf.math.xlogy(x, y)", "tf.math.xdivy(x, y)", x=[0.0, 2.0], y=[0.0, 4.0]),
    *edge("tf.math.xlog1py(x, y)", x=[0.0, 2.0], y=[-1.0, 4.0]),
    *edge("tf.math.log(x)", "1.0 / x", "tf.math.rsqrt(x)", "tf.math.log1p(x)", x=[0.0, 4.0]),
    *edge("tf.floor(x)", "tf.math.ceil(x)", "tf.round(x)", x=[0.5, 1.5, -0.5, 2.0]),
    *edge("x % y", "x // y", x=[5.0, -5.0, 4.0], y=[3.0, 3.0, 2.0]),
    *edge("tf.atan2(x, y)", x=[0.0, 1.0, 0.0], y=[1.0, 0.0, -1.0]),
    *edge("tf.nn.softplus(x)", "tf.sigmoid(x)", "tf.math.log_sigmoid(x)", "tf.tanh(x)", x=[-200.0, 0.0, 200.0]),
    *edge("tf.nn.softmax(x)", "tf.nn.log_softmax(x)", "tf.reduce_logsumexp(x)", x=[1000.0, 0.0, -1000.0]),
    *edge("tf.reduce_logsumexp(x)", x=[-np.inf, 0.0, 1.0]),
    *edge("tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x)", x=[-200.0, 0.0, 200.0], y=[0.0, 0.5, 1.0]),
    *edge("tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x)", x=[1000.0, 0.0, -1000.0], y=[0.0, 1.0, 0.0]),
    *edge("tf.nn.max_pool2d(image, 2, 2, 'VALID')", image=np.zeros((1, 4, 4, 1)).tolist()),
    *edge("tf.nn.max_pool2d(image, 2, 1, 'SAME')", image=(np.arange(9.0) % 4).reshape(1, 3, 3, 1).tolist()),
    *edge("tf.nn.max_pool2d(image, 2, 2, 'SAME')", image=(-np.arange(9.0)).reshape(1, 3, 3, 1).tolist()),
    *edge("tf.nn.avg_pool2d(image, 2, 2, 'SAME')", image=np.arange(9.0).reshape(1, 3, 3, 1).tolist()),
    *edge("tf.where(x > 1.0, x, y)", "tf.where(x >= 1.0, x, 5.0)", x=[1.0, 2.0], y=[7.0, 8.0]),
    *edge("x if x > 1.0 else x * x", x=1.0),
    *edge("tf.reduce_sum(x)", "tf.reduce_mean(x)", "tf.reduce_prod(x)", "x * 2.0", x=[]),
    *edge("tf.math.erf(x)", "tf.math.expm1(x)", "tf.asinh(x)", x=[0.0, 1e-8, 10.0]),
    *edge("tf.nn.moments(m, axes=[0])[1]", m=[[0.5, -1.2, 2.0], [1.5, 0.3, -0.7]]),
    *edge("tf.cast(x, tf.int32)", "tf.cast(x, tf.bool)", x=[0.5, -1.5]),
    *edge("tf.scatter_nd([[0], [0]], x, [2])", x=[1.0, 2.0]),
    *edge("tf.linalg.eigvalsh(m)", m=[[2.0, 0.0], [0.0, 1.0]]),
]

TYPED = [
    *typed(
        "int32",
        "x + y",
        "x * y",
        "x // y",
        "x % y",
        "x / y",
        "x ** 2",
        "tf.reduce_sum(x)",
        "tf.reduce_mean(x)",
        "tf.reduce_max(x)",
        "tf.cumsum(x)",
        "tf.cast(x, tf.float32)",
        "tf.abs(x)",
        "tf.sign(x)",
        "tf.square(x)",
        "tf.gather(x, [0, 2])",
        "tf.maximum(x, y)",
        "tf.reverse(x, [0])",
        "tf.tensordot(x, y, 1)",
        "tf.sort(x)",
        "tf.argsort(x)",
        "tf.nn.relu(x)",
        "x > y",
        "tf.equal(x, y)",
        "tf.math.not_equal(x, y)",
        "tf.less_equal(x, y)",
        "tf.reduce_prod(x)",
        "tf.clip_by_value(x, 0, 2)",
        x=[3, -5, 4],
        y=[2, 3, -3],
    ),
    *typed(
        "bool",
        "tf.logical_and(x, y)",
        "tf.logical_or(x, y)",
        "tf.logical_not(x)",
        "tf.math.logical_xor(x, y)",
        "tf.reduce_any(x)",
        "tf.reduce_all(x)",
        "tf.cast(x, tf.int32)",
        x=[True, False, True],
        y=[True, True, False],
    ),
    *typed(
        "float16",
        "x * y",
        "tf.exp(x)",
        "tf.reduce_sum(x)",
        "x ** 2",
        "tf.nn.softmax(x)",
        x=[0.5, -1.0, 2.0],
        y=[1.5, 0.25, 4.0],
    ),
    *typed(
        "complex128",
        "x * y",
        "x / y",
        "x ** 2",
        "tf.exp(x)",
        "tf.abs(x)",
        "tf.math.real(x)",
        "tf.math.imag(x)",
        "tf.math.conj(x)",
        "tf.reduce_sum(x)",
        "tf.reduce_mean(x)",
        "tf.square(x)",
        "tf.sin(x)",
        "tf.tanh(x)",
        "tf.sqrt(x)",
        "tf.math.log(x)",
        "tf.math.angle(x)",
        "x - 2.0 * y",
        "-x",
        "tf.reshape(x, [2, 1])",
        "tf.stack([x, y])",
        "tf.tensordot(x, y, 1)",
        "tf.abs(x) ** 2",
        "tf.math.real(x * tf.math.conj(x))",
        x=[1 + 2j, -0.5 + 0.3j],
        y=[0.4 - 1j, 2 + 0j],
    ),
    *typed(
        "complex64",
        "x * y",
        "tf.abs(x)",
        "tf.matmul(m, m)",
        "tf.linalg.adjoint(m)",
        x=[1 + 2j, -0.5 + 0.3j],
        y=[0.4 - 1j, 2 + 0j],
        m=[[1 + 1j, 2.0], [0.5j, 1 - 2j]],
    ),
]

GROUPS = {
    "arithmetic": ARITHMETIC,
    "elementwise": ELEMENTWISE,
    "activations": ACTIVATIONS,
    "losses": LOSSES,
    "reductions": REDUCTIONS,
    "linalg": LINALG,
    "shapes": SHAPES,
    "indexed": INDEXED,
    "convolutions": CONVOLUTIONS,
    "edges": EDGES,
    "typed": TYPED,
}


def cases() -> list[tuple[str, Case, str]]:
    """All cases, each with the group that it belongs to and one dtype."""
    return [(group, case, dtype) for group, members in GROUPS.items() for case in members for dtype in case.dtypes]


def weights(shape: tuple[int, ...], dtype: Any, start: int) -> np.ndarray:
    """Weights for the entries of an output in a gradient. No two are the same."""
    count = int(np.prod(shape))
    return np.cos(np.arange(start, start + count, dtype=np.float64)).round(3).reshape(shape).astype(dtype)


def used(case: Case) -> dict[str, Any]:
    """The inputs that the expression names."""
    names = set(re.findall(r"(?<![\w.'])([a-z]\w*)(?![\w'])(?!\s*=[^=])", case.expression))
    known = {**INPUTS, **case.inputs}
    return {name: known[name] for name in known if name in names}


def measure(tf: Any, case: Case, dtype: str) -> dict[str, Any]:
    """Value, gradients and second derivatives of a case, computed by `tf`."""
    inputs = {name: tf.constant(np.array(value, dtype)) for name, value in used(case).items()}
    sources = list(inputs.values())
    names = {"tf": tf, "np": np, **inputs}
    with tf.GradientTape(persistent=True) as outer:
        outer.watch([s for s in sources if s.dtype.is_floating or s.dtype.is_complex])
        with tf.GradientTape() as inner:
            inner.watch([s for s in sources if s.dtype.is_floating or s.dtype.is_complex])
            value = tf.convert_to_tensor(eval(case.expression, names))
        shape, number = tuple(value.shape), value.dtype.as_numpy_dtype
        seeds = tf.constant(weights(shape, number, 1)) if np.dtype(number).kind in "fc" else None
        gradients = inner.gradient(value, sources, output_gradients=seeds)
        gradients = [None if g is None else tf.convert_to_tensor(g) for g in gradients]
        total = [
            tf.reduce_sum(g * weights(tuple(g.shape), g.dtype.as_numpy_dtype, 5)) for g in gradients if g is not None
        ]
    result = {"value": value, "gradients": dict(zip(inputs, gradients))}
    if case.second and dtype == "float64" and total:
        result["second"] = dict(zip(inputs, (outer.gradient(total, sources, unconnected_gradients="zero"))))
        if re.search(r"softmax_cross_entropy_with_logits|ategorical.*from_logits", case.expression):
            # TensorFlow forgets that its gradient by the logits depends on the labels: test_differences_tf.py.
            result["second"].pop("labels", None)
    return result
