"""Heat transfer and thermodynamics."""

import math
from math import exp, log, sqrt

import numpy as np
from scipy import integrate, optimize
from scipy.integrate import quad

R = 8.31446261815324

ANTOINE = {
    "water": (8.07131, 1730.63, 233.426),
    "ethanol": (8.20417, 1642.89, 230.300),
    "acetone": (7.11714, 1210.595, 229.664),
}


def antoine(T, species="water"):
    """Vapour pressure [mmHg] at T [degC]."""
    try:
        A, B, C = ANTOINE[species]
    except KeyError:
        raise ValueError(f"no coefficients for {species!r}; known: {sorted(ANTOINE)}")
    return 10 ** (A - B / (T + C))


def boiling_point(P, A, B, C):
    T = 100.0
    for i in range(50):
        f = A - B / (C + T) - math.log10(P)
        df = B / (C + T) ** 2
        dT = f / df
        T -= dT
        if math.fabs(dT) < 1e-11:
            return T
    raise RuntimeError("boiling point did not converge")


def bubble_temperature(x, P):
    """Bubble point of an ideal binary [degC], by bracketing; returns T and y."""
    names = ["ethanol", "water"]

    def residual(T):
        return sum(xi * antoine(T, n) for xi, n in zip(x, names)) - P

    T = optimize.brentq(residual, 20.0, 140.0, xtol=1e-12)
    y = np.array([xi * antoine(T, n) / P for xi, n in zip(x, names)])
    return T, y


class CubicEOS:
    """P = RT/(V-b) - a alpha(T)/(V^2 + ubV + wb^2)."""

    u = 0.0
    w = 0.0
    omega_a = 0.421875
    omega_b = 0.125

    def __init__(self, Tc, Pc, omega=0.0):
        self.Tc, self.Pc, self.omega = Tc, Pc, omega
        self.a = self.omega_a * R**2 * Tc**2 / Pc
        self.b = self.omega_b * R * Tc / Pc

    def alpha(self, T):
        return 1.0

    def pressure(self, T, V):
        b = self.b
        return R * T / (V - b) - self.a * self.alpha(T) / (V * V + self.u * b * V + self.w * b * b)

    def Z(self, T, P, phase="g"):
        A = self.a * self.alpha(T) * P / (R * T) ** 2
        B = self.b * P / (R * T)
        c2 = -(1 + B - self.u * B)
        c1 = A + self.w * B**2 - self.u * B - self.u * B**2
        c0 = -(A * B + self.w * B**2 + self.w * B**3)
        z = 1.0 if phase == "g" else B * 1.05
        for _ in range(100):
            f = ((z + c2) * z + c1) * z + c0
            df = (3 * z + 2 * c2) * z + c1
            step = f / df
            z -= step
            if abs(step) < 1e-13:
                break
        return z


class PengRobinson(CubicEOS):
    u, w = 2.0, -1.0
    omega_a, omega_b = 0.45724, 0.07780

    def alpha(self, T):
        kappa = 0.37464 + 1.54226 * self.omega - 0.26992 * self.omega**2
        return (1 + kappa * (1 - sqrt(T / self.Tc))) ** 2

    def ln_phi(self, T, P, phase="g"):
        z = self.Z(T, P, phase)
        A = self.a * self.alpha(T) * P / (R * T) ** 2
        B = self.b * P / (R * T)
        s2 = sqrt(2.0)
        return z - 1 - log(z - B) - A / (2 * s2 * B) * log((z + (1 + s2) * B) / (z + (1 - s2) * B))


class SRK(CubicEOS):
    u = 1.0
    omega_a, omega_b = 0.42748, 0.08664

    def alpha(self, T):
        m = 0.480 + 1.574 * self.omega - 0.176 * self.omega**2
        return (1 + m * (1 - (T / self.Tc) ** 0.5)) ** 2


EOS = {"vdW": CubicEOS, "PR": PengRobinson, "SRK": SRK}


