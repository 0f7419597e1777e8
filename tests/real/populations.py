"""Epidemiology, ecology and economics."""

import math

import numpy as np
from scipy.integrate import odeint, solve_ivp
from scipy.linalg import solve_discrete_lyapunov
from scipy.optimize import brentq, minimize_scalar


def sir_euler(beta, gamma, I0, days=20, N=1000.0, dt=0.5):
    S, I, R = [N - I0], [I0], [0.0]
    for i in range(int(days / dt)):
        new_inf = beta * S[-1] * I[-1] / N * dt
        new_rec = gamma * I[-1] * dt
        S.append(S[-1] - new_inf)
        I.append(I[-1] + new_inf - new_rec)
        R.append(R[-1] + new_rec)
    return max(I), R[-1]


def deriv(y, t, N, beta, gamma):
    S, I, R = y
    dSdt = -beta * S * I / N
    dIdt = beta * S * I / N - gamma * I
    dRdt = gamma * I
    return dSdt, dIdt, dRdt


def sir_odeint(beta, gamma, I0):
    N, R0 = 1000, 0
    S0 = N - I0 - R0
    t = np.linspace(0, 20, 5)
    ret = odeint(deriv, (S0, I0, R0), t, args=(N, beta, gamma))
    S, I, R = ret.T
    return I


def seir_solve_ivp(beta, sigma, gamma, reduction):
    def rate(t):
        return beta * (1 - reduction) if t > 10 else beta

    def f(t, y):
        S, E, I, R = y
        N = y.sum()
        force = rate(t) * I / N
        return np.array([-force * S, force * S - sigma * E, sigma * E - gamma * I, gamma * I])

    sol = solve_ivp(f, (0, 30), np.array([990.0, 5.0, 5.0, 0.0]), max_step=2.0, rtol=1e-8)
    return sol.y[2, -1]


def sir_loss(params, observed):
    beta, gamma = params
    S, I = 0.99, 0.01
    sse = 0.0
    for obs in observed:
        for _ in range(4):
            inf, rec = beta * S * I * 0.25, gamma * I * 0.25
            S, I = S - inf, I + inf - rec
        sse += (I - obs) ** 2
    return sse


def final_size(R0):
    """Share of a population that is infected in the end."""
    return brentq(lambda z: 1 - z - math.exp(-R0 * z), 1e-6, 1 - 1e-12, xtol=1e-14)


def renewal_reproduction(incidence, mean, sd, tau=2):
    """Cori's estimate with a discretised gamma interval."""
    shape, scale = (mean / sd) ** 2, sd**2 / mean
    s = np.arange(1, len(incidence))
    w = s ** (shape - 1) * np.exp(-s / scale)
    w /= w.sum()
    R = []
    for t in range(tau + 1, len(incidence)):
        num, den = 1.0, 1 / 5.0
        for k in range(t - tau, t + 1):
            num += incidence[k]
            den += np.sum(incidence[:k][::-1] * w[:k])
        R.append(num / den)
    return np.array(R)


def age_structured(contact, beta, gamma, I0, steps=10):
    n = len(I0)
    X = np.zeros((steps + 1, 2, n))
    X[0, 0] = 1 - I0
    X[0, 1] = I0
    for k in range(steps):
        lam = beta * contact @ X[k, 1]
        X[k + 1, 0] = X[k, 0] - lam * X[k, 0]
        X[k + 1, 1] = X[k, 1] + lam * X[k, 0] - gamma * X[k, 1]
    return X[-1]


