"""Times compiled gradients against the primal, a hand-written adjoint and autograd, all in one process.

    python -m benchmarks.run                    # everything
    python -m benchmarks.run --only chain mlp   # some workloads
    python -m benchmarks.run --kernels          # the kernels of benchmarks/kernels, without a hand-written side
    python -m benchmarks.run --derivatives      # Jacobians, Hessians, products and tangents
    python -m benchmarks.run --tape             # SGD steps on the tape, with TensorFlow, PyTorch and JAX if installed
    python -m benchmarks.run --by-hand          # programs with adjoints by hand: time, memory and lines
    python -m benchmarks.run --native           # the same programs as machine code: needs Numba
    python -m benchmarks.run --sparse           # a sparse Jacobian: finding its pattern, colouring, evaluating
    python -m benchmarks.run --json out.json    # the numbers, for a script

The sides take turns, so that a slow phase of the machine hits all of them. Each gradient is first compared with the
hand-written one. Ratios are those of the least times. Beside them is the median of the rounds' ratios.
"""

from __future__ import annotations

import os

# One thread. NumPy's linear algebra library reads these once, when it is loaded.
for _name in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
):
    os.environ[_name] = "1"

import argparse  # noqa: E402
import importlib  # noqa: E402
import json  # noqa: E402
import platform  # noqa: E402
import shutil  # noqa: E402
import statistics  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable  # noqa: E402
from pathlib import Path  # noqa: E402
from types import ModuleType  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

WORKLOADS = ["logistic", "mlp", "chain", "recurrence", "rnn", "stencil", "trisolve", "per_example"]
ROOT = Path(__file__).resolve().parent.parent
BLOCK_SECONDS = 0.004  # the length of one block of calls of one side


def as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def largest_difference(got: Any, want: Any) -> float:
    """The largest relative difference between two gradients."""
    worst = 0.0
    for a, b in zip(as_tuple(got), as_tuple(want), strict=True):
        if np.shape(a) != np.shape(b):
            return float("inf")
        scale = max(float(np.max(np.abs(b), initial=0.0)), 1e-30)
        difference = float(np.max(np.abs(np.asarray(a) - np.asarray(b)), initial=0.0)) / scale
        worst = difference if not difference <= worst else worst  # keeps a nan
    return worst


def time_sides(sides: dict[str, Callable[[], Any]], rounds: int) -> dict[str, list[float]]:
    """Seconds per call for each side and round. In each round the sides take turns."""
    number = {}
    for name, call in sides.items():
        call()
        start = time.perf_counter()
        call()
        number[name] = max(1, int(BLOCK_SECONDS / max(time.perf_counter() - start, 1e-7)))
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, call in sides.items():
            repeats = range(number[name])
            start = time.perf_counter()
            for _ in repeats:
                call()
            times[name].append((time.perf_counter() - start) / number[name])
    return times


def ratio(times: dict[str, list[float]], a: str, b: str) -> dict[str, float] | None:
    if a not in times or b not in times:
        return None
    each = [x / y for x, y in zip(times[a], times[b])]
    return {"min": min(times[a]) / min(times[b]), "median": statistics.median(each)}


