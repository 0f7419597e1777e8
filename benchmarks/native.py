"""Machine code against Numba and JAX, NumPy code and adjoints by hand: ``python -m benchmarks.run --native``.

The programs of benchmarks/in_numba are compared with adjoints by hand in Numba, and with JAX if it is installed. Those
of benchmarks/by_hand are compared with NumPy code. Those of benchmarks/in_threads run on one thread and on two, and
those of benchmarks/native_parts are pullbacks and training steps on the tape. The first call is that of this process,
which compiles: the disk cache is off. Times are the least of calls that take turns.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .by_hand import all_programs
from .by_hand.measuring import take_turns
from .by_hand.program import Program
from .in_numba import all_cases
from .in_numba.case import Case
from .in_threads import measure_threads
from .native_guards import measure_guards
from .native_parts import measure_pullbacks, measure_tape

SIDES = ("hand", "numpy")


def measure(program: Program) -> dict[str, Any]:
    """Seconds of the three sides at two sizes and of the first call, and how many times machine code is faster."""
    import autodiff_compiler as ad

    native: Any = ad.value_and_grad(program.function, argnums=program.argnums, backend="native")
    emitted = ad.value_and_grad(program.function, argnums=program.argnums)
    small, large = program.inputs(program.small), program.inputs(program.large)
    start = time.perf_counter()
    got = native(*small)
    out: dict[str, Any] = {"first": time.perf_counter() - start, "seconds": {}, "ratios": {}, "note": _note(native)}
    for a, b in zip((got[0], *got[1]), (lambda want: (want[0], *want[1]))(emitted(*small)), strict=True):
        if not np.allclose(a, b, rtol=1e-8, atol=1e-10):
            out["note"] = "WRONG"
    for label, args in (("small", small), ("large", large)):
        times = take_turns(
            {
                "native": lambda: native(*args),  # noqa: B023
                "hand": lambda: program.by_hand(*args),  # noqa: B023
                "numpy": lambda: emitted(*args),  # noqa: B023
            }
        )
        out["seconds"][label] = times
        out["ratios"][label] = {side: times[side] / times["native"] for side in SIDES}
    out["note"] = out["note"] or _note(native)
    return out


def _note(native: Any) -> str:
    """Why the calls are not machine code, or nothing."""
    from autodiff_compiler.native.support import Native

    reasons = [line for line in str(native.source()).splitlines() if line.startswith("# no machine code")]
    if reasons:
        return reasons[0][2:]
    for entries in native._dispatch.entries.values():
        for entry in entries:
            for value in entry.run.__globals__.values():
                if isinstance(value, Native) and (value.stopped or value.bails):
                    return value.stopped or "left to NumPy"
    return ""


def jax_side(case: Case, args: tuple[Any, ...]) -> Callable[[], Any] | None:
    """A call of the gradient that JAX compiles, of arrays that are its own; None where it is not installed."""
    # Each side has one thread. JAX reads this when it is loaded.
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    try:
        import jax
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    compiled = jax.jit(jax.value_and_grad(case.in_jax(), argnums=case.argnums), static_argnums=case.static)
    own = [x if k in case.static else jax.numpy.asarray(x) for k, x in enumerate(args)]
    return lambda: jax.block_until_ready(compiled(*own))


def measure_case(case: Case) -> dict[str, Any]:
    """Seconds of a call and of the first one, for each side."""
    import numba

    import autodiff_compiler as ad

    args = case.inputs(case.large)
    native: Any = ad.value_and_grad(case.function, argnums=case.argnums, backend="native")
    emitted = ad.value_and_grad(case.function, argnums=case.argnums)
    # Sums may be taken in another order, as ours are; nothing else may be computed otherwise.
    in_numba = numba.njit(error_model="numpy", fastmath={"reassoc", "nsz"})(case.in_numba)
    sides: dict[str, Callable[[], Any]] = {
        "native": lambda: native(*args),
        "numba": lambda: in_numba(*args),
        "numpy": lambda: emitted(*args),
        "primal": lambda: case.function(*args),
    }
    in_jax = jax_side(case, args)
    if in_jax is not None:
        sides["jax"] = in_jax
    first, want = {}, emitted(*args)
    note = ""
    for side, call in sides.items():
        start = time.perf_counter()
        got = call()
        first[side] = time.perf_counter() - start
        if side == "primal":
            continue
        flat = got if side == "numba" else (got[0], *got[1])
        if not all(
            np.allclose(a, b, rtol=1e-7, atol=1e-9 * np.max(np.abs(b)))
            for a, b in zip(flat, (want[0], *want[1]), strict=True)
        ):
            note = f"WRONG: {side}"
    times = take_turns(sides, seconds=2.0, block=2e-2)  # a short block would measure what others left in the caches
    return {"seconds": times, "first": first, "note": note or _note(native)}


def measure_cases(only: list[str], pretty: Callable[[float], str], print_table: Any) -> dict[str, Any]:
    """Measure the programs of benchmarks/in_numba that are named, or all, and print a table."""
    results: dict[str, Any] = {}
    rows = []
    for case in all_cases():
        if only and case.name not in only:
            continue
        print(f"... {case.name}", file=sys.stderr, flush=True)
        result = results[case.name] = measure_case(case)
        times = result["seconds"]
        over = [f"{times[k] / times['primal']:.3g}" if k in times else "-" for k in ("native", "numba", "jax", "numpy")]
        pairs = [("native", "numba"), ("jax", "native")]
        ratios = [f"{times[a] / times[b]:.2f}" if a in times else "-" for a, b in pairs]
        firsts = [f"{result['first'][k]:.1f} s" if k in times else "-" for k in ("native", "numba", "jax")]
        rows.append([case.name, pretty(times["primal"]), *over, *ratios, *firsts, result["note"]])
    if not rows:
        return results
    heads = ["program", "primal", "native", "Numba", "JAX", "NumPy code", "native/Numba", "JAX/native"]
    print_table(rows, [*heads, "first native", "first Numba", "first JAX", ""])
    print("\nTimes of value and gradient are over that of the primal.")
    for a, b in (("native", "numba"), ("jax", "native"), ("numpy", "native")):
        ratios = [r["seconds"][a] / r["seconds"][b] for r in results.values() if a in r["seconds"]]
        if ratios:
            mean = math.exp(statistics.fmean(map(math.log, ratios)))
            print(f"{a} over {b}: geometric mean {mean:.2f}, least {min(ratios):.2f}, largest {max(ratios):.2f}")
    print()
    return results


def measure_native(only: list[str], pretty: Callable[[float], str], print_table: Any) -> dict[str, Any]:
    """Measure the programs named, or all, and print tables."""
    os.environ["AUTODIFF_COMPILER_CACHE"] = "off"
    every = (measure_cases, measure_pullbacks, measure_tape, measure_guards, measure_threads, measure_programs)
    return {name: found for table in every for name, found in table(only, pretty, print_table).items()}


def measure_programs(only: list[str], pretty: Callable[[float], str], print_table: Any) -> dict[str, Any]:
    """Measure the programs of benchmarks/by_hand that are named, or all, and print a table."""
    results: dict[str, Any] = {}
    rows = []
    for program in all_programs():
        if only and program.name not in only:
            continue
        print(f"... {program.name}", file=sys.stderr, flush=True)
        result = results[program.name] = measure(program)
        cells = [f"{result['ratios'][size][side]:.2f}" for size in ("small", "large") for side in SIDES]
        seconds = [pretty(result["seconds"][size]["native"]) for size in ("small", "large")]
        rows.append([program.name, f"{result['first']:.1f} s", *seconds, *cells, result["note"]])
    if not rows:
        return results
    heads = ["program", "first call", "small", "large"]
    heads += [f"{side} / native, {size}" for size in ("small", "large") for side in ("by hand", "NumPy code")]
    print_table(rows, [*heads, ""])
    compiled = [result for result in results.values() if not result["note"]]
    for size in ("small", "large"):
        for side in SIDES:
            ratios = [result["ratios"][size][side] for result in compiled]
            if ratios:
                mean = math.exp(statistics.fmean(map(math.log, ratios)))
                what = f"{size}, {side} / native: geometric mean {mean:.2f}, least {min(ratios):.2f}"
                print(f"{what}, {len(ratios)} programs")
    firsts = sorted(result["first"] for result in compiled)
    if firsts:
        print(f"first call: median {statistics.median(firsts):.1f} s, largest {firsts[-1]:.1f} s")
    return results
