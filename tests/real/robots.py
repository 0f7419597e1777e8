"""Robotics: kinematics, rotations, quaternions, registration."""

import math
from math import acos, atan2, cos, sin, sqrt

import numpy as np
from scipy.linalg import expm, logm
from scipy.optimize import least_squares

_EPS = np.finfo(float).eps * 4.0


def rotx(theta, unit="rad"):
    if unit == "deg":
        theta = theta * math.pi / 180
    ct, st = math.cos(theta), math.sin(theta)
    return np.array([[1, 0, 0], [0, ct, -st], [0, st, ct]])


def rotz(theta, unit="rad"):
    if unit == "deg":
        theta = theta * math.pi / 180
    ct, st = math.cos(theta), math.sin(theta)
    return np.array([[ct, -st, 0], [st, ct, 0], [0, 0, 1]])


def rpy2r(roll, pitch, yaw, order="zyx", unit="rad"):
    if unit == "deg":
        roll, pitch, yaw = (math.radians(a) for a in (roll, pitch, yaw))
    Ry = np.array([[cos(pitch), 0, sin(pitch)], [0, 1, 0], [-sin(pitch), 0, cos(pitch)]])
    if order == "zyx":
        return rotz(yaw) @ Ry @ rotx(roll)
    elif order == "xyz":
        return rotx(yaw) @ Ry @ rotz(roll)
    raise ValueError("Invalid angle order")


def euler_matrix_axes(ai, aj, ak, axes="sxyz"):
    """A matrix for any of the twenty-four conventions of Euler angles."""
    _NEXT_AXIS = [1, 2, 0, 1]
    firstaxis, parity, repetition, frame = {"sxyz": (0, 0, 0, 0), "sxzx": (0, 1, 1, 0), "rzyx": (0, 0, 0, 1)}[axes]
    i = firstaxis
    j = _NEXT_AXIS[i + parity]
    k = _NEXT_AXIS[i - parity + 1]
    if frame:
        ai, ak = ak, ai
    if parity:
        ai, aj, ak = -ai, -aj, -ak
    si, sj, sk = math.sin(ai), math.sin(aj), math.sin(ak)
    ci, cj, ck = math.cos(ai), math.cos(aj), math.cos(ak)
    cc, cs = ci * ck, ci * sk
    sc, ss = si * ck, si * sk
    M = np.eye(3)
    if repetition:
        M[i, i] = cj
        M[i, j] = sj * si
        M[i, k] = sj * ci
        M[j, i] = sj * sk
        M[j, j] = -cj * ss + cc
        M[j, k] = -cj * cs - sc
        M[k, i] = -sj * ck
        M[k, j] = cj * sc + cs
        M[k, k] = cj * cc - ss
    else:
        M[i, i] = cj * ck
        M[i, j] = sj * sc - cs
        M[i, k] = sj * cc + ss
        M[j, i] = cj * sk
        M[j, j] = sj * ss + cc
        M[j, k] = sj * cs - sc
        M[k, i] = -sj
        M[k, j] = cj * si
        M[k, k] = cj * ci
    return M


def qmult(q1, q2):
    w1, x1, y1, z1 = q1
    w2, x2, y2, z2 = q2
    w = w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2
    x = w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2
    y = w1 * y2 + y1 * w2 + z1 * x2 - x1 * z2
    z = w1 * z2 + z1 * w2 + x1 * y2 - y1 * x2
    return np.array([w, x, y, z])


def quat2mat(q):
    w, x, y, z = q
    Nq = w * w + x * x + y * y + z * z
    if Nq < _EPS:
        return np.eye(3)
    s = 2.0 / Nq
    X, Y, Z = x * s, y * s, z * s
    wX, wY, wZ = w * X, w * Y, w * Z
    xX, xY, xZ = x * X, x * Y, x * Z
    yY, yZ, zZ = y * Y, y * Z, z * Z
    return np.array(
        [[1.0 - (yY + zZ), xY - wZ, xZ + wY], [xY + wZ, 1.0 - (xX + zZ), yZ - wX], [xZ - wY, yZ + wX, 1.0 - (xX + yY)]]
    )


