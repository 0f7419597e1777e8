"""A kernel that writes into its argument and returns nothing, called from a loss that copies first."""

import numpy as np

import autodiff_compiler as ad


def step(u, v, dt):
    u += dt * v
    v -= dt * np.sin(u)


def energy(u0, v0, dt):
    u, v = u0.copy(), v0.copy()
    for _ in range(3):
        step(u, v, dt)
    return np.sum(v * v) - np.sum(np.cos(u))


derived = ad.grad(energy, argnums=(0, 1))
arguments = (np.linspace(0.1, 1.0, 4), np.linspace(-0.3, 0.4, 4), 0.1)

# === emitted ===
import numpy as np


def energy_grad(u0, v0, dt):
    v = v0.copy()
    u_saved = []
    u = u0
    for _ in range(3):
        u = u + dt * v
        u_saved.append(u)
        v -= dt * np.sin(u)
    # adjoint of line 17: return np.sum(v * v) - np.sum(np.cos(u))
    u_bar = np.sin(u)
    v_bar = 2.0 * v
    # adjoint of line 15: for _ in range(3):
    for u in reversed(u_saved):
        # adjoint of line 10: v -= dt * np.sin(u)
        u_bar -= v_bar * dt * np.cos(u)
        # adjoint of line 9: u += dt * v
        v_bar += u_bar * dt
    return u_bar, v_bar
