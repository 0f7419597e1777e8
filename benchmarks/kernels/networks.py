"""Small networks with loops, written out."""

from __future__ import annotations

import numpy as np

from autodiff_compiler import nn
from benchmarks.kernels.kernel import Kernel


def relu(x):
    return np.maximum(x, 0)


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def conv2d(image, weights):
    """(N, H, W, C) with (K, K, C, O), pixel by pixel."""
    K = weights.shape[0]
    N, H, W, _ = image.shape
    out = np.empty((N, H - K + 1, W - K + 1, weights.shape[3]), dtype=image.dtype)
    for i in range(out.shape[1]):
        for j in range(out.shape[2]):
            patch = image[:, i : i + K, j : j + K, :, np.newaxis]
            out[:, i, j, :] = np.sum(patch * weights[np.newaxis, :, :, :], axis=(1, 2, 3))
    return out


def maxpool2d(x):
    out = np.empty((x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]), dtype=x.dtype)
    for i in range(x.shape[1] // 2):
        for j in range(x.shape[2] // 2):
            out[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return out


def convolutional_network(images, labels, conv1, bias1, dense, bias2):
    x = relu(conv2d(images, conv1) + bias1)
    x = maxpool2d(x)
    x = np.reshape(x, (x.shape[0], -1))
    p = softmax(x @ dense + bias2)
    loss = 0.0
    for n in range(len(labels)):
        loss -= np.log(p[n, labels[n]])
    return loss / len(labels)


def convolutional_network_inputs(rng, n, size, channels):
    flat = ((size - 2) // 2) ** 2 * channels
    return (
        rng.normal(size=(n, size, size, 2)),
        rng.integers(0, 3, size=n),
        0.3 * rng.normal(size=(3, 3, 2, channels)),
        0.1 * rng.normal(size=channels),
        0.3 * rng.normal(size=(flat, 3)),
        0.1 * rng.normal(size=3),
    )


def multilayer_perceptron(params, x, targets, decay):
    """Parameters in a list of dicts, one for each layer."""
    h = x
    for layer in params[:-1]:
        h = np.tanh(h @ layer["w"] + layer["b"])
    out = h @ params[-1]["w"] + params[-1]["b"]
    penalty = sum(np.sum(layer["w"] ** 2) for layer in params)
    return np.mean((out - targets) ** 2) + decay * penalty


def multilayer_perceptron_inputs(rng, n, width):
    params = [
        {"w": rng.normal(size=(a, b)) / np.sqrt(a), "b": 0.1 * rng.normal(size=b)}
        for a, b in [(3, width), (width, width), (width, 2)]
    ]
    return params, rng.normal(size=(n, 3)), rng.normal(size=(n, 2)), 1e-2


def batch_norm(x, gamma, beta, eps=1e-5):
    mean = np.mean(x, axis=0, keepdims=True)
    var = np.var(x, axis=0, keepdims=True)
    return gamma * (x - mean) / np.sqrt(var + eps) + beta


def residual_blocks(x, blocks, head):
    """Blocks that add what they compute to what they got."""
    for w1, gamma, beta, w2 in blocks:
        shortcut = x
        x = relu(batch_norm(x @ w1, gamma, beta))
        x = x @ w2
        x += shortcut
    logits = x @ head
    logits -= logits.max(axis=1, keepdims=True)
    return np.mean(np.log(np.exp(logits).sum(axis=1)) - logits[:, 0])


def residual_blocks_inputs(rng, n, d):
    block = lambda: (
        rng.normal(size=(d, d)),
        rng.uniform(0.5, 1.5, size=d),
        0.1 * rng.normal(size=d),
        rng.normal(size=(d, d)),
    )
    return rng.normal(size=(n, d)), [block() for _ in range(3)], rng.normal(size=(d, 3))


def lstm_cell(x, h, c, W, U, b):
    n = h.shape[-1]
    z = x @ W + h @ U + b
    i, f, o = sigmoid(z[..., :n]), sigmoid(z[..., n : 2 * n]), sigmoid(z[..., 2 * n : 3 * n])
    g = np.tanh(z[..., 3 * n :])
    c = f * c + i * g
    return o * np.tanh(c), c


def lstm(xs, W, U, b, V, ys):
    T, B, _ = xs.shape
    n = U.shape[0]
    h = np.zeros((B, n))
    c = np.zeros((B, n))
    loss = 0.0
    for t in range(T):
        h, c = lstm_cell(xs[t], h, c, W, U, b)
        loss += np.mean((h @ V - ys[t]) ** 2)
    return loss / T


def lstm_inputs(rng, T, B, n):
    return (
        rng.normal(size=(T, B, 3)),
        rng.normal(size=(3, 4 * n)),
        rng.normal(size=(n, 4 * n)) / np.sqrt(n),
        0.1 * rng.normal(size=4 * n),
        rng.normal(size=(n, 2)),
        rng.normal(size=(T, B, 2)),
    )


def gru(params, xs, target):
    """Gates by name in a dict; all hidden states are kept in an array."""
    T = xs.shape[0]
    n = params["Uz"].shape[0]
    hidden = np.zeros((T + 1, n))
    for t in range(T):
        x, h = xs[t], hidden[t]
        z = sigmoid(x @ params["Wz"] + h @ params["Uz"])
        r = sigmoid(x @ params["Wr"] + h @ params["Ur"])
        candidate = np.tanh(x @ params["Wh"] + (r * h) @ params["Uh"])
        hidden[t + 1] = (1.0 - z) * h + z * candidate
    return np.sum((hidden[1:] - target) ** 2) / T


def gru_inputs(rng, T, n):
    params = {k + g: rng.normal(size=(3 if k == "W" else n, n)) / np.sqrt(n) for k in "WU" for g in "zrh"}
    return params, rng.normal(size=(T, 3)), rng.normal(size=(T, n))


def layer_norm(x, gain, bias):
    mu = x.mean(-1, keepdims=True)
    sd = x.std(-1, keepdims=True)
    return gain * (x - mu) / (sd + 1e-5) + bias


def attention_block(x, Wq, Wk, Wv, Wo, gain, bias, heads):
    """Causal multi-head attention with a loop over the heads, residual and layer norm."""
    T, d = x.shape
    dh = d // heads
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    out = np.zeros((T, d))
    mask = np.triu(np.ones((T, T), dtype=bool), 1)
    for h in range(heads):
        part = slice(h * dh, (h + 1) * dh)
        scores = q[:, part] @ k[:, part].T / np.sqrt(dh)
        scores[mask] = -1e9
        out[:, part] = softmax(scores) @ v[:, part]
    y = layer_norm(x + out @ Wo, gain, bias)
    return np.sum(y[-1] ** 2) + np.mean(np.sin(y))


def attention_block_inputs(rng, T, dh, heads):
    d = dh * heads
    return (
        rng.normal(size=(T, d)),
        *(rng.normal(size=(d, d)) / np.sqrt(d) for _ in range(4)),
        rng.uniform(0.5, 1.5, size=d),
        0.1 * rng.normal(size=d),
        heads,
    )


def embedding_bag(table, offsets, words, weights, labels):
    """Sums of embeddings by index, gathered word by word into an argument's rows."""
    n = len(offsets) - 1
    pooled = np.zeros((n, table.shape[1]))
    for i in range(n):
        for k in range(offsets[i], offsets[i + 1]):
            pooled[i] += table[words[k]]
        count = max(1, offsets[i + 1] - offsets[i])
        pooled[i] /= count
    margin = labels * (pooled @ weights)
    return np.mean(np.log1p(np.exp(-margin)))


def embedding_bag_inputs(rng, n, words):
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 4, size=n))])
    return (
        rng.normal(size=(words, 4)),
        offsets,
        rng.integers(0, words, size=offsets[-1]),
        rng.normal(size=4),
        rng.choice([-1.0, 1.0], size=n),
    )


