"""The types of random draws and of clocks. They are called in their places like any unknown function.

A draw has the shape `size`. Without one it has the shape that its parameters have together: a Python float where all of
them are numbers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.core import Builder, Op, Prim, type_of
from ..ir.foreign import GENERATOR, RANDOM_STATE
from ..ir.infer import broadcast_dims
from ..ir.ops_common import as_array, bound, dtype_of, shape_dims
from ..ir.opset import gives, opaque
from ..ir.types import ANY, PY_FLOAT, Ty, array, py_int
from ..live import METHODS, shuffled

FLOAT = np.dtype(np.float64)
PYTHONS = ("random", "Random")
# The parameters of each distribution, which stand before `size`.
_FLOATS = {
    "beta": "a b", "chisquare": "df", "exponential": "scale", "f": "dfnum dfden", "gamma": "shape scale",
    "gumbel": "loc scale", "laplace": "loc scale", "logistic": "loc scale", "lognormal": "mean sigma",
    "noncentral_chisquare": "df nonc", "noncentral_f": "dfnum dfden nonc", "normal": "loc scale", "pareto": "a",
    "power": "a", "rayleigh": "scale", "standard_cauchy": "", "standard_gamma": "shape", "standard_t": "df",
    "triangular": "left mode right", "uniform": "low high", "vonmises": "mu kappa", "wald": "mean scale",
    "weibull": "a", "random": "", "random_sample": "", "standard_exponential": "", "standard_normal": "",
}  # fmt: skip
_INTS = {
    "binomial": "n p", "geometric": "p", "hypergeometric": "ngood nbad nsample", "logseries": "p",
    "negative_binomial": "n p", "poisson": "lam", "zipf": "a",
}  # fmt: skip


def _distribution(params: list[str], dtype: Any) -> Callable[..., Ty]:
    def infer(b: Builder, *args: Any, size: Any = None, **named: Any) -> Ty:
        given, rest = args[: len(params)], args[len(params) :]
        if rest:
            size, *others = rest
            named.update(zip(("dtype", "out"), others))
        if len(rest) > 2 or named.keys() - {*params, "dtype", "method"}:
            return ANY  # out=
        known = dtype_of(named["dtype"], None) if named.get("dtype") is not None else dtype
        if size is not None:
            return array(known, shape_dims(b, size))
        types = [as_array(b, a) for a in (*given, *[named[p] for p in params if p in named])]
        dims = broadcast_dims(b, [t.dims for t in types])
        if dims == ():
            return PY_FLOAT if dtype == FLOAT and "dtype" not in named else ANY
        return ANY if dims is None else array(known, dims)

    return infer


def _integers(default: Any) -> Callable[..., Ty]:
    def infer(b: Builder, low: Any, high: Any = None, size: Any = None, dtype: Any = None, endpoint: Any = False) -> Ty:
        return ANY if size is None else array(default if dtype is None else dtype_of(dtype, None), shape_dims(b, size))

    return infer


def _lengths(b: Builder, *shape: Any) -> Ty:
    return array(FLOAT, shape_dims(b, shape)) if shape else PY_FLOAT


def _multivariate(b: Builder, mean: Any, cov: Any, size: Any = None, *rest: Any, **named: Any) -> Ty:
    dims, t = () if size is None else shape_dims(b, size), as_array(b, mean)
    return array(FLOAT, None if dims is None or t.ndim != 1 else (*dims, *(t.dims or ())))


def _dirichlet(b: Builder, alpha: Any, size: Any = None) -> Ty:
    dims, t = () if size is None else shape_dims(b, size), as_array(b, alpha)
    return array(FLOAT, None if dims is None or t.ndim != 1 else (*dims, *(t.dims or ())))


def _choice(default: Any) -> Callable[..., Ty]:
    def infer(b: Builder, a: Any, size: Any = None, *rest: Any, **named: Any) -> Ty:
        t = as_array(b, a)
        dims = None if size is None else shape_dims(b, size)
        if not dims or t.dims is None or len(t.dims) > 1:
            return ANY
        return array(t.dtype if t.dims else default, dims)

    return infer


def _permutation(default: Any) -> Callable[..., Ty]:
    def infer(b: Builder, x: Any) -> Ty:
        t = as_array(b, x)
        if t.kind == "array" and t.dims:
            return array(t.dtype, t.dims)
        return array(default, shape_dims(b, x)) if type_of(x).kind == "py" else ANY

    return infer


# Methods of Python's own generators, and of the module `random`.
_PYTHONS = {
    **dict.fromkeys(
        [
            "random", "uniform", "gauss", "normalvariate", "triangular", "betavariate", "expovariate", "gammavariate",
            "lognormvariate", "vonmisesvariate", "paretovariate", "weibullvariate",
        ], gives(PY_FLOAT),
    ),
    **dict.fromkeys(["randint", "randrange", "getrandbits"], gives(py_int())),
}  # fmt: skip


def _methods(integer: Any, generator: bool) -> dict[str, Callable[..., Ty]]:
    found = {name: _distribution(params.split(), FLOAT) for name, params in _FLOATS.items()}
    found.update({name: _distribution(params.split(), integer) for name, params in _INTS.items()})
    found.update(multivariate_normal=_multivariate, dirichlet=_dirichlet, choice=_choice(integer))
    found.update(permutation=_permutation(integer))
    if generator:
        found["integers"] = _integers(integer)
    else:
        found.update(randint=_integers(integer), rand=_lengths, randn=_lengths)
    return found


# By module and name of the class: importing it takes as long as the records of all operations.
_OF: dict[Any, dict[str, Callable[..., Ty]]] = {
    GENERATOR: _methods(np.dtype(np.int64), True),
    RANDOM_STATE: _methods(np.dtype(int), False),
}
_CLOCKS = {
    time.time: PY_FLOAT, time.perf_counter: PY_FLOAT, time.monotonic: PY_FLOAT, time.process_time: PY_FLOAT,
    time.time_ns: py_int(), time.perf_counter_ns: py_int(), time.monotonic_ns: py_int(),
}  # fmt: skip


# What makes a generator, and of which class.
_MAKERS = {
    ("numpy.random", "default_rng"): GENERATOR, GENERATOR: GENERATOR, RANDOM_STATE: RANDOM_STATE, PYTHONS: PYTHONS,
}  # fmt: skip


def _key(thing: Any) -> tuple[Any, Any]:
    return getattr(thing, "__module__", None), getattr(thing, "__name__", None)


def generator_class(made: Op | None) -> tuple[Any, Any] | None:
    """The class of the generator that the operation makes, by module and name; None: it makes none."""
    return _MAKERS.get(_key(made.prim.fn)) if made is not None else None


def generator_of(fn: Any) -> tuple[Any, Any]:
    """The class of what a method is bound to, by module and name."""
    return _key(type(getattr(fn, "__self__", None)))


def drawn_from(made: Op | None, name: str) -> Prim | None:
    """The primitive of a draw from a generator that the function has made itself, by the operation that made it."""
    known = _type_of_method(generator_class(made), name)
    if known is None:
        return None

    def infer(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return known(b, args[1:], kwargs)

    return Prim(f"method {name}", getattr(METHODS, name), infer=infer, params=("*args",), effects=True)


def _type_of_method(cls: Any, name: str) -> Any:
    if cls == PYTHONS:
        return _PYTHONS.get(name)
    infer = _OF.get(cls, {}).get(name)
    return None if infer is None else bound(infer)


def shuffles(fn: Any) -> bool:
    """The method `shuffle` of one of NumPy's generators."""
    return getattr(fn, "__name__", "") == "shuffle" and generator_of(fn) in _OF


def makes_generator(made: Op | None) -> bool:
    """The operation makes one of NumPy's generators."""
    return generator_class(made) in _OF


def drawn(fn: Any, name: str) -> Prim | None:
    """The primitive of a draw or of a clock: its type is known, and it shares no memory."""
    known = _type_of_method(generator_of(fn), getattr(fn, "__name__", ""))
    if known is None and getattr(fn, "__module__", "") == "time" and fn in _CLOCKS:
        known = gives(_CLOCKS[fn])
    if known is None:
        return None
    prim = opaque(fn, name)
    prim.infer, prim.alias = known, "fresh"
    return prim


# The order of the items after a shuffle.
ORDER = Prim(
    "the order of a shuffle", shuffled, infer=bound(lambda b, generator, n: array(np.dtype(int), shape_dims(b, n))),
    params=("generator", "n"), effects=True, alias="fresh",
)  # fmt: skip

__all__ = ["ORDER", "drawn", "drawn_from", "generator_class", "generator_of", "makes_generator", "shuffles"]
