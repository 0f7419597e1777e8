"""``tf.autodiff``."""

from .namespace import lazy

__getattr__, __dir__ = lazy(__name__, {"gradients": "GradientTape"})
