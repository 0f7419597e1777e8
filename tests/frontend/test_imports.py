"""Imports inside of a function: of modules, of their parts, and of what is not there."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import UnsupportedError


def module(x):
    import math

    import numpy.linalg as la

    return math.sin(x) * la.norm(np.array([x, 2.0]))


def parts(x):
    from math import cos as c
    from math import pi

    return c(x) * pi


def submodule(x):
    from numpy import linalg

    return linalg.norm(np.array([x, 2.0]))


def absent_module(x):
    try:
        import no_such_module
    except ImportError:
        return x * 2.0
    return no_such_module.f(x)


def absent_name(x):
    try:
        from math import no_such_name
    except ImportError:
        return x * 2.0
    return no_such_name(x)


@pytest.mark.parametrize("f", [module, parts, submodule])
def test_what_is_there(f):
    value, gradient = ad.value_and_grad(f)(0.7)
    assert value == pytest.approx(f(0.7))
    assert gradient == pytest.approx((f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6, rel=1e-6)


def absent_module_alone(x):
    import no_such_package.part

    return no_such_package.part.f(x)


@pytest.mark.parametrize("f", [absent_module, absent_name])
def test_what_is_not_there_raises_what_python_raises(f):
    assert ad.value_and_grad(f)(0.7) == (1.4, 2.0)


def test_what_is_not_there_and_nobody_catches():
    with pytest.raises(ModuleNotFoundError, match="No module named 'no_such_package'"):
        ad.grad(absent_module_alone)(0.7)


def test_what_is_there_at_a_later_call(monkeypatch):
    gradient, name = ad.grad(absent_module), "no_such_module"
    assert gradient(0.7) == 2.0
    module = types.ModuleType(name)
    module.f = lambda x: 5.0 * x
    monkeypatch.setitem(sys.modules, name, module)
    assert gradient(0.7) == 5.0
    monkeypatch.delitem(sys.modules, name)
    assert gradient(0.7) == 2.0


def test_a_name_that_is_there_at_a_later_call(monkeypatch):
    gradient = ad.grad(absent_name)
    assert gradient(0.7) == 2.0
    monkeypatch.setattr("math.no_such_name", lambda x: 5.0 * x, raising=False)
    assert gradient(0.7) == 5.0


def test_a_module_that_cannot_be_imported_is_refused(monkeypatch, tmp_path):
    """It may be mended at a later call, which no guard could tell."""
    (tmp_path / "no_such_module.py").write_text("import no_such_package.part")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UnsupportedError, match="this import fails here: No module named") as caught:
        ad.grad(absent_module)(0.7)
    assert caught.value.loc.line == absent_module.__code__.co_firstlineno + 2


def from_module(x):
    import replaced_module

    return replaced_module.K * x


def from_part(x):
    from replaced_module import K

    return K * x


@pytest.mark.parametrize("f", [from_module, from_part])
def test_a_module_that_is_replaced(f, monkeypatch):
    for k in (2.0, 5.0, 2):
        module = types.ModuleType("replaced_module")
        module.K = k
        monkeypatch.setitem(sys.modules, "replaced_module", module)
        gradient = ad.grad(f) if k == 2.0 else gradient  # noqa: F821
        assert gradient(1.5) == k
        module.K = 7.0
        assert gradient(1.5) == 7.0


@pytest.mark.parametrize("line", ["from pathlib import Path as p", "'''\nimport Path\n'''", "import json; Path = 1"])
def test_lines_that_look_like_imports(tmp_path, line):
    """Calls of what stands in an imported name are other operations of Python's, so the source needs these names."""
    file = tmp_path / "looks_like_imports.py"
    file.write_text(
        f"import math\n{line}\nclass Path:\n    twice = staticmethod(lambda x: 2 * x)\n"
        "def f(x):\n    return Path.twice(x) * math.cos(x)\n"
    )
    names = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    assert ad.grad(names["f"])(0.0) == 2.0
