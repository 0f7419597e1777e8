"""``tf.math``."""

from .namespace import lazy

__getattr__, __dir__ = lazy(__name__, {"shaping": "add_n", "norms": "reduce_euclidean_norm reduce_std"})
