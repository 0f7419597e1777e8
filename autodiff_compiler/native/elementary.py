"""exp, log and tanh without branches and tables: LLVM computes several elements of a loop at once.

The C library's take one number at a time. These are functions of LLVM's form, which it writes into the loops that call
them. Polynomials are minimax ones. The error of `exp` and `log` is less than one unit in the last place, that of `tanh`
less than 1.3. A value does not depend on where it stands: elements that LLVM computes alone have the same bits.

This module needs llvmlite, which comes with Numba.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import llvmlite.binding  # type: ignore[import-untyped]
from llvmlite import ir

DOUBLE, WORD = ir.DoubleType(), ir.IntType(64)
MAGIC = 6755399441055744.0  # 1.5 * 2**52: a number that is added to it is rounded to an int, which the last bits are
LOG2_HIGH, LOG2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # an int times the first one is exact
# (exp(r) - 1 - r) / r**2 up to half of log(2), and (tanh(a) / a - 1) / a**2 up to NEAR, by a**2
EXP = (
    0.5, 0.1666666666666667, 0.041666666666666685, 0.008333333333326136, 0.0013888888888874415, 0.00019841269874818924,
    2.48015873472931e-05, 2.7557255402374484e-06, 2.75572529649361e-07, 2.510521613746728e-08, 2.092156943412959e-09,
)  # fmt: skip
TANH = (
    -0.3333333333333333, 0.13333333333332406, -0.05396825396707127, 0.021869488477321, -0.008863234026408564,
    0.0035921055605495126, -0.0014556239732104273, 0.0005887527708995607, -0.0002341005793580298,
    8.425415256510875e-05, -2.001744756054461e-05,
)  # fmt: skip
NEAR = 0.5635
# (log(1 + f) - f + f**2 / 2 - s * f**2 / 2) / s, where s = f / (2 + f), by s**2: the coefficients of Sun's fdlibm
LOG = (
    0.6666666666666735130, 0.3999999999940941908, 0.2857142874366239149, 0.2222219843214978396, 0.1818357216161805012,
    0.1531383769920937332, 0.1479819860511658591,
)  # fmt: skip
SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
INF, NAN = float("inf"), float("nan")


@functools.cache
def _has_fma() -> bool:
    return bool(llvmlite.binding.get_host_cpu_features().get("fma"))


class Double:
    """A number of a function that is being written, whose operators write instructions."""

    def __init__(self, builder: ir.IRBuilder, value: Any):
        self.builder = builder
        self.value = value

    def of(self, x: Double | float) -> Any:
        return x.value if isinstance(x, Double) else ir.Constant(DOUBLE, x)

    def __add__(self, other: Double | float) -> Double:
        return Double(self.builder, self.builder.fadd(self.value, self.of(other)))

    def __sub__(self, other: Double | float) -> Double:
        return Double(self.builder, self.builder.fsub(self.value, self.of(other)))

    def __rsub__(self, other: float) -> Double:
        return Double(self.builder, self.builder.fsub(self.of(other), self.value))

    def __mul__(self, other: Double | float) -> Double:
        return Double(self.builder, self.builder.fmul(self.value, self.of(other)))

    def __rtruediv__(self, other: float) -> Double:
        return Double(self.builder, self.builder.fdiv(self.of(other), self.value))

    def __truediv__(self, other: Double) -> Double:
        return Double(self.builder, self.builder.fdiv(self.value, self.of(other)))

    def is_(self, how: str, other: float) -> Any:
        """A comparison, which is false for nan."""
        return self.builder.fcmp_ordered(how, self.value, self.of(other))

    def times_plus(self, factor: Double | float, term: Double | float) -> Double:
        """``self * factor + term``, by one instruction where the processor has it."""
        if not _has_fma():
            return self * factor + term
        return Double(self.builder, self.builder.fma(self.value, self.of(factor), self.of(term)))

    def unless(self, condition: Any, other: Double | float) -> Double:
        """The other number if the condition is true, or this one."""
        return Double(self.builder, self.builder.select(condition, self.of(other), self.value))

    def absolute(self) -> Double:
        return self.from_bits(self.builder.and_(self.bits(), ir.Constant(WORD, (1 << 63) - 1)))

    def with_sign_of(self, other: Double) -> Double:
        """This number, which is not negative, with a sign."""
        sign = self.builder.and_(other.bits(), ir.Constant(WORD, -(1 << 63)))
        return self.from_bits(self.builder.or_(self.bits(), sign))

    def bits(self) -> Any:
        return self.builder.bitcast(self.value, WORD)

    def from_bits(self, bits: Any) -> Double:
        return Double(self.builder, self.builder.bitcast(bits, DOUBLE))

    def power_of_two(self) -> Double:
        """``2.0 ** self`` of an int from -1022 to 1023."""
        bits = (self + (MAGIC + 1023.0)).bits()
        return self.from_bits(self.builder.shl(bits, ir.Constant(WORD, 52)))

    def polynomial(self, coefficients: tuple[float, ...]) -> Double:
        out = self.times_plus(coefficients[-1], coefficients[-2])
        for c in coefficients[-3::-1]:
            out = out.times_plus(self, c)
        return out


def _parts_of_exp(x: Double) -> tuple[Double, Double]:
    """An int `k` and a number `p` with ``exp(x) == 2 ** k * (1 + p)``."""
    k = x.times_plus(1.4426950408889634, MAGIC) - MAGIC
    high = k.times_plus(-LOG2_HIGH, x)
    low = k * LOG2_LOW
    r = high - low
    lost = (high - r) - low
    return k, r + (r * r).times_plus(r.polynomial(EXP), lost)


def _exp(x: Double) -> Double:
    x = x.unless(x.is_(">", 710.0), 710.0)
    k, p = _parts_of_exp(x.unless(x.is_("<", -746.0), -746.0))
    half = (k * 0.5 + MAGIC) - MAGIC  # by two factors: the result may be less than what a power of two may be
    return (p + 1.0) * half.power_of_two() * (k - half).power_of_two()


def _tanh(x: Double) -> Double:
    size = x.absolute()
    k, p = _parts_of_exp((size + size).unless(size.is_(">", 20.0), 40.0))
    scale = k.power_of_two()
    far = 1.0 - 2.0 / (scale.times_plus(p, scale + 1.0))
    square = size * size
    near = (size * square).times_plus(square.polynomial(TANH), size)
    return far.unless(size.is_("<", NEAR), near).with_sign_of(x)


def _log(x: Double) -> Double:
    build, one = x.builder, ir.Constant(WORD, 0x3FF0000000000000)
    least = ir.Constant(WORD, SQRT_HALF_BITS)
    tiny = x.is_("<", 2.2250738585072014e-308)
    bits = build.add(x.unless(tiny, x * 2.0**54).bits(), build.sub(one, least))
    exponent = build.or_(build.lshr(bits, ir.Constant(WORD, 52)), ir.Constant(WORD, 0x4330000000000000))
    k = x.from_bits(exponent) - (2.0**52 + 1023.0)
    k = k.unless(tiny, k - 54.0)
    f = x.from_bits(build.add(build.and_(bits, ir.Constant(WORD, (1 << 52) - 1)), least)) - 1.0
    square, s = f * f * 0.5, f / (f + 2.0)
    z = s * s
    low = s.times_plus(z.times_plus(z.polynomial(LOG), square), k * LOG2_LOW)
    found = k * LOG2_HIGH - ((square - low) - f)
    beyond = x.unless(x.is_("==", 0.0), -INF).unless(x.is_("<", 0.0), NAN)  # inf and nan are their own
    inside = build.and_(x.is_(">", 0.0), x.is_("<", INF))
    return beyond.unless(inside, found)


_FUNCTIONS: dict[str, Callable[[Double], Double]] = {"exp": _exp, "log": _log, "tanh": _tanh}


def call(builder: ir.IRBuilder, name: str, x: Any) -> Any:
    """Write a call of one of the functions, for a float64 or a float32."""
    module = builder.module
    full = f"autodiff_compiler.{name}"
    fn = module.globals.get(full)
    if fn is None:
        fn = ir.Function(module, ir.FunctionType(DOUBLE, [DOUBLE]), full)
        fn.linkage = "linkonce_odr"
        fn.attributes.add("alwaysinline")
        inner = ir.IRBuilder(fn.append_basic_block())
        inner.ret(_FUNCTIONS[name](Double(inner, fn.args[0])).value)
    if x.type == DOUBLE:
        return builder.call(fn, [x])
    return builder.fptrunc(builder.call(fn, [builder.fpext(x, DOUBLE)]), x.type)


__all__ = ["call"]
