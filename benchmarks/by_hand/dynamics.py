"""Systems that move: maps, ordinary differential equations, particles."""

from __future__ import annotations

import math

import numpy as np

from .program import Program


def logistic_map(r, x0, steps):
    """The mean of an ensemble under x -> r x (1 - x)."""
    x = x0
    for _ in range(steps):
        x = r * x * (1.0 - x)
    return np.mean(x)


def logistic_map_by_hand(r, x0, steps):
    x = x0
    xs = []
    for _ in range(steps):
        xs.append(x)
        x = r * x * (1.0 - x)
    x_bar = np.full_like(x, 1.0 / x.size)
    r_bar = 0.0
    for y in reversed(xs):
        r_bar += x_bar @ (y * (1.0 - y))
        x_bar *= r * (1.0 - 2.0 * y)
    return np.mean(x), (r_bar, x_bar)


def logistic_map_inputs(rng, n, steps):
    return 3.2, rng.uniform(0.2, 0.8, n), steps


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def hmc_trajectory(q0, p0, X, labels, precision, step, steps):
    """The energy after a leapfrog trajectory whose target is a logistic regression with a Gaussian prior."""
    q, p = q0, p0
    force = X.T @ (sigmoid(X @ q) - labels) + precision * q
    p = p - 0.5 * step * force
    for s in range(steps):
        q = q + step * p
        force = X.T @ (sigmoid(X @ q) - labels) + precision * q
        p = p - (step if s < steps - 1 else 0.5 * step) * force
    z = X @ q
    potential = np.sum(np.logaddexp(0.0, z) - labels * z) + 0.5 * precision * (q @ q)
    return potential + 0.5 * (p @ p)


def hmc_trajectory_by_hand(q0, p0, X, labels, precision, step, steps):
    shares = np.full(steps + 1, step)
    shares[0] = shares[-1] = 0.5 * step
    q, p = q0, p0
    qs, ps, forces, slopes = [], [], [], []
    for s in range(steps + 1):
        if s > 0:
            q = q + step * p
        z = X @ q
        chance = sigmoid(z)
        force = X.T @ (chance - labels) + precision * q
        qs.append(q)
        ps.append(p)
        forces.append(force)
        slopes.append(chance * (1.0 - chance))
        p = p - shares[s] * force
    value = np.sum(np.logaddexp(0.0, z) - labels * z) + 0.5 * precision * (q @ q) + 0.5 * (p @ p)
    q_bar, p_bar = force, p
    precision_bar, step_bar = 0.5 * (q @ q), 0.0
    for s in range(steps, -1, -1):
        step_bar -= shares[s] / step * (p_bar @ forces[s])
        force_bar = -shares[s] * p_bar
        precision_bar += force_bar @ qs[s]
        q_bar = q_bar + X.T @ (slopes[s] * (X @ force_bar)) + precision * force_bar
        if s > 0:
            step_bar += q_bar @ ps[s]
            p_bar = p_bar + step * q_bar
    return value, (q_bar, p_bar, precision_bar, step_bar)


def hmc_trajectory_inputs(rng, n, d, steps):
    X = rng.normal(size=(n, d))
    return 0.3 * rng.normal(size=d), rng.normal(size=d), X, rng.integers(0, 2, n), 0.7, 0.3 / np.sqrt(n), steps


def lotka_volterra_rates(y, rates):
    prey, predators = y
    meetings = prey * predators
    return np.stack([rates[0] * prey - rates[1] * meetings, rates[2] * meetings - rates[3] * predators])


def lotka_volterra(y0, rates, steps):
    """An ensemble of predators and prey by the classical Runge-Kutta method."""
    dt = 0.05
    y = y0
    for _ in range(steps):
        k1 = lotka_volterra_rates(y, rates)
        k2 = lotka_volterra_rates(y + 0.5 * dt * k1, rates)
        k3 = lotka_volterra_rates(y + 0.5 * dt * k2, rates)
        k4 = lotka_volterra_rates(y + dt * k3, rates)
        y = y + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return np.mean(np.log(y) ** 2)


def lotka_volterra_rates_adjoint(y, rates, k_bar, rates_bar):
    """The cotangent of y; that of the rates is added to."""
    prey, predators = y
    prey_bar, predators_bar = k_bar
    meetings = prey * predators
    rates_bar += (prey_bar @ prey, -(prey_bar @ meetings), predators_bar @ meetings, -(predators_bar @ predators))
    meetings_bar = rates[2] * predators_bar - rates[1] * prey_bar
    y_bar = meetings_bar * y[::-1]
    y_bar[0] += rates[0] * prey_bar
    y_bar[1] -= rates[3] * predators_bar
    return y_bar


