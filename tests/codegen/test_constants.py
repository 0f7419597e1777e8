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
