"""``tf.nn``."""

from .namespace import lazy

__getattr__, __dir__ = lazy(
    __name__,
    {
        "cross_entropy": "sigmoid_cross_entropy_with_logits softmax_cross_entropy_with_logits "
        "sparse_softmax_cross_entropy_with_logits",
        "indexing": "embedding_lookup",
        "random": "dropout",
    },
)
