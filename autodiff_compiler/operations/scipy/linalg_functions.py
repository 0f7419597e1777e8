"""Functions of matrices in `scipy.linalg`.

The derivative of a function at `a` towards `e` is a block of the function of a larger matrix:
``f([[a, e], [0, a]])[:n, n:]``. Its transpose is the derivative at the transposed matrix.

Reference: Higham, Functions of Matrices (2008), chapter 3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from ...ir.core import Builder
from ...ir.ops_common import must_equal
from ...ir.types import ANY, Ty, array
from .. import lib
from ..lib import call, ndim, part, swap
from ..linalg import inexact_dtype, square_type
from ..record import jvp, op, vjp
from .linalg_decompositions import matrix_type


def _expm_type(b: Builder, A: Any) -> Ty:
    return square_type(b, A)


op("scipy.linalg.expm", "A: array", type=_expm_type)


def _derivative(a: Any, e: Any) -> Any:
    """The derivative of the exponential at `a` towards `e`."""
    if ndim(a) == 2:
        return lib.at_shape(call(linalg.expm_frechet, a, e, compute_expm=False), a)
    return block(linalg.expm, a, e)


def block(fn: Any, a: Any, e: Any) -> Any:
    """The derivative of a function of matrices at `a` towards `e`."""
    n = lib.length(a, ndim(a) - 1)
    last = ndim(a) - 1
    above = call(np.concatenate, (a, e), axis=last)
    below = call(np.concatenate, (call(np.zeros_like, a), a), axis=last)
    both = call(np.concatenate, (above, below), axis=last - 1)
    return lib.at_shape(part(call(fn, both), (Ellipsis, slice(None, n), slice(n, None))), a)


@vjp(linalg.expm, "A")
def _expm(g: Any, out: Any, A: Any) -> Any:
    return _derivative(swap(A), g)


@jvp(linalg.expm, "A")
def _expm_jvp(d: Any, out: Any, A: Any) -> Any:
    return _derivative(A, d)


def _frechet_type(b: Builder, A: Any, E: Any, **options: Any) -> Ty:
    t, s = matrix_type(b, A), matrix_type(b, E)
    if t.dims is None or s.dims is None:
        return ANY
    must_equal(b, t.dims[0], t.dims[1])
    must_equal(b, t.dims[0], s.dims[0])
    must_equal(b, t.dims[1], s.dims[1])
    kind = inexact_dtype([t, s])
    return array(kind if kind in (np.float64, np.complex128) else None, t.dims)


# The definition calls it with ``compute_expm=False``: it has one result.
op("scipy.linalg.expm_frechet", "A: array, E: array, method, compute_expm, check_finite", type=_frechet_type)


@vjp(linalg.expm_frechet, "E", linear=True)
def _frechet_e(g: Any, out: Any, A: Any, E: Any, **options: Any) -> Any:
    return call(linalg.expm_frechet, swap(A), g, **options)


@vjp(linalg.expm_frechet, "A")
def _frechet_a(g: Any, out: Any, A: Any, E: Any, **options: Any) -> Any:
    """The second derivative, as the derivative at the matrix of blocks."""
    n = lib.length(A, 0)
    zero = call(np.zeros_like, A)
    rows = [(swap(A), zero), (swap(E), swap(A))]
    both = call(np.concatenate, [call(np.concatenate, row, axis=1) for row in rows])
    corner = call(np.concatenate, [call(np.concatenate, row, axis=1) for row in ((zero, g), (zero, zero))])
    bar = call(linalg.expm_frechet, both, corner, **options)
    return lib.at_shape(part(bar, (slice(None, n), slice(None, n))) + part(bar, (slice(n, None), slice(n, None))), A)


def _function_type(b: Builder, A: Any, *rest: Any, **options: Any) -> Ty:
    """The result is complex where the eigenvalues say so."""
    t = matrix_type(b, A)
    return ANY if t.dims is None else array(None, t.dims)


op("scipy.linalg.logm", "A: array, disp", type=_function_type)


@vjp(linalg.logm, "A")
def _logm(g: Any, out: Any, A: Any) -> Any:
    bar = block(linalg.logm, swap(A), g)
    return bar if lib.may_be_complex(A) else np.real(bar)


op("scipy.linalg.sqrtm", "A: array, disp, blocksize", type=_function_type)


@vjp(linalg.sqrtm, "A")
def _sqrtm(g: Any, out: Any, A: Any) -> Any:
    bar = call(linalg.solve_sylvester, swap(out), swap(out), g)
    return bar if lib.may_be_complex(A) else np.real(bar)
