"""Stencils on grids."""

from __future__ import annotations

import numpy as np

from benchmarks.in_numba.case import Case


def seidel_2d(A, steps):
    A = A.copy()
    n = A.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            A[i, 1:-1] += (
                A[i - 1, :-2] + A[i - 1, 1:-1] + A[i - 1, 2:] + A[i, 2:] + A[i + 1, :-2] + A[i + 1, 1:-1] + A[i + 1, 2:]
            )
            for j in range(1, n - 1):
                A[i, j] += A[i, j - 1]
                A[i, j] /= 9.0
    return np.sum(A * A)


def seidel_2d_in_numba(A, steps):
    A = A.copy()
    n, m = A.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                A[i, j] += (
                    A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1] + A[i, j + 1]
                    + A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]
                )  # fmt: skip
            for j in range(1, m - 1):
                A[i, j] = (A[i, j] + A[i, j - 1]) / 9.0
    value = 0.0
    A_bar = np.empty((n, m))
    for i in range(n):
        for j in range(m):
            value += A[i, j] * A[i, j]
            A_bar[i, j] = 2.0 * A[i, j]
    for _ in range(steps):
        for i in range(n - 2, 0, -1):
            for j in range(m - 2, 0, -1):
                g = A_bar[i, j] / 9.0
                A_bar[i, j] = g
                A_bar[i, j - 1] += g
            for j in range(m):
                s = 0.0
                if j > 1:
                    s += A_bar[i, j - 1]
                if 0 < j < m - 1:
                    s += A_bar[i, j]
                if j < m - 2:
                    s += A_bar[i, j + 1]
                A_bar[i - 1, j] += s
                A_bar[i + 1, j] += s
            before = 0.0
            for j in range(1, m):
                now = A_bar[i, j]
                A_bar[i, j] += before
                before = now
    return value, A_bar


def seidel_2d_in_jax():
    import jax.numpy as jnp
    from jax import lax

    def seidel(A, steps):
        n = A.shape[0]

        def row(i, A):
            above, here, below = A[i - 1], A[i], A[i + 1]
            known = here[1:-1] + here[2:] + above[:-2] + above[1:-1] + above[2:] + below[:-2] + below[1:-1] + below[2:]

            def cell(left, x):
                left = (x + left) / 9.0
                return left, left

            return A.at[i, 1:-1].set(lax.scan(cell, here[0], known)[1])

        A = lax.fori_loop(0, steps, lambda t, A: lax.fori_loop(1, n - 1, row, A), A)
        return jnp.sum(A * A)

    return seidel


def seidel_2d_inputs(rng, n, steps):
    return rng.normal(size=(n, n)), steps


def nonlinear_heat(u, k0, beta, steps):
    """A plate whose conductivity grows with its temperature; the border is kept as it is."""
    dt = 0.1
    for _ in range(steps):
        k = k0 * (1.0 + beta * u**2)
        down = 0.5 * (k[1:, 1:-1] + k[:-1, 1:-1]) * (u[1:, 1:-1] - u[:-1, 1:-1])
        across = 0.5 * (k[1:-1, 1:] + k[1:-1, :-1]) * (u[1:-1, 1:] - u[1:-1, :-1])
        u = u.copy()
        u[1:-1, 1:-1] += dt * (down[1:] - down[:-1] + across[:, 1:] - across[:, :-1])
    return np.mean(u**2)


