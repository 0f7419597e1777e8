"""``tf.config``: functions run eagerly."""

from .namespace import lazy

__getattr__, __dir__ = lazy(__name__, {"functions": "functions_run_eagerly run_functions_eagerly"})
