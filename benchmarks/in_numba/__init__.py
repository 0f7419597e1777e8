"""Functions of NumPy, their value and gradient by hand in loops that Numba compiles, and the same programs for JAX.

``python -m benchmarks.run --native`` times them. tests/project/test_benchmarks.py checks the gradients.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from benchmarks.in_numba.case import Case

FIELDS = ["recurrences", "stencils", "factorisations"]


def all_cases(fields: list[str] = FIELDS) -> Iterator[Case]:
    for field in fields:
        yield from importlib.import_module(f"benchmarks.in_numba.{field}").CASES
