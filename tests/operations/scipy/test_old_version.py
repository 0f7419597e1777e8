"""Of an old SciPy nothing is known, and the error says so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import scipy

from autodiff_compiler import families

ROOT = Path(__file__).resolve().parents[3]


def test_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    older = "SciPy 1.16 and newer"
    for version, known in (
        ("1.15.3", older), ("1.9", older), ("1.16.0", ""), ("1.17.1", ""), ("1.18.1", ""), ("2.0.0rc1", ""),
        ("unknown", ""),
    ):  # fmt: skip
        monkeypatch.setattr(scipy, "__version__", version)
        assert families.known_versions() == known


PROGRAM = """
import numpy as np
import scipy
from scipy import special
import autodiff_compiler as ad

scipy.__version__ = "1.15.3"

def f(x, y):
    return np.sum(special.expit(y) * x)

print(ad.grad(f)(np.ones(2), np.zeros(2)))
try:
    ad.grad(f, 1)(np.ones(2), np.zeros(2))
except ad.RuleLookupError as error:
    print(error)
"""


def test_the_error_names_the_version(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "program.py")], capture_output=True, text=True, cwd=ROOT, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[0.5 0.5]"), done.stdout
    assert "special.expit(y)" in done.stdout and "SciPy 1.16 and newer" in done.stdout
