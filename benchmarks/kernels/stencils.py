"""Stencils and partial differential equations on grids."""

from __future__ import annotations

import numpy as np

from benchmarks.kernels.kernel import Kernel


def jacobi_1d(steps, A, B):
    """Two buffers that are written in turn; both are arguments."""
    for _ in range(1, steps):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])
    return np.sum(A * A) + B[0]


def jacobi_1d_inputs(rng, n, steps):
    return steps, rng.normal(size=n), rng.normal(size=n)


def jacobi_2d(steps, A):
    """Buffers that swap their names."""
    B = A.copy()
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A, B = B, A
    return np.sum(A**3)


def jacobi_2d_inputs(rng, n, steps):
    return steps, rng.normal(size=(n, n))


def seidel_2d(steps, A):
    n = A.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = (
                    A[i - 1, j - 1]
                    + A[i - 1, j]
                    + A[i - 1, j + 1]
                    + A[i, j - 1]
                    + A[i, j]
                    + A[i, j + 1]
                    + A[i + 1, j - 1]
                    + A[i + 1, j]
                    + A[i + 1, j + 1]
                ) / 9.0
    return np.sum(A * A)


def seidel_2d_inputs(rng, n, steps):
    return steps, rng.normal(size=(n, n))


def heat_3d_step(new, old, k):
    new[1:-1, 1:-1, 1:-1] = (
        k * (old[2:, 1:-1, 1:-1] - 2.0 * old[1:-1, 1:-1, 1:-1] + old[:-2, 1:-1, 1:-1])
        + k * (old[1:-1, 2:, 1:-1] - 2.0 * old[1:-1, 1:-1, 1:-1] + old[1:-1, :-2, 1:-1])
        + k * (old[1:-1, 1:-1, 2:] - 2.0 * old[1:-1, 1:-1, 1:-1] + old[1:-1, 1:-1, :-2])
        + old[1:-1, 1:-1, 1:-1]
    )


def heat_3d(steps, A, B, k):
    for _ in range(1, steps):
        heat_3d_step(B, A, k)
        heat_3d_step(A, B, k)
    return np.sum(A * A)


def heat_3d_inputs(rng, n, steps):
    A = rng.normal(size=(n, n, n))
    return steps, A, A.copy(), 0.125