def lotka_volterra_by_hand(y0, rates, steps):
    dt = 0.05
    stages = []
    y = y0
    for _ in range(steps):
        k1 = lotka_volterra_rates(y, rates)
        y2 = y + 0.5 * dt * k1
        k2 = lotka_volterra_rates(y2, rates)
        y3 = y + 0.5 * dt * k2
        k3 = lotka_volterra_rates(y3, rates)
        y4 = y + dt * k3
        k4 = lotka_volterra_rates(y4, rates)
        stages.append((y, y2, y3, y4))
        y = y + dt / 6.0 * (k1 + 2.0 * (k2 + k3) + k4)
    logs = np.log(y)
    y_bar = 2.0 / y.size * logs / y
    rates_bar = np.zeros(4)
    while stages:
        y1, y2, y3, y4 = stages.pop()
        sixth = dt / 6.0 * y_bar
        y4_bar = lotka_volterra_rates_adjoint(y4, rates, sixth, rates_bar)
        y3_bar = lotka_volterra_rates_adjoint(y3, rates, 2.0 * sixth + dt * y4_bar, rates_bar)
        y2_bar = lotka_volterra_rates_adjoint(y2, rates, 2.0 * sixth + 0.5 * dt * y3_bar, rates_bar)
        y1_bar = lotka_volterra_rates_adjoint(y1, rates, sixth + 0.5 * dt * y2_bar, rates_bar)
        y_bar += y1_bar + y2_bar + y3_bar + y4_bar
    return np.mean(logs**2), (y_bar, rates_bar)


def lotka_volterra_inputs(rng, n, steps):
    return rng.uniform(0.5, 1.5, (2, n)), np.array([1.1, 0.8, 0.7, 0.9]), steps


def phase_velocity(theta, omega, K):
    c, s = np.cos(theta), np.sin(theta)
    return omega + c * (K @ s) - s * (K @ c)


def kuramoto(theta0, omega, K, steps):
    """How well coupled oscillators have found a common phase, by the midpoint method."""
    dt = 0.1
    theta = theta0
    for _ in range(steps):
        middle = theta + 0.5 * dt * phase_velocity(theta, omega, K)
        theta = theta + dt * phase_velocity(middle, omega, K)
    return np.mean(np.cos(theta)) ** 2 + np.mean(np.sin(theta)) ** 2


def kuramoto_by_hand(theta0, omega, K, steps):
    dt = 0.1
    n = theta0.size
    cosines, sines, K_cosines, K_sines = (np.empty((2 * steps, n)) for _ in range(4))
    theta = at = theta0
    for k in range(2 * steps):
        c = cosines[k] = np.cos(at)
        s = sines[k] = np.sin(at)
        Kc = K_cosines[k] = K @ c
        Ks = K_sines[k] = K @ s
        velocity = omega + c * Ks - s * Kc
        if k % 2 == 0:
            at = theta + 0.5 * dt * velocity
        else:
            at = theta = theta + dt * velocity
    c, s = np.cos(theta), np.sin(theta)
    c_mean, s_mean = np.mean(c), np.mean(s)
    theta_bar = 2.0 / n * (s_mean * c - c_mean * s)
    velocity_bars = np.empty((2 * steps, n))
    at_bar = np.zeros(n)
    for k in range(2 * steps - 1, -1, -1):
        velocity_bar = velocity_bars[k] = dt * theta_bar if k % 2 else 0.5 * dt * at_bar
        c, s = cosines[k], sines[k]
        c_bar = velocity_bar * K_sines[k] - (s * velocity_bar) @ K
        s_bar = (c * velocity_bar) @ K - velocity_bar * K_cosines[k]
        at_bar = c * s_bar - s * c_bar
        theta_bar = theta_bar + at_bar
    K_bar = (cosines * velocity_bars).T @ sines - (sines * velocity_bars).T @ cosines
    return c_mean**2 + s_mean**2, (theta_bar, velocity_bars.sum(axis=0), K_bar)


def kuramoto_inputs(rng, n, steps):
    return rng.uniform(-2.0, 2.0, n), 0.3 * rng.normal(size=n), rng.uniform(0.0, 2.0 / n, (n, n)), steps


def lennard_jones_cluster(r, epsilon, sigma):
    """The energy of all pairs."""
    energy = 0.0
    for i in range(len(r) - 1):
        d = r[i + 1 :] - r[i]
        r2 = np.sum(d * d, axis=1)
        s6 = (sigma**2 / r2) ** 3
        energy += np.sum(4.0 * epsilon * (s6 * s6 - s6))
    return energy


