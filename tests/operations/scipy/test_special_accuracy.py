"""`scipy.special`: first derivatives against mpmath, also far from where functions are tame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import special

from autodiff_compiler.ir.opset import lookup
from autodiff_compiler.operations import record
from tests.operations.scipy.harness import load

load("special")
TOLERANCE = 1e-10
Reference = Callable[..., Any]


def partial(fn: Any, k: int, args: tuple[Any, ...]) -> Any:
    """The derivative of the first result by argument number `k`, as the rule gives it."""
    prim = lookup(fn)
    assert prim is not None
    rule = record.pullback(prim, prim.params[k])
    assert rule is not None
    operands = [np.float64(a) if isinstance(a, float) else a for a in args]
    with np.errstate(all="ignore"):
        g = np.float64(1.0) if prim.nout == 1 else (1.0, *[None] * (prim.nout - 1))
        return rule(g, fn(*operands), *operands)


def reference(f: Reference, k: int, args: tuple[Any, ...], digits: int = 50) -> Any:
    with mp.workdps(digits):
        exact = [mp.mpf(a) for a in args]
        step = mp.mpf(10) ** (-digits // 3) * (abs(exact[k]) or 1)
        return mp.diff(lambda u: f(*[u if j == k else a for j, a in enumerate(exact)]), exact[k], h=step)


def root(f: Reference, start: float) -> Any:
    return mp.findroot(f, start)


def gammainc(a: Any, x: Any) -> Any:
    return mp.gammainc(a, 0, x, regularized=True)


def betainc(a: Any, b: Any, x: Any) -> Any:
    return mp.betainc(a, b, 0, x, regularized=True)


def stdtr(v: Any, t: Any) -> Any:
    return betainc(v / 2, mp.mpf(1) / 2, v / (v + t * t)) / 2  # for t < 0


def fdtr(n: Any, d: Any, x: Any) -> Any:
    return betainc(n / 2, d / 2, n * x / (n * x + d))


def voigt(x: Any, sigma: Any, gamma: Any) -> Any:
    z = (x + 1j * gamma) / (sigma * mp.sqrt(2))
    return mp.re(mp.exp(-z * z) * mp.erfc(-1j * z)) / (sigma * mp.sqrt(2 * mp.pi))


CASES: list[tuple[Any, int, Reference, list[Any]]] = [
    (special.gammaln, 0, mp.loggamma, [1e-10, 0.5, 1e5, 1e15, 1e200]),
    (special.rgamma, 0, mp.rgamma, [0.0, -1.0, -3.0, 1e-9, 0.5, -2.5, 30.0]),
    (special.erfc, 0, mp.erfc, [0.0, 26.0, -5.0]),
    (special.erfcx, 0, lambda x: mp.exp(x * x) * mp.erfc(x), [0.0, 1.0, 6.9, 7.1, -5.0, 1e3, 1e7]),
    (special.dawsn, 0, lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x), [0.0, 1.0, 6.9, 7.1, 50.0]),
    (special.log_ndtr, 0, lambda x: mp.log(mp.ncdf(x)), [0.0, -10.0, -1e5, 10.0, 30.0]),
    (special.ndtri_exp, 0, lambda x: root(lambda y: mp.log(mp.ncdf(y)) - x, special.ndtri_exp(float(x))), [-0.5, -1e5]),
    (special.erfcinv, 0, lambda x: root(lambda y: mp.erfc(y) - x, special.erfcinv(float(x))), [0.5, 1e-10, 1e-100]),
    (special.expit, 0, lambda x: 1 / (1 + mp.exp(-x)), [0.0, 40.0, -700.0, 700.0]),
    (special.exprel, 0, lambda x: mp.expm1(x) / x, [1e-8, -30.0, 700.0]),
    (special.boxcox, 1, lambda x, p: (x**p - 1) / p, [(2.0, 1e-10), (0.5, -2.0), (1e-5, 0.3)]),
    (special.inv_boxcox, 1, lambda y, p: (1 + p * y) ** (1 / p), [(2.0, 1e-10), (0.4, -2.0), (5.0, 1e3)]),
    (special.pseudo_huber, 0, lambda d, r: d * d * (mp.sqrt(1 + (r / d) ** 2) - 1), [(1.0, 1e-3), (1e3, 1.0)]),
    (special.beta, 0, mp.beta, [(1e10, 1.0), (0.5, 0.5), (1e-5, 3.0)]),
    (special.betaln, 0, lambda a, b: mp.log(mp.beta(a, b)), [(1e10, 1.0), (1e10, 1e-5), (1e5, 1e10)]),
    (special.spence, 0, lambda z: mp.polylog(2, 1 - z), [1e-10, 0.49, 0.51, 0.999, 1.9]),
    (special.zetac, 0, lambda x: mp.zeta(x) - 1, [2.0, 1.0001, 30.0, 0.3, -0.5]),
    (special.voigt_profile, 0, voigt, [(1.0, 1.0, 1.0), (100.0, 1.0, 0.1), (30.0, 1.0, 1e-3)]),
    (special.voigt_profile, 1, voigt, [(1.0, 1.0, 1.0), (100.0, 1.0, 0.1)]),
    (special.ellipk, 0, mp.ellipk, [0.0, 0.5, -100.0, 1 - 1e-10]),
    (special.ellipkinc, 1, mp.ellipf, [(0.3, 0.5), (1.5, 0.99), (4.0, 0.3), (1e-4, 0.3)]),
    (special.ellipeinc, 1, mp.ellipe, [(0.3, 0.5), (1.5, 0.99), (4.0, 0.3), (1e-4, 0.3)]),
    (special.ellipj, 1, lambda u, m: mp.ellipfun("sn", u, m=m), [(0.3, 0.5), (5.0, 0.9), (1.0, 1e-5)]),
    (special.agm, 0, mp.agm, [(1.0, 1.0), (1.0, 1e-10), (1e10, 1.0)]),
    (special.iv, 1, mp.besseli, [(0.5, 1.0), (2.0, 1e2), (3.0, 1e-3)]),
    (special.ive, 1, lambda v, x: mp.besseli(v, x) * mp.exp(-x), [(0.5, 1.0), (0.5, 61.0), (2.0, 1e8), (5.0, 112.0)]),
    (special.kve, 1, lambda v, x: mp.besselk(v, x) * mp.exp(x), [(0.5, 1.0), (0.5, 61.0), (2.0, 1e8)]),
    # by parameters
    (special.jv, 0, mp.besselj, [(0.5, 0.1), (2.0, 1e-3), (-1.5, 2.0), (30.0, 5.0), (50.0, 60.0), (3.3, 200.0)]),
    (
        special.yv,
        0,
        mp.bessely,
        [(0.5, 1e-100), (0.5, 1e-8), (2.0, 1e-3), (-1.5, 2.0), (30.0, 5.0), (50.0, 60.0), (3.3, 200.0)],
    ),
    (special.iv, 0, mp.besseli, [(0.5, 0.1), (2.0, 1e-3), (-1.5, 2.0), (30.0, 5.0), (50.0, 60.0), (3.3, 200.0)]),
    (
        special.kv,
        0,
        mp.besselk,
        [(0.5, 1e-100), (0.5, 1e-8), (2.0, 1e-3), (-1.5, 2.0), (30.0, 5.0), (50.0, 60.0), (3.3, 200.0)],
    ),
    (
        special.gammainc,
        0,
        gammainc,
        [(1e-3, 1e-10), (0.1, 1e-100), (0.5, 0.1), (5.0, 20.0), (100.0, 150.0), (1e4, 1e4)],
    ),
    (special.betainc, 0, betainc, [(1e-3, 2.0, 1e-5), (2.0, 3.0, 0.999), (50.0, 60.0, 0.47), (0.01, 50.0, 0.3)]),
    (special.betainc, 1, betainc, [(1e-3, 2.0, 1e-5), (2.0, 3.0, 0.999), (50.0, 60.0, 0.47), (0.01, 50.0, 0.3)]),
    (special.stdtr, 0, stdtr, [(3.0, -1.0), (0.5, -100.0), (1e5, -2.0), (3.0, -1e-5), (0.01, -1e3), (0.1, -1e30)]),
    (special.fdtr, 0, fdtr, [(3.0, 5.0, 1.0), (100.0, 200.0, 1.1)]),
    (special.fdtr, 1, fdtr, [(3.0, 5.0, 1.0), (100.0, 200.0, 1.1)]),
    (special.hyp0f1, 0, mp.hyp0f1, [(1.0, 2.0), (3.0, 500.0), (-0.5, 3.0)]),
    (special.hyp1f1, 0, mp.hyp1f1, [(0.5, 1.5, -10.0), (-2.0, 1.5, 3.0), (3.0, 0.5, -100.0)]),
    (special.hyp1f1, 1, mp.hyp1f1, [(0.5, 1.5, -10.0), (-2.0, 1.5, 3.0), (3.0, 0.5, -100.0)]),
    (special.hyp2f1, 0, mp.hyp2f1, [(0.5, 0.5, 1.0, -10.0), (1.0, 2.0, 3.5, 0.98), (3.0, 0.5, 1.0, -90.0)]),
    (special.hyp2f1, 2, mp.hyp2f1, [(0.5, 0.5, 1.0, -10.0), (1.0, 2.0, 3.5, 0.98), (3.0, 0.5, 1.0, -90.0)]),
    (special.hyperu, 0, mp.hyperu, [(0.5, 1.5, 10.0), (3.0, 0.5, 0.01), (0.01, 4.0, 20.0), (-5.5, 2.0, 10.0)]),
    (special.hyperu, 1, mp.hyperu, [(0.5, 1.5, 10.0), (3.0, 0.5, 0.01), (0.01, 4.0, 20.0), (-5.5, 2.0, 10.0)]),
]


@pytest.mark.parametrize("fn, k, f, points", CASES, ids=[f"{fn.__name__}-{k}" for fn, k, _, _ in CASES])
def test_accuracy(fn: Any, k: int, f: Reference, points: list[Any]) -> None:
    for point in points:
        args = point if isinstance(point, tuple) else (point,)
        want = reference(f, k, args) or reference(f, k, args, 400)
        have = partial(fn, k, args)
        assert abs(have - want) <= TOLERANCE * abs(want) or have == want, (args, have, want)
