"""Time, memory and lines of emitted value-and-gradient code over that by hand: `python -m benchmarks.run --by-hand`."""

from __future__ import annotations

import gc
import math
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

from . import all_programs
from .program import Program, code_lines

SECONDS = 0.4  # the least time of all rounds of both sides
COLUMNS = ("small", "large", "memory", "lines")


def take_turns(
    sides: dict[str, Callable[[], Any]], seconds: float = SECONDS, block: float = 1e-3,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, float]:  # fmt: skip
    """The least processor time of a call of each side, which take turns in blocks of `block` seconds or one call.

    clock: another time; `time.perf_counter` for calls that several threads compute
    """
    number = {}
    for name, call in sides.items():
        call()
        start = clock()
        call()
        number[name] = max(1, int(block / max(clock() - start, 1e-7)))
    best = dict.fromkeys(sides, math.inf)
    spent, rounds = 0.0, 0
    while rounds < 7 or (spent < seconds and rounds < 400):
        for name, call in sides.items():
            repeats = range(number[name])
            start = clock()
            for _ in repeats:
                call()
            taken = clock() - start
            if taken > 0.0:  # the clock of a virtual machine may stand still
                best[name] = min(best[name], taken / number[name])
            spent += taken
        rounds += 1
    return best


def peak(call: Callable[[], Any]) -> int:
    """The most bytes that a call allocates at one time. NumPy tells tracemalloc of its arrays."""
    call()
    gc.collect()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def measure(program: Program) -> dict[str, Any]:
    """Both sides of one program: seconds at two sizes, bytes at the large one, and lines."""
    import autodiff_compiler as ad

    compiled, loose = (
        ad.value_and_grad(program.function, argnums=program.argnums, reassociate=r) for r in (False, True)
    )
    small, large = program.inputs(program.small), program.inputs(program.large)
    out: dict[str, Any] = {"seconds": {}, "ratios": {}}
    for label, args in (("small", small), ("large", large)):
        times = take_turns(
            {
                "primal": lambda: program.function(*args),  # noqa: B023
                "hand": lambda: program.by_hand(*args),  # noqa: B023
                "ours": lambda: compiled(*args),  # noqa: B023
                "loose": lambda: loose(*args),  # noqa: B023
            }
        )
        out["seconds"][label] = times
        out["ratios"][label] = times["ours"] / times["hand"]
        out["ratios"][f"reassociated, {label}"] = times["loose"] / times["hand"]
        out["ratios"][f"primal, {label}"] = times["primal"] / times["hand"]
    out["bytes"] = {"hand": peak(lambda: program.by_hand(*large)), "ours": peak(lambda: compiled(*large))}
    out["lines"] = {"hand": program.lines, "ours": code_lines(compiled.source(*large))}
    for what in ("bytes", "lines"):
        out["ratios"]["memory" if what == "bytes" else what] = out[what]["ours"] / out[what]["hand"]
    return out


def measure_by_hand(only: list[str], pretty: Callable[[float], str], print_table: Any) -> dict[str, Any]:
    results: dict[str, Any] = {}
    rows = []
    for program in all_programs():
        if only and program.name not in only:
            continue
        print(f"... {program.name}", file=sys.stderr, flush=True)
        result = results[program.name] = measure(program)
        seconds, ratios = result["seconds"]["large"], result["ratios"]
        rows.append(
            [
                program.name,
                *[pretty(seconds[side]) for side in ("primal", "hand", "ours")],
                *[f"{ratios[column]:.2f}" for column in COLUMNS],
                f"{result['lines']['hand']}",
                f"{result['lines']['ours']}",
            ]
        )
    heads = ["program", "primal", "by hand", "ours", *[f"{c}, of by hand" for c in COLUMNS], "lines by hand", "lines"]
    print_table(rows, heads)
    if results:
        print()
    # The value of the function is that of the primal to the last bit. So its time is a bound, unless by hand it is
    # computed in another way.
    for column in (*COLUMNS, "reassociated, small", "reassociated, large", "primal, small", "primal, large"):
        ratios = [result["ratios"][column] for result in results.values()]
        if ratios:
            mean = math.exp(statistics.fmean(map(math.log, ratios)))
            median = statistics.median(ratios)
            print(f"{column}: geometric mean {mean:.3f}, median {median:.3f}, largest {max(ratios):.2f}")
    return results
