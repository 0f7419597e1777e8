"""Grids: convolutions, transport, diffusion, waves and images."""

from __future__ import annotations

import numpy as np

from .program import Program


def blur_misfit(image, kernel, seen):
    """How far a blurred image is from what the camera saw; the blur is a loop over the kernel."""
    n, m = seen.shape
    blurred = np.zeros((n, m))
    for i in range(kernel.shape[0]):
        for j in range(kernel.shape[1]):
            blurred += kernel[i, j] * image[i : i + n, j : j + m]
    return 0.5 * np.sum((blurred - seen) ** 2)


def blur_misfit_by_hand(image, kernel, seen):
    n, m = seen.shape
    miss = -seen
    for i in range(kernel.shape[0]):
        for j in range(kernel.shape[1]):
            miss += kernel[i, j] * image[i : i + n, j : j + m]
    image_bar = np.zeros_like(image)
    kernel_bar = np.empty_like(kernel)
    for i in range(kernel.shape[0]):
        for j in range(kernel.shape[1]):
            kernel_bar[i, j] = np.einsum("ij,ij->", miss, image[i : i + n, j : j + m])
            image_bar[i : i + n, j : j + m] += kernel[i, j] * miss
    return 0.5 * np.vdot(miss, miss), (image_bar, kernel_bar, -miss)


def blur_misfit_inputs(rng, n, k):
    return rng.uniform(size=(n, n)), rng.uniform(size=(k, k)) / k**2, rng.uniform(size=(n - k + 1, n - k + 1))


def tracer_transport(c, wind, inflow, steps):
    """A tracer in a channel, carried by a wind of either sign: upwind fluxes through the faces of the cells."""
    n = c.size
    for _ in range(steps):
        flux = np.zeros(n + 1)
        flux[1:-1] = np.maximum(wind[1:-1], 0.0) * c[:-1] + np.minimum(wind[1:-1], 0.0) * c[1:]
        flux[0] = np.maximum(wind[0], 0.0) * inflow + np.minimum(wind[0], 0.0) * c[0]
        flux[-1] = np.maximum(wind[-1], 0.0) * c[-1]
        c = c - 0.5 * (flux[1:] - flux[:-1])
    return np.sum(c**2)


def tracer_transport_by_hand(c, wind, inflow, steps):
    n = c.size
    forward, backward = np.maximum(wind, 0.0), np.minimum(wind, 0.0)
    backward[-1] = 0.0
    padded = np.zeros((steps + 1, n + 2))  # the cells between the inflow and nothing
    padded[:, 0] = inflow
    padded[0, 1:-1] = c
    for t in range(steps):
        flux = forward * padded[t, :-1] + backward * padded[t, 1:]
        padded[t + 1, 1:-1] = padded[t, 1:-1] - 0.5 * (flux[1:] - flux[:-1])
    c = padded[-1, 1:-1]
    c_bar = np.zeros(n + 2)
    c_bar[1:-1] = 2.0 * c
    forward_bar, backward_bar = np.zeros(n + 1), np.zeros(n + 1)
    inflow_bar = 0.0
    for t in range(steps - 1, -1, -1):
        flux_bar = 0.5 * (c_bar[1:] - c_bar[:-1])
        forward_bar += flux_bar * padded[t, :-1]
        backward_bar += flux_bar * padded[t, 1:]
        inflow_bar += flux_bar[0] * forward[0]
        c_bar[1:-1] += flux_bar[1:] * forward[1:] + flux_bar[:-1] * backward[:-1]
    wind_bar = np.where(wind > 0.0, forward_bar, backward_bar)
    if wind[-1] < 0.0:
        wind_bar[-1] = 0.0
    return c @ c, (c_bar[1:-1], wind_bar, inflow_bar)


def tracer_transport_inputs(rng, n, steps):
    return rng.uniform(size=n), rng.uniform(-0.6, 1.0, n + 1), 0.8, steps


def viscous_burgers(u0, nu, steps):
    """Burgers' equation with a store into the inner points; the mean energy over time."""
    dt = 0.2
    u = u0.copy()
    energy = 0.0
    for _ in range(steps):
        slope = 0.5 * (u[2:] - u[:-2])
        bend = u[2:] - 2.0 * u[1:-1] + u[:-2]
        u[1:-1] = u[1:-1] + dt * (nu * bend - u[1:-1] * slope)
        energy += np.mean(u**2)
    return energy / steps


