"""Functions of stacks of matrices. Some matrices may be singular."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dispatch import dispatched


@dispatched
def inverse(a: Any) -> Any:
    """``np.linalg.inv(a)``, nan for matrices without an inverse."""
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        if np.ndim(a) == 2:
            return np.full_like(np.linalg.det(a), np.nan, shape=np.shape(a))
        return np.stack([inverse(x) for x in a])


@dispatched
def cofactors(a: Any) -> Any:
    """The derivative of ``np.linalg.det``, also at a singular matrix."""
    try:
        return np.linalg.det(a)[..., None, None] * np.swapaxes(np.linalg.inv(a), -1, -2)
    except np.linalg.LinAlgError:
        u, s, vh = np.linalg.svd(a)
        others = np.prod(np.where(np.eye(s.shape[-1], dtype=bool), 1, s[..., None, :]), axis=-1)
        sign = np.linalg.det(u) * np.linalg.det(vh)
        return sign[..., None, None] * ((u.conj() * others[..., None, :]) @ vh.conj())
