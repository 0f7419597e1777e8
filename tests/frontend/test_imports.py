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


@pytest.mark.parametrize("f", [absent_module, absent_name])
def test_what_is_not_there_is_refused(f):
    """It may be there at a later call, or in a later process that reads the disk cache."""
    with pytest.raises(UnsupportedError, match="this import fails here: No module named") as caught:
        ad.grad(f)(0.7)
    assert caught.value.loc.line == f.__code__.co_firstlineno + 2


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
