"""`scipy.special`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

from tests.operations.scipy.harness import check_case, load, without_case

load("special")
RNG = np.random.default_rng(7)
X = RNG.uniform(0.3, 2.0, size=4)
M = RNG.uniform(0.3, 2.0, size=(2, 3))

CASES: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (special.expit, (X,), {}),
    (special.log_softmax, (M,), {"axis": 1}),
]


@pytest.mark.parametrize("fn, args, kwargs", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_derivatives(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    check_case(fn, args, kwargs)


def test_every_function_has_a_case() -> None:
    assert without_case("special", CASES) == []
