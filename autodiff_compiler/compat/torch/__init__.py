"""PyTorch's eager programs on NumPy: tensors that record what is computed with them, and `backward`.

``from autodiff_compiler.compat import torch`` takes the place of ``import torch``. Derivatives come from the
compiler's rules: the operations behind a target are replayed, differentiated and compiled once for each structure.
"""

from __future__ import annotations

import math
from typing import Any

from ..module_tables import namespace, public
from . import (
    autograd,
    conversion,
    creation,
    dtypes,
    functional,
    made,
    matrices,
    modes,
    operators,
    shaping,
    tensor,
    transforms,
)
from . import nn as _nn
from . import optim as _optim

autograd.functional = namespace(f"{autograd.__name__}.functional", "Derivatives of functions.", functional.FUNCTIONAL)
_MEMBERS: dict[str, Any] = {d.name: d for d in dtypes.ALL}
_MEMBERS.update(dtypes.ALIASES)
for _part in (made, operators, conversion, creation, matrices, shaping):
    _MEMBERS.update(_part.FUNCTIONS)
for _owner, _names in (
    (tensor.Tensor, "neg_ zero_ fill_ detach_"),
    (tensor, "Tensor Size device is_tensor"),
    (dtypes, "dtype get_default_dtype set_default_dtype promote_types can_cast"),
    (modes, "no_grad enable_grad set_grad_enabled inference_mode is_grad_enabled"),
):
    _MEMBERS.update({n: getattr(_owner, n) for n in _names.split()})
_MEMBERS.update(
    autograd=autograd,
    numel=lambda input: input.numel(), is_floating_point=lambda input: input.is_floating_point(),
    is_complex=lambda input: input.is_complex(), pi=math.pi, e=math.e, inf=math.inf, nan=math.nan, newaxis=None,
    vmap=transforms.vmap, __version__="2.13.0", nn=_nn, optim=_optim,
    linalg=namespace(f"{__name__}.linalg", "Matrices.", matrices.MODULE),
    cuda=namespace(f"{__name__}.cuda", "There is none.", {"is_available": lambda: False, "device_count": lambda: 0}),
    func=namespace(f"{__name__}.func", "Transforms of functions.", transforms.FUNC),
    special=namespace(f"{__name__}.special", "Special functions.", made.SPACES["special"]),
)  # fmt: skip
globals().update(_MEMBERS)
__all__ = sorted(n for n in _MEMBERS if not n.startswith("_"))
__getattr__, __dir__ = public(__name__, _MEMBERS)
