"""Likelihoods and losses of statistical models."""

from __future__ import annotations

import math

import numpy as np

from .program import Program


def garch_likelihood(omega, alpha, beta, returns):
    """The negative log-likelihood of returns whose variance follows a GARCH(1, 1)."""
    variance = omega / (1.0 - alpha - beta)
    total = 0.0
    for r in returns:
        total += math.log(variance) + r * r / variance
        variance = omega + alpha * r * r + beta * variance
    return 0.5 * total / len(returns)


def garch_likelihood_by_hand(omega, alpha, beta, returns):
    squares = (returns * returns).tolist()
    rest = 1.0 - alpha - beta
    first = variance = omega / rest
    variances = []
    total = 0.0
    for square in squares:
        variances.append(variance)
        total += math.log(variance) + square / variance
        variance = omega + alpha * square + beta * variance

    omega_bar = alpha_bar = beta_bar = variance_bar = 0.0
    total_bar = 0.5 / len(returns)
    for square, variance in zip(reversed(squares), reversed(variances)):
        omega_bar += variance_bar
        alpha_bar += variance_bar * square
        beta_bar += variance_bar * variance
        variance_bar = beta * variance_bar + total_bar * (1.0 - square / variance) / variance
    rest_bar = variance_bar * first / rest
    return 0.5 * total / len(returns), (omega_bar + variance_bar / rest, alpha_bar + rest_bar, beta_bar + rest_bar)


def garch_likelihood_inputs(rng, n):
    return 0.1, 0.1, 0.8, rng.normal(size=n)


def mixture_likelihood(logits, means, log_scales, x):
    """The negative log-likelihood of a mixture of normal distributions with diagonal covariances."""
    n, k = len(x), len(logits)
    scores = np.empty((n, k))
    for j in range(k):
        z = (x - means[j]) * np.exp(-log_scales[j])
        scores[:, j] = logits[j] - np.sum(log_scales[j]) - 0.5 * np.sum(z * z, axis=1)
    highest = np.max(scores, axis=1)
    logs = highest + np.log(np.sum(np.exp(scores - highest[:, None]), axis=1))
    top = np.max(logits)
    return top + np.log(np.sum(np.exp(logits - top))) - np.mean(logs)


def mixture_likelihood_by_hand(logits, means, log_scales, x):
    n, k = len(x), len(logits)
    scores = np.empty((n, k))
    inverse_scales = np.exp(-log_scales)
    for j in range(k):
        z = (x - means[j]) * inverse_scales[j]
        scores[:, j] = logits[j] - np.sum(log_scales[j]) - 0.5 * np.sum(z * z, axis=1)
    highest = np.max(scores, axis=1)
    shares = np.exp(scores - highest[:, None])
    sums = np.sum(shares, axis=1)
    top = np.max(logits)
    weights = np.exp(logits - top)
    total = np.sum(weights)
    value = top + np.log(total) - np.mean(highest + np.log(sums))

    shares /= n * sums[:, None]
    counts = np.sum(shares, axis=0)
    means_bar, log_scales_bar = np.empty_like(means), np.empty_like(log_scales)
    for j in range(k):
        z = (x - means[j]) * inverse_scales[j]
        means_bar[j] = -(shares[:, j] @ z) * inverse_scales[j]
        z *= z
        log_scales_bar[j] = counts[j] - shares[:, j] @ z
    return value, (weights / total - counts, means_bar, log_scales_bar)


def mixture_likelihood_inputs(rng, n, k, d):
    return rng.normal(size=k), rng.normal(size=(k, d)), 0.3 * rng.normal(size=(k, d)), rng.normal(size=(n, d))


def grouped_density(centre, log_spread, raw, log_noise, y, errors, group):
    """The negative log density of a hierarchy: effects of groups, and measurements with heavy tails in each."""
    spread = np.exp(log_spread)
    noise = np.exp(log_noise)
    effects = centre + spread * raw
    variance = errors**2 + noise**2
    z = (y - effects[group]) / np.sqrt(variance)
    fit = np.sum(2.5 * np.log1p(z**2 / 4.0) + 0.5 * np.log(variance))
    prior = 0.5 * np.sum(raw**2) + 0.5 * (centre / 5.0) ** 2 + np.log1p(spread**2) - log_spread + 0.5 * log_noise**2
    return fit + prior


