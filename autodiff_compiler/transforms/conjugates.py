"""Peepholes for cotangents of complex numbers.

Takes the operands of an operation of an adjoint. Gives the value to use in its place, or NotImplemented. The parts of
complex numbers have a cotangent each. Where both come from squares, as in a power spectrum, they are one product.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(x, w):
...     z = np.fft.fft(x)
...     return np.sum(w * (z.real**2 + z.imag**2))
>>> show_source(f, np.ones(4), np.ones(4))
def f_grad(x, w):
    return np.fft.fft(2.0 * w * np.conj(np.fft.fft(x)), axis=0, norm=None).real.copy()
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.core import Builder, Value, structural_key, type_of
from ..ir.opset import CAST, MUL, PRIMS
from ..ir.types import same_dtype


def of_both_parts(b: Builder, x: Any, y: Any) -> Any:
    """``p * z.real - 1j * (p * z.imag)`` as ``p * np.conj(z)``: the cotangents that the two parts of complex numbers
    get from their squares, as one array."""
    if b.tag is None or type(x) is not Value or type(y) is not Value or x.type.kind != "array":
        return NotImplemented
    for first, second in ((x, y), (y, x)):
        imaginary, real = first.op, second.op
        if imaginary is None or imaginary.prim is not MUL or real is None or real.prim is not CAST:
            continue
        turn = imaginary.args[0]
        if type(turn) is not complex or turn.real != 0.0 or not turn.imag:
            continue
        (one, others), (number, rest) = _factors(imaginary.args[1]), _factors(real.args[0])
        z = _taken_out(others, np.imag)
        if z is None or z is not _taken_out(rest, np.real) or number != -turn.imag * one:
            continue
        if len(rest) != len(others) or any(structural_key(u) != structural_key(v) for u, v in zip(rest, others)):
            continue
        factors = rest if number == 1.0 else [number, *rest]
        if not factors:
            continue
        conjugate = b.emit(PRIMS[np.conjugate], z)
        product = b.emit(MUL, functools.reduce(lambda u, v: b.emit(MUL, u, v), factors), conjugate)
        if same_dtype(product.type.dtype, x.type.dtype) and _has_shape(b, product, x):
            return product
    return NotImplemented


def _factors(x: Any) -> tuple[float, list[Any]]:
    """The numbers that stand in a product of real arrays, as one, and the other factors."""
    if type(x) in (int, float):
        return float(x), []
    op = x.op if type(x) is Value else None
    if op is None or op.prim is not MUL or op.tag is None:
        return 1.0, [x]
    (one, others), (two, more) = map(_factors, op.args)
    return one * two, [*others, *more]


def _taken_out(factors: list[Any], part: Callable[..., Any]) -> Value | None:
    """Take out the first factor that is the real, or the imaginary, part of an array; gives that array."""
    for k, factor in enumerate(factors):
        op = factor.op if type(factor) is Value else None
        if op is not None and op.prim.fn is part and type(op.args[0]) is Value:
            del factors[k]
            return op.args[0]
    return None


def conjugate_twice(b: Builder, x: Any, **kwargs: Any) -> Any:
    """What is conjugated twice, perhaps with a real factor."""
    op = x.op if b.tag is not None and type(x) is Value and not kwargs else None
    if op is None:
        return NotImplemented
    if op.prim.fn is np.conjugate and len(op.args) == 1 and not op.kwargs:
        return op.args[0]
    if op.prim is MUL and op.tag is not None:
        for factor, other in (op.args, op.args[::-1]):
            twice = other.op if type(other) is Value else None
            if twice is not None and twice.prim.fn is np.conjugate and type_of(factor).is_real and not twice.kwargs:
                return b.emit(MUL, factor, *twice.args)
    return NotImplemented


def _has_shape(b: Builder, x: Value, like: Value) -> bool:
    have, want = x.type.dims, like.type.dims
    return have is not None and want is not None and len(have) == len(want) and all(map(b.dims.same, have, want))


__all__ = ["conjugate_twice", "of_both_parts"]
