"""Recursions over time, and signals."""

from __future__ import annotations

import itertools
import math

import numpy as np

from .program import Program


def tagging_loss(scores, transitions, tags):
    """The negative log-likelihood of the tags of a batch of sentences under a conditional random field."""
    T, batch, _ = scores.shape
    each = np.arange(batch)
    forward = scores[0]
    gold = scores[0][each, tags[0]]
    for t in range(1, T):
        paths = forward[:, :, None] + transitions
        best = np.max(paths, axis=1)
        forward = scores[t] + best + np.log(np.sum(np.exp(paths - best[:, None, :]), axis=1))
        gold = gold + transitions[tags[t - 1], tags[t]] + scores[t][each, tags[t]]
    best = np.max(forward, axis=1)
    logs = best + np.log(np.sum(np.exp(forward - best[:, None]), axis=1))
    return np.mean(logs - gold)


def tagging_loss_by_hand(scores, transitions, tags):
    T, batch, K = scores.shape
    each = np.arange(batch)
    forward = scores[0]
    gold = scores[0][each, tags[0]]
    shares = np.empty((T, batch, K, K))  # how much of a state at t comes from each state before
    for t in range(1, T):
        paths = np.add(forward[:, :, None], transitions, out=shares[t])
        best = np.max(paths, axis=1)
        paths -= best[:, None, :]
        np.exp(paths, out=paths)
        sums = np.sum(paths, axis=1)
        paths /= sums[:, None, :]
        forward = scores[t] + best + np.log(sums)
        gold += transitions[tags[t - 1], tags[t]] + scores[t][each, tags[t]]
    best = np.max(forward, axis=1)
    weights = np.exp(forward - best[:, None])
    sums = np.sum(weights, axis=1)
    value = np.mean(best + np.log(sums) - gold)

    scores_bar, transitions_bar = np.empty_like(scores), np.zeros_like(transitions)
    scores_bar[-1] = weights / (batch * sums[:, None])
    for t in reversed(range(1, T)):
        paths_bar = shares[t]
        paths_bar *= scores_bar[t][:, None, :]
        transitions_bar += np.sum(paths_bar, axis=0)
        scores_bar[t - 1] = np.sum(paths_bar, axis=2)
    scores_bar[np.arange(T)[:, None], each, tags] -= 1.0 / batch
    np.subtract.at(transitions_bar, (tags[:-1], tags[1:]), 1.0 / batch)
    return value, (scores_bar, transitions_bar)


def tagging_loss_inputs(rng, T, batch, K):
    return rng.normal(size=(T, batch, K)), rng.normal(size=(K, K)), rng.integers(0, K, size=(T, batch))


def spectrogram_misfit(signal, window, target, hop):
    """The squared difference of the log power of overlapping pieces of a signal from what it should be."""
    size = len(window)
    loss = 0.0
    for k in range(len(target)):
        piece = signal[k * hop : k * hop + size] * window
        spectrum = np.fft.rfft(piece)
        power = spectrum.real**2 + spectrum.imag**2
        loss += np.sum((np.log(power + 1e-3) - target[k]) ** 2)
    return loss / target.size


