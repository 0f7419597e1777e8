"""Every derivative rule through the one harness, at several shapes, plain and with the builder's rewrites."""

from __future__ import annotations

import builtins
import cmath
import math
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler import runtime
from autodiff_compiler.api import callbacks  # noqa: F401  (callbacks can be differentiated)
from autodiff_compiler.ir import opset
from autodiff_compiler.ir.core import Prim
from autodiff_compiler.ir.interp import interpret
from autodiff_compiler.ir.opset import PRIMS, lookup
from autodiff_compiler.ir.verify import verify
from autodiff_compiler.kernels.callbacks import SCALAR, Callback
from autodiff_compiler.operations import record
from autodiff_compiler.operations.check import RuleError, as_function, check_rule, check_types, named
from autodiff_compiler.operations.choices import SELECT
from autodiff_compiler.operations.joining import UNSTACK
from autodiff_compiler.operations.making import ASTYPE
from autodiff_compiler.transforms import algebra
from autodiff_compiler.transforms.jvp import push_forward
from tests.nn import nn_rule_cases

Case = tuple[Any, tuple[Any, ...], dict[str, Any]]

RNG = np.random.default_rng(7)
RULES = list(record.rules())  # before tests run programs that enter rules


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape)


def between(low: float, high: float, *shape: int) -> np.ndarray:
    return RNG.uniform(low, high, size=shape)


def cplx(*shape: int) -> np.ndarray:
    return normal(*shape) + 1j * normal(*shape)


# Unary functions with an interval on which they are smooth, and whether they take complex numbers.
UNARY: list[tuple[Any, float, float, bool]] = [
    (np.negative, -2, 2, True),
    (np.positive, -2, 2, True),
    (operator.neg, -2, 2, True),
    (operator.pos, -2, 2, True),
    (np.absolute, 0.2, 2, True),
    (abs, -2, -0.2, True),
    (np.fabs, -2, -0.2, False),
    (np.sqrt, 0.2, 2, True),
    (np.square, -2, 2, True),
    (np.cbrt, 0.2, 2, False),
    (np.reciprocal, 0.3, 2, True),
    (np.exp, -2, 2, True),
    (np.exp2, -2, 2, True),
    (np.expm1, -2, 2, True),
    (np.log, 0.2, 2, True),
    (np.log2, 0.2, 2, True),
    (np.log10, 0.2, 2, True),
    (np.log1p, -0.5, 2, True),
    (np.sin, -2, 2, True),
    (np.cos, -2, 2, True),
    (np.tan, -1, 1, True),
    (np.arcsin, -0.8, 0.8, True),
    (np.arccos, -0.8, 0.8, True),
    (np.arctan, -2, 2, False),
    (np.sinh, -2, 2, True),
    (np.cosh, -2, 2, True),
    (np.tanh, -2, 2, True),
    (np.arcsinh, -2, 2, False),
    (np.arccosh, 1.3, 3, True),
    (np.arctanh, -0.8, 0.8, True),
    (np.deg2rad, -9, 9, False),
    (np.rad2deg, -2, 2, False),
    (np.degrees, -2, 2, False),
    (np.radians, -2, 2, False),
    (np.sinc, 0.2, 2, False),
    (np.conjugate, -2, 2, True),
    (np.real, -2, 2, True),
    (np.nan_to_num, -2, 2, False),
]
BINARY: list[tuple[Any, tuple[float, float], tuple[float, float], bool]] = [
    (operator.add, (-2, 2), (-2, 2), True),
    (np.add, (-2, 2), (-2, 2), True),
    (operator.sub, (-2, 2), (-2, 2), True),
    (np.subtract, (-2, 2), (-2, 2), True),
    (operator.mul, (-2, 2), (-2, 2), True),
    (np.multiply, (-2, 2), (-2, 2), True),
    (operator.truediv, (-2, 2), (0.3, 2), True),
    (np.true_divide, (-2, 2), (0.3, 2), True),
    (operator.pow, (0.3, 2), (-2, 2), True),
    (np.power, (0.3, 2), (-2, 2), True),
    (np.float_power, (0.3, 2), (-2, 2), True),
    (pow, (0.3, 2), (-2, 2), False),
    (operator.mod, (5.1, 5.9), (1.1, 1.2), False),
    (np.remainder, (5.1, 5.9), (1.1, 1.2), False),
    (np.fmod, (5.1, 5.9), (1.1, 1.2), False),
    (np.maximum, (-2, 2), (-2, 2), False),
    (np.minimum, (-2, 2), (-2, 2), False),
    (np.fmax, (-2, 2), (-2, 2), False),
    (np.fmin, (-2, 2), (-2, 2), False),
    (np.hypot, (0.2, 2), (0.2, 2), False),
    (np.arctan2, (0.2, 2), (0.2, 2), False),
    (np.logaddexp, (-2, 2), (-2, 2), False),
    (np.logaddexp2, (-2, 2), (-2, 2), False),
    (np.copysign, (-2, -0.2), (0.2, 2), False),
]
CMATH = (
    "exp", "sqrt", "log", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh",
    "acosh", "atanh",
)  # fmt: skip
MATH = [
    ("sqrt", 0.7),
    ("exp", 0.7),
    ("expm1", 0.7),
    ("log2", 0.7),
    ("log10", 0.7),
    ("log1p", 0.7),
    ("sin", 0.7),
    ("cos", 0.7),
    ("tan", 0.7),
    ("asin", 0.7),
    ("acos", 0.7),
    ("atan", 0.7),
    ("sinh", 0.7),
    ("cosh", 0.7),
    ("tanh", 0.7),
    ("asinh", 0.7),
    ("acosh", 1.7),
    ("atanh", 0.7),
    ("fabs", -0.7),
    ("degrees", 0.7),
    ("radians", 0.7),
    ("erf", 0.7),
    ("erfc", 0.7),
    ("cbrt", 0.7),
    ("exp2", 0.7),
    ("log", 0.7),
]