def word2vec_step(inputs, outputs, pairs, negatives, rate):
    """Skip-gram with negative samples: the loss after some steps of stochastic descent, in place."""
    for step in range(len(pairs)):
        c, o = pairs[step]
        v = inputs[c].copy()
        grad_v = np.zeros_like(v)
        for word, label in [(o, 1.0)] + [(k, 0.0) for k in negatives[step]]:
            g = sigmoid(v @ outputs[word]) - label
            grad_v += g * outputs[word]
            outputs[word] -= rate * g * v
        inputs[c] -= rate * grad_v
    loss = 0.0
    for c, o in pairs:
        loss -= np.log(sigmoid(inputs[c] @ outputs[o]))
    return loss


def word2vec_step_inputs(rng, words, steps):
    return (
        rng.normal(size=(words, 4)),
        rng.normal(size=(words, 4)),
        rng.integers(0, words, size=(steps, 2)),
        rng.integers(0, words, size=(steps, 3)),
        0.1,
    )


def adam_descent(x, rate, A, b, steps):
    """An optimiser that is itself differentiated: moments in place, a loss after some steps."""
    m = np.zeros_like(x)
    v = np.zeros_like(x)
    for t in range(1, steps + 1):
        g = A.T @ (A @ x - b)
        m *= 0.9
        m += 0.1 * g
        v *= 0.99
        v += 0.01 * g * g
        m_hat = m / (1 - 0.9**t)
        v_hat = v / (1 - 0.99**t)
        x -= rate * m_hat / (np.sqrt(v_hat) + 1e-8)
    r = A @ x - b
    return 0.5 * r @ r


