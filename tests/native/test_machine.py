"""Machine code: Numba compiles the programs. One process for all, since each compilation takes seconds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numba")

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).with_name("on_the_machine.py")


AGAIN = """
import numpy as np
import autodiff_compiler as ad
from tests.native.both import programs
from tests.native.test_lowering import X, calls_numpy

g = ad.grad(calls_numpy, backend="native")
g(X)
(program,) = programs(g)
print(sum(program.run.stats.cache_hits.values()), sum(program.run.stats.cache_misses.values()), g(X).tolist())
"""


AGAIN_IN_PARTS = AGAIN.replace("calls_numpy", "swapped").replace('"native"', '"native", parallel=True')


def run(*command: str, cache: str = "off", **variables: str) -> str:
    """What a process without our setting for tests prints."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "AUTODIFF_COMPILER_CACHE": cache, **variables}
    env.pop("AUTODIFF_COMPILER_NATIVE", None)
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, env=env, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_machine_code_gives_what_numpy_gives() -> None:
    assert run(str(SCRIPT)).splitlines()[-1] == "all agree"


@pytest.mark.parametrize("what", ["halves", "complex", "lists", "many", "memory", "translation"])
def test_programs_of_other_kinds(what: str) -> None:
    assert run(str(SCRIPT.with_name(f"{what}_on_the_machine.py"))).splitlines()[-1] == "all agree"


def test_derivatives_inside_of_functions_of_numba() -> None:
    assert run(str(SCRIPT.with_name("inside_numba_on_the_machine.py"))).splitlines()[-1] == "all agree"


def test_loops_in_parts() -> None:
    script = str(SCRIPT.with_name("parallel_on_the_machine.py"))
    assert run(script, NUMBA_NUM_THREADS="4").splitlines()[-1] == "all agree"


@pytest.mark.parametrize("text", [AGAIN, AGAIN_IN_PARTS], ids=["in order", "in parts"])
def test_a_second_process_compiles_nothing(text: str, tmp_path: Path) -> None:
    first, second = (run("-c", text, cache=str(tmp_path / "cache")).split(maxsplit=2) for _ in range(2))
    assert first[:2] == ["0", "1"] and second[:2] == ["1", "0"]
    assert first[2] == second[2]


def test_machine_code_that_was_damaged_is_made_again(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first = run("-c", AGAIN, cache=str(cache)).split(maxsplit=2)
    largest = max(cache.iterdir(), key=lambda p: p.stat().st_size)
    data = largest.read_bytes()
    largest.write_bytes(data[:-100] + b"0" * 100)
    again = run("-c", AGAIN, cache=str(cache)).split(maxsplit=2)
    assert again == first


def test_without_a_compiler_of_our_own(tmp_path: Path) -> None:
    """Numba's own lowering is used where its compiler has other names."""
    script = tmp_path / "other_version.py"
    script.write_text(
        "import sys\n"
        "sys.modules['autodiff_compiler.native.compiling'] = None\n"
        "import numpy as np, autodiff_compiler as ad\n"
        "def f(x):\n"
        "    s = 0.0\n"
        "    for i in range(len(x)):\n"
        "        s = s * 0.5 + x[i] * x[i]\n"
        "    return s\n"
        "native = ad.grad(f, backend='native')\n"
        "x = np.arange(4.0)\n"
        "assert np.array_equal(native(x), ad.grad(f)(x)) and '_native' in native.source(x)\n"
        "print('right')\n"
    )
    assert run(str(script)).split() == ["right"]
