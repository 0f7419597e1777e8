"""`scipy.spatial`: what checks its arguments and has no derivative. The distances are definitions."""

from __future__ import annotations

import scipy.spatial.distance  # noqa: F401

from ...ir.types import PY_BOOL
from ..record import op
from . import spatial_rotation as spatial_rotation
from . import spatial_trees as spatial_trees

op("scipy.spatial.distance.is_valid_dm", "D, tol, throw, name, warning", type=lambda b, *args, **options: PY_BOOL,
   nondiff=True)  # fmt: skip
op("scipy.spatial.distance.is_valid_y", "y, warning, throw, name", type=lambda b, *args, **options: PY_BOOL,
   nondiff=True)  # fmt: skip
