"""Geometry, graphs with float weights, and games of physics."""

import heapq
import math
from collections import defaultdict, namedtuple
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial import ConvexHull, Delaunay, KDTree
from scipy.spatial.distance import directed_hausdorff
from scipy.spatial.transform import Rotation


class Point(namedtuple("Point", "x y")):
    def __sub__(self, other):
        return Point(self.x - other.x, self.y - other.y)

    def cross(self, other):
        return self.x * other.y - self.y * other.x


def polygon_area(points):
    pts = [Point(*p) for p in points]
    return 0.5 * abs(sum(a.cross(b) for a, b in zip(pts, pts[1:] + pts[:1])))


def shoelace(x, y):
    return 0.5 * np.abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))


def segment_intersection(p1, p2, p3, p4):
    (x1, y1), (x2, y2), (x3, y3), (x4, y4) = p1, p2, p3, p4
    den = (x1 - x2) * (y3 - y4) - (y1 - y2) * (x3 - x4)
    if den == 0:
        return None
    t = ((x1 - x3) * (y3 - y4) - (y1 - y3) * (x3 - x4)) / den
    u = -((x1 - x2) * (y1 - y3) - (y1 - y2) * (x1 - x3)) / den
    if 0 <= t <= 1 and 0 <= u <= 1:
        return x1 + t * (x2 - x1), y1 + t * (y2 - y1)
    return None


def clip_polygon(subject, clip):
    """Sutherland and Hodgman's algorithm."""

    def inside(p):
        return (b[0] - a[0]) * (p[1] - a[1]) > (b[1] - a[1]) * (p[0] - a[0])

    def cut():
        dc = (a[0] - b[0], a[1] - b[1])
        dp = (s[0] - e[0], s[1] - e[1])
        n1 = a[0] * b[1] - a[1] * b[0]
        n2 = s[0] * e[1] - s[1] * e[0]
        n3 = 1.0 / (dc[0] * dp[1] - dc[1] * dp[0])
        return [(n1 * dp[0] - n2 * dc[0]) * n3, (n1 * dp[1] - n2 * dc[1]) * n3]

    output = subject
    a = clip[-1]
    for vertex in clip:
        b = vertex
        inputs = output
        output = []
        s = inputs[-1]
        for e in inputs:
            if inside(e):
                if not inside(s):
                    output.append(cut())
                output.append(e)
            elif inside(s):
                output.append(cut())
            s = e
        a = b
    return sum(p[0] * q[1] - p[1] * q[0] for p, q in zip(output, output[1:] + output[:1])) / 2


def point_segment_distance(p, a, b):
    ab = b - a
    t = np.dot(p - a, ab) / np.dot(ab, ab)
    t = max(0.0, min(1.0, t))
    return np.linalg.norm(p - (a + t * ab))


def polyline_resample(points, n):
    seg = np.sqrt((np.diff(points, axis=0) ** 2).sum(axis=1))
    s = np.insert(np.cumsum(seg), 0, 0)
    q = np.linspace(0, s[-1], n)
    return np.column_stack([np.interp(q, s, points[:, k]) for k in range(2)])


def circumcircle(a, b, c):
    d = 2 * (a[0] * (b[1] - c[1]) + b[0] * (c[1] - a[1]) + c[0] * (a[1] - b[1]))
    a2, b2, c2 = (np.dot(p, p) for p in (a, b, c))
    ux = (a2 * (b[1] - c[1]) + b2 * (c[1] - a[1]) + c2 * (a[1] - b[1])) / d
    uy = (a2 * (c[0] - b[0]) + b2 * (a[0] - c[0]) + c2 * (b[0] - a[0])) / d
    return ux, uy, math.hypot(ux - a[0], uy - a[1])


def ray_triangle(orig, direction, v0, v1, v2, eps=1e-9):
    e1, e2 = v1 - v0, v2 - v0
    h = np.cross(direction, e2)
    a = e1.dot(h)
    if -eps < a < eps:
        return np.inf
    f = 1 / a
    s = orig - v0
    u = f * s.dot(h)
    if u < 0 or u > 1:
        return np.inf
    q = np.cross(s, e1)
    v = f * direction.dot(q)
    if v < 0 or u + v > 1:
        return np.inf
    return f * e2.dot(q)


