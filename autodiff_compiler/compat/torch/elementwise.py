"""Functions of one operand, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import kernels
from ..graph.array import to, value_of
from ..operations.elementwise import clipped, stepped
from .arithmetic import as_operand, check_shapes, in_place_of, result_type
from .core import make, named, run
from .tensor import method


def round_(input: Any, *, decimals: int = 0) -> Any:
    """The nearest integer, or the nearest number with so many decimals; half-way cases go to the even one."""
    return run("Round", stepped(lambda v: np.round(v, decimals)), input, layout=True)


def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """Each element within bounds, which are numbers or tensors. The gradient passes at the bounds."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    bounds = [b for b in (min, max) if b is not None]
    check_shapes((input, *bounds))
    wanted = result_type(input, *bounds).numpy
    low, high = min is not None, max is not None

    def computed(a: Any, *given: Any) -> Any:
        a = to(a, wanted)
        rest = [to(g, wanted) if hasattr(g, "dtype") else wanted.type(g) for g in given]
        return clipped(a, rest[0] if low else None, rest[-1] if high else None)

    return run("Clamp", computed, input, *bounds, layout=True)


def nan_to_num(input: Any, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Any:
    """NaN and the infinities replaced by numbers."""
    info = np.finfo(input._value.dtype) if input._value.dtype.kind == "f" else None
    if info is None:
        return input.clone()
    top = float(info.max) if posinf is None else posinf
    low = float(info.min) if neginf is None else neginf

    def computed(a: Any) -> Any:
        v = value_of(a)
        filled = np.nan_to_num(v, nan=nan, posinf=top, neginf=low)
        return np.where(np.isfinite(v), a, filled)

    return run("NanToNum", computed, input)


def polygamma(n: int, input: Any) -> Any:
    """The derivative of order `n` of `digamma`. It runs element by element, in Python."""
    return run("Polygamma", lambda a: kernels.polygamma(n, a), input)


def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """`input` where the condition holds, else `other`; with the condition alone, the indices of what is nonzero."""
    if input is None and other is None:
        return tuple([make(i) for i in np.nonzero(condition._value)])
    input, other = as_operand(input), as_operand(other)
    check_shapes((condition, input, other))
    wanted = result_type(input, other).numpy

    def computed(c: Any, a: Any, b: Any) -> Any:
        a, b = [to(x, wanted) if hasattr(x, "dtype") else wanted.type(x) for x in (a, b)]
        return np.where(value_of(c), a, b)

    return run("Where", computed, condition.detach(), input, other, layout=True)


def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """The tensor with `value` where the mask is True."""
    if mask._value.dtype.kind != "b":
        raise RuntimeError("masked_fill only supports boolean masks")
    dtype = input._value.dtype

    def computed(a: Any, m: Any, v: Any) -> Any:
        return np.where(value_of(m), to(v, dtype) if hasattr(v, "dtype") else dtype.type(v), a)

    return run("MaskedFill", computed, input, mask, value)


def _part(name: str, f: Callable[[Any], Any], doc: str) -> Callable[[Any], Any]:
    def part(input: Any) -> Any:
        if input._value.dtype.kind != "c":
            if name == "imag":
                raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
            return input
        return run(name.capitalize(), f, input)

    return named(name, part, doc)


conj = _part("conj", np.conj, "The complex conjugate.")
real, imag = _part("real", np.real, "The real part."), _part("imag", np.imag, "The imaginary part.")


def allclose(input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all elements are equal but for rounding."""
    return bool(np.allclose(input._value, other._value, rtol, atol, equal_nan))


def equal(input: Any, other: Any) -> bool:
    """Whether two tensors have the same shape and elements."""
    return bool(np.array_equal(input._value, other._value))


_clamp_min = named("clamp_min", lambda input, min: clamp(input, min=min), "Each element, but at least `min`.")
_clamp_max = named("clamp_max", lambda input, max: clamp(input, max=max), "Each element, but at most `max`.")
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "round": round_, "clamp": clamp, "clip": clamp, "clamp_min": _clamp_min, "clamp_max": _clamp_max,
    "nan_to_num": nan_to_num, "masked_fill": masked_fill,
}  # fmt: skip
# Written into the first operand: methods, and functions of the module.
IN_PLACE = {f"{_name}_": in_place_of(f"{_name}_", _f) for _name, _f in FUNCTIONS.items()}
FUNCTIONS.update(conj=conj, allclose=allclose, equal=equal, **IN_PLACE)
for _name, _f in FUNCTIONS.items():
    method(_name, _f)
FUNCTIONS.update(where=where, real=real, imag=imag, polygamma=polygamma)
method("where", lambda self, condition, other: where(condition, self, other))
method("real", property(real))  # type: ignore[arg-type]
method("imag", property(imag))  # type: ignore[arg-type]
