"""Structural mechanics and electrical circuits."""

import math
from collections import defaultdict
from dataclasses import dataclass
from math import cos, pi, sin, sqrt

import numpy as np
from scipy import sparse
from scipy.integrate import solve_ivp
from scipy.linalg import eigh, solve_banded
from scipy.optimize import fsolve
from scipy.sparse import coo_matrix, csr_matrix, lil_matrix
from scipy.sparse.linalg import spsolve


@dataclass
class Node:
    x: float
    y: float
    fixed: bool = False


class Truss:
    def __init__(self):
        self.nodes = []
        self.bars = []
        self.loads = {}

    def add_node(self, x, y, fixed=False):
        self.nodes.append(Node(x, y, fixed))
        return len(self.nodes) - 1

    def add_bar(self, i, j, EA):
        self.bars.append((i, j, EA))

    def solve(self):
        n = len(self.nodes)
        K = np.zeros((2 * n, 2 * n))
        F = np.zeros(2 * n)
        for i, j, EA in self.bars:
            a, b = self.nodes[i], self.nodes[j]
            L = math.hypot(b.x - a.x, b.y - a.y)
            c, s = (b.x - a.x) / L, (b.y - a.y) / L
            k = EA / L * np.array([[c * c, c * s], [c * s, s * s]])
            di, dj = slice(2 * i, 2 * i + 2), slice(2 * j, 2 * j + 2)
            K[di, di] += k
            K[dj, dj] += k
            K[di, dj] -= k
            K[dj, di] -= k
        for node, (fx, fy) in self.loads.items():
            F[2 * node] += fx
            F[2 * node + 1] += fy
        free = [2 * k + d for k, node in enumerate(self.nodes) if not node.fixed for d in (0, 1)]
        u = np.zeros(2 * n)
        u[free] = np.linalg.solve(K[np.ix_(free, free)], F[free])
        return u


def truss_sag(height, EA, load):
    t = Truss()
    a = t.add_node(0.0, 0.0, fixed=True)
    b = t.add_node(2.0, 0.0, fixed=True)
    top = t.add_node(0.8, height)
    t.add_bar(a, top, EA)
    t.add_bar(top, b, 1.5 * EA)
    t.add_bar(a, b, EA)
    t.loads[top] = (0.1 * load, -load)
    return t.solve()[2 * top :]


def truss_arrays(coords, areas, load, conn=((0, 1), (0, 2), (1, 2), (1, 3), (2, 3)), E=200.0):
    ndof = coords.size
    K = np.zeros((ndof, ndof))
    for e, (i, j) in enumerate(conn):
        d = coords[j] - coords[i]
        L = np.linalg.norm(d)
        T = np.outer(d, d) / L**2
        ke = E * areas[e] / L * np.block([[T, -T], [-T, T]])
        dofs = np.array([2 * i, 2 * i + 1, 2 * j, 2 * j + 1])
        K[np.ix_(dofs, dofs)] += ke
    f = np.zeros(ndof)
    f[5] = -load
    f[7] = -0.5 * load
    free = np.arange(4, ndof)
    u = np.linalg.solve(K[4:, 4:], f[free])
    weight = sum(areas[e] * np.linalg.norm(coords[j] - coords[i]) for e, (i, j) in enumerate(conn))
    return f[free] @ u, weight


def beam_element(E, I, L):
    return (
        E
        * I
        / L**3
        * np.array(
            [
                [12, 6 * L, -12, 6 * L],
                [6 * L, 4 * L**2, -6 * L, 2 * L**2],
                [-12, -6 * L, 12, -6 * L],
                [6 * L, 2 * L**2, -6 * L, 4 * L**2],
            ]
        )
    )


def cantilever_fem(E, I, L, P, n=4):
    K = np.zeros((2 * (n + 1), 2 * (n + 1)))
    for e in range(n):
        K[2 * e : 2 * e + 4, 2 * e : 2 * e + 4] += beam_element(E, I, L / n)
    f = np.zeros(2 * (n + 1))
    f[-2] = P
    return np.linalg.solve(K[2:, 2:], f[2:])[-2:]


