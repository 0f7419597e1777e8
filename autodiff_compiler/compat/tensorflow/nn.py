"""``tf.nn``."""

from .namespace import lazy

__getattr__, __dir__ = lazy(
    __name__,
    {
        "activations": "batch_normalization bias_add dropout elu embedding_lookup gelu "
        "l2_loss leaky_relu log_softmax moments relu relu6 selu "
        "sigmoid_cross_entropy_with_logits silu softmax softmax_cross_entropy_with_logits softplus softsign "
        "sparse_softmax_cross_entropy_with_logits swish=silu weighted_cross_entropy_with_logits",
        "elementwise": "sigmoid tanh",
        "linear_algebra": "l2_normalize",
        "indexing": "top_k",
        "windows": "avg_pool avg_pool1d avg_pool2d conv1d conv2d conv2d_transpose convolution depthwise_conv2d "
        "max_pool max_pool1d max_pool2d",
    },
)
