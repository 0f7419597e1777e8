"""The module ``torch.nn.utils``: gradients clipped, parameters as one vector."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import Base, make
from ..shaping import cat


def _grads(parameters: Any) -> list[Any]:
    given = [parameters] if isinstance(parameters, Base) else list(parameters)
    return [p._grad for p in given if p._grad is not None]


def clip_grad_norm_(parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Any:
    """Scale all gradients so that their common norm is at most `max_norm`; the norm from before is returned."""
    grads = _grads(parameters)
    if not grads:
        return make(np.zeros((), np.float32))
    norms = [np.linalg.norm(g._value.ravel(), norm_type) for g in grads]
    total = np.linalg.norm(np.array(norms), norm_type)
    if error_if_nonfinite and not np.isfinite(total):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot "
            f"be clipped."
        )
    scale = min(float(max_norm) / (float(total) + 1e-6), 1.0)
    for g in grads:
        g._value *= g._value.dtype.type(scale)
        g._memory.written()
    return make(np.asarray(total, grads[0]._value.dtype))


def clip_grad_value_(parameters: Any, clip_value: float) -> None:
    """Clip each element of the gradients."""
    for g in _grads(parameters):
        np.clip(g._value, -clip_value, clip_value, out=g._value)
        g._memory.written()


def parameters_to_vector(parameters: Any) -> Any:
    """All parameters as one vector."""
    return cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Any, parameters: Any) -> None:
    """Give the parameters the values in a vector."""
    at = 0
    for p in parameters:
        n = p._value.size
        p.data = vec[at : at + n].detach().clone().view_as(p)
        at += n


MEMBERS = {f.__name__: f for f in (clip_grad_norm_, clip_grad_value_, parameters_to_vector, vector_to_parameters)}
