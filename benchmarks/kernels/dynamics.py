"""Particles, rigid bodies, rays and ordinary differential equations."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.kernels.kernel import Kernel


def n_body(mass, pos, vel, softening, dt, steps):
    """Gravity between all pairs, leap-frog; the total energy at the end."""
    acc = np.zeros_like(pos)

    def accelerations(acc):
        x, y, z = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
        dx, dy, dz = x.T - x, y.T - y, z.T - z
        inv_r3 = dx**2 + dy**2 + dz**2 + softening**2
        inv_r3[inv_r3 > 0] = inv_r3[inv_r3 > 0] ** (-1.5)
        acc[:, 0] = (dx * inv_r3) @ mass
        acc[:, 1] = (dy * inv_r3) @ mass
        acc[:, 2] = (dz * inv_r3) @ mass

    accelerations(acc)
    for _ in range(steps):
        vel += acc * dt / 2.0
        pos += vel * dt
        accelerations(acc)
        vel += acc * dt / 2.0
    kinetic = 0.5 * np.sum(mass[:, None] * vel**2)
    potential = 0.0
    for i in range(len(mass)):
        for j in range(i + 1, len(mass)):
            d = pos[i] - pos[j]
            potential -= mass[i] * mass[j] / np.sqrt(d @ d + softening**2)
    return kinetic + potential


def n_body_inputs(rng, n, steps):
    return rng.uniform(0.5, 1.5, size=n), rng.normal(size=(n, 3)), rng.normal(size=(n, 3)), 0.3, 0.01, steps


def lennard_jones_forces(r, box, cutoff, forces):
    forces[...] = 0.0
    energy = 0.0
    n = len(r)
    for i in range(n):
        for j in range(i + 1, n):
            d = r[i] - r[j]
            d = d - box * np.round(d / box)
            r2 = np.dot(d, d)
            if r2 < cutoff * cutoff:
                s6 = 1.0 / r2**3
                energy += 4.0 * s6 * (s6 - 1.0)
                f = 24.0 * s6 * (2.0 * s6 - 1.0) / r2 * d
                forces[i] += f
                forces[j] -= f
    return energy


def molecular_dynamics(r, v, box, dt, steps):
    """Lennard-Jones particles with velocity Verlet and periodic borders."""
    forces = np.empty_like(r)
    lennard_jones_forces(r, box, 2.5, forces)
    energies = np.empty(steps)
    for t in range(steps):
        v += 0.5 * dt * forces
        r += dt * v
        energies[t] = lennard_jones_forces(r, box, 2.5, forces)
        v += 0.5 * dt * forces
    return energies.mean() + 0.5 * np.sum(v**2)


def molecular_dynamics_inputs(rng, side, steps):
    grid = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), -1).reshape(-1, 2) * 1.2
    return grid + 0.05 * rng.normal(size=grid.shape), 0.1 * rng.normal(size=grid.shape), 1.2 * side, 0.002, steps


def pendulum_rates(s, m1, m2, l1, l2):
    g = 9.81
    t1, w1, t2, w2 = s
    d = t2 - t1
    den1 = (m1 + m2) * l1 - m2 * l1 * math.cos(d) ** 2
    den2 = l2 / l1 * den1
    a1 = (
        m2 * l1 * w1 * w1 * math.sin(d) * math.cos(d)
        + m2 * g * math.sin(t2) * math.cos(d)
        + m2 * l2 * w2 * w2 * math.sin(d)
        - (m1 + m2) * g * math.sin(t1)
    ) / den1
    a2 = (
        -m2 * l2 * w2 * w2 * math.sin(d) * math.cos(d)
        + (m1 + m2) * (g * math.sin(t1) * math.cos(d) - l1 * w1 * w1 * math.sin(d) - g * math.sin(t2))
    ) / den2
    return np.array([w1, a1, w2, a2])


def rk4(rates, y, dt, *params):
    k1 = rates(y, *params)
    k2 = rates(y + 0.5 * dt * k1, *params)
    k3 = rates(y + 0.5 * dt * k2, *params)
    k4 = rates(y + dt * k3, *params)
    return y + dt / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)


def double_pendulum(state, m1, m2, l1, l2, dt, steps):
    path = [state]
    for _ in range(steps):
        path.append(rk4(pendulum_rates, path[-1], dt, m1, m2, l1, l2))
    tips = np.array([l1 * np.sin(s[0]) + l2 * np.sin(s[2]) for s in path])
    return np.mean(tips**2)


def double_pendulum_inputs(rng, steps):
    return rng.normal(size=4), 1.0, 0.7, 1.0, 0.8, 0.01, steps


def lorenz_rates(y, sigma, rho, beta):
    dy = np.empty(3)
    dy[0] = sigma * (y[1] - y[0])
    dy[1] = y[0] * (rho - y[2]) - y[1]
    dy[2] = y[0] * y[1] - beta * y[2]
    return dy


def lorenz(y0, params, dt, steps):
    trajectory = np.zeros((steps + 1, 3))
    trajectory[0] = y0
    for t in range(steps):
        trajectory[t + 1] = rk4(lorenz_rates, trajectory[t], dt, params["sigma"], params["rho"], params["beta"])
    return np.mean(trajectory[:, 2])


def lorenz_inputs(rng, steps):
    return rng.normal(size=3) + 1.0, {"sigma": 10.0, "rho": 28.0, "beta": 8.0 / 3.0}, 0.01, steps


def rotation(axis, angle):
    """Rodrigues' formula."""
    K = np.zeros((3, 3))
    K[0, 1], K[0, 2] = -axis[2], axis[1]
    K[1, 0], K[1, 2] = axis[2], -axis[0]
    K[2, 0], K[2, 1] = -axis[1], axis[0]
    return np.eye(3) + math.sin(angle) * K + (1.0 - math.cos(angle)) * (K @ K)


