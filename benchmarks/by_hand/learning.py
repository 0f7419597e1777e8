"""Networks and their training."""

from __future__ import annotations

import numpy as np

from .program import Program


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def memory_network(W, U, b, readout, x, y):
    """The squared error of the forecasts of a layer with memory cells, whose four gates are one matrix product."""
    T, batch, _ = x.shape
    size = U.shape[0]
    h, cell = np.zeros((batch, size)), np.zeros((batch, size))
    loss = 0.0
    for t in range(T):
        z = x[t] @ W + h @ U + b
        gates = sigmoid(z[:, : 3 * size])
        cell = gates[:, size : 2 * size] * cell + gates[:, :size] * np.tanh(z[:, 3 * size :])
        h = gates[:, 2 * size :] * np.tanh(cell)
        loss += np.mean((h @ readout - y[t]) ** 2)
    return loss / T


def memory_network_by_hand(W, U, b, readout, x, y):
    T, batch, _ = x.shape
    size = U.shape[0]
    hs, cells = np.zeros((T + 1, batch, size)), np.zeros((T + 1, batch, size))
    gates, new, tanhs = np.empty((T, batch, 3 * size)), np.empty((T, batch, size)), np.empty((T, batch, size))
    inputs = x @ W + b
    for t in range(T):
        z = inputs[t] + hs[t] @ U
        gates[t] = sigmoid(z[:, : 3 * size])
        new[t] = np.tanh(z[:, 3 * size :])
        cells[t + 1] = gates[t, :, size : 2 * size] * cells[t] + gates[t, :, :size] * new[t]
        tanhs[t] = np.tanh(cells[t + 1])
        hs[t + 1] = gates[t, :, 2 * size :] * tanhs[t]
    error = hs[1:] @ readout - y
    value = np.mean(error**2)

    error *= 2.0 / error.size
    hs_bar = error @ readout.T
    readout_bar = np.tensordot(hs[1:], error, 2 * [[0, 1]])
    slopes = gates * (1.0 - gates)
    new_slopes, cell_slopes = 1.0 - new**2, 1.0 - tanhs**2
    zs_bar = np.empty((T, batch, 4 * size))
    h_bar, cell_bar = np.zeros((batch, size)), np.zeros((batch, size))
    for t in reversed(range(T)):
        h_bar += hs_bar[t]
        z_bar = zs_bar[t]
        cell_bar += h_bar * gates[t, :, 2 * size :] * cell_slopes[t]
        z_bar[:, :size] = cell_bar * new[t]
        z_bar[:, size : 2 * size] = cell_bar * cells[t]
        z_bar[:, 2 * size : 3 * size] = h_bar * tanhs[t]
        z_bar[:, : 3 * size] *= slopes[t]
        z_bar[:, 3 * size :] = cell_bar * gates[t, :, :size] * new_slopes[t]
        cell_bar *= gates[t, :, size : 2 * size]
        h_bar = z_bar @ U.T
    W_bar = np.tensordot(x, zs_bar, 2 * [[0, 1]])
    U_bar = np.tensordot(hs[:-1], zs_bar, 2 * [[0, 1]])
    return value, (W_bar, U_bar, np.sum(zs_bar, axis=(0, 1)), readout_bar)


def memory_network_inputs(rng, T, batch, d, size):
    return (
        rng.normal(size=(d, 4 * size)) / np.sqrt(d),
        rng.normal(size=(size, 4 * size)) / np.sqrt(size),
        rng.normal(size=4 * size),
        rng.normal(size=(size, 2)),
        rng.normal(size=(T, batch, d)),
        rng.normal(size=(T, batch, 2)),
    )


def causal_attention(query, key, value, output, x, target, heads):
    """The squared error of a layer in which each place attends to those before it, one head after the other."""
    n, size = len(x), query.shape[1] // heads
    later = np.triu(np.ones((n, n), dtype=bool), 1)
    q, k, v = x @ query, x @ key, x @ value
    mixed = np.empty(v.shape)
    for h in range(heads):
        part = slice(h * size, (h + 1) * size)
        scores = q[:, part] @ k[:, part].T / np.sqrt(size)
        scores[later] = -1e9
        shares = np.exp(scores - np.max(scores, axis=1, keepdims=True))
        shares = shares / np.sum(shares, axis=1, keepdims=True)
        mixed[:, part] = shares @ v[:, part]
    return np.mean((x + mixed @ output - target) ** 2)


