"""The methods of a distribution, frozen or not, from its standard form.

The steps are SciPy's: the point is moved and scaled, the formula is used inside of the support, and what stands
outside is known. The result is nan where a shape or the scale is not one that the distribution has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from ....runtime import constant
from ...definitions import defines, known
from .stats_forms import computed, form, says, unknown

INF = float("inf")
NAN = np.float64("nan")

# --- arguments --------------------------------------------------------------------------------------------------------


def _parameters(self: Any, args: Any, kwds: Any) -> Any:
    """The shapes, the location and the scale."""
    names = form(self, "shapes")
    both = names + (("loc",) if hasattr(self, "pmf") else ("loc", "scale"))
    if len(args) > len(both):
        raise TypeError(f"_parse_args() takes {len(both) + 1} positional arguments but {len(args) + 1} were given")
    for name in kwds:
        if name not in both:
            raise TypeError(f"_parse_args() got an unexpected keyword argument '{name}'")
        if name in both[: len(args)]:
            raise TypeError(f"_parse_args() got multiple values for argument '{name}'")
    for name in names[len(args) :]:
        if name not in kwds:
            raise TypeError(f"_parse_args() missing 1 required positional argument: '{name}'")
    values = []
    for k in list(range(len(both))):
        if k < len(args):
            values.append(_array(args[k]))
        elif both[k] in kwds:
            values.append(_array(kwds[both[k]]))
        else:
            values.append(0 if both[k] == "loc" else 1)
    if hasattr(self, "pmf"):
        values.append(1)
    return tuple(values[: len(names)]), values[len(names)], values[len(names) + 1]


def _array(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, (list, tuple)) else x


def _is_plain(x: Any) -> Any:
    """A Python number, which takes part in arithmetic as a float64 in SciPy."""
    return np.ndim(x) == 0 and isinstance(x, (int, float))


def _wide(x: Any) -> Any:
    """The value as float64."""
    if isinstance(x, np.float64):
        return x
    if np.ndim(x) == 0:
        return np.float64(x)
    return x if x.dtype == np.float64 else x.astype(np.float64)


def _standard(x: Any, loc: Any, scale: Any) -> Any:
    """The point in standard form."""
    x = _array(x)
    if _is_plain(loc):
        x = _wide(x)
    if not (known(loc) and loc == 0):
        x = x - loc
    if _is_plain(scale):
        x = _wide(x)
    if not (known(scale) and scale == 1):
        x = x / scale
    return _wide(x)


def _placed(out: Any, loc: Any, scale: Any) -> Any:
    """A point in standard form at its place."""
    if not (known(scale) and scale == 1):
        out = out * scale
    return out if known(loc) and loc == 0 else out + loc


def _positive(scale: Any) -> Any:
    """The scale, or nan, which makes all nan that it enters."""
    return where(True if known(scale) and scale > 0 else scale > 0, scale, NAN)


def _condition(self: Any, shapes: Any) -> Any:
    """Where the distribution is defined: True if it is known to be defined."""
    ok: Any = True
    valid = form(self, "valid")
    if valid is not None:
        return valid(*shapes)
    for a in shapes:
        if not (known(a) and a > 0):
            ok = both(ok, a > 0)
    return ok


def both(a: Any, b: Any) -> Any:
    if known(a) and a:
        return b
    if known(b) and b:
        return a
    if np.ndim(a) == 0 and np.ndim(b) == 0:
        return a and b
    return np.logical_and(a, b)


def where(condition: Any, x: Any, other: Any) -> Any:
    """Like np.where, but a number if all are numbers."""
    if known(condition):
        return x if condition else other
    if np.ndim(condition) == 0 and np.ndim(x) == 0 and np.ndim(other) == 0:
        return x if condition else other
    return np.where(condition, x, other)


# --- densities and distribution functions -----------------------------------------------------------------------------


def _compute(self: Any, method: Any, z: Any, shapes: Any) -> Any:
    """A density or distribution function inside of the support."""
    formula = form(self, method)
    if formula is not None:
        return formula(z, *shapes)
    if method in ("logcdf", "logsf"):
        low, high = ("cdf", "sf") if method == "logcdf" else ("sf", "cdf")
        p = _compute(self, low, z, shapes)
        if hasattr(self, "pmf"):
            return np.log(p)
        # Above the median the other tail is the more accurate one.
        few = p < 0.5
        q = _compute(self, high, z, shapes)
        return where(few, np.log(where(few, p, 1.0)), np.log1p(-where(few, 0.0, q)))
    if method == "logpdf":
        return np.log(form(self, "pdf")(z, *shapes))
    if method == "sf" and form(self, "logsf") is None:
        return 1.0 - form(self, "cdf")(z, *shapes)
    return np.exp(form(self, "log" + method)(z, *shapes))


def _inside(self: Any, method: Any, z: Any, shapes: Any, below: Any, above: Any, closed: Any) -> Any:
    """The formula inside of the support, and what is known outside of it.

    `closed`: the ends belong to the inside; None: the lower one does.
    """
    low, high = form(self, "low"), form(self, "high")
    if callable(low):
        low = low(*shapes)
    if callable(high):
        high = high(*shapes)
    bounded_below = not (known(low) and low == -INF)
    bounded_above = closed is None or not (known(high) and high == INF)
    if method in form(self, "natural") or not (bounded_below or bounded_above):
        return _compute(self, method, z, shapes)
    if np.ndim(z) == 0 and len([a for a in shapes if np.ndim(a)]) == 0:
        if bounded_above and (z > high if closed else z >= high):
            return np.float64(above)
        if bounded_below and (z <= low if closed is False else z < low):
            return np.float64(below)
        return _wide(_compute(self, method, z, shapes))
    inside = form(self, "inside")
    if callable(inside):
        inside = inside(*shapes)
    if bounded_below and bounded_above:
        under = z <= low if closed is False else z < low
        over = z > high if closed else z >= high
        out = _compute(self, method, np.where(np.logical_or(under, over), inside, z), shapes)
        if below == above:
            return np.where(np.logical_or(under, over), below, out)
        return np.where(over, above, np.where(under, below, out))
    outside = (z <= low if closed is False else z < low) if bounded_below else (z > high if closed else z >= high)
    out = _compute(self, method, np.where(outside, inside, z), shapes)
    return np.where(outside, below if bounded_below else above, out)


def _density(self: Any, method: Any, x: Any, args: Any, kwds: Any) -> Any:
    if not says(self, method):
        return unknown(self, method, x, *args, **kwds)
    shapes, loc, scale = _parameters(self, args, kwds)
    log = method == "logpdf"
    # The logarithm of the scale is nan where the scale is negative.
    scale = scale if log else _positive(scale)
    z = _standard(x, loc, scale)
    z = where(_condition(self, shapes), z, NAN)
    out = _inside(self, method, z, shapes, -INF if log else 0.0, -INF if log else 0.0, form(self, "closed"))
    if known(scale) and scale == 1:
        return out
    return out - computed(np.log, scale) if log else out / scale


@defines(stats.rv_continuous.logpdf)
def logpdf(self: Any, x: Any, *args: Any, **kwds: Any) -> Any:
    return _density(self, "logpdf", x, args, kwds)


@defines(stats.rv_continuous.pdf)
def pdf(self: Any, x: Any, *args: Any, **kwds: Any) -> Any:
    return _density(self, "pdf", x, args, kwds)


def _distribution(self: Any, method: Any, x: Any, args: Any, kwds: Any, below: Any, above: Any) -> Any:
    if not says(self, method):
        return unknown(self, method, x, *args, **kwds)
    shapes, loc, scale = _parameters(self, args, kwds)
    z = where(_condition(self, shapes), _standard(x, loc, _positive(scale)), NAN)
    return _inside(self, method, z, shapes, below, above, False)


@defines(stats.rv_continuous.cdf)
def cdf(self: Any, x: Any, *args: Any, **kwds: Any) -> Any:
    return _distribution(self, "cdf", x, args, kwds, 0.0, 1.0)


@defines(stats.rv_continuous.logcdf)
def logcdf(self: Any, x: Any, *args: Any, **kwds: Any) -> Any:
    return _distribution(self, "logcdf", x, args, kwds, -INF, 0.0)


@defines(stats.rv_continuous.sf)
def sf(self: Any, x: Any, *args: Any, **kwds: Any) -> Any:
    return _distribution(self, "sf", x, args, kwds, 1.0, 0.0)


@defines(stats.rv_continuous.logsf)
def logsf(self: Any, x: Any, *args: Any, **kwds: Any) -> Any:
    return _distribution(self, "logsf", x, args, kwds, 0.0, -INF)


# --- probabilities of integers ----------------------------------------------------------------------------------------


def _mass(self: Any, method: Any, k: Any, args: Any, kwds: Any) -> Any:
    if not says(self, method):
        return unknown(self, method, k, *args, **kwds)
    shapes, loc, _ = _parameters(self, args, kwds)
    k = _integers(k, loc)
    integral = np.issubdtype(np.asarray(k).dtype, np.integer)
    z = _wide(k)
    ok = _condition(self, shapes)
    z = where(ok, z, NAN)
    nothing = -INF if method == "logpmf" else 0.0
    if integral:
        return _inside(self, method, z, shapes, nothing, nothing, True)
    # Between the integers there is nothing.
    between = np.floor(z) < z
    out = _inside(self, method, where(between, np.floor(z), z), shapes, nothing, nothing, True)
    return where(between, np.float64(nothing), out)


def _integers(k: Any, loc: Any) -> Any:
    """The numbers less the location. A distribution of integers does not move with them, except in steps."""
    k = _array(k)
    k = k if known(k) else constant(k)
    return k if known(loc) and loc == 0 else k - constant(loc)


@defines(stats.rv_discrete.logpmf)
def logpmf(self: Any, k: Any, *args: Any, **kwds: Any) -> Any:
    return _mass(self, "logpmf", k, args, kwds)


@defines(stats.rv_discrete.pmf)
def pmf(self: Any, k: Any, *args: Any, **kwds: Any) -> Any:
    return _mass(self, "pmf", k, args, kwds)


def _steps(self: Any, method: Any, k: Any, args: Any, kwds: Any, below: Any, above: Any) -> Any:
    if not says(self, method):
        return unknown(self, method, k, *args, **kwds)
    shapes, loc, _ = _parameters(self, args, kwds)
    z = _wide(_integers(k, loc))
    ok = _condition(self, shapes)
    if method == "logcdf" and not known(ok):
        # Beyond the support SciPy looks at no shape.
        high = form(self, "high")
        ok = np.logical_or(ok, z >= (high(*shapes) if callable(high) else high))
    z = np.floor(where(ok, z, NAN))
    return _inside(self, method, z, shapes, below, above, None)


@defines(stats.rv_discrete.cdf)
def discrete_cdf(self: Any, k: Any, *args: Any, **kwds: Any) -> Any:
    return _steps(self, "cdf", k, args, kwds, 0.0, 1.0)


@defines(stats.rv_discrete.logcdf)
def discrete_logcdf(self: Any, k: Any, *args: Any, **kwds: Any) -> Any:
    return _steps(self, "logcdf", k, args, kwds, -INF, 0.0)


@defines(stats.rv_discrete.sf)
def discrete_sf(self: Any, k: Any, *args: Any, **kwds: Any) -> Any:
    return _steps(self, "sf", k, args, kwds, 1.0, 0.0)


@defines(stats.rv_discrete.logsf)
def discrete_logsf(self: Any, k: Any, *args: Any, **kwds: Any) -> Any:
    return _steps(self, "logsf", k, args, kwds, 0.0, -INF)


@defines(stats.rv_discrete.ppf)
def discrete_ppf(self: Any, q: Any, *args: Any, **kwds: Any) -> Any:
    return unknown(self, "ppf", q, *args, **kwds)


@defines(stats.rv_discrete.isf)
def discrete_isf(self: Any, q: Any, *args: Any, **kwds: Any) -> Any:
    return unknown(self, "isf", q, *args, **kwds)


# --- quantiles --------------------------------------------------------------------------------------------------------


def _quantile(self: Any, method: Any, q: Any, args: Any, kwds: Any) -> Any:
    if not says(self, method):
        return unknown(self, method, q, *args, **kwds)
    shapes, loc, scale = _parameters(self, args, kwds)
    q = _wide(_array(q))
    ok = _condition(self, shapes)
    if method not in form(self, "natural"):
        ok = both(ok, True if known(q) and 0 < q < 1 else np.logical_and(q >= 0, q <= 1))
    q = where(ok, q, NAN)
    formula = form(self, method)
    out = formula(q, *shapes) if formula is not None else form(self, "ppf")(1.0 - q, *shapes)
    return _placed(_wide(out), loc, _positive(scale))


@defines(stats.rv_continuous.ppf)
def ppf(self: Any, q: Any, *args: Any, **kwds: Any) -> Any:
    return _quantile(self, "ppf", q, args, kwds)


@defines(stats.rv_continuous.isf)
def isf(self: Any, q: Any, *args: Any, **kwds: Any) -> Any:
    return _quantile(self, "isf", q, args, kwds)


# --- moments ----------------------------------------------------------------------------------------------------------
# Distributions of integers have these methods of their own from SciPy 1.18 on.


def _moment(self: Any, method: Any, args: Any, kwds: Any) -> Any:
    if not says(self, method):
        return unknown(self, method, *args, **kwds)
    shapes, loc, scale = _parameters(self, args, kwds)
    scale = _positive(scale)
    out = where(_condition(self, shapes), _wide(form(self, method)(*shapes)), NAN)
    if method == "mean":
        return _placed(out, loc, scale)
    if not (known(scale) and scale == 1):
        out = out * scale * scale if method == "var" else out + computed(np.log, scale)
    return out + np.zeros(np.shape(loc)) if np.ndim(loc) else out


@defines(stats.rv_continuous.mean, stats.rv_discrete.mean)
def mean(self: Any, *args: Any, **kwds: Any) -> Any:
    return _moment(self, "mean", args, kwds)


@defines(stats.rv_continuous.var, stats.rv_discrete.var)
def var(self: Any, *args: Any, **kwds: Any) -> Any:
    return _moment(self, "var", args, kwds)


@defines(stats.rv_continuous.std, stats.rv_discrete.std)
def std(self: Any, *args: Any, **kwds: Any) -> Any:
    return np.sqrt(_moment(self, "var", args, kwds))


@defines(stats.rv_continuous.entropy, stats.rv_discrete.entropy)
def entropy(self: Any, *args: Any, **kwds: Any) -> Any:
    return _moment(self, "entropy", args, kwds)


@defines(stats.rv_continuous.median, stats.rv_discrete.median)
def median(self: Any, *args: Any, **kwds: Any) -> Any:
    return self.ppf(0.5, *args, **kwds)


@defines(stats.rv_continuous.interval, stats.rv_discrete.interval)
def interval(self: Any, confidence: Any, *args: Any, **kwds: Any) -> Any:
    if not says(self, "ppf"):
        return unknown(self, "interval", confidence, *args, **kwds)
    confidence = _array(confidence)
    if np.any((confidence > 1) | (confidence < 0)):
        raise ValueError("alpha must be between 0 and 1 inclusive")
    return (
        self.ppf((1.0 - confidence) / 2, *args, **kwds),
        self.ppf((1.0 + confidence) / 2, *args, **kwds),
    )


@defines(stats.rv_continuous.support, stats.rv_discrete.support)
def support(self: Any, *args: Any, **kwds: Any) -> Any:
    if form(self, "shapes") is None:
        return unknown(self, "support", *args, **kwds)
    shapes, loc, scale = _parameters(self, args, kwds)
    scale = _positive(scale)
    ok = _condition(self, shapes)
    low, high = form(self, "low"), form(self, "high")
    if callable(low):
        low = low(*shapes)
    if callable(high):
        high = high(*shapes)
    return where(ok, _placed(low, loc, scale), NAN), where(ok, _placed(high, loc, scale), NAN)


# --- draws, and what has no derivative --------------------------------------------------------------------------------


def _has_no_derivative(name: str, *owners: Any) -> None:
    """The method is called as it stands: errors name the distribution."""

    @defines(*{vars(cls)[name] for owner in owners for cls in owner.__mro__ if name in vars(cls)})
    def method(self: Any, *args: Any, **kwds: Any) -> Any:
        return unknown(self, name, *args, **kwds)


for _name in ("rvs", "moment", "stats", "nnlf"):
    _has_no_derivative(_name, stats.rv_continuous, stats.rv_discrete)


# --- frozen distributions ---------------------------------------------------------------------------------------------


class Frozen:
    """A distribution with its parameters."""

    def __init__(self, dist: Any, args: Any, kwds: Any):
        self.dist = dist
        self.args = args
        self.kwds = kwds

    def pdf(self, x: Any) -> Any:
        return self.dist.pdf(x, *self.args, **self.kwds)

    def logpdf(self, x: Any) -> Any:
        return self.dist.logpdf(x, *self.args, **self.kwds)

    def pmf(self, k: Any) -> Any:
        return self.dist.pmf(k, *self.args, **self.kwds)

    def logpmf(self, k: Any) -> Any:
        return self.dist.logpmf(k, *self.args, **self.kwds)

    def cdf(self, x: Any) -> Any:
        return self.dist.cdf(x, *self.args, **self.kwds)

    def logcdf(self, x: Any) -> Any:
        return self.dist.logcdf(x, *self.args, **self.kwds)

    def sf(self, x: Any) -> Any:
        return self.dist.sf(x, *self.args, **self.kwds)

    def logsf(self, x: Any) -> Any:
        return self.dist.logsf(x, *self.args, **self.kwds)

    def ppf(self, q: Any) -> Any:
        return self.dist.ppf(q, *self.args, **self.kwds)

    def isf(self, q: Any) -> Any:
        return self.dist.isf(q, *self.args, **self.kwds)

    def rvs(self, size: Any = None, random_state: Any = None) -> Any:
        return self.dist.rvs(*self.args, **self.kwds, size=size, random_state=random_state)

    def moment(self, order: Any) -> Any:
        return self.dist.moment(order, *self.args, **self.kwds)

    def stats(self, moments: Any = "mv") -> Any:
        return self.dist.stats(*self.args, **self.kwds, moments=moments)

    def mean(self) -> Any:
        return self.dist.mean(*self.args, **self.kwds)

    def var(self) -> Any:
        return self.dist.var(*self.args, **self.kwds)

    def std(self) -> Any:
        return self.dist.std(*self.args, **self.kwds)

    def median(self) -> Any:
        return self.dist.median(*self.args, **self.kwds)

    def entropy(self) -> Any:
        return self.dist.entropy(*self.args, **self.kwds)

    def interval(self, confidence: Any) -> Any:
        return self.dist.interval(confidence, *self.args, **self.kwds)

    def support(self) -> Any:
        return self.dist.support(*self.args, **self.kwds)


def _method_of_frozen(name: str) -> None:
    """What a distribution that was frozen outside of the program has: arguments are passed on to the distribution."""

    @defines(*{vars(cls)[name] for cls in _FROZEN if name in vars(cls)})
    def method(self: Any, *args: Any, **kwds: Any) -> Any:
        return getattr(self.dist, name)(*args, *self.args, **self.kwds, **kwds)


_FROZEN = (*type(stats.norm()).__mro__, *type(stats.poisson(1.0)).__mro__)
for _name in vars(Frozen):
    if not _name.startswith("_"):
        _method_of_frozen(_name)


@defines(stats.rv_continuous.__call__, stats.rv_continuous.freeze)
def freeze(self: Any, *args: Any, **kwds: Any) -> Any:
    if form(self, "shapes") is not None:
        _parameters(self, args, kwds)
    return Frozen(self, args, kwds)
