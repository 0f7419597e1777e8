"""Factorisations of matrices, column by column and element by element."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.in_numba.case import Case


def lu(A):
    A = A.copy()
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]
    return np.sum(A * A)


def lu_in_numba(A):
    A = A.copy()
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            s = 0.0
            for k in range(j):
                s += A[i, k] * A[k, j]
            A[i, j] = (A[i, j] - s) / A[j, j]
        for j in range(i, n):
            s = 0.0
            for k in range(i):
                s += A[i, k] * A[k, j]
            A[i, j] -= s
    value = 0.0
    A_bar = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            value += A[i, j] * A[i, j]
            A_bar[i, j] = 2.0 * A[i, j]
    for i in range(n - 1, -1, -1):
        for j in range(n - 1, i - 1, -1):
            g = A_bar[i, j]
            for k in range(i):
                A_bar[i, k] -= g * A[k, j]
                A_bar[k, j] -= g * A[i, k]
        for j in range(i - 1, -1, -1):
            g = A_bar[i, j] / A[j, j]
            A_bar[j, j] -= g * A[i, j]
            A_bar[i, j] = g
            for k in range(j):
                A_bar[i, k] -= g * A[k, j]
                A_bar[k, j] -= g * A[i, k]
    return value, A_bar


def lu_in_jax():
    import jax.numpy as jnp
    from jax import lax

    def lu(A):
        n = A.shape[0]
        row = jnp.arange(n)

        def eliminate(k, A):
            factors = jnp.where(row > k, A[:, k] / A[k, k], 0.0)
            A = A - jnp.outer(factors, jnp.where(row > k, A[k], 0.0))
            return A.at[:, k].set(jnp.where(row > k, factors, A[:, k]))

        A = lax.fori_loop(0, n, eliminate, A)
        return jnp.sum(A * A)

    return lu


def lu_inputs(rng, n):
    return (rng.normal(size=(n, n)) + n * np.eye(n),)


def gramschmidt(A):
    A = A.copy()
    m, n = A.shape
    Q = np.zeros((m, n))
    R = np.zeros((n, n))
    for k in range(n):
        R[k, k] = np.sqrt(np.dot(A[:, k], A[:, k]))
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, n):
            R[k, j] = np.dot(Q[:, k], A[:, j])
            A[:, j] -= Q[:, k] * R[k, j]
    return np.sum(Q**3) + np.sum(R)


def gramschmidt_in_numba(A):
    A = A.copy()
    m, n = A.shape
    Q, R = np.empty((m, n)), np.zeros((n, n))
    for k in range(n):
        s = 0.0
        for i in range(m):
            s += A[i, k] * A[i, k]
        R[k, k] = math.sqrt(s)
        for i in range(m):
            Q[i, k] = A[i, k] / R[k, k]
        for j in range(k + 1, n):
            s = 0.0
            for i in range(m):
                s += Q[i, k] * A[i, j]
            R[k, j] = s
            for i in range(m):
                A[i, j] -= Q[i, k] * s
    value = 0.0
    Q_bar = np.empty((m, n))
    for i in range(m):
        for k in range(n):
            value += Q[i, k] ** 3
            Q_bar[i, k] = 3.0 * Q[i, k] ** 2
    for k in range(n):
        for j in range(k, n):
            value += R[k, j]
    A_bar = np.zeros((m, n))
    for k in range(n - 1, -1, -1):
        for j in range(n - 1, k, -1):
            s = R[k, j]
            s_bar = 1.0
            for i in range(m):
                A[i, j] += Q[i, k] * s  # as it was before the step
                s_bar -= Q[i, k] * A_bar[i, j]
            for i in range(m):
                Q_bar[i, k] += s_bar * A[i, j] - A_bar[i, j] * s
                A_bar[i, j] += s_bar * Q[i, k]
        s_bar = 0.0
        for i in range(m):
            s_bar += Q_bar[i, k] * Q[i, k]
        s_bar = 1.0 - s_bar / R[k, k]
        for i in range(m):
            A_bar[i, k] += Q_bar[i, k] / R[k, k] + s_bar * Q[i, k]
    return value, A_bar


def gramschmidt_in_jax():
    import jax.numpy as jnp
    from jax import lax

    def gramschmidt(A):
        m, n = A.shape
        column = jnp.arange(n)

        def step(k, state):
            A, Q, R = state
            a = A[:, k]
            length = jnp.sqrt(a @ a)
            q = a / length
            row = jnp.where(column > k, q @ A, 0.0)
            A = A - jnp.outer(q, row)
            return A, Q.at[:, k].set(q), R.at[k].set(row.at[k].set(length))

        _, Q, R = lax.fori_loop(0, n, step, (A, jnp.zeros((m, n)), jnp.zeros((n, n))))
        return jnp.sum(Q**3) + jnp.sum(R)

    return gramschmidt


def gramschmidt_inputs(rng, m, n):
    return (rng.normal(size=(m, n)),)


CASES = [
    Case(lu, lu_in_numba, lu_in_jax, lu_inputs, (5,), (100,), (0,)),
    Case(gramschmidt, gramschmidt_in_numba, gramschmidt_in_jax, gramschmidt_inputs, (5, 3), (80, 60), (0,)),
]