def natural_frequencies(k, m):
    """Chain of masses and springs."""
    n = len(m)
    K = np.diag(k + np.append(k[1:], 0)) - np.diag(k[1:], 1) - np.diag(k[1:], -1)
    M = np.diag(m)
    lam, phi = eigh(K, M)
    return np.sqrt(lam) / (2 * pi)


def bar_sparse(areas, load, E=10.0):
    """Bars in a row, assembled from triplets."""
    n = len(areas)
    I, J, V = [], [], []
    for e in range(n):
        k = E * areas[e] * n
        for a in range(2):
            for b in range(2):
                I.append(e + a)
                J.append(e + b)
                V.append(k if a == b else -k)
    K = coo_matrix((V, (I, J)), shape=(n + 1, n + 1)).tocsr()
    f = np.zeros(n)
    f[-1] = load
    return spsolve(K[1:, 1:], f)


def plate_lil(n, k, q):
    A = lil_matrix((n, n))
    for i in range(n):
        A[i, i] = 2 * k
        if i > 0:
            A[i, i - 1] = -k
        if i < n - 1:
            A[i, i + 1] = -k
    return spsolve(A.tocsc(), q * np.ones(n))


def poisson_1d_diags(kappa, f):
    n = len(f)
    h = 1.0 / (n + 1)
    main = (kappa[:-1] + kappa[1:]) / h**2
    off = -kappa[1:-1] / h**2
    A = sparse.diags([off, main, off], [-1, 0, 1], format="csc")
    return spsolve(A, f)


def beam_deflection_banded(EI, q, n=6):
    """Clamped string on springs by a pentadiagonal system."""
    ab = np.zeros((5, n))
    ab[0, 2:] = EI
    ab[1, 1:] = -4 * EI
    ab[2, :] = 6 * EI + 0.5
    ab[3, :-1] = -4 * EI
    ab[4, :-2] = EI
    return solve_banded((2, 2), ab, q * np.ones(n))


def section_properties(vertices):
    """Area, centroid and second moment of a polygon."""
    A = Cx = Ixx = 0.0
    n = len(vertices)
    for k in range(n):
        x0, y0 = vertices[k]
        x1, y1 = vertices[(k + 1) % n]
        cross = x0 * y1 - x1 * y0
        A += cross / 2
        Cx += (x0 + x1) * cross / 6
        Ixx += (y0**2 + y0 * y1 + y1**2) * cross / 12
    return {"area": A, "cx": Cx / A, "Ixx": Ixx}


def principal_stresses(sx, sy, txy):
    c = (sx + sy) / 2
    R = math.sqrt(((sx - sy) / 2) ** 2 + txy**2)
    return c + R, c - R, 0.5 * math.degrees(math.atan2(2 * txy, sx - sy))


def von_mises(sigma):
    s = sigma - np.trace(sigma) / 3 * np.eye(3)
    return np.sqrt(1.5 * np.sum(s * s))


def euler_johnson_column(E, Sy, L, r, K=1.0):
    slenderness = K * L / r
    critical = math.sqrt(2 * pi**2 * E / Sy)
    if slenderness > critical:
        return pi**2 * E / slenderness**2
    return Sy * (1 - Sy * slenderness**2 / (4 * pi**2 * E))


def return_mapping(strains, E, H, sy):
    """One-dimensional plasticity with isotropic hardening."""
    ep, alpha = 0.0, 0.0
    stresses = []
    for eps in strains:
        trial = E * (eps - ep)
        f = abs(trial) - (sy + H * alpha)
        if f <= 0:
            stresses.append(trial)
            continue
        dg = f / (E + H)
        sign = 1 if trial > 0 else -1
        stresses.append(trial - E * dg * sign)
        ep += dg * sign
        alpha += dg
    return np.array(stresses), alpha