@dataclass
class Sphere:
    center: np.ndarray
    radius: float
    color: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.4, 0.2]))

    def intersect(self, o, d):
        oc = o - self.center
        b = 2 * np.dot(d, oc)
        c = np.dot(oc, oc) - self.radius**2
        disc = b * b - 4 * c
        if disc > 0:
            q = (-b - np.sqrt(disc)) / 2 if b < 0 else (-b + np.sqrt(disc)) / 2
            t0, t1 = sorted((q, c / q))
            if t1 >= 0:
                return t1 if t0 < 0 else t0
        return np.inf


def raytrace_pixel(center, radius, light):
    scene = [Sphere(center, radius), Sphere(np.array([0.0, -99.0, 5.0]), 98.0)]
    origin, d = np.zeros(3), np.array([0.05, 0.02, 1.0])
    d = d / np.linalg.norm(d)
    nearest, hit = np.inf, None
    for obj in scene:
        t = obj.intersect(origin, d)
        if t < nearest:
            nearest, hit = t, obj
    if hit is None:
        return np.zeros(3)
    M = origin + d * nearest
    N = (M - hit.center) / hit.radius
    L = (light - M) / np.linalg.norm(light - M)
    return 0.05 + hit.color * max(np.dot(N, L), 0)


def bezier(control, t):
    pts = [p for p in control]
    while len(pts) > 1:
        pts = [(1 - t) * a + t * b for a, b in zip(pts[:-1], pts[1:])]
    return pts[0]


def bspline_basis(x, k, i, t):
    if k == 0:
        return 1.0 if t[i] <= x < t[i + 1] else 0.0
    c1 = 0.0 if t[i + k] == t[i] else (x - t[i]) / (t[i + k] - t[i]) * bspline_basis(x, k - 1, i, t)
    c2 = (
        0.0
        if t[i + k + 1] == t[i + 1]
        else (t[i + k + 1] - x) / (t[i + k + 1] - t[i + 1]) * bspline_basis(x, k - 1, i + 1, t)
    )
    return c1 + c2


def bspline_point(x, c, knots=(0.0, 0.0, 0.0, 0.4, 1.0, 1.0, 1.0), k=2):
    return sum(c[i] * bspline_basis(x, k, i, knots) for i in range(len(knots) - k - 1))


def mesh_volume_area(vertices, faces):
    volume, area = 0.0, 0.0
    for i, j, k in faces:
        a, b, c = vertices[i], vertices[j], vertices[k]
        volume += np.dot(a, np.cross(b, c)) / 6.0
        area += np.linalg.norm(np.cross(b - a, c - a)) / 2
    return volume, area


def hull_perimeter(points):
    hull = ConvexHull(points)
    v = points[hull.vertices]
    return np.sum(np.linalg.norm(v - np.roll(v, 1, axis=0), axis=1))


def chamfer(a, b):
    d = np.sqrt(((a[:, None] - b[None]) ** 2).sum(-1))
    return d.min(axis=0).mean() + d.min(axis=1).mean()


def nearest_mean_distance(points, queries):
    tree = KDTree(points)
    _, idx = tree.query(queries)
    return np.mean(np.linalg.norm(queries - points[idx], axis=1))


def rotate_scipy(rotvec, v):
    return Rotation.from_rotvec(rotvec).apply(v)


# --- graphs ---


def dijkstra(weights, edges=((0, 1), (0, 2), (1, 2), (1, 3), (2, 3)), source=0, target=3):
    graph = defaultdict(list)
    for (u, v), w in zip(edges, weights):
        graph[u].append((v, w))
        graph[v].append((u, w))
    dist = {source: 0.0}
    queue = [(0.0, source)]
    done = set()
    while queue:
        d, u = heapq.heappop(queue)
        if u in done:
            continue
        done.add(u)
        if u == target:
            return d
        for v, w in graph[u]:
            if v not in dist or d + w < dist[v]:
                dist[v] = d + w
                heapq.heappush(queue, (d + w, v))
    return float("inf")


def floyd_warshall(W):
    n = W.shape[0]
    d = W.copy()
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])
    return d


def bellman_ford(weights, n=4, edges=((0, 1), (0, 2), (1, 2), (1, 3), (2, 3))):
    dist = [math.inf] * n
    dist[0] = 0.0
    for _ in range(n - 1):
        for (u, v), w in zip(edges, weights):
            if dist[u] + w < dist[v]:
                dist[v] = dist[u] + w
    return dist[n - 1]


