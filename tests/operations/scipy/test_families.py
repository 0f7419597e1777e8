"""What the compiler knows of SciPy is loaded when a program calls SciPy, and SciPy is never imported by the package."""

from __future__ import annotations

import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

import autodiff_compiler as ad
from autodiff_compiler import pristine
from autodiff_compiler.errors import ArgumentError, RuleLookupError
from autodiff_compiler.families import Families, family_of
from autodiff_compiler.frontend.definitions import DEFINED
from autodiff_compiler.frontend.library.scipy import FAMILIES
from autodiff_compiler.ir.roles import signature_of
from tests.operations.scipy.harness import load

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


def test_a_parameter_of_a_newer_version() -> None:
    """A definition need not know it: as it is by default, it is left out, and otherwise the call is refused."""
    x, y = np.array([1.0, 2.0, 4.0]), np.array([1.0, 0.5, 3.0])

    def plain(y):
        return stats.linregress(x, y, nan_policy="propagate").slope

    np.testing.assert_allclose(ad.grad(plain)(y), ad.grad(lambda y: stats.linregress(x, y).slope)(y))
    with pytest.raises(RuleLookupError, match="linregress with keepdims has no derivative rule"):
        ad.grad(lambda y: np.sum(stats.linregress(x, y, keepdims=True).slope))(y)
    with pytest.raises(ArgumentError, match="unexpected keyword argument 'nothing'"):
        ad.grad(lambda y: stats.linregress(x, y, nothing=1).slope)(y)


# Definitions whose default means what that of the function does.
OTHER_DEFAULTS = {
    "_cache", "atol", "center", "leafsize", "options", "workers", "bbox", "bounds", "lwork", "disp", "blocksize",
    "xtol", "rtol", "maxiter", "dtype",
}  # fmt: skip


def test_parameters_are_those_of_the_installed_version() -> None:
    """A definition takes what stands at a place for what the function takes it for, and has its defaults."""
    for part in sorted(FAMILIES.missing):
        load(part)
    wrong = []
    for fn, definition in DEFINED.items():
        told, own = signature_of(fn), signature_of(definition)
        if ".library.scipy." not in definition.__module__ or told is None or own is None:
            continue
        places = [
            [p.name for p in s.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD and p.name != "self"]
            for s in (told, own)
        ]
        common = set(places[0]) & set(places[1])
        told_order, own_order = [[name for name in names if name in common] for names in places]
        if told_order != own_order:
            wrong.append((fn, told_order, own_order))
        for name, p in own.parameters.items():
            default = told.parameters[name].default if name in told.parameters else p.default
            if name not in OTHER_DEFAULTS and default is not p.default and default != p.default:
                wrong.append((fn, name, default))
    assert wrong == []
