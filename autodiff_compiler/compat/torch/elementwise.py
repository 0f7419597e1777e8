"""Functions of one operand, element by element."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import kernels, nn
from ..graph.array import still, to, value_of
from ..graph.direct import unary
from . import dtypes
from .arithmetic import as_operand, check_shapes, in_place_of, result_type
from .core import make, named, run
from .tensor import method


def _step(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function with derivative zero, which its argument stays connected by."""

    def stepped(a: Any) -> Any:
        value = f(value_of(a))
        return still(np.shape(value), value, a) if a is not value_of(a) else value

    return stepped


# Of each function: how it is computed, and its name in the graph. Integers are taken as floats.
FLOATING: dict[str, tuple[Callable[[Any], Any], str]] = {
    "exp": (np.exp, "Exp"), "exp2": (np.exp2, "Exp2"), "expm1": (np.expm1, "Expm1"), "log": (np.log, "Log"),
    "log2": (np.log2, "Log2"), "log10": (np.log10, "Log10"), "log1p": (np.log1p, "Log1p"), "sqrt": (np.sqrt, "Sqrt"),
    "rsqrt": (lambda a: a**-0.5, "Rsqrt"), "sin": (np.sin, "Sin"), "cos": (np.cos, "Cos"), "tan": (np.tan, "Tan"),
    "asin": (np.arcsin, "Asin"), "acos": (np.arccos, "Acos"), "atan": (np.arctan, "Atan"), "sinh": (np.sinh, "Sinh"),
    "cosh": (np.cosh, "Cosh"), "tanh": (np.tanh, "Tanh"), "asinh": (np.arcsinh, "Asinh"), "acosh": (np.arccosh,
    "Acosh"),
    "atanh": (np.arctanh, "Atanh"), "sigmoid": (nn.sigmoid, "Sigmoid"), "erf": (nn.erf, "Erf"),
    "erfc": (kernels.erfc, "Erfc"), "erfinv": (kernels.erfinv, "Erfinv"), "sinc": (lambda a: np.sinc(a), "Sinc"),
    "reciprocal": (lambda a: 1 / a, "Reciprocal"), "deg2rad": (np.deg2rad, "Mul"), "rad2deg": (np.rad2deg, "Mul"),
    "angle": (np.angle, "Angle"), "lgamma": (kernels.lgamma, "Lgamma"),
    "digamma": (lambda a: kernels.polygamma(0, a), "Digamma"),
    "logit": (lambda a: np.log(a / (1 - a)), "Logit"), "entr": (lambda a: -a * np.log(a), "SpecialEntr"),
}  # fmt: skip
# Those that keep integers.
KEEPING: dict[str, tuple[Callable[[Any], Any], str]] = {
    "abs": (lambda a: np.abs(a), "Abs"), "sign": (_step(np.sign), "Sign"), "sgn": (_step(np.sign), "Sgn"),
    "floor": (_step(np.floor), "Floor"), "ceil": (_step(np.ceil), "Ceil"), "round": (_step(np.round), "Round"),
    "trunc": (_step(np.trunc), "Trunc"), "square": (lambda a: a * a, "Pow"),
    "frac": (lambda a: a - np.trunc(value_of(a)), "Frac"),
    "positive": (operator.pos, "Positive"), "relu": (nn.relu, "Relu"),
}  # fmt: skip
ALIASES = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "absolute": "abs", "fix": "trunc", "expit": "sigmoid",
}  # fmt: skip


def _function(name: str, f: Callable[[Any], Any], label: str, floats: bool) -> Callable[..., Any]:
    def function(input: Any) -> Any:
        value = input._value
        if floats and value.dtype.kind not in "fc":
            wanted = dtypes.get_default_dtype().numpy
            return run(label, lambda a: f(to(a, wanted)), input, layout=True)
        return unary((label, f), label, f, input)

    return named(name, function, f"`{name}` of each element{': a floating dtype' if floats else ''}.")


FUNCTIONS: dict[str, Callable[..., Any]] = {}
for _name, (_f, _label) in FLOATING.items():
    FUNCTIONS[_name] = _function(_name, _f, _label, True)
for _name, (_f, _label) in KEEPING.items():
    FUNCTIONS[_name] = _function(_name, _f, _label, False)
for _name, _other in ALIASES.items():
    FUNCTIONS[_name] = FUNCTIONS[_other]


def round_(input: Any, *, decimals: int = 0) -> Any:
    """The nearest integer, or the nearest number with so many decimals; half-way cases go to the even one."""
    return run("Round", _step(lambda v: np.round(v, decimals)), input, layout=True)


FUNCTIONS["round"] = round_


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
        out = a
        if low:
            out = np.where(value_of(out) < value_of(rest[0]), rest[0], out)
        if high:
            out = np.where(value_of(out) > value_of(rest[-1]), rest[-1], out)
        return out

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


def _predicate(f: Callable[[Any], Any], name: str) -> Callable[[Any], Any]:
    def test(input: Any) -> Any:
        return make(np.asarray(f(input._value)))

    return named(name, test, f"Element by element, `{name}`: a tensor of bool.")


for _name in ("isnan", "isinf", "isfinite"):
    FUNCTIONS[_name] = _predicate(getattr(np, _name), _name)


def allclose(input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all elements are equal but for rounding."""
    return bool(np.allclose(input._value, other._value, rtol, atol, equal_nan))


def equal(input: Any, other: Any) -> bool:
    """Whether two tensors have the same shape and elements."""
    return bool(np.array_equal(input._value, other._value))


FUNCTIONS.update({f.__name__: f for f in (clamp, nan_to_num, polygamma, where, masked_fill, conj, real, imag)})
FUNCTIONS.update(allclose=allclose, equal=equal)
FUNCTIONS["clip"] = clamp
for _name, _doc in (
    ("clamp_min", "Each element, but at least `min`."),
    ("clamp_max", "Each element, but at most `max`."),
):
    FUNCTIONS[_name] = named(_name, lambda input, bound, _key=_name[-3:]: clamp(input, **{_key: bound}), _doc)
_MODULE_ONLY = {"where", "polygamma", "entr", "expit", "real", "imag", "positive"}
_NOT_IN_PLACE = {"conj", "isnan", "isinf", "isfinite", "allclose", "equal", "absolute", "sgn", "sign"}
for _name, _f in FUNCTIONS.items():
    if _name not in _MODULE_ONLY:
        method(_name, _f)
method("__abs__", FUNCTIONS["abs"])
method("where", lambda self, condition, other: where(condition, self, other))
method("real", property(real))  # type: ignore[arg-type]
method("imag", property(imag))  # type: ignore[arg-type]
# Written into the first operand: methods, and functions of the module.
IN_PLACE: dict[str, Callable[..., Any]] = {
    f"{_name}_": in_place_of(f"{_name}_", _f)
    for _name, _f in FUNCTIONS.items()
    if _name not in _MODULE_ONLY | _NOT_IN_PLACE
}
for _name, _f in IN_PLACE.items():
    method(_name, _f)
for _name in ("absolute", "sgn", "sign"):  # methods only
    method(f"{_name}_", in_place_of(f"{_name}_", FUNCTIONS[_name]))
