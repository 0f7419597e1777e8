"""Dense linear algebra with explicit loops, in the manner of BLAS-like benchmark suites."""

from __future__ import annotations

import numpy as np

from benchmarks.kernels.kernel import Kernel


def scale_and_multiply(alpha, beta, C, A, B):
    """C = alpha A B + beta C, row by row."""
    n, m = C.shape
    for i in range(n):
        C[i, :] *= beta
        for k in range(A.shape[1]):
            C[i, :] += alpha * A[i, k] * B[k, :]


def gemm(alpha, beta, C, A, B):
    scale_and_multiply(alpha, beta, C, A, B)
    return np.sum(C * C)


def gemm_inputs(rng, n, m, p):
    return 1.5, 1.2, rng.normal(size=(n, m)), rng.normal(size=(n, p)), rng.normal(size=(p, m))


def matmul_into(out, A, B):
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            out[i, j] = 0.0
            for k in range(A.shape[1]):
                out[i, j] += A[i, k] * B[k, j]
    return out


def two_mm(alpha, beta, A, B, C, D):
    tmp = np.zeros((A.shape[0], B.shape[1]))
    matmul_into(tmp, A, B)
    tmp *= alpha
    D *= beta
    for i in range(D.shape[0]):
        for j in range(D.shape[1]):
            for k in range(tmp.shape[1]):
                D[i, j] += tmp[i, k] * C[k, j]
    return np.sum(D * D)


def two_mm_inputs(rng, n):
    return 1.5, 1.2, *(rng.normal(size=(n, n)) for _ in range(4))


def three_mm(A, B, C, D):
    E = np.empty((A.shape[0], B.shape[1]))
    F = np.empty((C.shape[0], D.shape[1]))
    G = np.empty((A.shape[0], D.shape[1]))
    matmul_into(E, A, B)
    matmul_into(F, C, D)
    matmul_into(G, E, F)
    return np.linalg.norm(G)


def three_mm_inputs(rng, n):
    return tuple(rng.normal(size=(n, n)) for _ in range(4))


def atax(A, x):
    m, n = A.shape
    y = np.zeros(n)
    for i in range(m):
        tmp = 0.0
        for j in range(n):
            tmp += A[i, j] * x[j]
        for j in range(n):
            y[j] = y[j] + A[i, j] * tmp
    return np.sum(y**2)


def atax_inputs(rng, m, n):
    return rng.normal(size=(m, n)), rng.normal(size=n)


def bicg(A, p, r, s, q):
    """The two products of the biconjugate gradient step, into the arguments s and q."""
    s[:] = 0.0
    for i in range(A.shape[0]):
        q[i] = 0.0
        for j in range(A.shape[1]):
            s[j] += r[i] * A[i, j]
            q[i] += A[i, j] * p[j]
    return s @ s + np.sum(np.cos(q))


def bicg_inputs(rng, n, m):
    return rng.normal(size=(n, m)), rng.normal(size=m), rng.normal(size=n), np.ones(m), np.ones(n)


def mvt(x1, x2, y1, y2, A):
    n = len(x1)
    for i in range(n):
        for j in range(n):
            x1[i] += A[i, j] * y1[j]
    for i in range(n):
        for j in range(n):
            x2[i] += A[j, i] * y2[j]
    return np.dot(x1, x2)


def mvt_inputs(rng, n):
    return *(rng.normal(size=n) for _ in range(4)), rng.normal(size=(n, n))


def gesummv(alpha, beta, A, B, x):
    n = A.shape[0]
    y = np.zeros(n)
    tmp = np.zeros(n)
    for i in range(n):
        for j in range(n):
            tmp[i] = A[i, j] * x[j] + tmp[i]
            y[i] = B[i, j] * x[j] + y[i]
        y[i] = alpha * tmp[i] + beta * y[i]
    return np.sum(y * y)


def gesummv_inputs(rng, n):
    return 1.5, 1.2, rng.normal(size=(n, n)), rng.normal(size=(n, n)), rng.normal(size=n)


def symm(alpha, beta, C, A, B):
    """A is symmetric, and only its lower triangle is stored."""
    m, n = C.shape
    temp = np.empty(n, dtype=C.dtype)
    C *= beta
    for i in range(m):
        for j in range(n):
            C[:i, j] += alpha * B[i, j] * A[i, :i]
            temp[j] = B[:i, j] @ A[i, :i]
        C[i, :] += alpha * B[i, :] * A[i, i] + alpha * temp
    return np.sum(C * C)