def molar_volume(T, P, Tc, Pc, omega, eos="PR"):
    model = EOS[eos](Tc, Pc, omega)
    return model.Z(T, P) * R * T / P


def fugacity_difference(T, P, Tc, Pc, omega):
    eos = PengRobinson(Tc, Pc, omega)
    return eos.ln_phi(T, P, "l") - eos.ln_phi(T, P, "g")


def saturation_pressure(T, Tc, Pc, omega):
    """Equal fugacities by successive substitution."""
    eos = PengRobinson(Tc, Pc, omega)
    P = Pc * exp(5.373 * (1 + omega) * (1 - Tc / T))
    k = 0
    while k < 60:
        ratio = exp(eos.ln_phi(T, P, "l") - eos.ln_phi(T, P, "g"))
        P *= ratio
        if abs(ratio - 1) < 1e-12:
            break
        k += 1
    return P


def pr_roots(T, P, Tc, Pc):
    a = 0.45724 * R**2 * Tc**2 / Pc
    b = 0.0778 * R * Tc / Pc
    A, B = a * P / (R * T) ** 2, b * P / (R * T)
    roots = np.roots([1, B - 1, A - 3 * B**2 - 2 * B, B**3 + B**2 - A * B])
    real = roots[np.isreal(roots)].real
    return np.max(real)


def heat_capacity_integral(T1, T2, coeffs):
    """Enthalpy change [J/mol] of an ideal gas with Cp/R a polynomial."""
    total = 0
    for k, c in enumerate(coeffs):
        total += c * (T2 ** (k + 1) - T1 ** (k + 1)) / (k + 1)
    return total * R


def debye_heat_capacity(T, theta):
    """Molar heat capacity of a solid."""
    integral, _ = quad(lambda x: x**4 * np.exp(x) / (np.exp(x) - 1) ** 2, 1e-9, theta / T)
    return 9 * R * (T / theta) ** 3 * integral


def lmtd(Thi, Tho, Tci, Tco, CF=True):
    if CF:
        dT1, dT2 = Thi - Tco, Tho - Tci
    else:
        dT1, dT2 = Thi - Tci, Tho - Tco
    if dT1 == dT2:
        return dT1
    return (dT2 - dT1) / log(dT2 / dT1)


def effectiveness_ntu(NTU, Cr, subtype="counterflow"):
    if Cr > 1:
        raise ValueError("Heat capacity rate must be less than 1 by definition.")
    if subtype == "counterflow":
        if Cr < 1:
            return (1.0 - exp(-NTU * (1.0 - Cr))) / (1.0 - Cr * exp(-NTU * (1.0 - Cr)))
        return NTU / (1.0 + NTU)
    elif subtype == "parallel":
        return (1.0 - exp(-NTU * (1.0 + Cr))) / (1.0 + Cr)
    elif subtype == "crossflow":
        return 1.0 - exp(1.0 / Cr * NTU**0.22 * (exp(-Cr * NTU**0.78) - 1.0))
    elif subtype.endswith("S&T"):
        top = 1 + exp(-NTU * sqrt(1 + Cr**2))
        bottom = 1 - exp(-NTU * sqrt(1 + Cr**2))
        return 2 / (1 + Cr + sqrt(1 + Cr**2) * top / bottom)
    raise ValueError("Input heat exchanger type not recognized")


def nusselt(Re, Pr, correlation="Gnielinski"):
    if Re < 2300:
        return 3.66
    match correlation:
        case "Dittus-Boelter":
            return 0.023 * Re**0.8 * Pr**0.4
        case "Gnielinski":
            f = (0.79 * np.log(Re) - 1.64) ** -2
            return (f / 8) * (Re - 1000) * Pr / (1 + 12.7 * (f / 8) ** 0.5 * (Pr ** (2 / 3) - 1))
        case _:
            raise NotImplementedError(correlation)