def forward_kinematics(angles, lengths, target):
    """A chain of joints that turn about z, y, z, y, ...: how far its tip is from the target."""
    axes = (np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0]))
    T = np.eye(4)
    joints = []
    for i, (angle, length) in enumerate(zip(angles, lengths)):
        local = np.eye(4)
        local[:3, :3] = rotation(axes[i % 2], angle)
        local[:3, 3] = local[:3, :3] @ np.array([length, 0.0, 0.0])
        T = T @ local
        joints.append(T[:3, 3])
    tip = joints[-1]
    penalty = sum(np.exp(-p @ p) for p in joints[:-1])
    return np.sum((tip - target) ** 2) + 0.1 * penalty


def forward_kinematics_inputs(rng, n):
    return rng.normal(size=n), rng.uniform(0.5, 1.0, size=n), rng.normal(size=3)


class Link:
    """A body of a planar chain: its mass, length and inertia about the centre."""

    def __init__(self, mass, length):
        self.mass = mass
        self.length = length

    @property
    def inertia(self):
        return self.mass * self.length**2 / 12.0

    def centre(self, angle):
        return 0.5 * self.length * np.array([np.cos(angle), np.sin(angle)])


def newton_euler(q, qd, qdd, masses, lengths):
    """Recursive Newton-Euler in the plane: the joint torques of a motion."""
    links = [Link(m, l) for m, l in zip(masses, lengths)]
    n = len(links)
    angle, omega, alpha = 0.0, 0.0, 0.0
    acceleration = np.array([0.0, 9.81])
    forces, moments, arms, centres = [], [], [], []
    for i in range(n):
        link = links[i]
        angle = angle + q[i]
        omega = omega + qd[i]
        alpha = alpha + qdd[i]
        c = link.centre(angle)
        arm = 2.0 * c
        at_centre = acceleration + alpha * np.array([-c[1], c[0]]) - omega**2 * c
        acceleration = acceleration + alpha * np.array([-arm[1], arm[0]]) - omega**2 * arm
        forces.append(link.mass * at_centre)
        moments.append(link.inertia * alpha)
        arms.append(arm)
        centres.append(c)
    tau = np.zeros(n)
    f = np.zeros(2)
    torque = 0.0
    for i in reversed(range(n)):
        c, arm = centres[i], arms[i]
        torque = torque + moments[i] + c[0] * forces[i][1] - c[1] * forces[i][0] + arm[0] * f[1] - arm[1] * f[0]
        f = f + forces[i]
        tau[i] = torque
    return np.sum(tau**2)


def newton_euler_inputs(rng, n):
    return *(rng.normal(size=n) for _ in range(3)), rng.uniform(0.5, 1.0, size=n), rng.uniform(0.5, 1.0, size=n)


def van_der_pol(y, mu):
    return np.array([y[1], mu * (1.0 - y[0] ** 2) * y[1] - y[0]])


def implicit_euler(y0, mu, dt, steps):
    """Newton's method in each step, left when it has converged."""
    tolerance = 1e-8
    y = y0.copy()
    total = 0.0
    for _ in range(steps):
        z = y.copy()
        for iteration in range(20):
            residual = z - y - dt * van_der_pol(z, mu)
            if np.max(np.abs(residual)) < tolerance:
                break
            J = np.eye(2)
            J[0, 1] -= dt
            J[1, 0] -= dt * (-2.0 * mu * z[0] * z[1] - 1.0)
            J[1, 1] -= dt * mu * (1.0 - z[0] ** 2)
            z -= np.linalg.solve(J, residual)
        else:
            raise RuntimeError("Newton's method did not converge")
        y = z
        total += dt * y[0] ** 2
    return total


