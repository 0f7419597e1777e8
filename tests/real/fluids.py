"""Fluid mechanics and pipe flow."""

import math
from collections import namedtuple
from dataclasses import dataclass
from math import exp, log, log10, pi, sqrt

import numpy as np
from scipy.optimize import brentq, fsolve, newton

g = 9.80665
INCH = 0.0254


def reynolds(V, D, rho=None, mu=None, nu=None):
    """Reynolds number [-] of a flow with velocity V [m/s] in a pipe of diameter D [m]."""
    if rho and mu:
        nu = mu / rho
    elif not nu:
        raise ValueError("Either density and viscosity, or dynamic viscosity, are needed")
    return V * D / nu


def friction_laminar(Re):
    return 64.0 / Re


def haaland(Re, eD):
    return (-1.8 * log10((eD / 3.7) ** 1.11 + 6.9 / Re)) ** -2


def swamee_jain(Re, eD):
    return 0.25 / log10(eD / 3.7 + 5.74 / Re**0.9) ** 2


def churchill_1977(Re, eD):
    """All regimes in one equation; piecewise-free."""
    A = (2.457 * log(1.0 / ((7.0 / Re) ** 0.9 + 0.27 * eD))) ** 16
    B = (37530.0 / Re) ** 16
    return 8.0 * ((8.0 / Re) ** 12 + 1.0 / (A + B) ** 1.5) ** (1.0 / 12.0)


friction_methods = {
    "Haaland": haaland,
    "Swamee-Jain": swamee_jain,
    "Churchill": churchill_1977,
}


def colebrook_iterated(Re, eD, tol=1e-12, maxiter=60):
    """Friction factor of Colebrook's equation by successive substitution."""
    if Re < 2300:
        return friction_laminar(Re)
    f = 0.02
    for i in range(maxiter):
        f_new = (-2.0 * log10(eD / 3.7 + 2.51 / (Re * sqrt(f)))) ** -2
        if abs(f_new - f) < tol:
            f = f_new
            break
        f = f_new
    else:
        raise RuntimeError(f"no convergence after {maxiter} iterations, Re={Re}")
    return f


def colebrook_fsolve(Re, eD):
    def residual(x):
        return 1 / np.sqrt(x) + 2 * np.log10(eD / 3.7 + 2.51 / (Re * np.sqrt(x)))

    (f,) = fsolve(residual, 0.02, xtol=1e-13)
    return f


def friction_factor(Re, eD=0.0, Method="Clamond"):
    if Re < 2040:
        return friction_laminar(Re)
    if Method in friction_methods:
        return friction_methods[Method](Re, eD)
    elif Method == "Clamond":
        X1 = eD * Re * 0.1239681863354175460160858261654858382699
        X2 = log(Re) - 0.7793974884556819406441139701653776731705
        F = X2 - 0.2
        for _ in range(2):
            E = (log(X1 + F) + F - X2) / (1.0 + X1 + F)
            F = F - (1.0 + X1 + F + 0.5 * E) * E * (X1 + F) / (1.0 + X1 + F + E * (1.0 + E / 3.0))
        F = 1.151292546497022842008995727342182103801 / F
        return F * F
    else:
        raise ValueError("Method %s not recognised" % Method)


def one_phase_dP(m, rho, mu, D, roughness=0.0, L=1.0, Method="Haaland"):
    """Pressure drop [Pa] of a flow of m [kg/s]."""
    D2 = D * D
    V = m / (pi / 4 * D2 * rho)
    Re = reynolds(V=V, D=D, rho=rho, mu=mu)
    fd = friction_factor(Re, eD=roughness / D, Method=Method)
    dP = fd * L / D * (0.5 * rho * V * V)
    return dP


FlowState = namedtuple("FlowState", ["Q", "h_f", "regime"])


def pipe_flow_rate(h_f, L, D, eps, nu):
    """Type II problem: the flow Q [m3/s] at a given head loss, without iteration."""
    slope = h_f / L
    V = -2 * np.sqrt(2 * g * D * slope) * np.log10(eps / (3.7 * D) + 2.51 * nu / (D * np.sqrt(2 * g * D * slope)))
    Q = V * np.pi * D**2 / 4
    regime = "turbulent" if V * D / nu > 4000 else "laminar"
    return FlowState(Q, h_f, regime)


