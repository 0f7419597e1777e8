"""Reductions along axes: sums, means, extremes, norms, cumulative ones, sorting."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import nn
from ...tape.operators import add_up, average
from ..graph.array import still, to, value_of
from ..graph.direct import unary
from . import dtypes
from .arithmetic import elementwise
from .axes import axes_of, check_dim
from .core import Base, make, renamed, run
from .tensor import method


def _axis_name(kwargs: dict[str, Any]) -> None:
    if "axis" in kwargs:
        kwargs["dim"] = kwargs.pop("axis")
    if "keepdims" in kwargs:
        kwargs["keepdim"] = kwargs.pop("keepdims")


def _reduction(name: str, label: str, f: Callable[..., Any], doc: str) -> Callable[..., Any]:
    """A reduction ``f(a, axis=, keepdims=)``."""

    def reduce(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, **kwargs: Any) -> Any:
        if kwargs:
            _axis_name(kwargs)
            return reduce(input, kwargs.pop("dim", dim), kwargs.pop("keepdim", keepdim), dtype=dtype, **kwargs)
        axes = axes_of(input, dim)
        suffix = "Backward0" if dim is None else "Backward1"
        if dtype is None:
            return unary(
                (name, axes, keepdim), label + suffix, lambda a: f(a, axis=axes, keepdims=keepdim), input, False
            )
        wanted = dtype.numpy
        return run(label + suffix, lambda a: f(to(a, wanted), axis=axes, keepdims=keepdim), input)

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = doc
    return reduce


def _sum(a: Any, axis: Any, keepdims: bool) -> Any:
    kind = value_of(a).dtype
    if kind.kind in "biu":
        return np.sum(value_of(a), axis=axis, keepdims=keepdims, dtype=np.int64)
    return add_up(a, axis, keepdims) if a.__class__ is np.ndarray else np.sum(a, axis=axis, keepdims=keepdims)


def _average(a: Any, axis: Any, keepdims: bool) -> Any:
    return average(a, axis, keepdims) if a.__class__ is np.ndarray else np.mean(a, axis=axis, keepdims=keepdims)


sum = _reduction("sum", "Sum", _sum, "The sum of all elements, or along `dim`. Integers give int64.")
_mean = _reduction("mean", "Mean", _average, "")


def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, **kwargs: Any) -> Any:
    """The mean of all elements, or along `dim`. Raises RuntimeError for integers."""
    if input._value.dtype.kind not in "fc" and dtype is None:
        kind = dtypes.TYPE_NAMES[input.dtype]
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
            f"{kind}"
        )
    return _mean(input, dim, keepdim, dtype=dtype, **kwargs)


def nansum(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The sum of what is not NaN."""
    axes = axes_of(input, dim)
    return run(
        "Nansum", lambda a: np.sum(np.where(np.isnan(value_of(a)), 0 * value_of(a)[()].dtype.type(0), a), axis=axes,
        keepdims=keepdim), input
    )  # fmt: skip


