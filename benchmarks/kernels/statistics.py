"""Statistics, learning and finance."""

from __future__ import annotations

import numpy as np

from benchmarks.kernels.kernel import Kernel


def correlation(data):
    """Means, deviations and products, column by column, in place."""
    N, M = data.shape
    mean = np.mean(data, axis=0)
    stddev = np.std(data, axis=0)
    stddev[stddev <= 0.1] = 1.0
    data -= mean
    data /= np.sqrt(float(N)) * stddev
    corr = np.eye(M, dtype=data.dtype)
    for i in range(M - 1):
        corr[i + 1 : M, i] = corr[i, i + 1 : M] = data[:, i] @ data[:, i + 1 : M]
    return np.sum(corr**3)


def correlation_inputs(rng, n, m):
    return (rng.normal(size=(n, m)),)


def covariance(data):
    N, M = data.shape
    mean = np.zeros(M)
    for j in range(M):
        for i in range(N):
            mean[j] += data[i, j]
        mean[j] /= N
    data -= mean
    cov = np.zeros((M, M))
    for i in range(M):
        for j in range(i, M):
            cov[i, j] = data[:, i] @ data[:, j] / (N - 1.0)
            cov[j, i] = cov[i, j]
    return np.linalg.det(cov)


def covariance_inputs(rng, n, m):
    return (rng.normal(size=(n, m)),)


def squared_distances(X, C):
    out = np.zeros((X.shape[0], C.shape[0]))
    for k, c in enumerate(C):
        out[:, k] = np.sum((X - c) ** 2, axis=1)
    return out


def soft_k_means(X, centres, sharpness, steps):
    for _ in range(steps):
        d = squared_distances(X, centres)
        r = np.exp(-sharpness * (d - d.min(axis=1, keepdims=True)))
        r /= r.sum(axis=1, keepdims=True)
        for k in range(len(centres)):
            centres[k] = r[:, k] @ X / np.sum(r[:, k])
    return np.sum(r * squared_distances(X, centres))


def soft_k_means_inputs(rng, n, k, steps):
    return rng.normal(size=(n, 2)), rng.normal(size=(k, 2)), 1.5, steps


def spectral_clustering(X, width, steps, k):
    """The normalised cut's leading vectors by orthogonal iteration."""
    n = len(X)
    W = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            W[i, j] = W[j, i] = np.exp(-np.sum((X[i] - X[j]) ** 2) / width)
    d = W.sum(axis=1)
    L = W / np.sqrt(np.outer(d, d)) + np.eye(n)
    V = np.linspace(0.0, 1.0, n)[:, None] ** np.arange(k)
    for _ in range(steps):
        V = L @ V
        for a in range(k):
            for b in range(a):
                V[:, a] -= (V[:, b] @ V[:, a]) * V[:, b]
            V[:, a] /= np.sqrt(np.sum(V[:, a] ** 2))
    return np.trace(V.T @ L @ V)


def spectral_clustering_inputs(rng, n, k):
    return rng.normal(size=(n, 2)), 1.5, 5, k


def principal_components(X, k, steps):
    """Power iteration with deflation."""
    X = X - X.mean(axis=0)
    C = X.T @ X / len(X)
    explained = []
    for c in range(k):
        v = np.ones(C.shape[0])
        for _ in range(steps):
            v = C @ v
            v /= np.linalg.norm(v)
        value = v @ C @ v
        explained.append(value)
        C -= value * np.outer(v, v)
    return explained[0] - 2.0 * explained[-1] + np.sum(explained) ** 2


def principal_components_inputs(rng, n, m, k):
    return rng.normal(size=(n, m)), k, 6


def gaussian_process(X, y, log_params):
    """The marginal likelihood with a kernel matrix that is filled entry by entry."""
    length, amplitude, noise = np.exp(log_params)
    n = X.shape[0]
    K = np.empty((n, n))
    for i in range(n):
        for j in range(i + 1):
            K[i, j] = amplitude * np.exp(-0.5 * np.sum((X[i] - X[j]) ** 2) / length**2)
            K[j, i] = K[i, j]
        K[i, i] += noise
    L = np.linalg.cholesky(K)
    a = np.linalg.solve(L, y)
    return 0.5 * a @ a + np.sum(np.log(np.diag(L))) + 0.5 * n * np.log(2 * np.pi)


def gaussian_process_inputs(rng, n):
    return rng.normal(size=(n, 2)), rng.normal(size=n), np.array([0.1, 0.2, -1.0])


