"""Inferred types are true of what NumPy returns: at other sizes than those seen, with axes of length 1 and 0, for all
kinds of operands."""

from __future__ import annotations

import builtins
import itertools
import math
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autodiff_compiler.ir.core import Builder, Function, Region, Value, leaves
from autodiff_compiler.ir.opset import OPERATORS, PRIMS, UNARY_OPERATORS, lookup
from autodiff_compiler.ir.types import Ty, array, generic, type_of_constant
from autodiff_compiler.operations import numbers, record
from autodiff_compiler.operations.check import RuleError, check_types, parameter

RNG = np.random.default_rng(3)


def dynamic(arg: Any) -> bool:
    return isinstance(arg, (np.ndarray, np.generic, float, complex)) or type(arg) is int


def parametrise(body: Region, arg: Any, values: list[Any], constants: bool) -> Any:
    """The nested argument with arrays, and numbers unless `constants`, as parameters."""
    if type(arg) in (tuple, list):
        return type(arg)(parametrise(body, item, values, constants) for item in arg)
    if isinstance(arg, np.ndarray) or (not constants and dynamic(arg)):
        values.append(arg)
        return parameter(body, arg, "x")
    return arg


def build(fn: Any, args: Any, kwargs: dict[str, Any], constants: bool) -> tuple[Function, list[Any]]:
    body = Region()
    b = Builder(body)
    values: list[Any] = []
    new = parametrise(body, args, values, constants)
    prim = lookup(fn)
    assert prim is not None, fn
    body.exit = (b.emit(prim, *new, **kwargs),) if prim.nout == 1 else b.emit(prim, *new, **kwargs)
    return Function("f", body), values


def flatten(arg: Any, constants: bool) -> list[Any]:
    if type(arg) in (tuple, list):
        return [v for item in arg for v in flatten(item, constants)]
    return [arg] if isinstance(arg, np.ndarray) or (not constants and dynamic(arg)) else []


def total(fn: Function) -> bool:
    op = fn.body.ops[-1]
    return not op.checks and op.prim.total is not None and op.prim.total(Builder(fn.body), op.args, op.kwargs)


def check(fn: Any, args: Any, kwargs: dict[str, Any], others: list[Any], constants: bool = True) -> Ty:
    """Infer at `args`, hold at `others` too wherever these have the same axes of length 1."""
    function, values = build(fn, args, kwargs, constants)
    shapes = [np.shape(v) for v in values]
    for inputs in [values, *(flatten(other, constants) for other in others)]:
        same = all(
            len(np.shape(v)) == len(s) and all((a == 1) == (b == 1) for a, b in zip(np.shape(v), s))
            for v, s in zip(inputs, shapes)
        )
        if not same or len(inputs) != len(values):
            continue
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                check_types(function, inputs)
        except RuleError as error:
            raise AssertionError(f"{fn} at {[np.shape(v) for v in inputs]}: {error}") from error
        except (ValueError, TypeError, IndexError, ZeroDivisionError, OverflowError, np.linalg.LinAlgError) as error:
            if total(function):
                raise AssertionError(f"{fn} is said not to raise at {inputs} {kwargs}, and raises {error!r}") from error
    result = function.results[0]
    return result.type if type(result) is Value else type_of_constant(result)


def A(*shape: int, dtype: Any = float) -> np.ndarray:
    return RNG.normal(size=shape).astype(dtype)


Maker = Callable[[int, int, int], tuple[Any, ...]]

