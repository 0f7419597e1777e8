"""Distributions of vectors: the multivariate normal distribution, and the Dirichlet and multinomial distributions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special, stats

from ....errors import UnsupportedError
from ....runtime import constant
from ...definitions import defines, known, place, refuse

LOG_2PI = math.log(2 * math.pi)
# SciPy takes a covariance for singular whose eigenvalues differ more than that.
RANGE = 1e6 * float(np.finfo(float).eps)


def _floats(x: Any) -> Any:
    return np.asarray(x, dtype=np.float64)


def _number(out: Any) -> Any:
    """What SciPy makes of a result: axes of length 1 are left out."""
    return np.squeeze(out)[()]


# --- the multivariate normal distribution -----------------------------------------------------------------------------


def _normal(mean: Any, cov: Any, allow_singular: Any) -> Any:
    """The mean as a vector and the Cholesky factor of the covariance."""
    if isinstance(cov, stats.Covariance):
        refuse("scipy.stats.multivariate_normal with a Covariance object", "pass the covariance matrix")
    cov = _floats(1.0 if cov is None else cov)
    if mean is None:
        mean = np.zeros(1 if np.ndim(cov) < 2 else cov.shape[0])
    mean = _floats(mean)
    if np.ndim(mean) == 0:
        mean = mean.reshape(1)
    if np.ndim(mean) != 1:
        raise ValueError("Array 'mean' must be a vector.")
    dim = mean.shape[0]
    if np.ndim(cov) == 0:
        cov = cov * np.eye(dim)
    elif np.ndim(cov) == 1:
        cov = np.diag(cov)
    if np.ndim(cov) > 2:
        raise ValueError("Array 'cov' must be at most two-dimensional")
    if cov.shape[0] != dim or cov.shape[1] != dim:
        raise ValueError("Array 'cov' must be square, with as many rows as 'mean' has elements.")
    return mean, _factor(cov, allow_singular)


def _factor(cov: Any, allow_singular: Any) -> Any:
    """The Cholesky factor. A density on a part of the space changes by jumps with the covariance."""
    spectrum = np.linalg.eigvalsh(constant(cov))
    least = RANGE * np.max(np.abs(spectrum))
    if np.min(spectrum) < -least:
        raise ValueError("The input matrix must be symmetric positive semidefinite.")
    if np.min(spectrum) <= least:
        if allow_singular:
            raise UnsupportedError(
                "a multivariate normal distribution of a singular covariance has no derivative by it",
                place(),
                "add a small multiple of the identity to the covariance",
            )
        raise np.linalg.LinAlgError(
            "When `allow_singular is False`, the input matrix must be symmetric positive definite."
        )
    return np.linalg.cholesky(cov)


def _normal_logpdf(x: Any, mean: Any, factor: Any) -> Any:
    x = _floats(x)
    if np.ndim(x) == 1:
        if known(mean.shape[0]) and mean.shape[0] == 1:
            x = x[:, None]
        elif mean.shape[0] == 1:
            raise UnsupportedError(
                "points of a multivariate normal distribution of one dimension that is not known to be one",
                place(),
                "pass them as a column, x[:, None]",
            )
    dev = x - mean
    constant_part = mean.shape[0] * LOG_2PI + 2.0 * np.sum(np.log(np.diagonal(factor)))
    if np.ndim(dev) == 1:
        return -0.5 * (constant_part + np.sum(np.square(np.linalg.solve(factor, dev))))
    if np.ndim(dev) == 2:
        return _number(-0.5 * (constant_part + np.sum(np.square(np.linalg.solve(factor, dev.T)), axis=0)))
    white = np.linalg.solve(factor, dev.reshape(-1, dev.shape[-1]).T)
    out = -0.5 * (constant_part + np.sum(np.square(white), axis=0))
    return _number(out.reshape(dev.shape[:-1]))


@defines(type(stats.multivariate_normal).logpdf)
def normal_logpdf(self: Any, x: Any, mean: Any = None, cov: Any = 1, allow_singular: Any = False) -> Any:
    mean, factor = _normal(mean, cov, allow_singular)
    return _normal_logpdf(x, mean, factor)


@defines(type(stats.multivariate_normal).pdf)
def normal_pdf(self: Any, x: Any, mean: Any = None, cov: Any = 1, allow_singular: Any = False) -> Any:
    mean, factor = _normal(mean, cov, allow_singular)
    return np.exp(_normal_logpdf(x, mean, factor))


@defines(type(stats.multivariate_normal).entropy)
def normal_entropy(self: Any, mean: Any = None, cov: Any = 1) -> Any:
    mean, factor = _normal(mean, cov, False)
    return 0.5 * mean.shape[0] * (LOG_2PI + 1) + np.sum(np.log(np.diagonal(factor)))


class FrozenNormal:
    """A multivariate normal distribution with its parameters."""

    def __init__(self, mean: Any, factor: Any):
        self.mean = mean
        self.factor = factor

    def logpdf(self, x: Any) -> Any:
        return _normal_logpdf(x, self.mean, self.factor)

    def pdf(self, x: Any) -> Any:
        return np.exp(_normal_logpdf(x, self.mean, self.factor))

    def entropy(self) -> Any:
        return 0.5 * self.mean.shape[0] * (LOG_2PI + 1) + np.sum(np.log(np.diagonal(self.factor)))


@defines(type(stats.multivariate_normal).__call__)
def freeze_normal(
    self: Any, mean: Any = None, cov: Any = 1, allow_singular: Any = False, seed: Any = None, **kwds: Any
) -> Any:
    return FrozenNormal(*_normal(mean, cov, allow_singular))


_OF_FROZEN = type(stats.multivariate_normal([0.0], [[1.0]]))


@defines(_OF_FROZEN.logpdf)
def frozen_normal_logpdf(self: Any, x: Any) -> Any:
    return _normal_logpdf(x, self.mean, _factor(constant(self.cov_object._covariance), self.allow_singular))


@defines(_OF_FROZEN.pdf)
def frozen_normal_pdf(self: Any, x: Any) -> Any:
    return np.exp(frozen_normal_logpdf(self, x))


# --- the Dirichlet and the multinomial distribution -------------------------------------------------------------------


def _alpha(alpha: Any) -> Any:
    alpha = np.asarray(alpha)
    if np.min(alpha) <= 0:
        raise ValueError("All parameters must be greater than 0")
    if np.ndim(alpha) != 1:
        raise ValueError("Parameter vector 'a' must be one dimensional")
    return alpha


def _simplex(x: Any, alpha: Any) -> Any:
    """The points, with what the last element has to be if it is left out."""
    x = np.asarray(x)
    if np.ndim(x) > 2:
        raise ValueError("The input must be one dimensional or a two dimensional matrix containing the entries.")
    if x.shape[0] + 1 == alpha.shape[0]:
        x = np.concatenate((x, (1 - np.sum(x, axis=0))[None]))
    if x.shape[0] != alpha.shape[0]:
        raise ValueError("Vector 'x' must have either the same number of entries as, or one entry fewer than, 'a'")
    if np.min(x) < 0:
        raise ValueError("Each entry in 'x' must be greater than or equal to zero.")
    if np.max(x) > 1:
        raise ValueError("Each entry in 'x' must be smaller or equal one.")
    if np.any(np.logical_and(x == 0, (alpha < 1) if np.ndim(x) == 1 else (alpha < 1)[:, None])):
        raise ValueError("Each entry in 'x' must be greater than zero if its alpha is less than one.")
    if np.any(np.abs(np.sum(x, axis=0) - 1.0) > 1e-9):
        raise ValueError("The input vector 'x' must lie within the normal simplex.")
    return x


def _log_beta(alpha: Any) -> Any:
    return np.sum(special.gammaln(alpha)) - special.gammaln(np.sum(alpha))


@defines(type(stats.dirichlet).logpdf)
def dirichlet_logpdf(self: Any, x: Any, alpha: Any) -> Any:
    alpha = _alpha(alpha)
    x = _simplex(x, alpha)
    weights = alpha - 1 if np.ndim(x) == 1 else (alpha - 1)[:, None]
    return _number(-_log_beta(alpha) + np.sum(special.xlogy(weights, x), axis=0))


@defines(type(stats.dirichlet).pdf)
def dirichlet_pdf(self: Any, x: Any, alpha: Any) -> Any:
    return np.exp(dirichlet_logpdf(self, x, alpha))


@defines(type(stats.dirichlet).mean)
def dirichlet_mean(self: Any, alpha: Any) -> Any:
    alpha = _alpha(alpha)
    return _number(alpha / np.sum(alpha))


@defines(type(stats.dirichlet).var)
def dirichlet_var(self: Any, alpha: Any) -> Any:
    alpha = _alpha(alpha)
    total = np.sum(alpha)
    return _number(alpha * (total - alpha) / (total * total * (total + 1)))


@defines(type(stats.dirichlet).entropy)
def dirichlet_entropy(self: Any, alpha: Any) -> Any:
    alpha = _alpha(alpha)
    total = np.sum(alpha)
    rest = np.sum((alpha - 1) * special.psi(alpha))
    return _log_beta(alpha) + (total - alpha.shape[0]) * special.psi(total) - rest


class FrozenDirichlet:
    """A Dirichlet distribution with its parameters."""

    def __init__(self, dist: Any, alpha: Any):
        self.dist = dist
        self.alpha = alpha

    def logpdf(self, x: Any) -> Any:
        return self.dist.logpdf(x, self.alpha)

    def pdf(self, x: Any) -> Any:
        return self.dist.pdf(x, self.alpha)

    def mean(self) -> Any:
        return self.dist.mean(self.alpha)

    def var(self) -> Any:
        return self.dist.var(self.alpha)

    def entropy(self) -> Any:
        return self.dist.entropy(self.alpha)


@defines(type(stats.dirichlet).__call__)
def freeze_dirichlet(self: Any, alpha: Any, seed: Any = None) -> Any:
    return FrozenDirichlet(self, _alpha(alpha))
