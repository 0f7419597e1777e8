"""Recurrences, a long expression of arrays, and a recurrent network."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.in_numba.case import Case


def recurrence(x, a, b, steps):
    for _ in range(steps):
        if x > 0.5:
            x = x - b * x * x
        else:
            x = a * x + 0.1
    return x


def recurrence_in_numba(x, a, b, steps):
    xs = np.empty(steps)
    for t in range(steps):
        xs[t] = x
        if x > 0.5:
            x = x - b * x * x
        else:
            x = a * x + 0.1
    x_bar, a_bar, b_bar = 1.0, 0.0, 0.0
    for t in range(steps - 1, -1, -1):
        s = xs[t]
        if s > 0.5:
            b_bar -= x_bar * s * s
            x_bar -= 2.0 * x_bar * b * s
        else:
            a_bar += x_bar * s
            x_bar *= a
    return x, x_bar, a_bar, b_bar


def recurrence_in_jax():
    import jax.numpy as jnp
    from jax import lax

    def recurrence(x, a, b, steps):
        return lax.fori_loop(0, steps, lambda t, x: jnp.where(x > 0.5, x - b * x * x, a * x + 0.1), x)

    return recurrence


def recurrence_inputs(rng, steps):
    return 0.3, 0.9, 0.8, steps


def triangular_solve(a, b):
    n = b.shape[0]
    x = np.zeros(n)
    for i in range(n):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return np.sum(x * x)


def triangular_solve_in_numba(a, b):
    n = b.shape[0]
    x, x_bar = np.empty(n), np.empty(n)
    value = 0.0
    for i in range(n):
        s = 0.0
        for j in range(i):
            s += a[i, j] * x[j]
        x[i] = (b[i] - s) / a[i, i]
        value += x[i] * x[i]
        x_bar[i] = 2.0 * x[i]
    a_bar, b_bar = np.zeros(a.shape), np.empty(n)
    for i in range(n - 1, -1, -1):
        g = x_bar[i] / a[i, i]
        b_bar[i] = g
        a_bar[i, i] = -g * x[i]
        for j in range(i):
            a_bar[i, j] = -g * x[j]
            x_bar[j] -= g * a[i, j]
    return value, a_bar, b_bar


def triangular_solve_in_jax():
    import jax.numpy as jnp
    from jax.scipy.linalg import solve_triangular

    def solve(a, b):
        x = solve_triangular(a, b, lower=True)
        return jnp.sum(x * x)

    return solve


def triangular_solve_inputs(rng, n):
    a = np.tril(rng.normal(size=(n, n)) / n)
    a[np.arange(n), np.arange(n)] = 1.0 + rng.random(n)
    return a, rng.normal(size=n)


def elementwise_chain(x, y):
    a = 1.5 * x + y
    b = np.tanh(a)
    c = b * x
    d = np.exp(-c * c)
    e = d + a * b
    f = np.sqrt(e * e + 1.0)
    g = np.log(f) * y
    return np.sum(g * b)


def elementwise_chain_in_numba(x, y):
    n = x.shape[0]
    x_bar, y_bar = np.empty(n), np.empty(n)
    value = 0.0
    for i in range(n):
        a = 1.5 * x[i] + y[i]
        b = math.tanh(a)
        c = b * x[i]
        d = math.exp(-c * c)
        e = d + a * b
        square = e * e + 1.0
        log = math.log(math.sqrt(square))
        value += log * y[i] * b
        e_bar = e / square * y[i] * b
        c_bar = -2.0 * c * d * e_bar
        b_bar = log * y[i] + a * e_bar + c_bar * x[i]
        a_bar = b * e_bar + b_bar * (1.0 - b * b)
        x_bar[i] = c_bar * b + 1.5 * a_bar
        y_bar[i] = log * b + a_bar
    return value, x_bar, y_bar


def elementwise_chain_in_jax():
    import jax.numpy as jnp

    def chain(x, y):
        a = 1.5 * x + y
        b = jnp.tanh(a)
        c = b * x
        d = jnp.exp(-c * c)
        e = d + a * b
        f = jnp.sqrt(e * e + 1.0)
        g = jnp.log(f) * y
        return jnp.sum(g * b)

    return chain


def elementwise_chain_inputs(rng, n):
    return rng.normal(size=n), rng.normal(size=n)


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def lstm(xs, W, U, b, target):
    steps, batch, _ = xs.shape
    n = U.shape[0]
    h, c = np.zeros((batch, n)), np.zeros((batch, n))
    loss = 0.0
    for t in range(steps):
        z = xs[t] @ W + h @ U + b
        i, f, o = sigmoid(z[:, :n]), sigmoid(z[:, n : 2 * n]), sigmoid(z[:, 2 * n : 3 * n])
        g = np.tanh(z[:, 3 * n :])
        c = f * c + i * g
        h = o * np.tanh(c)
        loss += np.mean((h - target[t]) ** 2)
    return loss


def lstm_in_numba(xs, W, U, b, target):
    steps, batch, width = xs.shape
    n = U.shape[0]
    gates = np.empty((steps, batch, 4 * n))
    cs, hs = np.zeros((steps + 1, batch, n)), np.zeros((steps + 1, batch, n))
    tanhs = np.empty((steps, batch, n))
    loss = 0.0
    for t in range(steps):
        z = np.dot(xs[t], W) + np.dot(hs[t], U)
        for r in range(batch):
            for k in range(n):
                i = 1.0 / (1.0 + math.exp(-(z[r, k] + b[k])))
                f = 1.0 / (1.0 + math.exp(-(z[r, n + k] + b[n + k])))
                o = 1.0 / (1.0 + math.exp(-(z[r, 2 * n + k] + b[2 * n + k])))
                g = math.tanh(z[r, 3 * n + k] + b[3 * n + k])
                c = f * cs[t, r, k] + i * g
                tanh = math.tanh(c)
                gates[t, r, k], gates[t, r, n + k] = i, f
                gates[t, r, 2 * n + k], gates[t, r, 3 * n + k] = o, g
                cs[t + 1, r, k], tanhs[t, r, k], hs[t + 1, r, k] = c, tanh, o * tanh
                loss += (o * tanh - target[t, r, k]) ** 2
    scale = 1.0 / (batch * n)
    zs_bar, target_bar, xs_bar = np.empty((steps, batch, 4 * n)), np.empty((steps, batch, n)), np.empty(xs.shape)
    h_bar, c_bar = np.zeros((batch, n)), np.zeros((batch, n))
    for t in range(steps - 1, -1, -1):
        for r in range(batch):
            for k in range(n):
                i, f = gates[t, r, k], gates[t, r, n + k]
                o, g = gates[t, r, 2 * n + k], gates[t, r, 3 * n + k]
                tanh = tanhs[t, r, k]
                error = 2.0 * scale * (hs[t + 1, r, k] - target[t, r, k])
                target_bar[t, r, k] = -error
                got = h_bar[r, k] + error
                c = c_bar[r, k] + got * o * (1.0 - tanh * tanh)
                zs_bar[t, r, 2 * n + k] = got * tanh * o * (1.0 - o)
                zs_bar[t, r, k] = c * g * i * (1.0 - i)
                zs_bar[t, r, n + k] = c * cs[t, r, k] * f * (1.0 - f)
                zs_bar[t, r, 3 * n + k] = c * i * (1.0 - g * g)
                c_bar[r, k] = c * f
        h_bar = np.dot(zs_bar[t], U.T)
        xs_bar[t] = np.dot(zs_bar[t], W.T)
    flat = zs_bar.reshape(steps * batch, 4 * n)
    W_bar = np.dot(xs.reshape(steps * batch, width).T, flat)
    U_bar = np.dot(hs[:steps].reshape(steps * batch, n).T, flat)
    return scale * loss, xs_bar, W_bar, U_bar, flat.sum(axis=0), target_bar


def lstm_in_jax():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def lstm(xs, W, U, b, target):
        batch, n = xs.shape[1], U.shape[0]

        def step(state, inputs):
            h, c = state
            x, wanted = inputs
            i, f, o, g = jnp.split(x @ W + h @ U + b, 4, axis=1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), jnp.mean((h - wanted) ** 2)

        start = jnp.zeros((batch, n)), jnp.zeros((batch, n))
        return jnp.sum(lax.scan(step, start, (xs, target))[1])

    return lstm


def lstm_inputs(rng, steps, batch, n):
    return (
        rng.normal(size=(steps, batch, n)),
        rng.normal(size=(n, 4 * n)) / np.sqrt(n),
        rng.normal(size=(n, 4 * n)) / np.sqrt(n),
        0.1 * rng.normal(size=4 * n),
        rng.normal(size=(steps, batch, n)),
    )


CASES = [
    Case(recurrence, recurrence_in_numba, recurrence_in_jax, recurrence_inputs, (30,), (100000,), (0, 1, 2), (3,)),
    Case(
        triangular_solve, triangular_solve_in_numba, triangular_solve_in_jax, triangular_solve_inputs, (5,), (400,),
        (0, 1),
    ),
    Case(
        elementwise_chain, elementwise_chain_in_numba, elementwise_chain_in_jax, elementwise_chain_inputs, (7,),
        (1000000,), (0, 1),
    ),
    Case(lstm, lstm_in_numba, lstm_in_jax, lstm_inputs, (3, 2, 2), (40, 16, 32), (0, 1, 2, 3, 4)),
]  # fmt: skip
