"""Position of the sun, photovoltaics, optics and acoustics."""

import datetime as dt
import math

import numpy as np
from scipy.special import j1, lambertw


def day_angle(doy):
    return 2.0 * np.pi / 365.0 * (doy - 1)


def declination_spencer(doy):
    B = day_angle(doy)
    return (
        0.006918
        - 0.399912 * np.cos(B)
        + 0.070257 * np.sin(B)
        - 0.006758 * np.cos(2 * B)
        + 0.000907 * np.sin(2 * B)
        - 0.002697 * np.cos(3 * B)
        + 0.00148 * np.sin(3 * B)
    )


def equation_of_time(doy):
    B = day_angle(doy)
    return 229.18 * (
        0.0000075 + 0.001868 * np.cos(B) - 0.032077 * np.sin(B) - 0.014615 * np.cos(2 * B) - 0.040849 * np.sin(2 * B)
    )


def solar_position(doy, hour, latitude, longitude, tz=0):
    """Zenith and azimuth in degrees."""
    lat = np.radians(latitude)
    decl = declination_spencer(doy)
    solar_time = hour + equation_of_time(doy) / 60.0 + (longitude - 15.0 * tz) / 15.0
    ha = np.radians(15.0 * (solar_time - 12.0))
    cosz = np.sin(lat) * np.sin(decl) + np.cos(lat) * np.cos(decl) * np.cos(ha)
    zenith = np.arccos(np.clip(cosz, -1, 1))
    az = np.arctan2(np.sin(ha), np.cos(ha) * np.sin(lat) - np.tan(decl) * np.cos(lat))
    return {"zenith": np.degrees(zenith), "azimuth": (np.degrees(az) + 180.0) % 360.0}


def day_length(date, latitude):
    doy = date.timetuple().tm_yday
    decl = 0.4093 * math.sin(2 * math.pi / 365 * doy - 1.39)
    x = -math.tan(math.radians(latitude)) * math.tan(decl)
    if x < -1:
        return 24.0
    elif x > 1:
        return 0.0
    return 24 / math.pi * math.acos(x)


def relative_airmass(zenith, model="kastenyoung1989"):
    z = np.where(zenith > 90, np.nan, zenith)
    zr = np.radians(z)
    model = model.lower()
    if "kastenyoung1989" == model:
        return 1.0 / (np.cos(zr) + 0.50572 * (96.07995 - z) ** -1.6364)
    elif "simple" == model:
        return 1.0 / np.cos(zr)
    elif "young1994" == model:
        c = np.cos(zr)
        return (1.002432 * c**2 + 0.148386 * c + 0.0096467) / (c**3 + 0.149864 * c**2 + 0.0102963 * c + 0.000303978)
    raise ValueError(f"{model} is not a valid model for relativeairmass")


def aoi(surface_tilt, surface_azimuth, zenith, azimuth):
    st, sa, z, a = (math.radians(v) for v in (surface_tilt, surface_azimuth, zenith, azimuth))
    projection = math.cos(st) * math.cos(z) + math.sin(st) * math.sin(z) * math.cos(a - sa)
    return math.degrees(math.acos(max(-1.0, min(1.0, projection))))


def haydavies(surface_tilt, dhi, dni, dni_extra, cos_aoi, cos_zenith, return_components=False):
    AI = dni / dni_extra
    Rb = np.maximum(cos_aoi, 0) / np.maximum(cos_zenith, 0.01745)
    term1 = 1 - AI
    term2 = 0.5 * (1 + np.cos(np.deg2rad(surface_tilt)))
    iso = np.maximum(dhi * term1 * term2, 0)
    circ = np.maximum(dhi * AI * Rb, 0)
    if return_components:
        out = {}
        out["isotropic"] = iso
        out["circumsolar"] = circ
        return out
    return iso + circ


def erbs(ghi, zenith, dni_extra=1366.1):
    """Diffuse part of the global irradiance."""
    kt = ghi / (dni_extra * np.cos(np.radians(zenith)))
    df = 1 - 0.09 * kt
    df = np.where((kt > 0.22) & (kt <= 0.8), 0.9511 - 0.1604 * kt + 4.388 * kt**2 - 16.638 * kt**3 + 12.336 * kt**4, df)
    df = np.where(kt > 0.8, 0.165, df)
    dhi = df * ghi
    return (ghi - dhi) / np.cos(np.radians(zenith)), dhi


def iam_physical(theta, n=1.526, K=4.0, L=0.002):
    """Transmission through glass by Snell and Fresnel."""
    t1 = math.radians(theta)
    t2 = math.asin(math.sin(t1) / n)
    rs = (math.sin(t2 - t1) / math.sin(t2 + t1)) ** 2
    rp = (math.tan(t2 - t1) / math.tan(t2 + t1)) ** 2
    tau = math.exp(-K * L / math.cos(t2)) * (1 - 0.5 * (rs + rp))
    tau0 = math.exp(-K * L) * (1 - ((1 - n) / (1 + n)) ** 2)
    return tau / tau0