def elementwise_cases() -> Iterator[Case]:
    for fn, low, high, holomorphic in UNARY:
        x = between(low, high, 2, 3)
        for value in (x, x[0], x[0, 0], float(x[0, 0]), np.array(x[0, 0]), np.empty((0, 3)), x[:1]):
            yield fn, (value,), {}
        if holomorphic:
            yield fn, (x + 0.4j * between(0.5, 1, 2, 3),), {}
            yield fn, (x - 0.4j * between(0.5, 1, 2, 3),), {}
    for fn, (a, b), (c, d), holomorphic in BINARY:
        x, y = between(a, b, 2, 3), between(c, d, 2, 3)
        for p, q in (
            (x, y),
            (x, y[0]),
            (x[:1], y),
            (x[:, :1], y[0]),
            (float(x[0, 0]), y),
            (x, float(y[0, 0])),
            (float(x[0, 0]), float(y[0, 0])),
            (x[0, 0], y[0, 0]),
            (np.array(x[0, 0]), y),
            (np.empty((0, 3)), y[0]),
        ):
            yield fn, (p, q), {}
        if holomorphic:
            yield fn, (x + 0.3j, y - 0.2j * x), {}
            yield fn, (x + 0.3j, y), {}
    for fn in (operator.pow, np.power):
        for n in (2, 3, 0, 1, -1, -2, 0.5, 2.5, 1.0):
            yield fn, (between(0.3, 2, 3), n), {}
        yield fn, (between(0.3, 2, 3), np.array([0, 1, 2])), {}
        yield fn, (np.array([0.0, 0.5, -2.0]), np.array([0, 1, 3])), {}
        yield fn, (2, normal(3)), {}
        yield fn, (2.5, 1.5), {}
        yield fn, (np.array([2, 3]), normal(2)), {}
    for fn in (np.maximum, np.minimum):
        yield fn, (normal(4), 0.0), {}
        yield fn, (normal(4), 0), {}
        yield fn, (0, normal(4)), {}
        yield fn, (0.3, normal(4)), {}
    for name, x in MATH:
        if hasattr(math, name):
            yield getattr(math, name), (x,), {}
    for fn in (math.atan2, math.pow, math.fmod, math.copysign, math.remainder, math.log):
        yield fn, (1.7, 0.6), {}
    yield math.hypot, (0.3, -0.4, 1.2), {}
    for name in CMATH:
        for z in (0.4 + 0.7j, -1.3 - 0.2j, 0.6):
            yield getattr(cmath, name), (z,), {}
    for name in ("sqrt", "log", "asin", "acos", "acosh", "atanh"):
        yield getattr(cmath, name), (-1.7 if name != "asin" else 1.7,), {}  # on the cut
    yield cmath.log, (0.4 + 0.7j, 2.5), {}
    yield cmath.log, (-0.4, 1.5 - 0.3j), {}
    yield cmath.phase, (0.4 - 0.7j,), {}
    yield cmath.phase, (-0.4 + 0.7j,), {}
    yield math.fsum, (normal(3),), {}
    yield runtime.sum_numbers, (0.3, -0.4, 1.2, 2), {}
    yield runtime.sum_floats, (0.3, normal(3)), {}
    yield runtime.mean_of_numbers, (0.3, -0.4, 1.2, 2.5), {}
    if hasattr(math, "sumprod"):
        yield runtime.product_of_numbers, (0.3, -0.4, 1.2, 2.5), {}
    yield np.heaviside, (np.array([-1, 0, 2]), normal(3)), {}
    yield np.ldexp, (normal(3), 2), {}
    yield np.imag, (cplx(2, 3),), {}
    yield np.angle, (cplx(2, 3),), {}
    yield np.angle, (cplx(3), True), {}
    yield np.sign, (cplx(2, 3),), {}
    yield complex, (0.3, 0.4), {}
    yield builtins.max, (0.3, 1.2, -0.4), {}
    yield builtins.min, (0.3, np.float64(1.2)), {}
    for cast in (float, np.float64, np.complex128):
        yield cast, (0.7,), {}
    yield np.float64, (normal(3),), {}
    yield np.complex128, (cplx(3),), {}
    yield np.modf, (normal(3),), {}
    yield np.frexp, (normal(3),), {}
    yield np.divmod, (between(5.1, 5.9, 3), between(1.1, 1.2, 3)), {}
    yield np.where, (np.array([True, False, True]), normal(3), normal(3)), {}
    yield np.where, (np.array([True, False, True]), normal(2, 3), 1.5), {}
    yield np.where, (np.array([1, 0, 2]), 2.5, normal(2, 1)), {}
    yield np.where, (np.array([True, False]), cplx(2), normal(2)), {}
    yield SELECT, (True, 0.5, 1.5), {}
    yield np.clip, (normal(3, 4), -0.5, 0.5), {}
    yield np.clip, (normal(4), between(-1, -0.3, 4), between(0.3, 1, 4)), {}
    yield np.clip, (normal(4), None, between(-0.3, 0.3, 4)), {}
    yield np.clip, (normal(4), between(-0.3, 0.3, 4), None), {}
    yield np.clip, (normal(4), 0.7, -0.1), {}
    yield np.clip, (normal(2, 4),), {"min": normal(4) - 1, "max": 0.4}
    yield np.clip, (normal(4),), {"max": 0.4 * normal(4)}


