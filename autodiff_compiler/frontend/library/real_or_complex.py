"""The functions of ``np.emath``: real where the real function is defined everywhere, or else complex."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..definitions import defines


def complex_of(x: Any) -> Any:
    small = (np.float32, np.int8, np.int16, np.uint8, np.uint16, np.complex64)
    return x.astype(np.complex64 if x.dtype in small else np.complex128)


def without_negative(x: Any) -> Any:
    x = np.asarray(x)
    if np.any(np.isreal(x) & (x < 0)):
        x = complex_of(x)
    return x


def within_one(x: Any) -> Any:
    x = np.asarray(x)
    if np.any(np.isreal(x) & (np.abs(x) > 1)):
        x = complex_of(x)
    return x


def _define(fn: Any, function: Callable[..., Any], prepared: Callable[..., Any]) -> None:
    @defines(fn)
    def real_or_complex(x: Any) -> Any:
        return function(prepared(x))


_NOT_NEGATIVE = [
    (np.emath.sqrt, np.sqrt), (np.emath.log, np.log), (np.emath.log2, np.log2), (np.emath.log10, np.log10),
]  # fmt: skip
_WITHIN_ONE = [(np.emath.arccos, np.arccos), (np.emath.arcsin, np.arcsin), (np.emath.arctanh, np.arctanh)]
for _fn, _function in _NOT_NEGATIVE:
    _define(_fn, _function, without_negative)
for _name, _inverse in _WITHIN_ONE:
    _define(_name, _inverse, within_one)


@defines(np.emath.logn)
def logn(n: Any, x: Any) -> Any:
    return np.log(without_negative(x)) / np.log(without_negative(n))


@defines(np.emath.power)
def power(x: Any, p: Any) -> Any:
    x, p = without_negative(x), np.asarray(p)
    if np.any(np.isreal(p) & (p < 0)):
        p = p * 1.0
    return np.power(x, p)