def kalman_filter(x, P, F, H, Q, R, observations):
    """Predict and correct; the likelihood of what was seen. None marks what is missing."""
    loglik = 0.0
    for t, z in enumerate(observations):
        x = F @ x
        P = F @ P @ F.T + Q
        if np.isnan(z[0]):
            continue
        y = z - H @ x
        S = H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        x = x + K @ y
        P = (np.eye(len(x)) - K @ H) @ P
        loglik -= 0.5 * (y @ np.linalg.solve(S, y) + np.linalg.slogdet(S)[1] + len(z) * np.log(2 * np.pi))
    return loglik


def kalman_filter_inputs(rng, T, n):
    F = np.eye(n) + 0.1 * rng.normal(size=(n, n))
    return (
        rng.normal(size=n),
        np.eye(n),
        F,
        rng.normal(size=(2, n)),
        0.1 * np.eye(n),
        0.5 * np.eye(2),
        rng.normal(size=(T, 2)),
    )


def particle_filter(drift, spread, observed, noise, starts):
    """Weights of fixed noise, with soft resampling towards the mean."""
    T, n = noise.shape
    particles = starts.copy()
    log_weights = np.full(n, -np.log(n))
    loglik = 0.0
    for t in range(T):
        particles += drift * particles + np.exp(spread) * noise[t]
        log_weights -= 0.5 * (observed[t] - particles) ** 2
        top = log_weights.max()
        total = top + np.log(np.sum(np.exp(log_weights - top)))
        loglik += total
        log_weights -= total
        if 1.0 / np.sum(np.exp(2.0 * log_weights)) < 0.5 * n:
            mean = np.sum(np.exp(log_weights) * particles)
            particles = 0.5 * (particles + mean)
            log_weights[:] = -np.log(n)
    return loglik


def particle_filter_inputs(rng, T, n):
    return -0.1, -0.5, rng.normal(size=T), rng.normal(size=(T, n)), rng.normal(size=n)


def em_mixture(x, means, stds, weights, steps):
    """Expectation and maximisation for a mixture on a line."""
    n, K = len(x), len(means)
    loglik = 0.0
    for _ in range(steps):
        r = np.zeros((n, K))
        for k in range(K):
            r[:, k] = weights[k] * np.exp(-0.5 * ((x - means[k]) / stds[k]) ** 2) / stds[k]
        total = np.sum(r, axis=1)
        loglik = np.sum(np.log(total))
        r = r / total[:, np.newaxis]
        for k in range(K):
            nk = np.sum(r[:, k])
            means[k] = np.dot(r[:, k], x) / nk
            stds[k] = np.sqrt(np.dot(r[:, k], (x - means[k]) ** 2) / nk + 1e-3)
            weights[k] = nk / n
    return loglik + np.sum(means * stds)


def em_mixture_inputs(rng, n, k, steps):
    return rng.normal(size=n), np.linspace(-1.0, 1.0, k), rng.uniform(0.5, 1.0, size=k), np.full(k, 1.0 / k), steps


def hinge_loss(w, b, X, y, C):
    """A support vector machine, one example at a time."""
    loss = 0.5 * w @ w
    for x, label in zip(X, y):
        margin = label * (x @ w + b)
        if margin < 1:
            loss += C * (1 - margin)
    return loss


def hinge_loss_inputs(rng, n, d):
    return rng.normal(size=d), 0.1, rng.normal(size=(n, d)), rng.choice([-1, 1], size=n), 0.7


def softmax_regression(W, b, X, labels, l2):
    logits = X @ W + b
    logits = logits - np.max(logits, axis=1, keepdims=True)
    logp = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
    return -np.mean(logp[np.arange(len(labels)), labels]) + l2 * np.sum(W * W)


def softmax_regression_inputs(rng, n, d, k):
    return rng.normal(size=(d, k)), rng.normal(size=k), rng.normal(size=(n, d)), rng.integers(0, k, size=n), 1e-2


def page_rank(weights, sources, targets, damping, steps):
    """Links with weights; ranks are pushed along them."""
    n = int(max(np.max(sources), np.max(targets))) + 1
    out = np.zeros(n)
    for e in range(len(weights)):
        out[sources[e]] += weights[e]
    rank = np.full(n, 1.0 / n)
    for _ in range(steps):
        new = np.full(n, (1.0 - damping) / n)
        for e in range(len(weights)):
            if out[sources[e]] > 0:
                new[targets[e]] += damping * rank[sources[e]] * weights[e] / out[sources[e]]
        delta = np.abs(new - rank).sum()
        rank = new
        if delta < 1e-12:
            break
    return rank[0] + np.sum(rank**2)


