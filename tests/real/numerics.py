"""Numerical methods by hand."""

import math
from itertools import count, islice, takewhile

import numpy as np
from numpy import linalg as LA
from numpy.polynomial.legendre import leggauss
from scipy.integrate import dblquad, quad, simpson, solve_bvp, solve_ivp
from scipy.interpolate import CubicSpline, RegularGridInterpolator
from scipy.optimize import bisect, minimize, newton_krylov, root_scalar


def trapezoid(f, a, b, n=20):
    h = (b - a) / n
    s = 0.5 * (f(a) + f(b))
    for i in range(1, n):
        s += f(a + i * h)
    return s * h


def gaussian_integral(a, b, width):
    return trapezoid(lambda x: math.exp(-((x / width) ** 2)), a, b)


def adaptive_simpson(f, a, b, eps):
    def simpson_rule(a, b):
        c = (a + b) / 2
        return (b - a) / 6 * (f(a) + 4 * f(c) + f(b))

    def recurse(a, b, eps, whole):
        c = (a + b) / 2
        left, right = simpson_rule(a, c), simpson_rule(c, b)
        if abs(left + right - whole) <= 15 * eps:
            return left + right + (left + right - whole) / 15
        return recurse(a, c, eps / 2, left) + recurse(c, b, eps / 2, right)

    return recurse(a, b, eps, simpson_rule(a, b))


def adaptive_integral(a, b, k):
    return adaptive_simpson(lambda x: math.sin(k * x) / (1 + x * x), a, b, 1e-4)


def gauss_legendre_quadrature(a, b, p, n=4):
    x, w = leggauss(n)
    t = 0.5 * (b - a) * x + 0.5 * (b + a)
    return 0.5 * (b - a) * np.sum(w * t**p * np.exp(-t))


def romberg(a, b, alpha, levels=4):
    f = lambda x: np.exp(-alpha * x) * np.cos(x)
    R = [[0.0] * levels for _ in range(levels)]
    for i in range(levels):
        n = 2**i
        x = np.linspace(a, b, n + 1)
        y = f(x)
        R[i][0] = (b - a) / n * (np.sum(y) - 0.5 * (y[0] + y[-1]))
        for j in range(1, i + 1):
            R[i][j] = R[i][j - 1] + (R[i][j - 1] - R[i - 1][j - 1]) / (4**j - 1)
    return R[-1][-1]


def double_integral(c, top):
    value, err = dblquad(lambda y, x: np.exp(-c * x * y), 0, 1, 0, lambda x: top * (1 - x))
    return value


def newton_raphson(f, df, x0, tol=1e-12, maxit=50):
    x = x0
    for i in range(maxit):
        fx = f(x)
        if abs(fx) < tol:
            return x
        dfx = df(x)
        if dfx == 0:
            raise ZeroDivisionError("flat")
        x = x - fx / dfx
    raise RuntimeError("did not converge")


def cube_root(a):
    return newton_raphson(lambda x: x**3 - a, lambda x: 3 * x**2, 1.0)


def secant_root(c, d, x0=0.0, x1=1.0):
    f = lambda x: math.exp(-c * x) - d * x
    f0, f1 = f(x0), f(x1)
    while abs(x1 - x0) > 1e-13 and f1 != f0:
        x0, x1 = x1, x1 - f1 * (x1 - x0) / (f1 - f0)
        f0, f1 = f1, f(x1)
    return x1


def root_by_scalar(a, b):
    sol = root_scalar(lambda x: x**3 - a * x - b, bracket=[1, 3], method="brentq", xtol=1e-14)
    if sol.converged:
        return sol.root
    raise ValueError


def bisect_cos(k):
    return bisect(lambda x: math.cos(k * x) - x, 0.0, 1.0, xtol=1e-14)


def newton_system(a, b, n=8):
    x = np.array([2.0, 1.0])
    for _ in range(n):
        F = np.array([x[0] ** 2 + x[1] ** 2 - a, x[0] * x[1] - b])
        J = np.array([[2 * x[0], 2 * x[1]], [x[1], x[0]]])
        x = x - LA.solve(J, F)
    return x


