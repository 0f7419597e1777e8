"""Random programs against central differences.

    python -m tests.random_programs --start 0 --count 1000 --level 3 --second --shrink

prints each program whose gradient is wrong, and how many were handled, refused and skipped. The text of program 17 of
level 2: ``python -m tests.random_programs --show 17 --level 2``.
"""

from __future__ import annotations

import argparse
import ast
import collections
import copy
import linecache
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.program_generator import generate

__all__ = ["check", "check_lowering", "generate", "load", "main", "shrink"]

Args = tuple[np.ndarray, np.ndarray, float]
STEPS = (1e-4, 1e-5, 1e-6)
SECOND = """

def directional(x, y, s, vx, vy, vs):
    gx, gy, gs = gradient(x, y, s)
    return np.sum(gx * vx) + np.sum(gy * vy) + gs * vs
"""


class Timeout(Exception):
    pass


def load(source: str, name: str = "random_program") -> dict[str, Any]:
    """Run the source so that `inspect` finds it; the globals."""
    filename = f"<{name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"__name__": name}
    exec(compile(source, filename, "exec"), namespace)
    return namespace


def arguments(source: str, seed: int, n: int, m: int = 4) -> Args:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(m, n) if "m = x.shape[0]" in source else n)
    return x, rng.normal(size=n), float(rng.normal())


def fresh(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in args)


def shifted(args: tuple[Any, ...], k: int, index: Any, h: float) -> tuple[Any, ...]:
    out = list(fresh(args))
    if isinstance(out[k], np.ndarray):
        out[k][index] += h
    else:
        out[k] += h
    return tuple(out)


def judge(f: Callable[..., Any], args: tuple[Any, ...], k: int, index: Any, got: float, scale: float) -> bool | None:
    """Whether `got` is the derivative of `f`; None where central differences cannot tell (a kink or a jump is near)."""
    middle = float(f(*fresh(args)))
    estimates, one_sided = [], []
    for h in STEPS:
        up, down = float(f(*shifted(args, k, index, h))), float(f(*shifted(args, k, index, -h)))
        estimates.append((up - down) / (2 * h))
        one_sided.append(abs((up - middle) / h - (middle - down) / h))
        tolerance = 2e-5 * max(abs(estimates[-1]), 1.0, 0.01 * scale)
        if abs(estimates[-1] - got) <= tolerance:
            return True
    spread = max(estimates) - min(estimates)
    size = max(map(abs, estimates))
    # A smooth function's one-sided differences draw together as h shrinks; at a kink they stay apart, and at a jump
    # they run away.
    if not np.isfinite(spread) or spread > 1e-3 * max(size, 1e-2) or one_sided[1] > 1e-2 * max(size, 0.1):
        return None
    return bool(abs(estimates[1] - got) <= 2e-3 * max(size, 1e-2))


def compare(f: Callable[..., Any], gradient: tuple[Any, ...], args: tuple[Any, ...], what: str) -> str:
    """Compare with central differences for the first `len(gradient)` arguments; "" or what is wrong."""
    scale = abs(float(f(*fresh(args))))
    told = 0
    for k, g in enumerate(gradient):
        if np.shape(g) != np.shape(args[k]):
            return f"WRONG: {what} of argument {k} has shape {np.shape(g)}, not {np.shape(args[k])}"
        for index in np.ndindex(np.shape(g)):
            got = float(g[index]) if index else float(g)
            verdict = judge(f, args, k, index, got, scale)
            if verdict is False:
                h = STEPS[1]
                want = (float(f(*shifted(args, k, index, h))) - float(f(*shifted(args, k, index, -h)))) / (2 * h)
                return f"WRONG: {what} of argument {k} at {list(index)} is {got!r}, differences give {want!r}"
            told += verdict is True
    return "" if told else "skip"


def refusal(error: BaseException) -> bool:
    """An error that the compiler raises on purpose."""
    from autodiff_compiler.errors import AutodiffError

    return isinstance(error, AutodiffError)