def mat2quat(R):
    tr = R[0, 0] + R[1, 1] + R[2, 2]
    if tr > 0:
        s = 0.5 / math.sqrt(tr + 1.0)
        return np.array([0.25 / s, (R[2, 1] - R[1, 2]) * s, (R[0, 2] - R[2, 0]) * s, (R[1, 0] - R[0, 1]) * s])
    elif R[0, 0] > R[1, 1] and R[0, 0] > R[2, 2]:
        s = 2 * math.sqrt(1.0 + R[0, 0] - R[1, 1] - R[2, 2])
        return np.array([(R[2, 1] - R[1, 2]) / s, 0.25 * s, (R[0, 1] + R[1, 0]) / s, (R[0, 2] + R[2, 0]) / s])
    raise NotImplementedError("turn the frame first")


def quaternion_of_roll(roll, pitch):
    return mat2quat(rpy2r(roll, pitch, 0.1))


def slerp(q0, q1, fraction, shortest=True):
    q0 = q0 / np.linalg.norm(q0)
    q1 = q1 / np.linalg.norm(q1)
    d = np.dot(q0, q1)
    if shortest and d < 0.0:
        d = -d
        q1 = -q1
    if abs(abs(d) - 1.0) < _EPS:
        return q0
    angle = math.acos(d)
    isin = 1.0 / math.sin(angle)
    return q0 * math.sin((1.0 - fraction) * angle) * isin + q1 * math.sin(fraction * angle) * isin


def axangle(axis, angle, is_normalized=False):
    x, y, z = axis
    if not is_normalized:
        n = math.sqrt(x * x + y * y + z * z)
        x, y, z = x / n, y / n, z / n
    c, s = math.cos(angle), math.sin(angle)
    C = 1 - c
    xs, ys, zs = x * s, y * s, z * s
    return np.array(
        [
            [x * x * C + c, x * y * C - zs, z * x * C + ys],
            [x * y * C + zs, y * y * C + c, y * z * C - xs],
            [z * x * C - ys, y * z * C + xs, z * z * C + c],
        ]
    )