def newton_fd_jacobian(p, q):
    """Newton with a Jacobian by differences."""

    def F(x):
        return np.array([x[0] + p * x[1] ** 3 - 1.0, x[1] - q * np.sin(x[0])])

    x = np.array([0.5, 0.3])
    for _ in range(12):
        J = np.zeros((2, 2))
        for j in range(2):
            e = np.zeros(2)
            e[j] = 1e-6
            J[:, j] = (F(x + e) - F(x)) / 1e-6
        dx = np.linalg.solve(J, -F(x))
        x = x + dx
        if np.linalg.norm(dx) < 1e-13:
            break
    return x


def rk4(f, y0, t0, t1, n):
    h = (t1 - t0) / n
    ts, ys = [t0], [y0]
    for i in range(n):
        t, y = ts[-1], ys[-1]
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h * k1 / 2)
        k3 = f(t + h / 2, y + h * k2 / 2)
        k4 = f(t + h, y + h * k3)
        ys.append(y + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6)
        ts.append(t + h)
    return np.array(ts), np.array(ys)


def logistic_rk4(r, K, y0):
    return rk4(lambda t, y: r * y * (1 - y / K), y0, 0.0, 2.0, 8)[1]


def rkf45(lmbda, y0, tol=1e-6):
    """Adaptive steps by Fehlberg's pair."""
    t, y, h = 0.0, y0, 0.1
    f = lambda t, y: -lmbda * y + math.sin(t)
    steps = 0
    while t < 1.0 - 1e-12:
        h = min(h, 1.0 - t)
        k1 = h * f(t, y)
        k2 = h * f(t + h / 4, y + k1 / 4)
        k3 = h * f(t + 3 * h / 8, y + 3 * k1 / 32 + 9 * k2 / 32)
        k4 = h * f(t + 12 * h / 13, y + (1932 * k1 - 7200 * k2 + 7296 * k3) / 2197)
        k5 = h * f(t + h, y + 439 * k1 / 216 - 8 * k2 + 3680 * k3 / 513 - 845 * k4 / 4104)
        k6 = h * f(t + h / 2, y - 8 * k1 / 27 + 2 * k2 - 3544 * k3 / 2565 + 1859 * k4 / 4104 - 11 * k5 / 40)
        err = abs(k1 / 360 - 128 * k3 / 4275 - 2197 * k4 / 75240 + k5 / 50 + 2 * k6 / 55)
        if err <= tol:
            t += h
            y += 16 * k1 / 135 + 6656 * k3 / 12825 + 28561 * k4 / 56430 - 9 * k5 / 50 + 2 * k6 / 55
            steps += 1
        h *= min(2.0, max(0.3, 0.9 * (tol / (err + 1e-30)) ** 0.2))
    return y


def adams_bashforth(a, y0, h=0.1, n=6):
    f = lambda y: a * y - y**3
    y = [y0, y0 + h * f(y0)]
    for k in range(1, n):
        y.append(y[k] + h * (1.5 * f(y[k]) - 0.5 * f(y[k - 1])))
    return y[-1]


def backward_euler_newton(lam, y0, h=0.1, n=5):
    y = y0
    for k in range(n):
        z = y
        for _ in range(10):
            g = z - y - h * (-lam * z + math.cos(z))
            dg = 1 + h * (lam + math.sin(z))
            z -= g / dg
        y = z
    return y


def linear_convection(u, c, dx=0.1, dt=0.02, nt=5):
    for n in range(nt):
        un = u.copy()
        for i in range(1, len(u)):
            u[i] = un[i] - c * dt / dx * (un[i] - un[i - 1])
    return u


def burgers(u, nu, dx, dt, nt=4):
    for n in range(nt):
        un = u.copy()
        u[1:-1] = (
            un[1:-1] - un[1:-1] * dt / dx * (un[1:-1] - un[:-2]) + nu * dt / dx**2 * (un[2:] - 2 * un[1:-1] + un[:-2])
        )
        u[0] = un[0] - un[0] * dt / dx * (un[0] - un[-2]) + nu * dt / dx**2 * (un[1] - 2 * un[0] + un[-2])
        u[-1] = u[0]
    return u


