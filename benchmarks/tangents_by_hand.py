"""The tangents of kernels, as one would write them by hand.

Each takes the arguments of its kernel and then their tangents, None for what does not move, and gives the value and
its tangent. It has the loops of the kernel, and writes into arguments where the kernel does: into their tangents, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def gemm(alpha, beta, C, A, B, alpha_dot, beta_dot, C_dot, A_dot, B_dot):
    for i in range(C.shape[0]):
        C_dot[i] = beta_dot * C[i] + beta * C_dot[i]
        C[i] *= beta
        for k in range(A.shape[1]):
            a = alpha * A[i, k]
            a_dot = alpha_dot * A[i, k] + alpha * A_dot[i, k]
            C_dot[i] += a_dot * B[k] + a * B_dot[k]
            C[i] += a * B[k]
    return np.sum(C * C), 2.0 * np.sum(C * C_dot)


def trisolv(L, x, b, L_dot, x_dot, b_dot):
    for i in range(len(b)):
        row, head, d = L[i, :i], x[:i], L[i, i]
        y = (b[i] - row.dot(head)) / d
        x_dot[i] = (b_dot[i] - L_dot[i, :i].dot(head) - row.dot(x_dot[:i]) - L_dot[i, i] * y) / d
        x[i] = y
    return np.sum(x**2), 2.0 * x.dot(x_dot)


def cholesky(A, A_dot):
    n = A.shape[0]
    root = np.sqrt(A[0, 0])
    A_dot[0, 0] = 0.5 * A_dot[0, 0] / root
    A[0, 0] = root
    for i in range(1, n):
        for j in range(i):
            row, other = A[i, :j], A[j, :j]
            d = A[j, j]
            y = (A[i, j] - row.dot(other)) / d
            moved = A_dot[i, j] - A_dot[i, :j].dot(other) - row.dot(A_dot[j, :j])
            A_dot[i, j] = (moved - A_dot[j, j] * y) / d
            A[i, j] = y
        row = A[i, :i]
        root = np.sqrt(A[i, i] - row.dot(row))
        A_dot[i, i] = (0.5 * A_dot[i, i] - A_dot[i, :i].dot(row)) / root
        A[i, i] = root
    logdet = logdet_dot = 0.0
    for i in range(n):
        logdet += 2.0 * np.log(A[i, i])
        logdet_dot += 2.0 * A_dot[i, i] / A[i, i]
    lower = np.tril(A, -1)
    return logdet + np.sum(lower**3), logdet_dot + 3.0 * np.sum(lower * lower * A_dot)


def lu(A, A_dot):
    n = len(A)
    for i in range(n):
        for j in range(i):
            row, column, d = A[i, :j], A[:j, j], A[j, j]
            y = (A[i, j] - row.dot(column)) / d
            moved = A_dot[i, j] - A_dot[i, :j].dot(column) - row.dot(A_dot[:j, j])
            A_dot[i, j] = (moved - A_dot[j, j] * y) / d
            A[i, j] = y
        row, row_dot = A[i, :i], A_dot[i, :i]
        for j in range(i, n):
            column = A[:i, j]
            A_dot[i, j] -= row_dot.dot(column) + row.dot(A_dot[:i, j])
            A[i, j] -= row.dot(column)
    return np.sum(np.sin(A)), np.sum(np.cos(A) * A_dot)


def durbin(r, r_dot):
    y, y_dot = np.empty_like(r), np.empty_like(r)
    alpha, alpha_dot = -r[0], -r_dot[0]
    beta, beta_dot = 1.0, 0.0
    y[0], y_dot[0] = alpha, alpha_dot
    for k in range(1, r.shape[0]):
        shrink = 1.0 - alpha * alpha
        beta_dot = beta_dot * shrink - 2.0 * beta * alpha * alpha_dot
        beta *= shrink
        head, head_dot, flipped = y[:k], y_dot[:k], r[:k][::-1]
        alpha = -(r[k] + flipped.dot(head)) / beta
        alpha_dot = -(r_dot[k] + r_dot[:k][::-1].dot(head) + flipped.dot(head_dot) + alpha * beta_dot) / beta
        back = head[::-1]
        head_dot += alpha_dot * back + alpha * head_dot[::-1]
        head += alpha * back
        y[k], y_dot[k] = alpha, alpha_dot
    return np.sum(y * y), 2.0 * y.dot(y_dot)


def gramschmidt(A, target, A_dot, target_dot):
    m, n = A.shape
    Q, Q_dot = np.zeros((m, n)), np.zeros((m, n))
    R, R_dot = np.zeros((n, n)), np.zeros((n, n))
    for k in range(n):
        a, a_dot = A[:, k], A_dot[:, k]
        length = np.sqrt(a.dot(a))
        length_dot = a.dot(a_dot) / length
        q = a / length
        q_dot = (a_dot - length_dot * q) / length
        R[k, k], R_dot[k, k] = length, length_dot
        Q[:, k], Q_dot[:, k] = q, q_dot
        for j in range(k + 1, n):
            a, a_dot = A[:, j], A_dot[:, j]
            r = q.dot(a)
            r_dot = q_dot.dot(a) + q.dot(a_dot)
            a_dot -= q_dot * r + q * r_dot
            a -= q * r
            R[k, j], R_dot[k, j] = r, r_dot
    miss = Q - target
    return np.sum(miss**2) + np.sum(R), 2.0 * np.sum(miss * (Q_dot - target_dot)) + np.sum(R_dot)


def power_iteration(A, v, steps, A_dot, v_dot, steps_dot):
    eigenvalue = eigenvalue_dot = 0.0
    for _ in range(steps):
        w, w_dot = A @ v, A_dot @ v + A @ v_dot
        square = v.dot(v)
        eigenvalue = v.dot(w) / square
        eigenvalue_dot = (v_dot.dot(w) + v.dot(w_dot) - 2.0 * eigenvalue * v.dot(v_dot)) / square
        length = np.linalg.norm(w)
        v = w / length
        v_dot = (w_dot - v.dot(w_dot) * v) / length
    return eigenvalue + np.sum(v**4), eigenvalue_dot + 4.0 * np.sum(v**3 * v_dot)


def tridiagonal(lower, diagonal, upper, d, lower_dot, diagonal_dot, upper_dot, d_dot):
    n = len(d)
    c, c_dot = np.zeros(n - 1), np.zeros(n - 1)
    m, m_dot = diagonal[0], diagonal_dot[0]
    c[0] = upper[0] / m
    c_dot[0] = (upper_dot[0] - m_dot * c[0]) / m
    d[0] = d[0] / m
    d_dot[0] = (d_dot[0] - m_dot * d[0]) / m
    for i in range(1, n):
        low, low_dot, above = lower[i - 1], lower_dot[i - 1], c[i - 1]
        m = diagonal[i] - low * above
        m_dot = diagonal_dot[i] - low_dot * above - low * c_dot[i - 1]
        if i < n - 1:
            y = upper[i] / m
            c_dot[i] = (upper_dot[i] - m_dot * y) / m
            c[i] = y
        above = d[i - 1]
        y = (d[i] - low * above) / m
        d_dot[i] = (d_dot[i] - low_dot * above - low * d_dot[i - 1] - m_dot * y) / m
        d[i] = y
    for i in reversed(range(n - 1)):
        below = d[i + 1]
        d_dot[i] -= c_dot[i] * below + c[i] * d_dot[i + 1]
        d[i] -= c[i] * below
    return np.sum(d * d), 2.0 * d.dot(d_dot)


def conjugate_gradient(M, b, x0, tolerance, M_dot, b_dot, x0_dot, tolerance_dot):
    n = len(b)
    A = M @ M.T / n + np.eye(n)
    half = M_dot @ M.T
    A_dot = (half + half.T) / n
    x, x_dot = x0.copy(), x0_dot.copy()
    r, r_dot = b - A @ x, b_dot - A_dot @ x - A @ x_dot
    p, p_dot = r.copy(), r_dot.copy()
    rs, rs_dot = r.dot(r), 2.0 * r.dot(r_dot)
    for _ in range(2 * n):
        Ap, Ap_dot = A @ p, A_dot @ p + A @ p_dot
        square = p.dot(Ap)
        alpha = rs / square
        alpha_dot = (rs_dot - alpha * (p_dot.dot(Ap) + p.dot(Ap_dot))) / square
        x_dot += alpha_dot * p + alpha * p_dot
        x += alpha * p
        r_dot -= alpha_dot * Ap + alpha * Ap_dot
        r -= alpha * Ap
        rs_new, rs_new_dot = r.dot(r), 2.0 * r.dot(r_dot)
        if np.sqrt(rs_new) < tolerance:
            break
        beta = rs_new / rs
        beta_dot = (rs_new_dot - beta * rs_dot) / rs
        p, p_dot = r + beta * p, r_dot + beta_dot * p + beta * p_dot
        rs, rs_dot = rs_new, rs_new_dot
    return np.sum(x**2) + x[0], 2.0 * x.dot(x_dot) + x_dot[0]


def jacobi_2d(steps, A, steps_dot, A_dot):
    B, B_dot = A.copy(), A_dot.copy()
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        B_dot[1:-1, 1:-1] = 0.2 * (
            A_dot[1:-1, 1:-1] + A_dot[1:-1, :-2] + A_dot[1:-1, 2:] + A_dot[2:, 1:-1] + A_dot[:-2, 1:-1]
        )
        A, B, A_dot, B_dot = B, A, B_dot, A_dot
    return np.sum(A**3), 3.0 * np.sum(A * A * A_dot)


def seidel_2d(steps, A, steps_dot, A_dot):
    n = A.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            up, down = i - 1, i + 1
            for j in range(1, n - 1):
                left, right = j - 1, j + 1
                A[i, j] = (
                    A[up, left]
                    + A[up, j]
                    + A[up, right]
                    + A[i, left]
                    + A[i, j]
                    + A[i, right]
                    + A[down, left]
                    + A[down, j]
                    + A[down, right]
                ) / 9.0
                A_dot[i, j] = (
                    A_dot[up, left]
                    + A_dot[up, j]
                    + A_dot[up, right]
                    + A_dot[i, left]
                    + A_dot[i, j]
                    + A_dot[i, right]
                    + A_dot[down, left]
                    + A_dot[down, j]
                    + A_dot[down, right]
                ) / 9.0
    return np.sum(A * A), 2.0 * np.sum(A * A_dot)


def heat_3d_step(new, old, k, new_dot, old_dot, k_dot):
    inner = slice(1, -1)
    middle = 2.0 * old[inner, inner, inner]
    middle_dot = 2.0 * old_dot[inner, inner, inner]
    bend = (
        (old[2:, inner, inner] - middle + old[:-2, inner, inner])
        + (old[inner, 2:, inner] - middle + old[inner, :-2, inner])
        + (old[inner, inner, 2:] - middle + old[inner, inner, :-2])
    )
    bend_dot = (
        (old_dot[2:, inner, inner] - middle_dot + old_dot[:-2, inner, inner])
        + (old_dot[inner, 2:, inner] - middle_dot + old_dot[inner, :-2, inner])
        + (old_dot[inner, inner, 2:] - middle_dot + old_dot[inner, inner, :-2])
    )
    new[inner, inner, inner] = k * bend + old[inner, inner, inner]
    new_dot[inner, inner, inner] = k_dot * bend + k * bend_dot + old_dot[inner, inner, inner]


def heat_3d(steps, A, B, k, steps_dot, A_dot, B_dot, k_dot):
    for _ in range(1, steps):
        heat_3d_step(B, A, k, B_dot, A_dot, k_dot)
        heat_3d_step(A, B, k, A_dot, B_dot, k_dot)
    return np.sum(A * A), 2.0 * np.sum(A * A_dot)


def fdtd_2d(steps, ex, ey, hz, fict, steps_dot, ex_dot, ey_dot, hz_dot, fict_dot):
    for t in range(steps):
        ey[0, :] = fict[t]
        ey_dot[0, :] = fict_dot[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ey_dot[1:, :] -= 0.5 * (hz_dot[1:, :] - hz_dot[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        ex_dot[:, 1:] -= 0.5 * (hz_dot[:, 1:] - hz_dot[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
        hz_dot[:-1, :-1] -= 0.7 * (ex_dot[:-1, 1:] - ex_dot[:-1, :-1] + ey_dot[1:, :-1] - ey_dot[:-1, :-1])
    value = np.sum(hz * hz) + np.sum(ex * ey)
    return value, 2.0 * np.sum(hz * hz_dot) + np.sum(ex_dot * ey + ex * ey_dot)


def adi(steps, u, steps_dot, u_dot):
    N = u.shape[0]
    DX, DT = 1.0 / N, 1.0 / steps
    mul1 = 2.0 * DT / DX**2
    mul2 = 1.0 * DT / DX**2
    a = c = -mul1 / 2.0
    b = 1.0 + mul1
    d = f = -mul2 / 2.0
    e = 1.0 + mul2
    # The coefficients p do not depend on u, so they do not move.
    v, p, q = np.empty_like(u), np.empty_like(u), np.empty_like(u)
    v_dot, q_dot = np.empty_like(u), np.empty_like(u)
    inner = slice(1, N - 1)
    for _ in range(1, steps + 1):
        v[0, inner] = 1.0
        v_dot[0, inner] = 0.0
        p[inner, 0] = 0.0
        q[inner, 0] = 1.0
        q_dot[inner, 0] = 0.0
        for j in range(1, N - 1):
            divisor = a * p[inner, j - 1] + b
            p[inner, j] = -c / divisor
            q[inner, j] = (
                -d * u[j, 0 : N - 2] + (1.0 + 2.0 * d) * u[j, inner] - f * u[j, 2:N] - a * q[inner, j - 1]
            ) / divisor
            q_dot[inner, j] = (
                -d * u_dot[j, 0 : N - 2]
                + (1.0 + 2.0 * d) * u_dot[j, inner]
                - f * u_dot[j, 2:N]
                - a * q_dot[inner, j - 1]
            ) / divisor
        v[N - 1, inner] = 1.0
        v_dot[N - 1, inner] = 0.0
        for j in range(N - 2, 0, -1):
            v[j, inner] = p[inner, j] * v[j + 1, inner] + q[inner, j]
            v_dot[j, inner] = p[inner, j] * v_dot[j + 1, inner] + q_dot[inner, j]

        u[inner, 0] = 1.0
        u_dot[inner, 0] = 0.0
        p[inner, 0] = 0.0
        q[inner, 0] = 1.0
        q_dot[inner, 0] = 0.0
        for j in range(1, N - 1):
            divisor = d * p[inner, j - 1] + e
            p[inner, j] = -f / divisor
            q[inner, j] = (
                -a * v[0 : N - 2, j] + (1.0 + 2.0 * a) * v[inner, j] - c * v[2:N, j] - d * q[inner, j - 1]
            ) / divisor
            q_dot[inner, j] = (
                -a * v_dot[0 : N - 2, j]
                + (1.0 + 2.0 * a) * v_dot[inner, j]
                - c * v_dot[2:N, j]
                - d * q_dot[inner, j - 1]
            ) / divisor
        u[inner, N - 1] = 1.0
        u_dot[inner, N - 1] = 0.0
        for j in range(N - 2, 0, -1):
            u[inner, j] = p[inner, j] * u[inner, j + 1] + q[inner, j]
            u_dot[inner, j] = p[inner, j] * u_dot[inner, j + 1] + q_dot[inner, j]
    end = u[1:-1, 1:-1]
    return np.sum(end**2), 2.0 * np.sum(end * u_dot[1:-1, 1:-1])


# Kernels with loops and stores, whose arguments are floats and arrays.
TANGENTS: list[Callable[..., Any]] = [
    trisolv, cholesky, gramschmidt, jacobi_2d, seidel_2d, heat_3d, fdtd_2d, adi, durbin, lu, power_iteration,
    tridiagonal, conjugate_gradient, gemm,
]  # fmt: skip
