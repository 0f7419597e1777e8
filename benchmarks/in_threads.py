"""Loops that threads run in parts: machine code with ``parallel=True`` on one thread and on two, and without.

``python -m benchmarks.run --native`` times these programs, too.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .by_hand.measuring import take_turns
from .in_numba import all_cases


def elements(x: np.ndarray) -> Any:
    """One nest of loops over the elements of an array."""
    return np.sum(np.sin(x) * np.exp(-x) / (1.0 + x * x))


def iterations(x: np.ndarray) -> Any:
    """A loop that fills an array, with a loop inside whose numbers are saved."""
    y = np.zeros_like(x)
    for i in range(len(x)):
        t = np.sin(x[i])
        for _ in range(10):
            t = t * t + 0.1
        y[i] = t
    return np.sum(y * y)


def rows(a: np.ndarray) -> Any:
    """A sum over the rows of a matrix."""
    s = 0.0
    for i in range(a.shape[0]):
        s += np.log(np.sum(np.exp(a[i])))
    return s


def stencil(u: np.ndarray, n: int) -> Any:
    """Steps in time, each over all elements."""
    for _ in range(n):
        u[1:-1] = 0.25 * u[:-2] + 0.5 * u[1:-1] + 0.25 * u[2:]
    return np.sum(u * u)


def examples(w: np.ndarray, xs: np.ndarray) -> Any:
    """A loop over examples that share their weights."""
    s = 0.0
    for i in range(len(xs)):
        for j in range(w.shape[0]):
            s += np.tanh(np.sum(w[j] * xs[i])) ** 2
    return s


def programs() -> list[tuple[Callable[..., Any], tuple[Any, ...]]]:
    rng = np.random.default_rng(0)
    return [
        (elements, (rng.random(500_000),)),
        (iterations, (rng.random(200_000),)),
        (rows, (rng.random((1000, 500)),)),
        (stencil, (rng.random(200_000), 20)),
        (examples, (rng.random((40, 30)), rng.random((2000, 30)))),
    ]


def with_threads(count: int, call: Callable[[], Any]) -> Callable[[], Any]:
    """The call with so many threads, or with all there are."""
    import numba

    most: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]

    def run() -> Any:
        numba.set_num_threads(min(count, most))  # type: ignore[no-untyped-call]
        try:
            return call()
        finally:
            numba.set_num_threads(most)  # type: ignore[no-untyped-call]

    return run


def measure_threads(only: list[str], pretty: Callable[[float], str], print_table: Any) -> dict[str, Any]:
    """Measure the programs that are named, or all, and those of benchmarks/in_numba, and print a table."""
    import autodiff_compiler as ad

    results: dict[str, Any] = {}
    table = []
    every = [(f.__name__, f, args, 0) for f, args in programs()]
    every += [(case.name, case.function, case.inputs(case.large), case.argnums) for case in all_cases()]
    for name, f, args, argnums in every:
        if only and name not in only:
            continue
        print(f"... {name}", file=sys.stderr, flush=True)
        first: dict[str, float] = {}
        sides: dict[str, Callable[[], Any]] = {}
        values = []
        for label, options in (("plain", {}), ("parts", {"parallel": True})):
            g: Any = ad.value_and_grad(f, argnums=argnums, backend="native", **options)  # type: ignore[call-overload]
            start = time.perf_counter()
            values.append(g(*args))
            first[label] = time.perf_counter() - start
            sides[label] = lambda g=g: g(*args)  # type: ignore[misc]  # noqa: B023
        parts = sides.pop("parts")
        sides["1 thread"], sides["2 threads"] = with_threads(1, parts), with_threads(2, parts)
        one, two = sides["1 thread"](), sides["2 threads"]()
        one, two, plain, parted = [[v, *d] if isinstance(d, tuple) else [v, d] for v, d in (one, two, *values)]
        right = all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
        right &= all(np.allclose(a, b, rtol=1e-7, atol=1e-9) for a, b in zip(plain, parted, strict=True))
        times = take_turns(sides, seconds=4.0, clock=time.perf_counter)
        results[f"{name} in threads"] = {"seconds": times, "first": first, "note": "" if right else "WRONG"}
        ratio = f"{times['plain'] / times['2 threads']:.2f}"
        cells = [pretty(times[k]) for k in ("plain", "1 thread", "2 threads")]
        table.append(
            [name, *cells, ratio, *[f"{first[k]:.1f} s" for k in ("plain", "parts")], "" if right else "WRONG"]
        )
    if table:
        heads = ["program", "native", "in parts, 1 thread", "2 threads", "native / 2 threads"]
        print_table(table, [*heads, "first native", "first in parts", ""])
        print()
    return results
