"""The command line: show, explain, check and time the gradient of a function in a file.

python -m autodiff_compiler show  FILE.py:FUNCTION
python -m autodiff_compiler explain FILE.py:CLASS.METHOD
python -m autodiff_compiler check FILE.py
python -m autodiff_compiler coverage FILE.py
python -m autodiff_compiler doctor
python -m autodiff_compiler check FILE.py:FUNCTION --inputs "(np.ones(3), 0.5)"
python -m autodiff_compiler bench FILE.py:FUNCTION --inputs data.npz
"""

from __future__ import annotations

import argparse
import copy
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .checks import check
from .survey import check_file, coverage, doctor, version
from .targets import Target, UserError, call_primal, find_target, gradient_of, leaves_of, print_table

# The commands --------------------------------------------------------------------------------------


def show(target: Target, options: argparse.Namespace) -> int:
    call_primal(target, target.args)
    gradient = gradient_of(target)
    if options.passes:
        stages = gradient.passes(*target.args, **target.kwargs)
        text = "\n".join(f"# after the pass {name!r}\n{ir}" for name, ir in stages)
    elif options.ir:
        text = gradient.ir(*target.args, **target.kwargs)
    else:
        text = gradient.source(*target.args, **target.kwargs)
    print(_coloured(text.rstrip("\n"), options), flush=True)
    return 0


def _coloured(text: str, options: argparse.Namespace) -> str:
    if options.ir or options.passes or not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    try:
        from pygments import highlight
        from pygments.formatters import TerminalFormatter
        from pygments.lexers import PythonLexer
    except ImportError:
        return text
    return str(highlight(text, PythonLexer(), TerminalFormatter())).rstrip("\n")


def _time(call: Callable[[], Any], seconds: float) -> list[float]:
    """Seconds per call, in rounds that together take about `seconds`."""
    start = time.perf_counter()
    call()
    once = max(time.perf_counter() - start, 1e-7)
    rounds = 15
    number = max(1, int(seconds / rounds / once))
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(number):
            call()
        times.append((time.perf_counter() - start) / number)
        if sum(times) * number > 3 * seconds:
            break
    return times


def bench(target: Target, options: argparse.Namespace) -> int:
    given = copy.deepcopy(target.args)
    call_primal(target, target.args)
    target.function(*given, **copy.deepcopy(target.kwargs))
    writes = not all(
        np.array_equal(a, b)
        for (_, a), (_, b) in zip(leaves_of(given, ()), leaves_of(target.args, ()))
        if isinstance(a, np.ndarray)
    )
    # The disk cache would hide the time of compiling.
    saved = os.environ.get("AUTODIFF_COMPILER_CACHE")
    os.environ["AUTODIFF_COMPILER_CACHE"] = "off"
    try:
        start = time.perf_counter()
        gradient = gradient_of(target)
        gradient(*target.args, **target.kwargs)
        first = time.perf_counter() - start
    finally:
        if saved is None:
            del os.environ["AUTODIFF_COMPILER_CACHE"]
        else:
            os.environ["AUTODIFF_COMPILER_CACHE"] = saved
    if writes:
        primal = _time(lambda: target.function(*copy.deepcopy(target.args), **target.kwargs), options.seconds)
    else:
        primal = _time(lambda: target.function(*target.args, **target.kwargs), options.seconds)
    backward = _time(lambda: gradient(*target.args, **target.kwargs), options.seconds)
    rows = [
        ["primal", _pretty(min(primal)), _pretty(statistics.median(primal))],
        ["gradient", _pretty(min(backward)), _pretty(statistics.median(backward))],
        [
            "ratio",
            f"{min(backward) / min(primal):.2f}",
            f"{statistics.median(backward) / statistics.median(primal):.2f}",
        ],
        ["first gradient", _pretty(first), ""],
    ]
    print_table(["", "minimum", "median"], rows)
    if writes:
        print(f"({target.name} writes into its arguments: the primal's time includes copying them)")
    return 0


def explain(target: Target, options: argparse.Namespace) -> int:
    import autodiff_compiler as ad

    call_primal(target, target.args)
    given = copy.deepcopy(target.args), copy.deepcopy(target.kwargs)
    print(ad.explain(gradient_of(target), *given[0], **given[1]))
    return 0


def report(target: Target, options: argparse.Namespace) -> int:
    """The adjoint, the check and the timings, one after the other."""
    show(target, options)
    print()
    code = check(target, options)
    print()
    bench(target, options)
    return code


def _pretty(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


# The command line ----------------------------------------------------------------------------------


def _positive(text: str) -> int:
    value = int(text)
    if value <= 0:
        raise argparse.ArgumentTypeError("must be positive")
    return value


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("target", metavar="FILE.py:FUNCTION", help="a function or method; for check, maybe FILE.py")
    common.add_argument(
        "--inputs", metavar="EXPR|FILE.npz", help="arguments: a Python expression (np is there) or a .npz file"
    )
    common.add_argument("--argnums", metavar="A,B", help="arguments to differentiate by: positions or names")
    checking = argparse.ArgumentParser(add_help=False)
    checking.add_argument(
        "--entries", type=_positive, default=100, help="entries checked in each argument (default 100)"
    )
    checking.add_argument("--tolerance", type=float, help="relative error allowed (default 1e-6, for float32 1e-3)")
    timing = argparse.ArgumentParser(add_help=False)
    timing.add_argument("--seconds", type=float, default=0.5, help="how long to measure each side (default 0.5)")
    showing = argparse.ArgumentParser(add_help=False)
    showing.add_argument("--ir", action="store_true", help="print the SSA form, not Python")
    showing.add_argument("--passes", action="store_true", help="print the SSA form after each pass")
    parser = argparse.ArgumentParser(prog="autodiff_compiler", description="Show, check and time compiled gradients.")
    parser.add_argument("--version", action="version", version=version())
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("show", parents=[common, showing], help="print the generated adjoint").set_defaults(run=show)
    commands.add_parser("check", parents=[common, checking], help="compare with central differences").set_defaults(
        run=check
    )
    commands.add_parser("explain", parents=[common], help="what is active, saved, split, unknown, nan").set_defaults(
        run=explain
    )
    commands.add_parser("coverage", parents=[common], help="which functions of FILE.py compile").set_defaults(run=None)
    commands.add_parser("doctor", help="versions, cache and extras").set_defaults(run=None, target="")
    commands.add_parser("bench", parents=[common, timing], help="time primal and gradient").set_defaults(run=bench)
    every = commands.add_parser(
        "report", parents=[common, showing, checking, timing], help="all three: show, check, bench"
    )
    every.set_defaults(run=report)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; 0 if all is well, 1 if a check failed, 2 for an error."""
    options = _parser().parse_args(argv)
    from autodiff_compiler.errors import AutodiffError

    try:
        if options.command == "doctor":
            return doctor()
        if options.command == "coverage":
            return coverage(options.target, options)
        if options.command == "check" and options.target.endswith(".py"):
            return check_file(options.target, options)
        code: int = options.run(find_target(options), options)
        return code
    except (UserError, AutodiffError) as error:
        sys.stdout.flush()
        print(f"error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader closed the pipe. Python would fail to flush into it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