def lennard_jones_cluster_by_hand(r, epsilon, sigma):
    repulsion = attraction = 0.0
    r_bar = np.zeros_like(r)
    for i in range(len(r) - 1):
        d = r[i + 1 :] - r[i]
        inverse = 1.0 / np.einsum("ij,ij->i", d, d)
        s2 = sigma**2 * inverse
        s6 = s2 * s2 * s2
        repulsion += s6 @ s6
        attraction += s6.sum()
        d *= (24.0 * epsilon * inverse * s6 * (1.0 - 2.0 * s6))[:, None]
        r_bar[i + 1 :] += d
        r_bar[i] -= d.sum(axis=0)
    epsilon_bar = 4.0 * (repulsion - attraction)
    sigma_bar = 24.0 * epsilon / sigma * (2.0 * repulsion - attraction)
    return epsilon * epsilon_bar, (r_bar, epsilon_bar, sigma_bar)


def lennard_jones_cluster_inputs(rng, side):
    grid = np.stack(np.meshgrid(*3 * [np.arange(side)], indexing="ij"), -1).reshape(-1, 3) * 1.2
    return grid + 0.05 * rng.normal(size=grid.shape), 0.9, 1.1


def morse_ring(r, depth, stiffness, rest, reach):
    """The energy of a ring of atoms, each bound to its next neighbours if they are near."""
    energy = 0.0
    for k in range(1, reach + 1):
        d = np.roll(r, -k, axis=0) - r
        distance = np.sqrt(np.sum(d**2, axis=1))
        e = np.exp(-stiffness * (distance - rest))
        energy += np.sum(np.where(distance < 2.5, depth * (e * e - 2.0 * e), 0.0))
    return energy


def morse_ring_by_hand(r, depth, stiffness, rest, reach):
    depth_bar = stiffness_bar = rest_bar = 0.0
    r_bar = np.zeros_like(r)
    for k in range(1, reach + 1):
        d = np.roll(r, -k, axis=0) - r
        distance = np.sqrt(np.einsum("ij,ij->i", d, d))
        stretch = distance - rest
        e = np.where(distance < 2.5, np.exp(-stiffness * stretch), 0.0)
        square = e * e
        depth_bar += np.sum(square) - 2.0 * np.sum(e)
        slope = 2.0 * depth * (e - square)
        stiffness_bar += slope @ stretch
        slope *= stiffness
        rest_bar -= np.sum(slope)
        d *= (slope / distance)[:, None]
        r_bar -= d
        r_bar[k:] += d[:-k]
        r_bar[:k] += d[-k:]
    return depth * depth_bar, (r_bar, depth_bar, stiffness_bar, rest_bar)


def morse_ring_inputs(rng, n, reach):
    turn = 2.0 * np.pi * np.arange(n) / n
    r = n / (2.0 * np.pi) * np.stack([np.cos(turn), np.sin(turn), np.zeros(n)], axis=1)
    return r + 0.1 * rng.normal(size=(n, 3)), 1.3, 1.1, 1.2, reach


def rosenbrock_gradient(x):
    g = np.zeros_like(x)
    bend = x[1:] - x[:-1] ** 2
    g[:-1] = -400.0 * x[:-1] * bend - 2.0 * (1.0 - x[:-1])
    g[1:] += 200.0 * bend
    return g


def adam_rosenbrock(x0, rate, beta1, beta2, steps):
    """Rosenbrock's function where Adam gets to, as a function of the settings."""
    x = x0
    m, v = np.zeros_like(x), np.zeros_like(x)
    for t in range(1, steps + 1):
        g = rosenbrock_gradient(x)
        m = beta1 * m + (1.0 - beta1) * g
        v = beta2 * v + (1.0 - beta2) * g**2
        m_hat = m / (1.0 - beta1**t)
        v_hat = v / (1.0 - beta2**t)
        x = x - rate * m_hat / (np.sqrt(v_hat) + 1e-8)
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def rosenbrock_hessian_times(x, d):
    left, right = x[:-1], x[1:]
    out = np.empty_like(x)
    out[:-1] = (1200.0 * left * left - 400.0 * right + 2.0) * d[:-1] - 400.0 * left * d[1:]
    out[-1] = 0.0
    out[1:] += 200.0 * d[1:] - 400.0 * left * d[:-1]
    return out


