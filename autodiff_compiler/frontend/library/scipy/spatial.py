"""`scipy.spatial.distance`: distances of two vectors, of all rows of two matrices, and of the rows of one.

The metrics work along the last axis, on operands that broadcast. A distance of zero has the derivative zero, as
`np.linalg.norm` of zero has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import distance

from ....kernels.scipy.installed import takes
from ...definitions import defines, refuse
from . import spatial_rotation as spatial_rotation
from . import spatial_trees as spatial_trees
from .spatial_lengths import lengths, root

METRICS = (
    "euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski", "seuclidean", "mahalanobis", "cosine",
    "correlation", "canberra", "braycurtis", "hamming",
)  # fmt: skip
# From SciPy 1.18 on, the distances that are norms take stacks of vectors, and keep float32.
STACKS = takes(distance.euclidean, np.zeros((2, 1)), np.zeros((2, 1)))


def cosines(u: Any, v: Any, w: Any = None, centered: Any = False) -> Any:
    """One less the cosine of the angle between the vectors, or between what is left of them without their means."""
    if w is not None:
        w = w / np.sum(w)
    if centered:
        u = u - np.mean(u if w is None else u * w, axis=-1, keepdims=True) * (1 if w is None else u.shape[-1])
        v = v - np.mean(v if w is None else v * w, axis=-1, keepdims=True) * (1 if w is None else v.shape[-1])
    weighted = v if w is None else v * w
    uv = np.sum(u * weighted, axis=-1)
    uu = np.sum(u * (u if w is None else u * w), axis=-1)
    return 1.0 - uv / np.sqrt(uu * np.sum(v * weighted, axis=-1))


def between(u: Any, v: Any, metric: Any, p: Any, w: Any, V: Any, VI: Any) -> Any:
    """The distances along the last axis."""
    if metric == "euclidean":
        return lengths(u - v, 2, w)
    if metric == "minkowski":
        return lengths(u - v, p, w)
    if metric == "cityblock":
        return lengths(u - v, 1, w)
    if metric == "chebyshev":
        return lengths(u - v, np.inf, w)
    if metric == "sqeuclidean":
        squares = np.square(u - v)
        return np.sum(squares if w is None else w * squares, axis=-1)
    if metric == "cosine":
        return np.clip(cosines(u, v, w), 0.0, 2.0)
    if metric == "correlation":
        return np.clip(cosines(u, v, w, True), 0.0, 2.0)
    if metric == "seuclidean":
        return np.linalg.norm((u - v) / np.sqrt(V), axis=-1)
    if metric == "mahalanobis":
        difference = u - v
        return root(np.sum(difference @ VI * difference, axis=-1))
    if metric == "canberra":
        total = np.abs(u) + np.abs(v)
        parts = np.abs(u - v) / np.where(total == 0, 1.0, total)
        return np.sum(parts if w is None else w * parts, axis=-1)
    if metric == "braycurtis":
        apart, together = np.abs(u - v), np.abs(u + v)
        if w is not None:
            apart, together = w * apart, w * together
        return np.sum(apart, axis=-1) / np.sum(together, axis=-1)
    if metric == "hamming":
        other = u != v
        return np.mean(other, axis=-1) if w is None else np.sum(w * other, axis=-1) / np.sum(w)
    return None


# --- all pairs --------------------------------------------------------------------------------------------------------


def doubles(x: Any, name: Any) -> Any:
    """SciPy computes with float64."""
    x = np.asarray(x)
    if np.ndim(x) != 2:
        raise ValueError(f"{name} must be a 2-dimensional array.")
    if np.issubdtype(x.dtype, np.complexfloating):
        refuse("a distance of complex vectors", "take the real and the imaginary parts apart")
    return x if x.dtype == np.float64 else x.astype(np.float64)


def name_of(metric: Any) -> Any:
    if not isinstance(metric, str):
        refuse("a metric that is a function", "call it in a loop")
    if metric.lower() not in METRICS:
        refuse(f"the metric {metric!r}", f"use one of {', '.join(METRICS)}")
    return metric.lower()


@defines(distance.cdist)
def cdist(
    XA: Any, XB: Any, metric: Any = "euclidean", *, out: Any = None, p: Any = 2, w: Any = None,
    V: Any = None, VI: Any = None,
) -> Any:  # fmt: skip
    metric = name_of(metric)
    XA, XB = doubles(XA, "XA"), doubles(XB, "XB")
    if XA.shape[1] != XB.shape[1]:
        raise ValueError("XA and XB must have the same number of columns (i.e. feature dimension.)")
    if metric == "seuclidean" and V is None:
        V = np.var(np.vstack([XA, XB]), axis=0, ddof=1)
    if metric == "mahalanobis" and VI is None:
        VI = np.linalg.inv(np.atleast_2d(np.cov(np.vstack([XA, XB]).T))).T
    w = None if w is None else np.asarray(w).astype(np.float64)
    return between(XA[:, None, :], XB[None, :, :], metric, p, w, V, VI)


@defines(distance.pdist)
def pdist(
    X: Any, metric: Any = "euclidean", *, out: Any = None, p: Any = 2, w: Any = None, V: Any = None,
    VI: Any = None,
) -> Any:  # fmt: skip
    metric = name_of(metric)
    X = doubles(X, "X")
    if metric == "seuclidean" and V is None:
        V = np.var(X, axis=0, ddof=1)
    if metric == "mahalanobis" and VI is None:
        VI = np.linalg.inv(np.atleast_2d(np.cov(X.T))).T
    w = None if w is None else np.asarray(w).astype(np.float64)
    first, second = np.triu_indices(X.shape[0], 1)
    return between(X[first], X[second], metric, p, w, V, VI)


@defines(distance.squareform)
def squareform(X: Any, force: Any = "no", checks: Any = True) -> Any:
    X = np.asarray(X)
    if np.ndim(X) == 1 and force.lower() != "tomatrix" and force.lower() == "tovector":
        raise ValueError("Forcing 'tovector' but input X is not a distance matrix.")
    if np.ndim(X) == 2 and force.lower() == "tomatrix":
        raise ValueError("Forcing 'tomatrix' but input X is not a distance vector.")
    if np.ndim(X) == 1:
        n = max(int(np.ceil(np.sqrt(X.shape[0] * 2))), 1)
        if n * (n - 1) != X.shape[0] * 2:
            raise ValueError("Incompatible vector size. It must be a binomial coefficient n choose 2.")
        first, second = np.triu_indices(n, 1)
        out = np.zeros((n, n), X.dtype)
        out[first, second] = X
        out[second, first] = X
        return out
    if checks:
        distance.is_valid_dm(X, throw=True, name="X")
    first, second = np.triu_indices(X.shape[0], 1)
    return X[first, second]


# --- two vectors ------------------------------------------------------------------------------------------------------


def vector(u: Any) -> Any:
    u = np.asarray(u)
    if np.ndim(u) != 1:
        raise ValueError("Input vector should be 1-D.")
    return u


def vectors(u: Any) -> Any:
    """One vector, or a stack of them where SciPy takes stacks."""
    return np.asarray(u) if STACKS else vector(u)


def weights(w: Any) -> Any:
    return None if w is None else vector(w).astype(np.float64)


@defines(distance.minkowski)
def minkowski(u: Any, v: Any, p: Any = 2, w: Any = None) -> Any:
    if p <= 0:
        raise ValueError("p must be greater than 0")
    found = lengths(vectors(u) - vectors(v), p, weights(w))
    return float(found) if p == 2 and not STACKS else found


@defines(distance.euclidean)
def euclidean(u: Any, v: Any, w: Any = None) -> Any:
    return minkowski(u, v, 2, w)


@defines(distance.sqeuclidean)
def sqeuclidean(u: Any, v: Any, w: Any = None) -> Any:
    u, v = vectors(u), vectors(v)
    if not np.issubdtype(u.dtype, np.inexact):
        u = u.astype(np.float64)
    if not np.issubdtype(v.dtype, np.inexact):
        v = v.astype(np.float64)
    difference = u - v
    weighted = difference if w is None else weights(w) * difference
    return np.vecdot(difference, weighted) if STACKS else np.dot(difference, weighted)


@defines(distance.cityblock)
def cityblock(u: Any, v: Any, w: Any = None) -> Any:
    return lengths(vector(u) - vector(v), 1, weights(w))


@defines(distance.chebyshev)
def chebyshev(u: Any, v: Any, w: Any = None) -> Any:
    return lengths(vector(u) - vector(v), np.inf, weights(w))


@defines(distance.cosine)
def cosine(u: Any, v: Any, w: Any = None) -> Any:
    return between(vector(u), vector(v), "cosine", 2, weights(w), None, None)


@defines(distance.correlation)
def correlation(u: Any, v: Any, w: Any = None, centered: Any = True) -> Any:
    return between(vector(u), vector(v), "correlation" if centered else "cosine", 2, weights(w), None, None)


@defines(distance.canberra)
def canberra(u: Any, v: Any, w: Any = None) -> Any:
    u, v = vector(u), vector(v)
    total = np.abs(u) + np.abs(v)
    parts = np.abs(u - v) / np.where(total == 0, 1.0, total)
    return np.nansum((parts if w is None else weights(w) * parts).astype(np.float64))


@defines(distance.braycurtis)
def braycurtis(u: Any, v: Any, w: Any = None) -> Any:
    u, v = vector(u), vector(v).astype(np.float64)
    return between(u, v, "braycurtis", 2, weights(w), None, None)


@defines(distance.hamming)
def hamming(u: Any, v: Any, w: Any = None) -> Any:
    return between(vector(u), vector(v), "hamming", 2, weights(w), None, None)


@defines(distance.seuclidean)
def seuclidean(u: Any, v: Any, V: Any) -> Any:
    u, v, V = vector(u), vector(v), vector(V)
    if V.shape[0] != u.shape[0] or u.shape[0] != v.shape[0]:
        raise TypeError("V must be a 1-D array of the same dimension as u and v.")
    return euclidean(u, v, 1 / V)


@defines(distance.mahalanobis)
def mahalanobis(u: Any, v: Any, VI: Any) -> Any:
    difference = vector(u) - vector(v)
    return root(np.dot(np.dot(difference, np.atleast_2d(VI)), difference))[()]


@defines(distance.jensenshannon)
def jensenshannon(p: Any, q: Any, base: Any = None, *, axis: Any = 0, keepdims: Any = False) -> Any:
    p, q = np.asarray(p), np.asarray(q)
    p = p / np.sum(p, axis=axis, keepdims=True)
    q = q / np.sum(q, axis=axis, keepdims=True)
    middle = (p + q) / 2.0
    total = np.sum(entropies(p, middle) + entropies(q, middle), axis=axis, keepdims=keepdims)
    if base is not None:
        total = (total / np.log(base)).astype(total.dtype)
    return root(total / 2.0)[()]


def entropies(p: Any, q: Any) -> Any:
    """``p * log(p / q)``, infinite where `p` is negative. `q` is not less than half of `p`."""
    positive = p > 0
    quotient = np.where(positive, p, 1.0) / np.where(positive, q, 1.0)
    return np.where(p < 0, np.inf, np.where(positive, p, 0.0) * np.log(quotient))