@dataclass
class Pump:
    """Head curve H = h0 - k Q^n [m]."""

    h0: float
    k: float
    n: float = 2.0

    def head(self, Q):
        return self.h0 - self.k * Q**self.n

    def power(self, Q, rho=998.0, eta=0.7):
        if not 0 < eta <= 1:
            raise ValueError(f"efficiency must be in (0, 1], got {eta}")
        return rho * g * Q * self.head(Q) / eta


def operating_point(h0, k, static, resistance, Q=0.01):
    """Where pump and system curves meet, by Newton's method."""
    pump = Pump(h0=h0, k=k)
    error = 1.0
    it = 0
    while error > 1e-12 and it < 50:
        F = pump.head(Q) - (static + resistance * Q**2)
        dF = -2 * pump.k * Q - 2 * resistance * Q
        Q_new = Q - F / dF
        error = abs(Q_new - Q)
        Q = Q_new
        it += 1
    return {"Q": Q, "H": pump.head(Q), "P": pump.power(Q), "iterations": it}


def series_pipes(Q, diameters, lengths, eps):
    """Total head loss of pipes in series."""
    total = 0.0
    profile = [0.0]
    for D, L in zip(diameters, lengths):
        A = np.pi * D**2 / 4
        V = Q / A
        Re = V * D / 1.004e-6
        f = haaland(Re, eps / D)
        total += f * L / D * V**2 / (2 * g)
        profile.append(total)
    return np.array(profile)


def hardy_cross(Q, R, n=2.0, tol=1e-10):
    """Flows in a single loop, corrected until the loop balances."""
    Q = np.asarray(Q).copy()
    dQ = 1.0
    while abs(dQ) > tol:
        num = np.sum(R * Q * np.abs(Q) ** (n - 1))
        den = np.sum(n * R * np.abs(Q) ** (n - 1))
        dQ = -num / den
        Q += dQ
    return Q


def lockhart_martinelli(m, x, rhol, rhog, mul, mug, D, L=1):
    """Two phase pressure drop by the C factor of Chisholm."""
    v_ls = m * (1 - x) / rhol / (pi / 4 * D**2)
    Re_ls = rhol * v_ls * D / mul
    v_gs = m * x / rhog / (pi / 4 * D**2)
    Re_gs = rhog * v_gs * D / mug

    def fd(Re):
        return 64.0 / Re if Re < 2000 else 0.184 * Re**-0.2

    dP_ls = fd(Re_ls) * L / D * (0.5 * rhol * v_ls**2)
    dP_gs = fd(Re_gs) * L / D * (0.5 * rhog * v_gs**2)
    if Re_ls < 2000 and Re_gs < 2000:
        C = 5.0
    elif Re_ls < 2000 and Re_gs >= 2000:
        C = 12.0
    elif Re_ls >= 2000 and Re_gs < 2000:
        C = 10.0
    else:
        C = 20.0
    X = sqrt(dP_ls / dP_gs)
    phi_l2 = 1 + C / X + 1.0 / X**2
    return dP_ls * phi_l2


def void_fraction(x, rhol, rhog, model="homogeneous"):
    ratio = (1.0 - x) / x
    slip = {
        "homogeneous": lambda: 1.0,
        "Zivi": lambda: (rhol / rhog) ** (1 / 3.0),
        "Chisholm": lambda: math.sqrt(1 - x * (1 - rhol / rhog)),
    }[model]()
    return 1.0 / (1.0 + slip * ratio * rhog / rhol)


def control_valve_Kv(Q, dP, rho, rho0=999.10329075702327):
    """Kv value [m3/h] of a valve, Q in m3/s and pressures in Pa."""
    Q_h = Q * 3600.0
    dP_bar = dP / 1e5
    return Q_h * math.sqrt(rho / rho0 / dP_bar)


def orifice_flow(D, Do, P1, P2, rho, C=None):
    if P2 >= P1:
        raise ValueError("P2 has to be below P1, not %g" % P2)
    beta = Do / D
    if C is None:
        C = 0.5961 + 0.0261 * beta**2 - 0.216 * beta**8
    E = 1.0 / math.sqrt(1.0 - beta**4)
    return C * E * math.pi / 4.0 * Do**2 * math.sqrt(2.0 * rho * (P1 - P2))


