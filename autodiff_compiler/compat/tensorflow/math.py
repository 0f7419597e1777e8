"""``tf.math``."""

from .namespace import lazy

__getattr__, __dir__ = lazy(
    __name__,
    {
        "elementwise": "add_n logical_not polygamma real reciprocal round",
        "reductions": "argmax argmin count_nonzero cumprod cumsum reduce_all reduce_any reduce_euclidean_norm "
        "reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_std reduce_sum reduce_variance "
        "segment_sum unsorted_segment_sum",
        "indexing": "top_k",
        "linear_algebra": "l2_normalize",
    },
)
