"""Statistics, likelihoods, Gaussian processes and Bayesian models."""

import math

import numpy as np
import scipy.stats as st
from scipy import linalg, special
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.special import gammaln, logsumexp


def normal_loglik(theta, data):
    mu, log_sigma = theta
    sigma = np.exp(log_sigma)
    return np.sum(st.norm.logpdf(data, loc=mu, scale=sigma))


def student_t_regression(beta, log_scale, X, y, nu=4.0):
    resid = y - X @ beta
    return st.t.logpdf(resid, df=nu, scale=np.exp(log_scale)).sum()


def gamma_mle_score(data):
    """Shape of the gamma distribution by Minka's iteration."""
    s = np.log(np.mean(data)) - np.mean(np.log(data))
    k = (3 - s + np.sqrt((s - 3) ** 2 + 24 * s)) / (12 * s)
    for _ in range(20):
        step = (np.log(k) - special.digamma(k) - s) / (1 / k - special.polygamma(1, k))
        k -= step
        if abs(step) < 1e-13:
            break
    return k, np.mean(data) / k


def em_gaussian_mixture(x, mu, sigma, weights, n_iter=3):
    k = len(mu)
    loglik = []
    for it in range(n_iter):
        resp = np.zeros((len(x), k))
        for j in range(k):
            resp[:, j] = weights[j] * np.exp(-0.5 * ((x - mu[j]) / sigma[j]) ** 2) / (sigma[j] * np.sqrt(2 * np.pi))
        total = resp.sum(axis=1, keepdims=True)
        loglik.append(np.log(total).sum())
        resp /= total
        Nk = resp.sum(axis=0)
        mu = (resp * x[:, None]).sum(axis=0) / Nk
        sigma = np.sqrt((resp * (x[:, None] - mu) ** 2).sum(axis=0) / Nk)
        weights = Nk / len(x)
    return loglik, mu, sigma


class GaussianMixture:
    def __init__(self, means, covs, pi):
        self.means, self.covs, self.pi = means, covs, pi

    def _log_prob(self, X):
        out = []
        for m, C in zip(self.means, self.covs):
            L = np.linalg.cholesky(C)
            z = solve_triangular(L, (X - m).T, lower=True)
            out.append(-0.5 * np.sum(z**2, axis=0) - np.sum(np.log(np.diag(L))) - 0.5 * len(m) * np.log(2 * np.pi))
        return np.array(out).T

    def score(self, X):
        return logsumexp(self._log_prob(X) + np.log(self.pi), axis=1).mean()


def mixture_score(X, means, covs, pi):
    return GaussianMixture(means, covs, pi).score(X)


def gaussian_kde_manual(x, grid, bandwidth="scott"):
    n = len(x)
    if bandwidth == "scott":
        h = x.std(ddof=1) * n ** (-1 / 5)
    elif bandwidth == "silverman":
        iqr = np.subtract(*np.percentile(x, [75, 25]))
        h = 0.9 * min(x.std(ddof=1), iqr / 1.349) * n**-0.2
    else:
        h = float(bandwidth)
    out = np.zeros_like(grid)
    for i, g in enumerate(grid):
        out[i] = np.mean(np.exp(-0.5 * ((g - x) / h) ** 2)) / (h * math.sqrt(2 * math.pi))
    return out


def kde_scipy(x, points):
    return st.gaussian_kde(x)(points)


def ols_summary(X, y):
    X = np.column_stack([np.ones(len(y)), X])
    XtX_inv = np.linalg.inv(X.T @ X)
    beta = XtX_inv @ X.T @ y
    resid = y - X.dot(beta)
    dof = X.shape[0] - X.shape[1]
    s2 = resid @ resid / dof
    se = np.sqrt(np.diag(XtX_inv) * s2)
    t = beta / se
    p = 2 * st.t.sf(np.abs(t), dof)
    r2 = 1 - np.sum(resid**2) / np.sum((y - y.mean()) ** 2)
    return {"params": beta, "bse": se, "pvalues": p, "rsquared": r2}


def irls_logistic(X, y, n_iter=6, ridge=1e-2):
    beta = np.zeros(X.shape[1])
    for _ in range(n_iter):
        p = 1 / (1 + np.exp(-X @ beta))
        W = np.diag(p * (1 - p))
        H = X.T @ W @ X + ridge * np.eye(X.shape[1])
        beta = beta + np.linalg.solve(H, X.T @ (y - p) - ridge * beta)
    return beta


