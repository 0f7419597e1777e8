"""Distributions of `scipy.stats`."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import autodiff_compiler as ad
from autodiff_compiler.frontend.library.scipy.stats_forms import FORMS, Form
from autodiff_compiler.ir.opset import lookup
from autodiff_compiler.kernels.scipy import stats as kernels
from tests.differences import differences
from tests.operations.scipy.harness import check_case, load, without_case

load("special")
load("stats")

# The shapes that a distribution is tested with.
SHAPES: dict[str, tuple[float, ...]] = {
    "beta": (1.6, 2.3),
    "chi2": (3.3,),
    "f": (3.4, 5.6),
    "gamma": (1.7,),
    "invgamma": (2.6,),
    "lognorm": (0.7,),
    "pareto": (2.7,),
    "skewnorm": (1.2,),
    "t": (4.4,),
    "truncnorm": (-0.7, 1.9),
    "vonmises": (1.3,),
    "weibull_min": (1.8,),
}
DENSITIES = ("logpdf", "pdf")
PROBABILITIES = ("cdf", "logcdf", "sf", "logsf")
QUANTILES = ("ppf", "isf")
MOMENTS = ("mean", "var", "std", "entropy", "median")
CONTINUOUS = [form for form in FORMS.values() if hasattr(getattr(stats, form.name), "pdf")]
# By these shapes the distribution function is differentiated numerically, by `scipy.special`.
NUMERICAL = ("beta", "chi2", "f", "gamma", "invgamma", "t")
# The functions of `scipy.special` that the table stands on have rules of their own.
NEEDS_SPECIAL = pytest.mark.skipif(lookup(special.ndtri_exp) is None, reason="scipy.special has no rules yet")
WEIGHTS = np.array([1.0, -0.4, 0.7])
A = np.array([0.6, 1.7, 3.2])
CASES: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (kernels.beta_pdf, (np.array([0.2, 0.5, 0.9]), A, 1.3), {}),
    (kernels.beta_entropy, (A, 2.3), {}),
    (kernels.gamma_entropy, (A,), {}),
    (kernels.invgamma_entropy, (A,), {}),
    (kernels.t_entropy, (A,), {}),
    (kernels.log_gauss_mass, (np.array([-2.0, -0.7, 0.3]), np.array([-1.1, 1.4, 0.8])), {}),
]


def has(form: Form, method: str) -> bool:
    """The distribution has the method, from a formula of its own or from others."""
    if method in ("logpdf", "pdf"):
        return True
    if method in PROBABILITIES:
        return form.cdf is not None or form.logcdf is not None
    if method in ("ppf", "isf", "median"):
        return form.ppf is not None
    return getattr(form, "var" if method == "std" else method) is not None


def cases(*methods: str) -> list[Any]:
    return [
        pytest.param(getattr(stats, form.name), method, id=f"{form.name}-{method}")
        for form in CONTINUOUS
        for method in methods
        if has(form, method)
    ]


def program(text: str, **names: Any) -> Callable[..., Any]:
    return ad.from_tree(ast.parse(text), {"np": np, "stats": stats, "w": WEIGHTS, **names})


def shape_names(dist: Any) -> list[str]:
    return [f"s{k}" for k in range(len(SHAPES.get(dist.name, ())))]


def points(dist: Any, method: str) -> Any:
    """Points inside of the support, in standard form."""
    return np.array([0.1, 0.5, 0.93]) if method in QUANTILES else dist.ppf([0.1, 0.4, 0.93], *SHAPES.get(dist.name, ()))


def compare(total: Any, args: tuple[Any, ...], places: tuple[int, ...]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value, found = ad.value_and_grad(total, argnums=places)(*args)
        wanted = total(*args)
        assert type(value) is type(wanted)
        np.testing.assert_allclose(value, wanted, rtol=1e-13)
        for g, k in zip(found, places):
            np.testing.assert_allclose(g, differences(total, *args, argnum=k), rtol=1e-5, atol=1e-6)
        tangents = [np.cos(np.arange(np.size(args[k]))).reshape(np.shape(args[k]))[()] for k in places]
        d = [np.zeros(np.shape(a))[()] if np.ndim(a) else 0.0 for a in args]
        for t, k in zip(tangents, places):
            d[k] = t if np.ndim(t) else float(t)
        _, tangent = ad.jvp(total, args, tuple(d))
    np.testing.assert_allclose(tangent, sum(np.sum(g * t) for g, t in zip(found, tangents)), rtol=1e-7, atol=1e-9)


@NEEDS_SPECIAL
@pytest.mark.parametrize("dist, method", cases(*DENSITIES, *PROBABILITIES, *QUANTILES))
def test_derivatives(dist: Any, method: str) -> None:
    names = shape_names(dist)
    call = ", ".join(["x", *names, "loc=loc", "scale=scale"])
    total = program(
        f"def total({', '.join(['x', 'loc', 'scale', *names])}):\n return np.sum(w * dist.{method}({call}))", dist=dist
    )
    x = points(dist, method)
    x = x if method in QUANTILES else x * 1.4 + 0.3
    args = (x, 0.3, 1.4, *SHAPES.get(dist.name, ()))
    numerical = dist.name in NUMERICAL and method not in DENSITIES
    compare(total, args, (0, 1, 2) if numerical else tuple(range(len(args))))


@NEEDS_SPECIAL
@pytest.mark.parametrize("dist, method", cases(*MOMENTS))
def test_moments(dist: Any, method: str) -> None:
    names = shape_names(dist)
    call = ", ".join([*names, "loc=loc", "scale=scale"])
    total = program(f"def total({', '.join(['loc', 'scale', *names])}):\n return dist.{method}({call})", dist=dist)
    args = (0.3, 1.4, *SHAPES.get(dist.name, ()))
    with np.errstate(all="ignore"):
        finite = np.isfinite(total(*args))
    if not finite:
        np.testing.assert_equal(ad.value_and_grad(total)(*args)[0], total(*args))
        return
    numerical = dist.name in NUMERICAL and method == "median"
    compare(total, args, (0, 1) if numerical else tuple(range(len(args))))


@NEEDS_SPECIAL
@pytest.mark.parametrize("dist, method", cases(*DENSITIES, *PROBABILITIES, *QUANTILES))
def test_values_at_the_ends_and_beyond(dist: Any, method: str) -> None:
    shapes = SHAPES.get(dist.name, ())
    low, high = dist.support(*shapes)
    if method in QUANTILES:
        x = np.array([0.0, 1.0, -0.1, 1.1, np.nan, 0.2])
    else:
        x = np.array([-np.inf, -50.0, -1.0, 0.0, 0.3, 1.0, 2.0, 60.0, np.inf, np.nan, low, low - 0.1, high, high + 0.1])
    names = shape_names(dist)
    arguments = ", ".join(["x", *names])
    f = program(f"def f({arguments}):\n return dist.{method}({arguments})", dist=dist)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for s in {shapes, tuple(-9.0 for _ in shapes)}:
            wanted = f(x, *s)
            np.testing.assert_allclose(ad.vjp(f, x, *s)[0], wanted, rtol=2e-14, atol=1e-300)
            for k in range(len(x)):
                value, _ = ad.value_and_grad(f)(float(x[k]), *s)
                assert type(value) is np.float64
                np.testing.assert_allclose(value, wanted[k], rtol=2e-14, atol=1e-300)


@NEEDS_SPECIAL
@pytest.mark.parametrize("fn, args, kwargs", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_kernels(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    check_case(fn, args, kwargs)


def test_every_function_has_a_case() -> None:
    assert without_case("stats", CASES) == []
