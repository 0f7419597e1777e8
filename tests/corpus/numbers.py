"""Numbers."""

from __future__ import annotations

import numpy as np


def case_int_ops(x):
    s = 0.0
    for i in range(-5, 6, 3):
        k = i // 2
        m = i % 4
        d, r = divmod(i, 3)
        s += x[k % 3] * m + x[r] * d
    return s


def case_bool_arithmetic(x):
    return (x[0] > 0.5) * x[1] + True * x[2] + (not x[0] > 9) * x[0]


def case_or_default(x):
    y = x[0] or 1.0
    z = x[1] > 0 and x[1] * x[1]
    w = None or x[2]
    return y * z * w


def case_complex(x):
    z = x[0] + 1j * x[1]
    w = np.exp(z) * np.conj(z) / (z + 2)
    return (w * w).real + abs(w) + np.angle(w)


def case_complex_arrays(x):
    z = np.zeros(3, dtype=complex)
    z[:] = x * 1j + x**2
    z[0] = x[1] + 1j * z[0].imag
    return np.sum(np.abs(z) ** 2)


def case_einsum(x):
    a = np.outer(x, x)
    return np.einsum("ij,jk,k->", a, a, x) + np.einsum("i,i", x, x) + np.sum(np.einsum("ij->ji", a) * a)


def case_cumsum_cumprod_diff(x):
    return np.sum(np.cumsum(x) ** 2) + np.sum(np.cumprod(x) ** 2) + np.sum(np.diff(x) ** 2)


def case_pow_edge(x):
    return np.sum(x**2) + np.sum(2**x) + x[0] ** x[1] + np.power(x, 3).sum() + (x ** (-1)).sum() + pow(x[0], 2)


def case_tile_repeat_roll(x):
    return (
        np.sum(np.tile(x, (2, 2)) * np.arange(12.0).reshape(2, 6))
        + np.sum(np.repeat(x, 2) * np.arange(6.0))
        + np.sum(np.roll(x, 1) * x)
    )


def case_solve_inv_det(x):
    a = np.outer(x, x) + np.eye(3) * 2
    return (
        np.linalg.det(a) * 0.1
        + np.sum(np.linalg.inv(a))
        + np.sum(np.linalg.solve(a, x))
        + np.linalg.slogdet(a)[1]
        + np.sum(np.linalg.cholesky(a))
    )


def case_0d(x):
    a = np.array(x[0])
    a += x[1]
    b = a
    a *= 2
    return b * x[2] + a[()]


def case_float32_mix(x):
    a = x.astype(np.float32).astype(np.float64) if False else x
    w = np.float64(2.0)
    return (a * w).sum()


def case_any_all_on_arrays(x):
    if np.any(x > 2) and (not np.all(x > 2)):
        return np.sum(x**2)
    return np.sum(x)


def case_nan_compare(x):
    y = np.where(np.isnan(x), 0.0, x)
    return np.sum(y) + (float("nan") if x[0] > 100 else 1.0)


def case_float_int_conversions(x):
    return float(x[0]) * int(3.7) + x[1].item() + complex(x[2]).real


def case_mean_var_std_axis_keepdims(x):
    a = np.outer(x, x)
    z = (a - a.mean(axis=1, keepdims=True)) / (a.std(axis=1, keepdims=True) + 0.001)
    return np.sum(z**3) + np.var(a, ddof=1)


def case_nonzero_index(x):
    (idx,) = np.nonzero(x > 1)
    return np.sum(x[idx] ** 2) + np.sum(x[np.where(x > 1)])


def case_meshgrid_linspace_arange(x):
    g, h = np.meshgrid(x, np.linspace(0, 1, 4))
    return np.sum(g * h) + np.sum(np.linspace(x[0], x[1], 5) ** 2)


def case_insert_pop_index(x):
    a = [x[0]]
    a.insert(0, x[1])
    a.insert(-1, x[2])
    a.extend(a)
    v = a.pop(1)
    a.reverse()
    a[1:3] = [v, v * v, 1.0]
    return sum((t * (k + 1) for k, t in enumerate(a))) + ["p", "q"].index("q") * a.pop()


def case_float32_inside(x):
    y = np.array(x, dtype=np.float64)
    k = np.int32(3)
    b = np.arange(3) % 2 == 0
    return np.sum(y * k * b) + np.sum((y * np.float64(2))[b])


def case_eigen_decompositions(x):
    A = np.outer(x, x) + np.diag(x)
    w, v = np.linalg.eigh(A)
    u, s, vt = np.linalg.svd(A)
    q, r = np.linalg.qr(A)
    return (
        np.sum(w**2)
        + v[0, 0] ** 2
        + np.sum(s)
        + u[0, 0] ** 2
        + np.sum((q * r) ** 2)
        + np.linalg.lstsq(A, x * x, rcond=None)[0][0]
    )


def case_splits(x):
    a, b, c = np.split(x * x, 3)
    p, q = np.array_split(x, 2)
    h = np.hsplit(x, 3)
    return np.sum(a * b * c) + np.sum(p) * np.sum(q) + np.sum(h[0])


def case_statistics(x):
    return (
        np.sum(np.gradient(x) ** 2)
        + np.median(x * x)
        + np.percentile(x, 30)
        + np.quantile(x, 0.5)
        + np.average(x, weights=x)
        + np.interp(0.5, np.array([0.0, 1.0, 2.0]), x)
    )


def case_products(x):
    A = np.outer(x, x)
    return (
        np.sum(np.kron(x, x) * np.arange(9.0))
        + np.sum(np.linalg.matrix_power(A, 3)) * 0.01
        + np.trapezoid(x * x, dx=0.1)
        + np.sum(np.select([x > 2, x > 1], [x * x, x], 0.0))
        + np.convolve(x, x)[2]
        + np.sum(np.cross(x, x * x) * x[::-1])
    )


def case_fft(x):
    return np.sum(np.abs(np.fft.fft(x)) ** 2) + np.sum(np.fft.irfft(np.fft.rfft(x * x), 3) * x)


def case_pads_and_grids(x):
    p = np.pad(x, 2)
    q = np.pad(x, 1, mode="edge")
    r = np.concatenate([p, q])
    g, h = np.meshgrid(x, np.linspace(0, 1, 4))
    return np.sum(r**2 * np.arange(len(r))) + np.sum(g * h) + np.sum(np.linspace(x[0], x[1], 5) ** 2)
