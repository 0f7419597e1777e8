"""Operands as tensors, axes and shapes as integers, and primitives computed and recorded."""

from __future__ import annotations

import functools
from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np

from ... import kernels
from ...ir.opset import PRIMS
from ...tape.apply import apply
from ...tape.custom import record_barrier
from ...tape.native import Tensor as Traced
from ...tape.operators import unary
from ...tape.recording import STATE, Recording
from ...tape.tensor import Operand, wrap
from . import dtypes
from .errors import invalid
from .operators import Arithmetic, not_allowed
from .tensors import EagerTensor, convert_to_tensor
from .values import mismatch

FLOATS = "bfloat16, half, float, double, complex64, complex128"


def operand(x: Any) -> Any:
    """A tensor or variable; anything else is converted."""
    return x if isinstance(x, Arithmetic) else convert_to_tensor(x)


def run(fn: Any, *args: Any, **kwargs: Any) -> Any:
    """Compute a primitive of the compiler on operands, and record it. 0-d arrays become numbers."""
    return apply(PRIMS[fn], _normalised(fn), args, kwargs)


def computed(f: Callable[..., Any], *operands: Any) -> Any:
    """``f`` of the operands' arrays, as a tensor or a tuple of them. Open tapes record its primitives.

    Lists may hold tensors; other arguments are passed as they are. `f` is written with NumPy's functions, the kernels
    and the functions of ``compat.graph.array``, like the functions in the table of operations.
    """
    rec = STATE.rec
    with np.errstate(all="ignore"):
        out = f(*[_traced(x, rec) for x in operands])
    if type(out) is tuple or type(out) is list:
        return type(out)([_untraced(x) for x in out])
    return _untraced(out)


def _traced(x: Any, rec: Recording | None) -> Any:
    """The operand for functions of arrays: the core's tensor if a tape is interested in it, else its value."""
    if not isinstance(x, Operand):
        return [_traced(part, rec) for part in x] if type(x) is list else x
    slot = -1 if rec is None else x._slot if x._token is rec.token else rec.find(x)
    if rec is None or slot < 0:
        return x._value
    made = object.__new__(Traced)
    made._value, made._token, made._slot = x._value, rec.token, slot
    return made


def _untraced(x: Any) -> Any:
    if not isinstance(x, Traced):
        return wrap(EagerTensor, np.asarray(x)[()])
    made = wrap(EagerTensor, x._value[()])
    made._token, made._slot = x._token, x._slot
    return made


def quiet(fn: Any) -> Any:
    """The function without NumPy's warnings. Warnings of calls in this package are ignored anyway."""
    if fn not in (np.cumsum, np.cumprod) and (fn is kernels.relu or "kernels" not in getattr(fn, "__module__", "")):
        return fn

    def silent(*args: Any, **kwargs: Any) -> Any:
        with np.errstate(all="ignore"):
            return fn(*args, **kwargs)

    return silent


@functools.cache
def _normalised(fn: Any) -> Callable[..., Any]:
    fn = quiet(fn)

    def single(*args: Any, **kwargs: Any) -> Any:
        out = fn(*args, **kwargs)
        return out[()] if type(out) is np.ndarray else out

    return single


def elementwise(fn: Any, op: str) -> Callable[[Any], Any]:
    """A fast operation on one operand, which keeps the dtype; it refuses dtypes that NumPy would change."""
    function = quiet(fn)

    def compute(v: Any) -> Any:
        out = function(v)
        if out.dtype is not v.dtype:
            if out.dtype == v.dtype:
                return out
            raise not_allowed(op, v.dtype, FLOATS)
        return out

    return unary(PRIMS[fn], compute)


def given(value: Any, like: Any) -> Any:
    """A plain value as a tensor in the dtype of an operand. Tensors and variables stay."""
    return value if isinstance(value, Arithmetic) else convert_to_tensor(value, dtypes.of(like._value.dtype))


def same_dtypes(values: Any, op: str) -> list[Any]:
    """Operands of one dtype: that of the first tensor among them, or else of the first value.

    Raises InvalidArgumentError for tensors of two dtypes, TypeError for a Python value that does not fit.
    """
    found: list[Any] = list(values)
    for first in found:
        if isinstance(first, Operand):
            break
    else:
        if found:
            first = found[0] = convert_to_tensor(found[0])
    for k, v in enumerate(found):
        if not isinstance(v, Arithmetic):
            v = found[k] = given(v, first)
        dtype = v._value.dtype
        if k == 0:
            wanted = dtype
        elif dtype is not wanted and dtype != wanted:
            raise mismatch(op, wanted, dtypes.of(dtype).label, k)
    return found


def checked(op: str, f: Callable[..., Any], *args: Any, refused: str = "") -> Any:
    """``f(*args)``. What NumPy refuses raises InvalidArgumentError; `refused` is its message for a matrix."""
    try:
        return f(*args)
    except (np.exceptions.AxisError, ValueError) as error:
        told = refused and isinstance(error, np.linalg.LinAlgError)
        raise invalid(op, refused if told else str(error)) from None


# --- dtypes and connections -------------------------------------------------------------------------------------------


def floating(x: Any, op: str, allowed: str = "fc") -> Any:
    """The operand. Raises InvalidArgumentError for a dtype that is not floating or complex."""
    x = operand(x)
    if x._value.dtype.kind not in allowed:
        raise not_allowed(op, x._value.dtype, FLOATS)
    return x


def bools(x: Any, op: str) -> Any:
    """The operand. Raises InvalidArgumentError for one that is not of booleans."""
    x = operand(x) if isinstance(x, Operand) else convert_to_tensor(x, dtypes.bool_)
    if x._value.dtype.kind != "b":
        raise mismatch(op, np.dtype(bool), dtypes.of(x._value.dtype).label, 0)
    return x


def cut(result: Any, x: Any) -> Any:
    """The result of an operation on `x` whose gradient is None. It may be a source."""
    return record_barrier([result], [x], lambda upstream: [None])[0] if STATE.rec is not None else result


# --- the static part of an operation ----------------------------------------------------------------------------------


def integer(x: Any) -> int:
    """A Python integer, of a number, an array or a tensor."""
    if isinstance(x, Operand):
        x = x._value
    return int(index(x))


def integers(x: Any) -> tuple[int, ...]:
    """Python integers, of a list, a shape, an array or a tensor; one number gives one."""
    found = axes(x)
    return found if isinstance(found, tuple) else (found,)


def axes(axis: Any) -> Any:
    """None, an integer, or a tuple of such, of what stands for them."""
    if axis is None or type(axis) is int:
        return axis
    if isinstance(axis, Operand):
        axis = axis._value
    if isinstance(axis, (np.ndarray, np.generic)):
        axis = axis.tolist()
    return tuple([axes(k) for k in axis]) if hasattr(axis, "__iter__") and type(axis) is not str else integer(axis)


def array(x: Any) -> np.ndarray[Any, Any]:
    """The NumPy array of a tensor or of what may become one: for indices, masks and the like, which carry no
    derivative."""
    return np.asarray(operand(x)._value)
