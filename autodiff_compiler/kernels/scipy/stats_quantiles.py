"""Distribution functions that SciPy integrates or inverts numerically, and derivatives of those by a shape."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(120)


def _like(out: Any, *args: Any) -> Any:
    """The result in the dtype of the arguments, as a ufunc would give it. SciPy gives float64."""
    return np.float32(out) if np.result_type(*args) == np.float32 else out


def skewnorm_cdf(z: Any, a: Any) -> Any:
    """The distribution function of the skew normal distribution."""
    return _like(stats.skewnorm.cdf(z, a), z, a)


def skewnorm_ppf(q: Any, a: Any) -> Any:
    """The quantile of the skew normal distribution."""
    return _like(stats.skewnorm.ppf(q, a), q, a)


def vonmises_cdf(z: Any, kappa: Any) -> Any:
    """The distribution function of the von Mises distribution."""
    return _like(stats.vonmises.cdf(z, kappa), z, kappa)


def vonmises_ppf(q: Any, kappa: Any) -> Any:
    """The quantile of the von Mises distribution."""
    return _like(stats.vonmises.ppf(q, kappa), q, kappa)


def vonmises_by_kappa(z: Any, kappa: Any) -> Any:
    """The derivative of the distribution function by `kappa`: the integral from 0 of the density's.

    The density is below 1e-40 of its largest value where the integral ends early.
    """
    given = z, kappa
    z, kappa = np.broadcast_arrays(np.asarray(z, dtype=np.float64), np.asarray(kappa, dtype=np.float64))
    z = z - 2 * np.pi * np.round(z / (2 * np.pi))
    end = np.minimum(np.abs(z), 14 / np.sqrt(np.maximum(kappa, 1e-3)))[..., None]
    t = end * (_NODES + 1) / 2
    ratio = (special.i1e(kappa) / special.i0e(kappa))[..., None]
    values = (np.cos(t) - ratio) * np.exp(kappa[..., None] * special.cosm1(t))
    total = np.sum(values * _WEIGHTS, axis=-1) * end[..., 0] / 2
    return _like((np.sign(z) * total / (2 * np.pi * special.i0e(kappa)))[()], *given)
