"""``tf.nn``."""

from .namespace import lazy

__getattr__, __dir__ = lazy(
    __name__,
    {
        "activations": "batch_normalization bias_add compute_average_loss crelu dropout elu embedding_lookup gelu "
        "l2_loss leaky_relu log_poisson_loss log_softmax moments relu relu6 selu "
        "sigmoid_cross_entropy_with_logits silu softmax softmax_cross_entropy_with_logits softplus softsign "
        "sparse_softmax_cross_entropy_with_logits swish=silu weighted_cross_entropy_with_logits",
        "elementwise": "sigmoid tanh",
        "linear_algebra": "l2_normalize",
        "indexing": "in_top_k top_k",
        "reductions": "zero_fraction",
        "windows": "avg_pool avg_pool1d avg_pool2d avg_pool3d conv1d conv1d_transpose conv2d conv2d_transpose "
        "convolution depthwise_conv2d max_pool max_pool1d max_pool2d max_pool3d pool separable_conv2d",
    },
)