def lotka_volterra_rk4(alpha, beta, delta, gamma, x0=10.0, y0=5.0, h=0.05, n=10):
    f = lambda s: np.array([alpha * s[0] - beta * s[0] * s[1], delta * s[0] * s[1] - gamma * s[1]])
    traj = np.array([x0, y0])
    state = traj
    for _ in range(n):
        k1 = f(state)
        k2 = f(state + h / 2 * k1)
        k3 = f(state + h / 2 * k2)
        k4 = f(state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        traj = np.vstack((traj, state))
    return traj


def leslie_growth(fecundity, survival, n0, years=5):
    k = len(fecundity)
    L = np.zeros((k, k))
    L[0] = fecundity
    for i in range(k - 1):
        L[i + 1, i] = survival[i]
    n = n0
    totals = []
    for _ in range(years):
        n = L.dot(n)
        totals.append(n.sum())
    return totals, np.abs(np.linalg.eigvals(L)).max()


def ricker_map(r, K, n0, steps):
    n = n0
    while steps:
        n *= math.exp(r * (1 - n / K))
        steps -= 1
    return n


def holling(N, a, h, kind=2):
    if kind == 1:
        return a * N
    if kind == 2:
        return a * N / (1 + a * h * N)
    if kind == 3:
        return a * N**2 / (1 + a * h * N**2)
    raise ValueError("kind is 1, 2 or 3")


def shannon_simpson(counts):
    p = [c / sum(counts) for c in counts if c > 0]
    H = -sum(pi * math.log(pi) for pi in p)
    D = 1 - sum(pi**2 for pi in p)
    return {"shannon": H, "simpson": D, "evenness": H / math.log(len(p))}


def turing_step(U, V, F, k, Du=0.16, Dv=0.08, steps=3):
    """Gray and Scott with periodic borders."""

    def laplacian(Z):
        return np.roll(Z, 1, 0) + np.roll(Z, -1, 0) + np.roll(Z, 1, 1) + np.roll(Z, -1, 1) - 4 * Z

    for _ in range(steps):
        uvv = U * V * V
        U += Du * laplacian(U) - uvv + F * (1 - U)
        V += Dv * laplacian(V) + uvv - (F + k) * V
    return U, V


def solow(s, delta, n, g, alpha=0.33, k0=1.0, T=20):
    k = np.empty(T)
    k[0] = k0
    for t in range(T - 1):
        k[t + 1] = (s * k[t] ** alpha + (1 - delta) * k[t]) / ((1 + n) * (1 + g))
    return k


def solow_convergence(s, delta, alpha, k=1.0, tol=1e-10):
    it = 0
    while True:
        k_new = s * k**alpha + (1 - delta) * k
        it += 1
        if abs(k_new - k) < tol or it > 2000:
            break
        k = k_new
    return k_new


def life_cycle(beta, r, gamma, y, A=6, T=3):
    """Consumption by backward induction on a grid, values interpolated."""

    def u(c):
        return np.log(c) if gamma == 1 else c ** (1 - gamma) / (1 - gamma)

    grid = np.linspace(0.1, 4.0, A)
    V = u((1 + r) * grid + y[-1])
    for t in reversed(range(T - 1)):
        V_new = np.empty(A)
        for i, a in enumerate(grid):
            resources = (1 + r) * a + y[t]
            candidates = []
            for share in (0.1, 0.3, 0.5, 0.7):
                c = (1 - share) * resources
                candidates.append(u(c) + beta * np.interp(share * resources, grid, V))
            V_new[i] = max(candidates)
        V = V_new
    return V


def euler_equation_egm(beta, R, gamma, income, n=5):
    """Endogenous grid points."""
    m = np.linspace(0.5, 5, n)
    c = m.copy()
    a_grid = np.linspace(0.01, 3, n)
    for _ in range(3):
        m_next = R * a_grid + income
        c_next = np.interp(m_next, m, c)
        c_new = (beta * R * c_next**-gamma) ** (-1 / gamma)
        m = np.append(0.0, c_new + a_grid)
        c = np.append(0.0, c_new)
    return m, c


def markov_stationary(P):
    n = P.shape[0]
    A = np.vstack([(P.T - np.eye(n))[:-1], np.ones(n)])
    b = np.zeros(n)
    b[-1] = 1
    return np.linalg.solve(A, b)


def rouwenhorst_variance(rho, sigma, n=3):
    p = (1 + rho) / 2
    Theta = np.array([[p, 1 - p], [1 - p, p]])
    for k in range(3, n + 1):
        z = np.zeros((k - 1, 1))
        z1 = np.zeros((1, k))
        Theta = (
            p * np.vstack((np.hstack((Theta, z)), z1))
            + (1 - p) * np.vstack((np.hstack((z, Theta)), z1))
            + (1 - p) * np.vstack((z1, np.hstack((Theta, z))))
            + p * np.vstack((z1, np.hstack((z, Theta))))
        )
        Theta[1:-1, :] /= 2.0
    width = sigma * np.sqrt((n - 1) / (1 - rho**2))
    x = np.linspace(-width, width, n)
    pi = np.ones(n) / n
    for _ in range(40):
        pi = pi @ Theta
    return pi @ x**2


def var_unconditional(A, Sigma):
    return solve_discrete_lyapunov(A, Sigma)


def gini(incomes):
    x = np.sort(incomes)
    n = x.size
    index = np.arange(1, n + 1)
    return (2 * np.sum(index * x) / (n * x.sum())) - (n + 1) / n


def cournot_equilibrium(a, b, costs, rounds=40):
    q = [0.0] * len(costs)
    for _ in range(rounds):
        for i, c in enumerate(costs):
            others = sum(q) - q[i]
            q[i] = max(0.0, (a - c - b * others) / (2 * b))
    return q


def job_search_reservation(beta, c, w, p):
    V = w / (1 - beta)
    for _ in range(60):
        V = np.maximum(w / (1 - beta), c + beta * np.sum(p * V))
    return (1 - beta) * (c + beta * np.dot(p, V))


def optimal_tax_revenue(elasticity, base):
    tau = minimize_scalar(lambda t: -t * base * (1 - t) ** elasticity, bounds=(0, 0.99), method="bounded").x
    return tau


class CES:
    def __init__(self, A=1.0, alpha=0.3, rho=0.5):
        self.A, self.alpha, self.rho = A, alpha, rho

    def __call__(self, K, L):
        a, r = self.alpha, self.rho
        return self.A * (a * K**r + (1 - a) * L**r) ** (1 / r)

    def marginal_products(self, K, L):
        Y = self(K, L)
        return self.alpha * (Y / K) ** (1 - self.rho), (1 - self.alpha) * (Y / L) ** (1 - self.rho)


def factor_shares(K, L, alpha, rho):
    F = CES(alpha=alpha, rho=rho)
    r, w = F.marginal_products(K, L)
    Y = F(K, L)
    return r * K / Y, w * L / Y


def logit_demand(prices, delta, alpha):
    shares = np.exp(delta - alpha * prices)
    shares = shares / (1 + shares.sum())
    jac = -alpha * (np.diag(shares) - np.outer(shares, shares))
    markup = -np.linalg.solve(jac.T, shares)
    return shares, prices - markup


def blp_contraction(shares, mu, tol=1e-13):
    delta = np.log(shares) - np.log(1 - shares.sum())
    norm = 1.0
    i = 0
    while norm > tol and i < 300:
        e = np.exp(delta[:, None] + mu)
        pred = (e / (1 + e.sum(axis=0))).mean(axis=1)
        new = delta + np.log(shares) - np.log(pred)
        norm = np.max(np.abs(new - delta))
        delta = new
        i += 1
    return delta


_q = np.random.RandomState(9)
CASES = [
    (sir_euler, (0.4, 0.1, 5.0)),
    (sir_odeint, (0.4, 0.1, 5.0), 1e-3),  # odeint's own tolerance of 1.5e-8, divided by the step of the differences
    (seir_solve_ivp, (0.6, 0.3, 0.1, 0.5), 1e-3, 1e-3),  # adaptive steps over a jump, so the value is rough
    (sir_loss, (np.array([0.9, 0.3]), np.array([0.02, 0.04, 0.06]))),
    (final_size, (1.8,)),
    (renewal_reproduction, (np.array([2.0, 3, 5, 8, 12, 15]), 3.0, 1.5)),
    (age_structured, (np.array([[2.0, 0.5], [0.5, 1.0]]), 0.3, 0.2, np.array([0.01, 0.02]))),
    (lotka_volterra_rk4, (1.1, 0.4, 0.1, 0.4)),
    (leslie_growth, (np.array([0.0, 1.5, 1.0]), [0.5, 0.4], np.array([10.0, 5.0, 2.0]))),
    (ricker_map, (1.2, 100.0, 20.0, 5)),
    (holling, (10.0, 0.2, 0.1)),
    (holling, (10.0, 0.2, 0.1, 3)),
    (shannon_simpson, ([10.0, 5.0, 0, 3.0],)),
    (turing_step, (_q.rand(4, 4), _q.rand(4, 4), 0.035, 0.065)),
    (solow, (0.25, 0.05, 0.01, 0.02)),
    (solow_convergence, (0.25, 0.3, 0.33)),
    (life_cycle, (0.95, 0.03, 2.0, np.array([1.0, 1.2, 0.5]))),
    (euler_equation_egm, (0.94, 1.03, 2.0, 1.0)),
    (markov_stationary, (np.array([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]]),)),
    (rouwenhorst_variance, (0.9, 0.1)),
    (var_unconditional, (np.array([[0.5, 0.1], [0.0, 0.7]]), np.array([[1.0, 0.2], [0.2, 0.5]]))),
    (gini, (np.array([3.0, 1.0, 7.0, 2.5]),)),
    (cournot_equilibrium, (10.0, 1.0, [1.0, 2.0, 1.5])),
    (job_search_reservation, (0.95, 1.0, np.array([1.0, 1.5, 2.0]), np.array([0.3, 0.5, 0.2]))),
    (optimal_tax_revenue, (1.5, 2), 1e-3),  # found to 1e-5
    (factor_shares, (3.0, 2.0, 0.35, 0.4)),
    (logit_demand, (np.array([1.0, 1.5]), np.array([2.0, 2.2]), 1.3)),
    (blp_contraction, (np.array([0.2, 0.3]), _q.randn(2, 3) * 0.3)),
]