def implicit_euler_inputs(rng, steps):
    return rng.normal(size=2) + 1.0, 2.0, 0.05, steps


def sir_fit(beta, gamma, initial, observed, dt, substeps):
    """The misfit of an epidemic model to daily counts."""
    s, i, r = initial
    loss = 0.0
    for day in range(len(observed)):
        new_cases = 0.0
        for _ in range(substeps):
            infections = beta * s * i * dt
            recoveries = gamma * i * dt
            s -= infections
            i += infections - recoveries
            r += recoveries
            new_cases += infections
        loss += (np.log(new_cases + 1e-6) - np.log(observed[day] + 1e-6)) ** 2
    return loss / len(observed)


def sir_fit_inputs(rng, days, substeps):
    return 0.5, 0.2, (0.98, 0.02, 0.0), rng.uniform(0.01, 0.05, size=days), 1.0 / substeps, substeps


REACTIONS = [
    {"in": {"A": 1}, "out": {"B": 1}},
    {"in": {"B": 2}, "out": {"B": 1, "C": 1}},
    {"in": {"B": 1, "C": 1}, "out": {"A": 1, "C": 1}},
]


def reaction_rates(concentrations, constants):
    change = {name: 0.0 for name in concentrations}
    for reaction, k in zip(REACTIONS, constants):
        rate = k
        for name, order in reaction["in"].items():
            rate = rate * concentrations[name] ** order
        for name, order in reaction["in"].items():
            change[name] -= order * rate
        for name, order in reaction["out"].items():
            change[name] += order * rate
    return change


def chemical_kinetics(start, constants, dt, steps):
    """Robertson-like kinetics with concentrations in a dict, by Heun's method."""
    c = dict(start)
    for _ in range(steps):
        first = reaction_rates(c, constants)
        guess = {name: c[name] + dt * first[name] for name in c}
        second = reaction_rates(guess, constants)
        for name in c:
            c[name] += 0.5 * dt * (first[name] + second[name])
    return c["A"] * c["B"] + c["C"] ** 2


def chemical_kinetics_inputs(rng, steps):
    return {"A": 1.0, "B": 0.3, "C": 0.1}, rng.uniform(0.5, 1.5, size=3), 0.02, steps


def scene_distance(p, spheres, floor):
    d = p[1] - floor
    for k in range(len(spheres)):
        to_sphere = np.sqrt(np.sum((p - spheres[k, :3]) ** 2)) - spheres[k, 3]
        d = min(d, to_sphere)
    return d


def ray_march(spheres, floor, camera, image):
    """Sphere tracing of signed distances; the image is filled in pixel by pixel."""
    height, width = image.shape
    for i in range(height):
        for j in range(width):
            direction = np.array([(j - 0.5 * width) / width, (0.5 * height - i) / height, 1.0])
            direction /= np.linalg.norm(direction)
            t = 0.0
            for _ in range(40):
                d = scene_distance(camera + t * direction, spheres, floor)
                if d < 1e-3:
                    break
                t += d
                if t > 20.0:
                    break
            image[i, j] = np.exp(-0.3 * t)
    return np.mean(image**2)


def ray_march_inputs(rng, n):
    spheres = np.array([[0.0, 0.2, 3.0, 0.8], [0.9, -0.1, 2.5, 0.4]]) + 0.05 * rng.normal(size=(2, 4))
    return spheres, -0.8, np.array([0.05, 0.1, -0.5]), np.zeros((n, n))


def hit_sphere(origin, direction, centre, radius):
    oc = origin - centre
    b = oc @ direction
    disc = b * b - (oc @ oc - radius * radius)
    if disc <= 0.0:
        return None
    t = -b - np.sqrt(disc)
    return t if t > 1e-6 else None


def ray_trace(centres, radii, colours, light, n):
    """Diffuse spheres with shadows and one bounce."""
    eye = np.array([0.0, 0.0, -3.0])
    light_direction = light / np.linalg.norm(light)
    image = np.zeros((n, n, 3))
    for i in range(n):
        for j in range(n):
            direction = np.array([(j + 0.5) / n - 0.5, (i + 0.5) / n - 0.5, 1.0])
            direction = direction / np.sqrt(np.sum(direction**2))
            origin = eye
            weight = 1.0
            colour = np.zeros(3)
            for bounce in range(2):
                nearest, which = np.inf, -1
                for k in range(len(radii)):
                    t = hit_sphere(origin, direction, centres[k], radii[k])
                    if t is not None and t < nearest:
                        nearest, which = t, k
                if which < 0:
                    colour += weight * 0.1 * (1.0 + direction[1])
                    break
                point = origin + nearest * direction
                normal = (point - centres[which]) / radii[which]
                lit = max(normal @ light_direction, 0.0)
                colour += weight * 0.7 * lit * colours[which]
                direction = direction - 2.0 * (direction @ normal) * normal
                origin = point + 1e-4 * normal
                weight *= 0.3
            image[i, j] = colour
    return np.mean(image**2)


