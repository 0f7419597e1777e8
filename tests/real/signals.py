"""Signals and images."""

import cmath
import itertools
import math
from collections import deque

import numpy as np
from scipy import fft, ndimage, signal
from scipy.signal import butter, filtfilt, lfilter, savgol_filter


def moving_average(x, w, mode="valid"):
    return np.convolve(x, np.ones(w), mode) / w


def moving_average_deque(data, size):
    window = deque(maxlen=size)
    out = []
    for v in data:
        window.append(v)
        out.append(sum(window) / len(window))
    return out


def exponential_smoothing(data, alpha):
    s = [data[0]]
    for x in data[1:]:
        s.append(alpha * x + (1 - alpha) * s[-1])
    return np.array(s)


def butter_lowpass(data, cutoff=2.0, fs=20.0, order=3):
    nyq = 0.5 * fs
    b, a = butter(order, cutoff / nyq, btype="low", analog=False)
    return lfilter(b, a, data)


def zero_phase_energy(x):
    b, a = butter(2, 0.2)
    y = filtfilt(b, a, x)
    return np.sum(y**2), y[3]


class Biquad:
    """Second order section; the state is kept between samples."""

    def __init__(self, b0, b1, b2, a1, a2):
        self.b = (b0, b1, b2)
        self.a = (a1, a2)
        self.x1 = self.x2 = self.y1 = self.y2 = 0.0

    def process(self, x):
        y = self.b[0] * x + self.b[1] * self.x1 + self.b[2] * self.x2 - self.a[0] * self.y1 - self.a[1] * self.y2
        self.x2, self.x1 = self.x1, x
        self.y2, self.y1 = self.y1, y
        return y


def make_lowpass(frequency, samplerate, q=1 / math.sqrt(2)):
    w0 = 2 * math.pi * frequency / samplerate
    alpha = math.sin(w0) / (2 * q)
    c = math.cos(w0)
    a0 = 1 + alpha
    return Biquad((1 - c) / 2 / a0, (1 - c) / a0, (1 - c) / 2 / a0, -2 * c / a0, (1 - alpha) / a0)


def biquad_response(samples, frequency, q):
    f = make_lowpass(frequency, 48000.0, q)
    return [f.process(s) for s in samples]


def dft_loops(x):
    N = len(x)
    power = np.zeros(N)
    for k in range(N):
        re = im = 0.0
        for n in range(N):
            angle = 2 * math.pi * k * n / N
            re += x[n] * math.cos(angle)
            im -= x[n] * math.sin(angle)
        power[k] = re * re + im * im
    return power