def measure(module: ModuleType, size: Any, rounds: int) -> dict[str, Any]:
    """Time all sides of one workload at one size."""
    args = module.inputs(size)
    want = module.by_hand(*args)
    sides: dict[str, Callable[[], Any]] = {
        "primal": lambda: module.primal(*args),
        "hand": lambda: module.by_hand(*args),
    }
    if hasattr(module, "by_algebra"):
        sides["algebra"] = lambda: module.by_algebra(*args)
    notes: list[str] = []
    differences = {}

    def add(name: str, make: Callable[[], Callable[..., Any]]) -> None:
        try:
            gradient = make()
            difference = largest_difference(gradient(*args), want)
        except Exception as error:  # a side that fails must not hide the numbers of the others
            lines = str(error).strip().splitlines() or [""]
            notes.append(f"{name}: {type(error).__name__}: {lines[0]}")
            return
        differences[name] = difference
        if not difference < 1e-6:
            notes.append(f"{name}: WRONG, differs by {difference:.1e}")
            return
        sides[name] = lambda: gradient(*args)

    def ours() -> Callable[..., Any]:
        import autodiff_compiler as ad

        if hasattr(module, "derived"):
            return module.derived()  # type: ignore[no-any-return]
        return ad.grad(module.primal, argnums=module.ARGNUMS)

    add("ours", ours)
    if hasattr(module, "jax_version"):
        add("jax", module.jax_version)
    if hasattr(module, "autograd_version"):
        add("autograd", module.autograd_version)
    times = time_sides(sides, rounds)
    pairs = [
        ("ours", "hand"),
        ("ours", "primal"),
        ("hand", "primal"),
        ("autograd", "primal"),
        ("autograd", "ours"),
        ("ours", "algebra"),
        ("ours", "jax"),
    ]
    return {
        "seconds": {k: {"min": min(v), "median": statistics.median(v)} for k, v in times.items()},
        "ratios": {f"{a}/{b}": ratio(times, a, b) for a, b in pairs if ratio(times, a, b)},
        "differences": differences,
        "notes": notes,
    }


def linear_source(lines: int, name: str = "generated") -> str:
    """The text of a function with this number of lines. It has one loop and one branch, which grow with the number."""
    third = (lines - 6) // 3
    rest = lines - 6 - 2 * third
    steps = ["a = np.sin(a) + b", "b = a * s + c", "c = np.tanh(b) * a", "a = a * b - 0.5 * c"]
    body = [f"def {name}(x, s):", "    a = b = c = x"]
    body += [f"    {steps[k % 4]}" for k in range(rest)]
    body += ["    for i in range(3):"] + [f"        {steps[k % 4]}" for k in range(third)]
    body += ["    if s > 0:"] + [f"        {steps[k % 4]}" for k in range(third - 1)]
    body += ["    else:", "        a = a * s", "    return np.sum(a * b + c)"]
    return "\n".join(body) + "\n"


FIRST_GRADIENT = """
import importlib.util, sys, time
import numpy as np
import autodiff_compiler as ad
spec = importlib.util.spec_from_file_location("generated_module", sys.argv[1])
module = importlib.util.module_from_spec(spec)
sys.modules["generated_module"] = module
spec.loader.exec_module(module)
x = np.linspace(0.1, 1.0, 16)
start = time.perf_counter()
ad.grad(module.generated)(x, 0.3)
first = time.perf_counter() - start
print(first)
"""

IMPORT_TIME = """
import time
import numpy
start = time.perf_counter()
import autodiff_compiler
print(time.perf_counter() - start)
"""