def skew(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def rodrigues(w):
    theta = np.linalg.norm(w)
    if theta < 1e-12:
        return np.eye(3)
    K = skew(w / theta)
    return np.eye(3) + np.sin(theta) * K + (1 - np.cos(theta)) * K @ K


def trexp_se3(twist, theta=1.0):
    S = np.zeros((4, 4))
    S[:3, :3] = skew(twist[3:])
    S[:3, 3] = twist[:3]
    return expm(S * theta)


def rotation_error(wa, wb):
    R = rodrigues(wa).T @ rodrigues(wb)
    return np.degrees(np.arccos(np.clip((np.trace(R) - 1) / 2, -1.0, 1.0)))


class Link:
    def __init__(self, a=0.0, alpha=0.0, d=0.0, offset=0.0):
        self.a, self.alpha, self.d, self.offset = a, alpha, d, offset

    def A(self, q):
        q = q + self.offset
        ca, sa = math.cos(self.alpha), math.sin(self.alpha)
        cq, sq = math.cos(q), math.sin(q)
        return np.array(
            [
                [cq, -sq * ca, sq * sa, self.a * cq],
                [sq, cq * ca, -cq * sa, self.a * sq],
                [0, sa, ca, self.d],
                [0, 0, 0, 1],
            ]
        )


class SerialArm:
    def __init__(self, links):
        self.links = links
        self.n = len(links)

    def fkine(self, q):
        if len(q) != self.n:
            raise ValueError(f"need {self.n} joints, got {len(q)}")
        T = np.eye(4)
        for link, qi in zip(self.links, q):
            T = T @ link.A(qi)
        return T

    def jacob0(self, q):
        T = np.eye(4)
        frames = [T]
        for link, qi in zip(self.links, q):
            T = T @ link.A(qi)
            frames.append(T)
        end = T[:3, 3]
        J = np.zeros((6, self.n))
        for i in range(self.n):
            z, p = frames[i][:3, 2], frames[i][:3, 3]
            J[:3, i] = np.cross(z, end - p)
            J[3:, i] = z
        return J


ARM = SerialArm([Link(a=0.0, alpha=math.pi / 2, d=0.4), Link(a=0.5), Link(a=0.35, alpha=0.1, offset=0.2)])


def arm_pose(q):
    T = ARM.fkine(q)
    return T[:3, 3], T[0, 0]


def manipulability(q):
    J = ARM.jacob0(q)[:3]
    return np.sqrt(np.linalg.det(J @ J.T))


def arm_by_lengths(q, lengths):
    arm = SerialArm([Link(a=l, alpha=0.3 * k) for k, l in enumerate(lengths)])
    return arm.fkine(q)[:3, 3]


def planar_ik(x, y, l1, l2, elbow="up"):
    c2 = (x**2 + y**2 - l1**2 - l2**2) / (2 * l1 * l2)
    if abs(c2) > 1:
        raise ValueError("target out of reach")
    s2 = sqrt(1 - c2**2) * (1 if elbow == "up" else -1)
    t2 = atan2(s2, c2)
    t1 = atan2(y, x) - atan2(l2 * s2, l1 + l2 * c2)
    return t1, t2


def ik_damped(target, q0, lam=0.1, n=5):
    q = q0.copy()
    for _ in range(n):
        err = target - ARM.fkine(q)[:3, 3]
        J = ARM.jacob0(q)[:3]
        dq = J.T @ np.linalg.solve(J @ J.T + lam**2 * np.eye(3), err)
        q += dq
    return q


def icp_step(source, target):
    """One step of iterative closest points: rotation and translation by the SVD."""
    d2 = np.sum((source[:, None, :] - target[None, :, :]) ** 2, axis=2)
    matches = target[np.argmin(d2, axis=1)]
    mu_s, mu_t = source.mean(axis=0), matches.mean(axis=0)
    W = (matches - mu_t).T @ (source - mu_s)
    U, S, Vt = np.linalg.svd(W)
    R = U @ Vt
    t = mu_t - R @ mu_s
    error = np.mean(np.linalg.norm(source @ R.T + t - matches, axis=1))
    return R, t, error


def diff_drive(v, w, pose=(0.0, 0.0, 0.0), dt=0.1, n=8):
    x, y, th = pose
    path = [[x, y]]
    for i in range(n):
        if abs(w) > 1e-6:
            r = v / w
            x += r * (sin(th + w * dt) - sin(th))
            y -= r * (cos(th + w * dt) - cos(th))
        else:
            x += v * cos(th) * dt
            y += v * sin(th) * dt
        th = (th + w * dt + math.pi) % (2 * math.pi) - math.pi
        path.append([x, y])
    return np.array(path), th


def potential_field(pos, goal, obstacles, kp=5.0, eta=10.0, radius=1.5):
    u = 0.5 * kp * np.hypot(pos[0] - goal[0], pos[1] - goal[1])
    for ox, oy in obstacles:
        dq = np.hypot(pos[0] - ox, pos[1] - oy)
        if dq <= radius:
            if dq <= 0.1:
                dq = 0.1
            u += 0.5 * eta * (1.0 / dq - 1.0 / radius) ** 2
    return u


class QuinticPolynomial:
    def __init__(self, xs, vxs, axs, xe, vxe, axe, time):
        self.a0, self.a1, self.a2 = xs, vxs, axs / 2.0
        A = np.array(
            [
                [time**3, time**4, time**5],
                [3 * time**2, 4 * time**3, 5 * time**4],
                [6 * time, 12 * time**2, 20 * time**3],
            ]
        )
        b = np.array(
            [xe - self.a0 - self.a1 * time - self.a2 * time**2, vxe - self.a1 - 2 * self.a2 * time, axe - 2 * self.a2]
        )
        x = np.linalg.solve(A, b)
        self.a3, self.a4, self.a5 = x[0], x[1], x[2]

    def calc_point(self, t):
        return self.a0 + self.a1 * t + self.a2 * t**2 + self.a3 * t**3 + self.a4 * t**4 + self.a5 * t**5

    def jerk(self, t):
        return 6 * self.a3 + 24 * self.a4 * t + 60 * self.a5 * t**2


def quintic_cost(xs, xe, v, T):
    p = QuinticPolynomial(xs, v, 0.1, xe, 0.0, 0.0, T)
    return sum(p.jerk(t) ** 2 for t in np.arange(0.0, 1.0, 0.25)) * 0.25 + p.calc_point(0.5 * T)


def camera_reprojection(points, rvec, tvec, fx, fy, observed):
    R = rodrigues(rvec)
    cam = points @ R.T + tvec
    if np.any(cam[:, 2] <= 0):
        raise ValueError("point behind the camera")
    u = fx * cam[:, 0] / cam[:, 2]
    v = fy * cam[:, 1] / cam[:, 2]
    r2 = (cam[:, 0] / cam[:, 2]) ** 2 + (cam[:, 1] / cam[:, 2]) ** 2
    uv = np.stack([u, v], axis=1) * (1 + 0.1 * r2)[:, None]
    return np.sum((uv - observed) ** 2)


def imu_complementary(gyro, accel, alpha=0.98, dt=0.01):
    roll = pitch = 0.0
    out = []
    for g, a in zip(gyro, accel):
        roll_acc = atan2(a[1], a[2])
        pitch_acc = atan2(-a[0], sqrt(a[1] ** 2 + a[2] ** 2))
        roll = alpha * (roll + g[0] * dt) + (1 - alpha) * roll_acc
        pitch = alpha * (pitch + g[1] * dt) + (1 - alpha) * pitch_acc
        out.append((roll, pitch))
    return np.array(out)


def trilateration_lm(anchors, ranges):
    res = least_squares(lambda p: np.linalg.norm(anchors - p, axis=1) - ranges, x0=np.array([0.5, 0.5]), xtol=1e-14)
    return res.x


def quaternion_integrate(q, omegas, dt):
    for w in omegas:
        q = q + 0.5 * dt * qmult(q, np.concatenate(([0.0], w)))
        q /= np.linalg.norm(q)
    return quat2mat(q)


_r = np.random.RandomState(31)
_pts = _r.rand(4, 2)
CASES = [
    (rpy2r, (0.1, -0.4, 0.9)),
    (rpy2r, (10.0, -40.0, 30.0, "xyz", "deg")),
    (euler_matrix_axes, (0.1, -0.4, 0.9)),
    (euler_matrix_axes, (0.1, -0.4, 0.9, "sxzx")),
    (euler_matrix_axes, (0.1, -0.4, 0.9, "rzyx")),
    (quat2mat, (np.array([0.9, 0.1, -0.3, 0.2]),)),
    (quat2mat, ([0.9, 0.1, -0.3, 0.2],)),
    (quaternion_of_roll, (0.4, 0.3)),
    (quaternion_of_roll, (3.0, 0.3)),
    (slerp, (np.array([1.0, 0.2, 0.0, 0.1]), np.array([-0.5, 0.6, 0.3, 0.0]), 0.3)),
    (axangle, ([0.3, 0.5, -0.8], 1.1)),
    (rodrigues, (np.array([0.3, 0.5, -0.8]),)),
    (trexp_se3, (np.array([0.1, 0.5, -0.8, 0.3, 0.2, 0.9]), 0.7)),
    (rotation_error, (np.array([0.3, 0.5, -0.8]), np.array([0.1, 0.2, -0.5]))),
    (arm_pose, (np.array([0.3, -0.6, 1.0]),)),
    (manipulability, (np.array([0.3, -0.6, 1.0]),)),
    (arm_by_lengths, ([0.3, -0.6, 1.0], [0.5, 0.4, 0.2])),
    (planar_ik, (0.8, 0.5, 0.7, 0.6)),
    (planar_ik, (0.8, 0.5, 0.7, 0.6, "down")),
    (ik_damped, (np.array([0.5, 0.2, 0.6]), np.array([0.3, -0.6, 1.0]))),
    (icp_step, (_pts, _pts + 0.03 * _r.randn(4, 2))),
    (diff_drive, (1.0, 0.5)),
    (potential_field, (np.array([1.0, 2.0]), [5.0, 4.0], [(1.5, 2.5), (4.0, 4.0)])),
    (quintic_cost, (0.0, 2.0, 1.0, 1.5)),
    (
        camera_reprojection,
        (_r.rand(3, 3), np.array([0.1, 0.2, 0.3]), np.array([0.0, 0.1, 3.0]), 5.0, 5.5, _r.rand(3, 2)),
    ),
    (imu_complementary, (_r.randn(3, 2), _r.randn(3, 3))),
    (
        trilateration_lm,
        (np.array([[0.0, 0.0], [2.0, 0.1], [0.3, 2.0]]), np.array([0.9, 1.3, 1.7])),
        1e-3,
        1e-2,
    ),  # found to 1e-8 of the sum
    (quaternion_integrate, (np.array([0.9, 0.1, -0.3, 0.2]), _r.randn(3, 3), 0.1)),
]
