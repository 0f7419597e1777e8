"""`scipy.linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import linalg, stats

import autodiff_compiler as ad
from autodiff_compiler.errors import AutodiffError
from autodiff_compiler.kernels.scipy import linalg as kernels
from autodiff_compiler.operations.check import check_rule
from tests.differences import differences
from tests.operations.scipy.harness import check_case, load, without_case

load("linalg")
RNG = np.random.default_rng(7)
M = RNG.normal(size=(3, 3)) + 2 * np.eye(3)
S = M @ M.T + np.eye(3)
D = np.diag([1.0, 2.0, 4.0]) + 0.1 * (M + M.T)
T = RNG.normal(size=(4, 3))
B = RNG.normal(size=(3, 2))
V = RNG.normal(size=3)
W = RNG.normal(size=4)
BANDS = RNG.normal(size=(4, 5)) + np.array([0.0, 0.0, 5.0, 0.0])[:, None]
X5 = RNG.normal(size=5)
H5 = np.array([[0.0, 0.0, 0.5, 0.4, -0.2], [0.0, 1.0, -0.7, 0.3, 0.9], [4.0, 5.0, 6.0, 5.0, 4.0]])
C5 = RNG.normal(size=5) + 4 * np.eye(5)[0]

CASES: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (linalg.solve, (M, V), {}),
    (linalg.solve, (M, B), {}),
    (linalg.solve, (M, B), {"transposed": True, "overwrite_a": True, "overwrite_b": True}),
    (linalg.solve, (M, V), {"transposed": True, "check_finite": False}),
    (linalg.solve, (S, V), {"assume_a": "pos"}),
    (linalg.solve, (S, B), {"assume_a": "sym", "lower": True}),
    (linalg.solve, (S, B), {"assume_a": "gen"}),
    (linalg.inv, (M,), {"overwrite_a": True}),
    (linalg.det, (M,), {}),
    (linalg.det, (M - M,), {}),
    (linalg.solve_triangular, (M, V), {}),
    (linalg.solve_triangular, (M, B), {"lower": True}),
    (linalg.solve_triangular, (M, B), {"trans": 1, "unit_diagonal": True}),
    (linalg.solve_triangular, (M, V), {"trans": "T", "lower": True, "overwrite_b": True}),
    (linalg.solve_triangular, (M, V), {"trans": "C"}),
    (linalg.solve_banded, ((1, 2), BANDS, X5), {"overwrite_ab": True}),
    (linalg.solve_banded, ((2, 1), BANDS[[2, 1, 2, 3]] + BANDS, RNG.normal(size=(5, 2))), {}),
    (linalg.solve_banded, ((0, 0), BANDS[2:3], X5), {}),
    (linalg.solveh_banded, (H5, X5), {}),
    (linalg.solveh_banded, (H5[::-1], RNG.normal(size=(5, 2))), {"lower": True}),
    (linalg.solve_toeplitz, ((C5, RNG.normal(size=5)), X5), {}),
    (linalg.solve_toeplitz, (C5, X5), {"check_finite": False}),
    (linalg.solve_sylvester, (M, RNG.normal(size=(2, 2)), B), {}),
    (linalg.solve_continuous_lyapunov, (M, S), {}),
    (linalg.solve_lyapunov, (M, S), {}),
    (linalg.solve_discrete_lyapunov, (M / 9, S), {}),
    (linalg.solve_discrete_lyapunov, (M / 9, S), {"method": "bilinear"}),
    (linalg.cholesky, (S,), {}),
    (linalg.cholesky, (S,), {"lower": True, "overwrite_a": True}),
    (linalg.cho_factor, (S,), {}),
    (linalg.lu_factor, (M,), {}),
    (linalg.lu, (M,), {}),
    (linalg.lu, (M[[2, 0, 1]],), {"permute_l": True}),
    (linalg.qr, (M,), {}),
    (linalg.qr, (T,), {"mode": "economic"}),
    (linalg.qr, (T,), {"mode": "r"}),
    (linalg.qr, (T.T,), {"mode": "r"}),
    (linalg.svd, (T,), {"full_matrices": False}),
    (linalg.svd, (M,), {}),
    (linalg.svd, (T,), {"compute_uv": False}),
    (linalg.svdvals, (T,), {}),
    (linalg.eigh, (D,), {"eigvals_only": True}),
    (linalg.eigh, (D, S), {}),
    (linalg.eigh, (S + M + M.T, S), {"lower": False, "eigvals_only": True}),
    (linalg.eigvalsh, (S,), {}),
    (linalg.eigvalsh, (S, 2 * S + np.diag(V)), {}),
    (linalg.eigvalsh_tridiagonal, (C5, W), {}),
    (linalg.eigh_tridiagonal, (np.arange(5.0), W), {"eigvals_only": True}),
    (linalg.polar, (M,), {}),
    (linalg.polar, (T,), {}),
    (linalg.polar, (M,), {"side": "left"}),
    (linalg.pinv, (T,), {}),
    (linalg.pinv, (T.T,), {}),
    (linalg.norm, (T,), {}),
    (linalg.norm, (V,), {}),
    (linalg.norm, (T,), {"ord": 2}),
    (linalg.norm, (T,), {"ord": "nuc"}),
    (linalg.norm, (T,), {"ord": 1}),
    (linalg.norm, (T,), {"ord": -np.inf}),
    (linalg.norm, (T,), {"ord": 3, "axis": 1}),
    (linalg.norm, (T,), {"ord": "fro", "keepdims": True}),
    (linalg.expm, (M,), {}),
    (linalg.expm, (np.stack([M, S / 4]),), {}),
    (linalg.expm_frechet, (M, S), {}),
    (linalg.expm_frechet, (M, S), {"compute_expm": False}),
    (linalg.logm, (S,), {}),
    (linalg.sqrtm, (S,), {}),
    (linalg.cosm, (M,), {}),
    (linalg.sinm, (M,), {}),
    (linalg.tanm, (M / 4,), {}),
    (linalg.coshm, (M,), {}),
    (linalg.sinhm, (M,), {}),
    (linalg.tanhm, (M,), {}),
    (linalg.block_diag, (M, T, V), {}),
    (linalg.toeplitz, (V, W), {}),
    (linalg.toeplitz, (V,), {}),
    (linalg.circulant, (V,), {}),
    (linalg.hankel, (V, W), {}),
    (linalg.hankel, (V,), {}),
    (linalg.khatri_rao, (T, B.T @ M), {}),
]
CASES += [
    (linalg.companion, (C5,), {}),
    (linalg.companion, (W[:2],), {}),
    *[(linalg.convolution_matrix, (V, n, mode), {}) for n in (2, 5) for mode in ("full", "same", "valid")],
    (linalg.leslie, (W, V), {}),
    (linalg.fiedler, (W,), {}),
    (linalg.diagsvd, (V, 3, 5), {}),
    (linalg.diagsvd, (V, 4, 3), {}),
    (linalg.matmul_toeplitz, (C5, X5), {}),
    (linalg.matmul_toeplitz, (C5, BANDS.T), {"check_finite": True}),
    (linalg.solve_circulant, (C5, X5), {}),
    (linalg.pinvh, (S,), {}),
    (linalg.pinvh, (S,), {"lower": False}),
    (linalg.fractional_matrix_power, (S, 0.4), {}),
    (linalg.fractional_matrix_power, (S + 0.1 * M, -1.5), {}),
    (linalg.subspace_angles, (T, W[:, None]), {}),
    (linalg.subspace_angles, (BANDS[:, :2], BANDS[:, 2:]), {}),
    (linalg.subspace_angles, (T[:, :1], T[:, :1] + 1e-3 * T[:, 1:2]), {}),
    (linalg.orthogonal_procrustes, (T, T[::-1] + 0.3), {}),
]
if hasattr(linalg, "kron"):
    CASES.append((linalg.kron, (T, B), {}))
# Functions with several results or operands in a tuple, which cases below call.
ELSEWHERE = [
    "cho_solve", "lu_solve", "lstsq", "eig", "eigvals", "solve_continuous_are", "solve_discrete_are",
    "null_space", "orth", "schur", "left_eigenvectors", "matrix_balance",
]  # fmt: skip


@pytest.mark.parametrize("fn, args, kwargs", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_derivatives(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if isinstance(args[0], tuple):
        if fn is linalg.solve_banded:
            return check_rule(linalg.solve_banded, *args)
        return check_rule(kernels.toeplitz_solution, *args[0], *args[1:])
    check_case(fn, args, kwargs)


# The records, by themselves: second order, float32, both ways to build a rule.
RULES: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (linalg.solve, (M, V), {}),
    (linalg.solve, (S, B), {"assume_a": "pos"}),
    (linalg.solve, (M, B), {"transposed": True}),
    (linalg.inv, (M,), {}),
    (linalg.solve_triangular, (M, B), {}),
    (linalg.solve_triangular, (M, V), {"lower": True, "trans": 1, "unit_diagonal": True}),
    (linalg.solve_banded, ((1, 2), BANDS, X5), {}),
    (linalg.solve_banded, ((1, 2), BANDS, RNG.normal(size=(5, 2))), {}),
    (kernels.banded_solution, (H5, X5, 3, False, True), {}),
    (kernels.toeplitz_solution, (C5, C5 + X5, X5), {}),
    (linalg.solve_sylvester, (M, S, M), {}),
    (linalg.solve_discrete_lyapunov, (M / 9, M), {}),
    (linalg.cholesky, (S,), {}),
    (linalg.cholesky, (S,), {"lower": True}),
    (linalg.qr, (T,), {"mode": "economic"}),
    (linalg.svdvals, (T,), {}),
    (kernels.polar_factor, (T,), {}),
    (linalg.pinv, (T,), {}),
    (linalg.expm, (M,), {}),
    (linalg.expm_frechet, (M, S), {"compute_expm": False}),
    (kernels.finite, (V,), {}),
    (linalg.pinvh, (S,), {}),
    (linalg.pinvh, (S,), {"lower": False}),
    (linalg.fractional_matrix_power, (S, 0.4), {}),
]


@pytest.mark.parametrize("fn, args, kwargs", RULES, ids=lambda x: getattr(x, "__name__", ""))
def test_rules(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    check_rule(fn, *args, kwargs=kwargs)


def test_balanced_matrix() -> None:
    a = np.array([[1.0, 200.0, 0.01, 0.0], [0.02, 2.0, 0.0, 0.0], [3.0, 4e4, 0.5, 0.3], [0.0, 0.0, 0.0, 2.0]])
    weights = np.arange(16.0).reshape(4, 4)

    def f(a):
        balanced, (scale, order) = linalg.matrix_balance(a, separate=True)
        other, transform = linalg.matrix_balance(a, permute=False)
        return np.sum(weights * balanced**2) + np.sum(other[order] * scale) + np.sum(transform * a)

    assert ad.value_and_grad(f)(a)[0] == pytest.approx(f(a), rel=1e-14)
    check(f, a)


def test_every_function_has_a_case() -> None:
    missing = [name for name in without_case("linalg", CASES + RULES)]
    assert [name for name in missing if name.split(" ")[0].split(".")[-1] not in ELSEWHERE] == []


def check(f: Any, *args: Any, tolerance: float = 1e-5) -> None:
    found = ad.grad(f, argnums=tuple(range(len(args))))(*args)
    for k, g in enumerate(found):
        np.testing.assert_allclose(g, differences(f, *args, argnum=k), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("lower", [True, False])
def test_cho_solve(lower: bool) -> None:
    def f(a, b):
        factor = linalg.cho_factor(a, lower=lower)
        return np.sum(linalg.cho_solve(factor, b) ** 2) + np.sum(np.log(np.diag(factor[0])))

    check(f, S, V)
    check(f, S, B)
    assert ad.grad(f).source(S, V).count("= linalg.cho_factor(a") == 2  # with the comment


@pytest.mark.parametrize("trans", [0, 1])
def test_lu_solve(trans: int) -> None:
    def f(a, b):
        return np.sum(linalg.lu_solve(linalg.lu_factor(a), b, trans=trans) ** 2)

    a = M[[2, 0, 1]]
    np.testing.assert_allclose(f(a, V), np.sum(linalg.lu_solve(linalg.lu_factor(a), V, trans=trans) ** 2))
    check(f, a, V)
    check(f, a, B)
    assert ad.grad(f).source(a, V).count("= linalg.lu_factor(a") == 1


@pytest.mark.parametrize("lower", [True, False])
def test_eigenvectors(lower: bool) -> None:
    def f(a):
        w, v = linalg.eigh(a, lower=lower)  # the sign of the vectors may jump
        return np.sum(w**3) + np.sum(v * v * M)

    check(f, D)


def test_vectors_of_a_tridiagonal_matrix() -> None:
    def f(d, e):
        w, v = linalg.eigh_tridiagonal(d, e)
        return np.sum(w[:, None] * v * v * S[0, 1] + v[0] ** 2 * w)

    check(f, np.arange(5.0), W)


def test_complex_factors() -> None:
    h = S + 1j * (M - M.T)
    factor = linalg.cho_factor(h)

    def f(x):
        return np.sum(np.abs(x * linalg.cho_solve(factor, V)) ** 2)

    check(f, V)

    def g(b):
        return np.sum(np.abs(linalg.cho_solve(factor, b)) ** 2)

    with pytest.raises(AutodiffError, match="real"):
        ad.grad(g)(V)


@pytest.mark.parametrize(
    "kind", ["upper triangular", "lower triangular", "diagonal", "tridiagonal", "general", "symmetric", "hermitian"]
)
def test_known_structure(kind: str) -> None:
    parts = {
        "upper triangular": np.triu, "lower triangular": np.tril, "diagonal": lambda a: np.diag(np.diag(a)),
        "tridiagonal": lambda a: np.tril(np.triu(a, -1), 1),
    }  # fmt: skip
    a = parts.get(kind, np.array)(S)
    try:
        linalg.solve(a, V, assume_a=kind)
    except ValueError:
        pytest.skip("not in this version of SciPy")

    def f(a, b):
        return np.sum(linalg.solve(a, b, assume_a=kind) ** 2)

    check(f, a, V)
    check(f, a, B)


def test_pivoting() -> None:
    def f(a):
        q, r, p = linalg.qr(a, mode="economic", pivoting=True)
        return np.sum(q * q[0] + r[0] * p)

    check(f, T)


def test_lstsq() -> None:
    def f(a, b):
        x, _, _, s = linalg.lstsq(a, b)
        return np.sum(x**3) + np.sum(s**2)

    check(f, T, W)
    check(f, T.T, B)

    def g(a, b):
        return np.sum(linalg.lstsq(a, b)[1])

    with pytest.raises(AutodiffError, match="residues"):
        ad.grad(g)(T, W)


def test_eigenvalues() -> None:
    a = np.array([[0.2, -1.3, 0.1], [1.1, 0.3, 0.4], [0.1, 0.2, 2.0]])
    weights = np.array([1.0, 1.0, 0.5])

    def f(a):
        w = linalg.eigvals(a)
        return np.sum(np.abs(w) ** 2 * weights)

    def g(a):
        w = linalg.eig(a, right=False)
        return np.sum(w.real**3)

    check(f, a)
    check(g, a)


def test_eigenvectors_of_any_matrix() -> None:
    a = np.array([[0.2, -1.3, 0.1], [1.1, 0.3, 0.4], [0.1, 0.2, 2.0]])

    def f(a):
        w, left, right = linalg.eig(a, left=True)
        return np.sum(np.abs(w * left * right)) + (left[1, 0] * right[2, 1]).imag + np.sum(left.real)

    def g(a, b):
        w, left = linalg.eig(a + 1j * b, left=True, right=False)
        return np.sum(np.abs(w * left[:, 0])) + left[0, 1].imag

    def h(a):
        v = linalg.eig(a)[1]
        return np.sum(np.abs(v) * a) + v[0, 1].imag

    check(f, a)
    check(g, a, a.T**2)
    check(h, a)


def test_eigenvalues_of_two_matrices() -> None:
    a = np.array([[0.2, -1.3, 0.1], [1.1, 0.3, 0.4], [0.1, 0.2, 2.0]])
    b = np.array([[1.2, 0.3, 0.1], [0.1, 0.9, 0.4], [0.3, 0.2, 1.0]])

    def f(a, b):
        w, _ = linalg.eig(a, b)
        return np.sum(np.abs(w) ** 2 * np.array([1.0, 1.0, 0.5])) + np.sum(linalg.eigvals(a @ a, b).real)

    def complex_ones(a, b):
        return np.sum(linalg.eigvals(a + 0.3j * b, b + 0.2j * a).imag ** 2)

    def zeros(a, b):  # of a system with states: one of the values is infinite
        singular = np.diag(np.array([1.0, 1.0, 0.0])) * b
        w = linalg.eigvals(a, singular)
        kept = np.array([x for x in w if not np.isinf(x)])
        return np.sum(np.abs(kept) ** 2)

    check(f, a, b)
    check(complex_ones, a, b)
    check(zeros, a, b)


def test_riccati() -> None:
    r = np.array([[1.2, 0.1], [0.3, 0.8]])

    def f(a, b, q, r):
        x = linalg.solve_continuous_are(a, b, q @ q.T, r @ r.T)
        return np.sum(x * x[0])

    def g(a, b, q, r):
        x = linalg.solve_discrete_are(a, b, q @ q.T, r @ r.T)
        return np.sum(x * x[0]) / 100

    def general(a, b, q, r, e, s):
        x = linalg.solve_continuous_are(a, b, q @ q.T, r @ r.T, e, s)
        y = linalg.solve_continuous_are(a, b, q @ q.T, r @ r.T, s=s)
        y = y + linalg.solve_continuous_are(a, b, q @ q.T, r @ r.T, e)
        return np.sum(x * x[0]) + np.sum(y * a)

    def general_steps(a, b, q, r, e, s):
        x = linalg.solve_discrete_are(a, b, q @ q.T, r @ r.T, e, s)
        return np.sum(x * x[0]) / 100 + np.sum(linalg.solve_discrete_are(a, b, q @ q.T, r @ r.T, s=s) * a)

    e = np.array([[1.2, 0.3, 0.1], [0.1, 0.9, 0.4], [0.3, 0.2, 1.0]])
    for fn in (general, general_steps):
        check(fn, M / 3 - np.eye(3), T[:3, :2], np.eye(3) + M.T / 9, r, e, 0.1 * T[:3, 1:], tolerance=1e-4)

    def second(a, b):
        grads = ad.grad(g, argnums=(0, 1))(a, b, M.T, r)
        return np.sum(grads[0] * S) + np.sum(grads[1] * b)

    check(f, M, T[:3, :2], M.T, r, tolerance=1e-4)
    check(g, M, T[:3, :2], M.T, r, tolerance=1e-4)
    check(second, M / 2, T[:3, :2], tolerance=1e-4)


def test_complex_matrices() -> None:
    c = M + 1j * S

    def f(x):
        a = x * c
        y = linalg.solve(a, V) + linalg.expm(a / 9) @ V + linalg.sqrtm(a) @ V + linalg.logm(a) @ V
        return np.sum(np.abs(y) ** 2)

    check(f, np.ones((3, 3)) + 0.1 * M, tolerance=1e-4)


@pytest.mark.parametrize(
    "fn",
    [linalg.inv, linalg.det, linalg.cholesky, linalg.expm, linalg.svdvals, linalg.norm, linalg.eigvalsh, linalg.cosm],
)
def test_float32(fn: Any) -> None:
    a = S.astype(np.float32)

    def f(a):
        return np.sum(fn(a / 4))

    value, g = ad.value_and_grad(f)(a)
    assert g.dtype == np.float32
    assert value.dtype == np.sum(fn(a / 4)).dtype
    np.testing.assert_allclose(g, ad.grad(f)(a.astype(float)), rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("ord", [None, 2, 1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kind_of_a_norm(ord: Any, dtype: Any) -> None:
    """Python's floats do not make float64 of float32."""
    for a in (V.astype(dtype), S.astype(dtype)):
        if np.ndim(a) == 2 and ord == 3:
            continue

        def f(a):
            return np.sum(a * linalg.norm(a, ord))

        value = ad.value_and_grad(f)(a)[0]
        assert value.dtype == f(a).dtype
        np.testing.assert_allclose(value, f(a), rtol=1e-5)


