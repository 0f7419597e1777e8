"""Statistics of samples and distributions of vectors in `scipy.stats`."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import autodiff_compiler as ad
from autodiff_compiler.errors import RuleLookupError, UnsupportedError
from tests.differences import differences
from tests.operations.scipy.harness import load

load("stats")
RNG = np.random.default_rng(0)
V, W = RNG.uniform(0.5, 3, size=6), RNG.uniform(0.5, 3, size=6)
M, N = RNG.uniform(0.5, 3, size=(4, 3)), RNG.uniform(0.5, 3, size=(4, 3))
C = np.array([[2.0, 0.3, -0.4], [0.3, 1.5, 0.2], [-0.4, 0.2, 1.1]])
ALPHA = np.array([1.2, 2.3, 0.7])
SIMPLEX = np.array([[0.2, 0.3], [0.5, 0.1]])

# The call, and the arguments x, y and z by which it is differentiated.
CALLS: list[tuple[str, tuple[Any, ...]]] = [
    ("stats.zscore(x)", (V,)),
    ("stats.zscore(x, axis=1, ddof=1)", (M,)),
    ("stats.zscore(x, axis=None)", (M,)),
    ("stats.gmean(x)", (V,)),
    ("stats.gmean(x, axis=1)", (M,)),
    ("stats.gmean(x, weights=y)", (V, W)),
    ("stats.hmean(x)", (V,)),
    ("stats.hmean(x, axis=None)", (M,)),
    ("stats.hmean(x, weights=y)", (V, W)),
    ("stats.moment(x, 3)", (V,)),
    ("stats.moment(x, 2, axis=1)", (M,)),
    ("stats.moment(x, 1)", (M,)),
    ("stats.moment(x, 3, center=0.5)", (V,)),
    ("stats.skew(x)", (V,)),
    ("stats.skew(x, axis=1, bias=False)", (M,)),
    ("stats.skew(x, axis=None)", (M,)),
    ("stats.skew(x, keepdims=True, axis=1)", (M,)),
    ("stats.kurtosis(x)", (V,)),
    ("stats.kurtosis(x, bias=False)", (V,)),
    ("stats.kurtosis(x, fisher=False, axis=0)", (M,)),
    ("stats.sem(x)", (V,)),
    ("stats.sem(x, axis=1, ddof=0)", (M,)),
    ("stats.variation(x)", (V,)),
    ("stats.variation(x, ddof=1)", (M,)),
    ("stats.iqr(x)", (V,)),
    ("stats.iqr(x, axis=0, rng=(10, 80))", (M,)),
    ("stats.trim_mean(x, 0.2)", (V,)),
    ("stats.trim_mean(x, 0.3, axis=0)", (M,)),
    ("stats.entropy(x)", (V,)),
    ("stats.entropy(x, y)", (V, W)),
    ("stats.entropy(x, y, axis=1, base=2)", (M, N)),
    ("stats.boxcox(x, 0.4)", (V,)),
    ("stats.boxcox(x, y)", (V, 0.3)),
    ("stats.wasserstein_distance(x, y)", (V, W)),
    ("stats.wasserstein_distance(x, y)", (V, W[:4])),
    ("stats.pearsonr(x, y)[0]", (V, W)),
    ("stats.pearsonr(x, y).statistic", (V, W)),
    ("stats.pearsonr(x, y).pvalue", (V, W)),
    ("stats.pearsonr(x, y, alternative='less').pvalue", (V, W)),
    ("stats.pearsonr(x, y, alternative='greater').pvalue", (V, W)),
    ("stats.spearmanr(x, y)[0] * np.sum(x * y)", (V, W)),
    ("stats.spearmanr(x, y).pvalue * np.sum(x * y)", (V, W)),
    ("stats.rankdata(x) * x", (V,)),
    ("stats.rankdata(x, 'min') * x + stats.rankdata(x, 'max') * x", (V,)),
    ("stats.linregress(x, y).slope", (V, W)),
    ("stats.linregress(x, y)[1]", (V, W)),
    ("stats.linregress(x, y).rvalue", (V, W)),
    ("stats.linregress(x, y).pvalue", (V, W)),
    ("stats.linregress(x, y).stderr", (V, W)),
    ("stats.linregress(x, y).intercept_stderr", (V, W)),
    ("stats.ttest_ind(x, y).statistic", (V, W[:4])),
    ("stats.ttest_ind(x, y).pvalue", (V, W)),
    ("stats.ttest_ind(x, y, equal_var=False)[1]", (V, W[:4])),
    ("stats.ttest_ind(x, y, alternative='less', axis=1).pvalue", (M, N)),
    ("stats.ttest_rel(x, y).pvalue", (V, W)),
    ("stats.ttest_1samp(x, y).pvalue", (V, 1.2)),
    ("stats.ttest_1samp(x, 1.2, alternative='greater')[0]", (V,)),
    ("stats.describe(x).mean", (V,)),
    ("stats.describe(x).variance", (M,)),
    ("stats.describe(x)[4]", (V,)),
    ("stats.describe(x).minmax[0]", (V,)),
    ("stats.gaussian_kde(x)(y)", (V, W[:3])),
    ("stats.gaussian_kde(x).logpdf(y)", (V, W[:3])),
    ("stats.gaussian_kde(x, bw_method=z).evaluate(y)", (V, W[:3], 0.4)),
    ("stats.gaussian_kde(x, bw_method='silverman').pdf(y)", (M.T, N.T[:, :2])),
    ("stats.gaussian_kde(x, weights=y)(0.7)", (V, W)),
    ("stats.norm.fit(x)[0]", (V,)),
    ("stats.norm.fit(x)[1]", (V,)),
    ("stats.norm.fit(x, floc=0.3)[1]", (V,)),
    ("stats.expon.fit(x)[1]", (V,)),
    ("stats.expon.fit(x, floc=0.1)[1]", (V,)),
    ("stats.multivariate_normal.logpdf(x, y, z)", (M, V[:3], C)),
    ("stats.multivariate_normal.logpdf(x, y, z)", (M[0], V[:3], C)),
    ("stats.multivariate_normal(y, z).pdf(x)", (M, V[:3], C)),
    ("stats.multivariate_normal(mean=y, cov=z).logpdf(x)", (M.reshape(2, 2, 3), V[:3], C)),
    ("stats.multivariate_normal.logpdf(x, cov=y)", (V, 2.5)),
    ("stats.multivariate_normal.logpdf(x, y, z)", (M, V[:3], V[3:])),
    ("stats.multivariate_normal.pdf(x, None, y)", (M, C)),
    ("stats.multivariate_normal.logpdf(x)", (0.3,)),
    ("stats.multivariate_normal.entropy(x, y)", (V[:3], C)),
    ("stats.multivariate_normal(x, y).entropy()", (V[:3], C)),
    ("stats.dirichlet.logpdf(SIMPLEX, x)", (ALPHA,)),
    ("stats.dirichlet(y).pdf(x)", (SIMPLEX[:, 0], ALPHA)),
    ("stats.dirichlet.logpdf(x, y)", (SIMPLEX, ALPHA)),
    ("stats.dirichlet.entropy(x)", (ALPHA,)),
    ("stats.dirichlet(x).mean()", (ALPHA,)),
    ("stats.dirichlet.var(x)", (ALPHA,)),
    ("stats.pmean(x, 1.7)", (V,)),
    ("stats.pmean(x, -2, axis=1)", (M,)),
    ("stats.pmean(x, 0)", (M,)),
    ("stats.pmean(x, 3, weights=y)", (V, W)),
    ("stats.gstd(x)", (V,)),
    ("stats.gstd(x, axis=1, ddof=0)", (M,)),
    ("stats.gzscore(x, axis=1)", (M,)),
    ("stats.kstat(x)", (V,)),
    ("stats.kstat(x, 1)", (M,)),
    ("stats.kstat(x, 3)", (V,)),
    ("stats.kstat(x, 4, axis=0)", (M,)),
    ("stats.median_abs_deviation(x)", (V[:5],)),
    ("stats.median_abs_deviation(x, axis=1, scale='normal')", (M,)),
    ("stats.circmean(x)", (V,)),
    ("stats.circmean(x, high=4.0, low=-1.0, axis=1)", (M,)),
    ("stats.circvar(x, axis=0)", (M,)),
    ("stats.circstd(x)", (V,)),
    ("stats.circstd(x, high=5.0, axis=1, normalize=True)", (M,)),
    ("stats.energy_distance(x, y)", (V, W[:4])),
    ("stats.f_oneway(x, y, z).statistic", (V, W[:4], V[:3] + 0.4)),
    ("stats.f_oneway(x, y)[1]", (M, N)),
    ("stats.chisquare(x).statistic", (V,)),
    ("stats.chisquare(x, axis=1).pvalue", (M,)),
    ("stats.chisquare(x, y / np.sum(y) * np.sum(x))[0]", (V, W)),
    ("stats.multivariate_t.logpdf(x, y, z, df=3.3)", (M, V[:3], C)),
    ("stats.multivariate_t.pdf(x, None, y, z)", (M, C, 2.7)),
    ("stats.multivariate_t(y, z, 4).logpdf(x)", (M[0], V[:3], C)),
    ("stats.multivariate_t(y, shape=z, df=4.5).pdf(x)", (M.reshape(2, 2, 3), V[:3], C)),
    ("stats.wishart.logpdf(x, y, z)", (C, 4.3, C + np.eye(3))),
    ("stats.wishart.pdf(x, 5, y)", (C, C + np.eye(3))),
    ("stats.invwishart.logpdf(x, y, z)", (C, 4.3, C + np.eye(3))),
    ("stats.invwishart.pdf(x, 5, y)", (C, C + np.eye(3))),
    ("stats.multinomial.logpmf([2, 1, 3], 6, x / np.sum(x))", (np.array([0.2, 0.3, 0.5]),)),
    ("stats.multinomial.pmf([[2, 1, 3], [4, 2, 0]], 6, x / np.sum(x))", (np.array([0.2, 0.3, 0.5]),)),
]
# A result for float32 is of the dtype that SciPy gives. These give a Python number, or always float64.
NOT_IN_FLOAT32 = ("expon.fit", "multivariate_", "dirichlet", "wishart", "multinomial")


# What the installed version gives at the edges: the call, and its samples.
NAN = np.array([1.0, np.nan, 2.0, 0.5])
EDGES: list[tuple[str, tuple[Any, ...]]] = [
    ("stats.multinomial.logpmf([2, 1], 3, x)", (np.array([0.5, 0.4]),)),
    ("stats.multinomial.logpmf([[2, 1], [3, 0]], 3, x)", (np.array([0.5, 0.6], np.float32),)),
    ("stats.rankdata(x)", (NAN,)),
    ("stats.rankdata(x)", (V.astype(np.float32),)),
    ("stats.rankdata(x, 'min')", (V.astype(np.float32),)),
    ("stats.rankdata(x, 'max')", (V.astype(np.float16),)),
    ("stats.rankdata(x, 'max')", (np.zeros(0),)),
    ("stats.spearmanr(x, y).statistic", (V[:4], NAN)),
    ("stats.spearmanr(x, y).pvalue", (NAN, V[:4])),
    ("stats.moment(x, 1)", (np.array([1.0, np.inf]),)),
    ("stats.moment(x, 1)", (NAN,)),
    ("stats.iqr(x)", (np.arange(5, dtype=np.float16),)),
    ("stats.trim_mean(x, 0.3)", (NAN,)),
    ("stats.trim_mean(x, 0.3, axis=1)", (np.stack((NAN, V[:4])),)),
    ("stats.trim_mean(x, 0.3)", (V.astype(np.float32),)),
    *[(f"stats.linregress(x, y)[{k}]", (V[:4], np.ones(4))) for k in range(5)],
    *[(f"stats.linregress(x, y)[{k}]", (np.ones(4), V[:4])) for k in range(5)],
    *[(f"stats.linregress(x, y)[{k}]", (V.astype(np.float32), W)) for k in range(5)],
    *[(f"stats.linregress(x, y)[{k}]", (V, W.astype(np.float32))) for k in range(5)],
]


@pytest.mark.parametrize("text, args", EDGES, ids=lambda a: a if isinstance(a, str) else "")
@pytest.mark.filterwarnings("ignore")
def test_edges(text: str, args: tuple[Any, ...]) -> None:
    f = program(text, ["x", "y"][: len(args)])
    try:
        wanted = f(*args)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)):
            ad.vjp(f, *args)
        return
    got, _ = ad.vjp(f, *args)
    assert np.asarray(got).dtype == np.asarray(wanted).dtype and np.shape(got) == np.shape(wanted)
    np.testing.assert_allclose(got, wanted, rtol=1e-5)


def program(text: str, names: list[str], **more: Any) -> Callable[..., Any]:
    known = {"np": np, "stats": stats, "SIMPLEX": SIMPLEX, **more}
    return ad.from_tree(ast.parse(f"def f({', '.join(names)}):\n return {text}"), known)


@pytest.mark.parametrize("text, args", CALLS, ids=lambda a: a if isinstance(a, str) else "")
def test_derivatives(text: str, args: tuple[Any, ...]) -> None:
    names = ["x", "y", "z"][: len(args)]
    f = program(text, names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = f(*args)
        got, _ = ad.vjp(f, *args)
        assert type(got) is type(wanted)
        np.testing.assert_allclose(got, wanted, rtol=1e-13)
        w = np.random.default_rng(1).normal(size=np.shape(wanted))
        total = program(f"np.sum(w * ({text}))", names, w=w)
        places = tuple(range(len(args)))
        found = ad.grad(total, argnums=places)(*args)
        for k in places:
            np.testing.assert_allclose(found[k], differences(total, *args, argnum=k), rtol=1e-5, atol=1e-6)
        _, tangent = ad.jvp(total, args, tuple(np.ones(np.shape(a)) if np.ndim(a) else 1.0 for a in args))
        np.testing.assert_allclose(tangent, sum(np.sum(g) for g in found), rtol=1e-7, atol=1e-9)
        if not any(name in text for name in NOT_IN_FLOAT32):
            small = tuple(np.float32(a) if np.ndim(a) else a for a in args)
            assert np.asarray(ad.vjp(f, *small)[0]).dtype == np.asarray(f(*small)).dtype


NORMAL = stats.multivariate_normal(V[:3], C)
KDE = stats.gaussian_kde(V)


def test_frozen_outside() -> None:
    def f(x):
        return np.sum(NORMAL.logpdf(x)) + np.sum(NORMAL.pdf(x))

    np.testing.assert_allclose(ad.grad(f)(M), differences(f, M), rtol=1e-5, atol=1e-8)

    def g(x):
        return np.sum(KDE(x) + KDE.logpdf(x) * KDE.pdf(x))

    np.testing.assert_allclose(ad.grad(g)(W), differences(g, W), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("cov", [np.ones((2, 2)), -np.eye(2), np.diag([1.0, 1e-11]), np.eye(3)], ids=str)
def test_a_covariance_that_is_none(cov: Any) -> None:
    def f(x):
        return stats.multivariate_normal.logpdf(x, np.zeros(2), cov)

    with pytest.raises(Exception) as theirs:
        f(np.ones(2))
    with pytest.raises(type(theirs.value)):
        ad.grad(f)(np.ones(2))


def test_points_that_are_none() -> None:
    def f(x):
        return stats.dirichlet.logpdf(x, np.array([1.0, 2.0]))

    for x in (np.array([0.2, 0.7]), np.array([-0.2, 1.2])):
        with pytest.raises(ValueError):
            ad.grad(f)(x)


def test_normal_distribution_that_may_be_singular() -> None:
    S = np.array([[1.5, 0.3], [0.3, 2.0]])
    frozen = stats.multivariate_normal(np.array([0.1, 0.2]), S, allow_singular=True)

    def f(x, a):
        made = stats.multivariate_normal(x, a * S, allow_singular=True).logpdf(np.ones(2))
        return stats.multivariate_normal.logpdf(x, np.zeros(2), a * S, True) + made + frozen.logpdf(a * x)

    x = np.array([0.3, -0.4])
    np.testing.assert_allclose(ad.grad(f)(x, 1.2), differences(f, x, 1.2), rtol=1e-6)
    np.testing.assert_allclose(ad.grad(f, argnums=1)(x, 1.2), differences(f, x, 1.2, argnum=1), rtol=1e-6)


def test_what_is_refused() -> None:
    def singular(x):
        return stats.multivariate_normal.logpdf(x, np.zeros(2), np.ones((2, 2)), allow_singular=True)

    with pytest.raises(UnsupportedError, match="singular covariance"):
        ad.grad(singular)(np.ones(2))

    def omit(x):
        return stats.skew(x, nan_policy="omit")

    with pytest.raises(UnsupportedError, match="nan_policy"):
        ad.grad(omit)(V)

    def without(x):
        return stats.mannwhitneyu(x, x + 1.0)[0]

    with pytest.raises(RuleLookupError, match="mannwhitneyu"):
        ad.grad(without)(V)


def test_results_may_be_unpacked() -> None:
    def f(x, y):
        slope, intercept, r, p, error = stats.linregress(x, y)
        t, q = stats.ttest_ind(x, y)
        return slope + intercept * r + p * error + t * q

    np.testing.assert_allclose(ad.grad(f)(V, W), differences(f, V, W), rtol=1e-5, atol=1e-8)