def terminal_velocity(d, rho_p, rho, mu):
    """Settling velocity by a drag law that depends on the velocity itself."""
    v = g * (rho_p - rho) * d**2 / (18.0 * mu)
    for _ in range(200):
        Re = rho * v * d / mu
        if Re < 0.1:
            Cd = 24.0 / Re
        elif Re < 1000.0:
            Cd = 24.0 / Re * (1 + 0.15 * Re**0.687)
        else:
            Cd = 0.44
        v_old = v
        v = 0.5 * v + 0.5 * sqrt(4.0 / 3.0 * d * g / Cd * (rho_p / rho - 1.0))
        if abs(v - v_old) < 1e-14:
            break
    return v


def ergun(vs, dp, voidage, rho, mu, H=1.0):
    Re = dp * rho * vs / mu
    fp = 150 * (1 - voidage) / Re + 1.75
    return fp * rho * vs**2 * H / dp * (1 - voidage) / voidage**3


def isentropic_mach(area_ratio, gamma=1.4, supersonic=True):
    """Mach number from A/A* by bracketing."""

    def f(M):
        t = 2.0 / (gamma + 1.0) * (1.0 + 0.5 * (gamma - 1.0) * M * M)
        return t ** ((gamma + 1) / (2 * (gamma - 1))) / M - area_ratio

    lo, hi = (1.0 + 1e-9, 20.0) if supersonic else (1e-6, 1.0 - 1e-9)
    return brentq(f, lo, hi, xtol=1e-14, rtol=1e-14)


def normal_shock(M1, gamma=1.4):
    """Ratios over a normal shock: M2, p2/p1, rho2/rho1, T2/T1."""
    assert M1 > 1, "supersonic upstream flow is needed"
    gm, gp = gamma - 1.0, gamma + 1.0
    M2 = np.sqrt((1 + 0.5 * gm * M1**2) / (gamma * M1**2 - 0.5 * gm))
    p = 1 + 2 * gamma / gp * (M1**2 - 1)
    r = gp * M1**2 / (gm * M1**2 + 2)
    return M2, p, r, p / r


def cubic_viscosity_table(T, unit="C"):
    """Viscosity of water [Pa s] from a table."""
    if unit == "K":
        T = T - 273.15
    elif unit != "C":
        raise ValueError(f"unknown unit {unit!r}")
    T_tab = np.array([0.0, 10, 20, 30, 40, 60, 80, 100])
    mu_tab = np.array([1.787, 1.307, 1.002, 0.7975, 0.6529, 0.4665, 0.3544, 0.2818]) * 1e-3
    return exp(np.interp(T, T_tab, np.log(mu_tab)))


def lid_vorticity_step(psi, omega, nu, U, dt=1e-3, steps=3):
    """Vorticity transport on a square, walls by Thom's formula."""
    h = 1.0 / (psi.shape[0] - 1)
    for _ in range(steps):
        omega[:, -1] = -2 * psi[:, -2] / h**2 - 2 * U / h
        omega[:, 0] = -2 * psi[:, 1] / h**2
        omega[0, :] = -2 * psi[1, :] / h**2
        omega[-1, :] = -2 * psi[-2, :] / h**2
        wn = omega.copy()
        u = (psi[1:-1, 2:] - psi[1:-1, :-2]) / (2 * h)
        v = -(psi[2:, 1:-1] - psi[:-2, 1:-1]) / (2 * h)
        omega[1:-1, 1:-1] = wn[1:-1, 1:-1] + dt * (
            -u * (wn[2:, 1:-1] - wn[:-2, 1:-1]) / (2 * h)
            - v * (wn[1:-1, 2:] - wn[1:-1, :-2]) / (2 * h)
            + nu * (wn[2:, 1:-1] + wn[:-2, 1:-1] + wn[1:-1, 2:] + wn[1:-1, :-2] - 4 * wn[1:-1, 1:-1]) / h**2
        )
        for it in range(4):
            psi[1:-1, 1:-1] = 0.25 * (
                psi[2:, 1:-1] + psi[:-2, 1:-1] + psi[1:-1, 2:] + psi[1:-1, :-2] + h**2 * omega[1:-1, 1:-1]
            )
    return psi, omega


