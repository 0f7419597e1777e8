"""A power of a negative number of Python's is complex: so is the logarithm in its derivative by the exponent."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "abs": lambda s: abs((-2.0) ** s),
    "of an int": lambda s: abs((-2) ** s),
    "real part": lambda s: ((-1.3) ** s).real,
    "imaginary part": lambda s: ((-1.3) ** s).imag,
    "both vary": lambda s: abs((s - 2.0) ** s),
    "both vary, real part": lambda s: ((s - 2.0) ** (s * s)).real,
    "pow": lambda s: abs(pow(s - 5, s)),
    "method": lambda s: abs((-2.0).__pow__(s)),
    "of a positive number": lambda s: (s + 1.0) ** s,
    "in a loop": lambda s: sum([abs((k - 1.5) ** s) for k in range(3)]),
    "np.abs": lambda s: np.abs((s - 3.0) ** (2 * s)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_derivative(name: str) -> None:
    f = PROGRAMS[name]
    want = differences(f, 1.7)
    np.testing.assert_allclose(ad.grad(f)(1.7), want, rtol=1e-6)
    np.testing.assert_allclose(ad.jvp(f, (1.7,), (1.0,))[1], want, rtol=1e-6)
    second = (ad.grad(f)(1.7 + 1e-5) - ad.grad(f)(1.7 - 1e-5)) / 2e-5
    np.testing.assert_allclose(ad.grad(ad.grad(f))(1.7), second, rtol=1e-5)


def test_a_whole_exponent() -> None:
    """The power is real there, and complex around: its imaginary part has no place in the cotangent."""
    for f in (lambda s: abs((-2.0) ** s), lambda s: (-2.0) ** s + s):
        assert np.isnan(ad.grad(f)(2.0))
    assert ad.grad(lambda s, n: (s**n) * 1.0)(-2.0, 2.0) == -4.0


def test_numpys_powers_stay_nan() -> None:
    with np.errstate(all="ignore"):
        assert np.isnan(ad.grad(lambda s: np.float64(-2.0) ** s)(1.7))
        assert np.isnan(ad.grad(lambda s: math.pow(-2.0, s))(2.0))


def test_a_base_of_zero() -> None:
    assert ad.grad(lambda s: 0.0**s)(1.7) == 0
    assert ad.grad(lambda s: max(0.0, s - 9.0) ** s)(1.7) == 0