# (function, arguments at sizes n, m, k, keywords, the facts that must be found at least, or None)
CALLS: list[tuple[Any, Maker, dict[str, Any], str | None]] = [
    (np.sum, lambda n, m, k: (A(n, m),), {}, "float64"),
    (np.sum, lambda n, m, k: (A(n, m, dtype="f4"),), {"axis": 0}, "float32[d2]"),
    (np.sum, lambda n, m, k: (A(n, m, dtype="f4"), 1), {"keepdims": True}, "float32[d1, 1]"),
    (np.sum, lambda n, m, k: (A(n, m, k), (0, 2)), {}, "float64[d2]"),
    (np.sum, lambda n, m, k: (A(n) > 0,), {}, "int64"),
    (np.sum, lambda n, m, k: (A(n, dtype="i2"),), {"axis": 0}, "int64"),
    (np.sum, lambda n, m, k: (A(n, dtype="u2"),), {}, "uint64"),
    (np.sum, lambda n, m, k: (A(n), None, np.float32), {}, "float32"),
    (np.sum, lambda n, m, k: ([A(n), A(n)],), {}, "float64"),
    (np.sum, lambda n, m, k: ([1.0, 2.0, n],), {}, "float64"),
    (np.sum, lambda n, m, k: (A(n, m), -3), {}, None),
    (np.sum, lambda n, m, k: (np.array(1.5),), {}, "float64"),
    (np.sum, lambda n, m, k: (np.array(1.5), 0), {}, None),
    (np.sum, lambda n, m, k: (A(n),), {"initial": 2.0}, None),
    (np.mean, lambda n, m, k: (A(n, m),), {"axis": -1}, "float64[d1]"),
    (np.mean, lambda n, m, k: (A(n, m, dtype=int),), {}, "float64"),
    (np.mean, lambda n, m, k: (A(n, dtype="f2"),), {}, "float16"),
    (np.var, lambda n, m, k: (A(n, m, dtype="c8"),), {"axis": 0, "ddof": 1}, "float32[d2]"),
    (np.std, lambda n, m, k: (A(n, m), 1), {"keepdims": True}, "float64[d1, 1]"),
    (np.max, lambda n, m, k: (A(n, m, dtype="f4"),), {"axis": 1}, "float32[d1]"),
    (np.min, lambda n, m, k: (A(n, m, dtype="i2"),), {}, "int16"),
    (np.prod, lambda n, m, k: (A(n, m, dtype="i4"), 0), {}, "int64[d2]"),
    (np.ptp, lambda n, m, k: (A(n, m),), {"axis": 1}, "float64[d1]"),
    (np.argmax, lambda n, m, k: (A(n, m),), {"axis": 1}, "int64[d1]"),
    (np.argmin, lambda n, m, k: (A(n, m),), {}, "int64"),
    (np.any, lambda n, m, k: (A(n, m) > 0, 0), {}, "bool[d2]"),
    (np.all, lambda n, m, k: (A(n, m),), {}, "bool"),
    (np.count_nonzero, lambda n, m, k: (A(n, m),), {}, None),
    (np.count_nonzero, lambda n, m, k: (A(n, m),), {"axis": 0}, "int64[d2]"),
    (np.median, lambda n, m, k: (A(n, m),), {"axis": 0}, None),
    (np.median, lambda n, m, k: (A(n),), {}, None),
    (np.cumsum, lambda n, m, k: (A(n, m),), {}, None),
    (np.cumsum, lambda n, m, k: (A(n, m, dtype="i2"), 1), {}, "int64[d1, d2]"),
    (np.cumsum, lambda n, m, k: (A(n),), {}, "float64[d1]"),
    (np.cumsum, lambda n, m, k: (1.5,), {}, "float64[1]"),
    (np.cumprod, lambda n, m, k: (A(n, m, dtype="f4"), 0), {}, "float32[d1, d2]"),
    (np.add.reduce, lambda n, m, k: (A(n, m),), {}, "float64[d2]"),
    (np.add.reduce, lambda n, m, k: (A(n, m), None), {}, "float64"),
    (np.maximum.reduce, lambda n, m, k: (A(n, m, dtype="f4"), 1), {}, "float32[d1]"),
    (np.searchsorted, lambda n, m, k: (np.arange(3.0), A(n, m)), {}, "int64[d2, d3]"),
    (np.searchsorted, lambda n, m, k: (np.arange(3.0), 1.5), {}, "int64"),
    (np.searchsorted, lambda n, m, k: (np.arange(3.0), np.array(1.5)), {}, "int64"),
    (np.rot90, lambda n, m, k: (A(n, m),), {}, "float64[d2, d1]"),
    (np.rot90, lambda n, m, k: (A(n, m, k), 2, (1, 2)), {}, "float64[d1, d2, d3]"),
    (np.real, lambda n, m, k: (1j,), {}, None),
    (np.linalg.norm, lambda n, m, k: (A(n, m),), {}, "float64"),
    (np.linalg.norm, lambda n, m, k: (A(n, m, dtype="f4"), None, 1), {}, "float32[d1]"),
    (np.linalg.norm, lambda n, m, k: (A(n, m, dtype="c8"),), {"axis": 0, "keepdims": True}, "float32[1, d2]"),
    (np.linalg.norm, lambda n, m, k: (A(n, dtype=int), 1), {}, "float64"),
    (np.linalg.norm, lambda n, m, k: (A(n, m), "fro"), {"keepdims": True}, "float64[1, 1]"),
    (np.linalg.norm, lambda n, m, k: (A(n, dtype="f2"),), {}, None),
    (np.matmul, lambda n, m, k: (A(n, m), A(m, k)), {}, "float64[d1, d4]"),
    (operator.matmul, lambda n, m, k: (A(n, m), A(m)), {}, "float64[d1]"),
    (operator.matmul, lambda n, m, k: (A(m), A(m, k)), {}, "float64[d3]"),
    (operator.matmul, lambda n, m, k: (A(m), A(m)), {}, "float64"),
    (operator.matmul, lambda n, m, k: (A(k, 1, n, m), A(2, m, k)), {}, "float64[d1, d4, d2, d6]"),
    (operator.matmul, lambda n, m, k: (A(k, n, m, dtype="f4"), A(m, dtype="f4")), {}, "float32[d1, d2]"),
    (operator.matmul, lambda n, m, k: (A(m), A(k, m, n)), {}, "float64[d2, d4]"),
    (operator.matmul, lambda n, m, k: (A(n, 1), A(1, k)), {}, "float64[d1, d2]"),
    (operator.matmul, lambda n, m, k: (A(n, m, dtype=int), A(m, dtype="f4")), {}, "float64[d1]"),
    (np.dot, lambda n, m, k: (A(n, m), A(m, k)), {}, "float64[d1, d4]"),
    (np.dot, lambda n, m, k: (A(m), A(m)), {}, "float64"),
    (np.dot, lambda n, m, k: (A(m, dtype="f4"), 2.0), {}, None),
    (np.dot, lambda n, m, k: (A(n, k, m), A(k, m, n)), {}, "float64[d1, d2, d4, d6]"),
    (np.inner, lambda n, m, k: (A(n, m), A(k, m)), {}, "float64[d1, d3]"),
    (np.outer, lambda n, m, k: (A(n), A(m, dtype="f4")), {}, "float64[d1, d2]"),
    (np.outer, lambda n, m, k: (A(n, m), A(k)), {}, None),
    (np.vdot, lambda n, m, k: (A(n, m), A(n, m)), {}, "float64"),
    (np.tensordot, lambda n, m, k: (A(n, m, k), A(m, k)), {}, "float64[d1]"),
    (np.tensordot, lambda n, m, k: (A(n, m, k), A(k, m), ((1, 2), (1, 0))), {}, "float64[d1]"),
    (np.tensordot, lambda n, m, k: (A(n, m), A(k), 0), {}, "float64[d1, d2, d3]"),
    (np.einsum, lambda n, m, k: ("ij,jk->ki", A(n, m), A(m, k)), {}, "float64[d4, d1]"),
    (np.einsum, lambda n, m, k: ("ij,jk", A(n, m), A(m, k)), {}, "float64[d1, d4]"),
    (np.einsum, lambda n, m, k: ("...i,i", A(n, m, k), A(k)), {}, "float64[d1, d2]"),
    (np.einsum, lambda n, m, k: ("ij,ij->i", A(1, m), A(n, m)), {}, "float64[d2]"),
    (np.einsum, lambda n, m, k: ("i,i", A(n), A(n)), {}, None),
    (np.einsum, lambda n, m, k: ("ii->i", A(n, n)), {}, None),
    (np.reshape, lambda n, m, k: (A(n, m), -1), {}, None),
    (np.reshape, lambda n, m, k: (A(n), (-1, 1)), {}, "float64[d1, 1]"),
    (np.reshape, lambda n, m, k: (A(n, 2), (2, -1)), {}, None),
    (np.ravel, lambda n, m, k: (A(n, 1),), {}, "float64[d1]"),
    (np.ravel, lambda n, m, k: (A(n, m),), {"order": "F"}, None),
    (np.transpose, lambda n, m, k: (A(n, m, k),), {}, "float64[d3, d2, d1]"),
    (np.transpose, lambda n, m, k: (A(n, m, k), (1, 2, 0)), {}, "float64[d2, d3, d1]"),
    (np.swapaxes, lambda n, m, k: (A(n, m, k), 0, -1), {}, "float64[d3, d2, d1]"),
    (np.moveaxis, lambda n, m, k: (A(n, m, k), 0, -1), {}, "float64[d2, d3, d1]"),
    (np.moveaxis, lambda n, m, k: (A(n, m, k), (0, 1), (-1, 0)), {}, "float64[d2, d3, d1]"),
    (np.squeeze, lambda n, m, k: (A(n, 1, m),), {}, "float64[d1, d2]"),
    (np.squeeze, lambda n, m, k: (A(n, 1, m), 1), {}, "float64[d1, d2]"),
    (np.expand_dims, lambda n, m, k: (A(n, m), (0, -1)), {}, "float64[1, d1, d2, 1]"),
    (np.atleast_2d, lambda n, m, k: (A(n),), {}, "float64[1, d1]"),
    (np.atleast_1d, lambda n, m, k: (1.5,), {}, "float64[1]"),
    (np.broadcast_to, lambda n, m, k: (A(1, m), (3, m)), {}, None),
    (np.flip, lambda n, m, k: (A(n, m), 1), {}, "float64[d1, d2]"),
    (np.roll, lambda n, m, k: (A(n, m), 2), {}, "float64[d1, d2]"),
    (np.concatenate, lambda n, m, k: ([A(n, m), A(k, m)],), {}, None),
    (np.concatenate, lambda n, m, k: ([A(n, m), A(n, k)],), {"axis": 1}, None),
    (np.concatenate, lambda n, m, k: ([A(n), A(1)],), {}, None),
    (np.concatenate, lambda n, m, k: ([A(n, dtype="f4"), A(m, dtype=int)],), {}, None),
    (np.concatenate, lambda n, m, k: ([A(n, m), A(k, m)], None), {}, None),
    (np.stack, lambda n, m, k: ([A(n, m), A(n, m)], 1), {}, "float64[d1, 2, d2]"),
    (np.stack, lambda n, m, k: ([A(n, m), A(n, m)], -1), {}, "float64[d1, d2, 2]"),
    (np.vstack, lambda n, m, k: ([A(n), A(n)],), {}, "float64[2, d1]"),
    (np.vstack, lambda n, m, k: ([A(k, n), A(n)],), {}, None),
    (np.hstack, lambda n, m, k: ([A(n), A(m)],), {}, None),
    (np.hstack, lambda n, m, k: ([A(n, m), A(n, k)],), {}, None),
    (np.column_stack, lambda n, m, k: ([A(n), A(n, m)],), {}, None),
    (np.append, lambda n, m, k: (A(n), A(m)), {}, None),
    (np.repeat, lambda n, m, k: (A(n, m), 2, 1), {}, None),
    (np.repeat, lambda n, m, k: (A(n, m), 2), {}, None),
    (np.repeat, lambda n, m, k: (A(n), np.ones(n, int), 0), {}, None),
    (np.tile, lambda n, m, k: (A(n, m), (2, 1)), {}, None),
    (np.tile, lambda n, m, k: (A(n), (2, 1, 1)), {}, "float64[2, 1, d1]"),
    (np.pad, lambda n, m, k: (A(n, m), ((1, 0), (0, 0))), {}, None),
    (np.pad, lambda n, m, k: (A(1, m), 1), {}, None),
    (np.where, lambda n, m, k: (A(n, m) > 0, A(m, dtype="f4"), 1.5), {}, "float32[d1, d2]"),
    (np.where, lambda n, m, k: (A(n) > 0, A(n), 1), {}, "float64[d1]"),
    (np.where, lambda n, m, k: (True, 1.0, 2), {}, "float64[]"),
    (np.where, lambda n, m, k: (True, 1, 2), {}, "int64[]"),
    (np.where, lambda n, m, k: (A(n) > 0,), {}, None),
    (np.clip, lambda n, m, k: (A(n, m, dtype="f4"), -1, 1.5), {}, "float32[d1, d2]"),
    (np.clip, lambda n, m, k: (A(n, dtype=int), 0, 1.5), {}, "float64[d1]"),
    (np.clip, lambda n, m, k: (0.5, 0.0, 1.0), {}, "float64"),
    (np.clip, lambda n, m, k: (A(m), A(n, m), None), {}, "float64[d2, d1]"),
    (np.take, lambda n, m, k: (A(n, m), np.zeros((2, 3), int), 0), {}, None),
    (np.take, lambda n, m, k: (A(n + 1, m), np.zeros(3, int)), {}, None),
    (np.take, lambda n, m, k: (A(n + 1), 0), {}, "float64"),
    (np.take_along_axis, lambda n, m, k: (A(n, m + 1), np.zeros((n, 2), int), 1), {}, None),
    (np.sort, lambda n, m, k: (A(n, m), 0), {}, "float64[d1, d2]"),
    (np.sort, lambda n, m, k: (A(n, m), None), {}, None),
    (np.argsort, lambda n, m, k: (A(n, m),), {}, "int64[d1, d2]"),
    (np.diff, lambda n, m, k: (A(n, m),), {}, "float64[d1, d2-1]"),
    (np.diff, lambda n, m, k: (A(n), 3), {}, "float64[d1-3]"),
    (np.diff, lambda n, m, k: (A(n) > 0,), {}, "bool[d1-1]"),
    (np.diag, lambda n, m, k: (A(n),), {}, "float64[d1, d1]"),
    (np.diag, lambda n, m, k: (A(n), -1), {}, None),
    (np.diag, lambda n, m, k: (A(n, m), 1), {}, None),
    (np.diagonal, lambda n, m, k: (A(n, m, k), 0, 1, 2), {}, None),
    (np.trace, lambda n, m, k: (A(n, n),), {}, "float64"),
    (np.trace, lambda n, m, k: (A(n, m, k, dtype="i2"),), {}, None),
    (np.tril, lambda n, m, k: (A(n, m),), {}, "float64[d1, d2]"),
    (np.triu, lambda n, m, k: (A(n), 1), {}, "float64[d1, d1]"),
    (np.interp, lambda n, m, k: (A(n), np.arange(3.0), np.arange(3.0)), {}, "float64[d1]"),
    (np.interp, lambda n, m, k: (0.5, np.arange(3.0), np.arange(3.0)), {}, "float64"),
    (np.zeros, lambda n, m, k: (n,), {}, None),
    (np.zeros, lambda n, m, k: ((n, m), np.float32), {}, None),
    (np.ones, lambda n, m, k: ((2, 3),), {"dtype": int}, "int64[2, 3]"),
    (np.full, lambda n, m, k: ((n, 2), 3), {}, None),
    (np.full, lambda n, m, k: ((2, 2), A(2)), {}, "float64[2, 2]"),
    (np.zeros_like, lambda n, m, k: (A(n, m, dtype="f4"),), {}, "float32[d1, d2]"),
    (np.ones_like, lambda n, m, k: (A(n, m),), {"dtype": int}, "int64[d1, d2]"),
    (np.full_like, lambda n, m, k: (A(n, dtype=int), 2.5), {}, "int64[d1]"),
    (np.empty_like, lambda n, m, k: (A(n),), {"shape": (2, 2)}, "float64[2, 2]"),
    (np.zeros_like, lambda n, m, k: (1.5,), {}, "float64[]"),
    (np.array, lambda n, m, k: ([1, 2.5, 3],), {}, "float64[3]"),
    (np.array, lambda n, m, k: ([A(n), A(n, dtype="f4")],), {}, "float64[2, d1]"),
    (np.array, lambda n, m, k: ([np.float32(1), 2.5],), {}, "float64[2]"),
    (np.array, lambda n, m, k: ([np.float32(1), np.float32(2)],), {}, "float32[2]"),
    (np.array, lambda n, m, k: ([[1, 2], [3, True]],), {}, "int64[2, 2]"),
    (np.array, lambda n, m, k: (A(n, dtype="f4"),), {}, "float32[d1]"),
    (np.array, lambda n, m, k: ([],), {}, "float64[0]"),
    (np.asarray, lambda n, m, k: (1,), {}, "int64[]"),
    (np.asarray, lambda n, m, k: (A(n),), {"dtype": "f4"}, "float32[d1]"),
    (np.copy, lambda n, m, k: (A(n, m),), {}, "float64[d1, d2]"),
    (np.ascontiguousarray, lambda n, m, k: (2.5,), {}, "float64[1]"),
    (np.ndarray.astype, lambda n, m, k: (A(n), np.float32), {}, "float32[d1]"),
    (np.ndarray.astype, lambda n, m, k: (np.float64(1.5), int), {}, "int64"),
    (np.arange, lambda n, m, k: (n,), {}, None),
    (np.arange, lambda n, m, k: (1, 9, 2), {}, "int64[4]"),
    (np.arange, lambda n, m, k: (0.0, 2.0, 0.5), {}, None),
    (np.arange, lambda n, m, k: (3,), {"dtype": float}, "float64[3]"),
    (np.linspace, lambda n, m, k: (0, 1, 5), {}, "float64[5]"),
    (np.linspace, lambda n, m, k: (0.0, A(n), 4), {}, "float64[4, d1]"),
    (np.linspace, lambda n, m, k: (np.float32(0), np.float32(1), 4), {}, None),
    (np.linspace, lambda n, m, k: (0.0, 1.0), {"retstep": True}, None),
    (np.eye, lambda n, m, k: (3, 4), {}, "float64[3, 4]"),
    (np.eye, lambda n, m, k: (n,), {"dtype": int}, None),
    (np.identity, lambda n, m, k: (n,), {}, None),
    (np.real, lambda n, m, k: (A(n, dtype="c8"),), {}, "float32[d1]"),
    (np.imag, lambda n, m, k: (A(n),), {}, "float64[d1]"),
    (np.real, lambda n, m, k: (1.5,), {}, None),
    (np.real, lambda n, m, k: (np.complex64(1.5),), {}, "float32"),
    (np.angle, lambda n, m, k: (A(n, dtype="c8"),), {}, "float32[d1]"),
    (np.angle, lambda n, m, k: (np.complex64(1),), {}, None),
    (np.angle, lambda n, m, k: (np.array(1j),), {}, None),
    (np.nan_to_num, lambda n, m, k: (A(n, dtype="f4"),), {}, "float32[d1]"),
    (np.nan_to_num, lambda n, m, k: (np.float32(1),), {}, None),
    (np.nan_to_num, lambda n, m, k: (np.array(1.5),), {}, None),
    (np.round, lambda n, m, k: (A(n, dtype="f4"), 2), {}, "float32[d1]"),
    (np.round, lambda n, m, k: (np.array(1.5),), {}, None),
    (np.round, lambda n, m, k: (1.5,), {}, None),
    (np.fix, lambda n, m, k: (np.array(1.5),), {}, None),
    (np.fix, lambda n, m, k: (1.5,), {}, None),
    (np.sinc, lambda n, m, k: (A(n),), {}, "float64[d1]"),
    (np.sinc, lambda n, m, k: (np.array(0.5),), {}, None),
    (np.linalg.inv, lambda n, m, k: (A(n, n),), {}, "float64[d1, d1]"),
    (np.linalg.inv, lambda n, m, k: (A(k, n, n, dtype="f4"),), {}, "float32[d1, d2, d2]"),
    (np.linalg.inv, lambda n, m, k: (A(2, 2, dtype=int) * 0 + np.eye(2, dtype=int),), {}, None),
    (np.linalg.det, lambda n, m, k: (A(n, n),), {}, "float64"),
    (np.linalg.det, lambda n, m, k: (A(k, n, n),), {}, "float64[d1]"),
    (np.linalg.slogdet, lambda n, m, k: (A(n, n, dtype="c8"),), {}, "complex64"),
    (np.linalg.slogdet, lambda n, m, k: (A(k, n, n),), {}, "float64[d1]"),
    (np.linalg.solve, lambda n, m, k: (A(n, n), A(n)), {}, "float64[d2]"),
    (np.linalg.solve, lambda n, m, k: (A(n, n, dtype="f4"), A(n, k, dtype="f4")), {}, "float32[d2, d4]"),
    (np.linalg.solve, lambda n, m, k: (A(k, n, n), A(n)), {}, "float64[d1, d3]"),
    (np.linalg.solve, lambda n, m, k: (A(k, n, n), A(k, n, m)), {}, "float64[d1, d3, d6]"),
    (np.linalg.cholesky, lambda n, m, k: (np.eye(n),), {}, "float64[d1, d1]"),
    (getattr(np, "matrix_transpose", np.flipud), lambda n, m, k: (A(n, m),), {}, None),
]  # fmt: skip
CALLS = [call for call in CALLS if lookup(call[0]) is not None]