def spectrogram_misfit_by_hand(signal, window, target, hop):
    size = len(window)
    loss = 0.0
    signal_bar, window_bar = np.zeros_like(signal), np.zeros_like(window)
    for k in range(len(target)):
        part = slice(k * hop, k * hop + size)
        spectrum = np.fft.rfft(signal[part] * window)
        power = spectrum.real**2 + spectrum.imag**2
        power += 1e-3
        error = np.log(power) - target[k]
        loss += error @ error
        error /= power
        spectrum *= error
        spectrum[1 : (size + 1) // 2] *= 0.5  # irfft counts these twice
        piece_bar = np.fft.irfft(spectrum, size)
        signal_bar[part] += piece_bar * window
        window_bar += piece_bar * signal[part]
    scale = 4.0 * size / target.size
    return loss / target.size, (scale * signal_bar, scale * window_bar)


def spectrogram_misfit_inputs(rng, pieces, size, hop):
    target = rng.normal(size=(pieces, size // 2 + 1))
    return rng.normal(size=(pieces - 1) * hop + size), np.hanning(size + 2)[1:-1], target, hop


def trend_smoothing(level_rate, trend_rate, y):
    """The squared error of forecasts with a smoothed level and a smoothed trend."""
    n = len(y)
    level, trend = np.zeros(n), np.zeros(n)
    level[0] = y[0]
    trend[0] = y[1] - y[0]
    for t in range(1, n):
        level[t] = level_rate * y[t] + (1.0 - level_rate) * (level[t - 1] + trend[t - 1])
        trend[t] = trend_rate * (level[t] - level[t - 1]) + (1.0 - trend_rate) * trend[t - 1]
    error = y[1:] - level[:-1] - trend[:-1]
    return np.mean(error**2)


def trend_smoothing_by_hand(level_rate, trend_rate, y):
    values = y.tolist()
    level_keep, trend_keep = 1.0 - level_rate, 1.0 - trend_rate
    level, trend = values[0], values[1] - values[0]
    saved = []
    total = 0.0
    for now in values[1:]:
        ahead = level + trend
        error = now - ahead
        total += error * error
        before, level = level, level_rate * now + level_keep * ahead
        step = level - before
        saved.append((error, step, trend))
        trend = trend_rate * step + trend_keep * trend

    scale = 2.0 / len(saved)
    y_bar = np.empty(len(y))
    level_rate_bar = trend_rate_bar = level_bar = trend_bar = 0.0
    for t in reversed(range(1, len(y))):
        error, step, trend = saved[t - 1]
        trend_rate_bar += trend_bar * (step - trend)
        step_bar = trend_rate * trend_bar
        level_bar += step_bar
        level_rate_bar += level_bar * error
        error_bar = scale * error
        y_bar[t] = level_rate * level_bar + error_bar
        ahead_bar = level_keep * level_bar - error_bar
        trend_bar = trend_keep * trend_bar + ahead_bar
        level_bar = ahead_bar - step_bar
    y_bar[0] = level_bar - trend_bar
    y_bar[1] += trend_bar
    return total / len(saved), (level_rate_bar, trend_rate_bar, y_bar)


def trend_smoothing_inputs(rng, n):
    return 0.4, 0.2, np.cumsum(rng.normal(size=n)) / np.sqrt(n)


def smoothed_channels(rates, x, target):
    """Exponential smoothing of many channels, each with its own rate, compared with a target."""
    out = np.empty_like(x)
    out[0] = x[0]
    for t in range(1, len(x)):
        out[t] = rates * x[t] + (1.0 - rates) * out[t - 1]
    return np.mean(np.abs(out - target) ** 1.5)


def smoothed_channels_by_hand(rates, x, target):
    out = rates * x
    out[0] = x[0]
    keep = 1.0 - rates
    for t in range(1, len(x)):
        out[t] += keep * out[t - 1]
    error = out - target
    roots = np.sqrt(np.abs(error))
    value = np.mean(np.abs(error) * roots)

    bars = np.copysign(roots, error)
    bars *= 1.5 / x.size
    for t in reversed(range(1, len(x))):
        bars[t - 1] += keep * bars[t]
    rates_bar = np.einsum("tc,tc->c", bars[1:], x[1:] - out[:-1])
    bars[1:] *= rates
    return value, (rates_bar, bars)


def smoothed_channels_inputs(rng, T, channels):
    return rng.uniform(0.1, 0.6, channels), rng.normal(size=(T, channels)), rng.normal(size=(T, channels))


def soft_seam(image, temperature):
    """The cost of the cheapest path from the top of an image to its bottom, with a soft minimum in each step."""
    rows, columns = image.shape
    padded = np.full(columns + 2, 1e6)
    costs = image[0]
    for r in range(1, rows):
        padded[1:-1] = costs
        left, right = padded[:-2], padded[2:]
        lowest = np.minimum(np.minimum(left, right), costs)
        total = np.exp((lowest - left) / temperature)
        total = total + np.exp((lowest - costs) / temperature)
        total = total + np.exp((lowest - right) / temperature)
        costs = image[r] + lowest - temperature * np.log(total)
    return np.min(costs)


def soft_seam_by_hand(image, temperature):
    rows, columns = image.shape
    padded = np.full(columns + 2, 1e6)
    costs = image[0]
    shares = np.empty((rows, 3, columns))
    slopes = np.empty((rows, columns))  # by the temperature
    for r in range(1, rows):
        padded[1:-1] = costs
        left, right = padded[:-2], padded[2:]
        lowest = np.minimum(np.minimum(left, right), costs)
        gaps = np.stack((lowest - left, lowest - costs, lowest - right))
        gaps /= temperature
        share = np.exp(gaps, out=shares[r])
        total = share[0] + share[1] + share[2]
        share /= total
        logs = np.log(total)
        gaps *= share
        np.subtract(gaps[0] + gaps[1] + gaps[2], logs, out=slopes[r])
        costs = image[r] + lowest - temperature * logs
    end = np.argmin(costs)

    bars = np.zeros((rows, columns + 2))
    bars[-1, end + 1] = 1.0
    for r in reversed(range(1, rows)):
        share = shares[r]
        share *= bars[r, 1:-1]
        bars[r - 1, :-2] = share[0]
        bars[r - 1, 1:-1] += share[1]
        bars[r - 1, 2:] += share[2]
    image_bar = bars[:, 1:-1]
    return costs[end], (image_bar, np.sum(slopes[1:] * image_bar[1:]))


def soft_seam_inputs(rng, rows, columns):
    return rng.uniform(size=(rows, columns)), 0.2


def gated_forecast(weights, x):
    """The error of forecasts of a series by one unit with a gate, number by number."""
    gate_in, gate_back, gate_shift, new_in, new_back, new_shift, slope = weights
    h = 0.0
    loss = 0.0
    for t in range(len(x) - 1):
        gate = 1.0 / (1.0 + math.exp(-(gate_in * x[t] + gate_back * h + gate_shift)))
        new = math.tanh(new_in * x[t] + new_back * gate * h + new_shift)
        h = (1.0 - gate) * h + gate * new
        loss += (slope * h - x[t + 1]) ** 2
    return loss / len(x)


def gated_forecast_by_hand(weights, x):
    gate_in, gate_back, gate_shift, new_in, new_back, new_shift, slope = weights.tolist()
    values = x.tolist()
    h = 0.0
    loss = 0.0
    saved = []
    for now, after in itertools.pairwise(values):
        gate = 1.0 / (1.0 + math.exp(-(gate_in * now + gate_back * h + gate_shift)))
        new = math.tanh(new_in * now + new_back * gate * h + new_shift)
        before, h = h, (1.0 - gate) * h + gate * new
        error = slope * h - after
        loss += error * error
        saved.append((now, before, gate, new, h, error))

    scale = 2.0 / len(values)
    gate_in_bar = gate_back_bar = gate_shift_bar = new_in_bar = new_back_bar = new_shift_bar = slope_bar = 0.0
    h_bar = 0.0
    for now, before, gate, new, h, error in reversed(saved):
        fit_bar = scale * error
        slope_bar += fit_bar * h
        h_bar += fit_bar * slope
        new_bar = h_bar * gate * (1.0 - new * new)
        new_in_bar += new_bar * now
        new_back_bar += new_bar * gate * before
        new_shift_bar += new_bar
        gate_bar = (h_bar * (new - before) + new_bar * new_back * before) * gate * (1.0 - gate)
        gate_in_bar += gate_bar * now
        gate_back_bar += gate_bar * before
        gate_shift_bar += gate_bar
        h_bar = h_bar * (1.0 - gate) + new_bar * new_back * gate + gate_bar * gate_back
    bars = (gate_in_bar, gate_back_bar, gate_shift_bar, new_in_bar, new_back_bar, new_shift_bar, slope_bar)
    return loss / len(values), (np.array(bars),)


def gated_forecast_inputs(rng, n):
    return rng.normal(size=7), rng.normal(size=n)


PROGRAMS = [
    Program(tagging_loss, tagging_loss_by_hand, tagging_loss_inputs, (5, 2, 3), (30, 16, 12), (0, 1)),
    Program(
        spectrogram_misfit, spectrogram_misfit_by_hand, spectrogram_misfit_inputs, (6, 8, 4), (120, 512, 128), (0, 1)
    ),
    Program(trend_smoothing, trend_smoothing_by_hand, trend_smoothing_inputs, (40,), (3000,), (0, 1, 2)),
    Program(smoothed_channels, smoothed_channels_by_hand, smoothed_channels_inputs, (12, 4), (400, 500), (0, 1)),
    Program(soft_seam, soft_seam_by_hand, soft_seam_inputs, (6, 6), (150, 300), (0, 1)),
    Program(gated_forecast, gated_forecast_by_hand, gated_forecast_inputs, (25,), (3000,), (0,)),
]