def fdtd_2d(steps, ex, ey, hz, fict):
    """Electromagnetic waves on a staggered grid."""
    for t in range(steps):
        ey[0, :] = fict[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return np.sum(hz * hz) + np.sum(ex * ey)


def fdtd_2d_inputs(rng, n, m, steps):
    return steps, *(rng.normal(size=(n, m)) for _ in range(3)), rng.normal(size=steps)


def adi(steps, u):
    """Alternating directions: an implicit sweep along columns, one along rows."""
    N = u.shape[0]
    DX = 1.0 / N
    DT = 1.0 / steps
    mul1 = 2.0 * DT / DX**2
    mul2 = 1.0 * DT / DX**2
    a = -mul1 / 2.0
    b = 1.0 + mul1
    c = a
    d = -mul2 / 2.0
    e = 1.0 + mul2
    f = d
    v = np.empty_like(u)
    p = np.empty_like(u)
    q = np.empty_like(u)
    for _ in range(1, steps + 1):
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


def adi_inputs(rng, n, steps):
    return steps, rng.normal(size=(n, n))


def hdiff(in_field, out_field, coeff):
    """Horizontal diffusion with a flux limiter, as in weather models."""
    I, J, K = out_field.shape
    lap = 4.0 * in_field[1 : I + 3, 1 : J + 3, :] - (
        in_field[2 : I + 4, 1 : J + 3, :]
        + in_field[0 : I + 2, 1 : J + 3, :]
        + in_field[1 : I + 3, 2 : J + 4, :]
        + in_field[1 : I + 3, 0 : J + 2, :]
    )
    res = lap[1:, 1 : J + 1, :] - lap[:-1, 1 : J + 1, :]
    flx = np.where((res * (in_field[2 : I + 3, 2 : J + 2, :] - in_field[1 : I + 2, 2 : J + 2, :])) > 0, 0, res)
    res = lap[1 : I + 1, 1:, :] - lap[1 : I + 1, :-1, :]
    fly = np.where((res * (in_field[2 : I + 2, 2 : J + 3, :] - in_field[2 : I + 2, 1 : J + 2, :])) > 0, 0, res)
    out_field[:] = in_field[2 : I + 2, 2 : J + 2, :] - coeff * (
        flx[1:, :, :] - flx[:-1, :, :] + fly[:, 1:, :] - fly[:, :-1, :]
    )
    return np.sum(out_field**2)


def hdiff_inputs(rng, i, j, k):
    return rng.normal(size=(i + 4, j + 4, k)), np.zeros((i, j, k)), rng.normal(size=(i, j, k))


def column_solve(stage, wcon, position, dt):
    """Vertical advection: a tridiagonal system in each column, all columns at once."""
    K = stage.shape[2]
    ccol = np.zeros_like(stage)
    dcol = np.zeros_like(stage)
    out = np.zeros_like(stage)
    for k in range(K):
        if k == 0:
            gcv = 0.25 * wcon[:, :, 1]
            cs = gcv
            ccol[:, :, k] = gcv
            bcol = 1.0 / dt - ccol[:, :, k]
            correction = -cs * (stage[:, :, k + 1] - stage[:, :, k])
            divided = 1.0 / bcol
            ccol[:, :, k] = ccol[:, :, k] * divided
            dcol[:, :, k] = (position[:, :, k] / dt + correction) * divided
        elif k < K - 1:
            gav = -0.25 * wcon[:, :, k]
            gcv = 0.25 * wcon[:, :, k + 1]
            acol = gav * 0.5
            ccol[:, :, k] = gcv * 0.5
            bcol = 1.0 / dt - acol - ccol[:, :, k]
            correction = -gav * 0.5 * (stage[:, :, k - 1] - stage[:, :, k])
            correction += -gcv * 0.5 * (stage[:, :, k + 1] - stage[:, :, k])
            dcol[:, :, k] = position[:, :, k] / dt + correction
            divided = 1.0 / (bcol - ccol[:, :, k - 1] * acol)
            ccol[:, :, k] = ccol[:, :, k] * divided
            dcol[:, :, k] = (dcol[:, :, k] - dcol[:, :, k - 1] * acol) * divided
        else:
            gav = -0.25 * wcon[:, :, k]
            acol = gav * 0.5
            bcol = 1.0 / dt - acol
            correction = -gav * 0.5 * (stage[:, :, k - 1] - stage[:, :, k])
            divided = 1.0 / (bcol - ccol[:, :, k - 1] * acol)
            dcol[:, :, k] = (position[:, :, k] / dt + correction - dcol[:, :, k - 1] * acol) * divided
    data = np.zeros_like(stage[:, :, 0])
    for k in range(K - 1, -1, -1):
        data[:] = dcol[:, :, k] - (ccol[:, :, k] * data if k < K - 1 else 0.0)
        out[:, :, k] = (data - position[:, :, k]) / dt
    return out


def vadv(stage, wcon, position):
    return np.sum(column_solve(stage, wcon, position, 0.25) ** 2)


def vadv_inputs(rng, i, j, k):
    return tuple(rng.normal(size=(i, j, k)) for _ in range(3))


def smooth_life(board, steps, sharpness):
    """Conway's rules with smooth births and deaths, on a torus."""
    for _ in range(steps):
        neighbours = np.zeros_like(board)
        for di in (-1, 0, 1):
            for dj in (-1, 0, 1):
                if di == 0 and dj == 0:
                    continue
                neighbours += np.roll(np.roll(board, di, axis=0), dj, axis=1)
        survive = np.exp(-sharpness * (neighbours - 2.5) ** 2)
        birth = np.exp(-sharpness * (neighbours - 3.0) ** 2)
        board = board * survive + (1.0 - board) * birth
    return np.mean(board)


def smooth_life_inputs(rng, n, m, steps):
    return rng.uniform(size=(n, m)), steps, 0.8


def wave_2d(u, velocity, dt, steps):
    """Leap-frog in a medium with a varying speed; reflecting borders."""
    previous = u.copy()
    current = u.copy()
    history = []
    for _ in range(steps):
        laplacian = np.zeros_like(u)
        laplacian[1:-1, 1:-1] = (
            current[:-2, 1:-1] + current[2:, 1:-1] + current[1:-1, :-2] + current[1:-1, 2:] - 4.0 * current[1:-1, 1:-1]
        )
        following = 2.0 * current - previous + (velocity * dt) ** 2 * laplacian
        following[0, :] = 0.0
        following[-1, :] = 0.0
        following[:, 0] = 0.0
        following[:, -1] = 0.0
        previous, current = current, following
        history.append(current[1, 1])
    return np.sum(np.array(history) ** 2) + np.sum(current * current)


def wave_2d_inputs(rng, n, steps):
    return rng.normal(size=(n, n)), rng.uniform(0.5, 1.0, size=(n, n)), 0.5, steps


def shallow_water(h, u, v, dt, steps):
    """Lax-Friedrichs on a torus, with a helper for the neighbours' mean."""
    g = 9.81

    def mean4(q):
        return 0.25 * (np.roll(q, 1, 0) + np.roll(q, -1, 0) + np.roll(q, 1, 1) + np.roll(q, -1, 1))

    def ddx(q):
        return 0.5 * (np.roll(q, -1, 0) - np.roll(q, 1, 0))

    def ddy(q):
        return 0.5 * (np.roll(q, -1, 1) - np.roll(q, 1, 1))

    hu, hv = h * u, h * v
    for _ in range(steps):
        u, v = hu / h, hv / h
        pressure = 0.5 * g * h * h
        h_new = mean4(h) - dt * (ddx(hu) + ddy(hv))
        hu_new = mean4(hu) - dt * (ddx(hu * u + pressure) + ddy(hu * v))
        hv_new = mean4(hv) - dt * (ddx(hv * u) + ddy(hv * v + pressure))
        h, hu, hv = h_new, hu_new, hv_new
    return np.sum(0.5 * (hu**2 + hv**2) / h + 0.5 * g * h**2)


def shallow_water_inputs(rng, n, m, steps):
    return (
        1.0 + 0.1 * rng.uniform(size=(n, m)),
        0.1 * rng.normal(size=(n, m)),
        0.1 * rng.normal(size=(n, m)),
        0.02,
        steps,
    )


def minmod(a, b):
    return np.where(a * b <= 0.0, 0.0, np.where(np.abs(a) < np.abs(b), a, b))


def advection(q, speed, cfl, steps):
    """Upwind with a slope limiter; ghost cells are filled in place."""
    n = q.size
    cells = np.empty(n + 4)
    for _ in range(steps):
        cells[2:-2] = q
        cells[:2] = q[-2:]
        cells[-2:] = q[:2]
        slope = minmod(cells[1:-1] - cells[:-2], cells[2:] - cells[1:-1])
        left = cells[1:-1] + 0.5 * (1.0 - cfl) * slope
        right = cells[1:-1] - 0.5 * (1.0 - cfl) * slope
        flux = speed * left[:-1] if speed > 0 else speed * right[1:]
        q = q - cfl / abs(speed) * (flux[1:] - flux[:-1])
    return np.sum(q**2)


def advection_inputs(rng, n, steps):
    return rng.normal(size=n), 1.5, 0.6, steps


def burgers(u, nu, dx, dt, steps):
    """Godunov's flux, cell by cell, in place with two scalars that remember."""
    n = len(u)
    u = u.copy()
    for _ in range(steps):
        flux = np.zeros(n + 1)
        for i in range(1, n):
            ul, ur = u[i - 1], u[i]
            if ul > ur:
                flux[i] = max(0.5 * ul * ul, 0.5 * ur * ur) if ul + ur > 0 else 0.5 * ur * ur
            elif ul > 0:
                flux[i] = 0.5 * ul**2
            elif ur < 0:
                flux[i] = 0.5 * ur**2
            flux[i] -= nu * (ur - ul) / dx
        before = u[0]
        for i in range(1, n - 1):
            u[i] -= dt / dx * (flux[i + 1] - flux[i])
        u[0] = before
    return dx * np.sum(u * u)


def burgers_inputs(rng, n, steps):
    return rng.normal(size=n), 0.05, 0.2, 0.03, steps


def poisson_sor(f, omega, steps):
    """Red-black successive over-relaxation, with strided views."""
    n = f.shape[0]
    u = np.zeros_like(f)
    h2 = 1.0 / (n - 1) ** 2
    for _ in range(steps):
        for colour in (0, 1):
            for i in range(1, n - 1):
                start = 1 + (i + colour) % 2
                row = u[i, start:-1:2]
                gauss = 0.25 * (
                    u[i - 1, start:-1:2]
                    + u[i + 1, start:-1:2]
                    + u[i, start - 1 : -2 : 2]
                    + u[i, start + 1 :: 2]
                    - h2 * f[i, start:-1:2]
                )
                row += omega * (gauss - row)
    return np.sum(u * f)


def poisson_sor_inputs(rng, k, steps):
    n = 2 * k + 1
    return rng.normal(size=(n, n)), 1.4, steps


def restrict(r):
    out = np.zeros((r.size + 1) // 2)
    out[1:-1] = 0.25 * (r[1:-2:2] + 2.0 * r[2:-1:2] + r[3::2])
    return out


def prolong(e, n):
    out = np.zeros(n)
    out[::2] = e
    out[1::2] = 0.5 * (e[:-1] + e[1:])
    return out


def v_cycle(u, f, h, smooths):
    for _ in range(smooths):
        u[1:-1] += 2.0 / 3.0 * 0.5 * (u[:-2] + u[2:] - 2.0 * u[1:-1] + h * h * f[1:-1])
    if u.size <= 3:
        u[1] = 0.5 * (u[0] + u[2] + h * h * f[1])
        return u
    residual = np.zeros_like(u)
    residual[1:-1] = f[1:-1] + (u[:-2] - 2.0 * u[1:-1] + u[2:]) / (h * h)
    coarse = restrict(residual)
    error = v_cycle(np.zeros_like(coarse), coarse, 2.0 * h, smooths)
    u = u + prolong(error, u.size)
    for _ in range(smooths):
        u[1:-1] += 2.0 / 3.0 * 0.5 * (u[:-2] + u[2:] - 2.0 * u[1:-1] + h * h * f[1:-1])
    return u


def multigrid(f, cycles):
    """Recursive V-cycles for a Poisson equation on a line."""
    n = f.size
    u = np.zeros(n)
    for _ in range(cycles):
        u = v_cycle(u, f, 1.0 / (n - 1), 2)
    return np.sum(u**2) * 100.0


def multigrid_inputs(rng, levels, cycles):
    return 10.0 * rng.normal(size=2**levels + 1), cycles


LATTICE_X = [0, 1, 0, -1, 0, 1, -1, -1, 1]
LATTICE_Y = [0, 0, 1, 0, -1, 1, 1, -1, -1]
LATTICE_WEIGHTS = [4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36]


def lattice_boltzmann(f, tau, steps):
    """D2Q9: collide towards equilibrium, stream along the nine directions."""
    for _ in range(steps):
        rho = np.sum(f, axis=0)
        ux = np.zeros_like(rho)
        uy = np.zeros_like(rho)
        for k in range(9):
            ux += LATTICE_X[k] * f[k]
            uy += LATTICE_Y[k] * f[k]
        ux /= rho
        uy /= rho
        speed2 = ux**2 + uy**2
        for k, (cx, cy, w) in enumerate(zip(LATTICE_X, LATTICE_Y, LATTICE_WEIGHTS)):
            cu = cx * ux + cy * uy
            equilibrium = w * rho * (1.0 + 3.0 * cu + 4.5 * cu**2 - 1.5 * speed2)
            f[k] += -(f[k] - equilibrium) / tau
        for k in range(9):
            f[k] = np.roll(f[k], (LATTICE_X[k], LATTICE_Y[k]), axis=(0, 1))
    return np.sum(ux**2) + np.sum(f[1] * f[3])


def lattice_boltzmann_inputs(rng, n, m, steps):
    return rng.uniform(0.5, 1.0, size=(9, n, m)), 0.8, steps


def pressure_poisson(p, b, dx, dy, iterations):
    for _ in range(iterations):
        pn = p.copy()
        p[1:-1, 1:-1] = ((pn[1:-1, 2:] + pn[1:-1, :-2]) * dy**2 + (pn[2:, 1:-1] + pn[:-2, 1:-1]) * dx**2) / (
            2 * (dx**2 + dy**2)
        ) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0


def cavity_flow(u, v, p, nu, steps, iterations):
    """Navier-Stokes in a box with a moving lid."""
    ny, nx = u.shape
    dx, dy, dt, rho = 2.0 / (nx - 1), 2.0 / (ny - 1), 0.001, 1.0
    b = np.zeros((ny, nx))
    for _ in range(steps):
        un = u.copy()
        vn = v.copy()
        dudx = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx)
        dvdy = (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)
        dudy = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dy)
        dvdx = (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx)
        b[1:-1, 1:-1] = rho * (1 / dt * (dudx + dvdy) - dudx**2 - 2 * dudy * dvdx - dvdy**2)
        pressure_poisson(p, b, dx, dy, iterations)
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
            + nu
            * (
                dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, :-2])
                + dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[:-2, 1:-1])
            )
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[:-2, 1:-1])
            - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
            + nu
            * (
                dt / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, :-2])
                + dt / dy**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[:-2, 1:-1])
            )
        )
        u[0, :] = u[:, 0] = u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = v[-1, :] = v[:, 0] = v[:, -1] = 0
    return np.sum(u * u + v * v)


