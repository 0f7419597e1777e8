"""Special functions and their derivatives against mpmath, over the whole range of numbers and in every layer.

The bound of each is in units of the last place of what is right: of the value, then of the derivative. Where a function
crosses zero, or is made of a result that is near one, digits are lost next to `of`: then the unit is that of ``of`` at
least. Results below the smallest normal number may be zero.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler import kernels, nn
from autodiff_compiler.compat import tensorflow as tf
from autodiff_compiler.compat import torch
from autodiff_compiler.compat.mxnet import autograd, npx
from autodiff_compiler.compat.mxnet import np as mnp

F = torch.nn.functional
SMALL = [10.0**-k for k in (300, 100, 30, 16, 12, 8, 5, 3, 2)]
LARGE = [60.3, 88.0, 103.0, 300.2, 700.0, 745.0, 1e3, 1e6, 1e10, 1e20, 1e100, 1e300]
MIDDLE = [*np.linspace(0.05, 1, 14), *np.linspace(1.03, 9, 23), *np.linspace(9.3, 40, 17)]
POSITIVE = np.array([*SMALL, *MIDDLE, *LARGE])
REAL = np.concatenate([-POSITIVE[::-1], [0.0], POSITIVE])
UNIT = np.array([*SMALL, *np.linspace(0.02, 0.98, 25), *[1 - 10.0**-k for k in (3, 6, 9, 12, 15)]])
BOTH = np.concatenate([-UNIT[::-1], [0.0], UNIT])
GAMMA = np.concatenate(
    [POSITIVE, -np.array([0.013, 0.4, 1.37, 2.9, 7.51, 10.0001, 55.25]), [1.0, 2.0, 1.01, 1.4616, 1.99]]
)


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings(), np.errstate(all="ignore"), mp.workdps(45):
        warnings.simplefilter("ignore")
        yield


# --- a function in a layer: its value and its derivatives -------------------------------------------------------------


@dataclass
class Layer:
    function: Callable[..., Any]

    def value(self, x):
        return np.asarray(self.function(x))

    def gradient(self, x):
        return ad.grad(lambda v: np.sum(self.function(v)))(x)

    def second(self, x):
        return ad.grad(lambda v: np.sum(ad.grad(lambda w: np.sum(self.function(w)))(v)))(x)


class Numbers(Layer):
    """A function of one number."""

    def value(self, x):
        return np.array([self.function(float(v)) for v in x])

    def gradient(self, x):
        gradient = ad.grad(self.function)
        return np.array([gradient(float(v)) for v in x])

    def second(self, x):
        second = ad.grad(ad.grad(self.function))
        return np.array([second(float(v)) for v in x])


class Torch(Layer):
    def value(self, x):
        return self.function(torch.tensor(x)).numpy()

    def gradient(self, x):
        t = torch.tensor(x, requires_grad=True)
        self.function(t).sum().backward()
        return t.grad.numpy()

    def second(self, x):
        t = torch.tensor(x, requires_grad=True)
        (g,) = torch.autograd.grad(self.function(t).sum(), t, create_graph=True)
        return torch.autograd.grad(g.sum(), t)[0].numpy()


class TensorFlow(Layer):
    def value(self, x):
        return self.function(tf.constant(x)).numpy()

    def gradient(self, x):
        v = tf.Variable(x)
        with tf.GradientTape() as tape:
            y = self.function(v)
        return tape.gradient(y, v).numpy()

    def second(self, x):
        v = tf.Variable(x)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as tape:
                y = self.function(v)
            g = tape.gradient(y, v)
        return outer.gradient(g, v).numpy()


class MXNet(Layer):
    def value(self, x):
        return self.function(mnp.array(x, dtype=x.dtype)).asnumpy()

    def gradient(self, x):
        v = mnp.array(x, dtype=x.dtype)
        v.attach_grad()
        with autograd.record():
            y = self.function(v)
        y.backward()
        return v.grad.asnumpy()

    second = None


@dataclass
class Case:
    f: Callable[[Any], Any]
    slope: Callable[[Any], Any]
    points: np.ndarray
    bounds: tuple[float, float]
    layers: list[Layer]
    of: tuple[float, float] = (0.0, 0.0)
    singles: bool = True
    curved: bool = True
    bend: float = field(default=1e-11)  # the relative error of the second derivative


def log1p_exp(x):
    return mp.log1p(mp.exp(x)) if x < 0 else x + mp.log1p(mp.exp(-x))


def logistic(x):
    return 1 / (1 + mp.exp(-x))


def erfc(x):
    return mp.erfc(max(min(x, mp.mpf(1e5)), mp.mpf(-1e5)))


def normal(x):
    return erfc(-x / mp.sqrt(2)) / 2


def density(x):
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def erf_slope(x):
    return 2 / mp.sqrt(mp.pi) * mp.exp(-x * x)


def tanh_gelu(x):
    u = mp.sqrt(2 / mp.pi) * (x + mp.mpf(0.044715) * x**3)
    return x * logistic(2 * u)


def tanh_gelu_slope(x):
    u, slope = (
        mp.sqrt(2 / mp.pi) * (x + mp.mpf(0.044715) * x**3),
        mp.sqrt(2 / mp.pi) * (1 + 3 * mp.mpf(0.044715) * x * x),
    )
    return logistic(2 * u) + x * logistic(2 * u) * logistic(-2 * u) * 2 * slope


def sinc_slope(x):
    return -(mp.pi**2) * x / 3 if abs(x) < 1e-16 else (mp.cos(mp.pi * x) - mp.sinc(mp.pi * x)) / x


def mish_slope(x):
    t = mp.tanh(log1p_exp(x))
    return t + x * (1 - t * t) * logistic(x)


def polygamma(n):
    return lambda x: mp.re(mp.psi(n, x))


def sech2(x):
    return 4 / (mp.exp(x) + mp.exp(-x)) ** 2


SELU, ALPHA = mp.mpf(1.0507009873554805), mp.mpf(1.6732632423543772)
NEAR = POSITIVE[POSITIVE < 50]
AROUND = REAL[np.abs(REAL) < 50]
BELOW = REAL[REAL < 700]
MILD = REAL[np.abs(REAL) < 700]

CASES = {
    "erf": Case(
        mp.erf, erf_slope, REAL, (4, 4), [Layer(nn.erf), Numbers(math.erf), Torch(torch.erf), TensorFlow(tf.math.erf)],
    ),
    "erfc": Case(
        erfc, lambda x: -erf_slope(x), REAL, (5, 4),
        [Layer(kernels.erfc), Numbers(math.erfc), Torch(torch.erfc), TensorFlow(tf.math.erfc)],
    ),
    "ndtr": Case(normal, density, REAL, (5, 4), [Layer(kernels.ndtr)]),
    "erfinv": Case(
        mp.erfinv, lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(mp.erfinv(x) ** 2), BOTH, (4, 70),
        [Layer(kernels.erfinv), Torch(torch.erfinv)], bend=1e-10,
    ),
    "lgamma": Case(
        lambda x: mp.re(mp.loggamma(x)), polygamma(0), GAMMA, (4, 8),
        [Layer(kernels.lgamma), Torch(torch.lgamma), TensorFlow(tf.math.lgamma)], of=(1.0, 1.0),
    ),
    "math.lgamma": Case(
        lambda x: mp.re(mp.loggamma(x)), polygamma(0), GAMMA, (8, 8), [Numbers(math.lgamma)], of=(1.0, 1.0),
    ),
    "digamma": Case(
        polygamma(0), polygamma(1), GAMMA, (8, 8),
        [Layer(lambda x: kernels.polygamma(0, x)), Torch(torch.digamma), TensorFlow(tf.math.digamma)], of=(1.0, 1.0),
    ),
    "trigamma": Case(
        polygamma(1), polygamma(2), GAMMA, (8, 8),
        [Torch(lambda t: torch.polygamma(1, t))], of=(1.0, 10.0),
    ),
    "sigmoid": Case(
        logistic, lambda x: logistic(x) * logistic(-x), REAL, (4, 4),
        [Layer(nn.sigmoid), Torch(torch.sigmoid), TensorFlow(tf.sigmoid), MXNet(npx.sigmoid)], of=(0.0, 1.0),
    ),
    "softplus": Case(
        log1p_exp, logistic, REAL, (4, 4), [Layer(nn.softplus), TensorFlow(tf.nn.softplus)],
    ),
    "softplus of PyTorch, linear above 20": Case(
        lambda x: log1p_exp(x) if x <= 20 else x, lambda x: logistic(x) if x <= 20 else mp.mpf(1), REAL, (4, 4),
        [Torch(F.softplus)], curved=False,
    ),
    "log_sigmoid": Case(
        lambda x: -log1p_exp(-x), lambda x: logistic(-x), REAL, (4, 4),
        [
            Layer(nn.log_sigmoid), Torch(F.logsigmoid), TensorFlow(tf.math.log_sigmoid),
            MXNet(lambda v: npx.activation(v, "log_sigmoid")),
        ],
    ),
    "cross entropy": Case(
        lambda x: log1p_exp(-x), lambda x: -logistic(-x), REAL, (4, 4),
        [
            Layer(lambda x: nn.sigmoid_cross_entropy_with_logits(np.ones_like(x), x)),
            Torch(lambda t: F.binary_cross_entropy_with_logits(t, torch.ones_like(t), reduction="none")),
            TensorFlow(lambda t: tf.nn.sigmoid_cross_entropy_with_logits(tf.ones_like(t), t)),
        ],
    ),
    "gelu": Case(
        lambda x: x * normal(x), lambda x: normal(x) + x * density(x), REAL, (8, 8),
        [Layer(nn.gelu), Torch(F.gelu), TensorFlow(tf.nn.gelu)], of=(0.0, 0.1),
    ),
    "gelu by tanh": Case(
        tanh_gelu, tanh_gelu_slope, REAL[np.abs(REAL) < 6], (40, 60),
        [
            Layer(lambda x: nn.gelu(x, approximate=True)), Torch(lambda t: F.gelu(t, approximate="tanh")),
            TensorFlow(lambda t: tf.nn.gelu(t, approximate=True)),
        ],
        of=(0.0, 0.1), bend=1e-9,
    ),
    "silu": Case(
        lambda x: x * logistic(x), lambda x: logistic(x) * (1 + x * logistic(-x)), BELOW, (4, 40),
        [Layer(nn.silu), Torch(F.silu), TensorFlow(tf.nn.silu)], of=(0.0, 0.1),
    ),
    "mish": Case(
        lambda x: x * mp.tanh(log1p_exp(x)), mish_slope, AROUND, (8, 8), [Torch(F.mish)], of=(0.0, 1.0),
    ),
    "softsign": Case(
        lambda x: x / (1 + abs(x)), lambda x: 1 / (1 + abs(x)) ** 2, REAL, (4, 4),
        [Layer(nn.softsign), Torch(F.softsign), TensorFlow(tf.nn.softsign)], curved=False,
    ),
    "elu": Case(
        lambda x: x if x > 0 else mp.expm1(x), lambda x: mp.mpf(1) if x > 0 else mp.exp(x), REAL, (4, 4),
        [Layer(nn.elu), Torch(F.elu), TensorFlow(tf.nn.elu)], curved=False,
    ),
    "selu": Case(
        lambda x: SELU * (x if x > 0 else ALPHA * mp.expm1(x)), lambda x: SELU * (1 if x > 0 else ALPHA * mp.exp(x)),
        REAL[REAL != 0], (4, 4), [Layer(nn.selu), Torch(F.selu), TensorFlow(tf.nn.selu)], curved=False,
    ),
    "tanh": Case(
        mp.tanh, sech2, REAL, (4, 4), [Layer(np.tanh), Numbers(math.tanh), Torch(torch.tanh), TensorFlow(tf.tanh)],
        of=(0.0, 1.0),
    ),
    "tanhshrink": Case(
        lambda x: x - mp.tanh(x), lambda x: mp.tanh(x) ** 2, MILD[np.abs(MILD) < 2], (4, 4), [Torch(F.tanhshrink)],
        of=(1.0, 1.0), curved=False,
    ),
    "expm1": Case(
        mp.expm1, mp.exp, BELOW, (4, 4),
        [Layer(np.expm1), Numbers(math.expm1), Torch(torch.expm1), TensorFlow(tf.math.expm1)],
    ),
    "log1p": Case(
        mp.log1p, lambda x: 1 / (1 + x), np.concatenate([POSITIVE, -UNIT]), (4, 4),
        [Layer(np.log1p), Numbers(math.log1p), Torch(torch.log1p), TensorFlow(tf.math.log1p)], singles=False,
    ),
    "logit": Case(
        lambda x: mp.log(x) - mp.log1p(-x), lambda x: 1 / x / (1 - x), UNIT, (8, 8), [Torch(torch.logit)],
        of=(1.0, 0.0), singles=False,
    ),
    "entr": Case(
        lambda x: -x * mp.log(x), lambda x: -mp.log(x) - 1, POSITIVE, (4, 4), [Torch(torch.special.entr)],
        of=(0.0, 1.0), singles=False,
    ),
    "xlogy": Case(
        lambda x: 3 * mp.log(x), lambda x: 3 / x, POSITIVE[:-1], (4, 4),
        [
            Torch(lambda t: torch.xlogy(torch.full_like(t, 3.0), t)),
            TensorFlow(lambda t: tf.math.xlogy(3.0 * tf.ones_like(t), t)),
        ],
        of=(1.0, 0.0), singles=False, curved=False,
    ),
    "sinc": Case(
        lambda x: mp.sinc(mp.pi * x), sinc_slope, AROUND, (8, 40), [Layer(np.sinc), Torch(torch.sinc)], of=(1.0, 1.0),
    ),
    "sinc near 0": Case(
        lambda x: mp.sinc(mp.pi * x), sinc_slope, BOTH[np.abs(BOTH) < 0.6], (4, 8), [Layer(np.sinc), Torch(torch.sinc)],
    ),
    "i0": Case(
        lambda x: mp.besseli(0, x), lambda x: mp.besseli(1, x), MILD, (32, 32), [Layer(np.i0)], singles=False,
    ),
    "rsqrt": Case(
        lambda x: 1 / mp.sqrt(x), lambda x: -1 / (2 * x * mp.sqrt(x)), POSITIVE, (4, 6),
        [Layer(kernels.rsqrt), Torch(torch.rsqrt), TensorFlow(tf.math.rsqrt)], singles=False, curved=False,
    ),
    "logaddexp": Case(
        log1p_exp, logistic, REAL, (4, 4),
        [Layer(lambda x: np.logaddexp(x, 0.0)), Torch(lambda t: torch.logaddexp(t, torch.zeros_like(t)))],
        of=(0.0, 40.0),
    ),
    "arcsin": Case(
        mp.asin, lambda x: 1 / mp.sqrt(1 - x * x), BOTH, (4, 4),
        [Layer(np.arcsin), Numbers(math.asin)], singles=False,
    ),
    "arccos": Case(
        mp.acos, lambda x: -1 / mp.sqrt(1 - x * x), BOTH, (4, 4),
        [Layer(np.arccos), Numbers(math.acos)], singles=False,
    ),
    "arctanh": Case(
        mp.atanh, lambda x: 1 / (1 - x * x), BOTH, (4, 4),
        [Layer(np.arctanh), Numbers(math.atanh)], singles=False,
    ),
    "arccosh": Case(
        mp.acosh, lambda x: 1 / mp.sqrt(x * x - 1), 1 + POSITIVE[5:], (4, 4), [Layer(np.arccosh), Numbers(math.acosh)],
        singles=False, bend=1e-6,
    ),
    "arcsinh": Case(
        mp.asinh, lambda x: 1 / mp.sqrt(x * x + 1), REAL[np.abs(REAL) < 1e150], (4, 4),
        [Layer(np.arcsinh), Numbers(math.asinh)],
    ),
    "arctan": Case(mp.atan, lambda x: 1 / (1 + x * x), REAL, (4, 4), [Layer(np.arctan), Numbers(math.atan)]),
    "sinh": Case(mp.sinh, mp.cosh, MILD, (4, 4), [Layer(np.sinh), Numbers(math.sinh)]),
    "cosh": Case(mp.cosh, mp.sinh, MILD, (4, 4), [Layer(np.cosh), Numbers(math.cosh)]),
    "log": Case(
        mp.log, lambda x: 1 / x, POSITIVE, (4, 4),
        [Layer(np.log), Numbers(math.log)], of=(1.0, 0.0), singles=False,
    ),
    "sqrt": Case(
        mp.sqrt, lambda x: 0.5 / mp.sqrt(x), POSITIVE, (4, 4),
        [Layer(np.sqrt), Numbers(math.sqrt)], singles=False,
    ),
}  # fmt: skip


def points(case, dtype):
    x = np.unique(case.points.astype(dtype))
    return x[np.isfinite(x)]


def assert_near(got, f, x, ulps, of):
    assert got.dtype == x.dtype and got.shape == x.shape
    info = np.finfo(x.dtype)
    for g, v in zip(got, x):
        exact = f(mp.mpf(float(v)))
        want = float(exact)
        if abs(want) > info.max:
            assert not abs(g) < info.max, (v, g, want)
            continue
        unit = max(float(np.spacing(abs(x.dtype.type(want)))), info.eps * of)
        assert abs(mp.mpf(float(g)) - exact) <= ulps * unit + info.tiny, (v, g, want)


LAYERS = [(name, k) for name, case in CASES.items() for k in range(len(case.layers))]


@pytest.mark.parametrize("name, k", LAYERS)
def test_values_and_derivatives(name, k):
    case = CASES[name]
    layer = case.layers[k]
    x = points(case, np.float64)
    assert_near(layer.value(x.copy()), case.f, x, case.bounds[0], case.of[0])
    assert_near(layer.gradient(x.copy()), case.slope, x, case.bounds[1], case.of[1])


@pytest.mark.parametrize(
    "name, k", [(n, k) for n, k in LAYERS if CASES[n].singles and type(CASES[n].layers[k]) is not Numbers]
)
def test_single_precision(name, k):
    case = CASES[name]
    layer = case.layers[k]
    x = points(case, np.float32)
    x = x[(np.abs(x) > 1e-30) & (np.abs(x) < 80)]
    assert_near(layer.value(x.copy()), case.f, x, case.bounds[0], case.of[0])
    assert_near(layer.gradient(x.copy()), case.slope, x, 2 * case.bounds[1], case.of[1])


@pytest.mark.parametrize("name, k", [(n, k) for n, k in LAYERS if CASES[n].curved and CASES[n].layers[k].second])
def test_second_derivatives(name, k):
    case = CASES[name]
    x = points(case, np.float64)
    x = x[(np.abs(x) > 1e-3) & (np.abs(x) < 12)][::3]
    got = case.layers[k].second(x.copy())
    for g, v in zip(got, x):
        want = float(mp.diff(case.slope, mp.mpf(float(v))))
        assert abs(g - want) <= case.bend * (abs(want) + max(case.of)), (v, g, want)


def test_smallest_and_largest():
    """What the tails are, at a glance."""
    assert float(torch.erfc(torch.tensor(6.0, dtype=torch.float64))) == pytest.approx(2.1519736712498913e-17, rel=1e-14)
    assert float(torch.erfc(torch.tensor(26.0, dtype=torch.float64))) == pytest.approx(float(mp.erfc(26)), rel=1e-14)
    assert nn.gelu(np.array([-20.0]))[0] == pytest.approx(float(-20 * normal(-20)), rel=1e-14)
    assert kernels.erfinv(np.array([-1.0, 1.0, 2.0]))[:2].tolist() == [-np.inf, np.inf]
    assert np.isnan(kernels.erfinv(np.array([2.0, np.nan]))).all()
    for f in (kernels.erf, kernels.erfc, kernels.ndtr, kernels.softsign):
        assert np.isnan(f(np.array([np.nan]))).all() and f(np.array([], np.float32)).shape == (0,)
        assert type(f(np.float32(0.5))) is np.float32 and np.isfinite(f(np.array([1e308, -1e308]))).all()
    assert kernels.ndtr(np.array([-np.inf, np.inf])).tolist() == [0.0, 1.0]
    assert kernels.erfc(np.array([-np.inf, np.inf])).tolist() == [2.0, 0.0]
    for f in (
        np.tanh,
        nn.sigmoid,
        nn.gelu,
        lambda x: nn.gelu(x, True),
        nn.softplus,
        nn.softsign,
        nn.elu,
        nn.log_sigmoid,
    ):
        assert np.isfinite(ad.grad(lambda x, f=f: np.sum(f(x)))(np.array([-1e300, -800.0, 800.0, 1e300]))).all()
