"""Linear systems of `scipy.signal`: other forms of them, discretisation, and responses of discrete systems."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, signal

from ...definitions import defines, refuse


def parts(name: Any, system: Any) -> Any:
    if not isinstance(system, (tuple, list)):
        refuse(f"scipy.signal.{name} of an object", "pass the tuple of its matrices or polynomials")
    return system


@defines(signal.tf2ss)
def tf2ss(num: Any, den: Any) -> Any:
    num, den = np.atleast_2d(num), np.atleast_1d(den)
    missing = den.shape[0] - num.shape[1]
    if missing < 0:
        raise ValueError("Improper transfer function. `num` is longer than `den`.")
    if den[0] == 0:
        raise ValueError("the denominator begins with a zero: leave it out")
    num, den = num / den[0], den / den[0]
    order = den.shape[0] - 1
    if order == 0:
        raise ValueError("a derivative of a transfer function without poles: multiply by its gain")
    num = np.concatenate((np.zeros((num.shape[0], missing)), num), axis=1)
    A = np.concatenate((-den[None, 1:], np.eye(order - 1, order)))
    return A, np.eye(order, 1), num[:, 1:] - num[:, :1] * den[1:], num[:, :1]


@defines(signal.ss2tf)
def ss2tf(A: Any, B: Any, C: Any, D: Any, input: Any = 0) -> Any:
    A, B, C, D = np.atleast_2d(A), np.atleast_2d(B), np.atleast_2d(C), np.atleast_2d(D)
    if input >= D.shape[1]:
        raise ValueError("System does not have the input specified.")
    B, D = B[:, input : input + 1], D[:, input : input + 1]
    den = np.poly(A)
    rows = [np.poly(A - B * C[k]) + (D[k] - 1) * den for k in range(D.shape[0])]
    return np.stack(rows), den


@defines(signal.cont2discrete)
def cont2discrete(system: Any, dt: Any, method: Any = "zoh", alpha: Any = None) -> Any:
    system = parts("cont2discrete", system)
    if len(system) == 2:
        a, b, c, d, _ = cont2discrete(signal.tf2ss(system[0], system[1]), dt, method, alpha)
        return (*signal.ss2tf(a, b, c, d), dt)
    if len(system) == 3:
        refuse("scipy.signal.cont2discrete of zeros and poles", "pass its matrices")
    a, b, c, d = system
    a, b, c, d = np.asarray(a), np.asarray(b), np.asarray(c), np.asarray(d)
    if method == "gbt":
        if alpha is None:
            raise ValueError("Alpha parameter must be specified for the generalized bilinear transform (gbt) method")
        if alpha < 0 or alpha > 1:
            raise ValueError("Alpha parameter must be within the interval [0,1] for the gbt method")
        return by_trapezoids(a, b, c, d, dt, alpha)
    if method == "bilinear" or method == "tustin":
        return by_trapezoids(a, b, c, d, dt, 0.5)
    if method == "euler" or method == "forward_diff":
        return by_trapezoids(a, b, c, d, dt, 0.0)
    if method == "backward_diff":
        return by_trapezoids(a, b, c, d, dt, 1.0)
    n, m = b.shape
    if method == "zoh":
        upper = np.concatenate((a, b), axis=1)
        step = linalg.expm(dt * np.concatenate((upper, np.zeros((m, n + m)))))
        return step[:n, :n].reshape(a.shape), step[:n, n:].reshape(b.shape), c, d, dt
    if method == "foh":
        upper = np.concatenate((dt * a, dt * b, np.zeros((n, m))), axis=1)
        middle = np.concatenate((np.zeros((m, n + m)), np.eye(m)), axis=1)
        step = linalg.expm(np.concatenate((upper, middle, np.zeros((m, n + 2 * m)))))
        ramp = step[:n, n + m :].reshape(b.shape)
        drive = step[:n, n : n + m].reshape(b.shape) - ramp + step[:n, :n] @ ramp
        return step[:n, :n].reshape(a.shape), drive, c, d + c @ ramp, dt
    if method == "impulse":
        if not np.allclose(d, 0):
            raise ValueError("Impulse method is only applicable to strictly proper systems")
        step = linalg.expm(a * dt)
        return step, step @ b * dt, c, c @ b * dt, dt
    raise ValueError(f"Unknown transformation method '{method}'")


def by_trapezoids(a: Any, b: Any, c: Any, d: Any, dt: Any, alpha: Any) -> Any:
    """The generalised bilinear transformation."""
    one = np.eye(a.shape[0])
    implicit = one - alpha * dt * a
    step = np.linalg.solve(implicit, one + (1.0 - alpha) * dt * a)
    drive = np.linalg.solve(implicit, dt * b)
    return step, drive, np.linalg.solve(implicit.T, c.T).T, d + alpha * (c @ drive), dt


def discrete(name: Any, system: Any) -> Any:
    """The matrices of a discrete system and its time step."""
    system = parts(name, system)
    if len(system) == 3:
        return (*signal.tf2ss(system[0], system[1]), system[2])
    if len(system) != 5:
        refuse(f"scipy.signal.{name} of zeros and poles", "pass the matrices of the system")
    a, b, c, d, dt = system
    return np.atleast_2d(a), np.atleast_2d(b), np.atleast_2d(c), np.atleast_2d(d), dt


@defines(signal.dlsim)
def dlsim(system: Any, u: Any, t: Any = None, x0: Any = None) -> Any:
    a, b, c, d, dt = discrete("dlsim", system)
    tout, y, x = simulated(a, b, c, d, dt, u, t, x0)
    return (tout, y, x) if len(system) == 5 else (tout, y)


def simulated(a: Any, b: Any, c: Any, d: Any, dt: Any, u: Any, t: Any, x0: Any) -> Any:
    u = np.atleast_1d(u)
    if u.ndim == 1:
        u = u[:, None]
    if t is None:
        count = u.shape[0]
        stop = (count - 1) * dt
        tout = np.linspace(0.0, stop, count)
    else:
        t = np.asarray(t)
        stop = t[-1]
        count = int(np.floor(stop / dt)) + 1
        tout = np.linspace(0.0, stop, count)
        u = np.stack([np.interp(tout, t, u[:, k]) for k in range(u.shape[1])], axis=1)
    x = np.zeros((count, a.shape[0]))
    if x0 is not None:
        x[0] = x0
    for k in range(count - 1):
        x[k + 1] = a @ x[k] + b @ u[k]
    return tout, x @ c.T + u @ d.T, x


@defines(signal.dimpulse)
def dimpulse(system: Any, x0: Any = None, t: Any = None, n: Any = None) -> Any:
    a, b, c, d, dt = discrete("dimpulse", system)
    t = times(t, n, dt)
    first = (np.arange(t.shape[0]) == 0).astype(float)
    return responses(a, b, c, d, dt, first, t, x0)


@defines(signal.dstep)
def dstep(system: Any, x0: Any = None, t: Any = None, n: Any = None) -> Any:
    a, b, c, d, dt = discrete("dstep", system)
    t = times(t, n, dt)
    return responses(a, b, c, d, dt, np.ones(t.shape[0]), t, x0)


def times(t: Any, n: Any, dt: Any) -> Any:
    count = 100 if n is None else n
    return np.linspace(0, count * dt, count, endpoint=False) if t is None else np.asarray(t)


def responses(a: Any, b: Any, c: Any, d: Any, dt: Any, signal_of: Any, t: Any, x0: Any) -> Any:
    """The responses to the signal in each of the inputs."""
    tout, y, _ = simulated(a, b[:, :1], c, d[:, :1], dt, signal_of, t, x0)
    made: Any = (y,)
    for k in range(1, b.shape[1]):
        made = (*made, simulated(a, b[:, k : k + 1], c, d[:, k : k + 1], dt, signal_of, t, x0)[1])
    return tout, made