def nanmean(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The mean of what is not NaN."""
    count = make(np.sum(~np.isnan(input._value), axis=axes_of(input, dim), keepdims=keepdim))
    return nansum(input, dim, keepdim) / count


def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The product of all elements, or along `dim`."""
    axes = None if dim is None else check_dim(input, dim)
    wanted = dtype.numpy if dtype is not None else None

    def computed(a: Any) -> Any:
        a = a if wanted is None else to(a, wanted)
        if value_of(a).dtype.kind in "biu":
            return np.prod(value_of(a), axis=axes, keepdims=keepdim, dtype=np.int64)
        return np.prod(a, axis=axes, keepdims=keepdim)

    return run("ProdBackward0" if dim is None else "ProdBackward1", computed, input)


# --- extremes ---------------------------------------------------------------------------------------------------------


_RESULTS: dict[str, type[Any]] = {}


def pair(kind: str, first: Any, second: Any, names: tuple[str, str] = ("values", "indices")) -> Any:
    """What functions with two results return: a named tuple that prints as ``torch.return_types.<kind>``."""
    cls = _RESULTS.get(kind)
    if cls is None:
        cls = _RESULTS[kind] = _result_class(kind, names)
    return cls(first, second)


def _result_class(kind: str, names: tuple[str, ...]) -> type[Any]:
    base = namedtuple(kind, names)  # type: ignore[misc]

    def text(self: Any) -> str:
        rows = ",\n".join(f"{n}={v!r}" for n, v in zip(names, self))
        return f"torch.return_types.{kind}(\n{rows})"

    return type(kind, (base,), {"__repr__": text, "__slots__": ()})


def result(kind: str, names: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    """A named tuple of any number of results."""
    cls = _RESULTS.get(kind)
    if cls is None:
        cls = _RESULTS[kind] = _result_class(kind, names)
    return cls(*values)


def _along(input: Any, indices: np.ndarray[Any, Any], dim: int, keepdim: bool, label: str) -> Any:
    """The elements at one index along an axis."""

    def computed(a: Any) -> Any:
        if value_of(a).ndim == 0:
            return a * 1 if value_of(a).dtype.kind in "fc" else np.array(a)
        out = np.take_along_axis(a, np.expand_dims(indices, dim), dim)
        return out if keepdim else np.squeeze(out, axis=dim)

    return run(label, computed, input)


def _extreme(name: str, find: Callable[..., Any], whole: Callable[..., Any], two: str) -> Callable[..., Any]:
    def extreme(input: Any, dim: Any = None, keepdim: bool = False, **kwargs: Any) -> Any:
        if kwargs:
            other = kwargs.pop("other", None)
            if other is not None:
                return _ELEMENTWISE_TWO[two](input, other)
            _axis_name(kwargs)
            return extreme(input, kwargs.pop("dim", dim), kwargs.pop("keepdim", keepdim), **kwargs)
        if isinstance(dim, Base):
            return _ELEMENTWISE_TWO[two](input, dim)
        label = name.capitalize()
        if dim is None:
            if input._value.size == 0:
                raise RuntimeError(
                    f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
                    f"reduction dim "
                    "with the 'dim' argument."
                )
            return run(f"{label}Backward1", whole, input)
        axis = check_dim(input, dim)
        indices = np.asarray(find(input._value, axis=axis if input._value.ndim else None))
        kept = np.expand_dims(indices, axis) if keepdim and input._value.ndim else indices
        return pair(name, _along(input, indices, axis, keepdim, f"{label}Backward0"), make(kept))

    extreme.__name__ = extreme.__qualname__ = name
    extreme.__doc__ = (
        f"The {name} of all elements; along `dim`, (values, indices); of two tensors, element by element. Ties "
        f"over all "
        "elements share the gradient; along an axis it goes to the element that is named."
    )
    return extreme


def _two(f: Callable[..., Any], label: str) -> Callable[..., Any]:
    return lambda a, b: elementwise(label, f, a, b)


_ELEMENTWISE_TWO = {"maximum": _two(np.maximum, "Maximum"), "minimum": _two(np.minimum, "Minimum")}


def _evenly(f: Callable[..., Any]) -> Callable[..., Any]:
    """The extreme element; equal ones share the gradient evenly."""

    def reduce(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        v = value_of(a)
        best = f(v, axis=axis, keepdims=True)
        if a is v:
            return best if keepdims else f(v, axis=axis)
        hit = (v == best) | (np.isnan(v) & np.isnan(best))
        share = hit / np.sum(hit, axis=axis, keepdims=True)
        # Weights of the equal elements; what is infinite must not meet a weight of zero.
        return np.sum(np.where(hit, a, v.dtype.type(0)) * share.astype(v.dtype), axis=axis, keepdims=keepdims)

    return reduce


max = _extreme("max", np.argmax, _evenly(np.max), "maximum")
min = _extreme("min", np.argmin, _evenly(np.min), "minimum")


def amax(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """The largest element along one or more axes; ties share the gradient."""
    axes, f = axes_of(input, dim), _evenly(np.max)
    return run("Amax", lambda a: f(a, axis=axes, keepdims=keepdim), input)


def amin(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """The smallest element along one or more axes; ties share the gradient."""
    axes, f = axes_of(input, dim), _evenly(np.min)
    return run("Amin", lambda a: f(a, axis=axes, keepdims=keepdim), input)


def aminmax(input: Any, *, dim: Any = None, keepdim: bool = False) -> Any:
    """The smallest and the largest element."""
    where = () if dim is None else dim
    return pair("aminmax", amin(input, where, keepdim), amax(input, where, keepdim), ("min", "max"))


def argmax(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The index of the first largest element, of all or along an axis."""
    return make(np.asarray(np.argmax(input._value, axis=dim, keepdims=keepdim)))


def argmin(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The index of the first smallest element, of all or along an axis."""
    return make(np.asarray(np.argmin(input._value, axis=dim, keepdims=keepdim)))


def median(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median: the lower one of two. Along an axis: (values, indices)."""
    if dim is None:
        flat = input._value.ravel()
        place = np.argsort(flat, kind="stable")[(flat.size - 1) // 2] if flat.size else 0
        return run("Median", lambda a: np.reshape(a, (-1,))[int(place)], input)
    axis = check_dim(input, dim)
    order = np.argsort(input._value, axis=axis, kind="stable")
    indices = np.take(order, (input._value.shape[axis] - 1) // 2, axis=axis)
    shown = np.expand_dims(indices, axis) if keepdim else indices
    return pair("median", _along(input, indices, axis, keepdim, "MedianBackward1"), make(np.array(shown)))


def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The k-th smallest element along an axis, and its index."""
    axis = check_dim(input, dim)
    indices = np.take(np.argsort(input._value, axis=axis, kind="stable"), k - 1, axis=axis)
    shown = np.expand_dims(indices, axis) if keepdim else indices
    return pair("kthvalue", _along(input, indices, axis, keepdim, "Kthvalue"), make(np.array(shown)))


def sort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The elements in order along an axis, and where they were."""
    order = argsort(input, dim, descending, stable)
    return pair("sort", renamed(take_along_dim(input, order, dim), "Sort"), order)


def argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The indices that put the elements in order along an axis; equal ones keep their order."""
    value = input._value
    if value.ndim == 0:
        return make(np.zeros((), np.int64))
    axis = check_dim(input, dim)
    if not descending:
        return make(np.argsort(value, axis=axis, kind="stable"))
    flipped = np.argsort(np.flip(value, axis), axis=axis, kind="stable")
    return make(np.flip(value.shape[axis] - 1 - flipped, axis).copy())


def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The k largest, or smallest, elements along an axis in order, and their indices."""
    axis = check_dim(input, dim)
    if k > input._value.shape[axis]:
        raise RuntimeError("selected index k out of range")
    order = argsort(input, axis, descending=largest)._value
    indices = make(np.take(order, range(k), axis=axis))
    return pair("topk", renamed(take_along_dim(input, indices, axis), "Topk"), indices)


def take_along_dim(input: Any, indices: Any, dim: int | None = None) -> Any:
    """The elements at indices along an axis."""
    if input._value.ndim == 0:
        return input.clone()
    if dim is None:
        return run("TakeAlongDim", lambda a, i: np.take_along_axis(np.reshape(a, (-1,)), np.reshape(value_of(i),
        (-1,)), 0), input, indices)  # fmt: skip
    axis = check_dim(input, dim)
    return run("TakeAlongDim", lambda a, i: np.take_along_axis(a, value_of(i).copy(), axis), input, indices)


# --- spread and norms -------------------------------------------------------------------------------------------------


def _correction(unbiased: Any, correction: Any) -> Any:
    return (1 if unbiased else 0) if correction is None else correction


def _variance(a: Any, axes: Any, keepdims: bool, correction: Any) -> Any:
    v = value_of(a)
    count = v.size if axes is None else int(np.prod([v.shape[k] for k in axes]))
    centred = a - np.mean(a, axis=axes, keepdims=True)
    degrees = count - correction
    total = np.sum(np.abs(centred) ** 2 if v.dtype.kind == "c" else centred * centred, axis=axes, keepdims=keepdims)
    return total / degrees if degrees > 0 else total * np.nan


def _split_unbiased(dim: Any, unbiased: Any) -> tuple[Any, Any]:
    # var(x, False) is var(x, unbiased=False)
    return (None, dim) if isinstance(dim, bool) else (dim, unbiased)


def var(input: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *, correction: Any = None) -> Any:
    """The variance of all elements, or along axes, over n - 1 (``unbiased=False``: over n)."""
    dim, unbiased = _split_unbiased(dim, unbiased)
    axes, c = axes_of(input, dim), _correction(unbiased, correction)
    return run("Var", lambda a: _variance(a, axes, keepdim, c), input)


def std(input: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *, correction: Any = None) -> Any:
    """The standard deviation of all elements, or along axes."""
    dim, unbiased = _split_unbiased(dim, unbiased)
    axes, c = axes_of(input, dim), _correction(unbiased, correction)

    def computed(a: Any) -> Any:
        variance = _variance(a, axes, keepdim, c)
        v = value_of(variance)
        # Equal elements have the deviation 0, and no slope there.
        safe = np.where(v == 0, np.ones_like(v), variance)
        return np.where(v == 0, 0 * variance, np.sqrt(safe))

    return run("Std", computed, input)


def var_mean(
    input: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *, correction: Any = None
) -> Any:
    """The variance and the mean."""
    return var(input, dim, unbiased, keepdim, correction=correction), mean(input, dim, keepdim)


def std_mean(
    input: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *, correction: Any = None
) -> Any:
    """The standard deviation and the mean."""
    return std(input, dim, unbiased, keepdim, correction=correction), mean(input, dim, keepdim)


def p_norm(a: Any, p: Any, axes: Any, keepdims: bool) -> Any:
    """``sum(abs(a) ** p) ** (1 / p)``, whose gradient is zero where it is zero."""
    v = value_of(a)
    if p in (np.inf, -np.inf):
        return _evenly(np.max if p > 0 else np.min)(np.abs(a), axis=axes, keepdims=keepdims)
    if p == 0:
        return still_sum(v != 0, a, axes, keepdims)
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


def still_sum(hits: Any, a: Any, axes: Any, keepdims: bool) -> Any:
    """How many there are: a step function of `a`."""
    count = np.sum(hits, axis=axes, keepdims=keepdims).astype(value_of(a).dtype)
    return still(np.shape(count), count, np.sum(a, axis=axes, keepdims=keepdims))


def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """The p-norm of all elements, or along axes; the Euclidean one by default."""
    if p == "fro":
        p = 2
    if not isinstance(p, (int, float)):
        raise RuntimeError(f"norm: the order {p!r} is not there. Instead: torch.linalg.norm")
    axes = axes_of(input, dim)
    return run("LinalgVectorNorm", lambda a: p_norm(a, p, axes, keepdim), input)


def dist(input: Any, other: Any, p: float = 2) -> Any:
    """The p-norm of the difference."""
    return renamed(norm(input - other, p), "Dist")


# --- cumulative -------------------------------------------------------------------------------------------------------


def _cumulative(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    def cumulate(input: Any, dim: int, *, dtype: Any = None) -> Any:
        axis = check_dim(input, dim)
        wanted = dtype.numpy if dtype is not None else np.dtype(np.int64) if input._value.dtype.kind in "biu" else None
        shape = input._value.shape  # NumPy gives one axis to what has none

        def computed(a: Any) -> Any:
            a = a if wanted is None else to(a, wanted)
            return f(a, axis=axis) if shape else np.reshape(f(np.reshape(a, (1,)), axis=0), ())

        return run(name.capitalize(), computed, input)

    cumulate.__name__ = cumulate.__qualname__ = name
    cumulate.__doc__ = f"`{name}` along an axis."
    return cumulate


cumsum = _cumulative("cumsum", np.cumsum)
cumprod = _cumulative("cumprod", np.cumprod)


def logcumsumexp(input: Any, dim: int) -> Any:
    """The logarithm of the cumulative sum of exponentials along an axis."""
    axis = check_dim(input, dim)

    def computed(a: Any) -> Any:
        top = np.max(value_of(a), axis=axis, keepdims=True)
        return np.log(np.cumsum(np.exp(a - top), axis=axis)) + top

    return run("Logcumsumexp", computed, input)


def _running(name: str, f: Callable[..., Any], better: Callable[..., Any]) -> Callable[..., Any]:
    def running(input: Any, dim: int) -> Any:
        axis = check_dim(input, dim)
        value = np.moveaxis(input._value, axis, 0)
        indices = np.zeros(value.shape, np.int64)
        best = value[:1].copy()[0] if len(value) else value
        for k in range(1, len(value)):
            hit = better(value[k], best)
            indices[k] = np.where(hit, k, indices[k - 1])
            best = np.where(hit, value[k], best)
        found = make(np.moveaxis(indices, 0, axis).copy())
        return pair(name, take_along_dim(input, found, axis), found)

    running.__name__ = running.__qualname__ = name
    running.__doc__ = f"The {f.__name__} so far along an axis, and its index."
    return running


cummax = _running("cummax", np.max, np.greater_equal)
cummin = _running("cummin", np.min, np.less_equal)


def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """``log(sum(exp(input)))`` along axes, without overflow."""
    axes = axes_of(input, dim)

    def computed(a: Any) -> Any:
        top = np.max(value_of(a), axis=axes, keepdims=True)
        top = np.where(np.isfinite(top), top, np.zeros_like(top))
        out = np.log(np.sum(np.exp(a - top), axis=axes, keepdims=keepdim))
        return out + (top if keepdim else np.squeeze(top, axis=axes))

    return run("Logsumexp", computed, input)


def softmax(input: Any, dim: int | None = None, dtype: Any = None) -> Any:
    """``exp(input)``, scaled to sum to one along an axis."""
    axis = check_dim(input, -1 if dim is None else dim)
    if dtype is None:
        return unary(("softmax", axis), "Softmax", lambda a: nn.softmax(a, axis), input, False)
    return run("Softmax", lambda a: nn.softmax(to(a, dtype.numpy), axis), input)


def log_softmax(input: Any, dim: int | None = None, dtype: Any = None) -> Any:
    """The logarithm of `softmax`."""
    axis = check_dim(input, -1 if dim is None else dim)
    if dtype is None:
        return unary(("log_softmax", axis), "LogSoftmax", lambda a: nn.log_softmax(a, axis), input, False)
    return run("LogSoftmax", lambda a: nn.log_softmax(to(a, dtype.numpy), axis), input)


# --- without gradients ------------------------------------------------------------------------------------------------


def all(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Whether all elements are nonzero."""
    return make(np.asarray(np.all(input._value, axis=axes_of(input, dim), keepdims=keepdim)))


def any(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Whether any element is nonzero."""
    return make(np.asarray(np.any(input._value, axis=axes_of(input, dim), keepdims=keepdim)))


def count_nonzero(input: Any, dim: Any = None) -> Any:
    """How many elements are nonzero."""
    return make(np.asarray(np.count_nonzero(input._value, axis=axes_of(input, dim))))


def unique(input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False) -> Any:
    """The distinct elements in order; on request where each element is among them, and how often each occurs."""
    values, inverse, counts = np.unique(input._value, return_inverse=True, return_counts=True)
    out = [make(values)]
    if return_inverse:
        out.append(make(inverse.reshape(input._value.shape)))
    if return_counts:
        out.append(make(counts))
    return out[0] if len(out) == 1 else tuple(out)


def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each nonnegative integer occurs."""
    return make(np.bincount(input._value, None if weights is None else weights._value, minlength))


def quantile(input: Any, q: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The q-th quantile, interpolated linearly; without gradient for `q`."""
    at = q._value if isinstance(q, Base) else np.asarray(q, input._value.dtype)
    if at.ndim:
        raise NotImplementedError("torch.quantile: several quantiles at once are not there; call it for each of them")
    axis = None if dim is None else check_dim(input, dim)

    def computed(a: Any) -> Any:
        a = np.reshape(a, (-1,)) if axis is None else a
        k = 0 if axis is None else axis
        v = value_of(a)
        order = np.argsort(v, axis=k, kind="stable")
        place = float(at) * (v.shape[k] - 1)
        low = int(np.floor(place))
        high = np.minimum(low + 1, v.shape[k] - 1)
        x = np.take_along_axis(a, np.take(order, [low], axis=k), k)
        y = np.take_along_axis(a, np.take(order, [int(high)], axis=k), k)
        out = x + (place - low) * (y - x)
        return out if keepdim and axis is not None else np.squeeze(out, axis=k)

    return run("Quantile", computed, input)


def diff(input: Any, n: int = 1, dim: int = -1) -> Any:
    """The differences of neighbours along an axis."""
    axis = check_dim(input, dim)
    return run("Diff", lambda a: np.diff(a, n, axis), input)


def trapezoid(y: Any, x: Any = None, *, dx: float | None = None, dim: int = -1) -> Any:
    """The integral by the trapezoidal rule along an axis."""
    axis = check_dim(y, dim)

    def computed(a: Any, *where: Any) -> Any:
        rows = np.moveaxis(a, axis, -1)
        middle = (rows[..., 1:] + rows[..., :-1]) * 0.5
        if where:
            points = where[0] if value_of(where[0]).ndim == 1 else np.moveaxis(where[0], axis, -1)
            return np.sum(middle * (points[..., 1:] - points[..., :-1]), axis=-1)
        return np.sum(middle * (1.0 if dx is None else dx), axis=-1)

    return run("Trapezoid", computed, y, *(() if x is None else (x,)))


def cov(input: Any, *, correction: int = 1) -> Any:
    """The covariances of the rows."""

    def computed(a: Any) -> Any:
        rows = a if value_of(a).ndim == 2 else np.reshape(a, (1, -1))
        centred = rows - np.mean(rows, axis=1, keepdims=True)
        out = centred @ centred.T / (value_of(rows).shape[1] - correction)
        return out if value_of(a).ndim == 2 else np.reshape(out, ())

    return run("Cov", computed, input)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        sum, mean, nansum, nanmean, prod, max, min, amax, amin, aminmax, argmax, argmin, median, kthvalue, sort,
        argsort, topk,
        take_along_dim, var, std, norm, dist, cumsum, cumprod, logcumsumexp, cummax, cummin, logsumexp, softmax,
        log_softmax,
        all, any, count_nonzero, unique, quantile, diff, cov, bincount,
    )
}  # fmt: skip
for _name, _f in FUNCTIONS.items():
    method(_name, _f)
FUNCTIONS.update(var_mean=var_mean, std_mean=std_mean, trapezoid=trapezoid, trapz=trapezoid)