def huber_irls(x, y, k=1.345, iterations=10):
    """Robust straight line."""
    A = np.vstack([x, np.ones(len(x))]).T
    coef = np.linalg.lstsq(A, y, rcond=None)[0]
    for _ in range(iterations):
        r = y - A @ coef
        s = np.median(np.abs(r)) / 0.6745
        u = np.abs(r) / s
        w = np.where(u <= k, 1.0, k / np.maximum(u, 1e-12))
        sw = np.sqrt(w)
        coef = np.linalg.lstsq(A * sw[:, None], y * sw, rcond=None)[0]
    return coef


def poisson_deviance(y, mu):
    dev = np.zeros_like(mu)
    mask = y > 0
    dev[mask] = y[mask] * np.log(y[mask] / mu[mask])
    return 2 * np.sum(dev - (y - mu))


def negative_binomial_nll(params, counts):
    r, p = np.exp(params[0]), special.expit(params[1])
    ll = gammaln(counts + r) - gammaln(r) - gammaln(counts + 1) + r * np.log(p) + counts * np.log1p(-p)
    return -ll.sum()


def cox_partial_likelihood(beta, X, times, events):
    order = np.argsort(-times)
    X = X[order]
    eta = X @ beta
    loglik = 0.0
    risk = 0.0
    for i in range(len(order)):
        risk += np.exp(eta[i])
        if events[order[i]]:
            loglik += eta[i] - np.log(risk)
    return loglik


def rbf_kernel(a, b, lengthscale=1.0, variance=1.0):
    sq = np.sum(a**2, 1)[:, None] + np.sum(b**2, 1) - 2 * a @ b.T
    return variance * np.exp(-0.5 / lengthscale**2 * sq)


def matern_kernel(a, b, ell, nu=1.5):
    d = cdist(a, b) / ell
    if nu == 0.5:
        return np.exp(-d)
    elif nu == 1.5:
        return (1 + np.sqrt(3) * d) * np.exp(-np.sqrt(3) * d)
    elif nu == 2.5:
        return (1 + np.sqrt(5) * d + 5 / 3 * d**2) * np.exp(-np.sqrt(5) * d)
    raise ValueError(nu)


def gp_posterior(X, y, Xs, lengthscale, variance, noise):
    K = rbf_kernel(X, X, lengthscale, variance) + noise**2 * np.eye(len(X))
    L = cholesky(K, lower=True)
    alpha = solve_triangular(L.T, solve_triangular(L, y, lower=True))
    Ks = rbf_kernel(X, Xs, lengthscale, variance)
    v = solve_triangular(L, Ks, lower=True)
    mean = Ks.T @ alpha
    var = variance - np.sum(v**2, axis=0)
    return mean, np.sqrt(var)


def gp_marginal_likelihood(theta, X, y):
    ell, sf, sn = np.exp(theta)
    K = sf**2 * matern_kernel(X, X, ell, nu=2.5) + sn**2 * np.eye(len(X))
    try:
        c, low = cho_factor(K, lower=True)
    except linalg.LinAlgError:
        return np.inf
    alpha = cho_solve((c, low), y)
    return 0.5 * y @ alpha + np.log(np.diag(c)).sum() + 0.5 * len(y) * np.log(2 * np.pi)


def expected_improvement(mu, sigma, best, xi=0.01):
    with np.errstate(divide="warn"):
        imp = mu - best - xi
        Z = imp / sigma
        ei = imp * st.norm.cdf(Z) + sigma * st.norm.pdf(Z)
        ei[sigma == 0.0] = 0.0
    return ei


def bayes_linear_evidence(Phi, t, alpha, beta):
    N, M = Phi.shape
    A = alpha * np.eye(M) + beta * Phi.T.dot(Phi)
    m = beta * np.linalg.solve(A, Phi.T.dot(t))
    E = beta / 2 * np.sum((t - Phi.dot(m)) ** 2) + alpha / 2 * m.dot(m)
    sign, logdet = np.linalg.slogdet(A)
    return 0.5 * (M * np.log(alpha) + N * np.log(beta) - logdet - N * np.log(2 * np.pi)) - E


def dirichlet_multinomial(counts, alpha):
    n, A = counts.sum(), alpha.sum()
    return gammaln(A) - gammaln(n + A) + np.sum(gammaln(counts + alpha) - gammaln(alpha))


