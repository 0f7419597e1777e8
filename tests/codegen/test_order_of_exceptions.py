"""The function's own exception comes before the derivative, which may not be defined where the function raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad

X = np.array([0.3, -0.7, 1.1])
PROGRAMS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "values of another length": (lambda s: np.interp(s, [0.0, 1.0, 9.0], [0.0, s]), 1.7),
    "points of another length": (lambda s: np.interp(s, [0.0, 1.0, s], [0.0, 1.0]), 1.7),
    "of an array": (lambda x: np.sum(np.interp(x, [0.0, 1.0, 9.0], x[:2])), X),
    "in a product": (lambda s: 2.0 * np.interp(s, [0.0, 1.0, 9.0], [0.0, s]), 1.7),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_functions_own_exception(name: str) -> None:
    f, x = PROGRAMS[name]
    along = np.ones_like(x) if isinstance(x, np.ndarray) else 1.0
    for run in (f, ad.grad(f), ad.value_and_grad(f), lambda x: ad.vjp(f, x), lambda x: ad.jvp(f, (x,), (along,))):
        with pytest.raises(ValueError, match="fp and xp are not of the same length"):
            run(x)


def test_what_cannot_raise_stays_an_expression() -> None:
    source = ad.value_and_grad(lambda x: np.sum(np.sin(x))).source(X)
    assert "return np.sin(x).sum(), np.cos(x)" in source