def symm_inputs(rng, m, n):
    return 1.5, 1.2, rng.normal(size=(m, n)), rng.normal(size=(m, m)), rng.normal(size=(m, n))


def syrk(alpha, beta, C, A):
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]
    return np.sum(np.tril(C) ** 2)


def syrk_inputs(rng, n, m):
    return 1.5, 1.2, rng.normal(size=(n, n)), rng.normal(size=(n, m))


def syr2k(alpha, beta, C, A, B):
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += A[: i + 1, k] * alpha * B[i, k] + B[: i + 1, k] * alpha * A[i, k]
    return np.sum(np.tril(C) ** 2)


def syr2k_inputs(rng, n, m):
    return 1.5, 1.2, rng.normal(size=(n, n)), rng.normal(size=(n, m)), rng.normal(size=(n, m))


def trmm(alpha, A, B):
    """B becomes alpha A' B with a unit lower triangular A."""
    m, n = B.shape
    for i in range(m):
        for j in range(n):
            B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])
    B *= alpha
    return np.sum(B * B)


def trmm_inputs(rng, m, n):
    return 1.5, rng.normal(size=(m, m)), rng.normal(size=(m, n))


def forward_substitution(L, x, b):
    for i in range(len(b)):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]


def backward_substitution(U, x, b):
    for i in range(len(b) - 1, -1, -1):
        x[i] = (b[i] - U[i, i + 1 :] @ x[i + 1 :]) / U[i, i]


def trisolv(L, x, b):
    forward_substitution(L, x, b)
    return np.sum(x**2)


def trisolv_inputs(rng, n):
    return rng.normal(size=(n, n)) + 2 * n * np.eye(n), np.zeros(n), rng.normal(size=n)


def spd(rng, n):
    M = rng.normal(size=(n, n))
    return M @ M.T / n + np.eye(n)


def cholesky(A):
    """A's lower triangle becomes its Cholesky factor; gives the log-determinant and more."""
    n = A.shape[0]
    A[0, 0] = np.sqrt(A[0, 0])
    for i in range(1, n):
        for j in range(i):
            A[i, j] -= np.dot(A[i, :j], A[j, :j])
            A[i, j] /= A[j, j]
        A[i, i] -= np.dot(A[i, :i], A[i, :i])
        A[i, i] = np.sqrt(A[i, i])
    logdet = 0.0
    for i in range(n):
        logdet += 2.0 * np.log(A[i, i])
    return logdet + np.sum(np.tril(A, -1) ** 3)


def cholesky_inputs(rng, n):
    return (spd(rng, n),)


def lu_in_place(A):
    n = len(A)
    for i in range(n):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]


def lu(A):
    lu_in_place(A)
    return np.sum(np.sin(A))


def lu_inputs(rng, n):
    return (rng.normal(size=(n, n)) + n * np.eye(n),)


def ludcmp(A, b):
    n = len(b)
    lu_in_place(A)
    x = np.zeros(n)
    y = np.zeros(n)
    for i in range(n):
        y[i] = b[i] - A[i, :i] @ y[:i]
    backward_substitution(A, x, y)
    return np.sum(x * x) + x[0] * y[-1]


def ludcmp_inputs(rng, n):
    return rng.normal(size=(n, n)) + n * np.eye(n), rng.normal(size=n)


def lu_pivoted(A, b):
    """Gaussian elimination with row exchanges, on copies."""
    A = A.copy()
    b = b.copy()
    n = len(b)
    for k in range(n - 1):
        p = k + np.argmax(np.abs(A[k:, k]))
        if p != k:
            A[[k, p]] = A[[p, k]]
            b[[k, p]] = b[[p, k]]
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            A[i, k:] -= factor * A[k, k:]
            b[i] -= factor * b[k]
    x = np.zeros_like(b)
    backward_substitution(A, x, b)
    return np.sum(np.cos(x))


def lu_pivoted_inputs(rng, n):
    return rng.normal(size=(n, n)), rng.normal(size=n)


def durbin(r):
    """Levinson-Durbin: the Yule-Walker equations of a Toeplitz matrix."""
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return np.sum(y * y)


def durbin_inputs(rng, n):
    return (0.4 ** np.arange(1, n + 1) + 0.05 * rng.normal(size=n),)