def page_rank_inputs(rng, n, m):
    ring = np.arange(n)
    return (
        rng.uniform(0.5, 1.5, size=n + m),
        np.concatenate([ring, rng.integers(0, n, size=m)]),
        np.concatenate([(ring + 1) % n, rng.integers(0, n, size=m)]),
        0.85,
        5,
    )


def matrix_factorisation(U, V, ratings, users, items, l2, rate):
    """One pass of stochastic gradient descent, and the error after it."""
    for k in range(len(ratings)):
        u, i = users[k], items[k]
        error = ratings[k] - U[u] @ V[i]
        step = rate * (error * V[i] - l2 * U[u])
        V[i] += rate * (error * U[u] - l2 * V[i])
        U[u] += step
    total = 0.0
    for u, i, r in zip(users, items, ratings):
        total += (r - U[u] @ V[i]) ** 2
    return total / len(ratings)


def matrix_factorisation_inputs(rng, users, items, n):
    return (
        rng.normal(size=(users, 3)),
        rng.normal(size=(items, 3)),
        rng.normal(size=n),
        rng.integers(0, users, size=n),
        rng.integers(0, items, size=n),
        0.02,
        0.05,
    )


def normal_cdf(x):
    """Abramowitz and Stegun 26.2.17."""
    k = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    poly = 0.0
    for a in (1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.319381530):
        poly = (poly + a) * k
    upper = np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi) * poly
    return np.where(x > 0, 1.0 - upper, upper)


def black_scholes(spot, strike, rate, volatility, expiry):
    call = np.empty_like(strike)
    put = np.empty_like(strike)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * expiry) / (volatility * np.sqrt(expiry))
    d2 = d1 - volatility * np.sqrt(expiry)
    call[:] = spot * normal_cdf(d1) - strike * np.exp(-rate * expiry) * normal_cdf(d2)
    np.subtract(call, spot, out=put)
    put += strike * np.exp(-rate * expiry)
    return np.sum(call * put)


def black_scholes_inputs(rng, n):
    return 100.0, rng.uniform(80.0, 120.0, size=n), 0.03, rng.uniform(0.1, 0.4, size=n), rng.uniform(0.2, 2.0, size=n)


def binomial_option(spot, strike, rate, volatility, expiry, steps, american=True):
    """Cox, Ross and Rubinstein's tree, rolled back in place."""
    dt = expiry / steps
    up = np.exp(volatility * np.sqrt(dt))
    down = 1.0 / up
    p = (np.exp(rate * dt) - down) / (up - down)
    discount = np.exp(-rate * dt)
    values = np.zeros(steps + 1)
    for j in range(steps + 1):
        values[j] = max(strike - spot * up ** (steps - j) * down**j, 0.0)
    for step in range(steps - 1, -1, -1):
        for j in range(step + 1):
            values[j] = discount * (p * values[j] + (1.0 - p) * values[j + 1])
            if american:
                exercise = strike - spot * up ** (step - j) * down**j
                if exercise > values[j]:
                    values[j] = exercise
    return values[0]


def binomial_option_inputs(rng, steps):
    return 100.0, 104.3, 0.03, 0.25, 1.0, steps


def asian_option(spot, rate, volatility, normals, strike, smoothing):
    """Paths of fixed normals, payoff on the running mean."""
    paths, steps = normals.shape
    dt = 1.0 / steps
    payoff = np.zeros(paths)
    for p in range(paths):
        s = spot
        mean = 0.0
        for t in range(steps):
            s = s * np.exp((rate - 0.5 * volatility**2) * dt + volatility * np.sqrt(dt) * normals[p, t])
            mean += s
        mean /= steps
        payoff[p] = smoothing * np.logaddexp(0.0, (mean - strike) / smoothing)
    return np.exp(-rate) * np.mean(payoff)


def asian_option_inputs(rng, paths, steps):
    return 100.0, 0.03, 0.2, rng.normal(size=(paths, steps)), 100.0, 0.5


