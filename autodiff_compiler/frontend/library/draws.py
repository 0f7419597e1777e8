"""Draws whose parameters move what is drawn: a draw of the standard distribution, which is moved and scaled.

The generator gives the same numbers for the standard distribution as for the other one, so the value is that of the
call. Its derivative is the one at fixed numbers, the pathwise derivative: Glasserman, Monte Carlo Methods in Financial
Engineering, section 7.2. Shape parameters, and draws of integers, are not defined here and have no derivative.

Each definition is known by the class of a generator and the name of a method. Its first parameter is the generator.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.foreign import GENERATOR, RANDOM_STATE
from ...operations.draws import PYTHONS
from ..definitions import F, defines, refuse

DRAWN: dict[Any, types.FunctionType] = {}


def _draws(name: str, *classes: tuple[str, str]) -> Callable[[F], F]:
    return defines(*[(cls, name) for cls in classes or (GENERATOR, RANDOM_STATE)], table=DRAWN)


def _size(size: Any, *parameters: Any) -> Any:
    """The size of the draw; None: a number is drawn."""
    for parameter in parameters:
        if np.issubdtype(np.asarray(parameter).dtype, np.complexfloating):
            raise TypeError("Cannot cast array data from dtype('complex128') to dtype('float64')")
    if size is not None:
        return size
    total = np.asarray(parameters[0])
    for parameter in parameters[1:]:
        total = total + np.asarray(parameter)
    return total.shape if np.ndim(total) > 0 else None


def _fit(parameter: Any, size: Any) -> Any:
    """The parameter, which has to broadcast to the size."""
    return np.broadcast_to(parameter, size) if np.ndim(parameter) > 0 else parameter


def _moved(x: Any, size: Any) -> Any:
    """What is drawn: a number of Python's where there is no size."""
    return float(x) if size is None else np.asarray(x)


def _require_sign(parameter: Any, what: Any) -> None:
    if np.any(np.signbit(parameter) & (parameter == parameter)):
        raise ValueError(f"{what} < 0")


def _location_scale(name: str, standard: Callable[[Any, Any], Any]) -> None:
    @_draws(name)
    def draw(generator: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        _require_sign(np.asarray(scale), "scale")
        size = _size(size, loc, scale)
        return _moved(_fit(loc, size) + _fit(scale, size) * standard(generator, size), size)


def _scale(name: str, standard: Callable[[Any, Any], Any]) -> None:
    @_draws(name)
    def draw(generator: Any, scale: Any = 1.0, size: Any = None) -> Any:
        _require_sign(np.asarray(scale), "scale")
        size = _size(size, scale)
        return _moved(_fit(scale, size) * standard(generator, size), size)


_location_scale("normal", lambda generator, size: generator.normal(0.0, 1.0, size))
_location_scale("laplace", lambda generator, size: generator.laplace(0.0, 1.0, size))
_location_scale("logistic", lambda generator, size: generator.logistic(0.0, 1.0, size))
_location_scale("gumbel", lambda generator, size: generator.gumbel(0.0, 1.0, size))
_scale("exponential", lambda generator, size: generator.exponential(1.0, size))
_scale("rayleigh", lambda generator, size: generator.rayleigh(1.0, size))


@_draws("lognormal")
def lognormal(generator: Any, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
    _require_sign(np.asarray(sigma), "sigma")
    size = _size(size, mean, sigma)
    return _moved(np.exp(_fit(mean, size) + _fit(sigma, size) * generator.normal(0.0, 1.0, size)), size)


def _uniform(ordered: bool, cls: tuple[str, str]) -> None:
    @_draws("uniform", cls)
    def uniform(generator: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        width = np.subtract(high, low)
        if not np.all(np.isfinite(width)):
            raise OverflowError("high - low range exceeds valid bounds")
        if ordered:
            _require_sign(width, "high - low")
        size = _size(size, width)
        return _moved(_fit(low, size) + _fit(width, size) * generator.uniform(0.0, 1.0, size), size)


_uniform(True, GENERATOR)
_uniform(False, RANDOM_STATE)  # which takes the bounds in either order


@_draws("gamma")
def gamma(generator: Any, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
    _require_sign(np.asarray(scale), "scale")
    size = _size(size, shape, scale)
    return _moved(_fit(scale, size) * generator.standard_gamma(shape, size), size)


@_draws("uniform", PYTHONS)
def python_uniform(generator: Any, a: Any, b: Any) -> Any:
    return a + (b - a) * generator.uniform(0.0, 1.0)


@_draws("gauss", PYTHONS)
def gauss(generator: Any, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
    return mu + generator.gauss(0.0, 1.0) * sigma


@_draws("normalvariate", PYTHONS)
def normalvariate(generator: Any, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
    return mu + generator.normalvariate(0.0, 1.0) * sigma


# --- vectors ----------------------------------------------------------------------------------------------------------


def _rows(mean: Any, cov: Any, size: Any) -> Any:
    """The shape of what is drawn."""
    if np.ndim(mean) != 1:
        raise ValueError("mean must be 1 dimensional")
    if np.ndim(cov) != 2 or cov.shape[0] != cov.shape[1]:
        raise ValueError("cov must be 2 dimensional and square")
    if mean.shape[0] != cov.shape[0]:
        raise ValueError("mean and cov must have same length")
    if size is None:
        return mean.shape
    return (size, *mean.shape) if np.ndim(size) == 0 else (*size, *mean.shape)


@_draws("multivariate_normal", RANDOM_STATE)
def vector_of_state(
    generator: Any, mean: Any, cov: Any, size: Any = None, check_valid: Any = "warn", tol: Any = 1e-8
) -> Any:
    mean, cov = np.asarray(mean), np.asarray(cov)
    shape = _rows(mean, cov, size)
    if check_valid == "raise":
        refuse("multivariate_normal with check_valid='raise'", "leave it out")
    z = generator.standard_normal(shape)
    _, s, v = np.linalg.svd(cov)
    return z @ (np.sqrt(s)[:, None] * v) + mean


@_draws("multivariate_normal", GENERATOR)
def vector_of_generator(
    generator: Any, mean: Any, cov: Any, size: Any = None, check_valid: Any = "warn", tol: Any = 1e-8,
    *, method: Any = "svd",
) -> Any:  # fmt: skip
    mean, cov = np.asarray(mean), np.asarray(cov)
    shape = _rows(mean, cov, size)
    if check_valid == "raise":
        refuse("multivariate_normal with check_valid='raise'", "leave it out")
    z = generator.standard_normal(shape)
    if method == "cholesky":
        factor = np.linalg.cholesky(cov)
    elif method == "eigh":
        s, u = np.linalg.eigh(cov)
        factor = u * np.sqrt(abs(s))
    else:
        u, s, _ = np.linalg.svd(cov)
        factor = u * np.sqrt(s)
    return z @ factor.T + mean