SIZES = [(4, 3, 2), (2, 5, 3), (3, 3, 3), (0, 2, 4), (2, 0, 2), (5, 2, 0), (1, 3, 2), (3, 1, 2), (1, 1, 1), (3, 2, 1)]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_call(number: int) -> None:
    fn, make, kwargs, expected = CALLS[number]
    for first in range(len(SIZES)):
        found = check(fn, make(*SIZES[first]), kwargs, [make(*s) for s in SIZES])
        if first == 0 and expected is not None:
            assert str(found) == expected
    # Numbers as parameters instead of constants: less is known, and it must still be true.
    for first in (0, 3, 6):
        check(fn, make(*SIZES[first]), kwargs, [], constants=False)


# Calls that raise.
BAD: list[tuple[Any, Maker, dict[str, Any]]] = [
    (np.concatenate, lambda n, m, k: ([A(n, m), A(n, m + 1)],), {}),
    (np.concatenate, lambda n, m, k: ([A(n, m), A(n)],), {}),
    (np.concatenate, lambda n, m, k: ([A(n), A(n)], 1), {}),
    (np.concatenate, lambda n, m, k: ([1.0, 2.0],), {}),
    (np.stack, lambda n, m, k: ([A(n), A(n + 1)],), {}),
    (np.stack, lambda n, m, k: ([A(n), A(n)], 2), {}),
    (np.vstack, lambda n, m, k: ([A(n), A(n + 1)],), {}),
    (np.hstack, lambda n, m, k: ([A(n, m), A(n + 1, m)],), {}),
    (np.where, lambda n, m, k: (A(n + 2) > 0, A(n + 3), 1.0), {}),
    (np.clip, lambda n, m, k: (A(n + 2), A(n + 3), None), {}),
    (np.sort, lambda n, m, k: (A(n), 1), {}),
    (np.argsort, lambda n, m, k: (A(n), -2), {}),
    (np.transpose, lambda n, m, k: (A(n, m), (0, 0)), {}),
    (np.transpose, lambda n, m, k: (A(n, m), (0,)), {}),
    (np.swapaxes, lambda n, m, k: (A(n), 0, 1), {}),
    (np.expand_dims, lambda n, m, k: (A(n), 3), {}),
    (np.diff, lambda n, m, k: (A(n), -1), {}),
    (np.diff, lambda n, m, k: (1.0,), {}),
    (np.diag, lambda n, m, k: (A(n, m, k),), {}),
    (np.diagonal, lambda n, m, k: (A(n),), {}),
    (np.trace, lambda n, m, k: (A(n, m), 0, 0, 0), {}),
    (np.tril, lambda n, m, k: (1.0,), {}),
    (np.cumsum, lambda n, m, k: (A(n), 1), {}),
    (np.inner, lambda n, m, k: (A(n, m), A(n, m + 1)), {}),
    (np.vdot, lambda n, m, k: (A(n), A(n + 1)), {}),
    (np.tensordot, lambda n, m, k: (A(n, m + 5), A(n, m), 1), {}),
    (np.einsum, lambda n, m, k: ("ij,jk", A(n + 2, m + 2), A(m + 3, k)), {}),
    (np.einsum, lambda n, m, k: ("ij->k", A(n, m)), {}),
    (np.einsum, lambda n, m, k: ("ijk->k", A(n, m)), {}),
    (np.matmul, lambda n, m, k: (A(n, m), A(m + 1, k)), {}),
    (np.matmul, lambda n, m, k: (1.0, A(m + 1, k)), {}),
    (np.matmul, lambda n, m, k: (A(n + 2, 2, 2), A(n + 3, 2, 2)), {}),
    (np.dot, lambda n, m, k: (A(n), A(m + n + 1)), {}),
    (operator.add, lambda n, m, k: (A(n + 2), A(n + 3)), {}),
    (np.sum, lambda n, m, k: (A(n), 1), {}),
    (np.sum, lambda n, m, k: (A(n, m), (0, 0)), {}),
    (np.max, lambda n, m, k: (np.zeros(0),), {}),
    (np.flip, lambda n, m, k: (A(n), 3), {}),
    (np.squeeze, lambda n, m, k: (A(n + 2), 0), {}),
    (np.array, lambda n, m, k: ([A(n), A(n + 1)],), {}),
    (np.array, lambda n, m, k: ([[1.0], [1.0, 2.0]],), {}),
    (np.linalg.inv, lambda n, m, k: (np.zeros((2, 2)),), {}),
    (np.reshape, lambda n, m, k: (A(n), (n + 1,)), {}),
    (np.broadcast_to, lambda n, m, k: (A(n + 2), (n + 3,)), {}),
    (np.power, lambda n, m, k: (np.array([2]), np.array([-1])), {}),
    (operator.floordiv, lambda n, m, k: (1, 0), {}),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(BAD)))