class Heston:
    """Parameters of the stochastic variance, as an object."""

    def __init__(self, kappa, theta, xi, rho):
        self.kappa, self.theta, self.xi, self.rho = kappa, theta, xi, rho

    def step(self, log_s, v, z1, z2, rate, dt):
        positive = np.maximum(v, 0.0)
        root = np.sqrt(positive * dt)
        w = self.rho * z1 + np.sqrt(1.0 - self.rho**2) * z2
        log_s = log_s + (rate - 0.5 * positive) * dt + root * z1
        v = v + self.kappa * (self.theta - positive) * dt + self.xi * root * w
        return log_s, v


def heston(spot, v0, params, rate, normals, strike):
    """Full-truncation Euler with an object that is made of the parameters."""
    model = Heston(*params)
    steps = normals.shape[1]
    log_s = np.full(normals.shape[2], np.log(spot))
    v = np.full(normals.shape[2], v0)
    for t in range(steps):
        log_s, v = model.step(log_s, v, normals[0, t], normals[1, t], rate, 1.0 / steps)
    return np.exp(-rate) * np.mean(np.maximum(np.exp(log_s) - strike, 0.0))


def heston_inputs(rng, steps, paths):
    return 100.0, 0.04, (1.5, 0.05, 0.3, -0.6), 0.03, rng.normal(size=(2, steps, paths)), 95.0


def discount_at(times, logs, t):
    """Log-linear between the knots."""
    for k in range(1, len(times)):
        if t <= times[k]:
            w = (t - times[k - 1]) / (times[k] - times[k - 1])
            return np.exp((1.0 - w) * logs[k - 1] + w * logs[k])
    return np.exp(logs[-1] * t / times[-1])


def yield_curve(swap_rates, maturities, cash_flows, flow_times):
    """Bootstraps discount factors from par swaps, then values a bond off the curve."""
    n = len(swap_rates)
    times = np.zeros(n + 1)
    logs = np.zeros(n + 1)
    annuity = 0.0
    for i in range(n):
        gap = maturities[i] - times[i]
        discount = (1.0 - swap_rates[i] * annuity) / (1.0 + swap_rates[i] * gap)
        annuity += gap * discount
        times[i + 1] = maturities[i]
        logs[i + 1] = np.log(discount)
    value = 0.0
    for c, t in zip(cash_flows, flow_times):
        value += c * discount_at(times, logs, t)
    return value


def yield_curve_inputs(rng, n, flows):
    return (
        0.03 + 0.01 * rng.uniform(size=n),
        np.arange(1, n + 1) * 1.0 + 0.05 * rng.uniform(size=n),
        rng.uniform(1.0, 5.0, size=flows),
        rng.uniform(0.3, n, size=flows),
    )


KERNELS = [
    Kernel(correlation, correlation_inputs, (6, 4), (5, 3), (200, 100)),
    Kernel(covariance, covariance_inputs, (6, 3), (7, 4), (60, 20)),
    Kernel(soft_k_means, soft_k_means_inputs, (6, 3, 3), (7, 2, 4), (2000, 8, 10)),
    Kernel(spectral_clustering, spectral_clustering_inputs, (5, 2), (6, 3), (40, 4)),
    Kernel(principal_components, principal_components_inputs, (6, 4, 2), (7, 3, 3), (300, 40, 5)),
    Kernel(gaussian_process, gaussian_process_inputs, (5,), (4,), (50,)),
    Kernel(kalman_filter, kalman_filter_inputs, (4, 3), (5, 2), (100, 6)),
    Kernel(particle_filter, particle_filter_inputs, (4, 6), (5, 5), (100, 1000)),
    Kernel(em_mixture, em_mixture_inputs, (8, 2, 3), (9, 3, 2), (2000, 4, 10)),
    Kernel(hinge_loss, hinge_loss_inputs, (6, 3), (5, 4), (500, 20)),
    Kernel(softmax_regression, softmax_regression_inputs, (5, 3, 4), (6, 2, 3), (1000, 50, 10)),
    Kernel(page_rank, page_rank_inputs, (4, 5), (5, 6), (50, 200)),
    Kernel(matrix_factorisation, matrix_factorisation_inputs, (4, 5, 7), (3, 4, 8), (30, 40, 400)),
    Kernel(black_scholes, black_scholes_inputs, (5,), (4,), (20000,)),
    Kernel(binomial_option, binomial_option_inputs, (5,), (7,), (40,)),
    Kernel(asian_option, asian_option_inputs, (4, 3), (3, 5), (60, 40)),
    Kernel(heston, heston_inputs, (4, 5), (5, 4), (50, 2000)),
    Kernel(yield_curve, yield_curve_inputs, (4, 5), (5, 3), (20, 60)),
]
