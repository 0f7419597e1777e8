"""The module ``torch.nn.utils``: gradients clipped by their norm."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import Base, make


def clip_grad_norm_(parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Any:
    """Scale all gradients so that their common norm is at most `max_norm`; the norm from before is returned."""
    grads = [p._grad for p in ([parameters] if isinstance(parameters, Base) else parameters) if p._grad is not None]
    if not grads:
        return make(np.zeros((), np.float32))
    norms = [np.linalg.norm(g._value.ravel(), norm_type) for g in grads]
    total = np.linalg.norm(np.array(norms), norm_type)
    if error_if_nonfinite and not np.isfinite(total):
        raise RuntimeError(f"The total norm of order {norm_type} is non-finite, so the gradients cannot be clipped.")
    scale = min(float(max_norm) / (float(total) + 1e-6), 1.0)
    for g in grads:
        g._value *= g._value.dtype.type(scale)
        g._memory.written()
    return make(np.asarray(total, grads[0]._value.dtype))
