"""Complex numbers, with both backends."""

from __future__ import annotations

import cmath
from typing import Any

import numpy as np
import pytest

from . import both_halves
from .both import agree, bailed, why_not

X = np.array([0.5, -1.5, 2.0, 0.25])
Z = X + 1j * np.array([1.0, 0.5, -0.25, 0.0])


def of_elements(x: Any) -> Any:
    z = x * (1.0 + 2.0j) + 0.5
    w = np.conj(z) * z**2 - z / (z + 3.0j)
    return np.sum(np.abs(w) ** 2) + np.sum(w.real * w.imag) + np.sum(np.angle(z + 5.0))


def of_functions(x: Any) -> Any:
    z = np.exp(1j * x) + np.sin(x + 0.3j) * np.cos(x - 0.1j) + np.sinh(0.2j * x) - np.cosh(x * (0.1 + 0.2j))
    return np.sum(z.real**2) + abs(np.sum(z)) + np.mean(z).imag


def of_more_functions(x: Any) -> Any:
    z = np.sqrt(x + 1j) + np.log(x + 2.0j) + (x + 1j) ** 2.5 + np.tan(x * 0.1j)
    return np.sum(np.abs(z))


def transforms(x: Any) -> Any:
    for _ in range(3):
        f = np.fft.rfft(np.sin(x))
        f = f * np.exp(-0.1 * np.abs(f))
        x = np.fft.irfft(f, len(x)) + 0.1 * x
    return np.sum(x * x)


def in_a_loop(x: Any) -> Any:
    z, s = 0.1 + 0.0j, 0.0
    for k in range(len(x)):
        z = z * z + x[k] + 1j * x[k - 1]
        s += abs(z)
        if abs(z) > 3.0:
            z = z / abs(z)
    return s + z.real


def step(x: float) -> Any:
    """The derivative by a complex step."""
    z = x + 1e-20j
    return (z * z * np.exp(z) / (z + 1.0)).imag * 1e20


def stored(x: Any) -> Any:
    out = np.zeros(4, dtype=complex)
    for k in range(4):
        out[k] = x[k] * 1j
        out[k] += x[3 - k]
    out[1:] *= 2.0
    return np.sum(np.abs(out) ** 2) + (out @ out).real + np.sum(out[np.array([0, 2, 2])]).imag


def matrices(x: Any) -> Any:
    A = np.outer(x, x) + 1j * np.eye(4)
    return np.sum(np.abs(A @ x + np.conj(A.T) @ (x * 1j)) ** 2)


def compared(x: Any) -> Any:
    z = x + 0j
    return np.sum(np.where(z == x[0], z * 2.0, z * 3j).imag) + np.sum(np.isfinite(z) * x) + (x[0] if z[1] else x[2])