def newmark(m, c, k, p, dt, u0=0.0, beta=0.25, gamma=0.5):
    u, v = u0, 0.0
    a = (p[0] - c * v - k * u) / m
    keff = k + gamma / (beta * dt) * c + m / (beta * dt**2)
    response = np.zeros(len(p))
    response[0] = u
    for i in range(1, len(p)):
        rhs = p[i] + m * (u / (beta * dt**2) + v / (beta * dt) + (1 / (2 * beta) - 1) * a)
        rhs += c * (gamma / (beta * dt) * u + (gamma / beta - 1) * v + dt / 2 * (gamma / beta - 2) * a)
        un = rhs / keff
        vn = gamma / (beta * dt) * (un - u) + (1 - gamma / beta) * v + dt * (1 - gamma / (2 * beta)) * a
        a = (un - u) / (beta * dt**2) - v / (beta * dt) - (1 / (2 * beta) - 1) * a
        u, v = un, vn
        response[i] = u
    return np.max(np.abs(response)), response


def cst_stiffness(xy, E, nu, t=1.0):
    (x1, y1), (x2, y2), (x3, y3) = xy
    A = 0.5 * np.linalg.det(np.array([[1, x1, y1], [1, x2, y2], [1, x3, y3]]))
    b = [y2 - y3, y3 - y1, y1 - y2]
    c = [x3 - x2, x1 - x3, x2 - x1]
    B = np.zeros((3, 6))
    for i in range(3):
        B[0, 2 * i] = b[i]
        B[1, 2 * i + 1] = c[i]
        B[2, 2 * i], B[2, 2 * i + 1] = c[i], b[i]
    B /= 2 * A
    D = E / (1 - nu**2) * np.array([[1, nu, 0], [nu, 1, 0], [0, 0, (1 - nu) / 2]])
    return t * A * B.T @ D @ B


def quad4_gauss(xy, E):
    g = 1 / np.sqrt(3)
    K = np.zeros((4, 4))
    for xi in (-g, g):
        for eta in (-g, g):
            dN = 0.25 * np.array([[-(1 - eta), 1 - eta, 1 + eta, -(1 + eta)], [-(1 - xi), -(1 + xi), 1 + xi, 1 - xi]])
            J = dN @ xy
            G = np.linalg.inv(J) @ dN
            K += E * G.T @ G * np.linalg.det(J)
    return K


def catenary(span, weight, tension):
    a = tension / weight
    return a * (np.cosh(span / (2 * a)) - 1), 2 * a * np.sinh(span / (2 * a))


# --- circuits ---


def parallel(*resistors):
    return 1 / sum(1 / r for r in resistors)


def divider_gain(r1, r2, load):
    return parallel(r2, load) / (r1 + parallel(r2, load))


def nodal_analysis(resistances, source):
    """A small netlist: (node, node, ohm); node 0 is ground; current into node 1."""
    netlist = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 0)]
    n = max(max(pair) for pair in netlist)
    G = np.zeros((n, n))
    for (p, q), R in zip(netlist, resistances):
        g = 1.0 / R
        for a, b in ((p, q), (q, p)):
            if a:
                G[a - 1, a - 1] += g
                if b:
                    G[a - 1, b - 1] -= g
    I = np.zeros(n)
    I[0] = source
    V = np.linalg.solve(G, I)
    return {f"V{k + 1}": v for k, v in enumerate(V)}


def series_rlc_impedance(R, L, C, f):
    w = 2 * np.pi * f
    Z = R + 1j * w * L + 1 / (1j * w * C)
    return np.abs(Z), np.angle(Z, deg=True)


def diode_rectifier(Vs, R, Is=1e-12, n=1.8, Vt=0.02585):
    out = []
    for v in Vs:
        vd = min(v, 0.6)
        for _ in range(100):
            i = Is * (math.exp(vd / (n * Vt)) - 1)
            f = vd + R * i - v
            step = f / (1 + R * Is / (n * Vt) * math.exp(vd / (n * Vt)))
            vd -= max(-0.1, min(0.1, step))
            if abs(step) < 1e-14:
                break
        out.append(v - vd)
    return np.array(out)


