"""The module ``torch.optim``: gradient descent and Adam."""

from __future__ import annotations

from typing import Any

from ...module_tables import public
from .methods import SGD, Adam
from .optimizer import Optimizer

_MEMBERS: dict[str, Any] = {"Adam": Adam, "Optimizer": Optimizer, "SGD": SGD}
__all__ = sorted(_MEMBERS)
__getattr__, __dir__ = public(__name__, _MEMBERS)
