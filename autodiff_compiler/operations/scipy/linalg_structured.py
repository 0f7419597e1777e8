"""`scipy.linalg`: discrete Riccati equations, powers and pseudoinverses, and what depends on a choice of basis.

Reference: Kao and Hennequin, Automatic differentiation of Sylvester, Lyapunov, and algebraic Riccati equations (2020).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from ...ir.core import Builder
from ...ir.types import ANY, PY_BOOL, Ty, array
from .. import decompositions, lib
from ..lib import call, part, swap
from ..record import Refused, op, refuses, vjp
from .linalg_decompositions import flag, folded, matrix_type


def _like(b: Builder, a: Any, *rest: Any, **options: Any) -> Ty:
    t = matrix_type(b, a)
    return ANY if t.dims is None else array(t.dtype, t.dims)


# --- Riccati equations ------------------------------------------------------------------------------------------------


def _riccati_type(b: Builder, a: Any, *rest: Any, **options: Any) -> Ty:
    t = matrix_type(b, a)
    return ANY if t.dims is None else array(np.float64 if t.dtype == np.float64 else None, t.dims)


op(
    "scipy.linalg.solve_discrete_are",
    "a: array, b: array, q: array, r: array, e: array, s: array, balanced",
    type=_riccati_type,
)


def _riccati(g: Any, x: Any, a: Any, b: Any, r: Any, e: Any = None, s: Any = None) -> tuple[Any, Any, Any]:
    """The feedback matrix, the closed loop, and the cotangent of `q`: that of Stein's equation of the closed loop."""
    lib.need_real("scipy.linalg.solve_discrete_are", a, b, r)
    seen = swap(b) @ x @ a
    feedback = call(linalg.solve, r + swap(b) @ x @ b, seen if s is None else seen + swap(s))
    closed = a - b @ feedback
    loop, bar = (closed, g) if e is None else of_states(e, closed, g)
    return feedback, closed, call(linalg.solve_discrete_lyapunov, loop, bar)


def of_states(e: Any, closed: Any, g: Any) -> tuple[Any, Any]:
    """The closed loop and the cotangent, where the matrix `e` stands before the next state or its derivative."""
    return call(linalg.solve, e, closed), call(linalg.solve, e, swap(call(linalg.solve, e, swap(g))))


@vjp(linalg.solve_discrete_are, "a")
def _riccati_a(g: Any, out: Any, a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, **options: Any) -> Any:
    _, closed, bar = _riccati(g, out, a, b, r, e, s)
    return out @ closed @ (bar + swap(bar))


@vjp(linalg.solve_discrete_are, "b")
def _riccati_b(g: Any, out: Any, a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, **options: Any) -> Any:
    feedback, closed, bar = _riccati(g, out, a, b, r, e, s)
    return -(out @ closed @ (bar + swap(bar)) @ swap(feedback))


@vjp(linalg.solve_discrete_are, "q")
def _riccati_q(g: Any, out: Any, a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, **options: Any) -> Any:
    return _riccati(g, out, a, b, r, e, s)[2]


@vjp(linalg.solve_discrete_are, "r")
def _riccati_r(g: Any, out: Any, a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, **options: Any) -> Any:
    feedback, _, bar = _riccati(g, out, a, b, r, e, s)
    return feedback @ bar @ swap(feedback)


@vjp(linalg.solve_discrete_are, "e")
def _riccati_e(g: Any, out: Any, a: Any, b: Any, q: Any, r: Any, e: Any, s: Any, **options: Any) -> Any:
    bar = _riccati(g, out, a, b, r, e, s)[2]
    return -(out @ e @ (bar + swap(bar)))


@vjp(linalg.solve_discrete_are, "s")
def _riccati_s(g: Any, out: Any, a: Any, b: Any, q: Any, r: Any, e: Any, s: Any, **options: Any) -> Any:
    feedback, _, bar = _riccati(g, out, a, b, r, e, s)
    return -((bar + swap(bar)) @ swap(feedback))


# --- powers and pseudoinverses ----------------------------------------------------------------------------------------


def _power_type(b: Builder, A: Any, t: Any) -> Ty:
    """Complex where the eigenvalues say so; for whole exponents in the dtype of the matrix."""
    found = matrix_type(b, A)
    return ANY if found.dims is None else array(None, found.dims)


op("scipy.linalg.fractional_matrix_power", "A: array, t", type=_power_type)


@vjp(linalg.fractional_matrix_power, "A")
def _power_matrix(g: Any, out: Any, A: Any, t: Any) -> Any:
    """A block of the power of a larger matrix."""
    a, n = swap(A), lib.length(A, 0)
    above = call(np.concatenate, (a, g), axis=1)
    below = call(np.concatenate, (call(np.zeros_like, a), a), axis=1)
    both = call(linalg.fractional_matrix_power, call(np.concatenate, (above, below)), t)
    bar = lib.at_shape(part(both, (slice(None, n), slice(n, None))), A)
    return bar if lib.may_be_complex(A) else np.real(bar)


@vjp(linalg.fractional_matrix_power, "t")
def _power_exponent(g: Any, out: Any, A: Any, t: Any) -> Any:
    return np.sum(np.real(g * (call(linalg.logm, A) @ out)))


op("scipy.linalg.pinvh", "a: array, *, lower: known", type=_like)


@vjp(linalg.pinvh, "a")
def _pinvh(g: Any, out: Any, a: Any, *, lower: Any = True) -> Any:
    lower = flag(lower, "lower")
    half = np.tril(a) if lower else np.triu(a)
    whole = half + swap(np.tril(a, -1) if lower else np.triu(a, 1))
    return folded(decompositions.pinv_pullback(g, out, whole), lower)


# --- bases and forms --------------------------------------------------------------------------------------------------


def _basis_type(b: Builder, A: Any, *rest: Any, **options: Any) -> Ty:
    t = matrix_type(b, A)
    return ANY if t.dims is None else array(t.dtype, (b.dims.fresh(), b.dims.fresh()))


op("scipy.linalg.null_space", "A: array, rcond, overwrite_a, check_finite, lapack_driver", type=_basis_type)
op("scipy.linalg.orth", "A: array, rcond", type=_basis_type)
refuses(
    linalg.null_space,
    Refused("the result of scipy.linalg.null_space is any basis of a space", "use the projection, I - pinv(A) @ A"),
    "A",
)
refuses(
    linalg.orth,
    Refused("the result of scipy.linalg.orth is any basis of a space", "use the projection, A @ pinv(A)"),
    "A",
)


def _forms_type(b: Builder, a: Any, *rest: Any, **options: Any) -> tuple[Ty, Ty]:
    t = matrix_type(b, a)
    made = ANY if t.dims is None else array(None, t.dims)
    return made, made


op("scipy.linalg.schur", "a: array, output, lwork, overwrite_a, sort, check_finite", type=_forms_type, nout=2)
refuses(
    linalg.schur,
    Refused(
        "the compiler knows no derivative of a Schur form, which is one of many",
        "use what it was for: eigvals, sqrtm, logm, or solve_sylvester",
    ),
    "a",
)

for _name in ("issymmetric", "ishermitian"):
    op(f"scipy.linalg.{_name}", "a: array, atol, rtol", type=lambda b, *args, **options: PY_BOOL, nondiff=True)