def wall_heat_flux(T_in, T_out, layers, h_in=8.0, h_out=25.0):
    """Heat flux [W/m2] through layers of (thickness, conductivity); temperatures of the interfaces."""
    R_total = 1 / h_in + 1 / h_out
    for d, k in layers:
        R_total += d / k
    q = (T_in - T_out) / R_total
    T = T_in - q / h_in
    temps = [T]
    for d, k in layers:
        T = T - q * d / k
        temps.append(T)
    return q, np.array(temps)


def fin_efficiency(L, t, k, h, profile="rectangular"):
    m = np.sqrt(2 * h / (k * t))
    Lc = L + t / 2
    table = {"rectangular": lambda: np.tanh(m * Lc) / (m * Lc), "long": lambda: 1 / (m * L)}
    return table[profile]()


def heat_equation_explicit(T0, alpha, dx, dt, nt, left=0.0, right=1.0):
    T = T0.copy()
    history = [T.copy()]
    r = alpha * dt / dx**2
    if r > 0.5:
        raise ValueError(f"unstable: r = {r:.3f}")
    for n in range(nt):
        Tn = T.copy()
        for i in range(1, len(T) - 1):
            T[i] = Tn[i] + r * (Tn[i + 1] - 2 * Tn[i] + Tn[i - 1])
        T[0] = left
        T[-1] = right
        history.append(T.copy())
    return np.vstack(history)


def crank_nicolson(u, r, steps):
    """Thomas' algorithm in each step."""
    n = len(u)
    for _ in range(steps):
        a = np.full(n, -r / 2)
        b = np.full(n, 1 + r)
        c = np.full(n, -r / 2)
        b[0] = b[-1] = 1.0
        c[0] = a[-1] = 0.0
        d = u.copy()
        d[1:-1] = r / 2 * u[:-2] + (1 - r) * u[1:-1] + r / 2 * u[2:]
        cp = np.zeros(n)
        dp = np.zeros(n)
        cp[0], dp[0] = c[0] / b[0], d[0] / b[0]
        for i in range(1, n):
            m = b[i] - a[i] * cp[i - 1]
            cp[i] = c[i] / m
            dp[i] = (d[i] - a[i] * dp[i - 1]) / m
        u = np.zeros(n)
        u[-1] = dp[-1]
        for i in range(n - 2, -1, -1):
            u[i] = dp[i] - cp[i] * u[i + 1]
    return u


def blackbody_fraction(lam, T):
    """Share of the radiation below the wavelength lam [um], by the usual series."""
    C2 = 14387.77
    x = C2 / (lam * T)
    total, n = 0.0, 1
    while True:
        term = np.exp(-n * x) / n * (x**3 + 3 * x**2 / n + 6 * x / n**2 + 6 / n**3)
        total += term
        if term < 1e-16:
            break
        n += 1
    return 15 / np.pi**4 * total


def radiative_equilibrium(S, albedo, emissivity):
    sigma = 5.670374419e-8
    return (S * (1 - albedo) / (4 * emissivity * sigma)) ** 0.25


def rankine_efficiency(h1, h2s, h3, h4, eta_t=0.85, eta_p=0.7):
    states = {1: h1, 3: h3}
    states[2] = h1 - eta_t * (h1 - h2s)
    states[4] = h3 + (h4 - h3) / eta_p
    w_t = states[1] - states[2]
    w_p = states[4] - states[3]
    return (w_t - w_p) / (states[1] - states[4])


def rachford_rice(z, K):
    """Vapour fraction of a flash by Newton with safeguards."""
    lo = 1.0 / (1.0 - np.max(K))
    hi = 1.0 / (1.0 - np.min(K))
    V = 0.5
    for _ in range(100):
        f = np.sum(z * (K - 1) / (1 + V * (K - 1)))
        df = -np.sum(z * (K - 1) ** 2 / (1 + V * (K - 1)) ** 2)
        V_new = V - f / df
        if V_new < lo or V_new > hi:
            V_new = 0.5 * (V + (lo if V_new < lo else hi))
        if abs(V_new - V) < 1e-14:
            V = V_new
            break
        V = V_new
    x = z / (1 + V * (K - 1))
    return V, x, K * x