def hmm_forward(obs, pi, A, mu, sigma):
    """Log likelihood of a hidden Markov model, with scaling."""
    T = len(obs)
    b = lambda x: np.exp(-0.5 * ((x - mu) / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi))
    alpha = pi * b(obs[0])
    ll = 0.0
    for t in range(T):
        if t > 0:
            alpha = alpha.dot(A) * b(obs[t])
        c = alpha.sum()
        alpha = alpha / c
        ll += np.log(c)
    return ll


def leapfrog(q, p, step, n, prec):
    grad = lambda q: prec @ q
    q, p = q.copy(), p.copy()
    p -= 0.5 * step * grad(q)
    for i in range(n):
        q += step * p
        if i != n - 1:
            p -= step * grad(q)
    p -= 0.5 * step * grad(q)
    H = 0.5 * p @ p + 0.5 * q @ prec @ q
    return q, -p, H


def hierarchical_logpost(theta, mu, log_tau, y, sigma):
    """Eight schools."""
    tau = np.exp(log_tau)
    lp = st.norm(0, 5).logpdf(mu) + st.halfcauchy.logpdf(tau, scale=5) + log_tau
    lp += st.norm.logpdf(theta, mu, tau).sum()
    for yj, tj, sj in zip(y, theta, sigma):
        lp += st.norm.logpdf(yj, tj, sj)
    return lp


def kl_mvn(m0, S0, m1, S1):
    d = m1 - m0
    iS1 = np.linalg.inv(S1)
    return 0.5 * (np.trace(iS1 @ S0) + d @ iS1 @ d - len(m0) + np.log(np.linalg.det(S1)) - np.log(np.linalg.det(S0)))


def mmd(X, Y, gamma):
    n, m = len(X), len(Y)
    k = lambda a, b: np.exp(-gamma * cdist(a, b, "sqeuclidean"))
    Kxx, Kyy, Kxy = k(X, X), k(Y, Y), k(X, Y)
    return (Kxx.sum() - np.trace(Kxx)) / (n * (n - 1)) + (Kyy.sum() - np.trace(Kyy)) / (m * (m - 1)) - 2 * Kxy.mean()


def distance_correlation(x, y):
    def centred(v):
        D = squareform(pdist(v[:, None]))
        return D - D.mean(0)[None, :] - D.mean(1)[:, None] + D.mean()

    A, B = centred(x), centred(y)
    dcov2 = (A * B).mean()
    return np.sqrt(dcov2) / np.sqrt(np.sqrt((A * A).mean() * (B * B).mean()))


def welch_t(a, b):
    va, vb = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
    t = (a.mean() - b.mean()) / math.sqrt(va + vb)
    df = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
    return t, 2 * st.t.cdf(-abs(t), df)


def autocorrelation(x, nlags=3):
    x = x - x.mean()
    c0 = np.dot(x, x) / len(x)
    return np.array([1.0] + [np.dot(x[:-k], x[k:]) / len(x) / c0 for k in range(1, nlags + 1)])


def partial_autocorrelation(x, nlags=3):
    """Durbin and Levinson's recursion."""
    r = autocorrelation(x, nlags)
    phi = np.zeros((nlags + 1, nlags + 1))
    pacf = [1.0]
    for k in range(1, nlags + 1):
        num = r[k] - sum(phi[k - 1, j] * r[k - j] for j in range(1, k))
        den = 1 - sum(phi[k - 1, j] * r[j] for j in range(1, k))
        phi[k, k] = num / den
        for j in range(1, k):
            phi[k, j] = phi[k - 1, j] - phi[k, k] * phi[k - 1, k - j]
        pacf.append(phi[k, k])
    return pacf


def arma_css(params, y, p=1, q=1):
    phi, theta, c = params[:p], params[p : p + q], params[-1]
    eps = np.zeros(len(y))
    for t in range(max(p, q), len(y)):
        ar = c
        for i in range(p):
            ar += phi[i] * y[t - i - 1]
        for j in range(q):
            ar += theta[j] * eps[t - j - 1]
        eps[t] = y[t] - ar
    sigma2 = np.mean(eps[max(p, q) :] ** 2)
    return 0.5 * len(y) * np.log(sigma2)


def holt_winters(y, alpha, beta, gamma, period=3):
    level = np.mean(y[:period])
    trend = (np.mean(y[period : 2 * period]) - level) / period
    season = [y[i] - level for i in range(period)]
    sse = 0.0
    for t in range(period, len(y)):
        s = season[t % period]
        err = y[t] - (level + trend + s)
        sse += err**2
        new_level = alpha * (y[t] - s) + (1 - alpha) * (level + trend)
        trend = beta * (new_level - level) + (1 - beta) * trend
        season[t % period] = gamma * (y[t] - new_level) + (1 - gamma) * s
        level = new_level
    return sse