def laplace_jacobi(p, y, target=1e-3):
    l1norm = 1.0
    while l1norm > target:
        pn = p.copy()
        p[1:-1, 1:-1] = 0.25 * (pn[1:-1, 2:] + pn[1:-1, :-2] + pn[2:, 1:-1] + pn[:-2, 1:-1])
        p[:, 0] = 0
        p[:, -1] = y
        p[0, :] = p[1, :]
        p[-1, :] = p[-2, :]
        l1norm = np.sum(np.abs(p) - np.abs(pn)) / np.sum(np.abs(pn))
    return p


def godunov_traffic(rho, vmax, rhomax=1.0, dt=0.05, dx=0.1, steps=3):
    F = lambda r: vmax * r * (1 - r / rhomax)
    crit = rhomax / 2
    for _ in range(steps):
        demand = np.where(rho < crit, F(rho), F(crit))
        supply = np.where(rho > crit, F(rho), F(crit))
        flux = np.minimum(demand[:-1], supply[1:])
        rho_new = rho.copy()
        rho_new[1:-1] = rho[1:-1] - dt / dx * (flux[1:] - flux[:-1])
        rho = rho_new
    return rho


def minmod_reconstruct(u):
    du = np.diff(u)
    a, b = du[:-1], du[1:]
    slope = 0.5 * (np.sign(a) + np.sign(b)) * np.minimum(np.abs(a), np.abs(b))
    return u[1:-1] + 0.5 * slope


def natural_spline(x, y, xq):
    """Second derivatives by elimination, then evaluation."""
    n = len(x)
    h = [x[i + 1] - x[i] for i in range(n - 1)]
    alpha = [0.0] + [3 / h[i] * (y[i + 1] - y[i]) - 3 / h[i - 1] * (y[i] - y[i - 1]) for i in range(1, n - 1)]
    l, mu, z = [1.0] * n, [0.0] * n, [0.0] * n
    for i in range(1, n - 1):
        l[i] = 2 * (x[i + 1] - x[i - 1]) - h[i - 1] * mu[i - 1]
        mu[i] = h[i] / l[i]
        z[i] = (alpha[i] - h[i - 1] * z[i - 1]) / l[i]
    b, c, d = [0.0] * n, [0.0] * n, [0.0] * n
    for j in range(n - 2, -1, -1):
        c[j] = z[j] - mu[j] * c[j + 1]
        b[j] = (y[j + 1] - y[j]) / h[j] - h[j] * (c[j + 1] + 2 * c[j]) / 3
        d[j] = (c[j + 1] - c[j]) / (3 * h[j])
    k = max(i for i in range(n - 1) if x[i] <= xq)
    t = xq - x[k]
    return y[k] + b[k] * t + c[k] * t**2 + d[k] * t**3


def lagrange(x, xs, ys):
    total = 0
    for i, (xi, yi) in enumerate(zip(xs, ys)):
        term = yi
        for j, xj in enumerate(xs):
            if i != j:
                term *= (x - xj) / (xi - xj)
        total += term
    return total


def divided_differences(x, y, q):
    n = len(x)
    coef = np.zeros([n, n])
    coef[:, 0] = y
    for j in range(1, n):
        for i in range(n - j):
            coef[i][j] = (coef[i + 1][j - 1] - coef[i][j - 1]) / (x[i + j] - x[i])
    p = coef[0][n - 1]
    for k in range(2, n + 1):
        p = coef[0][n - k] + (q - x[n - k]) * p
    return p


def table_lookup_2d(x, y, xs, ys, table):
    i = min(max(int(np.searchsorted(xs, x)) - 1, 0), len(xs) - 2)
    j = min(max(int(np.searchsorted(ys, y)) - 1, 0), len(ys) - 2)
    tx = (x - xs[i]) / (xs[i + 1] - xs[i])
    ty = (y - ys[j]) / (ys[j + 1] - ys[j])
    return (
        (1 - tx) * (1 - ty) * table[i, j]
        + tx * (1 - ty) * table[i + 1, j]
        + (1 - tx) * ty * table[i, j + 1]
        + tx * ty * table[i + 1, j + 1]
    )


