"""Dynamic programming on floats, and models of sequences."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.kernels.kernel import Kernel


def soft_min(a, b, c, gamma):
    smallest = min(a, b, c)
    total = math.exp((smallest - a) / gamma) + math.exp((smallest - b) / gamma) + math.exp((smallest - c) / gamma)
    return smallest - gamma * math.log(total)


def soft_dtw(x, y, gamma):
    """Dynamic time warping with a soft minimum."""
    n, m = len(x), len(y)
    R = np.full((n + 1, m + 1), 1e10)
    R[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            R[i, j] = cost + soft_min(R[i - 1, j - 1], R[i - 1, j], R[i, j - 1], gamma)
    return R[n, m]


def soft_dtw_inputs(rng, n, m):
    return rng.normal(size=n), rng.normal(size=m), 0.7


def floyd_warshall(path):
    """All shortest paths, in place."""
    n = path.shape[0]
    for k in range(n):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))
    return np.sum(np.sqrt(path))


def floyd_warshall_inputs(rng, n):
    return (rng.uniform(1.0, 10.0, size=(n, n)),)


def bellman_ford(weights, edges, n, rounds):
    """Shortest distances with a list of edges and early exit."""
    distance = np.full(n, 1e3)
    distance[0] = 0.0
    for _ in range(rounds):
        changed = False
        for k in range(len(weights)):
            u, v = edges[k]
            candidate = distance[u] + weights[k]
            if candidate < distance[v]:
                distance[v] = candidate
                changed = True
        if not changed:
            break
    return np.sum(distance**2)


def bellman_ford_inputs(rng, n, m):
    ring = np.stack([np.arange(n), (np.arange(n) + 1) % n], 1)
    return rng.uniform(1.0, 5.0, size=n + m), np.vstack([ring, rng.integers(0, n, size=(m, 2))]), n, n


def soft_edit_distance(a, b, gap, temperature):
    """Alignment of two strings of profiles, with two rows that swap."""
    n, m = len(a), len(b)
    previous = [j * gap for j in range(m + 1)]
    for i in range(1, n + 1):
        current = [i * gap]
        for j in range(1, m + 1):
            substitution = previous[j - 1] + np.sum((a[i - 1] - b[j - 1]) ** 2)
            deletion = previous[j] + gap
            insertion = current[j - 1] + gap
            current.append(
                -temperature
                * np.log(
                    np.exp(-substitution / temperature)
                    + np.exp(-deletion / temperature)
                    + np.exp(-insertion / temperature)
                )
            )
        previous = current
    return previous[m]


def soft_edit_distance_inputs(rng, n, m):
    return rng.uniform(size=(n, 3)), rng.uniform(size=(m, 3)), 0.4, 0.3


def smith_waterman(scores, gap):
    """Local alignment with hard maxima: the derivative counts the best path."""
    n, m = scores.shape
    H = np.zeros((n + 1, m + 1))
    best = 0.0
    for i in range(n):
        for j in range(m):
            H[i + 1, j + 1] = max(0.0, H[i, j] + scores[i, j], H[i, j + 1] - gap, H[i + 1, j] - gap)
            if H[i + 1, j + 1] > best:
                best = H[i + 1, j + 1]
    return best


def smith_waterman_inputs(rng, n, m):
    return rng.normal(size=(n, m)), 0.3


def logsumexp(v):
    top = np.max(v)
    return top + np.log(np.sum(np.exp(v - top)))


def soft_viterbi(unary, pairwise, tags):
    """The negative log-likelihood of a chain: a conditional random field."""
    T, K = unary.shape
    alpha = unary[0].copy()
    gold = unary[0, tags[0]]
    for t in range(1, T):
        new = np.empty(K)
        for k in range(K):
            new[k] = logsumexp(alpha + pairwise[:, k]) + unary[t, k]
        alpha = new
        gold += pairwise[tags[t - 1], tags[t]] + unary[t, tags[t]]
    return logsumexp(alpha) - gold


def soft_viterbi_inputs(rng, T, K):
    return rng.normal(size=(T, K)), rng.normal(size=(K, K)), rng.integers(0, K, size=T)


def viterbi(log_start, log_transition, log_emission, observations):
    """The log-probability of the best path, with back pointers and a trace-back."""
    T = len(observations)
    K = log_start.size
    score = np.zeros((T, K))
    back = np.zeros((T, K), dtype=int)
    score[0] = log_start + log_emission[:, observations[0]]
    for t in range(1, T):
        for k in range(K):
            candidates = score[t - 1] + log_transition[:, k]
            back[t, k] = np.argmax(candidates)
            score[t, k] = candidates[back[t, k]] + log_emission[k, observations[t]]
    path = [int(np.argmax(score[-1]))]
    for t in range(T - 1, 0, -1):
        path.append(int(back[t, path[-1]]))
    return score[-1, path[0]] + 0.1 * log_start[path[-1]]


def viterbi_inputs(rng, T, K):
    return rng.normal(size=K), rng.normal(size=(K, K)), rng.normal(size=(K, 4)), rng.integers(0, 4, size=T)


def hmm_forward(start, transition, emission, observations):
    """A scaled forward pass."""
    alpha = start * emission[:, observations[0]]
    loglik = 0.0
    for t, o in enumerate(observations):
        if t > 0:
            alpha = (alpha @ transition) * emission[:, o]
        c = alpha.sum()
        loglik += np.log(c)
        alpha /= c
    return loglik


def hmm_forward_inputs(rng, T, K):
    rows = lambda *shape: (lambda p: p / p.sum(-1, keepdims=True))(rng.uniform(0.1, 1.0, size=shape))
    return rows(K), rows(K, K), rows(K, 5), rng.integers(0, 5, size=T)


def nussinov(pairing, temperature):
    """Folding: a partition function over nested pairs, along anti-diagonals."""
    n = pairing.shape[0]
    Z = np.ones((n + 1, n + 1))
    for span in range(1, n):
        for i in range(n - span):
            j = i + span
            total = Z[i + 1, j] if i + 1 <= j else 1.0
            for k in range(i + 1, j + 1):
                inside = Z[i + 1, k - 1] if i + 1 <= k - 1 else 1.0
                outside = Z[k + 1, j] if k + 1 <= j else 1.0
                total += np.exp(pairing[i, k] / temperature) * inside * outside
            Z[i, j] = total
    return temperature * np.log(Z[0, n - 1])


def nussinov_inputs(rng, n):
    return 0.5 * rng.normal(size=(n, n)), 0.8


def soft_knapsack(values, weights, capacity, temperature):
    table = np.zeros(capacity + 1)
    for i in range(len(values)):
        w = weights[i]
        for c in range(capacity, w - 1, -1):
            table[c] = temperature * np.logaddexp(table[c] / temperature, (table[c - w] + values[i]) / temperature)
    return table[capacity]


def soft_knapsack_inputs(rng, n, capacity):
    return rng.uniform(1.0, 3.0, size=n), rng.integers(1, 4, size=n), capacity, 0.5


def matrix_chain(sizes, temperature):
    """A soft version of the cheapest order of products, memoised in a dict."""
    n = len(sizes) - 1
    cost = {}
    for i in range(n):
        cost[i, i] = 0.0
    for span in range(1, n):
        for i in range(n - span):
            j = i + span
            options = []
            for k in range(i, j):
                options.append(cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1])
            options = np.array(options)
            low = np.min(options)
            cost[i, j] = low - temperature * np.log(np.sum(np.exp((low - options) / temperature)))
    return cost[0, n - 1]


def matrix_chain_inputs(rng, n):
    return [float(v) for v in rng.uniform(1.0, 3.0, size=n + 1)], 0.5


def ctc_loss(log_probs, labels):
    """Connectionist temporal classification, in the log domain."""
    T = log_probs.shape[0]
    extended = [0]
    for l in labels:
        extended += [l, 0]
    S = len(extended)
    alpha = np.full((T, S), -1e30)
    alpha[0, 0] = log_probs[0, 0]
    alpha[0, 1] = log_probs[0, extended[1]]
    for t in range(1, T):
        for s in range(S):
            a = alpha[t - 1, s]
            if s > 0:
                a = np.logaddexp(a, alpha[t - 1, s - 1])
            if s > 1 and extended[s] != 0 and extended[s] != extended[s - 2]:
                a = np.logaddexp(a, alpha[t - 1, s - 2])
            alpha[t, s] = a + log_probs[t, extended[s]]
    return -np.logaddexp(alpha[-1, -1], alpha[-1, -2])


def ctc_loss_inputs(rng, T, L):
    logits = rng.normal(size=(T, 4))
    return logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True)), [int(k) for k in rng.integers(1, 4, size=L)]


KERNELS = [
    Kernel(soft_dtw, soft_dtw_inputs, (5, 4), (3, 6), (60, 50)),
    Kernel(floyd_warshall, floyd_warshall_inputs, (5,), (4,), (100,)),
    Kernel(bellman_ford, bellman_ford_inputs, (5, 6), (4, 7), (40, 100)),
    Kernel(soft_edit_distance, soft_edit_distance_inputs, (4, 3), (3, 5), (30, 30)),
    Kernel(smith_waterman, smith_waterman_inputs, (5, 4), (4, 6), (60, 50)),
    Kernel(soft_viterbi, soft_viterbi_inputs, (5, 3), (4, 4), (60, 10)),
    Kernel(viterbi, viterbi_inputs, (5, 3), (4, 4), (60, 10)),
    Kernel(hmm_forward, hmm_forward_inputs, (6, 3), (5, 4), (500, 20)),
    Kernel(nussinov, nussinov_inputs, (5,), (6,), (24,)),
    Kernel(soft_knapsack, soft_knapsack_inputs, (4, 7), (5, 6), (30, 60)),
    Kernel(matrix_chain, matrix_chain_inputs, (4,), (4,), (12,)),
    Kernel(ctc_loss, ctc_loss_inputs, (6, 2), (7, 2), (60, 20)),
]