def ray_trace_inputs(rng, n, k):
    return (
        rng.normal(size=(k, 3)) * 0.6,
        rng.uniform(0.3, 0.7, size=k),
        rng.uniform(size=(k, 3)),
        np.array([0.5, 1.0, -1.0]),
        n,
    )


def mandelbrot(cx, cy, steps):
    """A smooth escape count, point by point, with complex numbers."""
    counts = np.zeros((len(cy), len(cx)))
    for i in range(len(cy)):
        for j in range(len(cx)):
            c = cx[j] + 1j * cy[i]
            z = 0.0 + 0.0j
            for k in range(steps):
                z = z * z + c
                if abs(z) > 8.0:
                    counts[i, j] = k + 1 - np.log2(np.log(abs(z)))
                    break
    return np.sum(counts)


def mandelbrot_inputs(rng, n, m, steps):
    return np.linspace(-2.05, 0.83, n), np.linspace(-1.21, 1.27, m), steps


def heat_control(sources, u0, target, alpha, steps):
    """Crank-Nicolson with a source in each step, by a dense solve."""
    n = u0.size
    A = np.zeros((n, n))
    for i in range(n):
        A[i, i] = 2.0
        if i > 0:
            A[i, i - 1] = -1.0
        if i + 1 < n:
            A[i, i + 1] = -1.0
    left = np.eye(n) + 0.5 * alpha * A
    right = np.eye(n) - 0.5 * alpha * A
    u = u0
    for t in range(steps):
        u = np.linalg.solve(left, right @ u + sources[t])
    return np.sum((u - target) ** 2) + 1e-2 * np.sum(sources**2)


def heat_control_inputs(rng, n, steps):
    return rng.normal(size=(steps, n)), rng.normal(size=n), rng.normal(size=n), 0.3, steps


def adaptive_rk(y0, k, t_end, tolerance=1e-3):
    """Heun-Euler with an adapted step: a `while` whose condition and step depend on the data."""
    t, dt = 0.0, 0.1
    y = y0
    accepted = 0
    while t < t_end:
        if t + dt > t_end:
            dt = t_end - t
        k1 = -k * y + np.sin(t)
        k2 = -k * (y + dt * k1) + np.sin(t + dt)
        error = np.max(np.abs(0.5 * dt * (k2 - k1)))
        if error > tolerance:
            dt *= 0.5
            continue
        y = y + 0.5 * dt * (k1 + k2)
        t += dt
        accepted += 1
        if error < 0.25 * tolerance:
            dt = dt * 1.5
    return np.sum(y**2)


def adaptive_rk_inputs(rng, n):
    return rng.normal(size=n), rng.uniform(0.5, 2.0, size=n), 2.013


KERNELS = [
    Kernel(n_body, n_body_inputs, (4, 3), (3, 4), (60, 20)),
    Kernel(molecular_dynamics, molecular_dynamics_inputs, (3, 3), (4, 2), (5, 10)),
    Kernel(double_pendulum, double_pendulum_inputs, (5,), (8,), (300,)),
    Kernel(lorenz, lorenz_inputs, (6,), (9,), (500,)),
    Kernel(forward_kinematics, forward_kinematics_inputs, (4,), (5,), (60,)),
    Kernel(newton_euler, newton_euler_inputs, (4,), (5,), (60,)),
    Kernel(implicit_euler, implicit_euler_inputs, (4,), (7,), (100,)),
    Kernel(sir_fit, sir_fit_inputs, (4, 3), (5, 4), (60, 20)),
    Kernel(chemical_kinetics, chemical_kinetics_inputs, (4,), (6,), (300,)),
    Kernel(ray_march, ray_march_inputs, (3,), (4,), (10,)),
    Kernel(ray_trace, ray_trace_inputs, (4, 2), (5, 3), (16, 4), refused="of arrays, whose truth is ambiguous"),
    Kernel(mandelbrot, mandelbrot_inputs, (3, 4, 12), (4, 5, 15), (16, 16, 30)),
    Kernel(heat_control, heat_control_inputs, (5, 3), (4, 4), (80, 40)),
    Kernel(adaptive_rk, adaptive_rk_inputs, (3,), (5,), (200,)),
]
