"""Memory that a gradient frees is there for its next call."""

import os
import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import numpy as np
import autodiff_compiler as ad

def f(x, n):
    for _ in range(n):
        x = 3.9 * x * (1.0 - x)
    return np.mean(x)

gradient, x = ad.grad(f), np.linspace(0.1, 0.9, 20_000)
for _ in range(3):
    gradient(x, 60)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    gradient(x, 60)
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 10)
"""


def page_faults(program, **environment):
    """How often a call of a gradient that saves 9.6 MB waits for the system to map a page."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("MALLOC_")}
    done = subprocess.run(
        [sys.executable, program], env={**kept, **environment}, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have bounds of their own")
def test_pages_stay_mapped(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    assert page_faults(program) < 200 < 1000 < page_faults(program, AUTODIFF_COMPILER_MEMORY="system")