def told(error: BaseException) -> str:
    """An exception that should not have been raised, and by which line."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({place.filename.rpartition('/')[2]}:{place.lineno})"


def check(source: str, seed: int, *, second: bool = False, timeout: int = 20) -> str:
    """ "ok", "refused: ...", "skip: ..." (the program itself is no use) or "WRONG: ..."."""
    usable = hasattr(signal, "SIGALRM")

    def expire(*_: Any) -> None:
        raise Timeout

    if usable:
        before = signal.signal(signal.SIGALRM, expire)
        signal.alarm(timeout)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return _check(source, seed, second)
    except Timeout:
        return f"WRONG: took more than {timeout} s"
    finally:
        if usable:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)


def check_lowering(source: str, seed: int) -> str:
    """What the IR interpreter computes from the lowered program, against the plain call; results as for `check`."""
    from autodiff_compiler.frontend.inputs import fetch
    from autodiff_compiler.frontend.lower import lower
    from autodiff_compiler.ir.interp import interpret
    from autodiff_compiler.ir.verify import verify

    f = load(source)["f"]
    lowered = None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for run, n in enumerate((4, 6, 4)):
            args = arguments(source, 10 * seed + run, n)
            try:
                want = f(*fresh(args))
            except Exception as error:
                return f"skip: the program raises {error!r}"
            try:
                if lowered is None:
                    lowered = lower(f, fresh(args))
                    verify(lowered.function)
                given = fresh(args)
                leaves = [fetch(item.path, given) for item in lowered.inputs]
                (got,) = interpret(lowered.function, leaves)
            except Exception as error:
                if refusal(error):
                    return f"refused: {' / '.join(str(error).strip().splitlines())}"
                return f"WRONG: raises {told(error)}"
            if not all(np.array_equal(a, b) for a, b in zip(args, given)):
                # Operations compute new values; one that writes into its operand was taken for something else.
                return "WRONG: an operation writes into its operand"
            if not np.allclose(got, want, rtol=1e-9, atol=1e-12, equal_nan=True):
                return f"WRONG: run {run}: the lowered program gives {got!r}, Python gives {want!r}"
    return "ok"


def _check(source: str, seed: int, second: bool) -> str:
    import autodiff_compiler as ad

    program = load(source + SECOND)
    f = program["f"]
    gradient = program["gradient"] = ad.grad(f, argnums=(0, 1, 2))
    compared = False
    # The second run is at another size, on what the first compiled; the third takes other branches.
    for run, n in enumerate((4, 6, 4)):
        args = arguments(source, 10 * seed + run, n)
        try:
            with np.errstate(over="raise"):
                value = f(*fresh(args))
        except Timeout:
            raise
        except FloatingPointError:
            continue  # infinity times zero in the gradient would be right
        except Exception as error:
            return f"skip: the program raises {error!r}"
        if not np.isfinite(value) or abs(value) > 1e5:
            continue
        given = fresh(args)
        try:
            got = gradient(*given)
            again = gradient(*given)
        except Timeout:
            raise
        except Exception as error:
            if refusal(error):
                return f"refused: {' / '.join(str(error).strip().splitlines())}"
            return f"WRONG: raises {told(error)}"
        for k, (a, b) in enumerate(zip(args, given)):
            if not np.array_equal(a, b):
                return f"WRONG: argument {k} was modified"
        for k, (a, b) in enumerate(zip(got, again)):
            if not np.array_equal(a, b, equal_nan=True):
                return f"WRONG: the second call gives another gradient for argument {k}"
            if isinstance(a, np.ndarray) and (np.shares_memory(a, b) or any(np.shares_memory(a, c) for c in given[:2])):
                return f"WRONG: the gradient of argument {k} is not a fresh array"
        problem = compare(f, got, args, f"run {run}: the gradient")
        if problem.startswith("WRONG"):
            return problem
        compared |= not problem
    if second and compared:
        problem = _check_second(program, source, seed)
        if problem:
            return problem
    return "ok" if compared else "skip: no usable point"


def _check_second(program: dict[str, Any], source: str, seed: int) -> str:
    import autodiff_compiler as ad

    args = arguments(source, 10 * seed, 4)
    rng = np.random.default_rng(seed)
    direction = (rng.normal(size=args[0].shape), rng.normal(size=args[1].shape), float(rng.normal()))
    h = program["directional"]
    try:
        got = ad.grad(h, argnums=(0, 1, 2))(*fresh(args), *direction)
    except Timeout:
        raise
    except Exception as error:
        if refusal(error):
            return f"refused: second order: {' / '.join(str(error).strip().splitlines())}"
        return f"WRONG: second order raises {told(error)}"
    value = h(*fresh(args), *direction)
    if not np.isfinite(value) or abs(value) > 1e5:
        return ""
    problem = compare(h, got, (*args, *direction), "the second derivative")
    return problem if problem.startswith("WRONG") else ""


# Making a failing program small --------------------------------------------------------------------


def _variants(tree: ast.Module) -> list[ast.Module]:
    """The program with one statement dropped, or one compound statement replaced by one of its bodies."""
    out = []
    blocks = [
        (k, name)
        for k, node in enumerate(ast.walk(tree))
        for name in ("body", "orelse")
        if isinstance(getattr(node, name, None), list)
    ]
    for k, name in blocks:
        node = list(ast.walk(tree))[k]
        for position, statement in enumerate(getattr(node, name)):
            if isinstance(statement, (ast.Import, ast.Pass)):
                continue
            replacements: list[list[ast.stmt]] = [[]]
            for inner in ("body", "orelse"):
                if getattr(statement, inner, None) and not isinstance(statement, ast.FunctionDef):
                    replacements.append(getattr(statement, inner))
            for replacement in replacements:
                clone = copy.deepcopy(tree)
                block = getattr(list(ast.walk(clone))[k], name)
                block[position : position + 1] = copy.deepcopy(replacement)
                if not block and name == "body":
                    block.append(ast.Pass())
                out.append(clone)
    return out


def shrink(source: str, failing: Callable[[str], bool], limit: int = 400) -> str:
    """A smaller program that still fails: drop statements for as long as that keeps the failure."""
    tree = ast.parse(source)
    progress = True
    while progress and limit > 0:
        progress = False
        for variant in _variants(tree):
            limit -= 1
            if limit <= 0:
                break
            text = ast.unparse(ast.fix_missing_locations(variant))
            try:
                if failing(text):
                    tree, progress = ast.parse(text), True
                    break
            except Timeout:
                raise
            except Exception:
                continue
    return ast.unparse(tree) + "\n"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Check gradients of random programs against central differences.")
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--level", type=int, default=None, help="0 to 3; by default the levels take turns")
    parser.add_argument("--second", action="store_true", help="second derivatives too")
    parser.add_argument("--lowering", action="store_true", help="only lower, and run the IR interpreter on the result")
    parser.add_argument("--shrink", action="store_true", help="make failing programs smaller before printing them")
    parser.add_argument("--refused", action="store_true", help="print the refused programs' errors too")
    parser.add_argument("--show", type=int, metavar="SEED", help="print one program and stop")
    parser.add_argument("--stop-after", type=int, default=10, help="stop after that many failures")
    options = parser.parse_args(argv)
    if options.show is not None:
        print(generate(options.show, 3 if options.level is None else options.level))
        return 0

    def examine(text: str, seed: int) -> str:
        return check_lowering(text, seed) if options.lowering else check(text, seed, second=options.second)

    counts: collections.Counter[str] = collections.Counter()
    reasons: collections.Counter[str] = collections.Counter()
    for seed in range(options.start, options.start + options.count):
        level = seed % 4 if options.level is None else options.level
        source = generate(seed, level)
        result = examine(source, seed)
        kind = result.partition(":")[0]
        counts[kind] += 1
        if kind == "refused":
            if options.refused:
                print(f"seed {seed} level {level}: {result}")
            reasons[result[9:70]] += 1
        if kind == "WRONG":
            reason = result.partition(" (<")[0][:60] if " raises " in result else result[:11]
            if options.shrink:
                source = shrink(source, lambda text: examine(text, seed).startswith(reason))
                result = examine(source, seed)
            print(f"--- seed {seed} level {level}: {result}\n{source}", flush=True)
            if counts["WRONG"] >= options.stop_after:
                break
    print(dict(counts))
    return 1 if counts["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main())
