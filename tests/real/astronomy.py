"""Astronomy: orbits, light curves, coordinates."""

import math
from math import atan2, cos, pi, sin, sqrt, tan

import numpy as np
from scipy import constants
from scipy.integrate import quad, solve_ivp
from scipy.interpolate import CubicSpline

DEG = pi / 180
GM_SUN = 0.01720209895**2


def kepler_newton(M, e, tol=1e-13):
    """Eccentric anomaly."""
    M = M % (2 * pi)
    E = M if e < 0.8 else pi
    while True:
        dE = (E - e * sin(E) - M) / (1 - e * cos(E))
        E -= dE
        if abs(dE) < tol:
            break
    return E


def kepler_vectorised(M, e, niter=30):
    E = M + e * np.sin(M)
    for _ in range(niter):
        delta = (E - e * np.sin(E) - M) / (1.0 - e * np.cos(E))
        E = E - delta
        if np.all(np.abs(delta) < 1e-13):
            break
    return E


def elements_to_state(a, e, inc, Omega, omega, M):
    """Position and velocity from orbital elements; angles in degrees."""
    i, O, w, M = (angle * DEG for angle in (inc, Omega, omega, M))
    E = kepler_newton(M, e)
    nu = 2 * atan2(sqrt(1 + e) * sin(E / 2), sqrt(1 - e) * cos(E / 2))
    r = a * (1 - e * cos(E))
    o = r * np.array([cos(nu), sin(nu), 0])
    odot = sqrt(GM_SUN * a) / r * np.array([-sin(E), sqrt(1 - e**2) * cos(E), 0])

    def Rz(t):
        return np.array([[cos(t), -sin(t), 0], [sin(t), cos(t), 0], [0, 0, 1]])

    def Rx(t):
        return np.array([[1, 0, 0], [0, cos(t), -sin(t)], [0, sin(t), cos(t)]])

    Q = Rz(O) @ Rx(i) @ Rz(w)
    return Q @ o, Q @ odot


def state_to_elements(r, v, mu=1.0):
    h = np.cross(r, v)
    rn = np.linalg.norm(r)
    evec = np.cross(v, h) / mu - r / rn
    e = np.linalg.norm(evec)
    energy = v.dot(v) / 2 - mu / rn
    a = -mu / (2 * energy)
    inc = np.arccos(h[2] / np.linalg.norm(h))
    node = np.cross([0, 0, 1], h)
    Omega = np.arctan2(node[1], node[0])
    nu = np.arccos(np.dot(evec, r) / (e * rn))
    if np.dot(r, v) < 0:
        nu = 2 * np.pi - nu
    return {"a": a, "e": e, "inc": inc, "raan": Omega, "nu": nu}


def radial_velocity(t, P, K, e, w, tp, gamma):
    out = []
    for ti in t:
        M = 2 * pi * ((ti - tp) / P % 1)
        E = kepler_newton(M, e)
        nu = 2 * math.atan(math.sqrt((1 + e) / (1 - e)) * tan(E / 2))
        out.append(gamma + K * (cos(nu + w) + e * cos(w)))
    return np.array(out)


def uniform_transit(z, p):
    """Light of a star with a planet of radius p at the distance z."""
    if z >= 1 + p:
        return 1.0
    if z <= 1 - p:
        return 1 - p**2
    k0 = math.acos((p**2 + z**2 - 1) / (2 * p * z))
    k1 = math.acos((1 - p**2 + z**2) / (2 * z))
    lens = math.sqrt((4 * z**2 - (1 + z**2 - p**2) ** 2) / 4)
    return 1 - (p**2 * k0 + k1 - lens) / pi


def light_curve(times, t0, period, a, b, p):
    flux = np.ones(len(times))
    for k, t in enumerate(times):
        phase = ((t - t0 + 0.5 * period) % period) / period - 0.5
        x = a * math.sin(2 * pi * phase)
        y = b * math.cos(2 * pi * phase)
        flux[k] = uniform_transit(math.hypot(x, y), p)
    return flux


def trapezoid_transit(t, t0, depth, duration, ingress):
    flux = np.ones_like(t)
    dt = np.abs(t - t0)
    flat = dt <= duration / 2 - ingress
    slope = (~flat) & (dt < duration / 2)
    flux[flat] -= depth
    flux[slope] -= depth * (duration / 2 - dt[slope]) / ingress
    return flux


def chi_squared_transit(theta, t, y, yerr):
    model = trapezoid_transit(t, *theta)
    return np.sum(((y - model) / yerr) ** 2)


