"""Sparse matrices that are built by stores: `lil_matrix`, `dok_matrix` and the arrays of these formats.

The entries are kept in a dense array until the matrix is converted, with a mask of the places that were stored to. So
a store costs what one into an array costs, and the converted matrix has the stored places only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ...definitions import defines, refuse
from .sparse_matrices import Building, inside, is_integer, is_sparse


def _of_class(format: str, is_array: bool) -> Any:
    def make(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None) -> Any:
        if isinstance(arg1, Building) and arg1.format == format:
            x = arg1.copy() if copy else arg1
            dense, stored = x.dense, x.stored
            if dtype is not None and dense.dtype != dtype:
                stored = stored.copy()
            return Building(dense if dtype is None else dense.astype(dtype, copy=False), stored, format, is_array)
        if is_sparse(arg1):
            x = inside(arg1)
            dense = x.toarray()
            stored = np.zeros(dense.shape, dtype=bool)
            stored[x.rows(), x.columns()] = True
        elif isinstance(arg1, tuple):
            if len(arg1) != 2 or not is_integer(arg1[0]) or not is_integer(arg1[1]):
                refuse("this argument of a sparse matrix that is being built", "pass its shape")
            dense = np.zeros(arg1, dtype=np.float64 if dtype is None else dtype)
            stored = np.zeros(arg1, dtype=bool)
        else:
            dense = np.array(arg1)
            if np.ndim(dense) != 2:
                refuse("a sparse array that has not two axes", "use a dense array")
            stored = np.ones(dense.shape, dtype=bool)
        return Building(dense if dtype is None else dense.astype(dtype), stored, format, is_array)

    return make


for _format in ("lil", "dok"):
    defines(getattr(sp, _format + "_matrix"))(_of_class(_format, False))
    defines(getattr(sp, _format + "_array"))(_of_class(_format, True))