def reduction_cases() -> Iterator[Case]:
    x, big = normal(3, 4), normal(2, 3, 4)
    axes: tuple[Any, ...] = (None, 0, 1, -1, (0, 1))
    for fn in (np.sum, np.mean, np.var, np.std, np.max, np.min, np.amax, np.amin):
        for axis in axes:
            for keepdims in (False, True):
                yield fn, (x,), {"axis": axis, "keepdims": keepdims}
        yield fn, (big,), {"axis": (0, 2)}
        yield fn, (big, 1), {}
        yield fn, (normal(1, 4),), {"axis": 1}
        if fn not in (np.var, np.std):
            yield fn, (0.5,), {}
            yield fn, (np.array(0.5),), {}
    for fn in (np.sum, np.mean, np.var, np.std):
        yield fn, (cplx(3, 4),), {"axis": 0}
    yield np.sum, (np.empty((0, 3)),), {"axis": 0}
    yield np.sum, (np.empty((0, 3)),), {}
    yield np.mean, (np.empty((3, 0)),), {"axis": 0}
    for fn in (np.var, np.std):
        yield fn, (x, 1), {"ddof": 1}
    for axis in (None, 0, 1, -2):
        for fn in (np.prod, np.cumsum, np.cumprod):
            yield fn, (x,), {"axis": axis}
            yield fn, (cplx(2, 3),), {"axis": axis}
        zeros = x.copy()
        zeros[0, 1] = zeros[2, 1] = zeros[1, 0] = 0.0
        yield np.prod, (zeros,), {"axis": axis}
        yield np.cumprod, (zeros,), {"axis": axis}
    yield np.prod, (x,), {"axis": (1,), "keepdims": True}
    yield np.prod, (x, 0), {"keepdims": True}
    yield np.prod, (0.7,), {}
    yield np.prod, (np.array([0.0, 2.0, 3.0]),), {}
    yield np.cumsum, (normal(4),), {}
    yield np.cumsum, (np.empty(0),), {}
    for fn in (np.add.reduce, np.multiply.reduce, np.maximum.reduce, np.minimum.reduce):
        yield fn, (x,), {}
        yield fn, (x, 1), {}
    yield np.add.reduce, (x,), {"axis": None}
    yield np.ptp, (x,), {"axis": 1}
    yield np.ptp, (x,), {}
    yield runtime.linear_scan, (x, normal(3, 4), 1), {}
    for kernel in (runtime.quotient, runtime.ratio, runtime.over, runtime.product):
        yield kernel, (x, 2.0 + normal(3, 4) ** 2), {}
    yield runtime.power, (2.0 + x**2, normal(3, 4)), {}
    yield runtime.base_log, (2.0 + x**2, x), {}
    yield runtime.flip_scan, (x, normal(3, 4), 0), {}
    for z in (cplx(3), cplx(2, 3).T):
        yield runtime.as_reals, (z,), {}
    for pairs in (normal(4), normal(4, 3).T):
        yield runtime.as_complexes, (pairs,), {}
    yield runtime.shift, (x, 0, 1), {}
    yield runtime.shift, (x, 1, 0, -1), {}
    for order in (None, 1, 2, 3, 1.5, 0.5, np.inf, -np.inf, -1):
        yield np.linalg.norm, (normal(4), order), {}
        yield np.linalg.norm, (x, order), {"axis": 0}
        yield np.linalg.norm, (x, order, 1, True), {}
        if order not in (-np.inf,):
            yield np.linalg.norm, (cplx(3), order), {}
    yield np.nansum, (x,), {"axis": 1}
    yield sum, (x,), {}
    yield sum, (x[0], 0.5), {}
    for points in (np.array([-1.0, 0.3, 1.2, 2.7, 9.0]), 1.7, np.array([[0.4]])):
        yield np.interp, (points, np.array([0, 1, 2, 3]), normal(4)), {}
    yield np.linalg.norm, (x,), {}
    yield np.linalg.norm, (x, "fro"), {}
    yield np.linalg.norm, (big, "fro", (0, 2)), {}
    yield np.linalg.norm, (big,), {"axis": (1, 2), "keepdims": True}


