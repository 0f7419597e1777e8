"""Reductions along axes: sums, means, extremes, norms, cumulative ones, sorting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph.array import value_of
from ..operations.reductions import evenly, variance
from ..operations.sorting import order
from .axes import axes_of, check_dim
from .core import Base, make, named, run
from .made import pair
from .operators import TWO
from .tensor import method


def _axis_name(kwargs: dict[str, Any]) -> None:
    if "axis" in kwargs:
        kwargs["dim"] = kwargs.pop("axis")
    if "keepdims" in kwargs:
        kwargs["keepdim"] = kwargs.pop("keepdims")


# --- extremes ---------------------------------------------------------------------------------------------------------


def _pick(label: str, input: Any, indices: np.ndarray[Any, Any], axis: int) -> Any:
    """The elements at indices along an axis."""
    if input._value.ndim == 0:
        return input.clone()
    return run(label, lambda a: np.take_along_axis(a, indices, axis), input)


def _one(label: str, input: Any, indices: np.ndarray[Any, Any], axis: int, keepdim: bool) -> tuple[Any, Any]:
    """The elements at one index along an axis, and that index."""
    if input._value.ndim == 0:
        return run(label, np.positive, input), make(np.zeros((), np.int64))
    kept = np.expand_dims(indices, axis)

    def computed(a: Any) -> Any:
        out = np.take_along_axis(a, kept, axis)
        return out if keepdim else np.squeeze(out, axis=axis)

    return run(label, computed, input), make(np.array(kept if keepdim else indices))


def _extreme(name: str, find: Callable[..., Any], whole: Callable[..., Any], two: str) -> Callable[..., Any]:
    def extreme(input: Any, dim: Any = None, keepdim: bool = False, **kwargs: Any) -> Any:
        if kwargs:
            other = kwargs.pop("other", None)
            if other is not None:
                return TWO[two](input, other)
            _axis_name(kwargs)
            return extreme(input, kwargs.pop("dim", dim), kwargs.pop("keepdim", keepdim), **kwargs)
        if isinstance(dim, Base):
            return TWO[two](input, dim)
        label = name.capitalize()
        if dim is not None:
            axis = check_dim(input, dim)
            indices = np.asarray(find(input._value, axis=axis if input._value.ndim else None))
            return pair(name, *_one(f"{label}Backward0", input, indices, axis, keepdim))
        if input._value.size == 0:
            raise RuntimeError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
                "with the 'dim' argument."
            )
        return run(f"{label}Backward1", whole, input)

    doc = (
        f"The {name} of all elements; along `dim`, (values, indices); of two tensors, element by element. Ties over "
        "all elements share the gradient; along an axis it goes to the element that is named."
    )
    return named(name, extreme, doc)


max = _extreme("max", np.argmax, evenly(np.max), "maximum")
min = _extreme("min", np.argmin, evenly(np.min), "minimum")


def median(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median: the lower one of two. Along an axis: (values, indices)."""
    source, axis = (input.reshape(-1), 0) if dim is None else (input, check_dim(input, dim))
    indices = np.take(order(source._value, axis), (source._value.shape[axis] - 1) // 2, axis=axis)
    found = _one("Median" if dim is None else "MedianBackward1", source, indices, axis, keepdim)
    return found[0] if dim is None else pair("median", *found)


def argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The indices that put the elements in order along an axis; equal ones keep their order."""
    value = input._value
    if value.ndim == 0:
        return make(np.zeros((), np.int64))
    axis = check_dim(input, dim)
    return make(np.ascontiguousarray(order(value, axis, descending)))


def sort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The elements in order along an axis, and where they were."""
    places = argsort(input, dim, descending, stable)
    return pair("sort", _pick("Sort", input, places._value, dim), places)


def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The k largest, or smallest, elements along an axis in order, and their indices."""
    axis = check_dim(input, dim)
    if k > input._value.shape[axis]:
        raise RuntimeError("selected index k out of range")
    indices = np.take(argsort(input, axis, descending=largest)._value, range(k), axis=axis)
    return pair("topk", _pick("Topk", input, indices, axis), make(indices))


def take_along_dim(input: Any, indices: Any, dim: int | None = None) -> Any:
    """The elements at indices along an axis, or of the elements in order."""
    if dim is None:
        return _pick("TakeAlongDim", input.reshape(-1), indices._value.reshape(-1).copy(), 0)
    return _pick("TakeAlongDim", input, indices._value.copy(), check_dim(input, dim))


# --- spread and norms -------------------------------------------------------------------------------------------------


def _deviation(a: Any, axes: Any, keepdims: bool, correction: Any) -> Any:
    squares = variance(a, axes, keepdims, correction)
    v = value_of(squares)
    # Equal elements have the deviation 0, and no slope there.
    safe = np.where(v == 0, np.ones_like(v), squares)
    return np.where(v == 0, 0 * squares, np.sqrt(safe))


def _spread(name: str, f: Callable[..., Any], doc: str) -> Callable[..., Any]:
    def reduce(
        input: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *, correction: Any = None
    ) -> Any:
        if isinstance(dim, bool):  # var(x, False) is var(x, unbiased=False)
            dim, unbiased = None, dim
        axes, c = axes_of(input, dim), (1 if unbiased else 0) if correction is None else correction
        return run(name.capitalize(), lambda a: f(a, axes, keepdim, c), input)

    return named(name, reduce, f"The {doc} of all elements, or along axes, over n - 1 (``unbiased=False``: over n).")


var, std = _spread("var", variance, "variance"), _spread("std", _deviation, "standard deviation")


def p_norm(a: Any, p: Any, axes: Any, keepdims: bool) -> Any:
    """``sum(abs(a) ** p) ** (1 / p)``, whose gradient is zero where it is zero."""
    v = value_of(a)
    if p in (np.inf, -np.inf):
        return evenly(np.max if p > 0 else np.min)(np.abs(a), axis=axes, keepdims=keepdims)
    if p == 1:
        return np.sum(np.abs(a), axis=axes, keepdims=keepdims)
    size = np.sum(np.abs(v) ** p, axis=axes, keepdims=keepdims)
    if a is v:
        return (np.sqrt(size) if p == 2 else size ** (1 / p)).astype(np.abs(v).dtype)
    if p == 2:
        total = np.sum(np.abs(a) ** 2 if v.dtype.kind == "c" else a * a, axis=axes, keepdims=keepdims)
    else:
        safe = np.where(v == 0, np.zeros_like(v), a)
        total = np.sum(np.abs(safe) ** p, axis=axes, keepdims=keepdims)
    zero = size == 0
    inside = np.where(zero, np.ones_like(size), total)
    return np.where(zero, 0 * total, np.sqrt(inside) if p == 2 else inside ** (1 / p))


def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """The p-norm of all elements, or along axes; the Euclidean one by default."""
    if p == "fro":
        p = 2
    if not isinstance(p, (int, float)):
        raise RuntimeError(f"norm: the order {p!r} is not there. Instead: torch.linalg.norm")
    axes = axes_of(input, dim)
    return run("LinalgVectorNorm", lambda a: p_norm(a, p, axes, keepdim), input)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (max, min, median, sort, argsort, topk, take_along_dim, var, std, norm)
}
for _name, _f in FUNCTIONS.items():
    method(_name, _f)