def test_a_call_that_raises_is_not_said_to_be_total(number: int) -> None:
    fn, make, kwargs = BAD[number]
    prim = lookup(fn)
    assert prim is not None and prim.fn is not None
    for size in ((4, 3, 2), (3, 3, 3)):
        with warnings.catch_warnings(), pytest.raises((ValueError, TypeError, IndexError, ZeroDivisionError)):
            warnings.simplefilter("ignore")
            prim.fn(*make(*size), **kwargs)
        function, _ = build(fn, make(*size), kwargs, constants=True)
        dims = function.body.dims
        assert not total(function) or dims.constraints, function.results


OPERANDS: list[Any] = [
    True, 3, -2, 0.5, 1j, np.float32(0.5), np.float64(1.5), np.int8(3), np.bool_(True), np.complex64(1j), np.array(0.5),
    np.array(2, "i2"), A(3), A(3, dtype="f4"), A(3, dtype="f2"), A(3, dtype="c8"), A(3, dtype="c16"), A(3, dtype=int),
    np.arange(3, dtype="i1"), np.arange(3, dtype="u2"), np.array([True, False, True]), A(1),
]  # fmt: skip


CASTS = (*numbers.FLOATING_CASTS, *numbers.INTEGER_CASTS)


def ufuncs(count: int) -> list[Any]:
    found = [f for f in PRIMS if isinstance(f, np.ufunc) and (f.nin, f.nout) == (count, 1) and f is not np.matmul]
    return found + list(UNARY_OPERATORS if count == 1 else OPERATORS)


