"""The module ``torch.nn``: modules, layers, losses."""

from __future__ import annotations

from typing import Any

from ...space import namespace, public
from ..tensor import Parameter
from . import attention as _attention
from . import basics as _functional
from . import clipping as _utils
from . import initial as _init
from . import layers
from . import modules as _modules
from . import normalisation as _normalisation
from . import rearranging as _rearranging
from . import recurrent as _recurrent

_MEMBERS: dict[str, Any] = {
    **_modules.MEMBERS,
    **layers.MEMBERS,
    **_normalisation.MEMBERS,
    **_recurrent.MEMBERS,
    **_attention.MEMBERS,
    **_rearranging.MEMBERS,
    "Parameter": Parameter,
    "functional": namespace(
        f"{__name__}.functional", "Functions of networks.", {**_functional.MEMBERS, **_rearranging.FUNCTIONS}
    ),
    "init": namespace(f"{__name__}.init", "First values of parameters.", _init.MEMBERS),
    "utils": namespace(f"{__name__}.utils", "Helpers for gradients and parameters.", _utils.MEMBERS),
}
globals().update(_MEMBERS)
__getattr__, __dir__ = public(__name__, _MEMBERS)