def fft_recursive(x):
    n = len(x)
    if n == 1:
        return x
    even, odd = fft_recursive(x[0::2]), fft_recursive(x[1::2])
    k = np.arange(n // 2)
    w = np.exp(-2j * np.pi * k / n) * odd
    return np.concatenate([even + w, even - w])


def recursive_spectrum(x):
    X = fft_recursive(x)
    return np.abs(X) ** 2


def spectral_centroid(x, fs):
    X = np.abs(np.fft.rfft(x * np.hanning(len(x))))
    f = np.fft.rfftfreq(len(x), 1 / fs)
    return np.sum(f * X) / np.sum(X)


def goertzel(samples, k):
    n = len(samples)
    w = 2 * math.pi * k / n
    coeff = 2 * math.cos(w)
    s1 = s2 = 0.0
    for x in samples:
        s1, s2 = x + coeff * s1 - s2, s1
    return s1 * s1 + s2 * s2 - coeff * s1 * s2


def mel_energies(power, sr=8000, n_filters=3):
    mel = np.linspace(0, 2595 * np.log10(1 + sr / 2 / 700), n_filters + 2)
    hz = 700 * (10 ** (mel / 2595) - 1)
    bins = np.floor((2 * len(power) - 1) * hz / sr).astype(int)
    fbank = np.zeros((n_filters, len(power)))
    for m in range(1, n_filters + 1):
        left, centre, right = bins[m - 1], bins[m], bins[m + 1]
        for k in range(left, centre):
            fbank[m - 1, k] = (k - left) / (centre - left)
        for k in range(centre, min(right, len(power))):
            fbank[m - 1, k] = (right - k) / (right - centre)
    return fft.dct(np.log(fbank @ power + 1e-3), type=2, norm="ortho")


def envelope_hilbert(x):
    analytic = signal.hilbert(x)
    return np.abs(analytic)


def lms_filter(x, d, mu, order=2):
    w = np.zeros(order)
    errors = []
    for n in range(order, len(x)):
        u = x[n - order : n][::-1]
        e = d[n] - w @ u
        w = w + 2 * mu * e * u
        errors.append(e**2)
    return np.mean(errors), w


def levinson_lpc(x, order=2):
    r = np.correlate(x, x, mode="full")[len(x) - 1 :]
    a = np.zeros(order + 1)
    a[0] = 1.0
    err = r[0]
    for i in range(1, order + 1):
        k = -(r[i] + np.dot(a[1:i], r[i - 1 : 0 : -1])) / err
        a[1 : i + 1] = a[1 : i + 1] + k * a[i - 1 :: -1][:i]
        err *= 1 - k * k
    return a, err


def savgol_peak(x):
    y = savgol_filter(x, 5, 2)
    d = savgol_filter(x, 5, 2, deriv=1)
    i = int(np.argmax(y))
    return y[i], d[i]


def parabolic_peak(f):
    x = np.argmax(f)
    xv = 0.5 * (f[x - 1] - f[x + 1]) / (f[x - 1] - 2 * f[x] + f[x + 1]) + x
    return xv, f[x] - 0.25 * (f[x - 1] - f[x + 1]) * (xv - x)


def zero_crossing_time(x, dt):
    for i, (a, b) in enumerate(zip(x, x[1:])):
        if a < 0 <= b:
            return (i + a / (a - b)) * dt
    return float("nan")


def sync_phase(signal_, f):
    acc = 0j
    for n, s in enumerate(signal_):
        acc += s * cmath.exp(-2j * cmath.pi * f * n)
    return abs(acc), cmath.phase(acc)


def conv2d_loops(image, kernel):
    kh, kw = kernel.shape
    out = np.zeros((image.shape[0] - kh + 1, image.shape[1] - kw + 1))
    for i, j in itertools.product(range(out.shape[0]), range(out.shape[1])):
        out[i, j] = (image[i : i + kh, j : j + kw] * kernel).sum()
    return out


def gaussian_kernel(size, sigma):
    ax = np.arange(size) - size // 2
    xx, yy = np.meshgrid(ax, ax)
    k = np.exp(-(xx**2 + yy**2) / (2.0 * sigma**2))
    return k / k.sum()


def blur_and_sobel(image, sigma):
    img = conv2d_loops(np.pad(image, 1, mode="edge"), gaussian_kernel(3, sigma))
    gx = ndimage.sobel(img, axis=0)
    gy = ndimage.sobel(img, axis=1)
    return np.hypot(gx, gy)


def harris_response(image, k=0.05):
    Iy, Ix = np.gradient(image)
    Sxx, Syy, Sxy = (ndimage.gaussian_filter(p, 1.0) for p in (Ix * Ix, Iy * Iy, Ix * Iy))
    return Sxx * Syy - Sxy**2 - k * (Sxx + Syy) ** 2


def bilateral(image, sigma_s, sigma_r):
    H, W = image.shape
    out = np.zeros_like(image)
    for i in range(H):
        for j in range(W):
            total = weight = 0.0
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    if 0 <= i + di < H and 0 <= j + dj < W:
                        diff = image[i + di, j + dj] - image[i, j]
                        w = math.exp(-(di**2 + dj**2) / (2 * sigma_s**2) - diff**2 / (2 * sigma_r**2))
                        total += w * image[i + di, j + dj]
                        weight += w
            out[i, j] = total / weight
    return out


def bilinear_sample(img, x, y):
    x0, y0 = int(np.floor(x)), int(np.floor(y))
    x1, y1 = min(x0 + 1, img.shape[1] - 1), min(y0 + 1, img.shape[0] - 1)
    wa = (x1 - x) * (y1 - y)
    wb = (x1 - x) * (y - y0)
    wc = (x - x0) * (y1 - y)
    wd = (x - x0) * (y - y0)
    return wa * img[y0, x0] + wb * img[y1, x0] + wc * img[y0, x1] + wd * img[y1, x1]


def gamma_and_luma(rgb, gamma):
    lin = np.power(rgb, gamma)
    r, g, b = lin[..., 0], lin[..., 1], lin[..., 2]
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def rgb_to_hsv(r, g, b):
    mx, mn = max(r, g, b), min(r, g, b)
    df = mx - mn
    if mx == mn:
        h = 0
    elif mx == r:
        h = (60 * ((g - b) / df) + 360) % 360
    elif mx == g:
        h = (60 * ((b - r) / df) + 120) % 360
    elif mx == b:
        h = (60 * ((r - g) / df) + 240) % 360
    s = 0 if mx == 0 else df / mx
    return h, s, mx


def psnr_ssim(a, b):
    mse = np.mean((a - b) ** 2)
    psnr = 20 * math.log10(1.0 / math.sqrt(mse))
    mua, mub = a.mean(), b.mean()
    cov = ((a - mua) * (b - mub)).mean()
    c1, c2 = 0.01**2, 0.03**2
    ssim = (2 * mua * mub + c1) * (2 * cov + c2) / ((mua**2 + mub**2 + c1) * (a.var() + b.var() + c2))
    return psnr, ssim


def total_variation_denoise(noisy, lam, step=0.05, iterations=3, eps=1e-2):
    u = noisy.copy()
    for _ in range(iterations):
        dx = np.diff(u, axis=1, append=u[:, -1:])
        dy = np.diff(u, axis=0, append=u[-1:, :])
        mag = np.sqrt(dx**2 + dy**2 + eps)
        px, py = dx / mag, dy / mag
        div = px.copy()
        div[:, 1:] -= px[:, :-1]
        div += py
        div[1:, :] -= py[:-1, :]
        u -= step * ((u - noisy) - lam * div)
    return u


def perona_malik(img, kappa, dt=0.1, steps=2):
    for _ in range(steps):
        n = np.zeros_like(img)
        n[1:] = img[:-1] - img[1:]
        s = np.zeros_like(img)
        s[:-1] = img[1:] - img[:-1]
        e = np.zeros_like(img)
        e[:, :-1] = img[:, 1:] - img[:, :-1]
        w = np.zeros_like(img)
        w[:, 1:] = img[:, :-1] - img[:, 1:]
        flux = sum(np.exp(-((d / kappa) ** 2)) * d for d in (n, s, e, w))
        img = img + dt * flux
    return img


def lucas_kanade(I1, I2):
    Ix = np.gradient(I1, axis=1)
    Iy = np.gradient(I1, axis=0)
    It = I2 - I1
    A = np.stack([Ix.flatten(), Iy.flatten()], axis=1)
    flow, *_ = np.linalg.lstsq(A, -It.flatten(), rcond=None)
    return flow


def otsu_between_variance(hist, levels):
    p = hist / hist.sum()
    best = 0.0
    for t in range(1, len(p)):
        w0, w1 = p[:t].sum(), p[t:].sum()
        if w0 == 0 or w1 == 0:
            continue
        m0 = (p[:t] * levels[:t]).sum() / w0
        m1 = (p[t:] * levels[t:]).sum() / w1
        best = max(best, w0 * w1 * (m0 - m1) ** 2)
    return best


def image_moments(img):
    y, x = np.mgrid[: img.shape[0], : img.shape[1]]
    m00 = img.sum()
    cx, cy = (x * img).sum() / m00, (y * img).sum() / m00
    mu = {(p, q): ((x - cx) ** p * (y - cy) ** q * img).sum() for p in range(3) for q in range(3) if p + q == 2}
    theta = 0.5 * np.arctan2(2 * mu[1, 1], mu[2, 0] - mu[0, 2])
    return cx, cy, theta


def haar_wavelet(x, levels=2):
    details = []
    a = x
    for _ in range(levels):
        details.append((a[::2] - a[1::2]) / np.sqrt(2))
        a = (a[::2] + a[1::2]) / np.sqrt(2)
    return np.concatenate([a] + details[::-1])


_r = np.random.RandomState(21)
_s = _r.randn(8)
_img = _r.rand(4, 5)
CASES = [
    (moving_average, (_s, 3)),
    (moving_average_deque, (list(_s), 3)),
    (exponential_smoothing, (_s, 0.3)),
    (butter_lowpass, (_s,)),
    (zero_phase_energy, (_r.randn(14),)),
    (biquad_response, (list(_s), 3000.0, 0.8)),
    (dft_loops, (_s,)),
    (recursive_spectrum, (_s,)),
    (spectral_centroid, (_s, 100.0)),
    (goertzel, (_s, 2)),
    (mel_energies, (_r.rand(9),)),
    (envelope_hilbert, (_s,)),
    (lms_filter, (_s, _r.randn(8), 0.05)),
    (levinson_lpc, (_s,)),
    (savgol_peak, (_s,)),
    (parabolic_peak, (np.array([0.1, 0.5, 1.2, 1.0, 0.2]),)),
    (zero_crossing_time, (np.array([0.5, -0.4, -0.1, 0.3]), 0.01)),
    (sync_phase, (_s, 0.12)),
    (conv2d_loops, (_img, _r.randn(2, 2))),
    (blur_and_sobel, (_img, 0.8)),
    (harris_response, (_img,)),
    (bilateral, (_img, 1.0, 0.3)),
    (bilinear_sample, (_img, 1.3, 2.4)),
    (gamma_and_luma, (_r.rand(2, 2, 3), 2.2)),
    (rgb_to_hsv, (0.2, 0.7, 0.4)),
    (rgb_to_hsv, (0.9, 0.1, 0.4)),
    (psnr_ssim, (_img, _r.rand(4, 5))),
    (total_variation_denoise, (_img, 0.3)),
    (perona_malik, (_img, 0.5)),
    (lucas_kanade, (_img, _r.rand(4, 5))),
    (otsu_between_variance, (np.array([5.0, 3.0, 1.0, 4.0]), np.array([0.0, 1.0, 2.0, 3.0]))),
    (image_moments, (_img,)),
    (haar_wavelet, (_s,)),
]
