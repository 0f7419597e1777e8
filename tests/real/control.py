"""Control and filters: PID loops, Kalman filters, Riccati, state space."""

from dataclasses import dataclass

import numpy as np
from numpy.linalg import inv, norm
from scipy.linalg import block_diag, expm, solve_continuous_are, solve_continuous_lyapunov, solve_discrete_are


class PID:
    def __init__(self, Kp, Ki, Kd, setpoint=0.0, limits=(None, None)):
        self.Kp, self.Ki, self.Kd = Kp, Ki, Kd
        self.setpoint = setpoint
        self.low, self.high = limits
        self._integral = 0.0
        self._last_error = None

    def update(self, measurement, dt):
        if dt <= 0:
            raise ValueError("dt has negative value {}, must be positive".format(dt))
        error = self.setpoint - measurement
        self._integral += self.Ki * error * dt
        if self._last_error is None:
            d = 0.0
        else:
            d = (error - self._last_error) / dt
        self._last_error = error
        out = self.Kp * error + self._integral + self.Kd * d
        if self.high is not None and out > self.high:
            out = self.high
        elif self.low is not None and out < self.low:
            out = self.low
        return out


def pid_step_response(Kp, Ki, Kd, setpoint=1.0, n=15):
    pid = PID(Kp, Ki, Kd, setpoint, limits=(-5, 5))
    y, v = 0.0, 0.0
    trace = []
    for _ in range(n):
        u = pid.update(y, 0.1)
        v += 0.1 * (u - 0.8 * v - y)
        y += 0.1 * v
        trace.append(y)
    overshoot = max(trace) - setpoint
    iae = sum(abs(setpoint - s) for s in trace) * 0.1
    return iae, overshoot


class KalmanFilter:
    def __init__(self, dim_x, dim_z):
        self.x = np.zeros((dim_x, 1))
        self.P = np.eye(dim_x)
        self.Q = np.eye(dim_x)
        self.F = np.eye(dim_x)
        self.H = np.zeros((dim_z, dim_x))
        self.R = np.eye(dim_z)
        self._I = np.eye(dim_x)
        self.log_likelihood = 0.0

    def predict(self, u=None, B=None):
        self.x = np.dot(self.F, self.x)
        if u is not None:
            self.x = self.x + np.dot(B, u)
        self.P = np.dot(np.dot(self.F, self.P), self.F.T) + self.Q

    def update(self, z):
        if z is None:
            return
        self.y = np.atleast_2d(z).T - self.H @ self.x
        PHT = self.P @ self.H.T
        self.S = self.H @ PHT + self.R
        self.SI = inv(self.S)
        self.K = PHT @ self.SI
        self.x = self.x + self.K @ self.y
        I_KH = self._I - self.K @ self.H
        self.P = I_KH @ self.P @ I_KH.T + self.K @ self.R @ self.K.T
        quad = (self.y.T @ self.SI @ self.y)[0, 0]
        self.log_likelihood += -0.5 * (quad + np.log(np.linalg.det(self.S)) + len(self.S) * np.log(2 * np.pi))


def track_constant_velocity(zs, dt, q, r):
    kf = KalmanFilter(dim_x=2, dim_z=1)
    kf.F = np.array([[1.0, dt], [0.0, 1.0]])
    kf.H = np.array([[1.0, 0.0]])
    kf.P *= 10.0
    kf.R = kf.R * r
    kf.Q = q * np.array([[dt**4 / 4, dt**3 / 2], [dt**3 / 2, dt**2]])
    xs = []
    for z in zs:
        kf.predict()
        kf.update(z)
        xs.append(kf.x.copy())
    return np.array(xs)[:, :, 0], kf.log_likelihood


def kalman_missing(zs, q, r):
    kf = KalmanFilter(1, 1)
    kf.H = np.array([[1.0]])
    kf.Q = np.array([[q]])
    kf.R = np.array([[r]])
    for z in zs:
        kf.predict()
        kf.update(z)
    return kf.x[0, 0], kf.P[0, 0]


def rts_smoother(Xs, Ps, F, Q):
    n = Xs.shape[0]
    x, P = Xs.copy(), Ps.copy()
    for k in range(n - 2, -1, -1):
        Pp = F @ P[k] @ F.T + Q
        K = P[k] @ F.T @ np.linalg.inv(Pp)
        x[k] += K @ (x[k + 1] - F @ x[k])
        P[k] += K @ (P[k + 1] - Pp) @ K.T
    return x, P