def bootstrap_means(x, n_boot=8, seed=0):
    rng = np.random.RandomState(seed)
    means = []
    for b in range(n_boot):
        idx = rng.randint(0, len(x), len(x))
        means.append(x[idx].mean())
    return np.percentile(means, [2.5, 50, 97.5])


def fit_beta_by_moments(x):
    m, v = np.mean(x), np.var(x)
    common = m * (1 - m) / v - 1
    a, b = m * common, (1 - m) * common
    return a, b, st.beta(a, b).cdf(0.5)


def mle_by_minimize(data):
    res = minimize(lambda th: np.sum((data - th[0]) ** 2) + np.exp(th[0]), x0=np.array([0.0]), method="BFGS", tol=1e-10)
    return res.x[0]


_rng = np.random.RandomState(11)
_X, _y, _x = _rng.randn(8, 2), _rng.randn(8), _rng.gamma(2.0, 1.0, 7)
_SPD = np.array([[1.2, 0.3], [0.3, 0.8]])
CASES = [
    (normal_loglik, (np.array([0.3, -0.2]), _y)),
    (student_t_regression, (np.array([0.3, -0.2]), 0.1, _X, _y)),
    (gamma_mle_score, (_x,)),
    (em_gaussian_mixture, (_y, np.array([-0.5, 0.8]), np.array([0.7, 0.6]), np.array([0.4, 0.6]))),
    (mixture_score, (_X, [np.zeros(2), np.ones(2)], [_SPD, np.eye(2)], np.array([0.3, 0.7])), 1e-4),
    (gaussian_kde_manual, (_x, np.array([0.5, 1.5, 3.0]))),
    (gaussian_kde_manual, (_x, np.array([0.5, 1.5, 3.0]), "silverman")),
    (kde_scipy, (_x, np.array([0.5, 1.5, 3.0]))),
    (ols_summary, (_X, _y)),
    (irls_logistic, (_X, (_y > 0).astype(float))),
    (huber_irls, (_X[:, 0].copy(), _y)),
    (poisson_deviance, (np.array([2, 0, 5]), np.array([1.5, 0.4, 6.0]))),
    (negative_binomial_nll, (np.array([0.5, 0.2]), np.array([0, 3, 2, 7]))),
    (cox_partial_likelihood, (np.array([0.4, -0.3]), _X, _x.repeat(2)[:8] + np.arange(8) * 0.01, [1, 0, 1, 1] * 2)),
    (gp_posterior, (_X[:5], _y[:5], _X[5:], 0.8, 1.3, 0.2)),
    (gp_marginal_likelihood, (np.array([0.1, 0.2, -1.0]), _X, _y)),
    (expected_improvement, (np.array([0.4, 0.9]), np.array([0.3, 0.2]), 0.7)),
    (bayes_linear_evidence, (_X, _y, 0.5, 2.0)),
    (dirichlet_multinomial, (np.array([3, 1, 4]), np.array([0.5, 1.5, 2.0]))),
    (
        hmm_forward,
        (_y, np.array([0.6, 0.4]), np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([-0.5, 0.7]), np.array([0.5, 0.9])),
    ),
    (leapfrog, (np.array([1.0, -0.5]), np.array([0.2, 0.4]), 0.1, 4, _SPD)),
    (hierarchical_logpost, (_y, 0.3, 0.5, _y + 0.4, np.abs(_y) + 0.5)),
    (kl_mvn, (np.zeros(2), _SPD, np.array([0.4, -0.2]), np.array([[0.9, -0.2], [-0.2, 1.1]]))),
    (mmd, (_X[:4], _X[4:], 0.7)),
    (distance_correlation, (_X[:, 0].copy(), _y)),
    (welch_t, (_x, _y)),
    (autocorrelation, (_y,)),
    (partial_autocorrelation, (_y,)),
    (arma_css, (np.array([0.5, 0.3, 0.1]), _y)),
    (holt_winters, (_x.repeat(2)[:9] + np.arange(9) * 0.1, 0.4, 0.2, 0.3)),
    (bootstrap_means, (_y,)),
    (fit_beta_by_moments, (np.array([0.2, 0.5, 0.7, 0.35, 0.6]),)),
    # BFGS takes differences itself, so its minimum is known to 1e-8: longer steps here
    (mle_by_minimize, (np.array([0.5, -1.2, 0.8, 2.0]),), 1e-4, 1e-2),
]
