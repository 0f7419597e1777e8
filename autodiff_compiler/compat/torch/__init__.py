"""PyTorch's eager programs on NumPy: tensors that record what is computed with them, and `backward`.

``from autodiff_compiler.compat import torch`` takes the place of ``import torch``. Derivatives come from the
compiler's rules: the operations behind a target are replayed, differentiated and compiled once for each structure.
"""

from __future__ import annotations

import math
from typing import Any

from ..space import namespace, public
from . import (
    arithmetic,
    autograd,
    conversion,
    creation,
    dtypes,
    elementwise,
    indexing,
    modes,
    printing,
    reductions,
    serialization,
    shaping,
)
from . import (
    datasets as _data,
)
from . import (
    fourier as _fft,
)
from . import (
    matrices as _linalg,
)
from . import (
    nn as _nn,
)
from . import (
    optim as _optim,
)
from . import (
    probability as _probability,
)
from . import (
    special_functions as _special,
)
from . import (
    tensor as _tensor,
)
from . import (
    transforms as _func,
)

_MEMBERS: dict[str, Any] = {d.name: d for d in dtypes.ALL}
_MEMBERS.update(dtypes.ALIASES)
for _part in (arithmetic, conversion, creation, elementwise, indexing, _linalg, reductions, shaping):
    _MEMBERS.update(_part.FUNCTIONS)
_MEMBERS.update({n: f for n, f in elementwise.IN_PLACE.items() if n not in ("absolute_", "sgn_", "sign_")})
_MEMBERS.update({n: getattr(_tensor.Tensor, n) for n in ("neg_", "zero_", "fill_", "detach_", "index_put_")})
for _name in (
    "dtype", "finfo", "iinfo", "get_default_dtype", "set_default_dtype", "promote_types", "can_cast",
):  # fmt: skip
    _MEMBERS[_name] = getattr(dtypes, _name)
for _name in (
    "no_grad", "enable_grad", "set_grad_enabled", "inference_mode", "is_grad_enabled", "is_inference_mode_enabled",
):  # fmt: skip
    _MEMBERS[_name] = getattr(modes, _name)
_MEMBERS.update(
    Tensor=_tensor.Tensor, Size=_tensor.Size, device=_tensor.device, is_tensor=_tensor.is_tensor,
    Generator=creation.Generator, set_printoptions=printing.set_printoptions, autograd=autograd,
    numel=lambda input: input.numel(), is_floating_point=lambda input: input.is_floating_point(),
    is_complex=lambda input: input.is_complex(), pi=math.pi, e=math.e, inf=math.inf, nan=math.nan, newaxis=None,
    vmap=_func.vmap, set_default_device=_tensor.check_device, get_default_device=lambda: _tensor.device(),
    save=serialization.save, load=serialization.load, __version__="2.13.0",
)  # fmt: skip
_MEMBERS["linalg"] = namespace(f"{__name__}.linalg", "Matrices.", _linalg.MODULE)
_MEMBERS["nn"] = _nn
_MEMBERS["optim"] = _optim
_MEMBERS["utils"] = namespace(
    f"{__name__}.utils",
    "Helpers.",
    {"data": namespace(f"{__name__}.utils.data", "Datasets and batches.", _data.MEMBERS)},
)
_MEMBERS["cuda"] = namespace(
    f"{__name__}.cuda", "There is none.", {"is_available": lambda: False, "device_count": lambda: 0}
)
_MEMBERS["distributions"] = namespace(f"{__name__}.distributions", "Distributions.", _probability.MEMBERS)
_MEMBERS["fft"] = namespace(f"{__name__}.fft", "Fourier transforms.", _fft.MEMBERS)
_MEMBERS["special"] = namespace(f"{__name__}.special", "Special functions.", _special.MEMBERS)
_MEMBERS["func"] = namespace(f"{__name__}.func", "Transforms of functions.", _func.MEMBERS)
globals().update(_MEMBERS)
__all__ = sorted(n for n in _MEMBERS if not n.startswith("_"))
__getattr__, __dir__ = public(__name__, _MEMBERS)