def grid_interpolator(x, y, table):
    f = RegularGridInterpolator((np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0])), table)
    return f((x, y)).item()


def gauss_elimination(A, b):
    A, b = A.copy(), b.copy()
    n = len(b)
    for k in range(n - 1):
        p = k + int(np.argmax(np.abs(A[k:, k])))
        if p != k:
            A[[k, p]] = A[[p, k]]
            b[[k, p]] = b[[p, k]]
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            A[i, k:] -= factor * A[k, k:]
            b[i] -= factor * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return x


def cholesky_banachiewicz(A):
    n = len(A)
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = sum(L[i][k] * L[j][k] for k in range(j))
            if i == j:
                L[i][j] = math.sqrt(A[i][i] - s)
            else:
                L[i][j] = (A[i][j] - s) / L[j][j]
    return L


def gram_schmidt(A):
    Q = np.zeros_like(A)
    R = np.zeros((A.shape[1], A.shape[1]))
    for j in range(A.shape[1]):
        v = A[:, j]
        for i in range(j):
            R[i, j] = Q[:, i] @ A[:, j]
            v = v - R[i, j] * Q[:, i]
        R[j, j] = LA.norm(v)
        Q[:, j] = v / R[j, j]
    return Q, R


def conjugate_gradient(A, b, tol=1e-12):
    x = np.zeros_like(b)
    r = b - A @ x
    p = r.copy()
    rs = r @ r
    for _ in range(len(b)):
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x = x + alpha * p
        r = r - alpha * Ap
        rs_new = r @ r
        if math.sqrt(rs_new) < tol:
            break
        p = r + (rs_new / rs) * p
        rs = rs_new
    return x


def power_iteration(A, n=25):
    v = np.ones(A.shape[0])
    lam = 0.0
    for _ in range(n):
        w = A @ v
        v = w / np.linalg.norm(w)
        lam_new = v @ A @ v
        if abs(lam_new - lam) < 1e-15:
            break
        lam = lam_new
    return lam_new, v


def gauss_seidel(A, b, w=1.1, sweeps=10):
    x = np.zeros(len(b))
    for _ in range(sweeps):
        for i in range(len(b)):
            sigma = 0.0
            for j in range(len(b)):
                if j != i:
                    sigma += A[i, j] * x[j]
            x[i] = (1 - w) * x[i] + w / A[i, i] * (b[i] - sigma)
    return x


def series_with_generator(x):
    def terms():
        term = 1.0
        for n in count(1):
            yield term
            term = term * x / n

    return sum(takewhile(lambda t: abs(t) > 1e-14, terms()))


def continued_fraction(x, depth=8):
    value = 0.0
    for k in range(depth, 0, -1):
        value = k * x / (1 + value)
    return 1 / (1 + value)


def agm_pi(a, b):
    n = 0
    while abs(a - b) > 1e-15 and n < 10:
        a, b = (a + b) / 2, math.sqrt(a * b)
        n += 1
    return a


def richardson(x, h=0.2, levels=3):
    f = lambda t: math.sin(t) * math.exp(t / 3)
    D = np.zeros((levels, levels))
    for i in range(levels):
        D[i, 0] = (f(x + h) - f(x - h)) / (2 * h)
        for j in range(1, i + 1):
            D[i, j] = D[i, j - 1] + (D[i, j - 1] - D[i - 1, j - 1]) / (4**j - 1)
        h /= 2
    return D[levels - 1, levels - 1]


def shooting(alpha, beta):
    """Boundary value problem y'' = -alpha y, y(0)=0, y(1)=beta, by secants on the slope."""

    def end(s):
        y, v, h = 0.0, s, 0.05
        for _ in range(20):
            y, v = y + h * v, v - h * alpha * y
        return y - beta

    s0, s1 = 0.0, 1.0
    e0, e1 = end(s0), end(s1)
    for _ in range(3):
        if abs(e1 - e0) < 1e-14:
            break
        s0, s1, e0 = s1, s1 - e1 * (s1 - s0) / (e1 - e0), e1
        e1 = end(s1)
    return s1