def shaping_cases() -> Iterator[Case]:
    x, big, v = normal(3, 4), normal(2, 3, 4), normal(5)
    yield np.full, ((2, 3), 0.5), {}
    yield np.full, ((2, 3), normal(3)), {}
    yield np.full_like, (np.zeros((2, 3), int), 0.5, float), {}
    yield np.full_like, (x, 0.5), {}
    yield np.array, ([0.5, 1.5, 2.5],), {}
    yield np.array, ([[0.5, 1.5], [np.float64(2.5), 3]],), {}
    yield np.array, ([v, v * 2],), {}
    yield np.array, (x,), {}
    for fn in (np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.copy):
        yield fn, (x,), {}
        yield fn, (0.5,), {}
    yield np.asarray, ((0.5, 1.5),), {}
    yield ASTYPE, (x, np.complex128), {}
    yield np.linspace, (0.5, 2.5, 4), {}
    yield np.linspace, (0.5, 2.5), {"num": 4, "endpoint": False}
    yield np.linspace, (normal(2), normal(2), 3), {}
    yield np.linspace, (0.3, normal(2), 3), {}
    yield np.arange, (0.25, 2.0, 0.5), {}
    for shape in ((4, 3), -1, (2, -1), (12,), (2, 3, 2)):
        yield np.reshape, (x, shape), {}
    yield np.reshape, (0.5, (1, 1)), {}
    yield np.ravel, (x,), {}
    yield np.ravel, (v,), {}
    yield np.squeeze, (normal(1, 3, 1),), {}
    yield np.squeeze, (normal(1, 3, 1), 0), {}
    yield np.expand_dims, (x, 1), {}
    yield np.expand_dims, (x, (0, -1)), {}
    for fn in (np.atleast_1d, np.atleast_2d):
        for value in (0.5, v, x):
            yield fn, (value,), {}
    yield np.transpose, (big,), {}
    yield np.transpose, (big, (1, 2, 0)), {}
    yield np.transpose, (x,), {}
    yield np.transpose, (v,), {}
    yield np.swapaxes, (big, 0, -1), {}
    yield np.moveaxis, (big, 0, -1), {}
    yield np.moveaxis, (big, (0, 2), (1, 0)), {}
    yield np.broadcast_to, (normal(1, 4), (3, 4)), {}
    yield np.broadcast_to, (normal(4), (2, 3, 4)), {}
    yield np.broadcast_to, (0.5, (2, 3)), {}
    yield np.flip, (big,), {}
    yield np.flip, (big, 1), {}
    yield np.flip, (big,), {"axis": (0, 2)}
    yield np.flipud, (x,), {}
    yield np.fliplr, (x,), {}
    yield np.roll, (x, 2), {}
    yield np.roll, (x, -1, 1), {}
    yield np.roll, (x, (1, 2), (0, 1)), {}
    yield np.rot90, (x,), {}
    yield np.rot90, (big, 3, (1, 2)), {}
    for axis in (0, 1, -1, None):
        yield np.concatenate, ([x, x * 2, normal(3, 4)], axis), {}
        yield np.append, (x, normal(3, 4), axis), {}
    yield np.concatenate, ((x, normal(1, 4), np.empty((0, 4))),), {"axis": 0}
    yield np.concatenate, ((v, np.array([1, 2])),), {}
    yield np.concatenate, ((v, cplx(2)),), {}
    for axis in (0, 1, -1):
        yield np.stack, ([v, v * 2], axis), {}
    yield np.stack, ([0.5, np.float64(1.5)],), {}
    yield np.vstack, ([v, v * 2],), {}
    yield np.vstack, ([normal(4), x],), {}
    yield np.vstack, ([x, x],), {}
    yield np.vstack, ([0.5, 1.5],), {}
    yield np.hstack, ([v, normal(2)],), {}
    yield np.hstack, ([0.5, normal(2)],), {}
    yield np.hstack, ([0.5, 1.5],), {}
    yield np.hstack, ([x, normal(3, 2)],), {}
    yield np.column_stack, ([v, v * 2],), {}
    yield np.column_stack, ([normal(3), x],), {}
    yield np.repeat, (x, 2), {}
    yield np.repeat, (x, 3, 1), {}
    yield np.repeat, (x, np.array([2, 0, 1]), 0), {}
    yield np.repeat, (x, 0, 0), {}
    for reps in (2, (2, 1), (1, 3), (2, 2, 2), (1, 1)):
        yield np.tile, (x, reps), {}
    yield np.tile, (v, 3), {}
    yield np.tile, (v, (2, 1)), {}
    for width in (1, (1, 2), ((1, 2), (0, 3)), ((2, 1),)):
        yield np.pad, (x, width), {}
    yield np.pad, (v, (2, 0)), {"constant_values": 1.5}
    for n in (1, 2, 3, 5):
        yield np.diff, (v, n), {}
    yield np.diff, (x,), {}
    yield np.diff, (x, 1, 0), {}
    yield np.diff, (np.empty(0),), {}
    yield np.diff, (normal(1),), {}
    for k in (0, 1, -2):
        yield np.diag, (v, k), {}
        yield np.diag, (x, k), {}
        yield np.diag, (normal(4, 3), k), {}
        yield np.diagonal, (x, k), {}
        yield np.diagonal, (big, k, 2, 0), {}
        yield np.trace, (x, k), {}
        yield np.trace, (x, k, 1, 0), {}
        yield np.trace, (big, k, 0, 2), {}
        yield np.tril, (x, k), {}
        yield np.triu, (big, k), {}


PATHS = [
    (("index", (1,)),),
    (("index", (slice(1, None),)),),
    (("index", (slice(None, None, -1), 2)),),
    (("index", (slice(1, None),)), ("index", (0,))),
    (("transpose", None), ("index", (0,))),
    (("index", (Ellipsis, None, slice(0, 2))),),
    (("index", (np.array([0, 2, 0]),)),),
    (("index", (np.array([0, 2, 0]), np.array([1, 1, 1]))),),
    (("index", (np.array([True, False, True]),)),),
    (("reshape", (-1,)), ("index", (np.array([3, 3, 5]),))),
    (("index", ([0, 2],)),),
    (("transpose", (1, 0)), ("index", (slice(0, 2),))),
]


