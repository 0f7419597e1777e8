"""Several fields, in the manners of larger programs: vector classes, registries, decorators, enums, pipelines."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections import Counter, OrderedDict, deque
from contextlib import contextmanager
from dataclasses import InitVar, dataclass, field, replace
from enum import Enum, auto
from typing import Callable, NamedTuple, Optional

import numpy as np
from scipy import integrate, interpolate, optimize, stats


class Vec3:
    __slots__ = ("x", "y", "z")

    def __init__(self, x=0.0, y=0.0, z=0.0):
        self.x, self.y, self.z = x, y, z

    def __add__(self, o):
        return Vec3(self.x + o.x, self.y + o.y, self.z + o.z)

    def __sub__(self, o):
        return Vec3(self.x - o.x, self.y - o.y, self.z - o.z)

    def __mul__(self, k):
        if isinstance(k, Vec3):
            return self.x * k.x + self.y * k.y + self.z * k.z
        return Vec3(self.x * k, self.y * k, self.z * k)

    __rmul__ = __mul__

    def __neg__(self):
        return Vec3(-self.x, -self.y, -self.z)

    def __abs__(self):
        return math.sqrt(self * self)

    def __iter__(self):
        return iter((self.x, self.y, self.z))

    def __getitem__(self, k):
        return (self.x, self.y, self.z)[k]

    def unit(self):
        return self * (1 / abs(self))

    def cross(self, o):
        return Vec3(self.y * o.z - self.z * o.y, self.z * o.x - self.x * o.z, self.x * o.y - self.y * o.x)


def orbit_vec3(r, v, mu, dt, n=6):
    pos, vel = Vec3(*r), Vec3(*v)
    for _ in range(n):
        acc = -mu / abs(pos) ** 3 * pos
        vel = vel + dt * acc
        pos = pos + dt * vel
    h = pos.cross(vel)
    return list(pos), abs(h), h.unit()[2]


def reflect_refract(d, n, eta):
    """Snell's law in vectors; total reflection gives the mirrored ray."""
    d, n = Vec3(*d).unit(), Vec3(*n).unit()
    c = -(n * d)
    k = 1 - eta**2 * (1 - c * c)
    out = d + 2 * c * n if k < 0 else eta * d + (eta * c - math.sqrt(k)) * n
    return tuple(out)


class Regime(Enum):
    LAMINAR = auto()
    TRANSITION = auto()
    TURBULENT = auto()

    @classmethod
    def of(cls, Re):
        if Re < 2300:
            return cls.LAMINAR
        return cls.TRANSITION if Re < 4000 else cls.TURBULENT


def friction_by_regime(Re):
    regime = Regime.of(Re)
    if regime is Regime.LAMINAR:
        return 64 / Re
    if regime is Regime.TURBULENT:
        return 0.316 * Re**-0.25
    w = (Re - 2300) / 1700
    return (1 - w) * 64 / 2300 + w * 0.316 * 4000**-0.25


UNITS = {"m": 1.0, "ft": 0.3048, "in": 0.0254, "psi": 6894.757, "Pa": 1.0, "bar": 1e5}


def with_units(**units):
    """Arguments in the units named are converted to SI before the call."""

    def decorate(fn):
        @functools.wraps(fn)
        def wrapper(*args, **kwargs):
            names = fn.__code__.co_varnames[: fn.__code__.co_argcount]
            given = dict(zip(names, args), **kwargs)
            for name, unit in units.items():
                given[name] = given[name] * UNITS[unit]
            return fn(**given)

        return wrapper

    return decorate


@with_units(diameter="in", pressure="psi")
def hoop_stress(pressure, diameter, thickness):
    return pressure * diameter / (2 * thickness)


REGISTRY: dict[str, Callable] = {}


def register(name):
    def inner(fn):
        REGISTRY[name] = fn
        return fn

    return inner


@register("sphere")
def _sphere(x):
    return np.sum(x**2)


@register("rosenbrock")
def _rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


@register("ackley")
def _ackley(x, a=20, b=0.2, c=2 * np.pi):
    n = float(len(x))
    return -a * np.exp(-b * np.sqrt(np.sum(x**2) / n)) - np.exp(np.sum(np.cos(c * x)) / n) + a + np.e


@register("griewank")
def _griewank(x):
    i = np.arange(1, len(x) + 1)
    return 1 + np.sum(x**2) / 4000 - np.prod(np.cos(x / np.sqrt(i)))


def evaluate(name, x, shift=0.5):
    try:
        f = REGISTRY[name]
    except KeyError as e:
        raise ValueError(f"unknown function {name}") from e
    return f(np.asarray(x) - shift)


def composite_function(x, weights):
    return sum(w * f(x) for w, f in zip(weights, REGISTRY.values()))