def nonlinear_heat_in_numba(u, k0, beta, steps):
    dt = 0.1
    n, m = u.shape
    us = np.empty((steps + 1, n, m))
    us[0] = u
    k = np.empty((n, m))
    for t in range(steps):
        u, new = us[t], us[t + 1]
        for i in range(n):
            for j in range(m):
                k[i, j] = k0[i, j] * (1.0 + beta * u[i, j] ** 2)
                new[i, j] = u[i, j]
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                new[i, j] += (0.5 * dt) * (
                    (k[i + 1, j] + k[i, j]) * (u[i + 1, j] - u[i, j])
                    - (k[i, j] + k[i - 1, j]) * (u[i, j] - u[i - 1, j])
                    + (k[i, j + 1] + k[i, j]) * (u[i, j + 1] - u[i, j])
                    - (k[i, j] + k[i, j - 1]) * (u[i, j] - u[i, j - 1])
                )
    value = 0.0
    u_bar, k_bar, k0_bar = np.empty((n, m)), np.empty((n, m)), np.zeros((n, m))
    inner = np.zeros((n, m))
    beta_bar = 0.0
    for i in range(n):
        for j in range(m):
            value += us[steps, i, j] ** 2
            u_bar[i, j] = 2.0 / (n * m) * us[steps, i, j]
    for t in range(steps - 1, -1, -1):
        u = us[t]
        for i in range(n):
            for j in range(m):
                k[i, j] = k0[i, j] * (1.0 + beta * u[i, j] ** 2)
                k_bar[i, j] = 0.0
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                inner[i, j] = 0.5 * dt * u_bar[i, j]
        for i in range(n - 1):
            for j in range(1, m - 1):
                flux = inner[i, j] - inner[i + 1, j]
                slope = flux * (k[i, j] + k[i + 1, j])
                flux *= u[i + 1, j] - u[i, j]
                k_bar[i, j] += flux
                k_bar[i + 1, j] += flux
                u_bar[i + 1, j] += slope
                u_bar[i, j] -= slope
        for i in range(1, n - 1):
            for j in range(m - 1):
                flux = inner[i, j] - inner[i, j + 1]
                slope = flux * (k[i, j] + k[i, j + 1])
                flux *= u[i, j + 1] - u[i, j]
                k_bar[i, j] += flux
                k_bar[i, j + 1] += flux
                u_bar[i, j + 1] += slope
                u_bar[i, j] -= slope
        for i in range(n):
            for j in range(m):
                k0_bar[i, j] += k_bar[i, j] * (1.0 + beta * u[i, j] ** 2)
                g = k_bar[i, j] * k0[i, j] * u[i, j]
                beta_bar += g * u[i, j]
                u_bar[i, j] += 2.0 * beta * g
    return value / (n * m), u_bar, k0_bar, beta_bar


def nonlinear_heat_in_jax():
    import jax.numpy as jnp
    from jax import lax

    def heat(u, k0, beta, steps):
        dt = 0.1

        def step(t, u):
            k = k0 * (1.0 + beta * u**2)
            down = 0.5 * (k[1:, 1:-1] + k[:-1, 1:-1]) * (u[1:, 1:-1] - u[:-1, 1:-1])
            across = 0.5 * (k[1:-1, 1:] + k[1:-1, :-1]) * (u[1:-1, 1:] - u[1:-1, :-1])
            return u.at[1:-1, 1:-1].add(dt * (down[1:] - down[:-1] + across[:, 1:] - across[:, :-1]))

        return jnp.mean(lax.fori_loop(0, steps, step, u) ** 2)

    return heat


def nonlinear_heat_inputs(rng, n, steps):
    return rng.uniform(size=(n, n)), rng.uniform(0.5, 1.0, (n, n)), 0.6, steps


def jacobi_2d(A, B, steps):
    A, B = A.copy(), B.copy()
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])
    return np.sum(A * A)


def jacobi_2d_in_numba(A, B, steps):
    A, B = A.copy(), B.copy()
    n, m = A.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])
    value = 0.0
    A_bar, B_bar = np.empty((n, m)), np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            value += A[i, j] * A[i, j]
            A_bar[i, j] = 2.0 * A[i, j]
    g = np.zeros((n + 2, m + 2))  # the cotangent of the interior, in a border of zeros
    for _ in range(steps):
        for _side in range(2):
            for i in range(1, n - 1):
                for j in range(1, m - 1):
                    g[i + 1, j + 1] = 0.2 * A_bar[i, j]
                    A_bar[i, j] = 0.0
            for i in range(n):
                for j in range(m):
                    B_bar[i, j] += g[i + 1, j + 1] + g[i + 1, j] + g[i + 1, j + 2] + g[i, j + 1] + g[i + 2, j + 1]
            A_bar, B_bar = B_bar, A_bar
    return value, A_bar, B_bar


