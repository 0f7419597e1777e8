"""The cost of the kernels' gradients: ``python -m benchmarks.run --kernels``. docs/benchmarks.md shows one run."""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.kernels import FIELDS, all_kernels
from benchmarks.kernels.kernel import Kernel, is_float

SECONDS = 0.25  # the least time of all rounds of one side


def fastest(call: Callable[..., Any], args: list[Any]) -> float:
    """The least processor time of some calls. Each has its own arguments, since a kernel may write into them."""
    best, spent, rounds = float("inf"), 0.0, 0
    while rounds < 3 or (spent < SECONDS and rounds < 200):
        own = copy.deepcopy(args)
        start = time.process_time()
        call(*own)
        taken = time.process_time() - start
        best, spent, rounds = min(best, taken), spent + taken, rounds + 1
    return best


def emitted_lines(gradient: Any, args: list[Any]) -> int:
    """The number of lines of the emitted function, without comments, imports and empty lines."""
    lines = [line.strip() for line in gradient.source(*args).splitlines()]
    return sum(1 for line in lines if line and not line.startswith(("#", "import ", "from ")))


def with_autograd(kernel: Kernel, argnums: tuple[int, ...], args: list[Any], want: Any) -> float | str:
    """Autograd's time for the same function with autograd's ``np``, or the reason why there is none."""
    try:
        import autograd
        import autograd.numpy as anp
    except ImportError:
        return "not installed"
    module = sys.modules[kernel.function.__module__]
    plain = module.np
    module.np = anp
    try:
        gradient = autograd.value_and_grad(kernel.function, argnum=argnums)
        got = gradient(*copy.deepcopy(args))[1]
        if not all(np.allclose(a, b, rtol=1e-6, atol=1e-8) for a, b in zip(flat(got), flat(want), strict=True)):
            return "nan" if any(np.isnan(np.sum(a)) for a in flat(got)) else "differs"
        return fastest(gradient, args)
    except Exception as error:  # with any exception, autograd does not run the kernel unchanged
        return type(error).__name__
    finally:
        module.np = plain


def flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in flat(item)]
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in flat(item)]
    return [value]


def measure(kernel: Kernel) -> dict[str, Any]:
    import autodiff_compiler as ad

    args = list(kernel.inputs(kernel.large))
    argnums = tuple(k for k, value in enumerate(args) if is_float(value))
    gradient = ad.value_and_grad(kernel.function, argnums=argnums)
    try:
        start = time.perf_counter()
        _, want = gradient(*kernel.inputs(kernel.small))
        first = time.perf_counter() - start
        _, want = gradient(*args)
    except ad.AutodiffError as error:
        return {"refused": str(error).splitlines()[-2 if "Instead:" in str(error) else -1].strip()}
    primal = fastest(kernel.function, args)
    ours = fastest(gradient, args)
    out = {"primal": primal, "ours": ours, "first": first, "lines": emitted_lines(gradient, args)}
    return {**out, "autograd": with_autograd(kernel, argnums, args, want)}


def pretty(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def rows_of(field: str, results: dict[str, dict[str, Any]]) -> list[str]:
    rows = [f"### {field.replace('_', ' ').capitalize()}", ""]
    rows += ["| kernel | size | primal | ratio | autograd | lines | first call |", "|---|---|---|---|---|---|---|"]
    for kernel in all_kernels([field]):
        got = results.get(kernel.name)
        if got is None:
            continue
        size = ", ".join(map(str, kernel.large))
        if "refused" in got:
            rows.append(f"| `{kernel.name}` | {size} | | refused: {got['refused']} | | | |")
            continue
        theirs = got["autograd"]
        other = f"{theirs / got['primal']:.3g}" if isinstance(theirs, float) else theirs
        rows.append(
            f"| `{kernel.name}` | {size} | {pretty(got['primal'])} | {got['ours'] / got['primal']:.3g} "
            f"| {other} | {got['lines']} | {pretty(got['first'])} |"
        )
    return [*rows, ""]


def run_kernels(names: list[str]) -> dict[str, dict[str, Any]]:
    """Measure all kernels or the named ones, and print the tables in the form of docs/benchmarks.md."""
    results = {}
    for kernel in all_kernels():
        if not names or kernel.name in names:
            print(f"... {kernel.name}", file=sys.stderr, flush=True)
            results[kernel.name] = measure(kernel)
    for field in FIELDS:
        print("\n".join(rows_of(field, results)))
    ratios = [got["ours"] / got["primal"] for got in results.values() if "ours" in got]
    if ratios:
        print(f"{len(ratios)} kernels: the median ratio is {np.median(ratios):.3g}, the largest {max(ratios):.3g}.")
        taken = [n for n, got in results.items() if isinstance(got.get("autograd"), float)]
        print(f"autograd runs {len(taken)} of them unchanged.")
    return results
