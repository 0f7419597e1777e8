"""The module ``torch.optim``: optimizers and schedules of learning rates."""

from __future__ import annotations

from typing import Any

from ...space import namespace, public
from . import cycles, methods, schedules
from .lbfgs import LBFGS
from .optimizer import Optimizer

_MEMBERS: dict[str, Any] = {
    **methods.METHODS,
    "LBFGS": LBFGS,
    "Optimizer": Optimizer,
    "lr_scheduler": namespace(
        f"{__name__}.lr_scheduler", "Schedules of learning rates.", {**schedules.MEMBERS, **cycles.MEMBERS}
    ),
}
globals().update(_MEMBERS)
__getattr__, __dir__ = public(__name__, _MEMBERS)
