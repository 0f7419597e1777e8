"""The module ``torch.distributions``: samples, logarithms of densities, entropies, divergences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from .core import Base, make
from .creation import rng
from .dtypes import get_default_dtype
from .elementwise import FUNCTIONS as _ELEMENTWISE
from .indexing import gather
from .modes import no_grad
from .nn.activations import softplus
from .nn.losses import binary_cross_entropy_with_logits
from .reductions import logsumexp, softmax
from .shaping import broadcast_tensors, expand
from .tensor import Size

_erf, _erfinv, _where = (_ELEMENTWISE[n] for n in ("erf", "erfinv", "where"))
_LOG_ROOT = 0.5 * math.log(2 * math.pi)


def _tensors(*values: Any) -> tuple[Any, ...]:
    """Numbers and tensors as tensors of one shape."""
    dtypes = [v._value.dtype for v in values if isinstance(v, Base)]
    dtype = dtypes[0] if dtypes else get_default_dtype().numpy
    return broadcast_tensors(*[v if isinstance(v, Base) else make(np.asarray(v, dtype)) for v in values])


def _inner(p: Any) -> Any:
    """Probabilities away from 0 and 1, whose logarithms are finite."""
    eps = float(np.finfo(p._value.dtype).eps)
    return p.clamp(min=eps, max=1 - eps)


# What values may be: a name, and a test of an array.
Constraint = tuple[str, Callable[[Any], Any]]
_REAL: Constraint = ("Real()", lambda v: v == v)
_POSITIVE: Constraint = ("GreaterThan(lower_bound=0.0)", lambda v: v > 0)
_UNIT: Constraint = ("Interval(lower_bound=0.0, upper_bound=1.0)", lambda v: (v >= 0) & (v <= 1))
_BOOLEAN: Constraint = ("Boolean()", lambda v: (v == 0) | (v == 1))
_NONNEGATIVE: Constraint = ("GreaterThanEq(lower_bound=0.0)", lambda v: v >= 0)
_SIMPLEX: Constraint = ("Simplex()", lambda v: np.all(v >= 0, -1) & (np.abs(v.sum(-1) - 1) < 1e-6))
_VECTOR: Constraint = ("IndependentConstraint(Real(), 1)", lambda v: np.all(v == v, -1))


def _shown(t: Any) -> str:
    return str(t._value.item()) if t._value.size == 1 and t._value.ndim == 0 else repr(t.detach())


class Distribution:
    """What all distributions have: shapes, samples, checks of parameters and values."""

    arguments: ClassVar[dict[str, Constraint]] = {}

    def __init__(self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None):
        self.batch_shape, self.event_shape = Size(batch_shape), Size(event_shape)
        self._validate = validate_args is not False
        if self._validate:
            for name, (constraint, holds) in self.arguments.items():
                given = self.__dict__.get(name)
                if given is not None and not np.all(holds(given._value)):
                    raise ValueError(
                        f"Expected parameter {name} (Tensor of shape {tuple(given.shape)}) of distribution {self!r} to "
                        f"satisfy the constraint {constraint}, but found invalid values:\n{_shown(given)}"
                    )

    def _support(self) -> Constraint:
        raise NotImplementedError

    def _check(self, value: Any) -> None:
        if not isinstance(value, Base):
            raise ValueError("The value argument to log_prob must be a Tensor")
        constraint, holds = self._support()
        if self._validate and not np.all(holds(value._value)):
            raise ValueError(
                f"Expected value argument (Tensor of shape {tuple(value.shape)}) to be within the support "
                f"({constraint}) of the distribution {self!r}, but found invalid values:\n{_shown(value)}"
            )

    def _extended(self, sample_shape: Any) -> tuple[int, ...]:
        return (*sample_shape, *self.batch_shape, *self.event_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Samples through which gradients flow to the parameters."""
        raise NotImplementedError(f"{type(self).__name__} has no samples that gradients flow through")

    def sample(self, sample_shape: Any = ()) -> Any:
        """Samples, in this shape times that of the parameters."""
        with no_grad():
            return self.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density, or probability, at a value."""
        raise NotImplementedError

    def entropy(self) -> Any:
        raise NotImplementedError

    def perplexity(self) -> Any:
        return self.entropy().exp()

    @property
    def mean(self) -> Any:
        raise NotImplementedError

    @property
    def variance(self) -> Any:
        raise NotImplementedError

    @property
    def stddev(self) -> Any:
        return self.variance.sqrt()

    def __repr__(self) -> str:
        rows = []
        for name in self.arguments:
            t = self.__dict__.get(name)
            if t is not None:
                shown = t.detach() if t._value.size == 1 else t.shape
                rows.append(f"{name}: {t._value.item() if t._value.ndim == 0 else shown}")
        return f"{type(self).__name__}({', '.join(rows)})"


class Normal(Distribution):
    """The normal distribution, by mean and standard deviation.

    >>> from autodiff_compiler.compat import torch
    >>> torch.distributions.Normal(0.0, 1.0).log_prob(torch.tensor(1.0))
    tensor(-1.4189)
    """

    arguments: ClassVar[dict[str, Constraint]] = {"loc": _REAL, "scale": _POSITIVE}

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None):
        self.loc, self.scale = _tensors(loc, scale)
        super().__init__(self.loc.shape, (), validate_args)

    def _support(self) -> Constraint:
        return _REAL

    def rsample(self, sample_shape: Any = ()) -> Any:
        noise = rng().standard_normal(self._extended(sample_shape)).astype(self.loc._value.dtype)
        return self.loc + make(noise) * self.scale

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        return -((value - self.loc) ** 2) / (2 * self.scale**2) - self.scale.log() - _LOG_ROOT

    def cdf(self, value: Any) -> Any:
        """The probability of less than a value."""
        self._check(value)
        return 0.5 * (1 + _erf((value - self.loc) / (self.scale * math.sqrt(2))))

    def icdf(self, value: Any) -> Any:
        """The value that a sample is below with this probability."""
        return self.loc + self.scale * _erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Any:
        return 0.5 + _LOG_ROOT + self.scale.log()

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return self.scale**2

    @property
    def stddev(self) -> Any:
        return self.scale


class Uniform(Distribution):
    """Equal density between two bounds."""

    arguments: ClassVar[dict[str, Constraint]] = {"low": _REAL, "high": _REAL}

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None):
        self.low, self.high = _tensors(low, high)
        super().__init__(self.low.shape, (), validate_args)
        if self._validate and not np.all(self.low._value < self.high._value):
            raise ValueError(
                f"Expected parameter low of distribution {self!r} to be less than high, but found invalid values:\n"
                f"{_shown(self.low)}"
            )

    def _support(self) -> Constraint:
        low, high = self.low._value, self.high._value
        shown = f"Interval(lower_bound={_shown(self.low)}, upper_bound={_shown(self.high)})"
        return shown, lambda v: (v >= low) & (v <= high)

    def rsample(self, sample_shape: Any = ()) -> Any:
        share = rng().random(self._extended(sample_shape)).astype(self.low._value.dtype)
        return self.low + make(share) * (self.high - self.low)

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        inside = (value >= self.low) & (value < self.high)
        return _where(inside, 0.0, -math.inf) - (self.high - self.low).log()

    def cdf(self, value: Any) -> Any:
        """The probability of less than a value."""
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def entropy(self) -> Any:
        return (self.high - self.low).log()

    @property
    def mean(self) -> Any:
        return (self.high + self.low) / 2

    @property
    def variance(self) -> Any:
        return (self.high - self.low) ** 2 / 12


class Exponential(Distribution):
    """Waiting times at a rate."""

    arguments: ClassVar[dict[str, Constraint]] = {"rate": _POSITIVE}

    def __init__(self, rate: Any, validate_args: bool | None = None):
        (self.rate,) = _tensors(rate)
        super().__init__(self.rate.shape, (), validate_args)

    def _support(self) -> Constraint:
        return _NONNEGATIVE

    def rsample(self, sample_shape: Any = ()) -> Any:
        times = rng().standard_exponential(self._extended(sample_shape)).astype(self.rate._value.dtype)
        return make(times) / self.rate

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Any) -> Any:
        """The probability of less than a value."""
        self._check(value)
        return 1 - (-self.rate * value).exp()

    def entropy(self) -> Any:
        return 1.0 - self.rate.log()

    @property
    def mean(self) -> Any:
        return 1 / self.rate

    @property
    def variance(self) -> Any:
        return 1 / self.rate**2


def _one_of(probs: Any, logits: Any) -> None:
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class Bernoulli(Distribution):
    """Ones with a probability, else zeros; by probabilities or by their logits."""

    arguments: ClassVar[dict[str, Constraint]] = {"probs": _UNIT, "logits": _REAL}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        _one_of(probs, logits)
        (given,) = _tensors(logits if probs is None else probs)
        setattr(self, "logits" if probs is None else "probs", given)
        super().__init__(given.shape, (), validate_args)

    def __getattr__(self, name: str) -> Any:
        known = self.__dict__
        if name == "logits" and "probs" in known:
            p = _inner(known["probs"])
            return p.log() - (-p).log1p()
        if name == "probs" and "logits" in known:
            return known["logits"].sigmoid()
        raise AttributeError(f"'Bernoulli' object has no attribute {name!r}")

    def _support(self) -> Constraint:
        return _BOOLEAN

    def sample(self, sample_shape: Any = ()) -> Any:
        p = self.probs._value
        return make((rng().random(self._extended(sample_shape)) < p).astype(p.dtype))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        logits, value = broadcast_tensors(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Any:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)


class Categorical(Distribution):
    """Numbers of classes; by probabilities along the last axis, which are scaled, or by logits.

    >>> from autodiff_compiler.compat import torch
    >>> torch.distributions.Categorical(torch.tensor([1.0, 3.0])).log_prob(torch.tensor(1)).exp()
    tensor(0.7500)
    """

    arguments: ClassVar[dict[str, Constraint]] = {"probs": _SIMPLEX, "logits": _VECTOR}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        _one_of(probs, logits)
        name, given = ("logits", logits) if probs is None else ("probs", probs)
        if given.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if validate_args is not False and probs is not None and (probs._value < 0).any():
            self.probs = probs
        elif probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logsumexp(logits, -1, keepdim=True)
        self._classes = given.shape[-1]
        super().__init__(given.shape[:-1], (), validate_args)

    def __getattr__(self, name: str) -> Any:
        known = self.__dict__
        if name == "logits" and "probs" in known:
            return _inner(known["probs"]).log()
        if name == "probs" and "logits" in known:
            return softmax(known["logits"], -1)
        raise AttributeError(f"'Categorical' object has no attribute {name!r}")

    @property
    def param_shape(self) -> Any:
        return Size((*self.batch_shape, self._classes))

    def _support(self) -> Constraint:
        n = self._classes
        return f"IntegerInterval(lower_bound=0, upper_bound={n - 1})", lambda v: (v == np.floor(v)) & (v >= 0) & (v < n)

    def sample(self, sample_shape: Any = ()) -> Any:
        steps = np.cumsum(self.probs._value.astype(np.float64), -1)
        share = rng().random(self._extended(sample_shape)) * steps[..., -1]
        return make(np.asarray((np.expand_dims(share, -1) >= steps).sum(-1).clip(0, self._classes - 1)))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        logits = self.logits
        shape = np.broadcast_shapes(value._value.shape, tuple(self.batch_shape))
        where = expand(value.long(), *shape).unsqueeze(-1)
        return gather(expand(logits, *shape, self._classes), -1, where).squeeze(-1)

    def entropy(self) -> Any:
        logits = self.logits
        low = float(np.finfo(logits._value.dtype).min)
        return -(logits.clamp(min=low) * self.probs).sum(-1)


class Independent(Distribution):
    """A distribution whose last batch axes count as part of each event."""

    def __init__(self, base_distribution: Any, reinterpreted_batch_ndims: int, validate_args: bool | None = None):
        self.base_dist, self.count = base_distribution, reinterpreted_batch_ndims
        shape = tuple(base_distribution.batch_shape)
        if reinterpreted_batch_ndims > len(shape):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{reinterpreted_batch_ndims} vs {len(shape)}"
            )
        cut = len(shape) - reinterpreted_batch_ndims
        super().__init__(shape[:cut], shape[cut:] + tuple(base_distribution.event_shape), False)

    def _summed(self, x: Any) -> Any:
        return x.sum(tuple(range(-self.count, 0))) if self.count else x

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.rsample(sample_shape)

    def sample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.sample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        return self._summed(self.base_dist.log_prob(value))

    def entropy(self) -> Any:
        return self._summed(self.base_dist.entropy())

    @property
    def mean(self) -> Any:
        return self.base_dist.mean

    @property
    def variance(self) -> Any:
        return self.base_dist.variance

    def __repr__(self) -> str:
        return f"Independent({self.base_dist!r}, {self.count})"


def _normals(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale) ** 2 - 1 - ratio.log())


def _categoricals(p: Any, q: Any) -> Any:
    terms = p.probs * (p.logits - q.logits)
    impossible = (q.probs == 0).expand_as(terms)
    terms = _where(impossible, math.inf, terms)
    return _where((p.probs == 0).expand_as(terms), 0.0, terms).sum(-1)


def _bernoullis(p: Any, q: Any) -> Any:
    return p.probs * (softplus(-q.logits) - softplus(-p.logits)) + (1 - p.probs) * (
        softplus(q.logits) - softplus(p.logits)
    )


def _exponentials(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


_DIVERGENCES: dict[type[Any], Callable[[Any, Any], Any]] = {
    Normal: _normals, Categorical: _categoricals, Bernoulli: _bernoullis, Exponential: _exponentials,
}  # fmt: skip


def kl_divergence(p: Any, q: Any) -> Any:
    """The Kullback-Leibler divergence of `p` from `q`. Raises NotImplementedError for pairs that have no formula here.

    >>> from autodiff_compiler.compat import torch
    >>> Normal = torch.distributions.Normal
    >>> torch.distributions.kl_divergence(Normal(0.0, 1.0), Normal(1.0, 2.0))
    tensor(0.4431)
    """
    if type(p) is Independent and type(q) is Independent and p.count == q.count:
        return p._summed(kl_divergence(p.base_dist, q.base_dist))
    found = _DIVERGENCES.get(type(p)) if type(p) is type(q) else None
    if found is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
        )
    return found(p, q)


MEMBERS: dict[str, Any] = {
    **{c.__name__: c for c in (Distribution, Normal, Uniform, Exponential, Bernoulli, Categorical, Independent)},
    "kl_divergence": kl_divergence,
}