def in_new_process(script: str, *args: str, cache: str) -> float:
    environment = {**os.environ, "AUTODIFF_COMPILER_CACHE": cache, "PYTHONPATH": str(ROOT)}
    # An installed package has its bytecode. The variable would forbid to write it, so that each import compiles anew.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = os.path.join(tempfile.gettempdir(), f"autodiff-bench-{os.getpid()}")
    done = subprocess.run(
        [sys.executable, "-c", script, *args], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return float(done.stdout)


def summary(values: list[float]) -> dict[str, float]:
    return {"min": min(values), "median": statistics.median(values)}


def measure_start(repeats: int) -> dict[str, Any]:
    """Import time, and time to the first gradient with and without the disk cache. Each has its own processes."""
    in_new_process(IMPORT_TIME, cache="off")  # writes the bytecode
    out: dict[str, Any] = {"import": summary([in_new_process(IMPORT_TIME, cache="off") for _ in range(repeats)])}
    with tempfile.TemporaryDirectory() as folder:
        for lines in (60, 120, 240):
            path = os.path.join(folder, f"lines_{lines}.py")
            Path(path).write_text("import numpy as np\n\n\n" + linear_source(lines))
            cold = [in_new_process(FIRST_GRADIENT, path, cache="off") for _ in range(repeats)]
            cache = os.path.join(folder, "cache")
            in_new_process(FIRST_GRADIENT, path, cache=cache)  # fills it
            warm = [in_new_process(FIRST_GRADIENT, path, cache=cache) for _ in range(repeats)]
            out[f"first gradient, {lines} lines"] = summary(cold)
            out[f"first gradient, {lines} lines, from disk"] = summary(warm)
    return out


def _product_of_three(a: Any, b: Any, c: Any) -> Any:
    return np.sum(a * b * c)


def _product_by_hand(a: Any, b: Any, c: Any) -> Any:
    return b * c


def _float_product(a: Any, b: Any, c: Any) -> Any:
    return a * b * c


def measure_overhead(rounds: int) -> dict[str, Any]:
    """The time of a gradient with one multiplication, and of a plain function with it. The difference is overhead."""
    import autodiff_compiler as ad

    out = {}
    arrays = tuple(np.random.default_rng(6).normal(size=(3, 4)))
    for kind, primal, args in [("arrays", _product_of_three, arrays), ("floats", _float_product, (1.5, 2.5, 3.5))]:
        gradient = ad.grad(primal)
        times = time_sides({"ours": lambda: gradient(*args), "hand": lambda: _product_by_hand(*args)}, rounds)  # noqa: B023
        out[f"call overhead, three {kind}"] = {
            "min": min(times["ours"]) - min(times["hand"]),
            "median": statistics.median(times["ours"]) - statistics.median(times["hand"]),
        }
    return out


def pretty(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if abs(seconds) >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def print_table(rows: list[list[str]], head: list[str]) -> None:
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]
    for row in [head, ["-" * w for w in widths], *rows]:
        print(
            "  ".join(
                cell.ljust(w) if k == 0 else cell.rjust(w) for k, (cell, w) in enumerate(zip(row, widths))
            ).rstrip()
        )


def run_workloads(names: list[str], rounds: int) -> dict[str, Any]:
    results: dict[str, Any] = {}
    columns = ["ours/hand", "ours/primal", "hand/primal", "autograd/primal", "autograd/ours"]
    rows = []
    for name in names:
        module = importlib.import_module(f"benchmarks.{name}")
        for label, size in module.SIZES.items():
            print(f"... {module.NAME}, {label}", file=sys.stderr, flush=True)
            result = results[f"{module.NAME}, {label}"] = measure(module, size, rounds)
            row = [f"{module.NAME}, {label}", *[pretty(result["seconds"][k]["min"]) for k in ("primal", "hand")]]
            row.append(pretty(result["seconds"]["ours"]["min"]) if "ours" in result["seconds"] else "-")
            for column in columns:
                value = result["ratios"].get(column)
                row.append("-" if value is None else f"{value['min']:.3g} ({value['median']:.3g})")
            rows.append(row)
    print_table(rows, ["workload", "primal", "hand", "ours", *columns])
    print("\nTimes are minima. Ratios: of the minima, and in parentheses the median over the rounds.")
    for name, result in results.items():
        for note in result["notes"]:
            print(f"note: {name}: {note}")
        algebra = result["ratios"].get("ours/algebra")
        if algebra:
            print(f"note: {name}: {algebra['min']:.3g} times an adjoint simplified with insight (by_algebra)")
    return results


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Time compiled gradients against hand-written ones and autograd.")
    parser.add_argument("--only", nargs="+", choices=[*WORKLOADS, "start", "overhead"], help="run only these")
    parser.add_argument("--rounds", type=int, default=30, help="how often the sides take turns (default 30)")
    parser.add_argument("--repeats", type=int, default=9, help="processes per start-up measurement (default 9)")
    parser.add_argument("--kernels", nargs="*", metavar="NAME", help="run the kernels, or those named, instead")
    parser.add_argument("--tape", action="store_true", help="run the tape's training steps instead")
    parser.add_argument("--derivatives", action="store_true", help="run Jacobians, Hessians and tangents instead")
    parser.add_argument("--sparse", action="store_true", help="run the sparse Jacobians instead")
    parser.add_argument("--by-hand", nargs="*", metavar="NAME", help="run the programs with adjoints by hand instead")
    parser.add_argument("--native", nargs="*", metavar="NAME", help="run the same programs as machine code instead")
    parser.add_argument("--json", metavar="FILE", help="also write all numbers to FILE")
    options = parser.parse_args(argv)
    chosen = options.only or [*WORKLOADS, "start", "overhead"]
    machine = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
        "threads": 1,
    }
    print(", ".join(f"{k} {v}" for k, v in machine.items()), "\n")
    if options.tape:
        from benchmarks.tape import measure_tape

        taped = measure_tape(options.rounds)
        if options.json:
            Path(options.json).write_text(json.dumps({"machine": machine, "tape": taped}, indent=2) + "\n")
        return 1 if any("WRONG" in note for result in taped.values() for note in result["notes"]) else 0
    if options.derivatives:
        from benchmarks.derivatives import measure_derivatives

        derived = measure_derivatives(options.rounds, time_sides, pretty, print_table)
        if options.json:
            Path(options.json).write_text(json.dumps({"machine": machine, "derivatives": derived}, indent=2) + "\n")
        return 0
    if options.sparse:
        from benchmarks.sparse import measure_sparse

        found = measure_sparse(options.rounds)
        columns = ("primal", "detect and colour", "evaluate", "dense")
        rows = []
        for name, result in found.items():
            times = result["seconds"]
            row = [name, *[pretty(times[c]) if c in times else "-" for c in columns]]
            rows.append([*row, f"{times['evaluate'] / times['primal']:.3g}", str(result["colours"])])
        print_table(rows, ["workload", *columns, "evaluate/primal", "colours"])
        if options.json:
            Path(options.json).write_text(json.dumps({"machine": machine, "sparse": found}, indent=2) + "\n")
        return 1 if any(result["notes"] for result in found.values()) else 0
    if options.by_hand is not None:
        from benchmarks.by_hand.measuring import measure_by_hand

        compared = measure_by_hand(options.by_hand, pretty, print_table)
        if options.json:
            Path(options.json).write_text(json.dumps({"machine": machine, "by hand": compared}, indent=2) + "\n")
        return 0
    if options.native is not None:
        from benchmarks.native import measure_native

        compiled = measure_native(options.native, pretty, print_table)
        if options.json:
            Path(options.json).write_text(json.dumps({"machine": machine, "native": compiled}, indent=2) + "\n")
        return 1 if any(result.get("note") == "WRONG" for result in compiled.values()) else 0
    if options.kernels is not None:
        from benchmarks.kernels.table import run_kernels

        kernels = run_kernels(options.kernels)
        if options.json:
            Path(options.json).write_text(json.dumps({"machine": machine, "kernels": kernels}, indent=2) + "\n")
        return 0
    out: dict[str, Any] = {"machine": machine, "workloads": {}, "start": {}}
    names = [name for name in WORKLOADS if name in chosen]
    if names:
        out["workloads"] = run_workloads(names, options.rounds)
    if "start" in chosen:
        try:
            out["start"].update(measure_start(options.repeats))
        finally:
            shutil.rmtree(os.path.join(tempfile.gettempdir(), f"autodiff-bench-{os.getpid()}"), ignore_errors=True)
    if "overhead" in chosen:
        out["start"].update(measure_overhead(options.rounds))
    if out["start"]:
        print()
        print_table(
            [[k, pretty(v["min"]), pretty(v["median"])] for k, v in out["start"].items()], ["", "min", "median"]
        )
    if options.json:
        Path(options.json).write_text(json.dumps(out, indent=2) + "\n")
    wrong = [name for name, result in out["workloads"].items() if any("WRONG" in note for note in result["notes"])]
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