@pytest.mark.parametrize("fn", [*ufuncs(1), np.modf, abs], ids=lambda f: getattr(f, "__name__", str(f)))
def test_unary(fn: Any) -> None:
    for x in OPERANDS:
        check(fn, (x,), {}, [], constants=False)


@pytest.mark.parametrize("fn", [*ufuncs(2), np.divmod, pow], ids=lambda f: getattr(f, "__name__", str(f)))
def test_binary(fn: Any) -> None:
    for x, y in itertools.product(OPERANDS, OPERANDS):
        check(fn, (x, y), {}, [], constants=False)
    for x in OPERANDS:
        for constant in (2, 0.5, -1, True, 2j):
            if isinstance(x, np.ndarray):
                check(fn, (x, constant), {}, [])
                check(fn, (constant, x), {}, [])


def test_scalars() -> None:
    numbers = [x for x in OPERANDS if not isinstance(x, np.ndarray)]
    names = [
        *(n for n in record.MATH_UNARY if hasattr(math, n)),
        "floor",
        "ceil",
        "trunc",
        "isnan",
    ]
    for x in numbers:
        for name in [*names, "log", "isinf", "isfinite"]:
            check(getattr(math, name), (x,), {}, [], constants=False)
        for fn in (float, int, complex, bool, operator.not_, builtins.round, *CASTS):
            check(fn, (x,), {}, [], constants=False)
        check(builtins.round, (x, 1), {}, [], constants=False)
        for y in numbers:
            for fn in (
                builtins.max,
                builtins.min,
                *(getattr(math, name) for name in record.MATH_BINARY),
                math.hypot,
            ):
                check(fn, (x, y), {}, [], constants=False)
    for x in OPERANDS:
        for fn in CASTS:
            check(fn, (x,), {}, [], constants=False)


def test_unknown_operands_give_unknown_results() -> None:
    """Nothing is claimed of a value of which nothing is known; the call itself must not fail."""
    unknown = [
        Ty("any"),
        Ty("any", np.dtype(float)),
        array(None, None),
        array(float, None),
        generic(None),
        Ty("scalar"),
    ]
    for prim in dict.fromkeys(PRIMS.values()):
        if not prim.name.startswith(("np.", "math.")) or prim.infer is None:
            continue
        for t, count in itertools.product(unknown, (1, 2, 3)):
            body = Region()
            b = Builder(body)
            args = [body.param(t, "x") for _ in range(count)]
            result = b.emit(prim, *args)
            for v in leaves(result):
                if t.kind == "any" and prim.elementwise:
                    assert v.type.kind == "any", (prim, t)
