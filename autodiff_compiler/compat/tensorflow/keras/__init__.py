"""Keras' names for what small models on a tape need: layers, losses, two optimizers, models to subclass."""

from ...module_tables import public as _public
from . import activations, initializers, layers, losses, models, optimizers
from .layer import Layer
from .layers import Input
from .models import Model, Sequential

__all__ = [
    "Input", "Layer", "Model", "Sequential", "activations", "initializers", "layers", "losses", "models", "optimizers",
]  # fmt: skip

__version__ = "3.15.1"
__getattr__, __dir__ = _public("tf.keras", __all__)