def adam_descent_inputs(rng, m, n, steps):
    return rng.normal(size=n), 0.05, rng.normal(size=(m, n)), rng.normal(size=m), steps


def graph_network(features, edges, W_self, W_neighbours, readout):
    """Messages along edges, accumulated with np.add.at."""
    h = features
    for layer in range(len(W_self)):
        messages = np.zeros_like(h)
        np.add.at(messages, edges[:, 1], h[edges[:, 0]])
        degree = np.zeros(h.shape[0])
        np.add.at(degree, edges[:, 1], 1.0)
        h = np.tanh(h @ W_self[layer] + (messages / np.maximum(degree, 1.0)[:, None]) @ W_neighbours[layer])
    return np.sum(h @ readout)


def graph_network_inputs(rng, n, edges, d):
    return (
        rng.normal(size=(n, d)),
        rng.integers(0, n, size=(edges, 2)),
        rng.normal(size=(2, d, d)),
        rng.normal(size=(2, d, d)),
        rng.normal(size=d),
    )


def convolution(x, filters):
    """The convolution of the library, whose derivatives are two more."""
    return np.sum(nn.conv2d(x, filters, padding="SAME") ** 2)


def convolution_inputs(rng, n, size, channels, outputs):
    return rng.normal(size=(n, size, size, channels)), rng.normal(size=(3, 3, channels, outputs))


def library_network(x, labels, conv1, bias1, dense, bias2):
    """The convolutional network above, by the functions of the library."""
    x = nn.relu(nn.bias_add(nn.conv2d(x, conv1), bias1))
    x = nn.max_pool(x, 2, 2, "VALID")
    logits = np.reshape(x, (x.shape[0], -1)) @ dense + bias2
    return np.mean(nn.sparse_softmax_cross_entropy_with_logits(labels, logits))


KERNELS = [
    Kernel(convolutional_network, convolutional_network_inputs, (2, 6, 2), (3, 7, 2), (8, 20, 6)),
    Kernel(library_network, convolutional_network_inputs, (2, 6, 2), (3, 7, 2), (8, 20, 6)),
    Kernel(convolution, convolution_inputs, (2, 4, 2, 2), (1, 5, 3, 1), (32, 28, 8, 16)),
    Kernel(multilayer_perceptron, multilayer_perceptron_inputs, (4, 3), (3, 5), (200, 64)),
    Kernel(residual_blocks, residual_blocks_inputs, (5, 3), (4, 4), (200, 64)),
    Kernel(lstm, lstm_inputs, (3, 2, 2), (4, 3, 3), (40, 16, 32)),
    Kernel(gru, gru_inputs, (4, 3), (5, 2), (80, 32)),
    Kernel(attention_block, attention_block_inputs, (4, 3, 2), (5, 2, 3), (64, 16, 4)),
    Kernel(embedding_bag, embedding_bag_inputs, (4, 5), (5, 6), (200, 100)),
    Kernel(word2vec_step, word2vec_step_inputs, (5, 3), (6, 4), (50, 60)),
    Kernel(adam_descent, adam_descent_inputs, (5, 3, 4), (4, 4, 6), (60, 40, 60)),
    Kernel(graph_network, graph_network_inputs, (5, 8, 3), (4, 9, 2), (200, 800, 16)),
]
