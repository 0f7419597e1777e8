"""Finance: options, bonds, trees, portfolios."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, newton
from scipy.special import ndtr
from scipy.stats import norm

N = norm.cdf
n = norm.pdf


def bs_price(S, K, T, r, sigma, option="call"):
    d1 = (np.log(S / K) + (r + 0.5 * sigma**2) * T) / (sigma * np.sqrt(T))
    d2 = d1 - sigma * np.sqrt(T)
    if option.lower() == "call":
        return S * N(d1) - K * np.exp(-r * T) * N(d2)
    elif option.lower() == "put":
        return K * np.exp(-r * T) * N(-d2) - S * N(-d1)
    else:
        raise ValueError('option must be "call" or "put"')


def norm_cdf(x):
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


def cdf_polynomial(x):
    """The normal distribution by Hastings' polynomial."""
    a = (0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429)
    k = 1.0 / (1.0 + 0.2316419 * abs(x))
    w = 0.0
    for c in reversed(a):
        w = (w + c) * k
    w = 1.0 - math.exp(-x * x / 2) / math.sqrt(2 * math.pi) * w
    return w if x >= 0 else 1.0 - w


def bs_polynomial(S, K, T, r, v):
    d1 = (math.log(S / K) + (r + v * v / 2.0) * T) / (v * math.sqrt(T))
    d2 = d1 - v * math.sqrt(T)
    return S * cdf_polynomial(d1) - K * math.exp(-r * T) * cdf_polynomial(d2)


class Greeks(NamedTuple):
    delta: float
    gamma: float
    vega: float


def greeks(S, K, T, r, sigma):
    sqrt_T = math.sqrt(T)
    d1 = (math.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * sqrt_T)
    return Greeks(norm_cdf(d1), n(d1) / (S * sigma * sqrt_T), S * n(d1) * sqrt_T)


def implied_vol_newton(price, S, K, T, r, sigma=0.3):
    MAX_ITERATIONS = 100
    PRECISION = 1.0e-12
    for i in range(MAX_ITERATIONS):
        value = bs_price(S, K, T, r, sigma)
        d1 = (np.log(S / K) + (r + sigma**2 / 2.0) * T) / (sigma * np.sqrt(T))
        vega = S * norm.pdf(d1) * np.sqrt(T)
        diff = price - value
        if abs(diff) < PRECISION:
            return sigma
        sigma = sigma + diff / vega
    return sigma


def implied_vol_brentq(price, S, K, T, r):
    f = lambda sigma: bs_price(S, K, T, r, sigma) - price
    return brentq(f, 1e-4, 5.0, xtol=1e-14, rtol=1e-14)


def binomial_tree(S0, K, T, r, sigma, steps=12, american=True, kind="put"):
    """Cox, Ross and Rubinstein's tree."""
    dt = T / steps
    u = np.exp(sigma * np.sqrt(dt))
    d = 1 / u
    p = (np.exp(r * dt) - d) / (u - d)
    disc = np.exp(-r * dt)
    sign = 1 if kind == "call" else -1
    S = np.array([S0 * u ** (steps - 2 * i) for i in range(steps + 1)])
    V = np.maximum(sign * (S - K), 0)
    for step in range(steps - 1, -1, -1):
        V = disc * (p * V[:-1] + (1 - p) * V[1:])
        if american:
            S = S[:-1] * d
            V = np.maximum(V, sign * (S - K))
    return V[0]


def tree_nested_lists(S, K, T, r, v, M=4):
    dt = T / M
    u = math.exp(v * math.sqrt(dt))
    d = 1.0 / u
    q = (math.exp(r * dt) - d) / (u - d)
    tree = [[S]]
    for i in range(M):
        level = [node * u for node in tree[-1]]
        level.append(tree[-1][-1] * d)
        tree.append(level)
    values = [max(s - K, 0.0) for s in tree[-1]]
    while len(values) > 1:
        values = [math.exp(-r * dt) * (q * a + (1 - q) * b) for a, b in zip(values, values[1:])]
    return values[0]


def monte_carlo_asian(S0, K, T, r, sigma, paths=20, steps=6, seed=42):
    rng = np.random.default_rng(seed)
    dt = T / steps
    payoffs = np.zeros(paths)
    for i in range(paths):
        S = S0
        total = 0.0
        for _ in range(steps):
            z = rng.standard_normal()
            S *= np.exp((r - 0.5 * sigma**2) * dt + sigma * np.sqrt(dt) * z)
            total += S
        payoffs[i] = max(total / steps - K, 0)
    return np.exp(-r * T) * payoffs.mean()