def adam_rosenbrock_by_hand(x0, rate, beta1, beta2, steps):
    x = x0
    m, v = np.zeros_like(x), np.zeros_like(x)
    saved = []
    for t in range(1, steps + 1):
        g = rosenbrock_gradient(x)
        saved.append((x, g, m, v))
        m = beta1 * m + (1.0 - beta1) * g
        v = beta2 * v + (1.0 - beta2) * g * g
        x = x - rate / (1.0 - beta1**t) * m / (np.sqrt(v / (1.0 - beta2**t)) + 1e-8)
    value = np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)
    x_bar = rosenbrock_gradient(x)
    m_bar, v_bar = np.zeros_like(x), np.zeros_like(x)
    rate_bar = beta1_bar = beta2_bar = 0.0
    for t in range(steps, 0, -1):
        x, g, m_before, v_before = saved.pop()
        c1, c2 = 1.0 - beta1**t, 1.0 - beta2**t
        root = np.sqrt(v / c2)
        share = x_bar / (root + 1e-8)
        moved = (share @ m) / c1
        rate_bar -= moved
        beta1_bar -= rate * moved / c1 * t * beta1 ** (t - 1)
        share *= rate / c1
        m_bar -= share
        v_push = share * m / (root * (root + 1e-8)) * (0.5 / c2)
        beta2_bar += (v_push @ v) / c2 * t * beta2 ** (t - 1)
        v_bar += v_push
        v_bar_g = v_bar * g
        beta1_bar += m_bar @ m_before - m_bar @ g
        beta2_bar += v_bar @ v_before - v_bar_g @ g
        g_bar = (1.0 - beta1) * m_bar + 2.0 * (1.0 - beta2) * v_bar_g
        m_bar *= beta1
        v_bar *= beta2
        x_bar += rosenbrock_hessian_times(x, g_bar)
        m, v = m_before, v_before
    return value, (x_bar, rate_bar, beta1_bar, beta2_bar)


def adam_rosenbrock_inputs(rng, n, steps):
    return rng.uniform(-1.5, 1.5, n), 0.02, 0.9, 0.99, steps


def morris_lecar(v0, w0, conductances, current):
    """The mean square voltage of a neuron with two variables under a given current."""
    dt = 0.2
    leak, calcium, potassium = conductances
    v, w = v0, w0
    total = 0.0
    for t in range(len(current)):
        opened = 0.5 * (1.0 + math.tanh((v + 1.2) / 18.0))
        w_limit = 0.5 * (1.0 + math.tanh((v - 2.0) / 30.0))
        pace = 0.04 * math.cosh((v - 2.0) / 60.0)
        ions = leak * (v + 60.0) + calcium * opened * (v - 120.0) + potassium * w * (v + 84.0)
        v, w = v + dt * (current[t] - ions) / 20.0, w + dt * pace * (w_limit - w)
        total += (0.01 * v) ** 2
    return total / len(current)


def morris_lecar_by_hand(v0, w0, conductances, current):
    dt = 0.2
    leak, calcium, potassium = conductances.tolist()
    n = len(current)
    v, w = v0, w0
    total = 0.0
    saved = []
    for drive in current.tolist():
        opened = 0.5 * (1.0 + math.tanh((v + 1.2) / 18.0))
        w_limit = 0.5 * (1.0 + math.tanh((v - 2.0) / 30.0))
        pace = 0.04 * math.cosh((v - 2.0) / 60.0)
        saved.append((v, w, opened, w_limit, pace))
        ions = leak * (v + 60.0) + calcium * opened * (v - 120.0) + potassium * w * (v + 84.0)
        v, w = v + dt * (drive - ions) / 20.0, w + dt * pace * (w_limit - w)
        total += (0.01 * v) ** 2
    current_bar = [0.0] * n
    leak_bar = calcium_bar = potassium_bar = v_bar = w_bar = 0.0
    v_after = v
    for t in range(n - 1, -1, -1):
        v, w, opened, w_limit, pace = saved[t]
        v_bar += 2e-4 * v_after / n
        drive_bar = current_bar[t] = dt / 20.0 * v_bar
        leak_bar -= drive_bar * (v + 60.0)
        calcium_bar -= drive_bar * opened * (v - 120.0)
        potassium_bar -= drive_bar * w * (v + 84.0)
        opened_slope = 2.0 / 18.0 * opened * (1.0 - opened)
        w_limit_slope = 2.0 / 30.0 * w_limit * (1.0 - w_limit)
        pace_slope = 0.04 / 60.0 * math.sinh((v - 2.0) / 60.0)
        v_bar += dt * w_bar * (pace_slope * (w_limit - w) + pace * w_limit_slope) - drive_bar * (
            leak + calcium * (opened + opened_slope * (v - 120.0)) + potassium * w
        )
        w_bar += -dt * pace * w_bar - drive_bar * potassium * (v + 84.0)
        v_after = v
    return total / n, (v_bar, w_bar, np.array([leak_bar, calcium_bar, potassium_bar]), np.array(current_bar))


