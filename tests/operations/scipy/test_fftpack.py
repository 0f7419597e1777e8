"""`scipy.fftpack`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import fftpack

import autodiff_compiler as ad
from autodiff_compiler.errors import AutodiffError
from tests.differences import differences
from tests.operations.scipy.harness import check_case

RNG = np.random.default_rng(7)
X = RNG.normal(size=6)
M = RNG.normal(size=(4, 5))

CASES: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (fftpack.dct, (X,), {"overwrite_x": True}),
    (fftpack.dct, (M,), {"type": 3, "axis": 0, "n": 3}),
    (fftpack.idct, (X,), {"norm": "ortho"}),
    (fftpack.dst, (X,), {"type": 1}),
    (fftpack.idst, (X,), {"type": 3}),
    (fftpack.dctn, (M,), {"norm": "ortho"}),
    (fftpack.idctn, (M,), {"axes": (0,)}),
    (fftpack.dstn, (M,), {"shape": (5, 3)}),
    (fftpack.idstn, (M,), {}),
    (fftpack.diff, (X,), {}),
    (fftpack.diff, (X[:5],), {"period": 3.0}),
    (fftpack.diff, (X,), {"order": 3, "period": 3.0}),
    (fftpack.diff, (X,), {"order": 2}),
    (fftpack.diff, (X,), {"order": -1}),
    (fftpack.diff, (X,), {"order": 0}),
]
COMPLEX: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (fftpack.fft, (X,), {}),
    (fftpack.fft, (M,), {"n": 3, "axis": 0}),
    (fftpack.ifft, (X,), {"overwrite_x": True}),
    (fftpack.fft2, (M,), {}),
    (fftpack.ifft2, (M,), {"shape": (3, 4)}),
    (fftpack.fftn, (M,), {"shape": (3, 7)}),
    (fftpack.ifftn, (M,), {"axes": (1,)}),
]


@pytest.mark.parametrize("fn, args, kwargs", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_definitions(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    check_case(fn, args, kwargs)


@pytest.mark.parametrize("fn, args, kwargs", COMPLEX, ids=lambda x: getattr(x, "__name__", ""))
def test_complex_results(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    shape = fn(*args, **kwargs).shape
    weights = RNG.normal(size=shape) + 1j * RNG.normal(size=shape)

    def f(x: Any) -> Any:
        return np.sum((fn(x, **kwargs) * weights).real)

    gradient, value = ad.grad(f)(*args), ad.value_and_grad(f)(*args)[0]
    np.testing.assert_allclose(value, f(*args), rtol=1e-12)
    np.testing.assert_allclose(gradient, differences(f, *args), rtol=1e-6, atol=1e-7)


def test_the_derivative_of_complex_samples_is_refused() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.abs(fftpack.diff(x * 1j)))

    with pytest.raises(AutodiffError, match="no real array of one axis"):
        ad.grad(f)(X)