def viscous_burgers_by_hand(u0, nu, steps):
    dt = 0.2
    u = u0
    us = []
    energy = 0.0
    for _ in range(steps):
        us.append(u)
        left, middle, right = u[:-2], u[1:-1], u[2:]
        u = u.copy()
        u[1:-1] += dt * (nu * (right - 2.0 * middle + left) - 0.5 * middle * (right - left))
        energy += u @ u
    scale = 1.0 / (steps * u0.size)
    u_bar = np.zeros_like(u0)
    nu_bar = 0.0
    while us:
        u_bar += 2.0 * scale * u
        u = us.pop()
        left, middle, right = u[:-2], u[1:-1], u[2:]
        change = dt * u_bar[1:-1]
        nu_bar += change @ (right - 2.0 * middle + left)
        spread = nu * change
        change *= 0.5
        carried = change * middle
        u_bar[1:-1] -= 2.0 * spread + change * (right - left)
        u_bar[2:] += spread - carried
        u_bar[:-2] += spread + carried
    return scale * energy, (u_bar, nu_bar)


def viscous_burgers_inputs(rng, n, steps):
    return 0.4 + 0.1 * rng.normal(size=n), 0.6, steps


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


def nonlinear_heat_by_hand(u, k0, beta, steps):
    dt = 0.1
    us = []
    for _ in range(steps):
        us.append(u)
        k = k0 * (1.0 + beta * u**2)
        down = 0.5 * dt * (k[1:, 1:-1] + k[:-1, 1:-1]) * (u[1:, 1:-1] - u[:-1, 1:-1])
        across = 0.5 * dt * (k[1:-1, 1:] + k[1:-1, :-1]) * (u[1:-1, 1:] - u[1:-1, :-1])
        u = u.copy()
        u[1:-1, 1:-1] += down[1:] - down[:-1] + across[:, 1:] - across[:, :-1]
    value = np.vdot(u, u) / u.size
    u_bar = 2.0 / u.size * u
    k0_bar = np.zeros_like(k0)
    beta_bar = 0.0
    inner_bar = np.zeros_like(u)
    faces = (np.s_[:-1, 1:-1], np.s_[1:, 1:-1]), (np.s_[1:-1, :-1], np.s_[1:-1, 1:])
    while us:
        u = us.pop()
        growth = 1.0 + beta * u**2
        k = k0 * growth
        k_bar = np.zeros_like(k)
        inner_bar[1:-1, 1:-1] = 0.5 * dt * u_bar[1:-1, 1:-1]
        for low, high in faces:
            flux_bar = inner_bar[low] - inner_bar[high]
            slope_bar = flux_bar * (k[low] + k[high])
            flux_bar *= u[high] - u[low]
            k_bar[low] += flux_bar
            k_bar[high] += flux_bar
            u_bar[high] += slope_bar
            u_bar[low] -= slope_bar
        k0_bar += k_bar * growth
        k_bar *= k0
        k_bar *= u
        beta_bar += np.vdot(k_bar, u)
        k_bar *= 2.0 * beta
        u_bar += k_bar
    return value, (u_bar, k0_bar, beta_bar)


def nonlinear_heat_inputs(rng, n, steps):
    return rng.uniform(size=(n, n)), rng.uniform(0.5, 1.0, (n, n)), 0.6, steps


