"""`scipy.signal`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import signal

import autodiff_compiler as ad
from autodiff_compiler.errors import AutodiffError
from autodiff_compiler.kernels.scipy import signal as kernels
from autodiff_compiler.operations.check import check_rule
from tests.differences import differences
from tests.operations.scipy.harness import check_case, load, without_case

load("signal")
RNG = np.random.default_rng(7)
X = RNG.normal(size=9)
V = RNG.normal(size=4)
M = RNG.normal(size=(5, 4))
K = RNG.normal(size=(2, 3))
B = np.array([0.4, 0.3, -0.2])
A = np.array([1.3, -0.4, 0.2, 0.1])
L = RNG.normal(size=40)
R = RNG.normal(size=(3, 25))
SOS = signal.butter(4, 0.3, output="sos")
BA = signal.butter(3, 0.25)
MODES = ["full", "same", "valid"]

RULES: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    *[(signal.convolve, (X, V), {"mode": mode}) for mode in MODES],
    *[(signal.convolve, (V, X), {"mode": mode, "method": "direct"}) for mode in MODES],
    *[(signal.fftconvolve, (M, K), {"mode": mode}) for mode in MODES],
    (signal.oaconvolve, (K, M), {"mode": "same"}),
    (signal.convolve, (X + 1j * X[::-1], V), {}),
    (kernels.convolve_back, (X, V, (6,), "full", True), {}),
    (signal.lfilter, (B, A, X), {}),
    (signal.lfilter, (A, B, M), {"axis": 0}),
    (kernels.filtered, (B, A / A[0], X, V[:3]), {}),
    (kernels.filtered, (B, A / A[0], M, RNG.normal(size=(5, 3))), {}),
    (kernels.lag_products, (M, M[::-1], 3, 0), {}),
]


@pytest.mark.parametrize("fn, args, kwargs", RULES, ids=lambda x: getattr(x, "__name__", ""))
def test_rules(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    constant = ("a",) if fn is kernels.filtered else ()  # its first element has to be one
    check_rule(fn, *args, kwargs=kwargs, constant=constant)


CASES: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    *[(signal.convolve, (X, V), {"mode": mode}) for mode in MODES],
    *[(signal.correlate, (X, V), {"mode": mode}) for mode in MODES],
    *[(signal.correlate, (V, X), {"mode": mode, "method": "direct"}) for mode in MODES],
    *[(signal.correlate, (M, K), {"mode": mode}) for mode in MODES],
    *[(signal.fftconvolve, (M, K), {"mode": mode}) for mode in MODES],
    (signal.oaconvolve, (X, V), {}),
    (signal.convolve2d, (M, K), {"mode": "same"}),
    (signal.correlate2d, (M, K), {}),
    (signal.correlate2d, (K[:, :2], M), {"mode": "valid"}),
    (signal.medfilt, (L,), {}),
    (signal.medfilt, (M, (3, 1)), {}),
    (signal.lfilter, (B, A, X), {}),
    (signal.lfilter, (B, A, M), {"axis": 0}),
    (signal.lfilter, (B, 1.5, X), {}),
    (signal.lfilter, (B, A, X), {"zi": V[:3]}),
    (signal.lfilter, (B, A, X, -1, V[:3]), {}),
    (signal.lfilter, (B, A, X[:2], -1, V[:3]), {}),
    (signal.lfilter, (B, A, M, 0, RNG.normal(size=(3, 4))), {}),
    (signal.lfilter_zi, BA, {}),
    (signal.lfilter_zi, (B, A), {}),
    (signal.filtfilt, (*BA, L), {}),
    (signal.filtfilt, (*BA, R), {"padtype": "even", "padlen": 5}),
    (signal.filtfilt, (*BA, R.T), {"axis": 0, "padtype": "constant"}),
    (signal.filtfilt, (*BA, L), {"padtype": None}),
    (signal.sosfilt_zi, (SOS,), {}),
    (signal.savgol_filter, (L, 7, 2), {}),
    (signal.savgol_filter, (R,), {"window_length": 5, "polyorder": 3, "deriv": 1, "delta": 0.5}),
    (signal.savgol_filter, (R, 4, 2), {"axis": 0, "mode": "nearest"}),
    (signal.detrend, (L,), {}),
    (signal.detrend, (R,), {"axis": 0}),
    (signal.detrend, (R,), {"type": "constant"}),
    (signal.resample, (L, 23), {}),
    (signal.resample, (L, 20), {}),
    (signal.resample, (R, 60), {"axis": 1}),
    (signal.resample, (L[:11], 33), {}),
    (signal.welch, (L,), {"nperseg": 16}),
    (signal.welch, (R, 2.5), {"nperseg": 9, "noverlap": 2, "scaling": "spectrum", "detrend": "linear"}),
    (signal.welch, (R.T,), {"axis": 0, "detrend": False, "nperseg": 8, "window": "hamming"}),
    (signal.welch, (L,), {}),
    (signal.periodogram, (L, 0.5), {}),
    (signal.periodogram, (R,), {"window": "hann", "scaling": "spectrum"}),
    (signal.windows.gaussian, (9, 1.3), {}),
    (signal.windows.gaussian, (8, 2.0), {"sym": False}),
]


@pytest.mark.parametrize("fn, args, kwargs", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_derivatives(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    check_case(fn, args, kwargs)


@pytest.mark.parametrize("fn, args, kwargs", CASES, ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dtype: Any) -> None:
    """The value and its dtype are those of SciPy."""
    given = [a.astype(dtype) if isinstance(a, np.ndarray) else a for a in args]
    if fn in (signal.windows.gaussian, signal.sosfilt_zi, signal.sosfilt):
        given = list(args)
    given = tuple(given)
    place = next(k for k, a in enumerate(given) if isinstance(a, (np.ndarray, float)))

    def f(x):
        out = fn(*given[:place], x, *given[place + 1 :], **kwargs)
        return np.sum(out[0] ** 2) + np.sum(out[-1])

    value = ad.value_and_grad(f)(given[place])[0]
    wanted = f(given[place])
    np.testing.assert_allclose(value, wanted, rtol=1e-10 if dtype == np.float64 else 1e-3)
    assert np.asarray(value).dtype == wanted.dtype


T9 = np.linspace(0.1, 2.9, 9)
CASES += [
    (signal.sawtooth, (5 * T9, 0.3), {}),
    (signal.sawtooth, (5 * T9,), {}),
    (signal.square, (5 * T9,), {}),
    *[(signal.chirp, (T9, 0.4, 2.0, 1.3), {"method": m}) for m in ("linear", "quadratic", "logarithmic")],
    (signal.chirp, (T9, 0.4, 2.0, 1.3), {"method": "quadratic", "vertex_zero": False, "phi": 20}),
    (signal.decimate, (L, 2), {}),
    (signal.decimate, (np.stack([L, L[::-1]], axis=1), 3), {"axis": 0, "n": 3, "zero_phase": False}),
    (signal.deconvolve, (X, V[:2] + 2), {}),
]


@pytest.mark.parametrize("place", [-len(CASES[-10:]) + k for k in range(10)])
def test_further_functions(place: int) -> None:
    check_case(*CASES[place])


def test_peaks() -> None:
    def f(x):
        peaks, found = signal.find_peaks(x, height=0.1, distance=2)
        lows, _ = signal.find_peaks(-x, prominence=0.2)
        (top,), (bottom,) = signal.argrelmax(x), signal.argrelmin(x, order=2)
        inner = np.sum(x[top] ** 2) + np.sum(np.sin(x[bottom]))
        return np.sum(found["peak_heights"] ** 2) + np.sum(x[peaks] * peaks) + np.sum(x[lows] ** 3) + inner

    check(f, L)

    def g(x):
        return np.sum(signal.find_peaks(x, width=1)[1]["widths"])

    with pytest.raises(AutodiffError, match="says of the widths"):
        ad.grad(g)(L)


def test_cross_spectra() -> None:
    def f(x, y):
        w, p = signal.csd(x, y, nperseg=8, detrend="linear")
        _, c = signal.coherence(x, y, nperseg=8)
        return np.sum(np.real(p) * w + np.imag(p) ** 2) + np.sum(c**2)

    def g(x):
        w, t, s = signal.spectrogram(x, fs=2.0, nperseg=8)
        return np.sum(s * w[:, None] * t)

    def h(b, a):
        w, r = signal.freqz(b, a, worN=16, fs=2.0)
        _, s = signal.freqz(b, worN=[0.1, 0.4], fs=2.0)
        return np.sum(np.abs(r) ** 2 * w) + np.sum(np.real(s))

    check(f, L, L[::-1] + 0.1 * L**2)
    check(g, L)
    check(h, B, A)


SYSTEM = (np.array([[0.1, 0.4], [-0.3, 0.2]]), np.array([[1.0, 0.2], [0.5, 0.3]]), np.array([[1.0, -1.0]]))


@pytest.mark.parametrize("method", ["zoh", "foh", "bilinear", "euler", "backward_diff", "impulse"])
def test_discretisation(method: str) -> None:
    def f(a, b, h):
        d = np.zeros((1, 2))
        return sum(np.sum(np.cos(part)) for part in signal.cont2discrete((a, b, SYSTEM[2], d), h, method))

    check(f, *SYSTEM[:2], 0.3)


def test_responses_of_discrete_systems() -> None:
    def of_matrices(a, b, u):
        system = (a, b, SYSTEM[2], np.ones((1, 2)), 0.5)
        t, y, x = signal.dlsim(system, u, x0=[1.0, 2.0])
        return np.sum(y**2) + np.sum(x * t[:, None]) + np.sum(signal.dstep(system, n=5)[1][1] ** 2)

    def of_polynomials(num, den):
        made = signal.cont2discrete((num, den), 0.2)
        return np.sum(signal.dimpulse((num, den, 1), n=6)[1][0] ** 2) + np.sum(made[0] ** 2) + np.sum(made[1] ** 3)

    check(of_matrices, *SYSTEM[:2], np.cos(np.arange(10.0)).reshape(5, 2))
    check(of_polynomials, np.array([1.0, 0.5]), np.array([1.3, 0.7, 0.9]))
    with pytest.raises(ValueError, match="Improper"):
        ad.grad(of_polynomials)(np.ones(4), np.array([1.3, 0.7, 0.9]))


def test_every_function_has_a_case() -> None:
    names = without_case("signal", CASES + RULES)
    elsewhere = ["sosfilt", "sosfiltfilt", "hilbert", "butter", "cheby1", "cheby2", "ellip", "filtered by a",
                 "find_peaks", "argrelmax", "argrelmin", "csd", "coherence", "spectrogram", "freqz",
                 "tf2ss", "ss2tf", "cont2discrete", "dlsim", "dimpulse", "dstep"]  # fmt: skip
    assert [name for name in names if name not in elsewhere] == []


def check(f: Any, *args: Any) -> None:
    value, found = ad.value_and_grad(f, argnums=tuple(range(len(args))))(*args)
    np.testing.assert_allclose(value, f(*args), rtol=1e-11)
    for k, g in enumerate(found):
        np.testing.assert_allclose(g, differences(f, *args, argnum=k), rtol=1e-5, atol=1e-5)


def test_sections() -> None:
    zi = signal.sosfilt_zi(SOS)

    def f(c, x, y, zi):
        sos = np.concatenate((c[:, :3], SOS[:, 3:4], c[:, 3:]), axis=1)
        out, final = signal.sosfilt(sos, x, zi=zi)
        total = np.sum(out**2) + np.sum(final[0] * final[1]) + np.sum(signal.sosfilt(sos, y, axis=0) ** 2)
        other = signal.sosfiltfilt(sos, y, axis=0, padtype="even", padlen=4)
        return total + np.sum(signal.sosfiltfilt(sos, x) ** 3) + np.sum(other**2)

    check(f, np.delete(SOS, 3, axis=1), L, R.T, zi)

    def g(x):
        return np.sum(signal.sosfilt(2 * SOS, x))

    with pytest.raises(ValueError, match="ones"):
        ad.grad(g)(L)


@pytest.mark.parametrize("n", [8, 9, None, 12])
def test_hilbert(n: Any) -> None:
    def f(x):
        return np.sum(np.abs(signal.hilbert(x, n)) ** 3) + np.sum(np.imag(signal.hilbert(M, axis=0)) * x[0])

    check(f, X)


def test_designs() -> None:
    def f(x):
        b, a = signal.butter(3, 0.2)
        c, d = signal.cheby1(2, 1.0, [0.2, 0.4], btype="band")
        e, g = signal.ellip(3, 1.0, 20.0, 0.2, fs=2.5)
        h, i = signal.cheby2(3, 20.0, 0.3, btype="high")
        j, k = signal.iirnotch(0.3, 5.0)
        y = signal.lfilter(b, a, x) + signal.lfilter(c, d, x) + signal.lfilter(e, g, x) + signal.lfilter(h, i, x)
        return np.sum(y**2 + signal.lfilter(j, k, x) ** 2)

    def g(x):
        sos = signal.butter(4, 0.3, output="sos")
        taps = signal.firwin(5, 0.4)
        return np.sum(signal.sosfiltfilt(sos, x) ** 2) + np.sum(np.convolve(x, taps) ** 2)

    check(f, L)
    check(g, L)
    assert "signal.butter(3, 0.2)" in ad.grad(f).source(L)


def test_windows() -> None:
    def f(x):
        y = x[:8] * signal.windows.hann(8) + x[1:9] * signal.get_window("hamming", 8)
        return np.sum(y**2) + np.sum(signal.convolve(x, signal.windows.kaiser(5, 3.0), mode="same") ** 2)

    check(f, L)


def test_complex_signals() -> None:
    z = X + 1j * X[::-1]

    def f(x, v):
        y = signal.correlate(x * z, v * (1 + 2j)) + signal.lfilter(B, A, x, zi=V[:3])[0][0]
        return np.sum(np.abs(y) ** 2)

    check(f, X, V)


def test_what_scipy_raises() -> None:
    def f(x):
        return np.sum(signal.filtfilt(*BA, x))

    with pytest.raises(ValueError, match="padlen"):
        ad.grad(f)(X)

    def g(x):
        return np.sum(signal.convolve(x, K))

    with pytest.raises(ValueError, match="dimensionality"):
        ad.grad(g)(X)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: signal.filtfilt(*BA, x, method="gust"), "gust"),
        (lambda x: signal.butter(2, x[0] ** 2 / 9)[0], "no derivative rule|no rule"),
        (lambda x: signal.butter(2, 0.3, output="zpk")[2] * x, "zpk"),
        (lambda x: signal.windows.kaiser(5, x[0] ** 2), "no derivative rule|no rule"),
        (lambda x: signal.detrend(x, bp=4), "bp="),
        (lambda x: signal.resample(x, 5, window="hann"), "window"),
        (lambda x: signal.wiener(x), "no rule"),
        (lambda x: signal.correlate2d(x.reshape(3, 3), K, mode="same"), "mode='same'"),
        (lambda x: signal.convolve2d(x.reshape(3, 3), K, boundary="wrap"), "boundary"),
    ],
)
def test_refusals(call: Any, message: str) -> None:
    def f(x):
        return np.sum(call(x))

    with pytest.raises(AutodiffError, match=message):
        ad.grad(f)(X)


def test_second_derivatives() -> None:
    def f(b, x):
        return np.sum(signal.lfilter(b, A, x) ** 3) + np.sum(signal.convolve(x, b, mode="same") ** 3)

    def g(b, x):
        p, q = ad.grad(f, argnums=(0, 1))(b, x)
        return np.sum(p * b) + np.sum(q * X[::-1])

    check(g, B, X)
