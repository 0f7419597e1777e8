"""Runs programs in several processes over one disk cache, with different seeds of the hash function, in both orders.

A program is the text of a module with a function ``f`` of one float, and all that ``f`` needs. It may define ``steps``:
functions without arguments that change what ``f`` finds outside. Each is called before one more gradient is taken. Each
gradient is compared with central differences of ``f`` itself, in the same process. One process runs all programs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

WORKER = """
import importlib, json, math, sys
import autodiff_compiler as ad
from autodiff_compiler.api import compiler

lowered = []
lower = compiler.lower
def counted(*args, **kwargs):
    lowered.append(1)
    return lower(*args, **kwargs)
compiler.lower = counted

def difference(f, x, h=1e-5):
    return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)

def verdict(g, f, x):
    try:
        want = difference(f, x)
    except Exception as error:
        want = type(error)
    try:
        got = g(x)
    except Exception as error:
        if isinstance(want, type):
            return "right" if isinstance(error, want) else f"wrong {error!r} {want!r}"
        if isinstance(error, ad.errors.AutodiffError):
            at = error.loc is not None and bool(error.remedy)
            return ("refused " if at else "crash (no place or remedy) ") + error.message
        return f"crash {error!r}"
    if isinstance(want, type):
        return f"wrong {got!r} instead of {want!r}"
    return "right" if math.isclose(float(got), want, rel_tol=1e-6, abs_tol=1e-6) else f"wrong {got!r} {want!r}"

out = {}
for name in json.loads(sys.argv[1]):
    del lowered[:]
    module = importlib.import_module(name)
    g = ad.grad(module.f)
    verdicts = [verdict(g, module.f, 0.7)]
    for step in getattr(module, "steps", ()):
        step()
        verdicts.append(verdict(g, module.f, 0.7))
    out[name] = (verdicts, len(lowered))
print(json.dumps(out))
"""


def run_in_processes(
    programs: Mapping[str, str], folder: Path, seeds: Sequence[int | None] = (1, 2, 3, 1)
) -> list[dict[str, tuple[list[str], int]]]:
    """For each process, with one of these seeds: by program, the verdict on each gradient ("right", "refused ...",
    "wrong ...", "crash ..."), and how often it was compiled. Every other process runs them backwards."""
    names = {f"program_{k}": name for k, name in enumerate(programs)}
    for module, name in names.items():
        (folder / f"{module}.py").write_text(programs[name])
    out = []
    for k, seed in enumerate(seeds):
        environment = {
            **os.environ,
            "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}",
            "AUTODIFF_COMPILER_CACHE": str(folder / "cache"),
            "PYTHONHASHSEED": "random" if seed is None else str(seed),
            "OMP_NUM_THREADS": "1",
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # constants that were read from compiled modules count
        order = list(names) if k % 2 == 0 else list(names)[::-1]
        process = subprocess.run(
            [sys.executable, "-c", WORKER, json.dumps(order)],
            env=environment, cwd=folder, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        assert process.returncode == 0, process.stderr
        found = json.loads(process.stdout.strip().splitlines()[-1])
        out.append({names[m]: (verdicts, count) for m, (verdicts, count) in found.items()})
    return out


def wrong(runs: list[dict[str, tuple[list[str], int]]]) -> list[str]:
    """The verdicts that are neither right nor a refusal with a place and a remedy."""
    return [
        f"process {k}: {name}: {v}"
        for k, run in enumerate(runs)
        for name, (verdicts, _) in run.items()
        for v in verdicts
        if not v.startswith(("right", "refused"))
    ]


def refused(runs: list[dict[str, tuple[list[str], int]]]) -> set[str]:
    return {name for run in runs for name, (verdicts, _) in run.items() for v in verdicts if v.startswith("refused")}