def plucked_string(u0, speed, steps):
    """The power that a pick-up hears of a string with fixed ends; all times are rows of one array."""
    n = u0.size
    courant = (0.5 * speed) ** 2
    u = np.zeros((steps + 2, n))
    u[0] = u0
    u[1] = u0
    for t in range(1, steps + 1):
        bend = u[t, 2:] - 2.0 * u[t, 1:-1] + u[t, :-2]
        u[t + 1, 1:-1] = 2.0 * u[t, 1:-1] - u[t - 1, 1:-1] + courant[1:-1] * bend
    return np.mean(u[:, n // 3] ** 2)


def plucked_string_by_hand(u0, speed, steps):
    n = u0.size
    courant = (0.5 * speed[1:-1]) ** 2
    u = np.zeros((steps + 2, n))
    u[0] = u[1] = u0
    for t in range(1, steps + 1):
        bend = u[t, 2:] - 2.0 * u[t, 1:-1] + u[t, :-2]
        u[t + 1, 1:-1] = 2.0 * u[t, 1:-1] - u[t - 1, 1:-1] + courant * bend
    heard = u[:, n // 3]
    heard_bar = 2.0 / heard.size * heard
    courant_bar = np.zeros(n - 2)
    later_bar, now_bar = np.zeros(n), np.zeros(n)
    later_bar[n // 3] = heard_bar[-1]
    for t in range(steps, 0, -1):
        now_bar[n // 3] += heard_bar[t]
        inner_bar = later_bar[1:-1]
        courant_bar += inner_bar * (u[t, 2:] - 2.0 * u[t, 1:-1] + u[t, :-2])
        bend_bar = courant * inner_bar
        now_bar[1:-1] += 2.0 * (inner_bar - bend_bar)
        now_bar[2:] += bend_bar
        now_bar[:-2] += bend_bar
        np.negative(later_bar, out=later_bar)  # what is left of it belongs to the row before
        later_bar[0] = later_bar[-1] = 0.0
        later_bar, now_bar = now_bar, later_bar
    now_bar[n // 3] += heard_bar[0]
    speed_bar = np.zeros(n)
    speed_bar[1:-1] = 0.5 * speed[1:-1] * courant_bar
    return np.mean(heard**2), (later_bar + now_bar, speed_bar)


def plucked_string_inputs(rng, n, steps):
    return rng.normal(size=n), rng.uniform(0.8, 1.4, n), steps


def absorbing_plate(source, absorption, sweeps):
    """Gauss-Seidel sweeps, point by point, for diffusion with sources and sinks."""
    n, m = source.shape
    u = np.zeros((n, m))
    for _ in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                u[i, j] = (around + source[i, j]) / (4.0 + absorption[i, j])
    return np.sum(u**2)


def absorbing_plate_by_hand(source, absorption, sweeps):
    n, m = source.shape
    gain = (1.0 / (4.0 + absorption)).tolist()
    source_rows = source.tolist()
    u = [[0.0] * m for _ in range(n)]
    after_sweeps = []
    for _ in range(sweeps):
        for i in range(1, n - 1):
            above, row, below = u[i - 1 : i + 2]
            for j in range(1, m - 1):
                around = above[j] + below[j] + row[j - 1] + row[j + 1]
                row[j] = (around + source_rows[i][j]) * gain[i][j]
        after_sweeps.append(np.array(u))
    value = np.sum(after_sweeps[-1] ** 2)
    u_bar = (2.0 * after_sweeps[-1]).tolist()
    source_bar, absorption_bar = np.zeros((n, m)), np.zeros((n, m))
    sum_bar = [[0.0] * m for _ in range(n)]
    for after in reversed(after_sweeps):
        for i in range(n - 2, 0, -1):
            above_bar, row_bar, below_bar = u_bar[i - 1 : i + 2]
            for j in range(m - 2, 0, -1):
                b = sum_bar[i][j] = row_bar[j] * gain[i][j]
                row_bar[j] = 0.0
                above_bar[j] += b
                below_bar[j] += b
                row_bar[j - 1] += b
                row_bar[j + 1] += b
        sums = np.array(sum_bar)
        source_bar += sums
        absorption_bar -= sums * after
    return value, (source_bar, absorption_bar)


def absorbing_plate_inputs(rng, n, sweeps):
    return rng.normal(size=(n, n)), rng.uniform(0.1, 1.0, (n, n)), sweeps


def dam_break(h, u, friction, steps):
    """Shallow water on a staggered grid with walls and friction, in place; the potential energy at the end."""
    dt, g = 0.02, 9.81
    h, u = h.copy(), u.copy()
    for _ in range(steps):
        u -= dt * g * (h[1:] - h[:-1])
        u /= 1.0 + friction * np.abs(u)
        flux = 0.5 * u * (h[1:] + h[:-1])
        h[1:] += dt * flux
        h[:-1] -= dt * flux
    return 0.5 * g * np.sum(h**2)


def dam_break_by_hand(h, u, friction, steps):
    dt, g = 0.02, 9.81
    hs, us = np.empty((steps + 1, h.size)), np.empty((steps, u.size))
    hs[0] = h
    for t in range(steps):
        h, after = hs[t], hs[t + 1]
        u = u - dt * g * (h[1:] - h[:-1])
        u /= 1.0 + friction * np.abs(u)
        us[t] = u
        flux = 0.5 * dt * u * (h[1:] + h[:-1])
        after[:] = h
        after[1:] += flux
        after[:-1] -= flux
    h_bar, u_bar = g * hs[-1], np.zeros_like(u)
    friction_bar = 0.0
    for t in range(steps - 1, -1, -1):
        h, u = hs[t], us[t]
        flux_bar = 0.5 * dt * (h_bar[1:] - h_bar[:-1])
        u_bar += flux_bar * (h[1:] + h[:-1])
        flux_bar *= u
        speed = np.abs(u)
        friction_bar -= (u_bar * u) @ speed
        u_bar *= (1.0 - friction * speed) ** 2  # 1 - friction |u| is the factor that friction had
        push_bar = dt * g * u_bar
        h_bar[1:] += flux_bar - push_bar
        h_bar[:-1] += flux_bar + push_bar
    return 0.5 * g * (hs[-1] @ hs[-1]), (h_bar, u_bar, friction_bar)


def dam_break_inputs(rng, n, steps):
    return (
        np.where(np.arange(n) < n // 2, 2.0, 1.0) + 0.1 * rng.normal(size=n),
        0.1 * rng.normal(size=n - 1),
        0.4,
        steps,
    )


def total_variation(noisy, clean, strength, steps):
    """Gradient steps that denoise a picture on a torus, and the error that is left."""
    rate = 0.1
    u = noisy
    for _ in range(steps):
        dx = np.roll(u, -1, axis=0) - u
        dy = np.roll(u, -1, axis=1) - u
        norm = np.sqrt(dx**2 + dy**2 + 1e-2)
        px, py = dx / norm, dy / norm
        divergence = px - np.roll(px, 1, axis=0) + py - np.roll(py, 1, axis=1)
        u = u - rate * (u - noisy - strength * divergence)
    return np.mean((u - clean) ** 2)


def differences_of(u):
    """The next row less this one, and the same for columns, on a torus."""
    dx, dy = np.empty_like(u), np.empty_like(u)
    np.subtract(u[1:], u[:-1], out=dx[:-1])
    np.subtract(u[0], u[-1], out=dx[-1])
    np.subtract(u[:, 1:], u[:, :-1], out=dy[:, :-1])
    np.subtract(u[:, 0], u[:, -1], out=dy[:, -1])
    return dx, dy


def divergence_of(px, py):
    """The negative of the transpose of `differences_of`."""
    out = px + py
    out[1:] -= px[:-1]
    out[0] -= px[-1]
    out[:, 1:] -= py[:, :-1]
    out[:, 0] -= py[:, -1]
    return out


def total_variation_by_hand(noisy, clean, strength, steps):
    rate = 0.1
    u = noisy
    saved = []
    for _ in range(steps):
        px, py = differences_of(u)
        inverse = 1.0 / np.sqrt(px * px + py * py + 1e-2)
        px *= inverse
        py *= inverse
        saved.append((px, py, inverse))
        u = (1.0 - rate) * u + rate * (noisy + strength * divergence_of(px, py))
    miss = u - clean
    u_bar = 2.0 / u.size * miss
    clean_bar = -u_bar
    noisy_bar = np.zeros_like(u)
    strength_bar = 0.0
    for px, py, inverse in reversed(saved):
        noisy_bar += u_bar
        gx, gy = differences_of(u_bar)
        radial = px * gx + py * gy
        strength_bar -= np.sum(radial)
        gx -= px * radial
        gy -= py * radial
        inverse = (rate * strength) * inverse
        gx *= inverse
        gy *= inverse
        u_bar = (1.0 - rate) * u_bar + divergence_of(gx, gy)
    return np.vdot(miss, miss) / u.size, (rate * noisy_bar + u_bar, clean_bar, rate * strength_bar)


def total_variation_inputs(rng, n, steps):
    clean = (np.add.outer(np.arange(n), np.arange(n)) % 7 < 3).astype(float)
    return clean + 0.2 * rng.normal(size=(n, n)), clean, 0.15, steps


PROGRAMS = [
    Program(blur_misfit, blur_misfit_by_hand, blur_misfit_inputs, (8, 3), (300, 7), (0, 1, 2)),
    Program(tracer_transport, tracer_transport_by_hand, tracer_transport_inputs, (8, 5), (10_000, 100), (0, 1, 2)),
    Program(viscous_burgers, viscous_burgers_by_hand, viscous_burgers_inputs, (10, 8), (10_000, 100), (0, 1)),
    Program(nonlinear_heat, nonlinear_heat_by_hand, nonlinear_heat_inputs, (6, 5), (150, 30), (0, 1, 2)),
    Program(plucked_string, plucked_string_by_hand, plucked_string_inputs, (10, 12), (5_000, 150), (0, 1)),
    Program(absorbing_plate, absorbing_plate_by_hand, absorbing_plate_inputs, (6, 3), (30, 10), (0, 1)),
    Program(dam_break, dam_break_by_hand, dam_break_inputs, (12, 8), (10_000, 100), (0, 1, 2)),
    Program(
        total_variation,
        total_variation_by_hand,
        total_variation_inputs,
        (6, 3),
        (120, 20),
        (0, 1, 2),
        (differences_of, divergence_of),
    ),
]
