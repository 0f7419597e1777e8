"""`scipy.spatial.transform`: the rotation nearest to a matrix. All else is defined in Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.core import Builder
from ...ir.ops_common import as_array
from ...ir.types import ANY, Ty, array
from ...kernels.scipy import spatial as kernels
from ..lib import call, part, swap
from ..record import elementwise, op, vjp

FLOAT = np.dtype(np.float64)


def _rotation_type(b: Builder, a: Any) -> Ty:
    t = as_array(b, a)
    return array(t.dtype, t.dims) if t.kind == "array" and t.dims is not None else ANY


op(kernels.quaternions, "rotation", type=lambda b, rotation: ANY, nondiff=True)
op(kernels.nearest_rotation, "a: array", type=_rotation_type)
elementwise(kernels.without_derivative, lambda out, x: float("nan"), singular=True)


def _matrix(rows: Any) -> Any:
    return call(np.stack, [call(np.stack, row, axis=-1) for row in rows], axis=-2)


@vjp(kernels.nearest_rotation, "a")
def _nearest_rotation(g: Any, out: Any, a: Any) -> Any:
    """A change of `out` is ``out @ W``, and the skew matrix W solves ``S @ W + W @ S == X`` for the symmetric matrix
    ``S = out.T @ a`` and the skew part X of a change of ``out.T @ a``. In three dimensions a skew matrix is a vector,
    and the equation has the matrix ``trace(S) * I - S``."""
    s, turned = swap(out) @ a, swap(out) @ g

    def entry(m: Any, i: int, j: int) -> Any:
        return part(m, (Ellipsis, i, j))

    x, y, z = entry(s, 0, 0), entry(s, 1, 1), entry(s, 2, 2)
    xy, xz, yz = -entry(s, 0, 1), -entry(s, 0, 2), -entry(s, 1, 2)
    system = _matrix([(y + z, xy, xz), (xy, x + z, yz), (xz, yz, x + y)])
    skew = turned - swap(turned)
    right = call(np.stack, [entry(skew, 2, 1), entry(skew, 0, 2), entry(skew, 1, 0)], axis=-1)
    vector = call(np.linalg.solve, system, part(right, (Ellipsis, None)))
    p, q, r = [part(vector, (Ellipsis, k, 0)) for k in range(3)]
    zero = call(np.zeros_like, p)
    return out @ _matrix([(zero, -r, q), (r, zero, -p), (-q, p, zero)])