def equatorial_to_horizontal(ra, dec, lat, lst):
    H = np.deg2rad(lst - ra)
    d, p = np.deg2rad([dec, lat])
    alt = np.arcsin(np.sin(d) * np.sin(p) + np.cos(d) * np.cos(p) * np.cos(H))
    az = np.arctan2(-np.cos(d) * np.sin(H), np.sin(d) * np.cos(p) - np.cos(d) * np.sin(p) * np.cos(H))
    return np.rad2deg(alt), np.rad2deg(az) % 360


def angular_separation(lon1, lat1, lon2, lat2):
    """Vincenty's formula, stable everywhere."""
    sdlon, cdlon = np.sin(lon2 - lon1), np.cos(lon2 - lon1)
    s1, s2, c1, c2 = np.sin(lat1), np.sin(lat2), np.cos(lat1), np.cos(lat2)
    return np.arctan2(np.hypot(c2 * sdlon, c1 * s2 - s1 * c2 * cdlon), s1 * s2 + c1 * c2 * cdlon)


def galactic(ra, dec):
    ra_p, dec_p, l_ncp = np.radians(192.85948), np.radians(27.12825), np.radians(122.93192)
    sb = np.sin(dec_p) * np.sin(dec) + np.cos(dec_p) * np.cos(dec) * np.cos(ra - ra_p)
    y = np.cos(dec) * np.sin(ra - ra_p)
    x = np.cos(dec_p) * np.sin(dec) - np.sin(dec_p) * np.cos(dec) * np.cos(ra - ra_p)
    return (l_ncp - np.arctan2(y, x)) % (2 * np.pi), np.arcsin(sb)


class Cosmology:
    c = 299792.458

    def __init__(self, H0=70.0, Om0=0.3, w=-1.0):
        self.H0, self.Om0, self.w = H0, Om0, w
        self.Ode0 = 1 - Om0

    def E(self, z):
        return np.sqrt(self.Om0 * (1 + z) ** 3 + self.Ode0 * (1 + z) ** (3 * (1 + self.w)))

    def comoving_distance(self, z):
        return self.c / self.H0 * quad(lambda s: 1.0 / self.E(s), 0, z)[0]

    def luminosity_distance(self, z):
        return (1 + z) * self.comoving_distance(z)

    def distmod(self, z):
        return 5 * np.log10(self.luminosity_distance(z)) + 25


def distance_modulus(H0, Om0, w, redshifts):
    cosmo = Cosmology(H0, Om0, w)
    return np.array([cosmo.distmod(z) for z in redshifts])


def age_simpson(H0, Om, n=20):
    """Age of a flat universe [Gyr] by Simpson's rule."""
    a = np.linspace(1e-4, 1, n + 1)
    f = 1 / np.sqrt(Om / a + (1 - Om) * a**2)
    h = (a[-1] - a[0]) / n
    integral = h / 3 * (f[0] + 4 * f[1:-1:2].sum() + 2 * f[2:-2:2].sum() + f[-1])
    return integral / H0 * 977.8


def planck_law(wavelength, T):
    h, c, k = constants.h, constants.c, constants.k
    return 2 * h * c**2 / wavelength**5 / np.expm1(h * c / (wavelength * k * T))


def lane_emden(n, dxi=0.05):
    """First zero of Lane and Emden's equation; linear at the end."""
    xi, theta, dtheta = 1e-3, 1.0, 0.0
    while theta > 0:
        xi_old, theta_old = xi, theta
        dd = -2 / xi * dtheta - theta**n
        dtheta += dxi * dd
        theta += dxi * dtheta
        xi += dxi
    return xi_old + (xi - xi_old) * theta_old / (theta_old - theta)


def nfw_rotation(r, rho0, rs):
    x = r / rs
    M = 4 * np.pi * rho0 * rs**3 * (np.log1p(x) - x / (1 + x))
    return np.sqrt(4.30091e-6 * M / r)


def lomb_scargle(t, y, omegas):
    y = y - y.mean()
    P = np.empty(len(omegas))
    for i, w in enumerate(omegas):
        tau = np.arctan2(np.sum(np.sin(2 * w * t)), np.sum(np.cos(2 * w * t))) / (2 * w)
        c, s = np.cos(w * (t - tau)), np.sin(w * (t - tau))
        P[i] = 0.5 * (np.dot(y, c) ** 2 / np.dot(c, c) + np.dot(y, s) ** 2 / np.dot(s, s))
    return P