def jacobi_2d_in_jax():
    import jax.numpy as jnp
    from jax import lax

    def jacobi(A, B, steps):
        def mean(A):
            return 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])

        def step(t, state):
            A, B = state
            B = B.at[1:-1, 1:-1].set(mean(A))
            return A.at[1:-1, 1:-1].set(mean(B)), B

        A, _ = lax.fori_loop(0, steps, step, (A, B))
        return jnp.sum(A * A)

    return jacobi


def jacobi_2d_inputs(rng, n, steps):
    return rng.normal(size=(n, n)), rng.normal(size=(n, n)), steps


def fdtd_2d(ex, ey, hz, fict):
    """Electromagnetic waves on a staggered grid."""
    ex, ey, hz = ex.copy(), ey.copy(), hz.copy()
    for t in range(fict.shape[0]):
        ey[0, :] = fict[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return np.sum(hz * hz) + np.sum(ex * ey)


def fdtd_2d_in_numba(ex, ey, hz, fict):
    ex, ey, hz = ex.copy(), ey.copy(), hz.copy()
    n, m = hz.shape
    steps = fict.shape[0]
    for t in range(steps):
        for j in range(m):
            ey[0, j] = fict[t]
        for i in range(1, n):
            for j in range(m):
                ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(n):
            for j in range(1, m):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(n - 1):
            for j in range(m - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])
    value = 0.0
    ex_bar, ey_bar, hz_bar = np.empty((n, m)), np.empty((n, m)), np.empty((n, m))
    fict_bar = np.empty(steps)
    for i in range(n):
        for j in range(m):
            value += hz[i, j] * hz[i, j] + ex[i, j] * ey[i, j]
            hz_bar[i, j] = 2.0 * hz[i, j]
            ex_bar[i, j] = ey[i, j]
            ey_bar[i, j] = ex[i, j]
    for t in range(steps - 1, -1, -1):
        for i in range(n - 1):
            for j in range(m - 1):
                g = 0.7 * hz_bar[i, j]
                ex_bar[i, j] += g
                ex_bar[i, j + 1] -= g
                ey_bar[i, j] += g
                ey_bar[i + 1, j] -= g
        for i in range(n):
            for j in range(1, m):
                g = 0.5 * ex_bar[i, j]
                hz_bar[i, j] -= g
                hz_bar[i, j - 1] += g
        for i in range(1, n):
            for j in range(m):
                g = 0.5 * ey_bar[i, j]
                hz_bar[i, j] -= g
                hz_bar[i - 1, j] += g
        s = 0.0
        for j in range(m):
            s += ey_bar[0, j]
            ey_bar[0, j] = 0.0
        fict_bar[t] = s
    return value, ex_bar, ey_bar, hz_bar, fict_bar


def fdtd_2d_in_jax():
    import jax.numpy as jnp
    from jax import lax

    def fdtd(ex, ey, hz, fict):
        def step(state, f):
            ex, ey, hz = state
            ey = ey.at[0, :].set(f)
            ey = ey.at[1:, :].add(-0.5 * (hz[1:, :] - hz[:-1, :]))
            ex = ex.at[:, 1:].add(-0.5 * (hz[:, 1:] - hz[:, :-1]))
            hz = hz.at[:-1, :-1].add(-0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]))
            return (ex, ey, hz), None

        (ex, ey, hz), _ = lax.scan(step, (ex, ey, hz), fict)
        return jnp.sum(hz * hz) + jnp.sum(ex * ey)

    return fdtd


def fdtd_2d_inputs(rng, n, m, steps):
    return *(rng.normal(size=(n, m)) for _ in range(3)), rng.normal(size=steps)


