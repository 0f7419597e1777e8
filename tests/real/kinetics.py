"""Chemistry, reaction kinetics and pharmacokinetics."""

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.integrate import odeint, solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq, fsolve, root

R_GAS = 8.314


def arrhenius(A, Ea, T):
    return A * math.exp(-Ea / (R_GAS * T))


def euler_abc(k1, k2, c0, dt=0.1, n=20):
    """A -> B -> C by Euler's method; list of states."""
    a, b, c = c0, 0.0, 0.0
    history = []
    for _ in range(n):
        r1 = k1 * a
        r2 = k2 * b
        a, b, c = a - dt * r1, b + dt * (r1 - r2), c + dt * r2
        history.append([a, b, c])
    return np.array(history)


def robertson_rhs(t, y, k1, k2, k3):
    y1, y2, y3 = y
    return [-k1 * y1 + k3 * y2 * y3, k1 * y1 - k3 * y2 * y3 - k2 * y2**2, k2 * y2**2]


def robertson(k1, k2, k3):
    sol = solve_ivp(robertson_rhs, (0, 5), [1.0, 0, 0], args=(k1, k2, k3), method="LSODA", rtol=1e-9, atol=1e-12)
    return sol.y[:, -1]


def batch_reactor_odeint(k, Keq, CA0, t_end):
    def model(y, t):
        CA, CB = y
        r = k * (CA - CB / Keq)
        return [-r, r]

    t = np.linspace(0, t_end, 11)
    C = odeint(model, [CA0, 0.0], t, rtol=1e-10, atol=1e-12)
    conversion = (CA0 - C[:, 0]) / CA0
    return conversion


def cstr_steady_state(tau, k0, Ea, T0, dH, C0=1.0, rhoCp=1000.0):
    """Concentration and temperature of an adiabatic stirred tank."""

    def balances(z):
        C, T = z
        k = k0 * np.exp(-Ea / (R_GAS * T))
        return [C0 - C - tau * k * C, T0 - T + tau * k * C * (-dH) / rhoCp]

    C, T = fsolve(balances, [0.9 * C0, T0], xtol=1e-13)
    return C, T


def pfr_profile(F0, k, V, n=10):
    """Plug flow reactor by Runge and Kutta's method, steps in volume."""
    h = V / n
    F = np.array([F0, 0.0])

    def rate(F):
        ya = F[0] / np.sum(F)
        return np.array([-k * ya**2, 0.5 * k * ya**2])

    out = np.zeros((n + 1, 2))
    out[0] = F
    for i in range(n):
        s1 = rate(F)
        s2 = rate(F + 0.5 * h * s1)
        s3 = rate(F + 0.5 * h * s2)
        s4 = rate(F + h * s3)
        F = F + h / 6 * (s1 + 2 * s2 + 2 * s3 + s4)
        out[i + 1] = F
    return out


def weak_acid_pH(C, Ka, Kw=1e-14):
    """pH of a weak acid by the charge balance."""

    def charge(pH):
        h = 10.0**-pH
        return h - Kw / h - C * Ka / (Ka + h)

    return brentq(charge, 0.0, 14.0, xtol=1e-13)


def titration_curve(volumes, Ca, Va, Cb, Ka):
    pH = []
    for V in volumes:
        lo, hi = 0.0, 14.0
        while hi - lo > 1e-3:
            mid = 0.5 * (lo + hi)
            h = 10**-mid
            balance = h + Cb * V / (Va + V) - 1e-14 / h - Ca * Va / (Va + V) * Ka / (Ka + h)
            if balance > 0:
                lo = mid
            else:
                hi = mid
        p = (lo + hi) / 2
        for _ in range(6):
            h = 10**-p
            F = h + Cb * V / (Va + V) - 1e-14 / h - Ca * Va / (Va + V) * Ka / (Ka + h)
            dF = -math.log(10) * (h + 1e-14 / h + Ca * Va / (Va + V) * Ka * h / (Ka + h) ** 2)
            p = p - F / dF
        pH.append(p)
    return np.array(pH)


