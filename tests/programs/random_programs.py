"""Compares random programs with central differences, and with other ways to compile them.

    python -m tests.programs.random_programs --start 0 --count 1000 --all --jobs 2 --shrink

prints each program whose gradient is wrong, and how many were handled, refused and skipped. The text of program 17 of
level 2: ``python -m tests.programs.random_programs --show 17 --level 2``. ``--without numbers`` leaves a pass out, and
``--without each`` a pass of each program, by turns (`transforms.passes.optional_names`).
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import concurrent.futures.process
import contextlib
import re
import signal
import sys
import time
import types
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from autodiff_compiler.codegen import load as emitted
from autodiff_compiler.transforms import passes
from tests.programs.checks import CHECKS, Timeout, arguments, check_program, fresh, load, refusals, told
from tests.programs.generator import LEVELS, generate
from tests.programs.shrink import shrink

__all__ = [
    "arguments",
    "check",
    "check_in_time",
    "check_lowering",
    "fresh",
    "generate",
    "level_of",
    "load",
    "main",
    "shrink",
]

CHUNK = 20


def level_of(seed: int) -> int:
    """The level of program `seed`, where the levels take turns. The highest has every other turn."""
    return LEVELS - 1 if seed % 2 else seed // 2 % (LEVELS - 1)


def check(source: str, seed: int, *, second: bool = False, timeout: float = 20.0) -> str:
    """ "ok", "refused: ...", "skip: ..." (the program itself is no use) or "WRONG: ..."."""
    result = check_in_time(source, seed, ("plain", "warm", *(("second",) if second else ())), timeout)
    return "ok" if result.startswith("ok") else result


@contextlib.contextmanager
def nan_in_new_memory() -> Iterator[None]:
    """In emitted code, what `np.empty` makes is full of nan: otherwise, what is read of it is zero on most days."""
    poisoned = types.ModuleType("numpy")
    vars(poisoned).update(vars(np))
    for make in (np.empty, np.empty_like):

        def made(*args: Any, make: Any = make, **kwargs: Any) -> Any:
            out = make(*args, **kwargs)
            if out.dtype.kind in "fc":
                out[...] = np.nan
            return out

        setattr(poisoned, make.__name__, made)
    before, emitted.np = emitted.np, poisoned  # type: ignore[attr-defined]
    try:
        yield
    finally:
        emitted.np = before  # type: ignore[attr-defined]


def check_in_time(source: str, seed: int, checks: tuple[str, ...], timeout: float = 20.0) -> str:
    """As `program_checks.check_program`, with a limit of `timeout` seconds of this process's time.

    Waiting for a busy machine does not count, up to 30 times as many seconds in all."""
    timers = []
    if hasattr(signal, "SIGALRM"):
        timers = [(signal.SIGPROF, signal.ITIMER_PROF, timeout), (signal.SIGALRM, signal.ITIMER_REAL, 30 * timeout)]

    def expire(*_: Any) -> None:
        raise Timeout

    before = [signal.signal(number, expire) for number, _, _ in timers]
    for _, timer, seconds in timers:
        signal.setitimer(timer, seconds)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), nan_in_new_memory():
            warnings.simplefilter("ignore")
            return check_program(source, seed, checks)
    except Timeout:
        return f"WRONG: took more than {timeout:.0f} s"
    except Exception as error:
        return f"WRONG: the check raises {told(error)}"
    finally:
        for (number, timer, _), handler in zip(timers, before):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)


def check_lowering(source: str, seed: int) -> str:
    """Compare the interpreter's value of the lowered program with the plain call. Results are as for `check`."""
    from autodiff_compiler.frontend.lower import lower
    from autodiff_compiler.ir.interp import interpret
    from autodiff_compiler.ir.verify import verify
    from autodiff_compiler.lowered import fetch
    from tests.programs.checks import Program, Refused, Wrong

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        program = Program(source)
        for run, n in enumerate((4, 6, 4)):
            program.run = run
            args = arguments(source, 10 * seed + run, n)
            try:
                want = program.value(*args)
            except Exception as error:
                return f"skip: the program raises {error!r}"
            given = fresh(args)
            try:
                program.prepare()
                with refusals(""):
                    packed = program.pack(*given)
                    lowered = lower(program.f, packed)
                    verify(lowered.function)
                    _, values = program.gradient._dispatch.bind(packed, {})
                    leaves = [fetch(item.path, values) for item in lowered.inputs]
                    (got,) = interpret(lowered.function, leaves)
            except Refused as error:
                return f"refused: {error}"
            except Wrong as error:
                return f"WRONG: {error}"
            if not all(np.array_equal(a, b) for a, b in zip(args, given)):
                # Operations compute new values; one that writes into its operand was taken for something else.
                return "WRONG: an operation writes into its operand"
            if not np.allclose(got, want, rtol=1e-9, atol=1e-12, equal_nan=True):
                return f"WRONG: run {run}: the lowered program gives {got!r}, Python gives {want!r}"
    return "ok"