@dataclass
class Bond:
    face: float
    coupon: float
    maturity: int
    frequency: int = 2
    flows: list = field(default_factory=list, init=False)

    def __post_init__(self):
        c = self.face * self.coupon / self.frequency
        n = self.maturity * self.frequency
        self.flows = [(k / self.frequency, c) for k in range(1, n + 1)]
        self.flows[-1] = (self.maturity, c + self.face)

    def price(self, curve):
        return sum(cf * curve(t) for t, cf in self.flows)


def bond_on_curve(rates, coupon, bump):
    times = [0.5, 1.0, 2.0, 3.0]

    def discount(t):
        return math.exp(-np.interp(t, times, rates) * t)

    base = Bond(100.0, coupon, 2)
    up = replace(base, coupon=coupon + bump)
    return base.price(discount), up.price(discount)


class Config(NamedTuple):
    alpha: float = 0.1
    beta: float = 0.9
    clip: Optional[float] = None


def descend(x, config):
    v = np.zeros_like(x)
    for k in range(4):
        g = 2 * x + np.sin(x)
        if config.clip is not None:
            norm = np.linalg.norm(g)
            if norm > config.clip:
                g = g * config.clip / norm
        v = config.beta * v - config.alpha * g
        x = x + v
        config = config._replace(alpha=config.alpha * 0.9)
    return x


class Tank:
    """A tank whose level has a floor and a ceiling, kept by a property."""

    def __init__(self, level, area):
        self._level = level
        self.area = area
        self.spilled = 0.0

    @property
    def level(self):
        return self._level

    @level.setter
    def level(self, value):
        if value > 2.0:
            self.spilled += (value - 2.0) * self.area
            value = 2.0
        self._level = max(value, 0.0)

    @staticmethod
    def torricelli(h, a):
        return a * math.sqrt(2 * 9.81 * h)


def cascade(inflow, areas, hole, dt=0.5, steps=6):
    tanks = [Tank(1.0 + 0.2 * k, A) for k, A in enumerate(areas)]
    for _ in range(steps):
        q = inflow
        for tank in tanks:
            out = tank.torricelli(tank.level, hole)
            tank.level += dt * (q - out) / tank.area
            q = out
    return [t.level for t in tanks], sum(t.spilled for t in tanks)


class Module:
    def __init__(self):
        self._params = OrderedDict()

    def __setattr__(self, name, value):
        if isinstance(value, np.ndarray):
            self.__dict__.setdefault("_params", OrderedDict())[name] = value
        object.__setattr__(self, name, value)

    def parameters(self):
        return list(self._params.values())


class Linear(Module):
    def __init__(self, w, b):
        super().__init__()
        self.w = w
        self.b = b

    def __call__(self, x):
        return x @ self.w + self.b


def module_with_setattr(x, w, b):
    layer = Linear(w, b)
    return np.sum(np.tanh(layer(x))) + 0.1 * sum(np.sum(p**2) for p in layer.parameters())


def memoised_binomial(p, n=6, k=2):
    @functools.lru_cache(maxsize=None)
    def prob(n, k):
        if n == 0:
            return 1.0 if k == 0 else 0.0
        if k < 0:
            return 0.0
        return p * prob(n - 1, k - 1) + (1 - p) * prob(n - 1, k)

    return prob(n, k)


def memo_dict_catalan(x, n=5):
    memo = {0: 1.0}

    def c(m):
        if m not in memo:
            memo[m] = sum(c(i) * c(m - 1 - i) for i in range(m)) * x
        return memo[m]

    return c(n)


def pipeline(x, *stages, **options):
    for stage in stages:
        x = stage(x)
    return x * options.get("scale", 1.0) + options.get("shift", 0.0)


def spectro_pipeline(signal, threshold):
    detrended = functools.partial(np.subtract, signal)
    return pipeline(signal.mean(), detrended, np.abs, lambda v: np.where(v > threshold, v - threshold, 0.0), scale=2.0)


def accumulate_discount(rates):
    factors = list(itertools.accumulate((1 / (1 + r) for r in rates), operator.mul))
    annuity = sum(factors)
    return (1 - factors[-1]) / annuity


def pairwise_forces(charges, xs):
    energy = 0.0
    for (q1, x1), (q2, x2) in itertools.combinations(zip(charges, xs), 2):
        energy += q1 * q2 / abs(x1 - x2)
    return energy


def histogram_weighted(values, weights, edges=(0.0, 0.3, 0.6, 1.0)):
    idx = np.digitize(values, edges) - 1
    hist = np.bincount(idx, weights=weights, minlength=3)
    return hist / hist.sum()