def grouped_density_by_hand(centre, log_spread, raw, log_noise, y, errors, group):
    spread = np.exp(log_spread)
    noise = np.exp(log_noise)
    effects = centre + spread * raw
    variance = errors**2 + noise**2
    deviation = np.sqrt(variance)
    z = (y - effects[group]) / deviation
    quarter = z**2 / 4.0
    fit = np.sum(2.5 * np.log1p(quarter) + 0.5 * np.log(variance))
    prior = 0.5 * np.sum(raw**2) + 0.5 * (centre / 5.0) ** 2 + np.log1p(spread**2) - log_spread + 0.5 * log_noise**2

    z_bar = 1.25 * z / (1.0 + quarter)
    effects_bar = -np.bincount(group, z_bar / deviation, len(raw))
    variance_bar = 0.5 * np.sum((1.0 - z_bar * z) / variance)
    spread_bar = effects_bar @ raw + 2.0 * spread / (1.0 + spread**2)
    cotangents = (
        np.sum(effects_bar) + centre / 25.0,
        spread_bar * spread - 1.0,
        spread * effects_bar + raw,
        2.0 * noise**2 * variance_bar + log_noise,
    )
    return fit + prior, cotangents


def grouped_density_inputs(rng, groups, n):
    return (
        0.4,
        -0.3,
        rng.normal(size=groups),
        0.2,
        rng.normal(size=n),
        rng.uniform(0.5, 2.0, n),
        rng.integers(0, groups, n),
    )


def inflated_counts(weights, zero_weights, features, counts, penalty):
    """The loss of a Poisson regression in which a part of the zeros has another cause, with a smooth penalty."""
    log_rate = features @ weights
    rate = np.exp(log_rate)
    logit = features @ zero_weights
    zero = np.logaddexp(logit, -rate)
    some = counts * log_rate - rate
    loss = np.mean(np.logaddexp(0.0, logit) - np.where(counts == 0, zero, some))
    return loss + penalty * (np.sum(np.sqrt(weights**2 + 0.01)) + np.sum(np.sqrt(zero_weights**2 + 0.01)))


def inflated_counts_by_hand(weights, zero_weights, features, counts, penalty):
    log_rate = features @ weights
    rate = np.exp(log_rate)
    logit = features @ zero_weights
    zero = np.logaddexp(logit, -rate)
    some = counts * log_rate - rate
    empty = counts == 0
    either = np.logaddexp(0.0, logit)
    loss = np.mean(either - np.where(empty, zero, some))
    roots, zero_roots = np.sqrt(weights**2 + 0.01), np.sqrt(zero_weights**2 + 0.01)
    value = loss + penalty * (np.sum(roots) + np.sum(zero_roots))

    by_cause = np.where(empty, np.exp(logit - zero), 0.0)  # the chance that the zero has the other cause
    logit_bar = (np.exp(logit - either) - by_cause) / len(counts)
    log_rate_bar = (rate * (1.0 - by_cause) - counts) / len(counts)
    weights_bar = log_rate_bar @ features + penalty * weights / roots
    zero_weights_bar = logit_bar @ features + penalty * zero_weights / zero_roots
    penalty_bar = np.sum(roots) + np.sum(zero_roots)
    return value, (weights_bar, zero_weights_bar, penalty_bar)


def inflated_counts_inputs(rng, n, d):
    features = rng.normal(size=(n, d)) / np.sqrt(d)
    return rng.normal(size=d), rng.normal(size=d), features, rng.poisson(0.8, size=n), 0.01


def radial_misfit(centres, log_widths, heights, x, y):
    """The squared error of a sum of bumps, which have a centre, a width and a height each."""
    fit = np.zeros(len(x))
    for centre, log_width, height in zip(centres, log_widths, heights):
        distances = np.sum((x - centre) ** 2, axis=1)
        fit += height * np.exp(-0.5 * distances / np.exp(2.0 * log_width))
    return np.mean((fit - y) ** 2)