def reason_of(refused: str) -> str:
    """The text of a refusal without places and names, to count refusals by reason."""
    parts = refused.removeprefix("refused: ").split(" / ")
    message = [part for part in parts if not part.startswith("Instead: ")][-1]
    message = re.sub(r"'[^']*'", "'...'", message)
    return re.sub(r"line \d+ \([^)]*\)", "line ...", re.sub(r"\b[a-z_]*\d+\b", "...", message))[:110]


def examine(seeds: list[int], options: argparse.Namespace) -> list[tuple[int, str, str]]:
    """For each seed: its result, and the text of the program where that is of interest."""
    out = []
    for seed in seeds:
        level = level_of(seed) if options.level is None else options.level
        source = generate(seed, level)

        def run(text: str, seed: int = seed) -> str:
            with passes.leaving_out(left_out(options.without, seed)):
                return (
                    check_lowering(text, seed)
                    if options.lowering
                    else check_in_time(text, seed, chosen_checks(options, seed))
                )

        result = run(source)
        if result.startswith("WRONG") and options.without:
            result += f" (without {', '.join(left_out(options.without, seed))})"
        if result.startswith("WRONG") and options.shrink:
            reason = kind_of_failure(result)
            source = shrink(source, lambda text: kind_of_failure(run(text)) == reason)
            result = f"{run(source)}, smaller; it was {result}"
        out.append((seed, result, "" if result.startswith("ok") else source))
    return out