def michaelis_menten(S, Vmax, Km, inhibitor=0.0, Ki=None, mode="competitive"):
    if Ki is None:
        return Vmax * S / (Km + S)
    factor = 1 + inhibitor / Ki
    if mode == "competitive":
        return Vmax * S / (Km * factor + S)
    elif mode == "uncompetitive":
        return Vmax * S / (Km + S * factor)
    elif mode == "noncompetitive":
        return Vmax * S / ((Km + S) * factor)
    raise ValueError(f"unknown mode of inhibition: {mode}")


def hill_fit_residual(params, dose, response):
    bottom, top, ec50, slope = params
    predicted = bottom + (top - bottom) / (1.0 + (ec50 / dose) ** slope)
    return np.sum((response - predicted) ** 2)


@dataclass
class Species:
    name: str
    charge: int
    conc: float


def debye_huckel(concs, A=0.509):
    """log10 of the activity coefficients; ionic strength from the species."""
    species = [Species(n, z, c) for (n, z), c in zip([("Na", 1), ("Ca", 2), ("Cl", -1)], concs)]
    I = 0.5 * sum(s.conc * s.charge**2 for s in species)
    return {s.name: -A * s.charge**2 * math.sqrt(I) / (1 + math.sqrt(I)) for s in species}


@dataclass
class Reaction:
    rate_constant: float
    reactants: dict = field(default_factory=dict)
    products: dict = field(default_factory=dict)

    def rate(self, state):
        r = self.rate_constant
        for name, order in self.reactants.items():
            r = r * state[name] ** order
        return r


def mass_action_network(k1, k2, k3, a0, b0, dt=0.05, steps=12):
    reactions = [
        Reaction(k1, {"A": 1, "B": 1}, {"C": 1}),
        Reaction(k2, {"C": 1}, {"A": 1, "B": 1}),
        Reaction(k3, {"C": 1}, {"D": 2}),
    ]
    state = {"A": a0, "B": b0, "C": 0.0, "D": 0.0}
    for _ in range(steps):
        change = dict.fromkeys(state, 0.0)
        for r in reactions:
            v = r.rate(state)
            for name, n in r.reactants.items():
                change[name] -= n * v
            for name, n in r.products.items():
                change[name] += n * v
        state = {name: c + dt * change[name] for name, c in state.items()}
    return state


def first_order_network_expm(K, c0, t):
    return expm(K * t) @ c0


def lennard_jones_energy(positions, epsilon=1.0, sigma=1.0, cutoff=2.5):
    energy = 0.0
    n = len(positions)
    for i in range(n):
        for j in range(i + 1, n):
            d = positions[i] - positions[j]
            r2 = np.dot(d, d)
            if r2 > cutoff**2:
                continue
            s6 = (sigma**2 / r2) ** 3
            energy += 4 * epsilon * (s6**2 - s6)
    return energy


def nernst(E0, n, Q, T=298.15):
    F = 96485.33212
    return E0 - R_GAS * T / (n * F) * math.log(Q)


def butler_volmer_overpotential(j, j0, alpha=0.5, T=298.0):
    f = 96485.0 / (R_GAS * T)
    eta = 0.05
    for _ in range(30):
        res = j0 * (math.exp(alpha * f * eta) - math.exp(-(1 - alpha) * f * eta)) - j
        slope = j0 * f * (alpha * math.exp(alpha * f * eta) + (1 - alpha) * math.exp(-(1 - alpha) * f * eta))
        delta = res / slope
        eta -= delta
        if abs(delta) <= 1e-14:
            break
    return eta


def one_compartment_oral(dose, ka, CL, V, times, F=0.9):
    k = CL / V
    if abs(ka - k) < 1e-8:
        raise ValueError("ka and k coincide")
    return F * dose * ka / (V * (ka - k)) * (np.exp(-k * times) - np.exp(-ka * times))


def multiple_dosing(dose, ka, CL, V, tau, n_doses, t_obs):
    """Superposition of doses."""
    k = CL / V
    conc = 0.0
    for i in range(n_doses):
        t = t_obs - i * tau
        if t <= 0:
            break
        conc += dose * ka / (V * (ka - k)) * (math.exp(-k * t) - math.exp(-ka * t))
    return conc