def cell_temperature(poa, wind, temp_air, parameters):
    a, b, deltaT = parameters["a"], parameters["b"], parameters["deltaT"]
    module = poa * np.exp(a + b * wind) + temp_air
    return module + poa / 1000.0 * deltaT


def i_from_v_lambertw(V, IL, I0, Rs, Rsh, nNsVth):
    """Current of the single diode model."""
    Gsh = 1.0 / Rsh
    argW = Rs * I0 / (nNsVth * (Rs * Gsh + 1.0)) * np.exp((Rs * (IL + I0) + V) / (nNsVth * (Rs * Gsh + 1.0)))
    lambertwterm = lambertw(argW).real
    return (IL + I0 - V * Gsh) / (Rs * Gsh + 1.0) - (nNsVth / Rs) * lambertwterm


def bishop88_mpp(IL, I0, Rs, Rsh, nNsVth):
    """Maximum power by Newton on the diode's voltage."""
    vd = 0.8 * nNsVth * math.log(IL / I0)
    for i in range(100):
        e = math.exp(vd / nNsVth)
        i_ = IL - I0 * (e - 1) - vd / Rsh
        di = -I0 / nNsVth * e - 1 / Rsh
        d2i = -I0 / nNsVth**2 * e
        v = vd - i_ * Rs
        dv = 1 - Rs * di
        dp = dv * i_ + v * di
        d2p = -Rs * d2i * i_ + 2 * dv * di + v * d2i
        delta = dp / d2p
        vd -= delta
        if abs(delta) < 1e-13:
            break
    i_ = IL - I0 * (math.exp(vd / nNsVth) - 1) - vd / Rsh
    v = vd - i_ * Rs
    return {"i_mp": i_, "v_mp": v, "p_mp": i_ * v}


def desoto(G, Tc, alpha_sc, a_ref, I_L_ref, I_o_ref, R_sh_ref, R_s, EgRef=1.121, dEgdT=-0.0002677):
    k = 8.617333262e-05
    Tref_K, Tc_K = 25 + 273.15, Tc + 273.15
    E_g = EgRef * (1 + dEgdT * (Tc_K - Tref_K))
    nNsVth = a_ref * (Tc_K / Tref_K)
    IL = G / 1000 * (I_L_ref + alpha_sc * (Tc_K - Tref_K))
    I0 = I_o_ref * (Tc_K / Tref_K) ** 3 * np.exp(EgRef / (k * Tref_K) - E_g / (k * Tc_K))
    Rsh = R_sh_ref * (1000.0 / G)
    return IL, I0, R_s, Rsh, nNsVth


def iv_curve_fill_factor(G, Tc):
    IL, I0, Rs, Rsh, nNsVth = desoto(G, Tc, 0.0045, 2.6, 5.1, 2e-10, 400.0, 0.3)
    isc = i_from_v_lambertw(0.0, IL, I0, Rs, Rsh, nNsVth)
    voc = nNsVth * np.log(IL / I0 + 1)
    mpp = bishop88_mpp(IL, I0, Rs, Rsh, nNsVth)
    return mpp["p_mp"] / (isc * voc)


def golden_section_mpp(IL, I0, nVt, tol=1e-6):
    phi = (math.sqrt(5) - 1) / 2
    power = lambda v: v * (IL - I0 * math.expm1(v / nVt))
    lo, hi = 0.0, nVt * math.log1p(IL / I0)
    c, d = hi - phi * (hi - lo), lo + phi * (hi - lo)
    while abs(hi - lo) > tol:
        if power(c) > power(d):
            hi = d
        else:
            lo = c
        c, d = hi - phi * (hi - lo), lo + phi * (hi - lo)
    return power((lo + hi) / 2)


def clearsky_series(latitude, turbidity, hours):
    ghi = []
    for h in hours:
        pos = solar_position(172, float(h), latitude, 0.0)
        cosz = max(np.cos(np.radians(pos["zenith"])), 0.0)
        if cosz > 0:
            ghi.append(1098 * cosz * np.exp(-0.057 * turbidity / cosz))
        else:
            ghi.append(0.0)
    return np.array(ghi)


def thin_lens(f, do):
    di = 1 / (1 / f - 1 / do)
    return di, -di / do


def ray_transfer(d1, f1, d2, f2, y, theta):
    prop = lambda d: np.array([[1.0, d], [0.0, 1.0]])
    lens = lambda f: np.array([[1.0, 0.0], [-1.0 / f, 1.0]])
    M = np.eye(2)
    for element in (prop(d1), lens(f1), prop(d2), lens(f2)):
        M = element @ M
    return M @ np.array([y, theta])


