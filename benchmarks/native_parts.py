"""Pullbacks of ``vjp``, functions of ``linearize`` and gradients on the tape, as NumPy code and as machine code.

``python -m benchmarks.run --native`` prints both tables. Times are the least of calls that take turns.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .by_hand.measuring import take_turns

BACKENDS = ("numpy", "native")


def stencil(u):
    for _ in range(50):
        u[1:-1] = 0.25 * u[:-2] + 0.5 * u[1:-1] + 0.25 * u[2:]
    return np.sum(u * u)


def numbers(x):
    s = x[0]
    for _ in range(1000):
        s = s + 0.001 * math.sin(s) * s
    return s


def sines(x):
    return np.sin(x) * x


def functions() -> list[tuple[str, Callable[..., Any], tuple[Any, ...]]]:
    line = np.linspace(0.0, 1.0, 10_000)
    return [
        ("stencil_of_100", stencil, (line[::100].copy(),)),
        ("stencil_of_10000", stencil, (line,)),
        ("numbers", numbers, (line[100:110].copy(),)),
        ("sines", sines, (line[100:110].copy(),)),
    ]


def measure_pullbacks(only: list[str], pretty: Callable[[float], str], print_table: Any) -> dict[str, Any]:
    """Measure forward sweeps, pullbacks and linear functions, and print a table."""
    import autodiff_compiler as ad

    results: dict[str, Any] = {}
    table = []
    for name, f, args in functions():
        if only and name not in only:
            continue
        print(f"... {name}", file=sys.stderr, flush=True)
        sides: dict[str, Callable[[], Any]] = {}
        given: dict[str, list[Any]] = {}
        for backend in BACKENDS:
            value, pullback = ad.vjp(f, *args, backend=backend)  # type: ignore[call-overload]
            _, linear = ad.linearize(f, *args, backend=backend)  # type: ignore[call-overload]
            tangents = [np.ones_like(x) for x in args]
            seed = np.ones_like(value) if np.ndim(value) else 1.0
            given[backend] = [value, *pullback(seed), linear(*tangents)]
            sides[f"forward {backend}"] = lambda b=backend: ad.vjp(f, *args, backend=b)  # type: ignore  # noqa: B023
            sides[f"pullback {backend}"] = lambda p=pullback, s=seed: p(s)  # type: ignore[misc]
            sides[f"linear {backend}"] = lambda p=linear, t=tangents: p(*t)  # type: ignore[misc]
        right = all(np.allclose(a, b) for a, b in zip(*given.values(), strict=True))
        times = take_turns(sides, seconds=3.0)
        results[name] = {"seconds": times, "note": "" if right else "WRONG"}
        cells = [pretty(times[f"{what} {b}"]) for what in ("forward", "pullback", "linear") for b in BACKENDS]
        table.append([name, *cells, results[name]["note"]])
    if table:
        heads = [f"{what}, {b}" for what in ("forward", "pullback", "linear function") for b in BACKENDS]
        print_table(table, ["program", *heads, ""])
        print()
    return results


def network(layers: int, width: int, rows: int) -> Callable[[Any], tuple[Any, list[Any]]]:
    import autodiff_compiler as ad

    rng = np.random.default_rng(0)
    weights = [ad.Variable(rng.normal(size=(width, width)) / width**0.5) for _ in range(layers)]
    x = rng.normal(size=(rows, width))

    def block() -> Any:
        h: Any = x
        for w in weights:
            h = np.tanh(h @ w)
        return np.sum(h * h)

    return lambda tape: (block(), weights)


def steps(count: int) -> Callable[[Any], tuple[Any, list[Any]]]:
    import autodiff_compiler as ad

    start = ad.Variable(0.7)

    def block() -> Any:
        x: Any = start
        for _ in range(count):
            x = x + 0.01 * np.sin(x) * x
        return x

    return lambda tape: (block(), [start])


def measure_tape(only: list[str], pretty: Callable[[float], str], print_table: Any) -> dict[str, Any]:
    """Measure the recording of a step, its gradient with each backend, and the first gradient, and print a table."""
    import autodiff_compiler as ad

    results: dict[str, Any] = {}
    table = []
    blocks = {
        "two_layers_of_16": network(2, 16, 1),
        "two_layers_of_64": network(2, 64, 32),
        "six_layers_of_16": network(6, 16, 1),
        "50_steps": steps(50),
        "200_steps": steps(200),
    }
    for name, block in blocks.items():
        if only and name not in only:
            continue
        print(f"... {name}", file=sys.stderr, flush=True)
        best = {"recorded": math.inf, **dict.fromkeys(BACKENDS, math.inf)}
        first: dict[str, float] = {}
        found: dict[str, list[Any]] = {}
        for k in range(400):
            for backend in BACKENDS:
                times = [time.perf_counter()]
                with ad.GradientTape(backend=backend) as tape:
                    target, sources = block(tape)
                times.append(time.perf_counter())
                found[backend] = [np.asarray(g) for g in tape.gradient(target, sources)]
                times.append(time.perf_counter())
                first.setdefault(backend, times[2] - times[1])
                if k > 1:  # the first use of a structure may call the rules
                    best["recorded"] = min(best["recorded"], times[1] - times[0])
                    best[backend] = min(best[backend], times[2] - times[1])
                else:
                    first[backend] = max(first[backend], times[2] - times[1])
        right = all(np.allclose(a, b) for a, b in zip(*found.values(), strict=True))
        results[name] = {"seconds": best, "first": first, "note": "" if right else "WRONG"}
        cells = [pretty(best[k]) for k in ("recorded", *BACKENDS)]
        table.append([name, *cells, f"{first['native']:.1f} s", results[name]["note"]])
    if table:
        print_table(table, ["on the tape", "recorded", "gradient, numpy", "native", "first, native", ""])
        print()
    return results


__all__ = ["measure_pullbacks", "measure_tape"]
