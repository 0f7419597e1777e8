"""Where machines compute otherwise than Python, the program bails, and NumPy code gives what Python gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from benchmarks import native_guards

from .both import agree, bailed, why_not

X = np.array([0.5, -1.5, 2.0, 0.25])


def read_at(x: Any, k: int) -> Any:
    return x[k] * x[0]


def read_in_loop(x: Any, n: int) -> Any:
    s = 0.0
    for i in range(n):
        s += x[i] * x[i]
    return s


def read_on_a_path(x: Any, n: int) -> Any:
    s = x[0]
    for i in range(n):
        if i > 0:
            s = s + x[i - 1]
    return s


def store_at(x: Any, k: int) -> Any:
    y = np.zeros(4)
    y[k] = x[0] * 2.0
    return np.sum(y * y)


def picked(x: Any, k: int) -> Any:
    return np.sum(x[np.array([0, k, 0])] ** 2)


@pytest.mark.parametrize("f", [read_at, store_at, picked])
@pytest.mark.parametrize("k", [0, 3, -1, -4, 4, -5, 10**6])
def test_indices_out_of_range_raise(f: Any, k: int) -> None:
    native = agree(f, X, k)
    assert why_not(native) is None
    assert bailed(native) == (not -4 <= k < 4)


@pytest.mark.parametrize("n", [0, 1, 4, 5, 9])
def test_a_loop_checks_its_range_before_it_starts(n: int) -> None:
    native = agree(read_in_loop, X, n)
    assert bailed(native) == (n > 4)
    assert "> i" not in native.source(X, n)  # not in each iteration
    assert not bailed(agree(read_on_a_path, X, min(n, 5)))


def quotient(x: float, y: float) -> float:
    return x / y


def remainder(x: float, y: float) -> float:
    return x % y + x // y


def power(x: float, y: float) -> float:
    return float(abs(x**y))


def logarithm(x: float, y: float) -> float:
    return math.log(x) + math.sqrt(y)


def exponential(x: float, y: float) -> float:
    return math.exp(x) * math.sinh(y)


def exact_power(x: float, y: float) -> float:
    return x**3 * y


def inverse(x: float, y: float) -> float:
    return math.asin(x) + math.acos(y) + math.atanh(y)


@pytest.mark.parametrize("f", [quotient, remainder, power, logarithm, exponential, exact_power, inverse])
@pytest.mark.parametrize(
    "x, y", [(0.5, 0.25), (1.0, 0.0), (0.0, -1.0), (-8.0, 1 / 3), (1e300, 2.0), (800.0, 1.0), (2.0, 1.0)]
)
def test_numbers_of_python_raise_as_python_does(f: Any, x: float, y: float) -> None:
    agree(f, x, y, argnums=(0, 1))


@pytest.mark.parametrize("y", [0.0, -0.0, 1.0])
def test_numbers_of_numpy_divide_by_zero(y: float) -> None:
    with np.errstate(all="ignore"):
        native = agree(lambda x, y: x[0] / x[1] * y, np.array([1.0, y]), 2.0)
        assert not bailed(native)
        agree(lambda x: np.sum(x / (x - x[0])), np.array([1.0, 2.0]))


def counts(x: Any, n: int) -> Any:
    k = n
    for _ in range(3):
        k = k * k
    return x[0] * (k % 7)


def sums(x: Any, n: int) -> Any:
    k = n
    for _ in range(5):
        k = k + k
    return x[0] * (k % 7) * 1.0


def negative_power(x: Any, n: int) -> Any:
    return x[0] * 2**n


@pytest.mark.parametrize("f", [counts, sums, negative_power])
@pytest.mark.parametrize("n", [3, -2, 10**6, 2**39, 2**40, 2**62, 2**63, 2**70, -(2**63), -(2**64)])
def test_ints_are_as_long_as_they_get(f: Any, n: int) -> None:
    if abs(n) < 10**6 or f is not negative_power:
        agree(f, X, n)


def test_an_int_that_a_float_does_not_hold_is_compared_exactly() -> None:
    def f(x: Any, n: int) -> Any:
        k = n * n + 1
        return x[0] * 2.0 if k > 9007199254740992.0 else x[1]

    for n in (94906265, 94906266, 94906267):
        agree(f, X, n)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_what_a_loop_gives_has_the_type_of_what_it_did(n: int) -> None:
    def plain(x: Any, n: int) -> Any:
        s = 0.0
        for i in range(n):
            s += x[i]
        return s

    def nested(x: Any, n: int) -> Any:
        s = 0.0
        for i in range(n):
            for j in range(i + 1, n):
                s = s + x[i] * x[j]
        return s

    def reset(x: Any, n: int) -> Any:
        last = 1.0
        for i in range(n):
            last = 0.0
            for j in range(i + 1, n):
                last += x[j]
        return last * 2.0

    for f in (plain, nested, reset):
        native = agree(f, X, n)
        assert why_not(native) is None and not bailed(native)


def test_shapes_that_do_not_fit_raise() -> None:
    def f(x: Any, k: int) -> Any:
        return np.sum(x[k:] * x[: len(x) - 1])

    for k in (1, 0, 2, 5):
        agree(f, X, k)

    def g(x: Any, n: int) -> Any:
        y = np.zeros(n)
        y[:] = x
        return np.sum(y**2)

    for n in (4, 3, 5, -1):
        agree(g, X, n)


def test_broadcasting_that_only_the_run_shows() -> None:
    def f(x: Any, k: int) -> Any:
        return np.sum(x * x[k:])  # an axis of length 1, for k = 3

    for k in (0, 3, 1):
        agree(f, X, k)


@pytest.mark.parametrize("f", [np.max, np.min])
def test_the_largest_of_nothing_raises(f: Callable[..., Any]) -> None:
    agree(lambda x, k: f(x[k:]) * 2.0, X, 2)
    agree(lambda x, k: f(x[k:]) * 2.0, X, 4)


def test_nan_is_kept() -> None:
    x = np.array([1.0, np.nan, 3.0])
    for f in (np.max, np.min):
        agree(lambda x, f=f: f(x), x)
    agree(lambda x: np.sum(np.maximum(x, 2.0) + np.minimum(x, 2.0) + np.sign(x)), x)


def test_arrays_of_any_layout() -> None:
    def f(x: Any) -> Any:
        return np.sum(x[1:] * x[:-1]) + x[0, 1]

    x = np.arange(12.0).reshape(3, 4)
    read_only = x.copy()
    read_only.flags.writeable = False
    unaligned = np.frombuffer(b"\0" + x.tobytes(), np.float64, offset=1).reshape(3, 4)
    for y in (x, x.T, x[:, ::2], x[::-1], np.asfortranarray(x), read_only, unaligned, np.broadcast_to(x[0], (3, 4))):
        assert not bailed(agree(f, y))


def test_dtypes_and_classes_that_have_no_machine_code() -> None:
    def f(x: Any) -> Any:
        return np.sum(x * x)

    agree(f, X.astype(np.float32), rtol=1e-5)
    assert "float16" in (why_not(agree(f, X.astype(np.float16), rtol=1e-2)) or "")
    big_endian = X.astype(">f8")
    assert why_not(agree(f, big_endian)) is not None
    agree(f, np.ma.masked_array(X, X < 0))


def test_float32_stays_float32() -> None:
    def f(x: Any, s: float) -> Any:
        y = x * 0.1 + s
        for _ in range(3):
            y = np.sin(y) * 2 + y / 3
        return np.sum(y * np.float32(0.5))

    agree(f, X.astype(np.float32), 0.3, rtol=1e-5)


def test_no_argument_is_written_to() -> None:
    def f(x: Any) -> Any:
        x[1] = x[0] * 3.0
        x *= 2.0
        return np.sum(x * x)

    x = X.copy()
    agree(f, x)
    np.testing.assert_array_equal(x, X)


def test_a_program_that_always_bails_is_not_tried_for_ever(caplog: Any) -> None:
    import autodiff_compiler as ad

    g = ad.grad(lambda x, y: x / y if x > 0.0 else 2.0 * x, backend="native")
    for _ in range(30):
        with pytest.raises(ZeroDivisionError):
            g(1.0, 0.0)
    assert "20 calls in a row" in caplog.text and caplog.text.count("goes on with NumPy") == 1
    assert g(-1.0, 0.0) == 2.0


def put(x: Any, k: Any, n: Any) -> Any:
    k[0] = n
    return x[0] * k[0]


def fill(x: Any, k: Any, n: Any) -> Any:
    k[:] = n
    return x[0] * k[0]


def put_at(x: Any, k: Any, n: Any) -> Any:
    k[np.array([0, 1])] = n
    k[k > 100] = 7
    return x[0] * k[0]


STORED = [30, 300, -129, 2.5, float("nan"), True, np.int64(300)]


@pytest.mark.parametrize("f", [put, fill, put_at])
@pytest.mark.parametrize("n", STORED, ids=map(repr, STORED))
def test_an_int_that_an_array_does_not_hold(f: Any, n: Any) -> None:
    for dtype in (np.int8, np.uint8, np.int64):
        if f is put or not isinstance(n, float):
            native = agree(f, X, np.array([1, 2], dtype), n)
            lost = dtype is not np.int64 and not isinstance(n, float) and not 0 <= n <= 127
            assert why_not(native) is not None or bailed(native) == (lost or (n != n and dtype is np.int64))


def test_the_least_int_divided_by_minus_one() -> None:
    for a in ([-(2**63), -1], [-9, 4], [7, 0]):
        with np.errstate(all="ignore"):
            agree(lambda x, a: x[0] * ((a[0] // a[1]) % 7), X, np.array(a))


@pytest.mark.parametrize("program", native_guards.PROGRAMS, ids=lambda row: row[1].__name__)
def test_the_benchmark_takes_out_checks_and_nothing_else(program: Any) -> None:
    _, f = program
    random = np.random.default_rng(1)
    args = random.random(8), random.integers(8, size=8), 0.5
    compiled = ad.value_and_grad(f, argnums=2, backend="native")
    text = str(compiled.source(*args))
    assert native_guards.checks_of(text)
    rest = native_guards.GUARD.sub("", text)
    assert not native_guards.checks_of(rest) and rest.count("_bail()") == 1  # that is its definition