def scatter_add_forces(pos, bonds=((0, 1), (1, 2), (0, 2)), rest=0.4):
    i, j = np.array(bonds).T
    d = pos[j] - pos[i]
    r = np.linalg.norm(d, axis=1)
    f = ((r - rest) / r)[:, None] * d
    force = np.zeros_like(pos)
    np.add.at(force, i, f)
    np.subtract.at(force, j, f)
    return force


def einsum_strain(F, C):
    E = 0.5 * (np.einsum("ki,kj->ij", F, F) - np.eye(2))
    S = np.einsum("ijkl,kl->ij", C, E)
    return 0.5 * np.einsum("ij,ij", S, E)


def median_filter_by_windows(x, size=3):
    padded = np.pad(x, size // 2, mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(padded, size)
    return np.median(windows, axis=-1)


def interp_table_class(T, P, temps, press, rho):
    table = np.exp(-rho)
    i = np.clip(np.searchsorted(temps, T) - 1, 0, len(temps) - 2)
    row = [np.interp(P, press, table[k]) for k in (i, i + 1)]
    w = (T - temps[i]) / (temps[i + 1] - temps[i])
    return (1 - w) * row[0] + w * row[1]


@contextmanager
def scaled(state, factor):
    state["gain"] *= factor
    yield state
    state["gain"] /= factor


def gain_schedule(x, factor):
    state = {"gain": 2.0}
    with scaled(state, factor) as s:
        y = s["gain"] * x
    return y + state["gain"] * x**2


def event_queue(rates, horizon=3.0):
    """Deterministic arrivals; the waiting time in a single queue."""
    arrivals = list(itertools.accumulate(1.0 / r for r in rates))
    queue = deque(t for t in arrivals if t < horizon)
    free, waits = 0.0, []
    while queue:
        t = queue.popleft()
        start = max(t, free)
        waits.append(start - t)
        free = start + 0.8 * t**0.5
    return sum(waits) / len(waits), free


def leapfrog_views(u, v, dt, n=3):
    """Staggered fields, updated in place through views."""
    inner_u, right, left = u[1:-1], v[1:], v[:-1]
    for _ in range(n):
        inner_u -= dt * (right - left)
        v -= dt * (u[1:] - u[:-1])
    return np.sum(u**2) + np.sum(v**2)


def red_black(u, f, sweeps=2):
    for _ in range(sweeps):
        for colour in (0, 1):
            for i in range(1, u.shape[0] - 1):
                s = slice(1 + (i + colour) % 2, -1, 2)
                u[i, s] = 0.25 * (
                    u[i - 1, s] + u[i + 1, s] + np.roll(u, 1, axis=1)[i, s] + np.roll(u, -1, axis=1)[i, s] - f[i, s]
                )
    return u


def swap_rows_determinant(A):
    A = A.astype(float)
    det = 1.0
    for k in range(len(A)):
        p = max(range(k, len(A)), key=lambda i: abs(A[i, k]))
        if p != k:
            A[[k, p]] = A[[p, k]]
            det = -det
        det *= A[k, k]
        for i in range(k + 1, len(A)):
            A[i] -= A[k] * A[i, k] / A[k, k]
    return det


def value_iteration(rewards, gamma, slip=0.1, n=12):
    V = np.zeros_like(rewards)
    rows, cols = rewards.shape
    moves = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
    for _ in range(n):
        new = np.zeros_like(V)
        for (i, j), r in np.ndenumerate(rewards):
            q = []
            for di, dj in moves.values():
                ii, jj = min(max(i + di, 0), rows - 1), min(max(j + dj, 0), cols - 1)
                q.append(r + gamma * ((1 - slip) * V[ii, jj] + slip * V[i, j]))
            new[i, j] = max(q)
        V = new
    return V


def spline_through_lists(xs, ys, q):
    s = interpolate.CubicSpline(xs, ys, bc_type="natural")
    return s(q), s(q, 1), s.integrate(xs[0], q)


def curve_fit_decay(t, y):
    popt, pcov = optimize.curve_fit(lambda t, a, k: a * np.exp(-k * t), t, y, p0=(1.0, 0.5))
    return popt


def quad_with_args(a, b):
    def integrand(x, p, q):
        return p * np.exp(-q * x**2)

    value, err = integrate.quad(integrand, 0, 1.5, args=(a, b))
    return value


def event_terminated_fall(h, v, k):
    def hit(t, y):
        return y[0]

    hit.terminal = True
    hit.direction = -1
    sol = integrate.solve_ivp(lambda t, y: [y[1], -9.81 - k * y[1] * abs(y[1])], (0, 10), [h, v], events=hit, rtol=1e-9)
    return sol.t_events[0][0]


def bootstrap_generator(x, seed=3):
    rng = np.random.default_rng(seed)
    samples = (rng.choice(x, size=len(x)) for _ in range(5))
    means = np.fromiter((s.mean() for s in samples), float)
    return means.mean(), means.std(ddof=1)


def vectorised_scalar(x, k):
    def piece(v):
        if v < 0:
            return k * v
        return v**2

    return np.vectorize(piece)(x)


def along_axis(X):
    return np.apply_along_axis(lambda r: (r - r.min()) / (r.max() - r.min()), 1, X)


def walrus_newton(a, x=1.0):
    while abs(step := (x * x - a) / (2 * x)) > 1e-12:
        x -= step
    return x


def complex_roots_quadratic(a, b, c):
    d = b * b - 4 * a * c
    root = complex(d) ** 0.5 if d < 0 else math.sqrt(d)
    z = (-b + root) / (2 * a)
    return z.real, abs(z)


def counter_entropy(weights, text="abracadabra"):
    counts = Counter(text)
    probs = {c: weights[k] * n for k, (c, n) in enumerate(sorted(counts.items()))}
    total = sum(probs.values())
    return -sum(p / total * math.log(p / total) for p in probs.values())


_r = np.random.RandomState(71)
CASES = [
    (orbit_vec3, ([1.0, 0.1, 0.2], [0.0, 0.9, 0.3], 1.0, 0.1)),
    (reflect_refract, ([0.5, -1.0, 0.1], [0.0, 1.0, 0.1], 0.7)),
    (reflect_refract, ([0.9, -0.3, 0.1], [0.0, 1.0, 0.1], 1.5)),
    (friction_by_regime, (1000.0,)),
    (friction_by_regime, (3000.0,)),
    (hoop_stress, (100.0, 4.0, 0.01)),
    (evaluate, ("rosenbrock", _r.randn(4))),
    (evaluate, ("ackley", _r.randn(4), 0.3)),
    (evaluate, ("griewank", list(_r.randn(4)))),
    (composite_function, (_r.randn(3), [1.0, 0.01, 0.5, 2.0])),
    (bond_on_curve, ([0.02, 0.025, 0.03, 0.032], 0.05, 0.001)),
    (descend, (_r.randn(3), Config())),
    (descend, (_r.randn(3), Config(clip=0.5))),
    (cascade, (0.9, [1.0, 1.5, 0.8], 0.05)),
    (module_with_setattr, (_r.randn(2, 3), _r.randn(3, 2), _r.randn(2))),
    (memoised_binomial, (0.3,)),
    (memo_dict_catalan, (0.7,)),
    (spectro_pipeline, (_r.randn(5), 0.2)),
    (accumulate_discount, ([0.01, 0.02, 0.025],)),
    (pairwise_forces, ([1.0, -0.5, 2.0], [0.0, 0.7, 1.9])),
    (histogram_weighted, (_r.rand(6), _r.rand(6))),
    (scatter_add_forces, (_r.rand(3, 2),)),
    (einsum_strain, (np.eye(2) + 0.1 * _r.randn(2, 2), _r.randn(2, 2, 2, 2))),
    (median_filter_by_windows, (_r.randn(6),)),
    (interp_table_class, (1.3, 0.7, np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.5, 1.0]), _r.rand(3, 3))),
    (gain_schedule, (1.5, 3.0)),
    (event_queue, ([2.0, 3.0, 1.5, 4.0],)),
    (leapfrog_views, (_r.randn(5), _r.randn(4), 0.1)),
    (red_black, (_r.randn(4, 5), _r.randn(4, 5))),
    (swap_rows_determinant, (_r.randn(3, 3),)),
    (value_iteration, (_r.randn(2, 3), 0.8)),
    (spline_through_lists, ([0.0, 1.0, 2.5, 3.0], [1.0, 0.2, -0.4, 0.5], 1.7)),
    (
        curve_fit_decay,
        (np.array([0.0, 1.0, 2.0, 3.0]), np.array([2.0, 1.1, 0.7, 0.33])),
        1e-2,
        1e-2,
    ),  # found to 1e-8 of the sum
    (quad_with_args, (1.2, 0.8)),
    (event_terminated_fall, (10.0, 2.0, 0.05), 1e-4),  # adaptive steps
    (bootstrap_generator, (_r.randn(5),)),
    (vectorised_scalar, (_r.randn(4), 0.3)),
    (along_axis, (_r.randn(2, 4),)),
    (walrus_newton, (3.0,)),
    (complex_roots_quadratic, (1.0, -3.0, 1.0)),
    (complex_roots_quadratic, (1.0, -1.0, 3.0)),
    (counter_entropy, ([1.0, 0.5, 2.0, 1.5, 0.7],)),
]
