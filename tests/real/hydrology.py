"""Hydrology, open channels, and geophysics."""

from math import *

import numpy as np
from scipy import special
from scipy.interpolate import interp1d
from scipy.signal import lfilter

G = 9.81


def manning_velocity(n, R, S):
    return 1.0 / n * R ** (2.0 / 3.0) * S**0.5


def section(y, b, m):
    """Area, perimeter and top width of a trapezoid."""
    A = (b + m * y) * y
    P = b + 2 * y * sqrt(1 + m**2)
    T = b + 2 * m * y
    return A, P, T


def normal_depth(Q, b, m, n, S, y=1.0, tol=1e-12):
    while True:
        A, P, T = section(y, b, m)
        R = A / P
        F = A * R ** (2 / 3) * sqrt(S) / n - Q
        dR = T / P - R / P * 2 * sqrt(1 + m**2)
        dF = sqrt(S) / n * (T * R ** (2 / 3) + A * 2 / 3 * R ** (-1 / 3) * dR)
        new = y - F / dF
        if fabs(new - y) < tol:
            return new
        y = new


def critical_depth_bisection(Q, b, m):
    low, high = 1e-3, 20.0
    count = 0
    while (high - low) > 1e-6:
        mid = (low + high) / 2.0
        A, _, T = section(mid, b, m)
        if Q**2 * T / (G * A**3) > 1:
            low = mid
        else:
            high = mid
        count += 1
    # polish, since halves carry no slope
    y = 0.5 * (low + high)
    for _ in range(3):
        A, _, T = section(y, b, m)
        F = Q**2 * T - G * A**3
        dF = Q**2 * 2 * m - 3 * G * A**2 * T
        y -= F / dF
    return y


def backwater(Q, b, n, S0, y0, dx, nx):
    """Direct step against the flow; depths at all stations."""
    y = np.zeros(nx)
    y[0] = y0
    for i in range(nx - 1):
        A = b * y[i]
        Rh = A / (b + 2 * y[i])
        Sf = (Q * n / (A * Rh ** (2 / 3))) ** 2
        Fr2 = (Q / A) ** 2 / (G * y[i])
        y[i + 1] = y[i] - dx * (S0 - Sf) / (1 - Fr2)
    return y


def muskingum(inflow, K, X, dt):
    denom = K * (1 - X) + dt / 2
    C0 = (dt / 2 - K * X) / denom
    C1 = (dt / 2 + K * X) / denom
    C2 = (K * (1 - X) - dt / 2) / denom
    assert abs(C0 + C1 + C2 - 1) < 1e-9
    outflow = [inflow[0]]
    for t in range(1, len(inflow)):
        outflow.append(C0 * inflow[t] + C1 * inflow[t - 1] + C2 * outflow[-1])
    return outflow


def linear_reservoir_filter(rain, k):
    a = np.exp(-1.0 / k)
    return lfilter([1 - a], [1.0, -a], rain)


def scs_runoff(P, CN, ia_ratio=0.2):
    """Runoff [mm] by the curve number."""
    S = 25400.0 / CN - 254.0
    Ia = ia_ratio * S
    return np.where(P > Ia, (P - Ia) ** 2 / (P - Ia + S), 0.0)


def bucket_model(precip, pet, capacity, k_base, k_quick=0.4):
    storage, ground = 0.5 * capacity, 10.0
    flows, et_total = [], 0.0
    for p, e in zip(precip, pet):
        storage += p
        actual = e * min(1.0, storage / capacity)
        storage -= actual
        et_total += actual
        excess = max(0.0, storage - capacity)
        storage -= excess
        quick = k_quick * excess
        ground += excess - quick
        base = k_base * ground
        ground -= base
        flows.append(quick + base)
    return np.asarray(flows), et_total


def nash_sutcliffe(sim, obs, log=False):
    if log:
        sim, obs = np.log(sim), np.log(obs)
    return 1 - np.sum((obs - sim) ** 2) / np.sum((obs - obs.mean()) ** 2)


def kling_gupta(sim, obs):
    r = np.corrcoef(sim, obs)[0, 1]
    alpha = np.std(sim) / np.std(obs)
    beta = np.mean(sim) / np.mean(obs)
    return 1 - np.sqrt((r - 1) ** 2 + (alpha - 1) ** 2 + (beta - 1) ** 2)


def penman_monteith(T, u2, Rn, RH, elevation=100.0):
    """Reference evapotranspiration [mm/day]."""
    es = 0.6108 * exp(17.27 * T / (T + 237.3))
    ea = es * RH / 100
    delta = 4098 * es / (T + 237.3) ** 2
    P = 101.3 * ((293 - 0.0065 * elevation) / 293) ** 5.26
    gamma = 0.665e-3 * P
    return (0.408 * delta * Rn + gamma * 900 / (T + 273) * u2 * (es - ea)) / (delta + gamma * (1 + 0.34 * u2))


def theis_drawdown(Q, T, S, r, t):
    u = r**2 * S / (4 * T * t)
    return Q / (4 * pi * T) * special.exp1(u)


def green_ampt(K, psi, dtheta, t):
    """Cumulative infiltration, implicit equation by substitution."""
    F = K * t
    for it in range(500):
        new = K * t + psi * dtheta * log(1 + F / (psi * dtheta))
        if abs(new - F) < 1e-13:
            F = new
            break
        F = new
    f = K * (1 + psi * dtheta / F)
    return F, f


def van_genuchten(h, theta_r, theta_s, alpha, n):
    m = 1 - 1 / n
    Se = np.ones_like(h)
    dry = h < 0
    Se[dry] = (1 + (alpha * np.abs(h[dry])) ** n) ** -m
    theta = theta_r + (theta_s - theta_r) * Se
    K = np.sqrt(Se) * (1 - (1 - Se ** (1 / m)) ** m) ** 2
    return theta, K


