"""`scipy.special`: exponentials, logarithms, logistic functions, entropies, losses, angles in degrees."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from ... import runtime
from ..lib import SUBSCRIPTS, WEIGHTS, call, choose, equal, is_constant
from ..record import Over, Overflowing, elementwise, nondiff
from .special_lib import has, without

LOG2, LOG10, DEGREE = math.log(2.0), math.log(10.0), math.pi / 180

# --- exponentials and logarithms --------------------------------------------------------------------------------------

elementwise(special.exp2, Overflowing(lambda out, x: LOG2 * out))
elementwise(special.exp10, Overflowing(lambda out, x: LOG10 * out))
elementwise(special.expm1, Overflowing(lambda out, x: np.exp(x)))
elementwise(special.log1p, Over(lambda out, x: 1 + x, steep=True), singular=SUBSCRIPTS)
elementwise(special.cbrt, Over(lambda out, x: 3 * (out * out)), singular=WEIGHTS)
elementwise(special.cosm1, lambda out, x: -np.sin(x))
# exprel(x) is hyp1f1(1, 2, x), and so is its derivative one, without loss of digits near zero.
elementwise(special.exprel, lambda out, x: 0.5 * special.hyp1f1(2.0, 3.0, x))
if has("powm1"):
    elementwise(
        special.powm1,
        lambda out, x, y: y * np.power(x, y - 1),
        lambda out, x, y: (out + 1) * np.log(x),
        singular=WEIGHTS,
    )

# --- logistic functions -----------------------------------------------------------------------------------------------

elementwise(special.expit, lambda out, x: out * special.expit(-x))  # 1 - out has no digits where x is large
elementwise(special.log_expit, lambda out, x: special.expit(-x))
elementwise(special.logit, Over(lambda out, x: x * (1 - x), steep=True), singular=SUBSCRIPTS)

# --- entropies --------------------------------------------------------------------------------------------------------

elementwise(
    special.xlogy,
    lambda out, x, y: np.log(y),
    lambda out, x, y: call(runtime.ratio, x, y),  # xlogy(0, y) is 0 for all y
    singular=WEIGHTS,
)
elementwise(
    special.xlog1py,
    lambda out, x, y: np.log1p(y),
    lambda out, x, y: call(runtime.ratio, x, 1 + y),
    singular=WEIGHTS,
)
elementwise(special.entr, lambda out, x: -1 - np.log(x), singular=WEIGHTS)
elementwise(
    special.rel_entr,
    lambda out, x, y: 1 + np.log(x / y),
    lambda out, x, y: -call(runtime.ratio, x, y),
    singular=WEIGHTS,
)
elementwise(
    special.kl_div,
    lambda out, x, y: np.log(x / y),
    lambda out, x, y: 1 - call(runtime.ratio, x, y),
    singular=WEIGHTS,
)

# --- losses -----------------------------------------------------------------------------------------------------------


def _huber_delta(out: Any, delta: Any, r: Any) -> Any:
    return _if_huber(delta, np.maximum(np.absolute(r) - delta, 0.0))


def _huber(out: Any, delta: Any, r: Any) -> Any:
    return _if_huber(delta, np.clip(r, -delta, delta))


def _if_huber(delta: Any, slope: Any) -> Any:
    """The loss is infinite for a negative `delta`."""
    if is_constant(delta) and delta >= 0:
        return slope
    return choose(delta < 0, math.nan, slope)


def _pseudo_huber_delta(out: Any, delta: Any, r: Any) -> Any:
    u = np.square(r / delta)
    root = np.sqrt(1 + u)
    return delta * np.square(u / (1 + root)) / root


elementwise(special.huber, _huber_delta, _huber)
elementwise(
    special.pseudo_huber,
    _pseudo_huber_delta,
    lambda out, delta, r: r / np.sqrt(1 + np.square(r / delta)),
)

# --- powers of Box and Cox --------------------------------------------------------------------------------------------
# boxcox(x, p) is log(x) * exprel(p * log(x)); its inverse is exp(y * log1p(p * y) / (p * y)), where log1p(u) / u is
# hyp2f1(1, 1, 2, -u). Both have a derivative by p at p = 0.


def _box(log: Any, power: Any) -> Any:
    return 0.5 * np.square(log) * special.hyp1f1(2.0, 3.0, power * log)


def _inverse_by_power(value: Any, y: Any, power: Any) -> Any:
    return -0.5 * value * np.square(y) * special.hyp2f1(2.0, 2.0, 3.0, -(power * y))


elementwise(
    special.boxcox,
    lambda out, x, power: np.power(x, power - 1),
    lambda out, x, power: _box(np.log(x), power),
    singular=WEIGHTS,
)
elementwise(
    special.boxcox1p,
    lambda out, x, power: np.power(1 + x, power - 1),
    lambda out, x, power: _box(np.log1p(x), power),
    singular=WEIGHTS,
)
elementwise(
    special.inv_boxcox,
    lambda out, y, power: out / (1 + power * y),
    lambda out, y, power: _inverse_by_power(out, y, power),
)
elementwise(
    special.inv_boxcox1p,
    lambda out, y, power: (out + 1) / (1 + power * y),
    lambda out, y, power: _inverse_by_power(out + 1, y, power),
)

# --- angles in degrees ------------------------------------------------------------------------------------------------

elementwise(special.sindg, lambda out, x: DEGREE * special.cosdg(x))
elementwise(special.cosdg, lambda out, x: -DEGREE * special.sindg(x))
elementwise(special.tandg, lambda out, x: DEGREE * (1 + out * out))
elementwise(special.cotdg, lambda out, x: -DEGREE * (1 + out * out))
elementwise(
    special.radian,
    lambda out, d, m, s: DEGREE,
    lambda out, d, m, s: DEGREE / 60,
    lambda out, d, m, s: DEGREE / 3600,
)

# --- others -----------------------------------------------------------------------------------------------------------

nondiff(special.round)


def _tukey(out: Any, x: Any, shape: Any) -> Any:
    """The density of Tukey's lambda distribution. Outside of its support the distribution function is 0 or 1."""
    density = 1 / (np.power(out, shape - 1) + np.power(1 - out, shape - 1))
    return choose(equal(out * (1 - out), 0), 0.0, density)


elementwise(special.tklmbda, _tukey, without("tklmbda", "shape"))
elementwise(special.wrightomega, lambda out, z: out / (1 + out))


def _mean(out: Any, a: Any, b: Any) -> Any:
    """The derivative of the arithmetic-geometric mean, ``pi * (a + b) / (4 * ellipk(k ** 2))``, by its first operand.

    Here `k` is ``(a - b) / (a + b)``.
    """
    total = a + b
    rest = 4 * (a / total) * (b / total)  # 1 - k ** 2
    slope, complete = special.elliprd(0.0, 1.0, rest) / 6, special.ellipkm1(rest)
    return out / total * (1 - 4 * (b / total) * ((a - b) / total) * slope / complete)


elementwise(special.agm, _mean, lambda out, a, b: _mean(out, b, a))