def indexing_cases() -> Iterator[Case]:
    x, v = normal(3, 4), normal(5)
    for path in PATHS:
        part = opset.GET.fn(x, path)
        yield opset.GET, (x, path), {}
        yield opset.GET_STORED, (x, path), {}
        yield opset.ADDAT, (x, path, normal(*np.shape(part))), {}
        yield opset.SET, (x, path, normal(*np.shape(part))), {}
        yield opset.SET, (x, path, 0.5), {}
    yield opset.ACCUM, (x, normal(3, 4)), {}
    yield opset.ACCUM, (x, normal(4)), {}
    yield opset.SUM_TO, (x, normal(1, 4)), {}
    yield opset.SUM_TO, (x, normal(4)), {}
    yield opset.SUM_TO, (x, normal(3, 4)), {}
    yield opset.SPREAD, (normal(4), x), {}
    yield opset.SPREAD, (0.5, x), {}
    yield opset.SPREAD, (np.float64(0.5), x), {}
    yield opset.SPREAD, (np.array(0.5), x), {}
    yield opset.COPY, (x,), {}
    yield opset.AS_SCALAR, (0.5,), {}
    yield opset.FULL_LIKE, (x, 0.5), {}
    yield opset.FULL_LIKE, (x, normal(4)), {}
    yield opset.FINISH, (normal(3, 4), x), {}
    yield opset.CAST, (x, np.dtype(np.complex128)), {}
    yield np.take, (v, np.array([0, 3, 3])), {}
    yield np.take, (v, 2), {}
    yield np.take, (v, np.array([-9, 3, 7])), {"mode": "clip"}
    yield np.take, (x, np.array([-9, 3, 7]), 1), {"mode": "wrap"}
    yield np.take, (x, np.array([[0, 5], [7, 7]])), {}
    yield np.take, (x, np.array([[0, 1], [2, 2]]), 1), {}
    yield np.take, (x, -1, 0), {}
    yield np.take_along_axis, (x, np.array([[0, 1], [2, 2], [3, 0]]), 1), {}
    yield np.take_along_axis, (x, np.array([[0, 1, 2, 0]]), 0), {}
    yield np.take_along_axis, (x, np.array([[0, 2, 0]]), 1), {}
    yield np.take_along_axis, (x[:1], np.array([[0, 1], [2, 2], [2, 0]]), 1), {}
    yield np.sort, (v,), {}
    for axis in (0, 1, -1, None):
        yield np.sort, (x, axis), {}


def linalg_cases() -> Iterator[Case]:
    m, n, v, w = normal(3, 4), normal(4, 2), normal(4), normal(3)
    batch, other = normal(2, 3, 4), normal(2, 4, 3)
    for fn in (np.matmul, operator.matmul):
        for x, y in (
            (m, n),
            (v, v * 2),
            (m, v),
            (w, m),
            (batch, other),
            (batch, n),
            (m, other),
            (v, other),
            (batch, v),
            (normal(5, 1, 3, 4), other),
            (cplx(3, 4), n),
            (cplx(4), cplx(4)),
            (normal(1, 4), normal(4, 1)),
            (normal(3, 1), normal(1, 2)),
            (np.empty((0, 4)), n),
        ):
            yield fn, (x, y), {}
    for x, y in (
        (m, n),
        (v, v * 2),
        (m, v),
        (w, m),
        (0.5, m),
        (m, 0.5),
        (batch, v),
        (batch, n),
        (m, other),
        (v, other),
        (batch, other),
        (cplx(3, 4), n),
        (np.array(0.5), v),
        (0.5, 0.25),
    ):
        yield np.dot, (x, y), {}
    for x, y in ((m, normal(2, 4)), (v, v * 2), (m, v), (v, m), (0.5, m), (m, 0.5), (batch, m), (cplx(3, 4), m)):
        yield np.inner, (x, y), {}
    for x, y in ((v, w), (m, w), (v, m), (cplx(2), w)):
        yield np.outer, (x, y), {}
    for x, y in ((v, v * 2), (m, normal(3, 4)), (cplx(3), cplx(3)), (cplx(3), w), (w, cplx(3))):
        yield np.vdot, (x, y), {}
    yield np.tensordot, (batch, other), {"axes": ((1, 2), (2, 1))}
    yield np.tensordot, (batch, other, ((2, 0), (1, 0))), {}
    yield np.tensordot, (m, n, 1), {}
    yield np.tensordot, (m, normal(3, 4)), {}
    yield np.tensordot, (m, v, 0), {}
    yield np.tensordot, (batch, normal(4, 3, 5), ([1, 2], [1, 0])), {}
    for text, operands in (
        ("ij,jk->ik", (m, n)),
        ("ij,jk", (m, n)),
        ("i,i->", (v, v * 2)),
        ("i,i", (v, v * 2)),
        ("ij->ji", (m,)),
        ("ij->", (m,)),
        ("ij->j", (m,)),
        ("ij,ij->i", (m, normal(3, 4))),
        ("bij,bjk->bik", (batch, other)),
        ("...ij,...jk->...ik", (batch, other)),
        ("...ij,jk->...ik", (batch, n)),
        ("i,j->ij", (v, w)),
        ("i,j,k->", (v, w, v)),
        ("ij,jk,kl->il", (m, n, normal(2, 3))),
        ("ij,kj->ik", (normal(1, 4), m)),
        ("ij,ij->ij", (normal(1, 4), m)),
        ("ij,i->j", (m, normal(1))),
        ("i,i->", (normal(1), v)),
        ("...i->...", (batch,)),
        ("ij,ij->", (cplx(3, 4), m)),
        ("i...->...", (batch,)),
        ("...,...->...", (batch, v)),
        ("ij->ij", (m,)),
        ("ij, j -> i", (m, v)),
    ):
        yield np.einsum, (text, *operands), {}
    square, stack = normal(3, 3) + 3 * np.eye(3), normal(2, 3, 3) + 3 * np.eye(3)
    for fn in (np.linalg.inv, np.linalg.det):
        for x in (square, stack, square + 1j * normal(3, 3)):
            yield fn, (x,), {}
    for x in (square, stack, -square):
        yield np.linalg.slogdet, (x,), {}
    for x, y in (
        (square, w),
        (square, normal(3, 2)),
        (stack, normal(2, 3, 2)),
        (stack, w),
        (square, normal(2, 3, 2)),
        (stack, normal(3, 2)),
        (square + 0.2j, w),
        (square, w + 0.1j),
    ):
        yield np.linalg.solve, (x, y), {}
    for x in (square @ square.T, stack @ np.swapaxes(stack, -1, -2)):
        yield np.linalg.cholesky, (x,), {}