KINDS = both_halves.KINDS
PROGRAMS = [
    of_elements, of_functions, of_more_functions, transforms, in_a_loop, stored, matrices, compared,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_programs(f: Any) -> None:
    native = agree(f, X)
    assert why_not(native) is None and not bailed(native)
    agree(f, X.astype(np.float32), rtol=1e-4)
    for kind in KINDS:
        native = both_halves.agree(f, X.copy(), kind=kind)
        # The types do not say that the tangent of a real part is a number.
        assert (why_not(native) is None and not both_halves.bailed(native)) or (f is in_a_loop and kind is KINDS[1])


def test_complex_arguments_and_results() -> None:
    def f(z: Any, w: Any) -> Any:
        return np.sum(np.abs(z * w - np.conj(z)) ** 2)

    def g(z: Any, w: Any) -> Any:
        return z * w + np.exp(z), z.real * 2.0, w

    for z, w in ((Z, 2.0 - 1.0j), (Z.astype(np.complex64), np.complex64(1j)), (Z[::-1], np.complex128(0.5)), (Z, 3)):
        argnums = (0, 1) if w != 3 else (0,)
        rtol = 1e-4 if z.dtype == np.complex64 else 1e-9
        native = agree(f, z, w, argnums=argnums, rtol=rtol)
        assert why_not(native) is None and not bailed(native)
        for kind in KINDS:
            native = both_halves.agree(g, z, w, argnums=argnums, rtol=rtol, kind=kind)
            assert why_not(native) is None and not both_halves.bailed(native)
    native = agree(step, 0.75)
    assert why_not(native) is None and not bailed(native)


def quotient(z: complex, w: complex) -> float:
    return (z / w).real


def power(z: complex, w: complex) -> float:
    return abs(z**w)


def cube(z: complex, w: complex) -> float:
    return (z**3 * w).imag


def size(z: complex, w: complex) -> float:
    return abs(z * w)


def built(z: complex, w: complex) -> float:
    return abs(complex(abs(z), w.real) + cmath.exp(w))


def both(z: complex, x: float) -> Any:
    return z * x, z * z, x / 2


SEEDS = [lambda g: g, lambda g: (1, 2, 3), lambda g: (1.5, True, np.float64(2)), lambda g: (np.complex64(1j), 1, 1.0),
         lambda g: (1.0, 10**400, 1.0), lambda g: (1.0, 1.0, 1j), lambda g: (np.complex128(2j), 1j, 0.5)]  # fmt: skip


@pytest.mark.parametrize("seed", range(len(SEEDS)))
def test_cotangents_of_numbers(seed: int) -> None:
    native = both_halves.agree(both, 1.0 + 2.0j, 0.5, argnums=(0, 1), mapped=SEEDS[seed])
    assert why_not(native) is None


VALUES = [0j, 1.0 + 2.0j, -1.0 - 0.0j, 1e200 + 1e200j, 1e308 + 1e308j, complex("inf"), complex("nan"), -2.5j]


@pytest.mark.parametrize("f", [quotient, power, cube, size, built])
def test_numbers_of_python_raise_as_python_does(f: Any) -> None:
    with np.errstate(all="ignore"):
        for z in VALUES:
            for w in VALUES:
                agree(f, z, w, argnums=(0, 1))


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_numbers_of_numpy_never_raise(dtype: Any) -> None:
    z = np.array(VALUES).astype(dtype) if dtype is np.complex128 else np.array(VALUES[:3], dtype)
    w = z[::-1].copy()
    with np.errstate(all="ignore"):
        for f in (
            lambda z, w: np.sum(np.abs(z / w)), lambda z, w: np.sum((z * w).real),
            lambda z, w: np.sum(np.abs(np.exp(z))),
            lambda z, w: np.sum(np.sin(z).real) + np.sum(np.cosh(w).imag), lambda z, w: (z[0] / w[-1]).real + z[1].imag,
            lambda z, w: np.sum((z**2 * w**3).real) + np.sum(np.angle(w)) + np.sum(np.sqrt(z).imag),
        ):  # fmt: skip
            agree(f, z, w, argnums=(0, 1), rtol=1e-9 if dtype is np.complex128 else 1e-4)


def real_at_first(x: Any) -> Any:
    s = 0.0
    out = 0.0
    for k in range(3):
        out += abs(np.sqrt(s - 1.0 + 0j)) + np.sqrt(s * 0.0 + x[k] ** 2)
        s = s + x[k] * 1j
    return out


def root_of_what_is_real_at_first(x: Any) -> Any:
    s, out = x[0] * 0.0, 0.0
    for k in range(3):
        out = out + abs(np.sqrt(s - 1.0))  # nan in the first iteration, where s is real
        s = s + x[k] * 1j
    return out


def sum_of_what_is_real_at_first(x: Any) -> Any:
    s = 0.0
    for k in range(4):
        s = s * 0.5 + x[k] * np.exp(1j * x[k - 1])
    return abs(s)


@pytest.mark.parametrize("f", [real_at_first, root_of_what_is_real_at_first, sum_of_what_is_real_at_first])
def test_numbers_that_are_real_at_first(f: Any) -> None:
    with np.errstate(all="ignore"):
        agree(f, X)


def test_a_complex_number_that_is_stored_as_a_real_one_raises() -> None:
    def f(x: Any) -> Any:
        y = np.zeros(4)
        y[0] = x[0] * 1j
        return np.sum(y)

    agree(f, X)


OPERATIONS = [
    lambda a, b: a + b, lambda a, b: a * b, lambda a, b: a - np.conj(b), lambda a, b: a / (b + 4.0),
    lambda a, b: np.exp(a * 0.1) * b, lambda a, b: np.where(a.real > 0, a, b), lambda a, b: a * np.abs(b),
    lambda a, b: np.sum(a) * b, lambda a, b: a[::-1] - b.real, lambda a, b: np.cos(a * 0.2) + b.imag * 1j,
    lambda a, b: a.real * 1j + b, lambda a, b: np.fft.fft(a) * 0.3 + b, lambda a, b: a**2 * 0.1 - b,
]  # fmt: skip


def drawn(numbers: Any) -> Any:
    chosen = [OPERATIONS[k] for k in numbers]

    def f(x: Any) -> Any:
        a, b = x + 0.1j, x * 1j
        for op in chosen:
            a, b = op(a, b), a
        return np.sum(np.abs(a)) + np.sum(b.real)

    return f


@pytest.mark.parametrize("seed", range(25))
def test_random_chains(seed: int) -> None:
    rng = np.random.default_rng(seed)
    f = drawn(rng.integers(len(OPERATIONS), size=6))
    native = agree(f, rng.normal(size=5), rtol=1e-8)
    assert why_not(native) is None and not bailed(native)
    both_halves.agree(f, rng.normal(size=5), rtol=1e-8)


@pytest.mark.parametrize("f", [
    lambda z, w: max(z, w).real, lambda z, w: z.real if z < w else w.real, lambda z, w: (z // w).real,
    lambda z, w: float(z), lambda z, w: np.maximum(z, w).real, lambda z, w: np.sign(z).real * abs(w),
])  # fmt: skip
def test_what_complex_numbers_cannot_do(f: Any) -> None:
    agree(f, 1.0 + 2.0j, 0.5j, argnums=(0, 1))


def test_sums_of_small_complex_numbers() -> None:
    z = Z.astype(np.complex64)
    native = agree(lambda z: abs(np.sum(z * z)) + np.mean(z).real, z, rtol=1e-5)
    assert why_not(native) is None and not bailed(native)
