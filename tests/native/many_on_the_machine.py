"""Compares exp, log and tanh of several elements with NumPy's of a longer type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.extending import intrinsic

import autodiff_compiler as ad
from autodiff_compiler.native import elementary, support
from tests.native.both import agree, bailed, programs
from tests.native.test_improvements import numbers

BEYOND = np.array([
    0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 5e-324, -5e-324, 1e308, -1e308, 710.0, 709.78, 709.79, -745.13,
    -745.14, -746.0, 2.2250738585072014e-308, 19.06, 22.0, -25.0, 0.5635, -0.5635,
])  # fmt: skip
RANGES = {
    "exp": [(-1.0, 1.0), (-50.0, 50.0), (-745.0, 709.7), (-745.2, -707.0), (-1e-3, 1e-3)],
    "log": [(0.5, 2.0), (0.99, 1.01), (0.0, 1e-307), (0.0, 1e300), (0.0, 100.0)],
    "tanh": [(-0.57, 0.57), (0.5, 0.8), (-2.0, 2.0), (-20.0, 20.0), (0.0, 1e-3), (0.0, 1e-310)],
}
UNITS = {"exp": 0.9, "log": 0.9, "tanh": 1.3}


def of_all(name: str) -> Callable[[Any], Any]:
    @intrinsic
    def of_one(context: Any, x: Any) -> Any:
        return x(x), lambda context, builder, signature, args: elementary.call(builder, name, args[0])

    @numba.njit(error_model="numpy")
    def function(x: Any) -> Any:
        out = np.empty_like(x)
        for i in range(x.shape[0]):
            out[i] = of_one(x[i])
        return out

    return function


def check(name: str) -> None:
    function, numpy, rng = of_all(name), getattr(np, name), np.random.default_rng(0)
    with np.errstate(all="ignore"):
        got, want = function(BEYOND), numpy(BEYOND)
        same = np.isnan(got) & np.isnan(want) | (np.signbit(got) == np.signbit(want))
        assert same.all(), (name, BEYOND[~same])
        np.testing.assert_allclose(got, want, rtol=2.3e-16, atol=5e-324)
        for low, high in RANGES[name]:
            x = rng.uniform(low, high, 40_000)
            got = function(x)
            np.testing.assert_allclose(got, numpy(x), rtol=4.5e-16, atol=5e-324)
            if np.finfo(np.longdouble).nmant >= 63:
                exact = numpy(x.astype(np.longdouble))
                units = np.abs(got - exact) / np.spacing(np.abs(exact).astype(np.float64))
                assert np.max(units) < UNITS[name], (name, low, high, np.max(units))
    x = rng.uniform(0.1, 5.0, 997)
    got = function(x)
    for start in range(20):
        for n in (0, 1, 2, 3, 7, 8, 15, 16, 33, 64):
            assert np.array_equal(function(x[start : start + n]), got[start : start + n])
    assert np.array_equal(function(np.repeat(x, 3)[::3]), got)  # elements that do not lie one after the other
    single = x.astype(np.float32)
    assert np.array_equal(function(single), numpy(single.astype(np.float64)).astype(np.float32))


def cell(x: Any, w: Any) -> Any:
    h = np.zeros(len(w))
    for t in range(len(x)):
        h = np.tanh(w * h + x[t]) / (1.0 + np.exp(-h))
    return np.sum(np.log(1.0 + h * h))


def main() -> None:
    assert not support.AS_PYTHON
    for name in RANGES:
        check(name)
    native = agree(cell, numbers(4), numbers(37, seed=1), argnums=(0, 1))
    assert not bailed(native)
    (program,) = programs(native)
    (assembly,) = program.run.inspect_asm().values()
    assert not any(f"${name}" in assembly or f"call {name}" in assembly for name in RANGES)
    x, w = numbers(4), numbers(200_000, seed=1)
    in_parts = ad.value_and_grad(cell, argnums=(0, 1), backend="native", parallel=True)
    results = []
    for threads in (1, 2):
        numba.set_num_threads(threads)
        value, (x_bar, w_bar) = in_parts(x, w)
        results.append((float(value), x_bar.tobytes(), w_bar.tobytes()))
    assert results[0] == results[1]
    elementary._has_fma = lambda: False  # type: ignore[assignment]
    for name in RANGES:
        check(name)
    print("all agree")


if __name__ == "__main__":
    main()
