"""Layers, models, losses, metrics and optimizers with Keras' names, over this package's `tf`."""

from . import (
    activations,
    backend,
    callbacks,
    constraints,
    initializers,
    layers,
    losses,
    metrics,
    models,
    ops,
    optimizers,
    preprocessing,
    random,
    regularizers,
    utils,
)
from .layer import Layer
from .layers import Input
from .losses import Loss
from .metrics_base import Metric
from .models import Model, Sequential
from .names import public as _public
from .optimizers import Optimizer
from .variables import Variable

__all__ = [
    "Input", "Layer", "Loss", "Metric", "Model", "Optimizer", "Sequential", "Variable", "activations", "backend",
    "callbacks", "constraints", "initializers", "layers", "losses", "metrics", "models", "ops", "optimizers",
    "preprocessing", "random",
    "regularizers", "utils",
]  # fmt: skip

__version__ = "3.15.1"

_HINTS = {
    "datasets": "data do not come with it: sklearn.datasets.load_digits() gives real images",
}
__getattr__, __dir__ = _public("tf.keras", __all__, _HINTS)