def left_out(without: list[str], seed: int) -> list[str]:
    """The passes that do not run for this program."""
    if without != ["each"]:
        return without
    names = passes.optional_names()
    return [names[seed // 8 % len(names)]]


def chosen_checks(options: argparse.Namespace, seed: int) -> tuple[str, ...]:
    """All kinds of checks, or those whose turn it is. Slow checks are not done for each program."""
    if options.all:
        return CHECKS
    if not options.turns:
        return tuple(
            [
                name
                for name in ("second", "tangent", "batch", "examples", "jacobian", "checkpoint", "budget", "loose")
                if getattr(options, name)
            ]
        )
    return turns(seed)


def turns(seed: int) -> tuple[str, ...]:
    """The check of the unoptimised adjoint for each program, slower checks for every other one."""
    own = ("plain", "warm", "float32") if seed // 2 % 2 else ("plain", "second", "tangent")
    turn = {1: "batch", 2: "checkpoint", 3: "budget", 4: "jacobian", 5: "loose", 7: "examples"}.get(seed % 8)
    return own if turn is None else (*own, turn)


def kind_of_failure(result: str) -> str:
    """The kind of a failure, which must stay the same while a program is made smaller."""
    if not result.startswith("WRONG"):
        return ""
    if " raises " in result:
        return re.sub(r"\d+", "", result.rpartition(" (")[2]) + result.partition(" raises ")[2].partition(":")[0]
    return re.sub(r"[-\d.e\[\]]+", "", result)[:24]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Check gradients of random programs against central differences.")
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--level", type=int, default=None, help=f"0 to {LEVELS - 1}; by default the levels take turns")
    parser.add_argument("--second", action="store_true", help="second derivatives too")
    parser.add_argument("--tangent", action="store_true", help="forward mode, against the gradient")
    parser.add_argument("--batch", action="store_true", help="stacks of tangents and of cotangents, against each alone")
    parser.add_argument("--jacobian", action="store_true", help="Jacobians, Hessians and linear functions too")
    parser.add_argument("--examples", action="store_true", help="ad.batch, against a loop over examples")
    parser.add_argument("--checkpoint", action="store_true", help="loops in segments, and a checkpoint of it")
    parser.add_argument("--budget", action="store_true", help="gradients within a budget of bytes")
    parser.add_argument("--loose", action="store_true", help="values and gradients with reassociate=True")
    parser.add_argument("--all", action="store_true", help="all kinds of checks of each program")
    parser.add_argument("--turns", action="store_true", help="all kinds of checks, the dearer ones by turns")
    parser.add_argument("--lowering", action="store_true", help="only lower, and run the IR interpreter on the result")
    parser.add_argument(
        "--without", action="append", default=[], choices=[*passes.optional_names(), "each"], metavar="PASS",
        help="leave an optional pass out, by its name; may be given again; 'each': one of each program, by turns",
    )  # fmt: skip
    parser.add_argument("--shrink", action="store_true", help="make failing programs smaller before printing them")
    parser.add_argument("--refused", action="store_true", help="print why programs were refused, most frequent first")
    parser.add_argument(
        "--refused-programs", metavar="WORD", help="print the refused programs whose error has the word"
    )
    parser.add_argument("--show", type=int, metavar="SEED", help="print one program and stop")
    parser.add_argument("--stop-after", type=int, default=10, help="stop after that many failures")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes")
    options = parser.parse_args(argv)
    if options.show is not None:
        print(generate(options.show, level_of(options.show) if options.level is None else options.level))
        return 0
    counts: collections.Counter[str] = collections.Counter()
    made: collections.Counter[str] = collections.Counter()
    reasons: dict[str, list[int]] = collections.defaultdict(list)
    began = time.monotonic()

    def take(results: list[tuple[int, str, str]]) -> bool:
        """Count a result, and print it if it is wrong. True if that is enough."""
        for seed, result, source in results:
            kind, _, rest = result.partition(":")
            counts[kind] += 1
            if kind == "ok":
                made.update(rest.split())
            elif kind == "refused":
                reasons[reason_of(result)].append(seed)
                if options.refused_programs and options.refused_programs in result:
                    print(f"--- seed {seed}: {result}\n{source}", flush=True)
            elif kind == "skip":
                reasons["(skipped) " + rest.strip()[:80]].append(seed)
            elif kind == "WRONG":
                print(f"--- seed {seed}: {result}\n{source}", flush=True)
        return counts["WRONG"] >= options.stop_after

    seeds = range(options.start, options.start + options.count)
    chunks = [list(seeds[k : k + CHUNK]) for k in range(0, len(seeds), CHUNK)]
    if options.jobs < 2:
        for chunk in chunks:
            if take(examine(chunk, options)):
                break
    else:
        in_processes(chunks, options, take)
    if options.refused:
        for reason, found in sorted(reasons.items(), key=lambda item: -len(item[1])):
            print(f"{len(found):5}  {reason}  (e.g. {found[0]})")
    took = time.monotonic() - began
    print(f"{dict(counts)}, checks made: {dict(made)}; {took:.0f} s")
    return 1 if counts["WRONG"] else 0


def in_processes(chunks: list[list[int]], options: argparse.Namespace, take: Any) -> None:
    """Run the chunks in `options.jobs` processes. A process that dies is a finding, too."""
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        waiting = {pool.submit(examine, chunk, options): chunk for chunk in chunks}
        for future in concurrent.futures.as_completed(waiting):
            try:
                results = future.result()
            except concurrent.futures.process.BrokenProcessPool:
                chunk = waiting[future]
                results = [
                    (chunk[0], f"WRONG: the process died, or that beside it, in seeds {chunk[0]} to {chunk[-1]}", "")
                ]
            if take(results):
                pool.shutdown(wait=False, cancel_futures=True)
                return


if __name__ == "__main__":
    sys.exit(main())