def causal_attention_by_hand(query, key, value, output, x, target, heads):
    n, size = len(x), query.shape[1] // heads
    later = np.triu(np.ones((n, n), dtype=bool), 1)
    scale = 1.0 / np.sqrt(size)
    q, k, v = x @ query, x @ key, x @ value
    mixed = np.empty(v.shape)
    all_shares = np.empty((heads, n, n))
    for h in range(heads):
        part = slice(h * size, (h + 1) * size)
        shares = np.matmul(q[:, part] * scale, k[:, part].T, out=all_shares[h])
        shares[later] = -1e9
        shares -= np.max(shares, axis=1, keepdims=True)
        np.exp(shares, out=shares)
        shares /= np.sum(shares, axis=1, keepdims=True)
        mixed[:, part] = shares @ v[:, part]
    error = x + mixed @ output - target
    result = np.mean(error**2)

    error *= 2.0 / error.size
    mixed_bar = error @ output.T
    q_bar, k_bar, v_bar = np.empty_like(q), np.empty_like(k), np.empty_like(v)
    for h in range(heads):
        part = slice(h * size, (h + 1) * size)
        shares = all_shares[h]
        v_bar[:, part] = shares.T @ mixed_bar[:, part]
        scores_bar = mixed_bar[:, part] @ v[:, part].T
        scores_bar -= np.sum(mixed_bar[:, part] * mixed[:, part], axis=1, keepdims=True)
        scores_bar *= shares
        q_bar[:, part] = scores_bar @ k[:, part]
        k_bar[:, part] = scores_bar.T @ q[:, part]
    q_bar *= scale
    k_bar *= scale
    x_bar = error + q_bar @ query.T + k_bar @ key.T + v_bar @ value.T
    return result, (x.T @ q_bar, x.T @ k_bar, x.T @ v_bar, mixed.T @ error, x_bar)


def causal_attention_inputs(rng, n, d, heads):
    weights = [rng.normal(size=(d, d)) / np.sqrt(d) for _ in range(4)]
    return *weights, rng.normal(size=(n, d)), rng.normal(size=(n, d)), heads


def batched_classifier(W1, b1, W2, b2, x, labels, batch):
    """The mean over batches of the largest cross-entropies: those above the mean of their batch count twice."""
    n = len(x)
    total = 0.0
    for start in range(0, n, batch):
        stop = min(start + batch, n)
        h = np.maximum(x[start:stop] @ W1 + b1, 0.0)
        scores = h @ W2 + b2
        scores = scores - np.max(scores, axis=1, keepdims=True)
        logs = np.log(np.sum(np.exp(scores), axis=1))
        losses = logs - scores[np.arange(stop - start), labels[start:stop]]
        hard = losses > np.mean(losses)
        total += np.sum(np.where(hard, 2.0 * losses, losses))
    return total / n


def batched_classifier_by_hand(W1, b1, W2, b2, x, labels, batch):
    n = len(x)
    total = 0.0
    W1_bar, b1_bar, W2_bar, b2_bar = np.zeros_like(W1), np.zeros_like(b1), np.zeros_like(W2), np.zeros_like(b2)
    for start in range(0, n, batch):
        stop = min(start + batch, n)
        rows, picked = np.arange(stop - start), labels[start:stop]
        h = x[start:stop] @ W1
        h += b1
        np.maximum(h, 0.0, out=h)
        scores = h @ W2 + b2
        scores -= np.max(scores, axis=1, keepdims=True)
        shares = np.exp(scores)
        sums = np.sum(shares, axis=1)
        losses = np.log(sums) - scores[rows, picked]
        factors = np.where(losses > np.mean(losses), 2.0, 1.0)
        total += factors @ losses

        factors /= n
        shares *= (factors / sums)[:, None]
        shares[rows, picked] -= factors  # now the cotangent of the scores
        W2_bar += h.T @ shares
        b2_bar += np.sum(shares, axis=0)
        h_bar = shares @ W2.T
        h_bar *= h > 0.0
        W1_bar += x[start:stop].T @ h_bar
        b1_bar += np.sum(h_bar, axis=0)
    return total / n, (W1_bar, b1_bar, W2_bar, b2_bar)


def batched_classifier_inputs(rng, n, d, size, classes, batch):
    return (
        rng.normal(size=(d, size)) / np.sqrt(d),
        0.1 * rng.normal(size=size),
        rng.normal(size=(size, classes)) / np.sqrt(size),
        0.1 * rng.normal(size=classes),
        rng.normal(size=(n, d)),
        rng.integers(0, classes, n),
        batch,
    )


def trained_with_momentum(weights, rate, momentum, x, y, x_test, y_test, epochs, batch):
    """The loss on new data of a logistic regression that was trained by descent with momentum."""
    velocity = np.zeros_like(weights)
    for _ in range(epochs):
        for start in range(0, len(x), batch):
            rows = x[start : start + batch]
            error = sigmoid(rows @ weights) - y[start : start + batch]
            velocity = momentum * velocity - rate * (rows.T @ error) / len(rows)
            weights = weights + velocity
    scores = x_test @ weights
    return np.mean(np.logaddexp(0.0, scores) - y_test * scores)