def decomposition_cases() -> Iterator[Case]:
    square, stack = normal(3, 3) + 3 * np.eye(3), normal(2, 3, 3) + 3 * np.eye(3)
    tall, wide = normal(4, 2), normal(2, 4)
    for x in (square, square + 1j * normal(3, 3), np.diag([1.0, 2.0, 4.0]) + 0.1 * normal(3, 3)):
        yield np.linalg.eig, (x,), {}
        yield np.linalg.eigvals, (x,), {}
    for fn in (np.linalg.eigvals, np.linalg.eig):
        yield fn, (stack,), {}
    for p in (np.array([1.0, -6.0, 11.0, -6.0]), np.array([2.0, 1.0, 3.0, 1.0]), np.array([1.0 + 1.0j, 2.0, -3.0j])):
        yield np.roots, (p,), {}
    yield np.linalg.eigh, (square,), {}
    yield np.linalg.eigh, (stack, "U"), {}
    yield np.linalg.eigh, (square,), {"UPLO": "U"}
    for x in (square, stack, tall, wide):
        yield np.linalg.svdvals, (x,), {}
    for x in (square, stack, tall, wide, normal(2, 4, 3)):
        yield np.linalg.svd, (x,), {"full_matrices": False}
        yield np.linalg.qr, (x,), {}
        yield np.linalg.pinv, (x,), {}
    yield np.linalg.svd, (square,), {}
    yield runtime.if_square, (square, 3, 3, ()), {}
    yield runtime.trimmed, (np.array([1.0, 2.0, 3.0]),), {}
    for a in (square, normal(2, 3, 3)):
        yield runtime.inverse, (a,), {}
        yield runtime.inverse_or_nan, (a,), {}
        yield runtime.cofactors, (a,), {}
    for a in (tall, square, wide):
        yield np.linalg.lstsq, (a, normal(len(a)), None), {}
        if a is not wide:
            yield np.linalg.lstsq, (a, normal(len(a), 3), None), {}


def fourier_cases() -> Iterator[Case]:
    for fn in (np.fft.fft, np.fft.ifft):
        for x in (normal(5), normal(3, 4), cplx(4), cplx(2, 3)):
            yield fn, (x,), {}
            yield fn, (x, 3), {"norm": "ortho"}
            yield fn, (x,), {"n": 7, "axis": 0, "norm": "forward"}
    for x in (normal(5), normal(4), normal(3, 4)):
        yield np.fft.rfft, (x,), {}
        yield np.fft.rfft, (x, 3, 0), {"norm": "ortho"}
        yield np.fft.rfft, (x, 6), {"norm": "forward"}
    for x in (cplx(4), normal(3), cplx(2, 3)):
        yield np.fft.irfft, (x,), {}
        yield np.fft.irfft, (x, 5), {"norm": "ortho"}
        yield np.fft.irfft, (x, 4, 0), {"norm": "forward"}
        yield np.fft.irfft, (x, 10), {}
    for mode in ("full", "same", "valid"):
        for n, m in ((5, 3), (3, 5), (4, 2), (2, 4), (4, 4)):
            yield np.convolve, (normal(n), normal(m), mode), {}
            yield np.correlate, (normal(n), normal(m), mode), {}
    yield np.convolve, (cplx(3), normal(2)), {}
    yield np.correlate, (cplx(3), cplx(2)), {}
    yield runtime.embed, (normal(3), 0, 1, 6), {}
    yield runtime.embed, (normal(2, 3), 1, 1, 2), {}
    yield runtime.overlap, (normal(3), normal(2), 1, 4), {}