def bvp_scipy(k):
    x = np.linspace(0, 1, 9)
    sol = solve_bvp(
        lambda x, y: np.vstack((y[1], -k * y[0])), lambda a, b: np.array([a[0], b[0] - 1]), x, np.zeros((2, 9))
    )
    return sol.sol(0.5)[0]


def nelder_mead_min(a):
    res = minimize(lambda x: (x[0] - a) ** 2 + (x[1] + a) ** 2, [0.0, 0.0], method="Nelder-Mead")
    return res.x


def simpson_scipy(y, dx):
    return simpson(y, dx=dx)


def gradient_descent_momentum(A, b, lr=0.05, beta=0.8, n=10):
    x = np.zeros(len(b))
    v = np.zeros(len(b))
    path = [x]
    for _ in range(n):
        g = A @ x - b
        v = beta * v + g
        x = x - lr * v
        path.append(x)
    return np.array(path)[-1], 0.5 * x @ A @ x - b @ x


_r = np.random.RandomState(51)
_M = _r.rand(3, 3) + 2 * np.eye(3)
_S = _M @ _M.T
CASES = [
    (gaussian_integral, (0.0, 1.5, 0.8)),
    (adaptive_integral, (0.1, 2.0, 1.5)),
    (gauss_legendre_quadrature, (0.2, 1.7, 2.5)),
    (romberg, (0.0, 1.5, 0.7)),
    (double_integral, (0.7, 1.2)),
    (cube_root, (5.0,)),
    (secant_root, (1.3, 0.8)),
    (root_by_scalar, (2.0, 1.5)),
    (bisect_cos, (1.2,)),
    (newton_system, (5.0, 1.5)),
    (newton_fd_jacobian, (0.6, 0.9)),
    (logistic_rk4, (1.1, 2.0, 0.3)),
    (rkf45, (3.0, 1.0)),
    (adams_bashforth, (0.7, 0.4)),
    (backward_euler_newton, (2.0, 0.5)),
    (linear_convection, (_r.rand(6), 1.2)),
    (burgers, (_r.rand(6), 0.07, 0.5, 0.1)),
    (laplace_jacobi, (_r.rand(4, 5), np.linspace(0.1, 1.0, 4), 0.05)),
    (godunov_traffic, (_r.rand(6), 1.3)),
    (minmod_reconstruct, (_r.rand(6),)),
    (natural_spline, (np.array([0.0, 1.0, 1.8, 3.1]), np.array([1.0, 0.3, -0.4, 0.6]), 1.4)),
    (lagrange, (0.7, [0.0, 0.5, 1.2], [1.0, -0.3, 0.8])),
    (divided_differences, (np.array([0.0, 1.0, 1.8, 3.1]), np.array([1.0, 0.3, -0.4, 0.6]), 1.4)),
    (table_lookup_2d, (0.7, 1.6, np.array([0.0, 0.5, 1.0]), np.array([1.0, 1.5, 2.0]), _r.rand(3, 3))),
    (grid_interpolator, (0.7, 0.4, _r.rand(3, 2))),
    (gauss_elimination, (_r.randn(3, 3), _r.randn(3))),
    (cholesky_banachiewicz, (_S,)),
    (gram_schmidt, (_r.randn(3, 2),)),
    (conjugate_gradient, (_S, _r.randn(3))),
    (power_iteration, (_S,), 1e-5, 1e-4),  # the number of iterations moves, and the result by 3e-9 with it
    (gauss_seidel, (_S, _r.randn(3))),
    (series_with_generator, (0.7,)),
    (continued_fraction, (0.4,)),
    (agm_pi, (1.0, 0.7)),
    (richardson, (0.8,)),
    (shooting, (2.0, 1.5)),
    (bvp_scipy, (2.0,), 1e-4),  # a mesh that is chosen by the values
    (nelder_mead_min, (0.7,), 1e-2, 1e-1),  # the simplex ends at 1e-4
    (simpson_scipy, (_r.rand(7), 0.1)),
    (gradient_descent_momentum, (_S, _r.randn(3))),
]
