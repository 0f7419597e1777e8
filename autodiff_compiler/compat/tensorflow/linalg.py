"""``tf.linalg``."""

from .namespace import lazy

__getattr__, __dir__ = lazy(__name__, {"linear_algebra": "einsum global_norm matmul norm"})