def cavity_flow_inputs(rng, n, steps, iterations):
    return *(0.1 * rng.normal(size=(n, n)) for _ in range(3)), 0.1, steps, iterations


def gray_scott(U, V, feed, kill, steps):
    """Reaction and diffusion of two species, on buffers with a border."""
    u, v = U[1:-1, 1:-1], V[1:-1, 1:-1]
    for _ in range(steps):
        Lu = U[:-2, 1:-1] + U[1:-1, :-2] - 4 * U[1:-1, 1:-1] + U[1:-1, 2:] + U[2:, 1:-1]
        Lv = V[:-2, 1:-1] + V[1:-1, :-2] - 4 * V[1:-1, 1:-1] + V[1:-1, 2:] + V[2:, 1:-1]
        uvv = u * v * v
        u += 0.16 * Lu - uvv + feed * (1 - u)
        v += 0.08 * Lv + uvv - (feed + kill) * v
        for Z in (U, V):
            Z[0, :] = Z[-2, :]
            Z[-1, :] = Z[1, :]
            Z[:, 0] = Z[:, -2]
            Z[:, -1] = Z[:, 1]
    return np.sum(u * v)


def gray_scott_inputs(rng, n, steps):
    return rng.uniform(size=(n, n)), rng.uniform(size=(n, n)), 0.06, 0.062, steps


