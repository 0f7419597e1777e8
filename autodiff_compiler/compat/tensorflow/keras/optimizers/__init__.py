"""Optimizers, and schedules of learning rates."""

from typing import Any

from ..names import public as _public
from . import schedules
from .adaptive import Adagrad, Adam, Adamax, AdamW, RMSprop
from .base import Optimizer
from .others import Adadelta, Ftrl, Lion, Nadam
from .sgd import SGD

__all__ = [
    "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "Ftrl", "Lion", "Nadam", "Optimizer", "RMSprop", "SGD", "get",
    "schedules",
]  # fmt: skip

_TABLE: dict[str, Any] = {
    c.__name__.lower(): c for c in (SGD, Adam, AdamW, RMSprop, Adagrad, Adamax, Adadelta, Nadam, Lion, Ftrl)
}


def get(identifier: Any) -> Optimizer:
    """The optimizer of this name, with its defaults, or the object itself.

    Raises ValueError for a name that there is not.
    """
    if isinstance(identifier, Optimizer):
        return identifier
    if isinstance(identifier, dict):  # a name and a configuration
        kind = _TABLE.get(str(identifier.get("class_name")).lower())
        if kind is not None:
            configured: Optimizer = kind.from_config(identifier.get("config", {}))
            return configured
    found = _TABLE.get(identifier.lower()) if isinstance(identifier, str) else None
    if found is None:
        raise ValueError(f"Could not interpret optimizer identifier: {identifier}")
    made: Optimizer = found()
    return made


__getattr__, __dir__ = _public("tf.keras.optimizers", __all__)