def adi(u, steps):
    """Alternating directions: an implicit sweep along columns, one along rows."""
    u = u.copy()
    N = u.shape[0]
    mul1 = 2.0 * N * N / steps
    mul2 = 1.0 * N * N / steps
    a = -mul1 / 2.0
    b = 1.0 + mul1
    c = a
    d = -mul2 / 2.0
    e = 1.0 + mul2
    f = d
    v = np.empty_like(u)
    p = np.empty_like(u)
    q = np.empty_like(u)
    for _ in range(steps):
        v[0, 1 : N - 1] = 1.0
        p[1 : N - 1, 0] = 0.0
        q[1 : N - 1, 0] = v[0, 1 : N - 1]
        for j in range(1, N - 1):
            p[1 : N - 1, j] = -c / (a * p[1 : N - 1, j - 1] + b)
            q[1 : N - 1, j] = (
                -d * u[j, 0 : N - 2] + (1.0 + 2.0 * d) * u[j, 1 : N - 1] - f * u[j, 2:N] - a * q[1 : N - 1, j - 1]
            ) / (a * p[1 : N - 1, j - 1] + b)
        v[N - 1, 1 : N - 1] = 1.0
        for j in range(N - 2, 0, -1):
            v[j, 1 : N - 1] = p[1 : N - 1, j] * v[j + 1, 1 : N - 1] + q[1 : N - 1, j]
        u[1 : N - 1, 0] = 1.0
        p[1 : N - 1, 0] = 0.0
        q[1 : N - 1, 0] = u[1 : N - 1, 0]
        for j in range(1, N - 1):
            p[1 : N - 1, j] = -f / (d * p[1 : N - 1, j - 1] + e)
            q[1 : N - 1, j] = (
                -a * v[0 : N - 2, j] + (1.0 + 2.0 * a) * v[1 : N - 1, j] - c * v[2:N, j] - d * q[1 : N - 1, j - 1]
            ) / (d * p[1 : N - 1, j - 1] + e)
        u[1 : N - 1, N - 1] = 1.0
        for j in range(N - 2, 0, -1):
            u[1 : N - 1, j] = p[1 : N - 1, j] * u[1 : N - 1, j + 1] + q[1 : N - 1, j]
    return np.sum(u[1:-1, 1:-1] ** 2)


def adi_in_numba(u, steps):
    """The sweeps are linear in `u`, and their factors are the same in all steps."""
    u = u.copy()
    N = u.shape[0]
    mul1 = 2.0 * N * N / steps
    mul2 = 1.0 * N * N / steps
    a, b, d, e = -mul1 / 2.0, 1.0 + mul1, -mul2 / 2.0, 1.0 + mul2
    v, q = np.empty((N, N)), np.empty((N, N))
    p, r = np.empty((N, N)), np.empty((N, N))
    for _ in range(steps):
        for i in range(1, N - 1):
            v[0, i] = v[N - 1, i] = q[i, 0] = 1.0
            p[i, 0] = 0.0
        for j in range(1, N - 1):
            for i in range(1, N - 1):
                over = 1.0 / (a * p[i, j - 1] + b)
                p[i, j] = -a * over
                q[i, j] = (-d * u[j, i - 1] + (1.0 + 2.0 * d) * u[j, i] - d * u[j, i + 1] - a * q[i, j - 1]) * over
        for j in range(N - 2, 0, -1):
            for i in range(1, N - 1):
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        for i in range(1, N - 1):
            u[i, 0] = u[i, N - 1] = q[i, 0] = 1.0
            r[i, 0] = 0.0
        for j in range(1, N - 1):
            for i in range(1, N - 1):
                over = 1.0 / (d * r[i, j - 1] + e)
                r[i, j] = -d * over
                q[i, j] = (-a * v[i - 1, j] + (1.0 + 2.0 * a) * v[i, j] - a * v[i + 1, j] - d * q[i, j - 1]) * over
        for j in range(N - 2, 0, -1):
            for i in range(1, N - 1):
                u[i, j] = r[i, j] * u[i, j + 1] + q[i, j]
    value = 0.0
    u_bar, v_bar, q_bar = np.zeros((N, N)), np.zeros((N, N)), np.empty((N, N))
    for i in range(1, N - 1):
        for j in range(1, N - 1):
            value += u[i, j] ** 2
            u_bar[i, j] = 2.0 * u[i, j]
    for _ in range(steps):
        v_bar[:] = 0.0
        q_bar[:] = 0.0
        for j in range(1, N - 1):
            for i in range(1, N - 1):
                q_bar[i, j] = u_bar[i, j]
                u_bar[i, j + 1] += r[i, j] * u_bar[i, j]
                u_bar[i, j] = 0.0
        for j in range(N - 2, 0, -1):
            for i in range(1, N - 1):
                g = q_bar[i, j] / (d * r[i, j - 1] + e)
                v_bar[i - 1, j] -= a * g
                v_bar[i, j] += (1.0 + 2.0 * a) * g
                v_bar[i + 1, j] -= a * g
                q_bar[i, j - 1] -= d * g
        for i in range(1, N - 1):
            u_bar[i, 0] = u_bar[i, N - 1] = 0.0
        for j in range(1, N - 1):
            for i in range(1, N - 1):
                q_bar[i, j] = v_bar[j, i]
                v_bar[j + 1, i] += p[i, j] * v_bar[j, i]
        for i in range(1, N - 1):
            q_bar[i, 0] = 0.0
        for j in range(N - 2, 0, -1):
            for i in range(1, N - 1):
                g = q_bar[i, j] / (a * p[i, j - 1] + b)
                u_bar[j, i - 1] -= d * g
                u_bar[j, i] += (1.0 + 2.0 * d) * g
                u_bar[j, i + 1] -= d * g
                q_bar[i, j - 1] -= a * g
    return value, u_bar


