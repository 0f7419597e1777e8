"""``tf.math``."""

from .namespace import lazy

__getattr__, __dir__ = lazy(
    __name__,
    {
        "elementwise": "add_n logical_not polygamma real reciprocal round",
        "reductions": "reduce_euclidean_norm reduce_std",
        "indexing": "top_k",
    },
)
