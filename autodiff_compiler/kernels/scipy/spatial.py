"""What the derivatives of `scipy.spatial` need and SciPy has no function for."""

from __future__ import annotations

from typing import Any

import numpy as np


def quaternions(rotation: Any) -> Any:
    """The quaternions of a `Rotation`."""
    return rotation.as_quat()


def nearest_rotation(a: Any) -> Any:
    """The rotation matrix at the smallest distance from each matrix of a stack."""
    u, _, vh = np.linalg.svd(a)
    mirrored = np.linalg.det(u @ vh) < 0
    u[..., :, -1] *= np.where(mirrored, -1.0, 1.0)[..., None]
    return u @ vh


def without_derivative(x: Any) -> Any:
    """A copy of the array. The derivative is nan, since what it stands for has none."""
    return np.array(x)
