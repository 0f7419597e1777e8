"""Signals, images and splines."""

from __future__ import annotations

import numpy as np

from benchmarks.kernels.kernel import Kernel


def fft_split(re, im):
    """Radix 2, in place on real and imaginary parts."""
    n = len(re)
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j ^= bit
        if i < j:
            re[i], re[j] = re[j], re[i]
            im[i], im[j] = im[j], im[i]
    length = 2
    while length <= n:
        angle = -2.0 * np.pi / length
        half = length // 2
        for start in range(0, n, length):
            for k in range(half):
                c, s = np.cos(angle * k), np.sin(angle * k)
                a, b = start + k, start + k + half
                tr = re[b] * c - im[b] * s
                ti = re[b] * s + im[b] * c
                re[b], im[b] = re[a] - tr, im[a] - ti
                re[a], im[a] = re[a] + tr, im[a] + ti
        length *= 2


def power_spectrum(signal, weights):
    re = signal.copy()
    im = np.zeros_like(signal)
    fft_split(re, im)
    return np.sum(weights * (re**2 + im**2))


def power_spectrum_inputs(rng, bits):
    return rng.normal(size=2**bits), rng.uniform(size=2**bits)


def fft_recursive(z):
    n = z.shape[0]
    if n == 1:
        return z
    even = fft_recursive(z[::2])
    odd = fft_recursive(z[1::2])
    twiddle = np.exp(-2j * np.pi * np.arange(n // 2) / n)
    return np.concatenate([even + twiddle * odd, even - twiddle * odd])


def spectral_filter(signal, gains):
    spectrum = fft_recursive(signal + 0j)
    filtered = spectrum * gains
    back = np.conj(fft_recursive(np.conj(filtered))) / len(signal)
    return np.sum(back.real**4)


def spectral_filter_inputs(rng, bits):
    return rng.normal(size=2**bits), rng.uniform(size=2**bits)


def dft(signal):
    """By the definition, with a complex accumulator."""
    n = len(signal)
    out = np.zeros(n, dtype=np.complex128)
    for k in range(n):
        total = 0j
        for t in range(n):
            total += signal[t] * np.exp(-2j * np.pi * k * t / n)
        out[k] = total
    return np.sum(np.abs(out) ** 2 / (1.0 + np.abs(out)))


def dft_inputs(rng, n):
    return (rng.normal(size=n),)


def convolve(x, h):
    y = np.zeros(len(x) + len(h) - 1)
    for i in range(len(x)):
        for j in range(len(h)):
            y[i + j] += x[i] * h[j]
    return y


def filter_bank(x, bank):
    """Convolution, rectification and pooling for several filters."""
    features = []
    for h in bank:
        y = convolve(x, h)
        y = np.where(y > 0, y, 0.1 * y)
        pooled = np.zeros(len(y) // 2)
        for i in range(len(pooled)):
            pooled[i] = max(y[2 * i], y[2 * i + 1])
        features.append(np.mean(pooled**2))
    return np.sum(np.log(np.array(features)))


def filter_bank_inputs(rng, n, filters, taps):
    return rng.normal(size=n), rng.normal(size=(filters, taps))


def blur(image, kernel, out):
    n, m = image.shape
    r = kernel.shape[0] // 2
    for i in range(n):
        for j in range(m):
            total = 0.0
            norm = 0.0
            for di in range(-r, r + 1):
                for dj in range(-r, r + 1):
                    if 0 <= i + di < n and 0 <= j + dj < m:
                        total += kernel[r + di, r + dj] * image[i + di, j + dj]
                        norm += kernel[r + di, r + dj]
            out[i, j] = total / norm
    return out


def image_blur(image, kernel):
    return np.sum(blur(image, kernel, np.empty_like(image)) ** 2)


def image_blur_inputs(rng, n, m):
    return rng.normal(size=(n, m)), rng.uniform(0.5, 1.5, size=(3, 3))


def deconvolution(observed, psf, steps):
    """Richardson and Lucy."""
    r = len(psf) // 2
    estimate = np.full_like(observed, observed.mean())
    mirrored = psf[::-1]
    for _ in range(steps):
        padded = np.pad(estimate, r, mode="edge")
        blurred = np.zeros_like(observed)
        for k in range(len(psf)):
            blurred += psf[k] * padded[k : k + observed.size]
        ratio = np.pad(observed / blurred, r, mode="edge")
        correction = np.zeros_like(observed)
        for k in range(len(psf)):
            correction += mirrored[k] * ratio[k : k + observed.size]
        estimate *= correction
    return np.sum((estimate - observed) ** 2)


def deconvolution_inputs(rng, n, steps):
    return rng.uniform(0.5, 1.5, size=n), np.array([0.1, 0.2, 0.4, 0.2, 0.1]), steps


def optical_flow(first, second, alpha, steps):
    """Horn and Schunck."""
    fx = np.zeros_like(first)
    fy = np.zeros_like(first)
    fx[:, 1:-1] = 0.5 * (first[:, 2:] - first[:, :-2])
    fy[1:-1, :] = 0.5 * (first[2:, :] - first[:-2, :])
    ft = second - first
    u = np.zeros_like(first)
    v = np.zeros_like(first)

    def average(w):
        p = np.pad(w, 1, mode="edge")
        return (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]) / 4.0

    for _ in range(steps):
        ua, va = average(u), average(v)
        change = (fx * ua + fy * va + ft) / (alpha**2 + fx**2 + fy**2)
        u = ua - fx * change
        v = va - fy * change
    return np.sum(np.hypot(u + 1e-3, v + 1e-3))


def optical_flow_inputs(rng, n, m, steps):
    first = rng.normal(size=(n, m))
    return first, first + 0.1 * rng.normal(size=(n, m)), 0.8, steps


def total_variation(noisy, weight, rate, steps):
    """Descent on a smoothed total variation."""
    u = noisy.copy()
    for _ in range(steps):
        dx = np.diff(u, axis=1, append=u[:, -1:])
        dy = np.diff(u, axis=0, append=u[-1:, :])
        norm = np.sqrt(dx * dx + dy * dy + 1e-2)
        px, py = dx / norm, dy / norm
        div = np.zeros_like(u)
        div += px
        div[:, 1:] -= px[:, :-1]
        div += py
        div[1:, :] -= py[:-1, :]
        u -= rate * (u - noisy - weight * div)
    return 0.5 * np.sum((u - noisy) ** 2)


def total_variation_inputs(rng, n, m, steps):
    return rng.normal(size=(n, m)), 0.3, 0.2, steps


def sample(image, y, x):
    """Bilinear, with clamped borders."""
    h, w = image.shape
    y = min(max(y, 0.0), h - 1.001)
    x = min(max(x, 0.0), w - 1.001)
    i, j = int(y), int(x)
    a, b = y - i, x - j
    return (
        (1 - a) * (1 - b) * image[i, j]
        + (1 - a) * b * image[i, j + 1]
        + a * (1 - b) * image[i + 1, j]
        + a * b * image[i + 1, j + 1]
    )


def image_warp(image, target, matrix, shift):
    """How well an affine warp of one image fits another."""
    out = np.zeros_like(target)
    h, w = target.shape
    for i in range(h):
        for j in range(w):
            y = matrix[0, 0] * i + matrix[0, 1] * j + shift[0]
            x = matrix[1, 0] * i + matrix[1, 1] * j + shift[1]
            out[i, j] = sample(image, y, x)
    return np.mean((out - target) ** 2)


def image_warp_inputs(rng, h, w):
    return (
        rng.normal(size=(h, w)),
        rng.normal(size=(h, w)),
        np.eye(2) + 0.05 * rng.normal(size=(2, 2)),
        0.3 * rng.normal(size=2),
    )


def warp_gathered(image, flow):
    """Bilinear sampling at once, by integer arrays."""
    h, w = image.shape
    rows, cols = np.meshgrid(np.arange(h), np.arange(w), indexing="ij")
    y = np.clip(rows + flow[0], 0, h - 1.001)
    x = np.clip(cols + flow[1], 0, w - 1.001)
    i = np.floor(y).astype(int)
    j = x.astype(int)
    a, b = y - i, x - j
    warped = (1 - a) * ((1 - b) * image[i, j] + b * image[i, j + 1]) + a * (
        (1 - b) * image[i + 1, j] + b * image[i + 1, j + 1]
    )
    return np.sum(warped**2) + 0.1 * np.sum(np.diff(flow, axis=1) ** 2)


def warp_gathered_inputs(rng, h, w):
    return rng.normal(size=(h, w)), 0.6 * rng.normal(size=(2, h, w))


def cubic_spline(knots, values, points):
    """A natural spline: second derivatives by elimination, evaluation by bisection."""
    n = len(knots)
    h = np.diff(knots)
    m = np.zeros(n)
    c = np.zeros(n)
    for i in range(1, n - 1):
        rhs = 6.0 * ((values[i + 1] - values[i]) / h[i] - (values[i] - values[i - 1]) / h[i - 1])
        pivot = 2.0 * (h[i - 1] + h[i]) - h[i - 1] * c[i - 1]
        c[i] = h[i] / pivot
        m[i] = (rhs - h[i - 1] * m[i - 1]) / pivot
    for i in range(n - 2, 0, -1):
        m[i] -= c[i] * m[i + 1]
    total = 0.0
    for x in points:
        lo, hi = 0, n - 1
        while hi - lo > 1:
            mid = (lo + hi) // 2
            if knots[mid] > x:
                hi = mid
            else:
                lo = mid
        a, b, d = knots[hi] - x, x - knots[lo], h[lo]
        s = (m[lo] * a**3 + m[hi] * b**3) / (6 * d)
        s += (values[lo] / d - m[lo] * d / 6) * a + (values[hi] / d - m[hi] * d / 6) * b
        total += s * s
    return total


def cubic_spline_inputs(rng, n, points):
    knots = np.arange(n) + 0.3 * rng.uniform(size=n)
    return knots, rng.normal(size=n), rng.uniform(0.4, n - 1.1, size=points)


def basis(i, k, t, knots):
    """Cox and de Boor's recursion."""
    if k == 0:
        return 1.0 if knots[i] <= t < knots[i + 1] else 0.0
    left = (t - knots[i]) / (knots[i + k] - knots[i]) * basis(i, k - 1, t, knots)
    right = (knots[i + k + 1] - t) / (knots[i + k + 1] - knots[i + 1]) * basis(i + 1, k - 1, t, knots)
    return left + right


def b_spline(control, knots, points, degree):
    total = 0.0
    for t in points:
        p = np.zeros(control.shape[1])
        for i in range(len(control)):
            p += basis(i, degree, t, knots) * control[i]
        total += p @ p
    return total


def b_spline_inputs(rng, n, points):
    knots = np.arange(n + 4) + 0.2 * rng.uniform(size=n + 4)
    return rng.normal(size=(n, 2)), knots, rng.uniform(3.3, n - 0.1, size=points), 3


def recursive_filter(x, b, a):
    """An infinite impulse response filter with its state in a list."""
    state = [0.0 for _ in range(2)]
    y = np.empty_like(x)
    for n, v in enumerate(x):
        w = v - a[0] * state[0] - a[1] * state[1]
        y[n] = b[0] * w + b[1] * state[0] + b[2] * state[1]
        state.insert(0, w)
        state.pop()
    return np.sum(y**2)


def recursive_filter_inputs(rng, n):
    return rng.normal(size=n), rng.normal(size=3), np.array([-0.5, 0.2])


def haar_wavelet(signal, threshold):
    """Transform, soft thresholding and inverse, in place on halves of a buffer."""
    n = signal.size
    data = signal.copy()
    length = n
    while length > 1:
        half = length // 2
        even, odd = data[:length:2].copy(), data[1:length:2].copy()
        data[:half] = (even + odd) / np.sqrt(2.0)
        data[half:length] = (even - odd) / np.sqrt(2.0)
        length = half
    data[1:] = np.sign(data[1:]) * np.maximum(np.abs(data[1:]) - threshold, 0.0)
    while length < n:
        low, high = data[:length].copy(), data[length : 2 * length].copy()
        data[: 2 * length : 2] = (low + high) / np.sqrt(2.0)
        data[1 : 2 * length : 2] = (low - high) / np.sqrt(2.0)
        length *= 2
    return np.sum((data - signal) ** 2) + np.sum(np.abs(data))


def haar_wavelet_inputs(rng, bits):
    return rng.normal(size=2**bits), 0.3


def bilateral_filter(image, spread, depth, radius):
    h, w = image.shape
    result = np.zeros_like(image)
    for i in range(h):
        for j in range(w):
            top, bottom = max(0, i - radius), min(h, i + radius + 1)
            left, right = max(0, j - radius), min(w, j + radius + 1)
            window = image[top:bottom, left:right]
            rows, cols = np.ogrid[top:bottom, left:right]
            weights = np.exp(-((rows - i) ** 2 + (cols - j) ** 2) / spread - (window - image[i, j]) ** 2 / depth)
            result[i, j] = np.sum(weights * window) / weights.sum()
    return np.sum((result - image) ** 2)


def bilateral_filter_inputs(rng, h, w):
    return rng.normal(size=(h, w)), 2.0, 0.5, 1


KERNELS = [
    Kernel(power_spectrum, power_spectrum_inputs, (2,), (3,), (9,)),
    Kernel(spectral_filter, spectral_filter_inputs, (2,), (3,), (7,)),
    Kernel(dft, dft_inputs, (5,), (6,), (50,)),
    Kernel(filter_bank, filter_bank_inputs, (6, 2, 3), (7, 3, 2), (150, 4, 10)),
    Kernel(image_blur, image_blur_inputs, (4, 5), (5, 4), (24, 24)),
    Kernel(deconvolution, deconvolution_inputs, (8, 3), (7, 4), (1000, 40)),
    Kernel(optical_flow, optical_flow_inputs, (4, 5, 3), (5, 4, 4), (80, 80, 30)),
    Kernel(
        total_variation,
        total_variation_inputs,
        (4, 5, 3),
        (5, 4, 4),
        (100, 100, 30),
    ),
    Kernel(image_warp, image_warp_inputs, (4, 5), (5, 4), (32, 32)),
    Kernel(warp_gathered, warp_gathered_inputs, (4, 5), (5, 4), (200, 200)),
    Kernel(cubic_spline, cubic_spline_inputs, (6, 4), (5, 6), (60, 100)),
    Kernel(b_spline, b_spline_inputs, (6, 3), (5, 4), (12, 12)),
    Kernel(recursive_filter, recursive_filter_inputs, (6,), (5,), (2000,)),
    Kernel(haar_wavelet, haar_wavelet_inputs, (3,), (4,), (14,)),
    Kernel(bilateral_filter, bilateral_filter_inputs, (4, 5), (5, 4), (24, 24)),
]
