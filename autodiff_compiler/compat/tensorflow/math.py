"""``tf.math``."""

from .namespace import lazy

__getattr__, __dir__ = lazy(
    __name__,
    {
        "elementwise": "abs=abs_ acos acosh add add_n angle asin asinh atan atan2 atanh ceil "
        "conj cos cosh digamma divide divide_no_nan equal erf erfc exp expm1 floor floordiv floormod greater "
        "greater_equal imag is_finite is_inf is_nan less less_equal lgamma log log1p logical_and logical_not "
        "logical_or logical_xor maximum minimum mod multiply multiply_no_nan negative not_equal polygamma pow real "
        "reciprocal reciprocal_no_nan rint round rsqrt scalar_mul sigmoid sign sin sinh sqrt square squared_difference "
        "subtract tan tanh truediv xdivy xlog1py xlogy",
        "reductions": "argmax argmin count_nonzero cumprod cumsum reduce_all reduce_any reduce_euclidean_norm "
        "reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_std reduce_sum reduce_variance "
        "segment_sum unsorted_segment_sum",
        "indexing": "top_k",
        "linear_algebra": "l2_normalize",
        "activations": "log_sigmoid log_softmax softmax softplus softsign",
    },
)
