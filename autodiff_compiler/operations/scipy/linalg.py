"""`scipy.linalg`: systems of equations. The module of the decompositions and that of the matrix functions are loaded
with it.

Definitions (`frontend.library.scipy.linalg`) have removed the flags that allow SciPy to write into its arguments. A
pullback passes on what says how to solve, so it uses the factor that the program has.

References: Giles, Collected matrix derivative results for forward and reverse mode AD (2008); Kao and Hennequin,
Automatic differentiation of Sylvester, Lyapunov, and algebraic Riccati equations (2020).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from ... import runtime
from ...ir.core import Builder, Value
from ...ir.ops_common import as_array, must_equal
from ...ir.types import ANY, Ty, array, generic
from ...kernels.scipy import linalg as kernels
from .. import lib
from ..lib import call, ndim, part, swap
from ..linalg import inexact_dtype, square_type
from ..record import jvp, op, passes_on, vjp
from . import linalg_decompositions, linalg_functions, linalg_structured
from .linalg_decompositions import flag, folded, matrix_type

_COLUMN = (slice(None), None)
_ROW = (None, slice(None))


def outer(y: Any, x: Any) -> Any:
    """``y @ x.T`` of two matrices, or of two vectors."""
    return part(y, _COLUMN) * part(x, _ROW) if ndim(y) == 1 else y @ swap(x)


# --- systems of equations ---------------------------------------------------------------------------------------------


def _solution_type(b: Builder, a: Any, b_: Any, *rest: Any, **options: Any) -> Ty:
    p, q = as_array(b, a), as_array(b, b_)
    if p.kind != "array" or q.kind != "array" or p.dims is None or q.dims is None:
        return ANY
    if len(p.dims) != 2 or len(q.dims) not in (1, 2):
        return ANY
    must_equal(b, p.dims[0], p.dims[1])
    must_equal(b, p.dims[0], q.dims[0])
    return array(inexact_dtype([p, q]), q.dims)


op(
    "scipy.linalg.solve",
    "a: array, b: array, lower: known, overwrite_a, overwrite_b, check_finite, assume_a, transposed: known",
    type=_solution_type,
    traits=frozenset({"solves"}),
)


@vjp(linalg.solve, "b", linear=True)
def _solve_b(g: Any, out: Any, a: Any, b: Any, **options: Any) -> Any:
    """A matrix that is told to be symmetric is its own transpose."""
    kept = {k: v for k, v in options.items() if k != "transposed"}
    if options.get("transposed", False) or options.get("assume_a") in _SYMMETRIC:
        return call(linalg.solve, a, g, **kept)
    if lib.may_be_complex(a) or options.get("assume_a") in _TRIANGULAR:
        kept = {**kept, "assume_a": _TRIANGULAR[options["assume_a"]]} if "assume_a" in kept else kept
        return call(linalg.solve, swap(a), g, **kept)  # SciPy transposes real matrices only
    return call(linalg.solve, a, g, transposed=True, **kept)


# What SciPy reads of the matrix.
_SYMMETRIC = ("sym", "symmetric", "her", "hermitian", "pos", "positive definite")
_PARTS = {"upper triangular": np.triu, "lower triangular": np.tril}
_TRIANGULAR = {
    "upper triangular": "lower triangular",
    "lower triangular": "upper triangular",
    **{name: name for name in ("diagonal", "tridiagonal")},
}


def _read(full: Any, a: Any, assume_a: Any = None, lower: Any = False, **rest: Any) -> Any:
    """The cotangent of the part of the matrix that is read."""
    if assume_a in _SYMMETRIC:
        lib.need_real(f"scipy.linalg.solve with assume_a={assume_a!r}", a)
        return folded(full, flag(lower, "lower"))
    if assume_a in _PARTS:
        return _PARTS[assume_a](full)
    if assume_a == "diagonal":
        return np.tril(np.triu(full))
    if assume_a == "tridiagonal":
        return np.tril(np.triu(full, -1), 1)
    return full


@vjp(linalg.solve, "a")
def _solve_a(g: Any, out: Any, a: Any, b: Any, **options: Any) -> Any:
    bar = _solve_b(g, out, a, b, **options)
    full = outer(out, bar) if options.get("transposed", False) else outer(bar, out)
    return _read(-full, a, **options)


@jvp(linalg.solve, "a")
def _solve_jvp(d: Any, out: Any, a: Any, b: Any, **options: Any) -> Any:
    if options.get("assume_a") not in (None, "gen", "general"):
        return NotImplemented
    return -call(linalg.solve, a, (swap(d) if options.get("transposed", False) else d) @ out, **options)


op("scipy.linalg.inv", "a: array, overwrite_a, check_finite", type=square_type)


@vjp(linalg.inv, "a")
def _inv(g: Any, out: Any, a: Any, **options: Any) -> Any:
    transposed = swap(out)
    return -(transposed @ g @ transposed)


@jvp(linalg.inv, "a")
def _inv_jvp(d: Any, out: Any, a: Any, **options: Any) -> Any:
    return -(out @ d @ out)


def _det_type(b: Builder, a: Any, *rest: Any, **options: Any) -> Ty:
    t = square_type(b, a)
    if t.dims is None or len(t.dims) != 2:
        return ANY
    return generic(t.dtype if t.dtype in (np.float64, np.complex128) else None)


op("scipy.linalg.det", "a: array, overwrite_a, check_finite", type=_det_type)


@vjp(linalg.det, "a")
def _det(g: Any, out: Any, a: Any, **options: Any) -> Any:
    return (g if ndim(g) == 0 else part(g, (Ellipsis, None, None))) * call(runtime.cofactors, a)


@jvp(linalg.det, "a")
def _det_jvp(d: Any, out: Any, a: Any, **options: Any) -> Any:
    return np.sum(call(runtime.cofactors, a) * d, axis=(-2, -1))


op(
    "scipy.linalg.solve_triangular",
    "a: array, b: array, trans: known, lower: known, unit_diagonal: known, overwrite_b, check_finite",
    type=_solution_type,
    traits=frozenset({"solves"}),
)


def _is_transposed(trans: Any, a: Any) -> bool:
    if trans in (2, "C"):
        lib.need_real(f"scipy.linalg.solve_triangular with trans={trans!r}", a)
    if isinstance(trans, Value):
        raise lib.unsupported("the derivative of scipy.linalg.solve_triangular needs a constant for trans")
    return trans not in (0, "N")


@vjp(linalg.solve_triangular, "b", linear=True)
def _triangular_b(g: Any, out: Any, a: Any, b: Any, trans: Any = 0, **options: Any) -> Any:
    if _is_transposed(trans, a):
        return call(linalg.solve_triangular, a, g, **options)
    return call(linalg.solve_triangular, a, g, trans=1, **options)


@vjp(linalg.solve_triangular, "a")
def _triangular_a(g: Any, out: Any, a: Any, b: Any, trans: Any = 0, **options: Any) -> Any:
    bar = _triangular_b(g, out, a, b, trans, **options)
    full = -(outer(out, bar) if _is_transposed(trans, a) else outer(bar, out))
    lower, unit = [flag(options.get(name, False), name) for name in ("lower", "unit_diagonal")]
    if unit:
        return np.tril(full, -1) if lower else np.triu(full, 1)
    return np.tril(full) if lower else np.triu(full)


# --- banded matrices and Toeplitz matrices ----------------------------------------------------------------------------


def _banded_type(b: Builder, l_and_u: Any, ab: Any, b_: Any, *rest: Any, **options: Any) -> Ty:
    p, q = as_array(b, ab), as_array(b, b_)
    if p.kind != "array" or q.kind != "array" or p.dims is None or q.dims is None or len(p.dims) != 2:
        return ANY
    if len(q.dims) not in (1, 2):
        return ANY
    must_equal(b, p.dims[1], q.dims[0])
    return array(inexact_dtype([p, q]), q.dims)


op("scipy.linalg.solve_banded", "l_and_u: known, ab: array, b: array, overwrite_ab, overwrite_b, check_finite",
   type=_banded_type, traits=frozenset({"solves"}))  # fmt: skip


def _moved(x: Any, step: int, axis: int = 0) -> Any:
    """``x[j + step]``, zero where there is no such element."""
    n = lib.length(x, axis)
    if step == 0:
        return x
    kept = part(x, lib.vector_index(axis, slice(step, None))) if step > 0 else x
    return lib.at_shape(call(runtime.embed, kept, axis, max(-step, 0), n), x)


def _widths(l_and_u: Any) -> tuple[int, int]:
    if isinstance(l_and_u, (tuple, list)) and len(l_and_u) == 2 and all(type(k) is int for k in l_and_u):
        return l_and_u[0], l_and_u[1]
    raise lib.unsupported(
        "the derivative of scipy.linalg.solve_banded needs constants for the numbers of diagonals",
        "write them as literals",
    )


def _transposed_bands(ab: Any, lower: int, upper: int) -> Any:
    """The diagonals of the transposed matrix."""
    rows = [_moved(part(ab, (lower + upper - k,)), k - lower) for k in range(lower + upper + 1)]
    return lib.at_shape(call(np.stack, rows), ab)


@vjp(linalg.solve_banded, "b", linear=True)
def _banded_b(g: Any, out: Any, l_and_u: Any, ab: Any, b: Any, **options: Any) -> Any:
    lower, upper = _widths(l_and_u)
    return call(linalg.solve_banded, (upper, lower), _transposed_bands(ab, lower, upper), g, **options)


@vjp(linalg.solve_banded, "ab")
def _banded_ab(g: Any, out: Any, l_and_u: Any, ab: Any, b: Any, **options: Any) -> Any:
    lower, upper = _widths(l_and_u)
    bar = -_banded_b(g, out, l_and_u, ab, b, **options)
    rows = [_moved(bar, k - upper) * out for k in range(lower + upper + 1)]
    if ndim(b) == 2:
        rows = [np.sum(row, axis=1) for row in rows]
    return lib.at_shape(call(np.stack, rows), ab)


op(
    kernels.banded_solution, "ab: array, b: array, diagonals: known, lower: known, check_finite",
    type=lambda b, ab, b_, *rest: _banded_type(b, None, ab, b_),
)  # fmt: skip


@vjp(kernels.banded_solution, "b", linear=True)
def _symmetric_b(g: Any, out: Any, ab: Any, b: Any, diagonals: Any, lower: Any, check_finite: Any) -> Any:
    lib.need_real("scipy.linalg.solveh_banded", ab)
    return call(kernels.banded_solution, ab, g, diagonals, lower, check_finite)


@vjp(kernels.banded_solution, "ab")
def _symmetric_ab(g: Any, out: Any, ab: Any, b: Any, diagonals: Any, lower: Any, check_finite: Any) -> Any:
    """An element beside the diagonal stands for two."""
    if isinstance(diagonals, Value) or isinstance(lower, Value):
        raise lib.unsupported(
            "the derivative of scipy.linalg.solveh_banded needs the number of diagonals",
            "use scipy.linalg.solve_banded",
        )
    bar = -_symmetric_b(g, out, ab, b, diagonals, lower, check_finite)
    rows = []
    for step in range(diagonals) if lower else range(1 - diagonals, 1):
        row = bar * out if step == 0 else _moved(bar, step) * out + _moved(out, step) * bar
        rows.append(np.sum(row, axis=1) if ndim(b) == 2 else row)
    return lib.at_shape(call(np.stack, rows), ab)


def _toeplitz_type(b: Builder, c: Any, r: Any, b_: Any, check_finite: Any = True) -> Ty:
    found = [as_array(b, x) for x in (c, r, b_)]
    if any(t.kind != "array" or t.dims is None or len(t.dims) != 1 for t in found):
        return ANY
    for t in found[1:]:
        must_equal(b, found[0].dims[0], t.dims[0])  # type: ignore[index]
    kind = inexact_dtype(found)
    return array(kind if kind in (np.float64, np.complex128) else None, found[0].dims)


op(kernels.toeplitz_solution, "c: array, r: array, b: array, check_finite", type=_toeplitz_type)


@vjp(kernels.toeplitz_solution, "b", linear=True)
def _toeplitz_b(g: Any, out: Any, c: Any, r: Any, b: Any, check_finite: Any = True) -> Any:
    corner = (slice(None, 1),)
    others = (slice(1, None),)
    first = call(np.concatenate, (part(c, corner), part(r, others)))
    return call(kernels.toeplitz_solution, lib.at_shape(first, r), c, g, check_finite)


def _diagonal_sums(g: Any, out: Any, *operands: Any) -> Any:
    """The sums over the diagonals of the cotangent of the matrix, from the upper right corner."""
    bar = _toeplitz_b(g, out, *operands)
    return -call(np.convolve, bar, call(np.flip, out))


@vjp(kernels.toeplitz_solution, "c")
def _toeplitz_c(g: Any, out: Any, c: Any, r: Any, b: Any, check_finite: Any = True) -> Any:
    sums = _diagonal_sums(g, out, c, r, b, check_finite)
    return lib.at_shape(part(sums, (slice(lib.length(c, 0) - 1, None),)), c)


@vjp(kernels.toeplitz_solution, "r")
def _toeplitz_r(g: Any, out: Any, c: Any, r: Any, b: Any, check_finite: Any = True) -> Any:
    sums = _diagonal_sums(g, out, c, r, b, check_finite)
    above = call(np.flip, part(sums, (slice(None, lib.length(r, 0) - 1),)))  # the first element is not read
    return lib.at_shape(call(runtime.embed, above, 0, 1, lib.length(r, 0)), r)


# --- matrix equations -------------------------------------------------------------------------------------------------


def _sylvester_type(b: Builder, a: Any, b_: Any, q: Any) -> Ty:
    found = [as_array(b, x) for x in (a, b_, q)]
    if any(t.kind != "array" or t.dims is None or len(t.dims) != 2 for t in found):
        return ANY
    (p, r, t) = [t.dims for t in found]
    assert p is not None and r is not None and t is not None
    for x, y in ((p[0], p[1]), (r[0], r[1]), (p[0], t[0]), (r[0], t[1])):
        must_equal(b, x, y)
    return array(inexact_dtype(found), t)


op("scipy.linalg.solve_sylvester", "a: array, b: array, q: array", type=_sylvester_type)


@vjp(linalg.solve_sylvester, "q", linear=True)
def _sylvester_q(g: Any, out: Any, a: Any, b: Any, q: Any) -> Any:
    return call(linalg.solve_sylvester, swap(a), swap(b), g)


@vjp(linalg.solve_sylvester, "a")
def _sylvester_a(g: Any, out: Any, a: Any, b: Any, q: Any) -> Any:
    return -(_sylvester_q(g, out, a, b, q) @ swap(out))


@vjp(linalg.solve_sylvester, "b")
def _sylvester_b(g: Any, out: Any, a: Any, b: Any, q: Any) -> Any:
    return -(swap(out) @ _sylvester_q(g, out, a, b, q))


def _stein_type(b: Builder, a: Any, q: Any, method: Any = None) -> Ty:
    t, s = matrix_type(b, a), matrix_type(b, q)
    if t.dims is None or s.dims is None:
        return ANY
    must_equal(b, t.dims[0], t.dims[1])
    must_equal(b, t.dims[0], s.dims[0])
    must_equal(b, t.dims[1], s.dims[1])
    return array(np.float64 if t.dtype == s.dtype == np.float64 else None, t.dims)


op("scipy.linalg.solve_discrete_lyapunov", "a: array, q: array, method", type=_stein_type)


@vjp(linalg.solve_discrete_lyapunov, "q", linear=True)
def _stein_q(g: Any, out: Any, a: Any, q: Any, **options: Any) -> Any:
    lib.need_real("scipy.linalg.solve_discrete_lyapunov", a, q)
    return call(linalg.solve_discrete_lyapunov, swap(a), g, **options)


@vjp(linalg.solve_discrete_lyapunov, "a")
def _stein_a(g: Any, out: Any, a: Any, q: Any, **options: Any) -> Any:
    bar = _stein_q(g, out, a, q, **options)
    return bar @ a @ swap(out) + swap(bar) @ a @ out


def _riccati_type(b: Builder, a: Any, *rest: Any, **options: Any) -> Ty:
    t = matrix_type(b, a)
    return ANY if t.dims is None else array(np.float64 if t.dtype == np.float64 else None, t.dims)


op(
    "scipy.linalg.solve_continuous_are",
    "a: array, b: array, q: array, r: array, e: array, s: array, balanced",
    type=_riccati_type,
)


def _riccati(g: Any, x: Any, a: Any, b: Any, r: Any, e: Any = None, s: Any = None) -> tuple[Any, Any, Any]:
    """The feedback matrix, the closed loop, and the cotangent of `q`: that of the equation, for the closed loop."""
    lib.need_real("scipy.linalg.solve_continuous_are", a, b, r)
    seen = x if e is None else x @ e
    feedback = call(linalg.solve, r, swap(b) @ seen if s is None else swap(b) @ seen + swap(s))
    closed = a - b @ feedback
    loop, bar = (closed, g) if e is None else linalg_structured.of_states(e, closed, g)
    return feedback, closed, call(linalg.solve_sylvester, loop, swap(loop), -bar)


@vjp(linalg.solve_continuous_are, "a")
def _riccati_a(g: Any, out: Any, a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, **options: Any) -> Any:
    bar = _riccati(g, out, a, b, r, e, s)[2]
    return (out if e is None else out @ e) @ (bar + swap(bar))


@vjp(linalg.solve_continuous_are, "b")
def _riccati_b(g: Any, out: Any, a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, **options: Any) -> Any:
    feedback, _, bar = _riccati(g, out, a, b, r, e, s)
    return -((out if e is None else out @ e) @ (bar + swap(bar)) @ swap(feedback))


@vjp(linalg.solve_continuous_are, "q")
def _riccati_q(g: Any, out: Any, a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, **options: Any) -> Any:
    return _riccati(g, out, a, b, r, e, s)[2]


@vjp(linalg.solve_continuous_are, "r")
def _riccati_r(g: Any, out: Any, a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, **options: Any) -> Any:
    feedback, _, bar = _riccati(g, out, a, b, r, e, s)
    return feedback @ bar @ swap(feedback)


@vjp(linalg.solve_continuous_are, "e")
def _riccati_e(g: Any, out: Any, a: Any, b: Any, q: Any, r: Any, e: Any, s: Any, **options: Any) -> Any:
    _, closed, bar = _riccati(g, out, a, b, r, e, s)
    return out @ closed @ (bar + swap(bar))


@vjp(linalg.solve_continuous_are, "s")
def _riccati_s(g: Any, out: Any, a: Any, b: Any, q: Any, r: Any, e: Any, s: Any, **options: Any) -> Any:
    feedback, _, bar = _riccati(g, out, a, b, r, e, s)
    return -((bar + swap(bar)) @ swap(feedback))


op(kernels.finite, "a: array", type=lambda b, a: as_array(b, a), alias="view")
passes_on(kernels.finite, "a", linear=True)

# --- matrices of known entries ----------------------------------------------------------------------------------------


def _square_of(n: Any, dtype: Any) -> Ty:
    return array(dtype, (n, n) if type(n) is int else None) if type(n) is int else ANY


def _constant(kind: Any) -> Any:
    return lambda b, n, *rest, **options: _square_of(n, kind if not rest and not options else None)


for _name, _kind in (("hilbert", np.float64), ("dft", np.complex128), ("hadamard", None), ("invhilbert", None),
                     ("pascal", None), ("invpascal", None)):  # fmt: skip
    op(f"scipy.linalg.{_name}", "n, *options", type=_constant(None if _kind is None else np.dtype(_kind)), nondiff=True)

__all__ = ["linalg_decompositions", "linalg_functions", "linalg_structured", "outer"]
