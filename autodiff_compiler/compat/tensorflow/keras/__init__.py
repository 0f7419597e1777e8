"""Layers, models, losses, metrics and optimizers with Keras' names, over this package's `tf`."""

from . import activations, initializers, layers, losses, metrics, models, optimizers, regularizers, utils
from .layer import Layer
from .layers import Input
from .losses import Loss
from .metrics import Metric
from .models import Model, Sequential
from .names import clear as _clear
from .names import public as _public
from .optimizers import Optimizer
from .variables import Variable


class backend:
    """A few settings."""

    @staticmethod
    def epsilon() -> float:
        """What probabilities are kept away from 0 and 1."""
        return losses.EPSILON

    @staticmethod
    def floatx() -> str:
        """The dtype of weights and inputs, if none is given."""
        return "float32"

    @staticmethod
    def clear_session() -> None:
        """Count names of layers from the start."""
        _clear()

    image_data_format = staticmethod(lambda: "channels_last")


__all__ = [
    "Input", "Layer", "Loss", "Metric", "Model", "Optimizer", "Sequential", "Variable", "activations", "backend",
    "initializers", "layers", "losses", "metrics", "models", "optimizers", "regularizers", "utils",
]  # fmt: skip

_HINTS = {
    "datasets": "data do not come with it: sklearn.datasets.load_digits() gives real images",
    "callbacks": "write what has to happen between the steps into the training loop",
}
__getattr__, __dir__ = _public("tf.keras", __all__, _HINTS)