def picking_cases() -> Iterator[Case]:
    v, x, pairs = normal(5), normal(3, 4), np.array([1, 3])
    yield np.resize, (x, (2, 5)), {}
    yield np.resize, (v, 12), {}
    yield np.delete, (v, 1), {}
    yield np.delete, (v, pairs), {}
    yield np.delete, (x, pairs, 1), {}
    yield np.insert, (v, 2, 0.5), {}
    yield np.insert, (v, pairs, normal(2)), {}
    yield np.insert, (x, pairs, normal(3, 2), 1), {}
    yield np.insert, (x, 1, normal(4), 0), {}
    yield np.extract, (x > 0, x), {}
    yield np.compress, (np.array([True, False, True]), x, 0), {}
    yield np.choose, (np.array([0, 1, 0]), [normal(3), normal(3)]), {}
    yield np.choose, (np.array([0, 1, 2]), (normal(3), 0.5, normal(2, 3))), {}
    yield np.bincount, (np.array([0, 2, 2, 5]), normal(4)), {}
    yield np.lib.stride_tricks.sliding_window_view, (v, 3), {}
    yield np.lib.stride_tricks.sliding_window_view, (x, (2, 2)), {}
    yield np.unwrap, (3 * v,), {}
    yield np.nextafter, (v, 9), {}
    for mode in ("edge", "reflect", "symmetric", "wrap"):
        yield np.pad, (v, 2, mode), {}
        yield np.pad, (x, ((1, 2), (0, 3)), mode), {}
    for fn in (np.logaddexp.reduce, np.logaddexp2.reduce, np.hypot.reduce):
        yield fn, (v,), {}
        yield fn, (x,), {"axis": 1, "keepdims": True}
    for fn in (np.maximum.accumulate, np.minimum.accumulate, np.fmax.accumulate, np.fmin.accumulate):
        yield fn, (v,), {}
        yield fn, (x, 1), {}
        yield fn, (normal(2, 3, 2), 1), {}
    yield np.add.reduceat, (v, np.array([0, 2, 1, 4])), {}
    yield np.add.reduceat, (x, np.array([1, 3]), 1), {}
    for k in (0, 1):
        yield np.stack, ([normal(3), normal(3)], k), {}
    yield np.prod, (normal(2, 3, 2), (0, 2)), {}
    yield np.prod, (x, (0, 1)), {"keepdims": True}
    yield np.interp, (np.array([-3.0, 0.2, 0.7, 5.0]), np.array([0.0, 0.5, 1.5]), normal(3)), {}


def special_cases() -> Iterator[Case]:
    for number in (0.3, 1.7, 25.0, -0.4, -2.6):
        yield math.lgamma, (number,), {}
        for order in (0, 1, 2, 3):
            yield runtime.polygamma, (order, number), {}
    for number in (0.3, 1.7, -0.4):
        yield math.gamma, (number,), {}
    yield np.i0, (normal(3),), {}
    for order in (0, 1, 2):
        yield runtime.bessel_i, (order, normal(2, 3)), {}
    a, b = normal(3, 3), normal(3)
    for text, operands in (
        ("ii->", (a,)),
        ("ii->i", (a,)),
        ("ii,i->i", (a, b)),
        ("iij->j", (normal(2, 2, 3),)),
        ("iij->", (normal(2, 2, 3),)),
        ("iji,jk->k", (normal(2, 3, 2), a)),
        ("...ii->...", (normal(2, 3, 3),)),
        ("iii->", (normal(2, 2, 2),)),
        ("ii,jj->", (a, a * 2)),
    ):
        yield np.einsum, (text, *operands), {}


def weighted_sines(x: Any, y: Any) -> Any:
    return np.sin(x) * y


def callback_cases() -> Iterator[Case]:
    yield runtime.applied, (Callback(weighted_sines, 0), normal(3), normal(3)), {}
    yield runtime.matching, (normal(3), normal(3), "a cotangent"), {}
    yield runtime.applied, (Callback(weighted_sines, SCALAR), 0.3, 0.7), {}
    slope = normal(3, 3) + 2 * np.eye(3)
    yield runtime.implicit_adjoint, (normal(3), slope, np.zeros(3), None, normal(3)), {}
    yield runtime.implicit_adjoint, (normal(3), slope, np.zeros(3), np.array([True, False, True]), normal(3)), {}


# Rules that are tested in a way of their own below, with the reason.
APART = {
    (lookup(runtime.joined_examples), "items"),  # a list of run-time length: tests/transforms/test_batch.py
    (lookup(np.complex64), "x"),
    (lookup(np.float32), "x"),
    (lookup(np.float16), "x"),  # too coarse for differences
    (lookup(runtime.implicit), "x"),
    (lookup(runtime.implicit), "*operands"),  # its value is the solution: tests/operations/scipy/test_optimize.py
    (lookup(runtime.attained), "*operands"),  # its value is what a solver found: the same
    *[(lookup(fn), "*args") for fn in (runtime.difference_pullback, runtime.difference_pushforward)],  # they refuse
    (lookup(runtime.difference_pullback), "g"),
    (lookup(runtime.difference_pushforward), "d"),
    (opset.SNAPSHOT, "a"),  # a copy, in a file that is open: tests/api/test_checkpoints.py
    (opset.LIST_NEW, "items"),
    (UNSTACK, "a"),
    (opset.LIST_APPEND, "l"),
    (opset.LIST_APPEND, "v"),
    (opset.LIST_GET, "l"),
    (opset.LIST_SET, "l"),
    (opset.LIST_SET, "v"),
    (opset.LIST_ADDAT, "l"),
    (opset.LIST_ADDAT, "g"),
    (opset.LIST_DROP, "l"),
    (opset.LIST_INSERT, "l"),
    (opset.LIST_INSERT, "v"),
    (opset.LIST_SLICE, "l"),
    (opset.LIST_ADDSLICE, "l"),
    (opset.LIST_ADDSLICE, "g"),
    (opset.LIST_SPLICE, "l"),
    (opset.LIST_SPLICE, "new"),
    (opset.LIST_CUT, "l"),  # lists of run-time length: tests/frontend/test_list_changes.py
    (lookup(np.histogram), "a"),  # counts, whose derivative is zero, and edges
    (opset.THROUGH, "g"),  # tests/transforms/test_unknown_dtypes.py
    (lookup(runtime.split_like), "g"),  # a list of run-time length
}