def two_body_leapfrog(r, v, mu, dt, n):
    def acc(x):
        return -mu * x / np.linalg.norm(x) ** 3

    positions = [r]
    a = acc(r)
    for _ in range(n):
        v = v + 0.5 * dt * a
        r = r + dt * v
        a = acc(r)
        v = v + 0.5 * dt * a
        positions.append(r)
    return np.array(positions), 0.5 * np.dot(v, v) - mu / np.linalg.norm(r)


def cr3bp(state0, mu, t_end):
    def rhs(t, s):
        x, y, vx, vy = s
        r1 = ((x + mu) ** 2 + y**2) ** 1.5
        r2 = ((x - 1 + mu) ** 2 + y**2) ** 1.5
        ax = 2 * vy + x - (1 - mu) * (x + mu) / r1 - mu * (x - 1 + mu) / r2
        ay = -2 * vx + y - (1 - mu) * y / r1 - mu * y / r2
        return vx, vy, ax, ay

    sol = solve_ivp(rhs, (0.0, t_end), state0, method="DOP853", rtol=1e-10, atol=1e-12)
    return sol.y[:, -1]


def julian_date(year, month, day):
    if month <= 2:
        year, month = year - 1, month + 12
    A = year // 100
    B = 2 - A + A // 4
    return int(365.25 * (year + 4716)) + int(30.6001 * (month + 1)) + day + B - 1524.5


def moon_longitude(day):
    d = julian_date(2020, 5, day) - 2451545.0
    L = (218.316 + 13.176396 * d) % 360
    M = math.radians((134.963 + 13.064993 * d) % 360)
    return L + 6.289 * math.sin(M)


def isochrone_magnitude(mass, masses, mags):
    return float(CubicSpline(masses, mags)(mass))


def hohmann(r1, r2, mu=398600.4418):
    v1 = math.sqrt(mu / r1)
    v2 = math.sqrt(mu / r2)
    at = (r1 + r2) / 2
    dv1 = math.sqrt(mu * (2 / r1 - 1 / at)) - v1
    dv2 = v2 - math.sqrt(mu * (2 / r2 - 1 / at))
    return abs(dv1) + abs(dv2), pi * math.sqrt(at**3 / mu)


CASES = [
    (kepler_newton, (1.2, 0.3)),
    (kepler_newton, (8.0, 0.9)),
    (kepler_vectorised, (np.array([0.2, 1.5, 4.0]), 0.4)),
    (elements_to_state, (2.7, 0.15, 10.0, 80.0, 73.0, 50.0)),
    (state_to_elements, (np.array([1.0, 0.2, 0.1]), np.array([-0.2, 0.9, 0.3]))),
    (radial_velocity, (np.array([0.5, 3.0, 7.0]), 4.2, 55.0, 0.2, 0.8, 0.3, 1.0)),
    (light_curve, (np.array([-0.11, 0.0, 0.02, 0.5]), 0.01, 3.0, 8.0, 0.3, 0.1)),
    (light_curve, (np.array([0.12, 0.135]), 0.01, 3.0, 4.0, 0.3, 0.1)),
    (
        chi_squared_transit,
        (
            [0.1, 0.01, 0.8, 0.15],
            np.array([-0.5, -0.25, 0.0, 0.4, 0.45]),
            np.array([1.0, 0.99, 0.985, 0.993, 1.0]),
            1e-3,
        ),
    ),
    (equatorial_to_horizontal, (30.0, 20.0, 50.0, 75.0)),
    (angular_separation, (0.3, 0.2, 0.9, -0.4)),
    (galactic, (1.0, 0.5)),
    (distance_modulus, (70.0, 0.3, -0.9, np.array([0.1, 0.5]))),
    (age_simpson, (70.0, 0.3)),
    (planck_law, (np.array([5e-7, 1e-6]), 5778.0)),
    (lane_emden, (1.5,)),
    (nfw_rotation, (np.array([2.0, 8.0, 20.0]), 1e7, 15.0)),
    (lomb_scargle, (np.array([0.0, 0.7, 1.1, 2.3, 3.1]), np.array([1.0, 0.2, -0.4, 0.6, -0.9]), [1.0, 2.5])),
    (two_body_leapfrog, (np.array([1.0, 0.0]), np.array([0.0, 1.1]), 1.0, 0.05, 6)),
    (cr3bp, ([0.5, 0.0, 0.1, 0.8], 0.0122, 1.0), 1e-4),  # adaptive steps
    (moon_longitude, (3.5,), 1e-5, 1e-3),  # a Julian date has few digits left for the day
    (isochrone_magnitude, (1.15, np.array([0.8, 1.0, 1.3, 1.6]), np.array([6.0, 4.8, 3.3, 2.1]))),
    (hohmann, (7000.0, 42164.0)),
]