class Pipe:
    def __init__(self, length, diameter, roughness=4.5e-5):
        self.length = length
        self.diameter = diameter
        self.roughness = roughness

    @property
    def area(self):
        return math.pi * self.diameter**2 / 4

    def velocity(self, Q):
        return Q / self.area

    def loss(self, Q, nu=1e-6):
        V = self.velocity(Q)
        f = swamee_jain(V * self.diameter / nu, self.roughness / self.diameter)
        return f * self.length / self.diameter * V**2 / (2 * g)


class Network:
    def __init__(self):
        self.pipes = []
        self.fittings = {}

    def add(self, pipe, **fittings):
        self.pipes.append(pipe)
        for name, K in fittings.items():
            self.fittings[name] = self.fittings.get(name, 0.0) + K
        return self

    def head_loss(self, Q):
        h = sum(p.loss(Q) for p in self.pipes)
        V = self.pipes[-1].velocity(Q)
        h += sum(self.fittings.values()) * V**2 / (2 * g)
        return h


def network_loss(Q, D1, D2, K):
    net = Network()
    net.add(Pipe(100.0, D1)).add(Pipe(50.0, D2), elbow=K, valve=2.0).add(Pipe(25.0, D1), elbow=K)
    return net.head_loss(Q)


def siphon_secant(height, K, D):
    def balance(V):
        Re = max(V * D / 1e-6, 1.0)
        return height - V**2 / (2 * g) * (1 + K + 0.3164 / Re**0.25 * 10 / D)

    return newton(balance, 1.0, tol=1e-13)


CASES = [
    (reynolds, (2.5, 0.25, 1.1613, 1.9e-5)),
    (reynolds, (2.5, 0.25, None, None, 1.6e-5)),
    (colebrook_iterated, (1e5, 1e-4)),
    (colebrook_iterated, (900.0, 1e-4)),
    (colebrook_fsolve, (1e5, 1e-4)),
    (friction_factor, (1e5, 1e-4)),
    (friction_factor, (1e5, 1e-4, "Churchill")),
    (one_phase_dP, (10.0, 1000.0, 1e-5, 0.1, 1e-5, 2.0)),
    (one_phase_dP, (10.0, 1000.0, 1e-5, 0.1, 1e-5, 2.0, "Swamee-Jain")),
    (pipe_flow_rate, (10.0, 500.0, 0.2, 1e-4, 1e-6)),
    (operating_point, (60.0, 2.5e4, 20.0, 9e4)),
    (series_pipes, (0.05, np.array([0.2, 0.15, 0.1]), [120.0, 80.0, 20.0], 4e-5)),
    (hardy_cross, (np.array([0.3, 0.2, -0.1, -0.4]), np.array([20.0, 35.0, 50.0, 15.0]))),
    (lockhart_martinelli, (0.6, 0.1, 915.0, 2.67, 180e-6, 14e-6, 0.05)),
    (void_fraction, (0.4, 800.0, 2.5)),
    (void_fraction, (0.4, 800.0, 2.5, "Zivi")),
    (void_fraction, (0.4, 800.0, 2.5, "Chisholm")),
    (control_valve_Kv, (0.05, 2.5e4, 965.4)),
    (orifice_flow, (0.0739, 0.0222, 1e5, 9.9e4, 1.1646)),
    (terminal_velocity, (7e-4, 2600.0, 1000.0, 1e-3)),
    (ergun, (1e-3, 8e-4, 0.4, 1e3, 1e-3, 0.5)),
    (isentropic_mach, (2.0, 1.4)),
    (isentropic_mach, (2.0, 1.4, False)),
    (normal_shock, (2.2,)),
    (cubic_viscosity_table, (33.0,)),
    (cubic_viscosity_table, (333.0, "K")),
    (
        lid_vorticity_step,
        (np.random.RandomState(0).uniform(-0.01, 0.01, (5, 5)), np.random.RandomState(1).randn(5, 5), 0.01, 1.0),
    ),
    (network_loss, (0.01, 0.1, 0.08, 0.9)),
    (siphon_secant, (3.0, 1.5, 0.05)),
]