def trained_with_momentum_by_hand(weights, rate, momentum, x, y, x_test, y_test, epochs, batch):
    velocity = np.zeros_like(weights)
    saved = []
    for _ in range(epochs):
        for start in range(0, len(x), batch):
            rows = x[start : start + batch]
            chances = sigmoid(rows @ weights)
            gradient = (chances - y[start : start + batch]) @ rows / len(rows)
            saved.append((rows, chances, velocity, gradient))
            velocity = momentum * velocity - rate * gradient
            weights = weights + velocity
    scores = x_test @ weights
    logs = np.logaddexp(0.0, scores)

    weights_bar = (np.exp(scores - logs) - y_test) @ x_test / len(scores)
    velocity_bar = np.zeros_like(weights)
    rate_bar = momentum_bar = 0.0
    for rows, chances, velocity, gradient in reversed(saved):
        velocity_bar += weights_bar
        momentum_bar += velocity_bar @ velocity
        rate_bar -= velocity_bar @ gradient
        scores_bar = (rows @ velocity_bar) * (chances * (1.0 - chances))
        weights_bar = weights_bar - (rate / len(rows)) * (scores_bar @ rows)
        velocity_bar *= momentum
    return np.mean(logs - y_test * scores), (weights_bar, rate_bar, momentum_bar)


def trained_with_momentum_inputs(rng, n, d, epochs, batch):
    truth = rng.normal(size=d)
    x, x_test = rng.normal(size=(n, d)), rng.normal(size=(n, d))
    y, y_test = (x @ truth > 0).astype(float), (x_test @ truth > 0).astype(float)
    return 0.1 * rng.normal(size=d), 0.3, 0.8, x, y, x_test, y_test, epochs, batch


def normalised_blocks(gains, shifts, weights, x, target):
    """A stack of residual layers, each with its input normalised over the features."""
    h = x
    for gain, shift, weight in zip(gains, shifts, weights):
        centred = h - np.mean(h, axis=1, keepdims=True)
        deviation = np.sqrt(np.mean(centred**2, axis=1, keepdims=True) + 1e-5)
        h = h + np.tanh((centred / deviation * gain + shift) @ weight)
    return np.mean((h - target) ** 2)


def normalised_blocks_by_hand(gains, shifts, weights, x, target):
    h = x
    saved = []
    for gain, shift, weight in zip(gains, shifts, weights):
        normal = h - np.mean(h, axis=1, keepdims=True)
        deviation = np.sqrt(np.mean(normal**2, axis=1, keepdims=True) + 1e-5)
        normal /= deviation
        out = np.tanh((normal * gain + shift) @ weight)
        saved.append((normal, deviation, out))
        h = h + out
    h_bar = h - target
    value = np.mean(h_bar**2)

    h_bar *= 2.0 / h.size
    gains_bar, shifts_bar, weights_bar = np.empty_like(gains), np.empty_like(shifts), np.empty_like(weights)
    for j in reversed(range(len(gains))):
        normal, deviation, out = saved[j]
        out_bar = h_bar * (1.0 - out**2)
        weights_bar[j] = (normal * gains[j] + shifts[j]).T @ out_bar
        normal_bar = out_bar @ weights[j].T
        shifts_bar[j] = np.sum(normal_bar, axis=0)
        gains_bar[j] = np.sum(normal_bar * normal, axis=0)
        normal_bar *= gains[j]
        normal_bar -= np.mean(normal_bar, axis=1, keepdims=True)
        normal_bar -= normal * np.mean(normal_bar * normal, axis=1, keepdims=True)
        h_bar += normal_bar / deviation
    return value, (gains_bar, shifts_bar, weights_bar, h_bar)


def normalised_blocks_inputs(rng, layers, n, d):
    return (
        rng.uniform(0.5, 1.5, size=(layers, d)),
        0.1 * rng.normal(size=(layers, d)),
        rng.normal(size=(layers, d, d)) / np.sqrt(d),
        rng.normal(size=(n, d)),
        rng.normal(size=(n, d)),
    )


PROGRAMS = [
    Program(
        memory_network, memory_network_by_hand, memory_network_inputs, (4, 2, 3, 3), (40, 16, 12, 24), (0, 1, 2, 3)
    ),
    Program(
        causal_attention,
        causal_attention_by_hand,
        causal_attention_inputs,
        (5, 4, 2),
        (128, 64, 4),
        (0, 1, 2, 3, 4),
    ),
    Program(
        batched_classifier,
        batched_classifier_by_hand,
        batched_classifier_inputs,
        (10, 4, 5, 3, 4),
        (4000, 20, 50, 10, 200),
        (0, 1, 2, 3),
    ),
    Program(
        trained_with_momentum,
        trained_with_momentum_by_hand,
        trained_with_momentum_inputs,
        (12, 4, 2, 4),
        (2000, 40, 5, 100),
        (0, 1, 2),
    ),
    Program(
        normalised_blocks, normalised_blocks_by_hand, normalised_blocks_inputs, (3, 3, 4), (6, 256, 48), (0, 1, 2, 3)
    ),
]