def heston_path(S0, v0, kappa, theta, xi, rho, Z, r=0.02, dt=0.02):
    prices, variances = [S0], [v0]
    for z1, z2 in Z:
        w = rho * z1 + math.sqrt(1 - rho**2) * z2
        v = max(variances[-1], 0.0)
        prices.append(prices[-1] * math.exp((r - v / 2) * dt + math.sqrt(v * dt) * z1))
        variances.append(v + kappa * (theta - v) * dt + xi * math.sqrt(v * dt) * w)
    return np.array(prices), np.array(variances)


def bond_price(face, coupon, ytm, years, freq=2):
    c = coupon / freq * face
    total = 0
    for t in range(1, int(years * freq) + 1):
        total += c / (1 + ytm / freq) ** t
    return total + face / (1 + ytm / freq) ** (years * freq)


def bond_ytm(price, face, coupon, years, freq=2, guess=0.05):
    periods = [(i + 1) / freq for i in range(int(years * freq))]
    func = lambda y: (
        sum([coupon / freq * face / (1 + y / freq) ** (freq * t) for t in periods])
        + face / (1 + y / freq) ** (freq * years)
        - price
    )
    return newton(func, guess, tol=1e-13)


def macaulay_duration(cashflows, times, y):
    pv = [c * math.exp(-y * t) for c, t in zip(cashflows, times)]
    return sum(t * v for t, v in zip(times, pv)) / sum(pv)


def nelson_siegel(tau, beta0, beta1, beta2, lam):
    x = tau / lam
    slope = (1 - np.exp(-x)) / x
    return beta0 + beta1 * slope + beta2 * (slope - np.exp(-x))


def irr(cashflows, guess=0.1):
    rate = guess
    for _ in range(100):
        npv = sum(cf / (1 + rate) ** i for i, cf in enumerate(cashflows))
        dnpv = sum(-i * cf / (1 + rate) ** (i + 1) for i, cf in enumerate(cashflows))
        step = npv / dnpv
        rate -= step
        if abs(step) < 1e-13:
            break
    else:
        raise ArithmeticError("irr did not converge")
    return rate


def amortization(principal, annual_rate, years):
    rate = annual_rate / 12
    periods = years * 12
    payment = principal * rate * (1 + rate) ** periods / ((1 + rate) ** periods - 1)
    balance = principal
    schedule = []
    for month in range(1, periods + 1):
        interest = balance * rate
        balance -= payment - interest
        schedule.append({"month": month, "interest": interest, "balance": balance})
    return payment, sum(row["interest"] for row in schedule)


def portfolio_stats(weights, returns, rf=0.01):
    weights = weights / np.sum(weights)
    mu = returns.mean(axis=0) * 252
    cov = np.cov(returns, rowvar=False) * 252
    port_ret = np.dot(weights, mu)
    port_vol = np.sqrt(np.dot(weights.T, np.dot(cov, weights)))
    return {"return": port_ret, "volatility": port_vol, "sharpe": (port_ret - rf) / port_vol}


def min_variance_weights(cov):
    ones = np.ones(cov.shape[0])
    inv = np.linalg.inv(cov)
    return inv @ ones / (ones @ inv @ ones)


def risk_contributions(w, cov):
    sigma = np.sqrt(w @ cov @ w)
    rc = w * (cov @ w) / sigma
    target = sigma / len(w)
    return np.sum((rc - target) ** 2)


def max_drawdown(returns):
    wealth = np.cumprod(1 + returns)
    peak = np.maximum.accumulate(wealth)
    return np.min(wealth / peak - 1)


def historical_cvar(returns, alpha=0.8):
    sorted_returns = np.sort(returns)
    index = int((1 - alpha) * len(sorted_returns))
    var = sorted_returns[index]
    return -sorted_returns[: index + 1].mean(), -var


def garch_likelihood(params, eps):
    omega, alpha, beta = params
    sigma2 = np.empty(len(eps))
    sigma2[0] = np.var(eps)
    for t in range(1, len(eps)):
        sigma2[t] = omega + alpha * eps[t - 1] ** 2 + beta * sigma2[t - 1]
    return 0.5 * np.sum(np.log(2 * np.pi) + np.log(sigma2) + eps**2 / sigma2)


def ewma(prices, lam=0.94):
    log_ret = np.diff(np.log(prices))
    var = log_ret[0] ** 2
    for r in log_ret[1:]:
        var = lam * var + (1 - lam) * r**2
    return math.sqrt(var)


@dataclass(frozen=True)
class Vasicek:
    a: float
    b: float
    sigma: float

    def B(self, t):
        return (1 - math.exp(-self.a * t)) / self.a

    def discount(self, r, t):
        B = self.B(t)
        A = math.exp((self.b - self.sigma**2 / (2 * self.a**2)) * (B - t) - self.sigma**2 / (4 * self.a) * B**2)
        return A * math.exp(-B * r)


def vasicek_curve(r, a, b, sigma):
    model = Vasicek(a, b, sigma)
    return [-math.log(model.discount(r, t)) / t for t in (0.5, 1, 2, 5, 10)]