KERNELS = [
    Kernel(jacobi_1d, jacobi_1d_inputs, (7, 4), (6, 5), (4000, 100)),
    Kernel(jacobi_2d, jacobi_2d_inputs, (5, 3), (6, 4), (120, 50)),
    Kernel(seidel_2d, seidel_2d_inputs, (5, 3), (4, 4), (40, 4)),
    Kernel(heat_3d, heat_3d_inputs, (4, 3), (5, 3), (30, 10)),
    Kernel(fdtd_2d, fdtd_2d_inputs, (4, 5, 3), (5, 4, 4), (100, 120, 40)),
    Kernel(adi, adi_inputs, (5, 2), (6, 3), (60, 10)),
    Kernel(hdiff, hdiff_inputs, (3, 4, 2), (4, 3, 3), (64, 64, 20)),
    Kernel(vadv, vadv_inputs, (2, 3, 4), (3, 2, 5), (40, 40, 30)),
    Kernel(smooth_life, smooth_life_inputs, (4, 5, 2), (5, 6, 3), (80, 80, 10)),
    Kernel(wave_2d, wave_2d_inputs, (5, 4), (6, 3), (120, 60)),
    Kernel(shallow_water, shallow_water_inputs, (4, 5, 2), (5, 4, 3), (80, 80, 20)),
    Kernel(advection, advection_inputs, (7, 3), (6, 4), (5000, 50)),
    Kernel(burgers, burgers_inputs, (7, 3), (6, 4), (200, 20)),
    Kernel(poisson_sor, poisson_sor_inputs, (2, 3), (3, 2), (40, 5)),
    Kernel(multigrid, multigrid_inputs, (4, 2), (3, 3), (10, 5), refused="of the recursive function 'v_cycle'"),
    Kernel(lattice_boltzmann, lattice_boltzmann_inputs, (3, 4, 2), (4, 5, 3), (60, 60, 10)),
    Kernel(cavity_flow, cavity_flow_inputs, (5, 2, 3), (6, 3, 2), (60, 5, 10)),
    Kernel(gray_scott, gray_scott_inputs, (5, 3), (6, 4), (120, 40)),
]
