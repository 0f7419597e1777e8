"""Arrays that are known when a program is compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

import autodiff_compiler as ad


def test_short_arrays_are_written_out() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.array([x, 2.0 * x, x * x]) ** 3)

    source = str(ad.derivative(ad.derivative(f)).source(0.5))
    assert "np.array([0.0, 0.0, 2.0])" in source and "constant" not in source
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    assert namespace["f_derivative_derivative"](0.5) == ad.derivative(ad.derivative(f))(0.5)


def test_complex_zeros_keep_their_sign() -> None:
    """`-0-1j` is a sum, and its real part is no negative zero."""

    def f(x: Any) -> Any:
        return np.sum(3.0 * np.fft.rfft(x).imag)

    x = np.arange(6.0)
    source = str(ad.grad(f).source(x))
    assert "complex(-0.0, -1.0)" in source
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    assert np.array_equal(namespace["f_grad"](x), ad.grad(f)(x))