def sellmeier(lam, B, C):
    n2 = 1.0
    for b, c in zip(B, C):
        n2 += b * lam**2 / (lam**2 - c)
    return np.sqrt(n2)


def thin_film_reflectance(n, d, lam, theta0=0.0, n0=1.0, ns=1.52):
    """Transfer matrices with complex numbers, s polarisation."""
    s0 = n0 * np.sin(theta0)
    M = np.eye(2, dtype=complex)
    for nj, dj in zip(n, d):
        cj = np.sqrt(1 - (s0 / nj) ** 2)
        delta = 2 * np.pi * nj * dj * cj / lam
        eta = nj * cj
        M = M @ np.array([[np.cos(delta), 1j * np.sin(delta) / eta], [1j * eta * np.sin(delta), np.cos(delta)]])
    eta0 = n0 * np.cos(theta0)
    etas = ns * np.sqrt(1 - (s0 / ns) ** 2)
    B, C = M @ np.array([1, etas])
    r = (eta0 * B - C) / (eta0 * B + C)
    return abs(r) ** 2


def airy_pattern(r, wavelength, aperture, f):
    x = np.pi * aperture * r / (wavelength * f)
    return (2 * j1(x) / x) ** 2


def sabine_rt60(volume, surfaces):
    """Reverberation time; surfaces are (area, absorption)."""
    A = sum(S * a for S, a in surfaces)
    return 0.161 * volume / A


def sound_levels_sum(levels):
    p2 = 0
    for L in levels:
        p2 += 10 ** (L / 10)
    return 10 * math.log10(p2)


def a_weighting(f):
    f2 = f**2
    ra = 12194**2 * f2**2 / ((f2 + 20.6**2) * np.sqrt((f2 + 107.7**2) * (f2 + 737.9**2)) * (f2 + 12194**2))
    return 20 * np.log10(ra) + 2.0


def karplus_strong(burst, damping, n):
    buf = list(burst)
    out = []
    for i in range(n):
        first = buf.pop(0)
        out.append(first)
        buf.append(damping * 0.5 * (first + buf[0]))
    return np.array(out)


CASES = [
    (solar_position, (172.0, 10.5, 48.0, 11.0, 1)),
    (day_length, (dt.date(2020, 5, 1), 48.0)),
    (relative_airmass, (np.array([10.0, 60.0, 85.0]),)),
    (relative_airmass, (np.array([10.0, 60.0, 85.0]), "Young1994")),
    (aoi, (30.0, 180.0, 50.0, 160.0)),
    (haydavies, (30.0, 120.0, 700.0, 1361.0, 0.9, 0.6)),
    (haydavies, (30.0, 120.0, 700.0, 1361.0, 0.9, 0.6, True)),
    (erbs, (np.array([100.0, 500.0, 900.0]), np.array([60.0, 50.0, 20.0]))),
    (iam_physical, (50.0,)),
    (iam_physical, (50.0, 1.4, 5.0, 0.003)),
    (cell_temperature, (800.0, 3.0, 25.0, {"a": -3.47, "b": -0.0594, "deltaT": 3.0})),
    (i_from_v_lambertw, (30.0, 5.0, 2e-9, 0.3, 400.0, 1.9)),
    (bishop88_mpp, (5.0, 2e-9, 0.3, 400.0, 1.9)),
    (iv_curve_fill_factor, (800.0, 45.0)),
    (golden_section_mpp, (5.0, 2e-9, 1.9), 1e-4),  # the golden section ends 1e-6 beside the maximum
    (clearsky_series, (47.0, 3.0, [3, 8, 12])),
    (thin_lens, (0.1, 0.35)),
    (ray_transfer, (0.1, 0.2, 0.15, -0.3, 0.01, 0.02)),
    (sellmeier, (0.5876, [1.0396, 0.2318, 1.0105], [0.0060, 0.0200, 103.56])),
    (thin_film_reflectance, ([1.38, 2.1], [0.1, 0.07], 0.55)),
    (thin_film_reflectance, ([1.38, 2.1], [0.1, 0.07], 0.55, 0.4)),
    (airy_pattern, (np.array([1e-6, 3e-6]), 5e-7, 0.02, 0.1)),
    (sabine_rt60, (200.0, [(80.0, 0.1), (60.0, 0.3)])),
    (sound_levels_sum, ([80.0, 77.0, 65.0],)),
    (a_weighting, (np.array([100.0, 1000.0, 8000.0]),)),
    (karplus_strong, (np.random.RandomState(4).randn(5), 0.98, 14)),
]