def morris_lecar_inputs(rng, steps):
    return -35.0, 0.1, np.array([2.0, 4.4, 8.0]), 90.0 + 20.0 * rng.normal(size=steps)


def orbit_fit(x, y, vx, vy, mu, observed):
    """How far a planet in a central field is from where it was seen."""
    dt = 0.02
    loss = 0.0
    for t in range(len(observed)):
        r2 = x * x + y * y
        pull = mu / (r2 * math.sqrt(r2))
        vx -= dt * pull * x
        vy -= dt * pull * y
        x += dt * vx
        y += dt * vy
        loss += (x - observed[t, 0]) ** 2 + (y - observed[t, 1]) ** 2
    return loss / len(observed)


def orbit_fit_by_hand(x, y, vx, vy, mu, observed):
    dt = 0.02
    n = len(observed)
    loss = 0.0
    saved = []
    for x_seen, y_seen in observed.tolist():
        r2 = x * x + y * y
        pull = mu / (r2 * math.sqrt(r2))
        vx -= dt * pull * x
        vy -= dt * pull * y
        x_next, y_next = x + dt * vx, y + dt * vy
        x_miss, y_miss = x_next - x_seen, y_next - y_seen
        loss += x_miss * x_miss + y_miss * y_miss
        saved.append((x, y, r2, pull, x_miss, y_miss))
        x, y = x_next, y_next
    observed_bar = []
    x_bar = y_bar = vx_bar = vy_bar = mu_bar = 0.0
    for x, y, r2, pull, x_miss, y_miss in reversed(saved):
        x_miss_bar, y_miss_bar = 2.0 / n * x_miss, 2.0 / n * y_miss
        observed_bar.append((-x_miss_bar, -y_miss_bar))
        x_bar += x_miss_bar
        y_bar += y_miss_bar
        vx_bar += dt * x_bar
        vy_bar += dt * y_bar
        pull_bar = -dt * (vx_bar * x + vy_bar * y)
        mu_bar += pull_bar * pull / mu
        r2_bar = -1.5 * pull_bar * pull / r2
        x_bar += 2.0 * r2_bar * x - dt * pull * vx_bar
        y_bar += 2.0 * r2_bar * y - dt * pull * vy_bar
    return loss / n, (x_bar, y_bar, vx_bar, vy_bar, mu_bar, np.array(observed_bar[::-1]))


def orbit_fit_inputs(rng, steps):
    turn = 0.02 * np.arange(1, steps + 1)
    return 1.0, 0.1, -0.1, 0.95, 1.05, np.stack([np.cos(turn), np.sin(turn)], 1) + 0.1 * rng.normal(size=(steps, 2))


PROGRAMS = [
    Program(logistic_map, logistic_map_by_hand, logistic_map_inputs, (16, 10), (20_000, 60), (0, 1)),
    Program(hmc_trajectory, hmc_trajectory_by_hand, hmc_trajectory_inputs, (20, 4, 5), (2_000, 30, 40), (0, 1, 4, 5)),
    Program(
        lotka_volterra,
        lotka_volterra_by_hand,
        lotka_volterra_inputs,
        (5, 4),
        (5_000, 40),
        (0, 1),
        (lotka_volterra_rates_adjoint,),
    ),
    Program(kuramoto, kuramoto_by_hand, kuramoto_inputs, (6, 6), (200, 60), (0, 1, 2)),
    Program(lennard_jones_cluster, lennard_jones_cluster_by_hand, lennard_jones_cluster_inputs, (2,), (8,), (0, 1, 2)),
    Program(morse_ring, morse_ring_by_hand, morse_ring_inputs, (12, 4), (20_000, 5), (0, 1, 2, 3)),
    Program(
        adam_rosenbrock,
        adam_rosenbrock_by_hand,
        adam_rosenbrock_inputs,
        (4, 6),
        (5_000, 60),
        (0, 1, 2, 3),
        (rosenbrock_hessian_times,),
    ),
    Program(morris_lecar, morris_lecar_by_hand, morris_lecar_inputs, (20,), (4_000,), (0, 1, 2, 3)),
    Program(orbit_fit, orbit_fit_by_hand, orbit_fit_inputs, (20,), (5_000,), (0, 1, 2, 3, 4, 5)),
]
