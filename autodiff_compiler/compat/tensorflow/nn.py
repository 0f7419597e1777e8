"""``tf.nn``."""

from .namespace import lazy

__getattr__, __dir__ = lazy(
    __name__,
    {
        "activations": "batch_normalization bias_add dropout embedding_lookup l2_loss moments "
        "sigmoid_cross_entropy_with_logits softmax_cross_entropy_with_logits "
        "sparse_softmax_cross_entropy_with_logits weighted_cross_entropy_with_logits",
        "indexing": "top_k",
        "windows": "avg_pool avg_pool1d avg_pool2d conv1d conv2d conv2d_transpose convolution depthwise_conv2d "
        "max_pool max_pool1d max_pool2d",
    },
)