def merton_jump(S, K, T, r, sigma, lam, m, v):
    price = 0.0
    lam2 = lam * math.exp(m + v**2 / 2)
    for k in range(12):
        rk = r - lam * (math.exp(m + v**2 / 2) - 1) + k * (m + v**2 / 2) / T
        sk = math.sqrt(sigma**2 + k * v**2 / T)
        price += math.exp(-lam2 * T) * (lam2 * T) ** k / math.factorial(k) * bs_price(S, K, T, rk, sk)
    return price


def sabr_vol(F, K, T, alpha, beta, rho, nu):
    """Hagan's formula away from the money."""
    logFK = np.log(F / K)
    FKb = (F * K) ** ((1 - beta) / 2)
    z = nu / alpha * FKb * logFK
    x = np.log((np.sqrt(1 - 2 * rho * z + z**2) + z - rho) / (1 - rho))
    a = (1 - beta) ** 2 / 24 * logFK**2
    b = (1 - beta) ** 4 / 1920 * logFK**4
    c = (1 - beta) ** 2 / 24 * alpha**2 / FKb**2 + rho * beta * nu * alpha / (4 * FKb)
    c += (2 - 3 * rho**2) / 24 * nu**2
    return alpha / (FKb * (1 + a + b)) * z / x * (1 + c * T)


def spread_kirk(S1, S2, K, T, r, s1, s2, rho):
    F2 = S2 / (S2 + K)
    sigma = np.sqrt(s1**2 - 2 * rho * s1 * s2 * F2 + s2**2 * F2**2)
    d1 = (np.log(S1 / (S2 + K)) + 0.5 * sigma**2 * T) / (sigma * np.sqrt(T))
    d2 = d1 - sigma * np.sqrt(T)
    return np.exp(-r * T) * (S1 * ndtr(d1) - (S2 + K) * ndtr(d2))


_PORT = np.random.RandomState(7).normal(0.001, 0.02, (12, 3))
CASES = [
    (bs_price, (100.0, 95.0, 0.75, 0.03, 0.25)),
    (bs_price, (np.array([90.0, 100.0, 110.0]), 95.0, 0.75, 0.03, 0.25, "PUT")),
    (bs_polynomial, (100.0, 105.0, 0.75, 0.03, 0.25)),
    (greeks, (100.0, 95.0, 0.75, 0.03, 0.25)),
    (implied_vol_newton, (12.0, 100.0, 95.0, 0.75, 0.03)),
    (implied_vol_brentq, (12.0, 100.0, 95.0, 0.75, 0.03)),
    (binomial_tree, (100.0, 104.0, 1.0, 0.05, 0.3)),
    (binomial_tree, (100.0, 104.0, 1.0, 0.05, 0.3, 7, False, "call")),
    (tree_nested_lists, (100.0, 97.0, 1.0, 0.05, 0.3)),
    (monte_carlo_asian, (100.0, 97.0, 1.0, 0.05, 0.3)),
    (heston_path, (100.0, 0.04, 1.5, 0.05, 0.4, -0.6, np.random.RandomState(1).randn(5, 2))),
    (bond_price, (1000.0, 0.05, 0.04, 3)),
    (bond_ytm, (98.0, 100.0, 0.05, 3)),
    (macaulay_duration, ([5.0, 5.0, 105.0], [1.0, 2.0, 3.0], 0.03)),
    (nelson_siegel, (np.array([0.5, 2.0, 10.0]), 0.04, -0.02, 0.01, 1.8)),
    (irr, ([-100.0, 30.0, 40.0, 50.0, 10.0],)),
    (amortization, (2000.0, 0.06, 1)),
    (portfolio_stats, (np.array([0.3, 0.4, 0.5]), _PORT)),
    (min_variance_weights, (np.cov(_PORT, rowvar=False) * 252,)),
    (risk_contributions, (np.array([0.2, 0.3, 0.5]), np.cov(_PORT, rowvar=False) * 252)),
    (max_drawdown, (_PORT[:, 0].copy(),)),
    (historical_cvar, (_PORT[:, 1].copy(),)),
    (garch_likelihood, (np.array([1e-5, 0.1, 0.85]), _PORT[:, 0].copy())),
    (ewma, (np.array([100.0, 101.5, 99.0, 102.0, 103.0]),)),
    (vasicek_curve, (0.03, 0.5, 0.04, 0.02)),
    (merton_jump, (100.0, 95.0, 0.75, 0.03, 0.25, 0.5, -0.1, 0.2)),
    (sabr_vol, (0.05, 0.06, 2.0, 0.04, 0.6, -0.3, 0.4)),
    (spread_kirk, (110.0, 100.0, 5.0, 1.0, 0.03, 0.3, 0.2, 0.5)),
]
