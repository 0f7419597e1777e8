"""Other libraries whose objects are like arrays: they work, or an error says why not."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler import errors


def squares(x):
    return np.sum(x**2)


def neighbours(x):
    return np.sum(x[1:] * x[:-1])


class Labelled:
    """As an xarray.DataArray: NumPy's functions call methods of it, which are not compiled."""

    __module__ = "xarray.core.dataarray"

    def __init__(self, values):
        self.values = values

    def __pow__(self, n):
        return Labelled(self.values**n)

    def sum(self, axis=None, dtype=None, out=None):
        return self.values.sum()


def test_an_object_that_is_only_called_is_not_differentiated_by():
    """The gradient was zero: what the library computes of its numbers was taken for a constant."""
    with pytest.raises(errors.UnsupportedError, match=r"'x', a xarray.core.dataarray.Labelled: what it computes"):
        ad.grad(squares)(Labelled(np.arange(3.0)))


def test_xarray():
    xarray = pytest.importorskip("xarray")
    with pytest.raises(errors.UnsupportedError, match="what it computes is not known"):
        ad.grad(squares)(xarray.DataArray(np.arange(3.0)))


def test_jax():
    jax = pytest.importorskip("jax")
    with pytest.raises(errors.UnsupportedError, match="has not both of NumPy's protocols"):
        ad.grad(squares)(jax.numpy.arange(3.0))


def test_pint():
    pint = pytest.importorskip("pint")
    metres = pint.UnitRegistry().metre
    x = np.arange(1.0, 5.0)
    for f in (squares, neighbours):
        got = ad.grad(f)(x * metres)
        assert got.units == metres
        np.testing.assert_allclose(got.magnitude, ad.grad(f)(x))
