"""What neural networks need beyond NumPy, on arrays: activations and losses.

Names and order of arguments are those of TensorFlow's ``tf.nn``. The functions take arrays, keep a floating
dtype, and may be used in functions that are differentiated, to any order.
"""

from .activations import (
    elu,
    erf,
    gelu,
    hard_sigmoid,
    leaky_relu,
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

__all__ = [
    "binary_crossentropy",
    "categorical_crossentropy",
    "elu",
    "erf",
    "gelu",
    "hard_sigmoid",
    "huber",
    "l2_loss",
    "leaky_relu",
    "log_softmax",
    "logsumexp",
    "mae",
    "mse",
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
]
