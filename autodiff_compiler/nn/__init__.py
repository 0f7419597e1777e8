"""Functions for neural networks: activations, losses, convolutions, pooling, normalization, embeddings.

They take arrays and keep a floating dtype. They may be used in functions that are differentiated, to any order. Names
and order of arguments are those of TensorFlow's ``tf.nn``.
"""

from .activations import (
    elu,
    erf,
    gelu,
    hard_sigmoid,
    leaky_relu,
    log_sigmoid,
    log_softmax,
    logsumexp,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    softmax,
    softplus,
    softsign,
    swish,
    tanh,
)
from .convolution import conv1d, conv2d, conv2d_transpose, depthwise_conv2d
from .lookup import embedding_lookup, one_hot, top_k
from .losses import (
    binary_crossentropy,
    categorical_crossentropy,
    huber,
    l2_loss,
    mae,
    mse,
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from .normalization import batch_normalization, bias_add, dropout, l2_normalize, layer_normalization, moments
from .pooling import avg_pool, max_pool

__all__ = [
    "avg_pool",
    "batch_normalization",
    "bias_add",
    "binary_crossentropy",
    "categorical_crossentropy",
    "conv1d",
    "conv2d",
    "conv2d_transpose",
    "depthwise_conv2d",
    "dropout",
    "elu",
    "embedding_lookup",
    "erf",
    "gelu",
    "hard_sigmoid",
    "huber",
    "l2_loss",
    "l2_normalize",
    "layer_normalization",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "logsumexp",
    "mae",
    "max_pool",
    "moments",
    "mse",
    "one_hot",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "sigmoid_cross_entropy_with_logits",
    "silu",
    "softmax",
    "softmax_cross_entropy_with_logits",
    "softplus",
    "softsign",
    "sparse_softmax_cross_entropy_with_logits",
    "swish",
    "tanh",
    "top_k",
]