@pytest.mark.parametrize("name, a", [("expm", M), ("logm", S), ("sqrtm", S)])
def test_accuracy(name: str, a: Any) -> None:
    """The gradients of functions of matrices, against a block of the function of a larger matrix with many digits."""
    mp = pytest.importorskip("mpmath")
    fn, weights = getattr(linalg, name), RNG.normal(size=(3, 3))

    def f(a):
        return np.sum(np.real(fn(a)) * weights)

    with mp.workdps(40):
        zero = np.zeros((3, 3))
        block = getattr(mp, name)(mp.matrix(np.block([[a.T, weights], [zero, a.T]]).tolist()))
        wanted = np.array([[float(mp.re(block[i, 3 + j])) for j in range(3)] for i in range(3)])
    np.testing.assert_allclose(ad.grad(f)(a), wanted, rtol=1e-13, atol=1e-13 * np.abs(wanted).max())


def test_what_scipy_raises() -> None:
    def f(a):
        return np.sum(linalg.cholesky(a))

    with pytest.raises(np.linalg.LinAlgError):
        ad.grad(f)(-S)

    def g(a):
        return np.sum(linalg.inv(a))

    with pytest.raises(ValueError, match="infs or NaNs"):
        ad.grad(g)(M * np.nan)
    with pytest.raises(np.linalg.LinAlgError):
        ad.grad(g)(M * 0)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda a: linalg.null_space(a), "basis of a space"),
        (lambda a: linalg.orth(a), "basis of a space"),
        (lambda a: linalg.schur(a)[0], "Schur form, which is one of many"),
        (lambda a: linalg.eig(a, a, left=True)[1].real, "with b and left"),
        (lambda a: linalg.eig(a, a)[1].real, "eigenvectors of scipy.linalg.eig with b"),
        (lambda a: linalg.eig(a, homogeneous_eigvals=True)[0].real, "homogeneous_eigvals"),
        (lambda a: linalg.solve_circulant(a, a), "several axes"),
        (lambda a: linalg.schur(a, sort="lhp")[0], "with sort"),
        (lambda a: linalg.pinvh(a, rtol=0.1), "rtol"),
        (lambda a: linalg.eigh(a, subset_by_index=[0, 1])[0], "with a subset"),
        (lambda a: linalg.qr(a[:, :2])[0], "mode='full'"),
        (lambda a: linalg.solve(np.stack([a, a]), np.ones((2, 3, 1))), "stack of matrices"),
        (lambda a: linalg.pinv(a, rtol=0.1), "rtol"),
    ],
)
def test_refusals(call: Any, message: str) -> None:
    def f(a):
        return np.sum(call(a))

    with pytest.raises(AutodiffError, match=message):
        ad.grad(f)(M)