def gramschmidt(A, target):
    m, n = A.shape
    Q = np.zeros((m, n))
    R = np.zeros((n, n))
    for k in range(n):
        R[k, k] = np.sqrt(np.dot(A[:, k], A[:, k]))
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, n):
            R[k, j] = np.dot(Q[:, k], A[:, j])
            A[:, j] -= Q[:, k] * R[k, j]
    return np.sum((Q - target) ** 2) + np.sum(R)


def gramschmidt_inputs(rng, m, n):
    return rng.normal(size=(m, n)), rng.normal(size=(m, n))


def householder_qr(A, b):
    """Least squares by reflections; R and Q'b are built in place."""
    R = A.copy()
    m, n = R.shape
    y = b.copy()
    for k in range(n):
        v = R[k:, k].copy()
        sign = 1.0 if v[0] >= 0 else -1.0
        v[0] += sign * np.linalg.norm(v)
        v /= np.linalg.norm(v)
        R[k:, k:] -= 2.0 * np.outer(v, v @ R[k:, k:])
        y[k:] -= 2.0 * v * (v @ y[k:])
    x = np.zeros(n)
    backward_substitution(R[:n], x, y[:n])
    residual = y[n:]
    return np.sum(x**3) + residual @ residual


def householder_qr_inputs(rng, m, n):
    return rng.normal(size=(m, n)), rng.normal(size=m)


def givens_rotation(a, b):
    if b == 0.0:
        return 1.0, 0.0
    if abs(b) > abs(a):
        t = a / b
        s = 1.0 / np.sqrt(1.0 + t * t)
        return s * t, s
    t = b / a
    c = 1.0 / np.sqrt(1.0 + t * t)
    return c, c * t


def givens_qr(A):
    m, n = A.shape
    R = A.copy()
    Q = np.eye(m)
    for j in range(n):
        for i in range(m - 1, j, -1):
            c, s = givens_rotation(R[i - 1, j], R[i, j])
            upper = c * R[i - 1, :] + s * R[i, :]
            R[i, :] = -s * R[i - 1, :] + c * R[i, :]
            R[i - 1, :] = upper
            G = np.array([[c, s], [-s, c]])
            Q[i - 1 : i + 1, :] = G @ Q[i - 1 : i + 1, :]
    return np.sum(np.sin(Q)) + np.sum(R * R * R)


def givens_qr_inputs(rng, m, n):
    return (rng.normal(size=(m, n)),)


def jacobi_eigenvalues(A, sweeps):
    """Cyclic Jacobi rotations; the smooth result is a sum over functions of the eigenvalues."""
    A = np.array(A)
    n = A.shape[0]
    for _ in range(sweeps):
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(A[p, q]) < 1e-12:
                    continue
                theta = (A[q, q] - A[p, p]) / (2.0 * A[p, q])
                t = np.sign(theta) / (abs(theta) + np.sqrt(theta * theta + 1.0))
                c = 1.0 / np.sqrt(t * t + 1.0)
                s = t * c
                row_p = c * A[p, :] - s * A[q, :]
                row_q = s * A[p, :] + c * A[q, :]
                A[p, :], A[q, :] = row_p, row_q
                col_p = c * A[:, p] - s * A[:, q]
                col_q = s * A[:, p] + c * A[:, q]
                A[:, p], A[:, q] = col_p, col_q
    return np.sum(np.log(np.diag(A)))


def jacobi_eigenvalues_inputs(rng, n, sweeps):
    return spd(rng, n), sweeps


def conjugate_gradient(M, b, x0, tolerance):
    A = M @ M.T / len(b) + np.eye(len(b))
    x = x0.copy()
    r = b - A @ x
    p = r.copy()
    rs = r @ r
    for _ in range(2 * len(b)):
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        rs_new = r @ r
        if np.sqrt(rs_new) < tolerance:
            break
        p = r + (rs_new / rs) * p
        rs = rs_new
    return np.sum(x**2) + x[0]


def conjugate_gradient_inputs(rng, n):
    return rng.normal(size=(n, n)), rng.normal(size=n), np.zeros(n), 1e-9