def kruskal_weight(weights, n=4, edges=((0, 1), (0, 2), (1, 2), (1, 3), (2, 3))):
    parent = list(range(n))

    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    total = 0.0
    for k in np.argsort(weights):
        u, v = edges[k]
        ru, rv = find(u), find(v)
        if ru != rv:
            parent[ru] = rv
            total += weights[k]
    return total


def pagerank(A, damping=0.85, n_iter=30):
    n = A.shape[0]
    M = A / A.sum(axis=0)
    r = np.ones(n) / n
    for _ in range(n_iter):
        r = damping * M @ r + (1 - damping) / n
    return r


def edit_distance_soft(cost_sub, cost_gap, a="kitten", b="sitting"):
    m, n = len(a), len(b)
    D = np.zeros((m + 1, n + 1))
    for i in range(1, m + 1):
        D[i, 0] = i * cost_gap
    for j in range(1, n + 1):
        D[0, j] = j * cost_gap
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            sub = 0.0 if a[i - 1] == b[j - 1] else cost_sub
            D[i, j] = min(D[i - 1, j - 1] + sub, D[i - 1, j] + cost_gap, D[i, j - 1] + cost_gap)
    return D[m, n]


def dtw(x, y):
    n, m = len(x), len(y)
    cost = np.full((n + 1, m + 1), np.inf)
    cost[0, 0] = 0
    for i in range(n):
        for j in range(m):
            cost[i + 1, j + 1] = abs(x[i] - y[j]) + min(cost[i, j], cost[i, j + 1], cost[i + 1, j])
    return cost[n, m]


def viterbi_score(logA, logB, obs):
    delta = logB[:, obs[0]]
    for o in obs[1:]:
        delta = np.max(delta[:, None] + logA, axis=0) + logB[:, o]
    return max(delta)


def spectral_cut(W):
    L = np.diag(W.sum(axis=1)) - W
    vals, vecs = np.linalg.eigh((L + L.T) / 2)
    return vals[1], np.abs(vecs[:, 1])


# --- games of physics ---


class Particle:
    def __init__(self, pos, vel, mass=1.0):
        self.pos, self.vel, self.mass = pos, vel, mass
        self.force = np.zeros(2)


class Spring:
    def __init__(self, a, b, rest, k):
        self.a, self.b, self.rest, self.k = a, b, rest, k

    def apply(self):
        d = self.b.pos - self.a.pos
        length = np.linalg.norm(d)
        f = self.k * (length - self.rest) * d / length
        self.a.force = self.a.force + f
        self.b.force = self.b.force - f


class World:
    gravity = np.array([0.0, -9.81])

    def __init__(self):
        self.particles = []
        self.springs = []

    def step(self, dt):
        for p in self.particles:
            p.force = p.mass * self.gravity
        for s in self.springs:
            s.apply()
        for p in self.particles:
            p.vel = p.vel + dt * p.force / p.mass
            p.pos = p.pos + dt * p.vel
            if p.pos[1] < 0:
                p.pos[1] = -p.pos[1]
                p.vel[1] *= -0.8


def spring_mass(k, rest, mass, steps=12):
    w = World()
    w.particles = [
        Particle(np.array([0.0, 0.3]), np.array([1.0, 0.0]), mass),
        Particle(np.array([1.0, 0.4]), np.zeros(2)),
    ]
    w.springs.append(Spring(*w.particles, rest, k))
    for _ in range(steps):
        w.step(0.03)
    return w.particles[0].pos, w.particles[1].vel


def nbody_energy(pos, vel, mass, G=1.0, dt=0.01, steps=3, softening=0.1):
    def acceleration(pos):
        x, y, z = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
        dx, dy, dz = x.T - x, y.T - y, z.T - z
        inv_r3 = dx**2 + dy**2 + dz**2 + softening**2
        inv_r3[inv_r3 > 0] = inv_r3[inv_r3 > 0] ** (-1.5)
        return np.hstack((G * (dx * inv_r3) @ mass, G * (dy * inv_r3) @ mass, G * (dz * inv_r3) @ mass))

    acc = acceleration(pos)
    for i in range(steps):
        vel += acc * dt / 2.0
        pos += vel * dt
        acc = acceleration(pos)
        vel += acc * dt / 2.0
    return 0.5 * np.sum(mass * vel**2), pos


BODIES = {
    "sun": ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], 39.47),
    "jupiter": ([4.84, -1.16, -0.10], [0.6, 2.81, -0.02], 0.037),
}