def test_bases_of_constant_matrices() -> None:
    """They are constant, and need no derivative."""

    def f(x):
        t, z = linalg.schur(M)
        return np.sum(linalg.null_space(T.T) * x[0]) + np.sum(linalg.orth(T) @ x) + np.sum(t @ z @ x)

    def g(x):
        return np.sum(x) if linalg.issymmetric(x @ x.T) and not linalg.ishermitian(x + 1j) else np.sum(x * x)

    check(f, V)
    assert np.all(ad.grad(g)(M) == 1)


def test_dependent_columns() -> None:
    def f(a):
        return np.sum(linalg.subspace_angles(a, T))

    with pytest.raises(NotImplementedError, match="dependent columns"):
        ad.grad(f)(np.ones((4, 2)))


def test_matrices_of_known_entries() -> None:
    def f(x):
        return np.sum((linalg.hilbert(3) @ x) ** 2) + np.sum(np.real(linalg.dft(3) @ x) ** 2)

    check(f, V)


def test_tape() -> None:
    """SciPy makes an array of a tensor, which the tape does not let pass. The error names a call that it does."""
    x = ad.Variable(S)
    with ad.GradientTape() as tape:
        with pytest.raises(AutodiffError, match=r"use ad\.function\(scipy\.linalg\.expm\)\(\.\.\.\)"):
            linalg.expm(x / 9)
        y = np.sum(ad.function(linalg.expm)(x / 9) ** 2)
    np.testing.assert_allclose(tape.gradient(y, x), ad.grad(lambda a: np.sum(linalg.expm(a / 9) ** 2))(S), rtol=1e-12)


def test_tape_names_a_function_around_what_has_no_name() -> None:
    x = ad.Variable(np.array([1.0, 2.0]))
    with ad.GradientTape() as tape:
        with pytest.raises(AutodiffError, match=r"use ad\.function\(f\)\(\.\.\.\), where f makes this call"):
            stats.norm.logpdf(x)
        y = ad.function(lambda x: np.sum(stats.norm.logpdf(x)))(x)
    np.testing.assert_allclose(tape.gradient(y, x), [-1.0, -2.0])


def test_second_derivatives() -> None:
    def f(a):
        return np.sum(linalg.solve(a, V) ** 2) + np.sum(linalg.expm(a / 9) ** 2)

    def g(a):
        return np.sum(ad.grad(f)(a) * M)

    check(g, S)
