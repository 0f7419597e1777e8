"""Random numbers written into tensors, and new tensors in the dtype of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..operations import creation
from ..operations.creation import rng
from .conversion import tensor
from .core import make, named
from .made import FUNCTIONS as MADE
from .tensor import Tensor, method


def manual_seed(seed: int) -> None:
    """Start the random numbers over from a seed. They are NumPy's numbers, not PyTorch's.

    >>> from autodiff_compiler.compat import torch
    >>> torch.manual_seed(0)
    >>> a = torch.rand(3)
    >>> torch.manual_seed(0)
    >>> torch.equal(a, torch.rand(3))
    True
    """
    creation.seed(seed)


def _fill(name: str, draw: Callable[..., Any]) -> None:
    def write(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self.copy_(make(np.asarray(draw(rng(), self._value.shape, *args, **kwargs))))

    method(name, named(name, write, f"Fill the tensor with random numbers: `{name[:-1]}`."))


_fill("uniform_", lambda g, shape, low=0.0, to=1.0: g.uniform(low, to, shape))
_fill("normal_", lambda g, shape, mean=0.0, std=1.0: g.normal(mean, std, shape))
for _f in (MADE["zeros"], MADE["ones"], MADE["full"], tensor):
    method(f"new_{_f.__name__}", lambda self, *n, dtype=None, _f=_f, **o: _f(*n, dtype=dtype or self.dtype, **o))
method("new_empty", getattr(Tensor, "new_zeros"))  # noqa: B009
FUNCTIONS: dict[str, Callable[..., Any]] = {"manual_seed": manual_seed}