def adi_in_jax():
    import jax.numpy as jnp
    from jax import lax

    def adi(u, steps):
        N = u.shape[0]
        mul1 = 2.0 * N * N / steps
        mul2 = 1.0 * N * N / steps
        a, b, d, e = -mul1 / 2.0, 1.0 + mul1, -mul2 / 2.0, 1.0 + mul2
        ones, zeros = jnp.ones(N - 2), jnp.zeros(N - 2)

        def implicit(right, a, b):
            """Solve for each column of `right`; the borders are ones."""

            def forward(state, x):
                p, q = state
                over = a * p + b
                state = -a / over, (x - a * q) / over
                return state, state

            def backward(later, factors):
                p, q = factors
                later = p * later + q
                return later, later

            return lax.scan(backward, ones, lax.scan(forward, (zeros, ones), right)[1], reverse=True)[1]

        def explicit(x, d):
            return -d * x[:, :-2] + (1.0 + 2.0 * d) * x[:, 1:-1] - d * x[:, 2:]

        def step(t, u):
            v = implicit(explicit(u[1:-1], d), a, b)
            v = jnp.concatenate([ones[None], v, ones[None]])
            inner = implicit(explicit(v.T, a), d, e).T
            return u.at[1:-1].set(jnp.concatenate([ones[:, None], inner, ones[:, None]], axis=1))

        return jnp.sum(lax.fori_loop(0, steps, step, u)[1:-1, 1:-1] ** 2)

    return adi


def adi_inputs(rng, n, steps):
    return rng.normal(size=(n, n)), steps


CASES = [
    Case(seidel_2d, seidel_2d_in_numba, seidel_2d_in_jax, seidel_2d_inputs, (5, 3), (120, 20), (0,), (1,)),
    Case(
        nonlinear_heat, nonlinear_heat_in_numba, nonlinear_heat_in_jax, nonlinear_heat_inputs, (5, 3), (100, 50),
        (0, 1, 2), (3,),
    ),
    Case(jacobi_2d, jacobi_2d_in_numba, jacobi_2d_in_jax, jacobi_2d_inputs, (5, 3), (150, 50), (0, 1), (2,)),
    Case(fdtd_2d, fdtd_2d_in_numba, fdtd_2d_in_jax, fdtd_2d_inputs, (4, 5, 3), (150, 180, 40), (0, 1, 2, 3)),
    Case(adi, adi_in_numba, adi_in_jax, adi_inputs, (5, 2), (100, 20), (0,), (1,)),
]  # fmt: skip