def rc_ladder_step(R, C, n=3, dt=0.05, steps=10):
    v = np.zeros(n)
    for _ in range(steps):
        dv = np.zeros(n)
        for k in range(n):
            left = 1.0 if k == 0 else v[k - 1]
            current = (left - v[k]) / R
            if k < n - 1:
                current -= (v[k] - v[k + 1]) / R
            dv[k] = current / C
        v = v + dt * dv
    return v


def common_emitter_bias(Vcc, R1, R2, Re, beta=150.0):
    Vth = Vcc * R2 / (R1 + R2)
    Rth = parallel(R1, R2)
    Ib = fsolve(lambda ib: Vth - ib * Rth - 0.02585 * np.log(beta * ib / 1e-14) - (beta + 1) * ib * Re, 1e-5)[0]
    return beta * Ib


def ladder_abcd(Zs, Yp, ZL, freq):
    M = np.eye(2, dtype=complex)
    for L, C in zip(Zs, Yp):
        s = 2j * math.pi * freq
        M = M @ np.array([[1, s * L], [0, 1]]) @ np.array([[1, 0], [s * C, 1]])
    gain = 1 / (M[0, 0] + M[0, 1] / ZL)
    return 20 * math.log10(abs(gain))


def van_der_pol_amplitude(mu, t_end=3.0):
    sol = solve_ivp(
        lambda t, y: [y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]], (0, t_end), [1.0, 0.0], rtol=1e-9, atol=1e-9
    )
    return np.max(np.abs(sol.y[0]))


_r = np.random.RandomState(41)
_xy = np.array([[0.0, 0.0], [0.0, 1.0], [1.2, 0.1], [1.1, 1.2]])
CASES = [
    (truss_sag, (1.2, 100.0, 3.0)),
    (truss_arrays, (_xy, np.array([1.0, 2.0, 1.5, 0.7, 1.1]), 2.0)),
    (cantilever_fem, (200.0, 0.3, 2.0, 1.5)),
    (natural_frequencies, (np.array([100.0, 80.0, 60.0]), np.array([1.0, 2.0, 1.5]))),
    (bar_sparse, (np.array([1.0, 0.8, 0.5]), 2.0)),
    (plate_lil, (4, 2.0, 0.3)),
    (poisson_1d_diags, (np.array([1.0, 1.2, 0.8, 1.5]), np.array([1.0, 2.0, 0.5]))),
    (beam_deflection_banded, (2.0, 0.7)),
    (section_properties, ([(0.0, 0.0), (2.0, 0.1), (1.8, 1.5), (0.2, 1.2)],)),
    (principal_stresses, (80.0, -20.0, 35.0)),
    (von_mises, (_r.randn(3, 3),)),
    (euler_johnson_column, (200e3, 250.0, 3000.0, 40.0)),
    (euler_johnson_column, (200e3, 250.0, 8000.0, 40.0)),
    (return_mapping, ([0.001, 0.003, 0.0005, -0.002], 200.0, 10.0, 0.3)),
    (newmark, (1.0, 0.2, 9.0, np.array([0.0, 1.0, 0.5, 0.0, 0.0]), 0.1)),
    (cst_stiffness, ([(0.0, 0.0), (1.1, 0.1), (0.2, 0.9)], 200.0, 0.3)),
    (quad4_gauss, (np.array([[0.0, 0.0], [1.0, 0.1], [1.2, 1.1], [-0.1, 0.9]]), 3.0)),
    (catenary, (100.0, 0.5, 60.0)),
    (divider_gain, (1e3, 2.2e3, 1e4)),
    (nodal_analysis, ([10.0, 5.0, 20.0, 4.0, 8.0], 0.5)),
    (series_rlc_impedance, (50.0, 1e-3, 1e-6, np.array([1e3, 1e4]))),
    (diode_rectifier, (np.array([-1.0, 0.5, 2.0]), 1e3)),
    (rc_ladder_step, (1.0, 0.5)),
    (common_emitter_bias, (12.0, 4.7e4, 1e4, 1e3)),
    (ladder_abcd, ([1e-3, 2e-3], [1e-7, 2e-7], 50.0, 5e3)),
    (van_der_pol_amplitude, (1.0,)),
]