def radial_misfit_by_hand(centres, log_widths, heights, x, y):
    k, n = len(centres), len(x)
    precisions = np.exp(-2.0 * log_widths)
    distances, bumps = np.empty((k, n)), np.empty((k, n))
    for j in range(k):
        np.sum((x - centres[j]) ** 2, axis=1, out=distances[j])
        np.exp((-0.5 * precisions[j]) * distances[j], out=bumps[j])
    error = heights @ bumps - y

    fit_bar = error * (2.0 / n)
    heights_bar = bumps @ fit_bar
    bumps *= fit_bar
    strengths = heights * precisions
    log_widths_bar = strengths * np.einsum("kn,kn->k", bumps, distances)
    centres_bar = strengths[:, None] * (bumps @ x - np.sum(bumps, axis=1)[:, None] * centres)
    return np.mean(error**2), (centres_bar, log_widths_bar, heights_bar)


def radial_misfit_inputs(rng, k, n, d):
    return (
        rng.normal(size=(k, d)),
        0.2 * rng.normal(size=k),
        rng.normal(size=k),
        rng.normal(size=(n, d)),
        rng.normal(size=n),
    )


def hawkes_likelihood(base, jump, decay, times):
    """The negative log-likelihood of a process whose events excite later ones, until the last of them."""
    horizon = times[-1]
    excitement = 0.0
    before = 0.0
    total = base * horizon
    for t in times:
        excitement *= math.exp(-decay * (t - before))
        total -= math.log(base + jump * decay * excitement)
        total += jump * (1.0 - math.exp(-decay * (horizon - t)))
        excitement += 1.0
        before = t
    return total


def hawkes_likelihood_by_hand(base, jump, decay, times):
    horizon = float(times[-1])
    strength = jump * decay
    excitement = before = 0.0
    total = base * horizon
    jump_bar = decay_bar = 0.0
    saved = []
    for t in times.tolist():
        gap, ahead = t - before, horizon - t
        fall, left = math.exp(-decay * gap), math.exp(-decay * ahead)
        excitement *= fall
        rate = base + strength * excitement
        total += jump * (1.0 - left) - math.log(rate)
        jump_bar += 1.0 - left
        decay_bar += jump * ahead * left
        saved.append((gap, fall, excitement, rate))
        excitement += 1.0
        before = t

    base_bar = horizon
    strength_bar = excitement_bar = 0.0
    for gap, fall, excitement, rate in reversed(saved):
        base_bar -= 1.0 / rate
        strength_bar -= excitement / rate
        excitement_bar -= strength / rate
        decay_bar -= excitement_bar * excitement * gap
        excitement_bar *= fall
    return total, (base_bar, jump_bar + strength_bar * decay, decay_bar + strength_bar * jump)


def hawkes_likelihood_inputs(rng, n):
    return 0.6, 0.4, 1.3, np.cumsum(rng.exponential(1.0, n))


PROGRAMS = [
    Program(garch_likelihood, garch_likelihood_by_hand, garch_likelihood_inputs, (50,), (5000,), (0, 1, 2)),
    Program(
        mixture_likelihood, mixture_likelihood_by_hand, mixture_likelihood_inputs, (20, 3, 2), (5000, 8, 6), (0, 1, 2)
    ),
    Program(grouped_density, grouped_density_by_hand, grouped_density_inputs, (8, 30), (500, 100_000), (0, 1, 2, 3)),
    Program(inflated_counts, inflated_counts_by_hand, inflated_counts_inputs, (30, 4), (50_000, 20), (0, 1, 4)),
    Program(radial_misfit, radial_misfit_by_hand, radial_misfit_inputs, (4, 20, 2), (30, 5000, 4), (0, 1, 2)),
    Program(hawkes_likelihood, hawkes_likelihood_by_hand, hawkes_likelihood_inputs, (40,), (4000,), (0, 1, 2)),
]
