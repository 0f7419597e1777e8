"""Functions of NumPy and math beyond the elementwise ones: value, gradient, second derivative, inside control flow."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

X = np.array([0.7, 1.3, 2.1])
M = np.array([[0.3, -1.2, 0.8], [1.7, 0.4, -0.6], [0.2, 0.9, 1.4]])


def split(x):
    a, b, c = np.split(x, 3)
    return np.sum(a * b) + np.sum(b * c**2)


def array_split_store(x):
    y = np.concatenate((x, x * x))
    for k, p in enumerate(np.array_split(y, 4)):
        p *= k + 1.0
    return np.sum(y**2)


def array_split_idx(x):
    y = np.concatenate((x, x * x))
    a, b, c = np.array_split(y, [1, 4])
    return np.sum(a) * np.sum(b**2) + np.sum(c**3)


def hsplit_vsplit(x):
    m = np.outer(x, x * x)
    a, b, _c = np.hsplit(m, 3)
    d, _e, g = np.vsplit(m * m, 3)
    return np.sum(a * b) + np.sum(d * g)


def block(x):
    m = np.outer(x, x)
    return np.sum(np.block([[m, x[:, None]], [x, np.ones(1)]]) ** 3)


def meshgrid(x):
    X, Y = np.meshgrid(x, x[:2] * x[1])
    A, B = np.meshgrid(x, x[:2] * x[1], indexing="ij", sparse=True)
    return np.sum(X * Y**2) + np.sum(A * A * B)


def vander(x):
    return np.sum(np.vander(x) * M) + np.sum(np.vander(x, 4, increasing=True) ** 2)


def select(x):
    return np.sum(np.select([x < 1, x < 2], [x**2, np.sin(x)], default=x[0] * x))


def piecewise(x):
    return np.sum(np.piecewise(x, [x < 1, x >= 2], [lambda v: v * v, lambda v: v**3, 5.0]) * x)


def apply_along_axis(x):
    m = np.outer(x, x)
    return np.sum(np.apply_along_axis(lambda r: np.sum(r * r), 0, m) * x) + np.sum(
        np.apply_along_axis(lambda r: r * r[0], 1, m) ** 2
    )


def cross(x):
    return np.sum(np.cross(x, x[::-1] * x) * np.array([1.0, 2.0, 3.0])) + np.sum(np.cross(M * x, x))


def kron(x):
    return np.sum(np.kron(M * x, np.outer(x, x)[:2]) ** 2) + np.sum(np.kron(x, x**2) * np.arange(9.0))


def polyval_ediff1d(x):
    return np.sum(np.polyval(x, x)) + np.polyval(x, 0.3) + np.sum(np.ediff1d(x**2, to_end=x[:1]) ** 2)


def ix(x):
    return np.sum((M * x)[np.ix_([0, 2], [1, 2])] ** 2)


def fft(x):
    return np.sum(np.abs(np.fft.fft(x * x)) ** 4) + np.sum(np.fft.ifft(x, 5).real ** 2)


def rfft(x):
    return np.sum(np.abs(np.fft.rfft(x * x)) ** 3) + np.sum(np.fft.irfft(np.exp(1j * x)) ** 3)


def fft2(x):
    return np.sum(np.abs(np.fft.fft2(np.outer(x, x * x))) ** 3) + np.sum(
        np.fft.irfft2(np.fft.rfft2(M * x) * (1 + 2j), (3, 3)) ** 3
    )


def fftshift(x):
    return (
        np.sum(np.fft.fftshift(x) * np.array([1.0, 2.0, 3.0]))
        + np.sum(np.fft.ifftshift(x) ** 2 * np.array([1.0, 2.0, 3.0]))
        + np.sum(np.fft.hfft(x) ** 2)
        + np.sum(np.abs(np.fft.ihfft(x)) ** 4)
    )


def linalg(x):
    A = M * x
    return (
        np.linalg.multi_dot([A, A, x]).sum()
        + np.sum(np.linalg.matrix_power(A, 3))
        + np.linalg.cond(A)
        + np.sum(np.linalg.matrix_power(A, -2))
    )


def eigvalsh(x):
    return np.sum(np.linalg.eigvalsh(M * x + (M * x).T) ** 3)


def tensor(x):
    A = np.arange(36.0).reshape(6, 2, 3) ** 2 % 7 + np.eye(6).reshape(6, 2, 3) * x
    return np.sum(np.linalg.tensorsolve(A, np.ones(6) * x[0])) + np.sum(np.linalg.tensorinv(A, 1) ** 2)


def norms(x):
    A = M * x
    return (
        np.linalg.matrix_norm(A)
        + np.linalg.vector_norm(A)
        + np.sum(np.linalg.vector_norm(A, axis=1, ord=3))
        + np.linalg.trace(A) ** 2
        + np.sum(np.linalg.vecdot(A, x))
    )


def median(x):
    return (
        np.median(x) ** 2 + np.sum(np.median(M * x, axis=0) ** 3) + np.sum(np.median(M * x, axis=1, keepdims=True) ** 2)
    )


def quantile(x):
    return (
        np.quantile(x, 0.3) ** 2
        + np.sum(np.quantile(M * x, [0.1, 0.6], axis=0) ** 3)
        + np.sum(np.percentile(M * x, 75, axis=1) ** 2)
    )


def cov(x):
    return (
        np.sum(np.cov(M * x) ** 2)
        + np.sum(np.corrcoef(M * x) ** 3)
        + np.cov(x) ** 2
        + np.sum(np.cov(x, x**2) ** 2)
        + np.sum(np.cov(M * x, rowvar=False, ddof=0) ** 2)
    )


def trapezoid(x):
    return np.trapezoid(x**2) ** 2 + np.trapezoid(x**2, x) + np.sum(np.trapezoid(M * x, dx=0.1, axis=0) ** 2)


def gradient(x):
    return (
        np.sum(np.gradient(x**2) ** 2)
        + np.sum(np.gradient(x**3, x) ** 2)
        + np.sum(np.gradient(M * x)[0] ** 2)
        + np.sum(np.gradient(M * x, 0.5, axis=1, edge_order=2) ** 2)
        + np.sum(np.gradient(x**3, x, edge_order=2) ** 2)
    )


def logspace(x):
    return np.sum(np.logspace(x[0], x[1], 4)) + np.sum(np.geomspace(x[0], x[1], 4) ** 2)


def pad_modes(x):
    return sum(np.sum(np.pad(x, 2, mode=m) * np.arange(7.0)) for m in ("edge", "reflect", "symmetric", "wrap"))


def pad2d(x):
    return np.sum(np.pad(M * x, ((1, 0), (2, 1)), mode="reflect") * np.arange(24.0).reshape(4, 6))


def resize_delete_insert(x):
    return (
        np.sum(np.resize(x, (2, 4)) ** 2)
        + np.sum(np.delete(x, 1) ** 2)
        + np.sum(np.delete(M * x, [0], axis=1) ** 2)
        + np.sum(np.insert(x, 1, x[0] * 2) ** 3)
        + np.sum(np.insert(M * x, [0, 2], x[0], axis=1) ** 2)
    )


def insert_vals(x):
    return np.sum(np.insert(x, [1, 2], x[:2] ** 2) * np.arange(5.0))


def extract_compress(x):
    return np.sum(np.extract(x > 1, x) ** 2) + np.sum(np.compress([True, False, True], M * x, axis=1) ** 2)


def choose(x):
    return np.sum(np.choose(np.array([0, 1, 0]), [x, x**2]) * x)


def bincount(x):
    return np.sum(np.bincount(np.array([0, 2, 2]), weights=x) ** 2)


def windows(x):
    return np.sum(np.lib.stride_tricks.sliding_window_view(np.concatenate((x, x)), 3) ** 2 * np.arange(3.0))


def unwrap_i0_nextafter(x):
    return np.sum(np.unwrap(x * 3) ** 2) + np.sum(np.i0(x)) + np.sum(np.nextafter(x, 2.0) ** 2)


def logaddexp_reduce(x):
    return np.logaddexp.reduce(x) + np.sum(np.logaddexp.reduce(M * x, axis=1) ** 2) + np.hypot.reduce(x)


def accumulate(x):
    return (
        np.sum(np.maximum.accumulate(M * x, axis=1) ** 2)
        + np.sum(np.minimum.accumulate(x[::-1]) * x)
        + np.sum(np.multiply.accumulate(x))
        + np.sum(np.add.accumulate(M * x, axis=1) ** 2)
    )


def reduceat(x):
    return np.sum(np.add.reduceat(np.concatenate((x, x * x)), np.array([0, 3, 1, 4])) ** 2)


def outer_methods(x):
    return (
        np.sum(np.subtract.outer(x, x * x) ** 2)
        + np.sum(np.multiply.outer(M, x) ** 2)
        + np.sum(np.maximum.outer(x, x[::-1] * 0.9))
    )


def gamma_dist_prod(x):
    return (
        math.gamma(x[0])
        + math.lgamma(x[1])
        + math.dist([x[0], x[1]], [x[2], 0.0])
        + math.fsum([x[0], x[1] ** 2])
        + math.prod([x[0], x[1]])
    )


def gamma_negative(x):
    return math.gamma(-x[0]) + math.lgamma(-x[1]) + math.erf(x[0]) + math.hypot(x[0], x[1], x[2])


def convolve(x):
    return sum(np.sum(np.convolve(x, np.array([1.0, 2.0]) * x[0], m) ** 2) for m in ("full", "same", "valid")) + sum(
        np.sum(
            np.correlate(x, np.array([1.0, 2.0, -1.0, 3.0]) * x[1], m)
            * np.arange(1.0, 1 + np.correlate(x, np.array([1.0, 2.0, -1.0, 3.0]), m).size)
        )
        for m in ("full", "same", "valid")
    )


def norms_matrix(x):
    A = M * x
    return (
        np.linalg.norm(A, 2)
        + np.linalg.norm(A, "nuc")
        + np.linalg.norm(A, -2)
        + np.linalg.norm(A, 1)
        + np.linalg.norm(A, np.inf)
        + np.linalg.norm(A, "fro")
        + np.sum(np.linalg.norm(A, axis=0))
    )


def svd(x):
    A = M * x
    U, s, Vt = np.linalg.svd(A)
    r = np.linalg.svd(A[:2], full_matrices=False)
    return np.sum(U[:, 0] * Vt[0] * s) + np.sum((r.U * r.S)[0] * r.Vh[0, :2]) + np.sum(np.abs(Vt[1]))


def svd_tall(x):
    A = M * x
    u, s, vh = np.linalg.svd(A[:, :2], full_matrices=False)
    return np.sum(np.outer(u[:, 0], vh[0]) ** 2 * s[1] * M[:, :2]) + np.linalg.svd(A[:, :2])[1][0]


def qr(x):
    q, r = np.linalg.qr(M * x)
    r2 = np.linalg.qr((M * x)[:2], mode="r")
    q3 = np.linalg.qr((M * x)[:, :2]).Q
    return np.sum(q * M) + np.sum(r**3) + np.sum(r2**2 * M[:2]) + np.sum(q3 * M[:, :2])


def qr_wide(x):
    q, r = np.linalg.qr((M * x)[:2])
    return np.sum(q * M[:2, :2]) + np.sum(r**3)


def pinv_lstsq(x):
    A = M * x
    s = np.linalg.lstsq(A[:, :2], x, rcond=None)
    s2 = np.linalg.lstsq(A[:2], x[:2], rcond=None)[0]
    s3 = np.linalg.lstsq(A[:, :2], np.outer(x, x * x), rcond=None)
    return (
        np.sum(np.linalg.pinv(A[:, :2]) ** 2)
        + np.sum(s[0] ** 2)
        + np.sum(s[1])
        + np.sum(s2**2)
        + np.sum(s3[0] * M[:2])
        + np.sum(s3[1] * x)
        + np.sum(s[3] ** 2)
    )


def eigh(x):
    A = M * x
    A = A @ A.T + np.diag(x)
    w, v = np.linalg.eigh(A)
    r = np.linalg.eigh(A, UPLO="U")
    return np.sum(w**2 * x) + np.sum(np.abs(v[:, 0]) * x) + np.sum(r.eigenvalues**3) + np.sum(np.abs(r.eigenvectors[0]))


def cond_2(x):
    return np.linalg.cond(M * x, 1) + np.linalg.cond(M * x, "fro") + np.linalg.slogdet(M * x).logabsdet


def einsum_diag(x):
    return (
        np.einsum("ii->", M * x)
        + np.sum(np.einsum("ii->i", M * x) ** 2)
        + np.einsum("iij,j->", np.einsum("ij,k->ijk", M * x, x), x)
        + np.sum(np.einsum("...ii->...i", np.einsum("ij,k->kij", M * x, x)) ** 2)
    )


def nan_to_num(x):
    return np.sum(np.nan_to_num(x / np.array([1.0, 2.0, 3.0]), nan=1.0, posinf=3.0) ** 2)


def cumulative(x):
    return (
        np.sum(np.cumulative_sum(x, include_initial=True) ** 2)
        + np.sum(np.partition(x * np.array([3.0, 1.0, 2.0]), 1)[:2] ** 2)
        if hasattr(np, "cumulative_sum")
        else np.sum(x)
    )


def prod_axes(x):
    return np.prod(M * x, axis=(0, 1)) + np.sum(np.prod(np.multiply.outer(M * x, x), axis=(0, 2)))


def average(x):
    return np.sum(np.average(M * x, axis=1, weights=x) ** 2) + np.average(x, weights=x**2)


def interp_xp(x):
    return np.interp(1.0, x, x**2) + np.sum(np.interp(np.array([0.5, 1.1]), x, np.array([1.0, 3.0, 2.0])))


def tri(x):
    return (
        np.sum(np.tril(M * x, -1) ** 2)
        + np.sum((M * x)[np.tril_indices(3)] ** 3)
        + np.sum((M * x)[np.triu_indices(3, 1)] ** 3)
    )


def r(x):
    return np.sum(np.r_[x, 0.0, x[:2]] ** 2) + np.sum(np.c_[x, x**2] ** 2 * np.array([1.0, 3.0]))


def histogram_digitize(x):
    h, _ = np.histogram(x, bins=np.array([0.0, 1.0, 2.0, 3.0]))
    d = np.digitize(x, [1.0, 2.0])
    return np.sum(h * x) + np.sum(d * x**2)


def grids(x):
    i, j = np.ogrid[:2, 1:4]
    h, w = M.shape
    a = np.mgrid[0:h, 0 : 2 * w : 2]
    b = np.mgrid[-1:1:3j, 0:3]
    k, l = np.ogrid[0.0:1.0:0.5, :3]
    return (
        np.sum((i + 2 * j) * x**2)
        + np.sum(a[0] * a[1] * np.outer(x, x))
        + np.sum(b[0] * b[1] * M * x**3)
        + np.sum((k - l) * np.sin(x))
        + np.sum(np.mgrid[1:4] * x)
        + np.sum(np.fromfunction(lambda i, j: i * j, (2, 3)) * x)
    )


def differences_with_ends(x):
    A = M * x
    return (
        np.sum(np.diff(x, append=0.5) ** 2)
        + np.sum(np.diff(x, 2, prepend=x[:1], append=x[:2]) ** 3)
        + np.sum(np.diff(A, axis=0, append=A[:1]) ** 2)
        + np.sum(np.diff(A, axis=0, prepend=2.0) ** 3)
        + np.sum(np.diff(A, prepend=A[:, -1:]) * M)
    )


def indices_to_loop_over(x):
    A = M * x
    total = 0.0
    for i, j in np.ndindex(2, 3):
        total += A[i, j] ** 2 * (i + 1)
    for at in np.ndindex(A.shape):
        total += A[at] * at[1]
    for (i, j), v in np.ndenumerate(A):
        total += v**3 * i - j
    return total + np.sum(A[np.s_[:2, 1]] ** 2) + np.sum(x[np.index_exp[1:]] ** 3)


def joined_slices(x):
    return np.sum(np.r_[0:2, x, 1:2:3j, 5.0] ** 2 * np.r_[x, 1, 2, 3, x]) + np.sum(np.c_[x, 0:3] ** 3)


def polynomial_fit(x):
    y = np.sin(np.outer(x, x))[:, :2]
    t = np.array([0.0, 1.0, 2.5])
    return (
        np.sum(np.polyfit(t, x, 1) ** 2)
        + np.polyfit(x, x**3, 2)[0]
        + np.sum(np.polyfit(t + 0.1 * x, y, 1, w=1.0 + x * x) ** 3)
    )


def vectors_and_matrices(x):
    A = np.stack([M * x, M + np.outer(x, x)])
    matvec, vecmat = getattr(np, "matvec", None), getattr(np, "vecmat", None)  # from NumPy 2.2 on
    if matvec is None:
        return np.sum(np.require(A) @ x)
    return np.sum(matvec(A, x) ** 2) + np.sum(vecmat(x, A) ** 3) + np.sum(np.require(x) ** 2)


FUNCTIONS = [
    vectors_and_matrices,
    grids,
    differences_with_ends,
    indices_to_loop_over,
    joined_slices,
    polynomial_fit,
    split,
    array_split_store,
    array_split_idx,
    hsplit_vsplit,
    block,
    meshgrid,
    vander,
    select,
    piecewise,
    apply_along_axis,
    cross,
    kron,
    polyval_ediff1d,
    ix,
    fft,
    rfft,
    fft2,
    fftshift,
    linalg,
    eigvalsh,
    tensor,
    norms,
    median,
    quantile,
    cov,
    trapezoid,
    gradient,
    logspace,
    pad_modes,
    pad2d,
    resize_delete_insert,
    insert_vals,
    extract_compress,
    choose,
    bincount,
    windows,
    unwrap_i0_nextafter,
    logaddexp_reduce,
    accumulate,
    reduceat,
    outer_methods,
    gamma_dist_prod,
    gamma_negative,
    convolve,
    norms_matrix,
    svd,
    svd_tall,
    qr,
    qr_wide,
    pinv_lstsq,
    eigh,
    cond_2,
    einsum_diag,
    nan_to_num,
    cumulative,
    prod_axes,
    average,
    interp_xp,
    tri,
    r,
    histogram_digitize,
]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradient(f):
    x = X.copy()
    value, gradient = ad.value_and_grad(f)(x)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_allclose(value, f(X), rtol=1e-12)
    np.testing.assert_allclose(gradient, differences(f, X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_second_derivative(f):
    w = np.array([0.3, -0.8, 0.5])
    gradient = ad.grad(f)

    def slope(x):
        return np.sum(gradient(x) * w)

    def compiled(x):
        return np.sum(ad.grad(f)(x) * w)

    want = differences(slope, X)
    np.testing.assert_allclose(ad.grad(compiled)(X), want, rtol=1e-4, atol=1e-5 * max(1.0, np.max(np.abs(want))))


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_inside_control_flow(f):
    def g(x):
        total = 0.0
        y = x.copy()
        for k in range(2):
            y[k] = y[k] * 1.01
            if total < 1e9:
                total += (k + 1) * f(y)
            else:
                total -= 1.0
        return total * x[0]

    np.testing.assert_allclose(ad.grad(g)(X), differences(g, X), rtol=1e-5, atol=1e-6)


def lists_of_constants(x):
    y = np.interp(0.3 * x, [-2.0, 0.0, 2.0], [0.1, 0.5, -0.4]) * np.maximum(x, [0.0, 1.5, 0.0])
    z = np.stack([x, [0.0, 1.0, 0.0]]) + np.concatenate(([1.0], x[:2]))
    return np.sum(y) + np.sum(z * z) + np.sum(np.take(x, [0, 0, 2]) ** 2) + np.dot([1.0, 2.0, 3.0], x * x)


def parts_of_numbers(x):
    part, whole = math.modf(x[2])
    return (
        math.ldexp(x[0], 3) * part + whole * x[1] + np.sum(np.linalg.eigh(np.diag(x) + M + M.T, "U").eigenvalues ** 3)
    )


def histogram_of_constants(x):
    counts, edges = np.histogram([0.1, 0.5, 2.0], bins=3)
    return np.sum(counts * x) + np.sum(edges) * x[0] + np.sum(np.histogram(x, bins=3)[0] * x)


@pytest.mark.parametrize("f", [lists_of_constants, parts_of_numbers, histogram_of_constants], ids=lambda f: f.__name__)
def test_forms_of_operands(f):
    np.testing.assert_allclose(ad.grad(f)(X), differences(f, X), rtol=1e-6, atol=1e-6)


def test_edges_of_a_histogram_are_refused():
    with pytest.raises(ad.RuleLookupError, match="edges"):
        ad.grad(lambda x: np.sum(np.histogram(x, bins=3)[1]))(X)


def test_powers_of_integers_in_a_fit_do_not_wrap_around():
    t = np.array([1000, 2000, 3000, 4000, 5000, 6000, 7000])

    def f(y):
        return np.sum(np.polyfit(t, y, 6) * 1e3 ** np.arange(6, -1, -1))

    y = np.sin(np.arange(7.0))
    value, gradient = ad.value_and_grad(f)(y)
    np.testing.assert_allclose(value, f(y), rtol=1e-6)
    np.testing.assert_allclose(gradient, differences(f, y, step=1e-3), rtol=1e-5, atol=1e-6)


def test_grids_of_numpys_floats_and_differences_of_order_zero():
    def f(x):
        i = np.mgrid[0 : np.float32(3)]
        return np.sum(i // 2 * x) + np.sum((i / 2 + x) ** 2) + np.sum(np.diff(x, 0, append=5.0) ** 3)

    x = X.copy()
    value, gradient = ad.value_and_grad(f)(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-12)
    np.testing.assert_allclose(gradient, differences(f, x), rtol=1e-5, atol=1e-6)
    assert ad.value_and_grad(lambda x: np.sum(x * (np.mgrid[0 : np.float32(3)].dtype.kind == "f")))(x)[0] == np.sum(x)


@pytest.mark.parametrize("wanted", [None, np.float32, np.float64])
@pytest.mark.parametrize("given", [np.float32, np.float64])
@pytest.mark.parametrize("fn", [np.cov, np.corrcoef])
def test_covariances_have_numpys_dtype(fn, given, wanted):
    def f(x):
        return fn(x, x * x, dtype=wanted)[0, 1]

    x = X.astype(given)
    value, gradient = ad.value_and_grad(f)(x)
    assert value.dtype == f(x).dtype and value == pytest.approx(f(x), rel=1e-6)
    assert gradient.dtype == x.dtype


CUBIC = np.poly1d([0.5, -1.0, 2.0, 3.0])
TIMES = np.linspace(0.0, 1.0, 7)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(CUBIC(x) * x),
        lambda x: CUBIC(x[0]) * CUBIC.deriv()(x[1]) + CUBIC.integ()(x[2]) + CUBIC.order,
        lambda x: np.poly1d(x)(2.0) ** 2,
        lambda x: (np.poly1d(x) * np.poly1d([1.0, 2.0]) - x[1])(0.5) + (1 + 2 * np.poly1d(x) / x[0])(0.3),
        lambda x: np.poly1d(x).deriv(2)(0.5) * np.poly1d(x).integ(k=1.5)(0.5) + np.poly1d(x).c[0] ** 2,
        lambda x: np.sum(np.poly1d(np.polyfit(TIMES, np.sin(TIMES), 3))(x) ** 2),
        lambda x: (CUBIC + 1)(x[0]) * (CUBIC * CUBIC)(x[1]) - (-(CUBIC - np.poly1d([1, 2])))(x[2]),
        lambda x: np.sum(np.poly1d([1, 2, 3])(x)) * np.sum(np.poly1d([1, 2])([1, 2])),
        lambda x: np.sum(np.abs(np.roots(x)) ** 2) + np.max(np.real(np.poly1d(x**2).roots)),
        lambda x: (
            np.sum(np.roots(np.append(x, 0.0)).real ** 3) + np.sum(np.roots(np.concatenate(([0, 0], x))).imag ** 2)
        ),
    ],
)
def test_polynomials(f):
    x = X[:4].copy() if X.ndim == 1 else X.reshape(-1)[:4].copy()
    value, gradient = ad.value_and_grad(f)(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-12)
    np.testing.assert_allclose(gradient, differences(f, x), rtol=1e-5, atol=1e-6)


MISSING = np.array([True, False, True])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.nanquantile(np.where(MISSING, np.nan, x), 0.3) + np.nanquantile(x**2, [0.1, 0.7])[1],
        lambda x: np.nanpercentile(np.stack([x, np.where(MISSING, np.nan, x**2)]), 40.0) ** 2,
        lambda x: np.sum(np.union1d(x, x**2) ** 3) + np.sum(np.setdiff1d(x, x[:1]) ** 2),
        lambda x: np.sum(np.trim_zeros(np.concatenate([[0.0], x, [0.0, 0.0]])) * np.array([1.0, 2.0, 3.0])),
        lambda x: np.sum(np.trim_zeros(np.concatenate([[0.0], x]), "b")[1:] ** 2) + np.trim_zeros(x * 0.0).size,
        lambda x: np.sum(np.asarray_chkfinite(x) ** 2),
    ],
)
def test_values_that_are_selected(f):
    x = np.array([0.7, 1.3, 0.4])
    value, gradient = ad.value_and_grad(f)(x)
    assert value == f(x)
    np.testing.assert_allclose(gradient, differences(f, x), rtol=1e-5, atol=1e-7)


def test_only_finite_numbers_pass():
    with pytest.raises(ValueError, match="infs or NaNs"):
        ad.grad(lambda x: np.sum(np.asarray_chkfinite(1.0 / x)))(np.array([1.0, np.inf, np.nan]))
    assert np.isnan(ad.value_and_grad(lambda x: np.nanquantile(x, 0.5) * 2.0)(np.full(2, np.nan))[0])


def test_a_root_at_zero_moves():
    """NumPy leaves out zeros at both ends. The root that it then puts at zero depends on them all the same."""
    p = np.array([2.0, 1.0, 3.0, 0.0])
    gradient = ad.grad(lambda p: np.roots(p)[-1].real)(p)
    np.testing.assert_allclose(gradient, [0.0, 0.0, 0.0, -1 / 3])
    value, tangent = ad.jvp(np.roots, (p,), (np.array([0.0, 0.0, 0.0, 1.0]),))
    np.testing.assert_array_equal(value, np.roots(p))
    np.testing.assert_allclose(tangent, -1.0 / np.polyval(np.polyder(p), value))


def made_uncopied(x):
    try:
        return np.array([x[0], x[1]], copy=False) * 5.0
    except ValueError:
        return x


@pytest.mark.parametrize(
    "make",
    [
        lambda x: np.array(x, copy=False), lambda x: np.array(x, dtype=float, copy=False), made_uncopied,
        lambda x: np.array(x, ndmin=2, copy=False)[0], lambda x: np.asarray(x, copy=True),
        lambda x: np.asarray(x, copy=False), lambda x: np.array(x, copy=None),
        lambda x: np.asarray(x, float, copy=None),
    ],
)  # fmt: skip
def test_whether_an_array_is_copied(make):
    def f(x):
        x = x * 1.0
        a = make(x)
        a[0] = 2.0 * x[1]
        return np.sum(x * x * a)

    value, gradient = ad.value_and_grad(f)(X)
    np.testing.assert_allclose(value, f(X), rtol=1e-12)
    np.testing.assert_allclose(gradient, differences(f, X), rtol=1e-5, atol=1e-6)


def test_an_array_that_has_to_be_copied():
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        ad.grad(lambda x: np.sum(np.array(x, dtype=np.float32, copy=False)))(X)
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        ad.grad(lambda x: np.sum(np.array(x[0], copy=False)))(X)