def nbody_pairs(dt, n, scale):
    bodies = [([scale * c for c in r], list(v), m) for r, v, m in BODIES.values()]
    pairs = [(bodies[i], bodies[j]) for i in range(len(bodies)) for j in range(i + 1, len(bodies))]
    for _ in range(n):
        for ([x1, y1, z1], v1, m1), ([x2, y2, z2], v2, m2) in pairs:
            dx, dy, dz = x1 - x2, y1 - y2, z1 - z2
            mag = dt * ((dx * dx + dy * dy + dz * dz) ** (-1.5))
            b1m, b2m = m1 * mag, m2 * mag
            v1[0] -= dx * b2m
            v1[1] -= dy * b2m
            v1[2] -= dz * b2m
            v2[0] += dx * b1m
            v2[1] += dy * b1m
            v2[2] += dz * b1m
        for r, [vx, vy, vz], m in bodies:
            r[0] += dt * vx
            r[1] += dt * vy
            r[2] += dt * vz
    e = 0.0
    for r, v, m in bodies:
        e += m * (v[0] ** 2 + v[1] ** 2 + v[2] ** 2) / 2.0
    return e


def double_pendulum(th1, th2, L1=1.0, L2=0.8, m1=1.0, m2=0.5, g=9.81, dt=0.02, steps=10):
    w1 = w2 = 0.0
    for _ in range(steps):
        d = th1 - th2
        den = 2 * m1 + m2 - m2 * math.cos(2 * d)
        a1 = -g * (2 * m1 + m2) * math.sin(th1) - m2 * g * math.sin(th1 - 2 * th2)
        a1 -= 2 * math.sin(d) * m2 * (w2**2 * L2 + w1**2 * L1 * math.cos(d))
        a1 /= L1 * den
        a2 = 2 * math.sin(d) * (w1**2 * L1 * (m1 + m2) + g * (m1 + m2) * math.cos(th1) + w2**2 * L2 * m2 * math.cos(d))
        a2 /= L2 * den
        w1, w2 = w1 + dt * a1, w2 + dt * a2
        th1, th2 = th1 + dt * w1, th2 + dt * w2
    return L1 * math.sin(th1) + L2 * math.sin(th2), -L1 * math.cos(th1) - L2 * math.cos(th2)


def projectile_with_drag(v0, angle, k, dt=0.01):
    """Range; the last step is interpolated to the ground."""
    x, y = 0.0, 0.0
    vx, vy = v0 * math.cos(math.radians(angle)), v0 * math.sin(math.radians(angle))
    xs, ys = [x], [y]
    while y >= 0:
        v = math.hypot(vx, vy)
        vx -= k * v * vx * dt
        vy -= (9.81 + k * v * vy) * dt
        x += vx * dt
        y += vy * dt
        xs.append(x)
        ys.append(y)
    r = -ys[-2] / ys[-1]
    return (xs[-2] + r * xs[-1]) / (r + 1), max(ys)


def elastic_collision(m1, m2, x1, x2, v1, v2):
    d = x1 - x2
    common = np.dot(v1 - v2, d) / np.dot(d, d) * d
    return v1 - 2 * m2 / (m1 + m2) * common, v2 + 2 * m1 / (m1 + m2) * common


def boids_step(pos, vel, radius, weights):
    new = vel.copy()
    for i in range(len(pos)):
        d = np.linalg.norm(pos - pos[i], axis=1)
        near = (d < radius) & (np.arange(len(pos)) != i)
        if near.any():
            cohesion = pos[near].mean(axis=0) - pos[i]
            alignment = vel[near].mean(axis=0) - vel[i]
            separation = (pos[i] - pos[near]).sum(axis=0)
            new[i] += weights["c"] * cohesion + weights["a"] * alignment + weights["s"] * separation
    speed = np.linalg.norm(new, axis=1, keepdims=True)
    return pos + 0.1 * new * np.minimum(1.0, 2.0 / speed)


def verlet_rope(points, anchor, n_iter=3, rest=0.5, dt=0.05):
    old = points.copy()
    for _ in range(2):
        velocity = points - old
        old = points.copy()
        points = points + velocity
        points[:, 1] -= 9.81 * dt * dt
        for _ in range(n_iter):
            points[0] = anchor
            for i in range(len(points) - 1):
                d = points[i + 1] - points[i]
                dist = np.sqrt(d @ d)
                shift = 0.5 * d * (dist - rest) / dist
                points[i] += shift
                points[i + 1] -= shift
    return points