def rating_curve(stage, stages, flows):
    f = interp1d(stages, flows, kind="linear", fill_value="extrapolate")
    return float(f(stage))


def dam_break_depth(x, t, h0):
    c0 = sqrt(G * h0)
    if x <= -c0 * t:
        return h0
    elif x >= 2 * c0 * t:
        return 0.0 * h0
    else:
        return (2 * c0 - x / t) ** 2 / (9 * G)


def gumbel_return_level(maxima, T):
    xbar, s = np.mean(maxima), np.std(maxima, ddof=1)
    beta = s * np.sqrt(6) / np.pi
    mu = xbar - np.euler_gamma * beta
    return mu - beta * np.log(-np.log(1 - 1 / T))


def bouguer_sphere(x, z, radius, drho):
    """Gravity anomaly [mGal] of a buried sphere along a profile."""
    gamma = 6.674e-11
    mass = 4 / 3 * np.pi * radius**3 * drho
    return np.array([gamma * mass * z / (xi**2 + z**2) ** 1.5 * 1e5 for xi in x])


def travel_time_layers(p, thickness, velocity):
    """Distance and time of a ray with parameter p through layers."""
    X = T = 0.0
    for h, v in zip(thickness, velocity):
        if p * v >= 1:
            break
        cosi = sqrt(1 - (p * v) ** 2)
        X += 2 * h * p * v / cosi
        T += 2 * h / (v * cosi)
    return X, T


def ricker_convolution(reflectivity, f, dt=0.004):
    t = np.arange(-5, 6) * dt
    w = (1 - 2 * (pi * f * t) ** 2) * np.exp(-((pi * f * t) ** 2))
    return np.convolve(reflectivity, w, mode="same")


def impedance_to_reflectivity(rho, v):
    Z = rho * v
    rc = (Z[1:] - Z[:-1]) / (Z[1:] + Z[:-1])
    return rc


def haversine(lat1, lon1, lat2, lon2, R=6371.0088):
    phi1, phi2 = radians(lat1), radians(lat2)
    dphi, dlam = phi2 - phi1, radians(lon2 - lon1)
    a = sin(dphi / 2) ** 2 + cos(phi1) * cos(phi2) * sin(dlam / 2) ** 2
    return 2 * R * asin(sqrt(a))


def geodetic_from_ecef(x, y, z):
    """Latitude and height by iteration on WGS84."""
    a, f = 6378137.0, 1 / 298.257223563
    e2 = f * (2 - f)
    p = hypot(x, y)
    lat = atan2(z, p * (1 - e2))
    for _ in range(6):
        N = a / sqrt(1 - e2 * sin(lat) ** 2)
        h = p / cos(lat) - N
        lat = atan2(z, p * (1 - e2 * N / (N + h)))
    return degrees(lat), degrees(atan2(y, x)), h


CASES = [
    (manning_velocity, (0.03, 1.2, 0.001)),
    (normal_depth, (12.0, 4.0, 1.5, 0.025, 0.001)),
    (critical_depth_bisection, (12.0, 4.0, 1.5)),
    (backwater, (10.0, 5.0, 0.03, 0.001, 2.5, 20.0, 6)),
    (muskingum, (np.array([1.0, 3, 7, 9, 5, 2]), 2.3, 0.15, 1.0)),
    (linear_reservoir_filter, (np.array([0.0, 5, 3, 0, 0, 1]), 2.5)),
    (scs_runoff, (np.array([5.0, 30.0, 80.0]), 75.0)),
    (bucket_model, (np.array([30.0, 0, 60, 5, 80, 2]), np.array([3.0, 4, 2, 4, 3, 5]), 120.0, 0.05)),
    (nash_sutcliffe, (np.array([1.0, 2.2, 3.1, 2.0]), np.array([1.1, 2.0, 3.5, 1.9]))),
    (nash_sutcliffe, (np.array([1.0, 2.2, 3.1, 2.0]), np.array([1.1, 2.0, 3.5, 1.9]), True)),
    (kling_gupta, (np.array([1.0, 2.2, 3.1, 2.0]), np.array([1.1, 2.0, 3.5, 1.9]))),
    (penman_monteith, (21.0, 2.1, 13.3, 65.0)),
    (theis_drawdown, (0.02, 3e-3, 2e-4, 50.0, 3600.0)),
    (green_ampt, (0.65, 16.7, 0.34, 1.5)),
    (van_genuchten, (np.array([-3.0, -0.5, -10.0]), 0.05, 0.43, 1.2, 1.8)),
    (rating_curve, (1.35, np.array([0.5, 1.0, 1.5, 2.0]), np.array([2.0, 6.0, 13.0, 24.0]))),
    (dam_break_depth, (3.0, 1.0, 4.0)),
    (gumbel_return_level, (np.array([31.0, 45, 28, 60, 39, 51]), 50.0)),
    (bouguer_sphere, (np.array([-30.0, 0.0, 20.0]), 40.0, 12.0, 500.0)),
    (travel_time_layers, (2e-4, [100.0, 300.0, 200.0], [1500.0, 2500.0, 6000.0])),
    (ricker_convolution, (np.random.RandomState(2).randn(16), 25.0)),
    (impedance_to_reflectivity, (np.array([2.0, 2.2, 2.5]), np.array([1500.0, 2100, 3000]))),
    (haversine, (52.52, 13.40, 48.86, 2.35)),
    (geodetic_from_ecef, (4.0e6, 1.0e6, 4.8e6)),
]
