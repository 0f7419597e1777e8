"""``tf.math``."""

from .namespace import lazy

__getattr__, __dir__ = lazy(__name__, {"linear_algebra": "reduce_euclidean_norm reduce_std"})