def wilson_gamma(x, Lambda):
    """Activity coefficients of Wilson's model."""
    n = len(x)
    lngamma = np.zeros(n)
    for i in range(n):
        s = 0.0
        for j in range(n):
            s += x[j] * Lambda[i, j]
        last = 0.0
        for k in range(n):
            last += x[k] * Lambda[k, i] / sum(x[j] * Lambda[k, j] for j in range(n))
        lngamma[i] = 1.0 - log(s) - last
    return np.exp(lngamma)


def lumped_cooling(T0, Tinf, h, A, m, cp, t_end):
    def rhs(t, T):
        return [-h * A / (m * cp) * (T[0] - Tinf) - 1e-11 * (T[0] ** 4 - Tinf**4)]

    sol = integrate.solve_ivp(rhs, (0, t_end), [T0], rtol=1e-9, atol=1e-9)
    if not sol.success:
        raise RuntimeError(sol.message)
    return sol.y[0, -1]


CASES = [
    (antoine, (65.0,)),
    (antoine, (65.0, "acetone")),
    (boiling_point, (760.0, 8.07131, 1730.63, 233.426)),
    (bubble_temperature, (np.array([0.4, 0.6]), 760.0)),
    (molar_volume, (400.0, 1e6, 507.6, 3.025e6, 0.2975)),
    (molar_volume, (600.0, 1e6, 507.6, 3.025e6, 0.2975, "SRK")),
    (molar_volume, (600.0, 1e6, 507.6, 3.025e6, 0.2975, "vdW")),
    (fugacity_difference, (400.0, 5e5, 507.6, 3.025e6, 0.2975)),
    (saturation_pressure, (400.0, 507.6, 3.025e6, 0.2975)),
    (pr_roots, (600.0, 1e6, 507.6, 3.025e6)),
    (heat_capacity_integral, (300.0, 500.0, [3.5, 1e-3, -1e-7])),
    (debye_heat_capacity, (150.0, 343.0)),
    (lmtd, (100.0, 60.0, 30.0, 40.2)),
    (lmtd, (100.0, 60.0, 30.0, 40.2, False)),
    (effectiveness_ntu, (5.0, 0.7)),
    (effectiveness_ntu, (5.0, 0.7, "crossflow")),
    (effectiveness_ntu, (5.0, 0.7, "1S&T")),
    (nusselt, (1e5, 1.2)),
    (nusselt, (1e5, 1.2, "Dittus-Boelter")),
    (wall_heat_flux, (20.0, -5.0, [(0.1, 0.5), (0.2, 0.04), (0.015, 0.7)])),
    (fin_efficiency, (0.05, 0.002, 200.0, 30.0)),
    (heat_equation_explicit, (np.linspace(0, 2, 6) ** 2, 0.1, 0.2, 0.1, 4)),
    (crank_nicolson, (np.sin(np.linspace(0.1, 3, 7)), 0.6, 3)),
    (blackbody_fraction, (4.0, 1200.0)),
    (radiative_equilibrium, (1361.0, 0.3, 0.61)),
    (rankine_efficiency, (3400.0, 2100.0, 170.0, 180.0)),
    (rachford_rice, (np.array([0.5, 0.3, 0.2]), np.array([1.8, 0.9, 0.3]))),
    (wilson_gamma, (np.array([0.3, 0.7]), np.array([[1.0, 0.16], [0.78, 1.0]]))),
    (lumped_cooling, (400.0, 300.0, 20.0, 0.1, 2.0, 450.0, 60.0), 1e-4),  # adaptive steps move with the arguments
]