# Arguments that hold floating numbers and have no derivative.
CONSTANT = {
    "implicit_adjoint": ("residual", "x"),
    "np.linalg.norm": ("ord",),
    "np.pad": ("constant_values",),
    "linear_scan": ("axis",),
}
GROUPS = {
    "callbacks": callback_cases,
    "elementwise": elementwise_cases,
    "reductions": reduction_cases,
    "shaping": shaping_cases,
    "indexing": indexing_cases,
    "linalg": linalg_cases,
    "decompositions": decomposition_cases,
    "fourier": fourier_cases,
    "picking": picking_cases,
    "special": special_cases,
    "nn": nn_rule_cases.cases,
}
CASES: list[Case] = [case for make in GROUPS.values() for case in make()]


def prim_of(fn: Any) -> Prim:
    prim = fn if isinstance(fn, Prim) else lookup(fn)
    assert prim is not None, fn
    return prim


def by_prim() -> dict[str, list[Case]]:
    out: dict[str, list[Case]] = {}
    for case in CASES:
        out.setdefault(prim_of(case[0]).name, []).append(case)
    return out


BY_PRIM = by_prim()


@pytest.mark.parametrize("name", list(BY_PRIM))
def test_rule(name: str) -> None:
    for number, (fn, args, kwargs) in enumerate(BY_PRIM[name]):
        try:
            constant = CONSTANT.get(name, ())
            check_rule(fn, *args, kwargs=kwargs, constant=constant, seed=number)
            check_rule(fn, *args, kwargs=kwargs, constant=constant, seed=number, order=1, prepare=algebra.install)
        except Exception as error:
            raise AssertionError(f"{name}{args!r} {kwargs!r}: {error}") from error


@pytest.mark.parametrize("name", list(BY_PRIM))
def test_tangents_built_into_ir(name: str) -> None:
    """Also where they come from the transposed pullback: against central differences, with the facts of their types."""
    for fn, args, kwargs in BY_PRIM[name]:
        function, xs = as_function(fn, *args, kwargs=kwargs, constant=CONSTANT.get(name, ()))
        ds = [direction(x) for x in xs]
        with np.errstate(all="ignore"):
            pushed = push_forward(function, list(range(len(xs))))
            verify(pushed)
            check_types(pushed, [*xs, *ds])
            found = interpret(pushed, [*xs, *ds])
            up, down = (interpret(function, [x + h * d for x, d in zip(xs, ds)]) for h in (1e-6, -1e-6))
        count = len(function.results)
        for value, dot, a, b in zip(found[:count], found[count:], up, down):
            if np.result_type(value).kind in "fc":
                assert np.shape(dot) == np.shape(value) and np.result_type(dot) == np.result_type(value)
                want = (np.asarray(a) - np.asarray(b)) / 2e-6
                message = f"{name}{args!r} {kwargs!r}"
                np.testing.assert_allclose(dot, want, rtol=1e-5, atol=1e-5, err_msg=message)


def direction(x: Any) -> Any:
    d: Any = RNG.normal(size=np.shape(x))
    d = d + 1j * RNG.normal(size=np.shape(x)) if np.iscomplexobj(x) else d
    return d.astype(x.dtype) if isinstance(x, np.ndarray) else type(x)(d)


def test_complex_singular_values() -> None:
    check_rule(np.linalg.svdvals, cplx(3, 3), order=1)
    check_rule(np.linalg.svdvals, cplx(2, 4), order=1)


def test_every_rule_has_a_case() -> None:
    from autodiff_compiler.operations.check import dynamic

    covered = set(APART)
    for fn, args, kwargs in CASES:
        prim = prim_of(fn)
        covered.update((prim, name) for name, arg in named(prim, args, kwargs) if any(True for _ in dynamic(arg)))
    # Other tests enter rules of their own, and tests/operations/scipy has the cases of SciPy's functions.
    theirs = ("tests.", "autodiff_compiler.kernels.scipy.")
    ours = [(p, n) for p, n in RULES if not str(getattr(p.fn, "__module__", "")).startswith(theirs)]
    ours = [(p, name) for p, name in ours if not p.name.startswith("scipy.")]
    missing = [(prim.name, name) for prim, name in ours if (prim, name) not in covered]
    assert missing == []


def test_a_wrong_rule_is_found() -> None:
    def cube(x: Any) -> Any:
        return x * x * x

    record.elementwise(cube, lambda out, x: 2 * x * x)
    with pytest.raises(RuleError, match="should be"):
        check_rule(cube, np.array([1.0, 2.0]))
    record.elementwise(cube, lambda out, x: 3 * x * x)
    check_rule(cube, np.array([1.0, 2.0]))


def test_new_partials_replace_a_pullback() -> None:
    @ad.primitive
    def cube(x: Any) -> Any:
        return x * x * x

    ad.vjp_rule(cube, "x")(lambda g, out, x: g * 0.0)
    ad.elementwise(cube, lambda out, x: 3 * x * x)
    check_rule(cube, np.array([1.0, 2.0]))


def test_an_argument_has_a_partial_or_a_pullback() -> None:
    for prim in PRIMS.values():
        for name, partial in zip(prim.params, prim.partials or ()):
            assert (partial is ...) == (name in prim.pullbacks), (prim.name, name)
