"""The module ``torch.nn``: modules, layers, activations, losses."""

from __future__ import annotations

from typing import Any

from ...module_tables import namespace, public
from ..made import SPACES
from ..tensor import Parameter
from . import functions, layers, losses, modules

_FUNCTIONAL = {**SPACES["nn.functional"], **functions.FUNCTIONS, **losses.FUNCTIONS}
_MEMBERS: dict[str, Any] = {
    **modules.MEMBERS, **layers.MEMBERS, "Parameter": Parameter,
    "functional": namespace(f"{__name__}.functional", "Functions of networks.", _FUNCTIONAL),
}  # fmt: skip
globals().update(_MEMBERS)
__getattr__, __dir__ = public(__name__, _MEMBERS)