def two_compartment(dose, CL, V1, Q, V2, t):
    k10, k12, k21 = CL / V1, Q / V1, Q / V2
    s = k10 + k12 + k21
    d = np.sqrt(s**2 - 4 * k10 * k21)
    alpha, beta = (s + d) / 2, (s - d) / 2
    A = (alpha - k21) / (alpha - beta)
    B = (k21 - beta) / (alpha - beta)
    return dose / V1 * (A * np.exp(-alpha * t) + B * np.exp(-beta * t))


def auc_trapezoid(t, c, log_down=True):
    area = 0.0
    for i in range(1, len(t)):
        dt = t[i] - t[i - 1]
        if log_down and c[i] < c[i - 1] and c[i] > 0:
            area += dt * (c[i - 1] - c[i]) / np.log(c[i - 1] / c[i])
        else:
            area += dt * (c[i - 1] + c[i]) / 2
    lam = -np.polyfit(t[-3:], np.log(c[-3:]), 1)[0]
    return area + c[-1] / lam


def phenytoin_mm(Vmax, Km, V, dose_rate, t_end=4.0):
    def dCdt(t, C, Vmax, Km):
        return (dose_rate - Vmax * C / (Km + C)) / V

    sol = solve_ivp(dCdt, [0, t_end], [1.0], args=(Vmax, Km), t_eval=[1.0, 2.0, t_end], rtol=1e-8, atol=1e-10)
    return sol.y[0]


def chemical_equilibrium(K1, K2, n0):
    """Extents of two reactions by scipy.optimize.root."""

    def equations(xi):
        x, y = xi
        a, b, c = n0 - x, x - y, y
        return [b - K1 * a, c - K2 * b]

    sol = root(equations, [0.3, 0.1], tol=1e-13)
    return sol.x


CASES = [
    (arrhenius, (1e7, 5e4, 350.0)),
    (euler_abc, (0.7, 0.3, 1.5)),
    (robertson, (0.04, 3e3, 1e2), 1e-3),  # steps of LSODA move with the arguments
    (batch_reactor_odeint, (0.5, 3.0, 2.0, 4.0), 1e-4),  # adaptive steps
    (cstr_steady_state, (1.2, 3e3, 3e4, 320.0, -5e4)),
    (pfr_profile, (2.0, 1.5, 1.0)),
    (weak_acid_pH, (0.1, 1.8e-5)),
    (titration_curve, (np.array([5.0, 12.0]), 0.1, 20.0, 0.1, 1.8e-5)),
    (michaelis_menten, (3.0, 2.0, 0.7)),
    (michaelis_menten, (3.0, 2.0, 0.7, 1.0, 0.5)),
    (michaelis_menten, (3.0, 2.0, 0.7, 1.0, 0.5, "noncompetitive")),
    (
        hill_fit_residual,
        (np.array([0.1, 1.2, 3.0, 1.4]), np.array([0.3, 1.0, 3.0, 10.0]), np.array([0.1, 0.3, 0.6, 0.9])),
    ),
    (debye_huckel, ([0.01, 0.02, 0.05],)),
    (mass_action_network, (1.0, 0.2, 0.5, 1.0, 0.8)),
    (first_order_network_expm, (np.array([[-1.0, 0.2], [0.5, -0.3]]), np.array([1.0, 0.5]), 0.7)),
    (lennard_jones_energy, (np.random.RandomState(3).uniform(0, 2.4, (4, 3)),)),
    (nernst, (1.1, 2, 0.01)),
    (butler_volmer_overpotential, (0.2, 0.01)),
    (one_compartment_oral, (100.0, 1.2, 3.0, 30.0, np.array([0.5, 1.0, 4.0]))),
    (multiple_dosing, (100.0, 1.2, 3.0, 30.0, 8.0, 5, 20.0)),
    (two_compartment, (100.0, 3.0, 10.0, 2.0, 20.0, np.array([0.5, 2.0, 8.0]))),
    (auc_trapezoid, (np.array([0.0, 1, 2, 4, 8]), np.array([0.5, 3.0, 2.2, 1.1, 0.4]))),
    (phenytoin_mm, (5.0, 4.0, 10.0, 3.0), 1e-4),  # adaptive steps
    (chemical_equilibrium, (1.5, 0.7, 1.0)),
]