def ekf_range_bearing(x, P, z, landmark, R):
    dx, dy = landmark[0] - x[0], landmark[1] - x[1]
    q = dx**2 + dy**2
    zhat = np.array([np.sqrt(q), np.arctan2(dy, dx) - x[2]])
    H = np.array([[-dx / np.sqrt(q), -dy / np.sqrt(q), 0], [dy / q, -dx / q, -1]])
    y = z - zhat
    y[1] = (y[1] + np.pi) % (2 * np.pi) - np.pi
    S = H @ P @ H.T + R
    K = P @ H.T @ inv(S)
    return x + K @ y, (np.eye(3) - K @ H) @ P


def unscented_transform(mean, cov, alpha=0.5, kappa=0.0, beta=2.0):
    n = len(mean)
    lam = alpha**2 * (n + kappa) - n
    U = np.linalg.cholesky((n + lam) * (cov + cov.T) / 2)
    sigmas = [mean]
    for k in range(n):
        sigmas.append(mean + U[:, k])
        sigmas.append(mean - U[:, k])
    sigmas = np.array(sigmas)
    Wm = np.full(2 * n + 1, 0.5 / (n + lam))
    Wc = np.full(2 * n + 1, 0.5 / (n + lam))
    Wm[0] = lam / (n + lam)
    Wc[0] = lam / (n + lam) + (1 - alpha**2 + beta)
    Y = np.array([[s[0] * np.cos(s[1]), s[0] * np.sin(s[1])] for s in sigmas])
    m = Wm @ Y
    d = Y - m
    return m, d.T @ np.diag(Wc) @ d


def particle_filter_weights(particles, weights, z, sigma):
    w = weights * np.exp(-0.5 * ((particles - z) / sigma) ** 2)
    w += 1.0e-300
    w /= sum(w)
    neff = 1.0 / np.sum(np.square(w))
    mean = np.average(particles, weights=w)
    var = np.average((particles - mean) ** 2, weights=w)
    return neff, mean, var


def g_h_filter(data, x0, dx, g, h, dt=1.0):
    x_est = x0
    results = []
    for z in data:
        x_pred = x_est + dx * dt
        residual = z - x_pred
        dx = dx + h * residual / dt
        x_est = x_pred + g * residual
        results.append(x_est)
    return np.array(results)


def dlqr_iterated(A, B, Q, R, eps=1e-12, maxiter=300):
    P = Q
    for _ in range(maxiter):
        Pn = A.T @ P @ A - A.T @ P @ B @ inv(R + B.T @ P @ B) @ B.T @ P @ A + Q
        if (abs(Pn - P)).max() < eps:
            P = Pn
            break
        P = Pn
    K = inv(R + B.T @ P @ B) @ (B.T @ P @ A)
    return K, P


def lqr(A, B, q, r):
    """Gain for the weights q of the states and r of the inputs."""
    Q, R = np.diag(q), np.diag(r)
    X = solve_continuous_are(A, B, Q, R)
    K = np.linalg.solve(R, B.T @ X)
    return K


def dlqr_scipy(A, B, q, r):
    """The weights are vectors, since SciPy takes symmetric matrices only."""
    R = np.diag(r)
    X = solve_discrete_are(A, B, np.diag(q), R)
    return inv(B.T @ X @ B + R) @ (B.T @ X @ A)


def h2_norm(A, B, C):
    W = solve_continuous_lyapunov(A, -B @ B.T)
    return np.sqrt(np.trace(C @ W @ C.T))


def c2d(A, B, dt):
    """Zero order hold by the exponential of the extended matrix."""
    n, m = B.shape
    M = np.zeros((n + m, n + m))
    M[:n, :n] = A * dt
    M[:n, n:] = B * dt
    E = expm(M)
    return E[:n, :n], E[:n, n:]


def bode_point(num, den, omega):
    s = 1j * omega
    H = np.polyval(num, s) / np.polyval(den, s)
    return 20 * np.log10(np.abs(H)), np.degrees(np.angle(H))


def routh_first_column(coeffs):
    n = len(coeffs)
    cols = (n + 1) // 2
    table = np.zeros((n, cols))
    table[0, : len(coeffs[0::2])] = coeffs[0::2]
    table[1, : len(coeffs[1::2])] = coeffs[1::2]
    for i in range(2, n):
        for j in range(cols - 1):
            table[i, j] = (table[i - 1, 0] * table[i - 2, j + 1] - table[i - 2, 0] * table[i - 1, j + 1]) / table[
                i - 1, 0
            ]
    return table[:, 0]


def controllability_gramian(A, B, n=4):
    blocks = [B]
    for _ in range(n - 1):
        blocks.append(A @ blocks[-1])
    C = np.hstack(blocks)
    return np.linalg.det(C @ C.T)


def mpc_cost(u, x0, A, B, q, r):
    x, cost = x0, 0.0
    for uk in u:
        x = A @ x + B.ravel() * uk
        cost += q * x @ x + r * uk**2
    return cost