def arnoldi(A, b, m):
    """The Krylov basis and the Hessenberg matrix of GMRES; gives the norm of its residual."""
    n = A.shape[0]
    V = np.zeros((n, m + 1))
    H = np.zeros((m + 1, m))
    beta = np.linalg.norm(b)
    V[:, 0] = b / beta
    for j in range(m):
        w = A @ V[:, j]
        for i in range(j + 1):
            H[i, j] = V[:, i] @ w
            w = w - H[i, j] * V[:, i]
        H[j + 1, j] = np.linalg.norm(w)
        V[:, j + 1] = w / H[j + 1, j]
    rhs = np.zeros(m + 1)
    rhs[0] = beta
    y = np.linalg.solve(H.T @ H, H.T @ rhs)
    x = V[:, :m] @ y
    return np.sum((b - A @ x) ** 2) + np.sum(x)


def arnoldi_inputs(rng, n, m):
    return rng.normal(size=(n, n)) + n * np.eye(n), rng.normal(size=n), m


def power_iteration(A, v, steps):
    eigenvalue = 0.0
    for _ in range(steps):
        w = A @ v
        eigenvalue = v @ w / (v @ v)
        v = w / np.linalg.norm(w)
    return eigenvalue + np.sum(v**4)


def power_iteration_inputs(rng, n, steps):
    return spd(rng, n), rng.uniform(0.5, 1.5, size=n), steps


def thomas(lower, diagonal, upper, d):
    """Solves a tridiagonal system in place: the solution overwrites the right-hand side."""
    n = len(d)
    c = np.zeros(n - 1)
    c[0] = upper[0] / diagonal[0]
    d[0] = d[0] / diagonal[0]
    for i in range(1, n):
        m = diagonal[i] - lower[i - 1] * c[i - 1]
        if i < n - 1:
            c[i] = upper[i] / m
        d[i] = (d[i] - lower[i - 1] * d[i - 1]) / m
    for i in reversed(range(n - 1)):
        d[i] -= c[i] * d[i + 1]


def tridiagonal(lower, diagonal, upper, d):
    thomas(lower, diagonal, upper, d)
    return np.sum(d * d)


def tridiagonal_inputs(rng, n):
    return rng.normal(size=n - 1), rng.uniform(3.0, 4.0, size=n), rng.normal(size=n - 1), rng.normal(size=n)


KERNELS = [
    Kernel(gemm, gemm_inputs, (3, 4, 2), (4, 3, 5), (60, 70, 50)),
    Kernel(two_mm, two_mm_inputs, (3,), (4,), (16,)),
    Kernel(three_mm, three_mm_inputs, (3,), (4,), (16,)),
    Kernel(atax, atax_inputs, (4, 3), (3, 5), (60, 70)),
    Kernel(bicg, bicg_inputs, (4, 3), (3, 5), (60, 70)),
    Kernel(mvt, mvt_inputs, (4,), (3,), (60,)),
    Kernel(gesummv, gesummv_inputs, (4,), (3,), (60,)),
    Kernel(symm, symm_inputs, (4, 3), (3, 5), (40, 50)),
    Kernel(syrk, syrk_inputs, (4, 3), (3, 5), (50, 30)),
    Kernel(syr2k, syr2k_inputs, (4, 3), (3, 5), (50, 30)),
    Kernel(trmm, trmm_inputs, (4, 3), (3, 5), (40, 50)),
    Kernel(trisolv, trisolv_inputs, (5,), (3,), (400,)),
    Kernel(cholesky, cholesky_inputs, (5,), (4,), (50,)),
    Kernel(lu, lu_inputs, (5,), (4,), (40,)),
    Kernel(ludcmp, ludcmp_inputs, (5,), (4,), (40,)),
    Kernel(lu_pivoted, lu_pivoted_inputs, (5,), (4,), (40,)),
    Kernel(durbin, durbin_inputs, (6,), (4,), (400,)),
    Kernel(gramschmidt, gramschmidt_inputs, (5, 3), (4, 4), (60, 40)),
    Kernel(householder_qr, householder_qr_inputs, (6, 3), (5, 4), (80, 40)),
    Kernel(givens_qr, givens_qr_inputs, (5, 3), (4, 4), (25, 20)),
    Kernel(jacobi_eigenvalues, jacobi_eigenvalues_inputs, (4, 3), (3, 4), (16, 4)),
    Kernel(conjugate_gradient, conjugate_gradient_inputs, (5,), (4,), (200,)),
    Kernel(arnoldi, arnoldi_inputs, (7, 3), (6, 4), (120, 20)),
    Kernel(power_iteration, power_iteration_inputs, (4, 5), (3, 7), (100, 100)),
    Kernel(tridiagonal, tridiagonal_inputs, (5,), (4,), (1000,)),
]
