"""Distributions of `scipy.stats`."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy
from scipy import stats

import autodiff_compiler as ad
from autodiff_compiler.errors import RuleLookupError
from autodiff_compiler.frontend.library.scipy.stats_forms import FORMS, Form
from autodiff_compiler.kernels.scipy import stats as kernels
from autodiff_compiler.kernels.scipy import stats_quantiles as quantiles
from tests.differences import differences
from tests.operations.scipy.harness import check_case, load, without_case
from tests.operations.scipy.test_stats_samples import CALLS

load("special")
load("stats")

# Above the median, the logarithms of SciPy 1.16 are less accurate.
ACCURATE = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 17)
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
    "betaprime": (1.6, 2.7),
    "burr12": (1.7, 2.3),
    "chi": (2.6,),
    "exponnorm": (1.4,),
    "exponweib": (1.6, 1.3),
    "fisk": (3.2,),
    "foldnorm": (0.8,),
    "genextreme": (-0.2,),
    "gengamma": (1.6, 1.3),
    "genlogistic": (1.7,),
    "gennorm": (1.6,),
    "genpareto": (0.3,),
    "gompertz": (0.9,),
    "invgauss": (0.8,),
    "invweibull": (2.4,),
    "johnsonsb": (0.4, 1.3),
    "johnsonsu": (0.4, 1.7),
    "laplace_asymmetric": (1.3,),
    "loggamma": (1.4,),
    "reciprocal": (0.7, 3.2),
    "loguniform": (0.7, 3.2),
    "lomax": (2.3,),
    "nakagami": (1.4,),
    "powerlaw": (1.7,),
    "rice": (0.9,),
    "triang": (0.3,),
    "truncexpon": (2.4,),
    "weibull_max": (1.8,),
}
DENSITIES = ("logpdf", "pdf")
PROBABILITIES = ("cdf", "logcdf", "sf", "logsf")
QUANTILES = ("ppf", "isf")
MOMENTS = ("mean", "var", "std", "entropy", "median")
CONTINUOUS = [form for form in FORMS.values() if hasattr(getattr(stats, form.name), "pdf")]
INTEGERS: dict[str, tuple[Any, ...]] = {
    "bernoulli": (0.4,),
    "binom": (7, 0.3),
    "geom": (0.3,),
    "nbinom": (2.6, 0.4),
    "poisson": (2.3,),
}
MASSES = ("logpmf", "pmf", *PROBABILITIES)
WEIGHTS = np.array([1.0, -0.4, 0.7])
A = np.array([0.6, 1.7, 3.2])
CASES: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (kernels.beta_pdf, (np.array([0.2, 0.5, 0.9]), A, 1.3), {}),
    (kernels.beta_entropy, (A, 2.3), {}),
    (kernels.gamma_entropy, (A,), {}),
    (kernels.invgamma_entropy, (A,), {}),
    (kernels.t_entropy, (A,), {}),
    (kernels.binom_pmf, (np.array([2, 0, 5]), 7, np.array([0.2, 0.5, 0.9])), {}),
    (kernels.binom_cdf, (np.array([2, 0, 5]), 7, np.array([0.2, 0.5, 0.9])), {}),
    (kernels.binom_sf, (np.array([2, 0, 5]), 7, np.array([0.2, 0.5, 0.9])), {}),
    (kernels.nbinom_pmf, (np.array([2, 0, 5]), A, np.array([0.2, 0.5, 0.9])), {}),
    (quantiles.skewnorm_cdf, (A - 1.5, np.array([-1.3, 0.4, 2.0])), {}),
    (quantiles.skewnorm_ppf, (np.array([0.2, 0.5, 0.9]), np.array([-1.3, 0.4, 2.0])), {}),
    (quantiles.vonmises_cdf, (A - 1.5, A), {}),
    (quantiles.vonmises_ppf, (np.array([0.2, 0.5, 0.9]), A), {}),
    (quantiles.vonmises_by_kappa, (A - 1.5, A), {}),
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
        d = [None if isinstance(a, int) else np.zeros(np.shape(a)) if np.ndim(a) else 0.0 for a in args]
        for t, k in zip(tangents, places):
            d[k] = t if np.ndim(t) else float(t)
        _, tangent = ad.jvp(total, args, tuple(d))
    np.testing.assert_allclose(tangent, sum(np.sum(g * t) for g, t in zip(found, tangents)), rtol=1e-7, atol=1e-9)


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
    compare(total, args, tuple(range(len(args))))


OTHER_SHAPES = [
    ("genpareto", (-0.3,)), ("genpareto", (0.0,)), ("genpareto", (2e-7,)), ("genextreme", (0.3,)),
    ("genextreme", (0.0,)), ("genextreme", (-3e-7,)), ("gengamma", (1.6, -1.3)), ("skewnorm", (-2.0,)),
    ("vonmises", (60.0,)), ("genlogistic", (0.4,)),
]  # fmt: skip


@pytest.mark.parametrize("method", ["logpdf", "cdf", "sf", "ppf"])
@pytest.mark.parametrize("name, shapes", OTHER_SHAPES)
def test_other_shapes(name: str, shapes: tuple[float, ...], method: str) -> None:
    """Shapes of the other sign, and where the formula has a limit."""
    dist = getattr(stats, name)
    names = [f"s{k}" for k in range(len(shapes))]
    total = program(
        f"def total({', '.join(['x', *names])}):\n return np.sum(w * dist.{method}({', '.join(['x', *names])}))",
        dist=dist,
    )
    x = np.array([0.1, 0.5, 0.93])
    x = x if method == "ppf" else dist.ppf(x, *shapes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value, found = ad.value_and_grad(total, argnums=tuple(range(1 + len(shapes))))(x, *shapes)
        np.testing.assert_allclose(value, total(x, *shapes), rtol=1e-12)
        for k, g in enumerate(found):
            wanted = differences(total, x, *shapes, argnum=k)
            np.testing.assert_allclose(g, wanted, rtol=1e-5 if k == 0 else 1e-4, atol=1e-5)


def test_smooth_at_zero() -> None:
    """Where SciPy computes with the absolute value of the point."""

    def f(x, c):
        return stats.genlogistic.logpdf(x, c)

    assert ad.grad(f)(0.0, 3.0) == pytest.approx(1.0, rel=1e-14)


def test_at_a_shape_of_zero() -> None:
    """The formulas have a function with a kink there, and the densities have none."""

    def f(b, z):
        return stats.rice.logpdf(z, b)

    def g(kappa, z):
        return stats.vonmises.logpdf(z, kappa)

    def h(kappa, z):
        return np.log(stats.vonmises.pdf(z, kappa))

    def slope(b, z):
        return ad.grad(f)(b, z)

    def density(kappa, z):
        return ad.grad(lambda z: stats.vonmises.cdf(z, kappa))(z)

    assert ad.grad(f)(0.0, 1.7) == pytest.approx(0.0, abs=1e-15)
    assert ad.grad(slope)(0.0, 1.7) == pytest.approx(1.7**2 / 2 - 1, rel=1e-13)
    assert ad.grad(g)(0.0, 0.7) == ad.grad(h)(0.0, 0.7) == pytest.approx(np.cos(0.7), rel=1e-14)
    assert ad.grad(density)(0.0, 0.7) == pytest.approx(np.cos(0.7) / (2 * np.pi), rel=1e-13)


@pytest.mark.parametrize("kappa", [0.4, 3.0, 40.0, 700.0])
def test_accuracy_of_vonmises(kappa: float) -> None:
    """The derivative of the distribution function by kappa, against mpmath."""
    mp = pytest.importorskip("mpmath")

    def f(x, kappa):
        return stats.vonmises.cdf(x, kappa)

    with mp.workdps(30):
        for x in (0.03, -0.7, 2.9):
            density = lambda t: mp.exp(kappa * (mp.cos(t) - 1))
            parts = [0, x / 4, x / 2, x] if kappa < 100 else [0, x / 64, x / 16, x / 4, x]
            norm = 2 * mp.pi * mp.besseli(0, kappa) * mp.exp(-kappa)
            ratio = mp.besseli(1, kappa) / mp.besseli(0, kappa)
            wanted = mp.quad(lambda t: (mp.cos(t) - ratio) * density(t), parts) / norm
            assert ad.grad(f, argnums=1)(x, kappa) == pytest.approx(float(wanted), rel=1e-11, abs=1e-15)


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
    compare(total, args, tuple(range(len(args))))


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
    derivative = ad.value_and_grad(f)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for s in {shapes, tuple(-9.0 for _ in shapes)}:
            wanted = f(x, *s)
            tolerance = 2e-14 if ACCURATE or method not in ("logcdf", "logsf") else 1e-9
            np.testing.assert_allclose(ad.vjp(f, x, *s)[0], wanted, rtol=tolerance, atol=1e-300)
            for k in range(len(x)):
                value, _ = derivative(float(x[k]), *s)
                assert type(value) is np.float64
                np.testing.assert_allclose(value, wanted[k], rtol=tolerance, atol=1e-300)


@pytest.mark.parametrize("method", MASSES)
@pytest.mark.parametrize("name", INTEGERS)
def test_distributions_of_integers(name: str, method: str) -> None:
    dist, shapes = getattr(stats, name), INTEGERS[name]
    names = ", ".join([f"s{k}" for k in range(len(shapes))])
    k = np.array([1, 2, 1]) if name == "bernoulli" else np.array([3, 2, 5])
    if name == "bernoulli" and method in PROBABILITIES:
        k = np.array([1, 1, 1])
    total = program(f"def total({names}):\n return np.sum(w * dist.{method}(k, {names}, loc=1))", dist=dist, k=k)
    compare(total, shapes, tuple(i for i, a in enumerate(shapes) if isinstance(a, float)))

    x = np.array([0.0, 1.0, 2.0, 0.5, -1.0, 7.0, 9.0, np.inf, -np.inf, np.nan, 6.3, -0.5])
    f = program(f"def f(x, {names}):\n return dist.{method}(x, {names})", dist=dist)
    with np.errstate(all="ignore"):
        for s in (shapes, tuple(-9.0 for _ in shapes)):
            wanted = f(x, *s)
            value, pull = ad.vjp(f, x, *s)
            np.testing.assert_allclose(value, wanted, rtol=1e-13, atol=1e-300)
            assert not np.any(pull(np.ones(len(x)))[0])
            for i in range(len(x)):
                value, _ = ad.value_and_grad(f)(float(x[i]), *s)
                assert type(value) is np.float64
                np.testing.assert_allclose(value, wanted[i], rtol=1e-13, atol=1e-300)


@pytest.mark.parametrize("method", ("mean", "var", "std", "entropy"))
@pytest.mark.parametrize("name", INTEGERS)
def test_moments_of_integers(name: str, method: str) -> None:
    dist, shapes = getattr(stats, name), INTEGERS[name]
    if method == "entropy" and name not in ("bernoulli", "geom"):
        return
    names = ", ".join([f"s{k}" for k in range(len(shapes))])
    total = program(f"def total({names}):\n return dist.{method}({names}, loc=1)", dist=dist)
    compare(total, shapes, tuple(i for i, a in enumerate(shapes) if isinstance(a, float)))


@pytest.mark.parametrize("fn, args, kwargs", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_kernels(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    # The second derivative by kappa is refused.
    options: Any = {"order": 1} if fn.__name__.startswith("vonmises") else {}
    if fn is quantiles.vonmises_by_kappa:
        options["constant"] = ("kappa",)
    check_case(fn, args, kwargs, **options)


def test_every_function_has_a_case() -> None:
    # The methods of distributions are tested on each distribution.
    methods = {*DENSITIES, *MASSES, *QUANTILES, *MOMENTS, "interval", "support", "__call__", "freeze"}
    without_derivative = {"rvs", "moment", "stats", "nnlf"}
    samples = " ".join([text for text, _ in CALLS])
    tested = methods | without_derivative
    assert [name for name in without_case("stats", CASES) if name not in tested and name not in samples] == []


# --- how distributions are called -------------------------------------------------------------------------------------

X = np.array([0.4, 1.9])
FROZEN = stats.norm(0.5, scale=2.0)


def frozen_inside(x, mu, s):
    return np.sum(stats.norm(mu, s).logpdf(x))


def frozen_with_keywords(x, mu, s):
    dist = stats.norm(scale=s, loc=mu)
    return np.sum(dist.logpdf(x))


def positional(x, mu, s):
    return np.sum(stats.norm.logpdf(x, mu, s))


def keywords(x, mu, s):
    return np.sum(stats.norm.logpdf(x, scale=s, loc=mu))


def a_method_in_a_variable(x, mu, s):
    logpdf = stats.norm.logpdf
    return np.sum(logpdf(x, mu, s))


@pytest.mark.parametrize(
    "f", [frozen_inside, frozen_with_keywords, positional, keywords, a_method_in_a_variable], ids=lambda f: f.__name__
)
def test_calls(f: Callable[..., Any]) -> None:
    x = np.random.default_rng(2).normal(size=4)
    found = ad.grad(f, argnums=(0, 1, 2))(x, 0.5, 2.0)
    z = (x - 0.5) / 2.0
    for g, w in zip(found, (-z / 2.0, np.sum(z) / 2.0, np.sum(z * z - 1) / 2.0)):
        np.testing.assert_allclose(g, w, atol=1e-14)


class Model:
    """An object with a distribution."""

    def __init__(self, prior):
        self.prior = prior

    def loss(self, x):
        return np.sum(self.prior.logpdf(x))


def test_distributions_in_arguments_and_objects() -> None:
    def f(x, dist):
        return np.sum(dist.logpdf(x))

    gradient = ad.grad(f)
    np.testing.assert_allclose(gradient(X, stats.norm), -X)
    np.testing.assert_allclose(gradient(X, stats.expon), -np.ones(2))
    np.testing.assert_allclose(gradient(X, FROZEN), -(X - 0.5) / 4)
    np.testing.assert_allclose(ad.grad(Model(stats.norm(1.0)).loss)(X), 1.0 - X)

    def g(x, which):
        dist = stats.norm(x, 2.0) if which else stats.norm(0.5, x)
        return dist.logpdf(1.0)

    for which in (True, False):
        np.testing.assert_allclose(ad.grad(g)(1.5, which), differences(lambda x: g(x, which), 1.5), rtol=1e-6)


def test_frozen_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x):
        return np.sum(FROZEN.logpdf(x))

    gradient = ad.grad(f)
    np.testing.assert_allclose(gradient(X), -(X - 0.5) / 4.0)
    monkeypatch.setitem(globals(), "FROZEN", stats.norm(1.5, scale=1.0))
    np.testing.assert_allclose(gradient(X), -(X - 1.5))
    monkeypatch.setitem(globals(), "FROZEN", stats.expon(scale=4.0))
    np.testing.assert_allclose(gradient(X), [-0.25, -0.25])
    # The class of the normal distribution, with another support: none that the table knows.
    monkeypatch.setitem(globals(), "FROZEN", type(stats.norm)(a=0.0, name="half")())
    with pytest.raises(RuleLookupError, match=r"scipy\.stats\.half\.logpdf"):
        gradient(X)


def test_emitted_code_is_as_by_hand() -> None:
    def f(x):
        return np.sum(stats.norm.logpdf(x))

    text = ad.value_and_grad(f).source(X)
    assert "-x * x / 2.0 - 0.9189385332046727" in text
    assert "where" not in text and "log(" not in text


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_dtypes(dtype: Any) -> None:
    def f(x, s):
        return stats.norm.logpdf(x, scale=s), stats.expon.pdf(x), stats.laplace.ppf(x / 5)

    x = np.array([1, 2, 4], dtype)
    for s in (2.0, np.float32(2.0), np.array([2.0, 1.0, 0.5], np.float32)):
        value, _ = ad.vjp(f, x, s)
        for got, wanted in zip(value, f(x, s)):
            assert got.dtype == wanted.dtype
            # SciPy takes the logarithm of a float32, of which we take that of a float64.
            np.testing.assert_allclose(got, wanted, rtol=1e-7 if dtype == np.float32 else 2e-16)


@pytest.mark.parametrize("dist, method", cases(*DENSITIES, *PROBABILITIES, *QUANTILES, "mean", "entropy"))
def test_a_scale_that_is_not_positive(dist: Any, method: str) -> None:
    names = shape_names(dist)
    point = [] if method in MOMENTS else ["x"]
    f = program(
        f"def f(x, scale, {', '.join(names)}):\n return dist.{method}({', '.join([*point, *names, 'scale=scale'])})",
        dist=dist,
    )
    shapes = SHAPES.get(dist.name, ())
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for x in (np.array([0.3, 2.5]), 0.3):
            for scale in (-1.5, 0.0, np.array([-1.0, 2.0])):
                np.testing.assert_allclose(ad.vjp(f, x, scale, *shapes)[0], f(x, scale, *shapes), rtol=1e-13)


def test_interval_and_support() -> None:
    def f(x):
        low, high = stats.norm.interval(0.9, x, 2.0)
        first, last = stats.pareto.support(2.0, loc=x, scale=3.0)
        assert last == np.inf
        return high * first - low

    np.testing.assert_allclose(ad.grad(f)(0.5), differences(f, 0.5), rtol=1e-7)


def test_second_order() -> None:
    def f(x):
        return np.sum(stats.norm.logpdf(x, 0.5, 2.0) + stats.expon.pdf(x))

    def slope(x):
        return np.sum(np.array([1.0, 3.0]) * ad.grad(f)(x))

    np.testing.assert_allclose(ad.grad(slope)(X), np.array([1.0, 3.0]) * (-0.25 + np.exp(-X)), atol=1e-14)


def test_a_distribution_that_is_not_in_the_table() -> None:
    def f(x):
        return stats.nct.logpdf(x, 3.0, 1.0)

    with pytest.raises(RuleLookupError, match=r"scipy\.stats\.nct\.logpdf"):
        ad.grad(f)(0.5)

    def g(x):
        return x * stats.nct.mean(3.0, 1.0)  # nothing to differentiate

    np.testing.assert_allclose(ad.grad(g)(0.5), stats.nct.mean(3.0, 1.0))


HALF = type(stats.norm)(a=0.0, name="norm")
NCT = stats.nct(3.0, 1.0)


def test_methods_without_a_derivative_are_called_on_their_object() -> None:
    def f(x):
        drawn = stats.norm.rvs(1.0, 2.0, size=3, random_state=3)
        frozen = stats.norm(1.0, scale=2.0).rvs(size=3, random_state=4)
        return np.sum(x * drawn * frozen) + x * HALF.pdf(-1.0) + x * NCT.pdf(0.3) + x * stats.t(5.0).moment(2)

    np.testing.assert_allclose(ad.grad(f)(1.5), f(1.0), rtol=1e-14)


def test_a_draw_by_what_is_differentiated() -> None:
    def f(x):
        return np.sum(stats.norm.rvs(x, 1.0, size=3))

    with pytest.raises(RuleLookupError, match=r"scipy\.stats\.norm\.rvs"):
        ad.grad(f)(0.5)


def test_wrong_arguments_raise_what_scipy_raises() -> None:
    def missing(x):
        return stats.gamma.logpdf(x)

    def unexpected(x):
        return stats.norm.logpdf(x, sigma=2.0)

    def too_many(x):
        return stats.norm.logpdf(x, 1.0, 2.0, 3.0)

    for f in (missing, unexpected, too_many):
        with pytest.raises(TypeError):
            ad.grad(f)(0.5)


def test_a_tape_says_that_it_cannot_follow() -> None:
    x = ad.Variable(X)
    with ad.GradientTape(), pytest.raises(RuleLookupError, match="would become an array"):
        stats.norm.logpdf(x, 0.5, 2.0)


def test_counts_in_a_list() -> None:
    def f(rate):
        return np.prod(stats.poisson.pmf([1, 2, 4], rate))

    assert ad.grad(f)(1.3) == pytest.approx(differences(f, 1.3), rel=1e-6)
