"""Densities from samples: kernel density estimates, and distributions that are fitted by a formula."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special, stats

from ....errors import UnsupportedError
from ...definitions import defines, place, refuse

LOG_2PI = math.log(2 * math.pi)


def _points(points: Any, dim: Any) -> Any:
    points = np.asarray(points)
    if np.ndim(points) < 2:
        points = points.reshape(1, -1)
    if points.shape[0] != dim:
        raise UnsupportedError(
            "points of a scipy.stats.gaussian_kde that are not one column each",
            place(),
            "pass an array of shape (d, m)",
        )
    return points


def _energy(dataset: Any, factor: Any, points: Any) -> Any:
    """Half the squared distance of each sample from each point, in widths of the kernel."""
    points = _points(points, dataset.shape[0])
    white, at = np.linalg.solve(factor, dataset), np.linalg.solve(factor, points)
    return 0.5 * np.sum(np.square(white[:, :, None] - at[:, None, :]), axis=0)


def _log_norm(factor: Any) -> Any:
    return 0.5 * LOG_2PI * factor.shape[0] + np.sum(np.log(np.diagonal(factor)))


class Kde:
    """A kernel density estimate."""

    def __init__(self, dataset: Any, bw_method: Any, weights: Any):
        dataset = np.asarray(dataset)
        self.dataset = dataset[None] if np.ndim(dataset) == 1 else dataset  # a view: SciPy shares the samples
        if np.ndim(self.dataset) > 2:
            refuse("scipy.stats.gaussian_kde of samples with more than two axes", "pass an array of shape (d, n)")
        self.d, self.n = self.dataset.shape[0], self.dataset.shape[1]
        if weights is None:
            self.weights, self.neff = np.full(self.n, 1.0 / self.n), self.n * 1.0
        else:
            weights = np.asarray(weights)
            self.weights = weights / np.sum(weights)
            self.neff = 1.0 / np.sum(np.square(self.weights))
        if bw_method is None or bw_method == "scott":
            self.factor = np.power(self.neff, -1.0 / (self.d + 4))
        elif isinstance(bw_method, str):
            if bw_method != "silverman":
                raise ValueError("`bw_method` should be 'scott', 'silverman', a scalar or a callable.")
            self.factor = np.power(self.neff * (self.d + 2.0) / 4.0, -1.0 / (self.d + 4))
        elif callable(bw_method):
            refuse("scipy.stats.gaussian_kde with a function for bw_method", "pass the number that it gives")
        else:
            self.factor = bw_method
        dev = self.dataset - (self.dataset @ self.weights)[:, None]
        cov = (dev * self.weights) @ dev.T / (1.0 - np.sum(np.square(self.weights)))
        self.covariance = cov * self.factor * self.factor
        self.cho = np.linalg.cholesky(self.covariance)

    def evaluate(self, points: Any) -> Any:
        return self.weights @ np.exp(-_energy(self.dataset, self.cho, points) - _log_norm(self.cho))

    def __call__(self, points: Any) -> Any:
        return self.evaluate(points)

    def pdf(self, x: Any) -> Any:
        return self.evaluate(x)

    def logpdf(self, x: Any) -> Any:
        energy = _energy(self.dataset, self.cho, x)
        return special.logsumexp(-energy, b=self.weights[:, None], axis=0) - _log_norm(self.cho)


@defines(stats.gaussian_kde)
def gaussian_kde(dataset: Any, bw_method: Any = None, weights: Any = None) -> Any:
    return Kde(dataset, bw_method, weights)


@defines(stats.gaussian_kde.evaluate, stats.gaussian_kde.pdf)
def kde_evaluate(self: Any, points: Any) -> Any:
    factor = np.linalg.cholesky(self.covariance)
    return self._weights @ np.exp(-_energy(self.dataset, factor, points) - _log_norm(factor))


@defines(stats.gaussian_kde.logpdf)
def kde_logpdf(self: Any, x: Any) -> Any:
    factor = np.linalg.cholesky(self.covariance)
    energy = _energy(self.dataset, factor, x)
    return special.logsumexp(-energy, b=self._weights[:, None], axis=0) - _log_norm(factor)


# --- fits -------------------------------------------------------------------------------------------------------------


@defines(type(stats.norm).fit)
def norm_fit(self: Any, data: Any, *, floc: Any = None, fscale: Any = None) -> Any:
    if floc is not None and fscale is not None:
        raise ValueError("All parameters fixed. There is nothing to optimize.")
    data = np.asarray(data)
    if not np.all(np.isfinite(data)):
        raise ValueError("The data contains non-finite values.")
    loc = np.mean(data) if floc is None else floc
    return loc, np.sqrt(np.mean(np.square(data - loc))) if fscale is None else fscale


@defines(type(stats.expon).fit)
def expon_fit(self: Any, data: Any, *, floc: Any = None, fscale: Any = None) -> Any:
    if floc is not None and fscale is not None:
        raise ValueError("All parameters fixed. There is nothing to optimize.")
    data = np.asarray(data)
    if not np.all(np.isfinite(data)):
        raise ValueError("The data contains non-finite values.")
    if floc is not None and np.min(data) < floc:
        raise ValueError("Invalid values in `data`.")
    loc = np.min(data) if floc is None else floc
    return float(loc), float(np.mean(data) - loc if fscale is None else fscale)