def wave_string(u, c, dt=0.05, dx=0.1, steps=4):
    r2 = (c * dt / dx) ** 2
    prev = u
    cur = u.copy()
    cur[1:-1] = u[1:-1] + 0.5 * r2 * (u[2:] - 2 * u[1:-1] + u[:-2])
    for _ in range(steps):
        nxt = np.zeros_like(u)
        nxt[1:-1] = 2 * cur[1:-1] - prev[1:-1] + r2 * (cur[2:] - 2 * cur[1:-1] + cur[:-2])
        prev, cur = cur, nxt
    return cur


_r = np.random.RandomState(61)
_W = np.abs(_r.rand(4, 4)) + 0.1
_tetra = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
CASES = [
    (polygon_area, ([(0.0, 0.1), (2.0, 0.2), (2.1, 1.5), (0.3, 1.2)],)),
    (shoelace, (_r.rand(5), _r.rand(5))),
    (segment_intersection, ((0.0, 0.1), (2.0, 1.8), (0.1, 1.9), (1.7, 0.2))),
    (clip_polygon, ([[0.0, 0.0], [2.0, 0.1], [1.1, 1.7]], [[0.3, -0.5], [1.6, -0.4], [1.5, 1.0], [0.4, 0.9]])),
    (point_segment_distance, (np.array([0.5, 1.0]), np.array([0.0, 0.0]), np.array([2.0, 0.3]))),
    (point_segment_distance, (np.array([-0.5, 1.0]), np.array([0.0, 0.0]), np.array([2.0, 0.3]))),
    (polyline_resample, (_r.rand(4, 2), 5)),
    (circumcircle, (_r.rand(2), _r.rand(2), _r.rand(2))),
    (
        ray_triangle,
        (
            np.zeros(3),
            np.array([0.1, 0.1, 1.0]),
            np.array([-1.0, -1, 2]),
            np.array([2.0, -1, 2.5]),
            np.array([0.0, 2, 3]),
        ),
    ),
    (raytrace_pixel, (np.array([0.1, 0.1, 3.0]), 0.8, np.array([3.0, 4.0, -2.0]))),
    (bezier, (_r.rand(4, 2), 0.3)),
    (bspline_point, (0.55, np.array([1.0, -0.4, 0.7, 0.2]))),
    (mesh_volume_area, (_r.rand(4, 3), _tetra)),
    (hull_perimeter, (_r.rand(6, 2),)),
    (chamfer, (_r.rand(3, 2), _r.rand(4, 2))),
    (nearest_mean_distance, (_r.rand(5, 2), _r.rand(3, 2))),
    (rotate_scipy, (np.array([0.3, -0.2, 0.5]), np.array([1.0, 0.5, 0.2]))),
    (dijkstra, ([1.0, 2.5, 1.2, 4.0, 1.1],)),
    (floyd_warshall, (_W,)),
    (bellman_ford, ([1.0, 2.5, 1.2, 4.0, 1.1],)),
    (kruskal_weight, (np.array([1.0, 2.5, 1.2, 4.0, 1.1]),)),
    (pagerank, (_W,)),
    (edit_distance_soft, (1.3, 0.9)),
    (dtw, (_r.rand(4), _r.rand(5))),
    (viterbi_score, (np.log(_W[:2, :2]), np.log(_W[:2]), [0, 2, 1, 3])),
    (spectral_cut, (_W + _W.T,)),
    (spring_mass, (30.0, 0.8, 1.2)),
    (nbody_energy, (_r.randn(3, 3), _r.randn(3, 3), _r.rand(3, 1))),
    (nbody_pairs, (0.01, 3, 1.1)),
    (double_pendulum, (1.2, -0.4)),
    (projectile_with_drag, (12.0, 40.0, 0.02)),
    (elastic_collision, (1.0, 2.0, _r.rand(2), _r.rand(2), _r.rand(2), _r.rand(2))),
    (boids_step, (_r.rand(4, 2), _r.rand(4, 2), 0.6, {"c": 0.1, "a": 0.2, "s": 0.05})),
    (verlet_rope, (_r.rand(4, 2), np.array([0.1, 0.9]))),
    (wave_string, (_r.rand(6), 1.2)),
]