@dataclass
class State:
    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0
    v: float = 0.0

    def update(self, a, delta, dt=0.1, L=2.9):
        self.x += self.v * np.cos(self.yaw) * dt
        self.y += self.v * np.sin(self.yaw) * dt
        self.yaw += self.v / L * np.tan(delta) * dt
        self.v += a * dt


def pure_pursuit(course, v0, k, steps=8):
    state = State(v=v0, y=-0.5)
    for _ in range(steps):
        dx = [state.x - p[0] for p in course]
        dy = [state.y - p[1] for p in course]
        d = np.hypot(dx, dy)
        ind = min(int(np.argmin(d)) + 1, len(course) - 1)
        alpha = np.arctan2(course[ind][1] - state.y, course[ind][0] - state.x) - state.yaw
        Lf = k * state.v + 1.0
        delta = np.arctan2(2 * 2.9 * np.sin(alpha) / Lf, 1.0)
        state.update(0.3 * (3.0 - state.v), delta)
    return state.x, state.y, state.yaw


def second_order_step(zeta, wn, t):
    if zeta < 1:
        wd = wn * np.sqrt(1 - zeta**2)
        return 1 - np.exp(-zeta * wn * t) * (np.cos(wd * t) + zeta / np.sqrt(1 - zeta**2) * np.sin(wd * t))
    elif zeta == 1:
        return 1 - np.exp(-wn * t) * (1 + wn * t)
    s = np.sqrt(zeta**2 - 1)
    p1, p2 = -wn * (zeta - s), -wn * (zeta + s)
    return 1 + wn / (2 * s) * (np.exp(p1 * t) / p1 - np.exp(p2 * t) / p2) * wn


def tracking_loss_blocks(F1, F2, x):
    F = block_diag(F1, F2)
    return norm(F @ x - x) ** 2 + norm(F, "fro")


def lsim_loop(A, B, C, u):
    x = np.zeros(A.shape[0])
    y = []
    for k in range(len(u)):
        y.append((C @ x).item())
        x = A @ x + B[:, 0] * u[k]
    return np.array(y)


_A = np.array([[0.9, 0.2], [-0.1, 0.8]])
_B = np.array([[0.1], [0.5]])
_cov = np.array([[0.5, 0.1], [0.1, 0.3]])
_r = np.random.RandomState(12)
CASES = [
    (pid_step_response, (2.0, 0.5, 0.3)),
    (pid_step_response, (20.0, 0.5, 0.3)),
    (track_constant_velocity, (_r.randn(4), 0.5, 0.1, 0.7)),
    (kalman_missing, ([0.5, None, 0.9], 0.1, 0.5)),
    (rts_smoother, (_r.randn(3, 2), np.stack([_cov, 2 * _cov, _cov]), _A, 0.1 * np.eye(2))),
    (
        ekf_range_bearing,
        (np.array([0.1, 0.2, 0.3]), 0.1 * np.eye(3), np.array([2.0, 0.5]), [1.5, 1.4], 0.05 * np.eye(2)),
    ),
    (unscented_transform, (np.array([2.0, 0.4]), _cov)),
    (particle_filter_weights, (_r.randn(5), np.full(5, 0.2), 0.3, 0.8)),
    (g_h_filter, ([1.0, 2.1, 2.9, 4.2], 0.0, 1.0, 0.6, 0.2)),
    (dlqr_iterated, (_A, _B, np.eye(2), np.array([[0.5]]))),
    (lqr, (np.array([[0.0, 1.0], [-1.0, -0.5]]), np.array([[0.0], [1.0]]), np.ones(2), np.array([0.5]))),
    (dlqr_scipy, (_A, _B, np.ones(2), np.array([0.5]))),
    (h2_norm, (np.array([[-1.0, 0.3], [0.2, -0.7]]), _B, np.array([[1.0, 0.5]]))),
    (c2d, (_A, _B, 0.1)),
    (bode_point, (np.array([1.0, 2.0]), np.array([1.0, 0.4, 3.0]), 1.3)),
    (routh_first_column, (np.array([1.0, 3.0, 5.0, 2.0]),)),
    (controllability_gramian, (_A, _B)),
    (mpc_cost, (np.array([0.3, -0.2, 0.1]), np.array([1.0, 0.5]), _A, _B, 1.0, 0.1)),
    (pure_pursuit, ([(0.0, 0.0), (1.0, 0.2), (2.0, 0.6), (3.5, 1.1)], 2.0, 0.4)),
    (second_order_step, (0.4, 2.0, np.array([0.5, 1.0]))),
    (second_order_step, (1.4, 2.0, np.array([0.5, 1.0]))),
    (tracking_loss_blocks, (_A, np.array([[1.1]]), np.array([1.0, 0.5, -0.4]))),
    (lsim_loop, (_A, _B, np.array([[1.0, 0.3]]), np.array([1.0, 0.5, -0.2, 0.0]))),
]
