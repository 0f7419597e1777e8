"""What the compiler knows of SciPy is loaded when a program calls SciPy, and SciPy is never imported by the package."""

from __future__ import annotations

import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from scipy import special

import autodiff_compiler as ad
from autodiff_compiler import pristine
from autodiff_compiler.families import Families, family_of

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import sys
import numpy as np
import autodiff_compiler as ad

def f(x):
    return np.sum(np.exp(x))

ad.grad(f)(np.ones(2))
assert not [name for name in sys.modules if "scipy" in name.split(".")[0]]
assert not [name for name in sys.modules if name.startswith("autodiff_compiler.operations.scipy.")]
from scipy import special

def g(x):
    return np.sum(special.expit(x))

out = ad.grad(g)(np.zeros(2))
assert out.tolist() == [0.25, 0.25], out
assert "autodiff_compiler.operations.scipy.special" in sys.modules
"""


def test_scipy_is_not_imported_by_the_package(tmp_path: Path) -> None:
    # A function needs a file to be compiled from.
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert done.returncode == 0, done.stderr


def test_parts() -> None:
    assert family_of(special.expit) == family_of(special.log_softmax) == "special"
    assert family_of(np.sin) is family_of(len) is family_of("scipy") is None
    assert family_of(np.frompyfunc(len, 1, 1)) in (None, "special")  # no module says where it is from
    assert not Families("autodiff_compiler.operations.scipy", "special").load_for(np.sin)


def test_emitted_code_imports_the_part() -> None:
    def f(x):
        return np.sum(special.expit(x))

    text = ad.grad(f).source(np.zeros(2))
    assert "from scipy import special\n" in text and "special.expit(x)" in text


def test_a_variable_may_have_the_name_of_a_part() -> None:
    expit = special.expit

    def f(x):
        special = 2.0 * x
        return np.sum(expit(special) * special)

    x = np.array([0.3, -1.0])
    s = special.expit(2 * x)
    np.testing.assert_allclose(ad.grad(f)(x), 2 * s + 4 * x * s * (1 - s))


def test_a_function_that_the_program_replaces_later(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x):
        return np.sum(special.expit(x))

    g = ad.grad(f)
    assert g(np.zeros(1)).tolist() == [0.25]
    monkeypatch.setattr(special, "expit", lambda x: 3 * x)
    assert g(np.zeros(1)).tolist() == [3.0]

    def h(x):
        return np.sum(special.log_softmax(x) * np.array([1.0, 0.0]))

    monkeypatch.setattr(special, "softmax", None)
    assert ad.grad(h)(np.zeros(2)).tolist() == [0.5, -0.5]


def test_the_copy_of_a_part_has_no_functions_of_the_programs() -> None:
    module = types.ModuleType("scipy.made_up")
    module.erf, module.ours = special.log_softmax, lambda x: x  # type: ignore[attr-defined]
    copy = pristine.as_it_was(module)
    assert hasattr(copy, "erf") and not hasattr(copy, "ours")


def test_tape() -> None:
    x = ad.Variable(np.array([0.0, 1.0]))
    with ad.GradientTape() as tape:
        y = np.sum(special.expit(x) ** 2)
    s = special.expit(np.array([0.0, 1.0]))
    np.testing.assert_allclose(tape.gradient(y, x), 2 * s * s * (1 - s))
